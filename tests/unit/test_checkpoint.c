/*
 * Checkpoints come back as they were written, bit by bit, and no file, however damaged or made up,
 * does more harm than an error that names it.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/checksum.h"
#include "checkpoint_make.h"
#include "temp_dir.h"
#include "whole_checkpoint.h"

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

/* ---- whole files ----------------------------------------------------------------------------- */

static void check_same_rows(const struct factor_matrix *a, const struct factor_matrix *b,
                            size_t k) {
    assert_int_equal(a->n, b->n);
    for (uint64_t i = 0; i < a->n; i++) {
        assert_memory_equal(a->rows + i * a->stride, b->rows + i * b->stride, k * sizeof(float));
        for (size_t j = k; j < b->stride; j++) assert_true(b->rows[i * b->stride + j] == 0);
    }
    if (a->n > 0) assert_memory_equal(a->biases, b->biases, (size_t)a->n * sizeof(float));
}

static void check_same_ids(const struct factor_ids *a, const struct factor_ids *b) {
    assert_int_equal(a->n, b->n);
    assert_memory_equal(a->start, b->start, ((size_t)a->n + 1) * sizeof a->start[0]);
    for (uint64_t i = 0; i < a->n; i++) {
        size_t length = (size_t)(a->start[i + 1] - a->start[i]);
        assert_memory_equal(a->bytes + a->start[i], b->bytes + b->start[i], length);
        assert_int_equal(factor_ids_find(b, a->bytes + a->start[i], length), i);
    }
    assert_true(factor_ids_find(b, "nobody", 6) == UINT64_MAX);
    assert_true(factor_ids_find(b, "", 0) == UINT64_MAX);
}

static size_t other_stride(size_t k) { return (k + 15) / 16 * 16 + 16; }

static void check_round_trip(const struct temp_dir *dir, uint64_t users, uint64_t items,
                             uint32_t k) {
    char path[TEMP_PATH_MAX];
    struct factors written, read;
    struct checkpoint_state state = make_state(), state_read;
    struct dpmf_error error;
    temp_dir_file(dir, "m.safetensors", path);
    make_factors(&written, users, items, k, users + k);
    if (k == 3) state.best_valid = 0.1 + 0.2;
    assert_int_equal(whole_checkpoint_write(path, &written, &state, "{}", &error), 0);
    assert_int_equal(whole_checkpoint_read(path, other_stride, 2, &read, &state_read, &error), 0);
    assert_int_equal(read.k, k);
    assert_true(read.offset == written.offset && read.min == 1 && read.max == 5);
    assert_int_equal(read.users.spare, 2);
    check_same_rows(&written.users, &read.users, k);
    check_same_rows(&written.items, &read.items, k);
    check_same_ids(&written.user_ids, &read.user_ids);
    check_same_ids(&written.item_ids, &read.item_ids);

    assert_int_equal(state_read.epoch, state.epoch);
    assert_true(state_read.seed == state.seed && state_read.fingerprint == state.fingerprint);
    assert_true(state_read.learning_rate == state.learning_rate);
    assert_true(state_read.decay == state.decay);
    assert_true(state_read.regularization == state.regularization);
    assert_true(state_read.n_ratings == state.n_ratings);
    assert_true(k == 3 ? state_read.best_valid == state.best_valid : isnan(state_read.best_valid));
    assert_int_equal(state_read.best_epoch, state.best_epoch);

    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    factors_free(&written);
    factors_free(&read);
}

static void test_round_trip(void **state) {
    check_round_trip(*state, 5, 3, 3);
    check_round_trip(*state, 1, 1, 1);
    check_round_trip(*state, 0, 0, 7);
    check_round_trip(*state, 300, 1000, 17);
    check_round_trip(*state, 3, 70, 4096); /* more than one piece */
}

static void test_ids_of_all_lengths(void **state) {
    char path[TEMP_PATH_MAX];
    struct factors factors, read;
    struct checkpoint_state run = make_state();
    temp_dir_file(*state, "m.safetensors", path);
    make_factors(&factors, 2, 2, 2, 1);
    factor_ids_free(&factors.user_ids);
    factors.user_ids.n = 2;
    factors.user_ids.bytes = calloc(1, CHECKPOINT_ID_MAX + 2);
    factors.user_ids.start = calloc(3, sizeof(uint64_t));
    assert_true(factors.user_ids.bytes && factors.user_ids.start);
    factors.user_ids.start[1] = CHECKPOINT_ID_MAX;
    factors.user_ids.start[2] = CHECKPOINT_ID_MAX + 1;
    assert_int_equal(whole_checkpoint_write(path, &factors, &run, "{}", NULL), 0);
    assert_int_equal(whole_checkpoint_read(path, make_stride, 0, &read, &run, NULL), 0);
    factors_free(&read);

    static const uint64_t bad[][2] = {
        {CHECKPOINT_ID_MAX + 1, CHECKPOINT_ID_MAX + 2}, /* too long */
        {0, 1},                                         /* empty */
        {1, 1},
        {2, 1},
        {1, 2}, /* both are one NUL: twice the same */
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        memcpy(factors.user_ids.start + 1, bad[i], sizeof bad[i]);
        assert_int_equal(whole_checkpoint_write(path, &factors, &run, "{}", NULL), 0);
        struct dpmf_error error;
        assert_int_equal(whole_checkpoint_read(path, make_stride, 0, &read, &run, &error),
                         DPMF_ERR_MODEL_CORRUPT);
        assert_string_equal(error.file, path);
        assert_true(error.hint[0] != '\0');
    }
    factors_free(&factors);
}

/* Each of the four tensors of numbers in turn. */
static void test_only_finite_numbers(void **state) {
    static const float bad[] = {NAN, -NAN, INFINITY, -INFINITY};
    static const char *const names[] = {"user_factors", "item_factors", "user_biases",
                                        "item_biases"};
    char path[TEMP_PATH_MAX];
    size_t n;
    struct safetensors *file;
    temp_dir_file(*state, "m.safetensors", path);
    make_checkpoint(path, 9, 4, 5, 1);
    char *bytes = temp_dir_read(path, &n);
    assert_int_equal(safetensors_open(path, &file, NULL), 0);
    for (int i = 0; i < 16; i++) {
        const struct safetensors_entry *entry = safetensors_entry_find(file, names[i % 4]);
        size_t data = 8 + (size_t)bytes_get_u64((const uint8_t *)bytes);
        char *place = bytes + data + entry->offset + entry->bytes - sizeof(float);
        float good;
        struct factors read;
        struct checkpoint_state run;
        memcpy(&good, place, sizeof good);
        memcpy(place, &bad[i / 4], sizeof good);
        reseal_checkpoint(bytes, n);
        temp_dir_write(path, bytes, n);
        memcpy(place, &good, sizeof good);
        assert_int_equal(whole_checkpoint_read(path, make_stride, 0, &read, &run, NULL),
                         DPMF_ERR_MODEL_CORRUPT);
    }
    safetensors_close(file);
    free(bytes);
}

/* ---- damaged files --------------------------------------------------------------------------- */

/* The bytes as a file that is on no disk: these tests read tens of thousands of them. */
static int try_read(const char *bytes, size_t n) {
    struct factors factors;
    struct checkpoint_state run;
    struct safetensors *file;
    struct dpmf_error error = {0};
    int fd = memfd_create("model", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), n);
    int code = safetensors_open_descriptor(fd, "a model", &file, &error);
    if (code == 0) code = checkpoint_read_from(file, make_stride, 1, &factors, &run, &error);
    safetensors_close(file);
    assert_int_equal(error.code, code);
    if (code < 0) {
        assert_true(code == DPMF_ERR_MODEL_CORRUPT || code == DPMF_ERR_MODEL_NOT_A_MODEL ||
                    code == DPMF_ERR_MODEL_KIND);
        assert_string_equal(error.file, "a model");
        assert_true(error.hint[0] != '\0');
    } else {
        factors_free(&factors);
    }
    return code;
}

static void replace(char *bytes, size_t n, const char *from, const char *to) {
    assert_int_equal(strlen(from), strlen(to));
    char *at = memmem(bytes, n, from, strlen(from));
    assert_non_null(at);
    memcpy(at, to, strlen(to));
}

static char *small_model(const struct temp_dir *dir, size_t *n) {
    char path[TEMP_PATH_MAX];
    temp_dir_file(dir, "m.safetensors", path);
    make_checkpoint(path, 3, 2, 2, 1);
    return temp_dir_read(path, n);
}

static void test_cut_anywhere(void **state) {
    size_t n;
    char *bytes = small_model(*state, &n);
    for (size_t length = 0; length < n; length++) assert_true(try_read(bytes, length) < 0);
    assert_int_equal(try_read(bytes, n), 0);
    assert_int_equal(try_read(bytes, n + 1), DPMF_ERR_MODEL_CORRUPT); /* a NUL is there */
    free(bytes);
}

static void test_any_bit_flipped(void **state) {
    size_t n;
    char *bytes = small_model(*state, &n);
    for (size_t bit = 0; bit < 8 * n; bit++) {
        bytes[bit / 8] ^= (char)(1 << bit % 8);
        assert_true(try_read(bytes, n) < 0);
        bytes[bit / 8] ^= (char)(1 << bit % 8);
    }
    assert_int_equal(try_read(bytes, n), 0);
    free(bytes);
}

/* Behind a checksum that fits, as whoever makes files by hand would give them. */
static void test_any_bit_flipped_and_sealed(void **state) {
    size_t n, accepted = 0;
    char *bytes = small_model(*state, &n), *good = malloc(n);
    assert_non_null(good);
    memcpy(good, bytes, n);
    for (size_t bit = 0; bit < 8 * n; bit++) {
        bytes[bit / 8] ^= (char)(1 << bit % 8);
        reseal_checkpoint(bytes, n);
        accepted += try_read(bytes, n) == 0; /* a number may have become another */
        memcpy(bytes, good, n);
    }
    assert_true(accepted > 100);
    free(bytes);
    free(good);
}

/* As 0.1.0 wrote them: read, and known as such; one that lost its checksum since is not. */
static void test_without_checksum(void **state) {
    size_t n;
    char *bytes = small_model(*state, &n);
    struct safetensors *file;
    struct factors factors;
    struct checkpoint_state run;
    replace(bytes, n, "\"dpmf.checksum\"", "\"dpmf.checksuM\"");
    assert_int_equal(try_read(bytes, n), DPMF_ERR_MODEL_CORRUPT);
    replace(bytes, n, "\"dpmf.format\":\"2\"", "\"dpmf.format\":\"1\"");
    assert_int_equal(safetensors_open_memory(bytes, n, "old", &file, NULL), 0);
    assert_int_equal(checkpoint_read_from(file, make_stride, 1, &factors, &run, NULL), 0);
    assert_true(run.is_unchecked);
    factors_free(&factors);
    safetensors_close(file);
    free(bytes);
}

/* Several megabytes in as many threads as there are, against the plain sum of hashes. */
static void test_sum_of_a_large_file(void **state) {
    (void)state;
    enum { ROWS = 700001, K = 24, BIASES = 999999, IDS = 3000001 };
    const struct tensor tensors[] = {
        {.name = "rows", .type = TENSOR_F32, .n_dims = 2, .dims = {ROWS, K}},
        {.name = "biases", .type = TENSOR_F32, .n_dims = 1, .dims = {BIASES}},
        {.name = "ids", .type = TENSOR_U8, .n_dims = 1, .dims = {IDS}},
    };
    static const struct {
        size_t bytes, unit;
    } parts[] = {{ROWS * K * 4, K * 4}, {BIASES * 4, 4}, {IDS, 65536}};
    uint8_t *header;
    size_t n_header, n_data = parts[0].bytes + parts[1].bytes + parts[2].bytes;
    assert_int_equal(safetensors_header_make(tensors, 3, NULL, 0, &header, &n_header, NULL), 0);
    uint8_t *bytes = malloc(n_header + n_data), *data = bytes + n_header;
    assert_non_null(bytes);
    memcpy(bytes, header, n_header);
    for (size_t i = 0; i < n_data; i++) data[i] = (uint8_t)(i * 2654435761u >> 13);
    uint64_t wanted = 0, got = 0;
    size_t at = 0;
    for (size_t t = 0; t < 3; t++) {
        const size_t end = at + parts[t].bytes;
        for (; at < end; at += parts[t].unit < end - at ? parts[t].unit : end - at)
            wanted += checksum64_seeded(data + at,
                                        parts[t].unit < end - at ? parts[t].unit : end - at, at);
    }
    struct safetensors *file;
    assert_int_equal(safetensors_open_memory(bytes, n_header + n_data, "large", &file, NULL), 0);
    assert_int_equal(model_checksum_sum_file(file, &got, NULL), 0);
    assert_true(got == wanted);
    safetensors_close(file);
    free(header);
    free(bytes);
}

/* ---- made-up files --------------------------------------------------------------------------- */

static int read_made_up(const struct temp_dir *dir, const char *header, size_t n_header,
                        size_t n_data, struct safetensors **file) {
    char path[TEMP_PATH_MAX];
    temp_dir_file(dir, "m.safetensors", path);
    char *bytes = calloc(1, 8 + n_header + n_data);
    assert_non_null(bytes);
    bytes_put_u64((uint8_t *)bytes, n_header);
    memcpy(bytes + 8, header, n_header);
    temp_dir_write(path, bytes, 8 + n_header + n_data);
    free(bytes);
    struct dpmf_error error = {0};
    int code = safetensors_open(path, file, &error);
    assert_int_equal(error.code, code);
    if (code < 0) assert_string_equal(error.file, path);
    return code;
}

#define X(offsets) "{\"x\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":" offsets "}"
#define Y(offsets) ",\"y\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":" offsets "}"
#define DEEP "[[[[[[[[[[[[[[[["

static void test_hostile_headers(void **state) {
    static const struct {
        const char *header;
        size_t data;
        bool good;
    } cases[] = {
        {"{}", 0, true},
        {"{}", 1, false},
        {X("[0,8]") "}", 8, true},
        {X("[4,12]") Y("[0,4]") "}  ", 12, true},             /* in any order */
        {X("[0,8]") Y("[4,8]") "}", 8, false},                /* overlapping */
        {X("[0,8]") Y("[9,13]") "}", 13, false},              /* a hole */
        {X("[1,9]") "}", 9, false},                           /* a hole at the beginning */
        {X("[8,0]") "}", 8, false},                           /* backwards */
        {X("[0,8]") "}", 9, false},                           /* bytes of nobody */
        {X("[0,8]") "}", 7, false},                           /* cut */
        {X("[0,9]") "}", 9, false},                           /* longer than its shape */
        {X("[0,8]") Y("[8,12]") Y("[12,16]") "}", 16, false}, /* one name twice */
        {X("[0]") "}", 8, false},
        {X("[0,8,9]") "}", 8, false},
        {X("[-8,0]") "}", 8, false},
        {X("[0,8.0]") "}", 8, false},
        {X("[0,99999999999999999999]") "}", 8, false},
        {X("[18446744073709551608,0]") "}", 8, false},
        {X("[0,9223372036854775800]") "}", 8, false},
        {"{\"x\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904,4],\"data_offsets\":[0,0]}}", 0,
         false}, /* 2^64 bytes are not 0 */
        {"{\"x\":{\"dtype\":\"F32\",\"shape\":[0,4611686018427387904,4],\"data_offsets\":[0,0]}}",
         0, true},
        {"{\"x\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0,4]}}", 4, true},
        {"{\"x\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,4]}}", 4,
         false},
        {"{\"x\":{\"dtype\":\"F16\",\"shape\":[2],\"data_offsets\":[0,4]}}", 4, false},
        {"{\"x\":{\"dtype\":4,\"shape\":[2],\"data_offsets\":[0,4]}}", 4, false},
        {"{\"x\":{\"shape\":[2],\"data_offsets\":[0,8]}}", 8, false},
        {"{\"x\":{\"dtype\":\"F32\",\"data_offsets\":[0,8]}}", 8, false},
        {"{\"x\":{\"dtype\":\"F32\",\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8,
         false},
        {"{\"x\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8],\"z\":1}}", 8, false},
        {"{\"\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8, false},
        {"{\"a\\u0000b\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}", 8, false},
        {"{\"x\":[]}", 0, false},
        {"{\"x\":{\"dtype\":" DEEP DEEP DEEP DEEP DEEP, 0, false},
        {"{\"__metadata__\":{}}", 0, true},
        {"{\"__metadata__\":{},\"__metadata__\":{}}", 0, false},
        {"{\"__metadata__\":{\"a\":1}}", 0, false},
        {"{\"__metadata__\":{\"a\":{}}}", 0, false},
        {"{\"__metadata__\":{\"a\":\"\",\"\\u0061\":\"\"}}", 0, false},
        {"{\"__metadata__\":[]}", 0, false},
        {"{\"__metadata__\":{\"a\":\"b\"}", 0, false},
        {"{} {}", 0, false},
        {"{", 0, false},
        {"{\"x\"", 0, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct safetensors *file;
        const char *header = cases[i].header;
        int code = read_made_up(*state, header, strlen(header), cases[i].data, &file);
        if (code != (cases[i].good ? 0 : DPMF_ERR_MODEL_CORRUPT))
            fail_msg("%s: code %d", header, code);
        safetensors_close(file);
    }
}

static void test_many_entries(void **state) {
    enum { N = SAFETENSORS_ENTRIES_MAX };
    for (int extra = 0; extra < 2; extra++) {
        for (int metadata = 0; metadata < 2; metadata++) {
            struct safetensors *file;
            char *header = malloc((N + 2) * 64);
            assert_non_null(header);
            size_t n = (size_t)sprintf(header, metadata ? "{\"__metadata__\":{" : "{");
            for (int i = 0; i < N + extra; i++)
                n += (size_t)sprintf(
                    header + n,
                    metadata ? "%s\"k%d\":\"v\""
                             : "%s\"t%d\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]}",
                    i ? "," : "", i);
            n += (size_t)sprintf(header + n, metadata ? "}}" : "}");
            assert_int_equal(read_made_up(*state, header, n, 0, &file),
                             extra ? DPMF_ERR_MODEL_CORRUPT : 0);
            safetensors_close(file);
            free(header);
        }
    }
}

static void test_texts_are_unescaped(void **state) {
    static const char header[] =
        "{\"__metadata__\":{\"k\\\"\\u00e9\":\"\\ud83d\\ude00\\n\",\"e\":\"\"},"
        "\"t\\u0041\":{\"dtype\":\"\\u00558\",\"shape\":[3],\"data_offsets\":[0,3]}}";
    struct safetensors *file;
    assert_int_equal(read_made_up(*state, header, sizeof header - 1, 3, &file), 0);
    assert_string_equal(safetensors_metadata(file, "k\"\xc3\xa9"), "\xf0\x9f\x98\x80\n");
    assert_string_equal(safetensors_metadata(file, "e"), "");
    assert_null(safetensors_metadata(file, "x"));
    const struct safetensors_entry *entry = safetensors_entry_find(file, "tA");
    assert_non_null(entry);
    assert_true(entry == safetensors_entry_at(file, 0));
    assert_null(safetensors_entry_at(file, 1));
    assert_int_equal(entry->dims[0], 3);
    char bytes[4];
    assert_int_equal(safetensors_read(file, entry, 0, bytes, 3, NULL), 0);
    assert_int_equal(safetensors_read(file, entry, 1, bytes, 3, NULL), DPMF_ERR_BASE_BUG);
    safetensors_close(file);
}

static void test_other_files(void **state) {
    static const struct {
        const char *bytes;
        size_t n;
    } cases[] = {
        {"", 0},
        {"user,item,rating\n1,2,3\n", 23},
        {"\0\0\0\1\0\0\0\0{}", 10}, /* a header of 16 MiB */
        {"\xff\xff\xff\xff\xff\xff\xff\xff{}", 10},
        {"\2\0\0\0\0\0\0\0[]", 10},
    };
    char path[TEMP_PATH_MAX];
    struct safetensors *file;
    temp_dir_file(*state, "m.safetensors", path);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        temp_dir_write(path, cases[i].bytes, cases[i].n);
        assert_int_equal(safetensors_open(path, &file, NULL),
                         i == 2 ? DPMF_ERR_MODEL_CORRUPT : DPMF_ERR_MODEL_NOT_A_MODEL);
    }
    temp_dir_file(*state, "missing", path);
    assert_int_equal(safetensors_open(path, &file, NULL), DPMF_ERR_IO_MISSING);
    assert_int_equal(safetensors_open(((struct temp_dir *)*state)->path, &file, NULL),
                     DPMF_ERR_IO_DIRECTORY);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(safetensors_open(path, &file, NULL), DPMF_ERR_MODEL_NOT_A_MODEL);
}

/* A right file in every way but one. */
static void test_wrong_in_one_place(void **state) {
    static const struct {
        const char *from, *to;
        int code;
    } cases[] = {
        {"\"checkpoint\"", "\"checkpoin_\"", DPMF_ERR_MODEL_KIND},
        {"\"dpmf.kind\"", "\"dpmf.kinb\"", DPMF_ERR_MODEL_KIND},
        {"\"dpmf.format\":\"2\"", "\"dpmf.format\":\"3\"", DPMF_ERR_MODEL_KIND},
        {"\"dpmf.offset\":\"3.25\"", "\"dpmf.offset\":\"nan \"", DPMF_ERR_MODEL_CORRUPT},
        {"\"dpmf.min\":\"1\"", "\"dpmf.min\":\"9\"", DPMF_ERR_MODEL_CORRUPT},
        {"\\\"epoch\\\":7", "\\\"epoch\\\":x", DPMF_ERR_MODEL_CORRUPT},
        {"\\\"epoch\\\":7", "\\\"epoch\\\":]", DPMF_ERR_MODEL_CORRUPT},
        {"\\\"epoch\\\":7", "\\\"epocX\\\":7", 0},
        {"\"dpmf.state\"", "\"dpmf.statE\"", DPMF_ERR_MODEL_CORRUPT},
        {"user_factors", "user_Factors", DPMF_ERR_MODEL_CORRUPT},
        {"item_biases", "item_Biases", DPMF_ERR_MODEL_CORRUPT},
        {"user_id_bytes", "user_id_Bytes", DPMF_ERR_MODEL_CORRUPT},
        {"\"shape\":[3,2]", "\"shape\":[2,3]", DPMF_ERR_MODEL_CORRUPT},
        {"\"shape\":[3,2]", "\"shape\":[6,1]", DPMF_ERR_MODEL_CORRUPT},
        {"u0u1u2", "u0u1u1", DPMF_ERR_MODEL_CORRUPT},
    };
    size_t n;
    char *good = small_model(*state, &n), *bytes = malloc(n);
    assert_non_null(bytes);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        memcpy(bytes, good, n);
        replace(bytes, n, cases[i].from, cases[i].to);
        reseal_checkpoint(bytes, n);
        int code = try_read(bytes, n);
        if (code != cases[i].code) fail_msg("%s: code %d", cases[i].to, code);
    }
    free(good);
    free(bytes);
}

/* The same model with another state, whose quotes are written as ' here. @return malloc'ed */
static char *with_state(const char *good, size_t n, const char *state, size_t *length) {
    static const char key[] = "\"dpmf.state\":\"";
    const char *from = memmem(good, n, key, sizeof key - 1), *to;
    assert_non_null(from);
    from += sizeof key - 1;
    for (to = from; *to != '"'; to++) to += *to == '\\';
    char *bytes = malloc(n + 2 * strlen(state)), *at = bytes + (from - good);
    assert_non_null(bytes);
    memcpy(bytes, good, (size_t)(from - good));
    for (; *state; state++) {
        if (*state == '\'') *at++ = '\\';
        *at++ = *state == '\'' ? '"' : *state;
    }
    const size_t rest = n - (size_t)(to - good);
    memcpy(at, to, rest);
    *length = (size_t)(at - bytes) + rest;
    const uint64_t header = bytes_get_u64((const uint8_t *)good);
    bytes_put_u64((uint8_t *)bytes, header + *length - n);
    reseal_checkpoint(bytes, *length);
    return bytes;
}

#define SAMPLED "'samples':2,'sample_factors':1,"

/* What a state says is read, or refused where it cannot be meant. */
static void test_states(void **state) {
    static const char *const good_ones[] = {
        "{}",
        "{'from a later version':{'a':[1,'x',null]}}",
        "{'epoch':4294967295,'seed':'18446744073709551615','best_valid':null}",
        "{'order':'one','tiles':'1','decay':0.5,'best_valid':1}",
        "{'ranks':true,'unobserved':1,'regularization':0.1}",
        "{'ranks':false,'events':true,'exponent':1,'like':4,'count_weight':0}",
        "{'rated_min':1,'rated_max':1}",
        "{'user_bias_hold':1,'item_bias_hold':2}",
        "{" SAMPLED "'noise_precision':1,'factor_penalty':1,'bias_penalty':1}",
    };
    static const char *const bad_ones[] = {
        "",
        "[]",
        "{} {}",
        "{'epoch':1",
        "{'epoch'",
        "{'epoch':-1}",
        "{'epoch':4294967296}",
        "{'epoch':1.5}",
        "{'epoch':'1'}",
        "{'seed':1}",
        "{'seed':'x'}",
        "{'seed':'1234567890123456789012345'}",
        "{'decay':'x'}",
        "{'decay':1e999}",
        "{'best_valid':'x'}",
        "{'order':1}",
        "{'order':'a name that is longer than the names of orders are and can be'}",
        "{'ranks':1}",
        "{'x':}",
        "{'ranks':true}",
        "{'ranks':true,'unobserved':1}",
        "{'count_weight':-1}",
        "{'rated_min':2,'rated_max':1}",
        "{'user_bias_hold':1}",
        "{'item_bias_hold':1}",
        "{'user_bias_hold':-1,'item_bias_hold':1}",
        "{'samples':2}",
        "{'sample_factors':1}",
        "{'noise_precision':1}",
        "{'factor_penalty':1}",
        "{'bias_penalty':1}",
        "{'samples':1,'sample_factors':1,'noise_precision':1,'factor_penalty':1,'bias_penalty':1}",
        "{" SAMPLED "'noise_precision':0,'factor_penalty':1,'bias_penalty':1}",
        "{" SAMPLED "'noise_precision':1,'factor_penalty':0,'bias_penalty':1}",
        "{" SAMPLED "'noise_precision':1,'factor_penalty':1,'bias_penalty':-1}",
    };
    enum { N_GOOD = sizeof good_ones / sizeof good_ones[0] };
    size_t n, length;
    char *good = small_model(*state, &n);
    for (size_t i = 0; i < N_GOOD + sizeof bad_ones / sizeof bad_ones[0]; i++) {
        const char *text = i < N_GOOD ? good_ones[i] : bad_ones[i - N_GOOD];
        char *bytes = with_state(good, n, text, &length);
        const int code = try_read(bytes, length);
        if (code != (i < N_GOOD ? 0 : DPMF_ERR_MODEL_CORRUPT)) fail_msg("%s: code %d", text, code);
        free(bytes);
    }
    free(good);
}

/* A file may say it holds much, but it must then be large. */
static void test_matrices_too_large(void **state) {
    (void)state;
    struct factor_matrix matrix;
    assert_int_equal(factor_matrix_init(&matrix, UINT64_MAX, 16, 1, NULL), DPMF_ERR_BASE_NO_MEMORY);
    assert_int_equal(factor_matrix_init(&matrix, UINT64_MAX / 64, 64, 1, NULL),
                     DPMF_ERR_BASE_NO_MEMORY);
    assert_int_equal(factor_matrix_init(&matrix, UINT64_C(1) << 58, 16, 0, NULL),
                     DPMF_ERR_BASE_NO_MEMORY);
    factor_matrix_free(&matrix);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_round_trip),          TEST(test_ids_of_all_lengths),
        TEST(test_only_finite_numbers), TEST(test_cut_anywhere),
        TEST(test_any_bit_flipped),     TEST(test_any_bit_flipped_and_sealed),
        TEST(test_without_checksum),    TEST(test_sum_of_a_large_file),
        TEST(test_hostile_headers),     TEST(test_many_entries),
        TEST(test_texts_are_unescaped), TEST(test_other_files),
        TEST(test_wrong_in_one_place),  TEST(test_states),
        TEST(test_matrices_too_large),
    };
    return cmocka_run_group_tests_name("checkpoint", tests, NULL, NULL);
}
