/*
 * The functionals of a run: the log of the posterior's density, the length of U V^T, the precision
 * of the ratings, and what is predicted for a few pairs. Only numbers that no change of sign,
 * rotation or scale of the factors touches, for these are all that ratings determine: the lengths
 * of U and V by themselves wander for ever, and mean nothing. Fed by the samplers; feeds
 * chains/chain_monitor.h.
 */
#include "sample/chain_watch.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "chains/chain_monitor.h"

enum {
    N_SHOWN = 8,    /* pairs whose predictions are traced one by one */
    N_PAIRS = 1000, /* pairs that the length of U V^T is estimated from */
    FIRST_SHOWN = 3,
    N_WATCHED = FIRST_SHOWN + N_SHOWN,
    WARNING_MAX = 600,
};

struct chain_watch {
    struct chain_monitor *monitor;
    uint64_t user[N_PAIRS], item[N_PAIRS];
};

int chain_watch_init(struct chain_watch **out, uint64_t n_users, uint64_t n_items, uint32_t chains,
                     uint64_t seed, struct dpmf_error *error) {
    assert(out && chains > 0);
    static const char *const names[N_WATCHED] = {
        "log posterior", "length of UV", "lambda_r",     "prediction 1",
        "prediction 2",  "prediction 3", "prediction 4", "prediction 5",
        "prediction 6",  "prediction 7", "prediction 8",
    };
    const struct chain_key key = {.seed = seed};
    struct random_stream random;
    struct chain_watch *watch = memory_alloc_zero(1, sizeof *watch);
    *out = NULL;
    if (!watch) return error_no_memory(error);
    chain_stream_init(&random, &key, CHAIN_PAIRS, 0);
    for (int i = 0; i < N_PAIRS; i++) {
        watch->user[i] = random_below(&random, n_users);
        watch->item[i] = random_below(&random, n_items);
    }
    int code = chain_monitor_init(&watch->monitor, chains, names, N_WATCHED, error);
    if (code < 0) {
        free(watch);
        return code;
    }
    *out = watch;
    return 0;
}

void chain_watch_free(struct chain_watch *watch) {
    if (!watch) return;
    chain_monitor_free(watch->monitor);
    free(watch);
}

/* u.v of a pair, in double. */
static int multiply(const struct chain_state *state, uint64_t user, uint64_t item, float *buffer,
                    double *product, struct dpmf_error *error) {
    assert(product);
    const struct factors *factors = state->factors;
    const float *v = factors->items.rows + item * factors->items.stride;
    struct dpmf_error own = {0};
    const float *u = row_store_look(state->users, user, 1, buffer, &own);
    if (!u) {
        if (error) *error = own;
        return own.code;
    }
    *product = 0;
    for (uint32_t x = 0; x < factors->k; x++) *product += (double)u[x] * (double)v[x];
    return 0;
}

/* What is known here of the pairs: their products, and of the first of them the users' biases, one
 * after the other. Of users who are elsewhere both are 0, so that sums over ranks are exact. */
static int look_at_pairs(const struct chain_watch *watch, const struct chain_state *state,
                         float *buffer, double *products, struct dpmf_error *error) {
    const uint64_t first = state->first_user;
    int code = 0;
    for (int i = 0; i < N_PAIRS && code == 0; i++) {
        const uint64_t user = watch->user[i] - first;
        if (watch->user[i] < first || user >= state->users->n) continue;
        code = multiply(state, user, watch->item[i], buffer, &products[i], error);
        if (i < N_SHOWN) products[N_PAIRS + i] = (double)state->factors->users.biases[user];
    }
    code = cluster_agree(state->cluster, code, error);
    return code < 0 ? code
                    : cluster_sum_doubles(state->cluster, products, N_PAIRS + N_SHOWN, error);
}

/* The mean square of u.v over the pairs, and the predictions of the first of them. */
static double judge_pairs(const struct chain_watch *watch, const struct factors *factors,
                          const double *products, double *shown) {
    double sum = 0;
    for (int i = 0; i < N_PAIRS; i++) {
        sum += products[i] * products[i];
        if (i < N_SHOWN)
            shown[i] = factors->offset + products[N_PAIRS + i] +
                       (double)factors->items.biases[watch->item[i]] + products[i];
    }
    return sum / N_PAIRS;
}

int chain_watch_add(struct chain_watch *watch, uint32_t chain, const struct chain_state *state,
                    struct dpmf_error *error) {
    const struct factors *factors = state->factors;
    const uint64_t n_users = state->n_users > 0 ? state->n_users : factors->users.n;
    const double n_pairs = (double)n_users * (double)factors->items.n;
    double values[N_WATCHED], square = 0;
    float *buffer = memory_alloc(state->users->stride, sizeof(float));
    double *products = memory_alloc_zero(N_PAIRS + N_SHOWN, sizeof(double));
    int code = buffer && products ? 0 : error_no_memory(error);
    code = cluster_agree(state->cluster, code, error);
    if (code == 0) code = look_at_pairs(watch, state, buffer, products, error);
    if (code == 0) square = judge_pairs(watch, factors, products, values + FIRST_SHOWN);
    free(buffer);
    free(products);
    if (code < 0) return code;
    values[0] =
        precisions_log_density(state->precisions, state->n_ratings, state->squared_error, n_users,
                               state->user_squares, factors->items.n, state->item_squares);
    values[1] = sqrt(square * n_pairs);
    values[2] = state->precisions->noise;
    return chain_monitor_add(watch->monitor, chain, values, error);
}

/* Who asks for a mean of samples asks for its predictions: chains may each stay in a part of the
 * posterior, as they do for hundreds of rounds, and their mean be as good as it gets. It is, when
 * sampling adds little to what a rating scatters anyway. */
static void warn_of_mean(double error, double noise, const struct dpmf_run *run) {
    const double most = 0.1; /* share of the noise: half a percent of RMSE */
    char text[WARNING_MAX];
    if (error <= most * noise) return;
    if (isnan(error))
        dpmf_error_write(text, sizeof text,
                         "the chains are too short to tell how exact their average is: give more "
                         "{epochs}");
    else
        dpmf_error_write(text, sizeof text,
                         "too few samples: chance alone moves a prediction by about %.3g, where "
                         "ratings scatter by %.3g: give more {chains}, or more {epochs}",
                         error, noise);
    run->warn(run->warn_self, text);
}

static void warn_of_sample(const struct chain_verdict *verdict, const struct dpmf_run *run) {
    char text[WARNING_MAX], found[WARNING_MAX / 2];
    chain_monitor_describe(verdict, found, sizeof found);
    dpmf_error_write(text, sizeof text,
                     "%s; a single sample predicts worse than an average of many: {average}",
                     found);
    run->warn(run->warn_self, text);
}

int chain_watch_end(const struct chain_watch *watch, uint32_t burn_in,
                    const struct dpmf_train_options *options, const struct dpmf_run *run,
                    struct dpmf_train_report *report, struct dpmf_error *error) {
    struct chain_verdict verdict;
    const bool is_mean = options->sampler.average;
    int code = chain_monitor_judge(watch->monitor, burn_in, &verdict, error);
    report->prediction_error = NAN;
    if (code == 0 && is_mean)
        code = chain_monitor_error(watch->monitor, burn_in, FIRST_SHOWN, N_SHOWN,
                                   &report->prediction_error, error);
    if (code < 0) return code;
    report->rhat = verdict.rhat;
    report->ess = verdict.ess;
    report->converged = verdict.is_converged;
    snprintf(report->worst, sizeof report->worst, "%s", verdict.worst);
    const double precision = chain_monitor_mean(watch->monitor, burn_in, 2);
    if (run->warn && is_mean)
        warn_of_mean(report->prediction_error, 1 / sqrt(precision), run);
    else if (run->warn && !verdict.is_converged)
        warn_of_sample(&verdict, run);
    if (cluster_rank(run->cluster) > 0) return 0;
    return options->sampler.trace
               ? chain_monitor_plot(watch->monitor, burn_in, options->sampler.trace, error)
               : 0;
}
