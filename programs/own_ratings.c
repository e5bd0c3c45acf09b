/*
 * Someone's own ratings out of whatever --ratings names. A table without a column for
 * users, which is what most people have of themselves, is read row by row; every other
 * format by way of a temporary store, which must then be about one person. What can be
 * read only once, as standard input, is first copied to a file without a name. Feeds
 * recommend, predict, similar and explain.
 */
#define _GNU_SOURCE
#include "own_ratings.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dpmf_text.h"
#include "error_show.h"
#include "model_use.h"
#include "options.h"
#include "own_diary.h"
#include "own_people.h"
#include "report.h"
#include "signals.h"
#include "text.h"

enum { SPOOL_BYTES = 1 << 16, PATH_TEXT_MAX = 32 };

static const char row_hint[] = "rows are an item and a rating, as dune,4.5";
static const char pair_hint[] =
    "for example: --ratings dune:5,solaris:3.5; an item whose id has a comma goes in a file";

struct reading {
    struct invocation *invocation;
    const struct dpmf_model *model;
    const struct catalogue *catalogue;
    struct own_ratings *own;
    struct dpmf_input_options input;
    const char *path;         /* path to read */
    const char *name;         /* name in messages */
    char copy[PATH_TEXT_MAX]; /* the path of a copy, where there is one */
    bool are_pairs;           /* pairs of the command line, not of a file */
    bool ranks;               /* the model learns from events: items need no ratings */
    double event;             /* what an event counts as, to such a model */
};

static int fail(const struct reading *reading, struct dpmf_error *error) {
    if (strcmp(error->file, reading->path) == 0)
        snprintf(error->file, sizeof error->file, "%s", reading->name);
    return report_error_print(reading->invocation, error);
}

/* ---- one rating ------------------------------------------------------------------------------ */

static void count_unknown(struct own_ratings *own, const char *id, size_t length) {
    if (own->unknown++ > 0 || length >= sizeof own->first_unknown) return;
    memcpy(own->first_unknown, id, length);
    own->first_unknown[length] = '\0';
}

static int add_rating(const struct reading *reading, const char *id, size_t length, double rating) {
    struct own_ratings *own = reading->own;
    uint64_t item = dpmf_model_find_item(reading->model, id, length);
    if (item == UINT64_MAX) {
        count_unknown(own, id, length);
        return 0;
    }
    if (own->n == own->capacity) {
        size_t capacity = 2 * own->capacity + 64;
        void *grown = realloc(own->ratings, capacity * sizeof *own->ratings);
        if (grown == NULL) return DPMF_ERR_BASE_NO_MEMORY;
        own->ratings = grown;
        own->capacity = capacity;
    }
    own->ratings[own->n++] = (struct dpmf_own_rating){item, rating};
    return 0;
}

/* A rating as text, on the scale that is asked for. @return 0, or a code of what is wrong */
static int parse_rating(const struct reading *reading, const char *text, double *rating) {
    const struct dpmf_input_options *input = &reading->input;
    if (dpmf_parse_double(text, rating) != 0) return DPMF_ERR_INPUT_NUMBER;
    if (input->rescale && *rating == input->from_max)
        *rating = input->to_max;
    else if (input->rescale)
        *rating = input->to_min + (*rating - input->from_min) * (input->to_max - input->to_min) /
                                      (input->from_max - input->from_min);
    if (!isfinite((float)*rating)) return DPMF_ERR_INPUT_NOT_FINITE;
    if (input->has_range && !(*rating >= input->range_min && *rating <= input->range_max))
        return DPMF_ERR_INPUT_OUT_OF_RANGE;
    return 0;
}

static const char *fault_text(int code) {
    return code == DPMF_ERR_INPUT_NUMBER       ? "is not a number"
           : code == DPMF_ERR_INPUT_NOT_FINITE ? "is too large a number"
                                               : "is outside --rating-range";
}

/* ---- pairs on the command line --------------------------------------------------------------- */

static int refuse_pair(const struct reading *reading, const char *pair, const char *why) {
    char problem[200] = "";
    if (strstr(reading->name, "://") != NULL) /* an address, of which no part is for showing */
        return terminal_error_print(STATUS_USAGE, pair_hint,
                                    "--ratings: an address is neither a file nor ITEM:RATING");
    if (why != NULL) snprintf(problem, sizeof problem, ": %s", why);
    return terminal_error_print(STATUS_USAGE, pair_hint,
                                "--ratings: there is no file \"%.100s\", and \"%.100s\" is not "
                                "ITEM:RATING%s",
                                reading->name, pair, problem);
}

/* Whether a text begins with a pair and goes on with something other than a comma. */
static bool are_several(const char *text) {
    const char *other = strpbrk(text, "; \t\n|");
    const char *colon = other != NULL ? memrchr(text, ':', (size_t)(other - text)) : NULL;
    char rating[32];
    double value;
    if (colon == NULL || (size_t)(other - colon) > sizeof rating) return false;
    snprintf(rating, sizeof rating, "%.*s", (int)(other - colon - 1), colon + 1);
    return dpmf_parse_double(rating, &value) == 0;
}

/* One pair, in its own copy: the last colon parts it, so that ids may hold colons. */
static int read_pair(const struct reading *reading, char *pair) {
    char why[160];
    double rating;
    char *colon = strrchr(pair, ':');
    const bool is_pair = colon != NULL && colon != pair;
    if (reading->ranks && pair[0] != '\0' &&
        (!is_pair || dpmf_parse_double(colon + 1, &rating) != 0))
        return add_rating(reading, pair, strlen(pair), reading->event) == 0 ? STATUS_DONE
                                                                            : model_use_no_memory();
    if (!is_pair) return refuse_pair(reading, pair, NULL);
    int fault = parse_rating(reading, colon + 1, &rating);
    if (fault != 0 && reading->input.skip_bad) {
        reading->own->skipped++;
        return STATUS_DONE;
    }
    if (fault != 0) {
        snprintf(why, sizeof why, "\"%.100s\" %s", colon + 1, fault_text(fault));
        return refuse_pair(reading, pair, why);
    }
    uint64_t unknown = reading->own->unknown;
    if (add_rating(reading, pair, (size_t)(colon - pair), rating) != 0)
        return model_use_no_memory();
    if (reading->own->unknown == unknown || !are_several(pair)) return STATUS_DONE;
    return refuse_pair(reading, pair, "pairs have commas between them, and no blanks");
}

static int read_pairs(struct reading *reading) {
    reading->are_pairs = true;
    char *text = strdup(reading->name);
    if (text == NULL) return model_use_no_memory();
    int status = STATUS_DONE;
    for (char *at = text, *pair; status == STATUS_DONE && (pair = strsep(&at, ",")) != NULL;)
        status = read_pair(reading, pair);
    free(text);
    return status;
}

/* ---- a table of items and ratings ------------------------------------------------------------ */

static int refuse_row(const struct reading *reading, const struct dpmf_table_row *row, int fault,
                      struct dpmf_error *error) {
    *error = (struct dpmf_error){.code = fault, .line = row->line, .column = row->field[1].column};
    snprintf(error->file, sizeof error->file, "%s", reading->name);
    dpmf_error_write(error->message, sizeof error->message, "rating \"%.60s\" %s",
                     row->field[1].text, fault_text(fault));
    if (fault == DPMF_ERR_INPUT_NUMBER) snprintf(error->hint, sizeof error->hint, "%s", row_hint);
    return fault;
}

static int take_row(void *self, const struct dpmf_table_row *row, struct dpmf_error *error) {
    const struct reading *reading = self;
    double rating;
    if (reading->own->has_list && row->field[1].length == 0) {
        reading->own->listed++;
        return 0;
    }
    int fault = parse_rating(reading, row->field[1].text, &rating);
    if (fault != 0 && reading->input.skip_bad) {
        reading->own->skipped++;
        return 0;
    }
    if (fault != 0) return refuse_row(reading, row, fault, error);
    int rc = add_rating(reading, row->field[0].text, row->field[0].length, rating);
    return rc == 0 ? 0 : (error->code = rc);
}

static int take_event(void *self, const struct dpmf_table_row *row, struct dpmf_error *error) {
    const struct reading *reading = self;
    int rc = add_rating(reading, row->field[0].text, row->field[0].length, reading->event);
    return rc == 0 ? 0 : (error->code = rc);
}

/* A list of items, for a model that needs no ratings. */
static int read_events(const struct reading *reading) {
    struct dpmf_error error = {0};
    int rc = dpmf_table_read(reading->path, "item", &reading->invocation->run, take_event,
                             (void *)reading, &error);
    return rc != 0 ? fail(reading, &error) : STATUS_DONE;
}

static int read_table(const struct reading *reading) {
    struct dpmf_error error = {0};
    int rc = dpmf_table_read(reading->path, "item,rating", &reading->invocation->run, take_row,
                             (void *)reading, &error);
    return rc != 0 ? fail(reading, &error) : STATUS_DONE;
}

/* ---- ratings of any other kind --------------------------------------------------------------- */

static int pass_progress(void *self, const struct dpmf_progress *progress) {
    const struct reading *reading = self;
    return terminal_progress_show(&reading->invocation->terminal, progress);
}

/* A warning that names the copy means what was copied. */
static void pass_warning(void *self, const char *message) {
    const struct reading *reading = self;
    char shown[2 * DPMF_ERROR_TEXT_MAX], text[3 * DPMF_ERROR_TEXT_MAX];
    error_show_text(message, shown, sizeof shown);
    const char *at = strstr(shown, reading->path);
    if (at == NULL)
        snprintf(text, sizeof text, "%s", shown);
    else
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - shown), shown, reading->name,
                 at + strlen(reading->path));
    terminal_warning_print(&reading->invocation->terminal, text);
}

static int take_history(void *self, const char *user, size_t length,
                        const struct dpmf_history *history) {
    struct own_ratings *own = self;
    (void)user;
    (void)length;
    own->unknown += history->unknown_items;
    own->ratings = calloc(history->n + 1, sizeof *own->ratings);
    if (own->ratings == NULL) return 1;
    memcpy(own->ratings, history->ratings, history->n * sizeof *own->ratings);
    own->n = history->n;
    return 0;
}

static int take_only_user(const struct reading *reading, struct dpmf_store *store) {
    struct dpmf_store_info info;
    struct dpmf_error error = {0};
    dpmf_store_info(store, &info);
    if (info.users > 1)
        return terminal_error_print(
            STATUS_INPUT,
            "give one person's ratings, the columns named in a first line as item,rating; or "
            "--history RATINGS --user ID",
            "%s: there are ratings of %s, and --ratings takes one person's", reading->name,
            text_count(info.users, "user").text);
    int rc = dpmf_model_histories(reading->model, store, &reading->invocation->run, take_history,
                                  reading->own, &error);
    if (rc == DPMF_ERR_BASE_CANCELLED && signals_pending() == 0) return model_use_no_memory();
    return rc != 0 ? fail(reading, &error) : STATUS_DONE;
}

static int read_ratings(struct reading *reading) {
    struct dpmf_store *store = NULL;
    struct dpmf_error error = {0};
    struct dpmf_run run = reading->invocation->run;
    run.progress = pass_progress;
    run.warn = pass_warning;
    run.progress_self = run.warn_self = reading;
    int rc = dpmf_store_open(reading->path, &reading->input, &run, &store, &error);
    if (rc == DPMF_ERR_INPUT_EMPTY) return STATUS_DONE; /* the caller says what comes of that */
    if (rc != 0) return fail(reading, &error);
    int status = take_only_user(reading, store);
    dpmf_store_close(store);
    return status;
}

/* ---- which of them --------------------------------------------------------------------------- */

/* What the first two rows of a text look like. */
struct look {
    size_t n_rows, n_fields[2];
    bool has_user, has_item, has_rating, has_list, is_json;
};

/* What rows of three columns without a header can mean: someone's name before an item and a rating,
 * or, when that does not fit, an item and a rating before a time. */
struct meaning {
    const struct reading *reading;
    struct dpmf_model_info info;
    size_t n_rows, n_other;                   /* all, and those that have not three columns */
    size_t first_is_item, second_is_item;     /* rows whose column names an item of the model */
    size_t second_is_rating, third_is_rating; /* rows whose column is on the model's scale */
};

static int look_at_row(void *self, const struct dpmf_table_record *record,
                       struct dpmf_error *error) {
    struct look *look = self;
    (void)error;
    look->n_fields[look->n_rows++] = record->n;
    if (look->n_rows == 2) return 1;
    look->is_json = record->field[0].text[0] == '{';
    for (size_t i = 0; i < record->n; i++) {
        const char *role = dpmf_table_column_role(record->field[i].text, record->field[i].length);
        look->has_list |= strcasecmp(record->field[i].text, "list") == 0;
        if (role == NULL) continue;
        look->has_user |= strcmp(role, "user") == 0;
        look->has_item |= strcmp(role, "item") == 0;
        look->has_rating |= strcmp(role, "rating") == 0;
    }
    return 0;
}

static bool is_on_scale(const struct meaning *meaning, const struct dpmf_field *field) {
    double rating;
    return parse_rating(meaning->reading, field->text, &rating) == 0 &&
           rating >= meaning->info.min && rating <= meaning->info.max;
}

static bool is_item(const struct meaning *meaning, const struct dpmf_field *field) {
    return dpmf_model_find_item(meaning->reading->model, field->text, field->length) != UINT64_MAX;
}

static int weigh_row(void *self, const struct dpmf_table_record *record, struct dpmf_error *error) {
    struct meaning *meaning = self;
    (void)error;
    meaning->n_rows++;
    if (record->n != 3) {
        meaning->n_other++;
        return 1;
    }
    meaning->first_is_item += is_item(meaning, &record->field[0]);
    meaning->second_is_item += is_item(meaning, &record->field[1]);
    meaning->second_is_rating += is_on_scale(meaning, &record->field[1]);
    meaning->third_is_rating += is_on_scale(meaning, &record->field[2]);
    return 0;
}

/* The usual reading stays unless it fails in every row where the other one fails in none. */
static bool are_items_first(const struct reading *reading) {
    struct meaning meaning = {.reading = reading};
    struct dpmf_error error = {0};
    dpmf_model_info(reading->model, &meaning.info);
    if (dpmf_table_read_whole(reading->path, &reading->invocation->run, weigh_row, &meaning,
                              &error) != 0)
        return false;
    size_t n = meaning.n_rows;
    bool other_fits =
        meaning.n_other == 0 && meaning.first_is_item == n && meaning.second_is_rating == n;
    if (n == 0 || !other_fits || (meaning.second_is_item > 0 && meaning.third_is_rating > 0))
        return false;
    terminal_note_print(&reading->invocation->terminal,
                        "%s: three columns without names: taken as item, rating and time, since "
                        "they do not fit user, item and rating",
                        reading->name);
    return true;
}

enum table { TABLE_OF_USERS, TABLE_OF_RATINGS, TABLE_OF_EVENTS };

static bool has_layout(const struct invocation *invocation) {
    return command_has(invocation, OPTION_FORMAT) || command_has(invocation, OPTION_COLUMNS) ||
           command_has(invocation, OPTION_SEPARATOR);
}

/* Whether there is no column of users: the header has none, or there is no header and there are
 * two columns, in both rows, since blocks of ratings may begin with two, or three that mean so; or,
 * of events, one. What cannot be read as a table, a store too, is left to the reader of ratings,
 * which also says why. */
static enum table look_at_table(const struct reading *reading, bool *has_names) {
    const struct invocation *invocation = reading->invocation;
    struct look look = {0};
    struct dpmf_error error = {0};
    if (has_layout(invocation)) return TABLE_OF_USERS;
    if (dpmf_table_read_whole(reading->path, &invocation->run, look_at_row, &look, &error) < 0)
        return TABLE_OF_USERS;
    if (look.n_rows == 0) return TABLE_OF_RATINGS;
    reading->own->has_list = look.has_list;
    *has_names = look.has_item;
    if (look.has_item && look.has_rating) return look.has_user ? TABLE_OF_USERS : TABLE_OF_RATINGS;
    if (look.is_json) return TABLE_OF_USERS;
    if (reading->ranks && !look.has_user && (look.has_item || look.n_fields[0] == 1))
        return TABLE_OF_EVENTS;
    if (look.n_fields[0] == 3) return are_items_first(reading) ? TABLE_OF_RATINGS : TABLE_OF_USERS;
    const bool is_two = look.n_fields[0] == 2 && (look.n_rows < 2 || look.n_fields[1] == 2);
    return is_two && !(reading->ranks && look.has_user) ? TABLE_OF_RATINGS : TABLE_OF_USERS;
}

/* A history of another service. What is not matched counts as unknown. */
static int read_diary(const struct reading *reading) {
    struct own_ratings *own = reading->own;
    struct dpmf_diary_info info;
    struct dpmf_error error = {0};
    int status = own_diary_read(reading->invocation, reading->model, reading->catalogue,
                                reading->path, reading->name, &own->diary);
    if (status != STATUS_DONE) return status;
    dpmf_diary_info(own->diary, &info);
    /* What a service writes has its own names; in other tables anyone may have put a column. */
    if (strcmp(info.service, "titles") == 0 || strcmp(info.service, "dpmf") == 0)
        status = own_people_check(reading->invocation, reading->path, reading->name);
    if (status != STATUS_DONE) return status;
    own->ratings = calloc(info.entries + 1, sizeof *own->ratings);
    if (own->ratings == NULL) return model_use_no_memory();
    const int64_t n = dpmf_diary_ratings(own->diary, own->ratings, info.entries, &error);
    if (n < 0) return report_error_print(reading->invocation, &error);
    own->n = (size_t)n;
    own->unknown = info.unsure + info.none;
    return STATUS_DONE;
}

static int read_path(struct reading *reading) {
    if (!has_layout(reading->invocation) && own_diary_is(reading->path, reading->catalogue))
        return read_diary(reading);
    bool has_names = false;
    const enum table table = look_at_table(reading, &has_names);
    if (table != TABLE_OF_USERS && has_names) {
        int status = own_people_check(reading->invocation, reading->path, reading->name);
        if (status != STATUS_DONE) return status;
    }
    switch (table) {
    case TABLE_OF_RATINGS: return read_table(reading);
    case TABLE_OF_EVENTS: return read_events(reading);
    case TABLE_OF_USERS: break;
    }
    return read_ratings(reading);
}

/* ---- what can be read only once -------------------------------------------------------------- */

static int system_error(const char *name, const char *what) {
    return terminal_error_print(STATUS_IO, NULL, "%s: cannot %s: %s", name, what,
                                text_system_error(errno).text);
}

/* A file that nobody else can read and that is gone when it is closed. @return -1 with errno set */
static int open_nameless(void) {
    char *path = NULL;
    if (asprintf(&path, "%s/dpmf-XXXXXX", terminal_temporary_directory()) < 0) return -1;
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0) unlink(path);
    free(path);
    return fd;
}

static int copy_bytes(const char *name, int from, int to) {
    char *bytes = malloc(SPOOL_BYTES);
    int status = bytes == NULL ? model_use_no_memory() : STATUS_DONE;
    while (status == STATUS_DONE) {
        ssize_t n = read(from, bytes, SPOOL_BYTES);
        if (n < 0 && errno == EINTR && signals_pending() == 0) continue;
        if (signals_heed() != 0)
            status = 128 + signals_pending();
        else if (n < 0)
            status = system_error(name, "read");
        else if (n > 0 && write(to, bytes, (size_t)n) != n)
            status = system_error(terminal_temporary_directory(), "write a copy of the ratings");
        if (n <= 0) break;
    }
    free(bytes);
    return status;
}

static int read_once(struct reading *reading, int from) {
    int copy = open_nameless();
    if (copy < 0)
        return system_error(terminal_temporary_directory(), "write a copy of the ratings");
    int status = copy_bytes(reading->name, from, copy);
    if (status == STATUS_DONE) {
        snprintf(reading->copy, sizeof reading->copy, "/dev/fd/%d", copy);
        reading->path = reading->copy;
        status = read_path(reading);
    }
    close(copy);
    return status;
}

static int read_pipe(struct reading *reading) {
    int from = open(reading->path, O_RDONLY | O_CLOEXEC);
    if (from < 0) return system_error(reading->name, "open");
    int status = read_once(reading, from);
    close(from);
    return status;
}

/* The name of a file, or an item without a rating: both are said where both can be meant. */
static int refuse_missing(const struct reading *reading) {
    const char *mine = reading->path, *colon = reading->ranks ? ":1" : ":RATING";
    char hint[200];
    if (dpmf_model_find_item(reading->model, mine, strlen(mine)) == UINT64_MAX)
        return terminal_error_print(STATUS_IO,
                                    "check the path; ratings can also be given as ITEM:RATING, as "
                                    "--ratings dune:5,solaris:3.5",
                                    "%s: cannot open: %s", mine, text_system_error(ENOENT).text);
    snprintf(hint, sizeof hint, "for the item: --ratings %.100s%s; for a file: check the path",
             mine, colon);
    return terminal_error_print(STATUS_USAGE, hint,
                                "--ratings %s: there is no such file, and the item has no rating",
                                mine);
}

static int read_any(struct reading *reading) {
    struct stat found;
    const char *mine = reading->path;
    if (strcmp(mine, "-") == 0) {
        reading->name = "<stdin>";
        return read_once(reading, STDIN_FILENO);
    }
    bool is_there = stat(mine, &found) == 0;
    bool is_missing = !is_there && errno == ENOENT;
    if (!is_there && strpbrk(mine, reading->ranks ? ":," : ":") != NULL) return read_pairs(reading);
    if (is_missing) return refuse_missing(reading);
    bool is_once = is_there && !S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode);
    return is_once ? read_pipe(reading) : read_path(reading);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* The ratings that stay do so in their order, as in a table without the others. */
static int keep_last(const struct dpmf_model_info *info, struct own_ratings *own) {
    uint8_t *seen = calloc((size_t)(info->items / 8 + 1), 1);
    if (seen == NULL) return model_use_no_memory();
    size_t first = own->n;
    for (size_t i = own->n; i-- > 0;) {
        uint64_t item = own->ratings[i].item;
        uint8_t bit = (uint8_t)(1u << item % 8);
        if ((seen[item / 8] & bit) == 0) own->ratings[--first] = own->ratings[i];
        seen[item / 8] |= bit;
    }
    free(seen);
    own->replaced = first;
    own->n -= first;
    if (first > 0) memmove(own->ratings, own->ratings + first, own->n * sizeof *own->ratings);
    return STATUS_DONE;
}

/* Times and ids are taken for ratings where a table has no names, and are this far off. */
static const double FAR_SPANS = 100;

static int refuse_far(const struct reading *reading, const struct dpmf_model_info *info,
                      double rating) {
    return terminal_error_print(
        STATUS_INPUT,
        reading->are_pairs ? "give ratings on the model's scale, or --rescale them"
                           : "name the columns in a first line, as item,rating; or --rescale",
        "%s: a rating of %.4g is far off the model's scale, %s to %s", reading->name, rating,
        text_double(info->min).text, text_double(info->max).text);
}

static int check_all(const struct reading *reading, const struct dpmf_model_info *info) {
    struct own_ratings *own = reading->own;
    if (reading->ranks) return STATUS_DONE; /* counts and likes are on no scale */
    for (size_t i = 0; i < own->n; i++) {
        double rating = own->ratings[i].rating;
        if (!isfinite((float)rating))
            return terminal_error_print(STATUS_INPUT, "give ratings on the model's scale",
                                        "%s: a rating is too large a number", reading->name);
        double far = FAR_SPANS * (info->max - info->min);
        if (rating < info->min - far || rating > info->max + far)
            return refuse_far(reading, info, rating);
        own->outside += rating < info->min || rating > info->max;
    }
    return STATUS_DONE;
}

/* Two that want standard input would each get a part of it. */
static int check_stdin(const struct invocation *invocation) {
    static const enum option_id others[] = {OPTION_HISTORY, OPTION_INCLUDE, OPTION_EXCLUDE,
                                            OPTION_CATALOGUE};
    bool is_wanted = false;
    if (!options_is(invocation, OPTION_MINE, "-")) return STATUS_DONE;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        is_wanted |= options_is(invocation, others[i], "-");
    for (size_t i = 0; i < invocation->n_operands; i++)
        is_wanted |= strcmp(invocation->operands[i], "-") == 0;
    if (!is_wanted) return STATUS_DONE;
    return terminal_error_print(STATUS_USAGE, "give all but one of them as a file",
                                "standard input can be read only once");
}

int own_ratings_read(struct invocation *invocation, const struct dpmf_model *model,
                     const struct catalogue *catalogue, struct own_ratings *own) {
    const char *mine = invocation->value[OPTION_MINE];
    struct dpmf_model_info info;
    struct reading reading = {.invocation = invocation,
                              .model = model,
                              .catalogue = catalogue,
                              .own = own,
                              .input = options_input(invocation),
                              .path = mine,
                              .name = mine};
    dpmf_model_info(model, &info);
    reading.ranks = strcmp(info.goal, "ranking") == 0;
    reading.event = reading.ranks && isfinite(info.like) ? info.like : 1;
    int status = check_stdin(invocation);
    if (status == STATUS_DONE) status = read_any(&reading);
    if (status == STATUS_DONE) status = keep_last(&info, own);
    if (status == STATUS_DONE) status = check_all(&reading, &info);
    terminal_progress_end(&invocation->terminal);
    return status;
}

void own_ratings_from_history(struct own_ratings *own, struct dpmf_history *history) {
    *own = (struct own_ratings){
        .ratings = history->ratings, .n = history->n, .unknown = history->unknown_items};
    *history = (struct dpmf_history){0};
}

void own_ratings_mark(const struct own_ratings *own, uint8_t *bitmap) {
    dpmf_ratings_mark(own->ratings, own->n, bitmap);
    dpmf_diary_mark(own->diary, bitmap);
}

void own_ratings_free(struct own_ratings *own) {
    dpmf_diary_free(own->diary);
    free(own->ratings);
    *own = (struct own_ratings){0};
}

/* ---- what is said about them ----------------------------------------------------------------- */

static void note_unknown(struct invocation *invocation, const struct dpmf_model *model,
                         const struct own_ratings *own) {
    char first[OWN_UNKNOWN_MAX + MODEL_HINT_MAX + 32] = "", hint[MODEL_HINT_MAX];
    if (own->first_unknown[0] != '\0') {
        model_use_suggest(model, MODEL_ITEM, own->first_unknown, hint);
        snprintf(first, sizeof first, "; %s\"%s\"%s%s",
                 own->unknown > 1 ? "the first is " : "it is ", own->first_unknown,
                 hint[0] != '\0' ? ", " : "", hint);
    }
    terminal_note_print(&invocation->terminal,
                        "%s of items that the model does not know: left out%s",
                        text_count(own->unknown, "rating").text, first);
}

void own_ratings_note(struct invocation *invocation, const struct dpmf_model *model,
                      const struct catalogue *catalogue, const struct own_ratings *own) {
    struct terminal *terminal = &invocation->terminal;
    struct dpmf_model_info info;
    char text[320];
    dpmf_model_info(model, &info);
    if (own->listed > 0)
        terminal_note_print(&invocation->terminal,
                            "%s on a list, kept or hidden and not rated: left out",
                            text_count(own->listed, "title").text);
    if (own->skipped > 0) {
        snprintf(text, sizeof text, "bad records skipped: %s", text_number(own->skipped).text);
        terminal_warning_print(terminal, text);
    }
    if (own->replaced > 0) {
        snprintf(text, sizeof text, "ratings of an item that was rated again: %s; the last won",
                 text_number(own->replaced).text);
        terminal_warning_print(terminal, text);
    }
    if (own->outside > 0) {
        snprintf(text, sizeof text,
                 "ratings outside the model's scale, %s to %s: %s; they are taken as they are",
                 text_double(info.min).text, text_double(info.max).text,
                 text_number(own->outside).text);
        terminal_warning_print(terminal, text);
    }
    if (own->diary != NULL)
        own_diary_note(invocation, catalogue, model, own->diary);
    else if (own->unknown > 0)
        note_unknown(invocation, model, own);
    if (own->n == 0)
        terminal_warning_print(terminal,
                               "there is no rating of an item that the model knows: items "
                               "are judged by their biases alone");
}
