/*
 * The bytes of inputs: plain, gzip and zstd, whole, in several pieces one after the other, cut at
 * every byte and damaged in every byte; and files that change while they are read.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <cmocka.h>

#include "stream_of.h"
#include "temp_dir.h"

enum { TEXT_BYTES = 300 * 1000, SMALL_BYTES = 400, SPACE = 2 * TEXT_BYTES };

static char text[TEXT_BYTES];

static int fill_text(void **state) {
    (void)state;
    uint32_t seed = 1;
    for (size_t i = 0; i < TEXT_BYTES; i++) {
        seed = seed * 1664525u + 1013904223u;
        text[i] = "0123456789,\n"[(seed >> 16) % 12];
    }
    return 0;
}

static size_t make_gzip(const void *bytes, size_t n, uint8_t *out) {
    z_stream zlib;
    memset(&zlib, 0, sizeof zlib);
    assert_int_equal(deflateInit2(&zlib, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    zlib.next_in = (unsigned char *)(uintptr_t)bytes;
    zlib.avail_in = (uInt)n;
    zlib.next_out = out;
    zlib.avail_out = SPACE;
    assert_int_equal(deflate(&zlib, Z_FINISH), Z_STREAM_END);
    size_t length = zlib.total_out;
    deflateEnd(&zlib);
    return length;
}

/* With a checksum, as the command has it. */
static size_t make_zstd(const void *bytes, size_t n, uint8_t *out) {
    ZSTD_CCtx *context = ZSTD_createCCtx();
    assert_non_null(context);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    size_t length = ZSTD_compress2(context, out, SPACE, bytes, n);
    assert_false(ZSTD_isError(length));
    ZSTD_freeCCtx(context);
    return length;
}

typedef size_t make_function(const void *bytes, size_t n, uint8_t *out);

/* Reads everything in pieces of `step`. @return 0 or the code; *length bytes are in `out` */
static int drain(struct input_stream *stream, size_t step, char *out, size_t *length,
                 struct dpmf_error *error) {
    size_t got = 1;
    int code = 0;
    *length = 0;
    while (code == 0 && got > 0) {
        size_t room = SPACE - *length < step ? SPACE - *length : step;
        code = input_stream_read(stream, out + *length, room, &got, error);
        *length += got;
    }
    return code;
}

static int drain_memory(const void *bytes, size_t n, size_t step, char *out, size_t *length,
                        struct dpmf_error *error) {
    struct input_stream *stream = NULL;
    int code = stream_of(bytes, n, "memory", &stream, error);
    if (code != 0) return code;
    code = drain(stream, step, out, length, error);
    input_stream_close(stream);
    return code;
}

static void expect_bytes(const void *bytes, size_t n, const void *wanted, size_t n_wanted) {
    static const size_t steps[] = {1000, 4096, 131072, SPACE};
    char *out = malloc(SPACE);
    struct dpmf_error error;
    size_t length;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        assert_int_equal(drain_memory(bytes, n, steps[i], out, &length, &error), 0);
        assert_int_equal(length, n_wanted);
        assert_int_equal(memcmp(out, wanted, n_wanted), 0);
    }
    free(out);
}

static void plain_bytes_are_read(void **state) {
    (void)state;
    expect_bytes(text, TEXT_BYTES, text, TEXT_BYTES);
    expect_bytes(text, 1, text, 1);
    expect_bytes(text, 0, text, 0);
}

static void whole_and_several(make_function *make) {
    uint8_t *packed = malloc(2 * SPACE);
    size_t n = make(text, TEXT_BYTES, packed);
    expect_bytes(packed, n, text, TEXT_BYTES);
    size_t first = make(text, 1000, packed);
    size_t empty = make(text, 0, packed + first);
    n = first + empty + make(text + 1000, TEXT_BYTES - 1000, packed + first + empty);
    expect_bytes(packed, n, text, TEXT_BYTES);
    free(packed);
}

static void compressed_bytes_are_read(void **state) {
    (void)state;
    whole_and_several(make_gzip);
    whole_and_several(make_zstd);
}

/* Where two pieces meet is the one place at which an input may end early and look whole. */
static void cut_everywhere(make_function *make, size_t magic) {
    uint8_t *packed = malloc(2 * SPACE);
    char *out = malloc(SPACE);
    size_t first = make(text, SMALL_BYTES, packed);
    size_t n = first + make(text, SMALL_BYTES, packed + first);
    for (size_t cut = magic; cut < n; cut++) {
        struct dpmf_error error = {.code = 0};
        size_t length;
        int code = drain_memory(packed, cut, SPACE, out, &length, &error);
        assert_int_equal(code, cut == first ? 0 : DPMF_ERR_INPUT_COMPRESSED);
        if (cut == first) continue;
        assert_int_equal(error.code, code);
        assert_string_equal(error.file, "memory");
        assert_true(error.hint[0] != '\0');
    }
    free(packed);
    free(out);
}

static void cut_bytes_are_refused(void **state) {
    (void)state;
    cut_everywhere(make_gzip, 2);
    cut_everywhere(make_zstd, 4);
}

/* A damaged byte is found, or (in what a header leaves free) changes nothing. */
static void damage_everywhere(make_function *make, size_t magic) {
    uint8_t *packed = malloc(SPACE);
    char *out = malloc(SPACE);
    size_t n = make(text, SMALL_BYTES, packed), found = 0;
    for (size_t i = magic; i < n; i++) {
        for (int bit = 0; bit < 8; bit++) {
            struct dpmf_error error = {.code = 0};
            size_t length;
            packed[i] ^= (uint8_t)(1 << bit);
            int code = drain_memory(packed, n, SPACE, out, &length, &error);
            packed[i] ^= (uint8_t)(1 << bit);
            if (code == 0) assert_int_equal(length, SMALL_BYTES);
            if (code == 0)
                assert_memory_equal(out, text, SMALL_BYTES);
            else
                assert_int_equal(code, DPMF_ERR_INPUT_COMPRESSED);
            found += code != 0;
        }
    }
    assert_true(found > (n - magic) * 8 * 3 / 4);
    free(packed);
    free(out);
}

static void damaged_bytes_are_refused(void **state) {
    (void)state;
    damage_everywhere(make_gzip, 2);
    damage_everywhere(make_zstd, 4);
}

static void what_follows_is_looked_at(void **state) {
    (void)state;
    uint8_t *packed = calloc(2, SPACE);
    char *out = malloc(SPACE);
    struct dpmf_error error;
    size_t length, n = make_gzip(text, TEXT_BYTES, packed);
    expect_bytes(packed, n + 1000, text, TEXT_BYTES); /* zeroes are padding */
    packed[n + 1000] = 'x';
    assert_int_equal(drain_memory(packed, n + 1001, SPACE, out, &length, &error),
                     DPMF_ERR_INPUT_COMPRESSED);
    memset(packed, 0, 2 * SPACE);
    n = make_gzip(text, 100, packed);
    memcpy(packed + n, "junk", 4);
    assert_int_equal(drain_memory(packed, n + 4, SPACE, out, &length, &error),
                     DPMF_ERR_INPUT_COMPRESSED);
    n = make_zstd(text, 100, packed);
    memcpy(packed + n, "junk", 4);
    assert_int_equal(drain_memory(packed, n + 4, SPACE, out, &length, &error),
                     DPMF_ERR_INPUT_COMPRESSED);
    free(packed);
    free(out);
}

static void files_and_pipes_are_counted(void **state) {
    (void)state;
    struct temp_dir dir;
    temp_dir_make(&dir);
    char path[TEMP_PATH_MAX], *out = malloc(SPACE);
    temp_dir_file(&dir, "ratings", path); /* no .gz: names do not matter */
    uint8_t *packed = malloc(SPACE);
    size_t n = make_gzip(text, TEXT_BYTES, packed), length;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(packed, 1, n, file), n);
    fclose(file);
    struct input_stream *stream = NULL;
    struct dpmf_error error;
    const void *head;
    assert_int_equal(input_stream_open(path, NULL, &stream, &error), 0);
    assert_int_equal(input_stream_total(stream), n);
    assert_true(input_stream_head(stream, &head) >= 512);
    assert_memory_equal(head, packed, 512);
    assert_int_equal(drain(stream, 5000, out, &length, &error), 0);
    assert_memory_equal(out, text, TEXT_BYTES);
    assert_int_equal(input_stream_bytes_read(stream), n);
    assert_string_equal(input_stream_name(stream), path);
    input_stream_close(stream);

    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "1,2,3\n", 6), 6);
    close(ends[1]);
    assert_int_equal(input_stream_open_fd(ends[0], "<stdin>", NULL, &stream, &error), 0);
    assert_int_equal(input_stream_total(stream), 0);
    assert_int_equal(drain(stream, 4, out, &length, &error), 0);
    assert_int_equal(length, 6);
    input_stream_close(stream);
    free(packed);
    free(out);
    temp_dir_remove(&dir);
}

static void what_is_no_file_is_refused(void **state) {
    (void)state;
    struct input_stream *stream = NULL;
    struct dpmf_error error;
    assert_int_equal(input_stream_open("/", NULL, &stream, &error), DPMF_ERR_IO_DIRECTORY);
    assert_int_equal(input_stream_open("/no/such/file", NULL, &stream, &error),
                     DPMF_ERR_IO_MISSING);
    assert_string_equal(error.file, "/no/such/file");
    assert_int_equal(input_stream_open("/no/such/file", NULL, &stream, NULL), DPMF_ERR_IO_MISSING);
    input_stream_close(NULL);
}

/* ---- files that change ----------------------------------------------------------------------- */

enum change { NOTHING, CUT, CUT_BEFORE, EMPTIED, APPENDED, LATER, CHANGES };

static void change_file(const char *path, enum change change, size_t n) {
    const struct timespec later[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = 2000000000}};
    FILE *file;
    switch (change) {
    case CUT: assert_int_equal(truncate(path, (off_t)n - 1), 0); break;
    case CUT_BEFORE: assert_int_equal(truncate(path, 600), 0); break;
    case EMPTIED: assert_int_equal(truncate(path, 0), 0); break;
    case APPENDED:
        file = fopen(path, "ab");
        assert_non_null(file);
        assert_int_equal(fputs("1,2,3\n", file) >= 0, 1);
        assert_int_equal(fclose(file), 0);
        break;
    case LATER: assert_int_equal(utimensat(AT_FDCWD, path, later, 0), 0); break;
    default: break;
    }
}

/* Reads some of a file, changes it, and reads the rest. */
static int read_changed(const char *path, const void *bytes, size_t n, enum change change,
                        char *out, struct dpmf_error *error) {
    struct input_stream *stream;
    size_t length;
    temp_dir_write(path, bytes, n);
    assert_int_equal(input_stream_open(path, NULL, &stream, error), 0);
    assert_int_equal(input_stream_read(stream, out, 1000, &length, error), 0);
    assert_int_equal(length, 1000);
    change_file(path, change, n);
    int code = drain(stream, 5000, out, &length, error);
    input_stream_close(stream);
    return code;
}

/* What was read of it may be half of what was there, and end inside a record. */
static void changed_files_are_refused(void **state) {
    (void)state;
    struct temp_dir dir;
    char path[TEMP_PATH_MAX];
    uint8_t *packed = malloc(SPACE);
    char *out = malloc(SPACE);
    assert_true(packed && out);
    temp_dir_make(&dir);
    temp_dir_file(&dir, "ratings", path);
    for (int kind = 0; kind < 3; kind++) {
        const void *bytes = kind == 0 ? (void *)text : packed;
        size_t n = kind == 0   ? TEXT_BYTES
                   : kind == 1 ? make_gzip(text, TEXT_BYTES, packed)
                               : make_zstd(text, TEXT_BYTES, packed);
        for (enum change change = NOTHING; change < CHANGES; change++) {
            struct dpmf_error error = {0};
            int code = read_changed(path, bytes, n, change, out, &error);
            /* A text behind compressed data is found before their end is. */
            int wanted = change == NOTHING                 ? 0
                         : change == APPENDED && kind != 0 ? DPMF_ERR_INPUT_COMPRESSED
                                                           : DPMF_ERR_IO_READ;
            if (code != wanted) fail_msg("kind %d, change %d: %d", kind, (int)change, code);
            if (change == NOTHING || code == DPMF_ERR_INPUT_COMPRESSED) continue;
            assert_string_equal(error.message, "the file changed while it was read");
            assert_string_equal(error.file, path);
            assert_true(error.hint[0]);
        }
    }
    temp_dir_remove(&dir);
    free(packed);
    free(out);
}

static bool ask_three_times(void *self) { return ++*(int *)self < 3; }

/* A pipe that stays silent can be left. */
static void test_waiting_can_be_ended(void **state) {
    (void)state;
    int ends[2], asked = 0;
    assert_int_equal(pipe(ends), 0);
    const struct input_wait wait = {ask_three_times, &asked, 0};
    struct input_stream *stream;
    assert_int_equal(input_stream_open_fd(ends[0], "<stdin>", &wait, &stream, NULL),
                     DPMF_ERR_BASE_CANCELLED);
    assert_int_equal(asked, 3);
    close(ends[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_waiting_can_be_ended),   cmocka_unit_test(plain_bytes_are_read),
        cmocka_unit_test(compressed_bytes_are_read),   cmocka_unit_test(cut_bytes_are_refused),
        cmocka_unit_test(damaged_bytes_are_refused),   cmocka_unit_test(what_follows_is_looked_at),
        cmocka_unit_test(files_and_pipes_are_counted), cmocka_unit_test(what_is_no_file_is_refused),
        cmocka_unit_test(changed_files_are_refused),
    };
    return cmocka_run_group_tests(tests, fill_text, NULL);
}
