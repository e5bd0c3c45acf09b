/*
 * dpmf similar: the items most like one item, by the angle between their
 * vectors. Fed by a model.
 */
#include <stdio.h>
#include <stdlib.h>

#include "model_use.h"
#include "options.h"
#include "report.h"

enum { TOP_MOST = 100000 };

static int print_json(const struct dpmf_model *model, const struct catalogue *catalogue,
                      uint64_t item, const struct dpmf_scored_item *items, size_t n) {
    int status = STATUS_DONE;
    for (size_t i = 0; i < n && status == STATUS_DONE; i++) {
        const char *title = model_title(catalogue, items[i].item);
        struct dpmf_json *json = dpmf_json_new();
        dpmf_json_begin_object(json, NULL);
        model_id_json(json, "to", model, MODEL_ITEM, item);
        model_id_json(json, "item", model, MODEL_ITEM, items[i].item);
        if (title != NULL) dpmf_json_string(json, "title", title);
        dpmf_json_double(json, "cosine", (double)items[i].score);
        dpmf_json_uint(json, "rank", i + 1);
        dpmf_json_end_object(json);
        status = report_json_print(json);
    }
    return status;
}

static int find_similar(struct invocation *invocation, const struct dpmf_model *model,
                        const struct catalogue *catalogue, uint64_t item, size_t n) {
    struct dpmf_model_info info;
    struct dpmf_error error = {0};
    dpmf_model_info(model, &info);
    if (info.factors == 0)
        return terminal_error_print(STATUS_NO, "give a model with factors",
                                    "%s: there are no vectors to compare: it holds biases alone",
                                    invocation->operands[0]);
    size_t room = n < info.items ? n : (size_t)info.items;
    struct dpmf_scored_item *items = calloc(room + 1, sizeof *items);
    if (items == NULL)
        return terminal_error_print(dpmf_error_exit_status(DPMF_ERR_BASE_NO_MEMORY), NULL, "%s",
                                    dpmf_error_sentence(DPMF_ERR_BASE_NO_MEMORY));
    int64_t found = dpmf_model_similar(model, item, room, items, &error);
    int status = STATUS_DONE;
    if (found < 0)
        status = report_error_print(invocation, &error);
    else if (found == 0)
        status = terminal_error_print(STATUS_NO, NULL, "the model has no other item");
    else if (command_has(invocation, OPTION_JSON))
        status = print_json(model, catalogue, item, items, (size_t)found);
    else
        model_items_print(model, catalogue, "cosine", items, (size_t)found);
    free(items);
    return status;
}

int command_similar_run(struct invocation *invocation) {
    struct dpmf_model *model = NULL;
    struct catalogue catalogue = {0};
    uint64_t item;
    size_t n;
    int status = model_use_top(invocation, TOP_MOST, &n);
    if (status == STATUS_DONE) status = model_use_open(invocation, &model);
    if (status == STATUS_DONE)
        status =
            model_use_find(invocation, model, MODEL_ITEM, invocation->value[OPTION_ITEM], &item);
    if (status == STATUS_DONE) status = model_titles_read(invocation, model, &catalogue);
    if (status == STATUS_DONE) status = find_similar(invocation, model, &catalogue, item, n);
    model_titles_free(&catalogue);
    dpmf_model_close(model);
    return status;
}
