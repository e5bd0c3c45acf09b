/*
 * The mechanisms `residual` and `biases`: which releases are made, with which part of the budget.
 *
 * Budget. The first release costs f0 mu^2. What it says, noise included, decides how many factors
 * are tried and so how many rounds there are; the rounds then cost exactly the rest, (1 - f0) mu^2,
 * whatever was decided. So the whole is mu-GDP by adaptive composition: at every step the budget of
 * the next release is a function of earlier outputs, and the sum of squares is mu^2 on every path.
 * (The squares are a fixed total on every path: no privacy filter beyond that is needed.)
 *
 * Where no factor can pay, the rest buys the first release once more: together that is `biases`.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "mechanisms/bias_release.h"
#include "mechanisms/choose_factors.h"
#include "mechanisms/free_columns.h"
#include "mechanisms/home_columns.h"
#include "mechanisms/mechanism.h"
#include "mechanisms/residual_server.h"
#include "statement/statement_rounds.h"

struct run {
    const struct mechanism_input *input;
    struct residual_rule rule;
    struct public_model *model;
    struct item_evidence evidence;
    struct bias_sums biases;
};

static int take_biases(struct run *run, double mu, struct dpmf_error *error) {
    const struct mechanism_input *input = run->input;
    int code =
        bias_release_take(input->sums, &run->rule, run->model->n_items, mu, &run->biases, error);
    if (code < 0) return code;
    return bias_release_read(&run->biases, &run->rule, input->catalogue, input->sums->pool,
                             run->model, &run->evidence, error);
}

static int run_round(struct run *run, size_t t, double mu, double *sums, double *residuals,
                     struct dpmf_error *error) {
    struct noisy_sum_context *context = run->input->sums;
    char name[32];
    snprintf(name, sizeof name, "round %zu", t + 1);
    const struct noisy_sum_shape shape = {name, run->model->n_items, run->rule.factors + 1,
                                          residual_moments_n(run->model->K), 0};
    struct residual_round round = {.model = run->model,
                                   .rule = &run->rule,
                                   .is_first = t == 0,
                                   .residuals = residuals,
                                   .longest = private_ratings_longest(context->ratings)};
    double sigma;
    int code = noisy_sum_release(context, &shape, mu, residual_user_contribute, &round, sums,
                                 &sigma, error);
    if (code < 0) return code;
    return residual_server_step(&run->rule, t == 0, sums, sigma, context->pool, run->model,
                                &run->evidence, error);
}

static int run_rounds(struct run *run, struct dpmf_error *error) {
    struct noisy_sum_context *context = run->input->sums;
    const struct residual_rule *rule = &run->rule;
    const size_t workers = (size_t)thread_pool_size(context->pool);
    double whole = 0, *sums = memory_alloc_rows(
                          run->model->n_items, rule->factors + 1,
                          residual_moments_n(rule->factors + rule->free_columns), sizeof *sums);
    double *residuals =
        memory_alloc(private_ratings_longest(context->ratings), workers * sizeof *residuals);
    int code = sums && residuals ? residual_server_start(rule, run->input->catalogue, run->model,
                                                         &run->evidence, error)
                                 : error_no_memory(error);
    for (size_t t = 0; t < rule->rounds; t++) whole += pow(rule->growth, (double)t);
    for (size_t t = 0; t < rule->rounds && code == 0; t++) {
        double share = (1 - rule->first_share) * pow(rule->growth, (double)t) / whole;
        code = run_round(run, t, sqrt(share) * rule->mu, sums, residuals, error);
    }
    free(sums);
    free(residuals);
    return code;
}

static size_t choose(const struct run *run) {
    const struct residual_rule *rule = &run->rule;
    const struct item_evidence *evidence = &run->evidence;
    const struct choose_factors_input input = {
        .counts = evidence->N,
        .n_items = run->model->n_items,
        .total = evidence->total,
        .root_total = evidence->typical,
        .users = evidence->users,
        .noise_variance = run->model->s2,
        .snr = evidence->count_snr,
        .mu = rule->mu,
        .first_share = rule->first_share,
        .count_weight = rule->count_weight,
        .spectrum = rule->spectrum,
        .spectrum_decay = rule->spectrum_decay,
    };
    return choose_factors_best(&input);
}

static int run_all(const struct mechanism_input *input, struct public_model *model,
                   bool with_factors, struct dpmf_error *error) {
    struct run run = {.input = input, .model = model};
    /* Shares of mu^2 are computed in doubles: a hair less than all of it is spent. */
    run.rule = residual_rule_make(input->mu * MECHANISM_MU_SPENT, input->catalogue->n_features > 0);
    double first = with_factors ? run.rule.first_share : 1;
    int code = item_evidence_init(&run.evidence, model->n_items, error);
    if (code == 0) code = bias_sums_init(&run.biases, model->n_items, error);
    if (code == 0) code = take_biases(&run, sqrt(first) * run.rule.mu, error);
    if (code == 0 && with_factors) {
        residual_rule_finish(&run.rule, choose(&run));
        run.rule.free_columns = free_columns_n(input->catalogue->n_features);
        input->sums->total_passes = 1 + (uint32_t)(run.rule.rounds > 0 ? run.rule.rounds : 1);
        code = run.rule.factors > 0 ? run_rounds(&run, error)
                                    : take_biases(&run, sqrt(1 - first) * run.rule.mu, error);
        if (code == 0) code = home_columns_add(model, &run.evidence, error);
    }
    bias_sums_free(&run.biases);
    item_evidence_free(&run.evidence);
    return code;
}

static int run_residual(const struct mechanism_input *input, struct public_model *model,
                        struct dpmf_error *error) {
    return run_all(input, model, true, error);
}

static int run_biases(const struct mechanism_input *input, struct public_model *model,
                      struct dpmf_error *error) {
    return run_all(input, model, false, error);
}

const struct mechanism mechanism_residual = {MECHANISM_RESIDUAL,
                                             "residuals times users' own vectors, in rounds",
                                             run_residual, false, false};
const struct mechanism mechanism_biases = {MECHANISM_BIASES, "item biases alone", run_biases, false,
                                           false};
