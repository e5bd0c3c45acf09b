/*
 * dpmf train --continue MODEL: hands new ratings and a model to the library, which makes another
 * model of both. What the model has decided already, such as its factors, cannot be asked for. Fed
 * by command_train.c.
 */
#include "command_train_continue.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

#include "dpmf_text.h"
#include "model_use.h"
#include "options.h"
#include "report.h"
#include "shared_options.h"
#include "text.h"

const char train_continue_paragraph[] =
    "With --continue, RATINGS are new ratings, and a model of sgd or ials learns from them what it "
    "can without those it was trained on: users and items that are new are added, vectors of old "
    "ones are held by as many ratings as stand behind them, and those without new ratings stay "
    "as they are. A rating that has changed counts as one more. --epochs (default 2) is how often "
    "users and items are fitted in turn; factors, penalties and the goal are the model's. Train "
    "anew now and then: docs/continuing.md says how far the two are apart.";

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
            "--continue has no private form: a model that has learnt without noise from "
            "people's ratings cannot become a release");
    int status = options_refuse(invocation, of_model, sizeof of_model / sizeof of_model[0],
                                "is the model's own with --continue", "leave it out");
    if (status == STATUS_DONE)
        status = options_refuse(invocation, of_sgd, sizeof of_sgd / sizeof of_sgd[0],
                                "has no meaning with --continue, which solves for each vector",
                                "leave it out");
    return status;
}

static int check_companions(const struct invocation *invocation) {
    if (command_has(invocation, OPTION_SNAPSHOT_EVERY) && !command_has(invocation, OPTION_SNAPSHOT))
        return terminal_error_print(STATUS_USAGE, "for example: --snapshot run.safetensors",
                                    "--snapshot-every needs --snapshot, the file to write");
    if (command_has(invocation, OPTION_PATIENCE) && !command_has(invocation, OPTION_VALID))
        return terminal_error_print(STATUS_USAGE, "for example: --valid valid.dpr",
                                    "--patience needs --valid, the ratings to measure on");
    if (command_has(invocation, OPTION_SNAPSHOT_EVERY) &&
        options_interval(invocation, OPTION_SNAPSHOT_EVERY).blocks > 0)
        return terminal_error_print(STATUS_USAGE, "give epochs or a time",
                                    "--continue has no blocks of users to count snapshots by");
    return STATUS_DONE;
}

static uint32_t count32(const struct invocation *invocation, enum option_id id, uint32_t usual) {
    if (!command_has(invocation, id)) return usual;
    const uint64_t count = options_count(invocation, id);
    return count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
}

static struct dpmf_continue_options fill(const struct invocation *invocation) {
    struct dpmf_continue_options options = dpmf_continue_options_default();
    options.epochs = count32(invocation, OPTION_EPOCHS, options.epochs);
    options.patience = count32(invocation, OPTION_PATIENCE, options.patience);
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

/* What the library's callbacks get as `self` is the terminal, which is a part of the invocation. */
static int show_epoch(void *self, const struct dpmf_epoch *epoch) {
    struct terminal *terminal = self;
    const struct invocation *invocation =
        (const struct invocation *)((const char *)terminal - offsetof(struct invocation, terminal));
    char valid[80] = "";
    if (command_has(invocation, OPTION_JSON)) {
        struct dpmf_json *json = dpmf_json_new();
        dpmf_json_begin_object(json, NULL);
        dpmf_json_string(json, "event", "epoch");
        dpmf_json_uint(json, "epoch", epoch->epoch);
        dpmf_json_double(json, "seconds", epoch->seconds);
        dpmf_json_double(json, "updates_per_second", epoch->updates_per_second);
        dpmf_json_double(json, "train_rmse", epoch->train_rmse);
        dpmf_json_double(json, "valid_rmse", epoch->valid_rmse);
        if (!isnan(epoch->valid_ndcg)) {
            dpmf_json_double(json, "valid_recall", epoch->valid_recall);
            dpmf_json_double(json, "valid_ndcg", epoch->valid_ndcg);
        }
        dpmf_json_end_object(json);
        return report_json_print(json) != STATUS_DONE;
    }
    if (!isnan(epoch->valid_ndcg))
        snprintf(valid, sizeof valid, "   recall@10 %.4f   ndcg@10 %.4f", epoch->valid_recall,
                 epoch->valid_ndcg);
    else if (!isnan(epoch->valid_rmse))
        snprintf(valid, sizeof valid, "   valid %.4f", epoch->valid_rmse);
    terminal_progress_end(terminal);
    terminal_note_print(terminal, "epoch %u   error on the new ratings %.4f%s", epoch->epoch,
                        epoch->train_rmse, valid);
    return 0;
}

static int print_json(const struct invocation *invocation, const struct dpmf_train_report *report) {
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_string(json, "event", "done");
    dpmf_json_double(json, "seconds", report->seconds);
    dpmf_json_double(json, "tiling_seconds", report->tiling_seconds);
    dpmf_json_double(json, "updates_per_second", report->updates_per_second);
    dpmf_json_uint(json, "epochs", report->epochs);
    dpmf_json_double(json, "train_rmse", report->train_rmse);
    dpmf_json_double(json, "valid_rmse", report->valid_rmse);
    if (!isnan(report->valid_ndcg)) dpmf_json_double(json, "valid_ndcg", report->valid_ndcg);
    dpmf_json_bool(json, "stopped_early", report->stopped_early);
    dpmf_json_uint(json, "new_users", report->new_users);
    dpmf_json_uint(json, "new_items", report->new_items);
    dpmf_json_string(json, "kernels", report->kernels);
    dpmf_json_string(json, "continued", invocation->value[OPTION_CONTINUE]);
    dpmf_json_string(json, "output", invocation->value[OPTION_OUTPUT]);
    dpmf_json_end_object(json);
    return report_json_print(json);
}

static int check_outputs(const struct invocation *invocation, struct dpmf_error *error) {
    int rc = model_use_check_output(invocation, error);
    if (rc == 0) rc = dpmf_output_check(invocation->value[OPTION_OUTPUT], error);
    if (rc == 0 && command_has(invocation, OPTION_SNAPSHOT))
        rc = dpmf_output_check(invocation->value[OPTION_SNAPSHOT], error);
    return rc;
}

int train_continue_run(struct invocation *invocation) {
    const struct dpmf_continue_options options = fill(invocation);
    const struct dpmf_input_options input = options_input(invocation);
    struct dpmf_train_report report = {0};
    struct dpmf_error error = {0};
    struct dpmf_store *store = NULL, *valid = NULL;
    int status = check_options(invocation);
    if (status == STATUS_DONE) status = check_companions(invocation);
    if (status != STATUS_DONE) return status;
    int rc = check_outputs(invocation, &error);
    if (rc == 0)
        rc = dpmf_store_open(invocation->operands[0], &input, &invocation->run, &store, &error);
    if (rc == 0 && command_has(invocation, OPTION_VALID))
        rc = dpmf_store_open(invocation->value[OPTION_VALID], &input, &invocation->run, &valid,
                             &error);
    if (rc == 0)
        rc = dpmf_train_continue(invocation->value[OPTION_CONTINUE], store, valid,
                                 invocation->value[OPTION_OUTPUT], &options, &invocation->run,
                                 show_epoch, &invocation->terminal, &report, &error);
    dpmf_store_close(store);
    dpmf_store_close(valid);
    if (rc != 0) return report_error_print(invocation, &error);
    struct terminal *terminal = &invocation->terminal;
    terminal_progress_end(terminal);
    terminal_note_print(terminal, "%u epochs in %s (%s); the model is %s", report.epochs,
                        text_seconds(report.seconds).text, report.kernels,
                        invocation->value[OPTION_OUTPUT]);
    terminal_note_print(terminal, "new to the model: %s, %s",
                        text_count(report.new_users, "user").text,
                        text_count(report.new_items, "item").text);
    if (report.stopped_early)
        terminal_note_print(terminal, "stopped early: the best epoch was kept");
    terminal_phases_print(terminal);
    return command_has(invocation, OPTION_JSON) ? print_json(invocation, &report) : STATUS_DONE;
}
