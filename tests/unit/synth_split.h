/*
 * A synthetic set cut into what is learned from and what is held out: what tests of training begin
 * with.
 */
#ifndef DPMF_TESTS_SYNTH_SPLIT_H
#define DPMF_TESTS_SYNTH_SPLIT_H

#include "dpmf.h"

/* @return 0, or a negative code, as a setup of cmocka does */
static inline int synth_split(const struct dpmf_synth_options *synth, const char *whole,
                              const char *train, const char *test) {
    const struct dpmf_split_options split = dpmf_split_options_default();
    struct dpmf_store *store;
    if (dpmf_synth(whole, synth, NULL, NULL, NULL) != 0) return -1;
    if (dpmf_store_open(whole, NULL, NULL, &store, NULL) != 0) return -1;
    int code = dpmf_store_split(store, train, test, &split, NULL, NULL, NULL);
    dpmf_store_close(store);
    return code;
}

#endif
