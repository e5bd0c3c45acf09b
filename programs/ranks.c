/*
 * The program as one of several processes that mpirun started: only the first of them prints, they join before
 * a verb runs and leave after it. Fed by main.c and command.c; report.c asks it who tells of an error.
 */
#define _GNU_SOURCE
#include "ranks.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "options.h"

static int own_stderr = -1; /* of a silenced process: where its errors would have gone */

void ranks_silence(void) {
    if (dpmf_cluster_launched() <= 0) return;
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0) return;
    own_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    close(nowhere);
}

/* --cluster-timeout, or 0 when it is not told or no such number. */
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

/* A process that cannot join is not heard by the others, who may be waiting for it: it tells of it itself, unless a lower
 * one, to whom the same happened, has ended the job before its turn. */
static int tell_alone(const struct dpmf_error *error) {
    const int rank = dpmf_cluster_launched(), status = dpmf_error_exit_status(error->code);
    const struct timespec turn = {2 * (rank < 15 ? rank : 15), 0};
    char host[65] = "this machine";
    if (rank <= 0) return terminal_error_print(status, error->hint, "%s", error->message);
    if (nanosleep(&turn, NULL) != 0) return status;
    if (own_stderr >= 0) dup2(own_stderr, STDERR_FILENO);
    gethostname(host, sizeof host - 1);
    return terminal_error_print(status, error->hint, "%s (rank %d on %s)", error->message, rank,
                                host);
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
    if (dpmf_cluster_open(&cluster, &error) != 0) return tell_alone(&error);
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

/* Leaving waits for all ranks, in MPI_Finalize for ever when one was lost after its farewell. What had to be done together is done
 * by then: this process ends as it would have. */
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
    static struct patience patience; /* of a thread that nobody waits for */
    const double told = told_timeout(invocation), seconds = told > 0 ? told : 120;
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
