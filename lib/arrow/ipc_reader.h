/*
 * Tables out of Arrow's IPC streams and files (.arrow, .arrows, .feather).
 */
#ifndef DPMF_ARROW_IPC_READER_H
#define DPMF_ARROW_IPC_READER_H

#include "arrow/arrow_table.h"
#include "tables/input_stream.h"

/* @return whether these first bytes are those of an IPC file or stream */
bool ipc_has_magic(const void *bytes, size_t n);

/* Takes over `stream`, also when this fails. A batch may take `limit` bytes of memory. */
int ipc_reader_open(struct input_stream *stream, uint64_t limit, struct arrow_table **table,
                    struct dpmf_error *error);

#endif
