/*
 * A person's own ratings as they come, made into what is fitted: those of items that the model
 * knows, an item once.
 */
#ifndef DPMF_RECOMMEND_KNOWN_RATINGS_H
#define DPMF_RECOMMEND_KNOWN_RATINGS_H

#include "recommend/model.h"

struct known_ratings {
    struct dpmf_own_rating *at;
    size_t *origin; /* place of each among those given */
    size_t n, capacity;
};

/* The last rating of an item given more than once counts, at the position of the first, as if they
 * had been given one after the other. @return 0, no memory, or what known_ratings_check finds in a
 * rating of a known item; there is nothing to free on failure */
int known_ratings_take(struct known_ratings *own, const struct dpmf_model *model,
                       const struct dpmf_own_rating *given, size_t n, struct dpmf_error *error);
void known_ratings_free(struct known_ratings *own);

/* Makes room for one more. */
int known_ratings_reserve(struct known_ratings *own, struct dpmf_error *error);

/* The place of an item's rating; own->n when there is none. */
size_t known_ratings_find(const struct known_ratings *own, uint64_t item);

/* Whether a model can learn from a rating or, where it learned from events, from a count.
 * @return 0, DPMF_ERR_INPUT_NOT_FINITE or DPMF_ERR_INPUT_OUT_OF_RANGE */
int known_ratings_check(const struct dpmf_model *model, double rating, struct dpmf_error *error);

#endif
