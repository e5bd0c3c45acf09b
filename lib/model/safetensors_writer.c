/*
 * Writes safetensors: eight bytes of header length, the header as JSON filled up with spaces to a
 * multiple of eight, then the tensors back to back in the order given. Models, releases and the
 * planted truth of synthetic ratings are such files. A draft is the same in another order: its tensors are
 * written where they belong as they come, and its header at the end.
 */
#include "model/safetensors.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"

enum {
    ALIGNMENT = 8,
    LENGTH_BYTES = 8,               /* in front of the header */
    HEADER_MAX = 100 * 1000 * 1000, /* readers elsewhere refuse a longer one */
};

static const char metadata_name[] = "__metadata__";

static const struct {
    const char *name;
    uint64_t size;
} types[] = {
    [TENSOR_U8] = {"U8", 1},
    [TENSOR_F32] = {"F32", 4},
    [TENSOR_F64] = {"F64", 8},
    [TENSOR_I64] = {"I64", 8},
};

static bool is_text(const char *text) {
    size_t n = strlen(text);
    for (size_t i = 0, step; i < n; i += step) {
        step = utf8_sequence(text + i, n - i);
        if (step == 0) return false;
    }
    return true;
}

/* Of a row of a tensor of `bytes` bytes; 0 when there is nothing in it. */
static uint64_t row_bytes(const struct tensor *tensor, uint64_t bytes) {
    return bytes > 0 ? bytes / tensor->dims[0] : 0;
}

/* @return false when the tensor is none that could be written */
static bool tensor_bytes(const struct tensor *tensor, uint64_t *bytes) {
    if ((size_t)tensor->type >= sizeof types / sizeof types[0]) return false;
    if (tensor->n_dims < 1 || tensor->n_dims > 2) return false;
    uint64_t n = types[tensor->type].size;
    for (int d = 0; d < tensor->n_dims; d++)
        if (__builtin_mul_overflow(n, tensor->dims[d], &n)) return false;
    if (n > PTRDIFF_MAX) return false;
    if (tensor->stride > 0 && (tensor->n_dims != 2 || tensor->stride < row_bytes(tensor, n)))
        return false;
    *bytes = n;
    return true;
}

static int check_tensors(const struct tensor *tensors, size_t n, bool with_data,
                         struct dpmf_error *error) {
    uint64_t total = 0, bytes;
    for (size_t i = 0; i < n; i++) {
        const char *name = tensors[i].name;
        if (!name || !*name || strcmp(name, metadata_name) == 0 || !is_text(name))
            return error_set(error, DPMF_ERR_BASE_BUG, "tensor %zu has no usable name", i);
        for (size_t j = 0; j < i; j++)
            if (strcmp(name, tensors[j].name) == 0)
                return error_set(error, DPMF_ERR_BASE_BUG, "there are two tensors \"%s\"", name);
        if (!tensor_bytes(&tensors[i], &bytes) || (with_data && bytes > 0 && !tensors[i].data) ||
            __builtin_add_overflow(total, bytes, &total))
            return error_set(error, DPMF_ERR_BASE_BUG, "tensor \"%s\" has no usable shape", name);
    }
    return 0;
}

static int check_metadata(const char *const *metadata, size_t n, struct dpmf_error *error) {
    for (size_t i = 0; i < 2 * n; i++)
        if (!metadata[i] || !is_text(metadata[i]))
            return error_set(error, DPMF_ERR_BASE_BUG, "metadata %zu is not text", i / 2);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(metadata[2 * i], metadata[2 * j]) == 0)
                return error_set(error, DPMF_ERR_BASE_BUG, "metadata \"%s\" is there twice",
                                 metadata[2 * i]);
    return 0;
}

static void put_metadata(struct dpmf_json *json, const char *const *metadata, size_t n) {
    if (n == 0) return;
    dpmf_json_begin_object(json, metadata_name);
    for (size_t i = 0; i < n; i++) dpmf_json_string(json, metadata[2 * i], metadata[2 * i + 1]);
    dpmf_json_end_object(json);
}

static void put_tensor(struct dpmf_json *json, const struct tensor *tensor, uint64_t *offset) {
    uint64_t bytes = 0;
    tensor_bytes(tensor, &bytes);
    dpmf_json_begin_object(json, tensor->name);
    dpmf_json_string(json, "dtype", types[tensor->type].name);
    dpmf_json_begin_array(json, "shape");
    for (int d = 0; d < tensor->n_dims; d++) dpmf_json_uint(json, NULL, tensor->dims[d]);
    dpmf_json_end_array(json);
    dpmf_json_begin_array(json, "data_offsets");
    dpmf_json_uint(json, NULL, *offset);
    *offset += bytes;
    dpmf_json_uint(json, NULL, *offset);
    dpmf_json_end_array(json);
    dpmf_json_end_object(json);
}

/* The header's text, or NULL; it lives as long as *json. */
static const char *header_text(struct dpmf_json **json, const struct tensor *tensors,
                               size_t n_tensors, const char *const *metadata, size_t n_metadata,
                               size_t *n) {
    uint64_t offset = 0;
    *json = dpmf_json_new();
    dpmf_json_begin_object(*json, NULL);
    put_metadata(*json, metadata, n_metadata);
    for (size_t i = 0; i < n_tensors; i++) put_tensor(*json, &tensors[i], &offset);
    dpmf_json_end_object(*json);
    return dpmf_json_text(*json, n);
}

static size_t header_room(size_t n) { return n + (ALIGNMENT - n % ALIGNMENT) % ALIGNMENT; }

/* The header as a file begins with it, LENGTH_BYTES + room bytes: the length, the text, and spaces. Or NULL. */
static uint8_t *frame_header(const char *text, size_t n, size_t room) {
    uint8_t *bytes = memory_alloc(LENGTH_BYTES + room, 1);
    if (!bytes) return NULL;
    bytes_put_u64(bytes, room);
    memcpy(bytes + LENGTH_BYTES, text, n);
    memset(bytes + LENGTH_BYTES + n, ' ', room - n);
    return bytes;
}

static int make_header(const struct tensor *tensors, size_t n_tensors, const char *const *metadata,
                       size_t n_metadata, uint8_t **header, size_t *n, struct dpmf_error *error) {
    struct dpmf_json *json = NULL;
    size_t n_text = 0;
    int code = 0;
    *header = NULL;
    const char *text = header_text(&json, tensors, n_tensors, metadata, n_metadata, &n_text);
    if (text && n_text <= HEADER_MAX) *header = frame_header(text, n_text, header_room(n_text));
    if (text && n_text > HEADER_MAX)
        code = error_set(error, DPMF_ERR_BASE_BUG, "a header of %zu bytes", n_text);
    else if (!*header)
        code = error_no_memory(error);
    *n = LENGTH_BYTES + header_room(n_text);
    dpmf_json_free(json);
    return code;
}

int safetensors_header_make(const struct tensor *tensors, size_t n_tensors,
                            const char *const *metadata, size_t n_metadata, uint8_t **header,
                            size_t *n, struct dpmf_error *error) {
    *header = NULL;
    int code = check_tensors(tensors, n_tensors, false, error);
    if (code == 0) code = check_metadata(metadata, n_metadata, error);
    if (code == 0) code = make_header(tensors, n_tensors, metadata, n_metadata, header, n, error);
    return code;
}

/* Row by row where rows are padded: the padding stays behind, and nothing is copied for that. */
static int write_tensor(struct output_file *file, const struct tensor *tensor,
                        struct dpmf_error *error) {
    uint64_t bytes = 0;
    tensor_bytes(tensor, &bytes);
    if (bytes == 0) return 0;
    if (tensor->stride == 0) return output_file_write(file, tensor->data, (size_t)bytes, error);
    const char *row = tensor->data;
    size_t n = (size_t)row_bytes(tensor, bytes);
    int code = 0;
    for (uint64_t i = 0; i < tensor->dims[0] && code == 0; i++)
        code = output_file_write(file, row + i * tensor->stride, n, error);
    return code;
}

static int write_tensors(struct output_file *file, const struct tensor *tensors, size_t n,
                         struct dpmf_error *error) {
    int code = 0;
    for (size_t i = 0; i < n && code == 0; i++) code = write_tensor(file, &tensors[i], error);
    return code;
}

int safetensors_write(const char *path, enum output_mode mode, const struct tensor *tensors,
                      size_t n_tensors, const char *const *metadata, size_t n_metadata,
                      struct dpmf_error *error) {
    struct output_file *file = NULL;
    uint8_t *header;
    size_t n_header = 0;

    int code = check_tensors(tensors, n_tensors, true, error);
    if (code == 0) code = check_metadata(metadata, n_metadata, error);
    if (code < 0) return code;
    code = make_header(tensors, n_tensors, metadata, n_metadata, &header, &n_header, error);
    if (code < 0) return code;

    code = output_file_open(&file, path, mode, error);
    if (code == 0) code = output_file_write(file, header, n_header, error);
    if (code == 0) code = write_tensors(file, tensors, n_tensors, error);
    if (code == 0) {
        code = output_file_commit(file, error);
        file = NULL;
    }
    output_file_abandon(file);
    free(header);
    return code;
}

/* ---- drafts ----------------------------------------------------------------------------------- */

struct safetensors_draft {
    struct output_file *file;
    struct tensor *tensors; /* without their data; names are the caller's */
    size_t n_tensors;
    uint64_t *begin; /* n_tensors + 1: where each lies, from the start of the file */
    size_t room;     /* of the header */
};

void safetensors_draft_abandon(struct safetensors_draft *draft) {
    if (!draft) return;
    output_file_abandon(draft->file);
    free(draft->tensors);
    free(draft->begin);
    free(draft);
}

static int place_tensors(struct safetensors_draft *draft, const struct tensor *tensors,
                         const char *const *metadata, size_t n_metadata, struct dpmf_error *error) {
    struct dpmf_json *json;
    size_t n = draft->n_tensors, n_header = 0;
    draft->tensors = memory_alloc(n, sizeof draft->tensors[0]);
    draft->begin = memory_alloc(n + 1, sizeof draft->begin[0]);
    if (!draft->tensors || !draft->begin) return error_no_memory(error);
    const char *header = header_text(&json, tensors, n, metadata, n_metadata, &n_header);
    dpmf_json_free(json);
    if (!header) return error_no_memory(error);
    draft->room = header_room(n_header);
    if (draft->room > HEADER_MAX)
        return error_set(error, DPMF_ERR_BASE_BUG, "a header of %zu bytes", draft->room);
    draft->begin[0] = LENGTH_BYTES + draft->room;
    for (size_t i = 0; i < n; i++) {
        uint64_t bytes = 0;
        tensor_bytes(&tensors[i], &bytes);
        draft->tensors[i] = tensors[i];
        draft->begin[i + 1] = draft->begin[i] + bytes;
    }
    return 0;
}

int safetensors_draft_open(struct safetensors_draft **out, const char *path, enum output_mode mode,
                           const struct tensor *tensors, size_t n_tensors,
                           const char *const *metadata, size_t n_metadata,
                           struct dpmf_error *error) {
    *out = NULL;
    int code = check_tensors(tensors, n_tensors, false, error);
    if (code == 0) code = check_metadata(metadata, n_metadata, error);
    if (code < 0) return code;
    struct safetensors_draft *draft = memory_alloc_zero(1, sizeof *draft);
    if (!draft) return error_no_memory(error);
    draft->n_tensors = n_tensors;
    code = place_tensors(draft, tensors, metadata, n_metadata, error);
    if (code == 0) code = output_file_open(&draft->file, path, mode, error);
    if (code < 0) {
        safetensors_draft_abandon(draft);
        return code;
    }
    *out = draft;
    return 0;
}

int safetensors_draft_put(struct safetensors_draft *draft, size_t i, uint64_t offset,
                          const void *bytes, size_t n, struct dpmf_error *error) {
    uint64_t size = i < draft->n_tensors ? draft->begin[i + 1] - draft->begin[i] : 0;
    if (offset > size || n > size - offset)
        return error_set(error, DPMF_ERR_BASE_BUG, "a piece past the end of its tensor");
    return output_file_write_at(draft->file, bytes, n, draft->begin[i] + offset, error);
}

/* Into the room that was kept for it, however short it has become. */
static int put_header(struct safetensors_draft *draft, const char *text, size_t n,
                      struct dpmf_error *error) {
    if (!text) return error_no_memory(error);
    if (n > draft->room)
        return error_set(error, DPMF_ERR_BASE_BUG, "the header has outgrown its place");
    uint8_t *bytes = frame_header(text, n, draft->room);
    if (!bytes) return error_no_memory(error);
    int code = output_file_write_at(draft->file, bytes, LENGTH_BYTES + draft->room, 0, error);
    free(bytes);
    return code;
}

int safetensors_draft_commit(struct safetensors_draft *draft, const char *const *metadata,
                             size_t n_metadata, struct dpmf_error *error) {
    struct dpmf_json *json = NULL;
    size_t n = 0;
    int code = check_metadata(metadata, n_metadata, error);
    if (code == 0) {
        const char *text =
            header_text(&json, draft->tensors, draft->n_tensors, metadata, n_metadata, &n);
        code = put_header(draft, text, n, error);
    }
    if (code == 0) {
        code = output_file_commit(draft->file, error);
        draft->file = NULL;
    }
    dpmf_json_free(json);
    safetensors_draft_abandon(draft);
    return code;
}
