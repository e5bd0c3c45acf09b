/*
 * How the records behind a store were read: which formats, where the fields of a record were, and
 * what decided it. A private run takes ratings only where nothing that one person wrote decides how
 * another person's record is read, and the store keeps what shows it. Filled in by the sources of
 * lib/ratings; kept in the store's header; looked at by lib/privacy.
 */
#ifndef DPMF_STORE_STORE_LAYOUT_H
#define DPMF_STORE_STORE_LAYOUT_H

#include "dpmf.h"

/* What decided where the fields of a record are. Of several inputs the smallest counts. */
enum store_origin {
    STORE_ORIGIN_UNKNOWN, /* not recorded: a store of version 0.1.0 */
    STORE_ORIGIN_GUESSED, /* a record: the first one */
    /* Other records: blocks under a header line, ratings chosen by a cut through everyone's */
    STORE_ORIGIN_TOGETHER,
    STORE_ORIGIN_DECLARED, /* whoever imported it, a header, or the schema of a database */
};

enum { STORE_ROLES = 4 }; /* user, item, rating, timestamp */

/* How events came out of ratings. */
enum store_liked {
    STORE_LIKED_NOT,     /* they did not: ratings, or events from the start */
    STORE_LIKED_FROM,    /* every rating of at least a threshold is one */
    STORE_LIKED_ANY,     /* every rating is one */
    STORE_LIKED_SEVERAL, /* inputs differed */
};

struct store_layout {
    enum store_origin origin;
    bool drops_bad;    /* a bad record was dropped by itself, and did not end the import */
    uint32_t formats;  /* formats of all inputs, a bit each: see store_layout_format() */
    bool holds_events; /* the values are counts of events, not ratings; a flag of the header */
    /* One shard of several: which users are in it depends on the users before them. */
    bool is_shard;
    /* A query, a view or a generated column of a database gave the records: others may decide about
     * each. */
    bool is_queried;
    enum store_liked liked;
    double like; /* threshold of STORE_LIKED_FROM; else 0 */

    /* Where the fields of a record were; all 0 where the format says it, or where inputs
     * differed. */
    char separator;
    bool has_header;
    uint16_t n_columns;
    uint16_t column[STORE_ROLES]; /* from 1; 0: there is none */
};

/* A layout that nobody's record decided, of what was not read but made. */
struct store_layout store_layout_declared(void);

/* The formats arrow and parquet, with a column of numbers for the users: shown as these. */
#define STORE_FORMAT_ARROW_WHOLE (UINT32_C(1) << 31)
#define STORE_FORMAT_PARQUET_WHOLE (UINT32_C(1) << 30)

/* @return the bit of a format's name, 0 for one that is not known */
uint32_t store_layout_format(const char *name);

/* @return the bit of arrow or parquet, with a column of numbers for the users */
uint32_t store_layout_format_whole(const char *name);

/* @return the i-th format's name, NULL past the last */
const char *store_layout_format_name(size_t i);

/* Adds what a further input says. Begin with store_layout_declared(). Inputs of ratings and of
 * events are not to be joined. */
void store_layout_join(struct store_layout *all, const struct store_layout *one);

/* @return whether each record was read by itself, whatever the others are, and nobody's presence
 * follows from anyone else's */
bool store_layout_is_by_record(const struct store_layout *layout);

/* The layout as programs see it. */
struct dpmf_layout store_layout_shown(const struct store_layout *layout);

/* The layout in 40 bytes, as the header of a store has it. @return whether the bytes are a
 * layout */
enum { STORE_LAYOUT_BYTES = 40 };
void store_layout_write(const struct store_layout *layout, uint8_t bytes[STORE_LAYOUT_BYTES]);
bool store_layout_read(const uint8_t bytes[STORE_LAYOUT_BYTES], struct store_layout *layout);

#endif
