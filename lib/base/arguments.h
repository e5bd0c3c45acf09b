/*
 * The arguments of public functions, checked at the entry: pointers that must not be NULL, and
 * structs of options, which may be those of an older or a newer version. What dpmf.h promises about
 * both is kept here.
 *
 * A public function takes its options and its run into structs of its own, which are whole, before
 * it reads them:
 *
 *     struct dpmf_split_options own = dpmf_split_options_default();
 *     struct dpmf_run own_run;
 *     int code = arguments_check(error, "store train test", store, train, test);
 *     if (code == 0) code = options_take(&own, sizeof own, options, "split_options", error);
 *     if (code == 0) code = run_take(&own_run, run, error);
 *     if (code < 0) return code;
 *     options = &own, run = &own_run;
 */
#ifndef DPMF_BASE_ARGUMENTS_H
#define DPMF_BASE_ARGUMENTS_H

#include "dpmf.h"

/* Looks at pointers that must not be NULL. `names` are theirs, with a blank between two of them.
 * @return 0 or DPMF_ERR_USAGE_NULL, which names the first that is */
int arguments_check(struct dpmf_error *error, const char *names, ...);

/* Gives a caller, whose struct has `size` bytes, as many of the defaults: `made` has own_size. What
 * the caller's has beyond them is 0. Both begin with their size. */
void options_give(void *options, size_t size, const void *made, size_t own_size);

/* Puts what a caller gave, NULL for nothing, over the defaults that are in `own`. `name` is of the
 * struct, for the error.
 * @return 0 or DPMF_ERR_USAGE_STRUCT */
int options_take(void *own, size_t own_size, const void *given, const char *name,
                 struct dpmf_error *error);

/* @return 0, or DPMF_ERR_USAGE_STRUCT when a word is not 0 */
int options_check_spare(const uint64_t *spare, size_t bytes, const char *name,
                        struct dpmf_error *error);

/* The same of a run. */
int run_take(struct dpmf_run *own, const struct dpmf_run *run, struct dpmf_error *error);

#endif
