/*
 * Writes safetensors: eight bytes of header length, the header as JSON filled up with spaces to a
 * multiple of eight, then the tensors back to back in the order given. Models, releases and the
 * planted truth of synthetic ratings are such files.
 */
#include "model/safetensors.h"

#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/utf8.h"

enum {
    ALIGNMENT = 8,
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
    if (n > PTRDIFF_MAX || (n > 0 && !tensor->data)) return false;
    if (tensor->stride > 0 && (tensor->n_dims != 2 || tensor->stride < row_bytes(tensor, n)))
        return false;
    *bytes = n;
    return true;
}

static int check_tensors(const struct tensor *tensors, size_t n, struct dpmf_error *error) {
    uint64_t total = 0, bytes;
    for (size_t i = 0; i < n; i++) {
        const char *name = tensors[i].name;
        if (!name || !*name || strcmp(name, metadata_name) == 0 || !is_text(name))
            return error_set(error, DPMF_ERR_BASE_BUG, "tensor %zu has no usable name", i);
        for (size_t j = 0; j < i; j++)
            if (strcmp(name, tensors[j].name) == 0)
                return error_set(error, DPMF_ERR_BASE_BUG, "there are two tensors \"%s\"", name);
        if (!tensor_bytes(&tensors[i], &bytes) || __builtin_add_overflow(total, bytes, &total))
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

static int write_header(struct output_file *file, const char *text, size_t n,
                        struct dpmf_error *error) {
    static const char spaces[ALIGNMENT] = "       ";
    size_t padding = (ALIGNMENT - n % ALIGNMENT) % ALIGNMENT;
    uint8_t length[8];
    if (n > HEADER_MAX) return error_set(error, DPMF_ERR_BASE_BUG, "a header of %zu bytes", n);
    bytes_put_u64(length, n + padding);
    int code = output_file_write(file, length, sizeof length, error);
    if (code == 0) code = output_file_write(file, text, n, error);
    if (code == 0) code = output_file_write(file, spaces, padding, error);
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
    struct dpmf_json *json = NULL;
    struct output_file *file = NULL;
    uint64_t offset = 0;
    size_t n_header;

    int code = check_tensors(tensors, n_tensors, error);
    if (code == 0) code = check_metadata(metadata, n_metadata, error);
    if (code < 0) return code;

    json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    put_metadata(json, metadata, n_metadata);
    for (size_t i = 0; i < n_tensors; i++) put_tensor(json, &tensors[i], &offset);
    dpmf_json_end_object(json);
    const char *header = dpmf_json_text(json, &n_header);
    if (!header) {
        code = error_no_memory(error);
        goto out;
    }

    code = output_file_open(&file, path, mode, error);
    if (code == 0) code = write_header(file, header, n_header, error);
    if (code == 0) code = write_tensors(file, tensors, n_tensors, error);
    if (code == 0) {
        code = output_file_commit(file, error);
        file = NULL;
    }
out:
    output_file_abandon(file);
    dpmf_json_free(json);
    return code;
}
