/*
 * What a statement says beside its promise, as JSON and for people: see the header. Fed by
 * statement_json.c, statement_parse.c and statement_text.c, which have the statement's own members
 * and pages.
 */
#include "statement/statement_provenance.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "dpmf_text.h"
#include "statement/accountant.h"
#include "statement/claim.h"
#include "statement/mechanism_names.h"
#include "statement/residual_rule.h"
#include "statement/statement_words.h"

const double statement_deltas[STATEMENT_DELTAS] = {1e-5, 1e-6, 1e-7, 1e-9};

static const char declared_note[] = "declared by the curator, not verified by dpmf";

/* docs/privacy/rule.md has the whole story. */
static const char *rule_of(const struct statement *statement) {
    if (strcmp(statement->mechanism, MECHANISM_RESIDUAL) == 0 ||
        strcmp(statement->mechanism, MECHANISM_BIASES) == 0)
        return "the constants are public and fixed in the program; they were chosen on MovieLens "
               "1M "
               "and 100K, which are public, and on synthetic ratings; that choice is not part of "
               "the cost, which matters only to people in those sets";
    if (statement_is_of_events(statement))
        return "the constants are public and fixed in the program; they were chosen on MovieLens "
               "1M, which is public, and on synthetic events; that choice is not part of the cost, "
               "which matters only to people in that set";
    return "the constants are public and fixed in the program; on which ratings they were chosen "
           "is "
           "not recorded";
}

void statement_build_fill(struct statement_build *build) {
    const struct dpmf_build made = dpmf_build_identity();
    snprintf(build->commit, sizeof build->commit, "%s", made.commit);
    snprintf(build->compiler, sizeof build->compiler, "%s", made.compiler);
    snprintf(build->sources, sizeof build->sources, "%s", made.sources);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_deltas(struct dpmf_json *json, const struct statement_figures *figures) {
    dpmf_json_begin_array(json, "epsilon_at");
    for (int i = 0; i < STATEMENT_DELTAS; i++) {
        dpmf_json_begin_object(json, NULL);
        dpmf_json_double(json, "delta", statement_deltas[i]);
        dpmf_json_double(json, "epsilon", figures->at_delta[i]);
        dpmf_json_end_object(json);
    }
    dpmf_json_end_array(json);
}

static void put_build(struct dpmf_json *json, const struct statement_build *build) {
    if (!build->commit[0]) return;
    dpmf_json_begin_object(json, "build");
    dpmf_json_string(json, "commit", build->commit);
    dpmf_json_string(json, "compiler", build->compiler);
    dpmf_json_string(json, "sources", build->sources);
    dpmf_json_end_object(json);
}

static void put_about(struct dpmf_json *json, const struct about *about) {
    if (about_is_empty(about)) return;
    dpmf_json_begin_object(json, "about");
    dpmf_json_string(json, "note", declared_note);
    for (int i = 0; i < ABOUT_FIELDS; i++) {
        const char *text = about_get(about, (enum about_field)i);
        if (text) dpmf_json_string(json, about_name((enum about_field)i), text);
    }
    dpmf_json_end_object(json);
}

/* dpmf applied the dates, to times that it cannot verify; nothing that is promised rests on it. */
static const char cohort_sentence[] =
    "only users whose first record is in this period took part, dates in UTC, by the times of the "
    "records that were kept, of each item the last; who took part was decided for each user from "
    "that user's own records, and nobody took part who has a record without a time; what is "
    "promised does not rest on it";
static const char adds_up[] = "other releases of the same people add up with this one, whatever "
                              "their periods: the same user may be in both";
static const char does_not_add_up[] =
    "the curator declares that every release of these people was made from ratings that contain "
    "the same first record of each user: it was never missing, never one that could not be read, "
    "and never replaced by a later record of the same item; only if that is true, releases of "
    "periods that do not overlap do not add up";

static void put_date(struct dpmf_json *json, const char *key, const char *date) {
    if (date[0])
        dpmf_json_string(json, key, date);
    else
        dpmf_json_null(json, key);
}

static void put_cohort(struct dpmf_json *json, const struct cohort *cohort) {
    char since[DAY_TEXT], before[DAY_TEXT];
    if (!cohort->is_declared) return;
    cohort_dates(cohort, since, before);
    dpmf_json_begin_object(json, "cohort");
    dpmf_json_string(json, "note", declared_note);
    put_date(json, "first_record_since", since);
    put_date(json, "first_record_before", before);
    dpmf_json_bool(json, "complete_histories", cohort->is_complete);
    dpmf_json_string(json, "sentence", cohort_sentence);
    dpmf_json_string(json, "composition", cohort->is_complete ? does_not_add_up : adds_up);
    dpmf_json_end_object(json);
}

void statement_provenance_json(struct dpmf_json *json, const struct statement *statement,
                               const struct statement_figures *figures) {
    if (!statement_is_conditional(statement)) put_deltas(json, figures);
    dpmf_json_string(json, "rule", rule_of(statement));
    if (statement->rule_version > 0) dpmf_json_uint(json, "rule_version", statement->rule_version);
    put_build(json, &statement->build);
    put_about(json, &statement->about);
    put_cohort(json, &statement->cohort);
}

/* ---- read back ------------------------------------------------------------------------------- */

/* A string of these characters alone, one at least, into a text that it fits. */
static bool take_word(const struct json_token *token, const char *allowed, char *text,
                      size_t size) {
    if (token->kind != JSON_STRING || token->escaped || token->length == 0 || token->length >= size)
        return false;
    memcpy(text, token->text, token->length);
    text[token->length] = '\0';
    return strspn(text, allowed) == token->length;
}

static const char hexadecimal[] = "0123456789abcdef";

/* What packaging/build_identity.cmake writes: a hash, of changed sources with a mark, or "unknown".
 * */
static bool is_commit(const char *text) {
    const size_t n = strspn(text, hexadecimal);
    if (strcmp(text, "unknown") == 0) return true;
    return (n == 40 || n == 64) && (text[n] == '\0' || strcmp(text + n, "+changed") == 0);
}

/* A SHA-256, which every build can compute: there is no other word for it. The text is known to be
 * hexadecimal, in small letters. */
static bool is_sha256(const char *text) { return strlen(text) == 64; }

/* A compiler that CMake knows by this name, and a version of numbers. */
static bool is_compiler(const char *text) {
    static const char *const names[] = {"GNU ",       "Clang ",    "AppleClang ", "Intel ",
                                        "IntelLLVM ", "ARMClang ", "NVHPC ",      "XLClang "};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const size_t n = strlen(names[i]);
        if (strncmp(text, names[i], n) == 0)
            return text[n] != '\0' && text[n + strspn(text + n, "0123456789.")] == '\0';
    }
    return false;
}

static bool take_build(struct json_reader *json, struct statement_build *build) {
    static const char words[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+. ";
    for (;;) {
        struct json_token key = json_next(json), value;
        if (key.kind == JSON_OBJECT_END) return build->commit[0] != '\0';
        if (key.kind != JSON_KEY) return false;
        value = json_next(json);
        bool taken = json_equals(&key, "commit")
                         ? take_word(&value, words, build->commit, sizeof build->commit) &&
                               is_commit(build->commit)
                     : json_equals(&key, "compiler")
                         ? take_word(&value, words, build->compiler, sizeof build->compiler) &&
                               is_compiler(build->compiler)
                     : json_equals(&key, "sources")
                         ? take_word(&value, hexadecimal, build->sources, sizeof build->sources) &&
                               is_sha256(build->sources)
                         : false;
        if (!taken) return false;
    }
}

/* The same texts as a curator may give, and no others. */
static bool take_about(struct json_reader *json, struct about *about) {
    char name[40], text[ABOUT_VALUE_MAX];
    for (;;) {
        struct json_token key = json_next(json), value;
        if (key.kind == JSON_OBJECT_END) return !about_is_empty(about);
        if (key.kind != JSON_KEY || key.length >= sizeof name || key.escaped) return false;
        value = json_next(json);
        if (value.kind != JSON_STRING || value.length > 6 * sizeof text) return false;
        if (json_equals(&key, "note")) continue; /* compared with the rest in the end */
        memcpy(name, key.text, key.length);
        name[key.length] = '\0';
        enum about_field field = about_find(name);
        if (field == ABOUT_FIELDS || value.length > sizeof text) return false;
        size_t n = json_unescape(&value, text);
        if (about_put(about, field, text, n)) return false;
    }
}

/* Sentences are compared with the rest in the end. */
static bool take_cohort(struct json_reader *json, struct cohort *cohort) {
    for (;;) {
        struct json_token key = json_next(json), value;
        if (key.kind == JSON_OBJECT_END) return cohort->is_declared && cohort_is_valid(cohort);
        if (key.kind != JSON_KEY) return false;
        value = json_next(json);
        const bool is_text = value.kind == JSON_STRING && !value.escaped;
        bool taken = true;
        if (json_equals(&key, "complete_histories"))
            taken = value.kind == JSON_FALSE || (cohort->is_complete = value.kind == JSON_TRUE);
        else if (value.kind == JSON_NULL)
            continue;
        else if (json_equals(&key, "first_record_since"))
            taken = is_text && cohort_take_since(cohort, value.text, value.length);
        else if (json_equals(&key, "first_record_before"))
            taken = is_text && cohort_take_before(cohort, value.text, value.length);
        else
            taken = value.kind == JSON_STRING;
        if (!taken) return false;
    }
}

static bool take_deltas(struct json_reader *json, struct statement_figures *figures) {
    for (int i = 0; i < STATEMENT_DELTAS; i++) {
        struct json_token token = json_next(json);
        if (token.kind != JSON_OBJECT_BEGIN) return false;
        while ((token = json_next(json)).kind == JSON_KEY) {
            struct json_token value = json_next(json);
            if (value.kind != JSON_NUMBER) return false;
            if (json_equals(&token, "epsilon") &&
                number_parse_double(value.text, value.length, &figures->at_delta[i]) != NUMBER_OK)
                return false;
        }
        if (token.kind != JSON_OBJECT_END) return false;
    }
    return json_next(json).kind == JSON_ARRAY_END;
}

/* Statements of the first rule do not name it. */
static bool take_rule_version(const struct json_token *value, uint32_t *version) {
    double number;
    if (value->kind != JSON_NUMBER ||
        number_parse_double(value->text, value->length, &number) != NUMBER_OK)
        return false;
    if (!(number >= RESIDUAL_RULE_OLDEST && number <= RESIDUAL_RULE_VERSION)) return false;
    *version = (uint32_t)number;
    return number == (double)*version;
}

bool statement_provenance_take(struct json_reader *json, const struct json_token *key,
                               struct json_token value, struct statement *statement,
                               struct statement_figures *figures, bool *taken) {
    if (json_equals(key, "epsilon_at"))
        *taken = value.kind == JSON_ARRAY_BEGIN && take_deltas(json, figures);
    else if (json_equals(key, "rule_version"))
        *taken = take_rule_version(&value, &statement->rule_version);
    else if (json_equals(key, "build"))
        *taken = value.kind == JSON_OBJECT_BEGIN && !statement->build.commit[0] &&
                 take_build(json, &statement->build);
    else if (json_equals(key, "about"))
        *taken = value.kind == JSON_OBJECT_BEGIN && about_is_empty(&statement->about) &&
                 take_about(json, &statement->about);
    else if (json_equals(key, "cohort"))
        *taken = value.kind == JSON_OBJECT_BEGIN && !statement->cohort.is_declared &&
                 take_cohort(json, &statement->cohort);
    else
        return false;
    return true;
}

/* ---- for people ------------------------------------------------------------------------------ */

void statement_deltas_put(struct statement_page *page, const struct statement_figures *figures) {
    statement_page_line(page, "\n      epsilon at other deltas, exactly");
    for (int i = 0; i < STATEMENT_DELTAS; i++)
        statement_page_line(page, "      %41s  %s",
                            statement_number_exact(statement_deltas[i]).text,
                            statement_number_exact(figures->at_delta[i]).text);
}

void statement_build_put(struct statement_page *page, const struct statement *statement) {
    statement_page_put(page, "\n", 1);
    statement_page_say(page, "The rule: %s.", rule_of(statement));
    if (!statement->build.commit[0]) {
        if (statement->format > STATEMENT_FORMAT_FIRST) {
            statement_page_put(page, "\n", 1);
            statement_page_say(page, "The build that made it is not named.");
        }
        return;
    }
    statement_page_line(page, "\n      commit    %s", statement->build.commit);
    statement_page_line(page, "      compiler  %s", statement->build.compiler);
    statement_page_line(page, "      sources   %s", statement->build.sources);
}

/* A promise of epsilon alone is one of the mu that accountant_mu_pure gives, and mu add by squares
 * whatever the mechanisms are. But that promise is the posterior's, and the draw is from it only if
 * the sampler had converged. How far it had not is unknown, so without that there is no figure. */
static void put_spent_conditional(struct statement_page *page, const struct statement *statement,
                                  double before) {
    const double mu[] = {before, accountant_mu_pure(statement->epsilon)};
    statement_page_say(
        page,
        "If the releases before had spent mu %s on these people, as declared, and if the sampler "
        "had converged, then with this one it is at most mu %s together. Without that condition "
        "there is no joint figure: what this release adds is then not known.",
        statement_number_exact(before).text,
        statement_number_at_most(accountant_compose(mu, 2), 4).text);
}

/* What follows if it is true what was declared: costs in mu add by squares. */
static void put_spent(struct statement_page *page, const struct statement *statement) {
    const double before = about_spent_before(&statement->about);
    if (isnan(before)) return;
    statement_page_put(page, "\n", 1);
    if (claim_of(statement) == DPMF_CLAIM_NOT_PRIVATE) {
        statement_page_say(page, "What was spent before has no joint figure with this release, "
                                 "which is not private.");
        return;
    }
    if (statement_is_conditional(statement)) {
        put_spent_conditional(page, statement, before);
        return;
    }
    const double mu[] = {before, statement_mu(statement)};
    const double together = accountant_compose(mu, 2);
    statement_page_say(
        page,
        "If the releases before had spent mu %s on these people, as declared, then "
        "with this one it is mu %s together, which is epsilon %s at delta %s.",
        statement_number_exact(before).text, statement_number_at_most(together, 4).text,
        statement_number_at_most(accountant_epsilon(together, statement->delta), 2).text,
        statement_number_exact(statement->delta).text);
}

/* "on or after 2026-01-01 and before 2027-01-01" */
void statement_period_write(const struct cohort *cohort, char *text, size_t size) {
    char since[DAY_TEXT], before[DAY_TEXT];
    cohort_dates(cohort, since, before);
    snprintf(text, size, "%s%s%s%s%s", since[0] ? "on or after " : "", since,
             since[0] && before[0] ? " and " : "", before[0] ? "before " : "", before);
}

void statement_cohort_put(struct statement_page *page, const struct statement *statement) {
    const struct cohort *cohort = &statement->cohort;
    char period[64];
    if (!cohort->is_declared) return;
    statement_period_write(cohort, period, sizeof period);
    statement_page_line(page, "\nWho took part, as the curator declared, not verified by dpmf\n");
    statement_page_say(
        page,
        "Only users whose first record is %s (UTC) took part. Which record is a user's first was "
        "decided by the times of the records that were kept, of each item the last; a user with a "
        "record without a time was left out. It was decided for each user from that user's own "
        "records alone, so what is promised above does not rest on it: it holds for every user, "
        "whether they took part or not.",
        period);
    statement_page_put(page, "\n", 1);
    statement_page_say(
        page,
        cohort->is_complete
            ? "The curator declares that every release of these people was made from ratings that "
              "contain the same first record of each user: it was never missing, never one that "
              "could not be read, and never replaced by a later record of the same item. If that "
              "is true, nobody takes part in two releases of periods that do not overlap, and the "
              "costs of such releases do not add up. If it is not, they do. dpmf cannot check it."
            : "A user of this release may also be in a release of another period, if what "
              "that was made from lacks the user's first record, or a later one replaced it. "
              "So the costs of all releases of these people add up, whatever their periods.");
}

void statement_about_put(struct statement_page *page, const struct statement *statement) {
    const struct about *about = &statement->about;
    if (about_is_empty(about)) return;
    statement_page_line(page, "\nDeclared by the curator, not verified by dpmf\n");
    statement_page_say(page, "What begins with | below is in the curator's own words. dpmf has "
                             "checked none of it, and nothing that is promised above rests on it.");
    statement_page_put(page, "\n", 1);
    for (int i = 0; i < ABOUT_FIELDS; i++) {
        const char *text = about_get(about, (enum about_field)i);
        if (text) statement_page_quote(page, about_label((enum about_field)i), text);
    }
    put_spent(page, statement);
}
