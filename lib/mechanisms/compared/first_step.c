/*
 * The release of counts and biases as the first step of a mechanism. Fed by the mechanism, which
 * says what part of the budget it is worth; feeds it the public model and the noisy counts.
 */
#include "mechanisms/compared/first_step.h"

#include <math.h>

#include "statement/statement_rounds.h"

int first_step_repeat(struct first_step *step, const struct mechanism_input *input, double share,
                      struct public_model *model, struct dpmf_error *error) {
    struct noisy_sum_context *context = input->sums;
    int code = bias_release_take(context, &step->rule, model->n_items, sqrt(share) * step->rule.mu,
                                 &step->sums, error);
    if (code < 0) return code;
    return bias_release_read(&step->sums, &step->rule, input->catalogue, context->pool, model,
                             &step->evidence, error);
}

int first_step_begin(struct first_step *step, const struct mechanism_input *input, double share,
                     struct public_model *model, struct dpmf_error *error) {
    *step = (struct first_step){0};
    /* Shares of mu^2 are computed in doubles: a hair less than all of it is spent. */
    step->rule =
        residual_rule_make(input->mu * MECHANISM_MU_SPENT, input->catalogue->n_features > 0);
    int code = item_evidence_init(&step->evidence, model->n_items, error);
    if (code == 0) code = bias_sums_init(&step->sums, model->n_items, error);
    return code < 0 ? code : first_step_repeat(step, input, share, model, error);
}

void first_step_free(struct first_step *step) {
    item_evidence_free(&step->evidence);
    bias_sums_free(&step->sums);
}

size_t first_step_factors(double wanted, size_t most, size_t n_items) {
    size_t bearable = n_items / 8 < most ? n_items / 8 : most;
    size_t factors = (size_t)fmin(fmax(round(wanted), 1), (double)most);
    return factors < bearable ? factors : bearable;
}
