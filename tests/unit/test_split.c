/*
 * split: the two sides are a partition of the ratings, to the bit; the fraction is right; a
 * rating's side depends on its ids and the seed and on nothing else; each way to split does what it
 * says; and nothing is left behind when it fails.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "random/random.h"
#include "split/probe_file.h"
#include "split/split_coin.h"
#include "split/time_cut.h"
#include "store_triples.h"
#include "temp_dir.h"

static struct temp_dir directory;
static char path[TEMP_PATH_MAX], train_path[TEMP_PATH_MAX], test_path[TEMP_PATH_MAX],
    probe_path[TEMP_PATH_MAX];
static struct triples all, train, test;

static int make_directory(void **state) {
    (void)state;
    temp_dir_make(&directory);
    temp_dir_file(&directory, "x.dpr", path);
    temp_dir_file(&directory, "train.dpr", train_path);
    temp_dir_file(&directory, "test.dpr", test_path);
    temp_dir_file(&directory, "probe.txt", probe_path);
    all.n = train.n = test.n = 0;
    return 0;
}

static int remove_directory(void **state) {
    (void)state;
    temp_dir_remove(&directory);
    free(all.at);
    free(train.at);
    free(test.at);
    memset(&all, 0, sizeof all);
    memset(&train, 0, sizeof train);
    memset(&test, 0, sizeof test);
    return 0;
}

/* `n_times` distinct times; 0: none at all. */
static void make_ratings(int users, int items, int per_user, uint64_t n_times) {
    struct random_stream random;
    random_stream_init(&random, 3, 1, 0);
    for (int u = 0; u < users; u++) {
        uint64_t gap = (uint64_t)(2 * items / per_user);
        for (int i = u % 7; i < items; i += 1 + (int)random_below(&random, gap)) {
            char user[24], item[24];
            snprintf(user, sizeof user, "user %d", u);
            snprintf(item, sizeof item, "%d", i);
            int64_t time = STORE_NO_TIME;
            if (n_times > 0 && random_below(&random, 20) > 0)
                time = (int64_t)random_below(&random, n_times) * 1000 - 5000;
            triples_add(&all, triple_make(user, item, random_gaussian(&random), time));
        }
    }
    triples_sort(&all);
}

static struct dpmf_split_report split(const char *from, const struct dpmf_split_options *options,
                                      int threads) {
    struct dpmf_run run = dpmf_run_default();
    run.threads = threads;
    struct dpmf_store *store;
    struct dpmf_split_report report;
    struct dpmf_error error = {0};
    assert_int_equal(store_open_file(from, &store, NULL), 0);
    int code = dpmf_store_split(store, train_path, test_path, options, &run, &report, &error);
    if (code != 0) print_error("%s\n", error.message);
    assert_int_equal(code, 0);
    dpmf_store_close(store);
    triples_of_file(train_path, &train);
    triples_of_file(test_path, &test);
    triples_sort(&train);
    triples_sort(&test);
    return report;
}

/* What dpmf_store_check_apart says of two files. */
static int check_apart(const char *learnt, const char *tested) {
    struct dpmf_store *a = NULL, *b = NULL;
    assert_int_equal(store_open_file(learnt, &a, NULL), 0);
    assert_int_equal(store_open_file(tested, &b, NULL), 0);
    int code = dpmf_store_check_apart(a, b, NULL);
    dpmf_store_close(a);
    dpmf_store_close(b);
    return code;
}

/* Files of two splits are told apart, whichever way they were made; a split of a half works, and is
 * apart from the first test set too. */
static void halves_of_two_splits_are_told_apart(void **state) {
    (void)state;
    static const enum dpmf_split_by ways[] = {DPMF_SPLIT_RANDOM, DPMF_SPLIT_USER, DPMF_SPLIT_TIME,
                                              DPMF_SPLIT_PROBE};
    static const char *const probes[] = {"0:\nuser 0\nuser 7\n", "0:\nuser 0\nuser 14\n"};
    char halves[2][2][TEMP_PATH_MAX], again[2][TEMP_PATH_MAX];
    make_ratings(300, 60, 20, 50);
    triples_write(&all, true, false, path);
    for (int i = 0; i < 4; i++) {
        const char name[] = {(char)('a' + i), '\0'};
        temp_dir_file(&directory, name, halves[i / 2][i % 2]);
    }
    temp_dir_file(&directory, "again train", again[0]);
    temp_dir_file(&directory, "again test", again[1]);
    for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++) {
        struct dpmf_split_options options = dpmf_split_options_default();
        options.by = ways[w];
        options.probe = probe_path;
        for (int i = 0; i < 2; i++) {
            options.seed = (uint64_t)i + 1;
            if (ways[w] == DPMF_SPLIT_TIME) options.test_fraction = i ? 0.3 : 0.1;
            FILE *probe = fopen(probe_path, "w");
            assert_non_null(probe);
            fputs(probes[i], probe);
            fclose(probe);
            split(path, &options, 1 + 2 * i);
            assert_int_equal(rename(train_path, halves[i][0]), 0);
            assert_int_equal(rename(test_path, halves[i][1]), 0);
        }
        for (int i = 0; i < 2; i++) {
            assert_int_equal(check_apart(halves[i][0], halves[i][1]), 0);
            assert_int_equal(check_apart(halves[i][1], halves[i][0]), 0);
            assert_int_equal(check_apart(path, halves[i][1]), 0); /* nothing is known of it */
            assert_int_equal(check_apart(halves[i][0], halves[!i][1]), DPMF_ERR_USAGE_CONFLICT);
            assert_int_equal(check_apart(halves[i][0], halves[!i][0]), DPMF_ERR_USAGE_CONFLICT);
        }
        options = dpmf_split_options_default();
        options.seed = 5;
        split(halves[0][0], &options, 2);
        assert_int_equal(rename(train_path, again[0]), 0);
        assert_int_equal(rename(test_path, again[1]), 0);
        assert_int_equal(check_apart(again[0], again[1]), 0);
        assert_int_equal(check_apart(again[0], halves[0][1]), 0);
        assert_int_equal(check_apart(again[1], halves[0][1]), 0);
        assert_int_equal(check_apart(again[0], halves[1][1]), DPMF_ERR_USAGE_CONFLICT);
        assert_int_equal(check_apart(halves[0][0], again[1]), DPMF_ERR_USAGE_CONFLICT);
    }
}

/* Coins follow from ids and the seed: what a split has left would be split by the same seed as if
 * another share had been asked for. */
static void the_seed_of_an_earlier_split_is_refused(void **state) {
    (void)state;
    static const enum dpmf_split_by ways[] = {DPMF_SPLIT_RANDOM, DPMF_SPLIT_USER};
    make_ratings(2000, 60, 20, 0);
    triples_write(&all, false, false, path);
    char half[TEMP_PATH_MAX];
    temp_dir_file(&directory, "half", half);
    for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++) {
        struct dpmf_split_options options = dpmf_split_options_default();
        struct dpmf_store *store = NULL;
        struct dpmf_error error = {0};
        options.by = ways[w];
        options.test_fraction = 0.3;
        split(path, &options, 2);
        assert_int_equal(rename(train_path, half), 0);
        assert_int_equal(store_open_file(half, &store, NULL), 0);
        options.test_fraction = 0.5;
        remove(test_path);
        assert_int_equal(
            dpmf_store_split(store, train_path, test_path, &options, NULL, NULL, &error),
            DPMF_ERR_RATINGS_NONE_LEFT);
        assert_non_null(strstr(error.message, "and not 50 %"));
        assert_int_not_equal(access(train_path, F_OK), 0);
        assert_int_not_equal(access(test_path, F_OK), 0);
        dpmf_store_close(store);
        options.seed = 2;
        split(half, &options, 2);
        assert_true(fabs((double)test.n / (double)(test.n + train.n) - 0.5) < 0.06);
    }
}

static size_t count_ids(const struct triples *t, bool users) {
    size_t n = 0;
    struct triples sorted = {0};
    for (size_t i = 0; i < t->n; i++) {
        struct triple x = t->at[i];
        if (!users) {
            memcpy(x.user, x.item, TRIPLE_ID_MAX);
            x.user_length = x.item_length;
        }
        memset(x.item, 0, sizeof x.item);
        x.item_length = 0;
        triples_add(&sorted, x);
    }
    triples_sort(&sorted);
    for (size_t i = 0; i < sorted.n; i++)
        n += i == 0 || triple_compare_ids(&sorted.at[i], &sorted.at[i - 1]) != 0;
    free(sorted.at);
    return n;
}

/* Together the sides are all, and the report and the stores' heads are right. */
static void check_partition(const struct dpmf_split_report *report) {
    struct triples both = {0};
    for (size_t i = 0; i < train.n; i++) triples_add(&both, train.at[i]);
    for (size_t i = 0; i < test.n; i++) triples_add(&both, test.at[i]);
    triples_sort(&both);
    triples_assert_equal(&both, &all);
    free(both.at);
    assert_int_equal(report->train_ratings, train.n);
    assert_int_equal(report->test_ratings, test.n);
    assert_int_equal(report->train_users, count_ids(&train, true));
    assert_int_equal(report->test_users, count_ids(&test, true));
    assert_int_equal(report->train_items, count_ids(&train, false));
    assert_int_equal(report->test_items, count_ids(&test, false));
    const char *paths[] = {train_path, test_path};
    for (int side = 0; side < 2; side++) {
        struct dpmf_store *store;
        struct stat status;
        assert_int_equal(stat(paths[side], &status), 0);
        assert_int_equal(status.st_mode & 0777, 0600);
        assert_int_equal(store_open_file(paths[side], &store, NULL), 0);
        assert_int_equal(store_n_users(store), side ? report->test_users : report->train_users);
        assert_int_equal(store_n_items(store), side ? report->test_items : report->train_items);
        /* Full blocks again: no more of them than there must be. */
        assert_int_equal(store_n_blocks(store),
                         (store_n_users(store) + STORE_BLOCK_USERS - 1) / STORE_BLOCK_USERS);
        for (uint64_t j = 0; j < store_n_items(store); j++)
            assert_true(store_item_at(store, j).n_ratings > 0);
        dpmf_store_close(store);
    }
}

static void copy_triples(const struct triples *from, struct triples *to) {
    to->n = 0;
    for (size_t i = 0; i < from->n; i++) triples_add(to, from->at[i]);
}

static void test_random(void **state) {
    (void)state;
    make_ratings(3000, 100, 20, 50);
    triples_write(&all, true, false, path);
    struct dpmf_split_options options = dpmf_split_options_default();
    for (double fraction = 0.02; fraction < 1; fraction += 0.24) {
        options.test_fraction = fraction;
        struct dpmf_split_report report = split(path, &options, 2);
        check_partition(&report);
        double sd = sqrt(fraction * (1 - fraction) / (double)all.n);
        assert_true(fabs((double)test.n / (double)all.n - fraction) < 5 * sd);
    }
}

/* Items numbered backwards, some users gone, other threads: a rating's side stays. */
static void test_order_independence(void **state) {
    (void)state;
    static const enum dpmf_split_by ways[] = {DPMF_SPLIT_RANDOM, DPMF_SPLIT_USER, DPMF_SPLIT_TIME};
    make_ratings(2500, 60, 10, 40);
    for (size_t w = 0; w < 3; w++) {
        struct triples test_before = {0}, train_before = {0};
        struct dpmf_split_options options = dpmf_split_options_default();
        options.by = ways[w];
        options.test_fraction = 0.25;
        triples_write(&all, true, false, path);
        split(path, &options, 1);
        copy_triples(&test, &test_before);
        copy_triples(&train, &train_before);
        triples_write(&all, true, true, path);
        for (int threads = 1; threads <= 4; threads++) {
            split(path, &options, threads);
            triples_assert_equal(&test, &test_before);
            triples_assert_equal(&train, &train_before);
        }
        options.seed = 2;
        split(path, &options, 2);
        assert_true(test.n != test_before.n ||
                    memcmp(test.at, test_before.at, test.n * sizeof *test.at) != 0);
        free(test_before.at);
        free(train_before.at);
    }
}

/* Ratings under other names are split alike, when the coins go by numbers. */
static void test_by_number(void **state) {
    (void)state;
    struct dpmf_split_options options = dpmf_split_options_default();
    double sums[2][2] = {{0}};
    for (int by_number = 0; by_number < 2; by_number++) {
        options.by_number = by_number;
        for (int renamed = 0; renamed < 2; renamed++) {
            all.n = 0;
            make_ratings(600, 80, 10, 0);
            for (size_t i = 0; renamed && i < all.n; i++) {
                all.at[i].user[0] = 'U';
                memmove(all.at[i].item + 1, all.at[i].item, all.at[i].item_length++);
                all.at[i].item[0] = 'i';
            }
            triples_write(&all, false, false, path);
            struct dpmf_split_report report = split(path, &options, 2);
            check_partition(&report);
            for (size_t i = 0; i < test.n; i++) sums[by_number][renamed] += test.at[i].value;
        }
    }
    assert_true(sums[0][0] != sums[0][1]);
    assert_true(fabs(sums[1][0] - sums[1][1]) < 1e-9);
    options.by = DPMF_SPLIT_USER;
    struct dpmf_store *store;
    assert_int_equal(store_open_file(path, &store, NULL), 0);
    assert_int_equal(dpmf_store_split(store, train_path, test_path, &options, NULL, NULL, NULL),
                     DPMF_ERR_USAGE_VALUE);
    dpmf_store_close(store);
}

static void test_by_user(void **state) {
    (void)state;
    make_ratings(4000, 100, 10, 0);
    triples_write(&all, false, false, path);
    struct dpmf_split_options options = dpmf_split_options_default();
    options.by = DPMF_SPLIT_USER;
    options.test_fraction = 0.3;
    struct dpmf_split_report report = split(path, &options, 2);
    check_partition(&report);
    assert_int_equal(report.train_users + report.test_users, 4000);
    assert_true(fabs((double)report.test_users / 4000 - 0.3) < 5 * sqrt(0.3 * 0.7 / 4000));
}

static void check_by_time(double fraction) {
    struct dpmf_split_options options = dpmf_split_options_default();
    options.by = DPMF_SPLIT_TIME;
    options.test_fraction = fraction;
    struct dpmf_split_report report = split(path, &options, 2);
    check_partition(&report);
    double timed = 0;
    for (size_t i = 0; i < all.n; i++) timed += all.at[i].time != STORE_NO_TIME;
    double wanted = fmin(timed, fmax(1, round(fraction * (double)all.n)));
    assert_true(fabs((double)test.n - wanted) <= 1);
    int64_t first = INT64_MAX;
    for (size_t i = 0; i < test.n; i++) {
        assert_true(test.at[i].time != STORE_NO_TIME);
        if (test.at[i].time < first) first = test.at[i].time;
    }
    assert_int_equal(report.cut_time, first);
    for (size_t i = 0; i < train.n; i++) assert_true(train.at[i].time <= first);
}

static void test_by_time(void **state) {
    (void)state;
    static const uint64_t times[] = {1, 3, 100, 1000000, UINT64_C(1) << 52};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        all.n = 0;
        make_ratings(1500, 80, 10, times[i]);
        triples_write(&all, true, false, path);
        check_by_time(0.1);
        check_by_time(0.5);
        check_by_time(1e-9);
        check_by_time(0.99); /* more than have a time */
    }
}

/* When next to nothing may be collected, the cut is narrowed down by time and then by coin, and is
 * the same. */
static void test_ties(void **state) {
    (void)state;
    static const uint64_t times[] = {1, 2, 100000, UINT64_C(1) << 52};
    static const double fractions[] = {0.001, 0.2, 0.7};
    for (size_t i = 0; i < 4; i++) {
        all.n = 0;
        make_ratings(1200, 80, 10, times[i]);
        triples_write(&all, true, false, path);
        struct dpmf_store *store;
        assert_int_equal(store_open_file(path, &store, NULL), 0);
        uint64_t *item_hash = split_coin_items(store, 9);
        assert_non_null(item_hash);
        for (size_t f = 0; f < 3; f++) {
            struct time_cut collected, narrowed;
            assert_int_equal(time_cut_find(store, fractions[f], 9, item_hash, TIME_CUT_COLLECT,
                                           NULL, &collected, NULL),
                             0);
            assert_int_equal(
                time_cut_find(store, fractions[f], 9, item_hash, 2, NULL, &narrowed, NULL), 0);
            assert_int_equal(collected.time, narrowed.time);
            assert_int_equal(collected.coin, narrowed.coin);
        }
        free(item_hash);
        dpmf_store_close(store);
    }
}

static void test_no_times(void **state) {
    (void)state;
    struct dpmf_error error;
    struct dpmf_split_options options = dpmf_split_options_default();
    options.by = DPMF_SPLIT_TIME;
    make_ratings(50, 10, 3, 0);
    for (int has_times = 0; has_times < 2; has_times++) {
        struct dpmf_store *store;
        triples_write(&all, has_times, false, path);
        assert_int_equal(store_open_file(path, &store, NULL), 0);
        assert_int_equal(
            dpmf_store_split(store, train_path, test_path, &options, NULL, NULL, &error),
            DPMF_ERR_RATINGS_NO_TIMES);
        assert_true(error.hint[0]);
        dpmf_store_close(store);
    }
    assert_int_equal(temp_dir_count(&directory), 1);
}

/* ---- the probe file -------------------------------------------------------------------------- */

static void test_probe(void **state) {
    (void)state;
    make_ratings(2000, 50, 10, 5);
    triples_write(&all, true, false, path);
    struct triples wanted = {0};
    FILE *probe = fopen(probe_path, "wb");
    assert_non_null(probe);
    for (int item = 49; item >= 0; item--) {
        char id[16];
        snprintf(id, sizeof id, "%d", item);
        fprintf(probe, "%d:%s\n", item, item % 2 ? "\r" : " ");
        for (size_t i = (size_t)item; i < all.n; i += 97) {
            if (strcmp(all.at[i].item, id) != 0) continue;
            triples_add(&wanted, all.at[i]);
            fprintf(probe, "%s%s\n", all.at[i].user, i % 3 ? "" : ",3,2005-01-01");
            if (i % 5 == 0) fprintf(probe, "%s\n", all.at[i].user); /* again */
        }
    }
    fprintf(probe, "no such item:\nuser 1\nuser 2\nuser 2\n3:\nno such user");
    fclose(probe);
    triples_sort(&wanted);
    struct dpmf_split_options options = dpmf_split_options_default();
    options.by = DPMF_SPLIT_PROBE;
    options.probe = probe_path;
    for (int threads = 1; threads < 4; threads++) {
        struct dpmf_split_report report = split(path, &options, threads);
        check_partition(&report);
        triples_assert_equal(&test, &wanted);
        assert_int_equal(report.probe_missing, 3);
    }
    free(wanted.at);
}

static int parse_probe(const char *text, size_t n, struct dpmf_error *error) {
    struct probe_file *probe;
    assert_int_equal(probe_file_init(&probe, NULL), 0);
    int code = probe_file_feed(probe, "p", text, n, error);
    if (code == 0) code = probe_file_end(probe, "p", error);
    probe_file_free(probe);
    return code;
}

static void test_bad_probe(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int code, line, column;
    } bad[] = {
        {"", DPMF_ERR_INPUT_EMPTY, 0, 0},         {"\n\n", DPMF_ERR_INPUT_EMPTY, 0, 0},
        {"1:\n2:\n", DPMF_ERR_INPUT_EMPTY, 0, 0}, {"5\n", DPMF_ERR_INPUT_HEADER, 1, 1},
        {"\n  5,4", DPMF_ERR_INPUT_HEADER, 2, 3}, {"1:\n5\n,4\n", DPMF_ERR_INPUT_ID, 3, 1},
        {"1:\n5\n :\n", DPMF_ERR_INPUT_ID, 3, 2},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct dpmf_error error = {0};
        assert_int_equal(parse_probe(bad[i].text, strlen(bad[i].text), &error), bad[i].code);
        assert_int_equal(error.line, bad[i].line);
        assert_int_equal(error.column, bad[i].column);
    }
    size_t n = 200000;
    char *text = malloc(n);
    assert_non_null(text);
    memset(text, 'x', n);
    memcpy(text, "1:\n", 3);
    struct dpmf_error error;
    assert_int_equal(parse_probe(text, n, &error), DPMF_ERR_INPUT_LINE_TOO_LONG);
    assert_int_equal(error.line, 2);
    text[3 + STORE_ID_MAX + 1] = '\n';
    assert_int_equal(parse_probe(text, 3 + STORE_ID_MAX + 1, &error), DPMF_ERR_INPUT_ID_TOO_LONG);
    assert_int_equal(parse_probe(text, 3 + STORE_ID_MAX, &error), 0);
    text[10] = ','; /* what follows a comma may be of any length */
    assert_int_equal(parse_probe(text, n, &error), DPMF_ERR_INPUT_LINE_TOO_LONG); /* line 3 */
    assert_int_equal(error.line, 3);
    text[3 + STORE_ID_MAX + 1] = 'x';
    assert_int_equal(parse_probe(text, n, &error), 0);
    free(text);
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void test_refused(void **state) {
    (void)state;
    struct dpmf_store *store;
    struct dpmf_error error;
    struct dpmf_split_options options = dpmf_split_options_default();
    make_ratings(20, 10, 3, 0);
    triples_write(&all, false, false, path);
    assert_int_equal(store_open_file(path, &store, NULL), 0);
    assert_int_equal(dpmf_store_split(store, train_path, train_path, &options, NULL, NULL, &error),
                     DPMF_ERR_USAGE_CONFLICT);
    static const double fractions[] = {0, 1, -0.5, 2, NAN};
    for (int i = 0; i < 5; i++) {
        options.test_fraction = fractions[i];
        assert_int_equal(
            dpmf_store_split(store, train_path, test_path, &options, NULL, NULL, &error),
            DPMF_ERR_USAGE_VALUE);
    }
    options.test_fraction = 1e-12;
    assert_int_equal(dpmf_store_split(store, train_path, test_path, &options, NULL, NULL, &error),
                     DPMF_ERR_RATINGS_NONE_LEFT);
    assert_non_null(strstr(error.message, "test set"));
    options.test_fraction = 1 - 1e-12;
    assert_int_equal(dpmf_store_split(store, train_path, test_path, &options, NULL, NULL, NULL),
                     DPMF_ERR_RATINGS_NONE_LEFT);
    options = dpmf_split_options_default();
    options.by = DPMF_SPLIT_PROBE;
    assert_int_equal(dpmf_store_split(store, train_path, test_path, &options, NULL, NULL, &error),
                     DPMF_ERR_USAGE_VALUE);
    options.probe = "/no/such/probe";
    assert_int_equal(dpmf_store_split(store, train_path, test_path, &options, NULL, NULL, &error),
                     DPMF_ERR_IO_MISSING);
    temp_dir_write(probe_path, "x:\ny\n", 5);
    options.probe = probe_path;
    assert_int_equal(dpmf_store_split(store, train_path, test_path, &options, NULL, NULL, &error),
                     DPMF_ERR_RATINGS_NONE_LEFT);
    options = dpmf_split_options_default();
    assert_true(dpmf_store_split(store, train_path, "/no/such/place/t.dpr", &options, NULL, NULL,
                                 &error) < 0);
    assert_int_equal(temp_dir_count(&directory), 2);
    dpmf_store_close(store);
}

int main(void) {
#define TEST(function) cmocka_unit_test_setup_teardown(function, make_directory, remove_directory)
    const struct CMUnitTest tests[] = {
        TEST(halves_of_two_splits_are_told_apart),
        TEST(the_seed_of_an_earlier_split_is_refused),
        TEST(test_random),
        TEST(test_order_independence),
        TEST(test_by_number),
        TEST(test_by_user),
        TEST(test_by_time),
        TEST(test_ties),
        TEST(test_no_times),
        TEST(test_probe),
        TEST(test_bad_probe),
        TEST(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
