/*
 * What the first rows of text with separators say about its columns.
 */
#ifndef DPMF_RATINGS_DELIMITED_HEADER_H
#define DPMF_RATINGS_DELIMITED_HEADER_H

#include "ratings/delimited.h"

enum delimited_header { HEADER_NEVER, HEADER_MAYBE, HEADER_TYPED };

/* The first n of user, item, rating and time, in this order. */
void delimited_set_columns(struct delimited *layout, uint32_t n);

/* The user and the item alone: events. */
void delimited_set_pair(struct text_source *source, struct delimited *layout);

/* Finds the number of columns, unless the layout has it, and skips a header, if there is one.
 * `named` receives whether it names the user, the item and the rating. */
int delimited_look(struct text_source *source, struct delimited *layout,
                   enum delimited_header header, const struct dpmf_input_options *options,
                   bool *named, struct dpmf_error *error);

/* Refuses ratings where events are declared. `line` is the header's, or 0. */
int delimited_refuse_ratings(const struct text_source *source, int64_t line,
                             struct dpmf_error *error);

#endif
