/*
 * The privacy statement of a release: exactly what was proven, for the file (JSON) and for people
 * (text), and the check of its arithmetic. It depends on the private data only through noisy sums
 * that it lists. The fields here are a whitelist: nothing else is in a release.
 */
#ifndef DPMF_STATEMENT_STATEMENT_H
#define DPMF_STATEMENT_STATEMENT_H

#include "dpmf.h"
#include "numerics/exact_arithmetic.h"
#include "statement/about.h"
#include "statement/cohort.h"

enum {
    STATEMENT_RELEASES_MAX = 256,
    STATEMENT_ID_BYTES = 16,
    STATEMENT_OLDER_WORDS = 2, /* ways in which older statements speak of queries */
    STATEMENT_BITS_MAX = 24,   /* most bits of the grid */
    STATEMENT_GROUPS = 3,      /* groups of 2, 3 and 4 ids */
    STATEMENT_VERSION_MAX = 23,
    STATEMENT_DELTAS = 4, /* number of further deltas at which epsilon is given */
};

/* One noisy sum: every coordinate has round(N(0, sigma^2)) added, in units of 2^-bits of the norm
 * bound. */
struct statement_release {
    char name[24];        /* "counts and biases", "round 3" */
    uint64_t coordinates; /* number of published numbers, which follows from public sizes alone */
    uint64_t sigma;       /* whole grid units */
    uint32_t bits;        /* the grid: 2^-bits, so mu = 2^bits / sigma */
    uint64_t draws;       /* draws of noise: must equal coordinates */
};

/* The public parameters of a conditional mechanism. posterior_rule.h says what each is. */
struct statement_posterior {
    uint32_t max_ratings; /* tau */
    uint32_t factors, rounds;
    double kappa, rho;
};

/* The build of the library that made a release; all "" where it is not recorded. */
struct statement_build {
    char commit[80], compiler[48], sources[65];
};

/* Items that public features placed in a release that was there: statement_extension.h. */
struct statement_extension {
    uint64_t items;                        /* new items, after those of `items`; 0: no extension */
    uint8_t parent_id[STATEMENT_ID_BYTES]; /* id of the release that was extended */
    char parent_digest[17];                /* its digest */
    char version[STATEMENT_VERSION_MAX + 1]; /* version of the library that extended it */
};

/* How events came out of ratings. */
enum statement_liked {
    STATEMENT_LIKED_NOT,     /* not made of ratings */
    STATEMENT_LIKED_FROM,    /* every rating of at least a threshold is one */
    STATEMENT_LIKED_ANY,     /* every rating is one */
    STATEMENT_LIKED_SEVERAL, /* ratings of several inputs, each with its own threshold */
};

/* What follows from the releases, each figure rounded up: for the file and for people. Of a
 * conditional statement mu, exact and renyi are 0, and the last four count. */
struct statement_figures {
    double mu, exact, renyi; /* mu of all rounds; epsilon at the statement's delta, both ways */
    double group[STATEMENT_GROUPS];         /* epsilon of 2, 3 and 4 ids together */
    double at_delta[STATEMENT_DELTAS];      /* epsilon at each of statement_deltas */
    double release[STATEMENT_RELEASES_MAX]; /* mu of each noisy sum */
    double loss_bound, loss_scale;          /* B, and a = epsilon / B */
    double replaced, added; /* epsilon of one rating; the second is 0 where there is none */
};

struct statement {
    uint32_t format;                /* format it was read in; 0: this version's */
    uint8_t id[STATEMENT_ID_BYTES]; /* random id */
    const char *mechanism;          /* see mechanism_names.h */
    uint32_t rule_version;          /* version of the mechanism's public rule; 0: the first */
    double epsilon,
        delta; /* claimed; epsilon(releases, delta) is at most this. Conditional: delta 0 */
    double range_min, range_max; /* declared range of ratings; 0 and 1 for events */
    uint64_t items;              /* in the public catalogue, without those of an extension */
    uint64_t declared_users;     /* number of users that the curator declares; 0: not declared */
    bool has_features;           /* whether public item features were used */
    /* a list of users with smaller epsilons was applied; it is taken as public */
    bool is_personalised;
    /* whether a list with anyone else in it was refused, as for 0.1.0's conditional releases */
    bool wishes_show_members;
    bool catalogue_from_ratings; /* the items are those of the ratings: they show what was rated */
    /* a query, a view or functions of a database gave the ratings, and may relate people
     * to each other */
    bool is_queried;
    int query_words;            /* 0: those of today; 1, 2: of older statements, statement_json.c */
    enum statement_liked liked; /* how ratings became events, if the release is of events */
    double like;                /* threshold of STATEMENT_LIKED_FROM; else 0 */
    bool is_research; /* made for research: metrics of private data were shown; not releasable */
    bool is_insecure; /* whether the noise came from a seed: NOT PRIVATE */
    char
        version[STATEMENT_VERSION_MAX + 1]; /* version of the library that wrote it; "": this one */
    struct statement_build build;
    struct about about;                   /* declared by the curator */
    struct cohort cohort;                 /* users it is made of, by their first record; else 0 */
    struct statement_posterior posterior; /* rule of a conditional one; else 0 */
    struct statement_extension extension; /* where the release extends another; else 0 */
    size_t n_releases;                    /* number of noisy sums; 0 for a conditional release */
    struct statement_release releases[STATEMENT_RELEASES_MAX];
};

/* Whether what is claimed depends on the convergence of a sampler: the mechanism decides. */
bool statement_is_conditional(const struct statement *statement);

/* Whether it is about events, not about ratings: the mechanism decides. */
bool statement_is_of_events(const struct statement *statement);

/* mu of the listed releases together, rounded up. */
double statement_mu(const struct statement *statement);

/* Computes the figures from the releases listed. */
void statement_figures_make(const struct statement *statement, struct statement_figures *figures);

/* JSON text of the whole statement, also with the derived figures (mu, group figures for 2 .. 4
 * ids, the Renyi cross-check); free with free(). NULL when there is no memory. */
char *statement_to_json(const struct statement *statement);

/* Reads it back, believing nothing: it must be, byte by byte, what statement_to_json would write,
 * so that there is nothing in it that is not a field here. `mechanism` points to a constant of the
 * library.
 * @return 0, or DPMF_ERR_MODEL_CORRUPT */
int statement_from_json(const char *json, size_t n, struct statement *statement,
                        struct dpmf_error *error);

/* The same, with the derived figures as they stand there, for statement_figures_check. */
int statement_from_json_figures(const char *json, size_t n, struct statement *statement,
                                struct statement_figures *figures, struct dpmf_error *error);

/* Whether a mechanism has a noisy round of this name. */
bool statement_round_is_known(const char *name);

/* Recomputes the arithmetic. @return 0, or DPMF_ERR_PRIVACY_NOT_VERIFIED with what does not fit */
int statement_check(const struct statement *statement, struct dpmf_error *error);

/* Whether figures that were read are those that the releases give, and none of them too small. */
int statement_figures_check(const struct statement *statement,
                            const struct statement_figures *figures, struct dpmf_error *error);

/* @return how many of the k columns in a release of `residual` the rounds measured, by their size;
 * 0 where none fits. The statement lists more than one release. */
size_t statement_learned_columns(const struct statement *statement, uint64_t items, uint32_t k);

/* Whether the releases can have made a model of `items` items and `k` factors, as far as the
 * mechanism decides it. @return as above */
int statement_shape_check(const struct statement *statement, uint64_t items, uint32_t k,
                          struct dpmf_error *error);

/* The library's own name of a mechanism, or NULL when there is none of that name. */
const char *statement_mechanism_find(const char *name);

/* For people: plain sentences, lines of at most 80 columns; free with free(). NULL: no memory. */
char *statement_to_text(const struct statement *statement);

/* An entry for the public registry of deployments, YAML; free with free(). NULL: no memory, or it
 * is NOT PRIVATE, and there is nothing to register. */
char *statement_to_registry(const struct statement *statement);

#endif
