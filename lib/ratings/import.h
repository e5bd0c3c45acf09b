/*
 * The importer, for the rest of lib/ratings: dpmf_import() with a choice of where the store goes.
 */
#ifndef DPMF_RATINGS_IMPORT_H
#define DPMF_RATINGS_IMPORT_H

#include "dpmf.h"

struct source;

/* As dpmf_import; with `output` NULL the store has no name, and is opened as *store. */
int import_ratings(const char *const *inputs, size_t n_inputs, const char *output,
                   const struct dpmf_input_options *options, const struct dpmf_run *run,
                   struct dpmf_import_report *report, struct dpmf_store **store,
                   struct dpmf_error *error);

/* The same from an open source, which is taken over and closed in any case. What was skipped is
 * reported to run->warn, and errors call the store `name`. `options` are those that apply to every
 * record (rescale, range, skip_bad). */
int import_source(struct source *source, const char *name, const struct dpmf_input_options *options,
                  const struct dpmf_run *run, struct dpmf_store **store, struct dpmf_error *error);

/* The same into a file, as dpmf_import does. `source` is taken and closed in any case. */
int import_source_to(struct source *source, const char *output,
                     const struct dpmf_input_options *options, const struct dpmf_run *run,
                     struct dpmf_import_report *report, struct dpmf_error *error);

/* A name for a store of what is in no file: <what>, in the folder where temporary files go, because
 * what goes beside a store (spilled parts of it, tiles) then goes there. @return NULL without
 * memory; to be freed */
char *import_temporary_name(const char *what);

/* Reports to run->warn the records that were skipped and the duplicates; with options->by_record
 * nothing of the records themselves. */
void import_losses_tell(const struct dpmf_import_report *report,
                        const struct dpmf_input_options *options, const struct dpmf_run *run);

#endif
