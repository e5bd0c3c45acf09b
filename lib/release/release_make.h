/*
 * A private run as the audit makes it: dpmf_release_make itself, from the store to the file, with
 * someone who watches its rounds. The file is marked NOT PRIVATE by noisy_sum.c, whatever the
 * options say, and the ledger is left alone.
 */
#ifndef DPMF_RELEASE_RELEASE_MAKE_H
#define DPMF_RELEASE_RELEASE_MAKE_H

#include "privacy/noisy_sum.h"

struct release_watch {
    struct noisy_sum_watch sums;
    /* Draws of noise by this process, counted where they are drawn; may be NULL */
    uint64_t *draws;
    /* Ratings of a user who may not be there, but whom contributions are asked of */
    size_t longest;
    const struct secure_random *coins; /* users' coins; NULL: fresh ones */
};

/* `watch` NULL: dpmf_release_make. */
int release_make_watched(struct dpmf_store *store, const char *output,
                         const struct dpmf_release_options *options, const struct dpmf_run *run,
                         const struct release_watch *watch, struct dpmf_release_report *report,
                         struct dpmf_error *error);

#endif
