/*
 * dpmf release extend: new items in a release, by what is publicly known about them. Fed by a
 * release and two public tables; feeds everything that takes a release.
 */
#include "cli/options.h"
#include "cli/report.h"
#include "cli/shared_options.h"
#include "cli/text.h"
#include "dpmf_text.h"
#include "shared/privacy_claim.h"

/* ---- options and manual ---------------------------------------------------------------------- */

static int run(struct invocation *invocation);

/* One option, a few lines: the formatter would give each of its fields a line of its own. */
/* clang-format off */
static const struct option own_options[] = {
    {.id = OPTION_CATALOGUE, .required = true, .name = "catalogue", .alias = "catalog",
     .value = {VALUE_FILE, "NEW", "new.csv", NULL, NULL},
     .help = "the items to add; those that the release has already stay as they are"},
    {.id = OPTION_ITEM_FEATURES, .required = true, .name = "item-features",
     .value = {VALUE_FILE, "FILE", "features.csv", NULL, NULL},
     .help = "what is publicly known about old and new items: a table of categories and numbers"},
    {.id = OPTION_OUTPUT, .letter = 'o', .required = true, .name = "output",
     .value = {VALUE_OUTPUT, "OUT", "extended.safetensors", ".safetensors", NULL},
     .help = "the release to write"},
    REPLACE_OPTION,
    {0},
};
/* clang-format on */

const struct verb verb_release_extend = {
    .name = "release extend",
    .summary = "add new items to a release, placed by public features",
    .synopsis = "RELEASE --catalogue NEW --item-features FILE -o OUT [--replace] [--json]",
    .paragraphs =
        {
            "Adds items that are new since RELEASE was made. Its published vectors, biases and "
            "counts are regressed on the features of its own items, and the new items are put "
            "where the regression predicts them. This reads nothing about any user, so it costs "
            "no epsilon: no ratings, no ledger. Both tables must be public, as in dpmf train.",
            "The old items stay bit for bit what they were. The statement of OUT says that items "
            "were added, and how; it has an id of its own, and names its parent, RELEASE, by id "
            "and digest. dpmf privacy verify checks that the parent is in it unchanged, and dpmf "
            "release parent recreates it, so that its signature can be checked. Whoever has the "
            "features can check where the new items lie, by extending the parent again.",
            "A release can be extended once: to add more, extend its parent with all new items. "
            "New items are worth less than those that people rated; docs/extending.md has figures.",
        },
    .groups = {{"Options", own_options}},
    .operands = {{VALUE_FILE, "RELEASE", "release.safetensors", ".safetensors", NULL}, 1, 1},
    .exit_note = "1 when RELEASE does not hold.",
    .examples = {{"Add the items of new.csv",
                  "dpmf release extend release.safetensors --catalogue new.csv --item-features "
                  "features.csv -o extended.safetensors",
                  SMALL_RELEASE "; printf 'item\\nnew1\\nnew2\\n' > new.csv; " SOME_FEATURES}},
    .run = run,
};

/* ---- what it does ---------------------------------------------------------------------------- */

static int print_json(const struct invocation *invocation, const struct dpmf_extend_report *report,
                      const struct dpmf_statement *statement) {
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_string(json, "event", "done");
    dpmf_json_uint(json, "items", report->items);
    dpmf_json_uint(json, "new_items", report->new_items);
    dpmf_json_uint(json, "known_items", report->known_items);
    dpmf_json_uint(json, "undescribed", report->undescribed);
    dpmf_json_uint(json, "features", report->features);
    dpmf_json_double(json, "epsilon", 0);
    privacy_claim_json(json, "kind", statement->claim, statement->assumptions);
    dpmf_json_string(json, "parent", report->parent);
    dpmf_json_string(json, "release_id", report->id);
    dpmf_json_string(json, "output", invocation->value[OPTION_OUTPUT]);
    dpmf_json_end_object(json);
    return report_json_print(json);
}

static void print_notes(struct invocation *invocation, const struct dpmf_extend_report *report) {
    struct terminal *terminal = &invocation->terminal;
    terminal_note_print(terminal, "%s added to %s, placed by %s; epsilon spent: 0",
                        text_count(report->new_items, "item").text,
                        text_count(report->items - report->new_items, "item").text,
                        text_count(report->features, "feature").text);
    if (report->known_items > 0)
        terminal_note_print(terminal, "%s of the catalogue %s in the release already: unchanged",
                            text_count(report->known_items, "item").text,
                            report->known_items == 1 ? "is" : "are");
    if (report->undescribed > 0)
        terminal_note_print(terminal, "%s without features: placed at the average",
                            text_count(report->undescribed, "new item").text);
    terminal_note_print(terminal, "parent release: %s", report->parent);
}

static int run(struct invocation *invocation) {
    struct dpmf_extend_report report;
    struct dpmf_error error = {0};
    const char *output = invocation->value[OPTION_OUTPUT];
    int rc = dpmf_release_extend(invocation->operands[0], invocation->value[OPTION_CATALOGUE],
                                 invocation->value[OPTION_ITEM_FEATURES], output, &invocation->run,
                                 &report, &error);
    /* It promises what its parent does, and no more. */
    struct dpmf_statement statement = {0};
    if (rc == 0) rc = dpmf_release_statement(output, &statement, &error);
    terminal_progress_end(&invocation->terminal);
    if (rc != 0) return report_error_print(invocation, &error);
    print_notes(invocation, &report);
    if (statement.claim == DPMF_CLAIM_NOT_PRIVATE)
        terminal_alert_print(&invocation->terminal,
                             "NOT PRIVATE, like the release that it extends");
    privacy_claim_warn(&invocation->terminal, statement.claim, statement.assumptions);
    int status = command_has(invocation, OPTION_JSON) ? print_json(invocation, &report, &statement)
                                                      : STATUS_DONE;
    dpmf_statement_free(&statement);
    return status;
}
