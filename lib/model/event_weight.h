/*
 * How much an event weighs that happened several times: the one formula for training (lib/rank) and
 * for people who are fitted at home (lib/recommend).
 */
#ifndef DPMF_MODEL_EVENT_WEIGHT_H
#define DPMF_MODEL_EVENT_WEIGHT_H

#include <math.h>

/* 1 for an event that happened once, whatever `count_weight` is; and 1 for a count that is none. */
static inline double event_weight(double count, double count_weight) {
    return count > 1 && isfinite(count) ? 1 + count_weight * log(count) : 1;
}

#endif
