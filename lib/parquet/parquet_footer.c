/*
 * The end of a Parquet file: the footer with its schema and where each column of each row group is.
 * The parts that it lists must be all that is in the file, once: in files that were put together,
 * or whose footer leaves something out, rows would be missing without a word. Between them may be
 * zeros, which align, and copies of what the footer says. Fed by parquet_reader.c.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "parquet/parquet_state.h"

enum {
    MARK = 4,
    TAIL = 8,               /* length of the footer, and the mark */
    FOOTER_MAX = 256 << 20, /* bytes of a footer */
    BLOOM_HEADER = 128,     /* bytes of the header of a Bloom filter, and more */
    GAP_BYTES = 1 << 16,    /* read at once between parts */
};

static const char damaged[] = "the footer is damaged";

/* Parts of the file, as the footer lists them. */
struct part {
    uint64_t begin, bytes;
    int64_t data, n_values; /* a column's first page, and number of values; else 0 */
};

struct parts {
    struct part *part;
    size_t n, capacity;
};

struct footer {
    struct parquet_table *self;
    struct thrift t;
    struct parts parts;
    int64_t n_rows;
    struct dpmf_error *error;
};

static int refuse(const struct footer *f, const char *why) {
    return parquet_refuse(f->self, why, f->error);
}

/* ---- what is listed -------------------------------------------------------------------------- */

struct listed {
    int64_t data, dictionary, bytes, n_values;          /* places and sizes of pages */
    int64_t bloom, bloom_bytes;                         /* place and size of a Bloom filter */
    int64_t offsets, offset_bytes, bounds, bound_bytes; /* those of two indices */
    int64_t physical, codec;
    bool is_elsewhere, is_encrypted, has_metadata;
};

static void read_chunk_metadata(struct thrift *t, struct listed *listed) {
    struct thrift_field field = {0};
    listed->has_metadata = true;
    while (thrift_next(t, &field)) switch (field.id) {
        case 1: listed->physical = thrift_whole(t, &field); break;
        case 4: listed->codec = thrift_whole(t, &field); break;
        case 5: listed->n_values = thrift_whole(t, &field); break;
        case 7: listed->bytes = thrift_whole(t, &field); break;
        case 9: listed->data = thrift_whole(t, &field); break;
        case 11: listed->dictionary = thrift_whole(t, &field); break;
        case 14: listed->bloom = thrift_whole(t, &field); break;
        case 15: listed->bloom_bytes = thrift_whole(t, &field); break;
        default: thrift_skip(t, &field);
        }
}

static void read_listed(struct thrift *t, struct listed *listed) {
    struct thrift_field field = {0};
    *listed = (struct listed){.physical = -1, .codec = -1, .bloom_bytes = -1};
    while (thrift_next(t, &field)) switch (field.id) {
        case 1:
            listed->is_elsewhere = true;
            thrift_skip(t, &field);
            break;
        case 3:
            if (thrift_begin_struct(t, &field)) read_chunk_metadata(t, listed);
            break;
        case 4: listed->offsets = thrift_whole(t, &field); break;
        case 5: listed->offset_bytes = thrift_whole(t, &field); break;
        case 6: listed->bounds = thrift_whole(t, &field); break;
        case 7: listed->bound_bytes = thrift_whole(t, &field); break;
        case 8:
        case 9:
            listed->is_encrypted = true;
            thrift_skip(t, &field);
            break;
        default: thrift_skip(t, &field);
        }
}

/* ---- parts ----------------------------------------------------------------------------------- */

static int add_part(struct footer *f, int64_t begin, int64_t bytes, int64_t data, int64_t n) {
    const uint64_t end = f->self->data_end;
    if (begin < MARK || bytes < 0 || (uint64_t)begin > end ||
        (uint64_t)bytes > end - (uint64_t)begin)
        return parquet_refuse_cut(f->self, f->error);
    if (!memory_reserve(&f->parts.part, &f->parts.capacity, f->parts.n + 1,
                        sizeof f->parts.part[0]))
        return error_no_memory(f->error);
    f->parts.part[f->parts.n++] = (struct part){(uint64_t)begin, (uint64_t)bytes, data, n};
    return 0;
}

/* A Bloom filter of a writer that does not say how long it is: its header does. */
static int bloom_bytes(const struct footer *f, int64_t begin, int64_t *bytes) {
    uint8_t head[BLOOM_HEADER];
    if (begin < MARK || (uint64_t)begin >= f->self->data_end)
        return parquet_refuse_cut(f->self, f->error);
    const uint64_t left = f->self->data_end - (uint64_t)begin;
    const size_t n = left < sizeof head ? (size_t)left : sizeof head;
    int code = parquet_read(f->self, (uint64_t)begin, head, n, f->error);
    if (code < 0) return code;
    struct thrift t = {.at = head, .end = head + n};
    struct thrift_field field = {0};
    *bytes = -1;
    while (thrift_next(&t, &field)) {
        if (field.id == 1)
            *bytes = thrift_whole(&t, &field);
        else
            thrift_skip(&t, &field);
    }
    if (t.broken || *bytes < 0 || *bytes > INT32_MAX) return refuse(f, damaged);
    *bytes += t.at - head;
    return 0;
}

static int compare(const void *a, const void *b) {
    const uint64_t x = ((const struct part *)a)->begin, y = ((const struct part *)b)->begin;
    return (x > y) - (x < y);
}

/* Some writers put a copy of what the footer says about a chunk behind it: of its metadata or, as
 * Arrow up to version 16, of all. @return its length, 0 when there is none */
static size_t copy_bytes(const uint8_t *bytes, size_t n, const struct part *part, bool of_all) {
    struct thrift t = {.at = bytes, .end = bytes + n};
    struct listed copy = {0};
    if (!part || part->data == 0) return 0;
    if (of_all)
        read_listed(&t, &copy);
    else
        read_chunk_metadata(&t, &copy);
    const bool is_same = !t.broken && copy.data == part->data && copy.n_values == part->n_values &&
                         copy.bytes >= 0 && (uint64_t)copy.bytes == part->bytes;
    return is_same ? (size_t)(t.at - bytes) : 0;
}

/* What is between two parts: `before` is the first of them, NULL at the beginning. */
static int check_gap(const struct footer *f, const struct part *before, uint64_t at, uint64_t end) {
    uint8_t bytes[GAP_BYTES];
    while (at < end) {
        const size_t n = end - at < sizeof bytes ? (size_t)(end - at) : sizeof bytes;
        int code = parquet_read(f->self, at, bytes, n, f->error);
        if (code < 0) return code;
        size_t i = copy_bytes(bytes, n, before, false);
        if (i == 0) i = copy_bytes(bytes, n, before, true);
        for (; i < n; i++)
            if (bytes[i] != 0) return refuse(f, "the footer leaves out a part of the file");
        before = NULL;
        at += n;
    }
    return 0;
}

static int check_parts(struct footer *f) {
    const struct part *before = NULL;
    uint64_t at = MARK;
    int code = 0;
    if (f->parts.n > 0) qsort(f->parts.part, f->parts.n, sizeof f->parts.part[0], compare);
    for (size_t i = 0; i < f->parts.n && code == 0; i++) {
        const struct part *part = &f->parts.part[i];
        if (part->bytes == 0) continue;
        if (part->begin < at) return refuse(f, "the footer lists a part of the file twice");
        code = check_gap(f, before, at, part->begin);
        at = part->begin + part->bytes;
        before = part;
    }
    return code == 0 ? check_gap(f, before, at, f->self->data_end) : code;
}

/* ---- columns of row groups ------------------------------------------------------------------- */

/* Where a chunk begins. One without values may have a dictionary alone, or no bytes at all: then
 * what is said about its data is the place of nothing, 0 with some writers. */
static int64_t chunk_begin(const struct listed *listed) {
    const bool has_dictionary = listed->dictionary >= MARK;
    if (listed->n_values == 0 && listed->bytes == 0) return MARK;
    if (listed->n_values == 0 && listed->data < MARK && has_dictionary) return listed->dictionary;
    return has_dictionary && listed->dictionary < listed->data ? listed->dictionary : listed->data;
}

/* Notes where a column's chunk and what belongs to it are. */
static int add_chunk(struct footer *f, struct listed *listed) {
    struct parquet_table *self = f->self;
    const int64_t begin = chunk_begin(listed);
    int code = 0;
    if (listed->is_elsewhere)
        return refuse(f, "its columns are in other files: give these instead");
    if (!listed->has_metadata && !listed->is_encrypted) return refuse(f, damaged);
    if (listed->has_metadata)
        code = add_part(f, begin, listed->bytes, listed->data, listed->n_values);
    if (code == 0 && listed->offset_bytes > 0)
        code = add_part(f, listed->offsets, listed->offset_bytes, 0, 0);
    if (code == 0 && listed->bound_bytes > 0)
        code = add_part(f, listed->bounds, listed->bound_bytes, 0, 0);
    if (code == 0 && listed->bloom > 0 && listed->bloom_bytes < 0)
        code = bloom_bytes(f, listed->bloom, &listed->bloom_bytes);
    if (code == 0 && listed->bloom > 0)
        code = add_part(f, listed->bloom, listed->bloom_bytes, 0, 0);
    if (code < 0) return code;
    if (!memory_reserve(&self->chunks, &self->chunk_capacity, self->n_chunks + 1,
                        sizeof self->chunks[0]))
        return error_no_memory(f->error);
    self->chunks[self->n_chunks++] = (struct parquet_chunk){
        .begin = (uint64_t)begin,
        .bytes = (uint64_t)listed->bytes,
        .n_values = listed->n_values,
        .codec = listed->codec >= 0 && listed->codec < PARQUET_CODECS ? (int)listed->codec : -1,
        .physical = listed->physical < PARQUET_PHYSICALS ? (int)listed->physical : -1,
        .is_encrypted = listed->is_encrypted,
    };
    return 0;
}

static int read_group(struct footer *f) {
    struct parquet_table *self = f->self;
    struct thrift_field field = {0};
    struct listed listed;
    int64_t rows = -1;
    size_t n_columns = 0;
    int code = 0;
    while (code == 0 && thrift_next(&f->t, &field)) {
        if (field.id == 1) {
            n_columns = thrift_begin_list(&f->t, &field, THRIFT_STRUCT);
            for (size_t i = 0; i < n_columns && code == 0; i++) {
                read_listed(&f->t, &listed);
                code = f->t.broken ? refuse(f, damaged) : add_chunk(f, &listed);
            }
        } else if (field.id == 3) {
            rows = thrift_whole(&f->t, &field);
        } else {
            thrift_skip(&f->t, &field);
        }
    }
    if (code < 0) return code;
    if (f->t.broken || rows < 0 || n_columns != self->n_leaves || rows > f->n_rows)
        return refuse(f, damaged);
    f->n_rows -= rows;
    if (!memory_reserve(&self->group_rows, &self->group_capacity, self->n_groups + 1,
                        sizeof self->group_rows[0]))
        return error_no_memory(f->error);
    self->group_rows[self->n_groups++] = rows;
    return 0;
}

/* ---- the footer ------------------------------------------------------------------------------ */

/* The schema is before the row groups, and so is the number of rows. */
static int read_metadata(struct footer *f) {
    struct thrift_field field = {0};
    bool has_schema = false, has_groups = false;
    size_t n;
    int code = 0;
    f->n_rows = -1;
    while (code == 0 && thrift_next(&f->t, &field)) switch (field.id) {
        case 2:
            n = thrift_begin_list(&f->t, &field, THRIFT_STRUCT);
            code =
                has_schema ? refuse(f, damaged) : parquet_schema_read(f->self, &f->t, n, f->error);
            has_schema = true;
            break;
        case 3: f->n_rows = thrift_whole(&f->t, &field); break;
        case 4:
            n = thrift_begin_list(&f->t, &field, THRIFT_STRUCT);
            if (!has_schema || has_groups) return refuse(f, damaged);
            has_groups = true;
            for (size_t i = 0; i < n && code == 0; i++) code = read_group(f);
            break;
        default: thrift_skip(&f->t, &field);
        }
    if (code < 0) return code;
    return f->t.broken || !has_groups || f->n_rows != 0 ? refuse(f, damaged) : 0;
}

static int refuse_encrypted(const struct parquet_table *self, struct dpmf_error *error) {
    parquet_refuse(self, "the file is encrypted", error);
    error_hint(error, "decrypt it, with a reader that has its keys, and give what comes out");
    return DPMF_ERR_INPUT_PARQUET;
}

int parquet_footer_read(struct parquet_table *self, struct dpmf_error *error) {
    uint8_t tail[TAIL];
    if (self->file_bytes < MARK + TAIL) return parquet_refuse_cut(self, error);
    int code = parquet_read(self, self->file_bytes - TAIL, tail, TAIL, error);
    if (code < 0) return code;
    if (memcmp(tail + 4, "PARE", MARK) == 0) return refuse_encrypted(self, error);
    if (memcmp(tail + 4, "PAR1", MARK) != 0) return parquet_refuse_cut(self, error);
    const uint32_t n = bytes_get_u32(tail);
    if (n > self->file_bytes - MARK - TAIL) return parquet_refuse(self, damaged, error);
    if (n > FOOTER_MAX || n > self->limit) return parquet_refuse_size(self, 0, n, error);
    uint8_t *bytes = memory_alloc(n + 1u, 1);
    if (!bytes) return error_no_memory(error);
    self->data_end = self->file_bytes - TAIL - n;
    struct footer f = {.self = self, .t = {.at = bytes, .end = bytes + n}, .error = error};
    code = parquet_read(self, self->data_end, bytes, n, error);
    if (code == 0) code = read_metadata(&f);
    if (code == 0) code = check_parts(&f);
    free(f.parts.part);
    free(bytes);
    return code;
}
