/*
 * Reads small tables of text as people have them: pairs to predict, lists of items, catalogues,
 * one's own ratings. One row at a time from a buffer that holds a few of them, so that a table of
 * any length takes little memory. Rows are what dpmf_import() would take them for, but only some
 * columns matter here, and none need be a rating. A store is read as if it were such a table.
 */
#include "tables/table_file.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/arguments.h"
#include "base/checksum.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/person_names.h"
#include "base/utf8.h"
#include "dpmf_text.h"
#include "store/store.h"
#include "tables/column_names.h"
#include "tables/input_stream.h"

enum {
    ROW_MAX = 1 << 20, /* bytes; ids have at most 64 KiB */
    COLUMNS_MAX = 4096,
    FIRST_BUFFER = 1 << 16,
};

enum wanted { WANT_USER, WANT_ITEM, WANT_RATING, WANT_TITLE, WANT_COUNT, N_WANTED };

static const char *const wanted_names[N_WANTED] = {"user", "item", "rating", "title", "count"};

enum separator { SEPARATOR_CHARACTER, SEPARATOR_COLONS, SEPARATOR_BLANKS };

typedef int take_row(void *self, const struct dpmf_table_row *row, struct dpmf_error *error);
typedef int take_record(void *self, const struct dpmf_table_record *record,
                        struct dpmf_error *error);

struct table {
    const char *name;
    enum wanted wanted[DPMF_TABLE_COLUMNS_MAX];
    size_t n_wanted;
    take_row *take;
    take_record *take_whole; /* in its place, for whole rows; NULL: only the columns wanted */
    take_record *look;       /* at the first row, before anything is taken; may be NULL */
    take_record *nameless;   /* at each row of a table whose columns have no names; may be NULL */
    bool is_public;          /* a row is a line, and all of it is text: see table_file.h */
    void *self;
    const struct dpmf_run *run;
    uint64_t n_rows;

    struct input_stream *stream;
    char *buffer;
    size_t at, n, capacity; /* bytes at .. n-1 are still to be read */
    bool at_end;
    int64_t line;

    bool is_known;          /* the layout is, from the first row */
    bool is_named;          /* the first row is a header */
    bool begins_with_names; /* the row before is the first, and has no number */
    int n_columns;          /* number of columns of the first row */
    enum separator separator;
    char character;
    uint64_t names;                        /* sum over the names of a public table's header */
    size_t column[DPMF_TABLE_COLUMNS_MAX]; /* where each wanted one is */
    struct dpmf_field *fields;             /* fields of one row, COLUMNS_MAX + 1 */
    char *title;                           /* a title in UTF-8 */
    size_t title_capacity;
};

/* ---- errors ---------------------------------------------------------------------------------- */

static int fail(const struct table *table, int code, int64_t column, const char *message,
                const char *hint, struct dpmf_error *error) {
    error_set(error, code, "%s", message);
    error_hint(error, "%s", hint);
    error_place(error, table->name, table->line, column);
    return code;
}

/* ---- the columns wanted ---------------------------------------------------------------------- */

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

/* A name in a header without the blanks around it, and without its type as RecBole's files have
 * one: "user_id:token". */
static void strip_name(const char **text, size_t *n) {
    static const char *const types[] = {":token", ":token_seq", ":float", ":float_seq"};
    while (*n > 0 && is_blank(**text)) ++*text, --*n;
    while (*n > 0 && is_blank((*text)[*n - 1])) --*n;
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        size_t length = strlen(types[i]);
        if (*n <= length || memcmp(*text + *n - length, types[i], length) != 0) continue;
        *n -= length;
        return;
    }
}

static bool is_role(enum wanted wanted, const char *text, size_t n) {
    strip_name(&text, &n);
    if (wanted == WANT_TITLE)
        return (n == 5 && strncasecmp(text, "title", n) == 0) ||
               (n == 4 && strncasecmp(text, "name", n) == 0);
    static const enum column_role roles[N_WANTED] = {
        [WANT_USER] = COLUMN_USER,
        [WANT_ITEM] = COLUMN_ITEM,
        [WANT_RATING] = COLUMN_RATING,
        [WANT_COUNT] = COLUMN_COUNT,
    };
    return column_role_of(text, n) == roles[wanted];
}

static int parse_wanted(struct table *table, const char *columns, struct dpmf_error *error) {
    while (*columns != '\0') {
        size_t n = strcspn(columns, ","), i = 0;
        while (i < N_WANTED &&
               (strlen(wanted_names[i]) != n || strncmp(wanted_names[i], columns, n) != 0))
            i++;
        if (i == N_WANTED || table->n_wanted == DPMF_TABLE_COLUMNS_MAX)
            return error_set(error, DPMF_ERR_USAGE_VALUE, "no such columns can be read");
        table->wanted[table->n_wanted++] = (enum wanted)i;
        columns += n + (columns[n] == ',');
    }
    return 0;
}

/* ---- where fields and rows end --------------------------------------------------------------- */

static bool has_quotes(const struct table *table) {
    return table->separator == SEPARATOR_CHARACTER && table->character != '|';
}

/* @return the length of the separator that begins the n bytes, or 0 */
static size_t separator_at(const struct table *table, const char *text, size_t n) {
    size_t length = 0;
    switch (table->separator) {
    case SEPARATOR_CHARACTER: return text[0] == table->character;
    case SEPARATOR_COLONS: return n >= 2 && text[0] == ':' && text[1] == ':' ? 2 : 0;
    case SEPARATOR_BLANKS:
        while (length < n && (text[length] == ' ' || text[length] == '\t')) length++;
        break;
    }
    return length;
}

/* @return past the closing quote of the field that begins the n bytes, or 0 when there is none */
static size_t quoted_length(const char *text, size_t n) {
    for (size_t i = 1; i < n; i++) {
        if (text[i] != '"') continue;
        if (i + 1 == n || text[i + 1] != '"') return i + 1;
        i++;
    }
    return 0;
}

/* @return the place of the line feed that ends the row, or n */
static size_t row_length(const struct table *table, const char *text, size_t n) {
    if (table->is_public) {
        const char *end = memchr(text, '\n', n);
        return end ? (size_t)(end - text) : n;
    }
    bool begins_field = true;
    for (size_t i = 0; i < n;) {
        if (begins_field && text[i] == '"' && has_quotes(table)) {
            size_t length = quoted_length(text + i, n - i);
            if (length == 0) return n;
            i += length;
            begins_field = false;
            continue;
        }
        if (text[i] == '\n') return i;
        size_t length = separator_at(table, text + i, n - i);
        begins_field = length > 0;
        i += begins_field ? length : 1;
    }
    return n;
}

/* ---- the layout ------------------------------------------------------------------------------ */

/* The separator is the first of those known after the first field. */
static void find_separator(struct table *table, const char *text, size_t n) {
    size_t from = n > 0 && text[0] == '"' ? quoted_length(text, n) : 0;
    bool has_blank = false;
    for (size_t i = from; i < n; i++) {
        if (i + 1 < n && text[i] == ':' && text[i + 1] == ':') {
            table->separator = SEPARATOR_COLONS;
            return;
        }
        if (text[i] != '\0' && strchr("\t,;|", text[i])) {
            table->character = text[i];
            return;
        }
        has_blank |= text[i] == ' ';
    }
    if (has_blank && (table->n_wanted > 1 || table->take_whole))
        table->separator = SEPARATOR_BLANKS;
}

/* Cuts a row into fields, in place. @return how many there are, at most `most`, or a negative code
 * */
static int cut(const struct table *table, char *text, size_t n, struct dpmf_field *fields, int most,
               struct dpmf_error *error) {
    int n_fields = 0;
    size_t i = table->separator == SEPARATOR_BLANKS ? separator_at(table, text, n) : 0;
    while (n_fields < most) {
        size_t from = i, length;
        char *field = text + i;
        if (i < n && text[i] == '"' && has_quotes(table)) {
            length = quoted_length(text + i, n - i);
            if (length == 0)
                return fail(
                    table, DPMF_ERR_INPUT_QUOTE, (int64_t)from + 1, "the quote is never closed",
                    table->is_public ? "close it on its line: each row of this table is one line"
                                     : "close it, or double the quotes inside a field",
                    error);
            i += length;
            field++;
            size_t kept = 0;
            for (size_t j = 0; j + 2 < length; j++) {
                if (field[j] == '"') j++; /* the second of two */
                field[kept++] = field[j];
            }
            length = kept;
            if (i < n && separator_at(table, text + i, n - i) == 0)
                return fail(table, DPMF_ERR_INPUT_QUOTE, (int64_t)i + 1,
                            "there is text after the closing quote",
                            "double the quotes inside a field", error);
        } else {
            while (i < n && separator_at(table, text + i, n - i) == 0) i++;
            length = i - from;
        }
        size_t separator = i < n ? separator_at(table, text + i, n - i) : 0;
        fields[n_fields++] = (struct dpmf_field){field, length, (int64_t)from + 1};
        bool ends = separator == 0 || (table->separator == SEPARATOR_BLANKS && i + separator == n);
        field[length] = '\0'; /* on a quote, a separator or the row's end */
        i += separator;
        if (ends) break;
    }
    return n_fields;
}

/* Whether two fields of a header claim to be the same column. Of a catalogue that is so where they
 * have the same name: the artist and the song are both items elsewhere, and here one of them. */
static bool are_one(const struct table *table, enum wanted wanted, const struct dpmf_field *a,
                    const struct dpmf_field *b) {
    bool has_titles = false;
    for (size_t w = 0; w < table->n_wanted; w++) has_titles |= table->wanted[w] == WANT_TITLE;
    if (!is_role(wanted, b->text, b->length)) return false;
    return !has_titles || (a->length == b->length && strncasecmp(a->text, b->text, a->length) == 0);
}

/* A column that is wanted and named twice: which of them is meant, nobody could tell. */
static int check_header(const struct table *table, const struct dpmf_field *fields, int n,
                        struct dpmf_error *error) {
    for (size_t w = 0; w < table->n_wanted; w++) {
        const size_t first = table->column[w];
        for (size_t i = first + 1; i < (size_t)n; i++) {
            if (!are_one(table, table->wanted[w], &fields[first], &fields[i])) continue;
            error_set(error, DPMF_ERR_INPUT_HEADER,
                      "columns %zu and %zu of the header both name the %s", first + 1, i + 1,
                      wanted_names[table->wanted[w]]);
            error_hint(error, "rename the one that is not meant");
            error_place(error, table->name, table->line, fields[i].column);
            return DPMF_ERR_INPUT_HEADER;
        }
    }
    return 0;
}

/* A header of ratings where titles are wanted: by their places, its columns would be taken for
 * items and their titles. */
static int check_titles(const struct table *table, const struct dpmf_field *fields, int n,
                        struct dpmf_error *error) {
    bool wants_titles = false, has_rating = false, has_item = false;
    for (size_t w = 0; w < table->n_wanted; w++) wants_titles |= table->wanted[w] == WANT_TITLE;
    for (int i = 0; i < n; i++) {
        has_item |= is_role(WANT_ITEM, fields[i].text, fields[i].length);
        has_rating |= is_role(WANT_RATING, fields[i].text, fields[i].length) ||
                      is_role(WANT_COUNT, fields[i].text, fields[i].length) ||
                      is_role(WANT_USER, fields[i].text, fields[i].length);
    }
    if (!wants_titles || !has_item || !has_rating) return 0;
    return fail(table, DPMF_ERR_INPUT_HEADER, 1,
                "the header names no title: is this a table of ratings?",
                "give a table with the columns item and title", error);
}

/* A first row that names one column of two is a header all the same: below it the other one would
 * be found by its place, which may be the place of what is named. */
static int refuse_half(const struct table *table, enum wanted named, struct dpmf_error *error) {
    const enum wanted other = table->wanted[table->wanted[0] == named];
    error_set(error, DPMF_ERR_INPUT_HEADER, "the first row names the %s, and no column the %s",
              wanted_names[named], wanted_names[other]);
    error_hint(error, "begin with a line such as %s,%s", wanted_names[table->wanted[0]],
               wanted_names[table->wanted[1]]);
    error_place(error, table->name, table->line, 1);
    return DPMF_ERR_INPUT_HEADER;
}

static bool wants_pairs(const struct table *table) {
    return !table->is_public && table->n_wanted == 2 && table->wanted[0] == WANT_USER &&
           table->wanted[1] == WANT_ITEM;
}

/* What a first row that is no header of all the columns wanted says against being a row. */
static int check_first(const struct table *table, const struct dpmf_field *fields, int n,
                       struct dpmf_error *error) {
    for (int i = 0; i < n && wants_pairs(table); i++)
        for (size_t w = 0; w < 2; w++)
            if (is_role(table->wanted[w], fields[i].text, fields[i].length))
                return refuse_half(table, table->wanted[w], error);
    return 0;
}

static bool is_number(const struct dpmf_field *field) {
    double ignored;
    return number_parse_double(field->text, field->length, &ignored) != NUMBER_MALFORMED;
}

/* Names that are not known, above pairs of numbers: as a pair they would be predicted, and nobody
 * would know whether users come first below them. */
static int check_second(struct table *table, const struct dpmf_field *fields, int n, bool is_first,
                        struct dpmf_error *error) {
    int numbers = 0;
    if (table->is_named || !wants_pairs(table) || n < 2) return 0;
    for (int i = 0; i < 2; i++) numbers += is_number(&fields[i]);
    const bool follows_names = table->begins_with_names;
    table->begins_with_names = is_first && numbers == 0;
    if (!follows_names || numbers < 2) return 0;
    return fail(table, DPMF_ERR_INPUT_HEADER, 1,
                "the row before this looks like a header, but names no user and item",
                "name the columns user and item, or remove the line", error);
}

/* Whether a row of pairs is a header. */
static bool is_header_again(const struct table *table, const struct dpmf_field *fields, int n) {
    for (size_t w = 0; w < 2; w++) {
        if (table->column[w] >= (size_t)n) return false;
        const struct dpmf_field *field = &fields[table->column[w]];
        if (!is_role(WANT_USER, field->text, field->length) &&
            !is_role(WANT_ITEM, field->text, field->length))
            return false;
    }
    return true;
}

/* Whether the fields name all the columns wanted; where they are not named they come in order. */
static bool read_header(struct table *table, const struct dpmf_field *fields, int n) {
    size_t found = 0;
    for (size_t w = 0; w < table->n_wanted; w++) {
        for (int i = 0; i < n; i++) {
            if (!is_role(table->wanted[w], fields[i].text, fields[i].length)) continue;
            table->column[w] = (size_t)i;
            found++;
            break;
        }
    }
    if (found == table->n_wanted) return true;
    for (size_t w = 0; w < table->n_wanted; w++) table->column[w] = w;
    return false;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static int check_id(const struct table *table, const struct dpmf_field *field,
                    struct dpmf_error *error) {
    if (field->length == 0)
        return fail(table, DPMF_ERR_INPUT_ID, field->column, "the id is empty",
                    "give every row an id, or leave it out", error);
    if (field->length > STORE_ID_MAX)
        return fail(table, DPMF_ERR_INPUT_ID_TOO_LONG, field->column,
                    "the id is longer than 64 KiB", "is this the file you mean?", error);
    return 0;
}

static bool is_utf8(const char *text, size_t n) {
    for (size_t i = 0, step; i < n; i += step) {
        step = utf8_sequence(text + i, n - i);
        if (step == 0) return false;
    }
    return true;
}

/* Bytes that are no UTF-8 are ISO-8859-1, whose characters are Unicode's first 256. */
static int convert_title(struct table *table, struct dpmf_field *field, struct dpmf_error *error) {
    if (is_utf8(field->text, field->length)) return 0;
    size_t n = 0;
    if (!memory_reserve(&table->title, &table->title_capacity, 2 * field->length + 1, 1))
        return error_no_memory(error);
    for (size_t i = 0; i < field->length; i++)
        n += utf8_put((unsigned char)field->text[i], table->title + n);
    table->title[n] = '\0';
    field->text = table->title;
    field->length = n;
    return 0;
}

static int take_fields(struct table *table, const struct dpmf_field *fields, int n,
                       struct dpmf_error *error) {
    struct dpmf_table_row row = {.file = table->name, .line = table->line};
    int code = 0;
    for (size_t w = 0; w < table->n_wanted && code == 0; w++) {
        if (table->column[w] >= (size_t)n) {
            error_set(error, DPMF_ERR_INPUT_COLUMNS, "there is no %s in this row",
                      wanted_names[table->wanted[w]]);
            error_place(error, table->name, table->line, 0);
            error_hint(error, "rows need column %zu here", table->column[w] + 1);
            return DPMF_ERR_INPUT_COLUMNS;
        }
        row.field[w] = fields[table->column[w]];
        if (table->wanted[w] == WANT_USER || table->wanted[w] == WANT_ITEM)
            code = check_id(table, &row.field[w], error);
        if (table->wanted[w] == WANT_TITLE) code = convert_title(table, &row.field[w], error);
    }
    table->n_rows++;
    return code != 0 ? code : table->take(table->self, &row, error);
}

static int take_all_fields(struct table *table, const struct dpmf_field *fields, int n,
                           struct dpmf_error *error) {
    const struct dpmf_table_record record = {
        .file = table->name, .line = table->line, .field = fields, .n = (size_t)n};
    if (n > COLUMNS_MAX)
        return fail(table, DPMF_ERR_INPUT_COLUMNS, fields[n - 1].column,
                    "there are more than 4096 columns", "leave out those that do not matter",
                    error);
    table->n_rows++;
    return table->take_whole(table->self, &record, error);
}

static int refuse_bytes(const struct table *table, int64_t column, const char *what,
                        struct dpmf_error *error) {
    return fail(table, DPMF_ERR_INPUT_UNKNOWN_FORMAT, column, what,
                "give a table of text in UTF-8, such as a CSV file", error);
}

/* A carriage return that no line feed follows may be meant as the end of a row: then other rows
 * would be part of this one. Inside quotes, which a public table does not have across lines, it may
 * be part of a text. */
static const char *lone_return(const struct table *table, const char *text, size_t n) {
    if (!table->is_public && memchr(text, '"', n)) return NULL;
    return n > 0 ? memchr(text, '\r', n - 1) : NULL;
}

/* What is no text would be cut into ids at whatever bytes look like separators. */
static int check_text(const struct table *table, const char *text, size_t n,
                      struct dpmf_error *error) {
    const char *nul = n > 0 ? memchr(text, '\0', n) : NULL;
    const char *lone = lone_return(table, text, n);
    if (table->line == 1 && n >= 2 &&
        (memcmp(text, "\xFF\xFE", 2) == 0 || memcmp(text, "\xFE\xFF", 2) == 0))
        return refuse_bytes(table, 1, "this is UTF-16, which is not read", error);
    if (nul)
        return refuse_bytes(table, nul - text + 1, "there is a NUL byte: this is not text", error);
    if (utf8_has_mark(text, n))
        return fail(table, DPMF_ERR_INPUT_UNKNOWN_FORMAT, 1,
                    "there is a byte order mark in the middle of the file",
                    "remove it: it is at the beginning of a file that was appended to another",
                    error);
    if (!lone) return 0;
    return fail(table, DPMF_ERR_INPUT_UNKNOWN_FORMAT, lone - text + 1,
                "there is a carriage return that does not end the line",
                "end every row with a line feed, and leave carriage returns out of fields", error);
}

/* A first row of another kind, such as a comment, decided what the columns of all others are. */
static int refuse_width(const struct table *table, const struct dpmf_field *last, int n,
                        struct dpmf_error *error) {
    error_set(error, DPMF_ERR_INPUT_COLUMNS,
              "the number of columns is %d here, and %d in the first row", n, table->n_columns);
    error_hint(error, "begin with the header, and quote fields that hold the separator");
    error_place(error, table->name, table->line, last->column);
    return DPMF_ERR_INPUT_COLUMNS;
}

/* Whether a row has more columns than the first, other than separators at its end. What is meant as
 * one field, such as "3,5", would be cut off after the 3. */
static int check_width(const struct table *table, const struct dpmf_field *fields, int n,
                       struct dpmf_error *error) {
    int last = n;
    while (last > table->n_columns && fields[last - 1].length == 0) last--;
    if (last <= table->n_columns) return 0;
    error_set(error, DPMF_ERR_INPUT_COLUMNS, "the row has %d columns instead of %d", n,
              table->n_columns);
    error_hint(error, "quote fields that hold the separator, and write decimals with a point");
    error_place(error, table->name, table->line, fields[table->n_columns].column);
    return DPMF_ERR_INPUT_COLUMNS;
}

/* A sum over the fields of a row, the same in any order. Of several, names count by what they name;
 * case, `_`, `-` and blanks never count. A number is none of a header's: @return 0 then */
static uint64_t sum_names(const struct dpmf_field *fields, int n) {
    uint64_t sum = 0;
    for (int i = 0; i < n; i++) {
        const char *name = fields[i].text, *role = NULL;
        size_t length = fields[i].length, kept = 0;
        char reduced[64];
        double ignored;
        strip_name(&name, &length);
        if (number_parse_double(name, length, &ignored) != NUMBER_MALFORMED) return 0;
        if (n > 1) role = dpmf_table_column_role(name, length);
        if (role) name = role, length = strlen(role);
        for (size_t j = 0; j < length && kept < sizeof reduced; j++)
            if (!is_blank(name[j]) && name[j] != '_' && name[j] != '-')
                reduced[kept++] =
                    name[j] >= 'A' && name[j] <= 'Z' ? (char)(name[j] - 'A' + 'a') : name[j];
        sum += checksum64(reduced, kept);
    }
    return sum;
}

/* The header again, perhaps with the columns in another order: the rows below it would be read by
 * the columns of the first. */
static int refuse_header(const struct table *table, struct dpmf_error *error) {
    return fail(table, DPMF_ERR_INPUT_HEADER, 1,
                "this row names the columns, as the first does: are these several files in one?",
                "remove the line, if the columns below it are in the order of the first", error);
}

static int take_text(struct table *table, char *text, size_t n, struct dpmf_error *error) {
    struct dpmf_field *fields = table->fields;
    int code = check_text(table, text, n, error);
    if (code < 0) return code;
    if (n > 0 && text[n - 1] == '\r') n--;
    if (n == 0) return 0;
    int n_fields = cut(table, text, n, fields, COLUMNS_MAX + 1, error);
    if (n_fields < 0) return n_fields;
    bool is_first = !table->is_known;
    table->is_known = true;
    if (is_first) table->n_columns = n_fields;
    if (is_first && table->look) {
        const struct dpmf_table_record record = {
            .file = table->name, .line = table->line, .field = fields, .n = (size_t)n_fields};
        code = table->look(table->self, &record, error);
        if (code != 0) return code;
    }
    const uint64_t names =
        table->is_public && n_fields == table->n_columns ? sum_names(fields, n_fields) : 0;
    if (!is_first && names != 0 && names == table->names) return refuse_header(table, error);
    if (is_first && table->take_whole) table->names = names;
    if (table->take_whole) return take_all_fields(table, fields, n_fields, error);
    if (is_first && read_header(table, fields, n_fields)) {
        table->is_named = true;
        table->names = names;
        return check_header(table, fields, n_fields, error);
    }
    if (wants_pairs(table) && is_header_again(table, fields, n_fields))
        return table->is_named
                   ? refuse_header(table, error)
                   : fail(table, DPMF_ERR_INPUT_HEADER, 1, "this row names the columns",
                          "put the header first, and give several files one by one", error);
    if (is_first) code = check_first(table, fields, n_fields, error);
    if (code == 0) code = check_second(table, fields, n_fields, is_first, error);
    if (code < 0) return code;
    if (table->is_public && n_fields != table->n_columns)
        return refuse_width(table, &fields[n_fields - 1], n_fields, error);
    if (is_first && !table->is_public) code = check_titles(table, fields, n_fields, error);
    if (code == 0) code = check_width(table, fields, n_fields, error);
    if (code == 0 && table->nameless && !table->is_named) {
        const struct dpmf_table_record record = {
            .file = table->name, .line = table->line, .field = fields, .n = (size_t)n_fields};
        code = table->nameless(table->self, &record, error);
    }
    return code < 0 ? code : take_fields(table, fields, n_fields, error);
}

/* ---- the file -------------------------------------------------------------------------------- */

static bool may_go_on(void *self) {
    const struct table *table = self;
    if (!table->run || !table->run->progress) return true;
    const struct dpmf_progress progress = {
        .phase = "reading", .unit = "rows", .done = table->n_rows};
    return table->run->progress(table->run->progress_self, &progress) == 0;
}

static int ask_to_go_on(struct table *table, struct dpmf_error *error) {
    if (may_go_on(table)) return 0;
    return error_set(error, DPMF_ERR_BASE_CANCELLED, "interrupted");
}

/* Makes room at the end by moving what is left to the front, or by growing. */
static int refill(struct table *table, struct dpmf_error *error) {
    size_t got = 0;
    if (table->at > 0) memmove(table->buffer, table->buffer + table->at, table->n - table->at);
    table->n -= table->at;
    table->at = 0;
    /* One byte more than is filled, to end the last field with. */
    if (!memory_reserve(&table->buffer, &table->capacity, 2 * table->n + FIRST_BUFFER, 1))
        return error_no_memory(error);
    int code = input_stream_read(table->stream, table->buffer + table->n,
                                 table->capacity - 1 - table->n, &got, error);
    table->n += got;
    table->at_end = got == 0;
    return code < 0 ? code : ask_to_go_on(table, error);
}

static int64_t count_lines(const char *text, size_t n) {
    int64_t lines = 0;
    for (size_t i = 0; i < n; i++) lines += text[i] == '\n';
    return lines;
}

static void begin_layout(struct table *table) {
    static const char mark[] = "\xEF\xBB\xBF";
    if (table->line == 1 && table->n - table->at >= 3 &&
        memcmp(table->buffer + table->at, mark, 3) == 0)
        table->at += 3;
    const char *text = table->buffer + table->at;
    const char *newline = memchr(text, '\n', table->n - table->at);
    size_t n = newline ? (size_t)(newline - text) : table->n - table->at;
    table->separator = SEPARATOR_CHARACTER;
    table->character = ',';
    find_separator(table, text, n);
}

static int read_rows(struct table *table, struct dpmf_error *error) {
    int code = 0;
    while (code == 0) {
        size_t n = table->n - table->at;
        if (!table->is_known && n > 0) begin_layout(table);
        char *text = table->buffer + table->at;
        n = table->n - table->at;
        size_t length = n > 0 ? row_length(table, text, n) : 0;
        if (length == n && !table->at_end) {
            if (length > ROW_MAX)
                return fail(table, DPMF_ERR_INPUT_LINE_TOO_LONG, 0, "the row does not end",
                            "is this the file you mean, and are all quotes closed?", error);
            code = refill(table, error);
            continue;
        }
        if (n == 0) break;
        int64_t lines = count_lines(text, length) + 1;
        code = take_text(table, text, length, error);
        table->line += lines;
        table->at += length < n ? length + 1 : length;
    }
    return code;
}

static int read_text(struct table *table, const char *path, struct dpmf_error *error) {
    const struct input_wait wait = {may_go_on, table, 0};
    int code = input_stream_open(path, &wait, &table->stream, error);
    if (code < 0) return code;
    table->name = input_stream_name(table->stream);
    table->line = 1;
    table->fields = memory_alloc(COLUMNS_MAX + 1, sizeof *table->fields);
    code = table->fields ? refill(table, error) : error_no_memory(error);
    if (code == 0) code = read_rows(table, error);
    free(table->fields);
    input_stream_close(table->stream);
    return code;
}

/* ---- a store as a table ---------------------------------------------------------------------- */

struct id_buffer {
    char *text;
    size_t capacity;
};

static bool copy_id(struct id_buffer *buffer, const char *id, size_t n, struct dpmf_field *field) {
    if (!memory_reserve(&buffer->text, &buffer->capacity, n + 1, 1)) return false;
    memcpy(buffer->text, id, n);
    buffer->text[n] = '\0';
    *field = (struct dpmf_field){buffer->text, n, 0};
    return true;
}

static int take_block(struct table *table, const struct dpmf_store *store,
                      const struct store_block *block, struct id_buffer ids[2],
                      struct dpmf_error *error) {
    struct dpmf_table_row row = {.file = table->name};
    struct dpmf_field field[N_WANTED] = {{0}};
    char rating[DPMF_DOUBLE_TEXT_MAX + 1];
    int code = 0;
    field[WANT_TITLE] = (struct dpmf_field){"", 0, 0};
    for (uint32_t i = 0; i < block->n_users; i++) {
        const char *id = block->id_bytes + block->id_start[i];
        size_t n = (size_t)(block->id_start[i + 1] - block->id_start[i]);
        if (!copy_id(&ids[0], id, n, &field[WANT_USER])) return error_no_memory(error);
        for (uint64_t r = block->start[i]; r < block->start[i + 1] && code == 0; r++) {
            struct store_item item = store_item_at(store, block->item[r]);
            if (!copy_id(&ids[1], item.id, item.id_length, &field[WANT_ITEM]))
                return error_no_memory(error);
            size_t length = number_format_double(block->value[r], rating);
            rating[length] = '\0';
            field[WANT_RATING] = (struct dpmf_field){rating, length, 0};
            for (size_t w = 0; w < table->n_wanted; w++) row.field[w] = field[table->wanted[w]];
            table->n_rows++;
            code = table->take(table->self, &row, error);
        }
    }
    return code;
}

static int read_store(struct table *table, const char *path, struct dpmf_error *error) {
    struct dpmf_store *store = NULL;
    struct id_buffer ids[2] = {{0}};
    table->name = path;
    int code = store_open_file(path, &store, error);
    if (code < 0) return code;
    struct store_scan scan = {.store = store, .want = STORE_WANT_VALUE | STORE_WANT_IDS};
    struct store_block block;
    while (store_scan_next(&scan, &block, &code, error)) {
        code = take_block(table, store, &block, ids, error);
        if (code == 0) code = ask_to_go_on(table, error);
    }
    free(ids[0].text);
    free(ids[1].text);
    store_scan_free(&scan);
    dpmf_store_close(store);
    return code;
}

static int read_columns(struct table *table, const char *path, const char *columns,
                        struct dpmf_error *error) {
    bool is_store = false;
    int code = parse_wanted(table, columns, error);
    if (code == 0) code = store_file_is(path, &is_store, error);
    if (code == 0) code = is_store ? read_store(table, path, error) : read_text(table, path, error);
    free(table->buffer);
    free(table->title);
    return code;
}

static int read_whole(struct table *table, const char *path, struct dpmf_error *error) {
    table->name = path;
    bool is_store;
    int code = store_file_is(path, &is_store, error);
    if (code < 0) return code;
    if (is_store)
        return fail(table, DPMF_ERR_INPUT_UNKNOWN_FORMAT, 0,
                    "this is a ratings store, where a table of text is wanted",
                    "give a CSV file, for example", error);
    code = read_text(table, path, error);
    free(table->buffer);
    return code;
}

int dpmf_table_read(const char *path, const char *columns, const struct dpmf_run *run,
                    take_row *take, void *self, struct dpmf_error *error) {
    struct dpmf_run own_run;
    int code = arguments_check(error, "path columns", path, columns);
    if (code == 0) code = run_take(&own_run, run, error);
    if (code < 0) return code;
    run = &own_run;
    if (!take) return arguments_check(error, "take", NULL);
    struct table table = {.take = take, .self = self, .run = run};
    return read_columns(&table, path, columns, error);
}

int dpmf_table_read_whole(const char *path, const struct dpmf_run *run, take_record *take,
                          void *self, struct dpmf_error *error) {
    struct dpmf_run own_run;
    int code = arguments_check(error, "path", path);
    if (code == 0) code = run_take(&own_run, run, error);
    if (code < 0) return code;
    run = &own_run;
    if (!take) return arguments_check(error, "take", NULL);
    struct table table = {.take_whole = take, .self = self, .run = run};
    return read_whole(&table, path, error);
}

int table_read_list(const char *path, const struct dpmf_run *run, take_record *look,
                    take_record *nameless, take_row *take, void *self, struct dpmf_error *error) {
    struct table table = {
        .take = take, .look = look, .nameless = nameless, .self = self, .run = run};
    return read_columns(&table, path, "item", error);
}

int table_read_public(const char *path, const char *columns, const struct dpmf_run *run,
                      take_record *look, take_row *take, void *self, struct dpmf_error *error) {
    struct table table = {.take = take, .look = look, .self = self, .run = run, .is_public = true};
    return read_columns(&table, path, columns, error);
}

int table_read_public_whole(const char *path, const struct dpmf_run *run, take_record *take,
                            void *self, struct dpmf_error *error) {
    struct table table = {.take_whole = take, .self = self, .run = run, .is_public = true};
    return read_whole(&table, path, error);
}

const char *dpmf_table_column_role(const char *name, size_t length) {
    if (!name) return NULL;
    for (int w = 0; w < N_WANTED; w++)
        if (is_role((enum wanted)w, name, length)) return wanted_names[w];
    return column_could_name_person(name, length) ? "person" : NULL;
}
