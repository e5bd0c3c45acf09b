/*
 * Types and layouts out of the flatbuffers of a schema, of bounded depth. Fed by ipc_reader.c.
 */
#include "arrow/ipc_schema.h"

#include <stdlib.h>

#include "base/error.h"

enum {
    DEPTH_MAX = 64,
    PARTS_MAX = 1 << 20, /* parts of all columns together */
    VERSION_5 = 4,
};

/* The types of Arrow's Schema.fbs, in its order. */
enum ipc_type {
    IPC_NULL = 1,
    IPC_INT,
    IPC_FLOAT,
    IPC_BINARY,
    IPC_UTF8,
    IPC_BOOL,
    IPC_DECIMAL,
    IPC_DATE,
    IPC_TIME,
    IPC_TIMESTAMP,
    IPC_INTERVAL,
    IPC_LIST,
    IPC_STRUCT,
    IPC_UNION,
    IPC_FIXED_BINARY,
    IPC_FIXED_LIST,
    IPC_MAP,
    IPC_DURATION,
    IPC_LARGE_BINARY,
    IPC_LARGE_UTF8,
    IPC_LARGE_LIST,
    IPC_RUN_END,
    IPC_BINARY_VIEW,
    IPC_UTF8_VIEW,
    IPC_LIST_VIEW,
    IPC_LARGE_LIST_VIEW,
    IPC_TYPES,
};

static const struct {
    signed char buffers;
    const char *described; /* words for what is refused */
} shapes[IPC_TYPES] = {
    [IPC_NULL] = {0, NULL},
    [IPC_INT] = {2, NULL},
    [IPC_FLOAT] = {2, NULL},
    [IPC_BINARY] = {3, NULL},
    [IPC_UTF8] = {3, NULL},
    [IPC_BOOL] = {2, "truth values"},
    [IPC_DECIMAL] = {2, NULL},
    [IPC_DATE] = {2, NULL},
    [IPC_TIME] = {2, "times of day"},
    [IPC_TIMESTAMP] = {2, NULL},
    [IPC_INTERVAL] = {2, "intervals"},
    [IPC_LIST] = {2, "a list"},
    [IPC_STRUCT] = {1, "a struct"},
    [IPC_UNION] = {1, "a union"},
    [IPC_FIXED_BINARY] = {2, "bytes of a fixed length"},
    [IPC_FIXED_LIST] = {1, "a list"},
    [IPC_MAP] = {2, "a map"},
    [IPC_DURATION] = {2, "durations"},
    [IPC_LARGE_BINARY] = {3, NULL},
    [IPC_LARGE_UTF8] = {3, NULL},
    [IPC_LARGE_LIST] = {2, "a list"},
    [IPC_RUN_END] = {0, "run-end encoded"},
    [IPC_BINARY_VIEW] = {2, NULL},
    [IPC_UTF8_VIEW] = {2, NULL},
    [IPC_LIST_VIEW] = {3, "a list"},
    [IPC_LARGE_LIST_VIEW] = {3, "a list"},
};

/* ---- types ----------------------------------------------------------------------------------- */

static struct arrow_type int_type(struct flat *flat, size_t type) {
    static const enum arrow_kind kinds[4][2] = {{ARROW_UINT8, ARROW_INT8},
                                                {ARROW_UINT16, ARROW_INT16},
                                                {ARROW_UINT32, ARROW_INT32},
                                                {ARROW_UINT64, ARROW_INT64}};
    const int bits = flat_get_i32(flat, type, 0, 0), is_signed = flat_get_u8(flat, type, 1, 0) != 0;
    for (int i = 0; i < 4; i++)
        if (bits == 8 << i) return arrow_type_of(kinds[i][is_signed]);
    return arrow_type_other("whole numbers of an unusual size");
}

static struct arrow_type float_type(struct flat *flat, size_t type) {
    static const enum arrow_kind kinds[] = {ARROW_FLOAT16, ARROW_FLOAT32, ARROW_FLOAT64};
    const int precision = flat_get_i16(flat, type, 0, 0);
    return precision >= 0 && precision < 3 ? arrow_type_of(kinds[precision])
                                           : arrow_type_other("floats of an unusual size");
}

static struct arrow_type decimal_type(struct flat *flat, size_t type) {
    const int32_t scale = flat_get_i32(flat, type, 1, 0), bits = flat_get_i32(flat, type, 2, 128);
    return arrow_type_decimal(bits % 8 == 0 && bits >= 0 ? bits / 8 : -1, scale);
}

static struct arrow_type timestamp_type(struct flat *flat, size_t type) {
    static const int64_t per_second[] = {1, 1000, 1000000, 1000000000};
    const int unit = flat_get_i16(flat, type, 0, 0);
    return unit >= 0 && unit < 4 ? arrow_type_timestamp(per_second[unit])
                                 : arrow_type_other("timestamps of an unusual unit");
}

static struct arrow_type type_of(struct flat *flat, int number, size_t type) {
    if (shapes[number].described) return arrow_type_other(shapes[number].described);
    switch (number) {
    case IPC_NULL: return arrow_type_of(ARROW_NULL);
    case IPC_INT: return int_type(flat, type);
    case IPC_FLOAT: return float_type(flat, type);
    case IPC_DECIMAL: return decimal_type(flat, type);
    case IPC_DATE:
        return flat_get_i16(flat, type, 0, 1) == 0 ? arrow_type_of(ARROW_DATE_DAYS)
                                                   : arrow_type_timestamp(1000);
    case IPC_TIMESTAMP: return timestamp_type(flat, type);
    case IPC_LARGE_BINARY:
    case IPC_LARGE_UTF8: return arrow_type_of(ARROW_TEXT_LONG);
    case IPC_BINARY_VIEW:
    case IPC_UTF8_VIEW: return arrow_type_of(ARROW_TEXT_VIEW);
    default: return arrow_type_of(ARROW_TEXT);
    }
}

/* ---- layouts --------------------------------------------------------------------------------- */

static const char *count_parts(struct flat *flat, size_t field, int version, int depth,
                               struct ipc_parts *parts) {
    const int type = flat_get_u8(flat, field, 2, 0);
    size_t n, children = flat_get_vector(flat, field, 5, 4, &n);
    if (depth > DEPTH_MAX) return "the schema is nested too deeply";
    if (type < IPC_NULL || type >= IPC_TYPES) return "a column has an unknown type";
    if (parts->nodes++ > PARTS_MAX) return "the schema has too many parts";
    if (flat_get_table(flat, field, 4) > 0) { /* a dictionary's indices */
        parts->buffers += 2;
        return NULL;
    }
    parts->buffers += (size_t)shapes[type].buffers;
    parts->variadic += type == IPC_BINARY_VIEW || type == IPC_UTF8_VIEW;
    if (type == IPC_UNION) {
        if (version < VERSION_5) return "unions of Arrow before 1.0 are not supported";
        parts->buffers += flat_get_i16(flat, flat_get_table(flat, field, 3), 0, 0) == 1;
    }
    const char *wrong = NULL;
    for (size_t i = 0; i < n && !wrong; i++) {
        const size_t child = flat_follow(flat, children + 4 * i);
        wrong =
            child ? count_parts(flat, child, version, depth + 1, parts) : "the schema is damaged";
    }
    return wrong;
}

static int add_field(struct flat *flat, size_t field, struct arrow_table *table,
                     struct ipc_column *column, struct dpmf_error *error) {
    size_t length;
    const size_t name = flat_get_vector(flat, field, 0, 1, &length),
                 encoding = flat_get_table(flat, field, 4);
    struct arrow_type indices = arrow_type_of(ARROW_NULL);
    column->dictionary = -1;
    if (encoding > 0) {
        const size_t index = flat_get_table(flat, encoding, 1);
        indices = index > 0 ? int_type(flat, index) : arrow_type_of(ARROW_INT32);
        column->dictionary = flat_get_i64(flat, encoding, 0, 0);
    }
    const struct arrow_type type =
        type_of(flat, flat_get_u8(flat, field, 2, 0), flat_get_table(flat, field, 3));
    return arrow_table_add_field(table, name > 0 ? (const char *)flat->bytes + name : NULL, length,
                                 type, indices, error);
}

const char *ipc_schema_read(struct flat *flat, size_t schema, int version,
                            struct arrow_table *table, struct ipc_column **columns,
                            struct ipc_parts *all, int *code, struct dpmf_error *error) {
    size_t n, fields = flat_get_vector(flat, schema, 1, 4, &n);
    *code = 0;
    *all = (struct ipc_parts){0, 0, 0};
    if (flat_get_i16(flat, schema, 0, 0) != 0) return "it was written on a big-endian machine";
    if (n > ARROW_FIELDS_MAX) return "the table has more than 65,536 columns";
    *columns = memory_alloc_zero(n > 0 ? n : 1, sizeof **columns);
    if (!*columns) *code = error_no_memory(error);
    for (size_t i = 0; i < n && *code == 0; i++) {
        const size_t field = flat_follow(flat, fields + 4 * i);
        if (field == 0) return "the schema is damaged";
        (*columns)[i].before = *all;
        const char *wrong = count_parts(flat, field, version, 0, all);
        if (wrong) return wrong;
        *code = add_field(flat, field, table, &(*columns)[i], error);
    }
    return flat->broken ? "the schema is damaged" : NULL;
}
