/*
 * Reads a release back, believing nothing: it must hold exactly what a release holds and no tensor
 * or text more, every part must be sound, the digest must fit, and the header must be spelt as it
 * is written. What the statement says is for lib/privacy to judge. Feeds lib/recommend and the
 * verification.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "dpmf_text.h"
#include "model/checkpoint.h"
#include "model/release_parts.h"
#include "model/tensor_read.h"

/* ---- what it is, and nothing more ------------------------------------------------------------ */

bool release_is_kind(const struct safetensors *file) {
    const char *kind = safetensors_metadata(file, "dpmf.kind");
    return kind && strcmp(kind, "release") == 0;
}

static int refuse_kind(const struct tensor_source *source, const char *hint) {
    error_hint_text(source->error, hint);
    error_place(source->error, safetensors_path(source->file), 0, 0);
    return DPMF_ERR_MODEL_KIND;
}

static int check_kind(const struct tensor_source *source) {
    const char *kind = safetensors_metadata(source->file, "dpmf.kind");
    const char *format = safetensors_metadata(source->file, "dpmf.format");
    if (!release_is_kind(source->file)) {
        if (kind && strcmp(kind, "checkpoint") == 0)
            error_set(source->error, DPMF_ERR_MODEL_KIND,
                      "this model contains user data and cannot be published");
        else if (kind)
            error_set(source->error, DPMF_ERR_MODEL_KIND, "its kind is \"%.60s\", not \"release\"",
                      kind);
        else
            error_set(source->error, DPMF_ERR_MODEL_KIND,
                      "it does not say what kind of model it is");
        return refuse_kind(source, "give a release: a model that was trained with {epsilon}");
    }
    if (format &&
        (strcmp(format, RELEASE_FORMAT_PLAIN) == 0 || strcmp(format, RELEASE_FORMAT_COUNTS) == 0 ||
         strcmp(format, RELEASE_FORMAT_RANKING) == 0))
        return 0;
    error_set(source->error, DPMF_ERR_MODEL_KIND,
              "this release is of another format (%.20s) than this version reads (%s to %s)",
              format ? format : "none", RELEASE_FORMAT_PLAIN, RELEASE_FORMAT_RANKING);
    return refuse_kind(source, "use the version of dpmf that wrote it");
}

static int end_refusal(const struct tensor_source *source) {
    error_hint(source->error,
               "do not publish it: what does not belong there could be about people");
    error_place(source->error, safetensors_path(source->file), 0, 0);
    return DPMF_ERR_MODEL_CORRUPT;
}

static int refuse_more(const struct tensor_source *source, const char *what, const char *name) {
    error_set(source->error, DPMF_ERR_MODEL_CORRUPT,
              "it holds something that is not part of a release: %s \"%.60s\"", what, name);
    return end_refusal(source);
}

static int refuse_spelling(const struct tensor_source *source) {
    error_set(source->error, DPMF_ERR_MODEL_CORRUPT,
              "its header is not spelled or ordered like that of a release");
    return end_refusal(source);
}

static bool is_listed(const char *name, const char *const *names, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

static bool has_counts(const struct tensor_source *source) {
    return strcmp(safetensors_metadata(source->file, "dpmf.format"), RELEASE_FORMAT_PLAIN) != 0;
}

static bool has_weight(const struct tensor_source *source) {
    return strcmp(safetensors_metadata(source->file, "dpmf.format"), RELEASE_FORMAT_RANKING) == 0;
}

/* Whether a release of this format has the text. */
static bool is_wanted(const struct tensor_source *source, size_t key) {
    return key != RELEASE_TASTE_WEIGHT || has_weight(source);
}

static int check_parts(const struct tensor_source *source) {
    const struct safetensors_entry *entry;
    const size_t n_tensors = has_counts(source) ? RELEASE_TENSORS : RELEASE_COUNTS;
    for (size_t i = 0; (entry = safetensors_entry_at(source->file, i)) != NULL; i++)
        if (!is_listed(entry->name, release_tensor_names, n_tensors))
            return refuse_more(source, "tensor", entry->name);
    const char *key;
    for (size_t i = 0; (key = safetensors_metadata_at(source->file, i)) != NULL; i++)
        if (!is_listed(key, release_metadata_keys, RELEASE_METADATA) ||
            (strcmp(key, release_metadata_keys[RELEASE_TASTE_WEIGHT]) == 0 && !has_weight(source)))
            return refuse_more(source, "metadata", key);
    for (size_t i = 0; i < RELEASE_METADATA; i++)
        if (is_wanted(source, i) && !safetensors_metadata(source->file, release_metadata_keys[i]))
            return tensor_damage_tell(source, release_metadata_keys[i], "is missing");
    if (!release_version_is_sound(safetensors_metadata(source->file, "dpmf.version")))
        return tensor_damage_tell(source, "dpmf.version", "is not a version");
    return 0;
}

/* ---- the parts ------------------------------------------------------------------------------- */

/* A number has one spelling: others would have room for a message. */
static int read_number(const struct tensor_source *source, const char *key, double *value) {
    char again[DPMF_DOUBLE_TEXT_MAX];
    int code = tensor_number_read(source, key, value);
    if (code < 0) return code;
    dpmf_format_double(*value, again);
    return strcmp(safetensors_metadata(source->file, key), again) == 0
               ? 0
               : tensor_damage_tell(source, key, "is not written as numbers in a release are");
}

static int read_numbers(const struct tensor_source *source, struct release *release) {
    struct factors *factors = &release->factors;
    int code = read_number(source, "dpmf.offset", &factors->offset);
    if (code == 0) code = read_number(source, "dpmf.min", &factors->min);
    if (code == 0) code = read_number(source, "dpmf.max", &factors->max);
    if (code == 0) code = read_number(source, "dpmf.factor_penalty", &release->factor_penalty);
    if (code == 0) code = read_number(source, "dpmf.bias_penalty", &release->bias_penalty);
    release->ranks = has_weight(source);
    release->taste_weight = 1;
    if (code == 0 && release->ranks)
        code = read_number(source, "dpmf.taste_weight", &release->taste_weight);
    return code;
}

/* A file may be whole and still hold numbers with which nothing can be computed. */
static int check_numbers(const struct tensor_source *source, const struct release *release) {
    const char *which, *fault = release_fault_find(release, &which);
    return fault ? tensor_damage_tell(source, which, fault) : 0;
}

static int read_tensors(const struct tensor_source *source, size_t (*stride_of)(size_t k),
                        uint64_t spare, struct factors *factors) {
    static const char *const names[] = {"item_factors", "item_biases"};
    static const char *const id_names[] = {"item_id_bytes", "item_id_offsets"};
    const struct safetensors_entry *rows;
    int code = tensor_entry_find(source, names[0], TENSOR_F32, 2, &rows);
    if (code < 0) return code;
    uint64_t k = rows->dims[1];
    if (k > CHECKPOINT_K_MAX)
        return tensor_damage_tell(source, names[0], "has more columns than can be used");
    factors->k = (uint32_t)k;
    /* The ids first: they show that the file has so many items, which a matrix of no columns does
     * not. */
    code = tensor_ids_read(source, id_names, rows->dims[0], &factors->item_ids);
    if (code == 0 && has_counts(source))
        code = tensor_counts_read(source, release_tensor_names[RELEASE_COUNTS], &factors->item_ids);
    /* Rows of biases alone have a column of zeros in memory, so that kernels find what they
     * expect. */
    if (code == 0)
        code = tensor_matrix_read(source, names, rows, stride_of(k > 0 ? (size_t)k : 1), spare,
                                  &factors->items);
    return code;
}

/* check_parts has seen that the version is one. */
static int copy_texts(const struct tensor_source *source, struct release *release) {
    const char *text = safetensors_metadata(source->file, "dpmf.statement");
    snprintf(release->version, sizeof release->version, "%s",
             safetensors_metadata(source->file, "dpmf.version"));
    size_t n = strlen(text) + 1;
    release->statement = memory_alloc(n, 1);
    if (!release->statement) return error_no_memory(source->error);
    memcpy(release->statement, text, n);
    return 0;
}

static int check_digest(const struct tensor_source *source, const struct release *release,
                        const char *const values[RELEASE_METADATA]) {
    char digest[RELEASE_DIGEST_TEXT];
    int code = release_digest_make(release, values, digest, source->error);
    if (code < 0) return code;
    return strcmp(values[RELEASE_METADATA - 1], digest) == 0
               ? 0
               : tensor_damage_tell(source, "its digest", "does not fit what it holds");
}

/* Blanks, escapes and the order of things would not change what the header says, and could so say
 * something else: it must be, byte by byte, what is written for such a release. */
static int check_header(const struct tensor_source *source, const struct release *release,
                        const char *const values[RELEASE_METADATA]) {
    uint8_t *expected = NULL, *found = NULL;
    size_t n_expected = 0, n_found = (size_t)safetensors_header_bytes(source->file);
    int code = release_header_make(release, values, &expected, &n_expected, source->error);
    if (code < 0) return code;
    if (n_found == n_expected) {
        found = memory_alloc(n_found, 1);
        code = found ? safetensors_header_read(source->file, found, source->error)
                     : error_no_memory(source->error);
    }
    if (code == 0 && (!found || memcmp(found, expected, n_found) != 0))
        code = refuse_spelling(source);
    free(expected);
    free(found);
    return code;
}

static int check_whole(const struct tensor_source *source, const struct release *release) {
    const char *values[RELEASE_METADATA];
    for (size_t i = 0; i < RELEASE_METADATA; i++)
        values[i] = safetensors_metadata(source->file, release_metadata_keys[i]);
    int code = check_digest(source, release, values);
    return code < 0 ? code : check_header(source, release, values);
}

/* ---- all of it ------------------------------------------------------------------------------- */

int release_read_from(const struct safetensors *file, size_t (*stride_of)(size_t k), uint64_t spare,
                      struct release *release, struct dpmf_error *error) {
    const struct tensor_source source = {file, error};
    *release = (struct release){0};
    int code = check_kind(&source);
    if (code == 0) code = check_parts(&source);
    if (code == 0) code = read_numbers(&source, release);
    if (code == 0) code = read_tensors(&source, stride_of, spare, &release->factors);
    if (code == 0) code = check_numbers(&source, release);
    if (code == 0) code = copy_texts(&source, release);
    if (code == 0) code = check_whole(&source, release);
    if (code < 0) release_free(release);
    return code;
}

int release_read(const char *path, size_t (*stride_of)(size_t k), uint64_t spare,
                 struct release *release, struct dpmf_error *error) {
    struct safetensors *file;
    *release = (struct release){0};
    int code = safetensors_open(path, &file, error);
    if (code == 0) code = release_read_from(file, stride_of, spare, release, error);
    safetensors_close(file);
    return code;
}
