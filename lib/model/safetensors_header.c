/*
 * The header of a safetensors file: what it may say, and how it is spelt. The writer puts it in
 * front of the tensors; the reader of releases compares it with what it found, byte by byte. Fed
 * with tensors and metadata.
 */
#include "model/safetensors_header.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "dpmf_text.h"

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

uint64_t safetensors_row_bytes(const struct tensor *tensor, uint64_t bytes) {
    return bytes > 0 ? bytes / tensor->dims[0] : 0;
}

bool safetensors_tensor_bytes(const struct tensor *tensor, uint64_t *bytes) {
    if ((size_t)tensor->type >= sizeof types / sizeof types[0]) return false;
    if (tensor->n_dims < 1 || tensor->n_dims > 2) return false;
    uint64_t n = types[tensor->type].size;
    for (int d = 0; d < tensor->n_dims; d++)
        if (__builtin_mul_overflow(n, tensor->dims[d], &n)) return false;
    if (n > PTRDIFF_MAX) return false;
    if (tensor->stride > 0 &&
        (tensor->n_dims != 2 || tensor->stride < safetensors_row_bytes(tensor, n)))
        return false;
    *bytes = n;
    return true;
}

int safetensors_tensors_check(const struct tensor *tensors, size_t n, bool with_data,
                              struct dpmf_error *error) {
    uint64_t total = 0, bytes;
    for (size_t i = 0; i < n; i++) {
        const char *name = tensors[i].name;
        if (!name || !*name || strcmp(name, metadata_name) == 0 || !is_text(name))
            return error_set(error, DPMF_ERR_BASE_BUG, "tensor %zu has no usable name", i);
        for (size_t j = 0; j < i; j++)
            if (strcmp(name, tensors[j].name) == 0)
                return error_set(error, DPMF_ERR_BASE_BUG, "there are two tensors \"%s\"", name);
        if (!safetensors_tensor_bytes(&tensors[i], &bytes) ||
            (with_data && bytes > 0 && !tensors[i].data) ||
            __builtin_add_overflow(total, bytes, &total))
            return error_set(error, DPMF_ERR_BASE_BUG, "tensor \"%s\" has no usable shape", name);
    }
    return 0;
}

int safetensors_metadata_check(const char *const *metadata, size_t n, struct dpmf_error *error) {
    assert(metadata || n == 0);
    for (size_t i = 0; i < 2 * n; i++)
        if (!metadata[i] || !is_text(metadata[i]))
            return error_set(error, DPMF_ERR_BASE_BUG, "metadata %zu is not text", i / 2);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(metadata[2 * i], metadata[2 * j]) == 0)
                return error_set(error, DPMF_ERR_BASE_BUG, "metadata \"%s\" occurs twice",
                                 metadata[2 * i]);
    return 0;
}

static void put_metadata(struct dpmf_json *json, const char *const *metadata, size_t n) {
    assert(metadata || n == 0);
    if (n == 0) return;
    dpmf_json_begin_object(json, metadata_name);
    for (size_t i = 0; i < n; i++) dpmf_json_string(json, metadata[2 * i], metadata[2 * i + 1]);
    dpmf_json_end_object(json);
}

static void put_tensor(struct dpmf_json *json, const struct tensor *tensor, uint64_t *offset) {
    uint64_t bytes = 0;
    safetensors_tensor_bytes(tensor, &bytes);
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

const char *safetensors_header_text(struct dpmf_json **json, const struct tensor *tensors,
                                    size_t n_tensors, const char *const *metadata,
                                    size_t n_metadata, size_t *n) {
    uint64_t offset = 0;
    *json = dpmf_json_new();
    dpmf_json_begin_object(*json, NULL);
    put_metadata(*json, metadata, n_metadata);
    for (size_t i = 0; i < n_tensors; i++) put_tensor(*json, &tensors[i], &offset);
    dpmf_json_end_object(*json);
    return dpmf_json_text(*json, n);
}

size_t safetensors_header_room(size_t n) {
    return n + (SAFETENSORS_ALIGNMENT - n % SAFETENSORS_ALIGNMENT) % SAFETENSORS_ALIGNMENT;
}

uint8_t *safetensors_header_frame(const char *text, size_t n, size_t room) {
    assert(text && n <= room);
    assert(room == safetensors_header_room(room));
    uint8_t *bytes = memory_alloc(SAFETENSORS_LENGTH_BYTES + room, 1);
    if (!bytes) return NULL;
    bytes_put_u64(bytes, room);
    memcpy(bytes + SAFETENSORS_LENGTH_BYTES, text, n);
    memset(bytes + SAFETENSORS_LENGTH_BYTES + n, ' ', room - n);
    return bytes;
}

static int make_header(const struct tensor *tensors, size_t n_tensors, const char *const *metadata,
                       size_t n_metadata, uint8_t **header, size_t *n, struct dpmf_error *error) {
    struct dpmf_json *json = NULL;
    size_t n_text = 0;
    int code = 0;
    *header = NULL;
    const char *text =
        safetensors_header_text(&json, tensors, n_tensors, metadata, n_metadata, &n_text);
    if (text && n_text <= SAFETENSORS_HEADER_WRITE_MAX)
        *header = safetensors_header_frame(text, n_text, safetensors_header_room(n_text));
    if (text && n_text > SAFETENSORS_HEADER_WRITE_MAX)
        code = error_set(error, DPMF_ERR_BASE_BUG, "a header of %zu bytes", n_text);
    else if (!*header)
        code = error_no_memory(error);
    *n = SAFETENSORS_LENGTH_BYTES + safetensors_header_room(n_text);
    dpmf_json_free(json);
    return code;
}

int safetensors_header_make(const struct tensor *tensors, size_t n_tensors,
                            const char *const *metadata, size_t n_metadata, uint8_t **header,
                            size_t *n, struct dpmf_error *error) {
    *header = NULL;
    int code = safetensors_tensors_check(tensors, n_tensors, false, error);
    if (code == 0) code = safetensors_metadata_check(metadata, n_metadata, error);
    if (code == 0) code = make_header(tensors, n_tensors, metadata, n_metadata, header, n, error);
    return code;
}
