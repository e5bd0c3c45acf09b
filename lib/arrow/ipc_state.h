/*
 * What the files of the reader of Arrow's IPC format share: the reader, the body of a message, and
 * how bytes are read and refused. ipc_reader.c opens it and goes from message to message,
 * ipc_bytes.c reads, ipc_batch.c makes columns of bodies, ipc_footer.c knows a file's end.
 */
#ifndef DPMF_ARROW_IPC_STATE_H
#define DPMF_ARROW_IPC_STATE_H

#include <stdatomic.h>

#include "arrow/ipc_blocks.h"
#include "arrow/ipc_reader.h"
#include "arrow/ipc_schema.h"

enum {
    IPC_METADATA_MAX = 64 << 20,
    IPC_READ_BYTES = 1 << 16, /* bytes read at a time where the length is not known */
    IPC_BUFFERS_MAX = 4096,   /* buffers of the columns that are read */
};

/* The first bytes of a file. */
extern const char ipc_file_mark[8];

struct ipc_dictionary;

struct ipc_reader {
    struct arrow_table table;    /* first: this is what others see */
    struct input_stream *stream; /* NULL of a file that is read by its footer */
    int fd;                      /* descriptor of that file, or -1 */
    uint64_t file_bytes;
    _Atomic uint64_t at;      /* offset in the input */
    struct ipc_block *blocks; /* messages of that file, in the order of reading */
    size_t n_blocks, next_block;
    uint8_t head[8]; /* first bytes of a stream, read to recognise it */
    size_t n_head;
    uint64_t limit;
    bool is_file, ended;
    int version;
    struct ipc_column *columns;
    struct ipc_parts all;
    uint64_t n_batches;
    uint8_t *metadata;
    size_t metadata_capacity;
    struct ipc_dictionary *dictionary[ARROW_CHOSEN]; /* dictionaries of chosen columns, or NULL */
};

/* A buffer of the body that is wanted, and what becomes of it. */
struct ipc_wanted {
    int64_t offset, length;
    const uint8_t *bytes; /* its bytes once read; NULL when it is empty */
    int64_t n;
};

struct ipc_body {
    struct ipc_wanted wanted[IPC_BUFFERS_MAX];
    int order[IPC_BUFFERS_MAX];
    int n;
    int64_t length;
    bool is_compressed;
    uint64_t bytes; /* memory allocated for the body */
};

int ipc_refuse(const struct ipc_reader *self, const char *why, struct dpmf_error *error);
int ipc_refuse_cut(const struct ipc_reader *self, struct dpmf_error *error);

/* @return 1, 0 at the end with nothing read, or a negative code */
int ipc_read_some(struct ipc_reader *self, void *bytes, size_t n, struct dpmf_error *error);

/* Reads n bytes; an earlier end is an error. */
int ipc_read(struct ipc_reader *self, void *bytes, size_t n, struct dpmf_error *error);

int ipc_skip(struct ipc_reader *self, uint64_t n, struct dpmf_error *error);

/* The metadata of the next message. @return 1, 0 after the last, or a negative code */
int ipc_read_message(struct ipc_reader *self, struct flat *flat, struct dpmf_error *error);

int ipc_schema_take(struct ipc_reader *self, struct flat *flat, size_t schema,
                    struct dpmf_error *error);

/* The message of a record batch, whose body comes next. @return 1, or a negative code */
int ipc_batch_take(struct ipc_reader *self, struct flat *flat, size_t message,
                   struct ipc_body *body, struct arrow_batch **out, struct dpmf_error *error);

/* The message of a dictionary, whose body comes next; the reader keeps what batches need of it. */
int ipc_dictionary_take(struct ipc_reader *self, struct flat *flat, size_t message,
                        struct ipc_body *body, struct dpmf_error *error);

void ipc_dictionary_release(struct ipc_dictionary *dictionary);

/* A file that was read as a stream: the footer, its length and the mark. It lists the batches: as
 * many must have been read. */
int ipc_footer_check(struct ipc_reader *self, struct dpmf_error *error);

/* A file that can be read in any order: its messages and its schema, as the footer has them. */
int ipc_footer_read(struct ipc_reader *self, struct dpmf_error *error);

#endif
