/*
 * dpmf at home: recommendations from a public release and a person's own ratings.
 *
 * Everything needed by a person who has a model and nothing else: errors, opening a model from a
 * file or from memory, predictions, the best items, similar items, reasons, a user fitted to their
 * own ratings and updated with every new one, and a map of the items. libdpmf-client contains this
 * and nothing more, and needs only the C library. libdpmf contains it too, and dpmf.h includes this
 * header.
 *
 * Errors. A function that can fail returns 0 or a negative enum dpmf_code, and describes the
 * failure in its last argument. Each function lists the codes it can return. Four codes are left
 * out of the lists, because nearly every function can return them: DPMF_ERR_BASE_NO_MEMORY,
 * DPMF_ERR_BASE_BUG, DPMF_ERR_USAGE_NULL and DPMF_ERR_USAGE_STRUCT.
 *
 * NULL. The arguments `error`, `options`, `run` and `report` may always be NULL, and so may the
 * object given to a `_free` or `_close` function. Any other pointer may be NULL only where its
 * description says so. If another one is NULL, a function that returns a code returns
 * DPMF_ERR_USAGE_NULL; one that returns something else returns what it returns for an unknown id:
 * NULL, 0, false, NaN or UINT64_MAX.
 *
 * Threads. Nothing here prints, exits or keeps global state. Every function may be called from any
 * thread; an object that a call changes must not be used by another thread at the same time.
 *
 * The examples in these comments assume a function with `struct dpmf_error error = {0};`. The tests
 * compile and run all of them.
 */
#ifndef DPMF_CLIENT_H
#define DPMF_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) && !defined(_WIN32)
#define DPMF_API __attribute__((visibility("default")))
#else /* on Windows the library's .def file says what it offers */
#define DPMF_API
#endif
#if defined(__GNUC__) && defined(_WIN32)
#define DPMF_PRINTF(text, first) __attribute__((format(gnu_printf, text, first)))
#elif defined(__GNUC__)
#define DPMF_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define DPMF_PRINTF(text, first)
#endif

/* ------------------------------------------------------------------------------------------------
 * Errors
 * ---------------------------------------------------------------------------------------------- */

/* Error codes, grouped by hundreds. The comment on each is its dpmf_error_sentence. */
enum dpmf_code {
    /* nothing went wrong */
    DPMF_OK = 0,

    /* there is not enough memory */
    DPMF_ERR_BASE_NO_MEMORY = -101,
    /* the run was cancelled */
    DPMF_ERR_BASE_CANCELLED = -102,
    /* a thread could not be started */
    DPMF_ERR_BASE_THREAD = -103,
    /* dpmf contradicted itself, which is a bug */
    DPMF_ERR_BASE_BUG = -104,
    /* the system gave no random bytes */
    DPMF_ERR_BASE_RANDOM = -105,
    /* a matrix is not positive definite, so its equations have no stable solution */
    DPMF_ERR_BASE_NOT_DEFINITE = -106,

    /* a value cannot be used here */
    DPMF_ERR_USAGE_VALUE = -201,
    /* two settings contradict each other */
    DPMF_ERR_USAGE_CONFLICT = -202,
    /* the memory allowed is too little for this work */
    DPMF_ERR_USAGE_MEMORY = -203,
    /* a pointer that must not be NULL is NULL */
    DPMF_ERR_USAGE_NULL = -204,
    /* a struct of options is of another version, or was not initialised */
    DPMF_ERR_USAGE_STRUCT = -205,

    /* a file or directory does not exist */
    DPMF_ERR_IO_MISSING = -301,
    /* a file or directory may not be used */
    DPMF_ERR_IO_PERMISSION = -302,
    /* there is a directory where a file should be */
    DPMF_ERR_IO_DIRECTORY = -303,
    /* reading failed */
    DPMF_ERR_IO_READ = -304,
    /* writing failed */
    DPMF_ERR_IO_WRITE = -305,
    /* there is no space left to write to */
    DPMF_ERR_IO_NO_SPACE = -306,
    /* a server cannot be reached, or went away */
    DPMF_ERR_IO_CONNECTION = -307,
    /* a library that this needs is missing */
    DPMF_ERR_IO_LIBRARY = -308,

    /* the format of the input is unknown */
    DPMF_ERR_INPUT_UNKNOWN_FORMAT = -401,
    /* the input holds no ratings */
    DPMF_ERR_INPUT_EMPTY = -402,
    /* the input's header makes no sense */
    DPMF_ERR_INPUT_HEADER = -403,
    /* a record has the wrong number of columns */
    DPMF_ERR_INPUT_COLUMNS = -404,
    /* a quoted field is not closed properly */
    DPMF_ERR_INPUT_QUOTE = -405,
    /* a field that should be a number is not one */
    DPMF_ERR_INPUT_NUMBER = -406,
    /* a rating is infinite or not a number */
    DPMF_ERR_INPUT_NOT_FINITE = -407,
    /* a rating is outside the range allowed */
    DPMF_ERR_INPUT_OUT_OF_RANGE = -408,
    /* an id is empty or cannot be used */
    DPMF_ERR_INPUT_ID = -409,
    /* an id is longer than 64 KiB */
    DPMF_ERR_INPUT_ID_TOO_LONG = -410,
    /* a line is too long to be one record */
    DPMF_ERR_INPUT_LINE_TOO_LONG = -411,
    /* a count in the input does not match what follows it */
    DPMF_ERR_INPUT_COUNT = -412,
    /* a timestamp cannot be understood */
    DPMF_ERR_INPUT_TIME = -413,
    /* a line is not the JSON object it should be */
    DPMF_ERR_INPUT_JSON = -414,
    /* the compressed data is damaged or cut off */
    DPMF_ERR_INPUT_COMPRESSED = -415,
    /* there are more users or items than can be counted */
    DPMF_ERR_INPUT_TOO_MANY = -416,
    /* a query cannot be run, or gives no ratings */
    DPMF_ERR_INPUT_QUERY = -417,
    /* the file is not a database, or is damaged */
    DPMF_ERR_INPUT_DATABASE = -418,
    /* the Arrow data is malformed, or uses what is not supported */
    DPMF_ERR_INPUT_ARROW = -419,
    /* the Parquet file is damaged, or uses what is not supported */
    DPMF_ERR_INPUT_PARQUET = -420,

    /* the file is not a ratings store */
    DPMF_ERR_STORE_NOT_A_STORE = -501,
    /* the store was written by a newer version */
    DPMF_ERR_STORE_VERSION = -502,
    /* the store is cut off */
    DPMF_ERR_STORE_TRUNCATED = -503,
    /* the store is damaged */
    DPMF_ERR_STORE_CORRUPT = -504,

    /* the ratings have no timestamps */
    DPMF_ERR_RATINGS_NO_TIMES = -601,
    /* no ratings are left */
    DPMF_ERR_RATINGS_NONE_LEFT = -602,
    /* no ratings can have the shape asked for */
    DPMF_ERR_RATINGS_SHAPE = -603,

    /* the file is not a model */
    DPMF_ERR_MODEL_NOT_A_MODEL = -701,
    /* the model is damaged */
    DPMF_ERR_MODEL_CORRUPT = -702,
    /* the file is another kind of model than this needs */
    DPMF_ERR_MODEL_KIND = -703,
    /* the model does not know this user or item */
    DPMF_ERR_MODEL_UNKNOWN_ID = -704,

    /* training diverged */
    DPMF_ERR_TRAIN_DIVERGED = -801,
    /* the snapshot belongs to another run */
    DPMF_ERR_TRAIN_MISMATCH = -802,

    /* this would break the promise of privacy */
    DPMF_ERR_PRIVACY_REFUSED = -901,
    /* the population's privacy budget does not allow it */
    DPMF_ERR_PRIVACY_BUDGET = -902,
    /* the release is not what its statement says */
    DPMF_ERR_PRIVACY_NOT_VERIFIED = -903,
    /* the ledger is damaged */
    DPMF_ERR_PRIVACY_LEDGER = -904,
    /* the audit found more leakage than is claimed */
    DPMF_ERR_PRIVACY_ACCUSED = -905,

    /* the processes of a cluster could not find each other */
    DPMF_ERR_CLUSTER_START = -1001,
    /* a process of the cluster was lost */
    DPMF_ERR_CLUSTER_LOST = -1002,
};

/* The size of each text of an error, including the terminating NUL. */
enum { DPMF_ERROR_TEXT_MAX = 512 };

/* What went wrong, where, and how to fix it. Plain data: copy it freely.
 *
 * `message` and `hint` name settings and tasks in braces, because every front end has its own names
 * for them. dpmf_error_text and dpmf_error_format render them:
 *
 * - {memory} is a setting: --memory on the command line, memory= in Python;
 * - {learning-rate 0.1} is a setting with a value: --learning-rate 0.1, or "learning rate 0.1" in
 *   words;
 * - {:ledger show} is a task: dpmf ledger show;
 * - {{ and {} are the characters { and }.
 *
 * A name consists of lower-case letters and dashes. A value is everything from the blank after the
 * name to the closing brace. Braces in text from outside, such as ids and file names, are always
 * escaped. `file` is not rendered: it is shown as it is. */
struct dpmf_error {
    int code;                          /* enum dpmf_code; 0 while nothing has gone wrong */
    int64_t line;                      /* line in `file`, from 1; 0 when there is none */
    int64_t column;                    /* column in bytes, from 1; 0 when there is none */
    char file[DPMF_ERROR_TEXT_MAX];    /* the input or output concerned; "" when there is none */
    char message[DPMF_ERROR_TEXT_MAX]; /* what happened, without file and line */
    char hint[DPMF_ERROR_TEXT_MAX];    /* what to do about it; may be "" */
};

/* Describes a code in one sentence.
 *
 * @param code  an enum dpmf_code
 * @return the sentence; for an unknown code a general one, never NULL
 */
DPMF_API const char *dpmf_error_sentence(int code);

/* Names a code.
 *
 * @param code  an enum dpmf_code
 * @return the name, such as "DPMF_ERR_IO_MISSING"; NULL for an unknown code
 */
DPMF_API const char *dpmf_error_name(int code);

/* A callback that writes a setting the way a front end names it.
 *
 * @param self   the pointer given to dpmf_error_text or dpmf_error_format
 * @param name   the name of the setting; a leading colon marks a task
 * @param value  its value; NULL when it has none
 * @param text   receives the text, always terminated by NUL
 * @param size   the size of `text`
 * @return the length of the whole text, as snprintf does
 */
typedef int dpmf_setting_writer(void *self, const char *name, const char *value, char *text,
                                size_t size);

/* Renders a message, a hint or a warning for people.
 *
 * @param text   the text, with settings in braces
 * @param write  writes the settings; NULL: they become words
 * @param self   passed to `write`; may be NULL
 * @param out    receives the rendered text, always terminated by NUL; may be NULL when `size` is 0
 * @param size   the size of `out`
 * @return the length of the whole text, as snprintf does
 */
DPMF_API int dpmf_error_text(const char *text, dpmf_setting_writer *write, void *self, char *out,
                             size_t size);

/* Writes a text that dpmf_error_text can render, for programs that fill in a struct dpmf_error of
 * their own. Braces in the arguments are escaped, and anything that could be a password becomes
 * ***.
 *
 * @param text    receives the text, cut to `size` and terminated by NUL
 * @param size    the size of `text`
 * @param format  as for printf; may name settings in braces
 */
DPMF_API void dpmf_error_write(char *text, size_t size, const char *format, ...) DPMF_PRINTF(3, 4);

/* Writes "file:line:column: message", as much of it as is known, rendered for people.
 *
 *     struct dpmf_model *model = NULL;
 *     struct dpmf_error wrong = {0};
 *     if (dpmf_model_open("no-such-file", &model, &wrong) != 0) {
 *         char text[2 * DPMF_ERROR_TEXT_MAX];
 *         dpmf_error_format(&wrong, NULL, NULL, text, sizeof text);
 *         printf("%s (%s)\n", text, dpmf_error_name(wrong.code));
 *     }
 *
 * @param error  the error; here it must not be NULL
 * @param write  writes the settings; NULL: they become words
 * @param self   passed to `write`; may be NULL
 * @param out    receives the text, always terminated by NUL; may be NULL when `size` is 0
 * @param size   the size of `out`
 * @return the length of the whole text, as snprintf does
 */
DPMF_API int dpmf_error_format(const struct dpmf_error *error, dpmf_setting_writer *write,
                               void *self, char *out, size_t size);

/* Replaces anything that could be a password (user:SECRET@host, password=SECRET) by ***, for
 * programs that quote their input in messages of their own. The library's errors are masked
 * already.
 *
 * @param text    the message
 * @param masked  receives the masked message, always terminated by NUL; may be NULL when `size` is
 *                0
 * @param size    the size of `masked`
 * @return the length of the whole text, as snprintf does
 */
DPMF_API int dpmf_error_mask(const char *text, char *masked, size_t size);

/* Names the version of the library.
 *
 * @return the version, such as "0.1.0"
 */
DPMF_API const char *dpmf_version(void);

/* ------------------------------------------------------------------------------------------------
 * A model and its use
 * ---------------------------------------------------------------------------------------------- */

/* An open model: a release or a checkpoint, read completely. */
struct dpmf_model;

/* Opens a release or a checkpoint. The file is not trusted: it is checked as a whole, or refused.
 *
 * @param path   the file
 * @param model  receives the model, to be closed with dpmf_model_close; NULL after a failure
 * @param error  receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_IO_*               the file cannot be read
 * @error DPMF_ERR_MODEL_NOT_A_MODEL  the file is not a model
 * @error DPMF_ERR_MODEL_CORRUPT      the model is damaged
 * @error DPMF_ERR_MODEL_KIND         the model is of a newer format, or of a kind dpmf does not
 *                                    know
 * @error DPMF_ERR_INPUT_TOO_MANY     it has more users or items than can be counted
 * @error DPMF_ERR_USAGE_VALUE        $DPMF_KERNELS names kernels that this machine does not have
 */
DPMF_API int dpmf_model_open(const char *path, struct dpmf_model **model, struct dpmf_error *error);

/* Opens a model from memory. The bytes are not needed afterwards.
 *
 * @param bytes  the contents of a model file; may be NULL when n is 0
 * @param n      the number of bytes
 * @param name   what errors call the model
 * @param model  receives the model, to be closed with dpmf_model_close; NULL after a failure
 * @param error  receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_IO_READ            the bytes end too early
 * @error DPMF_ERR_MODEL_NOT_A_MODEL  the bytes are not a model
 * @error DPMF_ERR_MODEL_CORRUPT      the model is damaged
 * @error DPMF_ERR_MODEL_KIND         the model is of a newer format, or of a kind dpmf does not
 *                                    know
 * @error DPMF_ERR_INPUT_TOO_MANY     it has more users or items than can be counted
 * @error DPMF_ERR_USAGE_VALUE        $DPMF_KERNELS names kernels that this machine does not have
 */
DPMF_API int dpmf_model_open_memory(const void *bytes, size_t n, const char *name,
                                    struct dpmf_model **model, struct dpmf_error *error);

/* Closes a model and frees its memory.
 *
 * @param model  the model; may be NULL
 */
DPMF_API void dpmf_model_close(struct dpmf_model *model);

/* What a model says about itself. */
struct dpmf_model_info {
    const char *kind;    /* "checkpoint", or "release", which has no users */
    uint64_t users;      /* number of users; 0 in a release */
    uint64_t items;      /* number of items */
    uint32_t factors;    /* length of a vector */
    double offset;       /* average that predictions start from */
    double min, max;     /* scale of the ratings */
    uint32_t epochs;     /* epochs of training */
    uint64_t file_bytes; /* size of the file */

    /* The training run of a checkpoint. */
    uint64_t ratings;       /* number of training ratings */
    uint64_t seed;          /* seed of the run */
    double learning_rate;   /* first step size */
    double decay;           /* exponent of the step size's decay */
    double regularization;  /* L2 penalty */
    double best_valid;      /* best validation error; NaN without a validation set */
    uint32_t best_epoch;    /* epoch of the best validation error */
    const char *provenance; /* how the model was made, as JSON; NULL in a release */
    uint32_t samples;       /* posterior samples averaged; 0 when no sampler made the model */
    double noise_precision; /* 1 / variance of a rating given a sample */

    /* A release: its statement. A sampler's model also has the two penalties. */
    const char *statement; /* privacy statement as JSON, not verified: see dpmf_release_statement */
    double factor_penalty; /* penalty that a user's vector is fitted with */
    double bias_penalty;   /* penalty that a user's bias is fitted with */

    const char *goal;  /* "rating", or "ranking": scores order items and are not ratings */
    double unobserved; /* ranking: weight of a pair without an event */
    double exponent;   /* ranking: exponent of a row's number of events in its penalty */
    double like;       /* ranking: smallest rating that counts as an event; -INFINITY: all do */

    bool is_unchecked;   /* a checkpoint of 0.1.0 without a checksum: damage goes unnoticed */
    bool has_counts;     /* it counts the people who had each item: lists are ordered by score */
    bool is_of_events;   /* ranking: learned from events, which ratings were not turned into */
    double taste_weight; /* release of events: factor of taste in scores; 1 in other models */
    double count_weight; /* ranking: weight of an event that happened n times is 1 + this ln n */
    double rated_min, rated_max; /* ranking by likes: scale of the ratings that it learned from; 0
                                    and 0 where there is none */
};

/* Describes a model.
 *
 * @param model  the model
 * @param info   receives the description; its texts live as long as the model
 */
DPMF_API void dpmf_model_info(const struct dpmf_model *model, struct dpmf_model_info *info);

/* Finds the number of a user or an item by its id.
 *
 * @param model   the model
 * @param id      the bytes of the id
 * @param length  the number of bytes
 * @return the number, from 0; UINT64_MAX when the model does not know the id
 */
DPMF_API uint64_t dpmf_model_find_user(const struct dpmf_model *model, const char *id,
                                       size_t length);
DPMF_API uint64_t dpmf_model_find_item(const struct dpmf_model *model, const char *id,
                                       size_t length);

/* Finds the id of a user by number.
 *
 * @param model   the model
 * @param user    the number of the user
 * @param length  receives the length of the id; may be NULL
 * @return the bytes of the id, not terminated by NUL, which live as long as the model; NULL when
 *         there is no such user
 */
DPMF_API const char *dpmf_model_user_id(const struct dpmf_model *model, uint64_t user,
                                        size_t *length);

/* Finds the id of an item by number.
 *
 * @param model   the model
 * @param item    the number of the item
 * @param length  receives the length of the id; may be NULL
 * @return the bytes of the id, not terminated by NUL, which live as long as the model; NULL when
 *         there is no such item
 */
DPMF_API const char *dpmf_model_item_id(const struct dpmf_model *model, uint64_t item,
                                        size_t *length);

/* The vectors of all items or users, without a copy.
 *
 * @param model   the model
 * @param stride  receives the number of floats from one row to the next; the first info.factors of
 *                a row are the vector. May be NULL
 * @return the rows, which live as long as the model; NULL for the users of a release
 */
DPMF_API const float *dpmf_model_item_factors(const struct dpmf_model *model, size_t *stride);
DPMF_API const float *dpmf_model_user_factors(const struct dpmf_model *model, size_t *stride);

/* The biases of all items or users, without a copy.
 *
 * @param model  the model
 * @return one float for each, which live as long as the model; NULL for the users of a release
 */
DPMF_API const float *dpmf_model_item_biases(const struct dpmf_model *model);
DPMF_API const float *dpmf_model_user_biases(const struct dpmf_model *model);

/* How many people had each item, without a copy: exact in a checkpoint; in a release noisy, and
 * relative to the average item.
 *
 * @param model  the model
 * @return one float for each item, which live as long as the model; NULL where info.has_counts is
 *         false
 */
DPMF_API const float *dpmf_model_item_counts(const struct dpmf_model *model);

/* What is publicly known about the items of a model. */
struct dpmf_item_facts {
    const uint16_t *years;      /* year of each item; 0: unknown; may be NULL */
    const uint64_t *kind_start; /* where the kinds of each item begin; one more than items */
    const uint16_t *kinds;      /* their kinds, each below n_kinds */
    uint64_t n_kinds;           /* number of kinds; 0: none are known, the two before may be NULL */
    uint64_t spare[4];          /* 0 */
};

/* Gives a release what is publicly known about its items, such as genres and years. Lists for
 * people with ratings of their own are then better: see docs/goals.md. Call it once, before anyone
 * is fitted; users fitted before do not change.
 *
 * @param model  a release with counts and at most 64 factors
 * @param facts  what is known, which is copied
 * @param error  receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_MODEL_KIND    the model is no such release
 * @error DPMF_ERR_USAGE_STRUCT  `spare` is not 0
 * @error DPMF_ERR_USAGE_VALUE   kinds are not in order, or the model has facts already
 */
DPMF_API int dpmf_model_set_facts(struct dpmf_model *model, const struct dpmf_item_facts *facts,
                                  struct dpmf_error *error);

/* Predicts the rating of a pair.
 *
 * @param model  the model
 * @param user   the number of the user; UINT64_MAX: an unknown one
 * @param item   the number of the item; UINT64_MAX: an unknown one
 * @return the prediction, not clamped to the scale; for an unknown user or item the average plus
 *         the bias of the other
 */
DPMF_API double dpmf_model_predict(const struct dpmf_model *model, uint64_t user, uint64_t item);

/* Finds the interval that contains the rating of a pair with a given probability. It covers both
 * the uncertainty of the model, measured by the spread of its samples, and the noise of a rating.
 *
 * @param model  a model that averages the samples of a sampler
 * @param user   the number of the user
 * @param item   the number of the item
 * @param level  the probability, between 0 and 1; half of the rest is below the interval
 * @param low    receives the lower end, not clamped to the scale; NaN for an unknown user or item
 * @param high   receives the upper end; NaN for an unknown user or item
 * @param error  receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_USAGE_VALUE  `level` is not between 0 and 1
 * @error DPMF_ERR_MODEL_KIND   the model does not average samples
 */
DPMF_API int dpmf_model_interval(const struct dpmf_model *model, uint64_t user, uint64_t item,
                                 double level, double *low, double *high, struct dpmf_error *error);

/* An item of a list. */
struct dpmf_scored_item {
    uint64_t item; /* number of the item */
    double score;  /* what the list is sorted by */
};

/* What lists are ordered by. The default is a score, defined in docs/goals.md: the sum of what
 * everyone likes, how a person rates, and twice the dial times the person's own taste. A model
 * without counts (info.has_counts) is ordered by predicted ratings. */
struct dpmf_order {
    bool by_rating;    /* by the predicted rating alone */
    double taste;      /* the dial, from 0, the crowd, to 1, the person's taste */
    uint64_t spare[4]; /* 0 */
};

/* The default order: by score, with the dial in the middle, at 0.5.
 *
 * @return the order
 */
DPMF_API struct dpmf_order dpmf_order_default(void);

/* Why an item is in a list. */
enum dpmf_reason {
    DPMF_REASON_NEITHER, /* neither of the following: it is the best of the rest */
    DPMF_REASON_CROWD,   /* popular with nearly everyone: the person's taste adds little */
    DPMF_REASON_TASTE,   /* the person's taste */
};

/* A score and its parts, which add up to it. In an order by rating, the score is the predicted
 * rating, and its parts add up to that. */
struct dpmf_score {
    double total;            /* the score */
    double crowd;            /* liked by everyone: the same for all people */
    double habit;            /* how the person rates, for all items; 0 in a model that ranks */
    double taste;            /* the person's taste, times the dial; 0 for an average item */
    double rating;           /* the predicted rating, not clamped; NaN in a model that ranks */
    enum dpmf_reason reason; /* why the item is in a list */
    uint64_t spare[4];
};

/* Finds the best items for a user: best first, ties by item number. The scores are the predictions,
 * computed in double precision, so the list is the same on every machine.
 *
 * @param model    the model
 * @param user     the number of the user; UINT64_MAX: an unknown one
 * @param order    what the list is ordered by; may be NULL: the default
 * @param exclude  items to leave out, a bitmap: item i is bit i % 8 of byte i / 8; may be NULL
 * @param include  the only items to consider, a bitmap too; may be NULL
 * @param n        the number of items wanted
 * @param out      receives up to n items
 * @param error    receives the description of a failure
 * @return the number of items found, or a negative code
 * @error DPMF_ERR_USAGE_VALUE  the dial is not within [0, 1]
 * @error DPMF_ERR_MODEL_KIND   the model's items cannot be ordered this way
 */
DPMF_API int64_t dpmf_model_recommend(const struct dpmf_model *model, uint64_t user,
                                      const struct dpmf_order *order, const uint8_t *exclude,
                                      const uint8_t *include, size_t n,
                                      struct dpmf_scored_item *out, struct dpmf_error *error);

/* Finds the items most similar to one: those whose vectors point in the most similar direction. The
 * item itself is left out. The order is that of dpmf_model_recommend.
 *
 *     struct dpmf_scored_item alike[3];
 *     struct dpmf_model *model = NULL;
 *     if (dpmf_model_open("model.safetensors", &model, &error) == 0) {
 *         uint64_t item = dpmf_model_find_item(model, "7", 1);
 *         int64_t n = dpmf_model_similar(model, item, 3, alike, &error);
 *         for (int64_t i = 0; i < n; i++) {
 *             size_t length;
 *             const char *id = dpmf_model_item_id(model, alike[i].item, &length);
 *             printf("%.*s is %.0f%% like 7\n", (int)length, id, 100 * alike[i].score);
 *         }
 *     }
 *     dpmf_model_close(model);
 *
 * @param model  the model
 * @param item   the number of the item
 * @param n      the number of items wanted
 * @param out    receives up to n items; the score is the cosine of the angle between the vectors
 * @param error  receives the description of a failure
 * @return the number of items found, or a negative code
 * @error DPMF_ERR_MODEL_UNKNOWN_ID  the model does not have this item
 * @error DPMF_ERR_MODEL_KIND        the model has factors, but all of its vectors are 0
 */
DPMF_API int64_t dpmf_model_similar(const struct dpmf_model *model, uint64_t item, size_t n,
                                    struct dpmf_scored_item *out, struct dpmf_error *error);

/* How many items would be at least so similar to one by chance, if all vectors pointed in random
 * directions. With few factors it is many, and whatever a vector was learned from, similarity then
 * says little: with three factors, of 1,682 items ten have a cosine of .988 by chance. It follows
 * from the numbers of items and of factors alone.
 *
 * @param model   the model
 * @param cosine  the cosine, such as that of the last item that dpmf_model_similar found
 * @return the number; NaN without factors, without a model, or where `cosine` is NaN
 */
DPMF_API double dpmf_model_similar_by_chance(const struct dpmf_model *model, double cosine);

/* The same where it puts a list of similar items in doubt: in a release, whose noise allows few
 * factors, where chance would give a quarter of the list, and not where all items are in it.
 *
 * @param model   the model
 * @param n       the number of items in the list
 * @param cosine  the cosine of the last of them
 * @return the number of items; 0 where it is too small to be said, and without a model
 */
DPMF_API double dpmf_model_similar_in_doubt(const struct dpmf_model *model, size_t n,
                                            double cosine);

/* A person's own rating. */
struct dpmf_own_rating {
    uint64_t item; /* number of the item */
    double rating; /* the rating; to a model of events, how often it happened */
};

/* Marks the items of ratings in a bitmap over the model's items, as `exclude` takes it.
 *
 * @param ratings  the ratings, of items of the model; may be NULL when n is 0
 * @param n        the number of ratings
 * @param bitmap   the bitmap, in which bits are set
 */
DPMF_API void dpmf_ratings_mark(const struct dpmf_own_rating *ratings, size_t n, uint8_t *bitmap);

/* Explains why an item is in a person's list: the parts of its score, and which ratings the part of
 * taste is due to. The person's bias and vector are fitted to the ratings, as by dpmf_user_fold_in.
 *
 * @param model    the model
 * @param ratings  the person's ratings; may be NULL when n is 0
 * @param n        the number of ratings
 * @param order    what the list is ordered by; may be NULL: the default
 * @param item     the number of the item to explain
 * @param score    receives the score and its parts
 * @param shares   receives n numbers, which add up to score->taste. Ratings of unknown items, and
 *                 those superseded by a later rating of the same item, have 0. May be NULL when n
 *                 is 0
 * @param error    receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_INPUT_NOT_FINITE   a rating is not finite
 * @error DPMF_ERR_INPUT_OUT_OF_RANGE  to a model of events, a count is no whole number above 0
 * @error DPMF_ERR_MODEL_UNKNOWN_ID   the model does not have this item
 * @error DPMF_ERR_MODEL_KIND         the model's items cannot be ordered this way
 * @error DPMF_ERR_USAGE_VALUE        the dial is not within [0, 1]
 * @error DPMF_ERR_BASE_NOT_DEFINITE  the equations have no stable solution
 */
DPMF_API int dpmf_model_explain(const struct dpmf_model *model,
                                const struct dpmf_own_rating *ratings, size_t n,
                                const struct dpmf_order *order, uint64_t item,
                                struct dpmf_score *score, double *shares, struct dpmf_error *error);

/* A person the model was not trained on: the bias and the vector that fit their ratings best, with
 * the model's regularisation and its items unchanged. A user belongs to its model, which must
 * outlive it; the argument `model` below is always that one. */
struct dpmf_user;

/* Fits a user to ratings. Items that the model does not know are ignored; of two ratings of one
 * item the last one counts. Without ratings the bias and the vector are 0.
 *
 *     struct dpmf_own_rating mine[] = {{3, 5}, {17, 1}, {8, 4}};
 *     struct dpmf_scored_item best[5];
 *     struct dpmf_model *model = NULL;
 *     struct dpmf_user *user = NULL;
 *     if (dpmf_model_open("release.safetensors", &model, &error) == 0 &&
 *         dpmf_user_fold_in(model, mine, 3, &user, &error) == 0) {
 *         int64_t n = dpmf_user_recommend(model, user, NULL, NULL, NULL, 5, best, &error);
 *         for (int64_t i = 0; i < n; i++)
 *             printf("item %" PRIu64 ": %.2f\n", best[i].item, best[i].score);
 *     }
 *     dpmf_user_free(user);
 *     dpmf_model_close(model);
 *
 * @param model    the model
 * @param ratings  the ratings; may be NULL when n is 0
 * @param n        the number of ratings
 * @param user     receives the user, to be freed with dpmf_user_free; NULL after a failure
 * @param error    receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_INPUT_NOT_FINITE   a rating is not finite
 * @error DPMF_ERR_INPUT_OUT_OF_RANGE  to a model of events, a count is no whole number above 0
 * @error DPMF_ERR_BASE_NOT_DEFINITE  the equations have no stable solution
 */
DPMF_API int dpmf_user_fold_in(const struct dpmf_model *model,
                               const struct dpmf_own_rating *ratings, size_t n,
                               struct dpmf_user **user, struct dpmf_error *error);

/* Makes a user of someone the model was trained on: the bias and the vector are the model's own
 * until a rating changes, and the ratings count as what the person chose.
 *
 * @param model    the model
 * @param number   the number of the user in the model
 * @param ratings  the person's ratings; may be NULL when n is 0
 * @param n        the number of ratings
 * @param user     receives the user, to be freed with dpmf_user_free; NULL after a failure
 * @param error    receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_MODEL_UNKNOWN_ID  the model does not have this user
 * @error DPMF_ERR_INPUT_NOT_FINITE  a rating is not finite
 * @error DPMF_ERR_INPUT_OUT_OF_RANGE  to a model of events, a count is no whole number above 0
 */
DPMF_API int dpmf_user_known(const struct dpmf_model *model, uint64_t number,
                             const struct dpmf_own_rating *ratings, size_t n,
                             struct dpmf_user **user, struct dpmf_error *error);

/* Frees a user.
 *
 * @param user  the user; may be NULL
 */
DPMF_API void dpmf_user_free(struct dpmf_user *user);

/* Predicts the rating a user would give, as dpmf_model_predict does.
 *
 * @param model  the user's model
 * @param user   the user
 * @param item   the number of the item; UINT64_MAX: an unknown one
 * @return the prediction, not clamped to the scale
 */
DPMF_API double dpmf_user_predict(const struct dpmf_model *model, const struct dpmf_user *user,
                                  uint64_t item);

/* Finds the best items for a user, as dpmf_model_recommend does. Items the user has rated are not
 * left out unless `exclude` says so.
 *
 * @param model    the user's model
 * @param user     the user
 * @param order    what the list is ordered by; may be NULL: the default
 * @param exclude  items to leave out, a bitmap; may be NULL
 * @param include  the only items to consider, a bitmap; may be NULL
 * @param n        the number of items wanted
 * @param out      receives up to n items
 * @param error    receives the description of a failure
 * @return the number of items found, or a negative code
 * @error DPMF_ERR_USAGE_VALUE  the dial is not within [0, 1]
 * @error DPMF_ERR_MODEL_KIND   the model's items cannot be ordered this way
 */
DPMF_API int64_t dpmf_user_recommend(const struct dpmf_model *model, const struct dpmf_user *user,
                                     const struct dpmf_order *order, const uint8_t *exclude,
                                     const uint8_t *include, size_t n, struct dpmf_scored_item *out,
                                     struct dpmf_error *error);

/* Scores one item for a user, as a list does.
 *
 * @param model  the user's model
 * @param user   the user
 * @param order  what the score is for; may be NULL: the default
 * @param item   the number of the item; UINT64_MAX: an average one
 * @param score  receives the score and its parts
 * @param error  receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_USAGE_VALUE  the dial is not within [0, 1]
 * @error DPMF_ERR_MODEL_KIND   the model's items cannot be ordered this way
 */
DPMF_API int dpmf_user_score(const struct dpmf_model *model, const struct dpmf_user *user,
                             const struct dpmf_order *order, uint64_t item,
                             struct dpmf_score *score, struct dpmf_error *error);

/* Adds, changes or removes a rating. The result is what fitting all ratings again would give, up to
 * rounding; with a release it takes O(k^2). After a failure the user is as before.
 *
 * @param model   the user's model
 * @param user    the user
 * @param item    the number of the item
 * @param rating  the rating; NaN removes it
 * @param error   receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_INPUT_NOT_FINITE   the rating is infinite
 * @error DPMF_ERR_INPUT_OUT_OF_RANGE  to a model of events, the count is no whole number above 0
 * @error DPMF_ERR_MODEL_UNKNOWN_ID   the model does not have this item
 * @error DPMF_ERR_BASE_NOT_DEFINITE  the equations have no stable solution
 */
DPMF_API int dpmf_user_rate(const struct dpmf_model *model, struct dpmf_user *user, uint64_t item,
                            double rating, struct dpmf_error *error);

/* The ratings of a user, each item once, in the order they were given.
 *
 * @param user     the user
 * @param ratings  receives the ratings, which live until the next change
 * @return the number of ratings
 */
DPMF_API size_t dpmf_user_ratings(const struct dpmf_user *user,
                                  const struct dpmf_own_rating **ratings);

/* The bias of a user.
 *
 * @param user  the user
 * @return the bias
 */
DPMF_API double dpmf_user_bias(const struct dpmf_user *user);

/* The vector of a user.
 *
 * @param user  the user
 * @return info.factors numbers, which live until the next change
 */
DPMF_API const double *dpmf_user_vector(const struct dpmf_user *user);

/* Explains why an item is in a user's list, as dpmf_model_explain does. For a user of the model,
 * the shares cover only what the person chose: the model's own vector cannot be attributed to
 * single ratings.
 *
 * @param model   the user's model
 * @param user    the user
 * @param order   what the list is ordered by; may be NULL: the default
 * @param item    the number of the item to explain
 * @param score   receives the score and its parts
 * @param shares  receives a number for each rating, in the order of dpmf_user_ratings; may be NULL
 *                when there are no ratings
 * @param error   receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_INPUT_NOT_FINITE   a rating is not finite
 * @error DPMF_ERR_MODEL_UNKNOWN_ID   the model does not have this item
 * @error DPMF_ERR_MODEL_KIND         the model's items cannot be ordered this way
 * @error DPMF_ERR_USAGE_VALUE        the dial is not within [0, 1]
 * @error DPMF_ERR_BASE_NOT_DEFINITE  the equations have no stable solution
 */
DPMF_API int dpmf_user_explain(const struct dpmf_model *model, const struct dpmf_user *user,
                               const struct dpmf_order *order, uint64_t item,
                               struct dpmf_score *score, double *shares, struct dpmf_error *error);

/* ------------------------------------------------------------------------------------------------
 * A map of the items: the two directions in which their vectors differ most
 * ---------------------------------------------------------------------------------------------- */

/* A point in the plane for every item. */
struct dpmf_map;

/* Makes the map of a model. The same model gives the same map. Where a model has no factors, every
 * point is 0, 0.
 *
 * @param model  the model
 * @param map    receives the map, to be freed with dpmf_map_free; NULL after a failure
 * @param error  receives the description of a failure
 * @return 0 or a negative code
 */
DPMF_API int dpmf_map_make(const struct dpmf_model *model, struct dpmf_map **map,
                           struct dpmf_error *error);

/* Frees a map.
 *
 * @param map  the map; may be NULL
 */
DPMF_API void dpmf_map_free(struct dpmf_map *map);

/* Finds the place of an item.
 *
 * @param map   the map
 * @param item  the number of the item
 * @param xy    receives the coordinates, each within [-1, 1]; 0, 0 for an unknown item
 */
DPMF_API void dpmf_map_item(const struct dpmf_map *map, uint64_t item, float xy[2]);

/* Finds the place that a user's taste points to.
 *
 * @param map   the map
 * @param user  a user of the same model
 * @param xy    receives the coordinates, on the scale of the items and within [-1, 1]
 */
DPMF_API void dpmf_map_user(const struct dpmf_map *map, const struct dpmf_user *user, float xy[2]);

/* ------------------------------------------------------------------------------------------------
 * Titles: searched, and shown as people write them
 * ---------------------------------------------------------------------------------------------- */

/* The titles of a model's items, with an index. A search changes it: threads that search at the
 * same time need one each. */
struct dpmf_titles;

/* Makes the index of titles. docs/titles.md describes how titles are compared.
 *
 *     static const char text[] = "Dune (1984)\0Matrix, The (1999)\0Solaris (1972)";
 *     struct dpmf_titles *titles = NULL;
 *     uint64_t found[3];
 *     if (dpmf_titles_make(text, sizeof text, 3, NULL, &titles, &error) == 0) {
 *         int64_t n = dpmf_titles_search(titles, "teh matrx", 9, 3, found, NULL, NULL, 0, &error);
 *         for (int64_t i = 0; i < n; i++) {
 *             size_t length;
 *             char shown[100];
 *             const char *title = dpmf_titles_title(titles, found[i], &length);
 *             dpmf_title_show(title, length, shown, sizeof shown);
 *             printf("%s\n", shown);
 *         }
 *     }
 *     dpmf_titles_free(titles);
 *
 * @param text        the title of each item, in their order, each terminated by NUL; an item
 *                    without a title has an empty one. The text is copied
 * @param bytes       the number of bytes, including the last NUL
 * @param items       the number of items
 * @param popularity  one number for each item, which decides between titles that match equally
 *                    well; NULL: the shorter title comes first
 * @param titles      receives the index, to be freed with dpmf_titles_free; NULL after a failure
 * @param error       receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_USAGE_VALUE     there is not a title for each item
 * @error DPMF_ERR_INPUT_TOO_MANY  there are more items than an index takes
 */
DPMF_API int dpmf_titles_make(const char *text, size_t bytes, uint64_t items,
                              const float *popularity, struct dpmf_titles **titles,
                              struct dpmf_error *error);

/* Frees an index.
 *
 * @param titles  the index; may be NULL
 */
DPMF_API void dpmf_titles_free(struct dpmf_titles *titles);

/* The title of an item, as it was given.
 *
 * @param titles  the index
 * @param item    the number of the item
 * @param length  receives its length; may be NULL
 * @return the title, terminated by NUL, which lives as long as the index; NULL when there is no
 *         such item
 */
DPMF_API const char *dpmf_titles_title(const struct dpmf_titles *titles, uint64_t item,
                                       size_t *length);

/* Finds the titles that match what someone typed. Accents, capitals, punctuation, the order of
 * words and missing blanks do not matter; other alphabets are compared by their Latin letters; a
 * typing error or two is forgiven. First come titles that begin as typed, then titles with a word
 * that does, then titles with all words in any order, then titles that contain them. If fewer than
 * three are found, titles with typing errors follow.
 *
 * @param titles   the index
 * @param typed    what was typed; only the first 200 bytes and eight words count
 * @param length   the number of bytes
 * @param n        the number of items wanted
 * @param items    receives up to n items, the best first
 * @param matches  receives the number of matching titles; if those that begin as typed fill
 *                 `items`, only these are counted. May be NULL
 * @param left_out receives the word that was ignored because no title has all words, as it was
 *                 typed, cut to `size` and terminated by NUL; empty when none was. If NULL, no word
 *                 is ignored and nothing is found
 * @param size     the size of `left_out`; 0 means NULL
 * @param error    receives the description of a failure
 * @return the number of items found, or a negative code
 */
DPMF_API int64_t dpmf_titles_search(struct dpmf_titles *titles, const char *typed, size_t length,
                                    size_t n, uint64_t *items, uint64_t *matches, char *left_out,
                                    size_t size, struct dpmf_error *error);

/* Writes a title as people do: "The Matrix (1999)" for "Matrix, The (1999)".
 *
 * @param title   the title
 * @param length  its length
 * @param out     receives the text, always terminated by NUL; may be NULL when `size` is 0
 * @param size    the size of `out`
 * @return the length of the whole text, as snprintf does
 */
DPMF_API size_t dpmf_title_show(const char *title, size_t length, char *out, size_t size);

/* ------------------------------------------------------------------------------------------------
 * A diary: what someone rated, watched, read or heard elsewhere, as services export it
 * ---------------------------------------------------------------------------------------------- */

/* Files of other services, read, and matched with a model's items by title and year. */
struct dpmf_diary;

/* How certain the match of an entry with an item is. */
enum dpmf_match {
    DPMF_MATCH_NONE,   /* no item has such a title */
    DPMF_MATCH_UNSURE, /* several items fit, or one fits only roughly: not used */
    DPMF_MATCH_LIKELY, /* one item, but the year is missing or slightly off, or a subtitle is */
    DPMF_MATCH_SURE,   /* the same title and year, the same title and creator, or the same id */
    DPMF_MATCH_CHOSEN, /* chosen with dpmf_diary_assign */
};

/* The largest number of items that an entry is offered as candidates. */
enum { DPMF_CANDIDATES_MAX = 5 };

/* A title of a diary. Rows about the same title are one entry. */
struct dpmf_diary_entry {
    const char *title;     /* the title as in the file, in UTF-8, terminated by NUL */
    const char *creator;   /* author or artist; "" where the file has none */
    const char *service;   /* name of the service */
    int32_t year;          /* year; 0 where the file has none */
    enum dpmf_match match; /* how sure the match is */
    uint64_t item;         /* number of the item; UINT64_MAX where there is none */
    double rating;         /* the newest rating, as the file has it; NaN where there is none */
    double rescaled;       /* the same on the model's scale; or NaN */
    uint64_t plays;        /* how often it was watched, read or heard */
    int64_t line;          /* line of its first row */
    uint32_t n_candidates; /* number of candidates, when the match is unsure */
    uint64_t candidates[DPMF_CANDIDATES_MAX]; /* the candidates, likeliest first */
    uint64_t spare[4];
};

/* What a diary holds. */
struct dpmf_diary_info {
    const char *service; /* name of the last file's service; NULL before one was read */
    const char *way;     /* what was compared: "title", "artist", "artist and title", ... */
    size_t entries;      /* number of entries */
    size_t rated;        /* entries with a rating */
    uint64_t rows;       /* rows read */
    uint64_t bad;        /* rows that could not be read and were left out */
    int64_t first_bad;   /* line of the first one */
    const char *fault;   /* what is wrong with it */
    uint64_t wishes;     /* rows left out: wanted, and not watched or read yet */
    uint64_t trifles;    /* rows left out: heard for less than 30 seconds, trailers, podcasts */
    size_t sure, likely, unsure, none; /* entries by their match; chosen ones are sure */
    uint64_t files;                    /* files read out of archives */
    uint64_t files_left;    /* other files of archives, which are not histories: not read */
    uint32_t again;         /* ratings of a title that was rated in another row too */
    uint32_t again_undated; /* those of them that have no date which is understood, here or there:
                               the last row counts */
    const char *unused;     /* columns of a table of no known service that are not used, with commas
                           between them; "" where there are none; lives until the next change */
};

/* Names the service that a file is from: "letterboxd", "imdb", "goodreads", "storygraph", "trakt",
 * "netflix", "spotify", "lastfm"; "dpmf" for ratings that the page saved; "titles" for any other
 * table with a column of titles; "zip" for an archive, whose files dpmf_diary_add looks at.
 *
 * @param bytes  the contents of the file, or its first bytes; may be NULL when n is 0
 * @param n      the number of bytes
 * @return the name; NULL for a file of another kind
 */
DPMF_API const char *dpmf_diary_service(const char *bytes, size_t n);

/* Makes an empty diary.
 *
 * @param diary  receives the diary, to be freed with dpmf_diary_free; NULL after a failure
 * @param error  receives the description of a failure
 * @return 0 or a negative code
 */
DPMF_API int dpmf_diary_new(struct dpmf_diary **diary, struct dpmf_error *error);

/* Frees a diary.
 *
 * @param diary  the diary; may be NULL
 */
DPMF_API void dpmf_diary_free(struct dpmf_diary *diary);

/* Reads a file as a service exports it, or the files in a ZIP archive. In an archive, watchlists
 * and files of unknown services are left out; if no file is from a known service, tables with
 * titles are read. An archive may hold 1 GiB, and each file in it 256 MiB. Rows that cannot be read
 * are left out and counted, see struct dpmf_diary_info. If a title has several ratings, the newest
 * counts, by its date or otherwise by its position. Files can be added one after the other.
 *
 * @param diary  the diary
 * @param bytes  the contents of the file
 * @param n      the number of bytes
 * @param name   the name of the file, for errors; a watchlist is refused by its name
 * @param error  receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_INPUT_UNKNOWN_FORMAT  no known service writes such files
 * @error DPMF_ERR_INPUT_QUOTE           a quoted field is not closed
 * @error DPMF_ERR_INPUT_JSON            the file is not JSON as it should be
 * @error DPMF_ERR_INPUT_COUNT           it is about several people
 * @error DPMF_ERR_INPUT_EMPTY           it holds titles that were not watched or read yet, or is an
 *                                       archive without a history
 * @error DPMF_ERR_INPUT_COMPRESSED      the archive is damaged, or its compression is not supported
 * @error DPMF_ERR_INPUT_TOO_MANY        there are more entries than can be counted, or the archive
 *                                       unpacks to too many bytes
 */
DPMF_API int dpmf_diary_add(struct dpmf_diary *diary, const char *bytes, size_t n, const char *name,
                            struct dpmf_error *error);

/* Matches the entries with the items of a model: by id where the file has one that the model knows,
 * and by title, year and creator otherwise. Assignments made before are forgotten.
 *
 * @param diary   the diary
 * @param model   the model
 * @param titles  the titles of its items, of which there must be as many
 * @param error   receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_USAGE_VALUE  the titles are not those of the model
 */
DPMF_API int dpmf_diary_match(struct dpmf_diary *diary, const struct dpmf_model *model,
                              struct dpmf_titles *titles, struct dpmf_error *error);

/* Sets the item of an entry whose match is missing or wrong.
 *
 * @param diary  the diary, which was matched
 * @param entry  the number of the entry
 * @param item   the number of the item; UINT64_MAX: none
 * @param error  receives the description of a failure
 * @return 0 or a negative code
 * @error DPMF_ERR_MODEL_UNKNOWN_ID  there is no such entry or item
 */
DPMF_API int dpmf_diary_assign(struct dpmf_diary *diary, size_t entry, uint64_t item,
                               struct dpmf_error *error);

/* Describes a diary.
 *
 * @param diary  the diary
 * @param info   receives the description; its texts live as long as the diary
 */
DPMF_API void dpmf_diary_info(const struct dpmf_diary *diary, struct dpmf_diary_info *info);

/* Describes an entry.
 *
 * @param diary  the diary
 * @param i      the number of the entry
 * @param entry  receives the description; its texts live until the next change
 * @return whether there is such an entry
 */
DPMF_API bool dpmf_diary_entry(const struct dpmf_diary *diary, size_t i,
                               struct dpmf_diary_entry *entry);

/* The ratings of a diary that was matched, each item once, on the model's scale. For a model that
 * ranks, everything that was watched, read or heard is an event.
 *
 * @param diary    the diary
 * @param ratings  receives the ratings; may be NULL when n is 0
 * @param n        the size of `ratings`; the number of entries is always enough
 * @param error    receives the description of a failure
 * @return the number of ratings, which may be larger than n, or a negative code
 */
DPMF_API int64_t dpmf_diary_ratings(const struct dpmf_diary *diary, struct dpmf_own_rating *ratings,
                                    size_t n, struct dpmf_error *error);

/* Marks all matched items in a bitmap, rated or not, as `exclude` takes it.
 *
 * @param diary   the diary
 * @param bitmap  the bitmap, in which bits are set
 */
DPMF_API void dpmf_diary_mark(const struct dpmf_diary *diary, uint8_t *bitmap);

#ifdef __cplusplus
}
#endif

#endif
