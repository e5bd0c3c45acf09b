/*
 * Keeps the traces of a sampler's chains and judges them; chain_plot.c draws them. The arithmetic
 * is lib/chains/mixing.c.
 */
#include "chains/chain_monitor.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "chains/chain_trace.h"
#include "chains/mixing.h"

int chain_monitor_init(struct chain_monitor **monitor, uint32_t chains, const char *const *names,
                       size_t n_functionals, struct dpmf_error *error) {
    assert(monitor && names && chains > 0 && n_functionals > 0);
    struct chain_monitor *self = memory_alloc_zero(1, sizeof *self);
    *monitor = NULL;
    if (!self) return error_no_memory(error);
    self->n_chains = chains;
    self->n_functionals = n_functionals;
    self->names = memory_alloc_zero(n_functionals, sizeof *self->names);
    self->chains = memory_alloc_zero(chains, sizeof *self->chains);
    if (!self->names || !self->chains) {
        chain_monitor_free(self);
        return error_no_memory(error);
    }
    for (size_t f = 0; f < n_functionals; f++)
        snprintf(self->names[f], CHAIN_NAME_MAX, "%s", names[f]);
    *monitor = self;
    return 0;
}

void chain_monitor_free(struct chain_monitor *monitor) {
    if (!monitor) return;
    for (uint32_t c = 0; monitor->chains && c < monitor->n_chains; c++)
        free(monitor->chains[c].values);
    free(monitor->chains);
    free(monitor->names);
    free(monitor);
}

int chain_monitor_add(struct chain_monitor *monitor, uint32_t chain, const double *values,
                      struct dpmf_error *error) {
    assert(chain < monitor->n_chains);
    assert(values);
    struct chain_trace *trace = &monitor->chains[chain];
    size_t width = monitor->n_functionals;
    if (!memory_reserve(&trace->values, &trace->capacity, (trace->n + 1) * width,
                        sizeof *trace->values))
        return error_no_memory(error);
    if (width > 0) memcpy(trace->values + trace->n * width, values, width * sizeof *values);
    trace->n++;
    return 0;
}

size_t chain_trace_rounds(const struct chain_monitor *monitor) {
    size_t n = monitor->n_chains > 0 ? monitor->chains[0].n : 0;
    for (uint32_t c = 1; c < monitor->n_chains; c++)
        if (monitor->chains[c].n < n) n = monitor->chains[c].n;
    return n;
}

int chain_trace_judge(const struct chain_monitor *monitor, size_t functional, uint32_t burn_in,
                      struct mixing *mixing, struct dpmf_error *error) {
    assert(functional < monitor->n_functionals);
    size_t rounds = chain_trace_rounds(monitor), n = rounds > burn_in ? rounds - burn_in : 0;
    double *draws = memory_alloc(n * monitor->n_chains, sizeof *draws);
    const double **chains = memory_alloc(monitor->n_chains, sizeof *chains);
    int code = draws && chains ? 0 : error_no_memory(error);
    for (uint32_t c = 0; code == 0 && c < monitor->n_chains; c++) {
        chains[c] = draws + c * n;
        for (size_t i = 0; i < n; i++)
            draws[c * n + i] = chain_trace_at(monitor, c, burn_in + i, functional);
    }
    if (code == 0) code = mixing_judge(chains, monitor->n_chains, n, mixing, error);
    free(chains);
    free(draws);
    return code;
}

/* How far a functional is from passing: above 1 it does not. */
static double badness(const struct mixing *mixing) {
    double excess = (mixing->rhat - 1) / (CHAIN_RHAT_MAX - 1);
    return fmax(excess, CHAIN_ESS_MIN / fmax(mixing->ess, 1e-9));
}

int chain_monitor_judge(const struct chain_monitor *monitor, uint32_t burn_in,
                        struct chain_verdict *verdict, struct dpmf_error *error) {
    size_t rounds = chain_trace_rounds(monitor);
    double worst = -1;
    bool passes = true;
    *verdict = (struct chain_verdict){.rhat = INFINITY};
    verdict->draws = rounds > burn_in ? rounds - burn_in : 0;
    for (size_t f = 0; f < monitor->n_functionals; f++) {
        struct mixing mixing = {.rhat = INFINITY};
        int code = chain_trace_judge(monitor, f, burn_in, &mixing, error);
        if (code < 0) return code;
        if (mixing.is_constant) continue;
        passes = passes && mixing.rhat < CHAIN_RHAT_MAX && mixing.ess >= CHAIN_ESS_MIN;
        if (badness(&mixing) <= worst) continue;
        worst = badness(&mixing);
        verdict->rhat = mixing.rhat;
        verdict->ess = mixing.ess;
        memcpy(verdict->worst, monitor->names[f], CHAIN_NAME_MAX);
    }
    verdict->is_converged = passes && worst >= 0;
    return 0;
}

double chain_monitor_mean(const struct chain_monitor *monitor, uint32_t burn_in,
                          size_t functional) {
    const size_t rounds = chain_trace_rounds(monitor);
    double sum = 0, n = 0;
    for (uint32_t c = 0; c < monitor->n_chains; c++)
        for (size_t i = burn_in; i < rounds; i++, n++)
            sum += chain_trace_at(monitor, c, i, functional);
    return n > 0 ? sum / n : NAN;
}

static double variance_of(const struct chain_monitor *monitor, uint32_t burn_in,
                          size_t functional) {
    const size_t rounds = chain_trace_rounds(monitor);
    const double mean = chain_monitor_mean(monitor, burn_in, functional);
    double sum = 0, n = 0;
    for (uint32_t c = 0; c < monitor->n_chains; c++)
        for (size_t i = burn_in; i < rounds; i++, n++) {
            double distance = chain_trace_at(monitor, c, i, functional) - mean;
            sum += distance * distance;
        }
    return n > 0 ? sum / n : NAN;
}

int chain_monitor_error(const struct chain_monitor *monitor, uint32_t burn_in, size_t first,
                        size_t n, double *value, struct dpmf_error *error) {
    double sum = 0;
    *value = NAN;
    for (size_t f = first; f < first + n; f++) {
        struct mixing mixing = {.rhat = INFINITY};
        int code = chain_trace_judge(monitor, f, burn_in, &mixing, error);
        if (code < 0) return code;
        if (mixing.is_constant) continue;
        if (!(mixing.ess > 0)) return 0;
        sum += variance_of(monitor, burn_in, f) / mixing.ess;
    }
    if (n > 0) *value = sqrt(sum / (double)n);
    return 0;
}

void chain_monitor_describe(const struct chain_verdict *verdict, char *text, size_t size) {
    assert(verdict && text && size > 0);
    const char *head = verdict->is_converged ? "no sign was found that the chains have not "
                                               "converged"
                       : isfinite(verdict->rhat) && verdict->rhat < CHAIN_RHAT_MAX
                           ? "the chains are too short to be judged"
                           : "the chains have not converged";
    if (verdict->worst[0] == '\0')
        snprintf(text, size, "%s: nothing that was traced moved", head);
    else if (!isfinite(verdict->rhat))
        snprintf(text, size, "%s: %s cannot be judged from %llu rounds per chain", head,
                 verdict->worst, (unsigned long long)verdict->draws);
    else
        snprintf(text, size,
                 "%s: the worst is %s, with R-hat %.3f (should be below %.2f) and %.0f effective "
                 "samples (should be at least %d)",
                 head, verdict->worst, verdict->rhat, CHAIN_RHAT_MAX, floor(verdict->ess),
                 CHAIN_ESS_MIN);
}
