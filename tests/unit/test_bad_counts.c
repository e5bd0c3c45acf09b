/*
 * Counts that are none, and pairs that lack a half, in every kind of input: an error that names the
 * record, or, where bad records are dropped, all records but that one, and the number of those
 * dropped.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "arrow_made.h"
#include "dpmf.h"
#include "own_directory.h"
#include "parquet_made.h"
#include "ratings/postgres_copy.h"
#include "read_text.h"

enum { ROWS = 3, BAD = 1 /* the row that is spoilt */, TEXT_MAX = 400 };

/* A value in the place of a count; NULL as text: missing. */
static const struct bad_count {
    const char *text;
    double number; /* the same; not of words */
    bool is_word, is_fraction;
} bad_counts[] = {
    {"0", 0, false, false},
    {"-3", -3, false, false},
    {"1.5", 1.5, false, true},
    {"nan", NAN, true, true},
    {"inf", INFINITY, true, true},
    {"-inf", -INFINITY, true, true},
    {"1e300", 1e300, false, true}, /* beyond 64 bits */
    {"9007199254740992", 9007199254740992.0, false, false},
    {"9223372036854775807", 9223372036854775807.0, false, false},
    {"often", 0, true, false},
    {"", 0, true, false},
    {"0x10", 0, true, false},
    {"1,5", 0, true, false},
    {NULL, 0, true, false},
};

enum { BAD_COUNTS = sizeof bad_counts / sizeof bad_counts[0] };

/* What reading came to: a store, or an error. */
struct outcome {
    int code;
    struct dpmf_store *store;
    struct dpmf_error error;
};

/* An input of three events, the second with this count. @return false where it cannot have it */
struct kind {
    const char *name;
    bool (*read)(const struct kind *kind, const struct bad_count *bad, bool drops,
                 struct outcome *outcome);
    const char *format, *columns, *header, *row, *suffix; /* of text */
    bool events;                                          /* declared */
    int type;                                             /* of the column of counts */
    int64_t line;                                         /* of the spoilt record; 0: by name */
    const char *named;                                    /* what the message says instead */
};

static struct dpmf_input_options options_of(const struct kind *kind, bool drops) {
    struct dpmf_input_options options = dpmf_input_options_default();
    options.format = kind->format;
    options.columns = kind->columns;
    if (kind->columns) options.separator = ',';
    options.events = kind->events;
    options.skip_bad = options.by_record = drops;
    return options;
}

/* ---- text ------------------------------------------------------------------------------------ */

static bool read_file(const struct kind *kind, const struct bad_count *bad, bool drops,
                      struct outcome *outcome) {
    const struct dpmf_input_options options = options_of(kind, drops);
    const bool is_json = kind->format && strcmp(kind->format, "jsonl") == 0;
    char text[TEXT_MAX], *at = text;
    const char *value = bad->text ? bad->text : "";
    if (!bad->text && !is_json) return false;                              /* as the empty one */
    if (bad->text && strchr(value, ',') && !kind->suffix) return false;    /* two columns */
    if (is_json && bad->text && (bad->is_word || !value[0])) return false; /* no JSON */
    at += sprintf(at, "%s", kind->header);
    for (int i = 0; i < ROWS; i++)
        at += sprintf(at, kind->row, i + 1, i + 1, i == BAD ? (bad->text ? value : "null") : "2");
    temp_dir_write("input", text, strlen(text));
    outcome->code = dpmf_store_open("input", &options, NULL, &outcome->store, &outcome->error);
    return true;
}

/* ---- SQLite ---------------------------------------------------------------------------------- */

static bool read_sqlite(const struct kind *kind, const struct bad_count *bad, bool drops,
                        struct outcome *outcome) {
    const struct dpmf_input_options options = options_of(kind, drops);
    char address[TEXT_MAX], value[60] = "NULL";
    if (bad->text && (bad->is_word || kind->type != 0))
        snprintf(value, sizeof value, "'%s'", bad->text);
    else if (bad->text)
        snprintf(value, sizeof value, "%s", bad->text);
    temp_dir_write("empty.db", "", 0);
    snprintf(address, sizeof address,
             "sqlite:empty.db?query=SELECT column1 AS user, column2 AS item, column3 AS plays "
             "FROM (VALUES ('1',1,2),('2',2,%s),('3',3,2))",
             value);
    outcome->code = dpmf_store_open(address, &options, NULL, &outcome->store, &outcome->error);
    return outcome->code != DPMF_ERR_IO_LIBRARY;
}

/* ---- Arrow ----------------------------------------------------------------------------------- */

static bool read_arrow(const struct kind *kind, const struct bad_count *bad, bool drops,
                       struct outcome *outcome) {
    static const int64_t ids[ROWS] = {1, 2, 3};
    const struct dpmf_input_options options = options_of(kind, drops);
    const char *value = bad->text ? bad->text : "";
    double doubles[ROWS] = {2, bad->number, 2};
    float floats[ROWS] = {2, (float)bad->number, 2};
    int64_t wholes[ROWS] = {2, 0, 2};
    char texts[100];
    int32_t ends[ROWS + 1] = {0, 1, 1 + (int32_t)strlen(value), 2 + (int32_t)strlen(value)};
    const uint8_t valid = bad->text ? 7 : 5;
    const void *values = kind->type == 'g'   ? (const void *)doubles
                         : kind->type == 'f' ? (const void *)floats
                         : kind->type == 'l' ? (const void *)wholes
                                             : (const void *)ends;
    const char format[2] = {(char)kind->type, 0};
    if (kind->type != 'u' && bad->text && bad->is_word && !bad->is_fraction) return false;
    if (kind->type == 'l' && bad->is_fraction) return false;
    if (kind->type == 'l') wholes[BAD] = bad->text ? strtoll(bad->text, NULL, 10) : 2;
    sprintf(texts, "2%s2", value);
    struct made_table made = {
        .n_columns = 3,
        .rows = ROWS,
        .column = {{"user", "l", {NULL, ids}, .length = ROWS},
                   {"item", "l", {NULL, ids}, .length = ROWS},
                   {"plays", format, {&valid, values, texts}, .length = ROWS, .null_count = -1}}};
    struct ArrowArrayStream stream = made_stream(&made);
    outcome->code =
        dpmf_store_from_arrow(&stream, &options, NULL, &outcome->store, &outcome->error);
    assert_int_equal(made.n_streams + made.n_schemas + made.n_arrays, 0);
    return true;
}

/* ---- Parquet --------------------------------------------------------------------------------- */

static void set_parquet(struct parquet_made_value *value, int physical, double number,
                        const char *text) {
    const float single = (float)number;
    const int64_t whole = text ? strtoll(text, NULL, 10) : (int64_t)number;
    const void *bytes = physical == PARQUET_DOUBLE  ? (const void *)&number
                        : physical == PARQUET_FLOAT ? (const void *)&single
                        : physical == PARQUET_INT64 ? (const void *)&whole
                                                    : (const void *)text;
    value->n = physical == PARQUET_BYTE_ARRAY ? (uint32_t)strlen(text)
               : physical == PARQUET_FLOAT    ? 4
                                              : 8;
    memcpy(value->bytes, bytes, value->n);
}

static bool read_parquet(const struct kind *kind, const struct bad_count *bad, bool drops,
                         struct outcome *outcome) {
    static struct parquet_made made;
    const struct dpmf_input_options options = options_of(kind, drops);
    const bool is_text = kind->type == PARQUET_BYTE_ARRAY;
    struct parquet_made_table table = {
        .column = {{.name = "user", .physical = PARQUET_INT64},
                   {.name = "item", .physical = PARQUET_INT64},
                   {.name = "plays", .physical = kind->type, .converted = is_text ? 1 : 0}},
        .n_columns = 3,
        .n_rows = ROWS};
    uint64_t random = 7;
    if (!is_text && bad->text && bad->is_word && !bad->is_fraction) return false;
    if (kind->type == PARQUET_INT64 && bad->is_fraction) return false;
    for (int i = 0; i < ROWS; i++) {
        set_parquet(&table.value[i][0], PARQUET_INT64, i + 1, NULL);
        set_parquet(&table.value[i][1], PARQUET_INT64, i + 1, NULL);
        set_parquet(&table.value[i][2], kind->type, i == BAD ? bad->number : 2,
                    i == BAD && bad->text ? bad->text : "2");
    }
    table.value[BAD][2].is_null = !bad->text;
    parquet_made_file(&made, &table, &random);
    temp_dir_write("input.parquet", (const char *)made.bytes, made.n);
    outcome->code =
        dpmf_store_open("input.parquet", &options, NULL, &outcome->store, &outcome->error);
    return true;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

static bool read_arrays(const struct kind *kind, const struct bad_count *bad, bool drops,
                        struct outcome *outcome) {
    const struct dpmf_input_options options = options_of(kind, drops);
    int64_t ids[ROWS] = {0, 1, 2};
    double doubles[ROWS] = {2, bad->number, 2};
    float floats[ROWS] = {2, (float)bad->number, 2};
    struct dpmf_arrays arrays = {.size = sizeof arrays,
                                 .n = ROWS,
                                 .n_users = ROWS,
                                 .n_items = ROWS,
                                 .users = ids,
                                 .items = ids};
    if (!bad->text || (bad->is_word && !bad->is_fraction)) return false;
    if (kind->type == 'g')
        arrays.ratings = doubles;
    else
        arrays.ratings32 = floats;
    outcome->code =
        dpmf_store_from_arrays(&arrays, &options, NULL, &outcome->store, &outcome->error);
    return true;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static const struct kind kinds[] = {
    {.name = "csv with a header",
     .read = read_file,
     .header = "user,item,plays\n",
     .row = "%d,%d,%s\n",
     .line = 3},
    {.name = "csv with quotes",
     .read = read_file,
     .header = "user,item,plays\n",
     .row = "%d,%d,\"%s\"\n",
     .suffix = "\"",
     .line = 3},
    {.name = "csv of declared columns",
     .read = read_file,
     .format = "csv",
     .columns = "user,item,count",
     .header = "",
     .row = "%d,%d,%s\n",
     .line = 2},
    {.name = "tsv",
     .read = read_file,
     .header = "user\titem\tplays\n",
     .row = "%d\t%d\t%s\n",
     .suffix = "",
     .line = 3},
    {.name = "inter",
     .read = read_file,
     .header = "user_id:token\titem_id:token\tcount:float\n",
     .row = "%d\t%d\t%s\n",
     .suffix = "",
     .line = 3},
    {.name = "libmf",
     .read = read_file,
     .format = "libmf",
     .header = "",
     .row = "%d %d %s\n",
     .suffix = "",
     .events = true,
     .line = 2},
    {.name = "jsonl",
     .read = read_file,
     .format = "jsonl",
     .header = "",
     .row = "{\"user\":%d,\"item\":%d,\"plays\":%s}\n",
     .events = true,
     .line = 2},
    {.name = "matrixmarket",
     .read = read_file,
     .header = "%%MatrixMarket matrix coordinate real general\n3 3 3\n",
     .row = "%d %d %s\n",
     .suffix = "",
     .events = true,
     .line = 4},
    {.name = "SQLite, numbers", .read = read_sqlite, .type = 0, .line = 2},
    {.name = "SQLite, texts", .read = read_sqlite, .type = 'u', .line = 2},
    {.name = "Arrow, doubles", .read = read_arrow, .type = 'g', .line = 2},
    {.name = "Arrow, floats", .read = read_arrow, .type = 'f', .line = 2},
    {.name = "Arrow, whole numbers", .read = read_arrow, .type = 'l', .line = 2},
    {.name = "Arrow, texts", .read = read_arrow, .type = 'u', .line = 2},
    {.name = "Parquet, doubles", .read = read_parquet, .type = PARQUET_DOUBLE, .line = 2},
    {.name = "Parquet, floats", .read = read_parquet, .type = PARQUET_FLOAT, .line = 2},
    {.name = "Parquet, whole numbers", .read = read_parquet, .type = PARQUET_INT64, .line = 2},
    {.name = "Parquet, texts", .read = read_parquet, .type = PARQUET_BYTE_ARRAY, .line = 2},
    {.name = "arrays of doubles",
     .read = read_arrays,
     .events = true,
     .type = 'g',
     .named = "counts[1]"},
    {.name = "arrays of floats",
     .read = read_arrays,
     .events = true,
     .type = 'f',
     .named = "counts[1]"},
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

static int n_wrong; /* all of them are shown before the test ends */

static void expect_refused(const struct kind *kind, const char *value, struct outcome *outcome) {
    const bool is_named = kind->named ? strstr(outcome->error.message, kind->named) != NULL
                                      : outcome->error.line == kind->line;
    if (outcome->code > -400 || outcome->code <= -500 || !is_named || outcome->store) {
        n_wrong++;
        print_error("%s, count \"%s\": %s, line %lld: %s\n", kind->name, value,
                    dpmf_error_name(outcome->code), (long long)outcome->error.line,
                    outcome->error.message);
    }
}

/* The two others, each once; and one that was dropped. */
static void expect_others(const struct kind *kind, const char *value, struct outcome *outcome) {
    struct dpmf_store_info info = {0};
    dpmf_store_info(outcome->store, &info);
    if (outcome->code != 0 || info.ratings != ROWS - 1 || info.users != ROWS - 1 ||
        info.bad_records != 1 || info.min != 2 || info.max != 2 || !info.holds_events) {
        n_wrong++;
        print_error("%s, count \"%s\": %d (%s), %llu events, %llu bad records\n", kind->name, value,
                    outcome->code, outcome->error.message, (unsigned long long)info.ratings,
                    (unsigned long long)info.bad_records);
    }
    dpmf_store_close(outcome->store);
}

static void counts_that_are_none(void **state) {
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        int tried = 0;
        for (size_t b = 0; b < BAD_COUNTS; b++)
            for (int drops = 0; drops < 2; drops++) {
                const char *value = bad_counts[b].text ? bad_counts[b].text : "(missing)";
                struct outcome outcome = {0};
                if (!kinds[k].read(&kinds[k], &bad_counts[b], drops, &outcome)) continue;
                tried++;
                if (drops)
                    expect_others(&kinds[k], value, &outcome);
                else
                    expect_refused(&kinds[k], value, &outcome);
            }
        if (kinds[k].read == read_sqlite && tried == 0) continue; /* without SQLite */
        assert_true(tried >= 8);
    }
    assert_int_equal(n_wrong, 0);
}

/* What they can be, the largest too. */
static void counts_that_are_some(void **state) {
    static const struct bad_count good[] = {{"1", 1, false, false},
                                            {"16777217", 16777217, false, false},
                                            {"9007199254740991", 9007199254740991.0, false, false}};
    (void)state;
    for (size_t k = 0; k < KINDS; k++)
        for (size_t g = 0; g < sizeof good / sizeof good[0]; g++) {
            struct outcome outcome = {0};
            struct dpmf_store_info info;
            const bool has_few = kinds[k].type == 'f' || kinds[k].type == PARQUET_FLOAT;
            if (has_few && g > 0 && kinds[k].read != read_file) continue; /* 24 bits */
            if (!kinds[k].read(&kinds[k], &good[g], false, &outcome)) continue;
            if (outcome.code != 0) fail_msg("%s: %s", kinds[k].name, outcome.error.message);
            dpmf_store_info(outcome.store, &info);
            assert_int_equal(info.ratings, ROWS);
            assert_true(info.max == fmax(good[g].number, 2) || g == 0);
            dpmf_store_close(outcome.store);
        }
}

/* ---- pairs that lack a half ------------------------------------------------------------------ */

static const struct {
    const char *name, *format, *columns, *text;
    bool events;
    int64_t line;
} bad_pairs[] = {
    {"csv, no user", NULL, NULL, "user,item,plays\n1,1,2\n,2,2\n3,3,2\n", false, 3},
    {"csv, no item", NULL, NULL, "user,item,plays\n1,1,2\n2,,2\n3,3,2\n", false, 3},
    {"csv, a column too few", NULL, NULL, "user,item,plays\n1,1,2\n2,2\n3,3,2\n", false, 3},
    {"csv, a column too many", NULL, NULL, "user,item,plays\n1,1,2\n2,2,2,2\n3,3,2\n", false, 3},
    {"csv, an empty time is none", NULL, NULL, "user,item,plays,time\n1,1,2,\n2,2,2,x\n3,3,2,5\n",
     false, 3},
    {"csv pairs, no item", "csv", "user,item", "1,1\n2,\n3,3\n", false, 2},
    {"csv pairs, alone", "csv", "user,item", "1,1\n2\n3,3\n", false, 2},
    {"tsv, no item", NULL, NULL, "user\titem\tplays\n1\t1\t2\n2\t\t2\n3\t3\t2\n", false, 3},
    {"inter, no user", NULL, NULL,
     "user_id:token\titem_id:token\tcount:float\n1\t1\t2\n\t2\t2\n3\t3\t2\n", false, 3},
    {"libmf, alone", "libmf", NULL, "1 1 2\n2\n3 3 2\n", true, 2},
    {"jsonl, no item", "jsonl", NULL,
     "{\"user\":1,\"item\":1}\n{\"user\":2}\n{\"user\":3,\"item\":3}\n", true, 2},
    {"jsonl, an item of null", "jsonl", NULL,
     "{\"user\":1,\"item\":1}\n{\"user\":2,\"item\":null}\n{\"user\":3,\"item\":3}\n", true, 2},
    {"jsonl, an item of several", "jsonl", NULL,
     "{\"user\":1,\"item\":1}\n{\"user\":2,\"item\":[1,2]}\n{\"user\":3,\"item\":3}\n", true, 2},
    {"matrixmarket, row 0", NULL, NULL,
     "%%MatrixMarket matrix coordinate pattern general\n3 3 3\n1 1\n0 2\n3 3\n", false, 4},
    {"matrixmarket, beyond its size", NULL, NULL,
     "%%MatrixMarket matrix coordinate pattern general\n3 3 3\n1 1\n2 9\n3 3\n", false, 4},
};

static void pairs_that_lack_a_half(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof bad_pairs / sizeof bad_pairs[0]; i++)
        for (int drops = 0; drops < 2; drops++) {
            struct dpmf_input_options options = dpmf_input_options_default();
            struct dpmf_error error = {0};
            struct dpmf_store *store = NULL;
            struct dpmf_store_info info = {0};
            options.format = bad_pairs[i].format;
            options.columns = bad_pairs[i].columns;
            if (options.columns) options.separator = ',';
            options.events = bad_pairs[i].events;
            options.skip_bad = options.by_record = drops;
            temp_dir_write("input", bad_pairs[i].text, strlen(bad_pairs[i].text));
            const int code = dpmf_store_open("input", &options, NULL, &store, &error);
            dpmf_store_info(store, &info);
            const bool is_right =
                drops ? code == 0 && info.ratings == ROWS - 1 && info.bad_records == 1 &&
                            info.holds_events
                      : code <= -400 && code > -500 && error.line == bad_pairs[i].line && !store;
            if (!is_right) {
                n_wrong++;
                print_error("%s, %s: %d, line %lld: %s; %llu events\n", bad_pairs[i].name,
                            drops ? "dropped" : "refused", code, (long long)error.line,
                            error.message, (unsigned long long)info.ratings);
            }
            dpmf_store_close(store);
        }
    assert_int_equal(n_wrong, 0);
}

/* ---- at home --------------------------------------------------------------------------------- */

static struct dpmf_model *model_of_events(void) {
    enum { N = 60 };
    int64_t users[N], items[N];
    double counts[N];
    struct dpmf_arrays arrays = {.size = sizeof arrays,
                                 .n = N,
                                 .n_users = 12,
                                 .n_items = 10,
                                 .users = users,
                                 .items = items,
                                 .ratings = counts};
    struct dpmf_input_options options = dpmf_input_options_default();
    struct dpmf_train_options train = dpmf_train_options_default();
    struct dpmf_store *store = NULL;
    struct dpmf_model *model = NULL;
    for (int i = 0; i < N; i++) {
        users[i] = i % 12;
        items[i] = (i % 12 + i / 12 * 3) % 10;
        counts[i] = 1 + i % 5;
    }
    options.events = true;
    assert_int_equal(dpmf_train_options_solver("ials", &train), 0);
    train.factors = 2;
    train.epochs = 2;
    train.ials.count_weight = 0.5;
    assert_int_equal(dpmf_store_from_arrays(&arrays, &options, NULL, &store, NULL), 0);
    assert_int_equal(dpmf_train(store, NULL, "model", &train, NULL, NULL, NULL, NULL, NULL), 0);
    dpmf_store_close(store);
    assert_int_equal(dpmf_model_open("model", &model, NULL), 0);
    return model;
}

static void own_counts_that_are_none(void **state) {
    struct dpmf_model *model = model_of_events();
    struct dpmf_own_rating mine[] = {{1, 1}, {2, 3}};
    struct dpmf_user *user = NULL, *other = NULL;
    (void)state;
    assert_int_equal(dpmf_user_fold_in(model, mine, 2, &user, NULL), 0);
    const double before = dpmf_user_vector(user)[0];
    for (size_t b = 0; b < BAD_COUNTS; b++) {
        const struct bad_count *bad = &bad_counts[b];
        struct dpmf_error error = {0};
        struct dpmf_score score;
        double shares[2];
        if (!bad->text || (bad->is_word && !bad->is_fraction)) continue;
        const int code =
            isfinite(bad->number) ? DPMF_ERR_INPUT_OUT_OF_RANGE : DPMF_ERR_INPUT_NOT_FINITE;
        mine[1].rating = bad->number;
        assert_int_equal(dpmf_user_fold_in(model, mine, 2, &other, &error), code);
        assert_null(other);
        assert_non_null(strstr(error.message, "a count is not a"));
        assert_int_equal(dpmf_user_known(model, 0, mine, 2, &other, &error), code);
        assert_int_equal(dpmf_model_explain(model, mine, 2, NULL, 4, &score, shares, &error), code);
        if (isnan(bad->number)) continue; /* takes the item away */
        assert_int_equal(dpmf_user_rate(model, user, 2, bad->number, &error), code);
        assert_true(dpmf_user_vector(user)[0] == before);
    }
    dpmf_user_free(user);
    dpmf_model_close(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_that_are_none),
        cmocka_unit_test(counts_that_are_some),
        cmocka_unit_test(pairs_that_lack_a_half),
        cmocka_unit_test(own_counts_that_are_none),
    };
    return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
