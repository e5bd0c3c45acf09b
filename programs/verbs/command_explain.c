/*
 * dpmf explain: which of a user's ratings speak for an item, or against it, and
 * by how much. Fed by a model and the user's ratings, out of a history or out
 * of a table of their own.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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

/* One option, a few lines: the formatter would give each of its fields a line of its own. */
/* clang-format off */
static const struct option own_options[] = {
    {.id = OPTION_ITEM, .required = true, .name = "item",
     .value = {VALUE_TEXT, "ID", "dune", NULL, NULL},
     .help = "the item whose score is to be explained"},
    {.id = OPTION_USER, .name = "user", .value = {VALUE_TEXT, "ID", "42", NULL, NULL},
     .help = "explain it to this user, whose ratings are in --history"},
    HISTORY_OPTION("the ratings, a store or any input of dpmf import"),
    MINE_OPTION("explain it to someone with these ratings: a file, or pairs such as "
                "dune:5,solaris:3"),
    TOP_OPTION("how many ratings to show, the largest shares first (default {default})"),
    ORDER_OPTIONS,
    CATALOGUE_OPTION,
    KERNELS_OPTION,
    {0},
};
/* clang-format on */

const struct verb verb_explain = {
    .name = "explain",
    .summary = "explain why an item is recommended",
    .synopsis = "MODEL --item ID (--user ID --history RATINGS | --ratings MINE) [options]",
    .paragraphs =
        {
            "Fits a user to the ratings, holding the items of the model still, and takes the score "
            "of the item apart: liked by everyone, how the user rates, and the user's taste; in a "
            "model that ranks, nobody rates, and there are the other two. The "
            "part of taste is then shared out among the ratings: first those that speak for the "
            "item, then those that speak against it, the largest first, each with their sum. Where "
            "taste adds little and takes nothing away, no rating is named: the item is popular "
            "with nearly everyone, or merely among the best of the rest. A user of the model is "
            "fitted again, so the score "
            "differs a little from what dpmf recommend prints. With a release, years and kinds of "
            "items in --catalogue count in taste.",
            SCORE_PARAGRAPH,
            "With --by rating the predicted rating is taken apart in the same way; it is not "
            "clamped to the scale.",
            MINE_PARAGRAPH,
            "With --json it prints an object with item, score and its parts crowd, habit (0 in a "
            "model that ranks) and taste, reason (taste, crowd or neither), prediction (the "
            "rating; "
            "in a model that ranks, the score), offset, item_bias, for and against (each with "
            "ratings, their "
            "number, and sum), ratings and unknown_items, and then, the largest first, one object "
            "per line with because, rating, share (of taste) and rank; and titles where "
            "--catalogue has them.",
        },
    .groups = {{"Options", own_options}, {"How ratings are read", input_options}},
    .operands = {{VALUE_FILE, "MODEL", "m.safetensors", ".safetensors", NULL}, 1, 1},
    .exit_note = "3 when the model does not know the item, or the history the user.",
    .examples =
        {
            {"Why item 1 for user 7",
             "dpmf explain m.safetensors --item 1 --user 7 --history train.dpr -n 3", SOME_MODEL},
            {"Why item 1 for me", "dpmf explain m.safetensors --item 1 --ratings mine.csv",
             SOME_MODEL "; printf '2,5\\n3,1\\n' >mine.csv"},
            {"The same at home, from a public release",
             "dpmf explain release.safetensors --item 1 --ratings 2:5,3:1,5:4", SOME_RELEASE},
        },
    .run = run,
};

/* ---- what it does ---------------------------------------------------------------------------- */

enum { TOP_MOST = 100000 };

/* The ratings that speak for the item, or against it. */
struct side {
    size_t n;
    double sum;
};

struct explaining {
    struct invocation *invocation;
    struct dpmf_model *model;
    bool of_events; /* what the model learned from are events, not ratings */
    bool ranks;     /* it predicts no ratings, and how someone rates means nothing to it */
    struct catalogue catalogue;
    uint64_t item;
    struct own_ratings own;
    double *shares;
    struct dpmf_score score;
    double prediction, common, item_bias;
    int places; /* decimal places of what is printed */
    struct dpmf_order asked;
    const struct dpmf_order *order; /* NULL: the default */
    struct side speaks_for, speaks_against;
    size_t top;
};

/* A rating and its share, to be ordered. */
struct reason {
    struct dpmf_own_rating rating;
    double share;
};

static const char *noun(const struct explaining *e) { return e->of_events ? "event" : "rating"; }

/* ---- the ratings
 * -------------------------------------------------------------------------------
 */

static int read_history(struct explaining *e) {
    const char *user = e->invocation->value[OPTION_USER];
    struct dpmf_store *store = NULL;
    struct dpmf_history history = {0};
    struct dpmf_error error = {0};
    int status = model_use_history(e->invocation, e->model, &store);
    if (status != STATUS_DONE) return status;
    int rc = dpmf_model_history(e->model, store, user, strlen(user), &e->invocation->run, &history,
                                &error);
    dpmf_store_close(store);
    if (rc != 0) return report_error_print(e->invocation, &error);
    if (!history.found)
        return terminal_error_print(STATUS_INPUT, "give the history that this user is in",
                                    "%s: there are no %ss of user \"%.200s\"",
                                    e->invocation->value[OPTION_HISTORY], noun(e), user);
    own_ratings_from_history(&e->own, &history);
    return STATUS_DONE;
}

/* ---- printing
 * ----------------------------------------------------------------------------------
 */

static int compare_reasons(const void *a, const void *b) {
    const struct reason *x = a, *y = b;
    double left = fabs(x->share), right = fabs(y->share);
    if (left != right) return left > right ? -1 : 1;
    return (x->rating.item > y->rating.item) - (x->rating.item < y->rating.item);
}

static void add_up(struct explaining *e) {
    for (size_t i = 0; i < e->own.n; i++) {
        struct side *side = e->shares[i] > 0 ? &e->speaks_for : &e->speaks_against;
        side->n += e->shares[i] != 0;
        side->sum += e->shares[i];
    }
}

static void fill_side(struct dpmf_json *json, const char *key, const struct side *side) {
    dpmf_json_begin_object(json, key);
    dpmf_json_uint(json, "ratings", side->n);
    dpmf_json_double(json, "sum", side->sum);
    dpmf_json_end_object(json);
}

static const char *reason_name(enum dpmf_reason reason) {
    return reason == DPMF_REASON_TASTE   ? "taste"
           : reason == DPMF_REASON_CROWD ? "crowd"
                                         : "neither";
}

static int print_json(const struct explaining *e, const struct reason *reasons, size_t n) {
    const char *title = model_title(&e->catalogue, e->item);
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    model_id_json(json, "item", e->model, MODEL_ITEM, e->item);
    if (title != NULL) dpmf_json_string(json, "title", title);
    dpmf_json_double(json, "score", e->score.total);
    dpmf_json_double(json, "crowd", e->score.crowd);
    dpmf_json_double(json, "habit", e->score.habit);
    dpmf_json_double(json, "taste", e->score.taste);
    dpmf_json_string(json, "reason", reason_name(e->score.reason));
    dpmf_json_double(json, "prediction", e->prediction);
    dpmf_json_double(json, "offset", e->common);
    dpmf_json_double(json, "item_bias", e->item_bias);
    fill_side(json, "for", &e->speaks_for);
    fill_side(json, "against", &e->speaks_against);
    dpmf_json_uint(json, "ratings", e->own.n);
    dpmf_json_uint(json, "unknown_items", e->own.unknown);
    dpmf_json_end_object(json);
    int status = report_json_print(json);
    for (size_t i = 0; i < n && status == STATUS_DONE; i++) {
        title = model_title(&e->catalogue, reasons[i].rating.item);
        json = dpmf_json_new();
        dpmf_json_begin_object(json, NULL);
        model_id_json(json, "because", e->model, MODEL_ITEM, reasons[i].rating.item);
        if (title != NULL) dpmf_json_string(json, "title", title);
        dpmf_json_double(json, "rating", reasons[i].rating.rating);
        dpmf_json_double(json, "share", reasons[i].share);
        dpmf_json_uint(json, "rank", i + 1);
        dpmf_json_end_object(json);
        status = report_json_print(json);
    }
    return status;
}

static void print_item(const struct explaining *e, uint64_t item) {
    const char *title = model_title(&e->catalogue, item);
    model_id_print(e->model, MODEL_ITEM, item);
    if (title != NULL) {
        fputs(", ", stdout);
        terminal_text_print(stdout, title);
    }
    putchar('\n');
}

/* Those of one side among the n that are shown, and what the others come to. */
static void print_side(const struct explaining *e, const struct side *side, bool is_for,
                       const struct reason *reasons, size_t n) {
    double shown = 0;
    size_t n_shown = 0;
    if (side->n == 0) return;
    printf("    %+8.*f  %s %s it:\n", e->places, side->sum, text_count(side->n, noun(e)).text,
           side->n > 1 ? (is_for ? "speak for" : "speak against")
                       : (is_for ? "speaks for" : "speaks against"));
    for (size_t i = 0; i < n; i++) {
        if (reasons[i].share == 0 || (reasons[i].share > 0) != is_for) continue;
        shown += reasons[i].share;
        n_shown++;
        printf("      %+8.*f  ", e->places, reasons[i].share);
        if (!e->of_events) printf("%s for ", text_double(reasons[i].rating.rating).text);
        print_item(e, reasons[i].rating.item);
    }
    if (n_shown < side->n)
        printf("      %+8.*f  %s more\n", e->places, side->sum - shown,
               text_number((uint64_t)(side->n - n_shown)).text);
}

/* What taste takes away, the ratings are the reason of. */
static bool is_against(const struct explaining *e) {
    return e->score.taste < 0 && e->speaks_against.n > 0;
}

static const char *reason_text(const struct explaining *e) {
    if (e->score.reason == DPMF_REASON_TASTE) return "it is to your taste";
    if (e->score.reason == DPMF_REASON_CROWD)
        return is_against(e) ? "popular with nearly everyone, though your taste speaks against it"
                             : "popular with nearly everyone";
    return is_against(e) ? "not popular, and your taste speaks against it"
                         : "neither popular nor much to your taste";
}

static void print_page(const struct explaining *e, const struct reason *reasons, size_t n) {
    size_t silent = e->own.n - e->speaks_for.n - e->speaks_against.n;
    printf("%.*f for ", e->places, e->score.total);
    print_item(e, e->item);
    printf("  %s", reason_text(e));
    if (!isnan(e->score.rating))
        printf("; the rating you would give is %.*f", e->places - 2, e->score.rating);
    printf("\n\n  %8.*f  liked by everyone\n", e->places, e->score.crowd);
    if (!e->ranks) printf("  %+8.*f  how you rate\n", e->places, e->score.habit);
    printf("  %+8.*f  your taste\n", e->places, e->score.taste);
    if (e->score.reason != DPMF_REASON_TASTE && !is_against(e))
        return; /* no rating is the reason */
    print_side(e, &e->speaks_for, true, reasons, n);
    print_side(e, &e->speaks_against, false, reasons, n);
    if (silent > 0)
        printf("    %+8.*f  %s %s nothing about it\n", e->places, 0.0,
               text_count(silent, noun(e)).text, silent > 1 ? "say" : "says");
}

/* ---- the command
 * -------------------------------------------------------------------------------
 */

static int explain(struct explaining *e) {
    struct dpmf_error error = {0};
    struct dpmf_model_info info;
    struct reason *reasons = NULL;
    int status = STATUS_DONE;
    e->shares = calloc(e->own.n + 1, sizeof *e->shares);
    reasons = calloc(e->own.n + 1, sizeof *reasons);
    if (e->shares == NULL || reasons == NULL) {
        status = model_use_no_memory();
        goto out;
    }
    if (dpmf_model_explain(e->model, e->own.ratings, e->own.n, e->order, e->item, &e->score,
                           e->shares, &error) != 0) {
        status = report_error_print(e->invocation, &error);
        goto out;
    }
    dpmf_model_info(e->model, &info);
    e->places = isnan(e->score.rating) ? 4 : text_places(4, info.min, info.max);
    e->prediction = isnan(e->score.rating) ? e->score.total : e->score.rating;
    e->common = info.offset;
    e->item_bias = dpmf_model_predict(e->model, UINT64_MAX, e->item) - info.offset;
    for (size_t i = 0; i < e->own.n; i++)
        reasons[i] = (struct reason){e->own.ratings[i], e->shares[i]};
    qsort(reasons, e->own.n, sizeof *reasons, compare_reasons);
    size_t n = e->own.n < e->top ? e->own.n : e->top;
    add_up(e);
    terminal_progress_end(&e->invocation->terminal);
    own_ratings_note(e->invocation, e->model, &e->catalogue, &e->own);
    model_use_order_note(e->invocation, e->model, e->order);
    if (command_has(e->invocation, OPTION_JSON))
        status = print_json(e, reasons, n);
    else
        print_page(e, reasons, n);
out:
    free(reasons);
    return status;
}

static int check_usage(const struct invocation *invocation) {
    bool has_mine = command_has(invocation, OPTION_MINE);
    bool has_user = command_has(invocation, OPTION_USER);
    bool has_history = command_has(invocation, OPTION_HISTORY);
    if (has_mine && (has_user || has_history))
        return terminal_error_print(STATUS_USAGE, "keep one of them",
                                    "--ratings already says what the user rated");
    if (!has_mine && (!has_user || !has_history))
        return terminal_error_print(STATUS_USAGE,
                                    "for example: --user 42 --history train.dpr, or --ratings "
                                    "mine.csv",
                                    "explain needs %s",
                                    has_user      ? "--history, where the user's ratings are"
                                    : has_history ? "--user"
                                                  : "someone's ratings");
    return STATUS_DONE;
}

static int run(struct invocation *invocation) {
    struct explaining e = {.invocation = invocation};
    int status = check_usage(invocation);
    if (status == STATUS_DONE) status = model_use_order(invocation, &e.asked, &e.order);
    if (status == STATUS_DONE) status = model_use_top(invocation, TOP_MOST, &e.top);
    if (status == STATUS_DONE) status = model_use_open(invocation, &e.model);
    if (status == STATUS_DONE) {
        struct dpmf_model_info info;
        dpmf_model_info(e.model, &info);
        e.of_events = info.is_of_events;
        e.ranks = strcmp(info.goal, "ranking") == 0;
    }
    if (status == STATUS_DONE)
        status = model_use_find(invocation, e.model, MODEL_ITEM, invocation->value[OPTION_ITEM],
                                &e.item);
    if (status == STATUS_DONE) status = model_titles_read(invocation, e.model, &e.catalogue);
    if (status == STATUS_DONE) status = model_facts_take(invocation, e.model);
    if (status == STATUS_DONE)
        status = command_has(invocation, OPTION_MINE)
                     ? own_ratings_read(invocation, e.model, &e.catalogue, &e.own)
                     : read_history(&e);
    if (status == STATUS_DONE) status = explain(&e);
    model_titles_free(&e.catalogue);
    own_ratings_free(&e.own);
    free(e.shares);
    dpmf_model_close(e.model);
    return status;
}
