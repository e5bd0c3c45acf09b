/*
 * The mechanism `langevin`: noisy steps along the gradient, the noise of the mechanism being the
 * noise of the dynamics. It is the fallback that the posterior's own guarantee lacks: every step is
 * paid for, so what it promises needs no convergence.
 *
 * Model. Ratings y_ij = b0 + c_j + a_i + u_i.v_j + noise of variance s2, with u ~ N(0, I) and a ~
 * N(0, var_a) integrated out. By Fisher's identity the gradient of a user's log likelihood in v_j,
 * times s2, is the mean of residual * u over the user's own posterior:
 *
 *     g_ij = e_ij u - Cov v_j - cov(u, a),      in c_j:  e_ij
 *
 * with e the residual at the posterior's mean. The user computes it at home (user_solve.c).
 *
 * Sensitivity. A user contributes w g_ij, w e_ij to each item rated and w h (1, mean e^2, a, a^2 +
 * var a) with h = beta sqrt(m), where w = 1 / max(norm of all these, floor): norm at most 1, by the
 * user's own ratings and the public model alone. noisy_sum.c proves the rest and does not rely on
 * it.
 *
 * Step, at the curator's. With G_j the noisy sum, N_j the noisy weight of the item's raters and m_j
 * the prior mean (0; for c_j what the first release said):
 *
 *     v_j += step (G_j / N_j - r_j (v_j - m_j)),  r_j = (unit s2 / N_j + sigma^2 / (T N_j^2)) / t
 *
 * the prior taken implicitly. G_j carries N(0, sigma^2), so that each step adds
 * N(0, (step sigma / N_j)^2): Langevin dynamics of step size step / N_j, preconditioned by the
 * counts, at the temperature step sigma^2 / (2 N_j) in units of the gradients' sum. The prior's
 * variance t is weighed against what all T noisy gradients together can tell about the item (r_j),
 * so hot items are held by the prior. Published is the mean of the iterates after the first .3 of
 * them, in which most of that noise cancels. The guarantee is that of T releases, whatever the
 * temperature and however far from stationary they end.
 *
 * Public rule. First release .2 of mu^2; K = round(1 + 2.5 mu), at most 10 and one for 8 items;
 * T = 16 steps of equal mu_t, step = .8, less where there are few raters; t = .015. The budget is a
 * fixed total on every path; without factors the first release is made again with the rest.
 */
#define _GNU_SOURCE
#include "mechanisms/compared/langevin.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "mechanisms/compared/first_step.h"
#include "mechanisms/residual_server.h"
#include "statement/statement_rounds.h"

enum { FACTORS_MAX = 10 };

static const double step_size = 0.8, burn_in = 0.3 /* share of the steps */;
static const double prior_variance = 0.015, start_variance = 0.05;

static double clamp(double x, double least, double most) { return fmin(fmax(x, least), most); }

/* ---- a user
 * ----------------------------------------------------------------------------------- */

/* g = e u - Cov v - cov(u, a), then e: K + 1 numbers. @return their sum of squares */
static double write_gradient(const struct public_model *model, const struct user_solution *solution,
                             uint32_t row, double e, double *out) {
    const size_t K = model->K, D = K + 1;
    const double *v = model->rows + (size_t)row * model->stride;
    double sum = e * e;
    for (size_t a = 0; a < K; a++) {
        const double *covariance = solution->covariance + a * D;
        out[a] = e * solution->x[a] - covariance[K];
        for (size_t b = 0; b < K; b++) out[a] -= covariance[b] * v[b];
        sum += out[a] * out[a];
    }
    out[K] = e;
    return sum;
}

void langevin_contribute(void *self, int worker, const struct private_user *user,
                         struct contribution *out) {
    const struct langevin_step *step = self;
    const struct public_model *model = step->model;
    const size_t K = model->K, D = K + 1, n = user->n * D;
    double *e = step->residuals + (size_t)worker * step->longest, squares = 0, norm2 = 0;
    struct user_solution solution;
    user_solve(model, user, &solution, e);
    for (size_t i = 0; i < user->n; i++) {
        norm2 += write_gradient(model, &solution, user->row[i], e[i], out->values + i * D);
        squares += e[i] * e[i];
    }
    const double a = solution.x[K], h = step->scalar_weight * sqrt((double)user->n);
    double *tail = out->values + n;
    tail[0] = h;
    tail[1] = h * squares / ((double)user->n - solution.freedom);
    tail[2] = h * a;
    tail[3] = h * (a * a + solution.covariance[K * D + K]);
    for (size_t i = 0; i < LANGEVIN_TAIL; i++) norm2 += tail[i] * tail[i];
    const double w = 1 / fmax(sqrt(norm2), step->floor);
    for (size_t i = 0; i < n + LANGEVIN_TAIL; i++) out->values[i] *= w;
    out->n_blocks = user->n;
    out->block = user->row;
}

/* ---- a step
 * ----------------------------------------------------------------------------------- */

struct dynamics {
    const struct mechanism_input *input;
    struct first_step *first;
    struct public_model *model;
    size_t steps;
    double share;    /* share of mu^2 for all steps */
    double *sums;    /* the noisy gradient */
    double *mean;    /* mean of the iterates counted so far: n x (K + 1) */
    double *prior_c; /* item biases of the first release */
    struct langevin_step user;
};

/* The model's variances and offset from the scalars. @return weight of this release against the
 * first's */
static double read_scalars(const struct dynamics *self, const double *scalars, double sigma) {
    struct public_model *model = self->model;
    double p = fmax(scalars[0], 3 * sigma), mean = clamp(scalars[2] / p, -0.5, 0.5);
    model->s2 = clamp(scalars[1] / p, 0.05, 2);
    model->var_a = clamp(scalars[3] / p - mean * mean, 0.03, 1);
    model->b0 = clamp(model->b0 + mean, -2, 2);
    return p / self->user.scalar_weight / self->first->evidence.typical;
}

static void move_items(const struct dynamics *self, double weight, double sigma) {
    const struct item_evidence *evidence = &self->first->evidence;
    struct public_model *model = self->model;
    const size_t K = model->K, D = K + 1;
    const double steps = (double)self->steps;
    const double unit = item_evidence_weight_unit(evidence, weight * evidence->typical);
    for (size_t j = 0; j < model->n_items; j++) {
        double *v = model->rows + j * model->stride;
        const double N = weight * evidence->N[j], *G = self->sums + j * D;
        const double doubt = unit * model->s2 / N + sigma * sigma / (steps * N * N);
        /* Where the prior is strong the step is implicit in it: no overshooting, however few the
         * raters. */
        const double r = doubt / prior_variance, rc = doubt / evidence->tau[K];
        /* Few raters: an item's own curvature can exceed N by far. */
        const double step = step_size / (1 + (double)K * unit / N);
        for (size_t a = 0; a < K; a++) v[a] = (v[a] + step * G[a] / N) / (1 + step * r);
        model->c[j] +=
            step_size / (1 + step_size * rc) * (G[K] / N - rc * (model->c[j] - self->prior_c[j]));
    }
}

static int take_step(struct dynamics *self, size_t t, struct dpmf_error *error) {
    struct noisy_sum_context *context = self->input->sums;
    const size_t D = self->model->K + 1, n = self->model->n_items;
    char name[24];
    snprintf(name, sizeof name, "step %u", (unsigned)t + 1);
    const struct noisy_sum_shape shape = {
        .name = name, .n_rows = n, .width = D, .tail = LANGEVIN_TAIL};
    double sigma, mu = sqrt(self->share / (double)self->steps) * self->first->rule.mu;
    int code = noisy_sum_release(context, &shape, mu, langevin_contribute, &self->user, self->sums,
                                 &sigma, error);
    if (code < 0) return code;
    move_items(self, read_scalars(self, self->sums + n * D, sigma), sigma);
    return 0;
}

/* The mean over iterates t >= from, kept as it grows. */
static void average(struct dynamics *self, size_t t, size_t from) {
    const struct public_model *model = self->model;
    const size_t K = model->K, D = K + 1;
    if (t < from) return;
    const double share = 1 / (double)(t - from + 1);
    for (size_t j = 0; j < model->n_items; j++) {
        double *mean = self->mean + j * D;
        for (size_t a = 0; a < K; a++)
            mean[a] += share * (model->rows[j * model->stride + a] - mean[a]);
        mean[K] += share * (model->c[j] - mean[K]);
    }
}

static void publish_mean(const struct dynamics *self) {
    struct public_model *model = self->model;
    const size_t K = model->K, D = K + 1;
    for (size_t j = 0; j < model->n_items; j++) {
        memcpy(model->rows + j * model->stride, self->mean + j * D, K * sizeof(double));
        model->c[j] = self->mean[j * D + K];
    }
}

static int allocate(struct dynamics *self, struct dpmf_error *error) {
    struct noisy_sum_context *context = self->input->sums;
    const size_t D = self->model->K + 1, n = self->model->n_items;
    const size_t workers = (size_t)thread_pool_size(context->pool);
    self->user.longest = private_ratings_longest(context->ratings);
    self->sums = memory_alloc_rows(n, D, LANGEVIN_TAIL, sizeof(double));
    self->mean = memory_alloc_zero(n, D * sizeof(double));
    self->prior_c = memory_alloc(n, sizeof(double));
    self->user.residuals = memory_alloc(self->user.longest, workers * sizeof(double));
    if (!self->sums || !self->mean || !self->prior_c || !self->user.residuals)
        return error_no_memory(error);
    memcpy(self->prior_c, self->model->c, n * sizeof(double));
    return 0;
}

static int run_steps(struct dynamics *self, struct dpmf_error *error) {
    const size_t from = (size_t)((double)self->steps * burn_in);
    int code = allocate(self, error);
    for (size_t t = 0; t < self->steps && code == 0; t++) {
        code = take_step(self, t, error);
        if (code == 0) average(self, t, from);
    }
    if (code == 0) publish_mean(self);
    free(self->sums);
    free(self->mean);
    free(self->prior_c);
    free(self->user.residuals);
    return code;
}

/* ---- the mechanism
 * ---------------------------------------------------------------------------- */

static int run_langevin(const struct mechanism_input *input, struct public_model *model,
                        struct dpmf_error *error) {
    struct first_step first = {0};
    int code = first_step_begin(&first, input, LANGEVIN_FIRST_SHARE, model, error);
    if (code == 0) {
        struct residual_rule *rule = &first.rule;
        rule->factors = first_step_factors(1 + 2.5 * rule->mu, FACTORS_MAX, model->n_items);
        rule->popularity = 0;
        rule->first_variance = start_variance;
        struct dynamics dynamics = {.input = input,
                                    .first = &first,
                                    .model = model,
                                    .steps = LANGEVIN_STEPS,
                                    .share = 1 - LANGEVIN_FIRST_SHARE,
                                    .user = {.model = model, .scalar_weight = 0.1}};
        dynamics.user.floor = rule->round_floor * sqrt((double)rule->factors + 1);
        input->sums->total_passes = rule->factors > 0 ? 1 + (uint32_t)dynamics.steps : 2;
        if (rule->factors == 0) {
            code = first_step_repeat(&first, input, 1 - LANGEVIN_FIRST_SHARE, model, error);
        } else {
            code = residual_server_start(rule, input->catalogue, model, &first.evidence, error);
            if (code == 0) code = run_steps(&dynamics, error);
        }
    }
    first_step_free(&first);
    return code;
}

const struct mechanism mechanism_langevin = {
    MECHANISM_LANGEVIN, "noisy gradient steps, each accounted for", run_langevin, false, false};
