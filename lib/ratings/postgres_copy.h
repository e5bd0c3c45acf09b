/*
 * What PostgreSQL sends for COPY ... TO STDOUT (FORMAT binary), as records: a header once, then
 * rows of fields, each with its length, in the form that its type has on the wire. Nothing in it is
 * trusted, and nothing is copied: ids that are text stay where they are.
 */
#ifndef DPMF_RATINGS_POSTGRES_COPY_H
#define DPMF_RATINGS_POSTGRES_COPY_H

#include "ratings/database_source.h"

enum copy_type {
    COPY_INT2,
    COPY_INT4,
    COPY_INT8,
    COPY_FLOAT4,
    COPY_FLOAT8,
    COPY_NUMERIC,
    COPY_TEXT,
    COPY_DATE,
    COPY_TIMESTAMP,
    COPY_TYPES,
};

/* The fields of every row, and what they are. */
struct copy_layout {
    uint32_t n_fields;
    int32_t field[COLUMN_ROLES]; /* field of each role, or -1 (for the time and for a count) */
    enum copy_type type[COLUMN_ROLES];
    int64_t column[COLUMN_ROLES]; /* what errors call it: its place in the query, from 1 */
};

/* How a column of a type (its number in pg_type, which never changes) is read in a role: as it is,
 * or `as_text`: as what the server makes of it with ::text. @return NULL, or what is wrong with it:
 * "a truth value", ... */
const char *postgres_copy_type(uint32_t type, enum column_role role, enum copy_type *as,
                               bool *as_text);

/* @return the length of the header that the bytes begin with, or 0 when they do not */
size_t postgres_copy_header(const uint8_t *bytes, size_t n);

/* Decodes rows to the end of the bytes, or of the copy. Whole rows, or something is wrong: that is
 * a failure of the batch's, skipped or not. @return how many rows there were, with the one that
 * ended it */
uint64_t postgres_copy_parse(const struct copy_layout *layout, const uint8_t *bytes, size_t n,
                             struct database_numbers *numbers, struct record_batch *batch);

#endif
