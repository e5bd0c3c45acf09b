/*
 * dpmf at home: recommendations from a public release and ratings of one's own.
 *
 * Everything that a person needs who has a model and nothing else: errors, opening a model from a file or
 * from memory, predictions, the best items, similar ones, reasons, a user fitted to their own ratings who
 * changes with every one of them, and a picture of the items. libdpmf-client has this and no more, and needs
 * the C library alone; libdpmf has it too, and dpmf.h includes this header.
 *
 * Conventions. A function that can fail returns 0 or a negative enum dpmf_code and describes the
 * failure in its last argument, which may be NULL. Outputs are the last arguments before the error.
 * Nothing here prints, exits or keeps global state; every function may be called from any thread,
 * one thread at a time for any one object that it changes.
 *
 * Examples in these comments stand in a function that has `struct dpmf_error error = {0};`; the tests compile and run
 * them all.
 */
#ifndef DPMF_CLIENT_H
#define DPMF_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define DPMF_API __attribute__((visibility("default")))
#define DPMF_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define DPMF_API
#define DPMF_PRINTF(text, first)
#endif

/* ------------------------------------------------------------------------------------------------
 * Errors
 * ---------------------------------------------------------------------------------------------- */

/* Grouped by hundreds; each has a sentence (dpmf_error_sentence). */
enum dpmf_code {
    DPMF_OK = 0,

    DPMF_ERR_BASE_NO_MEMORY = -101,
    DPMF_ERR_BASE_CANCELLED = -102,
    DPMF_ERR_BASE_THREAD = -103,
    DPMF_ERR_BASE_BUG = -104,
    DPMF_ERR_BASE_RANDOM = -105,
    DPMF_ERR_BASE_NOT_DEFINITE = -106,

    DPMF_ERR_USAGE_VALUE = -201,
    DPMF_ERR_USAGE_CONFLICT = -202,
    DPMF_ERR_USAGE_MEMORY = -203,
    DPMF_ERR_USAGE_NULL = -204,
    DPMF_ERR_USAGE_STRUCT = -205,

    DPMF_ERR_IO_MISSING = -301,
    DPMF_ERR_IO_PERMISSION = -302,
    DPMF_ERR_IO_DIRECTORY = -303,
    DPMF_ERR_IO_READ = -304,
    DPMF_ERR_IO_WRITE = -305,
    DPMF_ERR_IO_NO_SPACE = -306,
    DPMF_ERR_IO_CONNECTION = -307,
    DPMF_ERR_IO_LIBRARY = -308,

    DPMF_ERR_INPUT_UNKNOWN_FORMAT = -401,
    DPMF_ERR_INPUT_EMPTY = -402,
    DPMF_ERR_INPUT_HEADER = -403,
    DPMF_ERR_INPUT_COLUMNS = -404,
    DPMF_ERR_INPUT_QUOTE = -405,
    DPMF_ERR_INPUT_NUMBER = -406,
    DPMF_ERR_INPUT_NOT_FINITE = -407,
    DPMF_ERR_INPUT_OUT_OF_RANGE = -408,
    DPMF_ERR_INPUT_ID = -409,
    DPMF_ERR_INPUT_ID_TOO_LONG = -410,
    DPMF_ERR_INPUT_LINE_TOO_LONG = -411,
    DPMF_ERR_INPUT_COUNT = -412,
    DPMF_ERR_INPUT_TIME = -413,
    DPMF_ERR_INPUT_JSON = -414,
    DPMF_ERR_INPUT_COMPRESSED = -415,
    DPMF_ERR_INPUT_TOO_MANY = -416,
    DPMF_ERR_INPUT_QUERY = -417,
    DPMF_ERR_INPUT_DATABASE = -418,

    DPMF_ERR_STORE_NOT_A_STORE = -501,
    DPMF_ERR_STORE_VERSION = -502,
    DPMF_ERR_STORE_TRUNCATED = -503,
    DPMF_ERR_STORE_CORRUPT = -504,

    DPMF_ERR_RATINGS_NO_TIMES = -601,
    DPMF_ERR_RATINGS_NONE_LEFT = -602,
    DPMF_ERR_RATINGS_SHAPE = -603,

    DPMF_ERR_MODEL_NOT_A_MODEL = -701,
    DPMF_ERR_MODEL_CORRUPT = -702,
    DPMF_ERR_MODEL_KIND = -703,
    DPMF_ERR_MODEL_UNKNOWN_ID = -704,

    DPMF_ERR_TRAIN_DIVERGED = -801,
    DPMF_ERR_TRAIN_MISMATCH = -802,

    DPMF_ERR_PRIVACY_REFUSED = -901,
    DPMF_ERR_PRIVACY_BUDGET = -902,
    DPMF_ERR_PRIVACY_NOT_VERIFIED = -903,
    DPMF_ERR_PRIVACY_LEDGER = -904,
    DPMF_ERR_PRIVACY_ACCUSED = -905,

    DPMF_ERR_CLUSTER_START = -1001,
    DPMF_ERR_CLUSTER_LOST = -1002,
};

/* The size of each text of an error, its NUL included. */
enum { DPMF_ERROR_TEXT_MAX = 512 };

/* What went wrong, where, and the one line that would fix it. Plain data: copy it freely.
 *
 * `message` and `hint` name settings and tasks in braces, because each front end calls them
 * something else; dpmf_error_text and dpmf_error_format render them:
 *
 * - {memory} is a setting: --memory on the command line, memory= in Python;
 * - {learning-rate 0.1} has a value: --learning-rate 0.1, or "learning rate 0.1" in words;
 * - {:ledger show} is a task: dpmf ledger show;
 * - {{ and {} are the characters { and }.
 *
 * A name is of small letters and dashes; a value is everything from the blank after it to the
 * closing brace. Braces in what comes from outside (ids, names of files) are always escaped. `file`
 * is no such text: it is shown as it is. */
struct dpmf_error {
    int code;                          /* enum dpmf_code; 0 while nothing has gone wrong */
    int64_t line;                      /* 1-based place in `file`; 0 when there is none */
    int64_t column;                    /* 1-based, in bytes */
    char file[DPMF_ERROR_TEXT_MAX];    /* the input or output it is about; "" when there is none */
    char message[DPMF_ERROR_TEXT_MAX]; /* what happened, without file and line */
    char hint[DPMF_ERROR_TEXT_MAX];    /* what to do about it; may be "" */
};

/* @return the sentence that stands for a code, never NULL */
DPMF_API const char *dpmf_error_sentence(int code);

/* @return the code's name, e.g. "DPMF_ERR_IO_MISSING", or NULL when there is no such code */
DPMF_API const char *dpmf_error_name(int code);

/* Writes a setting as a front end calls it, always ended by NUL. `value` is NULL where there is
 * none; the name of a task begins with a colon.
 * @return the length of the whole text, as snprintf does */
typedef int dpmf_setting_writer(void *self, const char *name, const char *value, char *text,
                                size_t size);

/* Renders a message, a hint or a warning for people, always ended by NUL. `write` may be NULL:
 * settings are then words.
 * @return the length of the whole text, as snprintf does */
DPMF_API int dpmf_error_text(const char *text, dpmf_setting_writer *write, void *self, char *out,
                             size_t size);

/* Writes such a text, cut to `size`, for programs that fill in a struct dpmf_error of their own.
 * `format` is as printf's and may name settings; braces of the arguments are escaped, and what
 * could be a password is ***. */
DPMF_API void dpmf_error_write(char *text, size_t size, const char *format, ...) DPMF_PRINTF(3, 4);

/* Writes "file:line:column: message" (as much of it as is known) for people, as dpmf_error_text
 * does, always ended by NUL.
 * @return the length of the whole text, as snprintf does
 *
 *     struct dpmf_model *model = NULL;
 *     struct dpmf_error wrong = {0};
 *     if (dpmf_model_open("no-such-file", &model, &wrong) != 0) {
 *         char text[2 * DPMF_ERROR_TEXT_MAX];
 *         dpmf_error_format(&wrong, NULL, NULL, text, sizeof text);
 *         printf("%s (%s)\n", text, dpmf_error_name(wrong.code));
 *     }
 */
DPMF_API int dpmf_error_format(const struct dpmf_error *error, dpmf_setting_writer *write,
                               void *self, char *out, size_t size);

/* Writes a message with *** for what could be a password in it (user:SECRET@host, password=SECRET), always ended by NUL, for
 * programs that quote what they were given in messages of their own; the library's errors are so already.
 * @return the length of the whole text, as snprintf does */
DPMF_API int dpmf_error_mask(const char *text, char *masked, size_t size);

/* @return the library's version, e.g. "0.1.0" */
DPMF_API const char *dpmf_version(void);

/* ------------------------------------------------------------------------------------------------
 * A model, and what one does with it
 * ---------------------------------------------------------------------------------------------- */

/* A model that is open: a release or a checkpoint, with all that was read of it. */
struct dpmf_model;

/* Opens a release or a checkpoint, trusting nothing: whatever it is, it is checked whole or refused, with
 * DPMF_ERR_MODEL_NOT_A_MODEL, _CORRUPT or _KIND or a code about reading, and *model is NULL. */
DPMF_API int dpmf_model_open(const char *path, struct dpmf_model **model, struct dpmf_error *error);

/* The same from bytes in memory, which may be gone afterwards; `name` is what errors call it. */
DPMF_API int dpmf_model_open_memory(const void *bytes, size_t n, const char *name,
                                    struct dpmf_model **model, struct dpmf_error *error);
DPMF_API void dpmf_model_close(struct dpmf_model *model);

/* What a model says about itself. */
struct dpmf_model_info {
    const char *kind; /* "checkpoint", or "release", which has no users */
    uint64_t users, items;
    uint32_t factors;
    double offset;
    double min, max; /* the scale of the ratings */
    uint32_t epochs;
    uint64_t file_bytes;

    /* Of the run that made it. */
    uint64_t ratings; /* it was trained on */
    uint64_t seed;
    double learning_rate, decay, regularization;
    double best_valid; /* NaN without a validation set */
    uint32_t best_epoch;
    const char *provenance; /* JSON text; lives as long as the model; NULL of a release */
    uint32_t samples;       /* of the posterior that it is the mean of; 0: it is no sampler's */
    double noise_precision; /* of a rating, given a sample: 1 / variance */

    /* Of a release alone: the privacy statement, JSON text that lives as long as the model and is not checked
     * (dpmf_release_statement does). Also of a sampler's model: the penalties that a user's vector and bias are
     * fitted with. */
    const char *statement;
    double factor_penalty, bias_penalty;

    const char *goal; /* "rating", or "ranking": scores order items, and are no ratings */
    double unobserved, exponent; /* of such a model: as training had them */
    double like; /* of such a model: ratings of at least this count as events; -INFINITY: all */

    /* A checkpoint of 0.1.0, which has no checksum: damage to it goes unnoticed. */
    bool is_unchecked;
    uint64_t spare[4];
};

/* Tells it; texts live as long as the model. */
DPMF_API void dpmf_model_info(const struct dpmf_model *model, struct dpmf_model_info *info);

/* Numbers of ids, or UINT64_MAX when the model does not know them; ids of numbers. */
DPMF_API uint64_t dpmf_model_find_user(const struct dpmf_model *model, const char *id,
                                       size_t length);
DPMF_API uint64_t dpmf_model_find_item(const struct dpmf_model *model, const char *id,
                                       size_t length);
DPMF_API const char *dpmf_model_user_id(const struct dpmf_model *model, uint64_t user,
                                        size_t *length);
DPMF_API const char *dpmf_model_item_id(const struct dpmf_model *model, uint64_t item,
                                        size_t *length);

/* Rows of `*stride` floats each, of which info.factors count, and a bias each, without a copy: they live as
 * long as the model. Of users NULL in a release. */
DPMF_API const float *dpmf_model_item_factors(const struct dpmf_model *model, size_t *stride);
DPMF_API const float *dpmf_model_item_biases(const struct dpmf_model *model);
DPMF_API const float *dpmf_model_user_factors(const struct dpmf_model *model, size_t *stride);
DPMF_API const float *dpmf_model_user_biases(const struct dpmf_model *model);

/* The prediction for a pair; UINT64_MAX for an unknown user or item: the mean plus the bias known.
 * Not clamped to the scale. */
DPMF_API double dpmf_model_predict(const struct dpmf_model *model, uint64_t user, uint64_t item);

/* Of a model that is the mean of a sampler's samples: the interval that the rating of a pair is in with probability `level`, as
 * much below it as above: what is not known of the model, by the samples' spread, and the noise of a rating together.
 * Not clamped to the scale. Both ends are NaN for an unknown user or item. @return 0, DPMF_ERR_USAGE_VALUE, or
 * DPMF_ERR_MODEL_KIND for another model */
DPMF_API int dpmf_model_interval(const struct dpmf_model *model, uint64_t user, uint64_t item,
                                 double level, double *low, double *high, struct dpmf_error *error);

/* An item of a list, by its number, with what it was ranked by. */
struct dpmf_scored_item {
    uint64_t item;
    double score;
};

/* The n best items for a user, best first, ties by item number: by their predictions in double, which are the
 * scores, so the list is the same on every machine. `exclude` is a bitmap over items, item i the bit i % 8 of byte
 * i / 8 (may be NULL), `include` likewise. @return how many there are, or a negative code */
DPMF_API int64_t dpmf_model_recommend(const struct dpmf_model *model, uint64_t user,
                                      const uint8_t *exclude, const uint8_t *include, size_t n,
                                      struct dpmf_scored_item *out, struct dpmf_error *error);

/* The n items whose vectors point most nearly the same way (the score is the cosine), itself left out; in the
 * same order.
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
 */
DPMF_API int64_t dpmf_model_similar(const struct dpmf_model *model, uint64_t item, size_t n,
                                    struct dpmf_scored_item *out, struct dpmf_error *error);

/* A rating of someone's own. */
struct dpmf_own_rating {
    uint64_t item;
    double rating;
};

/* Which of a user's ratings speak for an item, and how much: the user's bias and vector are fitted to those
 * ratings with the model's regularisation, and the prediction is then exactly the offset, plus the item's
 * bias, plus the sum of the shares. `ratings` are n (item, rating) pairs, `shares` receives n. Items that the
 * model does not know have a share of 0, as has what was given before the last rating of the same item. */
DPMF_API int dpmf_model_explain(const struct dpmf_model *model,
                                const struct dpmf_own_rating *ratings, size_t n, uint64_t item,
                                double *prediction, double *shares, struct dpmf_error *error);

/* A user that the model was not trained on: the bias and the vector that fit n (item, rating) pairs best,
 * with the model's regularisation and its items held still. Items that the model does not know are passed
 * over; of an item given twice the last rating counts; one that is not finite is DPMF_ERR_INPUT_NOT_FINITE. Without
 * ratings both are 0. Predictions and scores are as the model's own, not clamped; UINT64_MAX is an unknown item.
 * A user belongs to its model, which must outlive it, and `model` below is always that one. */
struct dpmf_user;

/* Fits one, and frees it.
 *
 *     struct dpmf_own_rating mine[] = {{3, 5}, {17, 1}, {8, 4}};
 *     struct dpmf_scored_item best[5];
 *     struct dpmf_model *model = NULL;
 *     struct dpmf_user *user = NULL;
 *     if (dpmf_model_open("release.safetensors", &model, &error) == 0 &&
 *         dpmf_user_fold_in(model, mine, 3, &user, &error) == 0) {
 *         int64_t n = dpmf_user_recommend(model, user, NULL, NULL, 5, best, &error);
 *         for (int64_t i = 0; i < n; i++)
 *             printf("item %" PRIu64 ": %.2f\n", best[i].item, best[i].score);
 *     }
 *     dpmf_user_free(user);
 *     dpmf_model_close(model);
 */
DPMF_API int dpmf_user_fold_in(const struct dpmf_model *model,
                               const struct dpmf_own_rating *ratings, size_t n,
                               struct dpmf_user **user, struct dpmf_error *error);
DPMF_API void dpmf_user_free(struct dpmf_user *user);

/* As dpmf_model_predict and dpmf_model_recommend, for such a user; `exclude` is also how to leave out what was rated. */
DPMF_API double dpmf_user_predict(const struct dpmf_model *model, const struct dpmf_user *user,
                                  uint64_t item);
DPMF_API int64_t dpmf_user_recommend(const struct dpmf_model *model, const struct dpmf_user *user,
                                     const uint8_t *exclude, const uint8_t *include, size_t n,
                                     struct dpmf_scored_item *out, struct dpmf_error *error);

/* Adds a rating, changes it, or (rating NaN) takes it away; in O(k^2) of a release. The result is what folding
 * in all ratings anew gives, to rounding. When it fails, the user is as before. An item that the model does not
 * know is refused. */
DPMF_API int dpmf_user_rate(const struct dpmf_model *model, struct dpmf_user *user, uint64_t item,
                            double rating, struct dpmf_error *error);

/* The ratings that the user has by now, an item once, in the order they were given; they live until the next
 * change. @return how many */
DPMF_API size_t dpmf_user_ratings(const struct dpmf_user *user,
                                  const struct dpmf_own_rating **ratings);
DPMF_API double dpmf_user_bias(const struct dpmf_user *user);
DPMF_API const double *dpmf_user_vector(const struct dpmf_user *user); /* info.factors of them */

/* As dpmf_model_explain, of the ratings the user has by now: shares in their order. */
DPMF_API int dpmf_user_explain(const struct dpmf_model *model, const struct dpmf_user *user,
                               uint64_t item, double *prediction, double *shares,
                               struct dpmf_error *error);

/* ------------------------------------------------------------------------------------------------
 * A picture of the items: the two directions in which their vectors differ most
 * ---------------------------------------------------------------------------------------------- */

/* A place in the plane for every item; see dpmf_map_make. */
struct dpmf_map;

/* Of a model without factors both coordinates are 0 everywhere. The same model gives the same map. */
DPMF_API int dpmf_map_make(const struct dpmf_model *model, struct dpmf_map **map,
                           struct dpmf_error *error);
DPMF_API void dpmf_map_free(struct dpmf_map *map);

/* Where an item is, within [-1, 1] both ways; an unknown one at 0. */
DPMF_API void dpmf_map_item(const struct dpmf_map *map, uint64_t item, float xy[2]);

/* Where the user's taste points, on the same scale and within the same bounds. */
DPMF_API void dpmf_map_user(const struct dpmf_map *map, const struct dpmf_user *user, float xy[2]);

#ifdef __cplusplus
}
#endif

#endif
