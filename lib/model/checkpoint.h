/*
 * A checkpoint: everything of a model and of the run that made it, in a safetensors file of mode
 * 0600. It holds people's vectors and is private data.
 *
 * Tensors: user_factors (n x k F32), item_factors, user_biases, item_biases, user_id_bytes (U8),
 * user_id_offsets (I64, n + 1), item_id_bytes, item_id_offsets, user_counts and item_counts (F32:
 * how many ratings each user and item has, where that is known), learned_pairs (I64:
 * model/learned_pairs.h). A snapshot of a run with a
 * validation set, whose best epoch is not the last, also has best_user_factors, best_item_factors,
 * best_user_biases and best_item_biases. Metadata: dpmf.kind = checkpoint, dpmf.format,
 * dpmf.version (the library's), dpmf.offset, dpmf.min, dpmf.max, dpmf.state (a JSON object: where
 * the run stands), dpmf.provenance (a JSON object: how it was made) and dpmf.checksum
 * (model_checksum.h), which is compared whenever a file is opened. Files of format 1 have no
 * checksum: they are read, with a warning. docs/formats/checkpoint.md is the specification.
 */
#ifndef DPMF_MODEL_CHECKPOINT_H
#define DPMF_MODEL_CHECKPOINT_H

#include <math.h>

#include "model/factors.h"
#include "model/safetensors_reader.h"

#define CHECKPOINT_FORMAT "2" /* dpmf.format: what a reader must know to read it */
#define CHECKPOINT_LEARNED_PAIRS "learned_pairs"
#define CHECKPOINT_FORMAT_FIRST "1" /* the same without a checksum */

enum {
    CHECKPOINT_K_MAX = 4096,
    CHECKPOINT_ID_MAX = 64 * 1024, /* bytes in an id; at least 1 */
    CHECKPOINT_ORDER_MAX = 16,     /* bytes of an order's name, with the NUL */
};

/* Where a run stands. In the middle of an epoch, the first superblocks_done of its superblocks are
 * done. */
struct checkpoint_state {
    bool is_unchecked; /* whether it was read from a file without a checksum; not written */
    uint32_t epoch;    /* epochs done */
    uint64_t seed;
    double learning_rate, decay, regularization;
    uint64_t n_ratings;   /* ratings of the store that it was trained on */
    uint64_t fingerprint; /* checksum of that store's index, to notice another store */
    /* store_digest of the ratings, and of those that the best epoch was chosen by; 0: not recorded,
     * or none */
    uint64_t digest, valid_digest;
    double best_valid; /* best error on the validation set; NaN without one */
    uint32_t best_epoch;

    uint64_t superblock_users; /* 0: not recorded */
    uint64_t superblocks_done; /* superblocks that are done of the epoch after `epoch` */
    uint64_t ratings_done;     /* ratings of those superblocks */
    double squared_error;      /* sum of the squared errors of those ratings */
    uint64_t tiles; /* checksum of how the ratings were cut into tiles; 0: not recorded */
    char order[CHECKPOINT_ORDER_MAX]; /* order of the visits to the tiles; "": not recorded */
    /* Penalties that hold biases at 0, in ratings; both 0: those of `regularization` */
    double user_bias_hold, item_bias_hold;

    /* Models of samplers; all 0 in others. */
    uint32_t samples;        /* samples of the posterior, side by side in every row */
    uint32_t sample_factors; /* columns of each sample; sample/posterior_mean.h lists them */
    double noise_precision;  /* precision of a rating, given a sample */
    double factor_penalty, bias_penalty; /* for fitting a new user, as in model/release.h */

    /* Models that rank, whose scores are not ratings; best_valid is then the NDCG. */
    bool ranks;
    double unobserved, exponent; /* settings for fitting a new user, as in rank/ials.h */
    bool has_like;               /* whether only ratings of at least `like` count */
    double like;
    bool has_scale;              /* the scale of the ratings it learned from is known */
    double rated_min, rated_max; /* limits of that scale */
    bool is_of_events;           /* it learned from events, not from ratings */
    double count_weight;         /* weight of counts of events (event_weight.h) */
};

/* Whether the error on the validation set has not become less for `patience` epochs; 0: never. */
static inline bool checkpoint_state_is_hopeless(const struct checkpoint_state *state,
                                                uint32_t patience) {
    return patience > 0 && !isnan(state->best_valid) &&
           state->epoch - state->best_epoch >= patience;
}

/* ---- writing --------------------------------------------------------------------------------- */

enum checkpoint_side {
    CHECKPOINT_USERS,
    CHECKPOINT_ITEMS,
    CHECKPOINT_BEST_USERS,
    CHECKPOINT_BEST_ITEMS,
    CHECKPOINT_SIDES,
};

/* A checkpoint that is written in pieces, by any thread, and is in its place when it is committed.
 * Of `factors` it uses the sizes, the scale and the ids; the ids and the provenance must stay
 * valid. */
struct checkpoint_draft;

int checkpoint_draft_open(struct checkpoint_draft **draft, const char *path,
                          const struct factors *factors, bool with_best, const char *provenance,
                          struct dpmf_error *error);
int checkpoint_draft_put_ids(struct checkpoint_draft *draft, struct dpmf_error *error);

/* Rows `first` to first + n - 1 of a side with their biases. @return 0, or DPMF_ERR_TRAIN_DIVERGED
 * when a number is not finite: a model with such a one could not be read back */
int checkpoint_draft_put_rows(struct checkpoint_draft *draft, enum checkpoint_side side,
                              uint64_t first, uint64_t n, const float *rows, size_t stride,
                              const float *biases, struct dpmf_error *error);

/* Frees the draft in any case. */
int checkpoint_draft_commit(struct checkpoint_draft *draft, const struct checkpoint_state *state,
                            struct dpmf_error *error);
void checkpoint_draft_abandon(struct checkpoint_draft *draft); /* NULL is fine */

/* ---- reading --------------------------------------------------------------------------------- */

/* Reads and checks everything: the checksum, sizes against the file, offsets, finite numbers, ids.
 * `stride_of` gives the stride for k (rows are padded in memory); `spare` rows are added to both
 * matrices. The ids are indexed. On failure there is nothing to free. */
int checkpoint_read_from(const struct safetensors *file, size_t (*stride_of)(size_t k),
                         uint64_t spare, struct factors *factors, struct checkpoint_state *state,
                         struct dpmf_error *error);

/* A checkpoint that is read in pieces, for a model larger than memory. */
struct checkpoint_file {
    struct safetensors *file;
    struct checkpoint_state state;
    uint32_t k;
    uint64_t n_users, n_items;
    double offset, min, max;
    bool has_best;
};

/* Compares the checksum; reads and checks all but the numbers and the ids. */
int checkpoint_file_open(struct checkpoint_file *file, const char *path, struct dpmf_error *error);
void checkpoint_file_close(struct checkpoint_file *file);

/* @return 1 when the file's ids of users or items are these, in this order, 0 or a negative code */
int checkpoint_file_has_ids(const struct checkpoint_file *file, enum checkpoint_side side,
                            const struct factor_ids *ids, struct dpmf_error *error);

/* Rows `first` to first + n - 1, `stride` apart in memory, and their biases; either may be NULL. */
int checkpoint_file_read_rows(const struct checkpoint_file *file, enum checkpoint_side side,
                              uint64_t first, uint64_t n, float *rows, size_t stride, float *biases,
                              struct dpmf_error *error);

#endif
