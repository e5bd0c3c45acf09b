/*
 * The layout of MovieLens 100K's u.item, which has no header: the item, its title with the year,
 * two dates, an address, and 19 columns of 0 and 1, one for each genre, with "|" between them.
 * Feeds features and facts of items, which take genres as movies.dat has them.
 */
#ifndef DPMF_TABLES_MOVIELENS_ITEMS_H
#define DPMF_TABLES_MOVIELENS_ITEMS_H

#include <stdbool.h>

#include "dpmf_text.h"

enum {
    U_ITEM_COLUMNS = 24,
    U_ITEM_FIRST_GENRE = 5,  /* the column "unknown", which names no genre */
    U_ITEM_GENRES_ROOM = 200 /* all genres together fit, with the NUL */
};

/* Whether a row has this layout: so many columns, and a 0 or a 1 for each genre. */
bool movielens_is_u_item(const struct dpmf_table_record *row);

/* The genres of such a row as in "Action|Comedy". @return the length of the text */
size_t movielens_genres(const struct dpmf_table_record *row, char text[U_ITEM_GENRES_ROOM]);

#endif
