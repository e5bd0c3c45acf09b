/*
 * Reads rows of candidates from a table whose header says which column is the user and which the
 * wanted item; all others are what it is ranked among. By their places, the negatives of
 * `user,negatives,item` would be the items that were held out, and nothing would show it. Fed by a
 * table; feeds candidates.c.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/error.h"
#include "base/memory.h"
#include "dpmf_text.h"
#include "tables/column_names.h"

struct candidates_table {
    struct dpmf_candidates *candidates;
    bool has_header;
    size_t user, item, n;     /* places of the two, and number of columns of the header */
    bool is_open;             /* whether rows may be longer: the last column is of negatives */
    struct dpmf_field *field; /* a row in the order that candidates.c wants */
    size_t capacity;
};

static int fail(const struct dpmf_table_record *row, size_t place, int code, const char *message,
                const char *hint, struct dpmf_error *error) {
    error_set(error, code, "%s", message);
    error_hint(error, "%s", hint);
    error_place(error, row->file, row->line, place < row->n ? row->field[place].column : 0);
    return code;
}

static const char header_hint[] = "begin with a line such as user,item,negatives";

/* What a column of a header is; a title is no item, as little as a rating is. */
static enum column_role role_of(const struct dpmf_field *field, bool *is_other) {
    const char *role = dpmf_table_column_role(field->text, field->length);
    const enum column_role known = column_role_of(field->text, field->length);
    if (known == COLUMN_TIME) return COLUMN_TIME;
    *is_other = role && (strcmp(role, "title") == 0 || strcmp(role, "person") == 0);
    if (!role) return COLUMN_OTHER;
    if (strcmp(role, "user") == 0) return COLUMN_USER;
    if (strcmp(role, "item") == 0) return COLUMN_ITEM;
    return *is_other ? COLUMN_OTHER : COLUMN_RATING;
}

static int take_header(struct candidates_table *table, const struct dpmf_table_record *row,
                       struct dpmf_error *error) {
    size_t *places[] = {[COLUMN_USER] = &table->user, [COLUMN_ITEM] = &table->item};
    table->user = table->item = SIZE_MAX;
    table->n = row->n;
    for (size_t i = 0; i < row->n; i++) {
        bool is_other = false;
        const enum column_role role = role_of(&row->field[i], &is_other);
        table->is_open = role == COLUMN_OTHER;
        if (role == COLUMN_RATING || role == COLUMN_TIME)
            return fail(row, i, DPMF_ERR_INPUT_HEADER, "these are ratings, not candidates",
                        header_hint, error);
        if (is_other)
            return fail(row, i, DPMF_ERR_INPUT_HEADER,
                        "this column is neither the user, nor the wanted item, nor others to rank "
                        "it among",
                        "leave the column out, or name it: user, item or negatives", error);
        if (role == COLUMN_OTHER) continue;
        if (*places[role] != SIZE_MAX)
            return fail(row, i, DPMF_ERR_INPUT_HEADER,
                        role == COLUMN_USER ? "two columns of the header name the user"
                                            : "two columns of the header name the wanted item",
                        header_hint, error);
        *places[role] = i;
    }
    if (table->user == SIZE_MAX && table->item == SIZE_MAX)
        return fail(row, SIZE_MAX, DPMF_ERR_INPUT_HEADER, "the first row does not name the columns",
                    header_hint, error);
    if (table->user == SIZE_MAX || table->item == SIZE_MAX)
        return fail(row, SIZE_MAX, DPMF_ERR_INPUT_HEADER,
                    table->user == SIZE_MAX ? "no column of the header names the user"
                                            : "no column of the header names the wanted item",
                    header_hint, error);
    table->has_header = true;
    return 0;
}

/* Names again, perhaps in another order, which what follows would then be in too. */
static bool is_header(const struct candidates_table *table, const struct dpmf_table_record *row) {
    bool ignored;
    const enum column_role user = role_of(&row->field[table->user], &ignored);
    const enum column_role item = role_of(&row->field[table->item], &ignored);
    return (user == COLUMN_USER && item == COLUMN_ITEM) ||
           (user == COLUMN_ITEM && item == COLUMN_USER);
}

static int take_row(void *self, const struct dpmf_table_record *row, struct dpmf_error *error) {
    struct candidates_table *table = self;
    if (!table->has_header) return take_header(table, row, error);
    if (row->n <= table->user || row->n <= table->item)
        return fail(row, SIZE_MAX, DPMF_ERR_INPUT_COLUMNS,
                    row->n <= table->user ? "there is no user in this row"
                                          : "there is no wanted item in this row",
                    "every row has the user and the wanted item where the header has them", error);
    if (row->n > table->n && !table->is_open)
        return fail(row, table->n, DPMF_ERR_INPUT_COLUMNS,
                    "the row is longer than the header, whose last column is not that of others to "
                    "rank the wanted item among",
                    "name a column for each of them, or put them last: user,item,negatives", error);
    if (is_header(table, row))
        return fail(
            row, SIZE_MAX, DPMF_ERR_INPUT_HEADER,
            "this row names the columns, as the first does: are these several files in one?",
            "remove the line, if the columns below it are in the order of the first", error);
    if (!memory_reserve(&table->field, &table->capacity, row->n, sizeof *table->field))
        return error_no_memory(error);
    size_t n = 0;
    table->field[n++] = row->field[table->user];
    table->field[n++] = row->field[table->item];
    for (size_t i = 0; i < row->n; i++)
        if (i != table->user && i != table->item) table->field[n++] = row->field[i];
    const struct dpmf_table_record ordered = {row->file, row->line, table->field, n};
    return dpmf_candidates_add(table->candidates, &ordered, error);
}

int dpmf_candidates_read(struct dpmf_candidates *candidates, const char *path,
                         const struct dpmf_run *run, struct dpmf_error *error) {
    int code = arguments_check(error, "candidates path", candidates, path);
    if (code < 0) return code;
    struct candidates_table table = {.candidates = candidates};
    code = dpmf_table_read_whole(path, run, take_row, &table, error);
    free(table.field);
    return code;
}
