/*
 * What several verbs share: options, and shell lines that prepare their examples. A verb names them
 * in the table of its own, programs/command_<verb>.c; an option of one verb alone is written there.
 */
#ifndef DPMF_PROGRAMS_SHARED_OPTIONS_H
#define DPMF_PROGRAMS_SHARED_OPTIONS_H

#include "cli/command.h"

/* ---- whole groups ---------------------------------------------------------------------------- */

extern const struct option input_options[];   /* how ratings are read */
extern const struct option cluster_options[]; /* options of verbs that mpirun may start */

/* The options of every verb; the second list is for verbs with a --threads of their own. */
extern const struct option_group every_verb_group;
extern const struct option_group every_verb_group_without_threads;

/* ---- choices and defaults -------------------------------------------------------------------- */

choice_list goal_choices;      /* what a model is for */
choice_list mechanism_choices; /* "auto", and the library's mechanisms */
choice_list solver_choices;    /* the library's solvers */
choice_list accept_choices;    /* kinds of releases that are not proven */
choice_list order_choices;     /* what lists are ordered by */

default_print private_delta_default; /* delta of releases and audits */
default_print top_default;           /* how many items are listed */
default_print taste_default;         /* the dial of lists */

default_print page_name_default; /* the title of a page */

enum { TOP_DEFAULT = 10 };
#define PAGE_NAME_DEFAULT "Recommendations, computed at home"

/* The i-th of a list of names ended by NULL, none of which needs a description. */
const char *choice_listed(const char *const *names, size_t i, const char **description);

/* ---- single options -------------------------------------------------------------------------- */

/* One option, a few lines: the formatter would give each of its fields a line of its own. */
/* clang-format off */

#define STORE_OUTPUT_OPTION                                                                        \
    {.id = OPTION_OUTPUT, .letter = 'o', .required = true, .name = "output",                       \
     .value = {VALUE_OUTPUT, "FILE.dpr", "ratings.dpr", ".dpr", NULL},                             \
     .help = "the ratings store to write; it appears whole or not at all, and only you can "       \
             "read it"}

#define REPLACE_OPTION                                                                             \
    {.id = OPTION_REPLACE, .name = "replace", .value = {.kind = VALUE_NONE},                       \
     .help = "replace a file that exists already, whatever it is; without this, an output "        \
             "replaces only what this command writes, and never a release"}

#define SEED_OPTION                                                                                \
    {.id = OPTION_SEED, .name = "seed", .value = {VALUE_COUNT, "N", "1", NULL, NULL},              \
     .help = "seed of the random choices; the same seed gives the same files"}

#define KERNELS_OPTION                                                                             \
    {.id = OPTION_KERNELS, .name = "kernels", .value = {VALUE_TEXT, "NAME", "avx2", NULL, NULL},   \
     .help = "use these inner loops instead of the best that the machine has; dpmf doctor "        \
             "lists them"}

#define LANES_OPTION                                                                               \
    {.id = OPTION_LANES, .name = "lanes", .value = {VALUE_COUNT, "N", "4", NULL, NULL},            \
     .help = "let the inner loops take N ratings of one item at once, 1 to 8 (default: chosen "    \
             "from the caches; with --deterministic, from the factors and the kernels alone)"}

#define TOP_OPTION(what)                                                                           \
    {.id = OPTION_TOP, .letter = 'n', .name = "top",                                               \
     .value = {VALUE_COUNT, "N", "10", NULL, NULL}, .show_default = top_default, .help = what}

#define ORDER_OPTIONS                                                                              \
    {.id = OPTION_TASTE, .name = "taste", .value = {VALUE_NUMBER, "T", "0.8", NULL, NULL},         \
     .show_default = taste_default,                                                                \
     .help = "the dial from 0, what everyone likes, to 1, the user's own taste (default "          \
             "{default})"},                                                                        \
    {.id = OPTION_BY, .name = "by", .value = {VALUE_CHOICE, "WHAT", "rating", NULL,                \
                                              order_choices},                                      \
     .help = "order items by score, the default, or by the predicted rating alone"}

#define HISTORY_OPTION(what)                                                                       \
    {.id = OPTION_HISTORY, .name = "history",                                                      \
     .value = {VALUE_FILE, "RATINGS", "train.dpr", NULL, NULL}, .help = what}

#define CATALOGUE_OPTION                                                                           \
    {.id = OPTION_CATALOGUE, .name = "catalogue", .alias = "catalog",                              \
     .value = {VALUE_FILE, "FILE", "items.csv", NULL, NULL},                                       \
     .help = "show titles from this table of items and titles: CSV, or MovieLens movies.dat or "   \
             "u.item; what is not UTF-8 is read as ISO-8859-1"}

/* For commands that use a model: model_use_open adds them. */
#define FEATURES_OPTIONS                                                                           \
    {.id = OPTION_ITEM_FEATURES, .name = "item-features",                                          \
     .value = {VALUE_FILE, "FILE", "features.csv", NULL, NULL},                                    \
     .help = "place items without ratings in the model by what is known about them: a table of "   \
             "these and of items that it knows"},                                                  \
    {.id = OPTION_USER_FEATURES, .name = "user-features",                                          \
     .value = {VALUE_FILE, "FILE", "people.csv", NULL, NULL},                                      \
     .help = "the same for users"}

#define MINE_OPTION(what)                                                                          \
    {.id = OPTION_MINE, .name = "ratings", .value = {VALUE_FILE, "MINE", "mine.csv", NULL, NULL},  \
     .help = what}

#define PAGE_OPTIONS                                                                               \
    CATALOGUE_OPTION,                                                                              \
    {.id = OPTION_NAME, .name = "name",                                                            \
     .value = {VALUE_TEXT, "TEXT", "\"Films for us\"", NULL, NULL},                                \
     .show_default = page_name_default,                                                            \
     .help = "the page's title (default \"{default}\")"},                                          \
    {.id = OPTION_COLOUR, .name = "colour", .alias = "color",                                      \
     .value = {VALUE_TEXT, "#RRGGBB", "'#8a1538'", NULL, NULL},                                    \
     .help = "the main colour of the page; made darker or lighter where text would be hard to "    \
             "read"},                                                                              \
    {.id = OPTION_LOGO, .name = "logo", .value = {VALUE_FILE, "FILE", "logo.svg", NULL, NULL},     \
     .help = "a picture beside the title, put into the page: PNG, JPEG, WebP, GIF or SVG of at "   \
             "most 1 MiB"},                                                                        \
    {.id = OPTION_COVERS, .name = "covers",                                                        \
     .value = {VALUE_DIRECTORY, "DIR", "covers", NULL, NULL},                                      \
     .help = "pictures of items, put into the page: DIR/ID.jpg and the like, each of at most "     \
             "256 KiB; items without one have none"},                                              \
    {.id = OPTION_LINKS, .name = "links", .value = {VALUE_FILE, "FILE", "links.csv", NULL, NULL},  \
     .help = "links at the end of the page, at most 20: lines of a text and an address"}

#define ACCEPT_OPTION                                                                              \
    {.id = OPTION_ACCEPT, .name = "accept",                                                        \
     .value = {VALUE_CHOICE, "KIND", "partial", NULL, accept_choices},                             \
     .help = "take a release that is conditional, partial or both, for those who accept what "     \
             "it assumes"}

#define ACCOUNT_DELTA_OPTION                                                                       \
    {.id = OPTION_DELTA, .name = "delta", .value = {VALUE_NUMBER, "D", "1e-6", NULL, NULL},        \
     .show_default = private_delta_default,                                                        \
     .help = "the chance that is left out of the promise (default {default}); it must be well "    \
             "below one over the number of users"}

/* clang-format on */

/* ---- what examples begin with: shell lines that are run in an empty directory ---------------- */

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

/* As small as a release can be. */
#define SMALL_RELEASE                                                                              \
    "dpmf synth -q --users 300 --items 80 --ratings 6000 --catalogue-out items.csv -o all.dpr; "   \
    "dpmf ledger init -q ledger; "                                                                 \
    "dpmf train -q all.dpr --epsilon 1 --rating-range 1:5 --catalogue items.csv --ledger ledger "  \
    "-o release.safetensors"

/* Features of the items of SMALL_RELEASE, and of two new ones. */
#define SOME_FEATURES                                                                              \
    "awk -F, 'NR == 1 { print \"item,kind\"; next } { print $1 \",\" NR % 3 }' items.csv > "       \
    "features.csv; printf 'new1,1\\nnew2,2\\n' >> features.csv"

/* ---- paragraphs of several manuals ----------------------------------------------------------- */

#define MINE_PARAGRAPH                                                                             \
    "MINE is standard input when it is -, and a file when there is one of that name: one "         \
    "person's ratings in any format that dpmf import knows; a table of items and ratings "         \
    "without a column of users, of two columns or with a header that names item and rating; or "   \
    "a file that Letterboxd, IMDb, Goodreads, StoryGraph, Trakt, Netflix, Spotify or Last.fm "     \
    "exported, which is recognised, matched with the titles of --catalogue, and reported (-v "     \
    "lists what was not matched for sure; docs/titles.md). Anything else that contains a colon "   \
    "is a list of pairs ITEM:RATING, separated by commas; if a pair has several colons, the "      \
    "last one separates the two. For a model of events, a pair is ITEM:COUNT, or an item alone. "  \
    "Ratings of items that the model does not know are left out, "                                 \
    "and their number is reported. The ratings go nowhere: everything is computed here."

#define SCORE_PARAGRAPH                                                                            \
    "The score of an item is the sum of three parts: how much everyone likes it, from how many "   \
    "people had it and how they rated it; how the user rates, which is the same for all items; "   \
    "and the user's taste, from what they have chosen and rated, times twice --taste. "            \
    "docs/goals.md defines it. A model made by 0.1.0 does not say how many people had an "         \
    "item: its lists are ordered by the predicted rating, and a note says so. In a model that "    \
    "ranks, what everyone likes is the score of the average user."

#endif
