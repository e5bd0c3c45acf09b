/*
 * Small tables of text in the forms people have them, whatever parts their columns and however long
 * they are; and what is wrong with a bad one, at its line and column.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dpmf.h"
#include "dpmf_text.h"
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

/* Rows as text: fields in brackets, a row a line. */
struct written {
    char text[4096];
    size_t n, n_columns, rows;
    int64_t last_line;
};

static int write_row(void *self, const struct dpmf_table_row *row, struct dpmf_error *error) {
    struct written *out = self;
    (void)error;
    out->rows++;
    out->last_line = row->line;
    for (size_t i = 0; i < out->n_columns; i++) {
        assert_int_equal(strlen(row->field[i].text), row->field[i].length);
        if (out->n < 2000)
            out->n += (size_t)snprintf(out->text + out->n, 1000, "[%s]", row->field[i].text);
    }
    if (out->n < 2000) out->text[out->n++] = '\n';
    return 0;
}

static int read_bytes(const struct temp_dir *dir, const char *bytes, size_t n, const char *columns,
                      struct written *out, struct dpmf_error *error) {
    char path[TEMP_PATH_MAX];
    temp_dir_file(dir, "table", path);
    temp_dir_write(path, bytes, n);
    *out = (struct written){.n_columns = 1};
    for (const char *c = columns; *c; c++) out->n_columns += *c == ',';
    return dpmf_table_read(path, columns, NULL, write_row, out, error);
}

static void test_forms(void **state) {
    static const struct {
        const char *text, *columns, *rows;
    } cases[] = {
        {"", "user,item", ""},
        {"\n\r\n", "user,item", ""},
        {"ann,dune\nbob,solaris", "user,item", "[ann][dune]\n[bob][solaris]\n"},
        {"ann,dune,4.5,99\r\nbob,solaris,,\r\n", "user,item", "[ann][dune]\n[bob][solaris]\n"},
        {"user,item\nann,dune\n", "user,item", "[ann][dune]\n"},
        {"\xEF\xBB\xBFmovieId,rating,userId\n1,5,7\n", "user,item", "[7][1]\n"},
        {"item,user\ndune,ann\n", "item", "[dune]\n"},
        {"1\t2\t3\n4\t5\t6\n", "user,item", "[1][2]\n[4][5]\n"},
        {"1::2::3\n", "user,item", "[1][2]\n"},
        {"1::Toy: Story::Comedy|Drama\n", "item,title", "[1][Toy: Story]\n"},
        {"1|Toy, Story|01-Jan|||0\n", "item,title", "[1][Toy, Story]\n"},
        {"1|\"Toy|x\n", "item,title", "[1][\"Toy]\n"},
        {"1;2\n", "user,item", "[1][2]\n"},
        {" 1   2  3 \n4 \t 5\n", "user,item", "[1][2]\n[4][5]\n"},
        {"one two\nthree\n", "item", "[one two]\n[three]\n"},
        {"\"a,b\",\"c\"\"d\"\n", "user,item", "[a,b][c\"d]\n"},
        {"\"a\nb\",c\nd,\"\"\"\"\n", "user,item", "[a\nb][c]\n[d][\"]\n"},
        {"a,b\"c\n", "user,item", "[a][b\"c]\n"},
        {"item,title\n1,Am\xe9lie\n2,Am\xc3\xa9lie\n3,\n", "item,title",
         "[1][Am\xc3\xa9lie]\n[2][Am\xc3\xa9lie]\n[3][]\n"},
        {"dune,4.5\nsolaris,3\n", "item,rating", "[dune][4.5]\n[solaris][3]\n"},
        /* separators at the end of a row, and columns at its end that are left out */
        {"item,rating\n1,5,,\n2,4\n", "item,rating", "[1][5]\n[2][4]\n"},
        {"item,rating,note\n1,5\n", "item,rating", "[1][5]\n"},
        /* in a catalogue the artist is no second item, and a name no second title */
        {"song,title,artist,name\n1,Help,Beatles,x\n", "item,title", "[1][Help]\n"},
        {"user,item,rating,rating\nann,1,4,5\n", "user,item", "[ann][1]\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct written out;
        struct dpmf_error error = {0};
        int code = read_bytes(*state, cases[i].text, strlen(cases[i].text), cases[i].columns, &out,
                              &error);
        if (code != 0 || strcmp(out.text, cases[i].rows) != 0)
            fail_msg("case %zu: code %d %s, rows %s", i, code, error.message, out.text);
    }
}

static void test_bad_rows(void **state) {
    static const struct {
        const char *text;
        int code;
        int64_t line, column;
    } cases[] = {
        {"a,b\nc\n", DPMF_ERR_INPUT_COLUMNS, 2, 0},
        {"a,b\n\n,d\n", DPMF_ERR_INPUT_ID, 3, 1},
        {"a,b\nc,\n", DPMF_ERR_INPUT_ID, 2, 3},
        {"\"a\n\",b\n\"c,d\n", DPMF_ERR_INPUT_QUOTE, 3, 1},
        {"a,b\n\"c\"d,e\n", DPMF_ERR_INPUT_QUOTE, 2, 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct written out;
        struct dpmf_error error = {0};
        int code =
            read_bytes(*state, cases[i].text, strlen(cases[i].text), "user,item", &out, &error);
        if (code != cases[i].code || error.line != cases[i].line || error.column != cases[i].column)
            fail_msg("case %zu: code %d at %lld:%lld", i, code, (long long)error.line,
                     (long long)error.column);
        assert_true(error.hint[0] != '\0');
    }
}

/* What would be cut off or chosen without a word. */
static void test_doubtful_rows(void **state) {
    static const struct {
        const char *text, *columns;
        int code;
        int64_t line, column;
    } cases[] = {
        {"item,rating\n1,3,5\n", "item,rating", DPMF_ERR_INPUT_COLUMNS, 2, 5},
        {"rating,item\n4,1,3\n", "item,rating", DPMF_ERR_INPUT_COLUMNS, 2, 5},
        {"item;rating\n1;3;5\n", "item,rating", DPMF_ERR_INPUT_COLUMNS, 2, 5},
        {"1,2\n1,3,5\n", "item,rating", DPMF_ERR_INPUT_COLUMNS, 2, 5},
        {"item,title\n1,Toy Story\n2,Cook, the Thief\n", "item,title", DPMF_ERR_INPUT_COLUMNS, 3,
         8},
        {"shelf\n1,2\n", "item", DPMF_ERR_INPUT_COLUMNS, 2, 3},
        {"item,rating,rating\n1,5,3\n", "item,rating", DPMF_ERR_INPUT_HEADER, 1, 13},
        {"item,rating,stars\n1,5,3\n", "item,rating", DPMF_ERR_INPUT_HEADER, 1, 13},
        {"item,rating,item\n1,5,3\n", "item,rating", DPMF_ERR_INPUT_HEADER, 1, 13},
        {"user,item,user\n42,50,43\n", "user,item", DPMF_ERR_INPUT_HEADER, 1, 11},
        {"user,item,rating\n1,2,3\n", "item,title", DPMF_ERR_INPUT_HEADER, 1, 1},
        {"item,plays\n1,2\n", "item,title", DPMF_ERR_INPUT_HEADER, 1, 1},
        {"item,title,Title\n1,a,b\n", "item,title", DPMF_ERR_INPUT_HEADER, 1, 12},
        /* headers of pairs that name one of them, or come again */
        {"thing,user\n1,2\n", "user,item", DPMF_ERR_INPUT_HEADER, 1, 1},
        {"item,who\n1,2\n", "user,item", DPMF_ERR_INPUT_HEADER, 1, 1},
        {"user,item\n1,2\nitem,user\n3,4\n", "user,item", DPMF_ERR_INPUT_HEADER, 3, 1},
        {"1,2\nuser,item\n3,4\n", "user,item", DPMF_ERR_INPUT_HEADER, 2, 1},
        {"thing,rater\n1,2\n", "user,item", DPMF_ERR_INPUT_HEADER, 2, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct written out;
        struct dpmf_error error = {0};
        int code = read_bytes(*state, cases[i].text, strlen(cases[i].text), cases[i].columns, &out,
                              &error);
        if (code != cases[i].code || error.line != cases[i].line ||
            error.column != cases[i].column || error.hint[0] == '\0')
            fail_msg("case %zu: code %d at %lld:%lld, %s", i, code, (long long)error.line,
                     (long long)error.column, error.message);
    }
}

static void test_long_tables(void **state) {
    enum { ROWS = 200000 };
    char *text = malloc(ROWS * 16);
    assert_non_null(text);
    size_t n = 0;
    for (int i = 0; i < ROWS; i++) n += (size_t)sprintf(text + n, "u%d,i%d\n", i, i % 100);
    struct written out;
    assert_int_equal(read_bytes(*state, text, n, "user,item", &out, NULL), 0);
    assert_int_equal(out.rows, ROWS);
    assert_int_equal(out.last_line, ROWS);
    free(text);
}

static void test_long_rows(void **state) {
    enum { LONG = 3 << 20 };
    char *text = malloc(LONG + 1);
    assert_non_null(text);
    struct written out;
    memset(text, 'x', LONG);
    assert_int_equal(read_bytes(*state, text, LONG, "item", &out, NULL),
                     DPMF_ERR_INPUT_LINE_TOO_LONG);
    assert_int_equal(read_bytes(*state, text, 70000, "item", &out, NULL),
                     DPMF_ERR_INPUT_ID_TOO_LONG);
    text[65536] = '\n';
    assert_int_equal(read_bytes(*state, text, 65537, "item", &out, NULL), 0);
    assert_int_equal(out.rows, 1);
    text[0] = '"';
    memset(text + 1, '\n', LONG - 1);
    assert_int_equal(read_bytes(*state, text, LONG, "item", &out, NULL),
                     DPMF_ERR_INPUT_LINE_TOO_LONG);
    free(text);
}

static int stop(void *self, const struct dpmf_table_row *row, struct dpmf_error *error) {
    (void)row, (void)error;
    return ++*(int *)self == 2 ? 77 : 0;
}

static void test_store_and_stop(void **state) {
    char csv[TEMP_PATH_MAX], store[TEMP_PATH_MAX];
    const char *input = csv;
    struct written out = {.n_columns = 3};
    int met = 0;
    temp_dir_file(*state, "r.csv", csv);
    temp_dir_file(*state, "r.dpr", store);
    temp_dir_write(csv, "ann,dune,4.5\nann,solaris,3\nbob,dune,5\n", 38);
    assert_int_equal(dpmf_import(&input, 1, store, NULL, NULL, NULL, NULL), 0);
    assert_int_equal(dpmf_table_read(store, "item,user,rating", NULL, write_row, &out, NULL), 0);
    assert_string_equal(out.text, "[dune][ann][4.5]\n[solaris][ann][3]\n[dune][bob][5]\n");
    assert_int_equal(dpmf_table_read(csv, "user", NULL, stop, &met, NULL), 77);
    assert_int_equal(met, 2);
    met = 0;
    assert_int_equal(dpmf_table_read(store, "user", NULL, stop, &met, NULL), 77);
    assert_int_equal(met, 2);
    assert_int_equal(dpmf_table_read(csv, "user,taste", NULL, stop, &met, NULL),
                     DPMF_ERR_USAGE_VALUE);
    assert_int_equal(dpmf_table_read("/nowhere/x", "user", NULL, stop, &met, NULL),
                     DPMF_ERR_IO_MISSING);
}

static int write_record(void *self, const struct dpmf_table_record *record,
                        struct dpmf_error *error) {
    struct written *out = self;
    (void)error;
    out->rows++;
    for (size_t i = 0; i < record->n && out->n < 2000; i++) {
        const struct dpmf_field *field = &record->field[i];
        assert_int_equal(strlen(field->text), field->length);
        out->n += (size_t)snprintf(out->text + out->n, 1000, "[%s]", field->text);
    }
    out->n += (size_t)snprintf(out->text + out->n, 100, "%lld\n", (long long)record->line);
    return out->rows == 4 ? 77 : 0;
}

static void test_whole_rows(void **state) {
    struct written out = {0};
    char path[TEMP_PATH_MAX];
    static const char text[] = "item,year,note\n1,1995,\"a\nb\"\n\n2,\n3,,,Am\xe9lie\n5\n";
    temp_dir_file(*state, "table", path);
    temp_dir_write(path, text, sizeof text - 1);
    assert_int_equal(dpmf_table_read_whole(path, NULL, write_record, &out, NULL), 77);
    assert_string_equal(out.text, "[item][year][note]1\n[1][1995][a\nb]2\n[2][]5\n[3][][][Am\xe9"
                                  "lie]6\n");
    temp_dir_write(path, "a b  c\n", 7);
    out = (struct written){0};
    assert_int_equal(dpmf_table_read_whole(path, NULL, write_record, &out, NULL), 0);
    assert_string_equal(out.text, "[a][b][c]1\n");

    char wide[4096];
    struct dpmf_error error = {0};
    memset(wide, ',', sizeof wide);
    temp_dir_write(path, wide, 4095);
    assert_int_equal(dpmf_table_read_whole(path, NULL, write_record, &out, &error), 0);
    temp_dir_write(path, wide, 4096);
    assert_int_equal(dpmf_table_read_whole(path, NULL, write_record, &out, &error),
                     DPMF_ERR_INPUT_COLUMNS);
    assert_int_equal(error.line, 1);
    assert_int_equal(error.column, 4097);
}

static void test_roles(void **state) {
    (void)state;
    assert_string_equal(dpmf_table_column_role("Movie ID", 8), "item");
    assert_string_equal(dpmf_table_column_role("userId", 6), "user");
    assert_string_equal(dpmf_table_column_role("score", 5), "rating");
    assert_string_equal(dpmf_table_column_role("Name", 4), "title");
    assert_null(dpmf_table_column_role("genres", 6));
    assert_null(dpmf_table_column_role("timestamp", 9));
    assert_null(dpmf_table_column_role("", 0));
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {TEST(test_forms),         TEST(test_bad_rows),
                                       TEST(test_doubtful_rows), TEST(test_long_tables),
                                       TEST(test_long_rows),     TEST(test_store_and_stop),
                                       TEST(test_whole_rows),    TEST(test_roles)};
    return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
