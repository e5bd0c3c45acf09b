/*
 * dpmf train before it trains: settings that follow from the ratings, for what no option gives, and
 * the line that says which. Fed by command_train.c.
 */
#include "train/command_train_adapt.h"

#include <string.h>

#include "cli/options.h"
#include "cli/report.h"
#include "cli/text.h"

/* What is given is not chosen; a schedule of one's own has its own steps and its own end. */
static uint32_t adaptable(const struct invocation *invocation) {
    const bool has_decay = command_has(invocation, OPTION_DECAY);
    uint32_t what = 0;
    if (!command_has(invocation, OPTION_EPOCHS) && !has_decay) what |= DPMF_ADAPT_EPOCHS;
    if (!command_has(invocation, OPTION_LEARNING_RATE) && !has_decay)
        what |= DPMF_ADAPT_LEARNING_RATE;
    if (!command_has(invocation, OPTION_REG)) what |= DPMF_ADAPT_REGULARIZATION;
    return what;
}

static int put_adapted(const struct dpmf_adapt_report *found,
                       const struct dpmf_train_options *options) {
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_string(json, "event", "adapted");
    dpmf_json_uint(json, "trials", found->trials);
    dpmf_json_uint(json, "epochs", options->epochs);
    dpmf_json_double(json, "learning_rate", options->learning_rate);
    dpmf_json_double(json, "regularization", options->regularization);
    dpmf_json_double(json, "valid_rmse", found->valid_rmse);
    dpmf_json_double(json, "averages_rmse", found->averages_rmse);
    dpmf_json_bool(json, "is_averages", found->is_averages);
    dpmf_json_uint(json, "train_ratings", found->train_ratings);
    dpmf_json_uint(json, "valid_ratings", found->valid_ratings);
    dpmf_json_double(json, "seconds", found->seconds);
    dpmf_json_end_object(json);
    return report_json_print(json);
}

static int show_adapted(struct invocation *invocation, const struct dpmf_adapt_report *found,
                        const struct dpmf_train_options *options) {
    struct terminal *terminal = &invocation->terminal;
    if (!options->adapted || found->is_resumed) return STATUS_DONE;
    if (command_has(invocation, OPTION_JSON)) return put_adapted(found, options);
    terminal_note_print(
        terminal,
        "chosen in %u trials: --learning-rate %s --reg %s --epochs %u (error %.4f on ratings held "
        "back; %.4f with averages alone)%s",
        found->trials, text_double(options->learning_rate).text,
        text_double(options->regularization).text, options->epochs, found->valid_rmse,
        found->averages_rmse,
        found->is_averages ? "; vectors did not help, and are held at 0" : "");
    return STATUS_DONE;
}

/* Settings for these ratings, before the run itself. */
int train_adapt(struct invocation *invocation, struct dpmf_store *store,
                struct dpmf_train_options *options, struct dpmf_error *error) {
    struct dpmf_adapt_report found = {0};
    const bool is_sgd = !options->solver || strcmp(options->solver, "sgd") == 0;
    if (!is_sgd || command_has(invocation, OPTION_NO_ADAPT)) return 0;
    options->averages_first = true;
    int rc =
        dpmf_train_adapt(store, adaptable(invocation), options, &invocation->run, &found, error);
    if (rc == 0) show_adapted(invocation, &found, options);
    return rc;
}
