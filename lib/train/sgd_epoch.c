/*
 * The update half of the paper's Algorithm 2: all threads go through the tiles of an epoch. A thread owns the
 * superblock it works on and, while it works on it, the item group; so no two threads ever write one row
 * (but for Hogwild, which asks for it). Fed by lib/schedule, runs lib/kernels, feeds train.c.
 *
 * The deterministic order. Superblocks go in sets of LANES. In step t of a set, lane p works on group
 * (p * G / LANES + t) mod G. Tiles are handed out in the order (set, step, lane), and each waits until its
 * superblock has done the step before and its group the visit before. What a row sees is therefore the same
 * sequence of tiles whoever runs them; and since the tile handed out first never waits for one handed out
 * later, one thread is enough to make progress.
 */
#define _GNU_SOURCE
#include "train/sgd_epoch.h"

#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

enum { DETERMINISTIC_LANES = 8, PATIENCE = 64 /* looks before a waiting thread lets others run */ };

/* One cache line each: they are written by different threads. */
struct turn {
    _Alignas(64) _Atomic uint64_t n;
};

struct sgd_epoch {
    const struct tiling *tiling;
    const struct kernel_set *kernels;
    struct factors *factors;
    enum sgd_order order;
    struct thread_pool *pool;
    kernel_sgd_tile *kernel;
    size_t n_superblocks, n_groups;
    int n_buffers; /* for chunks that are on disk: a worker's, or a lane's */
    struct kernel_chunk **buffers;
    const struct kernel_chunk **loaded; /* by lane, in the deterministic order */
    struct turn *group_turn;            /* visits done (deterministic), or 1 while taken (free) */
    struct turn *lane_turn;             /* steps done */
    double *squared_error;              /* by tile, so that their sum has one order */

    /* of the running epoch */
    struct sgd_rates rates;
    bool (*should_stop)(void *self);
    void *self;
    _Atomic uint64_t next; /* superblock or tile to hand out */
    _Atomic int code;
    struct dpmf_error error; /* of the thread that set the code */
};

int sgd_lanes(enum sgd_order order, int threads) {
    return order == SGD_DETERMINISTIC ? DETERMINISTIC_LANES : threads;
}

/* ---- one tile --------------------------------------------------------------------------------- */

static struct kernel_step make_step(const struct sgd_epoch *epoch, size_t superblock,
                                    bool user_resident) {
    uint64_t first, n;
    tiling_superblock_users(epoch->tiling, superblock, &first, &n);
    const struct factor_matrix *U = &epoch->factors->users, *V = &epoch->factors->items;
    const struct kernel_side users = {U->rows + first * U->stride, U->biases + first, U->stride};
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

static void visit_tile(struct sgd_epoch *epoch, size_t superblock, size_t group,
                       const struct kernel_chunk *chunks) {
    struct tile tile = tiling_tile(epoch->tiling, superblock, group);
    uint64_t first_row, n_rows;
    bool user_resident;
    tiling_group(epoch->tiling, group, &first_row, &n_rows, &user_resident);
    double *sum = &epoch->squared_error[superblock * epoch->n_groups + group];
    *sum = 0;
    if (tile.n == 0) return;
    const struct kernel_step step = make_step(epoch, superblock, user_resident);
    *sum = epoch->kernel(&step, chunks + tile.first, (size_t)tile.n);
}

static void fail(struct sgd_epoch *epoch, int code, const struct dpmf_error *error) {
    int none = 0;
    if (atomic_compare_exchange_strong(&epoch->code, &none, code) && error) epoch->error = *error;
}

static bool goes_on(struct sgd_epoch *epoch) {
    if (atomic_load_explicit(&epoch->code, memory_order_relaxed) < 0) return false;
    if (!epoch->should_stop || !epoch->should_stop(epoch->self)) return true;
    struct dpmf_error error = {0};
    fail(epoch, error_set(&error, DPMF_ERR_BASE_CANCELLED, "interrupted"), &error);
    return false;
}

static const struct kernel_chunk *load(struct sgd_epoch *epoch, size_t superblock, int buffer) {
    struct dpmf_error error = {0};
    const struct kernel_chunk *chunks = tiling_chunks(
        epoch->tiling, superblock, epoch->buffers ? epoch->buffers[buffer] : NULL, &error);
    if (!chunks) fail(epoch, error.code, &error);
    return chunks;
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
static void visit_superblock(struct sgd_epoch *epoch, size_t superblock, int worker, uint8_t *done,
                             const struct kernel_chunk *chunks) {
    size_t n = epoch->n_groups, left = n, idle = 0;
    size_t group = (size_t)worker * n / (size_t)thread_pool_size(epoch->pool);
    memset(done, 0, n);
    for (; left > 0; group = group + 1 == n ? 0 : group + 1) {
        if (done[group] || !take_group(epoch, group)) {
            if (++idle > 2 * n) sched_yield(); /* every group left is taken: let its holder run */
            continue;
        }
        idle = 0;
        if (goes_on(epoch)) visit_tile(epoch, superblock, group, chunks);
        leave_group(epoch, group);
        done[group] = 1;
        left--;
    }
}

static void run_freely(struct sgd_epoch *epoch, int worker) {
    uint8_t *done = memory_alloc(epoch->n_groups, 1);
    if (!done) {
        struct dpmf_error error = {0};
        fail(epoch, error_no_memory(&error), &error);
        return;
    }
    for (;;) {
        uint64_t superblock = atomic_fetch_add(&epoch->next, 1);
        if (superblock >= epoch->n_superblocks || !goes_on(epoch)) break;
        const struct kernel_chunk *chunks = load(epoch, (size_t)superblock, worker);
        if (chunks) visit_superblock(epoch, (size_t)superblock, worker, done, chunks);
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
        if (atomic_load_explicit(&epoch->code, memory_order_relaxed) < 0) return false;
        if (looks > PATIENCE) sched_yield();
    }
    return true;
}

static void run_in_order(struct sgd_epoch *epoch) {
    size_t n_groups = epoch->n_groups, per_set = DETERMINISTIC_LANES * n_groups;
    size_t n_sets = (epoch->n_superblocks + DETERMINISTIC_LANES - 1) / DETERMINISTIC_LANES;
    for (;;) {
        uint64_t tile = atomic_fetch_add(&epoch->next, 1);
        size_t set = (size_t)(tile / per_set), rest = (size_t)(tile % per_set);
        if (set >= n_sets || !goes_on(epoch)) return;
        size_t step = rest / DETERMINISTIC_LANES, lane = rest % DETERMINISTIC_LANES;
        size_t first = set * DETERMINISTIC_LANES, superblock = first + lane;
        if (superblock >= epoch->n_superblocks) continue;
        size_t n_lanes = epoch->n_superblocks - first;
        if (n_lanes > DETERMINISTIC_LANES) n_lanes = DETERMINISTIC_LANES;

        size_t group = (lane_start(epoch, lane) + step) % n_groups;
        uint64_t group_visit = first + visits_before(epoch, lane, group, n_lanes);
        if (!await(epoch, &epoch->lane_turn[lane], set * n_groups + step)) return;
        if (step == 0) epoch->loaded[lane] = load(epoch, superblock, (int)lane);
        if (!epoch->loaded[lane]) return;
        if (!await(epoch, &epoch->group_turn[group], group_visit)) return;
        visit_tile(epoch, superblock, group, epoch->loaded[lane]);
        atomic_store_explicit(&epoch->group_turn[group].n, group_visit + 1, memory_order_release);
        atomic_store_explicit(&epoch->lane_turn[lane].n, set * n_groups + step + 1,
                              memory_order_release);
    }
}

/* ---- the whole -------------------------------------------------------------------------------- */

static int make_buffers(struct sgd_epoch *epoch, struct dpmf_error *error) {
    if (!tiling_is_on_disk(epoch->tiling)) return 0;
    int n = epoch->order == SGD_DETERMINISTIC ? DETERMINISTIC_LANES : thread_pool_size(epoch->pool);
    epoch->buffers = memory_alloc_zero((size_t)n, sizeof(void *));
    if (!epoch->buffers) return error_no_memory(error);
    epoch->n_buffers = n;
    for (int i = 0; i < n; i++) {
        epoch->buffers[i] =
            memory_alloc(tiling_buffer_chunks(epoch->tiling), sizeof epoch->buffers[0][0]);
        if (!epoch->buffers[i]) return error_no_memory(error);
    }
    return 0;
}

int sgd_epoch_init(struct sgd_epoch **out, const struct tiling *tiling,
                   const struct kernel_set *kernels, struct factors *factors, enum sgd_order order,
                   struct thread_pool *pool, struct dpmf_error *error) {
    *out = NULL;
    struct sgd_epoch *epoch = memory_alloc_zero(1, sizeof *epoch);
    if (!epoch) return error_no_memory(error);
    epoch->tiling = tiling;
    epoch->kernels = kernels;
    epoch->factors = factors;
    epoch->order = order;
    epoch->pool = pool;
    epoch->kernel = kernels->sgd_tile(factors->k);
    epoch->n_superblocks = tiling_n_superblocks(tiling);
    epoch->n_groups = tiling_n_groups(tiling);
    epoch->group_turn = aligned_alloc(64, epoch->n_groups * sizeof(struct turn));
    epoch->lane_turn = aligned_alloc(64, DETERMINISTIC_LANES * sizeof(struct turn));
    epoch->loaded = memory_alloc_zero(DETERMINISTIC_LANES, sizeof(void *));
    epoch->squared_error =
        memory_alloc_zero(epoch->n_superblocks, epoch->n_groups * sizeof(double));
    int code = 0;
    if (!epoch->group_turn || !epoch->lane_turn || !epoch->loaded || !epoch->squared_error)
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
    for (int i = 0; i < epoch->n_buffers; i++) free(epoch->buffers[i]);
    free(epoch->buffers);
    free(epoch->loaded);
    free(epoch->group_turn);
    free(epoch->lane_turn);
    free(epoch->squared_error);
    free(epoch);
}

static void run_worker(void *self, int worker) {
    struct sgd_epoch *epoch = self;
    unsigned state = epoch->kernels->flush_denormals();
    if (epoch->order == SGD_DETERMINISTIC)
        run_in_order(epoch);
    else
        run_freely(epoch, worker);
    epoch->kernels->restore_denormals(state);
}

int sgd_epoch_run(struct sgd_epoch *epoch, const struct sgd_rates *rates,
                  bool (*should_stop)(void *self), void *self, double *squared_error,
                  struct dpmf_error *error) {
    epoch->rates = *rates;
    epoch->should_stop = should_stop;
    epoch->self = self;
    atomic_store(&epoch->next, 0);
    atomic_store(&epoch->code, 0);
    for (size_t g = 0; g < epoch->n_groups; g++) atomic_store(&epoch->group_turn[g].n, 0);
    for (size_t p = 0; p < DETERMINISTIC_LANES; p++) atomic_store(&epoch->lane_turn[p].n, 0);
    thread_pool_run(epoch->pool, run_worker, epoch);
    int code = atomic_load(&epoch->code);
    if (code < 0) {
        if (error) *error = epoch->error;
        return code;
    }
    *squared_error = 0;
    for (size_t i = 0; i < epoch->n_superblocks * epoch->n_groups; i++)
        *squared_error += epoch->squared_error[i];
    return 0;
}
