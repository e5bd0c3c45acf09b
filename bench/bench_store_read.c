/*
 * How fast a store is read through the stream: blocks read ahead by one thread, decoded by others, to
 * item numbers and single-precision ratings, as a trainer takes them. Beside it, in the same run, the
 * limit: the same bytes read into memory and nothing done with them.
 *
 *     bench_store_read [ignored] [STORE]
 *
 * Without a store it makes one of Netflix's shape in $TMPDIR first.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/host.h"
#include "base/threads.h"
#include "store/store.h"

static void fail(const struct dpmf_error *error) {
    char text[1200];
    dpmf_error_format(error, NULL, NULL, text, sizeof text);
    fprintf(stderr, "bench_store_read: %s\n", text);
    exit(1);
}

struct consumer {
    struct store_stream *stream;
    const struct dpmf_store *store;
    uint64_t ratings;
    double sum; /* so that nothing is optimised away */
};

static void *consume(void *self) {
    struct consumer *consumer = self;
    struct store_space space = {0};
    struct store_raw *raw;
    struct store_block block;
    struct dpmf_error error = {0};
    int code;
    while ((code = store_stream_take(consumer->stream, &raw, &error)) == 1) {
        if (store_block_decode(consumer->store, raw, STORE_WANT_VALUE32, &space, &block, &error) <
            0)
            fail(&error);
        consumer->ratings += block.n_ratings;
        consumer->sum += block.value32[0] + (double)block.item[block.n_ratings - 1];
        store_stream_give_back(consumer->stream, raw);
    }
    if (code < 0) fail(&error);
    store_space_free(&space);
    return NULL;
}

static double read_by_stream(const struct dpmf_store *store, int threads) {
    enum { THREADS_MAX = 64 };
    pthread_t thread[THREADS_MAX];
    struct consumer consumer[THREADS_MAX];
    struct store_stream *stream;
    struct dpmf_error error = {0};
    double started = clock_now();
    if (store_stream_open(&stream, store, 0, store_n_blocks(store), 2 * (size_t)threads + 2,
                          &error) < 0)
        fail(&error);
    for (int i = 0; i < threads; i++) {
        consumer[i] = (struct consumer){.stream = stream, .store = store};
        if (pthread_create(&thread[i], NULL, consume, &consumer[i]) != 0) exit(1);
    }
    uint64_t ratings = 0;
    for (int i = 0; i < threads; i++) {
        pthread_join(thread[i], NULL);
        ratings += consumer[i].ratings;
    }
    double seconds = clock_now() - started;
    store_stream_close(stream);
    if (ratings != store_n_ratings(store)) exit(1);
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
            double seconds = read_by_stream(store, threads);
            printf("   %d thread%s %6.1f M ratings/s (%.2f of the limit)", threads,
                   threads > 1 ? "s" : "", 1e-6 * (double)info.ratings / seconds, bytes / seconds);
        }
        printf("\n");
    }
    dpmf_store_close(store);
    if (made[0]) unlink(made);
    return 0;
}
