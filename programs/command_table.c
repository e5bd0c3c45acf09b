/*
 * The one table of the command line: every verb with its options, its manual and its examples. The
 * parser, --help, the man pages and the completion scripts are made from it, and the examples run as
 * tests. To add an option: an id in command.h, an entry here, and its use in the verb's file.
 */
#include "command.h"

#include <stdint.h>
#include <string.h>

/* ---- choices ----------------------------------------------------------------------------------- */

static const char *format_choices(size_t i, const char **description) {
    if (i > 0) return dpmf_format_name(i - 1, description);
    if (description != NULL) *description = "find out from the text itself (the default)";
    return "auto";
}

static const char *shape_choices(size_t i, const char **description) {
    if (description != NULL) *description = NULL;
    return dpmf_synth_shape_name(i);
}

static const char *verb_choices(size_t i, const char **description) {
    if (description != NULL) *description = verbs[i].summary;
    return verbs[i].name;
}

/* The i-th of a list of names ended by NULL. */
static const char *listed(const char *const *names, size_t i, const char **description) {
    if (description != NULL) *description = NULL;
    return names[i];
}

static const char *on_error_choices(size_t i, const char **description) {
    static const char *const names[] = {"fail", "skip", NULL};
    return listed(names, i, description);
}

static const char *split_choices(size_t i, const char **description) {
    static const char *const names[] = {"random", "user", "time", NULL};
    return listed(names, i, description);
}

static const char *goal_choices(size_t i, const char **description) {
    static const char *const names[] = {"rating", "ranking", NULL};
    return listed(names, i, description);
}

static const char *progress_choices(size_t i, const char **description) {
    static const char *const names[] = {"auto", "always", "never", NULL};
    return listed(names, i, description);
}

static const char *privacy_choices(size_t i, const char **description) {
    if (description != NULL) *description = privacy_verbs[i].summary;
    return privacy_verbs[i].name != NULL ? verb_word(&privacy_verbs[i]) : NULL;
}

static const char *ledger_choices(size_t i, const char **description) {
    if (description != NULL) *description = ledger_verbs[i].summary;
    return ledger_verbs[i].name != NULL ? verb_word(&ledger_verbs[i]) : NULL;
}

static const char *shell_choices(size_t i, const char **description) {
    static const char *const names[] = {"bash", "zsh", "fish", NULL};
    return listed(names, i, description);
}

static const char *mechanism_choices(size_t i, const char **description) {
    if (i > 0) return dpmf_mechanism_name(i - 1, description);
    if (description != NULL) *description = "the best that is known (the default)";
    return "auto";
}

/* ---- options that several verbs share ---------------------------------------------------------- */

/* One option, a few lines: the formatter would give each of its fields a line of its own. */
/* clang-format off */

#define OPTIONS_BEFORE_THREADS                                                                     \
    {OPTION_JSON, 0, false, "json", NULL, {.kind = VALUE_NONE},                                    \
     "print one JSON object per line on standard output instead of text for people"},              \
    {OPTION_QUIET, 'q', false, "quiet", NULL, {.kind = VALUE_NONE},                                \
     "say nothing on standard error but errors"},                                                  \
    {OPTION_VERBOSE, 'v', false, "verbose", NULL, {.kind = VALUE_NONE},                            \
     "say more on standard error: seconds per phase, bytes spilled"},                              \
    {OPTION_PROGRESS, 0, false, "progress", NULL,                                                  \
     {VALUE_CHOICE, "WHEN", "always", NULL, progress_choices},                                     \
     "show a progress line on standard error; auto, the default, does when it is a terminal"}

#define OPTIONS_AFTER_THREADS                                                                      \
    {OPTION_MEMORY, 0, false, "memory", NULL, {VALUE_SIZE, "SIZE", "2GiB", NULL, NULL},            \
     "stay within this much memory, as 512MiB or 2GiB, and use a temporary file beyond it "        \
     "(default: half of the machine's memory, at most 2GiB)"},                                     \
    {OPTION_HELP, 'h', false, "help", NULL, {.kind = VALUE_NONE}, "show this help and end"},       \
    {0}

static const struct option shared_options[] = {
    OPTIONS_BEFORE_THREADS,
    {OPTION_THREADS, 'j', false, "threads", NULL, {VALUE_COUNT, "N", "2", NULL, NULL},
     "use at most N threads (default: every core this process may use)"},
    OPTIONS_AFTER_THREADS,
};

/* Of verbs that have a --threads of their own. */
static const struct option other_shared_options[] = {OPTIONS_BEFORE_THREADS, OPTIONS_AFTER_THREADS};

static const struct option_group shared_group = {"Options of every command", shared_options};
static const struct option_group other_shared_group = {"Options of every command",
                                                       other_shared_options};

static const struct option input_options[] = {
    {OPTION_FORMAT, 0, false, "format", NULL, {VALUE_CHOICE, "NAME", "csv", NULL, format_choices},
     "take the input for this format instead of sniffing it"},
    {OPTION_COLUMNS, 0, false, "columns", NULL,
     {VALUE_TEXT, "LIST", "user,item,rating,_", NULL, NULL},
     "what the columns are, in order: a list of user, item, rating, timestamp, and _ for a column "
     "to pass over (default: as the header says, else user,item,rating,timestamp)"},
    {OPTION_SEPARATOR, 0, false, "separator", NULL, {VALUE_SEPARATOR, "CHARACTER", "';'", NULL, NULL},
     "what separates the columns of csv: a character, tab or space (default: a comma or a "
     "semicolon, whichever the first row has more of)"},
    {OPTION_RESCALE, 0, false, "rescale", NULL, {VALUE_RESCALE, "A:B=C:D", "0:100=0:5", NULL, NULL},
     "map ratings from the scale A to B to the scale C to D"},
    {OPTION_RATING_RANGE, 0, false, "rating-range", NULL, {VALUE_RANGE, "A:B", "1:5", NULL, NULL},
     "refuse ratings below A or above B, after rescaling"},
    {OPTION_ON_ERROR, 0, false, "on-error", NULL,
     {VALUE_CHOICE, "ACTION", "skip", NULL, on_error_choices},
     "fail at the first bad record (the default), or skip bad records, count them and report the "
     "first"},
    {0},
};

#define OUTPUT_OPTION                                                                              \
    {                                                                                              \
        OPTION_OUTPUT, 'o', true, "output", NULL,                                                  \
            {VALUE_OUTPUT, "FILE.dpr", "ratings.dpr", ".dpr", NULL},                                 \
            "the ratings store to write; it appears whole or not at all, and only you can read it" \
    }

#define SEED_OPTION                                                                                \
    {                                                                                              \
        OPTION_SEED, 0, false, "seed", NULL, {VALUE_COUNT, "N", "1", NULL, NULL},                  \
            "what the random choices grow from; the same seed gives the same files"                \
    }

/* ---- options of one verb ----------------------------------------------------------------------- */

#define KERNELS_OPTION                                                                             \
    {OPTION_KERNELS, 0, false, "kernels", NULL, {VALUE_TEXT, "NAME", "avx2", NULL, NULL},          \
     "use these inner loops instead of the best that the machine has; dpmf doctor lists them"}

#define LANES_OPTION                                                                               \
    {OPTION_LANES, 0, false, "lanes", NULL, {VALUE_COUNT, "N", "4", NULL, NULL},                   \
     "let the inner loops take N ratings of one item at once, 1 to 8 (default: chosen from the "   \
     "caches; with --deterministic, from the factors and the kernels alone)"}

static const struct option import_options[] = {OUTPUT_OPTION, {0}};

static const struct option synth_options[] = {
    OUTPUT_OPTION,
    {OPTION_LIKE, 0, false, "like", NULL, {VALUE_CHOICE, "NAME", "ml-1m", NULL, shape_choices},
     "start from the shape of a known data set; the options below change it"},
    {OPTION_USERS, 0, false, "users", NULL, {VALUE_COUNT, "N", "1000", NULL, NULL},
     "how many users"},
    {OPTION_ITEMS, 0, false, "items", NULL, {VALUE_COUNT, "N", "500", NULL, NULL},
     "how many items"},
    {OPTION_RATINGS, 0, false, "ratings", NULL, {VALUE_COUNT, "N", "50000", NULL, NULL},
     "how many ratings"},
    {OPTION_RANK, 0, false, "rank", NULL, {VALUE_COUNT, "K", "8", NULL, NULL},
     "how many planted factors"},
    {OPTION_NOISE, 0, false, "noise", NULL, {VALUE_NUMBER, "X", "0.5", NULL, NULL},
     "standard deviation of the noise, in quarters of the scale's width"},
    {OPTION_SCALE, 0, false, "scale", NULL, {VALUE_SCALE, "A:B[:STEP]", "1:5:1", NULL, NULL},
     "ratings from A to B in steps of STEP; without STEP, any number between them"},
    {OPTION_TOP_500, 0, false, "top-500", NULL, {VALUE_FRACTION, "SHARE", "0.44", NULL, NULL},
     "the share of the ratings that the 500 most rated items hold"},
    {OPTION_TIMESTAMPS, 0, false, "timestamps", NULL, {.kind = VALUE_NONE},
     "give every rating a made-up time"},
    SEED_OPTION,
    {OPTION_TRUTH, 0, false, "truth", NULL,
     {VALUE_OUTPUT, "FILE", "truth.safetensors", ".safetensors", NULL},
     "also write the planted factors, as safetensors"},
    {OPTION_CATALOGUE_OUT, 0, false, "catalogue-out", "catalog-out",
     {VALUE_OUTPUT, "FILE", "items.csv", ".csv", NULL},
     "also write a CSV list of the items with made-up titles"},
    {0},
};

static const struct option split_options[] = {
    {OPTION_TRAIN, 0, true, "train", NULL, {VALUE_OUTPUT, "A.dpr", "train.dpr", ".dpr", NULL},
     "the store for the training ratings"},
    {OPTION_TEST, 0, true, "test", NULL, {VALUE_OUTPUT, "B.dpr", "test.dpr", ".dpr", NULL},
     "the store for the test ratings"},
    {OPTION_TEST_FRACTION, 0, false, "test-fraction", NULL,
     {VALUE_FRACTION, "F", "0.1", NULL, NULL},
     "how much goes to the test store (default 0.1)"},
    {OPTION_BY, 0, false, "by", NULL, {VALUE_CHOICE, "WHAT", "user", NULL, split_choices},
     "each rating by its own coin (random, the default), whole users by coin (user), or the latest "
     "ratings for the test (time)"},
    {OPTION_PROBE, 0, false, "probe", NULL, {VALUE_FILE, "FILE", "probe.txt", ".txt", NULL},
     "put exactly the pairs of this file, in the form of the Netflix Prize's probe.txt, in the "
     "test store"},
    SEED_OPTION,
    {0},
};

static const struct option shard_options[] = {
    {OPTION_PARTS, 0, true, "parts", NULL, {VALUE_COUNT, "N", "8", NULL, NULL},
     "how many stores to make, at most 4096 and one for each user"},
    {OPTION_OUTPUT, 'o', true, "output", NULL, {VALUE_DIRECTORY, "DIR", "shards", NULL, NULL},
     "the directory to make for them"},
    {0},
};

static const struct option train_options[] = {
    {OPTION_OUTPUT, 'o', true, "output", NULL,
     {VALUE_OUTPUT, "MODEL", "model.safetensors", ".safetensors", NULL},
     "the model to write: a safetensors file with everyone's vectors, which only you can read"},
    {OPTION_FACTORS, 'k', false, "factors", NULL, {VALUE_COUNT, "K", "64", NULL, NULL},
     "numbers in a vector, 1 to 4096 (default 128; of ials 64, of gibbs 24)"},
    {OPTION_EPOCHS, 0, false, "epochs", NULL, {VALUE_COUNT, "N", "20", NULL, NULL},
     "passes over the ratings (default 20; of ials 16; of samplers, a chain's: 100, of gibbs 24)"},
    {OPTION_GOAL, 0, false, "goal", NULL, {VALUE_CHOICE, "GOAL", "ranking", NULL, goal_choices},
     "what the model is for: rating (the default), to predict ratings; or ranking, to recommend, which "
     "takes the solver ials"},
    {OPTION_SOLVER, 0, false, "solver", NULL, {VALUE_TEXT, "NAME", "sgld", NULL, NULL},
     "how to learn: sgd (the default), stochastic gradient descent; ials, implicit least squares, to "
     "rank; or by drawing from the posterior, gibbs, sgld, sghmc or sgnht"},
    {OPTION_LIKE, 0, false, "like", NULL, {VALUE_TEXT, "X", "4", NULL, NULL},
     "with ials: ratings of at least X are likes, and nothing else counts; any, the default: all of them"},
    {OPTION_UNOBSERVED, 0, false, "unobserved", NULL, {VALUE_NUMBER, "X", "0.3", NULL, NULL},
     "with ials: the weight of a pair without a rating, where one with a rating has 1 (default: by how "
     "full the table is)"},
    {OPTION_ROW_STEPS, 0, false, "row-steps", NULL, {VALUE_COUNT, "N", "3", NULL, NULL},
     "with ials: steps of conjugate gradients for each vector and epoch (default 3); 0: solve exactly"},
    {OPTION_LEARNING_RATE, 0, false, "learning-rate", NULL, {VALUE_NUMBER, "X", "0.03", NULL, NULL},
     "the first step size (default 0.03); it falls linearly to nothing over the epochs"},
    {OPTION_DECAY, 0, false, "decay", NULL, {VALUE_NUMBER, "GAMMA", "0.5", NULL, NULL},
     "let the step size fall as 1 / epoch^GAMMA instead"},
    {OPTION_REG, 0, false, "reg", NULL, {VALUE_NUMBER, "X", "0.05", NULL, NULL},
     "the L2 penalty on vectors (default 0.05, of ials 0.007)"},
    {OPTION_VALID, 0, false, "valid", NULL, {VALUE_FILE, "RATINGS", "valid.dpr", ".dpr", NULL},
     "measure the error on these ratings after every epoch (with ials: how well they are ranked), keep "
     "the best epoch, and stop when there is no more gain"},
    {OPTION_PATIENCE, 0, false, "patience", NULL, {VALUE_COUNT, "N", "3", NULL, NULL},
     "epochs without a gain on --valid before stopping (default 3; 0: never stop early)"},
    {OPTION_DETERMINISTIC, 0, false, "deterministic", NULL, {.kind = VALUE_NONE},
     "the same model, bit for bit, for any number of threads, from the same kernels on machines with "
     "the same caches"},
    {OPTION_HOGWILD, 0, false, "hogwild", NULL, {.kind = VALUE_NONE},
     "let threads write item vectors without waiting for each other, as the paper does"},
    KERNELS_OPTION,
    LANES_OPTION,
    {OPTION_TIERS, 0, false, "tiers", NULL, {VALUE_TEXT, "LIST", "500,4000", NULL, NULL},
     "cut items into the paper's tiers of popularity instead of groups sized from the caches"},
    {OPTION_SNAPSHOT, 0, false, "snapshot", NULL,
     {VALUE_OUTPUT, "FILE", "run.safetensors", ".safetensors", NULL},
     "write the state of the run here now and then, while it goes on, and when it is interrupted, to "
     "go on from with --resume"},
    {OPTION_SNAPSHOT_EVERY, 0, false, "snapshot-every", NULL,
     {VALUE_INTERVAL, "N", "10min", NULL, NULL},
     "from snapshot to snapshot: epochs, as 2 or 2epochs; blocks of users, as 50blocks; or a time, as "
     "30s, 10min or 1h (default 1 epoch). One that is due while another is being written waits for it"},
    {OPTION_RESUME, 0, false, "resume", NULL,
     {VALUE_FILE, "FILE", "run.safetensors", ".safetensors", NULL},
     "go on from a snapshot, with the ratings and options of the run that wrote it; another --epochs "
     "changes the step sizes that are left, unless --decay is given, and is refused with "
     "--deterministic, as are other --kernels"},
    {OPTION_PREFETCH, 0, false, "prefetch", NULL, {VALUE_COUNT, "N", "4", NULL, NULL},
     "blocks of users read ahead, where the run is larger than --memory (default 2)"},
    SEED_OPTION,
    {0},
};

static const struct option sampler_options[] = {
    {OPTION_AVERAGE, 0, false, "average", NULL, {.kind = VALUE_NONE},
     "predict by the mean of many samples instead of by the last one: the most accurate model"},
    {OPTION_SAMPLES, 0, false, "samples", NULL, {VALUE_COUNT, "N", "16", NULL, NULL},
     "keep at most so many samples for --average (default 100): two columns more than there are factors "
     "each, and at most 4096 columns in all"},
    {OPTION_BURN_IN, 0, false, "burn-in", NULL, {VALUE_COUNT, "N", "30", NULL, NULL},
     "epochs of each chain that do not count (default: half of them, of gibbs a third)"},
    {OPTION_CHAINS, 0, false, "chains", NULL, {VALUE_COUNT, "N", "4", NULL, NULL},
     "so many chains, each from the prior, one after the other (default 1; with --average 8, of gibbs 16)"},
    {OPTION_STEP, 0, false, "step", NULL, {VALUE_NUMBER, "X", "0.001", NULL, NULL},
     "of sgld, sghmc and sgnht: how much time of the process an epoch stands for (default: from the "
     "ratings, as large as keeps the posterior right)"},
    {OPTION_SGLD_NOISE, 0, false, "noise", NULL, {VALUE_TEXT, "KIND", "table:262144", NULL, NULL},
     "of sgld: exact (the default), or table or table:SIZE, the paper's lookup of so many numbers, for "
     "comparison"},
    {OPTION_TRACE, 0, false, "trace", NULL, {VALUE_OUTPUT, "FILE.svg", "trace.svg", ".svg", NULL},
     "draw what became of the chains here"},
    {0},
};

static const struct option cluster_options[] = {
    {OPTION_CLUSTER_TIMEOUT, 0, false, "cluster-timeout", NULL,
     {VALUE_NUMBER, "SECONDS", "300", NULL, NULL},
     "a process that is not heard from for so long is taken for lost, and ends the run (default 120)"},
    {0},
};

static const struct option tune_options[] = {
    {OPTION_OUTPUT, 'o', false, "output", NULL,
     {VALUE_OUTPUT, "MODEL", "model.safetensors", ".safetensors", NULL},
     "also train a model on all ratings with the best options, and write it here"},
    {OPTION_TRIALS, 0, false, "trials", NULL, {VALUE_COUNT, "N", "20", NULL, NULL},
     "try at most so many (default 20)"},
    {OPTION_MINUTES, 0, false, "minutes", NULL, {VALUE_NUMBER, "M", "10", NULL, NULL},
     "stop after this time, with the best found by then (default: no limit)"},
    {OPTION_VALID, 0, false, "valid", NULL, {VALUE_FILE, "RATINGS", "valid.dpr", ".dpr", NULL},
     "measure on these ratings instead of holding some back"},
    {OPTION_VALID_FRACTION, 0, false, "valid-fraction", NULL,
     {VALUE_FRACTION, "F", "0.1", NULL, NULL},
     "hold back so much of the ratings (default 0.1)"},
    {OPTION_GOAL, 0, false, "goal", NULL, {VALUE_CHOICE, "GOAL", "ranking", NULL, goal_choices},
     "what the model is for: rating (the default), measured by RMSE; or ranking, by NDCG@10"},
    {OPTION_LIKE, 0, false, "like", NULL, {VALUE_TEXT, "X", "4", NULL, NULL},
     "with --goal ranking: ratings of at least X are likes, and nothing else counts; any, the default: "
     "all of them"},
    {OPTION_FACTORS, 'k', false, "factors", NULL, {VALUE_COUNT, "K", "64", NULL, NULL},
     "use so many factors, instead of looking for a number"},
    {OPTION_EPOCHS, 0, false, "epochs", NULL, {VALUE_COUNT, "N", "20", NULL, NULL},
     "run so many epochs, instead of looking for a number"},
    {OPTION_LEARNING_RATE, 0, false, "learning-rate", NULL, {VALUE_NUMBER, "X", "0.03", NULL, NULL},
     "begin with this step size, instead of looking for one"},
    {OPTION_REG, 0, false, "reg", NULL, {VALUE_NUMBER, "X", "0.05", NULL, NULL},
     "use this penalty, instead of looking for one"},
    {OPTION_UNOBSERVED, 0, false, "unobserved", NULL, {VALUE_NUMBER, "X", "0.3", NULL, NULL},
     "with --goal ranking: use this weight of a pair without a rating, instead of looking for one"},
    {OPTION_ROW_STEPS, 0, false, "row-steps", NULL, {VALUE_COUNT, "N", "3", NULL, NULL},
     "with --goal ranking: steps for each vector and epoch, as in train"},
    {OPTION_DECAY, 0, false, "decay", NULL, {VALUE_NUMBER, "GAMMA", "0.5", NULL, NULL},
     "let the step size fall as 1 / epoch^GAMMA, as in train"},
    KERNELS_OPTION,
    {OPTION_SEED, 0, false, "seed", NULL, {VALUE_COUNT, "N", "1", NULL, NULL},
     "what is held back and tried grows from it; the same seed gives the same trials"},
    {OPTION_POPULATION, 0, false, "population", NULL, {VALUE_TEXT, "NAME", "customers", NULL, NULL},
     "record in the ledger that options were looked for in the ratings of these people"},
    {OPTION_LEDGER, 0, false, "ledger", NULL, {VALUE_OUTPUT, "FILE", "ledger", NULL, NULL},
     "the ledger of their releases (default $XDG_STATE_HOME/dpmf/ledger)"},
    {0},
};

static const struct option describe_options[] = {
    {OPTION_PLOT, 0, false, "plot", NULL, {VALUE_OUTPUT, "FILE.svg", "items.svg", ".svg", NULL},
     "also draw the number of items by their number of ratings, on logarithmic axes"},
    {0},
};

#define TOP_OPTION(what)                                                                           \
    {                                                                                              \
        OPTION_TOP, 'n', false, "top", NULL, {VALUE_COUNT, "N", "10", NULL, NULL}, what            \
    }

#define HISTORY_OPTION(what)                                                                       \
    {                                                                                              \
        OPTION_HISTORY, 0, false, "history", NULL,                                                 \
            {VALUE_FILE, "RATINGS", "train.dpr", NULL, NULL}, what                                 \
    }

#define CATALOGUE_OPTION                                                                           \
    {                                                                                              \
        OPTION_CATALOGUE, 0, false, "catalogue", "catalog",                                        \
            {VALUE_FILE, "FILE", "items.csv", NULL, NULL},                                         \
            "show titles from this table of items and titles: CSV, or MovieLens movies.dat or "    \
            "u.item; what is not UTF-8 is taken for ISO-8859-1"                                    \
    }

#define MINE_OPTION(what)                                                                          \
    {                                                                                              \
        OPTION_MINE, 0, false, "ratings", NULL, {VALUE_FILE, "MINE", "mine.csv", NULL, NULL}, what \
    }

#define PAGE_OPTIONS                                                                               \
    CATALOGUE_OPTION,                                                                              \
    {OPTION_NAME, 0, false, "name", NULL, {VALUE_TEXT, "TEXT", "\"Films for us\"", NULL, NULL},    \
     "the page's title (default \"Recommendations, computed at home\")"}

static const struct option audit_options[] = {
    {OPTION_EPSILON, 0, true, "epsilon", NULL, {VALUE_NUMBER, "E", "1", NULL, NULL},
     "the epsilon that is claimed"},
    {OPTION_DELTA, 0, false, "delta", NULL, {VALUE_NUMBER, "D", "1e-5", NULL, NULL},
     "the delta that is claimed (default 1e-5)"},
    {OPTION_CATALOGUE, 0, false, "catalogue", "catalog",
     {VALUE_FILE, "FILE", "items.csv", NULL, NULL}, "the items that exist, as for dpmf train"},
    {OPTION_CATALOGUE_FROM_RATINGS, 0, false, "catalogue-from-ratings", NULL, {.kind = VALUE_NONE},
     "take the items of the ratings, as dpmf train does when told so: it is caught"},
    {OPTION_ITEM_FEATURES, 0, false, "item-features", NULL,
     {VALUE_FILE, "FILE", "features.csv", NULL, NULL}, "what is publicly known about items"},
    {OPTION_USER_PRIVACY, 0, false, "user-privacy", NULL,
     {VALUE_FILE, "FILE", "wishes.csv", NULL, NULL},
     "users and an epsilon each, as for dpmf train"},
    {OPTION_MECHANISM, 0, false, "mechanism", NULL,
     {VALUE_CHOICE, "NAME", "residual", NULL, mechanism_choices},
     "which mechanism to audit (default auto)"},
    {OPTION_RUNS, 0, false, "runs", NULL, {VALUE_COUNT, "N", "100", NULL, NULL},
     "about so many runs with the first canary and as many without (default 100)"},
    {OPTION_MINUTES, 0, false, "minutes", NULL, {VALUE_NUMBER, "M", "10", NULL, NULL},
     "end after this time, and judge by the runs there were; an error when the worlds were not "
     "all compared by then (default: no limit)"},
    {OPTION_CONFIDENCE, 0, false, "confidence", NULL, {VALUE_NUMBER, "P", "0.999", NULL, NULL},
     "of the bounds: an honest mechanism is accused with probability 1 - P at most (default "
     "0.999)"},
    {OPTION_USERS, 0, false, "users", NULL, {VALUE_COUNT, "N", "1000", NULL, NULL},
     "audit with at most so many users of RATINGS (default 1000)"},
    {0},
};

static const struct option private_options[] = {
    {OPTION_EPSILON, 0, false, "epsilon", NULL, {VALUE_REAL, "E", "1", NULL, NULL},
     "make a release that is (E, delta)-differentially private for every user"},
    {OPTION_DELTA, 0, false, "delta", NULL, {VALUE_NUMBER, "D", "1e-5", NULL, NULL},
     "the delta of that promise (default 1e-5)"},
    {OPTION_CATALOGUE, 0, false, "catalogue", "catalog",
     {VALUE_FILE, "FILE", "items.csv", NULL, NULL},
     "the items that exist, in an order that does not follow from the ratings: needed, since "
     "which items were rated is private"},
    {OPTION_CATALOGUE_FROM_RATINGS, 0, false, "catalogue-from-ratings", NULL, {.kind = VALUE_NONE},
     "instead take the items of the ratings; the release then shows which items anyone rated, and "
     "is partial, not proven"},
    {OPTION_DECLARED_USERS, 0, false, "declared-users", NULL,
     {VALUE_COUNT, "N", "6000", NULL, NULL},
     "about how many users there are, as is publicly known: delta should be below 1/N"},
    {OPTION_ITEM_FEATURES, 0, false, "item-features", NULL,
     {VALUE_FILE, "FILE", "features.csv", NULL, NULL},
     "what is publicly known about items: a table of categories and numbers"},
    {OPTION_USER_PRIVACY, 0, false, "user-privacy", NULL,
     {VALUE_FILE, "FILE", "wishes.csv", NULL, NULL},
     "a table of users and an epsilon each, for those who want less than --epsilon; 0 leaves a "
     "user out"},
    {OPTION_ABOUT, 0, false, "about", NULL, {VALUE_FILE, "FILE", "about.txt", NULL, NULL},
     "what you declare about the release, lines of \"name: text\": controller, contact, data, period, "
     "intended_use, region, date, review, expiry, erasure and more; published, and marked as not verified"},
    {OPTION_MECHANISM, 0, false, "mechanism", NULL,
     {VALUE_CHOICE, "NAME", "residual", NULL, mechanism_choices},
     "how the release is made (default auto); all are proven but posterior, which is conditional"},
    {OPTION_POPULATION, 0, false, "population", NULL, {VALUE_TEXT, "NAME", "customers", NULL, NULL},
     "whose budget in the ledger is spent (default \"default\")"},
    {OPTION_LEDGER, 0, false, "ledger", NULL, {VALUE_OUTPUT, "FILE", "ledger", NULL, NULL},
     "the ledger of all releases, which dpmf ledger init made (default $XDG_STATE_HOME/dpmf/ledger, "
     "made when it is missing)"},
    {OPTION_LEDGER_BUDGET, 0, false, "ledger-budget", NULL,
     {VALUE_TEXT, "MU|E@DELTA", "5@1e-5", NULL, NULL},
     "refuse a release that would bring the population beyond this in all: a mu, or an epsilon at a "
     "delta"},
    {OPTION_ACCEPT_DELTA, 0, false, "accept-delta", NULL, {.kind = VALUE_NONE},
     "allow a delta above 1e-4, or not below 1/N of the declared users; the release is then "
     "partial, not proven"},
    {OPTION_ACCEPT_EPSILON, 0, false, "accept-epsilon", NULL, {.kind = VALUE_NONE},
     "allow a mu above 3.45, which is epsilon 20 at delta 1e-5 (of posterior: an epsilon above 20); "
     "the release is then not proven"},
    {OPTION_RESEARCH, 0, false, "research", NULL, {.kind = VALUE_NONE},
     "allow what a release may not do, and mark the file not releasable"},
    {OPTION_MAX_RATINGS, 0, false, "max-ratings", NULL, {VALUE_COUNT, "T", "100", NULL, NULL},
     "of posterior: so many ratings of a user count, the others are left out at random (default 100)"},
    {OPTION_KAPPA, 0, false, "kappa", NULL, {VALUE_REAL, "X", "1", NULL, NULL},
     "of posterior: how far predictions may go beyond the range of ratings, in its units (default: a "
     "quarter of the range)"},
    {OPTION_RHO, 0, false, "rho", NULL, {VALUE_REAL, "X", "1", NULL, NULL},
     "of posterior: the largest weight that users with few ratings get (default 1)"},
    {OPTION_INSECURE_NOISE_SEED, 0, false, "insecure-noise-seed", NULL,
     {VALUE_COUNT, "N", "1", NULL, NULL},
     "for tests: predictable noise; the file is stamped NOT PRIVATE"},
    {0},
};

static const struct option evaluate_options[] = {
    {OPTION_RANKING, 0, false, "ranking", NULL, {.kind = VALUE_NONE},
     "also report how well the model ranks all items: recall, precision, ndcg, map, mrr and "
     "coverage at N"},
    {OPTION_LIKE, 0, false, "like", NULL, {VALUE_TEXT, "X", "4", NULL, NULL},
     "look only for items of TEST with a rating of at least X; any, the default: for all"},
    {OPTION_CANDIDATES, 0, false, "candidates", NULL,
     {VALUE_FILE, "FILE", "heldout.csv", NULL, NULL},
     "rank one item of each row of FILE among the row's others: hr, ndcg and mrr at N"},
    TOP_OPTION("the N of the ranking, from 1 to 100000 (default 10)"),
    HISTORY_OPTION("what users have rated already, a store or any input of dpmf import: left out "
                   "of the ranking, and what the users of a release are fitted to"),
    KERNELS_OPTION,
    {0},
};

static const struct option recommend_options[] = {
    {OPTION_USER, 0, false, "user", NULL, {VALUE_TEXT, "ID", "42", NULL, NULL},
     "recommend to this user"},
    {OPTION_ALL_USERS, 0, false, "all-users", NULL, {.kind = VALUE_NONE},
     "recommend to every user of the model, of a release to every user of --history, as CSV with "
     "the columns user,item,score,rank"},
    MINE_OPTION("recommend to someone with these ratings: a file, or pairs as dune:5,solaris:3"),
    TOP_OPTION("how many items for a user (default 10)"),
    HISTORY_OPTION("what users have rated already, a store or any input of dpmf import: left out, "
                   "and what a user whom the model does not know is fitted to"),
    {OPTION_INCLUDE, 0, false, "include", NULL, {VALUE_FILE, "FILE", "shelf.csv", NULL, NULL},
     "recommend none but the items of this list, one a line"},
    {OPTION_EXCLUDE, 0, false, "exclude", NULL, {VALUE_FILE, "FILE", "sold.csv", NULL, NULL},
     "leave the items of this list out, one a line"},
    CATALOGUE_OPTION,
    KERNELS_OPTION,
    {0},
};

static const struct option predict_options[] = {
    MINE_OPTION("predict for someone with these ratings: a file, or pairs as dune:5,solaris:3"),
    HISTORY_OPTION("what users have rated, a store or any input of dpmf import: users that the "
                   "model does not know are fitted to it"),
    {OPTION_INTERVALS, 0, false, "intervals", NULL, {.kind = VALUE_NONE},
     "with each prediction, where the rating will be; of models made with train --average"},
    {OPTION_LEVEL, 0, false, "level", NULL, {VALUE_NUMBER, "P", "0.5", NULL, NULL},
     "how likely the rating is in its interval (default 0.9)"},
    CATALOGUE_OPTION,
    KERNELS_OPTION,
    {0},
};

static const struct option similar_options[] = {
    {OPTION_ITEM, 0, true, "item", NULL, {VALUE_TEXT, "ID", "dune", NULL, NULL},
     "the item that others are to be like"},
    MINE_OPTION("leave out what is rated here, a file or pairs as dune:5,solaris:3, and show what "
                "to expect of the rest"),
    TOP_OPTION("how many items (default 10)"),
    CATALOGUE_OPTION,
    KERNELS_OPTION,
    {0},
};

static const struct option explain_options[] = {
    {OPTION_ITEM, 0, true, "item", NULL, {VALUE_TEXT, "ID", "dune", NULL, NULL},
     "the item whose prediction is to be explained"},
    {OPTION_USER, 0, false, "user", NULL, {VALUE_TEXT, "ID", "42", NULL, NULL},
     "explain it to this user, whose ratings are in --history"},
    HISTORY_OPTION("the ratings, a store or any input of dpmf import"),
    MINE_OPTION("explain it to someone with these ratings: a file, or pairs as dune:5,solaris:3"),
    TOP_OPTION("how many ratings to show, the largest shares first (default 10)"),
    CATALOGUE_OPTION,
    KERNELS_OPTION,
    {0},
};

static const struct option bench_options[] = {
    {OPTION_FACTOR_LIST, 'k', false, "factors", NULL, {VALUE_COUNTS, "LIST", "16,64", NULL, NULL},
     "measure with so many numbers in a vector, each in turn (default 16,64,256,1024)"},
    {OPTION_THREAD_LIST, 'j', false, "threads", NULL, {VALUE_COUNTS, "LIST", "1,2", NULL, NULL},
     "measure with so many threads, each in turn (default: one, and one a core)"},
    KERNELS_OPTION,
    LANES_OPTION,
    {OPTION_SOLVER, 0, false, "solver", NULL, {VALUE_TEXT, "NAME", "sgld", NULL, NULL},
     "measure ials; or a sampler, sgld, sghmc or sgnht, whose epochs then take turns with those of sgd, and "
     "how fast it is in terms of sgd (default sgd)"},
    {OPTION_RATINGS, 0, false, "ratings", NULL, {VALUE_COUNT, "N", "2000000", NULL, NULL},
     "how many ratings to train on (default: 206 for each user, as in Netflix's set)"},
    {OPTION_USERS, 0, false, "users", NULL, {VALUE_COUNT, "N", "10000", NULL, NULL},
     "how many users (default 10000, or as fits --ratings)"},
    {OPTION_ITEMS, 0, false, "items", NULL, {VALUE_COUNT, "N", "17770", NULL, NULL},
     "how many items (default 17770, as Netflix's set has)"},
    {OPTION_SECONDS, 0, false, "seconds", NULL, {VALUE_NUMBER, "X", "1", NULL, NULL},
     "run epochs for so long in each measurement, and at least three (default 1)"},
    {0},
};

static const struct option export_options[] = {
    {OPTION_CSV, 0, false, "csv", NULL, {VALUE_DIRECTORY, "DIR", "out", NULL, NULL},
     "write ratings as DIR/ratings.csv, making DIR if it is missing; a name that ends in .csv is the "
     "file itself; - writes to standard output; of a model, write DIR/items.csv, in a directory that is empty or not there yet"},
    {OPTION_NPY, 0, false, "npy", NULL, {VALUE_DIRECTORY, "DIR", "vectors", NULL, NULL},
     "of a model, write vectors and biases for NumPy; DIR must be empty or not there yet"},
    {OPTION_LIBMF, 0, false, "libmf", NULL, {VALUE_OUTPUT, "FILE", "model.txt", NULL, NULL},
     "of a model, write a model that LIBMF's mf-predict reads, and ids beside it"},
    {OPTION_SQLITE, 0, false, "sqlite", NULL, {VALUE_OUTPUT, "FILE", "items.sqlite", NULL, NULL},
     "of a model, write an SQLite database"},
    {OPTION_PGVECTOR, 0, false, "pgvector", NULL,
     {VALUE_TEXT, "URL", "postgres://localhost/films", NULL, NULL},
     "of a model, make tables on a PostgreSQL server: postgres://HOST/DATABASE?table=NAME"},
    {OPTION_WEB, 0, false, "web", NULL, {VALUE_DIRECTORY, "DIR", "site", NULL, NULL},
     "of a release, write a page that recommends by itself; DIR must be empty or not there yet"},
    {OPTION_NOT_PRIVATE, 0, false, "not-private", NULL, {.kind = VALUE_NONE},
     "export vectors that are not proven to be private, such as a checkpoint's: they say much about "
     "people, and only you can read the files"},
    {OPTION_WITH_USERS, 0, false, "users", NULL, {.kind = VALUE_NONE},
     "of a checkpoint, write the users' vectors too"},
    {OPTION_REPLACE, 0, false, "replace", NULL, {.kind = VALUE_NONE},
     "replace the file or the tables when they are there already: those that such an export made, or "
     "an empty file; what is someone else's, or was added to, is refused"},
    PAGE_OPTIONS,
    {0},
};

static const struct option serve_options[] = {
    {OPTION_PORT, 0, false, "port", NULL, {VALUE_COUNT, "N", "8080", NULL, NULL},
     "listen on this port (default 8080); 0 finds a free one"},
    {OPTION_ADDRESS, 0, false, "address", NULL, {VALUE_TEXT, "ADDRESS", "127.0.0.1", NULL, NULL},
     "listen on this address of the machine (default 127.0.0.1, which only the machine itself "
     "reaches; ::1 is the same for IPv6)"},
    {OPTION_HOST, 0, false, "host", NULL, {VALUE_TEXTS, "NAME", "films.example.org", NULL, NULL},
     "answer requests for this host too, and not only for localhost and the address; may be given "
     "several times"},
    PAGE_OPTIONS,
    {OPTION_TIMEOUT, 0, false, "timeout", NULL, {VALUE_COUNT, "SECONDS", "15", NULL, NULL},
     "end connections whose request is not whole after so long, 1 to 3600 (default 15)"},
    {OPTION_CONNECTIONS, 0, false, "connections", NULL, {VALUE_COUNT, "N", "1000", NULL, NULL},
     "keep at most so many connections at once, 8 to 100000 (default 1000)"},
    {0},
};

static const struct option demo_options[] = {
    {OPTION_WEB, 0, false, "web", NULL, {VALUE_DIRECTORY, "DIR", "site", NULL, NULL},
     "keep the page that the demo makes, in a directory that is empty or not there yet"},
    {0},
};

/* clang-format on */

/* ---- the verbs --------------------------------------------------------------------------------- */

#define SOME_CSV                                                                                   \
    "printf 'user,item,rating\\nann,dune,4.5\\nann,solaris,3\\nbob,dune,5\\n' >ratings.csv"
#define SOME_STORE "dpmf synth -q --users 300 --items 80 --ratings 6000 --timestamps -o ratings.dpr"

#define SOME_MODEL                                                                                 \
    "dpmf synth -q --users 300 --items 80 --ratings 6000 --catalogue-out items.csv -o all.dpr; "   \
    "dpmf split -q all.dpr --train train.dpr --test test.dpr; "                                    \
    "dpmf train -q train.dpr -k 8 --epochs 5 -o m.safetensors"

#define SOME_RELEASE                                                                               \
    "dpmf synth -q --users 2000 --items 80 --ratings 60000 --catalogue-out items.csv -o all.dpr; " \
    "dpmf ledger init -q ledger; "                                                                 \
    "dpmf train -q all.dpr --epsilon 5 --rating-range 1:5 --catalogue items.csv --ledger ledger "  \
    "-o release.safetensors"

#define MINE_PARAGRAPH                                                                             \
    "MINE is standard input when it is -, and a file when there is one of that name: one "         \
    "person's ratings in any format that dpmf import knows, or a table of items and ratings "      \
    "without a column of users, of two columns or with a header that names item and rating. "      \
    "Anything else with a colon in it is pairs ITEM:RATING with commas between them; of several "  \
    "colons in a pair the last parts the two. Ratings of items that the model does not know are "  \
    "left out, and their number is reported. The ratings go nowhere: all is computed here."

const struct verb verbs[] = {
    {
        .name = "import",
        .summary = "pack ratings of any format into a ratings store",
        .synopsis = "INPUT... -o FILE.dpr [options]",
        .paragraphs =
            {
                "Reads ratings from one or more inputs and packs them, grouped by user, into one "
                "checked and compact ratings store. Users and items are named by any text of up to "
                "64 KiB. The format is found out from the text itself; a header, quotes, CR LF "
                "line ends, a byte order mark and compression with gzip or zstd are understood. An "
                "INPUT of - is standard input; a store is an input too, and so is a directory of "
                "shards.",
                "A database is one as well: sqlite:FILE?query=SELECT ..., "
                "postgres://USER@HOST/DATABASE?query=SELECT ..., or ?table=NAME when its columns "
                "have the usual names. A query returns user, item, rating and perhaps a "
                "timestamp; in it, % is written %25 and & is written %26. It is run read-only. "
                "Passwords come from PGPASSWORD, ~/.pgpass or a service file: one in the address "
                "is refused.",
                "When a user rated an item more than once, the last rating wins and the number of "
                "such pairs is reported. A rating that is not a finite number, or that is out of "
                "--rating-range, is an error that names its file, line and column.",
                "With --on-error skip each bad record is dropped by itself, and a record is a "
                "line: a quote that is left open harms no other. Else a quoted field may hold "
                "line feeds. The store keeps how it was read. One that is to feed train "
                "--epsilon is imported with --on-error skip and with a layout that no record "
                "decided: a header names the columns, or --format, --columns and --separator "
                "declare them. The formats netflix and yahoo are in blocks and cannot feed it.",
                "Ratings that do not fit in --memory are sorted through a temporary file beside "
                "the output.",
            },
        .groups = {{"Options", import_options}, {"How the input is read", input_options}},
        .operands = {{VALUE_FILE, "INPUT", "ratings.csv", NULL, NULL}, 1, SIZE_MAX},
        .exit_note = "3 when an input is not understood or holds a bad record; the output is then "
                     "not written.",
        .examples =
            {
                {"Pack a CSV file", "dpmf import ratings.csv -o ratings.dpr", SOME_CSV},
                {"Pack what another program prints, without its header's help",
                 "tail -n +2 ratings.csv | dpmf import - --columns user,item,rating -o r.dpr",
                 SOME_CSV},
                {"Bring percentages to five stars, and leave bad lines out",
                 "dpmf import scores.tsv --rescale 0:100=0:5 --on-error skip -o scores.dpr",
                 "printf 'user\\titem\\trating\\nann\\tdune\\t90\\nbob\\tdune\\tgood\\n' "
                 ">scores.tsv"},
                {"A store for private releases, from a file without a header",
                 "dpmf import ratings.dat --format movielens --on-error skip -o ratings.dpr",
                 "printf '1::1193::5::978300760\\n2::661::3\\n' >ratings.dat"},
                {"Several files into one store",
                 "dpmf import january.csv.gz february.csv.gz -o winter.dpr",
                 SOME_CSV "; gzip -c ratings.csv >january.csv.gz; "
                          "printf 'user,item,rating\\ncleo,dune,1\\n' | gzip >february.csv.gz"},
                {"The ratings of a database, as they are now",
                 "dpmf import 'sqlite:shop.db?query=SELECT customer, product, stars FROM reviews' "
                 "-o ratings.dpr",
                 "python3 -c 'import sqlite3; d = sqlite3.connect(\"shop.db\"); "
                 "d.executescript(\"CREATE TABLE reviews (customer, product, stars); "
                 "INSERT INTO reviews VALUES (1, 7, 4.5)\")'"},
            },
        .run = command_import_run,
    },
    {
        .name = "synth",
        .summary = "make a synthetic ratings store of a chosen shape",
        .synopsis = "-o FILE.dpr [--like NAME] [options]",
        .paragraphs =
            {
                "Makes ratings from a planted model: an offset, a bias for each user and each "
                "item, the product of two short vectors, and noise, put on the scale. Who rates "
                "what follows a power law, as in real life: few items hold most of the ratings.",
                "The same options give the same bytes on any machine and for any number of "
                "threads.",
            },
        .groups = {{"Options", synth_options}},
        .operands = {{.kind = VALUE_NONE}, 0, 0},
        .examples =
            {
                {"A small store to play with",
                 "dpmf synth --users 1000 --items 200 --ratings 20000 -o toy.dpr", NULL},
                {"The shape of MovieLens 100K, in half stars, with the truth kept for tests",
                 "dpmf synth --like ml-100k --scale 0.5:5:0.5 --truth truth.safetensors -o "
                 "like.dpr",
                 NULL},
            },
        .run = command_synth_run,
    },
    {
        .name = "split",
        .summary = "split ratings into a training and a test store",
        .synopsis = "FILE --train A.dpr --test B.dpr [options]",
        .paragraphs =
            {
                "Puts every rating of FILE, a store or any input of dpmf import, in one of two "
                "stores. The choice depends on --seed and on the text of the ids alone: not on the "
                "order of the file, the number of threads or the machine. Neither store appears "
                "unless both are whole. A split by time leaves ratings without a time in the "
                "training store.",
            },
        .groups = {{"Options", split_options}, {"How the input is read", input_options}},
        .operands = {{VALUE_FILE, "FILE", "ratings.dpr", NULL, NULL}, 1, 1},
        .exit_note = "3 when one of the stores would be empty, or when --by time finds no "
                     "rating with a time.",
        .examples =
            {
                {"A tenth of the ratings for the test",
                 "dpmf split ratings.dpr --train train.dpr --test test.dpr", SOME_STORE},
                {"The latest fifth for the test",
                 "dpmf split ratings.dpr --by time --test-fraction 0.2 --train past.dpr --test "
                 "future.dpr",
                 SOME_STORE},
            },
        .run = command_split_run,
    },
    {
        .name = "shard",
        .summary = "cut ratings into several stores, for several processes",
        .synopsis = "FILE --parts N -o DIR [options]",
        .paragraphs =
            {
                "Puts the users of FILE, a store or any input of dpmf import, one after the other "
                "into N "
                "stores, about as many ratings in each. All of them have the same items under the "
                "same numbers. Whatever takes ratings takes DIR for all of them together; under "
                "mpirun "
                "each process of dpmf train then reads its part.",
                "DIR gets a list of the stores, shards.json, with digests of what is in them. A "
                "directory "
                "with a store missing, or with another in its place, is refused: someone who was "
                "in "
                "two of them would count twice.",
            },
        .groups = {{"Options", shard_options}, {"How the input is read", input_options}},
        .operands = {{VALUE_FILE, "FILE", "ratings.dpr", NULL, NULL}, 1, 1},
        .examples =
            {
                {"Cut a store into four, and look at all of them together",
                 "dpmf shard ratings.dpr --parts 4 -o shards && dpmf describe shards", SOME_STORE},
            },
        .run = command_shard_run,
    },
    {
        .name = "train",
        .summary = "learn a model from ratings",
        .synopsis = "RATINGS -o MODEL [options]",
        .paragraphs =
            {
                "Learns an offset, a bias and a vector for each user and item by stochastic "
                "gradient "
                "descent, so that their products predict ratings. The ratings are put in an order "
                "that fits the caches first.",
                "What is larger than --memory is streamed: the ratings in their new order and the "
                "users' vectors are in temporary files beside the input, read ahead and written "
                "back block of users by block while others are worked on. The item vectors, the "
                "ids and "
                "the validation set must fit; 16MiB do for small numbers of factors. With "
                "--deterministic such a run gives the same model for any number of threads, but "
                "--memory and --prefetch decide how large the blocks are, and so the last bits.",
                "With --solver gibbs, sgld, sghmc or sgnht it draws models at random, each as "
                "often as "
                "the ratings make it likely, and with --average predicts by the mean of many of "
                "them: gibbs does that best where the ratings fit in memory. How much to shrink "
                "is then drawn too. It warns when the chains of draws do not agree with each "
                "other. docs/samplers.md tells more.",
                "A model holds a vector for every user: it is as private as the ratings. Without "
                "--deterministic the last bits of a model depend on the threads.",
                "With --epsilon it makes a release instead: item vectors that are proven to say "
                "little about any one user, and a statement of exactly what was proven. It needs "
                "--rating-range and --catalogue, because both are private if they come from the "
                "ratings. Each record is read by itself and dropped by itself, so that no one "
                "person decides how others are read, or whether there is a release: a header must "
                "name the columns, or --format, --columns and --separator declare them, and a "
                "store must have been imported so, with --on-error skip. Each release is entered "
                "in a ledger.",
                "Before anything is spent it prints how many ratings are outside the catalogue or "
                "the range, and how many wishes of --user-privacy match nobody in the ratings: "
                "such a wish decides nothing, since a refusal would show who is in them. Where "
                "that looks wrong, and standard error is a terminal, it waits 5 seconds for "
                "Ctrl-C. A wish above --epsilon has the release's epsilon.",
                "With --mechanism posterior it releases one draw from the posterior instead, as "
                "the paper does. What that promises is conditional on the sampler having "
                "converged, which no run can show: it is for research, and its statement says "
                "so. It has no delta; -k, --epochs (its rounds), --chains and --trace, which is "
                "for your eyes alone, are for it too.",
                "Started as mpirun -n 8 dpmf train ..., eight processes work together, on one "
                "machine "
                "or several, each on its own users; RATINGS may be a directory that dpmf shard "
                "made. "
                "It needs the plugin that make mpi builds. Only the first process prints and "
                "writes. "
                "When one fails, hangs or is lost, one message names it and all of them end. "
                "docs/cluster.md tells more.",
            },
        .groups = {{"Options", train_options},
                   {"Samplers", sampler_options},
                   {"Private releases", private_options},
                   {"Several processes, by mpirun", cluster_options},
                   {"How the input is read", input_options}},
        .is_distributed = true,
        .operands = {{VALUE_FILE, "RATINGS", "ratings.dpr", ".dpr", NULL}, 1, 1},
        .exit_note = "5 when training diverges; the last snapshot is kept.",
        .examples =
            {
                {"Learn with what does well on most sets",
                 "dpmf train ratings.dpr -o model.safetensors", SOME_STORE},
                {"Stop when ratings that were held back are predicted no better",
                 "dpmf train train.dpr --valid test.dpr -o model.safetensors",
                 SOME_STORE "; dpmf split -q ratings.dpr --train train.dpr --test test.dpr"},
                {"The most accurate model, and where ratings will be",
                 "dpmf train ratings.dpr --solver gibbs --average -o mean.safetensors && "
                 "dpmf predict mean.safetensors ratings.dpr --intervals >intervals.csv",
                 "dpmf synth -q --users 200 --items 50 --ratings 4000 -o ratings.dpr"},
                {"Make a release that says little about any one person",
                 "dpmf train ratings.dpr --epsilon 1 --rating-range 1:5 --catalogue items.csv "
                 "--ledger ledger -o release.safetensors",
                 "dpmf ledger init -q ledger; "
                 "dpmf synth -q --like ml-100k --catalogue-out items.csv -o ratings.dpr"},
            },
        .run = command_train_run,
    },
    {
        .name = "tune",
        .summary = "find the options of train that suit ratings best",
        .synopsis = "RATINGS [-o MODEL] [--trials N] [--minutes M] [options]",
        .paragraphs =
            {
                "Trains again and again with other numbers of factors and epochs, step sizes and "
                "penalties, each time on the ratings but for a part held back, and prints how "
                "well that part was predicted (RMSE), a line a trial. The first trial has the "
                "defaults of dpmf train; those after it are spread around them, and then follow "
                "what the trials so far promise. A trial that falls behind others, or whose error "
                "no longer falls, is stopped early; its error stands in brackets, since it had "
                "epochs left to run and is no match for the others. What an option gives is used "
                "as it is, and the rest is looked for.",
                "With --goal ranking the trials are those of dpmf train --goal ranking, the weight of "
                "pairs without a rating takes the place of the step size, and the part held back is "
                "ranked among all items that a user has not rated: the largest NDCG@10 is the best.",
                "In the end it prints the dpmf train command with the best options. With -o it "
                "also trains that model, on all of RATINGS.",
                "The same seed gives the same trials for any number of threads, as long as "
                "--minutes does not cut them short. The trials leave nothing behind.",
                "Options that ratings have chosen tell something of those ratings. If private "
                "releases are made of the same people, name them with --population: the ledger "
                "then shows that there was tuning.",
                "With --json it prints an object a trial with event, trial, factors, "
                "learning_rate, regularization, epochs, valid_rmse, end, epochs_run, best and "
                "seconds, and a last one whose event is done, with the best of them and command. "
                "With --goal ranking, unobserved and valid_ndcg take the place of learning_rate and "
                "valid_rmse.",
            },
        .groups = {{"Options", tune_options}, {"How the input is read", input_options}},
        .operands = {{VALUE_FILE, "RATINGS", "ratings.dpr", ".dpr", NULL}, 1, 1},
        .exit_note = "3 when there are too few ratings to hold some back, 5 when every trial "
                     "diverges.",
        .examples =
            {
                {"Find good options, and train with them",
                 "dpmf tune ratings.dpr --trials 6 -o model.safetensors", SOME_STORE},
                {"What is best with 16 factors, on ratings that were set aside",
                 "dpmf tune train.dpr -k 16 --valid test.dpr --trials 5 --minutes 10",
                 SOME_STORE "; dpmf split -q ratings.dpr --train train.dpr --test test.dpr"},
                {"A model that recommends, by ratings of 4 and more",
                 "dpmf tune ratings.dpr --goal ranking --like 4 -k 16 --trials 3", SOME_STORE},
            },
        .run = command_tune_run,
    },
    {
        .name = "describe",
        .summary = "tell what a ratings store, a ratings file or a model holds",
        .synopsis = "FILE [--plot FILE.svg] [options]",
        .paragraphs =
            {
                "Prints the number of users, items and ratings, their scale, mean and density, the "
                "share of the 500 most rated items, how many ratings users and items have, and a "
                "histogram of the ratings. The whole file is read and every checksum is verified.",
                "Of a store it also prints how its ratings were read: from which formats, with a "
                "layout that was declared, guessed from the first record, dependent on other "
                "records, or not recorded, and whether bad records were dropped one by one; so "
                "also whether private runs accept it. With --json these are formats, layout, "
                "drops_bad and by_record.",
                "With --json it prints one object with users, items, ratings, min, max, mean, "
                "standard_deviation, density and the rest; per_user and per_item are the numbers "
                "of ratings at percentile_levels.",
                "Of a model it prints how many users, items and factors it has, the scale, and how "
                "it was trained; of a release, what it promises.",
            },
        .groups = {{"Options", describe_options}, {"How the input is read", input_options}},
        .operands = {{VALUE_FILE, "FILE", "ratings.dpr", NULL, NULL}, 1, 1},
        .exit_note = "3 when the file is damaged or holds no ratings.",
        .examples =
            {
                {"Look at a store", "dpmf describe ratings.dpr", SOME_STORE},
                {"Look at a CSV file without keeping a store", "dpmf describe ratings.csv",
                 SOME_CSV},
                {"The power law as a picture, and the numbers for a script",
                 "dpmf describe ratings.dpr --plot items.svg --json", SOME_STORE},
            },
        .run = command_describe_run,
    },
    {
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
                "reported.",
                "With --ranking the N best items for each user are compared with the user's items "
                "in TEST, whatever their ratings. recall is the share of those items that is among "
                "the N best; recall capped divides by N where a user has more items than that; "
                "precision divides by N always; ndcg counts an item found at place r as "
                "1/log2(r + 1), as a share of what the best order would give; map is the precision "
                "at each item found, averaged over as many as could be found; mrr is 1 over the "
                "place of the first item found. Each is averaged over the users that the model "
                "knows. coverage is the share of the model's items that is in the list of any of "
                "them. Items in the --history of a user are neither recommended nor looked for.",
                "With a --history the items are also cut into fifths by how often they are rated "
                "in it, and each metric is given for each fifth: of the users with items of that "
                "fifth in TEST, and of their places in the whole list. popularity bias is the "
                "average popularity of what the lists hold, over that of what is in TEST: 1 is "
                "none. To evaluate on later ratings than those trained on, use dpmf split --by "
                "time.",
                "With --candidates each row of FILE is a user, an item that was held out, and "
                "others to rank it among; the first row names the columns. hr is the share of the "
                "rows whose held-out item is among the N best of its row, ndcg the average of "
                "1/log2(place + 1), mrr that of 1/place, both 0 beyond N. Items with the same "
                "score come before the one held out; an item given twice counts once. TEST may "
                "then be left out.",
                "A release has no users. Each user of the --history is first fitted to their "
                "ratings in it, as they would do at home; others are unknown.",
                "With --json it prints one object with rmse, mae, n, unknown_users, unknown_items "
                "and, with --ranking, top, ranked_users, recall, recall_capped, precision, ndcg, "
                "map, mrr, coverage, popularity_bias and by_popularity; with --candidates a line "
                "with top, rows, unknown_users, unknown_items, hr, ndcg and mrr. The results do "
                "not depend on the number of threads. Several processes, started by mpirun, each "
                "take some users of TEST, which must then be a store or a folder of its shards.",
            },
        .groups = {{"Options", evaluate_options},
                   {"How the input is read", input_options},
                   {"Several processes, by mpirun", cluster_options}},
        .is_distributed = true,
        .operands = {{VALUE_FILE, "MODEL and TEST", "m.safetensors", NULL, NULL}, 1, 2},
        .exit_note = "3 when the model or the ratings are damaged.",
        .examples =
            {
                {"How good a model is", "dpmf evaluate m.safetensors test.dpr", SOME_MODEL},
                {"Whether it puts the right items among the first five",
                 "dpmf evaluate m.safetensors test.dpr --ranking -n 5 --history train.dpr",
                 SOME_MODEL},
                {"How good a release is for people who keep their ratings at home",
                 "dpmf evaluate release.safetensors test.dpr --history train.dpr",
                 SOME_MODEL "; dpmf ledger init -q ledger; dpmf train -q train.dpr --epsilon 5 "
                            "--rating-range 1:5 --catalogue items.csv --ledger ledger "
                            "-o release.safetensors"},
            },
        .run = command_evaluate_run,
    },
    {
        .name = "recommend",
        .summary = "list the items that a user will like best",
        .synopsis = "MODEL (--user ID | --all-users | --ratings MINE) [-n N] [--history RATINGS] "
                    "[options]",
        .paragraphs =
            {
                "Scores every item of the model for the user and prints the N best, the best "
                "first; "
                "equal scores in the order of the model. Without --history, items that the user "
                "has "
                "rated may be among them.",
                "Someone that the model does not know is fitted to their ratings in --history or "
                "--ratings first, holding the items of the model still; what they have rated is "
                "left out. Without any such ratings they get the items that are liked best by "
                "all, and a warning says so.",
                "A release knows nobody: it needs --ratings, or a --history, of which --user "
                "chooses one user; without --user, everyone in the history gets recommendations.",
                MINE_PARAGRAPH,
                "With --json it prints an object a line with user (null with --ratings), item, "
                "score and rank, title where --catalogue has one, and where it is so, folded_in "
                "or unknown_user.",
            },
        .groups = {{"Options", recommend_options}, {"How ratings are read", input_options}},
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
                 "dpmf recommend release.safetensors --history all.dpr -n 3 >lists.csv",
                 SOME_RELEASE},
            },
        .run = command_recommend_run,
    },
    {
        .name = "predict",
        .summary = "predict the ratings of pairs of a user and an item",
        .synopsis = "MODEL (PAIRS [--history RATINGS] | [ITEMS] --ratings MINE) [options]",
        .paragraphs =
            {
                "Reads pairs from PAIRS: a table whose first two columns, or whose columns named "
                "user and item, are the ids, or ratings in any format that dpmf import knows, a "
                "store too; - is standard input, a table. Prints each pair with its prediction, in "
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
                "With --ratings it is about one person, who is fitted to them: ITEMS is a table "
                "whose first column, or whose column named item, are the ids; without it, every "
                "item of the model is predicted. The header is then item,prediction.",
                MINE_PARAGRAPH,
                "With --json it prints an object a line with user (null with --ratings), item, "
                "prediction, low and high with --intervals (null where there are none) and, where "
                "it is so, folded_in, unknown_user or unknown_item; and title where --catalogue "
                "has "
                "one.",
            },
        .groups = {{"Options", predict_options}, {"How ratings are read", input_options}},
        .operands = {{VALUE_FILE, "MODEL and PAIRS", "m.safetensors", NULL, NULL}, 1, 2},
        .exit_note = "3 when the model is damaged or a row of PAIRS is not a pair.",
        .examples =
            {
                {"A few pairs", "printf '7,1\\n7,2\\n' | dpmf predict m.safetensors -", SOME_MODEL},
                {"The pairs of a store", "dpmf predict m.safetensors test.dpr >predictions.csv",
                 SOME_MODEL},
                {"Of someone who came later, from what they have rated",
                 "printf 'zoe,1\\n' | dpmf predict m.safetensors - --history late.csv",
                 SOME_MODEL "; printf 'zoe,2,5\\nzoe,3,1\\nzoe,5,4\\n' >late.csv"},
                {"At home, from a public release: all items, for someone with three ratings",
                 "dpmf predict release.safetensors --ratings 2:5,3:1,5:4 >mine.csv", SOME_RELEASE},
            },
        .run = command_predict_run,
    },
    {
        .name = "similar",
        .summary = "list the items most like an item",
        .synopsis = "MODEL --item ID [--ratings MINE] [-n N] [options]",
        .paragraphs =
            {
                "Prints the N items whose vectors point most nearly the same way as the item's: by "
                "the cosine of the angle between them, which is 1 for the same direction. How much "
                "an item is liked on the whole does not count.",
                "With --ratings the items that someone has rated are left out, and beside each of "
                "the others stands the score that dpmf recommend gives it for them.",
                MINE_PARAGRAPH,
                "With --json it prints an object a line with to, item, cosine and rank; score "
                "with --ratings, and title where --catalogue has one.",
            },
        .groups = {{"Options", similar_options}, {"How ratings are read", input_options}},
        .operands = {{VALUE_FILE, "MODEL", "m.safetensors", ".safetensors", NULL}, 1, 1},
        .exit_note = "3 when the model does not know the item.",
        .examples =
            {
                {"What is like item 1",
                 "dpmf similar m.safetensors --item 1 -n 5 --catalogue items.csv", SOME_MODEL},
                {"What is like item 1 and new to me, and how I would like it",
                 "dpmf similar m.safetensors --item 1 -n 5 --ratings 2:5,3:1,5:4", SOME_MODEL},
            },
        .run = command_similar_run,
    },
    {
        .name = "explain",
        .summary = "tell which ratings speak for an item",
        .synopsis = "MODEL --item ID (--user ID --history RATINGS | --ratings MINE) [options]",
        .paragraphs =
            {
                "Fits a user to the ratings, holding the items of the model still, and takes the "
                "prediction for the item apart: what all ratings have in common, the item's bias, "
                "and a share for each of the user's ratings: first those that speak for the item, "
                "then those that speak against it, the largest first, each with their sum. The "
                "parts add up to the prediction, which is not clamped to the scale. A user of the "
                "model is fitted anew, so that the prediction differs a little from what dpmf "
                "predict prints.",
                MINE_PARAGRAPH,
                "With --json it prints an object with item, prediction, offset, item_bias, for "
                "and against (each with ratings, their number, and sum), ratings and "
                "unknown_items, and then, the largest first, an object a line with because, "
                "rating, share and rank; and titles where --catalogue has them.",
            },
        .groups = {{"Options", explain_options}, {"How ratings are read", input_options}},
        .operands = {{VALUE_FILE, "MODEL", "m.safetensors", ".safetensors", NULL}, 1, 1},
        .exit_note = "3 when the model does not know the item, or the history the user.",
        .examples =
            {
                {"Why item 1 for user 7",
                 "dpmf explain m.safetensors --item 1 --user 7 --history train.dpr -n 3",
                 SOME_MODEL},
                {"Why item 1 for me", "dpmf explain m.safetensors --item 1 --ratings mine.csv",
                 SOME_MODEL "; printf '2,5\\n3,1\\n' >mine.csv"},
                {"The same at home, from a public release",
                 "dpmf explain release.safetensors --item 1 --ratings 2:5,3:1,5:4", SOME_RELEASE},
            },
        .run = command_explain_run,
    },
    {
        .name = "export",
        .summary = "write ratings as text, vectors for tools, a release as a page",
        .synopsis = "FILE (--csv DIR | --npy DIR | --libmf FILE | --sqlite FILE | --pgvector URL | "
                    "--web DIR) [options]",
        .paragraphs =
            {
                "Writes the ratings of FILE, a store or any input of dpmf import, as CSV with the "
                "header user,item,rating and, when there are times, timestamp. Numbers are written "
                "such that reading them gives the same bits. Only you can read the file.",
                "Of a model, vectors and biases go to other tools, bit by bit as they are: --npy "
                "for "
                "NumPy, --csv for everything, --libmf for LIBMF (offset and biases become two more "
                "factors), --sqlite and --pgvector for databases, with titles from --catalogue and "
                "the privacy statement as a table. A score is offset + bias + u.v; the offset "
                "is in model.json or in the table model. All of it appears at once or not at all. "
                "docs/formats/exports.md has every file and table.",
                "With --pgvector, vectors are of the type vector where the server has the "
                "extension "
                "of that name, else arrays, real[]; the report says which. The tables are NAME "
                "(dpmf_items unless the URL says table=NAME), NAME_model and, with --users, "
                "NAME_users. A password comes from PGPASSWORD, ~/.pgpass or a service file, and is "
                "refused in the URL.",
                "A checkpoint, a release that is stamped NOT PRIVATE and one that dpmf privacy "
                "verify "
                "does not accept are exported only with --not-private, and users only with "
                "--users.",
                "With --web, FILE is a release, and DIR receives index.html, the release as "
                "release.safetensors and its privacy statement as statement.txt. The page holds "
                "everything it needs: it works opened from disk or from any web server, computes "
                "in the browser, and sends nothing anywhere. What may not be published is refused: "
                "a checkpoint, a release that is stamped NOT PRIVATE, and one that dpmf privacy "
                "verify does not accept.",
            },
        .groups = {{"Options", export_options}, {"How the input is read", input_options}},
        .operands = {{VALUE_FILE, "FILE", "ratings.dpr", NULL, NULL}, 1, 1},
        .exit_note = "6 when --web is asked for what may not be published, and when vectors that "
                     "are not private are asked for without --not-private.",
        .examples =
            {
                {"To a file: this writes out/ratings.csv", "dpmf export ratings.dpr --csv out",
                 SOME_STORE},
                {"To the next program", "dpmf export ratings.dpr --csv - | head -n 5", SOME_STORE},
                {"The vectors of a release for NumPy",
                 "dpmf export release.safetensors --npy vectors", SOME_RELEASE},
                {"Everything in one database",
                 "dpmf export release.safetensors --sqlite items.sqlite "
                 "--catalogue items.csv",
                 SOME_RELEASE},
                {"All of a model that is not for others, for LIBMF",
                 "dpmf export m.safetensors --libmf model.txt --users --not-private", SOME_MODEL},
                {"A page for everyone, to be opened from disk or put on a web server",
                 "dpmf export release.safetensors --web site --catalogue items.csv", SOME_RELEASE},
            },
        .run = command_export_run,
    },
    {
        .name = "serve",
        .summary = "serve the web page of a release, and the release",
        .synopsis = "RELEASE [--port N] [--address ADDRESS] [--host NAME]... [--catalogue FILE] "
                    "[options]",
        .paragraphs =
            {
                "Serves a page that recommends in the browser: it loads the release and computes "
                "there, so that nobody's ratings ever leave their machine, and none can be sent "
                "here. It prints the page's URL on standard output and then answers, from memory, "
                "until it is interrupted; answers under way are finished.",
                "Programs find the file at /v1/release, its items with their titles at /v1/items, "
                "and the privacy statement at /v1/statement, the last two as JSON.",
                "Requests must name localhost, the address, or a --host as their host, so that "
                "other sites cannot pass as this one. Nothing about requests is written down. "
                "There is no encryption: docs/serve.md says how to put a web server in front for "
                "that.",
                "What may not be published is refused: a checkpoint, a release that is stamped NOT "
                "PRIVATE, and one that dpmf privacy verify does not accept.",
                "With --json it prints one object with url, port, items, titles, page_bytes and "
                "release_bytes instead of the URL.",
            },
        .groups = {{"Options", serve_options}},
        .operands = {{VALUE_FILE, "RELEASE", "release.safetensors", ".safetensors", NULL}, 1, 1},
        .exit_note = "4 when the port is taken, 6 when the release may not be published.",
        .examples =
            {
                {"For two seconds, on whatever port is free",
                 "timeout 2 dpmf serve release.safetensors --port 0 --catalogue items.csv || true",
                 SOME_RELEASE},
            },
        .run = command_serve_run,
    },
    {
        .name = "privacy",
        .summary = "count what private releases cost, and plan and check them",
        .synopsis = "account|plan|show|verify [options]",
        .paragraphs =
            {
                "What dpmf promises a person is one number, epsilon, at a chance delta: with or "
                "without that person's ratings, what is published is all but the same. The "
                "commands below count it, plan a release before any data is touched, and look at "
                "one that was made. dpmf privacy COMMAND --help explains each.",
            },
        .operands = {{VALUE_CHOICE, "COMMAND", "account", NULL, privacy_choices}, 1, 1},
        .examples = {{"How much noise epsilon 1 takes", "dpmf privacy account --epsilon 1", NULL}},
        .run = command_privacy_run,
        .parts = privacy_verbs,
    },
    {
        .name = "audit",
        .summary = "try to catch a private mechanism telling more than it claims",
        .synopsis = "RATINGS --epsilon E --rating-range A:B --catalogue FILE [options]",
        .paragraphs =
            {
                "Compares whole worlds, exactly: users of RATINGS with and without one more, a "
                "canary made to be noticed, each as text through all that dpmf train does, up to "
                "the file. The world with the canary replays what the one without has published, "
                "round by round, and every sum must differ by exactly what the canary contributes "
                "when it is alone, and by no more than the norm bound; the files must be the same. "
                "Canaries are of several kinds, some with a wish, and write lines that are no "
                "records.",
                "Then makes some 200 runs with noise from the operating system; of each of many "
                "canaries a coin decides whether it takes part. An auditor who knows everything "
                "but the coins and the noise guesses from what would be published. How often and "
                "how surely it is right gives lower bounds on mu and epsilon, which hold with "
                "--confidence whatever the noise is. The mechanism is accused when one of them is "
                "above what --epsilon allows.",
                "In those runs it also checks that nobody contributes more than the norm bound; "
                "that noise is what is listed, neither less nor more nor of another shape, and "
                "never the same twice; and that draws taken and rounds made are those that the "
                "statement lists.",
                "A promise of privacy holds for every population, so a sample of users will do: "
                "at most --users are taken. Nothing is published, and nothing is spent in the "
                "ledger. What it prints is about RATINGS, and for the curator alone.",
                "Not to be accused proves nothing: an audit can find a fault, not rule it out. "
                "docs/privacy/audit.md says what it can find.",
                "With --json it prints one object with accused, findings, mu_claimed, "
                "epsilon_claimed, delta, mu_low, epsilon_low, confidence, runs_in, runs_out, "
                "guessed_right, canaries, guesses, guesses_right, mu_canary, worlds, "
                "world_rounds, world_numbers, world_norm, users, items, contributions, draws, "
                "releases, noise and seconds.",
            },
        .groups = {{"Options", audit_options}, {"How the input is read", input_options}},
        .operands = {{VALUE_FILE, "RATINGS", "ratings.dpr", ".dpr", NULL}, 1, 1},
        .exit_note = "1 when the mechanism is accused, 6 when what it would make is refused.",
        .examples =
            {
                {"A quick look at the mechanism for biases",
                 "dpmf audit ratings.dpr --epsilon 1 --rating-range 1:5 --catalogue items.csv "
                 "--mechanism biases --runs 20 --users 100",
                 "dpmf synth -q --users 300 --items 80 --ratings 6000 --catalogue-out items.csv "
                 "-o ratings.dpr"},
            },
        .run = command_audit_run,
    },
    {
        .name = "ledger",
        .summary = "keep account of what private releases have spent",
        .synopsis = "COMMAND [options]",
        .paragraphs =
            {
                "Releases made from the ratings of the same people add up. The ledger is a file, "
                "which only its owner can read, of every release and of what each population has "
                "spent; a population is named with --population when a release is made, and may "
                "have a budget that its releases together cannot pass. A budget is a mu, or an "
                "epsilon at a delta, which is one. Any number of runs may use one ledger at once.",
                "dpmf train prints what a population has spent after every release, and when a "
                "population is new to a ledger: a name that is misspelled has a budget of its own.",
                "A ledger that is damaged, has vanished, or was put back from an old copy is "
                "refused: it would forget what was spent. Keep the file and its .lock together. "
                "dpmf ledger COMMAND --help explains each command.",
            },
        .operands = {{VALUE_CHOICE, "COMMAND", "show", NULL, ledger_choices}, 1, 1},
        .examples = {{"What has been spent", "dpmf ledger show", NULL}},
        .run = command_ledger_run,
        .parts = ledger_verbs,
    },
    {
        .name = "bench",
        .summary = "measure how fast this machine trains",
        .synopsis = "[--factors LIST] [--threads LIST] [--kernels NAME] [options]",
        .paragraphs =
            {
                "Makes ratings of Netflix's shape in a temporary store, trains on them for a while "
                "with each number of factors and threads, and prints the median speed of the "
                "epochs. Nothing is left behind.",
                "An update, one rating's, takes 6k operations for k factors, and rewrites 5k "
                "bytes: "
                "a vector of 4k and a quarter of another, which serves several ratings. GB/s is "
                "what that comes to; beside it stands the roofline, what the same threads can "
                "rewrite in their own caches and do nothing else, measured right before and after; "
                "the fraction is of that.",
                "With --solver ials an update is an event's share of an epoch of dpmf train --goal "
                "ranking, which solves for all users and all items with three steps for each. It takes "
                "28k operations, and each row another 9k^2: (4 * 3 + 2) k for each event on both sides, "
                "four products with the Gramian, and half of one to sum it. Each multiplication and "
                "addition takes a number of 4 bytes from the caches; the roofline is what the same "
                "threads can read in their own caches and do nothing else.",
                "With --json it prints an object a line with factors, threads, solver, "
                "updates_per_second, gflops, fraction_of_roofline and the rest; of a sampler "
                "of_sgd "
                "as well.",
            },
        .groups = {{"Options", bench_options}},
        .has_own_threads = true,
        .operands = {{.kind = VALUE_NONE}, 0, 0},
        .examples =
            {
                {"A quick look with one thread",
                 "dpmf bench -k 16,64 -j 1 --ratings 100000 --seconds 0.1", NULL},
                {"What the vector instructions bring, for a script",
                 "dpmf bench -k 32 -j 1 --kernels ref --ratings 100000 --seconds 0.1 --json", NULL},
            },
        .run = command_bench_run,
    },
    {
        .name = "demo",
        .summary = "show the commands at work on made-up ratings",
        .synopsis = "[options]",
        .paragraphs =
            {
                "Makes a small synthetic store in a temporary directory, describes it, splits it, "
                "exports a part of it, trains a model, evaluates it and recommends from it; then "
                "makes a private release, recommends from that to someone with a few ratings of "
                "their own, and makes a web page of it. It prints each command before its output. "
                "Nothing is left behind but, with --web, the page.",
            },
        .groups = {{"Options", demo_options}},
        .operands = {{.kind = VALUE_NONE}, 0, 0},
        .examples = {{"See what dpmf does", "dpmf demo", NULL},
                     {"And keep the page, to open it in a browser", "dpmf demo --web site", NULL}},
        .run = command_demo_run,
    },
    {
        .name = "doctor",
        .summary = "tell what dpmf finds on this machine",
        .synopsis = "[options]",
        .paragraphs =
            {
                "Prints the version, the commit, the compiler and the hash of the sources of this "
                "build as the statements of its releases name them, the number of cores, the "
                "memory and the temporary directory "
                "it would use, the page size, the caches, the kernels (the inner loops of training "
                "and ranking), whether large pages are to be had, and what this build can read. "
                "Good to have in a report of a problem.",
            },
        .operands = {{.kind = VALUE_NONE}, 0, 0},
        .examples = {{"Look at the machine", "dpmf doctor", NULL}},
        .run = command_doctor_run,
    },
    {
        .name = "completion",
        .summary = "print a completion script for a shell",
        .synopsis = "bash|zsh|fish",
        .paragraphs =
            {
                "Prints a script that teaches the shell to complete the commands, options and "
                "files of dpmf.",
            },
        .operands = {{VALUE_CHOICE, "SHELL", "bash", NULL, shell_choices}, 1, 1},
        .examples =
            {
                {"Complete in this bash from now on", "eval \"$(dpmf completion bash)\"", NULL},
                {"Keep it for fish", "dpmf completion fish >~/.config/fish/completions/dpmf.fish",
                 "mkdir -p ~/.config/fish/completions"},
            },
        .run = command_completion_run,
    },
    {
        .name = "help",
        .summary = "explain dpmf or one of its commands",
        .synopsis = "[COMMAND]",
        .paragraphs = {"Prints the list of commands, or the help of one of them; dpmf COMMAND "
                       "--help does the same."},
        .operands = {{VALUE_CHOICE, "COMMAND", "import", NULL, verb_choices}, 0, 2},
        .checks_operands = true,
        .examples = {{"Explain import", "dpmf help import", NULL}},
        .run = command_help_run,
    },
    {0},
};

const struct verb *verb_find(const char *name) {
    for (const struct verb *verb = verbs; verb->name != NULL; verb++)
        if (strcmp(verb->name, name) == 0) return verb;
    return NULL;
}

const char *verb_word(const struct verb *verb) {
    const char *space = strchr(verb->name, ' ');
    return space != NULL ? space + 1 : verb->name;
}

const struct verb *verb_part_find(const struct verb *verb, const char *word) {
    for (const struct verb *part = verb->parts; part != NULL && part->name != NULL; part++)
        if (strcmp(verb_word(part), word) == 0) return part;
    return NULL;
}

const struct verb *verb_at(size_t i) {
    for (const struct verb *verb = verbs; verb->name != NULL; verb++) {
        if (i-- == 0) return verb;
        for (const struct verb *part = verb->parts; part != NULL && part->name != NULL; part++)
            if (i-- == 0) return part;
    }
    return NULL;
}

const struct option_group *verb_group(const struct verb *verb, size_t i) {
    size_t n = 0;
    while (verb->groups[n].title != NULL) n++;
    if (i < n) return &verb->groups[i];
    if (i > n) return NULL;
    return verb->has_own_threads ? &other_shared_group : &shared_group;
}

/* ---- the program as a whole -------------------------------------------------------------------- */

const char *const program_summary = "a private recommender engine";

const char *const program_paragraphs[] = {
    "dpmf takes ratings in any usual form, packs them into a compact and checked ratings store, "
    "and works on the store from there. Each command has its own help and manual page.",
    "Data goes to standard output, everything else to standard error. Every output file appears "
    "whole or not at all, and whatever holds ratings can be read by its owner only.",
    "Options may stand before or after the operands, as --name VALUE or --name=VALUE, and are "
    "never abbreviated. -- ends the options.",
    "SIGINT and SIGTERM end the work, remove what is unfinished, and then end the program as the "
    "signal would have.",
    NULL,
};

const struct environment_note environment_notes[] = {
    {"NO_COLOR", "when it is not empty, nothing is coloured"},
    {"DPMF_KERNELS", "the kernels to use unless --kernels says otherwise: a name that dpmf doctor "
                     "lists"},
    {"DPMF_CACHES",
     "the caches to work for, where the system reports them wrongly: L1, L2 and L3 as "
     "32K,512K,32M, with none for a level that is not there; or unknown"},
    {"DPMF_CORES, DPMF_RAM", "the number of cores and the memory, as 8GiB, in place of what the "
                             "system reports"},
    {"DPMF_MPI_PLUGIN", "the plugin for several processes, where it is not beside the program: "
                        "libdpmf-mpi.so"},
    {"TMPDIR", "where temporary files go that have no output to lie beside (default /tmp)"},
    {"XDG_STATE_HOME", "where the ledger is kept, in dpmf/ledger (default ~/.local/state)"},
    {"LC_ALL, LC_CTYPE, LANG", "histograms are drawn with # when these do not name UTF-8"},
    {0},
};

const struct status_note status_notes[] = {
    {STATUS_DONE, "done"},
    {STATUS_NO, "the answer is no: there is nothing to recommend, or a release does not hold what "
                "it says"},
    {STATUS_USAGE, "the command line is wrong"},
    {STATUS_INPUT, "an input is damaged, not understood, or holds what it may not"},
    {STATUS_IO, "a file cannot be read or written, or there is no memory for it"},
    {STATUS_DIVERGED, "training diverged"},
    {STATUS_REFUSED, "refused, because it would not keep the promise of privacy"},
    {STATUS_BUG, "a bug of dpmf: please report it"},
    {130, "ended by SIGINT"},
    {143, "ended by SIGTERM"},
    {0},
};
