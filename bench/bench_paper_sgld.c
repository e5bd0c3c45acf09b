/*
 * The paper's sampler, run as the paper ran it: Algorithm 2 in its order, SGLD's update with the
 * noise that is due added when a row is met, its temperature, step sizes, trimming and weights,
 * noise from a generator or from a lookup table. Plain loops on one thread; of the library it has
 * the generators alone. Fed by bench/paper/privacy_runs.py with ratings; feeds the sections 35 and
 * 50 of the report with errors and variances. It writes no model: what it draws is not private, and
 * never leaves it.
 *
 *     bench_paper_sgld train=FILE test=FILE [NAME=VALUE ...]
 *         files hold int32 user, int32 item, float rating; ordered by user
 *     bench_paper_sgld inject=TIMES table=SIZE [signs=1]
 *         only what a table does to rows that get noise so many times
 *
 * The update of a rating with error e of user i, eta being the step size, N the number of ratings
 * and N_i that of the user's (v_j likewise):
 *
 *     u_i <- u_i - drift gradient eta N (-loss w_i e v_j + penalty / N_i u_i) + N(0, zeta eta)
 *
 * With F = loss sum w e^2 + penalty (|U|^2 + |V|^2), whose gradient has the factor gradient = 2,
 * that is stationary at exp(-drift gradient F / zeta) for small steps. The paper's rule is drift =
 * 1; written out, its gradient lacks the 2.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "kernels/kernels.h"
#include "random/random.h"

enum { K_MAX = 256, WIDTH_MAX = K_MAX + 1, GAUSSIANS = 4096, PURPOSE = 0x9a9e5 };

struct rating {
    int32_t user, item;
    float value;
};

struct ratings {
    struct rating *all;
    size_t n;
};

/* Rows of one side: k numbers and a bias each. */
struct side {
    size_t n;
    float *rows;
    double *paid;      /* on the clock, up to when a row has its noise */
    uint32_t *ratings; /* ratings of each row that are trained on */
    double penalty;
    float *injected; /* all noise that a row got */
    double *owed;    /* variance that this noise should have */
    uint64_t *payments;
};

struct options {
    const char *train, *test;
    size_t k, epochs, burn_in, warm_up, table, tau, inject;
    bool signs, in_user_order;
    uint64_t seed;
    double time, gamma; /* time is N eta of the first epoch */
    double drift, gradient, loss, zeta, rho;
    double noise_precision, user_precision, item_precision; /* instead of a warm-up */
};

struct run {
    struct options options;
    struct ratings train, test, kept;
    struct side users, items;
    size_t width;
    float *weights; /* weights of users */
    double offset, noise_precision, user_precision, item_precision;
    double clock;
    float *table;
    const struct kernel_set *kernels;
    struct random_stream random;
    struct noise_stream noise;
    float gaussians[GAUSSIANS];
    size_t n_gaussians;
    double *mean, *square; /* sums of test predictions over samples */
    size_t samples;
};

enum { DIVERGED = 5 };

static void fail(const char *what) {
    fprintf(stderr, "bench_paper_sgld: %s\n", what);
    exit(1);
}

static void *room(size_t n, size_t size) {
    void *array = calloc(n > 0 ? n : 1, size);
    if (!array) fail("no memory");
    return array;
}

/* ---- random numbers -------------------------------------------------------------------------- */

static float gaussian(struct run *run) {
    if (run->n_gaussians == 0) {
        run->kernels->fill(run->gaussians, GAUSSIANS, &run->noise);
        run->n_gaussians = GAUSSIANS;
    }
    return run->gaussians[--run->n_gaussians];
}

static size_t below(struct run *run, size_t n) { return (size_t)random_below(&run->random, n); }

/* ---- what is read, trimmed and weighted ------------------------------------------------------ */

static struct ratings read_ratings(const char *path) {
    struct ratings ratings = {0};
    FILE *file = path ? fopen(path, "rb") : NULL;
    if (!file || fseek(file, 0, SEEK_END) != 0) fail("a file of ratings cannot be read");
    const long bytes = ftell(file);
    if (bytes < (long)sizeof(struct rating) || bytes % (long)sizeof(struct rating) != 0)
        fail("a file of ratings has not the size of whole ratings");
    ratings.n = (size_t)bytes / sizeof(struct rating);
    ratings.all = room(ratings.n, sizeof(struct rating));
    rewind(file);
    if (fread(ratings.all, sizeof(struct rating), ratings.n, file) != ratings.n)
        fail("a file of ratings cannot be read");
    fclose(file);
    for (size_t r = 0; r < ratings.n; r++)
        if (ratings.all[r].user < 0 || ratings.all[r].item < 0 || !isfinite(ratings.all[r].value))
            fail("a rating is out of range");
    return ratings;
}

static void grow(struct run *run, const struct ratings *ratings) {
    for (size_t r = 0; r < ratings->n; r++) {
        if ((size_t)ratings->all[r].user >= run->users.n)
            run->users.n = (size_t)ratings->all[r].user + 1;
        if ((size_t)ratings->all[r].item >= run->items.n)
            run->items.n = (size_t)ratings->all[r].item + 1;
    }
}

/* Line 2 of Algorithm 1: of each user tau ratings at most, at random. They are in the order of
 * users. */
static void trim(struct run *run) {
    const size_t tau = run->options.tau;
    run->kept.all = room(run->train.n, sizeof(struct rating));
    for (size_t first = 0, end; first < run->train.n; first = end) {
        struct rating *own = run->train.all + first;
        for (end = first; end < run->train.n && run->train.all[end].user == own->user;) end++;
        size_t n = end - first, keep = tau > 0 && n > tau ? tau : n;
        struct rating *to = run->kept.all + run->kept.n;
        memcpy(to, own, n * sizeof *own); /* kept.n <= first, so there is room for all */
        for (size_t i = 0; i < keep; i++) {
            size_t other = i + below(run, n - i);
            struct rating swapped = to[i];
            to[i] = to[other];
            to[other] = swapped;
        }
        run->kept.n += keep;
    }
}

static void shuffle(struct run *run) {
    struct rating *all = run->kept.all;
    for (size_t i = run->kept.n; i > 1; i--) {
        size_t other = below(run, i);
        struct rating swapped = all[i - 1];
        all[i - 1] = all[other];
        all[other] = swapped;
    }
}

static void make_side(struct side *side, size_t width) {
    side->rows = room(side->n * width, sizeof(float));
    side->paid = room(side->n, sizeof(double));
    side->ratings = room(side->n, sizeof(uint32_t));
    side->injected = room(side->n * width, sizeof(float));
    side->owed = room(side->n, sizeof(double));
    side->payments = room(side->n, sizeof(uint64_t));
}

static void count(struct run *run) {
    double sum = 0;
    for (size_t r = 0; r < run->kept.n; r++) {
        run->users.ratings[run->kept.all[r].user]++;
        run->items.ratings[run->kept.all[r].item]++;
        sum += (double)run->kept.all[r].value;
    }
    run->offset = sum / (double)run->kept.n;
    for (size_t i = 0; i < run->users.n; i++) {
        double m = run->users.ratings[i] > 0 ? run->users.ratings[i] : 1;
        run->weights[i] = 1;
        if (run->options.tau > 0) /* B / (m (range + kappa)^2), B being tau (range + kappa)^2 */
            run->weights[i] = (float)fmin(run->options.rho, (double)run->options.tau / m);
    }
}

static void begin(struct run *run, struct side *side) {
    for (size_t i = 0; i < side->n * run->width; i++) /* nobody's rows stay 0 */
        side->rows[i] = side->ratings[i / run->width] ? 0.1f * gaussian(run) : 0;
    memset(side->injected, 0, side->n * run->width * sizeof(float));
    for (size_t i = 0; i < side->n; i++) {
        side->paid[i] = run->clock;
        side->owed[i] = 0;
        side->payments[i] = 0;
    }
}

/* ---- noise ----------------------------------------------------------------------------------- */

static void build_table(struct run *run) {
    const size_t size = run->options.table;
    if (size == 0) return;
    run->table = room(size + run->width, sizeof(float));
    for (size_t i = 0; i < size; i++) run->table[i] = gaussian(run);
    for (size_t i = 0; i < run->width; i++) run->table[size + i] = run->table[i % size];
}

/* Standard Gaussians for one row: fresh ones, or a segment of the table from a random place on, as
 * the paper has it; with signs, all of it turned round by a coin. */
static const float *draw(struct run *run, float *space) {
    if (!run->table) {
        for (size_t x = 0; x < run->width; x++) space[x] = gaussian(run);
        return space;
    }
    const uint64_t bits = random_u64(&run->random);
    const float *segment = run->table + (size_t)((bits >> 32) * run->options.table >> 32);
    if (!run->options.signs || bits & 1) return segment;
    for (size_t x = 0; x < run->width; x++) space[x] = -segment[x];
    return space;
}

/* "c_i subsequent additions amount to a single draw": what is owed since the row was last met. */
static void pay(struct run *run, struct side *side, size_t i) {
    const double variance = run->options.zeta * (run->clock - side->paid[i]);
    float space[WIDTH_MAX], *row = side->rows + i * run->width;
    float *injected = side->injected + i * run->width;
    side->paid[i] = run->clock;
    if (!(variance > 0)) return;
    const float *noise = draw(run, space), deviation = (float)sqrt(variance);
    for (size_t x = 0; x < run->width; x++) {
        row[x] += deviation * noise[x];
        injected[x] += deviation * noise[x];
    }
    side->owed[i] += variance;
    side->payments[i]++;
}

/* ---- the rounds ------------------------------------------------------------------------------ */

static double predict(const struct run *run, size_t user, size_t item) {
    const float *u = run->users.rows + user * run->width;
    const float *v = run->items.rows + item * run->width;
    const size_t k = run->options.k;
    float sum = u[k] + v[k];
    for (size_t x = 0; x < k; x++) sum += u[x] * v[x];
    return run->offset + (double)sum;
}

static double clamped(double prediction) { return fmin(fmax(prediction, 1), 5); }

static void update(struct run *run, const struct rating *rating, double time) {
    const struct options *options = &run->options;
    const size_t i = (size_t)rating->user, j = (size_t)rating->item, k = options->k;
    float *u = run->users.rows + i * run->width, *v = run->items.rows + j * run->width;
    pay(run, &run->users, i);
    pay(run, &run->items, j);
    const double scale = options->drift * options->gradient * time; /* time: N eta */
    const double e = (double)rating->value - predict(run, i, j);
    const float step = (float)(scale * options->loss * (double)run->weights[i] * e);
    const float shrink_u = (float)(1 - scale * run->users.penalty / run->users.ratings[i]);
    const float shrink_v = (float)(1 - scale * run->items.penalty / run->items.ratings[j]);
    for (size_t x = 0; x < k; x++) {
        const float old = u[x];
        u[x] = shrink_u * u[x] + step * v[x];
        v[x] = shrink_v * v[x] + step * old;
    }
    u[k] = shrink_u * u[k] + step;
    v[k] = shrink_v * v[k] + step;
}

/* All ratings once. */
static void round_of(struct run *run, size_t epoch) {
    const double time = run->options.time / pow((double)epoch, run->options.gamma);
    for (size_t r = 0; r < run->kept.n; r++) {
        update(run, &run->kept.all[r], time);
        run->clock += time / (double)run->kept.n;
    }
}

static double squared_error(const struct run *run) {
    double sum = 0;
    for (size_t r = 0; r < run->kept.n; r++) {
        const struct rating *rating = &run->kept.all[r];
        double e = (double)rating->value - predict(run, (size_t)rating->user, (size_t)rating->item);
        sum += e * e;
    }
    return sum;
}

static double sum_of_squares(const struct side *side, size_t width) {
    double sum = 0;
    for (size_t i = 0; i < side->n * width; i++)
        sum += (double)side->rows[i] * (double)side->rows[i];
    return sum;
}

/* The precisions' conditional means under Gamma(1, scale 100); of so many numbers a draw would be
 * no different. */
static void estimate(struct run *run) {
    const double users = (double)(run->users.n * run->width);
    const double items = (double)(run->items.n * run->width);
    run->noise_precision = (1 + (double)run->kept.n / 2) / (0.01 + squared_error(run) / 2);
    run->users.penalty = (1 + users / 2) / (0.01 + sum_of_squares(&run->users, run->width) / 2);
    run->items.penalty = (1 + items / 2) / (0.01 + sum_of_squares(&run->items, run->width) / 2);
}

/* A non-private SGLD for the precisions, "estimated by a non-private SGLD in this section": drift
 * 1/2, temperature 1, that is, the posterior itself. Leaves noise_precision, and the sides'
 * penalties. */
static void warm_up(struct run *run) {
    const struct options wanted = run->options;
    if (wanted.warm_up == 0) {
        run->noise_precision = wanted.noise_precision;
        run->users.penalty = wanted.user_precision;
        run->items.penalty = wanted.item_precision;
        return;
    }
    float *table = run->table;
    run->table = NULL;
    run->options.drift = 0.5;
    run->options.gradient = run->options.zeta = 1;
    run->options.time = 0.03;
    run->options.gamma = 0;
    run->noise_precision = 1;
    run->users.penalty = run->items.penalty = 5;
    for (size_t epoch = 1; epoch <= wanted.warm_up; epoch++) {
        run->options.loss = run->noise_precision;
        round_of(run, epoch);
        estimate(run);
    }
    run->options = wanted;
    run->table = table;
}

/* ---- what is told ---------------------------------------------------------------------------- */

static double test_rmse(const struct run *run) {
    double sum = 0;
    for (size_t r = 0; r < run->test.n; r++) {
        const struct rating *rating = &run->test.all[r];
        double e = (double)rating->value -
                   clamped(predict(run, (size_t)rating->user, (size_t)rating->item));
        sum += e * e;
    }
    return sqrt(sum / (double)run->test.n);
}

static void take_sample(struct run *run) {
    run->samples++;
    for (size_t r = 0; r < run->test.n; r++) {
        double p = predict(run, (size_t)run->test.all[r].user, (size_t)run->test.all[r].item);
        double away = p - run->mean[r];
        run->mean[r] += away / (double)run->samples;
        run->square[r] += away * (p - run->mean[r]);
    }
}

static double spread(const struct run *run) {
    double sum = 0;
    if (run->samples < 2) return 0;
    for (size_t r = 0; r < run->test.n; r++) sum += run->square[r] / (double)(run->samples - 1);
    return sum / (double)run->test.n;
}

static double mean_rmse(const struct run *run) {
    double sum = 0;
    for (size_t r = 0; r < run->test.n; r++) {
        double e = (double)run->test.all[r].value - clamped(run->mean[r]);
        sum += e * e;
    }
    return sqrt(sum / (double)run->test.n);
}

/* Solves A x = b, A positive definite, by Cholesky's way; both are used up. */
static void solve(double *A, double *b, size_t n) {
    for (size_t c = 0; c < n; c++) {
        for (size_t x = 0; x < c; x++)
            for (size_t r = c; r < n; r++) A[r * n + c] -= A[r * n + x] * A[c * n + x];
        const double root = sqrt(A[c * n + c]);
        for (size_t r = c; r < n; r++) A[r * n + c] /= root;
    }
    for (size_t r = 0; r < n; r++) {
        for (size_t x = 0; x < r; x++) b[r] -= A[r * n + x] * b[x];
        b[r] /= A[r * n + r];
    }
    for (size_t r = n; r-- > 0;) {
        for (size_t x = r + 1; x < n; x++) b[r] -= A[x * n + r] * b[x];
        b[r] /= A[r * n + r];
    }
}

/* Each user at home, from all their ratings and V (the paper's last equation, with the bias): least
 * squares with this penalty. Takes the place of U. */
static void fold_in(struct run *run, double penalty) {
    const size_t D = run->width, k = run->options.k;
    double *A = room(D * D, sizeof(double)), *b = room(D, sizeof(double));
    memset(run->users.rows, 0, run->users.n * D * sizeof(float));
    for (size_t first = 0, end; first < run->train.n; first = end) {
        const size_t user = (size_t)run->train.all[first].user;
        memset(A, 0, D * D * sizeof(double));
        memset(b, 0, D * sizeof(double));
        for (size_t x = 0; x < D; x++) A[x * D + x] = penalty;
        for (end = first; end < run->train.n && (size_t)run->train.all[end].user == user; end++) {
            const float *v = run->items.rows + (size_t)run->train.all[end].item * D;
            double z[WIDTH_MAX];
            for (size_t x = 0; x < k; x++) z[x] = (double)v[x];
            z[k] = 1;
            double y = (double)run->train.all[end].value - run->offset - (double)v[k];
            for (size_t x = 0; x < D; x++) {
                b[x] += y * z[x];
                for (size_t c = 0; c <= x; c++) A[x * D + c] += z[x] * z[c];
            }
        }
        solve(A, b, D);
        for (size_t x = 0; x < D; x++) run->users.rows[user * D + x] = (float)b[x];
    }
    free(A);
    free(b);
}

/* The squares of what rows got, by what they were owed: 1 if noise is what it should be. Over the
 * rows that got at least so many payments. */
static double injected(const struct side *side, size_t width, uint64_t least) {
    double got = 0, due = 0;
    for (size_t i = 0; i < side->n; i++) {
        if (side->payments[i] < least) continue;
        for (size_t x = 0; x < width; x++)
            got += (double)side->injected[i * width + x] * (double)side->injected[i * width + x];
        due += side->owed[i] * (double)width;
    }
    return due > 0 ? got / due : 0;
}

static int by_number(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* How many payments a row got that nine rows of ten do not exceed. */
static uint64_t ninth_tenth(const struct side *side) {
    uint64_t *sorted = room(side->n, sizeof(uint64_t));
    memcpy(sorted, side->payments, side->n * sizeof(uint64_t));
    qsort(sorted, side->n, sizeof(uint64_t), by_number);
    const uint64_t there = sorted[side->n * 9 / 10];
    free(sorted);
    return there;
}

/* The mean square of the numbers of rows that have ratings. */
static double mean_square(const struct side *side, size_t width) {
    double sum = 0, n = 0;
    for (size_t i = 0; i < side->n; i++) {
        if (side->ratings[i] == 0) continue;
        n += (double)width;
        for (size_t x = 0; x < width; x++)
            sum += (double)side->rows[i * width + x] * (double)side->rows[i * width + x];
    }
    return n > 0 ? sum / n : 0;
}

/* The share of pairs of a user and an item that Algorithm 1 would draw everything again for: it
 * wants none. Of some pairs. */
static double share_outside(struct run *run, double kappa) {
    enum { PAIRS = 200000 };
    size_t outside = 0;
    for (size_t i = 0; i < PAIRS; i++) {
        double p = predict(run, below(run, run->users.n), below(run, run->items.n));
        outside += p < 1 - kappa || p > 5 + kappa;
    }
    return (double)outside / PAIRS;
}

static void tell_end(struct run *run, double seconds) {
    const uint64_t often = ninth_tenth(&run->items);
    const double last = test_rmse(run), error = squared_error(run);
    const double users = injected(&run->users, run->width, 0);
    const double items = injected(&run->items, run->width, 0);
    const double popular = injected(&run->items, run->width, often);
    uint64_t payments = 0;
    for (size_t i = 0; i < run->users.n; i++) payments += run->users.payments[i];
    for (size_t j = 0; j < run->items.n; j++) payments += run->items.payments[j];
    const double outside = share_outside(run, 1);
    const double user_square = mean_square(&run->users, run->width);
    const double item_square = mean_square(&run->items, run->width);
    fold_in(run, run->users.penalty / run->options.loss);
    printf("{\"event\":\"done\",\"seconds\":%.6g,\"ratings\":%zu,\"train_rmse\":%.6g,"
           "\"rmse\":%.6g,\"folded_rmse\":%.6g,\"mean_rmse\":%.6g,\"samples\":%zu,\"spread\":%.6g,"
           "\"injected_users\":%.6g,\"injected_items\":%.6g,\"injected_popular\":%.6g,"
           "\"popular_payments\":%llu,\"payments\":%llu,\"noise_precision\":%.6g,"
           "\"user_precision\":%.6g,\"item_precision\":%.6g,\"loss\":%.6g,\"outside\":%.6g,"
           "\"user_square\":%.6g,\"item_square\":%.6g}\n",
           seconds, run->kept.n, sqrt(error / (double)run->kept.n), last, test_rmse(run),
           run->samples > 0 ? mean_rmse(run) : last, run->samples, spread(run), users, items,
           popular, (unsigned long long)often, (unsigned long long)payments, run->noise_precision,
           run->user_precision, run->item_precision, run->options.loss, outside, user_square,
           item_square);
}

/* ---- a table alone --------------------------------------------------------------------------- */

/* Rows that get nothing but noise, payment by payment, all of the same size: after 10, 100, ... of
 * them the mean of the squares of what they got, by the variance that it should have. */
static void inject(struct run *run) {
    enum { ROWS = 16 };
    float space[WIDTH_MAX];
    double *sums = room(ROWS * run->width, sizeof(double));
    size_t next = 10;
    for (size_t payment = 1; payment <= run->options.inject; payment++) {
        for (size_t i = 0; i < ROWS; i++) {
            const float *noise = draw(run, space);
            for (size_t x = 0; x < run->width; x++) sums[i * run->width + x] += (double)noise[x];
        }
        if (payment < next) continue;
        double squares = 0;
        for (size_t i = 0; i < ROWS * run->width; i++) squares += sums[i] * sums[i];
        printf("{\"event\":\"injected\",\"payments\":%zu,\"variance\":%.6g}\n", payment,
               squares / (double)(ROWS * run->width) / (double)payment);
        next *= 10;
    }
    free(sums);
}

/* ---- options --------------------------------------------------------------------------------- */

static double number(const char *text) {
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !isfinite(value) || value < 0) fail("an option has a bad value");
    return value;
}

static bool set_number(struct options *options, const char *name, const char *value) {
    static const char *const sizes[] = {"k",     "epochs", "burn_in", "warm_up",
                                        "table", "tau",    "inject"};
    size_t *const places[] = {&options->k,       &options->epochs, &options->burn_in,
                              &options->warm_up, &options->table,  &options->tau,
                              &options->inject};
    static const char *const reals[] = {
        "time", "gamma", "drift",           "gradient",       "loss",
        "zeta", "rho",   "noise_precision", "user_precision", "item_precision"};
    double *const values[] = {&options->time,
                              &options->gamma,
                              &options->drift,
                              &options->gradient,
                              &options->loss,
                              &options->zeta,
                              &options->rho,
                              &options->noise_precision,
                              &options->user_precision,
                              &options->item_precision};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (strcmp(name, sizes[i]) == 0) return *places[i] = (size_t)number(value), true;
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        if (strcmp(name, reals[i]) == 0) return *values[i] = number(value), true;
    return false;
}

static void set_option(struct options *options, char *text) {
    char *value = strchr(text, '=');
    if (!value) fail("an option is NAME=VALUE");
    *value++ = 0;
    if (set_number(options, text, value)) return;
    if (strcmp(text, "train") == 0)
        options->train = value;
    else if (strcmp(text, "test") == 0)
        options->test = value;
    else if (strcmp(text, "seed") == 0)
        options->seed = (uint64_t)number(value);
    else if (strcmp(text, "signs") == 0)
        options->signs = number(value) != 0;
    else if (strcmp(text, "user_order") == 0)
        options->in_user_order = number(value) != 0;
    else
        fail("there is no such option");
}

static void check(const struct options *options) {
    if (options->k < 1 || options->k > K_MAX) fail("k is 1 to 256");
    if (options->table > UINT32_MAX) fail("a table has fewer numbers than 2^32");
    if (options->inject > 0) return;
    if (!options->train || !options->test) fail("train=FILE and test=FILE are needed");
    if (options->warm_up == 0 && !(options->noise_precision > 0 && options->user_precision > 0 &&
                                   options->item_precision > 0))
        fail("without a warm-up the three precisions are needed");
    if (options->epochs < 1) fail("epochs are needed");
}

static void prepare_random(struct run *run) {
    const struct noise_key key = {.seed = run->options.seed, .purpose = PURPOSE};
    run->kernels = kernel_set_choose(NULL);
    if (!run->kernels) fail("no kernels");
    random_stream_init(&run->random, run->options.seed, PURPOSE, 0);
    noise_stream_init(&run->noise, &key);
    run->width = run->options.k + 1;
}

static void prepare(struct run *run) {
    prepare_random(run);
    run->train = read_ratings(run->options.train);
    run->test = read_ratings(run->options.test);
    grow(run, &run->train);
    grow(run, &run->test);
    make_side(&run->users, run->width);
    make_side(&run->items, run->width);
    run->weights = room(run->users.n, sizeof(float));
    run->mean = room(run->test.n, sizeof(double));
    run->square = room(run->test.n, sizeof(double));
    trim(run);
    if (!run->options.in_user_order) shuffle(run);
    count(run);
    build_table(run);
}

/* Line 3 of Algorithm 1: with a loss of its own (epsilon / 4B), all of F is scaled by it, the
 * penalty, Lambda / lambda_r, with the rest. Without, loss 0, the posterior as it is. */
static void set_target(struct run *run) {
    double *loss = &run->options.loss;
    run->user_precision = run->users.penalty;
    run->item_precision = run->items.penalty;
    if (*loss == 0) {
        *loss = run->noise_precision;
        return;
    }
    run->users.penalty *= *loss / run->noise_precision;
    run->items.penalty *= *loss / run->noise_precision;
}

int main(int n, char **texts) {
    static struct run run = {.options = {.k = 16,
                                         .epochs = 50,
                                         .warm_up = 30,
                                         .seed = 1,
                                         .time = 1,
                                         .drift = 1,
                                         .gradient = 1,
                                         .zeta = 1,
                                         .rho = 1}};
    if (n < 2) { /* `make bench` calls everything in the same way */
        puts("make paper runs this with ratings");
        return 0;
    }
    for (int i = 1; i < n; i++) set_option(&run.options, texts[i]);
    check(&run.options);
    if (run.options.inject > 0) {
        prepare_random(&run);
        build_table(&run);
        inject(&run);
        return 0;
    }
    prepare(&run);
    begin(&run, &run.users);
    begin(&run, &run.items);
    warm_up(&run);
    set_target(&run);
    begin(&run, &run.users);
    begin(&run, &run.items);
    const double started = clock_now();
    for (size_t epoch = 1; epoch <= run.options.epochs; epoch++) {
        round_of(&run, epoch);
        const double rmse = test_rmse(&run), squares = sum_of_squares(&run.items, run.width);
        if (!isfinite(rmse) || !(squares < 1e6 * (double)run.items.n)) {
            fprintf(stderr, "bench_paper_sgld: diverged in epoch %zu\n", epoch);
            return DIVERGED;
        }
        printf("{\"event\":\"epoch\",\"epoch\":%zu,\"seconds\":%.6g,\"rmse\":%.6g}\n", epoch,
               clock_now() - started, rmse);
        if (epoch > run.options.burn_in && run.options.burn_in > 0) take_sample(&run);
    }
    tell_end(&run, clock_now() - started);
    return fflush(stdout) == 0 ? 0 : 1;
}
