/*
 * Ranks one wanted item of each row among the row's others, as much of the literature does (He et
 * al. 2017). Rows keep ids, for the users of a release exist only once their history is fitted.
 * Scores are taken in double, and of equal ones the wanted item's is the last, so that a model
 * gains nothing from being coarse. A row is a set: sampled negatives may repeat, or hit the wanted
 * item, and count once. Fed by rows of a table and a model; feeds `evaluate`.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/error.h"
#include "base/memory.h"
#include "cluster/cluster.h"
#include "dpmf_text.h"
#include "evaluate/fold_users.h"
#include "evaluate/rank_users.h"
#include "evaluate/ranking_scores.h"
#include "recommend/best_items.h"
#include "recommend/model.h"

enum { ROW_LEAST = 3 /* a user, the wanted item, one other */ };

/* Row r has the ids row_start[r] .. row_start[r + 1] - 1; id i is bytes[id_end[i - 1]] .. id_end[i]
 * - 1. */
struct dpmf_candidates {
    uint64_t *row_start;
    uint64_t *id_end;
    char *bytes;
    size_t n_rows, n_ids, n_bytes, row_capacity, id_capacity, byte_capacity;
};

/* ---- rows ------------------------------------------------------------------------------------ */

int dpmf_candidates_new(struct dpmf_candidates **candidates, struct dpmf_error *error) {
    int code = arguments_check(error, "candidates", candidates);
    if (code < 0) return code;
    *candidates = memory_alloc_zero(1, sizeof **candidates);
    if (!*candidates) return error_no_memory(error);
    (*candidates)->row_start = memory_alloc_zero(1, sizeof *(*candidates)->row_start);
    (*candidates)->row_capacity = 1;
    if ((*candidates)->row_start) return 0;
    free(*candidates);
    *candidates = NULL;
    return error_no_memory(error);
}

void dpmf_candidates_free(struct dpmf_candidates *candidates) {
    if (!candidates) return;
    free(candidates->row_start);
    free(candidates->id_end);
    free(candidates->bytes);
    free(candidates);
}

static int fail(const struct dpmf_table_record *row, int64_t column, int code, const char *message,
                const char *hint, struct dpmf_error *error) {
    error_set(error, code, "%s", message);
    error_hint(error, "%s", hint);
    error_place(error, row->file, row->line, column);
    return code;
}

static int check_row(const struct dpmf_table_record *row, struct dpmf_error *error) {
    if (row->n < ROW_LEAST)
        return fail(row, 0, DPMF_ERR_INPUT_COLUMNS, "there are fewer than three ids in this row",
                    "each row has a user, the wanted item, and others to rank it among", error);
    for (size_t i = 0; i < row->n; i++)
        if (row->field[i].length == 0)
            return fail(row, row->field[i].column, DPMF_ERR_INPUT_ID, "the id is empty",
                        "leave out commas at the end of a row", error);
    return 0;
}

int dpmf_candidates_add(struct dpmf_candidates *candidates, const struct dpmf_table_record *row,
                        struct dpmf_error *error) {
    int code = arguments_check(error, "candidates row", candidates, row);
    if (code == 0) code = check_row(row, error);
    if (code < 0) return code;
    size_t bytes = 0;
    for (size_t i = 0; i < row->n; i++) bytes += row->field[i].length;
    if (!memory_reserve(&candidates->row_start, &candidates->row_capacity, candidates->n_rows + 2,
                        sizeof *candidates->row_start) ||
        !memory_reserve(&candidates->id_end, &candidates->id_capacity, candidates->n_ids + row->n,
                        sizeof *candidates->id_end) ||
        !memory_reserve(&candidates->bytes, &candidates->byte_capacity, candidates->n_bytes + bytes,
                        1))
        return error_no_memory(error);
    for (size_t i = 0; i < row->n; i++) {
        memcpy(candidates->bytes + candidates->n_bytes, row->field[i].text, row->field[i].length);
        candidates->n_bytes += row->field[i].length;
        candidates->id_end[candidates->n_ids++] = candidates->n_bytes;
    }
    candidates->row_start[++candidates->n_rows] = candidates->n_ids;
    return 0;
}

static const char *id_at(const struct dpmf_candidates *candidates, uint64_t i, size_t *length) {
    const uint64_t from = i > 0 ? candidates->id_end[i - 1] : 0;
    *length = (size_t)(candidates->id_end[i] - from);
    return candidates->bytes + from;
}

/* ---- one row --------------------------------------------------------------------------------- */

struct placed {
    uint64_t place;          /* place of the wanted item, from 1; 0: the model does not know it */
    uint64_t others;         /* that the model knows */
    uint64_t unknown_others; /* that it does not */
    bool user_known, user_fitted, in_history;
};

/* A row and its user's number; rows of one user lie together. */
struct user_row {
    uint64_t user;
    size_t row;
};

struct placing {
    const struct dpmf_model *model;
    const struct dpmf_candidates *candidates;
    struct placed *rows;
    struct user_row *order; /* by user */
    uint8_t *is_wanted;     /* a bitmap of the users */
};

static int compare_items(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* @return how many different ones there are */
static uint64_t count_distinct(uint64_t *items, size_t n) {
    uint64_t distinct = n > 0;
    qsort(items, n, sizeof *items, compare_items);
    for (size_t i = 1; i < n; i++) distinct += items[i] != items[i - 1];
    return distinct;
}

static uint64_t find_item(const struct placing *placing, uint64_t id) {
    size_t length;
    const char *text = id_at(placing->candidates, id, &length);
    return dpmf_model_find_item(placing->model, text, length);
}

/* What is no number ranks last, as in recommend. */
static double score_of(const struct scoring *scoring, uint64_t item) {
    const double score = scoring_exact(scoring, item);
    return isnan(score) ? -INFINITY : score;
}

static int place_row(const struct placing *placing, size_t r, const struct scoring *scoring,
                     const uint8_t *seen, struct dpmf_error *error) {
    const struct dpmf_candidates *candidates = placing->candidates;
    const uint64_t first = candidates->row_start[r], end = candidates->row_start[r + 1];
    const uint64_t wanted = find_item(placing, first + 1);
    struct placed *placed = &placing->rows[r];
    size_t n = 0;
    for (uint64_t i = first + 2; i < end; i++) {
        const uint64_t item = find_item(placing, i);
        placed->unknown_others += item == UINT64_MAX;
        placed->others += item != UINT64_MAX && item != wanted;
    }
    if (wanted == UINT64_MAX) return 0;
    placed->in_history = seen && best_items_bit(seen, wanted);
    uint64_t *ahead = memory_alloc((size_t)(end - first), sizeof *ahead);
    if (!ahead) return error_no_memory(error);
    const double score = score_of(scoring, wanted);
    for (uint64_t i = first + 2; i < end; i++) {
        const uint64_t item = find_item(placing, i);
        if (item != UINT64_MAX && item != wanted && score_of(scoring, item) >= score)
            ahead[n++] = item;
    }
    placed->place = 1 + count_distinct(ahead, n);
    free(ahead);
    return 0;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static int compare_rows(const void *a, const void *b) {
    const struct user_row *x = a, *y = b;
    if (x->user != y->user) return x->user < y->user ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static int sort_rows(struct placing *placing, struct dpmf_error *error) {
    const struct dpmf_candidates *candidates = placing->candidates;
    const size_t n = candidates->n_rows;
    const uint64_t n_users = placing->model->factors.users.n;
    placing->rows = memory_alloc_zero(n, sizeof *placing->rows);
    placing->order = memory_alloc(n, sizeof *placing->order);
    placing->is_wanted = memory_alloc_zero((size_t)(n_users / 8 + 1), 1);
    if (!placing->rows || !placing->order || !placing->is_wanted) return error_no_memory(error);
    for (size_t r = 0; r < n; r++) {
        size_t length;
        const char *id = id_at(candidates, candidates->row_start[r], &length);
        const uint64_t user = dpmf_model_find_user(placing->model, id, length);
        placing->order[r] = (struct user_row){user, r};
        placing->rows[r].user_known = user != UINT64_MAX;
        placing->rows[r].user_fitted = model_user_is_fitted(placing->model, user);
        if (user != UINT64_MAX) placing->is_wanted[user / 8] |= (uint8_t)(1u << user % 8);
    }
    qsort(placing->order, n, sizeof *placing->order, compare_rows);
    return 0;
}

/* The first of a user's rows in the order. */
static size_t first_of(const struct placing *placing, uint64_t user) {
    size_t low = 0, high = placing->candidates->n_rows;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (placing->order[middle].user < user)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* In any thread: writes to this user's rows alone. */
static int place_user(void *self, uint64_t user, const struct scorer *scorer, const uint8_t *seen,
                      const struct dpmf_scored_item *best, size_t n, struct dpmf_error *error) {
    const struct placing *placing = self;
    const size_t n_rows = placing->candidates->n_rows;
    int code = 0;
    (void)best, (void)n;
    for (size_t i = first_of(placing, user);
         code == 0 && i < n_rows && placing->order[i].user == user; i++)
        code = place_row(placing, placing->order[i].row, &scorer->scoring, seen, error);
    return code;
}

/* Whom the model does not know is ranked as anyone. */
static int place_strangers(struct placing *placing, const struct dpmf_order *order,
                           struct dpmf_error *error) {
    const struct person anyone = {0};
    struct scorer scorer;
    int code = scorer_init(&scorer, placing->model, error);
    if (code < 0) return code;
    scorer_set(&scorer, &anyone, order);
    code = place_user(placing, UINT64_MAX, &scorer, NULL, NULL, 0, error);
    scorer_free(&scorer);
    return code;
}

static int place_all(struct placing *placing, const struct dpmf_store *history,
                     const struct dpmf_order *order, const struct dpmf_run *run,
                     struct dpmf_error *error) {
    struct rank_users_found found = {0};
    const struct rank_users ranking = {.model = placing->model,
                                       .history = history,
                                       .order = *order,
                                       .wanted = placing->is_wanted,
                                       .rank = place_user,
                                       .self = placing,
                                       .found = &found};
    int code = place_strangers(placing, order, error);
    if (code < 0 || placing->model->factors.users.n == 0) return code;
    code = rank_users_run(&ranking, run, error);
    if (code == 0 && !placing->model->state.ranks)
        rank_users_warn(&found, history, "the candidates: ranked without what they chose", run);
    return code;
}

static void average(const struct placing *placing, uint32_t n,
                    struct dpmf_candidates_evaluation *evaluation) {
    const size_t n_rows = placing->candidates->n_rows;
    evaluation->rows = n_rows;
    for (size_t r = 0; r < n_rows; r++) {
        const struct placed *placed = &placing->rows[r];
        evaluation->unknown_users += !placed->user_known;
        evaluation->fitted_users += placed->user_fitted;
        evaluation->unknown_items += placed->place == 0;
        evaluation->unknown_others += placed->unknown_others;
        evaluation->alone += placed->place > 0 && placed->others == 0;
        evaluation->in_history += placed->in_history;
        if (placed->place == 0 || placed->place > n) continue;
        evaluation->hr += 1;
        evaluation->ndcg += 1 / log2((double)placed->place + 1);
        evaluation->mrr += 1 / (double)placed->place;
    }
    evaluation->hr /= (double)n_rows;
    evaluation->ndcg /= (double)n_rows;
    evaluation->mrr /= (double)n_rows;
}

static int check_use(const struct dpmf_candidates *candidates, uint32_t n,
                     const struct dpmf_run *run, struct dpmf_error *error) {
    if (n < 1 || n > RANKING_MAX)
        return error_set(error, DPMF_ERR_USAGE_VALUE, "the ranking must be of 1 to %d items",
                         (int)RANKING_MAX);
    if (candidates->n_rows == 0) {
        int code = error_set(error, DPMF_ERR_INPUT_EMPTY, "there are no candidates to rank");
        error_hint(error, "each row has a user, the wanted item, and others to rank it among");
        return code;
    }
    int code = cluster_check_alone(run->cluster, "candidates are ranked in a single process",
                                   "run it once, without mpirun", error);
    return cluster_agree(run->cluster, code, error);
}

static void warn_of_rows(const struct dpmf_run *run, uint64_t n, uint64_t rows, const char *what) {
    char text[200];
    if (!run->warn || n == 0) return;
    snprintf(text, sizeof text, "%llu of %llu rows %s", (unsigned long long)n,
             (unsigned long long)rows, what);
    run->warn(run->warn_self, text);
}

/* First among nothing is no success, and what users are fitted to is not held out. */
static int check_found(const struct dpmf_candidates_evaluation *found, bool are_fitted,
                       const struct dpmf_run *run, struct dpmf_error *error) {
    if (found->alone > 0 && found->alone + found->unknown_items == found->rows) {
        error_set(error, DPMF_ERR_INPUT_ID,
                  "no row has an item to rank the wanted one among: the model knows none of them");
        error_hint(error, "each row has a user, the wanted item, and others to rank it among, all "
                          "as the model spells them");
        return DPMF_ERR_INPUT_ID;
    }
    if (are_fitted && 4 * found->in_history > 3 * found->rows) {
        error_set(error, DPMF_ERR_USAGE_CONFLICT,
                  "the wanted items of %llu of %llu rows are in the history, which users are "
                  "fitted to",
                  (unsigned long long)found->in_history, (unsigned long long)found->rows);
        error_hint(error, "give a history without what was held out");
        return DPMF_ERR_USAGE_CONFLICT;
    }
    warn_of_rows(run, found->alone, found->rows,
                 "have no other item that the model knows: their wanted item comes first");
    warn_of_rows(run, found->in_history, found->rows,
                 "have a wanted item that their user has in the history, which is no test");
    return 0;
}

int dpmf_model_rank_candidates(const struct dpmf_model *model,
                               const struct dpmf_candidates *candidates, struct dpmf_store *history,
                               const struct dpmf_order *asked, uint32_t n,
                               const struct dpmf_run *run,
                               struct dpmf_candidates_evaluation *evaluation,
                               struct dpmf_error *error) {
    struct dpmf_run own_run;
    int code = arguments_check(error, "model candidates evaluation", model, candidates, evaluation);
    if (code == 0) code = run_take(&own_run, run, error);
    if (code < 0) return code;
    run = &own_run;
    struct placing placing = {.candidates = candidates};
    struct dpmf_model folded;
    struct dpmf_order order;
    *evaluation = (struct dpmf_candidates_evaluation){0};
    code = check_use(candidates, n, run, error);
    if (code == 0) code = score_order_find(model, asked, &order, error);
    if (code == 0) code = fold_users_make(model, history, run, &folded, &placing.model, error);
    if (code < 0) return code;
    code = sort_rows(&placing, error);
    if (code == 0) code = place_all(&placing, history, &order, run, error);
    if (code == 0) average(&placing, n, evaluation);
    if (code == 0) code = check_found(evaluation, placing.model != model, run, error);
    free(placing.rows);
    free(placing.order);
    free(placing.is_wanted);
    fold_users_free(&folded);
    return code;
}
