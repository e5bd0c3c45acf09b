/*
 * The order of training costs no accuracy: after ten epochs a model learned in the order of tiles,
 * chunk by chunk, is no worse than one learned a rating at a time in an order shuffled anew every
 * epoch, by more than 0.3 %, on the ratings learned from and on others. Both start from the same
 * rows and have the same rates and penalties. On a synthetic set here; on any two stores when
 * called with them, as tests/data/run.sh does:
 *
 *     test_convergence TRAIN.dpr TEST.dpr [FACTORS [SEED [DECAY]]]
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "random/random.h"
#include "recommend/model.h"
#include "store/store.h"
#include "synth_split.h"
#include "temp_dir.h"
#include "train/first_rows.h"
#include "train/rates.h"

enum { EPOCHS = 10, SHUFFLE = 0x5f /* purpose of the stream that shuffles */ };

#define WORSE_MAX 0.003

static struct temp_dir directory;
static char whole_file[TEMP_PATH_MAX], train_file[TEMP_PATH_MAX], test_file[TEMP_PATH_MAX],
    model_file[TEMP_PATH_MAX];

/* ---- ratings in the rows of a model ---------------------------------------------------------- */

struct rating {
    uint32_t user, item; /* rows; UINT32_MAX where the model has none */
    float value;
};

static uint32_t row_of(uint64_t number) {
    return number == UINT64_MAX ? UINT32_MAX : (uint32_t)number;
}

static struct rating *read_ratings(const char *file, const struct dpmf_model *model, size_t *n) {
    struct dpmf_store *store;
    struct store_raw raw = {0};
    struct store_space space = {0};
    assert_int_equal(store_open_file(file, &store, NULL), 0);
    struct rating *ratings = malloc((size_t)store_n_ratings(store) * sizeof *ratings);
    assert_non_null(ratings);
    *n = 0;
    for (uint64_t b = 0; b < store_n_blocks(store); b++) {
        struct store_block block;
        assert_int_equal(store_block_read(store, b, &raw, NULL), 0);
        assert_int_equal(store_block_decode(store, &raw, STORE_WANT_VALUE32 | STORE_WANT_IDS,
                                            &space, &block, NULL),
                         0);
        for (uint32_t u = 0; u < block.n_users; u++) {
            const uint64_t *id = &block.id_start[u];
            uint32_t user = row_of(
                dpmf_model_find_user(model, block.id_bytes + id[0], (size_t)(id[1] - id[0])));
            for (uint64_t r = block.start[u]; r < block.start[u + 1]; r++) {
                struct store_item item = store_item_at(store, block.item[r]);
                ratings[(*n)++] = (struct rating){
                    user, row_of(dpmf_model_find_item(model, item.id, item.id_length)),
                    block.value32[r]};
            }
        }
    }
    free(raw.buffer.bytes);
    store_space_free(&space);
    dpmf_store_close(store);
    return ratings;
}

/* ---- random order ---------------------------------------------------------------------------- */

static double predict(const struct factors *m, const struct rating *rating) {
    double p = m->offset;
    if (rating->user != UINT32_MAX) p += (double)m->users.biases[rating->user];
    if (rating->item != UINT32_MAX) p += (double)m->items.biases[rating->item];
    if (rating->user == UINT32_MAX || rating->item == UINT32_MAX) return p;
    const float *u = m->users.rows + rating->user * m->users.stride;
    const float *v = m->items.rows + rating->item * m->items.stride;
    for (uint32_t x = 0; x < m->k; x++) p += (double)(u[x] * v[x]);
    return p;
}

static void step(struct factors *m, const struct rating *rating, const struct sgd_rates *rates) {
    float e = rating->value - (float)predict(m, rating);
    float *b_u = &m->users.biases[rating->user], *b_v = &m->items.biases[rating->item];
    float *u = m->users.rows + rating->user * m->users.stride;
    float *v = m->items.rows + rating->item * m->items.stride;
    *b_u += rates->bias_rate * (e - rates->bias_reg * *b_u);
    *b_v += rates->bias_rate * (e - rates->bias_reg * *b_v);
    for (uint32_t x = 0; x < m->k; x++) {
        float old = u[x];
        u[x] += rates->rate * (e * v[x] - rates->reg * old);
        v[x] += rates->rate * (e * old - rates->reg * v[x]);
    }
}

static void shuffle(struct rating *ratings, size_t n, struct random_stream *random) {
    for (size_t i = n - 1; i > 0; i--) {
        size_t j = (size_t)random_below(random, i + 1);
        struct rating other = ratings[i];
        ratings[i] = ratings[j];
        ratings[j] = other;
    }
}

/* Learns `m`, which has the sizes, the offset and nothing else, from the first rows on. */
static void learn_in_random_order(struct factors *m, struct rating *ratings, size_t n,
                                  const struct dpmf_train_options *options) {
    struct random_stream random;
    random_stream_init(&random, options->seed, SHUFFLE, 0);
    first_rows_fill(&m->users, m->k, 1, options->seed, FIRST_ROWS_USERS);
    first_rows_fill(&m->items, m->k, 1, options->seed, FIRST_ROWS_ITEMS);
    for (uint32_t done = 0; done < options->epochs; done++) {
        const struct sgd_rates rates = rates_of_epoch(options, 1, done);
        shuffle(ratings, n, &random);
        for (size_t i = 0; i < n; i++) step(m, &ratings[i], &rates);
    }
}

static void make_alike(struct factors *m, const struct factors *like) {
    *m = (struct factors){.k = like->k, .offset = like->offset, .min = like->min, .max = like->max};
    assert_int_equal(factor_matrix_init(&m->users, like->users.n, like->users.stride, 0, NULL), 0);
    assert_int_equal(factor_matrix_init(&m->items, like->items.n, like->items.stride, 0, NULL), 0);
}

/* ---- the comparison -------------------------------------------------------------------------- */

static double rmse(const struct factors *m, const struct rating *ratings, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double e = (double)ratings[i].value - fmin(fmax(predict(m, &ratings[i]), m->min), m->max);
        sum += e * e;
    }
    return sqrt(sum / (double)n);
}

struct errors {
    double train, test;
};

static void learn_in_tiles(const char *train, const struct dpmf_train_options *options) {
    struct dpmf_store *store;
    struct dpmf_run run = dpmf_run_default();
    run.threads = 2;
    assert_int_equal(store_open_file(train, &store, NULL), 0);
    assert_int_equal(dpmf_train(store, NULL, model_file, options, &run, NULL, NULL, NULL, NULL), 0);
    dpmf_store_close(store);
}

static struct errors errors_of(const struct factors *m, const struct rating *train, size_t n_train,
                               const struct rating *test, size_t n_test) {
    return (struct errors){rmse(m, train, n_train), rmse(m, test, n_test)};
}

/* Learns in tiles and, unless an earlier call has, in random order; the errors after the last
 * epoch. */
static void learn(const char *train, const char *test, const struct dpmf_train_options *options,
                  struct errors *tiled, struct errors *random) {
    struct dpmf_model *model;
    size_t n_train, n_test;
    learn_in_tiles(train, options);
    assert_int_equal(dpmf_model_open(model_file, &model, NULL), 0);
    struct rating *learned = read_ratings(train, model, &n_train);
    struct rating *held_out = read_ratings(test, model, &n_test);
    *tiled = errors_of(&model->factors, learned, n_train, held_out, n_test);
    if (random->train == 0) {
        struct factors m;
        make_alike(&m, &model->factors);
        learn_in_random_order(&m, learned, n_train, options);
        *random = errors_of(&m, learned, n_train, held_out, n_test);
        factors_free(&m);
    }
    free(learned);
    free(held_out);
    dpmf_model_close(model);
}

static double percent_worse(double a, double b) { return 100 * (a / b - 1); }

static bool is_no_worse(const struct errors *tiled, const struct errors *random) {
    return tiled->train <= (1 + WORSE_MAX) * random->train &&
           tiled->test <= (1 + WORSE_MAX) * random->test;
}

static void print_errors(const char *what, const struct errors *tiled,
                         const struct errors *random) {
    printf("%s: tiles %.4f and %.4f, random order %.4f and %.4f (learned from, held out): "
           "%+.2f %% and %+.2f %%\n",
           what, tiled->train, tiled->test, random->train, random->test,
           percent_worse(tiled->train, random->train), percent_worse(tiled->test, random->test));
}

/* ---- on a synthetic set ---------------------------------------------------------------------- */

static int make_stores(void **state) {
    (void)state;
    temp_dir_make(&directory);
    temp_dir_file(&directory, "whole.dpr", whole_file);
    temp_dir_file(&directory, "train.dpr", train_file);
    temp_dir_file(&directory, "test.dpr", test_file);
    temp_dir_file(&directory, "model.safetensors", model_file);
    struct dpmf_synth_options synth = dpmf_synth_options_default();
    synth.users = 3000;
    synth.items = 1000;
    synth.ratings = 300000;
    synth.rank = 4;
    return synth_split(&synth, whole_file, train_file, test_file);
}

static int remove_stores(void **state) {
    (void)state;
    temp_dir_remove(&directory);
    return 0;
}

static struct dpmf_train_options ten_epochs(uint32_t factors) {
    struct dpmf_train_options options = dpmf_train_options_default();
    options.factors = factors;
    options.epochs = EPOCHS;
    return options;
}

/* Hogwild races, and means to; the thread sanitizer would say so. */
#if defined(__SANITIZE_THREAD__)
enum { N_ORDERS = 2 };
#else
enum { N_ORDERS = 3 };
#endif

static void expect_no_worse(const char *what, const struct errors *tiled,
                            const struct errors *random) {
    print_errors(what, tiled, random);
    if (!is_no_worse(tiled, random)) fail_msg("%s: worse than random order", what);
}

/* Every set of kernels this machine can run, in both orders and in none. */
static void test_kernels_and_orders(void **state) {
    (void)state;
    static const char *const names[] = {"free", "deterministic", "hogwild"};
    struct dpmf_train_options options = ten_epochs(16);
    struct errors tiled, random = {0, 0};
    const struct kernel_set *set;
    for (size_t i = 0; (set = kernel_set_at(i)) != NULL; i++) {
        if (!set->is_supported()) continue;
        options.kernels = set->name;
        for (int order = 0; order < N_ORDERS; order++) {
            char what[64];
            snprintf(what, sizeof what, "%s kernels, %s order", set->name, names[order]);
            options.deterministic = order == 1;
            options.hogwild = order == 2;
            learn(train_file, test_file, &options, &tiled, &random);
            expect_no_worse(what, &tiled, &random);
        }
    }
}

/* Longer vectors, which other kernels and other chunks are for; the paper's schedule; the paper's
 * tiers. */
static void test_factors_and_rates(void **state) {
    (void)state;
    struct dpmf_train_options options = ten_epochs(64);
    struct errors tiled, random = {0, 0};
    learn(train_file, test_file, &options, &tiled, &random);
    expect_no_worse("64 factors", &tiled, &random);
    options.tiers = "100,300";
    learn(train_file, test_file, &options, &tiled, &random);
    expect_no_worse("64 factors, the paper's tiers", &tiled, &random);
    options.tiers = NULL;
    options.decay = 0.5;
    random.train = 0;
    learn(train_file, test_file, &options, &tiled, &random);
    expect_no_worse("64 factors, the paper's rates", &tiled, &random);
}

/* ---- on two stores --------------------------------------------------------------------------- */

static struct dpmf_train_options given_options;

static int make_directory(void **state) {
    (void)state;
    temp_dir_make(&directory);
    temp_dir_file(&directory, "model.safetensors", model_file);
    return 0;
}

static void test_given_stores(void **state) {
    (void)state;
    struct errors tiled, random = {0, 0};
    char what[64];
    snprintf(what, sizeof what, "%u factors, seed %llu", given_options.factors,
             (unsigned long long)given_options.seed);
    learn(train_file, test_file, &given_options, &tiled, &random);
    expect_no_worse(what, &tiled, &random);
}

int main(int argc, char **argv) {
    if (argc >= 3) {
        given_options = ten_epochs(argc > 3 ? (uint32_t)atoi(argv[3]) : RATES_FACTORS);
        if (argc > 4) given_options.seed = strtoull(argv[4], NULL, 10);
        if (argc > 5) given_options.decay = atof(argv[5]);
        snprintf(train_file, sizeof train_file, "%s", argv[1]);
        snprintf(test_file, sizeof test_file, "%s", argv[2]);
        const struct CMUnitTest tests[] = {cmocka_unit_test(test_given_stores)};
        return cmocka_run_group_tests(tests, make_directory, remove_stores);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels_and_orders),
        cmocka_unit_test(test_factors_and_rates),
    };
    return cmocka_run_group_tests(tests, make_stores, remove_stores);
}
