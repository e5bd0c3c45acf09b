/*
 * dpmf predict: what a model expects for pairs of a user and an item, as CSV or
 * JSON lines in the order of the pairs. Users that the model does not know are
 * fitted to their ratings in --history, where they have any; with --ratings it
 * is about one person, and there are items instead of pairs. Fed by a
 * model, a table, a store or any ratings with the pairs, and what was rated.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/options.h"
#include "cli/report.h"
#include "cli/shared_options.h"
#include "cli/text.h"
#include "dpmf_text.h"
#include "shared/model_use.h"
#include "shared/own_ratings.h"

/* ---- options and manual ---------------------------------------------------------------------- */

static int run(struct invocation *invocation);

#define LEVEL_DEFAULT 0.9

static void level_default(FILE *out) { fputs(text_double(LEVEL_DEFAULT).text, out); }

/* One option, a few lines: the formatter would give each of its fields a line of its own. */
/* clang-format off */
static const struct option own_options[] = {
    {.id = OPTION_USER, .name = "user", .value = {VALUE_TEXT, "ID", "42", NULL, NULL},
     .help = "with --item, instead of PAIRS: predict for this user"},
    {.id = OPTION_ITEM, .name = "item", .value = {VALUE_TEXT, "ID", "dune", NULL, NULL},
     .help = "instead of PAIRS or ITEMS: predict the rating of this item"},
    MINE_OPTION("predict "
                "for someone with these ratings: a file, or pairs such as dune:5,solaris:3"),
    HISTORY_OPTION("what users have rated, a store or any input of dpmf import: users that the "
                   "model does not know are fitted to it"),
    {.id = OPTION_INTERVALS, .name = "intervals", .value = {.kind = VALUE_NONE},
     .help = "print the interval that each rating is expected in; for models made with train "
             "--average"},
    {.id = OPTION_LEVEL, .name = "level", .value = {VALUE_NUMBER, "P", "0.5", NULL, NULL},
     .show_default = level_default,
     .help = "probability that a rating is in its interval (default {default})"},
    FEATURES_OPTIONS,
    CATALOGUE_OPTION,
    KERNELS_OPTION,
    {0},
};
/* clang-format on */

const struct verb verb_predict = {
    .name = "predict",
    .summary = "predict the ratings of pairs of a user and an item",
    .synopsis = "MODEL (PAIRS | --user ID --item ID) [--history RATINGS] [options], or MODEL "
                "[ITEMS | --item ID] --ratings MINE [options]",
    .paragraphs =
        {
            "Reads pairs from PAIRS: a table whose first two columns, or whose columns named "
            "user and item, are the ids, or ratings in any format that dpmf import knows, a "
            "store too; - is standard input, a table. --format, --columns and --separator say how "
            "PAIRS is read, and --history with it. Prints each pair with its prediction, in "
            "the order of the input, as CSV with the header user,item,prediction. Predictions "
            "are clamped to the scale of the ratings.",
            "A user that the model does not know is fitted to their ratings in --history, "
            "holding the items of the model still. Where there are none, or where the model "
            "does not know the item, the prediction is the mean plus the bias that is known. "
            "The numbers of such pairs are reported.",
            "With --intervals the columns low and high follow the prediction: the rating is "
            "between them nine times out of ten, or as often as --level says, if the model is "
            "right. They come from the samples that dpmf train --average keeps, by their "
            "spread and the noise of a rating, and are left empty for users and items that "
            "the model does not know.",
            "With --item-features or --user-features, those that the model does not know and "
            "that are in the table are placed by their features: docs/features.md.",
            "With --ratings it predicts for one person, who is fitted to them: ITEMS is a table "
            "whose first column, or whose column named item, are the ids; without it, every item "
            "of the model is predicted. The header is then item,prediction.",
            MINE_PARAGRAPH,
            "With --json it prints one object per line with user (null with --ratings), item, "
            "prediction, low and high with --intervals (null where there are none) and, where it "
            "is so, folded_in, unknown_user or unknown_item; and title where --catalogue has one.",
        },
    .groups = {{"Options", own_options}, {"How ratings are read", input_options}},
    .operands = {{VALUE_FILE, "MODEL and PAIRS", "m.safetensors", NULL, NULL}, 1, 2},
    .exit_note = "3 when the model is damaged, a row of PAIRS is not a pair, or there is none.",
    .examples =
        {
            {"One pair", "dpmf predict m.safetensors --user 7 --item 1", SOME_MODEL},
            {"A few pairs", "printf '7,1\\n7,2\\n' | dpmf predict m.safetensors -", SOME_MODEL},
            {"The pairs of a store", "dpmf predict m.safetensors test.dpr >predictions.csv",
             SOME_MODEL},
            {"For someone who came later, from what they have rated",
             "printf 'zoe,1\\n' | dpmf predict m.safetensors - --history late.csv",
             SOME_MODEL "; printf 'zoe,2,5\\nzoe,3,1\\nzoe,5,4\\n' >late.csv"},
            {"At home, from a public release: all items, for someone with three ratings",
             "dpmf predict release.safetensors --ratings 2:5,3:1,5:4 >mine.csv", SOME_RELEASE},
        },
    .run = run,
};

/* ---- what it does ---------------------------------------------------------------------------- */

struct predicting {
    const struct dpmf_model *model;
    struct dpmf_newcomers *newcomers; /* NULL without --history */
    struct dpmf_user *own;            /* NULL without --ratings, or without any that counts */
    struct dpmf_model_info info;
    struct catalogue catalogue;
    bool is_own, is_json, has_head;
    int places;   /* decimal places of predictions */
    double level; /* level of --intervals; 0 without */
    uint64_t n, folded_in, unknown_users, unknown_items;
};

/* A pair, what was found of it, and what comes of that. */
struct pair {
    const struct dpmf_field *user, *item; /* user NULL: --ratings names nobody */
    uint64_t user_number, item_number;
    const struct dpmf_user *newcomer; /* NULL: the model's own, or nobody known */
    double prediction;
    double low, high; /* interval; NaN where there is none */
};

/* ---- printing
 * ----------------------------------------------------------------------------------
 */

static int print_json(const struct predicting *predicting, const struct pair *pair) {
    const char *title = model_title(&predicting->catalogue, pair->item_number);
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    if (pair->user != NULL)
        dpmf_json_bytes(json, "user", pair->user->text, pair->user->length);
    else
        dpmf_json_null(json, "user");
    dpmf_json_bytes(json, "item", pair->item->text, pair->item->length);
    if (title != NULL) dpmf_json_string(json, "title", title);
    dpmf_json_double(json, "prediction", pair->prediction);
    if (predicting->level > 0) {
        dpmf_json_double(json, "low", pair->low);
        dpmf_json_double(json, "high", pair->high);
    }
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
    if (!predicting->is_json && !predicting->has_head)
        printf("%sitem,prediction%s%s\n", predicting->is_own ? "" : "user,",
               predicting->level > 0 ? ",low,high" : "",
               predicting->catalogue.n > 0 ? ",title" : "");
    predicting->has_head = true;
}

static void print_csv(const struct predicting *predicting, const struct pair *pair) {
    const char *title = model_title(&predicting->catalogue, pair->item_number);
    if (pair->user != NULL) {
        csv_field_print(pair->user->text, pair->user->length);
        putchar(',');
    }
    csv_field_print(pair->item->text, pair->item->length);
    const int places = predicting->places;
    printf(",%.*f", places, pair->prediction);
    if (predicting->level > 0 && isnan(pair->low)) fputs(",,", stdout);
    if (predicting->level > 0 && !isnan(pair->low))
        printf(",%.*f,%.*f", places, pair->low, places, pair->high);
    if (predicting->catalogue.n > 0) {
        putchar(',');
        csv_field_print(title != NULL ? title : "", title != NULL ? strlen(title) : 0);
    }
    putchar('\n');
}

/* ---- pairs
 * -------------------------------------------------------------------------------------
 */

static int find_user(struct predicting *predicting, struct pair *pair, struct dpmf_error *error) {
    pair->user_number = UINT64_MAX;
    pair->newcomer = predicting->own;
    if (pair->user == NULL) return 0;
    pair->user_number =
        dpmf_model_find_user(predicting->model, pair->user->text, pair->user->length);
    if (pair->user_number != UINT64_MAX || predicting->newcomers == NULL) return 0;
    return dpmf_newcomers_find(predicting->newcomers, pair->user->text, pair->user->length,
                               &pair->newcomer, error);
}

static double clamp(const struct predicting *predicting, double x) {
    if (x < predicting->info.min) return predicting->info.min;
    return x > predicting->info.max ? predicting->info.max : x;
}

static int find_interval(const struct predicting *predicting, struct pair *pair,
                         struct dpmf_error *error) {
    if (!(predicting->level > 0)) return 0;
    int rc = dpmf_model_interval(predicting->model, pair->user_number, pair->item_number,
                                 predicting->level, &pair->low, &pair->high, error);
    pair->low = clamp(predicting, pair->low);
    pair->high = clamp(predicting, pair->high);
    return rc;
}

static int predict(struct predicting *predicting, struct pair *pair, struct dpmf_error *error) {
    const struct dpmf_model *model = predicting->model;
    int rc = find_user(predicting, pair, error);
    if (rc != 0) return rc;
    pair->item_number = dpmf_model_find_item(model, pair->item->text, pair->item->length);
    double prediction = pair->newcomer != NULL
                            ? dpmf_user_predict(model, pair->newcomer, pair->item_number)
                            : dpmf_model_predict(model, pair->user_number, pair->item_number);
    pair->prediction = clamp(predicting, prediction);
    return find_interval(predicting, pair, error);
}

static int take_pair(struct predicting *predicting, struct pair *pair, struct dpmf_error *error) {
    int rc = predict(predicting, pair, error);
    if (rc != 0) return rc;
    predicting->n++;
    predicting->folded_in += pair->newcomer != NULL;
    predicting->unknown_users += pair->newcomer == NULL && pair->user_number == UINT64_MAX;
    predicting->unknown_items += pair->item_number == UINT64_MAX;
    print_head(predicting);
    if (!predicting->is_json) {
        print_csv(predicting, pair);
        return 0;
    }
    if (print_json(predicting, pair) == STATUS_DONE) return 0;
    return error->code = DPMF_ERR_BASE_NO_MEMORY;
}

static int take_pair_row(void *self, const struct dpmf_table_row *row, struct dpmf_error *error) {
    struct pair pair = {.user = &row->field[0], .item = &row->field[1]};
    return take_pair(self, &pair, error);
}

static int take_item_row(void *self, const struct dpmf_table_row *row, struct dpmf_error *error) {
    struct pair pair = {.item = &row->field[0]};
    return take_pair(self, &pair, error);
}

/* The pair of --user and --item, or the item of --item for whoever --ratings are of. */
static int take_named(const struct invocation *invocation, struct predicting *predicting,
                      struct dpmf_error *error) {
    const char *user = invocation->value[OPTION_USER], *item = invocation->value[OPTION_ITEM];
    struct dpmf_field who = {.text = user, .length = user != NULL ? strlen(user) : 0};
    struct dpmf_field what = {.text = item, .length = strlen(item)};
    struct pair pair = {.user = user != NULL ? &who : NULL, .item = &what};
    return take_pair(predicting, &pair, error);
}

static int take_all_items(struct predicting *predicting, struct dpmf_error *error) {
    int rc = 0;
    for (uint64_t i = 0; rc == 0 && i < predicting->info.items; i++) {
        struct dpmf_field item = {0};
        struct pair pair = {.item = &item};
        item.text = dpmf_model_item_id(predicting->model, i, &item.length);
        rc = take_pair(predicting, &pair, error);
    }
    return rc;
}

/* ---- the command
 * -------------------------------------------------------------------------------
 */

static void print_unknown(struct terminal *terminal, uint64_t n, const char *what) {
    if (n > 0)
        terminal_note_print(terminal,
                            "%s with %s that the model does not know: predicted from averages",
                            text_count(n, "pair").text, what);
}

static void print_notes(struct terminal *terminal, const struct predicting *predicting) {
    if (predicting->is_own) {
        if (predicting->unknown_items > 0)
            terminal_note_print(terminal,
                                "%s that the model does not know: predicted from averages",
                                text_count(predicting->unknown_items, "item").text);
        return;
    }
    if (predicting->folded_in > 0)
        terminal_note_print(terminal,
                            "%s with users that the model does not know but the history does: "
                            "fitted to their ratings",
                            text_count(predicting->folded_in, "pair").text);
    print_unknown(terminal, predicting->unknown_users, "users");
    print_unknown(terminal, predicting->unknown_items, "items");
}

/* Whoever gives items alone means someone, and of a release that can only be who comes with
 * ratings. */
static void hint_at_ratings(const struct predicting *predicting, struct dpmf_error *error) {
    if (predicting->is_own || strcmp(predicting->info.kind, "release") != 0) return;
    dpmf_error_write(
        error->hint, sizeof error->hint,
        "a release has no users: for one person's items add {ratings MINE}, for pairs of users "
        "and items {history RATINGS}");
}

static int read_pairs(struct invocation *invocation, struct predicting *predicting,
                      struct dpmf_error *error) {
    const char *pairs = invocation->operands[1];
    const struct dpmf_input_options input = options_input_of(invocation, pairs);
    return dpmf_pairs_read(pairs, &input, &invocation->run, take_pair_row, predicting, error);
}

/* A table that names nothing is the work of a command before this one that failed. */
static int refuse_nothing(const struct invocation *invocation, bool is_own) {
    const char *path = invocation->operands[1];
    return terminal_error_print(
        STATUS_INPUT, "check that this is the file you mean", "%.400s: there are no %s here",
        strcmp(path, "-") == 0 ? "<stdin>" : path, is_own ? "items" : "pairs");
}

static int predict_all(struct invocation *invocation, struct predicting *predicting) {
    struct dpmf_error error = {0};
    const struct dpmf_run *run = &invocation->run;
    int rc;
    if (command_has(invocation, OPTION_ITEM))
        rc = take_named(invocation, predicting, &error);
    else if (!predicting->is_own)
        rc = read_pairs(invocation, predicting, &error);
    else if (invocation->n_operands > 1)
        rc = dpmf_items_read(predicting->model, invocation->operands[1], run, take_item_row,
                             predicting, &error);
    else
        rc = take_all_items(predicting, &error);
    if (rc == DPMF_ERR_INPUT_COLUMNS) hint_at_ratings(predicting, &error);
    if (rc != 0) return report_error_print(invocation, &error);
    terminal_progress_end(&invocation->terminal);
    if (predicting->n == 0 && invocation->n_operands > 1)
        return refuse_nothing(invocation, predicting->is_own);
    print_head(predicting);
    print_notes(&invocation->terminal, predicting);
    return STATUS_DONE;
}

/* The person of --ratings. */
static int fold_in(struct invocation *invocation, struct predicting *predicting) {
    struct own_ratings own = {0};
    struct dpmf_error error = {0};
    if (!predicting->is_own) return STATUS_DONE;
    int status = own_ratings_read(invocation, predicting->model, &predicting->catalogue, &own);
    if (status == STATUS_DONE)
        own_ratings_note(invocation, predicting->model, &predicting->catalogue, &own);
    if (status == STATUS_DONE && own.n > 0 &&
        dpmf_user_fold_in(predicting->model, own.ratings, own.n, &predicting->own, &error) != 0)
        status = report_error_print(invocation, &error);
    own_ratings_free(&own);
    return status;
}

/* The predictions do not depend on the ratings that PAIRS may have. */
static int check_unread(const struct invocation *invocation) {
    static const enum option_id about_ratings[] = {OPTION_RESCALE, OPTION_RATING_RANGE,
                                                   OPTION_ON_ERROR};
    const bool has_ratings =
        command_has(invocation, OPTION_MINE) || command_has(invocation, OPTION_HISTORY);
    if (has_ratings) return STATUS_DONE;
    if (command_has(invocation, OPTION_ITEM)) return model_use_refuse_unread(invocation);
    return options_refuse(invocation, about_ratings, sizeof about_ratings / sizeof about_ratings[0],
                          "is about ratings, and of PAIRS none are used",
                          "leave it out, or give ratings with --history or --ratings");
}

/* Exactly one thing is predicted: the pairs of a file, one pair, or items for one person. */
static int check_pairs(const struct invocation *invocation) {
    const bool own = command_has(invocation, OPTION_MINE);
    const bool user = command_has(invocation, OPTION_USER);
    const bool item = command_has(invocation, OPTION_ITEM);
    if (own && user)
        return terminal_error_print(
            STATUS_USAGE, "keep one of them",
            "--user is one of the model's, and --ratings are of someone else");
    if (user && !item)
        return terminal_error_print(STATUS_USAGE, "for example: --user 42 --item 260",
                                    "--user needs --item, whose rating to predict");
    if (item && !user && !own)
        return terminal_error_print(STATUS_USAGE, "for example: --user 42 --item 260",
                                    "--item needs --user, or someone's --ratings");
    if (item && invocation->n_operands > 1)
        return terminal_error_print(STATUS_USAGE, "keep one of them",
                                    "--item and a file both say what to predict");
    if (!own && !item && invocation->n_operands < 2)
        return terminal_error_print(STATUS_USAGE,
                                    "give a file of pairs, --user with --item, or someone's "
                                    "ratings with --ratings",
                                    "predict needs PAIRS");
    return STATUS_DONE;
}

static int check_usage(const struct invocation *invocation) {
    bool own = command_has(invocation, OPTION_MINE);
    if (own && command_has(invocation, OPTION_HISTORY))
        return terminal_error_print(STATUS_USAGE, "keep one of them",
                                    "--ratings already says what the user rated");
    if (own && command_has(invocation, OPTION_INTERVALS))
        return terminal_error_print(STATUS_USAGE, "leave one of them out",
                                    "--intervals are for users of the model, and --ratings for "
                                    "someone whom it does not know");
    if (command_has(invocation, OPTION_USER_FEATURES) &&
        (own || command_has(invocation, OPTION_HISTORY)))
        return terminal_error_print(STATUS_USAGE, "keep one of them",
                                    "--user-features and --%s are two ways to know a new user",
                                    own ? "ratings" : "history");
    if (command_has(invocation, OPTION_LEVEL) && !command_has(invocation, OPTION_INTERVALS))
        return terminal_error_print(STATUS_USAGE, "add --intervals",
                                    "--level says how likely --intervals are");
    const int status = check_pairs(invocation);
    return status == STATUS_DONE ? check_unread(invocation) : status;
}

/* What is wrong with the model or the level is better said before the first pair. */
static int begin_intervals(struct invocation *invocation, struct predicting *predicting) {
    struct dpmf_error error = {0};
    double low, high;
    if (!command_has(invocation, OPTION_INTERVALS)) return STATUS_DONE;
    predicting->level = command_has(invocation, OPTION_LEVEL)
                            ? options_number(invocation, OPTION_LEVEL)
                            : LEVEL_DEFAULT;
    if (dpmf_model_interval(predicting->model, UINT64_MAX, UINT64_MAX, predicting->level, &low,
                            &high, &error) == 0)
        return STATUS_DONE;
    return report_error_print(invocation, &error);
}

static int run(struct invocation *invocation) {
    struct predicting predicting = {.is_json = command_has(invocation, OPTION_JSON),
                                    .is_own = command_has(invocation, OPTION_MINE)};
    struct dpmf_model *model = NULL;
    struct dpmf_store *history = NULL;
    struct dpmf_error error = {0};
    int status = check_usage(invocation);
    if (status == STATUS_DONE) status = model_use_open(invocation, &model);
    if (status == STATUS_DONE) status = model_use_history(invocation, model, &history);
    if (status == STATUS_DONE && history != NULL &&
        dpmf_newcomers_open(model, history, &invocation->run, &predicting.newcomers, &error) != 0)
        status = report_error_print(invocation, &error);
    if (status == STATUS_DONE) {
        predicting.model = model;
        dpmf_model_info(model, &predicting.info);
        predicting.places = text_places(6, predicting.info.min, predicting.info.max);
        status = model_titles_read(invocation, model, &predicting.catalogue);
    }
    if (status == STATUS_DONE && strcmp(predicting.info.goal, "ranking") == 0)
        status = terminal_error_print(STATUS_USAGE, "use dpmf recommend",
                                      "%s: this model ranks items: its scores are not ratings",
                                      invocation->operands[0]);
    if (status == STATUS_DONE) status = begin_intervals(invocation, &predicting);
    if (status == STATUS_DONE) status = fold_in(invocation, &predicting);
    if (status == STATUS_DONE) status = predict_all(invocation, &predicting);
    model_titles_free(&predicting.catalogue);
    dpmf_user_free(predicting.own);
    dpmf_newcomers_close(predicting.newcomers);
    dpmf_store_close(history);
    dpmf_model_close(model);
    return status;
}
