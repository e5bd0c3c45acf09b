/*
 * dpmf split: one set of ratings into a training and a test store. Fed by a store or any ratings
 * input; feeds training and evaluation.
 */
#include "cli/options.h"
#include "cli/report.h"
#include "cli/shared_options.h"
#include "cli/text.h"
#include "dpmf_text.h"

/* ---- options and manual ---------------------------------------------------------------------- */

static int run(struct invocation *invocation);

static const char *split_choices(size_t i, const char **description) {
    static const char *const names[] = {"random", "user", "time", NULL};
    return choice_listed(names, i, description);
}

static void fraction_default(FILE *out) {
    fputs(text_double(dpmf_split_options_default().test_fraction).text, out);
}

/* One option, a few lines: the formatter would give each of its fields a line of its own. */
/* clang-format off */
static const struct option own_options[] = {
    {.id = OPTION_TRAIN, .required = true, .name = "train",
     .value = {VALUE_OUTPUT, "A.dpr", "train.dpr", ".dpr", NULL},
     .help = "the store for the training ratings"},
    {.id = OPTION_TEST, .required = true, .name = "test",
     .value = {VALUE_OUTPUT, "B.dpr", "test.dpr", ".dpr", NULL},
     .help = "the store for the test ratings"},
    REPLACE_OPTION,
    {.id = OPTION_TEST_FRACTION, .name = "test-fraction",
     .value = {VALUE_FRACTION, "F", "0.1", NULL, NULL}, .show_default = fraction_default,
     .help = "how much goes to the test store (default {default})"},
    {.id = OPTION_BY, .name = "by", .value = {VALUE_CHOICE, "WHAT", "user", NULL, split_choices},
     .help = "what the test is made of: each rating at random (random, the default), whole users "
             "at random (user), or the latest ratings (time)"},
    {.id = OPTION_PROBE, .name = "probe", .value = {VALUE_FILE, "FILE", "probe.txt", ".txt", NULL},
     .help = "put exactly the pairs of this file, in the form of the Netflix Prize's probe.txt, "
             "in the test store"},
    SEED_OPTION,
    {0},
};
/* clang-format on */

const struct verb verb_split = {
    .name = "split",
    .summary = "split ratings into a training and a test store",
    .synopsis = "FILE --train A.dpr --test B.dpr [options]",
    .paragraphs =
        {
            "Puts every rating of FILE, a store or any input of dpmf import, in one of two stores. "
            "The choice depends on --seed and on the text of the ids alone: not on the order of "
            "the file, the number of threads or the machine. Neither store appears unless both are "
            "complete. A split by time leaves ratings without a time in the training store, and "
            "divides those of the second at which it cuts at random; it says how many. The "
            "stores record that they belong together: train --valid, tune --valid and evaluate "
            "--history refuse halves of different splits. To split a half again, use another "
            "--seed.",
        },
    .groups = {{"Options", own_options}, {"How the input is read", input_options}},
    .operands = {{VALUE_FILE, "FILE", "ratings.dpr", NULL, NULL}, 1, 1},
    .exit_note = "3 when one of the stores would be empty, or when --by time finds no "
                 "rating with a time.",
    .examples =
        {
            {"A tenth of the ratings for the test",
             "dpmf split ratings.dpr --train train.dpr --test test.dpr", SOME_STORE},
            {"The latest fifth for the test",
             "dpmf split ratings.dpr --by time --test-fraction 0.2 --train past.dpr --test "
             "future.dpr",
             SOME_STORE},
        },
    .run = run,
};

/* ---- what it does ---------------------------------------------------------------------------- */

static int fill(const struct invocation *invocation, struct dpmf_split_options *options) {
    *options = dpmf_split_options_default();
    if (command_has(invocation, OPTION_PROBE)) {
        if (command_has(invocation, OPTION_BY) || command_has(invocation, OPTION_TEST_FRACTION))
            return terminal_error_print(STATUS_USAGE, "leave out --by and --test-fraction",
                                        "--probe already says which ratings are the test");
        options->by = DPMF_SPLIT_PROBE;
        options->probe = invocation->value[OPTION_PROBE];
    } else if (options_is(invocation, OPTION_BY, "user")) {
        options->by = DPMF_SPLIT_USER;
    } else if (options_is(invocation, OPTION_BY, "time")) {
        options->by = DPMF_SPLIT_TIME;
    } else {
        options->by = DPMF_SPLIT_RANDOM;
    }
    if (command_has(invocation, OPTION_SEED))
        options->seed = options_count(invocation, OPTION_SEED);
    if (command_has(invocation, OPTION_TEST_FRACTION)) {
        options->test_fraction = options_number(invocation, OPTION_TEST_FRACTION);
        if (!(options->test_fraction > 0 && options->test_fraction < 1))
            return terminal_error_print(STATUS_USAGE, "for example: --test-fraction 0.1",
                                        "--test-fraction %s leaves one of the stores empty",
                                        invocation->value[OPTION_TEST_FRACTION]);
    }
    return 0;
}

static int print_json(const struct invocation *invocation, const struct dpmf_split_options *options,
                      const struct dpmf_split_report *report, double seconds) {
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_string(json, "event", "done");
    dpmf_json_uint(json, "train_ratings", report->train_ratings);
    dpmf_json_uint(json, "train_users", report->train_users);
    dpmf_json_uint(json, "train_items", report->train_items);
    dpmf_json_uint(json, "test_ratings", report->test_ratings);
    dpmf_json_uint(json, "test_users", report->test_users);
    dpmf_json_uint(json, "test_items", report->test_items);
    if (options->by == DPMF_SPLIT_PROBE)
        dpmf_json_uint(json, "probe_missing", report->probe_missing);
    if (options->by == DPMF_SPLIT_TIME) dpmf_json_int(json, "cut_time", report->cut_time);
    dpmf_json_double(json, "seconds", seconds);
    dpmf_json_string(json, "train", invocation->value[OPTION_TRAIN]);
    dpmf_json_string(json, "test", invocation->value[OPTION_TEST]);
    dpmf_json_end_object(json);
    return report_json_print(json);
}

static void print_part(struct terminal *terminal, const char *name, const char *record,
                       uint64_t ratings, uint64_t users, uint64_t items, const char *path) {
    terminal_note_print(terminal, "%-5s %s of %s for %s into %s", name,
                        text_count(ratings, record).text, text_count(users, "user").text,
                        text_count(items, "item").text, path);
}

static void print_notes(struct invocation *invocation, const struct dpmf_split_options *options,
                        const char *record, const struct dpmf_split_report *report) {
    struct terminal *terminal = &invocation->terminal;
    terminal_progress_end(terminal);
    print_part(terminal, "train", record, report->train_ratings, report->train_users,
               report->train_items, invocation->value[OPTION_TRAIN]);
    print_part(terminal, "test", record, report->test_ratings, report->test_users,
               report->test_items, invocation->value[OPTION_TEST]);
    if (options->by == DPMF_SPLIT_TIME)
        terminal_note_print(terminal, "the test begins at %s", text_time(report->cut_time).text);
    if (report->probe_missing > 0)
        terminal_note_print(terminal, "%s of the probe file %s not among the %ss",
                            text_count(report->probe_missing, "pair").text,
                            report->probe_missing == 1 ? "is" : "are", record);
    terminal_phases_print(terminal);
}

static int run(struct invocation *invocation) {
    struct dpmf_split_options options;
    struct dpmf_input_options input = options_input(invocation);
    struct dpmf_split_report report = {0};
    struct dpmf_error error = {0};
    struct dpmf_store *store = NULL;
    struct dpmf_store_info info = {0};
    double started = terminal_clock();

    int status = fill(invocation, &options);
    if (status != 0) return status;

    int rc = dpmf_output_check_kind(invocation->value[OPTION_TRAIN], DPMF_FILE_STORE,
                                    &invocation->run, &error);
    if (rc == 0)
        rc = dpmf_output_check_kind(invocation->value[OPTION_TEST], DPMF_FILE_STORE,
                                    &invocation->run, &error);
    if (rc == 0)
        rc = dpmf_store_open(invocation->operands[0], &input, &invocation->run, &store, &error);
    if (rc == 0) report_quiet_alerts(&invocation->terminal, store);
    if (rc == 0)
        rc =
            dpmf_store_split(store, invocation->value[OPTION_TRAIN], invocation->value[OPTION_TEST],
                             &options, &invocation->run, &report, &error);
    if (rc == 0) dpmf_store_info(store, &info);
    dpmf_store_close(store);
    if (rc != 0) return report_error_print(invocation, &error);
    print_notes(invocation, &options, report_record(info.holds_events), &report);
    if (command_has(invocation, OPTION_JSON))
        return print_json(invocation, &options, &report, terminal_clock() - started);
    return STATUS_DONE;
}
