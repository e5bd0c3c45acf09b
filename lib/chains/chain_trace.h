/*
 * The traces inside a chain_monitor, for the two files that share them: chain_monitor.c and
 * chain_plot.c.
 */
#ifndef DPMF_CHAINS_CHAIN_TRACE_H
#define DPMF_CHAINS_CHAIN_TRACE_H

#include "chains/chain_monitor.h"

struct chain_trace {
    double *values; /* values, round by round, so that nothing moves when a round is added */
    size_t n, capacity;
};

struct chain_monitor {
    uint32_t n_chains;
    size_t n_functionals;
    char (*names)[CHAIN_NAME_MAX];
    struct chain_trace *chains;
};

/* As many rounds as every chain has. */
size_t chain_trace_rounds(const struct chain_monitor *monitor);

static inline double chain_trace_at(const struct chain_monitor *monitor, uint32_t chain,
                                    size_t round, size_t functional) {
    return monitor->chains[chain].values[round * monitor->n_functionals + functional];
}

/* R-hat and ESS of one functional, after so many rounds. */
struct mixing;
int chain_trace_judge(const struct chain_monitor *monitor, size_t functional, uint32_t burn_in,
                      struct mixing *mixing, struct dpmf_error *error);

#endif
