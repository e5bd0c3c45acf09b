/*
 * libdpmf-mpi.so: what carries the messages of a cluster, by MPI. Loaded by
 * lib/cluster/cluster_open.c when mpirun started the program; nothing else of dpmf knows MPI, and
 * this knows nothing else of dpmf than cluster.h.
 *
 * Only what MPI 3 has everywhere is used, and of it only what returns at once: Isend, Irecv, Test,
 * Iprobe. So no rank is ever inside MPI for good, and a wait is a loop here, which can look whether
 * the others still live. That is told by heartbeats: a thread of every rank sends one to rank 0 now
 * and then, and rank 0's sends one to all. A rank that computes for hours beats on; one that was
 * stopped, whose machine is gone or whose network is cut does not. Rank 0 misses whoever is silent,
 * the others miss rank 0. Both threads take turns at MPI by a lock (MPI_THREAD_SERIALIZED).
 */
#define _GNU_SOURCE
#include <limits.h>
#include <mpi.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "cluster/cluster.h"

/* The analyser knows of no end of a message but MPI_Wait, which would wait for ever. */
/* NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker) */

enum {
    PIECE = 1 << 30, /* bytes: MPI counts in ints */
    HOST_MAX = 64,
    SPINS = 2000, /* looks before a wait begins to sleep between them */
    TAG_BEAT = 32000,
};

static const double beat_seconds = 0.5, push_seconds = 0.02, default_timeout = DPMF_CLUSTER_TIMEOUT;

struct cluster_request {
    struct cluster_request *next;
    int n_pieces, done; /* number of its pieces, and of those that are done */
    MPI_Request piece[];
};

enum { BEAT = 'b', FAREWELL = 'f' }; /* a farewell is a rank's last beat */

/* What is known of another rank's life. */
struct life {
    double heard; /* when, by our clock */
    MPI_Request sending, receiving;
    bool is_sending, has_left;
    char out, in;
};

struct mpi_rank {
    int rank, n_ranks;
    MPI_Comm messages, beats;
    pthread_mutex_t lock; /* guards MPI and what follows */
    pthread_cond_t ending;
    pthread_t heart;
    bool has_heart, is_ending;
    int n_open; /* messages under way */
    double timeout;
    struct life *lives;            /* n_ranks; of the ranks that this one listens to */
    char (*hosts)[HOST_MAX];       /* n_ranks */
    struct cluster_request *spare; /* requests of one piece, to be used again */
};

int dpmf_cluster_plugin(int version, struct dpmf_cluster *cluster, struct dpmf_error *error)
    __attribute__((visibility("default")));

/* ---- small things ---------------------------------------------------------------------------- */

/* No message here names a setting: its braces are those of a host or of MPI. */
static void escape(const char *text, char escaped[DPMF_ERROR_TEXT_MAX]) {
    size_t n = 0;
    for (; *text && n + 2 < DPMF_ERROR_TEXT_MAX; text++) {
        if (*text == '{' || *text == '}') escaped[n++] = '{';
        escaped[n++] = *text;
    }
    escaped[n] = '\0';
}

static int fail(struct dpmf_error *error, int code, const char *hint, const char *format, ...)
    DPMF_PRINTF(4, 5);

static int fail(struct dpmf_error *error, int code, const char *hint, const char *format, ...) {
    char text[DPMF_ERROR_TEXT_MAX];
    va_list arguments;
    if (!error) return code;
    memset(error, 0, sizeof *error);
    error->code = code;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    escape(text, error->message);
    snprintf(error->hint, sizeof error->hint, "%s", hint);
    return code;
}

/* Errors of MPI itself: the network is gone, or a rank. */
static int mpi_failed(struct dpmf_error *error, int result) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int n = 0;
    MPI_Error_string(result, text, &n);
    return fail(error, DPMF_ERR_CLUSTER_LOST,
                "check the machines and their network, and start again",
                "MPI could not carry a message: %.300s", text);
}

/* ---- life ------------------------------------------------------------------------------------ */

/* Whether this rank listens to the heart of another, and beats for it. */
static bool is_tied(const struct mpi_rank *self, int other) {
    return other != self->rank && (self->rank == 0 || other == 0);
}

/* With the lock: hears what came from a rank. */
static void listen_to(struct mpi_rank *self, int rank) {
    struct life *life = &self->lives[rank];
    int done = 0;
    while (!life->has_left && MPI_Test(&life->receiving, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
           done) {
        life->heard = clock_now();
        life->has_left = life->in == FAREWELL;
        if (!life->has_left)
            MPI_Irecv(&life->in, 1, MPI_BYTE, rank, TAG_BEAT, self->beats, &life->receiving);
    }
}

/* With the lock. @return whether nothing is under way to a rank any more */
static bool is_sent(struct life *life) {
    int done = 0;
    if (life->is_sending && MPI_Test(&life->sending, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
        done)
        life->is_sending = false;
    return !life->is_sending;
}

static void send_beat(struct mpi_rank *self, int rank, char beat) {
    struct life *life = &self->lives[rank];
    life->out = beat;
    life->is_sending = MPI_Isend(&life->out, 1, MPI_BYTE, rank, TAG_BEAT, self->beats,
                                 &life->sending) == MPI_SUCCESS;
}

static void listen_to_all(struct mpi_rank *self) {
    for (int r = 0; r < self->n_ranks; r++)
        if (is_tied(self, r)) listen_to(self, r);
}

/* With the lock: one beat under way to each rank at most. */
static void beat_for_all(struct mpi_rank *self) {
    for (int r = 0; r < self->n_ranks; r++)
        if (is_tied(self, r) && is_sent(&self->lives[r])) send_beat(self, r, BEAT);
}

/* Messages move only while someone is inside MPI: where some are under way and everyone computes,
 * that is this thread. */
static void nap(struct mpi_rank *self) {
    const double seconds = self->n_open > 0 ? push_seconds : beat_seconds;
    clock_wait(&self->ending, &self->lock, clock_now() + seconds);
}

static void *keep_beating(void *argument) {
    struct mpi_rank *self = argument;
    double last = 0;
    pthread_mutex_lock(&self->lock);
    while (!self->is_ending) {
        listen_to_all(self);
        if (clock_now() - last >= beat_seconds / 2) {
            last = clock_now();
            beat_for_all(self);
        }
        nap(self);
    }
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

/* With the lock. @return the rank that has been silent for too long, or -1. When this process
 * itself was not running for long (a laptop that slept, a debugger), its ears were closed too:
 * nobody is blamed for that, because what came meanwhile is heard before anyone is missed. Who has
 * left is missed by those that have not even begun to: it cannot have done what they do. */
static int missed(struct mpi_rank *self, bool is_closing) {
    const double at = clock_now();
    for (int r = 0; r < self->n_ranks; r++)
        if (is_tied(self, r) && !(is_closing && self->lives[r].has_left) &&
            at - self->lives[r].heard > self->timeout)
            return r;
    return -1;
}

/* ---- messages -------------------------------------------------------------------------------- */

static struct cluster_request *new_request(struct mpi_rank *self, size_t n) {
    const size_t pieces = n / PIECE + (n % PIECE != 0 || n == 0);
    struct cluster_request *request = self->spare;
    if (pieces > INT_MAX) return NULL;
    if (pieces == 1 && request) {
        self->spare = request->next;
    } else {
        request = malloc(sizeof *request + pieces * sizeof(MPI_Request));
        if (!request) return NULL;
    }
    request->next = NULL;
    request->n_pieces = (int)pieces;
    request->done = 0;
    /* The thread that pushes messages on sleeps long when there are none. */
    if (self->n_open++ == 0) pthread_cond_signal(&self->ending);
    return request;
}

static void free_request(struct mpi_rank *self, struct cluster_request **request) {
    self->n_open--;
    if ((*request)->n_pieces == 1) {
        (*request)->next = self->spare;
        self->spare = *request;
    } else {
        free(*request);
    }
    *request = NULL;
}

static size_t piece_size(size_t n, int piece) {
    const size_t left = n - (size_t)piece * PIECE;
    return left < PIECE ? left : PIECE;
}

static int no_memory(struct dpmf_error *error) {
    return fail(error, DPMF_ERR_BASE_NO_MEMORY, "allow the run less memory, or free some",
                "there is not enough memory");
}

static int begin_send(void *of, int to, int tag, const void *bytes, size_t n,
                      struct cluster_request **out, struct dpmf_error *error) {
    struct mpi_rank *self = of;
    int result = MPI_SUCCESS;
    pthread_mutex_lock(&self->lock);
    struct cluster_request *request = new_request(self, n);
    for (int i = 0; request && i < request->n_pieces && result == MPI_SUCCESS; i++)
        result = MPI_Isend((const char *)bytes + (size_t)i * PIECE, (int)piece_size(n, i), MPI_BYTE,
                           to, tag, self->messages, &request->piece[i]);
    pthread_mutex_unlock(&self->lock);
    *out = request;
    if (!request) return no_memory(error);
    return result == MPI_SUCCESS ? 0 : mpi_failed(error, result);
}

static int begin_receive(void *of, int from, int tag, void *bytes, size_t n,
                         struct cluster_request **out, struct dpmf_error *error) {
    struct mpi_rank *self = of;
    int result = MPI_SUCCESS;
    pthread_mutex_lock(&self->lock);
    struct cluster_request *request = new_request(self, n);
    for (int i = 0; request && i < request->n_pieces && result == MPI_SUCCESS; i++)
        result = MPI_Irecv((char *)bytes + (size_t)i * PIECE, (int)piece_size(n, i), MPI_BYTE, from,
                           tag, self->messages, &request->piece[i]);
    pthread_mutex_unlock(&self->lock);
    *out = request;
    if (!request) return no_memory(error);
    return result == MPI_SUCCESS ? 0 : mpi_failed(error, result);
}

/* With the lock. */
static int look(struct mpi_rank *self, struct cluster_request **at, struct dpmf_error *error) {
    struct cluster_request *request = *at;
    while (request->done < request->n_pieces) {
        int done = 0, result = MPI_Test(&request->piece[request->done], &done, MPI_STATUS_IGNORE);
        if (result != MPI_SUCCESS) return mpi_failed(error, result);
        if (!done) return 0;
        request->done++;
    }
    free_request(self, at);
    return 1;
}

static int test(void *of, struct cluster_request **request, struct dpmf_error *error) {
    struct mpi_rank *self = of;
    pthread_mutex_lock(&self->lock);
    int code = look(self, request, error);
    pthread_mutex_unlock(&self->lock);
    return code;
}

static int lost(const struct mpi_rank *self, int rank, struct dpmf_error *error) {
    return fail(
        error, DPMF_ERR_CLUSTER_LOST,
        "check that machine and its network, and start again; if ranks can take longer to respond, "
        "give a larger {cluster-timeout}",
        "rank %d on %s has not been heard from for %.0f seconds", rank, self->hosts[rank],
        self->timeout);
}

static int wait_for(void *of, struct cluster_request **request, struct dpmf_error *error) {
    static const struct timespec nap = {0, 50000};
    struct mpi_rank *self = of;
    for (unsigned looks = 0;; looks++) {
        int silent = -1;
        pthread_mutex_lock(&self->lock);
        int code = look(self, request, error);
        if (code == 0 && looks % SPINS == SPINS - 1) {
            listen_to_all(self);
            silent = missed(self, false);
        }
        pthread_mutex_unlock(&self->lock);
        if (code != 0) return code < 0 ? code : 0;
        if (silent >= 0) return lost(self, silent, error);
        if (looks < SPINS)
            sched_yield();
        else
            nanosleep(&nap, NULL);
    }
}

/* ---- the rest of the table ------------------------------------------------------------------- */

static const char *host(void *of, int rank) {
    const struct mpi_rank *self = of;
    return self->hosts[rank];
}

static void set_timeout(void *of, double seconds) {
    struct mpi_rank *self = of;
    pthread_mutex_lock(&self->lock);
    self->timeout = seconds;
    pthread_mutex_unlock(&self->lock);
}

static void stop_heart(struct mpi_rank *self) {
    if (!self->has_heart) return;
    pthread_mutex_lock(&self->lock);
    self->is_ending = true;
    pthread_cond_signal(&self->ending);
    pthread_mutex_unlock(&self->lock);
    pthread_join(self->heart, NULL);
    self->has_heart = false;
}

/* The lock is not asked for: who holds it may be the reason. */
static void end_job(void *of, int status) {
    (void)of;
    MPI_Abort(MPI_COMM_WORLD, status);
}

static void free_rank(struct mpi_rank *self) {
    while (self->spare) {
        struct cluster_request *request = self->spare;
        self->spare = request->next;
        free(request);
    }
    pthread_cond_destroy(&self->ending);
    pthread_mutex_destroy(&self->lock);
    free(self->lives);
    free(self->hosts);
    free(self);
}

static bool is_parted(struct mpi_rank *self, int rank) {
    struct life *life = &self->lives[rank];
    listen_to(self, rank);
    return is_sent(life) && life->out == FAREWELL && life->has_left;
}

/* With the farewells. What the ranks had to do together is done; one that went silent now is not
 * waited for. */
static void pause_closing(struct mpi_rank *self, int status) {
    static const struct timespec pause = {0, 1000000};
    listen_to_all(self);
    if (missed(self, true) >= 0) MPI_Abort(MPI_COMM_WORLD, status);
    nanosleep(&pause, NULL);
}

/* All ranks get here, or none: see dpmf_cluster_close. Each says farewell and hears it, so that no
 * beat is left under way. */
static void close_rank(void *of, int status) {
    struct mpi_rank *self = of;
    stop_heart(self);
    for (int r = 0; r < self->n_ranks; r++) {
        if (!is_tied(self, r)) continue;
        while (!is_sent(&self->lives[r])) pause_closing(self, status);
        send_beat(self, r, FAREWELL);
    }
    for (int r = 0; r < self->n_ranks; r++)
        while (is_tied(self, r) && !is_parted(self, r)) pause_closing(self, status);
    /* Which waits for all ranks, and can be waited for in no other way: cli/ranks.c does */
    MPI_Finalize();
    free_rank(self);
}

static const struct cluster_ops ops = {
    begin_send, begin_receive, test, wait_for, host, set_timeout, end_job, close_rank,
};

/* ---- joining --------------------------------------------------------------------------------- */

static int start_mpi(struct mpi_rank *self, struct dpmf_error *error) {
    int level = MPI_THREAD_SINGLE, n = 0;
    char name[MPI_MAX_PROCESSOR_NAME + 1] = "";
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS)
        return fail(error, DPMF_ERR_CLUSTER_START, "see what mpirun reports",
                    "MPI cannot be started");
    if (level < MPI_THREAD_SERIALIZED)
        return fail(error, DPMF_ERR_CLUSTER_START, "use an MPI library that was built for threads",
                    "this MPI library does not allow threads");
    MPI_Comm_dup(MPI_COMM_WORLD, &self->messages);
    MPI_Comm_dup(MPI_COMM_WORLD, &self->beats);
    MPI_Comm_set_errhandler(self->messages, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(self->beats, MPI_ERRORS_RETURN);
    MPI_Comm_rank(self->messages, &self->rank);
    MPI_Comm_size(self->messages, &self->n_ranks);
    self->lives = calloc((size_t)self->n_ranks, sizeof *self->lives);
    self->hosts = calloc((size_t)self->n_ranks, sizeof *self->hosts);
    if (!self->lives || !self->hosts) return no_memory(error);
    MPI_Get_processor_name(name, &n);
    snprintf(self->hosts[self->rank], HOST_MAX, "%.63s", name);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, self->hosts, HOST_MAX, MPI_BYTE,
                  self->messages);
    return 0;
}

static int start_heart(struct mpi_rank *self, struct dpmf_error *error) {
    for (int r = 0; r < self->n_ranks; r++) {
        struct life *life = &self->lives[r];
        if (!is_tied(self, r)) continue;
        life->heard = clock_now();
        MPI_Irecv(&life->in, 1, MPI_BYTE, r, TAG_BEAT, self->beats, &life->receiving);
    }
    if (self->n_ranks == 1) return 0;
    if (pthread_create(&self->heart, NULL, keep_beating, self) != 0)
        return fail(error, DPMF_ERR_BASE_THREAD, "allow the run more threads",
                    "a thread could not be started");
    self->has_heart = true;
    return 0;
}

int dpmf_cluster_plugin(int version, struct dpmf_cluster *cluster, struct dpmf_error *error) {
    if (version != CLUSTER_PLUGIN_VERSION)
        return fail(error, DPMF_ERR_CLUSTER_START, "build it again with make mpi",
                    "the plugin for MPI belongs to another version of dpmf");
    struct mpi_rank *self = calloc(1, sizeof *self);
    if (!self) return no_memory(error);
    self->timeout = default_timeout;
    if (!clock_cond_init(&self->ending)) {
        free(self);
        return no_memory(error);
    }
    pthread_mutex_init(&self->lock, NULL);
    int code = start_mpi(self, error);
    if (code == 0) code = start_heart(self, error);
    if (code < 0) {
        free_rank(self);
        return code;
    }
    cluster->ops = &ops;
    cluster->rank = self->rank;
    cluster->n_ranks = self->n_ranks;
    cluster->self = self;
    return 0;
}

/* NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker) */
