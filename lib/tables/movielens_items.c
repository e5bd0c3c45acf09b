/*
 * Genres of MovieLens 100K's u.item. Their names and their order are those of the set's u.genre,
 * which its README calls part of the format.
 */
#include "tables/movielens_items.h"

#include <stdio.h>

static const char *const genres[U_ITEM_COLUMNS - U_ITEM_FIRST_GENRE - 1] = {
    "Action",      "Adventure", "Animation", "Children's", "Comedy", "Crime",
    "Documentary", "Drama",     "Fantasy",   "Film-Noir",  "Horror", "Musical",
    "Mystery",     "Romance",   "Sci-Fi",    "Thriller",   "War",    "Western"};

static bool is_flag(const struct dpmf_field *field) {
    return field->length == 1 && (field->text[0] == '0' || field->text[0] == '1');
}

bool movielens_is_u_item(const struct dpmf_table_record *row) {
    if (row->n != U_ITEM_COLUMNS) return false;
    for (size_t i = U_ITEM_FIRST_GENRE; i < U_ITEM_COLUMNS; i++)
        if (!is_flag(&row->field[i])) return false;
    return true;
}

size_t movielens_genres(const struct dpmf_table_record *row, char text[U_ITEM_GENRES_ROOM]) {
    size_t n = 0;
    text[0] = '\0';
    for (size_t i = U_ITEM_FIRST_GENRE + 1; i < U_ITEM_COLUMNS; i++)
        if (row->field[i].text[0] == '1')
            n += (size_t)snprintf(text + n, U_ITEM_GENRES_ROOM - n, "%s%s", n > 0 ? "|" : "",
                                  genres[i - U_ITEM_FIRST_GENRE - 1]);
    return n;
}
