/*
 * Ranks many users: first those of the history, block by block as the store has them, so that no
 * more of it is ever in memory than is in flight; then the users that it does not know, in pieces.
 * Fed by a model and a store; feeds the ranking metrics and `recommend --all-users`.
 */
#include "evaluate/rank_users.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/pipeline.h"
#include "base/threads.h"
#include "evaluate/model_numbers.h"
#include "recommend/best_items.h"

enum { PIECE_USERS = 256 };

/* The users of a block, ranked, on their way to `take`. */
struct ranked {
    uint64_t *user;
    size_t *n_best;
    struct dpmf_scored_item *best; /* n for each */
    size_t user_capacity, n_best_capacity, best_capacity, n;
    uint64_t first, end; /* the piece of users, where there is no block */
};

struct ranker {
    const struct rank_users *ranking;
    const struct dpmf_run *run;
    size_t n;               /* best items a user, never more than there are */
    uint32_t *item_numbers; /* of the history's items */
    atomic_uchar *is_done;  /* by user: the history had them */
    uint8_t **seen;         /* a bitmap a worker: the common exclusions while no user is at hand */
    int n_workers;
    struct ranked *products;
    void **pointers;
    size_t n_products;
    uint64_t next_user;
};

/* ---- one user -------------------------------------------------------------------------------- */

static bool is_wanted(const struct ranker *ranker, uint64_t user) {
    const uint8_t *wanted = ranker->ranking->wanted;
    return !wanted || best_items_bit(wanted, user);
}

static bool make_room(const struct ranker *ranker, struct ranked *ranked, size_t n_users) {
    size_t kept = ranker->ranking->take ? n_users : 1, cells;
    ranked->n = 0;
    return !__builtin_mul_overflow(kept, ranker->n, &cells) &&
           memory_reserve(&ranked->user, &ranked->user_capacity, n_users, sizeof *ranked->user) &&
           memory_reserve(&ranked->n_best, &ranked->n_best_capacity, n_users,
                          sizeof *ranked->n_best) &&
           memory_reserve(&ranked->best, &ranked->best_capacity, cells, sizeof *ranked->best);
}

static void rank_user(const struct ranker *ranker, uint64_t user, const uint8_t *seen,
                      struct ranked *ranked) {
    const struct rank_users *ranking = ranker->ranking;
    struct dpmf_scored_item *best = ranked->best;
    if (ranking->take) best += ranked->n * ranker->n;
    size_t n = recommend_top_n(ranking->model, user, seen, ranking->include, ranker->n, best);
    if (ranking->rank) ranking->rank(ranking->self, user, seen, best, n);
    ranked->user[ranked->n] = user;
    ranked->n_best[ranked->n++] = n;
}

static int give(const struct ranker *ranker, const struct ranked *ranked,
                struct dpmf_error *error) {
    const struct rank_users *ranking = ranker->ranking;
    for (size_t i = 0; ranking->take && i < ranked->n; i++)
        if (ranking->take(ranking->self, ranked->user[i], ranked->best + i * ranker->n,
                          ranked->n_best[i]) != 0)
            return error_set(error, DPMF_ERR_BASE_CANCELLED, "interrupted");
    return 0;
}

/* ---- the users of the history ---------------------------------------------------------------- */

static void mark_seen(const struct ranker *ranker, const struct store_block *block, uint32_t i,
                      uint8_t *seen) {
    for (uint64_t r = block->start[i]; r < block->start[i + 1]; r++) {
        uint32_t item = ranker->item_numbers[block->item[r]];
        if (item != MODEL_NUMBERS_NONE) seen[item / 8] |= (uint8_t)(1 << item % 8);
    }
}

static void unmark_seen(const struct ranker *ranker, const struct store_block *block, uint32_t i,
                        uint8_t *seen) {
    const uint8_t *exclude = ranker->ranking->exclude;
    for (uint64_t r = block->start[i]; r < block->start[i + 1]; r++) {
        uint32_t item = ranker->item_numbers[block->item[r]];
        if (item != MODEL_NUMBERS_NONE) seen[item / 8] = exclude ? exclude[item / 8] : 0;
    }
}

static int visit_block(void *self, int worker, const struct store_block *block, void *product,
                       struct dpmf_error *error) {
    struct ranker *ranker = self;
    struct ranked *ranked = product;
    uint8_t *seen = ranker->seen[worker];
    if (!make_room(ranker, ranked, block->n_users)) return error_no_memory(error);
    for (uint32_t i = 0; i < block->n_users; i++) {
        uint64_t user = model_numbers_user(ranker->ranking->model, block, i);
        if (user == UINT64_MAX || !is_wanted(ranker, user)) continue;
        /* A damaged store might name a user twice, in two threads at once. */
        if (atomic_exchange(&ranker->is_done[user], 1) != 0) continue;
        mark_seen(ranker, block, i, seen);
        rank_user(ranker, user, seen, ranked);
        unmark_seen(ranker, block, i, seen);
    }
    return 0;
}

static int finish_block(void *self, void *product, struct dpmf_error *error) {
    return give(self, product, error);
}

static int rank_history(struct ranker *ranker, struct dpmf_error *error) {
    const struct store_visitor visitor = {"ranking",         STORE_WANT_IDS, visit_block,
                                          finish_block,      ranker,         ranker->pointers,
                                          ranker->n_products};
    const struct rank_users *ranking = ranker->ranking;
    if (!ranking->history) return 0;
    int code = model_numbers_items(ranking->model, ranking->history, &ranker->item_numbers, error);
    return code < 0 ? code : store_visit(ranking->history, &visitor, ranker->run, error);
}

/* ---- the others ------------------------------------------------------------------------------ */

static int next_piece(void *self, void *job, struct dpmf_error *error) {
    struct ranker *ranker = self;
    struct ranked *piece = job;
    uint64_t n_users = ranker->ranking->model->factors.users.n;
    (void)error;
    if (ranker->next_user >= n_users) return 0;
    piece->first = ranker->next_user;
    piece->end = n_users - piece->first < PIECE_USERS ? n_users : piece->first + PIECE_USERS;
    ranker->next_user = piece->end;
    return 1;
}

static int rank_piece(void *self, int worker, void *job, struct dpmf_error *error) {
    struct ranker *ranker = self;
    struct ranked *piece = job;
    if (!make_room(ranker, piece, PIECE_USERS)) return error_no_memory(error);
    for (uint64_t user = piece->first; user < piece->end; user++)
        if (is_wanted(ranker, user) && atomic_load(&ranker->is_done[user]) == 0)
            rank_user(ranker, user, ranker->seen[worker], piece);
    return 0;
}

static int finish_piece(void *self, void *job, struct dpmf_error *error) {
    struct ranker *ranker = self;
    const struct ranked *piece = job;
    int code = give(ranker, piece, error);
    if (code < 0 || !ranker->run || !ranker->run->progress) return code;
    const struct dpmf_progress progress = {.phase = "ranking",
                                           .unit = "users",
                                           .done = piece->end,
                                           .total = ranker->ranking->model->factors.users.n};
    if (ranker->run->progress(ranker->run->progress_self, &progress))
        return error_set(error, DPMF_ERR_BASE_CANCELLED, "interrupted");
    return 0;
}

static int rank_others(struct ranker *ranker, struct dpmf_error *error) {
    static const struct pipeline_stages stages = {next_piece, rank_piece, finish_piece};
    return pipeline_run(&stages, ranker, ranker->pointers, ranker->n_products,
                        threads_wanted(ranker->run), error);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static int make_workers(struct ranker *ranker, struct dpmf_error *error) {
    const struct rank_users *ranking = ranker->ranking;
    const struct factors *factors = &ranking->model->factors;
    size_t bytes = (size_t)(factors->items.n / 8 + 1);
    ranker->n_workers = pipeline_workers(threads_wanted(ranker->run));
    ranker->n_products = store_visit_products(ranking->history, ranker->run);
    ranker->is_done = memory_alloc_zero((size_t)factors->users.n, sizeof *ranker->is_done);
    ranker->seen = memory_alloc_zero((size_t)ranker->n_workers, sizeof *ranker->seen);
    ranker->products = memory_alloc_zero(ranker->n_products, sizeof *ranker->products);
    ranker->pointers = memory_alloc(ranker->n_products, sizeof *ranker->pointers);
    if (!ranker->is_done || !ranker->seen || !ranker->products || !ranker->pointers)
        return error_no_memory(error);
    for (size_t i = 0; i < ranker->n_products; i++) ranker->pointers[i] = &ranker->products[i];
    for (int i = 0; i < ranker->n_workers; i++) {
        ranker->seen[i] = memory_alloc_zero(bytes, 1);
        if (!ranker->seen[i]) return error_no_memory(error);
        if (ranking->exclude)
            memcpy(ranker->seen[i], ranking->exclude, (size_t)(factors->items.n + 7) / 8);
    }
    return 0;
}

static void free_workers(struct ranker *ranker) {
    for (int i = 0; ranker->seen && i < ranker->n_workers; i++) free(ranker->seen[i]);
    for (size_t i = 0; ranker->products && i < ranker->n_products; i++) {
        free(ranker->products[i].user);
        free(ranker->products[i].n_best);
        free(ranker->products[i].best);
    }
    free(ranker->seen);
    free(ranker->products);
    free(ranker->pointers);
    free(ranker->item_numbers);
    free(ranker->is_done);
}

int rank_users_run(const struct rank_users *ranking, const struct dpmf_run *run,
                   struct dpmf_error *error) {
    const uint64_t n_items = ranking->model->factors.items.n;
    struct ranker ranker = {.ranking = ranking, .run = run};
    ranker.n = ranking->n < n_items ? ranking->n : (size_t)n_items;
    int code = make_workers(&ranker, error);
    if (code == 0) code = rank_history(&ranker, error);
    if (code == 0) code = rank_others(&ranker, error);
    free_workers(&ranker);
    return code;
}

int dpmf_model_recommend_all(const struct dpmf_model *model, struct dpmf_store *history,
                             const uint8_t *exclude, const uint8_t *include, size_t n,
                             const struct dpmf_run *run,
                             int (*take)(void *self, uint64_t user,
                                         const struct dpmf_scored_item *items, size_t n),
                             void *self, struct dpmf_error *error) {
    struct dpmf_run own_run;
    int code = arguments_check(error, "model", model);
    if (code == 0) code = run_take(&own_run, run, error);
    if (code < 0) return code;
    run = &own_run;
    if (!take) return arguments_check(error, "take", NULL);
    const struct rank_users ranking = {.model = model,
                                       .history = history,
                                       .exclude = exclude,
                                       .include = include,
                                       .n = n,
                                       .take = take,
                                       .self = self};
    return rank_users_run(&ranking, run, error);
}
