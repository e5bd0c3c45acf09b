/*
 * What several commands print at their end: the summary of a packed store, JSON lines, and the
 * check that standard output took everything. Fed by import, synth and main.
 */
#include "cli/report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/error_show.h"
#include "cli/ranks.h"
#include "cli/signals.h"
#include "cli/text.h"
#include "dpmf_text.h"

int report_json_print(struct dpmf_json *json) {
    size_t length = 0;
    const char *text = dpmf_json_text(json, &length);
    int status = STATUS_DONE;
    if (text == NULL) {
        status = terminal_error_print(error_exit_status(DPMF_ERR_BASE_NO_MEMORY), NULL, "%s",
                                      dpmf_error_sentence(DPMF_ERR_BASE_NO_MEMORY));
    } else {
        fwrite(text, 1, length, stdout);
        fputc('\n', stdout);
    }
    dpmf_json_free(json);
    return status;
}

/* The library knows what is wrong with a record; what one can do about it here is ours to say. */
static void fill_hint(char *hint, size_t size, const struct verb *verb, int code) {
    switch (code) {
    case DPMF_ERR_USAGE_VALUE:
    case DPMF_ERR_USAGE_CONFLICT:
    case DPMF_ERR_RATINGS_SHAPE:
        snprintf(hint, size, "dpmf help %s explains its options", verb->name);
        break;
    case DPMF_ERR_INPUT_COLUMNS:
    case DPMF_ERR_INPUT_NUMBER:
    case DPMF_ERR_INPUT_NOT_FINITE:
    case DPMF_ERR_INPUT_OUT_OF_RANGE:
    case DPMF_ERR_INPUT_ID:
    case DPMF_ERR_INPUT_ID_TOO_LONG:
    case DPMF_ERR_INPUT_TIME:
    case DPMF_ERR_INPUT_JSON:
        snprintf(hint, size, "fix this record, or leave bad records out with --on-error skip");
        break;
    case DPMF_ERR_INPUT_COUNT:
    case DPMF_ERR_INPUT_HEADER:
    case DPMF_ERR_INPUT_QUOTE:
    case DPMF_ERR_INPUT_LINE_TOO_LONG:
        snprintf(hint, size,
                 "copy the file again if it was cut or edited; dpmf help %s lists the options for "
                 "reading it",
                 verb->name);
        break;
    case DPMF_ERR_INPUT_EMPTY: snprintf(hint, size, "check that this is the file you mean"); break;
    case DPMF_ERR_BASE_NO_MEMORY:
        snprintf(hint, size, "ask for less, for example with --memory 512MiB");
        break;
    case DPMF_ERR_BASE_BUG:
        snprintf(hint, size, "please report this, with what dpmf doctor prints");
        break;
    default: break;
    }
}

int report_error_print(struct invocation *invocation, const struct dpmf_error *error) {
    char message[2 * DPMF_ERROR_TEXT_MAX + TEXT_NUMBER_MAX], hint[2 * DPMF_ERROR_TEXT_MAX] = "";
    terminal_progress_end(&invocation->terminal);
    /* After a signal the run was stopped, or a system call was cut off: the signal is the news. */
    if (signals_pending() != 0) return 128 + signals_pending();
    if (!ranks_speak(invocation)) return error_exit_status(error->code);
    error_show(error, message, sizeof message);
    if (error->hint[0] != '\0')
        error_show_text(error->hint, hint, sizeof hint);
    else
        fill_hint(hint, sizeof hint, invocation->verb, error->code);
    return terminal_error_print(error_exit_status(error->code), hint, "%s", message);
}

int report_stdout_check(int status) {
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) return status;
    if (status != STATUS_DONE) return status;
    int number = errno;
    return terminal_error_print(STATUS_IO,
                                number == ENOSPC ? "free some space or write to another disk"
                                                 : "check where standard output goes",
                                "standard output: cannot write: %s",
                                number != 0 ? text_system_error(number).text : "it was cut short");
}

const char *report_record(bool holds_events) { return holds_events ? "event" : "rating"; }

static double rate(uint64_t n, double seconds) { return seconds > 0 ? (double)n / seconds : 0; }

struct report_layout report_layout(const struct dpmf_layout *layout) {
    struct report_layout words;
    const char *verdict = !layout->is_by_record ? "private runs (--epsilon) refuse it"
                          : layout->is_queried  ? "private runs accept it, as partial"
                                                : "private runs accept it";
    const char *where = layout->is_shard ? ", one of several shards" : "";
    if (layout->formats[0] == '\0')
        snprintf(words.text, sizeof words.text, "layout %s%s; %s", layout->origin, where, verdict);
    else
        snprintf(words.text, sizeof words.text, "%s%s, layout %s%s, %s%s; %s", layout->formats,
                 layout->is_queried ? " by a query, a view or functions of the database" : "",
                 layout->origin,
                 strcmp(layout->origin, "dependent") == 0 ? " on other records" : "",
                 layout->drops_bad ? "bad records dropped one by one" : "no bad records allowed",
                 where, verdict);
    return words;
}

void report_layout_json(struct dpmf_json *json, const struct dpmf_layout *layout) {
    dpmf_json_string(json, "layout", layout->origin);
    dpmf_json_string(json, "formats", layout->formats);
    dpmf_json_bool(json, "drops_bad", layout->drops_bad);
    dpmf_json_bool(json, "by_record", layout->is_by_record);
    if (layout->is_shard) dpmf_json_bool(json, "shard", true);
    if (layout->is_queried) dpmf_json_bool(json, "queried", true);
}

static int print_json(const char *output, const struct dpmf_import_report *report) {
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_string(json, "event", "done");
    dpmf_json_string(json, "holds", report->holds_events ? "events" : "ratings");
    dpmf_json_uint(json, "ratings", report->ratings);
    dpmf_json_uint(json, "users", report->users);
    dpmf_json_uint(json, "items", report->items);
    dpmf_json_uint(json, "duplicates", report->duplicates);
    if (report->not_liked > 0) dpmf_json_uint(json, "not_liked", report->not_liked);
    dpmf_json_uint(json, "skipped", report->skipped);
    if (report->other_headers > 0) dpmf_json_uint(json, "other_headers", report->other_headers);
    if (report->first_skipped.code != 0) {
        char first[2 * DPMF_ERROR_TEXT_MAX];
        error_show(&report->first_skipped, first, sizeof first);
        dpmf_json_string(json, "first_skipped", first);
    }
    dpmf_json_uint(json, "bytes_read", report->bytes_read);
    dpmf_json_uint(json, "bytes_written", report->bytes_written);
    dpmf_json_uint(json, "bytes_spilled", report->bytes_spilled);
    dpmf_json_double(json, "seconds", report->seconds);
    dpmf_json_double(json, "ratings_per_second", rate(report->ratings, report->seconds));
    dpmf_json_string(json, "format", report->format);
    report_layout_json(json, &report->layout);
    dpmf_json_string(json, "output", output);
    dpmf_json_end_object(json);
    return report_json_print(json);
}

static void print_details(struct terminal *terminal, const struct dpmf_import_report *report) {
    if (!terminal->verbose) return;
    terminal_phases_print(terminal);
    terminal_note_print(terminal, "  %-12s %s", "speed",
                        text_rate(rate(report->ratings, report->seconds),
                                  report->holds_events ? "events" : "ratings")
                            .text);
    terminal_note_print(terminal, "  %-12s %s", "read", text_bytes(report->bytes_read).text);
    terminal_note_print(terminal, "  %-12s %s", "spilled", text_bytes(report->bytes_spilled).text);
    terminal_note_print(terminal, "  %-12s %s", "format", report->format);
}

void report_other_headers(struct terminal *terminal, uint64_t n) {
    if (n == 0) return;
    terminal_alert_print(terminal,
                         "lines that contradict the header: %s. If other files begin there, users, "
                         "items and ratings were mixed up in them: give the files one by one; to "
                         "see the line, import them without --on-error skip",
                         text_number(n).text);
}

#define FIRST_LINE_CONTRADICTS "the first line contradicts --columns: which is right?"

void report_quiet_alerts(struct terminal *terminal, const struct dpmf_store *store) {
    struct dpmf_store_info info = {0};
    if (!terminal->quiet || store == NULL) return; /* the library's warnings were shown */
    dpmf_store_info(store, &info);
    if (info.first_line_contradicts) terminal_alert_print(terminal, FIRST_LINE_CONTRADICTS);
    report_other_headers(terminal, info.other_headers);
}

int report_import_print(struct invocation *invocation, const char *output,
                        const struct dpmf_import_report *report) {
    struct terminal *terminal = &invocation->terminal;
    char skipped[3 * DPMF_ERROR_TEXT_MAX] = "", duplicates[3 * TEXT_NUMBER_MAX] = "";
    const bool liked = command_has(invocation, OPTION_LIKE);
    const char *one = report_record(report->holds_events);
    terminal_progress_end(terminal);
    if (report->ratings == 0)
        terminal_alert_print(terminal, "there are no usable %ss: the store is empty", one);
    if (terminal->quiet && report->first_line_contradicts)
        terminal_alert_print(terminal, FIRST_LINE_CONTRADICTS);
    if (terminal->quiet) report_other_headers(terminal, report->other_headers);
    if (report->duplicates > 0 && report->holds_events && !liked)
        snprintf(duplicates, sizeof duplicates, "; %s of repeated pairs, counts added",
                 text_count(report->duplicates, "record").text);
    else if (report->duplicates > 0)
        snprintf(duplicates, sizeof duplicates, "; %s, the %s",
                 text_count(report->duplicates, "duplicated pair").text,
                 report->keeps_latest ? "latest rating counts, then the highest"
                                      : "last rating counts");
    if (report->skipped > 0) {
        char first[2 * DPMF_ERROR_TEXT_MAX];
        error_show(&report->first_skipped, first, sizeof first);
        snprintf(skipped, sizeof skipped, "; %s skipped, first: %s",
                 text_count(report->skipped, "bad record").text, first);
    }
    double each = report->ratings > 0 ? (double)report->bytes_written / (double)report->ratings : 0;
    terminal_note_print(
        terminal, "packed %s of %s for %s into %s (%s, %.1f bytes %s %s) in %s%s%s",
        text_count(report->ratings, one).text, text_count(report->users, "user").text,
        text_count(report->items, "item").text, output, text_bytes(report->bytes_written).text,
        each, report->holds_events ? "an" : "a", one, text_seconds(report->seconds).text,
        duplicates, skipped);
    if (report->not_liked > 0)
        terminal_note_print(terminal, "%s below --like: not events",
                            text_count(report->not_liked, "rating").text);
    terminal_note_print(terminal, "read as %s", report_layout(&report->layout).text);
    if (report->unused[0]) terminal_note_print(terminal, "columns not used: %s", report->unused);
    print_details(terminal, report);
    return command_has(invocation, OPTION_JSON) ? print_json(output, report) : STATUS_DONE;
}
