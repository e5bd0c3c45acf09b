/*
 * dpmf train --continue MODEL: hands new ratings and a model to the library, which makes another
 * model of both. What the model has decided already, such as its factors, cannot be asked for. Fed
 * by command_train.c.
 */
#include "train/command_train_continue.h"

#include <math.h>

#include "cli/options.h"
#include "cli/report.h"
#include "cli/shared_options.h"
#include "cli/text.h"
#include "dpmf_text.h"
#include "train/command_train_begin.h"
#include "train/command_train_show.h"

const char train_continue_paragraph[] =
    "With --continue, RATINGS are new ratings, and a model of sgd or ials learns from them what it "
    "can without those it was trained on: users and items that are new are added, vectors of old "
    "ones are held in place with the weight of the ratings behind them, and those without new "
    "ratings stay as they are. A rating that has changed counts as one more. --epochs (default 2) "
    "is how often users and items are fitted in turn; factors, penalties and the goal are the "
    "model's. With --history, a model of ials has the old ratings too, and solves for users and "
    "items with new ratings again from all of theirs; what the history and the new ratings both "
    "have counts once, as it is now. Train on all ratings again now and then: docs/continuing.md "
    "says how far apart the two are.";

/* What the model says, and what has no meaning where rows are solved for. */
static int check_options(const struct invocation *invocation) {
    static const enum option_id of_model[] = {OPTION_FACTORS,     OPTION_GOAL,       OPTION_SOLVER,
                                              OPTION_LIKE,        OPTION_UNOBSERVED, OPTION_REG,
                                              OPTION_COUNT_WEIGHT};
    static const enum option_id of_sgd[] = {
        OPTION_LEARNING_RATE, OPTION_DECAY,    OPTION_HOGWILD,   OPTION_LANES,    OPTION_TIERS,
        OPTION_PREFETCH,      OPTION_NO_ADAPT, OPTION_ROW_STEPS, OPTION_ROW_BLOCK};
    if (command_has(invocation, OPTION_EPSILON))
        return terminal_error_print(
            STATUS_REFUSED,
            "make a release from all ratings, or one from new users alone; a release's ledger "
            "counts both",
            "--continue has no private form: a model that has learned without noise from people's "
            "ratings cannot become a release");
    int status = options_refuse(invocation, of_model, COUNT_OF(of_model),
                                "is the model's own with --continue", "leave it out");
    if (status == STATUS_DONE)
        status = options_refuse(invocation, of_sgd, COUNT_OF(of_sgd),
                                "has no meaning with --continue, which solves for each vector",
                                "leave it out");
    return status;
}

static int check_interval(const struct invocation *invocation) {
    if (command_has(invocation, OPTION_SNAPSHOT_EVERY) &&
        options_interval(invocation, OPTION_SNAPSHOT_EVERY).blocks > 0)
        return terminal_error_print(STATUS_USAGE, "give epochs or a time",
                                    "--continue has no blocks of users to count snapshots by");
    return STATUS_DONE;
}

static struct dpmf_continue_options fill(const struct invocation *invocation) {
    struct dpmf_continue_options options = dpmf_continue_options_default();
    options.epochs = options_count32(invocation, OPTION_EPOCHS, options.epochs);
    options.patience = options_count32(invocation, OPTION_PATIENCE, options.patience);
    if (command_has(invocation, OPTION_SEED)) options.seed = options_count(invocation, OPTION_SEED);
    options.kernels = invocation->value[OPTION_KERNELS];
    options.deterministic = command_has(invocation, OPTION_DETERMINISTIC);
    options.snapshot = invocation->value[OPTION_SNAPSHOT];
    options.resume = invocation->value[OPTION_RESUME];
    if (command_has(invocation, OPTION_SNAPSHOT_EVERY)) {
        const struct options_interval every = options_interval(invocation, OPTION_SNAPSHOT_EVERY);
        options.snapshot_every = every.epochs > UINT32_MAX ? UINT32_MAX : (uint32_t)every.epochs;
        options.snapshot_seconds = every.seconds;
    }
    return options;
}

/* A model that ranks is measured as such; its goal is the model's, which the options do not say. */
static bool ranks(double ndcg) { return !isnan(ndcg); }

/* What show_epoch works with. */
struct continuing {
    struct terminal *terminal;
    bool of_events; /* these are events, not ratings */
};

static int show_epoch(void *self, const struct dpmf_epoch *epoch) {
    const struct continuing *continuing = self;
    struct terminal *terminal = continuing->terminal;
    char valid[TRAIN_VALID_TEXT];
    if (command_has(train_invocation_of(terminal), OPTION_JSON)) {
        struct dpmf_json *json = train_epoch_json(epoch, ranks(epoch->valid_ndcg));
        dpmf_json_end_object(json);
        return report_json_print(json) != STATUS_DONE;
    }
    terminal_progress_end(terminal);
    terminal_note_print(terminal, "epoch %u   error on the new %ss %.4f%s", epoch->epoch,
                        report_record(continuing->of_events), epoch->train_rmse,
                        train_valid_text(epoch, ranks(epoch->valid_ndcg), valid));
    return 0;
}

static int print_json(const struct invocation *invocation, const struct dpmf_train_report *report) {
    struct dpmf_json *json = train_done_json(report, ranks(report->valid_ndcg));
    dpmf_json_uint(json, "new_users", report->new_users);
    dpmf_json_uint(json, "new_items", report->new_items);
    if (command_has(invocation, OPTION_HISTORY))
        dpmf_json_uint(json, "old_events", report->old_events);
    dpmf_json_string(json, "kernels", report->kernels);
    dpmf_json_string(json, "continued", invocation->value[OPTION_CONTINUE]);
    dpmf_json_string(json, "output", invocation->value[OPTION_OUTPUT]);
    dpmf_json_end_object(json);
    return report_json_print(json);
}

int train_continue_run(struct invocation *invocation) {
    struct dpmf_continue_options options = fill(invocation);
    struct dpmf_train_report report = {0};
    struct dpmf_error error = {0};
    struct dpmf_store *store = NULL, *valid = NULL, *history = NULL;
    int status = check_options(invocation);
    if (status == STATUS_DONE) status = train_check_companions(invocation);
    if (status == STATUS_DONE) status = check_interval(invocation);
    if (status != STATUS_DONE) return status;
    int rc = train_open_stores(invocation, &store, &valid, &error);
    if (rc == 0) rc = train_open_history(invocation, &history, &error);
    options.history = history;
    struct dpmf_store_info info = {0};
    if (rc == 0) dpmf_store_info(store, &info);
    struct continuing continuing = {&invocation->terminal, info.holds_events};
    if (rc == 0)
        rc = dpmf_train_continue(invocation->value[OPTION_CONTINUE], store, valid,
                                 invocation->value[OPTION_OUTPUT], &options, &invocation->run,
                                 show_epoch, &continuing, &report, &error);
    dpmf_store_close(store);
    dpmf_store_close(valid);
    dpmf_store_close(history);
    if (rc != 0) return report_error_print(invocation, &error);
    struct terminal *terminal = &invocation->terminal;
    terminal_progress_end(terminal);
    terminal_note_print(terminal, "%u epochs in %s (%s); the model is %s", report.epochs,
                        text_seconds(report.seconds).text, report.kernels,
                        invocation->value[OPTION_OUTPUT]);
    terminal_note_print(terminal, "new to the model: %s, %s",
                        text_count(report.new_users, "user").text,
                        text_count(report.new_items, "item").text);
    if (options.history)
        terminal_note_print(terminal, "vectors with new %ss were solved for again, with %s",
                            report_record(continuing.of_events),
                            text_count(report.old_events, "old event").text);
    if (report.stopped_early)
        terminal_note_print(terminal, "stopped early: the best epoch was kept");
    terminal_phases_print(terminal);
    return command_has(invocation, OPTION_JSON) ? print_json(invocation, &report) : STATUS_DONE;
}
