/*
 * Makes the people of an audit: copies users of a store, and adds the canaries. Fed by audit.c;
 * feeds audit_text.c, which writes worlds of them, and audit_run.c.
 *
 * Every canary has also rated an item that nobody else did and that is in no catalogue: should that
 * turn up in the list of items, then the list is made from ratings.
 */
#include "audit/audit_population.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "statement/accountant.h"
#include "store/store.h"

/* Items of a canary that shares the catalogue with others: enough to fill its norm bound. */
enum { SPREAD_MAX = 64, SPREAD_ITEMS = 64, ROWS_TO_SPARE = 8 };

enum lonely { RARE, EVERYTHING, REFLECTED, WITH_A_WISH, LEFT_OUT, LONELY_KINDS };

static const char stray_item[] = "dpmf audit: an item that only a canary rated";

struct making {
    const struct dpmf_store *store;
    const struct dpmf_release_options *options;
    struct audit_population *population;
    int64_t *item_of; /* by item of the store; -1: it cannot be written */
    size_t rows;      /* rows of the catalogue */
    uint32_t rarest;  /* the row with the fewest ratings */
};

/* ---- arrays ---------------------------------------------------------------------------------- */

static bool add_name(struct audit_names *names, const char *name, size_t length) {
    const size_t from = names->n > 0 ? (size_t)names->start[names->n] : 0;
    if (!memory_reserve(&names->bytes, &names->bytes_room, from + length, 1) ||
        !memory_reserve(&names->start, &names->start_room, names->n + 2, sizeof *names->start))
        return false;
    memcpy(names->bytes + from, name, length);
    names->start[names->n] = (int64_t)from;
    names->start[++names->n] = (int64_t)(from + length);
    return true;
}

static bool make_room(struct audit_ratings *ratings, size_t more) {
    const size_t n = ratings->n + more;
    return memory_reserve(&ratings->user, &ratings->user_room, n, sizeof *ratings->user) &&
           memory_reserve(&ratings->item, &ratings->item_room, n, sizeof *ratings->item) &&
           memory_reserve(&ratings->value, &ratings->value_room, n, sizeof *ratings->value);
}

static void put_rating(struct audit_ratings *ratings, int64_t user, int64_t item, double value) {
    ratings->user[ratings->n] = user;
    ratings->item[ratings->n] = item;
    ratings->value[ratings->n++] = value;
}

bool audit_ratings_append(struct audit_ratings *ratings, const struct audit_ratings *more) {
    if (!make_room(ratings, more->n)) return false;
    for (size_t i = 0; i < more->n; i++)
        put_rating(ratings, more->user[i], more->item[i], more->value[i]);
    return true;
}

void audit_ratings_free(struct audit_ratings *ratings) {
    free(ratings->user);
    free(ratings->item);
    free(ratings->value);
    *ratings = (struct audit_ratings){0};
}

/* Whether a line of text can hold it. */
static bool is_writable(const char *name, size_t length) {
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)name[i] < ' ' || name[i] == 0x7f) return false;
    return length > 0;
}

/* ---- items and users ------------------------------------------------------------------------- */

static int name_items(struct making *making, struct dpmf_error *error) {
    struct audit_population *population = making->population;
    const struct factor_ids *ids = &population->catalogue.ids;
    const size_t n = (size_t)store_n_items(making->store);
    bool ok = true;
    making->rows = (size_t)ids->n;
    making->item_of = memory_alloc(n, sizeof *making->item_of);
    if (!making->item_of) return error_no_memory(error);
    for (size_t j = 0; j < making->rows && ok; j++)
        ok = add_name(&population->items, ids->bytes + ids->start[j],
                      (size_t)(ids->start[j + 1] - ids->start[j]));
    for (size_t i = 0; i < n && ok; i++) {
        const struct store_item item = store_item_at(making->store, i);
        const uint64_t row = factor_ids_find(ids, item.id, item.id_length);
        making->item_of[i] = row != UINT64_MAX ? (int64_t)row : (int64_t)population->items.n;
        if (!is_writable(item.id, item.id_length))
            making->item_of[i] = -1;
        else if (row == UINT64_MAX)
            ok = add_name(&population->items, item.id, item.id_length);
    }
    ok = ok && add_name(&population->items, stray_item, sizeof stray_item - 1);
    return ok ? 0 : error_no_memory(error);
}

static int copy_user(struct making *making, const struct store_block *block, uint32_t u,
                     struct dpmf_error *error) {
    struct audit_population *population = making->population;
    const char *id = block->id_bytes + block->id_start[u];
    const size_t id_length = (size_t)(block->id_start[u + 1] - block->id_start[u]);
    const size_t n = (size_t)(block->start[u + 1] - block->start[u]);
    if (!is_writable(id, id_length)) return 0;
    if (!add_name(&population->users, id, id_length) || !make_room(&population->others, n))
        return error_no_memory(error);
    for (uint64_t r = block->start[u]; r < block->start[u + 1]; r++) {
        const int64_t item = making->item_of[block->item[r]];
        if (item >= 0)
            put_rating(&population->others, (int64_t)population->n_others, item, block->value[r]);
    }
    population->n_others++;
    return 0;
}

/* User i of n is taken when i * wanted / n steps up: evenly, whatever the order. */
static int sample_users(struct making *making, uint64_t wanted, struct dpmf_error *error) {
    const struct dpmf_store *store = making->store;
    const uint64_t n = store_n_users(store);
    struct store_scan scan = {.store = store, .want = STORE_WANT_VALUE | STORE_WANT_IDS};
    struct store_block block;
    int code = 0;
    if (wanted > n) wanted = n;
    while (store_scan_next(&scan, &block, &code, error))
        for (uint32_t u = 0; code == 0 && u < block.n_users; u++) {
            uint64_t i = block.first_user + u;
            if ((i + 1) * wanted / n > i * wanted / n) code = copy_user(making, &block, u, error);
        }
    store_scan_free(&scan);
    return code;
}

static int find_rarest(struct making *making, struct dpmf_error *error) {
    const struct audit_ratings *others = &making->population->others;
    uint64_t *counts = memory_alloc_zero(making->rows, sizeof *counts);
    if (!counts) return error_no_memory(error);
    for (size_t r = 0; r < others->n; r++)
        if ((size_t)others->item[r] < making->rows) counts[others->item[r]]++;
    for (uint32_t j = 0; j < making->rows; j++)
        if (counts[j] < counts[making->rarest]) making->rarest = j;
    free(counts);
    return 0;
}

/* ---- canaries -------------------------------------------------------------------------------- */

/* Everything, by turns the best and the worst: of every `step`-th row from `first` on. The rarest
 * is left to the one that has it alone, where there are enough others. */
static void rate_rows(const struct making *making, struct audit_ratings *ratings, int64_t user,
                      size_t first, size_t step) {
    const double ends[2] = {making->options->range_max, making->options->range_min};
    const bool spare = step > 1 || making->rows >= ROWS_TO_SPARE;
    size_t n = 0;
    for (size_t j = first; j < making->rows; j += step)
        if (!spare || j != making->rarest) put_rating(ratings, user, (int64_t)j, ends[n++ % 2]);
}

/* The user with the most ratings once more, with likes and dislikes exchanged. */
static void rate_reflected(const struct making *making, struct audit_ratings *ratings,
                           int64_t user) {
    const struct audit_ratings *others = &making->population->others;
    const double ends = making->options->range_min + making->options->range_max;
    size_t from = 0, n = 0;
    for (size_t r = 0, first = 0; r < others->n; r++) {
        if (others->user[r] != others->user[first]) first = r;
        if (r - first + 1 > n) from = first, n = r - first + 1;
    }
    for (size_t r = from; r < from + n; r++)
        put_rating(ratings, user, others->item[r], ends - others->value[r]);
}

static int make_canary(struct making *making, size_t number, struct dpmf_error *error) {
    struct audit_population *population = making->population;
    const struct dpmf_release_options *options = making->options;
    struct audit_canary *canary = &population->canaries[number];
    const int64_t user = audit_canary_user(population, number);
    const size_t spread = population->n_spread, items = population->items.n;
    char name[48];
    *canary = (struct audit_canary){.wish = NAN, .scale = 1};
    snprintf(name, sizeof name, "dpmf audit: canary %zu", number + 1);
    if (!add_name(&population->users, name, strlen(name)) ||
        !make_room(&canary->ratings, population->others.n + items))
        return error_no_memory(error);
    if (number < spread)
        rate_rows(making, &canary->ratings, user, number, spread);
    else if (number - spread == RARE)
        put_rating(&canary->ratings, user, making->rarest, options->range_max);
    else if (number - spread == REFLECTED)
        rate_reflected(making, &canary->ratings, user);
    else
        rate_rows(making, &canary->ratings, user, 0, 1);
    put_rating(&canary->ratings, user, (int64_t)items - 1, options->range_max);
    if (number - spread == WITH_A_WISH) canary->wish = options->epsilon / 2;
    if (number - spread == LEFT_OUT) canary->wish = 0;
    if (canary->wish >= 0)
        canary->scale = accountant_mu(canary->wish, options->delta) /
                        accountant_mu(options->epsilon, options->delta);
    return 0;
}

static int make_canaries(struct making *making, struct dpmf_error *error) {
    struct audit_population *population = making->population;
    const size_t fit = making->rows / SPREAD_ITEMS;
    population->n_spread = fit < 1 ? 1 : fit > SPREAD_MAX ? SPREAD_MAX : fit;
    const size_t n = population->n_spread + LONELY_KINDS;
    population->canaries = memory_alloc_zero(n, sizeof *population->canaries);
    if (!population->canaries) return error_no_memory(error);
    population->n_canaries = n;
    for (size_t i = 0; i < n; i++) {
        int code = make_canary(making, i, error);
        if (code < 0) return code;
    }
    return 0;
}

/* ---- the whole ------------------------------------------------------------------------------- */

int audit_population_store(const struct audit_population *population,
                           const struct audit_ratings *ratings, const struct dpmf_run *run,
                           struct dpmf_store **store, struct dpmf_error *error) {
    const struct dpmf_arrays arrays = {.size = sizeof arrays,
                                       .n = ratings->n,
                                       .n_users = population->users.n,
                                       .n_items = population->items.n,
                                       .users = ratings->user,
                                       .items = ratings->item,
                                       .ratings = ratings->value,
                                       .user_id_bytes = population->users.bytes,
                                       .user_id_offsets = population->users.start,
                                       .item_id_bytes = population->items.bytes,
                                       .item_id_offsets = population->items.start};
    struct dpmf_input_options input = dpmf_input_options_default();
    input.skip_bad = true;
    return dpmf_store_from_arrays(&arrays, &input, run, store, error);
}

int audit_population_make(const struct dpmf_store *store,
                          const struct dpmf_release_options *options, uint64_t users,
                          const struct dpmf_run *run, struct audit_population *population,
                          struct dpmf_error *error) {
    struct making making = {.store = store, .options = options, .population = population};
    *population = (struct audit_population){.users_of_store = store_n_users(store)};
    int code = catalogue_take(options->catalogue, store, run, &population->catalogue, error);
    if (code == 0) code = name_items(&making, error);
    if (code == 0) code = sample_users(&making, users, error);
    if (code == 0 && population->n_others == 0)
        code = error_set(error, DPMF_ERR_INPUT_EMPTY, "there are no users to audit with");
    if (code == 0) code = find_rarest(&making, error);
    if (code == 0) code = make_canaries(&making, error);
    free(making.item_of);
    if (code < 0) audit_population_free(population);
    return code;
}

void audit_population_free(struct audit_population *population) {
    for (size_t i = 0; population->canaries && i < population->n_canaries; i++)
        audit_ratings_free(&population->canaries[i].ratings);
    free(population->canaries);
    audit_ratings_free(&population->others);
    free(population->users.bytes);
    free(population->users.start);
    free(population->items.bytes);
    free(population->items.start);
    catalogue_free(&population->catalogue);
    *population = (struct audit_population){0};
}
