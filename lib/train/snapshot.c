/*
 * The snapshots of snapshot.h. Fed by the workers of sgd_epoch.c as they pass by and by a thread of
 * its own; writes checkpoints, which resume.c reads. One lock guards the states; rows are written
 * without it, by whoever has claimed them. As long as a claim is open the collection cannot end, so
 * a worker that got to know of one can rely on it.
 */
#define _GNU_SOURCE
#include "train/snapshot.h"

#include <assert.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"

enum piece_state { PIECE_UNSAVED, PIECE_SAVING, PIECE_SAVED };

#define LOOK_AGAIN 0.002 /* seconds, for superblocks that are still at work */

struct snapshot {
    struct snapshot_source source;
    size_t n_superblocks, n_groups;
    pthread_t thread;
    pthread_mutex_t mutex; /* guards all that follows */
    pthread_cond_t changed;
    uint8_t *superblocks, *groups; /* enum piece_state */
    double *squared_error;         /* at the cut, by superblock */
    struct checkpoint_draft *draft;
    struct checkpoint_state state;
    size_t first, cut;
    size_t n_left;   /* superblocks and groups that are not saved */
    size_t n_saving; /* claims that are open */
    bool with_best, best_saved;
    bool idle;    /* nothing is at work: the thread may save groups */
    bool dropped; /* it is to end without an output */
    bool closing;
    _Atomic bool collecting; /* written with the lock held */
    double begun;            /* when, and where, the last one was */
    uint64_t begun_at;
    _Atomic int code;
    struct dpmf_error error;
};

/* Called with the lock held. The first failure is the one that is reported. */
static void fail(struct snapshot *snapshot, int code, const struct dpmf_error *error) {
    snapshot->dropped = true;
    if (snapshot->code == 0) {
        snapshot->error = *error;
        atomic_store(&snapshot->code, code);
    }
    pthread_cond_broadcast(&snapshot->changed);
}

/* ---- pieces ---------------------------------------------------------------------------------- */

/* The user rows of a superblock, from the worker that has them or from their place. */
static int save_users(struct snapshot *snapshot, size_t s, const struct superblock_view *view,
                      struct dpmf_error *error) {
    const struct snapshot_source *source = &snapshot->source;
    const struct row_store *users = source->users;
    uint64_t first, n, piece = row_store_piece(users->stride);
    tiling_superblock_users(source->tiling, s, &first, &n);
    if (s < snapshot->cut && s >= snapshot->first)
        snapshot->squared_error[s] = sgd_epoch_squared_error(source->epoch, s);
    if (view)
        return checkpoint_draft_put_rows(snapshot->draft, CHECKPOINT_USERS, first, n, view->rows,
                                         users->stride, view->biases, error);
    if (users->rows) piece = n;
    float *buffer = users->rows ? NULL : memory_alloc((size_t)piece, users->stride * sizeof(float));
    int code = users->rows || buffer ? 0 : error_no_memory(error);
    for (uint64_t i = 0; i < n && code == 0; i += piece) {
        uint64_t m = n - i < piece ? n - i : piece;
        const float *rows = row_store_look(users, first + i, m, buffer, error);
        code = rows ? checkpoint_draft_put_rows(snapshot->draft, CHECKPOINT_USERS, first + i, m,
                                                rows, users->stride,
                                                source->factors->users.biases + first + i, error)
                    : error->code;
    }
    free(buffer);
    return code;
}

static int save_group(struct snapshot *snapshot, size_t group, struct dpmf_error *error) {
    const struct factor_matrix *items = &snapshot->source.factors->items;
    uint64_t first, n;
    bool user_resident;
    tiling_group(snapshot->source.tiling, group, &first, &n, &user_resident);
    return checkpoint_draft_put_rows(snapshot->draft, CHECKPOINT_ITEMS, first, n,
                                     items->rows + first * items->stride, items->stride,
                                     items->biases + first, error);
}

/* With the lock held, which is let go of meanwhile: saves a piece that nobody has claimed. */
static void save_piece(struct snapshot *snapshot, uint8_t *state, size_t superblock, size_t group,
                       const struct superblock_view *view) {
    struct dpmf_error error = {0};
    *state = PIECE_SAVING;
    snapshot->n_saving++;
    pthread_mutex_unlock(&snapshot->mutex);
    int code = group != SIZE_MAX ? save_group(snapshot, group, &error)
                                 : save_users(snapshot, superblock, view, &error);
    pthread_mutex_lock(&snapshot->mutex);
    *state = PIECE_SAVED;
    snapshot->n_saving--;
    snapshot->n_left--;
    if (code < 0) fail(snapshot, code, &error);
    pthread_cond_broadcast(&snapshot->changed);
}

/* ---- workers --------------------------------------------------------------------------------- */

int snapshot_check(struct snapshot *snapshot, struct dpmf_error *error) {
    if (!snapshot || atomic_load_explicit(&snapshot->code, memory_order_relaxed) == 0) return 0;
    pthread_mutex_lock(&snapshot->mutex);
    int code = snapshot->code;
    if (error) *error = snapshot->error;
    pthread_mutex_unlock(&snapshot->mutex);
    return code;
}

/* With the lock held: whether what is at this position comes after the cut of a collection. */
static bool is_after_cut(const struct snapshot *snapshot, uint32_t epoch, size_t superblock) {
    if (!snapshot->collecting || snapshot->dropped) return false;
    return epoch > snapshot->state.epoch || superblock >= snapshot->cut;
}

int snapshot_before_users(struct snapshot *snapshot, uint32_t epoch,
                          const struct superblock_view *view, struct dpmf_error *error) {
    assert(view);
    if (!atomic_load_explicit(&snapshot->collecting, memory_order_acquire))
        return snapshot_check(snapshot, error);
    pthread_mutex_lock(&snapshot->mutex);
    uint8_t *state = &snapshot->superblocks[view->superblock];
    /* asked again after waiting: by then there may be another collection */
    while (is_after_cut(snapshot, epoch, view->superblock) && *state == PIECE_SAVING)
        pthread_cond_wait(&snapshot->changed, &snapshot->mutex);
    if (is_after_cut(snapshot, epoch, view->superblock) && *state == PIECE_UNSAVED)
        save_piece(snapshot, state, view->superblock, SIZE_MAX, view);
    pthread_mutex_unlock(&snapshot->mutex);
    return snapshot_check(snapshot, error);
}

/* Whoever comes first saves the group. Only with Hogwild are there others meanwhile, and they go
 * on. */
int snapshot_before_group(struct snapshot *snapshot, uint32_t epoch, size_t superblock,
                          size_t group, struct dpmf_error *error) {
    if (!atomic_load_explicit(&snapshot->collecting, memory_order_acquire))
        return snapshot_check(snapshot, error);
    pthread_mutex_lock(&snapshot->mutex);
    uint8_t *state = &snapshot->groups[group];
    if (is_after_cut(snapshot, epoch, superblock) && *state == PIECE_UNSAVED)
        save_piece(snapshot, state, SIZE_MAX, group, NULL);
    pthread_mutex_unlock(&snapshot->mutex);
    return snapshot_check(snapshot, error);
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* Whether the superblock's rows are as they are to be saved: those before the cut, once they are
 * done. */
static bool is_settled(const struct snapshot *snapshot, size_t s) {
    uint32_t epochs = snapshot->state.epoch + (s < snapshot->cut ? 1 : 0);
    return snapshot->idle || superblock_stream_epochs(snapshot->source.stream, s) == epochs;
}

/* From the last superblock down: workers come from the other end, and meet the thread once. */
static bool save_what_is_settled(struct snapshot *snapshot) {
    bool found = false;
    for (size_t s = snapshot->n_superblocks; s-- > 0 && !snapshot->dropped;) {
        if (snapshot->superblocks[s] != PIECE_UNSAVED || !is_settled(snapshot, s)) continue;
        save_piece(snapshot, &snapshot->superblocks[s], s, SIZE_MAX, NULL);
        found = true;
    }
    for (size_t g = 0; snapshot->idle && g < snapshot->n_groups && !snapshot->dropped; g++) {
        if (snapshot->groups[g] != PIECE_UNSAVED) continue;
        save_piece(snapshot, &snapshot->groups[g], SIZE_MAX, g, NULL);
        found = true;
    }
    return found;
}

/* The error up to the cut, added up in the order of superblocks. */
static bool sum_errors(struct snapshot *snapshot) {
    struct checkpoint_state *state = &snapshot->state;
    for (size_t s = snapshot->first; s < snapshot->cut; s++) {
        state->squared_error += snapshot->squared_error[s];
        state->ratings_done += tiling_superblock_ratings(snapshot->source.tiling, s);
    }
    if (state->ratings_done == 0) return true;
    double rmse = sqrt(state->squared_error / (double)state->ratings_done);
    return isfinite(rmse) && rmse <= snapshot->source.worst_rmse;
}

static int put_rest(struct snapshot *snapshot, struct dpmf_error *error) {
    int code = checkpoint_draft_put_ids(snapshot->draft, error);
    if (code == 0 && snapshot->with_best)
        code = best_epoch_save(snapshot->source.best, snapshot->draft, error);
    return code;
}

/* With the lock held. */
static void end_collection(struct snapshot *snapshot) {
    struct dpmf_error error = {0};
    struct checkpoint_draft *draft = snapshot->draft;
    bool whole = !snapshot->dropped && snapshot->n_left == 0;
    if (whole && !sum_errors(snapshot)) {
        fail(snapshot, error_set(&error, DPMF_ERR_TRAIN_DIVERGED, "training diverged"), &error);
        whole = false;
    }
    pthread_mutex_unlock(&snapshot->mutex);
    int code = 0;
    if (whole)
        code = checkpoint_draft_commit(draft, &snapshot->state, &error);
    else
        checkpoint_draft_abandon(draft);
    pthread_mutex_lock(&snapshot->mutex);
    if (code < 0) fail(snapshot, code, &error);
    snapshot->draft = NULL;
    atomic_store_explicit(&snapshot->collecting, false, memory_order_release);
    pthread_cond_broadcast(&snapshot->changed);
}

/* With the lock held. */
static void collect(struct snapshot *snapshot) {
    struct dpmf_error error = {0};
    pthread_mutex_unlock(&snapshot->mutex);
    int code = put_rest(snapshot, &error);
    pthread_mutex_lock(&snapshot->mutex);
    snapshot->best_saved = true;
    pthread_cond_broadcast(&snapshot->changed);
    if (code < 0) fail(snapshot, code, &error);
    while (snapshot->n_left > 0 && !snapshot->dropped)
        if (!save_what_is_settled(snapshot) && snapshot->n_left > 0 && !snapshot->dropped)
            clock_wait(&snapshot->changed, &snapshot->mutex, clock_now() + LOOK_AGAIN);
    while (snapshot->n_saving > 0) pthread_cond_wait(&snapshot->changed, &snapshot->mutex);
    end_collection(snapshot);
}

static void *thread_main(void *argument) {
    struct snapshot *snapshot = argument;
    pthread_mutex_lock(&snapshot->mutex);
    for (;;) {
        while (!snapshot->collecting && !snapshot->closing)
            pthread_cond_wait(&snapshot->changed, &snapshot->mutex);
        if (snapshot->collecting)
            collect(snapshot);
        else
            break;
    }
    pthread_mutex_unlock(&snapshot->mutex);
    return NULL;
}

static uint64_t position_of(const struct snapshot *snapshot, uint32_t epoch, size_t superblock) {
    return (uint64_t)epoch * snapshot->n_superblocks + superblock;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool make_locks(struct snapshot *snapshot) {
    if (pthread_mutex_init(&snapshot->mutex, NULL) != 0) return false;
    if (clock_cond_init(&snapshot->changed)) return true;
    pthread_mutex_destroy(&snapshot->mutex);
    return false;
}

static void free_arrays(struct snapshot *snapshot) {
    free(snapshot->superblocks);
    free(snapshot->groups);
    free(snapshot->squared_error);
    free(snapshot);
}

int snapshot_init(struct snapshot **out, const struct snapshot_source *source,
                  struct dpmf_error *error) {
    assert(out && source);
    *out = NULL;
    struct snapshot *snapshot = memory_alloc_zero(1, sizeof *snapshot);
    if (!snapshot) return error_no_memory(error);
    snapshot->source = *source;
    snapshot->n_superblocks = tiling_n_superblocks(source->tiling);
    snapshot->n_groups = tiling_n_groups(source->tiling);
    snapshot->superblocks = memory_alloc_zero(snapshot->n_superblocks, 1);
    snapshot->groups = memory_alloc_zero(snapshot->n_groups, 1);
    snapshot->squared_error = memory_alloc_zero(snapshot->n_superblocks, sizeof(double));
    snapshot->begun = clock_now();
    snapshot->begun_at = position_of(snapshot, source->first_epoch, source->first_superblock);
    if (!snapshot->superblocks || !snapshot->groups || !snapshot->squared_error ||
        !make_locks(snapshot)) {
        free_arrays(snapshot);
        return error_no_memory(error);
    }
    if (pthread_create(&snapshot->thread, NULL, thread_main, snapshot) != 0) {
        pthread_cond_destroy(&snapshot->changed);
        pthread_mutex_destroy(&snapshot->mutex);
        free_arrays(snapshot);
        error_set(error, DPMF_ERR_BASE_THREAD, "cannot start a thread to write snapshots with");
        error_hint(error, "use fewer threads");
        return DPMF_ERR_BASE_THREAD;
    }
    *out = snapshot;
    return 0;
}

void snapshot_free(struct snapshot *snapshot) {
    if (!snapshot) return;
    pthread_mutex_lock(&snapshot->mutex);
    snapshot->closing = snapshot->dropped = true;
    pthread_cond_broadcast(&snapshot->changed);
    pthread_mutex_unlock(&snapshot->mutex);
    pthread_join(snapshot->thread, NULL);
    pthread_cond_destroy(&snapshot->changed);
    pthread_mutex_destroy(&snapshot->mutex);
    free_arrays(snapshot);
}

bool snapshot_is_at(const struct snapshot *snapshot, uint32_t epoch, size_t superblock) {
    return snapshot->begun_at == position_of(snapshot, epoch, superblock);
}

bool snapshot_is_due(struct snapshot *snapshot, uint32_t epoch, size_t superblock) {
    const struct snapshot_source *source = &snapshot->source;
    if (atomic_load_explicit(&snapshot->collecting, memory_order_relaxed)) return false;
    uint64_t at = position_of(snapshot, epoch, superblock);
    if (at <= snapshot->begun_at) return false;
    return (source->every_superblocks > 0 &&
            at - snapshot->begun_at >= source->every_superblocks) ||
           (source->every_seconds > 0 && clock_now() - snapshot->begun >= source->every_seconds);
}

int snapshot_begin(struct snapshot *snapshot, const struct checkpoint_state *state, size_t first,
                   struct dpmf_error *error) {
    assert(state);
    const struct snapshot_source *source = &snapshot->source;
    if (atomic_load(&snapshot->collecting)) return 0;
    struct checkpoint_draft *draft;
    bool with_best = source->best && source->best->kept &&
                     (state->best_epoch != state->epoch || state->superblocks_done > 0);
    int code = checkpoint_draft_open(&draft, source->path, source->factors, with_best,
                                     source->provenance, error);
    if (code < 0) return code;
    pthread_mutex_lock(&snapshot->mutex);
    snapshot->draft = draft;
    snapshot->state = *state;
    snapshot->first = first;
    snapshot->cut = (size_t)state->superblocks_done;
    snapshot->with_best = with_best;
    snapshot->best_saved = snapshot->idle = snapshot->dropped = false;
    memset(snapshot->superblocks, PIECE_UNSAVED, snapshot->n_superblocks);
    memset(snapshot->groups, PIECE_UNSAVED, snapshot->n_groups);
    snapshot->n_left = snapshot->n_superblocks + snapshot->n_groups;
    snapshot->begun = clock_now();
    snapshot->begun_at = position_of(snapshot, state->epoch, snapshot->cut);
    atomic_store_explicit(&snapshot->collecting, true, memory_order_release);
    pthread_cond_broadcast(&snapshot->changed);
    pthread_mutex_unlock(&snapshot->mutex);
    return 0;
}

void snapshot_await_best(struct snapshot *snapshot) {
    if (!snapshot) return;
    pthread_mutex_lock(&snapshot->mutex);
    while (snapshot->collecting && snapshot->with_best && !snapshot->best_saved)
        pthread_cond_wait(&snapshot->changed, &snapshot->mutex);
    pthread_mutex_unlock(&snapshot->mutex);
}

int snapshot_finish(struct snapshot *snapshot, struct dpmf_error *error) {
    pthread_mutex_lock(&snapshot->mutex);
    snapshot->idle = true;
    pthread_cond_broadcast(&snapshot->changed);
    while (snapshot->collecting) pthread_cond_wait(&snapshot->changed, &snapshot->mutex);
    pthread_mutex_unlock(&snapshot->mutex);
    return snapshot_check(snapshot, error);
}

void snapshot_drop(struct snapshot *snapshot) {
    pthread_mutex_lock(&snapshot->mutex);
    snapshot->dropped = true;
    pthread_cond_broadcast(&snapshot->changed);
    while (snapshot->collecting) pthread_cond_wait(&snapshot->changed, &snapshot->mutex);
    pthread_mutex_unlock(&snapshot->mutex);
}
