/*
 * Ratings of a store against the scale of those that they are brought to.
 */
#ifndef DPMF_COMPARE_COMPARE_SCALE_H
#define DPMF_COMPARE_COMPARE_SCALE_H

#include "store/store.h"

/* Refuses a store whose ratings are on another scale than min to max, which `whose` ("the model")
 * has, and warns of ratings beyond it (base/rating_scale.h). Events are on no scale. `warn` may be
 * NULL. @return 0 or a negative code: DPMF_ERR_INPUT_OUT_OF_RANGE */
int compare_scale(const struct dpmf_store *store, double min, double max, const char *whose,
                  const struct dpmf_run *warn, struct dpmf_error *error);

#endif
