/*
 * Cuts ratings into the tiles of a shape that tiling.c decided on. Superblocks are ranges of users
 * and independent of each other, so each is made on its own, in parallel: its users' ratings are
 * decoded from the store, put in the order of tiles by two stable counting sorts, and cut into
 * chunks. They are kept in memory, or packed (tile_pack.h) and appended to a nameless file. What a
 * superblock needs on the way is in its job, so that the number of jobs bounds the memory.
 */
#include "schedule/tile_build.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/pipeline.h"
#include "files/output_file.h"
#include "store/store.h"

struct rating {
    uint32_t user; /* within the superblock */
    uint32_t row;  /* row of the item */
    float value;
};

struct job {
    size_t superblock;
    struct store_raw raw;
    struct store_space space;
    struct store_block block; /* the block that was decoded last */
    uint64_t block_number;    /* the number of that block plus one */
    struct rating *ratings, *other;
    size_t ratings_capacity, other_capacity;
    uint64_t *count;
    size_t count_capacity;
    struct kernel_chunk *chunks;
    size_t n_chunks, chunks_capacity;
    struct byte_buffer packed;
    struct tile_values values;
    uint64_t n_ratings;
    double sum;
};

struct build {
    struct tile_build options;
    struct tiling *tiling;
    const struct dpmf_store *store;
    uint64_t *block_first_user; /* n_blocks + 1 */
    size_t next;
    uint64_t done;
    double sum;
    _Atomic bool too_large;
};

static int stop_too_large(struct build *build, struct dpmf_error *error) {
    build->too_large = true;
    return error_set(error, DPMF_ERR_USAGE_MEMORY, "a superblock is too large");
}

/* ---- the ratings of a superblock ------------------------------------------------------------- */

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
static int take_block(struct build *build, struct job *job, struct dpmf_error *error) {
    const struct tiling *tiling = build->tiling;
    const struct superblock *superblock = &tiling->superblocks[job->superblock];
    const struct store_block *block = &job->block;
    uint64_t from = superblock->first_user, to = from + superblock->n_users;
    from = from > block->first_user ? from - block->first_user : 0;
    to = to - block->first_user < block->n_users ? to - block->first_user : block->n_users;
    assert(from <= to && to <= block->n_users);
    uint64_t n = job->n_ratings + block->start[to] - block->start[from];
    if (n > build->options.most_ratings) return stop_too_large(build, error);
    if (!memory_reserve(&job->ratings, &job->ratings_capacity, (size_t)n, sizeof job->ratings[0]))
        return error_no_memory(error);
    for (uint64_t u = from; u < to; u++) {
        uint32_t user = (uint32_t)(block->first_user + u - superblock->first_user);
        for (uint64_t r = block->start[u]; r < block->start[u + 1]; r++) {
            float value = block->value32[r];
            job->ratings[job->n_ratings++] =
                (struct rating){user, tiling->row_of_item[block->item[r]], value};
            job->sum += (double)value;
            if (tiling->streamed) tile_values_add(&job->values, value);
        }
    }
    return 0;
}

/* Where superblocks are smaller than blocks, the next one of this job is often in the same
 * block. */
static int read_block(const struct build *build, struct job *job, uint64_t b,
                      struct dpmf_error *error) {
    if (job->block_number == b + 1) return 0;
    job->block_number = 0;
    int code = store_block_read(build->store, b, &job->raw, error);
    if (code == 0)
        code = store_block_decode(build->store, &job->raw, STORE_WANT_VALUE32, &job->space,
                                  &job->block, error);
    if (code == 0) job->block_number = b + 1;
    return code;
}

static int collect(struct build *build, struct job *job, struct dpmf_error *error) {
    const struct superblock *superblock = &build->tiling->superblocks[job->superblock];
    assert(superblock->n_users > 0);
    uint64_t last = superblock->first_user + superblock->n_users - 1;
    job->n_ratings = 0;
    job->sum = 0;
    tile_values_clear(&job->values);
    for (uint64_t b = block_of_user(build, superblock->first_user);
         b < store_n_blocks(build->store) && build->block_first_user[b] <= last; b++) {
        int code = read_block(build, job, b, error);
        if (code == 0) code = take_block(build, job, error);
        if (code < 0) return code;
    }
    return 0;
}

/* ---- their order ----------------------------------------------------------------------------- */

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

static int sort_stably(const struct tiling *tiling, struct job *job, const struct rating *from,
                       struct rating *to, size_t n_keys,
                       size_t (*key)(const struct tiling *, const struct rating *),
                       struct dpmf_error *error) {
    if (!memory_reserve(&job->count, &job->count_capacity, n_keys + 1, sizeof job->count[0]))
        return error_no_memory(error);
    uint64_t *count = job->count, n = job->n_ratings;
    memset(count, 0, (n_keys + 1) * sizeof count[0]);
    for (uint64_t i = 0; i < n; i++) {
        const size_t k = key(tiling, &from[i]);
        assert(k < n_keys);
        count[k + 1]++;
    }
    for (size_t i = 0; i < n_keys; i++) count[i + 1] += count[i];
    for (uint64_t i = 0; i < n; i++) to[count[key(tiling, &from[i])]++] = from[i];
    return 0;
}

static int sort_ratings(const struct tiling *tiling, struct job *job, struct dpmf_error *error) {
    if (!memory_reserve(&job->other, &job->other_capacity, (size_t)job->n_ratings,
                        sizeof job->other[0]))
        return error_no_memory(error);
    int code = sort_stably(tiling, job, job->ratings, job->other, (size_t)tiling->n_items + 1,
                           item_key, error);
    if (code < 0) return code;
    return sort_stably(tiling, job, job->other, job->ratings, tiling->n_groups * tiling->n_batches,
                       tile_key, error);
}

/* ---- chunks ---------------------------------------------------------------------------------- */

/* Spare rows differ between superblocks, so that threads do not share their cache lines. In a
 * stream the user rows of a superblock have a place of their own, with the spare one at its end. */
static uint32_t spare_row(const struct tiling *tiling, size_t superblock, bool of_items) {
    uint64_t number = superblock % TILING_SPARE_ROWS;
    if (of_items) return (uint32_t)(tiling->n_items + number);
    if (tiling->streamed) return (uint32_t)tiling->superblock_users;
    return (uint32_t)(tiling->n_users - tiling->superblocks[superblock].first_user + number);
}

struct tile_pack tile_build_pack(const struct tiling *tiling, size_t superblock, size_t group) {
    const struct group *of = &tiling->groups[group];
    uint64_t rows = of->user_resident ? of->n_rows : tiling->superblock_users;
    return (struct tile_pack){
        .first = of->user_resident ? (uint32_t)of->first_row : 0,
        .wide = rows > (uint64_t)UINT16_MAX + 1,
        .spare = spare_row(tiling, superblock, of->user_resident),
    };
}

static bool add_chunks(const struct tiling *tiling, struct job *job, const struct rating *rating,
                       uint64_t n, bool user_resident) {
    uint32_t spare = spare_row(tiling, job->superblock, user_resident);
    for (uint64_t i = 0; i < n;) {
        if (!memory_reserve(&job->chunks, &job->chunks_capacity, job->n_chunks + 1 + KERNEL_AHEAD,
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

/* At small k neighbouring chunks should have different resident rows, so that the processor
 * overlaps what would be one long chain through a single row: alternate between the two halves of
 * the tile. */
static bool zip_halves(struct kernel_chunk *chunks, size_t n) {
    size_t half = (n + 1) / 2;
    struct kernel_chunk *copy = memory_alloc(n, sizeof copy[0]);
    if (!copy) return false;
    memcpy(copy, chunks, n * sizeof copy[0]);
    for (size_t i = 0; i < n; i++) chunks[i] = copy[(i & 1) * half + i / 2];
    free(copy);
    return true;
}

/* The chunks of one tile, after those that are there. */
static bool cut_tile(const struct tiling *tiling, struct job *job, size_t g, uint64_t from,
                     uint64_t to) {
    const struct group *group = &tiling->groups[g];
    size_t first = job->n_chunks;
    if (!add_chunks(tiling, job, job->ratings + from, to - from, group->user_resident))
        return false;
    size_t n = job->n_chunks - first;
    return !tiling->zip || !group->user_resident || n <= 2 || zip_halves(job->chunks + first, n);
}

/* Moves a tile's chunks to the packed ones. */
static bool pack_tile(const struct tiling *tiling, struct job *job, size_t g, struct tile *tile) {
    struct tile_pack pack = tile_build_pack(tiling, job->superblock, g);
    if (job->values.n <= TILE_PACK_VALUES) pack.values = job->values.value;
    tile->first = job->packed.n;
    if (!tile_pack_append(&job->packed, &pack, &job->values, job->chunks, job->n_chunks))
        return false;
    job->n_chunks = 0;
    return true;
}

static bool begin_packed(struct job *job) {
    bool named = job->values.n <= TILE_PACK_VALUES;
    job->packed.n = 0;
    size_t n = TILE_BUILD_HEAD + sizeof job->values.value;
    uint8_t *at = byte_buffer_room(&job->packed, n);
    if (!at) return false;
    memset(at, 0, TILE_BUILD_HEAD);
    at[0] = named;
    memcpy(at + TILE_BUILD_HEAD, job->values.value, sizeof job->values.value);
    job->packed.n = n;
    return true;
}

static int cut_tiles(const struct tiling *tiling, struct job *job, struct dpmf_error *error) {
    uint64_t from = 0;
    job->n_chunks = 0;
    bool whole = !tiling->streamed || begin_packed(job);
    for (size_t g = 0; g < tiling->n_groups && whole; g++) {
        uint64_t to = from;
        while (to < job->n_ratings && tiling->group_of_row[job->ratings[to].row] == g) to++;
        struct tile *tile = &tiling->tiles[job->superblock * tiling->n_groups + g];
        *tile = (struct tile){.first = job->n_chunks, .n_ratings = to - from};
        whole = cut_tile(tiling, job, g, from, to);
        tile->n = job->n_chunks - tile->first;
        if (tiling->streamed) {
            tile->n = job->n_chunks;
            whole = whole && pack_tile(tiling, job, g, tile);
        }
        from = to;
    }
    if (!whole) return error_no_memory(error);
    assert(from == job->n_ratings);
    if (!tiling->streamed)
        for (size_t i = 0; i < KERNEL_AHEAD; i++) job->chunks[job->n_chunks + i] = job->chunks[0];
    return 0;
}

/* ---- the pipeline ---------------------------------------------------------------------------- */

static int produce_superblock(void *self, void *pointer, struct dpmf_error *error) {
    struct build *build = self;
    (void)error;
    if (build->next == build->tiling->n_superblocks) return 0;
    ((struct job *)pointer)->superblock = build->next++;
    return 1;
}

static int make_superblock(void *self, int worker, void *pointer, struct dpmf_error *error) {
    struct build *build = self;
    struct job *job = pointer;
    (void)worker;
    int code = collect(build, job, error);
    if (code == 0) code = sort_ratings(build->tiling, job, error);
    if (code == 0) code = cut_tiles(build->tiling, job, error);
    return code;
}

static int keep_packed(struct build *build, struct job *job, struct dpmf_error *error) {
    struct tiling *tiling = build->tiling;
    struct superblock *superblock = &tiling->superblocks[job->superblock];
    uint8_t *slack = byte_buffer_room(&job->packed, TILE_PACK_SLACK);
    if (!slack) return error_no_memory(error);
    memset(slack, 0, TILE_PACK_SLACK);
    size_t bytes = job->packed.n + TILE_PACK_SLACK;
    if (bytes > build->options.most_bytes) return stop_too_large(build, error);
    superblock->offset = tiling->bytes;
    superblock->bytes = bytes;
    tiling->bytes += bytes;
    if (bytes > tiling->most_bytes) tiling->most_bytes = bytes;
    return file_write_all(tiling->file, job->packed.bytes, bytes, "tiles", error);
}

static int keep_chunks(struct build *build, struct job *job, struct dpmf_error *error) {
    struct tiling *tiling = build->tiling;
    struct superblock *superblock = &tiling->superblocks[job->superblock];
    size_t bytes = (job->n_chunks + KERNEL_AHEAD) * sizeof(struct kernel_chunk);
    superblock->n_chunks = job->n_chunks;
    tiling->bytes += bytes;
    if (tiling->bytes > build->options.most_bytes) return stop_too_large(build, error);
    superblock->chunks = memory_map(bytes);
    if (!superblock->chunks) return error_no_memory(error);
    memcpy(superblock->chunks, job->chunks, bytes);
    return 0;
}

static int keep_superblock(void *self, void *pointer, struct dpmf_error *error) {
    struct build *build = self;
    struct tiling *tiling = build->tiling;
    struct job *job = pointer;
    int code = tiling->streamed ? keep_packed(build, job, error) : keep_chunks(build, job, error);
    if (code < 0) return code;
    tiling->superblocks[job->superblock].n_ratings = job->n_ratings;
    build->sum += job->sum;
    build->done += job->n_ratings;
    const struct dpmf_run *run = build->options.run;
    if (!run || !run->progress) return 0;
    const struct dpmf_progress progress = {.phase = "tiling",
                                           .unit = "ratings",
                                           .done = build->done,
                                           .total = tiling->n_ratings,
                                           .ratings = build->done};
    if (run->progress(run->progress_self, &progress))
        return error_set(error, DPMF_ERR_BASE_CANCELLED, "interrupted");
    return 0;
}

static void free_job(struct job *job) {
    free(job->raw.buffer.bytes);
    store_space_free(&job->space);
    free(job->ratings);
    free(job->other);
    free(job->count);
    free(job->chunks);
    free(job->packed.bytes);
}

static int run_jobs(struct build *build, struct dpmf_error *error) {
    static const struct pipeline_stages stages = {produce_superblock, make_superblock,
                                                  keep_superblock};
    size_t n = build->options.n_jobs;
    struct job *jobs = memory_alloc_zero(n, sizeof jobs[0]);
    void **pointers = memory_alloc(n, sizeof pointers[0]);
    int code = jobs && pointers ? 0 : error_no_memory(error);
    if (code == 0) {
        for (size_t i = 0; i < n; i++) pointers[i] = &jobs[i];
        code = pipeline_run(&stages, build, pointers, n, build->options.threads, error);
    }
    for (size_t i = 0; jobs && i < n; i++) free_job(&jobs[i]);
    free(pointers);
    free(jobs);
    return code;
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

int tile_build_run(const struct tile_build *options, bool *too_large, struct dpmf_error *error) {
    struct build build = {
        .options = *options,
        .tiling = options->tiling,
        .store = options->store,
    };
    int code = find_blocks(&build, error);
    if (code == 0) code = run_jobs(&build, error);
    build.tiling->base = store_base(build.store);
    if (code == 0 && build.done > 0) build.tiling->mean = build.sum / (double)build.done;
    free(build.block_first_user);
    *too_large = build.too_large;
    return code;
}
