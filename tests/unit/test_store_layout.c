/*
 * How ratings were read, as a store keeps it: what sources say, what becomes of it when inputs are
 * joined, split, cut into shards and imported again, and what is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/checksum.h"
#include "release/release_input.h"
#include "store/id_form.h"
#include "store/store_format.h"
#include "temp_dir.h"

static const char csv[] =
    "user,item,rating,timestamp\nann,x,5,1\nann,y,3,2\nbob,x,1,3\nbob,y,2,4\n";

static void import_text(const char *name, const char *text, struct dpmf_input_options options,
                        const char *output) {
    struct dpmf_error error = {0};
    if (text) temp_dir_write(name, text, strlen(text));
    int code = dpmf_import(&name, 1, output, &options, NULL, NULL, &error);
    if (code != 0) print_error("%s\n", error.message);
    assert_int_equal(code, 0);
}

static struct store_layout layout_in(const char *path) {
    struct dpmf_store *store = NULL;
    assert_int_equal(dpmf_store_open(path, NULL, NULL, &store, NULL), 0);
    struct store_layout layout = *store_layout_of(store);
    dpmf_store_close(store);
    return layout;
}

static struct dpmf_input_options options_of(const char *format, const char *columns, char separator,
                                            bool skip) {
    struct dpmf_input_options options = dpmf_input_options_default();
    options.format = format;
    options.columns = columns;
    options.separator = separator;
    options.skip_bad = skip;
    return options;
}

/* ---- what decides ---------------------------------------------------------------------------- */

static void sources_say_what_decided(void **state) {
    (void)state;
    static const struct {
        const char *text, *format, *columns;
        char separator;
        enum store_origin origin;
    } cases[] = {
        {csv, NULL, NULL, 0, STORE_ORIGIN_DECLARED},
        {csv, "csv", NULL, 0, STORE_ORIGIN_DECLARED},
        {csv, NULL, "user,item,rating,_", 0, STORE_ORIGIN_DECLARED},
        {"a,b,3\n", NULL, NULL, 0, STORE_ORIGIN_GUESSED},
        {"a,b,3\n", "csv", NULL, 0, STORE_ORIGIN_GUESSED},
        {"a,b,3\n", "csv", "user,item,rating", 0, STORE_ORIGIN_GUESSED}, /* comma or semicolon? */
        {"a,b,3\n", "csv", NULL, ',', STORE_ORIGIN_GUESSED},
        {"a,b,3\n", NULL, "user,item,rating", ',', STORE_ORIGIN_DECLARED},
        {"a|b|3\n", "csv", "user,item,rating", '|', STORE_ORIGIN_DECLARED},
        {"who,what,how\na,b,3\n", "csv", "user,item,rating", ',', STORE_ORIGIN_DECLARED},
        {"who,what,how\na,b,3\n", NULL, "user,item,rating", 0, STORE_ORIGIN_GUESSED},
        {"a\tb\t3\n", "tsv", NULL, 0, STORE_ORIGIN_GUESSED},
        {"a\tb\t3\n", "tsv", "user,item,rating", 0, STORE_ORIGIN_DECLARED},
        {"a\tb\t3\n", NULL, "user,item,rating", 0, STORE_ORIGIN_GUESSED},
        {"1::2::3\n", NULL, NULL, 0, STORE_ORIGIN_GUESSED},
        {"1::2::3\n", "movielens", NULL, 0, STORE_ORIGIN_DECLARED},
        {"1\t2\t3\t4\n", NULL, NULL, 0, STORE_ORIGIN_GUESSED},
        {"1\t2\t3\t4\n", "u.data", NULL, 0, STORE_ORIGIN_DECLARED},
        {"1 2 3\n", NULL, NULL, 0, STORE_ORIGIN_GUESSED},
        {"1 2 3\n", "libmf", NULL, 0, STORE_ORIGIN_DECLARED},
        {"{\"user\":1,\"item\":2,\"rating\":3}\n", NULL, NULL, 0, STORE_ORIGIN_GUESSED},
        {"{\"user\":1,\"item\":2,\"rating\":3}\n", "jsonl", NULL, 0, STORE_ORIGIN_DECLARED},
        {"user_id:token\titem_id:token\trating:float\n1\t2\t3\n", NULL, NULL, 0,
         STORE_ORIGIN_DECLARED},
        {"%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 3\n", NULL, NULL, 0,
         STORE_ORIGIN_DECLARED},
        {"1:\n7,3,2005-09-06\n", "netflix", NULL, 0, STORE_ORIGIN_TOGETHER},
        {"0|1\n7\t3\n", "yahoo", NULL, 0, STORE_ORIGIN_TOGETHER},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        for (int skip = 0; skip < 2; skip++) {
            struct dpmf_store *store = NULL;
            struct dpmf_error error = {0};
            struct dpmf_input_options options =
                options_of(cases[i].format, cases[i].columns, cases[i].separator, skip);
            import_text("in", cases[i].text, options, "out.dpr");
            struct store_layout layout = layout_in("out.dpr");
            if (layout.origin != cases[i].origin) print_error("case %zu\n", i);
            assert_int_equal(layout.origin, cases[i].origin);
            assert_int_equal(layout.drops_bad, skip);

            /* What asks for records by themselves is refused by the text, and by the store. */
            bool wanted = layout.origin == STORE_ORIGIN_DECLARED;
            options.by_record = true;
            int code = dpmf_store_open("in", &options, NULL, &store, &error);
            assert_int_equal(code, wanted ? 0 : DPMF_ERR_PRIVACY_REFUSED);
            if (wanted) assert_int_equal(release_input_check(store, false, &error), 0);
            dpmf_store_close(store);
            assert_int_equal(dpmf_store_open("out.dpr", NULL, NULL, &store, NULL), 0);
            assert_int_equal(release_input_check(store, false, &error),
                             wanted && skip ? 0 : DPMF_ERR_PRIVACY_REFUSED);
            dpmf_store_close(store);
        }
}

/* What a header says of shards, queries and likes comes back, and nothing else is taken. */
static void flags_are_kept(void **state) {
    (void)state;
    uint8_t bytes[STORE_LAYOUT_BYTES];
    struct store_layout read, layout = store_layout_declared();
    layout.is_shard = true;
    layout.is_queried = true;
    layout.is_ranged = true;
    layout.liked = STORE_LIKED_FROM;
    layout.like = 3.5;
    store_layout_write(&layout, bytes);
    assert_true(store_layout_read(bytes, &read));
    assert_true(read.is_shard && read.is_queried && read.is_ranged && read.like == 3.5);
    assert_int_equal(read.liked, STORE_LIKED_FROM);
    assert_false(store_layout_is_by_record(&read));
    for (size_t i = 18; i < STORE_LAYOUT_BYTES; i++) {
        const uint8_t before = bytes[i];
        if (i >= 20 && i < 36) continue; /* any threshold that is a number, and the first halves */
        bytes[i] |= 0x80;
        assert_false(store_layout_read(bytes, &read));
        bytes[i] = before;
    }
    memset(bytes + 24, 0xff, 8);
    assert_false(store_layout_read(bytes, &read)); /* no number */
    layout = store_layout_declared();
    store_layout_write(&layout, bytes);
    bytes[24] = 1;
    assert_false(store_layout_read(bytes, &read)); /* a threshold of nothing */

    struct store_layout all = store_layout_declared(), one = store_layout_declared();
    all.formats = one.formats = store_layout_format("csv");
    one.is_queried = true;
    store_layout_join(&all, &one);
    assert_true(all.is_queried && !all.is_shard && store_layout_is_by_record(&all));
    one = store_layout_declared();
    one.formats = store_layout_format("csv");
    one.is_shard = true;
    one.liked = STORE_LIKED_ANY;
    store_layout_join(&all, &one);
    assert_true(all.is_queried && all.is_shard && all.liked == STORE_LIKED_SEVERAL);
    assert_false(store_layout_is_by_record(&all));
}

static void fields_are_kept(void **state) {
    (void)state;
    import_text("in", csv, options_of(NULL, NULL, 0, true), "out.dpr");
    struct store_layout layout = layout_in("out.dpr");
    assert_int_equal(layout.separator, ',');
    assert_true(layout.has_header);
    assert_int_equal(layout.n_columns, 4);
    for (uint16_t i = 0; i < STORE_ROLES; i++) assert_int_equal(layout.column[i], i + 1);
    assert_int_equal(layout.formats, store_layout_format("csv"));

    import_text("in", "3|z|b|a\n", options_of("csv", "rating,_,item,user", '|', true), "out.dpr");
    layout = layout_in("out.dpr");
    static const uint16_t column[] = {4, 3, 1, 0};
    assert_int_equal(layout.separator, '|');
    assert_false(layout.has_header);
    assert_memory_equal(layout.column, column, sizeof column);
}

/* What would declare the guess is in the error, and does. */
static void refusals_name_the_settings(void **state) {
    (void)state;
    static const struct {
        const char *text, *hint;
    } cases[] = {
        {"a;b;3;4\n", "again, with {format csv} {separator ;} "
                      "{columns user,item,rating,timestamp} {on-error skip}"},
        {"a\tb\t3\n", "again, with {format tsv} {columns user,item,rating} {on-error skip}"},
        {"1::2::3\n", "again, with {format movielens} {on-error skip}"},
        {"user,item,rating\n1,2,3\n", "again, with {on-error skip}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct dpmf_store *store = NULL;
        struct dpmf_error error = {0};
        import_text("in", cases[i].text, dpmf_input_options_default(), "out.dpr");
        assert_int_equal(dpmf_store_open("out.dpr", NULL, NULL, &store, NULL), 0);
        assert_int_equal(release_input_check(store, false, &error), DPMF_ERR_PRIVACY_REFUSED);
        if (!strstr(error.hint, cases[i].hint)) print_error("%s\n", error.hint);
        assert_non_null(strstr(error.hint, cases[i].hint));
        dpmf_store_close(store);
    }
}

/* ---- what becomes of it ---------------------------------------------------------------------- */

static enum store_kin kin_of(const uint32_t a[STORE_SPLITS], const uint32_t b[STORE_SPLITS]) {
    struct store_layout one = store_layout_declared(), other = store_layout_declared();
    memcpy(one.half, a, sizeof one.half);
    memcpy(other.half, b, sizeof other.half);
    const enum store_kin kin = store_layout_kin(&one, &other);
    assert_int_equal(store_layout_kin(&other, &one), kin);
    return kin;
}

/* Which pairs of stores may be trained and tested on: numbers of splits are even, test halves have
 * the lowest bit. */
static void halves_know_each_other(void **state) {
    (void)state;
    static const struct {
        uint32_t a[STORE_SPLITS], b[STORE_SPLITS];
        enum store_kin kin;
    } cases[] = {
        {{0}, {0}, STORE_KIN_UNKNOWN},
        {{0}, {20}, STORE_KIN_UNKNOWN}, /* never split, or a part of what is not known */
        {{STORE_HALF_SEVERAL}, {20}, STORE_KIN_UNKNOWN},
        {{20}, {20}, STORE_KIN_UNKNOWN}, /* the same half: the training error is asked for */
        {{20, 30, 40}, {20, 30, 40}, STORE_KIN_UNKNOWN},
        {{20}, {21}, STORE_KIN_APART},
        {{20, 30}, {21}, STORE_KIN_APART}, /* what was split again, and the first test set */
        {{20, 30}, {21, 41}, STORE_KIN_APART},
        {{20, 30}, {20, 31}, STORE_KIN_APART},
        {{20, 30, 40}, {20, 30, 41}, STORE_KIN_APART},
        {{20}, {20, 31}, STORE_KIN_WITHIN},
        {{20, 30}, {20, 30, 41}, STORE_KIN_WITHIN},
        {{20}, {31}, STORE_KIN_STRANGERS},
        {{20}, {30}, STORE_KIN_STRANGERS},
        {{20, 30}, {20, 41}, STORE_KIN_STRANGERS},
        {{20, 30}, {51, 31}, STORE_KIN_STRANGERS},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(kin_of(cases[i].a, cases[i].b), cases[i].kin);

    /* A split adds itself at the end, and nothing where there is no room. */
    struct store_layout layout = {.half = {STORE_HALF_SEVERAL}};
    const uint32_t wanted[] = {20, 31, 2};
    store_layout_add_half(&layout, UINT64_C(20) << 32 | 7, false);
    store_layout_add_half(&layout, UINT64_C(30) << 32, true);
    store_layout_add_half(&layout, 1, false); /* never 0, which is no half */
    assert_memory_equal(layout.half, wanted, sizeof wanted);
    store_layout_add_half(&layout, UINT64_C(50) << 32, true);
    assert_memory_equal(layout.half, wanted, sizeof wanted);

    /* As bytes, of a layout that is recorded and of one that is not. */
    uint8_t bytes[STORE_LAYOUT_BYTES];
    struct store_layout read;
    store_layout_write(&layout, bytes);
    assert_true(store_layout_read_unknown(bytes, &read));
    assert_memory_equal(read.half, wanted, sizeof wanted);
    assert_false(store_layout_read(bytes, &read)); /* nothing says how it was read */
    bytes[3] = 1;
    assert_false(store_layout_read_unknown(bytes, &read));
    layout.origin = STORE_ORIGIN_GUESSED;
    store_layout_write(&layout, bytes);
    assert_true(store_layout_read(bytes, &read));
    assert_memory_equal(read.half, wanted, sizeof wanted);
    memset(bytes + 20, 0, 4); /* the second half without the first */
    assert_false(store_layout_read(bytes, &read));
    bytes[20] = STORE_HALF_SEVERAL;
    assert_false(store_layout_read(bytes, &read));

    /* Inputs that are the same half stay it; others are none. */
    struct store_layout all = store_layout_declared(), one = store_layout_declared();
    one.half[0] = 20;
    store_layout_join(&all, &one);
    store_layout_join(&all, &one);
    assert_int_equal(all.half[0], 20);
    one.half[0] = 21;
    store_layout_join(&all, &one);
    assert_false(store_layout_is_half(&all));
    store_layout_join(&all, &one);
    assert_false(store_layout_is_half(&all));
    all = store_layout_declared(), one.half[0] = 0, one.formats = store_layout_format("csv");
    store_layout_join(&all, &one);
    one.half[0] = 20;
    store_layout_join(&all, &one);
    assert_false(store_layout_is_half(&all));
}

static void inputs_are_joined(void **state) {
    (void)state;
    static const struct {
        const char *a, *b, *format;
        enum store_origin origin;
        unsigned columns; /* 0 where they differ */
    } cases[] = {
        {csv, "user,item,rating,timestamp\ncleo,x,5,1\n", NULL, STORE_ORIGIN_DECLARED, 4},
        {csv, "user,item,rating\ncleo,x,5\n", NULL, STORE_ORIGIN_DECLARED, 0},
        {csv, "cleo,x,5\n", NULL, STORE_ORIGIN_GUESSED, 0},
        {"cleo,x,5\n", csv, NULL, STORE_ORIGIN_GUESSED, 0},
        {csv, "1:\n7,3,\n", NULL, STORE_ORIGIN_TOGETHER, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *inputs[] = {"a", "b"};
        struct dpmf_input_options options = options_of(cases[i].format, NULL, 0, true);
        temp_dir_write("a", cases[i].a, strlen(cases[i].a));
        temp_dir_write("b", cases[i].b, strlen(cases[i].b));
        assert_int_equal(dpmf_import(inputs, 2, "out.dpr", &options, NULL, NULL, NULL), 0);
        struct store_layout layout = layout_in("out.dpr");
        assert_int_equal(layout.origin, cases[i].origin);
        assert_int_equal(layout.n_columns, cases[i].columns);
    }
}

/* No record of a store is bad, so that one ends no import of stores: it keeps what they say, unless
 * something is asked for that a record could fail, or there are other inputs. */
static void check_again(const char *store, const char *shards, enum store_origin origin) {
    const char *const both[] = {store, shards}, *const mixed[] = {store, "more.csv"};
    struct dpmf_input_options options = options_of(NULL, NULL, 0, false);
    assert_int_equal(dpmf_import(both, 2, "again.dpr", &options, NULL, NULL, NULL), 0);
    assert_int_equal(layout_in("again.dpr").origin, origin);
    assert_true(layout_in("again.dpr").drops_bad);
    temp_dir_write("more.csv", "user,item,rating\nx,y,3\n", 23);
    assert_int_equal(dpmf_import(mixed, 2, "again.dpr", &options, NULL, NULL, NULL), 0);
    assert_false(layout_in("again.dpr").drops_bad);
    options.has_range = true;
    options.range_max = 9;
    import_text(store, NULL, options, "again.dpr");
    assert_false(layout_in("again.dpr").drops_bad);
    options.has_range = false;
    options.rescale = true;
    options.from_max = options.to_max = 1;
    import_text(store, NULL, options, "again.dpr");
    assert_false(layout_in("again.dpr").drops_bad);
    import_text("again.dpr", NULL, options_of(NULL, NULL, 0, false), "third.dpr");
    assert_false(layout_in("third.dpr").drops_bad);
}

static void stores_carry_it_on(void **state) {
    (void)state;
    static const enum dpmf_split_by ways[] = {DPMF_SPLIT_RANDOM, DPMF_SPLIT_USER, DPMF_SPLIT_TIME};
    char text[40000] = "user,item,rating,timestamp\n";
    size_t n = strlen(text);
    for (int i = 0; i < 800; i++)
        n +=
            (size_t)snprintf(text + n, sizeof text - n, "u%d,i%d,%d,%d\n", i / 8, i % 40, i % 5, i);
    for (int declared = 0; declared < 2; declared++) {
        const char *body = declared ? text : strchr(text, '\n') + 1;
        enum store_origin origin = declared ? STORE_ORIGIN_DECLARED : STORE_ORIGIN_GUESSED;
        import_text("in", body, options_of(NULL, NULL, 0, true), "out.dpr");
        assert_int_equal(layout_in("out.dpr").origin, origin);

        struct dpmf_store *store = NULL;
        assert_int_equal(dpmf_store_open("out.dpr", NULL, NULL, &store, NULL), 0);
        for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++) {
            struct dpmf_split_options split = dpmf_split_options_default();
            split.by = ways[w];
            split.test_fraction = 0.3;
            assert_int_equal(dpmf_store_split(store, "a.dpr", "b.dpr", &split, NULL, NULL, NULL),
                             0);
            /* A cut by time falls where everyone's ratings are. */
            bool together = declared && ways[w] == DPMF_SPLIT_TIME;
            assert_int_equal(layout_in("a.dpr").origin, together ? STORE_ORIGIN_TOGETHER : origin);
            assert_int_equal(layout_in("b.dpr").origin, together ? STORE_ORIGIN_TOGETHER : origin);
            assert_true(layout_in("a.dpr").drops_bad);
        }
        struct temp_dir shards = {"shards"};
        assert_int_equal(dpmf_store_shard(store, shards.path, 3, NULL, NULL, NULL), 0);
        dpmf_store_close(store);
        assert_int_equal(layout_in(shards.path).origin, origin);
        assert_true(layout_in(shards.path).drops_bad);

        import_text(shards.path, NULL, options_of(NULL, NULL, 0, true), "again.dpr");
        assert_int_equal(layout_in("again.dpr").origin, origin);
        assert_int_equal(layout_in("again.dpr").n_columns, 4);
        assert_true(layout_in("again.dpr").drops_bad);
        check_again("out.dpr", shards.path, origin);
        temp_dir_remove(&shards);
    }
}

static void arrays_are_declared(void **state) {
    (void)state;
    int64_t users[] = {0, 1}, items[] = {0, 0};
    double ratings[] = {1, 2};
    struct dpmf_arrays arrays = {.size = sizeof arrays,
                                 .n = 2,
                                 .n_users = 2,
                                 .n_items = 1,
                                 .users = users,
                                 .items = items,
                                 .ratings = ratings};
    struct dpmf_input_options options = options_of(NULL, NULL, 0, true);
    struct dpmf_store *store = NULL;
    assert_int_equal(dpmf_store_from_arrays(&arrays, &options, NULL, &store, NULL), 0);
    assert_int_equal(release_input_check(store, false, NULL), 0);
    dpmf_store_close(store);
}

/* Wishes are spelled as the inputs of the store spell ids. */
static void ids_follow_the_formats(void **state) {
    (void)state;
    static const struct {
        const char *text, *format;
        bool takes_text, takes_whole;
    } cases[] = {{"1 2 3\n", "libmf", false, true}, {"1::2::3\n", "movielens", true, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct dpmf_store *store = NULL;
        import_text("in", cases[i].text, options_of(cases[i].format, NULL, 0, true), "out.dpr");
        assert_int_equal(dpmf_store_open("out.dpr", NULL, NULL, &store, NULL), 0);
        struct id_form form = store_id_form(store);
        assert_int_equal(form.takes_text, cases[i].takes_text);
        assert_int_equal(form.takes_whole, cases[i].takes_whole);
        dpmf_store_close(store);
    }
}

/* A half among other inputs is not forgotten: what it lacks is still missing. */
static void halves_among_others_are_known(void **state) {
    (void)state;
    uint8_t bytes[STORE_LAYOUT_BYTES];
    struct store_layout all = store_layout_declared(), half = all, whole = all, read;
    half.formats = whole.formats = store_layout_format("csv");
    store_layout_add_half(&half, UINT64_C(1) << 40, false);
    store_layout_join(&all, &half);
    assert_false(all.has_half);
    assert_true(store_layout_is_half(&all));
    store_layout_join(&all, &whole);
    assert_true(all.has_half);
    assert_false(store_layout_is_half(&all));
    store_layout_write(&all, bytes);
    assert_true(store_layout_read(bytes, &read));
    assert_true(read.has_half);
    all = store_layout_declared();
    store_layout_join(&all, &whole);
    store_layout_join(&all, &whole);
    assert_false(all.has_half);
}

/* Of inputs that spell ids differently nobody could say who is one person: a wish of 7 would leave
 * 007 in. The formats and schemas decide, whatever the ids are. */
static void mixed_ids_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *a, *b;
        enum store_ids a_ids, b_ids;
        bool mixes;
    } cases[] = {
        {"csv", "tsv", STORE_IDS_TEXT, STORE_IDS_TEXT, false},
        {"csv", "movielens", STORE_IDS_TEXT, STORE_IDS_BARE, true},
        {"csv", "libmf", STORE_IDS_TEXT, STORE_IDS_WHOLE, true},
        {"libmf", "matrixmarket", STORE_IDS_WHOLE, STORE_IDS_WHOLE, false},
        {"jsonl", "jsonl", STORE_IDS_EITHER, STORE_IDS_EITHER, false},
        {"jsonl", "csv", STORE_IDS_EITHER, STORE_IDS_TEXT, true},
        {"jsonl", "sqlite", STORE_IDS_EITHER, STORE_IDS_EITHER, true},
        {"jsonl", "libmf", STORE_IDS_EITHER, STORE_IDS_WHOLE, true},
        {"parquet", "parquet", STORE_IDS_WHOLE, STORE_IDS_WHOLE, false},
        {"parquet", "parquet", STORE_IDS_WHOLE, STORE_IDS_TEXT, true},
        {"parquet", "parquet", STORE_IDS_UUID, STORE_IDS_TEXT, true},
        {"parquet", "arrow", STORE_IDS_WHOLE, STORE_IDS_WHOLE, false},
        {"parquet", "csv", STORE_IDS_TEXT, STORE_IDS_TEXT, false},
        {"parquet", "postgres", STORE_IDS_UUID, STORE_IDS_UUID, false},
        {"postgres", "csv", STORE_IDS_TEXT, STORE_IDS_TEXT, false},
        {"postgres", "csv", STORE_IDS_WHOLE, STORE_IDS_TEXT, true},
        {"postgres", "libmf", STORE_IDS_EITHER, STORE_IDS_WHOLE, true},
        {"sqlite", "csv", STORE_IDS_TEXT, STORE_IDS_TEXT, false},
        {"sqlite", "libmf", STORE_IDS_WHOLE, STORE_IDS_WHOLE, false},
        {"sqlite", "csv", STORE_IDS_EITHER, STORE_IDS_TEXT, true},
        {"sqlite", "sqlite", STORE_IDS_EITHER, STORE_IDS_NUMERIC, true},
        {"sqlite", "sqlite", STORE_IDS_WHOLE, STORE_IDS_NUMERIC, true},
        {"sqlite", "sqlite", STORE_IDS_NUMERIC, STORE_IDS_NUMERIC, false},
        {"postgres", "postgres", STORE_IDS_PADDED, STORE_IDS_PADDED, false},
        {"postgres", "csv", STORE_IDS_PADDED, STORE_IDS_TEXT, true},
        {"inter", "inter", STORE_IDS_BARE, STORE_IDS_WHOLE, true},
        {"inter", "libmf", STORE_IDS_WHOLE, STORE_IDS_WHOLE, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct store_layout all = store_layout_declared(), one = store_layout_declared();
        enum store_ids ids = STORE_IDS_TEXT;
        one.formats = store_layout_format_of_ids(cases[i].a, cases[i].a_ids);
        assert_string_equal(store_layout_bit(one.formats, &ids), cases[i].a);
        assert_int_equal(ids, cases[i].a_ids);
        store_layout_join(&all, &one);
        assert_true(store_layout_is_by_record(&all));
        one.formats = store_layout_format_of_ids(cases[i].b, cases[i].b_ids);
        store_layout_join(&all, &one);
        assert_int_equal(store_layout_mixes_ids(&all), cases[i].mixes);
        assert_int_equal(store_layout_is_by_record(&all), !cases[i].mixes);
    }

    struct dpmf_store *store = NULL;
    struct dpmf_error error = {0};
    static const char *const inputs[] = {"a.dpr", "b.dpr"};
    struct dpmf_input_options options = options_of(NULL, NULL, 0, true);
    import_text("in", "user,item,rating\n007,1,3\n", options, "a.dpr");
    import_text("in", "7 1 3\n", options_of("libmf", NULL, 0, true), "b.dpr");
    assert_int_equal(dpmf_import(inputs, 2, "both.dpr", &options, NULL, NULL, NULL), 0);
    assert_int_equal(dpmf_store_open("both.dpr", NULL, NULL, &store, NULL), 0);
    assert_int_equal(release_input_check(store, false, &error), DPMF_ERR_PRIVACY_REFUSED);
    assert_non_null(strstr(error.message, "7, 007 and"));
    assert_non_null(strstr(error.hint, "one format"));
    dpmf_store_close(store);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* A store of 0.1.0 has zeroes where the layout is: it is read, and refused by private runs alone.
 */
static void old_stores_are_read(void **state) {
    (void)state;
    struct dpmf_store *store = NULL;
    struct dpmf_error error = {0};
    size_t n;
    import_text("in", csv, options_of(NULL, NULL, 0, true), "out.dpr");
    uint8_t *bytes = (uint8_t *)temp_dir_read("out.dpr", &n);
    bytes_put_u32(bytes + 12, STORE_FLAG_TIMES);
    memset(bytes + STORE_HEADER_LAYOUT, 0, STORE_LAYOUT_BYTES);
    bytes_put_u64(bytes + 56, checksum64(bytes, 56));
    temp_dir_write("old.dpr", bytes, n);
    assert_int_equal(layout_in("old.dpr").origin, STORE_ORIGIN_UNKNOWN);
    assert_int_equal(dpmf_store_open("old.dpr", NULL, NULL, &store, NULL), 0);
    assert_int_equal(release_input_check(store, false, &error), DPMF_ERR_PRIVACY_REFUSED);
    assert_string_equal(error.hint, "import the ratings again, with {format NAME} {on-error skip}");
    dpmf_store_close(store);

    /* Joined with one that says how it was read, it stays unknown. */
    const char *inputs[] = {"old.dpr", "in"};
    struct dpmf_input_options options = options_of(NULL, NULL, 0, true);
    assert_int_equal(dpmf_import(inputs, 2, "both.dpr", &options, NULL, NULL, NULL), 0);
    assert_int_equal(layout_in("both.dpr").origin, STORE_ORIGIN_UNKNOWN);
    free(bytes);
}

static void wrong_layouts_are_refused(void **state) {
    (void)state;
    size_t n;
    import_text("in", csv, options_of(NULL, NULL, 0, true), "out.dpr");
    uint8_t *bytes = (uint8_t *)temp_dir_read("out.dpr", &n);
    for (size_t i = 0; i < STORE_LAYOUT_BYTES; i++) {
        struct dpmf_store *store = NULL;
        uint8_t *at = bytes + STORE_HEADER_LAYOUT + i, old = *at;
        *at = 0xff;
        bytes_put_u64(bytes + 56, checksum64(bytes, 56));
        temp_dir_write("wrong.dpr", bytes, n);
        /* Any separator, and formats of later versions, may be there; nothing else. */
        bool fine = i == 2 || (i >= 4 && i < 10);
        assert_int_equal(dpmf_store_open("wrong.dpr", NULL, NULL, &store, NULL),
                         fine ? 0 : DPMF_ERR_STORE_CORRUPT);
        dpmf_store_close(store);
        *at = old;
    }
    free(bytes);
}

/* All formats there are have room in what is shown; bits of later versions have no name. */
static void all_formats_are_shown(void **state) {
    (void)state;
    struct store_layout layout = store_layout_declared();
    layout.formats = UINT32_MAX;
    const struct dpmf_layout shown = store_layout_shown(&layout);
    const char *at = shown.formats, *name;
    for (size_t i = 0; (name = store_layout_format_name(i)) != NULL; i++) {
        if (i > 0) at += strlen(", ");
        assert_memory_equal(at, name, strlen(name));
        at += strlen(name);
    }
    assert_int_equal(*at, '\0');
    assert_string_equal(shown.origin, "declared");
    assert_true(shown.drops_bad && !shown.is_by_record); /* they spell ids differently */
    layout.formats = store_layout_format_of_ids("arrow", STORE_IDS_WHOLE);
    assert_string_equal(store_layout_shown(&layout).formats, "arrow");
}

static struct temp_dir directory;

static int enter_directory(void **state) {
    (void)state;
    temp_dir_make(&directory);
    return chdir(directory.path);
}

static int remove_directory(void **state) {
    (void)state;
    temp_dir_remove(&directory);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sources_say_what_decided), cmocka_unit_test(fields_are_kept),
        cmocka_unit_test(flags_are_kept),           cmocka_unit_test(refusals_name_the_settings),
        cmocka_unit_test(inputs_are_joined),        cmocka_unit_test(stores_carry_it_on),
        cmocka_unit_test(arrays_are_declared),      cmocka_unit_test(halves_among_others_are_known),
        cmocka_unit_test(mixed_ids_are_refused),    cmocka_unit_test(ids_follow_the_formats),
        cmocka_unit_test(old_stores_are_read),      cmocka_unit_test(wrong_layouts_are_refused),
        cmocka_unit_test(all_formats_are_shown),    cmocka_unit_test(halves_know_each_other),
    };
    return cmocka_run_group_tests(tests, enter_directory, remove_directory);
}
