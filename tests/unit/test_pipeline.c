/*
 * The pipeline: everything once and in order, no more in flight than there are jobs, the first
 * error in order whoever meets one first, no stage called after it, for any number of threads.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/pipeline.h"

enum { JOBS_MAX = 32, WORKERS_MAX = 32, NEVER = 1 << 30 };

struct job {
    int number;
    int answer;
    atomic_int in_use;
};

/* What happens, and what was seen to happen. Plain fields belong to the serial stages: the thread
 * sanitizer would see it if two threads were in one of them at once. */
struct scene {
    int n; /* pieces of input */
    int produce_fails_at, work_fails_at, work_fails_also_at, consume_fails_at;
    int cancel_at;
    bool uneven; /* some work takes far longer than other */
    bool early_is_slow;

    int n_produced, n_consumed;
    bool out_of_order;
    atomic_int in_flight, most_in_flight;
    atomic_int busy[WORKERS_MAX];
    atomic_int clashes;
    int n_workers;
};

static struct scene scene_of(int n) {
    return (struct scene){.n = n,
                          .produce_fails_at = NEVER,
                          .work_fails_at = NEVER,
                          .work_fails_also_at = NEVER,
                          .consume_fails_at = NEVER,
                          .cancel_at = NEVER};
}

static int produce(void *self, void *object, struct dpmf_error *error) {
    struct scene *scene = self;
    struct job *job = object;
    if (scene->n_produced == scene->produce_fails_at)
        return error_set(error, DPMF_ERR_IO_READ, "produce %d", scene->n_produced);
    if (scene->n_produced == scene->n) return 0;
    if (atomic_fetch_add(&job->in_use, 1) != 0) atomic_fetch_add(&scene->clashes, 1);
    int in_flight = atomic_fetch_add(&scene->in_flight, 1) + 1;
    int most = atomic_load(&scene->most_in_flight);
    while (in_flight > most &&
           !atomic_compare_exchange_weak(&scene->most_in_flight, &most, in_flight)) {
    }
    job->number = scene->n_produced++;
    job->answer = 0;
    return 1;
}

static int work(void *self, int worker, void *object, struct dpmf_error *error) {
    struct scene *scene = self;
    struct job *job = object;
    if (worker < 0 || worker >= scene->n_workers) atomic_fetch_add(&scene->clashes, 1);
    if (atomic_fetch_add(&scene->busy[worker], 1) != 0) atomic_fetch_add(&scene->clashes, 1);
    if (scene->uneven && job->number % 7 == 0) usleep(200);
    if (scene->early_is_slow && job->number == scene->work_fails_at) usleep(20000);
    int code = 0;
    if (job->number == scene->work_fails_at || job->number == scene->work_fails_also_at)
        code = error_set(error, DPMF_ERR_INPUT_NUMBER, "work %d", job->number);
    job->answer = job->number * 3;
    atomic_fetch_sub(&scene->busy[worker], 1);
    return code;
}

static int consume(void *self, void *object, struct dpmf_error *error) {
    struct scene *scene = self;
    struct job *job = object;
    if (job->number != scene->n_consumed || job->answer != job->number * 3)
        scene->out_of_order = true;
    if (job->number == scene->cancel_at) return DPMF_ERR_BASE_CANCELLED; /* says no more */
    if (job->number == scene->consume_fails_at)
        return error_set(error, DPMF_ERR_IO_WRITE, "consume %d", job->number);
    scene->n_consumed++;
    atomic_fetch_sub(&job->in_use, 1);
    atomic_fetch_sub(&scene->in_flight, 1);
    return 0;
}

static const struct pipeline_stages stages = {produce, work, consume};

static int play(struct scene *scene, int n_jobs, int threads, struct dpmf_error *error) {
    struct job jobs[JOBS_MAX] = {0};
    void *pointers[JOBS_MAX];
    for (int i = 0; i < n_jobs; i++) pointers[i] = &jobs[i];
    scene->n_workers = pipeline_workers(threads);
    int code = pipeline_run(&stages, scene, pointers, (size_t)n_jobs, threads, error);
    assert_false(scene->out_of_order);
    assert_int_equal(atomic_load(&scene->clashes), 0);
    assert_true(atomic_load(&scene->most_in_flight) <= n_jobs);
    return code;
}

static void test_all_in_order(void **state) {
    (void)state;
    for (int threads = 1; threads <= 8; threads++)
        for (int n_jobs = 1; n_jobs <= JOBS_MAX; n_jobs = n_jobs * 2 + 1) {
            struct scene scene = scene_of(500);
            scene.uneven = true;
            assert_int_equal(play(&scene, n_jobs, threads, NULL), 0);
            assert_int_equal(scene.n_consumed, 500);
        }
}

static void test_little_input(void **state) {
    (void)state;
    for (int n = 0; n < 4; n++)
        for (int threads = 0; threads <= 4; threads++) {
            struct scene scene = scene_of(n);
            struct dpmf_error error = {0};
            assert_int_equal(play(&scene, 3, threads, &error), 0);
            assert_int_equal(scene.n_consumed, n);
            assert_int_equal(error.code, 0);
        }
}

static void test_many_short_runs(void **state) {
    (void)state;
    for (int run = 0; run < 500; run++) {
        struct scene scene = scene_of(run % 13);
        assert_int_equal(play(&scene, 1 + run % 5, 1 + run % 4, NULL), 0);
        assert_int_equal(scene.n_consumed, run % 13);
    }
}

static void check_failure(struct scene scene, int code, const char *message, int n_consumed) {
    for (int threads = 1; threads <= 8; threads++)
        for (int n_jobs = 1; n_jobs <= 16; n_jobs *= 4) {
            struct scene copy = scene;
            struct dpmf_error error = {0};
            assert_int_equal(play(&copy, n_jobs, threads, &error), code);
            assert_int_equal(error.code, code);
            assert_string_equal(error.message, message);
            assert_int_equal(copy.n_consumed, n_consumed);
            assert_true(copy.n_produced <= n_consumed + n_jobs);
        }
}

static void test_failures(void **state) {
    (void)state;
    struct scene scene = scene_of(100);
    scene.produce_fails_at = 37;
    check_failure(scene, DPMF_ERR_IO_READ, "produce 37", 37);
    scene = scene_of(100);
    scene.work_fails_at = 41;
    check_failure(scene, DPMF_ERR_INPUT_NUMBER, "work 41", 41);
    scene = scene_of(100);
    scene.consume_fails_at = 0;
    check_failure(scene, DPMF_ERR_IO_WRITE, "consume 0", 0);
    scene.consume_fails_at = 99;
    check_failure(scene, DPMF_ERR_IO_WRITE, "consume 99", 99);
}

/* The later failure is met first, since the earlier one takes its time; the earlier one is told. */
static void test_first_failure_in_order(void **state) {
    (void)state;
    struct scene scene = scene_of(100);
    scene.work_fails_at = 10;
    scene.work_fails_also_at = 11;
    scene.produce_fails_at = 12;
    scene.early_is_slow = true;
    check_failure(scene, DPMF_ERR_INPUT_NUMBER, "work 10", 10);
    scene.consume_fails_at = 9;
    check_failure(scene, DPMF_ERR_IO_WRITE, "consume 9", 9);
}

static void test_cancel(void **state) {
    (void)state;
    struct scene scene = scene_of(NEVER); /* would never end by itself */
    scene.cancel_at = 50;
    check_failure(scene, DPMF_ERR_BASE_CANCELLED, dpmf_error_sentence(DPMF_ERR_BASE_CANCELLED), 50);
}

static int count_to_five(void *self, void *job, struct dpmf_error *error) {
    (void)job, (void)error;
    return (*(int *)self)++ < 5;
}

static void test_optional_stages(void **state) {
    (void)state;
    const struct pipeline_stages produce_only = {count_to_five, NULL, NULL};
    int counter = 0, object = 0;
    void *jobs[] = {&object, &counter};
    assert_int_equal(pipeline_run(&produce_only, &counter, jobs, 2, 2, NULL), 0);
    assert_int_equal(counter, 6);
}

static void test_no_jobs(void **state) {
    (void)state;
    struct scene scene = scene_of(1);
    assert_int_equal(pipeline_run(&stages, &scene, NULL, 0, 2, NULL), DPMF_ERR_BASE_BUG);
    assert_int_equal(pipeline_workers(2), 3);
    assert_int_equal(pipeline_workers(-5), 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_in_order),           cmocka_unit_test(test_little_input),
        cmocka_unit_test(test_many_short_runs),        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_first_failure_in_order), cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_optional_stages),        cmocka_unit_test(test_no_jobs),
    };
    return cmocka_run_group_tests_name("pipeline", tests, NULL, NULL);
}
