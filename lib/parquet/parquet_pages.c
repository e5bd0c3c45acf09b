/*
 * The pages of a column chunk: their headers, one after the other, by whoever cuts batches; and
 * their contents, read, checked and decompressed by the thread that needs them first. A page is
 * where its header says within its chunk, which lies in the file; what it decompresses to is as
 * long as it says, and no longer than memory allows. Fed by parquet_reader.c; feeds
 * parquet_values.c.
 */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/bytes.h"
#include "base/error.h"
#include "parquet/parquet_state.h"

enum {
    HEADER_FIRST = 512,    /* bytes read for a header, more only where it is longer */
    HEADER_MAX = 16 << 20, /* it may have a column's smallest and largest text */
};

enum page_kind { PAGE_DATA, PAGE_INDEX, PAGE_DICTIONARY, PAGE_DATA_V2 };

/* ---- memory ---------------------------------------------------------------------------------- */

static void count_memory(struct parquet_table *self, uint64_t bytes) {
    const uint64_t now = atomic_fetch_add(&self->in_use, bytes) + bytes;
    uint64_t most = atomic_load(&self->most_in_use);
    while (now > most && !atomic_compare_exchange_weak(&self->most_in_use, &most, now)) continue;
}

static void free_values(struct parquet_values *values) {
    free(values->bytes);
    free(values->values);
    free(values->text);
    free(values->validity);
}

void parquet_dictionary_release(struct parquet_table *self, struct parquet_dictionary *dictionary) {
    if (!dictionary || atomic_fetch_sub(&dictionary->references, 1) != 1) return;
    atomic_fetch_sub(&self->in_use, dictionary->values.memory);
    free_values(&dictionary->values);
    free(dictionary);
}

void parquet_page_release(struct parquet_table *self, struct parquet_page *page) {
    if (!page || atomic_fetch_sub(&page->references, 1) != 1) return;
    atomic_fetch_sub(&self->in_use, page->values.memory);
    free_values(&page->values);
    parquet_dictionary_release(self, page->dictionary);
    free(page);
}

/* ---- headers --------------------------------------------------------------------------------- */

/* A number from 0 on that fits in 31 bits. */
static uint32_t get_size(struct thrift *t, const struct thrift_field *field) {
    const int64_t value = thrift_whole(t, field);
    if (value < 0 || value > INT32_MAX) t->broken = true;
    return t->broken ? 0 : (uint32_t)value;
}

/* That of a dictionary begins in the same way. */
static void read_data_header(struct thrift *t, bool is_dictionary, struct parquet_place *place) {
    struct thrift_field field = {0};
    while (thrift_next(t, &field)) {
        if (field.id == 1)
            place->n_values = place->n_rows = get_size(t, &field);
        else if (field.id == 2)
            place->encoding = (int)thrift_whole(t, &field);
        else if (field.id == 3 && !is_dictionary)
            place->level_encoding = (int)thrift_whole(t, &field);
        else
            thrift_skip(t, &field);
    }
}

static void read_data_header_v2(struct thrift *t, struct parquet_place *place) {
    struct thrift_field field = {0};
    place->is_packed = true;
    while (thrift_next(t, &field)) switch (field.id) {
        case 1: place->n_values = get_size(t, &field); break;
        case 2: place->n_nulls = get_size(t, &field); break;
        case 3: place->n_rows = get_size(t, &field); break;
        case 4: place->encoding = (int)thrift_whole(t, &field); break;
        case 5: place->level_bytes = get_size(t, &field); break;
        case 6: place->repeat_bytes = get_size(t, &field); break;
        case 7: place->is_packed = thrift_truth(t, &field); break;
        default: thrift_skip(t, &field);
        }
}

static void read_header(struct thrift *t, struct parquet_place *place) {
    struct thrift_field field = {0};
    int wanted = -1, found = -1; /* the kind of header that there should be, and is */
    *place = (struct parquet_place){.kind = -1, .is_packed = true, .encoding = -1};
    while (thrift_next(t, &field)) switch (field.id) {
        case 1: wanted = place->kind = (int)thrift_whole(t, &field); break;
        case 2: place->bytes = get_size(t, &field); break;
        case 3: place->packed_bytes = get_size(t, &field); break;
        case 4:
            place->checksum = (uint32_t)thrift_whole(t, &field);
            place->has_checksum = true;
            break;
        case 5:
        case 7:
            found = field.id == 5 ? PAGE_DATA : PAGE_DICTIONARY;
            if (thrift_begin_struct(t, &field)) read_data_header(t, field.id == 7, place);
            break;
        case 8:
            found = PAGE_DATA_V2;
            if (thrift_begin_struct(t, &field)) read_data_header_v2(t, place);
            break;
        default: thrift_skip(t, &field);
        }
    if (wanted != PAGE_INDEX && wanted != found) t->broken = true;
}

/* The header at the cursor, which then stands behind the page. */
static int next_header(struct parquet_table *self, struct parquet_cursor *cursor,
                       struct parquet_place *place, struct dpmf_error *error) {
    uint8_t first[HEADER_FIRST], *bytes = first, *longer = NULL;
    const uint64_t left = cursor->chunk->begin + cursor->chunk->bytes - cursor->at;
    size_t n = left < sizeof first ? (size_t)left : sizeof first;
    struct thrift t;
    int code = 0;
    for (;;) {
        code = parquet_read(self, cursor->at, bytes, n, error);
        t = (struct thrift){.at = bytes, .end = bytes + n};
        if (code == 0) read_header(&t, place);
        if (code < 0 || !t.is_short || n == left || n == HEADER_MAX) break;
        n = 8 * n < HEADER_MAX ? 8 * n : HEADER_MAX;
        if (n > left) n = (size_t)left;
        free(longer);
        bytes = longer = memory_alloc(n, 1);
        if (!longer) return error_no_memory(error);
    }
    const uint64_t length = (uint64_t)(t.at - bytes);
    free(longer);
    if (code < 0) return code;
    if (t.broken || place->packed_bytes > left - length)
        return parquet_refuse_column(self, cursor->number,
                                     "is damaged: a page's header is "
                                     "malformed",
                                     error);
    place->offset = cursor->at + length;
    cursor->at = place->offset + place->packed_bytes;
    return 0;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* The bytes of a page, those before `plain` as they are and the others decompressed. */
static int read_bytes(struct parquet_table *self, const struct parquet_place *place,
                      enum parquet_codec codec, uint32_t plain, int number,
                      struct parquet_values *values, struct dpmf_error *error) {
    const uint64_t bound = self->any_length ? INT32_MAX : self->limit;
    if (place->bytes > bound) return parquet_refuse_size(self, number, place->bytes, error);
    const bool is_packed = place->is_packed && codec != PARQUET_UNCOMPRESSED;
    if (plain > place->bytes || plain > place->packed_bytes ||
        (!is_packed && place->bytes != place->packed_bytes))
        return parquet_refuse_column(self, number, "is damaged: a page's lengths make no sense",
                                     error);
    uint8_t *packed = memory_alloc(place->packed_bytes + 1u, 1);
    if (!packed) return error_no_memory(error);
    int code = parquet_read(self, place->offset, packed, place->packed_bytes, error);
    if (code == 0 && place->has_checksum &&
        crc32(0, packed, place->packed_bytes) != place->checksum)
        code = parquet_refuse_column(
            self, number, "is damaged: a page's checksum is not that of its bytes", error);
    if (code < 0 || !is_packed) {
        values->bytes = packed; /* freed with the rest */
        return code;
    }
    values->bytes = memory_alloc(place->bytes + 1u, 1);
    if (!values->bytes) {
        free(packed);
        return error_no_memory(error);
    }
    memcpy(values->bytes, packed, plain);
    /* Some writers compress nothing at all where there is nothing. */
    const bool is_empty = place->packed_bytes == plain && place->bytes == plain;
    const bool fits =
        is_empty || parquet_decompress(codec, packed + plain, place->packed_bytes - plain,
                                       values->bytes + plain, place->bytes - plain);
    free(packed);
    return fits ? 0
                : parquet_refuse_column(self, number, "is damaged: a page cannot be decompressed",
                                        error);
}

/* All bytes of a page; none where they could not be read. */
static struct parquet_span span_of(const struct parquet_values *values,
                                   const struct parquet_place *place) {
    const uint8_t *bytes = values->bytes;
    return (struct parquet_span){bytes, bytes ? bytes + place->bytes : NULL};
}

/* Which values are null: `bits` of those that are not. @return the span after the levels */
static int read_levels(struct parquet_table *self, const struct parquet_page *page,
                       struct parquet_span *span, struct parquet_values *values, size_t *n_set,
                       struct dpmf_error *error) {
    const struct parquet_place *place = &page->place;
    struct parquet_span levels = *span;
    *n_set = place->n_values;
    const bool is_v2 = place->kind == PAGE_DATA_V2;
    if (is_v2) {
        span->at += place->repeat_bytes; /* none is repeated */
        levels.at = span->at;
        levels.end = span->at += place->level_bytes;
    }
    if (!page->column->is_optional) return 0;
    if (!is_v2) {
        if (place->level_encoding != PARQUET_RLE)
            return parquet_refuse_column(
                self, page->number, "has its nulls encoded as BIT_PACKED, which is not supported",
                error);
        const size_t left = parquet_span_left(span);
        const uint32_t n = left < 4 ? UINT32_MAX : bytes_get_u32(span->at);
        if (left < 4 || n > left - 4)
            return parquet_refuse_column(self, page->number,
                                         "is damaged: its nulls do not fit in their page", error);
        levels.at = span->at + 4;
        levels.end = span->at = levels.at + n;
    }
    if (place->n_values / 8 > self->limit)
        return parquet_refuse_size(self, page->number, place->n_values / 8, error);
    values->validity = memory_alloc_zero(place->n_values / 8 + 1, 1);
    if (!values->validity) return error_no_memory(error);
    if (!parquet_levels_read(&levels, place->n_values, values->validity, n_set) ||
        (is_v2 && place->n_nulls != place->n_values - *n_set))
        return parquet_refuse_column(self, page->number,
                                     "is damaged: its nulls do not fit in their page", error);
    values->memory += place->n_values / 8 + 1;
    if (*n_set < place->n_values) return 0;
    free(values->validity);
    values->validity = NULL;
    values->memory = 0;
    return 0;
}

static int load(struct parquet_table *self, struct parquet_page *page, struct dpmf_error *error) {
    const struct parquet_place *place = &page->place;
    struct parquet_values *values = &page->values;
    const uint64_t levels =
        place->kind == PAGE_DATA_V2 ? (uint64_t)place->level_bytes + place->repeat_bytes : 0;
    size_t n_set;
    const uint32_t plain = levels > UINT32_MAX ? UINT32_MAX : (uint32_t)levels;
    int code = read_bytes(self, place, page->codec, plain, page->number, values, error);
    struct parquet_span span = span_of(values, place);
    if (code == 0) code = read_levels(self, page, &span, values, &n_set, error);
    if (code == 0)
        code = parquet_values_decode(self, page->column, page->number, place->encoding,
                                     page->dictionary, span, place->n_values, n_set, values, error);
    values->memory += place->bytes;
    return code;
}

int parquet_page_load(struct parquet_table *self, struct parquet_page *page, bool wait,
                      struct dpmf_error *error) {
    pthread_mutex_lock(&self->lock);
    while (wait && page->state == PARQUET_BUSY) pthread_cond_wait(&self->loaded, &self->lock);
    const enum parquet_state state = page->state;
    if (state == PARQUET_NEW) page->state = PARQUET_BUSY;
    pthread_mutex_unlock(&self->lock);
    if (state == PARQUET_FAILED && error) *error = page->failure;
    if (state != PARQUET_NEW) return state == PARQUET_FAILED ? page->failure.code : 0;
    const int code = load(self, page, &page->failure);
    if (code < 0 && error) *error = page->failure;
    count_memory(self, page->values.memory);
    pthread_mutex_lock(&self->lock);
    page->state = code < 0 ? PARQUET_FAILED : PARQUET_READY;
    pthread_cond_broadcast(&self->loaded);
    pthread_mutex_unlock(&self->lock);
    return code;
}

/* ---- dictionaries ---------------------------------------------------------------------------- */

static int take_dictionary(struct parquet_table *self, struct parquet_cursor *cursor,
                           const struct parquet_place *place, struct dpmf_error *error) {
    if (cursor->dictionary || cursor->page_begin > 0)
        return parquet_refuse_column(self, cursor->number,
                                     "is damaged: its dictionary is not at its beginning", error);
    if (place->encoding != PARQUET_PLAIN && place->encoding != PARQUET_PLAIN_DICTIONARY)
        return parquet_refuse_column(
            self, cursor->number, "has a dictionary in an encoding that is not supported", error);
    struct parquet_dictionary *dictionary = memory_alloc_zero(1, sizeof *dictionary);
    if (!dictionary) return error_no_memory(error);
    atomic_init(&dictionary->references, 1);
    cursor->dictionary = dictionary;
    struct parquet_values *values = &dictionary->values;
    int code = read_bytes(self, place, (enum parquet_codec)cursor->chunk->codec, 0, cursor->number,
                          values, error);
    const struct parquet_span span = span_of(values, place);
    if (code == 0)
        code = parquet_values_decode(self, cursor->column, cursor->number, PARQUET_PLAIN, NULL,
                                     span, place->n_values, place->n_values, values, error);
    values->memory += place->bytes;
    count_memory(self, values->memory);
    return code;
}

/* ---- the pages of a chunk -------------------------------------------------------------------- */

static int new_page(struct parquet_table *self, const struct parquet_cursor *cursor,
                    const struct parquet_place *place, struct parquet_page **out,
                    struct dpmf_error *error) {
    if (place->n_values > cursor->values_left || place->n_rows != place->n_values)
        return parquet_refuse_column(
            self, cursor->number, "is damaged: a page has more values than there are rows", error);
    struct parquet_page *page = memory_alloc_zero(1, sizeof *page);
    if (!page) return error_no_memory(error);
    page->place = *place;
    page->column = cursor->column;
    page->number = cursor->number;
    page->codec = (enum parquet_codec)cursor->chunk->codec;
    page->dictionary = cursor->dictionary;
    if (page->dictionary) atomic_fetch_add(&page->dictionary->references, 1);
    atomic_init(&page->references, 1);
    *out = page;
    return 0;
}

int parquet_page_next(struct parquet_table *self, struct parquet_cursor *cursor,
                      struct parquet_page **page, struct dpmf_error *error) {
    const uint64_t end = cursor->chunk->begin + cursor->chunk->bytes;
    struct parquet_place place;
    int code = 0;
    *page = NULL;
    while (code == 0 && !*page && cursor->at < end) {
        code = next_header(self, cursor, &place, error);
        if (code < 0 || place.kind == PAGE_INDEX) continue;
        if (place.kind == PAGE_DICTIONARY)
            code = take_dictionary(self, cursor, &place, error);
        else if (place.kind != PAGE_DATA && place.kind != PAGE_DATA_V2)
            code =
                parquet_refuse_column(self, cursor->number, "has a page of an unknown kind", error);
        else if (place.n_values > 0 || place.n_rows > 0)
            code = new_page(self, cursor, &place, page, error);
    }
    return code;
}
