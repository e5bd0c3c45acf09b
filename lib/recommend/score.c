/*
 * Scores of score.h, for anyone: what everyone likes is found once a model, and a person becomes a
 * base and a vector, with which items are scored as for predicted ratings. Fed by model_open.c and
 * by whoever has a person; feeds top_n.c and explanations.
 */
#include "recommend/score.h"

#include <math.h>
#include <stdlib.h>

#include "base/arguments.h"
#include "base/error.h"
#include "base/memory.h"
#include "numerics/exact_arithmetic.h"

static const double taste_middle = 0.5, quality = 0.3;

/* Below this a part is too small to be a reason: of scores, where it multiplies the odds by less
 * than 1.35; of ratings, in quarters of the scale; of models that rank, whose scores are 1 for what
 * people choose and 0 for what they do not, as far as the model can tell. */
static const double small_score = 0.3, small_rating = 0.1, small_ranked = 0.1;

double score_quality(const struct dpmf_model *model) {
    return model->of_events ? 0 : quality / factors_unit(model->factors.min, model->factors.max);
}

/* ---- everyone -------------------------------------------------------------------------------- */

/* The natural logarithm of a number above 0, by steps that IEEE fixes: libraries differ in theirs.
 * With x = 2^e f and f near 1 it is e log 2 + 2 artanh z, z = (f - 1) / (f + 1), |z| < 0.172; the
 * series ends where z^26 / 27 is below 1e-21. */
static double natural_log(double x) {
    static const double log_2 = 0.69314718055994530942, root_half = 0.70710678118654752440;
    enum { TERMS = 13 };
    int exponent;
    double f = frexp(x, &exponent), sum = 0;
    if (f < root_half) {
        f *= 2;
        exponent--;
    }
    const double z = (f - 1) / (f + 1), square = z * z;
    for (int i = TERMS - 1; i >= 0; i--) sum = sum * square + 1 / (double)(2 * i + 1);
    return (double)exponent * log_2 + 2 * z * sum;
}

static void note_crowd(struct dpmf_model *model, uint64_t item, double crowd) {
    model->crowd[item] = (float)crowd;
    const double size = fabs((double)model->crowd[item]);
    if (!(size <= model->crowd_max)) model->crowd_max = size;
}

static void fill_by_counts(struct dpmf_model *model) {
    const struct factors *factors = &model->factors;
    const float *counts = factors->item_ids.counts;
    const double g = score_quality(model);
    double total = 0;
    for (uint64_t i = 0; i < factors->items.n; i++) total += (double)counts[i];
    const double average = total / (double)factors->items.n;
    for (uint64_t i = 0; i < factors->items.n; i++)
        note_crowd(model, i,
                   natural_log((double)counts[i] / average) + g * (double)factors->items.biases[i]);
}

static int fill_by_average(struct dpmf_model *model, struct dpmf_error *error) {
    const struct factor_matrix *users = &model->factors.users, *items = &model->factors.items;
    const size_t k = model->factors.k;
    model->average_user = memory_alloc_zero(k, sizeof(double));
    if (!model->average_user) return error_no_memory(error);
    for (uint64_t u = 0; u < users->n; u++)
        for (size_t c = 0; c < k; c++)
            model->average_user[c] += (double)users->rows[u * users->stride + c] / (double)users->n;
    for (uint64_t i = 0; i < items->n; i++)
        note_crowd(model, i,
                   model_dot_double(model->average_user, items->rows + i * items->stride, k));
    return 0;
}

int score_prepare(struct dpmf_model *model, struct dpmf_error *error) {
    const struct factors *factors = &model->factors;
    if (factors->items.n == 0) return 0;
    if (!model->state.ranks) {
        int code = taste_space_init(&model->taste, factors, model->state.sample_factors, error);
        if (model->of_events) model->taste.unit = 0;
        if (code < 0 || !factors->item_ids.counts) return code;
    }
    model->crowd = memory_alloc_aligned((size_t)factors->items.n, sizeof(float), KERNEL_ALIGN);
    if (!model->crowd) return error_no_memory(error);
    if (model->state.ranks) return fill_by_average(model, error);
    fill_by_counts(model);
    return 0;
}

void score_free(struct dpmf_model *model) {
    taste_space_free(&model->taste);
    facts_space_free(&model->facts);
    memory_free_aligned(model->crowd);
    free(model->average_user);
    model->crowd = NULL;
    model->average_user = NULL;
}

/* ---- the order ------------------------------------------------------------------------------- */

struct dpmf_order dpmf_order_default(void) {
    return (struct dpmf_order){.taste = taste_middle};
}

static int refuse_model(const char *message, const char *hint, struct dpmf_error *error) {
    error_set_text(error, DPMF_ERR_MODEL_KIND, message);
    error_hint_text(error, hint);
    return DPMF_ERR_MODEL_KIND;
}

int score_order_find(const struct dpmf_model *model, const struct dpmf_order *asked,
                     struct dpmf_order *order, struct dpmf_error *error) {
    *order = dpmf_order_default();
    order->by_rating = !model->crowd && !model->state.ranks;
    if (!asked) return 0;
    if (!(asked->taste >= 0 && asked->taste <= 1))
        return error_set(error, DPMF_ERR_USAGE_VALUE, "the dial of taste goes from 0 to 1");
    for (size_t i = 0; i < sizeof asked->spare / sizeof asked->spare[0]; i++)
        if (asked->spare[i] != 0)
            return error_set(error, DPMF_ERR_USAGE_STRUCT, "there is no such order");
    if (asked->by_rating && !model_predicts_ratings(model))
        return refuse_model("this model ranks items and predicts no ratings",
                            "leave out {by rating}", error);
    if (!asked->by_rating && order->by_rating)
        return refuse_model("this model does not say how many people rated each item",
                            "order its lists with {by rating}, or make the model again", error);
    *order = *asked;
    return 0;
}

/* ---- someone --------------------------------------------------------------------------------- */

struct person score_person_known(const struct dpmf_model *model, uint64_t user,
                                 const double *choice) {
    const struct factor_matrix *users = &model->factors.users;
    return (struct person){.bias = user < users->n ? (double)users->biases[user] : 0,
                           .row = model_user_row(model, user),
                           .choice = choice};
}

int scorer_init(struct scorer *scorer, const struct dpmf_model *model, struct dpmf_error *error) {
    *scorer = (struct scorer){.scoring = {.model = model}, .end = model->factors.items.n};
    scorer->vector = memory_alloc_zero(model->factors.k, sizeof(double));
    const size_t n = model->factors.items.stride > 0 ? model->factors.items.stride : 1;
    scorer->row = memory_alloc_aligned(n, sizeof(float), KERNEL_ALIGN);
    if (!scorer->vector || !scorer->row) {
        scorer_free(scorer);
        return error_no_memory(error);
    }
    for (size_t c = 0; c < n; c++) scorer->row[c] = 0;
    if (model->facts.width == 0) return 0;
    const size_t n_items = (size_t)model->factors.items.n;
    scorer->rounded = memory_alloc_aligned(n_items, sizeof(float), KERNEL_ALIGN);
    scorer->told = memory_alloc(n_items, sizeof(double));
    if (scorer->rounded && scorer->told) return 0;
    scorer_free(scorer);
    return error_no_memory(error);
}

void scorer_free(struct scorer *scorer) {
    free(scorer->vector);
    memory_free_aligned(scorer->row);
    free(scorer->told);
    memory_free_aligned(scorer->rounded);
    *scorer = (struct scorer){0};
}

static double u_at(const struct person *person, size_t c) {
    return person->vector ? person->vector[c] : person->row ? (double)person->row[c] : 0;
}

/* u.m, in the order of columns. */
static double average_of(const struct dpmf_model *model, const struct person *person) {
    double sum = 0;
    for (size_t c = 0; model->taste.mean && c < model->factors.k; c++)
        sum += u_at(person, c) * model->taste.mean[c];
    return sum;
}

static void take_vector(struct scorer *scorer, const struct dpmf_model *model, double base) {
    for (size_t c = 0; c < model->factors.k; c++) scorer->row[c] = (float)scorer->vector[c];
    scorer->scoring = (struct scoring){.model = model,
                                       .base = base,
                                       .biases = model->crowd,
                                       .bias_max = model->crowd_max,
                                       .row = scorer->row,
                                       .vector = scorer->vector};
}

static void set_score(struct scorer *scorer, const struct dpmf_model *model,
                      const struct person *person) {
    const double unit = factors_unit(model->factors.min, model->factors.max);
    const double dial = 2 * scorer->order.taste * model->taste_weight, g = score_quality(model);
    const double weight = person->choice || model->of_events ? g : 1 / unit;
    double told_max = 0;
    scorer->middle = 0;
    for (size_t c = 0; c < model->factors.k; c++) {
        const double p = person->choice ? person->choice[c] : 0;
        scorer->vector[c] = dial * (p + weight * u_at(person, c));
    }
    if (person->told)
        told_max = facts_score(&model->facts, person->told, dial, model->crowd, scorer->first,
                               scorer->end, scorer->told, scorer->rounded, scorer->vector);
    for (size_t c = 0; c < model->factors.k; c++)
        scorer->middle += scorer->vector[c] * model->taste.mean[c];
    scorer->habit = g * (person->bias + average_of(model, person));
    take_vector(scorer, model, scorer->habit - scorer->middle);
    if (!person->told) return;
    scorer->scoring.biases = scorer->rounded;
    scorer->scoring.exact = scorer->told;
    scorer->scoring.bias_max = told_max;
}

static void set_ranked(struct scorer *scorer, const struct dpmf_model *model,
                       const struct person *person) {
    const double dial = 2 * scorer->order.taste;
    for (size_t c = 0; c < model->factors.k; c++)
        scorer->vector[c] = person->row ? dial * (u_at(person, c) - model->average_user[c]) : 0;
    take_vector(scorer, model, 0);
}

void scorer_set(struct scorer *scorer, const struct person *person,
                const struct dpmf_order *order) {
    const struct dpmf_model *model = scorer->scoring.model;
    const double base = model->factors.offset + person->bias;
    scorer->order = *order;
    scorer->habit = scorer->middle = 0;
    scorer->rating = scoring_by_rating(model, base, person->row, person->vector);
    if (model->state.ranks && order->taste == taste_middle && person->row) {
        scorer->scoring = scorer->rating;
    } else if (model->state.ranks) {
        set_ranked(scorer, model, person);
    } else if (order->by_rating) {
        scorer->middle = average_of(model, person);
        scorer->habit = person->bias + scorer->middle;
        scorer->scoring = scorer->rating;
    } else {
        set_score(scorer, model, person);
    }
}

static enum dpmf_reason reason_of(const struct scorer *scorer, const struct dpmf_score *score) {
    const struct factors *factors = &scorer->scoring.model->factors;
    const bool by_rating = scorer->order.by_rating;
    const double small = by_rating ? small_rating * factors_unit(factors->min, factors->max)
                         : scorer->scoring.model->state.ranks ? small_ranked
                                                              : small_score;
    if (score->taste > small) return DPMF_REASON_TASTE;
    return score->crowd - (by_rating ? factors->offset : 0) > small ? DPMF_REASON_CROWD
                                                                    : DPMF_REASON_NEITHER;
}

/* Where scores of a model that ranks are plain products, taste is what they have beyond the
 * crowd. */
static double taste_of(const struct scorer *scorer, uint64_t item, const struct dpmf_score *score) {
    const struct scoring *scoring = &scorer->scoring;
    const struct dpmf_model *model = scoring->model;
    const float *v = model_item_row(model, item);
    if (model->state.ranks && scoring->vector != scorer->vector) return score->total - score->crowd;
    if (scoring->exact)
        return model_dot_double(scoring->vector, v, model->factors.k) - scorer->middle +
               (scoring->exact[item] - (double)model->crowd[item]);
    if (scoring->vector)
        return model_dot_double(scoring->vector, v, model->factors.k) - scorer->middle;
    return scoring->row ? model_dot(scoring->row, v, model->factors.k) - scorer->middle : 0;
}

struct dpmf_score scorer_parts(const struct scorer *scorer, uint64_t item) {
    const struct dpmf_model *model = scorer->scoring.model;
    const bool is_known = item < model->factors.items.n;
    struct dpmf_score score = {.habit = scorer->habit, .rating = NAN};
    if (model_predicts_ratings(model))
        score.rating = is_known ? scoring_exact(&scorer->rating, item) : scorer->rating.base;
    if (scorer->order.by_rating)
        score.crowd =
            model->factors.offset + (is_known ? (double)model->factors.items.biases[item] : 0.0);
    else
        score.crowd = is_known ? (double)model->crowd[item] : 0.0;
    score.total = is_known ? scoring_exact(&scorer->scoring, item) : score.crowd + score.habit;
    if (is_known) score.taste = taste_of(scorer, item, &score);
    score.reason = reason_of(scorer, &score);
    return score;
}

/* ---- users of the model ---------------------------------------------------------------------- */

int64_t dpmf_model_recommend(const struct dpmf_model *model, uint64_t user,
                             const struct dpmf_order *asked, const uint8_t *exclude,
                             const uint8_t *include, size_t n, struct dpmf_scored_item *out,
                             struct dpmf_error *error) {
    struct scorer scorer;
    struct dpmf_order order;
    int code = arguments_check(error, n > 0 ? "model out" : "model", model, out);
    if (code == 0) code = score_order_find(model, asked, &order, error);
    if (code == 0) code = scorer_init(&scorer, model, error);
    if (code < 0) return code;
    const struct person person = score_person_known(model, user, NULL);
    scorer_set(&scorer, &person, &order);
    const size_t found = recommend_scoring_top_n(&scorer.scoring, exclude, include, n, out);
    scorer_free(&scorer);
    return (int64_t)found;
}
