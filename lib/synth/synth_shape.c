/*
 * Degrees of users and weights of items for the generator. Users follow a log-normal law that bends
 * before it reaches the whole catalogue; items follow the power law w_j = (j + q)^-a of the paper's
 * figure, which gives way at the end of the catalogue. The exponent is found such that the 500 most
 * popular items hold the wanted share of the ratings although nobody rates an item twice, which
 * flattens the head: a user who draws m items holds item j with probability about
 * 1 - exp(-c_m w_j), where c_m makes these add up to m. Feeds synth_pick.c and synth.c.
 */
#include "synth/synth_shape.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "random/random.h"

/* Netflix: mean 206 and median 96 ratings a user, which is sqrt(2 ln(206 / 96)) of a log-normal. */
static const double DEGREE_SIGMA = 1.24;

/* q: how far the head of the power law is flattened. A part of the items, but what everyone knows
 * does not grow with the catalogue for ever. */
static const double HEAD_PART = 0.02, HEAD_MAX = 400;

static const double DEFAULT_EXPONENT = 1.2;
static const double MAX_EXPONENT = 12.0;

enum {
    TOP = 500,
    CLASSES_PER_OCTAVE = 6,
    N_CLASSES = 32 * CLASSES_PER_OCTAVE + 1,
    MAX_GROUPS = 1024,
};

/* ---- degrees --------------------------------------------------------------------------------- */

/* x bends at `items`: about x while it is small, below `items` always. */
static uint32_t degree_of(double x, double items) {
    assert(items >= 1);
    double d = floor(x * items / (x + items));
    if (!(d >= 1)) return 1;
    return (uint32_t)fmin(d, items);
}

static uint64_t sum_degrees(const double *raw, uint64_t users, double items, double scale) {
    uint64_t sum = 0;
    for (uint64_t u = 0; u < users; u++) sum += degree_of(scale * raw[u], items);
    return sum;
}

/* @return the largest scale found whose degrees do not add up to more than the ratings wanted */
static double find_scale(const double *raw, const struct synth_shape *shape) {
    double items = (double)shape->items, low = (double)shape->ratings / (double)shape->users;
    while (low > 1e-30 && sum_degrees(raw, shape->users, items, low) > shape->ratings) low /= 2;
    double high = low;
    do high *= 2;
    while (high < 1e30 && sum_degrees(raw, shape->users, items, high) <= shape->ratings);
    for (int i = 0; i < 60; i++) {
        double middle = low + (high - low) / 2;
        if (sum_degrees(raw, shape->users, items, middle) <= shape->ratings)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static int set_degrees(struct synth_shape *shape, uint64_t seed, struct dpmf_error *error) {
    double *raw = memory_alloc(shape->users, sizeof *raw);
    shape->degree = memory_alloc(shape->users, sizeof *shape->degree);
    if (!raw || !shape->degree) {
        free(raw);
        return error_no_memory(error);
    }
    for (uint64_t u = 0; u < shape->users; u++) {
        struct random_stream stream;
        random_stream_init(&stream, seed, SYNTH_DEGREE, u);
        raw[u] = exp(DEGREE_SIGMA * random_gaussian(&stream));
    }
    double scale = find_scale(raw, shape);
    uint64_t left = shape->ratings;
    for (uint64_t u = 0; u < shape->users; u++) {
        shape->degree[u] = degree_of(scale * raw[u], (double)shape->items);
        left -= shape->degree[u];
    }
    free(raw);

    /* What rounding left over, one for each user in turn. */
    while (left > 0) {
        for (uint64_t u = 0; u < shape->users && left > 0; u++) {
            if (shape->degree[u] >= shape->items) continue;
            shape->degree[u]++;
            left--;
        }
    }
    return 0;
}

/* ---- weights --------------------------------------------------------------------------------- */

/* The power law, brought down to nothing towards the end of the catalogue: real ones end with items
 * that only a few people ever rated. */
static double weight_at(double rank, double items, double exponent) {
    assert(rank >= 0 && rank <= items);
    double left = 1 - (rank - 0.5) / items, q = fmin(HEAD_PART * items, HEAD_MAX);
    return left * pow((rank + q) / (1 + q), -exponent);
}

/* Users of about the same degree and items of about the same rank, taken together: the expected
 * share is a sum over a hundred of the one and two hundred of the other. */
struct summary {
    double class_users[N_CLASSES], class_draws[N_CLASSES];
    double group_items[MAX_GROUPS], group_rank[MAX_GROUPS], group_weight[MAX_GROUPS];
    int n_groups, n_top_groups; /* the groups of the 500 most popular come first */
};

static void summarise(const struct synth_shape *shape, struct summary *s) {
    memset(s, 0, sizeof *s);

    /* Each item's one certain rater takes this part of everyone's ratings out of the draw. */
    double drawn_part = 1 - (double)shape->items / (double)shape->ratings;
    for (uint64_t u = 0; u < shape->users; u++) {
        double m = (double)shape->degree[u];
        int class = (int)(CLASSES_PER_OCTAVE * log2(m));
        s->class_users[class] += 1;
        s->class_draws[class] += m * drawn_part;
    }
    double items = (double)shape->items;
    for (double first = 0; first < items && s->n_groups < MAX_GROUPS;) {
        double end = fmin(items, first + 1 + floor(first / 32));
        if (first < TOP) end = fmin(end, TOP);
        s->group_items[s->n_groups] = end - first;
        s->group_rank[s->n_groups] = (first + 1 + end) / 2;
        s->n_groups++;
        if (first < TOP) s->n_top_groups = s->n_groups;
        first = end;
    }
}

/* c with sum of n_g (1 - exp(-c w_g)) = m, by Newton's method from below: the sum is concave, so
 * that no step goes past the root. */
static double solve_time(const struct summary *s, double m, double from) {
    double c = from;
    for (int i = 0; i < 100; i++) {
        double held = 0, slope = 0;
        for (int g = 0; g < s->n_groups; g++) {
            double missed = exp(-c * s->group_weight[g]);
            held += s->group_items[g] * (1 - missed);
            slope += s->group_items[g] * s->group_weight[g] * missed;
        }
        double step = (m - held) / slope;
        if (!(step > 1e-9 * c)) break;
        c += step;
    }
    return c;
}

static double expected_share(struct summary *s, const struct synth_shape *shape, double exponent) {
    double items = (double)shape->items;
    for (int g = 0; g < s->n_groups; g++)
        s->group_weight[g] = weight_at(s->group_rank[g], items, exponent);
    double top = fmin(TOP, items), c = 0;
    for (int class = 0; class < N_CLASSES; class ++) {
        if (s->class_draws[class] <= 0) continue;
        double m = s->class_draws[class] / s->class_users[class];
        c = solve_time(s, fmin(m, 0.999 * items), c);
        for (int g = 0; g < s->n_top_groups; g++)
            top += s->class_users[class] * s->group_items[g] * (1 - exp(-c * s->group_weight[g]));
    }
    return top / (double)shape->ratings;
}

static double find_exponent(struct summary *s, const struct synth_shape *shape, double share) {
    if (!(share > 0) || shape->items <= TOP) return DEFAULT_EXPONENT;
    double low = 0, high = MAX_EXPONENT;
    for (int i = 0; i < 40; i++) {
        double middle = (low + high) / 2;
        if (expected_share(s, shape, middle) < share)
            low = middle;
        else
            high = middle;
    }
    return (low + high) / 2;
}

static int set_weights(struct synth_shape *shape, double share, struct dpmf_error *error) {
    struct summary *s = memory_alloc(1, sizeof *s);
    shape->weight = memory_alloc(shape->items, sizeof *shape->weight);
    if (!s || !shape->weight) {
        free(s);
        return error_no_memory(error);
    }
    summarise(shape, s);
    shape->exponent = find_exponent(s, shape, share);
    shape->expected_share = expected_share(s, shape, shape->exponent);
    free(s);

    double sum = 0, items = (double)shape->items;
    for (uint64_t j = 0; j < shape->items; j++)
        sum += shape->weight[j] = weight_at((double)j + 1, items, shape->exponent);
    for (uint64_t j = 0; j < shape->items; j++) shape->weight[j] /= sum;
    return 0;
}

/* ---- the whole ------------------------------------------------------------------------------- */

uint32_t *synth_permutation(uint64_t n, uint64_t seed, enum synth_purpose purpose) {
    assert(n <= UINT32_MAX);
    uint32_t *order = memory_alloc(n, sizeof *order);
    if (!order) return NULL;
    struct random_stream stream;
    random_stream_init(&stream, seed, purpose, 0);
    for (uint64_t i = 0; i < n; i++) {
        uint64_t j = random_below(&stream, i + 1);
        order[i] = (uint32_t)i;
        uint32_t t = order[j];
        order[j] = order[i];
        order[i] = t;
    }
    return order;
}

uint64_t synth_shape_rater_place(const struct synth_shape *shape, uint64_t t) {
    assert(t < shape->ratings);
    /* floor(t * ratings / items) without overflow: t and items are below 2^32. */
    uint64_t whole = shape->ratings / shape->items, rest = shape->ratings % shape->items;
    return t * whole + t * rest / shape->items;
}

int synth_shape_init(struct synth_shape *shape, const struct dpmf_synth_options *options,
                     struct dpmf_error *error) {
    shape->users = options->users;
    shape->items = options->items;
    shape->ratings = options->ratings;
    int code = set_degrees(shape, options->seed, error);
    if (code == 0) code = set_weights(shape, options->top_500_share, error);
    if (code != 0) return code;
    shape->rater_order = synth_permutation(shape->items, options->seed, SYNTH_RATER);
    return shape->rater_order ? 0 : error_no_memory(error);
}

void synth_shape_free(struct synth_shape *shape) {
    free(shape->degree);
    free(shape->weight);
    free(shape->rater_order);
    memset(shape, 0, sizeof *shape);
}
