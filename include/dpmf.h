/*
 * dpmf: a private recommender engine.
 *
 * The public interface of libdpmf. With dpmf_client.h, which it includes, and dpmf_text.h, these
 * are the only headers that programs/, python/ and web/ may include. It follows the data: the run
 * (threads, memory, progress), reading ratings, the store and work on it, training, private
 * releases, models.
 *
 * Errors, NULL and threads are as dpmf_client.h describes them. The object comes first among the
 * arguments; outputs come last, before `error`. A function that takes a `run` can also return
 * DPMF_ERR_BASE_CANCELLED, when a callback ended the run, and DPMF_ERR_BASE_THREAD, when a thread
 * could not be started; its list of errors leaves these two out as well.
 *
 * A callback receives the `self` pointer that was given with it, and nothing else from the caller.
 *
 * The examples in these comments assume a function with `struct dpmf_error error = {0};`. The tests
 * compile and run all of them.
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
 * A program built with one version of the library runs with every later one of the same SONAME:
 *
 * - An options struct begins with its `size`, which `_default()` sets. Where the struct is smaller
 *   than the library's, the missing fields have their defaults. Where it is larger, the fields that
 *   this library does not know must be 0; otherwise the call fails with DPMF_ERR_USAGE_STRUCT. So
 *   does a call with a size of 0, which means that `_default()` was not used. New fields are added
 *   at the end, and their default is what the library did before it had them.
 * - A struct inside an options struct, and a struct that the library fills in, keep their size.
 *   They end with `spare` words, which later fields will use. Spare words are 0; options in which
 *   they are not 0 fail with DPMF_ERR_USAGE_STRUCT.
 * - A struct that only the library creates, such as those passed to callbacks, may grow at its end.
 * - struct dpmf_error and the elements of arrays, such as struct dpmf_scored_item, never change.
 * ---------------------------------------------------------------------------------------------- */

/* Defines NAME_default(), which returns the options struct NAME as this header declares it, filled
 * in by NAME_init(), which is in the library and knows the defaults. */
#define DPMF_DEFAULT(name)                                                                         \
    static inline struct name name##_default(void) {                                               \
        struct name made;                                                                          \
        name##_init(&made, sizeof made);                                                           \
        return made;                                                                               \
    }

/* ------------------------------------------------------------------------------------------------
 * A run: how much of the machine it may use, and how it reports
 * ---------------------------------------------------------------------------------------------- */

/* The progress of a run. */
struct dpmf_progress {
    const char *phase; /* "reading", "sorting", "writing", ... */
    const char *unit;  /* what is counted: "ratings", "bytes", "blocks", ... */
    uint64_t done;     /* units done */
    uint64_t total;    /* units in all; 0 when unknown */
    uint64_t ratings;  /* ratings handled so far in this phase; 0 when not counted */
};

/* The processes of a job that work together: see dpmf_cluster_open. */
struct dpmf_cluster;

/* Settings of every function that can take long. NULL means dpmf_run_default(). */
struct dpmf_run {
    size_t size;     /* size of this struct, set by _default() */
    int threads;     /* number of threads; 0: every core this process may use */
    uint64_t memory; /* bytes; 0: half of the machine's memory, at most 2 GiB */

    /* Called from time to time, by one thread at a time. A value other than 0 ends the run with
     * DPMF_ERR_BASE_CANCELLED and no output. May be NULL. */
    int (*progress)(void *self, const struct dpmf_progress *progress);
    void *progress_self; /* passed to `progress` */

    /* Called with a warning: a text for dpmf_error_text. May be NULL. */
    void (*warn)(void *self, const char *message);
    void *warn_self; /* passed to `warn` */

    const struct dpmf_cluster *cluster; /* processes that work together; NULL: this one alone */

    bool replace; /* outputs may take the place of releases and of files of other kinds */
};

/* The default run: all cores, the default memory, no callbacks. dpmf_run_default() returns one.
 *
 * @param run   receives the defaults
 * @param size  the size of `*run`
 */
DPMF_API void dpmf_run_init(struct dpmf_run *run, size_t size);
DPMF_DEFAULT(dpmf_run)

/* Checks that a file can be written, before hours of work that end with writing it. Leaves nothing
 * behind.
 *
 * @param path   the file
 * @param error  receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_IO_*  the directory does not exist or may not be written to, or something other
 *                       than a file is there
 * @error DPMF_ERR_USAGE_CONFLICT  the path is that of a ledger or of its lock
 */
DPMF_API int dpmf_output_check(const char *path, struct dpmf_error *error);

/* The kind of a file, as its first bytes show it. The values are bits, for
 * dpmf_output_check_kind. */
enum dpmf_file_kind {
    DPMF_FILE_NONE = 0,       /* no file, or an empty one */
    DPMF_FILE_STORE = 1,      /* a ratings store */
    DPMF_FILE_CHECKPOINT = 2, /* a checkpoint or a snapshot */
    DPMF_FILE_RELEASE = 4,    /* a release */
    DPMF_FILE_TRUTH = 8,      /* the model that synthetic ratings were made from */
    DPMF_FILE_PLOT = 16,      /* a plot */
    DPMF_FILE_LEDGER = 32,    /* a ledger, its lock, or the path where its lock would be */
    DPMF_FILE_OTHER = 64,     /* anything else, or a file that cannot be read */
};

/* Finds out what kind of file this is.
 *
 * @param path  the file
 * @return its kind
 */
DPMF_API enum dpmf_file_kind dpmf_file_kind(const char *path);

/* Checks that a file can be written, as dpmf_output_check does, and that it may be replaced: its
 * kind is one of `kinds`, or `run->replace` is set. A ledger and its lock are never replaced. Every
 * function of the library that writes a file begins with this check; a program can call it earlier,
 * before other work.
 *
 * @param path   the file
 * @param kinds  the kinds that may be replaced, bits of enum dpmf_file_kind
 * @param run    whether other files may be replaced; may be NULL
 * @param error  receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_IO_*            it cannot be written, or may not be replaced
 * @error DPMF_ERR_USAGE_CONFLICT  the path is that of a ledger or of its lock
 */
DPMF_API int dpmf_output_check_kind(const char *path, unsigned kinds, const struct dpmf_run *run,
                                    struct dpmf_error *error);

/* What this library was built from. The statement of every release names it. */
struct dpmf_build {
    const char *commit;   /* commit of the sources, with "+changed" if they differ; or "unknown" */
    const char *compiler; /* compiler and version, such as "GNU 12.2.0" */
    const char *sources;  /* SHA-256 over the sources: see packaging/build_identity.cmake */
};

/* Identifies the build of the running library.
 *
 * @return the build; its strings are never freed
 */
DPMF_API struct dpmf_build dpmf_build_identity(void);

/* ------------------------------------------------------------------------------------------------
 * Several processes, on one machine or many: the ranks of a job that mpirun started
 * ---------------------------------------------------------------------------------------------- */

/* Finds out from the environment whether mpirun or a similar program started this process.
 *
 * @return this process's rank; -1 when it was started on its own
 */
DPMF_API int dpmf_cluster_launched(void);

/* Finds out from the environment whether this process is the only one of its job.
 *
 * @return whether no other process was started with it
 */
DPMF_API bool dpmf_cluster_is_alone(void);

/* Joins the ranks of the job. Every rank calls it once. It loads the plugin libdpmf-mpi.so, which
 * `make mpi` builds, from beside the program or the library, from the library path, or from
 * $DPMF_MPI_PLUGIN.
 *
 * @param cluster  receives the cluster, to be closed with dpmf_cluster_close; NULL when this
 *                 process was started on its own, and after a failure
 * @param error    receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_CLUSTER_START  the plugin is missing, or the ranks cannot find each other
 * @error DPMF_ERR_CLUSTER_LOST   a rank was lost
 * @error DPMF_ERR_USAGE_VALUE    a setting in the environment is not understood
 * @error DPMF_ERR_USAGE_CONFLICT the ranks run different builds of the library
 * @error DPMF_ERR_IO_*           ranks cannot send to each other
 */
DPMF_API int dpmf_cluster_open(struct dpmf_cluster **cluster, struct dpmf_error *error);

/* This process's rank.
 *
 * @param cluster  the cluster; may be NULL
 * @return the rank, from 0; 0 for NULL
 */
DPMF_API int dpmf_cluster_rank(const struct dpmf_cluster *cluster);

/* The number of ranks.
 *
 * @param cluster  the cluster; may be NULL
 * @return how many; 1 for NULL
 */
DPMF_API int dpmf_cluster_size(const struct dpmf_cluster *cluster);

/* The machine that a rank runs on.
 *
 * @param cluster  the cluster; may be NULL
 * @param rank     the rank
 * @return the name of the host, which lives as long as the cluster; "this machine" for NULL
 */
DPMF_API const char *dpmf_cluster_host(const struct dpmf_cluster *cluster, int rank);

/* The seconds without a sign of life after which a rank counts as lost, unless
 * dpmf_cluster_set_timeout sets another time. */
enum { DPMF_CLUSTER_TIMEOUT = 120 };

/* Sets how long to wait for a rank that gives no sign of life.
 *
 * @param cluster  the cluster; may be NULL
 * @param seconds  the time
 */
DPMF_API void dpmf_cluster_set_timeout(const struct dpmf_cluster *cluster, double seconds);

/* Lets all ranks agree whether to continue. Every rank calls it after a step that can fail in one
 * rank alone, before the ranks work together again.
 *
 * @param cluster  the cluster; may be NULL
 * @param code     this rank's result
 * @param error    this rank's error; receives the error that all agree on, which names its rank
 * @return 0 when no rank failed; otherwise the code of the lowest rank that did
 * @error DPMF_ERR_CLUSTER_LOST  a rank was lost
 */
DPMF_API int dpmf_cluster_agree(const struct dpmf_cluster *cluster, int code,
                                struct dpmf_error *error);

/* Decides which rank reports a failure to the user. Where all ranks know of it, the first reports
 * at once. Where others do not, this rank waits a while, in case a lower rank ends the job.
 *
 * @param cluster  the cluster; may be NULL
 * @return whether this rank should report
 */
DPMF_API bool dpmf_cluster_speaks(const struct dpmf_cluster *cluster);

/* Leaves the job. After a failure that the other ranks do not know of, it ends the job for all of
 * them and does not return.
 *
 * @param cluster  the cluster; may be NULL
 * @param status   the exit status that this process will end with
 */
DPMF_API void dpmf_cluster_close(struct dpmf_cluster *cluster, int status);

/* ------------------------------------------------------------------------------------------------
 * Ratings in
 * ---------------------------------------------------------------------------------------------- */

/* How to read ratings, where the input does not say. */
struct dpmf_input_options {
    size_t size;        /* size of this struct, set by _default() */
    const char *format; /* a name of dpmf_format_name(); NULL or "auto": detected */
    const char
        *columns;   /* user, item, rating or count, timestamp and _, in the order of the columns;
                            without a rating the records are events; NULL: from the header, else
                            user,item,rating[,timestamp] */
    char separator; /* separator of csv; 0: comma or semicolon, whichever the first row has more */
    bool rescale;   /* map ratings linearly from [from_min, from_max] to [to_min, to_max] */
    double from_min, from_max, to_min, to_max;
    bool has_range; /* refuse ratings outside [range_min, range_max], after rescaling */
    double range_min, range_max;
    bool skip_bad;  /* count and skip bad records, one line each, instead of failing on the first */
    bool by_record; /* for private runs: refuse inputs in which one record decides how others are
                       read, and skip bad records */

    /* Events: what people played, bought or clicked. An event is a user, an item and perhaps a
     * count, a whole number from 1 to 2^53 - 1. Inputs whose header says so, such as
     * user,item,plays, need no declaration. Counts of the same pair are added. */
    bool events;   /* the records are events */
    bool has_like; /* turn ratings of at least `like` into events; the last one of a pair decides */
    double like;   /* smallest rating that becomes an event; -INFINITY: all do */

    /* Column names, for Arrow tables, whose columns always have names. NULL: found by the usual
     * names. Cannot be combined with `columns`. */
    const char *user_column;   /* column of the users' ids */
    const char *item_column;   /* column of the items' ids */
    const char *rating_column; /* column of the ratings, or of the events' counts */
    const char *time_column;   /* column of the timestamps */
};

/* The default input options: everything from the input itself; the first bad record is an error.
 *
 * @param options  receives the defaults
 * @param size     the size of `*options`
 */
DPMF_API void dpmf_input_options_init(struct dpmf_input_options *options, size_t size);
DPMF_DEFAULT(dpmf_input_options)

/* Finds the file that an input is read from: the path itself, or the SQLite database of an address.
 * An output must not be the same file.
 *
 * @param path  the input
 * @return the file's name, to be freed with free(); NULL for a server's address, for one that
 *         cannot be parsed, and without memory
 */
DPMF_API char *dpmf_input_file(const char *path);

/* Checks whether a character can separate the columns of csv: a blank, a tab, or ASCII that is
 * neither part of a number nor a quote.
 *
 * @param character  the character
 * @return whether it can
 */
DPMF_API bool dpmf_separator_is(char character);

/* Lists the known text formats.
 *
 * @param i            a number from 0
 * @param description  receives one line about the format; may be NULL
 * @return the format's name, such as "csv"; NULL after the last
 */
DPMF_API const char *dpmf_format_name(size_t i, const char **description);

/* How the records of a store were read, as its header records it. docs/privacy/input.md explains
 * why it matters. */
struct dpmf_layout {
    const char *origin; /* what decided where the fields of a record are: "declared"; "guessed" from
                           the first record; "dependent" on other records, as in blocks of lines and
                           cuts by time; or "not recorded", in stores of 0.1.0 */
    bool drops_bad;     /* bad records were dropped and did not end the import */
    bool is_by_record;  /* private runs accept the store */
    char formats[128];  /* formats of all inputs, separated by ", " */
    uint64_t spare[3];
    bool is_shard;   /* one of several shards: which users it holds depends on other users */
    bool is_queried; /* a query, a view or functions of a database gave the records: a
                        release is partial */
};

/* What an import or a synthesis did. */
struct dpmf_import_report {
    uint64_t ratings;    /* ratings in the store */
    uint64_t users;      /* users in the store */
    uint64_t items;      /* items in the store */
    uint64_t duplicates; /* repeated (user, item) pairs: the last rating won, counts were added */
    uint64_t skipped;    /* bad records skipped */
    struct dpmf_error first_skipped; /* the first of them; code 0 when there was none */
    uint64_t bytes_read;             /* bytes of the inputs on disk */
    uint64_t bytes_written;          /* bytes of the store */
    uint64_t bytes_spilled;          /* bytes written to a temporary file, because of run.memory */
    double seconds;                  /* time taken */
    char format[32];                 /* format of the last input */
    struct dpmf_layout layout;       /* how the records were read */
    uint64_t not_liked;              /* ratings below `like`, which are not events */
    bool holds_events;               /* `ratings` are events, each a pair of a user and an item */
    bool keeps_latest; /* a table of a database was read: of the repeated ratings of a pair the one
                          with the latest time won, then the highest, not the last */
    uint64_t other_headers;      /* bad records that are headers of other tables */
    bool first_line_contradicts; /* the first line is a header that contradicts `columns` */
    char unused[160]; /* names of columns that the last input with such has and that were not used;
                         "" where the options say that records are read one by one */
};

/* Packs ratings of any known format into one store. The output appears as a whole or not at all.
 *
 *     const char *inputs[] = {"ratings.csv"};
 *     struct dpmf_import_report report;
 *     if (dpmf_import(inputs, 1, "packed.dpr", NULL, NULL, &report, &error) == 0)
 *         printf("%" PRIu64 " ratings of %" PRIu64 " users\n", report.ratings, report.users);
 *
 * @param inputs    paths, "-" for standard input, addresses of databases (docs/databases.md),
 *                  stores, or directories of shards
 * @param n_inputs  the number of inputs
 * @param output    the store to write
 * @param options   how to read the inputs
 * @param run       threads, memory and callbacks
 * @param report    receives what was done
 * @param error     receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_USAGE_VALUE      an option cannot be used
 * @error DPMF_ERR_USAGE_CONFLICT   two options contradict each other, or an input is the output
 * @error DPMF_ERR_USAGE_MEMORY     run.memory is too little
 * @error DPMF_ERR_IO_*             a file cannot be read or written, a database cannot be reached
 * @error DPMF_ERR_INPUT_*          an input is bad: the code says how, `error` where
 * @error DPMF_ERR_STORE_*          an input is a store that is damaged or of a newer version
 * @error DPMF_ERR_PRIVACY_REFUSED  with `by_record`: one record could decide how others are read
 * @error DPMF_ERR_BASE_RANDOM      the system gave no random bytes
 */
DPMF_API int dpmf_import(const char *const *inputs, size_t n_inputs, const char *output,
                         const struct dpmf_input_options *options, const struct dpmf_run *run,
                         struct dpmf_import_report *report, struct dpmf_error *error);

/* ------------------------------------------------------------------------------------------------
 * The store
 * ---------------------------------------------------------------------------------------------- */

/* Ratings, packed by user: the input of everything below. */
struct dpmf_store;

/* Opens a store. Any other input of dpmf_import is first packed into a temporary store, which
 * nobody else can read and which disappears with this process; so is a store when `options` asks
 * for other ratings than it holds. Skipped records and duplicates are reported to run->warn.
 *
 *     struct dpmf_store *store = NULL;
 *     struct dpmf_store_info info;
 *     if (dpmf_store_open("ratings.csv", NULL, NULL, &store, &error) == 0) {
 *         dpmf_store_info(store, &info);
 *         printf("%" PRIu64 " ratings from %g to %g\n", info.ratings, info.min, info.max);
 *     }
 *     dpmf_store_close(store);
 *
 * @param path     an input of dpmf_import
 * @param options  how to read it
 * @param run      threads, memory and callbacks
 * @param store    receives the store, to be closed with dpmf_store_close; NULL after a failure
 * @param error    receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_USAGE_VALUE      an option cannot be used
 * @error DPMF_ERR_USAGE_CONFLICT   two options contradict each other, or several processes would
 *                                  share standard input
 * @error DPMF_ERR_USAGE_MEMORY     run.memory is too little
 * @error DPMF_ERR_IO_*             a file cannot be read, a database cannot be reached
 * @error DPMF_ERR_INPUT_*          the input is bad: the code says how, `error` where
 * @error DPMF_ERR_STORE_*          the store is damaged, or of a newer version
 * @error DPMF_ERR_PRIVACY_REFUSED  with `by_record`: one record could decide how others are read
 * @error DPMF_ERR_BASE_RANDOM      the system gave no random bytes
 */
DPMF_API int dpmf_store_open(const char *path, const struct dpmf_input_options *options,
                             const struct dpmf_run *run, struct dpmf_store **store,
                             struct dpmf_error *error);

/* Closes a store.
 *
 * @param store  the store; may be NULL
 */
DPMF_API void dpmf_store_close(struct dpmf_store *store);

/* Ratings in a program's memory, as arrays of n values. Users and items are numbers from 0, below
 * n_users and n_items. Id i is the text from id_offsets[i] to id_offsets[i + 1] of id_bytes; where
 * id_offsets is NULL, it is the number in decimal. */
struct dpmf_arrays {
    size_t size;                    /* size of this struct: sizeof arrays */
    uint64_t n;                     /* number of ratings */
    uint64_t n_users, n_items;      /* number of users and of items */
    const int64_t *users, *items;   /* number of the user and of the item of each rating */
    const double *ratings;          /* values: ratings, or counts of events */
    const float *ratings32;         /* the same, where `ratings` is NULL, each the number that its
                                       shortest text says, as 0.7; for events both may be NULL */
    const int64_t *times;           /* seconds since 1970; NULL: there are none */
    const char *user_id_bytes;      /* texts of the users' ids, one after the other */
    const int64_t *user_id_offsets; /* n_users + 1 places in them */
    const char *item_id_bytes;      /* texts of the items' ids */
    const int64_t *item_id_offsets; /* n_items + 1 places in them */
};

/* Makes a temporary store of ratings in memory. It equals the store of the same ratings read as
 * text in the same order. The arrays are read in place and are not needed afterwards.
 *
 *     int64_t users[] = {0, 0, 1}, items[] = {0, 1, 1};
 *     double ratings[] = {5, 3, 4};
 *     struct dpmf_arrays arrays = {
 *         .size = sizeof arrays, .n = 3, .n_users = 2, .n_items = 2,
 *         .users = users, .items = items, .ratings = ratings};
 *     struct dpmf_store *store = NULL;
 *     if (dpmf_store_from_arrays(&arrays, NULL, NULL, &store, &error) == 0)
 *         dpmf_store_export_csv(store, NULL, 1, NULL, NULL, &error); // to standard output
 *     dpmf_store_close(store);
 *
 * @param arrays   the ratings
 * @param options  how to read the ratings; only `rescale`, `has_range`, `skip_bad`, `by_record`,
 *                 `events` and `has_like` are used. Events without values count once each
 * @param run      threads, memory and callbacks
 * @param store    receives the store, to be closed with dpmf_store_close; NULL after a failure
 * @param error    receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_USAGE_VALUE          an option cannot be used
 * @error DPMF_ERR_USAGE_MEMORY         run.memory is too little
 * @error DPMF_ERR_INPUT_ID             a number is out of range, or an id cannot be used
 * @error DPMF_ERR_INPUT_ID_TOO_LONG    an id is longer than 64 KiB
 * @error DPMF_ERR_INPUT_NOT_FINITE     a rating is not finite
 * @error DPMF_ERR_INPUT_OUT_OF_RANGE   a rating is out of range
 * @error DPMF_ERR_INPUT_EMPTY          there are no ratings
 * @error DPMF_ERR_INPUT_TOO_MANY       there are more users or items than can be counted
 * @error DPMF_ERR_IO_*                 a temporary file cannot be written
 * @error DPMF_ERR_BASE_RANDOM          the system gave no random bytes
 */
DPMF_API int dpmf_store_from_arrays(const struct dpmf_arrays *arrays,
                                    const struct dpmf_input_options *options,
                                    const struct dpmf_run *run, struct dpmf_store **store,
                                    struct dpmf_error *error);

/* ------------------------------------------------------------------------------------------------
 * Arrow
 * ---------------------------------------------------------------------------------------------- */

/* The structs of the Arrow C data and stream interfaces, as specified. Libraries exchange tables
 * through them, without copying and without linking to each other. If another header has defined
 * them already, its definitions are used. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

/* The type of an array. The type of a table is a struct with a child for each column. */
struct ArrowSchema {
    const char *format;             /* type, as the specification spells it */
    const char *name;               /* name of the column; may be NULL */
    const char *metadata;           /* pairs of keys and values; may be NULL */
    int64_t flags;                  /* bits: dictionary ordered, nullable, map keys sorted */
    int64_t n_children;             /* number of children */
    struct ArrowSchema **children;  /* types of the children */
    struct ArrowSchema *dictionary; /* type of the dictionary's values; NULL without one */
    void (*release)(struct ArrowSchema *schema); /* releases all of it; NULL once released */
    void *private_data;                          /* belongs to the producer */
};

/* The values of an array. */
struct ArrowArray {
    int64_t length;                /* number of values */
    int64_t null_count;            /* number of nulls; -1: not counted */
    int64_t offset;                /* number of values that come before the first in the buffers */
    int64_t n_buffers;             /* number of buffers */
    int64_t n_children;            /* number of children */
    const void **buffers;          /* buffers: validity, then those of the type */
    struct ArrowArray **children;  /* values of the children */
    struct ArrowArray *dictionary; /* values that the indices stand for; NULL without one */
    void (*release)(struct ArrowArray *array); /* releases all of it; NULL once released */
    void *private_data;                        /* belongs to the producer */
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

/* Arrays of one type, one after the other: the batches of a table. */
struct ArrowArrayStream {
    /* Gives the type of all arrays. Returns 0 or an errno. */
    int (*get_schema)(struct ArrowArrayStream *stream, struct ArrowSchema *out);
    /* Gives the next array; after the last, one whose release is NULL. Returns 0 or an errno. */
    int (*get_next)(struct ArrowArrayStream *stream, struct ArrowArray *out);
    /* Describes the last failure; may return NULL. */
    const char *(*get_last_error)(struct ArrowArrayStream *stream);
    void (*release)(struct ArrowArrayStream *stream); /* releases it; NULL once released */
    void *private_data;                               /* belongs to the producer */
};

#endif

/* Packs the ratings of an Arrow stream into a store, as dpmf_import does with files. The batches
 * are read where they are, by all threads. Columns are found by their names, or by those that
 * `options` gives. Ids are whole numbers, texts, or a dictionary of either; ratings are numbers;
 * times are timestamps of any unit, dates, or seconds since 1970. A null id or rating makes a bad
 * record; a null time means that the record has no time. docs/arrow.md lists the types, and says
 * what can be checked of a stream.
 *
 * @param stream   a stream of structs; it is released, also after a failure, and the struct itself
 *                 remains the caller's
 * @param output   the store to write
 * @param options  how to read the records; `format` and `separator` are not used
 * @param run      threads, memory and callbacks; memory that belongs to the stream is not counted
 * @param report   receives what was done
 * @param error    receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_USAGE_VALUE      an option cannot be used
 * @error DPMF_ERR_USAGE_CONFLICT   two options contradict each other
 * @error DPMF_ERR_USAGE_MEMORY     run.memory is too little
 * @error DPMF_ERR_INPUT_*          the stream is bad: the code says how, `error` where
 * @error DPMF_ERR_IO_*             a file cannot be written, or the stream failed
 * @error DPMF_ERR_BASE_RANDOM      the system gave no random bytes
 */
DPMF_API int dpmf_import_arrow(struct ArrowArrayStream *stream, const char *output,
                               const struct dpmf_input_options *options, const struct dpmf_run *run,
                               struct dpmf_import_report *report, struct dpmf_error *error);

/* Makes a temporary store of the ratings of an Arrow stream, as dpmf_store_open does for a file.
 *
 * @param stream   a stream of structs, as for dpmf_import_arrow
 * @param options  how to read the records; `format` and `separator` are not used
 * @param run      threads, memory and callbacks; memory that belongs to the stream is not counted
 * @param store    receives the store, to be closed with dpmf_store_close; NULL after a failure
 * @param error    receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_USAGE_VALUE      an option cannot be used
 * @error DPMF_ERR_USAGE_CONFLICT   two options contradict each other
 * @error DPMF_ERR_USAGE_MEMORY     run.memory is too little
 * @error DPMF_ERR_INPUT_*          the stream is bad: the code says how, `error` where
 * @error DPMF_ERR_IO_*             a temporary file cannot be written, or the stream failed
 * @error DPMF_ERR_BASE_RANDOM      the system gave no random bytes
 */
DPMF_API int dpmf_store_from_arrow(struct ArrowArrayStream *stream,
                                   const struct dpmf_input_options *options,
                                   const struct dpmf_run *run, struct dpmf_store **store,
                                   struct dpmf_error *error);

/* ------------------------------------------------------------------------------------------------
 * What a store holds
 * ---------------------------------------------------------------------------------------------- */

/* The size and the scale of a store. */
struct dpmf_store_info {
    uint64_t users, items, ratings, blocks; /* numbers of each */
    double min, max;                        /* smallest and largest rating; 0 in an empty store */
    bool has_times;                         /* ratings have timestamps */
    bool holds_events;           /* `ratings` are events; min and max are of their counts */
    bool is_temporary;           /* packed for this use: its size on disk means nothing */
    uint64_t file_bytes;         /* size on disk */
    struct dpmf_layout layout;   /* how its records were read */
    uint64_t bad_records;        /* records dropped when packing; 0 unless is_temporary */
    uint64_t not_liked;          /* ratings below `like` dropped when packing */
    bool first_line_contradicts; /* when packing, the header contradicted `columns` */
    uint64_t other_headers;      /* bad records that were headers of other tables */
};

/* Describes a store without reading its ratings.
 *
 * @param store  the store
 * @param info   receives the description
 */
DPMF_API void dpmf_store_info(const struct dpmf_store *store, struct dpmf_store_info *info);

/* Finds an item of a store by number.
 *
 * @param store      the store
 * @param i          the number of the item, from 0
 * @param length     receives the length of its id; may be NULL
 * @param n_ratings  receives the number of its ratings; may be NULL
 * @return the bytes of the id, not terminated by NUL, which live as long as the store; NULL when
 *         there is no such item
 */
DPMF_API const char *dpmf_store_item(const struct dpmf_store *store, uint64_t i, size_t *length,
                                     uint64_t *n_ratings);

/* ------------------------------------------------------------------------------------------------
 * Describing, splitting, sharding and exporting a store
 * ---------------------------------------------------------------------------------------------- */

/* The number of percentiles, and the largest number of bars of a histogram. */
enum { DPMF_PERCENTILES = 7, DPMF_HISTOGRAM_MAX = 64 };

/* The percentiles: 0, 10, 25, 50, 75, 90 and 100. */
extern DPMF_API const double dpmf_percentile_levels[DPMF_PERCENTILES];

/* The ratings of a store, summed up. */
struct dpmf_description {
    struct dpmf_store_info info;         /* size and scale */
    double mean, standard_deviation;     /* average and deviation of the ratings */
    double density;                      /* ratings / (users * items) */
    double top_500_share;                /* share of the ratings on the 500 most rated items */
    double bytes_per_rating;             /* bytes on disk per rating */
    uint64_t distinct_values;            /* distinct ratings; 4096 stands for "or more" */
    bool has_step;                       /* every rating is min + a whole number of steps */
    double step;                         /* that step */
    uint64_t per_user[DPMF_PERCENTILES]; /* ratings per user */
    uint64_t per_item[DPMF_PERCENTILES]; /* ratings per item */
    int64_t first_time, last_time;       /* earliest and latest timestamp, if info.has_times */
    size_t n_bars;                       /* bars of the histogram: one per value, or equal bins */
    struct {
        double low, high;
        uint64_t count;
    } bar[DPMF_HISTOGRAM_MAX]; /* histogram of the ratings */
    uint64_t spare[4];
};

/* Describes the ratings of a store. Reads the whole store and checks every checksum.
 *
 * @param store        the store
 * @param plot         an SVG file for the paper's power-law figure, the number of items by number
 *                     of ratings on logarithmic axes; may be NULL
 * @param run          threads, memory and callbacks
 * @param description  receives the description
 * @param error        receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_IO_*           the store cannot be read, or the figure cannot be written
 * @error DPMF_ERR_STORE_CORRUPT  the store is damaged
 * @error DPMF_ERR_USAGE_VALUE    run.threads cannot be used
 */
DPMF_API int dpmf_store_describe(struct dpmf_store *store, const char *plot,
                                 const struct dpmf_run *run, struct dpmf_description *description,
                                 struct dpmf_error *error);

/* Which ratings become the test set. */
enum dpmf_split_by {
    DPMF_SPLIT_RANDOM, /* each rating at random, independently of the others */
    DPMF_SPLIT_USER,   /* whole users at random */
    DPMF_SPLIT_TIME,   /* the latest ratings */
    DPMF_SPLIT_PROBE,  /* the pairs of a Netflix probe file */
};

/* How a store is split. */
struct dpmf_split_options {
    size_t size;           /* size of this struct, set by _default() */
    enum dpmf_split_by by; /* which ratings become the test set */
    double test_fraction;  /* share of the test set */
    uint64_t seed;         /* seed of the random choice */
    const char *probe;     /* probe file, with DPMF_SPLIT_PROBE */
    bool by_number;        /* with DPMF_SPLIT_RANDOM: choose by the positions of users and items in
                              the store, not by their ids */
};

/* The default split: a tenth of the ratings, at random.
 *
 * @param options  receives the defaults
 * @param size     the size of `*options`
 */
DPMF_API void dpmf_split_options_init(struct dpmf_split_options *options, size_t size);
DPMF_DEFAULT(dpmf_split_options)

/* What the two parts contain. */
struct dpmf_split_report {
    uint64_t train_ratings, train_users, train_items; /* numbers in the training set */
    uint64_t test_ratings, test_users, test_items;    /* numbers in the test set */
    uint64_t probe_missing; /* pairs of the probe file that the store does not have */
    int64_t cut_time;       /* first time in the test set, with DPMF_SPLIT_TIME */
    uint64_t spare[4];
};

/* Splits a store into a training set and a test set. The random choice depends only on the seed and
 * on the bytes of the ids, not on the order of the store, the number of threads or the machine.
 * Either both outputs appear or neither.
 *
 *     struct dpmf_store *store = NULL;
 *     struct dpmf_split_options options = dpmf_split_options_default();
 *     struct dpmf_split_report report;
 *     options.by = DPMF_SPLIT_USER;
 *     if (dpmf_store_open("ratings.csv", NULL, NULL, &store, &error) == 0 &&
 *         dpmf_store_split(store, "a.dpr", "b.dpr", &options, NULL, &report, &error) == 0)
 *         printf("%" PRIu64 " users to test with\n", report.test_users);
 *     dpmf_store_close(store);
 *
 * @param store    the store
 * @param train    the store to write the training set to
 * @param test     the store to write the test set to
 * @param options  how to split
 * @param run      threads, memory and callbacks
 * @param report   receives what the parts contain
 * @param error    receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_USAGE_VALUE         an option cannot be used
 * @error DPMF_ERR_USAGE_CONFLICT      both outputs are the same file
 * @error DPMF_ERR_RATINGS_NO_TIMES    a split by time, and the ratings have no timestamps
 * @error DPMF_ERR_RATINGS_NONE_LEFT   one of the parts would be empty
 * @error DPMF_ERR_INPUT_*             the probe file is bad
 * @error DPMF_ERR_IO_*                a file cannot be read or written
 * @error DPMF_ERR_STORE_CORRUPT       the store is damaged
 * @error DPMF_ERR_BASE_RANDOM         the system gave no random bytes
 */
DPMF_API int dpmf_store_split(struct dpmf_store *store, const char *train, const char *test,
                              const struct dpmf_split_options *options, const struct dpmf_run *run,
                              struct dpmf_split_report *report, struct dpmf_error *error);

/* Checks that a test set was kept apart from the training set. A store records which splits it is a
 * half of: the two halves of one split pass; halves of different splits do not, nor does a store
 * with a part of itself. Ratings that were never split, or were split by dpmf 0.1.0, pass, because
 * nothing is known about them. Training, tuning and evaluation make this check themselves, and then
 * compare the ratings.
 *
 * @param training  the training set
 * @param test      the ratings to test or validate on
 * @param error     receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_USAGE_CONFLICT  the stores may have ratings in common
 */
DPMF_API int dpmf_store_check_apart(const struct dpmf_store *training,
                                    const struct dpmf_store *test, struct dpmf_error *error);

/* Checks that a model can be judged by ratings that were held back from its training: they were
 * kept apart from the training set, as dpmf_store_check_apart finds, are not nearly all in it, are
 * of its kind and on its scale, and have users or items in common with it. Warns where that is so
 * of a part of them. Training begins with this check; a program can make it earlier, before
 * anything is spent.
 *
 * @param training  the training set
 * @param valid     the ratings to judge by
 * @param ranks     whether the model is to rank: it is then on no scale, and ranks no users and
 *                  items but those of the training set
 * @param run       who is warned; may be NULL
 * @param error     receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_USAGE_CONFLICT      they share ratings, or one of them holds events
 * @error DPMF_ERR_INPUT_OUT_OF_RANGE  they are on another scale
 * @error DPMF_ERR_INPUT_ID            they have nobody and nothing in common
 * @error DPMF_ERR_STORE_CORRUPT       a store is damaged
 */
DPMF_API int dpmf_store_check_held_out(const struct dpmf_store *training,
                                       const struct dpmf_store *valid, bool ranks,
                                       const struct dpmf_run *run, struct dpmf_error *error);

/* How a store was cut into shards. */
struct dpmf_shard_report {
    uint64_t parts, users, ratings;        /* numbers of each */
    uint64_t fewest_ratings, most_ratings; /* ratings of the smallest and of the largest part */
    uint64_t spare[4];
};

/* Cuts a store into stores of whole users, with about the same number of ratings each, in a new
 * directory. dpmf_store_open accepts the directory in place of a store. All parts have the same
 * items, with the same numbers.
 *
 * @param store      the store
 * @param directory  the directory to create
 * @param parts      the number of parts
 * @param run        threads, memory and callbacks
 * @param report     receives how it was cut
 * @param error      receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_USAGE_VALUE     there are fewer users than parts, or `parts` cannot be used
 * @error DPMF_ERR_USAGE_CONFLICT  the directory is not empty, or the store is a part already
 * @error DPMF_ERR_IO_*            a file cannot be read or written
 * @error DPMF_ERR_STORE_*         the store is damaged
 * @error DPMF_ERR_INPUT_TOO_MANY  a part has more users or items than can be counted
 */
DPMF_API int dpmf_store_shard(struct dpmf_store *store, const char *directory, uint32_t parts,
                              const struct dpmf_run *run, struct dpmf_shard_report *report,
                              struct dpmf_error *error);

/* Writes the ratings of a store as csv: `user,item,rating[,timestamp]`, or for events
 * `user,item,count[,timestamp]`, with a header, quoted where needed. Reading
 * the numbers back gives the same bits.
 *
 * @param store          the store
 * @param path           the file to write, which must be new or `run->replace`; NULL: `fd`
 * @param fd             a file descriptor, used when `path` is NULL
 * @param run            threads, memory, callbacks, and whether a file may be replaced
 * @param bytes_written  receives the number of bytes; may be NULL
 * @param error          receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_IO_*           the store cannot be read, or the output cannot be written
 * @error DPMF_ERR_STORE_CORRUPT  the store is damaged
 * @error DPMF_ERR_USAGE_VALUE    run.threads cannot be used
 */
DPMF_API int dpmf_store_export_csv(struct dpmf_store *store, const char *path, int fd,
                                   const struct dpmf_run *run, uint64_t *bytes_written,
                                   struct dpmf_error *error);

/* ------------------------------------------------------------------------------------------------
 * Synthetic ratings
 * ---------------------------------------------------------------------------------------------- */

/* Ratings made from a planted model, r = offset + b_user + b_item + u.v + noise, mapped to a scale.
 * Who rates what follows a power law. */
struct dpmf_synth_options {
    size_t size;                             /* size of this struct, set by _default() */
    uint64_t users, items, ratings;          /* numbers of each */
    uint32_t rank;                           /* number of planted factors */
    double noise;                            /* deviation of the noise, in quarters of the scale */
    double scale_min, scale_max, scale_step; /* scale of the ratings; step 0: real numbers */
    double top_500_share;                    /* share of the ratings on the 500 most rated items; 0:
                                                what the power law gives */
    bool times;                              /* make up timestamps */
    uint64_t seed;                           /* seed of all choices */
    const char *truth;                       /* safetensors file for the planted factors; or NULL */
    const char *catalogue;                   /* new csv file for ids and made-up titles, or NULL */
    double average;                          /* average rating, as a place on the scale: 0 to 1 */
    double item_spread;  /* deviation of item biases, in quarters of the scale */
    double taste_spread; /* deviation of u.v, in the same unit */
};

/* The default synthesis: a small set with 1 to 5 stars, without times.
 *
 * @param options  receives the defaults
 * @param size     the size of `*options`
 */
DPMF_API void dpmf_synth_options_init(struct dpmf_synth_options *options, size_t size);
DPMF_DEFAULT(dpmf_synth_options)

/* Sets the shape of a known set.
 *
 * @param name     a name of dpmf_synth_shape_name
 * @param options  whose users, items, ratings, scale and top_500_share are set; not NULL here
 * @return 0 or a negative code
 * @error DPMF_ERR_USAGE_VALUE  there is no shape of that name
 */
DPMF_API int dpmf_synth_options_like(const char *name, struct dpmf_synth_options *options);

/* Lists the known shapes.
 *
 * @param i  a number from 0
 * @return the shape's name, such as "netflix"; NULL after the last
 */
DPMF_API const char *dpmf_synth_shape_name(size_t i);

/* Writes a store of synthetic ratings. The same options give the same bytes, for any number of
 * threads.
 *
 *     struct dpmf_synth_options options = dpmf_synth_options_default();
 *     struct dpmf_import_report report;
 *     options.users = 1000, options.items = 200, options.ratings = 20000;
 *     options.catalogue = "made-up.csv";
 *     if (dpmf_synth("made-up.dpr", &options, NULL, &report, &error) == 0)
 *         printf("%" PRIu64 " made-up ratings\n", report.ratings);
 *
 * @param output   the store to write
 * @param options  what to make up
 * @param run      threads, memory and callbacks
 * @param report   receives what was written
 * @param error    receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_USAGE_VALUE     an option cannot be used
 * @error DPMF_ERR_RATINGS_SHAPE   no ratings can have this shape
 * @error DPMF_ERR_INPUT_TOO_MANY  there would be more users or items than a store holds
 * @error DPMF_ERR_IO_*            an output cannot be written
 */
DPMF_API int dpmf_synth(const char *output, const struct dpmf_synth_options *options,
                        const struct dpmf_run *run, struct dpmf_import_report *report,
                        struct dpmf_error *error);

/* ------------------------------------------------------------------------------------------------
 * Training: r = offset + b_user + b_item + u.v
 * ---------------------------------------------------------------------------------------------- */

/* Options of the samplers, whose models are draws from the posterior, one round per epoch. */
struct dpmf_sampler_options {
    const char *noise; /* sgld: NULL or "exact"; "table" or "table:SIZE" for the paper's table */
    double step;       /* sgld, sghmc, sgnht: step of an epoch; 0: from the ratings */
    uint32_t burn_in;  /* epochs before samples count; UINT32_MAX: chosen from `epochs` */
    bool average;      /* predict with the average of many samples, not with the last one */
    uint32_t samples; /* largest number of samples kept for the average; 0: as many as are useful */
    uint32_t chains;  /* number of independent chains; 0: what suits the solver */
    const char *trace; /* SVG file for a plot of the chains; or NULL */
    uint64_t spare[4];
};

/* Options of the solver "ials", which learns to rank. It learns from events, pairs of a user and an
 * item, and not from the values of ratings. */
struct dpmf_ials_options {
    bool has_like;       /* only ratings of at least `like` are events; otherwise all are */
    double like;         /* smallest rating that counts as an event */
    double unobserved;   /* weight of a pair without an event; 0: chosen by the number of events */
    double exponent;     /* exponent of a row's number of events in its penalty */
    uint32_t row_steps;  /* conjugate gradient steps per row and epoch; 0: solve exactly */
    uint64_t row_block;  /* number of columns of a row solved at a time, block by block (iALS++),
                            instead of row_steps; 0: not by blocks */
    double count_weight; /* weight of an event that happened n times: 1 + count_weight ln n; 0: all
                            weigh 1. Only for events, not for ratings */
    uint64_t spare[2];
};

/* How a model is trained. */
struct dpmf_train_options {
    size_t size;           /* size of this struct, set by _default() */
    uint32_t factors;      /* length of a vector, k; 1 to 4096 */
    uint32_t epochs;       /* number of epochs */
    double learning_rate;  /* first step size, eta_0 */
    double decay;          /* gamma of eta_t = eta_0 / t^gamma; below 0: the default schedule */
    double regularization; /* lambda of the L2 penalties */
    uint64_t seed;         /* seed of everything random */
    bool deterministic;    /* bit-identical models for any number of threads */
    bool hogwild;          /* let several threads write an item's vector at once */
    const char *kernels;   /* instruction set; NULL: the best this machine has */
    uint32_t lanes;    /* ratings a kernel handles at once, 1 to 8; 0: chosen for the caches, or,
                              if `deterministic`, for k and the kernels alone */
    const char *tiers; /* popularity tiers such as "500,4000"; NULL: sized from the caches */
    uint32_t patience; /* epochs without improvement before stopping, with a validation set; 0:
                              never stop */

    /* Snapshots. With none of the three intervals set, one is written after every epoch. */
    const char *snapshot;     /* checkpoint written during the run and when interrupted; or NULL */
    uint32_t snapshot_every;  /* interval in epochs */
    uint64_t snapshot_blocks; /* interval in superblocks of users */
    double snapshot_seconds;  /* interval in seconds */
    const char *resume;       /* snapshot to continue from; or NULL */
    uint32_t prefetch;        /* superblocks read ahead, where the run is larger than memory */

    const char *solver;                  /* a name of dpmf_solver_name; NULL: "sgd" */
    struct dpmf_sampler_options sampler; /* options of sgld, sghmc, sgnht and gibbs */
    struct dpmf_ials_options ials;       /* options of ials */

    bool averages_first; /* sgd: start from biases that are averages, with penalties derived from
                            the ratings; otherwise, and with a warning where memory is too small,
                            start from 0 with `regularization` */
    bool adapted;        /* dpmf_train_adapt chose some of the above; recorded in the model */

    /* Tables of features of items and of users, for sgd on one machine: the vectors of rows with
     * few ratings are drawn to those of rows with the same features. Or NULL. */
    const char *item_features, *user_features;

    bool averages_alone; /* sgd: vectors are 0, and stay so; dpmf_train_adapt sets it where they
                            predict no better */
};

/* The default training: SGD, with settings that suit all known sets.
 *
 * @param options  receives the defaults
 * @param size     the size of `*options`
 */
DPMF_API void dpmf_train_options_init(struct dpmf_train_options *options, size_t size);
DPMF_DEFAULT(dpmf_train_options)

/* Chooses a solver, and the numbers of factors and epochs that suit it.
 *
 * @param solver   a name of dpmf_solver_name; NULL: "sgd"
 * @param options  the options to change; not NULL here
 * @return 0 or a negative code
 * @error DPMF_ERR_USAGE_VALUE  there is no solver of that name
 */
DPMF_API int dpmf_train_options_solver(const char *solver, struct dpmf_train_options *options);

/* Fills in what is left to a sampler: `burn_in`, `chains` and `samples`, as a run with enough
 * memory chooses them. What is set already is kept; options of other solvers are not changed.
 *
 * @param options  the options to complete; may be NULL
 */
DPMF_API void dpmf_train_options_complete(struct dpmf_train_options *options);

/* Lists the solvers.
 *
 * @param i            a number from 0
 * @param description  receives one line about the solver; may be NULL
 * @return the solver's name; NULL after the last
 */
DPMF_API const char *dpmf_solver_name(size_t i, const char **description);

/* Checks whether a solver draws from the posterior.
 *
 * @param solver  its name; may be NULL
 * @return whether it does; false for NULL and for an unknown name
 */
DPMF_API bool dpmf_solver_is_sampler(const char *solver);

/* What dpmf_train_adapt may choose; values may be combined. */
enum dpmf_adapt_what {
    DPMF_ADAPT_EPOCHS = 1,         /* `epochs` */
    DPMF_ADAPT_LEARNING_RATE = 2,  /* `learning_rate` */
    DPMF_ADAPT_REGULARIZATION = 4, /* `regularization` */
};

/* What dpmf_train_adapt found. */
struct dpmf_adapt_report {
    uint32_t trials;        /* settings compared; 0: the given ones were kept */
    bool is_resumed;        /* the settings are those of the snapshot to continue from */
    bool is_averages;       /* vectors predicted no better than averages, and are 0 */
    uint64_t train_ratings; /* ratings that trials learned from */
    uint64_t valid_ratings; /* ratings they were judged by */
    double valid_rmse;      /* error of the chosen settings on them; NaN without trials */
    double averages_rmse;   /* error of averages alone on them; NaN when ranking */
    double valid_ndcg;      /* NDCG of the chosen settings, when ranking; NaN otherwise */
    double seconds;         /* time that it took */
    uint64_t spare[4];
};

/* Finds settings for a set of ratings before training on all of it, by a few short trials. They use
 * a part of a large set, and are judged by a tenth of it that they do not learn from. Settings that
 * are not in `what` are kept as given; so are all of them where a set is too small to hold ratings
 * back. With `options->resume`, the settings are those of the snapshot. In a cluster the first
 * process runs the trials and sends the result to the others. The same ratings and options give the
 * same settings for any number of threads and processes.
 *
 * @param store    the training ratings
 * @param what     what to choose, of enum dpmf_adapt_what
 * @param options  where to begin; receives what was found
 * @param run      threads, memory and callbacks
 * @param report   receives how it was found; may be NULL
 * @param error    receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_USAGE_VALUE      an option cannot be used
 * @error DPMF_ERR_TRAIN_MISMATCH   the snapshot does not record its settings
 * @error DPMF_ERR_BASE_CANCELLED   a callback asked to stop
 */
DPMF_API int dpmf_train_adapt(struct dpmf_store *store, uint32_t what,
                              struct dpmf_train_options *options, const struct dpmf_run *run,
                              struct dpmf_adapt_report *report, struct dpmf_error *error);

/* The state of training after an epoch. */
struct dpmf_epoch {
    uint32_t epoch;            /* number of the epoch, from 1 */
    uint32_t chain;            /* chain of a sampler, from 0 */
    bool is_burn_in;           /* the epoch does not count yet */
    double seconds;            /* time since training began */
    double updates_per_second; /* speed of the epoch */
    double train_rmse;         /* error on the training ratings */
    double valid_rmse;         /* error on the validation set; NaN without one, and when ranking */
    double valid_recall;       /* recall of the ten best items, when ranking; otherwise NaN */
    double valid_ndcg;         /* NDCG of the ten best items, when ranking; otherwise NaN */
};

/* How training went. */
struct dpmf_train_report {
    uint32_t epochs;               /* epochs run */
    double seconds;                /* time of the epochs */
    double tiling_seconds;         /* time of the preparation */
    double updates_per_second;     /* speed */
    double train_rmse, valid_rmse; /* errors */
    bool stopped_early;            /* `patience` ended the run */
    bool tiles_on_disk;            /* the run was larger than run->memory, and was streamed */
    char kernels[16];              /* instruction set */
    uint32_t lanes;        /* ratings a kernel handled at once; 0 where that has no meaning */
    int ranks;             /* processes that took part; 0 without a cluster */
    uint64_t bytes_sent;   /* bytes all processes sent each other in the epochs */
    double seconds_waited; /* average time a process waited for others; NaN when unknown */

    /* Samplers. */
    uint32_t chains;  /* chains begun */
    uint32_t burn_in; /* epochs of each chain that do not count */
    uint32_t samples; /* samples in the model; 1 without `average` */
    double step;      /* step of an epoch while sampling; 0 where there is none */
    double stiffness; /* curvature of the stiffest row times its noise; 0 where there is none */
    double rhat, ess; /* worst R-hat and effective sample size; NaN: too few epochs */
    char worst[64];   /* the quantity with the worst R-hat */
    bool converged;   /* no diagnostic speaks against convergence */

    double valid_ndcg;       /* best NDCG when ranking; NaN without a validation set */
    double prediction_error; /* error from averaging finitely many samples; NaN: unknown */

    uint64_t new_users, new_items; /* dpmf_train_continue: those new to the model */
    uint64_t old_events;           /* and the events of its history that it went through */
};

/* Trains a model and writes a checkpoint.
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
 *
 * @param store     the training ratings
 * @param valid     a validation set; may be NULL
 * @param output    the checkpoint to write
 * @param options   how to train
 * @param run       threads, memory and callbacks
 * @param on_epoch  called after each epoch; a value other than 0 ends training and writes the model
 *                  as it is then. May be NULL
 * @param self      passed to `on_epoch`; may be NULL
 * @param report    receives how training went
 * @param error     receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_USAGE_VALUE         an option cannot be used
 * @error DPMF_ERR_USAGE_CONFLICT      two options contradict each other, or processes have
 *                                     different ones
 * @error DPMF_ERR_USAGE_MEMORY        run.memory is too little
 * @error DPMF_ERR_INPUT_EMPTY         there are no events
 * @error DPMF_ERR_INPUT_NOT_FINITE    a rating is not finite
 * @error DPMF_ERR_INPUT_TOO_MANY      there are more users or items than can be counted
 * @error DPMF_ERR_RATINGS_NONE_LEFT   there are no ratings
 * @error DPMF_ERR_TRAIN_DIVERGED      training diverged
 * @error DPMF_ERR_TRAIN_MISMATCH      the snapshot belongs to another run
 * @error DPMF_ERR_MODEL_*             the snapshot is damaged, or not a snapshot
 * @error DPMF_ERR_STORE_CORRUPT       a store is damaged
 * @error DPMF_ERR_IO_*                a file cannot be read or written
 * @error DPMF_ERR_CLUSTER_LOST        a process of the cluster was lost
 * @error DPMF_ERR_BASE_NOT_DEFINITE   equations have no stable solution
 * @error DPMF_ERR_INPUT_ID             nothing in the validation set is known
 * @error DPMF_ERR_INPUT_OUT_OF_RANGE   the validation set is on another scale
 */
DPMF_API int dpmf_train(struct dpmf_store *store, struct dpmf_store *valid, const char *output,
                        const struct dpmf_train_options *options, const struct dpmf_run *run,
                        int (*on_epoch)(void *self, const struct dpmf_epoch *epoch), void *self,
                        struct dpmf_train_report *report, struct dpmf_error *error);

/* Options of dpmf_train_continue. */
struct dpmf_continue_options {
    size_t size;             /* size of this struct, set by _default() */
    uint32_t epochs;         /* times that users and items are fitted in turn */
    uint32_t patience;       /* epochs without improvement before stopping, with a validation set;
                                 0: never stop */
    uint64_t seed;           /* seed of the first vectors of new items */
    const char *kernels;     /* instruction set; NULL: the best this machine has */
    bool deterministic;      /* refuse a snapshot that other kernels made; models are bit-identical
                                 for any number of threads in any case */
    const char *snapshot;    /* checkpoint written after epochs; or NULL */
    uint32_t snapshot_every; /* interval in epochs; 0 means 1 */
    double snapshot_seconds; /* interval in seconds; 0: by epochs */
    const char *resume;      /* snapshot to continue from; or NULL */
    struct dpmf_store *history; /* the ratings that a model that ranks was trained on, without the
                                   new ones; or NULL */
};

/* The default continuation, which suits all known sets.
 *
 * @param options  receives the defaults
 * @param size     the size of `*options`
 */
DPMF_API void dpmf_continue_options_init(struct dpmf_continue_options *options, size_t size);
DPMF_DEFAULT(dpmf_continue_options)

/* Trains a model further, on new ratings alone: new users, new items, more or changed ratings of
 * old ones. The old ratings are not needed: each vector is held in place with the weight of the
 * ratings behind it. A changed rating counts as one more: the old one is not taken back. Users and
 * items without new ratings keep their vectors, bit for bit. With `options->history` a model that
 * ranks solves for those that have some from all of theirs, and what is in both counts once.
 *
 *     struct dpmf_store *news = NULL;
 *     if (dpmf_store_open("new.csv", NULL, NULL, &news, &error) == 0 &&
 *         dpmf_train_continue("model.safetensors", news, NULL, "next.safetensors", NULL, NULL,
 *                             NULL, NULL, NULL, &error) == 0)
 *         printf("next.safetensors knows of new.csv\n");
 *     dpmf_store_close(news);
 *
 * @param model     a checkpoint of the solver sgd or ials
 * @param store     the new ratings
 * @param valid     a validation set; may be NULL
 * @param output    the checkpoint to write, which may replace `model`
 * @param options   how to continue; may be NULL
 * @param run       threads, memory and callbacks
 * @param on_epoch  called after each epoch, as dpmf_train does; may be NULL
 * @param self      passed to `on_epoch`; may be NULL
 * @param report    receives how it went; may be NULL
 * @param error     receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_USAGE_VALUE         an option cannot be used
 * @error DPMF_ERR_USAGE_CONFLICT      the model cannot be continued with these ratings, or at all
 * @error DPMF_ERR_USAGE_MEMORY        run.memory is too little
 * @error DPMF_ERR_INPUT_EMPTY         none of the new ratings is a like
 * @error DPMF_ERR_INPUT_OUT_OF_RANGE  the new ratings are on another scale
 * @error DPMF_ERR_INPUT_TOO_MANY      there are more users or items than can be counted
 * @error DPMF_ERR_RATINGS_NONE_LEFT   there are no ratings
 * @error DPMF_ERR_TRAIN_DIVERGED      a vector is not finite
 * @error DPMF_ERR_TRAIN_MISMATCH      the snapshot belongs to another run
 * @error DPMF_ERR_MODEL_*             the model is a release, or damaged, or no model
 * @error DPMF_ERR_STORE_CORRUPT       a store is damaged
 * @error DPMF_ERR_IO_*                a file cannot be read or written
 * @error DPMF_ERR_INPUT_ID             nothing in the validation set is known
 */
DPMF_API int dpmf_train_continue(const char *model, struct dpmf_store *store,
                                 struct dpmf_store *valid, const char *output,
                                 const struct dpmf_continue_options *options,
                                 const struct dpmf_run *run,
                                 int (*on_epoch)(void *self, const struct dpmf_epoch *epoch),
                                 void *self, struct dpmf_train_report *report,
                                 struct dpmf_error *error);

/* ------------------------------------------------------------------------------------------------
 * Tuning: a search for the options that predict held-back ratings best
 * ---------------------------------------------------------------------------------------------- */

/* What is searched for, and for how long. */
struct dpmf_tune_options {
    size_t size;              /* size of this struct, set by _default() */
    bool hold_factors;        /* keep the number of factors */
    bool hold_epochs;         /* keep the number of epochs */
    bool hold_learning_rate;  /* keep the learning rate */
    bool hold_regularization; /* keep the penalty */
    uint32_t trials;          /* largest number of trials, 1 to 10000 */
    double seconds;           /* time limit, which only the first trial may exceed; 0: none */
    double valid_fraction;    /* share of the ratings held back, without a validation store */
    bool hold_unobserved; /* ials: keep the weight of pairs without an event, which it searches in
                                 place of a learning rate */
};

/* The default search: everything, in at most twenty trials.
 *
 * @param options  receives the defaults
 * @param size     the size of `*options`
 */
DPMF_API void dpmf_tune_options_init(struct dpmf_tune_options *options, size_t size);
DPMF_DEFAULT(dpmf_tune_options)

/* Why a trial ended. */
enum dpmf_trial_end {
    DPMF_TRIAL_DONE,     /* all its epochs were run */
    DPMF_TRIAL_BEHIND,   /* stopped: other trials were better at that point */
    DPMF_TRIAL_RISING,   /* stopped: its error no longer fell */
    DPMF_TRIAL_TIME,     /* stopped: time ran out; only ever the first trial */
    DPMF_TRIAL_DIVERGED, /* its error was not finite, or far too large */
};

/* One set of options, and how good it was. */
struct dpmf_trial {
    uint32_t trial;                       /* number of the trial, from 1 */
    uint32_t factors, epochs;             /* options of the trial */
    double learning_rate, regularization; /* options of the trial */
    enum dpmf_trial_end end;              /* why it ended */
    uint32_t epochs_run;                  /* epochs it ran */
    double valid_rmse; /* error after its last epoch; NaN without one, and when ranking */
    double seconds;    /* time it took */
    bool is_best;      /* it is the best so far */
    double unobserved, valid_ndcg; /* option and result when ranking; otherwise 0 and NaN */
    uint64_t spare[4];
};

/* What the search found. */
struct dpmf_tune_report {
    struct dpmf_trial best;                /* the best trial */
    uint32_t trials;                       /* trials run */
    bool out_of_time;                      /* time ran out */
    bool all_tried;                        /* there was nothing left to try */
    uint64_t train_ratings, valid_ratings; /* ratings trained on and measured on */
    double seconds;                        /* time taken */
    uint64_t spare[4];
};

/* Searches for good options by training again and again. The best are those with the smallest RMSE,
 * or for "ials" with the largest NDCG of the ten best items. Only the options are kept, no model.
 * The same seed gives the same trials, for any number of threads, unless time runs out.
 *
 * @param store     the ratings; a part of them is held back unless `valid` is given
 * @param valid     the validation set; may be NULL
 * @param train     what every trial has in common, and where the search starts: may be NULL. Trials
 *                  are deterministic; patience, snapshot and resume are ignored. The seed also
 *                  decides what is held back
 * @param options   what to search for
 * @param run       threads, memory and callbacks
 * @param on_trial  called after each trial; a value other than 0 ends the search with the best
 *                  found so far. May be NULL
 * @param self      passed to `on_trial`; may be NULL
 * @param report    receives the best options
 * @param error     receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_TRAIN_DIVERGED  every trial diverged
 * @error DPMF_ERR_RATINGS_*       no ratings are left to train or to measure on
 * @error DPMF_ERR_USAGE_*         an option cannot be used, or run.memory is too little
 * @error DPMF_ERR_INPUT_*         there are no events, or a rating is not finite
 * @error DPMF_ERR_STORE_*         a store is damaged
 * @error DPMF_ERR_IO_*            a file cannot be read or written
 * @error DPMF_ERR_MODEL_*         a trial's model was damaged on disk
 * @error DPMF_ERR_BASE_RANDOM     the system gave no random bytes
 * @error DPMF_ERR_BASE_NOT_DEFINITE  equations have no stable solution
 */
DPMF_API int dpmf_tune(struct dpmf_store *store, struct dpmf_store *valid,
                       const struct dpmf_train_options *train,
                       const struct dpmf_tune_options *options, const struct dpmf_run *run,
                       int (*on_trial)(void *self, const struct dpmf_trial *trial), void *self,
                       struct dpmf_tune_report *report, struct dpmf_error *error);

/* ------------------------------------------------------------------------------------------------
 * The ledger: what the releases of a population have spent together
 * ---------------------------------------------------------------------------------------------- */

/* What may be claimed of a release. One function of the library decides it from the release's
 * statement, and everything that shows a release shows this. */
enum dpmf_claim {
    DPMF_CLAIM_PROVEN,      /* the promise is proven */
    DPMF_CLAIM_CONDITIONAL, /* it holds only if a sampler had converged, which no run can show */
    DPMF_CLAIM_PARTIAL,     /* proven, given what dpmf cannot check or the curator accepted */
    DPMF_CLAIM_NOT_PRIVATE, /* made for tests or research: nothing is promised */
};

/* Names a claim.
 *
 * @param claim  the claim
 * @return "proven", "conditional", "partial" or "not private"
 */
DPMF_API const char *dpmf_claim_name(enum dpmf_claim claim);

/* How much a population may spend in all its releases. */
struct dpmf_budget {
    double mu;             /* bound on all releases composed; 0: there is no budget */
    double epsilon, delta; /* what it was declared as; both 0: as a mu */
};

/* Parses a budget: "1.2" is a mu, "5@1e-5" an epsilon at a delta. A delta above
 * DPMF_DELTA_USUAL_MAX is refused, and so is a mu above DPMF_MU_USUAL_MAX unless it is accepted.
 *
 * @param text            the text
 * @param accept_epsilon  accept a large budget, for releases whose large epsilon was accepted
 * @param budget          receives the budget
 * @param error           receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_USAGE_VALUE  the text is not a budget, or the budget is too large
 */
DPMF_API int dpmf_budget_parse(const char *text, bool accept_epsilon, struct dpmf_budget *budget,
                               struct dpmf_error *error);

/* What became of a release, or what else was done with a population's ratings. */
enum dpmf_ledger_state {
    DPMF_LEDGER_RESERVED,  /* counts as spent: it may have been published */
    DPMF_LEDGER_COMMITTED, /* published */
    DPMF_LEDGER_RETURNED,  /* never published: does not count */
    DPMF_LEDGER_RESEARCH,  /* a private run for research: its file is not a release */
    DPMF_LEDGER_TUNING,    /* a search for options */
};

/* A release or another run, as a ledger records it. */
struct dpmf_ledger_entry {
    const char *id;               /* id of the release, 32 hexadecimal digits */
    enum dpmf_ledger_state state; /* what became of it */
    enum dpmf_claim claim;        /* what may be claimed of a release */
    double mu, delta, epsilon;    /* what it spent; delta is 0 for a conditional release, all are 0
                                     for other runs */
    int64_t time;                 /* when it was reserved, in seconds since 1970 */
    const char *users_since;      /* first day of the period of users' first records; "": none */
    const char *users_before;     /* first day after it; "": none */
    bool complete_histories;      /* the curator declared that histories are complete */
};

/* People whose budget is spent together. */
struct dpmf_ledger_population {
    const char *name; /* name of the population */

    /* Releases. Those committed or reserved are spent. */
    uint64_t committed, reserved, returned; /* numbers of each */

    /* Runs recorded but not in the sum: no epsilon bounds what they showed to whoever made them. */
    uint64_t research, tuning; /* numbers of each */

    double mu;                 /* what is spent, composed exactly */
    double mu_with_returned;   /* the same if returned releases had been published after all */
    double delta;              /* the budget's delta; without a budget the smaller of 1e-5 and those
                                  claimed; 0: none */
    double epsilon;            /* what is spent, at that delta */
    enum dpmf_claim claim;     /* what may be claimed of the sum, given all its releases assume */
    struct dpmf_budget budget; /* bound on the sum; mu 0: none is set */

    /* Releases of users by their first record add up in full, unless the curator declared complete
     * histories: those count for the days of their period alone, and the largest sum of a day is
     * what is spent. Where that is less than the sum of all, the claim is partial at best. */
    double mu_in_full; /* mu of all releases together, whoever is in them */
    uint64_t periods;  /* releases of users by their first record that are spent */
    uint64_t spare[2];
};

/* Finds the user's own ledger: $XDG_STATE_HOME/dpmf/ledger or ~/.local/state/dpmf/ledger.
 *
 * @return its path, to be freed with free(); NULL without a home directory or memory
 */
DPMF_API char *dpmf_ledger_path(void);

/* Makes an empty ledger, with the directories it needs. Only this function makes a ledger at a
 * given path: a mistyped path must not begin a second ledger that knows nothing of the first. The
 * user's own ledger is also made by the first release. A ledger that was copied here without its
 * lock file is accepted and used from here on.
 *
 * @param path   the ledger; NULL: the user's own
 * @param run    callbacks, which are warned while another process has locked the ledger and may end
 *               the wait; NULL: none
 * @param error  receives the description of a failure
 * @return 0; 1 when a copied ledger was accepted; or a negative code
 * @error DPMF_ERR_PRIVACY_LEDGER  there is a ledger already, or it is damaged
 * @error DPMF_ERR_IO_*            it cannot be written, or another process has locked it for a
 *                                 minute
 */
DPMF_API int dpmf_ledger_init(const char *path, const struct dpmf_run *run,
                              struct dpmf_error *error);

/* Calls `take` for each population, first without an entry, then with each of its releases and runs
 * in the order they were entered.
 *
 * @param path        the ledger; NULL: the user's own
 * @param population  the name of the only population wanted; NULL: all
 * @param take        the callback; `entry` is NULL on the first call for a population. A value
 *                    other than 0 ends the visit
 * @param self        passed to `take`; may be NULL
 * @param error       receives the description of a failure
 * @return 0, the value of `take` that ended the visit, or a negative code
 * @error DPMF_ERR_IO_MISSING      there is no ledger yet
 * @error DPMF_ERR_IO_*            it cannot be read
 * @error DPMF_ERR_PRIVACY_LEDGER  it is damaged, or an old copy
 */
DPMF_API int dpmf_ledger_visit(const char *path, const char *population,
                               int (*take)(void *self,
                                           const struct dpmf_ledger_population *population,
                                           const struct dpmf_ledger_entry *entry),
                               void *self, struct dpmf_error *error);

/* Returns what was reserved for a release that was never published.
 *
 * @param path   the ledger; NULL: the user's own
 * @param id     the id of the release
 * @param run    callbacks, which are warned while another process has locked the ledger and may end
 *               the wait; NULL: none
 * @param error  receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_PRIVACY_REFUSED  the release was published, or the ledger does not know it
 * @error DPMF_ERR_PRIVACY_LEDGER   the ledger is damaged, or an old copy
 * @error DPMF_ERR_IO_*             it cannot be read or written, or was locked for a minute
 */
DPMF_API int dpmf_ledger_return(const char *path, const char *id, const struct dpmf_run *run,
                                struct dpmf_error *error);

/* Sets the budget of a population, which may be larger or smaller than before.
 *
 * @param path        the ledger; NULL: the user's own
 * @param population  the name of the population
 * @param budget      the budget; NULL: no limit
 * @param run         callbacks, which are warned while another process has locked the ledger and
 *                    may end the wait; NULL: none
 * @param error       receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_USAGE_VALUE     the name or the budget cannot be used
 * @error DPMF_ERR_PRIVACY_LEDGER  the ledger is damaged, or an old copy
 * @error DPMF_ERR_IO_*            it cannot be read or written, or was locked for a minute
 */
DPMF_API int dpmf_ledger_set_budget(const char *path, const char *population,
                                    const struct dpmf_budget *budget, const struct dpmf_run *run,
                                    struct dpmf_error *error);

/* Records that options are being searched for in the ratings of a population. Settings chosen from
 * private ratings are outside the proof of a release made with them, so its reader must be able to
 * know.
 *
 * @param path        the ledger; NULL: the user's own
 * @param population  the name of the population
 * @param run         callbacks, which are warned while another process has locked the ledger and
 *                    may end the wait; NULL: none
 * @param error       receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_USAGE_VALUE     the name cannot be used
 * @error DPMF_ERR_PRIVACY_*       the ledger is damaged, an old copy, or refuses the entry
 * @error DPMF_ERR_IO_*            it cannot be read or written, or was locked for a minute
 * @error DPMF_ERR_BASE_RANDOM     the system gave no random bytes
 */
DPMF_API int dpmf_ledger_record_tuning(const char *path, const char *population,
                                       const struct dpmf_run *run, struct dpmf_error *error);

/* ------------------------------------------------------------------------------------------------
 * Private releases: models that reveal little about any one person
 * ---------------------------------------------------------------------------------------------- */

/* What a promise can rest on besides the proof: bits. */
enum dpmf_assumption {
    DPMF_ASSUMES_CONVERGENCE = 1, /* a sampler had converged */
    DPMF_ASSUMES_CATALOGUE = 2, /* the catalogue was made from the ratings: it shows rated items */
    DPMF_ASSUMES_DELTA = 4,     /* the curator accepted a large delta */
    DPMF_ASSUMES_EPSILON = 8,   /* the curator accepted a large epsilon */
    /* a query, a view or functions of a database gave the ratings: other people's rows may
       decide about a person's */
    DPMF_ASSUMES_QUERY = 16,
    DPMF_ASSUMES_LAST = DPMF_ASSUMES_QUERY,
};

/* Names an assumption.
 *
 * @param assumption  one bit of enum dpmf_assumption
 * @param sentence    receives a clause about it that begins with "that"; may be NULL
 * @return the name; NULL for anything else
 */
DPMF_API const char *dpmf_assumption_name(unsigned assumption, const char **sentence);

/* Beyond these limits a release is made only if the curator accepts it, and its claim is then
 * partial. */
#define DPMF_DELTA_USUAL_MAX 1e-4 /* and below 1 / declared users */
#define DPMF_MU_USUAL_MAX 3.45    /* epsilon 20 at delta 1e-5 */
#define DPMF_EPSILON_USUAL_MAX 20 /* where there is no delta */

/* Finds out what the curator must accept for a promise.
 *
 * @param epsilon         the epsilon
 * @param delta           the delta; 0 for a conditional promise
 * @param declared_users  the declared number of users; 0: none was declared
 * @return bits of DPMF_ASSUMES_DELTA and DPMF_ASSUMES_EPSILON
 */
DPMF_API unsigned dpmf_privacy_excess(double epsilon, double delta, uint64_t declared_users);

/* How a release was made, for the curator. The release itself contains only what its statement
 * lists. */
struct dpmf_release_report {
    double epsilon, delta, mu;   /* privacy loss of the release, rounded up */
    enum dpmf_claim claim;       /* what may be claimed */
    unsigned assumptions;        /* bits of enum dpmf_assumption */
    uint32_t factors;            /* length of a vector */
    uint32_t noisy_rounds;       /* sums published with noise */
    double seconds;              /* time taken */
    bool catalogue_is_rated_set; /* every item is rated, but for lines that look like none, and no
                                    rated item is missing: was the catalogue made from the
                                    ratings? */
    bool ratings_on_disk;        /* the ratings were larger than run->memory */
    char release_id[40];         /* id of the release */
    bool is_popularity_alone;    /* a release of events in which taste counts nothing: the rule or
                                    the vote left it out, which both follow from noisy sums */
    bool range_is_wide;          /* nearly all ratings lie within a tenth of the declared range: is
                                    it theirs? A private number */
    bool declares_less_spent;    /* the declaration says that less was spent before than the ledger
                                    has of the population */
    bool times_are_doubtful;     /* a tenth or more of the users have their first record in 1970 or
                                    after 2199: are times dates such as 20260115? Only of users of
                                    a period */
    bool delta_is_high;          /* delta is not below one in the users there are, and the declared
                                    number did not show it. A private number */
    bool declared_users_differ;  /* the users there are are more than twice or less than half as
                                    many as declared. A private number */
    const char *mechanism;       /* name of the mechanism */

    /* The ledger, without this release in `before_spending` and with it at the end. All 0 when the
     * noise came from a seed, and in all processes but the first. */
    struct dpmf_ledger_population spent;   /* the population */
    bool is_new_ledger, is_new_population; /* created by this run */
    uint64_t other_populations;            /* populations the ledger knew before */

    /* Private numbers. */
    uint64_t users, ratings;    /* numbers of each that took part */
    uint64_t not_in_catalogue;  /* ratings of items outside the catalogue */
    uint64_t out_of_range;      /* ratings outside the declared range */
    uint64_t users_left_out;    /* users who opted out, or without usable ratings */
    uint64_t wishes;            /* users in the file of wishes */
    uint64_t users_with_a_wish; /* users of the ratings with a wish */
    uint64_t wishes_of_nobody;  /* wishes that match no user: spelled differently? */
    uint64_t wishes_twice;      /* repeated rows of a user; the smallest epsilon counts */
    uint64_t wishes_above;      /* wishes above the release's epsilon, which they get instead */
    uint64_t trimmed;           /* ratings beyond max_ratings */

    /* A sampler's chains, private too. None of this proves convergence. */
    double rhat, ess;      /* worst R-hat and effective sample size */
    double acceptance;     /* share of proposals accepted; NaN: there were none */
    bool is_converged;     /* no diagnostic speaks against convergence */
    char chains_text[240]; /* the same in a sentence */

    /* Private numbers again, signs that a public file could be a list of people: users whose id is
     * also an item of the catalogue that nobody rated, and users whose id is a category of the item
     * features. */
    uint64_t users_as_items, users_as_categories;

    /* Private numbers of a release of new users: users whose first record is in another period, and
     * users left out because a record of theirs has no time. Neither are in users_left_out. */
    uint64_t users_of_other_periods, users_without_time;
};

/* Options of the mechanism "posterior", whose promise is conditional and has no delta. All of them
 * are public. */
struct dpmf_posterior_options {
    uint32_t max_ratings; /* largest number of a user's ratings that count, tau; the rest are left
                             out at random */
    double kappa;      /* how far predictions may exceed the range; NaN: a quarter of the range */
    double rho;        /* largest weight of a user with few ratings; at least 1 */
    uint32_t factors;  /* length of a vector; 0: a suitable one */
    uint32_t rounds;   /* number of rounds; 0: a suitable one */
    uint32_t chains;   /* number of chains, of which the first one's last draw is released; 0: a
                             suitable one */
    const char *trace; /* SVG file for a plot of the chains, for the curator alone; or NULL */
    uint64_t spare[4];
};

/* What is promised, and what must be declared because it may not be taken from the ratings. */
struct dpmf_release_options {
    size_t size;           /* size of this struct, set by _default() */
    double epsilon, delta; /* the promise */
    const char *mechanism; /* a name of dpmf_mechanism_name; NULL or "auto": the default */
    double range_min,
        range_max;         /* declared range of ratings; NaN: not declared, which is refused */
    const char *catalogue; /* file of the items that exist */
    bool catalogue_from_ratings; /* take the items from the ratings instead, which shows what anyone
                                    rated, and is recorded */
    const char *item_features;   /* file of public facts about items; or NULL */
    const char *user_privacy;    /* file of (user, epsilon) wishes; or NULL */
    const char *about;           /* what the curator declares (docs/formats/about.md); or NULL */
    uint64_t declared_users; /* number of users; 0: not declared. delta should be below 1 / it */
    const char *population;  /* whose budget is spent; NULL: "default" */
    const char *ledger;      /* an existing ledger; NULL: the user's own, made when missing */
    struct dpmf_budget ledger_budget; /* budget of the population; mu 0: as recorded, or none */
    bool accept_delta;                /* accept a large delta: the release is then partial */
    bool accept_epsilon;              /* accept a large epsilon: the release is then partial */
    bool research;          /* figures of private data are shown: the file may not be published */
    bool has_insecure_seed; /* for tests: the noise is predictable, the file is NOT PRIVATE */
    uint64_t insecure_seed; /* seed of that noise */

    struct dpmf_posterior_options posterior; /* options of the mechanism "posterior" */

    /* Called when the ratings have been counted and nothing has been spent yet. The report has its
     * private numbers by then, for the curator to look at: above all wishes that match nobody, and
     * ratings outside the catalogue. A value other than 0 ends the run with
     * DPMF_ERR_BASE_CANCELLED. Of several processes only the first calls it. May be NULL. */
    int (*before_spending)(void *self, const struct dpmf_release_report *report);
    void *before_spending_self; /* passed to `before_spending` */

    /* "rating" or "ranking". For ranking, all that counts of a rating is that it exists, and no
     * range is declared. NULL: decided by what the store holds, or by the mechanism; never by
     * values. */
    const char *goal;

    /* Only users whose own first record is in a period take part: dates such as "2026-01-01", in
     * UTC, or NULL. Times in the ratings are seconds since 1970. A user with a record without a
     * time is left out. Decided for each user from that user's own records, so that the promise is
     * the same; but releases of other periods add up with this one, whoever is in them. */
    const char *users_since;  /* first day of the period */
    const char *users_before; /* first day after it */
    /* The curator declares that every release of this population is made from ratings that contain
     * the same first record of each user, never missing, never one that could not be read, never
     * replaced by a later record of the same item: the ledger then counts releases of periods that
     * do not overlap side by side. dpmf cannot check it, so a sum that counts on it is partial.
     * Refused for events, halves of splits, and stores imported with a range of ratings. */
    bool complete_histories;
};

/* The default release: the usual delta and mechanism. epsilon, range and catalogue must be
 * declared.
 *
 * @param options  receives the defaults
 * @param size     the size of `*options`
 */
DPMF_API void dpmf_release_options_init(struct dpmf_release_options *options, size_t size);
DPMF_DEFAULT(dpmf_release_options)

/* How a release was extended. */
struct dpmf_extend_report {
    uint64_t items;       /* items of the new release */
    uint64_t new_items;   /* items that were added */
    uint64_t known_items; /* items of the catalogue that were in the release already: unchanged */
    uint64_t undescribed; /* added items without a row of features: placed at the average */
    uint64_t features;    /* columns that the features became */
    char parent[33];      /* id of the release that was extended, in hexadecimal digits */
    char id[33];          /* id of the new one */
    uint64_t spare[4];
};

/* Adds items to a release, placed by public features: the vectors, biases and counts that it
 * publishes are regressed on the features of its own items. This is post-processing of public
 * numbers and costs no epsilon; the statement says so. Everything else is copied unchanged. The
 * statement names the release that was extended, its parent, and the digest of it.
 *
 * @param release        the release to extend; not one that was extended itself
 * @param catalogue      a file of the items to add, which may list old ones too
 * @param item_features  a file of public facts about old and new items
 * @param output         the release to write
 * @param run            threads, memory and callbacks
 * @param report         receives what was done
 * @param error          receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_PRIVACY_NOT_VERIFIED  the release does not pass verification
 * @error DPMF_ERR_PRIVACY_REFUSED       a file is not a public table
 * @error DPMF_ERR_USAGE_CONFLICT        there is nothing to add, or the release cannot be extended
 * @error DPMF_ERR_MODEL_*               the file is not a release, or damaged
 * @error DPMF_ERR_INPUT_*               a public file is bad: the code says how, `error` where
 * @error DPMF_ERR_IO_*                  a file cannot be read or written
 * @error DPMF_ERR_BASE_RANDOM           the system gave no random bytes
 */
DPMF_API int dpmf_release_extend(const char *release, const char *catalogue,
                                 const char *item_features, const char *output,
                                 const struct dpmf_run *run, struct dpmf_extend_report *report,
                                 struct dpmf_error *error);

/* Recreates the parent of an extended release, byte for byte as it was published, so that its
 * signature can be checked.
 *
 * @param release  the extended release
 * @param output   the release to write
 * @param run      whether what is there may be replaced; may be NULL
 * @param error    receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_PRIVACY_NOT_VERIFIED  the release does not pass verification
 * @error DPMF_ERR_USAGE_CONFLICT        the release does not extend another
 * @error DPMF_ERR_MODEL_*               the file is not a release, or damaged
 * @error DPMF_ERR_IO_*                  a file cannot be read or written
 */
DPMF_API int dpmf_release_parent(const char *release, const char *output,
                                 const struct dpmf_run *run, struct dpmf_error *error);

/* Makes a private release. A store is refused if one record may have decided how others were read,
 * or whether they are there: open ratings with `by_record`, or import them with a declared layout
 * and `skip_bad`.
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
 *
 * @param store    the private ratings
 * @param output   the release to write
 * @param options  the promise, and what is declared
 * @param run      threads, memory and callbacks
 * @param report   receives how it was made, for the curator alone
 * @param error    receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_PRIVACY_REFUSED       the promise could not be kept, or something is not declared
 * @error DPMF_ERR_PRIVACY_BUDGET        the population's budget does not allow it
 * @error DPMF_ERR_PRIVACY_LEDGER        the ledger is damaged, or an old copy
 * @error DPMF_ERR_PRIVACY_NOT_VERIFIED  the release did not pass its own verification
 * @error DPMF_ERR_USAGE_VALUE           an option cannot be used
 * @error DPMF_ERR_USAGE_CONFLICT        two options contradict each other, or processes have
 *                                       different ones
 * @error DPMF_ERR_INPUT_*               a public file is bad: the code says how, `error` where
 * @error DPMF_ERR_STORE_*               the store is damaged, or a public file is a store
 * @error DPMF_ERR_MODEL_CORRUPT         numbers of the model are not finite
 * @error DPMF_ERR_IO_*                  a file cannot be read or written
 * @error DPMF_ERR_CLUSTER_LOST          a process of the cluster was lost
 * @error DPMF_ERR_BASE_RANDOM           the system gave no random bytes
 */
DPMF_API int dpmf_release_make(struct dpmf_store *store, const char *output,
                               const struct dpmf_release_options *options,
                               const struct dpmf_run *run, struct dpmf_release_report *report,
                               struct dpmf_error *error);

/* Lists the mechanisms.
 *
 * @param i            a number from 0
 * @param description  receives one line about the mechanism; may be NULL
 * @return the mechanism's name; NULL after the last
 */
DPMF_API const char *dpmf_mechanism_name(size_t i, const char **description);

/* Checks whether the promise of a mechanism is conditional on the convergence of a sampler.
 *
 * @param name  the mechanism's name; may be NULL
 * @return whether it is; false for NULL and for an unknown name
 */
DPMF_API bool dpmf_mechanism_is_conditional(const char *name);

/* ------------------------------------------------------------------------------------------------
 * The machine, and how fast it trains
 * ---------------------------------------------------------------------------------------------- */

/* The largest number of instruction sets a build can have. */
enum { DPMF_KERNEL_SETS_MAX = 8 };

/* What the library found on this machine. */
struct dpmf_machine {
    size_t n_kernels; /* instruction sets this build has kernels for */
    struct {
        const char *name, *description;
        bool is_supported;           /* this machine has it */
        bool is_chosen;              /* it is used by default */
    } kernels[DPMF_KERNEL_SETS_MAX]; /* best first */
    uint64_t l1, l2, l3;             /* bytes of cache that training is sized for */
    const char *caches_from;         /* "system", "environment" or "guess" */
    int cores;                       /* cores this process may use */
    uint64_t memory;                 /* bytes; 0 when unknown */
    uint64_t memory_default;         /* bytes a run uses unless its options say otherwise */
    uint64_t page_size;              /* bytes of a page */
    /* The system's setting, "always", "madvise" or "never"; "" when unknown */
    char large_pages[16];
    bool has_large_pages; /* a test allocation got one */
    uint64_t spare[4];
};

/* Describes this machine.
 *
 * @param machine  receives the description
 * @param error    receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_USAGE_VALUE  as for dpmf_machine_check
 */
DPMF_API int dpmf_machine_describe(struct dpmf_machine *machine, struct dpmf_error *error);

/* Checks the environment variables that can replace what the system reports:
 * DPMF_CACHES=32K,512K,32M, DPMF_CORES=64, DPMF_RAM=8GiB, DPMF_PAGE=64K, DPMF_KERNELS=avx2.
 * Training checks DPMF_CACHES and DPMF_KERNELS itself; a program calls this when it starts.
 *
 * @param error  receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_USAGE_VALUE  a value is not understood, or the kernels are not there
 */
DPMF_API int dpmf_machine_check(struct dpmf_error *error);

/* Finds the number of ratings that kernels handle at once by default.
 *
 * @param kernels        the instruction set; NULL: the best this machine has
 * @param factors        the number of factors
 * @param deterministic  whether the model is to be the same on every machine
 * @return the number; 0 when this machine does not have these kernels
 */
DPMF_API uint32_t dpmf_machine_lanes(const char *kernels, uint32_t factors, bool deterministic);

/* What is measured. */
struct dpmf_bench_options {
    size_t size;         /* size of this struct, set by _default() */
    uint32_t factors;    /* length of a vector, k; 1 to 4096 */
    const char *kernels; /* instruction set; NULL: the best this machine has */
    uint32_t lanes;      /* as in struct dpmf_train_options */
    double seconds;      /* time for the epochs, of which there are at least three */
    const char *solver; /* NULL or "sgd"; "ials"; "sgld", "sghmc" or "sgnht" alternating with sgd */
};

/* The default measurement: SGD with the number of factors that training has by default.
 *
 * @param options  receives the defaults
 * @param size     the size of `*options`
 */
DPMF_API void dpmf_bench_options_init(struct dpmf_bench_options *options, size_t size);
DPMF_DEFAULT(dpmf_bench_options)

/* What was measured. Times and speeds are medians over the epochs. */
struct dpmf_bench_result {
    uint32_t factors;          /* length of a vector, k */
    int threads;               /* number of threads */
    char kernels[16];          /* instruction set */
    uint32_t lanes;            /* ratings a kernel handled at once */
    uint32_t epochs;           /* epochs run */
    double tiling_seconds;     /* time of the preparation */
    double epoch_seconds;      /* time of an epoch */
    double updates_per_second; /* speed */
    double flops_per_second;   /* 6k per update; ials: operations of events and of rows */
    double bytes_per_second;   /* 4k * 1.25 per update, a vector and a share of another; ials: 4 for
                                  every two operations */
    double roofline_bytes_per_second; /* bytes these threads can rewrite, or read for ials */
    double fraction_of_roofline;      /* bytes_per_second as a share of it */
    uint64_t model_bytes;             /* size of the model in memory */
    bool tiles_on_disk;               /* the run was larger than run->memory, and was streamed */
    char solver[8];                   /* solver measured */
    double of_sgd; /* speed as a share of sgd's, whose epochs alternated; 1 for sgd, NaN for ials */
    uint64_t spare[4];
};

/* Measures the speed of training with run->threads threads. Writes nothing.
 *
 * @param store    the ratings to train on
 * @param options  what to measure
 * @param run      threads, memory and callbacks
 * @param result   receives the measurements
 * @param error    receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_USAGE_VALUE         an option cannot be used
 * @error DPMF_ERR_USAGE_MEMORY        run.memory is too little
 * @error DPMF_ERR_RATINGS_NONE_LEFT   there are no ratings
 * @error DPMF_ERR_INPUT_TOO_MANY      there are more users or items than can be counted
 * @error DPMF_ERR_TRAIN_DIVERGED      training diverged
 * @error DPMF_ERR_STORE_CORRUPT       the store is damaged
 * @error DPMF_ERR_IO_*                a file cannot be read or written
 * @error DPMF_ERR_BASE_NOT_DEFINITE   equations have no stable solution
 */
DPMF_API int dpmf_bench_run(struct dpmf_store *store, const struct dpmf_bench_options *options,
                            const struct dpmf_run *run, struct dpmf_bench_result *result,
                            struct dpmf_error *error);

/* ------------------------------------------------------------------------------------------------
 * A model and a store (dpmf_client.h has what needs a model alone)
 * ---------------------------------------------------------------------------------------------- */

/* What a store has of one user, in the model's item numbers. */
struct dpmf_history {
    struct dpmf_own_rating *ratings; /* the user's ratings */
    size_t n;                        /* number of ratings */
    uint64_t unknown_items;          /* ratings left out: the model does not know their items */
    bool found;                      /* the store knows the user */
    uint64_t spare[4];
};

/* Looks up a user's ratings in a store.
 *
 * @param model    the model whose item numbers are wanted
 * @param store    the ratings
 * @param user     the bytes of the user's id
 * @param length   the number of bytes
 * @param run      threads, memory and callbacks
 * @param history  receives what was found, to be freed with dpmf_history_free
 * @param error    receives the description of a failure
 * @return 0 or a negative code; 0 also when the store does not know the user
 * @error DPMF_ERR_IO_*           the store cannot be read
 * @error DPMF_ERR_STORE_CORRUPT  the store is damaged
 * @error DPMF_ERR_USAGE_VALUE    run.threads cannot be used
 * @error DPMF_ERR_INPUT_ID             the model knows none of the items of the history
 * @error DPMF_ERR_INPUT_OUT_OF_RANGE   the ratings are on another scale than the model's
 */
DPMF_API int dpmf_model_history(const struct dpmf_model *model, struct dpmf_store *store,
                                const char *user, size_t length, const struct dpmf_run *run,
                                struct dpmf_history *history, struct dpmf_error *error);

/* Frees the ratings of a history.
 *
 * @param history  the history, which is empty afterwards; may be NULL
 */
DPMF_API void dpmf_history_free(struct dpmf_history *history);

/* Calls `take` with the history of every user, in the order of the store.
 *
 * @param model  the model whose item numbers are wanted
 * @param store  the ratings
 * @param run    callbacks
 * @param take   the callback; the id and the ratings live until it returns. A value other than 0
 *               ends the run with DPMF_ERR_BASE_CANCELLED
 * @param self   passed to `take`; may be NULL
 * @param error  receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_IO_*           the store cannot be read
 * @error DPMF_ERR_STORE_CORRUPT  the store is damaged
 * @error DPMF_ERR_INPUT_ID             the model knows none of the items of the history
 * @error DPMF_ERR_INPUT_OUT_OF_RANGE   the ratings are on another scale than the model's
 */
DPMF_API int dpmf_model_histories(const struct dpmf_model *model, struct dpmf_store *store,
                                  const struct dpmf_run *run,
                                  int (*take)(void *self, const char *user, size_t length,
                                              const struct dpmf_history *history),
                                  void *self, struct dpmf_error *error);

/* One person's own ratings, read for a model, to recommend to someone the model does not know. */
struct dpmf_own;

/* What a catalogue says about items besides their titles: kinds (genres, subjects) and years. */
struct dpmf_facts;

/* Reads the kinds and years of a model's items from a table that has their titles: columns such as
 * `genres` and `year`, MovieLens' movies.dat, or years at the end of titles.
 *
 * @param model  the model
 * @param path   the table
 * @param run    threads, memory and warnings; may be NULL
 * @param facts  receives what was found, to be freed with dpmf_facts_free; NULL after a failure
 * @param error  receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_IO_*     the table cannot be read
 * @error DPMF_ERR_INPUT_*  the table is bad: the code says how, `error` where
 */
DPMF_API int dpmf_facts_read(const struct dpmf_model *model, const char *path,
                             const struct dpmf_run *run, struct dpmf_facts **facts,
                             struct dpmf_error *error);

/* Frees the facts.
 *
 * @param facts  may be NULL
 */
DPMF_API void dpmf_facts_free(struct dpmf_facts *facts);

/* The facts, in the form that dpmf_model_set_facts takes.
 *
 * @param facts  what a catalogue says
 * @return the facts, which live as long as `facts`; NULL when the table has neither kinds nor years
 */
DPMF_API const struct dpmf_item_facts *dpmf_facts_items(const struct dpmf_facts *facts);

/* The name of a kind.
 *
 * @param facts  what a catalogue says
 * @param kind   the number of the kind
 * @return the name; NULL where there is no such kind
 */
DPMF_API const char *dpmf_facts_kind(const struct dpmf_facts *facts, uint64_t kind);

/* The number of names of kinds that were left out because they are too long or not UTF-8.
 *
 * @param facts  what a catalogue says
 * @param all    receives whether there are more than 400 kinds, which are then all left out; may be
 *               NULL
 * @return the number of names
 */
DPMF_API uint64_t dpmf_facts_left_out(const struct dpmf_facts *facts, bool *all);

/* What dpmf_own_read found. The pointers are valid as long as the ratings. */
struct dpmf_own_info {
    const struct dpmf_own_rating *ratings; /* the ratings, each item once */
    size_t n;                              /* number of ratings; may be 0 */
    uint64_t unknown;               /* ratings left out: the model does not know their items */
    const char *first_unknown;      /* id of the first such item; "" when it is not known */
    uint64_t replaced;              /* items that come again; counts of events are added */
    uint64_t skipped;               /* bad records left out, with `skip_bad` */
    uint64_t outside;               /* ratings outside the model's scale, kept as they are */
    uint64_t listed;                /* titles that the page saved on a list, unrated: left out */
    const struct dpmf_diary *diary; /* the matched history of another service; NULL: not one */
    bool is_item_first;             /* three columns without names, read as item, rating, time */
    uint64_t spare[4];
};

/* Reads one person's ratings. `mine` is one of these:
 *
 * - "-", standard input;
 * - the path of a table with the columns item and rating, of a history that another service
 *   exported, or of any input of dpmf_import that holds the ratings of one user;
 * - pairs separated by commas, "dune:5,solaris:3.5". The last colon of a pair separates the item
 *   from the rating.
 *
 * If an item is rated twice, the last rating counts. A model that learns from events also takes
 * items without ratings.
 *
 *     struct dpmf_model *model = NULL;
 *     struct dpmf_own *own = NULL;
 *     struct dpmf_own_info mine;
 *     if (dpmf_model_open("model.safetensors", &model, &error) == 0 &&
 *         dpmf_own_read(model, "3:5,7:1.5", NULL, NULL, NULL, &own, &error) == 0) {
 *         dpmf_own_info(own, &mine);
 *         printf("%zu ratings\n", mine.n);
 *     }
 *     dpmf_own_free(own);
 *     dpmf_model_close(model);
 *
 * @param model    the model whose items are rated
 * @param mine     the ratings
 * @param titles   a title for each item of the model, NULL for an item without one, to match a
 *                 history by; NULL: it is matched by the items' ids
 * @param options  how to read the ratings
 * @param run      threads, memory and callbacks
 * @param own      receives the ratings, to be freed with dpmf_own_free; NULL after a failure
 * @param error    receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_USAGE_VALUE          `mine` is neither a file nor pairs
 * @error DPMF_ERR_USAGE_CONFLICT       the scale of a service's ratings is known, and `options`
 *                                      gives another one
 * @error DPMF_ERR_IO_*                 the file cannot be read, or not copied where it must be
 * @error DPMF_ERR_INPUT_COUNT          the ratings are those of several people
 * @error DPMF_ERR_INPUT_OUT_OF_RANGE   a rating is far off the model's scale
 * @error DPMF_ERR_INPUT_*              the ratings are bad: the code says how, `error` where
 * @error DPMF_ERR_STORE_*              the ratings are a damaged store
 */
DPMF_API int dpmf_own_read(const struct dpmf_model *model, const char *mine,
                           const char *const *titles, const struct dpmf_input_options *options,
                           const struct dpmf_run *run, struct dpmf_own **own,
                           struct dpmf_error *error);

/* Frees someone's own ratings.
 *
 * @param own  the ratings; may be NULL
 */
DPMF_API void dpmf_own_free(struct dpmf_own *own);

/* Describes someone's own ratings.
 *
 * @param own   the ratings
 * @param info  receives the description
 */
DPMF_API void dpmf_own_info(const struct dpmf_own *own, struct dpmf_own_info *info);

/* Marks every item that the person has rated, watched, read or heard, as something to leave out of
 * recommendations.
 *
 * @param own     the ratings
 * @param bitmap  a bit for each item of the model
 */
DPMF_API void dpmf_own_mark(const struct dpmf_own *own, uint8_t *bitmap);

/* The users of a store that a model does not know. Each is fitted when first asked for. */
struct dpmf_newcomers;

/* Finds the newcomers of a store.
 *
 * @param model      the model, which must outlive them
 * @param store      the ratings, which must outlive them
 * @param run        threads, memory and callbacks
 * @param newcomers  receives them, to be closed with dpmf_newcomers_close; NULL after a failure
 * @param error      receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_IO_*            the store cannot be read
 * @error DPMF_ERR_STORE_CORRUPT   the store is damaged
 * @error DPMF_ERR_INPUT_TOO_MANY  there are more users than can be counted
 * @error DPMF_ERR_MODEL_CORRUPT   the store has a user twice
 * @error DPMF_ERR_USAGE_VALUE     run.threads cannot be used
 * @error DPMF_ERR_INPUT_ID             the model knows none of the items of the history
 * @error DPMF_ERR_INPUT_OUT_OF_RANGE   the ratings are on another scale than the model's
 */
DPMF_API int dpmf_newcomers_open(const struct dpmf_model *model, struct dpmf_store *store,
                                 const struct dpmf_run *run, struct dpmf_newcomers **newcomers,
                                 struct dpmf_error *error);

/* Closes newcomers and frees their users.
 *
 * @param newcomers  the newcomers; may be NULL
 */
DPMF_API void dpmf_newcomers_close(struct dpmf_newcomers *newcomers);

/* Finds a newcomer by id, and fits them if this is the first time.
 *
 * @param newcomers  the newcomers
 * @param id         the bytes of the id
 * @param length     the number of bytes
 * @param user       receives the user, who lives as long as the newcomers; NULL when the id is of a
 *                   user of the model, is in neither, or has no rating of an item that the model
 *                   knows
 * @param error      receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_IO_*               the store cannot be read
 * @error DPMF_ERR_STORE_CORRUPT      the store is damaged
 * @error DPMF_ERR_INPUT_NOT_FINITE   a rating is not finite
 * @error DPMF_ERR_BASE_NOT_DEFINITE  the equations have no stable solution
 */
DPMF_API int dpmf_newcomers_find(struct dpmf_newcomers *newcomers, const char *id, size_t length,
                                 const struct dpmf_user **user, struct dpmf_error *error);

/* The list of one user, as dpmf_model_recommend_all gives it. Its pointers are valid until `take`
 * returns. */
struct dpmf_user_list {
    const char *id;   /* id of the user, not terminated by NUL */
    size_t id_length; /* its bytes */
    uint64_t user;    /* number in the model; UINT64_MAX: fitted to the history */
    size_t known;     /* ratings in the history of items that the model has */
    const struct dpmf_scored_item *items; /* the best items, the best first */
    const double *ratings;                /* predicted rating of each; NaN in a model that ranks */
    size_t n;                             /* number of items */
    uint64_t spare[4];
};

/* Finds the best items for every user of a model, with all threads. A release has no users: there,
 * the users are those of `history`, each fitted to their ratings in it. Items that a user rated in
 * `history` are left out of the list and count in its scores as what the user chose.
 *
 * @param model    the model
 * @param history  ratings whose items are left out; may be NULL
 * @param order    what lists are ordered by; may be NULL: the default
 * @param exclude  items to leave out for everyone, a bitmap; may be NULL
 * @param include  the only items to consider, a bitmap; may be NULL
 * @param n        the number of items wanted for each user
 * @param run      threads, memory and callbacks
 * @param take     called by one thread at a time: for the users of `history` in its order, then for
 *                 the others in the model's. A value other than 0 ends the run with
 *                 DPMF_ERR_BASE_CANCELLED
 * @param self     passed to `take`; may be NULL
 * @param error    receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_IO_*           the history cannot be read
 * @error DPMF_ERR_STORE_CORRUPT  the history is damaged
 * @error DPMF_ERR_USAGE_VALUE    run.threads cannot be used, or the dial is not within [0, 1]
 * @error DPMF_ERR_USAGE_CONFLICT the history holds events, and the model learns from ratings
 * @error DPMF_ERR_MODEL_KIND     the model's items cannot be ordered this way
 */
DPMF_API int dpmf_model_recommend_all(const struct dpmf_model *model, struct dpmf_store *history,
                                      const struct dpmf_order *order, const uint8_t *exclude,
                                      const uint8_t *include, size_t n, const struct dpmf_run *run,
                                      int (*take)(void *self, const struct dpmf_user_list *list),
                                      void *self, struct dpmf_error *error);

/* What to measure besides the errors of predictions. */
struct dpmf_evaluate_options {
    size_t size;      /* size of this struct, set by _default() */
    uint32_t ranking; /* length of the lists, n; 0: no ranking metrics */
    bool has_like;    /* only test ratings of at least `like` are wanted; otherwise all are */
    double like;      /* smallest wanted rating */
    const struct dpmf_order *order; /* order of the lists; NULL: the default */
};

/* The default evaluation: errors only.
 *
 * @param options  receives the defaults
 * @param size     the size of `*options`
 */
DPMF_API void dpmf_evaluate_options_init(struct dpmf_evaluate_options *options, size_t size);
DPMF_DEFAULT(dpmf_evaluate_options)

/* The number of equal parts that items are divided into by popularity, most popular first. */
enum { DPMF_POPULARITY_PARTS = 5 };

/* How well the n best items of each user agree with the user's test items, for all items or for a
 * part of them. Averages are over users that the model knows and that have test items in the part.
 * Items of the history are neither recommended nor wanted. Items that the model does not know are
 * wanted but cannot be found. */
struct dpmf_ranking_part {
    uint64_t items;       /* items of the model */
    uint64_t users;       /* users averaged over */
    uint64_t wanted;      /* test items of these users */
    double recall;        /* share of a user's test items that are in the list */
    double recall_capped; /* items found as a share of min(n, test items) */
    double precision;     /* items found as a share of n */
    double ndcg; /* NDCG: an item found at place r counts 1 / log2(r + 1); the best order has 1 */
    double map;  /* precision at each item found, averaged over min(n, test items) */
    double mrr;  /* 1 / place of the first item found, or 0 */
    double coverage;   /* share of the items that are in any user's list */
    double list_share; /* share of all places in lists that these items hold */
    uint64_t spare[4];
};

/* How a table of features was used for the items or the users of a model. */
struct dpmf_features_side {
    uint64_t columns; /* columns that the features became */
    uint64_t known;   /* rows of the table with ratings, from which their meaning was learned */
    uint64_t placed;  /* rows of the table without ratings, which were placed */
    uint64_t spare[2];
};

/* What dpmf_model_add_features did. */
struct dpmf_features_report {
    struct dpmf_features_side items, users;
};

/* Places users and items without ratings in an open model by their features. What the features mean
 * is learned by ridge regression of the vectors and biases of users and items that the model knows,
 * so a table must list some of those too; they stay as they are. The model knows the new ones from
 * then on. Nothing is written. Can be called once per model.
 *
 * @param model          the model; not a release
 * @param item_features  a table of items: a column named item, and others; may be NULL
 * @param user_features  a table of users: a column named user, and others; may be NULL
 * @param run            threads, memory and callbacks
 * @param report         receives what was done; may be NULL
 * @param error          receives the description of a failure; the model is then to be closed
 * @return 0 or a negative code
 * @error DPMF_ERR_MODEL_KIND      the model is a release
 * @error DPMF_ERR_USAGE_CONFLICT  features were added to it already
 * @error DPMF_ERR_INPUT_*         a table is bad, or too few of its rows are known to the model
 * @error DPMF_ERR_IO_*            a table cannot be read
 */
DPMF_API int dpmf_model_add_features(struct dpmf_model *model, const char *item_features,
                                     const char *user_features, const struct dpmf_run *run,
                                     struct dpmf_features_report *report, struct dpmf_error *error);

/* How well a model predicts a test set. */
struct dpmf_evaluation {
    uint64_t n;               /* test ratings */
    double rmse, mae;         /* errors; NaN for a model that ranks, whose scores are not ratings */
    uint64_t unknown_users;   /* test ratings of unknown users, predicted from averages */
    uint64_t unknown_items;   /* test ratings of unknown items, predicted from averages */
    uint64_t ranked_users;    /* users with a list */
    double recall, ndcg, map; /* measures over all items, as in `ranking` */

    struct dpmf_ranking_part ranking; /* all items */
    bool has_popularity; /* there is a history: popularity is an item's number of ratings in it */
    double popularity_bias; /* average popularity of listed items over that of test items */
    struct dpmf_ranking_part by_popularity[DPMF_POPULARITY_PARTS]; /* items by popularity */

    /* Ratings of users or items that dpmf_model_add_features placed. */
    uint64_t cold;               /* number of such test ratings */
    double cold_rmse, warm_rmse; /* errors on these, and on all others; NaN where there are none */

    uint64_t fitted_users; /* users of the test set who were fitted to the history */

    /* Estimated share of the test ratings that the model was trained on, by a sample that it keeps
     * of those; NaN where that is not known, as of a release, or none of the test set is sampled */
    double learned_share;
    uint64_t sampled; /* test ratings that `learned_share` was estimated from */

    uint64_t shared;          /* test ratings that are in the history which users were fitted to */
    uint64_t in_history;      /* test ratings that the ranking does not look for: users have them */
    uint64_t without_history; /* ranked users for whom the history has nothing */
    uint64_t spare[8];        /* for later versions */
};

/* Evaluates a model on a test set. Users of the history whom the model does not know are first
 * fitted to their ratings in it, as dpmf_user_fold_in does; a release knows nobody. Other users are
 * unknown.
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
 *
 * @param model       the model
 * @param test        the test set
 * @param history     what each user has rated already, left out of the ranking; may be NULL
 * @param options     what to measure
 * @param run         threads, memory and callbacks
 * @param evaluation  receives the measurements
 * @param error       receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_USAGE_VALUE         an option cannot be used
 * @error DPMF_ERR_USAGE_CONFLICT      several processes, and a release with a history, or different
 *                                     options; events where the model learns from ratings, or with
 *                                     a like
 * @error DPMF_ERR_IO_*                a store cannot be read
 * @error DPMF_ERR_STORE_CORRUPT       a store is damaged
 * @error DPMF_ERR_RATINGS_NONE_LEFT   there are no test ratings
 * @error DPMF_ERR_INPUT_NOT_FINITE    a rating is not finite
 * @error DPMF_ERR_INPUT_TOO_MANY      there are more users than can be counted
 * @error DPMF_ERR_MODEL_CORRUPT       the history has a user twice
 * @error DPMF_ERR_CLUSTER_LOST        a process of the cluster was lost
 * @error DPMF_ERR_BASE_NOT_DEFINITE   equations have no stable solution
 * @error DPMF_ERR_INPUT_ID             the model knows none of the items of the history
 * @error DPMF_ERR_INPUT_OUT_OF_RANGE   the ratings are on another scale than the model's
 */
DPMF_API int dpmf_model_evaluate(const struct dpmf_model *model, struct dpmf_store *test,
                                 struct dpmf_store *history,
                                 const struct dpmf_evaluate_options *options,
                                 const struct dpmf_run *run, struct dpmf_evaluation *evaluation,
                                 struct dpmf_error *error);

/* Candidates: rows of a user, an item the user is known to want, and other items taken to be
 * unwanted. This is the test protocol that holds back one item and ranks it among a sample of
 * others. */
struct dpmf_candidates;
struct dpmf_table_record; /* in dpmf_text.h */

/* Makes an empty list of candidates.
 *
 * @param candidates  receives the list, to be freed with dpmf_candidates_free; NULL after a failure
 * @param error       receives the description of a failure
 * @return 0 or a negative code
 */
DPMF_API int dpmf_candidates_new(struct dpmf_candidates **candidates, struct dpmf_error *error);

/* Frees a list of candidates.
 *
 * @param candidates  the list; may be NULL
 */
DPMF_API void dpmf_candidates_free(struct dpmf_candidates *candidates);

/* Adds a row of candidates.
 *
 * @param candidates  the list
 * @param row         ids: the user, the wanted item, and at least one other item
 * @param error       receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_INPUT_COLUMNS  the row has fewer than three fields
 * @error DPMF_ERR_INPUT_ID       an id is empty
 */
DPMF_API int dpmf_candidates_add(struct dpmf_candidates *candidates,
                                 const struct dpmf_table_record *row, struct dpmf_error *error);

/* Adds the rows of a table whose header names the user and the wanted item; all other columns are
 * of items to rank it among, and where the last column is one of these, rows may have more of them.
 * A column that is something else by its name, such as a rating or a title, is refused.
 *
 * @param candidates  the list
 * @param path        the table, as dpmf_table_read_whole reads it; "-" for standard input
 * @param run         callbacks, which may end the reading
 * @param error       receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_IO_*     the table cannot be read
 * @error DPMF_ERR_INPUT_*  the table is bad: the code says how, `error` where
 */
DPMF_API int dpmf_candidates_read(struct dpmf_candidates *candidates, const char *path,
                                  const struct dpmf_run *run, struct dpmf_error *error);

/* How often the wanted item is among the n best of its row. Other items with the same score come
 * before it, so that a model that gives everything the same score finds nothing. An item given
 * twice counts once; one that the model does not know comes last and is never found. */
struct dpmf_candidates_evaluation {
    uint64_t rows;           /* number of rows */
    uint64_t unknown_users;  /* rows of users the model does not know, ranked as anyone */
    uint64_t unknown_items;  /* rows whose wanted item the model does not know */
    uint64_t fitted_users;   /* rows of users who were fitted to the history */
    double hr;               /* share of the rows whose wanted item is among the n best */
    double ndcg;             /* average of 1 / log2(place + 1), 0 beyond place n */
    double mrr;              /* average of 1 / place, 0 beyond place n */
    uint64_t unknown_others; /* ids to rank among that the model does not know: left out */
    uint64_t alone;          /* rows of a known wanted item that are left with nothing else */
    uint64_t in_history;     /* rows whose wanted item is in the user's history */
};

/* Ranks the wanted item of each row. The result does not depend on the number of threads.
 *
 * @param model       the model
 * @param candidates  the rows
 * @param history     what users have rated, which counts as what they chose; whom the model does
 *                    not know is first fitted to it, as in dpmf_model_evaluate. May be NULL
 * @param order       what rows are ordered by; may be NULL: the default
 * @param n           the length of a list
 * @param run         threads, memory and callbacks
 * @param evaluation  receives the measurements
 * @param error       receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_USAGE_VALUE        `n` cannot be used, or the dial is not within [0, 1]
 * @error DPMF_ERR_MODEL_KIND         the model's items cannot be ordered this way
 * @error DPMF_ERR_USAGE_CONFLICT     there are several processes, or the history holds events and
 *                                    the model learns from ratings
 * @error DPMF_ERR_INPUT_EMPTY        there are no rows
 * @error DPMF_ERR_INPUT_NOT_FINITE   a rating is not finite
 * @error DPMF_ERR_INPUT_TOO_MANY     there are more users than can be counted
 * @error DPMF_ERR_MODEL_CORRUPT      the history has a user twice
 * @error DPMF_ERR_IO_*               the history cannot be read
 * @error DPMF_ERR_STORE_CORRUPT      the history is damaged
 * @error DPMF_ERR_CLUSTER_LOST       a process of the cluster was lost
 * @error DPMF_ERR_BASE_NOT_DEFINITE  equations have no stable solution
 * @error DPMF_ERR_INPUT_ID             the model knows none of the items of the history
 * @error DPMF_ERR_INPUT_OUT_OF_RANGE   the ratings are on another scale than the model's
 */
DPMF_API int dpmf_model_rank_candidates(const struct dpmf_model *model,
                                        const struct dpmf_candidates *candidates,
                                        struct dpmf_store *history, const struct dpmf_order *order,
                                        uint32_t n, const struct dpmf_run *run,
                                        struct dpmf_candidates_evaluation *evaluation,
                                        struct dpmf_error *error);

/* ------------------------------------------------------------------------------------------------
 * Privacy: what releases cost, exactly, and what to expect of one
 *
 * A round of a release is a sum over users to which no user adds more than 1, with Gaussian noise
 * of standard deviation 1/mu on every number. Adding or removing one user is then
 * (epsilon, delta)-private, with
 * delta = Phi(mu/2 - epsilon/mu) - exp(epsilon) Phi(-mu/2 - epsilon/mu).
 * Every figure is rounded so that it never promises too much. Arguments that make no sense, such as
 * negative ones, give NaN. A group of g ids has g times the mu.
 * ---------------------------------------------------------------------------------------------- */

/* Finds the largest mu that a promise allows.
 *
 *     double mu[2] = {dpmf_privacy_mu(1, 1e-6), dpmf_privacy_mu(0.5, 1e-6)};
 *     double both = dpmf_privacy_compose(mu, 2);
 *     printf("epsilon %.3f for two releases\n", dpmf_privacy_epsilon(both, 1e-6));
 *
 * @param epsilon  the epsilon
 * @param delta    the delta
 * @return the mu, rounded down
 */
DPMF_API double dpmf_privacy_mu(double epsilon, double delta);

/* Finds the smallest epsilon that holds.
 *
 * @param mu     the mu
 * @param delta  the delta
 * @return the epsilon, rounded up
 */
DPMF_API double dpmf_privacy_epsilon(double mu, double delta);

/* Finds the smallest delta that holds.
 *
 * @param mu       the mu
 * @param epsilon  the epsilon
 * @return the delta, rounded up
 */
DPMF_API double dpmf_privacy_delta(double mu, double epsilon);

/* Composes releases.
 *
 * @param mu  the mu of each; may be NULL when n is 0
 * @param n   the number of releases
 * @return the mu of all of them together, rounded up
 */
DPMF_API double dpmf_privacy_compose(const double *mu, size_t n);

/* Rounds to a number with a few decimals, or with a few digits in all, on one side of the value.
 * Budgets are printed rounded by these, so that they never promise too much.
 *
 * @param value     the number
 * @param decimals  the number of decimals
 * @param digits    the number of digits
 * @param up        round up; otherwise down
 * @return the nearest such number on that side; `value` itself where it is not above 0, not finite,
 *         or would need more digits than a double has
 */
DPMF_API double dpmf_round_decimals(double value, int decimals, bool up);
DPMF_API double dpmf_round_digits(double value, int digits, bool up);

/* Finds an epsilon by way of Renyi divergence (zCDP): a cross-check, never below the exact one.
 *
 * @param mu     the mu
 * @param delta  the delta
 * @return the epsilon
 */
DPMF_API double dpmf_privacy_epsilon_renyi(double mu, double delta);

/* The sizes of a planned release, public or assumed. No data is touched. */
struct dpmf_plan_options {
    size_t size;                 /* size of this struct, set by _default() */
    uint64_t users, items;       /* numbers of each */
    double ratings_per_user;     /* average number of ratings of a user */
    double range_min, range_max; /* range of ratings */
    double epsilon, delta;       /* the promise */
    bool has_features;           /* public item features will be given */
};

/* The default plan: epsilon 1 and the usual delta. The sizes must be filled in.
 *
 * @param options  receives the defaults
 * @param size     the size of `*options`
 */
DPMF_API void dpmf_plan_options_init(struct dpmf_plan_options *options, size_t size);
DPMF_DEFAULT(dpmf_plan_options)

/* What to expect. The mu and the noise multipliers, sigma over the norm bound, are exact. */
struct dpmf_plan {
    double mu;                      /* the largest mu allowed */
    double counts_noise;            /* noise multiplier of the first sum, counts and biases */
    double first_noise, last_noise; /* noise of the first and of the last round; NaN: no round */
    uint32_t factors, rounds;       /* as the mechanism will likely choose them; 0: biases alone */
    uint64_t published_numbers;     /* numbers published in all */

    /* Test errors in units of the ratings: a forecast from assumed variances, see
     * lib/mechanisms/plan.c. */
    double rmse_biases, rmse_residual; /* forecasts for the mechanisms "biases" and "residual" */

    /* Hit rate at 10 of a release of events by the mechanism "events", one item of each user among
     * 99 others, taken from measurements on MovieLens 1M; NaN where these do not apply. */
    double hit_rate;
    uint64_t spare[3];
};

/* Plans a release.
 *
 * @param options  the sizes and the promise
 * @param plan     receives what to expect
 * @param error    receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_USAGE_VALUE  a size or the promise makes no sense
 */
DPMF_API int dpmf_privacy_plan(const struct dpmf_plan_options *options, struct dpmf_plan *plan,
                               struct dpmf_error *error);

/* ------------------------------------------------------------------------------------------------
 * The privacy statement of a release
 * ---------------------------------------------------------------------------------------------- */

/* The statement of a release whose digest matches and whose arithmetic holds. */
struct dpmf_statement {
    char *json;            /* the statement: docs/formats/release.md lists its fields */
    char *recorded;        /* as recorded in the file: the same, unless an older version wrote it */
    char *text;            /* for people, a few pages of plain sentences */
    char *registry;        /* entry for the public registry of deployments
                              (docs/privacy/registry.md); NULL when NOT PRIVATE */
    double epsilon, delta; /* the promise */
    const char *mechanism; /* name of the mechanism */
    enum dpmf_claim claim; /* what may be claimed */
    unsigned assumptions;  /* bits of enum dpmf_assumption */
    bool is_insecure;      /* its noise came from a seed: NOT PRIVATE */
    bool is_research;      /* private figures were shown: NOT PRIVATE, not to be published */
    char users_since[12];  /* declared first day of users' first records; "": none */
    char users_before[12]; /* declared first day after those; "": none */
    uint64_t spare[1];
};

/* Reads and checks the statement of a release.
 *
 *     struct dpmf_statement statement = {0};
 *     if (dpmf_release_statement("release.safetensors", &statement, &error) == 0)
 *         printf("%s", statement.text);
 *     dpmf_statement_free(&statement);
 *
 * @param path       the release
 * @param statement  receives the statement, to be freed with dpmf_statement_free
 * @param error      receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_PRIVACY_NOT_VERIFIED  what it says does not hold
 * @error DPMF_ERR_MODEL_*               the file is not a release, or is damaged
 * @error DPMF_ERR_INPUT_TOO_MANY        it has more items than can be counted
 * @error DPMF_ERR_IO_*                  the file cannot be read
 */
DPMF_API int dpmf_release_statement(const char *path, struct dpmf_statement *statement,
                                    struct dpmf_error *error);

/* Reads and checks the statement of a release in memory, so that what is checked is what is then
 * used.
 *
 * @param bytes      the contents of the release; may be NULL when n is 0
 * @param n          the number of bytes
 * @param name       what errors call it
 * @param statement  receives the statement, to be freed with dpmf_statement_free
 * @param error      receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_PRIVACY_NOT_VERIFIED  what it says does not hold
 * @error DPMF_ERR_MODEL_*               the bytes are not a release, or are damaged
 * @error DPMF_ERR_INPUT_TOO_MANY        it has more items than can be counted
 * @error DPMF_ERR_IO_READ               the bytes end too early
 */
DPMF_API int dpmf_release_statement_memory(const void *bytes, size_t n, const char *name,
                                           struct dpmf_statement *statement,
                                           struct dpmf_error *error);

/* Frees the texts of a statement.
 *
 * @param statement  the statement; may be NULL
 */
DPMF_API void dpmf_statement_free(struct dpmf_statement *statement);

/* The largest number of checks, and the size of the text of each. */
enum { DPMF_CHECKS_MAX = 16, DPMF_CHECK_TEXT_MAX = 160 };

/* What was found to hold, in the order it was checked. */
struct dpmf_verification {
    size_t n;                                         /* number of checks */
    char check[DPMF_CHECKS_MAX][DPMF_CHECK_TEXT_MAX]; /* a sentence each */
    enum dpmf_claim claim; /* what may be claimed: not private unless every check held */
    unsigned assumptions;  /* bits of enum dpmf_assumption */
    uint64_t spare[4];
};

/* Recomputes from the file alone everything that follows from it. This detects damage, content that
 * does not belong in a release, and wrong arithmetic. It proves neither who made the file nor that
 * noise was added.
 *
 * @param path          the release
 * @param accepted      the assumptions the caller accepts, bits of enum dpmf_assumption; 0: only
 *                      what is proven
 * @param verification  receives what was found to hold, also after a failure
 * @param error         receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_PRIVACY_NOT_VERIFIED  something is wrong or damaged, or the promise rests on an
 *                                       assumption that is not accepted
 * @error DPMF_ERR_MODEL_*               the file is not a release
 * @error DPMF_ERR_INPUT_TOO_MANY        it has more items than can be counted
 * @error DPMF_ERR_IO_*                  the file cannot be read
 */
DPMF_API int dpmf_release_verify(const char *path, unsigned accepted,
                                 struct dpmf_verification *verification, struct dpmf_error *error);

/* ------------------------------------------------------------------------------------------------
 * A model for other tools: its vectors as files and tables
 * ---------------------------------------------------------------------------------------------- */

/* What a model can be written as. */
enum dpmf_export_form {
    DPMF_EXPORT_NPY,      /* a directory of NumPy files */
    DPMF_EXPORT_CSV,      /* a directory of tables as text, exact to the bit */
    DPMF_EXPORT_LIBMF,    /* a file that LIBMF reads, and the ids beside it */
    DPMF_EXPORT_SQLITE,   /* a database in a file */
    DPMF_EXPORT_PGVECTOR, /* tables on a PostgreSQL server: postgres://HOST/DATABASE?table=NAME */
};

/* How a model is exported. */
struct dpmf_export_options {
    size_t size;                /* size of this struct, set by _default() */
    enum dpmf_export_form form; /* what to write */
    bool not_private; /* required for what is not proven to be private, and for nothing else */
    bool users;       /* whether a checkpoint's users are written too */
    bool replace;     /* replace what an export made, or what is empty; not directories */
    const char *const *titles; /* a title or NULL for each item of the model; or NULL */
    bool cosine; /* DPMF_EXPORT_NPY: whether to add vectors whose cosines order as scores do */
};

/* The default export: NumPy files, items alone, and only what is proven to be private.
 *
 * @param options  receives the defaults
 * @param size     the size of `*options`
 */
DPMF_API void dpmf_export_options_init(struct dpmf_export_options *options, size_t size);
DPMF_DEFAULT(dpmf_export_options)

/* What was exported. */
struct dpmf_export_report {
    uint64_t items, users;  /* numbers of each written */
    uint64_t bytes_written; /* bytes of files; 0 on a server */
    bool is_private;        /* otherwise only the owner may read the files */
    char vector_type[24];   /* on a server: "vector(16)" of the extension pgvector, or "real[]" */
    uint64_t spare[4];
};

/* Exports a model, as a whole or not at all. docs/formats/exports.md describes what is written.
 *
 * @param model      the model
 * @param statement  the statement of the same release, from dpmf_release_statement; NULL when there
 *                   is none that holds
 * @param output     a directory that is empty or does not exist, a file, or a server's address
 * @param options    how to write it
 * @param run        threads, memory and callbacks
 * @param report     receives what was written
 * @param error      receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_PRIVACY_REFUSED  the model is a checkpoint, NOT PRIVATE, or without a statement
 *                                  that holds, and `not_private` is false
 * @error DPMF_ERR_USAGE_*          an option cannot be used, or does not fit the model
 * @error DPMF_ERR_INPUT_ID         an id cannot be written in this form
 * @error DPMF_ERR_INPUT_QUERY      the server refused a command
 * @error DPMF_ERR_IO_*             the output cannot be written, the server cannot be reached
 */
DPMF_API int dpmf_model_export(const struct dpmf_model *model,
                               const struct dpmf_statement *statement, const char *output,
                               const struct dpmf_export_options *options,
                               const struct dpmf_run *run, struct dpmf_export_report *report,
                               struct dpmf_error *error);

/* ------------------------------------------------------------------------------------------------
 * The audit: an attempt to catch a private mechanism revealing more than it claims
 * ---------------------------------------------------------------------------------------------- */

/* How long a mechanism is attacked. */
struct dpmf_audit_options {
    size_t size;       /* size of this struct, set by _default() */
    uint64_t runs;     /* runs with the first canary; there are about as many without */
    uint64_t users;    /* largest number of users of the store that take part */
    double confidence; /* confidence of the bounds, 0.5 to 0.9999 */
    double minutes;    /* time limit, after which the runs made so far are judged; 0: none */
};

/* The default audit: enough runs for a meaningful bound.
 *
 * @param options  receives the defaults
 * @param size     the size of `*options`
 */
DPMF_API void dpmf_audit_options_init(struct dpmf_audit_options *options, size_t size);
DPMF_DEFAULT(dpmf_audit_options)

/* What a mechanism can be accused of: bits. */
enum dpmf_audit_finding {
    DPMF_AUDIT_LOSS = 1,  /* canaries are detected better than the promise allows */
    DPMF_AUDIT_NORM = 2,  /* someone contributes more than the norm bound, or than they wished */
    DPMF_AUDIT_NOISE = 4, /* the noise of a round differs from what is listed */
    DPMF_AUDIT_DRAWS = 8, /* what was drawn or published is not what is listed */
    DPMF_AUDIT_STATEMENT = 16, /* the statement does not add up, or claims too much */
    DPMF_AUDIT_CATALOGUE = 32, /* the list of items follows from the ratings */
    DPMF_AUDIT_WORLDS = 64,    /* adding a user changes more than that user's contribution */
    DPMF_AUDIT_LAST = DPMF_AUDIT_WORLDS,
};

/* The largest number of findings, and the size of the sentence of each. */
enum { DPMF_AUDIT_FINDINGS_MAX = 7, DPMF_AUDIT_TEXT_MAX = 200 };

/* What the audit found. */
struct dpmf_audit_report {
    unsigned findings; /* bits of enum dpmf_audit_finding; 0: nothing was found */
    size_t n;          /* number of findings */
    char finding[DPMF_AUDIT_FINDINGS_MAX][DPMF_AUDIT_TEXT_MAX]; /* a sentence each */

    const char *mechanism;                 /* name of the mechanism */
    double mu, epsilon, delta;             /* the promise */
    uint64_t users, users_of_store, items; /* numbers of each */

    /* Worlds, data sets with and without a canary, whose sums are compared exactly. */
    uint64_t worlds;        /* pairs of worlds, with a canary and without */
    uint64_t world_rounds;  /* rounds of all pairs */
    uint64_t world_numbers; /* sums compared */
    /* Largest contribution of a canary without a wish, as a share of the bound */
    double world_norm;

    /* Runs with fresh noise. */
    uint64_t runs_in, runs_out; /* runs with the first canary, and without */
    uint64_t guessed_right;     /* right guesses about it */
    uint64_t canaries;          /* canaries in each run */
    uint64_t guesses;           /* guesses about all canaries */
    uint64_t guesses_right;     /* right ones */
    double mu_low;      /* lower bound on the mechanism's mu, with the confidence asked for */
    double epsilon_low; /* lower bound on its epsilon at this delta; both hold together */
    double confidence;  /* confidence of both */
    double mu_canary;   /* largest mu the first canary could show, by its contribution's norm */

    uint64_t contributions; /* contributions whose norm was checked */
    uint64_t draws;         /* draws of noise, over all runs */
    uint64_t noisy_rounds;  /* rounds, over all runs */
    double noise_numbers;   /* noisy numbers measured */
    double noise;           /* their deviation, as a share of what is listed */
    double seconds;         /* time taken */
    uint64_t spare[4];
};

/* Audits a mechanism. Repeats everything that dpmf_release_make does on users of the store, with
 * and without canaries: first whole worlds, which are compared exactly, then many runs with fresh
 * noise. Nothing is published, kept or spent.
 *
 * @param store    the ratings
 * @param release  the promise to attack, as for dpmf_release_make; may be NULL
 * @param options  how long to attack it
 * @param run      threads, memory and callbacks
 * @param report   receives what was found
 * @param error    receives the description of a failure
 * @return 0 when nothing was found, or a negative code
 * @error DPMF_ERR_PRIVACY_ACCUSED  the mechanism reveals more than it claims
 * @error DPMF_ERR_PRIVACY_*        as for dpmf_release_make
 * @error DPMF_ERR_USAGE_*          an option cannot be used, time was too short, or run.memory too
 *                                  little
 * @error DPMF_ERR_INPUT_*          a public file is bad
 * @error DPMF_ERR_STORE_*          the store is damaged
 * @error DPMF_ERR_MODEL_CORRUPT    numbers of a model are not finite
 * @error DPMF_ERR_IO_*             a file cannot be read or written
 * @error DPMF_ERR_CLUSTER_LOST     a process of the cluster was lost
 * @error DPMF_ERR_BASE_RANDOM      the system gave no random bytes
 */
DPMF_API int dpmf_audit(struct dpmf_store *store, const struct dpmf_release_options *release,
                        const struct dpmf_audit_options *options, const struct dpmf_run *run,
                        struct dpmf_audit_report *report, struct dpmf_error *error);

#ifdef __cplusplus
}
#endif

#endif
