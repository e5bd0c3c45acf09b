/*
 * The program as one of several processes that mpirun started: only the first of them prints, they join before
 * a verb runs and leave after it. Fed by main.c and command.c; report.c asks it who tells of an error.
 */
#include "ranks.h"

#include <fcntl.h>
#include <stdio.h>
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

static int set_timeout(struct invocation *invocation, const struct dpmf_cluster *cluster) {
    if (!command_has(invocation, OPTION_CLUSTER_TIMEOUT)) return STATUS_DONE;
    double seconds = options_number(invocation, OPTION_CLUSTER_TIMEOUT);
    if (!(seconds >= 1 && seconds <= 1e6))
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
    if (dpmf_cluster_open(&cluster, &error) != 0)
        return terminal_error_print(dpmf_error_exit_status(error.code), error.hint, "%s",
                                    error.message);
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

void ranks_leave(struct invocation *invocation, int status) {
    if (invocation->cluster == NULL) return;
    fflush(stdout);
    dpmf_cluster_close(invocation->cluster, status);
    invocation->cluster = NULL;
    invocation->run.cluster = NULL;
}
