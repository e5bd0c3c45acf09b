/*
 * The two schedules of step sizes. The paper's is eta_0 / t^gamma, t counted in epochs. Ours falls
 * linearly over the epochs asked for, towards nothing at their end: large steps first, and an end
 * at rest.
 *
 * Biases move in smaller steps than vectors, and are penalised less: a bias is one number that all
 * of a row's ratings pull at, and needs neither.
 *
 * Options are for ratings of 1 to 5. On a scale whose unit is s (factors_unit), errors and biases
 * are s times as large and vectors sqrt(s) times; with u = sqrt(s) u', v = sqrt(s) v', e = s e' the
 * step u' += rate (e' v' - reg u') becomes u += rate / s (e v - s reg u), and that of a bias stays
 * what it is.
 */
#include "train/rates.h"

#include <assert.h>
#include <math.h>

struct sgd_rates rates_of_epoch(const struct dpmf_train_options *options, double unit,
                                uint32_t done) {
    assert(unit > 0 && done < options->epochs);
    double rate = options->learning_rate;
    if (options->decay >= 0)
        rate *= pow((double)done + 1, -options->decay);
    else
        rate *= 1 - (double)done / (double)options->epochs;
    return (struct sgd_rates){
        .rate = (float)(rate / unit),
        .reg = (float)(options->regularization * unit),
        .bias_rate = (float)(RATES_BIAS_RATE * rate),
        .bias_reg = (float)(RATES_BIAS_REG * options->regularization),
    };
}
