/*
 * A user's ratings as they are packed for private releases, where stores that dpmf wrote never go:
 * several ratings of one row, ratings beside the range, coins that are equal, files that cannot be
 * read any more, several failures at once. The file is compiled here once more, for its functions.
 */
/* NOLINTNEXTLINE(bugprone-suspicious-include): for what is static in it */
#include "privacy/private_ratings.c"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "privacy/id_gather.h"
#include "random/random.h"
#include "store_triples.h"
#include "temp_dir.h"

/* ---- one user's entries ---------------------------------------------------------------------- */

enum { MANY = 400 };

static void test_sorted_by_row(void **state) {
    (void)state;
    static const uint32_t widest[] = {1, 200, 70000, UINT32_MAX - 1};
    struct random_stream random;
    random_stream_init(&random, 3, 1, 4);
    for (size_t trial = 0; trial < 200; trial++) {
        struct entry entries[MANY], spare[MANY], expected[MANY];
        const size_t n = trial < 3 ? trial : (size_t)random_below(&random, MANY);
        for (size_t i = 0; i < n; i++)
            entries[i] = expected[i] =
                (struct entry){.row = (uint32_t)random_below(&random, widest[trial % 4]), .y = 1};
        qsort(expected, n, sizeof *expected, compare_entries);
        sort_by_row(entries, n, spare);
        for (size_t i = 0; i < n; i++) assert_int_equal(entries[i].row, expected[i].row);
    }
}

static void test_one_rating_a_row(void **state) {
    (void)state;
    struct entry twice[] = {{.row = 2, .y = 1},  {.row = 2, .y = -2}, {.row = 2, .y = 0},
                            {.row = 5, .y = -1}, {.row = 5, .y = 2},  {.row = 9, .y = 0}};
    assert_int_equal(keep_one_each(twice, 6), 3);
    assert_true(twice[0].row == 2 && twice[0].y == -2);
    assert_true(twice[1].row == 5 && twice[1].y == -1);
    assert_true(twice[2].row == 9 && twice[2].y == 0);
    assert_int_equal(keep_one_each(twice, 0), 0);
}

static void test_ids_of_digits(void **state) {
    (void)state;
    static const char digits[] = "0123456789";
    assert_true(is_of_digits(digits, strlen(digits)));
    assert_false(is_of_digits("1/", 2) || is_of_digits("1:", 2) || is_of_digits("a1", 2));
}

static void test_orders(void **state) {
    (void)state;
    const struct entry low = {.row = 1, .y = -1, .coin = 7}, high = {.row = 1, .y = 1, .coin = 7},
                       next = {.row = 2, .y = 0, .coin = 7}, last = {.row = 0, .y = 0, .coin = 8};
    assert_true(compare_entries(&low, &high) < 0 && compare_entries(&high, &low) > 0);
    assert_int_equal(compare_entries(&low, &low), 0);
    assert_true(compare_entries(&high, &next) < 0 && compare_entries(&next, &high) > 0);
    /* Of two that have the same coin, the first row: the same in every run. */
    assert_true(compare_coins(&low, &next) < 0 && compare_coins(&next, &low) > 0);
    assert_int_equal(compare_coins(&low, &high), 0);
    assert_true(compare_coins(&low, &last) < 0 && compare_coins(&last, &low) > 0);
}

/* ---- a block of a store ---------------------------------------------------------------------- */

enum { ITEMS = 4, RATINGS = 6 };

struct made {
    struct private_ratings_options options;
    struct private_ratings_report report;
    struct catalogue catalogue;
    struct private_ratings ratings;
    uint32_t row_of_item[ITEMS];
    bool is_rated[ITEMS];
    struct builder builder;
};

static void make(struct made *made) {
    *made = (struct made){
        .options = {.range_min = 1, .range_max = 5, .epsilon = 1, .delta = 1e-5, .threads = 1},
        .row_of_item = {2, 0, no_row, 1}};
    static const char *const names[] = {"a", "b", "c"};
    struct id_gather gather = {0};
    for (int i = 0; i < 3; i++) assert_int_equal(id_gather_add(&gather, names[i], 1, NULL), i);
    assert_int_equal(id_gather_finish(&gather, &made->catalogue.ids, NULL), 0);
    made->options.catalogue = &made->catalogue;
    made->builder = (struct builder){.options = &made->options,
                                     .ratings = &made->ratings,
                                     .report = &made->report,
                                     .row_of_item = made->row_of_item,
                                     .is_rated = made->is_rated};
}

static void free_packing(struct packing *packing) {
    free(packing->heads);
    free(packing->entries);
}

/* One rating below the range, one above, one of no item of the catalogue, one row twice. */
static void test_what_counts(void **state) {
    (void)state;
    struct made made;
    struct packing packing = {0};
    static const uint64_t start[] = {0, RATINGS}, id_start[] = {0, 1};
    static const uint32_t item[] = {0, 1, 0, 2, 3, 1};
    static const double value[] = {5, 0.5, 1, 3, 5.5, 4};
    const struct store_block block = {.n_users = 1,
                                      .n_ratings = RATINGS,
                                      .start = start,
                                      .item = item,
                                      .value = value,
                                      .id_bytes = "u",
                                      .id_start = id_start};
    make(&made);
    assert_int_equal(pack_users(&made.builder, 0, &block, &packing, NULL), 0);
    assert_int_equal(packing.n_users, 1);
    assert_int_equal(packing.n_ratings, 2);
    assert_true(packing.entries[0].row == 0 && packing.entries[0].y == 1);
    assert_true(packing.entries[1].row == 2 && packing.entries[1].y == -2); /* the least of two */
    assert_int_equal(packing.counts.out_of_range, 2);
    assert_int_equal(packing.counts.not_in_catalogue, 1);
    /* 5, 1 and 4, of 1 to 5: the ends belong to the first and the last part. */
    for (int part = 0; part < RANGE_PARTS; part++)
        assert_int_equal(packing.counts.in_part[part], part == 0 || part == 15 || part == 19);
    free_packing(&packing);
    catalogue_free(&made.catalogue);
}

/* Room for the ratings of a block and of one user more: beyond 64 bits it is refused. */
static void test_no_room(void **state) {
    (void)state;
    struct made made;
    struct packing packing = {0};
    static const uint64_t start[] = {0, 2}, id_start[] = {0, 1};
    const struct store_block block = {.n_users = 1,
                                      .n_ratings = UINT64_MAX,
                                      .start = start,
                                      .id_bytes = "u",
                                      .id_start = id_start};
    make(&made);
    assert_int_equal(pack_users(&made.builder, 0, &block, &packing, NULL), DPMF_ERR_BASE_NO_MEMORY);
    free_packing(&packing);
    catalogue_free(&made.catalogue);
}

/* Who has an id that no list of wishes can name, is left out. */
static void test_nameless(void **state) {
    (void)state;
    static const char marked[] = "\xEF\xBB\xBF-";
    static const char *const nameless[] = {"a\nb", "a\rb", "a\0b", marked};
    static const size_t length[] = {3, 3, 3, 4};
    for (size_t i = 0; i < sizeof length / sizeof length[0]; i++)
        assert_true(is_nameless(nameless[i], length[i]));
    assert_false(is_nameless("ann", 3) || is_nameless("a b", 3) || is_nameless("", 0));
}

/* A wish so small that no share of the budget is left of it is one for nothing. */
static void test_wishes_below_all_numbers(void **state) {
    (void)state;
    struct made made;
    double epsilon[] = {5e-324, 1e-300, 0.5, 0, 2};
    const struct user_wishes wishes = {.ids = {.n = 5}, .epsilon = epsilon};
    make(&made);
    made.options.wishes = &wishes;
    made.options.delta = 0; /* shares are those of epsilon then */
    assert_int_equal(scale_wishes(&made.builder, NULL), 0);
    assert_true(made.builder.wish_scale[0] == 0 && made.builder.wish_scale[3] == 0);
    assert_true(made.builder.wish_scale[1] > 0 && made.builder.wish_scale[1] < 1e-299);
    assert_true(made.builder.wish_scale[2] == nextafter(0.5, 0));
    assert_true(made.builder.wish_scale[4] == 1);
    free(made.builder.wish_scale);
    catalogue_free(&made.catalogue);
}

/* Of too many ratings those with the smallest coins are kept, in the order of their rows. */
static void test_trimmed(void **state) {
    (void)state;
    enum { ALL = 6, MOST = 2 };
    struct made made;
    struct packing packing = {0};
    struct entry entries[ALL];
    struct secure_random coins;
    static const uint64_t id_start[] = {0, 3};
    const struct store_block block = {.n_users = 1, .id_bytes = "ann", .id_start = id_start};
    make(&made);
    secure_random_init_insecure(&coins, 3);
    made.options.coins = &coins;
    made.options.max_ratings = MOST;
    for (uint32_t i = 0; i < ALL; i++) entries[i] = (struct entry){.row = i, .y = 1};
    assert_int_equal(trim(&made.builder, &block, 0, entries, MOST, &packing), MOST);
    assert_int_equal(packing.counts.trimmed, 0);
    assert_int_equal(trim(&made.builder, &block, 0, entries, ALL, &packing), MOST);
    assert_int_equal(packing.counts.trimmed, ALL - MOST);
    assert_true(entries[0].row < entries[1].row);
    for (size_t kept = 0; kept < MOST; kept++)
        for (size_t i = MOST; i < ALL; i++) assert_true(entries[kept].coin < entries[i].coin);
    catalogue_free(&made.catalogue);
}

/* Without times nobody's first record is known, and nobody is taken for new. */
static void test_cohort_without_times(void **state) {
    (void)state;
    struct made made;
    struct packing packing = {0};
    static const uint64_t start[] = {0, 1, 2};
    static const int64_t at[] = {0, 5 * 86400};
    const struct cohort cohort = {.is_declared = true, .has_since = true, .since = 3};
    struct store_block block = {.n_users = 1, .n_ratings = 1, .start = start};
    make(&made);
    assert_true(is_in_cohort(&made.builder, &block, 0, &packing)); /* all are where none is */
    made.options.cohort = &cohort;
    assert_false(is_in_cohort(&made.builder, &block, 0, &packing));
    assert_int_equal(packing.counts.users_without_time, 1);
    block.time = at;
    assert_false(is_in_cohort(&made.builder, &block, 0, &packing));
    assert_int_equal(packing.counts.users_of_other_periods, 1);
    block.time = at + 1;
    assert_true(is_in_cohort(&made.builder, &block, 0, &packing));
    assert_int_equal(packing.counts.users_without_time, 1);
    assert_int_equal(packing.counts.users_of_other_periods, 1);
    assert_int_equal(packing.counts.firsts, 3);
    assert_int_equal(packing.counts.doubtful_firsts, 2);
    catalogue_free(&made.catalogue);
}

/* A file that cannot be written to, as on a full disk: nothing of the block is kept. */
static void test_no_disk(void **state) {
    (void)state;
    struct made made;
    struct dpmf_error error = {0};
    struct head heads[] = {{1, 1, 0}};
    struct entry entries[] = {{.row = 1, .y = 2}};
    struct packing packing = {.heads = heads, .entries = entries, .n_users = 1, .n_ratings = 1};
    make(&made);
    made.ratings.on_disk = true;
    made.ratings.file = open("/dev/null", O_RDONLY);
    assert_true(made.ratings.file >= 0);
    assert_true(keep_packed(&made.builder, &packing, &error) < 0);
    assert_int_equal(error.code, DPMF_ERR_IO_WRITE);
    assert_int_equal(made.ratings.n_blocks, 0);
    close(made.ratings.file);
    free(made.ratings.blocks);
    catalogue_free(&made.catalogue);
}

/* A store with sound checksums that has someone twice: with two contributions the statement would
 * be false. */
static void test_user_twice(void **state) {
    (void)state;
    static const char *const users[][3] = {{"ann", "bob", "ann"}, {"ann", "bob", "ann "}};
    static const int codes[] = {DPMF_ERR_STORE_CORRUPT, 0};
    for (int i = 0; i < 2; i++) {
        struct temp_dir directory;
        struct triples triples = {0};
        struct made made;
        struct dpmf_store *store;
        struct private_ratings *ratings;
        struct dpmf_error error = {0};
        char path[TEMP_PATH_MAX];
        temp_dir_make(&directory);
        temp_dir_file(&directory, "twice.dpr", path);
        for (int u = 0; u < 3; u++)
            triples_add(&triples, triple_make(users[i][u], "a", u + 1, STORE_NO_TIME));
        triples_write(&triples, false, false, path);
        free(triples.at);
        assert_int_equal(dpmf_store_open(path, NULL, NULL, &store, NULL), 0);
        make(&made);
        assert_int_equal(
            private_ratings_build(store, &made.options, NULL, &ratings, &made.report, &error),
            codes[i]);
        assert_true((ratings == NULL) == (codes[i] < 0));
        if (codes[i] < 0)
            assert_string_equal(error.message, "the store holds the id of a user twice");
        private_ratings_free(ratings);
        catalogue_free(&made.catalogue);
        dpmf_store_close(store);
        temp_dir_remove(&directory);
    }
}

/* ---- visits ---------------------------------------------------------------------------------- */

static int count_user(void *self, int worker, const struct private_user *user,
                      struct dpmf_error *error) {
    (void)worker, (void)error;
    assert_int_equal(user->n, 1);
    ++*(int *)self;
    return 0;
}

/* A user with one rating, in a nameless file. */
static void pack_on_disk(struct made *made) {
    struct head heads[] = {{1, 1, 0}};
    struct entry entries[] = {{.row = 1, .y = 2}};
    struct packing packing = {
        .heads = heads, .entries = entries, .n_users = 1, .n_ratings = 1, .longest = 1};
    made->ratings.on_disk = true;
    assert_int_equal(output_file_nameless("x", &made->ratings.file, NULL), 0);
    assert_int_equal(keep_packed(&made->builder, &packing, NULL), 0);
    assert_int_equal(made->ratings.n_blocks, 1);
}

static void test_visits_that_fail(void **state) {
    (void)state;
    struct made made;
    struct thread_pool *pool;
    struct dpmf_error error = {0};
    int n_users = 0;
    const struct private_visit visit = {.visit = count_user, .self = &n_users};
    make(&made);
    pack_on_disk(&made);
    assert_int_equal(thread_pool_init(&pool, 1, NULL), 0);
    assert_int_equal(private_ratings_visit(&made.ratings, pool, &visit, &error), 0);
    assert_int_equal(n_users, 1);

    const size_t largest = made.ratings.largest;
    made.ratings.largest = SIZE_MAX; /* no buffer for a block */
    assert_int_equal(private_ratings_visit(&made.ratings, pool, &visit, &error),
                     DPMF_ERR_BASE_NO_MEMORY);
    made.ratings.largest = largest;

    made.ratings.blocks[0].offset = 1 << 20; /* a file that ends early */
    assert_true(private_ratings_visit(&made.ratings, pool, &visit, &error) < 0);
    assert_true(private_ratings_visit(&made.ratings, pool, &visit, NULL) < 0);
    assert_int_equal(n_users, 1);
    thread_pool_free(pool);
    free(made.ratings.blocks);
    close(made.ratings.file);
    catalogue_free(&made.catalogue);
}

/* The failure that came first is the one that is reported. */
static void test_first_failure_is_kept(void **state) {
    (void)state;
    struct visiting visiting = {0};
    struct dpmf_error first = {0}, second = {0};
    error_set(&first, DPMF_ERR_BASE_CANCELLED, "first");
    error_set(&second, DPMF_ERR_BASE_BUG, "second");
    (fail)(&visiting, first.code, &first);
    (fail)(&visiting, second.code, &second);
    assert_int_equal(atomic_load(&visiting.code), DPMF_ERR_BASE_CANCELLED);
    assert_string_equal(visiting.error.message, "first");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sorted_by_row),    cmocka_unit_test(test_one_rating_a_row),
        cmocka_unit_test(test_ids_of_digits),    cmocka_unit_test(test_orders),
        cmocka_unit_test(test_what_counts),      cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_nameless),         cmocka_unit_test(test_wishes_below_all_numbers),
        cmocka_unit_test(test_trimmed),          cmocka_unit_test(test_cohort_without_times),
        cmocka_unit_test(test_no_disk),          cmocka_unit_test(test_user_twice),
        cmocka_unit_test(test_visits_that_fail), cmocka_unit_test(test_first_failure_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
