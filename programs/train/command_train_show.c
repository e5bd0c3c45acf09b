/*
 * What `dpmf train` prints: a line or an object for each epoch, the object at the end, and where
 * the run is kept after a signal. Fed by the library's callbacks and report.
 */
#include "train/command_train_show.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cli/error_show.h"
#include "cli/options.h"
#include "cli/report.h"
#include "cli/signals.h"
#include "cli/text.h"
#include "dpmf_text.h"

const char *train_solver_of(const struct invocation *invocation) {
    if (command_has(invocation, OPTION_SOLVER)) return invocation->value[OPTION_SOLVER];
    return options_is(invocation, OPTION_GOAL, "ranking") ? "ials" : NULL;
}

bool train_is_ials(const struct invocation *invocation) {
    const char *solver = train_solver_of(invocation);
    return solver && strcmp(solver, "ials") == 0;
}

/* What the library's callbacks get as `self` is the terminal, which is a part of the invocation. */
const struct invocation *train_invocation_of(const struct terminal *terminal) {
    return (const struct invocation *)((const char *)terminal -
                                       offsetof(struct invocation, terminal));
}

struct dpmf_json *train_epoch_json(const struct dpmf_epoch *epoch, bool ranks) {
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_string(json, "event", "epoch");
    dpmf_json_uint(json, "epoch", epoch->epoch);
    dpmf_json_double(json, "seconds", epoch->seconds);
    dpmf_json_double(json, "updates_per_second", epoch->updates_per_second);
    dpmf_json_double(json, "train_rmse", epoch->train_rmse);
    dpmf_json_double(json, "valid_rmse", epoch->valid_rmse);
    if (ranks) {
        dpmf_json_double(json, "valid_recall", epoch->valid_recall);
        dpmf_json_double(json, "valid_ndcg", epoch->valid_ndcg);
    }
    return json;
}

const char *train_valid_text(const struct dpmf_epoch *epoch, bool ranks,
                             char text[TRAIN_VALID_TEXT]) {
    text[0] = '\0';
    if (ranks && !isnan(epoch->valid_ndcg))
        snprintf(text, TRAIN_VALID_TEXT, "   recall@10 %.4f   ndcg@10 %.4f", epoch->valid_recall,
                 epoch->valid_ndcg);
    else if (!ranks && !isnan(epoch->valid_rmse))
        snprintf(text, TRAIN_VALID_TEXT, "   valid %s", text_measure(epoch->valid_rmse).text);
    return text;
}

int train_show_epoch(void *self, const struct dpmf_epoch *epoch) {
    struct terminal *terminal = self;
    const struct invocation *invocation = train_invocation_of(terminal);
    const bool ranks = train_is_ials(invocation);
    char valid[TRAIN_VALID_TEXT];
    if (command_has(invocation, OPTION_JSON)) {
        struct dpmf_json *json = train_epoch_json(epoch, ranks);
        if (dpmf_solver_is_sampler(invocation->value[OPTION_SOLVER])) {
            dpmf_json_uint(json, "chain", epoch->chain);
            dpmf_json_bool(json, "burn_in", epoch->is_burn_in);
        }
        dpmf_json_end_object(json);
        return report_json_print(json) != STATUS_DONE;
    }
    terminal_note_print(terminal, "epoch %3u   train %s%s   %.1f million updates/s", epoch->epoch,
                        text_measure(epoch->train_rmse).text, train_valid_text(epoch, ranks, valid),
                        1e-6 * epoch->updates_per_second);
    return 0;
}

static void put_sampler(struct dpmf_json *json, const struct dpmf_train_report *report) {
    dpmf_json_uint(json, "chains", report->chains);
    dpmf_json_uint(json, "burn_in", report->burn_in);
    dpmf_json_uint(json, "samples", report->samples);
    dpmf_json_double(json, "step", report->step > 0 ? report->step : NAN);
    dpmf_json_double(json, "stiffness", report->step > 0 ? report->stiffness : NAN);
    dpmf_json_double(json, "rhat", report->rhat);
    dpmf_json_double(json, "ess", report->ess);
    dpmf_json_string(json, "worst", report->worst);
    dpmf_json_bool(json, "converged", report->converged);
    dpmf_json_double(json, "prediction_error", report->prediction_error);
}

struct dpmf_json *train_done_json(const struct dpmf_train_report *report, bool ranks) {
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_string(json, "event", "done");
    dpmf_json_double(json, "seconds", report->seconds);
    dpmf_json_double(json, "tiling_seconds", report->tiling_seconds);
    dpmf_json_double(json, "updates_per_second", report->updates_per_second);
    dpmf_json_uint(json, "epochs", report->epochs);
    dpmf_json_double(json, "train_rmse", report->train_rmse);
    dpmf_json_double(json, "valid_rmse", report->valid_rmse);
    if (ranks) dpmf_json_double(json, "valid_ndcg", report->valid_ndcg);
    dpmf_json_bool(json, "stopped_early", report->stopped_early);
    return json;
}

int train_print_json(const struct invocation *invocation, const struct dpmf_train_report *report) {
    struct dpmf_json *json = train_done_json(report, train_is_ials(invocation));
    dpmf_json_bool(json, "tiles_on_disk", report->tiles_on_disk);
    dpmf_json_string(json, "kernels", report->kernels);
    if (report->lanes > 0) dpmf_json_uint(json, "lanes", report->lanes);
    if (report->ranks > 0) {
        dpmf_json_uint(json, "ranks", (uint64_t)report->ranks);
        dpmf_json_uint(json, "bytes_sent", report->bytes_sent);
        dpmf_json_double(json, "seconds_waited", report->seconds_waited);
    }
    if (dpmf_solver_is_sampler(invocation->value[OPTION_SOLVER])) put_sampler(json, report);
    dpmf_json_string(json, "output", invocation->value[OPTION_OUTPUT]);
    dpmf_json_end_object(json);
    return report_json_print(json);
}

/* ---- after a signal -------------------------------------------------------------------------- */

struct stat train_look_at_file(const char *path) {
    struct stat found = {0};
    if (path == NULL || stat(path, &found) < 0) found = (struct stat){0};
    return found;
}

static bool is_replaced(const struct stat *before, const struct stat *now) {
    return now->st_ino != 0 && (now->st_ino != before->st_ino || now->st_dev != before->st_dev ||
                                now->st_mtim.tv_sec != before->st_mtim.tv_sec ||
                                now->st_mtim.tv_nsec != before->st_mtim.tv_nsec);
}

void train_show_snapshot(struct invocation *invocation, const struct stat *before, bool begun,
                         const struct dpmf_error *error) {
    const char *path = invocation->value[OPTION_SNAPSHOT];
    const char *resumed = invocation->value[OPTION_RESUME];
    struct terminal *terminal = &invocation->terminal;
    if (signals_pending() == 0 || path == NULL) return;
    terminal_progress_end(terminal);
    if (begun && error->code != DPMF_ERR_BASE_CANCELLED) {
        char reason[2 * DPMF_ERROR_TEXT_MAX], text[2 * DPMF_ERROR_TEXT_MAX + 64];
        error_show(error, reason, sizeof reason);
        snprintf(text, sizeof text, "the run could not be kept when it was interrupted: %s",
                 reason);
        terminal_warning_print(terminal, text);
    }
    const struct stat now = train_look_at_file(path);
    if (!is_replaced(before, &now))
        terminal_note_print(terminal, "interrupted; there is no snapshot of this run");
    else if (resumed == NULL)
        terminal_note_print(
            terminal,
            "interrupted; the run so far is in %s: continue with the same command and "
            "--resume %s",
            path, path);
    else if (options_same_file(path, resumed))
        terminal_note_print(
            terminal, "interrupted; the run so far is in %s: continue with the same command", path);
    else
        terminal_note_print(
            terminal,
            "interrupted; the run so far is in %s: continue with the same command, but "
            "--resume %s",
            path, path);
}
