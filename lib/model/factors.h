/*
 * A model in memory: factors and biases of both sides, the ids of their rows, and the offset. What
 * the trainer fills, the checkpoint keeps and lib/recommend uses.
 */
#ifndef DPMF_MODEL_FACTORS_H
#define DPMF_MODEL_FACTORS_H

#include "dpmf.h"
#include "model/learned_pairs.h"

/* Rows of one side. Row i is rows[i * stride] .. + k - 1; columns past k are 0. */
struct factor_matrix {
    uint64_t n;
    size_t stride;  /* floats from row to row; rows are 64-byte aligned */
    float *rows;    /* memory_map'ed, n + spare rows */
    float *biases;  /* memory_map'ed, n + spare */
    uint64_t spare; /* rows past n that kernels may overwrite */
};

/* Ids of one side: id i is bytes[start[i]] .. bytes[start[i + 1] - 1]. */
struct factor_ids {
    uint64_t n;
    char *bytes;
    uint64_t *start; /* n + 1 */
    uint32_t *slots; /* an index by hash, made by factor_ids_index; NULL before */
    uint64_t n_slots;
    float *counts; /* number of ratings of each, above 0; NULL: not known */
};

struct factors {
    uint32_t k;
    double offset;
    double min, max; /* the scale of the ratings */
    struct factor_matrix users, items;
    struct factor_ids user_ids, item_ids;
    struct learned_pairs learned; /* what the model was trained on, where that is known */
};

/* A quarter of the ratings' range: what step sizes, penalties and first values are measured in,
 * so that they mean the same on every scale. 1 on a scale of 1 to 5, and where all ratings are
 * equal. */
static inline double factors_unit(double min, double max) {
    double unit = max / 4 - min / 4;
    return unit > 0 ? unit : 1;
}

/* Zero-initialised memory for a matrix. */
int factor_matrix_init(struct factor_matrix *matrix, uint64_t n, size_t stride, uint64_t spare,
                       struct dpmf_error *error);
void factor_matrix_free(struct factor_matrix *matrix);

/* Makes the index. @return 0, or DPMF_ERR_MODEL_CORRUPT when an id is there twice */
int factor_ids_index(struct factor_ids *ids, struct dpmf_error *error);
uint64_t factor_ids_find(const struct factor_ids *ids, const char *id,
                         size_t length); /* UINT64_MAX */
void factor_ids_free(struct factor_ids *ids);

void factors_free(struct factors *factors);

/* @return whether none of n numbers is infinite or a NaN */
bool factors_are_finite(const float *values, size_t n);

#endif
