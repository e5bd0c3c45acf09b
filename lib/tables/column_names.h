/*
 * What a column or a key is for, by its name: the one list that CSV headers, `.inter` headers, JSON
 * keys and lists of columns are read with.
 */
#ifndef DPMF_TABLES_COLUMN_NAMES_H
#define DPMF_TABLES_COLUMN_NAMES_H

#include "dpmf.h"

enum column_role {
    COLUMN_USER,
    COLUMN_ITEM,
    COLUMN_RATING,
    COLUMN_TIME,
    COLUMN_COUNT,
    COLUMN_OTHER
};

enum {
    COLUMN_ROLES =
        COLUMN_COUNT, /* number of a record's roles; a count takes the place of the rating */
    COLUMN_NAMED = COLUMN_OTHER, /* number of roles in a header */
};

/* "user", "item", "rating", "timestamp" or "count". */
const char *column_role_name(enum column_role role);

/* Case, `_`, `-` and spaces do not count: "User-ID" is "userid". A database's count of anything,
 * such as "count(1)" or "COUNT(DISTINCT day)", is a count. */
enum column_role column_role_of(const char *name, size_t n);

/* Whether it is a name of something else that serves as the time where nothing is named as the time
 * itself, such as "created_at". */
bool column_may_be_time(const char *name, size_t n);

enum { COLUMN_LIST_MAX = 256 };

/* Reads a list of columns: for each role its column, or -1. Without a rating the records are
 * events, with a count or without. */
int column_list_parse(const char *list, int32_t column[COLUMN_ROLES], uint32_t *n_columns,
                      bool *holds_events, struct dpmf_error *error);

/* The columns that names were found for. */
struct columns_found {
    int32_t column[COLUMN_NAMED]; /* first column of each role, or -1 */
    int32_t second[COLUMN_NAMED]; /* second column of the same role, or -1 */
    int32_t other_time;           /* first of another role's name that serves where no column is the
                                     time, such as "created_at", or -1 */
    bool has_other;               /* whether there are other columns */
};

void columns_found_begin(struct columns_found *found);
void columns_found_add(struct columns_found *found, const char *name, size_t length,
                       uint32_t column);

/* What named columns are the records of. */
enum columns_kind {
    COLUMNS_LACKING, /* nothing: the user, the item or the value is missing */
    COLUMNS_RATINGS,
    COLUMNS_EVENTS,
    COLUMNS_CONFLICT, /* declared as events, but the value is a rating */
};

/* With a rating they are ratings, and a count beside it is ignored. Without one they are events
 * where there is a count, where there is nothing but the user, the item and perhaps a time, or
 * where that is declared (`events`). `column` gets the places. */
enum columns_kind columns_found_settle(const struct columns_found *found, bool events,
                                       int32_t column[COLUMN_ROLES]);

/* @return a role that is used and claimed twice, or COLUMN_OTHER */
enum column_role columns_found_twice(const struct columns_found *found, bool events);

#endif
