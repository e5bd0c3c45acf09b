/*
 * What the tables that a private run takes as public have in common: what their columns are for,
 * and that a table about people is no table of items. Only the table decides, and above all its
 * header: ratings have no influence. A name that begins with "public:" is the curator's declaration
 * that the column is public, whatever its name.
 */
#ifndef DPMF_PRIVACY_PUBLIC_TABLE_H
#define DPMF_PRIVACY_PUBLIC_TABLE_H

#include "dpmf_text.h"
#include "privacy/trimmed_field.h"

/* Whether a field of a header names a column of "user", "item", "rating", "title" or "epsilon";
 * blanks around it do not count. */
bool public_column_is(const struct dpmf_field *field, const char *role);

/* The year in "Title (1995)". @return whether there is one */
bool public_title_year(struct dpmf_field title, struct dpmf_field *year);

/* Whether this is a row of movies.dat or u.item: an id, a title with its year, and then no
 * rating. */
bool public_row_is_movielens(const struct dpmf_table_record *row);

/* Whether the first row of a table of items may be one. Refused are a comment, a column that could
 * name people, their ratings or their wishes, and several columns of which none is called as items
 * are, but for MovieLens' lists of movies ("1::Toy Story (1995)::Comedy").
 * @return 0 or DPMF_ERR_PRIVACY_REFUSED */
int public_table_check_catalogue(const struct dpmf_table_record *first, struct dpmf_error *error);

/* The same for a table whose titles are to be published: a header must name the titles too. Without
 * one, titles could not be told from the names of users. */
int public_table_check_titles(const struct dpmf_table_record *first, struct dpmf_error *error);

/* The same for a header of features: each column must have a name that is known to describe items,
 * or be declared public. */
int public_table_check_features(const struct dpmf_table_record *header, struct dpmf_error *error);

/* Ratings name an item again and again; a table of items names each once.
 * @return DPMF_ERR_PRIVACY_REFUSED */
int public_table_refuse_twice(const char *file, int64_t line, int64_t column,
                              struct dpmf_error *error);

#endif
