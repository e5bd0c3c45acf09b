/*
 * Growing blocks and the packer that turns a sequence of users into full, encoded blocks. Fed by
 * synth.c and split.c; feeds the store's writer.
 */
#include "store/block_packer.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

void block_arrays_free(struct block_arrays *arrays) {
    free(arrays->start);
    free(arrays->item);
    free(arrays->value);
    free(arrays->time);
    free(arrays->id_bytes);
    free(arrays->id_start);
    memset(arrays, 0, sizeof *arrays);
}

void block_arrays_clear(struct block_arrays *arrays) {
    arrays->n_users = 0;
    arrays->n_ratings = 0;
}

bool block_arrays_room(struct block_arrays *arrays, uint64_t n_ratings, size_t id_length,
                       bool has_times) {
    assert(arrays);
    size_t users = (size_t)arrays->n_users + 2;
    assert(n_ratings <= SIZE_MAX - arrays->n_ratings); /* they are in memory already */
    size_t ratings = (size_t)(arrays->n_ratings + n_ratings);
    if (!memory_reserve(&arrays->start, &arrays->start_capacity, users, sizeof *arrays->start) ||
        !memory_reserve(&arrays->id_start, &arrays->id_start_capacity, users,
                        sizeof *arrays->id_start) ||
        !memory_reserve(&arrays->item, &arrays->item_capacity, ratings, sizeof *arrays->item) ||
        !memory_reserve(&arrays->value, &arrays->value_capacity, ratings, sizeof *arrays->value))
        return false;
    if (has_times &&
        !memory_reserve(&arrays->time, &arrays->time_capacity, ratings, sizeof *arrays->time))
        return false;
    if (arrays->n_users == 0) {
        arrays->start[0] = 0;
        arrays->id_start[0] = 0;
    }
    size_t id_bytes = (size_t)arrays->id_start[arrays->n_users];
    assert(id_length <= SIZE_MAX - id_bytes);
    return memory_reserve(&arrays->id_bytes, &arrays->id_bytes_capacity, id_bytes + id_length, 1);
}

void block_arrays_end_user(struct block_arrays *arrays, uint64_t n_ratings, const char *id,
                           size_t id_length) {
    uint64_t at = arrays->id_start[arrays->n_users];
    assert(n_ratings > 0 && id_length > 0);
    assert(arrays->n_users + 1 < arrays->start_capacity);
    assert(arrays->n_ratings + n_ratings <= arrays->item_capacity);
    assert(at + id_length <= arrays->id_bytes_capacity);
    memcpy(arrays->id_bytes + at, id, id_length);
    arrays->n_ratings += n_ratings;
    arrays->n_users++;
    arrays->start[arrays->n_users] = arrays->n_ratings;
    arrays->id_start[arrays->n_users] = at + id_length;
}

bool block_arrays_add(struct block_arrays *arrays, const struct store_block *block, uint32_t i,
                      bool has_times) {
    assert(i < block->n_users && block->start[i] < block->start[i + 1]);
    assert(!has_times || block->time);
    uint64_t from = block->start[i];
    size_t n = (size_t)(block->start[i + 1] - from);
    const char *id = block->id_bytes + block->id_start[i];
    size_t id_length = (size_t)(block->id_start[i + 1] - block->id_start[i]);
    if (!block_arrays_room(arrays, n, id_length, has_times)) return false;
    uint64_t to = arrays->n_ratings;
    memcpy(arrays->item + to, block->item + from, n * sizeof *block->item);
    memcpy(arrays->value + to, block->value + from, n * sizeof *block->value);
    if (has_times) memcpy(arrays->time + to, block->time + from, n * sizeof *block->time);
    block_arrays_end_user(arrays, n, id, id_length);
    return true;
}

struct store_block block_arrays_view(const struct block_arrays *arrays, uint64_t first_user) {
    return (struct store_block){
        .first_user = first_user,
        .n_users = arrays->n_users,
        .n_ratings = arrays->n_ratings,
        .start = arrays->start,
        .item = arrays->item,
        .value = arrays->value,
        .time = arrays->time,
        .id_bytes = arrays->id_bytes,
        .id_start = arrays->id_start,
    };
}

/* Whether a user with n_ratings ratings belongs in the next block. */
static bool is_full(const struct block_arrays *arrays, uint64_t n_ratings) {
    assert(n_ratings > 0);
    if (arrays->n_users == 0) return false;
    return arrays->n_users >= STORE_BLOCK_USERS || n_ratings > STORE_BLOCK_RATINGS ||
           arrays->n_ratings > STORE_BLOCK_RATINGS - n_ratings;
}

void block_packer_init(struct block_packer *packer, struct store_writer *writer, bool has_times) {
    assert(packer && writer);
    memset(packer, 0, sizeof *packer);
    packer->writer = writer;
    packer->has_times = has_times;
}

void block_packer_free(struct block_packer *packer) {
    block_arrays_free(&packer->pending);
    store_encoded_free(&packer->encoded);
}

int block_packer_flush(struct block_packer *packer, struct dpmf_error *error) {
    if (packer->pending.n_users == 0) return 0;
    struct store_block block = block_arrays_view(&packer->pending, packer->n_users);
    int code = store_block_encode(&block, packer->has_times, &packer->encoded, error);
    if (code == 0) code = store_writer_append(packer->writer, &packer->encoded, error);
    if (code != 0) return code;
    packer->n_users += block.n_users;
    packer->n_ratings += block.n_ratings;
    block_arrays_clear(&packer->pending);
    return 0;
}

int block_packer_add(struct block_packer *packer, const struct store_block *block,
                     struct dpmf_error *error) {
    assert(packer->writer && block);
    for (uint32_t i = 0; i < block->n_users; i++) {
        if (is_full(&packer->pending, block->start[i + 1] - block->start[i])) {
            int code = block_packer_flush(packer, error);
            if (code != 0) return code;
        }
        if (!block_arrays_add(&packer->pending, block, i, packer->has_times))
            return error_no_memory(error);
    }
    return 0;
}
