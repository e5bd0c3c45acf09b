/*
 * The two schedules of step sizes. The paper's is eta_0 / t^gamma, t counted in epochs. Ours falls linearly
 * over the epochs asked for, towards nothing at their end: large steps first, and an end at rest.
 *
 * Biases move in smaller steps than vectors, and are penalised less: a bias is one number that all of a
 * row's ratings pull at, and needs neither.
 */
#include "train/rates.h"

#include <math.h>

struct sgd_rates rates_of_epoch(const struct dpmf_train_options *options, uint32_t done) {
    double rate = options->learning_rate;
    if (options->decay >= 0)
        rate *= pow((double)done + 1, -options->decay);
    else
        rate *= 1 - (double)done / (double)options->epochs;
    return (struct sgd_rates){
        .rate = (float)rate,
        .reg = (float)options->regularization,
        .bias_rate = (float)(RATES_BIAS_RATE * rate),
        .bias_reg = (float)(RATES_BIAS_REG * options->regularization),
    };
}
