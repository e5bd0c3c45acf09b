/*
 * Builds the schedule of noise_schedule.h: one pass over the chunks counts the ratings of every
 * row, a second one counts them again and notes where a row has had its next half or whole share of
 * them. Fed by a tiling; feeds langevin_tiles.c.
 */
#include "sample/noise_schedule.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "sample/noise_ranks.h"

/* A row while the schedule is made: of its ratings, and of its injections. */
struct row_count {
    uint32_t seen, due; /* ratings so far, and at which the next injection comes */
    uint32_t injected;  /* injections so far */
    uint32_t slice;     /* slice of the last injection, from 1 */
};

struct side {
    uint64_t n;
    uint32_t *ratings; /* ratings of each row */
    float *share;
    uint32_t *events; /* rows, in the order in which they get noise */
    size_t n_events, room;
    uint64_t *start; /* first event of each slice, and the end of the last */
    size_t start_room;
    size_t most;              /* events of a slice */
    struct row_count *counts; /* NULL when it is made */
};

struct noise_schedule {
    uint32_t every;
    size_t n_superblocks, n_groups;
    size_t own_pair;       /* pair of parts that this rank begins with */
    uint64_t *first_slice; /* by tile */
    uint16_t *lengths;     /* lengths of slices, in chunks */
    size_t n_slices, lengths_room;

    struct side users, items;
    uint32_t *idle_items;
    size_t n_idle;
    struct noise_extremes extremes;

    uint32_t slice_most;   /* most chunks of a slice */
    uint32_t slice_chunks; /* chunks of the slice that is being made */
};

/* ---- chunks ---------------------------------------------------------------------------------- */

enum { SLICE_MOST = 32, SLICE_LEAST = 4, SLICE_BYTES = 1 << 17 };

/* Chunks of a tile, wherever they are: a buffer for packed ones, or nothing. */
struct chunk_source {
    const struct tiling *tiling;
    uint8_t *packed;
    struct kernel_chunk *unpacked;
};

static int source_init(struct chunk_source *source, const struct tiling *tiling,
                       struct dpmf_error *error) {
    *source = (struct chunk_source){.tiling = tiling};
    if (!tiling_is_streamed(tiling)) return 0;
    source->packed = memory_alloc(tiling_packed_bytes(tiling), 1);
    source->unpacked = memory_alloc(SGD_UNPACK_CHUNKS + KERNEL_AHEAD, sizeof source->unpacked[0]);
    return source->packed && source->unpacked ? 0 : error_no_memory(error);
}

static void source_free(struct chunk_source *source) {
    free(source->packed);
    free(source->unpacked);
}

/* Chunks `from` to at most SGD_UNPACK_CHUNKS more, of a superblock that is in source->packed, if it
 * must be. */
static const struct kernel_chunk *source_chunks(struct chunk_source *source, size_t superblock,
                                                size_t group, uint64_t from, size_t n,
                                                const uint8_t **at) {
    struct tile tile = tiling_tile(source->tiling, superblock, group);
    if (!source->packed) return tiling_chunks(source->tiling, superblock) + tile.first + from;
    tiling_unpack(source->tiling, superblock, group, source->packed, at, n, source->unpacked);
    return source->unpacked;
}

/* @return whether a slice ends with the chunk, or a negative code */
typedef int visit_chunk(struct noise_schedule *schedule, uint64_t first_user,
                        const struct kernel_chunk *chunk, bool user_resident);
typedef int end_slice(struct noise_schedule *schedule);

/* All chunks in the order of one thread; `end` may be NULL. */
static int visit_tile(struct noise_schedule *schedule, struct chunk_source *source, size_t s,
                      size_t g, visit_chunk *visit, end_slice *end) {
    struct tile tile = tiling_tile(source->tiling, s, g);
    uint64_t first_row, n_rows, first_user, n_users;
    bool user_resident;
    const uint8_t *at = NULL;
    int code = 0;
    tiling_group(source->tiling, g, &first_row, &n_rows, &user_resident);
    tiling_superblock_users(source->tiling, s, &first_user, &n_users);
    schedule->first_slice[s * schedule->n_groups + g] = schedule->n_slices;
    for (uint64_t from = 0; from < tile.n; from += SGD_UNPACK_CHUNKS) {
        size_t n = tile.n - from < SGD_UNPACK_CHUNKS ? (size_t)(tile.n - from) : SGD_UNPACK_CHUNKS;
        const struct kernel_chunk *chunks = source_chunks(source, s, g, from, n, &at);
        for (size_t i = 0; i < n && code >= 0; i++) {
            code = visit(schedule, first_user, &chunks[i], user_resident);
            if (code >= 0 && end && (code > 0 || i + 1 == n)) code = end(schedule);
        }
    }
    return code < 0 ? code : 0;
}

/* The groups of two parts that travel together. */
static int visit_pair(struct noise_schedule *schedule, struct chunk_source *source, size_t s,
                      size_t pair, visit_chunk *visit, end_slice *end) {
    const size_t n_parts = tiling_n_parts(source->tiling);
    int code = 0;
    for (size_t p = 2 * pair; p < 2 * pair + 2 && p < n_parts; p++) {
        const struct tiling_part part = tiling_part(source->tiling, p);
        for (size_t i = 0; i < part.n_groups && code == 0; i++)
            code = visit_tile(schedule, source, s, part.first_group + i, visit, end);
    }
    return code;
}

/* Forward a rank has its own pair first, and then those of the ranks before it (ring.c). On one
 * machine there is one part. */
static int visit_all(struct noise_schedule *schedule, struct chunk_source *source,
                     visit_chunk *visit, end_slice *end, struct dpmf_error *error) {
    const size_t n_pairs = (tiling_n_parts(source->tiling) + 1) / 2;
    int code = 0;
    for (size_t s = 0; s < schedule->n_superblocks && code == 0; s++) {
        if (source->packed) code = tiling_packed_read(source->tiling, s, source->packed, error);
        for (size_t i = 0; i < n_pairs && code == 0; i++) {
            code = visit_pair(schedule, source, s, (schedule->own_pair + n_pairs - i) % n_pairs,
                              visit, end);
            if (code < 0) return error_no_memory(error); /* nothing else can fail */
        }
    }
    return code;
}

/* ---- the first pass: counting ---------------------------------------------------------------- */

static int count_chunk(struct noise_schedule *schedule, uint64_t first_user,
                       const struct kernel_chunk *chunk, bool user_resident) {
    uint32_t *users = schedule->users.ratings + first_user, *items = schedule->items.ratings;
    uint32_t *resident = user_resident ? users : items, *moving = user_resident ? items : users;
    resident[chunk->resident] += chunk->n;
    for (uint32_t i = 0; i < chunk->n; i++) moving[chunk->moving[i]]++;
    return 0;
}

static uint32_t injections_of(uint32_t n_ratings, uint32_t every) {
    assert(every > 0);
    uint32_t q = n_ratings / every + (n_ratings % every != 0);
    return q > 0 ? q : 1;
}

/* After how many of its ratings a row gets noise for the i-th time. */
static uint32_t due_at(uint32_t n_ratings, uint32_t q, uint32_t i) {
    assert(q > 0 && i < q);
    uint64_t at = (2 * (uint64_t)i + 1) * n_ratings / (2 * (uint64_t)q);
    return at > 0 ? (uint32_t)at : 1;
}

/* What fell due at the ratings that are before these, elsewhere, was injected there. */
static void begin_rows(struct side *side, uint32_t every) {
    for (uint64_t i = 0; i < side->n; i++) {
        const uint32_t n = side->ratings[i], q = injections_of(n, every);
        struct row_count *count = &side->counts[i];
        side->share[i] = 1 / (float)q;
        while (count->injected < q && due_at(n, q, count->injected) <= count->seen)
            count->injected++;
        count->due = count->injected < q ? due_at(n, q, count->injected) : UINT32_MAX;
    }
}

/* ---- the second pass: injections ------------------------------------------------------------- */

/* A row, which its events call `name`, has one rating more. @return whether it would get noise
 * twice in this slice */
static int count_row(struct side *side, uint64_t row, uint32_t name, uint32_t every,
                     uint32_t slice) {
    assert(every > 0);
    struct row_count *count = &side->counts[row];
    if (++count->seen < count->due) return 0;
    uint32_t n = side->ratings[row], q = injections_of(n, every);
    if (!memory_reserve(&side->events, &side->room, side->n_events + 1, sizeof side->events[0]))
        return DPMF_ERR_BASE_NO_MEMORY;
    side->events[side->n_events++] = name;
    count->due = ++count->injected < q ? due_at(n, q, count->injected) : UINT32_MAX;
    bool twice = count->slice == slice;
    count->slice = slice;
    return twice;
}

static int schedule_chunk(struct noise_schedule *schedule, uint64_t first_user,
                          const struct kernel_chunk *chunk, bool user_resident) {
    struct side *users = &schedule->users, *items = &schedule->items;
    const uint32_t every = schedule->every, slice = (uint32_t)schedule->n_slices + 1;
    bool ends = ++schedule->slice_chunks == schedule->slice_most;
    for (uint32_t i = 0; i < chunk->n; i++) {
        uint32_t user = user_resident ? chunk->resident : chunk->moving[i];
        uint32_t item = user_resident ? chunk->moving[i] : chunk->resident;
        int of_user = count_row(users, first_user + user, user, every, slice);
        int of_item = count_row(items, item, item, every, slice);
        if (of_user < 0 || of_item < 0) return DPMF_ERR_BASE_NO_MEMORY;
        ends = ends || of_user > 0 || of_item > 0;
    }
    return ends;
}

static int end_side(struct side *side, size_t slice) {
    if (!memory_reserve(&side->start, &side->start_room, slice + 2, sizeof side->start[0]))
        return DPMF_ERR_BASE_NO_MEMORY;
    size_t from = slice > 0 ? (size_t)side->start[slice] : 0;
    if (side->n_events - from > side->most) side->most = side->n_events - from;
    side->start[slice] = from;
    side->start[slice + 1] = side->n_events;
    return 0;
}

static int schedule_slice(struct noise_schedule *schedule) {
    const size_t slice = schedule->n_slices;
    int code = end_side(&schedule->users, slice);
    if (code == 0) code = end_side(&schedule->items, slice);
    if (code == 0 && !memory_reserve(&schedule->lengths, &schedule->lengths_room, slice + 1,
                                     sizeof schedule->lengths[0]))
        code = DPMF_ERR_BASE_NO_MEMORY;
    if (code < 0) return code;
    schedule->lengths[slice] = (uint16_t)schedule->slice_chunks;
    schedule->slice_chunks = 0;
    schedule->n_slices++;
    return 0;
}

/* ---- making and freeing ---------------------------------------------------------------------- */

static bool make_side(struct side *side, uint64_t n) {
    side->n = n;
    side->ratings = memory_alloc_zero((size_t)n, sizeof side->ratings[0]);
    side->share = memory_alloc((size_t)n, sizeof side->share[0]);
    side->counts = memory_alloc_zero((size_t)n, sizeof side->counts[0]);
    return side->ratings && side->share && side->counts;
}

static void free_counts(struct side *side) {
    free(side->counts);
    side->counts = NULL;
}

static void free_side(struct side *side) {
    free(side->ratings);
    free(side->share);
    free(side->counts);
    free(side->events);
    free(side->start);
}

static uint32_t largest(const struct side *side) {
    uint32_t most = 0;
    for (uint64_t i = 0; i < side->n; i++)
        if (side->ratings[i] > most) most = side->ratings[i];
    return most;
}

/* The rows of a slice are to be in a cache near by when they get noise. */
static void choose_slices(struct noise_schedule *schedule, size_t row_bytes) {
    size_t chunks = SLICE_BYTES / (row_bytes * (KERNEL_LANES + 1));
    if (chunks < SLICE_LEAST) chunks = SLICE_LEAST;
    schedule->slice_most = chunks < SLICE_MOST ? (uint32_t)chunks : SLICE_MOST;
}

static void choose_every(struct noise_schedule *schedule) {
    uint32_t users = schedule->extremes.user_ratings, items = schedule->extremes.item_ratings;
    uint32_t every = (users > items ? users : items) / NOISE_INJECTIONS;
    schedule->every = every > NOISE_EVERY_LEAST ? every : NOISE_EVERY_LEAST;
}

static bool find_idle(struct noise_schedule *schedule) {
    const struct side *items = &schedule->items;
    for (uint64_t i = 0; i < items->n; i++) schedule->n_idle += items->ratings[i] == 0;
    schedule->idle_items = memory_alloc(schedule->n_idle + 1, sizeof schedule->idle_items[0]);
    if (!schedule->idle_items) return false;
    for (uint64_t i = 0, at = 0; i < items->n; i++)
        if (items->ratings[i] == 0) schedule->idle_items[at++] = (uint32_t)i;
    return true;
}

/* From this rank's numbers of ratings to those of all, and to what is counted from here. */
static int count_elsewhere(struct noise_schedule *schedule, const struct tiling *tiling,
                           const struct dpmf_cluster *cluster, struct dpmf_error *error) {
    struct side *items = &schedule->items;
    struct noise_extremes *extremes = &schedule->extremes;
    uint32_t *before = memory_alloc((size_t)items->n, sizeof before[0]);
    int code = cluster_agree(cluster, before ? 0 : error_no_memory(error), error);
    if (code == 0)
        code = noise_ranks_count(cluster, tiling, items->ratings, before, (size_t)items->n, error);
    for (uint64_t i = 0; i < items->n && code == 0; i++) items->counts[i].seen = before[i];
    free(before);
    extremes->user_ratings = largest(&schedule->users);
    extremes->item_ratings = largest(items);
    return code < 0 ? code : noise_ranks_max(cluster, &extremes->user_ratings, 1, error);
}

/* The largest portion of noise given at once, in the ratings that it stands for. */
static uint32_t largest_portion(const struct side *side) {
    float most = 0;
    for (uint64_t i = 0; i < side->n; i++) {
        float portion = (float)side->ratings[i] * side->share[i];
        if (portion > most) most = portion;
    }
    return (uint32_t)(most + 0.5f);
}

static int find_portions(struct noise_schedule *schedule, const struct dpmf_cluster *cluster,
                         struct dpmf_error *error) {
    struct noise_extremes *extremes = &schedule->extremes;
    extremes->user_portion = largest_portion(&schedule->users);
    extremes->item_portion = largest_portion(&schedule->items);
    return noise_ranks_max(cluster, &extremes->user_portion, 1, error);
}

static int build(struct noise_schedule *schedule, const struct tiling *tiling, uint64_t n_users,
                 uint64_t n_items, const struct dpmf_cluster *cluster, struct dpmf_error *error) {
    struct chunk_source source;
    int code = source_init(&source, tiling, error);
    schedule->first_slice =
        memory_alloc(schedule->n_superblocks, schedule->n_groups * sizeof(uint64_t));
    bool made = make_side(&schedule->users, n_users) && make_side(&schedule->items, n_items);
    if (code == 0 && (!made || !schedule->first_slice)) code = error_no_memory(error);
    if (code == 0) code = visit_all(schedule, &source, count_chunk, NULL, error);
    code = cluster_agree(cluster, code, error);
    if (code == 0) code = count_elsewhere(schedule, tiling, cluster, error);
    if (code == 0) {
        choose_every(schedule);
        begin_rows(&schedule->users, schedule->every);
        begin_rows(&schedule->items, schedule->every);
        code = visit_all(schedule, &source, schedule_chunk, schedule_slice, error);
    }
    if (code == 0) {
        free_counts(&schedule->users);
        free_counts(&schedule->items);
        if (!find_idle(schedule)) code = error_no_memory(error);
    }
    source_free(&source);
    code = cluster_agree(cluster, code, error);
    return code < 0 ? code : find_portions(schedule, cluster, error);
}

int noise_schedule_build(struct noise_schedule **out, const struct tiling *tiling, uint64_t n_users,
                         uint64_t n_items, size_t row_bytes, const struct dpmf_cluster *cluster,
                         struct dpmf_error *error) {
    assert(out && tiling && row_bytes > 0);
    *out = NULL;
    struct noise_schedule *schedule = memory_alloc_zero(1, sizeof *schedule);
    int code = cluster_agree(cluster, schedule ? 0 : error_no_memory(error), error);
    if (code < 0) {
        free(schedule);
        return code;
    }
    schedule->n_superblocks = tiling_n_superblocks(tiling);
    schedule->n_groups = tiling_n_groups(tiling);
    schedule->own_pair = (size_t)cluster_rank(cluster);
    choose_slices(schedule, row_bytes);
    code = build(schedule, tiling, n_users, n_items, cluster, error);
    if (code < 0)
        noise_schedule_free(schedule);
    else
        *out = schedule;
    return code;
}

void noise_schedule_free(struct noise_schedule *schedule) {
    if (!schedule) return;
    free_side(&schedule->users);
    free_side(&schedule->items);
    free(schedule->first_slice);
    free(schedule->lengths);
    free(schedule->idle_items);
    free(schedule);
}

/* Events grow by doubling; chunks have about five ratings, and rows more counters while it is made.
 * As if the rows with the most ratings had many: a few ratings take little memory in any case. */
uint64_t noise_schedule_bytes(uint64_t n_ratings, uint64_t n_users, uint64_t n_items) {
    const uint64_t every = 64, slice = 16;
    uint64_t events = 2 * (2 * n_ratings / every + n_users + n_items);
    uint64_t slices = n_ratings / (5 * slice) + 1;
    return events * sizeof(uint32_t) + slices * 2 * (2 * sizeof(uint64_t) + sizeof(uint16_t)) +
           (n_users + n_items) * (2 * sizeof(uint32_t) + sizeof(struct row_count));
}

/* ---- looking things up ----------------------------------------------------------------------- */

struct noise_injections noise_schedule_injections(const struct noise_schedule *schedule,
                                                  size_t superblock, size_t group, size_t slice) {
    size_t at = (size_t)schedule->first_slice[superblock * schedule->n_groups + group] + slice;
    const uint64_t *users = schedule->users.start + at, *items = schedule->items.start + at;
    /* what the next slices ask for: the rows of this one would have taken their place in caches */
    __builtin_prefetch(users + 2);
    __builtin_prefetch(items + 2);
    __builtin_prefetch(schedule->lengths + at + 1);
    __builtin_prefetch(schedule->users.events + users[1]);
    __builtin_prefetch(schedule->items.events + items[1]);
    return (struct noise_injections){
        .users = schedule->users.events + users[0],
        .items = schedule->items.events + items[0],
        .n_users = (size_t)(users[1] - users[0]),
        .n_items = (size_t)(items[1] - items[0]),
    };
}

uint32_t noise_schedule_chunks(const struct noise_schedule *schedule, size_t superblock,
                               size_t group, size_t slice) {
    return schedule
        ->lengths[schedule->first_slice[superblock * schedule->n_groups + group] + slice];
}

size_t noise_schedule_most(const struct noise_schedule *schedule) {
    return schedule->users.most > schedule->items.most ? schedule->users.most
                                                       : schedule->items.most;
}

const float *noise_schedule_user_shares(const struct noise_schedule *schedule) {
    return schedule->users.share;
}

const float *noise_schedule_item_shares(const struct noise_schedule *schedule) {
    return schedule->items.share;
}

const uint32_t *noise_schedule_idle_items(const struct noise_schedule *schedule, size_t *n) {
    *n = schedule->n_idle;
    return schedule->idle_items;
}

const uint32_t *noise_schedule_user_ratings(const struct noise_schedule *schedule) {
    return schedule->users.ratings;
}

const uint32_t *noise_schedule_item_ratings(const struct noise_schedule *schedule) {
    return schedule->items.ratings;
}

struct noise_extremes noise_schedule_extremes(const struct noise_schedule *schedule) {
    return schedule->extremes;
}
