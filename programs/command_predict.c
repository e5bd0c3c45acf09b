/*
 * dpmf predict: what a model expects for pairs of a user and an item, as CSV or
 * JSON lines in the order of the pairs. Fed by a model and a table or store of
 * pairs.
 */
#include <stdio.h>

#include "model_use.h"
#include "options.h"
#include "report.h"
#include "text.h"

struct predicting {
    const struct dpmf_model *model;
    struct dpmf_model_info info;
    bool is_json;
    uint64_t n, unknown_users, unknown_items;
};

static int print_json(const struct predicting *predicting, const struct dpmf_table_row *row,
                      double prediction, bool knows_user, bool knows_item) {
    (void)predicting;
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_bytes(json, "user", row->field[0].text, row->field[0].length);
    dpmf_json_bytes(json, "item", row->field[1].text, row->field[1].length);
    dpmf_json_double(json, "prediction", prediction);
    if (!knows_user) dpmf_json_bool(json, "unknown_user", true);
    if (!knows_item) dpmf_json_bool(json, "unknown_item", true);
    dpmf_json_end_object(json);
    return report_json_print(json);
}

static int predict_pair(void *self, const struct dpmf_table_row *row, struct dpmf_error *error) {
    struct predicting *predicting = self;
    const struct dpmf_field *user = &row->field[0], *item = &row->field[1];
    uint64_t u = dpmf_model_find_user(predicting->model, user->text, user->length);
    uint64_t v = dpmf_model_find_item(predicting->model, item->text, item->length);
    double prediction = dpmf_model_predict(predicting->model, u, v);
    if (prediction < predicting->info.min) prediction = predicting->info.min;
    if (prediction > predicting->info.max) prediction = predicting->info.max;
    predicting->n++;
    predicting->unknown_users += u == UINT64_MAX;
    predicting->unknown_items += v == UINT64_MAX;
    if (predicting->is_json) {
        if (print_json(predicting, row, prediction, u != UINT64_MAX, v != UINT64_MAX) == 0)
            return 0;
        error->code = DPMF_ERR_BASE_NO_MEMORY;
        return error->code;
    }
    csv_field_print(user->text, user->length);
    putchar(',');
    csv_field_print(item->text, item->length);
    printf(",%.6f\n", prediction);
    return 0;
}

static void print_unknown(struct terminal *terminal, uint64_t n, const char *what) {
    if (n > 0)
        terminal_note_print(terminal,
                            "%s with %s that the model does not know: predicted by what "
                            "is known",
                            text_count(n, "pair").text, what);
}

int command_predict_run(struct invocation *invocation) {
    struct predicting predicting = {.is_json = command_has(invocation, OPTION_JSON)};
    struct dpmf_model *model = NULL;
    struct dpmf_error error = {0};
    int status = model_use_open(invocation, &model);
    if (status != STATUS_DONE) return status;
    predicting.model = model;
    dpmf_model_info(model, &predicting.info);
    if (!predicting.is_json) puts("user,item,prediction");
    int rc = dpmf_table_read(invocation->operands[1], "user,item", &invocation->run, predict_pair,
                             &predicting, &error);
    if (rc != 0) {
        status = report_error_print(invocation, &error);
    } else {
        terminal_progress_end(&invocation->terminal);
        print_unknown(&invocation->terminal, predicting.unknown_users, "users");
        print_unknown(&invocation->terminal, predicting.unknown_items, "items");
    }
    dpmf_model_close(model);
    return status;
}
