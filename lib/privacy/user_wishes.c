/*
 * The file of --user-privacy: users who want a smaller epsilon than the release has. Feeds the
 * scale of each user's contribution. The wishes themselves are taken as public.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "privacy/catalogue.h"
#include "privacy/id_gather.h"
#include "privacy/trimmed_field.h"

enum { ID_MAX = 64 * 1024 }; /* bytes, as everywhere */

struct reading {
    struct id_gather gather;
    double *epsilon;
    size_t epsilon_capacity;
    uint64_t n_twice; /* rows of users who are there already */
    bool is_known;    /* where the columns are, from the first row */
    size_t user_column, epsilon_column;
};

static int fail(int code, const struct dpmf_table_record *row, size_t column, const char *message,
                const char *hint, struct dpmf_error *error) {
    error_set(error, code, "%s", message);
    error_hint(error, "%s", hint);
    error_place(error, row->file, row->line, column < row->n ? row->field[column].column : 0);
    return code;
}

static bool names_users(const struct dpmf_field *field) {
    const char *role = dpmf_table_column_role(field->text, field->length);
    return role && strcmp(role, "user") == 0;
}

static bool names_epsilon(const struct dpmf_field *field) {
    const struct dpmf_field name = trimmed_field(*field);
    return (name.length == 7 && strncasecmp(name.text, "epsilon", 7) == 0) ||
           (name.length == 3 && strncasecmp(name.text, "eps", 3) == 0);
}

/* @return whether the row names both columns; else they are the first two, in this order */
static bool is_header(struct reading *reading, const struct dpmf_table_record *row) {
    size_t user = row->n, epsilon = row->n;
    for (size_t i = row->n; i-- > 0;) {
        if (names_users(&row->field[i])) user = i;
        if (names_epsilon(&row->field[i])) epsilon = i;
    }
    bool names_both = user < row->n && epsilon < row->n;
    reading->is_known = true;
    reading->user_column = names_both ? user : 0;
    reading->epsilon_column = names_both ? epsilon : 1;
    return names_both;
}

static int parse_wish(const struct dpmf_table_record *row, size_t column, double *epsilon,
                      struct dpmf_error *error) {
    const struct dpmf_field field = trimmed_field(row->field[column]);
    switch (number_parse_double(field.text, field.length, epsilon)) {
    case NUMBER_OK: break;
    case NUMBER_NOT_FINITE:
        return fail(DPMF_ERR_INPUT_NOT_FINITE, row, column, "the epsilon is not finite",
                    "leave the user out, who then has the epsilon of the release", error);
    case NUMBER_MALFORMED:
        return fail(DPMF_ERR_INPUT_NUMBER, row, column, "the epsilon is not a number",
                    "rows are a user and a number, under the names user and epsilon or none",
                    error);
    }
    if (*epsilon < 0)
        return fail(DPMF_ERR_INPUT_OUT_OF_RANGE, row, column, "the epsilon is below 0",
                    "0 leaves the user out altogether", error);
    if (*epsilon == 0) *epsilon = 0; /* no minus */
    return 0;
}

static int keep_wish(struct reading *reading, const struct dpmf_field *user, double epsilon,
                     struct dpmf_error *error) {
    uint64_t n_before = reading->gather.ids.n;
    int64_t number = id_gather_add(&reading->gather, user->text, user->length, error);
    if (number < 0) return (int)number;
    if (!memory_reserve(&reading->epsilon, &reading->epsilon_capacity, (size_t)number + 1,
                        sizeof reading->epsilon[0]))
        return error_no_memory(error);
    bool is_new = reading->gather.ids.n > n_before;
    /* Of two wishes the one that protects more. */
    if (is_new || epsilon < reading->epsilon[number]) reading->epsilon[number] = epsilon;
    reading->n_twice += !is_new;
    return 0;
}

static int take_wish(void *self, const struct dpmf_table_record *row, struct dpmf_error *error) {
    struct reading *reading = self;
    double epsilon = 0;
    if (!reading->is_known && is_header(reading, row)) return 0;
    size_t user = reading->user_column, wish = reading->epsilon_column;
    if (user >= row->n || wish >= row->n)
        return fail(DPMF_ERR_INPUT_COLUMNS, row, row->n, "a user and an epsilon are wanted here",
                    "rows are a user and a number, under the names user and epsilon or none",
                    error);
    if (row->field[user].length == 0)
        return fail(DPMF_ERR_INPUT_ID, row, user, "the id is empty",
                    "give every row an id, or leave it out", error);
    if (row->field[user].length > ID_MAX)
        return fail(DPMF_ERR_INPUT_ID_TOO_LONG, row, user, "the id is longer than 64 KiB",
                    "is this the file you mean?", error);
    int code = parse_wish(row, wish, &epsilon, error);
    return code < 0 ? code : keep_wish(reading, &row->field[user], epsilon, error);
}

/* A file that came out empty by mistake would lose everyone's wish; nobody's wishes are a header. */
static int check_read(const struct reading *reading, const char *path, struct dpmf_error *error) {
    if (reading->is_known) return 0;
    int code = error_set(error, DPMF_ERR_INPUT_EMPTY, "the file of wishes is empty");
    error_hint(error, "a header alone, user,epsilon, says that nobody has a wish");
    error_place(error, path, 0, 0);
    return code;
}

int user_wishes_read(const char *path, const struct dpmf_run *run, struct user_wishes *wishes,
                     struct dpmf_error *error) {
    struct reading reading = {0};
    *wishes = (struct user_wishes){0};
    int code = dpmf_table_read_whole(path, run, take_wish, &reading, error);
    if (code == 0) code = check_read(&reading, path, error);
    if (code == 0) code = id_gather_finish(&reading.gather, &wishes->ids, error);
    if (code == 0) {
        wishes->epsilon = reading.epsilon;
        wishes->n_twice = reading.n_twice;
        reading.epsilon = NULL;
    }
    id_gather_free(&reading.gather);
    free(reading.epsilon);
    return code;
}

void user_wishes_free(struct user_wishes *wishes) {
    factor_ids_free(&wishes->ids);
    free(wishes->epsilon);
    *wishes = (struct user_wishes){0};
}
