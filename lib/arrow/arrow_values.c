/*
 * Stretches of columns at once, each type by a loop of its own: a value costs a load and no call.
 * What is read is what arrow_cell_read reads; floats are widened by their texts. Fed by the readers
 * of this folder; feeds arrow_source.c.
 */
#include "arrow/arrow_values.h"

#include <string.h>

#include "base/number.h"

static bool has_no_null(const struct arrow_column *column, int64_t begin, int n) {
    if (!column->validity) return true;
    int64_t i = column->offset + begin;
    const int64_t end = i + n;
    for (; i < end && i % 8 != 0; i++)
        if (!arrow_bit(column->validity, i)) return false;
    for (; i + 8 <= end; i += 8)
        if (column->validity[i / 8] != 0xff) return false;
    for (; i < end; i++)
        if (!arrow_bit(column->validity, i)) return false;
    return true;
}

static const char *values_at(const struct arrow_column *column, int64_t begin, size_t size) {
    return (const char *)column->values + (column->offset + begin) * (int64_t)size;
}

#define COPY(type, to)                                                                             \
    do {                                                                                           \
        const char *at = values_at(column, begin, sizeof(type));                                   \
        for (int i = 0; i < n; i++) {                                                              \
            type value;                                                                            \
            memcpy(&value, at + (size_t)i * sizeof value, sizeof value);                           \
            out[i] = (to)value;                                                                    \
        }                                                                                          \
    } while (0)

static bool copy_unsigned(const struct arrow_column *column, int64_t begin, int n, int64_t *out) {
    bool are_small = true;
    COPY(uint64_t, int64_t);
    for (int i = 0; i < n; i++) are_small &= out[i] >= 0;
    return are_small;
}

bool arrow_values_whole(const struct arrow_column *column, int64_t begin, int n, int64_t *out) {
    if (column->dictionary || !has_no_null(column, begin, n)) return false;
    switch (column->type.kind) {
    case ARROW_INT8: COPY(int8_t, int64_t); return true;
    case ARROW_UINT8: COPY(uint8_t, int64_t); return true;
    case ARROW_INT16: COPY(int16_t, int64_t); return true;
    case ARROW_UINT16: COPY(uint16_t, int64_t); return true;
    case ARROW_DATE_DAYS:
    case ARROW_INT32: COPY(int32_t, int64_t); return true;
    case ARROW_UINT32: COPY(uint32_t, int64_t); return true;
    case ARROW_TIMESTAMP:
    case ARROW_INT64: COPY(int64_t, int64_t); return true;
    case ARROW_UINT64: return copy_unsigned(column, begin, n, out);
    default: return false;
    }
}

/* As their texts would be read: 0.7 is not 0.699999988079071. */
static void copy_floats(const struct arrow_column *column, int64_t begin, int n, double *out) {
    const char *at = values_at(column, begin, sizeof(float));
    for (int i = 0; i < n; i++) {
        float value;
        memcpy(&value, at + (size_t)i * sizeof value, sizeof value);
        out[i] = number_widen_rating(value);
    }
}

bool arrow_values_real(const struct arrow_column *column, int64_t begin, int n, double *out) {
    if (column->dictionary || !has_no_null(column, begin, n)) return false;
    switch (column->type.kind) {
    case ARROW_INT8: COPY(int8_t, double); return true;
    case ARROW_UINT8: COPY(uint8_t, double); return true;
    case ARROW_INT16: COPY(int16_t, double); return true;
    case ARROW_UINT16: COPY(uint16_t, double); return true;
    case ARROW_INT32: COPY(int32_t, double); return true;
    case ARROW_UINT32: COPY(uint32_t, double); return true;
    case ARROW_INT64: COPY(int64_t, double); return true;
    case ARROW_UINT64: COPY(uint64_t, double); return true;
    case ARROW_FLOAT32: copy_floats(column, begin, n, out); return true;
    case ARROW_FLOAT64: COPY(double, double); return true;
    default: return false;
    }
}

bool arrow_values_text(const struct arrow_column *column, int64_t begin, int n, uint32_t longest,
                       const char **text, uint32_t *length) {
    struct arrow_cell cell;
    if (!arrow_kind_is_text(arrow_column_type(column)->kind)) return false;
    for (int i = 0; i < n; i++) {
        arrow_cell_read(column, begin + i, &cell);
        if (cell.kind != ARROW_CELL_TEXT || cell.length > longest) return false;
        text[i] = cell.text;
        length[i] = (uint32_t)cell.length;
    }
    return true;
}
