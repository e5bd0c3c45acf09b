/*
 * What an import warns of: see import_state.h. Fed by import_read.c, record by record and input by
 * input; feeds run->warn.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/rescale.h"
#include "dpmf_text.h"
#include "ratings/import_state.h"

enum {
    LONGEST_MISSING = 9,
    MANY = 100,  /* ratings of an input that most likely reach as far as its scale */
    FARTHER = 2, /* times as far as another input of many ratings: 10 and 5 */
    MUCH = 10,   /* the same for inputs of few, of which one may have the worst ratings alone */
};

/* From dates of eight digits to nanoseconds since 1970. */
static const double LEAST_TIME = 1e7, LAST_TIME = 1e19;

/* Whether a text is one that programs write where a value is missing, such as NULL, None, NaN, NA
 * and \N. Words that may be names as well, such as Nil, are not. */
static bool id_is_missing(const char *id, uint32_t n) {
    static const char *const texts[] = {"NULL", "null", "Null", "None",   "none",     "NaN",
                                        "nan",  "NAN",  "NA",   "N/A",    "n/a",      "#N/A",
                                        "<NA>", "\\N",  "nil",  "(null)", "undefined"};
    if (n < 2 || n > LONGEST_MISSING || !memchr("Nn#<\\(u", id[0], 7)) return false;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (id[0] == texts[i][0] && strlen(texts[i]) == n && memcmp(id, texts[i], n) == 0)
            return true;
    return false;
}

void record_doubts_ids(struct record_doubts *doubts, const struct id_text *ids, int n,
                       bool is_item) {
    uint64_t missing = 0;
    for (int i = 0; i < n; i++) missing += id_is_missing(ids[i].bytes, ids[i].length);
    *(is_item ? &doubts->missing_items : &doubts->missing_users) += missing;
}

void record_doubts_values(struct record_doubts *doubts, const struct dpmf_input_options *options,
                          const double *value, size_t n) {
    const bool is_changed = options->rescale && options->to_min != options->to_max;
    doubts->n += n;
    for (size_t i = 0; i < n; i++) {
        const double read = is_changed ? rescale(value[i], options->to_min, options->to_max,
                                                 options->from_min, options->from_max)
                                       : value[i];
        doubts->like_times += read >= LEAST_TIME && read <= LAST_TIME;
        if (fabs(read) > doubts->largest) doubts->largest = fabs(read);
    }
}

static void merge(struct record_doubts *into, const struct record_doubts *from) {
    into->n += from->n;
    into->missing_users += from->missing_users;
    into->missing_items += from->missing_items;
    into->like_times += from->like_times;
    if (from->largest > into->largest) into->largest = from->largest;
}

void import_doubts_merge(struct import_doubts *doubts, const struct record_doubts *stretch) {
    merge(&doubts->input, stretch);
}

static void keep_reach(struct input_reach *least, struct input_reach *most,
                       struct input_reach reach) {
    if (least->input == 0 || reach.largest < least->largest) *least = reach;
    if (most->input == 0 || reach.largest > most->largest) *most = reach;
}

void import_doubts_end_input(struct import_doubts *doubts, bool holds_events) {
    const struct record_doubts ended = doubts->input;
    struct input_reach reach = {ended.largest, ++doubts->n_inputs};
    merge(&doubts->all, &ended);
    doubts->input = (struct record_doubts){0};
    if (ended.n == 0 || holds_events) return;
    keep_reach(&doubts->least, &doubts->most, reach);
    if (ended.n >= MANY) keep_reach(&doubts->least_many, &doubts->most_many, reach);
}

static void warn_of_missing(const struct record_doubts *all, const struct dpmf_run *run) {
    char text[DPMF_ERROR_TEXT_MAX];
    if (all->missing_users + all->missing_items == 0) return;
    dpmf_error_write(text, sizeof text,
                     "records whose id is a text for a missing value, such as NULL, None, nan, NA "
                     "or \\N: of users %" PRIu64 ", of items %" PRIu64 ", of %" PRIu64
                     " records. All with the same text count as one user, or one item: leave them "
                     "out if nobody is called so",
                     all->missing_users, all->missing_items, all->n);
    run->warn(run->warn_self, text);
}

static void warn_of_times(const struct record_doubts *all, bool holds_events,
                          const struct dpmf_run *run) {
    char text[DPMF_ERROR_TEXT_MAX];
    if (all->like_times == 0 || 2 * all->like_times < all->n) return;
    dpmf_error_write(text, sizeof text,
                     "%ss as large as times since 1970 are: %" PRIu64 " of %" PRIu64
                     ". Is the column the time?",
                     holds_events ? "count" : "rating", all->like_times, all->n);
    run->warn(run->warn_self, text);
}

static bool reaches_farther(struct input_reach least, struct input_reach most, double times) {
    return least.input != most.input && least.largest > 0 && most.largest >= times * least.largest;
}

static void warn_of_scales(const struct import_doubts *doubts, const struct dpmf_run *run) {
    char text[DPMF_ERROR_TEXT_MAX];
    const bool is_of_many = reaches_farther(doubts->least_many, doubts->most_many, FARTHER);
    if (!is_of_many && !reaches_farther(doubts->least, doubts->most, MUCH)) return;
    const struct input_reach least = is_of_many ? doubts->least_many : doubts->least,
                             most = is_of_many ? doubts->most_many : doubts->most;
    dpmf_error_write(text, sizeof text,
                     "the ratings of input %" PRIu64 " reach %s times as far as those of input "
                     "%" PRIu64 ": are they on one scale? If not, bring each to one by itself, "
                     "with {:import} and {rescale}",
                     most.input, is_of_many ? "two or more" : "ten or more", least.input);
    run->warn(run->warn_self, text);
}

void import_doubts_warn(const struct import_doubts *doubts, bool holds_events,
                        const struct dpmf_run *run) {
    if (!run->warn) return;
    warn_of_missing(&doubts->all, run);
    warn_of_times(&doubts->all, holds_events, run);
    warn_of_scales(doubts, run);
}
