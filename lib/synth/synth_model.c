/*
 * Draws the planted factors and the ratings that follow from them. Spreads are those of known sets,
 * in units of a quarter of the scale's width, which is one star of five. A user's factors come from
 * the user's own stream of random numbers, so that nothing need be kept for all users. Used by
 * synth.c.
 */
#include "synth/synth_model.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "synth/synth_shape.h"

static const double USER_BIAS_SD = 0.4;

enum { TABLE_MAX = 4096 };

/* min + n steps, without the dust that binary fractions leave: 1.2, not 1.2000000000000002. */
static double scale_value(const struct synth_model *model, double n) {
    double value = model->min + n * model->step;
    if (fabs(value) < 1e6 && model->step >= 1e-6) value = round(value * 1e9) / 1e9;
    return fmin(value, model->max);
}

static bool fill_scale(struct synth_model *model) {
    if (!(model->step > 0)) return true;
    model->last_step = floor((model->max - model->min) / model->step + 1e-9);
    if (model->last_step >= TABLE_MAX) return true;
    size_t n = (size_t)model->last_step + 1;
    model->scale_values = memory_alloc(n, sizeof *model->scale_values);
    if (!model->scale_values) return false;
    for (size_t i = 0; i < n; i++) model->scale_values[i] = scale_value(model, (double)i);
    return true;
}

int synth_model_init(struct synth_model *model, const struct dpmf_synth_options *options,
                     struct dpmf_error *error) {
    double width = options->scale_max - options->scale_min, unit = width / 4;
    model->rank = options->rank;
    model->seed = options->seed;
    model->offset = options->scale_min + options->average * width;
    model->noise = options->noise * unit;
    model->bias_sd_user = USER_BIAS_SD * unit;
    model->bias_sd_item = options->item_spread * unit;

    /* u.v has variance k s^4 when each of the 2k factors has variance s^2. */
    model->factor_sd = sqrt(options->taste_spread * unit / sqrt((double)options->rank));
    model->min = options->scale_min;
    model->max = options->scale_max;
    model->step = options->scale_step;

    size_t rank = options->rank, items = (size_t)options->items;
    if (items > SIZE_MAX / rank) return error_no_memory(error);
    model->item_factors = memory_alloc(items * rank, sizeof *model->item_factors);
    model->item_biases = memory_alloc(items, sizeof *model->item_biases);
    if (!model->item_factors || !model->item_biases || !fill_scale(model))
        return error_no_memory(error);
    for (size_t j = 0; j < items; j++) {
        struct random_stream stream;
        random_stream_init(&stream, options->seed, SYNTH_ITEM, j);
        model->item_biases[j] = (float)(model->bias_sd_item * random_gaussian(&stream));
        for (size_t f = 0; f < rank; f++)
            model->item_factors[j * rank + f] =
                (float)(model->factor_sd * random_gaussian(&stream));
    }
    return 0;
}

void synth_model_free(struct synth_model *model) {
    free(model->item_factors);
    free(model->item_biases);
    free(model->scale_values);
    memset(model, 0, sizeof *model);
}

void synth_model_user(const struct synth_model *model, uint64_t user, struct random_stream *stream,
                      float *bias, float *factors) {
    random_stream_init(stream, model->seed, SYNTH_USER, user);
    *bias = (float)(model->bias_sd_user * random_gaussian(stream));
    for (uint32_t f = 0; f < model->rank; f++)
        factors[f] = (float)(model->factor_sd * random_gaussian(stream));
}

/* Four sums, so that an addition need not wait for the one before it. */
static float dot(const float *a, const float *b, uint32_t n) {
    assert(a && b);
    float sum[4] = {0, 0, 0, 0};
    uint32_t f = 0;
    for (; f + 4 <= n; f += 4)
        for (uint32_t i = 0; i < 4; i++) sum[i] += a[f + i] * b[f + i];
    for (; f < n; f++) sum[0] += a[f] * b[f];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static double put_on_scale(const struct synth_model *model, double rating) {
    assert(!isnan(rating));
    if (!(model->step > 0)) return fmin(fmax(rating, model->min), model->max);
    double n = floor((rating - model->min) / model->step + 0.5);
    n = fmin(fmax(n, 0), model->last_step);
    return model->scale_values ? model->scale_values[(size_t)n] : scale_value(model, n);
}

double synth_model_rate(const struct synth_model *model, float bias, const float *factors,
                        uint32_t j, struct random_stream *stream) {
    assert(factors && stream);
    const float *v = model->item_factors + (size_t)j * model->rank;
    double rating = model->offset + (double)bias + (double)model->item_biases[j] +
                    (double)dot(factors, v, model->rank) + model->noise * random_gaussian(stream);
    return put_on_scale(model, rating);
}
