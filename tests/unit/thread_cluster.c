/*
 * The ranks of a cluster as threads. A message is copied into the box of the rank it is for and
 * lies there until it is asked for, by sender and tag, the oldest first. Feeds the unit tests of
 * everything distributed.
 */
#define _GNU_SOURCE
#include "thread_cluster.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct message {
    struct message *next;
    int from, tag;
    size_t n;
    char bytes[];
};

struct box {
    pthread_mutex_t lock;
    pthread_cond_t news;
    struct message *first, **last;
};

struct post_office {
    int n_ranks;
    double timeout;
    struct box *boxes;
};

/* The state of a receive: a send is done at once. */
struct cluster_request {
    struct cluster_request *next;
    int from, tag;
    void *bytes;
    size_t n;
    bool is_send;
};

struct thread_rank {
    struct post_office *office;
    int rank;
    char name[16];                /* name of the machine last asked for */
    struct cluster_request *open; /* asked for and not done: to free at the end */
    void (*body)(void *self, const struct dpmf_cluster *cluster);
    void *self;
};

static int fail(struct dpmf_error *error, int code, const char *format, int rank) {
    if (!error) return code;
    memset(error, 0, sizeof *error);
    error->code = code;
    snprintf(error->message, sizeof error->message, format, rank);
    return code;
}

static struct cluster_request *new_request(struct thread_rank *rank) {
    struct cluster_request *request = calloc(1, sizeof *request);
    if (!request) abort();
    request->next = rank->open;
    rank->open = request;
    return request;
}

static void finish(struct thread_rank *rank, struct cluster_request **request) {
    struct cluster_request **at = &rank->open;
    while (*at != *request) at = &(*at)->next;
    *at = (*request)->next;
    free(*request);
    *request = NULL;
}

static int begin_send(void *self, int to, int tag, const void *bytes, size_t n,
                      struct cluster_request **request, struct dpmf_error *error) {
    struct thread_rank *rank = self;
    struct box *box = &rank->office->boxes[to];
    struct message *message = malloc(sizeof *message + n);
    if (!message) return fail(error, DPMF_ERR_BASE_NO_MEMORY, "no memory for rank %d", to);
    *message = (struct message){.from = rank->rank, .tag = tag, .n = n};
    if (n > 0) memcpy(message->bytes, bytes, n);
    pthread_mutex_lock(&box->lock);
    *box->last = message;
    box->last = &message->next;
    pthread_cond_broadcast(&box->news);
    pthread_mutex_unlock(&box->lock);
    *request = new_request(rank);
    (*request)->is_send = true;
    return 0;
}

static int begin_receive(void *self, int from, int tag, void *bytes, size_t n,
                         struct cluster_request **request, struct dpmf_error *error) {
    (void)error;
    *request = new_request(self);
    (*request)->from = from;
    (*request)->tag = tag;
    (*request)->bytes = bytes;
    (*request)->n = n;
    return 0;
}

/* With the box locked: takes the oldest that fits. */
static struct message *take(struct box *box, const struct cluster_request *request) {
    for (struct message **at = &box->first; *at; at = &(*at)->next) {
        struct message *message = *at;
        if (message->from != request->from || message->tag != request->tag) continue;
        *at = message->next;
        if (!message->next) box->last = at;
        return message;
    }
    return NULL;
}

static int deliver(struct thread_rank *rank, struct cluster_request **request,
                   struct message *message, struct dpmf_error *error) {
    const bool fits = message->n == (*request)->n;
    const int from = (*request)->from;
    if (fits && message->n > 0) memcpy((*request)->bytes, message->bytes, message->n);
    free(message);
    finish(rank, request);
    return fits ? 0 : fail(error, DPMF_ERR_BASE_BUG, "rank %d sent another size", from);
}

static int test(void *self, struct cluster_request **request, struct dpmf_error *error) {
    struct thread_rank *rank = self;
    struct box *box = &rank->office->boxes[rank->rank];
    if ((*request)->is_send) {
        finish(rank, request);
        return 1;
    }
    pthread_mutex_lock(&box->lock);
    struct message *message = take(box, *request);
    pthread_mutex_unlock(&box->lock);
    if (!message) return 0;
    int code = deliver(rank, request, message, error);
    return code < 0 ? code : 1;
}

static int wait_for(void *self, struct cluster_request **request, struct dpmf_error *error) {
    struct thread_rank *rank = self;
    struct box *box = &rank->office->boxes[rank->rank];
    struct message *message = NULL;
    struct timespec until;
    if ((*request)->is_send) {
        finish(rank, request);
        return 0;
    }
    clock_gettime(CLOCK_REALTIME, &until);
    const double end = (double)until.tv_sec + 1e-9 * (double)until.tv_nsec + rank->office->timeout;
    until.tv_sec = (time_t)end;
    until.tv_nsec = (long)(1e9 * (end - (double)until.tv_sec));
    pthread_mutex_lock(&box->lock);
    int late = 0;
    while (!(message = take(box, *request)) && late != ETIMEDOUT)
        late = pthread_cond_timedwait(&box->news, &box->lock, &until);
    pthread_mutex_unlock(&box->lock);
    if (!message)
        return fail(error, DPMF_ERR_CLUSTER_LOST, "rank %d was not heard from", (*request)->from);
    return deliver(rank, request, message, error);
}

/* Asked about any rank, by its own name for it. */
static const char *host(void *self, int of) {
    struct thread_rank *rank = self;
    snprintf(rank->name, sizeof rank->name, "host%d", of);
    return rank->name;
}

static void set_timeout(void *self, double seconds) {
    struct thread_rank *rank = self;
    (void)rank;
    (void)seconds; /* shared by all ranks, and given at the start */
}

/* A test ends by itself. */
static void end_job(void *self, int status) {
    (void)self;
    (void)status;
}

static void close_rank(void *self, int status) { (void)self, (void)status; }

static const struct cluster_ops ops = {
    begin_send, begin_receive, test, wait_for, host, set_timeout, end_job, close_rank,
};

static void *run_rank(void *argument) {
    struct thread_rank *rank = argument;
    struct cluster_state state = {0};
    const struct dpmf_cluster cluster = {.ops = &ops,
                                         .rank = rank->rank,
                                         .n_ranks = rank->office->n_ranks,
                                         .self = rank,
                                         .state = &state};
    rank->body(rank->self, &cluster);
    while (rank->open) {
        struct cluster_request *request = rank->open;
        finish(rank, &request);
    }
    return NULL;
}

static void empty(struct box *box) {
    while (box->first) {
        struct message *message = box->first;
        box->first = message->next;
        free(message);
    }
    pthread_mutex_destroy(&box->lock);
    pthread_cond_destroy(&box->news);
}

int thread_cluster_run(int n_ranks, double timeout,
                       void (*body)(void *self, const struct dpmf_cluster *cluster), void *self) {
    const size_t n = (size_t)n_ranks;
    struct post_office office = {n_ranks, timeout, calloc(n, sizeof *office.boxes)};
    struct thread_rank *ranks = calloc(n, sizeof *ranks);
    pthread_t *threads = calloc(n, sizeof *threads);
    int started = 0;
    for (int r = 0; office.boxes && ranks && threads && r < n_ranks; r++) {
        struct box *box = &office.boxes[r];
        pthread_mutex_init(&box->lock, NULL);
        pthread_cond_init(&box->news, NULL);
        box->last = &box->first;
        ranks[r] = (struct thread_rank){.office = &office, .rank = r, .body = body, .self = self};
    }
    for (int r = 0; office.boxes && ranks && threads && r < n_ranks; r++, started++)
        if (pthread_create(&threads[r], NULL, run_rank, &ranks[r]) != 0) break;
    for (int r = 0; r < started; r++) pthread_join(threads[r], NULL);
    for (int r = 0; office.boxes && ranks && threads && r < n_ranks; r++) empty(&office.boxes[r]);
    free(threads);
    free(ranks);
    free(office.boxes);
    return started == n_ranks ? 0 : DPMF_ERR_BASE_THREAD;
}
