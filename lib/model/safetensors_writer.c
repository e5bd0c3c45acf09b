/*
 * Writes safetensors: eight bytes of header length, the header as JSON filled up with spaces to a
 * multiple of eight, then the tensors back to back in the order given. Models, releases and the
 * planted truth of synthetic ratings are such files. A draft is the same in another order: its
 * tensors are written where they belong as they come, and its header at the end.
 */
#include "model/safetensors.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "dpmf_text.h"
#include "model/model_checksum.h"
#include "model/safetensors_header.h"

/* Row by row where rows are padded: the padding stays behind, and nothing is copied for that. */
static int write_tensor(struct output_file *file, const struct tensor *tensor,
                        struct dpmf_error *error) {
    uint64_t bytes = 0;
    safetensors_tensor_bytes(tensor, &bytes);
    if (bytes == 0) return 0;
    if (tensor->stride == 0) return output_file_write(file, tensor->data, (size_t)bytes, error);
    const char *row = tensor->data;
    size_t n = (size_t)safetensors_row_bytes(tensor, bytes);
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
    assert(path);
    struct output_file *file = NULL;
    uint8_t *header;
    size_t n_header = 0;

    int code = safetensors_tensors_check(tensors, n_tensors, true, error);
    if (code < 0) return code;
    code = safetensors_header_make(tensors, n_tensors, metadata, n_metadata, &header, &n_header,
                                   error);
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

/* ---- drafts ---------------------------------------------------------------------------------- */

struct safetensors_draft {
    struct output_file *file;
    struct tensor *tensors; /* without their data; names are the caller's */
    size_t n_tensors;
    uint64_t *begin;      /* n_tensors + 1: where each lies, from the start of the file */
    size_t room;          /* bytes of room for the header */
    _Atomic uint64_t sum; /* model_checksum_sum of all pieces so far */
    bool has_checksum;    /* a place for it is in the metadata */
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
    const char *header =
        safetensors_header_text(&json, tensors, n, metadata, n_metadata, &n_header);
    dpmf_json_free(json);
    if (!header) return error_no_memory(error);
    draft->room = safetensors_header_room(n_header);
    if (draft->room > SAFETENSORS_HEADER_WRITE_MAX)
        return error_set(error, DPMF_ERR_BASE_BUG, "a header of %zu bytes", draft->room);
    draft->begin[0] = SAFETENSORS_LENGTH_BYTES + draft->room;
    for (size_t i = 0; i < n; i++) {
        uint64_t bytes = 0;
        safetensors_tensor_bytes(&tensors[i], &bytes);
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
    int code = safetensors_tensors_check(tensors, n_tensors, false, error);
    if (code == 0) code = safetensors_metadata_check(metadata, n_metadata, error);
    if (code < 0) return code;
    struct safetensors_draft *draft = memory_alloc_zero(1, sizeof *draft);
    if (!draft) return error_no_memory(error);
    draft->n_tensors = n_tensors;
    for (size_t i = 0; i < n_metadata; i++)
        draft->has_checksum |= strcmp(metadata[2 * i], MODEL_CHECKSUM_KEY) == 0;
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
    assert(draft && (bytes || n == 0));
    uint64_t size = i < draft->n_tensors ? draft->begin[i + 1] - draft->begin[i] : 0;
    if (offset > size || n > size - offset)
        return error_set(error, DPMF_ERR_BASE_BUG, "a piece past the end of its tensor");
    if (draft->has_checksum) {
        const struct tensor *tensor = &draft->tensors[i];
        size_t unit = model_checksum_unit(tensor->type, tensor->n_dims, tensor->dims);
        if (offset % unit != 0 || (n % unit != 0 && offset + n != size))
            return error_set(error, DPMF_ERR_BASE_BUG, "a piece that ends within a unit");
        draft->sum +=
            model_checksum_sum(unit, draft->begin[i] - draft->begin[0] + offset, bytes, n);
    }
    return output_file_write_at(draft->file, bytes, n, draft->begin[i] + offset, error);
}

/* Into the room that was kept for it, however short it has become. */
static int put_header(struct safetensors_draft *draft, const char *text, size_t n,
                      struct dpmf_error *error) {
    if (!text) return error_no_memory(error);
    if (n > draft->room)
        return error_set(error, DPMF_ERR_BASE_BUG, "the header has outgrown its place");
    uint8_t *bytes = safetensors_header_frame(text, n, draft->room);
    if (!bytes) return error_no_memory(error);
    const size_t all = SAFETENSORS_LENGTH_BYTES + draft->room;
    int code = 0;
    if (draft->has_checksum && !model_checksum_seal(bytes, all, draft->sum))
        code = error_set(error, DPMF_ERR_BASE_BUG, "a header without a place for its checksum");
    if (code == 0) code = output_file_write_at(draft->file, bytes, all, 0, error);
    free(bytes);
    return code;
}

int safetensors_draft_commit(struct safetensors_draft *draft, const char *const *metadata,
                             size_t n_metadata, struct dpmf_error *error) {
    struct dpmf_json *json = NULL;
    size_t n = 0;
    int code = safetensors_metadata_check(metadata, n_metadata, error);
    if (code == 0) {
        const char *text = safetensors_header_text(&json, draft->tensors, draft->n_tensors,
                                                   metadata, n_metadata, &n);
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
