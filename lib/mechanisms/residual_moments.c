/*
 * Reading the noisy moments. There are hundreds of them in a wide model, and all share a small part
 * of the norm: at a small epsilon a spread taken as read would have negative directions, and
 * vectors scaled by it would run away. So the spread is drawn towards a multiple of the unit
 * matrix, which is what it would be had every earlier round been exact, as far as noise explains
 * its distance from there (James and Stein's rule). Fed by residual_server.c.
 */
#include "mechanisms/residual_moments.h"

#include <math.h>
#include <string.h>

#include "mechanisms/symmetric_pack.h"
#include "numerics/cholesky.h"
#include "numerics/symmetric_eigen.h"

static double clamp(double x, double least, double most) { return fmin(fmax(x, least), most); }

/* ---- reading --------------------------------------------------------------------------------- */

/* The n x n block at A, rows `stride` apart. `noise` is the variance of one packed number. */
static void calm_block(double *A, size_t n, size_t stride, double noise) {
    double mean = 0, distance2 = 0;
    const double freedom = (double)symmetric_packed_n(n) - 1;
    for (size_t a = 0; a < n; a++) mean += A[a * stride + a] / (double)n;
    for (size_t a = 0; a < n; a++) A[a * stride + a] -= mean;
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++) distance2 += A[a * stride + b] * A[a * stride + b];
    const double kept = distance2 > 0 ? fmax(0, 1 - freedom * noise / distance2) : 0;
    for (size_t a = 0; a < n; a++) {
        for (size_t b = 0; b < n; b++) A[a * stride + b] *= kept;
        A[a * stride + a] += mean;
    }
}

/* What learned and free columns have in common: towards 0. `noise` is the variance of one entry. */
static void calm_cross(double *C, size_t n_learned, size_t K, double noise) {
    double distance2 = 0;
    const double freedom = (double)(n_learned * (K - n_learned));
    for (size_t a = 0; a < n_learned; a++)
        for (size_t b = n_learned; b < K; b++) distance2 += C[a * K + b] * C[a * K + b];
    const double kept = distance2 > 0 ? fmax(0, 1 - freedom * noise / distance2) : 0;
    for (size_t a = 0; a < n_learned; a++)
        for (size_t b = n_learned; b < K; b++) C[a * K + b] = C[b * K + a] = kept * C[a * K + b];
}

/* Inverts C's first n rows and columns. Noise may have made C indefinite: then its diagonal alone.
 */
static void invert(const double *C, size_t n, size_t K, double *inverse) {
    double L[RULE_FACTORS_MAX * RULE_FACTORS_MAX], top = 0;
    for (size_t a = 0; a < n; a++) {
        memcpy(L + a * n, C + a * K, n * sizeof *L);
        top = fmax(top, C[a * K + a]);
    }
    for (size_t a = 0; a < n; a++) L[a * n + a] += 1e-3 * top;
    if (cholesky_factor(L, n) == 0) {
        cholesky_inverse(L, n, inverse);
        return;
    }
    memset(inverse, 0, n * n * sizeof *inverse);
    for (size_t a = 0; a < n; a++)
        inverse[a * n + a] = 1 / fmax(C[a * K + a], fmax(1e-2 * top, 1e-9));
}

/* The starting vectors of learned columns are no model: what they give is no posterior. */
static void forget_learned(double *covariance, size_t n_learned, size_t D) {
    for (size_t a = 0; a < D; a++)
        for (size_t b = 0; b < D; b++)
            if (fmin((double)a, (double)b) < (double)n_learned || a == D - 1 || b == D - 1)
                covariance[a * D + b] = 0;
}

/* `noise` is the variance of one packed number. */
static void find_spread(const double *products, size_t n_learned, size_t K, bool is_first,
                        double noise, struct residual_moments *out) {
    const size_t D = K + 1;
    double *C = out->C;
    for (size_t a = 0; a < K; a++)
        for (size_t b = 0; b < K; b++)
            C[a * K + b] = products[a * (D + 1) + b] - out->mean[a] * out->mean[b] +
                           out->covariance[a * D + b];
    /* Two noisy numbers add up, or one where the covariance was set aside; and an entry off the
     * diagonal has half the variance of a packed number. */
    const double learned_noise = is_first ? noise : 2 * noise;
    calm_block(C, n_learned, K, learned_noise);
    if (K > n_learned) {
        calm_block(C + n_learned * (K + 1), K - n_learned, K, 2 * noise);
        calm_cross(C, n_learned, K, learned_noise / 2);
    }
    invert(C, n_learned, K, out->inverse);
    for (size_t a = 0; a < n_learned; a++)
        out->noise += out->inverse[a * n_learned + a] / (double)n_learned;
}

void residual_moments_read(const double *sums, const struct residual_rule *rule, double sigma,
                           bool is_first, struct public_model *model,
                           const struct item_evidence *evidence, struct residual_moments *out) {
    const size_t K = model->K, D = K + 1, n_learned = K - model->n_free;
    double products[(MOMENTS_D_MAX + 1) * (MOMENTS_D_MAX + 1)], *covariance = out->covariance;
    memset(out, 0, sizeof *out);
    symmetric_unpack(sums, D + 1, products);
    sums += symmetric_packed_n(D + 1);
    symmetric_unpack(sums, D, covariance);
    sums += symmetric_packed_n(D);
    /* NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): symmetric_unpack filled it */
    const double p = fmax(products[D * (D + 1) + D], 3 * sigma);
    const double root_m = p / (rule->moment_weight / sqrt((double)n_learned + 1));
    for (size_t i = 0; i < (D + 1) * (D + 1); i++) products[i] /= p;
    for (size_t i = 0; i < D * D; i++) covariance[i] /= p;
    if (is_first) forget_learned(covariance, n_learned, D);
    out->weight = root_m / evidence->typical;
    out->unit = item_evidence_weight_unit(evidence, root_m);
    for (size_t a = 0; a < D; a++) out->mean[a] = products[a * (D + 1) + D];
    find_spread(products, n_learned, K, is_first, sigma * sigma / (p * p), out);
    double own = products[K * (D + 1) + K] + covariance[K * D + K] - out->mean[K] * out->mean[K];
    model->s2 = clamp(*sums / p, 0.05, 2);
    model->var_a = clamp(own, 0.03, 1);
    model->b0 = clamp(model->b0 + out->mean[K], -2, 2);
}

/* ---- whitening ------------------------------------------------------------------------------- */

/* B with B^T B = C, but more where users vary more than they should, so that rounds need not creep
 * there. C is overwritten. */
static void find_root(double *C, size_t n, double over, double *B) {
    double values[RULE_FACTORS_MAX > RULE_FREE_MAX ? RULE_FACTORS_MAX : RULE_FREE_MAX];
    symmetric_eigen(C, n, values, B);
    for (size_t a = 0; a < n; a++) {
        double x = fmax(values[a], fmax(1e-3 * values[0], 1e-9));
        double scale = pow(x, x > 1 ? over / 2 : 0.5);
        for (size_t b = 0; b < n; b++) B[a * n + b] *= scale;
    }
}

/* With C = [C11 C12; C21 C22], learned columns first: X = C11^-1 C12 and F a root of C22 - C21
 * X. So the part of a user's free coordinates that the learned ones foretell goes over to the
 * latter. */
void residual_moments_whiten(const struct residual_moments *moments, size_t n_learned,
                             size_t n_free, double over, bool is_first,
                             struct residual_whitening *out) {
    const size_t n = n_learned, q = n_free, K = n + q;
    double learned[RULE_FACTORS_MAX * RULE_FACTORS_MAX], rest[RULE_FREE_MAX * RULE_FREE_MAX];
    for (size_t a = 0; a < n; a++) memcpy(learned + a * n, moments->C + a * K, n * sizeof *learned);
    find_root(learned, n, is_first ? 1 : over, out->B);
    if (q == 0) return;
    for (size_t a = 0; a < n; a++)
        for (size_t f = 0; f < q; f++) {
            double sum = 0;
            for (size_t b = 0; b < n; b++)
                sum += moments->inverse[a * n + b] * moments->C[b * K + n + f];
            out->X[a * q + f] = sum;
        }
    for (size_t f = 0; f < q; f++)
        for (size_t h = 0; h < q; h++) {
            double sum = moments->C[(n + f) * K + n + h];
            for (size_t a = 0; a < n; a++) sum -= moments->C[(n + f) * K + a] * out->X[a * q + h];
            rest[f * q + h] = sum;
        }
    find_root(rest, q, over, out->F);
}
