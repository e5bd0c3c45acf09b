/*
 * ZIP archives, as far as services use them: a list of members, each stored or packed.
 */
#ifndef DPMF_TITLES_ARCHIVE_H
#define DPMF_TITLES_ARCHIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "dpmf_client.h"

/* The position in an archive, member by member. */
struct archive {
    const uint8_t *bytes;
    size_t n;
    size_t at;           /* where the next entry of the list is */
    uint32_t left;       /* number of entries to come */
    uint64_t n_unpacked; /* bytes unpacked so far */
    const char *path;    /* name of the archive, for errors */
};

/* A member: where it is, and how large. */
struct archive_member {
    const char *name;
    size_t n_name;
    const uint8_t *packed;
    size_t n_packed, n;
    uint32_t crc;
    bool is_packed;
};

/* Whether bytes begin as an archive does. */
bool archive_is(const char *bytes, size_t n);

/* Finds the list of members, at the end.
 *
 * @return 0 or a negative code
 */
int archive_open(struct archive *archive, const char *bytes, size_t n, const char *path,
                 struct dpmf_error *error);

/* The next member.
 *
 * @return 1; 0 after the last one; or a negative code
 */
int archive_next(struct archive *archive, struct archive_member *member, struct dpmf_error *error);

/* Unpacks a member. Refuses one that is too large, and all of them together.
 *
 * @param bytes  receives its bytes, to be freed with free; NULL after a failure
 * @return 0 or a negative code
 */
int archive_unpack(struct archive *archive, const struct archive_member *member, char **bytes,
                   struct dpmf_error *error);

#endif
