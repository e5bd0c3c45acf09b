/*
 * Parts a store into a training set and a test set: by a coin a rating, a coin a user, by time or
 * by a probe file. The side of a rating is a function of the rating, so it is worked out twice
 * rather than kept: one pass counts the items of each side, which gives the sides their
 * dictionaries, and one writes both stores, with users packed into full blocks again. Fed by the
 * store, probe_file.c and time_cut.c; feeds two writers.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arguments.h"
#include "base/bytes.h"
#include "base/checksum.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/pipeline.h"
#include "base/threads.h"
#include "files/output_file.h"
#include "split/probe_file.h"
#include "split/split_coin.h"
#include "split/time_cut.h"
#include "store/block_packer.h"
#include "store/store.h"

enum side { TRAIN, TEST, N_SIDES };

static const char *const SIDE_NAMES[N_SIDES] = {"training", "test"};

#define NOT_ON_SIDE UINT32_MAX

struct split_worker {
    uint32_t *item_ratings[N_SIDES]; /* an item has at most one rating of each of 2^32 users */
    uint64_t ratings[N_SIDES], users[N_SIDES]; /* a user counts on the side of their first rating */
    uint64_t at_cut[N_SIDES];                  /* ratings of the second of a cut by time */
    uint64_t sides;   /* digests of the users' ratings and their sides, added up */
    uint8_t *is_test; /* sides of the current block's ratings */
    size_t is_test_capacity;
};

/* What a block leaves for each side, on its way from visit to finish. */
struct split_product {
    struct block_arrays part[N_SIDES];
};

struct split {
    const struct dpmf_store *store;
    const struct dpmf_split_options *options;
    const struct dpmf_run *run;
    bool has_times;

    uint64_t *item_hash; /* with DPMF_SPLIT_RANDOM and _TIME */
    struct time_cut cut;
    struct probe_file *probe;

    struct split_worker *workers;
    int n_workers;
    struct split_product *product;
    void **products;
    size_t n_products;

    uint64_t *item_ratings[N_SIDES];
    uint32_t *new_number[N_SIDES]; /* number of an item on each side */
    uint64_t n_items[N_SIDES], n_ratings[N_SIDES];
    uint64_t *id_hash; /* hash of each item's id */
    uint64_t digest;   /* digest of the pairs, and of where each went */
    struct store_writer *writer[N_SIDES];
    struct block_packer packer[N_SIDES];
};

/* ---- which side ------------------------------------------------------------------------------ */

/* Both lists increase. */
static void mark_probe(const struct split *split, const struct store_block *block, uint32_t i,
                       uint8_t *is_test) {
    assert(i < block->n_users && is_test);
    uint64_t from = block->id_start[i], r = block->start[i], end = block->start[i + 1];
    const struct probe_pair *pair = NULL;
    size_t n = probe_file_user(split->probe, block->id_bytes + from,
                               (size_t)(block->id_start[i + 1] - from), &pair);
    memset(is_test + r, 0, (size_t)(end - r));
    for (size_t p = 0; p < n && r < end;) {
        if (block->item[r] == pair[p].item) is_test[r] = 1;
        if (block->item[r] < pair[p].item)
            r++;
        else
            p++;
    }
}

static void mark_user(const struct split *split, const struct store_block *block, uint32_t i,
                      uint8_t *is_test) {
    assert(i < block->n_users);
    const struct dpmf_split_options *options = split->options;
    uint64_t from = block->start[i], end = block->start[i + 1], seed = options->seed;
    uint64_t user_hash = options->by_number ? split_coin_number(block->first_user + i, seed)
                                            : split_coin_user(block, i, seed);
    switch (options->by) {
    case DPMF_SPLIT_RANDOM:
        for (uint64_t r = from; r < end; r++) {
            uint64_t coin = split_coin_pair(user_hash, split->item_hash[block->item[r]], seed);
            is_test[r] = split_coin_is_test(coin, options->test_fraction);
        }
        break;
    case DPMF_SPLIT_USER:
        memset(is_test + from, split_coin_is_test(user_hash, options->test_fraction),
               (size_t)(end - from));
        break;
    case DPMF_SPLIT_TIME:
        for (uint64_t r = from; r < end; r++) {
            int64_t time = block->time ? block->time[r] : STORE_NO_TIME;
            uint64_t coin = 0; /* matters at the cut only */
            if (time == split->cut.time)
                coin = split_coin_pair(user_hash, split->item_hash[block->item[r]], seed);
            is_test[r] = time_cut_is_late(&split->cut, time, coin);
        }
        break;
    case DPMF_SPLIT_PROBE: mark_probe(split, block, i, is_test); break;
    }
}

/* @return a mark for each rating of the block, NULL without memory */
static const uint8_t *mark_block(const struct split *split, struct split_worker *worker,
                                 const struct store_block *block) {
    size_t n = (size_t)block->n_ratings;
    if (!memory_reserve(&worker->is_test, &worker->is_test_capacity, n > 0 ? n : 1, 1)) return NULL;
    for (uint32_t i = 0; i < block->n_users; i++) mark_user(split, block, i, worker->is_test);
    return worker->is_test;
}

/* ---- the first pass: counting ---------------------------------------------------------------- */

/* The same for the same pairs on the same sides, in whatever order and however they are packed. */
static uint64_t digest_user(const struct split *split, const struct store_block *block, uint32_t i,
                            const uint8_t *is_test) {
    assert(block->start[i] < block->start[i + 1]);
    uint64_t all = 0, test = 0;
    uint8_t both[16];
    for (uint64_t r = block->start[i]; r < block->start[i + 1]; r++) {
        const uint64_t hash = split->id_hash[block->item[r]];
        all += hash;
        test += hash & -(uint64_t)is_test[r];
    }
    bytes_put_u64(both, all);
    bytes_put_u64(both + 8, test);
    return checksum64_seeded(both, sizeof both, split_coin_user(block, i, 0));
}

static int count_block(void *self, int worker_number, const struct store_block *block,
                       void *product, struct dpmf_error *error) {
    (void)product;
    struct split *split = self;
    struct split_worker *worker = &split->workers[worker_number];
    const uint8_t *is_test = mark_block(split, worker, block);
    if (!is_test) return error_no_memory(error);
    const bool by_time = split->options->by == DPMF_SPLIT_TIME;
    uint64_t n_test = 0;
    for (uint64_t r = 0; r < block->n_ratings; r++) {
        worker->item_ratings[is_test[r]][block->item[r]]++;
        n_test += is_test[r];
        if (by_time && block->time && block->time[r] == split->cut.time)
            worker->at_cut[is_test[r]]++;
    }
    for (uint32_t i = 0; i < block->n_users; i++) {
        worker->users[is_test[block->start[i]]]++;
        worker->sides += digest_user(split, block, i, is_test);
    }
    worker->ratings[TEST] += n_test;
    worker->ratings[TRAIN] += block->n_ratings - n_test;
    return 0;
}

/* Adds up what the workers counted, and numbers each side's items in the order of the store. */
static int merge_counts(struct split *split, struct dpmf_error *error) {
    size_t n = (size_t)store_n_items(split->store);
    for (int side = 0; side < N_SIDES; side++) {
        uint64_t *count = split->item_ratings[side] = memory_alloc_zero(n + 1, sizeof *count);
        uint32_t *number = split->new_number[side] = memory_alloc(n + 1, sizeof *number);
        if (!count || !number) return error_no_memory(error);
        for (int w = 0; w < split->n_workers; w++) {
            split->n_ratings[side] += split->workers[w].ratings[side];
            const uint32_t *from = split->workers[w].item_ratings[side];
            for (size_t j = 0; j < n; j++) count[j] += from[j];
        }
        for (size_t j = 0; j < n; j++)
            number[j] = count[j] > 0 ? (uint32_t)split->n_items[side]++ : NOT_ON_SIDE;
    }
    return 0;
}

/* Within a second there is no order, and a coin decides: as good as any, but not by time. */
static void warn_of_ties(const struct split *split) {
    uint64_t at_cut[N_SIDES] = {0};
    char text[DPMF_ERROR_TEXT_MAX];
    for (int w = 0; w < split->n_workers; w++)
        for (int side = 0; side < N_SIDES; side++) at_cut[side] += split->workers[w].at_cut[side];
    if (at_cut[TRAIN] == 0 || !split->run->warn) return;
    snprintf(text, sizeof text,
             "of the second of the cut, %" PRIu64 " of %" PRIu64
             " %s are in the training set, at random: time does not divide them",
             at_cut[TRAIN], at_cut[TRAIN] + at_cut[TEST],
             store_holds_events(split->store) ? "events" : "ratings");
    split->run->warn(split->run->warn_self, text);
}

/* Coins are those of the seed, so what an earlier split has left of a set falls otherwise than was
 * asked for. Fair coins are never so far off: it is ten standard deviations. */
static int check_coins(const struct split *split, struct dpmf_error *error) {
    const struct dpmf_split_options *options = split->options;
    const bool whole = options->by == DPMF_SPLIT_USER;
    double tossed[N_SIDES] = {0};
    if (options->by != DPMF_SPLIT_RANDOM && !whole) return 0;
    for (int w = 0; w < split->n_workers; w++)
        for (int side = 0; side < N_SIDES; side++)
            tossed[side] +=
                (double)(whole ? split->workers[w].users[side] : split->workers[w].ratings[side]);
    const double n = tossed[TRAIN] + tossed[TEST], f = options->test_fraction;
    if (fabs(tossed[TEST] - n * f) <= 10 * sqrt(n * f * (1 - f)) + 10) return 0;
    error_set(error, DPMF_ERR_RATINGS_NONE_LEFT,
              "the test set would get %.3g %% and not %.3g %%, as if this seed had split them "
              "before",
              100 * tossed[TEST] / n, 100 * f);
    error_place(error, store_path(split->store), 0, 0);
    return error_hint(error, "choose another seed than that of the earlier split");
}

static int check_sides(const struct split *split, struct dpmf_error *error) {
    for (int side = 0; side < N_SIDES; side++) {
        if (split->n_ratings[side] > 0) continue;
        error_set(error, DPMF_ERR_RATINGS_NONE_LEFT, "the %s set would be empty", SIDE_NAMES[side]);
        error_place(error, store_path(split->store), 0, 0);
        if (split->options->by == DPMF_SPLIT_PROBE && side == TEST)
            return error_hint(error, "none of the probe file's pairs is in the store: do its ids "
                                     "match?");
        return error_hint(error, "choose another test fraction or another seed");
    }
    return check_coins(split, error);
}

/* ---- the second pass: writing ---------------------------------------------------------------- */

/* The user's ratings of one side; nothing when there are none. */
static bool take_part(const struct split *split, const struct store_block *block, uint32_t i,
                      const uint8_t *is_test, enum side side, struct block_arrays *part) {
    assert(i < block->n_users && is_test && part);
    uint64_t from = block->start[i], end = block->start[i + 1], n = 0;
    const char *id = block->id_bytes + block->id_start[i];
    size_t id_length = (size_t)(block->id_start[i + 1] - block->id_start[i]);
    if (!block_arrays_room(part, end - from, id_length, split->has_times)) return false;
    uint32_t *item = part->item + part->n_ratings;
    double *value = part->value + part->n_ratings;
    int64_t *time = split->has_times ? part->time + part->n_ratings : NULL;
    for (uint64_t r = from; r < end; r++) {
        if (is_test[r] != side) continue;
        item[n] = split->new_number[side][block->item[r]];
        value[n] = block->value[r];
        if (time) time[n] = block->time ? block->time[r] : STORE_NO_TIME;
        n++;
    }
    if (n > 0) block_arrays_end_user(part, n, id, id_length);
    return true;
}

static int part_block(void *self, int worker, const struct store_block *block, void *product_object,
                      struct dpmf_error *error) {
    struct split *split = self;
    struct split_product *product = product_object;
    const uint8_t *is_test = mark_block(split, &split->workers[worker], block);
    if (!is_test) return error_no_memory(error);
    for (int side = 0; side < N_SIDES; side++) {
        block_arrays_clear(&product->part[side]);
        for (uint32_t i = 0; i < block->n_users; i++)
            if (!take_part(split, block, i, is_test, (enum side)side, &product->part[side]))
                return error_no_memory(error);
    }
    return 0;
}

static int pack_parts(void *self, void *product_object, struct dpmf_error *error) {
    struct split *split = self;
    struct split_product *product = product_object;
    int code = 0;
    for (int side = 0; side < N_SIDES && code == 0; side++) {
        struct store_block block = block_arrays_view(&product->part[side], 0);
        code = block_packer_add(&split->packer[side], &block, error);
    }
    return code;
}

static int finish_side(struct split *split, int side, struct dpmf_error *error) {
    assert(side == 0 || side == 1);
    int code = block_packer_flush(&split->packer[side], error);
    if (code != 0) return code;
    struct store_item *items = memory_alloc((size_t)split->n_items[side], sizeof *items);
    if (!items) return error_no_memory(error);
    size_t n = 0;
    for (uint64_t j = 0; j < store_n_items(split->store); j++) {
        if (split->new_number[side][j] == NOT_ON_SIDE) continue;
        items[n] = store_item_at(split->store, j);
        items[n++].n_ratings = split->item_ratings[side][j];
    }
    code = store_writer_finish(split->writer[side], items, n, error);
    free(items);
    return code != 0 ? code : store_writer_prepare(split->writer[side], error);
}

static int visit(struct split *split, const char *phase,
                 int (*visit_block)(void *, int, const struct store_block *, void *,
                                    struct dpmf_error *),
                 int (*finish)(void *, void *, struct dpmf_error *), struct dpmf_error *error) {
    bool by_time = split->options->by == DPMF_SPLIT_TIME;
    struct store_visitor visitor = {
        .phase = phase,
        .want = STORE_WANT_IDS | (finish ? STORE_WANT_VALUE : 0u) |
                (finish || by_time ? STORE_WANT_TIME : 0u),
        .visit = visit_block,
        .finish = finish,
        .self = split,
        .products = split->products,
        .n_products = split->n_products,
    };
    return store_visit(split->store, &visitor, split->run, error);
}

/* Where the cut by time falls follows from everyone's ratings, so it decides what is left of each
 * person's. */
static struct store_layout layout_of_side(const struct split *split, int side) {
    struct store_layout layout = *store_layout_of(split->store);
    if (split->options->by == DPMF_SPLIT_TIME && layout.origin > STORE_ORIGIN_TOGETHER)
        layout.origin = STORE_ORIGIN_TOGETHER;
    store_layout_add_half(&layout, split->digest, side == TEST);
    return layout;
}

static int write_sides(struct split *split, const char *const path[N_SIDES],
                       struct dpmf_error *error) {
    int code = 0;
    for (int side = 0; side < N_SIDES && code == 0; side++) {
        const struct store_layout layout = layout_of_side(split, side);
        code =
            store_writer_open(&split->writer[side], path[side], split->has_times, &layout, error);
        if (code == 0)
            block_packer_init(&split->packer[side], split->writer[side], split->has_times);
    }
    if (code == 0) code = visit(split, "writing", part_block, pack_parts, error);
    for (int side = 0; side < N_SIDES && code == 0; side++) code = finish_side(split, side, error);
    /* Both are on the disk. The old test set goes before the new training set comes, which may hold
     * its ratings. */
    if (code == 0) code = store_writer_clear(split->writer[TEST], error);
    for (int side = 0; side < N_SIDES && code == 0; side++) {
        code = store_writer_commit(split->writer[side], NULL, error);
        split->writer[side] = NULL;
    }
    return code;
}

/* ---- the whole ------------------------------------------------------------------------------- */

void dpmf_split_options_init(struct dpmf_split_options *options, size_t size) {
    const struct dpmf_split_options made = {
        .size = sizeof made, .by = DPMF_SPLIT_RANDOM, .test_fraction = 0.1, .seed = 1};
    options_give(options, size, &made, sizeof made);
}

static bool same_file(const char *a, const char *b) {
    struct stat x, y;
    if (strcmp(a, b) == 0) return true;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && S_ISREG(x.st_mode) && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

static int check_not_read(const struct dpmf_store *store, const char *output,
                          struct dpmf_error *error) {
    if (!store_is_read_from(store, output)) return 0;
    error_set(error, DPMF_ERR_USAGE_CONFLICT, "this would be written over the ratings");
    error_hint(error, "name another file to write");
    error_place(error, output, 0, 0);
    return DPMF_ERR_USAGE_CONFLICT;
}

static int check_options(const struct dpmf_split_options *options, const char *train,
                         const char *test, struct dpmf_error *error) {
    if (same_file(train, test)) {
        error_set(error, DPMF_ERR_USAGE_CONFLICT,
                  "the training set and the test set would be the same file");
        return error_place(error, train, 0, 0);
    }
    switch (options->by) {
    case DPMF_SPLIT_RANDOM:
    case DPMF_SPLIT_USER:
    case DPMF_SPLIT_TIME:
        if (options->by_number && options->by != DPMF_SPLIT_RANDOM)
            return error_set(error, DPMF_ERR_USAGE_VALUE, "only a random split can go by numbers");
        if (options->test_fraction > 0 && options->test_fraction < 1) return 0;
        return error_set(error, DPMF_ERR_USAGE_VALUE, "test fraction %g is not between 0 and 1",
                         options->test_fraction);
    case DPMF_SPLIT_PROBE:
        if (options->probe) return 0;
        return error_set(error, DPMF_ERR_USAGE_VALUE, "a split by probe needs a probe file");
    }
    return error_set(error, DPMF_ERR_USAGE_VALUE, "unknown way %d to split", (int)options->by);
}

static int make_workers(struct split *split, struct dpmf_error *error) {
    size_t n_items = (size_t)store_n_items(split->store);
    split->n_workers = pipeline_workers(threads_wanted(split->run));
    split->workers = memory_alloc_zero((size_t)split->n_workers, sizeof *split->workers);
    if (!split->workers) return error_no_memory(error);
    for (int w = 0; w < split->n_workers; w++) {
        for (int side = 0; side < N_SIDES; side++) {
            split->workers[w].item_ratings[side] = memory_alloc_zero(n_items + 1, sizeof(uint32_t));
            if (!split->workers[w].item_ratings[side]) return error_no_memory(error);
        }
    }
    split->id_hash = split_coin_items(split->store, 0);
    if (!split->id_hash) return error_no_memory(error);
    split->n_products = store_visit_products(split->store, split->run);
    split->product = memory_alloc_zero(split->n_products, sizeof *split->product);
    split->products = memory_alloc(split->n_products, sizeof *split->products);
    if (!split->product || !split->products) return error_no_memory(error);
    for (size_t i = 0; i < split->n_products; i++) split->products[i] = &split->product[i];
    return 0;
}

/* Whatever it takes to tell the side of a rating. */
static int prepare_marks(struct split *split, struct dpmf_error *error) {
    const struct dpmf_split_options *options = split->options;
    int code = 0;
    if (options->by == DPMF_SPLIT_RANDOM || options->by == DPMF_SPLIT_TIME) {
        split->item_hash = split_coin_items(split->store, options->seed);
        if (!split->item_hash) return error_no_memory(error);
        for (uint64_t j = 0; options->by_number && j < store_n_items(split->store); j++)
            split->item_hash[j] = split_coin_number(j, options->seed);
    }
    if (options->by == DPMF_SPLIT_TIME)
        code = time_cut_find(split->store, options->test_fraction, options->seed, split->item_hash,
                             TIME_CUT_COLLECT, split->run, &split->cut, error);
    if (options->by == DPMF_SPLIT_PROBE) {
        code = probe_file_read(options->probe, &split->probe, error);
        if (code == 0) code = probe_file_bind(split->probe, split->store, error);
    }
    return code;
}

static void split_free(struct split *split) {
    for (int w = 0; split->workers && w < split->n_workers; w++) {
        free(split->workers[w].item_ratings[TRAIN]);
        free(split->workers[w].item_ratings[TEST]);
        free(split->workers[w].is_test);
    }
    for (size_t i = 0; split->product && i < split->n_products; i++) {
        block_arrays_free(&split->product[i].part[TRAIN]);
        block_arrays_free(&split->product[i].part[TEST]);
    }
    for (int side = 0; side < N_SIDES; side++) {
        store_writer_abandon(split->writer[side]);
        block_packer_free(&split->packer[side]);
        free(split->item_ratings[side]);
        free(split->new_number[side]);
    }
    free(split->workers);
    free(split->product);
    free(split->products);
    free(split->item_hash);
    free(split->id_hash);
    probe_file_free(split->probe);
}

static void fill_report(const struct split *split, struct dpmf_split_report *report) {
    if (!report) return;
    memset(report, 0, sizeof *report);
    report->train_ratings = split->n_ratings[TRAIN];
    report->train_users = split->packer[TRAIN].n_users;
    report->train_items = split->n_items[TRAIN];
    report->test_ratings = split->n_ratings[TEST];
    report->test_users = split->packer[TEST].n_users;
    report->test_items = split->n_items[TEST];
    if (split->probe)
        report->probe_missing = probe_file_n_pairs(split->probe) - split->n_ratings[TEST];
    report->cut_time = split->cut.time;
}

int dpmf_store_split(struct dpmf_store *store, const char *train, const char *test,
                     const struct dpmf_split_options *options, const struct dpmf_run *run,
                     struct dpmf_split_report *report, struct dpmf_error *error) {
    struct dpmf_error unwanted;
    if (!error) error = &unwanted;
    struct dpmf_split_options own = dpmf_split_options_default();
    struct dpmf_run own_run;
    int code = arguments_check(error, "store train test", store, train, test);
    if (code == 0) code = options_take(&own, sizeof own, options, "split_options", error);
    if (code == 0) code = run_take(&own_run, run, error);
    if (code < 0) return code;
    options = &own, run = &own_run;
    struct split split = {
        .store = store, .options = options, .run = run, .has_times = store_has_times(store)};
    const char *const path[N_SIDES] = {train, test};
    code = check_options(options, train, test, error);
    if (code == 0) code = check_not_read(store, train, error);
    if (code == 0) code = check_not_read(store, test, error);
    for (int side = 0; side < N_SIDES && code == 0; side++)
        code = output_file_check(path[side], DPMF_FILE_STORE, run->replace, error);
    if (code == 0) code = make_workers(&split, error);
    if (code == 0) code = prepare_marks(&split, error);
    if (code == 0) code = visit(&split, "counting", count_block, NULL, error);
    if (code == 0) code = merge_counts(&split, error);
    if (code == 0) code = check_sides(&split, error);
    if (code == 0) warn_of_ties(&split);
    for (int w = 0; code == 0 && w < split.n_workers; w++) split.digest += split.workers[w].sides;
    if (code == 0) code = write_sides(&split, path, error);
    if (code == 0 && report) fill_report(&split, report);
    split_free(&split);
    return code;
}
