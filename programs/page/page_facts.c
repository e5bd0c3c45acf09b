/*
 * Kinds and years of items for the page, which filters by them, names groups of titles after them
 * and counts them in taste. Fed by the catalogue (dpmf_facts_read); feeds page_make.c.
 */
#include "page/page_facts.h"

#include "cli/report.h"
#include "cli/text.h"
#include "shared/model_use.h"

static struct dpmf_json *write_facts(const struct dpmf_facts *facts, uint64_t items) {
    const struct dpmf_item_facts *found = dpmf_facts_items(facts);
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_begin_array(json, "kinds");
    for (uint64_t i = 0; i < found->n_kinds; i++)
        dpmf_json_string(json, NULL, dpmf_facts_kind(facts, i));
    dpmf_json_end_array(json);
    dpmf_json_begin_array(json, "of");
    for (uint64_t item = 0; item < items; item++) {
        dpmf_json_begin_array(json, NULL);
        for (uint64_t i = found->kind_start[item]; i < found->kind_start[item + 1]; i++)
            dpmf_json_int(json, NULL, found->kinds[i]);
        dpmf_json_end_array(json);
    }
    dpmf_json_end_array(json);
    dpmf_json_begin_array(json, "years");
    for (uint64_t item = 0; item < items; item++) dpmf_json_uint(json, NULL, found->years[item]);
    dpmf_json_end_array(json);
    dpmf_json_end_object(json);
    return json;
}

/* Says what of the kinds is not used, and why. */
static void note_left_out(struct invocation *invocation, const struct dpmf_facts *facts) {
    bool all = false;
    const uint64_t left_out = dpmf_facts_left_out(facts, &all);
    if (all)
        terminal_note_print(&invocation->terminal,
                            "the catalogue has more than 400 kinds: the page does not filter by "
                            "them");
    if (left_out > 0)
        terminal_note_print(&invocation->terminal,
                            "%s of items are too long or not UTF-8, and left out of the filter",
                            text_count(left_out, "kind").text);
}

int page_facts_read(struct invocation *invocation, const struct dpmf_model *model,
                    struct dpmf_json **json) {
    struct dpmf_model_info info;
    struct dpmf_error error = {0};
    struct dpmf_facts *facts = NULL;
    int status = STATUS_DONE;
    *json = NULL;
    if (!command_has(invocation, OPTION_CATALOGUE)) return STATUS_DONE;
    if (dpmf_facts_read(model, invocation->value[OPTION_CATALOGUE], &invocation->run, &facts,
                        &error) != 0)
        return report_error_print(invocation, &error);
    note_left_out(invocation, facts);
    dpmf_model_info(model, &info);
    if (dpmf_facts_items(facts)) {
        *json = write_facts(facts, info.items);
        if (dpmf_json_text(*json, NULL) == NULL) status = model_use_no_memory();
    }
    dpmf_facts_free(facts);
    return status;
}
