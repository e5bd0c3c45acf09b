/*
 * The shape of the tiles of tiling.h: items by popularity, groups of them, superblocks of users,
 * sized from the caches and from the memory there is. tile_build.c cuts the ratings into it; where
 * memory does not allow for all chunks, or a superblock turns out larger than its slot, the shape
 * is chosen again.
 */
#include "schedule/tiling.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/checksum.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/pipeline.h"
#include "files/output_file.h"
#include "schedule/tile_build.h"
#include "store/store.h"

enum {
    GROUP_BYTES = 4 << 20,    /* most bytes of item vectors: a larger last cache is slow */
    SUPERBLOCKS_PER_LANE = 8, /* at least, so that the end of an epoch is balanced */
    SHORT_RUN = 3, /* an item met fewer times than this by a batch moves by, and its users stay */

    /* Bytes, for planning: a chunk of 72 holds about five ratings; packed, a rating takes five at
     * most as a rule; sorting needs 24, and chunks and packed bytes grow by doubling. */
    CHUNK_BYTES_A_RATING = 15,
    PACKED_BYTES_A_RATING = 5,
    BUILD_BYTES_A_RATING = 54,
    BUILD_BYTES_A_PACKED_RATING = 48,
    DECODE_BYTES_A_RATING = 12,
    SUPERBLOCK_BYTES = 160,                   /* bytes kept for each superblock */
    TILE_BYTES = sizeof(struct tile) + 8 + 1, /* bytes kept for each tile of a superblock */
};

/* Largest share of the ratings in a group: more would make threads wait for the popular group */
#define GROUP_SHARE 0.08
#define UNEVEN 1.25 /* the largest superblock, in terms of the average: more is found out */

/* ---- the shape ------------------------------------------------------------------------------- */

struct popular {
    uint64_t n_ratings;
    uint32_t item;
};

static int compare_popular(const void *a, const void *b) {
    const struct popular *x = a, *y = b;
    if (x->n_ratings != y->n_ratings) return x->n_ratings > y->n_ratings ? -1 : 1;
    return x->item < y->item ? -1 : x->item > y->item;
}

static uint64_t ratings_of_item(const struct dpmf_store *store,
                                const struct tiling_options *options, uint64_t item) {
    return options->whole ? options->whole->item_ratings[item]
                          : store_item_at(store, item).n_ratings;
}

/* All items by falling popularity: the same order wherever their numbers of ratings are. */
static int rank_items(struct tiling *tiling, const struct dpmf_store *store,
                      const struct tiling_options *options, struct popular **out,
                      struct dpmf_error *error) {
    size_t n = (size_t)tiling->n_items;
    struct popular *order = memory_alloc(n, sizeof order[0]);
    *out = order;
    if (!order) return error_no_memory(error);
    for (size_t i = 0; i < n; i++)
        order[i] = (struct popular){ratings_of_item(store, options, i), (uint32_t)i};
    qsort(order, n, sizeof order[0], compare_popular);
    return 0;
}

/* Deals the items into parts, to and fro: whoever gets the most popular of one round gets the least
 * popular of the next. */
static int deal_items(struct tiling *tiling, const struct popular *order,
                      struct dpmf_error *error) {
    size_t n = (size_t)tiling->n_items, n_parts = tiling->n_parts;
    tiling->parts = memory_alloc_zero(n_parts, sizeof tiling->parts[0]);
    tiling->row_of_item = memory_alloc(n, sizeof tiling->row_of_item[0]);
    tiling->item_of_row = memory_alloc(n, sizeof tiling->item_of_row[0]);
    tiling->group_of_row = memory_alloc(n, sizeof tiling->group_of_row[0]);
    if (!tiling->parts || !tiling->row_of_item || !tiling->item_of_row || !tiling->group_of_row)
        return error_no_memory(error);
    size_t row = 0;
    for (size_t part = 0; part < n_parts; part++) {
        tiling->parts[part].first_row = row;
        for (size_t dealt = 0; dealt < n; dealt += n_parts) {
            size_t place = dealt / n_parts % 2 == 0 ? part : n_parts - 1 - part;
            if (dealt + place >= n) continue;
            tiling->item_of_row[row] = order[dealt + place].item;
            tiling->row_of_item[order[dealt + place].item] = (uint32_t)row;
            row++;
        }
        tiling->parts[part].n_rows = row - tiling->parts[part].first_row;
    }
    return 0;
}

void tiling_group_bounds(const struct tiling_options *options, struct tiling_whole *whole) {
    size_t row_bytes = options->kernels->stride(options->k) * sizeof(float);
    bool users_always = options->kernels->user_resident_small(options->k);
    double share = users_always ? 1.0 / (2 * options->lanes) : GROUP_SHARE;
    double of_part = 1.0 / (2.0 * options->lanes * (double)whole->n_parts);
    if (whole->n_parts > 1 && share > of_part) share = of_part;
    whole->group_rows =
        (options->caches.l3 / 8 < GROUP_BYTES ? options->caches.l3 / 8 : GROUP_BYTES) / row_bytes;
    if (whole->group_rows < 1) whole->group_rows = 1;
    whole->group_ratings = (uint64_t)(share * (double)whole->n_ratings);
}

/* Groups are consecutive rows, bounded in bytes (a cache) and in their share of the ratings
 * (waiting), or end where the paper's tiers do. */
static bool closes_group(const struct tiling_options *options, const struct tiling_whole *whole,
                         uint64_t row, uint64_t n_rows, uint64_t n_ratings) {
    if (n_rows == 0) return false;
    if (options->tier_ends) {
        for (size_t t = 0; t < options->n_tiers; t++)
            if (options->tier_ends[t] == row) return true;
        return false;
    }
    return n_rows >= whole->group_rows || n_ratings > whole->group_ratings;
}

static int add_group(struct tiling *tiling, size_t *capacity, const struct group *group,
                     struct dpmf_error *error) {
    if (tiling->n_groups > UINT16_MAX)
        return error_set(error, DPMF_ERR_INPUT_TOO_MANY, "too many item groups");
    if (!memory_reserve(&tiling->groups, capacity, tiling->n_groups + 1, sizeof tiling->groups[0]))
        return error_no_memory(error);
    for (uint64_t row = group->first_row; row < group->first_row + group->n_rows; row++)
        tiling->group_of_row[row] = (uint16_t)tiling->n_groups;
    tiling->groups[tiling->n_groups++] = *group;
    return 0;
}

/* The groups of a part. */
static int cut_part(struct tiling *tiling, const struct dpmf_store *store,
                    const struct tiling_options *options, const struct tiling_whole *whole,
                    struct tiling_part *part, size_t *capacity, struct dpmf_error *error) {
    const uint64_t end = part->first_row + part->n_rows;
    struct group group = {.first_row = part->first_row};
    part->first_group = tiling->n_groups;
    for (uint64_t row = part->first_row; row < end; row++) {
        uint64_t more = ratings_of_item(store, options, tiling->item_of_row[row]);
        if (closes_group(options, whole, row, group.n_rows, group.n_ratings + more)) {
            int code = add_group(tiling, capacity, &group, error);
            if (code < 0) return code;
            group = (struct group){.first_row = row};
        }
        group.n_rows++;
        group.n_ratings += more;
    }
    int code = group.n_rows > 0 ? add_group(tiling, capacity, &group, error) : 0;
    part->n_groups = tiling->n_groups - part->first_group;
    return code;
}

/* `*rows` is the least bound of a group's rows, and becomes the one that was taken. */
static int make_groups(struct tiling *tiling, const struct dpmf_store *store,
                       const struct tiling_options *options, uint64_t *rows,
                       struct dpmf_error *error) {
    struct tiling_whole whole = {.n_ratings = tiling->n_ratings, .n_parts = 1};
    size_t capacity = 0;
    int code = 0;
    free(tiling->groups);
    tiling->groups = NULL;
    tiling->n_groups = 0;
    if (options->whole)
        whole = *options->whole;
    else
        tiling_group_bounds(options, &whole);
    if (whole.group_rows < *rows) whole.group_rows = *rows;
    *rows = whole.group_rows;
    for (size_t part = 0; part < tiling->n_parts && code == 0; part++)
        code = cut_part(tiling, store, options, &whole, &tiling->parts[part], &capacity, error);
    return code;
}

/* Which side of a group's chunks is resident: by how often a batch of users meets one of its
 * items. */
static void choose_residents(struct tiling *tiling, const struct tiling_options *options) {
    bool users_always = options->kernels->user_resident_small(options->k);
    uint64_t batch = tiling->batch_users < tiling->superblock_users ? tiling->batch_users
                                                                    : tiling->superblock_users;
    double share = options->whole ? (double)tiling->n_ratings / (double)options->whole->n_ratings
                                  : 1; /* about this share of each group's ratings */
    for (size_t g = 0; g < tiling->n_groups; g++) {
        struct group *group = &tiling->groups[g];
        double met = share * (double)group->n_ratings / (double)group->n_rows /
                     (double)tiling->n_users * (double)batch;
        group->user_resident = users_always || met < SHORT_RUN;
    }
}

/* ---- superblocks ----------------------------------------------------------------------------- */

static uint64_t at_least(uint64_t n, uint64_t least) { return n < least ? least : n; }

static size_t row_bytes(const struct tiling_options *options) {
    return options->kernels->stride(options->k) * sizeof(float);
}

/* As many users as give a whole number of rounds of the lanes. */
static uint64_t in_rounds(const struct tiling *tiling, const struct tiling_options *options,
                          uint64_t users) {
    uint64_t lanes = (uint64_t)options->lanes, n = (tiling->n_users + users - 1) / users;
    n = (n + lanes - 1) / lanes * lanes;
    return at_least((tiling->n_users + n - 1) / n, 1);
}

/* Superblocks of equal numbers of users, as many as keep the vectors of all lanes in half of L3. */
static uint64_t users_by_caches(const struct tiling *tiling, const struct tiling_options *options) {
    uint64_t lanes = (uint64_t)options->lanes;
    uint64_t wanted = at_least(options->caches.l3 / 2 / lanes / row_bytes(options), 1);
    uint64_t n = at_least((tiling->n_users + wanted - 1) / wanted, SUPERBLOCKS_PER_LANE * lanes);
    return in_rounds(tiling, options, at_least((tiling->n_users + n - 1) / n, 1));
}

/* Bytes that a run needs for its slots and superblocks, with `users` users a superblock. */
static uint64_t slots_need(const struct tiling *tiling, const struct tiling_options *options,
                           uint64_t users, uint64_t packed) {
    assert(users > 0);
    uint64_t n = (tiling->n_users + users - 1) / users;
    uint64_t slot = (users + 1) * (row_bytes(options) + sizeof(float)) + packed;
    return options->slots * slot + n * (SUPERBLOCK_BYTES + tiling->n_groups * TILE_BYTES);
}

static uint64_t ratings_need(const struct tiling *tiling, uint64_t users) {
    assert(tiling->n_users > 0);
    return (uint64_t)(UNEVEN * (double)tiling->n_ratings / (double)tiling->n_users *
                      (double)users) +
           256;
}

/* Bytes that one job of building needs, for the largest block and `ratings` ratings. */
static uint64_t job_need(const struct tiling *tiling, const struct dpmf_store *store,
                         uint64_t ratings) {
    return DECODE_BYTES_A_RATING * store_largest_block(store) + 8 * tiling->n_items +
           (tiling->streamed ? BUILD_BYTES_A_PACKED_RATING : BUILD_BYTES_A_RATING) * ratings;
}

/* How many bytes too many; 0 when so many users fit. */
static uint64_t excess(const struct tiling *tiling, const struct tiling_options *options,
                       const struct dpmf_store *store, uint64_t users) {
    uint64_t ratings = ratings_need(tiling, users);
    uint64_t packed = PACKED_BYTES_A_RATING * ratings + TILE_PACK_VALUES * sizeof(float);
    uint64_t run = slots_need(tiling, options, users, packed);
    uint64_t build = job_need(tiling, store, ratings) +
                     (tiling->n_users + users - 1) / users * tiling->n_groups * TILE_BYTES;
    uint64_t run_excess = run > options->memory_streamed ? run - options->memory_streamed : 0;
    uint64_t build_excess = build > options->memory_build ? build - options->memory_build : 0;
    return run_excess > build_excess ? run_excess : build_excess;
}

static int refuse(const struct tiling_options *options, uint64_t missing,
                  struct dpmf_error *error) {
    if (options->missing) *options->missing = missing;
    return error_set(error, DPMF_ERR_USAGE_MEMORY, "there is not enough memory to train in");
}

/* The most users a superblock that fit, `users` or fewer. */
static int users_that_fit(const struct tiling *tiling, const struct tiling_options *options,
                          const struct dpmf_store *store, uint64_t *users,
                          struct dpmf_error *error) {
    assert(*users > 0);
    uint64_t least = UINT64_MAX;
    for (uint64_t n = *users;; n -= at_least(n / 8, 1)) {
        uint64_t rounded = in_rounds(tiling, options, n);
        uint64_t too_many = excess(tiling, options, store, rounded);
        *users = rounded;
        if (too_many == 0) return 0;
        if (too_many < least) least = too_many;
        if (n == 1) break;
    }
    return refuse(options, least, error);
}

/* As far ahead as the first-level cache has room for the chunks on the way; three are enough for
 * rows from memory. */
static uint32_t far_lead(const struct tiling *tiling, const struct tiling_options *options) {
    enum { FAR = 3 };
    static_assert((int)FAR <= (int)KERNEL_AHEAD, "chunks past the end may be read");
    const uint64_t chunk = (tiling->lanes + 1) * row_bytes(options);
    uint32_t lead = 1;
    while (lead < FAR && (lead + 2) * chunk <= options->caches.l1) lead++;
    return lead;
}

static void set_superblocks(struct tiling *tiling, const struct tiling_options *options,
                            uint64_t users) {
    assert(users > 0);
    tiling->superblock_users = users;
    tiling->n_superblocks = (size_t)((tiling->n_users + users - 1) / users);
    tiling->batch_users = at_least(options->caches.l2 / 2 / row_bytes(options), KERNEL_LANES);
    tiling->n_batches = (size_t)((users + tiling->batch_users - 1) / tiling->batch_users);
    tiling->far_lead = far_lead(tiling, options);
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void drop_superblocks(struct tiling *tiling) {
    for (size_t s = 0; tiling->superblocks && s < tiling->n_superblocks; s++) {
        const struct superblock *superblock = &tiling->superblocks[s];
        if (superblock->chunks)
            memory_unmap(superblock->chunks, (size_t)(superblock->n_chunks + KERNEL_AHEAD) *
                                                 sizeof(struct kernel_chunk));
    }
    if (tiling->file >= 0) close(tiling->file);
    free(tiling->superblocks);
    free(tiling->tiles);
    tiling->superblocks = NULL;
    tiling->tiles = NULL;
    tiling->file = -1;
    tiling->bytes = tiling->most_bytes = 0;
}

static int place_superblocks(struct tiling *tiling, const struct dpmf_store *store,
                             struct dpmf_error *error) {
    assert(tiling->n_superblocks > 0 && tiling->n_groups > 0);
    tiling->superblocks = memory_alloc_zero(tiling->n_superblocks, sizeof tiling->superblocks[0]);
    tiling->tiles =
        memory_alloc_zero(tiling->n_superblocks, tiling->n_groups * sizeof(struct tile));
    if (!tiling->superblocks || !tiling->tiles) return error_no_memory(error);
    for (size_t s = 0; s < tiling->n_superblocks; s++) {
        uint64_t first = s * tiling->superblock_users, left = tiling->n_users - first;
        tiling->superblocks[s].first_user = first;
        tiling->superblocks[s].n_users =
            left < tiling->superblock_users ? left : tiling->superblock_users;
    }
    return tiling->streamed ? output_file_nameless(store_path(store), &tiling->file, error) : 0;
}

/* One attempt with so many users a superblock. */
static int build(struct tiling *tiling, const struct tiling_options *options,
                 const struct dpmf_store *store, const struct dpmf_run *run, uint64_t users,
                 bool *too_large, struct dpmf_error *error) {
    drop_superblocks(tiling);
    set_superblocks(tiling, options, users);
    choose_residents(tiling, options);
    uint64_t ratings = ratings_need(tiling, users), used = 0;
    struct tile_build job = {
        .tiling = tiling,
        .store = store,
        .run = run,
        .threads = options->threads,
        .most_bytes = options->memory_whole,
        .most_ratings = UINT64_MAX,
    };
    if (tiling->streamed) {
        uint64_t empty = slots_need(tiling, options, users, 0);
        uint64_t room = options->memory_streamed > empty ? options->memory_streamed - empty : 0;
        job.most_bytes = room / options->slots;
        uint64_t fixed = job_need(tiling, store, 0);
        job.most_ratings = options->memory_build > fixed
                               ? (options->memory_build - fixed) / BUILD_BYTES_A_PACKED_RATING
                               : 0;
    } else {
        used = CHUNK_BYTES_A_RATING * tiling->n_ratings;
    }
    uint64_t most = (uint64_t)pipeline_workers(options->threads) + 1;
    uint64_t left = options->memory_build > used ? options->memory_build - used : 0;
    uint64_t n = at_least(left / job_need(tiling, store, ratings), 1);
    job.n_jobs = (size_t)(n < most ? n : most);
    int code = place_superblocks(tiling, store, error);
    return code < 0 ? code : tile_build_run(&job, too_large, error);
}

/* In memory first, if that looks possible; then streamed, in ever smaller superblocks. */
static int build_what_fits(struct tiling *tiling, const struct tiling_options *options,
                           const struct dpmf_store *store, const struct dpmf_run *run,
                           struct dpmf_error *error) {
    bool too_large = false;
    tiling->streamed = false;
    uint64_t users =
        options->superblock_users ? options->superblock_users : users_by_caches(tiling, options);
    users = at_least(users < tiling->n_users ? users : tiling->n_users, 1);
    uint64_t chunks = CHUNK_BYTES_A_RATING * tiling->n_ratings;
    uint64_t job = job_need(tiling, store, ratings_need(tiling, users));
    if (chunks <= options->memory_whole && chunks + job <= options->memory_build) {
        int code = build(tiling, options, store, run, users, &too_large, error);
        if (code != DPMF_ERR_USAGE_MEMORY || !too_large) return code;
    }
    tiling->streamed = true;
    if (!options->superblock_users || excess(tiling, options, store, users) > 0) {
        int code = users_that_fit(tiling, options, store, &users, error);
        if (code < 0) return code;
    }
    for (;;) {
        too_large = false;
        int code = build(tiling, options, store, run, users, &too_large, error);
        if (code != DPMF_ERR_USAGE_MEMORY || !too_large) return code;
        if (users == 1) return refuse(options, options->memory_streamed / 4 + 1, error);
        users -= at_least(users / 4, 1);
    }
}

/* Every superblock keeps a tile for every group. Small caches ask for small groups, and where
 * memory is short for small superblocks too: then groups grow to those of large caches, so that the
 * least memory for a run does not depend on the caches. */
static int build_within_memory(struct tiling *tiling, const struct tiling_options *options,
                               const struct dpmf_store *store, const struct dpmf_run *run,
                               struct dpmf_error *error) {
    const uint64_t most = GROUP_BYTES / row_bytes(options);
    uint64_t rows = 0;
    int code = make_groups(tiling, store, options, &rows, error);
    if (code == 0) code = build_what_fits(tiling, options, store, run, error);
    while (code == DPMF_ERR_USAGE_MEMORY && !options->whole && !options->tier_ends && rows < most) {
        drop_superblocks(tiling);
        rows = 2 * rows < most ? 2 * rows : most;
        code = make_groups(tiling, store, options, &rows, error);
        if (code == 0) code = build_what_fits(tiling, options, store, run, error);
    }
    return code;
}

/* A share without ratings: there are groups, and nobody visits them. */
static int place_nobody(struct tiling *tiling, const struct tiling_options *options,
                        const struct dpmf_store *store, struct dpmf_error *error) {
    uint64_t rows = 0;
    int code = make_groups(tiling, store, options, &rows, error);
    if (code < 0) return code;
    set_superblocks(tiling, options, 1);
    tiling->n_superblocks = 0;
    tiling->superblocks = memory_alloc_zero(0, sizeof tiling->superblocks[0]);
    tiling->tiles = memory_alloc_zero(0, sizeof tiling->tiles[0]);
    return tiling->superblocks && tiling->tiles ? 0 : error_no_memory(error);
}

int tiling_build(const struct dpmf_store *store, const struct tiling_options *options,
                 const struct dpmf_run *run, struct tiling **out, struct dpmf_error *error) {
    assert(store && options && options->kernels);
    assert(options->k > 0 && options->threads > 0);
    *out = NULL;
    int code = 0;
    struct popular *order = NULL;
    struct tiling *tiling = memory_alloc_zero(1, sizeof *tiling);
    if (!tiling) return error_no_memory(error);
    tiling->file = -1;
    tiling->n_users = store_n_users(store);
    tiling->n_items = store_n_items(store);
    tiling->n_ratings = store_n_ratings(store);
    tiling->lanes = options->chunk_rows ? options->chunk_rows
                                        : options->kernels->lanes(options->k, &options->caches);
    tiling->zip = options->kernels->user_resident_small(options->k);
    tiling->n_parts = options->whole ? options->whole->n_parts : 1;
    if ((options->whole ? options->whole->n_ratings : tiling->n_ratings) == 0) {
        code = error_set(error, DPMF_ERR_RATINGS_NONE_LEFT, "there are no ratings to train on");
        goto out;
    }
    if ((code = rank_items(tiling, store, options, &order, error)) < 0) goto out;
    if ((code = deal_items(tiling, order, error)) < 0) goto out;
    free(order);
    order = NULL;
    if (tiling->n_ratings > 0)
        code = build_within_memory(tiling, options, store, run, error);
    else
        code = place_nobody(tiling, options, store, error);
    if (code < 0) goto out;
    *out = tiling;
    tiling = NULL;
out:
    free(order);
    tiling_free(tiling);
    return code;
}

void tiling_free(struct tiling *tiling) {
    if (!tiling) return;
    drop_superblocks(tiling);
    free(tiling->groups);
    free(tiling->parts);
    free(tiling->group_of_row);
    free(tiling->row_of_item);
    free(tiling->item_of_row);
    free(tiling);
}

/* ---- what it is ------------------------------------------------------------------------------ */

size_t tiling_n_superblocks(const struct tiling *tiling) { return tiling->n_superblocks; }
size_t tiling_n_groups(const struct tiling *tiling) { return tiling->n_groups; }
bool tiling_is_streamed(const struct tiling *tiling) { return tiling->streamed; }
uint64_t tiling_bytes(const struct tiling *tiling) { return tiling->bytes; }
double tiling_base(const struct tiling *tiling) { return tiling->base; }

double tiling_mean_rating(const struct tiling *tiling) { return tiling->mean; }
size_t tiling_packed_bytes(const struct tiling *tiling) { return (size_t)tiling->most_bytes; }

size_t tiling_n_parts(const struct tiling *tiling) { return tiling->n_parts; }

struct tiling_part tiling_part(const struct tiling *tiling, size_t part) {
    assert(part < tiling->n_parts);
    return tiling->parts[part];
}

uint32_t tiling_chunk_rows(const struct tiling *tiling) { return tiling->lanes; }

uint32_t tiling_far_lead(const struct tiling *tiling) { return tiling->far_lead; }

uint64_t tiling_checksum(const struct tiling *tiling) {
    const uint64_t sizes[] = {tiling->superblock_users, tiling->batch_users, tiling->lanes,
                              tiling->zip};
    uint64_t h = checksum64_seeded(sizes, sizeof sizes, tiling->n_ratings);
    for (size_t g = 0; g < tiling->n_groups; g++) {
        const uint64_t group[] = {tiling->groups[g].n_rows, tiling->groups[g].user_resident};
        h = checksum64_seeded(group, sizeof group, h);
    }
    return at_least(h, 1);
}

void tiling_superblock_users(const struct tiling *tiling, size_t superblock, uint64_t *first,
                             uint64_t *n) {
    assert(superblock < tiling->n_superblocks);
    *first = tiling->superblocks[superblock].first_user;
    *n = tiling->superblocks[superblock].n_users;
}

uint64_t tiling_superblock_ratings(const struct tiling *tiling, size_t superblock) {
    assert(superblock < tiling->n_superblocks);
    return tiling->superblocks[superblock].n_ratings;
}

uint64_t tiling_users_a_superblock(const struct tiling *tiling) { return tiling->superblock_users; }

void tiling_group(const struct tiling *tiling, size_t group, uint64_t *first_row, uint64_t *n_rows,
                  bool *user_resident) {
    assert(group < tiling->n_groups);
    *first_row = tiling->groups[group].first_row;
    *n_rows = tiling->groups[group].n_rows;
    *user_resident = tiling->groups[group].user_resident;
}

struct tile tiling_tile(const struct tiling *tiling, size_t superblock, size_t group) {
    assert(superblock < tiling->n_superblocks && group < tiling->n_groups);
    return tiling->tiles[superblock * tiling->n_groups + group];
}

uint32_t tiling_item_of_row(const struct tiling *tiling, uint64_t row) {
    assert(row < tiling->n_items);
    return tiling->item_of_row[row];
}

/* The part that a row is in: the last one that begins no later. (Parts without rows begin after all
 * rows.) */
static size_t part_of_row(const struct tiling *tiling, uint64_t row) {
    assert(tiling->n_parts > 0 && row < tiling->n_items);
    size_t part = 0, end = tiling->n_parts;
    while (end - part > 1) {
        const size_t middle = part + (end - part) / 2;
        if (tiling->parts[middle].first_row <= row)
            part = middle;
        else
            end = middle;
    }
    return part;
}

uint64_t tiling_place_of_row(const struct tiling *tiling, uint64_t row) {
    const uint64_t n = tiling->n_parts, part = part_of_row(tiling, row);
    const uint64_t round = row - tiling->parts[part].first_row;
    return round * n + (round % 2 == 0 ? part : n - 1 - part);
}

const struct kernel_chunk *tiling_chunks(const struct tiling *tiling, size_t superblock) {
    assert(superblock < tiling->n_superblocks);
    assert(!tiling->streamed);
    return tiling->superblocks[superblock].chunks;
}

int tiling_packed_read(const struct tiling *tiling, size_t superblock, uint8_t *packed,
                       struct dpmf_error *error) {
    assert(superblock < tiling->n_superblocks);
    assert(tiling->streamed && tiling->file >= 0);
    const struct superblock *from = &tiling->superblocks[superblock];
    return file_read_at(tiling->file, packed, (size_t)from->bytes, from->offset, "tiles", error);
}

void tiling_unpack(const struct tiling *tiling, size_t superblock, size_t group,
                   const uint8_t *packed, const uint8_t **at, size_t n,
                   struct kernel_chunk *chunks) {
    assert(packed && at && chunks);
    assert(n > 0);
    struct tile_pack pack = tile_build_pack(tiling, superblock, group);
    /* the head is 16 bytes of a buffer that is aligned for anything */
    if (packed[0]) pack.values = (const float *)(const void *)(packed + TILE_BUILD_HEAD);
    if (!*at) *at = packed + tiling_tile(tiling, superblock, group).first;
    *at = tile_pack_read(&pack, *at, chunks, n);
    for (size_t i = 0; i < KERNEL_AHEAD; i++) chunks[n + i] = chunks[n - 1];
}
