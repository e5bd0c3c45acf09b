/*
 * The bytes of an input, decompressed: from a file, from standard input, from any descriptor. What
 * is read is looked at, never the name: gzip and zstd are known by their first bytes.
 */
#ifndef DPMF_TABLES_INPUT_STREAM_H
#define DPMF_TABLES_INPUT_STREAM_H

#include "dpmf.h"

struct input_stream;

/* A callback that is asked, a few times a second while a pipe or a terminal has nothing to read,
 * whether to keep waiting. When it returns false, reading ends with DPMF_ERR_BASE_CANCELLED. */
struct input_wait {
    bool (*go_on)(void *self);
    void *self;
    uint64_t memory; /* memory of the whole run, for readers that need much; 0: not known */
};

/* `path` "-" is standard input, which errors call "<stdin>". `wait` may be NULL: waits for ever. A
 * file, other than standard input, whose size or time is another one when its end is read than when
 * it was opened is refused there: DPMF_ERR_IO_READ. */
int input_stream_open(const char *path, const struct input_wait *wait, struct input_stream **stream,
                      struct dpmf_error *error);

/* Takes over `fd`, which is closed with the stream, and also when this fails. Nothing tells where
 * it begins and who else writes to it: what it gives is taken. */
int input_stream_open_fd(int fd, const char *name, const struct input_wait *wait,
                         struct input_stream **stream, struct dpmf_error *error);

void input_stream_close(struct input_stream *stream); /* NULL is fine */

/* Fills `bytes`, short only at the end of the input: *got 0 is the end. */
int input_stream_read(struct input_stream *stream, void *bytes, size_t capacity, size_t *got,
                      struct dpmf_error *error);

/* The first bytes as they are on disk (some KiB of them, fewer in a smaller input), for a look at
 * magic numbers. Only before the first read. @return how many */
size_t input_stream_head(const struct input_stream *stream, const void **bytes);

/* Takes the bytes as they are, whatever they begin with. Only before the first read. */
void input_stream_take_plain(struct input_stream *stream);

const char *input_stream_name(const struct input_stream *stream);

/* Bytes on disk: all of them (0 when not known), and how many were read so far (any thread). */
uint64_t input_stream_total(const struct input_stream *stream);
uint64_t input_stream_bytes_read(const struct input_stream *stream);

#endif
