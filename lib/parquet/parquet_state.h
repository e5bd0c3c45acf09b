/*
 * What the files of the reader of Parquet share. parquet_reader.c opens a file and goes from row
 * group to row group, parquet_footer.c and parquet_schema.c know its end, parquet_pages.c finds the
 * pages of a column and loads them, parquet_values.c makes columns of their values.
 *
 * The pages of a column are independent of each other but for its dictionary: whoever asks for the
 * next batch only looks at headers, and pages are read, decompressed and decoded by the threads
 * that need them, each page once.
 */
#ifndef DPMF_PARQUET_PARQUET_STATE_H
#define DPMF_PARQUET_PARQUET_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "parquet/parquet_bits.h"
#include "parquet/parquet_codec.h"
#include "parquet/parquet_reader.h"
#include "parquet/thrift.h"

enum parquet_physical {
    PARQUET_BOOLEAN,
    PARQUET_INT32,
    PARQUET_INT64,
    PARQUET_INT96,
    PARQUET_FLOAT,
    PARQUET_DOUBLE,
    PARQUET_BYTE_ARRAY,
    PARQUET_FIXED,
    PARQUET_PHYSICALS,
};

enum parquet_encoding {
    PARQUET_PLAIN = 0,
    PARQUET_PLAIN_DICTIONARY = 2,
    PARQUET_RLE = 3,
    PARQUET_BIT_PACKED = 4,
    PARQUET_DELTA_BINARY_PACKED = 5,
    PARQUET_DELTA_LENGTH_BYTE_ARRAY = 6,
    PARQUET_DELTA_BYTE_ARRAY = 7,
    PARQUET_RLE_DICTIONARY = 8,
    PARQUET_BYTE_STREAM_SPLIT = 9,
    PARQUET_ENCODINGS,
};

/* A column of the table: a field of the schema's root. */
struct parquet_column {
    size_t leaf; /* place of its chunk in a row group; of a nested column, the first of several */
    bool is_nested, is_optional, is_uuid;
    enum parquet_physical physical;
    int fixed_bytes;        /* length of PARQUET_FIXED */
    struct arrow_type type; /* type of what is made of it */
};

/* A column's part of a row group. */
struct parquet_chunk {
    uint64_t begin, bytes; /* in the file, and checked to be there */
    int64_t n_values;
    int codec, physical;
    bool is_encrypted;
};

/* Values of a page or of a dictionary, and the memory that they lie in. */
struct parquet_values {
    struct arrow_column view;
    uint8_t *bytes;    /* page, decompressed */
    void *values;      /* those that were decoded */
    uint8_t *text;     /* texts that do not lie in the page */
    uint8_t *validity; /* bits of a page with nulls */
    uint64_t memory;   /* bytes of all these */
};

struct parquet_dictionary {
    struct parquet_values values;
    atomic_int references;
};

enum parquet_state { PARQUET_NEW, PARQUET_BUSY, PARQUET_READY, PARQUET_FAILED };

/* Where a page is, and what its header says about it. */
struct parquet_place {
    uint64_t offset; /* begin of its bytes, after the header */
    uint32_t packed_bytes, bytes;
    uint32_t n_values, n_nulls, n_rows, level_bytes, repeat_bytes;
    int kind, encoding, level_encoding;
    bool is_packed, has_checksum;
    uint32_t checksum;
};

/* A data page of a column. Shared by the batches with rows of it. */
struct parquet_page {
    struct parquet_place place;
    const struct parquet_column *column;
    int number; /* number of the column, from 1, for errors */
    enum parquet_codec codec;
    struct parquet_dictionary *dictionary; /* NULL without one */
    atomic_int references;
    enum parquet_state state; /* under the table's lock */
    struct dpmf_error failure;
    struct parquet_values values;
};

/* A chosen column's place in the row group that is being cut. */
struct parquet_cursor {
    const struct parquet_column *column;
    const struct parquet_chunk *chunk;
    int number;
    uint64_t at;         /* in the file */
    int64_t values_left; /* values of the chunk after this page */
    struct parquet_dictionary *dictionary;
    struct parquet_page *page;
    int64_t page_begin; /* row of the row group */
};

struct parquet_table {
    struct arrow_table table; /* first: this is what others see */
    int fd;
    uint64_t file_bytes;
    uint64_t data_end; /* begin of the footer */
    uint64_t limit;    /* bytes that a page's values may take */
    bool any_length;   /* texts may take more */
    struct parquet_column *columns;
    size_t column_capacity, n_leaves;
    struct parquet_chunk *chunks; /* n_leaves for each row group */
    size_t n_chunks, chunk_capacity;
    int64_t *group_rows;
    size_t n_groups, group_capacity;

    /* Serial, on the side of `next`. */
    size_t next_group;
    int64_t rows, row; /* rows of the group that is being cut, and how many were cut */
    struct parquet_cursor cursor[ARROW_CHOSEN];
    _Atomic uint64_t at; /* in the file, for progress */

    pthread_mutex_t lock; /* guards the states of pages */
    pthread_cond_t loaded;
    _Atomic uint64_t in_use, most_in_use; /* bytes of values */
};

/* DPMF_ERR_INPUT_PARQUET, at the table's name; the second at one of its columns, from 1. */
int parquet_refuse(const struct parquet_table *self, const char *why, struct dpmf_error *error);
int parquet_refuse_column(const struct parquet_table *self, int number, const char *why,
                          struct dpmf_error *error);
int parquet_refuse_cut(const struct parquet_table *self, struct dpmf_error *error);

/* Values that take more than {memory} allows. */
int parquet_refuse_size(const struct parquet_table *self, int number, uint64_t bytes,
                        struct dpmf_error *error);

/* All n bytes from `at` on. Any thread. */
int parquet_read(const struct parquet_table *self, uint64_t at, void *bytes, size_t n,
                 struct dpmf_error *error);

int parquet_footer_read(struct parquet_table *self, struct dpmf_error *error);

/* A list of schema elements, whose number is known. */
int parquet_schema_read(struct parquet_table *self, struct thrift *t, size_t n,
                        struct dpmf_error *error);

/* The next data page with values, or none when there is no further; the dictionary before it is
 * loaded. */
int parquet_page_next(struct parquet_table *self, struct parquet_cursor *cursor,
                      struct parquet_page **page, struct dpmf_error *error);

/* Loads a page, unless another thread has done so or does. Any thread. */
int parquet_page_load(struct parquet_table *self, struct parquet_page *page, bool wait,
                      struct dpmf_error *error);
void parquet_page_release(struct parquet_table *self, struct parquet_page *page);
void parquet_dictionary_release(struct parquet_table *self, struct parquet_dictionary *dictionary);

/* Decodes n values, of which those that `validity` has not are null (NULL: none is), from the
 * span, which lies in out->bytes. @return 0, or a negative code */
int parquet_values_decode(const struct parquet_table *self, const struct parquet_column *column,
                          int number, int encoding, const struct parquet_dictionary *dictionary,
                          struct parquet_span span, size_t n, size_t n_set,
                          struct parquet_values *out, struct dpmf_error *error);

#endif
