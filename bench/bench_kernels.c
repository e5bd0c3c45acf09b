/*
 * How fast the kernels are, each set that this machine supports, at each k: updates a second with
 * the rows in the first- or second-level cache, as a tile of the trainer has them, and with rows
 * that stream from memory. Beside them the limit of the same run: what a core can read, change and
 * write back in its caches, over the bytes that an update must rewrite when a resident row is
 * shared by four.
 *
 *     bench_kernels [ignored] [K,K..] [LANES]
 *
 * LANES fixes the moving rows of a chunk, 1 to 8, where otherwise each set's own choice is
 * measured: this is how the choice in kernel_sets.c was made.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/host.h"
#include "base/memory.h"
#include "kernels/kernels.h"
#include "kernels/rewrite.h"

static struct host_caches caches;

static void *map(size_t bytes) {
    void *pages = memory_map(bytes);
    if (pages) return pages;
    fprintf(stderr, "bench_kernels: out of memory\n");
    exit(1);
}

static uint32_t below(uint32_t n) {
    static uint64_t state = 1;
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(((state >> 33) * n) >> 31);
}

/* ---- the limit ------------------------------------------------------------------------------- */

/* Bytes a second that a core can read, change and write back in place. */
static double rewrite_bandwidth(size_t bytes, size_t total) {
    float *p = map(bytes);
    double best = 0;
    for (int round = 0; round < 5; round++) {
        double started = clock_of_thread();
        for (size_t done = 0; done < total; done += bytes) {
            rewrite_floats(p, bytes / sizeof *p);
            __asm__ volatile("" : : "r"(p) : "memory");
        }
        double rate = (double)(total / bytes * bytes) / (clock_of_thread() - started);
        if (rate > best) best = rate;
    }
    memory_unmap(p, bytes);
    return best;
}

/* ---- one kernel, one k ----------------------------------------------------------------------- */

/* `bytes` of moving rows meet 64 resident ones in chunks whose rows lie about at random, but every
 * row comes as often. */
struct place {
    const char *name;
    size_t bytes;
    size_t updates;
};

struct problem {
    struct kernel_step step;
    struct kernel_chunk *chunks;
    size_t n, row_bytes[2], chunk_bytes;
};

enum { RESIDENTS = 64 };

static struct kernel_side make_side(uint32_t rows, size_t k, size_t stride, size_t *bytes) {
    *bytes = (size_t)rows * (stride + 1) * sizeof(float);
    struct kernel_side side = {.rows = map(*bytes), .stride = stride};
    side.biases = side.rows + rows * stride;
    for (size_t i = 0; i < rows; i++)
        for (size_t x = 0; x < k; x++)
            side.rows[i * stride + x] = ((float)below(2000) - 1000) * 1e-3f / (float)k;
    return side;
}

static void make_problem(struct problem *p, const struct kernel_set *set, size_t k,
                         const struct place *place, uint32_t lanes) {
    const size_t stride = set->stride(k);
    uint32_t rows = (uint32_t)(place->bytes / (stride * sizeof(float)));
    if (rows < 2 * lanes + 1) rows = 2 * lanes + 1;
    memset(p, 0, sizeof *p);
    p->step = (struct kernel_step){
        .k = set->padded_k(k), .offset = 3, .rate = 1e-3f, .bias_rate = 1e-3f, .lead = 1};
    p->step.resident = make_side(RESIDENTS, k, stride, &p->row_bytes[0]);
    p->step.moving = make_side(rows + 1, k, stride, &p->row_bytes[1]); /* the last is the spare */
    for (int i = 0; i <= KERNEL_LANES; i++)
        p->step.decay[i] = p->step.bias_decay[i] = 1 - 1e-4f * (float)i;
    p->n = place->updates / k / lanes + 1;
    p->chunk_bytes = (p->n + KERNEL_AHEAD) * sizeof *p->chunks;
    p->chunks = map(p->chunk_bytes);
    uint32_t row = 0, step = rows * 5 / 8; /* far apart, so that nothing guesses the next */
    for (size_t j = 0; j < p->n; j++) {
        struct kernel_chunk *c = &p->chunks[j];
        c->resident = below(RESIDENTS);
        c->n = lanes;
        for (uint32_t i = 0; i < KERNEL_LANES; i++) {
            c->moving[i] = i < lanes ? row : rows;
            c->rating[i] = i < lanes ? 3 : 0;
            if (i + 1 == lanes)
                row = below(4) ? (row + 1) % rows : (row + step) % rows;
            else if (i < lanes)
                row = (row + 1) % rows;
        }
    }
}

static void free_problem(struct problem *p) {
    memory_unmap(p->step.resident.rows, p->row_bytes[0]);
    memory_unmap(p->step.moving.rows, p->row_bytes[1]);
    memory_unmap(p->chunks, p->chunk_bytes);
}

/* Updates a second, the best of a few rounds. */
static double measure(const struct kernel_set *set, size_t k, const struct place *place,
                      uint32_t fixed_lanes) {
    const uint32_t lanes = fixed_lanes ? fixed_lanes : set->lanes(k, &caches);
    struct problem p;
    make_problem(&p, set, k, place, lanes);
    kernel_sgd_tile *tile = set->sgd_tile(k);
    double best = 0;
    unsigned state = set->flush_denormals();
    for (int round = 0; round < 4; round++) {
        double started = clock_of_thread();
        volatile double squares = tile(&p.step, p.chunks, p.n);
        (void)squares;
        double rate = (double)(p.n * lanes) / (clock_of_thread() - started);
        if (rate > best) best = rate;
    }
    set->restore_denormals(state);
    free_problem(&p);
    return best;
}

/* Rows scored a second. */
static double measure_scores(const struct kernel_set *set, size_t k, size_t bytes) {
    const size_t stride = set->stride(k);
    const uint32_t rows = (uint32_t)(bytes / (stride * sizeof(float))) + 8;
    size_t one_bytes, many_bytes;
    struct kernel_side one = make_side(1, k, stride, &one_bytes);
    struct kernel_side many = make_side(rows, k, stride, &many_bytes);
    float *out = map(rows * sizeof *out);
    double best = 0;
    for (int round = 0; round < 4; round++) {
        double started = clock_of_thread();
        set->scores(one.rows, many.rows, stride, many.biases, rows, set->padded_k(k), out);
        double rate = (double)rows / (clock_of_thread() - started);
        if (rate > best) best = rate;
    }
    memory_unmap(one.rows, one_bytes);
    memory_unmap(many.rows, many_bytes);
    memory_unmap(out, rows * sizeof *out);
    return best;
}

/* ---- the tables ------------------------------------------------------------------------------ */

static void bench_k(size_t k, double limit, uint32_t lanes) {
    const struct place places[] = {
        {"L1", caches.l1 / 4, 40u << 20},
        {"L2", caches.l2 / 2, 40u << 20},
        {"memory", 2 * caches.l3 + ((size_t)64 << 20), 40u << 20},
    };
    const struct kernel_set *ref = kernel_set_choose("ref");
    const double roof = limit / (4 * (double)k * 1.25);
    for (size_t j = 0; j < sizeof places / sizeof *places; j++) {
        const double plain = measure(ref, k, &places[j], lanes);
        for (size_t i = 0; kernel_set_at(i); i++) {
            const struct kernel_set *set = kernel_set_at(i);
            if (!set->is_supported()) continue;
            const double rate = set == ref ? plain : measure(set, k, &places[j], lanes);
            printf(
                "sgd     %-6s k %4zu  %-6s  %8.2f M updates/s  %6.1f GFLOP/s  %.3f of the limit  "
                "%6.1f x ref\n",
                set->name, k, places[j].name, rate * 1e-6, rate * 6e-9 * (double)k, rate / roof,
                rate / plain);
        }
    }
    const double plain = measure_scores(ref, k, caches.l3 / 4);
    for (size_t i = 0; kernel_set_at(i); i++) {
        const struct kernel_set *set = kernel_set_at(i);
        if (!set->is_supported()) continue;
        const double rate = set == ref ? plain : measure_scores(set, k, caches.l3 / 4);
        printf(
            "scores  %-6s k %4zu  L3      %8.2f M rows/s     %6.1f GFLOP/s  %5.1f GB/s           "
            "%6.1f x ref\n",
            set->name, k, rate * 1e-6, rate * 2e-9 * (double)k, rate * 4e-9 * (double)k,
            rate / plain);
    }
}

int main(int argc, char **argv) {
    const uint32_t lanes = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0;
    const char *ks = argc > 2 ? argv[2] : "16,32,64,128,256,512,1024,2048";
    if (lanes > KERNEL_LANES) {
        fprintf(stderr, "bench_kernels: 1 to %d lanes\n", KERNEL_LANES);
        return 2;
    }
    if (host_caches_read(&caches, NULL) < 0) {
        fprintf(stderr, "bench_kernels: DPMF_CACHES is not understood\n");
        return 2;
    }
    const double l1 = rewrite_bandwidth(caches.l1 / 2, (size_t)400 << 20);
    const double l2 = rewrite_bandwidth(caches.l2 / 2, (size_t)400 << 20);
    printf(
        "caches %zu KiB, %zu KiB, %zu KiB%s; read, change and write: L1 %.1f GB/s, L2 %.1f GB/s\n",
        caches.l1 >> 10, caches.l2 >> 10, caches.l3 >> 10,
        caches.origin == HOST_GUESSED ? " (guessed)" : "", l1 * 1e-9, l2 * 1e-9);
    for (const char *at = ks; at && *at;) {
        const size_t k = strtoul(at, NULL, 10);
        if (k < 1 || k > KERNEL_K_MAX) {
            fprintf(stderr, "bench_kernels: k is 1 to %d\n", KERNEL_K_MAX);
            return 2;
        }
        bench_k(k, l1 > l2 ? l1 : l2, lanes);
        at = strchr(at, ',');
        if (at) at++;
    }
    return 0;
}
