/*
 * Several processes at work on one run: the ranks of a job that mpirun started, or threads in a
 * test. What carries their messages is a table of plain functions (struct cluster_ops), so that
 * nothing in here knows MPI: lib/cluster/mpi fills it in from a plugin, tests/unit/thread_cluster.c
 * from memory. Everything collective is made of messages, in cluster.c.
 *
 * The rules of a distributed phase. Each rank does what it can fail at on its own; then all of them
 * call cluster_agree, which makes the failure of one the failure of all; only then do they exchange
 * anything. All ranks call the same collective functions in the same order, each from one thread at
 * a time. `cluster` NULL is one machine: every function below then does what it means for a single
 * rank, which is usually nothing.
 */
#ifndef DPMF_CLUSTER_CLUSTER_H
#define DPMF_CLUSTER_CLUSTER_H

#include "dpmf.h"

struct cluster_request; /* a message under way */

/* What carries messages. Those from one rank to another with one tag arrive in the order they were
 * sent, whole, and must be received with the size they were sent with; any size. Every wait ends:
 * with the message, or with DPMF_ERR_CLUSTER_LOST that names the rank which has not been heard from
 * for as long as the timeout says. After an error nothing else may be called but `host`, `end_job`
 * and `close`. */
struct cluster_ops {
    /* The bytes stay where they are until the request is done. */
    int (*begin_send)(void *self, int to, int tag, const void *bytes, size_t n,
                      struct cluster_request **request, struct dpmf_error *error);
    int (*begin_receive)(void *self, int from, int tag, void *bytes, size_t n,
                         struct cluster_request **request, struct dpmf_error *error);

    /* @return 1 when it is done (*request is freed and NULL), 0 when not yet, or a negative code */
    int (*test)(void *self, struct cluster_request **request, struct dpmf_error *error);
    int (*wait)(void *self, struct cluster_request **request, struct dpmf_error *error);

    const char *(*host)(void *self, int rank); /* the machine's name; known from the start */
    void (*set_timeout)(void *self, double seconds);
    void (*end_job)(void *self, int status); /* ends all ranks at once; may not return */
    void (*close)(void *self, int status);   /* when all ranks do; frees self */
};

/* The state that changes while it is used. */
struct cluster_state {
    bool has_agreed;     /* whether all ranks know of a failure, by cluster_agree */
    bool had_turn;       /* whether this rank may report a failure that the others do not know of */
    uint64_t bytes_sent; /* bytes of messages sent by this rank */
    uint64_t messages_sent;
};

struct dpmf_cluster {
    const struct cluster_ops *ops;
    int rank, n_ranks;
    void *self;
    struct cluster_state *state;
    void *library; /* handle of the plugin; NULL in tests */
};

/* What a plugin fills in; its one symbol is CLUSTER_PLUGIN_SYMBOL, of this type. It cannot call the
 * library, so it fills in errors itself. */
enum { CLUSTER_PLUGIN_VERSION = 2 };
#define CLUSTER_PLUGIN_SYMBOL "dpmf_cluster_plugin"
typedef int cluster_plugin_open(int version, struct dpmf_cluster *cluster,
                                struct dpmf_error *error);

/* ---- messages -------------------------------------------------------------------------------- */

/* Tags below this may be used by anyone; the others belong to cluster.c. */
enum { CLUSTER_TAGS = 16384 };

static inline int cluster_rank(const struct dpmf_cluster *cluster) {
    return cluster ? cluster->rank : 0;
}

/* Bytes that this rank has sent so far. */
static inline uint64_t cluster_bytes_sent(const struct dpmf_cluster *cluster) {
    return cluster ? cluster->state->bytes_sent : 0;
}

static inline int cluster_size(const struct dpmf_cluster *cluster) {
    return cluster ? cluster->n_ranks : 1;
}

/* The cluster; NULL when this process is the only one. */
static inline const struct dpmf_cluster *cluster_of_several(const struct dpmf_cluster *cluster) {
    return cluster_size(cluster) > 1 ? cluster : NULL;
}

/* As in cluster_ops; there must be a cluster. A rank may send to itself. */
int cluster_begin_send(const struct dpmf_cluster *cluster, int to, int tag, const void *bytes,
                       size_t n, struct cluster_request **request, struct dpmf_error *error);
int cluster_begin_receive(const struct dpmf_cluster *cluster, int from, int tag, void *bytes,
                          size_t n, struct cluster_request **request, struct dpmf_error *error);
int cluster_test(const struct dpmf_cluster *cluster, struct cluster_request **request,
                 struct dpmf_error *error);
int cluster_wait(const struct dpmf_cluster *cluster, struct cluster_request **request,
                 struct dpmf_error *error); /* *request NULL: already done */

/* ---- all ranks together ---------------------------------------------------------------------- */

int cluster_broadcast(const struct dpmf_cluster *cluster, void *bytes, size_t n, int root,
                      struct dpmf_error *error);

/* Rank r's bytes are at all + start[r] .. start[r + 1] - 1: before, in its own `all`; afterwards in
 * everyone's, or with `gather` in the root's. `start` has n_ranks + 1 entries, the same on all
 * ranks. With `gather` a rank other than the root may give `all` NULL and `mine` instead. */
int cluster_all_gather(const struct dpmf_cluster *cluster, void *all, const size_t *start,
                       struct dpmf_error *error);
int cluster_gather(const struct dpmf_cluster *cluster, const void *mine, void *all,
                   const size_t *start, int root, struct dpmf_error *error);

/* Sums over ranks, exact (modulo 2^64): afterwards rank r has those of start[r] .. start[r + 1] - 1
 * in place, and garbage in the rest. */
int cluster_reduce_scatter(const struct dpmf_cluster *cluster, int64_t *sums, const size_t *start,
                           struct dpmf_error *error);

/* The same of floats and doubles, added in the order of ranks from the one after the owner on: the
 * same bits in every run with this number of ranks. */
int cluster_reduce_floats(const struct dpmf_cluster *cluster, float *sums, const size_t *start,
                          struct dpmf_error *error);
int cluster_reduce_doubles(const struct dpmf_cluster *cluster, double *sums, const size_t *start,
                           struct dpmf_error *error);

int cluster_all_sum(const struct dpmf_cluster *cluster, uint64_t *values, size_t n,
                    struct dpmf_error *error);
int cluster_all_max(const struct dpmf_cluster *cluster, uint64_t *values, size_t n,
                    struct dpmf_error *error);

/* Sums of all ranks' values, added in the order of ranks: the same bits on each. */
int cluster_sum_doubles(const struct dpmf_cluster *cluster, double *values, size_t n,
                        struct dpmf_error *error);

/* The end of a phase: `code` and `error` are how it went here. When it failed anywhere, all ranks
 * get the failure of the lowest rank where it did, which says which rank that is. `error` may be
 * NULL when the code is 0 or none is wanted. */
int cluster_agree(const struct dpmf_cluster *cluster, int code, struct dpmf_error *error);

/* Whether all ranks have the same number, a digest of what must be equal; all get the same
 * answer. */
int cluster_compare(const struct dpmf_cluster *cluster, uint64_t digest, bool *same,
                    struct dpmf_error *error);

/* The same; with different ones all ranks fail with `otherwise`, its message and its hint. */
int cluster_check_same(const struct dpmf_cluster *cluster, uint64_t digest, int otherwise,
                       const char *message, const char *hint, struct dpmf_error *error);

/* Refuses what a single process has to do, with a hint unless that is NULL. 0 for one process. */
int cluster_check_alone(const struct dpmf_cluster *cluster, const char *message, const char *hint,
                        struct dpmf_error *error);

/* n things cut into contiguous ranges, one for each rank, as equal as can be, at multiples of
 * `unit`: start has n_ranks + 1 entries. */
void cluster_ranges(const struct dpmf_cluster *cluster, size_t n, size_t unit, size_t *start);

#endif
