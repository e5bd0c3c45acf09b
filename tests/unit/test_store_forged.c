/*
 * Stores that nobody damaged by accident: every checksum is right, and one thing they say is not.
 * Each is refused for what is wrong with it, before anything is read or allocated by it.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/checksum.h"
#include "base/error.h"
#include "store/store_format.h"
#include "temp_dir.h"

static struct temp_dir directory;
static char path[TEMP_PATH_MAX];

static int make_directory(void **state) {
    (void)state;
    temp_dir_make(&directory);
    temp_dir_file(&directory, "x.dpr", path);
    return 0;
}

static int remove_directory(void **state) {
    (void)state;
    temp_dir_remove(&directory);
    return 0;
}

/* ---- a store of one block -------------------------------------------------------------------- */

/* Parts of the file that end in a checksum. */
enum part { NONE, HEADER, BLOCK, ITEMS, INDEX, END, N_PARTS };

static struct {
    uint8_t bytes[4096];
    size_t start[N_PARTS + 1]; /* of each part; the last one's end */
} file;

/* A text with its length, NUL bytes included. */
struct bytes {
    const char *text;
    size_t n;
};
#define LITERAL(text)                                                                              \
    { text, sizeof(text) - 1 }
#define BYTES(text) ((struct bytes)LITERAL(text))

#define ONE "\0\0\0\0\0\0\xf0\x3f"
#define HALF "\0\0\0\0\0\0\xe0\x3f"
#define NOT_A_NUMBER "\0\0\0\0\0\0\xf8\x7f"

/* Two users, ann and bo, with two ratings and one. */
#define USERS "\3\2\2\1annbo"
#define ITEM_GAPS "\0\1\1"
#define VALUES "\0\1" ONE
#define TIMES "\2\2\2"

static void seal(enum part part) {
    const size_t end = file.start[part + 1] - STORE_CHECKSUM;
    bytes_put_u64(file.bytes + end,
                  checksum64(file.bytes + file.start[part], end - file.start[part]));
}

static size_t put_items(size_t at) {
    static const char entries[] = "\1\1\2\1\3\1xyyzzz";
    memcpy(file.bytes + at, STORE_MAGIC_ITEMS, 4);
    bytes_put_u64(file.bytes + at + 8, 3);
    bytes_put_u64(file.bytes + at + 16, sizeof entries - 1);
    memcpy(file.bytes + at + STORE_ITEMS_HEADER, entries, sizeof entries - 1);
    return at + STORE_ITEMS_HEADER + sizeof entries - 1 + STORE_CHECKSUM;
}

static void put_numbers(size_t at, const uint64_t *numbers, size_t n) {
    for (size_t i = 0; i < n; i++) bytes_put_u64(file.bytes + at + 8 * i, numbers[i]);
}

static void build(uint32_t flags, struct bytes payload) {
    const uint64_t n_users = 2, n_ratings = 3;
    memset(&file, 0, sizeof file);
    size_t *start = file.start;
    start[BLOCK] = STORE_HEADER_BYTES;
    start[ITEMS] = start[BLOCK] + STORE_BLOCK_HEADER + payload.n + STORE_CHECKSUM;
    start[INDEX] = put_items(start[ITEMS]);
    start[END] = start[INDEX] + STORE_INDEX_ENTRY + STORE_CHECKSUM;
    start[N_PARTS] = start[END] + STORE_END_BYTES;

    memcpy(file.bytes, STORE_MAGIC, 8);
    bytes_put_u32(file.bytes + 8, STORE_VERSION);
    bytes_put_u32(file.bytes + 12, flags);
    uint8_t *block = file.bytes + start[BLOCK];
    memcpy(block, STORE_MAGIC_BLOCK, 4);
    bytes_put_u32(block + 4, (uint32_t)n_users);
    bytes_put_u64(block + 8, n_ratings);
    bytes_put_u64(block + 24, payload.n);
    memcpy(block + STORE_BLOCK_HEADER, payload.text, payload.n);
    put_numbers(
        start[INDEX],
        (const uint64_t[]){start[BLOCK], start[ITEMS] - start[BLOCK], 0, n_users, n_ratings}, 5);
    memcpy(file.bytes + start[END], STORE_MAGIC_END, 8);
    const uint64_t end[] = {n_users,
                            3,
                            n_ratings,
                            1,
                            start[ITEMS],
                            start[INDEX] - start[ITEMS],
                            start[INDEX],
                            start[END] - start[INDEX],
                            bytes_of_double(1),
                            bytes_of_double(1),
                            start[N_PARTS]};
    put_numbers(start[END] + 8, end, sizeof end / sizeof end[0]);
    for (enum part part = HEADER; part < N_PARTS; part++) seal(part);
}

static struct dpmf_error error;

/* Opens and reads everything. @return 0 or the first error's code, with `error` filled in */
static int read_whole(void) {
    struct dpmf_store *store;
    memset(&error, 0, sizeof error);
    temp_dir_write(path, file.bytes, file.start[N_PARTS]);
    int code = store_open_file(path, &store, &error);
    if (code < 0) return code;
    struct store_block block;
    struct store_scan scan = {.store = store,
                              .want = STORE_WANT_VALUE | STORE_WANT_VALUE32 | STORE_WANT_TIME};
    while (store_scan_next(&scan, &block, &code, &error)) assert_int_equal(block.n_ratings, 3);
    store_scan_free(&scan);
    dpmf_store_close(store);
    return code;
}

static void expect_corrupt(size_t i, const char *message) {
    const int code = read_whole();
    if (code != DPMF_ERR_STORE_CORRUPT || !strstr(error.message, message))
        fail_msg("case %zu: code %d, \"%s\", not \"%s\"", i, code, error.message, message);
}

/* ---- what the end, the index and the items say ----------------------------------------------- */

struct patch {
    enum part part;
    int width; /* bytes: 1, 4 or 8 */
    size_t at; /* within the part */
    int64_t add;
};

/* Numbers of the end, by place. */
enum {
    N_USERS = 8,
    N_ITEMS = 16,
    N_RATINGS = 24,
    N_BLOCKS = 32,
    ITEMS_AT = 40,
    ITEMS_LENGTH = 48,
    INDEX_AT = 56,
    INDEX_LENGTH = 64,
    LEAST = 72,
    MOST = 80,
};

/* Numbers of an entry of the index. */
enum { OFFSET = 0, LENGTH = 8, FIRST_USER = 16, BLOCK_USERS = 24, BLOCK_RATINGS = 32 };

#define INFINITE INT64_C(0x0010000000000000) * 0x400 /* from 1 to infinity, by their bits */
enum { FIRST_ITEM = STORE_ITEMS_HEADER };

static const struct forgery {
    struct patch patch[4];
    const char *message;
} forgeries[] = {
    {{{END, 8, ITEMS_AT, -200}}, "the end record is inconsistent"},
    {{{END, 8, ITEMS_AT, INT64_MAX}}, "the end record is inconsistent"},
    {{{END, 8, ITEMS_LENGTH, INT64_MAX}}, "the end record is inconsistent"},
    {{{END, 8, INDEX_AT, 1}}, "the end record is inconsistent"},
    {{{END, 8, INDEX_LENGTH, 40}}, "the end record is inconsistent"},
    {{{END, 8, ITEMS_LENGTH, -40}, {END, 8, INDEX_AT, -40}, {END, 8, INDEX_LENGTH, 40}},
     "the end record is inconsistent"},
    {{{END, 8, ITEMS_LENGTH, 41}, {END, 8, INDEX_AT, 41}, {END, 8, INDEX_LENGTH, -41}},
     "the end record is inconsistent"},
    {{{END, 8, ITEMS_LENGTH, 1}, {END, 8, INDEX_AT, 1}, {END, 8, INDEX_LENGTH, -1}},
     "the end record is inconsistent"},
    {{{END, 8, N_BLOCKS, 1}}, "the end record is inconsistent"},
    {{{END, 8, N_USERS, INT64_C(1) << 32}}, "the end record is inconsistent"},
    {{{END, 8, N_ITEMS, INT64_C(1) << 32}}, "the end record is inconsistent"},
    {{{END, 8, LEAST, INFINITE}}, "the end record is inconsistent"},
    {{{END, 8, MOST, INFINITE}}, "the end record is inconsistent"},
    {{{END, 8, LEAST, 1}}, "the end record is inconsistent"},

    {{{INDEX, 8, OFFSET, 1}}, "the index is inconsistent"},
    {{{INDEX, 8, FIRST_USER, 1}}, "the index is inconsistent"},
    {{{INDEX, 8, LENGTH, -40}}, "the index is inconsistent"},
    {{{INDEX, 8, LENGTH, 1}}, "the index is inconsistent"},
    {{{INDEX, 8, LENGTH, -1}}, "the index is inconsistent"},
    {{{INDEX, 8, BLOCK_USERS, -2}}, "the index is inconsistent"},
    {{{INDEX, 8, BLOCK_USERS, -1}}, "the index is inconsistent"},
    {{{INDEX, 8, BLOCK_USERS, 1}}, "the index is inconsistent"},
    {{{INDEX, 8, BLOCK_USERS, 1000}}, "the index is inconsistent"},
    {{{INDEX, 8, BLOCK_RATINGS, -1}}, "the index is inconsistent"},
    {{{INDEX, 8, BLOCK_RATINGS, -2}}, "the index is inconsistent"},
    {{{INDEX, 8, BLOCK_RATINGS, 1}}, "the index is inconsistent"},
    {{{INDEX, 8, BLOCK_RATINGS, 1000}}, "the index is inconsistent"},

    {{{ITEMS, 1, 0, 1}}, "the dictionary of items is inconsistent"},
    {{{ITEMS, 4, 4, 1}}, "the dictionary of items is inconsistent"},
    {{{ITEMS, 8, 8, 1}}, "the dictionary of items is inconsistent"},
    {{{ITEMS, 8, 16, 1}}, "the dictionary of items is inconsistent"},
    {{{END, 8, N_ITEMS, 10}, {ITEMS, 8, 8, 10}}, "the dictionary of items is inconsistent"},
    {{{ITEMS, 1, FIRST_ITEM, -1}}, "the dictionary of items is inconsistent"},
    {{{ITEMS, 1, FIRST_ITEM, 1}}, "the dictionary of items is inconsistent"},
    {{{ITEMS, 1, FIRST_ITEM + 1, 1}}, "the dictionary of items is inconsistent"},
    {{{ITEMS, 1, FIRST_ITEM + 1, -1}}, "the dictionary of items is inconsistent"},
    {{{ITEMS, 1, FIRST_ITEM + 1, 100}}, "the dictionary of items is inconsistent"},
    /* a first id of 65,537 bytes */
    {{{ITEMS, 4, FIRST_ITEM, 0x01048081 - 0x01020101}}, "the dictionary of items is inconsistent"},
    /* numbers without an end: the first, and the second */
    {{{ITEMS, 8, FIRST_ITEM, -1 - INT64_C(0x7978010301020101)},
      {ITEMS, 4, FIRST_ITEM + 8, -1 - 0x7a7a7a79}},
     "the dictionary of items is inconsistent"},
    {{{ITEMS, 8, FIRST_ITEM, -255 - INT64_C(0x7978010301020101)},
      {ITEMS, 4, FIRST_ITEM + 8, -1 - 0x7a7a7a79}},
     "the dictionary of items is inconsistent"},

    {{{BLOCK, 1, 0, 1}}, "it is not what the index says"},
    {{{BLOCK, 4, 4, 1}}, "it is not what the index says"},
    {{{BLOCK, 8, 8, 1}}, "it is not what the index says"},
    {{{BLOCK, 8, 16, 1}}, "it is not what the index says"},
    {{{BLOCK, 8, 24, 1}}, "it is not what the index says"},
};

static void apply(const struct patch *patch) {
    uint8_t *at = file.bytes + file.start[patch->part] + patch->at;
    if (patch->width == 1)
        *at = (uint8_t)(*at + patch->add);
    else if (patch->width == 4)
        bytes_put_u32(at, bytes_get_u32(at) + (uint32_t)patch->add);
    else
        bytes_put_u64(at, bytes_get_u64(at) + (uint64_t)patch->add);
}

static void test_numbers_that_do_not_agree(void **state) {
    (void)state;
    build(0, BYTES(USERS ITEM_GAPS VALUES));
    assert_int_equal(read_whole(), 0);
    for (size_t i = 0; i < sizeof forgeries / sizeof forgeries[0]; i++) {
        build(0, BYTES(USERS ITEM_GAPS VALUES));
        for (const struct patch *patch = forgeries[i].patch; patch->part != NONE; patch++) {
            apply(patch);
            seal(patch->part);
        }
        expect_corrupt(i, forgeries[i].message);
    }
}

/* The end is where it should be, but is no end, or one of a file of another size. */
static void test_end_of_another_file(void **state) {
    (void)state;
    for (size_t at = 0; at <= 88; at += 88) {
        build(0, BYTES(USERS ITEM_GAPS VALUES));
        file.bytes[file.start[END] + at]++;
        seal(END);
        assert_int_equal(read_whole(), DPMF_ERR_STORE_TRUNCATED);
    }
}

/* ---- what a block says ----------------------------------------------------------------------- */

#define NO_USERS "its users do not add up"
#define NO_ITEM "an item is not in the dictionary"
#define NO_RATINGS "its ratings cannot be read"
#define NO_TIMES "its times cannot be read"
#define ENDLESS "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"

static const struct {
    uint32_t flags;
    struct bytes payload;
    const char *message;
} payloads[] = {
    {0, LITERAL(ENDLESS), NO_USERS},
    {0, LITERAL("\3" ENDLESS), NO_USERS},
    {0, LITERAL("\0\2\2\1annbo" ITEM_GAPS VALUES), NO_USERS},
    {0, LITERAL("\x81\x80\4\2\2\1annbo" ITEM_GAPS VALUES), NO_USERS}, /* an id of 65,537 bytes */
    {0, LITERAL("\3\0\2\1annbo" ITEM_GAPS VALUES), NO_USERS},
    {0, LITERAL("\3\2\2\2annbo" ITEM_GAPS VALUES), NO_USERS},
    {0, LITERAL("\3\1\2\1annbo" ITEM_GAPS VALUES), NO_USERS},
    {0, LITERAL("\x7f\2\2\1annbo" ITEM_GAPS VALUES), NO_USERS},
    /* gaps: with room for the longest, and without */
    {0, LITERAL(USERS "\0\x7f\1" VALUES), NO_ITEM},
    {0, LITERAL(USERS "\x80\x80\x80\x80\x80\1\1\1" VALUES), NO_ITEM},
    {0, LITERAL(USERS "\0\3"), NO_ITEM},
    {0, LITERAL(USERS "\0\xff\xff"), NO_ITEM},
    {0, LITERAL(USERS "\0\1\3"), NO_ITEM},
    {0, LITERAL(USERS "\2\2\0"), NO_ITEM},
    /* values: no kind, an unknown kind, no table, an empty and a large table, one that is cut */
    {0, LITERAL(USERS ITEM_GAPS), NO_RATINGS},
    {0, LITERAL(USERS ITEM_GAPS "\3\1" ONE), NO_RATINGS},
    {0, LITERAL(USERS ITEM_GAPS "\0" ENDLESS), NO_RATINGS},
    {0, LITERAL(USERS ITEM_GAPS "\0\0" ONE), NO_RATINGS},
    {0, LITERAL(USERS ITEM_GAPS "\0\x81\2" ONE), NO_RATINGS},
    {0, LITERAL(USERS ITEM_GAPS "\0\1\0\0\0"), NO_RATINGS},
    {0, LITERAL(USERS ITEM_GAPS "\0\1" NOT_A_NUMBER), NO_RATINGS},
    {0, LITERAL(USERS ITEM_GAPS "\0\3" ONE ONE ONE), NO_RATINGS},        /* no codes */
    {0, LITERAL(USERS ITEM_GAPS "\0\3" ONE ONE ONE "\x3f"), NO_RATINGS}, /* codes past the table */
    {0, LITERAL(USERS ITEM_GAPS "\2" ONE ONE), NO_RATINGS},
    {0, LITERAL(USERS ITEM_GAPS "\2" ONE ONE NOT_A_NUMBER), NO_RATINGS},
    {0, LITERAL(USERS ITEM_GAPS "\1\0\0\x80\x3f\0\0\x80\x3f"), NO_RATINGS},
    {0, LITERAL(USERS ITEM_GAPS "\1\0\0\x80\x3f\0\0\x80\x3f\0\0\x80\x7f"), NO_RATINGS},
    {STORE_FLAG_EVENTS, LITERAL(USERS ITEM_GAPS "\0\1" HALF), NO_RATINGS},
    {STORE_FLAG_EVENTS, LITERAL(USERS ITEM_GAPS "\2" ONE ONE HALF), NO_RATINGS},
    {STORE_FLAG_TIMES, LITERAL(USERS ITEM_GAPS VALUES "\2\2"), NO_TIMES},
    {0, LITERAL(USERS ITEM_GAPS VALUES "\2"), "it holds more than it says"},
};

static void test_payloads_that_do_not_agree(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof payloads / sizeof payloads[0]; i++) {
        build(payloads[i].flags, payloads[i].payload);
        expect_corrupt(i, payloads[i].message);
    }
    build(STORE_FLAG_TIMES, BYTES(USERS ITEM_GAPS VALUES TIMES));
    assert_int_equal(read_whole(), 0);
    build(STORE_FLAG_EVENTS, BYTES(USERS ITEM_GAPS "\2" ONE ONE ONE));
    assert_int_equal(read_whole(), 0);
    build(0, BYTES(USERS ITEM_GAPS "\1\0\0\x80\x3f\0\0\x80\x3f\0\0\x80\x3f"));
    assert_int_equal(read_whole(), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_that_do_not_agree),
        cmocka_unit_test(test_end_of_another_file),
        cmocka_unit_test(test_payloads_that_do_not_agree),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
