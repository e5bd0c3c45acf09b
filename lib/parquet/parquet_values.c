/*
 * The values of a page: bytes in one of Parquet's encodings to a column as arrow_column.h has it.
 * Values that are null are not in a page; they get their places here. Every length is compared with
 * the bytes that are left before it is followed. Fed by parquet_pages.c; feeds arrow_source.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "parquet/parquet_state.h"

enum {
    HELD_BYTES = 16, /* a text: its length, and itself or a pointer to it */
    HELD_INLINE = 12,
    UUID_BYTES = 16,
    UUID_TEXT = 36,
    INT96_BYTES = 12,
    FIXED_MAX = 32, /* bytes of a decimal */
    JULIAN_1970 = 2440588,
    SECONDS_A_DAY = 86400,
};

static const char damaged[] = "is damaged: its values do not fit in their page";

struct decoding {
    const struct parquet_table *self;
    const struct parquet_column *column;
    int number;
    struct parquet_span span;
    size_t n;     /* values of the page */
    size_t n_set; /* those that are not null, and so are there */
    struct parquet_values *out;
    struct dpmf_error *error;
};

static int refuse(const struct decoding *d, const char *why) {
    return parquet_refuse_column(d->self, d->number, why, d->error);
}

/* Memory for `n` values of `size` bytes, counted and bounded. */
static int allocate(const struct decoding *d, size_t n, size_t size, void **memory) {
    const uint64_t bytes = (uint64_t)n * size;
    if (bytes + d->out->memory > d->self->limit)
        return parquet_refuse_size(d->self, d->number, bytes + d->out->memory, d->error);
    *memory = memory_alloc(n > 0 ? n : 1, size);
    if (!*memory) return error_no_memory(d->error);
    d->out->memory += bytes;
    return 0;
}

static int allocate_values(const struct decoding *d, size_t size) {
    return allocate(d, d->n, size, &d->out->values);
}

/* Bytes of a value in the page. */
static size_t stored_bytes(const struct parquet_column *column) {
    switch (column->physical) {
    case PARQUET_INT32:
    case PARQUET_FLOAT: return 4;
    case PARQUET_INT64:
    case PARQUET_DOUBLE: return 8;
    case PARQUET_INT96: return INT96_BYTES;
    default: return (size_t)column->fixed_bytes;
    }
}

/* Bytes of a value in the column. */
static size_t made_bytes(const struct parquet_column *column) {
    return column->type.kind == ARROW_NULL         ? 4
           : arrow_kind_is_text(column->type.kind) ? (size_t)HELD_BYTES
                                                   : (size_t)column->type.bytes;
}

/* Whether a value is in the column as it is in the page. */
static bool is_as_stored(const struct parquet_column *column) {
    return column->physical != PARQUET_BYTE_ARRAY && column->physical != PARQUET_INT96 &&
           !column->is_uuid &&
           (column->physical != PARQUET_FIXED || column->type.kind == ARROW_FLOAT16);
}

/* ---- places of nulls ------------------------------------------------------------------------- */

#define DEFINE_SPREAD(size)                                                                        \
    static void spread_##size(uint8_t *values, const uint8_t *bits, size_t n, size_t n_set) {      \
        for (size_t i = n; i-- > 0;) {                                                             \
            if (arrow_bit(bits, (int64_t)i))                                                       \
                memmove(values + i * (size), values + --n_set * (size), size);                     \
            else                                                                                   \
                memset(values + i * (size), 0, size);                                              \
        }                                                                                          \
    }
DEFINE_SPREAD(2)
DEFINE_SPREAD(4)
DEFINE_SPREAD(8)
DEFINE_SPREAD(16)
DEFINE_SPREAD(32)

/* Moves values that stand one behind the other to their rows, from the last on. */
static void spread(const struct decoding *d, size_t size) {
    uint8_t *values = d->out->values;
    if (!d->out->validity) return;
    switch (size) {
    case 2: spread_2(values, d->out->validity, d->n, d->n_set); return;
    case 4: spread_4(values, d->out->validity, d->n, d->n_set); return;
    case 8: spread_8(values, d->out->validity, d->n, d->n_set); return;
    case 16: spread_16(values, d->out->validity, d->n, d->n_set); return;
    default: spread_32(values, d->out->validity, d->n, d->n_set); return;
    }
}

static void show(const struct decoding *d, struct arrow_type type, const void *values) {
    d->out->view = (struct arrow_column){
        .type = type, .length = (int64_t)d->n, .validity = d->out->validity, .values = values};
}

static int show_values(const struct decoding *d) {
    spread(d, made_bytes(d->column));
    show(d, d->column->type, d->out->values);
    return 0;
}

/* ---- values of a fixed length ---------------------------------------------------------------- */

/* A big-endian number of two's complement to a little-endian one of more bytes. */
static void make_decimal(const uint8_t *stored, size_t n, uint8_t *made, size_t size) {
    memset(made, stored[0] & 0x80 ? 255 : 0, size);
    for (size_t i = 0; i < n; i++) made[i] = stored[n - 1 - i];
}

/* A day's nanoseconds and a Julian day to seconds since 1970. */
static void make_seconds(const uint8_t *stored, uint8_t *made) {
    const int64_t nanoseconds = (int64_t)bytes_get_u64(stored),
                  day = (int64_t)bytes_get_u32(stored + 8) - JULIAN_1970,
                  seconds = nanoseconds / 1000000000 - (nanoseconds % 1000000000 < 0),
                  time = day * SECONDS_A_DAY + seconds;
    memcpy(made, &time, sizeof time);
}

static void make_uuid(const uint8_t *stored, uint8_t *made) {
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < UUID_BYTES; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) *made++ = '-';
        *made++ = (uint8_t)digits[stored[i] >> 4];
        *made++ = (uint8_t)digits[stored[i] & 15];
    }
}

static void hold(uint8_t *held, const uint8_t *text, uint32_t length) {
    memcpy(held, &length, sizeof length);
    if (length <= HELD_INLINE)
        memcpy(held + 4, text, length);
    else
        memcpy(held + 8, &text, sizeof text);
}

/* Value i, stored at `stored`. */
static void make_value(const struct decoding *d, size_t i, const uint8_t *stored) {
    const struct parquet_column *column = d->column;
    const size_t size = made_bytes(column);
    uint8_t *made = (uint8_t *)d->out->values + i * size;
    if (column->is_uuid) {
        make_uuid(stored, d->out->text + i * UUID_TEXT);
        hold(made, d->out->text + i * UUID_TEXT, UUID_TEXT);
    } else if (column->physical == PARQUET_INT96) {
        make_seconds(stored, made);
    } else if (column->physical == PARQUET_FIXED && column->type.kind == ARROW_DECIMAL) {
        make_decimal(stored, (size_t)column->fixed_bytes, made, size);
    } else {
        memcpy(made, stored, size);
    }
}

static int allocate_made(const struct decoding *d) {
    void *text = NULL;
    int code = allocate_values(d, made_bytes(d->column));
    if (code == 0 && d->column->is_uuid) code = allocate(d, d->n, UUID_TEXT, &text);
    d->out->text = text;
    return code;
}

static int plain_fixed(const struct decoding *d) {
    const size_t stored = stored_bytes(d->column);
    if (d->n_set > parquet_span_left(&d->span) / stored) return refuse(d, damaged);
    if (is_as_stored(d->column) && !d->out->validity) { /* where it is */
        show(d, d->column->type, d->span.at);
        return 0;
    }
    int code = allocate_made(d);
    if (code < 0) return code;
    if (is_as_stored(d->column))
        memcpy(d->out->values, d->span.at, d->n_set * stored);
    else
        for (size_t i = 0; i < d->n_set; i++) make_value(d, i, d->span.at + i * stored);
    return show_values(d);
}

/* The first bytes of all values, then the second, ... */
static int split_fixed(const struct decoding *d) {
    const size_t stored = stored_bytes(d->column);
    uint8_t value[FIXED_MAX];
    if (d->n_set != parquet_span_left(&d->span) / stored) return refuse(d, damaged);
    int code = allocate_made(d);
    if (code < 0) return code;
    for (size_t i = 0; i < d->n_set; i++) {
        for (size_t b = 0; b < stored; b++) value[b] = d->span.at[b * d->n_set + i];
        make_value(d, i, value);
    }
    return show_values(d);
}

static int delta_whole(struct decoding *d) {
    void *memory = NULL;
    int code = allocate(d, d->n, sizeof(int64_t), &memory);
    if (code < 0) return code;
    int64_t *wide = d->out->values = memory;
    if (!parquet_deltas_read(&d->span, d->n_set, wide)) return refuse(d, damaged);
    if (d->column->physical == PARQUET_INT32)
        for (size_t i = 0; i < d->n_set; i++) {
            const int32_t narrow = (int32_t)wide[i];
            memcpy((uint8_t *)memory + i * sizeof narrow, &narrow, sizeof narrow);
        }
    return show_values(d);
}

/* ---- texts ----------------------------------------------------------------------------------- */

static int plain_text(struct decoding *d) {
    int code = allocate_values(d, HELD_BYTES);
    if (code < 0) return code;
    uint8_t *held = d->out->values;
    for (size_t i = 0; i < d->n_set; i++, held += HELD_BYTES) {
        if (parquet_span_left(&d->span) < 4) return refuse(d, damaged);
        const uint32_t length = bytes_get_u32(d->span.at);
        d->span.at += 4;
        if (length > parquet_span_left(&d->span)) return refuse(d, damaged);
        hold(held, d->span.at, length);
        d->span.at += length;
    }
    return show_values(d);
}

/* Lengths, all of which are at least 0 and none more than a page can hold. */
static int read_lengths(struct decoding *d, int64_t *lengths) {
    if (!parquet_deltas_read(&d->span, d->n_set, lengths)) return refuse(d, damaged);
    for (size_t i = 0; i < d->n_set; i++)
        if (lengths[i] < 0 || lengths[i] > INT32_MAX) return refuse(d, damaged);
    return 0;
}

/* Texts one behind the other, whose lengths were before them. */
static int hold_texts(struct decoding *d, const int64_t *lengths) {
    uint8_t *held = d->out->values;
    for (size_t i = 0; i < d->n_set; i++, held += HELD_BYTES) {
        if ((uint64_t)lengths[i] > parquet_span_left(&d->span)) return refuse(d, damaged);
        hold(held, d->span.at, (uint32_t)lengths[i]);
        d->span.at += lengths[i];
    }
    return show_values(d);
}

/* Each text by how much of the one before it begins with, and the rest. */
static int join_texts(struct decoding *d, const int64_t *shared, const int64_t *rests) {
    const uint64_t most = d->self->any_length ? INT32_MAX : d->self->limit;
    uint64_t total = 0, length = 0;
    for (size_t i = 0; i < d->n_set; i++) {
        if ((uint64_t)shared[i] > length) return refuse(d, damaged);
        length = (uint64_t)(shared[i] + rests[i]);
        total += length;
        if (total > most) return parquet_refuse_size(d->self, d->number, total, d->error);
    }
    uint8_t *at = d->out->text = memory_alloc(total > 0 ? total : 1, 1);
    uint8_t *held = d->out->values;
    const uint8_t *before = at;
    if (!at) return error_no_memory(d->error);
    d->out->memory += total;
    for (size_t i = 0; i < d->n_set; i++, held += HELD_BYTES) {
        if ((uint64_t)rests[i] > parquet_span_left(&d->span)) return refuse(d, damaged);
        memmove(at, before, (size_t)shared[i]);
        memcpy(at + shared[i], d->span.at, (size_t)rests[i]);
        d->span.at += rests[i];
        hold(held, at, (uint32_t)(shared[i] + rests[i]));
        before = at;
        at += shared[i] + rests[i];
    }
    return show_values(d);
}

static int delta_text(struct decoding *d, bool has_shared) {
    void *lengths = NULL, *shared = NULL;
    int code = allocate_values(d, HELD_BYTES);
    if (code == 0 && has_shared) code = allocate(d, d->n_set, sizeof(int64_t), &shared);
    if (code == 0) code = allocate(d, d->n_set, sizeof(int64_t), &lengths);
    if (code == 0 && has_shared) code = read_lengths(d, shared);
    if (code == 0) code = read_lengths(d, lengths);
    if (code == 0) code = has_shared ? join_texts(d, shared, lengths) : hold_texts(d, lengths);
    if (shared) d->out->memory -= d->n_set * sizeof(int64_t);
    if (lengths) d->out->memory -= d->n_set * sizeof(int64_t);
    free(shared);
    free(lengths);
    return code;
}

/* ---- indices --------------------------------------------------------------------------------- */

static int indices(struct decoding *d, const struct parquet_dictionary *dictionary) {
    if (!dictionary) return refuse(d, "is damaged: a page needs a dictionary that is not there");
    int code = allocate_values(d, sizeof(uint32_t));
    if (code < 0) return code;
    const int width = parquet_span_left(&d->span) > 0 ? *d->span.at++ : 33;
    uint32_t *index = d->out->values, most = 0;
    if (width > 32 || !parquet_runs_read(&d->span, width, d->n_set, index))
        return refuse(d, damaged);
    for (size_t i = 0; i < d->n_set; i++) most = index[i] > most ? index[i] : most;
    if (most >= dictionary->values.view.length)
        return refuse(d, "is damaged: an index points outside of its dictionary");
    spread(d, sizeof(uint32_t));
    show(d, arrow_type_of(ARROW_UINT32), d->out->values);
    d->out->view.dictionary = &dictionary->values.view;
    return 0;
}

/* ---- any page -------------------------------------------------------------------------------- */

static const char *const encodings[PARQUET_ENCODINGS] = {
    "PLAIN",          "GROUP_VAR_INT",       "PLAIN_DICTIONARY",        "RLE",
    "BIT_PACKED",     "DELTA_BINARY_PACKED", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY",
    "RLE_DICTIONARY", "BYTE_STREAM_SPLIT",
};

static int refuse_encoding(const struct decoding *d, int encoding) {
    char why[80];
    const bool has_name = encoding >= 0 && encoding < PARQUET_ENCODINGS;
    snprintf(why, sizeof why, "is encoded as %s, which is not supported for its type",
             has_name ? encodings[encoding] : "an unknown encoding");
    return refuse(d, why);
}

int parquet_values_decode(const struct parquet_table *self, const struct parquet_column *column,
                          int number, int encoding, const struct parquet_dictionary *dictionary,
                          struct parquet_span span, size_t n, size_t n_set,
                          struct parquet_values *out, struct dpmf_error *error) {
    struct decoding d = {self, column, number, span, n, n_set, out, error};
    const bool is_text = column->physical == PARQUET_BYTE_ARRAY,
               is_whole = column->physical == PARQUET_INT32 || column->physical == PARQUET_INT64;
    assert(n_set <= n && (n_set == n || out->validity));
    if (n_set == 0) { /* nothing is there, not even what begins an encoding */
        show(&d, arrow_type_of(ARROW_NULL), NULL);
        return 0;
    }
    switch (encoding) {
    case PARQUET_PLAIN: return is_text ? plain_text(&d) : plain_fixed(&d);
    case PARQUET_PLAIN_DICTIONARY:
    case PARQUET_RLE_DICTIONARY: return indices(&d, dictionary);
    case PARQUET_DELTA_BINARY_PACKED:
        return is_whole ? delta_whole(&d) : refuse_encoding(&d, encoding);
    case PARQUET_DELTA_LENGTH_BYTE_ARRAY:
        return is_text ? delta_text(&d, false) : refuse_encoding(&d, encoding);
    case PARQUET_DELTA_BYTE_ARRAY:
        return is_text ? delta_text(&d, true) : refuse_encoding(&d, encoding);
    case PARQUET_BYTE_STREAM_SPLIT:
        return is_text ? refuse_encoding(&d, encoding) : split_fixed(&d);
    default: return refuse_encoding(&d, encoding);
    }
}
