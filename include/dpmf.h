/*
 * dpmf: a private recommender engine.
 *
 * The public interface, and with dpmf_client.h, which it includes and which has errors and the use of a
 * model, the only header that programs/, python/ and web/ may include. It is ordered as the data flows: the
 * run (threads, memory, progress), ratings in, the store, what one does with a store, and a few text
 * helpers that the command line shares.
 *
 * Conventions. A function that can fail returns 0 or a negative enum dpmf_code and describes the
 * failure in its last argument, which may be NULL. Outputs are the last arguments before the error.
 * Option structs come from their `_default()` function, so that new fields never break a caller.
 * Nothing here prints, exits or keeps global state; every function may be called from any thread,
 * one thread at a time for any one object.
 *
 * Examples in these comments stand in a function that has `struct dpmf_error error = {0};`; the tests compile and run
 * them all.
 */
#ifndef DPMF_H
#define DPMF_H

#include "dpmf_client.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------
 * Structs that grow
 *
 * A program that was built with one version runs with any later one of the same SONAME:
 *
 * - A struct of options begins with its `size`. `_default()` sets it, and the library believes it: of
 *   an older, smaller struct the fields that are missing have their defaults; of a newer, larger one
 *   the fields that this library does not know must be 0, else DPMF_ERR_USAGE_STRUCT. So is a struct
 *   whose size is 0, which nobody made with `_default()`. New fields are added at the end, and 0 stands
 *   for what the library did before it had them.
 * - A struct inside a struct of options, or one that the library fills in, keeps its size. It ends with
 *   `spare` words, which later fields take; they are 0, and options in which they are not are refused.
 * - A struct that only the library makes, such as those that callbacks are shown, may grow at its end.
 * - Records of which there are arrays, such as struct dpmf_scored_item, and struct dpmf_error never change.
 * ---------------------------------------------------------------------------------------------- */

/* Defines NAME_default(), which gives a struct NAME of options as this header has it, from NAME_init(), which is in
 * the library and knows the defaults. */
#define DPMF_DEFAULT(name)                                                                         \
    static inline struct name name##_default(void) {                                               \
        struct name made;                                                                          \
        name##_init(&made, sizeof made);                                                           \
        return made;                                                                               \
    }

/* ------------------------------------------------------------------------------------------------
 * A run: how much of the machine it may use, and how it tells what it is doing
 * ---------------------------------------------------------------------------------------------- */

/* How far a run is. */
struct dpmf_progress {
    const char *phase; /* "reading", "sorting", "writing", ... */
    const char *unit;  /* what is counted: "ratings", "bytes", "blocks" */
    uint64_t done;
    uint64_t total;   /* 0 when it is not known */
    uint64_t ratings; /* ratings handled so far in this phase, for a speed; 0 when not counted */
};

/* The processes of a job that work together: see dpmf_cluster_open. */
struct dpmf_cluster;

/* What every function that takes long is given. NULL in its place stands for dpmf_run_default(). */
struct dpmf_run {
    size_t size;     /* of this struct, set by _default() */
    int threads;     /* 0: every core this process may use */
    uint64_t memory; /* bytes; 0: half of the machine's memory, at most 2 GiB */

    /* Called now and then, by one thread at a time. A value other than 0 ends the run with
     * DPMF_ERR_BASE_CANCELLED and no output. May be NULL. */
    int (*progress)(void *self, const struct dpmf_progress *progress);
    void *progress_self; /* passed to it */

    /* Something the user should know that is no error: a text for dpmf_error_text. May be NULL. */
    void (*warn)(void *self, const char *message);
    void *warn_self; /* passed to it */

    /* The processes that work on this together; NULL: this one alone. */
    const struct dpmf_cluster *cluster;
};

/* All cores, the usual memory, and nobody to tell. */
DPMF_API void dpmf_run_init(struct dpmf_run *run, size_t size);
DPMF_DEFAULT(dpmf_run)

/* Whether a file could be written there: for outputs that come at the end of hours of work. Fails as writing it would:
 * there is no such directory, nothing may be written into it, or what is there is no file. Leaves nothing behind. */
DPMF_API int dpmf_output_check(const char *path, struct dpmf_error *error);

/* What this library was built from; the statement of every release names it. */
struct dpmf_build {
    const char *commit;   /* of the sources; "unknown", or with "+changed" at its end */
    const char *compiler; /* such as "GNU 12.2.0" */
    const char *sources;  /* SHA-256 over them, as packaging/build_identity.cmake describes it */
};

/* The build of the library that is running. */
DPMF_API struct dpmf_build dpmf_build_identity(void);

/* ------------------------------------------------------------------------------------------------
 * Several processes, on one machine or many: the ranks of a job that mpirun started
 * ---------------------------------------------------------------------------------------------- */

/* Whether mpirun or its like started this process, and as which rank, by the environment alone; -1: it did not. */
DPMF_API int dpmf_cluster_launched(void);
DPMF_API bool dpmf_cluster_is_alone(void); /* and that it started no other */

/* Joins the ranks of the job: once a process, by all ranks. *cluster is NULL when this process was started by itself.
 * @return 0 or DPMF_ERR_CLUSTER_START, also when the plugin libdpmf-mpi.so, which `make mpi` builds, is not there: it is
 * looked for beside the program and the library and in the library path, or where $DPMF_MPI_PLUGIN says */
DPMF_API int dpmf_cluster_open(struct dpmf_cluster **cluster, struct dpmf_error *error);
DPMF_API int dpmf_cluster_rank(const struct dpmf_cluster *cluster); /* 0 for NULL */
DPMF_API int dpmf_cluster_size(const struct dpmf_cluster *cluster); /* 1 for NULL */
DPMF_API const char *dpmf_cluster_host(const struct dpmf_cluster *cluster, int rank);

/* A rank that is not heard from for so many seconds is taken for lost; DPMF_CLUSTER_TIMEOUT to begin with. */
enum { DPMF_CLUSTER_TIMEOUT = 120 };

DPMF_API void dpmf_cluster_set_timeout(const struct dpmf_cluster *cluster, double seconds);

/* All ranks together: 0, or the failure of the lowest rank that has one, which is then named in it. To be called after whatever
 * can fail in one rank alone, before the ranks work together again. */
DPMF_API int dpmf_cluster_agree(const struct dpmf_cluster *cluster, int code,
                                struct dpmf_error *error);

/* Who tells the user of a failure that this rank knows of: true at once where all ranks know of it and this is the first, and after
 * a while where the others do not, unless a lower rank has ended the job by then; false where it is for others to tell. */
DPMF_API bool dpmf_cluster_speaks(const struct dpmf_cluster *cluster);

/* Leaves: `status` 0, or the exit status that this process is going to end with. After a failure that the others do not know of,
 * which no rank can go on from, this ends the job for all, and does not return. NULL is fine. */
DPMF_API void dpmf_cluster_close(struct dpmf_cluster *cluster, int status);

/* ------------------------------------------------------------------------------------------------
 * Ratings in
 * ---------------------------------------------------------------------------------------------- */

/* How text is to be understood, where it does not say so itself. */
struct dpmf_input_options {
    size_t size;         /* of this struct, set by _default() */
    const char *format;  /* NULL or "auto": sniffed. Else a name of dpmf_format_name() */
    const char *columns; /* NULL: from the header, else user,item,rating[,timestamp]. Else a list of
                            user, item, rating or count, timestamp and _ in the order of the file's
                            columns; without a rating the records are events */
    char separator;      /* of csv; 0: comma or semicolon, whichever the first row has more of */
    bool rescale;        /* map ratings linearly from [from_min, from_max] to [to_min, to_max] */
    double from_min, from_max, to_min, to_max;
    bool has_range; /* refuse ratings outside [range_min, range_max], after rescaling */
    double range_min, range_max;
    bool skip_bad; /* count and skip bad records, a line each, instead of failing on the first */
    /* Refuse an input in which one record decides how others are read, and skip bad records: what a private run needs. */
    bool by_record;
    /* The records are events, what people played, bought or clicked: a user, an item and perhaps a
     * count, a whole number from 1 to 2^53. Inputs that say so themselves, by a header such as
     * user,item,plays, need not be declared. Counts of a pair add up. */
    bool events;
    /* Make events of ratings: of those of at least `like`, which is -INFINITY for all of them. Of a
     * pair the last rating decides. */
    bool has_like;
    double like;
};

/* The text says it all; the first bad record is an error. */
DPMF_API void dpmf_input_options_init(struct dpmf_input_options *options, size_t size);
DPMF_DEFAULT(dpmf_input_options)

/* The file that an input of that name is read from: the path itself, or that of the SQLite database in an address. What is to be
 * written must not be it. @return a text to be freed; NULL for a server's address, one that cannot be read, or without memory */
DPMF_API char *dpmf_input_file(const char *path);

/* @return whether a character can separate the columns of csv: a blank, or ASCII that is in no number and is no quote */
DPMF_API bool dpmf_separator_is(char character);

/* @return the i-th known format's name ("csv", "movielens", ...) or NULL past the last;
 *         `description` (may be NULL) receives one line about it */
DPMF_API const char *dpmf_format_name(size_t i, const char **description);

/* How the records of a store were read, as its header keeps it. docs/privacy/input.md says why it matters. */
struct dpmf_layout {
    /* What decided where the fields of a record are: "declared"; "guessed" from the first record; "dependent" on other
     * records, as blocks of lines and cuts by time are; or "not recorded", as in stores of 0.1.0. */
    const char *origin;
    bool drops_bad;    /* a bad record was dropped by itself, and did not end the import */
    bool is_by_record; /* both are as private runs need them, which refuse other stores */
    char formats[128]; /* of all inputs: names, a comma and a blank between them */
    uint64_t spare[4];
};

/* What an import, or a synthesis, has read and written. */
struct dpmf_import_report {
    uint64_t ratings; /* in the store */
    uint64_t users;
    uint64_t items;
    uint64_t duplicates; /* (user, item) pairs met again: the last rating won, counts added up */
    uint64_t skipped;                /* bad records left out (only with skip_bad) */
    struct dpmf_error first_skipped; /* the first of them; code 0 when there was none */
    uint64_t bytes_read;             /* of the inputs, as they are on disk */
    uint64_t bytes_written;
    uint64_t bytes_spilled; /* to the temporary file, because of run.memory */
    double seconds;
    char format[32]; /* of the last input */
    struct dpmf_layout layout;
    uint64_t not_liked; /* ratings below `like`, of which no events were made */
    bool holds_events;  /* `ratings` are events, each a pair of a user and an item */
    uint64_t spare[2];
};

/* Packs ratings of any known format into one store. The output appears whole or not at all.
 * An input is a path, "-" for standard input, or the address of a database (docs/databases.md); a store is
 * also an input, and so is a directory of shards.
 *
 *     const char *inputs[] = {"ratings.csv"};
 *     struct dpmf_import_report report;
 *     if (dpmf_import(inputs, 1, "packed.dpr", NULL, NULL, &report, &error) == 0)
 *         printf("%" PRIu64 " ratings of %" PRIu64 " users\n", report.ratings, report.users);
 */
DPMF_API int dpmf_import(const char *const *inputs, size_t n_inputs, const char *output,
                         const struct dpmf_input_options *options, const struct dpmf_run *run,
                         struct dpmf_import_report *report, struct dpmf_error *error);

/* ------------------------------------------------------------------------------------------------
 * The store
 * ---------------------------------------------------------------------------------------------- */

/* Ratings, packed by user: what everything below is made from. */
struct dpmf_store;

/* Opens a store, or any input of dpmf_import() by packing it into a temporary store first (which
 * nobody else can read and which is gone when this process ends); so is a store when `options`, which
 * may be NULL, asks for other ratings than it holds. Records that were skipped and duplicates are
 * told to run->warn.
 *
 *     struct dpmf_store *store = NULL;
 *     struct dpmf_store_info info;
 *     if (dpmf_store_open("ratings.csv", NULL, NULL, &store, &error) == 0) {
 *         dpmf_store_info(store, &info);
 *         printf("%" PRIu64 " ratings from %g to %g\n", info.ratings, info.min, info.max);
 *     }
 *     dpmf_store_close(store);
 */
DPMF_API int dpmf_store_open(const char *path, const struct dpmf_input_options *options,
                             const struct dpmf_run *run, struct dpmf_store **store,
                             struct dpmf_error *error);
DPMF_API void dpmf_store_close(struct dpmf_store *store);

/* Ratings that a program has in memory already, n of each. Users and items are numbers from 0, below n_users
 * and n_items; their ids are texts that lie one after the other, the i-th from id_offsets[i] to
 * id_offsets[i + 1] of id_bytes, or, with id_offsets NULL, the numbers themselves in decimal. */
struct dpmf_arrays {
    size_t size; /* of this struct: sizeof arrays */
    uint64_t n, n_users, n_items;
    const int64_t *users, *items;
    const double *ratings;  /* values: ratings, or counts of events */
    const float *ratings32; /* the same, where `ratings` is NULL; both may be, of events */
    const int64_t *times;   /* seconds since 1970; NULL: there are none */
    const char *user_id_bytes;
    const int64_t *user_id_offsets;
    const char *item_id_bytes;
    const int64_t *item_id_offsets;
};

/* The store that the same ratings in the same order would give as text: temporary, as that of dpmf_store_open,
 * and of a pair met twice the last wins. The arrays are read in place and may be gone afterwards. Of
 * `options`, which may be NULL, rescale, has_range, skip_bad, events and has_like count. With events and without ratings, each is an
 * event that counts once.
 *
 *     int64_t users[] = {0, 0, 1}, items[] = {0, 1, 1};
 *     double ratings[] = {5, 3, 4};
 *     struct dpmf_arrays arrays = {
 *         .size = sizeof arrays, .n = 3, .n_users = 2, .n_items = 2, .users = users, .items = items, .ratings = ratings};
 *     struct dpmf_store *store = NULL;
 *     if (dpmf_store_from_arrays(&arrays, NULL, NULL, &store, &error) == 0)
 *         dpmf_store_export_csv(store, NULL, 1, NULL, NULL, &error); // to standard output
 *     dpmf_store_close(store);
 */
DPMF_API int dpmf_store_from_arrays(const struct dpmf_arrays *arrays,
                                    const struct dpmf_input_options *options,
                                    const struct dpmf_run *run, struct dpmf_store **store,
                                    struct dpmf_error *error);

/* The size and the scale of a store. */
struct dpmf_store_info {
    uint64_t users, items, ratings, blocks;
    double min, max; /* of the ratings; both 0 in an empty store */
    bool has_times;
    bool holds_events; /* each of `ratings` is a pair of a user and an item; min and max are of its
                          counts */
    bool
        is_temporary; /* packed for this use from something else, so its size on disk means nothing */
    uint64_t file_bytes;
    struct dpmf_layout layout;
    uint64_t spare[4];
};

/* Tells it, without reading any ratings. */
DPMF_API void dpmf_store_info(const struct dpmf_store *store, struct dpmf_store_info *info);

/* The bytes of item i's id (not ended by NUL) and how many ratings it has. */
DPMF_API const char *dpmf_store_item(const struct dpmf_store *store, uint64_t i, size_t *length,
                                     uint64_t *n_ratings);

/* ------------------------------------------------------------------------------------------------
 * What one does with a store
 * ---------------------------------------------------------------------------------------------- */

/* How many percentiles there are, and bars of a histogram at most. */
enum { DPMF_PERCENTILES = 7, DPMF_HISTOGRAM_MAX = 64 };

/* Percentiles are at 0, 10, 25, 50, 75, 90 and 100. */
extern DPMF_API const double dpmf_percentile_levels[DPMF_PERCENTILES];

/* What there is to know about the ratings of a store. */
struct dpmf_description {
    struct dpmf_store_info info;
    double mean, standard_deviation;
    double density;       /* ratings / (users * items) */
    double top_500_share; /* of the ratings, held by the 500 most rated items */
    double bytes_per_rating;
    uint64_t distinct_values; /* of ratings; counted up to 4096, which stands for "or more" */
    bool has_step;            /* every rating is min + a whole number of steps */
    double step;
    uint64_t per_user[DPMF_PERCENTILES]; /* ratings per user */
    uint64_t per_item[DPMF_PERCENTILES];
    int64_t first_time, last_time; /* when info.has_times */
    size_t n_bars;                 /* the histogram of ratings: a bar per value, or equal bins */
    struct {
        double low, high;
        uint64_t count;
    } bar[DPMF_HISTOGRAM_MAX];
    uint64_t spare[4];
};

/* Reads the whole store, every checksum included. With `plot`, writes the paper's power-law figure
 * (number of items by number of ratings, log-log) to that SVG file. */
DPMF_API int dpmf_store_describe(struct dpmf_store *store, const char *plot,
                                 const struct dpmf_run *run, struct dpmf_description *description,
                                 struct dpmf_error *error);

/* How it is decided which ratings are the test set. */
enum dpmf_split_by {
    DPMF_SPLIT_RANDOM, /* each rating by its own coin */
    DPMF_SPLIT_USER,   /* whole users by coin */
    DPMF_SPLIT_TIME,   /* the latest ratings are the test set */
    DPMF_SPLIT_PROBE,  /* the pairs of a Netflix probe file are the test set */
};

/* How a store is split. */
struct dpmf_split_options {
    size_t size; /* of this struct, set by _default() */
    enum dpmf_split_by by;
    double test_fraction;
    uint64_t seed;
    const char *probe; /* with DPMF_SPLIT_PROBE */
};

/* A tenth of the ratings, by coins. */
DPMF_API void dpmf_split_options_init(struct dpmf_split_options *options, size_t size);
DPMF_DEFAULT(dpmf_split_options)

/* What is in the two parts. */
struct dpmf_split_report {
    uint64_t train_ratings, train_users, train_items;
    uint64_t test_ratings, test_users, test_items;
    uint64_t probe_missing; /* pairs of the probe file that the store does not hold */
    int64_t cut_time;       /* with DPMF_SPLIT_TIME: the first time in the test set */
    uint64_t spare[4];
};

/* The coins depend on the seed and on the ids' bytes alone: not on the order of the store, the
 * number of threads or the machine. Neither output appears unless both are whole.
 *
 *     struct dpmf_store *store = NULL;
 *     struct dpmf_split_options options = dpmf_split_options_default();
 *     struct dpmf_split_report report;
 *     options.by = DPMF_SPLIT_USER;
 *     if (dpmf_store_open("ratings.csv", NULL, NULL, &store, &error) == 0 &&
 *         dpmf_store_split(store, "a.dpr", "b.dpr", &options, NULL, &report, &error) == 0)
 *         printf("%" PRIu64 " users to test with\n", report.test_users);
 *     dpmf_store_close(store);
 */
DPMF_API int dpmf_store_split(struct dpmf_store *store, const char *train, const char *test,
                              const struct dpmf_split_options *options, const struct dpmf_run *run,
                              struct dpmf_split_report *report, struct dpmf_error *error);

/* How a store was parted. */
struct dpmf_shard_report {
    uint64_t parts, users, ratings;
    uint64_t fewest_ratings, most_ratings; /* of a part */
    uint64_t spare[4];
};

/* Cuts a store into `parts` stores of whole users, about as many ratings each, in a new directory; dpmf_store_open takes
 * the directory where it takes a store. The items are the same in all of them, and have the same numbers. */
DPMF_API int dpmf_store_shard(struct dpmf_store *store, const char *directory, uint32_t parts,
                              const struct dpmf_run *run, struct dpmf_shard_report *report,
                              struct dpmf_error *error);

/* Writes `user,item,rating[,timestamp]`, of events `user,item,count[,timestamp]`, a header first,
 * quoted where needed, numbers such that reading them gives the same bits. To `path`, or to file
 * descriptor `fd` when path is NULL. */
DPMF_API int dpmf_store_export_csv(struct dpmf_store *store, const char *path, int fd,
                                   const struct dpmf_run *run, uint64_t *bytes_written,
                                   struct dpmf_error *error);

/* ------------------------------------------------------------------------------------------------
 * Synthetic ratings
 * ---------------------------------------------------------------------------------------------- */

/* r = offset + b_user + b_item + u.v + noise, put on the scale; who rates what follows a power law. */
struct dpmf_synth_options {
    size_t size; /* of this struct, set by _default() */
    uint64_t users, items, ratings;
    uint32_t rank; /* k of the planted factors */
    double noise;  /* standard deviation, in units of the scale's width / 4 */
    double scale_min, scale_max, scale_step; /* step 0: real-valued */
    double top_500_share;                    /* of the ratings; 0: whatever the power law gives */
    bool times;                              /* with made-up timestamps */
    uint64_t seed;
    const char *truth;     /* NULL, or a safetensors file for the planted factors */
    const char *catalogue; /* NULL, or a CSV of item ids and made-up titles */
};

/* A small set with stars from 1 to 5, without times. */
DPMF_API void dpmf_synth_options_init(struct dpmf_synth_options *options, size_t size);
DPMF_DEFAULT(dpmf_synth_options)

/* Sets the shape of a known set: "netflix", "yahoo", "ml-1m", "ml-10m", "ml-100k".
 * @return 0, or DPMF_ERR_USAGE_VALUE when there is none of that name */
DPMF_API int dpmf_synth_options_like(const char *name, struct dpmf_synth_options *options);

/* @return the i-th known shape's name, or NULL past the last */
DPMF_API const char *dpmf_synth_shape_name(size_t i);

/* The same bytes for the same options, for any number of threads.
 *
 *     struct dpmf_synth_options options = dpmf_synth_options_default();
 *     struct dpmf_import_report report;
 *     options.users = 1000, options.items = 200, options.ratings = 20000;
 *     options.catalogue = "made-up.csv";
 *     if (dpmf_synth("made-up.dpr", &options, NULL, &report, &error) == 0)
 *         printf("%" PRIu64 " made-up ratings\n", report.ratings);
 */
DPMF_API int dpmf_synth(const char *output, const struct dpmf_synth_options *options,
                        const struct dpmf_run *run, struct dpmf_import_report *report,
                        struct dpmf_error *error);

/* ------------------------------------------------------------------------------------------------
 * Training: r = offset + b_user + b_item + u.v
 * ---------------------------------------------------------------------------------------------- */

/* Samplers: models that are draws from the posterior, a round of them an epoch. */
struct dpmf_sampler_options {
    const char *noise; /* of sgld: NULL or "exact"; "table" or "table:SIZE", the paper's */
    double step;       /* of sgld, sghmc and sgnht, an epoch's; 0: from the ratings */
    uint32_t burn_in;  /* epochs before samples count; UINT32_MAX: a part of them */
    bool average;      /* predict by the mean of many samples instead of by the last one */
    uint32_t samples;  /* that are kept for it, at most; 0: as many as are useful */
    uint32_t chains;   /* independent ones, each from the prior; 0: what is good for the solver */
    const char *trace; /* NULL, or an SVG file to draw the chains in */
    uint64_t spare[4];
};

/* The solver "ials", which learns to rank: from events, pairs of a user and an item, and not from the values of ratings. */
struct dpmf_ials_options {
    bool has_like; /* ratings of at least `like` are events; else all are */
    double like;
    double unobserved; /* weight of a pair without an event; 0: chosen by how many there are */
    double exponent;   /* of a row's number of events in its penalty: 1 in proportion, 0 the same */
    uint32_t row_steps; /* of conjugate gradients a row and epoch; 0: exact */
    uint64_t spare[4];
};

/* How a model is trained. */
struct dpmf_train_options {
    size_t size;      /* of this struct, set by _default() */
    uint32_t factors; /* k, 1 to 4096 */
    uint32_t epochs;
    double learning_rate;
    double decay; /* gamma of eta_t = eta_0 / t^gamma; with it below 0 the default schedule */
    double regularization; /* lambda of the L2 penalties */
    uint64_t seed;
    bool deterministic;   /* bit-identical models for any number of threads */
    bool hogwild;         /* item vectors are written by several threads at once */
    const char *kernels;  /* NULL: the best this machine has */
    uint32_t lanes;       /* ratings a kernel takes at once, 1 to 8; 0: chosen, for the caches, or,
                             where `deterministic`, for k and the kernels alone */
    const char *tiers;    /* NULL: sized from the caches. Else the paper's, e.g. "500,4000" */
    uint32_t patience;    /* with a validation set: epochs without gain before stopping; 0 never */
    const char *snapshot; /* NULL, or a checkpoint written now and then and when interrupted: ... */
    uint32_t snapshot_every;  /* ... after so many epochs, ... */
    uint64_t snapshot_blocks; /* ... after so many superblocks of users, ... */
    double snapshot_seconds;  /* ... or after so long; with none of them, after every epoch */
    const char *resume;       /* NULL, or a snapshot to go on from */
    uint32_t prefetch;        /* superblocks read ahead, where the run is larger than memory */

    const char *solver;                  /* NULL: "sgd"; see dpmf_solver_name */
    struct dpmf_sampler_options sampler; /* of sgld, sghmc, sgnht and gibbs */
    struct dpmf_ials_options ials;       /* of ials */
};

/* SGD with what is good for all known sets: change what you have a reason to change. */
DPMF_API void dpmf_train_options_init(struct dpmf_train_options *options, size_t size);
DPMF_DEFAULT(dpmf_train_options)

/* Chooses a solver (NULL: sgd), and the numbers of factors and epochs that are good for it where nothing else is known.
 * @return 0, or DPMF_ERR_USAGE_VALUE when there is none of that name */
DPMF_API int dpmf_train_options_solver(const char *solver, struct dpmf_train_options *options);

/* Fills in what options leave to their solver: `burn_in`, `chains` and `samples`, as a run chooses them
 * that has memory enough. What is set already is kept, and so is all of a solver that is no sampler. */
DPMF_API void dpmf_train_options_complete(struct dpmf_train_options *options);

/* @return the i-th solver's name, with a line about it, or NULL past the last */
DPMF_API const char *dpmf_solver_name(size_t i, const char **description);

/* @return whether a solver of this name draws from the posterior; false for NULL and for no solver */
DPMF_API bool dpmf_solver_is_sampler(const char *solver);

/* Where training is after an epoch. */
struct dpmf_epoch {
    uint32_t epoch; /* from 1 */
    uint32_t chain; /* of a sampler, from 0 */
    bool is_burn_in;
    double seconds; /* since the start of training */
    double updates_per_second;
    double train_rmse;
    double valid_rmse; /* NaN without a validation set, and of a model that ranks, ... */
    double valid_recall, valid_ndcg; /* ... which has these, of the ten best; else NaN */
};

/* How training went. */
struct dpmf_train_report {
    uint32_t epochs;
    double seconds; /* of the epochs alone */
    double tiling_seconds;
    double updates_per_second;
    double train_rmse, valid_rmse;
    bool stopped_early;
    bool tiles_on_disk; /* tiles and users' vectors were streamed: more than run->memory */
    char kernels[16];
    uint32_t lanes;        /* ratings a kernel took at once; 0 where that has no meaning */
    int ranks;             /* of run->cluster that took part; 0: there was none, and neither ... */
    uint64_t bytes_sent;   /* ... what they sent each other in the epochs, all together ... */
    double seconds_waited; /* ... nor how long each waited for it, in the mean; NaN: not known */

    /* Of samplers. */
    uint32_t chains;  /* that were begun */
    uint32_t burn_in; /* epochs of each chain that do not count */
    uint32_t samples; /* in the model: 1 without `average` */
    double step;      /* an epoch's, while sampling; 0 where there is none */
    double stiffness; /* curvature of the stiffest row times the noise it gets at once; 0: none */
    double rhat, ess; /* the worst of what was watched, of all chains; NaN: too few epochs */
    char worst[64];   /* what that was */
    bool converged;

    double valid_ndcg; /* of a model that ranks, the best; NaN without a validation set */
    uint64_t spare[4];
};

/* Trains on `store` and writes a checkpoint to `output`. `valid` may be NULL. `on_epoch` (may be NULL) is
 * called after each epoch; a value other than 0 ends the run with what there is by then.
 *
 *     struct dpmf_store *store = NULL;
 *     struct dpmf_train_options options = dpmf_train_options_default();
 *     struct dpmf_train_report report;
 *     options.factors = 8;
 *     if (dpmf_store_open("ratings.csv", NULL, NULL, &store, &error) == 0 &&
 *         dpmf_train(store, NULL, "trained.safetensors", &options, NULL, NULL, NULL, &report,
 *                    &error) == 0)
 *         printf("%u epochs, error %.3f\n", report.epochs, report.train_rmse);
 *     dpmf_store_close(store);
 */
DPMF_API int dpmf_train(struct dpmf_store *store, struct dpmf_store *valid, const char *output,
                        const struct dpmf_train_options *options, const struct dpmf_run *run,
                        int (*on_epoch)(void *self, const struct dpmf_epoch *epoch), void *self,
                        struct dpmf_train_report *report, struct dpmf_error *error);

/* ------------------------------------------------------------------------------------------------
 * Tuning: a search for the options that predict or rank ratings held back best
 * ---------------------------------------------------------------------------------------------- */

/* What is looked for, and for how long. */
struct dpmf_tune_options {
    size_t size; /* of this struct, set by _default() */
    bool hold_factors, hold_epochs, hold_learning_rate, hold_regularization; /* not looked for */
    uint32_t trials;       /* at most, 1 to 10000 */
    double seconds;        /* no trial but the first goes on beyond them; 0: no limit */
    double valid_fraction; /* of the ratings, held back where there is no validation store */
    bool hold_unobserved;  /* of "ials", which has this in place of a learning rate */
};

/* Looks for all four, in at most twenty trials. */
DPMF_API void dpmf_tune_options_init(struct dpmf_tune_options *options, size_t size);
DPMF_DEFAULT(dpmf_tune_options)

/* Why a trial ended. */
enum dpmf_trial_end {
    DPMF_TRIAL_DONE,     /* all its epochs */
    DPMF_TRIAL_BEHIND,   /* stopped: other trials were better by then */
    DPMF_TRIAL_RISING,   /* stopped: its error no longer fell */
    DPMF_TRIAL_TIME,     /* stopped: there was no more time; only ever the first */
    DPMF_TRIAL_DIVERGED, /* its error was not finite, or beyond sense */
};

/* One set of options, and how good it was. */
struct dpmf_trial {
    uint32_t trial; /* from 1 */
    uint32_t factors, epochs;
    double learning_rate, regularization;
    enum dpmf_trial_end end;
    uint32_t epochs_run;
    double valid_rmse; /* after the last epoch that was run; NaN before the first, and of ranking */
    double seconds;
    bool is_best;                  /* so far */
    double unobserved, valid_ndcg; /* of a model that ranks; else 0 and NaN */
    uint64_t spare[4];
};

/* What the search found. */
struct dpmf_tune_report {
    struct dpmf_trial best;
    uint32_t trials;
    bool out_of_time, all_tried; /* why there were no more of them */
    uint64_t train_ratings, valid_ratings;
    double seconds;
    uint64_t spare[4];
};

/* Trains on `store` again and again, with a part of it held back (or on all of it with `valid` given), and
 * keeps nothing but the options that did best: those with the smallest RMSE, or of "ials" with the largest NDCG of the ten
 * best items. The same seed gives the same trials, for any number of
 * threads, unless time runs out. `train` is what every trial has in common and the first one is; trials are
 * deterministic, whatever it says, and patience, snapshot and resume mean nothing here. Its seed also decides
 * what is held back. `on_trial` (may be NULL) is called after each trial; a value other than 0 ends the search
 * with what there is by then. */
DPMF_API int dpmf_tune(struct dpmf_store *store, struct dpmf_store *valid,
                       const struct dpmf_train_options *train,
                       const struct dpmf_tune_options *options, const struct dpmf_run *run,
                       int (*on_trial)(void *self, const struct dpmf_trial *trial), void *self,
                       struct dpmf_tune_report *report, struct dpmf_error *error);

/* ------------------------------------------------------------------------------------------------
 * The ledger: what the releases of a population have spent together
 * ---------------------------------------------------------------------------------------------- */

/* What may be claimed of a release. One function of the library decides it, from what the release's statement says of itself, and
 * everything that shows a release shows this. */
enum dpmf_claim {
    DPMF_CLAIM_PROVEN,
    DPMF_CLAIM_CONDITIONAL, /* it holds only if a sampler had converged, which no run can show */
    DPMF_CLAIM_PARTIAL,     /* proven, given what dpmf cannot check or the curator accepted */
    DPMF_CLAIM_NOT_PRIVATE, /* made for tests or research: nothing is promised */
};

/* @return "proven", "conditional", "partial" or "not private" */
DPMF_API const char *dpmf_claim_name(enum dpmf_claim claim);

/* How much a population may spend in all its releases. */
struct dpmf_budget {
    double mu;             /* of all releases composed; 0: there is no budget */
    double epsilon, delta; /* what it was declared as; both 0: as a mu */
};

/* Reads "1.2", a mu, or "5@1e-5", an epsilon at a delta. A mu above DPMF_MU_USUAL_MAX is refused, and a
 * delta above DPMF_DELTA_USUAL_MAX. @return 0 or DPMF_ERR_USAGE_VALUE */
DPMF_API int dpmf_budget_parse(const char *text, struct dpmf_budget *budget,
                               struct dpmf_error *error);

/* What became of a release that a ledger knows, or what else was done with the population's ratings. */
enum dpmf_ledger_state {
    DPMF_LEDGER_RESERVED,  /* counts as spent: whoever reserved it may have published it */
    DPMF_LEDGER_COMMITTED, /* published */
    DPMF_LEDGER_RETURNED,  /* never published: counts for nothing */
    DPMF_LEDGER_RESEARCH,  /* a private run for research: its file is no release */
    DPMF_LEDGER_TUNING,    /* a search for options */
};

/* A release or another run, as a ledger has it. */
struct dpmf_ledger_entry {
    const char *id; /* of the release, 32 hexadecimal digits */
    enum dpmf_ledger_state state;
    enum dpmf_claim claim; /* of a release */
    double mu, delta,
        epsilon;  /* delta 0: there is none, of a conditional one; all 0 of other runs */
    int64_t time; /* seconds since 1970 at which it was reserved */
};

/* People whose budget is spent together. */
struct dpmf_ledger_population {
    const char *name;

    /* Releases. What is committed or reserved is spent. */
    uint64_t committed, reserved, returned;

    /* Runs that are recorded and not in the sum: no epsilon bounds what they showed to whoever made them. */
    uint64_t research, tuning;

    double mu;               /* of what is spent, composed exactly */
    double mu_with_returned; /* the same if what was returned had been published after all */
    double delta;   /* the budget's; without one the smaller of 1e-5 and those claimed; 0: none */
    double epsilon; /* of what is spent, at that delta */
    enum dpmf_claim claim; /* of what is spent: what one release assumes, the sum does */

    struct dpmf_budget budget; /* that the sum may not pass; mu 0: none is set */
    uint64_t spare[4];
};

/* @return the path of the user's own ledger, $XDG_STATE_HOME/dpmf/ledger or ~/.local/state/dpmf/ledger, or NULL without a home
 *         or memory; free it with free() */
DPMF_API char *dpmf_ledger_path(void);

/* Makes an empty ledger with the directories it needs. `path` NULL, here and below: the user's own. One that is there already is
 * refused, DPMF_ERR_PRIVACY_LEDGER; but one that came here without its lock file, which all changes refuse, is used from here on.
 * @return 0, 1 for such a one, or an error
 *
 * Only this makes a ledger at a path that was given: what is mistyped must not begin a second one that knows nothing of the
 * first. The user's own is also made by the first release. */
DPMF_API int dpmf_ledger_init(const char *path, struct dpmf_error *error);

/* Waits while another process changes the ledger, a minute at most: `run` is warned after a second, and may end it. Whatever
 * changes a ledger waits as well, but says nothing. A ledger that is not there is not waited for. */
DPMF_API int dpmf_ledger_wait(const char *path, const struct dpmf_run *run,
                              struct dpmf_error *error);

/* Gives each population to `take`, first alone (`entry` NULL), then with each of its releases and runs in the order they
 * were entered; a value other than 0 ends it and is returned. `population` NULL: all of them. A ledger that is
 * damaged or an old copy is refused, DPMF_ERR_PRIVACY_LEDGER; where there is none yet, DPMF_ERR_IO_MISSING. */
DPMF_API int dpmf_ledger_visit(const char *path, const char *population,
                               int (*take)(void *self,
                                           const struct dpmf_ledger_population *population,
                                           const struct dpmf_ledger_entry *entry),
                               void *self, struct dpmf_error *error);

/* Gives back what was reserved for a release that was never published; one that was is refused. */
DPMF_API int dpmf_ledger_return(const char *path, const char *id, struct dpmf_error *error);

/* Sets what a population may spend, which may be more than before, or less; NULL: no limit. */
DPMF_API int dpmf_ledger_set_budget(const char *path, const char *population,
                                    const struct dpmf_budget *budget, struct dpmf_error *error);

/* Records that options are being looked for in the ratings of a population. Settings that private ratings chose are
 * outside the proof of a release that is made with them, so its reader must be able to know. */
DPMF_API int dpmf_ledger_record_tuning(const char *path, const char *population,
                                       struct dpmf_error *error);

/* ------------------------------------------------------------------------------------------------
 * Private training: a release that says little about any one person
 * ---------------------------------------------------------------------------------------------- */

/* What a promise can rest on beside the proof: bits. */
enum dpmf_assumption {
    DPMF_ASSUMES_CONVERGENCE = 1, /* of a sampler */
    DPMF_ASSUMES_CATALOGUE = 2,   /* made from the ratings: it shows which items anyone rated */
    DPMF_ASSUMES_DELTA = 4,       /* larger than usual, and accepted */
    DPMF_ASSUMES_EPSILON = 8,     /* larger than usual, and accepted */
    DPMF_ASSUMES_LAST = DPMF_ASSUMES_EPSILON,
};

/* @return the name of one of them, with a sentence about it that begins with "that" (may be NULL); NULL for what is none */
DPMF_API const char *dpmf_assumption_name(unsigned assumption, const char **sentence);

/* Beyond these a release is made only when the curator accepts it, and is partial. */
#define DPMF_DELTA_USUAL_MAX 1e-4 /* and below one over the declared users */
#define DPMF_MU_USUAL_MAX 3.45    /* epsilon 20 at delta 1e-5 */
#define DPMF_EPSILON_USUAL_MAX 20 /* where there is no delta */

/* @return which of DPMF_ASSUMES_DELTA and DPMF_ASSUMES_EPSILON the curator must accept for this promise. A delta of 0 is that of a
 * conditional one, and 0 declared users are none */
DPMF_API unsigned dpmf_privacy_excess(double epsilon, double delta, uint64_t declared_users);

/* For the curator: of what is in here, only what the statement lists is in the release. */
struct dpmf_release_report {
    double epsilon, delta, mu; /* of what was done, rounded against us */
    enum dpmf_claim claim;
    unsigned assumptions; /* bits of dpmf_assumption */
    uint32_t factors;
    uint32_t noisy_rounds; /* sums that were published with noise */
    double seconds;
    bool
        catalogue_is_rated_set; /* every item is rated and none is missing: made from the ratings? */
    bool ratings_on_disk;
    char release_id[40];
    const char *mechanism;

    /* By the ledger. Before spending, what was spent by then; in the end with this release. All 0 of a run whose noise came
     * from a seed, and in all processes but the first. */
    struct dpmf_ledger_population spent;
    bool is_new_ledger, is_new_population; /* that this run enters */
    uint64_t other_populations;            /* that the ledger knew before */

    /* Private numbers. */
    uint64_t users, ratings;
    uint64_t not_in_catalogue, out_of_range, users_left_out;
    uint64_t wishes;            /* users in the file of wishes */
    uint64_t users_with_a_wish; /* of those in the ratings */
    uint64_t wishes_of_nobody;  /* that match no user of the ratings: spelled in another way? */
    uint64_t
        wishes_twice; /* rows of a user whom an earlier row names; the smallest epsilon counts */
    uint64_t wishes_above; /* for more than the release's epsilon, which is then what they have */
    uint64_t trimmed;      /* ratings beyond max_ratings */

    /* Of a sampler's chains, private too: neither is a proof of anything. */
    double rhat, ess;  /* the worst of what was traced */
    double acceptance; /* of the sampler's proposals; NaN: there were none */
    bool is_converged; /* nothing speaks against it */
    char chains_text[240];
    uint64_t spare[4];
};

/* The mechanism "posterior", whose promise is conditional and has no delta; all of this is public. */
struct dpmf_posterior_options {
    uint32_t max_ratings; /* tau: ratings of a user that count; the others are left out by coins */
    double kappa;     /* how far beyond the range predictions may go; NaN: a quarter of the range */
    double rho;       /* the largest weight of a user with few ratings; at least 1 */
    uint32_t factors; /* 0: as many as are good */
    uint32_t rounds;  /* 0: as many as are good */
    uint32_t chains;  /* 0: as many as are good; the first chain's last draw is released */
    const char *trace; /* NULL, or an SVG file to draw the chains in: for the curator alone */
    uint64_t spare[4];
};

/* What is promised, and what must be declared for it because the ratings may not tell it. */
struct dpmf_release_options {
    size_t size; /* of this struct, set by _default() */
    double epsilon, delta;
    const char *mechanism; /* NULL or "auto": the default; see dpmf_mechanism_name */
    double range_min,
        range_max;         /* of ratings, declared; both NaN: not declared, which is refused */
    const char *catalogue; /* a file of the items that exist */
    bool catalogue_from_ratings; /* instead: says which items anyone rated, and is recorded */
    const char *item_features;   /* NULL, or a file of what is publicly known about items */
    const char *user_privacy;    /* NULL, or a file of (user, epsilon) wishes */
    const char *about;           /* NULL, or what the curator declares: docs/formats/about.md */
    uint64_t declared_users;     /* 0: not declared. delta should stay below one in so many */
    const char *population;      /* whose budget is spent; NULL: "default" */
    const char *ledger;          /* one that is there; NULL: the user's own, made when it is not */
    struct dpmf_budget ledger_budget; /* of the population; mu 0: as recorded, or none */
    bool accept_delta;                /* above what is usual: the release is then partial */
    bool accept_epsilon;              /* the same of epsilon, by its mu */
    bool research;          /* metrics of private data were or will be shown: not releasable */
    bool has_insecure_seed; /* for tests: the noise is predictable, the file NOT PRIVATE */
    uint64_t insecure_seed;

    struct dpmf_posterior_options posterior; /* of the mechanism "posterior" */

    /* Called when the ratings have been counted and nothing has been spent yet. The report has its private
     * numbers by then, for the curator to look at: wishes that match nobody and ratings outside the catalogue, above all.
     * A value other than 0 ends the run with DPMF_ERR_BASE_CANCELLED. Of several processes the first alone calls it.
     * May be NULL. */
    int (*before_spending)(void *self, const struct dpmf_release_report *report);
    void *before_spending_self; /* passed to it */
};

/* The usual delta and mechanism; epsilon, range and catalogue are yours to declare. */
DPMF_API void dpmf_release_options_init(struct dpmf_release_options *options, size_t size);
DPMF_DEFAULT(dpmf_release_options)

/* Makes a release from `store` and writes it to `output`. A store in which one record may have decided how others were
 * read, or whether they are there, is refused: ratings are opened with by_record, or were imported with a declared layout
 * and skip_bad.
 *
 *     struct dpmf_store *store = NULL;
 *     struct dpmf_input_options reading = dpmf_input_options_default();
 *     struct dpmf_release_options options = dpmf_release_options_default();
 *     struct dpmf_release_report report;
 *     options.epsilon = 2;
 *     options.range_min = 1, options.range_max = 5; // declared, as the items are
 *     options.catalogue = "titles.csv";
 *     options.ledger = "ledger"; // made once with dpmf_ledger_init; NULL: the user's own
 *     reading.by_record = true;
 *     if (dpmf_store_open("ratings.csv", &reading, NULL, &store, &error) == 0 &&
 *         dpmf_release_make(store, "private.safetensors", &options, NULL, &report, &error) == 0)
 *         printf("epsilon %g at delta %g\n", report.epsilon, report.delta);
 *     dpmf_store_close(store);
 */
DPMF_API int dpmf_release_make(struct dpmf_store *store, const char *output,
                               const struct dpmf_release_options *options,
                               const struct dpmf_run *run, struct dpmf_release_report *report,
                               struct dpmf_error *error);

/* @return the i-th mechanism's name, with a line about it, or NULL past the last */
DPMF_API const char *dpmf_mechanism_name(size_t i, const char **description);

/* @return whether what the mechanism of this name promises is conditional on the convergence of a sampler */
DPMF_API bool dpmf_mechanism_is_conditional(const char *name);

/* ------------------------------------------------------------------------------------------------
 * The machine, and how fast it trains
 * ---------------------------------------------------------------------------------------------- */

/* How many sets of inner loops a build may have. */
enum { DPMF_KERNEL_SETS_MAX = 8 };

/* What the library found on this machine. */
struct dpmf_machine {
    size_t n_kernels; /* sets of inner loops that this build has, the best first */
    struct {
        const char *name, *description;
        bool is_supported; /* by this machine */
        bool is_chosen;    /* unless others are asked for */
    } kernels[DPMF_KERNEL_SETS_MAX];
    uint64_t l1, l2, l3;     /* bytes of cache that training is sized for */
    const char *caches_from; /* "system", "environment" or "guess" */
    int cores;               /* that this process may use */
    uint64_t memory;         /* bytes; 0 when unknown */
    uint64_t memory_default; /* bytes that a run keeps within unless its options say otherwise */
    uint64_t page_size;
    char large_pages[16]; /* the system's setting: "always", "madvise", "never"; "" when unknown */
    bool has_large_pages; /* a trial got one */
    uint64_t spare[4];
};

/* Finds it out. @return DPMF_ERR_USAGE_VALUE as dpmf_machine_check */
DPMF_API int dpmf_machine_describe(struct dpmf_machine *machine, struct dpmf_error *error);

/* The environment may say what this machine is: DPMF_CACHES=32K,512K,32M, DPMF_CORES=64, DPMF_RAM=8GiB, in place of
 * what the system reports. Training checks DPMF_CACHES by itself; a program that starts calls this for all of them.
 * @return 0, or DPMF_ERR_USAGE_VALUE when a value is not understood */
DPMF_API int dpmf_machine_check(struct dpmf_error *error);

/* @return the ratings that these kernels (NULL: the best this machine has) take at once by default, with k factors;
 *         0 when there are no such kernels here */
DPMF_API uint32_t dpmf_machine_lanes(const char *kernels, uint32_t factors, bool deterministic);

/* What is measured. */
struct dpmf_bench_options {
    size_t size;         /* of this struct, set by _default() */
    uint32_t factors;    /* k, 1 to 4096 */
    const char *kernels; /* NULL: the best this machine has */
    uint32_t lanes;      /* as of dpmf_train_options */
    double seconds;      /* epochs are run for so long, and at least three */
    const char
        *solver; /* NULL or "sgd"; "ials"; else "sgld", "sghmc" or "sgnht", in turn with sgd */
};

/* SGD with the number of factors that training has by default. */
DPMF_API void dpmf_bench_options_init(struct dpmf_bench_options *options, size_t size);
DPMF_DEFAULT(dpmf_bench_options)

/* What was measured. */
struct dpmf_bench_result {
    uint32_t factors;
    int threads;
    char kernels[16];
    uint32_t lanes; /* ratings a kernel took at once */
    uint32_t epochs;
    double tiling_seconds;
    double epoch_seconds; /* the median, as all below */
    double updates_per_second;
    double flops_per_second; /* 6k an update; of "ials", those of events and of rows */
    double
        bytes_per_second; /* 4k * 1.25 an update: a vector and a share of another; of "ials", 4 for each two operations */
    double
        roofline_bytes_per_second; /* that these threads can rewrite, of "ials" read, measured in the same call */
    double fraction_of_roofline;
    uint64_t model_bytes;
    bool tiles_on_disk;
    char solver[8];
    double
        of_sgd; /* the speed in terms of that of sgd, whose epochs took turns with these; 1 of sgd, NaN of "ials" */
    uint64_t spare[4];
};

/* Measures the speed of training on `store` with run->threads threads. Writes nothing. */
DPMF_API int dpmf_bench_run(struct dpmf_store *store, const struct dpmf_bench_options *options,
                            const struct dpmf_run *run, struct dpmf_bench_result *result,
                            struct dpmf_error *error);

/* ------------------------------------------------------------------------------------------------
 * A model and a store (dpmf_client.h has what needs a model alone)
 * ---------------------------------------------------------------------------------------------- */

/* What a store says about one user, in the model's item numbers. */
struct dpmf_history {
    struct dpmf_own_rating *ratings;
    size_t n;
    uint64_t unknown_items; /* ratings of items that the model does not know: left out */
    bool found;             /* the store knows the user */
    uint64_t spare[4];
};

/* Looks a user up by the bytes of their id; what is found is freed by dpmf_history_free. */
DPMF_API int dpmf_model_history(const struct dpmf_model *model, struct dpmf_store *store,
                                const char *user, size_t length, const struct dpmf_run *run,
                                struct dpmf_history *history, struct dpmf_error *error);
DPMF_API void dpmf_history_free(struct dpmf_history *history);

/* The same of every user, in the store's order and one at a time; the id and the ratings are gone when `take`
 * returns. A value of `take` other than 0 ends it with DPMF_ERR_BASE_CANCELLED. */
DPMF_API int dpmf_model_histories(const struct dpmf_model *model, struct dpmf_store *store,
                                  const struct dpmf_run *run,
                                  int (*take)(void *self, const char *user, size_t length,
                                              const struct dpmf_history *history),
                                  void *self, struct dpmf_error *error);

/* The users of a store that the model does not know, folded in when they are first asked for. Both must
 * outlive it. A user of the model, of neither, or with no rating of an item that the model knows: *user is
 * NULL. What is found lives as long as the newcomers. */
struct dpmf_newcomers;

/* Opens them, finds one by the bytes of their id, and closes them. */
DPMF_API int dpmf_newcomers_open(const struct dpmf_model *model, struct dpmf_store *store,
                                 const struct dpmf_run *run, struct dpmf_newcomers **newcomers,
                                 struct dpmf_error *error);
DPMF_API void dpmf_newcomers_close(struct dpmf_newcomers *newcomers);
DPMF_API int dpmf_newcomers_find(struct dpmf_newcomers *newcomers, const char *id, size_t length,
                                 const struct dpmf_user **user, struct dpmf_error *error);

/* The n best items for each user of the model, by all threads; `take` is called by one thread at a time, for
 * the users of `history` (may be NULL) in its order, then for the others in the model's. What a user has
 * rated in `history` is left out. A value of `take` other than 0 ends it with DPMF_ERR_BASE_CANCELLED. */
DPMF_API int dpmf_model_recommend_all(const struct dpmf_model *model, struct dpmf_store *history,
                                      const uint8_t *exclude, const uint8_t *include, size_t n,
                                      const struct dpmf_run *run,
                                      int (*take)(void *self, uint64_t user,
                                                  const struct dpmf_scored_item *items, size_t n),
                                      void *self, struct dpmf_error *error);

/* What to measure beside the errors of predictions. */
struct dpmf_evaluate_options {
    size_t size;      /* of this struct, set by _default() */
    uint32_t ranking; /* 0: no ranking metrics. Else their n: the length of the lists */
    bool has_like;    /* only test ratings of at least `like` are wanted; else all are */
    double like;
};

/* Errors alone. */
DPMF_API void dpmf_evaluate_options_init(struct dpmf_evaluate_options *options, size_t size);
DPMF_DEFAULT(dpmf_evaluate_options)

/* How many parts of equal size the items are cut into by popularity, the most popular first. */
enum { DPMF_POPULARITY_PARTS = 5 };

/* How well the n best items of each user agree with the user's test items (or likes): for all items, or for a part
 * of them. Averages are over users that the model knows and that have test items (in that part). Items of the history
 * are neither recommended nor wanted; items that the model does not know are wanted but cannot be found. */
struct dpmf_ranking_part {
    uint64_t items;       /* in the model */
    uint64_t users;       /* averaged over */
    uint64_t wanted;      /* test items of these users */
    double recall;        /* share of a user's test items that is in the list */
    double recall_capped; /* items found as a share of min(n, test items) */
    double precision;     /* items found as a share of n */
    double ndcg;       /* an item found at place r counts 1 / log2(r + 1); the best order has 1 */
    double map;        /* precision at each item found, averaged over min(n, test items) */
    double mrr;        /* 1 / place of the first item found, or 0 */
    double coverage;   /* share of the items that is in the list of any user */
    double list_share; /* share of all places in lists that these items have */
    uint64_t spare[4];
};

/* How well a model predicts a test set. */
struct dpmf_evaluation {
    uint64_t n;
    double rmse, mae; /* NaN of a model that ranks, whose scores are no ratings */
    uint64_t unknown_users, unknown_items; /* ratings of them: predicted from averages */
    uint64_t ranked_users;
    double recall, ndcg, map; /* of all items, as in `ranking` */

    struct dpmf_ranking_part ranking; /* of all items */
    bool has_popularity;              /* there is a history: popularity is its number of ratings */
    double popularity_bias; /* average popularity of the lists' items over that of the test items */
    struct dpmf_ranking_part by_popularity[DPMF_POPULARITY_PARTS];
    uint64_t spare[4];
};

/* `history` (may be NULL) holds what each user has rated already: left out of the ranking. Of a release, which
 * has no users, those of the history are first fitted to their ratings in it; others are unknown.
 *
 *     struct dpmf_model *model = NULL;
 *     struct dpmf_store *store = NULL;
 *     struct dpmf_evaluate_options options = dpmf_evaluate_options_default();
 *     struct dpmf_evaluation found;
 *     if (dpmf_model_open("model.safetensors", &model, &error) == 0 &&
 *         dpmf_store_open("ratings.csv", NULL, NULL, &store, &error) == 0 &&
 *         dpmf_model_evaluate(model, store, NULL, &options, NULL, &found, &error) == 0)
 *         printf("RMSE %.3f of %" PRIu64 " ratings\n", found.rmse, found.n);
 *     dpmf_store_close(store);
 *     dpmf_model_close(model);
 */
DPMF_API int dpmf_model_evaluate(const struct dpmf_model *model, struct dpmf_store *test,
                                 struct dpmf_store *history,
                                 const struct dpmf_evaluate_options *options,
                                 const struct dpmf_run *run, struct dpmf_evaluation *evaluation,
                                 struct dpmf_error *error);

/* Rows of a user, an item that the user is known to want, and others that are taken to be unwanted: the protocol that
 * leaves one item out and ranks it among a sample. */
struct dpmf_candidates;
struct dpmf_table_record; /* below */

/* Makes an empty list of candidates. */
DPMF_API int dpmf_candidates_new(struct dpmf_candidates **candidates, struct dpmf_error *error);
DPMF_API void dpmf_candidates_free(struct dpmf_candidates *candidates); /* NULL is fine */

/* Adds a row: the user's id, the wanted item's, and those of at least one other. */
DPMF_API int dpmf_candidates_add(struct dpmf_candidates *candidates,
                                 const struct dpmf_table_record *row, struct dpmf_error *error);

/* How often the wanted item is among the n best of its row. Others with the same score come before it, so that a model
 * that gives everything the same score finds nothing. An item that is given twice counts once; one that the model does not know
 * comes after all others, and is never found. */
struct dpmf_candidates_evaluation {
    uint64_t rows;
    uint64_t unknown_users; /* rows of users that the model does not know: ranked by item biases */
    uint64_t unknown_items; /* rows whose wanted item the model does not know: not found */
    double hr;              /* share of the rows whose wanted item is among the n best */
    double ndcg;            /* average of 1 / log2(place + 1), 0 beyond place n */
    double mrr;             /* average of 1 / place, 0 beyond place n */
    uint64_t spare[4];
};

/* Ranks each row's wanted item. Of a release the users of `history` are fitted first, as in dpmf_model_evaluate; of other
 * models it may be NULL, and is not looked at. The results do not depend on the threads. */
DPMF_API int
dpmf_model_rank_candidates(const struct dpmf_model *model, const struct dpmf_candidates *candidates,
                           struct dpmf_store *history, uint32_t n, const struct dpmf_run *run,
                           struct dpmf_candidates_evaluation *evaluation, struct dpmf_error *error);

/* ------------------------------------------------------------------------------------------------
 * Privacy: what releases cost, exactly, and what to expect of one
 *
 * A release is a sum over users to which no user adds more than 1, with Gaussian noise of standard deviation
 * 1/mu on every number. Adding or removing one user is then (epsilon, delta)-private with delta = Phi(mu/2 -
 * epsilon/mu) - exp(epsilon) Phi(-mu/2 - epsilon/mu). Every figure is rounded against the release; NaN for
 * numbers that make no sense, such as negative ones. A group of g ids has g times the mu.
 * ---------------------------------------------------------------------------------------------- */

/* From one to the other, and together.
 *
 *     double mu[2] = {dpmf_privacy_mu(1, 1e-6), dpmf_privacy_mu(0.5, 1e-6)};
 *     double both = dpmf_privacy_compose(mu, 2);
 *     printf("epsilon %.3f for two releases\n", dpmf_privacy_epsilon(both, 1e-6));
 */
DPMF_API double dpmf_privacy_mu(double epsilon, double delta);    /* the largest that is allowed */
DPMF_API double dpmf_privacy_epsilon(double mu, double delta);    /* the smallest that holds */
DPMF_API double dpmf_privacy_delta(double mu, double epsilon);    /* the smallest that holds */
DPMF_API double dpmf_privacy_compose(const double *mu, size_t n); /* of all together */

/* The nearest decimal number on one side of `value`: with `up` the least that is not below it, else the greatest that is not
 * above it; of so many decimals, or of so many digits in all. What is printed of a budget is rounded by these and stays on
 * the side that is against us. `value` itself where it is not above 0, not finite, or has more digits than a double. */
DPMF_API double dpmf_round_decimals(double value, int decimals, bool up);
DPMF_API double dpmf_round_digits(double value, int digits, bool up);

/* Epsilon by way of Renyi divergence (zCDP): a cross-check, never below the exact one. */
DPMF_API double dpmf_privacy_epsilon_renyi(double mu, double delta);

/* What to expect of a release, from sizes that are public or assumed: no data is touched. */
struct dpmf_plan_options {
    size_t size; /* of this struct, set by _default() */
    uint64_t users, items;
    double ratings_per_user; /* in the mean */
    double range_min, range_max;
    double epsilon, delta;
    bool has_features; /* public item features will be given */
};

/* Epsilon 1 and the usual delta; the sizes are yours to fill in. */
DPMF_API void dpmf_plan_options_init(struct dpmf_plan_options *options, size_t size);
DPMF_DEFAULT(dpmf_plan_options)

/* What to expect. */
struct dpmf_plan {
    double mu;           /* exact, as are the noise multipliers: sigma over the norm bound */
    double counts_noise; /* of the first release, counts and biases */
    double first_noise, last_noise; /* of the first and the last round; NaN when there is none */
    uint32_t factors, rounds;       /* as the mechanism will likely choose them; 0: biases alone */
    uint64_t published_numbers;     /* over all releases */

    /* Test errors in units of the ratings: a forecast from assumed variances, see lib/mechanisms/plan.c. */
    double rmse_biases, rmse_residual;
    uint64_t spare[4];
};

/* @return 0, DPMF_ERR_USAGE_VALUE for sizes or epsilons beyond sense, DPMF_ERR_BASE_NO_MEMORY */
DPMF_API int dpmf_privacy_plan(const struct dpmf_plan_options *options, struct dpmf_plan *plan,
                               struct dpmf_error *error);

/* ------------------------------------------------------------------------------------------------
 * The privacy statement of a release
 * ---------------------------------------------------------------------------------------------- */

/* Of a release whose digest fits and whose arithmetic holds. */
struct dpmf_statement {
    char *json;     /* docs/formats/release.md lists its fields */
    char *recorded; /* as it stands in the file: the same, unless an older version wrote it */
    char *text;     /* for people, some pages of plain sentences */
    char *registry; /* an entry for the public registry of deployments: docs/privacy/registry.md;
                       NULL when it is NOT PRIVATE */
    double epsilon, delta;
    const char *mechanism;
    enum dpmf_claim claim;
    unsigned assumptions; /* bits of dpmf_assumption */
    bool is_insecure;     /* its noise came from a seed: NOT PRIVATE */
    bool is_research;     /* private figures were shown: NOT PRIVATE, not to be published */
    uint64_t spare[4];
};

/* @return 0, a code about reading, or DPMF_ERR_PRIVACY_NOT_VERIFIED when what it says does not hold
 *
 *     struct dpmf_statement statement = {0};
 *     if (dpmf_release_statement("release.safetensors", &statement, &error) == 0)
 *         printf("%s", statement.text);
 *     dpmf_statement_free(&statement);
 */
DPMF_API int dpmf_release_statement(const char *path, struct dpmf_statement *statement,
                                    struct dpmf_error *error);

/* The same of a release in memory, so that what is checked is what is then used; `name` is what errors call it. */
DPMF_API int dpmf_release_statement_memory(const void *bytes, size_t n, const char *name,
                                           struct dpmf_statement *statement,
                                           struct dpmf_error *error);
DPMF_API void dpmf_statement_free(struct dpmf_statement *statement);

/* How many checks there may be, and the size of the text of each. */
enum { DPMF_CHECKS_MAX = 16, DPMF_CHECK_TEXT_MAX = 160 };

/* What was found to hold, in the order it was checked. */
struct dpmf_verification {
    size_t n;
    char check[DPMF_CHECKS_MAX][DPMF_CHECK_TEXT_MAX];
    enum dpmf_claim claim; /* not private, unless everything was found to hold */
    unsigned assumptions;  /* bits of dpmf_assumption */
    uint64_t spare[4];
};

/* Recomputes from the file alone everything that follows from it. It detects damage, what does not belong
 * in a release, and arithmetic that does not fit; it proves neither who made the file nor that noise was
 * added. `accepted` are the bits of dpmf_assumption that the caller takes upon itself; 0: what is proven and nothing
 * else. @return 0; DPMF_ERR_PRIVACY_NOT_VERIFIED when something does not fit, also damage, with what held up
 * to there, or when the promise rests on what is not accepted; or a code about reading, when the file is no release at all */
DPMF_API int dpmf_release_verify(const char *path, unsigned accepted,
                                 struct dpmf_verification *verification, struct dpmf_error *error);

/* ------------------------------------------------------------------------------------------------
 * A model for other tools: its vectors as files and tables
 * ---------------------------------------------------------------------------------------------- */

/* What a model can be written as, for other tools. */
enum dpmf_export_form {
    DPMF_EXPORT_NPY,      /* a directory of NumPy's files */
    DPMF_EXPORT_CSV,      /* a directory of tables as text, exact to the bit */
    DPMF_EXPORT_LIBMF,    /* a file that LIBMF reads, and the ids beside it */
    DPMF_EXPORT_SQLITE,   /* a database in a file */
    DPMF_EXPORT_PGVECTOR, /* tables on a PostgreSQL server: postgres://HOST/DATABASE?table=NAME */
};

/* How it is written, and that it may be. */
struct dpmf_export_options {
    size_t size; /* of this struct, set by _default() */
    enum dpmf_export_form form;
    bool
        not_private; /* must be true for whatever is not proven to be private, and for nothing else */
    bool users;      /* of a checkpoint, the users' vectors too */
    bool replace;    /* what is there, if an export made it or it is empty; not of directories */
    const char *const *titles; /* NULL, or one for each item of the model; NULL among them: none */
};

/* NumPy's files, items alone, and only what is proven to be private. */
DPMF_API void dpmf_export_options_init(struct dpmf_export_options *options, size_t size);
DPMF_DEFAULT(dpmf_export_options)

/* What was written. */
struct dpmf_export_report {
    uint64_t items, users;  /* that were written */
    uint64_t bytes_written; /* to files; 0 on a server */
    bool is_private;        /* else the files are for their owner alone */
    char vector_type[24];   /* on a server: "vector(16)" of the extension pgvector, or "real[]" */
    uint64_t spare[4];
};

/* Writes an open model to `output`: a directory that is empty or not there yet, a file, or a server's address. Whole or not at
 * all. `statement` is what dpmf_release_statement says of the same release; NULL for what is none, or does not hold. A
 * checkpoint, a release without a statement that holds, and one that is stamped NOT PRIVATE are
 * DPMF_ERR_PRIVACY_REFUSED unless `not_private` is true. docs/formats/exports.md says what is written. */
DPMF_API int dpmf_model_export(const struct dpmf_model *model,
                               const struct dpmf_statement *statement, const char *output,
                               const struct dpmf_export_options *options,
                               const struct dpmf_run *run, struct dpmf_export_report *report,
                               struct dpmf_error *error);

/* ------------------------------------------------------------------------------------------------
 * The audit: an attempt to catch a private mechanism telling more than it claims
 * ---------------------------------------------------------------------------------------------- */

/* What is attacked, and for how long. */
struct dpmf_audit_options {
    size_t size;       /* of this struct, set by _default() */
    uint64_t runs;     /* with the first canary, and as many without, about */
    uint64_t users;    /* of the store that take part, at most */
    double confidence; /* of the bounds: 0.5 .. 0.9999 */
    double minutes;    /* the audit ends after so long, with the runs there were; 0: no limit */
};

/* Runs enough for a bound that means something. */
DPMF_API void dpmf_audit_options_init(struct dpmf_audit_options *options, size_t size);
DPMF_DEFAULT(dpmf_audit_options)

/* What a mechanism can be accused of: bits. */
enum dpmf_audit_finding {
    DPMF_AUDIT_LOSS = 1,  /* canaries are noticed better than the promise allows */
    DPMF_AUDIT_NORM = 2,  /* someone contributes more than the norm bound, or than they asked for */
    DPMF_AUDIT_NOISE = 4, /* a round has other noise than is listed */
    DPMF_AUDIT_DRAWS = 8, /* what was drawn or published is not what is listed */
    DPMF_AUDIT_STATEMENT = 16, /* the statement does not add up, or claims too much */
    DPMF_AUDIT_CATALOGUE = 32, /* the list of items follows from the ratings */
    DPMF_AUDIT_WORLDS = 64,    /* with one user more, more changes than that user's contribution */
    DPMF_AUDIT_LAST = DPMF_AUDIT_WORLDS,
};

/* How many findings there may be, and the size of the sentence of each. */
enum { DPMF_AUDIT_FINDINGS_MAX = 7, DPMF_AUDIT_TEXT_MAX = 200 };

/* What the audit found. */
struct dpmf_audit_report {
    unsigned findings; /* of enum dpmf_audit_finding; 0: nothing was found */
    size_t n;
    char finding[DPMF_AUDIT_FINDINGS_MAX][DPMF_AUDIT_TEXT_MAX]; /* a sentence each */

    const char *mechanism;
    double mu, epsilon, delta; /* claimed */
    uint64_t users, users_of_store, items;

    /* Whole worlds, compared exactly. */
    uint64_t worlds;        /* pairs, with a canary and without */
    uint64_t world_rounds;  /* of all pairs */
    uint64_t world_numbers; /* sums that were compared */
    double
        world_norm; /* the largest contribution of a canary without a wish, in units of the bound */

    /* Runs with fresh noise. */
    uint64_t runs_in, runs_out; /* with the first canary, and without */
    uint64_t guessed_right;     /* about it */
    uint64_t canaries;          /* in each run */
    uint64_t guesses;           /* about all of them */
    uint64_t guesses_right;
    double mu_low;      /* no smaller mu describes the mechanism, with the confidence asked for */
    double epsilon_low; /* nor does a smaller epsilon at this delta: both hold together */
    double confidence;
    double
        mu_canary; /* what the first canary could show at most, by the norm of its contribution */

    uint64_t contributions; /* whose norm was checked */
    uint64_t draws;         /* of noise, over all runs */
    uint64_t noisy_rounds;  /* over all runs */
    double noise_numbers;   /* how many were measured */
    double noise;           /* their deviation in units of what is listed */
    double seconds;
    uint64_t spare[4];
};

/* Runs all that dpmf_release_make does again and again on users of the store, with and without canaries: first whole worlds, which are
 * compared exactly, then many runs with fresh noise. `release` is the promise that is attacked, as for dpmf_release_make.
 * Nothing is published, kept or spent.
 * @return 0 when it could not be accused; DPMF_ERR_PRIVACY_ACCUSED with the findings; or another code */
DPMF_API int dpmf_audit(struct dpmf_store *store, const struct dpmf_release_options *release,
                        const struct dpmf_audit_options *options, const struct dpmf_run *run,
                        struct dpmf_audit_report *report, struct dpmf_error *error);

#ifdef __cplusplus
}
#endif

#endif
