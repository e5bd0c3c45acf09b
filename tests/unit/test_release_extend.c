/*
 * Extended releases: the old items stay bit for bit, new ones lie where a plain least-squares fit
 * puts them, the parent comes back byte by byte, and neither a changed parent nor a forged name of
 * it gets past the verification.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "made_release.h"
#include "numerics/feature_regression.h"
#include "statement/release_check.h"
#include "statement/statement_words.h"
#include "temp_dir.h"

static struct temp_dir dir;
static char parent[512], catalogue[512], features[512], extended[512], other[512];

static void write_text(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static struct dpmf_run replacing; /* each test writes the same files again */

static int set_up(void **state) {
    (void)state;
    replacing = dpmf_run_default();
    replacing.replace = true;
    temp_dir_make(&dir);
    snprintf(parent, sizeof parent, "%s/parent.safetensors", dir.path);
    snprintf(catalogue, sizeof catalogue, "%s/new.csv", dir.path);
    snprintf(features, sizeof features, "%s/features.csv", dir.path);
    snprintf(extended, sizeof extended, "%s/extended.safetensors", dir.path);
    snprintf(other, sizeof other, "%s/other.safetensors", dir.path);
    struct statement statement = statement_make(1, 4, 2, 6);
    release_make_file(parent, 2, &statement);
    write_text(catalogue, "item\ngattaca\nalien\nstalker\n");
    write_text(features, "item,kind\ndune,a\nsolaris,a\nalien,a\nbrazil,b\ngattaca,a\n");
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    temp_dir_remove(&dir);
    return 0;
}

static int extend(struct dpmf_extend_report *report, struct dpmf_error *error) {
    return dpmf_release_extend(parent, catalogue, features, extended, &replacing, report, error);
}

static void extend_well(void) {
    struct dpmf_extend_report report;
    struct dpmf_error error = {0};
    assert_int_equal(extend(&report, &error), 0);
}

static int verify(const char *path, struct dpmf_error *error) {
    struct dpmf_verification found;
    *error = (struct dpmf_error){0};
    return dpmf_release_verify(path, 0, &found, error);
}

static size_t read_bytes(const char *path, char *bytes, size_t size) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t n = fread(bytes, 1, size, file);
    assert_true(n < size);
    fclose(file);
    return n;
}

/* ---- what is made ---------------------------------------------------------------------------- */

static void test_extends(void **state) {
    (void)state;
    struct dpmf_extend_report report;
    struct dpmf_error error = {0};
    struct release before, after;
    assert_int_equal(extend(&report, &error), 0);
    assert_int_equal(report.items, 6);
    assert_int_equal(report.new_items, 2);
    assert_int_equal(report.known_items, 1);
    assert_int_equal(report.undescribed, 1);
    assert_string_equal(report.parent, "00112233445566778899aabbccddeeff");
    assert_string_not_equal(report.id, report.parent);
    assert_int_equal(verify(extended, &error), 0);
    assert_int_equal(release_read(parent, release_make_stride, 0, &before, &error), 0);
    assert_int_equal(release_read(extended, release_make_stride, 0, &after, &error), 0);
    assert_int_equal(after.factors.items.n, 6);
    const size_t stride = before.factors.items.stride;
    assert_memory_equal(after.factors.items.rows, before.factors.items.rows,
                        4 * stride * sizeof(float));
    assert_memory_equal(after.factors.items.biases, before.factors.items.biases, 4 * sizeof(float));
    assert_int_equal(factor_ids_find(&after.factors.item_ids, "gattaca", 7), 4);
    assert_int_equal(factor_ids_find(&after.factors.item_ids, "stalker", 7), 5);
    /* "stalker" has no features: the average of the others. */
    assert_true(fabsf(after.factors.items.biases[5] - 0.125f) < 1e-6f);
    /* "gattaca" is of a kind whose first coordinates are 1, 1 and 0, not -1. */
    assert_true(after.factors.items.rows[4 * stride] > 0.25f);
    assert_non_null(strstr(after.statement, "\"format\":3"));
    assert_non_null(strstr(after.statement, "\"parent\":\"00112233445566778899aabbccddeeff\""));
    release_free(&before);
    release_free(&after);
}

static void test_parent_comes_back(void **state) {
    (void)state;
    static char a[65536], b[65536];
    struct dpmf_error error = {0};
    extend_well();
    assert_int_equal(dpmf_release_parent(extended, other, &replacing, &error), 0);
    const size_t n = read_bytes(parent, a, sizeof a);
    assert_int_equal(read_bytes(other, b, sizeof b), n);
    assert_memory_equal(a, b, n);
    assert_int_equal(dpmf_release_parent(other, extended, &replacing, &error),
                     DPMF_ERR_USAGE_CONFLICT);
}

/* ---- forgeries ------------------------------------------------------------------------------- */

static void rewrite(struct release *release) {
    struct dpmf_error error = {0};
    release->version[0] = '\0';
    assert_int_equal(release_write(other, release, OUTPUT_PUBLIC, &error), 0);
    release_free(release);
}

static void read_extended(struct release *release) {
    struct dpmf_error error = {0};
    extend_well();
    assert_int_equal(release_read(extended, release_make_stride, 0, release, &error), 0);
}

/* The digests of the files fit, as whoever forges them would see to. */
static void test_changed_parent(void **state) {
    (void)state;
    struct dpmf_error error;
    struct release release;
    for (int what = 0; what < 4; what++) {
        read_extended(&release);
        if (what == 0) release.factors.items.biases[0] = 0.5f;
        if (what == 1) release.factors.items.rows[3 * release.factors.items.stride] = 1;
        if (what == 2) release.factors.item_ids.bytes[0] = 'D';
        if (what == 3) release.factors.offset = 3.5;
        rewrite(&release);
        assert_int_equal(verify(other, &error), DPMF_ERR_PRIVACY_NOT_VERIFIED);
        assert_non_null(strstr(error.message, "not what the parent held"));
        assert_int_equal(dpmf_release_parent(other, extended, &replacing, &error),
                         DPMF_ERR_PRIVACY_NOT_VERIFIED);
    }
}

/* Replaces the text after `key` by as long a one. */
static void forge(const char *key, const char *text) {
    struct release release;
    read_extended(&release);
    char *at = strstr(release.statement, key);
    assert_non_null(at);
    memcpy(at + strlen(key), text, strlen(text));
    rewrite(&release);
}

static void test_forged_names(void **state) {
    (void)state;
    struct dpmf_error error;
    forge("\"parent\":\"", "10");
    assert_int_equal(verify(other, &error), DPMF_ERR_PRIVACY_NOT_VERIFIED);
    assert_non_null(strstr(error.message, "not what the parent held"));
    forge("\"parent_digest\":\"", "0000000000000000");
    assert_int_equal(verify(other, &error), DPMF_ERR_PRIVACY_NOT_VERIFIED);
    forge("\"parent_digest\":\"", "zz");
    assert_int_equal(verify(other, &error), DPMF_ERR_PRIVACY_NOT_VERIFIED);
    forge("\"release_id\":\"", "00112233445566778899aabbccddeeff");
    assert_int_equal(verify(other, &error), DPMF_ERR_PRIVACY_NOT_VERIFIED);
    assert_non_null(strstr(error.message, "names itself"));
    forge("\"parent_digest\":\"", "");
    assert_int_equal(verify(other, &error), 0);
}

static void test_forged_counts(void **state) {
    (void)state;
    struct dpmf_error error;
    static const struct {
        const char *key, *text;
    } forged[] = {{"\"extension\":{\"parent\":\"00112233445566778899aabbccddeeff\"", "x"},
                  {"{\"format\":", "2"},
                  {"{\"format\":", "4"},
                  {"\"items\":", "5"},
                  {"post-processing, at ", "a "}};
    for (size_t i = 0; i < sizeof forged / sizeof forged[0]; i++) {
        forge(forged[i].key, forged[i].text);
        assert_int_equal(verify(other, &error), DPMF_ERR_PRIVACY_NOT_VERIFIED);
    }
    struct release release;
    read_extended(&release);
    release.factors.items.n = release.factors.item_ids.n = 5; /* one of the new ones is gone */
    rewrite(&release);
    assert_int_equal(verify(other, &error), DPMF_ERR_PRIVACY_NOT_VERIFIED);
    assert_non_null(strstr(error.message, "another number of items"));
}

/* ---- refusals -------------------------------------------------------------------------------- */

static void test_refuses(void **state) {
    (void)state;
    struct dpmf_extend_report report;
    struct dpmf_error error = {0};
    write_text(catalogue, "item\ngattaca\nstalker\ngattaca\n");
    assert_int_equal(extend(&report, &error), DPMF_ERR_PRIVACY_REFUSED);
    assert_int_equal(error.line, 4);
    write_text(catalogue, "item\ndune\nalien\n");
    assert_int_equal(extend(&report, &error), DPMF_ERR_USAGE_CONFLICT);
    write_text(catalogue, "item\nstalker\n");
    assert_int_equal(extend(&report, &error), DPMF_ERR_INPUT_ID);
    write_text(catalogue, "item\ngattaca\n");
    write_text(features, "item,year\ngattaca,1997\ndune,1984\n"); /* too few to say anything */
    assert_int_equal(extend(&report, &error), DPMF_ERR_INPUT_COLUMNS);
    write_text(features, "item,title\ngattaca,G\ndune,D\nalien,A\n");
    assert_true(extend(&report, &error) < 0);
    write_text(features, "item,kind\ngattaca,a\ndune,a\nsolaris,a\nalien,a\nbrazil,b\n");
    extend_well();
    assert_int_equal(
        dpmf_release_extend(extended, catalogue, features, other, NULL, &report, &error),
        DPMF_ERR_USAGE_CONFLICT);
    assert_int_equal(
        dpmf_release_extend(catalogue, catalogue, features, other, NULL, &report, &error),
        DPMF_ERR_MODEL_NOT_A_MODEL);
    assert_int_equal(dpmf_release_extend(NULL, catalogue, features, other, NULL, &report, &error),
                     DPMF_ERR_USAGE_NULL);
}

/* ---- the regression -------------------------------------------------------------------------- */

/* What is linear in the features is found again, whatever the weights are, and what is not does not
 * leave the range that was seen. */
static void test_regression(void **state) {
    (void)state;
    enum { N = 40, KNOWN = 30 };
    double x[2 * N], z[2 * N], weights[KNOWN];
    bool described[N];
    for (int j = 0; j < N; j++) {
        x[2 * j] = sin(j), x[2 * j + 1] = cos(2 * j);
        described[j] = j != 3 && j != KNOWN + 1;
        z[2 * j] = j < KNOWN ? 1 + 2 * x[2 * j] - x[2 * j + 1] : NAN;
        z[2 * j + 1] = j < KNOWN ? (double)(j % 2) : 0;
        if (j < KNOWN) weights[j] = 1 + j % 3;
    }
    z[2 * 3] = 2; /* not described, and so not learned from */
    double low = INFINITY, high = -INFINITY;
    for (int j = 0; j < KNOWN; j++) low = fmin(low, z[2 * j]), high = fmax(high, z[2 * j]);
    const struct feature_regression regression = {.n = N,
                                                  .n_known = KNOWN,
                                                  .n_features = 2,
                                                  .features = x,
                                                  .described = described,
                                                  .weights = weights,
                                                  .n_values = 2,
                                                  .values = z};
    assert_int_equal(feature_regression_run(&regression, NULL), 0);
    for (int j = KNOWN; j < N; j++) {
        const double plain = fmin(1 + 2 * x[2 * j] - x[2 * j + 1], high);
        if (described[j]) assert_true(fabs(z[2 * j] - fmax(plain, low)) < 0.01);
        assert_true(z[2 * j + 1] >= 0 && z[2 * j + 1] <= 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_extends, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_parent_comes_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_changed_parent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_forged_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_forged_counts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refuses, set_up, tear_down),
        cmocka_unit_test(test_regression),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
