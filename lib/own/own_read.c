/*
 * dpmf_own_read: one person's own ratings out of whatever holds them. Finds out what it is given,
 * has it read, keeps the last rating of every item, and checks that the ratings are on the model's
 * scale. Fed by the readers of this folder; feeds whatever recommends, predicts or explains to
 * someone that a model does not know.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arguments.h"
#include "base/error.h"
#include "base/event_count.h"
#include "base/memory.h"
#include "base/rating_scale.h"
#include "dpmf_text.h"
#include "own/own.h"
#include "ratings/record_batch.h"

/* ---- one rating ------------------------------------------------------------------------------ */

static void count_unknown(struct dpmf_own *own, const char *id, size_t length) {
    if (own->unknown++ > 0 || length >= sizeof own->first_unknown) return;
    memcpy(own->first_unknown, id, length);
    own->first_unknown[length] = '\0';
}

int own_add(const struct own_reading *reading, const char *id, size_t length, double rating,
            struct dpmf_error *error) {
    struct dpmf_own *own = reading->own;
    uint64_t item = dpmf_model_find_item(reading->model, id, length);
    if (item == UINT64_MAX) {
        count_unknown(own, id, length);
        return 0;
    }
    if (!memory_reserve(&own->ratings, &own->capacity, own->n + 1, sizeof *own->ratings))
        return error_no_memory(error);
    own->ratings[own->n++] = (struct dpmf_own_rating){item, rating};
    return 0;
}

int own_parse(const struct own_reading *reading, const char *text, double *rating) {
    if (dpmf_parse_double(text, rating) != 0) return DPMF_ERR_INPUT_NUMBER;
    int code = record_rating_take(reading->input, rating);
    return isfinite((float)*rating) ? code : DPMF_ERR_INPUT_NOT_FINITE;
}

const char *own_fault(int code) {
    return code == DPMF_ERR_INPUT_NUMBER       ? "is not a number"
           : code == DPMF_ERR_INPUT_NOT_FINITE ? "is too large a number"
                                               : "is outside {rating-range}";
}

int own_parse_count(const char *text, double *count) {
    if (dpmf_parse_double(text, count) != 0) return DPMF_ERR_INPUT_NUMBER;
    return record_count_is(*count) ? 0 : DPMF_ERR_INPUT_OUT_OF_RANGE;
}

int own_check_counts(const struct own_reading *reading, struct dpmf_error *error) {
    if (!reading->input->rescale && !reading->input->has_range) return 0;
    int code = error_set(error, DPMF_ERR_USAGE_CONFLICT,
                         "these are events, which have no scale of ratings");
    error_hint_text(error, "leave {rescale} and {rating-range} out");
    error_place(error, reading->are_pairs ? NULL : reading->name, 0, 0);
    return code;
}

const char *own_count_fault(int code) {
    return code == DPMF_ERR_INPUT_NUMBER ? "is not a number"
                                         : "is not a whole number from 1 to 2^53 - 1";
}

int own_fail(const struct own_reading *reading, int code, struct dpmf_error *error) {
    if (code < 0 && error && strcmp(error->file, reading->path) == 0)
        error_place(error, reading->name, error->line, error->column);
    return code;
}

/* ---- a file of any form ---------------------------------------------------------------------- */

/* A warning that names the copy of a stream means what was copied. */
static void pass_warning(void *self, const char *message) {
    const struct own_reading *reading = self;
    char name[DPMF_ERROR_TEXT_MAX], text[3 * DPMF_ERROR_TEXT_MAX];
    const char *at = strstr(message, reading->path);
    dpmf_error_write(name, sizeof name, "%s", reading->name);
    if (at)
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - message), message, name,
                 at + strlen(reading->path));
    reading->run->warn(reading->run->warn_self, at ? text : message);
}

/* The copy that a callback made, and whether it could. */
struct taking {
    struct dpmf_own *own;
    bool has_failed;
};

static int take_history(void *self, const char *user, size_t length,
                        const struct dpmf_history *history) {
    struct taking *taking = self;
    struct dpmf_own *own = taking->own;
    (void)user;
    (void)length;
    own->unknown += history->unknown_items;
    taking->has_failed =
        !memory_reserve(&own->ratings, &own->capacity, history->n + 1, sizeof *own->ratings);
    if (taking->has_failed) return 1;
    memcpy(own->ratings, history->ratings, history->n * sizeof *own->ratings);
    own->n = history->n;
    return 0;
}

static int take_only_user(struct own_reading *reading, struct dpmf_store *store,
                          struct dpmf_error *error) {
    struct dpmf_store_info info;
    struct taking taking = {.own = reading->own};
    dpmf_store_info(store, &info);
    if (info.users > 1) {
        int code =
            error_set(error, DPMF_ERR_INPUT_COUNT,
                      "there are %s of %llu users, and {ratings} takes one person's",
                      info.holds_events ? "events" : "ratings", (unsigned long long)info.users);
        error_hint(error,
                   "give one person's %s, with a first line that names the columns, such as "
                   "item,%s; or {history RATINGS} {user ID}",
                   info.holds_events ? "events" : "ratings",
                   info.holds_events ? "count" : "rating");
        error_place(error, reading->name, 0, 0);
        return code;
    }
    struct dpmf_run quiet = *reading->run; /* check_scale has the last word, on what is left */
    quiet.warn = NULL;
    int code = dpmf_model_histories(reading->model, store, &quiet, take_history, &taking, error);
    return taking.has_failed ? error_no_memory(error) : code;
}

/* Anything that can be imported, by way of a temporary store. */
static int read_store(struct own_reading *reading, struct dpmf_error *error) {
    struct dpmf_store *store = NULL;
    struct dpmf_run run = *reading->run;
    if (run.warn) {
        run.warn = pass_warning;
        run.warn_self = reading;
    }
    int code = dpmf_store_open(reading->path, reading->input, &run, &store, error);
    if (code == DPMF_ERR_INPUT_HEADER)
        error_hint(error,
                   "name "
                   "the columns in a first line, such as item,rating or item,rating,timestamp");
    if (code == DPMF_ERR_INPUT_EMPTY) return 0; /* the caller decides what comes of that */
    if (code == 0) code = take_only_user(reading, store, error);
    dpmf_store_close(store);
    return code;
}

static bool has_layout(const struct dpmf_input_options *input) {
    return input->format || input->columns || input->separator != 0 || input->user_column ||
           input->item_column || input->rating_column || input->time_column;
}

int own_path_read(struct own_reading *reading, struct dpmf_error *error) {
    enum own_table kind = OWN_TABLE_OF_USERS;
    bool has_names = false;
    int code = 0;
    if (!has_layout(reading->input)) {
        if (own_service_is(reading))
            return own_fail(reading, own_service_read(reading, error), error);
        kind = own_table_kind(reading, &has_names);
    }
    if (kind != OWN_TABLE_OF_USERS && has_names) code = own_people_check(reading, error);
    if (code == 0)
        code = kind == OWN_TABLE_OF_USERS ? read_store(reading, error)
                                          : own_table_read(reading, kind, error);
    return own_fail(reading, code, error);
}

/* ---- which of them --------------------------------------------------------------------------- */

/* The name of a file, or an item without a rating: both are said where both can be meant. */
static int refuse_missing(const struct own_reading *reading, struct dpmf_error *error) {
    const char *mine = reading->path;
    if (dpmf_model_find_item(reading->model, mine, strlen(mine)) == UINT64_MAX) {
        int code = error_system(error, ENOENT, "open", mine);
        if (reading->info.is_of_events)
            error_hint(error, "check the path; events can also be given as ITEM or ITEM:COUNT, "
                              "such as {ratings dune,solaris:3}");
        else
            error_hint(error,
                       "check the path; ratings can also be given as ITEM:RATING, such as {ratings "
                       "dune:5,solaris:3.5}");
        return code;
    }
    int code = error_set(error, DPMF_ERR_USAGE_VALUE,
                         "{ratings %s}: there is no such file, and the item has no %s", mine,
                         reading->info.is_of_events ? "count" : "rating");
    error_hint(error, "for the item: {ratings %.100s%s}; for a file: check the path", mine,
               reading->ranks ? ":1" : ":RATING");
    return code;
}

static int read_pipe(struct own_reading *reading, struct dpmf_error *error) {
    int from = open(reading->path, O_RDONLY | O_CLOEXEC);
    if (from < 0) return error_system(error, errno, "open", reading->name);
    int code = own_stream_read(reading, from, error);
    close(from);
    return code;
}

static int read_any(struct own_reading *reading, struct dpmf_error *error) {
    struct stat found;
    const char *mine = reading->path;
    if (strcmp(mine, "-") == 0) {
        reading->name = "<stdin>";
        return own_stream_read(reading, STDIN_FILENO, error);
    }
    const bool is_there = stat(mine, &found) == 0;
    const bool is_missing = !is_there && errno == ENOENT;
    if (!is_there && strpbrk(mine, reading->ranks ? ":," : ":"))
        return own_pairs_read(reading, error);
    if (is_missing) return refuse_missing(reading, error);
    const bool is_once = is_there && !S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode);
    return is_once ? read_pipe(reading, error) : own_path_read(reading, error);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* The ratings that stay do so in their order, as in a table without the others. Of events the
 * counts are added, as they are wherever events are read. */
static int keep_last(const struct own_reading *reading, struct dpmf_error *error) {
    struct dpmf_own *own = reading->own;
    size_t *place = memory_alloc_zero((size_t)reading->info.items + 1, sizeof *place);
    if (!place) return error_no_memory(error);
    size_t first = own->n;
    for (size_t i = own->n; i-- > 0;) {
        size_t *kept = &place[own->ratings[i].item]; /* 1 more than its place */
        if (*kept == 0) {
            own->ratings[--first] = own->ratings[i];
            *kept = first + 1;
        } else if (reading->info.is_of_events) {
            double *count = &own->ratings[*kept - 1].rating;
            *count = fmin(*count + own->ratings[i].rating, EVENT_COUNT_MAX);
        }
    }
    free(place);
    own->replaced = first;
    own->n -= first;
    if (first > 0) memmove(own->ratings, own->ratings + first, own->n * sizeof *own->ratings);
    return 0;
}

/* Times and ids are taken for ratings where a table has no names, and are this far off. */
static const double FAR_SPANS = 100;

/* The scale of the ratings that the model learned from. Where it ranks, how high they are says
 * something only of likes; without these its ends are equal. */
static double scale_min(const struct own_reading *reading) {
    return reading->ranks ? reading->info.rated_min : reading->info.min;
}

static double scale_max(const struct own_reading *reading) {
    return reading->ranks ? reading->info.rated_max : reading->info.max;
}

static int refuse_far(const struct own_reading *reading, double rating, struct dpmf_error *error) {
    char low[DPMF_DOUBLE_TEXT_MAX], high[DPMF_DOUBLE_TEXT_MAX];
    dpmf_format_double(scale_min(reading), low);
    dpmf_format_double(scale_max(reading), high);
    int code =
        error_set(error, DPMF_ERR_INPUT_OUT_OF_RANGE,
                  "a rating of %.4g is far off the model's scale, %s to %s", rating, low, high);
    error_hint_text(error, reading->are_pairs
                               ? "give ratings on the model's scale, or {rescale} them"
                               : "name the columns in a first line, such as item,rating; or "
                                 "{rescale}");
    error_place(error, reading->name, 0, 0);
    return code;
}

static int check_scale(const struct own_reading *reading, struct dpmf_error *error) {
    struct dpmf_own *own = reading->own;
    const double min = scale_min(reading), max = scale_max(reading), far = FAR_SPANS * (max - min);
    struct rating_scale scale = {.min = min, .max = max};
    size_t farthest = 0;
    if (reading->ranks && !(max > min)) return 0; /* counts, or ratings that all count alike */
    for (size_t i = 0; i < own->n; i++) {
        double rating = own->ratings[i].rating;
        if (!isfinite((float)rating)) {
            int code =
                error_set(error, DPMF_ERR_INPUT_NOT_FINITE, "a rating is too large a number");
            error_hint(error, "give ratings on the model's scale");
            error_place(error, reading->name, 0, 0);
            return code;
        }
        if (rating < min - far || rating > max + far) return refuse_far(reading, rating, error);
        rating_scale_add(&scale, rating);
        if (fabs(rating - min) > fabs(own->ratings[farthest].rating - min)) farthest = i;
    }
    own->outside = (size_t)scale.outside;
    return rating_scale_is_other(&scale) ? refuse_far(reading, own->ratings[farthest].rating, error)
                                         : 0;
}

int dpmf_own_read(const struct dpmf_model *model, const char *mine, const char *const *titles,
                  const struct dpmf_input_options *options, const struct dpmf_run *run,
                  struct dpmf_own **out, struct dpmf_error *error) {
    struct dpmf_input_options input = dpmf_input_options_default();
    struct dpmf_run own_run;
    int code = arguments_check(error, "model mine own", model, mine, out);
    if (out) *out = NULL;
    if (code == 0) code = options_take(&input, sizeof input, options, "input_options", error);
    if (code == 0) code = run_take(&own_run, run, error);
    if (code < 0) return code;
    struct dpmf_own *own = memory_alloc_zero(1, sizeof *own);
    if (!own) return error_no_memory(error);
    struct own_reading reading = {.model = model,
                                  .titles = titles,
                                  .input = &input,
                                  .run = &own_run,
                                  .own = own,
                                  .path = mine,
                                  .name = mine};
    dpmf_model_info(model, &reading.info);
    reading.ranks = strcmp(reading.info.goal, "ranking") == 0;
    reading.event = reading.ranks && isfinite(reading.info.like) ? reading.info.like : 1;
    code = read_any(&reading, error);
    if (code == 0) code = keep_last(&reading, error);
    if (code == 0) code = check_scale(&reading, error);
    if (code < 0) {
        dpmf_own_free(own);
        return code;
    }
    *out = own;
    return 0;
}

void dpmf_own_info(const struct dpmf_own *own, struct dpmf_own_info *info) {
    if (!info) return;
    *info = (struct dpmf_own_info){.first_unknown = ""};
    if (!own) return;
    *info = (struct dpmf_own_info){.ratings = own->ratings,
                                   .n = own->n,
                                   .unknown = own->unknown,
                                   .first_unknown = own->first_unknown,
                                   .replaced = own->replaced,
                                   .skipped = own->skipped,
                                   .outside = own->outside,
                                   .listed = own->listed,
                                   .is_item_first = own->is_item_first,
                                   .diary = own->diary};
}

void dpmf_own_mark(const struct dpmf_own *own, uint8_t *bitmap) {
    if (!own) return;
    dpmf_ratings_mark(own->ratings, own->n, bitmap);
    dpmf_diary_mark(own->diary, bitmap);
}

void dpmf_own_free(struct dpmf_own *own) {
    if (!own) return;
    dpmf_diary_free(own->diary);
    free(own->ratings);
    free(own);
}
