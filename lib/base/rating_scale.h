/*
 * Whether ratings can be on the scale of a model: a few beyond its ends are warned of, since nobody
 * had given them before; that most of them are there, or far off, is another scale. The one rule
 * for everything that is brought to a model: test sets, validation sets, histories, own ratings.
 */
#ifndef DPMF_BASE_RATING_SCALE_H
#define DPMF_BASE_RATING_SCALE_H

#include <stdbool.h>
#include <stdint.h>

/* So few ratings say little: one may be a slip, and most of a handful may lie at an end. */
enum { RATING_SCALE_SOME = 3, RATING_SCALE_FEW = 10 };

/* Ratings counted against a scale, which begins with its ends alone. */
struct rating_scale {
    double min, max;
    uint64_t n, outside;
    uint64_t far; /* beyond an end by more than the width of the scale */
};

static inline void rating_scale_add(struct rating_scale *scale, double rating) {
    const double width = scale->max - scale->min;
    scale->n++;
    scale->outside += rating < scale->min || rating > scale->max;
    scale->far += rating < scale->min - width || rating > scale->max + width;
}

/* @return whether these ratings are on another scale; never where all the model's were equal */
static inline bool rating_scale_is_other(const struct rating_scale *scale) {
    if (!(scale->max > scale->min)) return false;
    return (scale->n >= RATING_SCALE_SOME &&
            (2 * scale->far > scale->n || scale->outside == scale->n)) ||
           (scale->n >= RATING_SCALE_FEW && 2 * scale->outside > scale->n);
}

#endif
