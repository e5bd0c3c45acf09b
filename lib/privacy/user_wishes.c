/*
 * The list of wishes: users who want a smaller epsilon than the release has. Feeds the scale of
 * each user's contribution. The wishes themselves are taken as public; who of these users is in the
 * ratings is not, and decides nothing here. What cannot be an id of such ratings, whoever is in
 * them, is a mistake of the list, and refused.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "dpmf_text.h"
#include "privacy/catalogue.h"
#include "privacy/id_gather.h"
#include "privacy/public_table.h"
#include "tables/table_file.h"

static const char rows_hint[] =
    "rows are a user and a number, under the header user,epsilon or without one";

struct reading {
    const struct id_form *form;
    struct id_gather gather;
    double *epsilon;     /* by id */
    uint64_t *wish_of;   /* by id: the wish that names it, from 1; 0: the other spelling of one */
    struct wish *wishes; /* in the order of the list */
    size_t epsilon_capacity, wish_of_capacity, wishes_capacity;
    uint64_t n, n_twice;
    size_t n_columns; /* columns of every row, as in the first; 0: no row yet */
    size_t user_column, epsilon_column;
};

static int fail(int code, const struct dpmf_table_record *row, size_t column, const char *message,
                const char *hint, struct dpmf_error *error) {
    error_set(error, code, "%s", message);
    error_hint(error, "%s", hint);
    error_place(error, row->file, row->line, column < row->n ? row->field[column].column : 0);
    return code;
}

/* ---- the columns ----------------------------------------------------------------------------- */

static int refuse_second(const struct dpmf_table_record *row, size_t second, const char *what,
                         struct dpmf_error *error) {
    int code = error_set(error, DPMF_ERR_INPUT_HEADER,
                         "two columns of the header could be meant for the %s", what);
    error_hint(error, "keep one of them, or rename the other");
    error_place(error, row->file, row->line, row->field[second].column);
    return code;
}

/* Finds the columns in the first row. @return 1 when it names both of them; 0 when it names neither
 * or one, and they are the first two, in this order; or a negative code */
static int take_first(struct reading *reading, const struct dpmf_table_record *row,
                      struct dpmf_error *error) {
    size_t user = row->n, epsilon = row->n, other_user = row->n, other_epsilon = row->n;
    for (size_t i = row->n; i-- > 0;) {
        if (public_column_is(&row->field[i], "user")) other_user = user, user = i;
        if (public_column_is(&row->field[i], "epsilon")) other_epsilon = epsilon, epsilon = i;
    }
    bool names_both = user < row->n && epsilon < row->n;
    reading->n_columns = row->n;
    reading->user_column = names_both ? user : 0;
    reading->epsilon_column = names_both ? epsilon : 1;
    if (names_both && other_user < row->n) return refuse_second(row, other_user, "user", error);
    if (names_both && other_epsilon < row->n)
        return refuse_second(row, other_epsilon, "epsilon", error);
    if (!names_both && row->n > 2)
        return fail(DPMF_ERR_INPUT_HEADER, row, 2, "no header names the user and the epsilon here",
                    "with more than two columns, name them user and epsilon", error);
    return names_both;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static int parse_wish(const struct dpmf_table_record *row, size_t column, double *epsilon,
                      struct dpmf_error *error) {
    const struct dpmf_field field = trimmed_field(row->field[column]);
    switch (number_parse_double(field.text, field.length, epsilon)) {
    case NUMBER_OK: break;
    case NUMBER_NOT_FINITE:
        return fail(DPMF_ERR_INPUT_NOT_FINITE, row, column, "the epsilon is not finite",
                    "leave the user out, who then has the epsilon of the release", error);
    case NUMBER_MALFORMED:
        return fail(DPMF_ERR_INPUT_NUMBER, row, column, "the epsilon is not a number", rows_hint,
                    error);
    }
    if (*epsilon < 0)
        return fail(DPMF_ERR_INPUT_OUT_OF_RANGE, row, column, "the epsilon is below 0",
                    "0 leaves the user out altogether", error);
    if (*epsilon == 0) *epsilon = 0; /* no minus */
    return 0;
}

/* Keeps the most protective of several wishes for an id. @return the id's number, or a negative
 * code */
static int64_t keep_id(struct reading *reading, const struct id_text *id, double epsilon,
                       struct dpmf_error *error) {
    uint64_t n_before = reading->gather.ids.n;
    int64_t number = id_gather_add(&reading->gather, id->text, id->n, error);
    if (number < 0) return number;
    if (!memory_reserve(&reading->epsilon, &reading->epsilon_capacity, (size_t)number + 1,
                        sizeof reading->epsilon[0]) ||
        !memory_reserve(&reading->wish_of, &reading->wish_of_capacity, (size_t)number + 1,
                        sizeof reading->wish_of[0]))
        return error_no_memory(error);
    bool is_new = reading->gather.ids.n > n_before;
    if (is_new) reading->wish_of[number] = 0;
    if (is_new || epsilon < reading->epsilon[number]) reading->epsilon[number] = epsilon;
    return number;
}

static int keep_wish(struct reading *reading, const struct id_text *ids, size_t n, double epsilon,
                     struct dpmf_error *error) {
    struct wish wish = {.n = n};
    for (size_t i = 0; i < n; i++) {
        int64_t number = keep_id(reading, &ids[i], epsilon, error);
        if (number < 0) return (int)number;
        wish.id[i] = (uint64_t)number;
    }
    if (reading->wish_of[wish.id[0]] > 0) {
        reading->n_twice++;
        return 0;
    }
    if (!memory_reserve(&reading->wishes, &reading->wishes_capacity, (size_t)reading->n + 1,
                        sizeof reading->wishes[0]))
        return error_no_memory(error);
    reading->wishes[reading->n++] = wish;
    reading->wish_of[wish.id[0]] = reading->n;
    return 0;
}

static int take_wish(void *self, const struct dpmf_table_record *row, struct dpmf_error *error) {
    struct reading *reading = self;
    struct id_text ids[ID_SPELLINGS];
    const char *why;
    double epsilon = 0;
    int code = reading->n_columns == 0 ? take_first(reading, row, error) : 0;
    if (code != 0) return code < 0 ? code : 0;
    size_t user = reading->user_column, wish = reading->epsilon_column;
    if (user >= row->n || wish >= row->n)
        return fail(DPMF_ERR_INPUT_COLUMNS, row, row->n, "this row needs a user and an epsilon",
                    rows_hint, error);
    if (row->n != reading->n_columns)
        return fail(DPMF_ERR_INPUT_COLUMNS, row, reading->n_columns,
                    "the row does not have as many columns as the first",
                    "write decimals with a point, as in 0.5, and put ids with separators in quotes",
                    error);
    size_t n = id_form_spell(reading->form, row->field[user].text, row->field[user].length, ids,
                             &code, &why);
    if (n == 0)
        return fail(code, row, user, why, "write ids as the ratings do, or leave the row out",
                    error);
    code = parse_wish(row, wish, &epsilon, error);
    return code < 0 ? code : keep_wish(reading, ids, n, epsilon, error);
}

/* ---- the list -------------------------------------------------------------------------------- */

/* A file that came out empty by mistake would lose everyone's wish; nobody's wishes are a
 * header. */
static int check_read(const struct reading *reading, const char *path, struct dpmf_error *error) {
    if (reading->n_columns > 0) return 0;
    int code = error_set(error, DPMF_ERR_INPUT_EMPTY, "the file of wishes is empty");
    error_hint(error, "a header alone, user,epsilon, says that nobody has a wish");
    error_place(error, path, 0, 0);
    return code;
}

int user_wishes_read(const char *path, const struct id_form *form, const struct dpmf_run *run,
                     struct user_wishes *wishes, struct dpmf_error *error) {
    struct reading reading = {.form = form};
    *wishes = (struct user_wishes){0};
    int code = table_read_public_whole(path, run, take_wish, &reading, error);
    if (code == 0) code = check_read(&reading, path, error);
    if (code == 0) code = id_gather_finish(&reading.gather, &wishes->ids, error);
    if (code == 0) {
        wishes->epsilon = reading.epsilon;
        wishes->wishes = reading.wishes;
        wishes->n = reading.n;
        wishes->n_twice = reading.n_twice;
        reading.epsilon = NULL;
        reading.wishes = NULL;
    }
    id_gather_free(&reading.gather);
    free(reading.epsilon);
    free(reading.wishes);
    free(reading.wish_of);
    return code;
}

uint64_t user_wishes_unmatched(const struct user_wishes *wishes, const uint64_t *users_of_id) {
    uint64_t n = 0;
    for (uint64_t i = 0; i < wishes->n; i++) {
        const struct wish *wish = &wishes->wishes[i];
        bool matches = false;
        for (size_t k = 0; k < wish->n; k++) matches |= users_of_id[wish->id[k]] > 0;
        n += !matches;
    }
    return n;
}

uint64_t user_wishes_above(const struct user_wishes *wishes, double epsilon) {
    uint64_t n = 0;
    for (uint64_t i = 0; i < wishes->n; i++)
        n += wishes->epsilon[wishes->wishes[i].id[0]] > epsilon;
    return n;
}

void user_wishes_free(struct user_wishes *wishes) {
    factor_ids_free(&wishes->ids);
    free(wishes->epsilon);
    free(wishes->wishes);
    *wishes = (struct user_wishes){0};
}
