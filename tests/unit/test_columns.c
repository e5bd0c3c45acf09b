/*
 * Columns by their names and by lists, the layout of u.item, tables that are left or misread, and
 * inputs of unusual descriptors.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "stream_of.h"
#include "tables/column_names.h"
#include "tables/movielens_items.h"
#include "tables/table_file.h"
#include "temp_dir.h"

static struct temp_dir dir;
static char path[TEMP_PATH_MAX];
static struct dpmf_error error;

static int set_up(void **state) {
    (void)state;
    temp_dir_make(&dir);
    temp_dir_file(&dir, "table", path);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    temp_dir_remove(&dir);
    return 0;
}

/* ---- columns --------------------------------------------------------------------------------- */

static void test_lists(void **state) {
    static const struct {
        const char *list, *why; /* NULL: it is one */
        bool holds_events;
        uint32_t n;
    } cases[] = {
        {"user,item", NULL, true, 2},
        {"_,item,count,user", NULL, true, 4},
        {"rating,item,_,user,timestamp", NULL, false, 5},
        {"user,item,rating,count", "has both a rating and a count", false, 0},
        {"user,item,count,rating", "has both a rating and a count", false, 0},
        {"user", "lacks user or item", false, 0},
        {"item,rating", "lacks user or item", false, 0},
        {"user,item,user", "names one of them twice", false, 0},
        {"user,item,stars", "has a name that is not one of these", false, 0},
        {"user,item,", "has a name that is not one of these", false, 0},
        {"", "has a name that is not one of these", false, 0},
    };
    int32_t column[COLUMN_ROLES];
    uint32_t n;
    bool holds_events;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int code = column_list_parse(cases[i].list, column, &n, &holds_events, &error);
        assert_int_equal(code, cases[i].why ? DPMF_ERR_USAGE_VALUE : 0);
        if (cases[i].why) {
            assert_non_null(strstr(error.message, cases[i].why));
            continue;
        }
        assert_int_equal(n, cases[i].n);
        assert_int_equal(holds_events, cases[i].holds_events);
    }
    /* As many columns as there may be, and one more. */
    char list[2 * COLUMN_LIST_MAX + 32] = "user,item";
    for (int i = 2; i < COLUMN_LIST_MAX; i++) strcat(list, ",_");
    assert_int_equal(column_list_parse(list, column, &n, &holds_events, &error), 0);
    assert_int_equal(n, COLUMN_LIST_MAX);
    strcat(list, ",_");
    assert_int_equal(column_list_parse(list, column, &n, &holds_events, &error),
                     DPMF_ERR_USAGE_VALUE);
    assert_non_null(strstr(error.message, "is too long"));
}

static void find(struct columns_found *found, const char *const *names) {
    columns_found_begin(found);
    for (uint32_t i = 0; names[i]; i++) columns_found_add(found, names[i], strlen(names[i]), i);
}

/* Times by a second choice of names, where no column has one of the first. */
static void test_other_times(void **state) {
    struct columns_found found;
    int32_t column[COLUMN_ROLES];
    (void)state;
    find(&found, (const char *const[]){"user", "item", "rating", "created_on", "created_at",
                                       "rated_at", NULL});
    assert_int_equal(columns_found_settle(&found, false, column), COLUMNS_RATINGS);
    assert_int_equal(column[COLUMN_TIME], 4);
    find(&found, (const char *const[]){"user", "item", "rating", "created_at", "timestamp", NULL});
    assert_int_equal(columns_found_settle(&found, false, column), COLUMNS_RATINGS);
    assert_int_equal(column[COLUMN_TIME], 4);
    find(&found, (const char *const[]){"user", "item", "rating", "createdxx", NULL});
    assert_int_equal(columns_found_settle(&found, false, column), COLUMNS_RATINGS);
    assert_int_equal(column[COLUMN_TIME], -1);
}

static void test_kinds(void **state) {
    static const struct {
        const char *names[6];
        bool events;
        enum columns_kind kind;
        enum column_role twice;
    } cases[] = {
        {{"user", "item", "rating"}, false, COLUMNS_RATINGS, COLUMN_OTHER},
        {{"user", "item", "rating"}, true, COLUMNS_CONFLICT, COLUMN_OTHER},
        {{"user", "item", "rating", "plays"}, true, COLUMNS_EVENTS, COLUMN_OTHER},
        {{"user", "item", "rating", "plays"}, false, COLUMNS_RATINGS, COLUMN_OTHER},
        {{"user", "item"}, false, COLUMNS_EVENTS, COLUMN_OTHER},
        {{"user", "item", "colour"}, false, COLUMNS_LACKING, COLUMN_OTHER},
        {{"user", "item", "colour"}, true, COLUMNS_EVENTS, COLUMN_OTHER},
        {{"user", "rating"}, false, COLUMNS_LACKING, COLUMN_OTHER},
        {{"item", "rating"}, false, COLUMNS_LACKING, COLUMN_OTHER},
        {{"user", "item", "user", "user"}, false, COLUMNS_EVENTS, COLUMN_USER},
        {{"user", "item", "rating", "rating"}, false, COLUMNS_RATINGS, COLUMN_RATING},
        {{"user", "item", "rating", "rating", "plays"}, true, COLUMNS_EVENTS, COLUMN_OTHER},
        {{"user", "item", "plays", "plays"}, false, COLUMNS_EVENTS, COLUMN_COUNT},
        {{"user", "item", "rating", "plays", "plays"}, false, COLUMNS_RATINGS, COLUMN_OTHER},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct columns_found found;
        int32_t column[COLUMN_ROLES];
        find(&found, cases[i].names);
        if (columns_found_settle(&found, cases[i].events, column) != cases[i].kind ||
            columns_found_twice(&found, cases[i].events) != cases[i].twice)
            fail_msg("case %zu", i);
    }
}

/* ---- u.item ---------------------------------------------------------------------------------- */

static void test_u_item(void **state) {
    struct dpmf_field fields[U_ITEM_COLUMNS + 1];
    const struct dpmf_table_record row = {.field = fields, .n = U_ITEM_COLUMNS};
    struct dpmf_table_record other = row;
    char text[U_ITEM_GENRES_ROOM];
    size_t n = 0;
    (void)state;
    for (size_t i = 0; i < U_ITEM_COLUMNS + 1; i++)
        fields[i] = (struct dpmf_field){(char *)(i < U_ITEM_FIRST_GENRE ? "text" : "0"),
                                        i < U_ITEM_FIRST_GENRE ? 4 : 1, 1};
    assert_true(movielens_is_u_item(&row));
    assert_int_equal(movielens_genres(&row, text), 0);
    fields[U_ITEM_FIRST_GENRE].text = (char *)"1"; /* of no known genre */
    assert_int_equal(movielens_genres(&row, text), 0);
    fields[U_ITEM_FIRST_GENRE + 1].text = fields[U_ITEM_COLUMNS - 1].text = (char *)"1";
    assert_int_equal(movielens_genres(&row, text), strlen("Action|Western"));
    assert_string_equal(text, "Action|Western");
    for (size_t i = U_ITEM_FIRST_GENRE; i < U_ITEM_COLUMNS; i++) fields[i].text = (char *)"1";
    n = movielens_genres(&row, text);
    assert_int_equal(strlen(text), n); /* all of them fit */
    other.n = U_ITEM_COLUMNS + 1;
    assert_false(movielens_is_u_item(&other));
    other.n = U_ITEM_COLUMNS - 1;
    assert_false(movielens_is_u_item(&other));
    fields[9] = (struct dpmf_field){(char *)"2", 1, 1};
    assert_false(movielens_is_u_item(&row));
    fields[9] = (struct dpmf_field){(char *)"10", 2, 1};
    assert_false(movielens_is_u_item(&row));
    fields[9] = (struct dpmf_field){(char *)"", 0, 1};
    assert_false(movielens_is_u_item(&row));
}

/* ---- tables ---------------------------------------------------------------------------------- */

static int count_row(void *self, const struct dpmf_table_row *row, struct dpmf_error *e) {
    (void)row, (void)e;
    ++*(int *)self;
    return 0;
}

static int count_record(void *self, const struct dpmf_table_record *record, struct dpmf_error *e) {
    (void)record, (void)e;
    ++*(int *)self;
    return 0;
}

static int stop(void *self, const struct dpmf_progress *progress) {
    (void)self, (void)progress;
    return 1;
}

static void test_arguments(void **state) {
    struct dpmf_run run = dpmf_run_default();
    int n = 0;
    (void)state;
    temp_dir_write(path, "1,2\n", 4);
    assert_int_equal(dpmf_table_read(path, "user,item", NULL, NULL, NULL, &error),
                     DPMF_ERR_USAGE_NULL);
    assert_int_equal(dpmf_table_read(path, NULL, NULL, count_row, &n, &error), DPMF_ERR_USAGE_NULL);
    assert_int_equal(dpmf_table_read_whole(path, NULL, NULL, NULL, &error), DPMF_ERR_USAGE_NULL);
    assert_int_equal(dpmf_table_read_whole(NULL, NULL, count_record, &n, &error),
                     DPMF_ERR_USAGE_NULL);
    assert_null(dpmf_table_column_role(NULL, 4));
    assert_int_equal(dpmf_table_read(path, "user,colour", NULL, count_row, &n, &error),
                     DPMF_ERR_USAGE_VALUE);
    assert_int_equal(dpmf_table_read(path, "item,item,item,item,item,item,item,item,item", NULL,
                                     count_row, &n, &error),
                     DPMF_ERR_USAGE_VALUE);
    run.size = 1;
    assert_true(dpmf_table_read(path, "user,item", &run, count_row, &n, &error) < 0);
    assert_true(dpmf_table_read_whole(path, &run, count_record, &n, &error) < 0);
    assert_int_equal(n, 0);
}

/* Whoever asks for it to end: before a row is taken, from text and from a store. */
static void test_cancelled(void **state) {
    struct dpmf_run run = dpmf_run_default();
    struct dpmf_synth_options synth = dpmf_synth_options_default();
    char store[TEMP_PATH_MAX];
    int n = 0;
    (void)state;
    run.progress = stop;
    temp_dir_write(path, "1,2\n", 4);
    assert_int_equal(dpmf_table_read(path, "user,item", &run, count_row, &n, &error),
                     DPMF_ERR_BASE_CANCELLED);
    assert_int_equal(dpmf_table_read_whole(path, &run, count_record, &n, &error),
                     DPMF_ERR_BASE_CANCELLED);
    assert_int_equal(n, 0);
    temp_dir_file(&dir, "s.dpr", store);
    synth.users = synth.items = 5;
    synth.ratings = 10;
    assert_int_equal(dpmf_synth(store, &synth, NULL, NULL, NULL), 0);
    assert_int_equal(dpmf_table_read(store, "user,item", &run, count_row, &n, &error),
                     DPMF_ERR_BASE_CANCELLED);
    assert_int_equal(dpmf_table_read_whole(store, NULL, count_record, &n, &error),
                     DPMF_ERR_INPUT_UNKNOWN_FORMAT);
    unlink(store);
}

static void test_refused_rows(void **state) {
    static const struct {
        const char *text, *columns;
        bool is_public;
        int code;
        int64_t line;
    } cases[] = {
        {"1,a\n\xef\xbb\xbf"
         "2,b\n",
         "item,title", false, DPMF_ERR_INPUT_UNKNOWN_FORMAT, 2},
        {"1,a\n\xef\xbb\xbf"
         "2,b\n",
         "item", true, DPMF_ERR_INPUT_UNKNOWN_FORMAT, 2},
        {"item,year\n1,1999\nYear,Item\n2,2000\n", "item", true, DPMF_ERR_INPUT_HEADER, 3},
        {"item,year\n1,1999\n", "item", true, 0, 0},
        {"item,rating\n1,5\n", "item,title", false, DPMF_ERR_INPUT_HEADER, 1},
        {"user,item\nann\n", "user,item", false, DPMF_ERR_INPUT_COLUMNS, 2},
        {"\xff\xfe"
         "1,2\n",
         "user,item", false, DPMF_ERR_INPUT_UNKNOWN_FORMAT, 1},
        {"\xfe\xff"
         "1,2\n",
         "user,item", false, DPMF_ERR_INPUT_UNKNOWN_FORMAT, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int n = 0;
        error = (struct dpmf_error){.code = 0};
        temp_dir_write(path, cases[i].text, strlen(cases[i].text));
        const int code =
            cases[i].is_public
                ? table_read_public(path, cases[i].columns, NULL, NULL, count_row, &n, &error)
                : dpmf_table_read(path, cases[i].columns, NULL, count_row, &n, &error);
        if (code != cases[i].code || (code != 0 && error.line != cases[i].line))
            fail_msg("case %zu: %d at %lld: %s", i, code, (long long)error.line, error.message);
    }
}

/* Rows of a list are shown whole where no header says which column has the items. */
static void test_nameless_rows(void **state) {
    int shown = 0, taken = 0;
    (void)state;
    temp_dir_write(path, "1\n2\n3\n", 6);
    assert_int_equal(table_read_list(path, NULL, NULL, count_record, count_row, &taken, &error), 0);
    assert_int_equal(taken, 6); /* both count here */
    temp_dir_write(path, "item\n2\n3\n", 9);
    taken = 0;
    assert_int_equal(
        table_read_list(path, NULL, count_record, count_record, count_row, &taken, &error), 0);
    assert_int_equal(taken, 3); /* its first row was looked at, and two taken */
    assert_int_equal(shown, 0);
}

/* ---- inputs ---------------------------------------------------------------------------------- */

/* Reads it all. @return a code, and how many bytes there were */
static int drain(struct input_stream *stream, size_t *n) {
    static char bytes[1 << 16];
    size_t got = 1;
    int code = 0;
    *n = 0;
    while (code == 0 && got > 0) {
        code = input_stream_read(stream, bytes, sizeof bytes, &got, &error);
        *n += got;
    }
    input_stream_close(stream);
    return code;
}

static void test_standard_input(void **state) {
    struct input_stream *stream;
    size_t n;
    (void)state;
    const int own = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 10), file = stream_of_file("abc", 3);
    assert_true(dup2(file, STDIN_FILENO) == STDIN_FILENO);
    assert_int_equal(input_stream_open("-", NULL, &stream, &error), 0);
    assert_string_equal(input_stream_name(stream), "<stdin>");
    assert_int_equal(drain(stream, &n), 0);
    assert_int_equal(n, 3);
    close(STDIN_FILENO);
    assert_true(input_stream_open("-", NULL, &stream, &error) < 0);
    assert_string_equal(error.file, "<stdin>");
    if (own >= 0) {
        assert_true(dup2(own, STDIN_FILENO) == STDIN_FILENO);
        close(own);
    }
    close(file);
}

static void test_descriptors(void **state) {
    struct input_stream *stream;
    (void)state;
    assert_true(input_stream_open_fd(-1, "none", NULL, &stream, &error) < 0);
    assert_string_equal(error.file, "none");
    temp_dir_write(path, "abc", 3);
    assert_true(input_stream_open_fd(open(path, O_WRONLY | O_CLOEXEC), "unreadable", NULL, &stream,
                                     &error) < 0);
    assert_string_equal(error.file, "unreadable");
    static const char skippable[][5] = {"\x50\x2a\x4d\x19", "\x50\x2a\x4e\x18", "\x50\x2b\x4d\x18",
                                        "\x60\x2a\x4d\x18", "\x28\xb5\x2f\xfe", "\x28\xb5\x2e\xfd"};
    for (size_t i = 0; i < sizeof skippable / sizeof *skippable; i++) { /* plain bytes all */
        size_t n;
        assert_int_equal(stream_of(skippable[i], 4, "t", &stream, &error), 0);
        assert_int_equal(drain(stream, &n), 0);
        assert_int_equal(n, 4);
    }
}

/* Zeros behind a gzip member, more of them than are read at once; then something else. */
static void test_padding(void **state) {
    enum { ZEROS = 1 << 20 };
    struct input_stream *stream;
    size_t n;
    (void)state;
    gzFile packed = gzopen(path, "wb");
    assert_true(packed && gzwrite(packed, "hello", 5) == 5 && gzclose(packed) == Z_OK);
    FILE *file = fopen(path, "ab");
    char *zeros = calloc(1, ZEROS);
    assert_true(file && zeros && fwrite(zeros, 1, ZEROS, file) == ZEROS && fclose(file) == 0);
    free(zeros);
    assert_int_equal(input_stream_open(path, NULL, &stream, &error), 0);
    assert_int_equal(drain(stream, &n), 0);
    assert_int_equal(n, 5);
    file = fopen(path, "ab");
    assert_true(file && fputc('x', file) == 'x' && fclose(file) == 0);
    assert_int_equal(input_stream_open(path, NULL, &stream, &error), 0);
    assert_int_equal(drain(stream, &n), DPMF_ERR_INPUT_COMPRESSED);
    assert_string_equal(error.message,
                        "the compressed data are damaged: something other than gzip follows");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),          cmocka_unit_test(test_other_times),
        cmocka_unit_test(test_kinds),          cmocka_unit_test(test_u_item),
        cmocka_unit_test(test_arguments),      cmocka_unit_test(test_cancelled),
        cmocka_unit_test(test_refused_rows),   cmocka_unit_test(test_nameless_rows),
        cmocka_unit_test(test_standard_input), cmocka_unit_test(test_descriptors),
        cmocka_unit_test(test_padding),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
