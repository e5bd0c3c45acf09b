/*
 * Counts of ratings over ranks: they go from the first rank to the last, each of which adds its
 * own, and the last one tells all. A rank needs no more memory than for a few counts an item,
 * however many ranks there are. Fed by noise_schedule.c while it makes a schedule; feeds it.
 */
#include "sample/noise_ranks.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

enum { TAG_COUNTS = 176, VALUES_MAX = 8 };

/* Counts of the ranks with lower numbers, and of all. */
static int add_up(const struct dpmf_cluster *cluster, uint32_t *ratings, uint32_t *before, size_t n,
                  struct dpmf_error *error) {
    const int rank = cluster_rank(cluster), last = cluster_size(cluster) - 1;
    struct cluster_request *request = NULL;
    int code = 0;
    if (rank > 0) {
        code = cluster_begin_receive(cluster, rank - 1, TAG_COUNTS, before, n * sizeof before[0],
                                     &request, error);
        if (code == 0) code = cluster_wait(cluster, &request, error);
    }
    if (code < 0) return code;
    for (size_t i = 0; i < n; i++) ratings[i] += before[i];
    if (rank < last) {
        code = cluster_begin_send(cluster, rank + 1, TAG_COUNTS, ratings, n * sizeof ratings[0],
                                  &request, error);
        if (code == 0) code = cluster_wait(cluster, &request, error);
    }
    return code < 0 ? code
                    : cluster_broadcast(cluster, ratings, n * sizeof ratings[0], last, error);
}

/* What `before` is where a row begins a round: rank r's two parts have theirs from start[r] on. */
static int find_beginnings(const struct dpmf_cluster *cluster, const struct tiling *tiling,
                           const uint32_t *before, uint32_t *beginning, size_t *start,
                           struct dpmf_error *error) {
    const size_t ranks = (size_t)cluster_size(cluster), rank = (size_t)cluster_rank(cluster);
    for (size_t r = 0; r < ranks; r++) {
        const struct tiling_part first = tiling_part(tiling, 2 * r);
        const struct tiling_part second = tiling_part(tiling, 2 * r + 1);
        start[r] = (size_t)first.first_row * sizeof before[0];
        start[r + 1] = (size_t)(second.first_row + second.n_rows) * sizeof before[0];
    }
    memcpy((char *)beginning + start[rank], (const char *)before + start[rank],
           start[rank + 1] - start[rank]);
    return cluster_all_gather(cluster, beginning, start, error);
}

int noise_ranks_count(const struct dpmf_cluster *cluster, const struct tiling *tiling,
                      uint32_t *ratings, uint32_t *before, size_t n, struct dpmf_error *error) {
    const size_t ranks = (size_t)cluster_size(cluster);
    memset(before, 0, n * sizeof before[0]);
    if (ranks == 1) return 0;
    uint32_t *beginning = memory_alloc(n, sizeof beginning[0]);
    size_t *start = memory_alloc(ranks + 1, sizeof start[0]);
    int code = cluster_agree(cluster, beginning && start ? 0 : error_no_memory(error), error);
    if (code == 0) code = add_up(cluster, ratings, before, n, error);
    if (code == 0) code = find_beginnings(cluster, tiling, before, beginning, start, error);
    for (size_t i = 0; i < n && code == 0; i++)
        before[i] = before[i] - beginning[i] + (before[i] < beginning[i] ? ratings[i] : 0);
    free(beginning);
    free(start);
    return code;
}

int noise_ranks_max(const struct dpmf_cluster *cluster, uint32_t *values, size_t n,
                    struct dpmf_error *error) {
    uint64_t wide[VALUES_MAX];
    for (size_t i = 0; i < n; i++) wide[i] = values[i];
    int code = cluster_all_max(cluster, wide, n, error);
    for (size_t i = 0; i < n && code == 0; i++) values[i] = (uint32_t)wide[i];
    return code;
}
