/*
 * A long run of another sampler on the target of the mechanism `posterior`, for comparison with
 * what it releases: plain arrays, one number at a time instead of one row, predictions kept up to
 * date, begun at 0 instead of the prior. Of lib/privacy it has the trimmed ratings, the weights and
 * the target's numbers; each number is drawn from its Gaussian conditional without the clamp, and
 * accepted with min(1, exp(E(new) - E(old))).
 *
 *     bench_posterior TRAIN.dpr CATALOGUE TEST.dpr EPSILON [SWEEPS [KAPPA [TAU]]]
 *
 * Prints the test RMSE of a draw now and then, everyone's vector folded in from TRAIN, and last its
 * mean and standard deviation over the second half. The range of ratings is 1 to 5. Nothing it
 * writes stays.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mechanisms/posterior/posterior_sampler.h"
#include "model/release.h"
#include "random/random.h"
#include "statement/statement.h"

enum { TIMES = 40 }; /* that it is looked at */

struct state {
    struct posterior_target target;
    struct posterior_data data;
    size_t K, D;
    double *users, *items, g;
    double *p;       /* prediction of each rating, by user */
    size_t *by_item; /* where the ratings of an item are among those by user */
    struct random_stream stream;
    uint64_t proposed, accepted;
};

static void fail(const char *what) {
    fprintf(stderr, "bench_posterior: %s\n", what);
    exit(1);
}

static void check(int code, const struct dpmf_error *error) {
    if (code < 0) fail(error->message);
}

static void *room(size_t n, size_t size) {
    void *array = calloc(n > 0 ? n : 1, size);
    if (!array) fail("no memory");
    return array;
}

/* ---- the sampler ----------------------------------------------------------------------------- */

static double clamped(const struct state *state, double p) {
    return fmin(fmax(p, -state->target.limit), state->target.limit);
}

/* w [(y - p)^2 - (y - clamp p)^2] */
static double excess(const struct state *state, double w, double y, double p) {
    double inside = clamped(state, p);
    return inside == p ? 0 : w * ((y - p) * (y - p) - (y - inside) * (y - inside));
}

/* One number of one row: its ratings are `where` (NULL: first, first + 1, ...), n of them; `other`
 * are the rows that it is multiplied with, column k of them, or 1 when k is K. */
static void update(struct state *state, double *number, double prior, double mean, size_t first,
                   const size_t *where, size_t n, const uint32_t *who, const double *other,
                   size_t k, double *space) {
    const struct posterior_side *users = &state->data.users;
    double precision = prior, pull = -prior * (*number - mean), change = 0;
    const double a = state->target.scale;
    for (size_t i = 0; i < n; i++) {
        size_t at = where ? where[i] : first + i;
        double x = k == state->K ? 1 : other[who[i] * state->D + k], w = space[2 * i];
        precision += 2 * a * w * x * x;
        pull += 2 * a * w * x * (users->y[at] - state->p[at]);
        space[2 * i + 1] = x;
    }
    double step = pull / precision + random_gaussian(&state->stream) / sqrt(precision);
    for (size_t i = 0; i < n; i++) {
        size_t at = where ? where[i] : first + i;
        double w = space[2 * i], p = state->p[at], y = users->y[at];
        change += a * (excess(state, w, y, p + step * space[2 * i + 1]) - excess(state, w, y, p));
    }
    state->proposed++;
    if (random_uniform_open(&state->stream) >= exp(change)) return;
    state->accepted++;
    *number += step;
    for (size_t i = 0; i < n; i++)
        state->p[where ? where[i] : first + i] += step * space[2 * i + 1];
}

static void sweep_users(struct state *state, double *space) {
    const struct posterior_side *users = &state->data.users;
    for (size_t u = 0; u < users->n; u++) {
        size_t first = users->start[u], n = users->start[u + 1] - first;
        for (size_t i = 0; i < n; i++) space[2 * i] = state->data.weight[u];
        for (size_t k = 0; k < state->D; k++)
            update(state, &state->users[u * state->D + k],
                   k == state->K ? state->target.precision_b : 1, 0, first, NULL, n,
                   users->other + first, state->items, k, space);
    }
}

static void sweep_items(struct state *state, double *space) {
    const struct posterior_side *items = &state->data.items;
    for (size_t j = 0; j < items->n; j++) {
        size_t first = items->start[j], n = items->start[j + 1] - first;
        for (size_t i = 0; i < n; i++) space[2 * i] = state->data.weight[items->other[first + i]];
        for (size_t k = 0; k < state->D; k++)
            update(state, &state->items[j * state->D + k],
                   k == state->K ? state->target.precision_c : state->target.precision_v,
                   k == state->K ? state->g : 0, 0, state->by_item + first, n, items->other + first,
                   state->users, k, space);
    }
}

static void draw_mean(struct state *state) {
    double sum = 0, n = (double)state->data.items.n;
    for (size_t j = 0; j < state->data.items.n; j++) sum += state->items[j * state->D + state->K];
    double precision = state->target.precision_g + n * state->target.precision_c;
    state->g = state->target.precision_c * sum / precision +
               random_gaussian(&state->stream) / sqrt(precision);
}

static void begin(struct state *state) {
    const struct posterior_side *users = &state->data.users, *items = &state->data.items;
    size_t n = users->start[users->n], *at = room(items->n, sizeof *at);
    state->users = room(users->n * state->D, sizeof(double));
    state->items = room(items->n * state->D, sizeof(double));
    state->p = room(n, sizeof(double));
    state->by_item = room(n, sizeof(size_t));
    for (size_t j = 0; j < items->n; j++) at[j] = items->start[j];
    for (size_t i = 0; i < n; i++) state->by_item[at[users->other[i]]++] = i;
    free(at);
    /* At 0 the vectors would stay there: one side a little off. */
    for (size_t i = 0; i < items->n * state->D; i++)
        state->items[i] = 0.1 * random_gaussian(&state->stream);
    for (size_t u = 0; u < users->n; u++)
        for (size_t i = users->start[u]; i < users->start[u + 1]; i++)
            state->p[i] = state->items[users->other[i] * state->D + state->K];
}

/* ---- how good a draw is ---------------------------------------------------------------------- */

static double measure(const struct state *state, const struct posterior_rule *rule,
                      const struct catalogue *catalogue, struct dpmf_store *train,
                      struct dpmf_store *test) {
    char path[] = "/tmp/bench-posterior-XXXXXX";
    struct dpmf_error error;
    struct dpmf_model *model;
    struct dpmf_evaluation evaluation;
    const struct dpmf_evaluate_options none = dpmf_evaluate_options_default();
    struct statement statement = {
        .mechanism = "posterior",
        .epsilon = rule->epsilon,
        .range_min = 1,
        .range_max = 5,
        .items = catalogue->ids.n,
        .is_insecure = true,
        .posterior = {rule->max_ratings, rule->factors, rule->rounds, rule->kappa, rule->rho}};
    struct release release = {.factors = {.k = rule->factors,
                                          .offset = 3,
                                          .min = 1,
                                          .max = 5,
                                          .item_ids = catalogue->ids},
                              .factor_penalty = posterior_fold_in_variance,
                              .bias_penalty = posterior_fold_in_variance * posterior_precision_b,
                              .statement = statement_to_json(&statement)};
    struct factor_matrix *items = &release.factors.items;
    check(factor_matrix_init(items, catalogue->ids.n, state->K, 0, &error), &error);
    for (size_t j = 0; j < state->data.items.n; j++) {
        items->biases[j] = (float)state->items[j * state->D + state->K];
        for (size_t k = 0; k < state->K; k++)
            items->rows[j * items->stride + k] = (float)state->items[j * state->D + k];
    }
    int fd = mkstemp(path);
    if (fd < 0) fail("no temporary file");
    close(fd);
    check(release_write(path, &release, OUTPUT_PRIVATE, &error), &error);
    check(dpmf_model_open(path, &model, &error), &error);
    check(dpmf_model_evaluate(model, test, train, &none, NULL, &evaluation, &error), &error);
    dpmf_model_close(model);
    unlink(path);
    release.factors.item_ids = (struct factor_ids){0};
    release_free(&release);
    return evaluation.rmse;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void take_ratings(struct state *state, const struct posterior_rule *rule,
                         const struct catalogue *catalogue, struct dpmf_store *train) {
    struct secure_random coins;
    struct private_ratings *ratings;
    struct private_ratings_report report;
    struct dpmf_error error;
    check(secure_random_init(&coins, &error), &error);
    const struct private_ratings_options options = {.range_min = 1,
                                                    .range_max = 5,
                                                    .catalogue = catalogue,
                                                    .epsilon = rule->epsilon,
                                                    .max_ratings = rule->max_ratings,
                                                    .coins = &coins,
                                                    .memory = UINT64_C(1) << 32,
                                                    .threads = 1};
    check(private_ratings_build(train, &options, NULL, &ratings, &report, &error), &error);
    check(posterior_data_build(ratings, (size_t)catalogue->ids.n, rule, UINT64_C(1) << 32, NULL,
                               &state->data, &error),
          &error);
    private_ratings_free(ratings);
}

int main(int argc, char **argv) {
    struct posterior_rule rule = {.range = 4,
                                  .kappa = argc > 6 ? atof(argv[6]) : 1,
                                  .rho = 1,
                                  .max_ratings =
                                      argc > 7 ? (uint32_t)atoi(argv[7]) : POSTERIOR_MAX_RATINGS,
                                  .factors = POSTERIOR_FACTORS,
                                  .rounds = argc > 5 ? (uint32_t)atoi(argv[5]) : 1000,
                                  .chains = 1};
    struct state state = {0};
    struct catalogue catalogue;
    struct dpmf_store *train, *test;
    struct dpmf_error error;
    double sum = 0, squares = 0, n = 0;
    uint64_t seed;
    if (argc < 5) { /* `make bench` calls everything in the same way */
        puts("bench_posterior.sh runs this with ratings");
        return 0;
    }
    rule.epsilon = atof(argv[4]);
    check(dpmf_store_open(argv[1], NULL, NULL, &train, &error), &error);
    check(catalogue_read(argv[2], NULL, &catalogue, &error), &error);
    check(dpmf_store_open(argv[3], NULL, NULL, &test, &error), &error);
    check(random_from_system(&seed, sizeof seed, &error), &error);
    random_stream_init(&state.stream, seed, 1, 0);
    state.target = posterior_target_make(&rule);
    state.K = rule.factors;
    state.D = state.K + 1;
    take_ratings(&state, &rule, &catalogue, train);
    begin(&state);
    double *space = room(2 * state.data.users.start[state.data.users.n], sizeof *space);
    uint32_t every = rule.rounds / TIMES > 0 ? rule.rounds / TIMES : 1;
    for (uint32_t round = 1; round <= rule.rounds; round++) {
        sweep_users(&state, space);
        sweep_items(&state, space);
        draw_mean(&state);
        if (round % every != 0) continue;
        double rmse = measure(&state, &rule, &catalogue, train, test);
        printf("%6u %.4f\n", round, rmse);
        fflush(stdout);
        if (2 * round <= rule.rounds) continue;
        sum += rmse;
        squares += rmse * rmse;
        n++;
    }
    printf("mean %.4f sd %.4f accepted %.5f\n", sum / n,
           sqrt(fmax(squares / n - sum / n * (sum / n), 0)),
           (double)state.accepted / (double)state.proposed);
    return 0;
}
