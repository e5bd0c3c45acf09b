/*
 * The lists of continue_history.h: each row's old events and its new ones become one, in the rows
 * of the model. A pair that was rated again counts once, and as it is now: of ratings, what is no
 * like any more is no event. Fed by continue_train.c.
 */
#include "continue/continue_history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "rank/ials_train.h"
#include "store/store.h"
#include "train/model_ids.h"

/* Steps of conjugate gradients from a solution to one that is near it. Training takes three; two
 * are what is left room for in about a tenth of its time. */
enum {
    STEPS = 2,
    NEAR_TURNS = 3, /* what is new comes from nowhere, and is little as a rule */
};

/* The history of one side, as its store numbers it. */
struct old_side {
    const struct factor_ids *known; /* the model's, new ones too */
    uint64_t n_known;               /* those that the model had before come first */
    const float *counts;            /* ratings behind each, by the model */
    struct factor_ids ids;
    uint32_t *row;    /* row of each in the model */
    uint32_t *number; /* by row of the model, its number in the history; UINT32_MAX: none */
};

struct old {
    struct old_side users, items;
    struct event_rows events; /* old ones; `other` are rows of the model */
    struct event_rows given;  /* all new pairs, likes or not; empty where all are events */
};

static void free_old(struct old *old) {
    factor_ids_free(&old->users.ids);
    factor_ids_free(&old->items.ids);
    free(old->users.row);
    free(old->users.number);
    free(old->items.row);
    free(old->items.number);
    event_rows_free(&old->events);
    event_rows_free(&old->given);
}

/* ---- whose history it is --------------------------------------------------------------------- */

/* @return how many the model did not know, or UINT64_MAX where there was no memory */
static uint64_t find_rows(struct old_side *side) {
    uint64_t unknown = 0;
    side->row = memory_alloc((size_t)side->ids.n + 1, sizeof *side->row);
    side->number = memory_alloc((size_t)side->known->n + 1, sizeof *side->number);
    if (!side->row || !side->number) return UINT64_MAX;
    memset(side->number, 0xff, (size_t)side->known->n * sizeof *side->number);
    for (uint64_t i = 0; i < side->ids.n; i++) {
        const uint64_t first = side->ids.start[i];
        const uint64_t at = factor_ids_find(side->known, side->ids.bytes + first,
                                            (size_t)(side->ids.start[i + 1] - first));
        side->row[i] = (uint32_t)at;
        if (at < side->n_known)
            side->number[at] = (uint32_t)i;
        else
            unknown++;
    }
    return unknown;
}

/* Rows of the model that have more ratings there, or fewer, than the model says. */
static uint64_t count_odd(const struct old_side *side) {
    uint64_t odd = 0;
    for (uint64_t i = 0; i < side->n_known; i++) {
        const uint32_t number = side->number[i];
        const float found =
            number == UINT32_MAX || !side->ids.counts ? 0 : side->ids.counts[number];
        odd += found != side->counts[i];
    }
    return odd;
}

static int refuse_unknown(const struct dpmf_store *history, uint64_t users, uint64_t items,
                          struct dpmf_error *error) {
    error_set(error, DPMF_ERR_USAGE_CONFLICT,
              "this is not what the model learned from: it does not know %llu of the users and "
              "%llu of the items here",
              (unsigned long long)users, (unsigned long long)items);
    error_hint(error, "give the ratings that the model was trained on, without new ones");
    error_place(error, store_path(history), 0, 0);
    return DPMF_ERR_USAGE_CONFLICT;
}

static int read_ids(struct old *old, const struct continue_history_given *given,
                    struct dpmf_error *error) {
    int code = model_ids_fill_users(&old->users.ids, given->history, error);
    if (code == 0) code = model_ids_count_users(&old->users.ids, given->history, error);
    if (code == 0) code = model_ids_fill_items(&old->items.ids, given->history, NULL, error);
    if (code < 0) return code;
    const uint64_t users = find_rows(&old->users), items = find_rows(&old->items);
    if (users == UINT64_MAX || items == UINT64_MAX) return error_no_memory(error);
    return users + items > 0 ? refuse_unknown(given->history, users, items, error) : 0;
}

/* ---- events ---------------------------------------------------------------------------------- */

static void renumber(uint32_t *other, uint64_t n, const uint32_t *rows) {
    for (uint64_t i = 0; i < n; i++) other[i] = rows[other[i]];
}

static int compare(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* A row's events in increasing order, as the solver wants them; as a rule they are already. */
static void sort_rows(struct event_side *side) {
    for (uint64_t i = 0; i < side->n; i++) {
        const uint64_t first = side->start[i], n = side->start[i + 1] - first;
        bool is_sorted = true;
        for (uint64_t j = 1; is_sorted && j < n; j++)
            is_sorted = side->other[first + j - 1] < side->other[first + j];
        if (!is_sorted) qsort(side->other + first, (size_t)n, sizeof *side->other, compare);
    }
}

static void take_rows(struct event_rows *rows, const uint32_t *user_rows,
                      const uint32_t *item_rows) {
    renumber(rows->users.other, rows->n_events, item_rows);
    renumber(rows->items.other, rows->n_events, user_rows);
    sort_rows(&rows->users);
    sort_rows(&rows->items);
}

static int read_events(struct old *old, const struct continue_history_given *given,
                       const struct dpmf_run *run, struct dpmf_error *error) {
    const struct checkpoint_state *state = &given->model->state;
    const double like = state->has_like ? state->like : -INFINITY;
    sort_rows(&given->events->users);
    sort_rows(&given->events->items);
    int code = event_rows_read(&old->events, given->history, like, 0, run, error);
    if (code == 0) take_rows(&old->events, old->users.row, old->items.row);
    if (code < 0 || given->events->n_events == store_n_ratings(given->store)) return code;
    code = event_rows_read(&old->given, given->store, -INFINITY, 0, run, error);
    if (code == 0) take_rows(&old->given, given->model->user_rows, given->model->item_rows);
    return code;
}

/* ---- one list of both ------------------------------------------------------------------------ */

struct span {
    const uint32_t *at, *end;
};

static struct span span_of(const struct event_side *side, uint64_t row) {
    return (struct span){side->other + side->start[row], side->other + side->start[row + 1]};
}

/* Old events that are not given again, and the new ones. @return the end of them */
static uint32_t *merge(struct span old, struct span given, struct span likes, uint32_t *out,
                       uint64_t *twice) {
    while (old.at < old.end) {
        while (given.at < given.end && *given.at < *old.at) given.at++;
        if (given.at < given.end && *given.at == *old.at) {
            old.at++;
            ++*twice;
            continue;
        }
        while (likes.at < likes.end && *likes.at < *old.at) *out++ = *likes.at++;
        *out++ = *old.at++;
    }
    while (likes.at < likes.end) *out++ = *likes.at++;
    return out;
}

/* What the lists of a side are made of. */
struct join {
    const struct event_side *old, *given, *likes;
    const uint32_t *number; /* by row of the model, its number in `old` */
};

/* @return how many of the old events were gone through, or UINT64_MAX where there was no memory */
static uint64_t join_side(struct continue_again *side, const struct join *join, uint64_t *twice) {
    const struct event_side *likes = join->likes;
    struct event_side *all = &side->events;
    uint64_t n_old = 0;
    for (uint64_t i = 0; i < likes->n; i++) {
        const uint32_t number = join->number[side->row[i]];
        if (number != UINT32_MAX) n_old += join->old->start[number + 1] - join->old->start[number];
    }
    all->n = likes->n;
    all->start = memory_alloc((size_t)likes->n + 1, sizeof *all->start);
    all->other = memory_alloc((size_t)(n_old + likes->start[likes->n]) + 1, sizeof *all->other);
    if (!all->start || !all->other) return UINT64_MAX;
    uint32_t *out = all->other;
    all->start[0] = 0;
    for (uint64_t i = 0; i < likes->n; i++) {
        const uint32_t number = join->number[side->row[i]];
        const struct span none = {0};
        const struct span old = number == UINT32_MAX ? none : span_of(join->old, number);
        out = merge(old, span_of(join->given, i), span_of(likes, i), out, twice);
        all->start[i + 1] = (uint64_t)(out - all->other);
    }
    return n_old;
}

static int join_both(struct continue_history *self, struct old *old,
                     const struct continue_history_given *given, struct dpmf_error *error) {
    const bool is_apart = old->given.users.start != NULL;
    const struct event_rows *pairs = is_apart ? &old->given : given->events;
    const struct join users = {&old->events.users, &pairs->users, &given->events->users,
                               old->users.number};
    const struct join items = {&old->events.items, &pairs->items, &given->events->items,
                               old->items.number};
    uint64_t twice_of_items = 0;
    self->users.row = given->model->user_rows;
    self->items.row = given->model->item_rows;
    const uint64_t of_users = join_side(&self->users, &users, &self->n_twice);
    const uint64_t of_items = join_side(&self->items, &items, &twice_of_items);
    if (of_users == UINT64_MAX || of_items == UINT64_MAX) return error_no_memory(error);
    self->n_old = of_users > of_items ? of_users : of_items;
    return 0;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* A default that follows from how dense the events are is that of all of them now; one that was
 * asked for stays. */
static double find_unobserved(const struct continue_history *self, const struct old *old,
                              const struct continue_history_given *given) {
    const struct continue_model *model = given->model;
    const uint64_t n_old = old->events.n_events;
    const uint64_t n_all = n_old + given->events->n_events - self->n_twice;
    const double before = ials_default_unobserved(n_old, old->users.ids.n, old->items.ids.n);
    if (model->state.unobserved != before) return model->state.unobserved;
    return ials_default_unobserved(n_all, model->now.user_ids.n, model->now.item_ids.n);
}

/* A side with some of the rows of another. */
static int pick_rows(struct continue_again *to, const struct continue_again *from,
                     const struct continue_pick *pick, struct dpmf_error *error) {
    const uint64_t *start = from->events.start;
    uint64_t n_events = 0;
    for (uint64_t i = 0; i < pick->n; i++)
        n_events += start[pick->number[i] + 1] - start[pick->number[i]];
    to->picked_row = memory_alloc((size_t)pick->n + 1, sizeof *to->picked_row);
    to->events.n = pick->n;
    to->events.start = memory_alloc_zero((size_t)pick->n + 1, sizeof *to->events.start);
    to->events.other = memory_alloc((size_t)n_events + 1, sizeof *to->events.other);
    if (!to->picked_row || !to->events.start || !to->events.other) return error_no_memory(error);
    to->row = to->picked_row;
    for (uint64_t i = 0; i < pick->n; i++) {
        const struct span all = span_of(&from->events, pick->number[i]);
        const uint64_t n = (uint64_t)(all.end - all.at), at = to->events.start[i];
        to->picked_row[i] = from->row[pick->number[i]];
        if (n > 0) memcpy(to->events.other + at, all.at, (size_t)n * sizeof *all.at);
        to->events.start[i + 1] = at + n;
    }
    return factor_matrix_init(&to->own, pick->n, from->own.stride, 1, error);
}

static int make_solver(struct continue_history *self, const struct continue_history_given *given,
                       struct dpmf_error *error) {
    const struct continue_model *model = given->model;
    const struct factors *now = &model->now;
    const struct ials_rule rule = {.unobserved = self->unobserved,
                                   .penalty = model->state.regularization,
                                   .exponent = model->state.exponent,
                                   .steps = STEPS,
                                   .stays = true};
    int code =
        factor_matrix_init(&self->users.own, self->users.events.n, now->users.stride, 1, error);
    if (code == 0)
        code =
            factor_matrix_init(&self->items.own, self->items.events.n, now->items.stride, 1, error);
    if (code == 0) code = pick_rows(&self->near_users, &self->users, &given->near_users, error);
    if (code == 0) code = pick_rows(&self->near_items, &self->items, &given->near_items, error);
    return code < 0 ? code
                    : ials_init(&self->ials, given->kernels, now->k, &rule, given->pool, error);
}

int continue_history_init(struct continue_history *self, const struct continue_history_given *given,
                          const struct dpmf_run *run, struct dpmf_error *error) {
    const struct continue_model *model = given->model;
    struct old old = {
        .users = {.known = &model->now.user_ids,
                  .n_known = model->now.user_ids.n - model->new_users,
                  .counts = model->user_counts},
        .items = {.known = &model->now.item_ids,
                  .n_known = model->now.item_ids.n - model->new_items,
                  .counts = model->item_counts},
    };
    *self = (struct continue_history){0};
    int code = read_ids(&old, given, error);
    if (code == 0) code = read_events(&old, given, run, error);
    if (code == 0) code = join_both(self, &old, given, error);
    if (code == 0) self->unobserved = find_unobserved(self, &old, given);
    if (code == 0) code = make_solver(self, given, error);
    if (code == 0 && model->has_user_counts) self->odd_users = count_odd(&old.users);
    if (code == 0) self->odd_items = count_odd(&old.items);
    free_old(&old);
    if (code < 0) continue_history_free(self);
    return code;
}

static void free_side(struct continue_again *side) {
    free(side->picked_row);
    free(side->events.start);
    free(side->events.other);
    factor_matrix_free(&side->own);
}

void continue_history_free(struct continue_history *self) {
    free_side(&self->users);
    free_side(&self->items);
    free_side(&self->near_users);
    free_side(&self->near_items);
    ials_free(self->ials);
    *self = (struct continue_history){0};
}

uint64_t continue_history_bytes(const struct dpmf_store *history, const struct dpmf_store *store,
                                const struct kernel_set *kernels, uint32_t k, int threads) {
    const uint64_t rows = store_n_users(store) + store_n_items(store);
    return 3 * (event_rows_bytes(history, false) + event_rows_bytes(store, false)) +
           2 * rows * kernels->stride(k) * sizeof(float) + ials_bytes(kernels, k, threads);
}

/* ---- a sweep --------------------------------------------------------------------------------- */

static int sweep_side(struct continue_history *self, struct continue_again *side,
                      struct factor_matrix *own, struct factor_matrix *other,
                      const struct continue_stop *stop, struct dpmf_error *error) {
    const size_t stride = own->stride, bytes = stride * sizeof(float);
    if (side->own.n == 0) return 0;
    for (uint64_t i = 0; i < side->own.n; i++)
        memcpy(side->own.rows + i * stride, own->rows + side->row[i] * stride, bytes);
    int code = ials_sweep(self->ials, &side->events, &side->own, other, stop->asked, stop->self,
                          NULL, error);
    if (code < 0) return code;
    if (!factors_are_finite(side->own.rows, (size_t)side->own.n * stride))
        return error_set(error, DPMF_ERR_TRAIN_DIVERGED, "a vector is not finite");
    for (uint64_t i = 0; i < side->own.n; i++)
        memcpy(own->rows + side->row[i] * stride, side->own.rows + i * stride, bytes);
    return 0;
}

int continue_history_epoch(struct continue_history *self, bool is_first, struct factors *now,
                           const struct continue_stop *stop, struct dpmf_error *error) {
    struct continue_again *users = is_first ? &self->users : &self->near_users;
    struct continue_again *items = is_first ? &self->items : &self->near_items;
    int code = 0;
    for (int turn = 0; code == 0 && turn < (is_first ? 1 : NEAR_TURNS); turn++) {
        code = sweep_side(self, users, &now->users, &now->items, stop, error);
        if (code == 0) code = sweep_side(self, items, &now->items, &now->users, stop, error);
    }
    return code;
}
