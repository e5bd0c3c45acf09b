/*
 * Turns a block's bytes back into arrays, trusting nothing: the checksum first, then every count
 * against the bytes that could hold it, before any memory is asked for. Fed by the stream and by
 * store_visit, in any thread.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/checksum.h"
#include "base/error.h"
#include "store/store_format.h"
#include "store/store_reader.h"

static int corrupt(const struct dpmf_store *store, uint64_t block, const char *what,
                   struct dpmf_error *error) {
    const struct store_index_entry *entry = store_index_at(store, block);
    int code = error_set(error, DPMF_ERR_STORE_CORRUPT, "block %llu is damaged: %s",
                         (unsigned long long)entry->written_block, what);
    error_place(error, entry->path, 0, 0); /* the file, which may be one of several */
    error_hint(error, "import the ratings again; this file cannot be trusted");
    return code;
}

/* Where the columns of a payload are, as they are found. */
struct cursor {
    const uint8_t *at, *end;
};

static size_t left(const struct cursor *cursor) { return (size_t)(cursor->end - cursor->at); }

static bool get_users(struct cursor *cursor, struct store_block *block, uint64_t *start,
                      uint64_t *id_start) {
    uint64_t ratings = 0, id_bytes = 0;
    for (uint32_t u = 0; u < block->n_users; u++) {
        uint64_t id_length, count;
        cursor->at = varint_get(cursor->at, cursor->end, &id_length);
        if (!cursor->at) return false;
        cursor->at = varint_get(cursor->at, cursor->end, &count);
        if (!cursor->at) return false;
        if (id_length == 0 || id_length > STORE_ID_MAX) return false;
        if (count == 0 || count > block->n_ratings - ratings) return false;
        start[u] = ratings;
        id_start[u] = id_bytes;
        ratings += count;
        id_bytes += id_length;
    }
    start[block->n_users] = ratings;
    id_start[block->n_users] = id_bytes;
    if (ratings != block->n_ratings || id_bytes > left(cursor)) return false;
    block->id_bytes = (const char *)cursor->at;
    cursor->at += id_bytes;
    return true;
}

/* One user's items. Almost every gap is one byte, so that case is kept short; with room for the
 * longest gaps no byte needs to be checked against the end. Sums are 64 bits wide and cannot wrap:
 * fewer than 2^32 gaps of less than 2^35 each. */
static const uint8_t *get_user_items(const uint8_t *at, const uint8_t *end, uint32_t *item,
                                     uint64_t n, uint64_t n_items) {
    assert(at <= end && n > 0);
    enum { GAP_MAX = 5 };
    uint64_t next = 0;
    if ((uint64_t)(end - at) / GAP_MAX >= n) {
        for (uint64_t r = 0; r < n; r++) {
            uint64_t gap = *at++;
            if (gap >= 0x80) {
                gap &= 0x7f;
                int shift = 7;
                uint64_t byte;
                do {
                    if (shift > 28) return NULL;
                    byte = *at++;
                    gap |= (byte & 0x7f) << shift;
                    shift += 7;
                } while (byte >= 0x80);
            }
            next += gap;
            item[r] = (uint32_t)next++;
        }
    } else {
        for (uint64_t r = 0; r < n; r++) {
            uint64_t gap;
            at = varint_get(at, end, &gap);
            if (!at || gap >= n_items) return NULL;
            next += gap;
            item[r] = (uint32_t)next++;
        }
    }
    return next <= n_items ? at : NULL; /* increasing, so the last one speaks for all */
}

static bool get_items(struct cursor *cursor, const struct store_block *block, uint32_t *item,
                      uint64_t n_items) {
    for (uint32_t u = 0; u < block->n_users; u++) {
        uint64_t from = block->start[u], n = block->start[u + 1] - from;
        cursor->at = get_user_items(cursor->at, cursor->end, item + from, n, n_items);
        if (!cursor->at) return false;
    }
    return true;
}

/* ---- values ---------------------------------------------------------------------------------- */

struct value_out {
    double *exact; /* either may be NULL */
    float *single; /* less base */
    double base;
    bool counts; /* the values are counts of events */
};

static bool is_value(const struct value_out *out, double value) {
    return out->counts ? store_count_is(value) : isfinite(value);
}

static void put_value(const struct value_out *out, uint64_t r, double value) {
    assert(out);
    if (out->exact) out->exact[r] = value;
    if (out->single) out->single[r] = (float)(value - out->base);
}

/* Codes of `bits` bits. Two loops, so that each is one lookup and one store a rating. */
static bool get_codes(struct cursor *cursor, int bits, const double *table, size_t n_values,
                      uint64_t n, const struct value_out *out) {
    assert(bits >= 0 && bits <= 8);
    assert(table && n_values > 0);
    uint64_t n_bytes = (n * (uint64_t)bits + 7) / 8;
    if (n_bytes > left(cursor)) return false;
    const uint8_t *code_bytes = cursor->at;
    cursor->at += n_bytes;

    /* A code past the table decodes to NaN, which no table holds. */
    double wide[STORE_TABLE_MAX];
    float narrow[STORE_TABLE_MAX];
    for (size_t i = 0; i < STORE_TABLE_MAX; i++) {
        wide[i] = i < n_values ? table[i] : (double)NAN;
        narrow[i] = (float)(wide[i] - out->base);
    }
    unsigned mask = (1u << bits) - 1u;
    unsigned past = 0; /* codes past the table, any */
    if (bits == 0) {
        for (uint64_t r = 0; r < n; r++) put_value(out, r, table[0]);
        return true;
    }
    int per_byte_shift = bits == 8 ? 0 : bits == 4 ? 1 : bits == 2 ? 2 : 3;
    unsigned in_byte = (1u << per_byte_shift) - 1u;
    if (out->exact) {
        for (uint64_t r = 0; r < n; r++) {
            unsigned shift = ((unsigned)r & in_byte) * (unsigned)bits;
            unsigned code = ((unsigned)code_bytes[r >> per_byte_shift] >> shift) & mask;
            past |= code >= n_values;
            out->exact[r] = wide[code];
        }
    }
    if (out->single) {
        for (uint64_t r = 0; r < n; r++) {
            unsigned shift = ((unsigned)r & in_byte) * (unsigned)bits;
            unsigned code = ((unsigned)code_bytes[r >> per_byte_shift] >> shift) & mask;
            past |= code >= n_values;
            out->single[r] = narrow[code];
        }
    }
    return !past;
}

static bool get_table(struct cursor *cursor, uint64_t n, const struct value_out *out) {
    uint64_t n_values;
    cursor->at = varint_get(cursor->at, cursor->end, &n_values);
    if (!cursor->at || n_values == 0 || n_values > STORE_TABLE_MAX) return false;
    if (left(cursor) < 8 * n_values) return false;
    double table[STORE_TABLE_MAX];
    for (size_t i = 0; i < n_values; i++, cursor->at += 8) {
        table[i] = bytes_to_double(bytes_get_u64(cursor->at));
        if (!is_value(out, table[i])) return false;
    }
    return get_codes(cursor, store_code_bits((size_t)n_values), table, (size_t)n_values, n, out);
}

static bool get_raw_values(struct cursor *cursor, uint64_t n, size_t width,
                           const struct value_out *out) {
    assert(width == 4 || width == 8);
    if (left(cursor) / width < n) return false;
    for (uint64_t r = 0; r < n; r++, cursor->at += width) {
        double value;
        if (width == 8) {
            value = bytes_to_double(bytes_get_u64(cursor->at));
        } else {
            uint32_t bits = bytes_get_u32(cursor->at);
            float single;
            memcpy(&single, &bits, sizeof single);
            value = single;
        }
        if (!is_value(out, value)) return false;
        put_value(out, r, value);
    }
    return true;
}

static bool get_values(struct cursor *cursor, uint64_t n, const struct value_out *out) {
    if (left(cursor) == 0) return false;
    switch (*cursor->at++) {
    case STORE_VALUES_TABLE: return get_table(cursor, n, out);
    case STORE_VALUES_F32: return get_raw_values(cursor, n, 4, out);
    case STORE_VALUES_F64: return get_raw_values(cursor, n, 8, out);
    default: return false;
    }
}

/* `time` may be NULL: then they are only skipped. */
static bool get_times(struct cursor *cursor, const struct store_block *block, int64_t *time) {
    for (uint32_t u = 0; u < block->n_users; u++) {
        uint64_t last = 0;
        for (uint64_t r = block->start[u]; r < block->start[u + 1]; r++) {
            uint64_t step;
            cursor->at = varint_get(cursor->at, cursor->end, &step);
            if (!cursor->at) return false;
            last += (uint64_t)unzigzag(step);
            if (time) time[r] = (int64_t)last;
        }
    }
    return true;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool reserve_space(struct store_space *space, const struct store_block *block, unsigned want,
                          bool has_times) {
    assert(space && block);
    size_t users = (size_t)block->n_users + 1, n = (size_t)block->n_ratings;
    return memory_reserve(&space->start, &space->start_capacity, users, sizeof space->start[0]) &&
           memory_reserve(&space->id_start, &space->id_start_capacity, users,
                          sizeof space->id_start[0]) &&
           memory_reserve(&space->item, &space->item_capacity, n, sizeof space->item[0]) &&
           (!(want & STORE_WANT_VALUE) ||
            memory_reserve(&space->value, &space->value_capacity, n, sizeof space->value[0])) &&
           (!(want & STORE_WANT_VALUE32) ||
            memory_reserve(&space->value32, &space->value32_capacity, n,
                           sizeof space->value32[0])) &&
           (!(want & STORE_WANT_TIME) || !has_times ||
            memory_reserve(&space->time, &space->time_capacity, n, sizeof space->time[0]));
}

void store_space_free(struct store_space *space) {
    free(space->start);
    free(space->item);
    free(space->value);
    free(space->value32);
    free(space->time);
    free(space->id_start);
    memset(space, 0, sizeof *space);
}

int store_block_decode(const struct dpmf_store *store, const struct store_raw *raw, unsigned want,
                       struct store_space *space, struct store_block *out,
                       struct dpmf_error *error) {
    assert(store && raw && space && out);
    assert(raw->block < store->n_blocks);
    const struct store_index_entry *entry = store_index_at(store, raw->block);
    const uint8_t *bytes = raw->buffer.bytes;
    size_t n = raw->buffer.n;
    /* store_block_read read all of it, and store_open refused an index with shorter ones. */
    assert(n == entry->length && n >= STORE_BLOCK_HEADER + STORE_CHECKSUM);
    if (checksum64(bytes, n - STORE_CHECKSUM) != bytes_get_u64(bytes + n - STORE_CHECKSUM))
        return corrupt(store, raw->block, "its checksum does not match", error);
    size_t payload = n - STORE_BLOCK_HEADER - STORE_CHECKSUM;
    if (memcmp(bytes, STORE_MAGIC_BLOCK, 4) != 0 || bytes_get_u32(bytes + 4) != entry->n_users ||
        bytes_get_u64(bytes + 8) != entry->n_ratings ||
        bytes_get_u64(bytes + 16) != entry->written_first || bytes_get_u64(bytes + 24) != payload)
        return corrupt(store, raw->block, "it is not what the index says", error);
    /* store_open has checked n_users and n_ratings against the length, so they are safe to
     * allocate. */

    *out = (struct store_block){.first_user = entry->first_user,
                                .n_users = (uint32_t)entry->n_users,
                                .n_ratings = entry->n_ratings};
    bool has_times = store_has_times(store);
    if (!reserve_space(space, out, want, has_times)) return error_no_memory(error);
    out->start = space->start;
    out->id_start = space->id_start;
    out->item = space->item;
    out->value = want & STORE_WANT_VALUE ? space->value : NULL;
    out->value32 = want & STORE_WANT_VALUE32 ? space->value32 : NULL;
    out->time = want & STORE_WANT_TIME && has_times ? space->time : NULL;

    struct cursor cursor = {bytes + STORE_BLOCK_HEADER, bytes + STORE_BLOCK_HEADER + payload};
    const struct value_out values = {want & STORE_WANT_VALUE ? space->value : NULL,
                                     want & STORE_WANT_VALUE32 ? space->value32 : NULL,
                                     store_base(store), store_holds_events(store)};
    if (!get_users(&cursor, out, space->start, space->id_start))
        return corrupt(store, raw->block, "its users do not add up", error);
    if (!get_items(&cursor, out, space->item, store_n_items(store)))
        return corrupt(store, raw->block, "an item is not in the dictionary", error);
    if (!get_values(&cursor, out->n_ratings, &values))
        return corrupt(store, raw->block, "its ratings cannot be read", error);
    if (has_times && !get_times(&cursor, out, want & STORE_WANT_TIME ? space->time : NULL))
        return corrupt(store, raw->block, "its times cannot be read", error);
    if (cursor.at != cursor.end)
        return corrupt(store, raw->block, "it holds more than it says", error);
    return 0;
}
