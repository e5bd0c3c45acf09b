/*
 * The pool runs a task once in each worker and waits.
 */
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_pool),
        cmocka_unit_test(test_pool_of_odd_sizes),
        cmocka_unit_test(test_pool_orders_memory),
    };
    return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
