/*
 * A model with rows for everyone and everything: those of a checkpoint, as they are and in their
 * order, and after them those of users and items that only the new ratings have.
 */
#ifndef DPMF_CONTINUE_CONTINUE_MODEL_H
#define DPMF_CONTINUE_CONTINUE_MODEL_H

#include "kernels/kernels.h"
#include "model/checkpoint.h"

struct continue_model {
    struct checkpoint_state state;    /* state of the checkpoint */
    char *solver;                     /* the solver that made it */
    char *checksum;                   /* the checkpoint's checksum */
    uint64_t continued;               /* number of times it was continued before */
    struct factors before, now;       /* rows as they were, where they are kept, and as they
                                       * become; ids are in `now` */
    float *user_counts, *item_counts; /* old ratings behind each row; 0: it is new */
    uint32_t *user_rows, *item_rows;  /* rows of the store's users and items */
    uint64_t new_users, new_items;
    double learned_share; /* about what share of the store the checkpoint has learned already */
    bool has_user_counts; /* whether users' counts are known; if not, all have the average */
};

struct continue_layout {
    const struct kernel_set *kernels;
    uint64_t spare; /* rows to add */
    uint64_t seed;
    bool keeps_before; /* whether rows are kept as they were */
};

/* Reads a checkpoint and lays it out for the store. On failure there is nothing to free. */
int continue_model_open(struct continue_model *model, const char *path,
                        const struct dpmf_store *store, const struct continue_layout *layout,
                        struct dpmf_error *error);
void continue_model_free(struct continue_model *model); /* a zeroed one is fine */

#endif
