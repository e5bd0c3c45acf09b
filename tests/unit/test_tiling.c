/*
 * Tiles: every rating is in exactly one chunk, of the superblock and group it belongs to; what a
 * kernel relies on holds for every chunk; tiles that are streamed are the same as tiles in memory,
 * within the memory they were given; and chunks that were packed are what they were.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cache_shapes.h"
#include "kernels/row_layout.h"
#include "schedule/tile_build.h"
#include "schedule/tile_pack.h"
#include "schedule/tiling.h"
#include "store/store.h"
#include "temp_dir.h"

    static struct temp_dir directory;
static char path[TEMP_PATH_MAX];

enum { USERS = 900, ITEMS = 400, RATINGS = 30000 };

static int make_store(void **state) {
    (void)state;
    temp_dir_make(&directory);
    temp_dir_file(&directory, "x.dpr", path);
    struct dpmf_synth_options options = dpmf_synth_options_default();
    options.users = USERS;
    options.items = ITEMS;
    options.ratings = RATINGS;
    return dpmf_synth(path, &options, NULL, NULL, NULL);
}

static int remove_store(void **state) {
    (void)state;
    temp_dir_remove(&directory);
    return 0;
}

/* The store's ratings as a table of float, 0 where there is none (the scale is 1 to 5). */
static float *read_table(const struct dpmf_store *store) {
    float *table = calloc((size_t)USERS * ITEMS, sizeof *table);
    assert_non_null(table);
    struct store_raw raw = {0};
    struct store_space space = {0};
    for (uint64_t b = 0; b < store_n_blocks(store); b++) {
        struct store_block block;
        assert_int_equal(store_block_read(store, b, &raw, NULL), 0);
        assert_int_equal(store_block_decode(store, &raw, STORE_WANT_VALUE32, &space, &block, NULL),
                         0);
        for (uint32_t u = 0; u < block.n_users; u++)
            for (uint64_t r = block.start[u]; r < block.start[u + 1]; r++)
                table[(block.first_user + u) * ITEMS + block.item[r]] = block.value32[r];
    }
    free(raw.buffer.bytes);
    store_space_free(&space);
    return table;
}

/* Takes a rating out of the table: it must be there, and is then gone. */
static void take(float *table, const struct tiling *tiling, uint64_t user, uint64_t row,
                 float value) {
    assert_true(user < USERS && row < ITEMS);
    float *cell = &table[user * ITEMS + tiling_item_of_row(tiling, row)];
    assert_true(*cell == value);
    *cell = 0;
}

static uint64_t check_chunk(float *table, const struct tiling *tiling,
                            const struct kernel_chunk *chunk, uint64_t first_user, size_t group) {
    uint64_t first_row, n_rows;
    bool user_resident;
    tiling_group(tiling, group, &first_row, &n_rows, &user_resident);
    assert_true(chunk->n >= 1 && chunk->n <= KERNEL_LANES);
    for (uint32_t i = 0; i < KERNEL_LANES; i++) {
        uint64_t row = user_resident ? chunk->moving[i] : chunk->resident;
        uint64_t user = first_user + (user_resident ? chunk->resident : chunk->moving[i]);
        if (i >= chunk->n) { /* a spare row, never a real one */
            if (user_resident)
                assert_true(row >= ITEMS && row < ITEMS + TILING_SPARE_ROWS);
            else if (tiling_is_streamed(tiling))
                assert_int_equal(chunk->moving[i], tiling_users_a_superblock(tiling));
            else
                assert_true(user >= USERS && user < USERS + TILING_SPARE_ROWS);
            assert_true(chunk->rating[i] == 0);
            continue;
        }
        assert_true(row >= first_row && row < first_row + n_rows);
        for (uint32_t j = 0; j < i; j++) assert_int_not_equal(chunk->moving[i], chunk->moving[j]);
        take(table, tiling, user, row, chunk->rating[i]);
    }
    return chunk->n;
}

/* A tile's chunks, unpacked a few at a time where they are packed. */
static uint64_t check_tile(float *table, const struct tiling *tiling, size_t s, size_t g,
                           uint64_t first_user, const uint8_t *packed) {
    enum { AT_ONCE = 5 };
    struct tile tile = tiling_tile(tiling, s, g);
    struct kernel_chunk unpacked[AT_ONCE + KERNEL_AHEAD];
    const struct kernel_chunk *chunks = packed ? unpacked : tiling_chunks(tiling, s) + tile.first;
    const uint8_t *at = NULL;
    uint64_t n = 0;
    for (uint64_t c = 0; c < tile.n; c += AT_ONCE) {
        size_t m = tile.n - c < AT_ONCE ? (size_t)(tile.n - c) : AT_ONCE;
        if (packed) tiling_unpack(tiling, s, g, packed, &at, m, unpacked);
        for (size_t i = 0; i < m; i++)
            n += check_chunk(table, tiling, packed ? &chunks[i] : &chunks[c + i], first_user, g);
    }
    assert_int_equal(n, tile.n_ratings);
    return n;
}

static void check_tiling(const struct dpmf_store *store, const struct tiling *tiling) {
    float *table = read_table(store);
    uint8_t *packed = NULL;
    if (tiling_is_streamed(tiling)) {
        packed = malloc(tiling_packed_bytes(tiling));
        assert_non_null(packed);
    }
    uint64_t total = 0, next_user = 0;
    for (size_t s = 0; s < tiling_n_superblocks(tiling); s++) {
        uint64_t first_user, n_users, n = 0;
        tiling_superblock_users(tiling, s, &first_user, &n_users);
        assert_int_equal(first_user, next_user);
        assert_true(n_users <= tiling_users_a_superblock(tiling));
        next_user += n_users;
        if (packed) assert_int_equal(tiling_packed_read(tiling, s, packed, NULL), 0);
        for (size_t g = 0; g < tiling_n_groups(tiling); g++)
            n += check_tile(table, tiling, s, g, first_user, packed);
        assert_int_equal(n, tiling_superblock_ratings(tiling, s));
        total += n;
    }
    assert_int_equal(next_user, USERS);
    assert_int_equal(total, RATINGS);
    for (size_t i = 0; i < (size_t)USERS * ITEMS; i++) assert_true(table[i] == 0);
    free(packed);
    free(table);
}

static struct host_caches caches; /* the shape that the tests are run for */

static struct tiling_options in_memory(size_t k, int lanes) {
    return (struct tiling_options){.kernels = kernel_set_choose(NULL),
                                   .k = k,
                                   .caches = caches,
                                   .threads = 2,
                                   .lanes = lanes,
                                   .memory_whole = (uint64_t)1 << 30,
                                   .memory_build = (uint64_t)1 << 30};
}

static struct tiling_options streamed(size_t k, int lanes) {
    struct tiling_options options = in_memory(k, lanes);
    options.memory_whole = 0;
    options.memory_streamed = (uint64_t)1 << 28;
    options.slots = (size_t)lanes + 1;
    return options;
}

static void test_every_rating_once(void **state) {
    (void)state;
    struct dpmf_store *store;
    assert_int_equal(store_open_file(path, &store, NULL), 0);
    const size_t ks[] = {1, 8, 16, 64, 100, 1024, 4096};
    for (size_t i = 0; i < sizeof ks / sizeof ks[0]; i++)
        for (int lanes = 1; lanes <= 8; lanes += 7)
            for (int on_disk = 0; on_disk < 2; on_disk++) {
                const struct tiling_options options =
                    on_disk ? streamed(ks[i], lanes) : in_memory(ks[i], lanes);
                struct tiling *tiling;
                assert_int_equal(tiling_build(store, &options, NULL, &tiling, NULL), 0);
                assert_int_equal(tiling_is_streamed(tiling), on_disk);
                assert_true(tiling_mean_rating(tiling) > 1 && tiling_mean_rating(tiling) < 5);
                check_tiling(store, tiling);
                tiling_free(tiling);
            }
    dpmf_store_close(store);
}

static void test_paper_tiers(void **state) {
    (void)state;
    struct dpmf_store *store;
    struct tiling *tiling;
    const uint64_t ends[] = {50, 150};
    assert_int_equal(store_open_file(path, &store, NULL), 0);
    struct tiling_options options = in_memory(64, 1);
    options.tier_ends = ends;
    options.n_tiers = 2;
    assert_int_equal(tiling_build(store, &options, NULL, &tiling, NULL), 0);
    assert_int_equal(tiling_n_groups(tiling), 3);
    uint64_t first, n;
    bool user_resident;
    tiling_group(tiling, 1, &first, &n, &user_resident);
    assert_int_equal(first, 50);
    assert_int_equal(n, 100);
    check_tiling(store, tiling);
    tiling_free(tiling);
    dpmf_store_close(store);
}

/* Rows are by popularity: a row is never rated more than the one before. */
static void test_rows_by_popularity(void **state) {
    (void)state;
    struct dpmf_store *store;
    struct tiling *tiling;
    assert_int_equal(store_open_file(path, &store, NULL), 0);
    const struct tiling_options options = in_memory(16, 2);
    assert_int_equal(tiling_build(store, &options, NULL, &tiling, NULL), 0);
    uint64_t last = UINT64_MAX;
    for (uint64_t row = 0; row < ITEMS; row++) {
        uint32_t item = tiling_item_of_row(tiling, row);
        assert_int_equal(tiling->row_of_item[item], row);
        assert_true(store_item_at(store, item).n_ratings <= last);
        last = store_item_at(store, item).n_ratings;
    }
    tiling_free(tiling);
    dpmf_store_close(store);
}

/* With less and less memory, superblocks get smaller and still fit; then it says how much more
 * would do, and that does. */
static void test_within_memory(void **state) {
    (void)state;
    struct dpmf_store *store;
    assert_int_equal(store_open_file(path, &store, NULL), 0);
    uint64_t last_users = UINT64_MAX, missing = 0, refused = 0;
    for (uint64_t memory = 1 << 20; memory > 1 << 12; memory -= memory / 4) {
        struct tiling_options options = streamed(16, 2);
        struct tiling *tiling;
        struct dpmf_error error;
        options.memory_streamed = memory;
        options.missing = &missing;
        int code = tiling_build(store, &options, NULL, &tiling, &error);
        if (code < 0) {
            assert_int_equal(code, DPMF_ERR_USAGE_MEMORY);
            assert_true(missing > 0);
            options.memory_streamed += missing;
            refused++;
            assert_int_equal(tiling_build(store, &options, NULL, &tiling, &error), 0);
        } else {
            uint64_t users = tiling_users_a_superblock(tiling);
            uint64_t slot = (users + 1) * (options.kernels->stride(16) + 1) * sizeof(float) +
                            tiling_packed_bytes(tiling);
            assert_true(slot * options.slots <= memory);
            assert_true(users <= last_users);
            last_users = users;
        }
        tiling_free(tiling);
    }
    assert_true(refused > 0 && last_users < 100);
    dpmf_store_close(store);
}

/* What is larger in memory than it was thought to be is streamed after all; what a snapshot wants
 * is had. */
static void test_second_thoughts(void **state) {
    (void)state;
    struct dpmf_store *store;
    struct tiling *tiling;
    assert_int_equal(store_open_file(path, &store, NULL), 0);
    struct tiling_options options = streamed(2048, 2);
    options.chunk_rows =
        4; /* at most four ratings in 72 bytes: more than the 15 a rating that are expected */
    options.memory_whole = 15 * RATINGS;
    assert_int_equal(tiling_build(store, &options, NULL, &tiling, NULL), 0);
    assert_true(tiling_is_streamed(tiling));
    uint64_t checksum = tiling_checksum(tiling), users = tiling_users_a_superblock(tiling);
    check_tiling(store, tiling);
    tiling_free(tiling);

    options = in_memory(2048, 2);
    options.chunk_rows = 4;
    options.superblock_users = users + 1;
    assert_int_equal(tiling_build(store, &options, NULL, &tiling, NULL), 0);
    assert_int_equal(tiling_users_a_superblock(tiling), users + 1);
    assert_true(tiling_checksum(tiling) != checksum);
    check_tiling(store, tiling);
    tiling_free(tiling);
    options.superblock_users = users;
    assert_int_equal(tiling_build(store, &options, NULL, &tiling, NULL), 0);
    assert_true(tiling_checksum(tiling) == checksum);
    tiling_free(tiling);
    dpmf_store_close(store);
}

/* Narrow and wide rows, named values and too many of them. */
static void test_packing(void **state) {
    (void)state;
    enum { N = 300 };
    static struct kernel_chunk chunks[N], read[N];
    static struct tile_values values;
    for (int wide = 0; wide < 2; wide++)
        for (int many = 0; many < 2; many++) {
            struct tile_pack pack = {.first = 1000, .wide = wide, .spare = 7};
            struct byte_buffer bytes = {0};
            tile_values_clear(&values);
            for (uint32_t c = 0; c < N; c++) {
                struct kernel_chunk *chunk = &chunks[c];
                *chunk = (struct kernel_chunk){.resident = c * 9999999u, .n = 1 + c % KERNEL_LANES};
                for (uint32_t i = 0; i < KERNEL_LANES; i++) {
                    bool used = i < chunk->n;
                    chunk->moving[i] = used ? 1000 + (wide ? c << 17 : 65528) + i : 7;
                    chunk->rating[i] = used ? (float)(many ? c + 1 : c % 250) * -0.5f : 0;
                    if (used) tile_values_add(&values, chunk->rating[i]);
                }
            }
            assert_int_equal(values.n > TILE_PACK_VALUES, many);
            if (!many) pack.values = values.value;
            assert_true(tile_pack_append(&bytes, &pack, &values, chunks, N));
            uint8_t *slack = byte_buffer_room(&bytes, TILE_PACK_SLACK);
            assert_non_null(slack);
            memset(slack, 0xff, TILE_PACK_SLACK);
            assert_ptr_equal(tile_pack_read(&pack, bytes.bytes, read, N), bytes.bytes + bytes.n);
            assert_memory_equal(read, chunks, sizeof chunks);
            free(bytes.bytes);
        }
}

/* All of it for every shape of caches. */
/* Rows are prefetched as far ahead as the first-level cache has room for, at least one chunk. */
static void test_far_lead(void **state) {
    (void)state;
    struct dpmf_store *store;
    assert_int_equal(store_open_file(path, &store, NULL), 0);
    const size_t ks[] = {64, 128, 256, 512, 1024, 4096};
    uint32_t last = KERNEL_AHEAD;
    for (size_t i = 0; i < sizeof ks / sizeof ks[0]; i++) {
        struct tiling_options options = in_memory(ks[i], 2);
        options.chunk_rows = 7;
        struct tiling *tiling;
        assert_int_equal(tiling_build(store, &options, NULL, &tiling, NULL), 0);
        const uint32_t lead = tiling_far_lead(tiling);
        assert_in_range(lead, 1, last);
        const size_t chunk = 8 * row_stride(ks[i]) * sizeof(float);
        if (lead > 1) assert_true((lead + 1) * chunk <= caches.l1);
        if (ks[i] == 64) assert_int_equal(lead, 3);
        last = lead;
        tiling_free(tiling);
    }
    assert_int_equal(last, 1);
    dpmf_store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_rating_once),  cmocka_unit_test(test_paper_tiers),
        cmocka_unit_test(test_rows_by_popularity), cmocka_unit_test(test_within_memory),
        cmocka_unit_test(test_second_thoughts),    cmocka_unit_test(test_packing),
        cmocka_unit_test(test_far_lead),
    };
    int failed = 0;
    for (size_t i = 0; i < CACHE_SHAPES; i++) {
        caches = cache_shapes[i].caches;
        failed += cmocka_run_group_tests_name(cache_shapes[i].environment, tests, make_store,
                                              remove_store);
    }
    return failed;
}
