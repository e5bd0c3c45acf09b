/*
 * Step 0 of the residual mechanism. A user with ratings y_j, m of them:
 *
 *     a = sum y / (m + ridge)                       their own bias
 *     e_j = y_j - a                                 what is left for the items
 *     q = beta sqrt(m) (1, mean e^2, a, a^2)        moments
 *     w = sqrt(1 - beta^2) / max(|(e, s sqrt(m), q)|, floor)
 *
 * contributes (s w, w e_j) to each item rated, w q, and beta (which counts users). The squares add
 * up to at most (1 - beta^2) + beta^2 = 1. All of it in the user's own order of ratings.
 *
 * a is drawn towards the middle of the scale, since nothing else is known yet. Where all ratings
 * lie on one side of it and users have few, e_j keeps a part of the offset: what all sums have in
 * common is given back to the offset (move_offset). Counts are what the noise leaves of them
 * (soften_counts).
 */
#include "mechanisms/bias_release.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"

enum { SUM_ROOT_M, SUM_SQUARE, SUM_BIAS, SUM_BIAS_SQUARE, SUM_USERS };

/* ---- a user ---------------------------------------------------------------------------------- */

void bias_release_contribute(void *self, int worker, const struct private_user *user,
                             struct contribution *out) {
    const struct residual_rule *rule = self;
    const double m = (double)user->n, beta = rule->scalar_weight;
    double sum = 0, squares = 0, norm2;
    (void)worker;
    for (size_t i = 0; i < user->n; i++) sum += (double)user->y[i];
    const double a = sum / (m + rule->bias_ridge);
    for (size_t i = 0; i < user->n; i++) {
        double e = (double)user->y[i] - a;
        squares += e * e;
    }
    const double h = beta * sqrt(m);
    const double q[] = {h, h * squares / m, h * a, h * a * a};
    norm2 = squares + m * rule->count_weight * rule->count_weight;
    for (size_t i = 0; i < 4; i++) norm2 += q[i] * q[i];
    const double w = sqrt(1 - beta * beta) / fmax(sqrt(norm2), rule->first_floor);

    double *values = out->values;
    for (size_t i = 0; i < user->n; i++) {
        *values++ = w * rule->count_weight;
        *values++ = w * ((double)user->y[i] - a);
    }
    for (size_t i = 0; i < 4; i++) *values++ = w * q[i];
    *values = beta;
    out->n_blocks = user->n;
    out->block = user->row;
}

/* ---- the sums -------------------------------------------------------------------------------- */

int bias_sums_init(struct bias_sums *sums, size_t n_items, struct dpmf_error *error) {
    size_t n;
    *sums = (struct bias_sums){0};
    if (__builtin_mul_overflow(n_items, BIAS_RELEASE_WIDTH, &n) || n > SIZE_MAX - BIAS_RELEASE_TAIL)
        return error_no_memory(error);
    sums->sums = memory_alloc_zero(n + BIAS_RELEASE_TAIL, sizeof(double));
    return sums->sums ? 0 : error_no_memory(error);
}

void bias_sums_free(struct bias_sums *sums) {
    free(sums->sums);
    *sums = (struct bias_sums){0};
}

int bias_release_take(struct noisy_sum_context *context, const struct residual_rule *rule,
                      size_t n_items, double mu, struct bias_sums *sums, struct dpmf_error *error) {
    const struct noisy_sum_shape shape = {"counts and biases", n_items, BIAS_RELEASE_WIDTH,
                                          BIAS_RELEASE_TAIL, 0};
    struct residual_rule constants = *rule;
    size_t n = n_items * BIAS_RELEASE_WIDTH + BIAS_RELEASE_TAIL;
    double sigma, *more = memory_alloc(n, sizeof *more);
    if (!more) return error_no_memory(error);
    int code = noisy_sum_release(context, &shape, mu, bias_release_contribute, &constants, more,
                                 &sigma, error);
    if (code == 0) {
        double precision = 1 / (sigma * sigma), both = sums->precision + precision;
        for (size_t i = 0; i < n; i++)
            sums->sums[i] = (sums->precision * sums->sums[i] + precision * more[i]) / both;
        sums->precision = both;
    }
    free(more);
    return code;
}

/* ---- reading them: post-processing ----------------------------------------------------------- */

static double clamp(double x, double least, double most) { return fmin(fmax(x, least), most); }

static void read_scalars(const double *scalars, double sigma, const struct residual_rule *rule,
                         struct public_model *model, struct item_evidence *evidence) {
    double p = fmax(scalars[SUM_ROOT_M], 3 * sigma), b0 = scalars[SUM_BIAS] / p;
    evidence->typical = p / rule->scalar_weight;
    evidence->users = fmax(scalars[SUM_USERS] / rule->scalar_weight, 10);
    model->s2 = clamp(scalars[SUM_SQUARE] / p, 0.05, 2);
    model->var_a = clamp(scalars[SUM_BIAS_SQUARE] / p - b0 * b0, 0.03, 1);
    model->b0 = clamp(b0, -2, 2);
}

/* What a noisy count of x deviations of its noise stands for, on average: the true counts are taken
 * to come from a few values, how often from each is found by the EM algorithm from all noisy ones
 * (Kiefer and Wolfowitz), and the posterior mean is wanted. A floor instead would take every item
 * that nobody rated for one that a few rated. */
enum { ATOMS = 18, COUNT_TURNS = 30 };
static const double atom_root = 0.25; /* atoms are squares of its multiples */
static const double clear_count = 12; /* deviations: such a count is taken as it is */

struct count_prior {
    double at[ATOMS], share[ATOMS];
};

/* To probabilities of each atom, given x. */
static void weigh_atoms(const struct count_prior *prior, double x, double *weight) {
    double sum = 0;
    for (int k = 0; k < ATOMS; k++) {
        const double d = x - prior->at[k];
        weight[k] = prior->share[k] * exp(-d * d / 2);
        sum += weight[k];
    }
    /* So far below 0 that no atom has a weight in doubles: the first one. */
    if (!(sum > 0)) sum = weight[0] = 1;
    for (int k = 0; k < ATOMS; k++) weight[k] /= sum;
}

static void fit_prior(const double *N, size_t n, double sigma, double floor,
                      struct count_prior *prior) {
    double weight[ATOMS];
    for (int k = 0; k < ATOMS; k++) {
        prior->at[k] = fmax(atom_root * k * atom_root * k, floor);
        prior->share[k] = 1.0 / ATOMS;
    }
    for (int turn = 0; turn < COUNT_TURNS; turn++) {
        double share[ATOMS], all = 0;
        for (int k = 0; k < ATOMS; k++) share[k] = 1e-9; /* no atom is ruled out for good */
        for (size_t j = 0; j < n; j++) {
            if (N[j] > clear_count * sigma) continue;
            weigh_atoms(prior, N[j] / sigma, weight);
            for (int k = 0; k < ATOMS; k++) share[k] += weight[k];
        }
        for (int k = 0; k < ATOMS; k++) all += share[k];
        for (int k = 0; k < ATOMS; k++) prior->share[k] = share[k] / all;
    }
}

static void soften_counts(double *N, size_t n, double sigma, double floor) {
    struct count_prior prior;
    double weight[ATOMS];
    fit_prior(N, n, sigma, floor, &prior);
    for (size_t j = 0; j < n; j++) {
        if (N[j] > clear_count * sigma) continue;
        weigh_atoms(&prior, N[j] / sigma, weight);
        N[j] = 0;
        for (int k = 0; k < ATOMS; k++) N[j] += weight[k] * prior.at[k] * sigma;
    }
}

static void read_counts(const double *sums, double sigma, const struct residual_rule *rule,
                        size_t n_items, struct item_evidence *evidence) {
    double s = rule->count_weight;
    evidence->total = evidence->count_snr = 0;
    for (size_t j = 0; j < n_items; j++) {
        double count = sums[2 * j];
        evidence->total += count / s;
        evidence->count_snr += count * count / ((double)n_items * sigma * sigma);
        evidence->N[j] = count;
    }
    soften_counts(evidence->N, n_items, sigma, rule->count_floor);
    for (size_t j = 0; j < n_items; j++) evidence->N[j] /= s;
    evidence->count_snr -= 1;
    evidence->total = fmax(evidence->total, evidence->typical);
}

/* @return what the residuals of all items have in common, drawn towards 0 as far as noise explains
 * it; the model's offset has it then */
static double move_offset(const double *sums, double sigma, const struct item_evidence *evidence,
                          struct public_model *model) {
    const double prior = 0.1; /* variance; a tenth of it gives the same */
    double common = 0, total = evidence->total;
    for (size_t j = 0; j < model->n_items; j++) common += sums[2 * j + 1];
    const double noise = sigma * sigma * (double)model->n_items / (total * total);
    common *= prior / (prior + noise) / total;
    const double before = model->b0;
    model->b0 = clamp(before + common, -2, 2);
    return model->b0 - before;
}

int bias_release_read(const struct bias_sums *sums, const struct residual_rule *rule,
                      const struct catalogue *catalogue, struct thread_pool *pool,
                      struct public_model *model, struct item_evidence *evidence,
                      struct dpmf_error *error) {
    size_t n = model->n_items;
    double sigma = 1 / sqrt(sums->precision);
    read_scalars(sums->sums + n * BIAS_RELEASE_WIDTH, sigma, rule, model, evidence);
    read_counts(sums->sums, sigma, rule, n, evidence);
    int code = shrink_regressors_make(evidence, catalogue, error);
    if (code < 0) return code;
    double unit = item_evidence_weight_unit(evidence, evidence->typical);
    double common = move_offset(sums->sums, sigma, evidence, model) / rule->count_weight;
    for (size_t j = 0; j < n; j++) {
        double N = evidence->N[j];
        model->counts[j] = N;
        evidence->Z[j] = (sums->sums[2 * j + 1] - common * sums->sums[2 * j]) / N;
        evidence->A[2 * j + 1] = N * N / (sigma * sigma);
        evidence->sampling[j] = unit * model->s2 / N;
    }
    evidence->tau[0] = 0.2;
    return shrink_biases(model, evidence, rule->ridge, pool, error);
}
