/*
 * One run of an audit. Fed by audit.c; runs what dpmf train --epsilon runs, with a watch on its
 * rounds, and gives back a guess about each canary.
 *
 * The guess. In every round the auditor knows the public state it was made from, and so, with the
 * very functions that were used, each canary's own integers q_i. What was published less the exact
 * sum of the others is r = noise + sum of c_j q_j over the canaries j, c_j being 1 or 0 by their
 * coins. (That the sums of a world with a canary differ from those without by exactly its integers
 * is what audit_worlds.c has shown: where it has not, nothing is concluded from guesses.) If the
 * noise is Gaussian with deviation s on every number, the log-likelihood ratio of in to out is (<r,
 * q> - |q|^2 / 2) / s^2, over the rounds of a run these add up, and no function of what is
 * published can guess better. Two auditors guess:
 *   one knows the other canaries' coins, and guesses the first canary alone: a guess a run, for
 *   theorem 1 of audit_bound.c; the other knows no coin, and takes 1/2 for each it would need: a
 *   guess a canary, for theorem 2.
 *
 * The auditor does not believe the s that is listed: it measures it, in the run at hand, as the
 * size of r. So a round with less noise, or with none, gets the weight it deserves. Numbers that
 * were published without noise among others that have some are recognised as such: r is then 0 or q
 * to the last digit.
 */
#define _GNU_SOURCE
#include "audit/audit_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "model/release.h"
#include "random/random.h"
#include "statement/claim.h"
#include "store/store.h"

__extension__ typedef unsigned __int128 wide;

enum { MEASURE_MIN = 32 };     /* numbers from which on a round's noise can be measured */
static const double sure = 30; /* log-likelihood ratio of a number without noise */

struct audit_quantised {
    size_t n_blocks;
    uint32_t *block;
    int32_t *q;
    size_t block_room, q_room;
};

/* ---- the flock ------------------------------------------------------------------------------- */

static int remember_user(void *self, int worker, const struct private_user *user,
                         struct dpmf_error *error) {
    (void)worker, (void)error;
    *(struct private_user *)self = *user;
    return 0;
}

static int pack_canary(const struct audit_population *population,
                       const struct dpmf_release_options *options, bool ranks,
                       const struct dpmf_run *run, struct audit_flock *flock, size_t i,
                       struct dpmf_error *error) {
    const struct private_ratings_options packing = {
        .range_min = ranks ? -INFINITY : options->range_min,
        .range_max = ranks ? INFINITY : options->range_max,
        .are_events = ranks,
        .coins = &flock->coins,
        .toss = ranks,
        .catalogue = &population->catalogue,
        .epsilon = options->epsilon,
        .delta = options->delta,
        .longest = 1,
        .memory = UINT64_MAX,
        .threads = 1};
    const struct private_visit visit = {remember_user, &flock->user[i], NULL, NULL};
    struct private_ratings_report report;
    struct thread_pool *pool = NULL;
    struct dpmf_store *store = NULL;
    int code =
        audit_population_store(population, &population->canaries[i].ratings, run, &store, error);
    if (code == 0)
        code = private_ratings_build(store, &packing, NULL, &flock->packed[i], &report, error);
    if (code == 0) code = thread_pool_init(&pool, 1, error);
    if (code == 0) code = private_ratings_visit(flock->packed[i], pool, &visit, error);
    thread_pool_free(pool);
    dpmf_store_close(store);
    if (flock->user[i].n > flock->longest) flock->longest = flock->user[i].n;
    return code;
}

int audit_flock_make(const struct audit_population *population,
                     const struct dpmf_release_options *options, bool ranks,
                     const struct dpmf_run *run, struct audit_flock *flock,
                     struct dpmf_error *error) {
    const size_t n = population->n_spread + 1;
    *flock = (struct audit_flock){.n = n};
    flock->packed = memory_alloc_zero(n, sizeof *flock->packed);
    flock->user = memory_alloc_zero(n, sizeof *flock->user);
    int code = flock->packed && flock->user ? secure_random_init(&flock->coins, error)
                                            : error_no_memory(error);
    for (size_t i = 0; i < n && code == 0; i++)
        code = pack_canary(population, options, ranks, run, flock, i, error);
    return code;
}

void audit_flock_free(struct audit_flock *flock) {
    for (size_t i = 0; flock->packed && i < flock->n; i++) private_ratings_free(flock->packed[i]);
    free(flock->packed);
    free(flock->user);
    secure_random_wipe(&flock->coins);
    *flock = (struct audit_flock){0};
}

/* ---- integers -------------------------------------------------------------------------------- */

/* A user's integers in runner->q. The bound is checked here once more, by other code than that
 * which keeps it.
 * @return the square of their norm */
static double make_integers(struct audit_runner *runner, const struct noisy_sum_round *round,
                            const struct private_user *user, struct contribution *contribution) {
    *contribution = (struct contribution){.values = runner->values};
    round->contribute(round->contribute_self, 0, user, contribution);
    const size_t n = contribution->n_blocks * round->shape->width + round->shape->tail;
    noisy_sum_quantise(round->exact, runner->values, n, user->scale, runner->q);
    wide sum = 0;
    for (size_t i = 0; i < n; i++) sum += (uint64_t)((int64_t)runner->q[i] * runner->q[i]);
    const uint64_t limit = (uint64_t)(user->scale * (double)(1 << NOISY_SUM_BITS));
    runner->tally.contributions++;
    runner->tally.over_norm += sum > (wide)limit * limit;
    return (double)sum;
}

static bool make_room(struct audit_runner *runner, const struct noisy_sum_round *round) {
    const struct noisy_sum_shape *shape = round->shape;
    size_t longest = private_ratings_longest(round->context->ratings), room;
    if (longest < runner->flock->longest) longest = runner->flock->longest;
    const size_t blocks = shape->blocks_max > 0 ? shape->blocks_max : longest;
    if (__builtin_mul_overflow(blocks, shape->width, &room) || room > SIZE_MAX - shape->tail)
        return false;
    room += shape->tail;
    return memory_reserve(&runner->values, &runner->values_room, room, sizeof *runner->values) &&
           memory_reserve(&runner->q, &runner->q_room, room, sizeof *runner->q) &&
           memory_reserve(&runner->noise, &runner->noise_room, round->n, sizeof *runner->noise) &&
           memory_reserve(&runner->touched, &runner->touched_room, round->n, 1);
}

static int quantise_canary(struct audit_runner *runner, const struct noisy_sum_round *round,
                           size_t i, struct dpmf_error *error) {
    const struct private_user *user = &runner->flock->user[i];
    struct audit_quantised *out = &runner->quantised[i];
    struct contribution contribution = {0};
    double squares = 0;
    if (user->n > 0)
        squares = make_integers(runner, round, user, &contribution);
    else
        memset(runner->q, 0, round->shape->tail * sizeof *runner->q);
    const size_t n = contribution.n_blocks * round->shape->width + round->shape->tail;
    if (!memory_reserve(&out->block, &out->block_room, contribution.n_blocks, sizeof *out->block) ||
        !memory_reserve(&out->q, &out->q_room, n, sizeof *out->q))
        return error_no_memory(error);
    out->n_blocks = contribution.n_blocks;
    if (out->n_blocks > 0)
        memcpy(out->block, contribution.block, out->n_blocks * sizeof *out->block);
    memcpy(out->q, runner->q, n * sizeof *out->q);
    if (i == 0) runner->loudness += squares / ((double)round->sigma * (double)round->sigma);
    return 0;
}

/* ---- everyone's sums, once more -------------------------------------------------------------- */

struct adding {
    struct audit_runner *runner;
    const struct noisy_sum_round *round;
};

static int subtract_user(void *self, int worker, const struct private_user *user,
                         struct dpmf_error *error) {
    const struct adding *adding = self;
    const struct noisy_sum_shape *shape = adding->round->shape;
    struct contribution contribution;
    (void)worker, (void)error;
    make_integers(adding->runner, adding->round, user, &contribution);
    const int32_t *q = adding->runner->q;
    int64_t *sums = adding->runner->noise, *tail = sums + shape->n_rows * shape->width;
    for (size_t b = 0; b < contribution.n_blocks; b++)
        for (size_t i = 0; i < shape->width; i++)
            sums[contribution.block[b] * shape->width + i] -= *q++;
    for (size_t i = 0; i < shape->tail; i++) tail[i] -= *q++;
    return 0;
}

/* Nothing may be left of the exact sums without everyone. */
static int check_everyone(struct audit_runner *runner, const struct noisy_sum_round *round,
                          struct dpmf_error *error) {
    struct adding adding = {runner, round};
    const struct private_visit visit = {subtract_user, &adding, NULL, NULL};
    uint64_t left = 0;
    memcpy(runner->noise, runner->exact, round->n * sizeof *runner->noise);
    int code = private_ratings_visit(round->context->ratings, round->context->pool, &visit, error);
    for (size_t i = 0; i < round->n; i++) left += runner->noise[i] != 0;
    runner->tally.wrong_sums += left > 0;
    return code;
}

/* ---- the log-likelihood ratios --------------------------------------------------------------- */

/* Goes through a canary's numbers: place by place in the round, and in its own integers. */
struct walk {
    const struct audit_quantised *canary;
    const struct noisy_sum_shape *shape;
    size_t b; /* the block, n_blocks being the tail */
};

/* The next n numbers of it, those of the round from *place on. @return whether there are any
 * left */
static bool next_stretch(struct walk *walk, size_t *place, size_t *n, const int32_t **q) {
    const struct noisy_sum_shape *shape = walk->shape;
    const size_t b = walk->b++, n_blocks = walk->canary->n_blocks;
    if (b > n_blocks) return false;
    *q = walk->canary->q + b * shape->width;
    *place = (b < n_blocks ? walk->canary->block[b] : (size_t)shape->n_rows) * shape->width;
    *n = b < n_blocks ? shape->width : shape->tail;
    return true;
}

static double measured_variance(double squares, size_t n, double sigma) {
    /* Half a grid unit: there is nothing finer. */
    return n >= MEASURE_MIN ? fmax(squares / (double)n, 0.25) : sigma * sigma;
}

static double squares_of(const int64_t *values, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)values[i] * (double)values[i];
    return sum;
}

/* The first canary's, by one who knows the others' coins: r = noise + c q. */
static double score_informed(const struct audit_runner *runner,
                             const struct noisy_sum_round *round) {
    struct walk walk = {&runner->quantised[0], round->shape, 0};
    const int64_t c = runner->is_in[0];
    double rq = 0, qq = 0, rr = squares_of(runner->noise, round->n), exact = 0;
    const int32_t *q;
    for (size_t place, n; next_stretch(&walk, &place, &n, &q);)
        for (size_t i = 0; i < n; i++) {
            const int64_t noise = runner->noise[place + i], r = noise + c * q[i];
            rr += (double)r * (double)r - (double)noise * (double)noise;
            rq += (double)r * q[i];
            qq += (double)q[i] * q[i];
            if (q[i] != 0) exact += (r == q[i]) - (r == 0);
        }
    if (!(qq > 0)) return 0;
    return (rq - qq / 2) / measured_variance(rr - rq * rq / qq, round->n, (double)round->sigma) +
           sure * exact;
}

/* runner->noise becomes 2 r - (sum of all canaries) = 2 noise + sum of (2c - 1) q, which is what
 * half-knowledge leaves. */
static void mix_canaries(struct audit_runner *runner, const struct noisy_sum_round *round) {
    for (size_t i = 0; i < round->n; i++) runner->noise[i] *= 2;
    memset(runner->touched, 0, round->n);
    for (size_t k = 0; k < runner->flock->n; k++) {
        struct walk walk = {&runner->quantised[k], round->shape, 0};
        const int64_t sign = runner->is_in[k] ? 1 : -1;
        const int32_t *q;
        for (size_t place, n; next_stretch(&walk, &place, &n, &q);)
            for (size_t i = 0; i < n; i++) {
                runner->noise[place + i] += sign * q[i];
                if (q[i] != 0 && runner->touched[place + i] < 2) runner->touched[place + i]++;
            }
    }
}

/* Canary k's, by one who knows no coin. A number without noise that it alone has a part in is +q or
 * -q here. */
static double score_blind(const struct audit_runner *runner, const struct noisy_sum_round *round,
                          size_t k, double variance) {
    struct walk walk = {&runner->quantised[k], round->shape, 0};
    double rq = 0, exact = 0;
    const int32_t *q;
    for (size_t place, n; next_stretch(&walk, &place, &n, &q);)
        for (size_t i = 0; i < n; i++) {
            const int64_t r = runner->noise[place + i];
            rq += (double)r * q[i];
            if (q[i] != 0 && runner->touched[place + i] == 1)
                exact += (r == q[i]) - (r == -(int64_t)q[i]);
        }
    return rq / 2 / variance + sure * exact;
}

/* ---- watching -------------------------------------------------------------------------------- */

static int keep_exact(void *self, const struct noisy_sum_round *round, const int64_t *sums,
                      struct dpmf_error *error) {
    struct audit_runner *runner = self;
    if (!memory_reserve(&runner->exact, &runner->exact_room, round->n, sizeof *runner->exact) ||
        !make_room(runner, round))
        return error_no_memory(error);
    memcpy(runner->exact, sums, round->n * sizeof *sums);
    return runner->checks_everyone ? check_everyone(runner, round, error) : 0;
}

static int see_published(void *self, const struct noisy_sum_round *round, int64_t *noisy_sums,
                         struct dpmf_error *error) {
    struct audit_runner *runner = self;
    const size_t n = round->n, t = runner->n_rounds;
    const double sigma = (double)round->sigma;
    if (t == STATEMENT_RELEASES_MAX)
        return error_set(error, DPMF_ERR_BASE_BUG, "more rounds than a statement can list");
    for (size_t i = 0; i < n; i++) runner->noise[i] = noisy_sums[i] - runner->exact[i];
    if (!audit_noise_add(&runner->tally.noise, t, runner->noise, n, sigma))
        return error_no_memory(error);
    for (size_t k = 0; k < runner->flock->n; k++) {
        int code = quantise_canary(runner, round, k, error);
        if (code < 0) return code;
    }
    runner->informed += score_informed(runner, round);
    mix_canaries(runner, round);
    const double variance = measured_variance(squares_of(runner->noise, n) / 4, n, sigma);
    for (size_t k = 0; k < runner->flock->n; k++)
        runner->score[k] += score_blind(runner, round, k, variance);
    runner->rounds[runner->n_rounds++] =
        (struct statement_release){.coordinates = n, .sigma = round->sigma};
    return 0;
}

/* ---- a run ----------------------------------------------------------------------------------- */

static int prepare(struct audit_runner *runner, struct dpmf_error *error) {
    const size_t n = runner->flock->n;
    if (!runner->rounds)
        runner->rounds = memory_alloc_zero(STATEMENT_RELEASES_MAX, sizeof *runner->rounds);
    if (!runner->is_in) runner->is_in = memory_alloc_zero(n, sizeof *runner->is_in);
    if (!runner->score) runner->score = memory_alloc_zero(n, sizeof *runner->score);
    if (!runner->quantised) runner->quantised = memory_alloc_zero(n, sizeof *runner->quantised);
    if (!runner->rounds || !runner->is_in || !runner->score || !runner->quantised)
        return error_no_memory(error);
    for (size_t k = 0; k < n; k++) {
        uint8_t coin = 0;
        int code = random_from_system(&coin, sizeof coin, error);
        if (code < 0) return code;
        runner->is_in[k] = coin & 1;
        runner->score[k] = 0;
    }
    runner->informed = runner->loudness = 0;
    runner->n_rounds = 0;
    runner->draws = 0;
    return 0;
}

/* What the statement lists against what was seen: the rounds in their order, and every draw of
 * noise. */
static void compare_lists(struct audit_runner *runner, const struct statement *statement) {
    struct audit_tally *tally = &runner->tally;
    bool same = statement->n_releases == runner->n_rounds;
    uint64_t listed = 0;
    for (size_t i = 0; i < statement->n_releases; i++) {
        const struct statement_release *release = &statement->releases[i];
        listed += release->draws;
        same = same && release->coordinates == runner->rounds[i].coordinates &&
               release->sigma == runner->rounds[i].sigma;
    }
    tally->loudness += runner->loudness;
    tally->draws += runner->draws;
    tally->draws_listed += listed;
    tally->rounds += runner->n_rounds;
    tally->rounds_listed += statement->n_releases;
    tally->wrong_lists += !same || listed != runner->draws;
    tally->wrong_statements +=
        statement_check(statement, NULL) != 0 || claim_of(statement) != DPMF_CLAIM_NOT_PRIVATE;
}

static size_t stride_of(size_t k) { return k; }

static int read_statement(struct audit_runner *runner, struct dpmf_error *error) {
    struct release release = {0};
    struct statement *statement = memory_alloc(1, sizeof *statement);
    if (!statement) return error_no_memory(error);
    int code = release_read(runner->output, stride_of, 0, &release, error);
    if (code == 0) {
        code = statement_from_json(release.statement, strlen(release.statement), statement, error);
        if (code == 0) compare_lists(runner, statement);
        release_free(&release);
    }
    free(statement);
    return code;
}

static int make_store(struct audit_runner *runner, struct dpmf_store **store,
                      struct dpmf_error *error) {
    const struct audit_population *population = runner->population;
    runner->ratings.n = 0;
    bool ok = audit_ratings_append(&runner->ratings, &population->others);
    for (size_t k = 0; k < runner->flock->n && ok; k++)
        if (runner->is_in[k])
            ok = audit_ratings_append(&runner->ratings, &population->canaries[k].ratings);
    if (!ok) return error_no_memory(error);
    return audit_population_store(population, &runner->ratings, runner->run, store, error);
}

int audit_run(struct audit_runner *runner, bool everyone, struct audit_guess *guesses,
              struct audit_guess *informed, bool *was_in, struct dpmf_error *error) {
    const struct release_watch watch = {.sums = {runner, keep_exact, see_published},
                                        .draws = &runner->draws,
                                        .longest = runner->flock->longest,
                                        .coins = &runner->flock->coins};
    struct dpmf_store *store = NULL;
    runner->checks_everyone = everyone;
    int code = prepare(runner, error);
    if (code == 0) code = make_store(runner, &store, error);
    if (code == 0)
        code = release_make_watched(store, runner->output, runner->options, runner->run, &watch,
                                    NULL, error);
    if (code == 0) code = read_statement(runner, error);
    unlink(runner->output);
    dpmf_store_close(store);
    if (code < 0) return code;
    for (size_t k = 0; k < runner->flock->n; k++)
        guesses[k] = (struct audit_guess){fabs(runner->score[k]),
                                          (runner->score[k] > 0) == runner->is_in[k]};
    *informed =
        (struct audit_guess){fabs(runner->informed), (runner->informed > 0) == runner->is_in[0]};
    *was_in = runner->is_in[0];
    return 0;
}

void audit_runner_free(struct audit_runner *runner) {
    for (size_t k = 0; runner->quantised && k < runner->flock->n; k++) {
        free(runner->quantised[k].block);
        free(runner->quantised[k].q);
    }
    free(runner->quantised);
    free(runner->rounds);
    free(runner->is_in);
    free(runner->score);
    free(runner->values);
    free(runner->q);
    free(runner->exact);
    free(runner->noise);
    free(runner->touched);
    audit_ratings_free(&runner->ratings);
    audit_noise_free(&runner->tally.noise);
}
