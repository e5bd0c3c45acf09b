/*
 * Arrays behind the interface of source.h: a chunk is a stretch of them, and nothing is copied
 * before the importer takes it. So ratings that a program has in memory become the very store that
 * the same ratings would become out of a file. Fed by a caller's arrays; feeds the importer.
 */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "dpmf_text.h"
#include "ratings/import.h"
#include "ratings/source.h"

enum {
    CHUNK_RATINGS = 1 << 15, /* enough for a thread, few enough to hear of an interruption soon */
    NUMBER_MAX = 20,         /* digits of an int64 */
};

struct array_source {
    struct source source; /* first: this is what others see */
    struct dpmf_arrays arrays;
    uint64_t next;
    _Atomic uint64_t taken;
};

struct array_chunk {
    uint64_t begin, end;
    char numbers[RECORD_BATCH][2][NUMBER_MAX]; /* ids that are numbers, until they are taken */
};

static const struct array_source *self_of(const struct source *source) {
    return (const struct array_source *)source;
}

static void *chunk_new(const struct source *source) {
    (void)source;
    return memory_alloc(1, sizeof(struct array_chunk));
}

static int next_stretch(struct source *source, void *pointer, struct dpmf_error *error) {
    struct array_source *self = (struct array_source *)source;
    struct array_chunk *chunk = pointer;
    uint64_t left = self->arrays.n - self->next;
    (void)error;
    if (left == 0) return 0;
    chunk->begin = self->next;
    chunk->end = self->next += left < CHUNK_RATINGS ? left : CHUNK_RATINGS;
    return 1;
}

static uint32_t print_number(int64_t number, char text[NUMBER_MAX]) {
    char backwards[NUMBER_MAX];
    uint32_t n = 0;
    do {
        backwards[n++] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    for (uint32_t i = 0; i < n; i++) text[i] = backwards[n - 1 - i];
    return n;
}

/* One side of a rating: its numbers, and the ids they stand for. */
struct side {
    const char *name;
    const int64_t *numbers;
    uint64_t n;
    const char *id_bytes;
    const int64_t *id_offsets;
};

/* @return whether there is an id; else it was rejected, and *go_on says whether to go on */
static bool find_id(const struct side *side, uint64_t r, char number[NUMBER_MAX], const char **id,
                    uint32_t *length, struct record_batch *batch, bool *go_on) {
    int64_t i = side->numbers[r];
    if (i < 0 || (uint64_t)i >= side->n) {
        *go_on = record_batch_reject(batch, DPMF_ERR_INPUT_ID, 0, 0, NULL,
                                     "%s[%llu] is %lld, which is not in 0 .. %llu", side->name,
                                     (unsigned long long)r, (long long)i,
                                     (unsigned long long)(side->n > 0 ? side->n - 1 : 0));
        return false;
    }
    if (!side->id_offsets) {
        *id = number;
        *length = print_number(i, number);
        return true;
    }
    int64_t begin = side->id_offsets[i], end = side->id_offsets[i + 1];
    if (begin < 0 || end < begin || end - begin > STORE_ID_MAX) {
        *go_on = record_batch_reject(batch, DPMF_ERR_INPUT_ID_TOO_LONG, 0, 0, NULL,
                                     "the id of %s[%llu] goes from byte %lld to %lld: an id has 1 "
                                     "to %d bytes",
                                     side->name, (unsigned long long)r, (long long)begin,
                                     (long long)end, (int)STORE_ID_MAX);
        return false;
    }
    *id = side->id_bytes + begin;
    *length = (uint32_t)(end - begin);
    if (*length == 0) {
        *go_on =
            record_batch_reject(batch, DPMF_ERR_INPUT_ID, 0, 0, NULL, "the id of %s[%llu] is empty",
                                side->name, (unsigned long long)r);
        return false;
    }
    if (!memchr(*id, '\0', *length)) return true;
    *go_on = record_batch_reject(batch, DPMF_ERR_INPUT_ID, 0, 0, NULL,
                                 "the id of %s[%llu] holds a NUL byte", side->name,
                                 (unsigned long long)r);
    return false;
}

/* Why a value cannot be used, with its place, which the checks of all formats do not know.
 * @return whether reading goes on */
static bool reject_value(struct record_batch *batch, double value, uint64_t r) {
    const struct dpmf_input_options *options = batch->options;
    const unsigned long long place = r;
    char text[DPMF_DOUBLE_TEXT_MAX], low[DPMF_DOUBLE_TEXT_MAX], high[DPMF_DOUBLE_TEXT_MAX];
    dpmf_format_double(value, text);
    if (!isfinite(value))
        return record_batch_reject(batch, DPMF_ERR_INPUT_NOT_FINITE, 0, 0, NULL,
                                   "%ss[%llu] is not finite", record_value_name(batch), place);
    if (batch->counts)
        return record_batch_reject(batch, DPMF_ERR_INPUT_OUT_OF_RANGE, 0, 0,
                                   "an event happens at least once: leave the counts out, or turn "
                                   "them into whole numbers",
                                   "counts[%llu] is %s, not a whole number from 1 to 2^53 - 1",
                                   place, text);
    dpmf_format_double(options->range_min, low);
    dpmf_format_double(options->range_max, high);
    return record_batch_reject(batch, DPMF_ERR_INPUT_OUT_OF_RANGE, 0, 0, NULL,
                               "ratings[%llu] is %s, outside the range %s:%s", place, text, low,
                               high);
}

static bool can_be_used(const struct record_batch *batch, double value) {
    if (batch->counts) return record_count_is(value);
    return isfinite(value) && record_rating_take(batch->options, &value) == 0;
}

static bool add_rating(const struct dpmf_arrays *arrays, const struct side *users,
                       const struct side *items, uint64_t r, struct array_chunk *chunk,
                       struct record_batch *batch) {
    char(*numbers)[NUMBER_MAX] = chunk->numbers[batch->n];
    struct record record = {
        .rating = arrays->ratings     ? arrays->ratings[r]
                  : arrays->ratings32 ? number_widen_rating(arrays->ratings32[r])
                                      : 1,
        .time = arrays->times ? arrays->times[r] : STORE_NO_TIME,
    };
    bool go_on = true;
    if (!find_id(users, r, numbers[0], &record.user, &record.user_length, batch, &go_on))
        return go_on;
    if (!find_id(items, r, numbers[1], &record.item, &record.item_length, batch, &go_on))
        return go_on;
    if (!can_be_used(batch, record.rating)) return reject_value(batch, record.rating, r);
    return record_batch_add(batch, &record, 0, 0, 0, 0);
}

static void parse_stretch(const struct source *source, void *pointer, struct record_batch *batch) {
    const struct dpmf_arrays *arrays = &self_of(source)->arrays;
    struct array_chunk *chunk = pointer;
    const struct side users = {"users", arrays->users, arrays->n_users, arrays->user_id_bytes,
                               arrays->user_id_offsets};
    const struct side items = {"items", arrays->items, arrays->n_items, arrays->item_id_bytes,
                               arrays->item_id_offsets};
    for (uint64_t r = chunk->begin; r < chunk->end; r++)
        if (!add_rating(arrays, &users, &items, r, chunk, batch)) return;
}

static int settle_stretch(struct source *source, void *pointer, struct record_batch *batch,
                          struct dpmf_error *error) {
    struct array_source *self = (struct array_source *)source;
    const struct array_chunk *chunk = pointer;
    atomic_store_explicit(&self->taken, chunk->end, memory_order_relaxed);
    if (!batch->failure.code) return 0;
    if (error) *error = batch->failure;
    return batch->failure.code;
}

static int finish_arrays(struct source *source, struct record_batch *batch,
                         struct dpmf_error *error) {
    (void)source;
    (void)batch;
    (void)error;
    return 0;
}

static void close_arrays(struct source *source) { free(source); }

static uint64_t bytes_of(const struct dpmf_arrays *arrays, uint64_t n) {
    uint64_t ids = sizeof arrays->users[0] + sizeof arrays->items[0];
    uint64_t rating = arrays->ratings     ? sizeof arrays->ratings[0]
                      : arrays->ratings32 ? sizeof arrays->ratings32[0]
                                          : 0;
    uint64_t time = arrays->times ? sizeof arrays->times[0] : 0;
    return n * (ids + rating + time);
}

static uint64_t bytes_read(const struct source *source) {
    const struct array_source *self = self_of(source);
    return bytes_of(&self->arrays, atomic_load_explicit(&self->taken, memory_order_relaxed));
}

/* Columns that there must be when there are ratings; events need no counts. */
static int check_arrays(const struct dpmf_arrays *arrays, bool events, struct dpmf_error *error) {
    if (arrays->n == 0) return 0;
    const void *ratings = arrays->ratings ? (const void *)arrays->ratings : arrays->ratings32;
    if (events && !ratings) ratings = arrays;
    return arguments_check(error, "arrays->users arrays->items arrays->ratings", arrays->users,
                           arrays->items, ratings);
}

int dpmf_store_from_arrays(const struct dpmf_arrays *arrays,
                           const struct dpmf_input_options *options, const struct dpmf_run *run,
                           struct dpmf_store **store, struct dpmf_error *error) {
    static const struct source_ops ops = {
        .chunk_new = chunk_new,
        .chunk_free = free,
        .next = next_stretch,
        .parse = parse_stretch,
        .settle = settle_stretch,
        .finish = finish_arrays,
        .close = close_arrays,
    };
    struct dpmf_arrays given = {.size = sizeof given};
    struct dpmf_input_options own = dpmf_input_options_default();
    struct dpmf_run own_run;
    int code = arguments_check(error, "arrays store", arrays, store);
    if (code == 0) code = options_take(&own, sizeof own, options, "input_options", error);
    if (code == 0) code = run_take(&own_run, run, error);
    if (code == 0) code = options_take(&given, sizeof given, arrays, "arrays", error);
    if (code == 0) code = check_arrays(&given, own.events, error);
    if (store) *store = NULL;
    if (code < 0) return code;
    options = &own, run = &own_run;
    char *name = import_temporary_name("arrays");
    struct array_source *self = memory_alloc_zero(1, sizeof *self);
    if (!name || !self) {
        free(name);
        free(self);
        return error_no_memory(error);
    }
    self->arrays = given;
    self->source = (struct source){.ops = &ops,
                                   .format = "arrays",
                                   .total_bytes = bytes_of(&given, given.n),
                                   .bytes_read = bytes_read};
    self->source.layout = store_layout_declared();
    self->source.layout.formats = store_layout_format(self->source.format);
    self->source.layout.holds_events = options->events;
    self->source.layout.lacks_times = !given.times;
    code = import_source(&self->source, name, options, run, store, error);
    free(name);
    return code;
}
