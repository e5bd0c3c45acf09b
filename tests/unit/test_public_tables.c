/*
 * Public tables where catalogues that people have hardly go: standard input that is empty, columns
 * that nearly all items agree in, names of columns in every spelling, as many ids as there can be,
 * titles that are refused. What test_catalogue.c has is not repeated.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dpmf.h"
#include "dpmf_text.h"
#include "privacy/catalogue.h"
#include "privacy/id_gather.h"
#include "privacy/private_ratings.h"
#include "privacy/public_table.h"
#include "store/store.h"
#include "store_triples.h"
#include "temp_dir.h"

static int set_up(void **state) {
    struct temp_dir *dir = malloc(sizeof *dir);
    if (!dir) return -1;
    temp_dir_make(dir);
    *state = dir;
    return 0;
}

static int tear_down(void **state) {
    temp_dir_remove(*state);
    free(*state);
    return 0;
}

static const char *write_bytes(const struct temp_dir *dir, const char *name, const char *text,
                               size_t n) {
    static char path[2][TEMP_PATH_MAX];
    static unsigned turn;
    char *out = path[turn++ % 2];
    temp_dir_file(dir, name, out);
    temp_dir_write(out, text, n);
    return out;
}

static const char *write_text(const struct temp_dir *dir, const char *name, const char *text) {
    return write_bytes(dir, name, text, strlen(text));
}

/* ---- ids ------------------------------------------------------------------------------------- */

/* Numbers of ids have 32 bits: one more than there are is refused before anything is touched. */
static void test_as_many_ids_as_there_can_be(void **state) {
    (void)state;
    struct id_gather gather = {.ids = {.n = UINT32_MAX - 1}};
    struct dpmf_error error = {0};
    assert_int_equal(id_gather_add(&gather, "x", 1, &error), DPMF_ERR_INPUT_TOO_MANY);
    assert_int_equal(error.code, DPMF_ERR_INPUT_TOO_MANY);
    assert_null(gather.ids.bytes);
    assert_null(gather.slots);
}

/* ---- standard input -------------------------------------------------------------------------- */

static void feed(const struct temp_dir *dir, const char *text) {
    assert_non_null(freopen(write_text(dir, "stdin", text), "rb", stdin));
}

static void test_empty_standard_input(void **state) {
    struct catalogue catalogue;
    struct dpmf_error error = {0};
    feed(*state, "item\n");
    assert_int_equal(catalogue_read("-", NULL, &catalogue, &error), DPMF_ERR_INPUT_EMPTY);
    assert_string_equal(error.file, "<stdin>");
    for (int of_users = 0; of_users < 2; of_users++) {
        feed(*state, of_users ? "user,age\n" : "item,year\n");
        error = (struct dpmf_error){0};
        assert_int_equal(features_read("-", of_users, NULL, &catalogue, &error),
                         DPMF_ERR_INPUT_EMPTY);
        assert_string_equal(error.file, "<stdin>");
        assert_non_null(strstr(error.message, of_users ? "users" : "items"));
    }
}

/* ---- columns --------------------------------------------------------------------------------- */

/* Where nearly all numbers are the same, the outermost quantiles are too: the others are what there
 * is to tell, and each of them has features of its own. */
static void test_nearly_one_number(void **state) {
    enum { N = 200, LOW = 50, HIGH = 150 };
    char items[N * 8], text[N * 16];
    size_t n = 0, length = (size_t)sprintf(text, "item,year\n");
    for (int i = 0; i < N; i++) {
        n += (size_t)sprintf(items + n, "%d\n", i);
        length += (size_t)sprintf(text + length, "%d,%d\n", i,
                                  i == LOW    ? 1900
                                  : i == HIGH ? 2010
                                              : 1990);
    }
    struct catalogue catalogue;
    assert_int_equal(catalogue_read(write_text(*state, "items", items), NULL, &catalogue, NULL), 0);
    assert_int_equal(
        catalogue_read_features(&catalogue, write_text(*state, "years", text), NULL, NULL), 0);
    assert_int_equal(catalogue.n_features, 6);
    const size_t row = catalogue.n_features;
    for (size_t i = 0; i < N; i++) {
        bool is_plain = true;
        for (size_t k = 0; k < row; k++) {
            assert_true(isfinite(catalogue.features[i * row + k]));
            is_plain = is_plain && catalogue.features[i * row + k] == catalogue.features[k];
        }
        assert_int_equal(is_plain, i != LOW && i != HIGH);
    }
    /* The lowest bump is where the lowest number is, the highest where the highest is. */
    assert_true(catalogue.features[LOW * row] > 1 && catalogue.features[HIGH * row + row - 1] > 1);
    catalogue_free(&catalogue);
}

struct table_case {
    const char *text;
    int code;
    int64_t line, column;
};

static void check_case(const struct table_case *expected, int code,
                       const struct dpmf_error *error) {
    if (code != expected->code || error->line != expected->line ||
        error->column != expected->column)
        fail_msg("\"%s\": code %d %s at %lld:%lld", expected->text, code, error->message,
                 (long long)error->line, (long long)error->column);
}

static void test_headers(void **state) {
    static const struct table_case cases[] = {
        {"item,movie_id\n1,2\n", DPMF_ERR_INPUT_HEADER, 1, 6},
        {"item,public: movie_id\n1,2\n", 0, 0, 0},
        {"item,public:item\n1,2\n", 0, 0, 0},
        {",item\nx,1\n", 0, 0, 0}, /* a column without a name */
        {"ann::Alien (1979]::good\n", DPMF_ERR_PRIVACY_REFUSED, 1, 1},
        {"ann::Alien [1979)::good\n", DPMF_ERR_PRIVACY_REFUSED, 1, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct catalogue catalogue;
        struct dpmf_error error = {0};
        const char *path = write_text(*state, "items", cases[i].text);
        check_case(&cases[i], catalogue_read(path, NULL, &catalogue, &error), &error);
        catalogue_free(&catalogue);
    }
}

/* What is said about items is known by its name, in whatever spelling; a name of no letters, one
 * that is too long and one that a byte of 0 cuts short are not known. */
static void test_names_of_columns(void **state) {
    (void)state;
    static const struct {
        const char *name;
        size_t length;
        bool is_known;
    } cases[] = {
        {"release year", 12, true}, {"release_year", 12, true},
        {"release-year", 12, true}, {"Release.YEAR", 12, true},
        {"year:float", 10, true},   {" year ", 6, true},
        {"__", 2, false},           {"-", 1, false},
        {":token", 6, false},       {"year\0s", 6, false},
        {"release", 7, false},      {"year2", 5, false},
        {"[year]", 6, false},       {"{year", 5, false},
        {"@year", 5, false},        {"yearyearyearyearyearyearyearyearyear", 36, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct dpmf_field fields[] = {{"item", 4, 1}, {cases[i].name, cases[i].length, 6}};
        const struct dpmf_table_record header = {.file = "x", .line = 1, .field = fields, .n = 2};
        struct dpmf_error error = {0};
        const int code = public_table_check_features(&header, &error);
        if (code != (cases[i].is_known ? 0 : DPMF_ERR_PRIVACY_REFUSED))
            fail_msg("\"%s\": %d", cases[i].name, code);
        assert_int_equal(error.column, cases[i].is_known ? 0 : 6);
    }
}

/* u.item is known by its titles, and not by its flags alone. */
static void test_flags_without_titles(void **state) {
    static const char flags[] = "|0|0|0|1|0|0|0|0|0|0|0|0|0|0|0|0|0|0|0\n";
    static const char *const starts[] = {"7|A (1990)|01-Jan-1990||x", "7|A|01-Jan-1990||x"};
    for (size_t i = 0; i < 2; i++) {
        struct catalogue catalogue;
        struct dpmf_error error = {0};
        char text[200];
        snprintf(text, sizeof text, "%s%s", starts[i], flags);
        const int code =
            features_read(write_text(*state, "u.item", text), false, NULL, &catalogue, &error);
        /* With titles it is understood; one item alone says nothing then. */
        assert_int_equal(code, i == 0 ? DPMF_ERR_INPUT_COLUMNS : DPMF_ERR_INPUT_HEADER);
        assert_int_equal(error.line, i);
    }
}

/* ---- wishes ---------------------------------------------------------------------------------- */

static void test_wish_without_a_user(void **state) {
    static const struct id_form any_text = {.takes_text = true};
    struct user_wishes wishes;
    struct dpmf_error error = {0};
    const char *path = write_text(*state, "wishes", "epsilon,user\n1,ann\n2\n");
    assert_int_equal(user_wishes_read(path, &any_text, NULL, &wishes, &error),
                     DPMF_ERR_INPUT_COLUMNS);
    assert_int_equal(error.line, 3);
}

/* ---- what was rated -------------------------------------------------------------------------- */

/* Ratings of one user: of a and c, where b is an item too, as other programs may write stores. */
static void write_store(const char *path) {
    const struct store_item items[] = {{"a", 1, 1}, {"b", 1, 0}, {"c", 1, 1}};
    const struct store_layout layout = store_layout_declared();
    struct store_writer *writer;
    struct block_packer packer;
    struct block_arrays user = {0};
    assert_int_equal(store_writer_open(&writer, path, false, &layout, NULL), 0);
    block_packer_init(&packer, writer, false);
    assert_true(block_arrays_room(&user, 2, 3, false));
    for (uint32_t i = 0; i < 2; i++) {
        user.item[i] = 2 * i;
        user.value[i] = 1 + i;
    }
    block_arrays_end_user(&user, 2, "ann", 3);
    const struct store_block block = block_arrays_view(&user, 0);
    assert_int_equal(block_packer_add(&packer, &block, NULL), 0);
    assert_int_equal(block_packer_flush(&packer, NULL), 0);
    assert_int_equal(store_writer_finish(writer, items, 3, NULL), 0);
    assert_int_equal(store_writer_commit(writer, NULL, NULL), 0);
    block_packer_free(&packer);
    block_arrays_free(&user);
}

/* The format of stores allows items that nobody rated: they were not rated. */
static void test_items_without_ratings(void **state) {
    struct dpmf_store *store;
    struct catalogue catalogue;
    struct private_ratings *ratings;
    struct private_ratings_report report;
    char path[TEMP_PATH_MAX];
    temp_dir_file(*state, "x.dpr", path);
    write_store(path);
    assert_int_equal(store_open_file(path, &store, NULL), 0);
    assert_int_equal(store_n_items(store), 3);
    const char *two = write_text(*state, "items", "a\nc\n");
    assert_int_equal(catalogue_read(two, NULL, &catalogue, NULL), 0);
    assert_true(catalogue_is_rated(&catalogue, store));
    catalogue_free(&catalogue);
    const char *three = write_text(*state, "items", "a\nb\nc\n");
    assert_int_equal(catalogue_read(three, NULL, &catalogue, NULL), 0);
    assert_false(catalogue_is_rated(&catalogue, store));
    const struct private_ratings_options options = {
        .range_max = 5, .catalogue = &catalogue, .memory = 1 << 20, .threads = 1};
    assert_int_equal(private_ratings_build(store, &options, NULL, &ratings, &report, NULL), 0);
    assert_int_equal(report.items_rated, 2);
    assert_int_equal(report.ratings, 2);
    private_ratings_free(ratings);
    catalogue_free(&catalogue);
    dpmf_store_close(store);
}

static void test_a_store_of_nothing(void **state) {
    struct triples none = {0};
    struct dpmf_store *store;
    struct catalogue catalogue;
    struct dpmf_error error = {0};
    char path[TEMP_PATH_MAX];
    temp_dir_file(*state, "x.dpr", path);
    triples_write(&none, false, false, path);
    assert_int_equal(store_open_file(path, &store, NULL), 0);
    assert_int_equal(catalogue_from_store(store, &catalogue, &error), DPMF_ERR_INPUT_EMPTY);
    assert_string_equal(error.file, path);
    const char *items = write_text(*state, "items", "a\n");
    assert_int_equal(catalogue_read(items, NULL, &catalogue, NULL), 0);
    assert_false(catalogue_is_rated(&catalogue, store));
    catalogue_free(&catalogue);
    dpmf_store_close(store);
}

/* ---- titles ---------------------------------------------------------------------------------- */

static int count_title(void *self, const struct dpmf_table_row *row, struct dpmf_error *error) {
    (void)row, (void)error;
    return ++*(int *)self == 5 ? 7 : 0;
}

static void test_titles(void **state) {
    static const struct table_case cases[] = {
        {"item,title\n1,a\n2,b\n", 0, 0, 0},
        {"title,item\na,1\nb,1\n", DPMF_ERR_PRIVACY_REFUSED, 3, 3},
        {"item,year\n1,a\n", DPMF_ERR_PRIVACY_REFUSED, 1, 1},
        {"item,title,user\n1,a,ann\n", DPMF_ERR_PRIVACY_REFUSED, 1, 12},
        {"item,title\n1,a\n,b\n", DPMF_ERR_INPUT_ID, 3, 1},
        {"item,title\n1,a\n2,b\n3,c\n4,d\n5,e\n6,f\n", 7, 0, 0}, /* who takes them ends it */
    };
    struct dpmf_error error = {0};
    int n = 0;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *path = write_text(*state, "titles", cases[i].text);
        n = 0;
        error = (struct dpmf_error){0};
        check_case(&cases[i], dpmf_table_read_titles(path, NULL, count_title, &n, &error), &error);
    }
    assert_int_equal(n, 5); /* of the last */
    /* Arguments that are missing are missed before anything is read. */
    const char *path = write_text(*state, "titles", cases[0].text);
    struct dpmf_run run = dpmf_run_default();
    assert_int_equal(dpmf_table_read_titles(NULL, NULL, count_title, &n, &error),
                     DPMF_ERR_USAGE_NULL);
    assert_int_equal(dpmf_table_read_titles(path, NULL, NULL, NULL, &error), DPMF_ERR_USAGE_NULL);
    run.size = 1;
    assert_int_equal(dpmf_table_read_titles(path, &run, count_title, &n, &error),
                     DPMF_ERR_USAGE_STRUCT);
    assert_int_equal(n, 5);
}

/* A table of ratings given for titles would publish who rated what. */
static void test_a_store_is_no_titles(void **state) {
    char path[TEMP_PATH_MAX];
    struct dpmf_error error = {0};
    int n = 0;
    const char *input = write_text(*state, "x.csv", "user,item,rating\nann,1,3\nbob,2,4\n");
    temp_dir_file(*state, "x.dpr", path);
    assert_int_equal(dpmf_import(&input, 1, path, NULL, NULL, NULL, NULL), 0);
    assert_int_equal(dpmf_table_read_titles(path, NULL, count_title, &n, &error),
                     DPMF_ERR_PRIVACY_REFUSED);
    assert_int_equal(n, 0);
    assert_true(error.hint[0] != '\0' && error.line == 0);
    assert_string_equal(error.file, path);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_as_many_ids_as_there_can_be),
        TEST(test_empty_standard_input),
        TEST(test_nearly_one_number),
        TEST(test_headers),
        TEST(test_names_of_columns),
        TEST(test_flags_without_titles),
        TEST(test_wish_without_a_user),
        TEST(test_items_without_ratings),
        TEST(test_a_store_of_nothing),
        TEST(test_titles),
        TEST(test_a_store_is_no_titles),
    };
    return cmocka_run_group_tests_name("public tables", tests, NULL, NULL);
}
