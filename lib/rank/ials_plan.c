/*
 * Sorts rows by their number of events and puts those next to each other into teams. Fed by
 * event_rows; feeds the sweeps of ials.c.
 */
#include "rank/ials_plan.h"

#include <stdlib.h>

#include "base/memory.h"

enum {
    TEAM_BYTES = 1 << 21,  /* bytes of the rows of a team's events, of rows in step */
    SLICE_FROM = 1 << 24,  /* bytes of the other side's rows, below which there are no slices */
    SLICE_BYTES = 1 << 19, /* bytes of these rows in a slice */
    SLICE_SHARE = 24,      /* one in so many of the other side's rows, or slices do not pay */
    SLICE_USES = 32,       /* events for each row of a slice that are enough for a team */
};

static uint64_t n_events_of(const struct event_side *events, uint64_t row) {
    return events->start[row + 1] - events->start[row];
}

void ials_plan_free(struct ials_plan *plan) {
    free(plan->order);
    free(plan->team);
    *plan = (struct ials_plan){0};
}

uint64_t ials_plan_slice_rows(const struct ials_plan *plan) {
    return SLICE_BYTES / (plan->width * sizeof(float)) + 1;
}

/* Where a team of such rows meets each of the other side's rows more often than there are steps. */
bool ials_plan_slices(const struct ials_plan *plan, uint64_t n_events) {
    const uint64_t n = plan->n_other;
    return n * plan->width * sizeof(float) > SLICE_FROM && SLICE_SHARE * n_events >= n;
}

/* Rows by their number of events, the most first; equal ones as they are. */
static int sort_rows(struct ials_plan *plan, const struct event_side *events,
                     struct dpmf_error *error) {
    uint64_t most = 0, before = 0;
    for (uint64_t i = 0; i < events->n; i++)
        if (n_events_of(events, i) > most) most = n_events_of(events, i);
    uint64_t *place = memory_alloc_zero((size_t)most + 1, sizeof *place);
    if (!place) return error_no_memory(error);
    for (uint64_t i = 0; i < events->n; i++) place[n_events_of(events, i)]++;
    for (uint64_t n = most + 1; n-- > 0;) {
        const uint64_t rows = place[n];
        place[n] = before;
        before += rows;
    }
    for (uint64_t i = 0; i < events->n; i++)
        plan->order[place[n_events_of(events, i)]++] = (uint32_t)i;
    free(place);
    return 0;
}

/* The end of the team that begins at place `first` of the order. */
static uint64_t end_of_team(const struct ials_plan *plan, uint64_t first) {
    const struct event_side *events = plan->events;
    const bool sliced = ials_plan_slices(plan, n_events_of(events, plan->order[first]));
    const uint64_t most = TEAM_BYTES / (plan->width * sizeof(float));
    const uint64_t most_rows = sliced ? IALS_TEAM : IALS_BATCH;
    uint64_t end = first, n_events = 0;
    for (; end < events->n && end - first < most_rows; end++) {
        const uint64_t n = n_events_of(events, plan->order[end]);
        if (ials_plan_slices(plan, n) != sliced) break;
        n_events += n;
        if (plan->in_step && !sliced && end > first && n_events > most) break;
        if (sliced && end - first >= IALS_BATCH && n_events > plan->most_events) break;
    }
    return end;
}

int ials_plan_make(struct ials_plan *plan, const struct event_side *events, uint64_t n_other,
                   size_t width, bool in_step, int threads, struct dpmf_error *error) {
    ials_plan_free(plan);
    *plan = (struct ials_plan){.n_other = n_other, .width = width, .in_step = in_step};
    plan->most_events = events->start[events->n] / (2 * (uint64_t)threads);
    if (plan->most_events > SLICE_USES * n_other) plan->most_events = SLICE_USES * n_other;
    plan->order = memory_alloc((size_t)events->n + 1, sizeof *plan->order);
    plan->team = memory_alloc((size_t)events->n + 1, sizeof *plan->team);
    if (!plan->order || !plan->team) return error_no_memory(error);
    int code = sort_rows(plan, events, error);
    if (code < 0) return code;
    plan->events = events;
    for (uint64_t at = 0; at < events->n; at = end_of_team(plan, at))
        plan->team[plan->n_teams++] = (uint32_t)at;
    plan->team[plan->n_teams] = (uint32_t)events->n;
    return 0;
}
