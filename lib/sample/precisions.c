/*
 * The draws of precisions.h. All are conjugate: n numbers of precision p and sum of squares S have
 * the density p^(n/2) exp(-p S / 2), which times that of Gamma(alpha, beta) is again one,
 * Gamma(alpha + n/2, 1 / (1/beta + S/2)). Feeds the samplers.
 */
#include "sample/precisions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

#define FIRST_PRODUCT 0.5 /* standard deviation of u.v before the first round, in units */
#define FIRST_BIAS 0.3    /* standard deviation of a bias before the first round, in units */
/* Standard deviation of a rating's noise before the first round, in units */
#define FIRST_NOISE 1.0

int precisions_init(struct precisions *precisions, size_t k, double unit,
                    struct dpmf_error *error) {
    *precisions = (struct precisions){.k = k, .unit = unit};
    precisions->users = memory_alloc(k, sizeof(double));
    precisions->items = memory_alloc(k, sizeof(double));
    if (!precisions->users || !precisions->items) {
        precisions_free(precisions);
        return error_no_memory(error);
    }
    precisions_begin(precisions);
    return 0;
}

void precisions_free(struct precisions *precisions) {
    free(precisions->users);
    free(precisions->items);
    *precisions = (struct precisions){0};
}

void precisions_begin(struct precisions *precisions) {
    const double unit = precisions->unit;
    const double row = sqrt((double)precisions->k) / (FIRST_PRODUCT * unit);
    for (size_t x = 0; x < precisions->k; x++) precisions->users[x] = precisions->items[x] = row;
    precisions->user_bias = precisions->item_bias = 1 / (FIRST_BIAS * FIRST_BIAS * unit * unit);
    precisions->noise = 1 / (FIRST_NOISE * FIRST_NOISE * unit * unit);
}

/* ---- draws ----------------------------------------------------------------------------------- */

/* beta, of the precision of vectors' columns and of that of biases and errors. */
static double row_scale(const struct precisions *precisions) {
    return PRECISIONS_BETA / precisions->unit;
}
static double rating_scale(const struct precisions *precisions) {
    return PRECISIONS_BETA / (precisions->unit * precisions->unit);
}

static double draw(struct random_stream *random, double scale, uint64_t n, double squares) {
    return random_gamma(random, PRECISIONS_ALPHA + (double)n / 2) / (1 / scale + squares / 2);
}

void precisions_draw_side(struct precisions *precisions, enum precisions_side side, uint64_t n,
                          const double *squares, const struct chain_key *key) {
    const size_t k = precisions->k;
    double *columns = side == PRECISIONS_USERS ? precisions->users : precisions->items;
    double *bias = side == PRECISIONS_USERS ? &precisions->user_bias : &precisions->item_bias;
    struct random_stream random;
    chain_stream_init(&random, key, CHAIN_PRECISIONS, (uint64_t)side);
    for (size_t x = 0; x < k; x++) columns[x] = draw(&random, row_scale(precisions), n, squares[x]);
    *bias = draw(&random, rating_scale(precisions), n, squares[k]);
}

void precisions_draw_noise(struct precisions *precisions, uint64_t n, double squares,
                           const struct chain_key *key) {
    struct random_stream random;
    chain_stream_init(&random, key, CHAIN_PRECISIONS, PRECISIONS_ITEMS + 1);
    precisions->noise = draw(&random, rating_scale(precisions), n, squares);
}

void precisions_draw(struct precisions *precisions, uint64_t n_ratings, double squared_error,
                     uint64_t n_users, const double *user_squares, uint64_t n_items,
                     const double *item_squares, const struct chain_key *key) {
    precisions_draw_side(precisions, PRECISIONS_USERS, n_users, user_squares, key);
    precisions_draw_side(precisions, PRECISIONS_ITEMS, n_items, item_squares, key);
    precisions_draw_noise(precisions, n_ratings, squared_error, key);
}

void precisions_squares(const struct factor_matrix *matrix, size_t k, double *squares) {
    memset(squares, 0, (k + 1) * sizeof squares[0]);
    for (uint64_t i = 0; i < matrix->n; i++) {
        const float *row = matrix->rows + i * matrix->stride;
        for (size_t x = 0; x < k; x++) squares[x] += (double)row[x] * (double)row[x];
        squares[k] += (double)matrix->biases[i] * (double)matrix->biases[i];
    }
}

void precisions_draw_rows(const struct precisions *precisions, enum precisions_side side,
                          struct factor_matrix *matrix, const struct chain_key *key) {
    precisions_draw_share(precisions, side, matrix, 0, key);
}

void precisions_draw_share(const struct precisions *precisions, enum precisions_side side,
                           struct factor_matrix *matrix, uint64_t first,
                           const struct chain_key *key) {
    const bool users = side == PRECISIONS_USERS;
    const double *columns = users ? precisions->users : precisions->items;
    const double bias = users ? precisions->user_bias : precisions->item_bias;
    for (uint64_t i = 0; i < matrix->n; i++) {
        struct random_stream random;
        float *row = matrix->rows + i * matrix->stride;
        chain_stream_init(&random, key, users ? CHAIN_FIRST_USERS : CHAIN_FIRST_ITEMS, first + i);
        for (size_t x = 0; x < precisions->k; x++)
            row[x] = (float)(random_gaussian(&random) / sqrt(columns[x]));
        matrix->biases[i] = (float)(random_gaussian(&random) / sqrt(bias));
    }
}

/* ---- the density ----------------------------------------------------------------------------- */

/* The log density of one precision and of the n numbers that have it. */
static double log_density(double precision, double scale, uint64_t n, double squares) {
    return (PRECISIONS_ALPHA - 1 + (double)n / 2) * log(precision) -
           precision * (1 / scale + squares / 2);
}

double precisions_log_density(const struct precisions *precisions, uint64_t n_ratings,
                              double squared_error, uint64_t n_users, const double *user_squares,
                              uint64_t n_items, const double *item_squares) {
    const size_t k = precisions->k;
    const double rating = rating_scale(precisions), row = row_scale(precisions);
    double sum = log_density(precisions->noise, rating, n_ratings, squared_error) +
                 log_density(precisions->user_bias, rating, n_users, user_squares[k]) +
                 log_density(precisions->item_bias, rating, n_items, item_squares[k]);
    for (size_t x = 0; x < k; x++) {
        const double balance = sqrt(item_squares[x] / user_squares[x]);
        sum +=
            log_density(precisions->users[x] / balance, row, n_users, user_squares[x] * balance) +
            log_density(precisions->items[x] * balance, row, n_items, item_squares[x] / balance);
    }
    return sum;
}
