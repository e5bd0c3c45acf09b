/*
 * The bounded-memory sorter of rating_sorter.h. Fed by the importer; feeds store_block_encode.
 *
 * A record is 7 bytes for the usual rating, 11 with its time:
 *
 *     u16  user within its bucket (low 10 bits) | FLAG_RAW | FLAG_TIME | FLAG_SHORT
 *     u32  item
 *     u8   code of the value, or with FLAG_RAW 8 bytes of double
 *    [i64  time, with FLAG_TIME; u32 with FLAG_SHORT, for times from 1970 to 2106]
 *
 * Records of a bucket live in a chain of extents in one arena. When the arena is full every chain
 * is written to the spill file, in the order of buckets, and the arena starts over: so each bucket
 * is a list of runs on disk followed by a chain in memory, in the order the ratings came, and that
 * order is what lets the last of duplicates win. Where values add up it does not matter.
 *
 * A slice is read by going through the buckets it overlaps and keeping its users. A radix sort by
 * rank and then by user does the rest: stable, so that order of arrival is kept, and linear.
 */
#define _GNU_SOURCE
#include "store/rating_sorter.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "files/output_file.h"

enum {
    /* The first users get narrow buckets: a set with few users has many ratings each, and a slice
     * reads whole buckets. Past them buckets are as wide as a block. */
    NARROW_USERS = 1 << 16,
    NARROW_BITS = 6,
    WIDE_BITS = 10,
    NARROW_BUCKETS = NARROW_USERS >> NARROW_BITS,

    FLAG_SHORT = 1 << 13,
    FLAG_RAW = 1 << 14,
    FLAG_TIME = 1 << 15,
    USER_MASK = (1 << WIDE_BITS) - 1,
    RECORD_MAX = 2 + 4 + 8 + 8,

    EXTENT_MIN = 512,
    EXTENT_MAX = 64 * 1024,
    EXTENT_HEADER = 16,

    AHEAD = 16, /* ratings: how far ahead a user's count is fetched */
    READ_BYTES = 256 * 1024,
    SPILL_BUFFER = 1 << 20,
    NO_RUN = -1,
};

/* A stretch of the spill file that holds records of one bucket. */
struct run {
    uint64_t offset, length;
    int64_t next; /* in the list of runs, or NO_RUN */
};

struct bucket {
    uint64_t first_extent; /* offsets into the arena, 0 for none (0 is never an extent's) */
    uint64_t last_extent;
    uint32_t last_size; /* bytes of the last extent, header included */
    uint32_t last_used;
    int64_t first_run, last_run;
};

struct slice {
    uint64_t first_user;
    uint32_t n_users;
    uint64_t n_records; /* duplicates included */
};

struct rating_sorter {
    char *beside;
    uint8_t *arena;
    uint64_t arena_size, arena_used, arena_limit;
    struct bucket *buckets;
    size_t n_buckets, buckets_capacity;
    uint64_t *user_records; /* how many records each user has */
    size_t n_users, users_capacity;

    /* Values seen so far, the first 256 of them: their codes. */
    double value[256];
    uint16_t code_plus_1[1024]; /* open addressing over the values' bits */
    int n_values;

    bool has_times;
    bool adds_up;      /* values of duplicates, instead of keeping the last */
    bool keeps_latest; /* the latest of duplicates is kept, not the last that was added */
    int spill;         /* descriptor, -1 until needed */
    uint64_t spilled;
    struct run *runs;
    size_t n_runs, runs_capacity;
    uint8_t *spill_buffer;

    struct slice *slices;
    size_t n_slices, slices_capacity;
};

/* ---- adding ---------------------------------------------------------------------------------- */

int rating_sorter_init(struct rating_sorter **out, uint64_t memory, const char *beside,
                       struct dpmf_error *error) {
    assert(out);
    *out = NULL;
    struct rating_sorter *sorter = memory_alloc_zero(1, sizeof *sorter);
    if (!sorter) return error_no_memory(error);
    sorter->spill = -1;
    sorter->arena_size = sorter->arena_limit = memory;
    sorter->arena_used = EXTENT_HEADER; /* so that offset 0 is never an extent's */
    sorter->arena = memory_map((size_t)memory);
    if (beside) sorter->beside = strdup(beside);
    if (!sorter->arena || (beside && !sorter->beside)) {
        rating_sorter_free(sorter);
        return error_no_memory(error);
    }
    *out = sorter;
    return 0;
}

void rating_sorter_free(struct rating_sorter *sorter) {
    if (!sorter) return;
    if (sorter->spill >= 0) close(sorter->spill);
    if (sorter->arena) memory_unmap(sorter->arena, (size_t)sorter->arena_size);
    free(sorter->beside);
    free(sorter->buckets);
    free(sorter->user_records);
    free(sorter->runs);
    free(sorter->spill_buffer);
    free(sorter->slices);
    free(sorter);
}

void rating_sorter_set_memory(struct rating_sorter *sorter, uint64_t memory) {
    sorter->arena_limit = memory < sorter->arena_size ? memory : sorter->arena_size;
}

void rating_sorter_add_up(struct rating_sorter *sorter) { sorter->adds_up = true; }
void rating_sorter_keep_latest(struct rating_sorter *sorter) { sorter->keeps_latest = true; }

bool rating_sorter_has_times(const struct rating_sorter *sorter) { return sorter->has_times; }
uint64_t rating_sorter_spilled(const struct rating_sorter *sorter) { return sorter->spilled; }
uint64_t rating_sorter_n_slices(const struct rating_sorter *sorter) { return sorter->n_slices; }

static size_t bucket_of(uint32_t user) {
    return user < NARROW_USERS ? user >> NARROW_BITS
                               : NARROW_BUCKETS + ((user - NARROW_USERS) >> WIDE_BITS);
}

static uint64_t bucket_first_user(size_t bucket) {
    return bucket < NARROW_BUCKETS
               ? (uint64_t)bucket << NARROW_BITS
               : NARROW_USERS + ((uint64_t)(bucket - NARROW_BUCKETS) << WIDE_BITS);
}

static size_t value_slot(const struct rating_sorter *sorter, uint64_t bits) {
    size_t slot = (size_t)((bits * UINT64_C(0x9E3779B97F4A7C15)) >> 54);
    while (sorter->code_plus_1[slot] &&
           bytes_of_double(sorter->value[sorter->code_plus_1[slot] - 1]) != bits)
        slot = (slot + 1) % 1024;
    return slot;
}

/* @return the value's code, or -1 when all codes are taken by others */
static int value_code(struct rating_sorter *sorter, double value) {
    size_t slot = value_slot(sorter, bytes_of_double(value));
    if (!sorter->code_plus_1[slot]) {
        if (sorter->n_values == 256) return -1;
        sorter->value[sorter->n_values++] = value;
        sorter->code_plus_1[slot] = (uint16_t)sorter->n_values;
    }
    return sorter->code_plus_1[slot] - 1;
}

static uint64_t extent_next(const uint8_t *extent) { return bytes_get_u64(extent); }
static uint32_t extent_used(const uint8_t *extent) { return bytes_get_u32(extent + 8); }

/* Room for the users and buckets up to `user`. */
static bool make_room(struct rating_sorter *sorter, uint32_t user) {
    if (user < sorter->n_users) return true;
    size_t n_users = (size_t)user + 1, n_buckets = bucket_of(user) + 1;
    if (!memory_reserve(&sorter->user_records, &sorter->users_capacity, n_users,
                        sizeof sorter->user_records[0]) ||
        !memory_reserve(&sorter->buckets, &sorter->buckets_capacity, n_buckets,
                        sizeof sorter->buckets[0]))
        return false;
    memset(sorter->user_records + sorter->n_users, 0,
           (n_users - sorter->n_users) * sizeof sorter->user_records[0]);
    sorter->n_users = n_users;
    for (; sorter->n_buckets < n_buckets; sorter->n_buckets++)
        sorter->buckets[sorter->n_buckets] =
            (struct bucket){.first_run = NO_RUN, .last_run = NO_RUN};
    return true;
}

/* ---- spilling -------------------------------------------------------------------------------- */

struct spill_writer {
    struct rating_sorter *sorter;
    size_t filled;
    struct dpmf_error *error;
};

static int spill_flush(struct spill_writer *writer) {
    struct rating_sorter *sorter = writer->sorter;
    int code = file_write_all(sorter->spill, sorter->spill_buffer, writer->filled,
                              sorter->beside ? sorter->beside : "temporary file", writer->error);
    if (code < 0)
        error_hint(writer->error,
                   "ratings beyond {memory} are kept in a temporary file beside the output: free "
                   "some space there or raise {memory} ");
    writer->filled = 0;
    return code;
}

static int spill_bytes(struct spill_writer *writer, const uint8_t *bytes, size_t n) {
    assert(n <= SIZE_MAX / 2);
    assert(bytes || n == 0);
    if (writer->filled + n > SPILL_BUFFER) {
        int code = spill_flush(writer);
        if (code < 0) return code;
    }
    memcpy(writer->sorter->spill_buffer + writer->filled, bytes, n); /* n <= EXTENT_MAX */
    writer->filled += n;
    writer->sorter->spilled += n;
    return 0;
}

static int spill_bucket(struct spill_writer *writer, struct bucket *bucket) {
    struct rating_sorter *sorter = writer->sorter;
    if (!bucket->first_extent) return 0;
    if (!memory_reserve(&sorter->runs, &sorter->runs_capacity, sorter->n_runs + 1,
                        sizeof sorter->runs[0]))
        return error_no_memory(writer->error);
    struct run run = {.offset = sorter->spilled, .next = NO_RUN};
    for (uint64_t at = bucket->first_extent; at; at = extent_next(sorter->arena + at)) {
        const uint8_t *extent = sorter->arena + at;
        uint32_t used = at == bucket->last_extent ? bucket->last_used : extent_used(extent);
        int code = spill_bytes(writer, extent + EXTENT_HEADER, used - EXTENT_HEADER);
        if (code < 0) return code;
    }
    run.length = sorter->spilled - run.offset;
    if (bucket->last_run == NO_RUN)
        bucket->first_run = (int64_t)sorter->n_runs;
    else
        sorter->runs[bucket->last_run].next = (int64_t)sorter->n_runs;
    bucket->last_run = (int64_t)sorter->n_runs;
    sorter->runs[sorter->n_runs++] = run;
    bucket->first_extent = bucket->last_extent = 0;
    bucket->last_size = bucket->last_used = 0;
    return 0;
}

/* Writes every chain to the spill file and empties the arena. */
static int spill_all(struct rating_sorter *sorter, struct dpmf_error *error) {
    if (sorter->spill < 0) {
        int code = output_file_nameless(sorter->beside, &sorter->spill, error);
        if (code < 0) return code;
        sorter->spill_buffer = memory_alloc(SPILL_BUFFER, 1);
        if (!sorter->spill_buffer) return error_no_memory(error);
    }
    struct spill_writer writer = {.sorter = sorter, .error = error};
    for (size_t b = 0; b < sorter->n_buckets; b++) {
        int code = spill_bucket(&writer, &sorter->buckets[b]);
        if (code < 0) return code;
    }
    sorter->arena_used = EXTENT_HEADER;
    /* The bound may have shrunk since: what is past it goes back to the machine. */
    memory_discard(sorter->arena + sorter->arena_limit,
                   (size_t)(sorter->arena_size - sorter->arena_limit));
    return spill_flush(&writer);
}

/* A new extent at the end of the bucket's chain, twice as large as the last up to a bound: small
 * for buckets that stay small, large for reading and writing in long stretches. */
static int grow_bucket(struct rating_sorter *sorter, size_t b, struct dpmf_error *error) {
    struct bucket *bucket = &sorter->buckets[b];
    uint32_t size = bucket->last_size ? 2 * bucket->last_size : EXTENT_MIN;
    if (size > EXTENT_MAX) size = EXTENT_MAX;
    if (sorter->arena_used + size > sorter->arena_limit && sorter->arena_used > EXTENT_HEADER) {
        int code = spill_all(sorter, error);
        if (code < 0) return code;
        size = EXTENT_MIN;
    }
    assert(sorter->arena_used + size <= sorter->arena_size);
    uint64_t at = sorter->arena_used;
    sorter->arena_used += size;
    bytes_put_u64(sorter->arena + at, 0);
    if (bucket->last_extent) {
        bytes_put_u64(sorter->arena + bucket->last_extent, at);
        bytes_put_u32(sorter->arena + bucket->last_extent + 8, bucket->last_used);
    } else {
        bucket->first_extent = at;
    }
    bucket->last_extent = at;
    bucket->last_size = size;
    bucket->last_used = EXTENT_HEADER;
    return 0;
}

/* What is to be added, by place. */
struct records {
    const uint32_t *user, *item;
    const double *value;
    const int64_t *time; /* NULL: no rating has one */
};

static uint8_t *put_value(uint8_t *at, uint32_t head, uint32_t item, int code, double value) {
    /* the usual record, and a byte of what comes next: an extent has room for the largest */
    bytes_put_u64(at, head | (uint64_t)item << 16 | (uint64_t)(uint32_t)code << 48);
    if (code >= 0) return at + 7;
    bytes_put_u64(at + 6, bytes_of_double(value));
    return at + 14;
}

/* Writes record r of a user who is number `user` of the bucket. @return past it */
static uint8_t *put_record(struct rating_sorter *sorter, uint32_t user,
                           const struct records *records, size_t r, uint8_t *at) {
    const int64_t time = records->time ? records->time[r] : STORE_NO_TIME;
    const bool has_time = time != STORE_NO_TIME, is_short = (uint64_t)time <= UINT32_MAX;
    const int code = value_code(sorter, records->value[r]);
    const uint32_t raw = code < 0 ? FLAG_RAW : 0;
    const uint32_t timed = is_short ? FLAG_SHORT : has_time ? FLAG_TIME : 0;
    at = put_value(at, user | raw | timed, records->item[r], code, records->value[r]);
    if (!has_time) return at;
    sorter->has_times = true;
    if (is_short)
        bytes_put_u32(at, (uint32_t)time);
    else
        bytes_put_u64(at, (uint64_t)time);
    return at + (is_short ? 4 : 8);
}

/* Adds records first to end - 1, all of one user: as a rule ratings come sorted by user. */
static int add_run(struct rating_sorter *sorter, const struct records *records, size_t first,
                   size_t end, struct dpmf_error *error) {
    const uint32_t user = records->user[first];
    const size_t b = bucket_of(user);
    const uint32_t number = (uint32_t)(user - bucket_first_user(b));
    sorter->user_records[user] += end - first;
    for (size_t r = first; r < end;) {
        struct bucket *bucket = &sorter->buckets[b];
        if (bucket->last_size - bucket->last_used < RECORD_MAX) {
            int code = grow_bucket(sorter, b, error);
            if (code < 0) return code;
        }
        uint8_t *extent = sorter->arena + bucket->last_extent, *at = extent + bucket->last_used;
        const uint8_t *last = extent + bucket->last_size - RECORD_MAX; /* where one may begin */
        for (; r < end && at <= last; r++) at = put_record(sorter, number, records, r, at);
        bucket->last_used = (uint32_t)(at - extent);
        assert(bucket->last_used <= bucket->last_size);
    }
    return 0;
}

int rating_sorter_add(struct rating_sorter *sorter, const uint32_t *user, const uint32_t *item,
                      const double *value, const int64_t *time, size_t n,
                      struct dpmf_error *error) {
    assert(n == 0 || (user && item && value));
    const struct records records = {user, item, value, time};
    int code = sorter->arena_used > sorter->arena_limit ? spill_all(sorter, error) : 0;
    for (size_t r = 0, end; code == 0 && r < n; r = end) {
        if (!make_room(sorter, user[r])) return error_no_memory(error);
        if (r + AHEAD < n && user[r + AHEAD] < sorter->n_users)
            __builtin_prefetch(&sorter->user_records[user[r + AHEAD]], 1);
        for (end = r + 1; end < n && user[end] == user[r];) end++;
        code = add_run(sorter, &records, r, end, error);
    }
    return code;
}

/* ---- slices ---------------------------------------------------------------------------------- */

int rating_sorter_finish(struct rating_sorter *sorter, uint64_t n_users, struct dpmf_error *error) {
    assert(n_users == sorter->n_users);
    for (size_t b = 0; b < sorter->n_buckets; b++) {
        struct bucket *bucket = &sorter->buckets[b];
        if (bucket->last_extent)
            bytes_put_u32(sorter->arena + bucket->last_extent + 8, bucket->last_used);
    }
    struct slice slice = {0};
    for (uint64_t u = 0; u <= n_users; u++) {
        uint64_t records = u < n_users ? sorter->user_records[u] : 0;
        assert(u == n_users || records > 0);
        bool full = u == n_users || slice.n_users == STORE_BLOCK_USERS ||
                    slice.n_records + records > STORE_BLOCK_RATINGS;
        if (full && slice.n_users > 0) {
            if (!memory_reserve(&sorter->slices, &sorter->slices_capacity, sorter->n_slices + 1,
                                sizeof sorter->slices[0]))
                return error_no_memory(error);
            sorter->slices[sorter->n_slices++] = slice;
            slice = (struct slice){.first_user = u};
        }
        slice.n_users++;
        slice.n_records += records;
    }
    return 0;
}

/* What a slice is collected into, and sorted into: user within the slice, rank, value, time. */
struct sorter_column {
    uint16_t *user;
    uint32_t *rank;
    double *value;
    int64_t *time;
    size_t user_capacity, rank_capacity, value_capacity, time_capacity;
    uint64_t n;
    uint64_t *key, *key_other; /* rank and place, for the radix sort */
    size_t key_capacity, key_other_capacity;
};

enum { COLLECTED, SORTED, N_COLUMNS };

static void column_free(struct sorter_column *column) {
    free(column->user);
    free(column->rank);
    free(column->value);
    free(column->time);
    free(column->key);
    free(column->key_other);
}

void sorter_space_free(struct sorter_space *space) {
    if (space->columns)
        for (int i = 0; i < N_COLUMNS; i++) column_free(&space->columns[i]);
    free(space->columns);
    free(space->read);
    free(space->start);
    memset(space, 0, sizeof *space);
}

static bool column_reserve(struct sorter_column *column, size_t n, bool has_times) {
    assert(column);
    return memory_reserve(&column->user, &column->user_capacity, n, sizeof column->user[0]) &&
           memory_reserve(&column->rank, &column->rank_capacity, n, sizeof column->rank[0]) &&
           memory_reserve(&column->value, &column->value_capacity, n, sizeof column->value[0]) &&
           (!has_times ||
            memory_reserve(&column->time, &column->time_capacity, n, sizeof column->time[0]));
}

/* Everything one call of rating_sorter_slice works on. */
struct slicing {
    const struct rating_sorter *sorter;
    const struct slice *slice;
    const uint32_t *rank;
    struct sorter_space *space;
    uint64_t capacity; /* records that may be collected before they are compacted */
    sorter_on_duplicate *on_duplicate;
    void *self;
    struct dpmf_error *error;
};

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

/* Sorts keys (rank << 32 | place) by rank, stably. @return where the sorted keys are */
static uint64_t *sort_by_rank(uint64_t *key, uint64_t *other, uint64_t n, uint32_t max_rank) {
    assert(key && other && key != other);
    for (int shift = 0; shift < 32 && (max_rank >> shift) != 0; shift += DIGIT_BITS) {
        uint64_t count[DIGITS] = {0};
        for (uint64_t i = 0; i < n; i++) count[(key[i] >> (32 + shift)) & (DIGITS - 1)]++;
        uint64_t at = 0;
        for (int d = 0; d < DIGITS; d++) {
            uint64_t next = at + count[d];
            count[d] = at;
            at = next;
        }
        for (uint64_t i = 0; i < n; i++)
            other[count[(key[i] >> (32 + shift)) & (DIGITS - 1)]++] = key[i];
        uint64_t *swap = key;
        key = other;
        other = swap;
    }
    return key;
}

/* Two counts of one event: place `from` goes into place `to`. */
static void add_up(struct sorter_column *column, uint32_t from, uint32_t to, bool has_times) {
    const double sum = column->value[from] + column->value[to];
    column->value[to] = sum < STORE_COUNT_MAX ? sum : STORE_COUNT_MAX;
    if (has_times && column->time[from] > column->time[to]) column->time[to] = column->time[from];
}

/* Whether place `from` is kept, not place `to`; of two zeros the one without a sign. */
static bool is_later(const struct sorter_column *column, uint32_t from, uint32_t to,
                     bool has_times) {
    const double a = column->value[from], b = column->value[to];
    if (has_times && column->time[from] != column->time[to])
        return column->time[from] > column->time[to];
    return a > b || (a == b && signbit(b) && !signbit(a));
}

/* Two ratings of a pair: what is kept is then in place `to`. */
static void keep_latest(struct sorter_column *column, uint32_t from, uint32_t to, bool has_times) {
    if (!is_later(column, from, to, has_times)) return;
    column->value[to] = column->value[from];
    if (has_times) column->time[to] = column->time[from];
}

/* From keys in order of rank: a stable scatter by user, then each pair once, in its last place. */
static void gather(struct slicing *slicing, const uint64_t *key, uint64_t *by_user) {
    struct sorter_column *from = &slicing->space->columns[COLLECTED];
    struct sorter_column *to = &slicing->space->columns[SORTED];
    uint32_t n_users = slicing->slice->n_users;
    uint64_t *start = slicing->space->start;

    memset(start, 0, ((size_t)n_users + 1) * sizeof start[0]);
    for (uint64_t i = 0; i < from->n; i++) start[from->user[i] + 1]++;
    for (uint32_t u = 0; u < n_users; u++) start[u + 1] += start[u];
    uint64_t next[STORE_BLOCK_USERS];
    memcpy(next, start, n_users * sizeof next[0]);
    for (uint64_t i = 0; i < from->n; i++) by_user[next[from->user[(uint32_t)key[i]]]++] = key[i];

    uint64_t n = 0;
    for (uint32_t u = 0; u < n_users; u++) {
        uint64_t first = start[u], end = start[u + 1];
        start[u] = n;
        for (uint64_t i = first; i < end; i++) {
            uint32_t rank = (uint32_t)(by_user[i] >> 32), place = (uint32_t)by_user[i];
            if (i + 1 < end && (uint32_t)(by_user[i + 1] >> 32) == rank) {
                const uint32_t next_place = (uint32_t)by_user[i + 1];
                if (slicing->sorter->adds_up)
                    add_up(from, place, next_place, slicing->sorter->has_times);
                else if (slicing->sorter->keeps_latest)
                    keep_latest(from, place, next_place, slicing->sorter->has_times);
                slicing->on_duplicate(slicing->self, rank);
                continue;
            }
            to->user[n] = (uint16_t)u;
            to->rank[n] = rank;
            to->value[n] = from->value[place];
            if (slicing->sorter->has_times) to->time[n] = from->time[place];
            n++;
        }
    }
    start[n_users] = n;
    to->n = n;
}

static int sort_collected(struct slicing *slicing) {
    struct sorter_column *from = &slicing->space->columns[COLLECTED];
    struct sorter_column *to = &slicing->space->columns[SORTED];
    size_t n = (size_t)from->n;
    if (!memory_reserve(&from->key, &from->key_capacity, n, sizeof from->key[0]) ||
        !memory_reserve(&from->key_other, &from->key_other_capacity, n,
                        sizeof from->key_other[0]) ||
        !column_reserve(to, n, slicing->sorter->has_times))
        return error_no_memory(slicing->error);
    uint32_t max_rank = 0;
    for (size_t i = 0; i < n; i++) {
        from->key[i] = (uint64_t)from->rank[i] << 32 | i;
        if (from->rank[i] > max_rank) max_rank = from->rank[i];
    }
    uint64_t *sorted = sort_by_rank(from->key, from->key_other, n, max_rank);
    gather(slicing, sorted, sorted == from->key ? from->key_other : from->key);
    return 0;
}

/* A single user can have more records than fit, if most are duplicates: then what is collected so
 * far is reduced to distinct items, which stand for the past from then on. */
static int compact(struct slicing *slicing) {
    struct sorter_column *columns = slicing->space->columns;
    int code = sort_collected(slicing);
    if (code < 0) return code;
    struct sorter_column swap = columns[COLLECTED];
    columns[COLLECTED] = columns[SORTED];
    columns[SORTED] = swap;
    if (columns[COLLECTED].n <= slicing->capacity / 2) return 0;
    slicing->capacity *= 2;
    if (slicing->capacity > UINT32_MAX) /* a place is 32 bits wide */
        return error_set(slicing->error, DPMF_ERR_INPUT_TOO_MANY,
                         "a user has rated more than 2,147,483,648 items");
    return 0;
}

/* Takes the slice's records out of whole records in [at, end). @return past the last whole record,
 * or NULL on failure (*code) */
static const uint8_t *collect(struct slicing *slicing, uint64_t bucket_user, const uint8_t *at,
                              const uint8_t *end, int *code) {
    assert(at <= end);
    const struct rating_sorter *sorter = slicing->sorter;
    struct sorter_column *column = &slicing->space->columns[COLLECTED];
    while (end - at >= 7) {
        uint32_t head = at[0] | (uint32_t)at[1] << 8;
        const size_t time_bytes = head & FLAG_SHORT ? 4 : head & FLAG_TIME ? 8 : 0;
        const size_t size = 6 + (head & FLAG_RAW ? 8u : 1u) + time_bytes;
        if ((size_t)(end - at) < size) break;
        uint64_t user = bucket_user + (head & USER_MASK) - slicing->slice->first_user;
        if (user < slicing->slice->n_users) {
            if (column->n == slicing->capacity) {
                if ((*code = compact(slicing)) < 0) return NULL;
                if (!column_reserve(column, (size_t)slicing->capacity, sorter->has_times)) {
                    *code = error_no_memory(slicing->error);
                    return NULL;
                }
            }
            uint64_t n = column->n++;
            column->user[n] = (uint16_t)user;
            column->rank[n] = slicing->rank[bytes_get_u32(at + 2)];
            column->value[n] =
                head & FLAG_RAW ? bytes_to_double(bytes_get_u64(at + 6)) : sorter->value[at[6]];
            if (sorter->has_times)
                column->time[n] = time_bytes == 4   ? (int64_t)bytes_get_u32(at + size - 4)
                                  : time_bytes == 8 ? (int64_t)bytes_get_u64(at + size - 8)
                                                    : STORE_NO_TIME;
        }
        at += size;
    }
    return at;
}

static int collect_run(struct slicing *slicing, uint64_t bucket_user, const struct run *run) {
    assert(run);
    const struct rating_sorter *sorter = slicing->sorter;
    uint8_t *buffer = slicing->space->read;
    uint64_t offset = run->offset, remaining = run->length;
    size_t kept = 0; /* bytes of a record that the end of the buffer cut */
    while (remaining > 0) {
        size_t n = remaining < READ_BYTES - kept ? (size_t)remaining : READ_BYTES - kept;
        int code =
            file_read_at(sorter->spill, buffer + kept, n, offset, "temporary file", slicing->error);
        if (code < 0) return code;
        offset += n;
        remaining -= n;
        const uint8_t *end = buffer + kept + n;
        const uint8_t *at = collect(slicing, bucket_user, buffer, end, &code);
        if (!at) return code;
        kept = (size_t)(end - at);
        memmove(buffer, at, kept);
    }
    return kept == 0 ? 0 : error_set(slicing->error, DPMF_ERR_BASE_BUG, "a spilled record is cut");
}

static int collect_bucket(struct slicing *slicing, size_t b) {
    const struct rating_sorter *sorter = slicing->sorter;
    const struct bucket *bucket = &sorter->buckets[b];
    uint64_t bucket_user = bucket_first_user(b);
    int code = 0;
    for (int64_t r = bucket->first_run; r != NO_RUN; r = sorter->runs[r].next)
        if ((code = collect_run(slicing, bucket_user, &sorter->runs[r])) < 0) return code;
    for (uint64_t e = bucket->first_extent; e; e = extent_next(sorter->arena + e)) {
        const uint8_t *extent = sorter->arena + e;
        if (!collect(slicing, bucket_user, extent + EXTENT_HEADER, extent + extent_used(extent),
                     &code))
            return code;
    }
    return 0;
}

static int prepare_space(struct slicing *slicing) {
    struct sorter_space *space = slicing->space;
    if (!space->columns) space->columns = memory_alloc_zero(N_COLUMNS, sizeof space->columns[0]);
    if (!space->read) space->read = memory_alloc(READ_BYTES, 1);
    if (!space->start) space->start = memory_alloc(STORE_BLOCK_USERS + 1, sizeof space->start[0]);
    if (!space->columns || !space->read || !space->start) return error_no_memory(slicing->error);
    space->columns[COLLECTED].n = 0;
    slicing->capacity = slicing->slice->n_records < STORE_BLOCK_RATINGS ? slicing->slice->n_records
                                                                        : STORE_BLOCK_RATINGS;
    if (!column_reserve(&space->columns[COLLECTED], (size_t)slicing->capacity,
                        slicing->sorter->has_times))
        return error_no_memory(slicing->error);
    return 0;
}

int rating_sorter_slice(const struct rating_sorter *sorter, uint64_t s, const uint32_t *rank,
                        struct sorter_space *space, sorter_on_duplicate *on_duplicate, void *self,
                        struct store_block *out, struct dpmf_error *error) {
    assert(rank && space && out);
    assert(s < sorter->n_slices);
    const struct slice *slice = &sorter->slices[s];
    struct slicing slicing = {
        .sorter = sorter,
        .slice = slice,
        .rank = rank,
        .space = space,
        .on_duplicate = on_duplicate,
        .self = self,
        .error = error,
    };
    int code = prepare_space(&slicing);
    size_t last = bucket_of((uint32_t)(slice->first_user + slice->n_users - 1));
    for (size_t b = bucket_of((uint32_t)slice->first_user); code == 0 && b <= last; b++)
        code = collect_bucket(&slicing, b);
    if (code == 0) code = sort_collected(&slicing);
    if (code < 0) return code;

    const struct sorter_column *sorted = &space->columns[SORTED];
    *out = (struct store_block){
        .first_user = slice->first_user,
        .n_users = slice->n_users,
        .n_ratings = sorted->n,
        .start = space->start,
        .item = sorted->rank,
        .value = sorted->value,
        .time = sorter->has_times ? sorted->time : NULL,
    };
    return 0;
}
