/*
 * dpmf bench: how fast this machine trains, for each number of factors and threads, on ratings of
 * Netflix's shape that are made for it and gone afterwards. Prints a table, or a line of JSON a
 * measurement.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/options.h"
#include "cli/report.h"
#include "cli/shared_options.h"
#include "cli/text.h"
#include "dpmf_text.h"

/* ---- options and manual ---------------------------------------------------------------------- */

static int run(struct invocation *invocation);

enum { USERS_DEFAULT = 10000, LIST_MAX = 64, THREADS_MAX = 1024 };

static const uint32_t usual_factors[] = {16, 64, 256, 1024};

static void factors_default(FILE *out) {
    for (size_t i = 0; i < sizeof usual_factors / sizeof *usual_factors; i++)
        fprintf(out, "%s%u", i > 0 ? "," : "", usual_factors[i]);
}

/* The set whose shape is measured with. */
static struct dpmf_synth_options netflix(void) {
    struct dpmf_synth_options shape = dpmf_synth_options_default();
    dpmf_synth_options_like("netflix", &shape);
    return shape;
}

static void ratings_default(FILE *out) {
    fprintf(out, "%.0f", (double)netflix().ratings / (double)netflix().users);
}

static void users_default(FILE *out) { fprintf(out, "%d", USERS_DEFAULT); }

static void items_default(FILE *out) { fprintf(out, "%" PRIu64, netflix().items); }

static void seconds_default(FILE *out) {
    fputs(text_double(dpmf_bench_options_default().seconds).text, out);
}

/* One option, a few lines: the formatter would give each of its fields a line of its own. */
/* clang-format off */
static const struct option own_options[] = {
    {.id = OPTION_FACTOR_LIST, .letter = 'k', .name = "factors",
     .value = {VALUE_COUNTS, "LIST", "16,64", NULL, NULL}, .show_default = factors_default,
     .help = "numbers of factors to measure with, one after the other (default {default})"},
    {.id = OPTION_THREAD_LIST, .letter = 'j', .name = "threads",
     .value = {VALUE_COUNTS, "LIST", "1,2", NULL, NULL},
     .help = "numbers of threads to measure with, one after the other (default: 1, and one for "
             "each core)"},
    KERNELS_OPTION,
    LANES_OPTION,
    {.id = OPTION_SOLVER, .name = "solver", .value = {VALUE_TEXT, "NAME", "sgld", NULL, NULL},
     .help = "measure ials; or a sampler, sgld, sghmc or sgnht, whose epochs then alternate with "
             "those of sgd, to print its speed as a share of sgd's (default sgd)"},
    {.id = OPTION_RATINGS, .name = "ratings", .value = {VALUE_COUNT, "N", "2000000", NULL, NULL},
     .show_default = ratings_default,
     .help = "how many ratings to train on (default: {default} for each user, as in Netflix's "
             "set)"},
    {.id = OPTION_USERS, .name = "users", .value = {VALUE_COUNT, "N", "10000", NULL, NULL},
     .show_default = users_default,
     .help = "how many users (default {default}, or as fits --ratings)"},
    {.id = OPTION_ITEMS, .name = "items", .value = {VALUE_COUNT, "N", "17770", NULL, NULL},
     .show_default = items_default,
     .help = "how many items (default {default}, as Netflix's set has)"},
    {.id = OPTION_SECONDS, .name = "seconds", .value = {VALUE_NUMBER, "X", "1", NULL, NULL},
     .show_default = seconds_default,
     .help = "seconds of each measurement, of at least three epochs (default {default})"},
    {0},
};
/* clang-format on */

const struct verb verb_bench = {
    .name = "bench",
    .summary = "measure how fast this machine trains",
    .synopsis = "[--factors LIST] [--threads LIST] [--kernels NAME] [options]",
    .paragraphs =
        {
            "Makes ratings of Netflix's shape in a temporary store, trains on them for a while "
            "with each number of factors and threads, and prints the median speed of the "
            "epochs. Nothing is left behind.",
            "The update for one rating takes 6k operations for k factors and rewrites 5k bytes: a "
            "vector of 4k, and a quarter of another, which serves several ratings. GB/s counts "
            "these bytes. Beside it is the roofline: what the same threads can rewrite in their "
            "own caches when they do nothing else, measured right before and after. The fraction "
            "is GB/s as a share of the roofline.",
            "With --solver ials an update is an event's share of an epoch of dpmf train --goal "
            "ranking, which solves for all users and all items with three steps for each. It takes "
            "28k operations, and each row another 9k^2: (4 * 3 + 2) k for each event on both "
            "sides, four products with the Gramian, and half of one to sum it. Each multiplication "
            "and addition takes a number of 4 bytes from the caches; the roofline is what the same "
            "threads can read from their own caches when they do nothing else.",
            "With --json it prints one object per line with factors, threads, solver, "
            "updates_per_second, gflops, fraction_of_roofline and the rest; for a sampler, of_sgd "
            "as well.",
        },
    .groups = {{"Options", own_options}},
    .has_own_threads = true,
    .operands = {{.kind = VALUE_NONE}, 0, 0},
    .examples =
        {
            {"A quick look with one thread",
             "dpmf bench -k 16,64 -j 1 --ratings 100000 --seconds 0.1", NULL},
            {"What the vector instructions bring, for a script",
             "dpmf bench -k 32 -j 1 --kernels ref --ratings 100000 --seconds 0.1 --json", NULL},
        },
    .run = run,
};

/* ---- what it does ---------------------------------------------------------------------------- */

struct list {
    uint64_t value[LIST_MAX];
    size_t n;
};

static int read_list(const struct invocation *invocation, enum option_id id, struct list *list) {
    list->n = options_counts(invocation, id, list->value, LIST_MAX);
    if (list->n <= LIST_MAX) return STATUS_DONE;
    return terminal_error_print(STATUS_USAGE, "run it several times, each with a part of them",
                                "%s: more than %d numbers", invocation->value[id], LIST_MAX);
}

/* One thread, and all cores. */
static int read_threads(const struct invocation *invocation, struct list *threads) {
    *threads = (struct list){.value = {1, 0}, .n = 2};
    if (!command_has(invocation, OPTION_THREAD_LIST)) {
        struct dpmf_machine machine;
        if (dpmf_machine_describe(&machine, NULL) == 0 && machine.cores < 2) threads->n = 1;
        return STATUS_DONE;
    }
    int status = read_list(invocation, OPTION_THREAD_LIST, threads);
    for (size_t i = 0; status == STATUS_DONE && i < threads->n; i++)
        if (threads->value[i] < 1 || threads->value[i] > THREADS_MAX)
            status = terminal_error_print(STATUS_USAGE, "for example: --threads 1,2",
                                          "--threads %s: the number of threads must be 1 to %d",
                                          invocation->value[OPTION_THREAD_LIST], THREADS_MAX);
    return status;
}

static int read_factors(const struct invocation *invocation, struct list *factors) {
    *factors = (struct list){.n = sizeof usual_factors / sizeof *usual_factors};
    for (size_t i = 0; i < factors->n; i++) factors->value[i] = usual_factors[i];
    if (!command_has(invocation, OPTION_FACTOR_LIST)) return STATUS_DONE;
    int status = read_list(invocation, OPTION_FACTOR_LIST, factors);
    for (size_t i = 0; status == STATUS_DONE && i < factors->n; i++)
        if (factors->value[i] < 1 || factors->value[i] > 4096)
            status = terminal_error_print(STATUS_USAGE, "for example: --factors 16,64",
                                          "--factors %s: the number of factors must be 1 to 4096",
                                          invocation->value[OPTION_FACTOR_LIST]);
    return status;
}

/* Users, items and ratings as dense as Netflix's, where they are not said. */
static struct dpmf_synth_options shape_of(const struct invocation *invocation) {
    struct dpmf_synth_options shape = netflix();
    double each = (double)shape.ratings / (double)shape.users;
    bool has_users = command_has(invocation, OPTION_USERS);
    shape.users = has_users ? options_count(invocation, OPTION_USERS) : USERS_DEFAULT;
    if (command_has(invocation, OPTION_RATINGS)) {
        shape.ratings = options_count(invocation, OPTION_RATINGS);
        if (!has_users) shape.users = (uint64_t)((double)shape.ratings / each) + 1;
    } else {
        shape.ratings = (uint64_t)((double)shape.users * each);
    }
    if (command_has(invocation, OPTION_ITEMS)) {
        shape.items = options_count(invocation, OPTION_ITEMS);
        shape.top_500_share = 0; /* it is that of Netflix's items */
    }
    return shape;
}

/* The store has no name from the moment it is open. */
static int make_store(struct invocation *invocation, const struct dpmf_synth_options *shape,
                      struct dpmf_store **store) {
    char directory[4096], path[4096 + 16];
    struct dpmf_error error = {0};
    snprintf(directory, sizeof directory, "%s/dpmf-bench-XXXXXX", terminal_temporary_directory());
    if (mkdtemp(directory) == NULL)
        return terminal_error_print(STATUS_IO, "set TMPDIR to a directory that you may write to",
                                    "%s: cannot make a temporary directory: %s", directory,
                                    text_system_error(errno).text);
    snprintf(path, sizeof path, "%s/ratings.dpr", directory);
    struct dpmf_run run = invocation->run;
    run.warn = NULL; /* a set too small for Netflix's popular items: its user wants a quick look */
    int rc = dpmf_synth(path, shape, &run, NULL, &error);
    if (rc == 0) rc = dpmf_store_open(path, NULL, &invocation->run, store, &error);
    unlink(path);
    rmdir(directory);
    return rc == 0 ? STATUS_DONE : report_error_print(invocation, &error);
}

/* Samplers take turns with sgd. */
static bool has_turns(const struct dpmf_bench_result *result) {
    return dpmf_solver_is_sampler(result->solver);
}

static void print_head(const struct dpmf_synth_options *shape,
                       const struct dpmf_bench_result *result) {
    printf("%s of %s for %s\n\n", text_count(shape->ratings, "rating").text,
           text_count(shape->users, "user").text, text_count(shape->items, "item").text);
    printf("%7s %7s %7s %18s %9s %8s %8s %9s", "factors", "threads", "kernels", "million updates/s",
           "GFLOP/s", "GB/s", "of GB/s", "fraction");
    printf("%s\n", has_turns(result) ? "  of sgd" : "");
}

static void print_row(const struct dpmf_bench_result *result) {
    printf("%7u %7d %7s %18.2f %9.1f %8.1f %8.1f %9.2f", result->factors, result->threads,
           result->kernels, 1e-6 * result->updates_per_second, 1e-9 * result->flops_per_second,
           1e-9 * result->bytes_per_second, 1e-9 * result->roofline_bytes_per_second,
           result->fraction_of_roofline);
    if (has_turns(result)) printf(" %7.2f", result->of_sgd);
    printf("\n");
    fflush(stdout); /* one by one, for those who watch */
}

static int print_json(const struct dpmf_bench_result *result,
                      const struct dpmf_synth_options *shape) {
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_uint(json, "factors", result->factors);
    dpmf_json_int(json, "threads", result->threads);
    dpmf_json_string(json, "solver", result->solver);
    dpmf_json_double(json, "updates_per_second", result->updates_per_second);
    if (has_turns(result)) dpmf_json_double(json, "of_sgd", result->of_sgd);
    dpmf_json_double(json, "gflops", 1e-9 * result->flops_per_second);
    dpmf_json_double(json, "fraction_of_roofline", result->fraction_of_roofline);
    dpmf_json_double(json, "bytes_per_second", result->bytes_per_second);
    dpmf_json_double(json, "roofline_bytes_per_second", result->roofline_bytes_per_second);
    dpmf_json_string(json, "kernels", result->kernels);
    dpmf_json_uint(json, "lanes", result->lanes);
    dpmf_json_uint(json, "epochs", result->epochs);
    dpmf_json_double(json, "epoch_seconds", result->epoch_seconds);
    dpmf_json_double(json, "tiling_seconds", result->tiling_seconds);
    dpmf_json_uint(json, "model_bytes", result->model_bytes);
    dpmf_json_bool(json, "tiles_on_disk", result->tiles_on_disk);
    dpmf_json_uint(json, "users", shape->users);
    dpmf_json_uint(json, "items", shape->items);
    dpmf_json_uint(json, "ratings", shape->ratings);
    dpmf_json_end_object(json);
    int status = report_json_print(json);
    fflush(stdout);
    return status;
}

static int measure(struct invocation *invocation, struct dpmf_store *store,
                   const struct dpmf_synth_options *shape, uint64_t factors, uint64_t threads,
                   bool is_first) {
    struct dpmf_bench_options options = dpmf_bench_options_default();
    struct dpmf_bench_result result;
    struct dpmf_error error = {0};
    options.factors = (uint32_t)factors;
    options.kernels = invocation->value[OPTION_KERNELS];
    options.lanes = options_lanes(invocation);
    options.solver = invocation->value[OPTION_SOLVER];
    if (command_has(invocation, OPTION_SECONDS))
        options.seconds = options_number(invocation, OPTION_SECONDS);
    invocation->run.threads = (int)threads;
    int rc = dpmf_bench_run(store, &options, &invocation->run, &result, &error);
    if (rc != 0) return report_error_print(invocation, &error);
    terminal_progress_end(&invocation->terminal);
    if (command_has(invocation, OPTION_JSON)) return print_json(&result, shape);
    if (is_first) print_head(shape, &result);
    if (invocation->terminal.verbose && result.lanes > 0)
        terminal_note_print(&invocation->terminal, "k = %u: %u ratings at once", result.factors,
                            result.lanes);
    print_row(&result);
    return STATUS_DONE;
}

static int run(struct invocation *invocation) {
    struct list factors, threads;
    struct dpmf_store *store = NULL;
    const struct dpmf_synth_options shape = shape_of(invocation);
    int status = read_factors(invocation, &factors);
    if (status == STATUS_DONE) status = read_threads(invocation, &threads);
    if (status == STATUS_DONE) status = make_store(invocation, &shape, &store);
    if (status != STATUS_DONE) return status;
    terminal_progress_end(&invocation->terminal);
    for (size_t k = 0; status == STATUS_DONE && k < factors.n; k++)
        for (size_t t = 0; status == STATUS_DONE && t < threads.n; t++)
            status = measure(invocation, store, &shape, factors.value[k], threads.value[t],
                             k == 0 && t == 0);
    dpmf_store_close(store);
    return status;
}
