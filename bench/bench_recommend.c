/*
 * How long someone at home waits, on one core: opening a release, being fitted to ratings, one
 * rating more, the ten best items, the ten most similar, reasons, the map. For the catalogues of
 * Netflix and of Yahoo, k = 64.
 *
 *     bench_recommend [ITEMS K]
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "model/release.h"
#include "recommend/user.h"

enum { RATINGS = 100, BEST = 10, ROUNDS = 201 };

static _Noreturn void stop(const char *what, const struct dpmf_error *error) {
    fprintf(stderr, "bench_recommend: %s: %s\n", what, error->message);
    exit(1);
}

static uint32_t next_random(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 32);
}

/* About normal. */
static float next_normal(uint64_t *state) {
    double sum = -2;
    for (int i = 0; i < 4; i++) sum += ldexp((double)next_random(state), -32);
    return (float)(sum * sqrt(3));
}

static size_t stride_of(size_t k) { return k; }

static void make_ids(struct factor_ids *ids, uint64_t n) {
    ids->n = n;
    ids->bytes = memory_alloc((size_t)n, 12);
    ids->start = memory_alloc_zero((size_t)n + 1, sizeof ids->start[0]);
    if (!ids->bytes || !ids->start) exit(1);
    for (uint64_t i = 0; i < n; i++) {
        int length = snprintf(ids->bytes + ids->start[i], 12, "%" PRIu64, i);
        ids->start[i + 1] = ids->start[i] + (uint64_t)length;
    }
}

/* Vectors that are longer where more people rate. */
static void make_release(const char *path, uint64_t items, uint32_t k) {
    struct dpmf_error error = {0};
    struct release release = {.factor_penalty = 4, .bias_penalty = 2};
    struct factors *factors = &release.factors;
    uint64_t random = 1;
    *factors = (struct factors){.k = k, .offset = 3.6, .min = 1, .max = 5};
    if (factor_matrix_init(&factors->items, items, stride_of(k), 0, &error) < 0)
        stop("making a release", &error);
    for (uint64_t i = 0; i < items; i++) {
        const float length = 0.3f / sqrtf(1 + 20 * (float)i / (float)items);
        factors->items.biases[i] = 0.4f * next_normal(&random);
        for (uint32_t c = 0; c < k; c++)
            factors->items.rows[i * k + c] = length * next_normal(&random);
    }
    make_ids(&factors->item_ids, items);
    release.statement = strdup("{}");
    if (!release.statement || release_write(path, &release, OUTPUT_PRIVATE, &error) < 0)
        stop("making a release", &error);
    release_free(&release);
}

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* What is measured: `round` counts from 0. */
struct bench {
    struct dpmf_model *model;
    struct dpmf_user *user;
    struct dpmf_own_rating ratings[RATINGS];
    uint8_t *seen;
    struct dpmf_error error;
};

static void fold_in(struct bench *bench, int round) {
    struct dpmf_user *user;
    (void)round;
    if (dpmf_user_fold_in(bench->model, bench->ratings, RATINGS, &user, &bench->error) < 0)
        stop("folding in", &bench->error);
    dpmf_user_free(user);
}

/* A new one, then the same taken away. */
static void rate(struct bench *bench, int round) {
    const uint64_t item = bench->ratings[round / 2 % RATINGS].item + 1;
    if (dpmf_user_rate(bench->model, bench->user, item, round % 2 == 0 ? 4 : NAN, &bench->error) <
        0)
        stop("rating", &bench->error);
}

static void recommend(struct bench *bench, int round) {
    struct dpmf_scored_item best[BEST];
    (void)round;
    if (dpmf_user_recommend(bench->model, bench->user, NULL, bench->seen, NULL, BEST, best,
                            &bench->error) != BEST)
        stop("recommending", &bench->error);
}

static void similar(struct bench *bench, int round) {
    struct dpmf_scored_item best[BEST];
    const uint64_t item = bench->ratings[round % RATINGS].item;
    if (dpmf_model_similar(bench->model, item, BEST, best, &bench->error) != BEST)
        stop("finding similar items", &bench->error);
}

static void explain(struct bench *bench, int round) {
    struct dpmf_score score;
    double shares[2 * RATINGS];
    const uint64_t item = bench->ratings[round % RATINGS].item + 2;
    if (dpmf_user_explain(bench->model, bench->user, NULL, item, &score, shares, &bench->error) < 0)
        stop("explaining", &bench->error);
}

static void map(struct bench *bench, int round) {
    struct dpmf_map *made;
    (void)round;
    if (dpmf_map_make(bench->model, &made, &bench->error) < 0) stop("the map", &bench->error);
    dpmf_map_free(made);
}

static void measure(const char *what, struct bench *bench, void (*what_to_do)(struct bench *, int),
                    int rounds) {
    double seconds[ROUNDS];
    for (int round = 0; round < rounds; round++) {
        const double started = clock_of_thread();
        what_to_do(bench, round);
        seconds[round] = clock_of_thread() - started;
    }
    qsort(seconds, (size_t)rounds, sizeof seconds[0], compare_doubles);
    printf("  %-28s %10.4f ms   (least %.4f)\n", what, 1e3 * seconds[rounds / 2], 1e3 * seconds[0]);
}

static void prepare(struct bench *bench) {
    const uint64_t items = bench->model->factors.items.n;
    uint64_t random = 2;
    bench->seen = memory_alloc_zero((size_t)(items / 8 + 1), 1);
    if (!bench->seen) exit(1);
    for (size_t i = 0; i < RATINGS; i++) {
        const uint64_t item = i * (items / (RATINGS + 1));
        bench->ratings[i] = (struct dpmf_own_rating){item, (double)(1 + next_random(&random) % 5)};
        bench->seen[item / 8] |= (uint8_t)(1 << item % 8);
    }
    if (dpmf_user_fold_in(bench->model, bench->ratings, RATINGS, &bench->user, &bench->error) < 0)
        stop("folding in", &bench->error);
}

static void run(const char *path, uint64_t items, uint32_t k) {
    struct bench bench = {0};
    const int rounds = items > 100000 ? 31 : ROUNDS;
    make_release(path, items, k);
    const double started = clock_of_thread();
    if (dpmf_model_open(path, &bench.model, &bench.error) < 0)
        stop("opening the release", &bench.error);
    const double opened = clock_of_thread();
    prepare(&bench);
    printf("%" PRIu64 " items, k = %" PRIu32 ", %d ratings, kernels %s\n", items, k, RATINGS,
           bench.model->kernels->name);
    printf("  %-28s %10.1f ms\n", "open and check the release", 1e3 * (opened - started));
    measure("fold in", &bench, fold_in, rounds);
    measure("a rating more or less", &bench, rate, rounds - 1);
    measure("the ten best items", &bench, recommend, rounds);
    measure("ten similar items", &bench, similar, rounds);
    measure("reasons for an item", &bench, explain, rounds);
    measure("the map", &bench, map, 3);
    dpmf_user_free(bench.user);
    dpmf_model_close(bench.model);
    free(bench.seen);
}

int main(int argc, char **argv) {
    char path[] = "/tmp/bench_recommend.XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0) return 1;
    close(fd);
    if (argc == 3) {
        run(path, strtoull(argv[1], NULL, 10), (uint32_t)strtoul(argv[2], NULL, 10));
    } else {
        run(path, 18000, 64);
        run(path, 635000, 64);
    }
    unlink(path);
    return 0;
}
