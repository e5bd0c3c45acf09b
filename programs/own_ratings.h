/*
 * Someone's own ratings, as --ratings MINE gives them: ratings in any format, of one
 * person, with or without a column that names that person; a store; standard input; or
 * pairs on the command line.
 */
#ifndef DPMF_PROGRAMS_OWN_RATINGS_H
#define DPMF_PROGRAMS_OWN_RATINGS_H

#include "command.h"
#include "model_use.h"

enum { OWN_UNKNOWN_MAX = 64 };

struct own_ratings {
    struct dpmf_own_rating *ratings;
    size_t n, capacity;
    uint64_t unknown; /* number of ratings of items that the model does not know */
    char first_unknown[OWN_UNKNOWN_MAX]; /* the first such item, where it is known */
    uint64_t replaced;                   /* ratings of an item that is rated again further down */
    uint64_t skipped;                    /* bad records left out, with --on-error skip */
    uint64_t outside;                    /* ratings outside the model's scale */
    bool has_list;                       /* the file has a column of lists, as the page saves it */
    uint64_t listed;                     /* titles on such a list, kept or hidden and not rated */
    struct dpmf_diary *diary;            /* a history from another service; NULL: none */
};

/* Reads what --ratings names: - is standard input; a path that exists is a file; anything else with
 * a colon in it is pairs ITEM:RATING with commas between them, the last colon of each parting the
 * two. Of an item that is rated twice the last rating is kept, as in a store. There may be none in
 * the end. A file of another service is matched by the titles of the catalogue.
 * @return an exit status, after saying what is wrong */
int own_ratings_read(struct invocation *invocation, const struct dpmf_model *model,
                     const struct catalogue *catalogue, struct own_ratings *own);

/* Sets the bits of what the person has had, rated or not. */
void own_ratings_mark(const struct own_ratings *own, uint8_t *bitmap);

/* Takes what a history holds of a user, which is empty afterwards. */
void own_ratings_from_history(struct own_ratings *own, struct dpmf_history *history);

/* Says what was left out, replaced or odd, and that nothing is left where nothing is. */
void own_ratings_note(struct invocation *invocation, const struct dpmf_model *model,
                      const struct catalogue *catalogue, const struct own_ratings *own);

void own_ratings_free(struct own_ratings *own);

#endif
