/*
 * The pool runs a task once in each worker and waits; the queue keeps order and bounds, and wakes
 * everyone when closed.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/host.h"
#include "base/threads.h"

static void test_counts(void **state) {
    (void)state;
    int available = host_cores();
    assert_true(available >= 1);
    struct dpmf_run run = dpmf_run_default();
    int every = available < 1024 ? available : 1024;
    assert_int_equal(threads_wanted(NULL), every);
    assert_int_equal(threads_wanted(&run), every);
    run.threads = 3;
    assert_int_equal(threads_wanted(&run), 3);
    run.threads = 1 << 20;
    assert_int_equal(threads_wanted(&run), 1024);
    run.threads = -1;
    assert_int_equal(threads_wanted(&run), every);
}

struct tally {
    atomic_int runs[16];
    atomic_int total;
};

static void count_run(void *self, int worker) {
    struct tally *tally = self;
    atomic_fetch_add(&tally->runs[worker], 1);
    atomic_fetch_add(&tally->total, 1);
}

static void test_pool(void **state) {
    (void)state;
    for (int n = 1; n <= 8; n++) {
        struct thread_pool *pool;
        struct tally tally = {0};
        assert_int_equal(thread_pool_init(&pool, n, NULL), 0);
        assert_int_equal(thread_pool_size(pool), n);
        for (int round = 1; round <= 200; round++) {
            thread_pool_run(pool, count_run, &tally);
            assert_int_equal(atomic_load(&tally.total), round * n);
        }
        for (int i = 0; i < 16; i++) assert_int_equal(atomic_load(&tally.runs[i]), i < n ? 200 : 0);
        thread_pool_free(pool);
    }
    thread_pool_free(NULL);
}

static void test_pool_of_odd_sizes(void **state) {
    (void)state;
    struct thread_pool *pool;
    assert_int_equal(thread_pool_init(&pool, 0, NULL), 0);
    assert_int_equal(thread_pool_size(pool), 1);
    thread_pool_free(pool); /* never run */
}

/* Plain memory written by the workers must be seen by the caller after the run, and back. */
static void add_up(void *self, int worker) { ((long *)self)[worker * 16] += worker + 1; }

static void test_pool_orders_memory(void **state) {
    (void)state;
    long sums[4 * 16] = {0};
    struct thread_pool *pool;
    assert_int_equal(thread_pool_init(&pool, 4, NULL), 0);
    for (int round = 1; round <= 500; round++) {
        thread_pool_run(pool, add_up, sums);
        for (int i = 0; i < 4; i++) assert_int_equal(sums[i * 16], round * (i + 1));
    }
    thread_pool_free(pool);
}

enum { ITEMS = 20000, MAX_SIDE = 4 };

struct exchange {
    struct bounded_queue *queue;
    int n_producers;
    atomic_int next_producer;
    atomic_int taken[ITEMS];
    atomic_int out_of_order;
};

static void *produce(void *argument) {
    struct exchange *exchange = argument;
    int me = atomic_fetch_add(&exchange->next_producer, 1);
    for (intptr_t i = me; i < ITEMS; i += exchange->n_producers)
        assert_true(bounded_queue_push(exchange->queue, (void *)(i + 1)));
    return NULL;
}

static void *take(void *argument) {
    struct exchange *exchange = argument;
    void *item;
    intptr_t last[MAX_SIDE] = {0};
    while (bounded_queue_pop(exchange->queue, &item)) {
        intptr_t i = (intptr_t)item - 1;
        atomic_fetch_add(&exchange->taken[i], 1);
        intptr_t *before = &last[i % exchange->n_producers];
        if (i + 1 <= *before) atomic_fetch_add(&exchange->out_of_order, 1);
        *before = i + 1;
    }
    return NULL;
}

static void run_exchange(int n_producers, int n_takers, size_t capacity) {
    struct exchange *exchange = calloc(1, sizeof *exchange);
    pthread_t producers[MAX_SIDE], takers[MAX_SIDE];
    exchange->n_producers = n_producers;
    assert_int_equal(bounded_queue_init(&exchange->queue, capacity, NULL), 0);
    for (int i = 0; i < n_takers; i++) pthread_create(&takers[i], NULL, take, exchange);
    for (int i = 0; i < n_producers; i++) pthread_create(&producers[i], NULL, produce, exchange);
    for (int i = 0; i < n_producers; i++) pthread_join(producers[i], NULL);
    bounded_queue_close(exchange->queue);
    for (int i = 0; i < n_takers; i++) pthread_join(takers[i], NULL);
    for (int i = 0; i < ITEMS; i++) assert_int_equal(atomic_load(&exchange->taken[i]), 1);
    assert_int_equal(atomic_load(&exchange->out_of_order), 0);
    bounded_queue_free(exchange->queue);
    free(exchange);
}

static void test_queue(void **state) {
    (void)state;
    run_exchange(1, 1, 1);
    run_exchange(1, 1, 7);
    run_exchange(4, 1, 3);
    run_exchange(1, 4, 3);
    run_exchange(3, 3, 5);
}

static void *push_one_more(void *argument) {
    return bounded_queue_push(argument, argument) ? argument : NULL;
}

static void *pop_one_more(void *argument) {
    void *item;
    return bounded_queue_pop(argument, &item) ? argument : NULL;
}

static void test_queue_close_wakes(void **state) {
    (void)state;
    struct bounded_queue *queue;
    pthread_t thread;
    void *result;
    assert_int_equal(bounded_queue_init(&queue, 1, NULL), 0);
    assert_true(bounded_queue_push(queue, queue));
    pthread_create(&thread, NULL, push_one_more, queue); /* waits for room, in vain */
    bounded_queue_close(queue);
    pthread_join(thread, &result);
    assert_null(result);
    assert_false(bounded_queue_push(queue, queue));
    void *item;
    assert_true(bounded_queue_pop(queue, &item)); /* what was in it is still there */
    assert_false(bounded_queue_pop(queue, &item));
    bounded_queue_free(queue);

    assert_int_equal(bounded_queue_init(&queue, 1, NULL), 0);
    pthread_create(&thread, NULL, pop_one_more, queue);
    bounded_queue_close(queue);
    pthread_join(thread, &result);
    assert_null(result);
    bounded_queue_free(queue);
    bounded_queue_free(NULL);
}

static void test_queue_too_large(void **state) {
    (void)state;
    struct bounded_queue *queue = (void *)state;
    struct dpmf_error error;
    assert_int_equal(bounded_queue_init(&queue, SIZE_MAX, &error), DPMF_ERR_BASE_NO_MEMORY);
    assert_null(queue);
    assert_int_equal(error.code, DPMF_ERR_BASE_NO_MEMORY);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_pool),
        cmocka_unit_test(test_pool_of_odd_sizes),
        cmocka_unit_test(test_pool_orders_memory),
        cmocka_unit_test(test_queue),
        cmocka_unit_test(test_queue_close_wakes),
        cmocka_unit_test(test_queue_too_large),
    };
    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
