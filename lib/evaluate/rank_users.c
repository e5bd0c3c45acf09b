/*
 * Ranks many users: first those of the history, block by block as the store has them, so that no
 * more of it is ever in memory than is in flight; then the users that it does not know, in pieces.
 * What someone rated is left out of their list, and says what they choose; someone whom the model
 * does not know is fitted to it. Fed by a model and a store; feeds the ranking metrics, candidates
 * and `recommend --all-users`.
 */
#include "evaluate/rank_users.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/pipeline.h"
#include "base/threads.h"
#include "evaluate/model_numbers.h"
#include "recommend/best_items.h"
#include "recommend/user.h"

enum { PIECE_USERS = 256 };

/* One user's list on its way to `take`. */
struct ranked_user {
    uint64_t user;
    size_t known, n_best;
    size_t id_from, id_length; /* in the bytes of ids */
};

/* The users of a block, ranked. */
struct ranked {
    struct ranked_user *users;
    struct dpmf_scored_item *best; /* n for each */
    double *ratings;               /* likewise */
    char *id_bytes;
    size_t user_capacity, best_capacity, rating_capacity, id_capacity, n, n_id_bytes;
    uint64_t first, end; /* the piece of users, where there is no block */
};

/* What a thread needs for the user at hand. */
struct ranking_worker {
    uint8_t *seen; /* a bitmap: the common exclusions while no user is at hand */
    struct dpmf_own_rating *own;
    size_t n_own, own_capacity;
    double *choice;
    struct scorer scorer;
};

struct ranker {
    const struct rank_users *ranking;
    const struct dpmf_run *run;
    bool folds;             /* the model has no users */
    size_t n;               /* best items a user, never more than there are */
    uint32_t *item_numbers; /* numbers of the history's items */
    atomic_uchar *is_done;  /* by user: the history had them */
    struct ranking_worker *workers;
    int n_workers;
    struct ranked *products;
    void **pointers;
    size_t n_products;
    uint64_t next_user;
    struct rank_users_found found;
};

/* ---- one user -------------------------------------------------------------------------------- */

static bool is_wanted(const struct ranker *ranker, uint64_t user) {
    const uint8_t *wanted = ranker->ranking->wanted;
    return !wanted || best_items_bit(wanted, user);
}

static bool make_room(const struct ranker *ranker, struct ranked *ranked, size_t n_users) {
    size_t kept = ranker->ranking->take ? n_users : 1, cells;
    ranked->n = ranked->n_id_bytes = 0;
    if (__builtin_mul_overflow(kept, ranker->n, &cells)) return false;
    if (cells == 0) cells = 1; /* lists of nothing have an address too */
    return memory_reserve(&ranked->users, &ranked->user_capacity, n_users, sizeof *ranked->users) &&
           memory_reserve(&ranked->best, &ranked->best_capacity, cells, sizeof *ranked->best) &&
           memory_reserve(&ranked->ratings, &ranked->rating_capacity, cells,
                          sizeof *ranked->ratings);
}

static bool keep_id(struct ranked *ranked, struct ranked_user *kept, const char *id,
                    size_t length) {
    if (!memory_reserve(&ranked->id_bytes, &ranked->id_capacity, ranked->n_id_bytes + length + 1,
                        1))
        return false;
    memcpy(ranked->id_bytes + ranked->n_id_bytes, id, length);
    kept->id_from = ranked->n_id_bytes;
    kept->id_length = length;
    ranked->n_id_bytes += length;
    return true;
}

/* The list of whom the worker's scorer is set to. */
static int rank_user(const struct ranker *ranker, struct ranking_worker *worker, uint64_t user,
                     struct ranked *ranked, struct dpmf_error *error) {
    const struct rank_users *ranking = ranker->ranking;
    const size_t at = ranking->take ? ranked->n * ranker->n : 0;
    struct dpmf_scored_item *best = ranked->best + at;
    const bool rates = model_predicts_ratings(ranking->model);
    size_t n = recommend_scoring_top_n(&worker->scorer.scoring, worker->seen, ranking->include,
                                       ranker->n, best);
    for (size_t i = 0; ranking->take && i < n; i++)
        ranked->ratings[at + i] = rates ? scoring_exact(&worker->scorer.rating, best[i].item) : NAN;
    struct ranked_user *kept = &ranked->users[ranked->n++];
    *kept = (struct ranked_user){.user = user, .known = worker->n_own, .n_best = n};
    return ranking->rank
               ? ranking->rank(ranking->self, user, &worker->scorer, worker->seen, best, n, error)
               : 0;
}

static void count_user(struct ranker *ranker, const struct ranked_user *user) {
    if (user->user == UINT64_MAX || model_user_is_placed(ranker->ranking->model, user->user))
        return;
    ranker->found.users++;
    ranker->found.without += user->known == 0;
}

static int give(struct ranker *ranker, const struct ranked *ranked, struct dpmf_error *error) {
    const struct rank_users *ranking = ranker->ranking;
    for (size_t i = 0; i < ranked->n; i++) {
        const struct ranked_user *user = &ranked->users[i];
        count_user(ranker, user);
        if (!ranking->take) continue;
        struct dpmf_user_list list = {.id_length = user->id_length,
                                      .user = user->user,
                                      .known = user->known,
                                      .items = ranked->best + i * ranker->n,
                                      .ratings = ranked->ratings + i * ranker->n,
                                      .n = user->n_best};
        if (user->user != UINT64_MAX)
            list.id = dpmf_model_user_id(ranking->model, user->user, &list.id_length);
        else
            list.id = ranked->id_bytes + user->id_from;
        if (ranking->take(ranking->self, &list) != 0)
            return error_set(error, DPMF_ERR_BASE_CANCELLED, "interrupted");
    }
    return 0;
}

/* ---- the users of the history ---------------------------------------------------------------- */

/* What the user rated, of items that the model knows. */
static int gather_own(const struct ranker *ranker, const struct store_block *block, uint32_t i,
                      struct ranking_worker *worker, struct dpmf_error *error) {
    const uint64_t from = block->start[i], end = block->start[i + 1];
    worker->n_own = 0;
    if (!memory_reserve(&worker->own, &worker->own_capacity, (size_t)(end - from) + 1,
                        sizeof worker->own[0]))
        return error_no_memory(error);
    for (uint64_t r = from; r < end; r++) {
        uint32_t item = ranker->item_numbers[block->item[r]];
        if (item != MODEL_NUMBERS_NONE)
            worker->own[worker->n_own++] = (struct dpmf_own_rating){item, block->value[r]};
    }
    return 0;
}

static void unmark_seen(const struct ranker *ranker, struct ranking_worker *worker) {
    const uint8_t *exclude = ranker->ranking->exclude;
    for (size_t i = 0; i < worker->n_own; i++) {
        const uint64_t byte = worker->own[i].item / 8;
        worker->seen[byte] = exclude ? exclude[byte] : 0;
    }
}

/* What the user rated, of items that the model does not know and the caller numbered. */
static void mark_beyond(const struct ranker *ranker, const struct store_block *block, uint32_t i,
                        bool is_seen, uint8_t *seen) {
    const uint32_t *beyond = ranker->ranking->beyond;
    for (uint64_t r = block->start[i]; beyond && r < block->start[i + 1]; r++) {
        const uint32_t number = beyond[block->item[r]];
        if (number == MODEL_NUMBERS_NONE) continue;
        const uint8_t bit = (uint8_t)(1u << number % 8);
        seen[number / 8] = (uint8_t)(is_seen ? seen[number / 8] | bit : seen[number / 8] & ~bit);
    }
}

static void set_known(const struct ranker *ranker, struct ranking_worker *worker, uint64_t user) {
    const struct dpmf_model *model = ranker->ranking->model;
    const bool has_choice = worker->n_own > 0 && !model->state.ranks;
    if (has_choice)
        taste_fit(&model->taste, &model->factors, worker->own, worker->n_own, worker->choice);
    const struct person person =
        score_person_known(model, user, has_choice ? worker->choice : NULL);
    scorer_set(&worker->scorer, &person, &ranker->ranking->order);
}

static int rank_newcomer(const struct ranker *ranker, struct ranking_worker *worker,
                         const struct store_block *block, uint32_t i, struct ranked *ranked,
                         struct dpmf_error *error) {
    const struct rank_users *ranking = ranker->ranking;
    const uint64_t from = block->id_start[i], length = block->id_start[i + 1] - from;
    struct dpmf_user *fitted = NULL;
    int code = user_fold_in_light(ranking->model, worker->own, worker->n_own, &fitted, error);
    if (code < 0) return code;
    const struct person person = user_person(fitted);
    scorer_set(&worker->scorer, &person, &ranking->order);
    code = rank_user(ranker, worker, UINT64_MAX, ranked, error);
    dpmf_user_free(fitted);
    if (code == 0 &&
        !keep_id(ranked, &ranked->users[ranked->n - 1], block->id_bytes + from, (size_t)length))
        return error_no_memory(error);
    return code;
}

static int visit_user(struct ranker *ranker, struct ranking_worker *worker,
                      const struct store_block *block, uint32_t i, struct ranked *ranked,
                      struct dpmf_error *error) {
    uint64_t user = UINT64_MAX;
    if (!ranker->folds) {
        user = model_numbers_user(ranker->ranking->model, block, i);
        if (user == UINT64_MAX || !is_wanted(ranker, user)) return 0;
        /* A damaged store might name a user twice, in two threads at once. */
        if (atomic_exchange(&ranker->is_done[user], 1) != 0) return 0;
    }
    int code = gather_own(ranker, block, i, worker, error);
    if (code < 0) return code;
    dpmf_ratings_mark(worker->own, worker->n_own, worker->seen);
    mark_beyond(ranker, block, i, true, worker->seen);
    if (ranker->folds) {
        code = rank_newcomer(ranker, worker, block, i, ranked, error);
    } else {
        set_known(ranker, worker, user);
        code = rank_user(ranker, worker, user, ranked, error);
    }
    mark_beyond(ranker, block, i, false, worker->seen);
    unmark_seen(ranker, worker);
    return code;
}

static int visit_block(void *self, int worker, const struct store_block *block, void *product,
                       struct dpmf_error *error) {
    struct ranker *ranker = self;
    int code = make_room(ranker, product, block->n_users) ? 0 : error_no_memory(error);
    for (uint32_t i = 0; code == 0 && i < block->n_users; i++)
        code = visit_user(ranker, &ranker->workers[worker], block, i, product, error);
    return code;
}

static int finish_block(void *self, void *product, struct dpmf_error *error) {
    return give(self, product, error);
}

static int rank_history(struct ranker *ranker, struct dpmf_error *error) {
    const struct store_visitor visitor = {"ranking",
                                          STORE_WANT_VALUE | STORE_WANT_IDS,
                                          visit_block,
                                          finish_block,
                                          ranker,
                                          ranker->pointers,
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
    struct ranking_worker *own = &ranker->workers[worker];
    int code = make_room(ranker, piece, PIECE_USERS) ? 0 : error_no_memory(error);
    own->n_own = 0;
    for (uint64_t user = piece->first; code == 0 && user < piece->end; user++) {
        if (!is_wanted(ranker, user) || atomic_load(&ranker->is_done[user]) != 0) continue;
        set_known(ranker, own, user);
        code = rank_user(ranker, own, user, piece, error);
    }
    return code;
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

static int make_worker(const struct ranker *ranker, struct ranking_worker *worker,
                       struct dpmf_error *error) {
    const struct rank_users *ranking = ranker->ranking;
    const struct factors *factors = &ranking->model->factors;
    worker->seen = memory_alloc_zero((size_t)((factors->items.n + ranking->n_beyond) / 8 + 1), 1);
    worker->choice = memory_alloc(factors->k, sizeof(double));
    if (!worker->seen || !worker->choice) return error_no_memory(error);
    if (ranking->exclude)
        memcpy(worker->seen, ranking->exclude, (size_t)(factors->items.n + 7) / 8);
    return scorer_init(&worker->scorer, ranking->model, error);
}

static int make_workers(struct ranker *ranker, struct dpmf_error *error) {
    const struct rank_users *ranking = ranker->ranking;
    const size_t n_users = (size_t)ranking->model->factors.users.n;
    ranker->n_workers = pipeline_workers(threads_wanted(ranker->run));
    ranker->n_products = store_visit_products(ranking->history, ranker->run);
    ranker->is_done = memory_alloc_zero(n_users, sizeof *ranker->is_done);
    ranker->workers = memory_alloc_zero((size_t)ranker->n_workers, sizeof *ranker->workers);
    ranker->products = memory_alloc_zero(ranker->n_products, sizeof *ranker->products);
    ranker->pointers = memory_alloc(ranker->n_products, sizeof *ranker->pointers);
    if (!ranker->is_done || !ranker->workers || !ranker->products || !ranker->pointers)
        return error_no_memory(error);
    for (size_t i = 0; i < ranker->n_products; i++) ranker->pointers[i] = &ranker->products[i];
    int code = 0;
    for (int i = 0; code == 0 && i < ranker->n_workers; i++)
        code = make_worker(ranker, &ranker->workers[i], error);
    return code;
}

static void free_workers(struct ranker *ranker) {
    for (int i = 0; ranker->workers && i < ranker->n_workers; i++) {
        free(ranker->workers[i].seen);
        free(ranker->workers[i].own);
        free(ranker->workers[i].choice);
        scorer_free(&ranker->workers[i].scorer);
    }
    for (size_t i = 0; ranker->products && i < ranker->n_products; i++) {
        free(ranker->products[i].users);
        free(ranker->products[i].best);
        free(ranker->products[i].ratings);
        free(ranker->products[i].id_bytes);
    }
    free(ranker->workers);
    free(ranker->products);
    free(ranker->pointers);
    free(ranker->item_numbers);
    free(ranker->is_done);
}

int rank_users_run(const struct rank_users *ranking, const struct dpmf_run *run,
                   struct dpmf_error *error) {
    const uint64_t n_items = ranking->model->factors.items.n;
    struct ranker ranker = {
        .ranking = ranking, .run = run, .folds = ranking->model->kind == MODEL_RELEASE};
    /* A release to which the users of its history were fitted has users. */
    if (ranking->model->factors.users.n > 0) ranker.folds = false;
    ranker.n = ranking->n < n_items ? ranking->n : (size_t)n_items;
    /* Whoever only ranks has fitted the users of the history before, and passed on any warning. */
    const struct dpmf_run *warned = ranking->take ? run : NULL;
    int code = 0;
    if (ranking->history)
        code = model_numbers_check(ranking->model, ranking->history, warned, error);
    if (code < 0) return code;
    code = make_workers(&ranker, error);
    if (code == 0) code = rank_history(&ranker, error);
    if (code == 0) code = rank_others(&ranker, error);
    if (ranking->found) *ranking->found = ranker.found;
    free_workers(&ranker);
    return code;
}

void rank_users_warn(const struct rank_users_found *found, const struct dpmf_store *history,
                     const char *what, const struct dpmf_run *run) {
    char text[400];
    if (!run->warn || !history || found->without == 0) return;
    snprintf(text, sizeof text, "%.200s: it has nothing of %llu of %llu users of %s",
             store_path(history), (unsigned long long)found->without,
             (unsigned long long)found->users, what);
    run->warn(run->warn_self, text);
}

int dpmf_model_recommend_all(const struct dpmf_model *model, struct dpmf_store *history,
                             const struct dpmf_order *order, const uint8_t *exclude,
                             const uint8_t *include, size_t n, const struct dpmf_run *run,
                             int (*take)(void *self, const struct dpmf_user_list *list), void *self,
                             struct dpmf_error *error) {
    struct dpmf_run own_run;
    int code = arguments_check(error, "model", model);
    if (code == 0) code = run_take(&own_run, run, error);
    if (code < 0) return code;
    run = &own_run;
    if (!take) return arguments_check(error, "take", NULL);
    struct rank_users_found found = {0};
    struct rank_users ranking = {.model = model,
                                 .history = history,
                                 .exclude = exclude,
                                 .include = include,
                                 .n = n,
                                 .take = take,
                                 .self = self,
                                 .found = &found};
    code = score_order_find(model, order, &ranking.order, error);
    if (code == 0) code = rank_users_run(&ranking, run, error);
    if (code == 0) rank_users_warn(&found, history, "the model: nothing is left out for them", run);
    return code;
}
