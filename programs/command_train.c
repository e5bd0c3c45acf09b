/*
 * dpmf train: learns a model from ratings. Fed by a store or any ratings input; feeds evaluate,
 * predict, recommend, similar and explain.
 */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "command_train_private.h"
#include "error_show.h"
#include "options.h"
#include "report.h"
#include "signals.h"
#include "text.h"

static uint32_t count32(const struct invocation *invocation, enum option_id id) {
    uint64_t count = options_count(invocation, id);
    return count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
}

static void fill_sampler(const struct invocation *invocation, struct dpmf_train_options *options) {
    options->noise = invocation->value[OPTION_SGLD_NOISE];
    options->trace = invocation->value[OPTION_TRACE];
    options->average = command_has(invocation, OPTION_AVERAGE);
    if (command_has(invocation, OPTION_STEP))
        options->step = options_number(invocation, OPTION_STEP);
    if (command_has(invocation, OPTION_BURN_IN))
        options->burn_in = count32(invocation, OPTION_BURN_IN);
    if (command_has(invocation, OPTION_SAMPLES))
        options->samples = count32(invocation, OPTION_SAMPLES);
    if (command_has(invocation, OPTION_CHAINS))
        options->chains = count32(invocation, OPTION_CHAINS);
}

/* --goal ranking takes the solver that ranks. */
static const char *solver_of(const struct invocation *invocation) {
    if (command_has(invocation, OPTION_SOLVER)) return invocation->value[OPTION_SOLVER];
    return options_is(invocation, OPTION_GOAL, "ranking") ? "ials" : NULL;
}

static bool is_ials(const struct invocation *invocation) {
    const char *solver = solver_of(invocation);
    return solver && strcmp(solver, "ials") == 0;
}

static struct dpmf_train_options fill(const struct invocation *invocation) {
    struct dpmf_train_options options = dpmf_train_options_default();
    dpmf_train_options_solver(solver_of(invocation), &options); /* or check_solver */
    if (command_has(invocation, OPTION_FACTORS)) {
        uint64_t factors = options_count(invocation, OPTION_FACTORS);
        options.factors = factors > UINT32_MAX ? UINT32_MAX : (uint32_t)factors;
    }
    if (command_has(invocation, OPTION_EPOCHS)) {
        uint64_t epochs = options_count(invocation, OPTION_EPOCHS);
        options.epochs = epochs > UINT32_MAX ? UINT32_MAX : (uint32_t)epochs;
    }
    if (command_has(invocation, OPTION_LEARNING_RATE))
        options.learning_rate = options_number(invocation, OPTION_LEARNING_RATE);
    if (command_has(invocation, OPTION_DECAY))
        options.decay = options_number(invocation, OPTION_DECAY);
    if (command_has(invocation, OPTION_REG))
        options.regularization = options_number(invocation, OPTION_REG);
    if (command_has(invocation, OPTION_SEED)) options.seed = options_count(invocation, OPTION_SEED);
    if (command_has(invocation, OPTION_PATIENCE))
        options.patience = (uint32_t)options_count(invocation, OPTION_PATIENCE);
    if (command_has(invocation, OPTION_SNAPSHOT_EVERY)) {
        struct options_interval every = options_interval(invocation, OPTION_SNAPSHOT_EVERY);
        options.snapshot_every = every.epochs > UINT32_MAX ? UINT32_MAX : (uint32_t)every.epochs;
        options.snapshot_blocks = every.blocks;
        options.snapshot_seconds = every.seconds;
    }
    if (command_has(invocation, OPTION_PREFETCH)) {
        uint64_t prefetch = options_count(invocation, OPTION_PREFETCH);
        options.prefetch = prefetch > UINT32_MAX ? UINT32_MAX : (uint32_t)prefetch;
    }
    options.deterministic = command_has(invocation, OPTION_DETERMINISTIC);
    options.hogwild = command_has(invocation, OPTION_HOGWILD);
    options.kernels = invocation->value[OPTION_KERNELS];
    options.lanes = options_lanes(invocation);
    options.tiers = invocation->value[OPTION_TIERS];
    fill_sampler(invocation, &options);
    options.solver = solver_of(invocation);
    if (command_has(invocation, OPTION_UNOBSERVED))
        options.unobserved = options_number(invocation, OPTION_UNOBSERVED);
    if (command_has(invocation, OPTION_ROW_STEPS))
        options.row_steps = count32(invocation, OPTION_ROW_STEPS);
    options.snapshot = invocation->value[OPTION_SNAPSHOT];
    options.resume = invocation->value[OPTION_RESUME];
    return options;
}

/* What the library's callbacks get as `self` is the terminal, which is a part of the invocation. */
static const struct invocation *invocation_of(const struct terminal *terminal) {
    return (const struct invocation *)((const char *)terminal -
                                       offsetof(struct invocation, terminal));
}

static int show_epoch(void *self, const struct dpmf_epoch *epoch) {
    struct terminal *terminal = self;
    const struct invocation *invocation = invocation_of(terminal);
    if (command_has(invocation, OPTION_JSON)) {
        struct dpmf_json *json = dpmf_json_new();
        dpmf_json_begin_object(json, NULL);
        dpmf_json_string(json, "event", "epoch");
        dpmf_json_uint(json, "epoch", epoch->epoch);
        dpmf_json_double(json, "seconds", epoch->seconds);
        dpmf_json_double(json, "updates_per_second", epoch->updates_per_second);
        dpmf_json_double(json, "train_rmse", epoch->train_rmse);
        dpmf_json_double(json, "valid_rmse", epoch->valid_rmse);
        if (is_ials(invocation)) {
            dpmf_json_double(json, "valid_recall", epoch->valid_recall);
            dpmf_json_double(json, "valid_ndcg", epoch->valid_ndcg);
        }
        if (dpmf_solver_is_sampler(invocation->value[OPTION_SOLVER])) {
            dpmf_json_uint(json, "chain", epoch->chain);
            dpmf_json_bool(json, "burn_in", epoch->is_burn_in);
        }
        dpmf_json_end_object(json);
        return report_json_print(json) != STATUS_DONE;
    }
    char valid[80] = "";
    if (is_ials(invocation) && !isnan(epoch->valid_ndcg))
        snprintf(valid, sizeof valid, "   recall@10 %.4f   ndcg@10 %.4f", epoch->valid_recall,
                 epoch->valid_ndcg);
    else if (!is_ials(invocation) && !isnan(epoch->valid_rmse))
        snprintf(valid, sizeof valid, "   valid %.4f", epoch->valid_rmse);
    terminal_note_print(terminal, "epoch %3u   train %.4f%s   %.1f million updates/s", epoch->epoch,
                        epoch->train_rmse, valid, 1e-6 * epoch->updates_per_second);
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
    if (is_ials(invocation)) dpmf_json_double(json, "valid_ndcg", report->valid_ndcg);
    dpmf_json_bool(json, "stopped_early", report->stopped_early);
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

struct named_option {
    enum option_id id;
    const char *name;
};

/* A sampler has neither rates nor a best epoch, and takes its penalties from the ratings. */
static int check_sampler(const struct invocation *invocation) {
    static const struct named_option only[] = {
        {OPTION_LEARNING_RATE, "learning-rate"},
        {OPTION_DECAY, "decay"},
        {OPTION_REG, "reg"},
        {OPTION_PATIENCE, "patience"},
    };
    for (size_t i = 0; i < sizeof only / sizeof only[0]; i++)
        if (command_has(invocation, only[i].id))
            return terminal_error_print(STATUS_USAGE, "leave it out", "--%s is for sgd, not for %s",
                                        only[i].name, invocation->value[OPTION_SOLVER]);
    static const struct named_option one_at_least[] = {
        {OPTION_CHAINS, "chains"},
        {OPTION_SAMPLES, "samples"},
    };
    for (size_t i = 0; i < sizeof one_at_least / sizeof one_at_least[0]; i++)
        if (command_has(invocation, one_at_least[i].id) &&
            options_count(invocation, one_at_least[i].id) == 0)
            return terminal_error_print(STATUS_USAGE, "leave it out for what is usual",
                                        "--%s 0 leaves nothing to do", one_at_least[i].name);
    if (command_has(invocation, OPTION_STEP) && !(options_number(invocation, OPTION_STEP) > 0))
        return terminal_error_print(STATUS_USAGE, "leave it out for a step that is safe",
                                    "--step %s is not above 0", invocation->value[OPTION_STEP]);
    return STATUS_DONE;
}

static int refuse_of(const struct invocation *invocation, const struct named_option *options,
                     size_t n, const char *whose, const char *hint) {
    for (size_t i = 0; i < n; i++)
        if (command_has(invocation, options[i].id))
            return terminal_error_print(STATUS_USAGE, hint, "--%s is for %s", options[i].name,
                                        whose);
    return STATUS_DONE;
}

/* The goal and the solver must agree, and what only one kind of solver has needs such a one. */
static int check_goal(const struct invocation *invocation) {
    static const struct named_option of_ials[] = {
        {OPTION_LIKE, "like"}, {OPTION_UNOBSERVED, "unobserved"}, {OPTION_ROW_STEPS, "row-steps"}};
    static const struct named_option of_sgd[] = {{OPTION_LEARNING_RATE, "learning-rate"},
                                                 {OPTION_DECAY, "decay"},
                                                 {OPTION_TIERS, "tiers"},
                                                 {OPTION_LANES, "lanes"},
                                                 {OPTION_PREFETCH, "prefetch"},
                                                 {OPTION_HOGWILD, "hogwild"}};
    const bool ranks = options_is(invocation, OPTION_GOAL, "ranking");
    if (!is_ials(invocation)) {
        if (ranks)
            return terminal_error_print(STATUS_USAGE, "leave --solver out, or give --solver ials",
                                        "--solver %s predicts ratings, and does not rank",
                                        solver_of(invocation));
        return refuse_of(invocation, of_ials, sizeof of_ials / sizeof of_ials[0], "ials",
                         "add --goal ranking");
    }
    if (options_is(invocation, OPTION_GOAL, "rating"))
        return terminal_error_print(STATUS_USAGE, "leave --goal out, or give --goal ranking",
                                    "--solver ials ranks, and predicts no ratings");
    return refuse_of(invocation, of_sgd, sizeof of_sgd / sizeof of_sgd[0], "sgd, not for ials",
                     "leave it out");
}

static int check_solver(const struct invocation *invocation) {
    static const struct named_option only[] = {
        {OPTION_AVERAGE, "average"}, {OPTION_SAMPLES, "samples"}, {OPTION_BURN_IN, "burn-in"},
        {OPTION_CHAINS, "chains"},   {OPTION_STEP, "step"},       {OPTION_SGLD_NOISE, "noise"},
        {OPTION_TRACE, "trace"},
    };
    const char *solver = invocation->value[OPTION_SOLVER];
    if (dpmf_solver_is_sampler(solver)) return check_sampler(invocation);
    if (solver && !options_is(invocation, OPTION_SOLVER, "sgd") && !is_ials(invocation))
        return terminal_error_print(STATUS_USAGE, "one of: sgd, ials, gibbs, sgld, sghmc, sgnht",
                                    "--solver %s: there "
                                    "is no such solver",
                                    solver);
    for (size_t i = 0; i < sizeof only / sizeof only[0]; i++)
        if (command_has(invocation, only[i].id))
            return terminal_error_print(STATUS_USAGE, "for example: --solver gibbs",
                                        "--%s is for samplers", only[i].name);
    return STATUS_DONE;
}

/* A decay below 0 is the library's word for the schedule of its own, not a growing step. */
static int check_decay(const struct invocation *invocation) {
    if (!command_has(invocation, OPTION_DECAY) || options_number(invocation, OPTION_DECAY) >= 0)
        return STATUS_DONE;
    return terminal_error_print(STATUS_USAGE, "leave it out for the default schedule",
                                "--decay %s is below 0", invocation->value[OPTION_DECAY]);
}

/* What says how to do a thing that was not asked for is a slip. */
static int check_companions(const struct invocation *invocation) {
    if (command_has(invocation, OPTION_SNAPSHOT_EVERY) && !command_has(invocation, OPTION_SNAPSHOT))
        return terminal_error_print(STATUS_USAGE, "for example: --snapshot run.safetensors",
                                    "--snapshot-every needs --snapshot, the file to write");
    if (command_has(invocation, OPTION_PATIENCE) && !command_has(invocation, OPTION_VALID))
        return terminal_error_print(STATUS_USAGE, "for example: --valid valid.dpr",
                                    "--patience needs --valid, the ratings to measure on");
    return STATUS_DONE;
}

/* ---- after a signal -------------------------------------------------------------------------- */

/* What is at a path, to see later whether it has been replaced; st_ino 0 where there is nothing. */
static struct stat look_at(const char *path) {
    struct stat found = {0};
    if (path == NULL || stat(path, &found) < 0) found = (struct stat){0};
    return found;
}

static bool is_replaced(const struct stat *before, const struct stat *now) {
    return now->st_ino != 0 && (now->st_ino != before->st_ino || now->st_dev != before->st_dev ||
                                now->st_mtim.tv_sec != before->st_mtim.tv_sec ||
                                now->st_mtim.tv_nsec != before->st_mtim.tv_nsec);
}

/* Where the run is kept, and how to go on with it. The signal itself is the shell's to tell. */
static void tell_snapshot(struct invocation *invocation, const struct stat *before, bool begun,
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
    const struct stat now = look_at(path);
    if (!is_replaced(before, &now))
        terminal_note_print(terminal, "interrupted; there is no snapshot of this run");
    else if (resumed == NULL)
        terminal_note_print(terminal,
                            "interrupted; the run so far is in %s: go on with the same command and "
                            "--resume %s",
                            path, path);
    else if (options_same_file(path, resumed))
        terminal_note_print(
            terminal, "interrupted; the run so far is in %s: go on with the same command", path);
    else
        terminal_note_print(
            terminal,
            "interrupted; the run so far is in %s: go on with the same command, but "
            "--resume %s",
            path, path);
}

/* ---- the command ----------------------------------------------------------------------------- */

/* Before anything is read: hours later, each of them would fail. The first rank writes them. */
static int check_outputs(const struct invocation *invocation, struct dpmf_error *error) {
    static const enum option_id outputs[] = {OPTION_OUTPUT, OPTION_SNAPSHOT, OPTION_TRACE};
    int rc = 0;
    if (dpmf_cluster_rank(invocation->cluster) != 0) return 0;
    for (size_t i = 0; rc == 0 && i < sizeof outputs / sizeof outputs[0]; i++)
        if (command_has(invocation, outputs[i]))
            rc = dpmf_output_check(invocation->value[outputs[i]], error);
    return rc;
}

int command_train_run(struct invocation *invocation) {
    struct dpmf_train_options options = fill(invocation);
    struct dpmf_input_options input = options_input(invocation);
    struct dpmf_train_report report = {0};
    struct dpmf_error error = {0};
    struct dpmf_store *store = NULL, *valid = NULL;

    if (command_has(invocation, OPTION_EPSILON)) {
        /* Without --research all of these are refused, for better reasons. */
        int slip = command_has(invocation, OPTION_RESEARCH) ? check_companions(invocation) : 0;
        return slip != STATUS_DONE ? slip : train_private_run(invocation);
    }
    int status = train_private_check_absent(invocation);
    if (status == STATUS_DONE) status = check_solver(invocation);
    if (status == STATUS_DONE) status = check_goal(invocation);
    if (status == STATUS_DONE) status = options_like(invocation, &options.has_like, &options.like);
    if (status == STATUS_DONE) status = check_decay(invocation);
    if (status == STATUS_DONE) status = check_companions(invocation);
    if (status != STATUS_DONE) return status;
    int rc = check_outputs(invocation, &error);
    if (rc == 0)
        rc = dpmf_store_open(invocation->operands[0], &input, &invocation->run, &store, &error);
    if (rc == 0 && command_has(invocation, OPTION_VALID))
        rc = dpmf_store_open(invocation->value[OPTION_VALID], &input, &invocation->run, &valid,
                             &error);
    rc = dpmf_cluster_agree(invocation->cluster, rc, &error);
    const struct stat before = look_at(invocation->value[OPTION_SNAPSHOT]);
    const bool begun = rc == 0;
    if (begun)
        rc = dpmf_train(store, valid, invocation->value[OPTION_OUTPUT], &options, &invocation->run,
                        show_epoch, &report, &error);
    dpmf_store_close(store);
    dpmf_store_close(valid);
    if (rc != 0) tell_snapshot(invocation, &before, begun, &error);
    if (rc != 0) return report_error_print(invocation, &error);

    struct terminal *terminal = &invocation->terminal;
    terminal_progress_end(terminal);
    char chains[40] = "";
    if (report.chains > 1) snprintf(chains, sizeof chains, "%u chains of ", report.chains);
    terminal_note_print(terminal, "%s%u epochs in %s, %.1f million updates/s (%s); the model is %s",
                        chains, report.epochs, text_seconds(report.seconds).text,
                        1e-6 * report.updates_per_second, report.kernels,
                        invocation->value[OPTION_OUTPUT]);
    if (report.ranks > 0 && terminal->verbose)
        terminal_note_print(terminal, "%d processes sent each other %s", report.ranks,
                            text_bytes(report.bytes_sent).text);
    if (report.ranks > 0 && terminal->verbose && !isnan(report.seconds_waited))
        terminal_note_print(terminal, "each of them waited %s for that, in the mean",
                            text_seconds(report.seconds_waited).text);
    if (report.stopped_early && is_ials(invocation))
        terminal_note_print(terminal,
                            "stopped early: the validation set was ranked no better; the best "
                            "epoch was kept, with ndcg@10 %.4f",
                            report.valid_ndcg);
    else if (report.stopped_early)
        terminal_note_print(terminal,
                            "stopped early: the validation error no longer fell; the best "
                            "epoch was kept, with %.4f",
                            report.valid_rmse);
    terminal_phases_print(terminal);
    return command_has(invocation, OPTION_JSON) ? print_json(invocation, &report) : STATUS_DONE;
}
