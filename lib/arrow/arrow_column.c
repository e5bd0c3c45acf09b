/*
 * Values of columns, each by itself: nothing that one says is trusted, and nothing that one says
 * changes how another is read. Fed by the readers of this folder; feeds arrow_source.c.
 */
#include "arrow/arrow_column.h"

#include <math.h>
#include <string.h>

#include "base/bytes.h"

enum { VIEW_BYTES = 16, VIEW_INLINE = 12 };

#define LOAD(type, values, i) load_##type(values, i)
#define DEFINE_LOAD(type)                                                                          \
    static inline type load_##type(const void *values, int64_t i) {                                \
        type value;                                                                                \
        memcpy(&value, (const char *)values + i * (int64_t)sizeof value, sizeof value);            \
        return value;                                                                              \
    }
DEFINE_LOAD(int8_t)
DEFINE_LOAD(uint8_t)
DEFINE_LOAD(int16_t)
DEFINE_LOAD(uint16_t)
DEFINE_LOAD(int32_t)
DEFINE_LOAD(uint32_t)
DEFINE_LOAD(int64_t)
DEFINE_LOAD(uint64_t)
DEFINE_LOAD(float)
DEFINE_LOAD(double)

/* ---- numbers --------------------------------------------------------------------------------- */

static void set_whole(struct arrow_cell *cell, int64_t whole) {
    cell->kind = ARROW_CELL_WHOLE;
    cell->whole = whole;
}

static void set_unsigned(struct arrow_cell *cell, uint64_t whole) {
    set_whole(cell, (int64_t)whole);
    if (whole <= INT64_MAX) return;
    cell->kind = ARROW_CELL_UNSIGNED;
    cell->unsigned_whole = whole;
}

static void set_real(struct arrow_cell *cell, double real) {
    cell->kind = ARROW_CELL_REAL;
    cell->real = real;
}

/* IEEE 754's binary16. */
static double real_of_half(uint16_t half) {
    const int exponent = half >> 10 & 31, fraction = half & 1023;
    double value = exponent == 0    ? ldexp(fraction, -24)
                   : exponent == 31 ? (fraction ? NAN : INFINITY)
                                    : ldexp(fraction + 1024, exponent - 25);
    return half >> 15 ? -value : value;
}

/* @return the remainder of limbs / 10^9, and the quotient in its place */
static uint32_t divide_by_billion(uint32_t *limb, int n) {
    uint64_t rest = 0;
    for (int i = n - 1; i >= 0; i--) {
        rest = rest << 32 | limb[i];
        limb[i] = (uint32_t)(rest / 1000000000);
        rest %= 1000000000;
    }
    return (uint32_t)rest;
}

static bool are_zero(const uint32_t *limb, int n) {
    for (int i = 0; i < n; i++)
        if (limb[i] != 0) return false;
    return true;
}

/* A two's complement number of so many bytes as decimal digits. */
static void set_decimal(struct arrow_cell *cell, const uint8_t *bytes, int n_bytes) {
    uint32_t limb[8] = {0};
    const int n = n_bytes / 4;
    char backwards[ARROW_DECIMAL_MAX];
    size_t length = 0, at = 0;
    memcpy(limb, bytes, (size_t)n_bytes);
    const bool is_negative = limb[n - 1] >> 31;
    uint64_t carry = 1;
    for (int i = 0; i < n && is_negative; i++) {
        carry += (uint32_t)~limb[i];
        limb[i] = (uint32_t)carry;
        carry >>= 32;
    }
    do {
        uint32_t part = divide_by_billion(limb, n);
        const bool is_last = are_zero(limb, n);
        for (int i = 0; i < 9 && (!is_last || part > 0 || i == 0); i++, part /= 10)
            backwards[length++] = (char)('0' + part % 10);
    } while (!are_zero(limb, n));
    if (is_negative) cell->number[at++] = '-';
    while (length > 0) cell->number[at++] = backwards[--length];
    cell->number[at] = '\0';
    cell->kind = ARROW_CELL_DECIMAL;
    cell->text = cell->number;
    cell->length = at;
}

/* ---- texts ----------------------------------------------------------------------------------- */

static void set_text(struct arrow_cell *cell, const char *text, uint64_t length) {
    cell->kind = ARROW_CELL_TEXT;
    cell->text = length > 0 ? text : "";
    cell->length = length;
    if (length > 0 && !text) cell->kind = ARROW_CELL_BROKEN;
}

static void set_range(struct arrow_cell *cell, const struct arrow_column *column, int64_t begin,
                      int64_t end) {
    cell->kind = ARROW_CELL_BROKEN;
    if (begin < 0 || end < begin || end > column->data_bytes) return;
    set_text(cell, column->data ? column->data + begin : NULL, (uint64_t)(end - begin));
}

/* 12 bytes in the view itself; of a longer text its first 4, which buffer, and where. */
static void set_view(struct arrow_cell *cell, const struct arrow_column *column, int64_t i) {
    const char *view = (const char *)column->values + i * VIEW_BYTES;
    const int32_t length = LOAD(int32_t, view, 0), buffer = LOAD(int32_t, view, 2),
                  begin = LOAD(int32_t, view, 3);
    cell->kind = ARROW_CELL_BROKEN;
    if (length < 0) return;
    if (length <= VIEW_INLINE) {
        set_text(cell, view + 4, (uint64_t)length);
        return;
    }
    if (buffer < 0 || buffer >= column->n_view_data || begin < 0) return;
    if ((int64_t)begin + length > LOAD(int64_t, column->view_data_bytes, buffer)) return;
    const char *data = column->view_data[buffer];
    set_text(cell, data ? data + begin : NULL, (uint64_t)length);
}

/* The same with a pointer instead of buffer and begin. */
static void set_held(struct arrow_cell *cell, const struct arrow_column *column, int64_t i) {
    const char *view = (const char *)column->values + i * VIEW_BYTES, *text = view + 4;
    const uint32_t length = LOAD(uint32_t, view, 0);
    if (length > VIEW_INLINE) memcpy(&text, view + 8, sizeof text);
    set_text(cell, text, length);
}

/* ---- any value ------------------------------------------------------------------------------- */

static void read_value(const struct arrow_column *column, int64_t row, struct arrow_cell *cell) {
    const int64_t i = column->offset + row;
    const void *values = column->values;
    switch (column->type.kind) {
    case ARROW_INT8: set_whole(cell, LOAD(int8_t, values, i)); return;
    case ARROW_UINT8: set_whole(cell, LOAD(uint8_t, values, i)); return;
    case ARROW_INT16: set_whole(cell, LOAD(int16_t, values, i)); return;
    case ARROW_UINT16: set_whole(cell, LOAD(uint16_t, values, i)); return;
    case ARROW_DATE_DAYS:
    case ARROW_INT32: set_whole(cell, LOAD(int32_t, values, i)); return;
    case ARROW_UINT32: set_whole(cell, LOAD(uint32_t, values, i)); return;
    case ARROW_TIMESTAMP:
    case ARROW_INT64: set_whole(cell, LOAD(int64_t, values, i)); return;
    case ARROW_UINT64: set_unsigned(cell, LOAD(uint64_t, values, i)); return;
    case ARROW_FLOAT16: set_real(cell, real_of_half(LOAD(uint16_t, values, i))); return;
    case ARROW_FLOAT32: set_real(cell, (double)LOAD(float, values, i)); return;
    case ARROW_FLOAT64: set_real(cell, LOAD(double, values, i)); return;
    case ARROW_DECIMAL:
        set_decimal(cell, (const uint8_t *)values + i * column->type.bytes, column->type.bytes);
        return;
    case ARROW_TEXT:
        set_range(cell, column, LOAD(int32_t, values, i), LOAD(int32_t, values, i + 1));
        return;
    case ARROW_TEXT_LONG:
        set_range(cell, column, LOAD(int64_t, values, i), LOAD(int64_t, values, i + 1));
        return;
    case ARROW_TEXT_VIEW: set_view(cell, column, i); return;
    case ARROW_TEXT_HELD: set_held(cell, column, i); return;
    default: cell->kind = ARROW_CELL_NULL; return;
    }
}

static bool is_null(const struct arrow_column *column, int64_t row) {
    return column->validity && !arrow_bit(column->validity, column->offset + row);
}

void arrow_cell_read(const struct arrow_column *column, int64_t row, struct arrow_cell *cell) {
    if (is_null(column, row)) {
        cell->kind = ARROW_CELL_NULL;
        return;
    }
    read_value(column, row, cell);
    const struct arrow_column *dictionary = column->dictionary;
    if (!dictionary) return;
    if (cell->kind != ARROW_CELL_WHOLE || cell->whole < 0 ||
        cell->whole >= dictionary->n_older + dictionary->length) {
        cell->kind = ARROW_CELL_BROKEN;
        return;
    }
    while (cell->whole < dictionary->n_older) dictionary = dictionary->older;
    row = cell->whole - dictionary->n_older;
    cell->kind = ARROW_CELL_NULL;
    if (!is_null(dictionary, row)) read_value(dictionary, row, cell);
}
