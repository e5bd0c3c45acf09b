/*
 * How fast a store is visited: blocks read in order and decoded by all threads, to item numbers and
 * single-precision ratings. Beside it, in the same run, the limit: the same bytes read into memory,
 * and nothing done with them.
 *
 *     bench_store_read [ignored] [STORE]
 *
 * Without a store it makes one of Netflix's shape in $TMPDIR first.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/host.h"
#include "store/store.h"

static void fail(const struct dpmf_error *error) {
    char text[1200];
    dpmf_error_format(error, NULL, NULL, text, sizeof text);
    fprintf(stderr, "bench_store_read: %s\n", text);
    exit(1);
}

struct sums {
    uint64_t ratings;
    double sum; /* so that nothing is optimised away */
};

static int visit_block(void *self, int worker, const struct store_block *block, void *product,
                       struct dpmf_error *error) {
    struct sums *sums = product;
    (void)self;
    (void)worker;
    (void)error;
    sums->ratings = block->n_ratings;
    sums->sum = block->value32[0] + (double)block->item[block->n_ratings - 1];
    return 0;
}

static int add_block(void *self, void *product, struct dpmf_error *error) {
    struct sums *all = self;
    const struct sums *sums = product;
    (void)error;
    all->ratings += sums->ratings;
    all->sum += sums->sum;
    return 0;
}

static double read_by_visit(struct dpmf_store *store, int threads) {
    struct dpmf_error error = {0};
    struct dpmf_run run = dpmf_run_default();
    struct sums all = {0};
    run.threads = threads;
    double started = clock_now();
    size_t n = store_visit_products(store, &run);
    struct sums *products = calloc(n, sizeof *products);
    void **pointers = calloc(n, sizeof *pointers);
    if (!products || !pointers) exit(1);
    for (size_t i = 0; i < n; i++) pointers[i] = &products[i];
    const struct store_visitor visitor = {
        "reading", STORE_WANT_VALUE32, visit_block, add_block, &all, pointers, n};
    if (store_visit(store, &visitor, &run, &error) < 0) fail(&error);
    double seconds = clock_now() - started;
    free(products);
    free(pointers);
    if (all.ratings != store_n_ratings(store)) exit(1);
    return seconds;
}

static double read_bytes_alone(const char *path) {
    enum { PIECE = 1 << 20 };
    char *buffer = malloc(PIECE);
    int fd = open(path, O_RDONLY);
    if (!buffer || fd < 0) exit(1);
    double started = clock_now();
    while (read(fd, buffer, PIECE) > 0) continue;
    double seconds = clock_now() - started;
    close(fd);
    free(buffer);
    return seconds;
}

int main(int argc, char **argv) {
    char made[4096] = "";
    const char *path = argc > 2 ? argv[2] : getenv("BENCH_STORE");
    struct dpmf_error error = {0};
    if (!path) {
        const char *directory = getenv("TMPDIR");
        snprintf(made, sizeof made, "%s/dpmf-bench-%d.dpr", directory ? directory : "/tmp",
                 getpid());
        struct dpmf_synth_options options = dpmf_synth_options_default();
        dpmf_synth_options_like("netflix", &options);
        if (dpmf_synth(made, &options, NULL, NULL, &error) < 0) fail(&error);
        path = made;
    }
    struct dpmf_store *store;
    if (dpmf_store_open(path, NULL, NULL, &store, &error) < 0) fail(&error);
    struct dpmf_store_info info;
    dpmf_store_info(store, &info);
    printf("%llu ratings, %.3f bytes a rating\n", (unsigned long long)info.ratings,
           (double)info.file_bytes / (double)info.ratings);
    read_bytes_alone(path); /* into the page cache */
    int n_threads = host_cores();
    for (int round = 0; round < 3; round++) {
        double bytes = read_bytes_alone(path);
        printf("bytes alone %6.2f GB/s", 1e-9 * (double)info.file_bytes / bytes);
        for (int threads = 1; threads <= n_threads && threads <= 64; threads *= 2) {
            double seconds = read_by_visit(store, threads);
            printf("   %d thread%s %6.1f M ratings/s (%.2f of the limit)", threads,
                   threads > 1 ? "s" : "", 1e-6 * (double)info.ratings / seconds, bytes / seconds);
        }
        printf("\n");
    }
    dpmf_store_close(store);
    if (made[0]) unlink(made);
    return 0;
}
