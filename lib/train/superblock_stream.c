/*
 * The stream of superblock_stream.h: fed by the files of a tiling and of the users' rows, feeds
 * sgd_epoch.c. A slot goes round from free to reading, ready, taken, dirty, and back to free; one
 * lock guards the states, and whoever has a slot works on it without the lock.
 */
#define _GNU_SOURCE
#include "train/superblock_stream.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

enum slot_state { SLOT_FREE, SLOT_READING, SLOT_READY, SLOT_TAKEN, SLOT_DIRTY };

struct slot {
    enum slot_state state;
    size_t superblock;
    uint64_t turn; /* order of writing among dirty slots: the smallest first */
    uint8_t *packed;
    float *rows, *biases;
};

struct superblock_stream {
    const struct tiling *tiling;
    const struct row_store *rows;
    float *biases;
    bool streamed;
    size_t n_superblocks, n_slots;
    size_t packed_bytes, rows_bytes, biases_bytes; /* bytes of a slot */
    _Atomic uint32_t *epochs;                      /* by superblock */

    /* The epoch under way. */
    uint32_t epoch;
    size_t first;
    bool running;
    pthread_t reader, writer;
    pthread_mutex_t mutex; /* guards the slots' states and what follows */
    pthread_cond_t freed, ready, dirty;
    struct slot *slots;
    uint64_t n_given_back;
    bool closing;   /* nothing more will be taken, or given back */
    bool cancelled; /* nobody may wait any longer */
    int code;
    struct dpmf_error error;
};

/* ---- making and freeing ---------------------------------------------------------------------- */

static bool make_locks(struct superblock_stream *stream) {
    if (pthread_mutex_init(&stream->mutex, NULL) != 0) return false;
    pthread_cond_t *const conditions[] = {&stream->freed, &stream->ready, &stream->dirty};
    for (size_t i = 0; i < 3; i++)
        if (pthread_cond_init(conditions[i], NULL) != 0) {
            while (i-- > 0) pthread_cond_destroy(conditions[i]);
            pthread_mutex_destroy(&stream->mutex);
            return false;
        }
    return true;
}

static bool make_slots(struct superblock_stream *stream, size_t n) {
    uint64_t users = tiling_users_a_superblock(stream->tiling) + 1; /* one is spare */
    stream->packed_bytes = tiling_packed_bytes(stream->tiling);
    stream->rows_bytes = (size_t)users * stream->rows->stride * sizeof(float);
    stream->biases_bytes = (size_t)users * sizeof(float);
    stream->slots = memory_alloc_zero(n, sizeof stream->slots[0]);
    if (!stream->slots) return false;
    for (; stream->n_slots < n; stream->n_slots++) {
        struct slot *slot = &stream->slots[stream->n_slots];
        slot->packed = memory_map(stream->packed_bytes);
        slot->rows = memory_map(stream->rows_bytes);
        slot->biases = memory_map(stream->biases_bytes);
        if (!slot->packed || !slot->rows || !slot->biases) {
            stream->n_slots++; /* as far as it goes, to be freed */
            return false;
        }
    }
    return true;
}

int superblock_stream_init(struct superblock_stream **out, const struct tiling *tiling,
                           const struct row_store *rows, float *biases, size_t n_slots,
                           struct dpmf_error *error) {
    assert(out && tiling && rows && biases);
    *out = NULL;
    struct superblock_stream *stream = memory_alloc_zero(1, sizeof *stream);
    if (!stream) return error_no_memory(error);
    if (!make_locks(stream)) {
        free(stream);
        return error_no_memory(error);
    }
    stream->tiling = tiling;
    stream->rows = rows;
    stream->biases = biases;
    stream->streamed = tiling_is_streamed(tiling);
    stream->n_superblocks = tiling_n_superblocks(tiling);
    stream->epochs = memory_alloc_zero(stream->n_superblocks, sizeof stream->epochs[0]);
    if (!stream->epochs || (stream->streamed && !make_slots(stream, n_slots))) {
        superblock_stream_free(stream);
        return error_no_memory(error);
    }
    *out = stream;
    return 0;
}

void superblock_stream_free(struct superblock_stream *stream) {
    if (!stream) return;
    superblock_stream_end(stream, NULL);
    for (size_t i = 0; i < stream->n_slots; i++) {
        memory_unmap(stream->slots[i].packed, stream->packed_bytes);
        memory_unmap(stream->slots[i].rows, stream->rows_bytes);
        memory_unmap(stream->slots[i].biases, stream->biases_bytes);
    }
    free(stream->slots);
    free(stream->epochs);
    pthread_cond_destroy(&stream->dirty);
    pthread_cond_destroy(&stream->ready);
    pthread_cond_destroy(&stream->freed);
    pthread_mutex_destroy(&stream->mutex);
    free(stream);
}

/* ---- the two threads ------------------------------------------------------------------------- */

/* Called with the lock held. */
static void fail(struct superblock_stream *stream, int code, const struct dpmf_error *error) {
    if (stream->code == 0) {
        stream->code = code;
        stream->error = *error;
    }
    pthread_cond_broadcast(&stream->freed);
    pthread_cond_broadcast(&stream->ready);
    pthread_cond_broadcast(&stream->dirty);
}

static struct slot *find_slot(struct superblock_stream *stream, enum slot_state state) {
    struct slot *found = NULL;
    for (size_t i = 0; i < stream->n_slots; i++) {
        struct slot *slot = &stream->slots[i];
        if (slot->state == state && (!found || slot->turn < found->turn)) found = slot;
    }
    return found;
}

static int read_slot(struct superblock_stream *stream, struct slot *slot,
                     struct dpmf_error *error) {
    assert(slot);
    uint64_t first, n;
    tiling_superblock_users(stream->tiling, slot->superblock, &first, &n);
    int code = tiling_packed_read(stream->tiling, slot->superblock, slot->packed, error);
    if (code < 0) return code;
    if (!row_store_look(stream->rows, first, n, slot->rows, error)) return error->code;
    memcpy(slot->biases, stream->biases + first, (size_t)n * sizeof slot->biases[0]);
    return 0;
}

static int write_slot(struct superblock_stream *stream, const struct slot *slot,
                      struct dpmf_error *error) {
    assert(slot);
    uint64_t first, n;
    tiling_superblock_users(stream->tiling, slot->superblock, &first, &n);
    memcpy(stream->biases + first, slot->biases, (size_t)n * sizeof slot->biases[0]);
    return row_store_put(stream->rows, first, n, slot->rows, error);
}

static void *reader_main(void *argument) {
    struct superblock_stream *stream = argument;
    struct dpmf_error error = {0};
    pthread_mutex_lock(&stream->mutex);
    for (size_t s = stream->first; s < stream->n_superblocks; s++) {
        struct slot *slot;
        while (!(slot = find_slot(stream, SLOT_FREE)) && stream->code == 0 && !stream->closing)
            pthread_cond_wait(&stream->freed, &stream->mutex);
        if (stream->code < 0 || stream->closing) break;
        slot->state = SLOT_READING;
        slot->superblock = s;
        pthread_mutex_unlock(&stream->mutex);
        int code = read_slot(stream, slot, &error);
        pthread_mutex_lock(&stream->mutex);
        slot->state = SLOT_READY;
        if (code < 0) fail(stream, code, &error);
        pthread_cond_broadcast(&stream->ready);
    }
    pthread_mutex_unlock(&stream->mutex);
    return NULL;
}

static void *writer_main(void *argument) {
    struct superblock_stream *stream = argument;
    struct dpmf_error error = {0};
    pthread_mutex_lock(&stream->mutex);
    for (;;) {
        struct slot *slot;
        while (!(slot = find_slot(stream, SLOT_DIRTY)) && stream->code == 0 && !stream->closing)
            pthread_cond_wait(&stream->dirty, &stream->mutex);
        if (stream->code < 0 || !slot) break;
        pthread_mutex_unlock(&stream->mutex);
        int code = write_slot(stream, slot, &error);
        pthread_mutex_lock(&stream->mutex);
        slot->state = SLOT_FREE;
        if (code < 0) fail(stream, code, &error);
        atomic_store_explicit(&stream->epochs[slot->superblock], stream->epoch + 1,
                              memory_order_release);
        pthread_cond_signal(&stream->freed);
    }
    pthread_mutex_unlock(&stream->mutex);
    return NULL;
}

/* ---- epochs ---------------------------------------------------------------------------------- */

static int thread_failure(struct dpmf_error *error) {
    error_set(error, DPMF_ERR_BASE_THREAD, "cannot start a thread to read or write with");
    error_hint(error, "use fewer threads");
    return DPMF_ERR_BASE_THREAD;
}

int superblock_stream_begin(struct superblock_stream *stream, uint32_t epoch, size_t first,
                            struct dpmf_error *error) {
    assert(!stream->running);
    assert(first <= stream->n_superblocks);
    stream->epoch = epoch;
    stream->first = first;
    for (size_t s = 0; s < stream->n_superblocks; s++)
        atomic_store_explicit(&stream->epochs[s], s < first ? epoch + 1 : epoch,
                              memory_order_release);
    if (!stream->streamed) return 0;
    stream->code = 0;
    stream->closing = stream->cancelled = false;
    for (size_t i = 0; i < stream->n_slots; i++) stream->slots[i].state = SLOT_FREE;
    if (pthread_create(&stream->reader, NULL, reader_main, stream) != 0)
        return thread_failure(error);
    if (pthread_create(&stream->writer, NULL, writer_main, stream) != 0) {
        pthread_mutex_lock(&stream->mutex);
        stream->closing = true;
        pthread_cond_broadcast(&stream->freed);
        pthread_mutex_unlock(&stream->mutex);
        pthread_join(stream->reader, NULL);
        return thread_failure(error);
    }
    stream->running = true;
    return 0;
}

static struct slot *ready_slot(struct superblock_stream *stream, size_t superblock) {
    for (size_t i = 0; i < stream->n_slots; i++)
        if (stream->slots[i].state == SLOT_READY && stream->slots[i].superblock == superblock)
            return &stream->slots[i];
    return NULL;
}

int superblock_stream_take(struct superblock_stream *stream, size_t superblock,
                           struct superblock_view *view, struct dpmf_error *error) {
    assert(superblock < stream->n_superblocks);
    assert(view);
    *view = (struct superblock_view){.superblock = superblock};
    if (!stream->streamed) {
        uint64_t first, n;
        tiling_superblock_users(stream->tiling, superblock, &first, &n);
        view->chunks = tiling_chunks(stream->tiling, superblock);
        view->rows = stream->rows->rows + first * stream->rows->stride;
        view->biases = stream->biases + first;
        return 0;
    }
    struct slot *slot;
    pthread_mutex_lock(&stream->mutex);
    while (!(slot = ready_slot(stream, superblock)) && stream->code == 0 && !stream->cancelled)
        pthread_cond_wait(&stream->ready, &stream->mutex);
    int code = stream->code;
    if (code < 0) {
        if (error) *error = stream->error;
    } else if (!slot) {
        code = error_set(error, DPMF_ERR_BASE_CANCELLED, "interrupted");
    } else {
        slot->state = SLOT_TAKEN;
        view->packed = slot->packed;
        view->rows = slot->rows;
        view->biases = slot->biases;
    }
    pthread_mutex_unlock(&stream->mutex);
    return code;
}

void superblock_stream_give_back(struct superblock_stream *stream,
                                 const struct superblock_view *view) {
    assert(view);
    if (!stream->streamed) {
        atomic_store_explicit(&stream->epochs[view->superblock], stream->epoch + 1,
                              memory_order_release);
        return;
    }
    pthread_mutex_lock(&stream->mutex);
    for (size_t i = 0; i < stream->n_slots; i++) {
        struct slot *slot = &stream->slots[i];
        if (slot->state != SLOT_TAKEN || slot->superblock != view->superblock) continue;
        slot->state = SLOT_DIRTY;
        slot->turn = ++stream->n_given_back;
    }
    pthread_cond_signal(&stream->dirty);
    pthread_mutex_unlock(&stream->mutex);
}

void superblock_stream_cancel(struct superblock_stream *stream) {
    pthread_mutex_lock(&stream->mutex);
    stream->cancelled = true;
    pthread_cond_broadcast(&stream->ready);
    pthread_mutex_unlock(&stream->mutex);
}

int superblock_stream_end(struct superblock_stream *stream, struct dpmf_error *error) {
    if (!stream->running) return 0;
    pthread_mutex_lock(&stream->mutex);
    stream->closing = true;
    pthread_cond_broadcast(&stream->freed);
    pthread_cond_broadcast(&stream->dirty);
    pthread_mutex_unlock(&stream->mutex);
    pthread_join(stream->reader, NULL);
    pthread_join(stream->writer, NULL);
    stream->running = false;
    if (stream->code < 0 && error) *error = stream->error;
    return stream->code;
}

uint32_t superblock_stream_epochs(const struct superblock_stream *stream, size_t superblock) {
    assert(superblock < stream->n_superblocks);
    return atomic_load_explicit(&stream->epochs[superblock], memory_order_acquire);
}
