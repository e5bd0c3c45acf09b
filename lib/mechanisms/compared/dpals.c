/*
 * The mechanism `dpals`: alternating least squares with noisy normal equations (after Chien et al.
 * 2021). Users solve for their own vectors at home; per item they contribute its whole normal
 * equations, curvature included, and the curator solves them. It differs from `residual` in asking
 * for each item's own curvature, K (K + 1) / 2 numbers more an item, which cost norm. What a user
 * sends, and why its norm is at most 1, is in dpals_user.c.
 *
 * The curator's half of a round. With S_j the noisy curvature, G_j the noisy gradient, N_j the
 * raters' noisy weight and C2 the users' global second moment, from all of them:
 *
 *     S_j / N_j  :=  C2 + k_j (S_j / N_j - C2),     k_j = t / (t + sigma^2 / (rho N_j)^2)
 *
 * t being how much curvatures differ from item to item, which is what their squares about C2 exceed
 * the noise by. So an item is trusted with a curvature of its own as far as the noise allows. Less
 * the users' mean, made positive definite by its eigenvalues, it is solved for the step; rounds are
 * then averaged by precision, earlier ones fading, and shrunk by empirical Bayes (shrink.c), which
 * is the lambda of the normal equations.
 *
 * Public rule. First release .2 of mu^2. K = round(1 + 2.5 mu), at most 10 and one for 8 items.
 * T = 4 + K rounds, mu_t^2 growing by 1.25; rho = .1 / sqrt(K + 1). The budget is a fixed total on
 * every path; without factors the first release is made again with the rest.
 */
#define _GNU_SOURCE
#include "mechanisms/compared/dpals.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "mechanisms/compared/first_step.h"
#include "mechanisms/residual_server.h"
#include "numerics/symmetric_eigen.h"
#include "statement/statement_rounds.h"

enum { K_MAX = RULE_FACTORS_MAX, FACTORS_MAX = 10 };

static const double curvature_weight = 0.1; /* rho sqrt(D) */
static const double memory_of_rounds = 0.9, gain = 1.2;
static const double least_eigenvalue = 0.3; /* share of the users' mean variance */

struct dpals_run {
    const struct mechanism_input *input;
    struct first_step *first;
    struct public_model *model;
    struct dpals_round user;
    double *sums;
};

/* What the moments of a round say. */
struct dpals_moments {
    struct moments_read of;
    double weight, unit; /* weight of this round against the first release; unit of sampling */
    double sigma;
};

static double clamp(double x, double least, double most) { return fmin(fmax(x, least), most); }

static void read_moments(const struct dpals_run *run, double sigma, struct dpals_moments *out) {
    struct public_model *model = run->model;
    const struct item_evidence *evidence = &run->first->evidence;
    const double *sums = run->sums + model->n_items * dpals_width(model->K);
    user_moments_read(sums, sigma, model, &out->of);
    const double root_m = out->of.weights / (run->user.moment_weight / sqrt((double)model->K + 1));
    out->sigma = sigma;
    out->weight = root_m / evidence->typical;
    out->unit = item_evidence_weight_unit(evidence, root_m);
}

/* ---- curvatures
 * ------------------------------------------------------------------------------- */

static double curvature_noise(const struct dpals_run *run, const struct dpals_moments *moments,
                              size_t j) {
    double N = moments->weight * run->first->evidence.N[j];
    double deviation = moments->sigma / (run->user.curvature_weight * N);
    return deviation * deviation;
}

/* t: method of moments, in three turns, as in shrink.c. */
static double curvature_spread(const struct dpals_run *run, const struct dpals_moments *moments) {
    const size_t K = run->model->K, triangle = symmetric_packed_n(K), width = dpals_width(K);
    double C2[K_MAX * (K_MAX + 1) / 2], t = 0.1;
    symmetric_pack(moments->of.second, K, C2);
    for (int turn = 0; turn < 3; turn++) {
        double excess = 0, weights = 0;
        for (size_t j = 0; j < run->model->n_items; j++) {
            double noise = curvature_noise(run, moments, j), sum = 0;
            double N = run->user.curvature_weight * moments->weight * run->first->evidence.N[j];
            for (size_t i = 0; i < triangle; i++) {
                double e = run->sums[j * width + i] / N - C2[i];
                sum += e * e / (double)triangle;
            }
            double w = 1 / ((noise + t) * (noise + t));
            excess += w * (sum - noise);
            weights += w;
        }
        t = clamp(excess / weights, 1e-4, 1);
    }
    return t;
}

/* x := S^-1 x with S projected to what is positive definite: no eigenvalue is below a part of the
 * users' typical variance. @return the mean of the squares of S^-1's eigenvalues: what noise is
 * blown up by */
static double solve_curvature(double *S, size_t K, double least, double *x) {
    double values[K_MAX], axes[K_MAX * K_MAX], y[K_MAX], noise = 0;
    symmetric_eigen(S, K, values, axes);
    for (size_t i = 0; i < K; i++) {
        double value = fmax(values[i], least), sum = 0;
        for (size_t a = 0; a < K; a++) sum += axes[i * K + a] * x[a];
        y[i] = sum / value;
        noise += 1 / (value * value * (double)K);
    }
    for (size_t a = 0; a < K; a++) {
        x[a] = 0;
        for (size_t i = 0; i < K; i++) x[a] += axes[i * K + a] * y[i];
    }
    return noise;
}

/* ---- items
 * ------------------------------------------------------------------------------------ */

struct measuring {
    const struct dpals_run *run;
    const struct dpals_moments *moments;
    double spread, least;
    double B[K_MAX * K_MAX];
    _Atomic size_t next;
};

/* The item's curvature a unit of weight, about the users' mean. */
static void make_item_curvature(const struct measuring *self, size_t j, double N, double *S) {
    const struct dpals_run *run = self->run;
    const struct dpals_moments *moments = self->moments;
    const size_t K = run->model->K;
    const double noise = curvature_noise(run, moments, j),
                 own = self->spread / (self->spread + noise);
    symmetric_unpack(run->sums + j * dpals_width(K), K, S);
    for (size_t a = 0; a < K; a++)
        for (size_t b = 0; b < K; b++) {
            double global = moments->of.second[a * K + b], *s = &S[a * K + b];
            *s = global + own * (*s / (run->user.curvature_weight * N) - global) -
                 moments->of.mean[a] * moments->of.mean[b];
        }
}

/* Solves item j and filters what comes out into the evidence. */
static void measure_item(const struct measuring *self, size_t j) {
    static const double zeros[K_MAX];
    const struct dpals_run *run = self->run;
    const struct dpals_moments *moments = self->moments;
    struct public_model *model = run->model;
    struct item_evidence *evidence = &run->first->evidence;
    const size_t K = model->K, D = K + 1;
    const double N = moments->weight * evidence->N[j], sigma = moments->sigma;
    const double *G = run->sums + j * dpals_width(K) + symmetric_packed_n(K);
    const double *v = run->user.is_first ? zeros : model->rows + j * model->stride;
    double S[K_MAX * K_MAX], x[K_MAX], *Z = evidence->Z + j * D, *A = evidence->A + 2 * j,
                                       shift = 0;
    make_item_curvature(self, j, N, S);
    for (size_t a = 0; a < K; a++) {
        x[a] = (G[a] - moments->of.mean[a] * G[K]) / N;
        shift += moments->of.mean[a] * v[a];
    }
    double blown = solve_curvature(S, K, self->least, x);
    /* Few raters: the item's true curvature can exceed what is taken for it, and a full step would
     * overshoot. */
    const double damping = 1 + (double)K * moments->unit / N;
    for (size_t a = 0; a < K; a++) x[a] = v[a] + gain * x[a] / damping;
    shrink_map_rows(x, 1, K, K, self->B);
    shrink_map_rows(Z, 1, D, K, self->B);
    const double precision = N * N / (sigma * sigma);
    const double new_v = precision / blown, old_v = memory_of_rounds * A[0];
    const double new_c = precision, old_c = memory_of_rounds * A[1];
    for (size_t a = 0; a < K; a++) Z[a] = (old_v * Z[a] + new_v * x[a]) / (old_v + new_v);
    Z[K] = (old_c * (Z[K] + shift) + new_c * (model->c[j] + shift + G[K] / N)) / (old_c + new_c);
    A[0] = old_v + new_v;
    A[1] = old_c + new_c;
    evidence->sampling[j] = moments->unit * model->s2 / N;
}

enum { RANGE = 64 }; /* items at once */

static void measure_items(void *arg, int worker) {
    struct measuring *self = arg;
    size_t n = self->run->model->n_items, first;
    (void)worker;
    while ((first = atomic_fetch_add(&self->next, RANGE)) < n)
        for (size_t j = first; j < n && j < first + RANGE; j++) measure_item(self, j);
}

/* ---- rounds
 * ----------------------------------------------------------------------------------- */

static int serve(struct dpals_run *run, double sigma, struct dpmf_error *error) {
    struct thread_pool *pool = run->input->sums->pool;
    struct dpals_moments moments;
    const size_t K = run->model->K;
    double trace = 0;
    read_moments(run, sigma, &moments);
    struct measuring measuring = {.run = run, .moments = &moments};
    measuring.spread = curvature_spread(run, &moments);
    for (size_t a = 0; a < K; a++) trace += moments.of.covariance[a * K + a] / (double)K;
    measuring.least = fmax(least_eigenvalue * trace, 1e-3);
    user_moments_whiten(moments.of.covariance, K, run->user.is_first ? 1 : run->first->rule.over,
                        measuring.B);
    thread_pool_run(pool, measure_items, &measuring);
    return shrink_all(run->model, &run->first->evidence, run->first->rule.ridge, pool, error);
}

static int run_round(struct dpals_run *run, size_t t, double mu, struct dpmf_error *error) {
    size_t K = run->model->K;
    char name[24];
    double sigma;
    snprintf(name, sizeof name, "round %u", (unsigned)t + 1);
    const struct noisy_sum_shape shape = {.name = name,
                                          .n_rows = run->model->n_items,
                                          .width = dpals_width(K),
                                          .tail = dpals_tail(K)};
    run->user.is_first = t == 0;
    int code = noisy_sum_release(run->input->sums, &shape, mu, dpals_contribute, &run->user,
                                 run->sums, &sigma, error);
    return code < 0 ? code : serve(run, sigma, error);
}

static int run_rounds(struct dpals_run *run, double share, struct dpmf_error *error) {
    struct noisy_sum_context *context = run->input->sums;
    const struct residual_rule *rule = &run->first->rule;
    const size_t K = rule->factors, workers = (size_t)thread_pool_size(context->pool);
    double whole = 0;
    run->user.longest = private_ratings_longest(context->ratings);
    run->sums =
        memory_alloc_rows(run->model->n_items, dpals_width(K), dpals_tail(K), sizeof(double));
    run->user.residuals = memory_alloc(run->user.longest, workers * sizeof(double));
    int code = run->sums && run->user.residuals ? 0 : error_no_memory(error);
    for (size_t t = 0; t < rule->rounds; t++) whole += pow(rule->growth, (double)t);
    for (size_t t = 0; t < rule->rounds && code == 0; t++) {
        double part = share * pow(rule->growth, (double)t) / whole;
        code = run_round(run, t, sqrt(part) * rule->mu, error);
    }
    free(run->sums);
    free(run->user.residuals);
    return code;
}

static int run_dpals(const struct mechanism_input *input, struct public_model *model,
                     struct dpmf_error *error) {
    struct first_step first = {0};
    int code = first_step_begin(&first, input, DPALS_FIRST_SHARE, model, error);
    if (code == 0) {
        struct residual_rule *rule = &first.rule;
        const size_t K = first_step_factors(1 + 2.5 * rule->mu, FACTORS_MAX, model->n_items);
        rule->factors = K;
        rule->rounds = K > 0 ? K + DPALS_ROUNDS_MORE : 0;
        rule->popularity = 0;
        struct dpals_run run = {.input = input, .first = &first, .model = model};
        run.user = (struct dpals_round){.model = model,
                                        .curvature_weight = curvature_weight / sqrt((double)K + 1),
                                        .moment_weight = rule->moment_weight,
                                        .floor = rule->round_floor * sqrt((double)K + 1)};
        input->sums->total_passes = K > 0 ? 1 + (uint32_t)rule->rounds : 2;
        if (K == 0) code = first_step_repeat(&first, input, 1 - DPALS_FIRST_SHARE, model, error);
        if (K > 0)
            code = residual_server_start(rule, input->catalogue, model, &first.evidence, error);
        if (K > 0 && code == 0) code = run_rounds(&run, 1 - DPALS_FIRST_SHARE, error);
    }
    first_step_free(&first);
    return code;
}

const struct mechanism mechanism_dpals = {MECHANISM_DPALS,
                                          "alternating least squares with noisy normal equations",
                                          run_dpals, false, false};
