/*
 * Arrow streams whose producer is wrong, or fails: each fault is refused in words, and everything
 * that the producer gave is released; types by their format strings, and values one by one and many
 * at once.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "arrow/arrow_table.h"
#include "arrow/arrow_values.h"
#include "arrow_made.h"
#include "base/number.h"

enum { ROWS = 4 };

static const char names[] = "annbobcleoa longer name than twelve";
static const int32_t offsets[] = {0, 3, 6, 10, 35};
static const int64_t numbers[] = {7, -8, 9, INT64_MAX};
static const uint8_t indices[] = {2, 0, 3, 1};
static const struct made_column texts = {
    .name = "user", .format = "u", .buffer = {NULL, offsets, names}, .length = ROWS};

/* Texts, numbers, and texts by a dictionary. */
static struct made_table good_table(void) {
    struct made_table made = {.n_columns = 3, .rows = ROWS};
    made.column[0] = texts;
    made.column[1] = (struct made_column){
        .name = "item", .format = "l", .buffer = {NULL, numbers}, .length = ROWS};
    made.column[2] = (struct made_column){.name = "kind",
                                          .format = "C",
                                          .buffer = {NULL, indices},
                                          .length = ROWS,
                                          .dictionary = &texts};
    return made;
}

static int open_stream(struct ArrowArrayStream stream, bool is_private, struct arrow_table **table,
                       struct dpmf_error *error) {
    const int code = arrow_stream_open(&stream, is_private, table, error);
    assert_null(stream.release);
    assert_true((code == 0) == (*table != NULL));
    return code;
}

/* Opens it and reads to its end, all three columns. @return what that gave */
static int read_all(struct made_table *made, bool is_private, struct dpmf_error *error) {
    struct arrow_table *table;
    struct arrow_batch *batch;
    *error = (struct dpmf_error){.code = 0};
    int code = open_stream(made_stream(made), is_private, &table, error);
    if (code < 0) return code;
    for (int i = 0; i < 3 && i < (int)table->n_fields; i++) table->chosen[i] = i;
    while ((code = table->ops->next(table, &batch, error)) == 1) {
        assert_int_equal(batch->n_rows, made->rows);
        arrow_batch_release(batch);
    }
    if (code == 0) assert_int_equal(table->ops->next(table, &batch, error), 0); /* and again */
    arrow_table_release(table);
    assert_int_equal(made->n_streams + made->n_schemas + made->n_arrays, 0);
    return code;
}

/* ---- schemas --------------------------------------------------------------------------------- */

static void no_schema(struct ArrowSchema *top) { made_release_schema(top); }
static void no_format(struct ArrowSchema *top) { top->format = NULL; }
static void minus_columns(struct ArrowSchema *top) { top->n_children = -1; }
static void many_columns(struct ArrowSchema *top) { top->n_children = ARROW_FIELDS_MAX + 1; }
static void no_columns(struct ArrowSchema *top) { top->children = NULL; }
static void no_column(struct ArrowSchema *top) { top->children[1] = NULL; }
static void no_type(struct ArrowSchema *top) { top->children[1]->format = NULL; }
static void no_values_type(struct ArrowSchema *top) { top->children[2]->dictionary->format = NULL; }
static void odd_values_type(struct ArrowSchema *top) { top->children[2]->dictionary->format = "?"; }
static void real_indices(struct ArrowSchema *top) { top->children[2]->format = "g"; }
static void text_indices(struct ArrowSchema *top) { top->children[2]->format = "u"; }
static void null_indices(struct ArrowSchema *top) { top->children[2]->format = "n"; }
static void twice_indices(struct ArrowSchema *top) {
    top->children[2]->dictionary->dictionary = top->children[2]->dictionary;
}

static void schemas(void **state) {
    static const char not_a_table[] = "the Arrow stream is not a table: its arrays are not structs",
                      no_sense[] = "the schema's number of columns makes no sense",
                      odd_values[] = "a dictionary is of a type that Arrow does not have",
                      not_whole[] = "the indices of a dictionary are not whole numbers",
                      missing[] = "a column of the schema is missing";
    static const struct {
        void (*spoil)(struct ArrowSchema *top);
        const char *message;
    } cases[] = {
        {no_schema, not_a_table},
        {no_format, not_a_table},
        {minus_columns, no_sense},
        {many_columns, no_sense},
        {no_columns, no_sense},
        {no_column, missing},
        {no_type, missing},
        {no_values_type, odd_values},
        {odd_values_type, odd_values},
        {real_indices, not_whole},
        {text_indices, not_whole},
        {null_indices, not_whole},
        {twice_indices, "a dictionary's values are in a dictionary themselves"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct made_table made = good_table();
        struct dpmf_error error;
        made.spoil_schema = cases[i].spoil;
        assert_int_equal(read_all(&made, false, &error), DPMF_ERR_INPUT_ARROW);
        assert_string_equal(error.message, cases[i].message);
        assert_int_equal(made.n_streams + made.n_schemas + made.n_arrays, 0);
    }
}

static void no_name(struct ArrowSchema *top) { top->children[1]->name = NULL; }
static void empty_table(struct ArrowSchema *top) {
    top->n_children = 0;
    top->children = NULL;
}
static void empty_batch(struct ArrowArray *top) {
    top->n_children = 0;
    top->children = NULL;
}

/* A column without a name, and no columns at all, are tables as others. */
static void odd_schemas(void **state) {
    struct made_table made = good_table();
    struct dpmf_error error;
    (void)state;
    made.spoil_schema = no_name;
    assert_int_equal(read_all(&made, false, &error), 0);
    made = good_table();
    made.spoil_schema = empty_table;
    made.spoil_batch = empty_batch;
    assert_int_equal(read_all(&made, false, &error), 0);
}

static void too_many_fields(void **state) {
    static const struct arrow_table_ops ops = {NULL, NULL, NULL, NULL};
    struct arrow_table table = {.name = NULL};
    struct dpmf_error error;
    const struct arrow_type type = arrow_type_of(ARROW_INT8), none = arrow_type_of(ARROW_NULL);
    (void)state;
    arrow_table_begin(&table, &ops, "test");
    for (int i = 0; i < ARROW_FIELDS_MAX; i++)
        assert_int_equal(arrow_table_add_field(&table, "c", 1, type, none, &error), 0);
    assert_int_equal(arrow_table_add_field(&table, "c", 1, type, none, &error),
                     DPMF_ERR_INPUT_ARROW);
    assert_string_equal(error.message, "the table has more than 65,536 columns");
    arrow_table_end(&table);
    arrow_table_release(NULL);
    arrow_batch_release(NULL);
}

/* ---- batches --------------------------------------------------------------------------------- */

static void far_batch(struct ArrowArray *top) { top->offset = -1; }
static void farther_batch(struct ArrowArray *top) { top->offset = INT64_MAX / 64 + 1; }
static void long_batch(struct ArrowArray *top) { top->length = INT64_MAX / 64 + 1; }
static void narrow_batch(struct ArrowArray *top) { top->n_children = 2; }
static void hollow_batch(struct ArrowArray *top) { top->children = NULL; }
static void odd_batch(struct ArrowArray *top) { top->n_buffers = 2; }
static void null_rows(struct ArrowArray *top) { top->null_count = 1; }
static void null_rows_without(struct ArrowArray *top) {
    top->null_count = 1;
    top->buffers = NULL;
}
static void null_rows_unbuffered(struct ArrowArray *top) {
    top->null_count = 1;
    top->n_buffers = 0;
}
static void no_child(struct ArrowArray *top) { top->children[1] = NULL; }
static void no_buffers(struct ArrowArray *top) { top->children[1]->buffers = NULL; }
static void lost_dictionary(struct ArrowArray *top) { top->children[2]->dictionary = NULL; }
static void extra_dictionary(struct ArrowArray *top) {
    top->children[1]->dictionary = top->children[2]->dictionary;
}
static void below_text(struct ArrowArray *top) {
    static const int32_t below[] = {0, 3, 6, 10, -1};
    top->children[0]->buffers[1] = below;
}

static void batches(void **state) {
    static const char far[] = "the length or the offset of a batch makes no sense",
                      narrow[] = "a batch does not have as many columns as the schema",
                      nulls[] = "a batch has rows that are null and does not say which",
                      dictionary[] =
                          "a column has a dictionary where its type has none, or none where it "
                          "has one";
    static const struct {
        void (*spoil)(struct ArrowArray *top);
        const char *message;
    } cases[] = {
        {far_batch, far},
        {farther_batch, far},
        {long_batch, far},
        {narrow_batch, narrow},
        {hollow_batch, narrow},
        {odd_batch, "a batch is not a struct"},
        {null_rows, nulls},
        {null_rows_without, nulls},
        {null_rows_unbuffered, nulls},
        {no_child, "a column is missing"},
        {no_buffers, "a column has no buffers"},
        {lost_dictionary, dictionary},
        {extra_dictionary, dictionary},
        {below_text, "an offset into texts is below 0"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct made_table made = good_table();
        struct dpmf_error error;
        made.spoil_batch = cases[i].spoil;
        assert_int_equal(read_all(&made, false, &error), DPMF_ERR_INPUT_ARROW);
        assert_string_equal(error.message, cases[i].message);
    }
}

/* A batch without rows needs no values, and one without buffers has no null rows. */
static void no_rows(struct ArrowArray *top) {
    top->length = top->children[0]->length = 0;
    top->children[0]->buffers[1] = NULL;
    top->children[0]->null_count = 1;
    top->children[1]->length = top->children[2]->length = 0;
    top->n_buffers = 0;
}

static void empty_batches(void **state) {
    struct made_table made = good_table();
    struct dpmf_error error;
    (void)state;
    made.rows = 0;
    made.spoil_batch = no_rows;
    assert_int_equal(read_all(&made, false, &error), 0);
}

static void views_without_lengths(struct ArrowArray *top) { top->children[0]->buffers[3] = NULL; }

static void views(void **state) {
    static const uint8_t view[ROWS][16];
    struct made_table made = good_table();
    struct dpmf_error error;
    (void)state;
    made.column[0] = (struct made_column){
        .name = "user", .format = "vu", .buffer = {NULL, view, names, NULL}, .length = ROWS};
    made.spoil_batch = views_without_lengths;
    assert_int_equal(read_all(&made, false, &error), DPMF_ERR_INPUT_ARROW);
    assert_string_equal(error.message, "a column of views does not say how long its buffers are");
}

/* ---- producers that fail --------------------------------------------------------------------- */

static void failures(void **state) {
    static const struct {
        int number, code;
        bool is_private, is_silent;
        const char *message;
    } cases[] = {
        {EIO, DPMF_ERR_IO_READ, false, false, "the Arrow stream failed: the row of ann is broken"},
        {EIO, DPMF_ERR_IO_READ, false, true, "the Arrow stream failed"},
        {EIO, DPMF_ERR_IO_READ, true, false, "the Arrow stream failed"},
        {ENOMEM, DPMF_ERR_BASE_NO_MEMORY, false, false, NULL},
        {ECANCELED, DPMF_ERR_BASE_CANCELLED, false, false, "interrupted"},
        {EINTR, DPMF_ERR_BASE_CANCELLED, true, false, "interrupted"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct made_table made = good_table();
        struct dpmf_error error;
        made.schema_code = cases[i].number;
        made.is_silent = cases[i].is_silent;
        assert_int_equal(read_all(&made, cases[i].is_private, &error), cases[i].code);
        if (cases[i].message) assert_string_equal(error.message, cases[i].message);
        assert_int_equal(made.n_streams + made.n_schemas + made.n_arrays, 0);
    }
    struct made_table made = good_table();
    struct dpmf_error error;
    made.fails_at = 1;
    assert_int_equal(read_all(&made, false, &error), DPMF_ERR_IO_READ);
}

/* Without the functions that a stream needs, and without the one that it does not. */
static void functions(void **state) {
    struct made_table made = good_table();
    struct ArrowArrayStream stream = made_stream(&made);
    struct arrow_table *table;
    struct dpmf_error error;
    (void)state;
    stream.get_schema = NULL;
    assert_int_equal(open_stream(stream, false, &table, &error), DPMF_ERR_INPUT_ARROW);
    assert_string_equal(error.message, "the Arrow stream has no functions");
    stream = made_stream(&made);
    stream.get_next = NULL;
    assert_int_equal(open_stream(stream, false, &table, &error), DPMF_ERR_INPUT_ARROW);
    assert_string_equal(error.message, "the Arrow stream has no functions");
    stream = made_stream(&made);
    stream.get_last_error = NULL;
    made.schema_code = EIO;
    assert_int_equal(open_stream(stream, false, &table, &error), DPMF_ERR_IO_READ);
    assert_string_equal(error.message, "the Arrow stream failed");
    assert_int_equal(made.n_streams, 0);
}

/* ---- types ----------------------------------------------------------------------------------- */

static void formats(void **state) {
    static const struct {
        const char *format, *described; /* NULL: there is no such type */
        int bytes, scale;
    } cases[] = {
        {"c", "whole numbers", 1, 0},
        {"vu", "text", 16, 0},
        {"d:9,2", "decimal numbers", 16, 2},
        {"d:9,-2,256", "decimal numbers", 32, -2},
        {"d:9,2,32", "decimal numbers", 4, 2},
        {"d:9,2,24", "decimals of an unusual size", 0, 0},
        {"d:9,2,12", "decimals of an unusual size", 0, 0},
        {"d:9,2,0", "decimals of an unusual size", 0, 0},
        {"d:9,2,512", "decimals of an unusual size", 0, 0},
        {"d:9,1001", "decimals of an unusual size", 0, 0},
        {"d:9,-1001", "decimals of an unusual size", 0, 0},
        {"d:9", NULL, 0, 0},
        {"d:", NULL, 0, 0},
        {"d:9,x", NULL, 0, 0},
        {"d:9,2,128,1", NULL, 0, 0},
        {"d:9,2;128", NULL, 0, 0},
        {"w:16", "bytes of a fixed length", 0, 0},
        {"tdD", "dates", 4, 0},
        {"tdm", "timestamps", 8, 0},
        {"tss:", "timestamps", 8, 0},
        {"tsn:UTC", "timestamps", 8, 0},
        {"tsq:", NULL, 0, 0},
        {"tss", NULL, 0, 0},
        {"tts", "times of day", 0, 0},
        {"tDs", "durations", 0, 0},
        {"tiM", "intervals", 0, 0},
        {"t", NULL, 0, 0},
        {"+l", "a list", 0, 0},
        {"+w:3", "a list", 0, 0},
        {"+s", "a struct", 0, 0},
        {"+us:0", "a union", 0, 0},
        {"+r", "run-end encoded", 0, 0},
        {"+", NULL, 0, 0},
        {"", NULL, 0, 0},
        {"x", NULL, 0, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arrow_type type = {.kind = ARROW_OTHER};
        const bool is_type = arrow_type_parse(cases[i].format, &type);
        if (is_type != (cases[i].described != NULL)) fail_msg("%s", cases[i].format);
        if (!is_type) continue;
        assert_string_equal(type.described, cases[i].described);
        if (cases[i].bytes > 0) assert_int_equal(type.bytes, cases[i].bytes);
        assert_int_equal(type.scale, cases[i].scale);
    }
    struct arrow_type type;
    assert_true(arrow_type_parse("tsu:", &type));
    assert_int_equal(type.per_second, 1000000);
}

/* ---- values ---------------------------------------------------------------------------------- */

enum { MANY = 30 };

/* Numbers of every kind, many at once, are those that are read one by one, with floats as the
 * decimals that they stand for. */
static void many_values(void **state) {
    static const enum arrow_kind kinds[] = {
        ARROW_INT8,  ARROW_UINT8,  ARROW_INT16,   ARROW_UINT16,    ARROW_INT32,     ARROW_UINT32,
        ARROW_INT64, ARROW_UINT64, ARROW_FLOAT16, ARROW_FLOAT32,   ARROW_FLOAT64,   ARROW_BOOL,
        ARROW_TEXT,  ARROW_NULL,   ARROW_OTHER,   ARROW_DATE_DAYS, ARROW_TIMESTAMP,
    };
    static uint8_t bytes[8 * (MANY + 1)];
    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (uint8_t)(i % 8 == 7 ? 0 : 17 * i + 1);
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        struct arrow_type type = arrow_type_of(kinds[k] == ARROW_OTHER ? ARROW_NULL : kinds[k]);
        type.kind = kinds[k];
        const struct arrow_column column = {
            .type = type, .length = MANY, .offset = 1, .values = bytes};
        int64_t whole[MANY];
        double real[MANY];
        struct arrow_cell cell;
        const bool are_whole = arrow_values_whole(&column, 2, MANY - 2, whole);
        const bool are_real = arrow_values_real(&column, 2, MANY - 2, real);
        const bool is_time = kinds[k] == ARROW_DATE_DAYS || kinds[k] == ARROW_TIMESTAMP;
        const bool is_float = kinds[k] == ARROW_FLOAT32 || kinds[k] == ARROW_FLOAT64;
        assert_int_equal(are_whole, arrow_kind_is_whole(kinds[k]) || is_time);
        assert_int_equal(are_real, arrow_kind_is_whole(kinds[k]) || is_float);
        for (int i = 0; i < MANY - 2 && (are_whole || are_real); i++) {
            arrow_cell_read(&column, 2 + i, &cell);
            if (are_whole) assert_true(cell.kind == ARROW_CELL_WHOLE && cell.whole == whole[i]);
            const double value = kinds[k] == ARROW_FLOAT32 ? number_widen_rating((float)cell.real)
                                 : is_float                ? cell.real
                                                           : (double)cell.whole;
            if (are_real) assert_memory_equal(&real[i], &value, sizeof value);
        }
    }
}

/* Whole numbers beyond those with a sign are not given as others. */
static void large_values(void **state) {
    static const uint64_t large[] = {1, UINT64_MAX, 2};
    const struct arrow_column column = {
        .type = arrow_type_of(ARROW_UINT64), .length = 3, .values = large};
    int64_t whole[3];
    double real[3];
    (void)state;
    assert_false(arrow_values_whole(&column, 0, 3, whole));
    assert_true(arrow_values_whole(&column, 2, 1, whole));
    assert_int_equal(whole[0], 2);
    assert_true(arrow_values_real(&column, 0, 3, real));
    assert_true(real[1] == 18446744073709551616.0);
}

/* A null anywhere, at each place of a byte: before, in and after whole bytes. */
static void null_values(void **state) {
    static const int8_t values[MANY + 8];
    (void)state;
    for (int offset = 0; offset < 8; offset++) {
        for (int hole = -1; hole < MANY; hole++) {
            uint8_t validity[(MANY + 8) / 8 + 1];
            int64_t whole[MANY];
            double real[MANY];
            memset(validity, 0xff, sizeof validity);
            const int at = offset + hole;
            if (hole >= 0) validity[at / 8] = (uint8_t)(0xff & ~(1 << at % 8));
            const struct arrow_column column = {.type = arrow_type_of(ARROW_INT8),
                                                .length = MANY,
                                                .offset = offset,
                                                .validity = validity,
                                                .values = values};
            assert_int_equal(arrow_values_whole(&column, 0, MANY, whole), hole < 0);
            assert_int_equal(arrow_values_real(&column, 0, MANY, real), hole < 0);
            assert_int_equal(arrow_values_whole(&column, 1, MANY - 2, whole),
                             hole < 1 || hole == MANY - 1);
        }
    }
}

static void text_values(void **state) {
    const struct arrow_column column = {.type = arrow_type_of(ARROW_TEXT),
                                        .length = ROWS,
                                        .values = offsets,
                                        .data = names,
                                        .data_bytes = sizeof names - 1};
    struct arrow_column lost = column, other = column;
    const char *text[ROWS];
    uint32_t length[ROWS];
    struct arrow_cell cell;
    (void)state;
    assert_true(arrow_values_text(&column, 0, ROWS, 25, text, length));
    assert_int_equal(length[3], 25);
    assert_memory_equal(text[2], "cleo", 4);
    assert_false(arrow_values_text(&column, 0, ROWS, 24, text, length)); /* one is longer */
    lost.data = NULL;
    assert_false(arrow_values_text(&lost, 0, ROWS, 25, text, length));
    arrow_cell_read(&lost, 0, &cell);
    assert_int_equal(cell.kind, ARROW_CELL_BROKEN);
    other.type = arrow_type_of(ARROW_INT32);
    assert_false(arrow_values_text(&other, 0, ROWS, 25, text, length));
}

/* Views that point outside of their buffers, or into one that is not there. */
static void broken_views(void **state) {
    static const struct {
        int32_t length, buffer, begin;
        enum arrow_cell_kind kind;
    } cases[] = {
        {13, 0, 0, ARROW_CELL_TEXT},    {13, 0, 22, ARROW_CELL_TEXT},
        {13, 0, 23, ARROW_CELL_BROKEN}, {13, 0, -1, ARROW_CELL_BROKEN},
        {13, 2, 0, ARROW_CELL_BROKEN},  {13, -1, 0, ARROW_CELL_BROKEN},
        {13, 1, 0, ARROW_CELL_BROKEN},  {-1, 0, 0, ARROW_CELL_BROKEN},
        {3, 99, 99, ARROW_CELL_TEXT},
    };
    static const void *const buffers[] = {names, NULL};
    static const int64_t bytes[] = {sizeof names - 1, 99};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int32_t view[4] = {cases[i].length, 0x6e6e61, cases[i].buffer, cases[i].begin};
        const struct arrow_column column = {.type = arrow_type_of(ARROW_TEXT_VIEW),
                                            .length = 1,
                                            .values = view,
                                            .view_data = buffers,
                                            .view_data_bytes = bytes,
                                            .n_view_data = 2};
        struct arrow_cell cell;
        arrow_cell_read(&column, 0, &cell);
        assert_int_equal(cell.kind, cases[i].kind);
    }
}

static void halves(void **state) {
    static const uint16_t values[] = {0x7c00, 0xfc00, 0x7e00, 0x0001, 0x3c00};
    const struct arrow_column column = {
        .type = arrow_type_of(ARROW_FLOAT16), .length = 5, .values = values};
    struct arrow_cell cell;
    (void)state;
    arrow_cell_read(&column, 0, &cell);
    assert_true(isinf(cell.real) && cell.real > 0);
    arrow_cell_read(&column, 1, &cell);
    assert_true(isinf(cell.real) && cell.real < 0);
    arrow_cell_read(&column, 2, &cell);
    assert_true(isnan(cell.real));
    arrow_cell_read(&column, 3, &cell);
    assert_true(cell.real == 0x1p-24);
    arrow_cell_read(&column, 4, &cell);
    assert_true(cell.real == 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schemas),         cmocka_unit_test(odd_schemas),
        cmocka_unit_test(too_many_fields), cmocka_unit_test(batches),
        cmocka_unit_test(empty_batches),   cmocka_unit_test(views),
        cmocka_unit_test(failures),        cmocka_unit_test(functions),
        cmocka_unit_test(formats),         cmocka_unit_test(many_values),
        cmocka_unit_test(large_values),    cmocka_unit_test(null_values),
        cmocka_unit_test(text_values),     cmocka_unit_test(broken_views),
        cmocka_unit_test(halves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
