/*
 * The reader of thrift.h. Fed by parquet_footer.c and parquet_pages.c with bytes of a file.
 */
#include "parquet/thrift.h"

#include "base/bytes.h"

enum { DEPTH_MAX = 32 /* structs in lists in structs: Parquet has seven */ };

static void break_off(struct thrift *t) {
    t->broken = true;
    t->at = t->end;
}

static void run_short(struct thrift *t) {
    if (!t->broken) t->is_short = true;
    break_off(t);
}

static uint8_t get_byte(struct thrift *t) {
    if (t->at < t->end) return *t->at++;
    run_short(t);
    return 0;
}

static uint64_t get_varint(struct thrift *t) {
    uint64_t value = 0;
    const uint8_t *after = varint_get(t->at, t->end, &value);
    if (after) {
        t->at = after;
        return value;
    }
    if (t->end - t->at < VARINT_MAX)
        run_short(t);
    else
        break_off(t);
    return 0;
}

static bool has(struct thrift *t, uint64_t n) {
    if (n <= (uint64_t)(t->end - t->at)) return true;
    run_short(t);
    return false;
}

bool thrift_next(struct thrift *t, struct thrift_field *field) {
    const uint8_t head = get_byte(t);
    field->type = (enum thrift_type)(head & 15);
    if (t->broken || field->type == THRIFT_STOP) return false;
    const int64_t id = head >> 4 ? field->id + (head >> 4) : unzigzag(get_varint(t));
    if (field->type > THRIFT_UUID || id < 0 || id > INT16_MAX) break_off(t);
    field->id = (int)id;
    return !t->broken;
}

int64_t thrift_whole(struct thrift *t, const struct thrift_field *field) {
    if (field->type == THRIFT_I8) return (int8_t)get_byte(t);
    if (field->type >= THRIFT_I16 && field->type <= THRIFT_I64) return unzigzag(get_varint(t));
    break_off(t);
    return 0;
}

bool thrift_truth(struct thrift *t, const struct thrift_field *field) {
    if (field->type != THRIFT_TRUE && field->type != THRIFT_FALSE) break_off(t);
    return field->type == THRIFT_TRUE;
}

const uint8_t *thrift_bytes(struct thrift *t, const struct thrift_field *field, size_t *n) {
    *n = 0;
    if (field->type != THRIFT_BINARY) break_off(t);
    const uint64_t length = get_varint(t);
    if (t->broken || !has(t, length)) return NULL;
    const uint8_t *bytes = t->at;
    t->at += length;
    *n = (size_t)length;
    return bytes;
}

bool thrift_begin_struct(struct thrift *t, const struct thrift_field *field) {
    if (field->type != THRIFT_STRUCT) break_off(t);
    return !t->broken;
}

/* A value takes a byte at least. */
static size_t begin_elements(struct thrift *t, enum thrift_type *type) {
    const uint8_t head = get_byte(t);
    const uint64_t n = head >> 4 == 15 ? get_varint(t) : head >> 4;
    *type = (enum thrift_type)(head & 15);
    return !t->broken && has(t, n) ? (size_t)n : 0;
}

size_t thrift_begin_list(struct thrift *t, const struct thrift_field *field,
                         enum thrift_type type) {
    enum thrift_type found = type;
    if (field->type != THRIFT_LIST) break_off(t);
    const size_t n = t->broken ? 0 : begin_elements(t, &found);
    if (n > 0 && found != type) break_off(t);
    return t->broken ? 0 : n;
}

static void skip_value(struct thrift *t, enum thrift_type type, bool in_list, int depth);

static void skip_elements(struct thrift *t, int depth) {
    enum thrift_type type;
    const size_t n = begin_elements(t, &type);
    for (size_t i = 0; i < n && !t->broken; i++) skip_value(t, type, true, depth);
}

static void skip_map(struct thrift *t, int depth) {
    const uint64_t n = get_varint(t);
    if (t->broken || n == 0 || !has(t, n)) return;
    const uint8_t types = get_byte(t);
    for (uint64_t i = 0; i < n && !t->broken; i++) {
        skip_value(t, (enum thrift_type)(types >> 4), true, depth);
        skip_value(t, (enum thrift_type)(types & 15), true, depth);
    }
}

static void skip_bytes(struct thrift *t, uint64_t n) {
    if (!t->broken && has(t, n)) t->at += n;
}

/* Truth values are in the type of a field, but a byte in a list. */
static void skip_value(struct thrift *t, enum thrift_type type, bool in_list, int depth) {
    struct thrift_field field = {0};
    if (depth > DEPTH_MAX) {
        break_off(t);
        return;
    }
    switch (type) {
    case THRIFT_TRUE:
    case THRIFT_FALSE: skip_bytes(t, in_list); return;
    case THRIFT_I8: skip_bytes(t, 1); return;
    case THRIFT_I16:
    case THRIFT_I32:
    case THRIFT_I64: get_varint(t); return;
    case THRIFT_DOUBLE: skip_bytes(t, 8); return;
    case THRIFT_UUID: skip_bytes(t, 16); return;
    case THRIFT_BINARY: skip_bytes(t, get_varint(t)); return;
    case THRIFT_LIST:
    case THRIFT_SET: skip_elements(t, depth + 1); return;
    case THRIFT_MAP: skip_map(t, depth + 1); return;
    case THRIFT_STRUCT:
        while (thrift_next(t, &field)) skip_value(t, field.type, false, depth + 1);
        return;
    default: break_off(t);
    }
}

void thrift_skip(struct thrift *t, const struct thrift_field *field) {
    skip_value(t, field->type, false, 0);
}
