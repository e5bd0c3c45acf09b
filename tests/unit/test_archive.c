/*
 * ZIP archives of histories: DEFLATE compared with zlib, archives made here, cut, changed and
 * locked, and what is read of those that services make. All titles are made up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "dpmf_client.h"
#include "titles/diary.h"
#include "titles/inflate.h"

enum { ROOM = 1 << 18 };

/* ---- DEFLATE --------------------------------------------------------------------------------- */

static size_t pack(const uint8_t *bytes, size_t n, int level, int strategy, uint8_t *out) {
    z_stream stream = {0};
    assert_int_equal(deflateInit2(&stream, level, Z_DEFLATED, -15, 8, strategy), Z_OK);
    stream.next_in = (Bytef *)(uintptr_t)bytes;
    stream.avail_in = (uInt)n;
    stream.next_out = out;
    stream.avail_out = 2 * ROOM;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    const size_t packed = stream.total_out;
    deflateEnd(&stream);
    return packed;
}

/* Bytes that repeat themselves at every distance, then noise, then zeros. */
static void make_bytes(uint8_t *bytes, size_t n) {
    uint32_t state = 7;
    for (size_t i = 0; i < n; i++) {
        state = state * 1664525 + 1013904223;
        const size_t back = (state >> 12) % 40000 + 1;
        bytes[i] = i > n / 4 * 3                   ? 0
                   : i > n / 2                     ? (uint8_t)(state >> 24)
                   : (state >> 9 & 7) && i >= back ? bytes[i - back]
                                                   : (uint8_t)("title,year,4.5\n"[state >> 28]);
    }
}

static void unpacks_what_zlib_packs(void **state) {
    (void)state;
    static const int levels[] = {0, 1, 6, 9},
                     strategies[] = {Z_DEFAULT_STRATEGY, Z_FIXED, Z_HUFFMAN_ONLY, Z_RLE};
    uint8_t *bytes = malloc(ROOM), *packed = malloc(2 * ROOM), *out = malloc(ROOM + 1);
    assert_true(bytes && packed && out);
    make_bytes(bytes, ROOM);
    static const size_t sizes[] = {0, 1, 2, 300, 70000, ROOM};
    for (size_t s = 0; s < 6; s++)
        for (size_t l = 0; l < 4; l++)
            for (size_t t = 0; t < 4; t++) {
                const size_t n = pack(bytes, sizes[s], levels[l], strategies[t], packed);
                assert_int_equal(inflate_bytes(packed, n, out, sizes[s]), 0);
                assert_memory_equal(out, bytes, sizes[s]);
                /* another number of bytes, or fewer packed ones, is no such file */
                assert_int_equal(inflate_bytes(packed, n, out, sizes[s] + 1),
                                 DPMF_ERR_INPUT_COMPRESSED);
                assert_int_equal(inflate_bytes(packed, n - 1, out, sizes[s]),
                                 DPMF_ERR_INPUT_COMPRESSED);
                assert_int_equal(inflate_crc32(bytes, sizes[s]), crc32(0, bytes, (uInt)sizes[s]));
            }
    free(bytes);
    free(packed);
    free(out);
}

/* ---- archives -------------------------------------------------------------------------------- */

struct zip {
    uint8_t bytes[1 << 16];
    size_t n;
    uint8_t list[1 << 14];
    size_t n_list, count;
};

static void put(uint8_t *bytes, size_t *n, uint32_t value, size_t size) {
    for (size_t i = 0; i < size; i++) bytes[(*n)++] = (uint8_t)((uint64_t)value >> (8 * i));
}

static void put_text(uint8_t *bytes, size_t *n, const void *text, size_t size) {
    memcpy(bytes + *n, text, size);
    *n += size;
}

/* What entry and member share: flags, method, time, sums and lengths. */
static void put_facts(uint8_t *bytes, size_t *n, uint32_t flags, uint32_t crc, size_t packed,
                      size_t size, size_t name) {
    put(bytes, n, 20, 2), put(bytes, n, flags, 2), put(bytes, n, 8, 2), put(bytes, n, 0, 4);
    put(bytes, n, crc, 4), put(bytes, n, (uint32_t)packed, 4), put(bytes, n, (uint32_t)size, 4);
    put(bytes, n, (uint32_t)name, 2), put(bytes, n, 0, 2);
}

static void zip_add(struct zip *zip, const char *name, const char *text, uint32_t flags) {
    static uint8_t packed[2 * ROOM];
    const size_t size = strlen(text), n_name = strlen(name), offset = zip->n,
                 n = pack((const uint8_t *)text, size, 9, Z_DEFAULT_STRATEGY, packed);
    const uint32_t crc = (uint32_t)crc32(0, (const Bytef *)text, (uInt)size);
    put(zip->bytes, &zip->n, 0x04034b50, 4);
    put_facts(zip->bytes, &zip->n, flags, crc, n, size, n_name);
    put_text(zip->bytes, &zip->n, name, n_name);
    put_text(zip->bytes, &zip->n, packed, n);
    put(zip->list, &zip->n_list, 0x02014b50, 4);
    put(zip->list, &zip->n_list, 20, 2);
    put_facts(zip->list, &zip->n_list, flags, crc, n, size, n_name);
    put(zip->list, &zip->n_list, 0, 2), put(zip->list, &zip->n_list, 0, 8);
    put(zip->list, &zip->n_list, (uint32_t)offset, 4);
    put_text(zip->list, &zip->n_list, name, n_name);
    zip->count++;
}

static void zip_end(struct zip *zip) {
    const size_t offset = zip->n;
    put_text(zip->bytes, &zip->n, zip->list, zip->n_list);
    put(zip->bytes, &zip->n, 0x06054b50, 4), put(zip->bytes, &zip->n, 0, 4);
    put(zip->bytes, &zip->n, (uint32_t)zip->count, 2);
    put(zip->bytes, &zip->n, (uint32_t)zip->count, 2);
    put(zip->bytes, &zip->n, (uint32_t)zip->n_list, 4);
    put(zip->bytes, &zip->n, (uint32_t)offset, 4), put(zip->bytes, &zip->n, 0, 2);
}

static int read_zip(const uint8_t *bytes, size_t n, struct dpmf_diary_info *info,
                    struct dpmf_error *error) {
    struct dpmf_diary *diary;
    char *copy = malloc(n + 1); /* so that reading past the end is noticed */
    assert_non_null(copy);
    memcpy(copy, bytes, n);
    *error = (struct dpmf_error){0};
    assert_int_equal(dpmf_diary_new(&diary, NULL), 0);
    const int code = dpmf_diary_add(diary, copy, n, "mine.zip", error);
    assert_int_equal(code, error->code);
    dpmf_diary_info(diary, info);
    dpmf_diary_free(diary);
    free(copy);
    return code;
}

static const char ratings[] =
    "Date,Name,Year,Letterboxd URI,Rating\n2021-01-01,The Lamp,1999,u,4.5\n";
static const char watched[] = "Date,Name,Year,Letterboxd URI\n2021-01-01,Rocket II,1987,u\n";

static struct zip *letterboxd(void) {
    struct zip *zip = calloc(1, sizeof *zip);
    assert_non_null(zip);
    zip_add(zip, "ratings.csv", ratings, 0);
    zip_add(zip, "deleted/ratings.csv", watched, 0);
    zip_add(zip, "profile.csv", "Date Joined,Username,Name\n2020-01-01,ann,Ann\n", 0);
    zip_add(zip, "watchlist.csv", watched, 0);
    zip_add(zip, "likes/", "", 0);
    zip_add(zip, "likes/films.csv", watched, 0);
    zip_add(zip, "mine.csv", "title,rating\nMine,3\n", 0);
    zip_add(zip, "__MACOSX/._ratings.csv", ratings, 0);
    zip_add(zip, "picture.png", "x", 0);
    zip_add(zip, "watched.csv", watched, 0);
    zip_end(zip);
    return zip;
}

static void reads_what_services_pack(void **state) {
    (void)state;
    struct dpmf_diary_info info;
    struct dpmf_error error;
    struct zip *zip = letterboxd();
    assert_string_equal(dpmf_diary_service((const char *)zip->bytes, zip->n), "zip");
    assert_int_equal(read_zip(zip->bytes, zip->n, &info, &error), 0);
    assert_string_equal(info.service, "letterboxd");
    assert_int_equal(info.entries, 2);
    assert_int_equal(info.rated, 1);
    assert_int_equal(info.files, 2);
    assert_int_equal(info.files_left, 7);
    free(zip);

    zip = calloc(1, sizeof *zip); /* nothing of a service: somebody's own tables */
    zip_add(zip, "a/mine.csv", "title,rating\nMine,3\n", 0);
    zip_add(zip, "b.txt", "words", 0);
    zip_end(zip);
    assert_int_equal(read_zip(zip->bytes, zip->n, &info, &error), 0);
    assert_int_equal(info.entries, 1);
    assert_int_equal(info.files_left, 1);
    free(zip);
}

static void refuses_several_people(void **state) {
    (void)state;
    struct dpmf_diary_info info;
    struct dpmf_error error;
    struct zip *zip = calloc(1, sizeof *zip); /* one profile a file */
    zip_add(zip, "a.csv", "Profile Name,Start Time,Title,Supplemental Video Type\nA,,X,\n", 0);
    zip_add(zip, "b.csv", "Profile Name,Start Time,Title,Supplemental Video Type\nB,,Y,\n", 0);
    zip_end(zip);
    assert_int_equal(read_zip(zip->bytes, zip->n, &info, &error), DPMF_ERR_INPUT_COUNT);
    assert_string_equal(error.file, "b.csv");
    free(zip);
}

static void refuses_what_is_no_history(void **state) {
    (void)state;
    struct dpmf_diary_info info;
    struct dpmf_error error;
    struct zip *zip = calloc(1, sizeof *zip);
    zip_add(zip, "b.txt", "words", 0);
    zip_end(zip);
    assert_int_equal(read_zip(zip->bytes, zip->n, &info, &error), DPMF_ERR_INPUT_EMPTY);
    memset(zip, 0, sizeof *zip);
    zip_add(zip, "ratings.csv", ratings, 1);
    zip_end(zip);
    assert_int_equal(read_zip(zip->bytes, zip->n, &info, &error), DPMF_ERR_INPUT_COMPRESSED);
    assert_non_null(strstr(error.message, "password"));
    free(zip);
}

/* A member that says it is larger than a history can be, and one whose bytes cannot be so many. */
static void refuses_bombs(void **state) {
    (void)state;
    struct dpmf_diary_info info;
    struct dpmf_error error;
    static const uint32_t sizes[] = {0xfffffffe, (1u << 28) + 1, 1u << 28};
    for (size_t i = 0; i < 3; i++) {
        struct zip *zip = calloc(1, sizeof *zip);
        zip_add(zip, "ratings.csv", ratings, 0);
        size_t at = 24; /* of the entry: the size */
        put(zip->list, &at, sizes[i], 4);
        zip_end(zip);
        assert_int_equal(read_zip(zip->bytes, zip->n, &info, &error),
                         i < 2 ? DPMF_ERR_INPUT_TOO_MANY : DPMF_ERR_INPUT_COMPRESSED);
        free(zip);
    }
}

/* Cut anywhere, or with any byte changed, it is read as it is or refused. */
static void survives_damage(void **state) {
    (void)state;
    struct dpmf_diary_info info;
    struct dpmf_error error;
    struct zip *zip = letterboxd();
    for (size_t n = 4; n < zip->n; n++)
        assert_int_equal(read_zip(zip->bytes, n, &info, &error), DPMF_ERR_INPUT_COMPRESSED);
    size_t refused = 0;
    for (size_t i = 4; i < zip->n; i++) {
        zip->bytes[i] ^= 0x55;
        refused += read_zip(zip->bytes, zip->n, &info, &error) < 0;
        zip->bytes[i] ^= 0x55;
    }
    assert_true(refused > 100);
    free(zip);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unpacks_what_zlib_packs), cmocka_unit_test(reads_what_services_pack),
        cmocka_unit_test(refuses_several_people),  cmocka_unit_test(refuses_what_is_no_history),
        cmocka_unit_test(refuses_bombs),           cmocka_unit_test(survives_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
