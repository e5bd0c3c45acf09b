/*
 * Tables as services export them: CSV with a first line of names, by which the service is known.
 * One list says which column of which service is what. Fed by dpmf_diary_add; feeds diary_entries.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/checksum.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/person_names.h"
#include "titles/diary.h"

enum { COLUMNS_MAX = 64, PERSON_NAME = 80, LOOK_BYTES = 1 << 16, NAMES_MAX = 10, ROLE_NONE = -1 };

/* ---- rows ------------------------------------------------------------------------------------ */

/* A text on the way from row to row. */
struct rows {
    const char *text;
    size_t n, at;
    char separator;
    int64_t line; /* line of the row that was read last */
    int64_t next_line;
    char *buffer; /* the fields of the row, one after the other: as long as the text */
    struct title_part field[COLUMNS_MAX];
    size_t n_fields;
    bool is_open; /* the text ends within quotes */
};

/* @return false without memory; the caller frees the buffer */
static bool rows_begin(struct rows *rows, const char *text, size_t n, char separator) {
    *rows = (struct rows){.text = text, .n = n, .separator = separator, .next_line = 1};
    if (n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) rows->at = 3;
    rows->buffer = memory_alloc(n + 1, 1);
    return rows->buffer != NULL;
}

/* Copies the field that begins here. @return its length */
static size_t take_quoted(struct rows *rows, char *out) {
    size_t length = 0;
    for (rows->at++;; rows->at++) {
        if (rows->at >= rows->n) {
            rows->is_open = true;
            return length;
        }
        const char c = rows->text[rows->at];
        if (c == '"' && (rows->at + 1 >= rows->n || rows->text[rows->at + 1] != '"')) break;
        if (c == '"') rows->at++;
        rows->next_line += c == '\n';
        out[length++] = c;
    }
    rows->at++;
    return length;
}

/* Copies what follows up to the end of the field. @return its length */
static size_t take_plain(struct rows *rows, char *out) {
    size_t length = 0;
    for (; rows->at < rows->n; rows->at++) {
        const char c = rows->text[rows->at];
        if (c == rows->separator || c == '\n') break;
        out[length++] = c;
    }
    return length;
}

static size_t take_field(struct rows *rows, char *out) {
    size_t length = 0;
    if (rows->at < rows->n && rows->text[rows->at] == '"') length = take_quoted(rows, out);
    length += take_plain(rows, out + length);
    while (length > 0 && (unsigned char)out[length - 1] <= ' ') length--;
    return length;
}

/* Columns beyond COLUMNS_MAX are ignored: no service has that many. @return whether there is a
 * row */
static bool rows_next(struct rows *rows) {
    size_t used = 0;
    if (rows->at >= rows->n) return false;
    rows->line = rows->next_line;
    for (rows->n_fields = 0;;) {
        struct title_part field = {rows->buffer + used, 0};
        field.n = take_field(rows, rows->buffer + used);
        while (field.n > 0 && (unsigned char)field.text[0] <= ' ') field.text++, field.n--;
        used = (size_t)(field.text - rows->buffer) + field.n;
        if (rows->n_fields < COLUMNS_MAX) rows->field[rows->n_fields++] = field;
        if (rows->at >= rows->n || rows->text[rows->at] != rows->separator) break;
        rows->at++;
    }
    rows->at++;
    rows->next_line++;
    return true;
}

/* ---- columns --------------------------------------------------------------------------------- */

enum role {
    ROLE_TITLE,
    ROLE_OTHER, /* the title in another language */
    ROLE_YEAR,
    ROLE_RATING,
    ROLE_CREATOR,
    ROLE_ALBUM,
    ROLE_ID,
    ROLE_DATE,
    ROLE_PLAYS,
    ROLE_STATUS, /* whether it was read yet */
    ROLE_PERSON,
    ROLE_TRIFLE, /* what kind of trailer it is; empty: none */
    ROLE_RANK,   /* place in a list of wishes, which may be rated all the same */
    ROLES
};

/* What tables of a service look like. Names are compared without capitals, blanks, _ and -. */
struct layout {
    const char *service;
    const char *needs[NAMES_MAX]; /* names that all of them have; * ends the beginning of one */
    size_t n_columns;             /* the number of columns; 0: any */
    const char *no_person;        /* a column whose name could be of people, and is not */
    const char *names[ROLES][NAMES_MAX];
};

/* In tables of no known service, the first of these that is there. */
#define RATING_NAMES                                                                               \
    { "rating", "myrating", "yourrating", "score", "myscore", "stars", "grade" }
#define DATE_NAMES                                                                                 \
    {                                                                                              \
        "daterated", "ratedat", "ratedon", "watcheddate", "dateread", "watchedat",                 \
            "lastwatchedat", "timestamp", "date", "time"                                           \
    }

static const struct layout layouts[] = {
    {.service = "letterboxd",
     .needs = {"letterboxduri", "name"},
     .names = {[ROLE_TITLE] = {"name"},
               [ROLE_YEAR] = {"year"},
               [ROLE_RATING] = {"rating"},
               [ROLE_DATE] = {"watcheddate", "date"}}},
    {.service = "imdb",
     .needs = {"const", "yourrating", "title"},
     .names = {[ROLE_TITLE] = {"title"},
               [ROLE_OTHER] = {"originaltitle"},
               [ROLE_YEAR] = {"year"},
               [ROLE_RATING] = {"yourrating"},
               [ROLE_ID] = {"const"},
               [ROLE_DATE] = {"daterated"},
               [ROLE_RANK] = {"position"}}},
    {.service = "goodreads",
     .needs = {"bookid", "myrating", "title"},
     .names = {[ROLE_TITLE] = {"title"},
               [ROLE_YEAR] = {"originalpublicationyear", "yearpublished"},
               [ROLE_RATING] = {"myrating"},
               [ROLE_CREATOR] = {"author"},
               [ROLE_DATE] = {"dateread"},
               [ROLE_PLAYS] = {"readcount"},
               [ROLE_STATUS] = {"exclusiveshelf"}}},
    {.service = "storygraph",
     .needs = {"readstatus", "starrating", "title"},
     .no_person = "isbn/uid",
     .names = {[ROLE_TITLE] = {"title"},
               [ROLE_RATING] = {"starrating"},
               [ROLE_CREATOR] = {"authors"},
               [ROLE_DATE] = {"lastdateread"},
               [ROLE_PLAYS] = {"readcount"},
               [ROLE_STATUS] = {"readstatus"}}},
    {.service = "trakt",
     .needs = {"trakt*", "title"},
     .names = {[ROLE_TITLE] = {"title"},
               [ROLE_YEAR] = {"year"},
               [ROLE_RATING] = {"rating", "myrating", "yourrating"},
               [ROLE_ID] = {"imdbid", "imdb"},
               [ROLE_DATE] = {"ratedat", "watchedat", "lastwatchedat"},
               [ROLE_PLAYS] = {"plays"}}},
    {.service = "netflix",
     .needs = {"profilename", "supplementalvideotype", "title"},
     .no_person = "devicetype",
     .names = {[ROLE_TITLE] = {"title"},
               [ROLE_DATE] = {"starttime"},
               [ROLE_PERSON] = {"profilename"},
               [ROLE_TRIFLE] = {"supplementalvideotype"}}},
    {.service = "netflix",
     .needs = {"title", "date"},
     .n_columns = 2,
     .names = {[ROLE_TITLE] = {"title"}}},
    {.service = "lastfm",
     .needs = {"artist", "track"},
     .names = {[ROLE_TITLE] = {"track"},
               [ROLE_CREATOR] = {"artist"},
               [ROLE_ALBUM] = {"album"},
               [ROLE_DATE] = {"utctime", "date"},
               [ROLE_PLAYS] = {"plays", "playcount"}}},
    {.service = "dpmf",
     .needs = {"item", "rating", "title"},
     .names = {[ROLE_TITLE] = {"title"},
               [ROLE_RATING] = {"rating"},
               [ROLE_ID] = {"item"},
               [ROLE_DATE] = DATE_NAMES}},
    {.service = "titles",
     .needs = {"title"},
     .names = {[ROLE_TITLE] = {"title"},
               [ROLE_YEAR] = {"year", "releaseyear"},
               [ROLE_RATING] = RATING_NAMES,
               [ROLE_CREATOR] = {"author", "artist", "creator"},
               [ROLE_ID] = {"item", "itemid", "id"},
               [ROLE_DATE] = DATE_NAMES,
               [ROLE_PLAYS] = {"plays", "playcount", "count"}}},
    {.service = "titles",
     .needs = {"name", "year"},
     .names = {[ROLE_TITLE] = {"name"},
               [ROLE_YEAR] = {"year"},
               [ROLE_RATING] = RATING_NAMES,
               [ROLE_DATE] = DATE_NAMES}},
};

/* Tables of somebody's that name people are for the reader of ratings. */
static const char *const person_names[] = {"user", "userid", "uid", "username"};

/* Last.fm's scrobbles often come without names: artist, album, track, time. */
static const char *const scrobble_names[] = {"artist", "album", "track", "date"};

static bool is_name(const struct title_part *field, const char *name) {
    size_t at = 0;
    for (size_t i = 0; i < field->n; i++) {
        const char c = field->text[i];
        if (c == ' ' || c == '_' || c == '-') continue;
        if (name[at] == '*') return true;
        const char small = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
        if (name[at] == '\0' || small != name[at]) return false;
        at++;
    }
    return name[at] == '\0' || name[at] == '*';
}

static int column_of(const struct rows *rows, const char *name) {
    for (size_t i = 0; i < rows->n_fields; i++)
        if (is_name(&rows->field[i], name)) return (int)i;
    return ROLE_NONE;
}

static bool fits(const struct rows *rows, const struct layout *layout) {
    if (layout->n_columns > 0 && layout->n_columns != rows->n_fields) return false;
    for (size_t i = 0; i < NAMES_MAX && layout->needs[i]; i++)
        if (column_of(rows, layout->needs[i]) < 0) return false;
    return true;
}

/* "31 Dec 2020 12:34", or nothing, while a song is playing. */
static bool is_scrobble_time(const struct title_part *field) {
    if (field->n == 0) return true;
    if (field->n != 17 || field->text[2] != ' ' || field->text[6] != ' ') return false;
    return field->text[11] == ' ' && field->text[14] == ':';
}

/* The layout of a table and where its columns are. */
struct table {
    const struct layout *layout;
    int column[ROLES]; /* or ROLE_NONE */
    bool has_names;    /* its first row is names */
    unsigned order;    /* what its dates say of day and month */

    int answers[COLUMNS_MAX]; /* columns of yes and no */
    size_t n_answers;

    /* Other columns whose names could be of people: each must have one value. */
    struct people_column {
        int column;
        char name[PERSON_NAME]; /* as much of it as messages show */
        size_t n;
        bool has_value;
        uint64_t value; /* hash of the first value */
    } people[COLUMNS_MAX];
    size_t n_people;
};

static const struct layout *layout_of(const char *service) {
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0]; i++)
        if (strcmp(layouts[i].service, service) == 0) return &layouts[i];
    return NULL;
}

static void place_scrobbles(struct table *table) {
    table->layout = layout_of("lastfm");
    for (size_t role = 0; role < ROLES; role++) {
        table->column[role] = ROLE_NONE;
        for (int i = 0; i < 4 && table->layout->names[role][0]; i++)
            for (size_t j = 0; j < NAMES_MAX && table->layout->names[role][j]; j++)
                if (strcmp(scrobble_names[i], table->layout->names[role][j]) == 0)
                    table->column[role] = i;
    }
}

/* Finds the layout by the first row. @return false: none fits */
static bool table_find(struct table *table, const struct rows *rows) {
    *table = (struct table){.has_names = true};
    for (size_t i = 0; i < sizeof person_names / sizeof person_names[0]; i++)
        if (column_of(rows, person_names[i]) >= 0) return false;
    for (size_t i = 0; i < sizeof layouts / sizeof layouts[0] && !table->layout; i++)
        if (fits(rows, &layouts[i])) table->layout = &layouts[i];
    if (!table->layout && rows->n_fields == 4 && is_scrobble_time(&rows->field[3])) {
        table->has_names = false;
        place_scrobbles(table);
        return rows->field[3].n > 0;
    }
    for (size_t role = 0; role < ROLES && table->layout; role++) {
        table->column[role] = ROLE_NONE;
        for (size_t j = NAMES_MAX; j-- > 0;) {
            const char *name = table->layout->names[role][j];
            const int column = name ? column_of(rows, name) : ROLE_NONE;
            if (column >= 0) table->column[role] = column;
        }
    }
    return table->layout != NULL;
}

static const struct title_part *cell(const struct table *table, const struct rows *rows,
                                     enum role role) {
    static const struct title_part none = {"", 0};
    const int column = table->column[role];
    return column >= 0 && (size_t)column < rows->n_fields ? &rows->field[column] : &none;
}

/* ---- the separator --------------------------------------------------------------------------- */

/* The separator with which the first row has a layout. @return whether there is one */
static bool rows_open(struct rows *rows, struct table *table, const char *bytes, size_t n,
                      bool *has_memory) {
    static const char separators[] = {',', '\t', ';'};
    const size_t looked = n < LOOK_BYTES ? n : LOOK_BYTES;
    *has_memory = true;
    for (size_t i = 0; i < sizeof separators && *has_memory; i++) {
        *has_memory = rows_begin(rows, bytes, looked, separators[i]);
        if (*has_memory && rows_next(rows) && table_find(table, rows)) {
            free(rows->buffer);
            *has_memory = rows_begin(rows, bytes, n, separators[i]);
            return *has_memory;
        }
        free(rows->buffer);
    }
    rows->buffer = NULL;
    return false;
}

const char *diary_table_service(const char *bytes, size_t n) {
    struct rows rows;
    struct table table;
    bool has_memory;
    if (!rows_open(&rows, &table, bytes, n, &has_memory)) return NULL;
    free(rows.buffer);
    return table.layout->service;
}

/* ---- cells ----------------------------------------------------------------------------------- */

static bool is_status(const struct title_part *field, const char *status) {
    return field->n == strlen(status) && strncasecmp(field->text, status, field->n) == 0;
}

/* Whether a book is still to be read. */
static bool is_unread(const struct title_part *status) {
    static const char *const unread[] = {"to-read", "currently-reading", "want-to-read"};
    for (size_t i = 0; i < sizeof unread / sizeof unread[0]; i++)
        if (is_status(status, unread[i])) return true;
    return false;
}

/* A rating, with a point or a comma. @return false: it is no number */
static bool read_rating(const struct title_part *field, double *rating) {
    char text[32];
    *rating = NAN;
    if (field->n == 0) return true;
    if (field->n > sizeof text) return false;
    for (size_t i = 0; i < field->n; i++) text[i] = field->text[i] == ',' ? '.' : field->text[i];
    return number_parse_double(text, field->n, rating) == NUMBER_OK;
}

/* How often; once where nothing says otherwise. */
static uint64_t read_plays(const struct title_part *field) {
    int64_t plays;
    const bool is_count = number_parse_int64(field->text, field->n, &plays) == NUMBER_OK;
    return is_count && plays > 0 ? (uint64_t)plays : 1;
}

/* A spreadsheet's apostrophe before what it would take for a formula. */
static struct title_part without_apostrophe(struct title_part title) {
    if (title.n > 1 && title.text[0] == '\'' && memchr("=+-@", title.text[1], 4) != NULL)
        title.text++, title.n--;
    return title;
}

/* Whether a column such as "liked" has a no in this row: without a rating, the row would count as a
 * yes. */
static bool says_no(const struct table *table, const struct rows *rows) {
    static const char *const words_of_no[] = {"no", "n", "false", "f", "0", "0.0"};
    for (size_t i = 0; i < table->n_answers; i++) {
        if ((size_t)table->answers[i] >= rows->n_fields) continue;
        for (size_t j = 0; j < sizeof words_of_no / sizeof words_of_no[0]; j++)
            if (is_status(&rows->field[table->answers[i]], words_of_no[j])) return true;
    }
    return false;
}

static int take_row(struct dpmf_diary *diary, const struct table *table, const struct rows *rows,
                    struct dpmf_error *error) {
    const struct title_part *year = cell(table, rows, ROLE_YEAR);
    const struct title_part *date = cell(table, rows, ROLE_DATE);
    struct diary_record record = {.service = diary_service_find(table->layout->service),
                                  .title = without_apostrophe(*cell(table, rows, ROLE_TITLE)),
                                  .other = *cell(table, rows, ROLE_OTHER),
                                  .creator = *cell(table, rows, ROLE_CREATOR),
                                  .album = *cell(table, rows, ROLE_ALBUM),
                                  .id = *cell(table, rows, ROLE_ID),
                                  .time = diary_date_read(date->text, date->n, table->order),
                                  .year = title_year(year->text, year->n),
                                  .plays = read_plays(cell(table, rows, ROLE_PLAYS)),
                                  .line = rows->line,
                                  .is_trifle = cell(table, rows, ROLE_TRIFLE)->n > 0,
                                  .is_wish = is_unread(cell(table, rows, ROLE_STATUS))};
    if (!read_rating(cell(table, rows, ROLE_RATING), &record.rating)) {
        diary_record_reject(diary, rows->line, "the rating is not a number");
        return 0;
    }
    if (isnan(record.rating) && says_no(table, rows)) {
        diary_record_reject(diary, rows->line,
                            "a column says no, as of a title that was not liked or not watched");
        return 0;
    }
    record.is_wish |= table->column[ROLE_RANK] >= 0 && isnan(record.rating);
    return diary_record_add(diary, &record, error);
}

/* ---- a table --------------------------------------------------------------------------------- */

static bool is_used(const struct table *table, size_t column) {
    bool used = false;
    for (size_t role = 0; role < ROLES; role++) used |= table->column[role] == (int)column;
    return used;
}

static bool is_answer(const struct title_part *name) {
    static const char *const names[] = {"liked",    "like",      "likes",    "watched", "seen",
                                        "read",     "heard",     "played",   "owned",   "favourite",
                                        "finished", "completed", "favorite", "loved"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (is_name(name, names[i])) return true;
    return false;
}

/* Finds the columns that are not used, by the row of names; of a known service nobody misses
 * them. */
static void find_unused(struct dpmf_diary *diary, struct table *table, const struct rows *rows) {
    size_t n = strlen(diary->unused);
    if (diary_service_find(table->layout->service)->kind != DIARY_ANY) return;
    for (size_t i = 0; i < rows->n_fields; i++) {
        const struct title_part *name = &rows->field[i];
        if (is_used(table, i) || name->n == 0) continue;
        if (is_answer(name)) table->answers[table->n_answers++] = (int)i;
        if (n + name->n + 3 > sizeof diary->unused) continue;
        n += (size_t)snprintf(diary->unused + n, sizeof diary->unused - n, "%s%.*s",
                              n > 0 ? ", " : "", (int)name->n, name->text);
    }
}

/* Finds the columns that could name people, by the row of names. */
static void find_people(struct table *table, const struct rows *rows) {
    for (size_t i = 0; i < rows->n_fields; i++) {
        const struct title_part *name = &rows->field[i];
        const bool is_known = is_used(table, i) ||
                              (table->layout->no_person && is_name(name, table->layout->no_person));
        if (is_known || !column_could_name_person(name->text, name->n)) continue;
        struct people_column *people = &table->people[table->n_people++];
        people->column = (int)i;
        people->n = name->n < PERSON_NAME ? name->n : PERSON_NAME;
        memcpy(people->name, name->text, people->n);
    }
}

/* Refuses a row of another person than those before. */
static int check_person(struct dpmf_diary *diary, struct table *table, const struct rows *rows,
                        const char *name, struct dpmf_error *error) {
    static const struct title_part profile = {"Profile Name", 12};
    for (size_t i = 0; i < table->n_people; i++) {
        struct people_column *people = &table->people[i];
        if ((size_t)people->column >= rows->n_fields) continue;
        const struct title_part *value = &rows->field[people->column];
        const uint64_t hash = checksum64_seeded(value->text, value->n, 0);
        if (people->has_value && people->value != hash)
            return diary_refuse_people(&(struct title_part){people->name, people->n}, name,
                                       rows->line, error);
        people->has_value = true;
        people->value = hash;
    }
    if (table->column[ROLE_PERSON] < 0) return 0;
    return diary_person_check(diary, diary_service_find(table->layout->service),
                              cell(table, rows, ROLE_PERSON), &profile, name, rows->line, error);
}

/* Looks at all dates for what comes first, the day or the month, and goes back to the first row. */
static void find_order(struct table *table, struct rows *rows) {
    const struct rows begin = *rows;
    if (table->column[ROLE_DATE] < 0) return;
    while (rows_next(rows)) {
        const struct title_part *date = cell(table, rows, ROLE_DATE);
        table->order |= diary_date_order(date->text, date->n);
    }
    *rows = begin;
}

static int read_rows(struct dpmf_diary *diary, struct table *table, struct rows *rows,
                     const char *name, struct dpmf_error *error) {
    bool is_first = table->has_names;
    int code = 0;
    while (code == 0 && rows_next(rows)) {
        if (rows->is_open) {
            error_set(error, DPMF_ERR_INPUT_QUOTE, "a quoted field is not closed");
            error_place(error, name, rows->line, 0);
            return DPMF_ERR_INPUT_QUOTE;
        }
        if (is_first || (rows->n_fields == 1 && rows->field[0].n == 0)) { /* names; a blank line */
            if (is_first) find_people(table, rows);
            if (is_first) find_unused(diary, table, rows);
            is_first = false;
            continue;
        }
        code = check_person(diary, table, rows, name, error);
        if (code == 0) code = take_row(diary, table, rows, error);
    }
    return code;
}

int diary_table_read(struct dpmf_diary *diary, const char *bytes, size_t n, const char *name,
                     struct dpmf_error *error) {
    struct rows rows;
    struct table table;
    bool has_memory;
    if (!rows_open(&rows, &table, bytes, n, &has_memory))
        return has_memory ? error_set(error, DPMF_ERR_INPUT_UNKNOWN_FORMAT,
                                      "no known service writes such a table")
                          : error_no_memory(error);
    diary->info.service = table.layout->service;
    find_order(&table, &rows);
    const int code = read_rows(diary, &table, &rows, name, error);
    free(rows.buffer);
    return code;
}
