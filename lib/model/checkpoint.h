/*
 * A checkpoint: everything of a model and of the run that made it, in a safetensors file of mode 0600. It
 * holds people's vectors and is private data.
 *
 * Tensors: user_factors (n x k F32), item_factors, user_biases, item_biases, user_id_bytes (U8),
 * user_id_offsets (I64, n + 1), item_id_bytes, item_id_offsets. Metadata: dpmf.kind = checkpoint,
 * dpmf.format, dpmf.version (of the library), dpmf.offset, dpmf.min, dpmf.max, dpmf.state (a JSON object: where the run stands) and
 * dpmf.provenance (a JSON object: how it was made).
 */
#ifndef DPMF_MODEL_CHECKPOINT_H
#define DPMF_MODEL_CHECKPOINT_H

#include "model/factors.h"
#include "model/safetensors_reader.h"

#define CHECKPOINT_FORMAT "1" /* dpmf.format: what a reader must know to read it */

enum {
    CHECKPOINT_K_MAX = 4096,
    CHECKPOINT_ID_MAX = 64 * 1024, /* bytes in an id; at least 1 */
};

struct checkpoint_state {
    uint32_t epoch; /* epochs done */
    uint64_t seed;
    double learning_rate, decay, regularization;
    uint64_t n_ratings;   /* of the store it was trained on ... */
    uint64_t fingerprint; /* ... and a checksum of its index, to notice another store */
    double best_valid;    /* NaN without */
    uint32_t best_epoch;
};

/* `provenance` is JSON text. Rows are written without their padding. */
int checkpoint_write(const char *path, const struct factors *factors,
                     const struct checkpoint_state *state, const char *provenance,
                     struct dpmf_error *error);

/* Reads and checks everything: sizes against the file, offsets, finite numbers, ids. `stride_of` gives the
 * stride for k (rows are padded in memory); `spare` rows are added to both matrices. The ids are indexed. On
 * failure there is nothing to free. */
int checkpoint_read(const char *path, size_t (*stride_of)(size_t k), uint64_t spare,
                    struct factors *factors, struct checkpoint_state *state,
                    struct dpmf_error *error);

/* The same from a file that is open already. */
int checkpoint_read_from(const struct safetensors *file, size_t (*stride_of)(size_t k),
                         uint64_t spare, struct factors *factors, struct checkpoint_state *state,
                         struct dpmf_error *error);

#endif
