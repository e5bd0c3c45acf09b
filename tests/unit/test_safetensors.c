/*
 * safetensors files are what the format says: the header read back with our own JSON reader, each
 * tensor where the header puts it, nothing between and nothing after.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/json.h"
#include "base/number.h"
#include "model/safetensors.h"
#include "model/safetensors_reader.h"
#include "temp_dir.h"

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

static const float factors[6] = {1, 2, 3, 4, 5, 6};
static const double biases[3] = {0.5, -0.5, 0};
static const uint8_t ids[5] = {'a', 'b', 'c', 'd', 'e'};
static const int64_t offsets[4] = {0, 2, 4, 5};

static const struct tensor tensors[] = {
    {"item_id_bytes", TENSOR_U8, 1, {5, 0}, ids, 0}, /* first, so that the others are not aligned */
    {"item_factors", TENSOR_F32, 2, {3, 2}, factors, 0},
    {"item_biases", TENSOR_F64, 1, {3, 0}, biases, 0},
    {"item_id_offsets", TENSOR_I64, 1, {4, 0}, offsets, 0},
    {"nothing", TENSOR_F32, 2, {0, 7}, NULL, 0},
};
enum { N_TENSORS = sizeof tensors / sizeof tensors[0] };

static const char *const metadata[] = {"dpmf.kind", "release", "statement", "{\"epsilon\": 1}\n"};

static uint64_t next_number(struct json_reader *reader) {
    struct json_token token = json_next(reader);
    int64_t value = -1;
    assert_int_equal(token.kind, JSON_NUMBER);
    assert_int_equal(number_parse_int64(token.text, token.length, &value), NUMBER_OK);
    return (uint64_t)value;
}

static void expect(struct json_reader *reader, enum json_kind kind, const char *word) {
    struct json_token token = json_next(reader);
    assert_int_equal(token.kind, kind);
    if (word) assert_true(json_equals(&token, word));
}

static void check_tensor(struct json_reader *reader, const struct tensor *tensor, const char *type,
                         size_t size, const char *data, uint64_t *end) {
    expect(reader, JSON_KEY, tensor->name);
    expect(reader, JSON_OBJECT_BEGIN, NULL);
    expect(reader, JSON_KEY, "dtype");
    expect(reader, JSON_STRING, type);
    expect(reader, JSON_KEY, "shape");
    expect(reader, JSON_ARRAY_BEGIN, NULL);
    uint64_t n = size;
    for (int d = 0; d < tensor->n_dims; d++) {
        assert_int_equal(next_number(reader), tensor->dims[d]);
        n *= tensor->dims[d];
    }
    expect(reader, JSON_ARRAY_END, NULL);
    expect(reader, JSON_KEY, "data_offsets");
    expect(reader, JSON_ARRAY_BEGIN, NULL);
    assert_int_equal(next_number(reader), *end);
    assert_int_equal(next_number(reader), *end + n);
    expect(reader, JSON_ARRAY_END, NULL);
    expect(reader, JSON_OBJECT_END, NULL);
    if (n > 0) assert_memory_equal(data + *end, tensor->data, n);
    *end += n;
}

static void test_write(void **state) {
    char path[TEMP_PATH_MAX];
    temp_dir_file(*state, "model.safetensors", path);
    struct dpmf_error error;
    assert_int_equal(
        safetensors_write(path, OUTPUT_PRIVATE, tensors, N_TENSORS, metadata, 2, &error), 0);

    size_t n;
    char *bytes = temp_dir_read(path, &n);
    uint64_t header = bytes_get_u64((const uint8_t *)bytes);
    assert_int_equal(header % 8, 0);
    assert_int_equal(bytes[8], '{');

    struct json_reader reader;
    json_reader_init(&reader, bytes + 8, header);
    expect(&reader, JSON_OBJECT_BEGIN, NULL);
    expect(&reader, JSON_KEY, "__metadata__");
    expect(&reader, JSON_OBJECT_BEGIN, NULL);
    for (int i = 0; i < 4; i++) expect(&reader, i % 2 ? JSON_STRING : JSON_KEY, metadata[i]);
    expect(&reader, JSON_OBJECT_END, NULL);
    static const char *const types[] = {"U8", "F32", "F64", "I64", "F32"};
    static const size_t sizes[] = {1, 4, 8, 8, 4};
    uint64_t end = 0;
    for (int i = 0; i < N_TENSORS; i++)
        check_tensor(&reader, &tensors[i], types[i], sizes[i], bytes + 8 + header, &end);
    expect(&reader, JSON_OBJECT_END, NULL);
    expect(&reader, JSON_END, NULL);
    assert_int_equal(8 + header + end, n);
    free(bytes);

    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 07777, 0600);
}

static void test_empty(void **state) {
    char path[TEMP_PATH_MAX];
    temp_dir_file(*state, "empty", path);
    assert_int_equal(safetensors_write(path, OUTPUT_PUBLIC, NULL, 0, NULL, 0, NULL), 0);
    size_t n;
    char *bytes = temp_dir_read(path, &n);
    assert_int_equal(n, 16);
    assert_memory_equal(bytes + 8, "{}      ", 8);
    free(bytes);
}

static int lowest_free_descriptor(void) {
    const int fd = dup(STDERR_FILENO);
    assert_true(fd >= 0);
    close(fd);
    return fd;
}

/* What is closed, and what is refused, leaves no file open. */
static void test_descriptors(void **state) {
    char path[TEMP_PATH_MAX];
    struct safetensors *file;
    const int before = lowest_free_descriptor();
    temp_dir_file(*state, "file", path);
    assert_int_equal(safetensors_write(path, OUTPUT_PUBLIC, NULL, 0, NULL, 0, NULL), 0);
    assert_int_equal(safetensors_open(path, &file, NULL), 0);
    assert_int_equal(lowest_free_descriptor(), before + 1);
    safetensors_close(file);
    assert_int_equal(lowest_free_descriptor(), before);
    temp_dir_write(path, "?", 1);
    assert_true(safetensors_open(path, &file, NULL) < 0);
    assert_null(file);
    assert_int_equal(lowest_free_descriptor(), before);
}

static void check_refused(const struct temp_dir *dir, const struct tensor *bad, size_t n) {
    char path[TEMP_PATH_MAX];
    struct dpmf_error error = {0};
    temp_dir_file(dir, "bad", path);
    int code = safetensors_write(path, OUTPUT_PUBLIC, bad, n, NULL, 0, &error);
    assert_int_equal(code, DPMF_ERR_BASE_BUG);
    assert_int_equal(error.code, code);
    assert_int_equal(temp_dir_count(dir), 0);
}

static void test_bad_tensors_are_refused(void **state) {
    const struct tensor good = {"x", TENSOR_F32, 1, {6, 0}, factors, 0};
    struct tensor bad[][2] = {{good, good}, {good}, {good}, {good}, {good}, {good}, {good},
                              {good},       {good}, {good}, {good}, {good}, {good}};
    bad[1][0].name = NULL;
    bad[2][0].name = "";
    bad[3][0].name = "__metadata__";
    bad[4][0].name = "\xff";
    bad[5][0].n_dims = 0;
    bad[6][0].n_dims = 3;
    bad[7][0].data = NULL;
    bad[8][0].dims[0] = UINT64_MAX / 2;
    bad[9][0].type = (enum tensor_type)99;
    bad[10][0].n_dims = 2;
    bad[10][0].dims[0] = bad[10][0].dims[1] = UINT64_C(1) << 32;
    bad[11][0].stride = 64; /* a stride of what is no matrix */
    bad[12][0].n_dims = 2;
    bad[12][0].dims[0] = 2;
    bad[12][0].dims[1] = 3;
    bad[12][0].stride = 11; /* rows that overlap */
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        check_refused(*state, bad[i], i == 0 ? 2 : 1);

    struct tensor together[] = {good, good, good}; /* each possible, not all of them */
    for (int i = 0; i < 3; i++) together[i].dims[0] = PTRDIFF_MAX / 4;
    together[1].name = "y";
    together[2].name = "z";
    check_refused(*state, together, 3);
}

static void test_bad_metadata_is_refused(void **state) {
    static const char *const bad[][4] = {
        {"a", NULL, "b", "c"}, {"a", "1", "a", "2"}, {"a", "\xff", "b", "c"}};
    char path[TEMP_PATH_MAX];
    temp_dir_file(*state, "bad", path);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(safetensors_write(path, OUTPUT_PUBLIC, tensors, 1, bad[i], 2, NULL),
                         DPMF_ERR_BASE_BUG);
    assert_int_equal(temp_dir_count(*state), 0);
}

static void test_bad_path(void **state) {
    struct temp_dir *dir = *state;
    struct dpmf_error error;
    assert_int_equal(safetensors_write(dir->path, OUTPUT_PUBLIC, tensors, 1, NULL, 0, &error),
                     DPMF_ERR_IO_DIRECTORY);
    assert_string_equal(error.file, dir->path);
}

/* Pieces in any order make the file that is written at once, but for the room of the header. */
static void test_draft(void **state) {
    const struct temp_dir *dir = *state;
    static const char *const longest[] = {"dpmf.kind", "release, and then some"};
    static const char *const outgrown[] = {"dpmf.kind",
                                           "much more than there was to be said at the beginning"};
    char path[TEMP_PATH_MAX];
    size_t n;
    struct safetensors_draft *draft;
    struct dpmf_error error;
    temp_dir_file(dir, "draft.safetensors", path);
    assert_int_equal(safetensors_draft_open(&draft, path, OUTPUT_PRIVATE, tensors, N_TENSORS,
                                            longest, 1, &error),
                     0);
    assert_int_equal(safetensors_draft_put(draft, 3, 0, offsets, sizeof offsets, &error), 0);
    assert_int_equal(safetensors_draft_put(draft, 1, 8, factors + 2, 16, &error), 0);
    assert_int_equal(safetensors_draft_put(draft, 0, 0, ids, 5, &error), 0);
    assert_int_equal(safetensors_draft_put(draft, 1, 0, factors, 8, &error), 0);
    assert_int_equal(safetensors_draft_put(draft, 2, 0, biases, sizeof biases, &error), 0);
    assert_int_equal(safetensors_draft_put(draft, 2, 8, biases, sizeof biases, &error),
                     DPMF_ERR_BASE_BUG); /* past its end */
    assert_int_equal(safetensors_draft_put(draft, N_TENSORS, 0, ids, 1, &error), DPMF_ERR_BASE_BUG);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(safetensors_draft_commit(draft, metadata, 1, &error), 0);
    char *bytes = temp_dir_read(path, &n);
    const char *data = bytes + 8 + bytes_get_u64((const uint8_t *)bytes);
    assert_memory_equal(data, ids, 5);
    assert_memory_equal(data + 5, factors, sizeof factors);
    assert_memory_equal(data + 5 + sizeof factors, biases, sizeof biases);
    assert_memory_equal(data + 5 + sizeof factors + sizeof biases, offsets, sizeof offsets);
    assert_int_equal(bytes + n - data, 5 + sizeof factors + sizeof biases + sizeof offsets);
    free(bytes);

    unlink(path);
    assert_int_equal(
        safetensors_draft_open(&draft, path, OUTPUT_PRIVATE, tensors, N_TENSORS, longest, 1, NULL),
        0);
    assert_int_equal(safetensors_draft_commit(draft, outgrown, 1, &error), DPMF_ERR_BASE_BUG);
    assert_int_equal(access(path, F_OK), -1);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_write),
        TEST(test_empty),
        TEST(test_descriptors),
        TEST(test_bad_tensors_are_refused),
        TEST(test_bad_metadata_is_refused),
        TEST(test_bad_path),
        TEST(test_draft),
    };
    return cmocka_run_group_tests_name("safetensors", tests, NULL, NULL);
}
