/*
 * Where the time of an epoch goes beyond the bare kernel, on one core, by processor time. Tiles a
 * store as `dpmf train -j 2` does and runs the kernel
 *
 *     on chunks that are all full, moving rows in half of L2 (bench_kernels' figure);
 *     on as many chunks of each size as the epoch has, in random order;
 *     on the epoch's tiles: as they are, with resident rows that are among 64, with moving rows
 *     that stay in half of L2, and with both; as a whole, and each group of items by itself.
 *
 *     bench_tiles [ignored] [K,K..]      DPMF_KERNELS and DPMF_CACHES count; BENCH_ROUNDS, 9
 *
 * BENCH_STORE names a store; without it one of Netflix's density, of 40,000 users, is made in
 * $TMPDIR.
 *
 * Million updates/s: the median round, and for groups the best.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/host.h"
#include "base/memory.h"
#include "dpmf.h"
#include "kernels/kernels.h"
#include "schedule/tiling.h"
#include "store/store.h"

enum { THREADS = 2, ROUNDS_MOST = 99, USERS = 40000, RATINGS = 8252759 };
enum { NEAR = 64 }; /* resident rows that are always near */
enum { AS_IT_IS, NEAR_RESIDENTS = 1, NEAR_MOVING = 2, VARIANTS = 4 };

struct bench {
    const struct kernel_set *set;
    struct host_caches caches;
    struct tiling *tiling;
    size_t k, stride;
    uint64_t users, items, ratings;
    struct kernel_side u, v;
    uint32_t near_rows; /* moving rows in half of L2 */
    uint64_t sizes[KERNEL_LANES + 1];
    int rounds;
};

static void give_up(const char *why) {
    fprintf(stderr, "bench_tiles: %s\n", why);
    exit(1);
}

static void *map(size_t bytes) {
    void *pages = memory_map(bytes);
    if (!pages) give_up("out of memory");
    return pages;
}

static uint32_t below(uint32_t n) {
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(((state >> 33) * n) >> 31);
}

static int by_value(const void *a, const void *b) {
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static double median(double *seconds, int n) {
    qsort(seconds, (size_t)n, sizeof *seconds, by_value);
    return seconds[n / 2];
}

static struct kernel_side make_side(uint64_t rows, size_t k, size_t stride) {
    const uint64_t all = rows + TILING_SPARE_ROWS;
    struct kernel_side side = {.rows = map(all * (stride + 1) * sizeof(float)), .stride = stride};
    side.biases = side.rows + all * stride;
    for (uint64_t i = 0; i < rows; i++)
        for (size_t x = 0; x < k; x++)
            side.rows[i * stride + x] = ((float)below(2000) - 1000) * 1e-3f / (float)k;
    return side;
}

static struct kernel_step make_step(const struct bench *bench, uint64_t first, bool user_resident,
                                    bool is_far) {
    struct kernel_side u = bench->u;
    u.rows += first * u.stride;
    u.biases += first;
    struct kernel_step step = {.resident = user_resident ? u : bench->v,
                               .moving = user_resident ? bench->v : u,
                               .k = bench->set->padded_k(bench->k),
                               .offset = 3,
                               .rate = 1e-3f,
                               .bias_rate = 1e-3f,
                               .lead = is_far ? tiling_far_lead(bench->tiling) : 1};
    for (int i = 0; i <= KERNEL_LANES; i++)
        step.decay[i] = step.bias_decay[i] = 1 - 1e-4f * (float)i;
    return step;
}

/* ---- the bare kernel ------------------------------------------------------------------------- */

/* Sizes in random order; moving rows one after the other, from time to time far off. */
static void fill_chunks(const struct bench *bench, struct kernel_chunk *chunks, size_t n) {
    for (size_t i = n; i > 1; i--) {
        const size_t j = below((uint32_t)i);
        const uint32_t size = chunks[j].n;
        chunks[j].n = chunks[i - 1].n;
        chunks[i - 1].n = size;
    }
    uint32_t row = 0;
    for (size_t i = 0; i < n + KERNEL_AHEAD; i++) {
        chunks[i].resident = below(NEAR);
        for (uint32_t lane = 0; lane < KERNEL_LANES; lane++) {
            chunks[i].moving[lane] = (row + lane) % bench->near_rows;
            chunks[i].rating[lane] = lane < chunks[i].n ? 3 : 0;
        }
        row = (row + chunks[i].n + (below(4) ? 0 : bench->near_rows * 5 / 8)) % bench->near_rows;
    }
}

/* Of so many chunks of each size. */
static double bare(const struct bench *bench, const uint64_t *sizes) {
    size_t n = 0, at = 0;
    uint64_t updates = 0;
    double seconds[ROUNDS_MOST];
    for (uint32_t size = 1; size <= KERNEL_LANES; size++) n += sizes[size];
    const size_t bytes = (n + KERNEL_AHEAD) * sizeof(struct kernel_chunk);
    struct kernel_chunk *chunks = map(bytes);
    for (uint32_t size = 1; size <= KERNEL_LANES; size++)
        for (uint64_t i = 0; i < sizes[size]; i++, updates += size) chunks[at++].n = size;
    fill_chunks(bench, chunks, n);
    const struct kernel_step step = make_step(bench, 0, false, false);
    for (int round = 0; round < bench->rounds; round++) {
        const double begun = clock_of_thread();
        bench->set->sgd_tile(bench->k)(&step, chunks, n);
        seconds[round] = clock_of_thread() - begun;
    }
    memory_unmap(chunks, bytes);
    return (double)updates / median(seconds, bench->rounds);
}

/* ---- the epoch's tiles ----------------------------------------------------------------------- */

static void bring_near(const struct bench *bench, struct kernel_chunk *chunks, uint64_t n,
                       int variant) {
    for (uint64_t i = 0; i < n; i++) {
        if (variant & NEAR_RESIDENTS) chunks[i].resident %= NEAR;
        if (!(variant & NEAR_MOVING)) continue;
        const uint32_t first = chunks[i].moving[0] % bench->near_rows;
        for (uint32_t lane = 0; lane < KERNEL_LANES; lane++)
            chunks[i].moving[lane] = (first + lane) % bench->near_rows;
    }
}

/* One epoch of a variant; adds the seconds of each group. */
static void run_variant(const struct bench *bench, int variant, struct kernel_chunk *copy,
                        double *seconds) {
    const size_t n_groups = tiling_n_groups(bench->tiling);
    for (size_t s = 0; s < tiling_n_superblocks(bench->tiling); s++) {
        uint64_t first, n_users, first_row, n_rows;
        bool user_resident;
        tiling_superblock_users(bench->tiling, s, &first, &n_users);
        for (size_t g = 0; g < n_groups; g++) {
            const struct tile tile = tiling_tile(bench->tiling, s, g);
            const struct kernel_chunk *chunks = tiling_chunks(bench->tiling, s) + tile.first;
            tiling_group(bench->tiling, g, &first_row, &n_rows, &user_resident);
            if (variant != AS_IT_IS) {
                memcpy(copy, chunks, (size_t)(tile.n + KERNEL_AHEAD) * sizeof *copy);
                bring_near(bench, copy, tile.n + KERNEL_AHEAD, variant);
                chunks = copy;
            }
            const struct kernel_step step =
                make_step(bench, first, user_resident, g == 0 || user_resident);
            const double begun = clock_of_thread();
            bench->set->sgd_tile(bench->k)(&step, chunks, (size_t)tile.n);
            seconds[g] += clock_of_thread() - begun;
        }
    }
}

static uint64_t count_sizes(struct bench *bench, uint64_t *group_ratings) {
    uint64_t most = 0;
    memset(bench->sizes, 0, sizeof bench->sizes);
    for (size_t s = 0; s < tiling_n_superblocks(bench->tiling); s++)
        for (size_t g = 0; g < tiling_n_groups(bench->tiling); g++) {
            const struct tile tile = tiling_tile(bench->tiling, s, g);
            const struct kernel_chunk *chunks = tiling_chunks(bench->tiling, s) + tile.first;
            for (uint64_t i = 0; i < tile.n; i++) bench->sizes[chunks[i].n]++;
            group_ratings[g] += tile.n_ratings;
            if (tile.n > most) most = tile.n;
        }
    return most;
}

static void run_tiles(struct bench *bench) {
    const size_t n = tiling_n_groups(bench->tiling);
    uint64_t *ratings = calloc(n, sizeof *ratings);
    double *groups = calloc(n, sizeof *groups), *best = calloc(VARIANTS * n, sizeof *best);
    double totals[VARIANTS][ROUNDS_MOST];
    if (!ratings || !groups || !best) give_up("out of memory");
    const uint64_t most = count_sizes(bench, ratings);
    uint64_t full[KERNEL_LANES + 1] = {0};
    const uint32_t lanes = tiling_chunk_rows(bench->tiling);
    full[lanes] = bench->ratings / lanes;
    printf("%s k %zu lanes %u: bare, full chunks %.2f, own sizes %.2f;", bench->set->name, bench->k,
           lanes, 1e-6 * bare(bench, full), 1e-6 * bare(bench, bench->sizes));
    const size_t bytes = (size_t)(most + KERNEL_AHEAD) * sizeof(struct kernel_chunk);
    struct kernel_chunk *copy = map(bytes);
    for (int round = 0; round < bench->rounds; round++)
        for (int variant = 0; variant < VARIANTS; variant++) {
            memset(groups, 0, n * sizeof *groups);
            run_variant(bench, variant, copy, groups);
            totals[variant][round] = 0;
            for (size_t g = 0; g < n; g++) {
                double *least = &best[(size_t)variant * n + g];
                totals[variant][round] += groups[g];
                if (round == 0 || groups[g] < *least) *least = groups[g];
            }
        }
    const char *names[VARIANTS] = {"tiles", "near residents", "near moving", "both"};
    for (int variant = 0; variant < VARIANTS; variant++)
        printf(" %s %.2f%s", names[variant],
               1e-6 * (double)bench->ratings / median(totals[variant], bench->rounds),
               variant + 1 < VARIANTS ? "," : "\n");
    for (size_t g = 0; g < n; g++) {
        uint64_t first_row, n_rows;
        bool user_resident;
        tiling_group(bench->tiling, g, &first_row, &n_rows, &user_resident);
        printf("  group %2zu, %5.2f MiB, %5.2f %% of the ratings, %s resident:", g,
               (double)(n_rows * bench->stride) * sizeof(float) / (1 << 20),
               100 * (double)ratings[g] / (double)bench->ratings, user_resident ? "user" : "item");
        for (size_t variant = 0; variant < VARIANTS; variant++)
            printf(" %6.2f", 1e-6 * (double)ratings[g] / best[variant * n + g]);
        printf("\n");
    }
    memory_unmap(copy, bytes);
    free(ratings);
    free(groups);
    free(best);
}

static void bench_k(struct bench *bench, const struct dpmf_store *store) {
    struct dpmf_error error = {0};
    bench->stride = bench->set->stride(bench->k);
    bench->near_rows = (uint32_t)(bench->caches.l2 / 2 / (bench->stride * sizeof(float)));
    if (bench->near_rows < 2 * KERNEL_LANES) bench->near_rows = 2 * KERNEL_LANES;
    const struct tiling_options options = {.kernels = bench->set,
                                           .k = bench->k,
                                           .caches = bench->caches,
                                           .threads = THREADS,
                                           .lanes = THREADS,
                                           .memory_whole = UINT64_MAX / 4,
                                           .memory_build = UINT64_MAX / 4};
    if (tiling_build(store, &options, NULL, &bench->tiling, &error) < 0) give_up(error.message);
    /* of either side there are as many rows as are near */
    const uint64_t least = bench->near_rows > NEAR ? bench->near_rows : NEAR;
    bench->u = make_side(bench->users + least, bench->k, bench->stride);
    bench->v = make_side(bench->items + least, bench->k, bench->stride);
    run_tiles(bench);
    memory_unmap(bench->u.rows, (size_t)(bench->users + least + TILING_SPARE_ROWS) *
                                    (bench->stride + 1) * sizeof(float));
    memory_unmap(bench->v.rows, (size_t)(bench->items + least + TILING_SPARE_ROWS) *
                                    (bench->stride + 1) * sizeof(float));
    tiling_free(bench->tiling);
}

static struct dpmf_store *open_store(void) {
    struct dpmf_error error = {0};
    struct dpmf_store *store = NULL;
    const char *path = getenv("BENCH_STORE"), *folder = getenv("TMPDIR");
    char made[4096];
    snprintf(made, sizeof made, "%s/bench_tiles.%ld.dpr", folder ? folder : "/tmp", (long)getpid());
    if (!path) {
        struct dpmf_synth_options options = dpmf_synth_options_default();
        dpmf_synth_options_like("netflix", &options);
        options.users = USERS;
        options.ratings = RATINGS;
        if (dpmf_synth(made, &options, NULL, NULL, &error) < 0) give_up(error.message);
    }
    const int code = dpmf_store_open(path ? path : made, NULL, NULL, &store, &error);
    if (!path) unlink(made);
    if (code < 0) give_up(error.message);
    return store;
}

int main(int argc, char **argv) {
    struct dpmf_error error = {0};
    struct bench bench = {.set = kernel_set_choose(NULL)};
    const char *rounds = getenv("BENCH_ROUNDS"), *ks = argc > 2 ? argv[2] : "256,512,1024,2048";
    bench.rounds = rounds ? (int)strtol(rounds, NULL, 10) : 9;
    if (bench.rounds < 1 || bench.rounds > ROUNDS_MOST) give_up("BENCH_ROUNDS is 1 to 99");
    if (!bench.set) give_up("DPMF_KERNELS is not a set of this machine");
    if (host_caches_read(&bench.caches, &error) < 0) give_up(error.message);
    struct dpmf_store *store = open_store();
    bench.users = store_n_users(store);
    bench.items = store_n_items(store);
    bench.ratings = store_n_ratings(store);
    const unsigned state = bench.set->flush_denormals();
    for (const char *at = ks; at && *at;) {
        bench.k = strtoul(at, NULL, 10);
        if (bench.k < 1 || bench.k > KERNEL_K_MAX) give_up("k is 1 to 4096");
        bench_k(&bench, store);
        at = strchr(at, ',');
        if (at) at++;
    }
    bench.set->restore_denormals(state);
    dpmf_store_close(store);
    return 0;
}
