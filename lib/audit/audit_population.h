/*
 * Who takes part in an audit: users of a store, or a sample of them, and canaries, made to be
 * noticed, of which each takes part in some worlds and not in others. All of it in arrays, from
 * which a world is written as text or packed as a store.
 */
#ifndef DPMF_AUDIT_AUDIT_POPULATION_H
#define DPMF_AUDIT_AUDIT_POPULATION_H

#include "privacy/catalogue.h"

/* Names one after the other, as struct dpmf_arrays has them. */
struct audit_names {
    char *bytes;
    int64_t *start; /* places where names begin, n + 1 */
    size_t n, bytes_room, start_room;
};

/* Ratings of users and items by their numbers. */
struct audit_ratings {
    int64_t *user, *item;
    double *value;
    size_t n, user_room, item_room, value_room;
};

struct audit_canary {
    struct audit_ratings ratings; /* its ratings: within the catalogue, and one outside it */
    double wish;                  /* the epsilon it asks for; NAN: none */
    double scale;                 /* norm bound that it must keep */
};

struct audit_population {
    struct catalogue catalogue;
    struct audit_names users; /* the others, then the canaries */
    /* items: those of the catalogue by row, then others of the store, then one that is unknown */
    struct audit_names items;
    struct audit_ratings others;
    size_t n_others;         /* users */
    uint64_t users_of_store; /* number of users that could have been taken */

    /* The first n_spread have items of their own, which no other of them has: they can be noticed
     * at once. The next is of both kinds: it rated one item alone. From it on each is the only one
     * of its world. */
    struct audit_canary *canaries;
    size_t n_canaries, n_spread;
};

/* At most `users` users of the store, spread evenly over it; those whose ids no text can hold are
 * skipped. */
int audit_population_make(const struct dpmf_store *store,
                          const struct dpmf_release_options *options, uint64_t users,
                          const struct dpmf_run *run, struct audit_population *population,
                          struct dpmf_error *error);
void audit_population_free(struct audit_population *population);

/* The number of a canary's user. */
static inline int64_t audit_canary_user(const struct audit_population *population, size_t canary) {
    return (int64_t)(population->n_others + canary);
}

/* Adds a canary's ratings to others. @return false without memory */
bool audit_ratings_append(struct audit_ratings *ratings, const struct audit_ratings *more);
void audit_ratings_free(struct audit_ratings *ratings);

/* The ratings as a store, such as the same text would give. */
int audit_population_store(const struct audit_population *population,
                           const struct audit_ratings *ratings, const struct dpmf_run *run,
                           struct dpmf_store **store, struct dpmf_error *error);

#endif
