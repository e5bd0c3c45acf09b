/*
 * Ratings out of tables that come in batches of columns: Arrow streams, Arrow files, Parquet.
 */
#ifndef DPMF_RATINGS_ARROW_SOURCE_H
#define DPMF_RATINGS_ARROW_SOURCE_H

#include "arrow/arrow_table.h"
#include "ratings/source.h"
#include "tables/column_names.h"

/* Makes a source of the table's rows. The table is taken over, also when this fails. Of the options
 * it uses `columns`, the names of columns, and `events`. */
int arrow_source_open(struct arrow_table *table, const struct dpmf_input_options *options,
                      struct source **source, struct dpmf_error *error);

/* Finds the column of each role, or -1, among a table's fields, and checks that its type suits the
 * role. `column` receives the places, `holds_events` whether the records are events. */
int arrow_columns_find(const struct arrow_table *table, const struct dpmf_input_options *options,
                       int32_t column[COLUMN_ROLES], bool *holds_events, struct dpmf_error *error);

#endif
