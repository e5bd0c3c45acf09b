/*
 * The known shapes of synthetic sets, the defaults, and the check of what a caller asks for. Feeds
 * synth.c.
 */
#include "synth/synth_options.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/arguments.h"
#include "base/error.h"
#include "store/store.h"

/* The counts are those of the published sets. The share of the 500 most rated items is the paper's
 * for Netflix, and measured for the two small MovieLens sets. For ml-10m it is set by their side: a
 * longer tail than ml-1m, but older, so as much in the head. For yahoo nothing is published: its
 * most rated items are artists with some 10^5 ratings, the mean is 421, and a seventh of all
 * ratings on the first 500 of 624,961 gives both. */
struct known_shape {
    const char *name;
    uint64_t users, items, ratings;
    double scale_min, scale_max, scale_step, top_500_share;
};

static const struct known_shape SHAPES[] = {
    {"netflix", 480189, 17770, 99072112, 1, 5, 1, 0.44},
    {"yahoo", 1000990, 624961, 262810175, 0, 100, 1, 0.14},
    {"ml-10m", 69878, 10677, 10000054, 0.5, 5, 0.5, 0.50},
    {"ml-1m", 6040, 3706, 1000209, 1, 5, 1, 0.53},
    {"ml-100k", 943, 1682, 100000, 1, 5, 1, 0.778},
};

enum { N_SHAPES = sizeof SHAPES / sizeof SHAPES[0] };

void dpmf_synth_options_init(struct dpmf_synth_options *options, size_t size) {
    const struct dpmf_synth_options made = {
        .size = sizeof made,
        .users = 10000,
        .items = 2000,
        .ratings = 500000,
        .rank = 16,
        .noise = 0.7,
        .scale_min = 1,
        .scale_max = 5,
        .scale_step = 1,
        .seed = 1,
        .average = 0.65,
        .item_spread = 0.5,
        .taste_spread = 0.6,
    };
    options_give(options, size, &made, sizeof made);
}

int dpmf_synth_options_like(const char *name, struct dpmf_synth_options *options) {
    if (!name || !options) return DPMF_ERR_USAGE_NULL;
    for (size_t i = 0; i < N_SHAPES; i++) {
        const struct known_shape *shape = &SHAPES[i];
        if (strcmp(name, shape->name) != 0) continue;
        options->users = shape->users;
        options->items = shape->items;
        options->ratings = shape->ratings;
        options->scale_min = shape->scale_min;
        options->scale_max = shape->scale_max;
        options->scale_step = shape->scale_step;
        options->top_500_share = shape->top_500_share;
        return 0;
    }
    return DPMF_ERR_USAGE_VALUE;
}

const char *dpmf_synth_shape_name(size_t i) { return i < N_SHAPES ? SHAPES[i].name : NULL; }

static int check_counts(const struct dpmf_synth_options *o, struct dpmf_error *error) {
    if (o->users == 0 || o->items == 0)
        return error_set(error, DPMF_ERR_RATINGS_SHAPE, "there must be users and items");
    if (o->users > STORE_MAX_USERS || o->items > STORE_MAX_ITEMS)
        return error_set(error, DPMF_ERR_RATINGS_SHAPE,
                         "%" PRIu64 " users and %" PRIu64 " items: a store holds up to %" PRIu64
                         " of each",
                         o->users, o->items, (uint64_t)STORE_MAX_USERS);
    bool by_users = o->users >= o->items;
    uint64_t least = by_users ? o->users : o->items;
    if (o->ratings < least) {
        error_set(error, DPMF_ERR_RATINGS_SHAPE,
                  "%" PRIu64 " ratings are too few for %" PRIu64 " %s", o->ratings, least,
                  by_users ? "users" : "items");
        return error_hint(error,
                          "every user and every item has at least one rating: ask for %" PRIu64
                          " ratings or more, or for fewer %s",
                          least, by_users ? "users" : "items");
    }
    uint64_t most = o->users * o->items; /* both are below 2^32 */
    if (o->ratings > most) {
        error_set(error, DPMF_ERR_RATINGS_SHAPE,
                  "%" PRIu64 " ratings are too many for %" PRIu64 " users and %" PRIu64 " items",
                  o->ratings, o->users, o->items);
        return error_hint(error,
                          "nobody rates an item twice: ask for %" PRIu64
                          " ratings at most, or for more users or items",
                          most);
    }
    return 0;
}

static int check_model(const struct dpmf_synth_options *o, struct dpmf_error *error) {
    if (o->rank < 1 || o->rank > SYNTH_MAX_RANK)
        return error_set(error, DPMF_ERR_USAGE_VALUE, "rank %" PRIu32 " is not within 1 to %d",
                         o->rank, SYNTH_MAX_RANK);
    if (!(o->noise >= 0 && o->noise <= 1e6))
        return error_set(error, DPMF_ERR_USAGE_VALUE, "noise %g is not within 0 to 1e6", o->noise);
    if (!(o->scale_min < o->scale_max) || !(fabs(o->scale_min) <= 1e100) ||
        !(fabs(o->scale_max) <= 1e100))
        return error_set(error, DPMF_ERR_USAGE_VALUE, "%g to %g is no scale", o->scale_min,
                         o->scale_max);
    if (!(o->scale_step >= 0 && o->scale_step <= o->scale_max - o->scale_min))
        return error_set(error, DPMF_ERR_USAGE_VALUE,
                         "a step of %g does not fit on a scale from %g to %g", o->scale_step,
                         o->scale_min, o->scale_max);
    if (!(o->average >= 0 && o->average <= 1))
        return error_set(error, DPMF_ERR_USAGE_VALUE, "average %g is not within 0 and 1",
                         o->average);
    if (!(o->item_spread >= 0 && o->item_spread <= 1e6))
        return error_set(error, DPMF_ERR_USAGE_VALUE, "spread of items %g is not within 0 to 1e6",
                         o->item_spread);
    if (!(o->taste_spread >= 0 && o->taste_spread <= 1e6))
        return error_set(error, DPMF_ERR_USAGE_VALUE, "spread of taste %g is not within 0 to 1e6",
                         o->taste_spread);
    if (!(o->top_500_share >= 0 && o->top_500_share < 1))
        return error_set(error, DPMF_ERR_USAGE_VALUE, "share %g is not within 0 and 1",
                         o->top_500_share);
    return 0;
}

int synth_options_check(const struct dpmf_synth_options *options, struct dpmf_error *error) {
    int code = check_counts(options, error);
    return code != 0 ? code : check_model(options, error);
}
