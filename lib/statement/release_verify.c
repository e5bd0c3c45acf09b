/*
 * A release held against its own statement, from the file alone: that it is whole and holds nothing
 * else, that the statement is one of ours word by word, that its figures follow from the releases
 * it lists, and that those fit the numbers in the file. Fed by lib/model/release_read.c and
 * statement_*.c; feeds `dpmf privacy show` and `verify`. It cannot know who made the file, nor
 * whether noise was added: whoever writes a false statement with sound arithmetic passes.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/error.h"
#include "base/memory.h"
#include "dpmf_text.h"
#include "model/release.h"
#include "statement/claim.h"
#include "statement/events_rule.h"
#include "statement/posterior_rule.h"
#include "statement/release_check.h"
#include "statement/statement_extension.h"
#include "statement/statement_rounds.h"
#include "statement/statement_words.h"

struct checking {
    struct release release;
    struct statement *statement;
    struct statement_figures *figures;
    struct dpmf_verification *found;
};

static size_t stride_of(size_t k) { return k; }

DPMF_PRINTF(2, 3) static void note(struct checking *checking, const char *format, ...) {
    struct dpmf_verification *found = checking->found;
    va_list arguments;
    if (!found || found->n == DPMF_CHECKS_MAX) return;
    va_start(arguments, format);
    vsnprintf(found->check[found->n++], DPMF_CHECK_TEXT_MAX, format, arguments);
    va_end(arguments);
}

static int refuse(struct dpmf_error *error, const char *what, const char *hint) {
    error_set_text(error, DPMF_ERR_PRIVACY_NOT_VERIFIED, what);
    error_hint_text(error, hint);
    return DPMF_ERR_PRIVACY_NOT_VERIFIED;
}

/* ---- the steps ------------------------------------------------------------------------------- */

/* Reads a file that was opened, or failed to be, and closes it. */
static int read_opened(struct checking *checking, int code, struct safetensors *file,
                       struct dpmf_error *error) {
    if (code < 0) return code;
    code = release_read_from(file, stride_of, 0, &checking->release, error);
    safetensors_close(file);
    return code;
}

static int read_file(struct checking *checking, const char *path, struct dpmf_error *error) {
    struct safetensors *file = NULL;
    int code = safetensors_open(path, &file, error);
    return read_opened(checking, code, file, error);
}

static int read_memory(struct checking *checking, const void *bytes, size_t n, const char *name,
                       struct dpmf_error *error) {
    struct safetensors *file = NULL;
    int code = safetensors_open_memory(bytes, n, name, &file, error);
    return read_opened(checking, code, file, error);
}

static int read_statement(struct checking *checking, struct dpmf_error *error) {
    const char *text = checking->release.statement;
    checking->statement = memory_alloc(1, sizeof *checking->statement);
    checking->figures = memory_alloc(1, sizeof *checking->figures);
    if (!checking->statement || !checking->figures) return error_no_memory(error);
    return statement_from_json_figures(text, strlen(text), checking->statement, checking->figures,
                                       error);
}

/* A conditional statement claims the bound that follows from its settings, and no more. */
static void note_condition(struct checking *checking) {
    const struct statement *statement = checking->statement;
    char bound[DPMF_DOUBLE_TEXT_MAX], scale[DPMF_DOUBLE_TEXT_MAX], claimed[DPMF_DOUBLE_TEXT_MAX];
    dpmf_format_double(checking->figures->loss_bound, bound);
    dpmf_format_double(checking->figures->loss_scale, scale);
    dpmf_format_double(statement->epsilon, claimed);
    note(checking, "no user's loss is above %s, times %s at most the claimed epsilon %s", bound,
         scale, claimed);
    note(checking, "what it claims is conditional on convergence, and it says so");
}

static int check_accounting(struct checking *checking, struct dpmf_error *error) {
    const struct statement *statement = checking->statement;
    uint64_t numbers = 0;
    int code = statement_check(statement, error);
    if (code == 0 && statement_is_conditional(statement)) {
        code = statement_figures_check(statement, checking->figures, error);
        if (code == 0) note_condition(checking);
        return code;
    }
    if (code < 0) return code;
    for (size_t i = 0; i < statement->n_releases; i++)
        numbers += statement->releases[i].coordinates;
    note(checking, "its noisy rounds (%zu) list a draw of noise for each of their %llu numbers",
         statement->n_releases, (unsigned long long)numbers);
    code = statement_figures_check(statement, checking->figures, error);
    if (code < 0) return code;
    char cost[DPMF_DOUBLE_TEXT_MAX], delta[DPMF_DOUBLE_TEXT_MAX], claimed[DPMF_DOUBLE_TEXT_MAX];
    dpmf_format_double(checking->figures->exact, cost);
    dpmf_format_double(statement->delta, delta);
    dpmf_format_double(statement->epsilon, claimed);
    note(checking, "together they cost epsilon %s at delta %s; %s is claimed", cost, delta,
         claimed);
    note(checking, "every other figure of the statement follows from them");
    return 0;
}

struct id_text {
    char text[STATEMENT_ID_TEXT];
};

static struct id_text id_text(const uint8_t id[STATEMENT_ID_BYTES]) {
    struct id_text text;
    statement_id_format(id, text.text);
    return text;
}

/* A vote chooses among the rule's weights of taste; without factors there is no vote. */
static bool is_weight_of_rule(const struct release *release) {
    if (release->factors.k == 0)
        return release->taste_weight == events_weights[EVENTS_DEFAULT_WEIGHT];
    for (size_t i = 0; i < EVENTS_WEIGHTS; i++)
        if (release->taste_weight == events_weights[i]) return true;
    return false;
}

/* The other items were placed by public features, which are not in the file: where they lie can be
 * checked only with those, by making the extension again. */
static int check_extension(struct checking *checking, struct dpmf_error *error) {
    const struct statement *statement = checking->statement;
    int code = statement_extension_check(&checking->release, statement, checking->figures, error);
    if (code < 0) return code;
    note(checking, "its parent, release %.8s..., is in it unchanged, by the digest that it names",
         id_text(statement->extension.parent_id).text);
    note(checking,
         "the %llu items after it cost nothing, as it says, if public features placed "
         "them",
         (unsigned long long)statement->extension.items);
    return 0;
}

/* In a draw, and in events, the numbers beside the items are constants of the rule: nothing else
 * may stand there. For the other mechanisms, noisy sums made them. */
static bool has_numbers_of_rule(const struct release *release, const struct statement *statement) {
    const struct factors *factors = &release->factors;
    const double unit = (statement->range_max - statement->range_min) / 4;
    if (release->ranks)
        return factors->offset == 0 && release->factor_penalty == 1 && release->bias_penalty == 1;
    if (!statement_is_conditional(statement)) return true;
    return factors->offset == (statement->range_min + statement->range_max) / 2 &&
           release->factor_penalty == posterior_fold_in_variance * unit * unit &&
           release->bias_penalty == posterior_fold_in_variance * posterior_precision_b;
}

static int check_contents(struct checking *checking, struct dpmf_error *error) {
    const struct statement *statement = checking->statement;
    const struct factors *factors = &checking->release.factors;
    const char *hint = "do not rely on it; ask whoever published the release for a valid one";
    const bool is_extended = statement->extension.items > 0;
    const char *version = is_extended ? statement->extension.version : statement->version;
    if (strcmp(version, checking->release.version) != 0)
        return refuse(error, "the statement is of another version of dpmf than the file", hint);
    if (checking->release.ranks != statement_is_of_events(statement))
        return refuse(error, "the statement is about another kind of release than the file", hint);
    if (checking->release.ranks && !is_weight_of_rule(&checking->release))
        return refuse(error, "its weight of taste is not one that the vote could have chosen",
                      hint);
    if (factors->min != statement->range_min || factors->max != statement->range_max)
        return refuse(error, "the statement is about another range of ratings than the file", hint);
    if (!has_numbers_of_rule(&checking->release, statement))
        return refuse(error, "its offset or a penalty is not the constant of its rule", hint);
    const uint64_t items = is_extended ? statement->items : factors->items.n;
    int code = statement_shape_check(statement, items, factors->k, error);
    if (code == 0) code = statement_rounds_check(statement, factors->k, error);
    if (code < 0) return code;
    note(checking, "%s can have made the %llu items and %u factors that are there",
         statement_is_conditional(statement) ? "its settings" : "they", (unsigned long long)items,
         factors->k);
    return is_extended ? check_extension(checking, error) : 0;
}

/* Every release in format 2 names its build, so one that does not was written by something else.
 * Format 1, of 0.1.0, names none, and so an extension of one, in format 3. */
static int check_build(const struct checking *checking, struct dpmf_error *error) {
    const struct statement *statement = checking->statement;
    if (statement->build.commit[0] || statement->format != STATEMENT_FORMAT) return 0;
    return refuse(error, "its statement does not name the build that made it",
                  "do not rely on it; ask whoever published the release for a valid one, or to "
                  "make it again");
}

static int check_flags(struct checking *checking, struct dpmf_error *error) {
    const struct statement *statement = checking->statement;
    if (statement->is_insecure)
        return refuse(error, "it is stamped NOT PRIVATE: its noise was made from a seed",
                      "make the release again without {insecure-noise-seed}");
    if (statement->is_research)
        return refuse(error,
                      "it is stamped NOT PRIVATE: private figures were shown with {research}",
                      "make the release again without {research}");
    note(checking, "it is not stamped as insecure or as made for research");
    return 0;
}

/* Everything holds; the kind decides whether that is enough. */
static int check_claim(struct checking *checking, unsigned accepted, struct dpmf_error *error) {
    struct dpmf_verification *found = checking->found;
    found->claim = claim_of(checking->statement);
    found->assumptions = claim_assumptions(checking->statement);
    if ((found->assumptions & ~accepted) == 0) return 0;
    error_set(error, DPMF_ERR_PRIVACY_NOT_VERIFIED,
              "it adds up, but what it promises is %s, not proven", dpmf_claim_name(found->claim));
    error_hint(error, "its statement names what it rests on; accept that only if you mean to");
    return DPMF_ERR_PRIVACY_NOT_VERIFIED;
}

static int check_statement(struct checking *checking, struct dpmf_error *error) {
    int code = read_statement(checking, error);
    if (code < 0) return code;
    note(checking, "its statement is in the words of this version of dpmf, and in no others");
    code = check_accounting(checking, error);
    if (code == 0) code = check_contents(checking, error);
    return code;
}

static void free_checking(struct checking *checking) {
    release_free(&checking->release);
    free(checking->statement);
    free(checking->figures);
}

/* ---- for the rest of the library ------------------------------------------------------------- */

int release_read_checked(const char *path, struct release *release, struct statement *statement,
                         struct statement_figures *figures, struct dpmf_error *error) {
    struct checking checking = {0};
    *release = (struct release){0};
    int code = read_file(&checking, path, error);
    if (code == 0) code = check_statement(&checking, error);
    if (code == 0) {
        *statement = *checking.statement;
        *figures = *checking.figures;
        *release = checking.release;
        checking.release = (struct release){0};
    } else {
        error_place(error, path, 0, 0);
    }
    free_checking(&checking);
    return code;
}

/* ---- public ---------------------------------------------------------------------------------- */

int dpmf_release_verify(const char *path, unsigned accepted, struct dpmf_verification *verification,
                        struct dpmf_error *error) {
    struct dpmf_error own;
    struct checking checking = {.found = verification};
    if (!error) error = &own;
    int code = arguments_check(error, "path verification", path, verification);
    if (code < 0) return code;
    *verification = (struct dpmf_verification){.claim = DPMF_CLAIM_NOT_PRIVATE};
    code = read_file(&checking, path, error);
    if (code == 0) {
        note(&checking, "it holds what a release holds, and nothing else");
        note(&checking, "its numbers are finite, and its digest fits what it holds");
        code = check_statement(&checking, error);
    }
    if (code == 0) code = check_build(&checking, error);
    if (code == 0) code = check_flags(&checking, error);
    if (code == 0) code = check_claim(&checking, accepted, error);
    if (code == DPMF_ERR_MODEL_CORRUPT) error->code = code = DPMF_ERR_PRIVACY_NOT_VERIFIED;
    if (code < 0) error_place(error, path, 0, 0);
    free_checking(&checking);
    return code;
}

/* What was recorded; of an older version's, what this one would record, so that its kind is what it
 * is called today. */
static char *present_json(const struct checking *checking) {
    const char *recorded = checking->release.statement;
    if (checking->statement->format != STATEMENT_FORMAT_FIRST) return strdup(recorded);
    checking->statement->format = 0;
    return statement_to_json(checking->statement);
}

/* The statement of what was read, or the reason why not. */
static int give_statement(struct checking *checking, int code, const char *path,
                          struct dpmf_statement *out, struct dpmf_error *error) {
    *out = (struct dpmf_statement){0};
    if (code == 0) code = check_statement(checking, error);
    if (code == 0) {
        const struct statement *statement = checking->statement;
        *out = (struct dpmf_statement){.json = present_json(checking),
                                       .recorded = checking->release.statement,
                                       .text = statement_to_text(statement),
                                       .registry = statement_to_registry(statement),
                                       .epsilon = statement->epsilon,
                                       .delta = statement->delta,
                                       .mechanism = statement->mechanism,
                                       .claim = claim_of(statement),
                                       .assumptions = claim_assumptions(statement),
                                       .is_insecure = statement->is_insecure,
                                       .is_research = statement->is_research};
        cohort_dates(&statement->cohort, out->users_since, out->users_before);
        checking->release.statement = NULL;
        const bool has_entry = out->registry || out->claim == DPMF_CLAIM_NOT_PRIVATE;
        if (!out->json || !out->text || !has_entry) {
            dpmf_statement_free(out);
            code = error_no_memory(error);
        }
    }
    if (code < 0) error_place(error, path, 0, 0);
    free_checking(checking);
    return code;
}

int dpmf_release_statement(const char *path, struct dpmf_statement *out, struct dpmf_error *error) {
    struct dpmf_error own;
    struct checking checking = {0};
    if (!error) error = &own;
    int code = arguments_check(error, "path statement", path, out);
    if (code < 0) return code;
    code = read_file(&checking, path, error);
    return give_statement(&checking, code, path, out, error);
}

int dpmf_release_statement_memory(const void *bytes, size_t n, const char *name,
                                  struct dpmf_statement *out, struct dpmf_error *error) {
    struct dpmf_error own;
    struct checking checking = {0};
    if (!error) error = &own;
    int code =
        arguments_check(error, n > 0 ? "name statement bytes" : "name statement", name, out, bytes);
    if (code < 0) return code;
    code = read_memory(&checking, bytes, n, name, error);
    return give_statement(&checking, code, name, out, error);
}

void dpmf_statement_free(struct dpmf_statement *statement) {
    if (!statement) return;
    free(statement->json);
    free(statement->recorded);
    free(statement->text);
    free(statement->registry);
    *statement = (struct dpmf_statement){0};
}
