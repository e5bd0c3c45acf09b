/*
 * The mechanism `events`: item vectors from what people had, not from how they rated it. Which
 * noisy sums are made, with which part of the budget.
 *
 *     popularity    how many people had each item, with a small part of the budget: it decides all
 *                   that follows
 *     popularity    the same, with the rest of what popularity gets
 *     round 1 .. 6  who has what together, each along the directions that the rounds before found
 *     vote          how much taste should count beside popularity
 *
 * Budget. The first sum costs first_share mu^2. What it says, noise included, decides the shares
 * and the number of factors (events_rule.h); the shares add up to 1 whatever that is, so the whole
 * is mu-GDP by adaptive composition. Where popularity itself is hardly told from noise nothing else
 * could be paid for, and the second sum takes all that is left.
 *
 * A user's events are left out of nothing but the rounds: of one event there, the one that they
 * vote with. That the popularity of an item counts it makes no candidate of the vote better than
 * another.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "mechanisms/events/events.h"
#include "mechanisms/mechanism.h"
#include "statement/statement_rounds.h"

struct run {
    const struct mechanism_input *input;
    struct public_model *model;
    struct events_rule rule;
    struct events_popularity popularity;
    struct events_server *server;
};

static int take_popularity(struct run *run, double share, struct dpmf_error *error) {
    struct events_popularity *popularity = &run->popularity;
    const size_t n = run->model->n_items;
    const struct noisy_sum_shape shape = {"popularity", n, 1, 0, 0};
    double sigma, *more = memory_alloc(n, sizeof *more);
    if (!more) return error_no_memory(error);
    int code = noisy_sum_release(run->input->sums, &shape, sqrt(share) * run->rule.mu,
                                 events_contribute_popularity, NULL, more, &sigma, error);
    if (code == 0) {
        const double precision = 1 / (sigma * sigma), both = popularity->precision + precision;
        for (size_t i = 0; i < n; i++)
            popularity->sums[i] =
                (popularity->precision * popularity->sums[i] + precision * more[i]) / both;
        popularity->precision = both;
    }
    free(more);
    return code;
}

static int run_round(struct run *run, size_t t, double *sums, double *z, struct dpmf_error *error) {
    struct noisy_sum_context *context = run->input->sums;
    char name[32];
    snprintf(name, sizeof name, "round %zu", t + 1);
    const struct noisy_sum_shape shape = {name, run->model->n_items, run->model->K, 0, 0};
    struct events_round round = {.model = run->model,
                                 .rule = &run->rule,
                                 .z = z,
                                 .longest = private_ratings_longest(context->ratings)};
    const double mu = sqrt(events_rule_round_share(&run->rule, t)) * run->rule.mu;
    double sigma;
    int code = noisy_sum_release(context, &shape, mu, events_contribute_round, &round, sums, &sigma,
                                 error);
    return code < 0 ? code : events_server_step(run->server, sums, sigma, run->model, error);
}

static int run_rounds(struct run *run, struct dpmf_error *error) {
    const struct noisy_sum_context *context = run->input->sums;
    const size_t workers = (size_t)thread_pool_size(context->pool);
    int code =
        events_server_init(&run->server, &run->rule, run->input->catalogue, run->model, error);
    if (code < 0) return code;
    double *sums = memory_alloc(run->model->n_items, EVENTS_FACTORS_MAX * sizeof *sums);
    double *z = memory_alloc(private_ratings_longest(context->ratings), workers * sizeof *z);
    if (!sums || !z) code = error_no_memory(error);
    for (size_t t = 0; t < run->rule.rounds && code == 0; t++)
        code = run_round(run, t, sums, z, error);
    free(sums);
    free(z);
    return code < 0 ? code : events_server_finish(run->server, run->model, error);
}

static int take_vote(struct run *run, struct dpmf_error *error) {
    struct events_score score;
    const struct events_rule *rule = &run->rule;
    const struct vote vote = {.n = EVENTS_WEIGHTS,
                              .bound = rule->vote_bound,
                              .gains = events_score_gains,
                              .self = &score};
    double sums[EVENTS_WEIGHTS], sigma;
    events_score_init(&score, run->model, rule);
    int code =
        vote_take(run->input->sums, &vote, sqrt(rule->vote_share) * rule->mu, sums, &sigma, error);
    if (code < 0) return code;
    const size_t winner =
        vote_winner(sums, EVENTS_WEIGHTS, sigma, EVENTS_DEFAULT_WEIGHT, rule->vote_lead);
    run->model->taste_weight = events_weights[winner];
    return 0;
}

static int run_all(struct run *run, struct dpmf_error *error) {
    struct events_rule *rule = &run->rule;
    const size_t n = run->model->n_items;
    int code = take_popularity(run, rule->first_share, error);
    if (code < 0) return code;
    events_rule_finish(rule, events_popularity_snr(&run->popularity, n, rule->mu), n);
    const bool has_factors = rule->factors > 0;
    run->input->sums->total_passes = 2 + (uint32_t)rule->rounds + has_factors;
    code = take_popularity(run, rule->popularity_share - rule->first_share, error);
    if (code < 0) return code;
    events_popularity_read(&run->popularity, rule, run->model);
    if (has_factors) code = run_rounds(run, error);
    return code < 0 || !has_factors ? code : take_vote(run, error);
}

static int run_events(const struct mechanism_input *input, struct public_model *model,
                      struct dpmf_error *error) {
    struct run run = {.input = input, .model = model};
    /* Shares of mu^2 are computed in doubles: a hair less than all of it is spent. */
    run.rule = events_rule_make(input->mu * MECHANISM_MU_SPENT);
    run.popularity.sums = memory_alloc_zero(model->n_items, sizeof(double));
    model->taste_weight = 1;
    int code = run.popularity.sums ? run_all(&run, error) : error_no_memory(error);
    events_server_free(run.server);
    free(run.popularity.sums);
    return code;
}

const struct mechanism mechanism_events = {MECHANISM_EVENTS,
                                           "who has which items together, in rounds; ranks items",
                                           run_events, false, true};
