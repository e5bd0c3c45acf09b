/*
 * This computer as the library sees it: caches, cores, memory and the size of a page. Whatever
 * depends on them asks here, so that there is one place where a test, or a person whose virtual
 * machine misreports its hardware, can say otherwise. The environment replaces what the system
 * reports:
 *
 *     DPMF_CACHES=32K,512K,32M    L1 data, L2 and L3; "none" for a level that is not there, and
 *                                 "unknown" as if the system reported nothing
 *     DPMF_CORES=64
 *     DPMF_RAM=8GiB
 *     DPMF_PAGE=64K              bytes of a page: a power of 2, at least the system's
 *
 * Sizes are numbers of bytes with K, M or G, all of 1,024. Fed by /sys, sysconf and the
 * environment; feeds the schedule, the kernels' block sizes, thread pools, memory budgets and
 * `doctor`.
 */
#ifndef DPMF_BASE_HOST_H
#define DPMF_BASE_HOST_H

#include "dpmf.h"

enum host_origin { HOST_GUESSED, HOST_FROM_SYSTEM, HOST_FROM_ENVIRONMENT };

/* Bytes of data cache of a core (l1, l2) and of all (l3); l1 <= l2 <= l3, none is 0. */
struct host_caches {
    size_t l1, l2, l3;
    enum host_origin origin;
};

/* The caches to size work for. @return DPMF_ERR_USAGE_VALUE when DPMF_CACHES is not understood */
int host_caches_read(struct host_caches *caches, struct dpmf_error *error);

/* The cores this process may run on (its affinity mask) and the bytes of memory, 0 when unknown. A
 * value of the environment that is not understood is ignored here: host_check refuses it. */
int host_cores(void);
uint64_t host_memory(void);

/* Bytes of a page, or of several where the environment says so: what is aligned to it is aligned to
 * the system's pages, too. */
size_t host_page_size(void);

/* Half of the memory, at most 2 GiB: what a run may use when nobody said. */
uint64_t host_default_budget(void);

/* Whether the environment's values can be understood, all of them. */
int host_check(struct dpmf_error *error);

#endif
