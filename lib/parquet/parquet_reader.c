/*
 * Parquet files behind the interface of arrow_table.h. A batch is a stretch of rows in which each
 * chosen column is within one page, so that no value is copied to join pages; it is cut here by the
 * pages' headers alone, and loaded by the thread that reads it. Fed by source_open.c; feeds
 * arrow_source.c.
 */
#define _GNU_SOURCE
#include "parquet/parquet_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "parquet/parquet_state.h"

enum { BATCH_ROWS = 1 << 15 /* enough for a thread */ };

struct parquet_batch {
    struct arrow_batch batch; /* first: this is what others see */
    struct parquet_page *page[ARROW_CHOSEN];
    int64_t first[ARROW_CHOSEN]; /* row of the page that is the batch's first */
};

bool parquet_has_magic(const void *bytes, size_t n) {
    return n >= 4 && (memcmp(bytes, "PAR1", 4) == 0 || memcmp(bytes, "PARE", 4) == 0);
}

/* ---- errors and bytes ------------------------------------------------------------------------ */

int parquet_refuse(const struct parquet_table *self, const char *why, struct dpmf_error *error) {
    error_set(error, DPMF_ERR_INPUT_PARQUET, "%s", why);
    error_place(error, self->table.name, 0, 0);
    return DPMF_ERR_INPUT_PARQUET;
}

int parquet_refuse_column(const struct parquet_table *self, int number, const char *why,
                          struct dpmf_error *error) {
    error_set(error, DPMF_ERR_INPUT_PARQUET, "column %d %s", number, why);
    error_place(error, self->table.name, 0, 0);
    return DPMF_ERR_INPUT_PARQUET;
}

int parquet_refuse_cut(const struct parquet_table *self, struct dpmf_error *error) {
    parquet_refuse(self, "the Parquet file is cut off", error);
    error_hint(error, "copy or write the file again");
    return DPMF_ERR_INPUT_PARQUET;
}

int parquet_refuse_size(const struct parquet_table *self, int number, uint64_t bytes,
                        struct dpmf_error *error) {
    const unsigned long long mebibytes = (bytes >> 20) + 1;
    int code;
    if (number > 0)
        code = error_set(error, DPMF_ERR_USAGE_MEMORY,
                         "a page of column %d takes %llu MiB, more than a sixteenth of {memory}",
                         number, mebibytes);
    else
        code = error_set(error, DPMF_ERR_USAGE_MEMORY,
                         "the footer takes %llu MiB, more than a sixteenth of {memory}", mebibytes);
    error_hint(error, "give it {memory %lluMiB}, or write the file with smaller pages",
               16 * mebibytes + 64);
    error_place(error, self->table.name, 0, 0);
    return code;
}

int parquet_read(const struct parquet_table *self, uint64_t at, void *bytes, size_t n,
                 struct dpmf_error *error) {
    for (size_t got = 0; got < n;) {
        const ssize_t part = pread(self->fd, (uint8_t *)bytes + got, n - got, (off_t)(at + got));
        if (part < 0 && errno == EINTR) continue;
        if (part < 0) return error_system(error, errno, "read", self->table.name);
        if (part == 0) return parquet_refuse_cut(self, error);
        got += (size_t)part;
    }
    return 0;
}

/* ---- row groups ------------------------------------------------------------------------------ */

static void drop_cursor(struct parquet_table *self, struct parquet_cursor *cursor) {
    parquet_page_release(self, cursor->page);
    parquet_dictionary_release(self, cursor->dictionary);
    *cursor = (struct parquet_cursor){0};
}

static int refuse_codec(const struct parquet_table *self, int number, int codec,
                        struct dpmf_error *error) {
    char why[120];
    const char *name = parquet_codec_name(codec);
    snprintf(why, sizeof why, "is compressed with %s, which is not supported",
             name ? name : "something unknown");
    parquet_refuse_column(self, number, why, error);
    error_hint(error, "write it with zstd, Snappy, gzip or LZ4, or without compression");
    return DPMF_ERR_INPUT_PARQUET;
}

static int begin_column(struct parquet_table *self, int chosen, const struct parquet_chunk *chunks,
                        struct dpmf_error *error) {
    struct parquet_cursor *cursor = &self->cursor[chosen];
    const int32_t place = self->table.chosen[chosen];
    const int number = (int)place + 1;
    if (place == ARROW_NONE) return 0;
    const struct parquet_column *column = &self->columns[place];
    const struct parquet_chunk *chunk = &chunks[column->leaf];
    if (chunk->is_encrypted) return parquet_refuse_column(self, number, "is encrypted", error);
    if (!parquet_codec_is_known(chunk->codec))
        return refuse_codec(self, number, chunk->codec, error);
    if (chunk->physical != (int)column->physical)
        return parquet_refuse_column(self, number, "is of another type than the schema says",
                                     error);
    if (chunk->n_values != self->rows)
        return parquet_refuse_column(
            self, number, "is damaged: it has another number of values than there are rows", error);
    *cursor = (struct parquet_cursor){.column = column,
                                      .chunk = chunk,
                                      .number = number,
                                      .at = chunk->begin,
                                      .values_left = chunk->n_values};
    return 0;
}

/* Everything that a column has must have been a page of it. */
static int end_group(struct parquet_table *self, struct dpmf_error *error) {
    int code = 0;
    for (int i = 0; i < ARROW_CHOSEN; i++) {
        struct parquet_cursor *cursor = &self->cursor[i];
        if (cursor->chunk && code == 0 && cursor->at != cursor->chunk->begin + cursor->chunk->bytes)
            code = parquet_refuse_column(self, cursor->number,
                                         "is damaged: it continues after its last value", error);
        if (cursor->chunk && cursor->at > atomic_load(&self->at))
            atomic_store(&self->at, cursor->at);
        drop_cursor(self, cursor);
    }
    return code;
}

/* A group without rows may have dictionaries and pages, but no value in them. */
static int pass_empty_group(struct parquet_table *self, struct dpmf_error *error) {
    struct parquet_page *page;
    int code = 0;
    for (int i = 0; i < ARROW_CHOSEN && code == 0; i++)
        if (self->cursor[i].chunk) code = parquet_page_next(self, &self->cursor[i], &page, error);
    return code == 0 ? end_group(self, error) : code;
}

/* @return 1, 0 after the last, or a negative code */
static int next_group(struct parquet_table *self, struct dpmf_error *error) {
    int code = end_group(self, error);
    self->row = self->rows = 0;
    while (code == 0 && self->row == self->rows) {
        if (self->next_group == self->n_groups) {
            atomic_store(&self->at, self->file_bytes);
            return 0;
        }
        const size_t group = self->next_group++;
        self->rows = self->group_rows[group];
        for (int i = 0; i < ARROW_CHOSEN && code == 0; i++)
            code = begin_column(self, i, self->chunks + group * self->n_leaves, error);
        if (code == 0 && self->rows == 0) code = pass_empty_group(self, error);
    }
    return code < 0 ? code : 1;
}

/* The page with the group's next row. */
static int seek_page(struct parquet_table *self, struct parquet_cursor *cursor,
                     struct dpmf_error *error) {
    struct parquet_page *page = cursor->page;
    if (page && self->row < cursor->page_begin + page->place.n_values) return 0;
    if (page) cursor->page_begin += page->place.n_values;
    parquet_page_release(self, page);
    cursor->page = NULL;
    int code = parquet_page_next(self, cursor, &page, error);
    if (code == 0 && !page)
        code = parquet_refuse_column(self, cursor->number,
                                     "is damaged: it has fewer values than there are rows", error);
    if (code < 0) return code;
    cursor->page = page;
    cursor->values_left -= page->place.n_values;
    return 0;
}

/* ---- batches --------------------------------------------------------------------------------- */

static void free_batch(struct arrow_batch *pointer) {
    struct parquet_batch *batch = (struct parquet_batch *)pointer;
    struct parquet_table *self = (struct parquet_table *)pointer->table;
    for (int i = 0; i < ARROW_CHOSEN; i++) parquet_page_release(self, batch->page[i]);
    free(batch);
}

/* First what nobody works on, then what others do. */
static int load_batch(struct arrow_batch *pointer, struct dpmf_error *error) {
    struct parquet_batch *batch = (struct parquet_batch *)pointer;
    struct parquet_table *self = (struct parquet_table *)pointer->table;
    int code = 0;
    for (int i = 0; i < 2 * ARROW_CHOSEN && code == 0; i++) {
        struct parquet_page *page = batch->page[i % ARROW_CHOSEN];
        if (page) code = parquet_page_load(self, page, i >= ARROW_CHOSEN, error);
    }
    for (int i = 0; i < ARROW_CHOSEN && code == 0; i++) {
        if (!batch->page[i]) continue;
        struct arrow_column *column = &pointer->column[i];
        *column = batch->page[i]->values.view;
        column->offset += batch->first[i];
        column->length = pointer->n_rows;
    }
    return code;
}

static int next_batch(struct arrow_table *table, struct arrow_batch **out,
                      struct dpmf_error *error) {
    struct parquet_table *self = (struct parquet_table *)table;
    int code = self->row < self->rows ? 1 : next_group(self, error);
    if (code != 1) return code;
    int64_t end = self->rows - self->row > BATCH_ROWS ? self->row + BATCH_ROWS : self->rows;
    for (int i = 0; i < ARROW_CHOSEN; i++) {
        struct parquet_cursor *cursor = &self->cursor[i];
        if (!cursor->chunk) continue;
        if ((code = seek_page(self, cursor, error)) < 0) return code;
        const int64_t page_end = cursor->page_begin + cursor->page->place.n_values;
        if (page_end < end) end = page_end;
    }
    struct parquet_batch *batch = arrow_batch_new(table, sizeof *batch, free_batch);
    if (!batch) return error_no_memory(error);
    batch->batch.load = load_batch;
    batch->batch.n_rows = end - self->row;
    for (int i = 0; i < ARROW_CHOSEN; i++) {
        const struct parquet_cursor *cursor = &self->cursor[i];
        if (!cursor->chunk) continue;
        batch->page[i] = cursor->page;
        atomic_fetch_add(&cursor->page->references, 1);
        batch->first[i] = self->row - cursor->page_begin;
    }
    self->row = end;
    *out = &batch->batch;
    return 1;
}

/* ---- opening --------------------------------------------------------------------------------- */

static uint64_t bytes_read(const struct arrow_table *table) {
    return atomic_load(&((const struct parquet_table *)table)->at);
}

static uint64_t bytes_held(const struct arrow_table *table) {
    return atomic_load(&((const struct parquet_table *)table)->most_in_use);
}

static void close_table(struct arrow_table *table) {
    struct parquet_table *self = (struct parquet_table *)table;
    for (int i = 0; i < ARROW_CHOSEN; i++) drop_cursor(self, &self->cursor[i]);
    if (self->fd >= 0) close(self->fd);
    free(self->columns);
    free(self->chunks);
    free(self->group_rows);
    pthread_mutex_destroy(&self->lock);
    pthread_cond_destroy(&self->loaded);
    arrow_table_end(table);
    free(self);
}

static int open_file(struct parquet_table *self, const char *path, struct dpmf_error *error) {
    struct stat status;
    self->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (self->fd < 0 || fstat(self->fd, &status) < 0)
        return error_system(error, errno, "open", path);
    if (!S_ISREG(status.st_mode)) {
        parquet_refuse(self, "a Parquet file cannot be read from a pipe", error);
        error_hint(error, "give the path of the file");
        return DPMF_ERR_INPUT_PARQUET;
    }
    self->table.total_bytes = self->file_bytes = (uint64_t)status.st_size;
    return parquet_footer_read(self, error);
}

int parquet_reader_open(const char *path, uint64_t limit, bool any_length,
                        struct arrow_table **table, struct dpmf_error *error) {
    static const struct arrow_table_ops ops = {next_batch, bytes_read, bytes_held, close_table};
    *table = NULL;
    struct parquet_table *self = memory_alloc_zero(1, sizeof *self);
    char *name = self ? strdup(path) : NULL;
    if (!name || pthread_mutex_init(&self->lock, NULL) != 0) {
        free(name);
        free(self);
        return error_no_memory(error);
    }
    if (pthread_cond_init(&self->loaded, NULL) != 0) {
        pthread_mutex_destroy(&self->lock);
        free(name);
        free(self);
        return error_no_memory(error);
    }
    arrow_table_begin(&self->table, &ops, "parquet");
    self->table.name = name;
    self->fd = -1;
    self->limit = limit;
    self->any_length = any_length;
    int code = open_file(self, path, error);
    if (code < 0)
        close_table(&self->table);
    else
        *table = &self->table;
    return code;
}
