/*
 * Whether several chains of a sampler agree, and how many independent draws they are worth:
 * of one number, traced through each of them. Feeds lib/chains/chain_monitor.c and the curator's
 * page of a posterior sample.
 *
 * Both figures are those of Vehtari, Gelman, Simpson, Carpenter and Buerkner (2021): each chain is
 * cut in halves, all draws are replaced by the Gaussian quantiles of their ranks, and
 *   R-hat  is the larger of that of the draws and that of their distances from the median: near 1
 *          when all halves have one place and one spread, also with far outliers and infinite
 *          variances;
 *   ESS    is the number of independent draws whose mean would be as exact, from autocorrelations
 *          summed by Geyer's initial monotone sequence.
 * Neither proves anything: chains that all missed the same part of the distribution agree.
 */
#ifndef DPMF_CHAINS_MIXING_H
#define DPMF_CHAINS_MIXING_H

#include "dpmf.h"

enum { MIXING_DRAWS_MIN = 8 }; /* draws of each chain that an estimate needs */

struct mixing {
    double rhat;      /* at least 0; infinite when nothing speaks for agreement. Never NaN */
    double ess;       /* effective sample size of all chains; 0 where it cannot be estimated */
    bool is_constant; /* one and the same number throughout: it says nothing about the sampler */
};

/* `chain[c]` are n draws, n_chains of them. A draw that is not finite makes R-hat infinite and ESS
 * 0, as do fewer than MIXING_DRAWS_MIN draws. @return 0 or DPMF_ERR_BASE_NO_MEMORY */
int mixing_judge(const double *const *chain, size_t n_chains, size_t n, struct mixing *mixing,
                 struct dpmf_error *error);

#endif
