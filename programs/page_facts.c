/*
 * Kinds and years of items, from the table that has their titles. A header names the columns;
 * without one, MovieLens' movies.dat is known by its shape: item, title, kinds. A year also comes
 * from the end of a title, as in "Dune (2021)". Fed by the catalogue; feeds the page, which filters
 * by it and names groups of titles after it.
 */
#include "page_facts.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "model_use.h"
#include "page_make.h"
#include "report.h"
#include "text.h"

enum {
    KINDS_MAX = 400,   /* more of them are no kinds, but words of single titles */
    KIND_BYTES = 60,   /* longest name of one */
    OF_ITEM_MAX = 12,  /* kinds of one item */
    YEAR_LEAST = 1000, /* earliest year that counts as one */
    YEAR_MOST = 2999,
    FIELD_NONE = -1,
};

struct facts {
    const struct dpmf_model *model;
    uint64_t items;
    char (*kinds)[KIND_BYTES + 1];
    size_t n_kinds;
    int16_t (*of)[OF_ITEM_MAX]; /* kinds of each item, ended by -1 */
    uint16_t *years;            /* the year of each item; 0: unknown */
    bool begun, is_full, has_any;
    uint64_t left_out;                        /* names of kinds that are too long or not UTF-8 */
    int item_at, title_at, kinds_at, year_at; /* columns, or FIELD_NONE */
};

/* ---- columns --------------------------------------------------------------------------------- */

static bool is_one_of(const struct dpmf_field *field, const char *const *names) {
    for (; *names; names++)
        if (strcasecmp(field->text, *names) == 0) return true;
    return false;
}

static void take_header(struct facts *facts, const struct dpmf_table_record *row) {
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
static bool begin(struct facts *facts, const struct dpmf_table_record *row) {
    facts->item_at = facts->title_at = facts->kinds_at = facts->year_at = FIELD_NONE;
    facts->begun = true;
    take_header(facts, row);
    if (facts->item_at >= 0) return true;
    facts->item_at = 0;
    facts->title_at = row->n > 1 ? 1 : FIELD_NONE;
    facts->kinds_at = row->n == 3 && strchr(row->field[2].text, '|') ? 2 : FIELD_NONE;
    facts->year_at = FIELD_NONE;
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
static int find_kind(struct facts *facts, const char *name, size_t n) {
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

static void take_kinds(struct facts *facts, uint64_t item, const struct dpmf_field *field) {
    size_t n_of = 0;
    for (const char *at = field->text; *at && n_of + 1 < OF_ITEM_MAX;) {
        size_t n = strcspn(at, "|;,");
        const char *next = at[n] ? at + n + 1 : at + n;
        for (; n > 0 && at[0] == ' '; n--) at++;
        while (n > 0 && at[n - 1] == ' ') n--;
        const bool is_name = n > 0 && at[0] != '('; /* "(no genres listed)" is none */
        const bool is_usable = is_name && n <= KIND_BYTES && page_is_text(at, n);
        int kind = is_usable ? find_kind(facts, at, n) : -1;
        if (kind >= 0) facts->of[item][n_of++] = (int16_t)kind;
        facts->left_out += is_name && !is_usable;
        at = next;
    }
    facts->of[item][n_of] = -1;
    facts->has_any |= n_of > 0;
}

static int take_row(void *self, const struct dpmf_table_record *row, struct dpmf_error *error) {
    struct facts *facts = self;
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
    return 0;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static struct dpmf_json *write_facts(const struct facts *facts) {
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_begin_array(json, "kinds");
    for (size_t i = 0; i < facts->n_kinds && !facts->is_full; i++)
        dpmf_json_string(json, NULL, facts->kinds[i]);
    dpmf_json_end_array(json);
    dpmf_json_begin_array(json, "of");
    for (uint64_t item = 0; item < facts->items; item++) {
        dpmf_json_begin_array(json, NULL);
        for (const int16_t *kind = facts->of[item]; *kind >= 0 && !facts->is_full; kind++)
            dpmf_json_int(json, NULL, *kind);
        dpmf_json_end_array(json);
    }
    dpmf_json_end_array(json);
    dpmf_json_begin_array(json, "years");
    for (uint64_t item = 0; item < facts->items; item++)
        dpmf_json_uint(json, NULL, facts->years[item]);
    dpmf_json_end_array(json);
    dpmf_json_end_object(json);
    return json;
}

int page_facts_read(struct invocation *invocation, const struct dpmf_model *model,
                    struct dpmf_json **json) {
    struct dpmf_model_info info;
    struct dpmf_error error = {0};
    struct facts facts = {.model = model};
    int status = STATUS_DONE;
    *json = NULL;
    if (!command_has(invocation, OPTION_CATALOGUE)) return STATUS_DONE;
    dpmf_model_info(model, &info);
    facts.items = info.items;
    facts.kinds = calloc(KINDS_MAX, sizeof *facts.kinds);
    facts.of = malloc((size_t)(info.items + 1) * sizeof *facts.of);
    facts.years = calloc((size_t)info.items + 1, sizeof *facts.years);
    if (!facts.kinds || !facts.of || !facts.years) {
        status = model_use_no_memory();
        goto out;
    }
    for (uint64_t item = 0; item < info.items; item++) facts.of[item][0] = -1;
    if (dpmf_table_read_whole(invocation->value[OPTION_CATALOGUE], &invocation->run, take_row,
                              &facts, &error) != 0) {
        status = report_error_print(invocation, &error);
        goto out;
    }
    if (facts.is_full)
        terminal_note_print(&invocation->terminal,
                            "the catalogue has more than %d kinds: the page does not filter by "
                            "them",
                            KINDS_MAX);
    if (facts.left_out > 0)
        terminal_note_print(&invocation->terminal,
                            "%s of items are too long or not UTF-8, and left out of the filter",
                            text_count(facts.left_out, "kind").text);
    if (facts.has_any) {
        *json = write_facts(&facts);
        if (dpmf_json_text(*json, NULL) == NULL) status = model_use_no_memory();
    }
out:
    free(facts.kinds);
    free(facts.of);
    free(facts.years);
    return status;
}
