/*
 * A statement as an entry for the public registry of differential privacy deployments
 * (opendp/deployments-registry-data), in its YAML and up to its third tier. What only the curator
 * can know comes from their declaration and is marked; what nobody declared is left as in the
 * registry's template, with a note to fill it in. docs/privacy/registry.md says how to hand it in.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "statement/claim.h"
#include "statement/statement_page.h"
#include "statement/statement_provenance.h"
#include "statement/statement_words.h"

static const char declared[] = " # declared by the curator";
static const char unknown[] = " # not declared: fill in";

/* ---- YAML ------------------------------------------------------------------------------------ */

static void put(struct statement_page *page, const char *text) {
    statement_page_put(page, text, strlen(text));
}

/* In double quotes, on one line. Of several backslashes one is kept: the registry takes two for a
 * mistake in LaTeX. */
static void put_quoted(struct statement_page *page, const char *text) {
    put(page, "\"");
    for (const char *at = text; *at; at++) {
        if (*at == '\\' && at[1] == '\\') continue;
        if (*at == '"' || *at == '\\') put(page, "\\");
        statement_page_put(page, at, 1);
    }
    put(page, "\"");
}

/* YAML 1.1 takes 1e-7 for a text: it wants 1.0e-7, and a sign. */
static void put_number(struct statement_page *page, const char *key, double value) {
    const struct statement_number number = statement_number_exact(value);
    const char *exponent = strchr(number.text, 'e');
    const int n = exponent ? (int)(exponent - number.text) : (int)strlen(number.text);
    statement_page_line(page, "%s: %.*s%s%s%s%s", key, n, number.text,
                        exponent && !memchr(number.text, '.', (size_t)n) ? ".0" : "",
                        exponent ? "e" : "", exponent && exponent[1] != '-' ? "+" : "",
                        exponent ? exponent + 1 + (exponent[1] == '+') : "");
}

/* `key` with its indent: "    name". */
static void put_text(struct statement_page *page, const char *key, const char *text,
                     const char *comment) {
    put(page, key);
    put(page, ": ");
    put_quoted(page, text);
    put(page, comment);
    put(page, "\n");
}

static void put_said(struct statement_page *page, const char *key, const char *text) {
    char own[1024];
    snprintf(own, sizeof own, "%s", text);
    if (page->of_events) statement_page_rename(own);
    put_text(page, key, own, "");
}

static void put_declared(struct statement_page *page, const char *key,
                         const struct statement *statement, enum about_field field,
                         const char *otherwise) {
    const char *text = about_get(&statement->about, field);
    put_text(page, key, text ? text : otherwise, text ? declared : unknown);
}

/* ---- the slug -------------------------------------------------------------------------------- */

/* As the registry makes it of the name, the curators and the year: small letters, and a dash for
 * everything else. What is not ASCII stays as it is; the registry's own script has the last
 * word. */
static void put_slug_part(struct statement_page *page, const char *text, size_t n) {
    bool was_other = false;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        bool is_word = isalnum(c) || c >= 0x80;
        char small = c < 0x80 ? (char)tolower(c) : (char)c;
        if (is_word || !was_other) statement_page_put(page, is_word ? &small : "-", 1);
        was_other = !is_word;
    }
}

static const char *or_empty(const char *text) { return text ? text : ""; }

static const char unknown_date[] = "1900-01-01"; /* the template's */

static void put_slug(struct statement_page *page, const struct about *about) {
    const char *title = or_empty(about_get(about, ABOUT_TITLE));
    const char *controller = or_empty(about_get(about, ABOUT_CONTROLLER));
    const char *date = about_get(about, ABOUT_DATE);
    put(page, "url_slug: ");
    put_slug_part(page, title, strlen(title));
    put(page, "-");
    put_slug_part(page, controller, strlen(controller));
    put(page, "-");
    statement_page_put(page, date ? date : unknown_date, 4);
    put(page, "\n");
}

/* ---- the parts ------------------------------------------------------------------------------- */

static void put_description(struct statement_page *page, const struct statement *statement) {
    char text[3 * ABOUT_VALUE_MAX];
    const char *data = about_get(&statement->about, ABOUT_DATA);
    const char *period = about_get(&statement->about, ABOUT_PERIOD);
    snprintf(
        text, sizeof text,
        "A recommendation model of %s items, made by dpmf from %s, and nothing about any user. "
        "Users compute their own vectors and recommendations at home.%s%s%s%s",
        statement_number_count(statement->items + statement->extension.items).text,
        statement_is_of_events(statement) ? "events: item vectors and popularity"
                                          : "ratings: item vectors and item biases",
        data ? " Data, as declared: " : "", or_empty(data), period ? " Period, as declared: " : "",
        or_empty(period));
    put_text(page, "    description", text, data || period ? declared : "");
}

/* A sector that is not one of the registry's is left out. */
static void put_sector(struct statement_page *page, const struct about *about) {
    static const char *const sectors[] = {"Technology", "Healthcare", "Education",
                                          "Government", "Energy",     "Finance"};
    const char *sector = about_get(about, ABOUT_SECTOR);
    for (size_t i = 0; sector && i < sizeof sectors / sizeof sectors[0]; i++)
        if (strcmp(sector, sectors[i]) == 0)
            put_text(page, "    data_product_sector", sector, declared);
}

static void put_basic(struct statement_page *page, const struct statement *statement) {
    const struct about *about = &statement->about;
    const char *controller = about_get(about, ABOUT_CONTROLLER);
    put(page, "  basic:\n");
    put_declared(page, "    name", statement, ABOUT_TITLE, "");
    put(page, "    data_curators:\n      - ");
    put_quoted(page, or_empty(controller));
    put(page, controller ? declared : unknown);
    put(page, "\n");
    put_declared(page, "    intended_use", statement, ABOUT_INTENDED_USE, "");
    put_said(page, "    data_product_type", "Machine learning model");
    put_declared(page, "    data_product_region", statement, ABOUT_REGION, "");
    put_description(page, statement);
    put_declared(page, "    publication_date", statement, ABOUT_DATE, unknown_date);
    put_sector(page, about);
}

static void put_variant(struct statement_page *page, const struct statement *statement) {
    put(page, "  dp_variant:\n");
    put_said(page, "    variant_name",
             statement_is_conditional(statement) ? "Pure DP" : "Approximate DP");
    put_said(page, "    data_domain",
             statement->catalogue_from_ratings
                 ? "Sets of users, each with at most one rating, in the declared range, of every "
                   "item that anyone rated."
                 : "Sets of users, each with at most one rating, in the declared range, of every "
                   "item of a public catalogue.");
    put_said(page, "    unprotected_quantities",
             statement->catalogue_from_ratings
                 ? "The list of items: it was taken from the ratings and shows which items anyone "
                   "rated. Public by assumption: the range of ratings, the declared number of "
                   "users, the features of items, users' own smaller epsilons, and the settings of "
                   "the run, as far as the statement lists them."
                 : "None that follow from the ratings. Public by assumption: the catalogue and its "
                   "order, the range of ratings, the declared number of users, the features of "
                   "items, users' own smaller epsilons, and the settings of the run, as far as the "
                   "statement lists them.");
}

static void put_loss(struct statement_page *page, const struct statement *statement,
                     const struct statement_figures *figures) {
    char text[640];
    put(page, "  privacy_loss:\n");
    put_said(page, "    privacy_unit", "User-level");
    put_said(
        page, "    privacy_unit_details",
        "One user id with all its ratings, added or removed (unbounded). A person with two ids "
        "is a group of two.");
    put(page, "    privacy_parameters:\n");
    put_number(page, "      epsilon", statement->epsilon);
    if (statement_is_conditional(statement)) {
        put_said(page, "    privacy_parameters_details",
                 "CONDITIONAL on the convergence of a sampler, which no finite run can show: "
                 "(epsilon, (1 + e^epsilon) d) with d, the total-variation distance to the target, "
                 "not known.");
        return;
    }
    put_number(page, "      delta", statement->delta);
    snprintf(text, sizeof text,
             "mu = %s in Gaussian differential privacy, exactly composed, all figures rounded up: "
             "epsilon %s at delta 1e-5, %s at 1e-6, %s at 1e-7, %s at 1e-9. Two ids of one person: "
             "epsilon %s at the delta above.",
             statement_number_exact(figures->mu).text,
             statement_number_exact(figures->at_delta[0]).text,
             statement_number_exact(figures->at_delta[1]).text,
             statement_number_exact(figures->at_delta[2]).text,
             statement_number_exact(figures->at_delta[3]).text,
             statement_number_exact(figures->group[0]).text);
    put_said(page, "    privacy_parameters_details", text);
}

static void put_model(struct statement_page *page, const struct statement *statement) {
    char text[ABOUT_VALUE_MAX + 400];
    const char *before = about_get(&statement->about, ABOUT_SPENT_BEFORE);
    put(page, "  deployment_model:\n");
    put_said(page, "    model_name", "Central");
    put_said(page, "    model_name_details",
             "The curator holds the ratings and runs dpmf; only the release leaves.");
    put_said(
        page, "    actors",
        "The curator is trusted with the ratings. The release is public: anyone may see it and "
        "know anything else. Users' own vectors and recommendations are made by them and stay "
        "with them.");
    put_said(page, "    release_type", "One release");
    snprintf(
        text, sizeof text,
        "This entry is about one release. Other releases of the same people add to its cost%s.%s%s",
        statement_is_conditional(statement) ? "" : ", by the squares of their mu",
        before ? " Spent on them before, as mu, as the curator declares: " : "", or_empty(before));
    put_text(page, "    release_type_details", text, before ? declared : "");
    put_said(page, "    data_source_type", "Static");
    put_said(page, "    access_type", "Non-interactive");
    put_said(page, "    access_type_details", "The model is a file.");
}

static void put_mechanisms(struct statement_page *page, const struct statement *statement) {
    char text[900];
    snprintf(text, sizeof text,
             "dpmf %s, mechanism %s. %s Random numbers: ChaCha20 under a key from the operating "
             "system. Timing and other traces on the curator's machine are outside the promise. "
             "Commit %s, compiler %s, SHA-256 of the sources %s.",
             statement->version[0] ? statement->version : dpmf_version(), statement->mechanism,
             statement_is_conditional(statement)
                 ? "One draw of a Gibbs sampler from a posterior with a bounded loss, in double "
                   "precision."
                 : "Sums over users whose contributions have L2 norm at most 1, in integers, plus "
                   "Gaussian noise rounded to integers and sampled exactly: no floating point "
                   "where privacy depends on it.",
             statement->build.commit[0] ? statement->build.commit : "not recorded",
             statement->build.compiler[0] ? statement->build.compiler : "not recorded",
             statement->build.sources[0] ? statement->build.sources : "not recorded");
    put_said(page, "    mechanisms", text);
}

static void put_preprocessing(struct statement_page *page, const struct statement *statement) {
    char text[900], like[160] = "", trimmed[160] = "", period[64], chosen[200] = "";
    if (statement->cohort.is_declared) {
        statement_period_write(&statement->cohort, period, sizeof period);
        snprintf(chosen, sizeof chosen,
                 " Only users whose first record is %s (UTC) took part, by times that are not "
                 "verified: decided for each user from that user's own records.",
                 period);
    }
    if (statement->liked == STATEMENT_LIKED_FROM)
        snprintf(like, sizeof like, " Events are what users gave %s or more.",
                 statement_number_exact(statement->like).text);
    else if (statement->liked != STATEMENT_LIKED_NOT)
        snprintf(like, sizeof like, " Events were made of values that users gave%s.",
                 statement->liked == STATEMENT_LIKED_ANY ? ", whichever" : "");
    if (statement_is_conditional(statement))
        snprintf(trimmed, sizeof trimmed,
                 " Of a user's ratings at most %s, chosen at random, are kept.",
                 statement_number_count(statement->posterior.max_ratings).text);
    snprintf(text, sizeof text,
             "%sRatings that are malformed, out of range or not in the catalogue are dropped one "
             "by one.%s%s%s The constants of the mechanism are public and fixed in the program: it "
             "tunes nothing on the ratings.",
             statement->is_queried ? "A query, a view or functions of a database gave the "
                                     "ratings; what they do is not known. "
                                   : "",
             like, trimmed, chosen);
    put_said(page, "    preprocessing_and_hyperparameter_tuning", text);
}

static void put_implementation(struct statement_page *page, const struct statement *statement) {
    put(page, "  accounting:\n");
    char text[400], made[160];
    snprintf(made, sizeof made,
             "Item vectors and %s are computed from the noisy sums, public features and public "
             "constants.",
             statement_is_of_events(statement) ? "popularity" : "biases");
    snprintf(text, sizeof text, "%s%s",
             statement_is_conditional(statement)
                 ? "None: item vectors and biases are those of the draw."
                 : made,
             statement->extension.items > 0
                 ? " Items were added later, placed by a regression of these on public features."
                 : "");
    put_said(page, "    post_processing", text);
    put_said(
        page, "    composition",
        statement_is_conditional(statement)
            ? "None: one draw."
            : "Adaptive composition of Gaussian mechanisms, exact: mu squared is the sum of the "
              "squares of all of the sums' mu.");
    put(page, "  implementation:\n");
    put_preprocessing(page, statement);
    put_mechanisms(page, statement);
    put_said(page, "    justification",
             "The proof is beside the code (lib/privacy/noisy_sum.c, lib/random/exact_gaussian.c, "
             "lib/statement/posterior_rule.h); what is not promised is in the release's own "
             "statement.");
}

/* The kind, and what the promise rests on beside the proof. */
static void add_kind(char *text, size_t size, const struct statement *statement) {
    const unsigned assumptions = claim_assumptions(statement);
    size_t n = strlen(text);
    n += (size_t)snprintf(text + n, size - n, " Kind: %s.", dpmf_claim_name(claim_of(statement)));
    for (unsigned bit = 1; bit <= DPMF_ASSUMES_LAST; bit <<= 1) {
        const char *sentence = NULL;
        if (n < size && assumptions & bit && dpmf_assumption_name(bit, &sentence))
            n += (size_t)snprintf(text + n, size - n, " It assumes %s.", sentence);
    }
}

static void put_administrative(struct statement_page *page, const struct statement *statement) {
    char text[1500], id[STATEMENT_ID_TEXT];
    statement_id_format(statement->id, id);
    put(page, "  administrative:\n");
    put_declared(page, "    sources", statement, ABOUT_SOURCES, "");
    snprintf(text, sizeof text,
             "Release %s. Made from its privacy statement by dpmf. Name, "
             "curators, intended use, region, date, sector, data, period, spending before and "
             "sources are declared by the curator and not verified by dpmf.",
             id);
    add_kind(text, sizeof text, statement);
    put_said(page, "    notes", text);
    put(page, "    registry_authors:\n      - \"\"");
    put(page, unknown);
    put(page, "\n");
}

char *statement_to_registry(const struct statement *statement) {
    struct statement_page page = {.of_events = statement_is_of_events(statement)};
    struct statement_figures figures;
    if (statement->n_releases > STATEMENT_RELEASES_MAX) return NULL;
    if (claim_of(statement) == DPMF_CLAIM_NOT_PRIVATE) return NULL;
    statement_figures_make(statement, &figures);
    put_slug(&page, &statement->about);
    put(&page, "status: Draft\ntier: 3\ndeployment:\n");
    put_basic(&page, statement);
    put_variant(&page, statement);
    put_loss(&page, statement, &figures);
    put_model(&page, statement);
    put_implementation(&page, statement);
    put_administrative(&page, statement);
    statement_page_put(&page, "", 1);
    if (!page.failed) return (char *)page.text.bytes;
    free(page.text.bytes);
    return NULL;
}
