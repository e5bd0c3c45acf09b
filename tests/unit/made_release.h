/*
 * Small releases for tests, with statements whose arithmetic holds: the items of
 * tests/cli/tiny_model.sh, and numbers whose sums are exact on every machine. Include after cmocka.
 */
#ifndef DPMF_TESTS_MADE_RELEASE_H
#define DPMF_TESTS_MADE_RELEASE_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/release.h"
#include "statement/accountant.h"
#include "statement/statement_rounds.h"

static inline size_t release_make_stride(size_t k) { return (k + 15) / 16 * 16; }

/* Adds a release of at most mu. */
static inline void statement_make_release(struct statement *statement, const char *name,
                                          uint64_t coordinates, double mu) {
    struct statement_release *release = &statement->releases[statement->n_releases++];
    *release = (struct statement_release){.coordinates = coordinates,
                                          .draws = coordinates,
                                          .bits = 24,
                                          .sigma = (uint64_t)statement_sigma(mu, 24)};
    snprintf(release->name, sizeof release->name, "%s", name);
}

/* As `residual` makes them: a first release with a fifth of mu^2, and n_rounds that grow. Two
 * factors take six, by its rule. */
static inline struct statement statement_make(double epsilon, uint64_t items, uint32_t k,
                                              int n_rounds) {
    struct statement statement = {.mechanism = k > 0 ? "residual" : "biases",
                                  .epsilon = epsilon,
                                  .delta = 1e-5,
                                  .range_min = 1,
                                  .range_max = 5,
                                  .items = items,
                                  .build = {.commit = "unknown", .compiler = "GNU 12.2.0"}};
    const double mu = accountant_mu(epsilon, 1e-5) * MECHANISM_MU_SPENT;
    double total = 0;
    for (int i = 0; i < STATEMENT_ID_BYTES; i++) statement.id[i] = (uint8_t)(i * 17);
    memset(statement.build.sources, '0', sizeof statement.build.sources - 1);
    if (k == 0) {
        statement_make_release(&statement, "counts and biases", 2 * items + 5, mu);
        return statement;
    }
    statement_make_release(&statement, "counts and biases", 2 * items + 5, sqrt(0.2) * mu);
    const double growth = n_rounds > 20 ? 1 : 1.25;
    for (int t = 0; t < n_rounds; t++) total += pow(growth, t);
    for (int t = 0; t < n_rounds; t++) {
        char name[24];
        snprintf(name, sizeof name, "round %d", (t + 1) % 1000);
        statement_make_release(&statement, name, items * (k + 1) + (k + 2) * (k + 2) + 1,
                               sqrt(0.8 * pow(growth, t) / total) * mu);
    }
    return statement;
}

/* Four items; k is 2 or 0. The statement becomes the release's. */
static inline void release_make(struct release *release, uint32_t k, char *statement) {
    static const char ids[] = "dunesolarisalienbrazil";
    static const uint64_t starts[] = {0, 4, 11, 16, 22};
    static const float rows[4][2] = {{1, 0}, {1, 0.5f}, {0, 1}, {-1, 0}};
    static const float biases[4] = {0.25f, 0, 0.5f, -0.25f};
    struct factors *factors = &release->factors;
    *release = (struct release){.factor_penalty = 1, .bias_penalty = 0.5, .statement = statement};
    assert_non_null(statement);
    factors->k = k;
    factors->offset = 3;
    factors->min = 1;
    factors->max = 5;
    assert_int_equal(
        factor_matrix_init(&factors->items, 4, release_make_stride(k > 0 ? k : 1), 1, NULL), 0);
    for (size_t i = 0; i < 4; i++) {
        for (size_t j = 0; j < k; j++)
            factors->items.rows[i * factors->items.stride + j] = rows[i][j];
        factors->items.biases[i] = biases[i];
    }
    factors->item_ids.n = 4;
    factors->item_ids.bytes = malloc(sizeof ids);
    factors->item_ids.start = malloc(sizeof starts);
    assert_true(factors->item_ids.bytes && factors->item_ids.start);
    memcpy(factors->item_ids.bytes, ids, sizeof ids);
    memcpy(factors->item_ids.start, starts, sizeof starts);
}

static inline void release_make_file(const char *path, uint32_t k,
                                     const struct statement *statement) {
    struct release release;
    release_make(&release, k, statement_to_json(statement));
    assert_int_equal(release_write(path, &release, OUTPUT_PUBLIC, NULL), 0);
    release_free(&release);
}

#endif
