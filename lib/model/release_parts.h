/*
 * What the writer and the reader of releases share: the list of what a release holds, its header
 * and its digest.
 */
#ifndef DPMF_MODEL_RELEASE_PARTS_H
#define DPMF_MODEL_RELEASE_PARTS_H

#include "model/release.h"

enum {
    RELEASE_TENSORS = 5,      /* most tensors; without counts there are 4 */
    RELEASE_METADATA = 11,    /* most metadata; the digest is last and covers the others */
    RELEASE_TASTE_WEIGHT = 8, /* the place of the one that only releases of events have */
};

/* In the order of the file, which is also the digest's. */
enum release_tensor {
    RELEASE_ID_OFFSETS,
    RELEASE_FACTORS,
    RELEASE_BIASES,
    RELEASE_ID_BYTES,
    RELEASE_COUNTS
};

extern const char *const release_tensor_names[RELEASE_TENSORS];
extern const char *const release_metadata_keys[RELEASE_METADATA];

/* The tensors of a release, as they are written. @return how many there are */
size_t release_tensors_list(const struct release *release, struct tensor tensors[RELEASE_TENSORS]);

/* The digest of the tensors and of the values of all metadata but the last, 16 hexadecimal
 * digits. A value that is not there is NULL. */
int release_digest_make(const struct release *release,
                        const char *const values[RELEASE_METADATA - 1],
                        char text[RELEASE_DIGEST_TEXT], struct dpmf_error *error);

/* What the file begins with, for free(). */
int release_header_make(const struct release *release, const char *const values[RELEASE_METADATA],
                        uint8_t **header, size_t *n, struct dpmf_error *error);

/* The metadata as safetensors_write takes it: each key with its value. @return how many there
 * are */
size_t release_metadata_list(const char *const values[RELEASE_METADATA],
                             const char *metadata[2 * RELEASE_METADATA]);

/* Checks that the numbers of a release are usable: with larger ones, fitting ratings would only
 * overflow. The limits are those of docs/formats/release.md, far beyond what any mechanism makes.
 * @return NULL, or what is wrong with the part that `which` then names */
const char *release_fault_find(const struct release *release, const char **which);

/* Digits, letters, dots, dashes and plus signs, a few of them: no room for a message. */
bool release_version_is_sound(const char *version);

#endif
