/*
 * Where a rating will be: an averaged model holds its samples side by side
 * (sample/posterior_mean.h), each of which predicts the rating with Gaussian noise, and all of them
 * together are a mixture. Fed by a checkpoint of a sampler.
 */
#include <math.h>
#include <stdlib.h>

#include "base/arguments.h"
#include "base/error.h"
#include "base/memory.h"
#include "recommend/model.h"

enum { STEPS_MAX = 100, FAR = 9 /* standard deviations: beyond there is nothing */ };

#define CLOSE 1e-9 /* share of a standard deviation */
#define PI 3.14159265358979323846

/* The samples' predictions of one pair, and the standard deviation of a rating given one of
 * them. */
struct mixture {
    double *center;
    size_t n;
    double spread;
    double least, most; /* smallest and largest center */
};

/* A sample's block of the rows has all that it predicts beyond offset and mean biases, as a part of
 * the mean. */
static void find_centers(const struct dpmf_model *model, uint64_t user, uint64_t item,
                         struct mixture *mixture) {
    const size_t width = model->state.sample_factors;
    const float *u = model_user_row(model, user), *v = model_item_row(model, item);
    const double base = model_user_base(model, user) + (double)model->factors.items.biases[item];
    mixture->least = INFINITY;
    mixture->most = -INFINITY;
    for (size_t s = 0; s < mixture->n; s++) {
        double product = model_dot(u + s * width, v + s * width, width);
        mixture->center[s] = base + (double)mixture->n * product;
        mixture->least = fmin(mixture->least, mixture->center[s]);
        mixture->most = fmax(mixture->most, mixture->center[s]);
    }
}

/* The probability that the rating is below x, and its density there. */
static double below(const struct mixture *mixture, double x, double *density) {
    double sum = 0, densities = 0;
    for (size_t s = 0; s < mixture->n; s++) {
        double z = (x - mixture->center[s]) / mixture->spread;
        sum += erfc(-z / sqrt(2));
        densities += exp(-z * z / 2);
    }
    *density = densities / ((double)mixture->n * mixture->spread * sqrt(2 * PI));
    return sum / (2 * (double)mixture->n);
}

/* Newton's way, with halving where that would leave the interval in which the quantile is known to
 * be. */
static double quantile(const struct mixture *mixture, double probability) {
    double low = mixture->least - FAR * mixture->spread;
    double high = mixture->most + FAR * mixture->spread;
    double x = low + (high - low) / 2;
    for (int i = 0; i < STEPS_MAX; i++) {
        double density, error = below(mixture, x, &density) - probability;
        *(error < 0 ? &low : &high) = x;
        double next = x - error / density;
        if (!(next > low && next < high)) next = low + (high - low) / 2;
        if (fabs(next - x) <= CLOSE * mixture->spread) return next;
        x = next;
    }
    return x;
}

static int check(const struct dpmf_model *model, double level, struct dpmf_error *error) {
    if (!(level > 0 && level < 1))
        return error_set(error, DPMF_ERR_USAGE_VALUE, "the probability must be between 0 and 1");
    if (model->kind == MODEL_CHECKPOINT && model->state.samples > 1) return 0;
    int code =
        error_set(error, DPMF_ERR_MODEL_KIND, "this model holds %s, and intervals come from many",
                  model->state.samples == 1 ? "one sample" : "no samples");
    error_hint(error, "train it with a sampler and {average}, e.g. {solver gibbs} {average}");
    return code;
}

int dpmf_model_interval(const struct dpmf_model *model, uint64_t user, uint64_t item, double level,
                        double *low, double *high, struct dpmf_error *error) {
    int code = arguments_check(error, "model low high", model, low, high);
    if (code < 0) return code;
    struct mixture mixture = {.n = model->state.samples};
    *low = *high = NAN;
    code = check(model, level, error);
    if (code < 0) return code;
    if (user >= model->factors.users.n || item >= model->factors.items.n) return 0;
    /* Samples of where a row was placed say nothing of how far it is from its features. */
    if (model_user_is_placed(model, user) || model_item_is_placed(model, item)) return 0;
    mixture.spread = 1 / sqrt(model->state.noise_precision);
    mixture.center = memory_alloc(mixture.n, sizeof mixture.center[0]);
    if (!mixture.center) return error_no_memory(error);
    find_centers(model, user, item, &mixture);
    *low = quantile(&mixture, (1 - level) / 2);
    *high = quantile(&mixture, (1 + level) / 2);
    free(mixture.center);
    return 0;
}
