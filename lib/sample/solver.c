/*
 * The table of solvers, and what their options have in common. Feeds dpmf_train and the solvers.
 */
#include "sample/solver.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "rank/ials_train.h"
#include "sample/posterior_mean.h"
#include "train/rates.h"
#include "train/solver_names.h"

/* The defaults were found on splits of MovieLens 1M other than those reported. A mean of samples
 * gains from many of them, of few factors. Gibbs predicts as well as it ever will after ten rounds
 * or so, but stays in the part of the posterior where it began: many short chains make a better
 * mean than one of as many rounds, by 0.003 of RMSE. No more rounds than give the samples that a
 * model keeps. */
static const struct {
    const char *name, *description;
    uint32_t factors, epochs;
    uint32_t burn_in; /* share of the epochs, as 1 in this number */
    uint32_t chains;  /* chains that an average is taken over */
    uint32_t least;   /* epochs of burn-in at least, where these leave half of all epochs */
} solvers[] = {
    [SOLVER_SGD] = {SOLVER_NAME_SGD, "stochastic gradient descent (the default)", RATES_FACTORS,
                    RATES_EPOCHS, 1, 1, 0},
    [SOLVER_IALS] = {SOLVER_NAME_IALS, "implicit alternating least squares, to rank", 64, 16, 1, 1,
                     0},
    [SOLVER_GIBBS] = {SOLVER_NAME_GIBBS, "block Gibbs sampling of the posterior", 24, 14, 3, 16, 7},
    [SOLVER_SGLD] = {SOLVER_NAME_SGLD, "Langevin dynamics with stochastic gradients", 16, 200, 2, 8,
                     0},
    [SOLVER_SGHMC] = {SOLVER_NAME_SGHMC, "Hamiltonian Monte Carlo with stochastic gradients", 32,
                      100, 2, 8, 0},
    [SOLVER_SGNHT] = {SOLVER_NAME_SGNHT, "the same with a thermostat", 32, 100, 2, 8, 0},
};

enum { SOLVERS = sizeof solvers / sizeof solvers[0], CHAINS_MAX = 1024 };

int solver_find(const char *name, enum solver *solver, struct dpmf_error *error) {
    *solver = SOLVER_SGD;
    if (!name) return 0;
    for (size_t i = 0; i < SOLVERS; i++)
        if (strcmp(name, solvers[i].name) == 0) {
            *solver = (enum solver)i;
            return 0;
        }
    int code = error_set(error, DPMF_ERR_USAGE_VALUE, "there is no solver called \"%s\"", name);
    char names[96] = "";
    for (size_t i = 0, n = 0; i < SOLVERS && n < sizeof names; i++)
        n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", i > 0 ? ", " : "",
                              solvers[i].name);
    error_hint(error, "one of: %s", names);
    return code;
}

const char *dpmf_solver_name(size_t i, const char **description) {
    if (i >= SOLVERS) return NULL;
    if (description) *description = solvers[i].description;
    return solvers[i].name;
}

const char *solver_name(enum solver solver) { return solvers[solver].name; }

int dpmf_train_options_solver(const char *name, struct dpmf_train_options *options) {
    enum solver solver;
    if (!options) return DPMF_ERR_USAGE_NULL;
    int code = solver_find(name, &solver, NULL);
    if (code < 0) return code;
    options->solver = name;
    options->factors = solvers[solver].factors;
    options->epochs = solvers[solver].epochs;
    if (solver == SOLVER_IALS) options->regularization = IALS_PENALTY;
    return 0;
}

void dpmf_train_options_complete(struct dpmf_train_options *options) {
    enum solver solver;
    if (!options) return;
    if (solver_find(options->solver, &solver, NULL) < 0 || !dpmf_solver_is_sampler(options->solver))
        return;
    options->sampler.burn_in = solver_burn_in(solver, options);
    options->sampler.chains = solver_chains(solver, options);
    if (options->sampler.average && options->sampler.samples == 0)
        options->sampler.samples = posterior_mean_useful(options->factors);
}

bool dpmf_solver_is_sampler(const char *name) {
    enum solver solver;
    return name && solver_find(name, &solver, NULL) == 0 && solver != SOLVER_SGD &&
           solver != SOLVER_IALS;
}

uint32_t solver_burn_in(enum solver solver, const struct dpmf_train_options *options) {
    uint32_t most = options->epochs - 1, wanted = options->sampler.burn_in;
    if (wanted == UINT32_MAX) {
        const uint32_t least = solvers[solver].least;
        wanted = options->epochs / solvers[solver].burn_in;
        if (wanted < least && options->epochs >= 2 * least) wanted = least;
    }
    return wanted < most ? wanted : most;
}

uint32_t solver_chains(enum solver solver, const struct dpmf_train_options *options) {
    if (options->sampler.chains > 0) return options->sampler.chains;
    return options->sampler.average ? solvers[solver].chains : 1;
}

/* What only samplers have. */
static int check_no_sampler(enum solver solver, const struct dpmf_train_options *options,
                            struct dpmf_error *error) {
    const struct dpmf_train_options *o = options;
    bool wanted = o->sampler.noise || o->sampler.step != 0 || o->sampler.burn_in != UINT32_MAX ||
                  o->sampler.average || o->sampler.samples != 0 || o->sampler.chains > 1 ||
                  o->sampler.trace;
    if (!wanted) return 0;
    int code = error_set(error, DPMF_ERR_USAGE_CONFLICT, "%s draws no samples, and has no chains",
                         solvers[solver].name);
    error_hint(error, "choose a sampler: gibbs, sgld, sghmc or sgnht");
    return code;
}

static int check_samples(const struct dpmf_train_options *options, struct dpmf_error *error) {
    const uint32_t most = posterior_mean_most(options->factors);
    if (options->sampler.samples > 0 && !options->sampler.average)
        return error_set(error, DPMF_ERR_USAGE_CONFLICT,
                         "samples are kept only to average over them");
    if (options->sampler.average && most < POSTERIOR_MEAN_LEAST) {
        int code = error_set(error, DPMF_ERR_USAGE_VALUE,
                             "%u factors are too many for an average of samples", options->factors);
        error_hint(error, "use at most %d factors, or do not average",
                   CHECKPOINT_K_MAX / POSTERIOR_MEAN_LEAST - POSTERIOR_MEAN_MORE);
        return code;
    }
    if (options->sampler.samples <= most) return 0;
    int code =
        error_set(error, DPMF_ERR_USAGE_VALUE, "a model cannot hold %u samples of %u factors",
                  options->sampler.samples, options->factors);
    error_hint(error, "keep at most %u samples", most);
    return code;
}

/* Numbers are kept in single precision. With steps a few times smaller than these the rows, or the
 * momenta, which are kept in terms of the rows (kernels/noise_body.h), get as much noise by
 * rounding as by the process. */
static int check_step(enum solver solver, const struct dpmf_train_options *options,
                      struct dpmf_error *error) {
    const double least = solver == SOLVER_SGLD ? 1e-12 : 1e-4;
    if (!(options->sampler.step >= 0) || !isfinite(options->sampler.step))
        return error_set(error, DPMF_ERR_USAGE_VALUE, "the step must be above 0");
    if (options->sampler.step == 0) return 0;
    if (solver == SOLVER_GIBBS)
        return error_set(error, DPMF_ERR_USAGE_CONFLICT, "gibbs has no step size");
    if (options->sampler.step >= least) return 0;
    int code = error_set(error, DPMF_ERR_USAGE_VALUE,
                         "a step of %g is lost in rounding: %s needs a step of at least %g",
                         options->sampler.step, solvers[solver].name, least);
    error_hint(error, "leave it out to use a safe step");
    return code;
}

/* Before anyone looks at the file: what is in it does not matter. */
static int check_no_snapshots(enum solver solver, const struct dpmf_train_options *options,
                              struct dpmf_error *error) {
    if (!options->snapshot && !options->resume) return 0;
    int code = error_set(error, DPMF_ERR_USAGE_CONFLICT,
                         "%s can neither write nor resume snapshots", solvers[solver].name);
    error_hint(error, "leave {snapshot} and {resume} out");
    return code;
}

int solver_check_options(enum solver solver, const struct dpmf_train_options *options,
                         struct dpmf_error *error) {
    if (solver == SOLVER_SGD) return check_no_sampler(solver, options, error);
    if (solver == SOLVER_IALS && options->hogwild) {
        int code = error_set(error, DPMF_ERR_USAGE_CONFLICT,
                             "ials has no Hogwild: no two threads write the same row");
        error_hint(error, "leave it out");
        return code;
    }
    if (solver == SOLVER_IALS) return check_no_sampler(solver, options, error);
    if (options->hogwild) {
        int code = error_set(error, DPMF_ERR_USAGE_CONFLICT,
                             "samplers cannot be run with Hogwild: a lost write is lost noise, and "
                             "the result is not a sample");
        error_hint(error, "leave it out");
        return code;
    }
    if (options->sampler.chains > CHAINS_MAX)
        return error_set(error, DPMF_ERR_USAGE_VALUE, "there may be at most %d chains", CHAINS_MAX);
    if (options->sampler.burn_in != UINT32_MAX && options->sampler.burn_in >= options->epochs) {
        int code = error_set(error, DPMF_ERR_USAGE_CONFLICT,
                             "a burn-in of %u epochs leaves none of %u to take samples from",
                             options->sampler.burn_in, options->epochs);
        error_hint(error, "run more epochs, or a shorter burn-in");
        return code;
    }
    int code = check_no_snapshots(solver, options, error);
    if (code == 0) code = check_step(solver, options, error);
    if (code < 0) return code;
    if (options->sampler.noise && solver != SOLVER_SGLD)
        return error_set(error, DPMF_ERR_USAGE_CONFLICT,
                         "only sgld can choose how its noise is made");
    return check_samples(options, error);
}
