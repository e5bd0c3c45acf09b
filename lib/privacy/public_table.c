/*
 * Looks at the header of a table that is to be published, or to shape what is: columns of users, of ratings and of wishes
 * are those of private tables. Fed by the first row; used by catalogue.c, item_features.c and user_wishes.c.
 */
#include "privacy/public_table.h"

#include <string.h>
#include <strings.h>

#include "base/error.h"

static bool is_epsilon(struct dpmf_field name) {
    return (name.length == 7 && strncasecmp(name.text, "epsilon", 7) == 0) ||
           (name.length == 3 && strncasecmp(name.text, "eps", 3) == 0);
}

bool public_column_is(const struct dpmf_field *field, const char *role) {
    const struct dpmf_field name = trimmed_field(*field);
    if (strcmp(role, "epsilon") == 0) return is_epsilon(name);
    const char *found = dpmf_table_column_role(name.text, name.length);
    return found && strcmp(found, role) == 0;
}

/* @return the place of the first column of that role, or row->n */
static size_t find_column(const struct dpmf_table_record *row, const char *role) {
    size_t i = 0;
    while (i < row->n && !public_column_is(&row->field[i], role)) i++;
    return i;
}

static int refuse_column(const struct dpmf_table_record *first, const char *role,
                         struct dpmf_error *error) {
    size_t i = find_column(first, role);
    if (i == first->n) return 0;
    error_set(error, DPMF_ERR_PRIVACY_REFUSED,
              "there is a column of %ss: this is no public table of items", role);
    error_hint(error, "give a table of items and what is publicly known about them, without what "
                      "people did or asked for");
    error_place(error, first->file, first->line, first->field[i].column);
    return DPMF_ERR_PRIVACY_REFUSED;
}

int public_table_refuse_people(const struct dpmf_table_record *first, struct dpmf_error *error) {
    int code = refuse_column(first, "user", error);
    return code < 0 ? code : refuse_column(first, "epsilon", error);
}

int public_table_refuse_ratings(const struct dpmf_table_record *first, struct dpmf_error *error) {
    int code = public_table_refuse_people(first, error);
    bool is_header = find_column(first, "item") < first->n;
    return code < 0 || !is_header ? code : refuse_column(first, "rating", error);
}
