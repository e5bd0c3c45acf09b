/*
 * Ratings as a private run packs them, user by user, with a record inserted and without. Include
 * after cmocka.
 */
#ifndef DPMF_TESTS_INSERT_PACKED_H
#define DPMF_TESTS_INSERT_PACKED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/threads.h"
#include "privacy/private_ratings.h"
#include "release/release_input.h"

enum { USERS_MAX = 16, USER_BYTES = 400 };

/* Every user's ratings in the order of the catalogue, as bytes, sorted. */
struct packed {
    char user[USERS_MAX][USER_BYTES];
    size_t n;
};

static inline int take_user(void *self, int worker, const struct private_user *user,
                            struct dpmf_error *error) {
    struct packed *packed = self;
    char *at = packed->user[packed->n++];
    (void)worker;
    (void)error;
    assert_true(packed->n <= USERS_MAX && user->n * 20 < USER_BYTES);
    for (size_t i = 0; i < user->n; i++) {
        uint32_t bits;
        memcpy(&bits, &user->y[i], sizeof bits);
        at += sprintf(at, "%u %08x ", (unsigned)user->row[i], (unsigned)bits);
    }
    sprintf(at, "%g", user->scale);
    return 0;
}

static inline int compare_users(const void *a, const void *b) { return strcmp(a, b); }

/* Every user's events, their counts and times, in no order: each as a checksum, these added up.
 * What a mechanism makes of them is a function of that user's. */
static inline void pack_events(const struct dpmf_store *store, struct packed *packed) {
    struct store_raw raw = {0};
    struct store_space space = {0};
    struct store_block block;
    assert_true(store_layout_is_by_record(store_layout_of(store)));
    memset(packed, 0, sizeof *packed);
    for (uint64_t b = 0; b < store_n_blocks(store); b++) {
        assert_int_equal(store_block_read(store, b, &raw, NULL), 0);
        assert_int_equal(store_block_decode(store, &raw,
                                            STORE_WANT_VALUE | STORE_WANT_TIME | STORE_WANT_IDS,
                                            &space, &block, NULL),
                         0);
        for (uint32_t u = 0; u < block.n_users; u++) {
            uint64_t sum = 0;
            const uint64_t id = block.id_start[u];
            for (uint64_t r = block.start[u]; r < block.start[u + 1]; r++) {
                const struct store_item item = store_item_at(store, block.item[r]);
                const int64_t of_event[] = {(int64_t)block.value[r],
                                            block.time ? block.time[r] : STORE_NO_TIME};
                assert_true(store_count_is(block.value[r]));
                sum += checksum64_seeded(of_event, sizeof of_event,
                                         checksum64(item.id, item.id_length));
            }
            assert_true(packed->n < USERS_MAX);
            sprintf(packed->user[packed->n++], "%016llx %016llx",
                    (unsigned long long)checksum64(block.id_bytes + id,
                                                   (size_t)(block.id_start[u + 1] - id)),
                    (unsigned long long)sum);
        }
    }
    free(raw.buffer.bytes);
    store_space_free(&space);
    qsort(packed->user, packed->n, sizeof packed->user[0], compare_users);
}

static inline void pack(struct dpmf_store *store, struct packed *packed) {
    struct catalogue catalogue = {0};
    struct private_ratings *ratings = NULL;
    struct private_ratings_report report;
    struct thread_pool *pool = NULL;
    const struct dpmf_run run = dpmf_run_default();
    const struct private_ratings_options options = {.range_min = 0,
                                                    .range_max = 5,
                                                    .catalogue = &catalogue,
                                                    .epsilon = 1,
                                                    .delta = 1e-5,
                                                    .memory = 1 << 20,
                                                    .threads = 1};
    const struct private_visit visit = {.visit = take_user, .self = packed};
    if (store_holds_events(store)) {
        pack_events(store, packed);
        return;
    }
    memset(packed, 0, sizeof *packed);
    assert_int_equal(release_input_check(store, false, NULL), 0);
    assert_int_equal(catalogue_take("catalogue", store, &run, &catalogue, NULL), 0);
    assert_int_equal(private_ratings_build(store, &options, &run, &ratings, &report, NULL), 0);
    assert_int_equal(thread_pool_init(&pool, 1, NULL), 0);
    assert_int_equal(private_ratings_visit(ratings, pool, &visit, NULL), 0);
    thread_pool_free(pool);
    private_ratings_free(ratings);
    catalogue_free(&catalogue);
    qsort(packed->user, packed->n, sizeof packed->user[0], compare_users);
}

/* All of `base` is in `with`, which has one user more at most. */
static inline void expect_others(const struct packed *base, const struct packed *with) {
    size_t found = 0;
    for (size_t i = 0; i < with->n && found < base->n; i++)
        found += strcmp(base->user[found], with->user[i]) == 0;
    assert_int_equal(found, base->n);
    assert_true(with->n <= base->n + 1);
}

#endif
