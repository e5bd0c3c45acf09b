/*
 * The mechanism `gram`: one noisy item-item matrix of what users' residuals have in common, and its
 * eigenvectors above the noise. One look at the data instead of rounds; but a matrix of P^2 / 2
 * numbers, all with noise. What a user sends, and why its norm is at most 1, is in gram_user.c.
 *
 * The curator's part. With om_j the items' weights, the noisy sums in units where the noise of an
 * entry is sigma are
 *
 *     G_jk = omega (om_j N_j) (om_k N_k) v_j.v_k + noise,     j != k
 *
 * if who rates j and who rates k is independent given their counts; omega follows from the released
 * weight of pairs. The diagonal is not asked for, being mostly noise of ratings; it is filled in
 * from the eigenvectors themselves. Of a symmetric matrix of noise alone the eigenvalues reach 2
 * sigma sqrt(P), and one of signal lambda is found at lambda + sigma^2 P / lambda, its vector with
 * the squared cosine 1 - sigma^2 P / lambda^2 to the true one (the spiked Wigner model). So those
 * above the edge are taken, set back, and give v_ja = e_ja sqrt(lambda_a / omega) / (om_j N_j) with
 * a known noise. Each column is then shrunk by empirical Bayes (shrink.c), which also gives the
 * items outside the matrix what their counts and features predict. Two small releases of users'
 * moments at last make u ~ N(0, I) true and fit the variances.
 *
 * Public rule. First release .35 of mu^2, the matrix .55, the moments .05 twice. P: the items with
 * the highest noisy counts, as many as let a factor of the rule's variance stand out of the noise
 * three times, at most 4,000 and what memory allows; om_j = (N_j / mean)^.5. At most 20 factors,
 * one for 8 items of the matrix, and no more than the numbers published could fill; no matrix for
 * fewer than 16 items. The budget is a fixed total on every path: where no eigenvalue is above the
 * edge, the first release is made again with the rest.
 */
#define _GNU_SOURCE
#include "mechanisms/compared/gram.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "mechanisms/compared/first_step.h"
#include "numerics/lanczos.h"
#include "random/random.h"
#include "statement/statement_rounds.h"

enum { FILLINGS = 2 };
enum { START_SEED = 1, START_PURPOSE = 0x6772616d /* a constant of this file's own */ };

static const double norm_floor = 10, popularity = 0.5;
static const double clearance =
    3; /* how far above the noise the strongest factor must be expected */
static const double above_edge = 1.02;     /* the edge of a finite matrix is not sharp */
static const double sampling_excess = 1.5; /* the users' vectors are not known either */

struct gram_run {
    const struct mechanism_input *input;
    struct first_step first;
    struct public_model *model;
    struct gram_items items;
    double *G; /* P x P */
    double sigma, omega;
    size_t K;
    double values[RULE_FACTORS_MAX]; /* set back */
    double *vectors;                 /* K x P */
};

/* ---- which items
 * ------------------------------------------------------------------------------ */

int gram_compare_counts(const void *a, const void *b) {
    const struct gram_counted *x = a, *y = b;
    if (x->N != y->N) return x->N < y->N ? 1 : -1;
    return (x->row > y->row) - (x->row < y->row);
}

/* The most items of which the strongest factor, if its variance is the rule's, stands out of the
 * noise: its eigenvalue is spectrum ratings sum(q^2) / (s2 sum(q)) over items rated with chance q,
 * by the counts. */
static size_t items_told(const struct gram_run *run, const struct gram_counted *order) {
    const struct item_evidence *evidence = &run->first.evidence;
    const struct residual_rule *rule = &run->first.rule;
    const double root_m = evidence->total / evidence->typical;
    const double scale =
        rule->spectrum * evidence->users * root_m * root_m / (run->model->s2 * evidence->total);
    const double edge = 2 / (sqrt(2 * GRAM_MATRIX_SHARE) * rule->mu);
    double sum = 0, squares = 0;
    size_t best = GRAM_ITEMS_MIN;
    for (size_t r = 0; r < run->model->n_items; r++) {
        sum += order[r].N;
        squares += order[r].N * order[r].N;
        if (scale * squares / sum > clearance * edge * sqrt((double)r + 1)) best = r + 1;
    }
    return best;
}

/* Sums (shared, 8 bytes a pair), what is released (8 more) and the whole matrix (8 an entry). */
static size_t items_allowed(uint64_t memory, size_t n_items) {
    size_t most = (size_t)sqrt((double)memory / 16);
    if (most > GRAM_ITEMS_MAX) most = GRAM_ITEMS_MAX;
    if (most < GRAM_ITEMS_MIN) most = GRAM_ITEMS_MIN;
    return n_items < most ? n_items : most;
}

static int choose_items(struct gram_run *run, struct dpmf_error *error) {
    struct gram_items *items = &run->items;
    const size_t n = run->model->n_items;
    struct gram_counted *order = memory_alloc(n, sizeof *order);
    items->position = memory_alloc(n, sizeof *items->position);
    items->rank = memory_alloc(n, sizeof *items->rank);
    if (!order || !items->position || !items->rank) {
        free(order);
        return error_no_memory(error);
    }
    for (size_t j = 0; j < n; j++)
        order[j] = (struct gram_counted){run->first.evidence.N[j], (uint32_t)j};
    qsort(order, n, sizeof *order, gram_compare_counts);
    for (size_t r = 0; r < n; r++) items->rank[order[r].row] = (uint32_t)r;
    items->n = items_allowed(run->input->sums->memory, items_told(run, order));
    free(order);
    double mean = run->first.evidence.total / (double)n;
    for (size_t j = 0; j < n; j++)
        run->model->weight[j] = pow(run->first.evidence.N[j] / mean, popularity);
    uint32_t next = 0;
    for (size_t j = 0; j < n; j++)
        items->position[j] = items->rank[j] < items->n ? next++ : UINT32_MAX;
    return 0;
}

/* ---- the matrix
 * ------------------------------------------------------------------------------- */

static int make_spaces(struct gram_user *user, size_t workers, size_t longest,
                       struct dpmf_error *error) {
    user->spaces = memory_alloc_zero(workers, sizeof *user->spaces);
    if (!user->spaces) return error_no_memory(error);
    for (size_t w = 0; w < workers; w++) {
        struct gram_space *space = &user->spaces[w];
        space->pairs = memory_alloc(gram_pairs(GRAM_RATINGS_MAX), sizeof *space->pairs);
        space->residuals = memory_alloc(longest, sizeof *space->residuals);
        if (!space->pairs || !space->residuals) return error_no_memory(error);
    }
    return 0;
}

static void free_spaces(struct gram_user *user, size_t workers) {
    for (size_t w = 0; user->spaces && w < workers; w++) {
        free(user->spaces[w].pairs);
        free(user->spaces[w].residuals);
    }
    free(user->spaces);
}

/* From the packed pairs to the whole matrix, and what it is to be divided by. */
static int unpack_matrix(struct gram_run *run, const double *sums, double sigma,
                         struct dpmf_error *error) {
    const size_t P = run->items.n, n_pairs = gram_pairs(P);
    const double *N = run->first.evidence.N;
    double total = 0, squares = 0;
    run->G = memory_alloc_zero(P, P * sizeof *run->G);
    if (!run->G) return error_no_memory(error);
    for (size_t j = 0, i = 0; j < P; j++)
        for (size_t k = j + 1; k < P; k++, i++)
            run->G[j * P + k] = run->G[k * P + j] = sums[i] / symmetric_root2;
    for (size_t j = 0; j < run->model->n_items; j++) {
        if (run->items.position[j] == UINT32_MAX) continue;
        total += N[j] * run->model->weight[j];
        squares += N[j] * N[j] * run->model->weight[j] * run->model->weight[j];
    }
    const double weight = fmax(sums[n_pairs], 3 * sigma) * GRAM_RATINGS_MAX / gram_pairs_weight;
    run->sigma = sigma / symmetric_root2;
    run->omega = weight / ((total * total - squares) / 2);
    return 0;
}

static int take_matrix(struct gram_run *run, struct dpmf_error *error) {
    struct noisy_sum_context *context = run->input->sums;
    const size_t workers = (size_t)thread_pool_size(context->pool), P = run->items.n;
    const struct noisy_sum_shape shape = {.name = "pairs of items",
                                          .n_rows = gram_pairs(P),
                                          .width = 1,
                                          .tail = GRAM_TAIL,
                                          .blocks_max = gram_pairs(GRAM_RATINGS_MAX)};
    struct gram_user user = {.model = run->model, .items = &run->items, .floor = norm_floor};
    double sigma, *sums = memory_alloc(gram_pairs(P) + GRAM_TAIL, sizeof *sums);
    int code = sums ? make_spaces(&user, workers, private_ratings_longest(context->ratings), error)
                    : error_no_memory(error);
    if (code == 0)
        code = noisy_sum_release(context, &shape, sqrt(GRAM_MATRIX_SHARE) * run->first.rule.mu,
                                 gram_contribute, &user, sums, &sigma, error);
    free_spaces(&user, workers);
    if (code == 0) code = unpack_matrix(run, sums, sigma, error);
    free(sums);
    return code;
}

/* ---- eigenvectors
 * ----------------------------------------------------------------------------- */

/* At most one factor for 8 items of the matrix, and a release that holds no more numbers than were
 * published with noise: the check of a release (statement.c) asks for that. */
static size_t factors_allowed(const struct gram_run *run) {
    const size_t n = run->model->n_items, P = run->items.n;
    const size_t published = n * BIAS_RELEASE_WIDTH + gram_pairs(P);
    const size_t covered = published / n - 1; /* a whole number an item, its bias taken off */
    return first_step_factors((double)covered, RULE_FACTORS_MAX, P);
}

/* Those above the edge, set back to where they are without noise. */
static void set_back(struct gram_run *run) {
    const double P = (double)run->items.n, bulk = P * run->sigma * run->sigma;
    run->K = 0;
    const size_t most = factors_allowed(run);
    for (size_t k = 0; k < most; k++) {
        double found = run->values[k];
        if (!(found > above_edge * 2 * sqrt(bulk))) break;
        run->values[k] = (found + sqrt(found * found - 4 * bulk)) / 2;
        run->K = k + 1;
    }
}

/* The diagonal that the vectors found imply. */
static void fill_diagonal(struct gram_run *run) {
    const size_t P = run->items.n;
    for (size_t j = 0; j < P; j++) {
        double sum = 0;
        for (size_t k = 0; k < run->K; k++)
            sum += run->values[k] * run->vectors[k * P + j] * run->vectors[k * P + j];
        run->G[j * P + j] = sum;
    }
}

static int find_vectors(struct gram_run *run, struct dpmf_error *error) {
    const size_t P = run->items.n;
    double *start = memory_alloc(P, sizeof *start);
    run->vectors = memory_alloc(P, RULE_FACTORS_MAX * sizeof *run->vectors);
    int code = start && run->vectors ? 0 : error_no_memory(error);
    for (int turn = 0; turn <= FILLINGS && code == 0; turn++) {
        struct random_stream random;
        random_stream_init(&random, START_SEED, START_PURPOSE, 0);
        for (size_t j = 0; j < P; j++) start[j] = random_gaussian(&random);
        if (turn > 0) fill_diagonal(run);
        code = lanczos_top(run->G, P, RULE_FACTORS_MAX, start, run->input->sums->pool, run->values,
                           run->vectors, error);
        if (code == 0) set_back(run);
        if (run->K == 0) break;
    }
    free(start);
    return code;
}

/* ---- vectors of items
 * ------------------------------------------------------------------------- */

/* One column as a model and evidence of its own: columns differ in how well they are known. */
struct column {
    struct public_model model;
    struct item_evidence evidence;
};

static int column_init(struct column *column, const struct gram_run *run,
                       struct dpmf_error *error) {
    const size_t n = run->model->n_items;
    int code = public_model_init(&column->model, n, error);
    if (code == 0) code = public_model_widen(&column->model, 1, error);
    if (code == 0) code = item_evidence_init(&column->evidence, n, error);
    if (code == 0) code = item_evidence_widen(&column->evidence, n, 1, error);
    if (code < 0) return code;
    memcpy(column->evidence.N, run->first.evidence.N, n * sizeof(double));
    return shrink_regressors_make(&column->evidence, run->input->catalogue, error);
}

static void column_free(struct column *column) {
    public_model_free(&column->model);
    item_evidence_free(&column->evidence);
}

static void measure_column(const struct gram_run *run, size_t k, struct column *column) {
    const struct item_evidence *known = &run->first.evidence;
    struct item_evidence *evidence = &column->evidence;
    const size_t P = run->items.n;
    const double lambda = run->values[k], bulk = (double)P * run->sigma * run->sigma;
    const double cosine2 = fmax(1 - bulk / (lambda * lambda), 0.05);
    const double unit = item_evidence_weight_unit(known, known->typical);
    for (size_t j = 0; j < run->model->n_items; j++) {
        const double N = known->N[j], weighted = N * run->model->weight[j];
        const uint32_t at = run->items.position[j];
        const bool is_in = at != UINT32_MAX;
        const double scale = sqrt(lambda / (run->omega * cosine2)) / weighted;
        evidence->Z[2 * j] = is_in ? scale * run->vectors[k * P + at] : 0;
        const double noise = scale * run->sigma / lambda;
        evidence->A[2 * j] = is_in ? 1 / (noise * noise) : 1e-6;
        evidence->A[2 * j + 1] = 1; /* the bias column is not looked at */
        evidence->sampling[j] = sampling_excess * unit * run->model->s2 / N;
    }
    evidence->tau[0] = 0.03;
    evidence->tau[1] = 0.1;
}

/* The model gets its factors. */
static int make_vectors(struct gram_run *run, struct dpmf_error *error) {
    struct public_model *model = run->model;
    struct column column = {0};
    int code = public_model_widen(model, run->K, error);
    if (code == 0) code = column_init(&column, run, error);
    for (size_t k = 0; k < run->K && code == 0; k++) {
        measure_column(run, k, &column);
        code = shrink_all(&column.model, &column.evidence, run->first.rule.ridge,
                          run->input->sums->pool, error);
        for (size_t j = 0; j < model->n_items && code == 0; j++)
            model->rows[j * model->stride + k] = column.model.rows[j * column.model.stride];
    }
    column_free(&column);
    return code;
}

/* ---- calibration
 * ------------------------------------------------------------------------------ */

static void apply_moments(struct public_model *model, const double *sums, double sigma,
                          double over) {
    struct moments_read moments;
    double B[RULE_FACTORS_MAX * RULE_FACTORS_MAX];
    user_moments_read(sums, sigma, model, &moments);
    user_moments_whiten(moments.covariance, model->K, over, B);
    for (size_t j = 0; j < model->n_items; j++)
        for (size_t a = 0; a < model->K; a++)
            model->c[j] += moments.mean[a] * model->rows[j * model->stride + a];
    shrink_map_rows(model->rows, model->n_items, model->stride, model->K, B);
}

static int calibrate(struct gram_run *run, struct dpmf_error *error) {
    struct noisy_sum_context *context = run->input->sums;
    const size_t workers = (size_t)thread_pool_size(context->pool), K = run->model->K;
    const struct noisy_sum_shape shape = {.name = "moments", .tail = user_moments_n(K)};
    struct gram_calibration user = {.model = run->model,
                                    .floor = 1.5 * (double)(K + 2),
                                    .longest = private_ratings_longest(context->ratings)};
    double sigma, sums[USER_MOMENTS_MAX];
    user.residuals = memory_alloc(user.longest, workers * sizeof(double));
    int code = user.residuals ? 0 : error_no_memory(error);
    for (int turn = 0; turn < GRAM_CALIBRATIONS && code == 0; turn++) {
        code = noisy_sum_release(context, &shape, sqrt(GRAM_CALIBRATION_SHARE) * run->first.rule.mu,
                                 gram_contribute_moments, &user, sums, &sigma, error);
        if (code == 0) apply_moments(run->model, sums, sigma, run->first.rule.over);
    }
    free(user.residuals);
    return code;
}

/* ---- the mechanism
 * ---------------------------------------------------------------------------- */

static int run_factors(struct gram_run *run, double first_share, struct dpmf_error *error) {
    int code = choose_items(run, error);
    if (code == 0) code = take_matrix(run, error);
    if (code == 0) code = find_vectors(run, error);
    if (code < 0) return code;
    const double rest = 1 - first_share - GRAM_MATRIX_SHARE;
    if (run->K == 0) return first_step_repeat(&run->first, run->input, rest, run->model, error);
    code = make_vectors(run, error);
    return code < 0 ? code : calibrate(run, error);
}

static int run_gram(const struct mechanism_input *input, struct public_model *model,
                    struct dpmf_error *error) {
    struct gram_run run = {.input = input, .model = model};
    const double first_share = 1 - GRAM_MATRIX_SHARE - GRAM_CALIBRATIONS * GRAM_CALIBRATION_SHARE;
    int code = first_step_begin(&run.first, input, first_share, model, error);
    if (code == 0) {
        const bool is_tiny = model->n_items < GRAM_ITEMS_MIN;
        input->sums->total_passes = is_tiny ? 2 : 2 + GRAM_CALIBRATIONS;
        code = is_tiny ? first_step_repeat(&run.first, input, 1 - first_share, model, error)
                       : run_factors(&run, first_share, error);
    }
    first_step_free(&run.first);
    free(run.items.position);
    free(run.items.rank);
    free(run.G);
    free(run.vectors);
    return code;
}

const struct mechanism mechanism_gram = {
    MECHANISM_GRAM, "eigenvectors of one noisy item-item matrix", run_gram, false, false};
