/*
 * A sampler on tiles, set up from arrays of ratings and run round by round, with a hand on
 * everything that could be wrong with it: what the tests of Langevin dynamics stand on. Include
 * after cmocka.
 *
 * With a cluster it is the bed of one of its ranks, which has a share of the users in a folder of
 * shards.
 */
#ifndef DPMF_TESTS_LANGEVIN_BED_H
#define DPMF_TESTS_LANGEVIN_BED_H

#include <stdlib.h>
#include <string.h>

#include "cache_shapes.h"
#include "sample/langevin_tiles.h"
#include "schedule/tile_build.h"
#include "store/store.h"
#include "train/first_rows.h"
#include "train/rank_share.h"

/* What may be wrong with a sampler. */
struct langevin_fault {
    const char *name;
    double drift;       /* factor of the ratings' force */
    double temperature; /* factor of the time that noise stands for */
    bool replays;       /* the same noise in every round */
    double leaves_due;  /* share of the superblocks, the last ones, whose due noise is left out */
    bool without_signs; /* whether the table's signs are left out */

    /* for ranks: */
    bool is_alone;      /* each injects and keys its noise as if there were no others */
    bool forgets;       /* what falls due at the last one gets no noise */
    bool keeps_momenta; /* they do not travel with their rows */
};

#define LANGEVIN_HONEST ((struct langevin_fault){.name = "none", .drift = 1, .temperature = 1})

struct langevin_bed {
    struct dpmf_store *store; /* all ratings */
    const struct dpmf_cluster *cluster;
    struct rank_share share;
    struct ring *ring;
    struct tiling *tiling;
    struct factors factors;
    struct row_store users;
    struct thread_pool *pool;
    struct superblock_stream *stream;
    struct sgd_epoch *epoch;
    struct langevin *langevin;
    struct langevin_fault fault;
    struct langevin_step step;
    struct sgd_noise noise; /* the sampler's, or with a fault */
    uint32_t *item_row;     /* rows of the arrays' items: the store ranks them */
    uint32_t round;
    double squared_error;
};

struct langevin_bed_options {
    enum solver solver;
    uint32_t k;
    int threads;
    enum sgd_order order;
    const char *kernels;
    size_t table;
    uint64_t seed;
    struct langevin_fault fault;
    const struct dpmf_cluster *cluster; /* NULL: one machine */
    const char *shards; /* folder of a cluster's ratings; the arrays then only say how many */
};

static inline const struct dpmf_store *bed_share(const struct langevin_bed *bed) {
    return bed->cluster ? bed->share.own : bed->store;
}

static inline bool bed_pays(const struct langevin_bed *bed, const struct superblock_view *view) {
    double n = (double)tiling_n_superblocks(bed->tiling);
    if (bed->fault.forgets && cluster_rank(bed->cluster) + 1 == cluster_size(bed->cluster))
        return false;
    return (double)view->superblock < n * (1 - bed->fault.leaves_due) - 0.5;
}
static inline void bed_before_slice(void *self, int worker, const struct superblock_view *view,
                                    size_t group, size_t slice) {
    struct langevin_bed *bed = self;
    const struct sgd_noise *own = langevin_noise(bed->langevin);
    if (bed_pays(bed, view)) own->before_slice(own->self, worker, view, group, slice);
}
static inline void bed_after_slice(void *self, int worker, const struct superblock_view *view,
                                   size_t group, size_t slice) {
    struct langevin_bed *bed = self;
    const struct sgd_noise *own = langevin_noise(bed->langevin);
    if (bed_pays(bed, view)) own->after_slice(own->self, worker, view, group, slice);
}
static inline uint32_t bed_slice_chunks(void *self, size_t superblock, size_t group, size_t slice) {
    struct langevin_bed *bed = self;
    const struct sgd_noise *own = langevin_noise(bed->langevin);
    return own->slice_chunks(own->self, superblock, group, slice);
}
static inline void bed_after_users(void *self, int worker, const struct superblock_view *view) {
    struct langevin_bed *bed = self;
    const struct sgd_noise *own = langevin_noise(bed->langevin);
    own->after_users(own->self, worker, view);
}

static inline void bed_tile(struct langevin_bed *bed, const struct kernel_set *kernels,
                            const struct langevin_bed_options *options) {
    const uint64_t plenty = (uint64_t)1 << 32;
    uint64_t missing = 0;
    struct tiling_options tiling = {
        .kernels = kernels,
        .caches = test_caches(),
        .k = options->k,
        .threads = options->threads,
        .lanes = sgd_shares(options->order, options->threads),
        .memory_whole = plenty,
        .memory_streamed = plenty,
        .memory_build = plenty,
        .slots = 4,
        .missing = &missing,
    };
    const struct dpmf_run run = dpmf_run_default();
    const size_t n_items = (size_t)store_n_items(bed->store);
    uint64_t *ratings = malloc((n_items + 1) * sizeof ratings[0]);
    assert_non_null(ratings);
    for (size_t i = 0; i < n_items; i++) ratings[i] = store_item_at(bed->store, i).n_ratings;
    struct tiling_whole whole = {.n_ratings = store_n_ratings(bed->store),
                                 .item_ratings = ratings,
                                 .n_parts = 2 * (size_t)cluster_size(bed->cluster)};
    if (bed->cluster) {
        tiling_group_bounds(&tiling, &whole);
        tiling.whole = &whole;
    }
    assert_int_equal(tiling_build(bed_share(bed), &tiling, &run, &bed->tiling, NULL), 0);
    free(ratings);
}

/* The ratings: of the arrays, or this rank's of those in the folder. */
static inline void bed_open(struct langevin_bed *bed, const struct dpmf_arrays *arrays,
                            const struct langevin_bed_options *options) {
    struct dpmf_error error = {0};
    bed->cluster = options->cluster;
    int code = bed->cluster ? dpmf_store_open(options->shards, NULL, NULL, &bed->store, &error)
                            : dpmf_store_from_arrays(arrays, NULL, NULL, &bed->store, &error);
    if (code == 0 && bed->cluster)
        code = rank_share_open(&bed->share, bed->store, bed->cluster, &error);
    if (code < 0) fail_msg("%s", error.message);
}

/* What travels: but for what a fault keeps. */
static inline void bed_make_ring(struct langevin_bed *bed) {
    const struct factor_matrix *items = &bed->factors.items;
    struct ring_array arrays[RING_ARRAYS_MAX] = {
        {items->rows, items->stride * sizeof(float), false}, {items->biases, sizeof(float), false}};
    size_t n = langevin_ring_arrays(bed->langevin, arrays + 2);
    if (bed->fault.keeps_momenta) n = 0;
    assert_int_equal(ring_init(&bed->ring, bed->cluster, bed->tiling, 0, arrays, 2 + n, NULL), 0);
}

static inline void bed_find_items(struct langevin_bed *bed, uint64_t n_items) {
    bed->item_row = malloc(n_items * sizeof bed->item_row[0]);
    assert_non_null(bed->item_row);
    for (uint64_t i = 0; i < store_n_items(bed->store); i++) {
        struct store_item item = store_item_at(bed->store, i);
        uint64_t number = 0;
        for (size_t c = 0; c < item.id_length; c++)
            number = 10 * number + (uint64_t)(item.id[c] - '0');
        bed->item_row[number] = bed->tiling->row_of_item[i];
    }
}

static inline void bed_make(struct langevin_bed *bed, const struct dpmf_arrays *arrays,
                            const struct langevin_bed_options *options) {
    const struct kernel_set *kernels = kernel_set_choose(options->kernels);
    memset(bed, 0, sizeof *bed);
    bed->users.file = -1;
    bed->fault = options->fault;
    bed_open(bed, arrays, options);
    bed_tile(bed, kernels, options);
    assert_int_equal(store_n_users(bed->store), arrays->n_users);
    assert_int_equal(store_n_items(bed->store), arrays->n_items);
    bed_find_items(bed, arrays->n_items);
    struct factors *factors = &bed->factors;
    const size_t stride = kernels->stride(options->k);
    factors->k = options->k;
    double sum = tiling_mean_rating(bed->tiling) * (double)store_n_ratings(bed_share(bed));
    assert_int_equal(cluster_sum_doubles(bed->cluster, &sum, 1, NULL), 0);
    factors->offset = sum / (double)store_n_ratings(bed->store);
    assert_int_equal(first_rows_make_users(&factors->users, &bed->users,
                                           store_n_users(bed_share(bed)), stride, TILING_SPARE_ROWS,
                                           NULL, NULL),
                     0);
    assert_int_equal(
        factor_matrix_init(&factors->items, arrays->n_items, stride, TILING_SPARE_ROWS, NULL), 0);
    assert_int_equal(thread_pool_init(&bed->pool, options->threads, NULL), 0);
    assert_int_equal(superblock_stream_init(&bed->stream, bed->tiling, &bed->users,
                                            factors->users.biases, 4, NULL),
                     0);
    assert_int_equal(sgd_epoch_init(&bed->epoch, bed->tiling, bed->stream, kernels, factors,
                                    options->order, bed->pool, NULL),
                     0);
    const struct langevin_source source = {
        .solver = options->solver,
        .tiling = bed->tiling,
        .kernels = kernels,
        .factors = factors,
        .users = &bed->users,
        .pool = bed->pool,
        .unit = 1,
        .table = options->table,
        .table_without_signs = options->fault.without_signs,
        .seed = options->seed,
        .cluster = options->fault.is_alone ? NULL : bed->cluster,
        .first_user = bed->cluster ? rank_share_first_user(&bed->share) : 0,
        .n_users = arrays->n_users,
    };
    assert_int_equal(langevin_init(&bed->langevin, &source, NULL), 0);
    assert_int_equal(langevin_begin_chain(bed->langevin, 0, NULL), 0);
    bed->noise = (struct sgd_noise){
        .self = bed,
        .slice_chunks = bed_slice_chunks,
        .before_slice = bed_before_slice,
        .after_slice = bed_after_slice,
        .after_users = bed_after_users,
    };
    if (bed->cluster) bed_make_ring(bed);
}

static inline void bed_free(struct langevin_bed *bed) {
    ring_free(bed->ring);
    langevin_free(bed->langevin);
    sgd_epoch_free(bed->epoch);
    superblock_stream_free(bed->stream);
    thread_pool_free(bed->pool);
    tiling_free(bed->tiling);
    row_store_close(&bed->users);
    factors_free(&bed->factors);
    if (bed->cluster) rank_share_close(&bed->share);
    dpmf_store_close(bed->store);
    free(bed->item_row);
}

static inline void bed_set_step(struct langevin_bed *bed, const struct langevin_step *step) {
    bed->step = *step;
    langevin_set_step(bed->langevin, step);
}

struct bed_work {
    struct langevin_bed *bed;
    const struct sgd_rates *rates;
    const struct sgd_watch *watch;
};

static inline int bed_work_on_part(void *self, const struct tiling_part *part, bool last,
                                   struct dpmf_error *error) {
    const struct bed_work *work = self;
    const struct sgd_groups groups = {part->first_group, part->n_groups, last};
    return sgd_epoch_run_groups(work->bed->epoch, work->bed->round - 1, &groups, work->rates,
                                work->watch, error);
}

static inline void bed_visit(struct langevin_bed *bed, const struct sgd_rates *rates) {
    const struct sgd_watch watch = {.noise = &bed->noise};
    struct bed_work work = {bed, rates, &watch};
    size_t done;
    int code = bed->ring ? ring_round(bed->ring, bed_work_on_part, &work, NULL)
                         : sgd_epoch_run(bed->epoch, bed->round - 1, 0, rates, &watch, &done, NULL);
    assert_int_equal(code, 0);
    langevin_end_round(bed->langevin);
    if (bed->ring) assert_int_equal(ring_gather_all(bed->ring, NULL), 0);
    assert_int_equal(langevin_take_sums(bed->langevin, NULL), 0);
}

/* A round, but for its precisions. What is drawn and what moves comes from the step as it is set at
 * the time, so a temperature is another step between the two. */
static inline void bed_round(struct langevin_bed *bed) {
    const struct langevin_fault *fault = &bed->fault;
    bed->round++;
    struct sgd_rates rates = langevin_begin_round(bed->langevin, fault->replays ? 1 : bed->round);
    rates.rate *= (float)fault->drift;
    rates.bias_rate *= (float)fault->drift;
    if (fault->temperature != 1) {
        struct langevin_step cheated = bed->step;
        cheated.rows *= fault->temperature;
        cheated.biases *= fault->temperature;
        langevin_set_step(bed->langevin, &cheated);
    }
    bed_visit(bed, &rates);
    if (fault->temperature != 1) langevin_set_step(bed->langevin, &bed->step);
    bed->squared_error = 0;
    for (size_t s = 0; s < tiling_n_superblocks(bed->tiling); s++)
        bed->squared_error += sgd_epoch_squared_error(bed->epoch, s);
}

#endif
