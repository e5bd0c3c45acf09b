/*
 * The public side of a private run: the items that exist, in an order that has nothing to do with
 * the ratings, and what is publicly known about them. Also the wishes of users for a stronger
 * protection of their own.
 */
#ifndef DPMF_PRIVACY_CATALOGUE_H
#define DPMF_PRIVACY_CATALOGUE_H

#include "model/factors.h"
#include "numerics/exact_arithmetic.h"
#include "store/id_form.h"

struct dpmf_store;

struct catalogue {
    struct factor_ids ids; /* in the order of the file, indexed */
    size_t n_features;     /* columns of `features`; 0: none */
    /* Ids.n x n_features, each column of mean 0 and variance 1 over the catalogue */
    double *features;
    bool *described;              /* by item: whether the file of features has it; or NULL */
    struct factor_ids categories; /* indexed texts that became columns of `features` */
    struct factor_ids numbers;    /* indexed whole numbers of columns of numbers, as texts */
    bool from_ratings;
};

/* Ids of a catalogue file (any table with an item column: see table_read_public). Refused are a
 * ratings store, an id that is there twice, and what public_table_check_catalogue refuses. */
int catalogue_read(const char *path, const struct dpmf_run *run, struct catalogue *catalogue,
                   struct dpmf_error *error);

/* Takes the items of the ratings, in the order of their ids' bytes. They are not public, and the
 * statement says so. */
int catalogue_from_store(const struct dpmf_store *store, struct catalogue *catalogue,
                         struct dpmf_error *error);

/* One or the other: from the file `path`, or, when that is NULL, from the ratings. */
int catalogue_take(const char *path, const struct dpmf_store *store, const struct dpmf_run *run,
                   struct catalogue *catalogue, struct dpmf_error *error);

/* Adds public features from a table, in place of those there were: a column named as items are, and
 * any others (docs/formats/catalogue.md). A column of numbers becomes 6 smooth bumps over its
 * range, a column of texts one indicator for each category ("a|b|c" is three), rare ones left out;
 * titles and names are left out. MovieLens' movies.dat and movies.csv are understood as they are.
 * Items that the file does not know get the mean. */
int catalogue_read_features(struct catalogue *catalogue, const char *path,
                            const struct dpmf_run *run, struct dpmf_error *error);

/* The same for an ordinary run, which publishes nothing: the ids are those of the table, in its
 * order; every column is used, whatever its name; and the table may be about users. A table that
 * has users and items is refused. Nothing is to be freed on failure. */
int features_read(const char *path, bool of_users, const struct dpmf_run *run,
                  struct catalogue *catalogue, struct dpmf_error *error);

/* Whether every rated item is in the catalogue and every item of it has been rated, but for as many
 * as look like no items: then it was most likely made from the ratings, a header that was sorted
 * into it included, and the curator is warned. */
bool catalogue_is_rated(const struct catalogue *catalogue, const struct dpmf_store *store);

void catalogue_free(struct catalogue *catalogue);

/* A user in the list of wishes: the ids that are meant, spelled as the ratings would have them. */
struct wish {
    uint64_t id[ID_SPELLINGS]; /* places in the ids of all wishes */
    size_t n;
};

/* (user, epsilon) wishes, by user id; of two wishes for one id the smaller epsilon. */
struct user_wishes {
    struct factor_ids ids; /* indexed */
    double *epsilon;       /* by id: at least 0, finite */
    struct wish *wishes;
    uint64_t n;       /* wishes: users in the list */
    uint64_t n_twice; /* rows of a user whom an earlier row names */
};

/* `form` is the form of the ratings' ids: an id that does not fit it is refused, in words that name
 * no one. */
int user_wishes_read(const char *path, const struct id_form *form, const struct dpmf_run *run,
                     struct user_wishes *wishes, struct dpmf_error *error);

/* The number of wishes that match nobody, given the number of users in the ratings for each id. */
uint64_t user_wishes_unmatched(const struct user_wishes *wishes, const uint64_t *users_of_id);

/* The number of wishes above this epsilon. */
uint64_t user_wishes_above(const struct user_wishes *wishes, double epsilon);

void user_wishes_free(struct user_wishes *wishes);

#endif
