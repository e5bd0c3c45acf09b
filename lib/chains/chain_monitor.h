/*
 * What became of the chains of a sampler: traces of a few numbers of its state (functionals: the
 * log-posterior, norms, the predictions of a few pairs), by chain, and whether they look as if the
 * chains had converged. Fed by the samplers once a round; feeds the report of dpmf_train, its
 * warnings and the picture of --trace.
 *
 * What it says is never a proof: chains that agree may have missed the same part of the posterior.
 * It can only ever say that they have not converged, or that nothing was found wrong.
 */
#ifndef DPMF_CHAINS_CHAIN_MONITOR_H
#define DPMF_CHAINS_CHAIN_MONITOR_H

#include "dpmf.h"

enum {
    CHAIN_NAME_MAX = 64, /* bytes of a functional's name, with the NUL; longer names are cut */
    CHAIN_ESS_MIN =
        100, /* effective samples of all chains: means are then exact to a tenth of a deviation */
};
#define CHAIN_RHAT_MAX 1.05 /* by rank-normalised split R-hat, lib/chains/mixing.h */

struct chain_verdict {
    double rhat; /* R-hat of the worst functional; infinite where it cannot be estimated */
    double ess;  /* effective samples of the worst functional; 0 where they cannot be estimated */
    char worst[CHAIN_NAME_MAX]; /* name of the worst functional; "" when there is none */
    uint64_t draws;             /* number of draws judged in each chain */
    bool is_converged; /* every functional has R-hat < CHAIN_RHAT_MAX and ESS >= CHAIN_ESS_MIN */
};

struct chain_monitor;

/* The names are copied. Memory grows with what is added: chains * functionals * rounds * 8
 * bytes. */
int chain_monitor_init(struct chain_monitor **monitor, uint32_t chains, const char *const *names,
                       size_t n_functionals, struct dpmf_error *error);
void chain_monitor_free(struct chain_monitor *monitor); /* NULL is fine */

/* The functionals of one chain after a round, in the order of their names; what is not finite is
 * kept, and counts as not converged. Different chains may add at once, from threads of their
 * own. */
int chain_monitor_add(struct chain_monitor *monitor, uint32_t chain, const double *values,
                      struct dpmf_error *error);

/* Judges the rounds after the first `burn_in`, as many as every chain has. A functional that is one
 * and the same number throughout is left out; when all are, or when there are too few rounds, the
 * chains have not converged. */
int chain_monitor_judge(const struct chain_monitor *monitor, uint32_t burn_in,
                        struct chain_verdict *verdict, struct dpmf_error *error);

/* What sampling alone adds to a mean over all draws after `burn_in`: the standard deviation of a
 * functional's draws over the root of their effective number, as the root mean square over n
 * functionals from `first` on. NaN when it cannot be estimated. */
int chain_monitor_error(const struct chain_monitor *monitor, uint32_t burn_in, size_t first,
                        size_t n, double *value, struct dpmf_error *error);

/* The mean of a functional over all chains; NaN without draws. */
double chain_monitor_mean(const struct chain_monitor *monitor, uint32_t burn_in, size_t functional);

/* One sentence about a verdict, for people: what is wrong, or that nothing was found wrong. */
void chain_monitor_describe(const struct chain_verdict *verdict, char *text, size_t size);

/* Traces of all functionals, a panel each, as one SVG file (0600) that follows the reader's light
 * or dark scheme. */
int chain_monitor_plot(const struct chain_monitor *monitor, uint32_t burn_in, const char *path,
                       struct dpmf_error *error);

#endif
