/*
 * dpmf evaluate: how well a model predicts and ranks ratings it has not seen.
 * Fed by a model and by ratings of any kind.
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

/* ---- options and manual ---------------------------------------------------------------------- */

static int run(struct invocation *invocation);

/* One option, a few lines: the formatter would give each of its fields a line of its own. */
/* clang-format off */
static const struct option own_options[] = {
    {.id = OPTION_RANKING, .name = "ranking", .value = {.kind = VALUE_NONE},
     .help = "also report how well the model ranks all items: recall, precision, ndcg, map, mrr "
             "and coverage at N"},
    {.id = OPTION_LIKE, .name = "like", .value = {VALUE_TEXT, "X", "4", NULL, NULL},
     .help = "look only for items of TEST with a rating of at least X; any, the default, looks for "
             "all"},
    {.id = OPTION_CANDIDATES, .name = "candidates",
     .value = {VALUE_FILE, "FILE", "heldout.csv", NULL, NULL},
     .help = "rank one item of each row of FILE among the row's others: hr, ndcg and mrr at N"},
    TOP_OPTION("the N of the ranking, from 1 to 100000 (default {default})"),
    HISTORY_OPTION("what users have rated already, a store or any input of dpmf import: it is left "
                   "out of the ranking, counts as what users chose, and is what the users of a "
                   "release are fitted to"),
    FEATURES_OPTIONS,
    ORDER_OPTIONS,
    KERNELS_OPTION,
    {0},
};
/* clang-format on */

const struct verb verb_evaluate = {
    .name = "evaluate",
    .summary = "measure how well a model predicts ratings it has not seen",
    .synopsis = "MODEL [TEST] [--ranking] [--candidates FILE] [-n N] [--history RATINGS] "
                "[options]",
    .paragraphs =
        {
            "Predicts every rating of TEST, a store or any input of dpmf import, and prints "
            "the root of the mean squared error (RMSE), the mean absolute error (MAE) and the "
            "number of ratings. Predictions are clamped to the scale of the ratings that the "
            "model was trained on. A user or an item that the model does not know is predicted "
            "from averages: the mean and the other's bias; the number of such ratings is "
            "reported. A checkpoint keeps a sample of what it was trained on, so that a TEST that "
            "holds such ratings is warned of, with about how many they are.",
            "With --item-features or --user-features, those without ratings are placed in the "
            "model "
            "by their features first, and the errors of their ratings (cold) and of all others "
            "(warm) are reported separately.",
            "With --ranking the N best items for each user are compared with the user's items "
            "in TEST, whatever their ratings. recall is the share of those items that is among "
            "the N best; recall capped divides by N where a user has more items than that; "
            "precision divides by N always; ndcg counts an item found at place r as "
            "1/log2(r + 1), as a share of what the best order would give; map is the precision "
            "at each item found, averaged over as many as could be found; mrr is 1 over the "
            "place of the first item found. Each is averaged over the users that the model "
            "knows. coverage is the share of the model's items that is in the list of any of "
            "them. Items in the --history of a user are neither recommended nor looked for; how "
            "many ratings of TEST that are, and how many users have nothing in it, is reported. "
            "Without it, what users had before stays in the ranking, and a note says so. How "
            "many ratings are of users that the model does not know, and how many users were "
            "ranked, is reported; where nobody was, a warning says so.",
            "With --history the items are also divided into fifths by how often they are rated in "
            "it, and each metric is given for each fifth: for the users with items of that fifth "
            "in TEST, and with the places in the whole list. popularity bias is the average "
            "popularity of the items in the lists, divided by that of the items in TEST, both "
            "averaged for each user first and then over users (an item that the model does not "
            "know counts 0): 1 means no bias. To evaluate on later ratings than those trained on, "
            "use dpmf split --by time.",
            "With --candidates each row of FILE is a user, an item that was held out, and "
            "others to rank it among; the first row names the columns, in any order: one of them "
            "is the user, one the item, and all others are of items to rank it among, of which "
            "rows may have more where they come last. hr is the share of the "
            "rows whose held-out item is among the N best of its row, ndcg the average of "
            "1/log2(place + 1), mrr that of 1/place, both 0 beyond N. Items with the same "
            "score come before the one held out; an item given twice counts once. TEST may "
            "then be left out.",
            "Users of the --history whom the model does not know are first fitted to what they "
            "rated in it, as they would do at home, and how many of TEST these are is reported. "
            "A release has no users: everyone is fitted so. Others are unknown.",
            "With --json it prints one object with rmse, mae, n, unknown_users, unknown_items, "
            "fitted_users, learned_share (about how many of TEST the model was trained on, null "
            "where "
            "that is not known), in_fitted_history (ratings that are in the history which users "
            "were fitted to) and, with --ranking, top, ranked_users, in_history (ratings that the "
            "ranking does not look for), without_history (users of whom the history has "
            "nothing), recall, recall_capped, precision, ndcg, map, mrr, coverage, popularity_bias "
            "and by_popularity; with --candidates a line "
            "with top, rows, unknown_users, unknown_items, fitted_users, unknown_others, "
            "rows_alone, in_history, hr, ndcg and mrr. The "
            "results do not depend on the number of threads. Several processes, started by mpirun, "
            "each "
            "take some users of TEST, which must then be a store or a folder of its shards.",
        },
    .groups = {{"Options", own_options},
               {"How the input is read", input_options},
               {"Several processes, by mpirun", cluster_options}},
    .is_distributed = true,
    .operands = {{VALUE_FILE, "MODEL and TEST", "m.safetensors", NULL, NULL}, 1, 2},
    .exit_note = "3 when the model or the ratings are damaged.",
    .examples =
        {
            {"How good a model is", "dpmf evaluate m.safetensors test.dpr", SOME_MODEL},
            {"Whether it puts the right items among the first five",
             "dpmf evaluate m.safetensors test.dpr --ranking -n 5 --history train.dpr", SOME_MODEL},
            {"How good a release is for people who keep their ratings at home",
             "dpmf evaluate release.safetensors test.dpr --history train.dpr",
             SOME_MODEL "; dpmf ledger init -q ledger; dpmf train -q train.dpr --epsilon 5 "
                        "--rating-range 1:5 --catalogue items.csv --ledger ledger "
                        "-o release.safetensors"},
        },
    .run = run,
};

/* ---- what it does ---------------------------------------------------------------------------- */

enum { RANKING_MOST = 100000 };

/* ---- ratings and rankings of them ------------------------------------------------------------ */

/* The metrics of a ranking, for people and as JSON has them. */
struct metric {
    const char *label, *key;
    size_t at; /* in struct dpmf_ranking_part */
};

#define METRIC(label, name)                                                                        \
    { label, #name, offsetof(struct dpmf_ranking_part, name) }
static const struct metric metrics[] = {METRIC("recall", recall),
                                        METRIC("recall capped", recall_capped),
                                        METRIC("precision", precision),
                                        METRIC("ndcg", ndcg),
                                        METRIC("map", map),
                                        METRIC("mrr", mrr),
                                        METRIC("coverage", coverage)};
enum { METRICS = sizeof metrics / sizeof metrics[0] };

static double metric_of(const struct dpmf_ranking_part *part, const struct metric *metric) {
    double value;
    memcpy(&value, (const char *)part + metric->at, sizeof value);
    return value;
}

static void put_metrics(struct dpmf_json *json, const struct dpmf_ranking_part *part) {
    for (size_t i = 0; i < METRICS; i++)
        dpmf_json_double(json, metrics[i].key, metric_of(part, &metrics[i]));
}

static void put_popularity(struct dpmf_json *json, const struct dpmf_evaluation *evaluation) {
    dpmf_json_double(json, "popularity_bias", evaluation->popularity_bias);
    dpmf_json_begin_array(json, "by_popularity");
    for (int i = 0; i < DPMF_POPULARITY_PARTS; i++) {
        const struct dpmf_ranking_part *part = &evaluation->by_popularity[i];
        dpmf_json_begin_object(json, NULL);
        dpmf_json_uint(json, "items", part->items);
        dpmf_json_uint(json, "ranked_users", part->users);
        dpmf_json_uint(json, "test_items", part->wanted);
        put_metrics(json, part);
        dpmf_json_double(json, "list_share", part->list_share);
        dpmf_json_end_object(json);
    }
    dpmf_json_end_array(json);
}

static int print_json(const struct invocation *invocation, uint32_t n,
                      const struct dpmf_evaluation *evaluation) {
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_double(json, "rmse", evaluation->rmse);
    dpmf_json_double(json, "mae", evaluation->mae);
    dpmf_json_uint(json, "n", evaluation->n);
    dpmf_json_uint(json, "unknown_users", evaluation->unknown_users);
    dpmf_json_uint(json, "unknown_items", evaluation->unknown_items);
    dpmf_json_uint(json, "fitted_users", evaluation->fitted_users);
    dpmf_json_double(json, "learned_share", evaluation->learned_share);
    dpmf_json_uint(json, "in_fitted_history", evaluation->shared);
    if (evaluation->cold > 0) {
        dpmf_json_uint(json, "cold", evaluation->cold);
        dpmf_json_double(json, "cold_rmse", evaluation->cold_rmse);
        dpmf_json_double(json, "warm_rmse", evaluation->warm_rmse);
    }
    if (n > 0) {
        dpmf_json_uint(json, "top", n);
        dpmf_json_uint(json, "ranked_users", evaluation->ranked_users);
        dpmf_json_uint(json, "in_history", evaluation->in_history);
        dpmf_json_uint(json, "without_history", evaluation->without_history);
        put_metrics(json, &evaluation->ranking);
        if (evaluation->has_popularity) put_popularity(json, evaluation);
    }
    dpmf_json_string(json, "model", invocation->operands[0]);
    dpmf_json_string(json, "test", invocation->operands[1]);
    dpmf_json_end_object(json);
    return report_json_print(json);
}

static void print_metric(const char *label, uint32_t n, double value) {
    char name[64];
    snprintf(name, sizeof name, "%s@%u", label, n);
    printf("%-20s %.4f\n", name, value);
}

static void print_popularity(uint32_t n, const struct dpmf_evaluation *evaluation) {
    print_metric("popularity bias", n, evaluation->popularity_bias);
    printf("\n%-20s %8s %8s %8s %8s %8s\n", "by popularity", "top 20%", "to 40%", "to 60%",
           "to 80%", "the rest");
    for (size_t i = 0; i <= METRICS; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s@%u", i < METRICS ? metrics[i].label : "part of lists", n);
        printf("%-20s", name);
        for (int p = 0; p < DPMF_POPULARITY_PARTS; p++) {
            const struct dpmf_ranking_part *part = &evaluation->by_popularity[p];
            printf(" %8.4f", i < METRICS ? metric_of(part, &metrics[i]) : part->list_share);
        }
        putchar('\n');
    }
    printf("%-20s", "test items");
    for (int p = 0; p < DPMF_POPULARITY_PARTS; p++)
        printf(" %8s", text_number(evaluation->by_popularity[p].wanted).text);
    putchar('\n');
}

static void print_page(uint32_t n, bool events, const struct dpmf_evaluation *evaluation) {
    const int width = n > 0 ? 20 : 12;
    if (!isnan(evaluation->rmse)) {
        printf("%-*s %s\n", width, "RMSE", text_measure(evaluation->rmse).text);
        printf("%-*s %s\n", width, "MAE", text_measure(evaluation->mae).text);
    }
    printf("%-*s %s\n", width, events ? "events" : "ratings", text_number(evaluation->n).text);
    if (evaluation->cold > 0) {
        if (!isnan(evaluation->warm_rmse))
            printf("%-*s %s\n", width, "RMSE warm", text_measure(evaluation->warm_rmse).text);
        if (!isnan(evaluation->cold_rmse))
            printf("%-*s %s\n", width, "RMSE cold", text_measure(evaluation->cold_rmse).text);
        printf("%-*s %s\n", width, "cold", text_number(evaluation->cold).text);
    }
    if (n == 0) return;
    for (size_t i = 0; i < METRICS; i++)
        print_metric(metrics[i].label, n, metric_of(&evaluation->ranking, &metrics[i]));
    printf("%-20s %s\n", "users ranked", text_number(evaluation->ranked_users).text);
    if (evaluation->has_popularity) print_popularity(n, evaluation);
}

static void print_unknown(struct terminal *terminal, uint64_t n, const char *what) {
    if (n > 0)
        terminal_note_print(terminal,
                            "%s of %s that the model does not know: predicted from averages",
                            text_count(n, "rating").text, what);
}

/* Zeros of nobody look like those of a bad model. */
static void warn_of_nobody(struct terminal *terminal, bool events,
                           const struct dpmf_evaluation *evaluation) {
    terminal_warning_print(
        terminal, evaluation->unknown_users == evaluation->n
                      ? "nobody could be ranked: the model knows none of the users of TEST"
                  : events ? "nobody could be ranked: the items of users that the model knows are "
                             "all in the --history"
                           : "nobody could be ranked: the items of users that the model knows are "
                             "all below --like or in the --history");
}

/* What of the test set the ranking does not measure. */
static void note_ranking(struct terminal *terminal, const struct dpmf_store_info *test,
                         const struct dpmf_evaluation *evaluation) {
    const char *what = test->holds_events ? "event" : "rating";
    if (evaluation->ranked_users == 0) {
        warn_of_nobody(terminal, test->holds_events, evaluation);
        return;
    }
    if (evaluation->unknown_users > 0)
        terminal_note_print(terminal,
                            "%s of users that the model does not know: not in the ranking",
                            text_count(evaluation->unknown_users, what).text);
    if (evaluation->ranked_users < test->users)
        terminal_note_print(terminal, "ranked %s of %s", text_number(evaluation->ranked_users).text,
                            text_count(test->users, "user").text);
}

/* What the lack of a history means. Nobody is known to a release without their ratings, which is
 * hardly what was meant. */
static void note_history(struct invocation *invocation, const struct dpmf_model *model,
                         bool ranks) {
    struct dpmf_model_info info;
    if (command_has(invocation, OPTION_HISTORY)) return;
    dpmf_model_info(model, &info);
    if (strcmp(info.kind, "release") == 0)
        terminal_note_print(&invocation->terminal,
                            "a release has no users: give --history, which each user is fitted to");
    else if (ranks)
        terminal_note_print(&invocation->terminal,
                            "without --history, what users had before stays in the ranking, where "
                            "it takes places of what they want next");
}

/* To a release everyone is new, so nothing is said. */
static void note_fitted(struct invocation *invocation, const struct dpmf_model *model, uint64_t n,
                        bool are_rows) {
    struct dpmf_model_info info;
    dpmf_model_info(model, &info);
    if (n > 0 && strcmp(info.kind, "release") != 0)
        terminal_note_print(
            &invocation->terminal, "%s%s that the model does not know: fitted to the history",
            text_count(n, are_rows ? "row" : "user").text, are_rows ? " of users" : "");
}

/* A model of likes is as good at them as it was taught; other ratings it was never to find. */
static void warn_of_likes(struct invocation *invocation, const struct dpmf_model *model,
                          const struct dpmf_store_info *test) {
    char text[300];
    struct dpmf_model_info info;
    dpmf_model_info(model, &info);
    if (strcmp(info.goal, "ranking") != 0 || !isfinite(info.like) || test->holds_events ||
        command_has(invocation, OPTION_LIKE) || test->min >= info.like)
        return;
    snprintf(text, sizeof text,
             "the model learned from ratings of %s and more, and everything rated in TEST is "
             "looked for: --like %s looks for the same",
             text_double(info.like).text, text_double(info.like).text);
    terminal_warning_print(&invocation->terminal, text);
}

static int evaluate(struct invocation *invocation, const struct dpmf_model *model,
                    struct dpmf_store *test, struct dpmf_store *history,
                    const struct dpmf_order *order, uint32_t n) {
    struct dpmf_evaluate_options options = {.size = sizeof options, .ranking = n, .order = order};
    struct dpmf_evaluation evaluation;
    struct dpmf_error error = {0};
    int status = options_like(invocation, &options.has_like, &options.like);
    if (status != STATUS_DONE) return status;
    int rc =
        dpmf_model_evaluate(model, test, history, &options, &invocation->run, &evaluation, &error);
    if (rc != 0) return report_error_print(invocation, &error);
    terminal_progress_end(&invocation->terminal);
    note_history(invocation, model, evaluation.ranked_users > 0);
    note_fitted(invocation, model, evaluation.fitted_users, false);
    if (n > 0) model_use_order_note(invocation, model, order);
    if (!isnan(evaluation.rmse)) {
        print_unknown(&invocation->terminal, evaluation.unknown_users, "users");
        print_unknown(&invocation->terminal, evaluation.unknown_items, "items");
    }
    struct dpmf_store_info info;
    dpmf_store_info(test, &info);
    if (n > 0) note_ranking(&invocation->terminal, &info, &evaluation);
    if (n > 0) warn_of_likes(invocation, model, &info);
    terminal_phases_print(&invocation->terminal);
    if (command_has(invocation, OPTION_JSON)) return print_json(invocation, n, &evaluation);
    print_page(n, info.holds_events, &evaluation);
    return STATUS_DONE;
}

/* ---- candidates ------------------------------------------------------------------------------ */

static int print_candidates(const struct invocation *invocation, uint32_t n,
                            const struct dpmf_candidates_evaluation *found) {
    if (!command_has(invocation, OPTION_JSON)) {
        print_metric("hr", n, found->hr);
        print_metric("ndcg", n, found->ndcg);
        print_metric("mrr", n, found->mrr);
        printf("%-20s %s\n", "rows", text_number(found->rows).text);
        return STATUS_DONE;
    }
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_uint(json, "top", n);
    dpmf_json_uint(json, "rows", found->rows);
    dpmf_json_uint(json, "unknown_users", found->unknown_users);
    dpmf_json_uint(json, "unknown_items", found->unknown_items);
    dpmf_json_uint(json, "fitted_users", found->fitted_users);
    dpmf_json_uint(json, "unknown_others", found->unknown_others);
    dpmf_json_uint(json, "rows_alone", found->alone);
    dpmf_json_uint(json, "in_history", found->in_history);
    dpmf_json_double(json, "hr", found->hr);
    dpmf_json_double(json, "ndcg", found->ndcg);
    dpmf_json_double(json, "mrr", found->mrr);
    dpmf_json_string(json, "model", invocation->operands[0]);
    dpmf_json_string(json, "candidates", invocation->value[OPTION_CANDIDATES]);
    dpmf_json_end_object(json);
    return report_json_print(json);
}

static int rank_candidates(struct invocation *invocation, const struct dpmf_model *model,
                           struct dpmf_store *history, const struct dpmf_order *order, uint32_t n) {
    struct dpmf_candidates *rows = NULL;
    struct dpmf_candidates_evaluation found;
    struct dpmf_error error = {0};
    int rc = dpmf_candidates_new(&rows, &error);
    if (rc == 0)
        rc = dpmf_candidates_read(rows, invocation->value[OPTION_CANDIDATES], &invocation->run,
                                  &error);
    if (rc == 0)
        rc = dpmf_model_rank_candidates(model, rows, history, order, n, &invocation->run, &found,
                                        &error);
    dpmf_candidates_free(rows);
    if (rc != 0) return report_error_print(invocation, &error);
    terminal_progress_end(&invocation->terminal);
    if (invocation->n_operands == 1) {
        note_history(invocation, model, false);
        model_use_order_note(invocation, model, order);
    }
    note_fitted(invocation, model, found.fitted_users, true);
    if (found.unknown_users > 0)
        terminal_note_print(&invocation->terminal,
                            "%s of users that the model does not know: ranked from averages",
                            text_count(found.unknown_users, "row").text);
    if (found.unknown_items > 0)
        terminal_note_print(&invocation->terminal,
                            "%s whose wanted item the model does not know: not found",
                            text_count(found.unknown_items, "row").text);
    if (found.unknown_others > 0)
        terminal_note_print(&invocation->terminal,
                            "%s to rank among that the model does not know: left out",
                            text_count(found.unknown_others, "item").text);
    return print_candidates(invocation, n, &found);
}

/* ---- the verb -------------------------------------------------------------------------------- */

static int check_use(const struct invocation *invocation) {
    const bool ranks = command_has(invocation, OPTION_RANKING);
    const bool has_candidates = command_has(invocation, OPTION_CANDIDATES);
    if (invocation->n_operands == 2) return STATUS_DONE;
    if (!has_candidates)
        return terminal_error_print(STATUS_USAGE, "usage: dpmf evaluate MODEL TEST [options]",
                                    "evaluate needs MODEL and TEST");
    if (ranks)
        return terminal_error_print(STATUS_USAGE, "give TEST too, or leave out --ranking",
                                    "--ranking is about the items of TEST");
    return STATUS_DONE;
}

/* A model that ranks has nothing else to be judged by. */
static int check_ranking(const struct invocation *invocation, const struct dpmf_model *model,
                         bool *ranks) {
    struct dpmf_model_info info;
    dpmf_model_info(model, &info);
    *ranks = command_has(invocation, OPTION_RANKING) || strcmp(info.goal, "ranking") == 0;
    const bool has_candidates = command_has(invocation, OPTION_CANDIDATES);
    if (!*ranks && !has_candidates &&
        (command_has(invocation, OPTION_TASTE) || command_has(invocation, OPTION_BY)))
        return terminal_error_print(STATUS_USAGE, "add --ranking or --candidates",
                                    "--taste and --by are about the ranking, which was not asked "
                                    "for");
    if (!*ranks && command_has(invocation, OPTION_LIKE))
        return terminal_error_print(STATUS_USAGE, "add --ranking",
                                    "--like is about the ranking, which was not asked for");
    if (!*ranks && !has_candidates && command_has(invocation, OPTION_TOP))
        return terminal_error_print(STATUS_USAGE, "add --ranking or --candidates",
                                    "-n is about the ranking, which was not asked for");
    return STATUS_DONE;
}

static int run(struct invocation *invocation) {
    struct dpmf_model *model = NULL;
    struct dpmf_store *test = NULL, *history = NULL;
    struct dpmf_error error = {0};
    struct dpmf_order order;
    const struct dpmf_order *asked = NULL;
    size_t n;

    const bool has_test = invocation->n_operands == 2;
    bool ranks = false;
    int status = check_use(invocation);
    if (status == STATUS_DONE && !has_test && !command_has(invocation, OPTION_HISTORY))
        status = model_use_refuse_unread(invocation);
    if (status == STATUS_DONE) status = model_use_order(invocation, &order, &asked);
    if (status == STATUS_DONE) status = model_use_top(invocation, RANKING_MOST, &n);
    if (status == STATUS_DONE) status = model_use_open(invocation, &model);
    if (status == STATUS_DONE) status = check_ranking(invocation, model, &ranks);
    if (status == STATUS_DONE && has_test) {
        const struct dpmf_input_options input =
            options_input_of(invocation, invocation->operands[1]);
        if (dpmf_store_open(invocation->operands[1], &input, &invocation->run, &test, &error) != 0)
            status = report_error_print(invocation, &error);
    }
    if (status == STATUS_DONE) status = model_use_history(invocation, model, &history);
    if (status == STATUS_DONE && has_test)
        status = evaluate(invocation, model, test, history, asked, ranks ? (uint32_t)n : 0);
    if (status == STATUS_DONE && command_has(invocation, OPTION_CANDIDATES))
        status = rank_candidates(invocation, model, history, asked, (uint32_t)n);
    dpmf_store_close(history);
    dpmf_store_close(test);
    dpmf_model_close(model);
    return status;
}
