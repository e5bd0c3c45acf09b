/*
 * The generator: counts are met exactly, nobody rates an item twice, every item has a rater, the
 * bytes are the same for any number of threads, popularity follows the wanted share, and ratings
 * follow the planted model.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/json.h"
#include "store/store.h"
#include "synth/synth_pick.h"
#include "synth/titles.h"
#include "temp_dir.h"

static struct temp_dir directory;
static char path[TEMP_PATH_MAX], other_path[TEMP_PATH_MAX], truth_path[TEMP_PATH_MAX],
    catalogue_path[TEMP_PATH_MAX];

static int make_directory(void **state) {
    (void)state;
    temp_dir_make(&directory);
    temp_dir_file(&directory, "x.dpr", path);
    temp_dir_file(&directory, "y.dpr", other_path);
    temp_dir_file(&directory, "truth.safetensors", truth_path);
    temp_dir_file(&directory, "catalogue.csv", catalogue_path);
    return 0;
}

static int remove_directory(void **state) {
    (void)state;
    temp_dir_remove(&directory);
    return 0;
}

static struct dpmf_synth_options shape(uint64_t users, uint64_t items, uint64_t ratings) {
    struct dpmf_synth_options options = dpmf_synth_options_default();
    options.users = users;
    options.items = items;
    options.ratings = ratings;
    return options;
}

static void synth(const struct dpmf_synth_options *options, const char *to, int threads) {
    struct dpmf_run run = dpmf_run_default();
    run.threads = threads;
    struct dpmf_error error = {0};
    struct dpmf_import_report report;
    int code = dpmf_synth(to, options, &run, &report, &error);
    if (code != 0) print_error("%s\n", error.message);
    assert_int_equal(code, 0);
    assert_int_equal(report.users, options->users);
    assert_int_equal(report.items, options->items);
    assert_int_equal(report.ratings, options->ratings);
    struct stat status;
    assert_int_equal(stat(to, &status), 0);
    assert_int_equal(report.bytes_written, status.st_size);
    assert_int_equal(status.st_mode & 0777, 0600);
}

/* ---- counts ---------------------------------------------------------------------------------- */

/* The reader refuses users without ratings and items that do not increase within a user, so that
 * what is left to check here are the counts and the values. */
static void check_store(const char *file, const struct dpmf_synth_options *options) {
    struct dpmf_store *store;
    assert_int_equal(store_open_file(file, &store, NULL), 0);
    assert_int_equal(store_n_users(store), options->users);
    assert_int_equal(store_n_items(store), options->items);
    assert_int_equal(store_n_ratings(store), options->ratings);
    assert_int_equal(store_has_times(store), options->times);
    uint64_t *count = calloc(options->items, sizeof *count);
    uint8_t *user_seen = calloc(options->users, 1), *item_seen = calloc(options->items, 1);
    assert_true(count && user_seen && item_seen);
    struct store_raw raw = {0};
    struct store_space space = {0};
    for (uint64_t b = 0; b < store_n_blocks(store); b++) {
        struct store_block block;
        assert_int_equal(store_block_read(store, b, &raw, NULL), 0);
        assert_int_equal(store_block_decode(store, &raw,
                                            STORE_WANT_VALUE | STORE_WANT_TIME | STORE_WANT_IDS,
                                            &space, &block, NULL),
                         0);
        for (uint32_t i = 0; i < block.n_users; i++) {
            char id[16] = {0};
            memcpy(id, block.id_bytes + block.id_start[i],
                   (size_t)(block.id_start[i + 1] - block.id_start[i]));
            uint64_t number = strtoull(id, NULL, 10);
            assert_in_range(number, 1, options->users);
            assert_false(user_seen[number - 1]++);
        }
        for (uint64_t r = 0; r < block.n_ratings; r++) {
            count[block.item[r]]++;
            assert_true(block.value[r] >= options->scale_min &&
                        block.value[r] <= options->scale_max);
            if (options->scale_step > 0) {
                double steps = (block.value[r] - options->scale_min) / options->scale_step;
                assert_true(fabs(steps - round(steps)) < 1e-9);
            }
            if (options->times) assert_in_range(block.time[r], 915148800, 915148800 + 7 * 31556952);
        }
    }
    for (uint64_t j = 0; j < options->items; j++) {
        struct store_item item = store_item_at(store, j);
        assert_true(item.n_ratings >= 1);
        assert_int_equal(item.n_ratings, count[j]);
        char id[16] = {0};
        memcpy(id, item.id, item.id_length);
        uint64_t number = strtoull(id, NULL, 10);
        assert_in_range(number, 1, options->items);
        assert_false(item_seen[number - 1]++);
    }
    free(raw.buffer.bytes);
    store_space_free(&space);
    free(count);
    free(user_seen);
    free(item_seen);
    dpmf_store_close(store);
}

static void test_counts(void **state) {
    (void)state;
    static const uint64_t shapes[][3] = {
        {1, 1, 1},         {5, 1, 5},
        {1, 7, 7},         {10, 10, 10},
        {10, 10, 100},     {10, 10, 99},
        {300, 20, 300},    {20, 300, 300},
        {20, 300, 5999},   {1, 100000, 100000},
        {2000, 3, 5000},   {3000, 500, 90000},
        {50, 2000, 60000}, {1500, 4500, 100000},
    };
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct dpmf_synth_options options = shape(shapes[i][0], shapes[i][1], shapes[i][2]);
        options.times = i % 2;
        options.top_500_share = i % 3 ? 0 : 0.4;
        synth(&options, path, 2);
        check_store(path, &options);
    }
}

static void test_scales(void **state) {
    (void)state;
    static const double scales[][3] = {{0, 100, 1},  {0.5, 5, 0.5}, {1, 2, 0.1},
                                       {-10, 10, 0}, {0, 1, 1},     {0, 1e6, 0.25}};
    for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
        struct dpmf_synth_options options = shape(200, 100, 4000);
        options.scale_min = scales[i][0];
        options.scale_max = scales[i][1];
        options.scale_step = scales[i][2];
        synth(&options, path, 1);
        check_store(path, &options);
    }
}

static void test_known_shapes(void **state) {
    (void)state;
    struct dpmf_synth_options options = dpmf_synth_options_default();
    size_t n = 0;
    for (const char *name; (name = dpmf_synth_shape_name(n)); n++)
        assert_int_equal(dpmf_synth_options_like(name, &options), 0);
    assert_int_equal(n, 5);
    assert_int_equal(dpmf_synth_options_like("nothing", &options), DPMF_ERR_USAGE_VALUE);
    assert_int_equal(dpmf_synth_options_like("netflix", &options), 0);
    assert_int_equal(options.users, 480189);
    assert_int_equal(options.items, 17770);
    assert_int_equal(options.ratings, 99072112);
    assert_int_equal(dpmf_synth_options_like("ml-100k", &options), 0);
    synth(&options, path, 2);
    check_store(path, &options);
}

static void test_refused(void **state) {
    (void)state;
    struct dpmf_error error;
    static const uint64_t bad[][3] = {{0, 5, 5},          {5, 0, 5},         {10, 5, 9},
                                      {5, 10, 9},         {10, 10, 101},     {UINT64_MAX, 1, 1},
                                      {1, UINT64_MAX, 1}, {2, 3, UINT64_MAX}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct dpmf_synth_options options = shape(bad[i][0], bad[i][1], bad[i][2]);
        assert_int_equal(dpmf_synth(path, &options, NULL, NULL, &error), DPMF_ERR_RATINGS_SHAPE);
        assert_true(error.message[0]);
        assert_int_equal(dpmf_synth(path, &options, NULL, NULL, NULL), DPMF_ERR_RATINGS_SHAPE);
    }
    struct dpmf_synth_options options = dpmf_synth_options_default();
    options.noise = NAN;
    assert_int_equal(dpmf_synth(path, &options, NULL, NULL, &error), DPMF_ERR_USAGE_VALUE);
    options = dpmf_synth_options_default();
    options.scale_max = options.scale_min;
    assert_int_equal(dpmf_synth(path, &options, NULL, NULL, &error), DPMF_ERR_USAGE_VALUE);
    options = dpmf_synth_options_default();
    options.rank = 0;
    assert_int_equal(dpmf_synth(path, &options, NULL, NULL, &error), DPMF_ERR_USAGE_VALUE);
    options = dpmf_synth_options_default();
    options.catalogue = "/no/such/place/catalogue.csv";
    assert_true(dpmf_synth(path, &options, NULL, NULL, &error) < 0);
    options.catalogue = NULL;
    options.truth = "/no/such/place/truth.safetensors";
    assert_true(dpmf_synth(path, &options, NULL, NULL, &error) < 0);
    assert_int_equal(temp_dir_count(&directory), 0);
}

static int stop_soon(void *self, const struct dpmf_progress *progress) {
    assert_string_equal(progress->unit, "ratings");
    assert_true(progress->done <= progress->total);
    return ++*(int *)self == 2;
}

static void test_cancelled(void **state) {
    (void)state;
    int calls = 0;
    struct dpmf_synth_options options = shape(20000, 100, 100000);
    options.catalogue = catalogue_path;
    struct dpmf_run run = dpmf_run_default();
    run.progress = stop_soon;
    run.progress_self = &calls;
    assert_int_equal(dpmf_synth(path, &options, &run, NULL, NULL), DPMF_ERR_BASE_CANCELLED);
    assert_int_equal(temp_dir_count(&directory), 0);
}

/* ---- the same bytes -------------------------------------------------------------------------- */

static void test_threads(void **state) {
    (void)state;
    static const int threads[] = {2, 3, 8};
    struct dpmf_synth_options options = shape(9000, 2500, 300000);
    options.top_500_share = 0.6;
    options.times = true;
    options.seed = 42;
    synth(&options, path, 1);
    for (size_t i = 0; i < sizeof threads / sizeof threads[0]; i++) {
        synth(&options, other_path, threads[i]);
        temp_dir_expect_same(path, other_path);
    }
    options.seed = 43;
    synth(&options, other_path, 1);
    size_t n, m;
    char *x = temp_dir_read(path, &n), *y = temp_dir_read(other_path, &m);
    assert_false(n == m && memcmp(x, y, n) == 0);
    free(x);
    free(y);
}

/* ---- popularity ------------------------------------------------------------------------------ */

static void test_top_share(void **state) {
    (void)state;
    static const double shares[] = {0.44, 0.3, 0.6};
    for (size_t i = 0; i < 3; i++) {
        /* Netflix with a hundredth of its users. */
        struct dpmf_synth_options options = shape(4800, 17770, 990721);
        options.top_500_share = shares[i];
        synth(&options, path, 2);
        struct dpmf_store *store;
        assert_int_equal(store_open_file(path, &store, NULL), 0);
        uint64_t top = 0;
        for (uint64_t j = 0; j < 500; j++) top += store_item_at(store, j).n_ratings;
        double share = (double)top / (double)options.ratings;
        if (fabs(share - shares[i]) > 0.005) print_error("%g for %g\n", share, shares[i]);
        assert_true(fabs(share - shares[i]) <= 0.005);
        dpmf_store_close(store);
    }
}

/* Both ways of drawing have the same law: the mean number of times each item is among n drawn is
 * compared between small and large n by what successive draws without replacement must give, worked
 * out exactly for five items. */
static double inclusion(const double *weight, int n_items, int n, int item, unsigned taken,
                        double sum) {
    if (taken >> item & 1) return 1;
    if (n == 0) return 0;
    double p = 0;
    for (int j = 0; j < n_items; j++)
        if (!(taken >> j & 1))
            p += weight[j] / sum *
                 inclusion(weight, n_items, n - 1, item, taken | 1u << j, sum - weight[j]);
    return p;
}

static void test_pick_law(void **state) {
    (void)state;
    enum { ITEMS = 5, TRIES = 40000 };
    static const double weight[ITEMS] = {0.6, 0.25, 0.1, 0.04999, 0.00001};
    struct synth_pick_table *table = synth_pick_table_new(weight, ITEMS);
    struct synth_picker *picker = synth_picker_new(table);
    assert_true(table && picker);
    for (uint64_t n = 1; n <= ITEMS; n++) {
        uint64_t count[ITEMS] = {0};
        for (uint64_t t = 0; t < TRIES; t++) {
            struct random_stream stream;
            random_stream_init(&stream, n, 77, t);
            assert_true(synth_picker_draw(picker, n, &stream));
            uint32_t items[ITEMS];
            assert_int_equal(synth_picker_collect(picker, items), n);
            for (uint64_t i = 0; i < n; i++) count[items[i]]++;
            for (uint64_t i = 1; i < n; i++) assert_true(items[i] > items[i - 1]);
        }
        for (int j = 0; j < ITEMS; j++) {
            double p = inclusion(weight, ITEMS, (int)n, j, 0, 1);
            double sd = sqrt(p * (1 - p) / TRIES) + 1e-9;
            assert_true(fabs((double)count[j] / TRIES - p) < 5 * sd + 1e-4);
        }
    }
    synth_picker_free(picker);
    synth_pick_table_free(table);
}

/* ---- the planted model ----------------------------------------------------------------------- */

/* The data of a tensor, from the file's own header. */
static const float *find_tensor(const char *bytes, size_t n, const char *name, size_t n_values) {
    uint64_t header = bytes_get_u64((const uint8_t *)bytes);
    assert_true(header < n - 8);
    char key[64];
    snprintf(key, sizeof key, "\"%s\"", name);
    const char *at = memmem(bytes + 8, header, key, strlen(key));
    assert_non_null(at);
    at = strstr(at, "\"data_offsets\":[");
    assert_non_null(at);
    uint64_t from, to;
    assert_int_equal(sscanf(at, "\"data_offsets\":[%" SCNu64 ",%" SCNu64 "]", &from, &to), 2);
    assert_int_equal(to - from, n_values * sizeof(float));
    assert_true(8 + header + to <= n);
    float *copy = malloc(to - from);
    assert_non_null(copy);
    memcpy(copy, bytes + 8 + header + from, to - from);
    return copy;
}

static void test_planted_model(void **state) {
    (void)state;
    struct dpmf_synth_options o = shape(3000, 800, 200000);
    o.scale_min = 0;
    o.scale_max = 8; /* a unit of 2 */
    o.scale_step = 0;
    o.noise = 0.3;
    o.rank = 7;
    o.truth = truth_path;
    synth(&o, path, 2);
    struct stat status;
    assert_int_equal(stat(truth_path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    size_t n;
    char *bytes = temp_dir_read(truth_path, &n);
    const float *U = find_tensor(bytes, n, "user_factors", o.users * o.rank);
    const float *V = find_tensor(bytes, n, "item_factors", o.items * o.rank);
    const float *bu = find_tensor(bytes, n, "user_biases", o.users);
    const float *bi = find_tensor(bytes, n, "item_biases", o.items);
    uint64_t header = bytes_get_u64((const uint8_t *)bytes);
    assert_non_null(memmem(bytes + 8, header, "\"dpmf.kind\":\"truth\"", 19));

    struct dpmf_store *store;
    assert_int_equal(store_open_file(path, &store, NULL), 0);
    struct store_raw raw = {0};
    struct store_space space = {0};
    double n_all = 0, n_free = 0, squares = 0, sum = 0, product = 0;
    for (uint64_t b = 0; b < store_n_blocks(store); b++) {
        struct store_block block;
        assert_int_equal(store_block_read(store, b, &raw, NULL), 0);
        assert_int_equal(store_block_decode(store, &raw, STORE_WANT_VALUE, &space, &block, NULL),
                         0);
        for (uint32_t i = 0; i < block.n_users; i++) {
            uint64_t u = block.first_user + i;
            for (uint64_t r = block.start[i]; r < block.start[i + 1]; r++) {
                double uv = 0;
                for (uint32_t f = 0; f < o.rank; f++)
                    uv += (double)U[u * o.rank + f] * (double)V[block.item[r] * o.rank + f];
                double expected = 0.65 * 8 + (double)bu[u] + (double)bi[block.item[r]] + uv;
                product += uv * uv;
                n_all++;
                if (expected < 0.3 * 2 * 4 || expected > 8 - 0.3 * 2 * 4) continue; /* clamped? */
                double residual = block.value[r] - expected;
                sum += residual;
                squares += residual * residual;
                n_free++;
            }
        }
    }
    assert_true(n_free > n_all / 2);
    assert_true(fabs(sqrt(squares / n_free) / (0.3 * 2) - 1) < 0.03);
    assert_true(fabs(sum / n_free) < 0.01);
    assert_true(fabs(sqrt(product / n_all) / (0.6 * 2) - 1) < 0.1);
    free(raw.buffer.bytes);
    store_space_free(&space);
    dpmf_store_close(store);
    free((void *)(uintptr_t)U);
    free((void *)(uintptr_t)V);
    free((void *)(uintptr_t)bu);
    free((void *)(uintptr_t)bi);
    free(bytes);
}

/* ---- the catalogue --------------------------------------------------------------------------- */

static int compare_titles(const void *a, const void *b) { return strcmp(a, b); }

static void test_titles(void **state) {
    (void)state;
    enum { N = 200000 };
    char(*title)[TITLE_MAX] = malloc(N * sizeof *title);
    assert_non_null(title);
    struct titles titles;
    titles_init(&titles, 5);
    bool comma = false, quote = false, beyond_ascii = false;
    for (uint64_t i = 0; i < N; i++) {
        size_t length = titles_make(&titles, i % 2 ? i : i * 1000003, title[i]);
        assert_in_range(length, 12, TITLE_MAX - 1);
        assert_int_equal(title[i][length - 1], ')');
        comma |= strchr(title[i], ',') != NULL;
        quote |= strchr(title[i], '"') != NULL;
        beyond_ascii |= strstr(title[i], "\xC3") != NULL;
    }
    assert_true(comma && quote && beyond_ascii);
    qsort(title, N, sizeof *title, compare_titles);
    for (size_t i = 1; i < N; i++) assert_string_not_equal(title[i], title[i - 1]);
    free(title);
}

static void test_catalogue(void **state) {
    (void)state;
    struct dpmf_synth_options options = shape(100, 1500, 3000);
    options.catalogue = catalogue_path;
    synth(&options, path, 2);
    size_t n;
    char *text = temp_dir_read(catalogue_path, &n);
    assert_memory_equal(text, "item,title\n", 11);
    uint64_t lines = 0;
    for (char *line = text + 11, *end; (end = strchr(line, '\n')); line = end + 1) {
        char *comma;
        assert_int_equal(strtoull(line, &comma, 10), ++lines);
        assert_int_equal(*comma, ',');
        size_t quotes = 0;
        for (char *c = comma; c < end; c++) quotes += *c == '"';
        bool has_comma = memchr(comma + 1, ',', (size_t)(end - comma - 1)) != NULL;
        if (quotes == 0) assert_false(has_comma);
        if (quotes > 0) assert_true(comma[1] == '"' && end[-1] == '"' && quotes % 2 == 0);
    }
    assert_int_equal(lines, options.items);
    free(text);
}

int main(void) {
#define TEST(function) cmocka_unit_test_setup_teardown(function, make_directory, remove_directory)
    const struct CMUnitTest tests[] = {
        TEST(test_counts),    TEST(test_scales),    TEST(test_known_shapes),  TEST(test_refused),
        TEST(test_cancelled), TEST(test_threads),   TEST(test_top_share),     TEST(test_pick_law),
        TEST(test_titles),    TEST(test_catalogue), TEST(test_planted_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
