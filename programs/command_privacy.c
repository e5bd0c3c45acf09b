/*
 * dpmf privacy: the table of its commands, which are verbs in their own right, each with options,
 * help and manual page. command.c finds them by the word after `privacy`; what they do is in the
 * command_privacy_*.c files.
 */
#include "command.h"

static const char *accept_choices(size_t i, const char **description) {
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

/* One option, a few lines: the formatter would give each of its fields a line of its own. */
/* clang-format off */

#define DELTA_OPTION                                                                               \
    {                                                                                              \
        OPTION_DELTA, 0, false, "delta", NULL, {VALUE_NUMBER, "D", "1e-6", NULL, NULL},            \
            "the chance that is left out of the promise (default 1e-5); it must be well below one "  \
            "over the number of users"                                                             \
    }

#define ACCEPT_OPTION                                                                              \
    {                                                                                              \
        OPTION_ACCEPT, 0, false, "accept", NULL,                                                   \
            {VALUE_CHOICE, "KIND", "partial", NULL, accept_choices},                               \
            "take a release that is conditional, partial or both, for those who accept what it "   \
            "assumes"                                                                              \
    }

static const struct option account_options[] = {
    {OPTION_EPSILON, 0, false, "epsilon", NULL, {VALUE_NUMBER, "E", "1", NULL, NULL},
     "tell what this epsilon allows"},
    {OPTION_MU, 0, false, "mu", NULL, {VALUE_NUMBER, "M", "0.268", NULL, NULL},
     "tell what a release with this mu costs"},
    {OPTION_RELEASES, 0, false, "releases", NULL,
     {VALUE_NUMBERS, "LIST", "0.1,0.2,0.3", NULL, NULL},
     "tell what several releases cost together, given the mu of each"},
    DELTA_OPTION,
    {0},
};

static const struct option verify_options[] = {
    ACCEPT_OPTION,
    {OPTION_KEY, 0, false, "key", NULL, {VALUE_FILE, "FILE", "curator.pub", NULL, NULL},
     "who must have signed: a public key, or a file of allowed signers as ssh-keygen has it"},
    {OPTION_IDENTITY, 0, false, "identity", NULL, {VALUE_TEXT, "WHO", "curator@example.org", NULL, NULL},
     "which of the allowed signers must have signed"},
    {0},
};

static const struct option plan_options[] = {
    {OPTION_USERS, 0, true, "users", NULL, {VALUE_COUNT, "N", "6040", NULL, NULL},
     "how many users, about"},
    {OPTION_ITEMS, 0, true, "items", NULL, {VALUE_COUNT, "N", "3883", NULL, NULL},
     "how many items the public catalogue has"},
    {OPTION_RATINGS_PER_USER, 0, true, "ratings-per-user", NULL,
     {VALUE_NUMBER, "R", "150", NULL, NULL}, "how many ratings a user has in the mean, about"},
    {OPTION_RATING_RANGE, 0, false, "rating-range", NULL, {VALUE_RANGE, "A:B", "1:5", NULL, NULL},
     "the scale of the ratings (default 1:5)"},
    {OPTION_EPSILON, 0, false, "epsilon", NULL, {VALUE_NUMBERS, "LIST", "0.5,1,2", NULL, NULL},
     "forecast for each of these (default 0.5,1,2,5,10,20)"},
    DELTA_OPTION,
    {OPTION_ITEM_FEATURES, 0, false, "item-features", NULL, {.kind = VALUE_NONE},
     "forecast for a release that uses public item features, such as genre and year"},
    {0},
};

static const struct option show_options[] = {
    {OPTION_REGISTRY, 0, false, "registry", NULL, {.kind = VALUE_NONE},
     "print an entry for the public registry of differential privacy deployments, in YAML"},
    {0},
};

static const struct option sign_options[] = {
    {OPTION_KEY, 0, true, "key", NULL, {VALUE_FILE, "KEY", "id_ed25519", NULL, NULL},
     "the key to sign with: a private key of OpenSSH, or a public one whose private key the agent holds"},
    ACCEPT_OPTION,
    {OPTION_REPLACE, 0, false, "replace", NULL, {.kind = VALUE_NONE},
     "replace RELEASE.sig when it is there already"},
    {0},
};

/* clang-format on */

#define SOME_RELEASE                                                                               \
    "dpmf synth -q --users 300 --items 80 --ratings 6000 --catalogue-out items.csv -o all.dpr; "   \
    "dpmf ledger init -q ledger; "                                                                 \
    "dpmf train -q all.dpr --epsilon 1 --rating-range 1:5 --catalogue items.csv --ledger ledger "  \
    "-o release.safetensors"

const struct verb privacy_verbs[] = {
    {
        .name = "privacy account",
        .summary = "convert between epsilon, delta and noise",
        .synopsis = "(--epsilon E | --mu M | --releases LIST) [--delta D] [options]",
        .paragraphs =
            {
                "A release is a sum over users to which no user adds more than 1, with Gaussian "
                "noise of standard deviation 1/mu, the noise multiplier, on every number. mu is "
                "its exact cost; the costs of several releases add by squares. Epsilon and delta "
                "follow from mu by the exact formula for Gaussian noise, delta = Phi(mu/2 - "
                "epsilon/mu) - exp(epsilon) Phi(-mu/2 - epsilon/mu), and mu from them.",
                "Every figure is rounded against the release: an epsilon up; the mu that an "
                "epsilon "
                "allows down, and its noise multiplier up; the mu that is spent up, and its noise "
                "multiplier down.",
                "Someone with two ids, or a household of two, is protected as a group: the mu of "
                "both together is twice that of one. The epsilon of groups of 2, 3 and 4 is "
                "printed too, and as a cross-check epsilon by way of Renyi divergence (zCDP), "
                "which is never smaller.",
                "With --json it prints one object with mu, noise_multiplier, epsilon, delta, "
                "epsilon_renyi and groups, a list of objects with ids and epsilon; an epsilon "
                "that no number bounds is null.",
            },
        .groups = {{"Options", account_options}},
        .operands = {{.kind = VALUE_NONE}, 0, 0},
        .examples =
            {
                {"How much noise epsilon 1 takes", "dpmf privacy account --epsilon 1", NULL},
                {"What three releases cost together",
                 "dpmf privacy account --releases 0.1,0.2,0.3 --delta 1e-6", NULL},
            },
        .run = command_privacy_account_run,
    },
    {
        .name = "privacy plan",
        .summary = "forecast the noise and accuracy of a private release",
        .synopsis = "--users N --items N --ratings-per-user R [--epsilon LIST] [options]",
        .paragraphs =
            {
                "Tells what to expect of a private release before any data is touched: for each "
                "epsilon the exact mu and noise multipliers, the number of factors and rounds that "
                "the mechanism will likely choose, and a forecast of the test error. Give sizes "
                "that are public, or assumed: a plan made from exact private sizes is itself "
                "something to keep.",
                "mu and the noise of the counts are exact, and that of the rounds for the number "
                "of rounds told. The errors are a forecast from assumed variances: ratings spread "
                "and items differ as they do in MovieLens 1M, to whose published errors the "
                "assumptions were fitted (they agree to 0.01), and popularity falls as it does "
                "there. On MovieLens 100K, which had no part in that, it is 0.02 to 0.03 too low. "
                "Ratings of another kind have other errors; what the forecast tells is how "
                "they change with epsilon, users and ratings, and whether factors will pay at all.",
                "To help decide, it prints what each epsilon means for one person: how often, at "
                "most, someone guesses right whether that person's ratings were used, who knows "
                "everything else and held both for equally likely. For proven releases that is "
                "Phi(mu/2); for conditional ones, if the sampler had converged, e^epsilon / (1 + "
                "e^epsilon). It ends with what others chose, for other units and purposes: facts, "
                "not advice. How well a release ranks is not forecast.",
                "A biases release spends all of its budget on item biases; a residual release, the "
                "default of dpmf train, spends a part on them and the rest on factors.",
                "With --json it prints an object a line with epsilon, delta, mu, noise_multiplier, "
                "guess_right, guess_right_two_ids, guess_right_conditional (chances), "
                "counts_noise, "
                " first_round_noise, last_round_noise (null without rounds), factors, "
                "rounds, published_numbers, rmse_biases, rmse_residual and rmse_is_forecast.",
            },
        .groups = {{"Options", plan_options}},
        .operands = {{.kind = VALUE_NONE}, 0, 0},
        .examples =
            {
                {"A set as large as MovieLens 1M",
                 "dpmf privacy plan --users 6040 --items 3883 --ratings-per-user 150", NULL},
                {"Whether half a million users get by with epsilon 0.1",
                 "dpmf privacy plan --users 500000 --items 20000 --ratings-per-user 80 "
                 "--epsilon 0.1,0.5 --delta 1e-7",
                 NULL},
            },
        .run = command_privacy_plan_run,
    },
    {
        .name = "privacy show",
        .summary = "print the privacy statement of a release",
        .synopsis = "RELEASE [--registry] [--json]",
        .paragraphs =
            {
                "Prints what a release promises to the people whose ratings it was made from: to "
                "whom, in which numbers and what they mean, what is not promised, what is taken as "
                "public, and for specialists each noisy sum that was published. A release that is "
                "damaged, or whose figures do not follow from the sums it lists, is refused. Of a "
                "release of the mechanism posterior it prints what would be promised, and on what "
                "condition.",
                "With --json it prints the statement itself, as it stands in the file (one that an "
                "older "
                "version wrote, in the words of this one): one object "
                "with kind, assumptions, unit, adjacency, mechanism, epsilon, delta, mu, "
                "accountant, releases, "
                "group, range, items and the rest.",
                "What the curator declared with dpmf train --about is printed apart, each line "
                "behind a |, and marked: dpmf has verified none of it.",
                "With --registry it prints an entry for the public registry of deployments "
                "(opendp/deployments-registry-data), in its YAML. What is declared is marked as "
                "such; what nobody declared is left for you to fill in. A release that is NOT PRIVATE "
                "has no entry.",
            },
        .groups = {{"Options", show_options}},
        .operands = {{VALUE_FILE, "RELEASE", "release.safetensors", ".safetensors", NULL}, 1, 1},
        .exit_note = "1 when the statement does not hold; 6 when --registry is refused.",
        .examples =
            {
                {"What a release promises", "dpmf privacy show release.safetensors", SOME_RELEASE},
                {"Its epsilon, for a script",
                 "dpmf privacy show release.safetensors --json | grep -o '\"epsilon\":[0-9.]*' | "
                 "head -n 1",
                 SOME_RELEASE},
            },
        .run = command_privacy_show_run,
    },
    {
        .name = "privacy sign",
        .summary = "sign a release with a key of OpenSSH",
        .synopsis = "RELEASE --key KEY [--accept KIND] [--replace] [--json]",
        .paragraphs =
            {
                "Writes RELEASE.sig, a detached signature over the whole file, its statement and "
                "the curator's declaration included, for the namespace dpmf-release. What does not "
                "pass dpmf privacy verify, for whatever reason, is not signed; --accept is the "
                "same "
                "here and there.",
                "ssh-keygen -Y sign does the work, so keys, agents, passphrases and hardware keys "
                "are those that people have. Whoever has the public key checks it with dpmf "
                "privacy verify --key, or with ssh-keygen -Y verify alone.",
                "With --json it prints one object with file, signature and namespace.",
            },
        .groups = {{"Options", sign_options}},
        .operands = {{VALUE_FILE, "RELEASE", "release.safetensors", ".safetensors", NULL}, 1, 1},
        .exit_note =
            "1 when the release does not hold or ssh-keygen did not sign, and 4 when there "
            "is no ssh-keygen, or a signature already.",
        .examples = {{"Sign what was made", "dpmf privacy sign release.safetensors --key curator",
                      SOME_RELEASE "; ssh-keygen -q -t ed25519 -N '' -f curator"}},
        .run = command_privacy_sign_run,
    },
    {
        .name = "privacy verify",
        .summary = "check a release against its privacy statement",
        .synopsis = "RELEASE [--accept KIND] [--key FILE [--identity WHO]] [--json]",
        .paragraphs =
            {
                "Recomputes from the file alone everything that follows from it: that it holds "
                "what "
                "a release holds and nothing else, that its digest fits, that its statement is in "
                "the words of dpmf, that every number published had a draw of noise of its own, "
                "that epsilon and every other figure follow from the sums listed, and that those "
                "can have made the items and factors that are there. A release stamped NOT PRIVATE "
                "does not pass. One of the mechanism posterior lists no sums: its bounds are "
                "checked instead.",
                "It says of which kind the release is: proven; conditional, when what it promises "
                "holds only if a sampler had converged; partial, when it is proven given something "
                "that dpmf cannot check, such as a catalogue made from the ratings, or a delta or "
                "an epsilon that was accepted by a switch; not private. Only what is proven "
                "passes, unless --accept names another kind. What the release assumes is listed "
                "either way.",
                "It proves neither who made the file nor that noise was added: whoever makes a "
                "false release with sound arithmetic passes. A detached signature of someone you "
                "trust is for that: with --key, RELEASE.sig must be a signature of the file by "
                "that "
                "public key or, of a file of allowed signers, by the one that --identity names. "
                "ssh-keygen -Y verify is run for it, before anything else.",
                "With --json it prints one object with verified, holds, a list of what was found "
                "to hold, fault, the first thing that was not, kind, and assumptions, a list of "
                "names: convergence, catalogue, delta, epsilon.",
            },
        .groups = {{"Options", verify_options}},
        .operands = {{VALUE_FILE, "RELEASE", "release.safetensors", ".safetensors", NULL}, 1, 1},
        .exit_note =
            "1 when something does not fit or the release is not proven, and 3 when the file is no "
            "release at all.",
        .examples = {{"Before relying on a release", "dpmf privacy verify release.safetensors",
                      SOME_RELEASE},
                     {"That its curator has signed it",
                      "dpmf privacy verify release.safetensors --key curator.pub",
                      SOME_RELEASE "; ssh-keygen -q -t ed25519 -N '' -f curator; "
                                   "dpmf privacy sign -q release.safetensors --key curator"}},
        .run = command_privacy_verify_run,
    },
    {0},
};

/* Reached only when options stand before the command. */
int command_privacy_run(struct invocation *invocation) {
    char hint[128];
    snprintf(hint, sizeof hint, "for example: dpmf privacy %s --help", invocation->operands[0]);
    return terminal_error_print(STATUS_USAGE, hint, "privacy needs its command before any option");
}
