/*
 * Every code has a name and a sentence; errors fill, cut and show as they should.
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
    }
    fclose(header);
    assert_true(seen > 30);

    int named = 0;
    for (int code = -2000; code <= 2000; code++) named += dpmf_error_name(code) != NULL;
    assert_int_equal(named, seen);
}

static void test_codes_that_are_none(void **state) {
    (void)state;
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
    assert_int_equal(dpmf_error_format(&error, NULL, NULL, text, sizeof text), strlen(expected));
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
    int whole = dpmf_error_format(&error, NULL, NULL, small, sizeof small);
    assert_int_equal(whole, strlen(dpmf_error_sentence(DPMF_ERR_INPUT_ID)));
    assert_int_equal(strlen(small), 4);
    assert_int_equal(dpmf_error_format(&error, NULL, NULL, NULL, 0), whole);
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
    dpmf_error_format(&error, NULL, NULL, text, sizeof text);
    assert_string_equal(text, "a.csv: cannot open: no such file or directory");
    error_system(&error, 99999, "read", NULL);
    assert_string_equal(error.file, "");
}

/* What is given as a file, and what an error calls it. */
static const struct {
    const char *name, *shown;
} names[] = {
    {"jdbc:postgresql://a/b?user=x&password=SECRET", "jdbc:postgresql://a/b?user=x&password=***"},
    {"jdbc:postgresql://a/b?password=SE@CRET&user=x", "jdbc:postgresql://a/b?password=***&user=x"},
    {"jdbc:postgresql://a/b?password=SE CRET", "jdbc:postgresql://a/b?password=***"},
    {"jdbc:mysql://a/b?p%61ssw%4Frd=SECRET&x=1", "jdbc:mysql://a/b?p%61ssw%4Frd=***&x=1"},
    {"jdbc:sqlserver://a;user=x;Password=SECRET;ssl=1",
     "jdbc:sqlserver://a;user=x;Password=***;ssl=1"},
    {"jdbc:oracle:thin:ann/SECRET@host:1521/x", "jdbc:***@host:1521/x"},
    {"jdbc:oracle:thin:ann/SECRET@//host:1521/x", "jdbc:***@//host:1521/x"},
    {"host=a password=SECRET dbname=x", "host=a password=*** dbname=x"},
    {"host=a password = SECRET dbname=x", "host=a password = *** dbname=x"},
    {"host=a password='SE C\\'RET' dbname=x", "host=a password=*** dbname=x"},
    {"host=a password=SE\\ CRET dbname=x", "host=a password=*** dbname=x"},
    {"PGPASSWORD=SECRET", "PGPASSWORD=***"},
    {"Server=a;PWD=SECRET;Uid=x", "Server=a;PWD=***;Uid=x"},
    {"x?passwd=SECRET", "x?passwd=***"},
    {"x?pass=SECRET&passwd=SECRET", "x?pass=***&passwd=***"},
    {"x?pass=&y=1", "x?pass=&y=1"},
    {"x?user=ann:SECRET&y=1", "x?user=***&y=1"},
    {"x?user=ann:SEC=RET&y=1", "x?user=***&y=1"},
    {"dpmf:SECRET@host/db", "dpmf:***@host/db"},
    {"dpmf:S@host/db", "dpmf:***@host/db"},
    {"dpmf:SE@CRET@host/db", "dpmf:***@host/db"},
    {":SECRET@host", ":***@host"},
    {"//a:SECRET@b/x", "//***@b/x"},
    {"sqlite://a:SECRET@b/x?table=p", "sqlite://***@b/x?table=p"},
    {"postgres//u:SECRET@h/x", "postgres//***@h/x"},
    {"mysql:a:SECRET@b", "mysql:***@b"},
    {"mysql:a:SE/CRET@b", "mysql:***@b"},
    {"MySQL://a:SE/CR?ET@b", "MySQL://***@b"},
    {"postgresql+psycopg2://ann:SECRET@h/x", "postgresql+psycopg2://***@h/x"},
    {"any://ann:SE/CRET@h/x", "any://***@h/x"},
    /* Nothing of the kind. */
    {"", ""},
    {"@", "@"},
    {":", ":"},
    {"=", "="},
    {"ratings.csv", "ratings.csv"},
    {"/data/10:00/ann@example.org.csv", "/data/10:00/ann@example.org.csv"},
    {"10:00/ann@example.org.csv", "10:00/ann@example.org.csv"},
    {"ann@example.org:ratings.csv", "ann@example.org:ratings.csv"},
    {"2020-01-01T10:00:00.csv", "2020-01-01T10:00:00.csv"},
    {"C:\\ratings.csv", "C:\\ratings.csv"},
    {"postgres://ann@localhost:5432/shop", "postgres://ann@localhost:5432/shop"},
    {"http://127.0.0.1:8080/ratings", "http://127.0.0.1:8080/ratings"},
    {"password.csv", "password.csv"},
    {"x?user=ann&a=b", "x?user=ann&a=b"},
};

static void test_passwords_are_masked(void **state) {
    (void)state;
    struct dpmf_error error;
    char text[600], whole[600], again[600];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        error_system(&error, ENOENT, "open", names[i].name);
        assert_string_equal(error.file, names[i].shown);
        assert_string_equal(error.message, "cannot open: no such file or directory");

        error_set(&error, DPMF_ERR_USAGE_VALUE, "there is no \"%s\", is there", names[i].name);
        error_hint(&error, "leave out \"%s\"", names[i].name);
        snprintf(text, sizeof text, "there is no \"%s\", is there", names[i].shown);
        assert_string_equal(error.message, text);
        snprintf(text, sizeof text, "leave out \"%s\"", names[i].shown);
        assert_string_equal(error.hint, text);

        /* What is masked stays as it is, also with words around it. */
        snprintf(text, sizeof text, "%s: cannot open \"%s\"", names[i].shown, names[i].shown);
        int length = dpmf_error_mask(text, again, sizeof again);
        assert_string_equal(again, text);
        assert_int_equal(length, strlen(text));

        /* As snprintf: cut, ended and measured. */
        int n = error_mask_name(names[i].name, whole, sizeof whole);
        assert_int_equal(n, strlen(names[i].shown));
        for (size_t size = 1; size <= (size_t)n + 1; size++) {
            assert_int_equal(error_mask_name(names[i].name, text, size), n);
            assert_int_equal(strlen(text), size - 1);
            assert_memory_equal(text, whole, size - 1);
        }
        assert_int_equal(error_mask_name(names[i].name, NULL, 0), n);
    }
    dpmf_error_mask("x?password=SECRET: user=ann: is there", text, sizeof text);
    assert_string_equal(text, "x?password=***: user=ann: is there");
    dpmf_error_mask("no dpmf:SECRET@host/db or password=SECRET here, ann@h", text, sizeof text);
    assert_string_equal(text, "no dpmf:***@host/db or password=*** here, ann@h");
}

/* Wherever a text is cut, nothing of the password is left: no run of three of its letters. */
static void test_cutting_shows_no_password(void **state) {
    (void)state;
    static const char *const forms[] = {"mysql://ann:%s@localhost/shop", "dpmf:%s@localhost/shop",
                                        "postgres:ann:%s@localhost", "x?password=%s&a=b",
                                        "host=a password=%s dbname=x"};
    struct dpmf_error error;
    char secret[9001], address[9200], quoted[300], masked[300];
    for (size_t n = 3; n < sizeof secret; n += n < 600 ? 1 : 397) {
        memset(secret, 'Q', n);
        secret[n] = '\0';
        for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            snprintf(address, sizeof address, forms[i], secret);
#pragma GCC diagnostic pop
            error_set(&error, DPMF_ERR_USAGE_VALUE, "there is no \"%s\"", address);
            error_place(&error, address, 0, 0);
            assert_null(strstr(error.message, "QQQ"));
            assert_null(strstr(error.file, "QQQ"));
            error_set(&error, DPMF_ERR_USAGE_VALUE, "there is no %s", address);
            error_hint(&error, "unknown \"%.200s\"", address);
            assert_null(strstr(error.message, "QQQ"));
            assert_null(strstr(error.hint, "QQQ"));
            snprintf(quoted, sizeof quoted, "unknown \"%.100s\"", address);
            dpmf_error_mask(quoted, masked, sizeof masked);
            assert_null(strstr(masked, "QQQ"));
            snprintf(quoted, sizeof quoted, "keep one of --output %.100s and x", address);
            dpmf_error_mask(quoted, masked, sizeof masked);
            assert_null(strstr(masked, "QQQ"));
        }
    }
}

static void test_version_and_run(void **state) {
    (void)state;
    assert_true(dpmf_version()[0] >= '0' && dpmf_version()[0] <= '9');
    struct dpmf_run run = dpmf_run_default();
    assert_int_equal(run.threads, 0);
    assert_int_equal(run.memory, 0);
    assert_int_equal(run.size, sizeof run);
    assert_null(run.progress_self);
    assert_null(run.warn_self);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_code_is_described),
        cmocka_unit_test(test_codes_that_are_none),
        cmocka_unit_test(test_set_hint_place),
        cmocka_unit_test(test_without_an_object),
        cmocka_unit_test(test_format),
        cmocka_unit_test(test_long_texts_are_cut_between_characters),
        cmocka_unit_test(test_system),
        cmocka_unit_test(test_passwords_are_masked),
        cmocka_unit_test(test_cutting_shows_no_password),
        cmocka_unit_test(test_version_and_run),
    };
    return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
