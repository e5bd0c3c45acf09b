/*
 * The mechanism `posterior`: the paper's release, one draw from a tempered posterior.
 * posterior_rule.h has the target and the proof of what an exact draw would promise;
 * posterior_sampler.c the chain. This file runs the chains, publishes the items of the last round
 * of the first one, and tells the curator how the chains look.
 *
 * How many rounds and chains there are is public, and which draw is published is fixed before
 * anything is seen: were rounds added, or a draw chosen, by how the chains look, that choice would
 * be an output that nothing bounds. The diagnostics go to the curator alone.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "chains/chain_monitor.h"
#include "mechanisms/mechanism.h"
#include "mechanisms/posterior/posterior_sampler.h"
#include "random/random.h"

enum { PAIRS = 8, FIXED = 4, FUNCTIONALS = FIXED + PAIRS }; /* numbers that are traced */

struct run {
    const struct mechanism_input *input;
    const struct posterior_rule *rule;
    struct posterior_target target;
    struct posterior_data data;
    struct public_model *model;
    struct chain_monitor *monitor;
    size_t user[PAIRS], item[PAIRS]; /* whose predictions are traced */
    uint64_t proposed, accepted;
    uint32_t chain, round; /* that runs, from 0 */
};

/* ---- what is traced -------------------------------------------------------------------------- */

static int begin_monitor(struct run *run, struct dpmf_error *error) {
    char text[PAIRS][CHAIN_NAME_MAX];
    const char *names[FUNCTIONALS] = {"log-posterior", "|U|^2 a user", "|V|^2 an item",
                                      "mean item bias"};
    struct random_stream stream; /* which pairs are looked at is no secret */
    random_stream_init(&stream, 1, 0, 0);
    assert(run->data.items.n > 0); /* no catalogue is empty */
    for (int i = 0; i < PAIRS; i++) {
        if (run->data.users.n > 0) run->user[i] = (size_t)random_below(&stream, run->data.users.n);
        run->item[i] = (size_t)random_below(&stream, run->data.items.n);
        snprintf(text[i], sizeof text[i], "prediction of pair %d", i + 1);
        names[FIXED + i] = text[i];
    }
    return chain_monitor_init(&run->monitor, run->rule->chains, names, FUNCTIONALS, error);
}

/* The mean square of the rows' vectors. */
static double mean_square(const double *rows, size_t n, size_t K) {
    double sum = 0;
    for (size_t r = 0; r < n; r++)
        for (size_t k = 0; k < K; k++) sum += rows[r * (K + 1) + k] * rows[r * (K + 1) + k];
    return n > 0 ? sum / (double)n : 0;
}

static int trace(struct run *run, const struct posterior_chain *chain, struct dpmf_error *error) {
    const size_t K = run->target.factors;
    double values[FUNCTIONALS] = {
        posterior_chain_log_density(chain),
        mean_square(chain->users, run->data.users.n, K),
        mean_square(chain->items, run->data.items.n, K),
        chain->mean_c,
    };
    const bool has_pairs = run->data.users.n > 0;
    for (int i = 0; i < PAIRS && has_pairs; i++)
        values[FIXED + i] = posterior_chain_predict(chain, run->user[i], run->item[i]);
    return chain_monitor_add(run->monitor, chain->number, values, error);
}

/* ---- chains ---------------------------------------------------------------------------------- */

static bool should_stop(void *self) {
    const struct run *run = self;
    const struct dpmf_run *outer = run->input->sums->run;
    const struct dpmf_progress progress = {
        .phase = "sampling",
        .unit = "rounds",
        .done = (uint64_t)run->chain * run->rule->rounds + run->round,
        .total = (uint64_t)run->rule->chains * run->rule->rounds,
    };
    return outer && outer->progress && outer->progress(outer->progress_self, &progress) != 0;
}

int posterior_publish(const struct posterior_chain *chain, struct public_model *model,
                      struct dpmf_error *error) {
    const size_t K = chain->target->factors;
    int code = public_model_widen(model, K, error);
    if (code < 0) return code;
    model->b0 = 0; /* the middle of the range: public */
    model->s2 = posterior_fold_in_variance;
    model->var_a = 1 / posterior_precision_b;
    for (size_t j = 0; j < model->n_items; j++) {
        const double *row = chain->items + j * (K + 1);
        memcpy(model->rows + j * model->stride, row, K * sizeof *row);
        model->c[j] = row[K];
        for (size_t k = 0; k <= K; k++)
            if (!(fabs(row[k]) < 1e15))
                return error_set(error, DPMF_ERR_TRAIN_DIVERGED, "the sampler is not finite");
    }
    return 0;
}

static int run_chain(struct run *run, uint32_t number, struct dpmf_error *error) {
    struct posterior_chain chain;
    int code =
        posterior_chain_init(&chain, &run->target, &run->data, run->input->sums->random,
                             run->input->sums->pool, number, posterior_warming(run->rule), error);
    if (code < 0) return code;
    chain.should_stop = should_stop;
    chain.self = run;
    run->chain = number;
    for (run->round = 0; run->round < run->rule->rounds && code == 0; run->round++) {
        code = posterior_chain_round(&chain, error);
        if (code == 0) code = trace(run, &chain, error);
    }
    if (code == 0 && number == 0) code = posterior_publish(&chain, run->model, error);
    run->proposed += chain.proposed;
    run->accepted += chain.accepted;
    posterior_chain_free(&chain);
    return code;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static int tell(const struct run *run, struct dpmf_error *error) {
    struct dpmf_release_report *report = run->input->report;
    struct chain_verdict verdict;
    uint32_t burn_in = run->rule->rounds / 3;
    int code = chain_monitor_judge(run->monitor, burn_in, &verdict, error);
    if (code == 0 && report) {
        report->rhat = verdict.rhat;
        report->ess = verdict.ess;
        report->is_converged = verdict.is_converged;
        assert(run->proposed > 0); /* at least one round is not warming up, and there are items */
        report->acceptance = (double)run->accepted / (double)run->proposed;
        chain_monitor_describe(&verdict, report->chains_text, sizeof report->chains_text);
    }
    if (code == 0 && run->input->trace)
        code = chain_monitor_plot(run->monitor, burn_in, run->input->trace, error);
    return code;
}

static int run_posterior(const struct mechanism_input *input, struct public_model *model,
                         struct dpmf_error *error) {
    struct run run = {.input = input, .rule = input->posterior, .model = model};
    run.target = posterior_target_make(run.rule);
    int code = posterior_data_build(input->sums->ratings, model->n_items, run.rule,
                                    input->sums->memory, input->sums->run, &run.data, error);
    if (code == 0) code = begin_monitor(&run, error);
    for (uint32_t c = 0; c < run.rule->chains && code == 0; c++) code = run_chain(&run, c, error);
    if (code == 0) code = tell(&run, error);
    chain_monitor_free(run.monitor);
    posterior_data_free(&run.data);
    return code;
}

const struct mechanism mechanism_posterior = {
    MECHANISM_POSTERIOR,
    "one draw from the paper's posterior: conditional on convergence, not proven", run_posterior,
    true, false};
