/*
 * dpmf similar: the items most like one item, by the angle between their
 * vectors; for someone with ratings of their own, those they have not rated, with
 * what is expected of them. Fed by a model and, perhaps, someone's ratings.
 */
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
     .help = "the item to find similar ones for"},
    MINE_OPTION("leave out what is rated here, a file or pairs as dune:5,solaris:3, and show what "
                "to expect of the rest"),
    TOP_OPTION("how many items (default {default})"),
    CATALOGUE_OPTION,
    KERNELS_OPTION,
    {0},
};
/* clang-format on */

const struct verb verb_similar = {
    .name = "similar",
    .summary = "list the items most like an item",
    .synopsis = "MODEL --item ID [--ratings MINE] [-n N] [options]",
    .paragraphs =
        {
            "Prints the N items whose vectors point most nearly the same way as the item's: by the "
            "cosine of the angle between them, which is 1 for the same direction. How much an item "
            "is liked overall does not count.",
            "With --ratings the items that someone has rated are left out, and beside each of the "
            "others is the score that dpmf recommend gives it for them.",
            MINE_PARAGRAPH,
            "A release may have so few factors that much of its list is chance, and a warning then "
            "says how many items would be as similar if all vectors pointed in random directions.",
            "With --json it prints one object per line with to, item, cosine, rank and by_chance, "
            "that number for each item; score with --ratings, and title where --catalogue has one.",
        },
    .groups = {{"Options", own_options}, {"How ratings are read", input_options}},
    .operands = {{VALUE_FILE, "MODEL", "m.safetensors", ".safetensors", NULL}, 1, 1},
    .exit_note = "3 when the model does not know the item.",
    .examples =
        {
            {"What is like item 1",
             "dpmf similar m.safetensors --item 1 -n 5 --catalogue items.csv", SOME_MODEL},
            {"What is like item 1 and new to me, and how I would like it",
             "dpmf similar m.safetensors --item 1 -n 5 --ratings 2:5,3:1,5:4", SOME_MODEL},
        },
    .run = run,
};

/* ---- what it does ---------------------------------------------------------------------------- */

enum { TOP_MOST = 100000 };

struct comparing {
    struct invocation *invocation;
    struct dpmf_model *model;
    struct dpmf_model_info info;
    struct catalogue catalogue;
    uint64_t item;
    size_t n;
    bool is_own;            /* --ratings is given */
    struct own_ratings own; /* ratings of --ratings */
    struct dpmf_user *user; /* fitted to them; NULL without --ratings */
    double *scores;         /* scores of what was found; NULL without */
};

/* ---- printing
 * ----------------------------------------------------------------------------------
 */

static int print_json(const struct comparing *c, const struct dpmf_scored_item *items, size_t n) {
    int status = STATUS_DONE;
    for (size_t i = 0; i < n && status == STATUS_DONE; i++) {
        const char *title = model_title(&c->catalogue, items[i].item);
        struct dpmf_json *json = dpmf_json_new();
        dpmf_json_begin_object(json, NULL);
        model_id_json(json, "to", c->model, MODEL_ITEM, c->item);
        model_id_json(json, "item", c->model, MODEL_ITEM, items[i].item);
        if (title != NULL) dpmf_json_string(json, "title", title);
        dpmf_json_double(json, "cosine", (double)items[i].score);
        if (c->scores != NULL) dpmf_json_double(json, "score", c->scores[i]);
        dpmf_json_uint(json, "rank", i + 1);
        dpmf_json_double(json, "by_chance", dpmf_model_similar_by_chance(c->model, items[i].score));
        dpmf_json_end_object(json);
        status = report_json_print(json);
    }
    return status;
}

/* ---- what is alike
 * -----------------------------------------------------------------------------
 */

static bool is_rated(const struct own_ratings *own, uint64_t item) {
    for (size_t i = 0; i < own->n; i++)
        if (own->ratings[i].item == item) return true;
    return false;
}

/* Drops what was rated, and all beyond the n that are wanted. @return how many are left */
static size_t keep_unrated(const struct comparing *c, struct dpmf_scored_item *items, size_t n) {
    size_t kept = 0;
    for (size_t i = 0; i < n && kept < c->n; i++)
        if (!is_rated(&c->own, items[i].item)) items[kept++] = items[i];
    return kept;
}

static bool score_all(struct comparing *c, const struct dpmf_scored_item *items, size_t n) {
    if (!c->is_own) return true;
    c->scores = calloc(n + 1, sizeof *c->scores);
    for (size_t i = 0; c->scores != NULL && i < n; i++) {
        struct dpmf_score score;
        if (dpmf_user_score(c->model, c->user, NULL, items[i].item, &score, NULL) < 0) return false;
        c->scores[i] = score.total;
    }
    return c->scores != NULL;
}

/* A release has as many factors as its noise allows, which may be too few to tell items apart. */
static void note_chance(struct comparing *c, const struct dpmf_scored_item *items, size_t n) {
    const double chance = dpmf_model_similar_in_doubt(c->model, n, items[n - 1].score);
    char text[300];
    if (chance == 0) return;
    snprintf(text, sizeof text,
             "%s tell few items apart: of %s in random directions, %s would be as similar as the "
             "last of these by chance",
             text_count(c->info.factors, "noisy factor").text,
             text_count(c->info.items, "item").text, text_number((uint64_t)(chance + 0.5)).text);
    terminal_warning_print(&c->invocation->terminal, text);
}

static int show(struct comparing *c, struct dpmf_scored_item *items, size_t n) {
    n = keep_unrated(c, items, n);
    if (n == 0)
        return terminal_error_print(STATUS_NO, NULL, "the model has no other item%s",
                                    c->own.n > 0 ? " that is not rated" : "");
    if (!score_all(c, items, n)) return model_use_no_memory();
    note_chance(c, items, n);
    if (command_has(c->invocation, OPTION_JSON)) return print_json(c, items, n);
    model_items_print(c->model, &c->catalogue, "cosine", items, "score", c->scores, n);
    return STATUS_DONE;
}

static int refuse_vectors(const struct comparing *c, const char *what) {
    return terminal_error_print(STATUS_NO, "give a model with factors",
                                "%s: there are no vectors to compare: %s",
                                c->invocation->operands[0], what);
}

static int find_similar(struct comparing *c) {
    struct dpmf_error error = {0};
    size_t room = c->n + c->own.n; /* some of the most alike may be rated */
    if (c->info.factors == 0)
        return refuse_vectors(c, strcmp(c->info.goal, "ranking") == 0 ? "it holds popularity alone"
                                                                      : "it holds biases alone");
    if (room > c->info.items) room = (size_t)c->info.items;
    struct dpmf_scored_item *items = calloc(room + 1, sizeof *items);
    if (items == NULL) return model_use_no_memory();
    int64_t found = dpmf_model_similar(c->model, c->item, room, items, &error);
    if (found == DPMF_ERR_MODEL_KIND) {
        free(items);
        return refuse_vectors(c, "they are all 0, as they helped no prediction");
    }
    int status =
        found < 0 ? report_error_print(c->invocation, &error) : show(c, items, (size_t)found);
    free(items);
    return status;
}

/* ---- the command
 * -------------------------------------------------------------------------------
 */

static int read_own(struct comparing *c) {
    struct dpmf_error error = {0};
    if (!c->is_own) return STATUS_DONE;
    int status = own_ratings_read(c->invocation, c->model, &c->catalogue, &c->own);
    if (status != STATUS_DONE) return status;
    own_ratings_note(c->invocation, c->model, &c->catalogue, &c->own);
    int rc = dpmf_user_fold_in(c->model, c->own.ratings, c->own.n, &c->user, &error);
    return rc != 0 ? report_error_print(c->invocation, &error) : STATUS_DONE;
}

static int run(struct invocation *invocation) {
    struct comparing c = {.invocation = invocation, .is_own = command_has(invocation, OPTION_MINE)};
    int status = c.is_own ? STATUS_DONE : model_use_refuse_unread(invocation);
    if (status == STATUS_DONE) status = model_use_top(invocation, TOP_MOST, &c.n);
    if (status == STATUS_DONE) status = model_use_open(invocation, &c.model);
    if (status == STATUS_DONE) dpmf_model_info(c.model, &c.info);
    if (status == STATUS_DONE)
        status = model_use_find(invocation, c.model, MODEL_ITEM, invocation->value[OPTION_ITEM],
                                &c.item);
    if (status == STATUS_DONE) status = model_titles_read(invocation, c.model, &c.catalogue);
    if (status == STATUS_DONE) status = read_own(&c);
    if (status == STATUS_DONE) status = find_similar(&c);
    model_titles_free(&c.catalogue);
    own_ratings_free(&c.own);
    dpmf_user_free(c.user);
    free(c.scores);
    dpmf_model_close(c.model);
    return status;
}
