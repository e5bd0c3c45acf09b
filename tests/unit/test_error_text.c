/*
 * Texts of errors: settings are rendered as the caller writes them, and nothing that comes from
 * outside is ever taken for one, however it is cut.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"

static int write_brackets(void *self, const char *name, const char *value, char *text,
                          size_t size) {
    (void)self;
    return value ? snprintf(text, size, "<%s|%s>", name, value)
                 : snprintf(text, size, "<%s>", name);
}

static void check(const char *text, dpmf_setting_writer *write, const char *expected) {
    char out[256], small[7];
    int whole = dpmf_error_text(text, write, NULL, out, sizeof out);
    assert_string_equal(out, expected);
    assert_int_equal(whole, strlen(expected));
    assert_int_equal(dpmf_error_text(text, write, NULL, small, sizeof small), whole);
    assert_int_equal(strncmp(small, expected, sizeof small - 1), 0);
    assert_int_equal(dpmf_error_text(text, write, NULL, NULL, 0), whole);
}

static void test_settings_are_rendered(void **state) {
    (void)state;
    check("", NULL, "");
    check("give it {memory}", NULL, "give it memory");
    check("a smaller {learning-rate 0.1}, or {:ledger show}", NULL,
          "a smaller learning rate 0.1, or ledger show");
    check("{memory 2GiB}{reg} {:import}", write_brackets, "<memory|2GiB><reg> <:import>");
    check("{columns user, item}", write_brackets, "<columns|user, item>");
    check("{separator  }.", write_brackets, "<separator| >.");
    check("{separator {{} {separator {}}", write_brackets, "<separator|{> <separator|}>");
    check("{{memory{} and {{{memory}{}", write_brackets, "{memory} and {<memory>}");
}

static void test_texts_that_are_no_such_text(void **state) {
    (void)state;
    check("{", write_brackets, "{");
    check("}", write_brackets, "}");
    check("a { b } {1} {\"user\":1}", write_brackets, "a { b } {1} {\"user\":1}");
    check("{memory 2G", write_brackets, "<memory|2G>");
    check("{memory", write_brackets, "<memory>");
    check("{memory {", write_brackets, "<memory|{>");
}

/* What comes from outside is shown as it is, wherever it stands. */
static void check_outside(const char *outside) {
    struct dpmf_error error;
    char expected[512], out[512];
    error_set(&error, DPMF_ERR_INPUT_ID, "%s is not %s: {memory %s} %s", outside, outside, outside,
              outside);
    error_hint(&error, "{memory}%s%s{memory}", outside, outside);
    error_place(&error, outside, 3, 0);
    snprintf(expected, sizeof expected, "%s:3: %s is not %s: <memory|%s> %s", outside, outside,
             outside, outside, outside);
    dpmf_error_format(&error, write_brackets, NULL, out, sizeof out);
    assert_string_equal(out, expected);
    snprintf(expected, sizeof expected, "<memory>%s%s<memory>", outside, outside);
    dpmf_error_text(error.hint, write_brackets, NULL, out, sizeof out);
    assert_string_equal(out, expected);
}

static void test_what_comes_from_outside_is_no_setting(void **state) {
    (void)state;
    static const char *const outside[] = {
        "{memory}",
        "{",
        "}",
        "{{",
        "}}",
        "{}",
        "}{",
        "{memory",
        "memory}",
        "{{memory{}",
        "{:import x}.csv",
        "\x01",
        "\x02{\x01",
        "{\x02",
        "a}b{c",
        "%s{%n}",
        "{m 1}{m 2}",
    };
    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) check_outside(outside[i]);
}

/* An odd number of bytes may be left for a pair. */
static void test_a_cut_text_has_no_half_of_a_pair(void **state) {
    (void)state;
    char braces[600], out[600];
    memset(braces, '{', sizeof braces - 1);
    braces[sizeof braces - 1] = '\0';
    for (size_t size = 1; size < 12; size++) {
        char text[12], plain[12];
        dpmf_error_write(text, size, "%s", braces);
        assert_true(strlen(text) < size);
        assert_int_equal(strlen(text) % 2, 0);
        assert_int_equal(dpmf_error_text(text, write_brackets, NULL, plain, sizeof plain),
                         strlen(text) / 2);
    }
    struct dpmf_error error;
    error_set(&error, DPMF_ERR_INPUT_ID, "x%s", braces);
    dpmf_error_text(error.message, write_brackets, NULL, out, sizeof out);
    assert_int_equal(strlen(out), 1 + (DPMF_ERROR_TEXT_MAX - 2) / 2);
    assert_null(strchr(out, '<'));
    dpmf_error_write(out, 0, "%s", braces); /* touches nothing */
}

/* A password is masked whatever braces are in it, or were cut off with it. */
static void test_braces_hide_no_password(void **state) {
    (void)state;
    char text[DPMF_ERROR_TEXT_MAX], out[DPMF_ERROR_TEXT_MAX], long_one[400];
    dpmf_error_write(text, sizeof text, "{pgvector %s}", "postgres://ann:a{b}SECRET@host/films");
    dpmf_error_text(text, write_brackets, NULL, out, sizeof out);
    assert_string_equal(out, "<pgvector|postgres://***@host/films>");
    snprintf(long_one, sizeof long_one, "postgres://ann:{SECRET}%0300d@host/films", 0);
    dpmf_error_write(text, sizeof text, "cannot read %.200s", long_one);
    assert_null(strstr(text, "SECRET"));
}

static void test_texts_that_are_ready(void **state) {
    (void)state;
    struct dpmf_error error;
    char out[64];
    assert_int_equal(error_set_text(&error, DPMF_ERR_INPUT_ID, "{memory} is 100%s"),
                     DPMF_ERR_INPUT_ID);
    assert_int_equal(error_hint_text(&error, "{{"), DPMF_ERR_INPUT_ID);
    dpmf_error_format(&error, write_brackets, NULL, out, sizeof out);
    assert_string_equal(out, "<memory> is 100%s");
    dpmf_error_text(error.hint, NULL, NULL, out, sizeof out);
    assert_string_equal(out, "{");
    assert_int_equal(error_set_text(NULL, DPMF_ERR_INPUT_ID, "x"), DPMF_ERR_INPUT_ID);
    assert_true(error_hint_text(NULL, "x") < 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settings_are_rendered),
        cmocka_unit_test(test_texts_that_are_no_such_text),
        cmocka_unit_test(test_what_comes_from_outside_is_no_setting),
        cmocka_unit_test(test_a_cut_text_has_no_half_of_a_pair),
        cmocka_unit_test(test_braces_hide_no_password),
        cmocka_unit_test(test_texts_that_are_ready),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
