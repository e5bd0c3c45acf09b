/*
 * Ratings out of tables that come in batches of columns: Arrow streams, Arrow files, Parquet.
 */
#ifndef DPMF_RATINGS_ARROW_SOURCE_H
#define DPMF_RATINGS_ARROW_SOURCE_H

#include "arrow/arrow_table.h"
#include "ratings/source.h"
#include "tables/column_names.h"

/* A source of the table's rows, which is taken, also when this fails. Of the options columns, the
 * names of columns, and events count. */
int arrow_source_open(struct arrow_table *table, const struct dpmf_input_options *options,
                      struct source **source, struct dpmf_error *error);

/* Finds each role's column, or -1, among a table's fields, and checks that its type can be what it
 * is to be. `column` has the places, `holds_events` what the records are. */
int arrow_columns_find(const struct arrow_table *table, const struct dpmf_input_options *options,
                       int32_t column[COLUMN_ROLES], bool *holds_events, struct dpmf_error *error);

#endif
