/*
 * Looks at the header of a table that is to be published, or to shape what is: columns of users, of
 * ratings and of wishes are those of private tables. Fed by the first row; used by catalogue.c,
 * public_titles.c, item_features.c and user_wishes.c.
 *
 * Names of people cannot all be listed. So a column of features is refused unless its name is known
 * as one that says something about items, or declared as public; and a catalogue, of which the
 * items alone are published, must say which column holds them and must hold each once.
 */
#include "privacy/public_table.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/number.h"
#include "dpmf_text.h"
#include "numerics/exact_arithmetic.h"

static const char declared[] = "public:";

/* Names of what is commonly known about items, a blank before and after each, in lower case. */
static const char item_facts[] =
    " acousticness actor actors album artist artists author authors binding bookauthor bpm "
    "brand brands cast categories category certificate class collection color colour "
    "composer countries country danceability decade department developer director directors "
    "duration edition energy episodes explicit format franchise genre genres height "
    "instrumentalness isbn13 key kind label language languages length license listprice "
    "liveness loudness maincategory maker manufacturer material maxplayers medium minplayers "
    "minutes mode model mood mpaa numpages origin originallanguage pages platform playtime "
    "price producer publicationyear publisher region releasedate releaseyear runtime season "
    "seasons series size speechiness studio style styles subcategory subgenre subject "
    "subjects subtype tempo theme themes timesignature topic topics type valence volume "
    "weight width year yearofpublication yearpublished yearofrelease ";

static bool is_epsilon(struct dpmf_field name) {
    return (name.length == 7 && strncasecmp(name.text, "epsilon", 7) == 0) ||
           (name.length == 3 && strncasecmp(name.text, "eps", 3) == 0);
}

static const char *role_of(struct dpmf_field name) {
    const char *found = dpmf_table_column_role(name.text, name.length);
    return found ? found : is_epsilon(name) ? "epsilon" : "";
}

bool public_column_is(const struct dpmf_field *field, const char *role) {
    return strcmp(role_of(trimmed_field(*field)), role) == 0;
}

bool public_title_year(struct dpmf_field title, struct dpmf_field *year) {
    title = trimmed_field(title);
    if (title.length < 6) return false;
    const char *end = title.text + title.length - 6;
    if (end[0] != '(' || end[5] != ')') return false;
    for (int i = 1; i <= 4; i++)
        if (end[i] < '0' || end[i] > '9') return false;
    *year = (struct dpmf_field){end + 1, 4, title.column + (int64_t)title.length - 5};
    return true;
}

/* ---- refusals -------------------------------------------------------------------------------- */

static int refuse(const struct dpmf_table_record *first, size_t i, const char *hint,
                  struct dpmf_error *error) {
    error_hint_text(error, hint);
    error_place(error, first->file, first->line, first->field[i].column);
    return DPMF_ERR_PRIVACY_REFUSED;
}

static int refuse_column(const struct dpmf_table_record *first, size_t i, const char *role,
                         struct dpmf_error *error) {
    bool is_doubtful = strcmp(role, "person") == 0;
    if (is_doubtful)
        error_set(error, DPMF_ERR_PRIVACY_REFUSED,
                  "this column could name people: is this a public table of items?");
    else
        error_set(error, DPMF_ERR_PRIVACY_REFUSED,
                  "there is a column of %ss: this is not a public table of items", role);
    return refuse(first, i,
                  is_doubtful ? "leave the column out; if it holds no people, call it public:NAME; "
                                "if it is the first item of a list, put a line before it: item"
                              : "give a table of items and what is publicly known about them, "
                                "without what people did or asked for",
                  error);
}

int public_table_refuse_twice(const char *file, int64_t line, int64_t column,
                              struct dpmf_error *error) {
    error_set(error, DPMF_ERR_PRIVACY_REFUSED,
              "an earlier row names this item too: are these ratings?");
    error_hint(error, "name every item once, in a table of all items that can be rated; of "
                      "features, write several categories in one row as a|b");
    error_place(error, file, line, column);
    return DPMF_ERR_PRIVACY_REFUSED;
}

/* ---- what a row says of its columns ---------------------------------------------------------- */

static bool is_declared(struct dpmf_field name) {
    return name.length > sizeof declared - 1 &&
           strncasecmp(name.text, declared, sizeof declared - 1) == 0;
}

/* @return the place of the first column of items, or row->n */
static size_t find_items(const struct dpmf_table_record *row) {
    size_t i = 0;
    while (i < row->n && !public_column_is(&row->field[i], "item")) i++;
    return i;
}

static int refuse_people(const struct dpmf_table_record *first, struct dpmf_error *error) {
    static const char *const roles[] = {"user", "epsilon", "person"};
    for (size_t r = 0; r < sizeof roles / sizeof roles[0]; r++)
        for (size_t i = 0; i < first->n; i++)
            if (public_column_is(&first->field[i], roles[r]) &&
                !is_declared(trimmed_field(first->field[i])))
                return refuse_column(first, i, roles[r], error);
    return 0;
}

/* Which of two columns of items is meant, nobody can tell: the wrong one would publish other items,
 * or other features. */
static int refuse_second_items(const struct dpmf_table_record *header, struct dpmf_error *error) {
    for (size_t i = find_items(header) + 1; i < header->n; i++) {
        if (!public_column_is(&header->field[i], "item")) continue;
        /* A colon ends a name before RecBole's type, and "public" is none of an item's. */
        assert(!is_declared(trimmed_field(header->field[i])));
        error_set(error, DPMF_ERR_INPUT_HEADER,
                  "two columns of the header could be meant for the item");
        error_hint(error, "keep one of them, or rename the other");
        error_place(error, header->file, header->line, header->field[i].column);
        return DPMF_ERR_INPUT_HEADER;
    }
    return 0;
}

static int refuse_comment(const struct dpmf_table_record *first, struct dpmf_error *error) {
    const struct dpmf_field field = trimmed_field(first->field[0]);
    if (field.length == 0 || (field.text[0] != '#' && field.text[0] != '%')) return 0;
    error_set(error, DPMF_ERR_PRIVACY_REFUSED,
              "the first row is a comment, so that no header says what the columns hold");
    return refuse(first, 0,
                  "begin with the header; where this is an item, put a line before it: item",
                  error);
}

static bool is_number(struct dpmf_field field) {
    double value;
    field = trimmed_field(field);
    return number_parse_double(field.text, field.length, &value) != NUMBER_MALFORMED;
}

bool public_row_is_movielens(const struct dpmf_table_record *row) {
    struct dpmf_field year;
    return row->n >= 3 && public_title_year(row->field[1], &year) && !is_number(row->field[2]);
}

/* ---- the tables ------------------------------------------------------------------------------ */

int public_table_check_catalogue(const struct dpmf_table_record *first, struct dpmf_error *error) {
    bool is_header = find_items(first) < first->n;
    if (!is_header && public_row_is_movielens(first)) return 0;
    int code = refuse_comment(first, error);
    if (code == 0) code = refuse_people(first, error);
    if (code == 0) code = refuse_second_items(first, error);
    for (size_t i = 0; i < first->n && is_header && code == 0; i++)
        if (public_column_is(&first->field[i], "rating"))
            code = refuse_column(first, i, "rating", error);
    if (code < 0 || is_header || first->n == 1) return code;
    error_set(error, DPMF_ERR_PRIVACY_REFUSED,
              "no header says which of these columns holds the items");
    return refuse(first, 0,
                  "begin with a header such as item,title, or give the items alone, one per line",
                  error);
}

int public_table_check_titles(const struct dpmf_table_record *first, struct dpmf_error *error) {
    bool is_header = find_items(first) < first->n;
    int code = public_table_check_catalogue(first, error);
    for (size_t i = 0; i < first->n && is_header && code == 0; i++)
        if (public_column_is(&first->field[i], "title")) return 0;
    if (code < 0 || !is_header) return code;
    error_set(error, DPMF_ERR_PRIVACY_REFUSED,
              "no column is called title or name: which of them is to be published?");
    return refuse(first, 0, "call the column of titles: title", error);
}

enum { NAME_MAX_LENGTH = 32 };

/* Whether the name is one of item_facts; case, `_`, `-`, `.` and blanks do not count. */
static bool is_item_fact(struct dpmf_field name) {
    char word[NAME_MAX_LENGTH + 3] = " ";
    size_t n = 1;
    const char *type = memchr(name.text, ':', name.length); /* RecBole's "class:token_seq" */
    if (type) name.length = (size_t)(type - name.text);
    for (size_t i = 0; i < name.length; i++) {
        char c = name.text[i];
        if (c == '_' || c == '-' || c == ' ' || c == '.') continue;
        if (n > NAME_MAX_LENGTH || c == '\0') return false;
        word[n++] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    memcpy(word + n, " ", 2);
    return n > 1 && strstr(item_facts, word) != NULL;
}

int public_table_check_features(const struct dpmf_table_record *header, struct dpmf_error *error) {
    int code = refuse_comment(header, error);
    if (code == 0) code = refuse_people(header, error);
    if (code == 0) code = refuse_second_items(header, error);
    for (size_t i = 0; i < header->n && code == 0; i++) {
        const struct dpmf_field name = trimmed_field(header->field[i]);
        const char *role = role_of(name);
        if (strcmp(role, "item") == 0 || strcmp(role, "title") == 0 || is_declared(name) ||
            is_item_fact(name))
            continue;
        error_set(error, DPMF_ERR_PRIVACY_REFUSED,
                  "this column is not known to be about items alone");
        code = refuse(header, i,
                      "if what it says is public, put public: before its name in the header; "
                      "otherwise leave it out",
                      error);
    }
    return code;
}
