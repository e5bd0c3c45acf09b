/*
 * Arrow streams as sources of ratings: every type in every role, nulls, slices, dictionaries; what
 * is malformed is refused, and everything is released; a row that is inserted changes no other. All
 * of it twice: with rows taken one by one, and with those that are good taken by columns.
 */
#define _GNU_SOURCE
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "arrow/ipc_blocks.h"
#include "arrow_made.h"
#include "ratings/arrow_source.h"

enum { N = 4 };

static const char names[] = "annbobcleoa longer name than twelve";
static const int32_t offsets[] = {0, 3, 6, 10, 35};
static const int64_t long_offsets[] = {0, 3, 6, 10, 35};
static const int64_t numbers[] = {7, -8, 9, INT64_MAX};
static const double ratings[] = {5, 3.5, -0.25, 1};

static struct made_table table_of(struct made_column user, struct made_column rating,
                                  struct made_column time) {
    struct made_table made = {.n_columns = time.format ? 4 : 3, .rows = N};
    made.column[0] = user;
    made.column[0].name = "userId";
    made.column[1] = (struct made_column){.name = "item", .format = "l", .buffer = {NULL, numbers}};
    made.column[2] = rating;
    made.column[2].name = "rating";
    made.column[3] = time;
    made.column[3].name = "timestamp";
    for (int i = 0; i < 4; i++)
        if (made.column[i].length == 0) made.column[i].length = N;
    return made;
}

static const struct made_column text_users = {.format = "u", .buffer = {NULL, offsets, names}};
static const struct made_column real_ratings = {.format = "g", .buffer = {NULL, ratings}};
static const struct made_column no_times = {0};

/* ---- reading --------------------------------------------------------------------------------- */

struct lines {
    char text[4096];
    size_t n;
    uint64_t rejected;
    struct dpmf_error first, error;
};

static int take(void *self, const struct record *records, int n, struct dpmf_error *error) {
    struct lines *lines = self;
    (void)error;
    for (int i = 0; i < n; i++) {
        const struct record *r = &records[i];
        char time[32] = "-";
        if (r->time != STORE_NO_TIME) snprintf(time, sizeof time, "%lld", (long long)r->time);
        lines->n += (size_t)snprintf(lines->text + lines->n, sizeof lines->text - lines->n,
                                     "%.*s,%.*s,%.15g,%s\n", (int)r->user_length, r->user,
                                     (int)r->item_length, r->item, r->rating, time);
    }
    return 0;
}

static bool by_columns;
static uint64_t n_stretches;

static void name_id(const struct record_ids *ids, int i, char room[64]) {
    if (ids->whole)
        snprintf(room, 64, "%lld", (long long)ids->whole[i]);
    else
        snprintf(room, 64, "%.*s", (int)ids->length[i], ids->text[i]);
}

/* What `take` would be given. */
static int take_stretch(void *self, const struct record_stretch *stretch,
                        struct dpmf_error *error) {
    n_stretches++;
    for (int i = 0; i < stretch->n; i++) {
        char user[64], item[64];
        name_id(&stretch->user, i, user);
        name_id(&stretch->item, i, item);
        const struct record record = {.user = user,
                                      .item = item,
                                      .user_length = (uint32_t)strlen(user),
                                      .item_length = (uint32_t)strlen(item),
                                      .rating = stretch->rating[i],
                                      .time = stretch->time ? stretch->time[i] : STORE_NO_TIME};
        take(self, &record, 1, error);
    }
    return 0;
}

static int read_source(struct source *source, const struct dpmf_input_options *options,
                       struct lines *lines) {
    static struct record_batch batch;
    void *chunk = source->ops->chunk_new(source);
    int code = 0;
    batch.take = take;
    batch.take_stretch = by_columns ? take_stretch : NULL;
    batch.self = lines;
    batch.options = options;
    batch.counts = source->layout.holds_events;
    while (code == 0 && (code = source->ops->next(source, chunk, &lines->error)) == 1) {
        record_batch_begin(&batch);
        source->ops->parse(source, chunk, &batch);
        record_batch_end(&batch);
        if (batch.n_rejected && lines->rejected == 0) lines->first = batch.first_rejected;
        lines->rejected += batch.n_rejected;
        code = source->ops->settle(source, chunk, &batch, &lines->error);
    }
    source->ops->chunk_free(chunk);
    return code;
}

static int read_table(struct made_table *made, const struct dpmf_input_options *given,
                      struct lines *lines) {
    struct dpmf_input_options options = given ? *given : dpmf_input_options_default();
    struct ArrowArrayStream stream = made_stream(made);
    struct arrow_table *table = NULL;
    struct source *source = NULL;
    *lines = (struct lines){.n = 0};
    int code = arrow_stream_open(&stream, options.by_record, &table, &lines->error);
    if (code == 0) code = arrow_source_open(table, &options, &source, &lines->error);
    if (code == 0) {
        code = read_source(source, &options, lines);
        source_close(source);
    }
    assert_null(stream.release);
    assert_int_equal(made->n_streams + made->n_schemas + made->n_arrays, 0);
    return code;
}

static void expect(struct made_table made, const char *text) {
    struct lines lines;
    int code = read_table(&made, NULL, &lines);
    if (code != 0) print_message("%s\n", lines.error.message);
    assert_int_equal(code, 0);
    assert_string_equal(lines.text, text);
}

static void expect_refused(struct made_table made, const struct dpmf_input_options *options,
                           int code, const char *message) {
    struct lines lines;
    assert_int_equal(read_table(&made, options, &lines), code);
    assert_string_equal(lines.error.message, message);
}

/* ---- types ----------------------------------------------------------------------------------- */

static const char plain[] = "ann,7,5,-\nbob,-8,3.5,-\ncleo,9,-0.25,-\n"
                            "a longer name than twelve,9223372036854775807,1,-\n";

static void texts(void **state) {
    (void)state;
    char views[N][16] = {{0}};
    const char *data[] = {names};
    static const int64_t data_bytes[] = {sizeof names - 1};
    for (int i = 0; i < N; i++) {
        int32_t length = offsets[i + 1] - offsets[i], place[] = {0, offsets[i]};
        memcpy(views[i], &length, 4);
        memcpy(views[i] + 4, names + offsets[i], length > 12 ? 4 : (size_t)length);
        if (length > 12) memcpy(views[i] + 8, place, 8);
    }
    expect(table_of(text_users, real_ratings, no_times), plain);
    const struct made_column long_texts = {.format = "U", .buffer = {NULL, long_offsets, names}};
    expect(table_of(long_texts, real_ratings, no_times), plain);
    const struct made_column bytes = {.format = "z", .buffer = {NULL, offsets, names}};
    expect(table_of(bytes, real_ratings, no_times), plain);
    const struct made_column view = {.format = "vu", .buffer = {NULL, views, data[0], data_bytes}};
    expect(table_of(view, real_ratings, no_times), plain);
}

static void dictionaries(void **state) {
    static const uint8_t indices[] = {2, 0, 9, 1};
    static const uint8_t valid[] = {0x6};
    static const struct made_column values = {
        .format = "u", .buffer = {NULL, offsets, names}, .length = 3};
    static const struct made_column holed = {
        .format = "u", .buffer = {valid, offsets, names}, .length = 3, .null_count = 1};
    struct made_column column = {.format = "C", .buffer = {NULL, indices}, .dictionary = &values};
    struct dpmf_input_options options = dpmf_input_options_default();
    struct lines lines;
    (void)state;
    options.skip_bad = true;
    struct made_table made = table_of(column, real_ratings, no_times);
    assert_int_equal(read_table(&made, &options, &lines), 0);
    assert_string_equal(lines.text, "cleo,7,5,-\nann,-8,3.5,-\n"
                                    "bob,9223372036854775807,1,-\n");
    assert_int_equal(lines.first.code, DPMF_ERR_INPUT_ARROW);
    assert_int_equal(lines.first.line, 3);
    column.dictionary = &holed;
    made = table_of(column, real_ratings, no_times);
    assert_int_equal(read_table(&made, &options, &lines), 0);
    assert_int_equal(lines.rejected, 2);
    assert_string_equal(lines.first.message, "the user id is null");
}

static void numbers_of_all_kinds(void **state) {
    static const int8_t i8[] = {1, -2, 3, -128};
    static const uint8_t u8[] = {1, 2, 3, 255};
    static const int16_t i16[] = {1, -2, 3, -32768};
    static const uint16_t u16[] = {1, 2, 3, 65535}, half[] = {0x3c00, 0xc000, 0x4200, 0x3800};
    static const int32_t i32[] = {1, -2, 3, INT32_MIN};
    static const uint32_t u32[] = {1, 2, 3, UINT32_MAX};
    static const uint64_t u64[] = {1, 2, 3, UINT64_MAX};
    static const float f32[] = {1, -2, 3, 0.5f};
    static const double f64[] = {1, -2, 3, -9007199254740991.0};
    static const int64_t decimal[][2] = {{100, 0}, {-200, -1}, {300, 0}, {50, 0}};
    static const int64_t wide[][2] = {{0, 1}, {-1, -1}, {0, INT64_MIN}, {0, 0}};
    (void)state;
    static const struct {
        const char *format;
        const void *values;
        const char *last;
    } ids[] = {{"c", i8, "-128"},
               {"C", u8, "255"},
               {"s", i16, "-32768"},
               {"S", u16, "65535"},
               {"i", i32, "-2147483648"},
               {"I", u32, "4294967295"},
               {"L", u64, "18446744073709551615"},
               {"g", f64, "-9007199254740991"}};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        struct made_column column = {.format = ids[i].format, .buffer = {NULL, ids[i].values}};
        struct made_table made = table_of(column, real_ratings, no_times);
        struct lines lines;
        char wanted[64];
        assert_int_equal(read_table(&made, NULL, &lines), 0);
        snprintf(wanted, sizeof wanted, "\n%s,9223372036854775807,1,-\n", ids[i].last);
        assert_non_null(strstr(lines.text, wanted));
    }
    const struct made_column large = {.format = "d:38,0", .buffer = {NULL, wide}};
    expect(table_of(large, real_ratings, no_times),
           "18446744073709551616,7,5,-\n-1,-8,3.5,-\n"
           "-170141183460469231731687303715884105728,9,-0.25,-\n0,9223372036854775807,1,-\n");
    const char *rated = "ann,7,1,-\nbob,-8,-2,-\ncleo,9,3,-\n"
                        "a longer name than twelve,9223372036854775807,0.5,-\n";
    const struct made_column floats = {.format = "f", .buffer = {NULL, f32}};
    expect(table_of(text_users, floats, no_times), rated);
    const struct made_column halves = {.format = "e", .buffer = {NULL, half}};
    expect(table_of(text_users, halves, no_times), rated);
    const struct made_column decimals = {.format = "d:10,2", .buffer = {NULL, decimal}};
    expect(table_of(text_users, decimals, no_times), rated);
}

/* What stands for a decimal of few digits is this decimal, so that likes and ranges apply. */
static void floats_as_decimals(void **state) {
    static const float f32[] = {0.7f, -0.6f, 0.1f, 16777216};
    static const uint16_t half[] = {0x399a, 0xb8cd, 0x2e66, 0x6800};
    (void)state;
    const struct made_column floats = {.format = "f", .buffer = {NULL, f32}};
    expect(table_of(text_users, floats, no_times),
           "ann,7,0.7,-\nbob,-8,-0.6,-\ncleo,9,0.1,-\n"
           "a longer name than twelve,9223372036854775807,16777216,-\n");
    const struct made_column halves = {.format = "e", .buffer = {NULL, half}};
    expect(table_of(text_users, halves, no_times),
           "ann,7,0.7,-\nbob,-8,-0.6,-\ncleo,9,0.1,-\n"
           "a longer name than twelve,9223372036854775807,2048,-\n");
}

/* A float is an id while no other whole number is read as the same one. */
static void floats_as_ids(void **state) {
    static const uint16_t half[] = {0x67ff, 0x6800, 0xe800, 0xe7ff};
    static const float f32[] = {16777215.0f, 16777216.0f, -16777216.0f, -16777215.0f};
    static const double f64[] = {0x1p53 - 1, 0x1p53, -0x1p53, -0x1p53 + 1};
    static const struct made_column values = {.format = "f", .buffer = {NULL, f32}, .length = N};
    static const uint8_t indices[] = {0, 1, 2, 3};
    static const struct {
        struct made_column column;
        const char *id;
    } kinds[] = {
        {{.format = "e", .buffer = {NULL, half}}, "2047"},
        {{.format = "f", .buffer = {NULL, f32}}, "16777215"},
        {{.format = "g", .buffer = {NULL, f64}}, "9007199254740991"},
        {{.format = "C", .buffer = {NULL, indices}, .dictionary = &values}, "16777215"},
    };
    struct dpmf_input_options options = dpmf_input_options_default();
    struct lines lines;
    (void)state;
    options.skip_bad = true;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct made_table made = table_of(kinds[i].column, real_ratings, no_times);
        char wanted[100];
        assert_int_equal(read_table(&made, &options, &lines), 0);
        snprintf(wanted, sizeof wanted, "%s,7,5,-\n-%s,9223372036854775807,1,-\n", kinds[i].id,
                 kinds[i].id);
        assert_string_equal(lines.text, wanted);
        assert_int_equal(lines.rejected, 2);
        expect_refused(table_of(kinds[i].column, real_ratings, no_times), NULL, DPMF_ERR_INPUT_ID,
                       "the user id is a real number, not a text or a whole number");
    }
}

static void times(void **state) {
    static const int64_t stamps[] = {0, 1999, -1, 1000};
    static const int32_t days[] = {0, 1, -1, 2};
    static const struct {
        const char *format, *last;
        const void *values;
    } kinds[] = {{"tss:", "0 1999 -1 1000", stamps},
                 {"tsm:UTC", "0 1 -1 1", stamps},
                 {"tsu:Europe/Paris", "0 0 -1 0", stamps},
                 {"tsn:", "0 0 -1 0", stamps},
                 {"tdm", "0 1 -1 1", stamps},
                 {"l", "0 1999 -1 1000", stamps},
                 {"tdD", "0 86400 -86400 172800", days}};
    (void)state;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        struct made_column column = {.format = kinds[i].format, .buffer = {NULL, kinds[i].values}};
        struct made_table made = table_of(text_users, real_ratings, column);
        struct lines lines;
        long long t[N];
        char shown[100];
        assert_int_equal(read_table(&made, NULL, &lines), 0);
        char *at = lines.text;
        for (int r = 0; r < N; r++, at = strchr(at, '\n') + 1) {
            char *comma = at;
            for (int c = 0; c < 3; c++) comma = strchr(comma, ',') + 1;
            t[r] = strtoll(comma, NULL, 10);
        }
        snprintf(shown, sizeof shown, "%lld %lld %lld %lld", t[0], t[1], t[2], t[3]);
        assert_string_equal(shown, kinds[i].last);
    }
}

/* ---- slices and nulls ------------------------------------------------------------------------ */

static void slices(void **state) {
    struct made_table made = table_of(text_users, real_ratings, no_times);
    (void)state;
    made.rows = 2;
    made.offset = 1; /* of the struct: its children keep their lengths */
    made.column[2].offset = 1;
    made.column[2].length = 3;
    expect(made, "bob,-8,-0.25,-\ncleo,9,1,-\n");
}

static void nulls(void **state) {
    static const uint8_t valid = 0x5, rows = 0xb;
    struct made_table made = table_of(text_users, real_ratings, no_times);
    struct dpmf_input_options options = dpmf_input_options_default();
    struct lines lines;
    (void)state;
    made.column[2].buffer[0] = &valid;
    made.column[2].null_count = -1;
    expect_refused(made, NULL, DPMF_ERR_INPUT_NUMBER, "the rating is null");
    options.skip_bad = true;
    assert_int_equal(read_table(&made, &options, &lines), 0);
    assert_string_equal(lines.text, "ann,7,5,-\ncleo,9,-0.25,-\n");
    assert_int_equal(lines.rejected, 2);
    assert_int_equal(lines.first.line, 2);
    assert_int_equal(lines.first.column, 3);
    made.validity = &rows;
    made.null_count = 1;
    assert_int_equal(read_table(&made, &options, &lines), 0);
    assert_string_equal(lines.text, "ann,7,5,-\n");

    static const int64_t stamps[] = {10, 20, 30, 40};
    const struct made_column holed = {
        .format = "tss:", .buffer = {&valid, stamps}, .null_count = 2};
    expect(table_of(text_users, real_ratings, holed),
           "ann,7,5,10\nbob,-8,3.5,-\ncleo,9,-0.25,30\n"
           "a longer name than twelve,9223372036854775807,1,-\n");
    const struct made_column nothing = {.format = "n"};
    made = table_of(text_users, nothing, no_times);
    assert_int_equal(read_table(&made, &options, &lines), 0);
    assert_int_equal(lines.rejected, 4);
}

/* ---- what is wrong --------------------------------------------------------------------------- */

static void malformed(void **state) {
    const int code = DPMF_ERR_INPUT_ARROW;
    struct made_table made = table_of(text_users, real_ratings, no_times), good = made;
    (void)state;
    made.column[2].length = 3;
    expect_refused(made, NULL, code, "the length or the offset of a column makes no sense");
    made = good;
    made.column[2].offset = -1;
    expect_refused(made, NULL, code, "the length or the offset of a column makes no sense");
    made = good;
    made.column[0].offset = INT64_MAX - 2;
    expect_refused(made, NULL, code, "the length or the offset of a column makes no sense");
    made = good;
    made.rows = -1;
    expect_refused(made, NULL, code, "the length or the offset of a batch makes no sense");
    made = good;
    made.column[0].n_buffers = 2;
    expect_refused(made, NULL, code, "a column does not have as many buffers as its type");
    made = good;
    made.column[2].buffer[1] = NULL;
    expect_refused(made, NULL, code, "a column has no values");
    made = good;
    made.column[2].null_count = 1;
    expect_refused(made, NULL, code, "a column has nulls and does not say which");
    made = good;
    made.column[1].format = "q";
    expect_refused(made, NULL, code, "a column is of a type that Arrow does not have");
    made = good;
    made.top_format = "l";
    expect_refused(made, NULL, code, "the Arrow stream is not a table: its arrays are not structs");
    made = good;
    made.fails_at = 1;
    expect_refused(made, NULL, DPMF_ERR_IO_READ,
                   "the Arrow stream failed: the row of ann is broken");
    struct dpmf_input_options options = dpmf_input_options_default();
    options.by_record = options.skip_bad = true;
    expect_refused(made, &options, DPMF_ERR_IO_READ, "the Arrow stream failed");
}

/* Offsets that go back, or beyond the last: of this record alone. */
static void broken_offsets(void **state) {
    static const int32_t back[] = {0, 20, 6, 10, 35};
    struct made_table made = table_of(text_users, real_ratings, no_times);
    struct dpmf_input_options options = dpmf_input_options_default();
    struct lines lines;
    (void)state;
    options.skip_bad = true;
    made.column[0].buffer[1] = back;
    assert_int_equal(read_table(&made, &options, &lines), 0);
    assert_int_equal(lines.rejected, 1);
    assert_int_equal(lines.first.line, 2);
    assert_string_equal(lines.first.message, "the user points outside of what its column holds");
}

static void columns(void **state) {
    struct dpmf_input_options options = dpmf_input_options_default();
    struct made_table made = table_of(text_users, real_ratings, no_times);
    struct lines lines;
    (void)state;
    made.column[2].format = "+l";
    expect_refused(made, NULL, DPMF_ERR_INPUT_HEADER, "column \"rating\", the rating, is a list");
    made = table_of(text_users, real_ratings, no_times);
    made.column[2].name = "grade";
    assert_int_equal(read_table(&made, NULL, &lines), DPMF_ERR_INPUT_HEADER);
    assert_non_null(
        strstr(lines.error.hint, "{time-column}; or, if the table holds events, {events}"));
    made = table_of(text_users, real_ratings, no_times);
    made.column[0].name = "who";
    expect_refused(made, NULL, DPMF_ERR_INPUT_HEADER,
                   "of the table's 3 columns, none is named like the user");
    options.user_column = "who";
    assert_int_equal(read_table(&made, &options, &lines), 0);
    assert_string_equal(lines.text, plain);
    options.user_column = "whom";
    expect_refused(made, &options, DPMF_ERR_INPUT_HEADER,
                   "the table has no column called \"whom\"");
    options.user_column = "item";
    options.item_column = "item";
    expect_refused(made, &options, DPMF_ERR_INPUT_HEADER,
                   "the table has two uses for the column called \"item\"");
    options.item_column = options.user_column = NULL;
    options.columns = "user,item,rating";
    assert_int_equal(read_table(&made, &options, &lines), 0);
    assert_string_equal(lines.text, plain);
    made.column[0].name = "Movie_ID";
    expect_refused(made, &options, DPMF_ERR_INPUT_HEADER,
                   "{columns} says that column 1 is the user, but it is called \"Movie_ID\"");
    made.column[0].name = "who";
    options.columns = "user,item,_"; /* what is passed over may be called anything */
    assert_int_equal(read_table(&made, &options, &lines), 0);
    options.columns = "user,item";
    expect_refused(made, &options, DPMF_ERR_INPUT_HEADER,
                   "the table has 3 columns, but {columns} lists 2");
    made.n_columns = 2;
    made.column[0].name = "user";
    expect(made, "ann,7,1,-\nbob,-8,1,-\ncleo,9,1,-\n"
                 "a longer name than twelve,9223372036854775807,1,-\n");
}

/* ---- record by record ------------------------------------------------------------------------ */

/* What private runs need: a row that is inserted, whatever is in it, changes no other. */
static void inserted_rows(void **state) {
    struct dpmf_input_options options = dpmf_input_options_default();
    (void)state;
    options.by_record = options.skip_bad = true;
    for (int kind = 0; kind < 5; kind++)
        for (int place = 0; place <= N; place++) {
            int32_t starts[N + 2] = {0};
            char bytes[100] = "";
            double values[N + 1];
            int64_t items[N + 1];
            uint8_t valid[1] = {0xff};
            size_t n = 0;
            for (int r = 0, from = 0; r <= N; r++) {
                const bool is_new = r == place;
                const char *text = is_new ? (kind == 4 ? "" : "eve") : names + offsets[from];
                size_t length = is_new ? strlen(text) : (size_t)(offsets[from + 1] - offsets[from]);
                memcpy(bytes + n, text, length);
                n += length;
                starts[r + 1] = (int32_t)n;
                values[r] = is_new ? (kind == 1 ? NAN : kind == 2 ? 1e300 : 2) : ratings[from];
                items[r] = is_new ? 1 : numbers[from];
                if (is_new && kind == 3) valid[0] = (uint8_t) ~(1 << r);
                from += !is_new;
            }
            struct made_table made = table_of(text_users, real_ratings, no_times);
            made.rows = N + 1;
            for (int i = 0; i < 3; i++) made.column[i].length = N + 1;
            made.column[0].buffer[1] = starts;
            made.column[0].buffer[2] = bytes;
            made.column[1].buffer[1] = items;
            made.column[2].buffer[0] = valid;
            made.column[2].null_count = -1;
            made.column[2].buffer[1] = values;
            struct lines lines;
            assert_int_equal(read_table(&made, &options, &lines), 0);
            char *own = strstr(lines.text, "eve,1,");
            if (own) memmove(own, strchr(own, '\n') + 1, strlen(strchr(own, '\n') + 1) + 1);
            assert_string_equal(lines.text, plain);
            assert_int_equal(lines.rejected, kind == 0 || kind == 2 ? 0 : 1);
        }
}

/* SplitMix64: the same rows in every run. */
static uint64_t draw(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* @return past the n-th line */
static const char *skip_lines(const char *text, int n) {
    for (; n > 0; n--) text = strchr(text, '\n') + 1;
    return text;
}

/* The same with rows that are made up: any bytes for the user, any number for the item, any bits
 * for the rating, and each of them perhaps null. */
static void drawn_rows(void **state) {
    struct dpmf_input_options options = dpmf_input_options_default();
    const int n_cases = getenv("DPMF_TEST_LONG") ? 100000 : 3000;
    (void)state;
    options.by_record = options.skip_bad = true;
    for (int c = 0; c < n_cases; c++) {
        uint64_t random = (uint64_t)c;
        const int place = (int)(draw(&random) % (N + 1));
        int32_t starts[N + 2] = {0};
        char bytes[100];
        double values[N + 1];
        int64_t items[N + 1];
        uint8_t valid[3] = {0xff, 0xff, 0xff};
        size_t n = 0;
        for (int r = 0, from = 0; r <= N; r++) {
            const bool is_new = r == place;
            const size_t length = is_new ? draw(&random) % 20 % (1 + draw(&random) % 20)
                                         : (size_t)(offsets[from + 1] - offsets[from]);
            for (size_t i = 0; i < length; i++)
                bytes[n++] = is_new ? (char)draw(&random) : names[offsets[from] + (int32_t)i];
            starts[r + 1] = (int32_t)n;
            values[r] = is_new ? (double)(draw(&random) % 9) : ratings[from];
            items[r] = is_new ? (int64_t)draw(&random) : numbers[from];
            if (is_new && draw(&random) % 2) {
                const uint64_t bits = draw(&random) | (draw(&random) % 2 ? 0 : 0x7ffULL << 52);
                memcpy(&values[r], &bits, sizeof bits);
            }
            for (int i = 0; is_new && i < 3; i++)
                if (draw(&random) % 8 == 0) valid[i] = (uint8_t) ~(1 << r);
            from += !is_new;
        }
        struct made_table made = table_of(text_users, real_ratings, no_times);
        made.rows = N + 1;
        for (int i = 0; i < 3; i++) {
            made.column[i].length = N + 1;
            made.column[i].buffer[0] = &valid[i];
            made.column[i].null_count = -1;
        }
        made.column[0].buffer[1] = starts;
        made.column[0].buffer[2] = bytes;
        made.column[1].buffer[1] = items;
        made.column[2].buffer[1] = values;
        struct lines lines;
        assert_int_equal(read_table(&made, &options, &lines), 0);
        const char *before = skip_lines(plain, place);
        const size_t n_before = (size_t)(before - plain), n_after = strlen(before);
        assert_true(lines.n >= n_before + n_after);
        assert_memory_equal(lines.text, plain, n_before);
        assert_memory_equal(lines.text + lines.n - n_after, before, n_after);
        assert_int_equal(lines.n > n_before + n_after, lines.rejected == 0);
    }
}

/* ---- the importer ---------------------------------------------------------------------------- */

static void imports(void **state) {
    enum { MANY = 100000 };
    (void)state;
    char path[] = "/tmp/dpmf-test-arrow-XXXXXX";
    int64_t *users = malloc(MANY * sizeof *users);
    float *values = malloc(MANY * sizeof *values);
    assert_non_null(users);
    assert_non_null(values);
    for (int i = 0; i < MANY; i++) {
        users[i] = i / 10;
        values[i] = (float)(i % 5);
    }
    const struct made_column user = {.format = "l", .buffer = {NULL, users}, .length = MANY};
    const struct made_column value = {.format = "f", .buffer = {NULL, values}, .length = MANY};
    struct made_table made = table_of(user, value, no_times);
    made.column[1].buffer[1] = users;
    made.column[1].length = MANY;
    made.rows = MANY;
    made.batches = 3;
    struct dpmf_run run = dpmf_run_default();
    struct dpmf_import_report report;
    struct dpmf_store *store = NULL;
    struct dpmf_store_info info;
    struct dpmf_error error = {0};
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    run.threads = 2;
    struct ArrowArrayStream stream = made_stream(&made);
    assert_int_equal(dpmf_import_arrow(&stream, path, NULL, &run, &report, &error), 0);
    assert_int_equal(report.users, MANY / 10);
    assert_int_equal(report.duplicates, 3 * MANY - MANY / 10);
    assert_string_equal(report.layout.formats, "arrow");
    assert_true(report.layout.is_by_record == false); /* bad records would have ended it */
    stream = made_stream(&made);
    assert_int_equal(dpmf_store_from_arrow(&stream, NULL, &run, &store, &error), 0);
    dpmf_store_info(store, &info);
    assert_int_equal(info.ratings, MANY / 10);
    dpmf_store_close(store);
    /* A stream that was read is not read again; one that is not taken is released. */
    assert_int_equal(dpmf_store_from_arrow(&stream, NULL, &run, &store, &error),
                     DPMF_ERR_INPUT_ARROW);
    stream = made_stream(&made);
    assert_int_equal(dpmf_import_arrow(&stream, NULL, NULL, &run, NULL, &error),
                     DPMF_ERR_USAGE_NULL);
    assert_null(stream.release);
    assert_int_equal(made.n_streams + made.n_schemas + made.n_arrays, 0);
    unlink(path);
    free(users);
    free(values);
}

/* ---- footers --------------------------------------------------------------------------------- */

/* What a footer lists must be all of the file, once, in any order. */
static void footers(void **state) {
    static const struct ipc_block blocks[] = {{500, 100, 100}, {300, 56, 144}};
    static const struct ipc_block twice[] = {{300, 56, 144}, {300, 56, 144}};
    static const char left_out[] = "the footer leaves out a part of the file";
    struct ipc_block sorted[2];
    (void)state;
    assert_null(ipc_blocks_check(blocks, 2, 300, 708, sorted));
    assert_null(ipc_blocks_check(blocks, 2, 300 - 63, 700 + 8 + 63, sorted)); /* padding */
    assert_null(ipc_blocks_check(NULL, 0, 300, 308, sorted));
    assert_string_equal(ipc_blocks_check(NULL, 0, 300, 372, sorted), left_out);
    assert_string_equal(ipc_blocks_check(blocks, 2, 300 - 64, 708, sorted), left_out);
    assert_string_equal(ipc_blocks_check(blocks, 1, 300, 708, sorted), left_out);
    assert_string_equal(ipc_blocks_check(blocks, 2, 300, 772, sorted), left_out);
    assert_string_equal(ipc_blocks_check(blocks, 2, 301, 708, sorted),
                        "the footer lists a part of the file twice");
    assert_string_equal(ipc_blocks_check(twice, 2, 300, 508, sorted),
                        "the footer lists a part of the file twice");
    assert_string_equal(ipc_blocks_check(blocks, 2, 300, 699, sorted),
                        "the footer lists a part of itself");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts),
        cmocka_unit_test(dictionaries),
        cmocka_unit_test(numbers_of_all_kinds),
        cmocka_unit_test(floats_as_decimals),
        cmocka_unit_test(floats_as_ids),
        cmocka_unit_test(footers),
        cmocka_unit_test(times),
        cmocka_unit_test(slices),
        cmocka_unit_test(nulls),
        cmocka_unit_test(malformed),
        cmocka_unit_test(broken_offsets),
        cmocka_unit_test(columns),
        cmocka_unit_test(inserted_rows),
        cmocka_unit_test(drawn_rows),
        cmocka_unit_test(imports),
    };
    int failed = cmocka_run_group_tests_name("rows", tests, NULL, NULL);
    by_columns = true;
    failed += cmocka_run_group_tests_name("columns", tests, NULL, NULL);
    return failed > 0 || n_stretches == 0;
}
