/*
 * How text in columns is laid out, and the one loop that reads it. format_delimited.c fills the
 * layout in from headers and options, format_matrix_market.c from its size line; delimited_rows.c
 * reads the rows.
 */
#ifndef DPMF_RATINGS_DELIMITED_H
#define DPMF_RATINGS_DELIMITED_H

#include "ratings/formats.h"
#include "ratings/row_split.h"
#include "tables/column_names.h"

enum delimited_ids {
    IDS_TEXT,   /* any bytes, kept as they are */
    IDS_WHOLE,  /* whole numbers */
    IDS_MATRIX, /* whole numbers from 1 to the matrix's size */
    IDS_FLOATS, /* the user's, the item's or both are floats: whole numbers below 2^53 */
};

struct delimited {
    enum row_kind kind; /* ROW_QUOTED where quotes are allowed; chunks without them go faster */
    char separator;
    bool by_line; /* ROW_QUOTED: a quote that is not closed in its line is a fault of that line */
    uint32_t n_columns;
    uint32_t least_columns;       /* columns after which a row may end: then it has no time */
    int32_t column[COLUMN_ROLES]; /* where each role is; -1: nowhere (the time, and the count of
                                     events) */
    enum delimited_ids ids;
    uint64_t max_user, max_item; /* IDS_MATRIX */
    bool is_float[2];            /* IDS_FLOATS: of COLUMN_USER and COLUMN_ITEM */
    bool is_listed;              /* options->columns says what the columns are */
    const char *hint;            /* for rows of the wrong number of columns */
    uint64_t names, order;       /* checksums of the names in the header: `names` ignores their
                                    order, `order` does not; 0 without a header */
};

/* struct text_format's parse; source->state is a struct delimited. */
void delimited_parse(const struct text_source *source, struct text_chunk *chunk,
                     struct record_batch *batch);

/* Whether a row names the user and the item, in whichever columns. A pair of them has no number
 * that a header would lack: so names of columns are no record, wherever they stand. */
bool delimited_names_pair(const struct delimited *layout, const struct row *row);

/* Whether a row, of which all fields are kept, names columns as a header does, and in other places
 * than they were settled to be in: that of another table, put after the first. `counts`: the values
 * are counts. */
bool delimited_names_otherwise(const struct delimited *layout, const struct row *row, bool counts);

#endif
