/*
 * The read half of the paper's Algorithm 2: a reader thread keeps a bounded number of blocks in
 * flight ahead of the consumers, which take them in order and give their memory back. A block is
 * copied once, by the kernel, into the buffer its consumer decodes from. Fed by a store; feeds
 * trainers, which run threads of their own (others use store_visit).
 */
#include <pthread.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/threads.h"
#include "store/store_reader.h"

struct store_stream {
    const struct dpmf_store *store;
    uint64_t first, n;
    struct store_raw *raws;
    size_t n_raws;
    struct bounded_queue *empty; /* buffers waiting for the reader */
    struct bounded_queue *full;  /* blocks waiting for a consumer, in order */
    pthread_t reader;
    bool started;
    int code; /* the reader's failure; read after `full` is closed and empty */
    struct dpmf_error error;
};

static void *read_ahead(void *self) {
    struct store_stream *stream = self;
    for (uint64_t i = 0; i < stream->n; i++) {
        void *raw;
        if (!bounded_queue_pop(stream->empty, &raw)) break;
        stream->code = store_block_read(stream->store, stream->first + i, raw, &stream->error);
        if (stream->code < 0 || !bounded_queue_push(stream->full, raw)) break;
    }
    bounded_queue_close(stream->full);
    return NULL;
}

int store_stream_open(struct store_stream **out, const struct dpmf_store *store,
                      uint64_t first_block, uint64_t n_blocks, size_t in_flight,
                      struct dpmf_error *error) {
    *out = NULL;
    if (first_block > store_n_blocks(store) || n_blocks > store_n_blocks(store) - first_block ||
        in_flight == 0)
        return error_set(error, DPMF_ERR_USAGE_VALUE, "no such blocks in the store");
    int code = 0;
    struct store_stream *stream = memory_alloc_zero(1, sizeof *stream);
    if (!stream) return error_no_memory(error);
    stream->store = store;
    stream->first = first_block;
    stream->n = n_blocks;
    stream->raws = memory_alloc_zero(in_flight, sizeof stream->raws[0]);
    if (!stream->raws) {
        code = error_no_memory(error);
        goto out;
    }
    stream->n_raws = in_flight;
    if ((code = bounded_queue_init(&stream->empty, in_flight, error)) < 0) goto out;
    if ((code = bounded_queue_init(&stream->full, in_flight, error)) < 0) goto out;
    for (size_t i = 0; i < in_flight; i++) bounded_queue_push(stream->empty, &stream->raws[i]);
    if (pthread_create(&stream->reader, NULL, read_ahead, stream) != 0) {
        code = error_set(error, DPMF_ERR_BASE_THREAD, "cannot start the reader thread");
        goto out;
    }
    stream->started = true;
    *out = stream;
    stream = NULL;
out:
    store_stream_close(stream);
    return code;
}

int store_stream_take(struct store_stream *stream, struct store_raw **raw,
                      struct dpmf_error *error) {
    void *item;
    if (bounded_queue_pop(stream->full, &item)) {
        *raw = item;
        return 1;
    }
    if (stream->code < 0 && error) *error = stream->error;
    return stream->code;
}

void store_stream_give_back(struct store_stream *stream, struct store_raw *raw) {
    bounded_queue_push(stream->empty, raw);
}

void store_stream_close(struct store_stream *stream) {
    if (!stream) return;
    if (stream->started) {
        bounded_queue_close(stream->empty);
        bounded_queue_close(stream->full);
        pthread_join(stream->reader, NULL);
    }
    bounded_queue_free(stream->empty);
    bounded_queue_free(stream->full);
    for (size_t i = 0; i < stream->n_raws; i++) free(stream->raws[i].buffer.bytes);
    free(stream->raws);
    free(stream);
}
