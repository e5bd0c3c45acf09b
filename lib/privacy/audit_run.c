/*
 * One run of an audit. Fed by audit.c with a canary; runs the mechanism as private_train.c does, with an observer in
 * noisy_sum.c, and gives back a guess whether the canary was in.
 *
 * The guess. After each release the auditor knows the public state it was made from, so it can compute, with the
 * very functions that were used, the others' exact integers and the canary's own, q. What was published less the
 * others' sum is r = noise (+ q if the canary is in). If the noise is Gaussian with deviation s on every number, the
 * log-likelihood ratio of in to out is (<r, q> - |q|^2 / 2) / s^2, and over the releases of a run these add up: with the
 * honest s this is N(-m^2/2, m^2) out and N(+m^2/2, m^2) in, m^2 = sum of |q|^2 / s^2 <= mu^2. The guess is its sign and
 * the confidence its size, and no function of what is published can guess better.
 *
 * The auditor does not believe the s that is claimed: it measures it, in the run at hand, as the size of what is left
 * of r at right angles to q, which is the same with the canary and without. So a release with less noise, or
 * with none, gets the weight it deserves. Numbers that were published without noise among others that have some are
 * recognised as such: r_i is then 0 or q_i to the last digit.
 *
 * Whatever is done here, the bound of audit_bound.c holds: the guess may use anything but the coin. The coin is
 * looked at only for what is checked directly, and not for the guess: the noise itself, r without q.
 */
#define _GNU_SOURCE
#include "privacy/audit_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "privacy/noisy_sum.h"
#include "random/random.h"

__extension__ typedef unsigned __int128 wide;

enum { MEASURE_MIN = 32 };     /* numbers from which on a release's noise can be measured */
static const double sure = 30; /* of a number without noise: a log-likelihood ratio */

/* ---- integers --------------------------------------------------------------------------------- */

struct observing {
    struct audit_runner *runner;
    const struct noisy_sum_shape *shape;
    noisy_sum_contribute *contribute;
    void *contribute_self;
};

/* A user's integers in runner->q. The bound is checked here once more, by other code than that which keeps it.
 * @return the square of their norm */
static double make_integers(struct observing *observing, const struct private_user *user,
                            struct contribution *contribution) {
    struct audit_runner *runner = observing->runner;
    contribution->values = runner->values;
    contribution->n_blocks = 0;
    observing->contribute(observing->contribute_self, 0, user, contribution);
    size_t n = contribution->n_blocks * observing->shape->width + observing->shape->tail;
    noisy_sum_quantise(runner->values, n, user->scale, runner->q);
    wide sum = 0;
    for (size_t i = 0; i < n; i++) sum += (uint64_t)((int64_t)runner->q[i] * runner->q[i]);
    uint64_t limit = (uint64_t)(user->scale * (double)(1 << NOISY_SUM_BITS));
    runner->tally.contributions++;
    runner->tally.over_norm += sum > (wide)limit * limit;
    return (double)sum;
}

static int add_other(void *self, int worker, const struct private_user *user,
                     struct dpmf_error *error) {
    struct observing *observing = self;
    const struct noisy_sum_shape *shape = observing->shape;
    struct contribution contribution;
    (void)worker, (void)error;
    make_integers(observing, user, &contribution);
    const int32_t *q = observing->runner->q;
    int64_t *sums = observing->runner->sums, *tail = sums + shape->n_rows * shape->width;
    for (size_t b = 0; b < contribution.n_blocks; b++)
        for (size_t i = 0; i < shape->width; i++)
            sums[contribution.block[b] * shape->width + i] += *q++;
    for (size_t i = 0; i < shape->tail; i++) tail[i] += *q++;
    return 0;
}

/* ---- the log-likelihood ratio ----------------------------------------------------------------- */

struct products {
    double rr, rq, qq; /* <r, r>, <r, q>, <q, q> */
    double exact;      /* numbers that are q_i to the last digit, less those that are 0 */
};

/* Over the numbers that the canary has a part in; takes the canary out again if it is in, so that r becomes the noise. */
static void meet(struct products *products, int64_t *r, const int32_t *q, size_t n, bool is_in) {
    for (size_t i = 0; i < n; i++) {
        products->rq += (double)r[i] * q[i];
        products->qq += (double)q[i] * q[i];
        if (q[i] != 0) products->exact += (r[i] == q[i]) - (r[i] == 0);
        if (is_in) r[i] -= q[i];
    }
}

static double log_ratio(const struct products *products, size_t n, double sigma) {
    const double qq = products->qq;
    if (!(qq > 0)) return 0;
    double variance = sigma * sigma;
    if (n >= MEASURE_MIN) {
        double across = products->rr - products->rq * products->rq / qq;
        variance =
            fmax(across / (double)(n - 1), 0.25); /* half a grid unit: there is nothing finer */
    }
    return (products->rq - qq / 2) / variance + sure * products->exact;
}

/* runner->q are the canary's integers, runner->sums what is left of the release without the others. */
static void score_release(struct audit_runner *runner, const struct noisy_sum_shape *shape,
                          const struct contribution *canary, size_t n, double sigma) {
    struct products products = {0};
    const int32_t *q = runner->q;
    int64_t *r = runner->sums;
    for (size_t i = 0; i < n; i++) products.rr += (double)r[i] * (double)r[i];
    for (size_t b = 0; b < canary->n_blocks; b++, q += shape->width)
        meet(&products, r + canary->block[b] * shape->width, q, shape->width, runner->is_in);
    meet(&products, r + shape->n_rows * shape->width, q, shape->tail, runner->is_in);
    runner->score += log_ratio(&products, n, sigma);
}

/* ---- observing -------------------------------------------------------------------------------- */

static void listen(struct audit_echo *echo, const struct audit_runner *runner, size_t n,
                   double sigma, const double *earlier, size_t n_earlier) {
    if (n > n_earlier) n = n_earlier;
    for (size_t i = 0; i < n; i++) echo->product += (double)runner->sums[i] / sigma * earlier[i];
    echo->numbers += (double)n;
}

/* Streams of noise are named by release and coordinate, so repeated noise stands at the same coordinate. */
static void listen_for_echoes(struct audit_runner *runner, size_t n, double sigma) {
    const bool is_first = runner->n_observed == 0;
    if (is_first)
        listen(&runner->tally.runs_echo, runner, n, sigma, runner->first, runner->n_first);
    else
        listen(&runner->tally.releases_echo, runner, n, sigma, runner->before, runner->n_before);
    for (size_t i = 0; i < n; i++) runner->before[i] = (double)runner->sums[i] / sigma;
    runner->n_before = n;
    if (!is_first) return;
    memcpy(runner->first, runner->before, n * sizeof *runner->first);
    runner->n_first = n;
}

/* runner->sums are the noise now, nothing else. */
static void measure_noise(struct audit_runner *runner, size_t n, double sigma) {
    struct audit_noise *noise = &runner->tally.noise[runner->n_observed];
    double energy = 0, zeros = 0;
    for (size_t i = 0; i < n; i++) {
        double z = (double)runner->sums[i] / sigma;
        energy += z * z;
        zeros += runner->sums[i] == 0;
    }
    noise->energy += energy;
    noise->numbers += (double)n;
    noise->zeros += zeros;
    noise->zeros_expected += (double)n * erf(0.5 / sigma / sqrt(2));
    listen_for_echoes(runner, n, sigma);
}

static bool make_room(struct audit_runner *runner, const struct noisy_sum_shape *shape, size_t n) {
    const size_t longest = private_ratings_longest(runner->population->without);
    const size_t blocks = shape->blocks_max > 0 ? shape->blocks_max : longest;
    size_t room;
    if (__builtin_mul_overflow(blocks, shape->width, &room) || room > SIZE_MAX - shape->tail)
        return false;
    room += shape->tail;
    return memory_reserve(&runner->values, &runner->values_room, room, sizeof *runner->values) &&
           memory_reserve(&runner->q, &runner->q_room, room, sizeof *runner->q) &&
           memory_reserve(&runner->sums, &runner->sums_room, n, sizeof *runner->sums) &&
           memory_reserve(&runner->before, &runner->before_room, n, sizeof *runner->before) &&
           memory_reserve(&runner->first, &runner->first_room, n, sizeof *runner->first);
}

/* How much each kind of canary would say: also of those who are not in this run the norms are checked. */
static void measure_canaries(struct observing *observing, double sigma) {
    struct audit_runner *runner = observing->runner;
    struct contribution contribution;
    for (int kind = 0; kind < AUDIT_CANARIES; kind++) {
        const struct private_user *user = &runner->population->canaries[kind].user;
        if (user->n > 0)
            runner->loudness[kind] +=
                make_integers(observing, user, &contribution) / (sigma * sigma);
    }
}

static void observe(void *self, const struct noisy_sum_shape *shape, uint64_t sigma,
                    const int64_t *noisy_sums, noisy_sum_contribute *contribute,
                    void *contribute_self) {
    struct audit_runner *runner = self;
    struct observing observing = {runner, shape, contribute, contribute_self};
    const struct private_visit visit = {add_other, &observing, NULL, NULL};
    const size_t n = (size_t)shape->n_rows * shape->width + shape->tail;
    struct contribution contribution;
    if (runner->code < 0 || runner->n_observed == AUDIT_RELEASES_MAX) return;
    if (!make_room(runner, shape, n)) {
        runner->code = error_no_memory(&runner->error);
        return;
    }
    memset(runner->sums, 0, n * sizeof *runner->sums);
    runner->code =
        private_ratings_visit(runner->population->without, runner->pool, &visit, &runner->error);
    for (size_t i = 0; i < n; i++) runner->sums[i] = noisy_sums[i] - runner->sums[i];
    measure_canaries(&observing, (double)sigma);
    make_integers(&observing, &runner->canary->user, &contribution);
    score_release(runner, shape, &contribution, n, (double)sigma);
    measure_noise(runner, n, (double)sigma);
    runner->observed[runner->n_observed++] =
        (struct statement_release){.coordinates = n, .sigma = sigma};
}

/* ---- a run ------------------------------------------------------------------------------------ */

static int prepare(struct audit_runner *runner, struct dpmf_error *error) {
    if (!runner->statement) runner->statement = memory_alloc_zero(1, sizeof *runner->statement);
    if (!runner->observed)
        runner->observed = memory_alloc_zero(AUDIT_RELEASES_MAX, sizeof *runner->observed);
    if (!runner->statement || !runner->observed) return error_no_memory(error);
    *runner->statement = (struct statement){
        .mechanism = runner->mechanism->name,
        .epsilon = runner->options->epsilon,
        .delta = runner->options->delta,
        .range_min = runner->options->range_min,
        .range_max = runner->options->range_max,
        .items = runner->population->catalogue.ids.n,
        .has_features = runner->options->item_features != NULL,
        .catalogue_from_ratings = runner->population->catalogue.from_ratings,
    };
    runner->score = 0;
    memset(runner->loudness, 0, sizeof runner->loudness);
    runner->n_observed = 0;
    runner->code = 0;
    return runner->pool ? 0 : thread_pool_init(&runner->pool, 1, error);
}

static int run_mechanism(struct audit_runner *runner, const struct secure_random *random,
                         struct dpmf_error *error) {
    const struct audit_population *population = runner->population;
    struct public_model model = {0};
    struct noisy_sum_context sums = {
        .ratings = runner->is_in ? runner->canary->with : population->without,
        .random = random,
        .pool = runner->pool,
        .memory = UINT64_MAX,
        .statement = runner->statement,
        .observe = observe,
        .observe_self = runner,
    };
    const struct mechanism_input input = {
        .sums = &sums, .catalogue = &population->catalogue, .mu = runner->mu};
    if (pthread_mutex_init(&sums.progress_lock, NULL) != 0) return error_no_memory(error);
    int code = public_model_init(&model, (size_t)population->catalogue.ids.n, error);
    if (code == 0) code = runner->mechanism->run(&input, &model, error);
    public_model_free(&model);
    pthread_mutex_destroy(&sums.progress_lock);
    if (code == 0 && runner->code < 0) {
        if (error) *error = runner->error;
        code = runner->code;
    }
    return code;
}

/* What the statement lists against what was seen: the releases in their order, and every draw of noise. */
static void compare_lists(struct audit_runner *runner, uint64_t draws) {
    const struct statement *statement = runner->statement;
    struct audit_tally *tally = &runner->tally;
    bool same = statement->n_releases == runner->n_observed;
    uint64_t listed = 0;
    for (size_t i = 0; i < statement->n_releases; i++) {
        const struct statement_release *release = &statement->releases[i];
        listed += release->draws;
        same = same && release->coordinates == runner->observed[i].coordinates &&
               release->sigma == runner->observed[i].sigma;
    }
    tally->draws += draws;
    tally->draws_listed += listed;
    tally->releases += runner->n_observed;
    tally->releases_listed += statement->n_releases;
    tally->wrong_lists += !same || listed != draws;
    tally->wrong_statements += statement_check(statement, NULL) != 0;
}

int audit_run(struct audit_runner *runner, const struct audit_canary *canary,
              struct audit_guess *guess, bool *was_in, struct dpmf_error *error) {
    struct secure_random random;
    uint8_t coin = 0;
    uint64_t draws = 0;
    runner->canary = canary;
    int code = prepare(runner, error);
    if (code == 0) code = random_from_system(&coin, sizeof coin, error);
    if (code == 0) code = secure_random_init(&random, error);
    if (code < 0) return code;
    runner->is_in = coin & 1;
    random.draws = &draws;
    code = run_mechanism(runner, &random, error);
    secure_random_wipe(&random);
    if (code < 0) return code;
    compare_lists(runner, draws);
    *guess = (struct audit_guess){fabs(runner->score), (runner->score > 0) == runner->is_in};
    *was_in = runner->is_in;
    return 0;
}

void audit_runner_free(struct audit_runner *runner) {
    thread_pool_free(runner->pool);
    free(runner->statement);
    free(runner->observed);
    free(runner->values);
    free(runner->q);
    free(runner->sums);
    free(runner->before);
    free(runner->first);
}
