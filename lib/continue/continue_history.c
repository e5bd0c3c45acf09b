/*
 * The lists of continue_history.h: each user's old events and new ones become one list, in the rows
 * of the model, and all users' lists become those of the items. A pair that was rated again counts
 * once, and as it is now: of ratings, what is no like any more is no event. Fed by
 * continue_train.c.
 */
#include "continue/continue_history.h"

#include <assert.h>
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
    struct event_rows events; /* old ones, by user; `other` are rows of the model */
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

/* The value from which on a rating is an event. */
static double least_like(const struct continue_history_given *given) {
    const struct checkpoint_state *state = &given->model->state;
    return state->has_like ? state->like : -INFINITY;
}

/* ---- events ---------------------------------------------------------------------------------- */

static bool is_increasing(const uint32_t *rows, uint64_t n) {
    for (uint64_t i = 1; i < n; i++)
        if (rows[i] <= rows[i - 1]) return false;
    return true;
}

static int see_users(void *self, const struct store_block *block, struct dpmf_error *error) {
    return model_ids_take(self, block, error);
}

/* Reads the history, and looks its users and items up. As a rule its items are in the order of the
 * model's: renumbered, the lists of users are in order, and nobody asks for those of items. */
static int read_old(struct old *old, const struct continue_history_given *given,
                    const struct dpmf_run *run, struct dpmf_error *error) {
    struct model_ids_filling users;
    struct event_reader reader = {
        .like = least_like(given), .want = STORE_WANT_IDS, .see = see_users, .self = &users};
    int code = model_ids_fill_items(&old->items.ids, given->history, NULL, error);
    if (code == 0) code = model_ids_begin(&users, &old->users.ids, given->history, error);
    if (code < 0) return code;
    const uint64_t unknown_items = find_rows(&old->items);
    if (unknown_items == UINT64_MAX) return error_no_memory(error);
    reader.users_alone = is_increasing(old->items.row, old->items.ids.n);
    code = event_rows_read_by(&old->events, given->history, &reader, run, error);
    if (code < 0) return code;
    const uint64_t unknown_users = find_rows(&old->users);
    if (unknown_users == UINT64_MAX) return error_no_memory(error);
    if (unknown_users + unknown_items > 0)
        return refuse_unknown(given->history, unknown_users, unknown_items, error);
    const struct event_numbers user_rows = {old->users.row, old->users.known->n};
    const struct event_numbers item_rows = {old->items.row, old->items.known->n};
    if (!reader.users_alone)
        return event_rows_renumber(&old->events, &user_rows, &item_rows, error);
    uint32_t *other = old->events.users.other;
    for (uint64_t i = 0; i < old->events.n_events; i++) other[i] = item_rows.row[other[i]];
    return 0;
}

/* Reads the history and, where some pairs are no likes, all new ones once more. */
static int read_events(struct old *old, const struct continue_history_given *given,
                       const struct dpmf_run *run, struct dpmf_error *error) {
    const struct continue_model *model = given->model;
    const struct event_numbers users = {model->user_rows, model->now.user_ids.n};
    const struct event_numbers items = {model->item_rows, model->now.item_ids.n};
    int code = read_old(old, given, run, error);
    if (code < 0 || given->events->n_events == store_n_ratings(given->store)) return code;
    code = event_rows_read(&old->given, given->store, -INFINITY, 0, run, error);
    return code < 0 ? code : event_rows_renumber(&old->given, &users, &items, error);
}

/* ---- one list of both ------------------------------------------------------------------------ */

struct span {
    const uint32_t *at, *end;
};

static struct span span_of(const struct event_side *side, uint64_t row) {
    return (struct span){side->other + side->start[row], side->other + side->start[row + 1]};
}

/* Old events that are not given again, and those of the given ones that are likes. @return the end
 * of them */
static uint32_t *merge(struct span old, struct span given, struct span likes, uint32_t *out,
                       uint64_t *twice) {
    for (; given.at < given.end; given.at++) {
        while (old.at < old.end && *old.at < *given.at) *out++ = *old.at++;
        if (old.at < old.end && *old.at == *given.at) {
            old.at++;
            ++*twice;
        }
        if (likes.at < likes.end && *likes.at == *given.at) *out++ = *likes.at++;
    }
    assert(likes.at == likes.end);
    const size_t rest = (size_t)(old.end - old.at);
    if (rest > 0) memcpy(out, old.at, rest * sizeof *out);
    return out + rest;
}

static int make_lists(struct event_side *side, uint64_t n, uint64_t n_events,
                      struct dpmf_error *error) {
    side->n = n;
    side->start = memory_alloc_zero((size_t)n + 1, sizeof *side->start);
    side->other = memory_alloc((size_t)n_events + 1, sizeof *side->other);
    return side->start && side->other ? 0 : error_no_memory(error);
}

/* The lists of users. *n_old becomes the number of their old events. */
static int join_users(struct continue_history *self, const struct old *old,
                      const struct continue_history_given *given, uint64_t *n_old,
                      struct dpmf_error *error) {
    const struct event_side *likes = &given->events->users, *before = &old->events.users;
    const struct event_side *pairs = old->given.users.start ? &old->given.users : likes;
    const uint32_t *rows = given->model->user_rows, *number = old->users.number;
    struct event_side *all = &self->users.events;
    const struct span none = {0};
    *n_old = 0;
    for (uint64_t i = 0; i < likes->n; i++)
        if (number[rows[i]] != UINT32_MAX)
            *n_old += before->start[number[rows[i]] + 1] - before->start[number[rows[i]]];
    int code = make_lists(all, likes->n, *n_old + given->events->n_events, error);
    if (code < 0) return code;
    uint32_t *out = all->other;
    for (uint64_t i = 0; i < likes->n; i++) {
        const uint32_t at = number[rows[i]];
        out = merge(at == UINT32_MAX ? none : span_of(before, at), span_of(pairs, i),
                    span_of(likes, i), out, &self->n_twice);
        all->start[i + 1] = (uint64_t)(out - all->other);
    }
    return 0;
}

/* What the lists of items are made of: those of all users, in the order of the model's rows. */
struct lists {
    const struct event_side *joined, *old;
    uint32_t *joined_number; /* by row of the model; UINT32_MAX: none, then as `old` has it */
    const uint32_t *old_number;
    uint64_t n;
};

static struct span list_of(const struct lists *lists, uint64_t row) {
    const uint32_t joined = lists->joined_number[row], old = lists->old_number[row];
    const struct span none = {0};
    return joined != UINT32_MAX ? span_of(lists->joined, joined)
           : old != UINT32_MAX  ? span_of(lists->old, old)
                                : none;
}

/* The number of each row of the model among `rows`; UINT32_MAX: none. */
static uint32_t *find_numbers(const uint32_t *rows, uint64_t n, uint64_t n_rows) {
    uint32_t *number = memory_alloc((size_t)n_rows + 1, sizeof *number);
    if (!number) return NULL;
    memset(number, 0xff, (size_t)n_rows * sizeof *number);
    for (uint64_t i = 0; i < n; i++) number[rows[i]] = (uint32_t)i;
    return number;
}

/* Turns users' lists into those of items with new ratings. Lists that begin at start[i + 1] end
 * there afterwards. */
static void fill_items(const struct lists *lists, const uint32_t *number, struct event_side *all) {
    for (uint64_t row = 0; row < lists->n; row++)
        for (struct span list = list_of(lists, row); list.at < list.end; list.at++)
            if (number[*list.at] != UINT32_MAX)
                all->other[all->start[number[*list.at] + 1]++] = (uint32_t)row;
}

static void count_items(const struct lists *lists, const uint32_t *number, uint64_t *counts) {
    for (uint64_t row = 0; row < lists->n; row++)
        for (struct span list = list_of(lists, row); list.at < list.end; list.at++)
            if (number[*list.at] != UINT32_MAX) counts[number[*list.at]]++;
}

static int turn_over(struct event_side *all, const struct lists *lists, const uint32_t *number,
                     uint64_t n, struct dpmf_error *error) {
    uint64_t *counts = memory_alloc_zero((size_t)n + 1, sizeof *counts), n_events = 0;
    if (!counts) return error_no_memory(error);
    count_items(lists, number, counts);
    for (uint64_t i = 0; i < n; i++) n_events += counts[i];
    int code = make_lists(all, n, n_events, error);
    for (uint64_t i = 0; code == 0 && i < n; i++)
        all->start[i + 1] = i == 0 ? 0 : all->start[i] + counts[i - 1];
    if (code == 0) fill_items(lists, number, all);
    free(counts);
    return code;
}

static int join_items(struct continue_history *self, const struct old *old,
                      const struct continue_history_given *given, struct dpmf_error *error) {
    const struct continue_model *model = given->model;
    const uint64_t n_users = model->now.user_ids.n, n_items = given->events->items.n;
    uint32_t *number = find_numbers(model->item_rows, n_items, model->now.item_ids.n);
    const struct lists lists = {.joined = &self->users.events,
                                .old = &old->events.users,
                                .joined_number =
                                    find_numbers(model->user_rows, self->users.events.n, n_users),
                                .old_number = old->users.number,
                                .n = n_users};
    int code = number && lists.joined_number
                   ? turn_over(&self->items.events, &lists, number, n_items, error)
                   : error_no_memory(error);
    free(number);
    free(lists.joined_number);
    return code;
}

static int join_both(struct continue_history *self, struct old *old,
                     const struct continue_history_given *given, struct dpmf_error *error) {
    uint64_t of_users;
    self->users.row = given->model->user_rows;
    self->items.row = given->model->item_rows;
    int code = join_users(self, old, given, &of_users, error);
    if (code == 0) code = join_items(self, old, given, error);
    if (code < 0) return code;
    const struct event_side *items = &self->items.events;
    const uint64_t of_items = items->start[items->n] - given->events->n_events + self->n_twice;
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
    return 0;
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
    const uint64_t n_users = self->users.events.n, n_items = self->items.events.n;
    int code = factor_matrix_init(&self->room, n_users > n_items ? n_users : n_items,
                                  now->users.stride, 1, error);
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
    int code = read_events(&old, given, run, error);
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
}

void continue_history_free(struct continue_history *self) {
    free_side(&self->users);
    free_side(&self->items);
    free_side(&self->near_users);
    free_side(&self->near_items);
    factor_matrix_free(&self->room);
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
    const uint64_t n = side->events.n;
    struct factor_matrix room = self->room;
    if (n == 0) return 0;
    assert(n <= room.n && stride == room.stride);
    room.n = n;
    for (uint64_t i = 0; i < n; i++)
        memcpy(room.rows + i * stride, own->rows + side->row[i] * stride, bytes);
    int code =
        ials_sweep(self->ials, &side->events, &room, other, stop->asked, stop->self, NULL, error);
    if (code < 0) return code;
    if (!factors_are_finite(room.rows, (size_t)n * stride))
        return error_set(error, DPMF_ERR_TRAIN_DIVERGED, "a vector is not finite");
    for (uint64_t i = 0; i < n; i++)
        memcpy(own->rows + side->row[i] * stride, room.rows + i * stride, bytes);
    return 0;
}

/* Users last: the lists are theirs, and the other way round they are further behind. */
int continue_history_epoch(struct continue_history *self, bool is_first, struct factors *now,
                           const struct continue_stop *stop, struct dpmf_error *error) {
    struct continue_again *users = is_first ? &self->users : &self->near_users;
    struct continue_again *items = is_first ? &self->items : &self->near_items;
    int code = 0;
    for (int turn = 0; code == 0 && turn < (is_first ? 1 : NEAR_TURNS); turn++) {
        code = sweep_side(self, items, &now->items, &now->users, stop, error);
        if (code == 0) code = sweep_side(self, users, &now->users, &now->items, stop, error);
    }
    return code;
}
