/*
 * What a file is, from how it begins, and whether an output may take its place: the one rule for
 * everything that dpmf writes. A file of the kind that is written may be replaced, a release or
 * anything else where that was asked for, and a ledger or its lock never.
 */
#ifndef DPMF_FILES_FILE_KIND_H
#define DPMF_FILES_FILE_KIND_H

#include <stdbool.h>

#include "dpmf.h"

/* Whether an output of one of `kinds` (dpmf_file_kind, in one number) may be put at `path`. What is
 * there may be of any kind with `replace`, but no ledger. */
int file_kind_check(const char *path, unsigned kinds, bool replace, struct dpmf_error *error);

/* The part of it that nothing overrules: no output over a ledger or its lock. */
int file_kind_check_ledger(const char *path, struct dpmf_error *error);

#endif
