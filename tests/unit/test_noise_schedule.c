/*
 * The schedule of injections: every row gets exactly one epoch's worth of noise an epoch, in equal
 * parts that are spread evenly over its ratings, whatever the tiling is and wherever the chunks
 * are; slices cover each tile; rows without ratings are told of.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cache_shapes.h"
#include "model/checkpoint.h"
#include "sample/langevin_tiles.h"
#include "schedule/tile_build.h"
#include "store/store.h"
#include "temp_dir.h"
#include "train/first_rows.h"
#include "whole_checkpoint.h"

static struct temp_dir directory;
static char path[TEMP_PATH_MAX];

static int make_directory(void **state) {
    (void)state;
    temp_dir_make(&directory);
    temp_dir_file(&directory, "ratings.dpr", path);
    return 0;
}

static int remove_directory(void **state) {
    (void)state;
    temp_dir_remove(&directory);
    return 0;
}

static struct tiling *tile(const struct dpmf_store *store, size_t k, bool streamed) {
    const uint64_t plenty = (uint64_t)1 << 30;
    uint64_t missing;
    struct tiling *tiling;
    const struct dpmf_run run = dpmf_run_default();
    const struct tiling_options options = {
        .kernels = kernel_set_choose(NULL),
        .caches = test_caches(),
        .k = k,
        .threads = 2,
        .lanes = 2,
        .memory_whole = streamed ? 0 : plenty,
        .memory_streamed = plenty,
        .memory_build = plenty,
        .slots = 4,
        .missing = &missing,
    };
    assert_int_equal(tiling_build(store, &options, &run, &tiling, NULL), 0);
    assert_int_equal(tiling_is_streamed(tiling), streamed);
    return tiling;
}

static size_t row_bytes(size_t k) { return kernel_set_choose(NULL)->stride(k) * sizeof(float); }

/* What is seen by someone who goes through the tiles as one thread does. */
struct seen {
    uint32_t *ratings, *injections;
    double *middle; /* middle of the injections, in ratings */
    uint64_t n;
};

static void seen_make(struct seen *seen, uint64_t n) {
    seen->n = n;
    seen->ratings = calloc(n, sizeof seen->ratings[0]);
    seen->injections = calloc(n, sizeof seen->injections[0]);
    seen->middle = calloc(n, sizeof seen->middle[0]);
    assert_true(seen->ratings && seen->injections && seen->middle);
}

static void seen_free(struct seen *seen) {
    free(seen->ratings);
    free(seen->injections);
    free(seen->middle);
}

static void see_chunk(struct seen *users, struct seen *items, uint64_t first_user,
                      const struct kernel_chunk *chunk, bool user_resident) {
    for (uint32_t i = 0; i < chunk->n; i++) {
        users->ratings[first_user + (user_resident ? chunk->resident : chunk->moving[i])]++;
        items->ratings[user_resident ? chunk->moving[i] : chunk->resident]++;
    }
}

static void see_payments(struct seen *seen, uint64_t first, const uint32_t *rows, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint64_t row = first + rows[i];
        assert_true(row < seen->n);
        seen->injections[row]++;
        seen->middle[row] += seen->ratings[row];
    }
}

/* Where injections are made after a slice. */
static void see_tile(const struct tiling *tiling, const struct noise_schedule *schedule, size_t s,
                     size_t g, struct seen *users, struct seen *items) {
    struct tile at = tiling_tile(tiling, s, g);
    uint64_t first_user, n_users, first_row, n_rows, done = 0;
    bool user_resident;
    const struct kernel_chunk *chunks = tiling_chunks(tiling, s) + at.first;
    tiling_superblock_users(tiling, s, &first_user, &n_users);
    tiling_group(tiling, g, &first_row, &n_rows, &user_resident);
    for (size_t slice = 0; done < at.n; slice++) {
        uint32_t length = noise_schedule_chunks(schedule, s, g, slice);
        assert_true(length > 0 && done + length <= at.n);
        assert_true(done / SGD_UNPACK_CHUNKS == (done + length - 1) / SGD_UNPACK_CHUNKS);
        for (uint32_t c = 0; c < length; c++)
            see_chunk(users, items, first_user, &chunks[done + c], user_resident);
        struct noise_injections due = noise_schedule_injections(schedule, s, g, slice);
        assert_true(due.n_users <= noise_schedule_most(schedule));
        assert_true(due.n_items <= noise_schedule_most(schedule));
        for (size_t i = 0; i < due.n_items; i++)
            assert_true(due.items[i] >= first_row && due.items[i] < first_row + n_rows);
        see_payments(users, first_user, due.users, due.n_users);
        see_payments(items, 0, due.items, due.n_items);
        done += length;
    }
}

/* Every row got 1 in all, and on average in the middle of their ratings. */
static void check_side(const struct seen *seen, const float *shares, const uint32_t *ratings) {
    double off = 0, wide = 0;
    for (uint64_t i = 0; i < seen->n; i++) {
        uint32_t q = seen->injections[i], n = seen->ratings[i];
        assert_int_equal(n, ratings[i]);
        assert_true(q >= 1 && fabs((double)q * (double)shares[i] - 1) < 1e-6);
        assert_true(q == 1 || (double)n / q >= NOISE_EVERY_LEAST / 2.0);
        if (n < 64) continue; /* one slice may have all of them */
        wide += 1;
        off += seen->middle[i] / q / n - 0.5;
    }
    if (wide > 20) assert_true(fabs(off / wide) < 0.1);
}

static void check_store(const struct dpmf_store *store, size_t k) {
    struct tiling *tiling = tile(store, k, false);
    struct noise_schedule *schedule;
    struct seen users, items;
    assert_int_equal(noise_schedule_build(&schedule, tiling, store_n_users(store),
                                          store_n_items(store), row_bytes(k), NULL, NULL),
                     0);
    seen_make(&users, store_n_users(store));
    seen_make(&items, store_n_items(store));
    for (size_t s = 0; s < tiling_n_superblocks(tiling); s++)
        for (size_t g = 0; g < tiling_n_groups(tiling); g++)
            see_tile(tiling, schedule, s, g, &users, &items);
    check_side(&users, noise_schedule_user_shares(schedule), noise_schedule_user_ratings(schedule));
    check_side(&items, noise_schedule_item_shares(schedule), noise_schedule_item_ratings(schedule));
    struct noise_extremes most = noise_schedule_extremes(schedule);
    uint32_t largest =
        most.user_ratings > most.item_ratings ? most.user_ratings : most.item_ratings;
    uint32_t portion =
        most.user_portion > most.item_portion ? most.user_portion : most.item_portion;
    print_message("k = %zu: at most %u ratings a row, %u an injection\n", k, largest, portion);
    assert_true(portion <= NOISE_EVERY_LEAST || portion <= largest / NOISE_INJECTIONS + 1);
    seen_free(&users);
    seen_free(&items);
    noise_schedule_free(schedule);
    tiling_free(tiling);
}

static void test_payments(void **state) {
    (void)state;
    static const size_t factors[] = {4, 40, 300, 1500};
    struct dpmf_synth_options shape = dpmf_synth_options_default();
    struct dpmf_store *store;
    shape.users = 700;
    shape.items = 300;
    shape.ratings = 40000;
    assert_int_equal(dpmf_synth(path, &shape, NULL, NULL, NULL), 0);
    assert_int_equal(dpmf_store_open(path, NULL, NULL, &store, NULL), 0);
    for (size_t i = 0; i < sizeof factors / sizeof factors[0]; i++) check_store(store, factors[i]);
    dpmf_store_close(store);
}

/* Packed chunks give what the same chunks give in memory, when both are cut alike. */
static void test_streamed(void **state) {
    (void)state;
    struct dpmf_synth_options shape = dpmf_synth_options_default();
    struct dpmf_store *store;
    struct noise_schedule *a, *b;
    shape.users = 400;
    shape.items = 100;
    shape.ratings = 12000;
    assert_int_equal(dpmf_synth(path, &shape, NULL, NULL, NULL), 0);
    assert_int_equal(dpmf_store_open(path, NULL, NULL, &store, NULL), 0);
    struct tiling *whole = tile(store, 40, false), *streamed = tile(store, 40, true);
    assert_int_equal(
        noise_schedule_build(&a, whole, 400, store_n_items(store), row_bytes(40), NULL, NULL), 0);
    assert_int_equal(
        noise_schedule_build(&b, streamed, 400, store_n_items(store), row_bytes(40), NULL, NULL),
        0);
    assert_memory_equal(noise_schedule_user_shares(a), noise_schedule_user_shares(b),
                        400 * sizeof(float));
    assert_memory_equal(noise_schedule_item_shares(a), noise_schedule_item_shares(b),
                        store_n_items(store) * sizeof(float));
    noise_schedule_free(a);
    noise_schedule_free(b);
    tiling_free(whole);
    tiling_free(streamed);
    dpmf_store_close(store);
}

static size_t stride_of(size_t k) { return kernel_set_choose(NULL)->stride(k); }

/* The bias of an item in a sample after so many epochs of a chain. */
static float bias_after(struct dpmf_store *store, const char *solver, uint32_t epochs,
                        const char *item) {
    struct dpmf_train_options options = dpmf_train_options_default();
    struct factors model = {0};
    struct checkpoint_state made = {0};
    char file[TEMP_PATH_MAX];
    temp_dir_file(&directory, "m.safetensors", file);
    options.solver = solver;
    options.factors = 3;
    options.epochs = epochs;
    assert_int_equal(dpmf_train(store, NULL, file, &options, NULL, NULL, NULL, NULL, NULL), 0);
    assert_int_equal(whole_checkpoint_read(file, stride_of, 0, &model, &made, NULL), 0);
    float bias = model.items.biases[factor_ids_find(&model.item_ids, item, strlen(item))];
    factors_free(&model);
    return bias;
}

/* The mean square of what a row of k numbers gets in a round in which no tile is visited, and of
 * what the others get. */
static void paid_without_tiles(const struct dpmf_store *store, const struct tiling *tiling,
                               uint32_t row, double step, double *own, double *others) {
    enum { K = 32, ROUNDS = 400, ITEMS = 3 };
    const struct kernel_set *kernels = kernel_set_choose(NULL);
    const size_t stride = kernels->stride(K);
    const struct langevin_step steps = {.rows = step, .biases = step};
    struct factors factors = {.k = K};
    struct row_store users = {.file = -1};
    struct thread_pool *pool;
    struct langevin *langevin;
    float before[ITEMS][K];
    assert_int_equal(first_rows_make_users(&factors.users, &users, store_n_users(store), stride,
                                           TILING_SPARE_ROWS, NULL, NULL),
                     0);
    assert_int_equal(factor_matrix_init(&factors.items, ITEMS, stride, TILING_SPARE_ROWS, NULL), 0);
    assert_int_equal(thread_pool_init(&pool, 1, NULL), 0);
    const struct langevin_source source = {
        .solver = SOLVER_SGLD,
        .tiling = tiling,
        .kernels = kernels,
        .factors = &factors,
        .users = &users,
        .pool = pool,
        .unit = 1,
        .seed = 1,
    };
    assert_int_equal(langevin_init(&langevin, &source, NULL), 0);
    assert_int_equal(langevin_begin_chain(langevin, 0, NULL), 0);
    langevin_set_step(langevin, &steps);
    struct precisions *precisions = langevin_precisions(langevin);
    for (size_t x = 0; x < K; x++) precisions->items[x] = 1e-6;
    *own = *others = 0;
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        langevin_begin_round(langevin, round);
        for (size_t i = 0; i < ITEMS; i++)
            memcpy(before[i], factors.items.rows + i * stride, sizeof before[i]);
        langevin_end_round(langevin);
        for (size_t i = 0; i < ITEMS; i++)
            for (size_t x = 0; x < K; x++) {
                double change = (double)(factors.items.rows[i * stride + x] - before[i][x]);
                *(i == row ? own : others) += change * change / (K * ROUNDS);
            }
    }
    langevin_free(langevin);
    thread_pool_free(pool);
    row_store_close(&users);
    factors_free(&factors);
}

/* An item that nobody rated, as a store may have one. */
static void test_idle(void **state) {
    (void)state;
    static const uint64_t start[] = {0, 2, 3}, id_start[] = {0, 1, 2};
    static const uint32_t item[] = {0, 2, 2};
    static const double value[] = {1, 2, 3};
    static const struct store_item items[] = {{"x", 1, 1}, {"y", 1, 0}, {"z", 1, 2}};
    const struct store_block block = {.n_users = 2,
                                      .n_ratings = 3,
                                      .start = start,
                                      .item = item,
                                      .value = value,
                                      .id_bytes = "ab",
                                      .id_start = id_start};
    struct store_encoded encoded = {0};
    struct store_writer *writer;
    struct dpmf_store *store;
    struct noise_schedule *schedule;
    size_t n;
    assert_int_equal(store_writer_open(&writer, path, false, NULL, NULL), 0);
    assert_int_equal(store_block_encode(&block, false, &encoded, NULL), 0);
    assert_int_equal(store_writer_append(writer, &encoded, NULL), 0);
    assert_int_equal(store_writer_finish(writer, items, 3, NULL), 0);
    assert_int_equal(store_writer_commit(writer, NULL, NULL), 0);
    store_encoded_free(&encoded);
    assert_int_equal(dpmf_store_open(path, NULL, NULL, &store, NULL), 0);
    struct tiling *tiling = tile(store, 4, false);
    assert_int_equal(noise_schedule_build(&schedule, tiling, 2, 3, row_bytes(4), NULL, NULL), 0);
    const uint32_t *idle = noise_schedule_idle_items(schedule, &n);
    assert_int_equal(n, 1);
    assert_int_equal(idle[0], tiling->row_of_item[1]);
    /* What it is due in a round is injected when the round ends, and it alone: the mean of 12,800
     * squares, within five times its standard deviation. */
    double own, others;
    paid_without_tiles(store, tiling, idle[0], 1e-3, &own, &others);
    assert_true(fabs(own / 1e-3 - 1) < 0.0625 && others == 0);
    noise_schedule_free(schedule);
    tiling_free(tiling);

    /* and it moves with the others, as its prior alone would have it */
    assert_true(bias_after(store, "sgld", 2, "y") != bias_after(store, "sgld", 3, "y"));
    assert_true(bias_after(store, "sghmc", 2, "y") != bias_after(store, "sghmc", 3, "y"));
    dpmf_store_close(store);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_payments),
        cmocka_unit_test(test_streamed),
        cmocka_unit_test(test_idle),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
