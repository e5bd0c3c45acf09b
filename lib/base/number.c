/*
 * Numbers to text and back, exactly, whatever locale the process is in: the system's conversions
 * are only ever given, and only ever asked for, digits and an exponent, never a decimal point.
 * Readers of ratings call the parser a hundred million times, so short numbers take a path of their
 * own.
 */
#include "base/number.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "dpmf_text.h"

enum {
    TEXT_MAX = 2048,          /* a number longer than this is no number */
    SHORT_MAX = 15,           /* characters of which even 15 digits are below 2^53 */
    MANTISSA_DIGITS_MAX = 19, /* what surely fits in 64 bits */
    EXPONENT_LIMIT = 100000,  /* beyond it, TEXT_MAX digits cannot bring a number back */
    EXACT_POWER_MAX = 22,     /* the last power of ten that is a double: 10^22 */
    WHOLE_POWER_MAX = 19,     /* the last power of ten that fits in 64 bits: 10^19 */
    SIGNIFICANT_MAX = 17,     /* digits that tell any two doubles apart */
};

#define EXACT_MANTISSA_MAX (UINT64_C(1) << 53)

__extension__ typedef unsigned __int128 wide;

static const double power_of_ten[EXACT_POWER_MAX + 1] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};

static const uint64_t whole_power_of_ten[WHOLE_POWER_MAX + 1] = {
    UINT64_C(1),
    UINT64_C(10),
    UINT64_C(100),
    UINT64_C(1000),
    UINT64_C(10000),
    UINT64_C(100000),
    UINT64_C(1000000),
    UINT64_C(10000000),
    UINT64_C(100000000),
    UINT64_C(1000000000),
    UINT64_C(10000000000),
    UINT64_C(100000000000),
    UINT64_C(1000000000000),
    UINT64_C(10000000000000),
    UINT64_C(100000000000000),
    UINT64_C(1000000000000000),
    UINT64_C(10000000000000000),
    UINT64_C(100000000000000000),
    UINT64_C(1000000000000000000),
    UINT64_C(10000000000000000000),
};

/* ---- reading --------------------------------------------------------------------------------- */

static inline bool is_digit(char c) { return (unsigned char)(c - '0') < 10; }

static bool equals_word(const char *text, size_t n, const char *word) {
    if (strlen(word) != n) return false;
    for (size_t i = 0; i < n; i++)
        if ((text[i] | 0x20) != word[i]) return false;
    return true;
}

/* What is no number at all may still be one of the words for what is not finite. */
static enum number_result refuse(const char *text, size_t n) {
    if (n > 0 && (*text == '+' || *text == '-')) text++, n--;
    bool word = equals_word(text, n, "nan") || equals_word(text, n, "inf") ||
                equals_word(text, n, "infinity");
    return word ? NUMBER_NOT_FINITE : NUMBER_MALFORMED;
}

/* A number taken apart: the digits between `begin` and `end`, one point among them at most, times
 * ten to the `exponent` (which already counts the digits after the point). */
struct parts {
    bool negative;
    const char *begin, *end;
    uint64_t mantissa; /* means something when there are at most MANTISSA_DIGITS_MAX digits */
    size_t n_digits;
    int exponent;
};

static const char *take_digits(const char *at, const char *end, struct parts *parts) {
    const char *begin = at;
    uint64_t mantissa = parts->mantissa;
    for (; at < end && is_digit(*at); at++) mantissa = mantissa * 10 + (uint64_t)(*at - '0');
    parts->mantissa = mantissa;
    parts->n_digits += (size_t)(at - begin);
    return at;
}

static const char *take_exponent(const char *at, const char *end, int *exponent) {
    bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) at++;
    if (at == end || !is_digit(*at)) return NULL;
    int value = 0;
    for (; at < end && is_digit(*at); at++)
        if (value < EXPONENT_LIMIT) value = value * 10 + (*at - '0');
    *exponent += negative ? -value : value;
    return at;
}

static bool take_apart(const char *text, size_t n, struct parts *parts) {
    const char *at = text, *end = text + n;
    *parts = (struct parts){.negative = n > 0 && *at == '-'};
    if (n > 0 && (*at == '-' || *at == '+')) at++;

    parts->begin = at;
    at = take_digits(at, end, parts);
    if (at < end && *at == '.') {
        const char *fraction = ++at;
        at = take_digits(at, end, parts);
        parts->exponent = -(int)(at - fraction);
    }
    if (parts->n_digits == 0) return false;
    parts->end = at;
    if (at < end && (*at == 'e' || *at == 'E')) {
        at = take_exponent(at + 1, end, &parts->exponent);
        if (!at) return false;
    }
    return at == end;
}

/* Clinger's case: both numbers are exact doubles, so the one operation rounds once and
 * correctly. */
static inline bool combine_exactly(uint64_t mantissa, int exponent, double *value) {
    if (mantissa > EXACT_MANTISSA_MAX) return false;
    if (exponent < -EXACT_POWER_MAX || exponent > EXACT_POWER_MAX) return false;
    double m = (double)mantissa;
    *value = exponent < 0 ? m / power_of_ten[-exponent] : m * power_of_ten[exponent];
    return true;
}

/* mantissa / 10^places: the quotient to 64 bits, with what is lost below marked in the last of
 * them, so that turning it into a double rounds once and correctly. */
static double divide_wide(uint64_t mantissa, int places) {
    if (mantissa == 0) return 0;
    int shift = 64 + __builtin_clzll(mantissa);
    wide dividend = (wide)mantissa << shift;
    uint64_t divisor = whole_power_of_ten[places];
    wide quotient = dividend / divisor; /* at least 2^63 */
    bool inexact = quotient * divisor != dividend;

    uint64_t high = (uint64_t)(quotient >> 64);
    int drop = high ? 64 - __builtin_clzll(high) : 0;
    uint64_t kept = (uint64_t)(quotient >> drop);
    inexact |= (wide)kept << drop != quotient;
    return ldexp((double)(kept | inexact), drop - shift);
}

/* What 128 bits can hold exactly: full doubles of the size that ratings have. */
static inline bool combine_wide(uint64_t mantissa, int exponent, double *value) {
    if (exponent < -WHOLE_POWER_MAX || exponent > WHOLE_POWER_MAX) return false;
    *value = exponent < 0 ? divide_wide(mantissa, -exponent)
                          : (double)((wide)mantissa * whole_power_of_ten[exponent]);
    return true;
}

/* strtod rounds correctly, and without a point in the text no locale can change what it reads. */
static double combine_slowly(const struct parts *parts) {
    char text[TEXT_MAX + 16];
    size_t n = 0;
    for (const char *at = parts->begin; at < parts->end; at++)
        if (is_digit(*at)) text[n++] = *at;
    snprintf(text + n, sizeof text - n, "e%d", parts->exponent);
    return strtod(text, NULL);
}

static double combine(const struct parts *parts) {
    double value;
    if (parts->n_digits <= MANTISSA_DIGITS_MAX &&
        (combine_exactly(parts->mantissa, parts->exponent, &value) ||
         combine_wide(parts->mantissa, parts->exponent, &value)))
        return value;
    return combine_slowly(parts);
}

/* Digits with at most one point among them, few enough to be exact: what nearly every rating is.
 * @return false for everything else, which is looked at properly */
static inline bool parse_short(const char *text, size_t n, double *value) {
    size_t i = 0;
    uint64_t mantissa = 0;
    if (n > SHORT_MAX) return false;
    for (; i < n && is_digit(text[i]); i++) mantissa = mantissa * 10 + (uint64_t)(text[i] - '0');
    if (i == n) {
        *value = (double)mantissa;
        return n > 0;
    }
    size_t point = i;
    if (point == 0 || text[point] != '.' || point + 1 == n) return false;
    for (i++; i < n && is_digit(text[i]); i++) mantissa = mantissa * 10 + (uint64_t)(text[i] - '0');
    *value = (double)mantissa / power_of_ten[n - point - 1];
    return i == n;
}

enum number_result number_parse_double(const char *text, size_t n, double *value) {
    double short_value; /* the caller's is not touched by what turns out to be no number */
    if (parse_short(text, n, &short_value)) {
        *value = short_value;
        return NUMBER_OK;
    }
    struct parts parts;
    if (n > TEXT_MAX) return NUMBER_MALFORMED;
    if (!take_apart(text, n, &parts)) return refuse(text, n);

    double magnitude = combine(&parts);
    if (isinf(magnitude)) return NUMBER_NOT_FINITE;
    *value = parts.negative ? -magnitude : magnitude;
    return NUMBER_OK;
}

static enum number_result parse_digits(const char *text, size_t n, uint64_t *value) {
    uint64_t v = 0;
    if (n == 0) return NUMBER_MALFORMED;
    for (size_t i = 0; i < n; i++) {
        if (!is_digit(text[i])) return NUMBER_MALFORMED;
        if (__builtin_mul_overflow(v, (uint64_t)10, &v) ||
            __builtin_add_overflow(v, (uint64_t)(text[i] - '0'), &v))
            return NUMBER_MALFORMED;
    }
    *value = v;
    return NUMBER_OK;
}

enum number_result number_parse_int64(const char *text, size_t n, int64_t *value) {
    bool negative = n > 0 && *text == '-';
    if (n > 0 && (*text == '-' || *text == '+')) text++, n--;
    uint64_t magnitude;
    if (parse_digits(text, n, &magnitude) != NUMBER_OK) return NUMBER_MALFORMED;
    if (magnitude > (uint64_t)INT64_MAX + negative) return NUMBER_MALFORMED;
    *value = (int64_t)(negative ? -magnitude : magnitude);
    return NUMBER_OK;
}

bool number_parse_whole(const char **text, size_t *n, uint64_t *value) {
    const char *at = *text, *end = at + *n;
    if (at < end && *at == '+') at++;
    if (at == end) return false;
    while (end - at > 1 && *at == '0') at++;
    if (end - at > 19) return false;
    uint64_t v = 0;
    for (const char *digit = at; digit < end; digit++) {
        unsigned d = (unsigned)(unsigned char)*digit - '0';
        if (d > 9) return false;
        v = v * 10 + d;
    }
    if (v > (uint64_t)INT64_MAX) return false;
    *text = at;
    *n = (size_t)(end - at);
    *value = v;
    return true;
}

/* ---- writing --------------------------------------------------------------------------------- */

static size_t put_digits(uint64_t value, char *text) {
    char reversed[20];
    size_t n = 0;
    do reversed[n++] = (char)('0' + value % 10);
    while ((value /= 10) != 0);
    for (size_t i = 0; i < n; i++) text[i] = reversed[n - 1 - i];
    return n;
}

size_t number_format_int64(int64_t value, char *text) {
    size_t sign = value < 0;
    if (sign) text[0] = '-';
    return sign + put_digits(sign ? -(uint64_t)value : (uint64_t)value, text + sign);
}

/* A decimal number taken apart: digits[0].digits[1]... times ten to the exponent, without zeros at
 * either end. */
struct spelled {
    char digits[NUMBER_SPELLED_MAX];
    int n; /* 0: the number is 0 */
    int64_t exponent;
    bool is_negative;
};

/* The exponent behind the digits, the "e" and the end included. @return false for what is none */
static bool read_exponent(const char *text, size_t n, int64_t *exponent) {
    enum { DIGITS_MAX = 9 };
    *exponent = 0;
    if (n == 0) return true;
    if (n < 2 || (text[0] != 'e' && text[0] != 'E')) return false;
    const size_t sign = text[1] == '-' || text[1] == '+', first = 1 + sign;
    if (n == first || n - first > DIGITS_MAX) return false;
    for (size_t i = first; i < n; i++) {
        if (!is_digit(text[i])) return false;
        *exponent = 10 * *exponent + (text[i] - '0');
    }
    if (text[1] == '-') *exponent = -*exponent;
    return true;
}

/* @return false for what is no decimal number, or has too many digits */
static bool split_decimal(const char *text, size_t n, struct spelled *number) {
    size_t i = n > 0 && (text[0] == '-' || text[0] == '+');
    int64_t place = 0, zeros = 0,
            exponent; /* place of the next digit, from the point; zeros that may be at the end */
    bool any = false, is_behind = false;
    *number = (struct spelled){.is_negative = n > 0 && text[0] == '-'};
    for (; i < n && (is_digit(text[i]) || (text[i] == '.' && !is_behind)); i++) {
        if (text[i] == '.') {
            is_behind = true;
            continue;
        }
        any = true;
        if (!is_behind && number->n > 0) place++;
        if (text[i] == '0') {
            if (number->n > 0) zeros++;
            if (number->n == 0 && is_behind) place--;
            continue;
        }
        if (number->n == 0 && is_behind) place--;
        if (number->n + zeros >= NUMBER_SPELLED_MAX) return false;
        for (; zeros > 0; zeros--) number->digits[number->n++] = '0';
        number->digits[number->n++] = text[i];
    }
    if (!any || !read_exponent(text + i, n - i, &exponent)) return false;
    number->exponent = place + exponent;
    return true;
}

/* @return the length of the number without its exponent, written out, or -1 when that is too long
 * to read */
static int spell_plain(const struct spelled *number, char out[NUMBER_SPELLED_MAX]) {
    enum { READABLE = 40 };
    const int n = number->n;
    int at = 0;
    if (number->exponent >= READABLE || number->exponent < -READABLE / 2 || n > READABLE) return -1;
    const int whole = (int)number->exponent + 1; /* digits before the point */
    if (whole <= 0) {
        out[at++] = '0';
        out[at++] = '.';
        for (int i = whole; i < 0; i++) out[at++] = '0';
    }
    for (int i = 0; i < n || i < whole; i++) {
        if (i == whole && i > 0) out[at++] = '.';
        out[at++] = i < n ? number->digits[i] : '0';
    }
    return at;
}

static int spell_scientific(const struct spelled *number, char out[NUMBER_SPELLED_MAX]) {
    const int n = number->n;
    int at = 0;
    if (n > NUMBER_SPELLED_MAX - 24) return -1; /* a sign, a point, and the exponent */
    for (int i = 0; i < n; i++) {
        if (i == 1) out[at++] = '.';
        out[at++] = number->digits[i];
    }
    out[at++] = 'e';
    return at + (int)number_format_int64(number->exponent, out + at);
}

size_t number_respell(const char *text, size_t n, char out[NUMBER_SPELLED_MAX]) {
    struct spelled number;
    if (!split_decimal(text, n, &number)) return 0;
    if (number.n == 0) {
        out[0] = '0';
        return n == 1 ? 0 : 1;
    }
    char *begin = out + number.is_negative;
    if (number.is_negative) out[0] = '-';
    int length = spell_plain(&number, begin);
    if (length < 0) length = spell_scientific(&number, begin);
    if (length < 0) return 0;
    const size_t size = (size_t)length + number.is_negative;
    return size == n && memcmp(out, text, n) == 0 ? 0 : size;
}

size_t number_spell_float_id(const char *text, size_t n, char out[NUMBER_SPELLED_MAX]) {
    enum { DIGITS_MAX = 16 }; /* digits of 2^53 */
    struct spelled number;
    uint64_t whole = 0;
    if (!split_decimal(text, n, &number)) return 0;
    if (number.n > 0 && (number.exponent < number.n - 1 || number.exponent >= DIGITS_MAX)) return 0;
    for (int i = 0; number.n > 0 && i <= (int)number.exponent; i++)
        whole = 10 * whole + (i < number.n ? (uint64_t)(number.digits[i] - '0') : 0);
    if (whole >= EXACT_MANTISSA_MAX) return 0;
    const bool has_sign = number.is_negative && whole > 0;
    if (has_sign) out[0] = '-';
    return has_sign + put_digits(whole, out + has_sign);
}

/* Whole numbers and decimals of at most six places, which is what most ratings are: the first
 * number of places that reads back exactly (by combine_exactly) is the shortest. @return 0 if there
 * is none */
static size_t put_short(double magnitude, char *text) {
    const double limit = 1e15; /* below, no two decimals of this many places are the same double */
    if (magnitude >= limit) return 0;
    for (int places = 0; places <= 6; places++) {
        double scaled = magnitude * power_of_ten[places];
        if (scaled >= limit) return 0;
        uint64_t whole = (uint64_t)(scaled + 0.5);
        if ((double)whole / power_of_ten[places] != magnitude) continue;
        if (places == 0) return put_digits(whole, text);

        uint64_t unit = (uint64_t)power_of_ten[places];
        size_t n = put_digits(whole / unit, text);
        text[n++] = '.';
        for (uint64_t rest = whole % unit; unit > 1; rest %= unit) {
            unit /= 10;
            text[n++] = (char)('0' + rest / unit);
        }
        return n;
    }
    return 0;
}

/* Decimal digits d.ddd... times ten to the exponent. */
struct decimal {
    char digits[SIGNIFICANT_MAX + 1];
    int n;
    int exponent;
};

/* magnitude * 10^places, rounded to the nearest, ties to even; exact, as 128 bits hold the
 * product */
static uint64_t scale_wide(double magnitude, int places) {
    uint64_t bits = bytes_of_double(magnitude);
    uint64_t mantissa = (bits & (EXACT_MANTISSA_MAX / 2 - 1)) | EXACT_MANTISSA_MAX / 2;
    int shift = 1075 - (int)(bits >> 52);
    wide product = (wide)mantissa * whole_power_of_ten[places];
    uint64_t scaled = (uint64_t)(product >> shift);
    wide rest = product - ((wide)scaled << shift), half = (wide)1 << (shift - 1);
    return scaled + (rest > half || (rest == half && scaled % 2 == 1));
}

/* The nearest decimal of n digits, 6 to 17, for the sizes where scale_wide is exact. */
static bool nearest_decimal_wide(double magnitude, int n, struct decimal *decimal) {
    if (!(magnitude >= 1e-3 && magnitude < (n < 15 ? 1e6 : 1e15))) return false;
    int exponent = -1;
    while (magnitude >= power_of_ten[exponent + 1]) exponent++;
    uint64_t scaled = scale_wide(magnitude, n - 1 - exponent);
    while (scaled < whole_power_of_ten[n - 1] && exponent > -3)
        scaled = scale_wide(magnitude, n - 1 - --exponent);
    if (scaled == whole_power_of_ten[n]) {
        scaled /= 10; /* 9.99 became 10.0 */
        exponent++;
    }
    decimal->n = (int)put_digits(scaled, decimal->digits);
    decimal->exponent = exponent;
    return decimal->n == n;
}

/* The same for any size. The point that printf puts in is the locale's, and is skipped. */
static void nearest_decimal(double magnitude, int n, struct decimal *decimal) {
    if (n >= 6 && nearest_decimal_wide(magnitude, n, decimal)) return;
    char text[64];
    snprintf(text, sizeof text, "%.*e", n - 1, magnitude);
    const char *at = text;
    decimal->n = 0;
    for (; *at && *at != 'e'; at++)
        if (is_digit(*at) && decimal->n < SIGNIFICANT_MAX) decimal->digits[decimal->n++] = *at;
    decimal->exponent = *at ? (int)strtol(at + 1, NULL, 10) : 0;
}

/* One more in the last place. */
static void step_up(struct decimal *decimal) {
    int i = decimal->n - 1;
    while (i >= 0 && decimal->digits[i] == '9') decimal->digits[i--] = '0';
    if (i >= 0) {
        decimal->digits[i]++;
    } else {
        decimal->digits[0] = '1'; /* 99 became 100, of which 10 says as much */
        decimal->exponent++;
    }
}

static double read_decimal(const struct decimal *decimal) {
    struct parts parts = {.begin = decimal->digits, .end = decimal->digits + decimal->n};
    take_digits(parts.begin, parts.end, &parts);
    parts.exponent = decimal->exponent - (decimal->n - 1);
    return combine(&parts);
}

static bool reads_back(const struct decimal *decimal, double magnitude) {
    return read_decimal(decimal) == magnitude;
}

/* As a float, too. A decimal so near the middle between two floats that as a double it is that
 * middle would be another float for a reader that does not go by way of doubles. */
static bool reads_back_float(const struct decimal *decimal, double magnitude) {
    double read = read_decimal(decimal);
    float value = (float)magnitude;
    double above = (magnitude + (double)nextafterf(value, INFINITY)) / 2;
    double below = (magnitude + (double)nextafterf(value, 0)) / 2;
    return (float)read == value && read != above && read != below;
}

/* Below a power of two the doubles are twice as dense as above it, so there the nearest decimal may
 * be another double's while the next decimal up is this one's. */
static bool is_power_of_two(double magnitude) {
    return (bytes_of_double(magnitude) & ((UINT64_C(1) << 52) - 1)) == 0;
}

static void shortest_from(int n, double magnitude, bool (*is_same)(const struct decimal *, double),
                          struct decimal *decimal) {
    for (; n <= SIGNIFICANT_MAX; n++) {
        nearest_decimal(magnitude, n, decimal);
        if (is_same(decimal, magnitude)) break;
        if (!is_power_of_two(magnitude)) continue;
        step_up(decimal);
        if (is_same(decimal, magnitude)) break;
    }
    while (decimal->n > 1 && decimal->digits[decimal->n - 1] == '0') decimal->n--;
}

/* Every decimal of up to 15 digits is told apart among normal numbers, and of up to 6 among normal
 * floats: the shortest form is then that of so many digits without the zeros at the end. Smaller
 * numbers have less precision. */
static void shortest_decimal(double magnitude, struct decimal *decimal) {
    shortest_from(isnormal(magnitude) ? 15 : 1, magnitude, reads_back, decimal);
}

static void shortest_decimal_float(float magnitude, struct decimal *decimal) {
    shortest_from(isnormal(magnitude) ? 6 : 1, (double)magnitude, reads_back_float, decimal);
}

static size_t put_positional(const struct decimal *decimal, char *text) {
    size_t n = 0;
    if (decimal->exponent < 0) {
        text[n++] = '0';
        text[n++] = '.';
        for (int i = -1; i > decimal->exponent; i--) text[n++] = '0';
    }
    for (int i = 0; i < decimal->n || i <= decimal->exponent; i++) {
        if (i > 0 && i == decimal->exponent + 1) text[n++] = '.';
        text[n++] = i < decimal->n ? decimal->digits[i] : '0';
    }
    return n;
}

static size_t put_scientific(const struct decimal *decimal, char *text) {
    size_t n = 0;
    text[n++] = decimal->digits[0];
    if (decimal->n > 1) text[n++] = '.';
    for (int i = 1; i < decimal->n; i++) text[n++] = decimal->digits[i];
    text[n++] = 'e';
    return n + number_format_int64(decimal->exponent, text + n);
}

static size_t put_decimal(const struct decimal *decimal, char *text) {
    if (decimal->exponent >= -6 && decimal->exponent < 21) return put_positional(decimal, text);
    return put_scientific(decimal, text);
}

static size_t put_magnitude(double magnitude, char *text) {
    size_t n = put_short(magnitude, text);
    if (n > 0) return n;
    struct decimal decimal = {0};
    shortest_decimal(magnitude, &decimal);
    return put_decimal(&decimal, text);
}

static size_t put_word(const char *word, char *text) {
    size_t n = strlen(word);
    memcpy(text, word, n);
    return n;
}

size_t number_format_double(double value, char *text) {
    if (isnan(value)) return put_word("nan", text);
    size_t sign = signbit(value) != 0;
    if (sign) text[0] = '-';
    if (isinf(value)) return sign + put_word("inf", text + sign);
    return sign + put_magnitude(fabs(value), text + sign);
}

size_t number_format_float(float value, char *text) {
    struct decimal decimal = {0};
    if (!isfinite(value) || value == 0) return number_format_double((double)value, text);
    size_t sign = signbit(value) != 0;
    if (sign) text[0] = '-';
    shortest_decimal_float(fabsf(value), &decimal);
    return sign + put_decimal(&decimal, text + sign);
}

/* Decimals of at most six places, as put_short: the first number of places at which the nearest
 * decimal is this float gives its shortest text. Scaling is exact, 24 bits by less than 20. Of
 * floats below 2^24, no such decimal is in the middle between two unless a float that takes fewer
 * places is nearer. */
static bool widen_short(float magnitude, double *value) {
    const double round =
        4503599627370496.0; /* 2^52: what is added to it has no fraction left, ties to even */
    for (int places = 0; places <= 6; places++) {
        double whole = ((double)magnitude * power_of_ten[places] + round) - round;
        *value = whole / power_of_ten[places];
        if ((float)*value == magnitude) return true;
    }
    return false;
}

double number_widen_float(float value) {
    float magnitude = fabsf(value);
    double wide_value;
    if (!isfinite(value)) return (double)value;
    if (magnitude >= 16777216 || !widen_short(magnitude, &wide_value)) {
        struct decimal decimal = {0};
        shortest_decimal_float(magnitude, &decimal);
        wide_value = read_decimal(&decimal);
    }
    return signbit(value) ? -wide_value : wide_value;
}

double number_widen_rating(float value) {
    return fabsf(value) < 0x1p24F ? number_widen_float(value) : (double)value;
}

/* Among decimals of at most eight places, one is always nearer than half the distance to the next
 * binary16, which is at least 2^-24. Below a power of two, that distance is half as long. */
double number_widen_half(double value) {
    const double magnitude = fabs(value);
    if (!isfinite(value) || magnitude >= 2048) return value;
    int exponent = magnitude > 0 ? ilogb(magnitude) : -14;
    if (exponent < -14) exponent = -14;
    const double above = ldexp(1, exponent - 11),
                 below = exponent > -14 && magnitude == ldexp(1, exponent) ? above / 2 : above;
    for (int places = 0; places <= 8; places++) {
        const double near = nearbyint(magnitude * power_of_ten[places]) / power_of_ten[places];
        if (near - magnitude < above && magnitude - near < below)
            return signbit(value) ? -near : near;
    }
    return value;
}

/* ---- the public helpers ---------------------------------------------------------------------- */

int dpmf_parse_double(const char *text, double *value) {
    if (!text || !value) return DPMF_ERR_USAGE_NULL;
    enum number_result result = number_parse_double(text, strlen(text), value);
    return result == NUMBER_OK ? 0 : DPMF_ERR_USAGE_VALUE;
}

int dpmf_parse_uint64(const char *text, uint64_t *value) {
    if (!text || !value) return DPMF_ERR_USAGE_NULL;
    enum number_result result = parse_digits(text, strlen(text), value);
    return result == NUMBER_OK ? 0 : DPMF_ERR_USAGE_VALUE;
}

int dpmf_format_double(double value, char text[DPMF_DOUBLE_TEXT_MAX]) {
    if (!text) return 0;
    size_t n = number_format_double(value, text);
    text[n] = '\0';
    return (int)n;
}

/* "" and "B" are 1, "k" and "kB" 1000, "kiB" 1024, and so on; in either case. @return 0: no unit */
static uint64_t unit_of(const char *text) {
    static const char letters[] = "kmgt";
    if (*text == '\0' || equals_word(text, strlen(text), "b")) return 1;
    const char *letter = strchr(letters, *text | 0x20);
    if (!letter) return 0;
    text++;
    bool binary = equals_word(text, strlen(text), "ib");
    if (!binary && *text != '\0' && !equals_word(text, strlen(text), "b")) return 0;
    uint64_t unit = 1;
    for (const char *at = letters; at <= letter; at++) unit *= binary ? 1024 : 1000;
    return unit;
}

int dpmf_parse_size(const char *text, uint64_t *bytes) {
    if (!text || !bytes) return DPMF_ERR_USAGE_NULL;
    size_t whole_digits = strspn(text, "0123456789");
    uint64_t whole, fraction = 0, scale = 1;
    if (parse_digits(text, whole_digits, &whole) != NUMBER_OK) return DPMF_ERR_USAGE_VALUE;
    text += whole_digits;

    bool has_fraction = *text == '.';
    if (has_fraction) {
        const char *begin = ++text;
        for (; is_digit(*text); text++) {
            if (scale >= 1000000) continue; /* finer than a byte of a megabyte: not worth keeping */
            scale *= 10;
            fraction = fraction * 10 + (uint64_t)(*text - '0');
        }
        if (text == begin) return DPMF_ERR_USAGE_VALUE;
    }

    uint64_t unit = unit_of(text), size;
    if (unit == 0 || (unit == 1 && has_fraction)) return DPMF_ERR_USAGE_VALUE;
    if (__builtin_mul_overflow(whole, unit, &size) ||
        __builtin_add_overflow(size, fraction * unit / scale, &size))
        return DPMF_ERR_USAGE_VALUE;
    *bytes = size;
    return 0;
}

/* ---- rounding to one side -------------------------------------------------------------------- */

/* A multiple of 10^exponent is written and read, so that the result is the double that its own text
 * reads as. The product tells about which one it is, give or take one for its own rounding;
 * comparing tells exactly. */
static double round_to(double value, int exponent, bool up) {
    assert(exponent > -400 && exponent < 400);
    if (!(value > 0) || !isfinite(value)) return value;
    const double scaled = value * pow(10, -exponent);
    double rounded = value;
    if (!(scaled < 0x1p53)) return value;
    uint64_t units = (uint64_t)floor(scaled);
    if (up && units > 0) units--;
    if (!up) units += 2;
    for (;; units = up ? units + 1 : units - 1) {
        char text[48];
        const int n = snprintf(text, sizeof text, "%" PRIu64 "e%d", units, exponent);
        if (number_parse_double(text, (size_t)n, &rounded) != NUMBER_OK) return up ? INFINITY : 0;
        if (up ? rounded >= value : rounded <= value) return rounded;
    }
}

double dpmf_round_decimals(double value, int decimals, bool up) {
    return round_to(value, -decimals, up);
}

double dpmf_round_digits(double value, int digits, bool up) {
    assert(digits > 0);
    if (!(value > 0) || !isfinite(value)) return value;
    return round_to(value, (int)floor(log10(value)) - (digits - 1), up);
}
