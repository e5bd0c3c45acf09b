/*
 * The program as one of several processes that mpirun started: only the first of them prints, they
 * join before a verb runs and leave after it. Fed by main.c and command.c; report.c asks it who
 * tells of an error.
 */
#define _GNU_SOURCE
#include "cli/ranks.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "cli/error_show.h"
#include "cli/options.h"

static int own_stderr = -1; /* where the errors of a silenced process would have gone */
static int held = -1;       /* what it said there before it had joined, in memory */

static void send_nowhere(int stream) {
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0) return;
    dup2(nowhere, stream);
    close(nowhere);
}

void ranks_silence(void) {
    if (dpmf_cluster_launched() <= 0) return;
    own_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    send_nowhere(STDOUT_FILENO);
    held = memfd_create("stderr", MFD_CLOEXEC);
    if (held >= 0)
        dup2(held, STDERR_FILENO);
    else
        send_nowhere(STDERR_FILENO);
}

/* From now on the ranks agree on who reports what. */
static void stop_holding(void) {
    if (held < 0) return;
    send_nowhere(STDERR_FILENO);
    close(held);
    held = -1;
}

/* A process that could not join is not heard by the others, who may be waiting for it: it tells of
 * that itself, unless a lower one, to whom the same happened, has ended the job before its turn. */
void ranks_tell_alone(int status) {
    const int rank = dpmf_cluster_launched();
    const struct timespec turn = {2 * (rank < 15 ? rank : 15), 0};
    char text[4096], host[65] = "this machine";
    if (held < 0 || status == 0 || nanosleep(&turn, NULL) != 0) return;
    fflush(stderr);
    ssize_t n = pread(held, text, sizeof text, 0);
    if (n <= 0 || own_stderr < 0) return;
    dup2(own_stderr, STDERR_FILENO);
    gethostname(host, sizeof host - 1);
    fprintf(stderr, "%.*s  (rank %d on %s)\n", (int)n, text, rank, host);
}

/* --cluster-timeout, or 0 when it is not given or no such number. */
static double told_timeout(const struct invocation *invocation) {
    if (!command_has(invocation, OPTION_CLUSTER_TIMEOUT)) return 0;
    double seconds = options_number(invocation, OPTION_CLUSTER_TIMEOUT);
    return seconds >= 1 && seconds <= 1e6 ? seconds : 0;
}

static int set_timeout(const struct invocation *invocation, const struct dpmf_cluster *cluster) {
    if (!command_has(invocation, OPTION_CLUSTER_TIMEOUT)) return STATUS_DONE;
    const double seconds = told_timeout(invocation);
    if (seconds == 0)
        return terminal_error_print(STATUS_USAGE, "for example: --cluster-timeout 120",
                                    "--cluster-timeout %s is not from 1 to 1000000 seconds",
                                    invocation->value[OPTION_CLUSTER_TIMEOUT]);
    dpmf_cluster_set_timeout(cluster, seconds);
    return STATUS_DONE;
}

int ranks_join(struct invocation *invocation) {
    struct dpmf_cluster *cluster = NULL;
    struct dpmf_error error = {0};
    if (dpmf_cluster_launched() < 0) return set_timeout(invocation, NULL);
    if (!invocation->verb->is_distributed) {
        if (!dpmf_cluster_is_alone())
            return terminal_error_print(STATUS_USAGE, "run it once, without mpirun",
                                        "dpmf %s is not for several processes",
                                        invocation->verb->name);
        return STATUS_DONE;
    }
    if (dpmf_cluster_open(&cluster, &error) != 0) {
        char message[2 * DPMF_ERROR_TEXT_MAX], hint[2 * DPMF_ERROR_TEXT_MAX];
        error_show(&error, message, sizeof message);
        error_show_text(error.hint, hint, sizeof hint);
        return terminal_error_print(error_exit_status(error.code), hint, "%s", message);
    }
    stop_holding();
    invocation->cluster = cluster;
    invocation->run.cluster = cluster;
    return set_timeout(invocation, cluster);
}

bool ranks_speak(const struct invocation *invocation) {
    const struct dpmf_cluster *cluster = invocation->cluster;
    if (!dpmf_cluster_speaks(cluster)) return false;
    if (dpmf_cluster_rank(cluster) > 0 && own_stderr >= 0) dup2(own_stderr, STDERR_FILENO);
    return true;
}

/* Leaving waits for all ranks, in MPI_Finalize for ever when one was lost after its farewell. What
 * had to be done together is done by then: this process ends as it would have. */
struct patience {
    struct timespec time;
    int status;
};

static void *lose_patience(void *argument) {
    struct patience *patience = argument;
    int left = -1; /* signals wake it */
    while (left != 0) left = nanosleep(&patience->time, &patience->time);
    _exit(patience->status);
}

static void leave_in_time(const struct invocation *invocation, int status) {
    static struct patience patience; /* used by a thread that nobody waits for */
    const double told = told_timeout(invocation), seconds = told > 0 ? told : DPMF_CLUSTER_TIMEOUT;
    pthread_t thread;
    patience = (struct patience){{.tv_sec = (time_t)seconds + 2}, status};
    if (pthread_create(&thread, NULL, lose_patience, &patience) == 0) pthread_detach(thread);
}

void ranks_leave(struct invocation *invocation, int status) {
    if (invocation->cluster == NULL) return;
    fflush(stdout);
    leave_in_time(invocation, status);
    dpmf_cluster_close(invocation->cluster, status);
    invocation->cluster = NULL;
    invocation->run.cluster = NULL;
}
