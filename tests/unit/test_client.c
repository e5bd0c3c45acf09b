/*
 * A model from memory is the model from the file: what is accepted, what is refused and in which
 * words. Cut anywhere, with any bit flipped, or made up by someone who means harm, it is refused
 * from both alike.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "client_make.h"

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

static char *some_release(const struct temp_dir *dir, uint64_t items, uint32_t k, size_t *n) {
    char path[TEMP_PATH_MAX];
    temp_dir_file(dir, "r.safetensors", path);
    client_make_release(path, items, k, 0.5, 0.25, 1);
    return temp_dir_read(path, n);
}

static char *some_checkpoint(const struct temp_dir *dir, size_t *n) {
    char path[TEMP_PATH_MAX];
    temp_dir_file(dir, "c.safetensors", path);
    make_checkpoint(path, 3, 4, 2, 1);
    return temp_dir_read(path, n);
}

/* ---- the same model -------------------------------------------------------------------------- */

static void check_info(const struct dpmf_model *a, const struct dpmf_model *b) {
    struct dpmf_model_info x, y;
    dpmf_model_info(a, &x);
    dpmf_model_info(b, &y);
    assert_string_equal(x.kind, y.kind);
    assert_true(x.users == y.users && x.items == y.items && x.factors == y.factors);
    assert_true(x.offset == y.offset && x.min == y.min && x.max == y.max);
    assert_true(x.file_bytes == y.file_bytes && x.ratings == y.ratings);
    assert_true(x.factor_penalty == y.factor_penalty && x.bias_penalty == y.bias_penalty);
    assert_true((x.statement == NULL) == (y.statement == NULL));
    if (x.statement) assert_string_equal(x.statement, y.statement);
}

static void check_rows(const struct dpmf_model *a, const struct dpmf_model *b) {
    struct dpmf_model_info info;
    size_t stride, same, length, same_length;
    const float *rows = dpmf_model_item_factors(a, &stride), *biases = dpmf_model_item_biases(a);
    const float *again = dpmf_model_item_factors(b, &same),
                *same_biases = dpmf_model_item_biases(b);
    dpmf_model_info(a, &info);
    assert_true(stride == same && stride >= info.factors && rows != again);
    for (uint64_t i = 0; i < info.items; i++) {
        assert_memory_equal(rows + i * stride, again + i * stride, info.factors * sizeof(float));
        assert_true(biases[i] == same_biases[i]);
        const char *id = dpmf_model_item_id(a, i, &length);
        assert_memory_equal(id, dpmf_model_item_id(b, i, &same_length), length);
        assert_int_equal(length, same_length);
        assert_int_equal(dpmf_model_find_item(b, id, length), i);
    }
    const float *users = dpmf_model_user_factors(a, &stride);
    assert_true((users == NULL) == (info.users == 0));
    assert_true((dpmf_model_user_biases(a) == NULL) == (info.users == 0));
    again = dpmf_model_user_factors(b, &same);
    for (uint64_t i = 0; i < info.users; i++) {
        assert_memory_equal(users + i * stride, again + i * stride, info.factors * sizeof(float));
        assert_true(dpmf_model_user_biases(a)[i] == dpmf_model_user_biases(b)[i]);
    }
}

/* The bytes are gone before the model is used. */
static void check_same(const char *path, char *bytes, size_t n) {
    struct dpmf_model *from_file, *from_memory;
    struct dpmf_error error = {0};
    assert_int_equal(dpmf_model_open(path, &from_file, &error), 0);
    assert_int_equal(dpmf_model_open_memory(bytes, n, "memory", &from_memory, &error), 0);
    assert_int_equal(error.code, 0);
    memset(bytes, 0xff, n);
    free(bytes);
    check_info(from_file, from_memory);
    check_rows(from_file, from_memory);
    dpmf_model_close(from_file);
    dpmf_model_close(from_memory);
}

static void test_same_model(void **state) {
    static const uint32_t some_k[] = {0, 1, 3, 16, 65};
    char path[TEMP_PATH_MAX];
    size_t n;
    temp_dir_file(*state, "r.safetensors", path);
    for (size_t i = 0; i < sizeof some_k / sizeof some_k[0]; i++) {
        char *bytes = some_release(*state, 40, some_k[i], &n);
        check_same(path, bytes, n);
    }
    temp_dir_file(*state, "c.safetensors", path);
    char *bytes = some_checkpoint(*state, &n);
    check_same(path, bytes, n);
}

/* ---- refused alike --------------------------------------------------------------------------- */

static int open_file(const void *bytes, size_t n, struct dpmf_model **model,
                     struct dpmf_error *error) {
    char path[64];
    int fd = memfd_create("model", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), n);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int code = dpmf_model_open(path, model, error);
    close(fd);
    return code;
}

/* A copy of just these bytes, so that a sanitizer sees any step beyond them. */
static int open_alike(const void *bytes, size_t n, struct dpmf_error *error) {
    struct dpmf_model *from_file, *from_memory;
    struct dpmf_error of_file = {0};
    char *copy = malloc(n > 0 ? n : 1);
    assert_non_null(copy);
    memcpy(copy, bytes, n);
    *error = (struct dpmf_error){0};
    int code = dpmf_model_open_memory(copy, n, "a model in memory", &from_memory, error);
    free(copy);
    assert_int_equal(open_file(bytes, n, &from_file, &of_file), code);
    assert_int_equal(error->code, code);
    assert_string_equal(error->message, of_file.message);
    assert_string_equal(error->hint, of_file.hint);
    assert_true((code == 0) == (from_memory != NULL) && (code == 0) == (from_file != NULL));
    if (code < 0) {
        assert_string_equal(error->file, "a model in memory");
        assert_true(error->message[0] && error->hint[0]);
        assert_true(code == DPMF_ERR_MODEL_CORRUPT || code == DPMF_ERR_MODEL_NOT_A_MODEL ||
                    code == DPMF_ERR_MODEL_KIND);
    }
    dpmf_model_close(from_file);
    dpmf_model_close(from_memory);
    return code;
}

static void test_cut_anywhere(void **state) {
    struct dpmf_error error;
    for (int kind = 0; kind < 2; kind++) {
        size_t n;
        char *bytes = kind == 0 ? some_release(*state, 3, 2, &n) : some_checkpoint(*state, &n);
        assert_int_equal(open_alike(bytes, n, &error), 0);
        for (size_t cut = 0; cut < n; cut++) assert_true(open_alike(bytes, cut, &error) < 0);
        char *longer = calloc(1, n + 1);
        assert_non_null(longer);
        memcpy(longer, bytes, n);
        assert_int_equal(open_alike(longer, n + 1, &error), DPMF_ERR_MODEL_CORRUPT);
        free(longer);
        free(bytes);
    }
    assert_int_equal(open_alike("", 0, &error), DPMF_ERR_MODEL_NOT_A_MODEL);
}

static void test_any_bit_flipped(void **state) {
    struct dpmf_error error;
    size_t n;
    char *bytes = some_release(*state, 2, 1, &n);
    for (size_t bit = 0; bit < 8 * n; bit++) {
        bytes[bit / 8] ^= (char)(1 << bit % 8);
        assert_true(open_alike(bytes, n, &error) < 0);
        bytes[bit / 8] ^= (char)(1 << bit % 8);
    }
    free(bytes);
}

/* ---- made up --------------------------------------------------------------------------------- */

/* A header that says what it likes, and so many bytes of data. */
static int open_header(const char *header, size_t n_data, struct dpmf_error *error) {
    size_t n = strlen(header);
    uint8_t *bytes = calloc(1, 8 + n + n_data);
    assert_non_null(bytes);
    bytes_put_u64(bytes, n);
    memcpy(bytes + 8, header, n);
    int code = open_alike(bytes, 8 + n + n_data, error);
    free(bytes);
    return code;
}

static void test_hostile_headers(void **state) {
    static const struct {
        const char *header;
        size_t n_data;
        const char *phrase;
    } cases[] = {
        /* offsets */
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},"
         "\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[2,6]}}",
         6, "overlaps"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},"
         "\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}",
         4, "overlaps"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},"
         "\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[6,10]}}",
         10, "hole"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[1,5]}}", 5, "hole"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}", 3, "ends before"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}", 5,
         "after the last tensor"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[4,0]}}", 4, "a beginning and an end"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[-4,0]}}", 4, "not a size"},
        /* lengths */
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[4611686018427387904,4],\"data_offsets\":[0,0]}}", 0,
         "not that of its shape"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[9223372036854775807],\"data_offsets\":[0,"
         "9223372036854775807]}}",
         8, "not that of its shape"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[9223372036854775807],\"data_offsets\":[0,"
         "9223372036854775807]}}",
         8, "ends before"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[99999999999999999999],\"data_offsets\":[0,1]}}", 1,
         "not a size"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1.5],\"data_offsets\":[0,1]}}", 1, "not a size"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,1]}}", 1,
         "too many dimensions"},
        /* other things */
        {"{\"a\":{\"dtype\":\"BF16\",\"shape\":[1],\"data_offsets\":[0,2]}}", 2, "of a kind"},
        {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
         "\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]}}",
         2, "two tensors"},
        {"{\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"}}", 0, "twice"},
        {"{\"__metadata__\":{\"a\":{}}}", 0, "another structure"},
        {"{\"__metadata__\":[]}", 0, "another structure"},
        {"{\"a\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}", 0,
         "another structure"},
        {"{\"a\"", 0, ""},
        {"{} {}", 0, ""},
    };
    struct dpmf_error error;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int code = open_header(cases[i].header, cases[i].n_data, &error);
        assert_int_equal(code, DPMF_ERR_MODEL_CORRUPT);
        if (!strstr(error.message, cases[i].phrase))
            fail_msg("%zu: \"%s\" says not: %s", i, error.message, cases[i].phrase);
    }
}

/* A length that is a lie, and JSON as deep as it is long. */
static void test_huge_headers(void **state) {
    static const uint64_t lengths[] = {
        17,         1000,           (16 << 20) + 1, UINT32_MAX,    INT64_MAX,
        UINT64_MAX, UINT64_MAX - 7, UINT64_MAX - 8, UINT32_MAX - 7};
    struct dpmf_error error;
    uint8_t bytes[24] = "12345678{}";
    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        bytes_put_u64(bytes, lengths[i]);
        assert_true(open_alike(bytes, sizeof bytes, &error) < 0);
    }
    size_t n = 1 << 20;
    char *deep = malloc(n + 1);
    assert_non_null(deep);
    for (int i = 0; i < 3; i++) {
        memset(deep, i == 0 ? '{' : '[', n);
        if (i == 2) memcpy(deep, "{\"__metadata__\":", 16);
        if (i == 1) memcpy(deep, "{\"a\":", 5);
        deep[n] = '\0';
        assert_int_equal(open_header(deep, 0, &error), DPMF_ERR_MODEL_CORRUPT);
    }
    free(deep);
}

/* Numbers that are none, in each of the tensors of floats, with the digest as it was. */
static void test_not_finite(void **state) {
    static const uint32_t bad[] = {0x7f800000u, 0xff800000u, 0x7fc00000u, 0x7f800001u};
    struct dpmf_error error;
    size_t n;
    char *bytes = some_release(*state, 3, 2, &n);
    const size_t header = 8 + (size_t)bytes_get_u64((const uint8_t *)bytes);
    const size_t factors = header + 4 * sizeof(uint64_t); /* behind the ids' offsets */
    for (size_t i = 0; i < 9; i++) {                      /* six factors, three biases */
        for (size_t j = 0; j < sizeof bad / sizeof bad[0]; j++) {
            char kept[4];
            memcpy(kept, bytes + factors + 4 * i, 4);
            memcpy(bytes + factors + 4 * i, &bad[j], 4);
            assert_int_equal(open_alike(bytes, n, &error), DPMF_ERR_MODEL_CORRUPT);
            assert_non_null(strstr(error.message, "not finite"));
            memcpy(bytes + factors + 4 * i, kept, 4);
        }
    }
    assert_int_equal(open_alike(bytes, n, &error), 0);
    free(bytes);
}

/* What no file has to say. */
static void test_no_regular_file(void **state) {
    struct dpmf_model *model;
    struct dpmf_error error = {0};
    (void)state;
    assert_int_equal(dpmf_model_open("/dev/null", &model, &error), DPMF_ERR_MODEL_NOT_A_MODEL);
    assert_non_null(strstr(error.message, "regular file"));
    assert_null(model);
    assert_int_equal(dpmf_model_open("/tmp", &model, &error), DPMF_ERR_IO_DIRECTORY);
    assert_int_equal(dpmf_model_open("/nowhere/r", &model, NULL), DPMF_ERR_IO_MISSING);
    assert_int_equal(dpmf_model_open_memory(NULL, 0, "", &model, NULL), DPMF_ERR_MODEL_NOT_A_MODEL);
    assert_null(model);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_same_model),      TEST(test_cut_anywhere), TEST(test_any_bit_flipped),
        TEST(test_hostile_headers), TEST(test_huge_headers), TEST(test_not_finite),
        TEST(test_no_regular_file),
    };
    return cmocka_run_group_tests_name("client", tests, NULL, NULL);
}
