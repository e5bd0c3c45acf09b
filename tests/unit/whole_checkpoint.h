/*
 * Whole checkpoints in one call, which only tests need: the library writes them in pieces, and
 * reads them from files that are open already.
 */
#ifndef DPMF_TESTS_WHOLE_CHECKPOINT_H
#define DPMF_TESTS_WHOLE_CHECKPOINT_H

#include "model/checkpoint.h"
#include "model/safetensors.h"

static inline int whole_checkpoint_write(const char *path, const struct factors *factors,
                                         const struct checkpoint_state *state,
                                         const char *provenance, struct dpmf_error *error) {
    const struct factor_matrix *users = &factors->users, *items = &factors->items;
    struct checkpoint_draft *draft;
    int code = checkpoint_draft_open(&draft, path, factors, false, provenance, error);
    if (code < 0) return code;
    code = checkpoint_draft_put_ids(draft, error);
    if (code == 0)
        code = checkpoint_draft_put_rows(draft, CHECKPOINT_USERS, 0, users->n, users->rows,
                                         users->stride, users->biases, error);
    if (code == 0)
        code = checkpoint_draft_put_rows(draft, CHECKPOINT_ITEMS, 0, items->n, items->rows,
                                         items->stride, items->biases, error);
    if (code == 0) return checkpoint_draft_commit(draft, state, error);
    checkpoint_draft_abandon(draft);
    return code;
}

static inline int whole_checkpoint_read(const char *path, size_t (*stride_of)(size_t k),
                                        uint64_t spare, struct factors *factors,
                                        struct checkpoint_state *state, struct dpmf_error *error) {
    struct safetensors *file;
    *factors = (struct factors){0};
    int code = safetensors_open(path, &file, error);
    if (code == 0) code = checkpoint_read_from(file, stride_of, spare, factors, state, error);
    safetensors_close(file);
    return code;
}

#endif
