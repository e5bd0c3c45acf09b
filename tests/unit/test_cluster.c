/*
 * Clusters of threads: everything that ranks do together, for any number of them; how they agree on
 * a failure; and what becomes of a rank that is not heard from.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/error.h"
#include "thread_cluster.h"

enum { RANKS_MAX = 9, MANY = 1000 };

static const int rank_counts[] = {1, 2, 3, 4, 5, 8, 9};
enum { N_COUNTS = sizeof rank_counts / sizeof rank_counts[0] };

/* What each rank found wrong, to be looked at when all are done: cmocka is not for threads. */
struct outcome {
    const char *wrong[RANKS_MAX];
    int code[RANKS_MAX];
    struct dpmf_error error[RANKS_MAX];
    bool has_agreed[RANKS_MAX];
};

#define EXPECT(what)                                                                               \
    do {                                                                                           \
        if (!(what) && !outcome->wrong[rank]) outcome->wrong[rank] = #what;                        \
    } while (0)

static void run(int n, double timeout, void (*body)(void *, const struct dpmf_cluster *),
                struct outcome *outcome) {
    memset(outcome, 0, sizeof *outcome);
    assert_int_equal(thread_cluster_run(n, timeout, body, outcome), 0);
    for (int r = 0; r < n; r++)
        if (outcome->wrong[r]) fail_msg("%d ranks, rank %d: not %s", n, r, outcome->wrong[r]);
}

/* ---- collectives ----------------------------------------------------------------------------- */

static void try_broadcast(void *self, const struct dpmf_cluster *cluster) {
    struct outcome *outcome = self;
    const int rank = cluster->rank;
    for (int root = 0; root < cluster->n_ranks; root++) {
        char text[24] = "";
        if (rank == root) snprintf(text, sizeof text, "from %d", root);
        EXPECT(cluster_broadcast(cluster, text, sizeof text, root, NULL) == 0);
        char wanted[24];
        snprintf(wanted, sizeof wanted, "from %d", root);
        EXPECT(strcmp(text, wanted) == 0);
    }
}

static void try_sums(void *self, const struct dpmf_cluster *cluster) {
    struct outcome *outcome = self;
    const int rank = cluster->rank, n = cluster->n_ranks;
    uint64_t values[MANY], largest[2] = {(uint64_t)rank, (uint64_t)(n - rank)};
    for (uint64_t i = 0; i < MANY; i++) values[i] = i * (uint64_t)(rank + 1) - 7;
    EXPECT(cluster_all_sum(cluster, values, MANY, NULL) == 0);
    const uint64_t ranks = (uint64_t)(n * (n + 1) / 2);
    for (uint64_t i = 0; i < MANY; i++) EXPECT(values[i] == i * ranks - 7 * (uint64_t)n);
    EXPECT(cluster_all_max(cluster, largest, 2, NULL) == 0);
    EXPECT(largest[0] == (uint64_t)(n - 1) && largest[1] == (uint64_t)n);
}

/* Ranges of unequal lengths, some of them empty. */
static void odd_ranges(int n, size_t *start) {
    start[0] = 0;
    for (int r = 0; r < n; r++) start[r + 1] = start[r] + (size_t)(r * r % 5) * 3;
}

static void try_reduce_scatter(void *self, const struct dpmf_cluster *cluster) {
    struct outcome *outcome = self;
    const int rank = cluster->rank, n = cluster->n_ranks;
    size_t start[RANKS_MAX + 1];
    int64_t sums[MANY];
    odd_ranges(n, start);
    for (size_t i = 0; i < start[n]; i++) sums[i] = (int64_t)i - 100 * rank;
    EXPECT(cluster_reduce_scatter(cluster, sums, start, NULL) == 0);
    for (size_t i = start[rank]; i < start[rank + 1]; i++)
        EXPECT(sums[i] == (int64_t)i * n - 50 * n * (n - 1));
}

static void try_gathers(void *self, const struct dpmf_cluster *cluster) {
    struct outcome *outcome = self;
    const int rank = cluster->rank, n = cluster->n_ranks;
    size_t start[RANKS_MAX + 1];
    char all[MANY], mine[MANY];
    odd_ranges(n, start);
    memset(all, '?', sizeof all);
    memset(mine, 'a' + rank, sizeof mine);
    memset(all + start[rank], 'a' + rank, start[rank + 1] - start[rank]);
    EXPECT(cluster_all_gather(cluster, all, start, NULL) == 0);
    for (int r = 0; r < n; r++)
        for (size_t i = start[r]; i < start[r + 1]; i++) EXPECT(all[i] == 'a' + r);
    memset(all, '?', sizeof all);
    const int root = n - 1;
    EXPECT(cluster_gather(cluster, mine, rank == root ? all : NULL, start, root, NULL) == 0);
    for (int r = 0; r < n && rank == root; r++)
        for (size_t i = start[r]; i < start[r + 1]; i++) EXPECT(all[i] == 'a' + r);
}

static void all_ranks_have_what_they_should(void **state) {
    void (*const bodies[])(void *, const struct dpmf_cluster *) = {try_broadcast, try_sums,
                                                                   try_reduce_scatter, try_gathers};
    struct outcome outcome;
    (void)state;
    for (size_t b = 0; b < sizeof bodies / sizeof bodies[0]; b++)
        for (size_t i = 0; i < N_COUNTS; i++) run(rank_counts[i], 20, bodies[b], &outcome);
}

static void one_machine_is_a_cluster_of_one(void **state) {
    uint64_t value = 5;
    int64_t sum = 6;
    size_t start[2] = {0, 1};
    struct dpmf_error error;
    (void)state;
    assert_int_equal(cluster_broadcast(NULL, &value, sizeof value, 0, NULL), 0);
    assert_int_equal(cluster_all_sum(NULL, &value, 1, NULL), 0);
    assert_int_equal(cluster_all_max(NULL, &value, 1, NULL), 0);
    assert_int_equal(cluster_reduce_scatter(NULL, &sum, start, NULL), 0);
    assert_int_equal(cluster_all_gather(NULL, &sum, start, NULL), 0);
    assert_int_equal(cluster_agree(NULL, 0, NULL), 0);
    assert_int_equal(value, 5);
    assert_int_equal(sum, 6);
    error_set(&error, DPMF_ERR_IO_READ, "as it was");
    assert_int_equal(cluster_agree(NULL, DPMF_ERR_IO_READ, &error), DPMF_ERR_IO_READ);
    assert_string_equal(error.message, "as it was");
    assert_int_equal(dpmf_cluster_rank(NULL), 0);
    assert_int_equal(dpmf_cluster_size(NULL), 1);
    assert_true(dpmf_cluster_speaks(NULL));
}

static void ranges_cover_everything_once(void **state) {
    (void)state;
    for (int n = 1; n <= RANKS_MAX; n++)
        for (size_t things = 0; things < 200; things += 7)
            for (size_t unit = 1; unit < 9; unit++) {
                const struct dpmf_cluster cluster = {.n_ranks = n};
                size_t start[RANKS_MAX + 1];
                cluster_ranges(&cluster, things, unit, start);
                assert_int_equal(start[0], 0);
                assert_int_equal(start[n], things);
                for (int r = 0; r < n; r++) {
                    assert_true(start[r] <= start[r + 1]);
                    assert_true(start[r] % unit == 0 || start[r] == things);
                    assert_true(start[r + 1] - start[r] <= things / (size_t)n + 2 * unit);
                }
            }
}

/* ---- failures -------------------------------------------------------------------------------- */

/* Ranks 2 and 3 fail. */
static void fail_some(void *self, const struct dpmf_cluster *cluster) {
    struct outcome *outcome = self;
    const int rank = cluster->rank;
    struct dpmf_error *error = &outcome->error[rank];
    int code = 0;
    EXPECT(cluster_agree(cluster, 0, error) == 0);
    if (rank == 2 || rank == 3) {
        code = error_set(error, DPMF_ERR_IO_NO_SPACE, "rank %d has no room", rank);
        error_hint(error, "tidy up");
        error_place(error, "some file", 0, 0);
    }
    outcome->code[rank] = cluster_agree(cluster, code, error);
    outcome->has_agreed[rank] = cluster->state->has_agreed;
    EXPECT(cluster_agree(cluster, outcome->code[rank], error) == outcome->code[rank]);
}

static void a_failure_is_everyones_and_names_the_lowest_rank(void **state) {
    struct outcome outcome;
    (void)state;
    run(5, 20, fail_some, &outcome);
    for (int r = 0; r < 5; r++) {
        assert_int_equal(outcome.code[r], DPMF_ERR_IO_NO_SPACE);
        assert_string_equal(outcome.error[r].message, "rank 2 has no room (rank 2 on host2)");
        assert_string_equal(outcome.error[r].hint, "tidy up");
        assert_string_equal(outcome.error[r].file, "some file");
        assert_true(outcome.has_agreed[r]);
    }
}

static void fail_all(void *self, const struct dpmf_cluster *cluster) {
    struct outcome *outcome = self;
    const int rank = cluster->rank;
    int code = error_set(&outcome->error[rank], DPMF_ERR_IO_MISSING, "there is no such file");
    outcome->code[rank] = cluster_agree(cluster, code, &outcome->error[rank]);
}

static void what_fails_everywhere_names_no_rank(void **state) {
    struct outcome outcome;
    (void)state;
    run(3, 20, fail_all, &outcome);
    for (int r = 0; r < 3; r++) {
        assert_int_equal(outcome.code[r], DPMF_ERR_IO_MISSING);
        assert_string_equal(outcome.error[r].message, "there is no such file");
    }
}

/* The last rank never comes. */
static void stay_away(void *self, const struct dpmf_cluster *cluster) {
    struct outcome *outcome = self;
    const int rank = cluster->rank;
    if (rank == cluster->n_ranks - 1) return;
    outcome->code[rank] = cluster_agree(cluster, 0, &outcome->error[rank]);
    outcome->has_agreed[rank] = cluster->state->has_agreed;
}

static void a_rank_that_does_not_come_is_missed(void **state) {
    struct outcome outcome;
    (void)state;
    run(2, 0.2, stay_away, &outcome);
    assert_int_equal(outcome.code[0], DPMF_ERR_CLUSTER_LOST);
    assert_non_null(strstr(outcome.error[0].message, "rank 1"));
    assert_false(outcome.has_agreed[0]);
}

/* ---- loading --------------------------------------------------------------------------------- */

static void without_the_plugin_there_is_no_cluster(void **state) {
    struct dpmf_cluster *cluster = (void *)1;
    struct dpmf_error error;
    (void)state;
    unsetenv("OMPI_COMM_WORLD_RANK");
    unsetenv("PMI_RANK");
    unsetenv("PMIX_RANK");
    assert_int_equal(dpmf_cluster_launched(), -1);
    assert_int_equal(dpmf_cluster_open(&cluster, &error), 0);
    assert_null(cluster);
    setenv("DPMF_MPI_PLUGIN", "/nowhere/libdpmf-mpi.so", 1);
    setenv("PMI_RANK", "3", 1);
    setenv("PMI_SIZE", "4", 1);
    assert_int_equal(dpmf_cluster_launched(), 3);
    assert_int_equal(dpmf_cluster_open(&cluster, &error), DPMF_ERR_CLUSTER_START);
    assert_null(cluster);
    assert_non_null(strstr(error.message, "/nowhere/libdpmf-mpi.so"));
    assert_non_null(strstr(error.hint, "make mpi"));
    /* A library that is no plugin, and a job of one. */
    setenv("DPMF_MPI_PLUGIN", "libm.so.6", 1);
    assert_int_equal(dpmf_cluster_open(&cluster, &error), DPMF_ERR_CLUSTER_START);
    setenv("DPMF_MPI_PLUGIN", "/nowhere/libdpmf-mpi.so", 1);
    setenv("PMI_RANK", "0", 1);
    setenv("PMI_SIZE", "1", 1);
    assert_int_equal(dpmf_cluster_open(&cluster, &error), 0);
    assert_null(cluster);
    assert_true(dpmf_cluster_is_alone());
    setenv("PMI_RANK", "not a number", 1);
    assert_int_equal(dpmf_cluster_launched(), -1);
}

/* The last rank was told something else. */
static void compare(void *self, const struct dpmf_cluster *cluster) {
    struct outcome *outcome = self;
    const int rank = cluster->rank, last = cluster->n_ranks - 1;
    struct dpmf_error *error = &outcome->error[rank];
    EXPECT(cluster_check_same(cluster, UINT64_MAX, DPMF_ERR_USAGE_CONFLICT, "not said", "nor this",
                              error) == 0);
    EXPECT(cluster_check_same(cluster, 0, DPMF_ERR_USAGE_CONFLICT, "not said", "nor this", error) ==
           0);
    outcome->code[rank] = cluster_check_same(cluster, rank == last ? 7 : 8, DPMF_ERR_USAGE_CONFLICT,
                                             "they differ", "mend that", error);
    outcome->has_agreed[rank] = cluster->state->has_agreed;
}

static void ranks_that_were_told_different_things_are_refused(void **state) {
    struct outcome outcome;
    (void)state;
    run(1, 20, compare, &outcome);
    assert_int_equal(outcome.code[0], 0);
    for (int n = 2; n <= RANKS_MAX; n++) {
        run(n, 20, compare, &outcome);
        for (int r = 0; r < n; r++) {
            assert_int_equal(outcome.code[r], DPMF_ERR_USAGE_CONFLICT);
            assert_string_equal(outcome.error[r].message, "they differ");
            assert_true(outcome.has_agreed[r]);
        }
    }
    assert_int_equal(
        cluster_check_same(NULL, 1, DPMF_ERR_USAGE_CONFLICT, "not said", "nor this", NULL), 0);
}

/* Rank 0 ends a phase while the others are at something else. */
static void mistake(void *self, const struct dpmf_cluster *cluster) {
    struct outcome *outcome = self;
    const int rank = cluster->rank;
    uint64_t others[2] = {UINT64_MAX / 3, 5};
    outcome->code[rank] = rank == 0 ? cluster_agree(cluster, 0, &outcome->error[rank])
                                    : cluster_all_max(cluster, others, 2, &outcome->error[rank]);
}

static void ranks_that_do_different_things_are_found_out(void **state) {
    struct outcome outcome;
    (void)state;
    for (int n = 2; n <= RANKS_MAX; n++) {
        run(n, 20, mistake, &outcome);
        assert_int_equal(outcome.code[0], DPMF_ERR_CLUSTER_LOST);
        assert_non_null(strstr(outcome.error[0].message, "do not work on the same thing"));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_ranks_have_what_they_should),
        cmocka_unit_test(one_machine_is_a_cluster_of_one),
        cmocka_unit_test(ranges_cover_everything_once),
        cmocka_unit_test(a_failure_is_everyones_and_names_the_lowest_rank),
        cmocka_unit_test(what_fails_everywhere_names_no_rank),
        cmocka_unit_test(a_rank_that_does_not_come_is_missed),
        cmocka_unit_test(ranks_that_were_told_different_things_are_refused),
        cmocka_unit_test(ranks_that_do_different_things_are_found_out),
        cmocka_unit_test(without_the_plugin_there_is_no_cluster),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
