/*
 * Turns a block of users into its bytes (docs/formats/dpr.md, "Block"). Fed by the importer, the
 * generator and the splitter, in any thread; feeds store_writer_append.
 */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/checksum.h"
#include "base/error.h"
#include "store/store_format.h"

/* The distinct values of a block and their codes: open addressing over the values' bits. */
struct value_table {
    uint64_t bits[2 * STORE_TABLE_MAX];
    uint16_t code_plus_1[2 * STORE_TABLE_MAX];
    double value[STORE_TABLE_MAX]; /* by code */
    size_t n;
};

static size_t value_slot(const struct value_table *table, uint64_t bits) {
    size_t slot = (size_t)((bits * UINT64_C(0x9E3779B97F4A7C15)) >> 55);
    while (table->code_plus_1[slot] && table->bits[slot] != bits)
        slot = (slot + 1) % (2 * STORE_TABLE_MAX);
    return slot;
}

/* @return false when there are more than STORE_TABLE_MAX distinct values */
static bool value_table_fill(struct value_table *table, const double *value, uint64_t n) {
    assert(table && value && n > 0);
    memset(table, 0, sizeof *table);
    uint64_t last = ~bytes_of_double(value[0]);
    for (uint64_t r = 0; r < n; r++) {
        uint64_t bits = bytes_of_double(value[r]);
        if (bits == last) continue;
        last = bits;
        size_t slot = value_slot(table, bits);
        if (table->code_plus_1[slot]) continue;
        if (table->n == STORE_TABLE_MAX) return false;
        table->value[table->n++] = value[r];
        table->bits[slot] = bits;
        table->code_plus_1[slot] = (uint16_t)table->n;
    }
    return true;
}

/* By value, and -0 before 0: the same block gives the same bytes whatever its order of arrival. */
static int compare_values(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    if (x != y) return x < y ? -1 : 1;
    return (int)signbit(y) - (int)signbit(x);
}

static void value_table_sort(struct value_table *table) {
    qsort(table->value, table->n, sizeof table->value[0], compare_values);
    for (size_t code = 0; code < table->n; code++)
        table->code_plus_1[value_slot(table, bytes_of_double(table->value[code]))] =
            (uint16_t)(code + 1);
}

static uint8_t *put_table(uint8_t *at, const struct value_table *table, const double *value,
                          uint64_t n) {
    *at++ = STORE_VALUES_TABLE;
    at = varint_put(at, table->n);
    for (size_t i = 0; i < table->n; i++, at += 8)
        bytes_put_u64(at, bytes_of_double(table->value[i]));

    int bits = store_code_bits(table->n);
    if (bits == 0) return at;
    unsigned byte = 0;
    int filled = 0;
    for (uint64_t r = 0; r < n; r++) {
        unsigned code = table->code_plus_1[value_slot(table, bytes_of_double(value[r]))] - 1u;
        byte |= code << filled;
        filled += bits;
        if (filled == 8) {
            *at++ = (uint8_t)byte;
            byte = 0;
            filled = 0;
        }
    }
    if (filled) *at++ = (uint8_t)byte;
    return at;
}

static uint8_t *put_values(uint8_t *at, const double *value, uint64_t n) {
    assert(at && value && n > 0);
    struct value_table table;
    if (value_table_fill(&table, value, n)) {
        value_table_sort(&table);
        return put_table(at, &table, value, n);
    }
    bool single = true;
    for (uint64_t r = 0; r < n && single; r++)
        single = fabs(value[r]) <= 3.4028234663852886e38 && (double)(float)value[r] == value[r];
    *at++ = single ? STORE_VALUES_F32 : STORE_VALUES_F64;
    for (uint64_t r = 0; r < n; r++) {
        if (single) {
            float v = (float)value[r];
            uint32_t bits;
            memcpy(&bits, &v, sizeof bits);
            bytes_put_u32(at, bits);
            at += 4;
        } else {
            bytes_put_u64(at, bytes_of_double(value[r]));
            at += 8;
        }
    }
    return at;
}

static uint8_t *put_items(uint8_t *at, const struct store_block *block) {
    assert(at);
    for (uint32_t u = 0; u < block->n_users; u++) {
        uint64_t next = 0; /* the least the next item can be */
        for (uint64_t r = block->start[u]; r < block->start[u + 1]; r++) {
            assert(block->item[r] >= next);
            at = varint_put(at, block->item[r] - next);
            next = (uint64_t)block->item[r] + 1;
        }
    }
    return at;
}

static uint8_t *put_times(uint8_t *at, const struct store_block *block) {
    assert(at && block->time);
    for (uint32_t u = 0; u < block->n_users; u++) {
        uint64_t last = 0;
        for (uint64_t r = block->start[u]; r < block->start[u + 1]; r++) {
            uint64_t time = (uint64_t)block->time[r];
            at = varint_put(at, zigzag((int64_t)(time - last)));
            last = time;
        }
    }
    return at;
}

/* No more than this many bytes are ever needed; they are reserved at once, so that the columns can
 * be written without looking. Sizes are bounded by what is in memory already: no overflow. */
static size_t payload_bound(const struct store_block *block, bool has_times) {
    assert(block->n_users > 0);
    uint64_t n = block->n_ratings;
    return (size_t)(2 * VARINT_MAX * (uint64_t)block->n_users + block->id_start[block->n_users] -
                    block->id_start[0] + 5 * n + 1 + VARINT_MAX + 8 * STORE_TABLE_MAX + 8 * n +
                    (has_times ? VARINT_MAX * n : 0));
}

int store_block_encode(const struct store_block *block, bool has_times, struct store_encoded *out,
                       struct dpmf_error *error) {
    assert(block->n_users > 0 && block->n_ratings > 0);
    assert(block->start[block->n_users] - block->start[0] == block->n_ratings);
    out->bytes.n = 0;
    uint8_t *start = byte_buffer_room(&out->bytes, STORE_BLOCK_HEADER + STORE_CHECKSUM +
                                                       payload_bound(block, has_times));
    if (!start) return error_no_memory(error);

    uint8_t *at = start + STORE_BLOCK_HEADER;
    for (uint32_t u = 0; u < block->n_users; u++) {
        assert(block->start[u + 1] > block->start[u]);
        at = varint_put(at, block->id_start[u + 1] - block->id_start[u]);
        at = varint_put(at, block->start[u + 1] - block->start[u]);
    }
    size_t id_bytes = (size_t)(block->id_start[block->n_users] - block->id_start[0]);
    memcpy(at, block->id_bytes + block->id_start[0], id_bytes);
    at = put_items(at + id_bytes, block);
    at = put_values(at, block->value, block->n_ratings);
    if (has_times) at = put_times(at, block);

    size_t payload = (size_t)(at - start) - STORE_BLOCK_HEADER;
    assert(payload <= payload_bound(block, has_times));
    memcpy(start, STORE_MAGIC_BLOCK, 4);
    bytes_put_u32(start + 4, block->n_users);
    bytes_put_u64(start + 8, block->n_ratings);
    bytes_put_u64(start + 16, block->first_user);
    bytes_put_u64(start + 24, payload);
    bytes_put_u64(at, checksum64(start, STORE_BLOCK_HEADER + payload));

    out->bytes.n = STORE_BLOCK_HEADER + payload + STORE_CHECKSUM;
    out->n_users = block->n_users;
    out->n_ratings = block->n_ratings;
    out->min = out->max = block->value[0];
    for (uint64_t r = 1; r < block->n_ratings; r++) {
        if (block->value[r] < out->min) out->min = block->value[r];
        if (block->value[r] > out->max) out->max = block->value[r];
    }
    return 0;
}

void store_encoded_free(struct store_encoded *encoded) {
    free(encoded->bytes.bytes);
    memset(encoded, 0, sizeof *encoded);
}
