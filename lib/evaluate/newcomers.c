/*
 * The users of a store that a model does not know. One pass over the store, by all threads, notes
 * who they are and in which block; a user's ratings are read and fitted when the user is first
 * asked for, and the last block is kept, since who asks goes by users as a rule. Memory is needed
 * for ids and for those who were asked for, not for ratings. Feeds predict and recommend.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/error.h"
#include "base/memory.h"
#include "evaluate/model_numbers.h"
#include "model/factors.h"
#include "recommend/user.h"

#define NO_BLOCK UINT64_MAX

/* Where a user is in the store. */
struct place {
    uint64_t block;
    uint32_t index;
};

/* What a block adds, on its way from visit to finish. */
struct found {
    uint32_t *index;
    uint64_t *id_end; /* in `bytes` */
    char *bytes;
    size_t n, n_bytes, index_capacity, end_capacity, bytes_capacity;
};

struct dpmf_newcomers {
    const struct dpmf_model *model;
    struct dpmf_store *store;
    uint32_t *item_numbers;
    struct factor_ids ids;
    struct place *places;
    struct dpmf_user **users; /* by number; NULL before they are asked for */
    size_t start_capacity, bytes_capacity, place_capacity;
    uint64_t n_blocks; /* finished so far, by the first pass */

    struct store_raw raw;
    struct store_space space;
    struct store_block block;
    uint64_t block_number; /* number of the block above */
    struct dpmf_own_rating *ratings;
    size_t ratings_capacity;
};

/* ---- who they are ---------------------------------------------------------------------------- */

static bool add_found(struct found *found, const struct store_block *block, uint32_t i) {
    const char *id = block->id_bytes + block->id_start[i];
    size_t length = (size_t)(block->id_start[i + 1] - block->id_start[i]);
    if (!memory_reserve(&found->index, &found->index_capacity, found->n + 1, sizeof(uint32_t)) ||
        !memory_reserve(&found->id_end, &found->end_capacity, found->n + 1, sizeof(uint64_t)) ||
        !memory_reserve(&found->bytes, &found->bytes_capacity, found->n_bytes + length, 1))
        return false;
    memcpy(found->bytes + found->n_bytes, id, length);
    found->n_bytes += length;
    found->index[found->n] = i;
    found->id_end[found->n++] = found->n_bytes;
    return true;
}

static int visit_block(void *self, int worker, const struct store_block *block, void *product,
                       struct dpmf_error *error) {
    const struct dpmf_newcomers *newcomers = self;
    struct found *found = product;
    (void)worker;
    found->n = found->n_bytes = 0;
    for (uint32_t i = 0; i < block->n_users; i++)
        if (model_numbers_user(newcomers->model, block, i) == UINT64_MAX &&
            !add_found(found, block, i))
            return error_no_memory(error);
    return 0;
}

static int finish_block(void *self, void *product, struct dpmf_error *error) {
    struct dpmf_newcomers *newcomers = self;
    const struct found *found = product;
    struct factor_ids *ids = &newcomers->ids;
    const size_t n = (size_t)ids->n, first = (size_t)ids->start[n];
    const uint64_t block = newcomers->n_blocks++;
    if (!memory_reserve(&ids->start, &newcomers->start_capacity, n + found->n + 1,
                        sizeof(uint64_t)) ||
        !memory_reserve(&newcomers->places, &newcomers->place_capacity, n + found->n,
                        sizeof(struct place)) ||
        !memory_reserve(&ids->bytes, &newcomers->bytes_capacity, first + found->n_bytes, 1))
        return error_no_memory(error);
    if (found->n_bytes > 0) memcpy(ids->bytes + first, found->bytes, found->n_bytes);
    for (size_t i = 0; i < found->n; i++) {
        newcomers->places[n + i] = (struct place){block, found->index[i]};
        ids->start[n + i + 1] = first + found->id_end[i];
    }
    ids->n += found->n;
    return 0;
}

static int visit_all(struct dpmf_newcomers *newcomers, const struct dpmf_run *run,
                     struct dpmf_error *error) {
    size_t n_products = store_visit_products(newcomers->store, run);
    struct found *products = memory_alloc_zero(n_products, sizeof *products);
    void **pointers = memory_alloc(n_products, sizeof *pointers);
    int code = products && pointers ? 0 : error_no_memory(error);
    for (size_t i = 0; code == 0 && i < n_products; i++) pointers[i] = &products[i];
    if (code == 0) {
        const struct store_visitor visitor = {"looking up", STORE_WANT_IDS, visit_block,
                                              finish_block, newcomers,      pointers,
                                              n_products};
        code = store_visit(newcomers->store, &visitor, run, error);
    }
    for (size_t i = 0; products && i < n_products; i++) {
        free(products[i].index);
        free(products[i].id_end);
        free(products[i].bytes);
    }
    free(products);
    free(pointers);
    return code;
}

int dpmf_newcomers_open(const struct dpmf_model *model, struct dpmf_store *store,
                        const struct dpmf_run *run, struct dpmf_newcomers **out,
                        struct dpmf_error *error) {
    struct dpmf_run own_run;
    int code = arguments_check(error, "model store newcomers", model, store, out);
    if (code == 0) code = run_take(&own_run, run, error);
    if (out) *out = NULL;
    if (code < 0) return code;
    run = &own_run;
    struct dpmf_newcomers *newcomers = memory_alloc_zero(1, sizeof *newcomers);
    if (!newcomers) return error_no_memory(error);
    newcomers->model = model;
    newcomers->store = store;
    newcomers->block_number = NO_BLOCK;
    code = model_numbers_check(model, store, run, error);
    if (code == 0) code = model_numbers_items(model, store, &newcomers->item_numbers, error);
    if (code == 0 &&
        !memory_reserve(&newcomers->ids.start, &newcomers->start_capacity, 1, sizeof(uint64_t)))
        code = error_no_memory(error);
    if (code == 0) {
        newcomers->ids.start[0] = 0;
        code = visit_all(newcomers, run, error);
    }
    if (code == 0) code = factor_ids_index(&newcomers->ids, error);
    if (code == 0) {
        newcomers->users = memory_alloc_zero((size_t)newcomers->ids.n, sizeof(void *));
        if (!newcomers->users) code = error_no_memory(error);
    }
    if (code < 0) {
        dpmf_newcomers_close(newcomers);
        return code;
    }
    *out = newcomers;
    return 0;
}

void dpmf_newcomers_close(struct dpmf_newcomers *newcomers) {
    if (!newcomers) return;
    for (uint64_t i = 0; newcomers->users && i < newcomers->ids.n; i++)
        dpmf_user_free(newcomers->users[i]);
    free(newcomers->users);
    free(newcomers->item_numbers);
    factor_ids_free(&newcomers->ids);
    free(newcomers->places);
    free(newcomers->raw.buffer.bytes);
    store_space_free(&newcomers->space);
    free(newcomers->ratings);
    free(newcomers);
}

/* ---- what they rated ------------------------------------------------------------------------- */

static int bring_block(struct dpmf_newcomers *newcomers, uint64_t number,
                       struct dpmf_error *error) {
    if (newcomers->block_number == number) return 0;
    newcomers->block_number = NO_BLOCK;
    int code = store_block_read(newcomers->store, number, &newcomers->raw, error);
    if (code == 0)
        code = store_block_decode(newcomers->store, &newcomers->raw, STORE_WANT_VALUE,
                                  &newcomers->space, &newcomers->block, error);
    if (code == 0) newcomers->block_number = number;
    return code;
}

static int fold_in(struct dpmf_newcomers *newcomers, uint64_t number, struct dpmf_error *error) {
    const struct place *place = &newcomers->places[number];
    int code = bring_block(newcomers, place->block, error);
    if (code < 0) return code;
    const struct store_block *block = &newcomers->block;
    uint64_t from = block->start[place->index], end = block->start[place->index + 1];
    size_t n = 0;
    if (!memory_reserve(&newcomers->ratings, &newcomers->ratings_capacity, (size_t)(end - from) + 1,
                        sizeof newcomers->ratings[0]))
        return error_no_memory(error);
    for (uint64_t r = from; r < end; r++) {
        uint32_t item = newcomers->item_numbers[block->item[r]];
        if (item != MODEL_NUMBERS_NONE)
            newcomers->ratings[n++] = (struct dpmf_own_rating){
                item, model_numbers_rating(newcomers->model, newcomers->store, block->value[r])};
    }
    if (n == 0) return 0;
    return user_fold_in_light(newcomers->model, newcomers->ratings, n, &newcomers->users[number],
                              error);
}

int dpmf_newcomers_find(struct dpmf_newcomers *newcomers, const char *id, size_t length,
                        const struct dpmf_user **user, struct dpmf_error *error) {
    int code = arguments_check(error, "newcomers id user", newcomers, id, user);
    if (user) *user = NULL;
    if (code < 0) return code;
    uint64_t number = factor_ids_find(&newcomers->ids, id, length);
    if (number == UINT64_MAX) return 0;
    if (!newcomers->users[number]) {
        code = fold_in(newcomers, number, error);
        if (code < 0) return code;
    }
    *user = newcomers->users[number];
    return 0;
}
