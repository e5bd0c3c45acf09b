/*
 * A model together with the users of a history whom it does not know, each fitted to their own
 * ratings as they would do at home: for what works on models with users. A release knows nobody.
 */
#ifndef DPMF_EVALUATE_FOLD_USERS_H
#define DPMF_EVALUATE_FOLD_USERS_H

#include "recommend/model.h"
#include "store/store.h"

/* `*fitted` is `folded`, which shares the items of `model`, or `model` itself where there is nobody
 * to fit; `history` may be NULL. Whoever has no rating that a checkpoint can use stays unknown.
 * `model` must outlive both. On failure there is nothing to free. */
int fold_users_make(const struct dpmf_model *model, const struct dpmf_store *history,
                    const struct dpmf_run *run, struct dpmf_model *folded,
                    const struct dpmf_model **fitted, struct dpmf_error *error);
void fold_users_free(struct dpmf_model *folded);

#endif
