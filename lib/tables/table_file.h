/*
 * Tables read by other rules than those of dpmf_table_read: lists of items, and tables that a
 * private run takes as public: catalogues, item features, users' wishes. As those of
 * dpmf_table_read, but a row is a line: a quote that is not closed in its line is an error of the
 * file, so that it cannot swallow the rows that follow, and so is a carriage return in quotes.
 */
#ifndef DPMF_TABLES_TABLE_FILE_H
#define DPMF_TABLES_TABLE_FILE_H

#include "dpmf.h"
#include "dpmf_text.h"

/* `look` is shown the whole first row, whether a header or not, before anything is taken; a value
 * other than 0 ends the reading with that value. It may be NULL. A store has no such row. */
int table_read_public(const char *path, const char *columns, const struct dpmf_run *run,
                      int (*look)(void *self, const struct dpmf_table_record *first,
                                  struct dpmf_error *error),
                      int (*take)(void *self, const struct dpmf_table_row *row,
                                  struct dpmf_error *error),
                      void *self, struct dpmf_error *error);

int table_read_public_whole(const char *path, const struct dpmf_run *run,
                            int (*take)(void *self, const struct dpmf_table_record *record,
                                        struct dpmf_error *error),
                            void *self, struct dpmf_error *error);

/* Reads the items of a list, as dpmf_table_read does. `look` is as above; `nameless` is shown each
 * row of a table without a header whole, before its item is taken. */
int table_read_list(
    const char *path, const struct dpmf_run *run,
    int (*look)(void *self, const struct dpmf_table_record *first, struct dpmf_error *error),
    int (*nameless)(void *self, const struct dpmf_table_record *record, struct dpmf_error *error),
    int (*take)(void *self, const struct dpmf_table_row *row, struct dpmf_error *error), void *self,
    struct dpmf_error *error);

#endif
