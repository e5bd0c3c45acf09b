/*
 * A smooth surface through a few measured points: what a search believes about the places it has
 * not tried yet, and how sure it is of that. A Gaussian process with a Matern 5/2 kernel.
 */
#ifndef DPMF_TUNE_SURFACE_H
#define DPMF_TUNE_SURFACE_H

#include "dpmf.h"

enum { SURFACE_AXES_MAX = 8, SURFACE_POINTS_MAX = 128 };

struct surface;

/* n <= SURFACE_POINTS_MAX points of n_axes <= SURFACE_AXES_MAX coordinates each, about 0 to 1 wide,
 * one after the other, and their values, all finite. How far the surface reaches along each axis,
 * and how noisy it takes the values to be, are what explains the values best. */
int surface_fit(struct surface **surface, const double *points, const double *values, size_t n,
                size_t n_axes, struct dpmf_error *error);
void surface_free(struct surface *surface); /* NULL is fine */

/* By how much a point can be expected to lie below `best`: the mean of max(0, best - value). */
double surface_improvement(struct surface *surface, const double *point, double best);

#endif
