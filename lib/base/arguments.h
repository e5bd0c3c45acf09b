/*
 * The arguments of public functions, checked at the entry: pointers that must not be NULL, and
 * structs of options, which may be those of an older or a newer version. What dpmf.h promises about
 * both is kept here.
 *
 * Before a public function reads its options and its run, it copies them into complete structs of
 * its own:
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

/* Checks pointers that must not be NULL. `names` lists their names, separated by blanks.
 * @return 0 or DPMF_ERR_USAGE_NULL, which names the first NULL one */
int arguments_check(struct dpmf_error *error, const char *names, ...);

/* Copies the defaults `made`, of own_size bytes, to a caller's struct of `size` bytes. Bytes that
 * only the caller's struct has become 0. Both structs begin with their size. */
void options_give(void *options, size_t size, const void *made, size_t own_size);

/* Overwrites the defaults in `own` with what the caller gave; NULL changes nothing. Errors call the
 * struct `name`.
 * @return 0 or DPMF_ERR_USAGE_STRUCT */
int options_take(void *own, size_t own_size, const void *given, const char *name,
                 struct dpmf_error *error);

/* @return 0, or DPMF_ERR_USAGE_STRUCT when a spare word is not 0 */
int options_check_spare(const uint64_t *spare, size_t bytes, const char *name,
                        struct dpmf_error *error);

/* The same for a run. */
int run_take(struct dpmf_run *own, const struct dpmf_run *run, struct dpmf_error *error);

#endif
