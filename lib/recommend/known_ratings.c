/*
 * Sorts out a person's own ratings: items that the model does not know are skipped, and so are
 * ratings that are no events to a model that ranks; of an item that is there twice the last rating
 * counts. Fed by whoever folds in or explains; feeds ridge.c and user_rate.c.
 */
#include "recommend/known_ratings.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/event_count.h"
#include "base/memory.h"

/* A rating's item and its place among those that are known. */
struct place {
    uint64_t item;
    size_t at;
};

static int compare_places(const void *a, const void *b) {
    const struct place *x = a, *y = b;
    if (x->item != y->item) return x->item < y->item ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* Places are in the order of items; what is skipped loses its item. */
static void unite(struct known_ratings *own, const struct dpmf_model *model,
                  const struct place *places) {
    size_t kept = 0;
    for (size_t i = 0, first = 0; i < own->n; i++) {
        if (places[i].item != places[first].item) first = i;
        if (i == first) continue;
        own->at[places[first].at].rating = own->at[places[i].at].rating;
        own->origin[places[first].at] = own->origin[places[i].at];
        own->at[places[i].at].item = UINT64_MAX;
    }
    for (size_t i = 0; i < own->n; i++) {
        if (own->at[i].item == UINT64_MAX || !model_is_event(model, own->at[i].rating)) continue;
        own->at[kept] = own->at[i];
        own->origin[kept++] = own->origin[i];
    }
    own->n = kept;
}

static int take(struct known_ratings *own, const struct dpmf_model *model,
                const struct dpmf_own_rating *given, size_t n, struct place *places,
                struct dpmf_error *error) {
    for (size_t i = 0; i < n; i++) {
        if (!model_item_row(model, given[i].item)) continue;
        int code = known_ratings_check(model, given[i].rating, error);
        if (code < 0) return code;
        places[own->n] = (struct place){given[i].item, own->n};
        own->origin[own->n] = i;
        own->at[own->n++] = given[i];
    }
    if (own->n == 0) return 0;
    qsort(places, own->n, sizeof *places, compare_places);
    unite(own, model, places);
    return 0;
}

int known_ratings_take(struct known_ratings *own, const struct dpmf_model *model,
                       const struct dpmf_own_rating *given, size_t n, struct dpmf_error *error) {
    struct place *places = memory_alloc(n, sizeof *places);
    *own = (struct known_ratings){.at = memory_alloc(n, sizeof *own->at),
                                  .origin = memory_alloc(n, sizeof *own->origin),
                                  .capacity = n};
    int code = places && own->at && own->origin ? take(own, model, given, n, places, error)
                                                : error_no_memory(error);
    if (code < 0) known_ratings_free(own);
    free(places);
    return code;
}

void known_ratings_free(struct known_ratings *own) {
    free(own->at);
    free(own->origin);
    *own = (struct known_ratings){0};
}

int known_ratings_reserve(struct known_ratings *own, struct dpmf_error *error) {
    return memory_reserve(&own->at, &own->capacity, own->n + 1, sizeof *own->at)
               ? 0
               : error_no_memory(error);
}

size_t known_ratings_find(const struct known_ratings *own, uint64_t item) {
    size_t i = 0;
    while (i < own->n && own->at[i].item != item) i++;
    return i;
}

int known_ratings_check(const struct dpmf_model *model, double rating, struct dpmf_error *error) {
    const bool counts = model->state.is_of_events;
    if (!isfinite(rating)) {
        error_set_text(error, DPMF_ERR_INPUT_NOT_FINITE,
                       counts ? "a count is not a finite number"
                              : "a rating is not a finite number");
        error_hint_text(error, counts ? "give 1 for an event that happened once"
                                      : "give ratings such as 4 or 3.5");
        return DPMF_ERR_INPUT_NOT_FINITE;
    }
    if (!counts || event_count_is(rating)) return 0;
    error_set(error, DPMF_ERR_INPUT_OUT_OF_RANGE,
              "a count is not a whole number from 1 to 2^53 - 1");
    error_hint(error, "this model learned from events: give 1 for one that happened once");
    return DPMF_ERR_INPUT_OUT_OF_RANGE;
}

void dpmf_ratings_mark(const struct dpmf_own_rating *ratings, size_t n, uint8_t *bitmap) {
    if (!ratings || !bitmap) return;
    for (size_t i = 0; i < n; i++)
        bitmap[ratings[i].item / 8] |= (uint8_t)(1u << ratings[i].item % 8);
}
