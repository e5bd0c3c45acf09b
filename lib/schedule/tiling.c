/*
 * Builds the tiles of tiling.h. Superblocks are ranges of users and independent of each other, so each is
 * made on its own, in parallel: its users' ratings are decoded from the store, put in the order of tiles by
 * two stable counting sorts, and cut into chunks. They are kept in memory, or appended to a nameless file
 * where memory does not allow it.
 */
#define _GNU_SOURCE
#include "schedule/tiling.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/output_file.h"
#include "base/pipeline.h"
#include "base/threads.h"
#include "store/store.h"

enum {
    SUPERBLOCKS_PER_LANE = 8, /* at least, so that the end of an epoch is balanced */
    SHORT_RUN = 3, /* an item met fewer times than this by a batch moves by, and its users stay */
};

#define GROUP_SHARE                                                                                \
    0.08 /* of the ratings, at most: more would make threads wait for the popular group */

struct superblock {
    uint64_t first_user, n_users;
    struct kernel_chunk *chunks; /* in memory, or NULL */
    uint64_t offset;             /* in the file */
    uint64_t n_chunks;           /* without the KERNEL_AHEAD past the end */
};

struct group {
    uint64_t first_row, n_rows;
    bool user_resident;
};

struct tiling {
    uint64_t n_users, n_items, n_ratings;
    size_t n_superblocks, n_groups, n_batches;
    uint64_t superblock_users, batch_users;
    uint32_t lanes; /* ratings a chunk, at most */
    bool zip;       /* neighbouring chunks from different halves of a tile */
    struct superblock *superblocks;
    struct group *groups;
    uint16_t *group_of_row;
    uint32_t *row_of_item, *item_of_row;
    struct tile *tiles;
    bool on_disk;
    int file;
    uint64_t bytes, most_chunks, n_chunks;
    double mean;
};

/* ---- the shape -------------------------------------------------------------------------------- */

struct popular {
    uint64_t n_ratings;
    uint32_t item;
};

static int compare_popular(const void *a, const void *b) {
    const struct popular *x = a, *y = b;
    if (x->n_ratings != y->n_ratings) return x->n_ratings > y->n_ratings ? -1 : 1;
    return x->item < y->item ? -1 : x->item > y->item;
}

static int rank_items(struct tiling *tiling, const struct dpmf_store *store, struct popular **out,
                      struct dpmf_error *error) {
    size_t n = (size_t)tiling->n_items;
    struct popular *order = memory_alloc(n, sizeof order[0]);
    *out = order;
    tiling->row_of_item = memory_alloc(n, sizeof tiling->row_of_item[0]);
    tiling->item_of_row = memory_alloc(n, sizeof tiling->item_of_row[0]);
    tiling->group_of_row = memory_alloc(n, sizeof tiling->group_of_row[0]);
    if (!order || !tiling->row_of_item || !tiling->item_of_row || !tiling->group_of_row)
        return error_no_memory(error);
    for (size_t i = 0; i < n; i++)
        order[i] = (struct popular){store_item_at(store, i).n_ratings, (uint32_t)i};
    qsort(order, n, sizeof order[0], compare_popular);
    for (size_t row = 0; row < n; row++) {
        tiling->row_of_item[order[row].item] = (uint32_t)row;
        tiling->item_of_row[row] = order[row].item;
    }
    return 0;
}

/* Groups are consecutive rows, bounded in bytes (a cache) and in their share of the ratings (waiting), or
 * end where the paper's tiers do. */
static bool closes_group(const struct tiling_options *options, uint64_t row, uint64_t n_rows,
                         uint64_t n_ratings, uint64_t most_rows, uint64_t most_ratings) {
    if (n_rows == 0) return false;
    if (options->tier_ends) {
        for (size_t t = 0; t < options->n_tiers; t++)
            if (options->tier_ends[t] == row) return true;
        return false;
    }
    return n_rows >= most_rows || n_ratings > most_ratings;
}

static int make_groups(struct tiling *tiling, const struct popular *order,
                       const struct tiling_options *options, struct dpmf_error *error) {
    struct cache_sizes caches = cache_sizes_read();
    size_t row_bytes = options->kernels->stride(options->k) * sizeof(float);
    bool users_always = options->kernels->user_resident_small(options->k);
    double share = users_always ? 1.0 / (2 * options->lanes) : GROUP_SHARE;
    uint64_t most_rows = caches.l3 / 8 / row_bytes, most_ratings;
    if (most_rows < 1) most_rows = 1;
    most_ratings = (uint64_t)(share * (double)tiling->n_ratings);

    size_t capacity = 0;
    struct group group = {0};
    uint64_t n_ratings = 0;
    for (uint64_t row = 0; row <= tiling->n_items; row++) {
        uint64_t more = row < tiling->n_items ? order[row].n_ratings : 0;
        if (row == tiling->n_items ||
            closes_group(options, row, group.n_rows, n_ratings + more, most_rows, most_ratings)) {
            if (!memory_reserve(&tiling->groups, &capacity, tiling->n_groups + 1,
                                sizeof tiling->groups[0]))
                return error_no_memory(error);
            /* how often a batch of users meets an item of the group, on average */
            double met =
                (double)n_ratings / (double)group.n_rows / (double)tiling->n_users *
                (double)(tiling->batch_users < tiling->superblock_users ? tiling->batch_users
                                                                        : tiling->superblock_users);
            group.user_resident = users_always || met < SHORT_RUN;
            tiling->groups[tiling->n_groups++] = group;
            group = (struct group){.first_row = row};
            n_ratings = 0;
        }
        if (row == tiling->n_items) break;
        if (tiling->n_groups > UINT16_MAX)
            return error_set(error, DPMF_ERR_INPUT_TOO_MANY, "too many item groups");
        tiling->group_of_row[row] = (uint16_t)tiling->n_groups;
        group.n_rows++;
        n_ratings += more;
    }
    return 0;
}

static uint64_t at_least(uint64_t n, uint64_t least) { return n < least ? least : n; }

/* Superblocks of equal numbers of users, as many as keep the vectors of all lanes in half of L3; more when
 * tiles are on disk and a buffer must hold one. */
static void choose_superblocks(struct tiling *tiling, const struct tiling_options *options,
                               uint64_t estimated_bytes) {
    struct cache_sizes caches = cache_sizes_read();
    size_t row_bytes = options->kernels->stride(options->k) * sizeof(float);
    uint64_t lanes = (uint64_t)options->lanes;
    uint64_t wanted = at_least(caches.l3 / 2 / lanes / row_bytes, 1);
    uint64_t n = at_least((tiling->n_users + wanted - 1) / wanted, SUPERBLOCKS_PER_LANE * lanes);
    if (tiling->on_disk) {
        uint64_t buffer = at_least(options->memory / (uint64_t)(2 * options->threads + 2), 1 << 20);
        n = at_least(n, estimated_bytes / buffer + 1);
    }
    n = (n + lanes - 1) / lanes * lanes;
    tiling->superblock_users = at_least((tiling->n_users + n - 1) / n, 1);
    tiling->n_superblocks =
        (size_t)((tiling->n_users + tiling->superblock_users - 1) / tiling->superblock_users);
    tiling->batch_users = at_least(caches.l2 / 2 / row_bytes, KERNEL_LANES);
    tiling->n_batches =
        (size_t)((tiling->superblock_users + tiling->batch_users - 1) / tiling->batch_users);
}

/* ---- one superblock --------------------------------------------------------------------------- */

struct rating {
    uint32_t user; /* within the superblock */
    uint32_t row;  /* of the item */
    float value;
};

struct build_worker {
    struct store_raw raw;
    struct store_space space;
    struct rating *ratings, *other;
    size_t ratings_capacity, other_capacity;
    uint64_t *count;
    size_t count_capacity;
};

struct build_job {
    size_t superblock;
    struct kernel_chunk *chunks;
    size_t n_chunks, capacity;
    uint64_t n_ratings;
    double sum;
};

struct build {
    struct tiling *tiling;
    const struct dpmf_store *store;
    const struct dpmf_run *run;
    uint64_t *block_first_user; /* n_blocks + 1 */
    struct build_worker *workers;
    size_t next;
    uint64_t done;
    double sum;
};

static uint64_t block_of_user(const struct build *build, uint64_t user) {
    uint64_t low = 0, high = store_n_blocks(build->store);
    while (high - low > 1) {
        uint64_t middle = (low + high) / 2;
        if (build->block_first_user[middle] <= user)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Adds the superblock's part of a block. */
static int take_block(const struct build *build, struct build_worker *worker, struct build_job *job,
                      const struct store_block *block, struct dpmf_error *error) {
    const struct tiling *tiling = build->tiling;
    const struct superblock *superblock = &tiling->superblocks[job->superblock];
    if (!memory_reserve(&worker->ratings, &worker->ratings_capacity,
                        (size_t)(job->n_ratings + block->n_ratings), sizeof worker->ratings[0]))
        return error_no_memory(error);
    for (uint32_t u = 0; u < block->n_users; u++) {
        uint64_t user = block->first_user + u;
        if (user < superblock->first_user || user >= superblock->first_user + superblock->n_users)
            continue;
        for (uint64_t r = block->start[u]; r < block->start[u + 1]; r++) {
            worker->ratings[job->n_ratings++] =
                (struct rating){(uint32_t)(user - superblock->first_user),
                                tiling->row_of_item[block->item[r]], block->value32[r]};
            job->sum += (double)block->value32[r];
        }
    }
    return 0;
}

static int collect(const struct build *build, struct build_worker *worker, struct build_job *job,
                   struct dpmf_error *error) {
    const struct superblock *superblock = &build->tiling->superblocks[job->superblock];
    uint64_t last = superblock->first_user + superblock->n_users - 1;
    job->n_ratings = 0;
    job->sum = 0;
    for (uint64_t b = block_of_user(build, superblock->first_user);
         b < store_n_blocks(build->store) && build->block_first_user[b] <= last; b++) {
        struct store_block block;
        int code = store_block_read(build->store, b, &worker->raw, error);
        if (code == 0)
            code = store_block_decode(build->store, &worker->raw, STORE_WANT_VALUE32,
                                      &worker->space, &block, error);
        if (code == 0) code = take_block(build, worker, job, &block, error);
        if (code < 0) return code;
    }
    return 0;
}

/* Items apart where they are resident; all together where users are, whose order is then kept. */
static size_t item_key(const struct tiling *tiling, const struct rating *rating) {
    bool user_resident = tiling->groups[tiling->group_of_row[rating->row]].user_resident;
    return user_resident ? (size_t)tiling->n_items : rating->row;
}

static size_t tile_key(const struct tiling *tiling, const struct rating *rating) {
    size_t group = tiling->group_of_row[rating->row];
    size_t batch = tiling->groups[group].user_resident ? 0 : rating->user / tiling->batch_users;
    return group * tiling->n_batches + batch;
}

static int sort_stably(const struct tiling *tiling, struct build_worker *worker,
                       const struct rating *from, struct rating *to, uint64_t n, size_t n_keys,
                       size_t (*key)(const struct tiling *, const struct rating *),
                       struct dpmf_error *error) {
    if (!memory_reserve(&worker->count, &worker->count_capacity, n_keys + 1,
                        sizeof worker->count[0]))
        return error_no_memory(error);
    uint64_t *count = worker->count;
    memset(count, 0, (n_keys + 1) * sizeof count[0]);
    for (uint64_t i = 0; i < n; i++) count[key(tiling, &from[i]) + 1]++;
    for (size_t i = 0; i < n_keys; i++) count[i + 1] += count[i];
    for (uint64_t i = 0; i < n; i++) to[count[key(tiling, &from[i])]++] = from[i];
    return 0;
}

/* Spare rows differ between superblocks, so that threads do not share their cache lines. */
static uint32_t spare_row(const struct tiling *tiling, const struct superblock *superblock,
                          bool of_items) {
    uint64_t number = (uint64_t)(superblock - tiling->superblocks) % TILING_SPARE_ROWS;
    return (uint32_t)(of_items ? tiling->n_items + number
                               : tiling->n_users - superblock->first_user + number);
}

static bool add_chunks(const struct tiling *tiling, struct build_job *job,
                       const struct rating *rating, uint64_t n, bool user_resident) {
    uint32_t spare = spare_row(tiling, &tiling->superblocks[job->superblock], user_resident);
    for (uint64_t i = 0; i < n;) {
        if (!memory_reserve(&job->chunks, &job->capacity, job->n_chunks + 1 + KERNEL_AHEAD,
                            sizeof job->chunks[0]))
            return false;
        struct kernel_chunk *chunk = &job->chunks[job->n_chunks++];
        *chunk = (struct kernel_chunk){.resident = user_resident ? rating[i].user : rating[i].row};
        for (; chunk->n < tiling->lanes && i < n; i++, chunk->n++) {
            uint32_t resident = user_resident ? rating[i].user : rating[i].row;
            if (resident != chunk->resident) break;
            chunk->moving[chunk->n] = user_resident ? rating[i].row : rating[i].user;
            chunk->rating[chunk->n] = rating[i].value;
        }
        for (uint32_t lane = chunk->n; lane < KERNEL_LANES; lane++) chunk->moving[lane] = spare;
    }
    return true;
}

/* At small k neighbouring chunks should have different resident rows, so that the processor overlaps what
 * would be one long chain through a single row: alternate between the two halves of the tile. */
static bool zip_halves(struct kernel_chunk *chunks, size_t n) {
    size_t half = (n + 1) / 2;
    struct kernel_chunk *copy = memory_alloc(n, sizeof copy[0]);
    if (!copy) return false;
    memcpy(copy, chunks, n * sizeof copy[0]);
    for (size_t i = 0; i < n; i++) chunks[i] = copy[(i & 1) * half + i / 2];
    free(copy);
    return true;
}

static int cut_tiles(const struct tiling *tiling, const struct build_worker *worker,
                     struct build_job *job, struct dpmf_error *error) {
    uint64_t from = 0;
    job->n_chunks = 0;
    for (size_t g = 0; g < tiling->n_groups; g++) {
        const struct group *group = &tiling->groups[g];
        uint64_t to = from;
        while (to < job->n_ratings && tiling->group_of_row[worker->ratings[to].row] == g) to++;
        struct tile *tile = &tiling->tiles[job->superblock * tiling->n_groups + g];
        *tile = (struct tile){.first = job->n_chunks, .n_ratings = to - from};
        if (!add_chunks(tiling, job, worker->ratings + from, to - from, group->user_resident))
            return error_no_memory(error);
        tile->n = job->n_chunks - tile->first;
        if (tiling->zip && group->user_resident && tile->n > 2 &&
            !zip_halves(job->chunks + tile->first, (size_t)tile->n))
            return error_no_memory(error);
        from = to;
    }
    assert(from == job->n_ratings && job->n_chunks > 0);
    for (size_t i = 0; i < KERNEL_AHEAD; i++) job->chunks[job->n_chunks + i] = job->chunks[0];
    return 0;
}

static int produce_superblock(void *self, void *pointer, struct dpmf_error *error) {
    struct build *build = self;
    (void)error;
    if (build->next == build->tiling->n_superblocks) return 0;
    ((struct build_job *)pointer)->superblock = build->next++;
    return 1;
}

static int make_superblock(void *self, int worker_number, void *pointer, struct dpmf_error *error) {
    struct build *build = self;
    struct tiling *tiling = build->tiling;
    struct build_worker *worker = &build->workers[worker_number];
    struct build_job *job = pointer;
    int code = collect(build, worker, job, error);
    if (code < 0) return code;
    if (!memory_reserve(&worker->other, &worker->other_capacity, (size_t)job->n_ratings,
                        sizeof worker->other[0]))
        return error_no_memory(error);
    code = sort_stably(tiling, worker, worker->ratings, worker->other, job->n_ratings,
                       (size_t)tiling->n_items + 1, item_key, error);
    if (code == 0)
        code = sort_stably(tiling, worker, worker->other, worker->ratings, job->n_ratings,
                           tiling->n_groups * tiling->n_batches, tile_key, error);
    if (code == 0) code = cut_tiles(tiling, worker, job, error);
    return code;
}

static int keep_superblock(void *self, void *pointer, struct dpmf_error *error) {
    struct build *build = self;
    struct tiling *tiling = build->tiling;
    struct build_job *job = pointer;
    struct superblock *superblock = &tiling->superblocks[job->superblock];
    size_t n = job->n_chunks + KERNEL_AHEAD, bytes = n * sizeof(struct kernel_chunk);
    superblock->n_chunks = job->n_chunks;
    superblock->offset = tiling->bytes;
    if (tiling->on_disk) {
        int code = file_write_all(tiling->file, job->chunks, bytes, "tiles", error);
        if (code < 0) return code;
    } else {
        superblock->chunks = memory_map(bytes);
        if (!superblock->chunks) return error_no_memory(error);
        memcpy(superblock->chunks, job->chunks, bytes);
    }
    tiling->bytes += bytes;
    tiling->n_chunks += job->n_chunks;
    if (n > tiling->most_chunks) tiling->most_chunks = n;
    build->sum += job->sum;
    build->done += job->n_ratings;
    if (!build->run || !build->run->progress) return 0;
    const struct dpmf_progress progress = {.phase = "tiling",
                                           .unit = "ratings",
                                           .done = build->done,
                                           .total = tiling->n_ratings,
                                           .ratings = build->done};
    if (build->run->progress(build->run->self, &progress))
        return error_set(error, DPMF_ERR_BASE_CANCELLED, "interrupted");
    return 0;
}

static int build_superblocks(struct build *build, int threads, struct dpmf_error *error) {
    static const struct pipeline_stages stages = {produce_superblock, make_superblock,
                                                  keep_superblock};
    enum { JOBS_MAX = 64 };
    int code;
    size_t n_workers = (size_t)pipeline_workers(threads);
    size_t n_jobs = n_workers + 1 < JOBS_MAX ? n_workers + 1 : JOBS_MAX;
    struct build_job jobs[JOBS_MAX] = {0};
    void *pointers[JOBS_MAX];
    for (size_t i = 0; i < n_jobs; i++) pointers[i] = &jobs[i];
    build->workers = memory_alloc_zero(n_workers, sizeof build->workers[0]);
    code = build->workers ? pipeline_run(&stages, build, pointers, n_jobs, threads, error)
                          : error_no_memory(error);
    for (size_t i = 0; i < n_jobs; i++) free(jobs[i].chunks);
    for (size_t i = 0; build->workers && i < n_workers; i++) {
        struct build_worker *worker = &build->workers[i];
        free(worker->raw.buffer.bytes);
        store_space_free(&worker->space);
        free(worker->ratings);
        free(worker->other);
        free(worker->count);
    }
    free(build->workers);
    return code;
}

/* ---- the whole -------------------------------------------------------------------------------- */

static int place_superblocks(struct tiling *tiling, struct dpmf_error *error) {
    tiling->superblocks = memory_alloc_zero(tiling->n_superblocks, sizeof tiling->superblocks[0]);
    if (!tiling->superblocks) return error_no_memory(error);
    for (size_t s = 0; s < tiling->n_superblocks; s++) {
        uint64_t first = s * tiling->superblock_users, left = tiling->n_users - first;
        tiling->superblocks[s].first_user = first;
        tiling->superblocks[s].n_users =
            left < tiling->superblock_users ? left : tiling->superblock_users;
    }
    return 0;
}

static int find_blocks(struct build *build, struct dpmf_error *error) {
    uint64_t n = store_n_blocks(build->store);
    build->block_first_user = memory_alloc((size_t)n + 1, sizeof build->block_first_user[0]);
    if (!build->block_first_user) return error_no_memory(error);
    uint64_t user = 0;
    for (uint64_t b = 0; b < n; b++) {
        uint32_t n_users;
        uint64_t n_ratings;
        store_block_size(build->store, b, &n_users, &n_ratings);
        build->block_first_user[b] = user;
        user += n_users;
    }
    build->block_first_user[n] = user;
    return 0;
}

int tiling_build(const struct dpmf_store *store, const struct tiling_options *options,
                 const struct dpmf_run *run, struct tiling **out, struct dpmf_error *error) {
    *out = NULL;
    int code = 0;
    struct popular *order = NULL;
    struct build build = {.store = store, .run = run};
    struct tiling *tiling = memory_alloc_zero(1, sizeof *tiling);
    if (!tiling) return error_no_memory(error);
    build.tiling = tiling;
    tiling->file = -1;
    tiling->n_users = store_n_users(store);
    tiling->n_items = store_n_items(store);
    tiling->n_ratings = store_n_ratings(store);
    tiling->lanes = options->kernels->lanes(options->k);
    tiling->zip = options->kernels->user_resident_small(options->k);
    if (tiling->n_ratings == 0) {
        code = error_set(error, DPMF_ERR_RATINGS_NONE_LEFT, "there are no ratings to train on");
        goto out;
    }
    /* A chunk of 72 bytes holds about five ratings on average. */
    uint64_t estimated = tiling->n_ratings * (sizeof(struct kernel_chunk) / 5);
    tiling->on_disk = estimated > options->memory;
    choose_superblocks(tiling, options, estimated);
    if ((code = rank_items(tiling, store, &order, error)) < 0) goto out;
    if ((code = make_groups(tiling, order, options, error)) < 0) goto out;
    if ((code = place_superblocks(tiling, error)) < 0) goto out;
    tiling->tiles =
        memory_alloc_zero(tiling->n_superblocks, tiling->n_groups * sizeof(struct tile));
    if (!tiling->tiles) {
        code = error_no_memory(error);
        goto out;
    }
    if (tiling->on_disk &&
        (code = output_file_nameless(store_path(store), &tiling->file, error)) < 0)
        goto out;
    if ((code = find_blocks(&build, error)) < 0) goto out;
    if ((code = build_superblocks(&build, options->threads, error)) < 0) goto out;
    tiling->mean = build.sum / (double)tiling->n_ratings;
    *out = tiling;
    tiling = NULL;
out:
    free(order);
    free(build.block_first_user);
    tiling_free(tiling);
    return code;
}

void tiling_free(struct tiling *tiling) {
    if (!tiling) return;
    for (size_t s = 0; tiling->superblocks && s < tiling->n_superblocks; s++) {
        const struct superblock *superblock = &tiling->superblocks[s];
        if (superblock->chunks)
            memory_unmap(superblock->chunks, (size_t)(superblock->n_chunks + KERNEL_AHEAD) *
                                                 sizeof(struct kernel_chunk));
    }
    if (tiling->file >= 0) close(tiling->file);
    free(tiling->superblocks);
    free(tiling->groups);
    free(tiling->group_of_row);
    free(tiling->row_of_item);
    free(tiling->item_of_row);
    free(tiling->tiles);
    free(tiling);
}

size_t tiling_n_superblocks(const struct tiling *tiling) { return tiling->n_superblocks; }
size_t tiling_n_groups(const struct tiling *tiling) { return tiling->n_groups; }
bool tiling_is_on_disk(const struct tiling *tiling) { return tiling->on_disk; }
uint64_t tiling_bytes(const struct tiling *tiling) { return tiling->bytes; }
double tiling_mean_rating(const struct tiling *tiling) { return tiling->mean; }
size_t tiling_buffer_chunks(const struct tiling *tiling) { return (size_t)tiling->most_chunks; }

double tiling_mean_lanes(const struct tiling *tiling) {
    return (double)tiling->n_ratings / (double)tiling->n_chunks;
}

void tiling_superblock_users(const struct tiling *tiling, size_t superblock, uint64_t *first,
                             uint64_t *n) {
    *first = tiling->superblocks[superblock].first_user;
    *n = tiling->superblocks[superblock].n_users;
}

void tiling_group(const struct tiling *tiling, size_t group, uint64_t *first_row, uint64_t *n_rows,
                  bool *user_resident) {
    *first_row = tiling->groups[group].first_row;
    *n_rows = tiling->groups[group].n_rows;
    *user_resident = tiling->groups[group].user_resident;
}

struct tile tiling_tile(const struct tiling *tiling, size_t superblock, size_t group) {
    return tiling->tiles[superblock * tiling->n_groups + group];
}

uint32_t tiling_row_of_item(const struct tiling *tiling, uint64_t item) {
    return tiling->row_of_item[item];
}

uint32_t tiling_item_of_row(const struct tiling *tiling, uint64_t row) {
    return tiling->item_of_row[row];
}

const struct kernel_chunk *tiling_chunks(const struct tiling *tiling, size_t superblock,
                                         struct kernel_chunk *buffer, struct dpmf_error *error) {
    const struct superblock *from = &tiling->superblocks[superblock];
    if (!tiling->on_disk) return from->chunks;
    size_t bytes = (size_t)(from->n_chunks + KERNEL_AHEAD) * sizeof *buffer;
    if (file_read_at(tiling->file, buffer, bytes, from->offset, "tiles", error) < 0) return NULL;
    return buffer;
}
