/*
 * Whether two names are of one file, whatever links lead there. For checks that one file is not
 * given for two things.
 */
#ifndef DPMF_FILES_FILE_IDENTITY_H
#define DPMF_FILES_FILE_IDENTITY_H

#include <stdbool.h>
#include <stdint.h>

struct file_identity {
    bool is_known; /* whether there is such a file */
    uint64_t device, inode;
};

/* The identity of the file behind a path; "-" is standard input. */
struct file_identity file_identity_of(const char *path);

/* @return false where one of them is not known */
bool file_identity_equal(const struct file_identity *a, const struct file_identity *b);

#endif
