/*
 * A table that comes in batches of columns: the one interface of Arrow streams, Arrow files and
 * Parquet. Its schema is known once it is open; then up to ARROW_CHOSEN columns are chosen, and
 * batches have these alone. One thread at a time; batches are read by any.
 */
#ifndef DPMF_ARROW_ARROW_TABLE_H
#define DPMF_ARROW_ARROW_TABLE_H

#include <stdatomic.h>

#include "arrow/arrow_column.h"

struct arrow_field {
    char *name;
    struct arrow_type type;    /* type of the values */
    struct arrow_type indices; /* type of a dictionary's indices; kind ARROW_NULL without one */
};

enum {
    ARROW_CHOSEN = 4,           /* columns that a reader may want */
    ARROW_FIELDS_MAX = 1 << 16, /* columns of a table */
    ARROW_NONE = -1,
};

/* Some rows of a table. Readers of its parts share a batch, and the last one releases it. A batch
 * that has to be loaded is read by one thread alone. */
struct arrow_batch {
    int64_t n_rows;
    struct arrow_column column[ARROW_CHOSEN]; /* those that were chosen; others are empty */
    const uint8_t *validity;                  /* bits of whole rows; NULL: none is null */
    int64_t validity_offset;
    uint64_t bytes; /* memory allocated for it by the reader */

    /* Fills in the columns, once, in the thread that reads them; NULL where they are filled
     * already.
     * @return 0, or a negative code */
    int (*load)(struct arrow_batch *batch, struct dpmf_error *error);

    struct arrow_table *table; /* the table, which the batch keeps open */
    atomic_int references;
    void (*free)(struct arrow_batch *batch); /* frees the batch and what the reader added to it */
};

struct arrow_table_ops {
    /* @return 1 with a batch, 0 at the end, or a negative code */
    int (*next)(struct arrow_table *table, struct arrow_batch **batch, struct dpmf_error *error);
    uint64_t (*bytes_read)(const struct arrow_table *table); /* any thread; may be NULL */
    uint64_t (*bytes_held)(const struct arrow_table *table); /* peak memory use without its
                                                                batches; any thread; may be NULL */
    void (*close)(struct arrow_table *table);
};

struct arrow_table {
    const struct arrow_table_ops *ops;
    const char *format; /* "arrow" or "parquet"; static */
    char *name;         /* name of the file, for errors; NULL without one */
    struct arrow_field *fields;
    size_t n_fields, field_capacity;
    int32_t chosen[ARROW_CHOSEN]; /* their numbers, or ARROW_NONE, set before the first batch */
    uint64_t total_bytes;         /* bytes on disk; 0 when not known */
    atomic_int references;        /* references held by its owner and its batches */
};

/* For readers: begins with one reference and nothing chosen. */
void arrow_table_begin(struct arrow_table *table, const struct arrow_table_ops *ops,
                       const char *format);

/* For readers: adds a column. `name` need not outlive the call; NULL is a name without letters. */
int arrow_table_add_field(struct arrow_table *table, const char *name, size_t length,
                          struct arrow_type type, struct arrow_type indices,
                          struct dpmf_error *error);

/* For readers: frees the fields and the name. */
void arrow_table_end(struct arrow_table *table);

/* For readers: DPMF_ERR_INPUT_ARROW, at the table's name. */
int arrow_table_refuse(const struct arrow_table *table, const char *why, struct dpmf_error *error);

/* For readers: allocates a zeroed batch of `size` bytes, which begin with a struct arrow_batch; it
 * keeps the table open. @return NULL without memory */
void *arrow_batch_new(struct arrow_table *table, size_t size,
                      void (*free)(struct arrow_batch *batch));

void arrow_table_release(struct arrow_table *table); /* NULL is fine */
void arrow_batch_release(struct arrow_batch *batch); /* NULL is fine */

static inline struct arrow_batch *arrow_batch_share(struct arrow_batch *batch) {
    atomic_fetch_add_explicit(&batch->references, 1, memory_order_relaxed);
    return batch;
}

/* The batches of an Arrow stream, which is taken over, and released in any case. With `is_private`
 * no error repeats what the stream says about its failures. */
int arrow_stream_open(struct ArrowArrayStream *stream, bool is_private, struct arrow_table **table,
                      struct dpmf_error *error);

#endif
