/*
 * Where readers put the records they find. A reader adds records one by one; every RECORD_BATCH of
 * them the owner is called to take them away, so records live in cache only. Bad records are
 * rejected here, with their place, and either end the reading or are counted.
 *
 * One batch belongs to one chunk of input at a time; places are relative to the chunk, because a
 * chunk is parsed before anyone knows how many lines came before it.
 */
#ifndef DPMF_RATINGS_RECORD_BATCH_H
#define DPMF_RATINGS_RECORD_BATCH_H

#include <math.h>

#include "base/rescale.h"
#include "dpmf.h"
#include "store/store.h"

enum { RECORD_BATCH = 128 };

struct record {
    const char *user,
        *item; /* not terminated by NUL; 1 .. STORE_ID_MAX bytes; valid until `take` is called */
    uint32_t user_length, item_length;
    double rating; /* or the count of an event */
    int64_t time;  /* STORE_NO_TIME when there is none */
};

/* Ids of a stretch of records: whole numbers, which stand for their texts, or texts. */
struct record_ids {
    const int64_t *whole;    /* NULL: they are texts */
    const char *const *text; /* as in a record */
    const uint32_t *length;
};

/* Records as columns, for readers that have them so: up to RECORD_BATCH in a row. */
struct record_stretch {
    int n;
    struct record_ids user, item;
    double *rating;
    const int64_t *time; /* STORE_NO_TIME where there is none; NULL: there is none at all */
};

struct record_batch {
    struct record record[RECORD_BATCH];
    int n;

    /* The owner: takes the n records. @return 0, or a negative code that ends the reading */
    int (*take)(void *self, const struct record *records, int n, struct dpmf_error *error);
    /* Likewise, of those that come as columns; NULL: the owner wants none of these */
    int (*take_stretch)(void *self, const struct record_stretch *stretch, struct dpmf_error *error);
    void *self;

    const struct dpmf_input_options *options; /* rescale, range, skip_bad */
    bool counts;                              /* the values are counts of events, not ratings */
    bool refuses_times; /* where columns are guessed, a rating that looks like a time is bad */

    /* Filled while reading; record_batch_begin clears them for a new chunk. */
    uint64_t n_added;
    uint64_t n_rejected;
    uint64_t n_headers;               /* rejected records that are headers of other tables */
    struct dpmf_error first_rejected; /* its line is relative to the chunk: 1 = the chunk's first */
    struct dpmf_error failure;        /* what ended the reading; code 0 when nothing did */
    struct dpmf_error remark;         /* what is odd about all of an input; code 0: nothing */
};

/* What the value of a record is called. */
static inline const char *record_value_name(const struct record_batch *batch) {
    return batch->counts ? "count" : "rating";
}

/* Puts a rating on the scale that is asked for.
 * @return 0, DPMF_ERR_INPUT_NOT_FINITE, or DPMF_ERR_INPUT_OUT_OF_RANGE */
static inline int record_rating_take(const struct dpmf_input_options *options, double *rating) {
    if (options->rescale)
        *rating = rescale(*rating, options->from_min, options->from_max, options->to_min,
                          options->to_max);
    if (!isfinite(*rating)) return DPMF_ERR_INPUT_NOT_FINITE;
    if (options->has_range && !(*rating >= options->range_min && *rating <= options->range_max))
        return DPMF_ERR_INPUT_OUT_OF_RANGE;
    return 0;
}

/* Whether a value is how often an event can have happened. */
static inline bool record_count_is(double value) { return store_count_is(value); }

/* Empties the batch for a new chunk. */
void record_batch_begin(struct record_batch *batch);

/* Hands over what is left. @return 0, or the code of batch->failure */
int record_batch_end(struct record_batch *batch);

/* Checks the record (ids' lengths; a finite rating, rescaling, range; or a count) and adds it.
 * line, and the columns of the three fields, say where it stood, all 1-based, for the error if
 * there is one.
 * @return true to continue, false when reading must stop (batch->failure says why) */
bool record_batch_add(struct record_batch *batch, const struct record *record, int64_t line,
                      int64_t user_column, int64_t item_column, int64_t rating_column);

/* Whether the owner takes stretches and each record of this one is good, as record_batch_add has
 * it. If not, the reader adds them one by one, which says what is wrong with which. Ratings are
 * put on the scale that is asked for. */
bool record_stretch_take(const struct record_batch *batch, struct record_stretch *stretch);

/* Adds a stretch for which record_stretch_take said yes. @return as record_batch_add */
bool record_batch_add_stretch(struct record_batch *batch, const struct record_stretch *stretch);

/* Rejects a record that could not be understood. The hint may be NULL.
 * @return as record_batch_add: true when bad records are skipped */
bool record_batch_reject(struct record_batch *batch, int code, int64_t line, int64_t column,
                         const char *hint, const char *format, ...) DPMF_PRINTF(6, 7);

/* After a record was rejected whose ids were taken: whether they are names of columns, and not
 * those of their own. Then it is the header of another table, as record_batch_header has it. */
void record_batch_look(struct record_batch *batch, const struct record *record, int64_t row);

/* The record that was rejected last is the header of another table. Where it ended the reading, the
 * failure says so. */
void record_batch_header(struct record_batch *batch, int64_t line);

#endif
