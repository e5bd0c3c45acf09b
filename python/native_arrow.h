/*
 * Arrow structs for Python: tables of results, copied so that they outlive everything else, and the
 * capsules' destructors. The build makes its Python declarations from this file, as from
 * native_loops.h.
 */
#ifndef DPMF_PYTHON_NATIVE_ARROW_H
#define DPMF_PYTHON_NATIVE_ARROW_H

#include "dpmf.h"

enum native_arrow_kind { NATIVE_ARROW_SCHEMA, NATIVE_ARROW_ARRAY, NATIVE_ARROW_STREAM };

/* A column without nulls: numbers; `width` numbers a row; or texts behind offsets of 64 bits. */
struct native_arrow_column {
    const char *name, *format;
    size_t width; /* 0: one value a row */
    const void *values;
    size_t value_bytes;
    const char *data;
    size_t data_bytes;
};

/* An empty struct of a kind, NULL without memory; and its end, released if that is still to be
 * done. */
void *native_arrow_new(int kind);
void native_arrow_free(int kind, void *pointer);

/* The function that frees what a capsule holds. */
void *native_arrow_destructor(int kind);

/* Fills in what is not NULL. @return 0 or an errno */
int native_arrow_export(const struct native_arrow_column *columns, size_t n, size_t rows,
                        struct ArrowSchema *schema, struct ArrowArray *array);
int native_arrow_export_stream(const struct native_arrow_column *columns, size_t n, size_t rows,
                               struct ArrowArrayStream *stream);

/* A copy of a schema, without its metadata. @return 0 or an errno */
int native_arrow_schema_copy(const struct ArrowSchema *schema, struct ArrowSchema *out);

#endif
