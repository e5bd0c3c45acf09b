/*
 * How often each value occurs, for as long as there are few of them.
 */
#ifndef DPMF_DESCRIBE_VALUE_COUNTS_H
#define DPMF_DESCRIBE_VALUE_COUNTS_H

#include "dpmf.h"

enum { VALUE_COUNTS_MAX = 4096, VALUE_COUNTS_SLOTS = 4 * VALUE_COUNTS_MAX };

/* Zero-initialise. -0 counts as 0. */
struct value_counts {
    double value[VALUE_COUNTS_SLOTS];
    uint64_t count[VALUE_COUNTS_SLOTS]; /* 0: nobody's slot */
    size_t n;
};

/* @return false when the value is new and there is no room for it */
bool value_counts_add(struct value_counts *counts, double value, uint64_t times);

struct counted_value {
    double value;
    uint64_t count;
};

/* All of them by increasing value, counts->n of them, in `out`. */
void value_counts_sorted(const struct value_counts *counts, struct counted_value *out);

#endif
