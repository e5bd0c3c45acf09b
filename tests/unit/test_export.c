/*
 * export: the CSV text is what RFC 4180 wants, importing it gives the same ratings to the bit,
 * whatever the ids and values, the text does not depend on the threads, and errors of the output
 * are reported and leave nothing behind.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <float.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "random/random.h"
#include "store_triples.h"
#include "temp_dir.h"

static struct temp_dir directory;
static char path[TEMP_PATH_MAX], csv_path[TEMP_PATH_MAX], back_path[TEMP_PATH_MAX];

static int make_directory(void **state) {
    (void)state;
    temp_dir_make(&directory);
    temp_dir_file(&directory, "x.dpr", path);
    temp_dir_file(&directory, "x.csv", csv_path);
    temp_dir_file(&directory, "y.dpr", back_path);
    return 0;
}

static int remove_directory(void **state) {
    (void)state;
    temp_dir_remove(&directory);
    return 0;
}

static char *export_text(int threads, size_t *n) {
    struct dpmf_run run = dpmf_run_default();
    run.threads = threads;
    run.replace = true; /* what was exported to the same path before */
    struct dpmf_store *store;
    uint64_t written = 0;
    struct stat status;
    assert_int_equal(store_open_file(path, &store, NULL), 0);
    assert_int_equal(dpmf_store_export_csv(store, csv_path, -1, &run, &written, NULL), 0);
    dpmf_store_close(store);
    assert_int_equal(stat(csv_path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    char *text = temp_dir_read(csv_path, n);
    assert_int_equal(written, *n);
    return text;
}

static void import_back(struct triples *out) {
    const char *inputs[] = {csv_path};
    struct dpmf_error error = {0};
    struct dpmf_import_report report;
    int code = dpmf_import(inputs, 1, back_path, NULL, NULL, &report, &error);
    if (code != 0)
        print_error("%s:%d:%d: %s\n", error.file, (int)error.line, (int)error.column,
                    error.message);
    assert_int_equal(code, 0);
    assert_int_equal(report.duplicates, 0);
    triples_of_file(back_path, out);
    triples_sort(out);
}

static void round_trip(const struct triples *t, bool has_times) {
    size_t n;
    struct triples back = {0};
    triples_write(t, has_times, false, path);
    free(export_text(2, &n));
    import_back(&back);
    triples_assert_equal(t, &back);
    free(back.at);
}

static void test_text(void **state) {
    (void)state;
    struct triples t = {0};
    triples_add(&t, triple_make("a", "1", 4, 100));
    triples_add(&t, triple_make("a", "2,3", 4.5, STORE_NO_TIME));
    triples_add(&t, triple_make("b \"x\"", " 3", -0.1, -7));
    triples_add(&t, triple_make("c",
                                "\xEF\xBB\xBF"
                                "4",
                                1e300, 0));
    triples_add(&t, triple_make("d e", "5\n6", 5, 1));
    triples_sort(&t);
    size_t n;
    triples_write(&t, true, false, path);
    char *text = export_text(1, &n);
    assert_string_equal(text, "user,item,rating,timestamp\n"
                              "a,1,4,100\n"
                              "a,\"2,3\",4.5,\n"
                              "\"b \"\"x\"\"\",\" 3\",-0.1,-7\n"
                              "c,\"\xEF\xBB\xBF"
                              "4\",1e300,0\n"
                              "d e,\"5\n6\",5,1\n");
    free(text);
    triples_write(&t, false, false, path);
    text = export_text(1, &n);
    assert_memory_equal(text, "user,item,rating\na,1,4\n", 23);
    free(text);
    free(t.at);
}

static const char *const NASTY[] = {
    ",",
    "\"",
    "\"\"",
    "a,b",
    "say \"hi\"",
    "line\nbreak",
    "cr\rlf\r\n",
    "\r",
    "\n",
    " ",
    "  x",
    "x ",
    "\tx",
    "x\t",
    "x\xEF\xBB\xBF", /* at the beginning of an id it is refused */
    "x\xEF\xBB\xBFx",
    "Zo\xC3\xAB",
    "\xE6\x98\xA0\xE7\x94\xBB",
    "\x80",
    "\xFF\xFE",
    "\xC3",
    "#1",
    "%x",
    "'",
    "''",
    ";",
    "a;b",
    "a|b",
    "a::b",
    "1",
    "01",
    "1.0",
    "-1",
    "nan",
    "user",
    "item",
    "rating",
    "user,item,rating",
    "\\",
    "\\n",
    "=1+1",
    "{\"a\":1}",
    "x\x01y",
    "\x7f",
    "0x10",
    "1e5",
    "x\"",
    "\"x\"",
    ":",
    "1:",
    "NULL",
    "-",
};

enum { N_NASTY = sizeof NASTY / sizeof NASTY[0] };

static void test_nasty_ids(void **state) {
    (void)state;
    for (int has_times = 0; has_times < 2; has_times++) {
        struct triples t = {0};
        for (int u = 0; u < N_NASTY; u++)
            for (int i = 0; i < N_NASTY; i++)
                triples_add(&t, triple_make(NASTY[u], NASTY[i], u + i / 64.0,
                                            has_times && i % 3 ? u - i : STORE_NO_TIME));
        triples_sort(&t);
        round_trip(&t, has_times);
        free(t.at);
    }
    for (int u = 0; u < N_NASTY; u++) { /* each alone, where it decides what the file looks like */
        struct triples t = {0};
        triples_add(&t, triple_make(NASTY[u], NASTY[u], 3, STORE_NO_TIME));
        round_trip(&t, false);
        free(t.at);
    }
}

static void test_every_byte(void **state) {
    (void)state;
    struct triples t = {0};
    struct random_stream random;
    random_stream_init(&random, 8, 1, 0);
    for (int i = 0; i < 3000; i++) {
        struct triple x = {.value = i, .time = STORE_NO_TIME};
        x.user_length = (uint8_t)(1 + random_below(&random, 6));
        x.item_length = (uint8_t)(1 + random_below(&random, 20));
        for (int b = 0; b < x.user_length; b++) x.user[b] = (char)(1 + random_below(&random, 255));
        for (int b = 0; b < x.item_length; b++) x.item[b] = (char)(1 + random_below(&random, 255));
        if (i < 255) { /* no id holds a NUL */
            x.user_length = 1;
            x.user[0] = (char)(i + 1);
            memset(x.user + 1, 0, sizeof x.user - 1);
        }
        triples_add(&t, x);
    }
    triples_sort(&t);
    size_t kept = 1; /* no pair twice */
    for (size_t i = 1; i < t.n; i++)
        if (triple_compare_ids(&t.at[i], &t.at[kept - 1]) != 0) t.at[kept++] = t.at[i];
    t.n = kept;
    round_trip(&t, false);
    free(t.at);
}

static void test_exact_values(void **state) {
    (void)state;
    static const double values[] = {
        0,
        -0.0,
        0.1,
        1.0 / 3,
        4.35,
        0.30000000000000004,
        123456789012345678.0,
        1e22,
        DBL_MAX,
        -DBL_MAX,
        DBL_MIN,
        5e-324,
        2.5e-310,
        1e-5,
    };
    struct triples t = {0};
    struct random_stream random;
    random_stream_init(&random, 4, 1, 0);
    for (int i = 0; i < 20000; i++) {
        char user[16], item[16];
        snprintf(user, sizeof user, "%d", i / 10);
        snprintf(item, sizeof item, "%d", i % 10);
        double value;
        do value = bytes_to_double(random_u64(&random));
        while (!(value - value == 0)); /* finite */
        if (i < (int)(sizeof values / sizeof values[0])) value = values[i];
        int64_t time = i % 7 ? (int64_t)random_u64(&random) : i % 2 ? INT64_MAX : INT64_MIN + 1;
        triples_add(&t, triple_make(user, item, value, time == STORE_NO_TIME ? 0 : time));
    }
    triples_sort(&t);
    round_trip(&t, true);
    for (size_t i = 0; i < t.n; i++) t.at[i].time = STORE_NO_TIME;
    round_trip(&t, false);
    free(t.at);
}

static void test_threads(void **state) {
    (void)state;
    struct dpmf_synth_options options = dpmf_synth_options_default();
    options.users = 6000;
    options.ratings = 100000;
    options.times = true;
    assert_int_equal(dpmf_synth(path, &options, NULL, NULL, NULL), 0);
    size_t n, m;
    char *text = export_text(1, &n);
    for (int threads = 2; threads <= 8; threads += 3) {
        char *other = export_text(threads, &m);
        assert_int_equal(n, m);
        assert_memory_equal(text, other, n);
        free(other);
    }
    free(text);
    struct triples a = {0}, b = {0};
    triples_of_file(path, &a);
    triples_sort(&a);
    import_back(&b);
    triples_assert_equal(&a, &b);
    free(a.at);
    free(b.at);
}

/* A block whose text is larger than is kept in memory at once is written in pieces. */
static void test_large_text(void **state) {
    (void)state;
    enum { ITEMS = 1500, ID = 60000 };
    struct store_writer *writer;
    struct store_encoded encoded = {0};
    struct store_item items[ITEMS];
    static char names[ITEMS][8];
    struct block_arrays arrays = {0};
    char *id = malloc(ID);
    assert_non_null(id);
    memset(id, 'x', ID);
    assert_int_equal(store_writer_open(&writer, path, false, NULL, NULL), 0);
    for (uint32_t u = 0; u < 2; u++) {
        id[0] = (char)('a' + u);
        assert_true(block_arrays_room(&arrays, ITEMS, ID, false));
        for (uint32_t i = 0; i < ITEMS; i++) {
            arrays.item[arrays.n_ratings + i] = i;
            arrays.value[arrays.n_ratings + i] = i % 5;
        }
        block_arrays_end_user(&arrays, ITEMS, id, ID);
    }
    struct store_block block = block_arrays_view(&arrays, 0);
    assert_int_equal(store_block_encode(&block, false, &encoded, NULL), 0);
    assert_int_equal(store_writer_append(writer, &encoded, NULL), 0);
    for (int i = 0; i < ITEMS; i++) {
        int length = snprintf(names[i], sizeof names[i], "%d", i);
        items[i] = (struct store_item){names[i], (uint32_t)length, 2};
    }
    assert_int_equal(store_writer_finish(writer, items, ITEMS, NULL), 0);
    assert_int_equal(store_writer_commit(writer, NULL, NULL), 0);
    size_t n;
    char *text = export_text(2, &n), *at = text + strlen("user,item,rating\n");
    for (int u = 0; u < 2; u++) {
        id[0] = (char)('a' + u);
        for (int i = 0; i < ITEMS; i++) {
            char rest[32];
            int length = snprintf(rest, sizeof rest, ",%d,%d\n", i, i % 5);
            assert_memory_equal(at, id, ID);
            assert_memory_equal(at + ID, rest, (size_t)length);
            at += ID + length;
        }
    }
    assert_ptr_equal(at, text + n);
    free(text);
    free(id);
    block_arrays_free(&arrays);
    store_encoded_free(&encoded);
}

static void test_output_errors(void **state) {
    (void)state;
    struct dpmf_synth_options options = dpmf_synth_options_default();
    assert_int_equal(dpmf_synth(path, &options, NULL, NULL, NULL), 0);
    struct dpmf_store *store;
    struct dpmf_error error;
    assert_int_equal(store_open_file(path, &store, NULL), 0);
    int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    if (full >= 0) {
        assert_int_equal(dpmf_store_export_csv(store, NULL, full, NULL, NULL, &error),
                         DPMF_ERR_IO_NO_SPACE);
        close(full);
    }
    signal(SIGPIPE, SIG_IGN);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    assert_int_equal(dpmf_store_export_csv(store, NULL, ends[1], NULL, NULL, &error),
                     DPMF_ERR_IO_WRITE);
    assert_int_equal(error.code, DPMF_ERR_IO_WRITE);
    close(ends[1]);
    assert_true(dpmf_store_export_csv(store, "/no/such/place/x.csv", -1, NULL, NULL, &error) < 0);
    assert_true(dpmf_store_export_csv(store, directory.path, -1, NULL, NULL, NULL) < 0);
    assert_int_equal(temp_dir_count(&directory), 1);
    dpmf_store_close(store);
}

/* Text can be anyone's: only an empty file is replaced unasked, and what is refused is left as it
 * was. */
static void test_replaces_when_asked(void **state) {
    (void)state;
    struct dpmf_synth_options options = dpmf_synth_options_default();
    struct dpmf_run run = dpmf_run_default();
    struct dpmf_error error = {0};
    struct dpmf_store *store;
    size_t n, n_new;
    assert_int_equal(dpmf_synth(path, &options, NULL, NULL, NULL), 0);
    assert_int_equal(store_open_file(path, &store, NULL), 0);
    temp_dir_write(csv_path, "", 0);
    assert_int_equal(dpmf_store_export_csv(store, csv_path, -1, NULL, NULL, NULL), 0);
    char *text = temp_dir_read(csv_path, &n);
    assert_true(n > 0);

    temp_dir_write(csv_path, "a text", 6);
    assert_int_equal(dpmf_store_export_csv(store, csv_path, -1, &run, NULL, &error),
                     DPMF_ERR_IO_WRITE);
    assert_int_equal(error.code, DPMF_ERR_IO_WRITE);
    assert_string_equal(error.file, csv_path);
    char *left = temp_dir_read(csv_path, &n_new);
    assert_int_equal(n_new, 6);
    assert_memory_equal(left, "a text", 6);
    free(left);
    assert_int_equal(temp_dir_count(&directory), 2); /* nothing half written beside it */

    run.replace = true;
    assert_int_equal(dpmf_store_export_csv(store, csv_path, -1, &run, NULL, NULL), 0);
    char *again = temp_dir_read(csv_path, &n_new);
    assert_int_equal(n_new, n);
    assert_memory_equal(again, text, n);
    free(again);
    free(text);
    dpmf_store_close(store);
}

int main(void) {
#define TEST(function) cmocka_unit_test_setup_teardown(function, make_directory, remove_directory)
    const struct CMUnitTest tests[] = {
        TEST(test_text),          TEST(test_nasty_ids),
        TEST(test_every_byte),    TEST(test_exact_values),
        TEST(test_threads),       TEST(test_large_text),
        TEST(test_output_errors), TEST(test_replaces_when_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
