/*
 * One import at work: what import.c, which plans it, shares with its two halves, import_read.c and
 * import_write.c, and with import_doubts.c, which looks at what they read.
 */
#ifndef DPMF_RATINGS_IMPORT_STATE_H
#define DPMF_RATINGS_IMPORT_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "ratings/id_map.h"
#include "ratings/source.h"
#include "store/rating_sorter.h"
#include "store/time_ends.h"

/* ---- doubts --------------------------------------------------------------------------------- */

/* Counts of a stretch of records. Starts as zeros. */
struct record_doubts {
    uint64_t n;
    uint64_t missing_users, missing_items; /* records whose id is a text such as NULL or nan */
    uint64_t like_times;                   /* records whose rating is as large as a time is */
    double largest;                        /* largest rating, without its sign */
};

/* How far the ratings of an input reach, and which input it is, from 1; 0 is none. */
struct input_reach {
    double largest;
    uint64_t input;
};

struct import_doubts {
    struct record_doubts all, input;          /* all inputs, and the one being read */
    uint64_t n_inputs;                        /* number of inputs read */
    struct input_reach least, most;           /* all inputs */
    struct input_reach least_many, most_many; /* inputs with many ratings */
};

/* ---- the import ------------------------------------------------------------------------------- */

/* A source stays open until the last of its chunks is settled; `end` jobs close it in order. */
struct import {
    const char *const *inputs;
    size_t n_inputs, next_input;
    struct source *given; /* an open source, given instead of inputs; NULL once it is being cut */
    const struct dpmf_input_options *options;
    const struct dpmf_run *run;
    struct dpmf_import_report *report;
    uint64_t memory;
    /* where records are read one by one, the store may be empty: no record decides whether there is
     * one */
    bool may_be_empty;

    /* reading */
    struct source *reading; /* the source being cut; the producer's */
    size_t n_opened;        /* number of sources opened so far */
    bool holds_events;
    /* Where the columns are in the first input of CSV or TSV with a header, and in the first
     * without; n_columns 0: there was none. */
    struct store_layout headed, headless;
    pthread_mutex_t report_lock; /* who reports progress: the ordered step, or a read that waits */
    struct dpmf_progress last_report;
    _Atomic uint64_t bytes_before; /* bytes of the sources already closed */
    uint64_t bytes_total;          /* 0 when not known */
    uint64_t read_job_bytes;       /* memory of a chunk in work */
    struct id_map *users, *items;
    struct rating_sorter *sorter;
    uint64_t reserve;         /* memory for the jobs of either pipeline */
    uint64_t id_bytes_beyond; /* bytes of ids and of `held` beyond the bound of memory */
    uint64_t held;            /* peak memory of a source, without its chunks */
    uint64_t n_read;
    struct time_ends ends;
    struct import_doubts doubts;
    struct store_layout layout; /* layout of all inputs */
    uint64_t *item_records;
    size_t item_capacity;

    /* writing */
    struct store_writer *writer;
    uint64_t next_slice, n_written;
    uint32_t *rank;                 /* item number -> place in the store's dictionary */
    _Atomic uint64_t *rank_ratings; /* by rank, duplicates taken off as they are found */
    _Atomic uint64_t duplicates;
    struct write_worker *workers; /* workers of import_write.c */
};

/* Reports the progress of the ordered step or, without an update, that nothing has changed.
 * @return whether to continue */
bool import_progress_report(struct import *import, const struct dpmf_progress *update);

/* What the ids and the jobs leave is for the sorter; a floor of an eighth keeps it useful. Where
 * bad records are dropped it has that floor whatever they leave.
 * @return DPMF_ERR_USAGE_MEMORY when they leave less and bad records are not dropped */
int import_memory_divide(struct import *import, struct dpmf_error *error);

/* Reads all inputs into the maps of ids and the sorter, with `n_jobs` chunks at a time. */
int import_inputs_read(struct import *import, size_t n_jobs, int threads, struct dpmf_error *error);

/* Writes what the sorter holds, with `n_jobs` slices at a time; the writer is not committed. */
int import_store_write(struct import *import, const char *output, size_t n_jobs, int threads,
                       struct dpmf_error *error);

/* What all records together look like that none says by itself: ids that stand for a missing value,
 * ratings that look like times, and inputs on different scales. Nothing is refused for it, since
 * every record is read alone; whoever imports is told. Messages have counts and no value of
 * anyone's. */

void record_doubts_ids(struct record_doubts *doubts, const struct id_text *ids, int n,
                       bool is_item);

/* Ratings are put back on the scale that they were read on. */
void record_doubts_values(struct record_doubts *doubts, const struct dpmf_input_options *options,
                          const double *value, size_t n);

/* Adds a stretch of the input being read; and ends that input. */
void import_doubts_merge(struct import_doubts *doubts, const struct record_doubts *stretch);
void import_doubts_end_input(struct import_doubts *doubts, bool holds_events);

/* Tells run->warn. */
void import_doubts_warn(const struct import_doubts *doubts, bool holds_events,
                        const struct dpmf_run *run);

#endif
