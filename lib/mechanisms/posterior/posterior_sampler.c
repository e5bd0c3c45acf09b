/*
 * A chain that keeps the clamped target. Fed by posterior_data.c; feeds posterior.c.
 *
 * A row, given the other side. Without the clamp the conditional is Gaussian: with x the other
 * side's vector and a 1 for the bias, s = 2 a w for each rating, and t the rating less the other
 * side's bias,
 *     precision P = Lambda + sum s x x^T,   mean P^-1 (Lambda m + sum s t x).
 * It is proposed, whatever the row is now, and accepted with probability min(1, exp(E(new) -
 * E(old))),
 *     E = a sum w [(y - p)^2 - (y - clamp p)^2],
 * which is Metropolis and Hastings' rule for an independent proposal: target / proposal is exp(E).
 * (Without this step the chain would keep a distribution that no B bounds.) A draw from the prior
 * may predict much that the clamp cuts off: its E is then so large that hardly any proposal is
 * accepted, though it is a bad state. So the first rounds accept everything, which is a way to
 * begin and no more; the rounds after them keep the target from wherever they begin. For the same
 * reason a row that got among predictions that are cut off would stay there for long: now and then
 * a draw from its prior is proposed as well, and accepted with probability min(1, exp(a (L(old) -
 * L(new)))), L being the clamped loss.
 *
 * The mean g of the items' biases has a Gaussian conditional. Two more moves go far where that goes
 * in small steps, both translations, whose Jacobian is 1: a number is added to g and to all items'
 * biases, drawn as a row is, with the same Metropolis step over all ratings; and a number is added
 * to them and taken from all users' biases, which leaves all predictions as they are and is drawn
 * from its Gaussian conditional.
 *
 * Every row of every round has a stream of its own, (chain and side, round, row): who draws what
 * does not depend on threads, and no draw is used twice.
 */
#define _GNU_SOURCE
#include "mechanisms/posterior/posterior_sampler.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "numerics/cholesky.h"

enum side { USERS, ITEMS, OTHERS, SIDES }; /* whose draws */
enum { CHUNK = 16 };                       /* rows taken at once */

static const double prior_chance = 0.125; /* that a row is offered a draw from its prior, a round */

struct posterior_target posterior_target_make(const struct posterior_rule *rule) {
    double unit = rule->range / 4;
    return (struct posterior_target){
        .factors = rule->factors,
        .scale = posterior_scale(rule) * unit * unit,
        .limit = 2 + rule->kappa / unit,
        .precision_b = posterior_precision_b,
        .precision_v = rule->factors / posterior_vector_variance,
        .precision_c = posterior_precision_c,
        .precision_g = posterior_precision_g,
    };
}

/* ---- draws ----------------------------------------------------------------------------------- */

struct draws {
    struct secure_stream stream;
    double spare;
    bool has_spare;
};

static void begin_draws(struct draws *draws, const struct posterior_chain *chain, enum side side,
                        uint32_t row) {
    secure_stream_init(&draws->stream, chain->random, chain->number * SIDES + side,
                       chain->round << 32 | row);
    draws->has_spare = false;
}

/* (0, 1), 53 bits */
static double uniform(struct draws *draws) {
    return ((double)(secure_stream_u64(&draws->stream) >> 11) + 0.5) * 0x1p-53;
}

bool posterior_is_in_disk(double x, double y, double *square) {
    *square = x * x + y * y;
    return *square < 1 && *square > 0;
}

/* Marsaglia's polar method. */
static double gaussian(struct draws *draws) {
    double x, y, square;
    if (draws->has_spare) {
        draws->has_spare = false;
        return draws->spare;
    }
    do {
        x = 2 * uniform(draws) - 1;
        y = 2 * uniform(draws) - 1;
    } while (!posterior_is_in_disk(x, y, &square));
    double factor = sqrt(-2 * log(square) / square);
    draws->spare = y * factor;
    draws->has_spare = true;
    return x * factor;
}

/* ---- a row ----------------------------------------------------------------------------------- */

/* What each thread has for itself. */
struct posterior_worker {
    double *P;    /* D x D, the lower triangle */
    double *next; /* D: the proposal */
    double *x;    /* D: the other side's vector and a 1 */
    uint64_t proposed, accepted;
    int code;
};

/* One side's update, shared by the workers. */
struct sweep {
    struct posterior_chain *chain;
    enum side side;
    bool is_exact; /* with the Metropolis step */
    const struct posterior_side *ratings;
    double *rows, *others;
    _Atomic size_t next;
    _Atomic bool is_stopped;
};

static double clamp(double p, double limit) { return fmin(fmax(p, -limit), limit); }

static double dot(const double *a, const double *b, size_t n) {
    double sum = 0;
    for (size_t k = 0; k < n; k++) sum += a[k] * b[k];
    return sum;
}

/* The weight of rating i of row r. */
static double weight_of(const struct sweep *sweep, size_t r, size_t i) {
    const double *weight = sweep->chain->data->weight;
    return weight[sweep->side == USERS ? r : sweep->ratings->other[i]];
}

/* P and, in worker->next, P mean. */
static void gather(const struct sweep *sweep, size_t r, struct posterior_worker *worker) {
    const struct posterior_target *target = sweep->chain->target;
    const size_t K = target->factors, D = K + 1;
    double *P = worker->P, *b = worker->next, *x = worker->x;
    memset(P, 0, D * D * sizeof *P);
    memset(b, 0, D * sizeof *b);
    for (size_t k = 0; k < K; k++) P[k * D + k] = sweep->side == USERS ? 1 : target->precision_v;
    P[K * D + K] = sweep->side == USERS ? target->precision_b : target->precision_c;
    if (sweep->side == ITEMS) b[K] = target->precision_c * sweep->chain->mean_c;
    x[K] = 1;
    for (size_t i = sweep->ratings->start[r]; i < sweep->ratings->start[r + 1]; i++) {
        const double *other = sweep->others + sweep->ratings->other[i] * D;
        double s = 2 * target->scale * weight_of(sweep, r, i);
        double t = s * (sweep->ratings->y[i] - other[K]);
        memcpy(x, other, K * sizeof *x);
        for (size_t k = 0; k < D; k++) {
            double sx = s * x[k];
            b[k] += t * x[k];
            for (size_t l = 0; l <= k; l++) P[k * D + l] += sx * x[l];
        }
    }
}

/* N(P^-1 b, P^-1): with P = L L^T, it is L^-T (L^-1 b + z). */
static int draw_row(struct posterior_worker *worker, size_t D, struct draws *draws) {
    double *L = worker->P, *x = worker->next;
    int code = cholesky_factor(L, D);
    if (code < 0) return code;
    cholesky_solve_lower(L, D, x);
    for (size_t k = 0; k < D; k++) x[k] += gaussian(draws);
    for (size_t k = D; k-- > 0;) {
        x[k] /= L[k * D + k];
        for (size_t l = 0; l < k; l++) x[l] -= L[k * D + l] * x[k];
    }
    return 0;
}

/* E of a row. */
static double excess(const struct sweep *sweep, size_t r, const double *row) {
    const struct posterior_target *target = sweep->chain->target;
    const size_t K = target->factors, D = K + 1;
    double sum = 0;
    for (size_t i = sweep->ratings->start[r]; i < sweep->ratings->start[r + 1]; i++) {
        const double *other = sweep->others + sweep->ratings->other[i] * D;
        double p = dot(row, other, K) + row[K] + other[K], y = sweep->ratings->y[i];
        double inside = clamp(p, target->limit);
        if (inside != p)
            sum += weight_of(sweep, r, i) * ((y - p) * (y - p) - (y - inside) * (y - inside));
    }
    return target->scale * sum;
}

/* L of a row. */
static double row_loss(const struct sweep *sweep, size_t r, const double *row) {
    const size_t K = sweep->chain->target->factors, D = K + 1;
    double sum = 0;
    for (size_t i = sweep->ratings->start[r]; i < sweep->ratings->start[r + 1]; i++) {
        const double *other = sweep->others + sweep->ratings->other[i] * D;
        double p = dot(row, other, K) + row[K] + other[K];
        double e = sweep->ratings->y[i] - clamp(p, sweep->chain->target->limit);
        sum += weight_of(sweep, r, i) * e * e;
    }
    return sum;
}

static void draw_from_prior(const struct posterior_chain *chain, enum side side,
                            struct draws *draws, double *row) {
    const struct posterior_target *target = chain->target;
    const size_t K = target->factors;
    double precision = side == USERS ? 1 : target->precision_v;
    double bias_precision = side == USERS ? target->precision_b : target->precision_c;
    for (size_t k = 0; k < K; k++) row[k] = gaussian(draws) / sqrt(precision);
    row[K] = (side == USERS ? 0 : chain->mean_c) + gaussian(draws) / sqrt(bias_precision);
}

static void offer_prior(const struct sweep *sweep, size_t r, struct posterior_worker *worker,
                        struct draws *draws, double *row) {
    const struct posterior_target *target = sweep->chain->target;
    if (uniform(draws) >= prior_chance) return;
    draw_from_prior(sweep->chain, sweep->side, draws, worker->next);
    double change = target->scale * (row_loss(sweep, r, row) - row_loss(sweep, r, worker->next));
    if (change >= 0 || uniform(draws) < exp(change))
        memcpy(row, worker->next, (target->factors + 1) * sizeof *row);
}

static int update_row(const struct sweep *sweep, size_t r, struct posterior_worker *worker) {
    const size_t D = sweep->chain->target->factors + 1;
    double *row = sweep->rows + r * D;
    struct draws draws;
    begin_draws(&draws, sweep->chain, sweep->side, (uint32_t)r);
    gather(sweep, r, worker);
    int code = draw_row(worker, D, &draws);
    if (code == 0) {
        double change = excess(sweep, r, worker->next) - excess(sweep, r, row);
        bool accepted = !sweep->is_exact || change >= 0 || uniform(&draws) < exp(change);
        if (accepted) memcpy(row, worker->next, D * sizeof *row);
        worker->accepted += accepted && sweep->is_exact;
        worker->proposed += sweep->is_exact;
        if (sweep->is_exact) offer_prior(sweep, r, worker, &draws, row);
    }
    secure_stream_wipe(&draws.stream);
    return code;
}

/* ---- a sweep --------------------------------------------------------------------------------- */

/* A round may take long, so the first thread asks after each of its rows; the others look. */
static bool is_stopped(struct sweep *sweep, int number) {
    const struct posterior_chain *chain = sweep->chain;
    if (number == 0 && chain->should_stop && chain->should_stop(chain->self))
        atomic_store(&sweep->is_stopped, true);
    return atomic_load_explicit(&sweep->is_stopped, memory_order_relaxed);
}

static void update_rows(void *self, int number) {
    struct sweep *sweep = self;
    struct posterior_worker *worker = &sweep->chain->workers[number];
    size_t n = sweep->ratings->n, first;
    while (worker->code == 0 && (first = atomic_fetch_add(&sweep->next, CHUNK)) < n)
        for (size_t r = first; r < n && r < first + CHUNK && worker->code == 0; r++) {
            worker->code = update_row(sweep, r, worker);
            if (is_stopped(sweep, number)) return;
        }
}

static int sweep_side(struct posterior_chain *chain, enum side side, struct dpmf_error *error) {
    const struct posterior_data *data = chain->data;
    int n = thread_pool_size(chain->pool);
    struct sweep sweep = {.chain = chain,
                          .side = side,
                          .is_exact = chain->round > chain->warming,
                          .ratings = side == USERS ? &data->users : &data->items,
                          .rows = side == USERS ? chain->users : chain->items,
                          .others = side == USERS ? chain->items : chain->users};
    thread_pool_run(chain->pool, update_rows, &sweep);
    for (int i = 0; i < n; i++) {
        struct posterior_worker *worker = &chain->workers[i];
        if (worker->code < 0)
            return error_set(error, DPMF_ERR_TRAIN_DIVERGED, "the sampler is not finite");
        chain->proposed += worker->proposed;
        chain->accepted += worker->accepted;
        worker->proposed = worker->accepted = 0;
    }
    if (is_stopped(&sweep, 0)) /* whoever had the rows */
        return error_set(error, DPMF_ERR_BASE_CANCELLED, "interrupted");
    return 0;
}

/* ---- what the biases share ------------------------------------------------------------------- */

/* Sums over all ratings, users chunk by chunk: added up in one order, so that they are the same for
 * any number of threads. */
struct posterior_sums {
    double residuals; /* sum of w (y - p) */
    double excess;    /* E / a */
    double weights;   /* sum of w */
    double loss;      /* L */
};

struct tally {
    const struct posterior_chain *chain;
    double shift; /* common shift of all predictions */
    _Atomic size_t next;
};

static void tally_user(const struct tally *tally, size_t u, struct posterior_sums *sums) {
    const struct posterior_chain *chain = tally->chain;
    const struct posterior_side *users = &chain->data->users;
    const size_t K = chain->target->factors, D = K + 1;
    const double *row = chain->users + u * D, w = chain->data->weight[u];
    const double limit = chain->target->limit;
    for (size_t i = users->start[u]; i < users->start[u + 1]; i++) {
        const double *other = chain->items + users->other[i] * D;
        double p = dot(row, other, K) + row[K] + other[K] + tally->shift, y = users->y[i];
        double inside = clamp(p, limit);
        sums->residuals += w * (y - p);
        sums->weights += w;
        sums->loss += w * (y - inside) * (y - inside);
        if (inside != p) sums->excess += w * ((y - p) * (y - p) - (y - inside) * (y - inside));
    }
}

static void tally_users(void *self, int worker) {
    struct tally *tally = self;
    size_t n = tally->chain->data->users.n, first;
    (void)worker;
    while ((first = atomic_fetch_add(&tally->next, CHUNK)) < n) {
        struct posterior_sums sums = {0};
        for (size_t u = first; u < n && u < first + CHUNK; u++) tally_user(tally, u, &sums);
        tally->chain->sums[first / CHUNK] = sums;
    }
}

/* With predictions shifted by so much. */
static struct posterior_sums sum_all(const struct posterior_chain *chain, double shift) {
    struct tally tally = {.chain = chain, .shift = shift};
    struct posterior_sums sums = {0};
    thread_pool_run(chain->pool, tally_users, &tally);
    for (size_t c = 0; c * CHUNK < chain->data->users.n; c++) {
        sums.residuals += chain->sums[c].residuals;
        sums.excess += chain->sums[c].excess;
        sums.weights += chain->sums[c].weights;
        sums.loss += chain->sums[c].loss;
    }
    return sums;
}

static double sum_of_biases(const double *rows, size_t n, size_t K) {
    double sum = 0;
    for (size_t r = 0; r < n; r++) sum += rows[r * (K + 1) + K];
    return sum;
}

static void add_to_biases(double *rows, size_t n, size_t K, double shift) {
    for (size_t r = 0; r < n; r++) rows[r * (K + 1) + K] += shift;
}

static void shift_items(struct posterior_chain *chain, double shift) {
    chain->mean_c += shift;
    add_to_biases(chain->items, chain->data->items.n, chain->target->factors, shift);
}

/* g given c. */
static void draw_mean(struct posterior_chain *chain, struct draws *draws) {
    const struct posterior_target *target = chain->target;
    const size_t n = chain->data->items.n;
    double precision = target->precision_g + target->precision_c * (double)n;
    chain->mean_c =
        target->precision_c * sum_of_biases(chain->items, n, target->factors) / precision +
        gaussian(draws) / sqrt(precision);
}

/* d of (c + d, g + d): exp(-a sum w (y - p - d)^2 - precision_g (g + d)^2 / 2), and the step for
 * the clamp. */
static void draw_level(struct posterior_chain *chain, struct draws *draws) {
    const struct posterior_target *target = chain->target;
    struct posterior_sums now = sum_all(chain, 0);
    double precision = target->precision_g + 2 * target->scale * now.weights;
    double mean = 2 * target->scale * now.residuals - target->precision_g * chain->mean_c;
    double shift = mean / precision + gaussian(draws) / sqrt(precision);
    struct posterior_sums then = sum_all(chain, shift);
    double change = target->scale * (then.excess - now.excess);
    bool accepted = chain->round <= chain->warming || change >= 0 || uniform(draws) < exp(change);
    if (accepted) shift_items(chain, shift);
    chain->loss = accepted ? then.loss : now.loss;
}

/* d of (c + d, g + d, b - d): exp(-(precision_g (g + d)^2 + precision_b sum (b - d)^2) / 2). */
static void draw_exchange(struct posterior_chain *chain, struct draws *draws) {
    const struct posterior_target *target = chain->target;
    const size_t n = chain->data->users.n, K = target->factors;
    double precision = target->precision_g + target->precision_b * (double)n;
    double mean = target->precision_b * sum_of_biases(chain->users, n, K) -
                  target->precision_g * chain->mean_c;
    double shift = mean / precision + gaussian(draws) / sqrt(precision);
    shift_items(chain, shift);
    add_to_biases(chain->users, n, K, -shift);
}

static void update_means(struct posterior_chain *chain) {
    struct draws draws;
    begin_draws(&draws, chain, OTHERS, 0);
    draw_mean(chain, &draws);
    draw_level(chain, &draws);
    draw_exchange(chain, &draws);
    secure_stream_wipe(&draws.stream);
}

int posterior_chain_round(struct posterior_chain *chain, struct dpmf_error *error) {
    chain->round++;
    int code = sweep_side(chain, USERS, error);
    if (code == 0) code = sweep_side(chain, ITEMS, error);
    if (code == 0) update_means(chain);
    return code;
}

/* ---- begin and end --------------------------------------------------------------------------- */

static void draw_side(struct posterior_chain *chain, enum side side, double *rows, size_t n) {
    const size_t D = chain->target->factors + 1;
    for (size_t r = 0; r < n; r++) {
        struct draws draws;
        begin_draws(&draws, chain, side, (uint32_t)r);
        draw_from_prior(chain, side, &draws, rows + r * D);
        secure_stream_wipe(&draws.stream);
    }
}

static int make_space(struct posterior_chain *chain, struct dpmf_error *error) {
    const size_t D = chain->target->factors + 1, n = (size_t)thread_pool_size(chain->pool);
    chain->users = memory_alloc(chain->data->users.n, D * sizeof(double));
    chain->items = memory_alloc(chain->data->items.n, D * sizeof(double));
    chain->sums = memory_alloc(chain->data->users.n / CHUNK + 1, sizeof *chain->sums);
    chain->workers = memory_alloc_zero(n, sizeof *chain->workers);
    if (!chain->users || !chain->items || !chain->sums || !chain->workers)
        return error_no_memory(error);
    for (size_t i = 0; i < n; i++) {
        struct posterior_worker *worker = &chain->workers[i];
        worker->P = memory_alloc(D, D * sizeof(double));
        worker->next = memory_alloc(D, sizeof(double));
        worker->x = memory_alloc(D, sizeof(double));
        if (!worker->P || !worker->next || !worker->x) return error_no_memory(error);
    }
    return 0;
}

int posterior_chain_init(struct posterior_chain *chain, const struct posterior_target *target,
                         const struct posterior_data *data, const struct secure_random *random,
                         struct thread_pool *pool, uint32_t number, uint64_t warming,
                         struct dpmf_error *error) {
    struct draws draws;
    *chain = (struct posterior_chain){.target = target,
                                      .data = data,
                                      .random = random,
                                      .pool = pool,
                                      .number = number,
                                      .warming = warming};
    int code = make_space(chain, error);
    if (code < 0) {
        posterior_chain_free(chain);
        return code;
    }
    begin_draws(&draws, chain, OTHERS, 0);
    chain->mean_c = gaussian(&draws) / sqrt(target->precision_g);
    secure_stream_wipe(&draws.stream);
    draw_side(chain, USERS, chain->users, data->users.n);
    draw_side(chain, ITEMS, chain->items, data->items.n);
    return 0;
}

void posterior_chain_free(struct posterior_chain *chain) {
    for (int i = 0; chain->workers && i < thread_pool_size(chain->pool); i++) {
        free(chain->workers[i].P);
        free(chain->workers[i].next);
        free(chain->workers[i].x);
    }
    free(chain->workers);
    free(chain->sums);
    free(chain->users);
    free(chain->items);
    chain->users = chain->items = NULL;
    chain->workers = NULL;
    chain->sums = NULL;
}

/* ---- what it says ---------------------------------------------------------------------------- */

double posterior_chain_log_density(const struct posterior_chain *chain) {
    const struct posterior_target *target = chain->target;
    const size_t K = target->factors, D = K + 1;
    double sum = target->precision_g * chain->mean_c * chain->mean_c;
    for (size_t i = 0; i < chain->data->users.n; i++) {
        const double *row = chain->users + i * D;
        sum += dot(row, row, K) + target->precision_b * row[K] * row[K];
    }
    for (size_t j = 0; j < chain->data->items.n; j++) {
        const double *row = chain->items + j * D;
        double bias = row[K] - chain->mean_c;
        sum += target->precision_v * dot(row, row, K) + target->precision_c * bias * bias;
    }
    return -target->scale * chain->loss - sum / 2;
}

double posterior_chain_predict(const struct posterior_chain *chain, size_t user, size_t item) {
    const size_t K = chain->target->factors, D = K + 1;
    const double *u = chain->users + user * D, *v = chain->items + item * D;
    return clamp(dot(u, v, K) + u[K] + v[K], chain->target->limit);
}
