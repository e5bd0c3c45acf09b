/*
 * Ratings of one scale on another.
 */
#ifndef DPMF_BASE_RESCALE_H
#define DPMF_BASE_RESCALE_H

/* Maps from_min to to_min and from_max to to_max, exactly. Multiplied before divided, so that 90 of
 * 0:100 is exactly 4.5 of 0:5. */
static inline double rescale(double rating, double from_min, double from_max, double to_min,
                             double to_max) {
    if (rating == from_max) return to_max;
    return to_min + (rating - from_min) * (to_max - to_min) / (from_max - from_min);
}

#endif
