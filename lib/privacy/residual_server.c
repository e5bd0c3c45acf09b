/*
 * The curator's half of a round. With G_j the noisy sum of w om e [u, 1] over the raters of j, N_j their noisy weight and C
 * the second moment of the users' vectors about their mean, posterior covariance included:
 *
 *     z_v = v + gain C^-1 (G_u / N - mean G_c / N - Cov v - cov(u, a)),    z_c = c + mean.v + G_c / N
 *
 * which is an M step of EM with N_j C in place of the item's own curvature. Without the covariance the vectors
 * would collapse. Then coordinates are changed so that users are white, rounds are averaged by precision, earlier
 * ones fading, and everything is shrunk.
 */
#include "privacy/residual_server.h"

#include <math.h>
#include <string.h>

#include "base/cholesky.h"
#include "base/error.h"
#include "base/symmetric_eigen.h"
#include "random/random.h"

enum { K_MAX = RULE_FACTORS_MAX, D_MAX = K_MAX + 1 };

/* The same start in every run: nothing about it is private, and a release can be made again in a test. */
enum { START_SEED = 1, START_PURPOSE = 0x7265736f /* a constant of this file's own */ };

struct moments {
    double mean[D_MAX],
        covariance[D_MAX * D_MAX]; /* of [u, a]: users' mean; mean posterior covariance */
    double C[K_MAX * K_MAX], inverse[K_MAX * K_MAX];
    double noise;  /* of a vector relative to that of G / N */
    double weight; /* of this round's sums against the first release's counts */
    double unit;   /* item_evidence_weight_unit */
};

/* ---- moments ---------------------------------------------------------------------------------- */

static const double *unpack_symmetric(const double *in, size_t n, double *A) {
    for (size_t a = 0; a < n; a++) {
        for (size_t b = 0; b < a; b++) A[a * n + b] = A[b * n + a] = *in++ / 1.4142135623730951;
        A[a * n + a] = *in++;
    }
    return in;
}

/* Noise may have made it indefinite: then its diagonal alone. */
static void invert(const double *C, size_t K, double *inverse) {
    double L[K_MAX * K_MAX], top = 0;
    memcpy(L, C, K * K * sizeof *L);
    for (size_t a = 0; a < K; a++) top = fmax(top, C[a * K + a]);
    for (size_t a = 0; a < K; a++) L[a * K + a] += 1e-3 * top;
    if (cholesky_factor(L, K) == 0) {
        cholesky_inverse(L, K, inverse);
        return;
    }
    memset(inverse, 0, K * K * sizeof *inverse);
    for (size_t a = 0; a < K; a++)
        inverse[a * K + a] = 1 / fmax(C[a * K + a], fmax(1e-2 * top, 1e-9));
}

static double clamp(double x, double least, double most) { return fmin(fmax(x, least), most); }

static void read_moments(const double *sums, const struct residual_rule *rule, double sigma,
                         bool is_first, struct public_model *model,
                         const struct item_evidence *evidence, struct moments *out) {
    const size_t K = model->K, D = K + 1;
    double products[(D_MAX + 1) * (D_MAX + 1)], *covariance = out->covariance;
    memset(out, 0, sizeof *out);
    sums = unpack_symmetric(sums, D + 1, products);
    sums = unpack_symmetric(sums, D, covariance);
    double p = fmax(products[D * (D + 1) + D], 3 * sigma);
    double root_m = p / (rule->moment_weight / sqrt((double)D));
    for (size_t i = 0; i < (D + 1) * (D + 1); i++) products[i] /= p;
    /* The starting vectors are no model: what they give is no posterior. */
    for (size_t i = 0; i < D * D; i++) covariance[i] *= is_first ? 0 : 1 / p;
    out->weight = root_m / evidence->typical;
    out->unit = item_evidence_weight_unit(evidence, root_m);
    for (size_t a = 0; a < D; a++) out->mean[a] = products[a * (D + 1) + D];
    for (size_t a = 0; a < K; a++)
        for (size_t b = 0; b < K; b++)
            out->C[a * K + b] =
                products[a * (D + 1) + b] - out->mean[a] * out->mean[b] + covariance[a * D + b];
    invert(out->C, K, out->inverse);
    for (size_t a = 0; a < K; a++) out->noise += out->inverse[a * K + a] / (double)K;
    double own = products[K * (D + 1) + K] + covariance[K * D + K] - out->mean[K] * out->mean[K];
    model->s2 = clamp(*sums / p, 0.05, 2);
    model->var_a = clamp(own, 0.03, 1);
    model->b0 = clamp(model->b0 + out->mean[K], -2, 2);
}

/* ---- items ------------------------------------------------------------------------------------ */

/* From G_j, in its place, to the measurement z_j = [z_v, z_c]. */
static void measure_item(const struct moments *moments, double *G, double N, double gain,
                         const double *v, double c, size_t K) {
    const size_t D = K + 1;
    double x[K_MAX], shift = 0;
    for (size_t a = 0; a < K; a++) {
        x[a] = (G[a] - moments->mean[a] * G[K]) / N - moments->covariance[a * D + K];
        shift += moments->mean[a] * v[a];
        for (size_t b = 0; b < K; b++) x[a] -= moments->covariance[a * D + b] * v[b];
    }
    for (size_t a = 0; a < K; a++) {
        double step = 0;
        for (size_t b = 0; b < K; b++) step += moments->inverse[a * K + b] * x[b];
        G[a] = v[a] + gain * step;
    }
    G[K] = c + shift + G[K] / N;
}

static void measure_items(const struct residual_rule *rule, bool is_first,
                          const struct moments *moments, const struct public_model *model,
                          struct item_evidence *evidence, double *sums) {
    static const double zeros[K_MAX];
    const size_t K = model->K, D = K + 1;
    const double first_unit = item_evidence_weight_unit(evidence, evidence->typical);
    for (size_t j = 0; j < model->n_items; j++) {
        double N = moments->weight * evidence->N[j] * model->weight[j];
        const double *v = is_first ? zeros : model->rows + j * model->stride;
        /* Few raters: the item's own curvature can exceed N C by far, and a full step would overshoot. */
        double damping = 1 + (double)K * first_unit / evidence->N[j];
        measure_item(moments, sums + j * D, N, (is_first ? 1 : rule->gain) / damping, v,
                     model->c[j], K);
        for (size_t a = 0; a < K; a++) evidence->Z[j * D + K] += moments->mean[a] * v[a];
    }
}

/* Scales coordinates by C^1/2, so that users become white: more where they vary more than they should, so that rounds need not
 * creep there. */
static void find_whitening(const double *C, size_t K, double over, double *B) {
    double X[K_MAX * K_MAX], values[K_MAX];
    memcpy(X, C, K * K * sizeof *X);
    symmetric_eigen(X, K, values, B);
    for (size_t a = 0; a < K; a++) {
        double x = fmax(values[a], fmax(1e-3 * values[0], 1e-9));
        double scale = pow(x, x > 1 ? over / 2 : 0.5);
        for (size_t b = 0; b < K; b++) B[a * K + b] *= scale;
    }
}

/* Earlier rounds by precision, fading. Sampling error does not average out: the users are the same. */
static void filter_rounds(const struct residual_rule *rule, const struct moments *moments,
                          double sigma, const struct public_model *model,
                          struct item_evidence *evidence, const double *z) {
    const size_t K = model->K, D = K + 1;
    for (size_t j = 0; j < model->n_items; j++) {
        double N = moments->weight * evidence->N[j] * model->weight[j];
        double precision = N * N / (sigma * sigma), *A = &evidence->A[2 * j];
        double new_v = precision / moments->noise, old_v = rule->memory * A[0];
        double new_c = precision, old_c = rule->memory * A[1];
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
    const size_t K = model->K, D = K + 1, n = model->n_items;
    struct moments moments;
    double B[K_MAX * K_MAX];
    read_moments(sums + n * D, rule, sigma, is_first, model, evidence, &moments);
    measure_items(rule, is_first, &moments, model, evidence, sums);
    find_whitening(moments.C, K, is_first ? 1 : rule->over, B);
    shrink_map_rows(sums, n, D, K, B);
    shrink_map_rows(evidence->Z, n, D, K, B);
    filter_rounds(rule, &moments, sigma, model, evidence, sums);
    return shrink_all(model, evidence, rule->ridge, pool, error);
}

/* ---- the start -------------------------------------------------------------------------------- */

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

int residual_server_start(const struct residual_rule *rule, const struct catalogue *catalogue,
                          struct public_model *model, struct item_evidence *evidence,
                          struct dpmf_error *error) {
    size_t K = rule->factors;
    int code = public_model_widen(model, K, error);
    if (code == 0) code = item_evidence_widen(evidence, model->n_items, K, error);
    if (code < 0) return code;
    for (size_t k = 0; k < K; k++) {
        evidence->tau[k] = 0.03;
        fill_column(catalogue, model, evidence, k);
        standardise_column(model, evidence->N, k, sqrt(rule->first_variance) * (k < 2 ? 2 : 1));
    }
    double mean = evidence->total / (double)model->n_items;
    for (size_t j = 0; j < model->n_items; j++)
        model->weight[j] = pow(evidence->N[j] / mean, -rule->popularity);
    return 0;
}
