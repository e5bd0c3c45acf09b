/*
 * The schema of Arrow's files and streams, and where in a record batch the parts of each column
 * are. Used by ipc_reader.c.
 */
#ifndef DPMF_ARROW_IPC_SCHEMA_H
#define DPMF_ARROW_IPC_SCHEMA_H

#include "arrow/arrow_table.h"
#include "arrow/flat_table.h"

/* How many of each a column takes in a record batch, those of its children too. */
struct ipc_parts {
    size_t nodes, buffers, variadic;
};

struct ipc_column {
    struct ipc_parts before; /* parts of the columns before it */
    int64_t dictionary;      /* id; -1 without one */
};

/* Reads a schema's table into fields, and `columns`, as many, to be freed. @return what is wrong,
 * or NULL; *code is set where it is memory */
const char *ipc_schema_read(struct flat *flat, size_t schema, int version,
                            struct arrow_table *table, struct ipc_column **columns,
                            struct ipc_parts *all, int *code, struct dpmf_error *error);

#endif
