/*
 * Releases come back as they were written, hold nothing else, and no flipped bit, damaged or
 * made-up file gets past both the reader and the verification. Also keeps the releases that the
 * golden tests use (tests/cli/fixtures) the same as what is written today.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "checkpoint_make.h"
#include "made_release.h"
#include "model/release_parts.h"
#include "statement/events_rule.h"
#include "statement/posterior_rule.h"
#include "statement/statement_words.h"
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

/* ---- whole files ----------------------------------------------------------------------------- */

static void check_same(const struct release *a, const struct release *b) {
    const struct factors *x = &a->factors, *y = &b->factors;
    assert_true(x->k == y->k && x->offset == y->offset && x->min == y->min && x->max == y->max);
    assert_true(a->factor_penalty == b->factor_penalty && a->bias_penalty == b->bias_penalty);
    assert_string_equal(a->statement, b->statement);
    assert_true(y->users.n == 0 && y->user_ids.n == 0 && x->items.n == y->items.n);
    for (uint64_t i = 0; i < x->items.n; i++) {
        const float *row = y->items.rows + i * y->items.stride;
        assert_memory_equal(x->items.rows + i * x->items.stride, row, x->k * sizeof(float));
        for (size_t j = x->k; j < y->items.stride; j++) assert_true(row[j] == 0);
        const char *id = x->item_ids.bytes + x->item_ids.start[i];
        size_t length = (size_t)(x->item_ids.start[i + 1] - x->item_ids.start[i]);
        assert_int_equal(factor_ids_find(&y->item_ids, id, length), i);
    }
    if (x->items.n > 0)
        assert_memory_equal(x->items.biases, y->items.biases, x->items.n * sizeof(float));
}

static void test_round_trip(void **state) {
    static const struct {
        uint64_t n;
        uint32_t k;
    } shapes[] = {{0, 0}, {0, 3}, {1, 0}, {1, 1}, {7, 0}, {7, 5}, {300, 64}, {70000, 9}};
    char path[TEMP_PATH_MAX];
    temp_dir_file(*state, "r.safetensors", path);
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct release release = {.factor_penalty = 0.1, .bias_penalty = 1e-9}, read;
        uint64_t random = i;
        release.statement = strdup("{\"any\":\"text\"}");
        release.factors = (struct factors){.k = shapes[i].k, .offset = 0.1, .min = -10, .max = 10};
        make_matrix(&release.factors.items, shapes[i].n, shapes[i].k, &random);
        make_ids(&release.factors.item_ids, shapes[i].n, 'i');
        if (shapes[i].n > 0) release.factors.items.biases[0] = -20000; /* a thousand spans */
        if (shapes[i].n * shapes[i].k > 0) release.factors.items.rows[0] = 2e7f; /* a million */
        assert_int_equal(release_write(path, &release, OUTPUT_PUBLIC, NULL), 0);
        assert_int_equal(release_read(path, release_make_stride, 1, &read, NULL), 0);
        check_same(&release, &read);
        release_free(&read);
        release_free(&release);
    }
}

static void test_mode(void **state) {
    char path[TEMP_PATH_MAX];
    struct stat status;
    struct statement statement = statement_make(1, 4, 2, 6);
    temp_dir_file(*state, "r.safetensors", path);
    mode_t mask = umask(022);
    release_make_file(path, 2, &statement);
    umask(mask);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0644);
}

static void test_not_written(void **state) {
    char path[TEMP_PATH_MAX];
    temp_dir_file(*state, "r.safetensors", path);
    for (int how = 0; how < 14; how++) {
        struct release release;
        struct dpmf_error error = {0};
        struct statement statement = statement_make(1, 4, 2, 6);
        release_make(&release, 2, statement_to_json(&statement));
        struct factors *factors = &release.factors;
        if (how == 0) factors->users.n = 1;
        if (how == 1) factors->user_ids.n = 1;
        if (how == 2) factors->item_ids.n = 3;
        if (how == 3) factors->offset = NAN;
        if (how == 4) factors->min = 5;
        if (how == 5) factors->items.rows[1] = INFINITY;
        if (how == 6) factors->items.biases[3] = NAN;
        if (how == 7) release.factor_penalty = 0;
        if (how == 8) release.bias_penalty = -1;
        if (how == 10) factors->offset = factors->max + 1001 * (factors->max - factors->min);
        if (how == 11) factors->items.biases[0] = 1e30f;
        if (how == 12) factors->items.rows[0] = -1e8f;
        if (how == 13) release.bias_penalty = 1e-12;
        if (how == 9) {
            free(release.statement);
            release.statement = NULL;
        }
        assert_int_equal(release_write(path, &release, OUTPUT_PUBLIC, &error), DPMF_ERR_BASE_BUG);
        assert_true(access(path, F_OK) != 0);
        factors->users.n = factors->user_ids.n = 0;
        release_free(&release);
    }
}

/* ---- damaged files --------------------------------------------------------------------------- */

/* The bytes as a file that is on no disk. */
static int open_bytes(const char *bytes, size_t n, char path[64]) {
    int fd = memfd_create("release", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), n);
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}

static int try_read(const char *bytes, size_t n) {
    char path[64];
    struct release release;
    struct dpmf_error error = {0};
    int fd = open_bytes(bytes, n, path);
    int code = release_read(path, release_make_stride, 1, &release, &error);
    close(fd);
    assert_int_equal(error.code, code);
    if (code < 0) {
        assert_true(code == DPMF_ERR_MODEL_CORRUPT || code == DPMF_ERR_MODEL_NOT_A_MODEL ||
                    code == DPMF_ERR_MODEL_KIND);
        assert_true(error.hint[0] && error.file[0]);
    } else {
        release_free(&release);
    }
    return code;
}

static int try_verify(const char *bytes, size_t n, struct dpmf_error *error) {
    char path[64];
    struct dpmf_verification found;
    *error = (struct dpmf_error){0};
    int fd = open_bytes(bytes, n, path);
    int code = dpmf_release_verify(path, 0, &found, error);
    close(fd);
    assert_int_equal(error->code, code);
    assert_true(code == 0 || (error->hint[0] && strcmp(error->file, path) == 0));
    return code;
}

static char *small_release(const struct temp_dir *dir, uint32_t k, size_t *n) {
    char path[TEMP_PATH_MAX];
    struct statement statement = statement_make(1, 4, k, 6);
    temp_dir_file(dir, "r.safetensors", path);
    release_make_file(path, k, &statement);
    return temp_dir_read(path, n);
}

/* No bit of the file can change, and no byte become another, without the reader noticing. */
static void test_any_bit_flipped(void **state) {
    for (uint32_t k = 0; k <= 2; k += 2) {
        size_t n;
        char *bytes = small_release(*state, k, &n);
        assert_int_equal(try_read(bytes, n), 0);
        for (size_t bit = 0; bit < 8 * n; bit++) {
            bytes[bit / 8] ^= (char)(1 << bit % 8);
            if (try_read(bytes, n) == 0) fail_msg("bit %zu of byte %zu", bit % 8, bit / 8);
            bytes[bit / 8] ^= (char)(1 << bit % 8);
        }
        for (size_t i = 0; i < n; i++) {
            bytes[i] = (char)~bytes[i];
            assert_true(try_read(bytes, n) < 0);
            bytes[i] = (char)~bytes[i];
        }
        free(bytes);
    }
}

static void test_cut_anywhere(void **state) {
    size_t n;
    struct dpmf_error error;
    char *bytes = small_release(*state, 2, &n);
    for (size_t length = 0; length < n; length++) assert_true(try_read(bytes, length) < 0);
    assert_true(try_read(bytes, n + 1) < 0);
    assert_int_equal(try_verify(bytes, n, &error), 0);
    assert_int_equal(try_verify(bytes, n - 1, &error), DPMF_ERR_PRIVACY_NOT_VERIFIED);
    free(bytes);
}

/* ---- made-up files --------------------------------------------------------------------------- */

enum { N_TENSORS = 4, N_METADATA = 10 };

/* What release_write would be given, to be changed and written as it is; the digest is not
 * mended. */
struct parts {
    struct tensor tensors[N_TENSORS + 1];
    const char *metadata[2 * (N_METADATA + 1)];
    size_t n_tensors, n_metadata;
};

static const uint64_t some_starts[] = {0, 1, 2};
static const float some_floats[] = {1, 2, 3, 4};

static struct parts some_parts(void) {
    return (struct parts){
        .n_tensors = N_TENSORS,
        .n_metadata = N_METADATA,
        .tensors = {{"item_id_offsets", TENSOR_I64, 1, {3}, some_starts, 0},
                    {"item_factors", TENSOR_F32, 2, {2, 2}, some_floats, 0},
                    {"item_biases", TENSOR_F32, 1, {2}, some_floats, 0},
                    {"item_id_bytes", TENSOR_U8, 1, {2}, "ab", 0}},
        .metadata = {
            "dpmf.kind",           "release", "dpmf.format",       "1", "dpmf.version",   "0.1.0",
            "dpmf.offset",         "3",       "dpmf.min",          "1", "dpmf.max",       "5",
            "dpmf.factor_penalty", "1",       "dpmf.bias_penalty", "1", "dpmf.statement", "{}",
            "dpmf.digest",         "0"}};
}

static int read_parts(const struct temp_dir *dir, const struct parts *parts,
                      struct dpmf_error *error) {
    char path[TEMP_PATH_MAX];
    struct release release;
    temp_dir_file(dir, "r.safetensors", path);
    assert_int_equal(safetensors_write(path, OUTPUT_PUBLIC, parts->tensors, parts->n_tensors,
                                       parts->metadata, parts->n_metadata, NULL),
                     0);
    int code = release_read(path, release_make_stride, 1, &release, error);
    assert_true(code < 0);
    return code;
}

static void expect_corrupt(const struct temp_dir *dir, const struct parts *parts,
                           const char *phrase) {
    struct dpmf_error error = {0};
    assert_int_equal(read_parts(dir, parts, &error), DPMF_ERR_MODEL_CORRUPT);
    if (!strstr(error.message, phrase)) fail_msg("\"%s\" says not: %s", error.message, phrase);
}

static void test_more_than_a_release(void **state) {
    struct parts parts = some_parts();
    expect_corrupt(*state, &parts, "digest"); /* all else is right */
    parts.tensors[4] = (struct tensor){"user_factors", TENSOR_F32, 2, {1, 2}, some_floats, 0};
    parts.n_tensors = 5;
    expect_corrupt(*state, &parts, "not part of a release: tensor \"user_factors\"");
    parts = some_parts();
    parts.metadata[20] = "note";
    parts.metadata[21] = "ann rated dune";
    parts.n_metadata = 11;
    expect_corrupt(*state, &parts, "not part of a release: metadata \"note\"");
}

static void test_less_than_a_release(void **state) {
    for (size_t i = 0; i < N_TENSORS; i++) {
        struct parts parts = some_parts();
        const char *name = parts.tensors[i].name;
        parts.tensors[i] = parts.tensors[--parts.n_tensors];
        expect_corrupt(*state, &parts, name);
    }
    for (size_t i = 2; i < N_METADATA; i++) {
        struct parts parts = some_parts();
        const char *key = parts.metadata[2 * i];
        parts.n_metadata--;
        parts.metadata[2 * i] = parts.metadata[2 * parts.n_metadata];
        parts.metadata[2 * i + 1] = parts.metadata[2 * parts.n_metadata + 1];
        expect_corrupt(*state, &parts, key);
    }
    for (size_t i = 0; i < 2; i++) {
        struct parts parts = some_parts();
        parts.metadata[2 * i + 1] = "checkpoint";
        assert_int_equal(read_parts(*state, &parts, NULL), DPMF_ERR_MODEL_KIND);
    }
}

static void test_wrong_metadata(void **state) {
    static const struct {
        int at;
        const char *value, *phrase;
    } cases[] = {
        {2, "a version that is a message", "not a version"},
        {2, "", "not a version"},
        {3, "nan", "not a number"},
        {3, "3.0", "not written"},
        {3, " 3", "not a number"},
        {4, "5", "not a scale"},
        {5, "1e999", "not a number"},
        {6, "0", "factor_penalty"},
        {6, "-1", "factor_penalty"},
        {7, "0", "bias_penalty"},
        {7, "inf", "not a number"},
        {3, "4006", "dpmf.offset is too far off the scale"},
        {3, "-4000", "dpmf.offset is too far off the scale"},
        {4, "-1e300", "not a scale"},
        {6, "1e-300", "dpmf.factor_penalty is not a penalty that makes sense"},
        {6, "1e300", "dpmf.factor_penalty is not a penalty that makes sense"},
        {7, "1e-10", "dpmf.bias_penalty is not a penalty that makes sense"},
        {7, "2000000000", "dpmf.bias_penalty is not a penalty that makes sense"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct parts parts = some_parts();
        parts.metadata[2 * cases[i].at + 1] = cases[i].value;
        expect_corrupt(*state, &parts, cases[i].phrase);
    }
}

/* ---- the same said in another way ------------------------------------------------------------ */

/* The release with the first `from` of its header become `to`, filled up with spaces to a multiple
 * of `unit`. The digest does not see how the header is spelt, so it still fits. */
static void expect_spelling_refused(const char *bytes, size_t n, const char *from, const char *to,
                                    size_t unit) {
    size_t header = (size_t)bytes_get_u64((const uint8_t *)bytes), n_to = strlen(to);
    struct dpmf_error error;
    while (bytes[8 + header - 1] == ' ') header--;
    const char *at = memmem(bytes + 8, header, from, strlen(from));
    assert_non_null(at);
    const char *data = bytes + 8 + bytes_get_u64((const uint8_t *)bytes);
    const size_t before = (size_t)(at - bytes), n_data = n - (size_t)(data - bytes);
    const size_t length = header - strlen(from) + n_to, room = (length + unit - 1) / unit * unit;
    char *changed = malloc(8 + room + n_data);
    assert_non_null(changed);
    memset(changed, ' ', 8 + room);
    bytes_put_u64((uint8_t *)changed, room);
    memcpy(changed + 8, bytes + 8, before - 8);
    memcpy(changed + before, to, n_to);
    memcpy(changed + before + n_to, at + strlen(from), 8 + header - before - strlen(from));
    memcpy(changed + 8 + room, data, n_data);
    assert_int_equal(try_read(changed, 8 + room + n_data), DPMF_ERR_MODEL_CORRUPT);
    assert_int_equal(try_verify(changed, 8 + room + n_data, &error), DPMF_ERR_PRIVACY_NOT_VERIFIED);
    if (!strstr(error.message, "spelled or ordered"))
        fail_msg("%s for %s: %s", to, from, error.message);
    free(changed);
}

static void test_other_spelling(void **state) {
    static const char *const cases[][2] = {
        {":", ": "},
        {"{", "{\t \t\t "},
        {",", "\n,"},
        {"]}}", "]}\r}"},
        {"release\"", "\\u0072elease\""},
        {"\"dpmf.kind", "\"dpmf\\u002ekind"},
        {"\\\"", "\\u0022"},
        {"__metadata__", "\\u005f_metadata__"},
        {"dtype", "dt\\u0079pe"},
        {"\"dtype\":\"I64\",\"shape\":[5]", "\"shape\":[5],\"dtype\":\"I64\""},
        {"\"dpmf.kind\":\"release\",\"dpmf.format\":\"1\"",
         "\"dpmf.format\":\"1\",\"dpmf.kind\":\"release\""},
    };
    size_t n;
    char *bytes = small_release(*state, 2, &n);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        expect_spelling_refused(bytes, n, cases[i][0], cases[i][1], 8);
    expect_spelling_refused(bytes, n, ":", ":", 4096); /* more spaces at the end than are needed */
    expect_spelling_refused(bytes, n, "]}}", "]}}\t", 8);
    free(bytes);
}

/* The tensors in another order, in the header and in the data, and all of it sound. */
static void test_other_order(void **state) {
    char path[TEMP_PATH_MAX], digest[RELEASE_DIGEST_TEXT];
    struct release release;
    struct dpmf_error error = {0};
    struct statement statement = statement_make(1, 4, 2, 6);
    const char *values[RELEASE_METADATA], *metadata[2 * RELEASE_METADATA];
    struct tensor tensors[RELEASE_TENSORS];
    struct parts parts = some_parts();
    release_make(&release, 2, statement_to_json(&statement));
    for (size_t i = 0, p = 0; i < RELEASE_METADATA; i++)
        values[i] = i == RELEASE_TASTE_WEIGHT ? NULL : parts.metadata[2 * p++ + 1];
    values[RELEASE_METADATA - 1] = digest;
    assert_int_equal(release_digest_make(&release, values, digest, NULL), 0);
    const size_t n_tensors = release_tensors_list(&release, tensors);
    const size_t n_metadata = release_metadata_list(values, metadata);
    temp_dir_file(*state, "r.safetensors", path);
    for (int turned = 0; turned < 2; turned++) {
        struct release read;
        assert_int_equal(
            safetensors_write(path, OUTPUT_PUBLIC, tensors, n_tensors, metadata, n_metadata, NULL),
            0);
        int code = release_read(path, release_make_stride, 1, &read, &error);
        assert_int_equal(code, turned ? DPMF_ERR_MODEL_CORRUPT : 0);
        if (code == 0) release_free(&read);
        struct tensor first = tensors[0];
        tensors[0] = tensors[2];
        tensors[2] = first;
    }
    assert_non_null(strstr(error.message, "spelled or ordered"));
    release_free(&release);
}

static void test_hostile_sizes(void **state) {
    struct parts parts = some_parts();
    /* No columns cost no bytes: a file could claim any number of such rows. */
    parts.tensors[1] = (struct tensor){"item_factors", TENSOR_F32, 2, {UINT64_C(1) << 60, 0}, 0, 0};
    expect_corrupt(*state, &parts, "counted");
    parts.tensors[1].dims[0] = 4000000000;
    expect_corrupt(*state, &parts, "item_id_offsets is not as long");
    parts.tensors[1] = (struct tensor){"item_factors", TENSOR_F32, 2, {0, 4294967297}, 0, 0};
    expect_corrupt(*state, &parts, "more columns");
    parts.tensors[1] = (struct tensor){"item_factors", TENSOR_F32, 1, {4}, some_floats, 0};
    expect_corrupt(*state, &parts, "another shape");
    parts.tensors[1] = (struct tensor){"item_factors", TENSOR_F32, 2, {2, 1}, some_floats, 0};
    parts.tensors[2].dims[0] = 3;
    expect_corrupt(*state, &parts, "item_biases is not as long");
    parts = some_parts();
    parts.tensors[3] = (struct tensor){"item_id_bytes", TENSOR_U8, 1, {2}, "aa", 0};
    expect_corrupt(*state, &parts, "twice");
    static const uint64_t bad_starts[][3] = {{0, 0, 2}, {0, 3, 2}, {1, 1, 2}, {0, UINT64_MAX, 2}};
    for (size_t i = 0; i < 4; i++) {
        parts = some_parts();
        parts.tensors[0].data = bad_starts[i];
        expect_corrupt(*state, &parts, "beginnings and ends");
    }
    static const float bad_floats[] = {1, 2, INFINITY, 4};
    parts = some_parts();
    parts.tensors[1].data = bad_floats;
    expect_corrupt(*state, &parts, "not finite");
}

static void test_other_kinds(void **state) {
    char path[TEMP_PATH_MAX];
    struct release release;
    struct dpmf_statement statement;
    struct dpmf_verification found;
    struct dpmf_error error = {0};
    temp_dir_file(*state, "m.safetensors", path);
    assert_int_equal(dpmf_release_verify(path, 0, &found, &error), DPMF_ERR_IO_MISSING);
    make_checkpoint(path, 3, 2, 2, 1);
    assert_int_equal(release_read(path, make_stride, 1, &release, &error), DPMF_ERR_MODEL_KIND);
    assert_int_equal(dpmf_release_verify(path, 0, &found, &error), DPMF_ERR_MODEL_KIND);
    assert_int_equal(dpmf_release_statement(path, &statement, &error), DPMF_ERR_MODEL_KIND);
    assert_int_equal(dpmf_release_statement(path, &statement, NULL), DPMF_ERR_MODEL_KIND);
}

/* ---- verification ---------------------------------------------------------------------------- */

/* Files whose digest fits, so that only the verification can notice. */
static void test_verification(void **state) {
    enum how {
        SOUND,
        INSECURE,
        RESEARCH,
        LEAKING,
        NO_BUILD,
        FIRST_FORMAT, /* 0.1.0 names no build */
        CLAIM,
        DRAWS,
        ITEMS,
        RANGE,
        FACTORS,
        NOT_JSON,
        N
    };
    static const int expected[N] = {
        [INSECURE] = 1, [RESEARCH] = 1, [LEAKING] = 1, [CLAIM] = 1,    [DRAWS] = 1,
        [ITEMS] = 1,    [RANGE] = 1,    [FACTORS] = 1, [NO_BUILD] = 1, [NOT_JSON] = 1};
    char path[TEMP_PATH_MAX];
    temp_dir_file(*state, "r.safetensors", path);
    for (enum how how = 0; how < N; how++) {
        struct statement statement = statement_make(1, how == ITEMS ? 5 : 4, 2, 6);
        struct dpmf_error error = {0};
        struct dpmf_verification found;
        struct dpmf_statement shown;
        if (how == INSECURE) statement.is_insecure = true;
        if (how == RESEARCH) statement.is_research = true;
        if (how == LEAKING) statement.catalogue_from_ratings = true;
        if (how == NO_BUILD || how == FIRST_FORMAT) statement.build.commit[0] = '\0';
        if (how == FIRST_FORMAT) statement.format = STATEMENT_FORMAT_FIRST;
        if (how == CLAIM) statement.epsilon = 0.5;
        if (how == DRAWS) statement.releases[1].draws--;
        if (how == RANGE) statement.range_max = 10;
        struct release release;
        release_make(&release, how == FACTORS ? 0 : 2,
                     how == NOT_JSON ? strdup("{}") : statement_to_json(&statement));
        assert_int_equal(release_write(path, &release, OUTPUT_PUBLIC, NULL), 0);
        release_free(&release);
        int code = dpmf_release_verify(path, 0, &found, &error);
        if (code != (expected[how] ? DPMF_ERR_PRIVACY_NOT_VERIFIED : 0))
            fail_msg("case %d: %d %s", (int)how, code, error.message);
        assert_int_equal(error.code, code);
        assert_int_equal(found.assumptions, how == LEAKING ? DPMF_ASSUMES_CATALOGUE : 0);
        assert_int_equal(found.claim, how == LEAKING  ? DPMF_CLAIM_PARTIAL
                                      : expected[how] ? DPMF_CLAIM_NOT_PRIVATE
                                                      : DPMF_CLAIM_PROVEN);
        if (how == LEAKING) /* those who accept it have to say so, and nothing else does */
            for (unsigned bit = 1; bit <= DPMF_ASSUMES_LAST; bit <<= 1)
                assert_int_equal(dpmf_release_verify(path, bit, &found, NULL),
                                 bit == DPMF_ASSUMES_CATALOGUE ? 0 : DPMF_ERR_PRIVACY_NOT_VERIFIED);
        code = dpmf_release_statement(path, &shown, &error);
        assert_int_equal(code == 0, how <= FIRST_FORMAT);
        if (code == 0) {
            assert_int_equal(shown.is_insecure, how == INSECURE);
            assert_int_equal(shown.is_research, how == RESEARCH);
            assert_true(strstr(shown.text, "epsilon = 1 ") != NULL);
        }
        dpmf_statement_free(&shown);
    }
}

/* Verifies a release with these numbers beside its items. @return the error's message, or "" */
static const char *verify_numbers(const char *path, const struct statement *statement, bool ranks,
                                  double offset, double factor_penalty, double bias_penalty,
                                  double taste_weight) {
    static struct dpmf_error error;
    struct dpmf_verification found;
    struct release release;
    error = (struct dpmf_error){0};
    release_make(&release, ranks ? 0 : 2, statement_to_json(statement));
    release.ranks = ranks;
    release.taste_weight = taste_weight;
    release.factors.offset = offset;
    release.factors.min = ranks ? 0 : 1;
    release.factors.max = ranks ? 1 : 5;
    for (size_t i = 0; ranks && i < 4; i++) release.factors.items.biases[i] = 0;
    release.factor_penalty = factor_penalty;
    release.bias_penalty = bias_penalty;
    static float counts[] = {1, 2, 3, 4};
    if (ranks) release.factors.item_ids.counts = counts;
    assert_int_equal(release_write(path, &release, OUTPUT_PUBLIC, NULL), 0);
    release.factors.item_ids.counts = NULL;
    release_free(&release);
    dpmf_release_verify(path, 0, &found, &error);
    return error.message;
}

/* A draw and a release of events have no numbers of their own beside the items: others than the
 * rule's could say anything. */
static void test_numbers_of_the_rule(void **state) {
    static const char said[] = "not the constant of its rule", weight[] = "its weight of taste",
                      kind[] = "another kind of release";
    char path[TEMP_PATH_MAX];
    temp_dir_file(*state, "r.safetensors", path);
    struct statement drawn = statement_make(2, 4, 2, 6);
    drawn.mechanism = "posterior";
    drawn.delta = 0;
    drawn.n_releases = 0;
    drawn.posterior = (struct statement_posterior){
        .max_ratings = 100, .factors = 2, .rounds = 10, .kappa = 1, .rho = 1};
    const double v = posterior_fold_in_variance, b = v * posterior_precision_b;
    assert_null(strstr(verify_numbers(path, &drawn, false, 3, v, b, 0), "does not hold"));
    assert_null(strstr(verify_numbers(path, &drawn, false, 3, v, b, 0), said));
    assert_non_null(strstr(verify_numbers(path, &drawn, false, 3.5, v, b, 0), said));
    assert_non_null(strstr(verify_numbers(path, &drawn, false, 3, 1.5 * v, b, 0), said));
    assert_non_null(strstr(verify_numbers(path, &drawn, false, 3, v, 1.5 * b, 0), said));

    struct statement events = statement_make(2, 4, 0, 0);
    const double mu = accountant_mu(2, 1e-5) * MECHANISM_MU_SPENT;
    const struct events_rule rule = events_rule_make(mu);
    const double usual = events_weights[EVENTS_DEFAULT_WEIGHT];
    events.mechanism = "events";
    events.range_min = 0, events.range_max = 1;
    events.n_releases = 0;
    statement_make_release(&events, "popularity", 4, sqrt(rule.first_share) * mu);
    statement_make_release(&events, "popularity", 4, sqrt(1 - rule.first_share) * mu);
    assert_string_equal(verify_numbers(path, &events, true, 0, 1, 1, usual), "");
    assert_non_null(strstr(verify_numbers(path, &events, true, 0, 1, 1, 1.25 * usual), weight));
    assert_non_null(strstr(verify_numbers(path, &events, false, 3, 1, 1, 0), kind));
    assert_non_null(strstr(verify_numbers(path, &drawn, true, 0, 1, 1, usual), kind));
}

/* ---- use ------------------------------------------------------------------------------------- */

/* Against the normal equations, solved by hand: u and a minimise what model/release.h says. */
static void test_fold_in(void **state) {
    for (uint32_t k = 0; k <= 2; k += 2) {
        char path[TEMP_PATH_MAX];
        struct statement statement = statement_make(1, 4, k, 6);
        struct dpmf_model *model;
        struct dpmf_model_info info;
        struct dpmf_error error = {0};
        temp_dir_file(*state, "r.safetensors", path);
        release_make_file(path, k, &statement);
        assert_int_equal(dpmf_model_open(path, &model, &error), 0);
        dpmf_model_info(model, &info);
        assert_string_equal(info.kind, "release");
        assert_true(info.users == 0 && info.items == 4 && info.factors == k);
        assert_true(info.statement && info.factor_penalty == 1 && info.bias_penalty == 0.5);
        assert_int_equal(dpmf_model_find_user(model, "ann", 3), UINT64_MAX);
        assert_true(dpmf_model_predict(model, UINT64_MAX, 2) == 3.5);
        for (size_t n = 1; n <= 3; n++) { /* fewer and no fewer ratings than columns */
            static const struct dpmf_own_rating own[] = {{0, 5}, {3, 2}, {2, 4}};
            struct dpmf_user *user;
            struct dpmf_score explained;
            double prediction[4], shares[3], slope = 0;
            assert_int_equal(dpmf_user_fold_in(model, own, n, &user, &error), 0);
            for (uint64_t i = 0; i < 4; i++) {
                prediction[i] = dpmf_user_predict(model, user, i);
                assert_int_equal(
                    dpmf_model_explain(model, own, n, NULL, i, &explained, shares, &error), 0);
                assert_true(fabs(explained.rating - prediction[i]) < 1e-6);
            }
            double a = dpmf_user_predict(model, user, UINT64_MAX) - 3;
            for (size_t j = 0; j < n; j++) slope += (double)own[j].rating - prediction[own[j].item];
            assert_true(fabs(slope - 0.5 * a) < 1e-6); /* the derivative by a is 0 */
            if (k > 0) {                               /* and by the first column of u */
                double u0 = prediction[0] - 3 - 0.25 - a, slope0 = 0;
                slope0 += (double)own[0].rating - prediction[0];
                if (n > 1) slope0 -= (double)own[1].rating - prediction[3];
                assert_true(fabs(slope0 - u0) < 1e-6);
            } else {
                assert_true(fabs(prediction[0] - a - 3.25) < 1e-6);
            }
            dpmf_user_free(user);
        }
        struct dpmf_scored_item items[4];
        assert_int_equal(dpmf_model_recommend(model, UINT64_MAX, NULL, NULL, NULL, 4, items, NULL),
                         4);
        assert_int_equal(items[0].item, 2);
        assert_int_equal(dpmf_model_similar(model, 0, 4, items, NULL), 3);
        assert_int_equal(items[0].item, 1);
        dpmf_model_close(model);
    }
}

/* Many users over several blocks, each with what the four items are to them, and one without
 * history. */
static void write_ratings(const char *path, bool is_history) {
    static const char *const items[] = {"dune", "solaris", "alien", "brazil", "unknown"};
    FILE *file = fopen(path, "w");
    uint64_t random = is_history;
    assert_non_null(file);
    fputs("user,item,rating\n", file);
    for (int user = 0; user < 3000; user++)
        for (int item = user % 2; item < 5; item++)
            if ((make_random(&random) & 1) == (uint32_t)is_history && (user != 7 || !is_history))
                fprintf(file, "u%d,%s,%u\n", user, items[item], 1 + make_random(&random) % 5);
    fclose(file);
}

/* Each user's ratings in the history, as the person at home would use them. */
static double predict_at_home(struct dpmf_newcomers *newcomers, const struct dpmf_model *model,
                              const char *user, const char *item) {
    const struct dpmf_user *folded;
    uint64_t number = dpmf_model_find_item(model, item, strlen(item));
    assert_int_equal(dpmf_newcomers_find(newcomers, user, strlen(user), &folded, NULL), 0);
    double p = folded ? dpmf_user_predict(model, folded, number)
                      : dpmf_model_predict(model, UINT64_MAX, number);
    return p < 1 ? 1 : p > 5 ? 5 : p;
}

static void test_evaluate(void **state) {
    char path[TEMP_PATH_MAX], test_path[TEMP_PATH_MAX], history_path[TEMP_PATH_MAX];
    const struct dpmf_evaluate_options options = {.size = sizeof options, .ranking = 2};
    struct statement statement = statement_make(1, 4, 2, 6);
    struct dpmf_store *test, *history;
    struct dpmf_model *model;
    struct dpmf_newcomers *newcomers;
    struct dpmf_evaluation first;
    temp_dir_file(*state, "r.safetensors", path);
    temp_dir_file(*state, "test.csv", test_path);
    temp_dir_file(*state, "history.csv", history_path);
    release_make_file(path, 2, &statement);
    write_ratings(test_path, false);
    write_ratings(history_path, true);
    assert_int_equal(dpmf_model_open(path, &model, NULL), 0);
    assert_int_equal(dpmf_store_open(test_path, NULL, NULL, &test, NULL), 0);
    assert_int_equal(dpmf_store_open(history_path, NULL, NULL, &history, NULL), 0);
    for (int threads = 1; threads <= 4; threads++) {
        struct dpmf_run run = dpmf_run_default();
        struct dpmf_evaluation e;
        run.threads = threads;
        assert_int_equal(dpmf_model_evaluate(model, test, history, &options, &run, &e, NULL), 0);
        if (threads == 1) first = e;
        assert_memory_equal(&e, &first, sizeof e);
    }
    assert_true(first.unknown_users > 0 && 4 * first.unknown_users < first.n &&
                first.ranked_users > 2000);

    double squares = 0;
    uint64_t n = 0;
    char user[16], item[16], line[64];
    unsigned rating;
    FILE *file = fopen(test_path, "r");
    assert_non_null(file);
    assert_int_equal(dpmf_newcomers_open(model, history, NULL, &newcomers, NULL), 0);
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "%15[^,],%15[^,],%u", user, item, &rating) == 3) {
            squares += pow(rating - predict_at_home(newcomers, model, user, item), 2);
            n++;
        }
    fclose(file);
    assert_int_equal(n, first.n);
    assert_true(fabs(sqrt(squares / (double)n) - first.rmse) < 1e-6);
    dpmf_newcomers_close(newcomers);
    dpmf_store_close(test);
    dpmf_store_close(history);
    dpmf_model_close(model);
}

/* ---- rounds by the rule ---------------------------------------------------------------------- */

/* Names, places and sigma follow from the mechanism and from what is claimed. A statement with
 * other ones adds up as well, and is not verified. */
static void test_rounds_of_the_rule(void **state) {
    enum how { SOUND, NAMED_VOTE, SWAPPED, MORE_NOISE, ANOTHER_SIGMA, ONE_LESS, OTHER_GRID, N };
    char path[TEMP_PATH_MAX];
    temp_dir_file(*state, "r.safetensors", path);
    for (enum how how = 0; how < N; how++) {
        struct statement statement = statement_make(1, 4, 2, 6);
        struct statement_release *round = statement.releases;
        struct dpmf_verification found;
        struct dpmf_error error = {0};
        if (how == NAMED_VOTE) snprintf(round[1].name, sizeof round[1].name, "vote");
        if (how == SWAPPED) {
            struct statement_release first = round[1];
            round[1] = round[2];
            round[2] = first;
        }
        if (how == MORE_NOISE) round[6].sigma *= 2;
        if (how == ANOTHER_SIGMA) round[3].sigma++;
        if (how == ONE_LESS) statement.n_releases--;
        if (how == OTHER_GRID) round[2].bits--, round[2].sigma = (round[2].sigma + 1) / 2;
        release_make_file(path, 2, &statement);
        int code = dpmf_release_verify(path, 0, &found, &error);
        if (code != (how == SOUND ? 0 : DPMF_ERR_PRIVACY_NOT_VERIFIED))
            fail_msg("case %d: %d %s", (int)how, code, error.message);
        if (how != SOUND) assert_non_null(strstr(error.message, "noisy round"));
    }
}

/* Whether the byte stands in a field that may be anything: ids, and the build. */
static bool is_free(const char *json, size_t at) {
    static const char *const fields[] = {"\"release_id\":\"", "\"commit\":\"", "\"sources\":\"",
                                         "\"compiler\":\""};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        const char *from = strstr(json, fields[i]);
        if (!from) continue;
        from += strlen(fields[i]);
        if (json + at >= from && json + at < strchr(from, '"')) return true;
    }
    return false;
}

/* Every digit of a statement follows from the others, from the file or from the rule: no release is
 * verified with another one in its place. */
static void test_no_digit_is_free(void **state) {
    char path[TEMP_PATH_MAX];
    temp_dir_file(*state, "r.safetensors", path);
    for (uint32_t k = 0; k <= 2; k += 2) {
        struct statement statement = statement_make(1, 4, k, 6);
        char *json = statement_to_json(&statement);
        size_t tried = 0;
        assert_non_null(json);
        for (size_t i = 0; json[i]; i++) {
            const char digit = json[i];
            if (digit < '0' || digit > '9' || is_free(json, i)) continue;
            struct release release;
            struct dpmf_verification found;
            /* The next one, or the one before */
            json[i] = (char)('0' + (digit - '0' + (tried % 2 ? 9 : 1)) % 10);
            release_make(&release, k, strdup(json));
            assert_int_equal(release_write(path, &release, OUTPUT_PUBLIC, NULL), 0);
            release_free(&release);
            if (dpmf_release_verify(path, 0, &found, NULL) == 0)
                fail_msg("%c in the place of %c: %.60s", json[i], digit, json + i);
            tried++;
            json[i] = digit;
        }
        assert_true(tried > 100);
        free(json);
    }
}

/* ---- the golden tests' releases -------------------------------------------------------------- */

/* Each is what release_write makes of its statement today, as long as the version is the same; and
 * is read by every later version. DPMF_WRITE_EXAMPLES=1 writes them anew. */
static void keep_fixture(const struct temp_dir *dir, const char *name, uint32_t k,
                         const struct statement *statement) {
    char path[TEMP_PATH_MAX], kept_path[TEMP_PATH_MAX];
    size_t n, n_kept;
    temp_dir_file(dir, "r.safetensors", path);
    snprintf(kept_path, sizeof kept_path, "tests/cli/fixtures/%s", name);
    release_make_file(path, k, statement);
    char *bytes = temp_dir_read(path, &n);
    if (getenv("DPMF_WRITE_EXAMPLES")) temp_dir_write(kept_path, bytes, n);
    char *kept = temp_dir_read(kept_path, &n_kept);
    assert_int_equal(try_read(kept, n_kept), 0);
    if (strcmp(dpmf_version(), "0.1.0") == 0) {
        assert_int_equal(n, n_kept);
        assert_memory_equal(bytes, kept, n);
    }
    free(bytes);
    free(kept);
}

static void test_fixtures(void **state) {
    struct statement statement = statement_make(1, 4, 2, 6);
    keep_fixture(*state, "release.safetensors", 2, &statement);
    statement.is_insecure = true;
    keep_fixture(*state, "insecure.safetensors", 2, &statement);
    statement.is_insecure = false;
    statement.is_research = true;
    keep_fixture(*state, "research.safetensors", 2, &statement);
    statement.is_research = false;
    statement.epsilon = 0.5;
    keep_fixture(*state, "false_claim.safetensors", 2, &statement);
    statement = statement_make(2, 4, 0, 0);
    statement.catalogue_from_ratings = statement.is_personalised = true;
    statement.declared_users = 1000;
    keep_fixture(*state, "biases.safetensors", 0, &statement);
    /* As 0.1.0 wrote it: it calls itself proven, and is not. */
    statement.format = STATEMENT_FORMAT_FIRST;
    statement.build = (struct statement_build){0};
    keep_fixture(*state, "biases_format_1.safetensors", 0, &statement);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_round_trip),
        TEST(test_mode),
        TEST(test_not_written),
        TEST(test_any_bit_flipped),
        TEST(test_cut_anywhere),
        TEST(test_more_than_a_release),
        TEST(test_less_than_a_release),
        TEST(test_wrong_metadata),
        TEST(test_other_spelling),
        TEST(test_other_order),
        TEST(test_hostile_sizes),
        TEST(test_other_kinds),
        TEST(test_verification),
        TEST(test_numbers_of_the_rule),
        TEST(test_fold_in),
        TEST(test_evaluate),
        TEST(test_rounds_of_the_rule),
        TEST(test_no_digit_is_free),
        TEST(test_fixtures),
    };
    return cmocka_run_group_tests_name("release", tests, NULL, NULL);
}
