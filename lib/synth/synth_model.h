/*
 * The planted model of a synthetic set: r = offset + b_user + b_item + u.v + noise, on a scale.
 */
#ifndef DPMF_SYNTH_SYNTH_MODEL_H
#define DPMF_SYNTH_SYNTH_MODEL_H

#include "dpmf.h"
#include "random/random.h"

/* All in units of the ratings themselves. Zero-initialise; free with synth_model_free. */
struct synth_model {
    uint32_t rank;
    uint64_t seed;
    double offset, noise;
    double bias_sd_user, bias_sd_item, factor_sd;
    float *item_factors; /* items x rank */
    float *item_biases;

    double min, max, step; /* the scale; step 0: real-valued */
    double last_step;      /* number of the scale's last value */
    double *scale_values;  /* value of each step, where there are few; else NULL */
};

int synth_model_init(struct synth_model *model, const struct dpmf_synth_options *options,
                     struct dpmf_error *error);
void synth_model_free(struct synth_model *model);

/* Draws a user's bias and factors (rank of them); what follows in `stream` is for the ratings. */
void synth_model_user(const struct synth_model *model, uint64_t user, struct random_stream *stream,
                      float *bias, float *factors);

/* The user's rating of item j. */
double synth_model_rate(const struct synth_model *model, float bias, const float *factors,
                        uint32_t j, struct random_stream *stream);

#endif
