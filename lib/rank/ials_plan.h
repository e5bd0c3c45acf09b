/*
 * The order in which a sweep goes through the rows of a side: those with the most events first, in
 * teams. What is computed for a row does not depend on its team: the number of threads may decide
 * about teams, but not about which rows are sliced, and the machine's caches about neither.
 */
#ifndef DPMF_RANK_IALS_PLAN_H
#define DPMF_RANK_IALS_PLAN_H

#include "base/error.h"
#include "rank/event_rows.h"

enum {
    IALS_TEAM = 512,  /* rows of a team, at most */
    IALS_BATCH = 128, /* rows that are taken to a basis together */
};

struct ials_plan {
    const struct event_side *events; /* NULL: not made */
    uint64_t n_other;                /* rows of the other side */
    size_t width;                    /* floats in each of them */
    bool in_step;                    /* rows that are not sliced go in step too */
    uint64_t most_events;            /* in a large team, so that all threads have one */
    uint32_t *order, *team;          /* team t: places team[t] to team[t + 1] - 1 of the order */
    uint64_t n_teams;
};

/* *plan may be one that was made before. */
int ials_plan_make(struct ials_plan *plan, const struct event_side *events, uint64_t n_other,
                   size_t width, bool in_step, int threads, struct dpmf_error *error);
void ials_plan_free(struct ials_plan *plan);

/* Whether a row with this many events goes through the other side in slices, and the number of rows
 * in a slice. */
bool ials_plan_slices(const struct ials_plan *plan, uint64_t n_events);
uint64_t ials_plan_slice_rows(const struct ials_plan *plan);

#endif
