/*
 * What the count of an event can be: the one rule for inputs, stores and people's own events.
 */
#ifndef DPMF_BASE_EVENT_COUNT_H
#define DPMF_BASE_EVENT_COUNT_H

#include <stdbool.h>
#include <stdint.h>

/* The largest count, 2^53 - 1. Every whole number up to it is a double that no other whole number
 * rounds to; 2^53 + 1 would be read as 2^53. */
#define EVENT_COUNT_MAX 9007199254740991.0

/* @return whether a value is the count of an event */
static inline bool event_count_is(double value) {
    return value >= 1 && value <= EVENT_COUNT_MAX && value == (double)(uint64_t)value;
}

#endif
