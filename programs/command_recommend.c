/*
 * dpmf recommend: the items a model expects a user to like best, for one user
 * as a page, for all of them as CSV. Fed by a model, what users have rated
 * already, lists of items and a catalogue.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model_use.h"
#include "options.h"
#include "report.h"
#include "signals.h"
#include "text.h"

enum { TOP_MOST = 100000, TOP_MOST_ALL = 1000 };

struct recommending {
    struct invocation *invocation;
    struct dpmf_model *model;
    struct dpmf_store *history;
    uint8_t *include, *exclude;
    struct catalogue catalogue;
    size_t n;
    uint64_t n_users, n_empty; /* with --all-users */
    bool failed;
};

/* ---- printing
 * ----------------------------------------------------------------------------------
 */

static int print_json(const struct recommending *r, uint64_t user, const char *user_id,
                      const struct dpmf_scored_item *items, size_t n) {
    int status = STATUS_DONE;
    for (size_t i = 0; i < n && status == STATUS_DONE; i++) {
        const char *title = catalogue_title(&r->catalogue, items[i].item);
        struct dpmf_json *json = dpmf_json_new();
        dpmf_json_begin_object(json, NULL);
        if (user_id != NULL)
            dpmf_json_string(json, "user", user_id);
        else
            model_id_json(json, "user", r->model, MODEL_USER, user);
        model_id_json(json, "item", r->model, MODEL_ITEM, items[i].item);
        if (title != NULL) dpmf_json_string(json, "title", title);
        dpmf_json_double(json, "score", (double)items[i].score);
        dpmf_json_uint(json, "rank", i + 1);
        if (user == UINT64_MAX) dpmf_json_bool(json, "unknown_user", true);
        dpmf_json_end_object(json);
        status = report_json_print(json);
    }
    return status;
}

static void print_csv(const struct recommending *r, uint64_t user,
                      const struct dpmf_scored_item *items, size_t n) {
    for (size_t i = 0; i < n; i++) {
        model_id_csv(r->model, MODEL_USER, user);
        putchar(',');
        model_id_csv(r->model, MODEL_ITEM, items[i].item);
        printf(",%.6f,%zu", (double)items[i].score, i + 1);
        if (r->catalogue.n > 0) {
            const char *title = catalogue_title(&r->catalogue, items[i].item);
            putchar(',');
            csv_field_print(title != NULL ? title : "", title != NULL ? strlen(title) : 0);
        }
        putchar('\n');
    }
}

/* ---- all users
 * ---------------------------------------------------------------------------------
 */

static int take_user(void *self, uint64_t user, const struct dpmf_scored_item *items, size_t n) {
    struct recommending *r = self;
    r->n_users++;
    r->n_empty += n == 0;
    if (!command_has(r->invocation, OPTION_JSON))
        print_csv(r, user, items, n);
    else if (print_json(r, user, NULL, items, n) != STATUS_DONE)
        r->failed = true;
    return r->failed || ferror(stdout) || signals_pending() != 0;
}

static int recommend_all(struct recommending *r) {
    struct dpmf_error error = {0};
    struct terminal *terminal = &r->invocation->terminal;
    if (!command_has(r->invocation, OPTION_JSON))
        puts(r->catalogue.n > 0 ? "user,item,score,rank,title" : "user,item,score,rank");
    int rc = dpmf_model_recommend_all(r->model, r->history, r->exclude, r->include, r->n,
                                      &r->invocation->run, take_user, r, &error);
    if (ferror(stdout)) return report_stdout_check(STATUS_DONE);
    if (r->failed) return STATUS_IO;
    if (rc != 0) return report_error_print(r->invocation, &error);
    terminal_progress_end(terminal);
    if (r->n_users == r->n_empty)
        return terminal_error_print(STATUS_NO, "allow more items, or leave out less",
                                    "there is nothing to recommend to anyone");
    if (r->n_empty > 0)
        terminal_note_print(terminal, "nothing to recommend to %s of %s",
                            text_number(r->n_empty).text, text_count(r->n_users, "user").text);
    return STATUS_DONE;
}

/* ---- one user
 * ----------------------------------------------------------------------------------
 */

/* What the user has rated joins what is left out for everyone. */
static int exclude_seen(struct recommending *r, const char *id, bool *is_in_history) {
    struct dpmf_model_info info;
    struct dpmf_history history;
    struct dpmf_error error = {0};
    *is_in_history = false;
    if (r->history == NULL) return STATUS_DONE;
    dpmf_model_info(r->model, &info);
    if (r->exclude == NULL) r->exclude = calloc((size_t)(info.items / 8 + 1), 1);
    if (r->exclude == NULL)
        return terminal_error_print(dpmf_error_exit_status(DPMF_ERR_BASE_NO_MEMORY), NULL, "%s",
                                    dpmf_error_sentence(DPMF_ERR_BASE_NO_MEMORY));
    int rc = dpmf_model_history(r->model, r->history, id, strlen(id), &r->invocation->run, &history,
                                &error);
    if (rc != 0) return report_error_print(r->invocation, &error);
    for (size_t i = 0; i < history.n; i++)
        r->exclude[history.ratings[i].item / 8] |= (uint8_t)(1u << history.ratings[i].item % 8);
    *is_in_history = history.found;
    dpmf_history_free(&history);
    terminal_progress_end(&r->invocation->terminal);
    return STATUS_DONE;
}

static void warn_unknown(struct recommending *r, const char *id) {
    char message[512], hint[MODEL_HINT_MAX];
    model_use_suggest(r->model, MODEL_USER, id, hint);
    snprintf(message, sizeof message,
             "the model does not know user \"%.200s\": these are the items liked "
             "best by all%s%s",
             id, hint[0] != '\0' ? "; " : "", hint);
    terminal_warning_print(&r->invocation->terminal, message);
}

static int recommend_one(struct recommending *r, const char *id) {
    struct dpmf_model_info info;
    bool is_in_history;
    uint64_t user = model_use_number(r->model, MODEL_USER, id);
    int status = exclude_seen(r, id, &is_in_history);
    if (status != STATUS_DONE) return status;
    if (r->history != NULL && !is_in_history && user != UINT64_MAX)
        terminal_note_print(&r->invocation->terminal,
                            "the history has no ratings of this user: nothing is left out");
    dpmf_model_info(r->model, &info);
    size_t room = r->n < info.items ? r->n : (size_t)info.items;
    struct dpmf_scored_item *items = calloc(room + 1, sizeof *items);
    if (items == NULL)
        return terminal_error_print(dpmf_error_exit_status(DPMF_ERR_BASE_NO_MEMORY), NULL, "%s",
                                    dpmf_error_sentence(DPMF_ERR_BASE_NO_MEMORY));
    size_t n =
        (size_t)dpmf_model_recommend(r->model, user, r->exclude, r->include, room, items, NULL);
    if (n == 0) {
        status = terminal_error_print(STATUS_NO, "allow more items, or leave out less",
                                      "there is nothing to recommend to user \"%.200s\"", id);
    } else {
        if (user == UINT64_MAX) warn_unknown(r, id);
        if (command_has(r->invocation, OPTION_JSON))
            status = print_json(r, user, id, items, n);
        else
            model_items_print(r->model, &r->catalogue, "score", items, n);
    }
    free(items);
    return status;
}

/* ---- the command
 * -------------------------------------------------------------------------------
 */

int command_recommend_run(struct invocation *invocation) {
    struct recommending r = {.invocation = invocation};
    bool all = command_has(invocation, OPTION_ALL_USERS);
    if (all == command_has(invocation, OPTION_USER))
        return terminal_error_print(STATUS_USAGE, "for example: --user 42",
                                    all ? "--user and --all-users exclude each other"
                                        : "recommend needs --user or --all-users");
    int status = model_use_top(invocation, all ? TOP_MOST_ALL : TOP_MOST, &r.n);
    if (status == STATUS_DONE) status = model_use_open(invocation, &r.model);
    if (status == STATUS_DONE) status = model_use_ratings(invocation, OPTION_HISTORY, &r.history);
    if (status == STATUS_DONE)
        status = model_use_list(invocation, r.model, OPTION_INCLUDE, &r.include);
    if (status == STATUS_DONE)
        status = model_use_list(invocation, r.model, OPTION_EXCLUDE, &r.exclude);
    if (status == STATUS_DONE) status = catalogue_read(invocation, r.model, &r.catalogue);
    if (status == STATUS_DONE)
        status = all ? recommend_all(&r) : recommend_one(&r, invocation->value[OPTION_USER]);
    catalogue_free(&r.catalogue);
    free(r.include);
    free(r.exclude);
    dpmf_store_close(r.history);
    dpmf_model_close(r.model);
    return status;
}
