/*
 * Numbers in text: parsing agrees with strtod on everything, formatting is the shortest text that
 * reads back as the same bits, and no locale changes either.
 */
#include <float.h>
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/number.h"
#include "dpmf_text.h"
#include "random/random.h"
#include "temp_dir.h"

enum { ROUND_TRIPS = 200000 };

static void check_parse(const char *text, double expected) {
    double value = 12345;
    assert_int_equal(number_parse_double(text, strlen(text), &value), NUMBER_OK);
    if (bytes_of_double(value) != bytes_of_double(expected))
        fail_msg("%s: %.17g, not %.17g", text, value, expected);
}

static void check_refused(const char *text, enum number_result result) {
    double value = 12345;
    if (number_parse_double(text, strlen(text), &value) != result) fail_msg("\"%s\"", text);
    assert_true(value == 12345);
}

static void test_parse(void **state) {
    (void)state;
    check_parse("5", 5);
    check_parse("3.5", 3.5);
    check_parse(".5", 0.5);
    check_parse("5.", 5);
    check_parse("-.25e1", -2.5);
    check_parse("+4", 4);
    check_parse("-0.1", -0.1);
    check_parse("0", 0);
    check_parse("-0", -0.0);
    check_parse("-0e999999999999", -0.0);
    check_parse("007", 7);
    check_parse("1e22", 1e22);
    check_parse("1E+23", 1e23);
    check_parse("9007199254740993", 9007199254740992.0);
    check_parse("9007199254740992.999999999999999999", 9007199254740992.0 + 0);
    check_parse("0.000000000000000000000000000000000000000000123", 1.23e-43);
    check_parse("123456789012345678901234567890", 1.2345678901234568e29);
    check_parse("1e-400", 0);
    check_parse("4.9e-324", 4.9e-324);
    check_parse("2.2250738585072011e-308", 2.2250738585072011e-308);
    check_parse("1.7976931348623157e308", 1.7976931348623157e308);
    check_parse("0.3000000000000000166533453693773481063544750213623046875", 0.1 + 0.2); /* a tie */
    check_parse("18446744073709551616", 18446744073709551616.0);
    check_parse("18446744073709551617e-19", 1.8446744073709551617);
}

static void test_refused(void **state) {
    (void)state;
    static const char *const malformed[] = {
        "",      " ",      "+",       "-",         ".",     "+.",    ".e5",          "1e",
        "1e+",   "1.e",    "--1",     "+-1",       "1 ",    " 1",    "4,5",          "0x10",
        "1f",    "1_0",    "five",    "1e5.5",     "1..2",  "1.2.3", "nann",         "in",
        "infin", "nan(1)", "infinit", "infinityy", "1e1e1", "+nan2", "\xef\xbc\x95",
    };
    for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++)
        check_refused(malformed[i], NUMBER_MALFORMED);
    static const char *const not_finite[] = {
        "nan",
        "NaN",
        "-nan",
        "+NAN",
        "inf",
        "Inf",
        "-inf",
        "+INF",
        "infinity",
        "-Infinity",
        "1e400",
        "-1e309",
        "1.7976931348623159e308",
        "1e99999999999999999999",
        "179769313486231590000e289",
    };
    for (size_t i = 0; i < sizeof not_finite / sizeof not_finite[0]; i++)
        check_refused(not_finite[i], NUMBER_NOT_FINITE);

    double value;
    assert_int_equal(number_parse_double("1\0002", 3, &value), NUMBER_MALFORMED);
    char *text = malloc(5000);
    memset(text, '9', 5000);
    assert_int_equal(number_parse_double(text, 5000, &value), NUMBER_MALFORMED);
    assert_int_equal(number_parse_double(text, 2048, &value), NUMBER_NOT_FINITE);
    text[1] = '.';
    assert_int_equal(number_parse_double(text, 2048, &value), NUMBER_OK);
    assert_true(value == 10);
    free(text);
}

static void check_round_trip(double value) {
    char text[DPMF_DOUBLE_TEXT_MAX];
    double back;
    size_t n = number_format_double(value, text);
    assert_true(n < DPMF_DOUBLE_TEXT_MAX);
    enum number_result result = number_parse_double(text, n, &back);
    if (result != NUMBER_OK || bytes_of_double(back) != bytes_of_double(value))
        fail_msg("%a gave %.*s", value, (int)n, text);
}

static void test_round_trip_of_any_bits(void **state) {
    (void)state;
    struct random_stream stream;
    random_stream_init(&stream, 1, 1, 0);
    for (int i = 0; i < ROUND_TRIPS; i++) {
        double value = bytes_to_double(random_u64(&stream));
        if (isfinite(value)) check_round_trip(value);
    }
    for (int i = 0; i < ROUND_TRIPS; i++)
        check_round_trip((double)random_below(&stream, 1000000) / 1000);
    for (int i = 0; i < ROUND_TRIPS; i++) { /* full doubles of the sizes that ratings have */
        double value = ldexp(random_uniform(&stream), (int)random_below(&stream, 70) - 15);
        char expected[64], text[DPMF_DOUBLE_TEXT_MAX];
        check_round_trip(value);
        snprintf(expected, sizeof expected, "%.17g", value);
        check_parse(expected, value);
        dpmf_format_double(value, text);
        assert_true(strtod(text, NULL) == value);
    }
    for (int exponent = -1074; exponent <= 1023; exponent++) {
        check_round_trip(ldexp(1, exponent));
        check_round_trip(nextafter(ldexp(1, exponent), 0));
        check_round_trip(nextafter(ldexp(1, exponent), INFINITY));
    }
}

/* Random texts of every length and exponent: the fast path and strtod must agree on each. */
static void test_parse_agrees_with_strtod(void **state) {
    (void)state;
    struct random_stream stream;
    random_stream_init(&stream, 2, 1, 0);
    for (int i = 0; i < ROUND_TRIPS; i++) {
        char text[96];
        size_t n = 0, digits = 1 + random_below(&stream, 22), fraction = random_below(&stream, 22);
        if (random_below(&stream, 3) == 0) text[n++] = '-';
        for (size_t d = 0; d < digits; d++) text[n++] = (char)('0' + random_below(&stream, 10));
        if (fraction > 0) text[n++] = '.';
        for (size_t d = 0; d < fraction; d++) text[n++] = (char)('0' + random_below(&stream, 10));
        text[n] = '\0';
        if (random_below(&stream, 2) == 0)
            snprintf(text + n, sizeof text - n, "e%d", (int)random_below(&stream, 80) - 40);
        check_parse(text, strtod(text, NULL));
    }
}

static void check_format(double value, const char *expected) {
    char text[DPMF_DOUBLE_TEXT_MAX];
    assert_int_equal(dpmf_format_double(value, text), strlen(expected));
    assert_string_equal(text, expected);
}

static void test_format(void **state) {
    (void)state;
    check_format(0, "0");
    check_format(-0.0, "-0");
    check_format(5, "5");
    check_format(-3.5, "-3.5");
    check_format(0.1, "0.1");
    check_format(0.000001, "0.000001");
    check_format(1e-7, "1e-7");
    check_format(0.1 + 0.2, "0.30000000000000004");
    check_format(1.0 / 3, "0.3333333333333333");
    check_format(123456.789, "123456.789");
    check_format(9007199254740991, "9007199254740991");
    check_format(1e20, "100000000000000000000");
    check_format(1e21, "1e21");
    check_format(1.5e300, "1.5e300");
    check_format(5e-324, "5e-324");
    check_format(-2.2250738585072014e-308, "-2.2250738585072014e-308");
    check_format(1.7976931348623157e308, "1.7976931348623157e308");
    check_format(5.684341886080802e-14, "5.684341886080802e-14"); /* 2^-44: not the nearest */
    check_format(9.5367431640625e-7, "9.5367431640625e-7");       /* 2^-20 */
    check_format(NAN, "nan");
    check_format(INFINITY, "inf");
    check_format(-INFINITY, "-inf");
}

/* No text of fewer digits may read back the same. */
static void test_format_is_shortest(void **state) {
    (void)state;
    struct random_stream stream;
    random_stream_init(&stream, 3, 1, 0);
    for (int i = 0; i < 100000; i++) {
        double value = fabs(bytes_to_double(random_u64(&stream)));
        if (i % 3 == 0) value = (double)random_below(&stream, 100000) / 64;
        if (i % 3 == 1) value = ldexp(random_uniform(&stream), (int)random_below(&stream, 70) - 15);
        if (!isfinite(value) || value == 0) continue;
        char text[DPMF_DOUBLE_TEXT_MAX], shorter[64];
        dpmf_format_double(value, text);
        int digits = 0, zeros = 0;
        for (const char *c = text; *c && *c != 'e'; c++) {
            if (*c == '.' || (*c == '0' && digits == 0)) continue;
            digits++;
            zeros = *c == '0' ? zeros + 1 : 0;
        }
        digits -= zeros;
        if (digits < 2) continue;
        snprintf(shorter, sizeof shorter, "%.*e", digits - 2, value);
        if (strtod(shorter, NULL) == value) fail_msg("%s for %s", text, shorter);
    }
}

static float any_float(struct random_stream *stream, int i) {
    uint32_t bits = (uint32_t)random_u64(stream);
    float value;
    memcpy(&value, &bits, sizeof value);
    if (i % 4 == 1) value = (float)(random_uniform(stream) - 0.5);
    if (i % 4 == 2) value = ldexpf(1, (int)random_below(stream, 276) - 149);
    if (i % 4 == 3) value = (float)random_below(stream, 100000) / 1000;
    return value;
}

/* Read at once, by way of a double by us, and by nothing shorter. */
static void test_format_float(void **state) {
    (void)state;
    struct random_stream stream;
    random_stream_init(&stream, 4, 1, 0);
    for (int i = 0; i < 400000; i++) {
        float value = any_float(&stream, i);
        if (!isfinite(value)) continue;
        char text[DPMF_DOUBLE_TEXT_MAX], shorter[64];
        double back;
        size_t n = number_format_float(value, text);
        assert_true(n < DPMF_DOUBLE_TEXT_MAX);
        text[n] = '\0';
        float at_once = strtof(text, NULL);
        assert_int_equal(number_parse_double(text, n, &back), NUMBER_OK);
        float by_double = (float)back;
        if (memcmp(&at_once, &value, sizeof value) != 0 ||
            memcmp(&by_double, &value, sizeof value) != 0)
            fail_msg("%a gave %s", (double)value, text);
        int digits = 0, zeros = 0;
        for (const char *c = text + (value < 0); *c && *c != 'e'; c++) {
            if (*c == '.' || (*c == '0' && digits == 0)) continue;
            digits++;
            zeros = *c == '0' ? zeros + 1 : 0;
        }
        digits -= zeros;
        if (digits < 2) continue;
        snprintf(shorter, sizeof shorter, "%.*e", digits - 2, (double)value);
        double read = strtod(shorter, NULL), gap = fabs(read - (double)value);
        bool is_middle = gap == fabs(read - (double)nextafterf(value, INFINITY)) ||
                         gap == fabs(read - (double)nextafterf(value, -INFINITY));
        if ((float)read == value && !is_middle) fail_msg("%s for %s", text, shorter);
    }
    static const struct {
        float value;
        const char *text;
    } known[] = {{0, "0"},
                 {-0.0f, "-0"},
                 {0.1f, "0.1"},
                 {16777216, "16777216"},
                 {FLT_MAX, "3.4028235e38"},
                 {-1e-45f, "-1e-45"},
                 {1.0f / 3, "0.33333334"},
                 {0.001f, "0.001"},
                 {NAN, "nan"}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        char text[DPMF_DOUBLE_TEXT_MAX];
        text[number_format_float(known[i].value, text)] = '\0';
        assert_string_equal(text, known[i].text);
    }
}

/* The shortest text, by brute force: of all numbers of digits, and of the nearest decimal of so
 * many and its neighbour above, the first that is this float and nothing in the middle of two. */
static double widened_by_text(float value) {
    for (int digits = 1; digits <= 9; digits++)
        for (int up = 0; up <= 1; up++) {
            char text[64], shifted[64];
            snprintf(text, sizeof text, "%.*e", digits - 1, fabs((double)value));
            char *exponent = strchr(text, 'e');
            *exponent = '\0';
            long long whole = 0;
            for (const char *c = text; *c; c++)
                if (*c != '.') whole = whole * 10 + (*c - '0');
            int power = atoi(exponent + 1) - (digits - 1);
            snprintf(shifted, sizeof shifted, "%llde%d", whole + up, power);
            double read = strtod(shifted, NULL), gap = fabs(read - fabs((double)value));
            float size = fabsf(value);
            bool is_middle = gap > 0 && (gap == fabs(read - (double)nextafterf(size, INFINITY)) ||
                                         gap == fabs(read - (double)nextafterf(size, 0)));
            if (strtof(shifted, NULL) == size && !is_middle) return copysign(read, (double)value);
        }
    fail_msg("%a has no text", (double)value);
    return 0;
}

static void check_widened(float value) {
    double widened = number_widen_float(value);
    if (bytes_of_double(widened) != bytes_of_double(widened_by_text(value)))
        fail_msg("%a gave %.17g, not %.17g", (double)value, widened, widened_by_text(value));
    char text[DPMF_DOUBLE_TEXT_MAX];
    double read = 0;
    number_parse_double(text, number_format_float(value, text), &read);
    assert_true(bytes_of_double(widened) == bytes_of_double(read));
}

static void test_widen_float(void **state) {
    (void)state;
    struct random_stream stream;
    random_stream_init(&stream, 4, 2, 0);
    for (int i = 0; i < 12000; i++) {
        float value = any_float(&stream, i);
        if (isfinite(value)) check_widened(value);
        check_widened((float)random_below(&stream, 1 << 26) / 8); /* decimals that are ties */
        check_widened(
            ldexpf((float)random_below(&stream, 1 << 24), -(int)random_below(&stream, 30)));
    }
    for (int i = -1000; i <= 1000; i++) {
        assert_true(number_widen_float((float)i / 10) == i / 10.0);
        assert_true(number_widen_float((float)i / 100) == i / 100.0);
        check_widened(16777216 + (float)i);
        check_widened(-16777216 + (float)i / 2);
        check_widened((float)abs(i) * 1e-45f);
        check_widened(8388608 + (float)i / 2);
        check_widened(2097152.25f + (float)i / 4);
    }
    for (int power = -149; power <= 127; power++) check_widened(ldexpf(1, power));
    check_widened(FLT_MAX);
    check_widened(-FLT_MIN);
    check_widened(nextafterf(FLT_MIN, 0));
    assert_true(number_widen_float(0.7f) == 0.7);
    assert_true(bytes_of_double(number_widen_float(-0.0f)) == bytes_of_double(-0.0));
    assert_true(number_widen_float(INFINITY) == (double)INFINITY);
    assert_true(number_widen_float(-INFINITY) == -(double)INFINITY);
    assert_true(isnan(number_widen_float(NAN)));
}

/* The nearest value of 11 bits, of which the last is worth no less than 2^-24. */
static double nearest_half(double value) {
    int exponent = value == 0 ? -14 : ilogb(value);
    if (exponent < -14) exponent = -14;
    return ldexp(nearbyint(ldexp(value, 10 - exponent)), exponent - 10);
}

static void test_widen_half(void **state) {
    (void)state;
    for (int i = -999; i <= 999; i++) {
        assert_true(number_widen_half(nearest_half(i / 10.0)) == i / 10.0);
        if (abs(i) < 800) assert_true(number_widen_half(nearest_half(i / 100.0)) == i / 100.0);
    }
    for (int exponent = -14; exponent <= 15; exponent++)
        for (int i = 1024; i < 2048; i++) {
            const double value = ldexp(i, exponent - 10), widened = number_widen_half(value);
            assert_true(nearest_half(widened) == value);
        }
    for (int i = 1; i < 1024; i++)
        assert_true(nearest_half(number_widen_half(ldexp(i, -24))) == ldexp(i, -24));
    assert_true(bytes_of_double(number_widen_half(-0.0)) == bytes_of_double(-0.0));
    assert_true(number_widen_half(65504) == 65504);
    assert_true(number_widen_half(INFINITY) == (double)INFINITY);
    assert_true(isnan(number_widen_half(NAN)));
}

static void test_int64(void **state) {
    (void)state;
    static const int64_t values[] = {0, 1, -1, 10, 1234567890123, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char text[DPMF_DOUBLE_TEXT_MAX], expected[64];
        int64_t back;
        size_t n = number_format_int64(values[i], text);
        assert_int_equal(n, snprintf(expected, sizeof expected, "%lld", (long long)values[i]));
        assert_memory_equal(text, expected, n);
        assert_int_equal(number_parse_int64(text, n, &back), NUMBER_OK);
        assert_true(back == values[i]);
    }
    static const char *const bad[] = {
        "",
        "+",
        "-",
        "1.0",
        "1e3",
        " 1",
        "9223372036854775808",
        "-9223372036854775809",
        "99999999999999999999999",
        "0x1",
    };
    int64_t value;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(number_parse_int64(bad[i], strlen(bad[i]), &value), NUMBER_MALFORMED);
    assert_int_equal(number_parse_int64("+12", 3, &value), NUMBER_OK);
    assert_int_equal(value, 12);
}

static void test_size(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {
        {"0", 0},
        {"64", 64},
        {"64B", 64},
        {"64k", 64000},
        {"64kB", 64000},
        {"64KiB", 65536},
        {"2GB", 2000000000},
        {"1.5GiB", 1610612736},
        {"1.5M", 1500000},
        {"0.5kiB", 512},
        {"1T", 1000000000000},
        {"1TiB", UINT64_C(1) << 40},
        {"2gib", UINT64_C(2) << 30},
        {"0.0000001k", 0},
        {"16777215.999999TiB", UINT64_C(18446744073708452104)},
        {"18446744073709551615", UINT64_MAX},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        uint64_t bytes = 1;
        if (dpmf_parse_size(good[i].text, &bytes) != 0 || bytes != good[i].bytes)
            fail_msg("%s: %llu", good[i].text, (unsigned long long)bytes);
    }
    static const char *const bad[] = {
        "",
        "k",
        "-1",
        "+1",
        "1.5",
        "1.5B",
        "1.",
        "1.k",
        ".5k",
        "1 k",
        "1kk",
        "1kiBB",
        "1i",
        "1ki",
        "1Bk",
        "1e3",
        "1P",
        "nan",
        "18446744073709551616",
        "16777216TiB",
        "99999999999T",
        "0x10",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint64_t bytes;
        if (dpmf_parse_size(bad[i], &bytes) != DPMF_ERR_USAGE_VALUE) fail_msg("\"%s\"", bad[i]);
    }
}

static void test_public_parsers(void **state) {
    (void)state;
    double value;
    uint64_t whole;
    assert_int_equal(dpmf_parse_double("0.25", &value), 0);
    assert_true(value == 0.25);
    assert_int_equal(dpmf_parse_double("nan", &value), DPMF_ERR_USAGE_VALUE);
    assert_int_equal(dpmf_parse_double("1x", &value), DPMF_ERR_USAGE_VALUE);
    assert_int_equal(dpmf_parse_uint64("18446744073709551615", &whole), 0);
    assert_true(whole == UINT64_MAX);
    assert_int_equal(dpmf_parse_uint64("18446744073709551616", &whole), DPMF_ERR_USAGE_VALUE);
    assert_int_equal(dpmf_parse_uint64("-1", &whole), DPMF_ERR_USAGE_VALUE);
    assert_int_equal(dpmf_parse_uint64("+1", &whole), DPMF_ERR_USAGE_VALUE);
    assert_int_equal(dpmf_parse_uint64("", &whole), DPMF_ERR_USAGE_VALUE);
}

/* Sets a locale whose decimal point is a comma: one the system has, or one made for this test. */
static bool set_comma_locale(const struct temp_dir *dir) {
    static const char *const names[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "es_ES.UTF-8", "ru_RU.UTF-8"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (setlocale(LC_ALL, names[i])) return true;
    char command[TEMP_PATH_MAX + 128];
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 > %s/log 2>&1",
             dir->path, dir->path);
    if (system(command) != 0 || setenv("LOCPATH", dir->path, 1) != 0) return false;
    bool set = setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
    unsetenv("LOCPATH");
    return set;
}

static void remove_tree(const struct temp_dir *dir) {
    char command[TEMP_PATH_MAX];
    snprintf(command, sizeof command, "rm -r %s", dir->path);
    assert_int_equal(system(command), 0);
}

static void test_any_locale(void **state) {
    struct temp_dir dir;
    temp_dir_make(&dir);
    bool set = set_comma_locale(&dir);
    remove_tree(&dir);
    if (!set) {
        print_message("no locale with a decimal comma can be had\n");
        skip();
    }
    char text[16];
    snprintf(text, sizeof text, "%.1f", 0.5);
    assert_string_equal(text, "0,5");
    test_parse(state);
    test_refused(state);
    test_format(state);
    check_round_trip(1.0 / 3);
    setlocale(LC_ALL, "C");
}

/* Rounded to one side: of so many digits, not on the other side of the value, and no such number is
 * between them. */
static void test_round_to_one_side(void **state) {
    (void)state;
    struct random_stream stream;
    random_stream_init(&stream, 5, 1, 0);
    assert_true(dpmf_round_digits(1.23456789, 6, true) == 1.23457);
    assert_true(dpmf_round_digits(1.23456789, 6, false) == 1.23456);
    assert_true(dpmf_round_digits(0.5, 6, true) == 0.5 && dpmf_round_digits(0.5, 6, false) == 0.5);
    assert_true(dpmf_round_digits(999999.5, 6, true) == 1e6);
    assert_true(dpmf_round_decimals(0.3, 4, true) == 0.3 &&
                dpmf_round_decimals(0.3, 4, false) == 0.3);
    assert_true(dpmf_round_decimals(0.30001, 4, true) == 0.3001);
    assert_true(dpmf_round_decimals(2.00001, 0, true) == 3 &&
                dpmf_round_decimals(2.9, 0, false) == 2);
    assert_true(dpmf_round_decimals(1e300, 4, true) == 1e300);
    assert_true(dpmf_round_digits(0, 6, true) == 0 && isinf(dpmf_round_digits(INFINITY, 6, true)));
    assert_true(isnan(dpmf_round_decimals(NAN, 2, true)));
    for (int i = 0; i < 20000; i++) {
        const double value = exp(40 * random_uniform(&stream) - 20);
        const double up = dpmf_round_digits(value, 5, true),
                     down = dpmf_round_digits(value, 5, false);
        const double unit = pow(10, floor(log10(value)) - 4);
        char text[32];
        assert_true(down <= value && value <= up && up - down < 1.0001 * unit);
        snprintf(text, sizeof text, "%.5g", up);
        assert_true(strtod(text, NULL) == up);
        snprintf(text, sizeof text, "%.5g", down);
        assert_true(strtod(text, NULL) == down);
    }
}

/* One number has one spelling, and two numbers have two. */
static void test_respell(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"1.0", "1"},
        {"1e0", "1"},
        {"10e-1", "1"},
        {"1.50", "1.5"},
        {"15e-1", "1.5"},
        {"0.15E1", "1.5"},
        {"-0", "0"},
        {"-0.00e7", "0"},
        {"00", "0"},
        {"+7", "7"},
        {"-1.50", "-1.5"},
        {"0.00150", "0.0015"},
        {"1.5e-3", "0.0015"},
        {"100.250", "100.25"},
        {"1.2e3", "1200"},
        {"10e89", "1e90"},
        {"0.1e91", "1e90"},
        {"1.20e-30", "1.2e-30"},
        {"9007199254740993.0", "9007199254740993"},
        {".5", "0.5"},
        {"5.", "5"},
        {"0.10000000000000001e0", "0.10000000000000001"},
        {"12e20", "1200000000000000000000"},
        {"1e-20", "0.00000000000000000001"},
        /* no spelling, or this one already */
        {"1", ""},
        {"0", ""},
        {"1.5", ""},
        {"-1.5", ""},
        {"1e90", ""},
        {"1.2e-30", ""},
        {"", ""},
        {"-", ""},
        {".", ""},
        {"e5", ""},
        {"1e", ""},
        {"1e+", ""},
        {"1.2.3", ""},
        {"1x", ""},
        {"nan", ""},
        {"inf", ""},
        {"1e1234567890", ""},
        {"0x10", ""},
        {"0.00000000000000000001", ""},
        {"1200000000000000000000", ""},
    };
    char out[NUMBER_SPELLED_MAX];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t n = number_respell(cases[i][0], strlen(cases[i][0]), out);
        if (n != strlen(cases[i][1]) || memcmp(out, cases[i][1], n) != 0)
            fail_msg("%s: %.*s", cases[i][0], (int)n, out);
    }
    char digits[300];
    for (size_t n = 1; n < sizeof digits; n++) { /* any length: no more than the room there is */
        memset(digits, '7', n);
        for (size_t point = 0; point < n; point++) {
            memset(digits, '7', n);
            digits[point] = '.';
            assert_true(number_respell(digits, n, out) <= NUMBER_SPELLED_MAX);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_respell),
        cmocka_unit_test(test_round_to_one_side),
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_round_trip_of_any_bits),
        cmocka_unit_test(test_parse_agrees_with_strtod),
        cmocka_unit_test(test_format),
        cmocka_unit_test(test_format_is_shortest),
        cmocka_unit_test(test_format_float),
        cmocka_unit_test(test_widen_float),
        cmocka_unit_test(test_widen_half),
        cmocka_unit_test(test_int64),
        cmocka_unit_test(test_size),
        cmocka_unit_test(test_public_parsers),
        cmocka_unit_test(test_any_locale),
    };
    return cmocka_run_group_tests_name("number", tests, NULL, NULL);
}
