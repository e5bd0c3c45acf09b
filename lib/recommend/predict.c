/*
 * One prediction, in double: the same number that a list of the best items shows. What the model
 * does not know about a pair is left out of the sum.
 */
#include <math.h>

#include "recommend/user.h"

static double predict(const struct scoring *scoring, uint64_t item) {
    return item < scoring->model->factors.items.n ? scoring_exact(scoring, item) : scoring->base;
}

double dpmf_model_predict(const struct dpmf_model *model, uint64_t user, uint64_t item) {
    if (!model) return NAN;
    const struct scoring scoring =
        scoring_by_rating(model, model_user_base(model, user), model_user_row(model, user), NULL);
    return predict(&scoring, item);
}

double dpmf_user_predict(const struct dpmf_model *model, const struct dpmf_user *user,
                         uint64_t item) {
    if (!model || !user) return NAN;
    const struct scoring scoring = user_scoring(user);
    return predict(&scoring, item);
}
