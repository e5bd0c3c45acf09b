/*
 * Joining a cluster: whether this process was started as one of several, finding and loading the
 * plugin that knows how to speak to the others, and leaving again. Fed by the environment that
 * mpirun and its like set; feeds the program, which hands the cluster on in struct dpmf_run.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/arguments.h"
#include "base/checksum.h"
#include "base/error.h"
#include "base/memory.h"
#include "cluster/cluster.h"
#include "dpmf_text.h"

#define PLUGIN "libdpmf-mpi.so"

/* ---- by the environment ---------------------------------------------------------------------- */

/* A whole number in the environment; -1 when there is none. */
static int number_of(const char *name) {
    const char *text = getenv(name); /* NOLINT(concurrency-mt-unsafe): nobody here sets one */
    uint64_t value;
    if (!text || dpmf_parse_uint64(text, &value) != 0 || value > INT_MAX) return -1;
    return (int)value;
}

static int first_number(const char *const *names) {
    for (; *names; names++)
        if (number_of(*names) >= 0) return number_of(*names);
    return -1;
}

/* Open MPI; MPICH, Intel and Slurm's PMI; and whatever starts processes by PMIx. */
int dpmf_cluster_launched(void) {
    static const char *const ranks[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", NULL};
    return first_number(ranks);
}

/* -1: not said. */
static int launched_size(void) {
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", NULL};
    return first_number(sizes);
}

bool dpmf_cluster_is_alone(void) { return launched_size() == 1; }

/* ---- the plugin ------------------------------------------------------------------------------ */

static void *load_at(const char *folder, const char *below) {
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s%s/" PLUGIN, folder, below);
    if (n < 0 || (size_t)n >= sizeof path || access(path, R_OK) != 0) return NULL;
    return dlopen(path, RTLD_NOW | RTLD_GLOBAL);
}

static void cut_name(char *path) {
    char *slash = strrchr(path, '/');
    if (slash) *slash = '\0';
}

static void *load_beside(char *path) {
    cut_name(path);
    void *library = load_at(path, "");
    return library ? library : load_at(path, "/../lib");
}

/* Open MPI's own plugins look for its symbols, so they are for all to see. */
static void *load_plugin(void) {
    const char *given = getenv("DPMF_MPI_PLUGIN"); /* NOLINT(concurrency-mt-unsafe): nor this */
    char path[PATH_MAX] = "";
    Dl_info here;
    if (given && *given) return dlopen(given, RTLD_NOW | RTLD_GLOBAL);
    void *library = NULL;
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n > 0) {
        path[n] = '\0';
        library = load_beside(path);
    }
    if (!library && dladdr((const void *)PLUGIN, &here) != 0 && here.dli_fname) {
        snprintf(path, sizeof path, "%s", here.dli_fname);
        library = load_beside(path);
    }
    return library ? library : dlopen(PLUGIN, RTLD_NOW | RTLD_GLOBAL);
}

static int no_plugin(struct dpmf_error *error) {
    const char *reason = dlerror(); /* NOLINT(concurrency-mt-unsafe): it is, in glibc */
    error_set(error, DPMF_ERR_CLUSTER_START,
              "this was started as one of several processes, but the plugin for that cannot be "
              "loaded: %s",
              reason ? reason : PLUGIN " is not there");
    error_hint(error, "build it with make mpi, or say where it is with DPMF_MPI_PLUGIN");
    return DPMF_ERR_CLUSTER_START;
}

static int join(struct dpmf_cluster *cluster, struct dpmf_error *error) {
    cluster_plugin_open *open_plugin = NULL;
    void *symbol = dlsym(cluster->library, CLUSTER_PLUGIN_SYMBOL);
    if (!symbol) return no_plugin(error);
    memcpy(&open_plugin, &symbol, sizeof symbol); /* no cast turns an object into a function */
    return open_plugin(CLUSTER_PLUGIN_VERSION, cluster, error);
}

/* Programs of two versions may understand different things by the same words; this word they all
 * understand. */
static int check_version(const struct dpmf_cluster *cluster, struct dpmf_error *error) {
    const char *version = dpmf_version();
    return cluster_check_same(cluster, checksum64(version, strlen(version)),
                              DPMF_ERR_USAGE_CONFLICT,
                              "the processes of the cluster are of different versions of dpmf",
                              "install the same version on all machines", error);
}

static void let_go(struct dpmf_cluster *cluster) {
    if (!cluster) return;
    free(cluster->state);
    free(cluster); /* the plugin stays loaded: MPI libraries do not survive being unloaded */
}

int dpmf_cluster_open(struct dpmf_cluster **out, struct dpmf_error *error) {
    int code = arguments_check(error, "cluster", out);
    if (code < 0) return code;
    *out = NULL;
    if (dpmf_cluster_launched() < 0) return 0;
    struct dpmf_cluster *cluster = memory_alloc_zero(1, sizeof *cluster);
    if (cluster) cluster->state = memory_alloc_zero(1, sizeof *cluster->state);
    if (!cluster || !cluster->state) {
        let_go(cluster);
        return error_no_memory(error);
    }
    cluster->library = load_plugin();
    /* A job of one needs no one to speak to. */
    bool is_alone = !cluster->library && launched_size() == 1;
    if (!cluster->library && !is_alone) code = no_plugin(error);
    if (cluster->library) code = join(cluster, error);
    if (code < 0 || is_alone) {
        let_go(cluster);
        return code;
    }
    code = check_version(cluster, error);
    if (code < 0) {
        dpmf_cluster_close(cluster, EXIT_FAILURE);
        return code;
    }
    *out = cluster;
    return 0;
}

/* ---- what the program sees of it ------------------------------------------------------------- */

int dpmf_cluster_rank(const struct dpmf_cluster *cluster) { return cluster_rank(cluster); }
int dpmf_cluster_size(const struct dpmf_cluster *cluster) { return cluster_size(cluster); }

const char *dpmf_cluster_host(const struct dpmf_cluster *cluster, int rank) {
    return cluster ? cluster->ops->host(cluster->self, rank) : "this machine";
}

void dpmf_cluster_set_timeout(const struct dpmf_cluster *cluster, double seconds) {
    if (cluster) cluster->ops->set_timeout(cluster->self, seconds);
}

/* A rank that all wait for in vain is missed by all of them at about the same time; and what one
 * finds wrong, such as a file that is not there, others find too. So ranks take turns: the lowest
 * tells, and ends the job while the others are still waiting. @return whether this rank's turn
 * came; a signal is the job's end */
static bool wait_for_turn(int rank) {
    const struct timespec turn = {2 * (rank < 15 ? rank : 15), 0};
    return nanosleep(&turn, NULL) == 0;
}

bool dpmf_cluster_speaks(const struct dpmf_cluster *cluster) {
    if (cluster_rank(cluster) == 0) return true;
    if (cluster->state->has_agreed) return false;
    cluster->state->had_turn = true;
    return wait_for_turn(cluster->rank);
}

int dpmf_cluster_agree(const struct dpmf_cluster *cluster, int code, struct dpmf_error *error) {
    return cluster_agree(cluster, code, error);
}

void dpmf_cluster_close(struct dpmf_cluster *cluster, int status) {
    if (!cluster) return;
    if (status != 0 && !cluster->state->has_agreed && cluster->n_ranks > 1) {
        if (cluster->rank > 0 && !cluster->state->had_turn) wait_for_turn(cluster->rank);
        cluster->ops->end_job(cluster->self, status);
    }
    cluster->ops->close(cluster->self, status);
    let_go(cluster);
}
