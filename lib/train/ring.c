/*
 * The ring of ring.h. The thread that calls in carries messages, and a second one works meanwhile:
 * what carries messages needs to be looked after now and then, or large ones would not move. Fed by
 * sgd_train.c and langevin_train.c through sgd_epoch.c.
 */
#define _GNU_SOURCE
#include "train/ring.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"

enum {
    SLOTS = 2, /* parts that a rank has at a time */
    TAG = 64,  /* tag of the first array of the first slot */
    MESSAGES = RING_ARRAYS_MAX + 1,
};

/* Seconds from look to look at messages, while others work: a look takes a core from them, and a
 * part that comes by has the whole work on another one to arrive in. */
#define LOOK_AGAIN 0.002

/* What goes with a part besides its rows. */
struct note {
    uint64_t stop; /* somewhere something failed: nobody works on */
};

/* The messages of a part that is coming or going. */
struct transfer {
    struct cluster_request *request[MESSAGES];
    struct note note;
};

struct ring {
    const struct dpmf_cluster *cluster;
    const struct tiling *tiling;
    struct ring_array arrays[RING_ARRAYS_MAX];
    size_t n_arrays;
    uint32_t round;
    struct transfer coming[SLOTS], going[SLOTS];
    double waited;

    /* The part that is being worked on. */
    ring_work *work;
    void *self;
    struct tiling_part part;
    bool last;
    pthread_mutex_t mutex; /* guards `done` */
    pthread_cond_t changed;
    bool done;

    bool gathering; /* and not in a round */

    /* The round under way. */
    bool stopping;
    int code;
    struct dpmf_error error;
};

int ring_init(struct ring **out, const struct dpmf_cluster *cluster, const struct tiling *tiling,
              uint32_t first_round, const struct ring_array *arrays, size_t n_arrays,
              struct dpmf_error *error) {
    assert(out && tiling && arrays && n_arrays > 0);
    *out = NULL;
    struct ring *ring = memory_alloc_zero(1, sizeof *ring);
    if (!ring) return error_no_memory(error);
    ring->cluster = cluster;
    ring->tiling = tiling;
    ring->round = first_round;
    for (size_t i = 0; i < n_arrays; i++) ring->arrays[i] = arrays[i];
    ring->n_arrays = n_arrays;
    if (pthread_mutex_init(&ring->mutex, NULL) != 0) {
        free(ring);
        return error_no_memory(error);
    }
    if (!clock_cond_init(&ring->changed)) {
        pthread_mutex_destroy(&ring->mutex);
        free(ring);
        return error_no_memory(error);
    }
    *out = ring;
    return 0;
}

void ring_free(struct ring *ring) {
    if (!ring) return;
    pthread_cond_destroy(&ring->changed);
    pthread_mutex_destroy(&ring->mutex);
    free(ring);
}

/* ---- who has what -----------------------------------------------------------------------------
 */

/* Rounds go one way and back. */
static bool goes_forward(const struct ring *ring) { return ring->round % 2 == 0; }

/* Parts come in pairs. A round forward begins with each rank's own pair, and what it has next is
 * that of the rank before it; in the end it has the pair of the rank after it, with which the way
 * back begins. */
static size_t pair_of(const struct ring *ring, int rank, uint32_t step) {
    assert(rank >= 0);
    const uint64_t n = (uint64_t)cluster_size(ring->cluster), own = (uint64_t)rank;
    return (size_t)((goes_forward(ring) ? own + n - step % n : own + 1 + step) % n);
}

static size_t pair_at(const struct ring *ring, uint32_t step) {
    return pair_of(ring, cluster_rank(ring->cluster), step);
}

static struct tiling_part part_of(const struct ring *ring, size_t pair, size_t slot) {
    assert(slot < 2);
    return tiling_part(ring->tiling, pair * SLOTS + slot);
}

/* Both parts of a pair, whose rows follow each other. */
static struct tiling_part both_of(const struct ring *ring, size_t pair) {
    struct tiling_part both = part_of(ring, pair, 0);
    both.n_rows += part_of(ring, pair, 1).n_rows;
    return both;
}

/* Where parts go, and where they come from. */
static int next_rank(const struct ring *ring) {
    const int n = cluster_size(ring->cluster);
    return (cluster_rank(ring->cluster) + (goes_forward(ring) ? 1 : n - 1)) % n;
}

static int rank_before(const struct ring *ring) {
    const int n = cluster_size(ring->cluster);
    return (cluster_rank(ring->cluster) + (goes_forward(ring) ? n - 1 : 1)) % n;
}

/* ---- messages ---------------------------------------------------------------------------------
 */

static void *bytes_of(const struct ring_array *array, const struct tiling_part *part, size_t *n) {
    assert(array && part && n);
    *n = (size_t)part->n_rows * array->row_bytes;
    return (char *)array->rows + part->first_row * array->row_bytes;
}

/* Whether an array takes part in a transfer: of a round, or of gathering. */
static bool moves(const struct ring *ring, size_t array) {
    return !(ring->gathering && ring->arrays[array].stays);
}

static int begin_coming(struct ring *ring, struct transfer *transfer, int from, int tag,
                        const struct tiling_part *part, struct dpmf_error *error) {
    int code =
        cluster_begin_receive(ring->cluster, from, tag + RING_ARRAYS_MAX, &transfer->note,
                              sizeof transfer->note, &transfer->request[RING_ARRAYS_MAX], error);
    for (size_t i = 0; i < ring->n_arrays && code == 0; i++) {
        if (!moves(ring, i)) continue;
        size_t n;
        void *bytes = bytes_of(&ring->arrays[i], part, &n);
        code = cluster_begin_receive(ring->cluster, from, tag + (int)i, bytes, n,
                                     &transfer->request[i], error);
    }
    return code;
}

static int begin_going(struct ring *ring, struct transfer *transfer, int to, int tag,
                       const struct tiling_part *part, struct dpmf_error *error) {
    transfer->note = (struct note){.stop = ring->stopping};
    int code =
        cluster_begin_send(ring->cluster, to, tag + RING_ARRAYS_MAX, &transfer->note,
                           sizeof transfer->note, &transfer->request[RING_ARRAYS_MAX], error);
    for (size_t i = 0; i < ring->n_arrays && code == 0; i++) {
        if (!moves(ring, i)) continue;
        size_t n;
        const void *bytes = bytes_of(&ring->arrays[i], part, &n);
        code = cluster_begin_send(ring->cluster, to, tag + (int)i, bytes, n, &transfer->request[i],
                                  error);
    }
    return code;
}

static int end_transfer(struct ring *ring, struct transfer *transfer, struct dpmf_error *error) {
    int code = 0;
    for (size_t i = 0; i < MESSAGES && code == 0; i++)
        code = cluster_wait(ring->cluster, &transfer->request[i], error);
    return code;
}

/* Looks after whatever is under way. */
static int look_after(struct ring *ring, struct dpmf_error *error) {
    for (size_t slot = 0; slot < SLOTS; slot++)
        for (size_t i = 0; i < MESSAGES; i++) {
            int code = cluster_test(ring->cluster, &ring->coming[slot].request[i], error);
            if (code >= 0) code = cluster_test(ring->cluster, &ring->going[slot].request[i], error);
            if (code < 0) return code;
        }
    return 0;
}

static bool is_under_way(const struct ring *ring) {
    for (size_t slot = 0; slot < SLOTS; slot++)
        for (size_t i = 0; i < MESSAGES; i++)
            if (ring->coming[slot].request[i] || ring->going[slot].request[i]) return true;
    return false;
}

/* ---- work -------------------------------------------------------------------------------------
 */

static void *work_main(void *argument) {
    struct ring *ring = argument;
    struct dpmf_error error = {0};
    int code = ring->work(ring->self, &ring->part, ring->last, &error);
    pthread_mutex_lock(&ring->mutex);
    if (code < 0) {
        ring->code = code;
        ring->error = error;
        ring->stopping = true;
    }
    ring->done = true;
    pthread_cond_signal(&ring->changed);
    pthread_mutex_unlock(&ring->mutex);
    return NULL;
}

/* Until the work is done, messages are looked after; a failure of theirs does not keep this from
 * waiting for it. */
static int carry_messages(struct ring *ring, struct dpmf_error *error) {
    int code = 0;
    pthread_mutex_lock(&ring->mutex);
    while (!ring->done) {
        if (code < 0 || !is_under_way(ring)) {
            pthread_cond_wait(&ring->changed, &ring->mutex);
            continue;
        }
        clock_wait(&ring->changed, &ring->mutex, clock_now() + LOOK_AGAIN);
        pthread_mutex_unlock(&ring->mutex);
        code = look_after(ring, error);
        pthread_mutex_lock(&ring->mutex);
    }
    pthread_mutex_unlock(&ring->mutex);
    return code;
}

static int work_on(struct ring *ring, const struct tiling_part *part, bool last,
                   struct dpmf_error *error) {
    pthread_t thread;
    ring->part = *part;
    ring->last = last;
    ring->done = false;
    if (pthread_create(&thread, NULL, work_main, ring) != 0) {
        error_set(&ring->error, DPMF_ERR_BASE_THREAD, "cannot start a thread to work with");
        error_hint(&ring->error, "use fewer threads");
        ring->code = DPMF_ERR_BASE_THREAD;
        ring->stopping = true;
        return 0;
    }
    int code = carry_messages(ring, error);
    pthread_join(thread, NULL);
    return code;
}

/* ---- a round ----------------------------------------------------------------------------------
 */

/* One of the two parts of a step, the first or the second of them: it comes, is worked on, and
 * goes, while the other is worked on. */
static int visit_slot(struct ring *ring, uint32_t step, size_t turn, struct dpmf_error *error) {
    const size_t slot = goes_forward(ring) ? turn : SLOTS - 1 - turn;
    const uint32_t steps = (uint32_t)cluster_size(ring->cluster);
    const int tag = TAG + (int)slot * MESSAGES;
    const struct tiling_part part = part_of(ring, pair_at(ring, step), slot);
    struct transfer *coming = &ring->coming[slot], *going = &ring->going[slot];
    double begun = clock_now();
    int code = end_transfer(ring, coming, error);
    ring->waited += clock_now() - begun;
    if (code < 0) return code;
    if (step > 0 && coming->note.stop) ring->stopping = true;
    if (step + 1 < steps) {
        const struct tiling_part next = part_of(ring, pair_at(ring, step + 1), slot);
        code = begin_coming(ring, coming, rank_before(ring), tag, &next, error);
    }
    if (code == 0 && !ring->stopping)
        code = work_on(ring, &part, step + 1 == steps && turn + 1 == SLOTS, error);
    if (code == 0) code = end_transfer(ring, going, error); /* the transfer of the step before */
    if (code == 0 && step + 1 < steps)
        code = begin_going(ring, going, next_rank(ring), tag, &part, error);
    return code;
}

int ring_round(struct ring *ring, ring_work *work, void *self, struct dpmf_error *error) {
    assert(work);
    const uint32_t steps = (uint32_t)cluster_size(ring->cluster);
    int code = 0;
    ring->work = work;
    ring->self = self;
    ring->gathering = false;
    ring->stopping = false;
    ring->code = 0;
    for (uint32_t step = 0; step < steps && code == 0; step++)
        for (size_t turn = 0; turn < SLOTS && code == 0; turn++)
            code = visit_slot(ring, step, turn, error);
    for (size_t slot = 0; slot < SLOTS && code == 0; slot++)
        code = end_transfer(ring, &ring->going[slot], error);
    if (code < 0) return code;
    if (ring->code < 0 && error) *error = ring->error;
    code = cluster_agree(ring->cluster, ring->code, error);
    ring->round++;
    return code;
}

/* ---- between rounds ---------------------------------------------------------------------------
 */

/* Round the ring, a pair at a time: in step s a rank hands on the pair that it got in the step
 * before. */
int ring_gather_all(struct ring *ring, struct dpmf_error *error) {
    const uint32_t steps = (uint32_t)cluster_size(ring->cluster);
    struct transfer *coming = &ring->coming[0], *going = &ring->going[0];
    int code = 0;
    ring->gathering = true;
    for (uint32_t step = 0; step + 1 < steps && code == 0; step++) {
        const struct tiling_part out = both_of(ring, pair_at(ring, step));
        const struct tiling_part in = both_of(ring, pair_at(ring, step + 1));
        code = begin_coming(ring, coming, rank_before(ring), TAG, &in, error);
        if (code == 0) code = begin_going(ring, going, next_rank(ring), TAG, &out, error);
        if (code == 0) code = end_transfer(ring, coming, error);
        if (code == 0) code = end_transfer(ring, going, error);
    }
    return code;
}

int ring_gather_first(struct ring *ring, struct dpmf_error *error) {
    const int n = cluster_size(ring->cluster);
    int code = 0;
    ring->gathering = true;
    if (cluster_rank(ring->cluster) > 0) {
        const struct tiling_part own = both_of(ring, pair_at(ring, 0));
        code = begin_going(ring, &ring->going[0], 0, TAG, &own, error);
        return code < 0 ? code : end_transfer(ring, &ring->going[0], error);
    }
    for (int r = 1; r < n && code == 0; r++) {
        const struct tiling_part part = both_of(ring, pair_of(ring, r, 0));
        code = begin_coming(ring, &ring->coming[0], r, TAG, &part, error);
        if (code == 0) code = end_transfer(ring, &ring->coming[0], error);
    }
    return code;
}

double ring_seconds_waited(const struct ring *ring) { return ring->waited; }
