/*
 * Errors as the command line shows them: every code has an exit status, and settings are options.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cli/error_show.h"

static void test_exit_statuses(void **state) {
    (void)state;
    assert_int_equal(error_exit_status(DPMF_OK), 0);
    assert_int_equal(error_exit_status(DPMF_ERR_PRIVACY_NOT_VERIFIED), 1);
    assert_int_equal(error_exit_status(DPMF_ERR_PRIVACY_ACCUSED), 1);
    assert_int_equal(error_exit_status(DPMF_ERR_USAGE_VALUE), 2);
    assert_int_equal(error_exit_status(DPMF_ERR_USAGE_MEMORY), 2);
    assert_int_equal(error_exit_status(DPMF_ERR_RATINGS_SHAPE), 2);
    assert_int_equal(error_exit_status(DPMF_ERR_INPUT_QUOTE), 3);
    assert_int_equal(error_exit_status(DPMF_ERR_STORE_CORRUPT), 3);
    assert_int_equal(error_exit_status(DPMF_ERR_RATINGS_NO_TIMES), 3);
    assert_int_equal(error_exit_status(DPMF_ERR_MODEL_KIND), 3);
    assert_int_equal(error_exit_status(DPMF_ERR_TRAIN_MISMATCH), 3);
    assert_int_equal(error_exit_status(DPMF_ERR_PRIVACY_LEDGER), 3);
    assert_int_equal(error_exit_status(DPMF_ERR_IO_NO_SPACE), 4);
    assert_int_equal(error_exit_status(DPMF_ERR_BASE_NO_MEMORY), 4);
    assert_int_equal(error_exit_status(DPMF_ERR_BASE_THREAD), 4);
    assert_int_equal(error_exit_status(DPMF_ERR_CLUSTER_START), 4);
    assert_int_equal(error_exit_status(DPMF_ERR_CLUSTER_LOST), 4);
    assert_int_equal(error_exit_status(DPMF_ERR_BASE_NOT_DEFINITE), 5);
    assert_int_equal(error_exit_status(DPMF_ERR_TRAIN_DIVERGED), 5);
    assert_int_equal(error_exit_status(DPMF_ERR_PRIVACY_REFUSED), 6);
    assert_int_equal(error_exit_status(DPMF_ERR_PRIVACY_BUDGET), 6);
    assert_int_equal(error_exit_status(DPMF_ERR_BASE_BUG), 70);
    assert_int_equal(error_exit_status(DPMF_ERR_BASE_CANCELLED), 130);
    assert_int_equal(error_exit_status(12345), 70);
    assert_int_equal(error_exit_status(-199), 70);
}

/* 70 is for bugs alone: a code of a new hundred needs a row of its own. */
static void test_every_code_has_a_status(void **state) {
    (void)state;
    int n = 0;
    for (int code = -2000; code < 0; code++) {
        if (!dpmf_error_name(code)) continue;
        n++;
        assert_true(error_exit_status(code) > 0);
        if (code != DPMF_ERR_BASE_BUG) assert_int_not_equal(error_exit_status(code), 70);
    }
    assert_true(n > 40);
}

static void check(const char *text, const char *expected) {
    char out[256];
    error_show_text(text, out, sizeof out);
    assert_string_equal(out, expected);
}

static void test_settings_are_options(void **state) {
    (void)state;
    check("give it {memory}", "give it --memory");
    check("give it {memory 2GiB} or less {learning-rate}",
          "give it --memory 2GiB or less --learning-rate");
    check("{:ledger budget NAME MU}", "dpmf ledger budget NAME MU");
    check("{pgvector postgres://localhost/films?table=items}",
          "--pgvector postgres://localhost/films?table=items");
    check("{separator ;}", "--separator ';'");
    check("{separator '}", "--separator ''\\'''");
    check("{ledger my file}", "--ledger 'my file'");
    check("{ledger {{a{}}", "--ledger '{a}'");
}

static void test_errors_are_shown_with_their_place(void **state) {
    (void)state;
    struct dpmf_error error = {.code = DPMF_ERR_USAGE_VALUE, .line = 3, .file = "{memory}.csv"};
    char out[256];
    dpmf_error_write(error.message, sizeof error.message, "%s is not {reg}", "{x}");
    error_show(&error, out, sizeof out);
    assert_string_equal(out, "{memory}.csv:3: {x} is not --reg");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exit_statuses),
        cmocka_unit_test(test_every_code_has_a_status),
        cmocka_unit_test(test_settings_are_options),
        cmocka_unit_test(test_errors_are_shown_with_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
