/*
 * The search of search.h, in coordinates that are 0 at an axis's `low` and 1 at its `high`, on a
 * logarithmic scale. The first points are the start and points of a sequence that fills the box
 * evenly, drawn towards the start. From then on, of some thousand candidates, half of them all over
 * the box and half near the best so far, the one with the largest expected improvement is next. Fed
 * by tune.c.
 */
#include "tune/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "random/random.h"
#include "tune/surface.h"

enum {
    CANDIDATES = 1536, /* candidates of each half */
    PURPOSE = 0x74756e65,
    SUBSTREAM_SHIFT =
        0, /* substream of the even sequence; draws for the n-th point have number n */
};

static const double TOWARDS_START = 0.7; /* how much of the box the first points fill */
static const double EDGE = 0.05, STRETCH = 0.25;
static const double RETREAT = 0.5; /* share of the box's width, for each value that is not finite */
static const double CAP = 4;       /* medians above the best: worse values are all the same */

struct point {
    double at[SEARCH_AXES_MAX];
    double settings[SEARCH_AXES_MAX];
    double value;
};

struct search {
    struct search_axis axis[SEARCH_AXES_MAX];
    size_t n_axes, n_free;
    size_t free_axis[SEARCH_AXES_MAX];                  /* those that are not held */
    double low[SEARCH_AXES_MAX], high[SEARCH_AXES_MAX]; /* the box, in coordinates */
    double alpha[SEARCH_AXES_MAX], shift[SEARCH_AXES_MAX];
    uint64_t seed, n_asked, n_even;
    struct point *points;
    size_t n, capacity, best;
};

/* ---- coordinates and settings ---------------------------------------------------------------- */

static double coordinate(const struct search_axis *axis, double setting) {
    return log(setting / axis->low) / log(axis->high / axis->low);
}

/* Dividing a whole number by a power of ten gives the very number that its decimal text reads
 * as. */
static double three_digits(double x) {
    double digits = 2 - floor(log10(x));
    double power = pow(10, fabs(digits));
    return digits >= 0 ? round(x * power) / power : round(x / power) * power;
}

static double setting_at(const struct search_axis *axis, double coordinate_of) {
    double x = axis->low * pow(axis->high / axis->low, coordinate_of);
    x = axis->step > 0 ? round(x / axis->step) * axis->step : three_digits(x);
    return fmin(fmax(x, axis->least), axis->most);
}

/* Brings a point to the nearest settings there are, and its coordinates to theirs. */
static void settle(const struct search *search, struct point *point) {
    for (size_t i = 0; i < search->n_axes; i++) {
        const struct search_axis *axis = &search->axis[i];
        point->settings[i] = axis->is_held ? axis->start : setting_at(axis, point->at[i]);
        point->at[i] = axis->is_held ? 0 : coordinate(axis, point->settings[i]);
    }
}

static bool is_tried(const struct search *search, const struct point *point) {
    const size_t bytes = search->n_axes * sizeof(double);
    for (size_t i = 0; i < search->n; i++)
        if (memcmp(search->points[i].settings, point->settings, bytes) == 0) return true;
    return false;
}

/* ---- beginning and end ----------------------------------------------------------------------- */

static int check_axis(const struct search_axis *axis, struct dpmf_error *error) {
    bool is_good = isfinite(axis->start);
    if (!axis->is_held)
        is_good = is_good && axis->least > 0 && axis->least <= axis->low &&
                  axis->low < axis->high && axis->high <= axis->most && isfinite(axis->most) &&
                  axis->start >= axis->low && axis->start <= axis->high && axis->step >= 0;
    return is_good ? 0 : error_set(error, DPMF_ERR_BASE_BUG, "a search within no bounds");
}

/* The sequence n * alpha (mod 1), alpha the powers of 1 / phi with phi^(d + 1) = phi + 1: for d = 1
 * the golden section's, and as even in d dimensions as it is in one. */
static void begin_sequence(struct search *search) {
    double phi = 2, power = 1;
    for (int i = 0; i < 64; i++) phi = pow(1 + phi, 1 / ((double)search->n_free + 1));
    struct random_stream random;
    random_stream_init(&random, search->seed, PURPOSE, SUBSTREAM_SHIFT);
    for (size_t i = 0; i < search->n_axes; i++) {
        search->shift[i] = random_uniform(&random);
        if (!search->axis[i].is_held) search->alpha[i] = power /= phi;
    }
}

int search_init(struct search **out, const struct search_axis *axes, size_t n_axes, uint64_t seed,
                struct dpmf_error *error) {
    *out = NULL;
    if (n_axes < 1 || n_axes > SEARCH_AXES_MAX)
        return error_set(error, DPMF_ERR_BASE_BUG, "a search along %zu axes", n_axes);
    for (size_t i = 0; i < n_axes; i++) {
        int code = check_axis(&axes[i], error);
        if (code < 0) return code;
    }
    struct search *search = memory_alloc_zero(1, sizeof *search);
    if (!search) return error_no_memory(error);
    search->n_axes = n_axes;
    search->seed = seed;
    for (size_t i = 0; i < n_axes; i++) {
        search->axis[i] = axes[i];
        search->high[i] = 1;
        if (!axes[i].is_held) search->free_axis[search->n_free++] = i;
    }
    begin_sequence(search);
    *out = search;
    return 0;
}

void search_free(struct search *search) {
    if (!search) return;
    free(search->points);
    free(search);
}

/* ---- candidates ------------------------------------------------------------------------------ */

/* The next of the even sequence, anywhere in the box. */
static void pick_even(struct search *search, struct point *point) {
    search->n_even++;
    for (size_t i = 0; i < search->n_axes; i++) {
        double x = search->shift[i] + (double)search->n_even * search->alpha[i];
        point->at[i] = search->low[i] + (x - floor(x)) * (search->high[i] - search->low[i]);
    }
}

/* The start, exactly as it was given. */
static void pick_start(const struct search *search, struct point *point) {
    for (size_t i = 0; i < search->n_axes; i++) {
        const struct search_axis *axis = &search->axis[i];
        point->settings[i] = axis->start;
        point->at[i] = axis->is_held ? 0 : coordinate(axis, axis->start);
    }
}

static void pick_around_start(struct search *search, struct point *point) {
    struct point start = {.value = 0};
    pick_start(search, &start);
    pick_even(search, point);
    for (size_t i = 0; i < search->n_axes; i++)
        point->at[i] = start.at[i] + TOWARDS_START * (point->at[i] - start.at[i]);
    settle(search, point);
}

/* A step from the best, small or smaller, along about half of the axes. */
static void pick_near_best(const struct search *search, struct random_stream *random, size_t i,
                           struct point *point) {
    const double width = i % 2 == 0 ? 0.15 : 0.05;
    *point = search->points[search->best];
    for (size_t a = 0; a < search->n_axes; a++) {
        double step = width * random_gaussian(random);
        if (random_uniform(random) < 0.5) continue;
        point->at[a] = fmin(fmax(point->at[a] + step, search->low[a]), search->high[a]);
    }
}

/* ---- the next point -------------------------------------------------------------------------- */

static int compare_values(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Values from `cap` on say nothing but that it is no good there: a diverging run must not bend the
 * surface where it matters. @return the cap, or NaN when no value is finite */
static double cap_of(const struct search *search, double *sorted, size_t *n_finite) {
    *n_finite = 0;
    for (size_t i = 0; i < search->n; i++)
        if (isfinite(search->points[i].value)) sorted[(*n_finite)++] = search->points[i].value;
    if (*n_finite == 0) return NAN;
    qsort(sorted, *n_finite, sizeof sorted[0], compare_values);
    double best = sorted[0], median = sorted[*n_finite / 2];
    return median > best ? best + CAP * (median - best) : sorted[*n_finite - 1];
}

/* The surface through the best of the points, as many as it takes. */
static int fit_surface(const struct search *search, struct surface **surface,
                       struct dpmf_error *error) {
    size_t n_axes = search->n_free, n = 0, n_finite;
    double *sorted = memory_alloc(search->n, sizeof(double));
    double *at = memory_alloc(SURFACE_POINTS_MAX * n_axes, sizeof(double));
    double values[SURFACE_POINTS_MAX];
    int code = sorted && at ? 0 : error_no_memory(error);
    *surface = NULL;
    if (code < 0) goto out;
    double cap = cap_of(search, sorted, &n_finite);
    if (n_finite == 0) goto out; /* nothing to go by */
    bool is_crowded = search->n > SURFACE_POINTS_MAX;
    double worst =
        is_crowded && n_finite > SURFACE_POINTS_MAX ? sorted[SURFACE_POINTS_MAX - 1] : INFINITY;
    for (size_t i = 0; i < search->n && n < SURFACE_POINTS_MAX; i++) {
        const struct point *point = &search->points[i];
        if (is_crowded && !(point->value <= worst)) continue;
        for (size_t a = 0; a < n_axes; a++) at[n * n_axes + a] = point->at[search->free_axis[a]];
        values[n++] = point->value < cap ? point->value : cap;
    }
    code = surface_fit(surface, at, values, n, n_axes, error);
out:
    free(sorted);
    free(at);
    return code;
}

/* What is held is no axis of the surface. */
static double promise(const struct search *search, struct surface *surface,
                      const struct point *point) {
    double at[SEARCH_AXES_MAX];
    for (size_t a = 0; a < search->n_free; a++) at[a] = point->at[search->free_axis[a]];
    return surface_improvement(surface, at, search->points[search->best].value);
}

static bool pick_best(struct search *search, struct surface *surface, struct point *best) {
    double most = -INFINITY;
    bool is_found = false;
    struct random_stream random;
    random_stream_init(&random, search->seed, PURPOSE, search->n_asked);
    for (size_t i = 0; i < 2 * CANDIDATES; i++) {
        struct point point = {.value = 0};
        if (i < CANDIDATES || !surface)
            pick_even(search, &point);
        else
            pick_near_best(search, &random, i, &point);
        settle(search, &point);
        if (is_tried(search, &point)) continue;
        double gain = surface ? promise(search, surface, &point) : -(double)i;
        if (is_found && !(gain > most)) continue;
        is_found = true;
        most = gain;
        *best = point;
    }
    return is_found;
}

static bool has_found(const struct search *search) {
    return search->n > 0 && isfinite(search->points[search->best].value);
}

int search_next(struct search *search, double *settings, struct dpmf_error *error) {
    struct point point = {.value = 0};
    bool is_found = true;
    search->n_asked++;
    if (search->n == 0) {
        pick_start(search, &point);
    } else {
        bool is_first = search->n < 2 * search->n_free && has_found(search);
        for (int i = 0; i < 8 && is_first; i++) {
            pick_around_start(search, &point);
            if (!is_tried(search, &point)) goto out;
        }
        struct surface *surface = NULL;
        int code = search->n_free > 0 ? fit_surface(search, &surface, error) : 0;
        if (code < 0) return code;
        is_found = search->n_free > 0 && pick_best(search, surface, &point);
        surface_free(surface);
    }
out:
    memcpy(settings, point.settings, search->n_axes * sizeof settings[0]);
    return is_found;
}

/* ---- what came of it ------------------------------------------------------------------------- */

/* Where the best lies at the edge of the box, the box grows. */
static void stretch(struct search *search) {
    const struct point *best = &search->points[search->best];
    for (size_t f = 0; f < search->n_free; f++) {
        size_t i = search->free_axis[f];
        const struct search_axis *axis = &search->axis[i];
        if (best->at[i] > search->high[i] - EDGE)
            search->high[i] = fmin(search->high[i] + STRETCH, coordinate(axis, axis->most));
        if (best->at[i] < search->low[i] + EDGE)
            search->low[i] = fmax(search->low[i] - STRETCH, coordinate(axis, axis->least));
    }
}

/* While nothing has come of anything, the box moves away from where nothing can. */
static void retreat(struct search *search) {
    for (size_t f = 0; f < search->n_free; f++) {
        size_t i = search->free_axis[f];
        if (!search->axis[i].is_risky) continue;
        double least = coordinate(&search->axis[i], search->axis[i].least);
        double step = fmin(RETREAT, search->low[i] - least);
        search->low[i] -= step;
        search->high[i] -= step;
    }
}

int search_tell(struct search *search, const double *settings, double value,
                struct dpmf_error *error) {
    if (!memory_reserve(&search->points, &search->capacity, search->n + 1, sizeof(struct point)))
        return error_no_memory(error);
    struct point *point = &search->points[search->n];
    *point = (struct point){.value = isfinite(value) ? value : INFINITY};
    memcpy(point->settings, settings, search->n_axes * sizeof settings[0]);
    for (size_t i = 0; i < search->n_axes; i++)
        point->at[i] =
            search->axis[i].is_held ? 0 : coordinate(&search->axis[i], point->settings[i]);
    search->n++;
    if (point->value < search->points[search->best].value) search->best = search->n - 1;
    if (has_found(search))
        stretch(search);
    else
        retreat(search);
    return 0;
}
