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
    STORE_ORIGIN_UNKNOWN, /* not recorded: version 0.1.0 wrote the store */
    STORE_ORIGIN_GUESSED, /* the first record */
    /* Other records: blocks under a header line, ratings chosen by a cut through everyone's */
    STORE_ORIGIN_TOGETHER,
    STORE_ORIGIN_DECLARED, /* whoever imported it, a header, or the schema of a database */
};

enum { STORE_ROLES = 4 }; /* user, item, rating, timestamp */

enum {
    STORE_SPLITS = 3,       /* splits of splits that are remembered */
    STORE_HALF_TEST = 1,    /* bit of a half: the test set. The others are the split's number */
    STORE_HALF_SEVERAL = 1, /* instead of the first half: inputs of several halves */
};

/* How events came out of ratings. */
enum store_liked {
    STORE_LIKED_NOT,     /* the store holds ratings, or events from the start */
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
    /* A query, a view or functions of a database gave the records: others may decide about
     * each. */
    bool is_queried;
    /* A setting of an import left out records that were read well: a range of ratings. */
    bool is_ranged;
    bool has_half; /* several inputs, of which one was a half of a split: records may be missing */
    enum store_liked liked;
    double like; /* threshold of STORE_LIKED_FROM; else 0 */

    /* Where the fields of a record were; all 0 where the format says it, or where inputs
     * differed. */
    char separator;
    bool has_header;
    uint16_t n_columns;
    uint16_t column[STORE_ROLES]; /* from 1; 0: there is none */

    /* Whether no input has a place for times, by its schema. Not in the file: for text, the
     * columns above say it. */
    bool lacks_times;

    /* Whether the order of an input's records may follow from other people's, as that of a table's
     * rows does: then it must not decide which of a pair's ratings counts. Not in the file, where a
     * pair is there once. */
    bool is_unordered;

    /* Which half of which split this is, the first split first, each a number of the split and
     * STORE_HALF_TEST; 0: there is none. */
    uint32_t half[STORE_SPLITS];
};

/* A layout that nobody's record decided, of what was not read but made. */
struct store_layout store_layout_declared(void);

/* What the users' ids of an input are, by its format or its schema, whatever the records are. */
enum store_ids {
    STORE_IDS_TEXT,    /* texts, kept as they are */
    STORE_IDS_BARE,    /* texts of formats without quotes: "7" has its quotes, and is not 7 */
    STORE_IDS_WHOLE,   /* whole numbers, spelled without zeroes in front */
    STORE_IDS_UUID,    /* spelled in small letters */
    STORE_IDS_EITHER,  /* each record decides for itself */
    STORE_IDS_NUMERIC, /* the same, but a text that stands for a number has become one */
    STORE_IDS_PADDED,  /* texts without blanks at their end, which do not count in such a column */
};

/* @return the bit of a format's name, 0 for one that is not known */
uint32_t store_layout_format(const char *name);

/* @return the bit of a format whose schema says what the users' ids are; of one that makes no such
 * difference the format's own */
uint32_t store_layout_format_of_ids(const char *name, enum store_ids ids);

/* The format and the users' ids that a bit stands for. @return the format's name, NULL for a bit
 * without one */
const char *store_layout_bit(uint32_t bit, enum store_ids *ids);

/* @return whether inputs spell users' ids in different ways, 7 and 007: then nobody can say who is
 * one person, and a wish would find one of the two */
bool store_layout_mixes_ids(const struct store_layout *layout);

/* @return the i-th format's name, NULL past the last */
const char *store_layout_format_name(size_t i);

/* Adds what a further input says. Begin with store_layout_declared(). Inputs of ratings and of
 * events must not be mixed. */
void store_layout_join(struct store_layout *all, const struct store_layout *one);

/* Notes that this is a half of a split, which `split` identifies. Nothing where STORE_SPLITS were
 * noted already: then both halves look like what was split. */
void store_layout_add_half(struct store_layout *layout, uint64_t split, bool is_test);

/* @return whether this is a half of a split */
bool store_layout_is_half(const struct store_layout *layout);

/* How the ratings behind two layouts lie to each other, as far as splits tell. */
enum store_kin {
    STORE_KIN_UNKNOWN,  /* one of them was never split, or both are the same half */
    STORE_KIN_APART,    /* they have no rating in common */
    STORE_KIN_WITHIN,   /* one is a part of the other */
    STORE_KIN_STRANGERS /* halves of different splits: they may have ratings in common */
};
enum store_kin store_layout_kin(const struct store_layout *a, const struct store_layout *b);

/* @return whether each record was read by itself, whatever the others are, nobody's presence
 * follows from anyone else's, and ids mean the same people in all inputs */
bool store_layout_is_by_record(const struct store_layout *layout);

/* @return whether no record can have a time, by what was declared, not by what records hold */
bool store_layout_has_no_times(const struct store_layout *layout);

/* The layout as programs see it. */
struct dpmf_layout store_layout_shown(const struct store_layout *layout);

/* The layout in 40 bytes, as the header of a store has it: of one that is not recorded the halves
 * alone. @return whether the bytes are a layout, or one that is not recorded */
enum { STORE_LAYOUT_BYTES = 40 };
void store_layout_write(const struct store_layout *layout, uint8_t bytes[STORE_LAYOUT_BYTES]);
bool store_layout_read(const uint8_t bytes[STORE_LAYOUT_BYTES], struct store_layout *layout);
bool store_layout_read_unknown(const uint8_t bytes[STORE_LAYOUT_BYTES],
                               struct store_layout *layout);

#endif
