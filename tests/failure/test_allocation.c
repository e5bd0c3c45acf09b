/*
 * Memory that runs out at the n-th allocation, for all n. Each scenario of the table at the end is run
 * again and again, with one allocation more succeeding each time, until none fails: every run before
 * that must return DPMF_ERR_BASE_NO_MEMORY, leave no file and no memory behind, and not crash.
 *
 * Linked with --wrap=malloc, --wrap=calloc and --wrap=realloc, and --wrap=free if leaks are to be
 * counted here (otherwise that is left to the leak sanitizer).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../unit/temp_dir.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/output_file.h"
#include "base/pipeline.h"
#include "base/threads.h"
#include "dpmf.h"
#include "model/safetensors.h"

/* ---- allocations that fail -------------------------------------------------------------------- */

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void __wrap_free(void *block);

static atomic_long until_failure; /* allocations left before the one that fails; 0: none will */
static atomic_long n_live;
static atomic_bool free_is_wrapped;

static bool fails_now(void) {
    long left = atomic_load(&until_failure);
    while (left > 0)
        if (atomic_compare_exchange_weak(&until_failure, &left, left - 1)) return left == 1;
    return false;
}

static void *count(void *block) {
    if (block) atomic_fetch_add(&n_live, 1);
    return block;
}

void *__wrap_malloc(size_t size) { return fails_now() ? NULL : count(__real_malloc(size)); }

void *__wrap_calloc(size_t n, size_t size) {
    return fails_now() ? NULL : count(__real_calloc(n, size));
}

void *__wrap_realloc(void *block, size_t size) {
    if (fails_now()) return NULL;
    void *moved = __real_realloc(block, size);
    return block ? moved : count(moved);
}

/* Where the linker does not wrap free, nothing calls this and there is no real one to call. */
#pragma weak __real_free
void __wrap_free(void *block) {
    atomic_store(&free_is_wrapped, true);
    if (!block) return;
    atomic_fetch_sub(&n_live, 1);
    __real_free(block);
}

/* ---- running a scenario ----------------------------------------------------------------------- */

struct scenario {
    const char *name;
    int (*run)(void); /* @return 0 or a negative code */
};

static struct temp_dir dir; /* each scenario writes here, and here alone */
static char output_path[TEMP_PATH_MAX];

static void check_nothing_is_left(const struct scenario *scenario, long n, long live_before) {
    long live = atomic_load(&n_live);
    if (atomic_load(&free_is_wrapped) && live != live_before)
        fail_msg("%s: %ld blocks leak when allocation %ld fails", scenario->name,
                 live - live_before, n);
    if (temp_dir_count(&dir) != 0)
        fail_msg("%s: files are left when allocation %ld fails", scenario->name, n);
}

static void fail_each_allocation(const struct scenario *scenario) {
    enum { TOO_MANY = 100000 };
    int code = scenario->run();
    if (code != 0) fail_msg("%s: code %d with all memory there", scenario->name, code);
    unlink(output_path);

    for (long n = 1; n < TOO_MANY; n++) {
        long live_before = atomic_load(&n_live);
        atomic_store(&until_failure, n);
        code = scenario->run();
        bool failed = atomic_exchange(&until_failure, 0) == 0;
        if (!failed) {
            assert_int_equal(code, 0);
            unlink(output_path);
            check_nothing_is_left(scenario, n, live_before);
            print_message("%s: %ld allocations\n", scenario->name, n - 1);
            return;
        }
        if (code != DPMF_ERR_BASE_NO_MEMORY)
            fail_msg("%s: code %d when allocation %ld fails", scenario->name, code, n);
        check_nothing_is_left(scenario, n, live_before);
    }
    fail_msg("%s: no end of allocations", scenario->name);
}

/* ---- the scenarios of lib/base ---------------------------------------------------------------- */

static int json_writer(void) {
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_begin_array(json, "numbers");
    for (int i = 0; i < 1000; i++) dpmf_json_double(json, NULL, i / 7.0);
    dpmf_json_end_array(json);
    dpmf_json_string(json, "text", "a \"quoted\" text\n");
    dpmf_json_end_object(json);
    bool whole = dpmf_json_text(json, NULL) != NULL;
    dpmf_json_free(json);
    return whole ? 0 : DPMF_ERR_BASE_NO_MEMORY;
}

static int reserve(void) {
    struct byte_buffer buffer = {0};
    int code = 0;
    for (int i = 0; i < 5000 && code == 0; i++) {
        uint8_t *room = byte_buffer_room(&buffer, 3);
        if (room)
            memset(room, i, 3), buffer.n += 3;
        else
            code = DPMF_ERR_BASE_NO_MEMORY;
    }
    free(buffer.bytes);
    return code;
}

static void do_nothing(void *self, int worker) { (void)self, (void)worker; }

static int pool(void) {
    struct thread_pool *threads;
    struct dpmf_error error;
    int code = thread_pool_init(&threads, 3, &error);
    if (code == 0) thread_pool_run(threads, do_nothing, NULL);
    thread_pool_free(threads);
    return code;
}

static int queue(void) {
    struct bounded_queue *items;
    struct dpmf_error error;
    int code = bounded_queue_init(&items, 10, &error);
    void *item = NULL;
    if (code == 0 && bounded_queue_push(items, &item)) bounded_queue_pop(items, &item);
    bounded_queue_free(items);
    return code;
}

static int produce_some(void *self, void *job, struct dpmf_error *error) {
    (void)error;
    *(int *)job = 0;
    return (*(int *)self)-- > 0;
}

/* Work that allocates: whichever thread fails, the run must end with that failure. */
static int work_with_memory(void *self, int worker, void *job, struct dpmf_error *error) {
    (void)self, (void)worker;
    char *block = memory_alloc(1, 100);
    if (!block) return error_no_memory(error);
    *(int *)job = 1;
    free(block);
    return 0;
}

static int pipeline(void) {
    const struct pipeline_stages stages = {produce_some, work_with_memory, NULL};
    struct dpmf_error error;
    int left = 20, objects[4];
    void *jobs[] = {&objects[0], &objects[1], &objects[2], &objects[3]};
    return pipeline_run(&stages, &left, jobs, 4, 2, &error);
}

static int output_file(void) {
    struct output_file *file;
    struct dpmf_error error;
    int code = output_file_open(&file, output_path, OUTPUT_PRIVATE, &error);
    if (code == 0) code = output_file_write(file, "text", 4, &error);
    if (code == 0) return output_file_commit(file, &error);
    output_file_abandon(file);
    return code;
}

static int nameless_file(void) {
    int fd;
    int code = output_file_nameless(output_path, &fd, NULL);
    if (code == 0) close(fd);
    return code;
}

/* ---- lib/model -------------------------------------------------------------------------------- */

static int safetensors(void) {
    static const float values[12] = {1, 2, 3};
    static const char *const metadata[] = {"dpmf.kind", "checkpoint"};
    const struct tensor tensors[] = {
        {"factors", TENSOR_F32, 2, {4, 3}, values},
        {"biases", TENSOR_F32, 1, {12, 0}, values},
    };
    struct dpmf_error error;
    return safetensors_write(output_path, OUTPUT_PRIVATE, tensors, 2, metadata, 1, &error);
}

/* ---- all of them: add a line for whatever allocates ------------------------------------------- */

static const struct scenario scenarios[] = {
    {"json writer", json_writer},     {"growing buffer", reserve},  {"thread pool", pool},
    {"bounded queue", queue},         {"pipeline", pipeline},       {"output file", output_file},
    {"nameless file", nameless_file}, {"safetensors", safetensors},
};

static void test_scenarios(void **state) {
    (void)state;
    temp_dir_make(&dir);
    temp_dir_file(&dir, "output", output_path);
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++)
        fail_each_allocation(&scenarios[i]);
    temp_dir_remove(&dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_scenarios)};
    return cmocka_run_group_tests_name("allocation failures", tests, NULL, NULL);
}
