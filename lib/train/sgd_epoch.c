/*
 * The update half of the paper's Algorithm 2: all threads go through the tiles of an epoch. A
 * thread owns the superblock it works on and, while it works on it, the item group; so no two
 * threads ever write one row (but for Hogwild, which asks for it). Fed by lib/schedule and the
 * superblock stream, runs lib/kernels, feeds sgd_train.c.
 *
 * The deterministic order. Every superblock visits the groups from the first to the last, and every
 * group is visited by the superblocks from the first to the last: threads follow each other through
 * the groups. What a row sees is therefore the same sequence of tiles whoever runs them, that of
 * one thread. Superblocks are handed out in their order, so the earliest that is at work never
 * waits.
 */
#define _GNU_SOURCE
#include "train/sgd_epoch.h"

#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

enum {
    IN_ORDER_THREADS = 8, /* most threads: the plan must not depend on their number */
    IN_ORDER_SHARES = 4,  /* superblocks that share L3: good for few threads, and still for eight */
    PATIENCE = 64,        /* looks before a waiting thread lets others run */
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
    /* The superblock whose turn it is (deterministic), or 1 while taken (free) */
    struct turn *group_turn;
    double *squared_error;   /* by tile, so that their sum has one order */
    pthread_mutex_t handing; /* over superblocks, in the free order */

    /* The epoch under way. */
    uint32_t number;
    size_t first;
    struct sgd_groups groups; /* that are visited */
    struct sgd_rates rates;
    struct sgd_watch watch;
    size_t next;          /* superblock to hand out */
    _Atomic bool stopped; /* nothing more is begun */
    _Atomic int code;
    struct dpmf_error error; /* error of the thread that set the code */
};

int sgd_at_once(enum sgd_order order, int threads) {
    assert(threads > 0);
    return order == SGD_DETERMINISTIC ? IN_ORDER_THREADS : threads;
}

int sgd_shares(enum sgd_order order, int threads) {
    assert(threads > 0);
    return order == SGD_DETERMINISTIC ? IN_ORDER_SHARES : threads;
}

size_t sgd_epoch_thread_bytes(void) {
    return (SGD_UNPACK_CHUNKS + KERNEL_AHEAD) * sizeof(struct kernel_chunk);
}

/* ---- one tile -------------------------------------------------------------------------------- */

static struct kernel_step make_step(const struct sgd_epoch *epoch,
                                    const struct superblock_view *view, bool user_resident,
                                    bool is_far) {
    const struct factor_matrix *V = &epoch->factors->items;
    const struct kernel_side users = {view->rows, view->biases, epoch->factors->users.stride};
    const struct kernel_side items = {V->rows, V->biases, V->stride};
    struct kernel_step step = {
        .resident = user_resident ? users : items,
        .moving = user_resident ? items : users,
        .k = epoch->kernels->padded_k(epoch->factors->k),
        .offset = (float)(epoch->factors->offset - tiling_base(epoch->tiling)),
        .rate = epoch->rates.rate,
        .bias_rate = epoch->rates.bias_rate,
        .decay = {1},
        .bias_decay = {1},
        .lead = is_far ? tiling_far_lead(epoch->tiling) : 1,
    };
    for (int i = 1; i <= KERNEL_LANES; i++) {
        step.decay[i] = step.decay[i - 1] * (1 - epoch->rates.rate * epoch->rates.reg);
        step.bias_decay[i] =
            step.bias_decay[i - 1] * (1 - epoch->rates.bias_rate * epoch->rates.bias_reg);
    }
    return step;
}

/* n chunks of a tile from slice *slice on, in slices where a sampler asks for it. */
static double run_chunks(struct sgd_epoch *epoch, const struct superblock_view *view, size_t group,
                         const struct kernel_step *step, const struct kernel_chunk *chunks,
                         uint64_t n, size_t *slice, int worker) {
    assert(worker >= 0 && chunks);
    const struct sgd_noise *noise = epoch->watch.noise;
    if (!noise) return epoch->kernel(step, chunks, (size_t)n);
    double sum = 0;
    for (uint64_t at = 0; at < n; (*slice)++) {
        uint32_t length = noise->slice_chunks(noise->self, view->superblock, group, *slice);
        noise->before_slice(noise->self, worker, view, group, *slice);
        sum += epoch->kernel(step, chunks + at, length);
        noise->after_slice(noise->self, worker, view, group, *slice);
        at += length;
    }
    return sum;
}

/* The chunks of a tile one after the other; packed ones are unpacked a few at a time. */
static double run_tile(struct sgd_epoch *epoch, const struct superblock_view *view, size_t group,
                       struct tile tile, const struct kernel_step *step, int worker) {
    size_t slice = 0;
    if (view->chunks)
        return run_chunks(epoch, view, group, step, view->chunks + tile.first, tile.n, &slice,
                          worker);
    struct kernel_chunk *chunks = epoch->unpacked[worker];
    const uint8_t *at = NULL;
    double sum = 0;
    for (uint64_t done = 0; done < tile.n; done += SGD_UNPACK_CHUNKS) {
        size_t n = tile.n - done < SGD_UNPACK_CHUNKS ? (size_t)(tile.n - done) : SGD_UNPACK_CHUNKS;
        tiling_unpack(epoch->tiling, view->superblock, group, view->packed, &at, n, chunks);
        sum += run_chunks(epoch, view, group, step, chunks, n, &slice, worker);
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

/* Penalties that do not grow with a row's ratings: all biases of some rows, once an epoch. */
static void hold_biases(float *biases, uint64_t n, float hold) {
    assert(hold <= 0 && hold >= -1);
    for (uint64_t i = 0; i < n; i++) biases[i] += hold * biases[i];
}

static void hold_users(const struct sgd_epoch *epoch, const struct superblock_view *view) {
    uint64_t first, n;
    if (epoch->rates.user_hold == 0) return;
    tiling_superblock_users(epoch->tiling, view->superblock, &first, &n);
    hold_biases(view->biases, n, epoch->rates.user_hold);
}

/* `is_first`: of those that the superblock visits, so its users' vectors are not in any cache. */
static void visit_tile(struct sgd_epoch *epoch, const struct superblock_view *view, size_t group,
                       bool is_first, int worker) {
    assert(group < tiling_n_groups(epoch->tiling));
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
    if (view->superblock == 0 && epoch->rates.item_hold != 0)
        hold_biases(epoch->factors->items.biases + first_row, n_rows, epoch->rates.item_hold);
    if (tile.n == 0) return;
    const struct kernel_step step =
        make_step(epoch, view, user_resident, is_first || user_resident);
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

/* Whether a superblock may begin; if so, the watcher is called. One call at a time. */
static bool may_begin(struct sgd_epoch *epoch, size_t superblock) {
    assert(superblock <= tiling_n_superblocks(epoch->tiling));
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

/* ---- free order, and none -------------------------------------------------------------------- */

static bool take_group(struct sgd_epoch *epoch, size_t group) {
    assert(group < tiling_n_groups(epoch->tiling));
    if (epoch->order == SGD_HOGWILD) return true;
    _Atomic uint64_t *lock = &epoch->group_turn[group].n;
    return atomic_load_explicit(lock, memory_order_relaxed) == 0 &&
           atomic_exchange_explicit(lock, 1, memory_order_acquire) == 0;
}

static void leave_group(struct sgd_epoch *epoch, size_t group) {
    assert(group < tiling_n_groups(epoch->tiling));
    if (epoch->order != SGD_HOGWILD)
        atomic_store_explicit(&epoch->group_turn[group].n, 0, memory_order_release);
}

/* Each worker starts with another group, and passes by those that are taken. */
static void visit_freely(struct sgd_epoch *epoch, const struct superblock_view *view, int worker,
                         uint8_t *done) {
    size_t n = epoch->groups.n, left = n, idle = 0;
    size_t i = (size_t)worker * n / (size_t)thread_pool_size(epoch->pool);
    memset(done, 0, n);
    for (; left > 0; i = i + 1 == n ? 0 : i + 1) {
        const size_t group = epoch->groups.first + i;
        if (done[i] || !take_group(epoch, group)) {
            if (++idle > 2 * n) sched_yield(); /* every group left is taken: let its holder run */
            continue;
        }
        idle = 0;
        if (goes_on(epoch)) visit_tile(epoch, view, group, left == n, worker);
        leave_group(epoch, group);
        done[i] = 1;
        left--;
    }
}

/* ---- deterministic order --------------------------------------------------------------------- */

static bool await_turn(struct sgd_epoch *epoch, size_t group, size_t superblock) {
    assert(group < tiling_n_groups(epoch->tiling));
    const _Atomic uint64_t *turn = &epoch->group_turn[group].n;
    for (int looks = 0; atomic_load_explicit(turn, memory_order_acquire) != superblock; looks++) {
        if (has_failed(epoch)) return false;
        if (looks > PATIENCE) sched_yield();
    }
    return true;
}

static void visit_in_order(struct sgd_epoch *epoch, const struct superblock_view *view,
                           int worker) {
    const size_t end = epoch->groups.first + epoch->groups.n;
    for (size_t group = epoch->groups.first; group < end; group++) {
        if (!await_turn(epoch, group, view->superblock) || !goes_on(epoch)) return;
        visit_tile(epoch, view, group, group == epoch->groups.first, worker);
        atomic_store_explicit(&epoch->group_turn[group].n, view->superblock + 1,
                              memory_order_release);
    }
}

/* ---- the workers ----------------------------------------------------------------------------- */

/* Superblocks are handed out one by one, so that each is reported before the next begins. */
static bool next_superblock(struct sgd_epoch *epoch, size_t *superblock) {
    pthread_mutex_lock(&epoch->handing);
    *superblock = epoch->next;
    bool found = *superblock < epoch->n_superblocks && may_begin(epoch, *superblock);
    if (found) epoch->next++;
    pthread_mutex_unlock(&epoch->handing);
    return found;
}

static void visit_superblocks(struct sgd_epoch *epoch, int worker) {
    size_t superblock;
    struct superblock_view view;
    uint8_t *done = memory_alloc(epoch->n_groups, 1);
    if (!done) {
        struct dpmf_error error = {0};
        fail(epoch, error_no_memory(&error), &error);
        return;
    }
    while (next_superblock(epoch, &superblock) && take_superblock(epoch, superblock, &view)) {
        if (epoch->order == SGD_DETERMINISTIC)
            visit_in_order(epoch, &view, worker);
        else
            visit_freely(epoch, &view, worker, done);
        if (epoch->watch.noise && epoch->groups.last)
            epoch->watch.noise->after_users(epoch->watch.noise->self, worker, &view);
        if (epoch->groups.last) hold_users(epoch, &view);
        superblock_stream_give_back(epoch->stream, &view);
    }
    free(done);
}

/* ---- the whole ------------------------------------------------------------------------------- */

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
    assert(out && tiling && kernels && factors && pool);
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
    epoch->squared_error =
        memory_alloc_zero(epoch->n_superblocks, epoch->n_groups * sizeof(double));
    int code = 0;
    if (!epoch->group_turn || !epoch->squared_error) code = error_no_memory(error);
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
    free(epoch->squared_error);
    pthread_mutex_destroy(&epoch->handing);
    free(epoch);
}

static void run_worker(void *self, int worker) {
    struct sgd_epoch *epoch = self;
    unsigned state = epoch->kernels->flush_denormals();
    visit_superblocks(epoch, worker);
    epoch->kernels->restore_denormals(state);
}

static void set_turns(struct sgd_epoch *epoch) {
    uint64_t turn = epoch->order == SGD_DETERMINISTIC ? epoch->first : 0;
    epoch->next = epoch->first;
    for (size_t g = 0; g < epoch->n_groups; g++) atomic_store(&epoch->group_turn[g].n, turn);
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

static int run_groups(struct sgd_epoch *epoch, uint32_t number, size_t first,
                      const struct sgd_groups *groups, const struct sgd_rates *rates,
                      const struct sgd_watch *watch, size_t *done, struct dpmf_error *error) {
    assert(first <= tiling_n_superblocks(epoch->tiling));
    epoch->number = number;
    epoch->first = first;
    epoch->groups = *groups;
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

int sgd_epoch_run(struct sgd_epoch *epoch, uint32_t number, size_t first,
                  const struct sgd_rates *rates, const struct sgd_watch *watch, size_t *done,
                  struct dpmf_error *error) {
    const struct sgd_groups all = {.n = epoch->n_groups, .last = true};
    return run_groups(epoch, number, first, &all, rates, watch, done, error);
}

int sgd_epoch_run_groups(struct sgd_epoch *epoch, uint32_t number, const struct sgd_groups *groups,
                         const struct sgd_rates *rates, const struct sgd_watch *watch,
                         struct dpmf_error *error) {
    size_t done;
    return run_groups(epoch, number, 0, groups, rates, watch, &done, error);
}

double sgd_epoch_squared_error(const struct sgd_epoch *epoch, size_t superblock) {
    assert(superblock < tiling_n_superblocks(epoch->tiling));
    double sum = 0;
    for (size_t g = 0; g < epoch->n_groups; g++)
        sum += epoch->squared_error[superblock * epoch->n_groups + g];
    return sum;
}
