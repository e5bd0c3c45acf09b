/*
 * Fits all users of a history to a release, block by block with all threads; each user's row
 * depends on their own ratings alone, so the result does not depend on the threads. Fed by a
 * release and a store; feeds evaluation and ranking, which take what comes out for any other model.
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

struct folding {
    const struct dpmf_model *model;
    struct dpmf_model *folded;
    const struct dpmf_store *history;
    uint32_t *item_numbers;
    struct piece *pieces;
    void **pointers;
    size_t n_pieces, byte_capacity;
};

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

static int keep_ids(struct piece *piece, const struct store_block *block,
                    struct dpmf_error *error) {
    size_t n = block->n_users;
    const uint64_t *start = block->id_start;
    size_t bytes = (size_t)(start[n] - start[0]);
    if (!memory_reserve(&piece->id_bytes, &piece->byte_capacity, bytes + 1, 1) ||
        !memory_reserve(&piece->id_end, &piece->end_capacity, n + 1, sizeof *piece->id_end))
        return error_no_memory(error);
    memcpy(piece->id_bytes, block->id_bytes + start[0], bytes);
    for (size_t i = 0; i < n; i++) piece->id_end[i] = start[i + 1] - start[0];
    piece->n_users = n;
    return 0;
}

static int visit_block(void *self, int worker, const struct store_block *block, void *product,
                       struct dpmf_error *error) {
    const struct folding *folding = self;
    struct piece *piece = product;
    (void)worker;
    int code = keep_ids(piece, block, error);
    for (uint32_t i = 0; i < block->n_users && code == 0; i++) {
        uint64_t from = block->start[i], end = block->start[i + 1];
        size_t n = 0;
        if (!memory_reserve(&piece->ratings, &piece->rating_capacity, (size_t)(end - from) + 1,
                            sizeof piece->ratings[0]))
            return error_no_memory(error);
        for (uint64_t r = from; r < end; r++) {
            uint32_t item = folding->item_numbers[block->item[r]];
            if (item != MODEL_NUMBERS_NONE)
                piece->ratings[n++] = (struct dpmf_own_rating){
                    item, model_numbers_rating(folding->model, folding->history, block->value[r])};
        }
        code = fit_user(folding, piece->ratings, n, block->first_user + i, error);
    }
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

static int make_room(struct folding *folding, const struct dpmf_store *history,
                     const struct dpmf_run *run, struct dpmf_error *error) {
    struct factors *factors = &folding->folded->factors;
    const uint64_t n = store_n_users(history);
    factors->user_ids.start = memory_alloc_zero((size_t)n + 1, sizeof(uint64_t));
    folding->n_pieces = store_visit_products(history, run);
    folding->pieces = memory_alloc_zero(folding->n_pieces, sizeof *folding->pieces);
    folding->pointers = memory_alloc(folding->n_pieces, sizeof *folding->pointers);
    if (!factors->user_ids.start || !folding->pieces || !folding->pointers)
        return error_no_memory(error);
    for (size_t i = 0; i < folding->n_pieces; i++) folding->pointers[i] = &folding->pieces[i];
    int code = model_numbers_items(folding->model, history, &folding->item_numbers, error);
    if (code < 0) return code;
    return factor_matrix_init(&factors->users, n, factors->items.stride, SPARE_ROWS, error);
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
}

int fold_users_make(const struct dpmf_model *model, const struct dpmf_store *history,
                    const struct dpmf_run *run, struct dpmf_model *folded,
                    struct dpmf_error *error) {
    struct folding folding = {.model = model, .folded = folded, .history = history};
    *folded = *model;
    folded->factors.users = (struct factor_matrix){0};
    folded->factors.user_ids = (struct factor_ids){0};
    int code = model_numbers_check(model, history, error);
    if (code == 0) code = make_room(&folding, history, run, error);
    if (code == 0) {
        const struct store_visitor visitor = {"folding in",    STORE_WANT_VALUE | STORE_WANT_IDS,
                                              visit_block,     finish_block,
                                              &folding,        folding.pointers,
                                              folding.n_pieces};
        code = store_visit(history, &visitor, run, error);
    }
    if (code == 0) code = factor_ids_index(&folded->factors.user_ids, error);
    free_folding(&folding);
    if (code < 0) fold_users_free(folded);
    return code;
}

void fold_users_free(struct dpmf_model *folded) {
    factor_matrix_free(&folded->factors.users);
    factor_ids_free(&folded->factors.user_ids);
}
