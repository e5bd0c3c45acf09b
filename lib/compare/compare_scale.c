/*
 * The check of compare_scale.h. What the header of a store says of its least and its greatest
 * rating is enough as a rule; only where these are beyond the scale are ratings counted. Fed by
 * stores of any origin; asked before training, evaluation and recommending.
 */
#include "compare/compare_scale.h"

#include <stdio.h>

#include "base/error.h"
#include "base/number.h"
#include "base/rating_scale.h"
#include "dpmf_text.h"

/* A scale that is this many times as wide as all that was given on it. */
static const double MUCH_WIDER = 10;
enum { MANY = 100 /* ratings, of which chance would leave none elsewhere */ };

static int count(const struct dpmf_store *store, struct rating_scale *scale,
                 struct dpmf_error *error) {
    struct store_scan scan = {.store = store, .want = STORE_WANT_VALUE};
    struct store_block block;
    int code = 0;
    while (store_scan_next(&scan, &block, &code, error))
        for (uint64_t r = 0; r < block.n_ratings; r++) rating_scale_add(scale, block.value[r]);
    store_scan_free(&scan);
    return code;
}

static void warn_of(const struct dpmf_run *run, const struct dpmf_store *store, const char *what) {
    char text[800];
    if (!run || !run->warn) return;
    snprintf(text, sizeof text, "%.300s: %s", store_path(store), what);
    run->warn(run->warn_self, text);
}

static int refuse(const struct dpmf_store *store, const struct rating_scale *scale,
                  const char *whose, const char *ends, struct dpmf_error *error) {
    struct dpmf_store_info info;
    dpmf_store_info(store, &info);
    error_set(error, DPMF_ERR_INPUT_OUT_OF_RANGE,
              "%llu of %llu ratings are outside the scale of %s, %s: they are from %g to %g",
              (unsigned long long)scale->outside, (unsigned long long)scale->n, whose, ends,
              info.min, info.max);
    error_hint(error,
               "map them to that scale: {rescale A:B=%g:%g}, where A and B are the ends of theirs",
               scale->min, scale->max);
    error_place(error, store_path(store), 0, 0);
    return DPMF_ERR_INPUT_OUT_OF_RANGE;
}

int compare_scale(const struct dpmf_store *store, double min, double max, const char *whose,
                  const struct dpmf_run *warn, struct dpmf_error *error) {
    struct rating_scale scale = {.min = min, .max = max};
    char low[DPMF_DOUBLE_TEXT_MAX], high[DPMF_DOUBLE_TEXT_MAX], ends[80], text[400];
    struct dpmf_store_info info;
    dpmf_store_info(store, &info);
    if (info.holds_events || info.ratings == 0 || !(max > min)) return 0;
    dpmf_format_double(min, low);
    dpmf_format_double(max, high);
    snprintf(ends, sizeof ends, "%s to %s", low, high);
    if (info.min >= min && info.max <= max) {
        if (info.ratings < MANY || info.min == info.max ||
            MUCH_WIDER * (info.max - info.min) >= max - min)
            return 0;
        snprintf(text, sizeof text,
                 "all ratings are from %g to %g, and the scale of %s is %s: whether they are on "
                 "that scale is worth a look",
                 info.min, info.max, whose, ends);
        warn_of(warn, store, text);
        return 0;
    }
    int code = count(store, &scale, error);
    if (code < 0) return code;
    if (rating_scale_is_other(&scale)) return refuse(store, &scale, whose, ends, error);
    snprintf(text, sizeof text,
             "%llu of %llu ratings are outside the scale of %s, %s; they are taken as they are",
             (unsigned long long)scale.outside, (unsigned long long)scale.n, whose, ends);
    warn_of(warn, store, text);
    return 0;
}
