/*
 * A table of one person's ratings, without a column of users: which is what most people have of
 * themselves. Decides from its first rows whether a file is one, and reads it row by row. Fed by
 * own_read.c, which leaves everything else to the importer.
 */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "dpmf_text.h"
#include "own/own.h"

/* ---- which table it is ----------------------------------------------------------------------- */

/* What the first two rows of a text look like. */
struct look {
    size_t n_rows, n_fields[2];
    bool has_user, has_item, has_rating, has_count, has_list, has_answers, is_json;
};

/* Whether a column may say no, so that not every row is an event. */
static bool is_answer(const char *name) {
    static const char *const names[] = {"liked",    "like",      "likes",    "watched", "seen",
                                        "read",     "heard",     "played",   "owned",   "favourite",
                                        "finished", "completed", "favorite", "loved",   "dislike",
                                        "disliked", "unliked",   "removed",  "deleted", "skipped"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcasecmp(name, names[i]) == 0) return true;
    return false;
}

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
        look->has_answers |= is_answer(record->field[i].text);
        if (!role) continue;
        look->has_user |= strcmp(role, "user") == 0;
        look->has_item |= strcmp(role, "item") == 0;
        look->has_rating |= strcmp(role, "rating") == 0;
        look->has_count |= strcmp(role, "count") == 0;
    }
    return 0;
}

/* What rows of three columns without a header can mean: someone's name before an item and a rating,
 * or, when that does not fit, an item and a rating before a time. */
struct meaning {
    const struct own_reading *reading;
    size_t n_rows;           /* rows in all */
    size_t n_other;          /* rows that do not have three columns */
    size_t first_is_item;    /* rows whose first column names an item of the model */
    size_t second_is_item;   /* rows whose second column does */
    size_t second_is_rating; /* rows whose second column is on the model's scale */
    size_t third_is_rating;  /* rows whose third column is */
};

static bool is_on_scale(const struct own_reading *reading, const struct dpmf_field *field) {
    double rating;
    return own_parse(reading, field->text, &rating) == 0 && rating >= reading->info.min &&
           rating <= reading->info.max;
}

static bool is_item(const struct own_reading *reading, const struct dpmf_field *field) {
    return dpmf_model_find_item(reading->model, field->text, field->length) != UINT64_MAX;
}

static int weigh_row(void *self, const struct dpmf_table_record *record, struct dpmf_error *error) {
    struct meaning *meaning = self;
    const struct own_reading *reading = meaning->reading;
    (void)error;
    meaning->n_rows++;
    if (record->n != 3) {
        meaning->n_other++;
        return 1;
    }
    meaning->first_is_item += is_item(reading, &record->field[0]);
    meaning->second_is_item += is_item(reading, &record->field[1]);
    meaning->second_is_rating += is_on_scale(reading, &record->field[1]);
    meaning->third_is_rating += is_on_scale(reading, &record->field[2]);
    return 0;
}

/* The usual reading stays unless it fails in every row where the other one fails in none. */
static bool are_items_first(const struct own_reading *reading) {
    struct meaning meaning = {.reading = reading};
    if (dpmf_table_read_whole(reading->path, reading->run, weigh_row, &meaning, NULL) != 0)
        return false;
    const size_t n = meaning.n_rows;
    const bool other_fits =
        meaning.n_other == 0 && meaning.first_is_item == n && meaning.second_is_rating == n;
    const bool usual_fits = meaning.second_is_item > 0 && meaning.third_is_rating > 0;
    return n > 0 && other_fits && !usual_fits;
}

/* Whether there is no column of users: the header has none, or there is no header and there are
 * two columns, in both rows, since blocks of ratings may begin with two, or three that mean so; or,
 * of events, one. What cannot be read as a table, a store too, is left to the reader of ratings,
 * which also says why. */
enum own_table own_table_kind(struct own_reading *reading, bool *has_names) {
    struct look look = {0};
    *has_names = false;
    if (dpmf_table_read_whole(reading->path, reading->run, look_at_row, &look, NULL) < 0)
        return OWN_TABLE_OF_USERS;
    if (look.n_rows == 0) return OWN_TABLE_OF_RATINGS;
    reading->own->has_list = look.has_list;
    reading->own->has_answers = look.has_answers && look.has_item;
    *has_names = look.has_item;
    const bool counts = look.has_count && (!look.has_rating || reading->input->events);
    if (reading->ranks && look.has_item && !look.has_user && counts) return OWN_TABLE_OF_COUNTS;
    if (look.has_item && look.has_rating)
        return look.has_user ? OWN_TABLE_OF_USERS : OWN_TABLE_OF_RATINGS;
    if (look.is_json) return OWN_TABLE_OF_USERS;
    if (reading->ranks && !look.has_user && (look.has_item || look.n_fields[0] == 1))
        return OWN_TABLE_OF_EVENTS;
    if (look.n_fields[0] == 3) {
        reading->own->is_item_first = are_items_first(reading);
        return reading->own->is_item_first ? OWN_TABLE_OF_RATINGS : OWN_TABLE_OF_USERS;
    }
    const bool is_two = look.n_fields[0] == 2 && (look.n_rows < 2 || look.n_fields[1] == 2);
    if (!is_two || (reading->ranks && look.has_user)) return OWN_TABLE_OF_USERS;
    return reading->info.is_of_events ? OWN_TABLE_OF_COUNTS : OWN_TABLE_OF_RATINGS;
}

/* ---- its rows -------------------------------------------------------------------------------- */

/* `what` is a rating or a count, and `fault` what is wrong with it. */
static int refuse_row(const struct own_reading *reading, const struct dpmf_table_row *row,
                      const char *what, const char *fault, int code, struct dpmf_error *error) {
    char text[DPMF_ERROR_TEXT_MAX];
    dpmf_error_write(text, sizeof text, "%s \"%.60s\" ", what, row->field[1].text);
    strncat(text, fault, sizeof text - strlen(text) - 1);
    error_set_text(error, code, text);
    error_place(error, reading->name, row->line, row->field[1].column);
    return code;
}

static int take_rating(void *self, const struct dpmf_table_row *row, struct dpmf_error *error) {
    const struct own_reading *reading = self;
    double rating;
    if (reading->own->has_list && row->field[1].length == 0) {
        reading->own->listed++;
        return 0;
    }
    int fault = own_parse(reading, row->field[1].text, &rating);
    if (fault != 0 && reading->input->skip_bad) {
        reading->own->skipped++;
        return 0;
    }
    if (fault != 0) {
        refuse_row(reading, row, "rating", own_fault(fault), fault, error);
        if (fault == DPMF_ERR_INPUT_NUMBER)
            error_hint(error, "rows are an item and a rating, such as dune,4.5");
        return fault;
    }
    if (reading->info.is_of_events) rating = reading->event; /* however high it is */
    return own_add(reading, row->field[0].text, row->field[0].length, rating, error);
}

static int take_event(void *self, const struct dpmf_table_row *row, struct dpmf_error *error) {
    const struct own_reading *reading = self;
    return own_add(reading, row->field[0].text, row->field[0].length, reading->event, error);
}

/* To a model of likes an event is one, however often it happened. */
static int take_count(void *self, const struct dpmf_table_row *row, struct dpmf_error *error) {
    const struct own_reading *reading = self;
    double count;
    int fault = own_parse_count(row->field[1].text, &count);
    if (fault != 0 && reading->input->skip_bad) {
        reading->own->skipped++;
        return 0;
    }
    if (fault != 0) {
        refuse_row(reading, row, "count", own_count_fault(fault), fault, error);
        error_hint(error, "an event happens at least once: leave the column out, or turn it into "
                          "whole numbers");
        return fault;
    }
    return own_add(reading, row->field[0].text, row->field[0].length,
                   fmax(count, reading->info.like), error);
}

static int refuse_answers(const struct own_reading *reading, struct dpmf_error *error) {
    error_set(
        error, DPMF_ERR_INPUT_COLUMNS,
        "a column says of each item whether it was liked, watched or the like, and is not read");
    error_hint(error, "keep the rows that say yes, without that column: every row is one that was");
    error_place(error, reading->name, 1, 0);
    return DPMF_ERR_INPUT_COLUMNS;
}

int own_table_read(struct own_reading *reading, enum own_table kind, struct dpmf_error *error) {
    const bool rates = kind == OWN_TABLE_OF_RATINGS, counts = kind == OWN_TABLE_OF_COUNTS;
    int code = counts ? own_check_counts(reading, error) : 0;
    if (code == 0 && !rates && !counts && reading->own->has_answers)
        code = refuse_answers(reading, error);
    if (code < 0) return code;
    return dpmf_table_read(reading->path,
                           rates    ? "item,rating"
                           : counts ? "item,count"
                                    : "item",
                           reading->run,
                           rates    ? take_rating
                           : counts ? take_count
                                    : take_event,
                           reading, error);
}
