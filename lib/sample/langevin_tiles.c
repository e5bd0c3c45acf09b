/*
 * The dynamics of langevin_tiles.h: what rows get between the slices of tiles. Fed by sgd_epoch.c,
 * whose workers call in after every slice; feeds langevin_train.c and bench.c.
 *
 * Noise is keyed by (seed, chain, round, tile), and a tile's injections are made in one order: what
 * a row gets does not depend on threads, and is never drawn twice. Tiles are numbered through all
 * ranks, and users likewise, so no two ranks ever use one draw for two rows; what all of them draw
 * for items, when a chain begins and for items without ratings, is the same on each.
 */
#define _GNU_SOURCE
#include "sample/langevin_tiles.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "sample/langevin_state.h"

enum {
    SQUARE_ROWS = 32, /* whose squares are added in single precision */
    DRAW_ROWS = 64,   /* that have one stream when they are drawn */
};

#define TURN_MOST 0.15 /* largest turn of a thermostat in a visit that is a whole epoch */

enum noise_purpose { NOISE_TILES = 1, NOISE_IDLE, NOISE_USERS, NOISE_ITEMS, NOISE_MOMENTA };

/* ---- injections ------------------------------------------------------------------------------ */

/* e^(-z/2), and sqrt((1 - e^-z) / z), exactly enough for small z too. */
struct decay {
    float kept, spread;
};

static struct decay decay_of(float z) {
    if (z > 0.015625f) return (struct decay){expf(-z / 2), sqrtf(-expm1f(-z) / z)};
    return (struct decay){1 - z * (0.5f - z * 0.125f), 1 - z * (0.25f - z * 0.0520833333f)};
}

static float next_gaussian(struct langevin *langevin, struct langevin_worker *worker) {
    if (worker->n_gaussians == 0) {
        langevin->source.kernels->fill(worker->gaussians, NOISE_BLOCK, &worker->stream);
        worker->n_gaussians = NOISE_BLOCK;
    }
    return worker->gaussians[--worker->n_gaussians];
}

/* Biases diffuse whatever the rows do. */
static void inject_biases(struct langevin *langevin, struct langevin_worker *worker,
                          const struct langevin_side *side, const struct langevin_place *place,
                          const uint32_t *which, size_t n) {
    const float step = (float)langevin->step.biases, p = side->bias_precision;
    for (size_t i = 0; i < n; i++) {
        float *bias = &place->biases[which[i]], time = step * place->shares[which[i]];
        struct decay decay = decay_of(p * time);
        *bias = *bias * decay.kept + sqrtf(time) * decay.spread * next_gaussian(langevin, worker);
    }
}

/* What friction does to momenta; the thermostat's part of it is that of the last visit. */
static void fill_push(const struct langevin *langevin, struct langevin_worker *worker,
                      const struct langevin_place *place, const uint32_t *which, size_t n) {
    for (size_t i = 0; i < n; i++) {
        float time = worker->time[i], z = 2 * (float)langevin->friction * time;
        struct decay decay = decay_of(z);
        worker->keep[i] = decay.kept;
        worker->spread[i] = sqrtf(z) * decay.spread;
        worker->damp[i] = 1;
        if (place->thermostats) {
            float a = place->thermostats[which[i]] * (float)langevin->turning * time;
            a = fminf(fmaxf(a, -0.5f), 0.5f);
            worker->damp[i] = 1 - a * (1 - a * (0.5f - a * (1.0f / 6)));
        }
    }
}

/* The thermostat of Nose and Hoover: friction grows while momenta are too large. Once a visit,
 * which is only approximately what its equation says. It is kept in terms of how fast it turns, and
 * so has the same distribution however fast that is. */
static void turn_thermostats(const struct langevin *langevin, const struct langevin_worker *worker,
                             const struct langevin_place *place, const uint32_t *which, size_t n) {
    const float rate = (float)langevin->turning;
    const float per_column = 1 / (float)langevin->source.factors->k;
    for (size_t i = 0; i < n; i++)
        place->thermostats[which[i]] +=
            rate * worker->time[i] * (worker->energy[i] * per_column - 1);
}

static void inject_rows(struct langevin *langevin, struct langevin_worker *worker,
                        const struct langevin_side *side, const struct langevin_place *place,
                        const uint32_t *which, size_t n) {
    const struct kernel_set *kernels = langevin->source.kernels;
    const struct noise_rows rows = {
        .rows = place->rows,
        .momenta = place->momenta,
        .stride = side->stride,
        .k = langevin->source.factors->k,
        .precision = side->precision,
        .precision_max = side->precision_max,
        .which = which,
        .time = worker->time,
        .n = n,
    };
    for (size_t i = 0; i < n; i++)
        worker->time[i] = (float)langevin->step.rows * place->shares[which[i]];
    if (langevin->table) {
        noise_table_diffuse(langevin->table, &rows, &worker->random);
    } else if (!place->momenta) {
        kernels->diffuse(&rows, &worker->stream);
    } else {
        const struct noise_push push = {
            .drift = (float)langevin->step.drift,
            .row_shift = (float)langevin->row_shift,
            .slip = (float)sqrt(langevin->step.drift / langevin->friction),
            .keep = worker->keep,
            .spread = worker->spread,
            .damp = worker->damp,
            .energy = worker->energy,
        };
        fill_push(langevin, worker, place, which, n);
        kernels->push(&rows, &push, &worker->stream);
        if (place->thermostats) turn_thermostats(langevin, worker, place, which, n);
    }
}

static void inject(struct langevin *langevin, struct langevin_worker *worker,
                   const struct langevin_side *side, const struct langevin_place *place,
                   const uint32_t *which, size_t n) {
    if (n == 0) return;
    inject_rows(langevin, worker, side, place, which, n);
    inject_biases(langevin, worker, side, place, which, n);
}

/* ---- tiles ----------------------------------------------------------------------------------- */

static void begin_visit(struct langevin *langevin, struct langevin_worker *worker,
                        enum noise_purpose purpose, uint64_t place) {
    const struct noise_key key = {
        .seed = langevin->source.seed,
        .chain = langevin->key.chain,
        .round = langevin->key.round,
        .purpose = purpose,
        .place = place,
    };
    noise_stream_init(&worker->stream, &key);
    worker->n_gaussians = 0;
    if (langevin->table)
        chain_stream_init(&worker->random, &langevin->key, CHAIN_NOISE_TABLE, place);
}

static struct langevin_place items_place(const struct langevin *langevin) {
    const struct factor_matrix *items = &langevin->source.factors->items;
    return (struct langevin_place){
        .rows = items->rows,
        .biases = items->biases,
        .momenta = langevin->items.momenta,
        .thermostats = langevin->items.thermostats,
        .shares = noise_schedule_item_shares(langevin->schedule),
    };
}

static struct langevin_place users_place(const struct langevin *langevin,
                                         const struct superblock_view *view) {
    const struct langevin_side *users = &langevin->users;
    uint64_t first, n;
    tiling_superblock_users(langevin->source.tiling, view->superblock, &first, &n);
    return (struct langevin_place){
        .rows = view->rows,
        .biases = view->biases,
        .momenta = users->momenta ? users->momenta + first * users->stride : NULL,
        .thermostats = users->thermostats ? users->thermostats + first : NULL,
        .shares = noise_schedule_user_shares(langevin->schedule) + first,
    };
}

static uint32_t slice_chunks(void *self, size_t superblock, size_t group, size_t slice) {
    const struct langevin *langevin = self;
    return noise_schedule_chunks(langevin->schedule, superblock, group, slice);
}

static void inject_slice(struct langevin *langevin, int number, const struct superblock_view *view,
                         size_t group, size_t slice) {
    struct langevin_worker *worker = &langevin->workers[number];
    struct noise_injections due =
        noise_schedule_injections(langevin->schedule, view->superblock, group, slice);
    const struct langevin_place users = users_place(langevin, view), items = items_place(langevin);
    inject(langevin, worker, &langevin->users, &users, due.users, due.n_users);
    inject(langevin, worker, &langevin->items, &items, due.items, due.n_items);
}

/* Rows that have all their ratings in one slice get their noise before it in one round and after it
 * in the next: noise, ratings, ratings, noise, and the ends of rounds are in the middle of either,
 * where the error of taking turns is of second order. */
static bool injects_first(const struct langevin *langevin) { return langevin->key.round % 2 == 1; }

static void before_slice(void *self, int number, const struct superblock_view *view, size_t group,
                         size_t slice) {
    struct langevin *langevin = self;
    if (slice == 0)
        begin_visit(langevin, &langevin->workers[number], NOISE_TILES,
                    (langevin->superblocks_before + view->superblock) *
                            tiling_n_groups(langevin->source.tiling) +
                        group);
    if (injects_first(langevin)) inject_slice(langevin, number, view, group, slice);
}

static void after_slice(void *self, int number, const struct superblock_view *view, size_t group,
                        size_t slice) {
    struct langevin *langevin = self;
    if (!injects_first(langevin)) inject_slice(langevin, number, view, group, slice);
}

/* ---- sums of squares ------------------------------------------------------------------------- */

/* By column, those of the biases, and last by rating: of every row times its ratings. */
static void add_squares(const struct langevin *langevin, struct langevin_worker *worker,
                        const float *rows, size_t stride, const float *biases,
                        const uint32_t *ratings, uint64_t n, double *sums) {
    const size_t k = langevin->source.factors->k;
    const struct kernel_set *kernels = langevin->source.kernels;
    float *some = worker->squares;
    memset(sums, 0, (k + 2) * sizeof sums[0]);
    for (uint64_t i = 0; i < n; i += SQUARE_ROWS) {
        memset(some, 0, k * sizeof some[0]);
        for (uint64_t j = i; j < n && j < i + SQUARE_ROWS; j++) {
            const float *row = rows + j * stride;
            for (size_t x = 0; x < k; x++) some[x] += row[x] * row[x];
            sums[k] += (double)biases[j] * (double)biases[j];
            sums[k + 1] += (double)kernels->dot(row, row, kernels->padded_k(k)) * ratings[j];
        }
        for (size_t x = 0; x < k; x++) sums[x] += (double)some[x];
    }
}

static void after_users(void *self, int number, const struct superblock_view *view) {
    struct langevin *langevin = self;
    uint64_t first, n;
    tiling_superblock_users(langevin->source.tiling, view->superblock, &first, &n);
    add_squares(langevin, &langevin->workers[number], view->rows, langevin->users.stride,
                view->biases, noise_schedule_user_ratings(langevin->schedule) + first, n,
                langevin->users.parts + view->superblock * (langevin->source.factors->k + 2));
}

static void square_items(void *self, int number) {
    struct langevin *langevin = self;
    const struct factor_matrix *items = &langevin->source.factors->items;
    const size_t parts = langevin->items.n_parts;
    for (size_t part; (part = atomic_fetch_add(&langevin->next_part, 1)) < parts;) {
        uint64_t first = items->n * part / parts, end = items->n * (part + 1) / parts;
        add_squares(langevin, &langevin->workers[number], items->rows + first * items->stride,
                    items->stride, items->biases + first,
                    noise_schedule_item_ratings(langevin->schedule) + first, end - first,
                    langevin->items.parts + part * (langevin->source.factors->k + 2));
    }
}

/* In one order, whoever made the parts. */
static void add_parts(struct langevin_side *side, size_t columns) {
    memset(side->squares, 0, columns * sizeof side->squares[0]);
    for (size_t part = 0; part < side->n_parts; part++)
        for (size_t x = 0; x < columns; x++) side->squares[x] += side->parts[part * columns + x];
}

/* ---- rounds ---------------------------------------------------------------------------------- */

static void copy_precisions(struct langevin_side *side, const double *precisions, size_t k,
                            double bias) {
    assert(bias > 0);
    side->precision_max = 0;
    for (size_t x = 0; x < k; x++) {
        side->precision[x] = (float)precisions[x];
        side->precision_max = fmaxf(side->precision_max, side->precision[x]);
    }
    side->bias_precision = (float)bias;
}

/* How much of its error a rating's own step takes away on average, at these rates. */
static double relief(const struct langevin *langevin, double rate, double bias_rate) {
    const size_t k = langevin->source.factors->k;
    double lengths = langevin->users.squares[k + 1] + langevin->items.squares[k + 1];
    return rate * lengths / fmax((double)langevin->n_ratings, 1) + 2 * bias_rate;
}

/* The drift of SGLD is eta/2 times the force of all ratings, lambda_r sum e v; with momenta it is d
 * T times it. The kernel takes a rating's whole step at once, by the error e before it, which the
 * process would have seen fall to (1 - h) e on the way: it is 1 - h/2 of the step that comes to the
 * same. */
struct sgd_rates langevin_begin_round(struct langevin *langevin, uint32_t round) {
    const struct precisions *precisions = &langevin->precisions;
    const size_t k = langevin->source.factors->k;
    langevin->key.round = round;
    copy_precisions(&langevin->users, precisions->users, k, precisions->user_bias);
    copy_precisions(&langevin->items, precisions->items, k, precisions->item_bias);
    const double drift = langevin->users.momenta ? langevin->step.drift : 0.5;
    double rate = drift * langevin->step.rows * precisions->noise;
    double bias_rate = 0.5 * langevin->step.biases * precisions->noise;
    double h = relief(langevin, rate, bias_rate);
    langevin->rates = (struct sgd_rates){
        .rate = (float)(rate / (1 + h / 2)),
        .bias_rate = (float)(bias_rate / (1 + h / 2)),
    };
    return langevin->rates;
}

const struct sgd_noise *langevin_noise(const struct langevin *langevin) { return &langevin->noise; }

/* Items without ratings, which no tile has, have only their prior. */
static void inject_idle(struct langevin *langevin) {
    size_t n, most = langevin->most;
    const uint32_t *idle = noise_schedule_idle_items(langevin->schedule, &n);
    const struct langevin_place place = items_place(langevin);
    struct langevin_worker *worker = &langevin->workers[0];
    begin_visit(langevin, worker, NOISE_IDLE, 0);
    for (size_t i = 0; i < n; i += most)
        inject(langevin, worker, &langevin->items, &place, idle + i, n - i < most ? n - i : most);
}

void langevin_end_round(struct langevin *langevin) { inject_idle(langevin); }

int langevin_take_sums(struct langevin *langevin, struct dpmf_error *error) {
    const size_t columns = langevin->source.factors->k + 2;
    atomic_store(&langevin->next_part, 0);
    thread_pool_run(langevin->source.pool, square_items, langevin);
    add_parts(&langevin->users, columns);
    add_parts(&langevin->items, columns);
    return cluster_sum_doubles(langevin->source.cluster, langevin->users.squares, columns, error);
}

/* Only whoever has a row needs its momenta: they are not gathered. */
size_t langevin_ring_arrays(const struct langevin *langevin,
                            struct ring_array arrays[LANGEVIN_ARRAYS]) {
    const struct langevin_side *items = &langevin->items;
    size_t n = 0;
    if (items->momenta)
        arrays[n++] = (struct ring_array){items->momenta, items->stride * sizeof(float), true};
    if (items->thermostats)
        arrays[n++] = (struct ring_array){items->thermostats, sizeof(float), true};
    return n;
}

/* The kernel meets a rating's error e right before its step, which makes it (1 - h) e; until the
 * next epoch noise makes it e again. At the end of an epoch ratings are anywhere in between, in the
 * mean in the middle. */
double langevin_squared_error(const struct langevin *langevin, double squared_error) {
    const struct sgd_rates *rates = &langevin->rates;
    double h = relief(langevin, (double)rates->rate, (double)rates->bias_rate);
    return squared_error * fmax(1 - h, 0.5);
}

void langevin_draw_precisions(struct langevin *langevin, double squared_error) {
    precisions_draw(&langevin->precisions, langevin->n_ratings, squared_error, langevin->n_users,
                    langevin->users.squares, langevin->source.factors->items.n,
                    langevin->items.squares, &langevin->key);
}

struct precisions *langevin_precisions(struct langevin *langevin) {
    return &langevin->precisions;
}

const double *langevin_user_squares(const struct langevin *langevin) {
    return langevin->users.squares;
}

const double *langevin_item_squares(const struct langevin *langevin) {
    return langevin->items.squares;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Momenta are stored shifted by a multiple of their rows (kernels/noise_body.h); with another
 * multiple it is another number. */
static void shift_side(const struct langevin_side *side, const float *rows, float change,
                       size_t part, size_t parts) {
    uint64_t first = side->n * part / parts * side->stride;
    uint64_t end = side->n * (part + 1) / parts * side->stride;
    for (uint64_t i = first; i < end; i++) side->momenta[i] -= change * rows[i];
}

static void shift_some(void *self, int number) {
    const struct langevin *langevin = self;
    const size_t parts = (size_t)thread_pool_size(langevin->source.pool);
    const struct factors *factors = langevin->source.factors;
    shift_side(&langevin->users, factors->users.rows, langevin->row_shift_change, (size_t)number,
               parts);
    shift_side(&langevin->items, factors->items.rows, langevin->row_shift_change, (size_t)number,
               parts);
}

static void set_row_shift(struct langevin *langevin, double row_shift) {
    langevin->row_shift_change = (float)row_shift - (float)langevin->row_shift;
    langevin->row_shift = row_shift;
    if (langevin->row_shift_change != 0)
        thread_pool_run(langevin->source.pool, shift_some, langevin);
}

/* Friction is that which lets a column swing once before it comes to rest, if its prior alone holds
 * it. */
void langevin_set_step(struct langevin *langevin, const struct langevin_step *step) {
    assert(step);
    const struct precisions *precisions = &langevin->precisions;
    langevin->step = *step;
    if (!langevin->users.momenta) return;
    double sum = 0;
    for (size_t x = 0; x < precisions->k; x++) sum += precisions->users[x] + precisions->items[x];
    langevin->friction = sqrt(sum / (2 * (double)precisions->k));
    langevin->turning = fmin(langevin->friction, TURN_MOST / step->rows);
    set_row_shift(langevin, (1 + sqrt(step->drift * langevin->friction)) / step->drift);
}

/* ---- the beginning of a chain ---------------------------------------------------------------- */

struct drawing {
    struct langevin *langevin;
    const struct row_store *rows;
    float *biases;
    const double *precision;
    double bias_precision;
    enum noise_purpose purpose;
    uint64_t first_place; /* number of the first row, as noise is keyed by it */
    size_t k;
    _Atomic uint64_t next;
    _Atomic int code;
    struct dpmf_error error;
};

/* Rows `first` to first + n - 1, n at most DRAW_ROWS. */
static void draw_rows(struct drawing *drawing, struct langevin_worker *worker, uint64_t first,
                      uint64_t n, float *rows) {
    const struct langevin *langevin = drawing->langevin;
    const size_t stride = drawing->rows->stride, k = drawing->k;
    begin_visit(drawing->langevin, worker, drawing->purpose, drawing->first_place + first);
    for (uint64_t i = 0; i < n; i++) {
        float *row = rows + i * stride;
        langevin->source.kernels->fill(row, (k + NOISE_BLOCK - 1) / NOISE_BLOCK * NOISE_BLOCK,
                                       &worker->stream);
        for (size_t x = 0; x < k; x++)
            row[x] = (float)((double)row[x] / sqrt(drawing->precision[x]));
        for (size_t x = k; x < stride; x++) row[x] = 0;
        drawing->biases[first + i] = (float)((double)next_gaussian(drawing->langevin, worker) /
                                             sqrt(drawing->bias_precision));
    }
}

static void draw_some(void *self, int number) {
    struct drawing *drawing = self;
    struct langevin_worker *worker = &drawing->langevin->workers[number];
    const struct row_store *store = drawing->rows;
    struct dpmf_error error = {0};
    float *buffer = store->rows ? NULL : memory_alloc(DRAW_ROWS, store->stride * sizeof(float));
    int code = store->rows || buffer ? 0 : error_no_memory(&error);
    for (uint64_t first; (first = atomic_fetch_add(&drawing->next, DRAW_ROWS)) < store->n;) {
        uint64_t n = store->n - first < DRAW_ROWS ? store->n - first : DRAW_ROWS;
        float *rows = store->rows ? store->rows + first * store->stride : buffer;
        if (code < 0) break;
        draw_rows(drawing, worker, first, n, rows);
        code = row_store_put(store, first, n, rows, &error);
    }
    int none = 0;
    if (code < 0 && atomic_compare_exchange_strong(&drawing->code, &none, code))
        drawing->error = error;
    free(buffer);
}

static int draw_side(struct drawing *drawing, struct dpmf_error *error) {
    thread_pool_run(drawing->langevin->source.pool, draw_some, drawing);
    int code = atomic_load(&drawing->code);
    if (code < 0 && error) *error = drawing->error;
    return code;
}

/* Momenta are N(0, 1); what is stored is shifted by a multiple of the rows. */
static void draw_momenta(struct langevin *langevin, struct langevin_side *side, const float *rows,
                         uint64_t n, uint64_t place) {
    struct langevin_worker *worker = &langevin->workers[0];
    const size_t k = langevin->source.factors->k;
    if (!side->momenta) return;
    begin_visit(langevin, worker, NOISE_MOMENTA, place);
    for (uint64_t i = 0; i < n; i++) {
        float *p = side->momenta + i * side->stride;
        const float *row = rows + i * side->stride;
        langevin->source.kernels->fill(p, (k + NOISE_BLOCK - 1) / NOISE_BLOCK * NOISE_BLOCK,
                                       &worker->stream);
        for (size_t x = 0; x < k; x++) p[x] -= (float)langevin->row_shift * row[x];
        for (size_t x = k; x < side->stride; x++) p[x] = 0;
    }
    if (side->thermostats) memset(side->thermostats, 0, (size_t)n * sizeof(float));
}

int langevin_begin_chain(struct langevin *langevin, uint32_t chain, struct dpmf_error *error) {
    struct factors *factors = langevin->source.factors;
    const struct row_store items =
        row_store_of(factors->items.rows, factors->items.n, factors->items.stride);
    struct precisions *precisions = &langevin->precisions;
    langevin->key = (struct chain_key){.seed = langevin->source.seed, .chain = chain};
    precisions_begin(precisions);
    struct drawing drawing = {
        .langevin = langevin,
        .rows = langevin->source.users,
        .biases = factors->users.biases,
        .precision = precisions->users,
        .bias_precision = precisions->user_bias,
        .purpose = NOISE_USERS,
        .first_place = langevin->source.first_user,
        .k = factors->k,
    };
    int code = draw_side(&drawing, error);
    if (code < 0) return code;
    drawing = (struct drawing){
        .langevin = langevin,
        .rows = &items,
        .biases = factors->items.biases,
        .precision = precisions->items,
        .bias_precision = precisions->item_bias,
        .purpose = NOISE_ITEMS,
        .k = factors->k,
    };
    code = draw_side(&drawing, error);
    if (code < 0) return code;
    draw_momenta(langevin, &langevin->users, factors->users.rows, factors->users.n,
                 2 * langevin->source.first_user);
    draw_momenta(langevin, &langevin->items, factors->items.rows, factors->items.n, 1);
    return 0;
}

/* ---- making and freeing ---------------------------------------------------------------------- */

static size_t rounded(size_t k) { return (k + NOISE_BLOCK - 1) / NOISE_BLOCK * NOISE_BLOCK; }

static bool make_side(struct langevin *langevin, struct langevin_side *side, uint64_t n,
                      size_t stride, size_t n_parts) {
    assert(stride > 0); /* a rank may have no users, and so no parts */
    const enum solver solver = langevin->source.solver;
    const size_t k = langevin->source.factors->k;
    side->n = n;
    side->stride = stride;
    side->n_parts = n_parts;
    side->precision = memory_alloc_zero(rounded(k), sizeof(float));
    side->parts = memory_alloc_zero(n_parts, (k + 2) * sizeof(double));
    side->squares = memory_alloc_zero(k + 2, sizeof(double));
    bool made = side->precision && side->parts && side->squares;
    if (solver != SOLVER_SGLD) {
        side->momenta_bytes = (size_t)n * stride * sizeof(float);
        side->momenta = memory_map(side->momenta_bytes);
        made = made && side->momenta;
    }
    if (solver == SOLVER_SGNHT) {
        side->thermostats = memory_alloc_zero((size_t)n, sizeof(float));
        made = made && side->thermostats;
    }
    return made;
}

static void free_side(struct langevin_side *side) {
    if (side->momenta) memory_unmap(side->momenta, side->momenta_bytes);
    free(side->precision);
    free(side->parts);
    free(side->squares);
    free(side->thermostats);
}

static bool make_workers(struct langevin *langevin) {
    const size_t n = (size_t)thread_pool_size(langevin->source.pool), most = langevin->most;
    const size_t k = langevin->source.factors->k;
    langevin->workers = aligned_alloc(64, n * sizeof langevin->workers[0]);
    if (!langevin->workers) return false;
    memset(langevin->workers, 0, n * sizeof langevin->workers[0]);
    langevin->n_workers = n;
    for (size_t i = 0; i < n; i++) {
        struct langevin_worker *worker = &langevin->workers[i];
        worker->squares = memory_alloc(k, sizeof(float));
        worker->time = memory_alloc(most, 5 * sizeof(float));
        if (!worker->squares || !worker->time) return false;
        worker->keep = worker->time + most;
        worker->spread = worker->keep + most;
        worker->damp = worker->spread + most;
        worker->energy = worker->damp + most;
    }
    return true;
}

/* Adds up the superblocks of the ranks before this one. */
static int count_superblocks(struct langevin *langevin, struct dpmf_error *error) {
    const struct dpmf_cluster *cluster = langevin->source.cluster;
    const size_t rank = (size_t)cluster_rank(cluster), n = (size_t)cluster_size(cluster);
    uint64_t *counts = memory_alloc_zero(n, sizeof counts[0]);
    int code = cluster_agree(cluster, counts ? 0 : error_no_memory(error), error);
    if (code == 0) {
        counts[rank] = tiling_n_superblocks(langevin->source.tiling);
        code = cluster_all_sum(cluster, counts, n, error);
    }
    for (size_t r = 0; r < rank && code == 0; r++) langevin->superblocks_before += counts[r];
    free(counts);
    return code;
}

static int make_schedule(struct langevin *langevin, struct dpmf_error *error) {
    const struct langevin_source *source = &langevin->source;
    const struct factors *factors = source->factors;
    langevin->n_users = source->n_users > 0 ? source->n_users : factors->users.n;
    int code = noise_schedule_build(&langevin->schedule, source->tiling, factors->users.n,
                                    factors->items.n, factors->items.stride * sizeof(float),
                                    source->cluster, error);
    if (code == 0) code = count_superblocks(langevin, error);
    if (code < 0) return code;
    const uint32_t *ratings = noise_schedule_item_ratings(langevin->schedule);
    for (uint64_t i = 0; i < factors->items.n; i++) langevin->n_ratings += ratings[i];
    langevin->most = noise_schedule_most(langevin->schedule) + 1;
    return 0;
}

static int make_parts(struct langevin *langevin, struct dpmf_error *error) {
    const struct langevin_source *source = &langevin->source;
    const struct factors *factors = source->factors;
    const size_t k = factors->k, stride = factors->items.stride;
    int code = precisions_init(&langevin->precisions, k, source->unit, error);
    code = cluster_agree(source->cluster, code, error);
    if (code == 0) code = make_schedule(langevin, error);
    if (code == 0 && source->table)
        code = noise_table_init(&langevin->table, source->table, !source->table_without_signs,
                                source->kernels, source->seed, error);
    if (code < 0) return code;
    langevin->noise = (struct sgd_noise){
        .self = langevin,
        .slice_chunks = slice_chunks,
        .before_slice = before_slice,
        .after_slice = after_slice,
        .after_users = after_users,
    };
    bool made =
        make_side(langevin, &langevin->users, factors->users.n, stride,
                  tiling_n_superblocks(source->tiling)) &&
        make_side(langevin, &langevin->items, factors->items.n, stride, LANGEVIN_ITEM_PARTS) &&
        make_workers(langevin);
    return made ? 0 : error_no_memory(error);
}

int langevin_init(struct langevin **out, const struct langevin_source *source,
                  struct dpmf_error *error) {
    assert(out && source);
    *out = NULL;
    struct langevin *langevin = memory_alloc_zero(1, sizeof *langevin);
    int code = cluster_agree(source->cluster, langevin ? 0 : error_no_memory(error), error);
    if (code < 0) {
        free(langevin);
        return code;
    }
    langevin->source = *source;
    code = cluster_agree(source->cluster, make_parts(langevin, error), error);
    if (code < 0)
        langevin_free(langevin);
    else
        *out = langevin;
    return code;
}

void langevin_free(struct langevin *langevin) {
    if (!langevin) return;
    for (size_t i = 0; i < langevin->n_workers; i++) {
        free(langevin->workers[i].squares);
        free(langevin->workers[i].time);
    }
    free(langevin->workers);
    free_side(&langevin->users);
    free_side(&langevin->items);
    noise_table_free(langevin->table);
    noise_schedule_free(langevin->schedule);
    precisions_free(&langevin->precisions);
    free(langevin);
}

uint64_t langevin_bytes(enum solver solver, const struct kernel_set *kernels, size_t k,
                        uint64_t n_users, uint64_t n_items, uint64_t n_ratings, bool streamed) {
    const uint64_t rows = n_users + n_items, row = kernels->stride(k) * sizeof(float);
    uint64_t bytes = noise_schedule_bytes(n_ratings, n_users, n_items);
    bytes += (LANGEVIN_ITEM_PARTS + n_users / 256 + 16) * (k + 2) * sizeof(double);
    if (solver != SOLVER_SGLD && !streamed) bytes += rows * (row + sizeof(float));
    return bytes;
}
