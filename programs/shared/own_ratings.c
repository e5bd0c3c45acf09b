/*
 * Someone's own ratings, as --ratings names them: read by the library, and what came of it noted.
 * Feeds recommend, predict, similar and explain.
 */
#include "shared/own_ratings.h"

#include <string.h>

#include "cli/options.h"
#include "cli/report.h"
#include "cli/text.h"
#include "dpmf_text.h"

/* ---- reading --------------------------------------------------------------------------------- */

static void take_read(struct own_ratings *own, struct dpmf_own *read) {
    dpmf_own_info(read, &own->info);
    own->read = read;
    own->ratings = own->info.ratings;
    own->n = own->info.n;
    own->unknown = own->info.unknown;
}

int own_ratings_read(struct invocation *invocation, const struct dpmf_model *model,
                     const struct catalogue *catalogue, struct own_ratings *own) {
    const struct dpmf_input_options input = options_input(invocation);
    struct dpmf_own *read = NULL;
    struct dpmf_error error = {0};
    int rc = dpmf_own_read(model, invocation->value[OPTION_MINE],
                           catalogue->n > 0 ? (const char *const *)catalogue->titles : NULL, &input,
                           &invocation->run, &read, &error);
    if (rc != 0) return report_error_print(invocation, &error);
    terminal_progress_end(&invocation->terminal);
    take_read(own, read);
    own->name =
        options_is(invocation, OPTION_MINE, "-") ? "<stdin>" : invocation->value[OPTION_MINE];
    return STATUS_DONE;
}

void own_ratings_from_history(struct own_ratings *own, struct dpmf_history *history) {
    *own = (struct own_ratings){.history = *history,
                                .ratings = history->ratings,
                                .n = history->n,
                                .unknown = history->unknown_items};
    *history = (struct dpmf_history){0};
}

void own_ratings_mark(const struct own_ratings *own, uint8_t *bitmap) {
    dpmf_ratings_mark(own->ratings, own->n, bitmap);
    dpmf_own_mark(own->read, bitmap);
}

void own_ratings_free(struct own_ratings *own) {
    dpmf_own_free(own->read);
    dpmf_history_free(&own->history);
    *own = (struct own_ratings){0};
}

/* ---- what is noted about a history of another service ---------------------------------------- */

/* The title of an item, or its id. */
static const char *title_of(const struct catalogue *catalogue, const struct dpmf_model *model,
                            uint64_t item, size_t *length) {
    const char *title = model_title(catalogue, item);
    if (title == NULL) return dpmf_model_item_id(model, item, length);
    *length = strlen(title);
    return title;
}

static void note_left_out(struct terminal *terminal, const struct dpmf_diary_info *info) {
    if (info->files + info->files_left > 0)
        terminal_note_print(terminal, "%s of the archive read; %s left out: no history in them",
                            text_count(info->files, "file").text,
                            text_number(info->files_left).text);
    if (info->bad > 0)
        terminal_note_print(terminal, "rows that could not be read: %s, the first in line %lld",
                            text_number(info->bad).text, (long long)info->first_bad);
    if (info->wishes > 0)
        terminal_note_print(terminal, "%s left out: wanted, not yet watched or read",
                            text_count(info->wishes, "row").text);
    if (info->trifles > 0)
        terminal_note_print(terminal,
                            "%s left out: heard for less than 30 seconds, a trailer or a podcast",
                            text_count(info->trifles, "row").text);
}

/* What decides which rating of a title counts, and columns that decide nothing. */
static void note_columns(struct terminal *terminal, const struct dpmf_diary_info *info) {
    char text[400];
    if (info->again_undated > 0) {
        snprintf(text, sizeof text,
                 "ratings of a title that was rated again: %s; for %s of them no date is "
                 "understood, and the last row counts",
                 text_number(info->again).text, text_number(info->again_undated).text);
        terminal_warning_print(terminal, text);
    } else if (info->again > 0) {
        terminal_note_print(terminal,
                            "ratings of a title that was rated again: %s; the newest counts",
                            text_number(info->again).text);
    }
    if (info->unused[0] == '\0') return;
    snprintf(text, sizeof text, "columns not used: %s", info->unused);
    terminal_warning_print(terminal, text);
}

static void print_item(const struct catalogue *catalogue, const struct dpmf_model *model,
                       uint64_t item) {
    size_t length;
    char shown[200], title[200];
    const char *text = title_of(catalogue, model, item, &length);
    snprintf(title, sizeof title, "%.*s", (int)(length < 190 ? length : 190), text);
    dpmf_title_show(title, strlen(title), shown, sizeof shown);
    terminal_text_print(stderr, shown);
}

/* An entry that was not matched, or not surely: "likely  Moon Wars (1977): Moon Wars: A Tale". */
static void print_entry(const struct catalogue *catalogue, const struct dpmf_model *model,
                        const struct dpmf_diary_entry *entry) {
    static const char *const words[] = {"unknown", "unsure", "likely"};
    fprintf(stderr, "  %-7s  ", words[entry->match]);
    terminal_text_print(stderr, entry->title);
    if (entry->year != 0) fprintf(stderr, " (%d)", (int)entry->year);
    const char *between = ": ";
    if (entry->item != UINT64_MAX) {
        fputs(between, stderr);
        print_item(catalogue, model, entry->item);
    }
    for (uint32_t i = 0; i < entry->n_candidates; i++, between = " | ") {
        fputs(between, stderr);
        print_item(catalogue, model, entry->candidates[i]);
    }
    fputc('\n', stderr);
}

static void note_diary(struct invocation *invocation, const struct catalogue *catalogue,
                       const struct dpmf_model *model, const struct dpmf_diary *diary) {
    struct terminal *terminal = &invocation->terminal;
    struct dpmf_diary_info info;
    struct dpmf_diary_entry entry;
    dpmf_diary_info(diary, &info);
    const size_t left = info.unsure + info.none;
    terminal_note_print(
        terminal,
        "%s from %s, matched by %s: %s surely, %s likely; left out: %s unsure, %s unknown%s",
        text_count(info.entries, "title").text, info.service, info.way, text_number(info.sure).text,
        text_number(info.likely).text, text_number(info.unsure).text, text_number(info.none).text,
        left + info.likely > 0 && !terminal->verbose ? " (-v lists them)" : "");
    note_left_out(terminal, &info);
    note_columns(terminal, &info);
    if (info.entries == left && catalogue->n == 0)
        terminal_note_print(terminal, "items were compared by their ids: --catalogue FILE names "
                                      "a table of titles");
    for (size_t i = 0; terminal->verbose && dpmf_diary_entry(diary, i, &entry); i++)
        if (entry.match < DPMF_MATCH_SURE) print_entry(catalogue, model, &entry);
}

/* ---- what is noted about all of them --------------------------------------------------------- */

static void note_unknown(struct invocation *invocation, const struct dpmf_model *model,
                         const struct own_ratings *own) {
    const char *id = own->info.first_unknown;
    struct dpmf_model_info info;
    dpmf_model_info(model, &info);
    char first[2 * MODEL_HINT_MAX] = "", hint[MODEL_HINT_MAX];
    if (id != NULL && id[0] != '\0') {
        model_use_suggest(model, MODEL_ITEM, id, hint);
        snprintf(first, sizeof first, "; %s\"%.80s\"%s%s",
                 own->unknown > 1 ? "the first is " : "it is ", id, hint[0] != '\0' ? ", " : "",
                 hint);
    }
    terminal_note_print(&invocation->terminal,
                        "%s of items that the model does not know: left out%s",
                        text_count(own->unknown, report_record(info.is_of_events)).text, first);
}

static void warn_number(struct terminal *terminal, const char *before, uint64_t n,
                        const char *after) {
    char text[400];
    if (n == 0) return;
    snprintf(text, sizeof text, "%s: %s%s", before, text_number(n).text, after);
    terminal_warning_print(terminal, text);
}

void own_ratings_note(struct invocation *invocation, const struct dpmf_model *model,
                      const struct catalogue *catalogue, const struct own_ratings *own) {
    struct terminal *terminal = &invocation->terminal;
    const struct dpmf_own_info *found = &own->info;
    struct dpmf_model_info info;
    char scale[240];
    dpmf_model_info(model, &info);
    const bool rates = strcmp(info.goal, "rating") == 0;
    snprintf(scale, sizeof scale, "ratings outside the model's scale, %s to %s",
             text_double(rates ? info.min : info.rated_min).text,
             text_double(rates ? info.max : info.rated_max).text);
    if (found->is_item_first)
        terminal_note_print(terminal,
                            "%s: three columns without names: taken as item, rating and time, "
                            "since they do not fit user, item and rating",
                            own->name);
    if (found->listed > 0)
        terminal_note_print(terminal, "%s on a list, kept or hidden and not rated: left out",
                            text_count(found->listed, "title").text);
    warn_number(terminal, "bad records skipped", found->skipped, "");
    if (info.is_of_events)
        warn_number(terminal, "repeated events of an item", found->replaced,
                    "; their counts were added");
    else
        warn_number(terminal, "ratings of an item that was rated again", found->replaced,
                    "; the last rating counts");
    warn_number(terminal, scale, found->outside, "; they are taken as they are");
    if (found->diary != NULL)
        note_diary(invocation, catalogue, model, found->diary);
    else if (own->unknown > 0)
        note_unknown(invocation, model, own);
    if (own->n == 0 && info.is_of_events)
        terminal_warning_print(terminal, "there is no event of an item that the model knows: these "
                                         "are the items that everyone likes best");
    else if (own->n == 0)
        terminal_warning_print(terminal,
                               "there is no rating of an item that the model knows: items "
                               "are judged by their biases alone");
}
