/*
 * Ratings by user and by item, and weights; posterior_data.h says for whom. A user's weight follows
 * from that user's own number of kept ratings and wish, and from public numbers: posterior_rule.h
 * has the proof that rests on it.
 */
#include "mechanisms/posterior/posterior_data.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"

struct filling {
    const struct posterior_rule *rule;
    struct posterior_data *data;
    size_t at_user, at_rating;
    size_t n_items;
};

static int count_user(void *self, int worker, const struct private_user *user,
                      struct dpmf_error *error) {
    struct filling *filling = self;
    (void)worker;
    if (user->n > filling->rule->max_ratings)
        return error_set(error, DPMF_ERR_BASE_BUG, "a user was not trimmed");
    filling->at_rating += user->n;
    return 0;
}

static int take_user(void *self, int worker, const struct private_user *user,
                     struct dpmf_error *error) {
    struct filling *filling = self;
    struct posterior_side *users = &filling->data->users;
    size_t u = filling->at_user++, at = users->start[u];
    (void)worker;
    (void)error;
    filling->data->weight[u] = posterior_weight(filling->rule, user->n, user->scale);
    for (size_t i = 0; i < user->n; i++) {
        users->other[at + i] = user->row[i];
        users->y[at + i] = user->y[i];
    }
    users->start[u + 1] = at + user->n;
    return 0;
}

static int make_side(struct posterior_side *side, size_t n, size_t n_ratings,
                     struct dpmf_error *error) {
    side->n = n;
    side->start = memory_alloc_zero(n + 1, sizeof *side->start);
    side->other = memory_alloc(n_ratings, sizeof *side->other);
    side->y = memory_alloc(n_ratings, sizeof *side->y);
    return side->start && side->other && side->y ? 0 : error_no_memory(error);
}

/* Counts, then starts, then each rating to its place: users come in increasing order. */
static void turn(const struct posterior_side *users, struct posterior_side *items) {
    size_t n_ratings = users->start[users->n], sum = 0;
    for (size_t i = 0; i < n_ratings; i++) items->start[users->other[i] + 1]++;
    for (size_t j = 1; j <= items->n; j++) {
        sum += items->start[j];
        items->start[j] = sum;
    }
    for (size_t u = users->n; u-- > 0;)
        for (size_t i = users->start[u]; i < users->start[u + 1]; i++) {
            size_t at = --items->start[users->other[i] + 1];
            items->other[at] = (uint32_t)u;
            items->y[at] = users->y[i];
        }
    /* Each start has moved one place down. */
    for (size_t j = 0; j < items->n; j++) items->start[j] = items->start[j + 1];
    items->start[items->n] = n_ratings;
}

/* The sampler keeps everything in memory, whatever the bound: how much there is follows from the
 * ratings, and one person's must not decide whether there is a release. */
static void warn_of_memory(size_t n_users, size_t n_items, size_t n_ratings,
                           const struct posterior_rule *rule, uint64_t memory,
                           const struct dpmf_run *run) {
    double row = ((double)rule->factors + 1) * sizeof(double) + sizeof(size_t) + sizeof(double);
    double needed = 16.0 * (double)n_ratings + ((double)n_users + (double)n_items) * row;
    char text[DPMF_ERROR_TEXT_MAX];
    if (needed <= (double)memory || !run || !run->warn) return;
    dpmf_error_write(text, sizeof text,
                     "the sampler keeps all ratings and vectors in memory, more than {memory} "
                     "allows; {memory %.0fMiB} would hold them",
                     ceil(needed / 1048576 * 4 + 1)); /* a quarter of it is the sampler's */
    run->warn(run->warn_self, text);
}

int posterior_data_build(const struct private_ratings *ratings, size_t n_items,
                         const struct posterior_rule *rule, uint64_t memory,
                         const struct dpmf_run *run, struct posterior_data *data,
                         struct dpmf_error *error) {
    struct filling filling = {.rule = rule, .data = data, .n_items = n_items};
    struct private_visit visit = {.visit = count_user, .self = &filling};
    size_t n_users = (size_t)private_ratings_users(ratings), n_ratings;
    struct thread_pool *one = NULL; /* one thread meets users in order */
    *data = (struct posterior_data){0};
    int code = thread_pool_init(&one, 1, error);
    if (code == 0) code = private_ratings_visit(ratings, one, &visit, error);
    n_ratings = filling.at_rating;
    assert(n_users < UINT32_MAX); /* as in a store */
    if (code == 0) warn_of_memory(n_users, n_items, n_ratings, rule, memory, run);
    if (code == 0) code = make_side(&data->users, n_users, n_ratings, error);
    if (code == 0) code = make_side(&data->items, n_items, n_ratings, error);
    if (code < 0) goto out;
    data->weight = memory_alloc(n_users, sizeof *data->weight);
    if (!data->weight) {
        code = error_no_memory(error);
        goto out;
    }
    visit.visit = take_user;
    code = private_ratings_visit(ratings, one, &visit, error);
    if (code == 0) turn(&data->users, &data->items);
out:
    thread_pool_free(one);
    if (code < 0) posterior_data_free(data);
    return code;
}

static void free_side(struct posterior_side *side) {
    free(side->start);
    free(side->other);
    free(side->y);
}

void posterior_data_free(struct posterior_data *data) {
    free_side(&data->users);
    free_side(&data->items);
    free(data->weight);
    *data = (struct posterior_data){0};
}
