/*
 * A column of a batch, where it lies: the one form that Arrow streams, Arrow files and Parquet are
 * read in. Whoever fills one in has checked that there are `offset` + `length` values behind its
 * pointers; what a value itself says (an offset, a view, an index) is checked when it is read.
 */
#ifndef DPMF_ARROW_ARROW_COLUMN_H
#define DPMF_ARROW_ARROW_COLUMN_H

#include "arrow/arrow_type.h"

#define ARROW_BYTES_UNKNOWN INT64_MAX /* the C data interface does not say how long buffers are */

struct arrow_column {
    struct arrow_type type;         /* type of the values, or of a dictionary's indices */
    int64_t length, offset;         /* number of values, and how many come before the first */
    const uint8_t *validity;        /* a bit each, the lowest first; NULL: there are no nulls */
    const void *values;             /* values, offsets or views; NULL only when there are none */
    const char *data;               /* bytes that offsets are places in; may be NULL */
    int64_t data_bytes;             /* number of these bytes, or ARROW_BYTES_UNKNOWN */
    const void *const *view_data;   /* buffers that views are places in */
    const int64_t *view_data_bytes; /* bytes of each; need not be aligned */
    int64_t n_view_data;
    const struct arrow_column *dictionary; /* what indices stand for; NULL without one */
    const struct arrow_column *older;      /* values before these, in a dictionary that has grown */
    int64_t n_older;                       /* number of these older values */
};

enum arrow_cell_kind {
    ARROW_CELL_NULL,
    ARROW_CELL_BROKEN,   /* an offset, a view or an index that points nowhere */
    ARROW_CELL_WHOLE,    /* a whole number; timestamps and dates are in their own units */
    ARROW_CELL_UNSIGNED, /* a whole number beyond INT64_MAX */
    ARROW_CELL_REAL,
    ARROW_CELL_TEXT,
    ARROW_CELL_DECIMAL, /* its digits, as text in `number` */
};

enum { ARROW_DECIMAL_MAX = 80 }; /* sign and digits of 256 bits, and NUL */

struct arrow_cell {
    enum arrow_cell_kind kind;
    int64_t whole;
    uint64_t unsigned_whole;
    double real;
    const char *text;
    uint64_t length; /* length of the text, or of the digits */
    char number[ARROW_DECIMAL_MAX];
};

/* Reads value `row`, from 0. */
void arrow_cell_read(const struct arrow_column *column, int64_t row, struct arrow_cell *cell);

/* The type of what arrow_cell_read gives: for a dictionary, the type of its values. */
static inline const struct arrow_type *arrow_column_type(const struct arrow_column *column) {
    return column->dictionary ? &column->dictionary->type : &column->type;
}

static inline bool arrow_bit(const uint8_t *bits, int64_t i) { return bits[i / 8] >> (i % 8) & 1; }

#endif
