/*
 * The shape of the command line: what a verb, an option, an operand and an example are. Each verb's
 * table is in its own file, verbs/command_<verb>.c; verbs/command_table.c lists the verbs. The
 * parser, the help, the man pages and the completion scripts are all made from the tables, so that
 * nothing about an option is written twice.
 */
#ifndef DPMF_PROGRAMS_COMMAND_H
#define DPMF_PROGRAMS_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/terminal.h"
#include "dpmf.h"

/* What the process ends with: name, number, meaning in the manual. A signal shows as 128 + its
 * number in shells; programs/cli/signals.c ends with SIGTERM itself. */
#define EXIT_STATUSES(X)                                                                           \
    X(DONE, 0, "done")                                                                             \
    X(NO, 1, "the answer is no: there is nothing to recommend, or a release is not what it says")  \
    X(USAGE, 2, "the command line is wrong")                                                       \
    X(INPUT, 3, "an input is damaged, not understood, or holds something not allowed")             \
    X(IO, 4, "a file cannot be read or written, or there is no memory for it")                     \
    X(DIVERGED, 5, "training diverged")                                                            \
    X(REFUSED, 6, "refused, because it would break the promise of privacy")                        \
    X(BUG, 70, "a bug in dpmf: please report it")                                                  \
    X(INTERRUPTED, 130, "ended by SIGINT")                                                         \
    X(TERMINATED, 143, "ended by SIGTERM")

enum exit_status {
#define EXIT_STATUS(name, number, meaning) STATUS_##name = (number),
    EXIT_STATUSES(EXIT_STATUS)
#undef EXIT_STATUS
};

struct status_note {
    int status;
    const char *meaning;
};

extern const struct status_note status_notes[]; /* ended by a NULL meaning */

/* ---- values: what an option's argument or an operand may be ---------------------------------- */

enum value_kind {
    VALUE_NONE, /* a flag */
    VALUE_TEXT,
    VALUE_TEXTS,  /* the same, of an option that may be given several times */
    VALUE_FILE,   /* a file to be read */
    VALUE_OUTPUT, /* a file to be written */
    VALUE_DIRECTORY,
    VALUE_CHOICE,
    VALUE_SEPARATOR, /* a character, or the name of a blank one */
    VALUE_COUNT,     /* a whole number */
    VALUE_COUNTS,    /* whole numbers with commas between them */
    VALUE_NUMBER,    /* any finite number */
    VALUE_REAL,      /* also nan and inf, which the verb refuses for reasons of its own */
    VALUE_NUMBERS,   /* numbers with commas between them */
    VALUE_FRACTION,  /* a number from 0 to 1 */
    VALUE_SIZE,      /* bytes, as 2GiB */
    VALUE_RANGE,     /* A:B */
    VALUE_RESCALE,   /* A:B=C:D */
    VALUE_SCALE,     /* A:B or A:B:STEP */
    VALUE_INTERVAL,  /* epochs, blocks or time, as 2, 50blocks or 10min */
};

/* @return the i-th choice or NULL past the last; `description`, if not NULL, receives a line about
 *         it, or NULL where there is none to give */
typedef const char *choice_list(size_t i, const char **description);

struct value {
    enum value_kind kind;
    const char *name;     /* name in the help: FILE.dpr, N, A:B */
    const char *sample;   /* a value that works, for the line that shows how to fix an error */
    const char *suffix;   /* ending of the files that completion offers; NULL: any file */
    choice_list *choices; /* choices of a VALUE_CHOICE */
};

/* ---- options --------------------------------------------------------------------------------- */

enum option_id {
    OPTION_HELP,
    OPTION_JSON,
    OPTION_QUIET,
    OPTION_VERBOSE,
    OPTION_PROGRESS,
    OPTION_THREADS,
    OPTION_MEMORY,
    OPTION_OUTPUT,
    OPTION_FORMAT,
    OPTION_COLUMNS,
    OPTION_USER_COLUMN,
    OPTION_ITEM_COLUMN,
    OPTION_RATING_COLUMN,
    OPTION_TIME_COLUMN,
    OPTION_SEPARATOR,
    OPTION_RESCALE,
    OPTION_RATING_RANGE,
    OPTION_ON_ERROR,
    OPTION_EVENTS,
    OPTION_LIKE,
    OPTION_USERS,
    OPTION_ITEMS,
    OPTION_RATINGS,
    OPTION_RANK,
    OPTION_NOISE,
    OPTION_SCALE,
    OPTION_TOP_500,
    OPTION_AVERAGE_RATING,
    OPTION_ITEM_SPREAD,
    OPTION_TASTE_SPREAD,
    OPTION_TIMESTAMPS,
    OPTION_SEED,
    OPTION_TRUTH,
    OPTION_CATALOGUE_OUT,
    OPTION_TRAIN,
    OPTION_TEST,
    OPTION_TEST_FRACTION,
    OPTION_BY,
    OPTION_PROBE,
    OPTION_PLOT,
    OPTION_CSV,
    OPTION_HISTORY,
    OPTION_RANKING,
    OPTION_CANDIDATES,
    OPTION_GOAL,
    OPTION_UNOBSERVED,
    OPTION_COUNT_WEIGHT,
    OPTION_ROW_STEPS,
    OPTION_ROW_BLOCK,
    OPTION_TASTE,
    OPTION_TOP,
    OPTION_USER,
    OPTION_ALL_USERS,
    OPTION_ITEM,
    OPTION_INCLUDE,
    OPTION_EXCLUDE,
    OPTION_CATALOGUE,
    OPTION_MINE,
    OPTION_FACTORS,
    OPTION_EPOCHS,
    OPTION_LEARNING_RATE,
    OPTION_DECAY,
    OPTION_REG,
    OPTION_VALID,
    OPTION_PATIENCE,
    OPTION_DETERMINISTIC,
    OPTION_HOGWILD,
    OPTION_KERNELS,
    OPTION_LANES,
    OPTION_TIERS,
    OPTION_SNAPSHOT,
    OPTION_SNAPSHOT_EVERY,
    OPTION_RESUME,
    OPTION_CONTINUE,
    OPTION_PREFETCH,
    OPTION_FACTOR_LIST,
    OPTION_THREAD_LIST,
    OPTION_SECONDS,
    OPTION_SOLVER,
    OPTION_SGLD_NOISE,
    OPTION_STEP,
    OPTION_BURN_IN,
    OPTION_NO_ADAPT,
    OPTION_AVERAGE,
    OPTION_SAMPLES,
    OPTION_CHAINS,
    OPTION_TRACE,
    OPTION_INTERVALS,
    OPTION_LEVEL,
    OPTION_TRIALS,
    OPTION_MINUTES,
    OPTION_VALID_FRACTION,
    OPTION_EPSILON,
    OPTION_DELTA,
    OPTION_MU,
    OPTION_RELEASES,
    OPTION_RATINGS_PER_USER,
    OPTION_REGISTRY,
    OPTION_KEY,
    OPTION_IDENTITY,
    OPTION_ITEM_FEATURES,
    OPTION_USER_FEATURES,
    OPTION_MECHANISM,
    OPTION_CATALOGUE_FROM_RATINGS,
    OPTION_USER_PRIVACY,
    OPTION_USERS_SINCE,
    OPTION_USERS_BEFORE,
    OPTION_COMPLETE_HISTORIES,
    OPTION_ABOUT,
    OPTION_DECLARED_USERS,
    OPTION_POPULATION,
    OPTION_LEDGER,
    OPTION_LEDGER_BUDGET,
    OPTION_ACCEPT,
    OPTION_ACCEPT_DELTA,
    OPTION_ACCEPT_EPSILON,
    OPTION_RESEARCH,
    OPTION_INSECURE_NOISE_SEED,
    OPTION_MAX_RATINGS,
    OPTION_KAPPA,
    OPTION_RHO,
    OPTION_RUNS,
    OPTION_CONFIDENCE,
    OPTION_WEB,
    OPTION_NAME,
    OPTION_COLOUR,
    OPTION_LOGO,
    OPTION_COVERS,
    OPTION_LINKS,
    OPTION_EMBED,
    OPTION_PORT,
    OPTION_ADDRESS,
    OPTION_HOST,
    OPTION_TIMEOUT,
    OPTION_CONNECTIONS,
    OPTION_CLUSTER_TIMEOUT,
    OPTION_PARTS,
    OPTION_NPY,
    OPTION_LIBMF,
    OPTION_SQLITE,
    OPTION_PGVECTOR,
    OPTION_NOT_PRIVATE,
    OPTION_WITH_USERS,
    OPTION_REPLACE,
    OPTION_COSINE,
    OPTION_COUNT,
};

/* Prints the default of an option. */
typedef void default_print(FILE *out);

struct option {
    enum option_id id;
    char letter; /* 0: none */
    bool required;
    const char *name;  /* without the dashes; NULL ends a list */
    const char *alias; /* a second spelling, or NULL */
    struct value value;
    const char *help;            /* "{default}" in it is what show_default prints */
    default_print *show_default; /* from a _default() of the library, or a constant of the verb */
};

struct option_group {
    const char *title; /* NULL ends a list */
    const struct option *options;
};

/* ---- verbs ----------------------------------------------------------------------------------- */

struct operands {
    struct value value;
    size_t at_least, at_most; /* at_most SIZE_MAX: any number */
};

/* An example of the manual. It is also a test: `setup` prepares an empty directory for it. */
struct example {
    const char *shows;   /* NULL ends a list */
    const char *command; /* a shell command line */
    const char *setup;   /* shell commands, or NULL when nothing is needed */
};

struct invocation;

/* The lists of a verb end with an empty entry, which must still fit: dpmf-manpages checks it when
 * it is built. */
enum { VERB_GROUPS_MAX = 6, VERB_PARAGRAPHS_MAX = 12, VERB_EXAMPLES_MAX = 8 };

struct verb {
    const char *name;     /* name; two words for a part: "privacy account" */
    const char *summary;  /* one line, no full stop */
    const char *synopsis; /* what follows the name */
    const char *paragraphs[VERB_PARAGRAPHS_MAX + 1];
    struct option_group groups[VERB_GROUPS_MAX + 1]; /* groups of options besides the shared ones */
    bool has_own_threads;                            /* whether it has a --threads of its own */
    bool is_distributed; /* whether mpirun may start it, with processes that work together */
    struct operands operands;
    bool checks_operands;  /* whether the verb checks its operands itself, all but the first */
    const char *exit_note; /* what its exit statuses mean beyond the general list; may be NULL */
    struct example examples[VERB_EXAMPLES_MAX + 1];
    int (*run)(struct invocation *invocation); /* @return an exit status */
    const struct verb *const *parts; /* verbs that follow this one's name, ended by NULL; or NULL */
};

extern const struct verb *const verbs[]; /* in the order of the help; ended by NULL */

/* @return the verb of that name, or NULL */
const struct verb *verb_find(const char *name);

/* @return the part of a verb that is called by this word, or NULL */
const struct verb *verb_part_find(const struct verb *verb, const char *word);

/* @return the word that a verb is called by: of a part, the second */
const char *verb_word(const struct verb *verb);

/* The i-th of a list of verbs as a choice: its word and its summary. */
const char *verb_choice(const struct verb *const *list, size_t i, const char **description);

/* @return the i-th of all verbs, each followed by its parts, or NULL past the last */
const struct verb *verb_at(size_t i);

/* @return the i-th group of options of a verb, the shared one last, or NULL past it */
const struct option_group *verb_group(const struct verb *verb, size_t i);

/* What the general manual page says about the program as a whole. */
struct environment_note {
    const char *name; /* NULL ends a list */
    const char *meaning;
};

extern const char *const program_summary;
extern const char *const program_paragraphs[];
extern const struct environment_note environment_notes[];

/* ---- one call of a verb ---------------------------------------------------------------------- */

enum { INVOCATION_REPEATS_MAX = 32 };

struct invocation {
    const struct verb *verb;
    const char *value[OPTION_COUNT]; /* NULL: not given; "" for flags */
    /* Values of the verb's one option of VALUE_TEXTS */
    const char *repeats[INVOCATION_REPEATS_MAX];
    size_t n_repeats;
    const char **operands;
    size_t n_operands;
    struct terminal terminal;
    struct dpmf_run run;
    struct dpmf_cluster *cluster; /* NULL: this process is alone */
};

/* Parses the words after the verb, runs it, and ends its progress line.
 * @return an exit status */
int command_run(const struct verb *verb, int argc, char **argv);

/* @return whether an option was given */
bool command_has(const struct invocation *invocation, enum option_id id);

#endif
