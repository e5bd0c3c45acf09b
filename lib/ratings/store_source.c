/*
 * A store, or a directory of shards as the one store they are, behind the interface of source.h: a
 * chunk is a block. Fed by lib/store and shard_set.c, feeds the importer.
 */
#include "ratings/store_source.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "store/shard_set.h"
#include "store/store.h"

struct store_source {
    struct source source; /* first: this is what others see */
    struct dpmf_store *store;
    uint64_t next_block;
    _Atomic uint64_t bytes_read;
};

struct block_chunk {
    struct store_raw raw;
    struct store_space space;
};

static const struct store_source *self_of(const struct source *source) {
    return (const struct store_source *)source;
}

static void *chunk_new(const struct source *source) {
    (void)source;
    return memory_alloc_zero(1, sizeof(struct block_chunk));
}

static void chunk_free(void *pointer) {
    struct block_chunk *chunk = pointer;
    if (!chunk) return;
    free(chunk->raw.buffer.bytes);
    store_space_free(&chunk->space);
    free(chunk);
}

static int next_block(struct source *source, void *pointer, struct dpmf_error *error) {
    struct store_source *self = (struct store_source *)source;
    struct block_chunk *chunk = pointer;
    if (self->next_block == store_n_blocks(self->store)) return 0;
    int code = store_block_read(self->store, self->next_block++, &chunk->raw, error);
    if (code < 0) return code;
    atomic_fetch_add_explicit(&self->bytes_read, chunk->raw.buffer.n, memory_order_relaxed);
    return 1;
}

static void parse_block(const struct source *source, void *pointer, struct record_batch *batch) {
    const struct dpmf_store *store = self_of(source)->store;
    struct block_chunk *chunk = pointer;
    struct store_block block;
    if (store_block_decode(store, &chunk->raw, STORE_WANT_VALUE | STORE_WANT_TIME | STORE_WANT_IDS,
                           &chunk->space, &block, &batch->failure) < 0)
        return;
    for (uint32_t u = 0; u < block.n_users; u++) {
        for (uint64_t r = block.start[u]; r < block.start[u + 1]; r++) {
            struct store_item item = store_item_at(store, block.item[r]);
            const struct record record = {
                .user = block.id_bytes + block.id_start[u],
                .user_length = (uint32_t)(block.id_start[u + 1] - block.id_start[u]),
                .item = item.id,
                .item_length = item.id_length,
                .rating = block.value[r],
                .time = block.time ? block.time[r] : STORE_NO_TIME,
            };
            if (!record_batch_add(batch, &record, 0, 0, 0, 0)) return;
        }
    }
}

static int settle_block(struct source *source, void *chunk, struct record_batch *batch,
                        struct dpmf_error *error) {
    (void)chunk;
    const char *path = store_path(self_of(source)->store);
    if (batch->first_rejected.code) error_place(&batch->first_rejected, path, 0, 0);
    if (!batch->failure.code) return 0;
    if (batch->failure.file[0] == '\0') error_place(&batch->failure, path, 0, 0);
    if (error) *error = batch->failure;
    return batch->failure.code;
}

static int finish_store(struct source *source, struct record_batch *batch,
                        struct dpmf_error *error) {
    (void)source;
    (void)batch;
    (void)error;
    return 0;
}

static void close_store(struct source *source) {
    struct store_source *self = (struct store_source *)source;
    dpmf_store_close(self->store);
    free(self);
}

static uint64_t bytes_read(const struct source *source) {
    return atomic_load_explicit(&self_of(source)->bytes_read, memory_order_relaxed);
}

int store_source_check(const char *path, const struct dpmf_input_options *options,
                       struct dpmf_error *error) {
    const char *given = options->columns         ? "{columns}"
                        : options->separator     ? "{separator}"
                        : options->user_column   ? "{user-column}"
                        : options->item_column   ? "{item-column}"
                        : options->rating_column ? "{rating-column}"
                        : options->time_column   ? "{time-column}"
                                                 : NULL;
    char text[80];
    if (!given) return 0;
    snprintf(text, sizeof text, "%s says how a table is read, and this is a ratings store", given);
    error_set_text(error, DPMF_ERR_USAGE_CONFLICT, text);
    error_hint(error, "leave it out; if its columns were mixed up, import the ratings again");
    error_place(error, path, 0, 0);
    return DPMF_ERR_USAGE_CONFLICT;
}

int store_source_open(const char *path, struct source **source, struct dpmf_error *error) {
    static const struct source_ops ops = {
        .chunk_new = chunk_new,
        .chunk_free = chunk_free,
        .next = next_block,
        .parse = parse_block,
        .settle = settle_block,
        .finish = finish_store,
        .close = close_store,
    };
    *source = NULL;
    struct store_source *self = memory_alloc_zero(1, sizeof *self);
    if (!self) return error_no_memory(error);
    int code = shard_set_is(path) ? shard_set_open(path, &self->store, error)
                                  : store_open_file(path, &self->store, error);
    if (code < 0) {
        free(self);
        return code;
    }
    struct dpmf_store_info info;
    dpmf_store_info(self->store, &info);
    self->source = (struct source){
        .ops = &ops, .format = "dpr", .total_bytes = info.file_bytes, .bytes_read = bytes_read};
    self->source.layout = *store_layout_of(self->store);
    *source = &self->source;
    return 0;
}
