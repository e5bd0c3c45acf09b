/*
 * The machine as the environment describes it, and as the system does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the ones above first */
#include <cmocka.h>

#include "base/host.h"
#include "cache_shapes.h"

static int forget(void **state) {
    (void)state;
    unsetenv("DPMF_CACHES");
    unsetenv("DPMF_CORES");
    unsetenv("DPMF_RAM");
    unsetenv("DPMF_PAGE");
    return 0;
}

static void test_shapes(void **state) {
    (void)state;
    for (size_t i = 0; i < CACHE_SHAPES; i++) {
        struct host_caches caches;
        setenv("DPMF_CACHES", cache_shapes[i].environment, 1);
        assert_int_equal(host_caches_read(&caches, NULL), 0);
        assert_int_equal(caches.l1, cache_shapes[i].caches.l1);
        assert_int_equal(caches.l2, cache_shapes[i].caches.l2);
        assert_int_equal(caches.l3, cache_shapes[i].caches.l3);
        assert_int_equal(caches.origin, cache_shapes[i].caches.origin);
        assert_int_equal(host_check(NULL), 0);
    }
}

static void test_ways_to_write_sizes(void **state) {
    (void)state;
    const char *const same[] = {"32K,512K,32M", "32KiB,512KiB,32MiB", "32768,524288,33554432",
                                "32K,512K,32MiB"};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        struct host_caches caches;
        setenv("DPMF_CACHES", same[i], 1);
        assert_int_equal(host_caches_read(&caches, NULL), 0);
        assert_true(caches.l1 == 32 << 10 && caches.l2 == 512 << 10 && caches.l3 == 32 << 20);
    }
    struct host_caches caches;
    setenv("DPMF_CACHES", "64K,none,none", 1);
    assert_int_equal(host_caches_read(&caches, NULL), 0);
    assert_true(caches.l1 == 64 << 10 && caches.l2 == caches.l1 && caches.l3 == caches.l1);
}

static void test_what_is_refused(void **state) {
    (void)state;
    const char *const caches[] = {"32K",
                                  "32K,512K",
                                  "32K,512K,32M,64M",
                                  "none,512K,32M",
                                  "0,0,0",
                                  "-1,2M,4M",
                                  "32K,,32M",
                                  "32Q,512K,32M",
                                  "99999999999G,1M,1M",
                                  "32K;512K;32M",
                                  "Unknown",
                                  "12,34,56",
                                  ",,",
                                  " "};
    const char *const cores[] = {"0", "-2", "many", "1e3", "70000", "2 "};
    const char *const memory[] = {"0", "-1", "lots", "8GiBB", "1.5"};
    const char *const pages[] = {"0", "1", "256", "-4096", "large", "96K", "4G", "64 K"};
    struct dpmf_error error;
    for (size_t i = 0; i < sizeof caches / sizeof *caches; i++) {
        struct host_caches read;
        setenv("DPMF_CACHES", caches[i], 1);
        if (host_caches_read(&read, &error) != DPMF_ERR_USAGE_VALUE) fail_msg("\"%s\"", caches[i]);
        assert_non_null(strstr(error.message, caches[i]));
        assert_int_equal(host_check(&error), DPMF_ERR_USAGE_VALUE);
    }
    unsetenv("DPMF_CACHES");
    for (size_t i = 0; i < sizeof cores / sizeof *cores; i++) {
        setenv("DPMF_CORES", cores[i], 1);
        if (host_check(&error) != DPMF_ERR_USAGE_VALUE) fail_msg("\"%s\"", cores[i]);
        assert_true(host_cores() >= 1);
    }
    unsetenv("DPMF_CORES");
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++) {
        setenv("DPMF_RAM", memory[i], 1);
        if (host_check(&error) != DPMF_ERR_USAGE_VALUE) fail_msg("\"%s\"", memory[i]);
    }
    unsetenv("DPMF_RAM");
    const size_t of_system = host_page_size();
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        setenv("DPMF_PAGE", pages[i], 1);
        if (host_check(&error) != DPMF_ERR_USAGE_VALUE) fail_msg("\"%s\"", pages[i]);
        assert_non_null(strstr(error.message, "DPMF_PAGE"));
        assert_int_equal(host_page_size(), of_system);
    }
}

static void test_cores_and_memory(void **state) {
    (void)state;
    setenv("DPMF_CORES", "64", 1);
    setenv("DPMF_RAM", "3GiB", 1);
    assert_int_equal(host_cores(), 64);
    assert_int_equal(host_memory(), (uint64_t)3 << 30);
    assert_int_equal(host_default_budget(), (uint64_t)3 << 29);
    setenv("DPMF_RAM", "64G", 1);
    assert_int_equal(host_default_budget(), (uint64_t)2 << 30);
    setenv("DPMF_PAGE", "2M", 1);
    assert_int_equal(host_page_size(), 2 << 20);
    assert_int_equal(host_check(NULL), 0);
}

/* Nothing is known of the machine that this runs on but that it is one. An empty value is as none.
 */
static void test_this_machine(void **state) {
    (void)state;
    struct host_caches caches;
    setenv("DPMF_CACHES", "", 1);
    assert_int_equal(host_caches_read(&caches, NULL), 0);
    assert_true(caches.l1 >= 1024 && caches.l1 <= caches.l2 && caches.l2 <= caches.l3);
    assert_true(caches.origin != HOST_FROM_ENVIRONMENT);
    assert_true(host_cores() >= 1);
    assert_true(host_page_size() >= 512 && (host_page_size() & (host_page_size() - 1)) == 0);
    assert_true(host_default_budget() > 0 && host_default_budget() <= (uint64_t)2 << 30);
    assert_int_equal(host_check(NULL), 0);
}

int main(void) {
#define TEST(function) cmocka_unit_test_setup_teardown(function, forget, forget)
    const struct CMUnitTest tests[] = {
        TEST(test_shapes),           TEST(test_ways_to_write_sizes), TEST(test_what_is_refused),
        TEST(test_cores_and_memory), TEST(test_this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
