/*
 * dpmf synth: a synthetic store of a chosen shape, with the planted truth and a catalogue beside it
 * when they are wanted. Feeds tests, benchmarks and the demo.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/options.h"
#include "cli/report.h"
#include "cli/shared_options.h"
#include "cli/text.h"

/* ---- options and manual ---------------------------------------------------------------------- */

static int run(struct invocation *invocation);

static const char *shape_choices(size_t i, const char **description) {
    if (description != NULL) *description = NULL;
    return dpmf_synth_shape_name(i);
}

static void average_default(FILE *out) {
    fputs(text_double(dpmf_synth_options_default().average).text, out);
}

static void item_spread_default(FILE *out) {
    fputs(text_double(dpmf_synth_options_default().item_spread).text, out);
}

static void taste_spread_default(FILE *out) {
    fputs(text_double(dpmf_synth_options_default().taste_spread).text, out);
}

/* One option, a few lines: the formatter would give each of its fields a line of its own. */
/* clang-format off */
static const struct option own_options[] = {
    STORE_OUTPUT_OPTION,
    REPLACE_OPTION,
    {.id = OPTION_LIKE, .name = "like",
     .value = {VALUE_CHOICE, "NAME", "ml-1m", NULL, shape_choices},
     .help = "start from the shape of a known data set; the options below change it"},
    {.id = OPTION_USERS, .name = "users", .value = {VALUE_COUNT, "N", "1000", NULL, NULL},
     .help = "how many users"},
    {.id = OPTION_ITEMS, .name = "items", .value = {VALUE_COUNT, "N", "500", NULL, NULL},
     .help = "how many items"},
    {.id = OPTION_RATINGS, .name = "ratings", .value = {VALUE_COUNT, "N", "50000", NULL, NULL},
     .help = "how many ratings"},
    {.id = OPTION_RANK, .name = "rank", .value = {VALUE_COUNT, "K", "8", NULL, NULL},
     .help = "how many planted factors"},
    {.id = OPTION_NOISE, .name = "noise", .value = {VALUE_NUMBER, "X", "0.5", NULL, NULL},
     .help = "standard deviation of the noise, in quarters of the scale's width"},
    {.id = OPTION_SCALE, .name = "scale", .value = {VALUE_SCALE, "A:B[:STEP]", "1:5:1", NULL, NULL},
     .help = "ratings from A to B in steps of STEP; without STEP, any number between them"},
    {.id = OPTION_TOP_500, .name = "top-500",
     .value = {VALUE_FRACTION, "SHARE", "0.44", NULL, NULL},
     .help = "the share of the ratings that the 500 most rated items hold"},
    {.id = OPTION_AVERAGE_RATING, .name = "average-rating",
     .value = {VALUE_FRACTION, "X", "0.3", NULL, NULL}, .show_default = average_default,
     .help = "the average rating, as a place on the scale from 0 to 1 (default {default}); "
             "the lower it is, the fewer items people like, and the more their "
             "taste decides which"},
    {.id = OPTION_ITEM_SPREAD, .name = "item-spread",
     .value = {VALUE_NUMBER, "X", "0.1", NULL, NULL}, .show_default = item_spread_default,
     .help = "how much better some items are than others for everyone: standard deviation, in "
             "quarters of the scale's width (default {default})"},
    {.id = OPTION_TASTE_SPREAD, .name = "taste-spread",
     .value = {VALUE_NUMBER, "X", "1", NULL, NULL}, .show_default = taste_spread_default,
     .help = "how much taste matters: standard deviation of the product of the two vectors, in "
             "the same unit (default {default})"},
    {.id = OPTION_EVENTS, .name = "events", .value = {.kind = VALUE_NONE},
     .help = "write what the made-up people like as events: ratings in the upper quarter of the "
             "scale, 4 and 5 of 1 to 5; the others are left out"},
    {.id = OPTION_TIMESTAMPS, .name = "timestamps", .value = {.kind = VALUE_NONE},
     .help = "give every rating a made-up time"},
    SEED_OPTION,
    {.id = OPTION_TRUTH, .name = "truth",
     .value = {VALUE_OUTPUT, "FILE", "truth.safetensors", ".safetensors", NULL},
     .help = "also write the planted factors, as safetensors"},
    {.id = OPTION_CATALOGUE_OUT, .name = "catalogue-out", .alias = "catalog-out",
     .value = {VALUE_OUTPUT, "FILE", "items.csv", ".csv", NULL},
     .help = "also write a CSV list of the items with made-up titles; a file that exists already "
             "is replaced only with --replace"},
    {0},
};
/* clang-format on */

const struct verb verb_synth = {
    .name = "synth",
    .summary = "make a synthetic ratings store of a chosen shape",
    .synopsis = "-o FILE.dpr [--like NAME] [options]",
    .paragraphs =
        {
            "Makes ratings from a planted model: an offset, a bias for each user and each item, "
            "the product of two short vectors, and noise, mapped to the scale. Who rates what "
            "follows a power law, as in real life: few items hold most of the ratings.",
            "The same options give the same bytes on any machine and for any number of "
            "threads.",
        },
    .groups = {{"Options", own_options}},
    .operands = {{.kind = VALUE_NONE}, 0, 0},
    .examples =
        {
            {"A small store to play with",
             "dpmf synth --users 1000 --items 200 --ratings 20000 -o toy.dpr", NULL},
            {"The shape of MovieLens 100K, in half stars, with the truth kept for tests",
             "dpmf synth --like ml-100k --scale 0.5:5:0.5 --truth truth.safetensors -o "
             "like.dpr",
             NULL},
            {"Events: what made-up people like",
             "dpmf synth --users 1000 --items 200 --ratings 20000 --events -o likes.dpr", NULL},
            {"Events that popularity says little about, and taste much",
             "dpmf synth --users 1000 --items 400 --ratings 60000 --rank 4 "
             "--average-rating 0.25 --item-spread 0.1 --taste-spread 1 --noise 0.3 --events -o "
             "flat.dpr",
             NULL},
        },
    .run = run,
};

/* ---- what it does ---------------------------------------------------------------------------- */

static void set_count(const struct invocation *invocation, enum option_id id, uint64_t *count) {
    if (command_has(invocation, id)) *count = options_count(invocation, id);
}

static void set_number(const struct invocation *invocation, enum option_id id, double *number) {
    if (command_has(invocation, id)) *number = options_number(invocation, id);
}

static int set_rank(const struct invocation *invocation, struct dpmf_synth_options *options) {
    if (!command_has(invocation, OPTION_RANK)) return 0;
    uint64_t rank = options_count(invocation, OPTION_RANK);
    if (rank > UINT32_MAX)
        return terminal_error_print(STATUS_USAGE, "for example: --rank 8", "--rank %s is too large",
                                    invocation->value[OPTION_RANK]);
    options->rank = (uint32_t)rank;
    return 0;
}

/* A --like first, then what the other options change of it. */
static int fill(const struct invocation *invocation, struct dpmf_synth_options *options) {
    *options = dpmf_synth_options_default();
    if (command_has(invocation, OPTION_LIKE))
        dpmf_synth_options_like(invocation->value[OPTION_LIKE], options);
    set_count(invocation, OPTION_USERS, &options->users);
    set_count(invocation, OPTION_ITEMS, &options->items);
    set_count(invocation, OPTION_RATINGS, &options->ratings);
    set_count(invocation, OPTION_SEED, &options->seed);
    set_number(invocation, OPTION_NOISE, &options->noise);
    set_number(invocation, OPTION_TOP_500, &options->top_500_share);
    set_number(invocation, OPTION_AVERAGE_RATING, &options->average);
    set_number(invocation, OPTION_ITEM_SPREAD, &options->item_spread);
    set_number(invocation, OPTION_TASTE_SPREAD, &options->taste_spread);
    if (command_has(invocation, OPTION_SCALE)) {
        double scale[3] = {0};
        options_scale(invocation, OPTION_SCALE, scale);
        options->scale_min = scale[0];
        options->scale_max = scale[1];
        options->scale_step = scale[2];
    }
    if (command_has(invocation, OPTION_TIMESTAMPS)) options->times = true;
    options->truth = invocation->value[OPTION_TRUTH];
    options->catalogue = invocation->value[OPTION_CATALOGUE_OUT];
    return set_rank(invocation, options);
}

/* Ratings first, in a file beside the output that is gone afterwards; then their likes. */
static int make_events(const char *output, const struct dpmf_synth_options *options,
                       const struct dpmf_run *run, struct dpmf_import_report *report,
                       struct dpmf_error *error) {
    struct dpmf_input_options input = dpmf_input_options_default();
    char *path = NULL;
    const char *ratings;
    int rc = dpmf_output_check_kind(output, DPMF_FILE_STORE, run, error);
    if (rc != 0) return rc;
    if (asprintf(&path, "%s.ratings-%ld", output, (long)getpid()) < 0)
        return error->code = DPMF_ERR_BASE_NO_MEMORY;
    input.skip_bad = input.has_like = true; /* so that private runs accept the store */
    input.like = options->scale_min + 0.75 * (options->scale_max - options->scale_min);
    ratings = path;
    rc = dpmf_synth(path, options, run, report, error);
    if (rc == 0) rc = dpmf_import(&ratings, 1, output, &input, run, report, error);
    unlink(path);
    free(path);
    report->not_liked = 0; /* it was not about them */
    return rc;
}

static int run(struct invocation *invocation) {
    struct dpmf_synth_options options;
    struct dpmf_import_report report = {0};
    struct dpmf_error error = {0};
    const char *output = invocation->value[OPTION_OUTPUT];

    int status = fill(invocation, &options);
    if (status != 0) return status;
    int rc = command_has(invocation, OPTION_EVENTS)
                 ? make_events(output, &options, &invocation->run, &report, &error)
                 : dpmf_synth(output, &options, &invocation->run, &report, &error);
    if (rc != 0) return report_error_print(invocation, &error);
    return report_import_print(invocation, output, &report);
}
