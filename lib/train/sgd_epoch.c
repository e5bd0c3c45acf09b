/*
 * The update half of the paper's Algorithm 2: all threads go through the tiles of an epoch. A thread owns the
 * superblock it works on and, while it works on it, the item group; so no two threads ever write one row
 * (but for Hogwild, which asks for it). Fed by lib/schedule and the superblock stream, runs lib/kernels, feeds
 * train.c.
 *
 * The deterministic order. Superblocks go in sets of LANES. In step t of a set, lane p works on group
 * (p * G / LANES + t) mod G. Tiles are handed out in the order (set, step, lane), and each waits until its
 * superblock has done the step before and its group the visit before. What a row sees is therefore the same
 * sequence of tiles whoever runs them; and since the tile handed out first never waits for one handed out
 * later, one thread is enough to make progress.
 */
#define _GNU_SOURCE
#include "train/sgd_epoch.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

enum {
    DETERMINISTIC_LANES = 8,
    PATIENCE = 64,       /* looks before a waiting thread lets others run */
    UNPACK_CHUNKS = 512, /* unpacked at once, to be read from a cache near by */
};

/* One cache line each: they are written by different threads. */
struct turn {
    _Alignas(64) _Atomic uint64_t n;
};

struct sgd_epoch {
    const struct tiling *tiling;
    struct superblock_stream *stream;
    const struct kernel_set *kernels;
    struct factors *factors;
    enum sgd_order order;
    struct thread_pool *pool;
    kernel_sgd_tile *kernel;
    size_t n_superblocks, n_groups;
    struct kernel_chunk **unpacked; /* by worker, for chunks that are streamed; or NULL */
    struct superblock_view lanes[DETERMINISTIC_LANES];
    struct turn *group_turn; /* visits done (deterministic), or 1 while taken (free) */
    struct turn *lane_turn;  /* steps done */
    double *squared_error;   /* by tile, so that their sum has one order */
    pthread_mutex_t handing; /* over superblocks, in the free order */

    /* of the running epoch */
    uint32_t number;
    size_t first;
    struct sgd_rates rates;
    struct sgd_watch watch;
    _Atomic uint64_t next; /* superblock or tile to hand out */
    struct turn sets_open; /* sets of lanes whose tiles may be worked on */
    _Atomic bool stopped;  /* nothing more is begun */
    _Atomic int code;
    struct dpmf_error error; /* of the thread that set the code */
};

int sgd_lanes(enum sgd_order order, int threads) {
    return order == SGD_DETERMINISTIC ? DETERMINISTIC_LANES : threads;
}

size_t sgd_epoch_thread_bytes(void) {
    return (UNPACK_CHUNKS + KERNEL_AHEAD) * sizeof(struct kernel_chunk);
}

/* ---- one tile --------------------------------------------------------------------------------- */

static struct kernel_step make_step(const struct sgd_epoch *epoch,
                                    const struct superblock_view *view, bool user_resident) {
    const struct factor_matrix *V = &epoch->factors->items;
    const struct kernel_side users = {view->rows, view->biases, epoch->factors->users.stride};
    const struct kernel_side items = {V->rows, V->biases, V->stride};
    struct kernel_step step = {
        .resident = user_resident ? users : items,
        .moving = user_resident ? items : users,
        .k = epoch->kernels->padded_k(epoch->factors->k),
        .offset = (float)epoch->factors->offset,
        .rate = epoch->rates.rate,
        .bias_rate = epoch->rates.bias_rate,
        .decay = {1},
        .bias_decay = {1},
    };
    for (int i = 1; i <= KERNEL_LANES; i++) {
        step.decay[i] = step.decay[i - 1] * (1 - epoch->rates.rate * epoch->rates.reg);
        step.bias_decay[i] =
            step.bias_decay[i - 1] * (1 - epoch->rates.bias_rate * epoch->rates.bias_reg);
    }
    return step;
}

/* The chunks of a tile one after the other; packed ones are unpacked a few at a time. */
static double run_tile(struct sgd_epoch *epoch, const struct superblock_view *view, size_t group,
                       struct tile tile, const struct kernel_step *step, int worker) {
    if (view->chunks) return epoch->kernel(step, view->chunks + tile.first, (size_t)tile.n);
    struct kernel_chunk *chunks = epoch->unpacked[worker];
    const uint8_t *at = NULL;
    double sum = 0;
    for (uint64_t done = 0; done < tile.n; done += UNPACK_CHUNKS) {
        size_t n = tile.n - done < UNPACK_CHUNKS ? (size_t)(tile.n - done) : UNPACK_CHUNKS;
        tiling_unpack(epoch->tiling, view->superblock, group, view->packed, &at, n, chunks);
        sum += epoch->kernel(step, chunks, n);
    }
    return sum;
}

static void fail(struct sgd_epoch *epoch, int code, const struct dpmf_error *error) {
    int none = 0;
    if (!atomic_compare_exchange_strong(&epoch->code, &none, code)) return;
    epoch->error = *error;
    superblock_stream_cancel(epoch->stream);
}

static bool has_failed(const struct sgd_epoch *epoch) {
    return atomic_load_explicit(&epoch->code, memory_order_relaxed) < 0;
}

static void visit_tile(struct sgd_epoch *epoch, const struct superblock_view *view, size_t group,
                       int worker) {
    struct tile tile = tiling_tile(epoch->tiling, view->superblock, group);
    uint64_t first_row, n_rows;
    bool user_resident;
    tiling_group(epoch->tiling, group, &first_row, &n_rows, &user_resident);
    double *sum = &epoch->squared_error[view->superblock * epoch->n_groups + group];
    *sum = 0;
    if (epoch->watch.before_group) {
        struct dpmf_error error = {0};
        int code = epoch->watch.before_group(epoch->watch.self, epoch->number, view->superblock,
                                             group, &error);
        if (code < 0) fail(epoch, code, &error);
    }
    if (tile.n == 0) return;
    const struct kernel_step step = make_step(epoch, view, user_resident);
    *sum = run_tile(epoch, view, group, tile, &step, worker);
}

/* Whether the tile at hand is still to be visited. With `whole`, what was begun always is. */
static bool goes_on(struct sgd_epoch *epoch) {
    if (has_failed(epoch)) return false;
    if (!epoch->watch.should_stop || !epoch->watch.should_stop(epoch->watch.self)) return true;
    atomic_store_explicit(&epoch->stopped, true, memory_order_relaxed);
    if (epoch->watch.whole) return true;
    struct dpmf_error error = {0};
    fail(epoch, error_set(&error, DPMF_ERR_BASE_CANCELLED, "interrupted"), &error);
    return false;
}

/* Whether a superblock, or a set of them, may be begun; if so, it is told. One call at a time. */
static bool may_begin(struct sgd_epoch *epoch, size_t superblock) {
    if (!goes_on(epoch) || atomic_load_explicit(&epoch->stopped, memory_order_relaxed))
        return false;
    if (!epoch->watch.before_superblock) return true;
    struct dpmf_error error = {0};
    int code = epoch->watch.before_superblock(epoch->watch.self, epoch->number, superblock, &error);
    if (code < 0) fail(epoch, code, &error);
    return code == 0;
}

static bool take_superblock(struct sgd_epoch *epoch, size_t superblock,
                            struct superblock_view *view) {
    struct dpmf_error error = {0};
    int code = superblock_stream_take(epoch->stream, superblock, view, &error);
    if (code == 0 && epoch->watch.before_users)
        code = epoch->watch.before_users(epoch->watch.self, epoch->number, view, &error);
    if (code < 0) fail(epoch, code, &error);
    return code == 0;
}

/* ---- free order, and none --------------------------------------------------------------------- */

static bool take_group(struct sgd_epoch *epoch, size_t group) {
    if (epoch->order == SGD_HOGWILD) return true;
    _Atomic uint64_t *lock = &epoch->group_turn[group].n;
    return atomic_load_explicit(lock, memory_order_relaxed) == 0 &&
           atomic_exchange_explicit(lock, 1, memory_order_acquire) == 0;
}

static void leave_group(struct sgd_epoch *epoch, size_t group) {
    if (epoch->order != SGD_HOGWILD)
        atomic_store_explicit(&epoch->group_turn[group].n, 0, memory_order_release);
}

/* Each worker starts with another group, and passes by those that are taken. */
static void visit_superblock(struct sgd_epoch *epoch, const struct superblock_view *view,
                             int worker, uint8_t *done) {
    size_t n = epoch->n_groups, left = n, idle = 0;
    size_t group = (size_t)worker * n / (size_t)thread_pool_size(epoch->pool);
    memset(done, 0, n);
    for (; left > 0; group = group + 1 == n ? 0 : group + 1) {
        if (done[group] || !take_group(epoch, group)) {
            if (++idle > 2 * n) sched_yield(); /* every group left is taken: let its holder run */
            continue;
        }
        idle = 0;
        if (goes_on(epoch)) visit_tile(epoch, view, group, worker);
        leave_group(epoch, group);
        done[group] = 1;
        left--;
    }
}

/* Superblocks are handed out one by one, so that each is told of before the next is begun. */
static bool next_superblock(struct sgd_epoch *epoch, size_t *superblock) {
    pthread_mutex_lock(&epoch->handing);
    *superblock = (size_t)atomic_load_explicit(&epoch->next, memory_order_relaxed);
    bool found = *superblock < epoch->n_superblocks && may_begin(epoch, *superblock);
    if (found) atomic_fetch_add_explicit(&epoch->next, 1, memory_order_relaxed);
    pthread_mutex_unlock(&epoch->handing);
    return found;
}

static void run_freely(struct sgd_epoch *epoch, int worker) {
    size_t superblock;
    struct superblock_view view;
    uint8_t *done = memory_alloc(epoch->n_groups, 1);
    if (!done) {
        struct dpmf_error error = {0};
        fail(epoch, error_no_memory(&error), &error);
        return;
    }
    while (next_superblock(epoch, &superblock) && take_superblock(epoch, superblock, &view)) {
        visit_superblock(epoch, &view, worker, done);
        superblock_stream_give_back(epoch->stream, &view);
    }
    free(done);
}

/* ---- deterministic order ---------------------------------------------------------------------- */

static size_t lane_start(const struct sgd_epoch *epoch, size_t lane) {
    return lane * epoch->n_groups / DETERMINISTIC_LANES;
}

static size_t step_of(const struct sgd_epoch *epoch, size_t lane, size_t group) {
    return (group + epoch->n_groups - lane_start(epoch, lane)) % epoch->n_groups;
}

/* How many of the set's lanes visit the group before this one does. */
static size_t visits_before(const struct sgd_epoch *epoch, size_t lane, size_t group,
                            size_t n_lanes) {
    size_t step = step_of(epoch, lane, group), n = 0;
    for (size_t other = 0; other < n_lanes; other++) {
        size_t other_step = step_of(epoch, other, group);
        n += other_step < step || (other_step == step && other < lane);
    }
    return n;
}

static bool await(struct sgd_epoch *epoch, struct turn *turn, uint64_t n) {
    for (int looks = 0; atomic_load_explicit(&turn->n, memory_order_acquire) != n; looks++) {
        if (has_failed(epoch)) return false;
        if (looks > PATIENCE) sched_yield();
    }
    return true;
}

/* Waits until `n` sets are open. @return false when no more will be */
static bool await_sets(struct sgd_epoch *epoch, uint64_t n) {
    for (int looks = 0;; looks++) {
        uint64_t open = atomic_load_explicit(&epoch->sets_open.n, memory_order_acquire);
        if (open == UINT64_MAX || has_failed(epoch)) return false;
        if (open >= n) return true;
        if (looks > PATIENCE) sched_yield();
    }
}

/* The first tile of a set opens it, or finds that nothing more is to be begun; the others wait for that. */
static bool open_set(struct sgd_epoch *epoch, size_t set, bool first_tile) {
    if (!first_tile) return await_sets(epoch, (uint64_t)set + 1);
    if (!await_sets(epoch, set)) return false;
    bool opens = may_begin(epoch, set * DETERMINISTIC_LANES);
    atomic_store_explicit(&epoch->sets_open.n, opens ? (uint64_t)set + 1 : UINT64_MAX,
                          memory_order_release);
    return opens;
}

/* One tile, when it is its turn. @return false when the epoch has failed */
static bool visit_in_turn(struct sgd_epoch *epoch, size_t set, size_t step, size_t lane,
                          int worker) {
    size_t n_groups = epoch->n_groups;
    size_t first = set * DETERMINISTIC_LANES, superblock = first + lane;
    size_t n_lanes = epoch->n_superblocks - first;
    if (n_lanes > DETERMINISTIC_LANES) n_lanes = DETERMINISTIC_LANES;
    size_t group = (lane_start(epoch, lane) + step) % n_groups;
    uint64_t group_visit = first + visits_before(epoch, lane, group, n_lanes);
    struct superblock_view *view = &epoch->lanes[lane];

    if (!await(epoch, &epoch->lane_turn[lane], set * n_groups + step)) return false;
    if (step == 0 && !take_superblock(epoch, superblock, view)) return false;
    if (!await(epoch, &epoch->group_turn[group], group_visit)) return false;
    visit_tile(epoch, view, group, worker);
    if (step + 1 == n_groups) superblock_stream_give_back(epoch->stream, view);
    atomic_store_explicit(&epoch->group_turn[group].n, group_visit + 1, memory_order_release);
    atomic_store_explicit(&epoch->lane_turn[lane].n, set * n_groups + step + 1,
                          memory_order_release);
    return true;
}

static void run_in_order(struct sgd_epoch *epoch, int worker) {
    size_t per_set = DETERMINISTIC_LANES * epoch->n_groups;
    size_t n_sets = (epoch->n_superblocks + DETERMINISTIC_LANES - 1) / DETERMINISTIC_LANES;
    for (;;) {
        uint64_t tile = atomic_fetch_add(&epoch->next, 1);
        size_t set = (size_t)(tile / per_set), rest = (size_t)(tile % per_set);
        if (set >= n_sets || !open_set(epoch, set, rest == 0) || !goes_on(epoch)) return;
        size_t step = rest / DETERMINISTIC_LANES, lane = rest % DETERMINISTIC_LANES;
        if (set * DETERMINISTIC_LANES + lane >= epoch->n_superblocks) continue;
        if (!visit_in_turn(epoch, set, step, lane, worker)) return;
    }
}

/* ---- the whole -------------------------------------------------------------------------------- */

static int make_buffers(struct sgd_epoch *epoch, struct dpmf_error *error) {
    size_t n = (size_t)thread_pool_size(epoch->pool);
    if (!tiling_is_streamed(epoch->tiling)) return 0;
    epoch->unpacked = memory_alloc_zero(n, sizeof(void *));
    if (!epoch->unpacked) return error_no_memory(error);
    for (size_t i = 0; i < n; i++) {
        epoch->unpacked[i] = memory_alloc(sgd_epoch_thread_bytes(), 1);
        if (!epoch->unpacked[i]) return error_no_memory(error);
    }
    return 0;
}

int sgd_epoch_init(struct sgd_epoch **out, const struct tiling *tiling,
                   struct superblock_stream *stream, const struct kernel_set *kernels,
                   struct factors *factors, enum sgd_order order, struct thread_pool *pool,
                   struct dpmf_error *error) {
    *out = NULL;
    struct sgd_epoch *epoch = aligned_alloc(64, (sizeof *epoch + 63) / 64 * 64);
    if (!epoch) return error_no_memory(error);
    memset(epoch, 0, sizeof *epoch);
    if (pthread_mutex_init(&epoch->handing, NULL) != 0) {
        free(epoch);
        return error_no_memory(error);
    }
    epoch->tiling = tiling;
    epoch->stream = stream;
    epoch->kernels = kernels;
    epoch->factors = factors;
    epoch->order = order;
    epoch->pool = pool;
    epoch->kernel = kernels->sgd_tile(factors->k);
    epoch->n_superblocks = tiling_n_superblocks(tiling);
    epoch->n_groups = tiling_n_groups(tiling);
    epoch->group_turn = aligned_alloc(64, epoch->n_groups * sizeof(struct turn));
    epoch->lane_turn = aligned_alloc(64, DETERMINISTIC_LANES * sizeof(struct turn));
    epoch->squared_error =
        memory_alloc_zero(epoch->n_superblocks, epoch->n_groups * sizeof(double));
    int code = 0;
    if (!epoch->group_turn || !epoch->lane_turn || !epoch->squared_error)
        code = error_no_memory(error);
    if (code == 0) code = make_buffers(epoch, error);
    if (code < 0) {
        sgd_epoch_free(epoch);
        return code;
    }
    *out = epoch;
    return 0;
}

void sgd_epoch_free(struct sgd_epoch *epoch) {
    if (!epoch) return;
    for (int i = 0; epoch->unpacked && i < thread_pool_size(epoch->pool); i++)
        free(epoch->unpacked[i]);
    free(epoch->unpacked);
    free(epoch->group_turn);
    free(epoch->lane_turn);
    free(epoch->squared_error);
    pthread_mutex_destroy(&epoch->handing);
    free(epoch);
}

static void run_worker(void *self, int worker) {
    struct sgd_epoch *epoch = self;
    unsigned state = epoch->kernels->flush_denormals();
    if (epoch->order == SGD_DETERMINISTIC)
        run_in_order(epoch, worker);
    else
        run_freely(epoch, worker);
    epoch->kernels->restore_denormals(state);
}

/* In the deterministic order, turns are counted from the beginning of the epoch, wherever it is begun. */
static void set_turns(struct sgd_epoch *epoch) {
    bool in_order = epoch->order == SGD_DETERMINISTIC;
    size_t set = epoch->first / DETERMINISTIC_LANES;
    uint64_t lane_steps = (uint64_t)set * epoch->n_groups;
    atomic_store(&epoch->next, in_order ? lane_steps * DETERMINISTIC_LANES : epoch->first);
    atomic_store(&epoch->sets_open.n, set);
    for (size_t g = 0; g < epoch->n_groups; g++)
        atomic_store(&epoch->group_turn[g].n, in_order ? epoch->first : 0);
    for (size_t p = 0; p < DETERMINISTIC_LANES; p++)
        atomic_store(&epoch->lane_turn[p].n, lane_steps);
    atomic_store(&epoch->stopped, false);
    atomic_store(&epoch->code, 0);
}

static size_t superblocks_done(const struct sgd_epoch *epoch) {
    size_t s = epoch->first;
    while (s < epoch->n_superblocks &&
           superblock_stream_epochs(epoch->stream, s) == epoch->number + 1)
        s++;
    return s;
}

int sgd_epoch_run(struct sgd_epoch *epoch, uint32_t number, size_t first,
                  const struct sgd_rates *rates, const struct sgd_watch *watch, size_t *done,
                  struct dpmf_error *error) {
    epoch->number = number;
    epoch->first = first;
    epoch->rates = *rates;
    epoch->watch = watch ? *watch : (struct sgd_watch){0};
    *done = first;
    set_turns(epoch);
    int code = superblock_stream_begin(epoch->stream, number, first, error);
    if (code < 0) return code;
    thread_pool_run(epoch->pool, run_worker, epoch);
    code = atomic_load(&epoch->code);
    if (code < 0 && error) *error = epoch->error;
    int end = superblock_stream_end(epoch->stream, code < 0 ? NULL : error);
    *done = superblocks_done(epoch);
    if (code < 0) return code;
    if (end < 0) return end;
    return *done == epoch->n_superblocks ? 0
                                         : error_set(error, DPMF_ERR_BASE_CANCELLED, "interrupted");
}

double sgd_epoch_squared_error(const struct sgd_epoch *epoch, size_t superblock) {
    double sum = 0;
    for (size_t g = 0; g < epoch->n_groups; g++)
        sum += epoch->squared_error[superblock * epoch->n_groups + g];
    return sum;
}
