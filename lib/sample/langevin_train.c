/*
 * The solvers "sgld", "sghmc" and "sgnht": chains of Langevin dynamics on the tiles of SGD, each
 * from the prior. A round is an epoch: all ratings once, and all noise that goes with them. Fed by
 * chain_run.c, a round at a time; works through langevin_tiles.c.
 *
 * By several ranks it is one chain at a time, of all of them: items go round the ring with their
 * momenta, and all that follows from sums (steps, precisions, what is watched) is the same on each,
 * since the sums are.
 */
#include "sample/langevin_train.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/host.h"
#include "sample/chain_run.h"
#include "sample/langevin_tiles.h"
#include "sample/noise_table.h"
#include "store/store.h"
#include "train/rates.h"

enum {
    CHUNK_BYTES_A_RATING = 15,
    FALLING = 10, /* epochs, at most, in which the steps of a burn-in fall */
};

/* Factor of SGLD's steps in a burn-in: with a larger one whole columns of the factors die. */
#define STEP_FACTOR 2.0

struct langevin_run {
    struct chain_run *chain; /* that this is the sampler of */
    size_t table;            /* numbers in the table of noise; 0: exact noise */
    struct langevin *langevin;
    struct langevin_stiffness stiffness; /* as it was last measured */
    struct langevin_step pace;           /* steps, in terms of those that are safe */
    struct langevin_step step;           /* steps as they are */
};

/* ---- before the rounds ----------------------------------------------------------------------- */

/* The sampler_bytes of struct train_run. */
static uint64_t count_bytes(const void *sampler, const struct train_run *train, bool streamed) {
    const struct langevin_run *run = sampler;
    return noise_table_bytes(train->options->sampler.noise) +
           langevin_bytes(run->chain->solver, train->kernels, train->options->factors,
                          store_n_users(train->store), store_n_items(train->store),
                          store_n_ratings(train->store), streamed);
}

static int open_run(struct chain_run *chain, struct dpmf_error *error) {
    struct langevin_run *run = chain->self;
    struct train_run *train = chain->train;
    train->sampler = run;
    train->sampler_bytes = count_bytes;
    int code = noise_table_parse(train->options->sampler.noise, &run->table, error);
    code = cluster_agree(train->cluster, code, error);
    return code < 0 ? code : train_run_prepare(train, error);
}

/* What must be in memory, and is not. */
static int too_little(const struct chain_run *chain, uint64_t samples, struct dpmf_error *error) {
    const struct train_run *train = chain->train;
    const uint64_t mebibyte = (uint64_t)1 << 20;
    uint64_t memory = train->run->memory ? train->run->memory : host_default_budget();
    uint64_t tiles = CHUNK_BYTES_A_RATING * store_n_ratings(train->store);
    uint64_t enough = train->plan.fixed + samples + tiles + tiles / 8 + mebibyte;
    int code =
        error_set(error, DPMF_ERR_USAGE_MEMORY,
                  "%llu MiB is too little for %s%s, which must be in memory as a whole",
                  (unsigned long long)(memory / mebibyte), solver_name(chain->solver),
                  train->options->sampler.average ? " and the samples that it averages over" : "");
    error_hint(error,
               train->options->sampler.average
                   ? "give it {memory %lluMiB} or more, or leave {average} out"
                   : "give it {memory %lluMiB} or more, or choose {solver sgld}",
               (unsigned long long)((enough + mebibyte - 1) / mebibyte));
    return code;
}

static int plan(struct chain_run *chain, struct dpmf_error *error) {
    const struct train_run *train = chain->train;
    const bool streamed = tiling_is_streamed(train->tiling);
    const uint64_t tiles = tiling_bytes(train->tiling), whole = train->plan.whole;
    uint64_t left = !streamed && whole > tiles ? whole - tiles : 0;
    if (chain_run_plan(chain, &left) < 0) return too_little(chain, left, error);
    return streamed && chain->solver != SOLVER_SGLD ? too_little(chain, 0, error) : 0;
}

static int make(struct chain_run *chain, struct dpmf_error *error) {
    struct langevin_run *run = chain->self;
    struct train_run *train = chain->train;
    const struct langevin_source source = {
        .solver = chain->solver,
        .tiling = train->tiling,
        .kernels = train->kernels,
        .factors = &train->factors,
        .users = &train->users,
        .pool = train->pool,
        .unit = train->unit,
        .table = run->table,
        .seed = train->options->seed,
        .cluster = train->cluster,
        .first_user = rank_share_first_user(&train->share),
        .n_users = store_n_users(train->whole),
    };
    struct ring_array arrays[LANGEVIN_ARRAYS];
    const double begun = clock_now();
    int code = langevin_init(&run->langevin, &source, error);
    train->report->tiling_seconds += clock_now() - begun;
    if (code == 0) {
        chain->precisions = langevin_precisions(run->langevin);
        chain->user_squares = langevin_user_squares(run->langevin);
        chain->item_squares = langevin_item_squares(run->langevin);
        const size_t n = langevin_ring_arrays(run->langevin, arrays);
        code = train->place->begin(train, arrays, n, error);
    }
    return cluster_agree(train->cluster, code, error);
}

static void close_run(struct chain_run *chain) {
    struct langevin_run *run = chain->self;
    langevin_free(run->langevin);
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* What is right for samples, as the precisions are: what was asked for, or what is safe. */
static struct langevin_step sampling_step(const struct langevin_run *run) {
    const enum solver solver = run->chain->solver;
    const double wanted = run->chain->train->options->sampler.step;
    const struct langevin_stiffness now = langevin_stiffness_now(run->langevin, &run->stiffness);
    struct langevin_step step = langevin_safe_step(solver, &now);
    if (wanted > 0) {
        step.drift *= wanted / step.rows;
        step.rows = wanted;
    }
    return step;
}

static int measure(struct langevin_run *run, struct dpmf_error *error) {
    struct dpmf_train_report *report = run->chain->train->report;
    int code = langevin_measure(run->langevin, &run->stiffness, error);
    if (code < 0) return code;
    const struct langevin_step step = sampling_step(run);
    report->step = step.rows;
    report->stiffness = langevin_stiffness_of(run->chain->solver, &run->stiffness, &step);
    return 0;
}

/* What a burn-in begins with: the rates of SGD, whatever that does to the distribution. */
static struct langevin_step first_pace(struct langevin_run *run) {
    const struct precisions *precisions = langevin_precisions(run->langevin);
    const double rate = RATES_LEARNING_RATE / precisions->noise, unit = run->chain->train->unit;
    const struct langevin_step safe = sampling_step(run);
    struct langevin_step pace = {1, 1, 1};
    if (run->chain->solver == SOLVER_SGLD)
        pace.rows = fmax(1, 2 * rate / unit / safe.rows);
    else
        pace.drift = fmax(1, rate / unit / safe.rows / safe.drift);
    pace.biases = fmax(1, 2 * RATES_BIAS_RATE * rate / safe.biases);
    return pace;
}

/* One of `left` equal steps towards another pace, in proportions. */
static void approach(struct langevin_step *pace, double to, uint32_t left) {
    pace->rows *= pow(to / pace->rows, 1.0 / left);
    pace->biases *= pow(to / pace->biases, 1.0 / left);
    pace->drift *= pow(1 / pace->drift, 1.0 / left);
}

static bool same_step(const struct langevin_step *a, const struct langevin_step *b) {
    return a->rows == b->rows && a->biases == b->biases && a->drift == b->drift;
}

/* The burn-in: a few epochs with steps that fall from those of SGD; then, but for its last quarter,
 * steps that are STEP_FACTOR times too large, whose distribution is nearly right; then, and while
 * sampling, what is safe, measured when it is first used and once more when sampling begins. From
 * there on a step changes only where the precisions ask for a smaller one. */
static int choose_step(struct langevin_run *run, struct dpmf_error *error) {
    const uint32_t done = run->chain->key.round - 1, burn_in = run->chain->burn_in;
    const uint32_t falling = burn_in / 2 < FALLING ? burn_in / 2 : FALLING;
    const bool is_enlarged = run->chain->solver == SOLVER_SGLD && done < burn_in - burn_in / 4;
    const double step_factor = is_enlarged ? STEP_FACTOR : 1;
    if (done == 0 || done == falling || done == burn_in - burn_in / 4 || done == burn_in) {
        int code = measure(run, error);
        if (code < 0) return code;
    }
    if (done == 0) run->pace = first_pace(run);
    if (done > 0 && done < falling) approach(&run->pace, step_factor, falling - done + 1);
    if (done >= falling) run->pace = (struct langevin_step){step_factor, step_factor, 1};
    const struct langevin_step safe = sampling_step(run), before = run->step;
    run->step = (struct langevin_step){
        .rows = safe.rows * run->pace.rows,
        .biases = safe.biases * run->pace.biases,
        .drift = safe.drift * run->pace.drift,
    };
    if (done == 0 || !same_step(&run->step, &before)) langevin_set_step(run->langevin, &run->step);
    return 0;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static int begin(struct chain_run *chain, struct dpmf_error *error) {
    struct langevin_run *run = chain->self;
    int code = 0;
    if (chain->key.round == 1) {
        code = langevin_begin_chain(run->langevin, chain->key.chain, error);
        code = cluster_agree(chain->train->cluster, code, error);
    }
    return code < 0 ? code : choose_step(run, error);
}

/* All tiles once, by whoever has them; then everyone has all items, and what is sums over them. */
static int draw(struct chain_run *chain, struct dpmf_error *error) {
    struct langevin_run *run = chain->self;
    struct train_run *train = chain->train;
    const struct sgd_rates rates = langevin_begin_round(run->langevin, chain->key.round);
    const struct sgd_watch watch = {.self = train,
                                    .should_stop = train_run_should_stop,
                                    .noise = langevin_noise(run->langevin)};
    uint64_t n;
    double sum;
    train->state.epoch = chain->key.round - 1;
    int code = train->place->run_epoch(train, &rates, &watch, &n, error);
    if (code < 0) return code;
    langevin_end_round(run->langevin);
    code = train->place->gather(train, TRAIN_GATHER_IN_EPOCH, error);
    if (code == 0) code = langevin_take_sums(run->langevin, error);
    if (code == 0) code = train->place->squared_error(train, &sum, &n, error);
    if (code == 0) chain->squared_error = langevin_squared_error(run->langevin, sum);
    return code;
}

static void hint(const struct chain_run *chain, struct dpmf_error *error) {
    const struct langevin_run *run = chain->self;
    if (!(run->step.rows > 0 && isfinite(run->step.rows)))
        error_hint(error, "give ratings on another scale, as with {rescale}");
    else if (chain->train->options->sampler.step > 0)
        error_hint(error, "use a smaller {step} than %g, or leave it out", run->step.rows);
    else
        error_hint(error, "give a {step} below %g", run->step.rows);
}

static int report_ranks(struct chain_run *chain, struct dpmf_error *error) {
    return chain->train->place->report(chain->train, error);
}

int langevin_train(struct train_run *train, enum solver solver, const char *output,
                   struct dpmf_error *error) {
    static const struct chain_sampler sampler = {
        .open = open_run,
        .plan = plan,
        .make = make,
        .begin = begin,
        .draw = draw,
        .hint = hint,
        .report = report_ranks,
        .close = close_run,
    };
    struct chain_run chain = {.train = train, .solver = solver, .sampler = &sampler};
    struct langevin_run run = {.chain = &chain};
    chain.self = &run;
    return chain_run(&chain, output, error);
}
