/*
 * Ratings given as text, ITEM:RATING,ITEM:RATING; for a model that learns from events an item needs
 * no rating. Fed by own_read.c.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "dpmf_text.h"
#include "own/own.h"

/* `why` may name settings. */
static int refuse_pair(const struct own_reading *reading, const char *pair, const char *why,
                       struct dpmf_error *error) {
    char head[DPMF_ERROR_TEXT_MAX], text[2 * DPMF_ERROR_TEXT_MAX];
    int code;
    const char *form = reading->info.is_of_events ? "ITEM:COUNT" : "ITEM:RATING";
    if (strstr(reading->name, "://")) /* an address, of which no part is for showing */
        code = error_set(error, DPMF_ERR_USAGE_VALUE,
                         "{ratings}: an address is neither a file nor %s", form);
    else {
        dpmf_error_write(head, sizeof head,
                         "{ratings}: there is no file \"%.100s\", and \"%.100s\" is not %s",
                         reading->name, pair, form);
        snprintf(text, sizeof text, "%s%s%.400s", head, why ? ": " : "", why ? why : "");
        code = error_set_text(error, DPMF_ERR_USAGE_VALUE, text);
    }
    error_hint(error, "for example: {ratings dune%s}; an item whose id has a comma goes in a file",
               reading->info.is_of_events ? ",solaris:3" : ":5,solaris:3.5");
    return code;
}

static int refuse_rating(const struct own_reading *reading, const char *pair, const char *rating,
                         int fault, struct dpmf_error *error) {
    char quoted[DPMF_ERROR_TEXT_MAX], why[2 * DPMF_ERROR_TEXT_MAX];
    dpmf_error_write(quoted, sizeof quoted, "\"%.100s\"", rating);
    snprintf(why, sizeof why, "%s %s", quoted,
             reading->info.is_of_events ? own_count_fault(fault) : own_fault(fault));
    return refuse_pair(reading, pair, why, error);
}

/* Whether a text begins with a pair and goes on with something other than a comma. */
static bool are_several(const char *text) {
    const char *other = strpbrk(text, "; \t\n|");
    const char *colon = other ? memrchr(text, ':', (size_t)(other - text)) : NULL;
    char rating[32];
    double value;
    if (!colon || (size_t)(other - colon) > sizeof rating) return false;
    snprintf(rating, sizeof rating, "%.*s", (int)(other - colon - 1), colon + 1);
    return dpmf_parse_double(rating, &value) == 0;
}

/* What stands after the colon. @return 0, or a code for what is wrong with it */
static int parse_value(const struct own_reading *reading, const char *text, double *value) {
    return reading->info.is_of_events ? own_parse_count(text, value)
                                      : own_parse(reading, text, value);
}

static bool knows(const struct own_reading *reading, const char *id, size_t length) {
    return dpmf_model_find_item(reading->model, id, length) != UINT64_MAX;
}

/* One pair, in its own copy. The last colon separates the two, so that ids may hold colons. Where
 * items need no rating, an item that the model knows may be all of it. */
static int read_pair(const struct own_reading *reading, char *pair, struct dpmf_error *error) {
    double rating;
    char *colon = strrchr(pair, ':');
    const bool is_pair = colon && colon != pair;
    int fault = is_pair ? parse_value(reading, colon + 1, &rating) : 0;
    const bool is_item =
        !is_pair || (knows(reading, pair, strlen(pair)) &&
                     (fault != 0 || !knows(reading, pair, (size_t)(colon - pair))));
    if (reading->ranks && pair[0] != '\0' && is_item)
        return own_add(reading, pair, strlen(pair), reading->event, error);
    if (!is_pair) return refuse_pair(reading, pair, NULL, error);
    if (fault != 0 && reading->input->skip_bad) {
        reading->own->skipped++;
        return 0;
    }
    if (fault != 0) return refuse_rating(reading, pair, colon + 1, fault, error);
    const uint64_t unknown = reading->own->unknown;
    int code = own_add(reading, pair, (size_t)(colon - pair), rating, error);
    if (code < 0 || reading->own->unknown == unknown || !are_several(pair)) return code;
    return refuse_pair(reading, pair, "separate pairs by commas, without spaces", error);
}

/* What says how a file is read says nothing of a text of pairs. */
static int check_layout(const struct own_reading *reading, struct dpmf_error *error) {
    const struct dpmf_input_options *input = reading->input;
    const char *given = input->format           ? "{format}"
                        : input->columns        ? "{columns}"
                        : input->separator != 0 ? "{separator}"
                        : input->user_column    ? "{user-column}"
                        : input->item_column    ? "{item-column}"
                        : input->rating_column  ? "{rating-column}"
                        : input->time_column    ? "{time-column}"
                                                : NULL;
    char text[120];
    if (!given) return 0;
    snprintf(text, sizeof text, "%s is about files, and {ratings} names none", given);
    error_set_text(error, DPMF_ERR_USAGE_CONFLICT, text);
    error_hint(error, "leave it out; or check the path, if these are the ratings of a file");
    return DPMF_ERR_USAGE_CONFLICT;
}

int own_pairs_read(struct own_reading *reading, struct dpmf_error *error) {
    reading->are_pairs = true;
    int code = check_layout(reading, error);
    if (code == 0 && reading->info.is_of_events) code = own_check_counts(reading, error);
    if (code < 0) return code;
    char *text = strdup(reading->name);
    if (!text) code = error_no_memory(error);
    for (char *at = text, *pair; code == 0 && (pair = strsep(&at, ","));)
        code = read_pair(reading, pair, error);
    free(text);
    return code;
}
