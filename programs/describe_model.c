/*
 * The part of dpmf describe that is about models: what a checkpoint holds, as a
 * page or as one JSON object. Fed by dpmf_model_open, which checks every number
 * of it.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "model_use.h"
#include "report.h"
#include "text.h"

static int print_json(const char *path, const struct dpmf_model_info *info) {
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_string(json, "kind", info->kind);
    dpmf_json_string(json, "file", path);
    dpmf_json_uint(json, "users", info->users);
    dpmf_json_uint(json, "items", info->items);
    dpmf_json_uint(json, "ratings", info->ratings);
    dpmf_json_double(json, "min", info->min);
    dpmf_json_double(json, "max", info->max);
    dpmf_json_uint(json, "factors", info->factors);
    dpmf_json_double(json, "offset", info->offset);
    dpmf_json_uint(json, "epochs", info->epochs);
    dpmf_json_double(json, "learning_rate", info->learning_rate);
    dpmf_json_double(json, "decay", info->decay);
    dpmf_json_double(json, "regularization", info->regularization);
    dpmf_json_uint(json, "seed", info->seed);
    dpmf_json_double(json, "best_valid", info->best_valid);
    if (!isnan(info->best_valid)) dpmf_json_uint(json, "best_epoch", info->best_epoch);
    dpmf_json_string(json, "provenance", info->provenance);
    dpmf_json_uint(json, "file_bytes", info->file_bytes);
    dpmf_json_end_object(json);
    return report_json_print(json);
}

static void print_page(const char *path, const struct dpmf_model_info *info) {
    terminal_text_print(stdout, path);
    printf(": a model of %s and %s with %s\n\n", text_count(info->users, "user").text,
           text_count(info->items, "item").text, text_count(info->factors, "factor").text);
    printf("  %-10s %s, with a vector for each user: private data\n", "kind", info->kind);
    printf("  %-10s %s to %s, %.4f for all ratings\n", "scale", text_double(info->min).text,
           text_double(info->max).text, info->offset);
    printf("  %-10s %s on %s\n", "trained", text_count(info->epochs, "epoch").text,
           text_count(info->ratings, "rating").text);
    printf("  %-10s learning rate %s, regularization %s, seed %" PRIu64 "\n", "settings",
           text_double(info->learning_rate).text, text_double(info->regularization).text,
           info->seed);
    if (!isnan(info->best_valid))
        printf("  %-10s RMSE %.4f after epoch %u\n", "validated", info->best_valid,
               info->best_epoch);
    printf("  %-10s %s\n", "file", text_bytes(info->file_bytes).text);
}

int describe_model_run(struct invocation *invocation) {
    const char *path = invocation->operands[0];
    struct dpmf_model *model = NULL;
    struct dpmf_model_info info;
    if (command_has(invocation, OPTION_PLOT))
        return terminal_error_print(STATUS_USAGE, "describe the ratings with --plot instead",
                                    "%s: this is a model: it has no ratings to draw", path);
    int status = model_use_open(invocation, &model);
    if (status != STATUS_DONE) return status;
    dpmf_model_info(model, &info);
    if (command_has(invocation, OPTION_JSON))
        status = print_json(path, &info);
    else
        print_page(path, &info);
    dpmf_model_close(model);
    return status;
}
