/*
 * The importer as a whole: the same store for any number of threads and any memory, duplicates,
 * skipped records, several inputs of several kinds, and nothing left behind when it fails.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "dpmf.h"
#include "own_directory.h"
#include "store/store.h"

static void write_text(const char *path, const char *text) {
    temp_dir_write(path, text, strlen(text));
}

static int import_one(const char *input, const char *output, struct dpmf_import_report *report,
                      struct dpmf_error *error) {
    return dpmf_import(&input, 1, output, NULL, NULL, report, error);
}

/* The store as CSV, to compare with what was meant. */
static void expect_csv(const char *store_path, const char *csv) {
    struct dpmf_store *store;
    struct dpmf_error error = {0};
    assert_int_equal(dpmf_store_open(store_path, NULL, NULL, &store, &error), 0);
    assert_int_equal(dpmf_store_export_csv(store, "out.csv", -1, NULL, NULL, &error), 0);
    dpmf_store_close(store);
    size_t n;
    char *text = temp_dir_read("out.csv", &n);
    assert_string_equal(text, csv);
    free(text);
    unlink("out.csv");
}

static void test_small_csv(void **state) {
    (void)state;
    struct dpmf_import_report report;
    write_text("a.csv", "user,item,rating\nann,x,5\nbob,x,3\nann,y,4.5\nbob,x,2\n");
    assert_int_equal(import_one("a.csv", "a.dpr", &report, NULL), 0);
    assert_int_equal(report.ratings, 3);
    assert_int_equal(report.users, 2);
    assert_int_equal(report.items, 2);
    assert_int_equal(report.duplicates, 1);
    assert_int_equal(report.skipped, 0);
    assert_string_equal(report.format, "csv");
    struct stat status;
    assert_int_equal(stat("a.dpr", &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_int_equal(report.bytes_written, status.st_size);
    expect_csv("a.dpr", "user,item,rating\nann,x,5\nann,y,4.5\nbob,x,2\n");

    /* popularity is exact: the duplicate is not counted */
    struct dpmf_store *store;
    assert_int_equal(dpmf_store_open("a.dpr", NULL, NULL, &store, NULL), 0);
    size_t length;
    uint64_t n_ratings;
    assert_memory_equal(dpmf_store_item(store, 0, &length, &n_ratings), "x", 1);
    assert_int_equal(n_ratings, 2);
    dpmf_store_close(store);
}

static void test_any_format_is_a_store(void **state) {
    (void)state;
    write_text("b.dat", "1::10::5::978300760\n1::11::3::978300761\n");
    struct dpmf_store *store;
    assert_int_equal(dpmf_store_open("b.dat", NULL, NULL, &store, NULL), 0);
    struct dpmf_store_info info;
    dpmf_store_info(store, &info);
    assert_int_equal(info.ratings, 2);
    assert_true(info.has_times);
    assert_true(info.min == 3 && info.max == 5);
    dpmf_store_close(store);
}

static void test_several_inputs(void **state) {
    (void)state;
    write_text("c.csv", "user,item,rating\n1,2,3\n");
    write_text("c.dat", "7::2::4::100\n1::2::1::200\n");
    write_text("c.jsonl", "{\"user\":\"u\",\"item\":9,\"rating\":2.5}\n");
    const char *first[] = {"c.csv", "c.dat"};
    struct dpmf_import_report report;
    assert_int_equal(dpmf_import(first, 2, "c.dpr", NULL, NULL, &report, NULL), 0);
    assert_int_equal(report.ratings, 2);
    assert_int_equal(report.duplicates, 1);
    expect_csv("c.dpr", "user,item,rating,timestamp\n1,2,1,200\n7,2,4,100\n");
    const char *second[] = {"c.dpr", "c.jsonl"}; /* a store is an input like any other */
    assert_int_equal(dpmf_import(second, 2, "d.dpr", NULL, NULL, &report, NULL), 0);
    expect_csv("d.dpr", "user,item,rating,timestamp\n1,2,1,200\n7,2,4,100\nu,9,2.5,\n");
}

static int compare_lines(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The file's lines but the first, sorted; *text holds them. */
static char **sorted_lines(const char *path, char **text, size_t *n) {
    size_t bytes;
    *text = temp_dir_read(path, &bytes);
    char **lines = malloc(bytes * sizeof lines[0]);
    assert_non_null(lines);
    *n = 0;
    strtok(*text, "\n");
    for (char *line; (line = strtok(NULL, "\n"));) lines[(*n)++] = line;
    qsort(lines, *n, sizeof lines[0], compare_lines);
    return lines;
}

static void expect_same_lines(const char *a, const char *b) {
    size_t n_a, n_b;
    char *text_a, *text_b, **x = sorted_lines(a, &text_a, &n_a),
                           **y = sorted_lines(b, &text_b, &n_b);
    assert_int_equal(n_a, n_b);
    for (size_t i = 0; i < n_a; i++) assert_string_equal(x[i], y[i]);
    free(x);
    free(y);
    free(text_a);
    free(text_b);
}

/* Short ids and long ones, some of which differ in their length or their end alone. */
static void write_id(FILE *file, char side, unsigned i) {
    fprintf(file,
            i % 3 == 0   ? "%c%u"
            : i % 3 == 1 ? "%c-of-a-long-name-%u"
                         : "%c00000%u",
            side, i / 3);
}

/* Ids that are new in the middle of a batch or a chunk, each in a run of records from 1 to some
 * hundred. */
static void write_runs(const char *path, bool by_item) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "user,item,rating\n");
    for (unsigned run = 0; run < 900; run++) {
        for (unsigned i = 0; i < run * 37 % 400 + 1; i++) {
            write_id(file, 'u', by_item ? i : run);
            fputc(',', file);
            write_id(file, 'i', by_item ? run : i);
            fprintf(file, ",%u\n", (run + i) % 5 + 1);
        }
    }
    assert_int_equal(fclose(file), 0);
}

static void test_runs(void **state) {
    (void)state;
    for (int by_item = 0; by_item < 2; by_item++) {
        write_runs("runs.csv", by_item);
        for (int threads = 1; threads <= 3; threads += 2) {
            const char *input = "runs.csv", *output = threads == 1 ? "runs.dpr" : "again.dpr";
            struct dpmf_run run = dpmf_run_default();
            struct dpmf_store *store;
            run.threads = threads;
            assert_int_equal(dpmf_import(&input, 1, output, NULL, &run, NULL, NULL), 0);
            assert_int_equal(dpmf_store_open(output, NULL, NULL, &store, NULL), 0);
            assert_int_equal(dpmf_store_export_csv(store, "back.csv", -1, NULL, NULL, NULL), 0);
            dpmf_store_close(store);
            expect_same_lines("runs.csv", "back.csv");
            unlink("back.csv");
        }
        temp_dir_expect_same("runs.dpr", "again.dpr");
    }
}

static void test_rescale_and_range(void **state) {
    (void)state;
    write_text("e.csv", "1,1,0\n1,2,50\n1,3,100\n");
    const char *input = "e.csv";
    struct dpmf_input_options options = dpmf_input_options_default();
    options.rescale = true;
    options.from_max = 100;
    options.to_max = 5;
    assert_int_equal(dpmf_import(&input, 1, "e.dpr", &options, NULL, NULL, NULL), 0);
    expect_csv("e.dpr", "user,item,rating\n1,1,0\n1,2,2.5\n1,3,5\n");
    options = dpmf_input_options_default();
    options.has_range = true;
    options.range_max = 60;
    struct dpmf_error error = {0};
    assert_int_equal(dpmf_import(&input, 1, "f.dpr", &options, NULL, NULL, &error),
                     DPMF_ERR_INPUT_OUT_OF_RANGE);
    assert_int_equal(error.line, 3);
    options.skip_bad = true;
    struct dpmf_import_report report;
    assert_int_equal(dpmf_import(&input, 1, "f.dpr", &options, NULL, &report, &error), 0);
    assert_int_equal(report.skipped, 1);
    assert_int_equal(report.first_skipped.line, 3);
    assert_int_equal(report.ratings, 2);
}

static int cancel(void *self, const struct dpmf_progress *progress) {
    (void)progress;
    return ++*(int *)self >= 2;
}

static void test_failures_leave_nothing(void **state) {
    (void)state;
    write_text("g.csv", "user,item,rating\n1,2,3\n1,3,x\n");
    write_text("h.csv", "user,item,rating\n1,2,3\n");
    int before = temp_dir_count(&directory);
    struct dpmf_error error = {0};
    assert_int_equal(import_one("g.csv", "g.dpr", NULL, &error), DPMF_ERR_INPUT_NUMBER);
    assert_string_equal(error.file, "g.csv");
    assert_int_equal(error.line, 3);
    assert_int_equal(error.column, 5);
    assert_int_equal(import_one("missing.csv", "g.dpr", NULL, &error), DPMF_ERR_IO_MISSING);
    assert_int_equal(import_one(".", "g.dpr", NULL, &error), DPMF_ERR_INPUT_UNKNOWN_FORMAT);
    assert_int_equal(import_one("h.csv", "no/such/place.dpr", NULL, &error), DPMF_ERR_IO_MISSING);
    const char *inputs[] = {"h.csv", "missing.csv"};
    assert_int_equal(dpmf_import(inputs, 2, "g.dpr", NULL, NULL, NULL, &error),
                     DPMF_ERR_IO_MISSING);
    const char *input = "h.csv";
    struct dpmf_run run = dpmf_run_default();
    run.memory = 1 << 20;
    assert_int_equal(dpmf_import(&input, 1, "g.dpr", NULL, &run, NULL, &error),
                     DPMF_ERR_USAGE_MEMORY);
    int calls = 0;
    run = dpmf_run_default();
    run.progress = cancel;
    run.progress_self = &calls;
    assert_int_equal(dpmf_import(&input, 1, "g.dpr", NULL, &run, NULL, &error),
                     DPMF_ERR_BASE_CANCELLED);
    assert_int_equal(temp_dir_count(&directory), before);
}

static void test_all_records_bad(void **state) {
    (void)state;
    write_text("i.csv", "user,item,rating\n1,2,x\n1,3,y\n");
    const char *input = "i.csv";
    struct dpmf_input_options options = dpmf_input_options_default();
    options.skip_bad = true;
    struct dpmf_error error = {0};
    struct dpmf_import_report report;
    struct dpmf_store *store = NULL;
    assert_int_equal(dpmf_store_open(input, &options, NULL, &store, &error), DPMF_ERR_INPUT_EMPTY);
    /* A store may feed a private run, which takes it with no rating, too. */
    assert_int_equal(dpmf_import(&input, 1, "i.dpr", &options, NULL, &report, &error), 0);
    assert_int_equal(report.skipped, 2);
    assert_int_equal(report.ratings, 0);
    assert_true(report.layout.is_by_record);
    options.by_record = true;
    assert_int_equal(dpmf_store_open(input, &options, NULL, &store, &error), 0);
    assert_int_equal(store_n_ratings(store), 0);
    dpmf_store_close(store);
    /* Blocks are read together: no private run takes them. */
    write_text("i.txt", "1:\nx,y,z\n");
    input = "i.txt";
    options.by_record = false;
    options.format = "netflix";
    assert_int_equal(dpmf_import(&input, 1, "j.dpr", &options, NULL, NULL, &error),
                     DPMF_ERR_INPUT_EMPTY);
    assert_int_equal(access("j.dpr", F_OK), -1);
}

/* Text in an order that is not by user, large enough to be cut into many chunks and to spill with
 * the least memory there is. */
enum { N_UNSORTED = 1500000 };

static void make_unsorted_text(const char *path, uint64_t n) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    uint64_t x = 88172645463325252u;
    fputs("user,item,rating,timestamp\n", file);
    for (uint64_t i = 0; i < n; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        uint64_t user = x % 50021, item = (x >> 20) % 3001 * ((x >> 40) % 7 + 1);
        fprintf(file, "u%llu,%llu,%llu,%llu\n", (unsigned long long)user, (unsigned long long)item,
                (unsigned long long)(x % 5 + 1), (unsigned long long)(1000000000 + (x >> 44)));
    }
    assert_int_equal(fclose(file), 0);
}

static void test_same_for_any_threads_and_memory(void **state) {
    (void)state;
    make_unsorted_text("big.csv", N_UNSORTED);
    const char *input = "big.csv";
    struct dpmf_import_report report, first;
    struct dpmf_run run = dpmf_run_default();
    run.threads = 1;
    run.memory = (uint64_t)1 << 30;
    assert_int_equal(dpmf_import(&input, 1, "one.dpr", NULL, &run, &first, NULL), 0);
    assert_int_equal(first.bytes_spilled, 0);
    assert_int_equal(first.ratings + first.duplicates, N_UNSORTED);
    assert_true(first.duplicates > 0);
    for (int threads = 2; threads < 9; threads += 3) {
        run.threads = threads;
        run.memory = threads == 5 ? (uint64_t)1 << 30 : (uint64_t)64 << 20;
        assert_int_equal(dpmf_import(&input, 1, "many.dpr", NULL, &run, &report, NULL), 0);
        assert_int_equal(report.ratings, first.ratings);
        assert_int_equal(report.bytes_spilled > 0, threads != 5);
        temp_dir_expect_same("one.dpr", "many.dpr");
    }
    /* and a store imported again is the same set, packed as well */
    const char *store = "one.dpr";
    assert_int_equal(dpmf_import(&store, 1, "again.dpr", NULL, &run, &report, NULL), 0);
    assert_int_equal(report.ratings, first.ratings);
    assert_int_equal(report.duplicates, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_csv),
        cmocka_unit_test(test_any_format_is_a_store),
        cmocka_unit_test(test_several_inputs),
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_rescale_and_range),
        cmocka_unit_test(test_failures_leave_nothing),
        cmocka_unit_test(test_all_records_bad),
        cmocka_unit_test(test_same_for_any_threads_and_memory),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
