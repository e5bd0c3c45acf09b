/*
 * A statement as JSON, for the file: one spelling for one statement. docs/formats/release.md lists
 * the fields, which are a promise. Fed by a mechanism, or by statement_parse.c, which holds what it
 * read against what this would have written.
 */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "dpmf_text.h"
#include "statement/claim.h"
#include "statement/statement_extension.h"
#include "statement/statement_page.h"
#include "statement/statement_provenance.h"
#include "statement/statement_words.h"

void statement_id_format(const uint8_t id[STATEMENT_ID_BYTES], char text[STATEMENT_ID_TEXT]) {
    for (size_t i = 0; i < STATEMENT_ID_BYTES; i++) snprintf(text + 2 * i, 3, "%02x", id[i]);
}

/* A sentence of ours, about events where the statement is. */
static void put_sentence(struct dpmf_json *json, const char *key, const struct statement *statement,
                         const char *sentence) {
    char text[256];
    snprintf(text, sizeof text, "%s", sentence);
    if (statement_is_of_events(statement)) statement_page_rename(text);
    dpmf_json_string(json, key, text);
}

/* As 0.1.0 wrote it, which knew no partial ones. Only for holding a statement of that time against
 * its own words. */
static const char *first_kind(const struct statement *statement) {
    if (statement->is_insecure || statement->is_research) return "not private";
    return statement_is_conditional(statement) ? "conditional" : "proven";
}

/* What older statements call what is not a plain table. */
static const char *const older_words[STATEMENT_OLDER_WORDS] = {
    "that nobody's ratings depend on other people: a query, a view or a generated column of a "
    "database gave them, and dpmf does not know what it does",
    "that nobody's ratings depend on other people: a query or a view of a database gave them, and "
    "dpmf does not know what it does",
};

static void put_kind(struct dpmf_json *json, const struct statement *statement) {
    if (statement->format == STATEMENT_FORMAT_FIRST) {
        dpmf_json_string(json, "kind", first_kind(statement));
        return;
    }
    const unsigned assumptions = claim_assumptions(statement);
    dpmf_json_string(json, "kind", dpmf_claim_name(claim_of(statement)));
    dpmf_json_begin_array(json, "assumptions");
    for (unsigned bit = 1; bit <= DPMF_ASSUMES_LAST; bit <<= 1) {
        const char *sentence = NULL, *name = dpmf_assumption_name(bit, &sentence);
        if (!(assumptions & bit)) continue;
        if (bit == DPMF_ASSUMES_QUERY && statement->query_words > 0)
            sentence = older_words[statement->query_words - 1];
        dpmf_json_begin_object(json, NULL);
        dpmf_json_string(json, "name", name);
        put_sentence(json, "sentence", statement, sentence);
        dpmf_json_end_object(json);
    }
    dpmf_json_end_array(json);
}

/* What is written instead of an accountant where nothing was proven for the run that was made. */
static void put_condition(struct dpmf_json *json, const struct statement *statement,
                          const struct statement_figures *figures) {
    const struct statement_posterior *posterior = &statement->posterior;
    dpmf_json_null(json, "mu");
    dpmf_json_null(json, "accountant");
    dpmf_json_begin_object(json, "conditional");
    dpmf_json_string(json, "on",
                     "the sampler having converged, for every set of ratings it might have been "
                     "given; no run that ends can show it");
    dpmf_json_string(json, "guarantee",
                     "conditional on convergence: (epsilon, (1 + e^epsilon) * d), where d is the "
                     "total-variation distance to the target, uniformly over datasets, and is not "
                     "known");
    if (statement->epsilon > STATEMENT_MEANINGFUL)
        dpmf_json_string(
            json, "warning",
            "above an epsilon of about 10 no finite run can make that term meaningful");
    dpmf_json_uint(json, "max_ratings", posterior->max_ratings);
    dpmf_json_double(json, "kappa", posterior->kappa);
    dpmf_json_double(json, "rho", posterior->rho);
    dpmf_json_double(json, "loss_bound", figures->loss_bound);
    dpmf_json_double(json, "loss_scale", figures->loss_scale);
    dpmf_json_uint(json, "factors", posterior->factors);
    dpmf_json_uint(json, "rounds", posterior->rounds);
    dpmf_json_begin_object(json, "one_rating");
    dpmf_json_double(json, "replaced", figures->replaced);
    if (figures->added > 0)
        dpmf_json_double(json, "added_or_removed", figures->added);
    else
        dpmf_json_null(json, "added_or_removed");
    dpmf_json_string(json, "added_or_removed_holds_for",
                     "users of at most max_ratings ratings with it who asked for no smaller "
                     "epsilon, and rho 1");
    dpmf_json_string(json, "paper_claims",
                     "epsilon / max_ratings for any rating; that is its claim, not ours");
    dpmf_json_end_object(json);
    dpmf_json_end_object(json);
}

static void put_accountant(struct dpmf_json *json, const struct statement_figures *figures) {
    dpmf_json_double(json, "mu", figures->mu);
    dpmf_json_begin_object(json, "accountant");
    dpmf_json_double(json, "exact", figures->exact);
    dpmf_json_double(json, "renyi_epsilon", figures->renyi);
    dpmf_json_end_object(json);
}

static void put_claim(struct dpmf_json *json, const struct statement *statement,
                      const struct statement_figures *figures) {
    put_kind(json, statement);
    put_sentence(json, "unit", statement, "one user id with all its ratings");
    dpmf_json_string(json, "adjacency", "add or remove one user");
    dpmf_json_string(json, "mechanism", statement->mechanism);
    dpmf_json_double(json, "epsilon", statement->epsilon);
    dpmf_json_double(json, "delta", statement->delta);
    if (statement_is_conditional(statement))
        put_condition(json, statement, figures);
    else
        put_accountant(json, figures);
}

static void put_releases(struct dpmf_json *json, const struct statement *statement,
                         const struct statement_figures *figures) {
    dpmf_json_begin_array(json, "releases");
    for (size_t i = 0; i < statement->n_releases; i++) {
        const struct statement_release *release = &statement->releases[i];
        dpmf_json_begin_object(json, NULL);
        dpmf_json_bytes(json, "name", release->name, strnlen(release->name, sizeof release->name));
        dpmf_json_uint(json, "coordinates", release->coordinates);
        dpmf_json_uint(json, "sigma", release->sigma);
        dpmf_json_uint(json, "bits", release->bits);
        dpmf_json_double(json, "mu", figures->release[i]);
        dpmf_json_uint(json, "draws", release->draws);
        dpmf_json_end_object(json);
    }
    dpmf_json_end_array(json);
    dpmf_json_begin_array(json, "group");
    for (unsigned i = 0; i < STATEMENT_GROUPS; i++) {
        dpmf_json_begin_object(json, NULL);
        dpmf_json_uint(json, "ids", i + 2);
        dpmf_json_double(json, "epsilon", figures->group[i]);
        dpmf_json_end_object(json);
    }
    dpmf_json_end_array(json);
}

/* Nothing where they were events from the start. */
static void put_like(struct dpmf_json *json, const struct statement *statement) {
    if (statement->liked == STATEMENT_LIKED_FROM)
        dpmf_json_double(json, "like", statement->like);
    else if (statement->liked != STATEMENT_LIKED_NOT)
        dpmf_json_string(json, "like", statement->liked == STATEMENT_LIKED_ANY ? "any" : "several");
}

static void put_public(struct dpmf_json *json, const struct statement *statement) {
    if (statement_is_of_events(statement)) {
        dpmf_json_string(json, "goal", "ranking");
        put_like(json, statement);
    } else {
        dpmf_json_begin_object(json, "range");
        dpmf_json_double(json, "min", statement->range_min);
        dpmf_json_double(json, "max", statement->range_max);
        dpmf_json_end_object(json);
    }
    dpmf_json_uint(json, "items", statement->items);
    if (statement->declared_users > 0)
        dpmf_json_uint(json, "declared_users", statement->declared_users);
    else
        dpmf_json_null(json, "declared_users");
    dpmf_json_bool(json, "has_features", statement->has_features);
    dpmf_json_bool(json, "personalised", statement->is_personalised);
    dpmf_json_bool(json, "catalogue_from_ratings", statement->catalogue_from_ratings);
    if (statement->is_queried) dpmf_json_bool(json, "from_query", true);
    dpmf_json_bool(json, "research", statement->is_research);
    dpmf_json_bool(json, "insecure", statement->is_insecure);
}

static void put_assumptions(struct dpmf_json *json, const struct statement *statement) {
    dpmf_json_begin_array(json, "public_by_assumption");
    if (!statement->catalogue_from_ratings)
        dpmf_json_string(json, NULL, "the catalogue: which items there are, and their order");
    put_sentence(json, NULL, statement, "the range of ratings");
    if (statement->declared_users > 0) dpmf_json_string(json, NULL, "the declared number of users");
    if (statement->has_features) dpmf_json_string(json, NULL, "the features of items");
    if (statement->is_personalised)
        dpmf_json_string(json, NULL, "which users asked for a smaller epsilon, and which one");
    if (statement->wishes_show_members)
        dpmf_json_string(json, NULL, "that users who asked for one above 0 are in the ratings");
    if (statement->cohort.is_declared)
        dpmf_json_string(json, NULL, "the dates by which it was decided who took part");
    dpmf_json_string(json, NULL, "the settings of the run");
    if (statement->extension.items > 0)
        dpmf_json_string(json, NULL, "the items that were added, and the features of all items");
    dpmf_json_end_array(json);
    dpmf_json_begin_array(json, "outside");
    if (statement->catalogue_from_ratings)
        put_sentence(json, NULL, statement, "the catalogue: it shows which items anyone rated");
    if (statement->is_research)
        put_sentence(json, NULL, statement,
                     "figures of the private ratings that were shown with --research");
    dpmf_json_string(json, NULL, "a person's own vector and recommendations, made at home");
    dpmf_json_string(json, NULL, "other releases of the same people");
    put_sentence(json, NULL, statement, "the curator, who holds the ratings");
    dpmf_json_string(json, NULL, "how long the run took, and other traces of it on the machine");
    dpmf_json_end_array(json);
}

static void put_numeric(struct dpmf_json *json, const struct statement *statement) {
    dpmf_json_begin_object(json, "numeric");
    if (statement_is_conditional(statement)) {
        dpmf_json_string(json, "sampler",
                         "Gibbs with a Metropolis step for the clamp, temperature 1, in double "
                         "precision, which is taken as exact");
        dpmf_json_string(json, "published", "the items of one draw, in single precision");
    } else {
        dpmf_json_string(json, "grid", "2^-bits of the norm bound; norms are checked in integers");
        dpmf_json_string(json, "sums", "64-bit integers, exact");
        dpmf_json_string(json, "noise", "round(N(0, sigma^2)), sampled exactly");
    }
    dpmf_json_string(json, "generator",
                     statement->is_insecure ? "INSECURE: ChaCha20 from a seed"
                                            : "ChaCha20, keyed by the operating system");
    dpmf_json_end_object(json);
}

char *statement_json_make(const struct statement *statement,
                          const struct statement_figures *figures) {
    char id[STATEMENT_ID_TEXT];
    size_t n;
    statement_id_format(statement->id, id);
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_uint(json, "format", statement->format > 0 ? statement->format : STATEMENT_FORMAT);
    dpmf_json_string(json, "release_id", id);
    dpmf_json_string(json, "version", statement->version[0] ? statement->version : dpmf_version());
    put_claim(json, statement, figures);
    put_releases(json, statement, figures);
    put_public(json, statement);
    put_assumptions(json, statement);
    put_numeric(json, statement);
    if (statement->format != STATEMENT_FORMAT_FIRST)
        statement_provenance_json(json, statement, figures);
    statement_extension_json(json, statement);
    dpmf_json_end_object(json);
    const char *text = dpmf_json_text(json, &n);
    char *copy = text ? memory_alloc(n + 1, 1) : NULL;
    if (copy) memcpy(copy, text, n + 1);
    dpmf_json_free(json);
    return copy;
}

char *statement_to_json(const struct statement *statement) {
    struct statement_figures figures;
    if (statement->n_releases > STATEMENT_RELEASES_MAX) return NULL;
    statement_figures_make(statement, &figures);
    return statement_json_make(statement, &figures);
}
