/*
 * Writes a release: at most five tensors and eleven texts, and nothing else. Fed by the mechanisms
 * of lib/privacy; read by release_read.c and by any reader of safetensors.
 */
#include <assert.h>
#include <stdlib.h>

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

int release_write(const char *path, const struct release *release, enum output_mode mode,
                  struct dpmf_error *error) {
    assert(path && release);
    enum { OFFSET, MIN, MAX, FACTOR_PENALTY, BIAS_PENALTY, TASTE_WEIGHT, NUMBERS };
    const struct factors *factors = &release->factors;
    char number[NUMBERS][DPMF_DOUBLE_TEXT_MAX], digest[RELEASE_DIGEST_TEXT];
    const char *which, *fault = find_fault(release, &which);
    if (fault)
        return error_set(error, DPMF_ERR_BASE_BUG, "a release cannot be written: %s %s", which,
                         fault);
    const char *format = release->ranks             ? RELEASE_FORMAT_RANKING
                         : factors->item_ids.counts ? RELEASE_FORMAT_COUNTS
                                                    : RELEASE_FORMAT_PLAIN;
    dpmf_format_double(factors->offset, number[OFFSET]);
    dpmf_format_double(factors->min, number[MIN]);
    dpmf_format_double(factors->max, number[MAX]);
    dpmf_format_double(release->factor_penalty, number[FACTOR_PENALTY]);
    dpmf_format_double(release->bias_penalty, number[BIAS_PENALTY]);
    dpmf_format_double(release->taste_weight, number[TASTE_WEIGHT]);
    const char *const values[RELEASE_METADATA] = {
        "release",
        format,
        dpmf_version(),
        number[OFFSET],
        number[MIN],
        number[MAX],
        number[FACTOR_PENALTY],
        number[BIAS_PENALTY],
        release->ranks ? number[TASTE_WEIGHT] : NULL,
        release->statement,
        digest,
    };
    int code = release_digest_make(release, values, digest, error);
    if (code < 0) return code;

    struct tensor tensors[RELEASE_TENSORS];
    const char *metadata[2 * RELEASE_METADATA];
    const size_t n_tensors = release_tensors_list(release, tensors);
    const size_t n_metadata = release_metadata_list(values, metadata);
    return safetensors_write(path, mode, tensors, n_tensors, metadata, n_metadata, error);
}
