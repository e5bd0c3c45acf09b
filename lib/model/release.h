/*
 * A release: what the world may see. Item vectors and biases in units of ratings, the ids of a
 * public catalogue in its order, the offset, what a person needs to fit their own vector at home,
 * and the privacy statement. Never anything per user.
 *
 * A person with ratings r_j finds u and a (their own bias) by
 *     min  sum_j (r_j - offset - b_j - a - u.v_j)^2 + factor_penalty |u|^2 + bias_penalty a^2.
 *
 * Tensors: item_factors (n x k F32; k may be 0), item_biases (F32), item_id_bytes (U8),
 * item_id_offsets (I64, n + 1) and, in format 2, item_counts (F32: noisy, how many people rated
 * each item), which lists are ordered with. Metadata: dpmf.kind = release, dpmf.format,
 * dpmf.version, dpmf.offset, dpmf.min, dpmf.max, dpmf.factor_penalty, dpmf.bias_penalty,
 * dpmf.taste_weight (in format 3), dpmf.statement (JSON) and dpmf.digest (of everything else, to
 * notice damage). A file with anything more, or whose header is spelt in another way, is no
 * release: it could be about a person. docs/formats/release.md is the specification.
 */
#ifndef DPMF_MODEL_RELEASE_H
#define DPMF_MODEL_RELEASE_H

#include "model/factors.h"
#include "model/safetensors_reader.h"

/* dpmf.format of a release without and with counts. */
#define RELEASE_FORMAT_PLAIN "1"
#define RELEASE_FORMAT_COUNTS "2"
/* With counts, and of events: items are ranked, no rating is predicted */
#define RELEASE_FORMAT_RANKING "3"

enum {
    RELEASE_DIGEST_TEXT = 17, /* bytes of a digest's text, with the NUL */
    RELEASE_VERSION_MAX = 23, /* characters in dpmf.version */
};

struct release {
    struct factors factors; /* the items alone; users.n is 0; min and max are the declared range */
    double factor_penalty, bias_penalty; /* above 0; the first may be 0 when k is */
    bool ranks;          /* whether it ranks events: without offset, biases, range and penalties */
    double taste_weight; /* where it ranks, how much taste counts beside popularity; at least 0 */
    char *statement;     /* JSON text */
    char version[RELEASE_VERSION_MAX + 1]; /* version of the library that wrote it; "": this one */
};

/* `factors.users` and `factors.user_ids` must be empty, the statement UTF-8. Mode 0666 less the
 * umask, or 0600 where it is not to be published; appears whole or not at all. */
int release_write(const char *path, const struct release *release, enum output_mode mode,
                  struct dpmf_error *error);

/* The digest of the release as a file. */
int release_digest(const struct release *release, char text[RELEASE_DIGEST_TEXT],
                   struct dpmf_error *error);

/* As checkpoint_read_from: everything checked, the ids indexed, nothing to free on failure. The
 * digest is compared: DPMF_ERR_MODEL_CORRUPT when it does not fit. */
int release_read_from(const struct safetensors *file, size_t (*stride_of)(size_t k), uint64_t spare,
                      struct release *release, struct dpmf_error *error);

/* The same from a path. */
int release_read(const char *path, size_t (*stride_of)(size_t k), uint64_t spare,
                 struct release *release, struct dpmf_error *error);

/* Whether an open file claims to be a release; release_read_from checks that claim. */
bool release_is_kind(const struct safetensors *file);

void release_free(struct release *release);

#endif
