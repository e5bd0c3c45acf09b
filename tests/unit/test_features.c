/*
 * Side information: rows that are placed and blended against a plain regression that is solved anew
 * for every row left out; what stays bit for bit; tables that are refused; cold and warm errors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dpmf.h"
#include "features/feature_rows.h"
#include "recommend/model.h"
#include "temp_dir.h"

enum { K = 3, ROWS = 12, NEW = 2, Q_MAX = 16, STRIDE = 16 };

static struct temp_dir dir;
static char table_path[512], ratings_path[512], model_path[512], other_path[512];

static int set_up(void **state) {
    (void)state;
    temp_dir_make(&dir);
    snprintf(table_path, sizeof table_path, "%s/table.csv", dir.path);
    snprintf(ratings_path, sizeof ratings_path, "%s/ratings.csv", dir.path);
    snprintf(model_path, sizeof model_path, "%s/model.safetensors", dir.path);
    snprintf(other_path, sizeof other_path, "%s/other.safetensors", dir.path);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    temp_dir_remove(&dir);
    return 0;
}

static void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* ---- the plain regression -------------------------------------------------------------------- */

/* A x = b, by elimination with pivots; n at most Q_MAX + 1. */
static void solve(double A[Q_MAX + 1][Q_MAX + 1], double *b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        size_t pivot = i;
        for (size_t r = i + 1; r < n; r++)
            if (fabs(A[r][i]) > fabs(A[pivot][i])) pivot = r;
        for (size_t c = 0; c < n; c++) {
            const double swap = A[i][c];
            A[i][c] = A[pivot][c], A[pivot][c] = swap;
        }
        const double swap = b[i];
        b[i] = b[pivot], b[pivot] = swap;
        for (size_t r = 0; r < n; r++) {
            const double factor = A[r][i] / A[i][i];
            if (r == i) continue;
            for (size_t c = i; c < n; c++) A[r][c] -= factor * A[i][c];
            b[r] -= factor * b[i];
        }
    }
    for (size_t i = 0; i < n; i++) b[i] /= A[i][i];
}

/* The prediction for features f from all rows but `without`, with a free constant. */
static double predict(const double *features, const double *weights, const double *z, size_t n,
                      size_t q, double penalty, size_t without, const double *f) {
    double A[Q_MAX + 1][Q_MAX + 1] = {{0}}, b[Q_MAX + 1] = {0}, total = 0;
    for (size_t j = 0; j < n; j++) total += weights[j];
    for (size_t j = 0; j < n; j++) {
        double x[Q_MAX + 1] = {1};
        if (j == without) continue;
        for (size_t a = 0; a < q; a++) x[a + 1] = features[j * q + a];
        for (size_t a = 0; a <= q; a++) {
            for (size_t c = 0; c <= q; c++) A[a][c] += weights[j] * x[a] * x[c];
            b[a] += weights[j] * x[a] * z[j];
        }
    }
    for (size_t a = 1; a <= q; a++) A[a][a] += penalty * total;
    solve(A, b, q + 1);
    double sum = b[0];
    for (size_t a = 0; a < q; a++) sum += b[a + 1] * f[a];
    return sum;
}

/* By leaving out each row in turn, as slowly as it is said. */
static double best_penalty(const double *features, const double *weights, const double *z, size_t n,
                           size_t q) {
    static const double grid[] = {1e-4, 3e-4, 1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 100};
    double best = 0, least = INFINITY;
    for (size_t i = 0; i < sizeof grid / sizeof grid[0]; i++) {
        double sum = 0;
        for (size_t j = 0; j < n; j++) {
            const double e =
                z[j] - predict(features, weights, z, n, q, grid[i], j, features + j * q);
            sum += weights[j] * e * e;
        }
        if (sum < least) least = sum, best = grid[i];
    }
    return best;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static double draw(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 40) / (double)(1 << 24) - 0.5;
}

/* Items i0 .. i11 with ratings; the table has them but i5, and two new ones. */
static void make_factors(struct factors *factors) {
    uint64_t random = 5;
    char bytes[8 * ROWS] = "";
    *factors = (struct factors){.k = K, .min = 1, .max = 5};
    assert_int_equal(factor_matrix_init(&factors->items, ROWS, STRIDE, 1, NULL), 0);
    struct factor_ids *ids = &factors->item_ids;
    ids->n = ROWS;
    ids->start = calloc(ROWS + 1, sizeof *ids->start);
    ids->counts = calloc(ROWS, sizeof *ids->counts);
    assert_true(ids->start && ids->counts);
    for (size_t i = 0; i < ROWS; i++) {
        ids->start[i + 1] = ids->start[i] + (uint64_t)snprintf(bytes + ids->start[i], 8, "i%zu", i);
        ids->counts[i] = (float)(3 + 40 * i);
        for (size_t c = 0; c < K; c++)
            factors->items.rows[i * STRIDE + c] = (float)((i % 2 ? 1 : -1) * 0.5 + draw(&random));
        factors->items.biases[i] = (float)draw(&random);
    }
    ids->bytes = malloc(sizeof bytes);
    assert_non_null(ids->bytes);
    memcpy(ids->bytes, bytes, sizeof bytes);
    assert_int_equal(factor_ids_index(ids, NULL), 0);
}

static void make_table(struct catalogue *table) {
    char text[1024] = "item,kind,length\n";
    for (size_t i = 0; i < ROWS; i++)
        if (i != 5)
            sprintf(text + strlen(text), "i%zu,%s,%d\n", i, i % 2 ? "odd" : "even|x",
                    (int)(i * i % 7));
    strcat(text, "new1,odd,3\nnew2,even|x,\n");
    write_text(table_path, text);
    assert_int_equal(features_read(table_path, false, NULL, table, NULL), 0);
    assert_int_equal(table->ids.n, ROWS - 1 + NEW);
    assert_true(table->n_features > 1 && table->n_features <= Q_MAX);
}

static double value_of(const struct factors *factors, size_t i, size_t c) {
    return c < K ? (double)factors->items.rows[i * STRIDE + c] : (double)factors->items.biases[i];
}

/* The rows of the model that are in the table, as the plain regression takes them. */
struct plain {
    double features[ROWS * Q_MAX], weights[ROWS], z[ROWS], mean, penalty;
    size_t row[ROWS], n, q;
};

static void make_plain(struct plain *plain, const struct factors *factors,
                       const struct catalogue *table, size_t c) {
    double total = 0;
    *plain = (struct plain){.q = table->n_features};
    for (size_t i = 0; i < ROWS; i++) {
        char id[8];
        snprintf(id, sizeof id, "i%zu", i);
        const uint64_t t = factor_ids_find(&table->ids, id, strlen(id));
        if (t == UINT64_MAX) continue;
        memcpy(plain->features + plain->n * plain->q, table->features + t * plain->q,
               plain->q * sizeof(double));
        plain->weights[plain->n] = (double)factors->item_ids.counts[i];
        plain->z[plain->n] = value_of(factors, i, c);
        plain->mean += plain->weights[plain->n] * plain->z[plain->n];
        total += plain->weights[plain->n];
        plain->row[plain->n++] = i;
    }
    plain->mean /= total;
    plain->penalty = best_penalty(plain->features, plain->weights, plain->z, plain->n, plain->q);
}

static double plain_predict(const struct plain *plain, size_t without, const double *f) {
    return predict(plain->features, plain->weights, plain->z, plain->n, plain->q, plain->penalty,
                   without, f);
}

static void test_blend(void **state) {
    (void)state;
    const double hold = 7;
    struct factors factors, before;
    struct catalogue table;
    struct plain plain;
    make_factors(&factors);
    make_factors(&before);
    make_table(&table);
    assert_int_equal(
        feature_rows_blend(&factors, FEATURES_OF_ITEMS, &table, hold, table_path, NULL), 0);
    for (size_t c = 0; c <= K; c++) {
        make_plain(&plain, &before, &table, c);
        for (size_t j = 0; j < plain.n; j++) {
            const double held = c < K ? FEATURE_HOLD : hold;
            const double share = held / (plain.weights[j] + held);
            const double m = plain_predict(&plain, j, plain.features + j * plain.q) - plain.mean;
            const double found = value_of(&factors, plain.row[j], c);
            assert_true(fabs(found - (plain.z[j] + share * m)) < 1e-5);
        }
        assert_true(value_of(&factors, 5, c) == value_of(&before, 5, c));
    }
    catalogue_free(&table);
    factors_free(&factors);
    factors_free(&before);
}

static void test_place(void **state) {
    (void)state;
    struct factors factors, before;
    struct catalogue table;
    struct plain plain;
    make_factors(&factors);
    make_factors(&before);
    make_table(&table);
    assert_int_equal(feature_rows_place(&factors, FEATURES_OF_ITEMS, &table, 1, table_path, NULL),
                     0);
    assert_int_equal(factors.items.n, ROWS + NEW);
    assert_int_equal(factor_ids_find(&factors.item_ids, "new2", 4), ROWS + 1);
    assert_int_equal(factor_ids_find(&factors.item_ids, "i11", 3), 11);
    for (size_t c = 0; c <= K; c++) {
        double low = INFINITY, high = -INFINITY;
        make_plain(&plain, &before, &table, c);
        for (size_t i = 0; i < ROWS; i++) {
            assert_true(value_of(&factors, i, c) == value_of(&before, i, c));
            low = fmin(low, value_of(&before, i, c)), high = fmax(high, value_of(&before, i, c));
        }
        for (size_t i = 0; i < NEW; i++) {
            const char *id = i ? "new2" : "new1";
            const uint64_t t = factor_ids_find(&table.ids, id, 4);
            const double m = plain_predict(&plain, SIZE_MAX, table.features + t * plain.q);
            const double found = value_of(&factors, ROWS + i, c);
            assert_true(fabs(found - fmin(fmax(m, low), high)) < 1e-5);
        }
    }
    for (size_t i = 0; i < NEW; i++) assert_true(factors.item_ids.counts[ROWS + i] > 0);
    catalogue_free(&table);
    factors_free(&factors);
    factors_free(&before);
}

/* ---- tables that are refused ----------------------------------------------------------------- */

static void refused(const char *text, bool of_users, int code, int64_t line) {
    struct catalogue table;
    struct dpmf_error error = {0};
    write_text(table_path, text);
    assert_int_equal(features_read(table_path, of_users, NULL, &table, &error), code);
    assert_int_equal(error.line, line);
    assert_true(error.message[0] && error.hint[0]);
    assert_null(table.ids.bytes);
}

static void test_refused_tables(void **state) {
    (void)state;
    refused("item,user,kind\n1,2,a\n", false, DPMF_ERR_INPUT_HEADER, 1);
    refused("user,item,kind\n1,2,a\n", true, DPMF_ERR_INPUT_HEADER, 1);
    refused("user,kind\n1,a\n", false, DPMF_ERR_INPUT_HEADER, 1);
    refused("item,kind\n1,a\n", true, DPMF_ERR_INPUT_HEADER, 1);
    refused("item,kind\n1,a\n2,b\n1,b\n", false, DPMF_ERR_INPUT_ID, 4);
    refused("item,kind\n1,a\n,b\n", false, DPMF_ERR_INPUT_ID, 3);
    refused("item,kind\n1,a\n2\n", false, DPMF_ERR_INPUT_COLUMNS, 3);
    refused("item,size\n1,1\n2,nan\n3,2\n4,5\n", false, DPMF_ERR_INPUT_NOT_FINITE, 3);
    refused("item,kind\n", false, DPMF_ERR_INPUT_EMPTY, 0);
    refused("item,kind\n1,a\n2,a\n3,a\n", false, DPMF_ERR_INPUT_COLUMNS, 0);
}

/* Any column counts, whatever its name: nothing is published. */
static void test_taken_tables(void **state) {
    (void)state;
    struct catalogue table;
    write_text(table_path, "user,email,score\n1,a,1\n2,a,2\n3,a,3\n4,b,\n5,b,2\n6,b,1\n");
    assert_int_equal(features_read(table_path, true, NULL, &table, NULL), 0);
    assert_int_equal(table.ids.n, 6);
    assert_int_equal(table.n_features, 2 + 6);
    catalogue_free(&table);
}

/* ---- the whole way --------------------------------------------------------------------------- */

/* People of two kinds and items of two kinds: each rates the own kind about 4, the other about 2.
 * Who rates what, a fixed rule says. */
static void make_ratings(const char *path, int first_user, int users, int first_item, int items) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("user,item,rating\n", file);
    for (int u = first_user; u < first_user + users; u++)
        for (int i = first_item; i < first_item + items; i++)
            if ((u * 7 + i * 3) % 5 != 0)
                fprintf(file, "u%d,i%d,%g\n", u, i,
                        (u % 2 == i % 2 ? 4 : 2) + 0.5 * ((5 * u + 11 * i) % 3 - 1));
    assert_int_equal(fclose(file), 0);
}

static void make_kinds(const char *path, const char *role, int n) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s,kind\n", role);
    for (int i = 0; i < n; i++) fprintf(file, "%c%d,%s\n", role[0], i, i % 2 ? "odd" : "even");
    assert_int_equal(fclose(file), 0);
}

static void train(const char *items, const char *users, const char *output, int expected) {
    struct dpmf_train_options options = dpmf_train_options_default();
    struct dpmf_store *store = NULL;
    struct dpmf_error error = {0};
    options.factors = 4;
    options.epochs = 30;
    options.deterministic = true;
    options.averages_first = true;
    options.item_features = items;
    options.user_features = users;
    assert_int_equal(dpmf_store_open(ratings_path, NULL, NULL, &store, &error), 0);
    assert_int_equal(dpmf_train(store, NULL, output, &options, NULL, NULL, NULL, NULL, &error),
                     expected);
    dpmf_store_close(store);
}

static struct dpmf_evaluation evaluate(const struct dpmf_model *model, const char *test) {
    struct dpmf_evaluate_options options = dpmf_evaluate_options_default();
    struct dpmf_evaluation found;
    struct dpmf_store *store = NULL;
    assert_int_equal(dpmf_store_open(test, NULL, NULL, &store, NULL), 0);
    assert_int_equal(dpmf_model_evaluate(model, store, NULL, &options, NULL, &found, NULL), 0);
    dpmf_store_close(store);
    return found;
}

static void test_cold(void **state) {
    (void)state;
    char items[512], users[512], test[512];
    struct dpmf_model *model = NULL;
    struct dpmf_features_report report;
    struct dpmf_error error = {0};
    snprintf(items, sizeof items, "%s/items.csv", dir.path);
    snprintf(users, sizeof users, "%s/users.csv", dir.path);
    snprintf(test, sizeof test, "%s/test.csv", dir.path);
    make_ratings(ratings_path, 0, 60, 0, 40);
    make_ratings(test, 50, 20, 30, 20); /* ten of the users and ten of the items are new */
    make_kinds(items, "item", 50);
    make_kinds(users, "user", 70);
    train(items, users, model_path, 0);
    train(NULL, NULL, other_path, 0);
    assert_int_equal(dpmf_model_open(model_path, &model, NULL), 0);
    const struct dpmf_evaluation without = evaluate(model, test);
    assert_int_equal(without.cold, 0);
    assert_true(isnan(without.cold_rmse) && without.warm_rmse == without.rmse);
    assert_true(without.unknown_users > 0 && without.unknown_items > 0);
    assert_int_equal(dpmf_model_add_features(model, items, users, NULL, &report, &error), 0);
    assert_int_equal(report.items.known, 40);
    assert_int_equal(report.items.placed, 10);
    assert_int_equal(report.users.known, 60);
    assert_int_equal(report.users.placed, 10);
    const struct dpmf_evaluation with = evaluate(model, test);
    assert_int_equal(with.n, without.n);
    assert_int_equal(with.unknown_users + with.unknown_items, 0);
    assert_true(with.cold > with.n / 2 && with.cold < with.n);
    const double squares = with.cold_rmse * with.cold_rmse * (double)with.cold +
                           with.warm_rmse * with.warm_rmse * (double)(with.n - with.cold);
    assert_true(fabs(squares - with.rmse * with.rmse * (double)with.n) < 1e-6 * squares);
    assert_true(with.cold_rmse > 0.1 && with.cold_rmse < 0.7 && without.rmse > 1.3 * with.rmse);
    /* known ones stay as they are, new ones are there once */
    assert_int_equal(dpmf_model_add_features(model, items, NULL, NULL, NULL, &error),
                     DPMF_ERR_USAGE_CONFLICT);
    struct dpmf_scored_item best[5];
    const uint64_t user = dpmf_model_find_user(model, "u65", 3);
    assert_true(user != UINT64_MAX);
    assert_int_equal(dpmf_model_recommend(model, user, NULL, NULL, NULL, 5, best, NULL), 5);
    dpmf_model_close(model);
}

/* Training differs from training without features, and only in rows that have them. */
static void test_trained(void **state) {
    (void)state;
    struct dpmf_model *with = NULL, *without = NULL;
    make_ratings(ratings_path, 0, 60, 0, 40);
    make_kinds(table_path, "item", 39);
    train(table_path, NULL, model_path, 0);
    train(NULL, NULL, other_path, 0);
    assert_int_equal(dpmf_model_open(model_path, &with, NULL), 0);
    assert_int_equal(dpmf_model_open(other_path, &without, NULL), 0);
    const struct factors *a = &with->factors, *b = &without->factors;
    for (uint64_t i = 0; i < a->items.n; i++) {
        const bool is_last = factor_ids_find(&a->item_ids, "i39", 3) == i;
        const bool is_same = memcmp(a->items.rows + i * a->items.stride,
                                    b->items.rows + i * b->items.stride, 4 * sizeof(float)) == 0;
        assert_true(is_same == is_last);
    }
    for (uint64_t i = 0; i < a->users.n; i++)
        assert_memory_equal(a->users.rows + i * a->users.stride,
                            b->users.rows + i * b->users.stride, 4 * sizeof(float));
    assert_non_null(strstr(with->provenance, "\"item_features\":true"));
    dpmf_model_close(with);
    dpmf_model_close(without);
}

static void test_refuses(void **state) {
    (void)state;
    struct dpmf_train_options options = dpmf_train_options_default();
    struct dpmf_store *store = NULL;
    struct dpmf_model *model = NULL;
    struct dpmf_error error = {0};
    make_ratings(ratings_path, 0, 20, 0, 20);
    make_kinds(table_path, "item", 20);
    assert_int_equal(dpmf_store_open(ratings_path, NULL, NULL, &store, NULL), 0);
    const char *const others[] = {"ials", "gibbs", "sgld"};
    for (size_t i = 0; i < 3; i++) {
        dpmf_train_options_solver(others[i], &options);
        options.solver = others[i];
        options.item_features = table_path;
        assert_int_equal(
            dpmf_train(store, NULL, model_path, &options, NULL, NULL, NULL, NULL, &error),
            DPMF_ERR_USAGE_CONFLICT);
        assert_non_null(strstr(error.message, others[i]));
    }
    dpmf_store_close(store);
    train(table_path, table_path, model_path, DPMF_ERR_INPUT_HEADER); /* items as users */
    write_text(table_path, "item,kind\nx,a\ny,b\nz,a\nw,a\nv,b\nu,b\n");
    train(table_path, NULL, model_path, DPMF_ERR_INPUT_ID); /* none is rated */
    FILE *file = fopen(model_path, "r");
    assert_null(file);
    train(NULL, NULL, model_path, 0);
    assert_int_equal(dpmf_model_open(model_path, &model, NULL), 0);
    assert_int_equal(dpmf_model_add_features(model, table_path, NULL, NULL, NULL, &error),
                     DPMF_ERR_INPUT_ID);
    dpmf_model_close(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_blend, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_place, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refused_tables, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_taken_tables, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cold, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_trained, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refuses, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
