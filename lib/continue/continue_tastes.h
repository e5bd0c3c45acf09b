/*
 * Rows of a model that ranks, in groups of similar taste. The old events of a row are gone, but
 * what they were of can be guessed: of what the model predicts for it. So rows that point the same
 * way had events with the same rows of the other side, row i of which counts by max(0, sum.v_i),
 * with sum the group's. The moments of a group hold its rows better than those of all events do,
 * which know what is popular and nothing of taste (continue_rows.h).
 */
#ifndef DPMF_CONTINUE_CONTINUE_TASTES_H
#define DPMF_CONTINUE_CONTINUE_TASTES_H

#include "continue/continue_rows.h"

enum { CONTINUE_TASTES = 8 }; /* groups at the most: twice as many change NDCG by under 0.05 % */

struct continue_tastes {
    uint32_t n;     /* groups */
    uint8_t *group; /* by number of the side; rows without old events are in group 0 */
    float *sum;     /* n x width: the sum of a group's rows */
};

/* Groups the rows of a side that have new events and old ones. Does not depend on threads. */
int continue_tastes_find(struct continue_tastes *tastes, const struct kernel_set *kernels,
                         uint32_t k, const struct continue_side *side, struct dpmf_error *error);
void continue_tastes_free(struct continue_tastes *tastes); /* a zeroed one is fine */

/* How much of a group's old events each row of the other side is taken to have had; their counts
 * where nothing can be predicted. */
void continue_tastes_weigh(const struct continue_tastes *tastes, const struct kernel_set *kernels,
                           uint32_t k, uint32_t group, const struct factor_matrix *other,
                           const float *other_counts, float *weights);

#endif
