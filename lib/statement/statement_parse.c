/*
 * Reads a statement back. The fields that vary are taken out of the JSON one by one; then the
 * statement is written again from them, and must be the same text, byte by byte. So every sentence
 * of it is one of ours, no field is missing, doubled or added, and there is no room to hide
 * anything in. Whether what it says is true is for statement_check.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/number.h"
#include "statement/claim.h"
#include "statement/statement_extension.h"
#include "statement/statement_provenance.h"
#include "statement/statement_words.h"

struct parsing {
    struct json_reader json;
    struct statement *statement;
    struct statement_figures *figures;
};

/* ---- values ---------------------------------------------------------------------------------- */

static bool take_double(const struct json_token *token, double *value) {
    return token->kind == JSON_NUMBER &&
           number_parse_double(token->text, token->length, value) == NUMBER_OK;
}

static bool take_whole(const struct json_token *token, uint64_t *value) {
    int64_t number;
    if (token->kind != JSON_NUMBER ||
        number_parse_int64(token->text, token->length, &number) != NUMBER_OK || number < 0)
        return false;
    *value = (uint64_t)number;
    return true;
}

static bool take_bool(const struct json_token *token, bool *value) {
    *value = token->kind == JSON_TRUE;
    return *value || token->kind == JSON_FALSE;
}

/* Terminated by NUL, without one inside. */
static bool take_text(const struct json_token *token, char *text, size_t size) {
    if (token->kind != JSON_STRING || token->length >= size) return false;
    size_t n = json_unescape(token, text);
    text[n] = '\0';
    return strlen(text) == n;
}

bool statement_id_take(const struct json_token *token, uint8_t id[STATEMENT_ID_BYTES]) {
    static const char digits[] = "0123456789abcdef";
    char text[STATEMENT_ID_TEXT];
    if (!take_text(token, text, sizeof text) || strlen(text) != sizeof text - 1) return false;
    for (size_t i = 0; i < STATEMENT_ID_BYTES; i++) {
        const char *high = strchr(digits, text[2 * i]), *low = strchr(digits, text[2 * i + 1]);
        if (!high || !low) return false;
        id[i] = (uint8_t)((high - digits) << 4 | (low - digits));
    }
    return true;
}

static bool take_mechanism(const struct json_token *token, struct statement *statement) {
    char text[24];
    if (!take_text(token, text, sizeof text)) return false;
    statement->mechanism = statement_mechanism_find(text);
    return statement->mechanism != NULL;
}

/* Three numbers, as 0.1.0. */
bool statement_version_take(const struct json_token *token,
                            char version[STATEMENT_VERSION_MAX + 1]) {
    if (!take_text(token, version, STATEMENT_VERSION_MAX + 1)) return false;
    const char *text = version;
    for (int part = 0; part < 3; part++) {
        const size_t digits = strspn(text, "0123456789");
        if (digits < 1 || digits > 4 || text[digits] != (part < 2 ? '.' : '\0')) return false;
        text += digits + 1;
    }
    return true;
}

/* ---- objects and arrays ---------------------------------------------------------------------- */

typedef bool take_field(struct parsing *parsing, const struct json_token *key,
                        struct json_token value);

/* Gives each field of an object, whose beginning was read, to `take`. */
static bool take_object(struct parsing *parsing, struct json_token begin, take_field *take) {
    if (begin.kind != JSON_OBJECT_BEGIN) return false;
    for (;;) {
        struct json_token key = json_next(&parsing->json);
        if (key.kind == JSON_OBJECT_END) return true;
        if (key.kind != JSON_KEY || !take(parsing, &key, json_next(&parsing->json))) return false;
    }
}

static bool take_accountant(struct parsing *parsing, const struct json_token *key,
                            struct json_token value) {
    if (json_equals(key, "exact")) return take_double(&value, &parsing->figures->exact);
    if (json_equals(key, "renyi_epsilon")) return take_double(&value, &parsing->figures->renyi);
    return false;
}

static bool take_u32(const struct json_token *token, uint32_t *value) {
    uint64_t whole;
    if (!take_whole(token, &whole) || whole > UINT32_MAX) return false;
    *value = (uint32_t)whole;
    return true;
}

static bool take_one_rating(struct parsing *parsing, const struct json_token *key,
                            struct json_token value) {
    struct statement_figures *figures = parsing->figures;
    if (json_equals(key, "replaced")) return take_double(&value, &figures->replaced);
    if (json_equals(key, "added_or_removed"))
        return value.kind == JSON_NULL || take_double(&value, &figures->added);
    return json_skip(&parsing->json, value);
}

static bool take_conditional(struct parsing *parsing, const struct json_token *key,
                             struct json_token value) {
    struct statement_posterior *posterior = &parsing->statement->posterior;
    struct statement_figures *figures = parsing->figures;
    if (json_equals(key, "max_ratings")) return take_u32(&value, &posterior->max_ratings);
    if (json_equals(key, "kappa")) return take_double(&value, &posterior->kappa);
    if (json_equals(key, "rho")) return take_double(&value, &posterior->rho);
    if (json_equals(key, "loss_bound")) return take_double(&value, &figures->loss_bound);
    if (json_equals(key, "loss_scale")) return take_double(&value, &figures->loss_scale);
    if (json_equals(key, "factors")) return take_u32(&value, &posterior->factors);
    if (json_equals(key, "rounds")) return take_u32(&value, &posterior->rounds);
    if (json_equals(key, "one_rating")) return take_object(parsing, value, take_one_rating);
    return json_skip(&parsing->json, value);
}

static bool take_range(struct parsing *parsing, const struct json_token *key,
                       struct json_token value) {
    if (json_equals(key, "min")) return take_double(&value, &parsing->statement->range_min);
    if (json_equals(key, "max")) return take_double(&value, &parsing->statement->range_max);
    return false;
}

/* The round that was counted last. */
static bool take_release(struct parsing *parsing, const struct json_token *key,
                         struct json_token value) {
    size_t i = parsing->statement->n_releases - 1;
    struct statement_release *release = &parsing->statement->releases[i];
    uint64_t bits;
    if (json_equals(key, "name"))
        return take_text(&value, release->name, sizeof release->name) &&
               statement_round_is_known(release->name);
    if (json_equals(key, "coordinates")) return take_whole(&value, &release->coordinates);
    if (json_equals(key, "sigma")) return take_whole(&value, &release->sigma);
    if (json_equals(key, "draws")) return take_whole(&value, &release->draws);
    if (json_equals(key, "mu")) return take_double(&value, &parsing->figures->release[i]);
    if (!json_equals(key, "bits") || !take_whole(&value, &bits) || bits > STATEMENT_BITS_MAX)
        return false;
    release->bits = (uint32_t)bits;
    return true;
}

static bool take_releases(struct parsing *parsing, struct json_token begin) {
    struct json_token token;
    if (begin.kind != JSON_ARRAY_BEGIN) return false;
    while ((token = json_next(&parsing->json)).kind != JSON_ARRAY_END) {
        if (parsing->statement->n_releases == STATEMENT_RELEASES_MAX) return false;
        parsing->statement->n_releases++;
        if (!take_object(parsing, token, take_release)) return false;
    }
    return true;
}

static bool take_groups(struct parsing *parsing, struct json_token begin) {
    if (begin.kind != JSON_ARRAY_BEGIN) return false;
    for (int i = 0; i < STATEMENT_GROUPS; i++) {
        if (json_next(&parsing->json).kind != JSON_OBJECT_BEGIN) return false;
        for (int j = 0; j < 2; j++) {
            struct json_token key = json_next(&parsing->json), value = json_next(&parsing->json);
            if (key.kind != JSON_KEY || value.kind != JSON_NUMBER) return false;
            if (json_equals(&key, "epsilon") && !take_double(&value, &parsing->figures->group[i]))
                return false;
        }
        if (json_next(&parsing->json).kind != JSON_OBJECT_END) return false;
    }
    return json_next(&parsing->json).kind == JSON_ARRAY_END;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static bool take_flag(struct statement *statement, const struct json_token *key,
                      const struct json_token *value, bool *is_flag) {
    bool *flag = json_equals(key, "has_features")             ? &statement->has_features
                 : json_equals(key, "personalised")           ? &statement->is_personalised
                 : json_equals(key, "catalogue_from_ratings") ? &statement->catalogue_from_ratings
                 : json_equals(key, "from_query")             ? &statement->is_queried
                 : json_equals(key, "research")               ? &statement->is_research
                 : json_equals(key, "insecure")               ? &statement->is_insecure
                                                              : NULL;
    *is_flag = flag != NULL;
    return flag && take_bool(value, flag);
}

/* A threshold, or a word. */
static bool take_like(const struct json_token *token, struct statement *statement) {
    char word[12];
    statement->liked = STATEMENT_LIKED_FROM;
    if (token->kind == JSON_NUMBER) return take_double(token, &statement->like);
    if (!take_text(token, word, sizeof word)) return false;
    statement->liked = strcmp(word, "any") == 0 ? STATEMENT_LIKED_ANY : STATEMENT_LIKED_SEVERAL;
    return true;
}

/* What is not taken here is the same in all statements, and is compared with the rest in the end.
 * */
static bool take_top(struct parsing *parsing, const struct json_token *key,
                     struct json_token value) {
    struct statement *statement = parsing->statement;
    bool is_flag, taken = take_flag(statement, key, &value, &is_flag);
    if (is_flag) return taken;
    if (statement_provenance_take(&parsing->json, key, value, statement, parsing->figures, &taken))
        return taken;
    if (json_equals(key, "extension"))
        return statement_extension_take(&parsing->json, value, &statement->extension);
    if (json_equals(key, "format"))
        return take_u32(&value, &statement->format) &&
               statement->format >= STATEMENT_FORMAT_FIRST &&
               statement->format <= STATEMENT_FORMAT_EXTENDED;
    if (json_equals(key, "release_id")) return statement_id_take(&value, statement->id);
    if (json_equals(key, "version")) return statement_version_take(&value, statement->version);
    if (json_equals(key, "mechanism")) return take_mechanism(&value, statement);
    if (json_equals(key, "epsilon")) return take_double(&value, &statement->epsilon);
    if (json_equals(key, "delta")) return take_double(&value, &statement->delta);
    if (json_equals(key, "mu"))
        return value.kind == JSON_NULL || take_double(&value, &parsing->figures->mu);
    if (json_equals(key, "accountant"))
        return value.kind == JSON_NULL || take_object(parsing, value, take_accountant);
    if (json_equals(key, "conditional")) return take_object(parsing, value, take_conditional);
    if (json_equals(key, "releases")) return take_releases(parsing, value);
    if (json_equals(key, "group")) return take_groups(parsing, value);
    if (json_equals(key, "range")) return take_object(parsing, value, take_range);
    if (json_equals(key, "like")) return take_like(&value, statement);
    if (json_equals(key, "items")) return take_whole(&value, &statement->items);
    if (json_equals(key, "declared_users"))
        return value.kind == JSON_NULL || take_whole(&value, &statement->declared_users);
    return json_skip(&parsing->json, value);
}

static int refuse(struct dpmf_error *error, const char *what) {
    error_set(error, DPMF_ERR_MODEL_CORRUPT, "the privacy statement %s", what);
    error_hint(error, "do not rely on it; a newer version of dpmf may have written it");
    return DPMF_ERR_MODEL_CORRUPT;
}

/* @return whether it is what would be written, or -1 without memory */
static int is_written_so(const struct statement *statement, const struct statement_figures *figures,
                         const char *text, size_t n) {
    char *again = statement_json_make(statement, figures);
    if (!again) return -1;
    bool is_same = strlen(again) == n && memcmp(again, text, n) == 0;
    free(again);
    return is_same;
}

int statement_from_json_figures(const char *text, size_t n, struct statement *statement,
                                struct statement_figures *figures, struct dpmf_error *error) {
    struct parsing parsing = {.statement = statement, .figures = figures};
    *statement = (struct statement){0};
    *figures = (struct statement_figures){0};
    json_reader_init(&parsing.json, text, n);
    if (!take_object(&parsing, json_next(&parsing.json), take_top) ||
        json_next(&parsing.json).kind != JSON_END || !statement->mechanism)
        return refuse(error, "cannot be read");
    if ((statement->format == STATEMENT_FORMAT_EXTENDED) != (statement->extension.items > 0))
        return refuse(error, "is of another format than its parts");
    if (statement_is_of_events(statement)) statement->range_min = 0, statement->range_max = 1;
    int is_same = is_written_so(statement, figures, text, n);
    if (is_same == 0 && statement->is_personalised && statement_is_conditional(statement)) {
        statement->wishes_show_members = true;
        is_same = is_written_so(statement, figures, text, n);
    }
    const bool is_queried = claim_assumptions(statement) & DPMF_ASSUMES_QUERY;
    while (is_same == 0 && is_queried && statement->query_words < STATEMENT_OLDER_WORDS) {
        statement->query_words++;
        is_same = is_written_so(statement, figures, text, n);
    }
    if (is_same < 0) return error_no_memory(error);
    return is_same ? 0 : refuse(error, "holds other words than this version writes");
}

int statement_from_json(const char *json, size_t n, struct statement *statement,
                        struct dpmf_error *error) {
    struct statement_figures figures;
    return statement_from_json_figures(json, n, statement, &figures, error);
}
