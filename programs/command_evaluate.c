/*
 * dpmf evaluate: how well a model predicts and ranks ratings it has not seen.
 * Fed by a model and by ratings of any kind.
 */
#include <stdio.h>
#include <string.h>

#include "model_use.h"
#include "options.h"
#include "report.h"
#include "text.h"

enum { RANKING_MOST = 1000 };

static int print_json(const struct invocation *invocation, uint32_t n,
                      const struct dpmf_evaluation *evaluation) {
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_double(json, "rmse", evaluation->rmse);
    dpmf_json_double(json, "mae", evaluation->mae);
    dpmf_json_uint(json, "n", evaluation->n);
    dpmf_json_uint(json, "unknown_users", evaluation->unknown_users);
    dpmf_json_uint(json, "unknown_items", evaluation->unknown_items);
    if (n > 0) {
        dpmf_json_uint(json, "top", n);
        dpmf_json_uint(json, "ranked_users", evaluation->ranked_users);
        dpmf_json_double(json, "recall", evaluation->recall);
        dpmf_json_double(json, "ndcg", evaluation->ndcg);
        dpmf_json_double(json, "map", evaluation->map);
    }
    dpmf_json_string(json, "model", invocation->operands[0]);
    dpmf_json_string(json, "test", invocation->operands[1]);
    dpmf_json_end_object(json);
    return report_json_print(json);
}

static void print_page(uint32_t n, const struct dpmf_evaluation *evaluation) {
    printf("%-12s %.4f\n", "RMSE", evaluation->rmse);
    printf("%-12s %.4f\n", "MAE", evaluation->mae);
    printf("%-12s %s\n", "ratings", text_number(evaluation->n).text);
    if (n == 0) return;
    printf("recall@%-5u %.4f\n", n, evaluation->recall);
    printf("ndcg@%-7u %.4f\n", n, evaluation->ndcg);
    printf("map@%-8u %.4f\n", n, evaluation->map);
    printf("%-12s %s\n", "users ranked", text_number(evaluation->ranked_users).text);
}

static void print_unknown(struct terminal *terminal, uint64_t n, const char *what) {
    if (n > 0)
        terminal_note_print(terminal,
                            "%s of %s that the model does not know: predicted by what "
                            "is known",
                            text_count(n, "rating").text, what);
}

/* Nobody is known to a release without their ratings, which is hardly what was meant. */
static void note_release(struct invocation *invocation, const struct dpmf_model *model) {
    struct dpmf_model_info info;
    dpmf_model_info(model, &info);
    if (strcmp(info.kind, "release") == 0 && !command_has(invocation, OPTION_HISTORY))
        terminal_note_print(&invocation->terminal,
                            "a release has no users: give --history, which each user is fitted to");
}

static int evaluate(struct invocation *invocation, const struct dpmf_model *model,
                    struct dpmf_store *test, struct dpmf_store *history, uint32_t n) {
    const struct dpmf_evaluate_options options = {.ranking = n};
    struct dpmf_evaluation evaluation;
    struct dpmf_error error = {0};
    int rc =
        dpmf_model_evaluate(model, test, history, &options, &invocation->run, &evaluation, &error);
    if (rc != 0) return report_error_print(invocation, &error);
    terminal_progress_end(&invocation->terminal);
    note_release(invocation, model);
    print_unknown(&invocation->terminal, evaluation.unknown_users, "users");
    print_unknown(&invocation->terminal, evaluation.unknown_items, "items");
    terminal_phases_print(&invocation->terminal);
    if (command_has(invocation, OPTION_JSON)) return print_json(invocation, n, &evaluation);
    print_page(n, &evaluation);
    return STATUS_DONE;
}

int command_evaluate_run(struct invocation *invocation) {
    struct dpmf_input_options input = options_input(invocation);
    struct dpmf_model *model = NULL;
    struct dpmf_store *test = NULL, *history = NULL;
    struct dpmf_error error = {0};
    size_t n;

    bool ranks = command_has(invocation, OPTION_RANKING);
    if (!ranks && command_has(invocation, OPTION_TOP))
        return terminal_error_print(STATUS_USAGE, "add --ranking",
                                    "-n is about the ranking, which was not asked for");
    int status = model_use_top(invocation, RANKING_MOST, &n);
    if (status == STATUS_DONE) status = model_use_open(invocation, &model);
    if (status == STATUS_DONE &&
        dpmf_store_open(invocation->operands[1], &input, &invocation->run, &test, &error) != 0)
        status = report_error_print(invocation, &error);
    if (status == STATUS_DONE) status = model_use_ratings(invocation, OPTION_HISTORY, &history);
    if (status == STATUS_DONE)
        status = evaluate(invocation, model, test, history, ranks ? (uint32_t)n : 0);
    dpmf_store_close(history);
    dpmf_store_close(test);
    dpmf_model_close(model);
    return status;
}
