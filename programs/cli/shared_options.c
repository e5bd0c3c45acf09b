/*
 * What several verbs share of their options: see shared_options.h. Feeds the tables in
 * command_<verb>.c.
 */
#include "cli/shared_options.h"

#include <string.h>

/* ---- choices --------------------------------------------------------------------------------- */

const char *choice_listed(const char *const *names, size_t i, const char **description) {
    if (description != NULL) *description = NULL;
    return names[i];
}

static const char *format_choices(size_t i, const char **description) {
    if (i > 0) return dpmf_format_name(i - 1, description);
    if (description != NULL) *description = "detect it from the text (the default)";
    return "auto";
}

static const char *on_error_choices(size_t i, const char **description) {
    static const char *const names[] = {"fail", "skip", NULL};
    return choice_listed(names, i, description);
}

static const char *progress_choices(size_t i, const char **description) {
    static const char *const names[] = {"auto", "always", "never", NULL};
    return choice_listed(names, i, description);
}

const char *goal_choices(size_t i, const char **description) {
    static const char *const names[] = {"rating", "ranking", NULL};
    return choice_listed(names, i, description);
}

const char *mechanism_choices(size_t i, const char **description) {
    if (i > 0) return dpmf_mechanism_name(i - 1, description);
    if (description != NULL) *description = "the best that is known (the default)";
    return "auto";
}

const char *solver_choices(size_t i, const char **description) {
    return dpmf_solver_name(i, description);
}

const char *order_choices(size_t i, const char **description) {
    static const char *const names[] = {"score", "rating", NULL};
    return choice_listed(names, i, description);
}

const char *accept_choices(size_t i, const char **description) {
    static const struct {
        const char *name, *description;
    } choices[] = {
        {"conditional", "that a sampler had converged"},
        {"partial", "assumptions that dpmf cannot check, and parameters accepted by a switch"},
        {"both", "all of these"},
    };
    if (i >= sizeof choices / sizeof choices[0]) return NULL;
    if (description != NULL) *description = choices[i].description;
    return choices[i].name;
}

/* ---- defaults -------------------------------------------------------------------------------- */

/* As people write it: 1e-5. */
void private_delta_default(FILE *out) {
    char text[32];
    snprintf(text, sizeof text, "%g", dpmf_release_options_default().delta);
    char *zero = strstr(text, "e-0");
    if (zero != NULL) memmove(zero + 2, zero + 3, strlen(zero + 3) + 1);
    fputs(text, out);
}

void top_default(FILE *out) { fprintf(out, "%d", TOP_DEFAULT); }

void taste_default(FILE *out) { fprintf(out, "%g", dpmf_order_default().taste); }

static void cluster_timeout_default(FILE *out) { fprintf(out, "%d", DPMF_CLUSTER_TIMEOUT); }

void page_name_default(FILE *out) { fputs(PAGE_NAME_DEFAULT, out); }

/* ---- options --------------------------------------------------------------------------------- */

/* One option, a few lines: the formatter would give each of its fields a line of its own. */
/* clang-format off */

#define OPTIONS_BEFORE_THREADS                                                                     \
    {.id = OPTION_JSON, .name = "json", .value = {.kind = VALUE_NONE},                             \
     .help = "print one JSON object per line on standard output instead of text for people"},      \
    {.id = OPTION_QUIET, .letter = 'q', .name = "quiet", .value = {.kind = VALUE_NONE},            \
     .help = "print nothing but errors on standard error"},                                        \
    {.id = OPTION_VERBOSE, .letter = 'v', .name = "verbose", .value = {.kind = VALUE_NONE},        \
     .help = "print more on standard error: seconds per phase, bytes spilled"},                    \
    {.id = OPTION_PROGRESS, .name = "progress",                                                    \
     .value = {VALUE_CHOICE, "WHEN", "always", NULL, progress_choices},                            \
     .help = "show a progress line on standard error; auto, the default, does when it is a "       \
             "terminal"}

#define OPTIONS_AFTER_THREADS                                                                      \
    {.id = OPTION_MEMORY, .name = "memory", .value = {VALUE_SIZE, "SIZE", "2GiB", NULL, NULL},     \
     .help = "stay within this much memory, such as 512MiB or 2GiB, and use a temporary file "     \
             "beyond it (default: half of the machine's memory, at most 2GiB)"},                   \
    {.id = OPTION_HELP, .letter = 'h', .name = "help", .value = {.kind = VALUE_NONE},              \
     .help = "show this help and exit"},                                                           \
    {0}

static const struct option every_verb_options[] = {
    OPTIONS_BEFORE_THREADS,
    {.id = OPTION_THREADS, .letter = 'j', .name = "threads",
     .value = {VALUE_COUNT, "N", "2", NULL, NULL},
     .help = "use at most N threads (default: every core this process may use)"},
    OPTIONS_AFTER_THREADS,
};

static const struct option every_verb_options_without_threads[] = {
    OPTIONS_BEFORE_THREADS,
    OPTIONS_AFTER_THREADS,
};

const struct option input_options[] = {
    {.id = OPTION_FORMAT, .name = "format",
     .value = {VALUE_CHOICE, "NAME", "csv", NULL, format_choices},
     .help = "read the input as this format instead of detecting it"},
    {.id = OPTION_COLUMNS, .name = "columns",
     .value = {VALUE_TEXT, "LIST", "user,item,rating,_", NULL, NULL},
     .help = "what the columns are, in order: a list of user, item, rating or count, timestamp, "
             "and _ for a column to skip (default: as the header says, otherwise "
             "user,item,rating,timestamp); without a rating the records are events"},
    {.id = OPTION_USER_COLUMN, .name = "user-column",
     .value = {VALUE_TEXT, "NAME", "member_no", NULL, NULL},
     .help = "the name of the users' column in Arrow and Parquet files (default: a usual name, "
             "such as user_id)"},
    {.id = OPTION_ITEM_COLUMN, .name = "item-column",
     .value = {VALUE_TEXT, "NAME", "sku", NULL, NULL},
     .help = "the name of the items' column in Arrow and Parquet files"},
    {.id = OPTION_RATING_COLUMN, .name = "rating-column",
     .value = {VALUE_TEXT, "NAME", "grade", NULL, NULL},
     .help = "the name of the ratings' column in Arrow and Parquet files; for events, of the "
             "counts' column"},
    {.id = OPTION_TIME_COLUMN, .name = "time-column",
     .value = {VALUE_TEXT, "NAME", "rated_at", NULL, NULL},
     .help = "the name of the times' column in Arrow and Parquet files"},
    {.id = OPTION_SEPARATOR, .name = "separator",
     .value = {VALUE_SEPARATOR, "CHARACTER", "';'", NULL, NULL},
     .help = "what separates the columns of csv: a character, tab or space (default: a comma or "
             "a semicolon, whichever the first row has more of)"},
    {.id = OPTION_RESCALE, .name = "rescale",
     .value = {VALUE_RESCALE, "A:B=C:D", "0:100=0:5", NULL, NULL},
     .help = "map ratings from the scale A to B to the scale C to D"},
    {.id = OPTION_RATING_RANGE, .name = "rating-range",
     .value = {VALUE_RANGE, "A:B", "1:5", NULL, NULL},
     .help = "refuse ratings below A or above B, after rescaling"},
    {.id = OPTION_EVENTS, .name = "events", .value = {.kind = VALUE_NONE},
     .help = "the records are events, not ratings: what people played, bought or clicked, with a "
             "count or without; needed only where neither a header nor --columns says so"},
    {.id = OPTION_ON_ERROR, .name = "on-error",
     .value = {VALUE_CHOICE, "ACTION", "skip", NULL, on_error_choices},
     .help = "fail at the first bad record (the default), or skip bad records, count them and "
             "report the first"},
    {0},
};

const struct option cluster_options[] = {
    {.id = OPTION_CLUSTER_TIMEOUT, .name = "cluster-timeout",
     .value = {VALUE_NUMBER, "SECONDS", "300", NULL, NULL}, .show_default = cluster_timeout_default,
     .help = "seconds without a sign of life after which a process is considered lost, which ends "
             "the run (default {default})"},
    {0},
};

/* clang-format on */

const struct option_group every_verb_group = {"Options of every command", every_verb_options};
const struct option_group every_verb_group_without_threads = {"Options of every command",
                                                              every_verb_options_without_threads};
