/*
 * Step sizes: their defaults, and how they fall.
 */
#ifndef DPMF_TRAIN_RATES_H
#define DPMF_TRAIN_RATES_H

#include "train/sgd_epoch.h"

/* Found on splits of MovieLens 1M other than those reported in docs/performance.md. */
enum { RATES_FACTORS = 128, RATES_EPOCHS = 20, RATES_ROW_STEPS = 3 /* steps of ials a row */ };

#define RATES_LEARNING_RATE 0.03
#define RATES_REGULARIZATION 0.05
#define RATES_BIAS_RATE 0.3       /* rate of the biases, as a share of the vectors' rate */
#define RATES_BIAS_REG 0.4        /* penalty of the biases, as a share of the vectors' penalty */
#define RATES_FIRST_PRODUCT 0.003 /* standard deviation of u.v before the first step */

/* The rates of epoch `done` + 1, when `done` epochs are done, for ratings of this unit
 * (factors_unit). */
struct sgd_rates rates_of_epoch(const struct dpmf_train_options *options, double unit,
                                uint32_t done);

#endif
