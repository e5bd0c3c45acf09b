/*
 * Samplers that have nothing in common but the posterior agree on real ratings: what sgld, sghmc
 * and sgnht predict for the held-out pairs of MovieLens 100K, and how sure they are of it, is what
 * gibbs says. Skipped unless DPMF_TEST_LONG is set and the ratings are in $DPMF_DATA or
 * ../shared/data.
 *
 * Each solver runs CHAINS chains, apart from each other, and none long enough to have seen all of
 * the posterior. If two solvers draw from one distribution, it makes no difference which chains
 * were whose: of all ways to call half of the chains the first solver's, the true one is an
 * outlier, among the most extreme in a thousand, with probability 1/1000. This is an exact test,
 * whatever a chain's distribution is. There are two of them a solver, of the means and of the
 * spread: a right solver fails in at most one seed of 500. The seeds are fixed. A sampler with a
 * step that is much too large is found out by the same test.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels/kernels.h"
#include "model/checkpoint.h"
#include "store/store.h"
#include "temp_dir.h"
#include "whole_checkpoint.h"

static struct temp_dir directory;
static char train_file[TEMP_PATH_MAX], test_file[TEMP_PATH_MAX], model_file[TEMP_PATH_MAX];

enum { CHAINS = 8, BOTH = 2 * CHAINS, PAIRS = 12000, FACTORS = 8, SAMPLES = 100 };

static int make_directory(void **state) {
    (void)state;
    temp_dir_make(&directory);
    temp_dir_file(&directory, "train.dpr", train_file);
    temp_dir_file(&directory, "test.dpr", test_file);
    temp_dir_file(&directory, "model.safetensors", model_file);
    return 0;
}

static int remove_directory(void **state) {
    (void)state;
    temp_dir_remove(&directory);
    return 0;
}

static bool find_movielens(void) {
    char path[TEMP_PATH_MAX];
    const char *data = getenv("DPMF_DATA");
    struct dpmf_split_options split = dpmf_split_options_default();
    struct dpmf_store *store;
    snprintf(path, sizeof path, "%s/ml-100k/u.data", data ? data : "../shared/data");
    if (!getenv("DPMF_TEST_LONG") || access(path, R_OK) != 0) {
        print_message("skipped: DPMF_TEST_LONG is not set, or there is no %s\n", path);
        return false;
    }
    assert_int_equal(dpmf_store_open(path, NULL, NULL, &store, NULL), 0);
    assert_int_equal(dpmf_store_split(store, train_file, test_file, &split, NULL, NULL, NULL), 0);
    dpmf_store_close(store);
    return true;
}

/* ---- chains ---------------------------------------------------------------------------------- */

/* What a chain's samples predict. */
struct chain {
    size_t n;
    double mean[PAIRS];
    double variance; /* over the samples, in the mean of all pairs */
};

static size_t stride_of(size_t k) { return kernel_set_choose(NULL)->stride(k); }

/* A model of many samples has their columns side by side (sample/posterior_mean.h). */
static void predict_pair(const struct factors *model, uint32_t samples, uint64_t user,
                         uint64_t item, struct chain *chain) {
    const float *u = model->users.rows + user * model->users.stride;
    const float *v = model->items.rows + item * model->items.stride;
    const uint32_t columns = model->k / samples;
    double sum = 0, squares = 0;
    for (uint32_t s = 0; s < samples; s++) {
        double product = 0;
        for (uint32_t x = s * columns; x < (s + 1) * columns; x++)
            product += (double)u[x] * (double)v[x];
        product *= samples;
        sum += product / samples;
        squares += product * product / samples;
    }
    assert_true(chain->n < PAIRS);
    chain->mean[chain->n++] =
        sum + (double)model->users.biases[user] + (double)model->items.biases[item];
    chain->variance += squares - sum * sum;
}

static void predict_block(const struct dpmf_store *test, const struct store_block *block,
                          const struct factors *model, uint32_t samples, struct chain *chain) {
    for (uint32_t i = 0; i < block->n_users; i++) {
        uint64_t user = factor_ids_find(&model->user_ids, block->id_bytes + block->id_start[i],
                                        (size_t)(block->id_start[i + 1] - block->id_start[i]));
        for (uint64_t r = block->start[i]; r < block->start[i + 1]; r++) {
            struct store_item found = store_item_at(test, block->item[r]);
            uint64_t item = factor_ids_find(&model->item_ids, found.id, found.id_length);
            if (user != UINT64_MAX && item != UINT64_MAX)
                predict_pair(model, samples, user, item, chain);
        }
    }
}

static void predict_all(struct chain *chain) {
    struct factors model = {0};
    struct checkpoint_state made = {0};
    struct store_raw raw = {0};
    struct store_space space = {0};
    struct dpmf_store *test;
    memset(chain, 0, sizeof *chain);
    assert_int_equal(whole_checkpoint_read(model_file, stride_of, 0, &model, &made, NULL), 0);
    assert_int_equal(made.samples, SAMPLES);
    assert_int_equal(dpmf_store_open(test_file, NULL, NULL, &test, NULL), 0);
    for (uint64_t b = 0; b < store_n_blocks(test); b++) {
        struct store_block block;
        assert_int_equal(store_block_read(test, b, &raw, NULL), 0);
        assert_int_equal(store_block_decode(test, &raw, STORE_WANT_IDS, &space, &block, NULL), 0);
        predict_block(test, &block, &model, made.samples, chain);
    }
    chain->variance /= (double)chain->n;
    free(raw.buffer.bytes);
    store_space_free(&space);
    dpmf_store_close(test);
    factors_free(&model);
}

struct runs {
    const char *solver;
    uint32_t epochs;
    double times; /* the step that is safe; 1: as it comes */
};

static double run_chain(const struct runs *runs, uint64_t seed, double step, struct chain *chain) {
    struct dpmf_train_options options = dpmf_train_options_default();
    struct dpmf_run run = dpmf_run_default();
    struct dpmf_train_report report;
    struct dpmf_store *store;
    run.threads = 2;
    assert_int_equal(dpmf_train_options_solver(runs->solver, &options), 0);
    options.factors = FACTORS;
    options.epochs = runs->epochs;
    options.sampler.burn_in = runs->epochs / 4;
    options.sampler.average = options.deterministic = true;
    options.sampler.samples = SAMPLES;
    options.sampler.chains = 1;
    options.seed = seed;
    options.sampler.step = step;
    assert_int_equal(dpmf_store_open(train_file, NULL, NULL, &store, NULL), 0);
    assert_int_equal(dpmf_train(store, NULL, model_file, &options, &run, NULL, NULL, &report, NULL),
                     0);
    dpmf_store_close(store);
    predict_all(chain);
    return report.step;
}

static void run_chains(const struct runs *runs, struct chain *chains) {
    double step = 0;
    if (runs->times != 1) step = runs->times * run_chain(runs, 1, 0, &chains[0]);
    for (uint64_t c = 0; c < CHAINS; c++) run_chain(runs, c + 1, step, &chains[c]);
}

/* ---- the test -------------------------------------------------------------------------------- */

/* All that is asked of the chains of two solvers: products of their mean predictions, over the
 * pairs and less those of the mean of all chains, and their variances. */
struct evidence {
    double product[BOTH][BOTH], variance[BOTH];
};

static void gather(const struct chain *first, const struct chain *second, struct evidence *e) {
    const struct chain *all[BOTH];
    memset(e, 0, sizeof *e);
    for (size_t c = 0; c < BOTH; c++) {
        all[c] = c < CHAINS ? &first[c] : &second[c - CHAINS];
        e->variance[c] = all[c]->variance;
        assert_int_equal(all[c]->n, first[0].n);
    }
    for (size_t q = 0; q < first[0].n; q++) {
        double middle = 0;
        for (size_t c = 0; c < BOTH; c++) middle += all[c]->mean[q] / BOTH;
        for (size_t a = 0; a < BOTH; a++)
            for (size_t b = 0; b < BOTH; b++)
                e->product[a][b] +=
                    (all[a]->mean[q] - middle) * (all[b]->mean[q] - middle) / (double)first[0].n;
    }
}

/* The variance of a prediction over all samples of the chains in `mask`: within chains, and between
 * them. */
static double spread_of(const struct evidence *e, uint32_t mask) {
    double within = 0, squares = 0, square = 0;
    for (size_t a = 0; a < BOTH; a++) {
        if (!(mask >> a & 1)) continue;
        within += e->variance[a] / CHAINS;
        squares += e->product[a][a] / CHAINS;
        for (size_t b = 0; b < BOTH; b++)
            if (mask >> b & 1) square += e->product[a][b] / (CHAINS * CHAINS);
    }
    return within + (squares - square) * CHAINS / (CHAINS - 1);
}

/* Mean square of the difference between the mean predictions of both halves, and the ratio of their
 * variances. */
static double difference_of(const struct evidence *e, uint32_t mask) {
    double sum = 0;
    for (size_t a = 0; a < BOTH; a++)
        for (size_t b = 0; b < BOTH; b++)
            sum += (mask >> a & 1) == (mask >> b & 1) ? e->product[a][b] : -e->product[a][b];
    return sum / (CHAINS * CHAINS);
}
static double ratio_of(const struct evidence *e, uint32_t mask) {
    return spread_of(e, mask) / spread_of(e, ((1u << BOTH) - 1) & ~mask);
}

struct verdict {
    double means,
        spread; /* how many of all ways to part the chains are as extreme as the true one */
};

static struct verdict judge(const struct evidence *e) {
    const uint32_t truth = ((1u << CHAINS) - 1) << CHAINS; /* the second solver's, first */
    const double difference = difference_of(e, truth), far = fabs(log(ratio_of(e, truth)));
    double ways = 0;
    struct verdict verdict = {0};
    for (uint32_t mask = 0; mask < 1u << BOTH; mask++) {
        if (__builtin_popcount(mask) != CHAINS) continue;
        ways++;
        verdict.means += difference_of(e, mask) >= difference * (1 - 1e-12);
        verdict.spread += fabs(log(ratio_of(e, mask))) >= far * (1 - 1e-12);
    }
    print_message(
        "means differ by %.4f, spread %.4f is %.3f of gibbs'; at least as much by chance: "
        "%.4f and %.4f\n",
        sqrt(difference), sqrt(spread_of(e, truth)), sqrt(ratio_of(e, truth)), verdict.means / ways,
        verdict.spread / ways);
    return (struct verdict){verdict.means / ways, verdict.spread / ways};
}

#define ERROR_RATE 0.001

static void test_movielens(void **state) {
    (void)state;
    static const struct runs gibbs = {"gibbs", 400, 1};
    static const struct {
        struct runs runs;
        bool agrees;
    } others[] = {
        {{"sgld", 4000, 1}, true},
        {{"sghmc", 1600, 1}, true},
        {{"sgnht", 1600, 1}, true},
        {{"sgld", 1000, 16}, false},
    };
    if (!find_movielens()) skip();
    struct chain *wanted = malloc(CHAINS * sizeof wanted[0]),
                 *found = malloc(CHAINS * sizeof found[0]);
    assert_true(wanted && found);
    run_chains(&gibbs, wanted);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        struct evidence evidence;
        run_chains(&others[i].runs, found);
        gather(wanted, found, &evidence);
        print_message("%s, %g times the step: ", others[i].runs.solver, others[i].runs.times);
        struct verdict verdict = judge(&evidence);
        const bool agrees = verdict.means >= ERROR_RATE && verdict.spread >= ERROR_RATE;
        if (agrees != others[i].agrees)
            fail_msg("%s",
                     agrees ? "a step too large is not found out" : "it is not what gibbs says");
    }
    free(wanted);
    free(found);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_movielens)};
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
