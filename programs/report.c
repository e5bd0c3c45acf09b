/*
 * What several commands print at their end: the summary of a packed store, JSON lines, and the check
 * that standard output took everything. Fed by import, synth and main.
 */
#include "report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "text.h"

int report_json_print(struct dpmf_json *json) {
    size_t length = 0;
    const char *text = dpmf_json_text(json, &length);
    int status = STATUS_DONE;
    if (text == NULL) {
        status = terminal_error_print(dpmf_error_exit_status(DPMF_ERR_BASE_NO_MEMORY), NULL, "%s",
                                      dpmf_error_sentence(DPMF_ERR_BASE_NO_MEMORY));
    } else {
        fwrite(text, 1, length, stdout);
        fputc('\n', stdout);
    }
    dpmf_json_free(json);
    return status;
}

int report_stdout_check(int status) {
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout)) return status;
    if (status != STATUS_DONE) return status;
    return terminal_error_print(STATUS_IO, "free some space, or write to another place",
                                "cannot write to standard output: %s",
                                errno != 0 ? strerror(errno) : "it was cut short");
}

static double rate(uint64_t n, double seconds) { return seconds > 0 ? (double)n / seconds : 0; }

static int print_json(const char *output, const struct dpmf_import_report *report) {
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_string(json, "event", "done");
    dpmf_json_uint(json, "ratings", report->ratings);
    dpmf_json_uint(json, "users", report->users);
    dpmf_json_uint(json, "items", report->items);
    dpmf_json_uint(json, "duplicates", report->duplicates);
    dpmf_json_uint(json, "skipped", report->skipped);
    if (report->first_skipped.code != 0) {
        char first[2 * DPMF_ERROR_TEXT_MAX];
        dpmf_error_format(&report->first_skipped, first, sizeof first);
        dpmf_json_string(json, "first_skipped", first);
    }
    dpmf_json_uint(json, "bytes_read", report->bytes_read);
    dpmf_json_uint(json, "bytes_written", report->bytes_written);
    dpmf_json_uint(json, "bytes_spilled", report->bytes_spilled);
    dpmf_json_double(json, "seconds", report->seconds);
    dpmf_json_double(json, "ratings_per_second", rate(report->ratings, report->seconds));
    dpmf_json_string(json, "format", report->format);
    dpmf_json_string(json, "output", output);
    dpmf_json_end_object(json);
    return report_json_print(json);
}

static void print_details(struct terminal *terminal, const struct dpmf_import_report *report) {
    if (!terminal->verbose) return;
    terminal_phases_print(terminal);
    terminal_note_print(terminal, "  %-12s %s", "speed",
                        text_rate(rate(report->ratings, report->seconds), "ratings").text);
    terminal_note_print(terminal, "  %-12s %s", "read", text_bytes(report->bytes_read).text);
    terminal_note_print(terminal, "  %-12s %s", "spilled", text_bytes(report->bytes_spilled).text);
    terminal_note_print(terminal, "  %-12s %s", "format", report->format);
}

int report_import_print(struct invocation *invocation, const char *output,
                        const struct dpmf_import_report *report) {
    struct terminal *terminal = &invocation->terminal;
    char skipped[3 * DPMF_ERROR_TEXT_MAX] = "", duplicates[2 * TEXT_NUMBER_MAX] = "";
    terminal_progress_end(terminal);
    if (report->duplicates > 0)
        snprintf(duplicates, sizeof duplicates, "; %s, the last won",
                 text_count(report->duplicates, "duplicated pair").text);
    if (report->skipped > 0) {
        char first[2 * DPMF_ERROR_TEXT_MAX];
        dpmf_error_format(&report->first_skipped, first, sizeof first);
        snprintf(skipped, sizeof skipped, "; %s skipped, first: %s",
                 text_count(report->skipped, "bad record").text, first);
    }
    double each = report->ratings > 0 ? (double)report->bytes_written / (double)report->ratings : 0;
    terminal_note_print(
        terminal, "packed %s of %s for %s into %s (%s, %.1f bytes a rating) in %s%s%s",
        text_count(report->ratings, "rating").text, text_count(report->users, "user").text,
        text_count(report->items, "item").text, output, text_bytes(report->bytes_written).text,
        each, text_seconds(report->seconds).text, duplicates, skipped);
    print_details(terminal, report);
    return command_has(invocation, OPTION_JSON) ? print_json(output, report) : STATUS_DONE;
}
