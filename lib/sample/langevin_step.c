/*
 * How large a step may be, so that no one must guess. The curvature of a row of n ratings is n
 * times the force of one, lambda_r sigma, along the direction in which the rows that it meets are
 * longest; sigma is the largest eigenvalue of their second moments, by power iteration over some of
 * them. Fed by the model as it stands; feeds langevin_train.c.
 *
 * Two things bound a step. What a row gets at once, before its ratings have answered to it, must be
 * small: x = curvature times the noise of an injection. And an epoch as a whole must not take a row
 * much further than it can forget, for within an epoch each rating has its fixed place, and the
 * last ones would count more than the first. With momenta the prior bounds it too: a row swings in
 * it, and a flight must be short against that.
 *
 * Between measurements a step may get smaller as the precisions change (langevin_stiffness_now). It
 * follows from these alone and not from the rows, so every round leaves the rows' distribution
 * given the precisions where it is, whichever step it takes.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "sample/langevin_state.h"

enum {
    SAMPLE_ROWS = 4096, /* least number of rows that second moments are taken of */
    SAMPLE_TIMES = 4,   /* the same as a multiple of k */
    PIECE_ROWS = 64,    /* neighbouring rows taken at once */
    ITERATIONS = 15,
};

/* The largest step of one injection of noise, x: by theory the error is x^2 / 24 of the variance,
 * less than a thousandth. */
#define PORTION_MOST 0.02

#define EPOCH_MOST 1.0   /* largest curvature of a row times an epoch's step */
#define PUSH_MOST 0.5    /* the same with momenta, times the step's square */
#define FLIGHT_MOST 0.05 /* the same between two injections: the error is a quarter of it */

#define PUSH_DRIFT 0.25 /* share of a force's effect on a row in an epoch that comes at once */

/* Squares of Gaussians that may come together in a run: of few rows, sigma is more than it
 * looks. */
#define FEW_ROWS 25
#define SLACK 1.25 /* by which curvatures may grow before a step follows: a change costs time */

/* Rows, and how much each counts. */
struct moments {
    const struct row_store *rows;
    const uint32_t *weights;
    size_t k;
    uint64_t step; /* from piece to piece */
    float *buffer;
    /* Over whose ranks sums are taken; NULL: all rows are here */
    const struct dpmf_cluster *cluster;
};

/* y = sum of w v (v.x) over the pieces, and the sum of w after it. */
static int add_pieces(const struct moments *moments, const double *x, double *y,
                      struct dpmf_error *error) {
    const struct row_store *rows = moments->rows;
    double *total = &y[moments->k];
    memset(y, 0, (moments->k + 1) * sizeof y[0]);
    for (uint64_t first = 0; first < rows->n; first += moments->step) {
        uint64_t n = rows->n - first < PIECE_ROWS ? rows->n - first : PIECE_ROWS;
        const float *piece = row_store_look(rows, first, n, moments->buffer, error);
        if (!piece) return error->code;
        for (uint64_t i = 0; i < n; i++) {
            const float *v = piece + i * rows->stride;
            double dot = 0, weight = (double)moments->weights[first + i];
            for (size_t c = 0; c < moments->k; c++) dot += (double)v[c] * x[c];
            for (size_t c = 0; c < moments->k; c++) y[c] += weight * dot * (double)v[c];
            *total += weight;
        }
    }
    return 0;
}

/* y = sum of w v (v.x) / sum of w, over the pieces; y has room for a number more. */
static int multiply(const struct moments *moments, const double *x, double *y,
                    struct dpmf_error *error) {
    const size_t k = moments->k;
    int code = cluster_agree(moments->cluster, add_pieces(moments, x, y, error), error);
    if (code == 0) code = cluster_sum_doubles(moments->cluster, y, k + 1, error);
    for (size_t c = 0; c < k && code == 0; c++) y[c] /= fmax(y[k], 1);
    return code;
}

static double length_of(const double *x, size_t k) {
    double sum = 0;
    for (size_t c = 0; c < k; c++) sum += x[c] * x[c];
    return sqrt(sum);
}

static int largest_eigenvalue(const struct moments *moments, double *value,
                              struct dpmf_error *error) {
    const size_t k = moments->k;
    double *x = memory_alloc(k, sizeof x[0]), *y = memory_alloc(k + 1, sizeof y[0]);
    int code = cluster_agree(moments->cluster, x && y ? 0 : error_no_memory(error), error);
    *value = 0;
    for (size_t c = 0; c < k && code == 0; c++)
        x[c] = 1 + 0.5 * sin((double)(c + 1) * (double)(c + 1)); /* anything at all */
    for (int i = 0; i < ITERATIONS && code == 0; i++) {
        double length = length_of(x, k);
        for (size_t c = 0; c < k; c++) x[c] /= length;
        code = multiply(moments, x, y, error);
        if (code == 0) *value = length_of(y, k);
        if (code < 0 || !(*value > 0)) break;
        memcpy(x, y, k * sizeof x[0]);
    }
    free(x);
    free(y);
    return code;
}

/* sigma of the n rows that all ranks of `cluster` have together, each of which counts by its
 * ratings. */
static int find_sigma(const struct langevin *langevin, const struct row_store *rows,
                      const uint32_t *weights, uint64_t n, const struct dpmf_cluster *cluster,
                      double *sigma, struct dpmf_error *error) {
    const size_t k = langevin->source.factors->k;
    uint64_t wanted = SAMPLE_TIMES * k > SAMPLE_ROWS ? SAMPLE_TIMES * k : SAMPLE_ROWS;
    uint64_t pieces = wanted / PIECE_ROWS;
    struct moments moments = {
        .rows = rows,
        .weights = weights,
        .k = k,
        .step = n / pieces > PIECE_ROWS ? n / pieces : PIECE_ROWS,
        .cluster = cluster,
    };
    struct dpmf_error own = {0};
    int code = 0;
    if (!rows->rows) moments.buffer = memory_alloc(PIECE_ROWS, rows->stride * sizeof(float));
    if (!rows->rows && !moments.buffer) code = error_no_memory(&own);
    code = cluster_agree(cluster, code, &own);
    if (code == 0) code = largest_eigenvalue(&moments, sigma, &own);
    if (code < 0 && error) *error = own;
    free(moments.buffer);
    return code;
}

static double smallest(const double *x, size_t n) {
    assert(x && n > 0);
    double least = x[0];
    for (size_t i = 1; i < n; i++) least = fmin(least, x[i]);
    return least;
}

static double largest(const double *x, size_t n) {
    assert(x && n > 0);
    double most = x[0];
    for (size_t i = 1; i < n; i++) most = fmax(most, x[i]);
    return most;
}

/* What sigma may become while the precisions stay what they are: of many rows hardly more than a
 * column's variance, and less than what is measured; of few rows, which may all be small when they
 * are measured, much more. */
static double sigma_by_prior(const double *precisions, size_t k, uint64_t n) {
    assert(k > 0);
    return (1 + ((double)k + FEW_ROWS) / (double)(n > 0 ? n : 1)) / smallest(precisions, k);
}

static struct langevin_outlook look_at_precisions(const struct precisions *precisions) {
    const size_t k = precisions->k;
    return (struct langevin_outlook){
        .noise = precisions->noise,
        .user_spread = 1 / smallest(precisions->users, k),
        .item_spread = 1 / smallest(precisions->items, k),
        .prior = fmax(largest(precisions->users, k), largest(precisions->items, k)),
    };
}

int langevin_measure(const struct langevin *langevin, struct langevin_stiffness *stiffness,
                     struct dpmf_error *error) {
    const struct precisions *precisions = &langevin->precisions;
    const struct factor_matrix *items = &langevin->source.factors->items;
    const struct row_store item_rows = row_store_of(items->rows, items->n, items->stride);
    const double noise = precisions->noise;
    double users = 0, others = 0;
    int code = find_sigma(langevin, langevin->source.users,
                          noise_schedule_user_ratings(langevin->schedule), langevin->n_users,
                          langevin->source.cluster, &users, error);
    if (code == 0)
        code = find_sigma(langevin, &item_rows, noise_schedule_item_ratings(langevin->schedule),
                          items->n, NULL, &others, error);
    code = cluster_agree(langevin->source.cluster, code, error);
    if (code < 0) return code;
    users = fmax(users, sigma_by_prior(precisions->users, precisions->k, langevin->n_users));
    others = fmax(others, sigma_by_prior(precisions->items, precisions->k, items->n));
    *stiffness = (struct langevin_stiffness){
        .user_force = noise * others,
        .item_force = noise * users,
        .bias_force = noise,
        .extremes = noise_schedule_extremes(langevin->schedule),
        .outlook = look_at_precisions(precisions),
    };
    return 0;
}

/* By how much something grew, beyond what is always allowed for. */
static double growth(double now, double then) {
    assert(then > 0);
    return fmax(now / (then * SLACK), 1);
}

struct langevin_stiffness langevin_stiffness_now(const struct langevin *langevin,
                                                 const struct langevin_stiffness *measured) {
    const struct langevin_outlook *then = &measured->outlook;
    const struct langevin_outlook now = look_at_precisions(&langevin->precisions);
    struct langevin_stiffness s = *measured;
    s.bias_force *= growth(now.noise, then->noise);
    s.user_force *= growth(now.noise * now.item_spread, then->noise * then->item_spread);
    s.item_force *= growth(now.noise * now.user_spread, then->noise * then->user_spread);
    s.outlook.prior *= growth(now.prior, then->prior);
    return s;
}

/* The stiffest row: by what it gets from injection to injection, and in an epoch. */
static double portion_of(const struct langevin_stiffness *s) {
    return fmax(s->user_force * s->extremes.user_portion, s->item_force * s->extremes.item_portion);
}
static double epoch_of(const struct langevin_stiffness *s) {
    return fmax(s->user_force * s->extremes.user_ratings, s->item_force * s->extremes.item_ratings);
}

struct langevin_step langevin_safe_step(enum solver solver, const struct langevin_stiffness *s) {
    const double portion = fmax(s->extremes.user_portion, s->extremes.item_portion) * s->bias_force;
    const double epoch = fmax(s->extremes.user_ratings, s->extremes.item_ratings) * s->bias_force;
    struct langevin_step step = {
        .rows = fmin(PORTION_MOST / portion_of(s), EPOCH_MOST / epoch_of(s)),
        .biases = fmin(PORTION_MOST / portion, EPOCH_MOST / epoch),
    };
    if (solver != SOLVER_SGLD)
        step.rows =
            sqrt(fmin(PUSH_MOST / epoch_of(s), FLIGHT_MOST / (portion_of(s) + s->outlook.prior)));
    step.drift = step.rows * PUSH_DRIFT;
    return step;
}

double langevin_stiffness_of(enum solver solver, const struct langevin_stiffness *s,
                             const struct langevin_step *step) {
    double time = solver == SOLVER_SGLD ? step->rows : step->rows * step->rows;
    return portion_of(s) * time;
}
