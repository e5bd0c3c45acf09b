/*
 * Weighted draws without replacement, fast for a user with twenty ratings and for one with half of
 * the catalogue. Items are drawn with replacement from an alias table and repeats are thrown away;
 * when that has cost more than it should, the remaining ones are those with the smallest
 * exponential times E_j / w_j among the items not yet taken. Both are the same law (a repeat tells
 * nothing about the rest, and exponential times have no memory), so that changing over in the
 * middle changes nothing. Fed by synth_shape.c; used by synth.c.
 */
#include "synth/synth_pick.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* An item keeps the draw when the low bits are below `keep`, else it passes it to `other`. */
struct alias_entry {
    uint32_t keep, other;
};

struct synth_pick_table {
    uint64_t items;
    const double *weight;
    struct alias_entry *alias;
};

struct timed_item {
    double time;
    uint32_t item;
};

/* What is taken is a set of bits, and a bit for each 64-bit word of them that is not zero: finding
 * the items in order costs no sorting. */
struct synth_picker {
    const struct synth_pick_table *table;
    uint64_t *taken, *word_used;
    size_t n_words, n_summary;
    uint64_t n_taken;
    struct timed_item *timed; /* made when first needed */
};

/* Walker's table: every column is as high as the mean and holds at most two items. */
static bool fill_alias(struct alias_entry *alias, const double *weight, uint64_t n) {
    assert(alias && weight && n > 0);
    double *height = memory_alloc(n, sizeof *height);
    uint32_t *low = memory_alloc(n, sizeof *low), *high = memory_alloc(n, sizeof *high);
    bool ok = height && low && high;
    if (ok) {
        uint64_t n_low = 0, n_high = 0;
        for (uint64_t j = 0; j < n; j++) {
            height[j] = weight[j] * (double)n;
            alias[j] = (struct alias_entry){UINT32_MAX, (uint32_t)j};
            if (height[j] < 1)
                low[n_low++] = (uint32_t)j;
            else
                high[n_high++] = (uint32_t)j;
        }
        while (n_low > 0 && n_high > 0) {
            uint32_t l = low[--n_low], h = high[n_high - 1];
            alias[l].keep = (uint32_t)(height[l] * 4294967295.0);
            alias[l].other = h;
            height[h] -= 1 - height[l];
            if (height[h] < 1) low[n_low++] = high[--n_high];
        }
    }
    free(height);
    free(low);
    free(high);
    return ok;
}

struct synth_pick_table *synth_pick_table_new(const double *weight, uint64_t items) {
    assert(weight && items > 0);
    struct synth_pick_table *table = memory_alloc_zero(1, sizeof *table);
    if (!table) return NULL;
    table->items = items;
    table->weight = weight;
    table->alias = memory_alloc(items, sizeof *table->alias);
    if (!table->alias || !fill_alias(table->alias, weight, items)) {
        synth_pick_table_free(table);
        return NULL;
    }
    return table;
}

void synth_pick_table_free(struct synth_pick_table *table) {
    if (!table) return;
    free(table->alias);
    free(table);
}

struct synth_picker *synth_picker_new(const struct synth_pick_table *table) {
    struct synth_picker *picker = memory_alloc_zero(1, sizeof *picker);
    if (!picker) return NULL;
    picker->table = table;
    picker->n_words = (size_t)(table->items / 64 + 1);
    picker->n_summary = picker->n_words / 64 + 1;
    picker->taken = memory_alloc_zero(picker->n_words, sizeof *picker->taken);
    picker->word_used = memory_alloc_zero(picker->n_summary, sizeof *picker->word_used);
    if (!picker->taken || !picker->word_used) {
        synth_picker_free(picker);
        return NULL;
    }
    return picker;
}

void synth_picker_free(struct synth_picker *picker) {
    if (!picker) return;
    free(picker->taken);
    free(picker->word_used);
    free(picker->timed);
    free(picker);
}

bool synth_picker_take(struct synth_picker *picker, uint32_t j) {
    assert(j < picker->table->items);
    uint64_t *word = &picker->taken[j / 64], bit = UINT64_C(1) << (j % 64);
    if (*word & bit) return false;
    *word |= bit;
    picker->word_used[j / 4096] |= UINT64_C(1) << (j / 64 % 64);
    picker->n_taken++;
    return true;
}

static void draw_by_alias(struct synth_picker *picker, uint64_t n, struct random_stream *stream) {
    const struct synth_pick_table *table = picker->table;
    uint64_t tries = 2 * n + table->items / 4 + 16;
    while (picker->n_taken < n && tries-- > 0) {
        uint64_t bits = random_u64(stream);
        uint32_t j = (uint32_t)(((bits >> 32) * table->items) >> 32);
        if ((uint32_t)bits >= table->alias[j].keep) j = table->alias[j].other;
        synth_picker_take(picker, j);
    }
}

static void swap_timed(struct timed_item *a, struct timed_item *b) {
    struct timed_item t = *a;
    *a = *b;
    *b = t;
}

/* Puts the k smallest of n first, in any order (Hoare's selection). */
static void select_smallest(struct timed_item *timed, size_t n, size_t k) {
    assert(timed && k <= n);
    size_t low = 0, high = n; /* the k-th border lies within [low, high] */
    while (high - low > 1 && k > low && k < high) {
        size_t middle = low + (high - low) / 2;
        if (timed[middle].time < timed[low].time) swap_timed(&timed[middle], &timed[low]);
        if (timed[high - 1].time < timed[low].time) swap_timed(&timed[high - 1], &timed[low]);
        if (timed[high - 1].time < timed[middle].time) swap_timed(&timed[high - 1], &timed[middle]);
        double pivot = timed[middle].time;
        size_t i = low, j = high - 1;
        for (;;) {
            while (timed[i].time < pivot) i++;
            while (pivot < timed[j].time) j--;
            if (i >= j) break;
            swap_timed(&timed[i++], &timed[j--]);
        }
        /* timed[low .. i-1] <= pivot <= timed[i .. high-1] */
        if (i == low) i++;
        if (k < i)
            high = i;
        else
            low = i;
    }
}

static bool draw_by_time(struct synth_picker *picker, uint64_t n, struct random_stream *stream) {
    const struct synth_pick_table *table = picker->table;
    if (!picker->timed) picker->timed = memory_alloc(table->items, sizeof *picker->timed);
    if (!picker->timed) return false;
    size_t n_left = 0, wanted = (size_t)(n - picker->n_taken);
    for (uint64_t j = 0; j < table->items; j++) {
        if (picker->taken[j / 64] >> (j % 64) & 1) continue;
        double time = random_exponential(stream) / table->weight[j];
        picker->timed[n_left++] = (struct timed_item){time, (uint32_t)j};
    }
    select_smallest(picker->timed, n_left, wanted);
    for (size_t i = 0; i < wanted; i++) synth_picker_take(picker, picker->timed[i].item);
    return true;
}

bool synth_picker_draw(struct synth_picker *picker, uint64_t n, struct random_stream *stream) {
    assert(n <= picker->table->items);
    draw_by_alias(picker, n, stream);
    return picker->n_taken >= n || draw_by_time(picker, n, stream);
}

uint64_t synth_picker_collect(struct synth_picker *picker, uint32_t *items) {
    assert(items);
    uint64_t n = 0;
    for (size_t s = 0; s < picker->n_summary; s++) {
        for (uint64_t words = picker->word_used[s]; words; words &= words - 1) {
            size_t w = 64 * s + (size_t)__builtin_ctzll(words);
            for (uint64_t bits = picker->taken[w]; bits; bits &= bits - 1)
                items[n++] = (uint32_t)(64 * w + (size_t)__builtin_ctzll(bits));
            picker->taken[w] = 0;
        }
        picker->word_used[s] = 0;
    }
    picker->n_taken = 0;
    return n;
}
