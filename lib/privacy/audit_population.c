/*
 * Makes the populations of an audit from a store: a store of the sample, and one for each kind of canary with that canary
 * added. All of them are nameless and gone when they have been packed. Feeds audit_run.c.
 *
 * A canary's store also has an item that nobody else rated and that is in no catalogue: should it turn up
 * in the list of items, then that list is made from ratings.
 */
#include "privacy/audit_population.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/host.h"
#include "base/memory.h"
#include "store/store.h"

static const char stray_item[] = "dpmf audit: an item that only the canary rated";
static const char canary_id[] = "dpmf audit: the canary";

/* Users in arrays, as struct store_block has them. */
struct people {
    uint64_t *start, *id_start;
    uint32_t *item;
    double *value;
    char *id_bytes;
    size_t start_room, id_start_room, item_room, value_room, id_room;
    size_t n;
};

struct making {
    const struct dpmf_store *store;
    const struct dpmf_private_options *options;
    const struct dpmf_run *run;
    struct audit_population *population;
    struct people people;
    struct store_item *items; /* of the store, of the rest of the catalogue, and the stray one */
    size_t n_items, n_own;    /* all; of the store */
    uint32_t *item_of_row;    /* by row of the catalogue */
    uint32_t *order;          /* rows by item number */
    size_t busiest;           /* the user with the most ratings */
    uint32_t rarest;          /* the row with the fewest */
};

/* ---- users ------------------------------------------------------------------------------------ */

static void people_free(struct people *people) {
    free(people->start);
    free(people->id_start);
    free(people->item);
    free(people->value);
    free(people->id_bytes);
    *people = (struct people){0};
}

static uint64_t people_ratings(const struct people *people) {
    return people->n > 0 ? people->start[people->n] : 0;
}

/* Adds a user whose n ratings are to be filled in from people->item + people_ratings(). */
static bool people_reserve(struct people *people, size_t n, size_t id_length) {
    uint64_t from = people_ratings(people),
             id_from = people->n > 0 ? people->id_start[people->n] : 0;
    return memory_reserve(&people->start, &people->start_room, people->n + 2, sizeof(uint64_t)) &&
           memory_reserve(&people->id_start, &people->id_start_room, people->n + 2,
                          sizeof(uint64_t)) &&
           memory_reserve(&people->item, &people->item_room, (size_t)from + n, sizeof(uint32_t)) &&
           memory_reserve(&people->value, &people->value_room, (size_t)from + n, sizeof(double)) &&
           memory_reserve(&people->id_bytes, &people->id_room, (size_t)id_from + id_length, 1);
}

static void people_end_user(struct people *people, size_t n, const char *id, size_t id_length) {
    if (people->n == 0) people->start[0] = people->id_start[0] = 0;
    uint64_t id_from = people->id_start[people->n];
    memcpy(people->id_bytes + id_from, id, id_length);
    people->start[people->n + 1] = people->start[people->n] + n;
    people->id_start[people->n + 1] = id_from + id_length;
    people->n++;
}

static void people_drop_last(struct people *people) { people->n--; }

static int copy_user(struct making *making, const struct store_block *block, uint32_t u,
                     struct dpmf_error *error) {
    struct people *people = &making->people;
    const uint64_t first = block->start[u], from = people_ratings(people);
    const size_t n = (size_t)(block->start[u + 1] - first);
    const size_t id_length = (size_t)(block->id_start[u + 1] - block->id_start[u]);
    if (!people_reserve(people, n, id_length)) return error_no_memory(error);
    memcpy(people->item + from, block->item + first, n * sizeof *people->item);
    memcpy(people->value + from, block->value + first, n * sizeof *people->value);
    people_end_user(people, n, block->id_bytes + block->id_start[u], id_length);
    return 0;
}

/* User i of n is taken when i * wanted / n steps up: evenly, whatever the order. */
static int sample_users(struct making *making, uint64_t wanted, struct dpmf_error *error) {
    const struct dpmf_store *store = making->store;
    const uint64_t n = store_n_users(store);
    struct store_raw raw = {0};
    struct store_space space = {0};
    int code = 0;
    if (wanted > n) wanted = n;
    for (uint64_t b = 0; b < store_n_blocks(store) && code == 0; b++) {
        struct store_block block;
        code = store_block_read(store, b, &raw, error);
        if (code == 0)
            code = store_block_decode(store, &raw, STORE_WANT_VALUE | STORE_WANT_IDS, &space,
                                      &block, error);
        for (uint32_t u = 0; code == 0 && u < block.n_users; u++) {
            uint64_t i = block.first_user + u;
            if ((i + 1) * wanted / n > i * wanted / n) code = copy_user(making, &block, u, error);
        }
    }
    free(raw.buffer.bytes);
    store_space_free(&space);
    return code;
}

/* ---- items ------------------------------------------------------------------------------------ */

static int compare_by_item(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Rows of the catalogue in the order of their items' numbers: as a store wants a user's ratings. */
static int order_rows(struct making *making, struct dpmf_error *error) {
    const size_t n = (size_t)making->population->catalogue.ids.n;
    uint64_t *keys = memory_alloc(n, sizeof *keys);
    if (!keys) return error_no_memory(error);
    for (size_t j = 0; j < n; j++) keys[j] = (uint64_t)making->item_of_row[j] << 32 | j;
    qsort(keys, n, sizeof *keys, compare_by_item);
    for (size_t j = 0; j < n; j++) making->order[j] = (uint32_t)keys[j];
    free(keys);
    return 0;
}

static int number_items(struct making *making, struct dpmf_error *error) {
    const struct factor_ids *ids = &making->population->catalogue.ids;
    const size_t own = (size_t)store_n_items(making->store), n = (size_t)ids->n;
    const uint32_t none = UINT32_MAX;
    if (own + n >= STORE_MAX_ITEMS) return error_no_memory(error);
    making->n_own = making->n_items = own;
    making->items = memory_alloc(own + n + 1, sizeof *making->items);
    making->item_of_row = memory_alloc(n, sizeof *making->item_of_row);
    making->order = memory_alloc(n, sizeof *making->order);
    if (!making->items || !making->item_of_row || !making->order) return error_no_memory(error);
    for (size_t j = 0; j < n; j++) making->item_of_row[j] = none;
    for (size_t i = 0; i < own; i++) {
        making->items[i] = store_item_at(making->store, i);
        uint64_t row = factor_ids_find(ids, making->items[i].id, making->items[i].id_length);
        if (row != UINT64_MAX) making->item_of_row[row] = (uint32_t)i;
    }
    for (size_t j = 0; j < n; j++) {
        if (making->item_of_row[j] != none) continue;
        making->item_of_row[j] = (uint32_t)making->n_items;
        making->items[making->n_items++] = (struct store_item){
            ids->bytes + ids->start[j], (uint32_t)(ids->start[j + 1] - ids->start[j]), 0};
    }
    making->items[making->n_items++] =
        (struct store_item){stray_item, (uint32_t)(sizeof stray_item - 1), 0};
    return order_rows(making, error);
}

static void count_ratings(struct making *making) {
    const struct people *people = &making->people;
    for (size_t i = 0; i < making->n_items; i++) making->items[i].n_ratings = 0;
    for (uint64_t r = 0; r < people_ratings(people); r++)
        making->items[people->item[r]].n_ratings++;
}

static void find_extremes(struct making *making) {
    const struct people *people = &making->people;
    const size_t n = (size_t)making->population->catalogue.ids.n;
    count_ratings(making);
    for (size_t i = 0; i < people->n; i++)
        if (people->start[i + 1] - people->start[i] >
            people->start[making->busiest + 1] - people->start[making->busiest])
            making->busiest = i;
    for (uint32_t j = 0; j < n; j++)
        if (making->items[making->item_of_row[j]].n_ratings <
            making->items[making->item_of_row[making->rarest]].n_ratings)
            making->rarest = j;
}

/* ---- stores ----------------------------------------------------------------------------------- */

static int append_blocks(const struct people *people, struct store_writer *writer,
                         struct dpmf_error *error) {
    struct store_encoded encoded = {0};
    int code = 0;
    for (size_t first = 0, end; first < people->n && code == 0; first = end) {
        const uint64_t from = people->start[first], id_from = people->id_start[first];
        uint64_t start[STORE_BLOCK_USERS + 1], id_start[STORE_BLOCK_USERS + 1];
        for (end = first; end < people->n && end - first < STORE_BLOCK_USERS; end++) {
            if (end > first && people->start[end + 1] - from > STORE_BLOCK_RATINGS) break;
            start[end - first] = people->start[end] - from;
            id_start[end - first] = people->id_start[end] - id_from;
        }
        start[end - first] = people->start[end] - from;
        id_start[end - first] = people->id_start[end] - id_from;
        const struct store_block block = {.first_user = first,
                                          .n_users = (uint32_t)(end - first),
                                          .n_ratings = people->start[end] - from,
                                          .start = start,
                                          .item = people->item + from,
                                          .value = people->value + from,
                                          .id_bytes = people->id_bytes + id_from,
                                          .id_start = id_start};
        code = store_block_encode(&block, false, &encoded, error);
        if (code == 0) code = store_writer_append(writer, &encoded, error);
    }
    store_encoded_free(&encoded);
    return code;
}

/* The people as they are now, and the first n_items of the items. */
static int make_store(struct making *making, const struct people *people, size_t n_items,
                      struct dpmf_store **store, struct dpmf_error *error) {
    const struct store_layout layout = store_layout_declared();
    struct store_writer *writer = NULL;
    *store = NULL;
    int code = store_writer_open(&writer, NULL, false, &layout, error);
    if (code == 0) code = append_blocks(people, writer, error);
    if (code == 0) code = store_writer_finish(writer, making->items, n_items, error);
    if (code == 0) return store_writer_commit_open(writer, "the audit's store", store, error);
    store_writer_abandon(writer);
    return code;
}

static int pack(const struct making *making, const struct dpmf_store *store, uint64_t memory,
                struct private_ratings **ratings, struct dpmf_error *error) {
    struct private_ratings_report report;
    const struct private_ratings_options packing = {
        .range_min = making->options->range_min,
        .range_max = making->options->range_max,
        .catalogue = &making->population->catalogue,
        .epsilon = making->options->epsilon,
        .delta = making->options->delta,
        .longest = (size_t)making->population->catalogue.ids.n, /* room for any canary */
        .memory = memory,
        .threads = 1,
    };
    return private_ratings_build(store, &packing, NULL, ratings, &report, error);
}

static uint64_t pack_memory(const struct making *making) {
    uint64_t memory =
        making->run && making->run->memory ? making->run->memory : host_default_budget();
    return memory / (2 * (AUDIT_CANARIES + 1));
}

/* ---- canaries --------------------------------------------------------------------------------- */

/* What kind of canary gives to a row, or nothing. */
static bool canary_rates(const struct making *making, int kind, uint32_t row, double *value) {
    const double low = making->options->range_min, high = making->options->range_max;
    *value = row % 2 ? low : high;
    switch (kind) {
    case 0: return true;                   /* everything, as differently as can be */
    case 1: *value = high; return true;    /* everything, all alike */
    case 2: return row % 3 != 0;           /* two thirds */
    default: return row == making->rarest; /* one item, if possible one that nobody else rated */
    }
}

/* The user with the most ratings once more, with what they like and dislike exchanged. */
static size_t fill_reflected(struct making *making, uint32_t *item, double *value) {
    const struct people *people = &making->people;
    const uint64_t from = people->start[making->busiest];
    const size_t n = (size_t)(people->start[making->busiest + 1] - from);
    for (size_t r = 0; r < n; r++) {
        item[r] = people->item[from + r];
        value[r] =
            making->options->range_min + making->options->range_max - people->value[from + r];
    }
    return n;
}

/* Adds the canary to the people. Its last rating is of the stray item. */
static int add_canary(struct making *making, int kind, struct dpmf_error *error) {
    struct people *people = &making->people;
    const size_t rows = (size_t)making->population->catalogue.ids.n;
    const uint64_t longest = people->start[making->busiest + 1] - people->start[making->busiest];
    const size_t room = (rows > longest ? rows : (size_t)longest) + 1;
    if (!people_reserve(people, room, sizeof canary_id - 1)) return error_no_memory(error);
    uint32_t *item = people->item + people_ratings(people);
    double *value = people->value + people_ratings(people);
    size_t n = 0;
    if (kind == 3)
        n = fill_reflected(making, item, value);
    else
        for (size_t i = 0; i < rows; i++) {
            const uint32_t row = making->order[i];
            if (!canary_rates(making, kind, row, &value[n])) continue;
            item[n++] = making->item_of_row[row];
        }
    item[n] = (uint32_t)making->n_items - 1;
    value[n++] = making->options->range_max;
    people_end_user(people, n, canary_id, sizeof canary_id - 1);
    return 0;
}

static bool same_ids(const struct factor_ids *a, const struct factor_ids *b) {
    return a->n == b->n && a->start[a->n] == b->start[b->n] &&
           memcmp(a->start, b->start, (size_t)(a->n + 1) * sizeof *a->start) == 0 &&
           memcmp(a->bytes, b->bytes, (size_t)a->start[a->n]) == 0;
}

static int compare_catalogue(struct making *making, const struct dpmf_store *store,
                             struct dpmf_error *error) {
    struct catalogue other;
    int code = catalogue_take(making->options->catalogue, store, making->run, &other, error);
    if (code == 0 && !same_ids(&other.ids, &making->population->catalogue.ids))
        making->population->catalogue_leaks = true;
    if (code == 0) catalogue_free(&other);
    return code;
}

static int remember_user(void *self, int worker, const struct private_user *user,
                         struct dpmf_error *error) {
    struct audit_canary *canary = self;
    (void)worker, (void)error;
    canary->user = *user;
    return 0;
}

static int pack_canary_alone(struct making *making, struct audit_canary *canary,
                             struct dpmf_error *error) {
    const struct people *people = &making->people;
    const size_t last = people->n - 1;
    uint64_t start[2] = {0, people->start[last + 1] - people->start[last]};
    uint64_t id_start[2] = {0, people->id_start[last + 1] - people->id_start[last]};
    const struct people one = {.n = 1,
                               .start = start,
                               .id_start = id_start,
                               .item = people->item + people->start[last],
                               .value = people->value + people->start[last],
                               .id_bytes = people->id_bytes + people->id_start[last]};
    const struct private_visit visit = {remember_user, canary, NULL, NULL};
    struct thread_pool *pool = NULL;
    struct dpmf_store *store = NULL;
    for (size_t i = 0; i < making->n_items; i++) making->items[i].n_ratings = 0;
    for (uint64_t r = 0; r < start[1]; r++) making->items[one.item[r]].n_ratings++;
    int code = make_store(making, &one, making->n_items, &store, error);
    if (code == 0) code = pack(making, store, UINT64_MAX, &canary->alone, error);
    if (code == 0) code = thread_pool_init(&pool, 1, error);
    if (code == 0) code = private_ratings_visit(canary->alone, pool, &visit, error);
    thread_pool_free(pool);
    dpmf_store_close(store);
    return code;
}

static int make_canary(struct making *making, int kind, struct dpmf_error *error) {
    struct audit_canary *canary = &making->population->canaries[kind];
    struct dpmf_store *store = NULL;
    int code = add_canary(making, kind, error);
    if (code < 0) return code;
    count_ratings(making);
    code = make_store(making, &making->people, making->n_items, &store, error);
    if (code == 0) code = compare_catalogue(making, store, error);
    if (code == 0 && !making->population->catalogue_leaks) {
        code = pack(making, store, pack_memory(making), &canary->with, error);
        if (code == 0) code = pack_canary_alone(making, canary, error);
    }
    dpmf_store_close(store);
    people_drop_last(&making->people);
    return code;
}

/* ---- the whole -------------------------------------------------------------------------------- */

static int make_without(struct making *making, struct dpmf_error *error) {
    const struct dpmf_private_options *options = making->options;
    struct audit_population *population = making->population;
    struct dpmf_store *store = NULL;
    const size_t n_own = (size_t)store_n_items(making->store);
    making->items = memory_alloc(n_own, sizeof *making->items);
    if (!making->items) return error_no_memory(error);
    for (size_t i = 0; i < n_own; i++) making->items[i] = store_item_at(making->store, i);
    making->n_items = n_own;
    count_ratings(making);
    int code = make_store(making, &making->people, n_own, &store, error);
    free(making->items);
    making->items = NULL;
    if (code == 0)
        code =
            catalogue_take(options->catalogue, store, making->run, &population->catalogue, error);
    if (code == 0 && options->item_features)
        code = catalogue_read_features(&population->catalogue, options->item_features, making->run,
                                       error);
    if (code == 0) code = pack(making, store, pack_memory(making), &population->without, error);
    dpmf_store_close(store);
    return code;
}

int audit_population_make(const struct dpmf_store *store,
                          const struct dpmf_private_options *options, uint64_t users,
                          const struct dpmf_run *run, struct audit_population *population,
                          struct dpmf_error *error) {
    struct making making = {
        .store = store, .options = options, .run = run, .population = population};
    *population = (struct audit_population){.users = store_n_users(store)};
    int code = sample_users(&making, users, error);
    if (code == 0 && making.people.n == 0)
        code = error_set(error, DPMF_ERR_INPUT_EMPTY, "there are no users to audit with");
    if (code == 0) code = make_without(&making, error);
    if (code == 0) code = number_items(&making, error);
    if (code == 0) find_extremes(&making);
    for (int kind = 0; kind < AUDIT_CANARIES && code == 0; kind++)
        code = make_canary(&making, kind, error);
    people_free(&making.people);
    free(making.items);
    free(making.item_of_row);
    free(making.order);
    if (code < 0) audit_population_free(population);
    return code;
}

void audit_population_free(struct audit_population *population) {
    for (int kind = 0; kind < AUDIT_CANARIES; kind++) {
        private_ratings_free(population->canaries[kind].with);
        private_ratings_free(population->canaries[kind].alone);
    }
    private_ratings_free(population->without);
    catalogue_free(&population->catalogue);
    *population = (struct audit_population){0};
}
