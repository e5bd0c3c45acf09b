/*
 * How good a model is on ratings it was not trained on: the errors of its predictions, clamped to
 * the scale, and how well it ranks. Sums are taken per block and per user and added up in the order
 * of blocks and users, so that results do not depend on the number of threads. Fed by a model and
 * stores.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/checksum.h"
#include "base/error.h"
#include "base/memory.h"
#include "cluster/user_shares.h"
#include "compare/compare_stores.h"
#include "evaluate/fold_users.h"
#include "evaluate/model_numbers.h"
#include "evaluate/rank_users.h"
#include "evaluate/ranking_scores.h"
#include "recommend/best_items.h"

enum { AHEAD = 8 };

/* A user's test items, for the ranking: numbers of the model in increasing order, then those of
 * model_numbers_beyond. */
struct wanted_user {
    uint64_t user;
    uint64_t from;  /* in the list of items */
    uint32_t n;     /* how many there are */
    uint32_t n_had; /* items of these that the user has in the history */
};

struct wanted_list {
    struct wanted_user *users;
    uint32_t *items;
    size_t n_users, n_items, user_capacity, item_capacity;
};

struct block_sums {
    double squares, absolutes;
    double cold_squares; /* squares of users or items that were placed by features */
    uint64_t n, unknown_users, unknown_items, cold, fitted_users;
    uint64_t sampled, learned; /* ratings of the sampled kind, and those that were learned */
    struct wanted_list wanted;
};

struct evaluator {
    const struct dpmf_model *model;
    uint32_t ranking; /* n; 0: none */
    double like;      /* ratings below are not wanted */
    bool has_errors;  /* the model predicts ratings, and there are ratings to compare with */
    struct dpmf_order order;
    uint32_t *item_numbers;
    const struct learned_pairs *known; /* what the model has learned */
    uint64_t *item_hashes;             /* hashes of the test set's items, or NULL */
    uint32_t *beyond; /* numbers of the history's items that the model does not know */
    struct block_sums total;
    struct block_sums *products;
    void **pointers;
    size_t n_products;

    /* For the ranking, by the model's users. */
    uint32_t *place; /* place of a user in the wanted list, plus one; 0: not there */
    uint8_t *is_wanted;

    struct ranking_items items;
    struct user_scores *scores; /* by place */
    struct ranking_sums sums;
    struct rank_users_found found;
    uint64_t n_wanted, n_had; /* test items of users that the model knows; those not looked for */
};

/* ---- errors of predictions ------------------------------------------------------------------- */

static double clamp(const struct factors *factors, double prediction) {
    if (prediction < factors->min) return factors->min;
    return prediction > factors->max ? factors->max : prediction;
}

static void add_user_errors(const struct evaluator *evaluator, const struct store_block *block,
                            uint32_t i, uint64_t user, struct block_sums *sums) {
    const struct dpmf_model *model = evaluator->model;
    const struct factor_matrix *items = &model->factors.items;
    const float *u = model_user_row(model, user);
    const double base = model_user_base(model, user);
    const uint64_t end = block->start[i + 1];
    const bool is_cold_user = model_user_is_placed(model, user);
    for (uint64_t r = block->start[i]; r < end; r++) {
        uint32_t item = evaluator->item_numbers[block->item[r]];
        uint64_t later = r + AHEAD < end ? r + AHEAD : r;
        uint32_t later_item = evaluator->item_numbers[block->item[later]];
        if (later_item != MODEL_NUMBERS_NONE)
            __builtin_prefetch(items->rows + later_item * items->stride);
        double prediction = base;
        if (item == MODEL_NUMBERS_NONE) {
            sums->unknown_items++;
        } else {
            prediction += (double)items->biases[item];
            if (u)
                prediction += (double)model->kernels->dot(u, items->rows + item * items->stride,
                                                          model->padded_k);
        }
        double difference = block->value[r] - clamp(&model->factors, prediction);
        sums->squares += difference * difference;
        sums->absolutes += fabs(difference);
        if (is_cold_user || model_item_is_placed(model, item)) {
            sums->cold_squares += difference * difference;
            sums->cold++;
        }
    }
    sums->n += end - block->start[i];
    if (!u) sums->unknown_users += end - block->start[i];
    sums->fitted_users += model_user_is_fitted(model, user);
}

/* Which of a user's ratings the model was trained on, of those that it has sampled alike. */
static void add_user_learned(const struct evaluator *evaluator, const struct store_block *block,
                             uint32_t i, struct block_sums *sums) {
    const uint64_t from = block->id_start[i];
    const uint64_t user =
        learned_pairs_hash(block->id_bytes + from, (size_t)(block->id_start[i + 1] - from));
    for (uint64_t r = block->start[i]; r < block->start[i + 1]; r++) {
        const uint64_t pair = learned_pairs_join(user, evaluator->item_hashes[block->item[r]]);
        if (!learned_pairs_samples(evaluator->known, pair)) continue;
        sums->sampled++;
        sums->learned += learned_pairs_has(evaluator->known, pair);
    }
}

static int hash_items(struct evaluator *evaluator, const struct dpmf_store *test,
                      struct dpmf_error *error) {
    const uint64_t n = store_n_items(test);
    if (!evaluator->known->hash) return 0;
    evaluator->item_hashes = memory_alloc((size_t)n + 1, sizeof(uint64_t));
    if (!evaluator->item_hashes) return error_no_memory(error);
    for (uint64_t i = 0; i < n; i++) {
        const struct store_item item = store_item_at(test, i);
        evaluator->item_hashes[i] = learned_pairs_hash(item.id, item.id_length);
    }
    return 0;
}

/* ---- what the ranking should find ------------------------------------------------------------ */

static int compare_numbers(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static bool add_wanted_user(struct wanted_list *list, uint64_t user, size_t n) {
    if (!memory_reserve(&list->users, &list->user_capacity, list->n_users + 1,
                        sizeof *list->users) ||
        !memory_reserve(&list->items, &list->item_capacity, list->n_items + n, sizeof *list->items))
        return false;
    list->users[list->n_users++] = (struct wanted_user){user, list->n_items, (uint32_t)n, 0};
    list->n_items += n;
    return true;
}

/* The number of a test item, known to the model or not. */
static uint32_t wanted_number(const struct evaluator *evaluator, uint32_t item) {
    const uint32_t number = evaluator->item_numbers[item];
    return number != MODEL_NUMBERS_NONE ? number
                                        : (uint32_t)evaluator->model->factors.items.n + item;
}

static bool want_user(const struct evaluator *evaluator, const struct store_block *block,
                      uint32_t i, uint64_t user, struct wanted_list *list) {
    size_t n = 0;
    for (uint64_t r = block->start[i]; r < block->start[i + 1]; r++)
        n += block->value[r] >= evaluator->like;
    if (!add_wanted_user(list, user, n)) return false;
    uint32_t *items = list->items + list->n_items - n, *next = items;
    for (uint64_t r = block->start[i]; r < block->start[i + 1]; r++)
        if (block->value[r] >= evaluator->like) *next++ = wanted_number(evaluator, block->item[r]);
    qsort(items, n, sizeof items[0], compare_numbers);
    return true;
}

static bool append_wanted(struct wanted_list *all, const struct wanted_list *block) {
    for (size_t i = 0; i < block->n_users; i++) {
        const struct wanted_user *user = &block->users[i];
        if (!add_wanted_user(all, user->user, user->n)) return false;
        memcpy(all->items + all->n_items - user->n, block->items + user->from,
               user->n * sizeof all->items[0]);
    }
    return true;
}

/* ---- the pass over the test set -------------------------------------------------------------- */

static int visit_block(void *self, int worker, const struct store_block *block, void *product,
                       struct dpmf_error *error) {
    const struct evaluator *evaluator = self;
    struct block_sums *sums = product;
    (void)worker;
    struct wanted_list wanted = sums->wanted;
    wanted.n_users = wanted.n_items = 0;
    *sums = (struct block_sums){.wanted = wanted};
    for (uint32_t i = 0; i < block->n_users; i++) {
        uint64_t user = model_numbers_user(evaluator->model, block, i);
        add_user_errors(evaluator, block, i, user, sums);
        if (evaluator->item_hashes) add_user_learned(evaluator, block, i, sums);
        if (evaluator->ranking == 0 || user == UINT64_MAX) continue;
        if (!want_user(evaluator, block, i, user, &sums->wanted)) return error_no_memory(error);
    }
    return 0;
}

static int finish_block(void *self, void *product, struct dpmf_error *error) {
    struct evaluator *evaluator = self;
    const struct block_sums *sums = product;
    struct block_sums *total = &evaluator->total;
    total->squares += sums->squares;
    total->absolutes += sums->absolutes;
    total->n += sums->n;
    total->unknown_users += sums->unknown_users;
    total->unknown_items += sums->unknown_items;
    total->cold_squares += sums->cold_squares;
    total->cold += sums->cold;
    total->fitted_users += sums->fitted_users;
    total->sampled += sums->sampled;
    total->learned += sums->learned;
    return append_wanted(&total->wanted, &sums->wanted) ? 0 : error_no_memory(error);
}

static int visit_test(struct evaluator *evaluator, struct dpmf_store *test,
                      const struct dpmf_run *run, struct dpmf_error *error) {
    evaluator->n_products = store_visit_products(test, run);
    evaluator->products = memory_alloc_zero(evaluator->n_products, sizeof *evaluator->products);
    evaluator->pointers = memory_alloc(evaluator->n_products, sizeof *evaluator->pointers);
    if (!evaluator->products || !evaluator->pointers) return error_no_memory(error);
    for (size_t i = 0; i < evaluator->n_products; i++)
        evaluator->pointers[i] = &evaluator->products[i];
    const struct store_visitor visitor = {"evaluating",
                                          STORE_WANT_VALUE | STORE_WANT_IDS,
                                          visit_block,
                                          finish_block,
                                          evaluator,
                                          evaluator->pointers,
                                          evaluator->n_products};
    return store_visit(test, &visitor, run, error);
}

/* ---- the ranking ----------------------------------------------------------------------------- */

/* In any thread: writes to this user's place alone. What the user has rated already is no longer
 * wanted. */
static int score_user(void *self, uint64_t user, const struct scorer *scorer, const uint8_t *seen,
                      const struct dpmf_scored_item *best, size_t n_best,
                      struct dpmf_error *error) {
    struct evaluator *evaluator = self;
    struct wanted_list *list = &evaluator->total.wanted;
    const uint32_t place = evaluator->place[user] - 1;
    struct wanted_user *wanted = &list->users[place];
    uint32_t *items = list->items + wanted->from;
    size_t n = 0;
    (void)scorer;
    (void)error;
    for (size_t j = 0; j < wanted->n; j++)
        if (!best_items_bit(seen, items[j])) items[n++] = items[j];
    wanted->n_had = wanted->n - (uint32_t)n;
    if (n > 0)
        ranking_user_judge(&evaluator->items, items, n, best, n_best, evaluator->ranking,
                           &evaluator->scores[place]);
    return 0;
}

static int place_wanted(struct evaluator *evaluator, struct dpmf_error *error) {
    uint64_t n_users = evaluator->model->factors.users.n;
    const struct wanted_list *list = &evaluator->total.wanted;
    evaluator->place = memory_alloc_zero((size_t)n_users, sizeof *evaluator->place);
    evaluator->is_wanted = memory_alloc_zero((size_t)(n_users / 8 + 1), 1);
    evaluator->scores = memory_alloc_zero(list->n_users, sizeof *evaluator->scores);
    if (!evaluator->place || !evaluator->is_wanted || !evaluator->scores)
        return error_no_memory(error);
    for (size_t i = 0; i < list->n_users; i++) {
        uint64_t user = list->users[i].user;
        evaluator->place[user] = (uint32_t)(i + 1);
        evaluator->is_wanted[user / 8] |= (uint8_t)(1 << user % 8);
    }
    return 0;
}

/* Popularity is what the history says of it. */
static int describe_items(struct evaluator *evaluator, const struct dpmf_store *history,
                          struct dpmf_error *error) {
    const uint64_t n = evaluator->model->factors.items.n;
    uint64_t *popularity = NULL;
    if (history) {
        popularity = memory_alloc_zero((size_t)n, sizeof *popularity);
        if (!popularity) return error_no_memory(error);
    }
    for (uint64_t i = 0; history && i < store_n_items(history); i++) {
        const struct store_item item = store_item_at(history, i);
        uint64_t number = dpmf_model_find_item(evaluator->model, item.id, item.id_length);
        if (number != UINT64_MAX) popularity[number] = item.n_ratings;
    }
    return ranking_items_init(&evaluator->items, n, popularity, error);
}

static int rank_all(struct evaluator *evaluator, const struct dpmf_store *test,
                    struct dpmf_store *history, const struct dpmf_run *run,
                    struct dpmf_error *error) {
    int code = place_wanted(evaluator, error);
    if (code == 0) code = describe_items(evaluator, history, error);
    if (code < 0) return code;
    const struct rank_users ranking = {.model = evaluator->model,
                                       .history = history,
                                       .order = evaluator->order,
                                       .wanted = evaluator->is_wanted,
                                       .beyond = evaluator->beyond,
                                       .n_beyond = store_n_items(test),
                                       .n = evaluator->ranking,
                                       .rank = score_user,
                                       .self = evaluator,
                                       .found = &evaluator->found};
    code = rank_users_run(&ranking, run, error);
    if (code < 0) return code;
    for (size_t i = 0; i < evaluator->total.wanted.n_users; i++) {
        ranking_sums_add(&evaluator->sums, &evaluator->scores[i], evaluator->ranking);
        evaluator->n_wanted += evaluator->total.wanted.users[i].n;
        evaluator->n_had += evaluator->total.wanted.users[i].n_had;
    }
    return 0;
}

/* Sums so far, of this process or of all of them, become means. */
static void finish(const struct evaluator *evaluator, struct dpmf_evaluation *evaluation) {
    const struct block_sums *total = &evaluator->total;
    double n = total->n > 0 ? (double)total->n : 1;
    evaluation->n = total->n;
    evaluation->rmse = evaluator->has_errors ? sqrt(total->squares / n) : NAN;
    evaluation->mae = evaluator->has_errors ? total->absolutes / n : NAN;
    evaluation->unknown_users = total->unknown_users;
    evaluation->unknown_items = total->unknown_items;
    evaluation->fitted_users = total->fitted_users;
    evaluation->sampled = total->sampled;
    evaluation->learned_share =
        total->sampled > 0 ? (double)total->learned / (double)total->sampled : NAN;
    evaluation->in_history = evaluator->n_had;
    evaluation->without_history = evaluator->found.without;
    const uint64_t warm = total->n - total->cold;
    evaluation->cold = total->cold;
    evaluation->cold_rmse = evaluator->has_errors && total->cold > 0
                                ? sqrt(total->cold_squares / (double)total->cold)
                                : NAN;
    evaluation->warm_rmse = evaluator->has_errors && warm > 0
                                ? sqrt((total->squares - total->cold_squares) / (double)warm)
                                : NAN;
    if (evaluator->ranking > 0)
        ranking_sums_finish(&evaluator->sums, &evaluator->items, evaluator->ranking, evaluation);
}

static uint64_t digest_side(const struct factor_matrix *side, const struct factor_ids *ids,
                            uint32_t k, uint64_t digest) {
    for (uint64_t i = 0; i < side->n; i++) /* as far as rows are, however they are laid out here */
        digest = checksum64_seeded(side->rows + i * side->stride, k * sizeof(float), digest);
    digest = checksum64_seeded(side->biases, (size_t)side->n * sizeof(float), digest);
    return checksum64_seeded(ids->bytes, side->n > 0 ? (size_t)ids->start[side->n] : 0, digest);
}

/* Ranks with different models, of which one may be an old copy, would add up errors of both. */
static int check_same(const struct evaluator *evaluator, struct dpmf_store *history,
                      const struct dpmf_cluster *cluster, struct dpmf_error *error) {
    const struct factors *factors = &evaluator->model->factors;
    const double scale[] = {factors->offset, factors->min, factors->max, evaluator->order.taste};
    const uint64_t counts[] = {factors->k,         factors->users.n, factors->items.n,
                               evaluator->ranking, history != NULL,  evaluator->order.by_rating};
    uint64_t digest = checksum64_seeded(scale, sizeof scale, checksum64(counts, sizeof counts));
    digest = digest_side(&factors->users, &factors->user_ids, factors->k, digest);
    digest = digest_side(&factors->items, &factors->item_ids, factors->k, digest);
    int code = cluster_check_same(cluster, digest, DPMF_ERR_USAGE_CONFLICT,
                                  "the processes of the cluster were given different models or "
                                  "options",
                                  "give all of them the same", error);
    return code == 0 && history ? user_shares_check_same(history, cluster, error) : code;
}

/* An item is used when it is in any process's lists. */
static int add_used_items(const struct dpmf_cluster *cluster, struct ranking_items *items,
                          struct dpmf_error *error) {
    uint64_t *used = memory_alloc((size_t)items->n, sizeof *used);
    int code = cluster_agree(cluster, used ? 0 : error_no_memory(error), error);
    for (uint64_t i = 0; code == 0 && i < items->n; i++) used[i] = atomic_load(&items->is_used[i]);
    if (code == 0) code = cluster_all_sum(cluster, used, (size_t)items->n, error);
    for (uint64_t i = 0; code == 0 && i < items->n; i++)
        atomic_store(&items->is_used[i], used[i] > 0);
    free(used);
    return code;
}

/* The sums of all processes of a cluster, each of which has some users of the test set. */
static int add_ranks(const struct dpmf_cluster *cluster, struct evaluator *evaluator,
                     struct dpmf_error *error) {
    struct block_sums *total = &evaluator->total;
    struct ranking_sums *ranking = &evaluator->sums;
    double sums[] = {total->squares, total->absolutes, total->cold_squares};
    uint64_t counts[] = {total->n,
                         total->unknown_users,
                         total->unknown_items,
                         total->cold,
                         total->fitted_users,
                         evaluator->found.users,
                         evaluator->found.without,
                         evaluator->n_wanted,
                         evaluator->n_had,
                         total->sampled,
                         total->learned};
    if (cluster_size(cluster) == 1) return 0;
    int code = cluster_sum_doubles(cluster, sums, 3, error);
    if (code == 0) code = cluster_all_sum(cluster, counts, sizeof counts / sizeof counts[0], error);
    total->squares = sums[0];
    total->absolutes = sums[1];
    total->n = counts[0];
    total->unknown_users = counts[1];
    total->unknown_items = counts[2];
    total->cold_squares = sums[2];
    total->cold = counts[3];
    total->fitted_users = counts[4];
    evaluator->found = (struct rank_users_found){counts[5], counts[6]};
    evaluator->n_wanted = counts[7];
    evaluator->n_had = counts[8];
    total->sampled = counts[9];
    total->learned = counts[10];
    if (code < 0 || evaluator->ranking == 0) return code;
    code = cluster_sum_doubles(cluster, (double *)&ranking->totals,
                               sizeof ranking->totals / sizeof(double), error);
    if (code == 0)
        code = cluster_all_sum(cluster, (uint64_t *)&ranking->counts,
                               sizeof ranking->counts / sizeof(uint64_t), error);
    return code == 0 ? add_used_items(cluster, &evaluator->items, error) : code;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void free_evaluator(struct evaluator *evaluator) {
    for (size_t i = 0; evaluator->products && i < evaluator->n_products; i++) {
        free(evaluator->products[i].wanted.users);
        free(evaluator->products[i].wanted.items);
    }
    free(evaluator->products);
    free(evaluator->pointers);
    free(evaluator->total.wanted.users);
    free(evaluator->total.wanted.items);
    free(evaluator->item_numbers);
    free(evaluator->item_hashes);
    free(evaluator->beyond);
    free(evaluator->place);
    free(evaluator->is_wanted);
    free(evaluator->scores);
    ranking_items_free(&evaluator->items);
}

/* What the history takes out of the ranking, or does not: test items that users have in it are not
 * looked for, and of users whom it does not have the lists hold what they had. Events may well
 * happen again. */
static void warn_of_history(const struct evaluator *evaluator, const struct dpmf_store *test,
                            const struct dpmf_store *history, bool has_no_user,
                            const struct dpmf_run *run) {
    const bool events = store_holds_events(test);
    char text[500];
    if (!history || !run->warn) return;
    if (!has_no_user)
        rank_users_warn(&evaluator->found, history, "the test set: nothing is left out for them",
                        run);
    if (evaluator->n_had == 0 || (events && 2 * evaluator->n_had <= evaluator->n_wanted)) return;
    snprintf(
        text, sizeof text,
        "%.300s: %llu of %llu %s to look for are in the history too: the ranking does not look "
        "for these",
        store_path(test), (unsigned long long)evaluator->n_had,
        (unsigned long long)evaluator->n_wanted, events ? "events" : "ratings");
    run->warn(run->warn_self, text);
}

/* An error on what was learned is no error on anything new. Someone may rate an item again, and
 * play it every day. */
static void warn_of_learned(const struct block_sums *total, const struct dpmf_store *test,
                            const struct dpmf_run *run) {
    const bool events = store_holds_events(test);
    const char *noun = events ? "events" : "ratings";
    char text[500];
    if (!run->warn || total->learned == 0 || (events && 2 * total->learned <= total->sampled))
        return;
    if (total->learned == total->sampled)
        snprintf(text, sizeof text,
                 "%.300s: the model was trained on these %s: this says nothing about new ones",
                 store_path(test), noun);
    else
        snprintf(text, sizeof text,
                 "%.300s: the model was trained on about %.2g %% of these %s: this says less "
                 "about new ones",
                 store_path(test), 100 * (double)total->learned / (double)total->sampled, noun);
    run->warn(run->warn_self, text);
}

/* `has_no_user`: the history is known to have none of the test set. */
static int evaluate_with_users(const struct dpmf_model *model, struct dpmf_store *test,
                               struct dpmf_store *history, bool has_no_user,
                               const struct dpmf_evaluate_options *options,
                               const struct dpmf_run *run, struct dpmf_evaluation *evaluation,
                               struct dpmf_error *error) {
    struct evaluator evaluator = {
        .model = model,
        .ranking = options->ranking,
        .like = store_least_event(test, options->has_like ? options->like : -INFINITY),
        .has_errors = model_predicts_ratings(model) && !store_holds_events(test),
        .known = &model->factors.learned,
    };
    *evaluation = (struct dpmf_evaluation){0};
    const struct dpmf_cluster *cluster = run->cluster;
    struct dpmf_store *share = NULL;
    uint64_t first_user;
    int code = score_order_find(model, options ? options->order : NULL, &evaluator.order, error);
    if (code == 0 && store_n_ratings(test) == 0)
        code = error_set(error, DPMF_ERR_RATINGS_NONE_LEFT, "there are no %s to evaluate with",
                         store_holds_events(test) ? "events" : "ratings");
    if (code == 0 && options->has_like && store_holds_events(test)) {
        code = error_set(error, DPMF_ERR_USAGE_CONFLICT,
                         "this holds events, to which likes do not apply");
        error_hint(error, "leave {like} out");
        error_place(error, store_path(test), 0, 0);
    }
    if (code == 0 && store_holds_events(test) && model_predicts_ratings(model) &&
        evaluator.ranking == 0) {
        code = error_set(error, DPMF_ERR_USAGE_CONFLICT,
                         "this holds events, and there are no ratings to compare predictions with");
        error_hint(error, "measure how well they are ranked, with {ranking}");
        error_place(error, store_path(test), 0, 0);
    }
    if (code == 0 && evaluator.ranking > RANKING_MAX)
        code = error_set(error, DPMF_ERR_USAGE_VALUE, "a ranking of more than %d items",
                         (int)RANKING_MAX);
    if (code == 0 && !store_holds_events(test)) code = model_numbers_scale(model, test, run, error);
    if (cluster_size(cluster) > 1) {
        if (code == 0) code = user_shares_check_store(test, cluster, error);
        code = cluster_agree(cluster, code, error);
        if (code == 0) code = check_same(&evaluator, history, cluster, error);
        if (code == 0) code = user_shares_take(test, cluster, &share, &first_user, error);
        test = share;
    }
    if (code == 0) code = model_numbers_items(model, test, &evaluator.item_numbers, error);
    if (code == 0 && evaluator.ranking > 0)
        code = model_numbers_beyond(model, test, history, &evaluator.beyond, error);
    if (code == 0) code = hash_items(&evaluator, test, error);
    if (code == 0) code = visit_test(&evaluator, test, run, error);
    if (code == 0 && evaluator.ranking > 0) code = rank_all(&evaluator, test, history, run, error);
    code = cluster_agree(cluster, code, error);
    if (code == 0) code = add_ranks(cluster, &evaluator, error);
    if (code == 0) finish(&evaluator, evaluation);
    if (code == 0) warn_of_learned(&evaluator.total, test, run);
    if (code == 0 && evaluation->ranked_users > 0)
        warn_of_history(&evaluator, test, history, has_no_user, run);
    free_evaluator(&evaluator);
    dpmf_store_close(share);
    return code;
}

void dpmf_evaluate_options_init(struct dpmf_evaluate_options *options, size_t size) {
    const struct dpmf_evaluate_options made = {.size = sizeof made};
    options_give(options, size, &made, sizeof made);
}

/* Each process would fit everyone. */
static int check_alone(const struct dpmf_cluster *cluster, struct dpmf_error *error) {
    int code =
        cluster_check_alone(cluster, "a release with a history is evaluated in a single process",
                            "run it once, without mpirun", error);
    return cluster_agree(cluster, code, error);
}

/* Who is fitted to the very ratings that are then predicted says nothing about others. Someone may
 * rate an item again, so that only what is nearly all the same is refused. */
static int check_fitted(const struct dpmf_store *history, const struct dpmf_store *test,
                        const struct dpmf_run *run, struct compare_common *common,
                        struct dpmf_error *error) {
    const uint64_t n = store_n_ratings(test);
    const bool events = store_holds_events(test);
    char text[DPMF_ERROR_TEXT_MAX];
    int code = compare_stores(history, test, common, error);
    if (code < 0 || n == 0) return code;
    if (events ? common->same == n : 4 * common->same > 3 * n) {
        error_set(error, DPMF_ERR_USAGE_CONFLICT,
                  "%llu of %llu %s are in the history too, which users are fitted to",
                  (unsigned long long)common->same, (unsigned long long)n,
                  events ? "events" : "ratings");
        error_hint(error, "give both halves of one {:split}");
        error_place(error, store_path(test), 0, 0);
        return DPMF_ERR_USAGE_CONFLICT;
    }
    if (!run->warn) return 0;
    if (common->pairs > 0 && (!events || 2 * common->pairs > n)) {
        snprintf(text, sizeof text,
                 "%.300s: %llu of %llu %s are in the history too, which users are fitted to",
                 store_path(test), (unsigned long long)common->pairs, (unsigned long long)n,
                 events ? "events" : "ratings");
        run->warn(run->warn_self, text);
    }
    if (common->users == 0) {
        snprintf(text, sizeof text, "%.300s: it has none of the users of the test set",
                 store_path(history));
        run->warn(run->warn_self, text);
    }
    return 0;
}

/* Users of the history whom the model does not know are fitted first, as they would do at home; to
 * a release these are all. */
int dpmf_model_evaluate(const struct dpmf_model *model, struct dpmf_store *test,
                        struct dpmf_store *history, const struct dpmf_evaluate_options *options,
                        const struct dpmf_run *run, struct dpmf_evaluation *evaluation,
                        struct dpmf_error *error) {
    struct dpmf_evaluate_options own = dpmf_evaluate_options_default();
    struct dpmf_run own_run;
    int code = arguments_check(error, "model test evaluation", model, test, evaluation);
    if (code == 0) code = options_take(&own, sizeof own, options, "evaluate_options", error);
    if (code == 0) code = run_take(&own_run, run, error);
    if (code < 0) return code;
    options = &own, run = &own_run;
    if (history) code = dpmf_store_check_apart(history, test, error);
    if (code < 0) return code;
    struct compare_common common = {0};
    struct dpmf_model folded;
    const struct dpmf_model *fitted;
    *evaluation = (struct dpmf_evaluation){0};
    if (model->kind == MODEL_RELEASE && history) code = check_alone(run->cluster, error);
    if (code < 0) return code;
    code = fold_users_make(model, history, run, &folded, &fitted, error);
    if (code == 0 && fitted != model) code = check_fitted(history, test, run, &common, error);
    code = cluster_agree(run->cluster, code, error);
    if (code == 0)
        code = evaluate_with_users(fitted, test, history, fitted != model && common.users == 0,
                                   options, run, evaluation, error);
    evaluation->shared = common.pairs;
    fold_users_free(&folded);
    return code;
}
