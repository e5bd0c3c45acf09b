/*
 * dpmf recommend: the items a model expects a user to like best, for one user
 * as a page, for all of them as CSV. Someone that the model does not know is
 * fitted to their ratings first; a release knows nobody, so that with one this
 * is so for everyone. Fed by a model, what users have rated already, lists of
 * items and a catalogue.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/options.h"
#include "cli/report.h"
#include "cli/shared_options.h"
#include "cli/signals.h"
#include "cli/text.h"
#include "dpmf_text.h"
#include "shared/model_use.h"
#include "shared/own_ratings.h"

/* ---- options and manual ---------------------------------------------------------------------- */

static int run(struct invocation *invocation);

/* One option, a few lines: the formatter would give each of its fields a line of its own. */
/* clang-format off */
static const struct option own_options[] = {
    {.id = OPTION_USER, .name = "user", .value = {VALUE_TEXT, "ID", "42", NULL, NULL},
     .help = "recommend to this user"},
    {.id = OPTION_ALL_USERS, .name = "all-users", .value = {.kind = VALUE_NONE},
     .help = "recommend to every user of the model, or with a release to every user of --history, "
             "as CSV with the columns user,item,score,rank and, last, the predicted rating"},
    MINE_OPTION("recommend "
                "to someone with these ratings: a file, or pairs such as dune:5,solaris:3"),
    TOP_OPTION("how many items for a user (default {default})"),
    HISTORY_OPTION("what users have rated already, a store or any input of dpmf import: left out, "
                   "and what a user whom the model does not know is fitted to"),
    {.id = OPTION_INCLUDE, .name = "include",
     .value = {VALUE_FILE, "FILE", "shelf.csv", NULL, NULL},
     .help = "recommend only items of this list: one per line, or a table whose header names the "
             "item"},
    {.id = OPTION_EXCLUDE, .name = "exclude", .value = {VALUE_FILE, "FILE", "sold.csv", NULL, NULL},
     .help = "leave out the items of this list, in the same forms"},
    FEATURES_OPTIONS,
    ORDER_OPTIONS,
    CATALOGUE_OPTION,
    KERNELS_OPTION,
    {0},
};
/* clang-format on */

const struct verb verb_recommend = {
    .name = "recommend",
    .summary = "list the items that a user will like best",
    .synopsis = "MODEL (--user ID | --all-users | --ratings MINE) [-n N] [--history RATINGS] "
                "[--taste T] [options]",
    .paragraphs =
        {
            "Scores every item of the model for the user and prints the N best, the best first; "
            "equal scores in the order of the model. Beside the score is the predicted rating, "
            "clamped to the scale of the ratings as predict clamps it; scores are not clamped. "
            "Without --history, items that the user has rated may be among them, and what the "
            "user chooses is not known.",
            SCORE_PARAGRAPH,
            "Someone the model does not know is first fitted to their ratings in --history or "
            "--ratings, holding the items of the model still; what they have rated is left out. "
            "Without any such ratings they get the items that everyone likes best, and a warning "
            "says so.",
            "With --item-features, items without ratings are recommended too, placed by what is "
            "known about them; --user-features does the same for users: docs/features.md.",
            "A release has no users: it needs --ratings, or a --history, of which --user chooses "
            "one user; without --user, everyone in the history gets recommendations. Years and "
            "kinds of items in --catalogue (genres, subjects) then count in taste.",
            MINE_PARAGRAPH,
            "With --json it prints one object per line with user (null with --ratings), item, "
            "score, rank and rating (the predicted one), title where --catalogue has one, and "
            "where it is so, folded_in or unknown_user.",
        },
    .groups = {{"Options", own_options}, {"How ratings are read", input_options}},
    .operands = {{VALUE_FILE, "MODEL", "m.safetensors", ".safetensors", NULL}, 1, 1},
    .exit_note = "1 when there is nothing to recommend.",
    .examples =
        {
            {"What user 7 should see next",
             "dpmf recommend m.safetensors --user 7 --history train.dpr --catalogue items.csv",
             SOME_MODEL},
            {"Three items for everyone, for another program",
             "dpmf recommend m.safetensors --all-users -n 3 --history train.dpr >lists.csv",
             SOME_MODEL},
            {"More of what is the user's own",
             "dpmf recommend m.safetensors --user 7 --history train.dpr --taste 0.9", SOME_MODEL},
            {"Out of what is on the shelf",
             "dpmf recommend m.safetensors --user 7 --include shelf.csv",
             SOME_MODEL "; printf '1\\n2\\n3\\n' >shelf.csv"},
            {"For someone who has rated three items",
             "dpmf recommend m.safetensors --ratings mine.csv -n 3",
             SOME_MODEL "; printf '2,5\\n3,1\\n5,4\\n' >mine.csv"},
            {"At home, from a public release and ratings that stay there",
             "dpmf recommend release.safetensors --ratings 2:5,3:1,5:4 --catalogue items.csv",
             SOME_RELEASE},
            {"Three items for everyone in a history, from a public release",
             "dpmf recommend release.safetensors --history all.dpr -n 3 >lists.csv", SOME_RELEASE},
        },
    .run = run,
};

/* ---- what it does ---------------------------------------------------------------------------- */

enum { TOP_MOST = 100000, TOP_MOST_ALL = 1000 };

struct recommending {
    struct invocation *invocation;
    struct dpmf_model *model;
    struct dpmf_model_info info;
    struct dpmf_store *history;
    uint8_t *include, *exclude;
    struct catalogue catalogue;
    struct own_ratings own; /* ratings of --ratings, or of the user in the history */
    struct dpmf_user *user; /* with them, or fitted to them */
    struct dpmf_order asked;
    const struct dpmf_order *order; /* NULL: the default */
    size_t n;

    /* Runs for many users. */
    uint64_t n_users, n_empty, n_without; /* all, with nothing to recommend, with no known rating */
    bool failed;
};

/* Whom a list is for. */
struct person {
    const char *id; /* NULL: --ratings names nobody */
    size_t length;
    bool is_folded_in, is_unknown;
};

static bool is_release(const struct recommending *r) {
    return strcmp(r->info.kind, "release") == 0;
}

/* ---- printing
 * ----------------------------------------------------------------------------------
 */

/* A predicted rating as predict prints it: within the scale. NaN stays. */
static double shown_rating(const struct recommending *r, double rating) {
    if (rating < r->info.min) return r->info.min;
    return rating > r->info.max ? r->info.max : rating;
}

static int print_json(const struct recommending *r, const struct person *person,
                      const struct dpmf_scored_item *items, const double *ratings, size_t n) {
    int status = STATUS_DONE;
    for (size_t i = 0; i < n && status == STATUS_DONE; i++) {
        const char *title = model_title(&r->catalogue, items[i].item);
        struct dpmf_json *json = dpmf_json_new();
        dpmf_json_begin_object(json, NULL);
        if (person->id != NULL)
            dpmf_json_bytes(json, "user", person->id, person->length);
        else
            dpmf_json_null(json, "user");
        model_id_json(json, "item", r->model, MODEL_ITEM, items[i].item);
        if (title != NULL) dpmf_json_string(json, "title", title);
        dpmf_json_double(json, "score", items[i].score);
        dpmf_json_uint(json, "rank", i + 1);
        if (!isnan(ratings[i])) dpmf_json_double(json, "rating", shown_rating(r, ratings[i]));
        if (person->is_folded_in) dpmf_json_bool(json, "folded_in", true);
        if (person->is_unknown) dpmf_json_bool(json, "unknown_user", true);
        dpmf_json_end_object(json);
        status = report_json_print(json);
    }
    return status;
}

static bool has_ratings(const struct recommending *r) {
    return strcmp(r->info.goal, "rating") == 0;
}

/* Scores are in the unit of the ratings; in a model that ranks, of its own. */
static int places_of(const struct recommending *r, int usual) {
    return has_ratings(r) ? text_places(usual, r->info.min, r->info.max) : usual;
}

static void print_csv(const struct recommending *r, const struct dpmf_user_list *list) {
    for (size_t i = 0; i < list->n; i++) {
        csv_field_print(list->id, list->id_length);
        putchar(',');
        model_id_csv(r->model, MODEL_ITEM, list->items[i].item);
        printf(",%.*f,%zu", places_of(r, 6), list->items[i].score, i + 1);
        if (r->catalogue.n > 0) {
            const char *title = model_title(&r->catalogue, list->items[i].item);
            putchar(',');
            csv_field_print(title != NULL ? title : "", title != NULL ? strlen(title) : 0);
        }
        if (has_ratings(r)) printf(",%.*f", places_of(r, 6), shown_rating(r, list->ratings[i]));
        putchar('\n');
    }
}

/* ---- all users
 * ---------------------------------------------------------------------------------
 */

static int take_list(void *self, const struct dpmf_user_list *list) {
    struct recommending *r = self;
    const bool is_newcomer = list->user == UINT64_MAX;
    const struct person person = {list->id, list->id_length, is_newcomer && list->known > 0,
                                  is_newcomer && list->known == 0};
    r->n_users++;
    r->n_empty += list->n == 0;
    r->n_without += person.is_unknown;
    if (!command_has(r->invocation, OPTION_JSON))
        print_csv(r, list);
    else if (print_json(r, &person, list->items, list->ratings, list->n) != STATUS_DONE)
        r->failed = true;
    return r->failed || ferror(stdout) || signals_pending() != 0;
}

static int recommend_all(struct recommending *r) {
    struct dpmf_error error = {0};
    struct terminal *terminal = &r->invocation->terminal;
    if (!command_has(r->invocation, OPTION_JSON))
        printf("user,item,score,rank%s%s\n", r->catalogue.n > 0 ? ",title" : "",
               has_ratings(r) ? ",rating" : "");
    int rc = dpmf_model_recommend_all(r->model, r->history, r->order, r->exclude, r->include, r->n,
                                      &r->invocation->run, take_list, r, &error);
    if (ferror(stdout)) return report_stdout_check(STATUS_DONE);
    if (r->failed) return STATUS_IO;
    if (rc != 0) return report_error_print(r->invocation, &error);
    terminal_progress_end(terminal);
    if (r->n_users == r->n_empty)
        return terminal_error_print(STATUS_NO, "allow more items, or leave out less",
                                    "there is nothing to recommend to anyone");
    model_use_order_note(r->invocation, r->model, r->order);
    if (r->n_empty > 0)
        terminal_note_print(terminal, "nothing to recommend to %s of %s",
                            text_number(r->n_empty).text, text_count(r->n_users, "user").text);
    if (r->n_without > 0)
        terminal_note_print(terminal,
                            "%s of %s without %s of an item that the model knows: given the "
                            "items that everyone likes best",
                            text_number(r->n_without).text, text_count(r->n_users, "user").text,
                            r->info.is_of_events ? "an event" : "a rating");
    return STATUS_DONE;
}

/* ---- one user
 * ----------------------------------------------------------------------------------
 */

/* What the user has rated joins what is left out for everyone. */
static int exclude_own(struct recommending *r) {
    if (r->exclude == NULL) r->exclude = calloc((size_t)(r->info.items / 8 + 1), 1);
    if (r->exclude == NULL) return model_use_no_memory();
    own_ratings_mark(&r->own, r->exclude);
    return STATUS_DONE;
}

static int read_history(struct recommending *r, const char *id, bool *is_in_history) {
    struct dpmf_history history;
    struct dpmf_error error = {0};
    *is_in_history = false;
    if (r->history == NULL) return STATUS_DONE;
    int rc = dpmf_model_history(r->model, r->history, id, strlen(id), &r->invocation->run, &history,
                                &error);
    if (rc != 0) return report_error_print(r->invocation, &error);
    terminal_progress_end(&r->invocation->terminal);
    *is_in_history = history.found;
    own_ratings_from_history(&r->own, &history);
    return exclude_own(r);
}

/* Someone with what they rated: a user of the model, or else fitted to it. Without ratings there is
 * nobody to make. */
static int make_user(struct recommending *r, uint64_t number) {
    struct dpmf_error error = {0};
    if (r->own.n == 0) return STATUS_DONE;
    int rc = number != UINT64_MAX
                 ? dpmf_user_known(r->model, number, r->own.ratings, r->own.n, &r->user, &error)
                 : dpmf_user_fold_in(r->model, r->own.ratings, r->own.n, &r->user, &error);
    return rc != 0 ? report_error_print(r->invocation, &error) : STATUS_DONE;
}

static void warn_unknown(struct recommending *r, const char *id) {
    char message[512], hint[MODEL_HINT_MAX];
    model_use_suggest(r->model, MODEL_USER, id, hint);
    snprintf(message, sizeof message,
             "the model does not know user \"%.200s\": these are the items that everyone likes "
             "best%s%s",
             id, hint[0] != '\0' ? "; " : "", hint);
    terminal_warning_print(&r->invocation->terminal, message);
}

static void predict(const struct recommending *r, uint64_t number,
                    const struct dpmf_scored_item *items, double *ratings, size_t n) {
    for (size_t i = 0; i < n; i++)
        ratings[i] = shown_rating(r, !has_ratings(r) ? NAN
                                     : r->user != NULL
                                         ? dpmf_user_predict(r->model, r->user, items[i].item)
                                         : dpmf_model_predict(r->model, number, items[i].item));
}

static int print_items(const struct recommending *r, const struct person *person,
                       struct dpmf_scored_item *items, const double *ratings, size_t n) {
    const bool by_rating = r->order != NULL ? r->order->by_rating : !r->info.has_counts;
    model_use_order_note(r->invocation, r->model, r->order);
    if (command_has(r->invocation, OPTION_JSON)) return print_json(r, person, items, ratings, n);
    for (size_t i = 0; by_rating && has_ratings(r) && i < n; i++)
        items[i].score = shown_rating(r, items[i].score);
    model_items_print(r->model, &r->catalogue, by_rating && has_ratings(r) ? "rating" : "score",
                      items, "rating", by_rating || !has_ratings(r) ? NULL : ratings, n);
    return STATUS_DONE;
}

/* The best items of a user of the model or, where one was made, of that one. `id` is NULL for
 * --ratings. */
static int print_list(struct recommending *r, uint64_t number, const char *id) {
    const struct person person = {id, id != NULL ? strlen(id) : 0,
                                  r->user != NULL && number == UINT64_MAX,
                                  r->user == NULL && number == UINT64_MAX};
    int status = STATUS_DONE;
    size_t room = r->n < r->info.items ? r->n : (size_t)r->info.items;
    struct dpmf_error error = {0};
    struct dpmf_scored_item *items = calloc(room + 1, sizeof *items);
    double *ratings = calloc(room + 1, sizeof *ratings);
    int64_t n = 0;
    if (items == NULL || ratings == NULL) {
        status = model_use_no_memory();
        goto out;
    }
    n = r->user != NULL ? dpmf_user_recommend(r->model, r->user, r->order, r->exclude, r->include,
                                              room, items, &error)
                        : dpmf_model_recommend(r->model, number, r->order, r->exclude, r->include,
                                               room, items, &error);
    if (n > 0) predict(r, number, items, ratings, (size_t)n);
    if (n > 0 && id != NULL && person.is_unknown) warn_unknown(r, id);
    if (n < 0)
        status = report_error_print(r->invocation, &error);
    else if (n == 0 && id != NULL)
        status = terminal_error_print(STATUS_NO, "allow more items, or leave out less",
                                      "there is nothing to recommend to user \"%.200s\"", id);
    else if (n == 0)
        status = terminal_error_print(STATUS_NO, "allow more items, or leave out less",
                                      "there is nothing to recommend");
    else
        status = print_items(r, &person, items, ratings, (size_t)n);
out:
    free(items);
    free(ratings);
    return status;
}

static int recommend_one(struct recommending *r, const char *id) {
    bool is_in_history;
    uint64_t user = model_use_number(r->model, MODEL_USER, id);
    int status = read_history(r, id, &is_in_history);
    if (status != STATUS_DONE) return status;
    if (r->history != NULL && !is_in_history && user != UINT64_MAX)
        terminal_note_print(&r->invocation->terminal,
                            "the history has no %s of this user: nothing is left out",
                            r->info.is_of_events ? "events" : "ratings");
    status = make_user(r, user);
    if (status != STATUS_DONE) return status;
    if (r->user != NULL && user == UINT64_MAX)
        terminal_note_print(&r->invocation->terminal,
                            "the model does not know this user: fitted to %s in the history",
                            text_count(r->own.n, r->info.is_of_events ? "event" : "rating").text);
    return print_list(r, user, id);
}

static int recommend_own(struct recommending *r) {
    int status = own_ratings_read(r->invocation, r->model, &r->catalogue, &r->own);
    if (status != STATUS_DONE) return status;
    own_ratings_note(r->invocation, r->model, &r->catalogue, &r->own);
    status = exclude_own(r);
    if (status == STATUS_DONE) status = make_user(r, UINT64_MAX);
    return status == STATUS_DONE ? print_list(r, UINT64_MAX, NULL) : status;
}

/* ---- the command
 * -------------------------------------------------------------------------------
 */

static int check_usage(const struct invocation *invocation) {
    bool all = command_has(invocation, OPTION_ALL_USERS);
    bool user = command_has(invocation, OPTION_USER), own = command_has(invocation, OPTION_MINE);
    if (all + user + own > 1)
        return terminal_error_print(STATUS_USAGE, "for example: --user 42",
                                    "--%s and --%s exclude each other", user ? "user" : "all-users",
                                    own ? "ratings" : "all-users");
    if (own && command_has(invocation, OPTION_HISTORY))
        return terminal_error_print(STATUS_USAGE, "keep one of them",
                                    "--ratings already says what the user rated");
    return own || command_has(invocation, OPTION_HISTORY) ? STATUS_DONE
                                                          : model_use_refuse_unread(invocation);
}

/* A release knows nobody: whom it is for has to come with their ratings. */
static int check_model(const struct recommending *r) {
    const struct invocation *invocation = r->invocation;
    bool own = command_has(invocation, OPTION_MINE);
    bool has_history = command_has(invocation, OPTION_HISTORY);
    if (is_release(r) && !own && !has_history)
        return terminal_error_print(STATUS_USAGE,
                                    "give someone's ratings, such as --ratings dune:5,solaris:3; "
                                    "or --history RATINGS, of which --user ID may choose one",
                                    "%s: this is a release, which has no users",
                                    invocation->operands[0]);
    if (!is_release(r) && !own && !command_has(invocation, OPTION_USER) &&
        !command_has(invocation, OPTION_ALL_USERS))
        return terminal_error_print(STATUS_USAGE, "for example: --user 42",
                                    "recommend needs --user, --all-users or --ratings");
    return STATUS_DONE;
}

static int recommend(struct recommending *r) {
    const struct invocation *invocation = r->invocation;
    if (command_has(invocation, OPTION_MINE)) return recommend_own(r);
    if (command_has(invocation, OPTION_USER))
        return recommend_one(r, invocation->value[OPTION_USER]);
    return recommend_all(r);
}

static int run(struct invocation *invocation) {
    struct recommending r = {.invocation = invocation};
    bool one = command_has(invocation, OPTION_USER) || command_has(invocation, OPTION_MINE);
    int status = check_usage(invocation);
    if (status == STATUS_DONE) status = model_use_order(invocation, &r.asked, &r.order);
    if (status == STATUS_DONE)
        status = model_use_top(invocation, one ? TOP_MOST : TOP_MOST_ALL, &r.n);
    if (status == STATUS_DONE) status = model_use_open(invocation, &r.model);
    if (status == STATUS_DONE) dpmf_model_info(r.model, &r.info);
    if (status == STATUS_DONE) status = check_model(&r);
    if (status == STATUS_DONE) status = model_use_history(invocation, r.model, &r.history);
    if (status == STATUS_DONE)
        status = model_use_list(invocation, r.model, OPTION_INCLUDE, &r.include);
    if (status == STATUS_DONE)
        status = model_use_list(invocation, r.model, OPTION_EXCLUDE, &r.exclude);
    if (status == STATUS_DONE) status = model_titles_read(invocation, r.model, &r.catalogue);
    if (status == STATUS_DONE) status = model_facts_take(invocation, r.model);
    if (status == STATUS_DONE) status = recommend(&r);
    model_titles_free(&r.catalogue);
    dpmf_user_free(r.user);
    own_ratings_free(&r.own);
    free(r.include);
    free(r.exclude);
    dpmf_store_close(r.history);
    dpmf_model_close(r.model);
    return status;
}
