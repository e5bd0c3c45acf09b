/*
 * A release together with the users of a history, each fitted to their own ratings as they would do
 * at home: a model with users, for what works on models with users.
 */
#ifndef DPMF_EVALUATE_FOLD_USERS_H
#define DPMF_EVALUATE_FOLD_USERS_H

#include "recommend/model.h"
#include "store/store.h"

/* `folded` shares the items of `model`, which must outlive it. On failure there is nothing to
 * free. */
int fold_users_make(const struct dpmf_model *model, const struct dpmf_store *history,
                    const struct dpmf_run *run, struct dpmf_model *folded,
                    struct dpmf_error *error);
void fold_users_free(struct dpmf_model *folded);

#endif
