/*
 * The importer, for the rest of lib/ratings: dpmf_import() with a choice of where the store goes.
 */
#ifndef DPMF_RATINGS_IMPORT_H
#define DPMF_RATINGS_IMPORT_H

#include "dpmf.h"

/* As dpmf_import; with `output` NULL the store has no name, and is opened as *store. */
int import_ratings(const char *const *inputs, size_t n_inputs, const char *output,
                   const struct dpmf_input_options *options, const struct dpmf_run *run,
                   struct dpmf_import_report *report, struct dpmf_store **store,
                   struct dpmf_error *error);

#endif
