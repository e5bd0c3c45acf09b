/*
 * Worlds as files: ratings as CSV, and wishes, such as a curator would give to dpmf train. They
 * have no names, belong to this process alone, and are gone with it.
 */
#ifndef DPMF_AUDIT_AUDIT_TEXT_H
#define DPMF_AUDIT_AUDIT_TEXT_H

#include "audit/audit_population.h"

enum { AUDIT_PATH_MAX = 64 };

struct audit_file {
    int fd;
    char path[AUDIT_PATH_MAX]; /* path by which it can be opened again */
};

/* The others, unless `others` is false, and a canary, unless it is SIZE_MAX: its lines come first
 * and last, and among them are some that are no records, as someone might write who wants to decide
 * how the lines of others are read. */
int audit_text_ratings(const struct audit_population *population, bool others, size_t canary,
                       struct audit_file *file, struct dpmf_error *error);

/* The wishes of all canaries, and those of the curator's file where there is one, spelled for
 * `form`. */
int audit_text_wishes(const struct audit_population *population, const char *wishes,
                      const struct id_form *form, const struct dpmf_run *run,
                      struct audit_file *file, struct dpmf_error *error);

void audit_file_close(struct audit_file *file); /* also one that was never opened, all zero */

#endif
