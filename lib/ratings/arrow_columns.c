/*
 * Which columns of a table are the user, the item, the rating and the time: by the names that were
 * given, by the usual names, or by a list of places; and whether their types can be that. The
 * schema alone decides, and no row. Fed by the fields of a table; feeds arrow_source.c.
 */
#include <string.h>

#include "base/error.h"
#include "ratings/arrow_source.h"

/* ---- by name --------------------------------------------------------------------------------- */

static const char *given_name(const struct dpmf_input_options *options, enum column_role role) {
    const char *const names[COLUMN_ROLES] = {options->user_column, options->item_column,
                                             options->rating_column, options->time_column};
    return names[role];
}

static bool any_given(const struct dpmf_input_options *options) {
    for (int role = 0; role < COLUMN_ROLES; role++)
        if (given_name(options, (enum column_role)role)) return true;
    return false;
}

static int refuse_named(const struct arrow_table *table, const char *name, const char *how,
                        struct dpmf_error *error) {
    error_set(error, DPMF_ERR_INPUT_HEADER, "the table has %s column called \"%.80s\"", how, name);
    error_hint(error, "names are compared letter by letter; the table has %zu columns",
               table->n_fields);
    error_place(error, table->name, 0, 0);
    return DPMF_ERR_INPUT_HEADER;
}

static int find_given(const struct arrow_table *table, const char *name, int32_t *column,
                      struct dpmf_error *error) {
    for (size_t i = 0; i < table->n_fields; i++) {
        if (strcmp(table->fields[i].name, name) != 0) continue;
        if (*column >= 0) return refuse_named(table, name, "more than one", error);
        *column = (int32_t)i;
    }
    return *column >= 0 ? 0 : refuse_named(table, name, "no", error);
}

/* What the table's columns are called is not repeated: without a header, names are someone's
 * record. */
static int refuse_role(const struct arrow_table *table, enum column_role role, const char *how,
                       struct dpmf_error *error) {
    error_set(error, DPMF_ERR_INPUT_HEADER, "of the table's %zu columns, %s named like the %s",
              table->n_fields, how, column_role_name(role));
    error_hint(error, role == COLUMN_RATING
                          ? "rename it, or name it: {user-column}, {item-column}, {rating-column}, "
                            "{time-column}; or, if the table holds events, {events}"
                          : "rename it, or name it: {user-column}, {item-column}, {rating-column}, "
                            "{time-column}");
    error_place(error, table->name, 0, 0);
    return DPMF_ERR_INPUT_HEADER;
}

static int refuse_ratings(const struct arrow_table *table, struct dpmf_error *error) {
    error_set(error, DPMF_ERR_USAGE_CONFLICT,
              "events were declared, but the table has a rating "
              "and no count");
    error_hint(error, "turn ratings into events with {like any}, or name the column as count");
    error_place(error, table->name, 0, 0);
    return DPMF_ERR_USAGE_CONFLICT;
}

static bool is_taken(const int32_t given[COLUMN_ROLES], size_t column) {
    for (int role = 0; role < COLUMN_ROLES; role++)
        if (given[role] == (int32_t)column) return true;
    return false;
}

/* A column that was given has no other role, and its role no other column. */
static void find_names(const struct arrow_table *table, const int32_t given[COLUMN_ROLES],
                       bool events, struct columns_found *found) {
    columns_found_begin(found);
    for (size_t i = 0; i < table->n_fields; i++)
        if (!is_taken(given, i))
            columns_found_add(found, table->fields[i].name, strlen(table->fields[i].name),
                              (uint32_t)i);
    for (int role = 0; role < COLUMN_ROLES; role++) {
        if (given[role] < 0) continue;
        int place = role == COLUMN_RATING && events ? COLUMN_COUNT : role;
        found->column[place] = given[role];
        found->second[place] = -1;
        if (role == COLUMN_RATING) {
            const int other = events ? COLUMN_RATING : COLUMN_COUNT;
            found->column[other] = found->second[other] = -1;
        }
    }
}

static int find_by_name(const struct arrow_table *table, const struct dpmf_input_options *options,
                        int32_t column[COLUMN_ROLES], bool *holds_events,
                        struct dpmf_error *error) {
    int32_t given[COLUMN_ROLES] = {-1, -1, -1, -1};
    struct columns_found found;
    for (int role = 0; role < COLUMN_ROLES; role++) {
        const char *name = given_name(options, (enum column_role)role);
        int code = name ? find_given(table, name, &given[role], error) : 0;
        if (code < 0) return code;
        for (int other = 0; name && other < role; other++)
            if (given[other] == given[role])
                return refuse_named(table, name, "two uses for the", error);
    }
    find_names(table, given, options->events, &found);
    enum column_role twice = columns_found_twice(&found, options->events);
    if (twice != COLUMN_OTHER) return refuse_role(table, twice, "more than one is", error);
    enum columns_kind kind = columns_found_settle(&found, options->events, column);
    if (kind == COLUMNS_CONFLICT) return refuse_ratings(table, error);
    *holds_events = kind == COLUMNS_EVENTS;
    if (kind != COLUMNS_LACKING) return 0;
    return refuse_role(table,
                       column[COLUMN_USER] < 0   ? COLUMN_USER
                       : column[COLUMN_ITEM] < 0 ? COLUMN_ITEM
                                                 : COLUMN_RATING,
                       "none is", error);
}

/* ---- by place -------------------------------------------------------------------------------- */

/* A column whose name says that it is something else than what the list says: one of them is wrong,
 * and the records would be too. The name is one of the usual ones, and so can be shown. */
static int check_names(const struct arrow_table *table, const int32_t column[COLUMN_ROLES],
                       bool holds_events, struct dpmf_error *error) {
    for (int i = 0; i < COLUMN_ROLES; i++) {
        if (column[i] < 0) continue;
        const enum column_role listed =
            i == COLUMN_RATING && holds_events ? COLUMN_COUNT : (enum column_role)i;
        const char *name = table->fields[column[i]].name;
        const enum column_role named = column_role_of(name, strlen(name));
        if (named == COLUMN_OTHER || named == listed) continue;
        error_set(error, DPMF_ERR_INPUT_HEADER,
                  "{columns} says that column %d is the %s, but it is called \"%.80s\"",
                  (int)column[i] + 1, column_role_name(listed), name);
        error_hint(error, "correct the list; if the name is wrong, name the columns: "
                          "{user-column}, {item-column}, {rating-column}, {time-column}");
        error_place(error, table->name, 0, column[i] + 1);
        return DPMF_ERR_INPUT_HEADER;
    }
    return 0;
}

static int find_by_list(const struct arrow_table *table, const struct dpmf_input_options *options,
                        int32_t column[COLUMN_ROLES], bool *holds_events,
                        struct dpmf_error *error) {
    uint32_t wanted;
    int code = column_list_parse(options->columns, column, &wanted, holds_events, error);
    if (code < 0) return code;
    if (options->events && !*holds_events) return refuse_ratings(table, error);
    if (wanted == table->n_fields) return check_names(table, column, *holds_events, error);
    error_set(error, DPMF_ERR_INPUT_HEADER, "the table has %zu columns, but {columns} lists %u",
              table->n_fields, (unsigned)wanted);
    error_hint(error, "list all of them, with _ for those to skip");
    error_place(error, table->name, 0, 0);
    return DPMF_ERR_INPUT_HEADER;
}

/* ---- types ----------------------------------------------------------------------------------- */

static bool can_be(enum column_role role, const struct arrow_type *type) {
    const enum arrow_kind kind = type->kind;
    const bool is_number = kind >= ARROW_INT8 && kind <= ARROW_DECIMAL;
    if (kind == ARROW_NULL || arrow_kind_is_text(kind)) return true;
    switch (role) {
    case COLUMN_USER:
    case COLUMN_ITEM:
        return is_number && (kind != ARROW_DECIMAL || (type->scale == 0 && type->bytes <= 16));
    case COLUMN_RATING: return is_number;
    default:
        return (is_number && kind != ARROW_DECIMAL) || kind == ARROW_TIMESTAMP ||
               kind == ARROW_DATE_DAYS;
    }
}

/* The column's own name is shown where it is one of the usual ones, or was given: other names may
 * be someone's record. */
static int check_type(const struct arrow_table *table, enum column_role role, int32_t place,
                      bool is_named, struct dpmf_error *error) {
    static const char *const wanted[COLUMN_ROLES] = {
        "text, whole numbers (decimals: of scale 0), or a dictionary of these",
        "text, whole numbers (decimals: of scale 0), or a dictionary of these", "numbers",
        "timestamps, dates, or seconds since 1970"};
    const struct arrow_field *field = &table->fields[place];
    if (can_be(role, &field->type)) return 0;
    if (is_named)
        error_set(error, DPMF_ERR_INPUT_HEADER, "column \"%.80s\", the %s, is %s", field->name,
                  column_role_name(role), field->type.described);
    else
        error_set(error, DPMF_ERR_INPUT_HEADER, "column %d, the %s, is %s", (int)place + 1,
                  column_role_name(role), field->type.described);
    error_hint(error, "it can be %s", wanted[role]);
    error_place(error, table->name, 0, place + 1);
    return DPMF_ERR_INPUT_HEADER;
}

int arrow_columns_find(const struct arrow_table *table, const struct dpmf_input_options *options,
                       int32_t column[COLUMN_ROLES], bool *holds_events, struct dpmf_error *error) {
    *holds_events = false;
    if (options->columns && any_given(options))
        return error_set(error, DPMF_ERR_USAGE_CONFLICT,
                         "columns are given by {columns} or by their names, not by both");
    int code = options->columns ? find_by_list(table, options, column, holds_events, error)
                                : find_by_name(table, options, column, holds_events, error);
    for (int role = 0; role < COLUMN_ROLES && code == 0; role++)
        if (column[role] >= 0)
            code =
                check_type(table, (enum column_role)role, column[role], !options->columns, error);
    return code;
}
