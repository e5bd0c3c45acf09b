/*
 * The part of dpmf export that is about models: vectors for NumPy, text, LIBMF, SQLite and
 * PostgreSQL. Fed by a release or a checkpoint and a catalogue; the library writes, and decides
 * what may be written.
 */
#include "verbs/export_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report.h"
#include "cli/text.h"
#include "dpmf_text.h"
#include "shared/model_use.h"
#include "shared/privacy_claim.h"

static const struct form {
    enum option_id id;
    enum dpmf_export_form form;
    const char *name, *sample, *what;
} forms[] = {
    {OPTION_NPY, DPMF_EXPORT_NPY, "npy", "vectors", "directory: it writes several files"},
    {OPTION_CSV, DPMF_EXPORT_CSV, "csv", "vectors",
     "directory: of a model it writes several files"},
    {OPTION_LIBMF, DPMF_EXPORT_LIBMF, "libmf", "model.txt", "file: ids are written beside it"},
    {OPTION_SQLITE, DPMF_EXPORT_SQLITE, "sqlite", "items.sqlite",
     "file: "
     "a database is not a stream"},
    {OPTION_PGVECTOR, DPMF_EXPORT_PGVECTOR, "pgvector", "postgres://localhost/films",
     "server's address"},
};

static const struct form *form_of(const struct invocation *invocation) {
    const struct form *form = forms;
    while (!command_has(invocation, form->id)) form++;
    return form;
}

static int check_output(const struct invocation *invocation, const struct form *form) {
    const char *output = invocation->value[form->id];
    char hint[64];
    if (strcmp(output, "-") == 0 || output[0] == '\0') {
        snprintf(hint, sizeof hint, "for example: --%s %s", form->name, form->sample);
        return terminal_error_print(STATUS_USAGE, hint, "--%s needs a %s", form->name, form->what);
    }
    return STATUS_DONE;
}

/* ---- what is exported ------------------------------------------------------------------------ */

/* What is read twice is held to be the same release: the statement names it, and the library
 * compares. */
static int read_statement(struct invocation *invocation, struct dpmf_statement *statement) {
    struct dpmf_error error = {0};
    int rc = dpmf_release_statement(invocation->operands[0], statement, &error);
    if (rc == 0) {
        privacy_claim_warn(&invocation->terminal, statement->claim, statement->assumptions);
        return STATUS_DONE;
    }
    bool does_not_hold = rc == DPMF_ERR_PRIVACY_NOT_VERIFIED || rc == DPMF_ERR_MODEL_CORRUPT;
    if (does_not_hold && command_has(invocation, OPTION_NOT_PRIVATE)) return STATUS_DONE;
    if (does_not_hold) error.code = DPMF_ERR_PRIVACY_REFUSED;
    return report_error_print(invocation, &error);
}

/* Someone who gives the wrong file would find a column of nothing. */
static int check_titles(const struct invocation *invocation, const struct catalogue *catalogue) {
    if (!command_has(invocation, OPTION_CATALOGUE) || catalogue->n == 0) return STATUS_DONE;
    for (uint64_t i = 0; i < catalogue->n; i++)
        if (catalogue->titles[i] != NULL) return STATUS_DONE;
    return terminal_error_print(STATUS_INPUT, "its items must have the same ids as in the model",
                                "%s: names none of the model's items",
                                invocation->value[OPTION_CATALOGUE]);
}

/* ---- the report ------------------------------------------------------------------------------ */

static int print_json(const struct dpmf_export_report *report,
                      const struct dpmf_statement *statement, uint32_t factors, double seconds,
                      const char *output) {
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_string(json, "event", "done");
    dpmf_json_uint(json, "items", report->items);
    dpmf_json_uint(json, "users", report->users);
    dpmf_json_uint(json, "factors", factors);
    dpmf_json_bool(json, "not_private", !report->is_private);
    if (statement != NULL)
        privacy_claim_json(json, "kind", statement->claim, statement->assumptions);
    if (report->vector_type[0] != '\0')
        dpmf_json_string(json, "vector_type", report->vector_type);
    else
        dpmf_json_uint(json, "bytes_written", report->bytes_written);
    dpmf_json_double(json, "seconds", seconds);
    dpmf_json_string(json, "output", output);
    dpmf_json_end_object(json);
    return report_json_print(json);
}

static int print_report(struct invocation *invocation, const struct form *form,
                        const struct dpmf_export_report *report,
                        const struct dpmf_statement *statement, uint32_t factors, double seconds) {
    const char *output = invocation->value[form->id];
    bool is_server = form->form == DPMF_EXPORT_PGVECTOR;
    char users[80] = "";
    if (report->users > 0)
        snprintf(users, sizeof users, " and %s", text_count(report->users, "user").text);
    terminal_note_print(&invocation->terminal, "wrote %s%s with %s to %.*s (%s) in %s",
                        text_count(report->items, "item").text, users,
                        text_count(factors, "factor").text,
                        (int)(is_server ? strcspn(output, "?") : strlen(output)), output,
                        is_server ? report->vector_type : text_bytes(report->bytes_written).text,
                        text_seconds(seconds).text);
    if (!report->is_private)
        terminal_warning_print(&invocation->terminal,
                               is_server ? "NOT PRIVATE: whoever can read these tables learns much "
                                           "about the people it was trained on"
                                         : "NOT PRIVATE: only you can read what was written, and "
                                           "it should stay so");
    terminal_phases_print(&invocation->terminal);
    if (!command_has(invocation, OPTION_JSON)) return STATUS_DONE;
    return print_json(report, statement, factors, seconds, output);
}

/* ---- all of it ------------------------------------------------------------------------------- */

static int export_opened(struct invocation *invocation, const struct form *form,
                         const struct dpmf_model *model, const struct dpmf_statement *statement,
                         const struct catalogue *catalogue) {
    struct dpmf_export_options options = dpmf_export_options_default();
    struct dpmf_export_report report;
    struct dpmf_model_info info;
    struct dpmf_error error = {0};
    double started = terminal_clock();
    options.form = form->form;
    options.not_private = command_has(invocation, OPTION_NOT_PRIVATE);
    options.users = command_has(invocation, OPTION_WITH_USERS);
    options.replace = command_has(invocation, OPTION_REPLACE);
    options.cosine = command_has(invocation, OPTION_COSINE);
    if (command_has(invocation, OPTION_CATALOGUE))
        options.titles = (const char *const *)catalogue->titles;
    int rc = dpmf_model_export(model, statement, invocation->value[form->id], &options,
                               &invocation->run, &report, &error);
    if (rc != 0) {
        if (error.file[0] == '\0' && rc == DPMF_ERR_PRIVACY_REFUSED)
            snprintf(error.file, sizeof error.file, "%s", invocation->operands[0]);
        return report_error_print(invocation, &error);
    }
    terminal_progress_end(&invocation->terminal);
    dpmf_model_info(model, &info);
    return print_report(invocation, form, &report, statement, info.factors,
                        terminal_clock() - started);
}

int export_model_run(struct invocation *invocation) {
    const struct form *form = form_of(invocation);
    struct dpmf_model *model = NULL;
    struct dpmf_statement statement = {0};
    struct catalogue catalogue = {0};
    struct dpmf_model_info info;
    struct dpmf_error error = {0};
    int status = check_output(invocation, form);
    if (status != STATUS_DONE) return status;
    if (dpmf_model_open(invocation->operands[0], &model, &error) != 0)
        return report_error_print(invocation, &error);
    dpmf_model_info(model, &info);
    model_use_warn_unchecked(invocation, &info);
    model_use_warn_unfinished(invocation, &info);
    bool is_release = strcmp(info.kind, "release") == 0;
    if (is_release) status = read_statement(invocation, &statement);
    if (status == STATUS_DONE)
        status = is_release ? model_titles_publish(invocation, model, &catalogue)
                            : model_titles_read(invocation, model, &catalogue);
    if (status == STATUS_DONE) status = check_titles(invocation, &catalogue);
    if (status == STATUS_DONE)
        status = export_opened(invocation, form, model, statement.json != NULL ? &statement : NULL,
                               &catalogue);
    model_titles_free(&catalogue);
    dpmf_statement_free(&statement);
    dpmf_model_close(model);
    return status;
}
