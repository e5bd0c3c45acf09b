/*
 * Someone's own ratings, as --ratings MINE gives them: ratings in any format, of one
 * person, with or without a column that names that person; a store; standard input; or
 * pairs on the command line.
 */
#ifndef DPMF_PROGRAMS_OWN_RATINGS_H
#define DPMF_PROGRAMS_OWN_RATINGS_H

#include "cli/command.h"
#include "shared/model_use.h"

struct own_ratings {
    const struct dpmf_own_rating *ratings; /* the ratings, each item once */
    size_t n;                              /* number of ratings */
    uint64_t unknown;            /* ratings left out: the model does not know their items */
    const char *name;            /* what notes call the ratings of --ratings */
    struct dpmf_own *read;       /* the ratings of --ratings; NULL: those of a history */
    struct dpmf_own_info info;   /* what was found in --ratings */
    struct dpmf_history history; /* the ratings of a history */
};

/* Reads what --ratings names, as dpmf_own_read does; a history of another service is matched by the
 * titles of the catalogue. There may be no ratings in the end.
 * @return an exit status, after saying what is wrong */
int own_ratings_read(struct invocation *invocation, const struct dpmf_model *model,
                     const struct catalogue *catalogue, struct own_ratings *own);

/* Sets the bits of what the person has had, rated or not. */
void own_ratings_mark(const struct own_ratings *own, uint8_t *bitmap);

/* Takes what a history holds of a user, which is empty afterwards. */
void own_ratings_from_history(struct own_ratings *own, struct dpmf_history *history);

/* Reports what was left out, replaced or unusual, and when nothing is left. */
void own_ratings_note(struct invocation *invocation, const struct dpmf_model *model,
                      const struct catalogue *catalogue, const struct own_ratings *own);

void own_ratings_free(struct own_ratings *own);

#endif
