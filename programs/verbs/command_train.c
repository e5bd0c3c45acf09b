/*
 * dpmf train: learns a model from ratings. Fed by a store or any ratings input; feeds evaluate,
 * predict, recommend, similar and explain.
 */
#include <math.h>
#include <stdio.h>

#include "cli/options.h"
#include "cli/report.h"
#include "cli/shared_options.h"
#include "cli/text.h"
#include "dpmf_text.h"
#include "shared/model_use.h"
#include "train/command_train_adapt.h"
#include "train/command_train_begin.h"
#include "train/command_train_both.h"
#include "train/command_train_continue.h"
#include "train/command_train_private.h"
#include "train/command_train_show.h"

/* ---- options and manual ---------------------------------------------------------------------- */

static int run(struct invocation *invocation);

/* Defaults, as the library has them for each solver. */

typedef double solver_value(const struct dpmf_train_options *options);

static double factors_of(const struct dpmf_train_options *options) { return options->factors; }

static double epochs_of(const struct dpmf_train_options *options) { return options->epochs; }

static double penalty_of(const struct dpmf_train_options *options) {
    return options->regularization;
}

static double samples_of(const struct dpmf_train_options *options) {
    return options->sampler.samples;
}

static double chains_of(const struct dpmf_train_options *options) {
    return options->sampler.chains;
}

/* One epoch in so many. */
static double burn_in_of(const struct dpmf_train_options *options) {
    return (double)(options->epochs / options->sampler.burn_in);
}

enum solver_kind { ANY_SOLVER, NO_SAMPLER, SAMPLER };

static bool is_kind(const char *solver, enum solver_kind kind) {
    return kind == ANY_SOLVER || dpmf_solver_is_sampler(solver) == (kind == SAMPLER);
}

static double value_of(const char *solver, solver_value *value) {
    struct dpmf_train_options options = dpmf_train_options_default();
    dpmf_train_options_solver(solver, &options);
    options.sampler.average = dpmf_solver_is_sampler(solver);
    dpmf_train_options_complete(&options);
    return value(&options);
}

/* "128; ials 64; sghmc, sgnht 32": solvers with the same default stand together. The first solver,
 * which is the default one, goes without saying. */
static void print_by_solver(FILE *out, enum solver_kind kind, const char *form,
                            solver_value *value) {
    const char *solver, *other;
    bool is_first = true;
    for (size_t i = 0; (solver = dpmf_solver_name(i, NULL)) != NULL; i++) {
        const double own = value_of(solver, value);
        bool is_new = is_kind(solver, kind);
        for (size_t j = 0; is_new && j < i; j++) {
            other = dpmf_solver_name(j, NULL);
            is_new = !is_kind(other, kind) || value_of(other, value) != own;
        }
        if (!is_new) continue;
        fprintf(out, "%s%s", is_first ? "" : "; ", i > 0 ? solver : "");
        for (size_t j = i + 1; i > 0 && (other = dpmf_solver_name(j, NULL)) != NULL; j++)
            if (is_kind(other, kind) && value_of(other, value) == own) fprintf(out, ", %s", other);
        fprintf(out, "%s%s%s", i > 0 ? " " : "", form, text_double(own).text);
        is_first = false;
    }
}

static void factors_default(FILE *out) { print_by_solver(out, ANY_SOLVER, "", factors_of); }

static void epochs_default(FILE *out) { print_by_solver(out, ANY_SOLVER, "", epochs_of); }

static void penalty_default(FILE *out) { print_by_solver(out, NO_SAMPLER, "", penalty_of); }

static void burn_in_default(FILE *out) { print_by_solver(out, SAMPLER, "1/", burn_in_of); }

static void samples_default(FILE *out) {
    fputs(text_double(value_of("gibbs", samples_of)).text, out);
}

static void chains_default(FILE *out) { print_by_solver(out, SAMPLER, "", chains_of); }

static void rate_default(FILE *out) {
    fputs(text_double(dpmf_train_options_default().learning_rate).text, out);
}

static void row_steps_default(FILE *out) {
    fprintf(out, "%u", dpmf_train_options_default().ials.row_steps);
}

static void patience_default(FILE *out) {
    fprintf(out, "%u", dpmf_train_options_default().patience);
}

static void prefetch_default(FILE *out) {
    fprintf(out, "%u", dpmf_train_options_default().prefetch);
}

/* One option, a few lines: the formatter would give each of its fields a line of its own. */
/* clang-format off */
static const struct option own_options[] = {
    {.id = OPTION_OUTPUT, .letter = 'o', .required = true, .name = "output",
     .value = {VALUE_OUTPUT, "MODEL", "model.safetensors", ".safetensors", NULL},
     .help = "the model to write: a safetensors file with everyone's vectors, which only you can "
             "read"},
    REPLACE_OPTION,
    {.id = OPTION_FACTORS, .letter = 'k', .name = "factors",
     .value = {VALUE_COUNT, "K", "64", NULL, NULL}, .show_default = factors_default,
     .help = "numbers in a vector, 1 to 4096 (default {default})"},
    {.id = OPTION_EPOCHS, .name = "epochs", .value = {VALUE_COUNT, "N", "20", NULL, NULL},
     .show_default = epochs_default,
     .help = "passes over the ratings; for samplers, in each chain (default {default}; with sgd, "
             "more or fewer where trials say so)"},
    {.id = OPTION_GOAL, .name = "goal",
     .value = {VALUE_CHOICE, "GOAL", "ranking", NULL, train_goal_choices},
     .help = "what the model is for: rating (the default), to predict ratings; or ranking, to "
             "recommend, which takes the solver ials, or with --epsilon the mechanism events. A "
             "model is for one of them: both explains how to make two that share one budget"},
    {.id = OPTION_SOLVER, .name = "solver",
     .value = {VALUE_CHOICE, "NAME", "sgld", NULL, solver_choices},
     .help = "how to learn: sgd (the default), stochastic gradient descent; ials, implicit least "
             "squares, to rank; the others draw from the posterior"},
    {.id = OPTION_LIKE, .name = "like", .value = {VALUE_TEXT, "X", "4", NULL, NULL},
     .help = "with ials and in private releases for ranking: ratings of at least X are likes, and "
             "nothing else counts; any, the default: all of them; not for events"},
    {.id = OPTION_UNOBSERVED, .name = "unobserved", .value = {VALUE_NUMBER, "X", "0.3", NULL, NULL},
     .help = "with ials: the weight of a pair without a rating, where one with a rating has 1 "
             "(default: from the density of the ratings)"},
    {.id = OPTION_COUNT_WEIGHT, .name = "count-weight",
     .value = {VALUE_NUMBER, "W", "0.5", NULL, NULL},
     .help = "with ials, of events: an event that happened n times weighs 1 + W ln n (default 0: "
             "all weigh 1)"},
    {.id = OPTION_ROW_STEPS, .name = "row-steps", .value = {VALUE_COUNT, "N", "3", NULL, NULL},
     .show_default = row_steps_default,
     .help = "with ials: steps of conjugate gradients for each vector and epoch (default "
             "{default}); 0: solve exactly"},
    {.id = OPTION_ROW_BLOCK, .name = "row-block", .value = {VALUE_COUNT, "D", "64", NULL, NULL},
     .help = "with ials, instead of --row-steps: solve for D numbers of a vector at a time, "
             "exactly, given the others (iALS++)"},
    {.id = OPTION_LEARNING_RATE, .name = "learning-rate",
     .value = {VALUE_NUMBER, "X", "0.03", NULL, NULL}, .show_default = rate_default,
     .help = "the first step size (default {default}, or what trials find better); it falls "
             "linearly to nothing over the epochs"},
    {.id = OPTION_NO_ADAPT, .name = "no-adapt", .value = {.kind = VALUE_NONE},
     .help = "with sgd: keep to the defaults instead of finding the step size, the penalty and the "
             "epochs by short trials"},
    {.id = OPTION_DECAY, .name = "decay", .value = {VALUE_NUMBER, "GAMMA", "0.5", NULL, NULL},
     .help = "let the step size fall as 1 / epoch^GAMMA instead"},
    {.id = OPTION_REG, .name = "reg", .value = {VALUE_NUMBER, "X", "0.05", NULL, NULL},
     .show_default = penalty_default,
     .help = "the L2 penalty on vectors (default {default}; with sgd, or what trials find better)"},
    {.id = OPTION_VALID, .name = "valid",
     .value = {VALUE_FILE, "RATINGS", "valid.dpr", ".dpr", NULL},
     .help = "measure the error on these ratings after every epoch (with ials: how well they are "
             "ranked), keep the best epoch, and stop when there is no more gain"},
    {.id = OPTION_PATIENCE, .name = "patience", .value = {VALUE_COUNT, "N", "3", NULL, NULL},
     .show_default = patience_default,
     .help = "epochs without a gain on --valid before stopping (default {default}; 0: never stop "
             "early)"},
    {.id = OPTION_DETERMINISTIC, .name = "deterministic", .value = {.kind = VALUE_NONE},
     .help = "the same model, bit for bit, for any number of threads, from the same kernels on "
             "machines with the same caches"},
    {.id = OPTION_HOGWILD, .name = "hogwild", .value = {.kind = VALUE_NONE},
     .help = "let threads write item vectors without waiting for each other, as the paper does"},
    KERNELS_OPTION,
    LANES_OPTION,
    {.id = OPTION_TIERS, .name = "tiers", .value = {VALUE_TEXT, "LIST", "500,4000", NULL, NULL},
     .help = "cut items into the paper's tiers of popularity instead of groups sized from the "
             "caches"},
    {.id = OPTION_SNAPSHOT, .name = "snapshot",
     .value = {VALUE_OUTPUT, "FILE", "run.safetensors", ".safetensors", NULL},
     .help = "write the state of the run here now and then, while it runs, and when it is "
             "interrupted, to continue with --resume"},
    {.id = OPTION_SNAPSHOT_EVERY, .name = "snapshot-every",
     .value = {VALUE_INTERVAL, "N", "10min", NULL, NULL},
     .help = "interval between snapshots: epochs, such as 2 or 2epochs; blocks of users, such as "
             "50blocks; or a time, such as 30s, 10min or 1h (default 1 epoch). One that is due "
             "while another is being written waits for it"},
    {.id = OPTION_RESUME, .name = "resume",
     .value = {VALUE_FILE, "FILE", "run.safetensors", ".safetensors", NULL},
     .help = "continue from a snapshot, with the ratings and options of the run that wrote it; "
             "another --epochs changes the step sizes that are left, unless --decay is given, "
             "and is refused with --deterministic, as are other --kernels"},
    {.id = OPTION_CONTINUE, .name = "continue",
     .value = {VALUE_FILE, "MODEL", "model.safetensors", ".safetensors", NULL},
     .help = "train this model further, on RATINGS alone: new users, new items and more ratings of "
             "old ones; --output may replace it"},
    HISTORY_OPTION("with --continue of a model that ranks: the ratings it was trained on, without "
                   "the new ones; users and items with new ratings are solved for from all of "
                   "theirs, which is more accurate"),
    {.id = OPTION_ITEM_FEATURES, .name = "item-features",
     .value = {VALUE_FILE, "FILE", "features.csv", NULL, NULL},
     .help = "with sgd, and in private releases, where it must be public: what is known about "
             "items, a table of categories and numbers; items with few ratings are moved towards "
             "similar ones"},
    {.id = OPTION_USER_FEATURES, .name = "user-features",
     .value = {VALUE_FILE, "FILE", "people.csv", NULL, NULL},
     .help = "with sgd: the same for users"},
    {.id = OPTION_PREFETCH, .name = "prefetch", .value = {VALUE_COUNT, "N", "4", NULL, NULL},
     .show_default = prefetch_default,
     .help = "blocks of users read ahead, where the run is larger than --memory (default "
             "{default})"},
    SEED_OPTION,
    {0},
};

static const struct option sampler_options[] = {
    {.id = OPTION_AVERAGE, .name = "average", .value = {.kind = VALUE_NONE},
     .help = "predict with the average of many samples instead of the last one: the most accurate "
             "model"},
    {.id = OPTION_SAMPLES, .name = "samples", .value = {VALUE_COUNT, "N", "16", NULL, NULL},
     .show_default = samples_default,
     .help = "largest number of samples to keep for --average (default {default}): each takes two "
             "columns more than there are factors, of at most 4096 columns in all"},
    {.id = OPTION_BURN_IN, .name = "burn-in", .value = {VALUE_COUNT, "N", "30", NULL, NULL},
     .show_default = burn_in_default,
     .help = "burn-in: epochs of each chain that do not count (default: {default} of them)"},
    {.id = OPTION_CHAINS, .name = "chains", .value = {VALUE_COUNT, "N", "4", NULL, NULL},
     .show_default = chains_default,
     .help = "number of chains, each from the prior, one after the other (default 1; with "
             "--average {default})"},
    {.id = OPTION_STEP, .name = "step", .value = {VALUE_NUMBER, "X", "0.001", NULL, NULL},
     .help = "with sgld, sghmc and sgnht: how much time of the process an epoch stands for "
             "(default: from the ratings, as large as keeps the posterior right)"},
    {.id = OPTION_SGLD_NOISE, .name = "noise",
     .value = {VALUE_TEXT, "KIND", "table:262144", NULL, NULL},
     .help = "with sgld: exact (the default), or table or table:SIZE, the paper's lookup table of "
             "SIZE numbers, for comparison"},
    {.id = OPTION_TRACE, .name = "trace",
     .value = {VALUE_OUTPUT, "FILE.svg", "trace.svg", ".svg", NULL},
     .help = "draw the traces of the chains in this file"},
    {0},
};
/* clang-format on */

const struct verb verb_train = {
    .name = "train",
    .summary = "learn a model from ratings",
    .synopsis = "RATINGS -o MODEL [options]",
    .paragraphs =
        {
            "Learns an offset, a bias and a vector for each user and item by stochastic "
            "gradient "
            "descent, so that their products predict ratings. The ratings are put in an order "
            "that fits the caches first.",
            "Biases start as averages, shrunk according to how much people and items differ in the "
            "ratings. Then a few short trials, on at most 400,000 ratings of which a tenth is held "
            "back, find the step size, the penalty and the number of epochs, and training starts "
            "again on all ratings. Values given by options are kept, and the rest is searched for; "
            "below 2,000 ratings, above 256 epochs, or where --memory is too small for a trial, "
            "the defaults are used. Where vectors predict no better than averages they are held at "
            "0. --resume takes what the interrupted run had found. --no-adapt trains with fixed "
            "settings, and with biases that start at 0. ials and the samplers have no trials.",
            "What is larger than --memory is streamed: the ratings in their new order and the "
            "users' vectors are in temporary files beside the input, read ahead and written back "
            "one block of users at a time, while other blocks are worked on. The item vectors, the "
            "ids and the validation set must fit; 16MiB is enough for small numbers of factors. "
            "With --deterministic such a run gives the same model for any number of threads, but "
            "--memory and --prefetch decide how large the blocks are, and so the last bits.",
            "With --item-features and --user-features, tables with a column named item or user and "
            "others of numbers or categories, it learns where rows with the same features are, and "
            "moves rows with few ratings towards them. Give the same tables to predict, recommend "
            "and evaluate, which place users and items without any rating by them, in models of "
            "all solvers. docs/features.md has more.",
            train_continue_paragraph,
            "With --solver gibbs, sgld, sghmc or sgnht it samples from the posterior, and with "
            "--average predicts with the average of many samples: gibbs does that best if the "
            "ratings fit in memory. The penalties are then sampled too. It warns when the chains "
            "do not agree with each other. docs/samplers.md has more.",
            "A model holds a vector for every user: it is as private as the ratings. Without "
            "--deterministic the last bits of a model depend on the threads.",
            "With --epsilon it makes a release instead: item vectors that are proven to say little "
            "about any one user, and a statement of exactly what was proven. It needs "
            "--rating-range and --catalogue, because both are private if they come from the "
            "ratings. Each record is read by itself and dropped by itself, so that no one person "
            "decides how others are read, or whether there is a release: a header must name the "
            "columns, or --format, --columns and --separator declare them, and a store must have "
            "been imported in this way, with --on-error skip. Each release is entered in a ledger.",
            "Before anything is spent it prints how many ratings are outside the catalogue or the "
            "range, and how many wishes of --user-privacy match nobody in the ratings: such a wish "
            "has no effect and is not refused, since a refusal would show who is in them. Where "
            "that looks wrong, and standard error is a terminal, it waits 5 seconds for Ctrl-C. A "
            "wish above --epsilon gets the release's epsilon.",
            "With --users-since and --users-before a release is made of the users whose own first "
            "record is in that period, which needs times in seconds since 1970; a user with a "
            "record without one is left out. Who takes part is decided for each user from that "
            "user's own records, so the promise is the same. In the ledger such releases add up in "
            "full with all others, because who returns may look new in another extract, unless "
            "--complete-histories declares that this cannot be. docs/privacy/new-users.md has "
            "more.",
            "With --mechanism posterior it releases one draw from the posterior instead, as the "
            "paper does. What that promises is conditional on the sampler having converged, which "
            "no run can show: it is for research, and its statement says so. It has no delta; -k, "
            "--epochs (its rounds), --chains and --trace (for your eyes only) apply to it too.",
            "Started as mpirun -n 8 dpmf train ..., eight processes work together, on one "
            "machine "
            "or several, each on its own users; RATINGS may be a directory that dpmf shard "
            "made. "
            "It needs the plugin that make mpi builds. Only the first process prints and "
            "writes. "
            "When one fails, hangs or is lost, one message names it and all of them end. "
            "docs/cluster.md has more.",
        },
    .groups = {{"Options", own_options},
               {"Samplers", sampler_options},
               {"Private releases", train_private_options},
               {"Several processes, by mpirun", cluster_options},
               {"How the input is read", input_options}},
    .is_distributed = true,
    .operands = {{VALUE_FILE, "RATINGS", "ratings.dpr", ".dpr", NULL}, 1, 1},
    .exit_note = "5 when training diverges; the last snapshot is kept.",
    .examples =
        {
            {"Learn with settings that do well on most sets",
             "dpmf train ratings.dpr -o model.safetensors", SOME_STORE},
            {"Stop when ratings that were held back are predicted no better",
             "dpmf train train.dpr --valid test.dpr -o model.safetensors",
             SOME_STORE "; dpmf split -q ratings.dpr --train train.dpr --test test.dpr"},
            {"Learn from what is known about items too",
             "dpmf train ratings.dpr --item-features items.csv -o model.safetensors",
             SOME_STORE "; { echo item,kind; seq 1 50 | sed 's/$/,a/; n; s/$/,b/'; } >items.csv"},
            {"Let yesterday's model learn today's ratings",
             "dpmf train today.csv --continue model.safetensors -o model.safetensors",
             SOME_STORE "; dpmf train -q ratings.dpr -k 8 -o model.safetensors; "
                        "printf 'user,item,rating\\nnew,1,4\\nnew,2,2\\n1,new,5\\n' >today.csv"},
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
    .run = run,
};

/* ---- what it does ---------------------------------------------------------------------------- */

static void fill_sampler(const struct invocation *invocation, struct dpmf_train_options *options) {
    options->sampler.noise = invocation->value[OPTION_SGLD_NOISE];
    options->sampler.trace = invocation->value[OPTION_TRACE];
    options->sampler.average = command_has(invocation, OPTION_AVERAGE);
    if (command_has(invocation, OPTION_STEP))
        options->sampler.step = options_number(invocation, OPTION_STEP);
    options->sampler.burn_in =
        options_count32(invocation, OPTION_BURN_IN, options->sampler.burn_in);
    options->sampler.samples =
        options_count32(invocation, OPTION_SAMPLES, options->sampler.samples);
    options->sampler.chains = options_count32(invocation, OPTION_CHAINS, options->sampler.chains);
}

static struct dpmf_train_options fill(const struct invocation *invocation) {
    struct dpmf_train_options options = dpmf_train_options_default();
    dpmf_train_options_solver(train_solver_of(invocation), &options); /* or check_solver */
    options.factors = options_count32(invocation, OPTION_FACTORS, options.factors);
    options.epochs = options_count32(invocation, OPTION_EPOCHS, options.epochs);
    if (command_has(invocation, OPTION_LEARNING_RATE))
        options.learning_rate = options_number(invocation, OPTION_LEARNING_RATE);
    if (command_has(invocation, OPTION_DECAY))
        options.decay = options_number(invocation, OPTION_DECAY);
    if (command_has(invocation, OPTION_REG))
        options.regularization = options_number(invocation, OPTION_REG);
    if (command_has(invocation, OPTION_SEED)) options.seed = options_count(invocation, OPTION_SEED);
    options.patience = options_count32(invocation, OPTION_PATIENCE, options.patience);
    if (command_has(invocation, OPTION_SNAPSHOT_EVERY)) {
        struct options_interval every = options_interval(invocation, OPTION_SNAPSHOT_EVERY);
        options.snapshot_every = every.epochs > UINT32_MAX ? UINT32_MAX : (uint32_t)every.epochs;
        options.snapshot_blocks = every.blocks;
        options.snapshot_seconds = every.seconds;
    }
    options.prefetch = options_count32(invocation, OPTION_PREFETCH, options.prefetch);
    options.deterministic = command_has(invocation, OPTION_DETERMINISTIC);
    options.hogwild = command_has(invocation, OPTION_HOGWILD);
    options.kernels = invocation->value[OPTION_KERNELS];
    options.lanes = options_lanes(invocation);
    options.tiers = invocation->value[OPTION_TIERS];
    fill_sampler(invocation, &options);
    options.solver = train_solver_of(invocation);
    if (command_has(invocation, OPTION_UNOBSERVED))
        options.ials.unobserved = options_number(invocation, OPTION_UNOBSERVED);
    if (command_has(invocation, OPTION_COUNT_WEIGHT))
        options.ials.count_weight = options_number(invocation, OPTION_COUNT_WEIGHT);
    if (command_has(invocation, OPTION_ROW_BLOCK))
        options.ials.row_block = options_count(invocation, OPTION_ROW_BLOCK);
    options.ials.row_steps = options_count32(invocation, OPTION_ROW_STEPS, options.ials.row_steps);
    options.snapshot = invocation->value[OPTION_SNAPSHOT];
    options.resume = invocation->value[OPTION_RESUME];
    options.item_features = invocation->value[OPTION_ITEM_FEATURES];
    options.user_features = invocation->value[OPTION_USER_FEATURES];
    return options;
}

/* A sampler has neither rates nor a best epoch, and takes its penalties from the ratings. */
static int check_sampler(const struct invocation *invocation) {
    static const enum option_id of_sgd[] = {OPTION_LEARNING_RATE, OPTION_DECAY, OPTION_REG,
                                            OPTION_PATIENCE};
    static const enum option_id one_at_least[] = {OPTION_CHAINS, OPTION_SAMPLES};
    char whose[64];
    snprintf(whose, sizeof whose, "is for sgd, not for %s", invocation->value[OPTION_SOLVER]);
    int status = options_refuse(invocation, of_sgd, COUNT_OF(of_sgd), whose, "leave it out");
    if (status != STATUS_DONE) return status;
    for (size_t i = 0; i < COUNT_OF(one_at_least); i++)
        if (command_has(invocation, one_at_least[i]) &&
            options_count(invocation, one_at_least[i]) == 0)
            return terminal_error_print(STATUS_USAGE, "leave it out to use the default",
                                        "--%s 0 leaves nothing to do",
                                        options_name(invocation, one_at_least[i]));
    if (command_has(invocation, OPTION_STEP) && !(options_number(invocation, OPTION_STEP) > 0))
        return terminal_error_print(STATUS_USAGE, "leave it out to use a safe step",
                                    "--step %s is not above 0", invocation->value[OPTION_STEP]);
    return STATUS_DONE;
}

/* The goal and the solver must agree, and what only one kind of solver has needs such a one. */
static int check_goal(const struct invocation *invocation) {
    static const enum option_id of_ials[] = {OPTION_LIKE, OPTION_UNOBSERVED, OPTION_COUNT_WEIGHT,
                                             OPTION_ROW_STEPS, OPTION_ROW_BLOCK};
    static const enum option_id of_sgd[] = {OPTION_LEARNING_RATE, OPTION_DECAY,    OPTION_TIERS,
                                            OPTION_LANES,         OPTION_PREFETCH, OPTION_HOGWILD};
    static const enum option_id of_tiles[] = {OPTION_LANES, OPTION_PREFETCH};
    const bool ranks = options_is(invocation, OPTION_GOAL, "ranking");
    if (options_is(invocation, OPTION_SOLVER, "gibbs")) {
        const int status = options_refuse(invocation, of_tiles, COUNT_OF(of_tiles),
                                          "is not for gibbs, which has no tiles", "leave it out");
        if (status != STATUS_DONE) return status;
    }
    if (!train_is_ials(invocation)) {
        if (ranks)
            return terminal_error_print(STATUS_USAGE, "leave --solver out, or give --solver ials",
                                        "--solver %s predicts ratings, and does not rank",
                                        train_solver_of(invocation));
        return options_refuse(invocation, of_ials, COUNT_OF(of_ials), "is for ials",
                              "add --goal ranking");
    }
    if (options_is(invocation, OPTION_GOAL, "rating"))
        return terminal_error_print(STATUS_USAGE, "leave --goal out, or give --goal ranking",
                                    "--solver ials ranks, and predicts no ratings");
    if (command_has(invocation, OPTION_ROW_STEPS) && command_has(invocation, OPTION_ROW_BLOCK))
        return terminal_error_print(
            STATUS_USAGE, "give one of them",
            "--row-steps and --row-block are two ways to solve for a vector");
    return options_refuse(invocation, of_sgd, COUNT_OF(of_sgd), "is for sgd, not for ials",
                          "leave it out");
}

/* In the library 0 stands for a weight from the density of the ratings. */
static int check_unobserved(const struct invocation *invocation) {
    if (!command_has(invocation, OPTION_UNOBSERVED) ||
        options_number(invocation, OPTION_UNOBSERVED) != 0)
        return STATUS_DONE;
    return terminal_error_print(STATUS_USAGE, "for example: --unobserved 0.3",
                                "--unobserved %s is not above 0",
                                invocation->value[OPTION_UNOBSERVED]);
}

static int check_solver(const struct invocation *invocation) {
    if (dpmf_solver_is_sampler(invocation->value[OPTION_SOLVER])) return check_sampler(invocation);
    return options_refuse_group(invocation, sampler_options, OPTION_COUNT, "is for samplers",
                                "for example: --solver gibbs");
}

/* A decay below 0 is the library's word for the schedule of its own, not a growing step. */
static int check_decay(const struct invocation *invocation) {
    if (!command_has(invocation, OPTION_DECAY) || options_number(invocation, OPTION_DECAY) >= 0)
        return STATUS_DONE;
    return terminal_error_print(STATUS_USAGE, "leave it out to use the default schedule",
                                "--decay %s is below 0", invocation->value[OPTION_DECAY]);
}

/* ---- the command ----------------------------------------------------------------------------- */

static const enum option_id of_features[] = {OPTION_ITEM_FEATURES, OPTION_USER_FEATURES};

static int run(struct invocation *invocation) {
    struct dpmf_train_options options = dpmf_train_options_default();
    struct dpmf_train_report report = {0};
    struct dpmf_error error = {0};
    struct dpmf_store *store = NULL, *valid = NULL;

    if (command_has(invocation, OPTION_CONTINUE)) {
        const bool is_private = command_has(invocation, OPTION_EPSILON);
        int slip = is_private ? STATUS_DONE : train_private_check_absent(invocation);
        if (slip == STATUS_DONE && !is_private)
            slip = options_refuse_group(invocation, sampler_options, OPTION_COUNT,
                                        "is for samplers", "leave it out with --continue");
        if (slip == STATUS_DONE && !is_private)
            slip = options_refuse(invocation, of_features, COUNT_OF(of_features),
                                  "cannot be given with --continue",
                                  "leave it out, and give it to predict or recommend");
        return slip != STATUS_DONE ? slip : train_continue_run(invocation);
    }
    if (command_has(invocation, OPTION_HISTORY))
        return terminal_error_print(STATUS_USAGE, "give all ratings as RATINGS",
                                    "--history is for --continue");
    if (options_is(invocation, OPTION_GOAL, "both")) return train_both_explain(invocation);
    if (command_has(invocation, OPTION_EPSILON)) {
        /* Without --research all of these are refused, for better reasons. */
        int slip =
            command_has(invocation, OPTION_RESEARCH) ? train_check_companions(invocation) : 0;
        if (slip == STATUS_DONE)
            slip = options_refuse(invocation, &of_features[1], 1, "is not for private releases",
                                  "leave it out: a release has no users");
        return slip != STATUS_DONE ? slip : train_private_run(invocation);
    }
    int status = train_private_check_absent(invocation);
    if (status == STATUS_DONE) status = check_solver(invocation);
    const bool has_goal =
        command_has(invocation, OPTION_GOAL) || command_has(invocation, OPTION_SOLVER);
    if (status == STATUS_DONE && has_goal) status = check_goal(invocation);
    if (status == STATUS_DONE)
        status = options_like(invocation, &options.ials.has_like, &options.ials.like);
    if (status == STATUS_DONE) status = check_decay(invocation);
    if (status == STATUS_DONE) status = check_unobserved(invocation);
    if (status == STATUS_DONE) status = train_check_companions(invocation);
    if (status != STATUS_DONE) return status;
    int rc = train_open_stores(invocation, &store, &valid, &error);
    rc = dpmf_cluster_agree(invocation->cluster, rc, &error);
    if (rc == 0) options_goal_of(invocation, store);
    if (rc == 0 && !has_goal) status = check_goal(invocation);
    if (status != STATUS_DONE) {
        dpmf_store_close(store);
        dpmf_store_close(valid);
        return status;
    }
    options = fill(invocation);
    options_like(invocation, &options.ials.has_like, &options.ials.like);
    const struct stat before = train_look_at_file(invocation->value[OPTION_SNAPSHOT]);
    const bool begun = rc == 0;
    if (begun) rc = train_adapt(invocation, store, &options, &error);
    if (begun && rc == 0)
        rc = dpmf_train(store, valid, invocation->value[OPTION_OUTPUT], &options, &invocation->run,
                        train_show_epoch, &invocation->terminal, &report, &error);
    dpmf_store_close(store);
    dpmf_store_close(valid);
    if (rc != 0) train_show_snapshot(invocation, &before, begun, &error);
    if (rc != 0) return report_error_print(invocation, &error);

    struct terminal *terminal = &invocation->terminal;
    terminal_progress_end(terminal);
    char chains[40] = "";
    if (report.chains > 1) snprintf(chains, sizeof chains, "%u chains of ", report.chains);
    terminal_note_print(terminal, "%s%u epochs in %s, %.1f million updates/s (%s); the model is %s",
                        chains, report.epochs, text_seconds(report.seconds).text,
                        1e-6 * report.updates_per_second, report.kernels,
                        invocation->value[OPTION_OUTPUT]);
    if (report.samples > 1 && !isnan(report.prediction_error))
        terminal_note_print(terminal,
                            "average of %u samples: chance moves a prediction by about %.2g%s",
                            report.samples, report.prediction_error,
                            report.converged ? ""
                                             : "; each chain on its own is still far from the "
                                               "whole posterior, so intervals are approximate");
    if (report.ranks > 0 && terminal->verbose)
        terminal_note_print(terminal, "%d processes sent each other %s", report.ranks,
                            text_bytes(report.bytes_sent).text);
    if (report.ranks > 0 && terminal->verbose && !isnan(report.seconds_waited))
        terminal_note_print(terminal, "on average, each of them waited %s for that",
                            text_seconds(report.seconds_waited).text);
    if (report.stopped_early && train_is_ials(invocation))
        terminal_note_print(terminal,
                            "stopped early: the validation set was ranked no better; the best "
                            "epoch was kept, with ndcg@10 %.4f",
                            report.valid_ndcg);
    else if (report.stopped_early)
        terminal_note_print(terminal,
                            "stopped early: the validation error no longer fell; the best "
                            "epoch was kept, with %.4f",
                            report.valid_rmse);
    terminal_phases_print(terminal);
    return command_has(invocation, OPTION_JSON) ? train_print_json(invocation, &report)
                                                : STATUS_DONE;
}
