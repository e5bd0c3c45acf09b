/*
 * What a store holds: counts, the scale, percentiles, a histogram. All blocks are decoded, so that
 * every checksum is looked at. Each worker counts for itself; counts are whole numbers and sums of
 * doubles are merged block by block in order, so that the answer does not depend on the threads.
 * Fed by the store; feeds the command line and power_law_plot.c.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/pipeline.h"
#include "base/threads.h"
#include "describe/power_law_plot.h"
#include "describe/value_counts.h"
#include "dpmf_text.h"
#include "files/output_file.h"
#include "store/store.h"
#include "store/time_ends.h"

enum { MAX_BARS = 20, TOP = 500, SMALL_DEGREES = 1 << 16 };

_Static_assert((int)MAX_BARS <= (int)DPMF_HISTOGRAM_MAX, "the bars must fit");

const double dpmf_percentile_levels[DPMF_PERCENTILES] = {0, 10, 25, 50, 75, 90, 100};

struct describe_worker {
    struct value_counts values;
    uint64_t bins[MAX_BARS]; /* counts of values that did not fit in `values` */
    bool many_values;
    uint64_t *users_by_degree; /* number of users by degree, below SMALL_DEGREES */
    uint64_t *large_degrees;   /* larger degrees, one by one: there are few */
    size_t n_large, large_capacity;
    struct time_ends ends;
};

/* A block's mean and sum of squared distances from it. */
struct block_moments {
    uint64_t n;
    double mean, squares; /* squares of distances times describe->scale */
};

struct describe {
    double min, max;
    double scale; /* 1, or what keeps squares within a double's range */
    struct describe_worker *workers;
    int n_workers;
    struct block_moments moments; /* moments of the blocks so far, in order */
};

/* 1, unless squares of such numbers would overflow or vanish: then a power of two. */
static double scale_of(double most) {
    if (most == 0 || (most < 1e100 && most > 1e-100)) return 1;
    int exponent = -ilogb(most);
    return ldexp(1, exponent < 1000 ? exponent : 1000);
}

/* ---- visiting -------------------------------------------------------------------------------- */

static size_t bin_of(const struct describe *describe, double value) {
    assert(isfinite(value));
    /* Halves, so that no difference of two ratings is too large for a double. */
    double part = (value / 2 - describe->min / 2) / (describe->max / 2 - describe->min / 2);
    part *= MAX_BARS;
    if (!(part > 0)) return 0;
    return part < MAX_BARS ? (size_t)part : MAX_BARS - 1;
}

static void count_values(const struct describe *describe, struct describe_worker *worker,
                         const double *value, uint64_t n) {
    for (uint64_t i = 0; i < n;) {
        uint64_t run = 1; /* equal ratings often stand side by side */
        while (i + run < n && value[i + run] == value[i]) run++;
        if (!value_counts_add(&worker->values, value[i], run)) {
            worker->many_values = true;
            worker->bins[bin_of(describe, value[i])] += run;
        }
        i += run;
    }
}

static bool count_degrees(struct describe_worker *worker, const struct store_block *block) {
    for (uint32_t i = 0; i < block->n_users; i++) {
        uint64_t degree = block->start[i + 1] - block->start[i];
        if (degree < SMALL_DEGREES) {
            worker->users_by_degree[degree]++;
            continue;
        }
        if (!memory_reserve(&worker->large_degrees, &worker->large_capacity, worker->n_large + 1,
                            sizeof *worker->large_degrees))
            return false;
        worker->large_degrees[worker->n_large++] = degree;
    }
    return true;
}

static struct block_moments moments_of(const double *value, uint64_t n, double scale) {
    assert(value || n == 0);
    struct block_moments m = {n, 0, 0};
    if (n == 0) return m;
    double sum = 0;
    for (uint64_t i = 0; i < n; i++) sum += value[i];
    m.mean = sum / (double)n;
    if (!isfinite(sum)) { /* ratings near the end of what a double holds */
        m.mean = 0;
        for (uint64_t i = 0; i < n; i++) m.mean += value[i] / (double)n;
    }
    for (uint64_t i = 0; i < n; i++) {
        double distance = value[i] * scale - m.mean * scale;
        m.squares += distance * distance;
    }
    return m;
}

static int visit_block(void *self, int worker_number, const struct store_block *block,
                       void *product, struct dpmf_error *error) {
    struct describe *describe = self;
    struct describe_worker *worker = &describe->workers[worker_number];
    count_values(describe, worker, block->value, block->n_ratings);
    if (!count_degrees(worker, block)) return error_no_memory(error);
    if (block->time) time_ends_add(&worker->ends, block->time, block->n_ratings);
    *(struct block_moments *)product = moments_of(block->value, block->n_ratings, describe->scale);
    return 0;
}

/* The moments of two parts together (Chan, Golub, LeVeque). */
static int finish_block(void *self, void *product, struct dpmf_error *error) {
    (void)error;
    struct describe *describe = self;
    struct block_moments *a = &describe->moments;
    const struct block_moments *b = product;
    if (b->n == 0) return 0;
    double n = (double)a->n + (double)b->n,
           distance = b->mean * describe->scale - a->mean * describe->scale;
    a->squares += b->squares + distance * distance * ((double)a->n * (double)b->n / n);
    a->mean = a->mean * ((double)a->n / n) + b->mean * ((double)b->n / n);
    a->n += b->n;
    return 0;
}

static int visit_all(struct describe *describe, struct dpmf_store *store,
                     const struct dpmf_run *run, struct dpmf_error *error) {
    size_t n = store_visit_products(store, run);
    struct block_moments *moments = memory_alloc_zero(n, sizeof *moments);
    void **products = memory_alloc(n, sizeof *products);
    int code = moments && products ? 0 : error_no_memory(error);
    if (code == 0) {
        for (size_t i = 0; i < n; i++) products[i] = &moments[i];
        struct store_visitor visitor = {
            .phase = "reading",
            .want = STORE_WANT_VALUE | STORE_WANT_TIME | STORE_WANT_IDS,
            .visit = visit_block,
            .finish = finish_block,
            .self = describe,
            .products = products,
            .n_products = n,
        };
        code = store_visit(store, &visitor, run, error);
    }
    free(products);
    free(moments);
    return code;
}

static int make_workers(struct describe *describe, const struct dpmf_run *run,
                        struct dpmf_error *error) {
    describe->n_workers = pipeline_workers(threads_wanted(run));
    describe->workers = memory_alloc_zero((size_t)describe->n_workers, sizeof *describe->workers);
    if (!describe->workers) return error_no_memory(error);
    for (int w = 0; w < describe->n_workers; w++) {
        struct describe_worker *worker = &describe->workers[w];
        worker->users_by_degree = memory_alloc_zero(SMALL_DEGREES, sizeof(uint64_t));
        if (!worker->users_by_degree) return error_no_memory(error);
    }
    return 0;
}

static void free_workers(struct describe *describe) {
    for (int w = 0; describe->workers && w < describe->n_workers; w++) {
        free(describe->workers[w].users_by_degree);
        free(describe->workers[w].large_degrees);
    }
    free(describe->workers);
}

/* ---- merging --------------------------------------------------------------------------------- */

static int compare_counts(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* The place, from 1, of a percentile among n sorted values: nearest rank, exact in whole
 * numbers. */
static uint64_t nearest_rank(double level, uint64_t n) {
    assert(n > 0 && level >= 0 && level <= 100);
    uint64_t percent = (uint64_t)level;
    uint64_t rank = n / 100 * percent + (n % 100 * percent + 99) / 100;
    return rank > 0 ? rank : 1;
}

/* All workers' counts into the first one's. */
static bool merge_degrees(struct describe *describe) {
    struct describe_worker *into = &describe->workers[0];
    for (int w = 1; w < describe->n_workers; w++) {
        struct describe_worker *from = &describe->workers[w];
        for (size_t d = 0; d < SMALL_DEGREES; d++)
            into->users_by_degree[d] += from->users_by_degree[d];
        if (!memory_reserve(&into->large_degrees, &into->large_capacity,
                            into->n_large + from->n_large, sizeof(uint64_t)))
            return false;
        for (size_t i = 0; i < from->n_large; i++)
            into->large_degrees[into->n_large++] = from->large_degrees[i];
    }
    if (into->n_large > 0)
        qsort(into->large_degrees, into->n_large, sizeof(uint64_t), compare_counts);
    return true;
}

static void user_percentiles(const struct describe_worker *all, uint64_t n_users,
                             uint64_t percentile[DPMF_PERCENTILES]) {
    uint64_t passed = 0; /* users with degrees below d */
    size_t d = 0;
    for (int p = 0; p < DPMF_PERCENTILES; p++) {
        uint64_t rank = nearest_rank(dpmf_percentile_levels[p], n_users);
        while (d < SMALL_DEGREES && passed + all->users_by_degree[d] < rank)
            passed += all->users_by_degree[d++];
        if (d < SMALL_DEGREES)
            percentile[p] = d;
        else if (rank > passed && rank - passed <= all->n_large)
            percentile[p] = all->large_degrees[rank - passed - 1];
    }
}

static int describe_items(const struct dpmf_store *store, const char *plot,
                          struct dpmf_description *out, struct dpmf_error *error) {
    size_t n = (size_t)out->info.items;
    uint64_t *counts = memory_alloc(n > 0 ? n : 1, sizeof *counts);
    if (!counts) return error_no_memory(error);
    for (size_t j = 0; j < n; j++) counts[j] = store_item_at(store, j).n_ratings;
    qsort(counts, n, sizeof *counts, compare_counts);
    for (int p = 0; p < DPMF_PERCENTILES && n > 0; p++)
        out->per_item[p] = counts[nearest_rank(dpmf_percentile_levels[p], n) - 1];
    uint64_t top = 0;
    for (size_t i = 0; i < n && i < TOP; i++) top += counts[n - 1 - i];
    if (out->info.ratings > 0) out->top_500_share = (double)top / (double)out->info.ratings;
    int code = plot ? power_law_plot_write(plot, counts, n, error) : 0;
    free(counts);
    return code;
}

/* Whether all values are the first one plus a multiple of the smallest distance between two. */
static void find_step(const struct counted_value *value, size_t n, struct dpmf_description *out) {
    if (n < 2) return;
    double step = INFINITY;
    for (size_t i = 1; i < n; i++) step = fmin(step, value[i].value - value[i - 1].value);
    for (size_t i = 1; i < n; i++) {
        double steps = (value[i].value - value[0].value) / step;
        if (!(fabs(steps - nearbyint(steps)) <= 1e-9 * steps)) return;
    }

    /* The mean step is a better one than the smallest: 0.1, not 0.09999999999999964. */
    double width = value[n - 1].value - value[0].value;
    out->step = width / nearbyint(width / step);
    char shorter[32]; /* and twelve digits of it, if those do as well */
    double rounded;
    snprintf(shorter, sizeof shorter, "%.12g", out->step);
    if (dpmf_parse_double(shorter, &rounded) == 0 && fabs(rounded - out->step) <= 1e-12 * rounded)
        out->step = rounded;
    out->has_step = true;
}

static void bars_by_value(const struct counted_value *value, size_t n,
                          struct dpmf_description *out) {
    assert(n > 0);
    out->n_bars = n;
    for (size_t i = 0; i < n; i++) {
        out->bar[i].low = out->bar[i].high = value[i].value;
        out->bar[i].count = value[i].count;
    }
}

/* Bars of equally many steps each: 0-5, 6-11, ... rather than edges between the values. */
static void bars_by_step(const struct counted_value *value, size_t n,
                         struct dpmf_description *out) {
    double min = value[0].value, max = value[n - 1].value;
    double n_steps = nearbyint((max - min) / out->step) + 1, per_bar = ceil(n_steps / MAX_BARS);
    out->n_bars = (size_t)ceil(n_steps / per_bar);
    for (size_t b = 0; b < out->n_bars; b++) {
        out->bar[b].low = min + (double)b * per_bar * out->step;
        out->bar[b].high = fmin(max, out->bar[b].low + (per_bar - 1) * out->step);
    }
    for (size_t i = 0; i < n; i++) {
        size_t bar = (size_t)(nearbyint((value[i].value - min) / out->step) / per_bar);
        out->bar[bar < out->n_bars ? bar : out->n_bars - 1].count += value[i].count;
    }
}

static double edge_of(const struct describe *describe, int b) {
    double part = (double)b / MAX_BARS;
    return describe->min * (1 - part) + describe->max * part;
}

/* Equal bins from the least to the largest. What a worker's table had no room for stands in its
 * bins; together with the tables every rating is there once, whoever ran out of room when. */
static void bars_by_bin(const struct describe *describe, struct dpmf_description *out) {
    out->n_bars = MAX_BARS;
    for (int b = 0; b < MAX_BARS; b++) {
        out->bar[b].low = edge_of(describe, b);
        out->bar[b].high = edge_of(describe, b + 1);
    }
    for (int w = 0; w < describe->n_workers; w++) {
        const struct describe_worker *worker = &describe->workers[w];
        for (int b = 0; b < MAX_BARS; b++) out->bar[b].count += worker->bins[b];
        for (size_t slot = 0; slot < VALUE_COUNTS_SLOTS; slot++)
            if (worker->values.count[slot])
                out->bar[bin_of(describe, worker->values.value[slot])].count +=
                    worker->values.count[slot];
    }
}

/* @return false when there are more distinct values than are counted */
static bool merge_values(const struct describe *describe, struct value_counts *all) {
    for (int w = 0; w < describe->n_workers; w++) {
        const struct describe_worker *worker = &describe->workers[w];
        if (worker->many_values) return false;
        for (size_t slot = 0; slot < VALUE_COUNTS_SLOTS; slot++)
            if (worker->values.count[slot] &&
                !value_counts_add(all, worker->values.value[slot], worker->values.count[slot]))
                return false;
    }
    return all->n < VALUE_COUNTS_MAX;
}

static void exact_moments(const struct counted_value *value, size_t n, double scale,
                          struct dpmf_description *out) {
    double ratings = 0, mean = 0, squares = 0;
    for (size_t i = 0; i < n; i++) ratings += (double)value[i].count;
    for (size_t i = 0; i < n; i++) mean += value[i].value * ((double)value[i].count / ratings);
    for (size_t i = 0; i < n; i++) {
        double distance = value[i].value * scale - mean * scale;
        squares += distance * distance * ((double)value[i].count / ratings);
    }
    out->mean = mean;
    out->standard_deviation = sqrt(squares) / scale;
}

static int describe_values(const struct describe *describe, struct dpmf_description *out,
                           struct dpmf_error *error) {
    if (out->info.ratings == 0) return 0;
    struct value_counts *all = memory_alloc_zero(1, sizeof *all);
    struct counted_value *value = memory_alloc(VALUE_COUNTS_MAX, sizeof *value);
    int code = all && value ? 0 : error_no_memory(error);
    if (code == 0 && merge_values(describe, all)) {
        value_counts_sorted(all, value);
        out->distinct_values = all->n;
        exact_moments(value, all->n, describe->scale, out);
        find_step(value, all->n, out);
        if (all->n <= MAX_BARS)
            bars_by_value(value, all->n, out);
        else if (out->has_step && (value[all->n - 1].value - value[0].value) / out->step < 1e15)
            bars_by_step(value, all->n, out);
        else
            bars_by_bin(describe, out);
    } else if (code == 0) {
        out->distinct_values = VALUE_COUNTS_MAX;
        out->mean = describe->moments.mean;
        out->standard_deviation =
            sqrt(describe->moments.squares / (double)describe->moments.n) / describe->scale;
        bars_by_bin(describe, out);
    }
    free(all);
    free(value);
    return code;
}

/* The warnings of what was packed for this use have been given. */
static void describe_times(const struct describe *describe, const struct dpmf_run *run,
                           struct dpmf_description *out) {
    struct time_ends ends = {0};
    for (int w = 0; w < describe->n_workers; w++)
        time_ends_merge(&ends, &describe->workers[w].ends);
    out->first_time = ends.first;
    out->last_time = ends.last;
    if (!out->info.is_temporary) time_ends_warn(&ends, run);
}

int dpmf_store_describe(struct dpmf_store *store, const char *plot, const struct dpmf_run *run,
                        struct dpmf_description *description, struct dpmf_error *error) {
    struct dpmf_error unwanted;
    if (!error) error = &unwanted;
    struct dpmf_run own_run;
    int code = arguments_check(error, "store description", store, description);
    if (code == 0) code = run_take(&own_run, run, error);
    if (code < 0) return code;
    run = &own_run;
    struct dpmf_description out;
    memset(&out, 0, sizeof out);
    dpmf_store_info(store, &out.info);
    struct describe describe = {
        .min = out.info.min,
        .max = out.info.max,
        .scale = scale_of(fmax(fabs(out.info.min), fabs(out.info.max))),
    };
    if (plot) code = output_file_check(plot, DPMF_FILE_PLOT, run->replace, error);
    if (code == 0) code = make_workers(&describe, run, error);
    if (code == 0) code = visit_all(&describe, store, run, error);
    if (code == 0 && !merge_degrees(&describe)) code = error_no_memory(error);
    if (code == 0) code = describe_values(&describe, &out, error);
    if (code == 0) code = describe_items(store, plot, &out, error);
    if (code != 0) goto out;
    if (out.info.users > 0) user_percentiles(&describe.workers[0], out.info.users, out.per_user);
    describe_times(&describe, run, &out);
    if (out.info.ratings > 0) {
        out.density = (double)out.info.ratings / ((double)out.info.users * (double)out.info.items);
        out.bytes_per_rating = (double)out.info.file_bytes / (double)out.info.ratings;
    }
    *description = out;
out:
    free_workers(&describe);
    return code;
}
