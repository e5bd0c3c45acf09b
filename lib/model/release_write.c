/*
 * Writes a release: at most five tensors and eleven texts, and nothing else. Fed by the mechanisms
 * of lib/privacy; read by release_read.c and by any reader of safetensors.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "dpmf_text.h"
#include "model/release_parts.h"

/* What the reader would refuse is not written: a mechanism that makes it has a fault. */
static const char *find_fault(const struct release *release, const char **which) {
    const struct factors *factors = &release->factors;
    *which = "it";
    if (factors->users.n != 0 || factors->user_ids.n != 0) return "holds users";
    if (factors->items.n != factors->item_ids.n || !factors->item_ids.start)
        return "has items without ids";
    if (!release->statement) return "has no statement";
    return release_fault_find(release, which);
}

/* The texts of the metadata; the numbers among them are kept here. */
struct texts {
    char offset[DPMF_DOUBLE_TEXT_MAX], min[DPMF_DOUBLE_TEXT_MAX], max[DPMF_DOUBLE_TEXT_MAX];
    char factor_penalty[DPMF_DOUBLE_TEXT_MAX], bias_penalty[DPMF_DOUBLE_TEXT_MAX];
    char taste_weight[DPMF_DOUBLE_TEXT_MAX], digest[RELEASE_DIGEST_TEXT];
    const char *values[RELEASE_METADATA];
};

static int make_texts(const struct release *release, struct texts *texts,
                      struct dpmf_error *error) {
    const struct factors *factors = &release->factors;
    const char *format = release->ranks             ? RELEASE_FORMAT_RANKING
                         : factors->item_ids.counts ? RELEASE_FORMAT_COUNTS
                                                    : RELEASE_FORMAT_PLAIN;
    dpmf_format_double(factors->offset, texts->offset);
    dpmf_format_double(factors->min, texts->min);
    dpmf_format_double(factors->max, texts->max);
    dpmf_format_double(release->factor_penalty, texts->factor_penalty);
    dpmf_format_double(release->bias_penalty, texts->bias_penalty);
    dpmf_format_double(release->taste_weight, texts->taste_weight);
    const char *const values[RELEASE_METADATA] = {
        "release",
        format,
        release->version[0] ? release->version : dpmf_version(),
        texts->offset,
        texts->min,
        texts->max,
        texts->factor_penalty,
        texts->bias_penalty,
        release->ranks ? texts->taste_weight : NULL,
        release->statement,
        texts->digest,
    };
    memcpy(texts->values, values, sizeof values);
    return release_digest_make(release, texts->values, texts->digest, error);
}

int release_digest(const struct release *release, char text[RELEASE_DIGEST_TEXT],
                   struct dpmf_error *error) {
    struct texts texts;
    int code = make_texts(release, &texts, error);
    if (code == 0) memcpy(text, texts.digest, RELEASE_DIGEST_TEXT);
    return code;
}

int release_write(const char *path, const struct release *release, enum output_mode mode,
                  struct dpmf_error *error) {
    assert(path && release);
    struct texts texts;
    const char *which, *fault = find_fault(release, &which);
    if (fault)
        return error_set(error, DPMF_ERR_BASE_BUG, "a release cannot be written: %s %s", which,
                         fault);
    int code = make_texts(release, &texts, error);
    if (code < 0) return code;

    struct tensor tensors[RELEASE_TENSORS];
    const char *metadata[2 * RELEASE_METADATA];
    const size_t n_tensors = release_tensors_list(release, tensors);
    const size_t n_metadata = release_metadata_list(texts.values, metadata);
    return safetensors_write(path, mode, tensors, n_tensors, metadata, n_metadata, error);
}
