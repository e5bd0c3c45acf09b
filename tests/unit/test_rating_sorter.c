/*
 * The sorter against a plain sort: any order of arrival, with and without spilling, duplicates,
 * times, more distinct values than there are codes, and one user with more duplicates than fit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "random/random.h"
#include "store/rating_sorter.h"

struct rating {
    uint32_t user, item;
    double value;
    int64_t time;
    size_t arrival;
};

static bool keeps_latest; /* of duplicates, whatever their order was */

static int compare_ratings(const void *a, const void *b) {
    const struct rating *x = a, *y = b;
    if (x->user != y->user) return x->user < y->user ? -1 : 1;
    if (x->item != y->item) return x->item < y->item ? -1 : 1;
    if (keeps_latest && x->time != y->time) return x->time < y->time ? -1 : 1;
    if (keeps_latest && x->value != y->value) return x->value < y->value ? -1 : 1;
    return x->arrival < y->arrival ? -1 : x->arrival > y->arrival;
}

/* Sorted, the last of duplicates, or the latest, kept. @return how many are left */
static size_t sort_plainly(struct rating *ratings, size_t n) {
    qsort(ratings, n, sizeof ratings[0], compare_ratings);
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (i + 1 == n || ratings[i].user != ratings[i + 1].user ||
            ratings[i].item != ratings[i + 1].item)
            ratings[kept++] = ratings[i];
    return kept;
}

static void count_duplicate(void *self, uint32_t item) {
    (void)item;
    ++*(size_t *)self;
}

/* Times of every width: most are below 2^32, where records are shorter. */
static int64_t any_time(struct random_stream *random) {
    const int64_t edges[] = {0, -1, UINT32_MAX, INT64_C(1) << 32};
    const uint64_t bits = random_u64(random);
    return bits % 8 == 0 ? edges[bits / 8 % 4] : (int64_t)(bits >> (bits % 3 == 0 ? 0 : 33));
}

struct sorter_case {
    uint32_t n_users, n_items;
    size_t n;
    uint64_t n_values; /* 0: real numbers */
    bool times;
    uint64_t memory;
    bool must_spill;
};

static struct rating *make_ratings(const struct sorter_case *c) {
    struct rating *ratings = malloc(c->n * sizeof ratings[0]);
    assert_non_null(ratings);
    struct random_stream random;
    random_stream_init(&random, 7, 1, c->n);
    for (size_t i = 0; i < c->n; i++) {
        ratings[i] = (struct rating){
            /* every user appears, in the order of their numbers, as the importer has it */
            .user = i < c->n_users ? (uint32_t)i : (uint32_t)random_below(&random, c->n_users),
            .item = (uint32_t)random_below(&random, c->n_items),
            .value = c->n_values ? (double)random_below(&random, c->n_values) / 4
                                 : random_gaussian(&random),
            .time = c->times && random_below(&random, 5) ? any_time(&random) : STORE_NO_TIME,
            .arrival = i,
        };
    }
    return ratings;
}

static void add_all(struct rating_sorter *sorter, const struct rating *ratings, size_t n) {
    for (size_t i = 0; i < n; i++)
        assert_int_equal(rating_sorter_add(sorter, &ratings[i].user, &ratings[i].item,
                                           &ratings[i].value, &ratings[i].time, 1, NULL),
                         0);
}

static void check_case(const struct sorter_case *c) {
    struct rating *ratings = make_ratings(c);
    struct rating_sorter *sorter;
    assert_int_equal(rating_sorter_init(&sorter, c->memory, NULL, NULL), 0);
    if (keeps_latest) rating_sorter_keep_latest(sorter);
    add_all(sorter, ratings, c->n);
    assert_int_equal(rating_sorter_finish(sorter, c->n_users, NULL), 0);
    assert_int_equal(rating_sorter_spilled(sorter) > 0, c->must_spill);

    /* ranks in reverse, to see that they are used */
    uint32_t *rank = malloc(c->n_items * sizeof rank[0]);
    assert_non_null(rank);
    for (uint32_t i = 0; i < c->n_items; i++) rank[i] = c->n_items - 1 - i;
    for (size_t i = 0; i < c->n; i++) ratings[i].item = rank[ratings[i].item];
    size_t kept = sort_plainly(ratings, c->n);

    struct sorter_space space = {0};
    size_t at = 0, duplicates = 0;
    uint64_t user = 0;
    for (uint64_t s = 0; s < rating_sorter_n_slices(sorter); s++) {
        struct store_block block;
        assert_int_equal(rating_sorter_slice(sorter, s, rank, &space, count_duplicate, &duplicates,
                                             &block, NULL),
                         0);
        assert_int_equal(block.first_user, user);
        assert_true(block.n_users <= STORE_BLOCK_USERS);
        for (uint32_t u = 0; u < block.n_users; u++, user++)
            for (uint64_t r = block.start[u]; r < block.start[u + 1]; r++, at++) {
                assert_int_equal(ratings[at].user, user);
                assert_int_equal(ratings[at].item, block.item[r]);
                assert_true(ratings[at].value == block.value[r]);
                if (block.time)
                    assert_int_equal(ratings[at].time, block.time[r]);
                else
                    assert_int_equal(ratings[at].time, STORE_NO_TIME);
            }
    }
    assert_int_equal(at, kept);
    assert_int_equal(duplicates, c->n - kept);
    assert_int_equal(user, c->n_users);
    sorter_space_free(&space);
    rating_sorter_free(sorter);
    free(rank);
    free(ratings);
}

static void test_cases(void **state) {
    (void)state;
    const struct sorter_case cases[] = {
        {1, 1, 1, 1, false, 1 << 20, false},
        {1, 50, 1000, 5, false, 1 << 20, false},
        {3000, 200, 100000, 5, false, 8 << 20, false},
        {3000, 200, 100000, 5, false, 512 << 10, true},
        {3000, 5000, 100000, 0, true, 8 << 20, false},
        {3000, 5000, 100000, 0, true, 512 << 10, true},
        {2000, 70000, 100000, 300, true, 256 << 10, true},
        {70000, 1000, 200000, 10, false, 1 << 20, true}, /* both widths of buckets */
        {5, 3000000, 50000, 10, true, 512 << 10, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) check_case(&cases[i]);
    keeps_latest = true;
    for (size_t i = 0; i < 6; i++) check_case(&cases[i]);
    keeps_latest = false;
}

/* More records of one user than a slice collects at once: compacted on the way. */
static void test_many_duplicates_of_one_user(void **state) {
    (void)state;
    check_case(&(struct sorter_case){1, 1000, 3 * STORE_BLOCK_RATINGS, 5, false, 64 << 20, false});
    check_case(&(struct sorter_case){2, 400000, 2 * STORE_BLOCK_RATINGS, 5, true, 8 << 20, true});
    keeps_latest = true;
    check_case(&(struct sorter_case){1, 1000, 3 * STORE_BLOCK_RATINGS, 5, true, 64 << 20, false});
    keeps_latest = false;
}

/* Of the same pair at the same time, the larger value, and of two zeros the one without a sign,
 * whatever their order was. */
static void test_zeros_of_one_time(void **state) {
    (void)state;
    static const double pairs[][2] = {{-0.0, 0.0}, {0.0, -0.0}, {-0.0, -0.0}, {1, -0.0}, {-0.0, 1}};
    static const double kept[] = {0.0, 0.0, -0.0, 1, 1};
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        const uint32_t user[] = {0, 0}, item[] = {0, 0}, rank[] = {0};
        struct rating_sorter *sorter;
        struct sorter_space space = {0};
        struct store_block block;
        size_t n_duplicates = 0;
        assert_int_equal(rating_sorter_init(&sorter, 1 << 16, NULL, NULL), 0);
        rating_sorter_keep_latest(sorter);
        assert_int_equal(rating_sorter_add(sorter, user, item, pairs[i], NULL, 2, NULL), 0);
        assert_int_equal(rating_sorter_finish(sorter, 1, NULL), 0);
        assert_int_equal(rating_sorter_slice(sorter, 0, rank, &space, count_duplicate,
                                             &n_duplicates, &block, NULL),
                         0);
        assert_int_equal(block.n_ratings, 1);
        assert_int_equal(n_duplicates, 1);
        assert_memory_equal(block.value, &kept[i], sizeof kept[i]);
        sorter_space_free(&space);
        rating_sorter_free(sorter);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zeros_of_one_time),
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_many_duplicates_of_one_user),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
