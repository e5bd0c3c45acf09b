/*
 * Events, from their inputs to a store: what is taken for events and what is refused, counts that
 * add up whatever their order, events of ratings, and what may not be mixed.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <math.h>

#include "base/bytes.h"
#include "base/checksum.h"
#include "own_directory.h"
#include "read_text.h"
#include "store/rating_sorter.h"
#include "store/store_format.h"

/* ---- texts ------------------------------------------------------------------------------------
 */

static struct dpmf_input_options with(const char *format, const char *columns, bool events) {
    struct dpmf_input_options options = dpmf_input_options_default();
    options.format = format;
    options.columns = columns;
    options.events = events;
    return options;
}

static void expect_with(const struct dpmf_input_options *options, const char *text,
                        const char *wanted) {
    struct dpmf_error error;
    for (size_t chunk_size = 0; chunk_size < 40; chunk_size++) {
        char *got = read_text(text, strlen(text), options, chunk_size, 0, &error);
        assert_string_equal(got, wanted);
        free(got);
    }
}

static void expect(const char *text, const char *wanted) {
    const struct dpmf_input_options options = dpmf_input_options_default();
    expect_with(&options, text, wanted);
}

static void expect_declared(const char *format, const char *columns, bool events, const char *text,
                            const char *wanted) {
    const struct dpmf_input_options options = with(format, columns, events);
    expect_with(&options, text, wanted);
}

static void headers_say_events(void **state) {
    (void)state;
    expect("user,item,plays\na,x,3\nb,x,1\n", "events\na x 3\nb x 1\n");
    expect("Song-ID;user_id;Play Count;ts\nx;a;3;7\n", "events\na x 3 7\n");
    expect("userId,movieId\n1,2\n3,4\n", "events\n1 2 1\n3 4 1\n");
    expect("timestamp,user,item\n7,1,2\n", "events\n1 2 1 7\n");
    expect("user_id:token\titem_id:token\ttimestamp:float\n1\t2\t9\n", "events\n1 2 1 9\n");
    /* With a rating they are ratings, whatever else is counted. */
    expect("user,item,rating,plays,views\na,x,3,9,9\n", "a x 3\n");
    /* A column that is not known may be the rating. */
    expect(
        "user,item,when\n1,2,3\n",
        "failed: DPMF_ERR_INPUT_HEADER t:1:1: the header lacks rating; it has user, item, when\n");
    expect(
        "user,item,plays,views\n1,2,3,4\n",
        "failed: DPMF_ERR_INPUT_HEADER t:1:1: columns 3 and 4 of the header both name the count: "
        "user, item, plays, views\n");
    expect_declared(NULL, NULL, true, "user,item,when\n1,2,3\n", "events\n1 2 1\n");
    expect_declared(NULL, NULL, true, "user,item,rating,plays\n1,2,3,4\n", "events\n1 2 4\n");
    expect_declared(
        NULL, NULL, true, "user,item,rating\n1,2,3\n",
        "failed: DPMF_ERR_USAGE_CONFLICT t:1:1: these are declared as events, but there "
        "is a rating and no count\n");
}

static void pairs_need_no_header(void **state) {
    (void)state;
    expect("1,10\n1,20\n", "events\n1 10 1\n1 20 1\n");
    expect("ann\tx\nbob\ty\n", "events\nann x 1\nbob y 1\n");
    expect("1 10\n2 20\n", "events\n1 10 1\n2 20 1\n");
    expect("1,10\n1,20,5\n",
           "failed: DPMF_ERR_INPUT_COLUMNS t:1:5: the row has 2 columns instead of 3\n");
    expect("1,10\n1,20\n1\n",
           "failed: DPMF_ERR_INPUT_COLUMNS t:3:2: the row has 1 column instead of 2\n");
    expect("kunde,artikel\n1,2\n", "failed: DPMF_ERR_INPUT_HEADER t:1:1: this looks like a header, "
                                   "but names no user and item: kunde, artikel\n");
    expect(
        "kunde,item\n1,2\n",
        "failed: DPMF_ERR_INPUT_HEADER t:1:1: the header lacks user, rating; it has kunde, item\n");
    expect_declared(NULL, NULL, true, "1,10,3\n",
                    "failed: DPMF_ERR_INPUT_HEADER t:1:1: there is no header, and the third column "
                    "may be a count or a time\n");
}

static void columns_say_events(void **state) {
    (void)state;
    expect_declared("csv", "item,user", false, "x,a\ny,b\n", "events\na x 1\nb y 1\n");
    expect_declared("csv", "user,item,count", false, "a,x,3\n", "events\na x 3\n");
    expect_declared("csv", "user,item,timestamp", false, "a,x,3\n", "events\na x 1 3\n");
    expect_declared("movielens", "user,item,_,timestamp", true, "a::x::3::9\n",
                    "events\na x 1 9\n");
    expect_declared("csv", "user,item", false, "user,item\na,x\n", "events\na x 1\n");
    /* Names of columns are no record, also where it is no header. */
    expect_declared("csv", "user,item", false, "a,x\nuser,item\n",
                    "failed: DPMF_ERR_INPUT_HEADER t:2:1: the row names columns, as a header does, "
                    "and is not an event\n");
    expect_declared(
        "csv", "user,item,rating", true, "a,x,3\n",
        "failed: DPMF_ERR_USAGE_CONFLICT t: these are declared as events, but there is a "
        "rating and no count\n");
    expect_declared(
        "csv", "user,item,rating,count", false, "a,x,3,4\n",
        "failed: DPMF_ERR_USAGE_VALUE the list of columns \"user,item,rating,count\" has "
        "both a rating and a count\n");
}

static void other_formats_say_events(void **state) {
    (void)state;
    expect("%%MatrixMarket matrix coordinate pattern general\n2 3 2\n1 1\n2 3\n",
           "events\n1 1 1\n2 3 1\n");
    expect_declared(NULL, NULL, true,
                    "%%MatrixMarket matrix coordinate integer general\n2 3 1\n2 3 7\n",
                    "events\n2 3 7\n");
    expect("{\"user\":1,\"item\":2}\n{\"user\":1,\"item\":3,\"plays\":4,\"ts\":5}\n",
           "events\n1 2 1\n1 3 4 5\n");
    expect("{\"user\":1,\"item\":2,\"rating\":3,\"count\":\"x\"}\n", "1 2 3\n");
    expect("{\"user\":1,\"item\":2}\n{\"user\":1,\"item\":3,\"rating\":4}\n",
           "failed: DPMF_ERR_INPUT_JSON t:2:29: this is a rating, among events\n");
    expect_declared("libmf", NULL, true, "1 2 3\n", "events\n1 2 3\n");
    static const char *const ratings[] = {"movielens", "u.data", "netflix", "yahoo"};
    for (size_t i = 0; i < 4; i++) {
        char wanted[120];
        snprintf(wanted, sizeof wanted,
                 "failed: DPMF_ERR_USAGE_CONFLICT t: the format %s holds ratings, not events\n",
                 ratings[i]);
        expect_declared(ratings[i], NULL, true, "x\n", wanted);
    }
}

/* Where bad records are dropped by themselves, none of them says that all are events. */
static void no_record_says_events(void **state) {
    (void)state;
    struct dpmf_input_options options = with("jsonl", NULL, false);
    options.skip_bad = true;
    expect_with(
        &options, "{\"user\":1,\"item\":2}\n{\"user\":1,\"item\":3,\"rating\":4}\n",
        "1 3 4\nskipped 1, first: DPMF_ERR_INPUT_JSON t:1:1: the rating is missing from the "
        "object\n");
    options.format = "libmf";
    expect_with(&options, "1 2\n1 3 4\n",
                "1 3 4\nskipped 1, first: DPMF_ERR_INPUT_COLUMNS t:1:4: the row has 2 columns "
                "instead of 3\n");
}

static void bad_counts_are_refused(void **state) {
    (void)state;
    static const char *const bad[][2] = {
        {"0", "OUT_OF_RANGE t:2:5: count 0 is not a whole number from 1 to 2^53 - 1"},
        {"-3", "OUT_OF_RANGE t:2:5: count -3 is not a whole number from 1 to 2^53 - 1"},
        {"1.5", "OUT_OF_RANGE t:2:5: count 1.5 is not a whole number from 1 to 2^53 - 1"},
        {"1e16",
         "OUT_OF_RANGE t:2:5: count 10000000000000000 is not a whole number from 1 to 2^53 - 1"},
        {"9007199254740993", /* the nearest double is 2^53 */
         "OUT_OF_RANGE t:2:5: count 9007199254740992 is not a whole number from 1 to 2^53 - 1"},
        {"nan", "NOT_FINITE t:2:5: count \"nan\" is not finite"},
        {"1e999", "NOT_FINITE t:2:5: count 1e999 is too large"},
        {"x", "NUMBER t:2:5: count \"x\" is not a number"},
        {"", "NUMBER t:2:5: the count is empty"},
    };
    struct dpmf_input_options skips = dpmf_input_options_default();
    skips.skip_bad = true;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[80], wanted[200];
        snprintf(text, sizeof text, "user,item,count\na,x,%s\nb,y,2\n", bad[i][0]);
        snprintf(wanted, sizeof wanted, "failed: DPMF_ERR_INPUT_%s\n", bad[i][1]);
        expect(text, wanted);
        snprintf(wanted, sizeof wanted, "events\nb y 2\nskipped 1, first: DPMF_ERR_INPUT_%s\n",
                 bad[i][1]);
        expect_with(&skips, text, wanted);
    }
    expect("user,item,count\na,x,9007199254740991\na,y,1e0\n",
           "events\na x 9007199254740991\na y 1\n");
}

/* ---- counts add up ----------------------------------------------------------------------------
 */

static void ignore_duplicate(void *self, uint32_t item) {
    (void)item;
    ++*(size_t *)self;
}

/* One user's events in some order; what is left of them. */
static void add_up(const double *counts, const int64_t *times, const size_t *order, size_t n,
                   double *sum, int64_t *time) {
    struct rating_sorter *sorter;
    struct sorter_space space = {0};
    struct store_block block;
    const uint32_t zero = 0;
    size_t duplicates = 0;
    assert_int_equal(rating_sorter_init(&sorter, 1 << 20, NULL, NULL), 0);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(
            rating_sorter_add(sorter, &zero, &zero, &counts[order[i]], &times[order[i]], 1, NULL),
            0);
    rating_sorter_add_up(sorter);
    assert_int_equal(rating_sorter_finish(sorter, 1, NULL), 0);
    assert_int_equal(
        rating_sorter_slice(sorter, 0, &zero, &space, ignore_duplicate, &duplicates, &block, NULL),
        0);
    assert_int_equal(block.n_ratings, 1);
    assert_int_equal(duplicates, n - 1);
    *sum = block.value[0];
    *time = block.time ? block.time[0] : STORE_NO_TIME;
    sorter_space_free(&space);
    rating_sorter_free(sorter);
}

static void counts_add_up_in_any_order(void **state) {
    (void)state;
    static const size_t orders[][4] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}, {2, 0, 3, 1}};
    static const struct {
        double counts[4], sum;
        int64_t times[4], time;
    } cases[] = {
        {{1, 2, 3, 4}, 10, {STORE_NO_TIME, 7, -5, 3}, 7},
        {{STORE_COUNT_MAX - 1, 1, 1, 1}, STORE_COUNT_MAX, {1, 2, 3, 4}, 4},
        {{STORE_COUNT_MAX, STORE_COUNT_MAX, 5, STORE_COUNT_MAX - 2},
         STORE_COUNT_MAX,
         {STORE_NO_TIME, STORE_NO_TIME, STORE_NO_TIME, STORE_NO_TIME},
         STORE_NO_TIME},
        {{STORE_COUNT_MAX - 6, 1, 2, 3}, STORE_COUNT_MAX, {0, 0, 0, 0}, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (size_t o = 0; o < 4; o++) {
            double sum;
            int64_t time;
            add_up(cases[i].counts, cases[i].times, orders[o], 4, &sum, &time);
            assert_true(sum == cases[i].sum);
            assert_true(time == cases[i].time);
        }
}

/* ---- stores -----------------------------------------------------------------------------------
 */

static void write_text(const char *path, const char *text) {
    temp_dir_write(path, text, strlen(text));
}

static int import_with(const char *input, const char *output, struct dpmf_input_options options,
                       struct dpmf_import_report *report, struct dpmf_error *error) {
    return dpmf_import(&input, 1, output, &options, NULL, report, error);
}

static void expect_store(const char *path, bool holds_events, const char *csv) {
    struct dpmf_store *store;
    struct dpmf_store_info info;
    assert_int_equal(dpmf_store_open(path, NULL, NULL, &store, NULL), 0);
    dpmf_store_info(store, &info);
    assert_int_equal(info.holds_events, holds_events);
    assert_int_equal(store_holds_events(store), holds_events);
    assert_true(store_least_event(store, 4) == (holds_events ? -INFINITY : 4));
    assert_int_equal(dpmf_store_export_csv(store, "out.csv", -1, NULL, NULL, NULL), 0);
    dpmf_store_close(store);
    size_t n;
    char *text = temp_dir_read("out.csv", &n);
    assert_string_equal(text, csv);
    free(text);
    unlink("out.csv");
}

static void a_store_of_events(void **state) {
    (void)state;
    struct dpmf_import_report report;
    struct dpmf_error error = {0};
    const char *csv = "user,item,count\nann,x,7\nann,y,1\nbob,x,2\n";
    write_text("a.csv", "user,item,plays\nann,x,3\nbob,x,2\nann,y,1\nann,x,4\n");
    assert_int_equal(import_with("a.csv", "a.dpr", with(0, 0, false), &report, &error), 0);
    assert_true(report.holds_events);
    assert_int_equal(report.ratings, 3);
    assert_int_equal(report.duplicates, 1);
    expect_store("a.dpr", true, csv);
    /* A store is an input like any other, and so are shards; an exported CSV comes back the same.
     */
    assert_int_equal(import_with("a.dpr", "b.dpr", with(0, 0, true), &report, &error), 0);
    expect_store("b.dpr", true, csv);
    write_text("b.csv", csv);
    assert_int_equal(import_with("b.csv", "b.dpr", with(0, 0, false), &report, &error), 0);
    expect_store("b.dpr", true, csv);
    struct dpmf_store *store;
    assert_int_equal(dpmf_store_open("a.dpr", NULL, NULL, &store, NULL), 0);
    assert_int_equal(dpmf_store_shard(store, "shards", 2, NULL, NULL, &error), 0);
    dpmf_store_close(store);
    expect_store("shards", true, csv);
}

static void an_older_version_refuses_events(void **state) {
    (void)state;
    size_t n;
    uint8_t *bytes = (uint8_t *)temp_dir_read("a.dpr", &n);
    assert_int_equal(bytes_get_u32(bytes + 12),
                     STORE_FLAG_LAYOUT | STORE_FLAG_EVENTS); /* bits that it did not know */
    /* A flag of tomorrow is refused by this version as this one's is by the last. */
    struct dpmf_store *store;
    struct dpmf_error error = {0};
    bytes_put_u32(bytes + 12, 16 | STORE_FLAG_LAYOUT);
    bytes_put_u64(bytes + 56, checksum64(bytes, 56));
    temp_dir_write("later.dpr", (const char *)bytes, n);
    assert_int_equal(dpmf_store_open("later.dpr", NULL, NULL, &store, &error),
                     DPMF_ERR_STORE_VERSION);
    free(bytes);
}

/* A store of ratings that is made to say that it holds events: a value that is no count is damage.
 */
static void values_must_be_counts(void **state) {
    (void)state;
    struct dpmf_import_report report;
    struct dpmf_error error = {0};
    size_t n;
    write_text("r.csv", "user,item,rating\na,x,4.5\n");
    assert_int_equal(import_with("r.csv", "r.dpr", with(0, 0, false), &report, &error), 0);
    uint8_t *bytes = (uint8_t *)temp_dir_read("r.dpr", &n);
    bytes_put_u32(bytes + 12, STORE_FLAG_LAYOUT | STORE_FLAG_EVENTS);
    bytes_put_u64(bytes + 56, checksum64(bytes, 56));
    temp_dir_write("lie.dpr", (const char *)bytes, n);
    free(bytes);
    assert_int_equal(import_with("lie.dpr", "x.dpr", with(0, 0, false), &report, &error),
                     DPMF_ERR_STORE_CORRUPT);
    assert_int_equal(access("x.dpr", F_OK), -1);
}

static void likes_are_events(void **state) {
    (void)state;
    struct dpmf_import_report report;
    struct dpmf_error error = {0};
    struct dpmf_input_options options = with(0, 0, false);
    /* The last rating of a pair decides: ann no longer likes x. */
    write_text("l.csv", "user,item,rating,timestamp\nann,x,5,1\nbob,y,4,2\nann,y,4,3\nann,x,1,4\n"
                        "cleo,z,2,5\nbob,y,4.5,6\n");
    options.has_like = true;
    options.like = 4;
    assert_int_equal(import_with("l.csv", "l.dpr", options, &report, &error), 0);
    assert_int_equal(report.ratings, 2);
    assert_int_equal(report.users, 2);
    assert_int_equal(report.items, 1);
    assert_int_equal(report.not_liked, 2);
    assert_int_equal(report.duplicates, 2);
    assert_true(report.holds_events);
    expect_store("l.dpr", true, "user,item,count,timestamp\nann,y,1,3\nbob,y,1,6\n");
    options.like = -INFINITY;
    assert_int_equal(import_with("l.csv", "l.dpr", options, &report, &error), 0);
    assert_int_equal(report.not_liked, 0);
    expect_store("l.dpr", true,
                 "user,item,count,timestamp\nann,y,1,3\nann,x,1,4\nbob,y,1,6\ncleo,z,1,5\n");
    options.like = 9;
    assert_int_equal(import_with("l.csv", "m.dpr", options, &report, &error),
                     DPMF_ERR_RATINGS_NONE_LEFT);
    options.like = (double)NAN;
    assert_int_equal(import_with("l.csv", "m.dpr", options, &report, &error), DPMF_ERR_USAGE_VALUE);
    assert_int_equal(access("m.dpr", F_OK), -1);
    /* The same by opening it. */
    struct dpmf_store *store;
    options.like = 4;
    assert_int_equal(dpmf_store_open("l.csv", &options, NULL, &store, &error), 0);
    assert_int_equal(store_n_ratings(store), 2);
    assert_true(store_holds_events(store));
    dpmf_store_close(store);
}

static void kinds_are_not_mixed(void **state) {
    (void)state;
    struct dpmf_import_report report;
    struct dpmf_error error = {0};
    const char *const mixed[] = {"a.csv", "r.csv"}, *const other[] = {"r.csv", "a.csv"};
    assert_int_equal(dpmf_import(mixed, 2, "x.dpr", NULL, NULL, &report, &error),
                     DPMF_ERR_USAGE_CONFLICT);
    assert_string_equal(error.message, "this holds ratings, the inputs before it events");
    assert_int_equal(dpmf_import(other, 2, "x.dpr", NULL, NULL, &report, &error),
                     DPMF_ERR_USAGE_CONFLICT);
    struct dpmf_input_options options = with(0, 0, false);
    options.has_like = true;
    assert_int_equal(import_with("a.csv", "x.dpr", options, &report, &error),
                     DPMF_ERR_USAGE_CONFLICT);
    options.has_like = false;
    options.has_range = true;
    options.range_max = 5;
    assert_int_equal(import_with("a.csv", "x.dpr", options, &report, &error),
                     DPMF_ERR_USAGE_CONFLICT);
    options = with(0, 0, true);
    assert_int_equal(import_with("r.dpr", "x.dpr", options, &report, &error),
                     DPMF_ERR_USAGE_CONFLICT);
    struct dpmf_store *store;
    assert_int_equal(dpmf_store_open("r.dpr", &options, NULL, &store, &error),
                     DPMF_ERR_USAGE_CONFLICT);
    assert_null(store);
    assert_int_equal(access("x.dpr", F_OK), -1);
}

static void arrays_hold_events(void **state) {
    (void)state;
    int64_t users[] = {0, 0, 1, 0}, items[] = {0, 1, 1, 0};
    double counts[] = {5, 3, 4, 2};
    struct dpmf_arrays arrays = {
        .size = sizeof arrays, .n = 4, .n_users = 2, .n_items = 2, .users = users, .items = items};
    struct dpmf_input_options options = with(0, 0, true);
    struct dpmf_store *store;
    struct dpmf_error error = {0};
    assert_int_equal(dpmf_store_from_arrays(&arrays, NULL, NULL, &store, &error),
                     DPMF_ERR_USAGE_NULL); /* ratings that were forgotten are no events */
    assert_int_equal(dpmf_store_from_arrays(&arrays, &options, NULL, &store, &error), 0);
    assert_true(store_holds_events(store));
    assert_int_equal(dpmf_store_export_csv(store, "out.csv", -1, NULL, NULL, NULL), 0);
    size_t n;
    char *text = temp_dir_read("out.csv", &n);
    assert_string_equal(text, "user,item,count\n0,0,2\n0,1,1\n1,1,1\n");
    free(text);
    dpmf_store_close(store);
    arrays.ratings = counts;
    assert_int_equal(dpmf_store_from_arrays(&arrays, &options, NULL, &store, &error), 0);
    struct dpmf_store_info info;
    dpmf_store_info(store, &info);
    assert_true(info.holds_events && info.max == 7 && info.min == 3);
    dpmf_store_close(store);
    counts[2] = 0.5;
    assert_int_equal(dpmf_store_from_arrays(&arrays, &options, NULL, &store, &error),
                     DPMF_ERR_INPUT_OUT_OF_RANGE);
}

static void rating_solvers_refuse_events(void **state) {
    (void)state;
    struct dpmf_store *events, *ratings;
    struct dpmf_error error = {0};
    struct dpmf_train_options options = dpmf_train_options_default();
    assert_int_equal(dpmf_store_open("a.dpr", NULL, NULL, &events, NULL), 0);
    assert_int_equal(dpmf_store_open("r.dpr", NULL, NULL, &ratings, NULL), 0);
    static const char *const solvers[] = {"sgd", "gibbs", "sgld", "sghmc", "sgnht"};
    for (size_t i = 0; i < 5; i++) {
        dpmf_train_options_solver(solvers[i], &options);
        assert_int_equal(
            dpmf_train(events, NULL, "m.safetensors", &options, NULL, NULL, NULL, NULL, &error),
            DPMF_ERR_USAGE_CONFLICT);
        assert_non_null(strstr(error.hint, "{solver ials}"));
    }
    dpmf_train_options_solver("ials", &options);
    assert_int_equal(
        dpmf_train(events, ratings, "m.safetensors", &options, NULL, NULL, NULL, NULL, &error),
        DPMF_ERR_USAGE_CONFLICT);
    assert_int_equal(
        dpmf_train(ratings, events, "m.safetensors", &options, NULL, NULL, NULL, NULL, &error),
        DPMF_ERR_USAGE_CONFLICT);
    options.factors = 2;
    options.ials.has_like = true; /* has no meaning for events, all of which count */
    options.ials.like = 4;
    assert_int_equal(
        dpmf_train(events, NULL, "m.safetensors", &options, NULL, NULL, NULL, NULL, &error),
        DPMF_ERR_USAGE_CONFLICT);
    assert_string_equal(error.message, "this holds events, to which likes do not apply");
    options.ials.has_like = false;
    assert_int_equal(
        dpmf_train(events, NULL, "m.safetensors", &options, NULL, NULL, NULL, NULL, &error), 0);
    dpmf_store_close(events);
    dpmf_store_close(ratings);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_say_events),
        cmocka_unit_test(pairs_need_no_header),
        cmocka_unit_test(columns_say_events),
        cmocka_unit_test(other_formats_say_events),
        cmocka_unit_test(no_record_says_events),
        cmocka_unit_test(bad_counts_are_refused),
        cmocka_unit_test(counts_add_up_in_any_order),
        cmocka_unit_test(a_store_of_events),
        cmocka_unit_test(an_older_version_refuses_events),
        cmocka_unit_test(values_must_be_counts),
        cmocka_unit_test(likes_are_events),
        cmocka_unit_test(kinds_are_not_mixed),
        cmocka_unit_test(arrays_hold_events),
        cmocka_unit_test(rating_solvers_refuse_events),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
