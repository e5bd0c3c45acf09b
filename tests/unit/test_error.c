/*
 * Every code has a name, a sentence and an exit status; errors fill, cut and show as they should.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"

/* The public header itself, found from this file: it is the one list of codes. */
static FILE *open_public_header(void) {
    char path[1024];
    const char *slash = strrchr(__FILE__, '/');
    int n = slash ? (int)(slash - __FILE__) : 1;
    snprintf(path, sizeof path, "%.*s/../../include/dpmf_client.h", n, slash ? __FILE__ : ".");
    return fopen(path, "r");
}

static void test_every_code_is_described(void **state) {
    (void)state;
    FILE *header = open_public_header();
    if (!header) skip();
    char line[512];
    int seen = 0;
    while (fgets(line, sizeof line, header)) {
        char name[64];
        int code;
        if (sscanf(line, " %63[A-Z_0-9] = %d,", name, &code) != 2) continue;
        if (strncmp(name, "DPMF_ERR_", 9) != 0 && strcmp(name, "DPMF_OK") != 0) continue;
        seen++;
        assert_non_null(dpmf_error_name(code));
        assert_string_equal(dpmf_error_name(code), name);
        assert_true(strlen(dpmf_error_sentence(code)) > 5);
        assert_string_not_equal(dpmf_error_sentence(code), dpmf_error_sentence(-999999));
        assert_true(dpmf_error_exit_status(code) > 0 || code == 0);
    }
    fclose(header);
    assert_true(seen > 30);

    int named = 0;
    for (int code = -2000; code <= 2000; code++) named += dpmf_error_name(code) != NULL;
    assert_int_equal(named, seen);
}

static void test_exit_statuses(void **state) {
    (void)state;
    assert_int_equal(dpmf_error_exit_status(DPMF_OK), 0);
    assert_int_equal(dpmf_error_exit_status(DPMF_ERR_USAGE_VALUE), 2);
    assert_int_equal(dpmf_error_exit_status(DPMF_ERR_INPUT_QUOTE), 3);
    assert_int_equal(dpmf_error_exit_status(DPMF_ERR_STORE_CORRUPT), 3);
    assert_int_equal(dpmf_error_exit_status(DPMF_ERR_RATINGS_NO_TIMES), 3);
    assert_int_equal(dpmf_error_exit_status(DPMF_ERR_IO_NO_SPACE), 4);
    assert_int_equal(dpmf_error_exit_status(DPMF_ERR_BASE_NO_MEMORY), 4);
    assert_int_equal(dpmf_error_exit_status(DPMF_ERR_BASE_NOT_DEFINITE), 5);
    assert_int_equal(dpmf_error_exit_status(DPMF_ERR_BASE_BUG), 70);
    assert_int_equal(dpmf_error_exit_status(DPMF_ERR_BASE_CANCELLED), 130);
    assert_int_equal(dpmf_error_exit_status(12345), 70);
    assert_null(dpmf_error_name(12345));
    assert_non_null(dpmf_error_sentence(12345));
}

static void test_set_hint_place(void **state) {
    (void)state;
    struct dpmf_error error;
    memset(&error, 'x', sizeof error);
    int code = error_set(&error, DPMF_ERR_INPUT_NUMBER, "rating \"%s\" is not a number", "4,5");
    assert_int_equal(code, DPMF_ERR_INPUT_NUMBER);
    assert_string_equal(error.message, "rating \"4,5\" is not a number");
    assert_string_equal(error.file, "");
    assert_string_equal(error.hint, "");
    assert_int_equal(error.line, 0);
    assert_int_equal(error_hint(&error, "use %c", '.'), DPMF_ERR_INPUT_NUMBER);
    assert_int_equal(error_place(&error, "a.csv", 1048, 12), DPMF_ERR_INPUT_NUMBER);
    assert_int_equal(error_place(&error, NULL, 1049, 13), DPMF_ERR_INPUT_NUMBER);
    assert_string_equal(error.file, "a.csv");
    assert_string_equal(error.hint, "use .");
    assert_int_equal(error.line, 1049);
    error_place(&error, error.file, 1, 2);
    assert_string_equal(error.file, "a.csv");
}

static void test_without_an_object(void **state) {
    (void)state;
    assert_int_equal(error_set(NULL, DPMF_ERR_INPUT_ID, "x"), DPMF_ERR_INPUT_ID);
    assert_true(error_hint(NULL, "x") < 0);
    assert_true(error_place(NULL, "x", 1, 1) < 0);
    assert_int_equal(error_system(NULL, ENOENT, "open", "x"), DPMF_ERR_IO_MISSING);
    assert_int_equal(error_no_memory(NULL), DPMF_ERR_BASE_NO_MEMORY);
}

static void check_format(const char *file, int64_t line, int64_t column, const char *expected) {
    struct dpmf_error error;
    char text[128];
    error_set(&error, DPMF_ERR_INPUT_ID, "bad");
    error_place(&error, file, line, column);
    assert_int_equal(dpmf_error_format(&error, text, sizeof text), strlen(expected));
    assert_string_equal(text, expected);
}

static void test_format(void **state) {
    (void)state;
    check_format("f", 3, 7, "f:3:7: bad");
    check_format("f", 3, 0, "f:3: bad");
    check_format("f", 0, 0, "f: bad");
    check_format("", 0, 0, "bad");
    check_format("", 3, 7, "line 3:7: bad");

    struct dpmf_error error = {.code = DPMF_ERR_INPUT_ID};
    char small[5];
    int whole = dpmf_error_format(&error, small, sizeof small);
    assert_int_equal(whole, strlen(dpmf_error_sentence(DPMF_ERR_INPUT_ID)));
    assert_int_equal(strlen(small), 4);
    assert_int_equal(dpmf_error_format(&error, NULL, 0), whole);
}

static void test_long_texts_are_cut_between_characters(void **state) {
    (void)state;
    char long_text[2048];
    struct dpmf_error error;
    for (size_t shift = 0; shift < 4; shift++) {
        memset(long_text, 'a', shift);
        for (size_t i = shift; i + 4 < sizeof long_text; i += 3)
            memcpy(long_text + i, "\xe2\x82\xac", 4);
        error_set(&error, DPMF_ERR_INPUT_ID, "%s", long_text);
        error_place(&error, long_text, 1, 1);
        size_t n = strlen(error.message);
        assert_true(n >= DPMF_ERROR_TEXT_MAX - 4 && n < DPMF_ERROR_TEXT_MAX);
        assert_int_equal((n - shift) % 3, 0);
        assert_string_equal(error.file, error.message);
    }
    memset(long_text, 0x80, sizeof long_text - 1); /* no character at all: nothing to keep whole */
    long_text[sizeof long_text - 1] = '\0';
    error_set(&error, DPMF_ERR_INPUT_ID, "%s", long_text);
    assert_int_equal(strlen(error.message), DPMF_ERROR_TEXT_MAX - 1);
}

static void test_system(void **state) {
    (void)state;
    static const struct {
        int errno_value;
        const char *doing;
        int code;
    } cases[] = {
        {ENOENT, "open", DPMF_ERR_IO_MISSING},     {ENOTDIR, "create", DPMF_ERR_IO_MISSING},
        {EACCES, "open", DPMF_ERR_IO_PERMISSION},  {EPERM, "open", DPMF_ERR_IO_PERMISSION},
        {EROFS, "create", DPMF_ERR_IO_PERMISSION}, {EISDIR, "open", DPMF_ERR_IO_DIRECTORY},
        {ENOSPC, "write", DPMF_ERR_IO_NO_SPACE},   {EDQUOT, "write", DPMF_ERR_IO_NO_SPACE},
        {EFBIG, "write", DPMF_ERR_IO_NO_SPACE},    {ENOMEM, "open", DPMF_ERR_BASE_NO_MEMORY},
        {EIO, "read", DPMF_ERR_IO_READ},           {EIO, "open", DPMF_ERR_IO_READ},
        {EIO, "write", DPMF_ERR_IO_WRITE},         {EIO, "create", DPMF_ERR_IO_WRITE},
        {EIO, "rename", DPMF_ERR_IO_WRITE},        {EIO, "flush", DPMF_ERR_IO_WRITE},
        {EIO, "create a file", DPMF_ERR_IO_WRITE}, {EMFILE, "open", DPMF_ERR_IO_READ},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct dpmf_error error;
        int code = error_system(&error, cases[i].errno_value, cases[i].doing, "some/path");
        assert_int_equal(code, cases[i].code);
        assert_int_equal(error.code, cases[i].code);
        assert_string_equal(error.file, "some/path");
        assert_true(error.hint[0] != '\0');
        assert_int_equal(strncmp(error.message, "cannot ", 7), 0);
    }
    struct dpmf_error error;
    char text[256];
    error_system(&error, ENOENT, "open", "a.csv");
    dpmf_error_format(&error, text, sizeof text);
    assert_string_equal(text, "a.csv: cannot open: no such file or directory");
    error_system(&error, 99999, "read", NULL);
    assert_string_equal(error.file, "");
}

static void test_version_and_run(void **state) {
    (void)state;
    assert_true(dpmf_version()[0] >= '0' && dpmf_version()[0] <= '9');
    struct dpmf_run run = dpmf_run_default();
    assert_int_equal(run.threads, 0);
    assert_int_equal(run.memory, 0);
    assert_null(run.self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_code_is_described),
        cmocka_unit_test(test_exit_statuses),
        cmocka_unit_test(test_set_hint_place),
        cmocka_unit_test(test_without_an_object),
        cmocka_unit_test(test_format),
        cmocka_unit_test(test_long_texts_are_cut_between_characters),
        cmocka_unit_test(test_system),
        cmocka_unit_test(test_version_and_run),
    };
    return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
