/*
 * Keeps samples for posterior_mean.h while a chain runs on, and writes what they are together, some
 * rows at a time: there is never more than one copy of them in memory. Fed by the samplers; feeds
 * lib/recommend by way of a checkpoint.
 */
#include "sample/posterior_mean.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

enum { USEFUL = 100 }; /* samples: 256 would gain 0.0003 to 0.0005 of RMSE on MovieLens 1M */

#define SMALL 0x1p-5 /* c */

/* The rows of one side as a sample has them, k numbers and a bias each. */
struct kept_side {
    float *rows, *biases;
};

struct posterior_mean {
    uint64_t n[2]; /* users, items */
    size_t k;
    uint32_t room, kept;
    uint64_t expected, added;
    struct kept_side *sample[2]; /* by side and place */
    double noise, bias;          /* sums of precisions: of ratings, of users' biases */
};

/* ---- memory ---------------------------------------------------------------------------------- */

uint32_t posterior_mean_most(size_t k) {
    return (uint32_t)(CHECKPOINT_K_MAX / (k + POSTERIOR_MEAN_MORE));
}

uint32_t posterior_mean_useful(size_t k) {
    return posterior_mean_most(k) < USEFUL ? posterior_mean_most(k) : USEFUL;
}

uint64_t posterior_mean_bytes(uint64_t n_users, uint64_t n_items, size_t k, uint32_t samples) {
    return (n_users + n_items) * (k + 1) * sizeof(float) * samples;
}

int posterior_mean_plan(const struct dpmf_train_options *options, uint64_t n_users,
                        uint64_t n_items, uint64_t expected, uint64_t *bytes, uint32_t *samples) {
    assert(options && bytes && samples);
    const uint64_t each = posterior_mean_bytes(n_users, n_items, options->factors, 1);
    uint64_t most = posterior_mean_useful(options->factors), least = POSTERIOR_MEAN_LEAST;
    *samples = 0;
    if (!options->sampler.average) return 0;
    if (most > expected) most = expected;
    if (least > most) least = most;
    if (options->sampler.samples > 0) most = least = options->sampler.samples;
    if (least * each > *bytes) {
        *bytes = least * each;
        return DPMF_ERR_USAGE_MEMORY;
    }
    *samples = (uint32_t)(most * each > *bytes ? *bytes / each : most);
    return 0;
}

static size_t side_floats(const struct posterior_mean *mean, int side) {
    return (size_t)mean->n[side] * (mean->k + 1); /* as many are in memory when it is called */
}

static bool make_side(struct posterior_mean *mean, int side, uint32_t place) {
    float *floats = memory_map(side_floats(mean, side) * sizeof(float));
    if (!floats) return false;
    mean->sample[side][place] =
        (struct kept_side){.rows = floats, .biases = floats + (size_t)mean->n[side] * mean->k};
    return true;
}

int posterior_mean_init(struct posterior_mean **out, uint64_t n_users, uint64_t n_items, size_t k,
                        uint32_t samples, uint64_t expected, struct dpmf_error *error) {
    assert(k > 0 && samples > 0);
    struct posterior_mean *mean = memory_alloc_zero(1, sizeof *mean);
    *out = NULL;
    if (!mean) return error_no_memory(error);
    mean->n[0] = n_users;
    mean->n[1] = n_items;
    mean->k = k;
    mean->room = samples;
    mean->expected = expected > samples ? expected : samples;
    mean->sample[0] = memory_alloc_zero(samples, sizeof(struct kept_side));
    mean->sample[1] = memory_alloc_zero(samples, sizeof(struct kept_side));
    if (!mean->sample[0] || !mean->sample[1]) {
        posterior_mean_free(mean);
        return error_no_memory(error);
    }
    *out = mean;
    return 0;
}

void posterior_mean_free(struct posterior_mean *mean) {
    if (!mean) return;
    for (int side = 0; side < 2; side++) {
        for (uint32_t s = 0; mean->sample[side] && s < mean->room; s++)
            memory_unmap(mean->sample[side][s].rows, side_floats(mean, side) * sizeof(float));
        free(mean->sample[side]);
    }
    free(mean);
}

uint32_t posterior_mean_samples(const struct posterior_mean *mean) { return mean->kept; }

/* ---- samples --------------------------------------------------------------------------------- */

/* What a column of users is multiplied by, and one of items divided by. */
static double column_scale(const struct precisions *precisions, size_t x) {
    return sqrt(precisions->users[x]);
}

static void copy_rows(const struct posterior_mean *mean, int side, uint64_t first, uint64_t n,
                      const float *rows, size_t stride, const struct precisions *precisions) {
    float *to = mean->sample[side][mean->kept].rows + first * mean->k;
    for (size_t x = 0; x < mean->k; x++) {
        double scale = column_scale(precisions, x);
        float by = (float)(side == 0 ? scale : 1 / scale);
        for (uint64_t i = 0; i < n; i++) to[i * mean->k + x] = by * rows[i * stride + x];
    }
}

static int copy_users(const struct posterior_mean *mean, const struct row_store *users,
                      const struct precisions *precisions, struct dpmf_error *error) {
    uint64_t piece = row_store_piece(users->stride);
    float *buffer = NULL;
    int code = 0;
    if (!users->rows) {
        buffer = memory_alloc((size_t)piece, users->stride * sizeof(float));
        if (!buffer) return error_no_memory(error);
    }
    for (uint64_t first = 0; first < users->n && code == 0; first += piece) {
        uint64_t n = users->n - first < piece ? users->n - first : piece;
        const float *rows = row_store_look(users, first, n, buffer, error);
        if (rows)
            copy_rows(mean, 0, first, n, rows, users->stride, precisions);
        else
            code = error ? error->code : DPMF_ERR_IO_READ;
    }
    free(buffer);
    return code;
}

int posterior_mean_add(struct posterior_mean *mean, const struct factors *sample,
                       const struct row_store *users, const struct precisions *precisions,
                       struct dpmf_error *error) {
    const uint32_t place = mean->kept;
    /* The s-th is kept as soon as s / room of all that are expected are there. */
    if (++mean->added * mean->room / mean->expected <= place || place == mean->room) return 0;
    if (!make_side(mean, 0, place) || !make_side(mean, 1, place)) return error_no_memory(error);
    int code = copy_users(mean, users, precisions, error);
    if (code < 0) return code;
    const struct factor_matrix *items = &sample->items;
    copy_rows(mean, 1, 0, items->n, items->rows, items->stride, precisions);
    memcpy(mean->sample[0][place].biases, sample->users.biases, mean->n[0] * sizeof(float));
    memcpy(mean->sample[1][place].biases, items->biases, mean->n[1] * sizeof(float));
    mean->noise += precisions->noise;
    mean->bias += precisions->user_bias;
    mean->kept++;
    return 0;
}

/* ---- the model ------------------------------------------------------------------------------- */

static float mean_bias(const struct posterior_mean *mean, int side, uint64_t row) {
    double sum = 0;
    for (uint32_t s = 0; s < mean->kept; s++) sum += (double)mean->sample[side][s].biases[row];
    return (float)(sum / mean->kept);
}

/* A row of the model, all blocks of it, and its bias. */
static void join_row(const struct posterior_mean *mean, int side, uint64_t row, double unit,
                     float *to, float *bias) {
    const size_t k = mean->k;
    const double share = 1 / sqrt((double)mean->kept);
    *bias = mean_bias(mean, side, row);
    for (uint32_t s = 0; s < mean->kept; s++, to += k + POSTERIOR_MEAN_MORE) {
        const struct kept_side *sample = &mean->sample[side][s];
        const double off = (double)sample->biases[row] - (double)*bias;
        for (size_t x = 0; x < k; x++) to[x] = (float)(share * (double)sample->rows[row * k + x]);
        to[k] = (float)(share * (side == 0 ? off / (SMALL * unit) : SMALL * unit));
        to[k + 1] = (float)(share * (side == 0 ? 1 / SMALL : off * SMALL));
    }
}

/* How a new user is fitted: the vector's prior is N(0, I), and a penalty is a prior's precision
 * over the ratings'. */
static void tell_penalties(struct checkpoint_state *state, double noise, double user_bias) {
    state->noise_precision = noise;
    state->factor_penalty = 1 / noise;
    state->bias_penalty = user_bias / noise;
}

static void tell_samples(const struct posterior_mean *mean, struct checkpoint_state *state) {
    state->samples = mean->kept;
    state->sample_factors = (uint32_t)(mean->k + POSTERIOR_MEAN_MORE);
    tell_penalties(state, mean->noise / mean->kept, mean->bias / mean->kept);
}

struct joining {
    const struct posterior_mean *mean;
    double unit;
};

static void make_row(void *self, enum checkpoint_side side, uint64_t row, float *to, float *bias) {
    const struct joining *joining = self;
    join_row(joining->mean, side == CHECKPOINT_ITEMS, row, joining->unit, to, bias);
}

int posterior_mean_write(const struct posterior_mean *mean, const char *path,
                         const struct rank_share *share, const struct factors *like,
                         const struct tiling *tiling, struct checkpoint_state *state,
                         const char *provenance, struct dpmf_error *error) {
    struct joining joining = {mean, factors_unit(like->min, like->max)};
    if (mean->kept == 0) return error_set(error, DPMF_ERR_BASE_BUG, "there is no sample");
    tell_samples(mean, state);
    return rank_share_write_made(share, path, like, state->samples * state->sample_factors,
                                 make_row, &joining, tiling, provenance, state, error);
}

/* ---- one sample ------------------------------------------------------------------------------ */

static void scale_rows(float *rows, uint64_t n, size_t stride, const struct precisions *precisions,
                       bool users) {
    for (size_t x = 0; x < precisions->k; x++) {
        double scale = column_scale(precisions, x);
        float by = (float)(users ? scale : 1 / scale);
        for (uint64_t i = 0; i < n; i++) rows[i * stride + x] *= by;
    }
}

static int scale_users(const struct row_store *users, const struct precisions *precisions,
                       struct dpmf_error *error) {
    if (users->rows) {
        scale_rows(users->rows, users->n, users->stride, precisions, true);
        return 0;
    }
    uint64_t piece = row_store_piece(users->stride);
    float *buffer = memory_alloc((size_t)piece, users->stride * sizeof(float));
    if (!buffer) return error_no_memory(error);
    int code = 0;
    for (uint64_t first = 0; first < users->n && code == 0; first += piece) {
        uint64_t n = users->n - first < piece ? users->n - first : piece;
        if (!row_store_look(users, first, n, buffer, error)) {
            code = error ? error->code : DPMF_ERR_IO_READ;
            break;
        }
        scale_rows(buffer, n, users->stride, precisions, true);
        code = row_store_put(users, first, n, buffer, error);
    }
    free(buffer);
    return code;
}

int posterior_sample_scale(struct factors *sample, const struct row_store *users,
                           const struct precisions *precisions, struct checkpoint_state *state,
                           struct dpmf_error *error) {
    struct factor_matrix *items = &sample->items;
    scale_rows(items->rows, items->n, items->stride, precisions, false);
    state->samples = 1;
    state->sample_factors = sample->k;
    tell_penalties(state, precisions->noise, precisions->user_bias);
    return scale_users(users, precisions, error);
}
