/*
 * Opens safetensors: reads the header, which is JSON, takes it apart without copying it, and checks
 * that it describes exactly this file. Fed by a path, a descriptor or memory; feeds
 * checkpoint_read.c and release_read.c.
 */
#define _GNU_SOURCE
#include "model/safetensors_reader.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/number.h"
#include "files/file_read.h"

enum { LENGTH_BYTES = 8 };

struct metadata {
    const char *key, *value;
};

struct safetensors {
    struct byte_source source;
    char *header; /* names and texts are unescaped in their own place in it */
    uint64_t header_bytes;
    struct safetensors_entry *entries;
    size_t n_entries, entry_capacity;
    struct metadata *metadata;
    size_t n_metadata, metadata_capacity;
    bool has_metadata; /* whether there is the object, even an empty one */
};

/* What the header is being read with. */
struct reading {
    struct safetensors *file;
    struct json_reader json;
    struct dpmf_error *error;
};

/* ---- errors ---------------------------------------------------------------------------------- */

static int not_a_model(const char *path, const char *why, struct dpmf_error *error) {
    error_set(error, DPMF_ERR_MODEL_NOT_A_MODEL, "this is not a model: %s", why);
    error_hint(error, "a model is a safetensors file, as training writes it");
    error_place(error, path, 0, 0);
    return DPMF_ERR_MODEL_NOT_A_MODEL;
}

static int end_corrupt(const struct reading *reading) {
    error_hint(reading->error, "make the model again, or copy it again");
    error_place(reading->error, reading->file->source.name, 0, 0);
    return DPMF_ERR_MODEL_CORRUPT;
}

static int corrupt(const struct reading *reading, const char *what) {
    error_set(reading->error, DPMF_ERR_MODEL_CORRUPT, "the model's header is damaged: %s", what);
    return end_corrupt(reading);
}

static int corrupt_tensor(const struct reading *reading, const char *name, const char *what) {
    error_set(reading->error, DPMF_ERR_MODEL_CORRUPT, "the model is damaged: tensor \"%.60s\": %s",
              name, what);
    return end_corrupt(reading);
}

static int unexpected(const struct reading *reading, const struct json_token *token) {
    return corrupt(reading, token->kind == JSON_ERROR ? token->fault : "it has another structure");
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* Ends a key or string by NUL in its own place: the closing quote at least is free for that. */
static int take_text(const struct reading *reading, const struct json_token *token,
                     const char **text) {
    char *place = reading->file->header + (token->text - reading->file->header);
    size_t n = json_unescape(token, place);
    if (memchr(place, '\0', n)) return corrupt(reading, "a text holds a NUL character");
    place[n] = '\0';
    *text = place;
    return 0;
}

static int next_text(struct reading *reading, const char **text) {
    struct json_token token = json_next(&reading->json);
    if (token.kind != JSON_STRING) return unexpected(reading, &token);
    return take_text(reading, &token, text);
}

static int next_begin(struct reading *reading, enum json_kind kind) {
    struct json_token token = json_next(&reading->json);
    return token.kind == kind ? 0 : unexpected(reading, &token);
}

/* @return 1 with a number, 0 at the end of the array, or a negative code */
static int next_number(struct reading *reading, uint64_t *value) {
    struct json_token token = json_next(&reading->json);
    if (token.kind == JSON_ARRAY_END) return 0;
    int64_t number;
    if (token.kind != JSON_NUMBER) return unexpected(reading, &token);
    if (number_parse_int64(token.text, token.length, &number) != NUMBER_OK || number < 0)
        return corrupt(reading, "a number is not a size");
    *value = (uint64_t)number;
    return 1;
}

/* ---- metadata -------------------------------------------------------------------------------- */

const char *safetensors_metadata(const struct safetensors *file, const char *key) {
    assert(key);
    for (size_t i = 0; i < file->n_metadata; i++)
        if (strcmp(file->metadata[i].key, key) == 0) return file->metadata[i].value;
    return NULL;
}

const char *safetensors_metadata_at(const struct safetensors *file, size_t i) {
    return i < file->n_metadata ? file->metadata[i].key : NULL;
}

static int read_metadata(struct reading *reading) {
    struct safetensors *file = reading->file;
    if (file->has_metadata) return corrupt(reading, "there are two sets of metadata");
    file->has_metadata = true;
    int code = next_begin(reading, JSON_OBJECT_BEGIN);
    while (code == 0) {
        struct metadata pair;
        struct json_token token = json_next(&reading->json);
        if (token.kind == JSON_OBJECT_END) break;
        if (token.kind != JSON_KEY) return unexpected(reading, &token);
        code = take_text(reading, &token, &pair.key);
        if (code == 0) code = next_text(reading, &pair.value);
        if (code < 0) return code;
        if (safetensors_metadata(file, pair.key))
            return corrupt(reading, "a key of the metadata occurs twice");
        if (file->n_metadata == SAFETENSORS_ENTRIES_MAX)
            return corrupt(reading, "there is too much metadata");
        if (!memory_reserve(&file->metadata, &file->metadata_capacity, file->n_metadata + 1,
                            sizeof pair))
            return error_no_memory(reading->error);
        file->metadata[file->n_metadata++] = pair;
    }
    return code;
}

/* ---- tensors --------------------------------------------------------------------------------- */

static int read_type(struct reading *reading, struct safetensors_entry *entry) {
    static const char *const names[] = {
        [TENSOR_U8] = "U8", [TENSOR_F32] = "F32", [TENSOR_F64] = "F64", [TENSOR_I64] = "I64"};
    const char *name;
    int code = next_text(reading, &name);
    if (code < 0) return code;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(name, names[i]) == 0) {
            entry->type = (enum tensor_type)i;
            return 0;
        }
    }
    return corrupt_tensor(reading, entry->name, "it holds numbers of a kind that no model has");
}

static int read_shape(struct reading *reading, struct safetensors_entry *entry) {
    int code = next_begin(reading, JSON_ARRAY_BEGIN);
    uint64_t n;
    if (code < 0) return code;
    for (entry->n_dims = 0; (code = next_number(reading, &n)) == 1; entry->n_dims++) {
        if (entry->n_dims == SAFETENSORS_DIMS_MAX)
            return corrupt_tensor(reading, entry->name, "it has too many dimensions");
        entry->dims[entry->n_dims] = n;
    }
    return code;
}

static int read_place(struct reading *reading, struct safetensors_entry *entry) {
    uint64_t place[2], more;
    int code = next_begin(reading, JSON_ARRAY_BEGIN);
    for (int i = 0; i < 2 && code >= 0; i++) {
        code = next_number(reading, &place[i]);
        if (code == 0) return corrupt_tensor(reading, entry->name, "it does not have two offsets");
    }
    if (code < 0) return code;
    code = next_number(reading, &more);
    if (code < 0) return code;
    if (code == 1 || place[0] > place[1])
        return corrupt_tensor(reading, entry->name, "its offsets are not a beginning and an end");
    entry->offset = place[0];
    entry->bytes = place[1] - place[0];
    return 0;
}

/* Whether the tensor is as long as its shape says. */
static bool has_right_size(const struct safetensors_entry *entry) {
    static const uint64_t sizes[] = {
        [TENSOR_U8] = 1, [TENSOR_F32] = 4, [TENSOR_F64] = 8, [TENSOR_I64] = 8};
    uint64_t n = sizes[entry->type];
    bool is_empty = false, overflows = false;
    for (int d = 0; d < entry->n_dims; d++) {
        is_empty |= entry->dims[d] == 0;
        overflows |= __builtin_mul_overflow(n, entry->dims[d], &n);
    }
    return is_empty ? entry->bytes == 0 : !overflows && n == entry->bytes;
}

static int read_fields(struct reading *reading, struct safetensors_entry *entry) {
    enum { TYPE = 1, SHAPE = 2, PLACE = 4, ALL = 7 };
    unsigned met = 0;
    int code = next_begin(reading, JSON_OBJECT_BEGIN);
    while (code == 0) {
        struct json_token token = json_next(&reading->json);
        if (token.kind == JSON_OBJECT_END) break;
        if (token.kind != JSON_KEY) return unexpected(reading, &token);
        unsigned field = json_equals(&token, "dtype")          ? TYPE
                         : json_equals(&token, "shape")        ? SHAPE
                         : json_equals(&token, "data_offsets") ? PLACE
                                                               : 0;
        if (field == 0 || (met & field))
            return corrupt_tensor(reading, entry->name, "its description is not that of a tensor");
        met |= field;
        code = field == TYPE    ? read_type(reading, entry)
               : field == SHAPE ? read_shape(reading, entry)
                                : read_place(reading, entry);
    }
    if (code < 0) return code;
    if (met != ALL) return corrupt_tensor(reading, entry->name, "its description is not whole");
    if (!has_right_size(entry))
        return corrupt_tensor(reading, entry->name, "its length is not that of its shape");
    return 0;
}

const struct safetensors_entry *safetensors_entry_find(const struct safetensors *file,
                                                       const char *name) {
    for (size_t i = 0; i < file->n_entries; i++)
        if (strcmp(file->entries[i].name, name) == 0) return &file->entries[i];
    return NULL;
}

static int read_tensor(struct reading *reading, const char *name) {
    struct safetensors *file = reading->file;
    struct safetensors_entry entry = {.name = name};
    if (name[0] == '\0') return corrupt(reading, "a tensor has no name");
    if (safetensors_entry_find(file, name))
        return corrupt_tensor(reading, name, "there are two tensors of this name");
    if (file->n_entries == SAFETENSORS_ENTRIES_MAX)
        return corrupt(reading, "there are too many tensors");
    int code = read_fields(reading, &entry);
    if (code < 0) return code;
    if (!memory_reserve(&file->entries, &file->entry_capacity, file->n_entries + 1, sizeof entry))
        return error_no_memory(reading->error);
    file->entries[file->n_entries++] = entry;
    return 0;
}

/* ---- the header ------------------------------------------------------------------------------ */

static int compare_places(const void *a, const void *b) {
    const struct safetensors_entry *x = a, *y = b;
    if (x->offset != y->offset) return x->offset < y->offset ? -1 : 1;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? -1 : 1;
    return strcmp(x->name, y->name);
}

/* One after the other from the header to the end of the file: no holes, nothing twice. */
static int check_places(const struct reading *reading) {
    struct safetensors *file = reading->file;
    uint64_t end = 0, all = file->source.n_bytes - LENGTH_BYTES - file->header_bytes;
    if (file->n_entries > 0)
        qsort(file->entries, file->n_entries, sizeof file->entries[0], compare_places);
    for (size_t i = 0; i < file->n_entries; i++) {
        const struct safetensors_entry *entry = &file->entries[i];
        if (entry->offset < end)
            return corrupt_tensor(reading, entry->name, "it overlaps another tensor");
        if (entry->offset > end)
            return corrupt_tensor(reading, entry->name, "there is a hole before it");
        if (entry->bytes > all - end)
            return corrupt_tensor(reading, entry->name, "the file ends before it does");
        end += entry->bytes;
    }
    return end == all ? 0 : corrupt(reading, "there are bytes after the last tensor");
}

static int read_header(struct safetensors *file, struct dpmf_error *error) {
    struct reading reading = {.file = file, .error = error};
    json_reader_init(&reading.json, file->header, (size_t)file->header_bytes);
    int code = next_begin(&reading, JSON_OBJECT_BEGIN);
    while (code == 0) {
        const char *name;
        struct json_token token = json_next(&reading.json);
        if (token.kind == JSON_OBJECT_END) break;
        if (token.kind != JSON_KEY) return unexpected(&reading, &token);
        code = take_text(&reading, &token, &name);
        if (code == 0)
            code = strcmp(name, "__metadata__") == 0 ? read_metadata(&reading)
                                                     : read_tensor(&reading, name);
    }
    if (code < 0) return code;
    code = next_begin(&reading, JSON_END);
    return code < 0 ? code : check_places(&reading);
}

/* The length, and whether it can be one: nine bytes tell nearly every other file from this
 * format. */
static int read_length(struct safetensors *file, struct dpmf_error *error) {
    uint8_t head[LENGTH_BYTES + 1];
    if (file->source.n_bytes < sizeof head)
        return not_a_model(file->source.name, "it is too short to be one", error);
    int code = byte_source_read(&file->source, head, sizeof head, 0, error);
    if (code < 0) return code;
    file->header_bytes = bytes_get_u64(head);
    if (head[LENGTH_BYTES] != '{' || file->header_bytes > SAFETENSORS_HEADER_MAX)
        return not_a_model(file->source.name, "it does not begin as a safetensors file does",
                           error);
    const struct reading reading = {.file = file, .error = error};
    if (file->header_bytes > file->source.n_bytes - LENGTH_BYTES)
        return corrupt(&reading, "the file ends within it");
    return 0;
}

/* ---- the file -------------------------------------------------------------------------------- */

/* Frees the file when that fails; its source is open, or failed to. */
static int open_source(struct safetensors *file, int code, struct safetensors **out,
                       struct dpmf_error *error) {
    if (code == 0 && !file->source.is_regular)
        code = not_a_model(file->source.name, "only a regular file can be one", error);
    if (code == 0) code = read_length(file, error);
    if (code == 0) {
        size_t n = (size_t)file->header_bytes;
        file->header = memory_alloc(n + 1, 1);
        code = file->header ? byte_source_read(&file->source, file->header, n, LENGTH_BYTES, error)
                            : error_no_memory(error);
    }
    if (code == 0) code = read_header(file, error);
    if (code < 0)
        safetensors_close(file);
    else
        *out = file;
    return code;
}

int safetensors_open_descriptor(int fd, const char *name, struct safetensors **out,
                                struct dpmf_error *error) {
    assert(fd >= 0 && out);
    *out = NULL;
    struct safetensors *file = memory_alloc_zero(1, sizeof *file);
    if (!file) {
        close(fd);
        return error_no_memory(error);
    }
    int code = byte_source_of_file(&file->source, fd, name, error);
    return open_source(file, code, out, error);
}

int safetensors_open_memory(const void *bytes, size_t n, const char *name, struct safetensors **out,
                            struct dpmf_error *error) {
    assert(out && (bytes || n == 0));
    *out = NULL;
    struct safetensors *file = memory_alloc_zero(1, sizeof *file);
    if (!file) return error_no_memory(error);
    int code = byte_source_of_memory(&file->source, bytes, n, name, error);
    return open_source(file, code, out, error);
}

int safetensors_open(const char *path, struct safetensors **file, struct dpmf_error *error) {
    *file = NULL;
    int fd = file_open_to_read(path);
    if (fd < 0) return error_system(error, errno, "open", path);
    return safetensors_open_descriptor(fd, path, file, error);
}

void safetensors_close(struct safetensors *file) {
    if (!file) return;
    byte_source_close(&file->source);
    free(file->header);
    free(file->entries);
    free(file->metadata);
    free(file);
}

const char *safetensors_path(const struct safetensors *file) { return file->source.name; }

uint64_t safetensors_file_bytes(const struct safetensors *file) { return file->source.n_bytes; }

const struct safetensors_entry *safetensors_entry_at(const struct safetensors *file, size_t i) {
    return i < file->n_entries ? &file->entries[i] : NULL;
}

uint64_t safetensors_header_bytes(const struct safetensors *file) {
    return LENGTH_BYTES + file->header_bytes;
}

/* From the file once more: of the header in memory, what was text is no longer as it was
 * written. */
int safetensors_header_read(const struct safetensors *file, uint8_t *bytes,
                            struct dpmf_error *error) {
    return byte_source_read(&file->source, bytes, (size_t)safetensors_header_bytes(file), 0, error);
}

int safetensors_read(const struct safetensors *file, const struct safetensors_entry *entry,
                     uint64_t offset, void *bytes, size_t n, struct dpmf_error *error) {
    assert(file && entry && (bytes || n == 0));
    if (offset > entry->bytes || n > entry->bytes - offset)
        return error_set(error, DPMF_ERR_BASE_BUG, "reading past the end of a tensor");
    return byte_source_read(&file->source, bytes, n,
                            LENGTH_BYTES + file->header_bytes + entry->offset + offset, error);
}
