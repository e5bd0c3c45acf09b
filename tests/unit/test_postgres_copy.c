/*
 * PostgreSQL's binary copy format: rows made here byte by byte, as its manual has them, become
 * records; and what is cut off, too long or of another type ends in an error, not in records.
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

#include "ratings/postgres_copy.h"

/* ---- rows, made by hand ---------------------------------------------------------------------- */

struct wire {
    uint8_t bytes[4096];
    size_t n;
};

static void put(struct wire *wire, uint64_t number, int size) {
    for (int i = size - 1; i >= 0; i--) wire->bytes[wire->n++] = (uint8_t)(number >> (8 * i));
}

static void put_whole(struct wire *wire, int64_t number, int size) {
    put(wire, (uint64_t)size, 4);
    put(wire, (uint64_t)number, size);
}

static void put_text(struct wire *wire, const char *text) {
    put(wire, strlen(text), 4);
    memcpy(wire->bytes + wire->n, text, strlen(text));
    wire->n += strlen(text);
}

static void put_null(struct wire *wire) { put(wire, UINT32_MAX, 4); }

static void put_double(struct wire *wire, double value) {
    uint64_t bits;
    memcpy(&bits, &value, 8);
    put_whole(wire, (int64_t)bits, 8);
}

static void put_single(struct wire *wire, float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    put_whole(wire, bits, 4);
}

/* As numeric_send does. */
static void put_numeric(struct wire *wire, int sign, int weight, int n, const int *digits) {
    put(wire, (uint64_t)(8 + 2 * n), 4);
    put(wire, (uint64_t)n, 2);
    put(wire, (uint64_t)weight, 2);
    put(wire, (uint64_t)sign, 2);
    put(wire, 0, 2);
    for (int i = 0; i < n; i++) put(wire, (uint64_t)digits[i], 2);
}

/* ---- records, gathered ----------------------------------------------------------------------- */

struct gathered {
    struct {
        char user[64], item[64];
        double rating;
        int64_t time;
    } record[600];
    int n;
    struct record_batch batch;
    struct database_numbers numbers;
    struct dpmf_input_options options;
    uint64_t rows;
};

static int take(void *self, const struct record *records, int n, struct dpmf_error *error) {
    struct gathered *gathered = self;
    (void)error;
    for (int i = 0; i < n; i++, gathered->n++) {
        snprintf(gathered->record[gathered->n].user, 64, "%.*s", (int)records[i].user_length,
                 records[i].user);
        snprintf(gathered->record[gathered->n].item, 64, "%.*s", (int)records[i].item_length,
                 records[i].item);
        gathered->record[gathered->n].rating = records[i].rating;
        gathered->record[gathered->n].time = records[i].time;
    }
    return 0;
}

static struct gathered *parse(const struct copy_layout *layout, const uint8_t *bytes, size_t n,
                              bool skip) {
    struct gathered *gathered = calloc(1, sizeof *gathered);
    uint8_t *exact = malloc(n ? n : 1); /* so that the sanitizer sees its end */
    assert_non_null(gathered);
    assert_non_null(exact);
    memcpy(exact, bytes, n);
    gathered->options = dpmf_input_options_default();
    gathered->options.skip_bad = skip;
    gathered->batch.take = take;
    gathered->batch.self = gathered;
    gathered->batch.options = &gathered->options;
    record_batch_begin(&gathered->batch);
    gathered->rows = postgres_copy_parse(layout, exact, n, &gathered->numbers, &gathered->batch);
    record_batch_end(&gathered->batch);
    free(exact);
    return gathered;
}

static struct copy_layout layout_of(enum copy_type user, enum copy_type item, enum copy_type rating,
                                    int time) {
    struct copy_layout layout = {.n_fields = time < 0 ? 3 : 4,
                                 .field = {0, 1, 2, time < 0 ? -1 : 3},
                                 .type = {user, item, rating, time < 0 ? 0 : (enum copy_type)time},
                                 .column = {1, 2, 3, 4}};
    return layout;
}

/* One row with this rating, whose bytes `wire` has. */
static struct gathered *parse_rating(enum copy_type type, const struct wire *rating) {
    struct copy_layout layout = layout_of(COPY_INT4, COPY_INT2, type, -1);
    struct wire wire = {.n = 0};
    put(&wire, 3, 2);
    put_whole(&wire, 1, 4);
    put_whole(&wire, 2, 2);
    memcpy(wire.bytes + wire.n, rating->bytes, rating->n);
    return parse(&layout, wire.bytes, wire.n + rating->n, false);
}

static void expect_rating(enum copy_type type, const struct wire *rating, double value) {
    struct gathered *gathered = parse_rating(type, rating);
    assert_int_equal(gathered->batch.failure.code, 0);
    assert_int_equal(gathered->n, 1);
    assert_memory_equal(&gathered->record[0].rating, &value, sizeof value);
    free(gathered);
}

static void expect_failure(enum copy_type type, const struct wire *rating, int code) {
    struct gathered *gathered = parse_rating(type, rating);
    assert_int_equal(gathered->batch.failure.code, code);
    assert_int_equal(gathered->n, 0);
    free(gathered);
}

/* ---- the tests ------------------------------------------------------------------------------- */

static void header_is_passed(void **state) {
    (void)state;
    uint8_t header[32] = "PGCOPY\n\377\r\n";
    assert_int_equal(postgres_copy_header(header, 19), 19);
    assert_int_equal(postgres_copy_header(header, 18), 0);
    header[18] = 5; /* an extension of five bytes */
    assert_int_equal(postgres_copy_header(header, 24), 24);
    assert_int_equal(postgres_copy_header(header, 23), 0);
    header[18] = 0;
    header[12] = 1; /* with OIDs */
    assert_int_equal(postgres_copy_header(header, 19), 0);
    header[12] = 0;
    header[7] = 'x';
    assert_int_equal(postgres_copy_header(header, 19), 0);
    assert_int_equal(postgres_copy_header(NULL, 0), 0);
}

static void rows_become_records(void **state) {
    (void)state;
    struct copy_layout layout = layout_of(COPY_INT8, COPY_TEXT, COPY_FLOAT8, COPY_TIMESTAMP);
    struct wire wire = {.n = 0};
    put(&wire, 4, 2);
    put_whole(&wire, -12345678901234, 8);
    put_text(&wire, "d\xc3\xbcne");
    put_double(&wire, 4.5);
    put_whole(&wire, -1, 8); /* a microsecond before 2000 */
    put(&wire, 4, 2);
    put_whole(&wire, 7, 8);
    put_text(&wire, "b");
    put_double(&wire, -0.25);
    put_null(&wire);
    put(&wire, 0xffff, 2);
    struct gathered *gathered = parse(&layout, wire.bytes, wire.n, false);
    assert_int_equal(gathered->batch.failure.code, 0);
    assert_int_equal(gathered->rows, 2);
    assert_int_equal(gathered->n, 2);
    assert_string_equal(gathered->record[0].user, "-12345678901234");
    assert_string_equal(gathered->record[0].item, "d\xc3\xbcne");
    assert_true(gathered->record[0].rating == 4.5);
    assert_int_equal(gathered->record[0].time, 946684799);
    assert_string_equal(gathered->record[1].user, "7");
    assert_true(gathered->record[1].time == STORE_NO_TIME);
    free(gathered);
}

/* Roles in another order than the fields, and more rows than a batch has. */
static void order_does_not_matter(void **state) {
    (void)state;
    struct copy_layout layout = {.n_fields = 3,
                                 .field = {2, 0, 1, -1},
                                 .type = {COPY_INT2, COPY_INT2, COPY_INT2, 0},
                                 .column = {3, 1, 2, 0}};
    struct wire wire = {.n = 0};
    for (int i = 0; i < 200; i++) {
        put(&wire, 3, 2);
        put_whole(&wire, i, 2);
        put_whole(&wire, -i, 2);
        put_whole(&wire, 1000 + i, 2);
    }
    struct gathered *gathered = parse(&layout, wire.bytes, wire.n, false);
    assert_int_equal(gathered->n, 200);
    for (int i = 0; i < 200; i++) {
        assert_int_equal(atoi(gathered->record[i].user), 1000 + i);
        assert_int_equal(atoi(gathered->record[i].item), i);
        assert_true(gathered->record[i].rating == -i);
    }
    free(gathered);
}

static void numbers_of_all_types(void **state) {
    (void)state;
    struct wire wire = {.n = 0};
    put_whole(&wire, -3, 2);
    expect_rating(COPY_INT2, &wire, -3);
    wire.n = 0;
    put_whole(&wire, INT32_MIN, 4);
    expect_rating(COPY_INT4, &wire, INT32_MIN);
    wire.n = 0;
    put_whole(&wire, 5, 8);
    expect_rating(COPY_INT8, &wire, 5);
    wire.n = 0;
    put_double(&wire, 3.25);
    expect_rating(COPY_FLOAT8, &wire, 3.25);
    wire.n = 0;
    /* As the text that the server writes of it, which a CSV file would have. */
    static const struct {
        float value;
        double rating;
    } singles[] = {{0.1f, 0.1}, {0.7f, 0.7}, {-3.3f, -3.3}, {1.5e-7f, 1.5e-7}, {1e30f, 1e30}};
    for (size_t i = 0; i < sizeof singles / sizeof singles[0]; i++) {
        put_single(&wire, singles[i].value);
        expect_rating(COPY_FLOAT4, &wire, singles[i].rating);
        wire.n = 0;
    }
    put_text(&wire, " 4.5 ");
    expect_rating(COPY_TEXT, &wire, 4.5);
}

static void numerics_are_exact(void **state) {
    (void)state;
    static const struct {
        int sign, weight, n, digits[8];
        double value;
    } cases[] = {
        {0, 0, 0, {0}, 0},
        {0, 0, 2, {3, 5000}, 3.5},
        {0x4000, 0, 2, {3, 5000}, -3.5},
        {0, -1, 1, {1000}, 0.1},
        {0, -1, 1, {3000}, 0.3},
        {0, -3, 1, {1}, 1e-12},
        {0, 1, 1, {5}, 50000},
        {0, 2, 3, {1, 2, 3}, 100020003},
        {0, 0, 3, {1, 2345, 6789}, 1.23456789},
        {0,
         3,
         8,
         {9007, 1992, 5474, 993, 5000, 0, 0, 1},
         9007199254740994.0},                                         /* and with zeros within */
        {0, 3, 5, {9007, 1992, 5474, 993, 5000}, 9007199254740994.0}, /* nearer to the next */
        {0, -50, 1, {7}, 7e-200},
        {0, 70, 1, {1}, 1e280},
        {0, -2000, 1, {1}, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct wire wire = {.n = 0};
        put_numeric(&wire, cases[i].sign, cases[i].weight, cases[i].n, cases[i].digits);
        expect_rating(COPY_NUMERIC, &wire, cases[i].value);
    }
    /* 300 digits of base 10000, of which the last decides how 1 + 2^-53 is rounded */
    int digits[300] = {1, 0, 0, 0, 1, 1102, 2302, 4625, 1565, 4042, 3631, 6680, 9082, 312, 5000};
    struct wire wire = {.n = 0};
    put_numeric(&wire, 0, 0, 15, digits);
    expect_rating(COPY_NUMERIC, &wire, 1);
    digits[299] = 1;
    wire.n = 0;
    put_numeric(&wire, 0, 0, 300, digits);
    expect_rating(COPY_NUMERIC, &wire, nextafter(1, 2));
}

static void what_is_no_rating(void **state) {
    (void)state;
    struct wire wire = {.n = 0};
    put_numeric(&wire, 0xc000, 0, 0, NULL);
    expect_failure(COPY_NUMERIC, &wire, DPMF_ERR_INPUT_NOT_FINITE);
    wire.n = 0;
    put_numeric(&wire, 0xd000, 0, 0, NULL);
    expect_failure(COPY_NUMERIC, &wire, DPMF_ERR_INPUT_NOT_FINITE);
    wire.n = 0;
    const int one = 1, too_large = 10000;
    put_numeric(&wire, 0, 100, 1, &one);
    expect_failure(COPY_NUMERIC, &wire, DPMF_ERR_INPUT_NOT_FINITE);
    wire.n = 0;
    put_double(&wire, NAN);
    expect_failure(COPY_FLOAT8, &wire, DPMF_ERR_INPUT_NOT_FINITE);
    wire.n = 0;
    put_null(&wire);
    expect_failure(COPY_FLOAT8, &wire, DPMF_ERR_INPUT_NUMBER);
    wire.n = 0;
    put_text(&wire, "good");
    expect_failure(COPY_TEXT, &wire, DPMF_ERR_INPUT_NUMBER);
    /* And what no server would send. */
    wire.n = 0;
    put_numeric(&wire, 0, 0, 1, &too_large);
    expect_failure(COPY_NUMERIC, &wire, DPMF_ERR_IO_READ);
    wire.n = 0;
    put_numeric(&wire, 0x1234, 0, 1, &one);
    expect_failure(COPY_NUMERIC, &wire, DPMF_ERR_IO_READ);
    wire.n = 0;
    put_whole(&wire, 1, 4);
    expect_failure(COPY_FLOAT8, &wire, DPMF_ERR_IO_READ);
    wire.n = 0;
    put_text(&wire, "");
    expect_failure(COPY_NUMERIC, &wire, DPMF_ERR_IO_READ);
}

/* A row whose time this is; to be freed. */
static struct gathered *parse_time(enum copy_type type, const struct wire *time) {
    struct copy_layout layout = layout_of(COPY_INT4, COPY_INT4, COPY_INT4, (int)type);
    struct wire wire = {.n = 0};
    put(&wire, 4, 2);
    for (int i = 0; i < 3; i++) put_whole(&wire, i, 4);
    memcpy(wire.bytes + wire.n, time->bytes, time->n);
    return parse(&layout, wire.bytes, wire.n + time->n, false);
}

static void expect_time(enum copy_type type, const struct wire *time, int code, int64_t value) {
    struct gathered *gathered = parse_time(type, time);
    assert_int_equal(gathered->batch.failure.code, code);
    if (code == 0) assert_true(gathered->record[0].time == value);
    free(gathered);
}

/* What is said of a time that is none. */
static void expect_time_words(enum copy_type type, const struct wire *time, const char *words) {
    struct gathered *gathered = parse_time(type, time);
    assert_int_equal(gathered->batch.failure.code, DPMF_ERR_INPUT_TIME);
    assert_string_equal(gathered->batch.failure.message, words);
    free(gathered);
}

static void times_that_are_not_finite(void **state) {
    (void)state;
    static const char not_a_number[] = "timestamp \"NaN\" is not a time",
                      endless[] = "timestamp \"infinity\" is not a time";
    struct wire wire = {.n = 0};
    put_double(&wire, NAN);
    expect_time_words(COPY_FLOAT8, &wire, not_a_number);
    wire.n = 0;
    put_double(&wire, -INFINITY);
    expect_time_words(COPY_FLOAT8, &wire, endless);
    wire.n = 0;
    put_single(&wire, NAN);
    expect_time_words(COPY_FLOAT4, &wire, not_a_number);
    wire.n = 0;
    put_numeric(&wire, 0xc000, 0, 0, NULL);
    expect_time_words(COPY_NUMERIC, &wire, not_a_number);
    wire.n = 0;
    put_numeric(&wire, 0xd000, 0, 0, NULL);
    expect_time_words(COPY_NUMERIC, &wire, endless);
    wire.n = 0;
    put_numeric(&wire, 0xf000, 0, 0, NULL);
    expect_time_words(COPY_NUMERIC, &wire, endless);
}

static void times_of_all_types(void **state) {
    (void)state;
    struct wire wire = {.n = 0};
    put_whole(&wire, 1, 4);
    expect_time(COPY_DATE, &wire, 0, 946684800 + 86400);
    wire.n = 0;
    put_whole(&wire, INT32_MAX, 4);
    expect_time(COPY_DATE, &wire, DPMF_ERR_INPUT_TIME, 0);
    wire.n = 0;
    put_whole(&wire, 2500000, 8);
    expect_time(COPY_TIMESTAMP, &wire, 0, 946684802);
    expect_time(COPY_DATE, &wire, DPMF_ERR_IO_READ, 0);
    expect_time(COPY_INT8, &wire, 0, 2500000);
    wire.n = 0;
    put_whole(&wire, INT64_MIN, 8);
    expect_time(COPY_TIMESTAMP, &wire, DPMF_ERR_INPUT_TIME, 0);
    expect_time(COPY_INT8, &wire, DPMF_ERR_INPUT_TIME, 0);
    wire.n = 0;
    put_double(&wire, -0.5);
    expect_time(COPY_FLOAT8, &wire, 0, -1);
    wire.n = 0;
    put_double(&wire, 1e300);
    expect_time(COPY_FLOAT8, &wire, DPMF_ERR_INPUT_TIME, 0);
    wire.n = 0;
    put_double(&wire, INFINITY);
    expect_time(COPY_FLOAT8, &wire, DPMF_ERR_INPUT_TIME, 0);
    wire.n = 0;
    put_text(&wire, "1970-01-02");
    expect_time(COPY_TEXT, &wire, 0, 86400);
    wire.n = 0;
    put_text(&wire, "yesterday");
    expect_time(COPY_TEXT, &wire, DPMF_ERR_INPUT_TIME, 0);
}

static void bad_rows_are_skipped(void **state) {
    (void)state;
    struct copy_layout layout = layout_of(COPY_TEXT, COPY_TEXT, COPY_INT4, -1);
    struct wire wire = {.n = 0};
    const char *users[] = {"a", NULL, "", "b"};
    for (int i = 0; i < 4; i++) {
        put(&wire, 3, 2);
        if (users[i])
            put_text(&wire, users[i]);
        else
            put_null(&wire);
        put_text(&wire, "x");
        put_whole(&wire, i, 4);
    }
    struct gathered *gathered = parse(&layout, wire.bytes, wire.n, true);
    assert_int_equal(gathered->batch.failure.code, 0);
    assert_int_equal(gathered->n, 2);
    assert_int_equal(gathered->rows, 4);
    assert_int_equal(gathered->batch.n_rejected, 2);
    assert_int_equal(gathered->batch.first_rejected.code, DPMF_ERR_INPUT_ID);
    assert_int_equal(gathered->batch.first_rejected.line, 2);
    assert_int_equal(gathered->batch.first_rejected.column, 1);
    free(gathered);
}

/* Cut off anywhere, or with one row too many fields: an error even when bad rows are skipped. */
static void broken_streams_end(void **state) {
    (void)state;
    struct copy_layout layout = layout_of(COPY_TEXT, COPY_INT2, COPY_INT4, -1);
    struct wire wire = {.n = 0};
    put(&wire, 3, 2);
    put_text(&wire, "ann");
    put_whole(&wire, 1, 2);
    put_whole(&wire, 1, 4);
    size_t whole = wire.n;
    for (size_t n = 1; n < whole; n++) {
        struct gathered *gathered = parse(&layout, wire.bytes, n, true);
        assert_int_equal(gathered->batch.failure.code, DPMF_ERR_IO_READ);
        assert_int_equal(gathered->n, 0);
        free(gathered);
    }
    put(&wire, 0xffff, 2);
    put(&wire, 0, 1); /* after the end */
    struct gathered *gathered = parse(&layout, wire.bytes, wire.n, true);
    assert_int_equal(gathered->batch.failure.code, DPMF_ERR_IO_READ);
    free(gathered);
    wire.bytes[1] = 4;
    gathered = parse(&layout, wire.bytes, whole, true);
    assert_int_equal(gathered->batch.failure.code, DPMF_ERR_IO_READ);
    free(gathered);
    wire.bytes[1] = 3;
    wire.bytes[2] = 0x80; /* a length below -1 */
    gathered = parse(&layout, wire.bytes, whole, true);
    assert_int_equal(gathered->batch.failure.code, DPMF_ERR_IO_READ);
    free(gathered);
}

static void types_have_roles(void **state) {
    (void)state;
    static const struct {
        uint32_t number;
        enum column_role role;
        bool fits, as_text;
    } cases[] = {
        {23, COLUMN_USER, true, false},      {25, COLUMN_ITEM, true, false},
        {2950, COLUMN_USER, true, true},     {1042, COLUMN_ITEM, true, true},
        {1700, COLUMN_USER, true, true},     {701, COLUMN_USER, false, false},
        {16, COLUMN_USER, false, false},     {17, COLUMN_ITEM, false, false},
        {1082, COLUMN_USER, false, false},   {1700, COLUMN_RATING, true, false},
        {25, COLUMN_RATING, true, false},    {16, COLUMN_RATING, false, false},
        {2950, COLUMN_RATING, false, false}, {1184, COLUMN_RATING, false, false},
        {1184, COLUMN_TIME, true, false},    {20, COLUMN_TIME, true, false},
        {19, COLUMN_TIME, false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        enum copy_type type;
        bool as_text = true;
        const char *wrong = postgres_copy_type(cases[i].number, cases[i].role, &type, &as_text);
        if ((wrong == NULL) != cases[i].fits) fail_msg("case %zu", i);
        if (!wrong) assert_int_equal(as_text, cases[i].as_text);
        if (!wrong) assert_in_range(type, 0, COPY_TYPES - 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header_is_passed),          cmocka_unit_test(rows_become_records),
        cmocka_unit_test(order_does_not_matter),     cmocka_unit_test(numbers_of_all_types),
        cmocka_unit_test(numerics_are_exact),        cmocka_unit_test(what_is_no_rating),
        cmocka_unit_test(times_that_are_not_finite), cmocka_unit_test(times_of_all_types),
        cmocka_unit_test(bad_rows_are_skipped),      cmocka_unit_test(broken_streams_end),
        cmocka_unit_test(types_have_roles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
