/*
 * The schema of a Parquet file: a tree, listed from its root on, of which the root's children are
 * the columns. Those without children are read, as the type that their annotation makes of their
 * physical one; nested ones keep their places, and a name for what they are. Fed by
 * parquet_footer.c; feeds the fields of the table.
 */
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "parquet/parquet_state.h"

enum { DEPTH_MAX = 32 };

enum converted {
    CONVERTED_NONE = -1,
    CONVERTED_UTF8,
    CONVERTED_MAP,
    CONVERTED_MAP_KEY_VALUE,
    CONVERTED_LIST,
    CONVERTED_ENUM,
    CONVERTED_DECIMAL,
    CONVERTED_DATE,
    CONVERTED_TIME_MILLIS,
    CONVERTED_TIME_MICROS,
    CONVERTED_TIMESTAMP_MILLIS,
    CONVERTED_TIMESTAMP_MICROS,
    CONVERTED_UINT_8,
    CONVERTED_UINT_16,
    CONVERTED_UINT_32,
    CONVERTED_UINT_64,
    CONVERTED_INT_8,
    CONVERTED_INT_16,
    CONVERTED_INT_32,
    CONVERTED_INT_64,
    CONVERTED_JSON,
    CONVERTED_BSON,
    CONVERTED_INTERVAL,
};

/* The fields of the union LogicalType. */
enum logical {
    LOGICAL_NONE = 0,
    LOGICAL_STRING = 1,
    LOGICAL_MAP,
    LOGICAL_LIST,
    LOGICAL_ENUM,
    LOGICAL_DECIMAL,
    LOGICAL_DATE,
    LOGICAL_TIME,
    LOGICAL_TIMESTAMP,
    LOGICAL_INTEGER = 10,
    LOGICAL_NULL,
    LOGICAL_JSON,
    LOGICAL_BSON,
    LOGICAL_UUID,
    LOGICAL_FLOAT16,
};

enum repetition { REQUIRED, OPTIONAL, REPEATED };

struct element {
    const uint8_t *name;
    size_t name_length;
    int physical, fixed_bytes, repetition, converted, logical;
    int64_t n_children;
    int scale;
    int64_t per_second; /* units of a timestamp in a second */
    bool is_unsigned;
};

/* ---- elements -------------------------------------------------------------------------------- */

static void read_unit(struct thrift *t, struct element *e) {
    static const int64_t per_second[] = {0, 1000, 1000000, 1000000000};
    struct thrift_field field = {0};
    while (thrift_next(t, &field)) {
        e->per_second = field.id > 0 && field.id < 4 ? per_second[field.id] : 0;
        thrift_skip(t, &field);
    }
}

/* The struct of one annotation. */
static void read_annotation(struct thrift *t, struct element *e) {
    struct thrift_field field = {0};
    while (thrift_next(t, &field)) {
        if (e->logical == LOGICAL_DECIMAL && field.id == 1)
            e->scale = (int)thrift_whole(t, &field);
        else if (e->logical == LOGICAL_TIMESTAMP && field.id == 2 && field.type == THRIFT_STRUCT)
            read_unit(t, e);
        else if (e->logical == LOGICAL_INTEGER && field.id == 2)
            e->is_unsigned = !thrift_truth(t, &field);
        else
            thrift_skip(t, &field);
    }
}

static void read_logical(struct thrift *t, struct element *e) {
    struct thrift_field field = {0};
    while (thrift_next(t, &field)) {
        e->logical = field.id;
        if (field.type == THRIFT_STRUCT)
            read_annotation(t, e);
        else
            thrift_skip(t, &field);
    }
}

static int get_small(struct thrift *t, const struct thrift_field *field) {
    const int64_t value = thrift_whole(t, field);
    if (value < INT32_MIN || value > INT32_MAX) t->broken = true;
    return (int)value;
}

static void read_element(struct thrift *t, struct element *e) {
    struct thrift_field field = {0};
    *e = (struct element){.physical = -1, .converted = CONVERTED_NONE};
    while (thrift_next(t, &field)) switch (field.id) {
        case 1: e->physical = get_small(t, &field); break;
        case 2: e->fixed_bytes = get_small(t, &field); break;
        case 3: e->repetition = get_small(t, &field); break;
        case 4: e->name = thrift_bytes(t, &field, &e->name_length); break;
        case 5: e->n_children = get_small(t, &field); break;
        case 6: e->converted = get_small(t, &field); break;
        case 7: e->scale = get_small(t, &field); break;
        case 10:
            if (thrift_begin_struct(t, &field)) read_logical(t, e);
            break;
        default: thrift_skip(t, &field);
        }
}

/* ---- types ----------------------------------------------------------------------------------- */

/* What the older annotation says, as the newer one says it. */
static void settle_annotation(struct element *e) {
    if (e->logical != LOGICAL_NONE) return;
    switch (e->converted) {
    case CONVERTED_UTF8: e->logical = LOGICAL_STRING; return;
    case CONVERTED_MAP:
    case CONVERTED_MAP_KEY_VALUE: e->logical = LOGICAL_MAP; return;
    case CONVERTED_LIST: e->logical = LOGICAL_LIST; return;
    case CONVERTED_ENUM: e->logical = LOGICAL_ENUM; return;
    case CONVERTED_DECIMAL: e->logical = LOGICAL_DECIMAL; return;
    case CONVERTED_DATE: e->logical = LOGICAL_DATE; return;
    case CONVERTED_TIME_MILLIS:
    case CONVERTED_TIME_MICROS: e->logical = LOGICAL_TIME; return;
    case CONVERTED_TIMESTAMP_MILLIS:
    case CONVERTED_TIMESTAMP_MICROS:
        e->logical = LOGICAL_TIMESTAMP;
        e->per_second = e->converted == CONVERTED_TIMESTAMP_MILLIS ? 1000 : 1000000;
        return;
    case CONVERTED_JSON: e->logical = LOGICAL_JSON; return;
    case CONVERTED_BSON: e->logical = LOGICAL_BSON; return;
    default: break;
    }
    if (e->converted >= CONVERTED_UINT_8 && e->converted <= CONVERTED_INT_64) {
        e->logical = LOGICAL_INTEGER;
        e->is_unsigned = e->converted <= CONVERTED_UINT_64;
    }
}

static struct arrow_type unusual(void) { return arrow_type_other("of an unusual type"); }

static struct arrow_type whole_type(const struct element *e) {
    const bool is_wide = e->physical == PARQUET_INT64;
    switch (e->logical) {
    case LOGICAL_NONE:
    case LOGICAL_INTEGER:
        return arrow_type_of(e->is_unsigned ? (is_wide ? ARROW_UINT64 : ARROW_UINT32)
                                            : (is_wide ? ARROW_INT64 : ARROW_INT32));
    case LOGICAL_DECIMAL: return arrow_type_decimal(is_wide ? 8 : 4, e->scale);
    case LOGICAL_DATE: return is_wide ? unusual() : arrow_type_of(ARROW_DATE_DAYS);
    case LOGICAL_TIME: return arrow_type_other("times of day");
    case LOGICAL_TIMESTAMP:
        return is_wide && e->per_second ? arrow_type_timestamp(e->per_second) : unusual();
    case LOGICAL_NULL: return is_wide ? unusual() : arrow_type_of(ARROW_NULL);
    default: return unusual();
    }
}

static struct arrow_type text_type(const struct element *e) {
    if (e->logical == LOGICAL_DECIMAL) return arrow_type_other("decimals of any length");
    return e->logical == LOGICAL_NONE || e->logical == LOGICAL_STRING ||
                   e->logical == LOGICAL_ENUM || e->logical == LOGICAL_JSON ||
                   e->logical == LOGICAL_BSON
               ? arrow_type_of(ARROW_TEXT_HELD)
               : unusual();
}

static struct arrow_type fixed_type(const struct element *e) {
    const int n = e->fixed_bytes;
    if (e->logical == LOGICAL_UUID && n == 16) {
        struct arrow_type type = arrow_type_of(ARROW_TEXT_HELD);
        type.is_uuid = true;
        return type;
    }
    if (e->logical == LOGICAL_FLOAT16 && n == 2) return arrow_type_of(ARROW_FLOAT16);
    if (e->logical == LOGICAL_DECIMAL && n > 0 && n <= 32)
        return arrow_type_decimal(n <= 16 ? 16 : 32, e->scale);
    return arrow_type_other(e->converted == CONVERTED_INTERVAL ? "intervals"
                                                               : "bytes of a fixed length");
}

static struct arrow_type leaf_type(const struct element *e) {
    switch (e->physical) {
    case PARQUET_BOOLEAN: return arrow_type_other("truth values");
    case PARQUET_INT32:
    case PARQUET_INT64: return whole_type(e);
    case PARQUET_INT96: return arrow_type_timestamp(1);
    case PARQUET_FLOAT: return arrow_type_of(ARROW_FLOAT32);
    case PARQUET_DOUBLE: return arrow_type_of(ARROW_FLOAT64);
    case PARQUET_BYTE_ARRAY: return text_type(e);
    default: return fixed_type(e);
    }
}

static struct arrow_type nested_type(const struct element *e) {
    return arrow_type_other(e->logical == LOGICAL_MAP                                 ? "a map"
                            : e->logical == LOGICAL_LIST || e->repetition == REPEATED ? "a list"
                                                                                      : "a struct");
}

/* ---- the tree -------------------------------------------------------------------------------- */

/* Elements that are still to come. */
struct walk {
    struct thrift *t;
    size_t left;
};

static bool take_element(struct walk *walk, struct element *e) {
    if (walk->left == 0) return false;
    walk->left--;
    read_element(walk->t, e);
    settle_annotation(e);
    const bool is_leaf = e->n_children == 0;
    return !walk->t->broken && e->n_children >= 0 && (uint64_t)e->n_children <= walk->left &&
           e->repetition >= REQUIRED && e->repetition <= REPEATED &&
           (!is_leaf || (e->physical >= 0 && e->physical < PARQUET_PHYSICALS));
}

/* Skips what is below an element, and counts its leaves. */
static bool pass_children(struct walk *walk, int64_t n, int depth, size_t *leaves) {
    struct element e;
    if (depth > DEPTH_MAX) return false;
    for (int64_t i = 0; i < n; i++) {
        if (!take_element(walk, &e)) return false;
        if (e.n_children == 0)
            ++*leaves;
        else if (!pass_children(walk, e.n_children, depth + 1, leaves))
            return false;
    }
    return true;
}

static int add_column(struct parquet_table *self, const struct element *e, bool is_nested,
                      struct dpmf_error *error) {
    const size_t place = self->table.n_fields;
    const struct arrow_type type = is_nested ? nested_type(e) : leaf_type(e);
    if (!memory_reserve(&self->columns, &self->column_capacity, place + 1, sizeof self->columns[0]))
        return error_no_memory(error);
    self->columns[place] = (struct parquet_column){
        .leaf = self->n_leaves,
        .is_nested = is_nested,
        .is_optional = e->repetition == OPTIONAL,
        .is_uuid = e->logical == LOGICAL_UUID,
        .physical = (enum parquet_physical)(is_nested ? 0 : e->physical),
        .fixed_bytes = e->fixed_bytes,
        .type = type,
    };
    return arrow_table_add_field(&self->table, (const char *)e->name, e->name_length, type,
                                 arrow_type_of(ARROW_NULL), error);
}

int parquet_schema_read(struct parquet_table *self, struct thrift *t, size_t n,
                        struct dpmf_error *error) {
    static const char wrong[] = "the schema is damaged";
    struct walk walk = {t, n};
    struct element root, e;
    int code = 0;
    if (self->table.n_fields > 0 || !take_element(&walk, &root))
        return parquet_refuse(self, wrong, error);
    for (int64_t i = 0; i < root.n_children && code == 0; i++) {
        if (!take_element(&walk, &e) || (e.name_length > 0 && memchr(e.name, 0, e.name_length)))
            return parquet_refuse(self, wrong, error);
        const bool is_nested = e.n_children > 0 || e.repetition == REPEATED;
        code = add_column(self, &e, is_nested, error);
        if (e.n_children == 0)
            self->n_leaves++;
        else if (code == 0 && !pass_children(&walk, e.n_children, 0, &self->n_leaves))
            return parquet_refuse(self, wrong, error);
    }
    return code == 0 && walk.left > 0 ? parquet_refuse(self, wrong, error) : code;
}
