/*
 * One prediction. What the model does not know about a pair is left out of the sum.
 */
#include "recommend/model.h"

double dpmf_model_predict(const struct dpmf_model *model, uint64_t user, uint64_t item) {
    const float *u = model_user_row(model, user), *v = model_item_row(model, item);
    double prediction = model_user_base(model, user);
    if (v) prediction += (double)model->factors.items.biases[item];
    if (u && v) prediction += (double)model->kernels->dot(u, v, model->padded_k);
    return prediction;
}
