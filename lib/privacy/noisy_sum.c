/*
 * Sums of users' contributions with noise: the privacy of everything dpmf calls proven rests on
 * this file.
 *
 * Claim. A release of noisy_sum_release with the whole number sigma and B = 2^NOISY_SUM_BITS is
 * mu-GDP for adding or removing one user, mu = B / sigma; for a user of scale s it is (s mu)-GDP.
 * Given earlier releases, that is: the public state that contributions are computed from may depend
 * on them (adaptive composition).
 *
 * Proof.
 * 1. Contributions do not see each other. `contribute` is a pure function of one user's packed
 *    ratings and of public state, in doubles with a fixed order of operations; nothing is batched
 *    over users. What it writes, however wrong, only passes through noisy_sum_quantise
 *    (quantise.c), whose output depends on nothing else. So two sets of users that differ in one
 *    user give sums that differ by exactly that user's integers q.
 * 2. |q| <= s B. noisy_sum_quantise ends only when the sum of q_i^2, computed without error in 128
 *    bits, is at most floor(s B)^2 (or with q = 0). Each coordinate receives one q_i: rows of a
 *    user's blocks are strictly increasing, so no coordinate is met twice. That is checked for
 *    every user (check_blocks).
 * 3. Sums are exact: int64, and |sum| + 64 sigma stays below 2^62, or the release is refused before
 *    it is begun. The number of users decides that only from 2^37 of them on. Parts of sums are in
 *    32 bits for a while, and never beyond them (struct worker_space).
 * 4. The published integer is q_sum + round(Z) = round(q_sum + Z), Z ~ N(0, sigma^2) sampled
 *    exactly and independently for every coordinate: round(.) is a function of the output of the
 *    Gaussian mechanism of noise sigma on a sum of sensitivity s B, which is (s B / sigma)-GDP
 *    (Dong, Roth and Su 2022, theorem 2.7), and post-processing costs nothing. So is the division
 *    by B, and so is what 64 bits make of a Z beyond them: the noise is not cut off anywhere, and
 *    delta has nothing to cover.
 * 5. Every coordinate is published with noise, those that no one contributed to as well, and how
 *    many there are is public (the shape).
 * What is assumed: the bits of ChaCha20 under a key from the operating system are as good as
 * random.
 *
 * Several processes (a cluster). Each computes the contributions of its own users and sums them;
 * the sums of processes are added up (cluster_reduce_scatter), coordinates being cut into one range
 * for each; the owner of a range draws its noise, and all get all noisy sums. Nothing of the proof
 * changes:
 * 1. What a contribution is computed from is the same everywhere: the processes compare digests of
 *    the public state, of the shape and of sigma before every release. (Were it not, contributions
 *    would still not see each other; but the sum would mean nothing.)
 * 2. A user is in one process: the shares of one store do not overlap, all processes have that
 *    store (user_shares.c), and parts of a store are taken together only as dpmf shard cut them
 *    (shard_set.c). So a user still contributes one q.
 * 3. Integers commute, modulo 2^64 too, and the bound is on the users of all processes: partial
 *    sums may be added in any order.
 * 4. Ranges do not overlap and cover all coordinates, so each is drawn once, by its owner, from its
 *    stream (release, coordinate) under a key of the owner's own, which never leaves it. Streams of
 *    two owners differ in the coordinate, whatever their keys: even if two machines had the same
 *    key, no draw would be used twice. That as many draws were taken as there are coordinates is
 *    counted over all processes and checked with the statement.
 * 5. Nothing else leaves: sums without noise go from process to process alone, which are the
 *    curator's; their network must be too.
 *
 * A watched run (the audit's) sees sums without noise and may put another world's noisy sums in the
 * place of its own: nothing above holds for it. So its statement is marked NOT PRIVATE here, where
 * that happens, whatever its caller meant to do with it.
 */
#define _GNU_SOURCE
#include "privacy/noisy_sum.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/error.h"
#include "base/memory.h"
#include "random/exact_gaussian.h"
#include "statement/statement_rounds.h"

static const double grid = (double)(1 << NOISY_SUM_BITS);

static_assert((int)NOISY_SUM_BITS == (int)STATEMENT_BITS_MAX, "statements list one grid");
static const uint64_t sum_limit = (uint64_t)1 << 62;

/* ---- all users' sums ------------------------------------------------------------------------- */

/*
 * A thread's sums. Where memory allows it, it adds up in 32 bits first, for half of the traffic:
 * `reach` is the sum of its users' largest |q_i| since these `recent` sums were 0, so none of them
 * is beyond it; before it could pass 2^31 - 1 they are moved to `sums`. So nothing is ever lost.
 */
struct worker_space {
    double *values;
    int32_t *q;
    int64_t *sums;   /* this worker's, or those all share */
    int32_t *recent; /* or NULL */
    uint64_t reach;
    uint64_t added; /* numbers added to them */
};

struct summing {
    struct noisy_sum_context *context;
    const struct noisy_sum_shape *shape;
    noisy_sum_contribute *contribute;
    void *self;
    const struct exact_kernels *exact;
    struct worker_space *spaces;
    int n_workers;
    size_t n_coordinates, room; /* number of sums; room for values */
    bool shared;
    size_t *range;         /* the first coordinate of each process, and the end */
    size_t end;            /* end of the coordinates that are worked on */
    _Atomic uint64_t next; /* next of these coordinates */
    _Atomic uint64_t draws;
    uint64_t sigma;
};

/* The mechanism is not trusted with the norm bound: a row met twice would add up to more than was
 * quantised. */
static int check_blocks(const struct summing *summing, const struct contribution *contribution,
                        struct dpmf_error *error) {
    const struct noisy_sum_shape *shape = summing->shape;
    const size_t n = contribution->n_blocks;
    bool is_sound = shape->width == 0 || n <= (summing->room - shape->tail) / shape->width;
    for (size_t b = 0; b < n && is_sound; b++)
        is_sound = contribution->block[b] < shape->n_rows &&
                   (b == 0 || contribution->block[b - 1] < contribution->block[b]);
    if (is_sound) return 0;
    return error_set(error, DPMF_ERR_BASE_BUG,
                     "a contribution has rows out of order, out of range or too many");
}

static void add_to_shared(int64_t *sums, const int32_t *q, size_t n) {
    for (size_t i = 0; i < n; i++) __atomic_fetch_add(&sums[i], q[i], __ATOMIC_RELAXED);
}

static void move_recent(const struct summing *summing, struct worker_space *space) {
    if (!space->recent) return;
    summing->exact->move(space->sums, space->recent, summing->n_coordinates);
    space->reach = space->added = 0;
}

/* Makes sure that q, of n numbers, can be added to the recent sums. Where they have to be moved
 * before they were added to much, as in sparse sets, that costs more than it saves: no more then.
 * @return whether there are recent sums */
static bool reach_for(const struct summing *summing, struct worker_space *space, const int32_t *q,
                      size_t n) {
    if (!space->recent) return false;
    const uint64_t peak = summing->exact->peak(q, n);
    /* Twice the largest at most, which the bound on the squares keeps within 2^bits. */
    assert(peak <= (uint64_t)2 << NOISY_SUM_BITS);
    if (space->reach + peak > INT32_MAX) {
        const bool pays = space->added / 2 > summing->n_coordinates;
        move_recent(summing, space);
        if (!pays) {
            free(space->recent);
            space->recent = NULL;
            return false;
        }
    }
    space->reach += peak;
    space->added += n;
    return true;
}

/* Integers commute: the sums are the same whoever adds what when. */
static void add_integers(const struct summing *summing, struct worker_space *space,
                         const struct contribution *contribution) {
    const struct noisy_sum_shape *shape = summing->shape;
    const struct exact_kernels *exact = summing->exact;
    const size_t width = shape->width, n_blocks = contribution->n_blocks;
    const size_t last = (size_t)shape->n_rows * width;
    const uint32_t *block = contribution->block, first = 0;
    const int32_t *q = space->q, *tail = q + n_blocks * width;
    if (summing->shared) {
        for (size_t b = 0; b < n_blocks; b++, q += width)
            add_to_shared(space->sums + block[b] * width, q, width);
        add_to_shared(space->sums + last, tail, shape->tail);
    } else if (reach_for(summing, space, q, n_blocks * width + shape->tail)) {
        exact->add_small(space->recent, width, block, n_blocks, q);
        exact->add_small(space->recent + last, shape->tail, &first, 1, tail);
    } else {
        exact->add(space->sums, width, block, n_blocks, q);
        exact->add(space->sums + last, shape->tail, &first, 1, tail);
    }
}

static int add_user(void *self, int worker, const struct private_user *user,
                    struct dpmf_error *error) {
    struct summing *summing = self;
    const struct noisy_sum_shape *shape = summing->shape;
    struct worker_space *space = &summing->spaces[worker];
    struct contribution contribution = {.values = space->values};
    summing->contribute(summing->self, worker, user, &contribution);
    int code = check_blocks(summing, &contribution, error);
    if (code < 0) return code;
    const size_t n = contribution.n_blocks * shape->width + shape->tail;
    noisy_sum_quantise(summing->exact, space->values, n, user->scale, space->q);
    add_integers(summing, space, &contribution);
    return 0;
}

static int keep_on(void *self, struct dpmf_error *error) {
    struct noisy_sum_context *context = self;
    if (!context->run || !context->run->progress) return 0;
    const struct dpmf_progress progress = {.phase = "private releases",
                                           .unit = "releases",
                                           .done = context->n_passes,
                                           .total = context->total_passes};
    if (pthread_mutex_trylock(&context->progress_lock) != 0) return 0;
    int stop = context->run->progress(context->run->progress_self, &progress);
    pthread_mutex_unlock(&context->progress_lock);
    return stop ? error_set(error, DPMF_ERR_BASE_CANCELLED, "interrupted") : 0;
}

/* More sums than that are in no cache, in 64 bits or 32. */
enum { RECENT_MAX = 1 << 22 };

static int make_spaces(struct summing *summing, struct dpmf_error *error) {
    size_t sum_bytes = summing->n_coordinates * sizeof(int64_t);
    size_t workers = (size_t)summing->n_workers;
    const uint64_t share = summing->context->memory / (workers + 1);
    summing->shared = sum_bytes > share;
    const bool has_recent =
        summing->n_coordinates <= RECENT_MAX && sum_bytes + sum_bytes / 2 <= share;
    summing->spaces = memory_alloc_zero(workers, sizeof *summing->spaces);
    summing->range =
        memory_alloc((size_t)cluster_size(summing->context->cluster) + 1, sizeof *summing->range);
    if (!summing->spaces || !summing->range) return error_no_memory(error);
    for (size_t w = 0; w < workers; w++) {
        struct worker_space *space = &summing->spaces[w];
        space->values = memory_alloc(summing->room, sizeof *space->values);
        space->q = memory_alloc(summing->room, sizeof *space->q);
        space->sums = w > 0 && summing->shared
                          ? summing->spaces[0].sums
                          : memory_alloc_zero(summing->n_coordinates, sizeof *space->sums);
        if (!space->values || !space->q || !space->sums) return error_no_memory(error);
        if (!has_recent) continue;
        space->recent = memory_alloc_zero(summing->n_coordinates, sizeof *space->recent);
        if (!space->recent) return error_no_memory(error);
    }
    return 0;
}

static void free_spaces(struct summing *summing) {
    for (int w = 0; summing->spaces && w < summing->n_workers; w++) {
        struct worker_space *space = &summing->spaces[w];
        free(space->values);
        free(space->q);
        free(space->recent);
        if (w == 0 || !summing->shared) free(space->sums);
    }
    free(summing->spaces);
    free(summing->range);
}

/* ---- noise ----------------------------------------------------------------------------------- */

enum { RANGE = 4096 }; /* coordinates at once */

/* The next coordinates for a thread to work on. @return whether there are any */
static bool take_range(struct summing *summing, uint64_t *first, uint64_t *end) {
    *first = atomic_fetch_add(&summing->next, RANGE);
    *end = *first + RANGE < summing->end ? *first + RANGE : summing->end;
    return *first < summing->end;
}

/* Adds up the threads' sums. */
static void add_up(void *self, int worker) {
    struct summing *summing = self;
    int64_t *sums = summing->spaces[0].sums;
    uint64_t first, end;
    (void)worker;
    while (take_range(summing, &first, &end))
        for (int w = 1; w < summing->n_workers; w++)
            for (uint64_t i = first; i < end; i++) sums[i] += summing->spaces[w].sums[i];
}

/* Puts noise on the coordinates that are this process's: each once. */
static void add_noise(void *self, int worker) {
    struct summing *summing = self;
    const struct noisy_sum_context *context = summing->context;
    uint32_t release = (uint32_t)context->statement->n_releases;
    uint64_t first, end;
    (void)worker;
    while (take_range(summing, &first, &end)) {
        exact_gaussian_add(context->random, release, first, (size_t)(end - first), summing->sigma,
                           summing->spaces[0].sums + first);
        atomic_fetch_add(&summing->draws, end - first);
    }
}

static void work_on(struct summing *summing, size_t first, size_t end,
                    void (*task)(void *self, int worker)) {
    atomic_store(&summing->next, first);
    summing->end = end;
    thread_pool_run(summing->context->pool, task, summing);
}

/* ---- several processes ----------------------------------------------------------------------- */

static uint64_t digest_add(uint64_t digest, const void *bytes, size_t n) {
    return checksum64_seeded(bytes, n, digest);
}

/* The digest of everything public that the noisy sum depends on. */
static uint64_t public_digest(const struct summing *summing) {
    const struct public_model *model = summing->context->model;
    const struct noisy_sum_shape *shape = summing->shape;
    const uint64_t sizes[] = {shape->n_rows, shape->width, shape->tail, summing->sigma,
                              summing->context->statement->n_releases};
    uint64_t digest = digest_add(0, sizes, sizeof sizes);
    digest = digest_add(digest, shape->name, strlen(shape->name));
    if (!model) return digest;
    const double scalars[] = {model->b0, model->s2, model->var_a, (double)model->K};
    const size_t n = model->n_items;
    digest = digest_add(digest, scalars, sizeof scalars);
    digest = digest_add(digest, model->c, n * sizeof *model->c);
    if (model->K == 0) return digest;
    digest = digest_add(digest, model->weight, n * sizeof *model->weight);
    digest = digest_add(digest, model->bias_weight, n * sizeof *model->bias_weight);
    return digest_add(digest, model->rows, n * model->stride * sizeof *model->rows);
}

/* Machines of different kinds can differ in the last bit of a logarithm. */
static int check_same(const struct summing *summing, struct dpmf_error *error) {
    return cluster_check_same(
        summing->context->cluster, public_digest(summing), DPMF_ERR_PRIVACY_REFUSED,
        "the processes of the cluster do not agree on the public model",
        "use machines of one kind, with the same program and libraries", error);
}

/* ---- an audit's eyes ------------------------------------------------------------------------- */

static struct noisy_sum_round round_of(const struct summing *summing, size_t first, size_t end) {
    return (struct noisy_sum_round){.context = summing->context,
                                    .shape = summing->shape,
                                    .n = summing->n_coordinates,
                                    .first = first,
                                    .end = end,
                                    .sigma = summing->sigma,
                                    .exact = summing->exact,
                                    .contribute = summing->contribute,
                                    .contribute_self = summing->self};
}

/* All processes continue, or none does. */
static int watch_sums(struct summing *summing, size_t first, size_t end, bool are_noisy,
                      struct dpmf_error *error) {
    const struct noisy_sum_context *context = summing->context;
    const struct noisy_sum_watch *watch = context->watch;
    if (!watch) return 0;
    context->statement->is_insecure = true;
    const struct noisy_sum_round round = round_of(summing, first, end);
    int64_t *sums = summing->spaces[0].sums;
    int code = are_noisy ? watch->published(watch->self, &round, sums, error)
                         : watch->summed(watch->self, &round, sums, error);
    return cluster_agree(context->cluster, code, error);
}

/* ---- a release ------------------------------------------------------------------------------- */

/* From each process's sums of its own users to everyone's noisy sums, in every process. */
static int share_sums(struct summing *summing, struct dpmf_error *error) {
    const struct dpmf_cluster *cluster = summing->context->cluster;
    const int n = cluster_size(cluster), rank = cluster_rank(cluster);
    int64_t *sums = summing->spaces[0].sums;
    size_t *range = summing->range;
    int code = cluster ? check_same(summing, error) : 0;
    if (code < 0) return code;
    const size_t width = summing->shape->width;
    cluster_ranges(cluster, summing->n_coordinates, width > 0 ? width : 1, range);
    code = cluster_reduce_scatter(cluster, sums, range, error);
    const size_t first = range[rank], end = range[rank + 1];
    if (code == 0) code = watch_sums(summing, first, end, false, error);
    if (code < 0) return code;
    work_on(summing, first, end, add_noise);
    for (int r = 0; r <= n; r++) range[r] *= sizeof *sums;
    code = cluster_all_gather(cluster, sums, range, error);
    if (code == 0) code = watch_sums(summing, first, end, true, error);
    uint64_t draws = atomic_load(&summing->draws);
    if (code == 0) code = cluster_all_sum(cluster, &draws, 1, error);
    atomic_store(&summing->draws, draws);
    return code;
}

static int plan_release(struct summing *summing, double mu, struct dpmf_error *error) {
    const struct noisy_sum_context *context = summing->context;
    const struct noisy_sum_shape *shape = summing->shape;
    size_t longest = private_ratings_longest(context->ratings), blocks;
    size_t most_blocks = shape->blocks_max > 0 ? shape->blocks_max : longest;
    double sigma = statement_sigma(mu, NOISY_SUM_BITS);
    if (context->statement->n_releases == STATEMENT_RELEASES_MAX)
        return error_set(error, DPMF_ERR_BASE_BUG, "more releases than a statement can list");
    if (!(mu > 0) || !(sigma >= 1) || !(sigma <= (double)EXACT_GAUSSIAN_SIGMA_MAX))
        return error_set(error, DPMF_ERR_PRIVACY_REFUSED,
                         "epsilon is too small or too large to be kept exactly");
    summing->sigma = (uint64_t)sigma;
    uint64_t own = private_ratings_users(context->ratings);
    uint64_t users = context->users > own ? context->users : own;
    if (users >= (sum_limit - 64 * summing->sigma) >> NOISY_SUM_BITS)
        return error_set(error, DPMF_ERR_PRIVACY_REFUSED,
                         "there are too many users for exact sums");
    if (__builtin_mul_overflow((size_t)shape->n_rows, shape->width, &summing->n_coordinates) ||
        __builtin_add_overflow(summing->n_coordinates, shape->tail, &summing->n_coordinates) ||
        __builtin_mul_overflow(most_blocks, shape->width, &blocks) ||
        __builtin_add_overflow(blocks, shape->tail, &summing->room))
        return error_no_memory(error);
    return 0;
}

static void list_release(const struct summing *summing) {
    struct statement *statement = summing->context->statement;
    struct statement_release *release = &statement->releases[statement->n_releases++];
    *release = (struct statement_release){.coordinates = summing->n_coordinates,
                                          .sigma = summing->sigma,
                                          .bits = NOISY_SUM_BITS,
                                          .draws = atomic_load(&summing->draws)};
    snprintf(release->name, sizeof release->name, "%s", summing->shape->name);
}

int noisy_sum_release(struct noisy_sum_context *context, const struct noisy_sum_shape *shape,
                      double mu, noisy_sum_contribute *contribute, void *self, double *out,
                      double *sigma, struct dpmf_error *error) {
    struct summing summing = {.context = context,
                              .shape = shape,
                              .contribute = contribute,
                              .self = self,
                              .n_workers = thread_pool_size(context->pool)};
    const struct private_visit visit = {add_user, &summing, keep_on, context};
    int code = private_kernels_choose(&summing.exact, error);
    if (code == 0) code = plan_release(&summing, mu, error);
    if (code == 0) code = make_spaces(&summing, error);
    if (code == 0) code = private_ratings_visit(context->ratings, context->pool, &visit, error);
    code = cluster_agree(context->cluster, code, error);
    if (code == 0) {
        for (int w = 0; w < summing.n_workers; w++) move_recent(&summing, &summing.spaces[w]);
        if (!summing.shared) work_on(&summing, 0, summing.n_coordinates, add_up);
        code = share_sums(&summing, error);
    }
    if (code == 0) {
        list_release(&summing);
        context->n_passes++;
        for (size_t i = 0; i < summing.n_coordinates; i++)
            out[i] = (double)summing.spaces[0].sums[i] / grid;
        *sigma = (double)summing.sigma / grid;
    }
    free_spaces(&summing);
    return code;
}
