/*
 * What several commands print at their end: the summary of a packed store, JSON lines, and the
 * check that standard output took everything.
 */
#ifndef DPMF_PROGRAMS_REPORT_H
#define DPMF_PROGRAMS_REPORT_H

#include "cli/command.h"
#include "dpmf_text.h"

/* Prints the JSON text as one line and frees it. @return an exit status */
int report_json_print(struct dpmf_json *json);

/* How the records of a store were read, and whether private runs accept it: "csv, layout guessed,
 * ...". */
struct report_layout {
    char text[320];
};
struct report_layout report_layout(const struct dpmf_layout *layout);

/* Adds the same to an object: layout, formats, drops_bad and by_record. */
void report_layout_json(struct dpmf_json *json, const struct dpmf_layout *layout);

/* Reports lines that contradict the header, whatever is silenced. */
void report_other_headers(struct terminal *terminal, uint64_t n);

/* The same, and a first line that contradicts --columns, of a store that was opened under -q: for
 * whatever makes stores of it. */
void report_quiet_alerts(struct terminal *terminal, const struct dpmf_store *store);

/* Reports how a store was packed: to people on standard error, to scripts on standard output.
 * @return an exit status */
int report_import_print(struct invocation *invocation, const char *output,
                        const struct dpmf_import_report *report);

/* Ends the progress line and prints what the library reports, with a line that says how to fix it.
 * @return the exit status that goes with it */
int report_error_print(struct invocation *invocation, const struct dpmf_error *error);

/* Flushes standard output. @return `status`, or STATUS_IO when `status` is 0 and it did not take
 *                                  everything */
int report_stdout_check(int status);

/* What a record of a store is called: "event" or "rating". */
const char *report_record(bool holds_events);

#endif
