/*
 * dpmf shard: one set of ratings as several stores of whole users. Fed by a store or any ratings
 * input; feeds dpmf train, by one process or by many.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/error_show.h"
#include "cli/options.h"
#include "cli/report.h"
#include "cli/shared_options.h"
#include "cli/text.h"
#include "dpmf_text.h"

/* ---- options and manual ---------------------------------------------------------------------- */

static int run(struct invocation *invocation);

/* One option, a few lines: the formatter would give each of its fields a line of its own. */
/* clang-format off */
static const struct option own_options[] = {
    {.id = OPTION_PARTS, .required = true, .name = "parts",
     .value = {VALUE_COUNT, "N", "8", NULL, NULL},
     .help = "how many stores to make, at most 4096 and one for each user"},
    {.id = OPTION_OUTPUT, .letter = 'o', .required = true, .name = "output",
     .value = {VALUE_DIRECTORY, "DIR", "shards", NULL, NULL},
     .help = "the directory to make for them"},
    {0},
};
/* clang-format on */

const struct verb verb_shard = {
    .name = "shard",
    .summary = "cut ratings into several stores, for several processes",
    .synopsis = "FILE --parts N -o DIR [options]",
    .paragraphs =
        {
            "Puts the users of FILE, a store or any input of dpmf import, one after the other into "
            "N stores, with about the same number of ratings in each. All of them have the same "
            "items under the same numbers. Every command that reads ratings accepts DIR for all of "
            "them together; under mpirun each process of dpmf train then reads its part.",
            "DIR gets a list of the stores, shards.json, with digests of what is in them. A "
            "directory "
            "with a store missing, or with another in its place, is refused: someone who was "
            "in "
            "two of them would count twice.",
        },
    .groups = {{"Options", own_options}, {"How the input is read", input_options}},
    .operands = {{VALUE_FILE, "FILE", "ratings.dpr", NULL, NULL}, 1, 1},
    .examples =
        {
            {"Cut a store into four, and look at all of them together",
             "dpmf shard ratings.dpr --parts 4 -o shards && dpmf describe shards", SOME_STORE},
        },
    .run = run,
};

/* ---- what it does ---------------------------------------------------------------------------- */

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
                                    "give the name of a directory that does not exist yet",
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

static int run(struct invocation *invocation) {
    struct dpmf_input_options input = options_input(invocation);
    struct dpmf_shard_report report = {0};
    struct dpmf_error error = {0};
    struct dpmf_store *store = NULL;
    struct dpmf_store_info info = {0};
    struct terminal *terminal = &invocation->terminal;
    const uint64_t parts = options_count(invocation, OPTION_PARTS);
    const double started = terminal_clock();
    int status = check_directory(invocation);
    if (status != STATUS_DONE) return status;
    int rc = dpmf_store_open(invocation->operands[0], &input, &invocation->run, &store, &error);
    if (rc == 0) report_quiet_alerts(&invocation->terminal, store);
    if (rc == 0)
        rc = dpmf_store_shard(store, invocation->value[OPTION_OUTPUT],
                              parts > UINT32_MAX ? UINT32_MAX : (uint32_t)parts, &invocation->run,
                              &report, &error);
    if (rc == 0) dpmf_store_info(store, &info);
    dpmf_store_close(store);
    if (rc != 0) return report_error_print(invocation, &error);
    const char *record = report_record(info.holds_events);
    terminal_progress_end(terminal);
    terminal_note_print(
        terminal, "%s of %s in %s, of %s to %s %ss each, in %s",
        text_count(report.ratings, record).text, text_count(report.users, "user").text,
        text_count(report.parts, "part").text, text_number(report.fewest_ratings).text,
        text_number(report.most_ratings).text, record, invocation->value[OPTION_OUTPUT]);
    terminal_phases_print(terminal);
    return command_has(invocation, OPTION_JSON)
               ? print_json(invocation, &report, terminal_clock() - started)
               : STATUS_DONE;
}
