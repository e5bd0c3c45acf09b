/*
 * dpmf shard: one set of ratings as several stores of whole users. Fed by a store or any ratings input; feeds
 * dpmf train, by one process or by many.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "error_show.h"
#include "options.h"
#include "report.h"
#include "text.h"

static int print_json(const struct invocation *invocation, const struct dpmf_shard_report *report,
                      double seconds) {
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_string(json, "event", "done");
    dpmf_json_uint(json, "parts", report->parts);
    dpmf_json_uint(json, "users", report->users);
    dpmf_json_uint(json, "ratings", report->ratings);
    dpmf_json_uint(json, "fewest_ratings", report->fewest_ratings);
    dpmf_json_uint(json, "most_ratings", report->most_ratings);
    dpmf_json_double(json, "seconds", seconds);
    dpmf_json_string(json, "output", invocation->value[OPTION_OUTPUT]);
    dpmf_json_end_object(json);
    return report_json_print(json);
}

/* Before anything is read; what the library would say when everything is. */
static int check_directory(struct invocation *invocation) {
    const char *given = invocation->value[OPTION_OUTPUT];
    struct dpmf_error error = {0};
    struct stat status;
    if (lstat(given, &status) == 0)
        return terminal_error_print(STATUS_USAGE,
                                    "give the name of a directory that is not there yet",
                                    "%s: there is something of that name already", given);
    size_t n = strlen(given);
    while (n > 1 && given[n - 1] == '/') n--;
    char *path = strndup(given, n);
    if (path == NULL)
        return terminal_error_print(error_exit_status(DPMF_ERR_BASE_NO_MEMORY), NULL, "%s",
                                    dpmf_error_sentence(DPMF_ERR_BASE_NO_MEMORY));
    int rc = dpmf_output_check(path, &error);
    free(path);
    return rc == 0 ? STATUS_DONE : report_error_print(invocation, &error);
}

int command_shard_run(struct invocation *invocation) {
    struct dpmf_input_options input = options_input(invocation);
    struct dpmf_shard_report report = {0};
    struct dpmf_error error = {0};
    struct dpmf_store *store = NULL;
    struct terminal *terminal = &invocation->terminal;
    const uint64_t parts = options_count(invocation, OPTION_PARTS);
    const double started = terminal_clock();
    int status = check_directory(invocation);
    if (status != STATUS_DONE) return status;
    int rc = dpmf_store_open(invocation->operands[0], &input, &invocation->run, &store, &error);
    if (rc == 0)
        rc = dpmf_store_shard(store, invocation->value[OPTION_OUTPUT],
                              parts > UINT32_MAX ? UINT32_MAX : (uint32_t)parts, &invocation->run,
                              &report, &error);
    dpmf_store_close(store);
    if (rc != 0) return report_error_print(invocation, &error);
    terminal_progress_end(terminal);
    terminal_note_print(
        terminal, "%s of %s in %s, of %s to %s ratings each, in %s",
        text_count(report.ratings, "rating").text, text_count(report.users, "user").text,
        text_count(report.parts, "part").text, text_number(report.fewest_ratings).text,
        text_number(report.most_ratings).text, invocation->value[OPTION_OUTPUT]);
    terminal_phases_print(terminal);
    return command_has(invocation, OPTION_JSON)
               ? print_json(invocation, &report, terminal_clock() - started)
               : STATUS_DONE;
}
