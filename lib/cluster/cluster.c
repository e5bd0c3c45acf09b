/*
 * What all ranks of a cluster do together, made of messages: broadcasts and sums along a tree,
 * gathers and reduce-scatters round the ring of ranks, and the agreement on how a phase ended. Fed
 * by whatever carries messages (cluster.h); feeds the private mechanisms and training.
 *
 * The tree is binomial and rooted anywhere, log2(ranks) steps. The ring moves each byte of a gather
 * (n - 1) / n times out of every rank, which is the least there can be.
 */
#define _GNU_SOURCE
#include "cluster/cluster.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

enum {
    TAG_BROADCAST = CLUSTER_TAGS,
    TAG_COMBINE,
    TAG_GATHER,
    TAG_ALL_GATHER,
    TAG_REDUCE,
};

/* ---- messages -------------------------------------------------------------------------------- */

int cluster_begin_send(const struct dpmf_cluster *cluster, int to, int tag, const void *bytes,
                       size_t n, struct cluster_request **request, struct dpmf_error *error) {
    assert(to >= 0 && to < cluster_size(cluster) && to != cluster_rank(cluster));
    assert(bytes || n == 0);
    cluster->state->bytes_sent += n;
    cluster->state->messages_sent++;
    return cluster->ops->begin_send(cluster->self, to, tag, bytes, n, request, error);
}

int cluster_begin_receive(const struct dpmf_cluster *cluster, int from, int tag, void *bytes,
                          size_t n, struct cluster_request **request, struct dpmf_error *error) {
    assert(from >= 0 && from < cluster_size(cluster) && from != cluster_rank(cluster));
    assert(bytes || n == 0);
    return cluster->ops->begin_receive(cluster->self, from, tag, bytes, n, request, error);
}

int cluster_test(const struct dpmf_cluster *cluster, struct cluster_request **request,
                 struct dpmf_error *error) {
    return *request ? cluster->ops->test(cluster->self, request, error) : 1;
}

int cluster_wait(const struct dpmf_cluster *cluster, struct cluster_request **request,
                 struct dpmf_error *error) {
    return *request ? cluster->ops->wait(cluster->self, request, error) : 0;
}

static int send(const struct dpmf_cluster *cluster, int to, int tag, const void *bytes, size_t n,
                struct dpmf_error *error) {
    struct cluster_request *request = NULL;
    int code = cluster_begin_send(cluster, to, tag, bytes, n, &request, error);
    return code < 0 ? code : cluster_wait(cluster, &request, error);
}

static int receive(const struct dpmf_cluster *cluster, int from, int tag, void *bytes, size_t n,
                   struct dpmf_error *error) {
    struct cluster_request *request = NULL;
    int code = cluster_begin_receive(cluster, from, tag, bytes, n, &request, error);
    return code < 0 ? code : cluster_wait(cluster, &request, error);
}

/* One message to the next rank while one comes from the rank before. */
static int exchange(const struct dpmf_cluster *cluster, int tag, const void *out, size_t n_out,
                    void *in, size_t n_in, struct dpmf_error *error) {
    const int n = cluster->n_ranks, next = (cluster->rank + 1) % n,
              before = (cluster->rank + n - 1) % n;
    struct cluster_request *sending = NULL, *receiving = NULL;
    int code = cluster_begin_receive(cluster, before, tag, in, n_in, &receiving, error);
    if (code == 0) code = cluster_begin_send(cluster, next, tag, out, n_out, &sending, error);
    if (code == 0) code = cluster_wait(cluster, &receiving, error);
    if (code == 0) code = cluster_wait(cluster, &sending, error);
    return code;
}

/* ---- the tree -------------------------------------------------------------------------------- */

/* Places in the tree are counted from its root: the parent of a place has its lowest bit off. */
static int place_of(const struct dpmf_cluster *cluster, int root) {
    return (cluster->rank - root + cluster->n_ranks) % cluster->n_ranks;
}

static int rank_at(const struct dpmf_cluster *cluster, int place, int root) {
    assert(place >= 0);
    return (place + root) % cluster->n_ranks;
}

/* The bit below which the children of a place are; of the root, the first power of 2 that is
 * enough. */
static int reach_of(int place, int n_ranks) {
    assert(place >= 0 && place < n_ranks);
    int bit = 1;
    while (bit < n_ranks && !(place & bit)) bit *= 2;
    return bit;
}

int cluster_broadcast(const struct dpmf_cluster *cluster, void *bytes, size_t n, int root,
                      struct dpmf_error *error) {
    assert(root >= 0 && root < cluster_size(cluster));
    if (cluster_size(cluster) == 1) return 0;
    const int place = place_of(cluster, root), reach = reach_of(place, cluster->n_ranks);
    int code = 0;
    if (place > 0)
        code =
            receive(cluster, rank_at(cluster, place - reach, root), TAG_BROADCAST, bytes, n, error);
    for (int bit = reach / 2; bit > 0 && code == 0; bit /= 2)
        if (place + bit < cluster->n_ranks)
            code =
                send(cluster, rank_at(cluster, place + bit, root), TAG_BROADCAST, bytes, n, error);
    return code;
}

static void combine_sums(uint64_t *into, const uint64_t *from, size_t n) {
    for (size_t i = 0; i < n; i++) into[i] += from[i];
}

static void combine_largest(uint64_t *into, const uint64_t *from, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (from[i] > into[i]) into[i] = from[i];
}

/* Up the tree to rank 0, and down again. */
static int combine_all(const struct dpmf_cluster *cluster, uint64_t *values, size_t n,
                       void (*combine)(uint64_t *, const uint64_t *, size_t),
                       struct dpmf_error *error) {
    assert(values || n == 0);
    if (cluster_size(cluster) == 1 || n == 0) return 0;
    const int rank = cluster->rank, reach = reach_of(rank, cluster->n_ranks);
    const size_t bytes = n * sizeof *values;
    uint64_t few[8], *theirs = n <= 8 ? few : memory_alloc(n, sizeof *theirs);
    int code = theirs ? 0 : error_no_memory(error);
    for (int bit = 1; bit < reach && code == 0; bit *= 2) {
        if (rank + bit >= cluster->n_ranks) continue;
        code = receive(cluster, rank + bit, TAG_COMBINE, theirs, bytes, error);
        if (code == 0) combine(values, theirs, n);
    }
    if (code == 0 && rank > 0)
        code = send(cluster, rank - reach, TAG_COMBINE, values, bytes, error);
    if (theirs != few) free(theirs);
    return code < 0 ? code : cluster_broadcast(cluster, values, bytes, 0, error);
}

int cluster_all_sum(const struct dpmf_cluster *cluster, uint64_t *values, size_t n,
                    struct dpmf_error *error) {
    return combine_all(cluster, values, n, combine_sums, error);
}

int cluster_all_max(const struct dpmf_cluster *cluster, uint64_t *values, size_t n,
                    struct dpmf_error *error) {
    return combine_all(cluster, values, n, combine_largest, error);
}

/* ---- the ring -------------------------------------------------------------------------------- */

/* In step s rank r hands on the range of rank r - s, which it got in the step before. */
int cluster_all_gather(const struct dpmf_cluster *cluster, void *all, const size_t *start,
                       struct dpmf_error *error) {
    const int n = cluster_size(cluster), rank = cluster_rank(cluster);
    char *bytes = all;
    int code = 0;
    for (int step = 0; step < n - 1 && code == 0; step++) {
        const int out = (rank - step + n) % n, in = (rank - step - 1 + n) % n;
        code = exchange(cluster, TAG_ALL_GATHER, bytes + start[out], start[out + 1] - start[out],
                        bytes + start[in], start[in + 1] - start[in], error);
    }
    return code;
}

int cluster_sum_doubles(const struct dpmf_cluster *cluster, double *values, size_t n,
                        struct dpmf_error *error) {
    const size_t ranks = (size_t)cluster_size(cluster), bytes = n * sizeof values[0];
    if (ranks == 1) return 0;
    double *all = memory_alloc(ranks, bytes);
    size_t *start = memory_alloc(ranks + 1, sizeof *start);
    int code = cluster_agree(cluster, all && start ? 0 : error_no_memory(error), error);
    if (code == 0) {
        for (size_t r = 0; r <= ranks; r++) start[r] = r * bytes;
        memcpy(all + (size_t)cluster_rank(cluster) * n, values, bytes);
        code = cluster_all_gather(cluster, all, start, error);
    }
    for (size_t i = 0; i < n && code == 0; i++) {
        values[i] = 0;
        for (size_t r = 0; r < ranks; r++) values[i] += all[r * n + i];
    }
    free(all);
    free(start);
    return code;
}

static size_t longest_range(const size_t *start, int n) {
    assert(start && n > 0);
    size_t longest = 0;
    for (int r = 0; r < n; r++)
        if (start[r + 1] - start[r] > longest) longest = start[r + 1] - start[r];
    return longest;
}

static void add_integers(void *into, const void *from, size_t n) { combine_sums(into, from, n); }

static void add_floats(void *into, const void *from, size_t n) {
    float *sums = into;
    const float *more = from;
    for (size_t i = 0; i < n; i++) sums[i] = more[i] + sums[i];
}

static void add_doubles(void *into, const void *from, size_t n) {
    double *sums = into;
    const double *more = from;
    for (size_t i = 0; i < n; i++) sums[i] = more[i] + sums[i];
}

/* In step s rank r hands on the sums of the range of rank r - s - 1, to which it has added its own.
 * After n - 1 steps those of its own range have come to it. Numbers have `size` bytes each. */
static int reduce_ranges(const struct dpmf_cluster *cluster, void *sums, size_t size,
                         const size_t *start, void (*add)(void *into, const void *from, size_t n),
                         struct dpmf_error *error) {
    const int n = cluster_size(cluster), rank = cluster_rank(cluster);
    if (n == 1) return 0;
    char *own = sums, *coming = memory_alloc(longest_range(start, n) + 1, size);
    /* Without the room for a message this rank could not even take part in what tells the
     * others. */
    int code = cluster_agree(cluster, coming ? 0 : error_no_memory(error), error);
    for (int step = 0; step < n - 1 && code == 0; step++) {
        const int out = (rank - step - 1 + n) % n, in = (rank - step - 2 + 2 * n) % n;
        const size_t n_in = start[in + 1] - start[in];
        code = exchange(cluster, TAG_REDUCE, own + start[out] * size,
                        (start[out + 1] - start[out]) * size, coming, n_in * size, error);
        if (code == 0) add(own + start[in] * size, coming, n_in);
    }
    free(coming);
    return code;
}

int cluster_reduce_scatter(const struct dpmf_cluster *cluster, int64_t *sums, const size_t *start,
                           struct dpmf_error *error) {
    return reduce_ranges(cluster, sums, sizeof *sums, start, add_integers, error);
}

int cluster_reduce_floats(const struct dpmf_cluster *cluster, float *sums, const size_t *start,
                          struct dpmf_error *error) {
    return reduce_ranges(cluster, sums, sizeof *sums, start, add_floats, error);
}

int cluster_reduce_doubles(const struct dpmf_cluster *cluster, double *sums, const size_t *start,
                           struct dpmf_error *error) {
    return reduce_ranges(cluster, sums, sizeof *sums, start, add_doubles, error);
}

int cluster_gather(const struct dpmf_cluster *cluster, const void *mine, void *all,
                   const size_t *start, int root, struct dpmf_error *error) {
    assert(start && root >= 0 && root < cluster_size(cluster));
    const int n = cluster_size(cluster), rank = cluster_rank(cluster);
    char *bytes = all;
    int code = 0;
    if (rank != root)
        return send(cluster, root, TAG_GATHER, mine || !bytes ? mine : bytes + start[rank],
                    start[rank + 1] - start[rank], error);
    if (mine && mine != bytes + start[rank])
        memcpy(bytes + start[rank], mine, start[rank + 1] - start[rank]);
    for (int r = 0; r < n && code == 0; r++)
        if (r != root)
            code =
                receive(cluster, r, TAG_GATHER, bytes + start[r], start[r + 1] - start[r], error);
    return code;
}

void cluster_ranges(const struct dpmf_cluster *cluster, size_t n, size_t unit, size_t *start) {
    assert(start && unit > 0);
    const size_t ranks = (size_t)cluster_size(cluster), units = n / unit + (n % unit != 0);
    for (size_t r = 0; r <= ranks; r++) {
        const size_t first = units / ranks * r + (r < units % ranks ? r : units % ranks);
        start[r] = first < n / unit + 1 && first * unit < n ? first * unit : n;
    }
}

/* ---- how a phase ended ----------------------------------------------------------------------- */

/* Which rank it was is said where one could not know: when others fared better. */
static void name_rank(const struct dpmf_cluster *cluster, int rank, struct dpmf_error *error) {
    char message[DPMF_ERROR_TEXT_MAX];
    snprintf(message, sizeof message, "%.*s (rank %d on %s)", DPMF_ERROR_TEXT_MAX - 128,
             error->message, rank, cluster->ops->host(cluster->self, rank));
    memcpy(error->message, message, sizeof message);
}

/* Ranks that were told to do different things take each other's messages for something else. What
 * comes of that is in no order, so that the job ends as when a rank is lost. */
static int not_together(struct dpmf_error *error) {
    error_set(error, DPMF_ERR_CLUSTER_LOST,
              "the processes of the cluster do not work on the same thing");
    error_hint(error, "give all of them the same command and options");
    return DPMF_ERR_CLUSTER_LOST;
}

int cluster_agree(const struct dpmf_cluster *cluster, int code, struct dpmf_error *error) {
    const int n = cluster_size(cluster);
    struct dpmf_error told = {0};
    if (n == 1) {
        if (cluster && code < 0) cluster->state->has_agreed = true;
        return code;
    }
    if (code == DPMF_ERR_CLUSTER_LOST || cluster->state->has_agreed) return code;
    uint64_t ends[2] = {code < 0 ? (uint64_t)(n - cluster->rank) : 0, code < 0 ? 0 : 1};
    int lost = cluster_all_max(cluster, ends, 2, &told);
    if (lost == 0 && ends[0] == 0) return 0;
    if (lost == 0 && ends[0] > (uint64_t)n) return not_together(error);
    const int rank = n - (int)ends[0];
    if (lost == 0) {
        if (rank == cluster->rank && error) told = *error;
        if (rank == cluster->rank && !error)
            error_set(&told, code, "%s", dpmf_error_sentence(code));
        lost = cluster_broadcast(cluster, &told, sizeof told, rank, &told);
    }
    if (lost == 0) {
        cluster->state->has_agreed = true;
        if (ends[1] != 0 && told.code != DPMF_ERR_BASE_CANCELLED) name_rank(cluster, rank, &told);
    }
    if (error) *error = told;
    return lost < 0 ? lost : told.code;
}

int cluster_compare(const struct dpmf_cluster *cluster, uint64_t digest, bool *same,
                    struct dpmf_error *error) {
    assert(same);
    uint64_t both[2] = {digest, ~digest}; /* the largest, and what is left of the least */
    int code = cluster_all_max(cluster, both, 2, error);
    *same = code == 0 && both[0] == ~both[1];
    return code;
}

int cluster_check_alone(const struct dpmf_cluster *cluster, const char *message, const char *hint,
                        struct dpmf_error *error) {
    if (cluster_size(cluster) == 1) return 0;
    error_set(error, DPMF_ERR_USAGE_CONFLICT, "%s", message);
    if (hint) error_hint_text(error, hint);
    return DPMF_ERR_USAGE_CONFLICT;
}

int cluster_check_same(const struct dpmf_cluster *cluster, uint64_t digest, int otherwise,
                       const char *message, const char *hint, struct dpmf_error *error) {
    bool same;
    int code = cluster_compare(cluster, digest, &same, error);
    if (code < 0 || same) return code;
    error_set(error, otherwise, "%s", message);
    error_hint(error, "%s", hint);
    return cluster_agree(cluster, otherwise, error);
}
