/*
 * Which items a synthetic user rates: m distinct ones, drawn by weight without replacement.
 */
#ifndef DPMF_SYNTH_SYNTH_PICK_H
#define DPMF_SYNTH_SYNTH_PICK_H

#include "dpmf.h"
#include "random/random.h"

struct synth_pick_table; /* shared by all threads */

struct synth_pick_table *synth_pick_table_new(const double *weight, uint64_t items);
void synth_pick_table_free(struct synth_pick_table *table); /* NULL is fine */

struct synth_picker; /* one for each thread */

struct synth_picker *synth_picker_new(const struct synth_pick_table *table);
void synth_picker_free(struct synth_picker *picker); /* NULL is fine */

/* Takes item j as it is. @return false when it was taken already */
bool synth_picker_take(struct synth_picker *picker, uint32_t j);

/* Draws until n items are taken (n at most the number of items).
 * @return false without memory */
bool synth_picker_draw(struct synth_picker *picker, uint64_t n, struct random_stream *stream);

/* The items taken, in increasing order; nothing is taken any more. @return how many there were */
uint64_t synth_picker_collect(struct synth_picker *picker, uint32_t *items);

#endif
