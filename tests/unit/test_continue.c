/*
 * Models that go on learning: a sweep against dense solves in double, for every set of kernels, of
 * ratings and of events; what stays as it was; the same bits for any number of threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "continue/continue_rows.h"
#include "continue/continue_tastes.h"
#include "numerics/cholesky.h"

enum { OWN = 21, OTHER = 17, MOST = 9, K_MAX = 5 };

/* Row 0 has no new rating; the last five rows are new. */
struct bed {
    struct factor_matrix before, own, other;
    uint64_t start[OWN + 1];
    uint32_t row[OWN], at[OWN * MOST];
    float value[OWN * MOST], weight[OWN * MOST], counts[OWN], other_counts[OTHER];
    size_t k;
};

static double draw(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (double)(*state >> 40) / (double)(1 << 24) - 0.5;
}

static void fill(struct factor_matrix *matrix, size_t k, bool biased, uint64_t *random) {
    for (uint64_t i = 0; i < matrix->n; i++) {
        for (size_t c = 0; c < k; c++) matrix->rows[i * matrix->stride + c] = (float)draw(random);
        if (biased) matrix->biases[i] = (float)draw(random);
    }
}

static void make_bed(struct bed *bed, const struct kernel_set *set, size_t k, bool ranks) {
    uint64_t random = 11;
    *bed = (struct bed){.k = k};
    assert_int_equal(factor_matrix_init(&bed->before, OWN, set->stride(k), 0, NULL), 0);
    assert_int_equal(factor_matrix_init(&bed->own, OWN, set->stride(k), 0, NULL), 0);
    assert_int_equal(factor_matrix_init(&bed->other, OTHER, set->stride(k), 0, NULL), 0);
    fill(&bed->before, k, !ranks, &random);
    fill(&bed->other, k, !ranks, &random);
    for (uint64_t i = 0; i < OWN; i++) {
        const bool is_new = i >= OWN - 5;
        const uint64_t n = i == 0 ? 0 : 1 + i % MOST;
        bed->row[i] = (uint32_t)i;
        bed->counts[i] = is_new ? 0 : (float)(1 + 3 * i);
        for (size_t c = 0; is_new && c < k; c++) bed->before.rows[i * bed->before.stride + c] = 0;
        if (is_new) bed->before.biases[i] = 0;
        for (uint64_t j = 0; j < n; j++) {
            bed->at[bed->start[i] + j] = (uint32_t)(j * OTHER / n);
            bed->value[bed->start[i] + j] = (float)(2 * draw(&random));
            bed->weight[bed->start[i] + j] = (float)(1 + j % 3) / 3;
        }
        bed->start[i + 1] = bed->start[i] + n;
    }
    for (uint64_t j = 0; j < OTHER; j++) bed->other_counts[j] = (float)(j * j % 13);
    memcpy(bed->own.rows, bed->before.rows, OWN * bed->own.stride * sizeof(float));
    memcpy(bed->own.biases, bed->before.biases, OWN * sizeof(float));
}

static void free_bed(struct bed *bed) {
    factor_matrix_free(&bed->before);
    factor_matrix_free(&bed->own);
    factor_matrix_free(&bed->other);
}

static struct continue_side side_of(struct bed *bed, bool ranks, double hold) {
    return (struct continue_side){.n = OWN,
                                  .row = bed->row,
                                  .start = bed->start,
                                  .other = bed->at,
                                  .value = ranks ? NULL : bed->value,
                                  .weight = ranks ? bed->weight : NULL,
                                  .counts = bed->counts,
                                  .bias_hold = hold,
                                  .before = &bed->before,
                                  .own = &bed->own};
}

/* f of a row of the other side: its vector, and 1 for the bias. */
static void put_f(const struct bed *bed, uint64_t j, bool ranks, double *f) {
    for (size_t c = 0; c < bed->k; c++) f[c] = (double)bed->other.rows[j * bed->other.stride + c];
    f[bed->k] = ranks ? 0 : 1;
}

/* How often each row of the other side counts in the C that holds row i: as often as it was rated
 * or, when it ranks, as the sum of all rows of that group predicts. @return the sum of them */
static double count_plainly(const struct bed *bed, const uint8_t *group, uint64_t i,
                            double *counts) {
    double total = 0;
    for (uint64_t j = 0; j < OTHER; j++) counts[j] = group ? 0 : (double)bed->other_counts[j];
    for (uint64_t row = 0; group && row < OWN; row++)
        for (uint64_t j = 0; group[row] == group[i] && bed->counts[row] > 0 && j < OTHER; j++)
            for (size_t c = 0; c < bed->k; c++)
                counts[j] += (double)bed->before.rows[row * bed->before.stride + c] *
                             (double)bed->other.rows[j * bed->other.stride + c];
    for (uint64_t j = 0; j < OTHER; j++) {
        if (counts[j] < 0) counts[j] = 0;
        total += counts[j];
    }
    return total;
}

/* Row i by the definition of continue_rows.h, all of x at once. */
static void solve_plainly(const struct bed *bed, const struct continue_rule *rule, double hold,
                          const uint8_t *group, uint64_t i, double *x) {
    const size_t k = bed->k, width = k + 1;
    const double n0 = (double)bed->counts[i];
    const bool is_weighted = rule->ranks && n0 > 0;
    double A[(K_MAX + 1) * (K_MAX + 1)] = {0}, a[K_MAX + 1], f[K_MAX + 1], counts[OTHER], n1 = 0;
    for (uint64_t r = bed->start[i]; r < bed->start[i + 1]; r++)
        n1 += is_weighted ? (double)bed->weight[r] : 1;
    double old_penalty = rule->penalty * n0, penalty = rule->penalty * (n0 + n1);
    if (rule->ranks) {
        const double pairs = rule->unobserved * OTHER;
        old_penalty = n0 > 0 ? rule->penalty * pow(n0 + pairs, rule->exponent) : 0;
        penalty = n0 + n1 > 0 ? rule->penalty * pow(n0 + n1 + pairs, rule->exponent) : 0;
    }
    for (size_t c = 0; c < k; c++) a[c] = (double)bed->before.rows[i * bed->before.stride + c];
    a[k] = (double)bed->before.biases[i];
    const double total = count_plainly(bed, group, i, counts);
    for (uint64_t j = 0; j < OTHER; j++) {
        put_f(bed, j, rule->ranks, f);
        const double weight = n0 * counts[j] / total + (rule->ranks ? rule->unobserved : 0);
        for (size_t r = 0; r < width; r++)
            for (size_t c = 0; c < width; c++) A[r * width + c] += weight * f[r] * f[c];
    }
    for (size_t c = 0; c < k; c++) A[c * width + c] += penalty;
    A[k * width + k] += rule->ranks ? 1 : hold > 0 ? hold : rule->bias_penalty * (n0 + n1);
    for (size_t c = 0; c < k; c++) x[c] = (old_penalty - penalty) * a[c];
    x[k] = rule->ranks || hold > 0 ? 0 : -rule->bias_penalty * n1 * a[k];
    for (uint64_t r = bed->start[i]; r < bed->start[i + 1]; r++) {
        put_f(bed, bed->at[r], rule->ranks, f);
        const double weight = is_weighted ? (double)bed->weight[r] : 1;
        double e = rule->ranks ? 1 : (double)bed->value[r] - (double)bed->other.biases[bed->at[r]];
        for (size_t c = 0; c < width; c++) e -= f[c] * a[c];
        for (size_t c = 0; c < width; c++) {
            x[c] += weight * e * f[c];
            for (size_t b = 0; b < width; b++) A[c * width + b] += weight * f[c] * f[b];
        }
    }
    assert_int_equal(cholesky_factor(A, width), 0);
    cholesky_solve(A, width, x);
    for (size_t c = 0; c < width; c++) x[c] += a[c];
}

/* Steps of conjugate gradients are as many as sweeps make of them: enough sweeps are exact. */
static void check_sweeps(const struct kernel_set *set, size_t k, bool ranks, double hold) {
    const struct continue_rule rule = {
        .ranks = ranks, .penalty = 0.3, .bias_penalty = 0.1, .unobserved = 0.2, .exponent = 0.8};
    struct bed bed;
    struct thread_pool *pool;
    struct continue_rows *rows;
    struct continue_moments moments;
    double x[K_MAX + 1];
    make_bed(&bed, set, k, ranks);
    const struct continue_side side = side_of(&bed, ranks, hold);
    assert_int_equal(thread_pool_init(&pool, 2, NULL), 0);
    assert_int_equal(continue_rows_init(&rows, set, (uint32_t)k, &rule, pool, NULL), 0);
    assert_int_equal(
        continue_moments_find(&moments, rows, &side, &bed.other, bed.other_counts, NULL), 0);
    for (int sweep = 0; sweep < 12; sweep++)
        assert_int_equal(continue_rows_sweep(rows, &side, &bed.other, &moments, NULL, NULL, NULL),
                         0);
    for (uint64_t i = 0; i < OWN; i++) {
        solve_plainly(&bed, &rule, hold, moments.group, i, x);
        for (size_t c = 0; c < k; c++)
            assert_true(fabs((double)bed.own.rows[i * bed.own.stride + c] - x[c]) < 2e-4);
        if (!ranks) assert_true(fabs((double)bed.own.biases[i] - x[k]) < 2e-4);
    }
    continue_moments_free(&moments);
    continue_rows_free(rows);
    thread_pool_free(pool);
    free_bed(&bed);
}

static void test_sweeps_are_dense_solves(void **state) {
    (void)state;
    const struct kernel_set *set;
    for (size_t i = 0; (set = kernel_set_at(i)) != NULL; i++) {
        if (!set->is_supported()) continue;
        for (size_t k = 1; k <= K_MAX; k += 2) {
            check_sweeps(set, k, false, 0);
            check_sweeps(set, k, false, 2.5);
            check_sweeps(set, k, true, 0);
        }
    }
}

/* One sweep, in any number of threads; a row without new ratings keeps its bits. */
static void test_threads_and_rest(void **state) {
    (void)state;
    const struct kernel_set *set = kernel_set_choose(NULL);
    const struct continue_rule rule = {.penalty = 0.05, .bias_penalty = 0.02};
    struct bed beds[2];
    for (int t = 0; t < 2; t++) {
        struct thread_pool *pool;
        struct continue_rows *rows;
        struct continue_moments moments;
        make_bed(&beds[t], set, K_MAX, false);
        const struct continue_side side = side_of(&beds[t], false, 0);
        assert_int_equal(thread_pool_init(&pool, t == 0 ? 1 : 5, NULL), 0);
        assert_int_equal(continue_rows_init(&rows, set, K_MAX, &rule, pool, NULL), 0);
        assert_int_equal(continue_moments_find(&moments, rows, &side, &beds[t].other,
                                               beds[t].other_counts, NULL),
                         0);
        assert_int_equal(
            continue_rows_sweep(rows, &side, &beds[t].other, &moments, NULL, NULL, NULL), 0);
        continue_moments_free(&moments);
        continue_rows_free(rows);
        thread_pool_free(pool);
    }
    const size_t bytes = OWN * beds[0].own.stride * sizeof(float);
    assert_memory_equal(beds[0].own.rows, beds[1].own.rows, bytes);
    assert_memory_equal(beds[0].own.biases, beds[1].own.biases, OWN * sizeof(float));
    assert_memory_equal(beds[0].own.rows, beds[0].before.rows, K_MAX * sizeof(float));
    assert_memory_not_equal(beds[0].own.rows, beds[0].before.rows, bytes);
    free_bed(&beds[0]);
    free_bed(&beds[1]);
}

/* The more ratings stand behind a row, the less it moves. */
static void test_counts_hold(void **state) {
    (void)state;
    const struct kernel_set *set = kernel_set_choose(NULL);
    const struct continue_rule rule = {.penalty = 0.05, .bias_penalty = 0.02};
    double last = INFINITY;
    for (float count = 1; count <= 1000; count *= 10) {
        struct bed bed;
        struct thread_pool *pool;
        struct continue_rows *rows;
        struct continue_moments moments;
        double moved = 0;
        make_bed(&bed, set, K_MAX, false);
        for (size_t i = 0; i < OWN; i++) bed.counts[i] = count;
        const struct continue_side side = side_of(&bed, false, 0);
        assert_int_equal(thread_pool_init(&pool, 1, NULL), 0);
        assert_int_equal(continue_rows_init(&rows, set, K_MAX, &rule, pool, NULL), 0);
        assert_int_equal(
            continue_moments_find(&moments, rows, &side, &bed.other, bed.other_counts, NULL), 0);
        assert_int_equal(continue_rows_sweep(rows, &side, &bed.other, &moments, NULL, NULL, NULL),
                         0);
        for (size_t i = 0; i < OWN * bed.own.stride; i++)
            moved += pow((double)bed.own.rows[i] - (double)bed.before.rows[i], 2);
        assert_true(moved > 0 && moved < last);
        last = moved;
        continue_moments_free(&moments);
        continue_rows_free(rows);
        thread_pool_free(pool);
        free_bed(&bed);
    }
}

/* Rows that are new or have ratings with new ones are picked, in order; a sweep of them solves for
 * them as a sweep of all does, and leaves the others. */
static void test_near_new(void **state) {
    (void)state;
    const struct kernel_set *set = kernel_set_choose(NULL);
    const struct continue_rule rule = {.penalty = 0.05, .bias_penalty = 0.02};
    struct bed beds[2];
    uint32_t pick[OWN];
    bool is_picked[OWN] = {false};
    for (int t = 0; t < 2; t++) {
        struct thread_pool *pool;
        struct continue_rows *rows;
        struct continue_moments moments;
        make_bed(&beds[t], set, K_MAX, false);
        for (size_t j = 0; j < OTHER; j++) beds[t].other_counts[j] = j == OTHER / 2 ? 0 : 5;
        struct continue_side side = side_of(&beds[t], false, 0);
        const uint64_t n = continue_side_near_new(&side, beds[t].other_counts, pick);
        assert_true(n > 5 && n < OWN - 1);
        if (t == 1) side.pick = pick, side.n_picked = n;
        for (uint64_t i = 0; i < n; i++) {
            assert_true(i == 0 || pick[i - 1] < pick[i]);
            is_picked[pick[i]] = true;
        }
        assert_int_equal(thread_pool_init(&pool, 2, NULL), 0);
        assert_int_equal(continue_rows_init(&rows, set, K_MAX, &rule, pool, NULL), 0);
        assert_int_equal(continue_moments_find(&moments, rows, &side, &beds[t].other,
                                               beds[t].other_counts, NULL),
                         0);
        assert_int_equal(
            continue_rows_sweep(rows, &side, &beds[t].other, &moments, NULL, NULL, NULL), 0);
        continue_moments_free(&moments);
        continue_rows_free(rows);
        thread_pool_free(pool);
    }
    for (uint64_t i = 0; i < OWN; i++) {
        bool near = i >= OWN - 5;
        for (uint64_t j = beds[0].start[i]; j < beds[0].start[i + 1]; j++)
            near = near || beds[0].at[j] == OTHER / 2;
        assert_true(is_picked[i] == near);
        const size_t at = i * beds[0].own.stride;
        if (!near)
            assert_memory_equal(beds[1].own.rows + at, beds[1].before.rows + at,
                                K_MAX * sizeof(float));
        else
            for (size_t c = 0; c < K_MAX; c++)
                assert_true(fabsf(beds[0].own.rows[at + c] - beds[1].own.rows[at + c]) < 1e-5f);
    }
    free_bed(&beds[0]);
    free_bed(&beds[1]);
}

/* Rows that point the same way are in one group, whatever their lengths, and its C is of what they
 * predict; with nothing to predict, or nobody to group, it is of what has events. */
static void test_tastes(void **state) {
    (void)state;
    const struct kernel_set *set = kernel_set_choose(NULL);
    struct bed bed;
    struct continue_tastes tastes;
    float weights[OTHER];
    make_bed(&bed, set, 2, true);
    for (uint64_t i = 0; i < OWN - 5; i++) {
        float *row = bed.before.rows + i * bed.before.stride;
        row[0] = i % 2 == 0 ? (float)(i + 1) : 0.01f * (float)i;
        row[1] = i % 2 == 0 ? 0.01f * (float)i : (float)(i + 1);
    }
    for (uint64_t j = 0; j < OTHER; j++) {
        bed.other.rows[j * bed.other.stride] = j == 3 ? 1 : -1;
        bed.other.rows[j * bed.other.stride + 1] = -1;
    }
    const struct continue_side side = side_of(&bed, true, 0);
    assert_int_equal(continue_tastes_find(&tastes, set, 2, &side, NULL), 0);
    for (uint64_t i = 0; i < OWN - 5; i++)
        for (uint64_t j = i + 1; j < OWN - 5; j++)
            if (i % 2 != j % 2) assert_int_not_equal(tastes.group[i], tastes.group[j]);
    continue_tastes_weigh(&tastes, set, 2, tastes.group[2], &bed.other, bed.other_counts, weights);
    for (uint64_t j = 0; j < OTHER; j++) assert_true((weights[j] > 0) == (j == 3));
    continue_tastes_weigh(&tastes, set, 2, tastes.group[1], &bed.other, bed.other_counts, weights);
    assert_memory_equal(weights, bed.other_counts, sizeof weights);
    continue_tastes_free(&tastes);

    memset(bed.counts, 0, sizeof bed.counts);
    assert_int_equal(continue_tastes_find(&tastes, set, 2, &side, NULL), 0);
    assert_int_equal(tastes.n, 1);
    continue_tastes_weigh(&tastes, set, 2, 0, &bed.other, bed.other_counts, weights);
    assert_memory_equal(weights, bed.other_counts, sizeof weights);
    continue_tastes_free(&tastes);
    free_bed(&bed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sweeps_are_dense_solves),
        cmocka_unit_test(test_threads_and_rest),
        cmocka_unit_test(test_counts_hold),
        cmocka_unit_test(test_near_new),
        cmocka_unit_test(test_tastes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
