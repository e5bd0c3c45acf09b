/*
 * Kinds and years of items, from the table that has their titles. A header names the columns;
 * without one, MovieLens' movies.dat is known by its shape, item, title, kinds, and u.item by its
 * columns of 0 and 1. A year also comes from the end of a title, as in "Dune (2021)". Fed by a
 * catalogue; feeds scores at home (recommend/facts.h), and the page, which also filters by it and
 * names groups of titles after it.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/arguments.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/utf8.h"
#include "dpmf.h"
#include "dpmf_text.h"
#include "tables/movielens_items.h"

enum {
    KINDS_MAX = 400,   /* more of them are no kinds, but words of single titles */
    KIND_BYTES = 60,   /* longest name of one */
    OF_ITEM_MAX = 12,  /* kinds of one item */
    YEAR_LEAST = 1000, /* earliest year that counts as one */
    YEAR_MOST = 2999,
    FIELD_NONE = -1,
};

struct dpmf_facts {
    const struct dpmf_model *model;
    uint64_t items;
    char (*kinds)[KIND_BYTES + 1];
    size_t n_kinds;
    int16_t (*of)[OF_ITEM_MAX]; /* kinds of each item, ended by -1 */
    uint16_t *years;            /* the year of each item; 0: unknown */
    bool begun, is_full, has_any;
    bool is_u_item;    /* kinds are columns of 0 and 1 (tables/movielens_items.h) */
    uint64_t left_out; /* names of kinds that are too long or not UTF-8 */
    int item_at, title_at, kinds_at, year_at; /* columns, or FIELD_NONE */
    struct dpmf_item_facts found;
    uint64_t *start; /* what it points to */
    uint16_t *flat;
};

/* Whether it is UTF-8 without control characters. */
static bool is_text(const char *text, size_t n) {
    for (size_t i = 0; i < n;) {
        const unsigned char *at = (const unsigned char *)text + i;
        const size_t length = utf8_sequence(text + i, n - i);
        if (length == 0 || at[0] < 0x20 || at[0] == 0x7f) return false;
        if (length == 2 && at[0] == 0xc2 && at[1] < 0xa0) return false;
        i += length;
    }
    return true;
}

/* ---- columns --------------------------------------------------------------------------------- */

static bool is_one_of(const struct dpmf_field *field, const char *const *names) {
    for (; *names; names++)
        if (strcasecmp(field->text, *names) == 0) return true;
    return false;
}

static void take_header(struct dpmf_facts *facts, const struct dpmf_table_record *row) {
    static const char *const kinds[] = {"genres",   "genre",    "kinds", "kind",   "categories",
                                        "category", "subjects", "style", "styles", NULL};
    static const char *const years[] = {"year",         "release_year",     "released", "published",
                                        "release_date", "publication_year", NULL};
    for (size_t i = 0; i < row->n; i++) {
        const struct dpmf_field *field = &row->field[i];
        const char *role = dpmf_table_column_role(field->text, field->length);
        if (role && strcmp(role, "item") == 0 && facts->item_at < 0) facts->item_at = (int)i;
        if (role && strcmp(role, "title") == 0 && facts->title_at < 0) facts->title_at = (int)i;
        if (is_one_of(field, kinds) && facts->kinds_at < 0) facts->kinds_at = (int)i;
        if (is_one_of(field, years) && facts->year_at < 0) facts->year_at = (int)i;
    }
}

/* Whether the first row was a header. */
static bool begin(struct dpmf_facts *facts, const struct dpmf_table_record *row) {
    facts->item_at = facts->title_at = facts->kinds_at = facts->year_at = FIELD_NONE;
    facts->begun = true;
    take_header(facts, row);
    if (facts->item_at >= 0) return true;
    facts->item_at = 0;
    facts->title_at = row->n > 1 ? 1 : FIELD_NONE;
    facts->kinds_at = row->n == 3 && strchr(row->field[2].text, '|') ? 2 : FIELD_NONE;
    facts->year_at = FIELD_NONE;
    facts->is_u_item = movielens_is_u_item(row);
    /* The first title of movies.dat may be of one kind alone: its second column ends with a year.
     * */
    if (row->n == 3 && row->field[1].length > 6 &&
        row->field[1].text[row->field[1].length - 1] == ')')
        facts->kinds_at = 2;
    return false;
}

static const struct dpmf_field *field_at(const struct dpmf_table_record *row, int at) {
    return at >= 0 && (size_t)at < row->n ? &row->field[at] : NULL;
}

/* ---- values ---------------------------------------------------------------------------------- */

static unsigned four_digits(const char *text) {
    unsigned year = 0;
    for (int i = 0; i < 4; i++) {
        if (text[i] < '0' || text[i] > '9') return 0;
        year = 10 * year + (unsigned)(text[i] - '0');
    }
    return year >= YEAR_LEAST && year <= YEAR_MOST ? year : 0;
}

/* "1995", or a date that begins so. */
static unsigned year_of_field(const struct dpmf_field *field) {
    if (!field || field->length < 4) return 0;
    return field->text[4] >= '0' && field->text[4] <= '9' ? 0 : four_digits(field->text);
}

/* "Dune (2021)". */
static unsigned year_of_title(const struct dpmf_field *field) {
    if (!field) return 0;
    size_t n = field->length;
    while (n > 0 && field->text[n - 1] == ' ') n--;
    if (n < 6 || field->text[n - 1] != ')' || field->text[n - 6] != '(') return 0;
    return four_digits(field->text + n - 5);
}

/* @return its number; -1 when there is no room for another */
static int find_kind(struct dpmf_facts *facts, const char *name, size_t n) {
    for (size_t i = 0; i < facts->n_kinds; i++)
        if (strlen(facts->kinds[i]) == n && memcmp(facts->kinds[i], name, n) == 0) return (int)i;
    if (facts->n_kinds == KINDS_MAX) {
        facts->is_full = true;
        return -1;
    }
    memcpy(facts->kinds[facts->n_kinds], name, n);
    facts->kinds[facts->n_kinds][n] = '\0';
    return (int)facts->n_kinds++;
}

static void take_kinds(struct dpmf_facts *facts, uint64_t item, const struct dpmf_field *field) {
    size_t n_of = 0;
    for (const char *at = field->text; *at && n_of + 1 < OF_ITEM_MAX;) {
        size_t n = strcspn(at, "|;,");
        const char *next = at[n] ? at + n + 1 : at + n;
        for (; n > 0 && at[0] == ' '; n--) at++;
        while (n > 0 && at[n - 1] == ' ') n--;
        const bool is_name = n > 0 && at[0] != '('; /* "(no genres listed)" is none */
        const bool is_usable = is_name && n <= KIND_BYTES && is_text(at, n);
        int kind = is_usable ? find_kind(facts, at, n) : -1;
        if (kind >= 0) facts->of[item][n_of++] = (int16_t)kind;
        facts->left_out += is_name && !is_usable;
        at = next;
    }
    facts->of[item][n_of] = -1;
    facts->has_any |= n_of > 0;
}

static int take_row(void *self, const struct dpmf_table_record *row, struct dpmf_error *error) {
    struct dpmf_facts *facts = self;
    (void)error;
    if (!facts->begun && begin(facts, row)) return 0;
    const struct dpmf_field *id = field_at(row, facts->item_at);
    const struct dpmf_field *kinds = field_at(row, facts->kinds_at);
    uint64_t item = id ? dpmf_model_find_item(facts->model, id->text, id->length) : UINT64_MAX;
    if (item >= facts->items) return 0;
    unsigned year = year_of_field(field_at(row, facts->year_at));
    if (year == 0) year = year_of_title(field_at(row, facts->title_at));
    facts->years[item] = (uint16_t)year;
    facts->has_any |= year > 0;
    if (kinds) take_kinds(facts, item, kinds);
    if (facts->is_u_item && movielens_is_u_item(row)) {
        char text[U_ITEM_GENRES_ROOM];
        const struct dpmf_field genres = {text, movielens_genres(row, text), 0};
        take_kinds(facts, item, &genres);
    }
    return 0;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static int make_room(struct dpmf_facts *facts, struct dpmf_error *error) {
    const size_t n = (size_t)facts->items;
    facts->kinds = memory_alloc_zero(KINDS_MAX, sizeof *facts->kinds);
    facts->of = memory_alloc(n + 1, sizeof *facts->of);
    facts->years = memory_alloc_zero(n + 1, sizeof *facts->years);
    if (!facts->kinds || !facts->of || !facts->years) return error_no_memory(error);
    for (size_t item = 0; item < n; item++) facts->of[item][0] = -1;
    return 0;
}

/* The kinds of all items in one row, as struct dpmf_item_facts has them. */
static int flatten(struct dpmf_facts *facts, struct dpmf_error *error) {
    const size_t n = (size_t)facts->items;
    uint64_t at = 0;
    facts->start = memory_alloc_zero(n + 1, sizeof *facts->start);
    for (size_t item = 0; item < n && !facts->is_full; item++)
        for (const int16_t *kind = facts->of[item]; *kind >= 0; kind++) at++;
    facts->flat = memory_alloc((size_t)at + 1, sizeof *facts->flat);
    if (!facts->start || !facts->flat) return error_no_memory(error);
    at = 0;
    for (size_t item = 0; item < n; item++) {
        for (const int16_t *kind = facts->of[item]; *kind >= 0 && !facts->is_full; kind++)
            facts->flat[at++] = (uint16_t)*kind;
        facts->start[item + 1] = at;
    }
    facts->found = (struct dpmf_item_facts){.years = facts->years,
                                            .kind_start = facts->start,
                                            .kinds = facts->flat,
                                            .n_kinds = facts->is_full ? 0 : facts->n_kinds};
    return 0;
}

int dpmf_facts_read(const struct dpmf_model *model, const char *path, const struct dpmf_run *run,
                    struct dpmf_facts **facts, struct dpmf_error *error) {
    struct dpmf_model_info info;
    int code = arguments_check(error, "model path facts", model, path, facts);
    if (facts) *facts = NULL;
    if (code < 0) return code;
    struct dpmf_facts *made = memory_alloc_zero(1, sizeof *made);
    if (!made) return error_no_memory(error);
    dpmf_model_info(model, &info);
    made->model = model;
    made->items = info.items;
    code = make_room(made, error);
    if (code == 0) code = dpmf_table_read_whole(path, run, take_row, made, error);
    if (code == 0) code = flatten(made, error);
    if (code != 0) {
        dpmf_facts_free(made);
        return code;
    }
    made->model = NULL;
    *facts = made;
    return 0;
}

void dpmf_facts_free(struct dpmf_facts *facts) {
    if (!facts) return;
    free(facts->kinds);
    free(facts->of);
    free(facts->years);
    free(facts->start);
    free(facts->flat);
    free(facts);
}

const struct dpmf_item_facts *dpmf_facts_items(const struct dpmf_facts *facts) {
    return facts && facts->has_any ? &facts->found : NULL;
}

const char *dpmf_facts_kind(const struct dpmf_facts *facts, uint64_t kind) {
    return facts && kind < facts->found.n_kinds ? facts->kinds[kind] : NULL;
}

uint64_t dpmf_facts_left_out(const struct dpmf_facts *facts, bool *all) {
    if (all) *all = facts && facts->is_full;
    return facts ? facts->left_out : 0;
}
