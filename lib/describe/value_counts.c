/*
 * A small table of values and counts, by open addressing over the values' bits. Fed by describe.c.
 */
#include "describe/value_counts.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/bytes.h"

bool value_counts_add(struct value_counts *counts, double value, uint64_t times) {
    assert(counts && !isnan(value));
    value += 0.0; /* -0 becomes 0 */
    size_t slot = (size_t)((bytes_of_double(value) * UINT64_C(0x9E3779B97F4A7C15)) >> 50);
    while (counts->count[slot] && counts->value[slot] != value)
        slot = (slot + 1) % VALUE_COUNTS_SLOTS;
    if (!counts->count[slot]) {
        if (counts->n == VALUE_COUNTS_MAX) return false;
        counts->value[slot] = value;
        counts->n++;
    }
    counts->count[slot] += times;
    return true;
}

static int compare_values(const void *a, const void *b) {
    double x = ((const struct counted_value *)a)->value,
           y = ((const struct counted_value *)b)->value;
    return (x > y) - (x < y);
}

void value_counts_sorted(const struct value_counts *counts, struct counted_value *out) {
    assert(counts && out);
    size_t n = 0;
    for (size_t slot = 0; slot < VALUE_COUNTS_SLOTS; slot++)
        if (counts->count[slot])
            out[n++] = (struct counted_value){counts->value[slot], counts->count[slot]};
    qsort(out, n, sizeof out[0], compare_values);
}
