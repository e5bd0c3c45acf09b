/*
 * The part of dpmf describe that is about models: what a checkpoint or a
 * release holds, as a page or as one JSON object. Fed by dpmf_model_open, which
 * checks every number of it.
 */
#include "verbs/describe_model.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/error_show.h"
#include "cli/report.h"
#include "cli/text.h"
#include "dpmf_text.h"
#include "shared/model_use.h"
#include "shared/privacy_claim.h"

/* Whether a release that ranks knows no taste. */
static bool is_popularity_alone(const struct dpmf_model_info *info) {
    return info->factors == 0 || info->taste_weight == 0;
}

static bool is_ranking(const struct dpmf_model_info *info) {
    return strcmp(info->goal, "ranking") == 0;
}

static int print_json(const char *path, const struct dpmf_model_info *info) {
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_string(json, "kind", info->kind);
    dpmf_json_string(json, "file", path);
    dpmf_json_string(json, "goal", info->goal);
    dpmf_json_uint(json, "users", info->users);
    dpmf_json_uint(json, "items", info->items);
    dpmf_json_uint(json, "ratings", info->ratings);
    dpmf_json_double(json, "min", info->min);
    dpmf_json_double(json, "max", info->max);
    dpmf_json_uint(json, "factors", info->factors);
    dpmf_json_double(json, "offset", info->offset);
    dpmf_json_uint(json, "epochs", info->epochs);
    if (model_use_epochs_asked(info) > 0)
        dpmf_json_uint(json, "epochs_asked", model_use_epochs_asked(info));
    if (is_ranking(info)) {
        dpmf_json_double(json, "regularization", info->regularization);
        dpmf_json_double(json, "unobserved", info->unobserved);
        dpmf_json_double(json, "exponent", info->exponent);
        dpmf_json_double(json, "like", info->like);
        dpmf_json_double(json, "count_weight", info->count_weight);
    } else if (info->samples == 0) {
        dpmf_json_double(json, "learning_rate", info->learning_rate);
        dpmf_json_double(json, "decay", info->decay);
        dpmf_json_double(json, "regularization", info->regularization);
    } else {
        dpmf_json_uint(json, "samples", info->samples);
        dpmf_json_double(json, "noise_precision", info->noise_precision);
    }
    dpmf_json_uint(json, "seed", info->seed);
    dpmf_json_double(json, "best_valid", info->best_valid);
    if (!isnan(info->best_valid)) dpmf_json_uint(json, "best_epoch", info->best_epoch);
    dpmf_json_string(json, "provenance", info->provenance);
    dpmf_json_uint(json, "file_bytes", info->file_bytes);
    dpmf_json_end_object(json);
    return report_json_print(json);
}

static void print_epochs(const struct dpmf_model_info *info) {
    uint32_t asked = model_use_epochs_asked(info);
    char done[24] = "";
    if (asked > info->epochs) snprintf(done, sizeof done, "%u of ", info->epochs);
    printf("  %-10s %s%s on %s\n", "trained", done,
           text_count(asked > info->epochs ? asked : info->epochs, "epoch").text,
           text_count(info->ratings, info->is_of_events ? "event" : "rating").text);
}

/* A run with a validation set keeps the vectors of its best epoch, which need not be the last. */
static void print_validation(const struct dpmf_model_info *info) {
    if (isnan(info->best_valid)) return;
    printf("  %-10s %s %.4f after epoch %u", "validated", is_ranking(info) ? "NDCG@10" : "RMSE",
           info->best_valid, info->best_epoch);
    if (info->best_epoch < info->epochs)
        printf(", the best, which is kept; epoch %u, the last, was no better\n", info->epochs);
    else
        puts(", the last and the best");
}

static void print_settings(const struct dpmf_model_info *info) {
    if (is_ranking(info)) {
        printf("  %-10s ials, regularization %s, weight of unobserved pairs %s, ", "settings",
               text_double(info->regularization).text, text_double(info->unobserved).text);
        if (info->count_weight > 0)
            printf("weight of counts %s, ", text_double(info->count_weight).text);
        printf("seed %" PRIu64 "\n", info->seed);
    } else if (info->samples == 0)
        printf("  %-10s learning rate %s, regularization %s, seed %" PRIu64 "\n", "settings",
               text_double(info->learning_rate).text, text_double(info->regularization).text,
               info->seed);
    else
        printf("  %-10s %s of the posterior, noise of a rating %.4f, seed %" PRIu64 "\n", "samples",
               text_count(info->samples, "draw").text, 1 / sqrt(info->noise_precision), info->seed);
}

static void print_page(const char *path, const struct dpmf_model_info *info) {
    terminal_text_print(stdout, path);
    printf(": a model of %s and %s with %s\n\n", text_count(info->users, "user").text,
           text_count(info->items, "item").text, text_count(info->factors, "factor").text);
    printf("  %-10s %s, with a vector for each user: private data\n", "kind", info->kind);
    if (is_ranking(info))
        printf("  %-10s ranking items, by scores that are not ratings%s%s\n", "goal",
               isinf(info->like) ? "" : "; likes are ratings of at least ",
               isinf(info->like) ? "" : text_double(info->like).text);
    else
        printf("  %-10s %s to %s, %s for all ratings\n", "scale", text_double(info->min).text,
               text_double(info->max).text, text_figure(info->offset).text);
    print_epochs(info);
    print_settings(info);
    print_validation(info);
    printf("  %-10s %s\n", "file", text_bytes(info->file_bytes).text);
}

/* ---- releases -------------------------------------------------------------------------------- */

static int print_release_json(const char *path, const struct dpmf_model_info *info,
                              const struct dpmf_statement *statement,
                              const struct dpmf_error *error) {
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_string(json, "kind", info->kind);
    dpmf_json_string(json, "file", path);
    dpmf_json_uint(json, "users", 0);
    dpmf_json_uint(json, "items", info->items);
    if (is_ranking(info)) {
        dpmf_json_string(json, "goal", info->goal);
    } else {
        dpmf_json_double(json, "min", info->min);
        dpmf_json_double(json, "max", info->max);
    }
    dpmf_json_uint(json, "factors", info->factors);
    if (is_ranking(info)) {
        dpmf_json_double(json, "taste_weight", info->taste_weight);
        dpmf_json_bool(json, "popularity_alone", is_popularity_alone(info));
    } else {
        dpmf_json_double(json, "offset", info->offset);
        dpmf_json_double(json, "factor_penalty", info->factor_penalty);
        dpmf_json_double(json, "bias_penalty", info->bias_penalty);
    }
    dpmf_json_bool(json, "statement_holds", error->code == 0);
    if (error->code == 0) {
        dpmf_json_bool(json, "private", statement->claim != DPMF_CLAIM_NOT_PRIVATE);
        dpmf_json_bool(json, "conditional", statement->claim == DPMF_CLAIM_CONDITIONAL);
        privacy_claim_json(json, "claim", statement->claim, statement->assumptions);
        dpmf_json_string(json, "mechanism", statement->mechanism);
        dpmf_json_double(json, "epsilon", statement->epsilon);
        dpmf_json_double(json, "delta", statement->delta);
        if (statement->users_since[0] != '\0')
            dpmf_json_string(json, "users_since", statement->users_since);
        if (statement->users_before[0] != '\0')
            dpmf_json_string(json, "users_before", statement->users_before);
    }
    dpmf_json_uint(json, "file_bytes", info->file_bytes);
    dpmf_json_end_object(json);
    return report_json_print(json);
}

static void print_privacy(const struct dpmf_statement *statement, const struct dpmf_error *error) {
    printf("  %-10s ", "privacy");
    if (error->code != 0) {
        fputs("NOT VERIFIED: ", stdout);
        char fault[2 * DPMF_ERROR_TEXT_MAX];
        error_show_text(error->message, fault, sizeof fault);
        terminal_text_print(stdout, fault);
        putchar('\n');
    } else if (statement->claim == DPMF_CLAIM_NOT_PRIVATE) {
        puts(statement->is_insecure
                 ? "NOT PRIVATE: its noise was made from a seed, for tests"
                 : "NOT PRIVATE: private figures were shown with --research; not to be published");
    } else {
        const char *sentence = NULL;
        printf("%s: epsilon %s, delta %s for each user id, by \"%s\"; see dpmf privacy show\n",
               privacy_claim_label(statement->claim), text_double(statement->epsilon).text,
               text_double(statement->delta).text, statement->mechanism);
        for (unsigned bit = 1; bit <= DPMF_ASSUMES_LAST; bit <<= 1)
            if (statement->assumptions & bit && dpmf_assumption_name(bit, &sentence))
                printf("  %-10s it assumes %s\n", "", sentence);
    }
}

/* The curator's words, which only say who took part. */
static void print_users(const struct dpmf_statement *statement) {
    if (statement->users_since[0] == '\0' && statement->users_before[0] == '\0') return;
    printf("  %-10s first record", "users");
    if (statement->users_since[0] != '\0') printf(" since %s", statement->users_since);
    if (statement->users_before[0] != '\0') printf(" before %s", statement->users_before);
    puts(", as declared, not verified");
}

static void print_release(const char *path, const struct dpmf_model_info *info,
                          const struct dpmf_statement *statement, const struct dpmf_error *error) {
    terminal_text_print(stdout, path);
    printf(": a release of %s with %s\n\n", text_count(info->items, "item").text,
           info->factors > 0  ? text_count(info->factors, "factor").text
           : is_ranking(info) ? "popularity alone"
                              : "biases alone");
    printf("  %-10s %s: items alone, no vector and no id of any user\n", "kind", info->kind);
    print_privacy(statement, error);
    if (error->code == 0) print_users(statement);
    if (is_ranking(info)) {
        printf("  %-10s ranking items, by scores that are not ratings\n", "goal");
        if (is_popularity_alone(info))
            printf("  %-10s counts nothing: %s\n", "taste",
                   info->factors > 0 ? "popularity alone, by the users' noisy vote"
                                     : "popularity alone, for noise hides which items go together");
        else
            printf("  %-10s counts %s beside popularity\n", "taste",
                   text_double(info->taste_weight).text);
        printf("  %-10s %s\n", "file", text_bytes(info->file_bytes).text);
        return;
    }
    printf("  %-10s %s to %s, %s for all ratings\n", "scale", text_double(info->min).text,
           text_double(info->max).text, text_figure(info->offset).text);
    printf("  %-10s a user's own bias is fitted at home with penalty %.6g", "fold-in",
           info->bias_penalty);
    if (info->factors > 0) printf(", the vector with %.6g", info->factor_penalty);
    putchar('\n');
    printf("  %-10s %s\n", "file", text_bytes(info->file_bytes).text);
}

/* A statement that does not hold is reported, not hidden: the rest may still be looked at. */
static int describe_release(const struct invocation *invocation,
                            const struct dpmf_model_info *info) {
    const char *path = invocation->operands[0];
    struct dpmf_statement statement;
    struct dpmf_error error = {0};
    int status = STATUS_DONE;
    dpmf_release_statement(path, &statement, &error);
    if (command_has(invocation, OPTION_JSON))
        status = print_release_json(path, info, &statement, &error);
    else
        print_release(path, info, &statement, &error);
    dpmf_statement_free(&statement);
    return status;
}

int describe_model_run(struct invocation *invocation) {
    const char *path = invocation->operands[0];
    struct dpmf_model *model = NULL;
    struct dpmf_model_info info;
    if (command_has(invocation, OPTION_PLOT))
        return terminal_error_print(STATUS_USAGE, "describe the ratings with --plot instead",
                                    "%s: this is a model: it has no ratings to draw", path);
    struct dpmf_error error = {0};
    int status = model_use_refuse_unread(invocation);
    if (status != STATUS_DONE) return status;
    if (dpmf_model_open(path, &model, &error) != 0) return report_error_print(invocation, &error);
    dpmf_model_info(model, &info);
    model_use_warn_unchecked(invocation, &info);
    if (strcmp(info.kind, "release") == 0)
        status = describe_release(invocation, &info);
    else if (command_has(invocation, OPTION_JSON))
        status = print_json(path, &info);
    else
        print_page(path, &info);
    dpmf_model_close(model);
    return status;
}
