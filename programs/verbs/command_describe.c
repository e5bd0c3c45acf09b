/*
 * dpmf describe: what a store or any ratings input holds, as a page for people with a histogram, or
 * as one JSON object. Fed by dpmf_store_describe; models are left to describe_model.c.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/options.h"
#include "cli/report.h"
#include "cli/shared_options.h"
#include "cli/text.h"
#include "dpmf_text.h"
#include "shared/model_use.h"
#include "verbs/describe_model.h"

/* ---- options and manual ---------------------------------------------------------------------- */

static int run(struct invocation *invocation);

/* One option, a few lines: the formatter would give each of its fields a line of its own. */
/* clang-format off */
static const struct option own_options[] = {
    {.id = OPTION_PLOT, .name = "plot",
     .value = {VALUE_OUTPUT, "FILE.svg", "items.svg", ".svg", NULL},
     .help = "also draw the number of items by their number of ratings, on logarithmic axes"},
    REPLACE_OPTION,
    {0},
};
/* clang-format on */

const struct verb verb_describe = {
    .name = "describe",
    .summary = "show what a ratings store, a ratings file or a model contains",
    .synopsis = "FILE [--plot FILE.svg] [options]",
    .paragraphs =
        {
            "Prints the number of users, items and ratings, their scale, mean and density, the "
            "share of the 500 most rated items, how many ratings users and items have, and a "
            "histogram of the ratings. The whole file is read and every checksum is verified.",
            "For a store it also prints how its ratings were read: from which formats; whether the "
            "layout was declared, guessed from the first record, dependent on other records, or "
            "not recorded; whether bad records were dropped one by one; and so, whether private "
            "runs accept it. With --json these are formats, layout, drops_bad and by_record.",
            "With --json it prints one object with users, items, ratings, min, max, mean, "
            "standard_deviation, density and the rest; per_user and per_item are the numbers "
            "of ratings at percentile_levels.",
            "For a model it prints how many users, items and factors it has, the scale, and how it "
            "was trained; for a release, what it promises.",
        },
    .groups = {{"Options", own_options}, {"How the input is read", input_options}},
    .operands = {{VALUE_FILE, "FILE", "ratings.dpr", NULL, NULL}, 1, 1},
    .exit_note = "3 when the file is damaged or holds no ratings.",
    .examples =
        {
            {"Look at a store", "dpmf describe ratings.dpr", SOME_STORE},
            {"Look at a CSV file without keeping a store", "dpmf describe ratings.csv", SOME_CSV},
            {"The power law as a picture, and the numbers for a script",
             "dpmf describe ratings.dpr --plot items.svg --json", SOME_STORE},
        },
    .run = run,
};

/* ---- what it does ---------------------------------------------------------------------------- */

/* ---- for scripts ----------------------------------------------------------------------------- */

static void add_counts(struct dpmf_json *json, const char *key, const uint64_t *counts) {
    dpmf_json_begin_array(json, key);
    for (size_t i = 0; i < DPMF_PERCENTILES; i++) dpmf_json_uint(json, NULL, counts[i]);
    dpmf_json_end_array(json);
}

static void add_histogram(struct dpmf_json *json, const struct dpmf_description *description) {
    dpmf_json_begin_array(json, "histogram");
    for (size_t i = 0; i < description->n_bars; i++) {
        dpmf_json_begin_object(json, NULL);
        dpmf_json_double(json, "low", description->bar[i].low);
        dpmf_json_double(json, "high", description->bar[i].high);
        dpmf_json_uint(json, "count", description->bar[i].count);
        dpmf_json_end_object(json);
    }
    dpmf_json_end_array(json);
}

/* How often anything happened, all events together. */
static double count_total(const struct dpmf_description *description) {
    return round(description->mean * (double)description->info.ratings);
}

static int print_json(const char *path, const struct dpmf_description *description) {
    const struct dpmf_store_info *info = &description->info;
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_string(json, "kind", info->is_temporary ? "ratings" : "store");
    dpmf_json_string(json, "file", path);
    dpmf_json_string(json, "holds", info->holds_events ? "events" : "ratings");
    dpmf_json_uint(json, "users", info->users);
    dpmf_json_uint(json, "items", info->items);
    dpmf_json_uint(json, "ratings", info->ratings);
    dpmf_json_double(json, "min", info->min);
    dpmf_json_double(json, "max", info->max);
    if (info->holds_events) {
        dpmf_json_double(json, "count_total", count_total(description));
    } else {
        dpmf_json_double(json, "mean", description->mean);
        dpmf_json_double(json, "standard_deviation", description->standard_deviation);
    }
    dpmf_json_double(json, "density", description->density);
    dpmf_json_double(json, "top_500_share", description->top_500_share);
    if (!info->is_temporary) { /* else they would be those of a store that nobody sees */
        dpmf_json_uint(json, "blocks", info->blocks);
        dpmf_json_uint(json, "file_bytes", info->file_bytes);
        dpmf_json_double(json, "bytes_per_rating", description->bytes_per_rating);
        report_layout_json(json, &info->layout);
    }
    dpmf_json_uint(json, "distinct_values", description->distinct_values);
    if (description->has_step)
        dpmf_json_double(json, "step", description->step);
    else
        dpmf_json_null(json, "step");
    dpmf_json_bool(json, "has_times", info->has_times);
    if (info->has_times) {
        dpmf_json_int(json, "first_time", description->first_time);
        dpmf_json_int(json, "last_time", description->last_time);
    }
    dpmf_json_begin_array(json, "percentile_levels");
    for (size_t i = 0; i < DPMF_PERCENTILES; i++)
        dpmf_json_double(json, NULL, dpmf_percentile_levels[i]);
    dpmf_json_end_array(json);
    add_counts(json, "per_user", description->per_user);
    add_counts(json, "per_item", description->per_item);
    add_histogram(json, description);
    dpmf_json_end_object(json);
    return report_json_print(json);
}

/* ---- for people ------------------------------------------------------------------------------ */

/* Fills `width` columns in proportion; UTF-8 has blocks of eighths, so that small bars differ. */
static void print_bar(double share, size_t width, bool is_utf8) {
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    size_t parts = (size_t)(share * (double)width * 8 + 0.5);
    if (share > 0 && parts == 0) parts = 1;
    if (is_utf8) {
        for (size_t i = 0; i < parts / 8; i++) fputs("█", stdout);
        fputs(eighths[parts % 8], stdout);
    } else {
        for (size_t i = 0; i < (parts + 4) / 8; i++) fputc('#', stdout);
    }
}

struct bar_label {
    char text[2 * DPMF_DOUBLE_TEXT_MAX + 8];
};

static struct bar_label bar_label(const struct dpmf_description *description, size_t i) {
    struct bar_label label;
    double low = description->bar[i].low, high = description->bar[i].high;
    if (low == high)
        snprintf(label.text, sizeof label.text, "%s", text_double(low).text);
    else
        snprintf(label.text, sizeof label.text, "%.4g to %.4g", low, high);
    return label;
}

static void print_histogram(const struct dpmf_description *description) {
    uint64_t most = 1;
    const bool events = description->info.holds_events;
    const char *value = events ? "count" : "rating", *records = events ? "events" : "ratings";
    size_t label_width = strlen(value), width = terminal_width(STDOUT_FILENO);
    for (size_t i = 0; i < description->n_bars; i++) {
        size_t length = strlen(bar_label(description, i).text);
        label_width = length > label_width ? length : label_width;
        most = description->bar[i].count > most ? description->bar[i].count : most;
    }
    size_t count_width = strlen(text_number(most).text);
    count_width = count_width < strlen(records) ? strlen(records) : count_width;
    size_t taken = 2 + label_width + 2 + count_width + 2 + strlen("100.0 %") + 2;
    size_t bar_width = width > taken + 11 ? width - taken - 1 : 10;
    bool is_utf8 = terminal_is_utf8();

    printf("\n  %*s  %*s\n", (int)label_width, value, (int)count_width, records);
    for (size_t i = 0; i < description->n_bars; i++) {
        uint64_t count = description->bar[i].count;
        printf("  %*s  %*s  %5.1f %%  ", (int)label_width, bar_label(description, i).text,
               (int)count_width, text_number(count).text,
               100 * (double)count / (double)description->info.ratings);
        print_bar((double)count / (double)most, bar_width, is_utf8);
        putchar('\n');
    }
}

static void print_counts(const char *name, const uint64_t *counts, int width) {
    printf("  %-10s", name);
    for (size_t i = 0; i < DPMF_PERCENTILES; i++)
        printf("  %*s", width, text_number(counts[i]).text);
    putchar('\n');
}

/* The largest counts are at the end, and set the width of every column. */
static void print_percentiles(const struct dpmf_description *description) {
    size_t width = strlen("least");
    size_t user_width = strlen(text_number(description->per_user[DPMF_PERCENTILES - 1]).text);
    size_t item_width = strlen(text_number(description->per_item[DPMF_PERCENTILES - 1]).text);
    width = user_width > width ? user_width : width;
    width = item_width > width ? item_width : width;

    printf("\n  %-10s", description->info.holds_events ? "events of" : "ratings of");
    for (size_t i = 0; i < DPMF_PERCENTILES; i++) {
        char level[16];
        snprintf(level, sizeof level, "%.0f %%", dpmf_percentile_levels[i]);
        printf("  %*s", (int)width, i == 0 ? "least" : i + 1 == DPMF_PERCENTILES ? "most" : level);
    }
    putchar('\n');
    print_counts("a user", description->per_user, (int)width);
    print_counts("an item", description->per_item, (int)width);
}

static void print_scale(const struct dpmf_description *description) {
    const struct dpmf_store_info *info = &description->info;
    printf("  %-10s %s to %s", "scale", text_double(info->min).text, text_double(info->max).text);
    if (description->has_step && description->step > 0)
        printf(" in steps of %s", text_double(description->step).text);
    printf(", %s%s\n", text_count(description->distinct_values, "different value").text,
           description->distinct_values >= 4096 ? " or more" : "");
}

/* How often events happened. */
static void print_counts_of(const struct dpmf_description *description) {
    const struct dpmf_store_info *info = &description->info;
    if (info->max == 1) {
        printf("  %-10s none: every event counts once\n", "counts");
        return;
    }
    printf("  %-10s %s to %s, %.15g in all\n", "counts", text_double(info->min).text,
           text_double(info->max).text, count_total(description));
}

static void print_page(const char *path, const struct dpmf_description *description) {
    const struct dpmf_store_info *info = &description->info;
    terminal_text_print(stdout, strcmp(path, "-") == 0 ? "standard input" : path);
    const char *record = report_record(info->holds_events);
    printf(": %s of %s for %s\n\n", text_count(info->ratings, record).text,
           text_count(info->users, "user").text, text_count(info->items, "item").text);
    if (!info->is_temporary) printf("  %-10s %s\n", "read as", report_layout(&info->layout).text);
    if (info->ratings == 0) return;
    if (info->holds_events) {
        print_counts_of(description);
    } else {
        print_scale(description);
        printf("  %-10s %s, standard deviation %s\n", "mean", text_figure(description->mean).text,
               text_figure(description->standard_deviation).text);
    }
    printf("  %-10s %.4g %% of all pairs of a user and an item\n", "density",
           100 * description->density);
    printf("  %-10s %.1f %% of the %ss are for the 500 most %s items\n", "top 500",
           100 * description->top_500_share, record, info->holds_events ? "popular" : "rated");
    if (info->has_times)
        printf("  %-10s %s to %s\n", "times", text_time(description->first_time).text,
               text_time(description->last_time).text);
    if (!info->is_temporary)
        printf("  %-10s %s, %.2f bytes %s %s, %s\n", "store", text_bytes(info->file_bytes).text,
               description->bytes_per_rating, info->holds_events ? "an" : "a", record,
               text_count(info->blocks, "block").text);
    print_percentiles(description);
    if (!info->holds_events || info->max > 1) print_histogram(description);
}

/* ---- the command ----------------------------------------------------------------------------- */

static int run(struct invocation *invocation) {
    const char *path = invocation->operands[0];
    struct dpmf_input_options input = options_input(invocation);
    struct dpmf_description description;
    struct dpmf_error error = {0};
    struct dpmf_store *store = NULL;

    if (model_use_is_model(path)) return describe_model_run(invocation);
    int rc = dpmf_store_open(path, &input, &invocation->run, &store, &error);
    if (rc == 0)
        rc = dpmf_store_describe(store, invocation->value[OPTION_PLOT], &invocation->run,
                                 &description, &error);
    dpmf_store_close(store);
    if (rc != 0) return report_error_print(invocation, &error);
    terminal_progress_end(&invocation->terminal);
    terminal_phases_print(&invocation->terminal);
    if (command_has(invocation, OPTION_JSON)) return print_json(path, &description);
    print_page(path, &description);
    return STATUS_DONE;
}
