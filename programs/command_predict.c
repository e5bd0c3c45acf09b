/*
 * dpmf predict: what a model expects for pairs of a user and an item, as CSV or
 * JSON lines in the order of the pairs. Users that the model does not know are
 * fitted to their ratings in --history, where they have any. Fed by a model, a
 * table, a store or any ratings with the pairs, and a history.
 */
#include <stdio.h>

#include "model_use.h"
#include "options.h"
#include "report.h"
#include "text.h"

struct predicting {
    const struct dpmf_model *model;
    struct dpmf_newcomers *newcomers; /* NULL without --history */
    struct dpmf_model_info info;
    bool is_json, has_head;
    uint64_t n, folded_in, unknown_users, unknown_items;
};

/* A pair, what was found of it, and what comes of that. */
struct pair {
    const struct dpmf_field *user, *item;
    uint64_t user_number, item_number;
    const struct dpmf_user *newcomer; /* NULL: the model's own, or nobody known */
    double prediction;
};

static int print_json(const struct pair *pair) {
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_bytes(json, "user", pair->user->text, pair->user->length);
    dpmf_json_bytes(json, "item", pair->item->text, pair->item->length);
    dpmf_json_double(json, "prediction", pair->prediction);
    if (pair->newcomer != NULL)
        dpmf_json_bool(json, "folded_in", true);
    else if (pair->user_number == UINT64_MAX)
        dpmf_json_bool(json, "unknown_user", true);
    if (pair->item_number == UINT64_MAX) dpmf_json_bool(json, "unknown_item", true);
    dpmf_json_end_object(json);
    return report_json_print(json);
}

/* Where not even one pair can be read, there is no table. */
static void print_head(struct predicting *predicting) {
    if (!predicting->is_json && !predicting->has_head) puts("user,item,prediction");
    predicting->has_head = true;
}

static void print_csv(const struct pair *pair) {
    csv_field_print(pair->user->text, pair->user->length);
    putchar(',');
    csv_field_print(pair->item->text, pair->item->length);
    printf(",%.6f\n", pair->prediction);
}

static int predict(struct predicting *predicting, struct pair *pair, struct dpmf_error *error) {
    const struct dpmf_model *model = predicting->model;
    pair->user_number = dpmf_model_find_user(model, pair->user->text, pair->user->length);
    pair->item_number = dpmf_model_find_item(model, pair->item->text, pair->item->length);
    if (pair->user_number == UINT64_MAX && predicting->newcomers != NULL) {
        int rc = dpmf_newcomers_find(predicting->newcomers, pair->user->text, pair->user->length,
                                     &pair->newcomer, error);
        if (rc != 0) return rc;
    }
    double prediction = pair->newcomer != NULL
                            ? dpmf_user_predict(model, pair->newcomer, pair->item_number)
                            : dpmf_model_predict(model, pair->user_number, pair->item_number);
    if (prediction < predicting->info.min) prediction = predicting->info.min;
    if (prediction > predicting->info.max) prediction = predicting->info.max;
    pair->prediction = prediction;
    return 0;
}

static int take_pair(void *self, const struct dpmf_table_row *row, struct dpmf_error *error) {
    struct predicting *predicting = self;
    struct pair pair = {.user = &row->field[0], .item = &row->field[1]};
    int rc = predict(predicting, &pair, error);
    if (rc != 0) return rc;
    predicting->n++;
    predicting->folded_in += pair.newcomer != NULL;
    predicting->unknown_users += pair.newcomer == NULL && pair.user_number == UINT64_MAX;
    predicting->unknown_items += pair.item_number == UINT64_MAX;
    print_head(predicting);
    if (!predicting->is_json) {
        print_csv(&pair);
        return 0;
    }
    if (print_json(&pair) == STATUS_DONE) return 0;
    return error->code = DPMF_ERR_BASE_NO_MEMORY;
}

static void print_unknown(struct terminal *terminal, uint64_t n, const char *what) {
    if (n > 0)
        terminal_note_print(terminal,
                            "%s with %s that the model does not know: predicted by what "
                            "is known",
                            text_count(n, "pair").text, what);
}

static int predict_all(struct invocation *invocation, struct predicting *predicting) {
    struct terminal *terminal = &invocation->terminal;
    struct dpmf_error error = {0};
    int rc =
        dpmf_pairs_read(invocation->operands[1], &invocation->run, take_pair, predicting, &error);
    if (rc != 0) return report_error_print(invocation, &error);
    terminal_progress_end(terminal);
    print_head(predicting);
    if (predicting->folded_in > 0)
        terminal_note_print(terminal,
                            "%s with users that the model does not know but the history does: "
                            "fitted to their ratings",
                            text_count(predicting->folded_in, "pair").text);
    print_unknown(terminal, predicting->unknown_users, "users");
    print_unknown(terminal, predicting->unknown_items, "items");
    return STATUS_DONE;
}

int command_predict_run(struct invocation *invocation) {
    struct predicting predicting = {.is_json = command_has(invocation, OPTION_JSON)};
    struct dpmf_model *model = NULL;
    struct dpmf_store *history = NULL;
    struct dpmf_error error = {0};
    int status = model_use_open(invocation, &model);
    if (status == STATUS_DONE) status = model_use_ratings(invocation, OPTION_HISTORY, &history);
    if (status == STATUS_DONE && history != NULL &&
        dpmf_newcomers_open(model, history, &invocation->run, &predicting.newcomers, &error) != 0)
        status = report_error_print(invocation, &error);
    if (status == STATUS_DONE) {
        predicting.model = model;
        dpmf_model_info(model, &predicting.info);
        status = predict_all(invocation, &predicting);
    }
    dpmf_newcomers_close(predicting.newcomers);
    dpmf_store_close(history);
    dpmf_model_close(model);
    return status;
}
