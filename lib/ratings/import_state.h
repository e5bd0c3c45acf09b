/*
 * One import at work: what import.c, which plans it, shares with its two halves, import_read.c and
 * import_write.c.
 */
#ifndef DPMF_RATINGS_IMPORT_STATE_H
#define DPMF_RATINGS_IMPORT_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "ratings/id_map.h"
#include "ratings/source.h"
#include "store/rating_sorter.h"
#include "store/time_ends.h"

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

#endif
