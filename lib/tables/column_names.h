/*
 * What a column or a key is for, by its name: the one list that CSV headers, `.inter` headers, JSON
 * keys and --columns are understood with.
 */
#ifndef DPMF_TABLES_COLUMN_NAMES_H
#define DPMF_TABLES_COLUMN_NAMES_H

#include "dpmf.h"

enum column_role { COLUMN_USER, COLUMN_ITEM, COLUMN_RATING, COLUMN_TIME, COLUMN_OTHER };

enum { COLUMN_ROLES = COLUMN_OTHER };

/* "user", "item", "rating" or "timestamp". */
const char *column_role_name(enum column_role role);

/* Case, `_`, `-` and spaces do not count: "User-ID" is "userid". */
enum column_role column_role_of(const char *name, size_t n);

/* Whether a column of this name could hold people, in the eyes of a careful reader: "username", "Rater ID", "e-mail". */
bool column_could_name_person(const char *name, size_t n);

enum { COLUMN_LIST_MAX = 256 };

/* Reads the text of --columns: for each role its column, or -1. */
int column_list_parse(const char *list, int32_t column[COLUMN_ROLES], uint32_t *n_columns,
                      struct dpmf_error *error);

#endif
