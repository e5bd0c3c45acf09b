/*
 * A ledger in memory and as text. The text is JSON lines: a head, the budgets, the releases and
 * other runs in the order they were entered, and an end that counts them; every line ends with a
 * checksum that also depends on the line above. docs/formats/ledger.md specifies it. Fed by
 * ledger.c with the bytes of the file; feeds it, and ledger_total.c, with entries.
 */
#include "ledger/ledger_book.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/number.h"
#include "dpmf_text.h"
#include "ledger/ledger_budget.h"
#include "ledger/ledger_name.h"

/* A ledger without periods is written in version 2, which older builds read. */
enum { FORMAT_VERSION = 2, FORMAT_PERIODS = 3, FIELD_TEXT_MAX = 1024 };

static const double LARGEST = 1e9;                       /* far above any mu or epsilon */
static const int64_t LAST_TIME = INT64_C(253402300799);  /* the end of the year 9999 */
static const int64_t LAST_GENERATION = INT64_C(1) << 53; /* that every JSON reader can say */
static const char *const STATES[] = {"reserved", "committed", "returned"}; /* enum ledger_state */
static const char *const USES[] = {"research", "tuning"};                  /* its end */
enum { N_KINDS = DPMF_CLAIM_NOT_PRIVATE }; /* what is not private is no release */

void ledger_book_free(struct ledger_book *book) {
    free(book->budgets);
    free(book->entries);
    memset(book, 0, sizeof *book);
}

/* ---- what may be recorded -------------------------------------------------------------------- */

static bool id_is_valid(const char *id) {
    return strnlen(id, LEDGER_ID_TEXT) == LEDGER_ID_TEXT - 1 &&
           strspn(id, "0123456789abcdef") == LEDGER_ID_TEXT - 1;
}

const char *ledger_entry_fault(const struct ledger_entry *entry) {
    const char *fault = ledger_name_fault(entry->population);
    if (fault) return "the population's name is not fit for the ledger";
    if (!id_is_valid(entry->id)) return "the release's id is not 32 hexadecimal digits";
    if (entry->time < 0 || entry->time > LAST_TIME) return "the time makes no sense";
    if (!ledger_is_release(entry)) return NULL;
    if (!(entry->mu > 0 && entry->mu <= LARGEST)) return "mu is not a number above 0";
    if ((int)entry->claim < 0 || (int)entry->claim >= N_KINDS)
        return "what is not private is not a release";
    bool is_pure = entry->delta == 0 && entry->claim == DPMF_CLAIM_CONDITIONAL;
    if (!is_pure && !(entry->delta > 0 && entry->delta < 1)) return "delta is not between 0 and 1";
    if (!(entry->epsilon >= 0 && entry->epsilon <= LARGEST)) return "epsilon makes no sense";
    if (!cohort_is_valid(&entry->cohort)) return "the period of first records is empty";
    return NULL;
}

/* ---- looking up and adding ------------------------------------------------------------------- */

struct ledger_entry *ledger_book_find(const struct ledger_book *book, const char *id) {
    for (size_t i = 0; i < book->n_entries; i++)
        if (strcmp(book->entries[i].id, id) == 0) return &book->entries[i];
    return NULL;
}

int ledger_book_add(struct ledger_book *book, const struct ledger_entry *entry,
                    struct dpmf_error *error) {
    if (!memory_reserve(&book->entries, &book->entries_capacity, book->n_entries + 1,
                        sizeof *book->entries))
        return error_no_memory(error);
    book->entries[book->n_entries++] = *entry;
    return 0;
}

static struct ledger_budget *find_budget(const struct ledger_book *book, const char *population) {
    for (size_t i = 0; i < book->n_budgets; i++)
        if (strcmp(book->budgets[i].population, population) == 0) return &book->budgets[i];
    return NULL;
}

struct dpmf_budget ledger_book_budget(const struct ledger_book *book, const char *population) {
    const struct ledger_budget *budget = find_budget(book, population);
    return budget ? budget->budget : (struct dpmf_budget){0};
}

bool ledger_book_knows(const struct ledger_book *book, const char *population) {
    bool is_known = find_budget(book, population) != NULL;
    for (size_t i = 0; i < book->n_entries && !is_known; i++)
        is_known = strcmp(book->entries[i].population, population) == 0;
    return is_known;
}

static int add_budget(struct ledger_book *book, const char *population,
                      const struct dpmf_budget *budget, struct dpmf_error *error) {
    if (!memory_reserve(&book->budgets, &book->budgets_capacity, book->n_budgets + 1,
                        sizeof *book->budgets))
        return error_no_memory(error);
    struct ledger_budget *added = &book->budgets[book->n_budgets++];
    memset(added, 0, sizeof *added);
    snprintf(added->population, sizeof added->population, "%s", population);
    added->budget = *budget;
    return 0;
}

int ledger_book_set_budget(struct ledger_book *book, const char *population,
                           const struct dpmf_budget *budget, struct dpmf_error *error) {
    struct ledger_budget *found = find_budget(book, population);
    if (!found) return budget->mu > 0 ? add_budget(book, population, budget, error) : 0;
    found->budget = *budget;
    if (budget->mu > 0) return 0;
    size_t after = book->n_budgets - (size_t)(found - book->budgets) - 1;
    memmove(found, found + 1, after * sizeof *found);
    book->n_budgets--;
    return 0;
}

/* ---- lines ----------------------------------------------------------------------------------- */

uint64_t ledger_book_seal(const char *line, size_t n, uint64_t previous) {
    return checksum64_seeded(line, n, previous);
}

/* Text in the making; `seal` is that of the last line. */
struct text {
    struct byte_buffer buffer;
    uint64_t seal;
};

/* Ends the object, seals it and puts it down as a line; frees `json`. */
static int put_line(struct text *text, struct dpmf_json *json, struct dpmf_error *error) {
    static const char form[] = ",\"check\":\"%016llx\"}\n";
    enum { SEAL_ROOM = 48 };
    size_t n = 0;
    dpmf_json_end_object(json);
    const char *object = dpmf_json_text(json, &n);
    uint8_t *room = object ? byte_buffer_room(&text->buffer, n + SEAL_ROOM) : NULL;
    if (room) {
        n--; /* the closing brace comes after the seal */
        text->seal = ledger_book_seal(object, n, text->seal);
        memcpy(room, object, n);
        text->buffer.n +=
            n + (size_t)snprintf((char *)room + n, SEAL_ROOM, form, (unsigned long long)text->seal);
    }
    dpmf_json_free(json);
    return room ? 0 : error_no_memory(error);
}

static struct dpmf_json *new_line(void) {
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    return json;
}

/* Ledgers of 0.1.0 have no id. */
static int put_head(struct text *text, int64_t version, const struct ledger_book *book,
                    struct dpmf_error *error) {
    struct dpmf_json *json = new_line();
    dpmf_json_string(json, "dpmf", "ledger");
    dpmf_json_int(json, "version", version);
    dpmf_json_uint(json, "generation", book->generation);
    if (book->id[0] != '\0') dpmf_json_string(json, "id", book->id);
    return put_line(text, json, error);
}

/* A budget of version 1 was an epsilon alone. */
static int put_budget(struct text *text, int64_t version, const struct ledger_budget *budget,
                      struct dpmf_error *error) {
    const struct dpmf_budget *amount = &budget->budget;
    struct dpmf_json *json = new_line();
    dpmf_json_string(json, "budget", budget->population);
    if (version > 1) dpmf_json_double(json, "mu", amount->mu);
    if (amount->epsilon > 0) dpmf_json_double(json, "epsilon", amount->epsilon);
    if (amount->delta > 0) dpmf_json_double(json, "delta", amount->delta);
    return put_line(text, json, error);
}

/* Version 1 knew two kinds, and called proven whatever is not conditional. */
static const char *kind_name(int64_t version, enum dpmf_claim claim) {
    if (version == 1 && claim == DPMF_CLAIM_PARTIAL) claim = DPMF_CLAIM_PROVEN;
    return dpmf_claim_name(claim);
}

static void put_cohort(struct dpmf_json *json, const struct cohort *cohort) {
    char since[DAY_TEXT], before[DAY_TEXT];
    cohort_dates(cohort, since, before);
    if (cohort->has_since) dpmf_json_string(json, "since", since);
    if (cohort->has_before) dpmf_json_string(json, "before", before);
    if (cohort->is_declared) dpmf_json_bool(json, "complete", cohort->is_complete);
}

static int put_release(struct text *text, int64_t version, const struct ledger_entry *entry,
                       struct dpmf_error *error) {
    struct dpmf_json *json = new_line();
    dpmf_json_string(json, "release", entry->id);
    dpmf_json_string(json, "population", entry->population);
    dpmf_json_string(json, "state", STATES[entry->state]);
    dpmf_json_string(json, "kind", kind_name(version, entry->claim));
    dpmf_json_double(json, "mu", entry->mu);
    dpmf_json_double(json, "delta", entry->delta);
    dpmf_json_double(json, "epsilon", entry->epsilon);
    dpmf_json_int(json, "time", entry->time);
    put_cohort(json, &entry->cohort);
    return put_line(text, json, error);
}

static int put_run(struct text *text, const struct ledger_entry *entry, struct dpmf_error *error) {
    struct dpmf_json *json = new_line();
    dpmf_json_string(json, "run", entry->id);
    dpmf_json_string(json, "population", entry->population);
    dpmf_json_string(json, "use", USES[entry->state - LEDGER_RESEARCH]);
    dpmf_json_int(json, "time", entry->time);
    return put_line(text, json, error);
}

static int put_entry(struct text *text, int64_t version, const struct ledger_entry *entry,
                     struct dpmf_error *error) {
    return ledger_is_release(entry) ? put_release(text, version, entry, error)
                                    : put_run(text, entry, error);
}

static int put_end(struct text *text, uint64_t n, struct dpmf_error *error) {
    struct dpmf_json *json = new_line();
    dpmf_json_uint(json, "end", n);
    return put_line(text, json, error);
}

/* What its entries need, and never less than it was read from. */
static int64_t version_of(const struct ledger_book *book) {
    for (size_t i = 0; i < book->n_entries; i++)
        if (book->entries[i].cohort.is_declared) return FORMAT_PERIODS;
    return book->version > FORMAT_VERSION ? book->version : FORMAT_VERSION;
}

int ledger_book_format(const struct ledger_book *book, char **out, size_t *n,
                       struct dpmf_error *error) {
    struct text text = {0};
    const int64_t version = version_of(book);
    *out = NULL;
    int code = put_head(&text, version, book, error);
    for (size_t i = 0; i < book->n_budgets && code == 0; i++)
        code = put_budget(&text, version, &book->budgets[i], error);
    for (size_t i = 0; i < book->n_entries && code == 0; i++)
        code = put_entry(&text, version, &book->entries[i], error);
    if (code == 0) code = put_end(&text, book->n_budgets + book->n_entries, error);
    if (code == 0 && text.buffer.n > LEDGER_TEXT_MAX) {
        code = error_set(error, DPMF_ERR_PRIVACY_LEDGER, "the ledger would grow beyond 8 MiB");
        error_hint(error, "keep another population in another ledger");
    }
    if (code < 0) {
        free(text.buffer.bytes);
        return code;
    }
    *out = (char *)text.buffer.bytes;
    *n = text.buffer.n;
    return 0;
}

/* ---- reading --------------------------------------------------------------------------------- */

enum field {
    DPMF,
    VERSION,
    GENERATION,
    ID,
    BUDGET,
    RELEASE,
    RUN,
    POPULATION,
    STATE,
    USE,
    KIND,
    MU,
    DELTA,
    EPSILON,
    TIME,
    SINCE,
    BEFORE,
    COMPLETE,
    END,
    N_FIELDS
};

static const char *const FIELDS[N_FIELDS] = {
    "dpmf",       "version", "generation", "id",       "budget", "release", "run",
    "population", "state",   "use",        "kind",     "mu",     "delta",   "epsilon",
    "time",       "since",   "before",     "complete", "end"};

/* What a line says: the last value of every field that is known. Whether it says more, or says it
 * otherwise than we would, shows when it is written again. */
struct line {
    struct json_token value[N_FIELDS]; /* JSON_ERROR (0): not there */
};

static bool read_line(const char *bytes, size_t n, struct line *line) {
    struct json_reader reader;
    json_reader_init(&reader, bytes, n);
    memset(line, 0, sizeof *line);
    if (json_next(&reader).kind != JSON_OBJECT_BEGIN) return false;
    for (;;) {
        struct json_token key = json_next(&reader);
        if (key.kind == JSON_OBJECT_END) return json_next(&reader).kind == JSON_END;
        if (key.kind != JSON_KEY) return false;
        struct json_token value = json_next(&reader);
        for (int i = 0; i < N_FIELDS; i++)
            if (json_equals(&key, FIELDS[i])) line->value[i] = value;
        if (!json_skip(&reader, value)) return false;
    }
}

static bool get_double(const struct line *line, enum field field, double *value) {
    const struct json_token *token = &line->value[field];
    return token->kind == JSON_NUMBER &&
           number_parse_double(token->text, token->length, value) == NUMBER_OK;
}

static bool get_int(const struct line *line, enum field field, int64_t *value) {
    const struct json_token *token = &line->value[field];
    return token->kind == JSON_NUMBER &&
           number_parse_int64(token->text, token->length, value) == NUMBER_OK;
}

/* A string of fewer than `size` bytes, none of them NUL. */
static bool get_text(const struct line *line, enum field field, char *text, size_t size) {
    const struct json_token *token = &line->value[field];
    char whole[FIELD_TEXT_MAX];
    if (token->kind != JSON_STRING || token->length > sizeof whole) return false;
    size_t n = json_unescape(token, whole);
    if (n >= size || memchr(whole, 0, n)) return false;
    memcpy(text, whole, n);
    text[n] = '\0';
    return true;
}

/* @return the place of the field's word in the list, or -1 */
static int get_word(const struct line *line, enum field field, const char *const *words, int n) {
    for (int i = 0; i < n; i++)
        if (line->value[field].kind == JSON_STRING && json_equals(&line->value[field], words[i]))
            return i;
    return -1;
}

static bool get_run(const struct line *line, struct ledger_entry *entry) {
    memset(entry, 0, sizeof *entry);
    int use = get_word(line, USE, USES, 2);
    if (use < 0) return false;
    entry->state = (enum ledger_state)(LEDGER_RESEARCH + use);
    return get_text(line, RUN, entry->id, sizeof entry->id) &&
           get_text(line, POPULATION, entry->population, sizeof entry->population) &&
           get_int(line, TIME, &entry->time) && !ledger_entry_fault(entry);
}

/* What version 1 calls proven may rest on a catalogue that was made from the ratings, which it does
 * not say. */
static bool get_kind(const struct line *line, int64_t version, enum dpmf_claim *claim) {
    const char *names[N_KINDS];
    for (int i = 0; i < N_KINDS; i++) names[i] = dpmf_claim_name((enum dpmf_claim)i);
    const int kind = get_word(line, KIND, names, N_KINDS);
    if (kind < 0) return false;
    *claim = (enum dpmf_claim)kind;
    if (version == 1 && *claim == DPMF_CLAIM_PROVEN) *claim = DPMF_CLAIM_PARTIAL;
    return true;
}

/* The dates of a release of users by their first record: none where no field is there. */
static bool get_cohort(const struct line *line, int64_t version, struct cohort *cohort) {
    char text[DAY_TEXT];
    const struct json_token *complete = &line->value[COMPLETE];
    if (line->value[SINCE].kind != JSON_ERROR && !(get_text(line, SINCE, text, sizeof text) &&
                                                   cohort_take_since(cohort, text, strlen(text))))
        return false;
    if (line->value[BEFORE].kind != JSON_ERROR && !(get_text(line, BEFORE, text, sizeof text) &&
                                                    cohort_take_before(cohort, text, strlen(text))))
        return false;
    cohort->is_complete = complete->kind == JSON_TRUE;
    return !cohort->is_declared || version >= FORMAT_PERIODS;
}

static bool get_release(const struct line *line, int64_t version, struct ledger_entry *entry) {
    memset(entry, 0, sizeof *entry);
    int state = get_word(line, STATE, STATES, 3);
    if (state < 0 || !get_kind(line, version, &entry->claim) ||
        !get_cohort(line, version, &entry->cohort))
        return false;
    entry->state = (enum ledger_state)state;
    return get_text(line, RELEASE, entry->id, sizeof entry->id) &&
           get_text(line, POPULATION, entry->population, sizeof entry->population) &&
           get_double(line, MU, &entry->mu) && get_double(line, DELTA, &entry->delta) &&
           get_double(line, EPSILON, &entry->epsilon) && get_int(line, TIME, &entry->time) &&
           !ledger_entry_fault(entry);
}

/* Version 1 has the epsilon alone: at which delta it is meant depends on the releases below. */
static bool get_budget(const struct line *line, int64_t version, struct ledger_budget *budget) {
    struct dpmf_budget *amount = &budget->budget;
    const bool is_declared = version == 1 || line->value[EPSILON].kind != JSON_ERROR;
    memset(budget, 0, sizeof *budget);
    if (!get_text(line, BUDGET, budget->population, sizeof budget->population) ||
        ledger_name_fault(budget->population) ||
        (is_declared && !get_double(line, EPSILON, &amount->epsilon)))
        return false;
    if (version == 1) return amount->epsilon > 0 && amount->epsilon <= LARGEST;
    return get_double(line, MU, &amount->mu) &&
           (!is_declared || get_double(line, DELTA, &amount->delta)) &&
           ledger_budget_is_valid(amount);
}

struct parser {
    const char *path;
    struct ledger_book *book;
    struct text again; /* the line as we would write it, and the seal so far */
    int64_t number;    /* number of the line, from 1 */
    int64_t version;   /* version of the text */
    bool has_ended;
    struct dpmf_error *error;
};

static int damaged(const struct parser *parser, const char *what) {
    error_set(parser->error, DPMF_ERR_PRIVACY_LEDGER, "%s", what);
    error_hint(parser->error, "restore it from a backup: as it is, nobody knows what was spent");
    error_place(parser->error, parser->path, parser->number, 0);
    return DPMF_ERR_PRIVACY_LEDGER;
}

static int not_a_ledger(const struct parser *parser) {
    int code = damaged(parser, "this is not a ledger");
    error_hint(parser->error, "give the path of a ledger; if it was one, restore it from a backup");
    return code;
}

static int take_head(struct parser *parser, const struct line *line) {
    int64_t version, generation;
    static const char *const words[] = {"ledger"};
    if (get_word(line, DPMF, words, 1) != 0 || !get_int(line, VERSION, &version))
        return not_a_ledger(parser);
    if (version > FORMAT_PERIODS) {
        int code = damaged(parser, "the ledger was written by a newer version of dpmf");
        error_hint(parser->error, "use that version here too");
        return code;
    }
    if (version < 1 || !get_int(line, GENERATION, &generation) || generation < 1 ||
        generation > LAST_GENERATION)
        return damaged(parser, "the ledger is damaged");
    struct ledger_book *book = parser->book;
    const bool has_id = line->value[ID].kind != JSON_ERROR;
    if (has_id &&
        (version == 1 || !get_text(line, ID, book->id, sizeof book->id) || !id_is_valid(book->id)))
        return damaged(parser, "the ledger is damaged");
    parser->version = version;
    book->version = version;
    book->generation = (uint64_t)generation;
    return put_head(&parser->again, version, book, parser->error);
}

static int take_entry(struct parser *parser, const struct line *line) {
    struct ledger_entry entry;
    const bool is_run = line->value[RUN].kind != JSON_ERROR;
    const bool is_sound = is_run ? parser->version > 1 && get_run(line, &entry)
                                 : get_release(line, parser->version, &entry);
    if (!is_sound) return damaged(parser, "the ledger is damaged");
    int code = ledger_book_add(parser->book, &entry, parser->error);
    return code < 0 ? code : put_entry(&parser->again, parser->version, &entry, parser->error);
}

static int take_budget(struct parser *parser, const struct line *line) {
    struct ledger_budget budget;
    if (!get_budget(line, parser->version, &budget) || parser->book->n_entries > 0)
        return damaged(parser, "the ledger is damaged");
    int code = add_budget(parser->book, budget.population, &budget.budget, parser->error);
    return code < 0 ? code : put_budget(&parser->again, parser->version, &budget, parser->error);
}

static int take_end(struct parser *parser) {
    parser->has_ended = true;
    return put_end(&parser->again, parser->book->n_budgets + parser->book->n_entries,
                   parser->error);
}

/* One line, its line feed included. What it says is taken, written again, and must be the same
 * bytes: so a wrong checksum, a field too many and another spelling of a number are all found by
 * one comparison. */
static int take_line(struct parser *parser, const char *bytes, size_t n) {
    struct line line;
    int code;
    parser->number++;
    parser->again.buffer.n = 0;
    if (parser->has_ended) return damaged(parser, "there is text after the ledger's end");
    if (!read_line(bytes, n, &line))
        return parser->number == 1 ? not_a_ledger(parser)
                                   : damaged(parser, "the ledger is damaged");
    if (parser->number == 1)
        code = take_head(parser, &line);
    else if (line.value[RELEASE].kind != JSON_ERROR || line.value[RUN].kind != JSON_ERROR)
        code = take_entry(parser, &line);
    else if (line.value[BUDGET].kind != JSON_ERROR)
        code = take_budget(parser, &line);
    else
        code = take_end(parser);
    if (code < 0) return code;
    if (parser->again.buffer.n != n || memcmp(parser->again.buffer.bytes, bytes, n) != 0)
        return damaged(parser, "the ledger is damaged or was edited by hand");
    return 0;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* @return 1 when two of the names, `stride` bytes apart, are the same; 0; or a code */
static int has_twins(const char *first, size_t n, size_t stride, struct dpmf_error *error) {
    const char **names = memory_alloc(n + 1, sizeof *names);
    int found = 0;
    if (!names) return error_no_memory(error);
    for (size_t i = 0; i < n; i++) names[i] = first + i * stride;
    if (n > 1) qsort(names, n, sizeof *names, by_name);
    for (size_t i = 1; i < n && !found; i++) found = strcmp(names[i - 1], names[i]) == 0;
    free(names);
    return found;
}

/* An id or a budget that stands there twice could be counted once. */
static int check_twins(const struct parser *parser) {
    const struct ledger_book *book = parser->book;
    int found = 0;
    if (book->n_entries > 1)
        found =
            has_twins(book->entries[0].id, book->n_entries, sizeof book->entries[0], parser->error);
    if (found == 0 && book->n_budgets > 1)
        found = has_twins(book->budgets[0].population, book->n_budgets, sizeof book->budgets[0],
                          parser->error);
    return found > 0 ? damaged(parser, "a release or a budget is in the ledger twice") : found;
}

static int take_lines(struct parser *parser, const char *text, size_t n) {
    for (size_t at = 0; at < n;) {
        const char *end = memchr(text + at, '\n', n - at);
        if (!end) {
            parser->number++;
            return damaged(parser, "the ledger's last line is cut off");
        }
        size_t length = (size_t)(end - (text + at)) + 1;
        int code = take_line(parser, text + at, length);
        if (code < 0) return code;
        at += length;
    }
    if (!parser->has_ended)
        return damaged(parser, n == 0 ? "the ledger is empty" : "the ledger's end is missing");
    return check_twins(parser);
}

/* The smallest delta that counts for a population, 1e-5 at most. */
static double cautious_delta(const struct ledger_book *book, const char *population) {
    double delta = LEDGER_USUAL_DELTA;
    for (size_t i = 0; i < book->n_entries; i++) {
        const struct ledger_entry *entry = &book->entries[i];
        if (ledger_is_spent(entry) && entry->delta > 0 &&
            strcmp(entry->population, population) == 0)
            delta = fmin(delta, entry->delta);
    }
    return delta;
}

static int take_old_budgets(const struct parser *parser) {
    const struct ledger_book *book = parser->book;
    for (size_t i = 0; i < book->n_budgets; i++) {
        struct ledger_budget *old = &book->budgets[i];
        old->budget =
            ledger_budget_declare(old->budget.epsilon, cautious_delta(book, old->population));
        if (!ledger_budget_is_valid(&old->budget))
            return damaged(parser, "a budget of the ledger allows no release at all");
    }
    return 0;
}

int ledger_book_parse(const char *text, size_t n, const char *path, struct ledger_book *book,
                      struct dpmf_error *error) {
    struct parser parser = {.path = path, .book = book, .error = error};
    memset(book, 0, sizeof *book);
    int code = take_lines(&parser, text, n);
    if (code == 0 && parser.version == 1) code = take_old_budgets(&parser);
    if (code < 0) ledger_book_free(book);
    if (code < 0 && n == 0)
        error_hint(error, "restore it from a backup, or, if nothing was ever released, remove it");
    free(parser.again.buffer.bytes);
    return code;
}
