/*
 * A store as a list of ratings and back: what tests of the functions on stores compare. Include
 * after cmocka.
 */
#ifndef DPMF_TESTS_STORE_TRIPLES_H
#define DPMF_TESTS_STORE_TRIPLES_H

#include <stdlib.h>
#include <string.h>

#include "store/block_packer.h"
#include "store/store.h"

/* Ids of these tests are at most this long. */
enum { TRIPLE_ID_MAX = 48 };

struct triple {
    char user[TRIPLE_ID_MAX], item[TRIPLE_ID_MAX];
    uint8_t user_length, item_length;
    double value;
    int64_t time;
};

struct triples {
    struct triple *at;
    size_t n, capacity;
};

static inline struct triple triple_make(const char *user, const char *item, double value,
                                        int64_t time) {
    struct triple t = {.value = value, .time = time};
    t.user_length = (uint8_t)strlen(user);
    t.item_length = (uint8_t)strlen(item);
    assert_true(t.user_length <= TRIPLE_ID_MAX && t.item_length <= TRIPLE_ID_MAX);
    memcpy(t.user, user, t.user_length);
    memcpy(t.item, item, t.item_length);
    return t;
}

static inline void triples_add(struct triples *triples, struct triple t) {
    if (triples->n == triples->capacity) {
        triples->capacity = 2 * triples->capacity + 64;
        triples->at = realloc(triples->at, triples->capacity * sizeof *triples->at);
        assert_non_null(triples->at);
    }
    triples->at[triples->n++] = t;
}

static inline int triple_compare_ids(const void *a, const void *b) {
    const struct triple *x = a, *y = b;
    int order = memcmp(x->user, y->user, TRIPLE_ID_MAX);
    if (order == 0) order = (int)x->user_length - (int)y->user_length;
    if (order == 0) order = memcmp(x->item, y->item, TRIPLE_ID_MAX);
    return order != 0 ? order : (int)x->item_length - (int)y->item_length;
}

static inline void triples_sort(struct triples *triples) {
    if (triples->n > 0) qsort(triples->at, triples->n, sizeof *triples->at, triple_compare_ids);
}

/* Both sorted; values are compared bit by bit. */
static inline void triples_assert_equal(const struct triples *a, const struct triples *b) {
    assert_int_equal(a->n, b->n);
    for (size_t i = 0; i < a->n; i++) {
        assert_int_equal(triple_compare_ids(&a->at[i], &b->at[i]), 0);
        assert_memory_equal(&a->at[i].value, &b->at[i].value, sizeof(double));
        assert_int_equal(a->at[i].time, b->at[i].time);
    }
}

/* Every rating of the store, in its order. */
static inline void triples_of_store(const struct dpmf_store *store, struct triples *out) {
    struct store_raw raw = {0};
    struct store_space space = {0};
    out->n = 0;
    for (uint64_t b = 0; b < store_n_blocks(store); b++) {
        struct store_block block;
        assert_int_equal(store_block_read(store, b, &raw, NULL), 0);
        assert_int_equal(store_block_decode(store, &raw,
                                            STORE_WANT_VALUE | STORE_WANT_TIME | STORE_WANT_IDS,
                                            &space, &block, NULL),
                         0);
        for (uint32_t i = 0; i < block.n_users; i++) {
            size_t length = (size_t)(block.id_start[i + 1] - block.id_start[i]);
            assert_true(length <= TRIPLE_ID_MAX);
            for (uint64_t r = block.start[i]; r < block.start[i + 1]; r++) {
                struct store_item item = store_item_at(store, block.item[r]);
                assert_true(item.id_length <= TRIPLE_ID_MAX);
                struct triple t = {.value = block.value[r],
                                   .time = block.time ? block.time[r] : STORE_NO_TIME,
                                   .user_length = (uint8_t)length,
                                   .item_length = (uint8_t)item.id_length};
                memcpy(t.user, block.id_bytes + block.id_start[i], length);
                memcpy(t.item, item.id, item.id_length);
                triples_add(out, t);
            }
        }
    }
    free(raw.buffer.bytes);
    store_space_free(&space);
}

static inline void triples_of_file(const char *path, struct triples *out) {
    struct dpmf_store *store;
    assert_int_equal(store_open_file(path, &store, NULL), 0);
    triples_of_store(store, out);
    dpmf_store_close(store);
}

static inline int triple_compare_items(const void *a, const void *b) {
    const struct triple *x = *(const struct triple *const *)a,
                        *y = *(const struct triple *const *)b;
    int order = memcmp(x->item, y->item, TRIPLE_ID_MAX);
    return order != 0 ? order : (int)x->item_length - (int)y->item_length;
}

/* Writes the ratings, which must be sorted, as a store. Items are numbered in the order of their
 * ids, or backwards. */
static inline void triples_write(const struct triples *triples, bool has_times, bool backwards,
                                 const char *path) {
    size_t n = triples->n, n_items = 0;
    const struct triple **by_item = malloc((n + 1) * sizeof *by_item);
    uint32_t *number = malloc((n + 1) * sizeof *number);
    struct store_item *items = calloc(n + 1, sizeof *items);
    assert_true(by_item && number && items);
    for (size_t i = 0; i < n; i++) by_item[i] = &triples->at[i];
    qsort(by_item, n, sizeof *by_item, triple_compare_items);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || triple_compare_items(&by_item[i], &by_item[i - 1]) != 0)
            items[n_items++] = (struct store_item){by_item[i]->item, by_item[i]->item_length, 0};
        items[n_items - 1].n_ratings++;
        number[by_item[i] - triples->at] = (uint32_t)(n_items - 1);
    }
    for (size_t i = 0; backwards && i < n; i++) number[i] = (uint32_t)(n_items - 1 - number[i]);
    for (size_t i = 0; backwards && i < n_items / 2; i++) {
        struct store_item t = items[i];
        items[i] = items[n_items - 1 - i];
        items[n_items - 1 - i] = t;
    }

    struct store_writer *writer;
    struct block_packer packer;
    struct block_arrays user = {0};
    const struct store_layout layout = store_layout_declared();
    assert_int_equal(store_writer_open(&writer, path, has_times, &layout, NULL), 0);
    block_packer_init(&packer, writer, has_times);
    for (size_t i = 0, end; i < n; i = end) {
        const struct triple *t = &triples->at[i];
        for (end = i + 1; end < n && triples->at[end].user_length == t->user_length &&
                          memcmp(triples->at[end].user, t->user, TRIPLE_ID_MAX) == 0;)
            end++;
        block_arrays_clear(&user);
        assert_true(block_arrays_room(&user, end - i, t->user_length, has_times));
        for (size_t j = i; j < end; j++) {
            size_t place = backwards ? end - 1 - (j - i) : j; /* item numbers must increase */
            user.item[j - i] = number[place];
            user.value[j - i] = triples->at[place].value;
            if (has_times) user.time[j - i] = triples->at[place].time;
        }
        block_arrays_end_user(&user, end - i, t->user, t->user_length);
        struct store_block block = block_arrays_view(&user, 0);
        assert_int_equal(block_packer_add(&packer, &block, NULL), 0);
    }
    assert_int_equal(block_packer_flush(&packer, NULL), 0);
    assert_int_equal(store_writer_finish(writer, items, n_items, NULL), 0);
    assert_int_equal(store_writer_commit(writer, NULL, NULL), 0);
    block_packer_free(&packer);
    block_arrays_free(&user);
    free(by_item);
    free(number);
    free(items);
}

#endif
