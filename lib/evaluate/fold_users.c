/*
 * Fits the users of a history whom a model does not know, block by block with all threads; each
 * user's row depends on their own ratings alone, so the result does not depend on the threads. Of a
 * release these are all; of a checkpoint those it was not trained on, and their rows come after its
 * own. Fed by a model and a store; feeds evaluation and ranking, which take what comes out for any
 * other model.
 */
#include "evaluate/fold_users.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "evaluate/model_numbers.h"
#include "model/factors.h"
#include "recommend/ridge.h"

enum { SPARE_ROWS = 1 }; /* kernels may read a row ahead */

/* What a block's visit needs, and the ids on their way to the model. */
struct piece {
    struct dpmf_own_rating *ratings;
    char *id_bytes;
    uint64_t *id_end; /* in id_bytes */
    size_t n_users, rating_capacity, byte_capacity, end_capacity;
};

#define NOT_FITTED UINT64_MAX

struct folding {
    const struct dpmf_model *model;
    struct dpmf_model *folded;
    const struct dpmf_store *history;
    uint32_t *item_numbers;
    uint64_t *row_of; /* by user of the history: the row of `folded`, or NOT_FITTED */
    uint64_t n_fitted;
    struct piece *pieces;
    void **pointers;
    size_t n_pieces, byte_capacity;
};

/* ---- who is fitted --------------------------------------------------------------------------- */

/* Whether the model can learn something from a rating: someone without any such stays unknown, as
 * for recommendations. */
static bool is_of_use(const struct folding *folding, const struct store_block *block, uint64_t r) {
    return folding->item_numbers[block->item[r]] != MODEL_NUMBERS_NONE &&
           model_is_event(folding->model,
                          model_numbers_rating(folding->model, folding->history, block->value[r]));
}

static bool is_new(const struct folding *folding, const struct store_block *block, uint32_t i) {
    if (folding->model->kind == MODEL_RELEASE) return true;
    if (model_numbers_user(folding->model, block, i) != UINT64_MAX) return false;
    for (uint64_t r = block->start[i]; r < block->start[i + 1]; r++)
        if (is_of_use(folding, block, r)) return true;
    return false;
}

static int mark_new(void *self, int worker, const struct store_block *block, void *product,
                    struct dpmf_error *error) {
    const struct folding *folding = self;
    (void)worker, (void)product, (void)error;
    for (uint32_t i = 0; i < block->n_users; i++)
        folding->row_of[block->first_user + i] = is_new(folding, block, i) ? 0 : NOT_FITTED;
    return 0;
}

static int finish_marking(void *self, void *product, struct dpmf_error *error) {
    (void)self, (void)product, (void)error;
    return 0;
}

/* Rows in the order of the history, after those of the model. */
static int number_rows(struct folding *folding, const struct dpmf_run *run,
                       struct dpmf_error *error) {
    const uint64_t n = store_n_users(folding->history);
    const struct store_visitor visitor = {"looking up",     STORE_WANT_VALUE | STORE_WANT_IDS,
                                          mark_new,         finish_marking,
                                          folding,          folding->pointers,
                                          folding->n_pieces};
    folding->row_of = memory_alloc((size_t)n, sizeof *folding->row_of);
    if (!folding->row_of) return error_no_memory(error);
    int code = store_visit(folding->history, &visitor, run, error);
    for (uint64_t i = 0; code == 0 && i < n; i++)
        if (folding->row_of[i] != NOT_FITTED)
            folding->row_of[i] = folding->model->factors.users.n + folding->n_fitted++;
    return code;
}

/* ---- one block ------------------------------------------------------------------------------- */

static int fit_user(const struct folding *folding, const struct dpmf_own_rating *ratings, size_t n,
                    uint64_t user, struct dpmf_error *error) {
    struct factor_matrix *users = &folding->folded->factors.users;
    struct ridge ridge;
    double *w = NULL;
    int code = ridge_init(&ridge, folding->model, ratings, n, error);
    if (code == 0) {
        w = memory_alloc(ridge.n + ridge.width, sizeof(double));
        if (!w) code = error_no_memory(error);
    }
    if (code == 0) {
        ridge_solve(&ridge, w);
        users->biases[user] = (float)w[0];
        for (size_t c = 1; c < ridge.width; c++)
            users->rows[user * users->stride + c - 1] = (float)w[c];
    }
    free(w);
    ridge_free(&ridge);
    return code;
}

static int keep_id(struct piece *piece, const struct store_block *block, uint32_t i,
                   struct dpmf_error *error) {
    const size_t at = piece->n_users > 0 ? (size_t)piece->id_end[piece->n_users - 1] : 0;
    const size_t length = (size_t)(block->id_start[i + 1] - block->id_start[i]);
    if (!memory_reserve(&piece->id_bytes, &piece->byte_capacity, at + length + 1, 1) ||
        !memory_reserve(&piece->id_end, &piece->end_capacity, piece->n_users + 1,
                        sizeof *piece->id_end))
        return error_no_memory(error);
    memcpy(piece->id_bytes + at, block->id_bytes + block->id_start[i], length);
    piece->id_end[piece->n_users++] = at + length;
    return 0;
}

static int visit_user(const struct folding *folding, const struct store_block *block, uint32_t i,
                      struct piece *piece, struct dpmf_error *error) {
    const uint64_t from = block->start[i], end = block->start[i + 1];
    const uint64_t row = folding->row_of[block->first_user + i];
    size_t n = 0;
    if (row == NOT_FITTED) return 0;
    if (!memory_reserve(&piece->ratings, &piece->rating_capacity, (size_t)(end - from) + 1,
                        sizeof piece->ratings[0]))
        return error_no_memory(error);
    for (uint64_t r = from; r < end; r++)
        if (is_of_use(folding, block, r))
            piece->ratings[n++] = (struct dpmf_own_rating){
                folding->item_numbers[block->item[r]],
                model_numbers_rating(folding->model, folding->history, block->value[r])};
    int code = keep_id(piece, block, i, error);
    return code == 0 ? fit_user(folding, piece->ratings, n, row, error) : code;
}

static int visit_block(void *self, int worker, const struct store_block *block, void *product,
                       struct dpmf_error *error) {
    const struct folding *folding = self;
    struct piece *piece = product;
    int code = 0;
    (void)worker;
    piece->n_users = 0;
    for (uint32_t i = 0; i < block->n_users && code == 0; i++)
        code = visit_user(folding, block, i, piece, error);
    return code;
}

static int finish_block(void *self, void *product, struct dpmf_error *error) {
    struct folding *folding = self;
    const struct piece *piece = product;
    struct factor_ids *ids = &folding->folded->factors.user_ids;
    if (piece->n_users == 0) return 0;
    uint64_t first = ids->start[ids->n], bytes = piece->id_end[piece->n_users - 1];
    if (!memory_reserve(&ids->bytes, &folding->byte_capacity, (size_t)(first + bytes) + 1, 1))
        return error_no_memory(error);
    memcpy(ids->bytes + first, piece->id_bytes, (size_t)bytes);
    for (size_t i = 0; i < piece->n_users; i++)
        ids->start[ids->n + i + 1] = first + piece->id_end[i];
    ids->n += piece->n_users;
    return 0;
}

/* ---- all of them ----------------------------------------------------------------------------- */

static int make_pieces(struct folding *folding, const struct dpmf_run *run,
                       struct dpmf_error *error) {
    folding->n_pieces = store_visit_products(folding->history, run);
    folding->pieces = memory_alloc_zero(folding->n_pieces, sizeof *folding->pieces);
    folding->pointers = memory_alloc(folding->n_pieces, sizeof *folding->pointers);
    if (!folding->pieces || !folding->pointers) return error_no_memory(error);
    for (size_t i = 0; i < folding->n_pieces; i++) folding->pointers[i] = &folding->pieces[i];
    return model_numbers_items(folding->model, folding->history, &folding->item_numbers, error);
}

/* The model's own users come first. */
static int copy_users(struct folding *folding, struct dpmf_error *error) {
    const struct factors *from = &folding->model->factors;
    struct factors *to = &folding->folded->factors;
    const uint64_t n = from->users.n;
    const size_t n_bytes = n > 0 ? (size_t)from->user_ids.start[n] : 0;
    int code = factor_matrix_init(&to->users, n + folding->n_fitted, from->items.stride, SPARE_ROWS,
                                  error);
    if (code < 0) return code;
    to->user_ids.start = memory_alloc_zero((size_t)(n + folding->n_fitted) + 1, sizeof(uint64_t));
    if (!to->user_ids.start ||
        !memory_reserve(&to->user_ids.bytes, &folding->byte_capacity, n_bytes + 1, 1))
        return error_no_memory(error);
    to->user_ids.n = n;
    folding->folded->fitted_users = folding->n_fitted;
    if (n == 0) return 0;
    memcpy(to->user_ids.start, from->user_ids.start, ((size_t)n + 1) * sizeof(uint64_t));
    memcpy(to->user_ids.bytes, from->user_ids.bytes, n_bytes);
    memcpy(to->users.biases, from->users.biases, (size_t)n * sizeof(float));
    for (uint64_t i = 0; i < n; i++)
        memcpy(to->users.rows + i * to->users.stride, from->users.rows + i * from->users.stride,
               from->k * sizeof(float));
    return 0;
}

static void free_folding(struct folding *folding) {
    for (size_t i = 0; folding->pieces && i < folding->n_pieces; i++) {
        free(folding->pieces[i].ratings);
        free(folding->pieces[i].id_bytes);
        free(folding->pieces[i].id_end);
    }
    free(folding->pieces);
    free(folding->pointers);
    free(folding->item_numbers);
    free(folding->row_of);
}

static int fit_all(struct folding *folding, const struct dpmf_run *run, struct dpmf_error *error) {
    const struct store_visitor visitor = {"folding in",     STORE_WANT_VALUE | STORE_WANT_IDS,
                                          visit_block,      finish_block,
                                          folding,          folding->pointers,
                                          folding->n_pieces};
    int code = copy_users(folding, error);
    if (code == 0) code = store_visit(folding->history, &visitor, run, error);
    return code == 0 ? factor_ids_index(&folding->folded->factors.user_ids, error) : code;
}

int fold_users_make(const struct dpmf_model *model, const struct dpmf_store *history,
                    const struct dpmf_run *run, struct dpmf_model *folded,
                    const struct dpmf_model **fitted, struct dpmf_error *error) {
    struct folding folding = {.model = model, .folded = folded, .history = history};
    *folded = *model;
    folded->factors.users = (struct factor_matrix){0};
    folded->factors.user_ids = (struct factor_ids){0};
    *fitted = model;
    if (!history) return 0;
    int code = model_numbers_check(model, history, run, error);
    if (code == 0) code = make_pieces(&folding, run, error);
    if (code == 0) code = number_rows(&folding, run, error);
    if (code == 0 && (folding.n_fitted > 0 || model->kind == MODEL_RELEASE)) {
        code = fit_all(&folding, run, error);
        *fitted = folded;
    }
    free_folding(&folding);
    if (code < 0) fold_users_free(folded);
    return code;
}

void fold_users_free(struct dpmf_model *folded) {
    factor_matrix_free(&folded->factors.users);
    factor_ids_free(&folded->factors.user_ids);
}
