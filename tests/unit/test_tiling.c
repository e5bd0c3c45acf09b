/*
 * Tiles: every rating is in exactly one chunk, of the superblock and group it belongs to; what a kernel
 * relies on holds for every chunk; and tiles on disk are the same as tiles in memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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
            assert_true(user_resident ? row >= ITEMS && row < ITEMS + TILING_SPARE_ROWS
                                      : user >= USERS && user < USERS + TILING_SPARE_ROWS);
            continue;
        }
        assert_true(row >= first_row && row < first_row + n_rows);
        for (uint32_t j = 0; j < i; j++) assert_int_not_equal(chunk->moving[i], chunk->moving[j]);
        take(table, tiling, user, row, chunk->rating[i]);
    }
    return chunk->n;
}

static void check_tiling(const struct dpmf_store *store, const struct tiling *tiling) {
    float *table = read_table(store);
    struct kernel_chunk *buffer =
        malloc((tiling_buffer_chunks(tiling) + KERNEL_AHEAD) * sizeof *buffer);
    assert_non_null(buffer);
    uint64_t total = 0, next_user = 0;
    for (size_t s = 0; s < tiling_n_superblocks(tiling); s++) {
        uint64_t first_user, n_users;
        tiling_superblock_users(tiling, s, &first_user, &n_users);
        assert_int_equal(first_user, next_user);
        next_user += n_users;
        const struct kernel_chunk *chunks = tiling_chunks(tiling, s, buffer, NULL);
        assert_non_null(chunks);
        for (size_t g = 0; g < tiling_n_groups(tiling); g++) {
            struct tile tile = tiling_tile(tiling, s, g);
            uint64_t n = 0;
            for (uint64_t c = 0; c < tile.n; c++)
                n += check_chunk(table, tiling, &chunks[tile.first + c], first_user, g);
            assert_int_equal(n, tile.n_ratings);
            total += n;
        }
    }
    assert_int_equal(next_user, USERS);
    assert_int_equal(total, RATINGS);
    for (size_t i = 0; i < (size_t)USERS * ITEMS; i++) assert_true(table[i] == 0);
    free(buffer);
    free(table);
}

static void test_every_rating_once(void **state) {
    (void)state;
    struct dpmf_store *store;
    assert_int_equal(store_open_file(path, &store, NULL), 0);
    const size_t ks[] = {1, 8, 16, 64, 100, 1024, 4096};
    for (size_t i = 0; i < sizeof ks / sizeof ks[0]; i++)
        for (int lanes = 1; lanes <= 8; lanes += 7)
            for (int on_disk = 0; on_disk < 2; on_disk++) {
                struct tiling_options options = {.kernels = kernel_set_choose(NULL),
                                                 .k = ks[i],
                                                 .threads = 2,
                                                 .lanes = lanes,
                                                 .memory = on_disk ? 1 : (uint64_t)1 << 30};
                struct tiling *tiling;
                assert_int_equal(tiling_build(store, &options, NULL, &tiling, NULL), 0);
                assert_int_equal(tiling_is_on_disk(tiling), on_disk);
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
    struct tiling_options options = {.kernels = kernel_set_choose(NULL),
                                     .k = 64,
                                     .threads = 1,
                                     .lanes = 1,
                                     .memory = 1 << 30,
                                     .tier_ends = ends,
                                     .n_tiers = 2};
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
    struct tiling_options options = {
        .kernels = kernel_set_choose(NULL), .k = 16, .threads = 1, .lanes = 2, .memory = 1 << 30};
    assert_int_equal(tiling_build(store, &options, NULL, &tiling, NULL), 0);
    uint64_t last = UINT64_MAX;
    for (uint64_t row = 0; row < ITEMS; row++) {
        uint32_t item = tiling_item_of_row(tiling, row);
        assert_int_equal(tiling_row_of_item(tiling, item), row);
        assert_true(store_item_at(store, item).n_ratings <= last);
        last = store_item_at(store, item).n_ratings;
    }
    tiling_free(tiling);
    dpmf_store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_rating_once),
        cmocka_unit_test(test_paper_tiers),
        cmocka_unit_test(test_rows_by_popularity),
    };
    return cmocka_run_group_tests(tests, make_store, remove_store);
}
