/*
 * Brute force, as plainly as can be. With V fixed, everything else, t = (u_1, b_1, .., u_n, b_n;
 * b_1 .. b_m), enters the predictions linearly, z.t, so that
 *
 *     t | V, ratings  ~  N(P^-1 h, P^-1),     P = prior + noise sum z z^T,     h = noise sum z r
 *     p(ratings | V)  =  (noise / 2 pi)^(N/2) |prior|^(1/2) |P|^(-1/2) exp((h.P^-1 h - noise sum
 *     r^2) / 2)
 *
 * and the posterior of the predictions is a mixture of Gaussians over V, weighted by p(ratings | V)
 * p(V). V goes through a grid of equal steps, for which the error of a sum in place of an integral
 * falls exponentially with the square of their number.
 */
#include "exact_posterior.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 5.0 /* standard deviations of the prior that the grid covers, both ways */

struct work {
    const struct exact_problem *problem;
    size_t n_linear; /* numbers in t */
    size_t n_pairs;
    double *V; /* n_items x k */
    double *P, *inverse, *h, *t;
    double *z, *half; /* z of a pair, and P^-1 z of every pair */
    double *mean, *covariance;
    double log_evidence; /* log evidence of the ratings given V */
};

/* ---- what is linear -------------------------------------------------------------------------- */

/* z of a pair: where t has u_i it is v_j, and where it has b_i and b_j it is 1. */
static void fill_z(const struct work *work, size_t user, size_t item, double *z) {
    const struct exact_problem *problem = work->problem;
    const size_t k = problem->k;
    memset(z, 0, work->n_linear * sizeof *z);
    for (size_t x = 0; x < k; x++) z[user * (k + 1) + x] = work->V[item * k + x];
    z[user * (k + 1) + k] = 1;
    z[problem->n_users * (k + 1) + item] = 1;
}

static double prior_of(const struct exact_problem *problem, size_t c) {
    const size_t k = problem->k;
    if (c >= problem->n_users * (k + 1)) return problem->item_bias;
    return c % (k + 1) == k ? problem->user_bias : problem->users[c % (k + 1)];
}

/* The inverse of a positive definite matrix by Gauss and Jordan. @return the log of its
 * determinant */
static double invert(double *P, size_t n, double *inverse) {
    double log_det = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) inverse[i * n + j] = i == j;
    for (size_t p = 0; p < n; p++) {
        const double pivot = P[p * n + p];
        log_det += log(pivot);
        for (size_t j = 0; j < n; j++) {
            P[p * n + j] /= pivot;
            inverse[p * n + j] /= pivot;
        }
        for (size_t i = 0; i < n; i++) {
            const double factor = P[i * n + p];
            if (i == p || factor == 0) continue;
            for (size_t j = 0; j < n; j++) {
                P[i * n + j] -= factor * P[p * n + j];
                inverse[i * n + j] -= factor * inverse[p * n + j];
            }
        }
    }
    return log_det;
}

/* Everything given V: evidence, and mean and covariance of all predictions. */
static void integrate(struct work *work) {
    const struct exact_problem *problem = work->problem;
    const size_t n = work->n_linear, pairs = work->n_pairs;
    double log_prior = 0, squares = 0, fit = 0;
    memset(work->P, 0, n * n * sizeof(double));
    memset(work->h, 0, n * sizeof(double));
    for (size_t c = 0; c < n; c++) {
        work->P[c * n + c] = prior_of(problem, c);
        log_prior += log(prior_of(problem, c));
    }
    for (size_t r = 0; r < problem->n; r++) {
        const struct exact_rating *rating = &problem->ratings[r];
        fill_z(work, rating->user, rating->item, work->z);
        for (size_t a = 0; a < n; a++) {
            for (size_t b = 0; b < n; b++)
                work->P[a * n + b] += problem->noise * work->z[a] * work->z[b];
            work->h[a] += problem->noise * work->z[a] * rating->value;
        }
        squares += rating->value * rating->value;
    }
    double log_det = invert(work->P, n, work->inverse);
    for (size_t a = 0; a < n; a++) {
        work->t[a] = 0;
        for (size_t b = 0; b < n; b++) work->t[a] += work->inverse[a * n + b] * work->h[b];
        fit += work->t[a] * work->h[a];
    }
    work->log_evidence = 0.5 * ((double)problem->n * log(problem->noise / (2 * M_PI)) + log_prior -
                                log_det + fit - problem->noise * squares);
    for (size_t p = 0; p < pairs; p++) {
        double *half = work->half + p * n;
        fill_z(work, p / problem->n_items, p % problem->n_items, work->z);
        work->mean[p] = 0;
        for (size_t a = 0; a < n; a++) {
            half[a] = 0;
            for (size_t b = 0; b < n; b++) half[a] += work->inverse[a * n + b] * work->z[b];
            work->mean[p] += work->z[a] * work->t[a];
        }
        for (size_t q = 0; q <= p; q++) { /* z_p P^-1 z_q */
            double sum = 0;
            for (size_t a = 0; a < n; a++) sum += work->z[a] * work->half[q * n + a];
            work->covariance[p * pairs + q] = work->covariance[q * pairs + p] = sum;
        }
    }
}

/* ---- the grid -------------------------------------------------------------------------------- */

/* Sets V to a point of the grid, whose number has a digit for each number of V. @return its weight,
 * up to a factor that all have in common: 0 for half of them, since the signs of a column can be
 * changed in U and V together */
static double go_to_point(struct work *work, size_t points, size_t number) {
    const struct exact_problem *problem = work->problem;
    const size_t n = problem->n_items * problem->k;
    const double step = 2 * WIDTH / (double)(points - 1);
    double log_weight = 0, x = 0;
    for (size_t c = 0; c < n; c++, number /= points) {
        x = step * (double)(number % points) - WIDTH;
        work->V[c] = x / sqrt(problem->items[c % problem->k]);
        log_weight -= x * x / 2;
    }
    if (x < -step / 2) return 0; /* the last one, below its middle */
    return (x < step / 2 ? 1 : 2) * exp(log_weight);
}

/* Adds a point to the sums, which are kept relative to the largest evidence that was met. */
static void add_point(const struct work *work, double weight, double *largest, double *total,
                      struct exact_posterior *posterior) {
    const size_t pairs = work->n_pairs;
    if (work->log_evidence > *largest) {
        const double shrink = exp(*largest - work->log_evidence);
        *total *= shrink;
        for (size_t p = 0; p < pairs; p++) posterior->mean[p] *= shrink;
        for (size_t p = 0; p < pairs * pairs; p++) posterior->covariance[p] *= shrink;
        *largest = work->log_evidence;
    }
    weight *= exp(work->log_evidence - *largest);
    *total += weight;
    for (size_t p = 0; p < pairs; p++) {
        posterior->mean[p] += weight * work->mean[p];
        for (size_t q = 0; q < pairs; q++)
            posterior->covariance[p * pairs + q] +=
                weight * (work->covariance[p * pairs + q] + work->mean[p] * work->mean[q]);
    }
}

static void sum_over_grid(struct work *work, size_t points, struct exact_posterior *posterior) {
    const size_t n = work->problem->n_items * work->problem->k, pairs = work->n_pairs;
    const double step = 2 * WIDTH / (double)(points - 1);
    const size_t n_points = (size_t)(pow((double)points, (double)n) + 0.5);
    double total = 0, largest = -INFINITY;
    for (size_t number = 0; number < n_points; number++) {
        double weight = go_to_point(work, points, number);
        if (weight == 0) continue;
        integrate(work);
        add_point(work, weight, &largest, &total, posterior);
    }
    for (size_t p = 0; p < pairs; p++) posterior->mean[p] /= total;
    for (size_t p = 0; p < pairs; p++)
        for (size_t q = 0; q < pairs; q++)
            posterior->covariance[p * pairs + q] = posterior->covariance[p * pairs + q] / total -
                                                   posterior->mean[p] * posterior->mean[q];
    posterior->log_evidence = largest + log(total) + (double)n * log(step / sqrt(2 * M_PI));
}

int exact_posterior_find(const struct exact_problem *problem, size_t points,
                         struct exact_posterior *posterior) {
    struct work work = {.problem = problem};
    const size_t k = problem->k, pairs = work.n_pairs = problem->n_users * problem->n_items;
    const size_t n = work.n_linear = problem->n_users * (k + 1) + problem->n_items;
    double *all =
        calloc(problem->n_items * k + 2 * n * n + 3 * n + pairs * (n + 1 + pairs), sizeof *all);
    *posterior = (struct exact_posterior){
        .mean = calloc(pairs, sizeof(double)),
        .covariance = calloc(pairs * pairs, sizeof(double)),
    };
    int code = all && posterior->mean && posterior->covariance ? 0 : -1;
    if (code == 0) {
        work.V = all;
        work.P = work.V + problem->n_items * k;
        work.inverse = work.P + n * n;
        work.h = work.inverse + n * n;
        work.t = work.h + n;
        work.z = work.t + n;
        work.half = work.z + n;
        work.mean = work.half + pairs * n;
        work.covariance = work.mean + pairs;
        sum_over_grid(&work, points, posterior);
    } else {
        exact_posterior_free(posterior);
    }
    free(all);
    return code;
}

void exact_posterior_free(struct exact_posterior *posterior) {
    free(posterior->mean);
    free(posterior->covariance);
    *posterior = (struct exact_posterior){0};
}
