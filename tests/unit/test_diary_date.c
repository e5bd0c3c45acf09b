/*
 * Dates as services, spreadsheets and people write them: each spelling against the second that it
 * means, and what two readings fit or none.
 */
#include "titles/diary_date.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static int64_t read_date(const char *text, unsigned order) {
    return diary_date_read(text, strlen(text), order);
}

static void test_spellings(void **state) {
    (void)state;
    enum { NEW_YEARS_EVE = 1640908800 }; /* 2021-12-31 in Greenwich */
    static const struct {
        const char *text;
        int64_t seconds; /* from there on */
    } cases[] = {
        {"2021-12-31", 0},
        {"2021/12/31", 0},
        {"31 Dec 2021", 0},
        {"December 31, 2021", 0},
        {"31.12.2021", 0},
        {"20211231", 0},
        {"1640908800", 0},
        {"1640908800123", 0},
        {"2021-12-31 12:34", 45240},
        {"2021-12-31T12:34:56", 45296},
        {"2021-12-31T12:34:56Z", 45296},
        {"2021-12-31T12:34:56.789Z", 45296},
        {"2021-12-31T12:34:56+01:00", 41696},
        {"2021-12-31T12:34:56.789+01:00", 41696},
        {"2021-12-31T23:00:00-05:00", 100800},
        {"2021-12-31 00:30 +0100", -1800},
        {"2021-12-31 01:00 PM", 46800},
        {"2021-12-31 11:00 am", 39600},
        {"31 Dec 2021 12:15 AM", 900},
        {"Dec 31, 2021, 12:15:01 pm", 44101},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (read_date(cases[i].text, 0) != NEW_YEARS_EVE + cases[i].seconds)
            fail_msg("%s: %lld", cases[i].text, (long long)read_date(cases[i].text, 0));
}

static void test_orders(void **state) {
    (void)state;
    assert_int_equal(read_date("12/31/2021", DIARY_NOT_DAY_FIRST), 1640908800);
    assert_int_equal(read_date("31/12/2021", DIARY_NOT_MONTH_FIRST), 1640908800);
    assert_int_equal(read_date("02/01/2021", 0), DIARY_NO_TIME); /* either */
    assert_int_equal(read_date("01/01/2021", 0), 1609459200);
    assert_int_equal(diary_date_order("12/31/2021", 10), DIARY_NOT_DAY_FIRST);
    assert_int_equal(diary_date_order("31/12/2021", 10), DIARY_NOT_MONTH_FIRST);
    assert_int_equal(diary_date_order("01/02/2021", 10), 0);
}

static void test_none(void **state) {
    (void)state;
    static const char *const none[] = {"", "soon", "31", "2021-13-01", "2021-02-30", "12345"};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        assert_int_equal(read_date(none[i], 0), DIARY_NO_TIME);
    assert_int_equal(diary_date_read(NULL, 0, 0), DIARY_NO_TIME); /* a field that is not there */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spellings),
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
