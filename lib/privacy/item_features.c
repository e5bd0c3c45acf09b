/*
 * Reads what is known about items: any table with a header, or MovieLens' lists of movies, which
 * need none: movies.dat and u.item. For a private run it is public, and rows of items that are not
 * in the catalogue are ignored. For an ordinary one every row counts, and a table may be about
 * users. An item has one row: what names items again and again are ratings. Feeds
 * feature_columns.c.
 */
#include "privacy/item_features.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/memory.h"
#include "dpmf_text.h"
#include "privacy/id_gather.h"
#include "privacy/public_table.h"
#include "tables/movielens_items.h"
#include "tables/table_file.h"

enum purpose {
    PURPOSE_NONE,
    PURPOSE_FEATURE,
    PURPOSE_YEAR_OF_TITLE,
    PURPOSE_GENRES,
    PURPOSE_FLAGS
};

struct reading {
    struct catalogue *catalogue;
    bool is_public; /* a private run's: the catalogue has ids, and columns are checked */
    bool of_users;
    struct feature_table table;
    bool is_known; /* the layout is, from the first row */
    size_t item_column;
    enum purpose *purpose;  /* purpose of each of the table's columns */
    struct id_gather items; /* items of all rows */
    bool found;             /* an item of the catalogue */
};

static int fail(int code, const struct dpmf_table_record *row, int64_t column, const char *message,
                const char *hint, struct dpmf_error *error) {
    error_set(error, code, "%s", message);
    error_hint(error, "%s", hint);
    error_place(error, row->file, row->line, column);
    return code;
}

/* ---- the layout ------------------------------------------------------------------------------ */

static bool is_named(const struct dpmf_field *field, const char *name) {
    const struct dpmf_field trimmed = trimmed_field(*field);
    return trimmed.length == strlen(name) && strncasecmp(trimmed.text, name, trimmed.length) == 0;
}

/* The first column with a name of items holds them. Titles are as many as items, and so no use. */
static bool find_named(struct reading *reading, const struct dpmf_table_record *row) {
    size_t item = row->n;
    for (size_t i = row->n; i-- > 0;) {
        if (public_column_is(&row->field[i], reading->of_users ? "user" : "item")) item = i;
        bool is_title = public_column_is(&row->field[i], "title");
        reading->purpose[i] = is_title ? PURPOSE_NONE : PURPOSE_FEATURE;
    }
    if (item == row->n) return false;
    reading->item_column = item;
    reading->purpose[item] = PURPOSE_NONE;
    return true;
}

/* A header of an item, a title and genres is that of MovieLens' movies.csv, whose titles end with
 * the year. Where a table has more columns than these its title is only a title. */
static void find_year_of_title(struct reading *reading, const struct dpmf_table_record *row) {
    size_t title = row->n, genres = row->n;
    for (size_t i = 0; i < row->n; i++) {
        if (is_named(&row->field[i], "title")) title = i;
        if (is_named(&row->field[i], "genres")) genres = i;
    }
    if (row->n != 3 || title == row->n || genres == row->n) return;
    reading->purpose[title] = PURPOSE_YEAR_OF_TITLE;
    reading->purpose[genres] = PURPOSE_GENRES;
}

/* A table with users and items is one of ratings. */
static int refuse_ratings(const struct reading *reading, const struct dpmf_table_record *header,
                          struct dpmf_error *error) {
    for (size_t i = 0; i < header->n; i++) {
        const struct dpmf_field *field = &header->field[i];
        if (!public_column_is(field, reading->of_users ? "item" : "user")) continue;
        return fail(DPMF_ERR_INPUT_HEADER, header, field->column,
                    reading->of_users ? "a column of items: this is not a table of users"
                                      : "a column of users: this is not a table of items",
                    reading->of_users ? "give one row per user, with what is known about them"
                                      : "give one row per item, with what is known about it",
                    error);
    }
    return 0;
}

/* Which of two columns of ids is meant, nobody can tell: the wrong one would give every item the
 * features of another. */
static int refuse_second(const struct reading *reading, const struct dpmf_table_record *header,
                         struct dpmf_error *error) {
    const char *role = reading->of_users ? "user" : "item";
    for (size_t i = reading->item_column + 1; i < header->n; i++)
        if (public_column_is(&header->field[i], role))
            return fail(DPMF_ERR_INPUT_HEADER, header, header->field[i].column,
                        reading->of_users ? "two columns of the header could be meant for the user"
                                          : "two columns of the header could be meant for the item",
                        "keep one of them, or rename the other", error);
    return 0;
}

static int check_header(const struct reading *reading, const struct dpmf_table_record *header,
                        struct dpmf_error *error) {
    if (reading->is_public) return public_table_check_features(header, error);
    int code = refuse_ratings(reading, header, error);
    return code != 0 ? code : refuse_second(reading, header, error);
}

/* @return 1 when the row was a header, 0 when it is one of data, or a negative code */
static int begin(struct reading *reading, const struct dpmf_table_record *row,
                 struct dpmf_error *error) {
    struct feature_table *table = &reading->table;
    reading->purpose = memory_alloc_zero(row->n, sizeof reading->purpose[0]);
    table->columns = memory_alloc_zero(row->n, sizeof table->columns[0]);
    if (!reading->purpose || !table->columns) return error_no_memory(error);
    table->n_columns = row->n;
    snprintf(table->file, sizeof table->file, "%s", row->file);
    reading->is_known = true;
    if (find_named(reading, row)) {
        if (!reading->of_users) find_year_of_title(reading, row);
        int code = check_header(reading, row, error);
        return code < 0 ? code : 1;
    }
    /* "1::Toy Story (1995)::Animation|Comedy": understood without a header, as is u.item */
    if (!reading->of_users && row->n == 3 && public_row_is_movielens(row)) {
        reading->item_column = 0;
        reading->purpose[0] = PURPOSE_NONE;
        reading->purpose[1] = PURPOSE_YEAR_OF_TITLE;
        reading->purpose[2] = PURPOSE_GENRES;
        return 0;
    }
    if (!reading->of_users && movielens_is_u_item(row) && public_row_is_movielens(row)) {
        reading->item_column = 0;
        for (size_t i = 0; i < row->n; i++) reading->purpose[i] = PURPOSE_NONE;
        reading->purpose[1] = PURPOSE_YEAR_OF_TITLE;
        reading->purpose[U_ITEM_FIRST_GENRE] = PURPOSE_FLAGS;
        return 0;
    }
    if (reading->of_users)
        return fail(DPMF_ERR_INPUT_HEADER, row, 0, "the first row names no column of users",
                    "begin with a header such as user,country,age", error);
    return fail(DPMF_ERR_INPUT_HEADER, row, 0, "the first row names no column of items",
                "begin with a header such as item,year,genres; without one only MovieLens' "
                "movies.dat and u.item are understood",
                error);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static int keep(struct reading *reading, size_t column, uint32_t item, int64_t line,
                const struct dpmf_field *field, struct dpmf_error *error) {
    struct feature_table *table = &reading->table;
    struct feature_cells *cells = &table->columns[column];
    if (!memory_reserve(&cells->at, &cells->capacity, cells->n + 1, sizeof cells->at[0]) ||
        !memory_reserve(&table->text, &table->text_capacity, table->n_text + field->length, 1))
        return error_no_memory(error);
    cells->at[cells->n++] = (struct feature_cell){.text = table->n_text,
                                                  .length = (uint32_t)field->length,
                                                  .item = item,
                                                  .line = line,
                                                  .column = field->column};
    memcpy(table->text + table->n_text, field->text, field->length);
    table->n_text += field->length;
    return 0;
}

/* The genres of u.item, in the column of the first of them. */
static int take_flags(struct reading *reading, uint32_t item, const struct dpmf_table_record *row,
                      struct dpmf_error *error) {
    char text[U_ITEM_GENRES_ROOM];
    if (!movielens_is_u_item(row))
        return fail(DPMF_ERR_INPUT_COLUMNS, row, row->field[U_ITEM_FIRST_GENRE].column,
                    "a genre of this row is neither 0 nor 1",
                    "each of the 19 columns of genres in u.item has a 0 or a 1", error);
    const struct dpmf_field genres = {text, movielens_genres(row, text),
                                      row->field[U_ITEM_FIRST_GENRE].column};
    if (genres.length == 0) return 0;
    return keep(reading, U_ITEM_FIRST_GENRE, item, row->line, &genres, error);
}

static int take_field(struct reading *reading, size_t column, uint32_t item,
                      const struct dpmf_table_record *row, struct dpmf_error *error) {
    struct dpmf_field field = trimmed_field(row->field[column]);
    switch (reading->purpose[column]) {
    case PURPOSE_NONE: return 0;
    case PURPOSE_FEATURE: break;
    case PURPOSE_YEAR_OF_TITLE:
        if (!public_title_year(field, &field)) return 0;
        break;
    case PURPOSE_GENRES:
        if (is_named(&field, "(no genres listed)")) return 0;
        break;
    case PURPOSE_FLAGS: return take_flags(reading, item, row, error);
    }
    return field.length > 0 ? keep(reading, column, item, row->line, &field, error) : 0;
}

static int check_row(const struct reading *reading, const struct dpmf_table_record *row,
                     struct dpmf_error *error) {
    if (row->n != reading->table.n_columns) {
        error_set(error, DPMF_ERR_INPUT_COLUMNS,
                  "the number of columns is %zu here, and %zu in the first row", row->n,
                  reading->table.n_columns);
        error_hint(error,
                   "leave a field empty where nothing is known, and quote one that holds the "
                   "separator");
        error_place(error, row->file, row->line, row->field[row->n - 1].column);
        return DPMF_ERR_INPUT_COLUMNS;
    }
    const struct dpmf_field *id = &row->field[reading->item_column];
    if (id->length > 0) return 0;
    return fail(DPMF_ERR_INPUT_ID, row, id->column, "the id is empty",
                "give every row an id, or leave it out", error);
}

static int take_row(void *self, const struct dpmf_table_record *row, struct dpmf_error *error) {
    struct reading *reading = self;
    if (!reading->is_known) {
        int code = begin(reading, row, error);
        if (code != 0) return code < 0 ? code : 0;
    }
    int code = check_row(reading, row, error);
    if (code < 0) return code;
    const struct dpmf_field *id = &row->field[reading->item_column];
    uint64_t n_before = reading->items.ids.n;
    int64_t number = id_gather_add(&reading->items, id->text, id->length, error);
    if (number < 0) return (int)number;
    const bool is_twice = reading->items.ids.n == n_before;
    if (is_twice && reading->is_public)
        return public_table_refuse_twice(row->file, row->line, id->column, error);
    if (is_twice)
        return fail(DPMF_ERR_INPUT_ID, row, id->column, "an earlier row has this id too",
                    "keep one of them, and write several categories in one row as a|b", error);
    uint64_t item = (uint64_t)number;
    if (reading->is_public) {
        item = factor_ids_find(&reading->catalogue->ids, id->text, id->length);
        if (item == UINT64_MAX) return 0;
        reading->found = reading->catalogue->described[item] = true;
    }
    assert(item <= UINT32_MAX); /* id_gather has no more */
    for (size_t i = 0; i < row->n && code == 0; i++)
        code = take_field(reading, i, (uint32_t)item, row, error);
    return code;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static void reading_free(struct reading *reading) {
    struct feature_table *table = &reading->table;
    for (size_t i = 0; i < table->n_columns; i++) free(table->columns[i].at);
    free(table->columns);
    free(table->text);
    free(reading->purpose);
    id_gather_free(&reading->items);
}

static int refuse_strangers(const char *path, struct dpmf_error *error) {
    error_set(error, DPMF_ERR_INPUT_ID, "no item of the catalogue is in this file");
    error_hint(error, "ids must be written in both as they are in the ratings");
    error_place(error, strcmp(path, "-") == 0 ? "<stdin>" : path, 0, 0);
    return DPMF_ERR_INPUT_ID;
}

/* Items without a row are taken for the mean; most of them, where ids are written in two ways. */
static void warn_of_strangers(const struct catalogue *catalogue, const struct dpmf_run *run) {
    char text[200];
    uint64_t n = 0;
    if (!run || !run->warn) return;
    for (uint64_t i = 0; i < catalogue->ids.n; i++) n += catalogue->described[i];
    if (2 * n >= catalogue->ids.n) return;
    snprintf(text, sizeof text,
             "only %llu of %llu items of the catalogue have features: are the ids written as in "
             "it?",
             (unsigned long long)n, (unsigned long long)catalogue->ids.n);
    run->warn(run->warn_self, text);
}

int catalogue_read_features(struct catalogue *catalogue, const char *path,
                            const struct dpmf_run *run, struct dpmf_error *error) {
    struct reading reading = {.catalogue = catalogue, .is_public = true, .table.run = run};
    free(catalogue->described);
    catalogue->described = memory_alloc_zero((size_t)catalogue->ids.n, sizeof(bool));
    if (!catalogue->described) return error_no_memory(error);
    int code = table_read_public_whole(path, run, take_row, &reading, error);
    if (code == 0 && !reading.found) code = refuse_strangers(path, error);
    if (code == 0) code = feature_table_convert(&reading.table, catalogue, error);
    if (code == 0) warn_of_strangers(catalogue, run);
    reading_free(&reading);
    return code;
}

static int refuse_no_rows(const char *path, bool of_users, struct dpmf_error *error) {
    error_set(error, DPMF_ERR_INPUT_EMPTY, "there are no features of %s here",
              of_users ? "users" : "items");
    error_hint(error, "give a header and a row for each");
    error_place(error, strcmp(path, "-") == 0 ? "<stdin>" : path, 0, 0);
    return DPMF_ERR_INPUT_EMPTY;
}

int features_read(const char *path, bool of_users, const struct dpmf_run *run,
                  struct catalogue *catalogue, struct dpmf_error *error) {
    struct reading reading = {.catalogue = catalogue, .of_users = of_users, .table.run = run};
    *catalogue = (struct catalogue){0};
    int code = table_read_public_whole(path, run, take_row, &reading, error);
    if (code == 0 && reading.items.ids.n == 0) code = refuse_no_rows(path, of_users, error);
    if (code == 0) code = id_gather_finish(&reading.items, &catalogue->ids, error);
    if (code == 0) code = feature_table_convert(&reading.table, catalogue, error);
    reading_free(&reading);
    if (code < 0) catalogue_free(catalogue);
    return code;
}
