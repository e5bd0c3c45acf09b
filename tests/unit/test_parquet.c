/*
 * The reader of Parquet files: its codecs and decoders on bytes made by hand, and a whole file made
 * by hand, read as it is, cut at every byte and damaged in every byte. Files of other writers are
 * in tests/cli/import/parquet.sh.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "dpmf.h"
#include "parquet/parquet_bits.h"
#include "parquet/parquet_codec.h"
#include "parquet/thrift.h"
#include "temp_dir.h"

/* ---- codecs ---------------------------------------------------------------------------------- */

static void check_codec(enum parquet_codec codec, const char *packed, size_t n, const char *text) {
    uint8_t out[64];
    const size_t size = strlen(text);
    assert_true(parquet_decompress(codec, (const uint8_t *)packed, n, out, size));
    assert_memory_equal(out, text, size);
    assert_false(parquet_decompress(codec, (const uint8_t *)packed, n, out, size - 1));
    assert_false(parquet_decompress(codec, (const uint8_t *)packed, n, out, size + 1));
    for (size_t cut = 0; cut < n; cut++) {
        uint8_t *part = malloc(cut + 1); /* so that a sanitizer sees what is read beyond */
        assert_non_null(part);
        uint8_t *begin = part + 1; /* ends where the allocation does */
        memcpy(begin, packed, cut);
        assert_false(parquet_decompress(codec, begin, cut, out, size));
        free(part);
    }
}

static void test_snappy(void **state) {
    (void)state;
    /* A literal, a copy of one byte of offset that overlaps, one of two, and one of four. */
    check_codec(PARQUET_SNAPPY,
                "\x0b\x08"
                "abc"
                "\x11\x03",
                7, "abcabcabcab");
    check_codec(PARQUET_SNAPPY,
                "\x09\x08"
                "abc"
                "\x16\x03\x00",
                8, "abcabcabc");
    check_codec(PARQUET_SNAPPY,
                "\x09\x08"
                "abc"
                "\x17\x03\x00\x00\x00",
                10, "abcabcabc");
    check_codec(PARQUET_SNAPPY,
                "\x04\xf0\x03"
                "wxyz",
                7, "wxyz"); /* a length of its own byte */
    /* From before the beginning, and from nowhere. */
    uint8_t out[16];
    assert_false(parquet_decompress(PARQUET_SNAPPY,
                                    (const uint8_t *)"\x09\x08"
                                                     "abc"
                                                     "\x16\x04\x00",
                                    8, out, 9));
    assert_false(parquet_decompress(PARQUET_SNAPPY,
                                    (const uint8_t *)"\x09\x08"
                                                     "abc"
                                                     "\x16\x00\x00",
                                    8, out, 9));
}

static void test_lz4(void **state) {
    (void)state;
    uint8_t out[16];
    check_codec(PARQUET_LZ4_RAW,
                "\x32"
                "abc"
                "\x03\x00\x20"
                "yz",
                9, "abcabcabcyz");
    check_codec(PARQUET_LZ4_RAW,
                "\x1f"
                "a"
                "\x01\x00\x06\x10"
                "b",
                7, "aaaaaaaaaaaaaaaaaaaaaaaaaab"); /* a length that goes on */
    assert_false(parquet_decompress(PARQUET_LZ4_RAW,
                                    (const uint8_t *)"\x10"
                                                     "a"
                                                     "\x02\x00\x10"
                                                     "b",
                                    6, out, 6));
}

static void test_codec_names(void **state) {
    (void)state;
    assert_string_equal(parquet_codec_name(PARQUET_BROTLI), "Brotli");
    assert_null(parquet_codec_name(PARQUET_CODECS));
    assert_null(parquet_codec_name(-1));
    assert_false(parquet_codec_is_known(PARQUET_LZO));
    assert_true(parquet_codec_is_known(PARQUET_ZSTD));
}

/* ---- bits ------------------------------------------------------------------------------------ */

static void test_runs(void **state) {
    (void)state;
    /* 3 times 5 in a run, then 0 to 7 in a group: the example of the format's description. */
    const uint8_t bytes[] = {3 << 1, 5, 1 << 1 | 1, 0x88, 0xc6, 0xfa};
    uint32_t out[11];
    struct parquet_span span = {bytes, bytes + sizeof bytes};
    assert_true(parquet_runs_read(&span, 3, 11, out));
    for (uint32_t i = 0; i < 11; i++) assert_int_equal(out[i], i < 3 ? 5 : i - 3);
    assert_ptr_equal(span.at, span.end);
    for (size_t cut = 0; cut < sizeof bytes; cut++) {
        span = (struct parquet_span){bytes, bytes + cut};
        assert_false(parquet_runs_read(&span, 3, 11, out));
    }
    span = (struct parquet_span){bytes, bytes + sizeof bytes};
    assert_false(parquet_runs_read(&span, 3, 12, (uint32_t[12]){0}));
}

static void test_wide_runs(void **state) {
    (void)state;
    uint8_t bytes[1 + 32] = {3};
    uint32_t out[8];
    for (uint32_t i = 0; i < 8; i++) bytes_put_u32(bytes + 1 + 4 * i, UINT32_MAX - i);
    struct parquet_span span = {bytes, bytes + sizeof bytes};
    assert_true(parquet_runs_read(&span, 32, 8, out));
    for (uint32_t i = 0; i < 8; i++) assert_int_equal(out[i], UINT32_MAX - i);
    /* No bits at all: a dictionary of one value, in a run or a group of any length. */
    const uint8_t none[] = {200, 1, 0x7f};
    uint32_t zeros[300];
    span = (struct parquet_span){none, none + sizeof none};
    assert_true(parquet_runs_read(&span, 0, 300, zeros));
    for (int i = 0; i < 300; i++) assert_int_equal(zeros[i], 0);
}

static void test_levels(void **state) {
    (void)state;
    const uint8_t bytes[] = {5 << 1, 1, 2 << 1, 0, 1 << 1 | 1, 0xa5, 4 << 1, 1};
    uint8_t bits[4] = {0};
    size_t n_set;
    struct parquet_span span = {bytes, bytes + sizeof bytes};
    assert_true(parquet_levels_read(&span, 19, bits, &n_set));
    assert_int_equal(n_set, 5 + 4 + 4);
    assert_int_equal(bytes_get_u32(bits), 0x1fu | 0xa5u << 7 | 0xfu << 15);
    span = (struct parquet_span){bytes, bytes + sizeof bytes};
    assert_false(parquet_levels_read(&span, 20, (uint8_t[4]){0}, &n_set));
    const uint8_t two[] = {5 << 1, 2};
    span = (struct parquet_span){two, two + sizeof two};
    assert_false(parquet_levels_read(&span, 5, bits, &n_set));
}

/* Runs of ones that begin and end anywhere in a byte. */
static void test_levels_anywhere(void **state) {
    (void)state;
    for (unsigned zeros = 0; zeros < 20; zeros++)
        for (unsigned ones = 0; ones < 40; ones++) {
            const uint8_t bytes[] = {(uint8_t)(zeros << 1), 0, (uint8_t)(ones << 1), 1};
            struct parquet_span span = {bytes, bytes + sizeof bytes};
            uint8_t bits[60 / 8 + 1] = {0};
            size_t n_set;
            assert_true(parquet_levels_read(&span, zeros + ones, bits, &n_set));
            assert_int_equal(n_set, ones);
            for (unsigned i = 0; i < 8 * sizeof bits; i++)
                assert_int_equal(bits[i / 8] >> i % 8 & 1, i >= zeros && i < zeros + ones);
        }
}

static void test_deltas(void **state) {
    (void)state;
    /* The two examples of the format's description. */
    const uint8_t ones[] = {0x80, 1, 4, 5, 2, 2, 0, 0, 0, 0};
    int64_t out[8];
    struct parquet_span span = {ones, ones + sizeof ones};
    assert_true(parquet_deltas_read(&span, 5, out));
    for (int i = 0; i < 5; i++) assert_int_equal(out[i], i + 1);
    assert_ptr_equal(span.at, span.end);
    /* 7, 5, 3, 1, 2, 3, 4, 5: least difference -2, then 0 0 0 3 3 3 3 in two bits. */
    uint8_t mixed[] = {0x80, 1, 4, 8, 14, 3, 2, 0, 0, 0, 0xc0, 0x3f, 0, 0, 0, 0, 0, 0};
    const int64_t wanted[] = {7, 5, 3, 1, 2, 3, 4, 5};
    span = (struct parquet_span){mixed, mixed + sizeof mixed};
    assert_true(parquet_deltas_read(&span, 8, out));
    assert_memory_equal(out, wanted, sizeof wanted);
    for (size_t cut = 0; cut < sizeof mixed; cut++) {
        span = (struct parquet_span){mixed, mixed + cut};
        assert_false(parquet_deltas_read(&span, 8, out));
    }
    span = (struct parquet_span){mixed, mixed + sizeof mixed};
    assert_false(parquet_deltas_read(&span, 7, out));
    mixed[6] = 65; /* bits of a difference */
    span = (struct parquet_span){mixed, mixed + sizeof mixed};
    assert_false(parquet_deltas_read(&span, 8, out));
}

static void test_delta_heads(void **state) {
    static const struct {
        uint8_t bytes[8];
        size_t n;
    } wrong[] = {
        {{0, 1, 2, 10, 0, 0}, 6},                /* no block */
        {{8, 0, 2, 10, 0, 0}, 6},                /* no parts */
        {{8, 3, 2, 10, 0, 0}, 6},                /* parts that are not whole */
        {{8, 2, 2, 10, 0, 0}, 6},                /* parts of 4 */
        {{0x88, 0x80, 0x40, 1, 2, 10, 0, 0}, 8}, /* a block too long */
        {{0x80, 0x80, 4, 0x81, 8, 2, 10, 0}, 8}, /* too many parts */
        {{8, 1, 3, 10, 0, 0}, 6},                /* three numbers where there are two */
        {{8, 1, 2}, 3},
    };
    int64_t out[2];
    struct parquet_span span;
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        span = (struct parquet_span){wrong[i].bytes, wrong[i].bytes + wrong[i].n};
        assert_false(parquet_deltas_read(&span, 2, out));
    }
    static const uint8_t none[] = {8, 1, 0, 10};
    span = (struct parquet_span){none, none + sizeof none};
    assert_true(parquet_deltas_read(&span, 0, out));
    assert_ptr_equal(span.at, none + sizeof none);
}

/* Numbers of 61 bits, of which some lie in nine bytes. */
static void test_wide_bits(void **state) {
    enum { WIDTH = 61, N = 8 };
    uint8_t bytes[5 + 1 + WIDTH] = {8, 1, N + 1, 0, 0, WIDTH};
    int64_t out[N + 1], wanted = 0;
    (void)state;
    for (int i = 0; i < N; i++)
        for (int b = 0; b < WIDTH; b++) {
            const int at = i * WIDTH + b;
            const uint64_t number =
                UINT64_C(0x1234567890abcdef) >> i & ((UINT64_C(1) << WIDTH) - 1);
            bytes[6 + at / 8] |= (uint8_t)((number >> b & 1) << at % 8);
        }
    struct parquet_span span = {bytes, bytes + sizeof bytes};
    assert_true(parquet_deltas_read(&span, N + 1, out));
    for (int i = 0; i < N; i++) {
        wanted += (int64_t)(UINT64_C(0x1234567890abcdef) >> i & ((UINT64_C(1) << WIDTH) - 1));
        assert_int_equal(out[i + 1], wanted);
    }
}

/* A run of ones over many bytes, and one that begins within a byte. */
static void test_long_levels(void **state) {
    static const uint8_t bytes[] = {3 << 1, 1, 30 << 1, 1, 7 << 1, 0};
    uint8_t bits[5] = {0};
    size_t n_set;
    struct parquet_span span = {bytes, bytes + sizeof bytes};
    (void)state;
    assert_true(parquet_levels_read(&span, 40, bits, &n_set));
    assert_int_equal(n_set, 33);
    assert_int_equal(bytes_get_u32(bits), UINT32_MAX);
    assert_int_equal(bits[4], 1);
}

/* ---- codecs that are wrong -------------------------------------------------------------------- */

static void test_codecs(void **state) {
    static const struct {
        enum parquet_codec codec;
        const char *packed;
        size_t n, size;
        bool fits;
    } cases[] = {
        {PARQUET_UNCOMPRESSED, "abc", 3, 3, true},
        {PARQUET_UNCOMPRESSED, "abc", 3, 2, false},
        {PARQUET_SNAPPY,
         "\x03\x08"
         "abc",
         5, 3, true},
        {PARQUET_SNAPPY,
         "\x08\x00"
         "a\x0d\x01",
         5, 8, true}, /* seven more, from one back */
        {PARQUET_SNAPPY,
         "\x08\x00"
         "a\x0d\x02",
         5, 8, false}, /* from before the beginning */
        {PARQUET_SNAPPY,
         "\x08\x00"
         "a\x0d",
         4, 8, false},
        {PARQUET_SNAPPY,
         "\x08\x00"
         "a\x1a\x01",
         5, 8, false},
        {PARQUET_SNAPPY,
         "\x08\x00"
         "a\x1a\x01\x00",
         6, 8, true},
        {PARQUET_SNAPPY,
         "\x08\x00"
         "a\x1b\x01\x00\x00",
         7, 8, false},
        {PARQUET_SNAPPY,
         "\x08\x00"
         "a\x1b\x01\x00\x00\x00",
         8, 8, true},
        {PARQUET_SNAPPY, "\x03\xf0", 2, 3, false},
        {PARQUET_SNAPPY,
         "\x03\xf0\x02"
         "abc",
         6, 3, true},
        {PARQUET_SNAPPY,
         "\x03\x08"
         "abc",
         5, 4, false},
        {PARQUET_SNAPPY,
         "\x04\x08"
         "abc",
         5, 4, false},
        {PARQUET_SNAPPY, "", 0, 0, false},
        {PARQUET_LZ4_RAW,
         "\x30"
         "abc",
         4, 3, true},
        {PARQUET_LZ4_RAW, "\xf0", 1, 3, false},
        {PARQUET_LZ4_RAW,
         "\x10"
         "a",
         2, 2, false},
        {PARQUET_LZ4_RAW,
         "\x40"
         "abc",
         4, 4, false},
        {PARQUET_LZ4_RAW,
         "\x14"
         "a\x01",
         3, 9, false},
        {PARQUET_LZ4_RAW,
         "\x1f"
         "a\x01\x00",
         4, 30, false},
        {PARQUET_LZ4_RAW,
         "\x14"
         "a\x02\x00",
         4, 9, false},
        {PARQUET_LZ4_RAW,
         "\x14"
         "a\x01\x00",
         4, 9, true},
        {PARQUET_GZIP, "abc", 3, 3, false},
        {PARQUET_GZIP, "", 0, 0, true},
        {PARQUET_GZIP, "", 0, 1, false},
        {PARQUET_ZSTD, "abc", 3, 3, false},
    };
    uint8_t bytes[32];
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (parquet_decompress(cases[i].codec, (const uint8_t *)cases[i].packed, cases[i].n, bytes,
                               cases[i].size) != cases[i].fits)
            fail_msg("case %zu", i);
}

/* Two members, one cut off, one of more bytes than there should be, and bytes behind them. */
static void test_gzip_members(void **state) {
    uint8_t packed[200], bytes[64];
    uLongf n = sizeof packed / 2, more = sizeof packed / 2;
    (void)state;
    assert_int_equal(compress(packed, &n, (const Bytef *)"hello", 5), Z_OK);
    assert_int_equal(compress(packed + n, &more, (const Bytef *)" you", 4), Z_OK);
    assert_true(parquet_decompress(PARQUET_GZIP, packed, n + more, bytes, 9));
    assert_memory_equal(bytes, "hello you", 9);
    assert_true(parquet_decompress(PARQUET_GZIP, packed, n, bytes, 5));
    assert_false(parquet_decompress(PARQUET_GZIP, packed, n, bytes, 6));
    assert_false(parquet_decompress(PARQUET_GZIP, packed, n, bytes, 4));
    assert_false(parquet_decompress(PARQUET_GZIP, packed, n - 1, bytes, 5));
    packed[n] = 0;
    assert_false(parquet_decompress(PARQUET_GZIP, packed, n + 1, bytes, 5));
}

/* ---- thrift ---------------------------------------------------------------------------------- */

static void test_thrift(void **state) {
    (void)state;
    /* 1: i32 -3, 3: "ab", 4: true, 20: list of two i64, 21: a map, 22: a struct, and the end. */
    const uint8_t bytes[] = {0x15, 5, 0x28, 2, 'a', 'b', 0x11, 0x09, 40, 0x26, 2, 4,
                             0x1b, 1, 0x85, 1, 'k', 2,   0x1c, 0x15, 2,  0,    0};
    struct thrift t = {.at = bytes, .end = bytes + sizeof bytes};
    struct thrift_field field = {0};
    size_t n;
    assert_true(thrift_next(&t, &field));
    assert_int_equal(thrift_whole(&t, &field), -3);
    assert_true(thrift_next(&t, &field));
    assert_int_equal(field.id, 3);
    assert_memory_equal(thrift_bytes(&t, &field, &n), "ab", 2);
    assert_true(thrift_next(&t, &field));
    assert_true(thrift_truth(&t, &field));
    assert_true(thrift_next(&t, &field));
    assert_int_equal(field.id, 20);
    assert_int_equal(thrift_begin_list(&t, &field, THRIFT_I64), 2);
    t.at += 2;
    for (int id = 21; id <= 22; id++) {
        assert_true(thrift_next(&t, &field));
        assert_int_equal(field.id, id);
        thrift_skip(&t, &field);
    }
    assert_false(thrift_next(&t, &field));
    assert_false(t.broken);
    assert_ptr_equal(t.at, t.end);
    for (size_t cut = 0; cut < sizeof bytes; cut++) {
        t = (struct thrift){.at = bytes, .end = bytes + cut};
        field = (struct thrift_field){0};
        while (thrift_next(&t, &field)) thrift_skip(&t, &field);
        assert_true(t.broken && t.is_short);
    }
}

static void test_thrift_depth(void **state) {
    (void)state;
    uint8_t bytes[1000];
    memset(bytes, 0x1c, sizeof bytes); /* structs in structs */
    struct thrift t = {.at = bytes, .end = bytes + sizeof bytes};
    struct thrift_field field = {0};
    assert_true(thrift_next(&t, &field));
    thrift_skip(&t, &field);
    assert_true(t.broken && !t.is_short);
    const uint8_t many[] = {0x19, 0xf5, 0xff, 0xff, 0xff, 0xff, 0x0f}; /* a list of 2^32 numbers */
    t = (struct thrift){.at = many, .end = many + sizeof many};
    field = (struct thrift_field){0};
    assert_true(thrift_next(&t, &field));
    assert_int_equal(thrift_begin_list(&t, &field, THRIFT_I32), 0);
    assert_true(t.broken);
}

/* ---- a file ---------------------------------------------------------------------------------- */

struct writer {
    uint8_t bytes[2000];
    size_t n;
};

static void put(struct writer *w, uint8_t byte) { w->bytes[w->n++] = byte; }

static void put_number(struct writer *w, uint8_t head, int64_t value) {
    put(w, head);
    w->n = (size_t)(varint_put(w->bytes + w->n, zigzag(value)) - w->bytes);
}

static void put_text(struct writer *w, uint8_t head, const char *text) {
    put(w, head);
    put(w, (uint8_t)strlen(text));
    while (*text) put(w, (uint8_t)*text++);
}

enum { ROWS = 3, COLUMNS = 3 };

/* Users and items as numbers of 32 bits, ratings as floats: one page each, in one row group, which
 * has `rows` by the footer. */
static void make_file(struct writer *w, int64_t rows) {
    static const char *const names[COLUMNS] = {"user", "item", "rating"};
    static const int32_t numbers[2][ROWS] = {{7, 7, 9}, {1, 2, 1}};
    static const float ratings[ROWS] = {5, 3, 4.5F};
    size_t begin[COLUMNS + 1];
    memcpy(w->bytes, "PAR1", 4);
    w->n = 4;
    for (int c = 0; c < COLUMNS; c++) {
        begin[c] = w->n;
        put_number(w, 0x15, 0); /* a data page, of so many bytes */
        put_number(w, 0x15, 4 * ROWS);
        put_number(w, 0x15, 4 * ROWS);
        put(w, 0x2c);
        put_number(w, 0x15, ROWS);
        put_number(w, 0x15, 0); /* plain */
        put_number(w, 0x15, 3);
        put_number(w, 0x15, 3);
        put(w, 0);
        put(w, 0);
        memcpy(w->bytes + w->n, c < 2 ? (const void *)numbers[c] : (const void *)ratings, 4 * ROWS);
        w->n += 4 * ROWS;
    }
    begin[COLUMNS] = w->n;
    const size_t footer = w->n;
    put_number(w, 0x15, 1);
    put(w, 0x19); /* the schema */
    put(w, (1 + COLUMNS) << 4 | THRIFT_STRUCT);
    put_text(w, 0x48, "all");
    put_number(w, 0x15, COLUMNS);
    put(w, 0);
    for (int c = 0; c < COLUMNS; c++) {
        put_number(w, 0x15, c < 2 ? 1 : 4); /* INT32 or FLOAT, required */
        put_number(w, 0x25, 0);
        put_text(w, 0x18, names[c]);
        put(w, 0);
    }
    put_number(w, 0x16, rows);
    put(w, 0x19); /* row groups: one */
    put(w, 1 << 4 | THRIFT_STRUCT);
    put(w, 0x19);
    put(w, COLUMNS << 4 | THRIFT_STRUCT);
    for (int c = 0; c < COLUMNS; c++) {
        put_number(w, 0x26, 0);
        put(w, 0x1c);
        put_number(w, 0x15, c < 2 ? 1 : 4);
        put_number(w, 0x35, 0); /* no compression */
        put_number(w, 0x16, rows);
        put_number(w, 0x26, (int64_t)(begin[c + 1] - begin[c]));
        put_number(w, 0x26, (int64_t)begin[c]);
        put(w, 0);
        put(w, 0);
    }
    put_number(w, 0x26, rows);
    put(w, 0);
    put(w, 0);
    bytes_put_u32(w->bytes + w->n, (uint32_t)(w->n - footer));
    memcpy(w->bytes + w->n + 4, "PAR1", 4);
    w->n += 8;
}

static int import_bytes(const struct temp_dir *dir, const uint8_t *bytes, size_t n, bool skip,
                        uint64_t *ratings, struct dpmf_error *error) {
    char path[TEMP_PATH_MAX], store[TEMP_PATH_MAX];
    struct dpmf_input_options options = dpmf_input_options_default();
    struct dpmf_run run = dpmf_run_default();
    struct dpmf_import_report report;
    temp_dir_file(dir, "t.parquet", path);
    temp_dir_file(dir, "t.dpr", store);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
    options.format = "parquet";
    options.skip_bad = skip;
    run.threads = 1;
    const char *inputs[] = {path};
    unlink(store);
    int code = dpmf_import(inputs, 1, store, &options, &run, &report, error);
    *ratings = code == 0 ? report.ratings : 0;
    if (code < 0) assert_int_not_equal(access(store, F_OK), 0); /* nothing is written */
    return code;
}

static void test_file(void **state) {
    (void)state;
    struct writer w = {.n = 0};
    struct temp_dir dir;
    struct dpmf_error error;
    uint64_t ratings;
    make_file(&w, ROWS);
    temp_dir_make(&dir);
    assert_int_equal(import_bytes(&dir, w.bytes, w.n, false, &ratings, &error), 0);
    assert_int_equal(ratings, ROWS);
    /* Every cut is refused; a damaged byte is refused, or another value. */
    for (size_t cut = 0; cut < w.n; cut++) {
        assert_int_equal(import_bytes(&dir, w.bytes, cut, false, &ratings, &error),
                         DPMF_ERR_INPUT_PARQUET);
        assert_string_equal(error.file + strlen(error.file) - 9, "t.parquet");
    }
    for (size_t i = 0; i < w.n; i++) {
        static const uint8_t flips[] = {1, 0x80, 0xff};
        for (size_t f = 0; f < sizeof flips; f++) {
            w.bytes[i] ^= flips[f];
            const int code = import_bytes(&dir, w.bytes, w.n, true, &ratings, &error);
            assert_true(code == 0 || dpmf_error_name(code));
            assert_int_not_equal(code, DPMF_ERR_BASE_BUG);
            if (code == 0) assert_in_range(ratings, 0, ROWS);
            w.bytes[i] ^= flips[f];
        }
    }
    temp_dir_remove(&dir);
}

/* Rows beyond those that the footer knows are not passed over. */
static void test_left_out(void **state) {
    (void)state;
    struct writer w = {.n = 0};
    struct temp_dir dir;
    struct dpmf_error error;
    uint64_t ratings;
    uint8_t twice[4000];
    make_file(&w, ROWS);
    temp_dir_make(&dir);
    memcpy(twice, w.bytes, w.n);
    memcpy(twice + w.n, w.bytes, w.n);
    assert_int_equal(import_bytes(&dir, twice, 2 * w.n, true, &ratings, &error),
                     DPMF_ERR_INPUT_PARQUET);
    assert_string_equal(error.message, "the footer leaves out a part of the file");
    temp_dir_remove(&dir);
}

/* A row group without rows is passed over, but not what is in its pages. */
static void test_no_rows(void **state) {
    (void)state;
    struct writer w = {.n = 0};
    struct temp_dir dir;
    struct dpmf_error error;
    uint64_t ratings;
    make_file(&w, 0);
    temp_dir_make(&dir);
    assert_int_equal(import_bytes(&dir, w.bytes, w.n, true, &ratings, &error),
                     DPMF_ERR_INPUT_PARQUET);
    assert_string_equal(error.message,
                        "column 1 is damaged: a page has more values than there are rows");
    temp_dir_remove(&dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_delta_heads),  cmocka_unit_test(test_wide_bits),
        cmocka_unit_test(test_long_levels),  cmocka_unit_test(test_codecs),
        cmocka_unit_test(test_gzip_members), cmocka_unit_test(test_snappy),
        cmocka_unit_test(test_lz4),          cmocka_unit_test(test_codec_names),
        cmocka_unit_test(test_runs),         cmocka_unit_test(test_wide_runs),
        cmocka_unit_test(test_levels),       cmocka_unit_test(test_levels_anywhere),
        cmocka_unit_test(test_deltas),       cmocka_unit_test(test_thrift),
        cmocka_unit_test(test_thrift_depth), cmocka_unit_test(test_file),
        cmocka_unit_test(test_left_out),     cmocka_unit_test(test_no_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
