/*
 * The exact n best items of a user. All items are scored by the kernels, in floats and some
 * thousands at a time so that the scores stay in the first cache; nearly all of them then cost one
 * comparison. Those few that could be among the best, given how far a kernel can be off, are scored
 * again in double, and that score alone decides: the list is the same on every machine. Feeds
 * recommend and the ranking metrics.
 */
#include <float.h>
#include <math.h>

#include "recommend/best_items.h"
#include "recommend/model.h"

enum { BLOCK_ITEMS = 2048 };

static double length_of(const struct scoring *scoring) {
    const size_t k = scoring->model->factors.k;
    double sum = 0;
    for (size_t c = 0; c < k; c++) {
        double x = scoring->vector ? scoring->vector[c] : (double)scoring->row[c];
        sum += x * x;
    }
    return sqrt(sum);
}

/* How far, at most, a kernel's score is from the one in double. A sum of k products in floats, in
 * whatever order, is within k eps/2 of the sum of their sizes, which is at most |u||v|; u rounded
 * to floats and the bias added are two such errors more; and a little for what is lost in double,
 * and below the smallest float. Where floats could overflow they say nothing. */
static double bound_error(const struct scoring *scoring) {
    const struct dpmf_model *model = scoring->model;
    const double k = (double)model->factors.k, half = FLT_EPSILON / 2.0;
    if (!scoring->row) return 0;
    double product = length_of(scoring) * model->item_norm_max * 1.001;
    double size = product + scoring->bias_max;
    if (!(size < (double)FLT_MAX / 4)) return INFINITY;
    const double rounded = scoring->exact ? 2 : 1; /* biases, when they became floats, and sums */
    return (k + 8) * half * 1.001 * product + rounded * half * scoring->bias_max * 1.001 +
           (k + 8) * (DBL_EPSILON * (size + fabs(scoring->base)) + (double)FLT_MIN);
}

struct ranking {
    const struct scoring *scoring;
    const uint8_t *exclude, *include;
    struct best_items best;
    double error;
};

/* The kernel's score below which an item cannot be among the best. */
static float cut_of(const struct ranking *ranking) {
    if (!best_items_is_full(&ranking->best)) return -INFINITY;
    double cut = ranking->best.heap[0].score - ranking->scoring->base - ranking->error;
    /* To a float no larger; the difference itself was rounded, which the error has room for. */
    return isnan(cut) ? -INFINITY : nextafterf((float)cut, -INFINITY);
}

static bool is_wanted(const struct ranking *ranking, uint64_t item) {
    return !(ranking->exclude && best_items_bit(ranking->exclude, item)) &&
           !(ranking->include && !best_items_bit(ranking->include, item));
}

/* The bitmaps are asked only about the few that would be kept. */
static void keep_best(struct ranking *ranking, uint64_t first, const float *scores, size_t n) {
    float cut = cut_of(ranking);
    for (size_t i = 0; i < n; i++) {
        if (scores[i] < cut || !is_wanted(ranking, first + i)) continue;
        /* Finite factors can still overflow: what is not a number ranks last. */
        double score = scoring_exact(ranking->scoring, first + i);
        best_items_offer(&ranking->best, first + i, isnan(score) ? -INFINITY : score);
        cut = cut_of(ranking);
    }
}

size_t recommend_scoring_top_n(const struct scoring *scoring, const uint8_t *exclude,
                               const uint8_t *include, size_t n, struct dpmf_scored_item *out) {
    const struct dpmf_model *model = scoring->model;
    const struct factor_matrix *items = &model->factors.items;
    struct ranking ranking = {.scoring = scoring, .exclude = exclude, .include = include};
    float space[BLOCK_ITEMS];
    if (n == 0) return 0;
    ranking.best = (struct best_items){.heap = out, .capacity = n};
    ranking.error = bound_error(scoring);
    for (uint64_t first = 0; first < items->n; first += BLOCK_ITEMS) {
        size_t m = (size_t)(items->n - first < BLOCK_ITEMS ? items->n - first : BLOCK_ITEMS);
        const float *scores = scoring->biases + first;
        if (scoring->row) {
            model->kernels->scores(scoring->row, items->rows + first * items->stride, items->stride,
                                   scoring->biases + first, m, model->padded_k, space);
            scores = space;
        }
        keep_best(&ranking, first, scores, m);
    }
    best_items_sort(&ranking.best);
    return ranking.best.n;
}
