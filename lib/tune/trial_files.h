/*
 * What trials need on disk: a temporary folder, a model that each of them writes and nobody reads,
 * and ratings held back. Feeds tune.c and adapt.c.
 */
#ifndef DPMF_TUNE_TRIAL_FILES_H
#define DPMF_TUNE_TRIAL_FILES_H

#include "dpmf.h"

struct trial_files {
    char *directory, *model; /* paths; NULL before they are made */
};

/* Makes the folder, whose name begins with dpmf-`name`. */
int trial_files_make(struct trial_files *files, const char *name, struct dpmf_error *error);

/* Splits a store in two, which lose their names as soon as they are open. */
int trial_files_split(const struct trial_files *files, struct dpmf_store *store,
                      const struct dpmf_split_options *split, const struct dpmf_run *run,
                      struct dpmf_store **train, struct dpmf_store **test,
                      struct dpmf_error *error);

/* Removes the folder; also when it was not made. */
void trial_files_remove(struct trial_files *files);

#endif
