/*
 * Items whose vectors point the same way: the cosine of the angle between them, biases left aside.
 * A vector of nothing but zeros points nowhere and is like no other. As in top_n.c the kernels
 * choose whom to look at, and the cosine in double decides.
 */
#include <float.h>
#include <math.h>

#include "base/arguments.h"
#include "base/error.h"
#include "recommend/best_items.h"
#include "recommend/model.h"

enum { BLOCK_ITEMS = 2048 };

static const float no_biases[BLOCK_ITEMS];

struct likeness {
    const struct dpmf_model *model;
    uint64_t item;
    struct best_items best;
    double error; /* largest error of a cosine by the kernels */
};

static double cosine(const struct likeness *likeness, uint64_t other) {
    const struct dpmf_model *model = likeness->model;
    const double lengths = model->item_norms[likeness->item] * model->item_norms[other];
    if (!(lengths > 0)) return 0;
    return model_dot(model_item_row(model, likeness->item), model_item_row(model, other),
                     model->factors.k) /
           lengths;
}

/* Whether the kernels' product of the two vectors could be that of one of the best. Vectors so
 * short or so long that floats underflow or overflow are never ruled out. */
static bool could_be_best(const struct likeness *likeness, uint64_t other, float product) {
    static const double shortest = 1e-12, longest = 1e12;
    const double length = likeness->model->item_norms[likeness->item],
                 other_length = likeness->model->item_norms[other];
    if (!best_items_is_full(&likeness->best)) return true;
    const double worst = likeness->best.heap[0].score;
    if (other_length == 0) return worst < 0;
    if (!(length > shortest && length < longest)) return true;
    if (!(other_length > shortest && other_length < longest)) return true;
    return !((double)product < (worst - likeness->error) * (length * other_length));
}

/* The integral of sin^m from 0 to the angle whose cosine is c. */
static double sine_power(unsigned m, double c) {
    const double s = sqrt(1 - c * c);
    double integral = m % 2 ? 1 - c : acos(c), power = m % 2 ? s * s : s;
    for (unsigned i = m % 2 ? 3 : 2; i <= m; i += 2) {
        integral = ((double)(i - 1) * integral - c * power) / (double)i;
        power *= s * s;
    }
    return integral;
}

/* A random direction of k dimensions has an angle t to a given one with a density like
 * sin(t)^(k - 2). */
double dpmf_model_similar_by_chance(const struct dpmf_model *model, double cosine) {
    if (!model || model->factors.k == 0 || isnan(cosine)) return NAN;
    const double others = (double)model->factors.items.n - 1;
    const double c = fmin(fmax(cosine, -1), 1);
    const uint32_t k = model->factors.k;
    if (k == 1) return others * (c > -1 ? 0.5 : 1); /* there are two directions */
    return others * fmax(sine_power(k - 2, c) / sine_power(k - 2, -1), 0);
}

double dpmf_model_similar_in_doubt(const struct dpmf_model *model, size_t n, double cosine) {
    static const double noted = 0.25; /* share of the list that chance would give */
    if (!model || model->kind != MODEL_RELEASE || n + 1 >= model->factors.items.n) return 0;
    const double chance = dpmf_model_similar_by_chance(model, cosine);
    return chance >= fmax(noted * (double)n, 1) ? chance : 0;
}

/* Vectors that predicted no better than averages are all 0. */
static bool has_vectors(const struct dpmf_model *model) {
    for (uint64_t i = 0; i < model->factors.items.n; i++)
        if (model->item_norms[i] != 0) return true;
    return false;
}

int64_t dpmf_model_similar(const struct dpmf_model *model, uint64_t item, size_t n,
                           struct dpmf_scored_item *out, struct dpmf_error *error) {
    int code = arguments_check(error, n > 0 ? "model out" : "model", model, out);
    if (code < 0) return code;
    const struct factor_matrix *items = &model->factors.items;
    const float *v = model_item_row(model, item);
    if (!v) return error_set(error, DPMF_ERR_MODEL_UNKNOWN_ID, "the model does not know this item");
    if (n == 0) return 0;
    if (model->factors.k > 0 && !has_vectors(model)) {
        error_set(error, DPMF_ERR_MODEL_KIND,
                  "there are no vectors to compare: in this model they are all 0");
        error_hint(error, "vectors predicted no better than averages: train on more ratings");
        return DPMF_ERR_MODEL_KIND;
    }
    struct likeness likeness = {.model = model, .item = item, .best = {out, 0, n}};
    /* A sum of k products in floats, in any order; see bound_error in top_n.c. */
    likeness.error = ((double)model->factors.k + 8) * (double)FLT_EPSILON;
    float products[BLOCK_ITEMS];
    for (uint64_t first = 0; first < items->n; first += BLOCK_ITEMS) {
        size_t m = (size_t)(items->n - first < BLOCK_ITEMS ? items->n - first : BLOCK_ITEMS);
        model->kernels->scores(v, items->rows + first * items->stride, items->stride, no_biases, m,
                               model->padded_k, products);
        for (size_t i = 0; i < m; i++)
            if (first + i != item && could_be_best(&likeness, first + i, products[i]))
                best_items_offer(&likeness.best, first + i, cosine(&likeness, first + i));
    }
    best_items_sort(&likeness.best);
    return (int64_t)likeness.best.n;
}
