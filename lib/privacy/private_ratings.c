/*
 * Packs a store's ratings for the releases of private_ratings.h: items get their rows in the
 * catalogue, users' ratings are sorted by them, and what may not count is left out. A block of the
 * store becomes one packed block:
 *
 *     head (a user each: scale, ratings) | rows (u32, all users) | y (f32, all users)
 *
 * What is packed for a user depends on that user's ratings and on public things alone: not on the
 * numbers that the store gave to items, which follow from everyone's ratings. So does whether the
 * user is in the cohort: it is decided from the times of all of the user's records in the store,
 * those outside the catalogue or the range included, before anything is left out.
 */
#define _GNU_SOURCE
#include "privacy/private_ratings.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/checksum.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "files/output_file.h"
#include "privacy/distinct_users.h"
#include "statement/accountant.h"
#include "store/store.h"

static const uint32_t no_row = UINT32_MAX;

static const uint32_t user_coin = UINT32_MAX; /* instead of a row: none has this number */

struct head {
    double scale;
    uint64_t n, coin;
};

struct packed_block {
    uint64_t offset; /* in the file */
    size_t n_users, n_ratings, bytes;
    unsigned char *data; /* NULL when it is in the file */
};

struct private_ratings {
    struct packed_block *blocks;
    size_t n_blocks, capacity;
    size_t largest; /* bytes of a block */
    size_t longest;
    uint64_t n_users;
    bool on_disk;
    int file;
};

/* ---- packing --------------------------------------------------------------------------------- */

struct entry {
    uint32_t row;
    float y;
    uint64_t coin; /* coin of those who are trimmed */
};

struct packing {
    struct head *heads;
    struct entry *entries;
    struct entry *spare; /* room for one user's entries, behind all of the block's */
    size_t head_capacity, entry_capacity;
    size_t n_users, n_ratings, longest;
    struct private_ratings_report counts;
};

struct builder {
    const struct private_ratings_options *options;
    struct private_ratings *ratings;
    struct private_ratings_report *report;
    uint32_t *row_of_item;
    bool *is_rated;     /* by row of the catalogue */
    double *wish_scale; /* by id of the wishes */
    uint64_t file_bytes;
};

static int compare_entries(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    if (x->row != y->row) return x->row < y->row ? -1 : 1;
    return (x->y > y->y) - (x->y < y->y);
}

/* No list of wishes can name such an id, though databases, JSON and older stores can hold it. */
static bool is_nameless(const char *id, size_t length) {
    return memchr(id, '\n', length) || memchr(id, '\r', length) || memchr(id, '\0', length) ||
           utf8_has_mark(id, length);
}

/* The user's share of the budget. Whoever has an id that no list can name could not opt out, and so
 * is left out, with a list and without. */
static double scale_of(const struct builder *builder, const struct store_block *block, uint32_t u,
                       struct packing *packing) {
    const struct user_wishes *wishes = builder->options->wishes;
    const char *id = block->id_bytes + block->id_start[u];
    size_t length = (size_t)(block->id_start[u + 1] - block->id_start[u]);
    if (is_nameless(id, length)) return 0;
    if (!wishes) return 1;
    uint64_t wish = factor_ids_find(&wishes->ids, id, length);
    if (wish == UINT64_MAX) return 1;
    packing->counts.users_with_a_wish++;
    if (builder->options->users_of_id)
        __atomic_fetch_add(&builder->options->users_of_id[wish], 1, __ATOMIC_RELAXED);
    return builder->wish_scale[wish];
}

static bool is_of_digits(const char *id, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (id[i] < '0' || id[i] > '9') return false;
    return true;
}

/* A list of people instead of items or of what is known about them is for the curator to
 * notice. Items that were rated are items; and where ids are numbers, users and items share them.
 */
static void look_for_users(const struct builder *builder, const struct store_block *block,
                           uint32_t u, struct packing *packing) {
    const struct catalogue *catalogue = builder->options->catalogue;
    const char *id = block->id_bytes + block->id_start[u];
    const size_t length = (size_t)(block->id_start[u + 1] - block->id_start[u]);
    const uint64_t row = factor_ids_find(&catalogue->ids, id, length);
    if (row != UINT64_MAX && !builder->is_rated[row]) {
        if (is_of_digits(id, length))
            packing->counts.users_as_numbered_items++;
        else
            packing->counts.users_as_items++;
    }
    if (catalogue->categories.n > 0 &&
        factor_ids_find(&catalogue->categories, id, length) != UINT64_MAX)
        packing->counts.users_as_categories++;
    if (catalogue->numbers.n > 0 && factor_ids_find(&catalogue->numbers, id, length) != UINT64_MAX)
        packing->counts.users_as_numbers++;
}

/* Sorts by row, a byte of it at a time from the lowest on; `spare` has room for as many. Equal rows
 * end beside each other in any order of their ratings. */
static void sort_by_row(struct entry *entries, size_t n, struct entry *spare) {
    struct entry *from = entries, *to = spare;
    uint32_t bits = 0;
    bool is_sorted = true;
    for (size_t i = 0; i < n; i++) {
        bits |= entries[i].row;
        if (i > 0 && entries[i].row < entries[i - 1].row) is_sorted = false;
    }
    for (int shift = 0; !is_sorted && shift < 32 && bits >> shift != 0; shift += 8) {
        size_t start[257] = {0};
        for (size_t i = 0; i < n; i++) start[(from[i].row >> shift & 255) + 1]++;
        for (size_t b = 0; b < 256; b++) start[b + 1] += start[b];
        for (size_t i = 0; i < n; i++) to[start[from[i].row >> shift & 255]++] = from[i];
        struct entry *sorted = to;
        to = from;
        from = sorted;
    }
    if (from != entries) memcpy(entries, from, n * sizeof *entries);
}

/* Keeps the least of several ratings of one row. There are none in a store that dpmf wrote; but the
 * bound on a user's norm rests on it, so it is not left to the file. */
static size_t keep_one_each(struct entry *entries, size_t n) {
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (kept == 0 || entries[i].row != entries[kept - 1].row)
            entries[kept++] = entries[i];
        else if (entries[i].y < entries[kept - 1].y)
            entries[kept - 1] = entries[i];
    }
    return kept;
}

static int compare_coins(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    if (x->coin != y->coin) return x->coin < y->coin ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Keeps the max_ratings with the smallest coins. A coin belongs to the pair of user and item: it is
 * a function of the run's key, the id's bytes and the row. So what is kept of a user does not
 * depend on any other user, and of a user who has one rating instead of another at most one is kept
 * instead of another. Ids of the same hash have the same coins, which harms neither. The key is
 * fresh in every run; the bound on a user's loss holds for every key. */
static size_t trim(const struct builder *builder, const struct store_block *block, uint32_t u,
                   struct entry *entries, size_t n, struct packing *packing) {
    size_t most = builder->options->max_ratings;
    if (most == 0 || n <= most) return n;
    uint64_t from = block->id_start[u];
    uint64_t id = checksum64(block->id_bytes + from, (size_t)(block->id_start[u + 1] - from));
    struct secure_stream stream;
    for (size_t i = 0; i < n; i++) {
        secure_stream_init(&stream, builder->options->coins, entries[i].row, id);
        entries[i].coin = secure_stream_u64(&stream);
    }
    secure_stream_wipe(&stream);
    qsort(entries, n, sizeof *entries, compare_coins);
    qsort(entries, most, sizeof *entries, compare_entries);
    packing->counts.trimmed += n - most;
    return most;
}

/* A user's own random bits: a function of the run's key and the id's bytes, whoever else is there
 * and wherever in the store. */
static uint64_t coin_of(const struct builder *builder, const struct store_block *block,
                        uint32_t u) {
    struct secure_stream stream;
    if (!builder->options->toss) return 0;
    uint64_t from = block->id_start[u];
    uint64_t id = checksum64(block->id_bytes + from, (size_t)(block->id_start[u + 1] - from));
    secure_stream_init(&stream, builder->options->coins, user_coin, id);
    uint64_t coin = secure_stream_u64(&stream);
    secure_stream_wipe(&stream);
    return coin;
}

/* Which part of the range -2 .. 2 holds this. */
static int part_of(float y) {
    const int part = (int)((y + 2) * ((float)RANGE_PARTS / 4));
    return part < RANGE_PARTS ? part : RANGE_PARTS - 1;
}

/* The user's ratings that count, sorted by row, at most one a row. */
static size_t take_ratings(const struct builder *builder, const struct store_block *block,
                           uint32_t u, struct packing *packing) {
    const struct private_ratings_options *options = builder->options;
    double middle = (options->range_min + options->range_max) / 2;
    double unit = (options->range_max - options->range_min) / 4;
    struct entry *first = packing->entries + packing->n_ratings;
    size_t n = 0;
    for (uint64_t r = block->start[u]; r < block->start[u + 1]; r++) {
        uint32_t row = builder->row_of_item[block->item[r]];
        double value = block->value[r];
        bool in_range = value >= options->range_min && value <= options->range_max;
        packing->counts.not_in_catalogue += row == no_row;
        packing->counts.out_of_range += row != no_row && !in_range;
        if (row == no_row || !in_range) continue;
        first[n++] = (struct entry){
            .row = row, .y = options->are_events ? 1 : (float)((value - middle) / unit)};
        if (!options->are_events) packing->counts.in_part[part_of(first[n - 1].y)]++;
    }
    sort_by_row(first, n, packing->spare);
    return trim(builder, block, u, first, keep_one_each(first, n), packing);
}

/* Seconds of the first year, and those after 2199, are more likely dates written as numbers, such
 * as 20260115 and 202601151830, or row numbers. */
static bool is_doubtful(int64_t time) {
    const int64_t first_year = INT64_C(365) * 24 * 60 * 60, year_2200 = INT64_C(7258118400);
    const int64_t year_10000 = INT64_C(253402300800); /* from there on users are left out */
    return (time >= 0 && time < first_year) || (time >= year_2200 && time < year_10000);
}

/* Whether the user takes part, by the first of all of their records. */
static bool is_in_cohort(const struct builder *builder, const struct store_block *block, uint32_t u,
                         struct packing *packing) {
    const struct cohort *cohort = builder->options->cohort;
    if (!cohort || !cohort->is_declared) return true;
    const uint64_t from = block->start[u], end = block->start[u + 1];
    int64_t first = INT64_MAX;
    for (uint64_t r = from; block->time && r < end; r++)
        if (block->time[r] < first) first = block->time[r];
    packing->counts.doubtful_firsts += is_doubtful(first);
    packing->counts.firsts++;
    const enum cohort_place place = cohort_place_of(cohort, block->time ? block->time + from : NULL,
                                                    (size_t)(block->start[u + 1] - from));
    packing->counts.users_of_other_periods += place == COHORT_OUT;
    packing->counts.users_without_time += place == COHORT_UNKNOWN;
    return place == COHORT_IN;
}

static int pack_users(void *self, int worker, const struct store_block *block, void *product,
                      struct dpmf_error *error) {
    const struct builder *builder = self;
    struct packing *packing = product;
    (void)worker;
    packing->n_users = packing->n_ratings = packing->longest = 0;
    packing->counts = (struct private_ratings_report){0};
    size_t most = 0, room;
    for (uint32_t u = 0; u < block->n_users; u++)
        if (block->start[u + 1] - block->start[u] > most)
            most = (size_t)(block->start[u + 1] - block->start[u]);
    if (__builtin_add_overflow((size_t)block->n_ratings, most, &room))
        return error_no_memory(error);
    if (!memory_reserve(&packing->heads, &packing->head_capacity, block->n_users,
                        sizeof *packing->heads) ||
        !memory_reserve(&packing->entries, &packing->entry_capacity, room,
                        sizeof *packing->entries))
        return error_no_memory(error);
    packing->spare = packing->entries + block->n_ratings;
    for (uint32_t u = 0; u < block->n_users; u++) {
        double scale = scale_of(builder, block, u, packing);
        look_for_users(builder, block, u, packing);
        if (!is_in_cohort(builder, block, u, packing)) continue;
        size_t n = scale > 0 ? take_ratings(builder, block, u, packing) : 0;
        if (n == 0) {
            packing->counts.users_left_out++;
            continue;
        }
        packing->heads[packing->n_users++] = (struct head){scale, n, coin_of(builder, block, u)};
        packing->n_ratings += n;
        if (n > packing->longest) packing->longest = n;
    }
    return 0;
}

static unsigned char *flatten(const struct packing *packing, size_t *bytes) {
    size_t heads = packing->n_users * sizeof(struct head), n = packing->n_ratings;
    *bytes = heads + n * (sizeof(uint32_t) + sizeof(float));
    unsigned char *data = memory_alloc(*bytes, 1);
    if (!data) return NULL;
    memcpy(data, packing->heads, heads);
    uint32_t *row = (uint32_t *)(void *)(data + heads);
    float *y = (float *)(void *)(row + n);
    for (size_t i = 0; i < n; i++) {
        row[i] = packing->entries[i].row;
        y[i] = packing->entries[i].y;
    }
    return data;
}

static int keep_packed(void *self, void *product, struct dpmf_error *error) {
    struct builder *builder = self;
    struct private_ratings *ratings = builder->ratings;
    const struct packing *packing = product;
    struct private_ratings_report *report = builder->report;
    report->not_in_catalogue += packing->counts.not_in_catalogue;
    report->out_of_range += packing->counts.out_of_range;
    report->users_left_out += packing->counts.users_left_out;
    report->users_of_other_periods += packing->counts.users_of_other_periods;
    report->users_without_time += packing->counts.users_without_time;
    report->firsts += packing->counts.firsts;
    report->doubtful_firsts += packing->counts.doubtful_firsts;
    report->users_with_a_wish += packing->counts.users_with_a_wish;
    report->trimmed += packing->counts.trimmed;
    report->users_as_items += packing->counts.users_as_items;
    report->users_as_numbered_items += packing->counts.users_as_numbered_items;
    report->users_as_categories += packing->counts.users_as_categories;
    report->users_as_numbers += packing->counts.users_as_numbers;
    for (int part = 0; part < RANGE_PARTS; part++)
        report->in_part[part] += packing->counts.in_part[part];
    report->users += packing->n_users;
    report->ratings += packing->n_ratings;
    if (packing->n_users == 0) return 0;

    struct packed_block block = {.offset = builder->file_bytes,
                                 .n_users = packing->n_users,
                                 .n_ratings = packing->n_ratings};
    if (!memory_reserve(&ratings->blocks, &ratings->capacity, ratings->n_blocks + 1,
                        sizeof *ratings->blocks))
        return error_no_memory(error);
    block.data = flatten(packing, &block.bytes);
    if (!block.data) return error_no_memory(error);
    if (ratings->on_disk) {
        int code = file_write_all(ratings->file, block.data, block.bytes, "packed ratings", error);
        free(block.data);
        block.data = NULL;
        if (code < 0) return code;
    }
    builder->file_bytes += block.bytes;
    if (block.bytes > ratings->largest) ratings->largest = block.bytes;
    if (packing->longest > ratings->longest) ratings->longest = packing->longest;
    ratings->n_users += packing->n_users;
    ratings->blocks[ratings->n_blocks++] = block;
    return 0;
}

/* ---- building -------------------------------------------------------------------------------- */

static int number_items(struct builder *builder, const struct dpmf_store *store,
                        struct dpmf_error *error) {
    uint64_t n = store_n_items(store);
    builder->row_of_item = memory_alloc((size_t)n, sizeof *builder->row_of_item);
    builder->is_rated = memory_alloc_zero((size_t)builder->options->catalogue->ids.n, sizeof(bool));
    if (!builder->row_of_item || !builder->is_rated) return error_no_memory(error);
    for (uint64_t i = 0; i < n; i++) {
        struct store_item item = store_item_at(store, i);
        uint64_t row = factor_ids_find(&builder->options->catalogue->ids, item.id, item.id_length);
        builder->row_of_item[i] = row == UINT64_MAX ? no_row : (uint32_t)row;
        if (row == UINT64_MAX || item.n_ratings == 0) continue;
        builder->is_rated[row] = true;
        builder->report->items_rated++;
    }
    return 0;
}

/* A user who wishes for epsilon_i contributes at most mu(epsilon_i) / mu(epsilon) of the norm that
 * others may: each release is then that much less informative about them, and so is their
 * composition. Without a delta it is epsilon_i / epsilon of what a user may lose
 * (posterior_rule.h). Rounded down. */
static double share_of(const struct private_ratings_options *options, double epsilon,
                       double whole) {
    if (!(epsilon < options->epsilon)) return 1;
    double part = options->delta > 0 ? accountant_mu(epsilon, options->delta) : epsilon;
    return nextafter(part / whole, 0);
}

static int scale_wishes(struct builder *builder, struct dpmf_error *error) {
    const struct private_ratings_options *options = builder->options;
    const struct user_wishes *wishes = options->wishes;
    if (!wishes) return 0;
    double whole =
        options->delta > 0 ? accountant_mu(options->epsilon, options->delta) : options->epsilon;
    builder->wish_scale = memory_alloc((size_t)wishes->ids.n, sizeof *builder->wish_scale);
    if (!builder->wish_scale) return error_no_memory(error);
    for (uint64_t i = 0; i < wishes->ids.n; i++) {
        double epsilon = wishes->epsilon[i], scale = share_of(options, epsilon, whole);
        /* (0, delta) would still allow a little: who asks for 0 wants to be left out. */
        builder->wish_scale[i] = epsilon > 0 && scale > 0 ? fmin(scale, 1) : 0;
    }
    return 0;
}

static int pack_store(struct builder *builder, const struct dpmf_store *store,
                      const struct dpmf_run *run, struct dpmf_error *error) {
    const bool wants_times = builder->options->cohort && builder->options->cohort->is_declared;
    size_t n = store_visit_products(store, run);
    struct packing *packings = memory_alloc_zero(n, sizeof *packings);
    void **pointers = memory_alloc(n, sizeof *pointers);
    int code = packings && pointers ? 0 : error_no_memory(error);
    for (size_t i = 0; code == 0 && i < n; i++) pointers[i] = &packings[i];
    const struct store_visitor visitor = {
        .phase = "packing",
        .want = STORE_WANT_VALUE | STORE_WANT_IDS | (wants_times ? STORE_WANT_TIME : 0),
        .visit = pack_users,
        .finish = keep_packed,
        .self = builder,
        .products = pointers,
        .n_products = n,
    };
    if (code == 0) code = store_visit(store, &visitor, run, error);
    for (size_t i = 0; packings && i < n; i++) {
        free(packings[i].heads);
        free(packings[i].entries);
    }
    free(packings);
    free(pointers);
    return code;
}

int private_ratings_build(const struct dpmf_store *store,
                          const struct private_ratings_options *options, const struct dpmf_run *run,
                          struct private_ratings **out, struct private_ratings_report *report,
                          struct dpmf_error *error) {
    *out = NULL;
    *report = (struct private_ratings_report){0};
    struct private_ratings *ratings = memory_alloc_zero(1, sizeof *ratings);
    if (!ratings) return error_no_memory(error);
    struct builder builder = {.options = options, .ratings = ratings, .report = report};
    uint64_t bytes = store_n_ratings(store) * (sizeof(uint32_t) + sizeof(float)) +
                     store_n_users(store) * sizeof(struct head);
    ratings->file = -1;
    ratings->longest = options->longest;
    report->on_disk = ratings->on_disk = bytes > options->memory;
    int code = distinct_users_check(store, error);
    if (code == 0) code = number_items(&builder, store, error);
    if (code == 0) code = scale_wishes(&builder, error);
    if (code == 0 && ratings->on_disk)
        code = output_file_nameless(store_path(store), &ratings->file, error);
    if (code == 0) code = pack_store(&builder, store, run, error);
    free(builder.row_of_item);
    free(builder.is_rated);
    free(builder.wish_scale);
    if (code < 0) {
        private_ratings_free(ratings);
        return code;
    }
    *out = ratings;
    return 0;
}

void private_ratings_free(struct private_ratings *ratings) {
    if (!ratings) return;
    for (size_t i = 0; i < ratings->n_blocks; i++) free(ratings->blocks[i].data);
    if (ratings->file >= 0) close(ratings->file);
    free(ratings->blocks);
    free(ratings);
}

uint64_t private_ratings_users(const struct private_ratings *ratings) { return ratings->n_users; }
size_t private_ratings_longest(const struct private_ratings *ratings) { return ratings->longest; }

/* ---- visiting -------------------------------------------------------------------------------- */

struct visiting {
    const struct private_ratings *ratings;
    const struct private_visit *visit;
    _Atomic size_t next;
    _Atomic int code;
    struct dpmf_error error; /* error of the thread that set the code */
};

static void fail(struct visiting *visiting, int code, const struct dpmf_error *error) {
    int none = 0;
    if (atomic_compare_exchange_strong(&visiting->code, &none, code)) visiting->error = *error;
}

static int visit_block(struct visiting *visiting, const struct packed_block *block,
                       const unsigned char *data, int worker, struct dpmf_error *error) {
    const struct head *head = (const void *)data;
    const uint32_t *row = (const void *)(head + block->n_users);
    const float *y = (const void *)(row + block->n_ratings);
    int code = 0;
    for (size_t u = 0; u < block->n_users && code == 0; u++) {
        const struct private_user user = {(size_t)head[u].n, row, y, head[u].scale, head[u].coin};
        code = visiting->visit->visit(visiting->visit->self, worker, &user, error);
        row += user.n;
        y += user.n;
    }
    return code;
}

static int load_and_visit(struct visiting *visiting, size_t b, unsigned char *buffer, int worker,
                          struct dpmf_error *error) {
    const struct packed_block *block = &visiting->ratings->blocks[b];
    const unsigned char *data = block->data;
    int code = 0;
    if (!data) {
        code = file_read_at(visiting->ratings->file, buffer, block->bytes, block->offset,
                            "packed ratings", error);
        data = buffer;
    }
    const struct private_visit *visit = visiting->visit;
    if (code == 0 && visit->keep_on) code = visit->keep_on(visit->keep_on_self, error);
    return code < 0 ? code : visit_block(visiting, block, data, worker, error);
}

static void visit_blocks(void *self, int worker) {
    struct visiting *visiting = self;
    struct dpmf_error error = {0};
    unsigned char *buffer = NULL;
    if (visiting->ratings->on_disk) {
        buffer = memory_alloc(visiting->ratings->largest, 1);
        if (!buffer) fail(visiting, error_no_memory(&error), &error);
    }
    while (atomic_load_explicit(&visiting->code, memory_order_relaxed) == 0) {
        size_t b = atomic_fetch_add(&visiting->next, 1);
        if (b >= visiting->ratings->n_blocks) break;
        int code = load_and_visit(visiting, b, buffer, worker, &error);
        if (code < 0) fail(visiting, code, &error);
    }
    free(buffer);
}

int private_ratings_visit(const struct private_ratings *ratings, struct thread_pool *pool,
                          const struct private_visit *visit, struct dpmf_error *error) {
    struct visiting visiting = {.ratings = ratings, .visit = visit};
    thread_pool_run(pool, visit_blocks, &visiting);
    int code = atomic_load(&visiting.code);
    if (code < 0 && error) *error = visiting.error;
    return code;
}
