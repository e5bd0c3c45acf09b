/*
 * dpmf tune: looks for the options of train that predict or rank ratings held back best, tells of
 * each trial as it ends, and prints the command to train with what it found; with -o it trains the
 * model itself. Fed by ratings of any kind; feeds the user's next command line.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/error_show.h"
#include "cli/options.h"
#include "cli/report.h"
#include "cli/shared_options.h"
#include "cli/signals.h"
#include "cli/text.h"
#include "dpmf_text.h"
#include "shared/ledger_words.h"

/* ---- options and manual ---------------------------------------------------------------------- */

static int run(struct invocation *invocation);

static void trials_default(FILE *out) { fprintf(out, "%u", dpmf_tune_options_default().trials); }

static void fraction_default(FILE *out) {
    fputs(text_double(dpmf_tune_options_default().valid_fraction).text, out);
}

/* One option, a few lines: the formatter would give each of its fields a line of its own. */
/* clang-format off */
static const struct option own_options[] = {
    {.id = OPTION_OUTPUT, .letter = 'o', .name = "output",
     .value = {VALUE_OUTPUT, "MODEL", "model.safetensors", ".safetensors", NULL},
     .help = "also train a model on all ratings with the best options, and write it here"},
    REPLACE_OPTION,
    {.id = OPTION_TRIALS, .name = "trials", .value = {VALUE_COUNT, "N", "20", NULL, NULL},
     .show_default = trials_default,
     .help = "largest number of trials (default {default})"},
    {.id = OPTION_MINUTES, .name = "minutes", .value = {VALUE_NUMBER, "M", "10", NULL, NULL},
     .help = "stop after this time, with the best found by then (default: no limit)"},
    {.id = OPTION_VALID, .name = "valid",
     .value = {VALUE_FILE, "RATINGS", "valid.dpr", ".dpr", NULL},
     .help = "measure on these ratings instead of holding some back"},
    {.id = OPTION_VALID_FRACTION, .name = "valid-fraction",
     .value = {VALUE_FRACTION, "F", "0.1", NULL, NULL}, .show_default = fraction_default,
     .help = "share of the ratings to hold back (default {default})"},
    {.id = OPTION_GOAL, .name = "goal",
     .value = {VALUE_CHOICE, "GOAL", "ranking", NULL, goal_choices},
     .help = "what the model is for: rating (the default), measured by RMSE; or ranking, by "
             "NDCG@10"},
    {.id = OPTION_LIKE, .name = "like", .value = {VALUE_TEXT, "X", "4", NULL, NULL},
     .help = "with --goal ranking: ratings of at least X are likes, and nothing else counts; "
             "any, the default: all of them"},
    {.id = OPTION_FACTORS, .letter = 'k', .name = "factors",
     .value = {VALUE_COUNT, "K", "64", NULL, NULL},
     .help = "use this number of factors instead of searching"},
    {.id = OPTION_EPOCHS, .name = "epochs", .value = {VALUE_COUNT, "N", "20", NULL, NULL},
     .help = "run this number of epochs instead of searching"},
    {.id = OPTION_LEARNING_RATE, .name = "learning-rate",
     .value = {VALUE_NUMBER, "X", "0.03", NULL, NULL},
     .help = "begin with this step size instead of searching"},
    {.id = OPTION_REG, .name = "reg", .value = {VALUE_NUMBER, "X", "0.05", NULL, NULL},
     .help = "use this penalty instead of searching"},
    {.id = OPTION_UNOBSERVED, .name = "unobserved", .value = {VALUE_NUMBER, "X", "0.3", NULL, NULL},
     .help = "with --goal ranking: use this weight of a pair without a rating, instead of "
             "searching for one"},
    {.id = OPTION_COUNT_WEIGHT, .name = "count-weight",
     .value = {VALUE_NUMBER, "W", "0.5", NULL, NULL},
     .help = "with --goal ranking: weight events by their counts, as in train"},
    {.id = OPTION_ROW_STEPS, .name = "row-steps", .value = {VALUE_COUNT, "N", "3", NULL, NULL},
     .help = "with --goal ranking: steps for each vector and epoch, as in train"},
    {.id = OPTION_DECAY, .name = "decay", .value = {VALUE_NUMBER, "GAMMA", "0.5", NULL, NULL},
     .help = "let the step size fall as 1 / epoch^GAMMA, as in train"},
    KERNELS_OPTION,
    {.id = OPTION_SEED, .name = "seed", .value = {VALUE_COUNT, "N", "1", NULL, NULL},
     .help = "seed of what is held back and tried; the same seed gives the same trials"},
    {.id = OPTION_POPULATION, .name = "population",
     .value = {VALUE_TEXT, "NAME", "customers", NULL, NULL},
     .help = "record in the ledger that options were tuned on the ratings of these people"},
    {.id = OPTION_LEDGER, .name = "ledger", .value = {VALUE_OUTPUT, "FILE", "ledger", NULL, NULL},
     .help = "the ledger of their releases (default $XDG_STATE_HOME/dpmf/ledger)"},
    {0},
};
/* clang-format on */

const struct verb verb_tune = {
    .name = "tune",
    .summary = "find the options of train that suit ratings best",
    .synopsis = "RATINGS [-o MODEL] [--trials N] [--minutes M] [options]",
    .paragraphs =
        {
            "Trains repeatedly with different numbers of factors and epochs, step sizes and "
            "penalties, each time on all ratings but a part held back, and prints how well that "
            "part was predicted (RMSE), one line per trial. The first trial has the defaults of "
            "dpmf train; the next are spread around them, and later ones follow the results so "
            "far. A trial that falls behind others, or whose error no longer falls, is stopped "
            "early; its error is in brackets, since it had epochs left to run and cannot be "
            "compared with the others. Values given by options are used as they are, and the rest "
            "is searched for.",
            "With --goal ranking the trials are those of dpmf train --goal ranking, the weight of "
            "pairs without a rating takes the place of the step size, and the part held back is "
            "ranked among all items that a user has not rated: the largest NDCG@10 is the best.",
            "In the end it prints the dpmf train command with the best options. With -o it "
            "also trains that model, on all of RATINGS.",
            "The same seed gives the same trials for any number of threads, as long as "
            "--minutes does not cut them short. The trials leave nothing behind.",
            "Options chosen by ratings reveal something about those ratings. If private "
            "releases are made of the same people, name them with --population: the ledger "
            "then shows that there was tuning.",
            "With --json it prints one object per trial with event, trial, factors, learning_rate, "
            "regularization, epochs, valid_rmse, end, epochs_run, best and seconds, and a last one "
            "whose event is done, with the best of them and command. With --goal ranking, "
            "unobserved and valid_ndcg take the place of learning_rate and valid_rmse.",
        },
    .groups = {{"Options", own_options}, {"How the input is read", input_options}},
    .operands = {{VALUE_FILE, "RATINGS", "ratings.dpr", ".dpr", NULL}, 1, 1},
    .exit_note = "3 when there are too few ratings to hold some back, 5 when every trial "
                 "diverges.",
    .examples =
        {
            {"Find good options, and train with them",
             "dpmf tune ratings.dpr --trials 6 -o model.safetensors", SOME_STORE},
            {"What is best with 16 factors, on ratings that were set aside",
             "dpmf tune train.dpr -k 16 --valid test.dpr --trials 5 --minutes 10",
             SOME_STORE "; dpmf split -q ratings.dpr --train train.dpr --test test.dpr"},
            {"A model that recommends, by ratings of 4 and more",
             "dpmf tune ratings.dpr --goal ranking --like 4 -k 16 --trials 3", SOME_STORE},
        },
    .run = run,
};

/* ---- what it does ---------------------------------------------------------------------------- */

struct tuning {
    struct invocation *invocation;
    struct dpmf_train_options train;
    struct dpmf_tune_options options;
    struct dpmf_tune_report report;
    char *command; /* the one to train with */
    bool has_head, failed;
    bool of_events; /* what is tuned for are events, not ratings */
};

static bool ranks(const struct invocation *invocation) {
    return options_is(invocation, OPTION_GOAL, "ranking");
}

/* ---- trials ---------------------------------------------------------------------------------- */

static const char *end_name(enum dpmf_trial_end end) {
    switch (end) {
    case DPMF_TRIAL_DONE: return "done";
    case DPMF_TRIAL_BEHIND: return "behind";
    case DPMF_TRIAL_RISING: return "rising";
    case DPMF_TRIAL_TIME: return "time";
    case DPMF_TRIAL_DIVERGED: return "diverged";
    }
    return "";
}

static void fill_settings(struct dpmf_json *json, const struct tuning *tuning,
                          const struct dpmf_trial *trial) {
    const bool is_ranking = ranks(tuning->invocation);
    dpmf_json_uint(json, "factors", trial->factors);
    if (is_ranking)
        dpmf_json_double(json, "unobserved", trial->unobserved);
    else
        dpmf_json_double(json, "learning_rate", trial->learning_rate);
    dpmf_json_double(json, "regularization", trial->regularization);
    dpmf_json_uint(json, "epochs", trial->epochs);
    if (is_ranking)
        dpmf_json_double(json, "valid_ndcg", trial->valid_ndcg);
    else
        dpmf_json_double(json, "valid_rmse", trial->valid_rmse);
}

static int print_trial_json(const struct tuning *tuning, const struct dpmf_trial *trial) {
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_string(json, "event", "trial");
    dpmf_json_uint(json, "trial", trial->trial);
    fill_settings(json, tuning, trial);
    dpmf_json_string(json, "end", end_name(trial->end));
    dpmf_json_uint(json, "epochs_run", trial->epochs_run);
    dpmf_json_bool(json, "best", trial->is_best);
    dpmf_json_double(json, "seconds", trial->seconds);
    dpmf_json_end_object(json);
    return report_json_print(json);
}

/* The error of a trial that did not run all its epochs stands in brackets: it is no match for the
 * others. */
static void print_trial(struct tuning *tuning, const struct dpmf_trial *trial) {
    char error[24] = "-", note[64] = "";
    const bool is_ranking = ranks(tuning->invocation), is_whole = trial->end == DPMF_TRIAL_DONE;
    const double valid = is_ranking ? trial->valid_ndcg : trial->valid_rmse;
    if (!tuning->has_head)
        printf("%5s %8s %14s %10s %7s %9s %8s\n", "trial", "factors",
               is_ranking ? "unobserved" : "learning-rate", "reg", "epochs",
               is_ranking ? "ndcg@10 " : "valid ", "seconds");
    tuning->has_head = true;
    if (isfinite(valid)) snprintf(error, sizeof error, is_whole ? "%.4f " : "(%.4f)", valid);
    if (trial->end == DPMF_TRIAL_DIVERGED)
        snprintf(note, sizeof note, "  diverged");
    else if (!is_whole)
        snprintf(note, sizeof note, "  stopped after %u%s", trial->epochs_run,
                 trial->is_best ? ", best so far" : "");
    else if (trial->is_best)
        snprintf(note, sizeof note, "  best so far");
    printf("%5u %8u %14s %10s %7u %9s %8.1f%s\n", trial->trial, trial->factors,
           text_double(is_ranking ? trial->unobserved : trial->learning_rate).text,
           text_double(trial->regularization).text, trial->epochs, error, trial->seconds, note);
}

static int show_trial(void *self, const struct dpmf_trial *trial) {
    struct tuning *tuning = self;
    terminal_progress_end(&tuning->invocation->terminal);
    if (!command_has(tuning->invocation, OPTION_JSON))
        print_trial(tuning, trial);
    else if (print_trial_json(tuning, trial) != STATUS_DONE)
        tuning->failed = true;
    errno = 0;
    if (fflush(stdout) != 0 && errno == EPIPE) signals_pipe_remember(); /* nobody watches */
    return tuning->failed || ferror(stdout);
}

/* ---- the command to train with --------------------------------------------------------------- */

/* A word that a shell reads as this text. */
static void write_word(FILE *out, const char *text) {
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./,:=+@%";
    if (text[0] != '\0' && text[strspn(text, plain)] == '\0') {
        fputs(text, out);
        return;
    }
    putc('\'', out);
    for (; *text != '\0'; text++) {
        if (*text == '\'')
            fputs("'\\''", out);
        else
            putc(*text, out);
    }
    putc('\'', out);
}

static void write_options(FILE *out, const struct invocation *invocation, const enum option_id *ids,
                          size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (!command_has(invocation, ids[i])) continue;
        fprintf(out, " --%s ", options_name(invocation, ids[i]));
        write_word(out, invocation->value[ids[i]]);
    }
}

/* The options that shape a model or its ratings and that are not looked for. */
static void write_passed_on(FILE *out, const struct invocation *invocation) {
    static const enum option_id passed[] = {
        OPTION_LIKE,    OPTION_COUNT_WEIGHT, OPTION_ROW_STEPS,    OPTION_DECAY,
        OPTION_SEED,    OPTION_KERNELS,      OPTION_MEMORY,       OPTION_THREADS,
        OPTION_RESCALE, OPTION_ON_ERROR,     OPTION_RATING_RANGE,
    };
    static const enum option_id of_tables[] = {
        OPTION_FORMAT,      OPTION_COLUMNS,       OPTION_SEPARATOR,   OPTION_USER_COLUMN,
        OPTION_ITEM_COLUMN, OPTION_RATING_COLUMN, OPTION_TIME_COLUMN,
    };
    write_options(out, invocation, passed, COUNT_OF(passed));
    if (dpmf_file_kind(invocation->operands[0]) != DPMF_FILE_STORE)
        write_options(out, invocation, of_tables, COUNT_OF(of_tables));
    if (command_has(invocation, OPTION_EVENTS)) fputs(" --events", out);
}

static char *make_command(const struct invocation *invocation, const struct dpmf_trial *best) {
    const char *ratings = invocation->operands[0], *output = invocation->value[OPTION_OUTPUT];
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) return NULL;
    fputs("dpmf train ", out);
    if (ratings[0] == '-' && ratings[1] != '\0') fputs("./", out); /* no option */
    write_word(out, ratings);
    if (ranks(invocation))
        fprintf(out, " --goal ranking -k %u --unobserved %s", best->factors,
                text_double(best->unobserved).text);
    else
        fprintf(out, " -k %u --learning-rate %s", best->factors,
                text_double(best->learning_rate).text);
    fprintf(out, " --reg %s --epochs %u", text_double(best->regularization).text, best->epochs);
    write_passed_on(out, invocation);
    fputs(" -o ", out);
    write_word(out, output != NULL ? output : "model.safetensors");
    bool is_whole = ferror(out) == 0;
    if (fclose(out) == 0 && is_whole) return text;
    free(text);
    return NULL;
}

/* ---- the end --------------------------------------------------------------------------------- */

static int print_end_json(const struct tuning *tuning, const struct dpmf_train_report *trained) {
    const struct dpmf_tune_report *report = &tuning->report;
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_string(json, "event", "done");
    dpmf_json_uint(json, "trials", report->trials);
    dpmf_json_uint(json, "best_trial", report->best.trial);
    fill_settings(json, tuning, &report->best);
    dpmf_json_uint(json, "train_ratings", report->train_ratings);
    dpmf_json_uint(json, "valid_ratings", report->valid_ratings);
    dpmf_json_bool(json, "out_of_time", report->out_of_time);
    dpmf_json_double(json, "seconds", report->seconds);
    dpmf_json_string(json, "command", tuning->command);
    if (trained != NULL) {
        dpmf_json_double(json, "train_rmse", trained->train_rmse);
        dpmf_json_double(json, "train_seconds", trained->seconds);
        dpmf_json_string(json, "output", tuning->invocation->value[OPTION_OUTPUT]);
    }
    dpmf_json_end_object(json);
    return report_json_print(json);
}

static void print_best(struct tuning *tuning) {
    const struct dpmf_tune_report *report = &tuning->report;
    struct terminal *terminal = &tuning->invocation->terminal;
    if (report->out_of_time)
        terminal_note_print(terminal, "time ran out after %s",
                            text_count(report->trials, "trial").text);
    else if (report->all_tried)
        terminal_note_print(terminal, "there is nothing more to try");
    if (report->best.end == DPMF_TRIAL_TIME)
        terminal_warning_print(terminal, "there was no time for one whole trial");
    if (command_has(tuning->invocation, OPTION_JSON)) return;
    const bool is_ranking = ranks(tuning->invocation);
    printf("\ntrial %u was the best, with an %s of %.4f on %s that it had not seen:\n%s\n",
           report->best.trial, is_ranking ? "NDCG@10" : "error",
           is_ranking ? report->best.valid_ndcg : report->best.valid_rmse,
           text_count(report->valid_ratings, tuning->of_events ? "event" : "rating").text,
           tuning->command);
    fflush(stdout);
}

/* With -o: the model of the best options, from all of the ratings. */
static int train_best(struct tuning *tuning, struct dpmf_store *store,
                      struct dpmf_train_report *trained) {
    struct invocation *invocation = tuning->invocation;
    struct dpmf_train_options options = tuning->train;
    struct dpmf_error error = {0};
    options.factors = tuning->report.best.factors;
    options.learning_rate = tuning->report.best.learning_rate;
    options.regularization = tuning->report.best.regularization;
    options.epochs = tuning->report.best.epochs;
    if (ranks(invocation)) options.ials.unobserved = tuning->report.best.unobserved;
    int rc = dpmf_train(store, NULL, invocation->value[OPTION_OUTPUT], &options, &invocation->run,
                        NULL, NULL, trained, &error);
    if (rc != 0) return report_error_print(invocation, &error);
    terminal_progress_end(&invocation->terminal);
    terminal_note_print(&invocation->terminal, "trained on all %s in %s; the model is %s",
                        tuning->of_events ? "events" : "ratings",
                        text_seconds(trained->seconds).text, invocation->value[OPTION_OUTPUT]);
    return STATUS_DONE;
}

/* ---- the command ----------------------------------------------------------------------------- */

static struct dpmf_tune_options fill(const struct invocation *invocation,
                                     struct dpmf_train_options *train) {
    struct dpmf_tune_options options = dpmf_tune_options_default();
    *train = dpmf_train_options_default();
    train->averages_first = !ranks(invocation); /* as dpmf train has it */
    if (ranks(invocation)) dpmf_train_options_solver("ials", train);
    options.hold_unobserved = command_has(invocation, OPTION_UNOBSERVED);
    if (options.hold_unobserved)
        train->ials.unobserved = options_number(invocation, OPTION_UNOBSERVED);
    if (command_has(invocation, OPTION_COUNT_WEIGHT))
        train->ials.count_weight = options_number(invocation, OPTION_COUNT_WEIGHT);
    if (command_has(invocation, OPTION_ROW_STEPS))
        train->ials.row_steps = options_count32(invocation, OPTION_ROW_STEPS, 0);
    options.hold_factors = command_has(invocation, OPTION_FACTORS);
    options.hold_epochs = command_has(invocation, OPTION_EPOCHS);
    options.hold_learning_rate = command_has(invocation, OPTION_LEARNING_RATE);
    options.hold_regularization = command_has(invocation, OPTION_REG);
    if (options.hold_factors) train->factors = options_count32(invocation, OPTION_FACTORS, 0);
    if (options.hold_epochs) train->epochs = options_count32(invocation, OPTION_EPOCHS, 0);
    if (options.hold_learning_rate)
        train->learning_rate = options_number(invocation, OPTION_LEARNING_RATE);
    if (options.hold_regularization) train->regularization = options_number(invocation, OPTION_REG);
    if (command_has(invocation, OPTION_DECAY))
        train->decay = options_number(invocation, OPTION_DECAY);
    if (command_has(invocation, OPTION_SEED)) train->seed = options_count(invocation, OPTION_SEED);
    train->kernels = invocation->value[OPTION_KERNELS];
    if (command_has(invocation, OPTION_TRIALS))
        options.trials = options_count32(invocation, OPTION_TRIALS, 0);
    if (command_has(invocation, OPTION_MINUTES))
        options.seconds = 60 * options_number(invocation, OPTION_MINUTES);
    if (command_has(invocation, OPTION_VALID_FRACTION))
        options.valid_fraction = options_number(invocation, OPTION_VALID_FRACTION);
    return options;
}

/* Options of the other goal. */
static int check_goal(const struct invocation *invocation) {
    static const enum option_id of_ials[] = {OPTION_LIKE, OPTION_UNOBSERVED, OPTION_COUNT_WEIGHT,
                                             OPTION_ROW_STEPS};
    static const enum option_id of_sgd[] = {OPTION_LEARNING_RATE, OPTION_DECAY};
    int status = ranks(invocation) ? options_refuse(invocation, of_sgd, COUNT_OF(of_sgd),
                                                    "is for sgd, not for ials", "leave it out")
                                   : options_refuse(invocation, of_ials, COUNT_OF(of_ials),
                                                    "is for ials", "add --goal ranking");
    if (status != STATUS_DONE) return status;
    if (command_has(invocation, OPTION_UNOBSERVED) &&
        !(options_number(invocation, OPTION_UNOBSERVED) > 0))
        return terminal_error_print(STATUS_USAGE, "leave it out to search for one",
                                    "--unobserved %s is not above 0",
                                    invocation->value[OPTION_UNOBSERVED]);
    return STATUS_DONE;
}

static int check_usage(const struct invocation *invocation) {
    if (command_has(invocation, OPTION_VALID) && command_has(invocation, OPTION_VALID_FRACTION))
        return terminal_error_print(STATUS_USAGE, "keep one of them",
                                    "--valid leaves nothing to hold back for --valid-fraction");
    if (command_has(invocation, OPTION_MINUTES) &&
        !(options_number(invocation, OPTION_MINUTES) > 0))
        return terminal_error_print(STATUS_USAGE, "for example: --minutes 10",
                                    "--minutes %s is not a time",
                                    invocation->value[OPTION_MINUTES]);
    if (command_has(invocation, OPTION_LEDGER) && !command_has(invocation, OPTION_POPULATION))
        return terminal_error_print(STATUS_USAGE, "add --population NAME",
                                    "--ledger needs to know whose ratings these are");
    if (command_has(invocation, OPTION_DECAY) && options_number(invocation, OPTION_DECAY) < 0)
        return terminal_error_print(STATUS_USAGE, "leave it out to use the default schedule",
                                    "--decay %s is below 0", invocation->value[OPTION_DECAY]);
    /* the ratings decide where nobody says what the goal is, as in train */
    return command_has(invocation, OPTION_GOAL) ? check_goal(invocation) : STATUS_DONE;
}

/* Recorded before it begins: a search that was stopped has shown something, too. */
static int record(struct invocation *invocation, struct dpmf_error *error) {
    if (!command_has(invocation, OPTION_POPULATION)) return 0;
    const char *ledger = invocation->value[OPTION_LEDGER];
    struct ledger_names names = {.name = invocation->value[OPTION_POPULATION]};
    ledger_words_look(ledger, &names);
    int rc = dpmf_ledger_record_tuning(ledger, names.name, &invocation->run, error);
    if (rc == 0) ledger_words_tell_new(&invocation->terminal, &names);
    return rc;
}

static int tune(struct tuning *tuning, struct dpmf_store *store, struct dpmf_store *valid) {
    struct invocation *invocation = tuning->invocation;
    struct dpmf_train_report trained = {0};
    struct dpmf_error error = {0};
    bool trains = command_has(invocation, OPTION_OUTPUT);
    int rc = dpmf_tune(store, valid, &tuning->train, &tuning->options, &invocation->run, show_trial,
                       tuning, &tuning->report, &error);
    if (rc != 0) return report_error_print(invocation, &error);
    terminal_progress_end(&invocation->terminal);
    if (signals_pending() != 0) return 128 + signals_pending();
    if (ferror(stdout)) return report_stdout_check(STATUS_DONE);
    if (tuning->failed) return STATUS_IO;
    tuning->command = make_command(invocation, &tuning->report.best);
    if (tuning->command == NULL)
        return terminal_error_print(error_exit_status(DPMF_ERR_BASE_NO_MEMORY), NULL, "%s",
                                    dpmf_error_sentence(DPMF_ERR_BASE_NO_MEMORY));
    print_best(tuning);
    int status = trains ? train_best(tuning, store, &trained) : STATUS_DONE;
    terminal_phases_print(&invocation->terminal);
    if (status == STATUS_DONE && command_has(invocation, OPTION_JSON))
        status = print_end_json(tuning, trains ? &trained : NULL);
    return status;
}

/* Only a ranking can be learned from events, as in train. */
static int take_goal(struct tuning *tuning, const struct dpmf_store *store) {
    struct dpmf_store_info info;
    dpmf_store_info(store, &info);
    tuning->of_events = info.holds_events;
    struct invocation *invocation = tuning->invocation;
    if (command_has(invocation, OPTION_GOAL)) return STATUS_DONE;
    options_goal_of(invocation, store);
    int status = check_goal(invocation);
    if (status != STATUS_DONE) return status;
    tuning->options = fill(invocation, &tuning->train);
    return options_like(invocation, &tuning->train.ials.has_like, &tuning->train.ials.like);
}

static int open_ratings(struct invocation *invocation, const char *path, struct dpmf_store **store,
                        struct dpmf_error *error) {
    const struct dpmf_input_options input = options_input_of(invocation, path);
    return dpmf_store_open(path, &input, &invocation->run, store, error);
}

static int run(struct invocation *invocation) {
    struct tuning tuning = {.invocation = invocation};
    struct dpmf_error error = {0};
    struct dpmf_store *store = NULL, *valid = NULL;
    int status = check_usage(invocation);
    if (status != STATUS_DONE) return status;
    tuning.options = fill(invocation, &tuning.train);
    status = options_like(invocation, &tuning.train.ials.has_like, &tuning.train.ials.like);
    if (status != STATUS_DONE) return status;
    if (command_has(invocation, OPTION_POPULATION)) status = ledger_words_offer(invocation);
    if (status != STATUS_DONE) return status;
    signals_pipe_ignore(); /* `dpmf tune | head` must still come to the cleaning up */
    int rc = 0;
    if (command_has(invocation, OPTION_OUTPUT))
        rc = dpmf_output_check_kind(invocation->value[OPTION_OUTPUT], DPMF_FILE_CHECKPOINT,
                                    &invocation->run, &error);
    if (rc == 0) rc = open_ratings(invocation, invocation->operands[0], &store, &error);
    if (rc == 0 && command_has(invocation, OPTION_VALID))
        rc = open_ratings(invocation, invocation->value[OPTION_VALID], &valid, &error);
    if (rc == 0) status = take_goal(&tuning, store);
    if (rc == 0 && status == STATUS_DONE) rc = record(invocation, &error);
    if (rc != 0)
        status = report_error_print(invocation, &error);
    else if (status == STATUS_DONE)
        status = tune(&tuning, store, valid);
    free(tuning.command);
    dpmf_store_close(store);
    dpmf_store_close(valid);
    return status;
}
