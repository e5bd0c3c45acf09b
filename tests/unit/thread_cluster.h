/*
 * A cluster whose ranks are threads of one test: the same table of functions as the plugin's, with
 * messages in memory.
 */
#ifndef DPMF_TESTS_THREAD_CLUSTER_H
#define DPMF_TESTS_THREAD_CLUSTER_H

#include "cluster/cluster.h"

/* Runs body(self, cluster) in n_ranks threads and waits for all of them. Each has a cluster of its
 * own, which it neither closes nor keeps. Rank r's machine is called "host<r>". A wait of more than
 * `timeout` seconds loses the rank waited for. @return 0, or a negative code when it could not be
 * set up; what the bodies return is theirs to keep in `self` */
int thread_cluster_run(int n_ranks, double timeout,
                       void (*body)(void *self, const struct dpmf_cluster *cluster), void *self);

#endif
