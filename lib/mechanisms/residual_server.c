/*
 * The curator's half of a round. With G_j the noisy sum of w om e [u, 1] over the raters of j, N_j
 * their noisy weight and C the second moment of the users' vectors about their mean, posterior
 * covariance included:
 *
 *     z_v = v + gain C^-1 (G_u / N - mean G_c / N - Cov v - cov(u, a)),    z_c = c + mean.v + G_c /
 *     N
 *
 * which is an M step of EM with N_j C in place of the item's own curvature, for the learned
 * columns. Without the covariance the vectors would collapse. Then coordinates are changed so that
 * users are white, rounds are averaged by precision, earlier ones fading, and everything is shrunk.
 */
#include "mechanisms/residual_server.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "mechanisms/free_columns.h"
#include "mechanisms/residual_moments.h"
#include "random/random.h"

/* The same start in every run: nothing about it is private, and a release can be made again in a
 * test. */
enum { START_SEED = 1, START_PURPOSE = 0x7265736f /* a constant of this file's own */ };

/* ---- items ----------------------------------------------------------------------------------- */

/* From G_j, in its place, to the measurement z_j = [z_v, z_c]; v is the whole vector, free columns
 * included. */
static void measure_item(const struct residual_moments *moments, double *G, double N, double gain,
                         const double *v, double c, size_t K, size_t n_learned) {
    const size_t D = K + 1, n = n_learned;
    double x[RULE_FACTORS_MAX], shift = 0;
    for (size_t a = 0; a < K; a++) shift += moments->mean[a] * v[a];
    for (size_t a = 0; a < n; a++) {
        x[a] = (G[a] - moments->mean[a] * G[n]) / N - moments->covariance[a * D + K];
        for (size_t b = 0; b < K; b++) x[a] -= moments->covariance[a * D + b] * v[b];
    }
    for (size_t a = 0; a < n; a++) {
        double step = 0;
        for (size_t b = 0; b < n; b++) step += moments->inverse[a * n + b] * x[b];
        G[a] = v[a] + gain * step;
    }
    G[n] = c + shift + G[n] / N;
}

/* From a sum over users of w om e [u, b] to one of w om e [u, 1]. */
static void undo_bias_weight(const struct public_model *model, size_t D, double *sums) {
    for (size_t j = 0; j < model->n_items; j++) sums[j * D + D - 1] /= model->bias_weight[j];
}

static void measure_items(const struct residual_rule *rule, bool is_first,
                          const struct residual_moments *moments, const struct public_model *model,
                          struct item_evidence *evidence, double *sums) {
    const size_t K = model->K, n_learned = K - model->n_free, D = n_learned + 1;
    const double first_unit = item_evidence_weight_unit(evidence, evidence->typical);
    double v[RULE_WIDTH_MAX];
    for (size_t j = 0; j < model->n_items; j++) {
        double N = moments->weight * evidence->N[j] * model->weight[j];
        memcpy(v, model->rows + j * model->stride, K * sizeof *v);
        if (is_first) memset(v, 0, n_learned * sizeof *v);
        /* Few raters: the item's own curvature can exceed N C by far, and a full step would
         * overshoot. */
        double damping = 1 + (double)n_learned * first_unit / evidence->N[j];
        measure_item(moments, sums + j * D, N, (is_first ? 1 : rule->gain) / damping, v,
                     model->c[j], K, n_learned);
        for (size_t a = 0; a < K; a++) evidence->Z[j * D + n_learned] += moments->mean[a] * v[a];
    }
}

/* x := x + X f for the learned columns x of each row of Z, f being the free columns. */
static void add_free(const struct public_model *model, const double *X, double *Z) {
    const size_t q = model->n_free, n = model->K - q;
    for (size_t j = 0; j < model->n_items; j++) {
        const double *f = model->rows + j * model->stride + n;
        for (size_t a = 0; a < n; a++)
            for (size_t b = 0; b < q; b++) Z[j * (n + 1) + a] += X[a * q + b] * f[b];
    }
}

/* To coordinates in which users are white. */
static void whiten(const struct residual_rule *rule, bool is_first,
                   const struct residual_moments *moments, struct public_model *model,
                   struct item_evidence *evidence, double *z) {
    const size_t n_items = model->n_items, n_learned = model->K - model->n_free, D = n_learned + 1;
    struct residual_whitening map;
    residual_moments_whiten(moments, n_learned, model->n_free, rule->over, is_first, &map);
    add_free(model, map.X, z);
    add_free(model, map.X, evidence->Z);
    shrink_map_rows(z, n_items, D, n_learned, map.B);
    shrink_map_rows(evidence->Z, n_items, D, n_learned, map.B);
    shrink_map_rows(model->rows + n_learned, n_items, model->stride, model->n_free, map.F);
}

/* Earlier rounds by precision, fading. Sampling error does not average out: the users are the
 * same. */
static void filter_rounds(const struct residual_rule *rule, const struct residual_moments *moments,
                          double sigma, const struct public_model *model,
                          struct item_evidence *evidence, const double *z) {
    const size_t K = model->K - model->n_free, D = K + 1;
    for (size_t j = 0; j < model->n_items; j++) {
        double N = moments->weight * evidence->N[j] * model->weight[j];
        double precision = N * N / (sigma * sigma), *A = &evidence->A[2 * j];
        double new_v = precision / moments->noise, old_v = rule->memory * A[0];
        double new_c = precision * model->bias_weight[j] * model->bias_weight[j],
               old_c = rule->bias_memory * A[1];
        double *Z = evidence->Z + j * D;
        for (size_t a = 0; a < K; a++)
            Z[a] = (old_v * Z[a] + new_v * z[j * D + a]) / (old_v + new_v);
        Z[K] = (old_c * Z[K] + new_c * z[j * D + K]) / (old_c + new_c);
        A[0] = old_v + new_v;
        A[1] = old_c + new_c;
        evidence->sampling[j] = model->weight[j] * moments->unit * model->s2 / N;
    }
}

int residual_server_step(const struct residual_rule *rule, bool is_first, double *sums,
                         double sigma, struct thread_pool *pool, struct public_model *model,
                         struct item_evidence *evidence, struct dpmf_error *error) {
    struct residual_moments moments;
    const double *packed = sums + model->n_items * (model->K - model->n_free + 1);
    residual_moments_read(packed, rule, sigma, is_first, model, evidence, &moments);
    undo_bias_weight(model, model->K - model->n_free + 1, sums);
    measure_items(rule, is_first, &moments, model, evidence, sums);
    whiten(rule, is_first, &moments, model, evidence, sums);
    filter_rounds(rule, &moments, sigma, model, evidence, sums);
    return shrink_all(model, evidence, rule->ridge, pool, error);
}

/* ---- the start ------------------------------------------------------------------------------- */

/* Column k of the starting vectors, before it is standardised. */
static void fill_column(const struct catalogue *catalogue, struct public_model *model,
                        const struct item_evidence *evidence, size_t k) {
    size_t n_features = catalogue->n_features;
    struct random_stream random, mixture;
    random_stream_init(&random, START_SEED, START_PURPOSE, k);
    for (size_t j = 0; j < model->n_items; j++) {
        double *x = &model->rows[j * model->stride + k];
        if (k == 0) *x = log(evidence->N[j]);
        if (k == 1) *x = model->c[j];
        if (k < 2) continue;
        *x = random_gaussian(&random) * (n_features > 0 ? 0.3 : 1);
        random_stream_init(&mixture, START_SEED, START_PURPOSE + 1, k);
        for (size_t f = 0; f < n_features; f++)
            *x += random_gaussian(&mixture) / sqrt((double)n_features) *
                  catalogue->features[j * n_features + f];
    }
}

static void standardise_column(struct public_model *model, const double *N, size_t k,
                               double deviation) {
    double sum = 0, squares = 0, weights = 0;
    for (size_t j = 0; j < model->n_items; j++) {
        double x = model->rows[j * model->stride + k];
        sum += N[j] * x;
        squares += N[j] * x * x;
        weights += N[j];
    }
    double mean = sum / weights, spread = sqrt(fmax(squares / weights - mean * mean, 1e-9));
    for (size_t j = 0; j < model->n_items; j++) {
        double *x = &model->rows[j * model->stride + k];
        *x = (*x - mean) / spread * deviation;
    }
}

/* What a rating is worth falls with how often its item is rated, more so for the item's bias than
 * for its vector; and of a thing that hardly anybody rates a vector is not to be had. */
static void set_weights(const struct residual_rule *rule, const struct item_evidence *evidence,
                        struct public_model *model) {
    const double mean = evidence->total / (double)model->n_items, extreme = 100;
    for (size_t j = 0; j < model->n_items; j++) {
        const double x = fmin(fmax(evidence->N[j] / mean, 1 / extreme), extreme);
        const double known = x / (x + rule->rare);
        model->weight[j] = pow(x, -rule->popularity) * known;
        model->bias_weight[j] = rule->bias_weight * pow(x, -rule->bias_popularity) / known;
    }
}

int residual_server_start(const struct residual_rule *rule, const struct catalogue *catalogue,
                          struct public_model *model, struct item_evidence *evidence,
                          struct dpmf_error *error) {
    size_t K = rule->factors;
    int code = public_model_widen(model, K + rule->free_columns, error);
    model->n_free = rule->free_columns;
    if (code == 0) code = item_evidence_widen(evidence, model->n_items, K, error);
    if (code < 0) return code;
    for (size_t k = 0; k < K; k++) {
        evidence->tau[k] = 0.03;
        fill_column(catalogue, model, evidence, k);
        standardise_column(model, evidence->N, k, sqrt(rule->first_variance) * (k < 2 ? 2 : 1));
    }
    set_weights(rule, evidence, model);
    return model->n_free == 0
               ? 0
               : free_columns_fill(model, evidence, catalogue, rule->free_variance, error);
}
