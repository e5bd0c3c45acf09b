/*
 * Decodes PostgreSQL's binary copy format, in any thread: pure, and without a copy per row. The
 * types are those that ratings have in databases; the server makes text of all others. Fed by
 * postgres_source.c with the bytes of many rows at a time; feeds the importer's batches.
 */
#include "ratings/postgres_copy.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/number.h"
#include "dpmf_text.h"
#include "ratings/field_text.h"

/* ---- the wire -------------------------------------------------------------------------------- */

static uint16_t get_u16(const uint8_t *at) { return (uint16_t)(at[0] << 8 | at[1]); }

static uint32_t get_u32(const uint8_t *at) {
    uint32_t bits;
    memcpy(&bits, at, sizeof bits);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    bits = __builtin_bswap32(bits);
#endif
    return bits;
}

static uint64_t get_u64(const uint8_t *at) { return (uint64_t)get_u32(at) << 32 | get_u32(at + 4); }

enum { HEADER_BYTES = 19, HAS_OIDS = 1 << 16 };

size_t postgres_copy_header(const uint8_t *bytes, size_t n) {
    static const char signature[] = "PGCOPY\n\377\r\n"; /* and its NUL */
    if (n < HEADER_BYTES || memcmp(bytes, signature, sizeof signature) != 0) return 0;
    uint32_t flags = get_u32(bytes + 11), extension = get_u32(bytes + 15);
    if (flags >= HAS_OIDS || extension > n - HEADER_BYTES) return 0;
    return HEADER_BYTES + extension;
}

/* ---- types ----------------------------------------------------------------------------------- */

enum role_set {
    FOR_IDS = 1,
    FOR_RATINGS = 2,
    FOR_TIMES = 4,
    FOR_NUMBERS = FOR_RATINGS | FOR_TIMES
};

static const struct known_type {
    uint32_t number; /* OID in pg_type */
    enum copy_type type;
    enum role_set roles;
    const char *name; /* to say what it is where it does not fit */
} known_types[] = {
    {20, COPY_INT8, FOR_IDS | FOR_NUMBERS, "a whole number"},
    {21, COPY_INT2, FOR_IDS | FOR_NUMBERS, "a whole number"},
    {23, COPY_INT4, FOR_IDS | FOR_NUMBERS, "a whole number"},
    {700, COPY_FLOAT4, FOR_NUMBERS, "a real number"},
    {701, COPY_FLOAT8, FOR_NUMBERS, "a real number"},
    {1700, COPY_NUMERIC, FOR_NUMBERS, "a number"},
    {25, COPY_TEXT, FOR_IDS | FOR_NUMBERS, "a text"},
    {1043, COPY_TEXT, FOR_IDS | FOR_NUMBERS, "a text"},
    {19, COPY_TEXT, FOR_IDS, "a name"},
    {1082, COPY_DATE, FOR_TIMES, "a date"},
    {1114, COPY_TIMESTAMP, FOR_TIMES, "a time"},
    {1184, COPY_TIMESTAMP, FOR_TIMES, "a time"},
    {16, COPY_TYPES, 0, "a truth value"},
    {17, COPY_TYPES, 0, "binary data"},
};

static const struct known_type *type_of(uint32_t number) {
    for (size_t i = 0; i < sizeof known_types / sizeof known_types[0]; i++)
        if (known_types[i].number == number) return &known_types[i];
    return NULL;
}

const char *postgres_copy_type(uint32_t type, enum column_role role, enum copy_type *as,
                               bool *as_text) {
    enum role_set wanted = role == COLUMN_RATING ? FOR_RATINGS
                           : role == COLUMN_TIME ? FOR_TIMES
                                                 : FOR_IDS;
    const struct known_type *known = type_of(type);
    *as_text = false;
    if (known && (known->roles & wanted)) {
        *as = known->type;
        return NULL;
    }
    /* Numbers without end, blank-padded texts, UUIDs, enumerations, ...: whatever may name
     * someone. */
    bool may_be_text = !known || known->type == COPY_NUMERIC;
    if (wanted == FOR_IDS && may_be_text) {
        *as = COPY_TEXT;
        *as_text = true;
        return NULL;
    }
    return known ? known->name : "of another type";
}

/* ---- values ---------------------------------------------------------------------------------- */

/* One field; `length` is as sent, -1 for NULL. */
struct field {
    const uint8_t *bytes;
    int64_t length;
};

static bool get_integer(enum copy_type type, const struct field *field, int64_t *value) {
    if (type == COPY_INT4 && field->length == 4)
        *value = (int32_t)get_u32(field->bytes);
    else if (type == COPY_INT8 && field->length == 8)
        *value = (int64_t)get_u64(field->bytes);
    else if (type == COPY_INT2 && field->length == 2)
        *value = (int16_t)get_u16(field->bytes);
    else
        return false;
    return true;
}

static bool get_real(enum copy_type type, const struct field *field, double *value) {
    if (type == COPY_FLOAT8 && field->length == 8) {
        uint64_t bits = get_u64(field->bytes);
        memcpy(value, &bits, sizeof bits);
        return true;
    }
    if (type != COPY_FLOAT4 || field->length != 4) return false;
    uint32_t bits = get_u32(field->bytes);
    float single;
    memcpy(&single, &bits, sizeof bits);
    *value = number_widen_float(single); /* as its text would be read, which has no more digits */
    return true;
}

enum {
    NUMERIC_HEAD = 8, /* bytes: how many digits, the first one's weight, the sign, the scale */
    NUMERIC_BASE = 10000,
    NUMERIC_DIGITS =
        200, /* that are looked at one by one; of those beyond, whether there are any */
    NUMERIC_NEGATIVE = 0x4000,
    NUMERIC_NAN = 0xc000,
    NUMERIC_INFINITY = 0xd000,
    NUMERIC_MINUS_INFINITY = 0xf000,
};

/* digit[0] * 10000^weight + digit[1] * 10000^(weight - 1) + ..., rounded once: a whole number that
 * a double holds, divided by a power of ten that it holds too. @return whether it is so small */
static bool small_numeric(const uint8_t *digits, unsigned n, int weight, double *value) {
    static const double powers[] = {1, 1e4, 1e8, 1e12};
    int below = (int)n - 1 - weight; /* digits after the point */
    if (n > 3 || below < 0 || below > 3) return false;
    int64_t whole = 0;
    for (unsigned i = 0; i < n; i++) whole = whole * NUMERIC_BASE + get_u16(digits + 2 * i);
    *value = (double)whole / powers[below];
    return true;
}

/* Any other, by way of text: four decimals a digit, and an exponent. */
static bool large_numeric(const uint8_t *digits, unsigned n, int weight, double *value) {
    char text[4 * NUMERIC_DIGITS + 32];
    size_t length = 0;
    unsigned shown = n < NUMERIC_DIGITS ? n : NUMERIC_DIGITS;
    for (unsigned i = 0; i < shown; i++)
        for (int power = 1000, digit = get_u16(digits + 2 * i); power > 0; power /= 10)
            text[length++] = (char)('0' + digit / power % 10);
    bool more = false;
    for (unsigned i = shown; i < n; i++) more |= get_u16(digits + 2 * i) != 0;
    text[length++] = more ? '1' : '0'; /* decides which way to round, should all others not */
    text[length++] = 'e';
    length += number_format_int64(4 * ((int64_t)weight + 1 - (int64_t)shown) - 1, text + length);
    return number_parse_double(text, length, value) == NUMBER_OK;
}

/* @return whether it is one; what is not finite is, as infinity or NaN */
static bool get_numeric(const struct field *field, double *value) {
    if (field->length < NUMERIC_HEAD) return false;
    const uint8_t *digits = field->bytes + NUMERIC_HEAD;
    unsigned n = get_u16(field->bytes), sign = get_u16(field->bytes + 4);
    int weight = (int16_t)get_u16(field->bytes + 2);
    *value = NAN;
    if (sign == NUMERIC_NAN) return true;
    *value = sign == NUMERIC_MINUS_INFINITY ? -INFINITY : INFINITY;
    if (sign == NUMERIC_INFINITY || sign == NUMERIC_MINUS_INFINITY) return true;
    if ((sign != 0 && sign != NUMERIC_NEGATIVE) || field->length != NUMERIC_HEAD + 2 * (int64_t)n)
        return false;
    for (unsigned i = 0; i < n; i++)
        if (get_u16(digits + 2 * i) >= NUMERIC_BASE) return false;
    *value = 0;
    if (n > 0 && !small_numeric(digits, n, weight, value) &&
        !large_numeric(digits, n, weight, value))
        *value = INFINITY; /* there is no number that it could not read but one that is too large */
    if (sign == NUMERIC_NEGATIVE) *value = -*value;
    return true;
}

static bool get_number(enum copy_type type, const struct field *field, double *value) {
    int64_t whole;
    if (type == COPY_NUMERIC) return get_numeric(field, value);
    if (get_real(type, field, value)) return true;
    if (!get_integer(type, field, &whole)) return false;
    *value = (double)whole;
    return true;
}

/* Seconds since 1970 of something since 2000. @return false for what is infinite */
static bool get_time(enum copy_type type, const struct field *field, int64_t *time) {
    static const int64_t year_2000 = 946684800, microseconds = 1000000, day = 86400;
    if (type == COPY_DATE) {
        int32_t days = (int32_t)get_u32(field->bytes);
        *time = year_2000 + days * day;
        return days != INT32_MAX && days != INT32_MIN;
    }
    int64_t since = (int64_t)get_u64(field->bytes);
    *time = year_2000 + since / microseconds - (since % microseconds < 0);
    return since != INT64_MAX && since != INT64_MIN;
}

/* ---- records --------------------------------------------------------------------------------- */

struct parsing {
    const struct copy_layout *layout;
    struct record_batch *batch;
    struct field field[COLUMN_ROLES];
    int64_t row;
    bool go_on; /* after a value that could not be taken */
};

/* The stream is not what was agreed on: nothing after it can be trusted, whatever --on-error
 * says. */
static bool break_off(struct parsing *parsing) {
    error_set(&parsing->batch->failure, DPMF_ERR_IO_READ,
              "what the server sends is not the binary copy that was asked for");
    error_hint(&parsing->batch->failure,
               "check the network between here and the server, and try again");
    error_place(&parsing->batch->failure, NULL, parsing->row, 0);
    return parsing->go_on = false;
}

static bool take_id(struct parsing *parsing, enum column_role role,
                    struct database_numbers *numbers, const char **id, uint32_t *length) {
    const struct field *field = &parsing->field[role];
    int64_t column = parsing->layout->column[role], whole;
    if (field->length < 0) {
        parsing->go_on = database_reject_null(parsing->batch, role, parsing->row, column);
        return false;
    }
    if (parsing->layout->type[role] == COPY_TEXT) {
        *id = (const char *)field->bytes;
        *length = (uint32_t)field->length;
        if (!memchr(field->bytes, '\0', (size_t)field->length)) return true;
        parsing->go_on =
            field_reject_nul(parsing->batch, column_role_name(role), parsing->row, column);
        return false;
    }
    if (!get_integer(parsing->layout->type[role], field, &whole)) return break_off(parsing);
    *id = database_number_id(numbers, parsing->batch->n, role, whole, length);
    return true;
}

static bool take_rating(struct parsing *parsing, double *rating) {
    const struct field *field = &parsing->field[COLUMN_RATING];
    int64_t column = parsing->layout->column[COLUMN_RATING];
    enum copy_type type = parsing->layout->type[COLUMN_RATING];
    if (field->length < 0) {
        parsing->go_on = database_reject_null(parsing->batch, COLUMN_RATING, parsing->row, column);
        return false;
    }
    if (type != COPY_TEXT) return get_number(type, field, rating) || break_off(parsing);
    const char *text = (const char *)field->bytes;
    size_t n = (size_t)field->length;
    if (field_rating(text, n, rating) == NUMBER_OK) return true;
    parsing->go_on = field_reject_rating(parsing->batch, text, n, parsing->row, column);
    return false;
}

static bool reject_time(struct parsing *parsing, const char *text, size_t n) {
    parsing->go_on = field_reject_time(parsing->batch, text, n, parsing->row,
                                       parsing->layout->column[COLUMN_TIME]);
    return false;
}

/* The server knows times without end; a rating has none. */
static bool reject_endless(struct parsing *parsing) {
    parsing->go_on = record_batch_reject(
        parsing->batch, DPMF_ERR_INPUT_TIME, parsing->row, parsing->layout->column[COLUMN_TIME],
        "leave it out in the query: nullif(COLUMN, 'infinity'), or WHERE isfinite(COLUMN)",
        "timestamp \"infinity\" is not a time");
    return false;
}

static bool reject_nan(struct parsing *parsing) {
    parsing->go_on = record_batch_reject(
        parsing->batch, DPMF_ERR_INPUT_TIME, parsing->row, parsing->layout->column[COLUMN_TIME],
        "leave it out in the query: nullif(COLUMN, 'NaN')", "timestamp \"NaN\" is not a time");
    return false;
}

static bool take_real_time(struct parsing *parsing, double real, int64_t *time) {
    char text[DPMF_DOUBLE_TEXT_MAX];
    if (fabs(real) < 9e18) {
        *time = (int64_t)floor(real);
        return true;
    }
    if (isnan(real)) return reject_nan(parsing);
    if (!isfinite(real)) return reject_endless(parsing);
    return reject_time(parsing, text, number_format_double(real, text));
}

static bool take_time(struct parsing *parsing, int64_t *time) {
    const struct field *field = &parsing->field[COLUMN_TIME];
    enum copy_type type = parsing->layout->type[COLUMN_TIME];
    const char *text = (const char *)field->bytes;
    size_t n = (size_t)field->length;
    double real;
    *time = STORE_NO_TIME;
    if (field->length < 0) return true;
    if (type == COPY_TEXT) return field_time(text, n, time) || reject_time(parsing, text, n);
    if (type == COPY_DATE || type == COPY_TIMESTAMP) {
        if (field->length != (type == COPY_DATE ? 4 : 8)) return break_off(parsing);
        return get_time(type, field, time) || reject_endless(parsing);
    }
    if (get_integer(type, field, time))
        return *time != STORE_NO_TIME || take_real_time(parsing, -9.3e18, time);
    if (!get_number(type, field, &real)) return break_off(parsing);
    return take_real_time(parsing, real, time);
}

/* @return whether to continue */
static bool take_row(struct parsing *parsing, struct database_numbers *numbers) {
    const struct copy_layout *layout = parsing->layout;
    struct record record = {.rating = 1, .time = STORE_NO_TIME};
    parsing->go_on = true;
    if (!take_id(parsing, COLUMN_USER, numbers, &record.user, &record.user_length) ||
        !take_id(parsing, COLUMN_ITEM, numbers, &record.item, &record.item_length) ||
        (layout->field[COLUMN_RATING] >= 0 && !take_rating(parsing, &record.rating))) {
        record_batch_look(parsing->batch, &record, parsing->row);
        return parsing->go_on;
    }
    if (layout->field[COLUMN_TIME] >= 0 && !take_time(parsing, &record.time)) return parsing->go_on;
    return record_batch_add(parsing->batch, &record, parsing->row, layout->column[COLUMN_USER],
                            layout->column[COLUMN_ITEM], layout->column[COLUMN_RATING]);
}

/* The fields of one row. @return past it, or NULL when the row is not whole */
static const uint8_t *split_row(const struct copy_layout *layout, const uint8_t *at,
                                const uint8_t *end, struct field field[COLUMN_ROLES]) {
    for (uint32_t i = 0; i < layout->n_fields; i++) {
        if (end - at < 4) return NULL;
        int32_t length = (int32_t)get_u32(at);
        at += 4;
        if (length < -1 || length > end - at) return NULL;
        for (int role = 0; role < COLUMN_ROLES; role++)
            if (layout->field[role] == (int32_t)i) field[role] = (struct field){at, length};
        if (length > 0) at += length;
    }
    return at;
}

uint64_t postgres_copy_parse(const struct copy_layout *layout, const uint8_t *bytes, size_t n,
                             struct database_numbers *numbers, struct record_batch *batch) {
    struct parsing parsing = {.layout = layout, .batch = batch};
    const uint8_t *at = bytes, *end = bytes + n;
    database_numbers_begin(numbers);
    while (at != end) {
        parsing.row++;
        if (end - at >= 2 && get_u16(at) == UINT16_MAX) { /* the end, and nothing after it */
            parsing.row--;
            if (end - at == 2) break;
        } else if (end - at >= 2 && get_u16(at) == layout->n_fields) {
            const uint8_t *next = split_row(layout, at + 2, end, parsing.field);
            if (next) {
                at = next;
                if (take_row(&parsing, numbers)) continue;
                break;
            }
        }
        break_off(&parsing);
        break;
    }
    return (uint64_t)parsing.row;
}
