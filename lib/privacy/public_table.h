/*
 * What the tables that a private run takes as public have in common: what their columns are for, and that a table about
 * people is no table of items. The first row alone decides, which is nobody's: no rating has a say.
 */
#ifndef DPMF_PRIVACY_PUBLIC_TABLE_H
#define DPMF_PRIVACY_PUBLIC_TABLE_H

#include "privacy/trimmed_field.h"

/* Whether a field of a header names a column of "user", "item", "rating", "title" or "epsilon"; blanks around it do not
 * count. */
bool public_column_is(const struct dpmf_field *field, const char *role);

/* Refuses a table whose first row names a column of users or of their wishes.
 * @return 0 or DPMF_ERR_PRIVACY_REFUSED */
int public_table_refuse_people(const struct dpmf_table_record *first, struct dpmf_error *error);

/* The same, and where the first row names items, a column of ratings too. */
int public_table_refuse_ratings(const struct dpmf_table_record *first, struct dpmf_error *error);

#endif
