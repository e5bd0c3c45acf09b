/*
 * Allocation refuses what overflows, arrays grow without losing anything, pages come back as zero;
 * and the small helpers of bytes.h and checksum.h, which stores are written with.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/host.h"
#include "base/memory.h"

static void test_sizes_are_checked(void **state) {
    (void)state;
    assert_null(memory_alloc(SIZE_MAX, 2));
    assert_null(memory_alloc(SIZE_MAX / 2, 3));
    assert_null(memory_alloc_zero(SIZE_MAX, SIZE_MAX));
    assert_null(memory_alloc((size_t)PTRDIFF_MAX + 1, 1));
    void *nothing = memory_alloc(0, 8);
    assert_non_null(nothing);
    free(nothing);
    nothing = memory_alloc_zero(8, 0);
    assert_non_null(nothing);
    free(nothing);
    assert_null(memory_alloc_rows(SIZE_MAX / 2, 3, 0, 1));
    assert_null(memory_alloc_rows(SIZE_MAX / 2, 2, 2, 0)); /* the sum alone is too large */
    assert_null(memory_alloc_rows(SIZE_MAX / 4, 2, 2, 8));
    unsigned char *rows = memory_alloc_rows(3, 5, 2, 2);
    assert_non_null(rows);
    memset(rows, 7, (3 * 5 + 2) * 2);
    free(rows);
    uint64_t *zero = memory_alloc_zero(100, sizeof *zero);
    for (int i = 0; i < 100; i++) assert_int_equal(zero[i], 0);
    free(zero);
}

static void test_reserve(void **state) {
    (void)state;
    uint32_t *array = NULL;
    size_t capacity = 0, growths = 0;
    for (uint32_t i = 0; i < 100000; i++) {
        size_t before = capacity;
        assert_true(memory_reserve(&array, &capacity, (size_t)i + 1, sizeof *array));
        growths += capacity != before;
        array[i] = i;
    }
    assert_true(growths < 20);
    for (uint32_t i = 0; i < 100000; i++) assert_int_equal(array[i], i);

    uint32_t *same = array;
    size_t before = capacity;
    assert_false(memory_reserve(&array, &capacity, SIZE_MAX / 2, sizeof *array));
    assert_ptr_equal(array, same);
    assert_int_equal(capacity, before);
    assert_true(memory_reserve(&array, &capacity, 1, sizeof *array));
    assert_ptr_equal(array, same);
    free(array);
}

static void try_pages(void) {
    size_t bytes = ((size_t)8 << 20) + 12345;
    uint8_t *pages = memory_map(bytes);
    assert_non_null(pages);
    for (size_t i = 0; i < bytes; i++) assert_int_equal(pages[i], 0);
    memset(pages, 7, bytes);
    memory_discard(pages + 1000, bytes - 2000); /* not at a page's edge */
    for (size_t i = 0; i < bytes; i++)
        if (pages[i] != (i < 1000 || i >= bytes - 1000 ? 7 : 0)) fail_msg("byte %zu", i);
    memset(pages, 7, bytes);
    memory_discard(pages, bytes);
    for (size_t i = 0; i < bytes; i++)
        if (pages[i] != 0) fail_msg("byte %zu", i);
    pages[5] = pages[6] = pages[7] = 9;
    memory_discard(pages + 6, 1); /* less than a page */
    assert_int_equal(pages[5], 9);
    assert_int_equal(pages[6], 0);
    assert_int_equal(pages[7], 9);
    memory_discard(pages, 0);
    memory_unmap(pages, bytes);
    memory_unmap(NULL, 100);
    assert_null(memory_map(SIZE_MAX - 4096));
}

/* With the system's pages, with larger ones, and with smaller ones, which are not believed: the
 * kernel would clear what lies beside them. */
static void test_pages(void **state) {
    (void)state;
    try_pages();
    unsetenv("DPMF_PAGE");
    const size_t of_system = host_page_size();
    const size_t sizes[] = {0, of_system, 4 * of_system, 64 * of_system, 512};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char text[32];
        snprintf(text, sizeof text, "%zu", sizes[i]);
        setenv("DPMF_PAGE", sizes[i] ? text : "", 1);
        assert_int_equal(host_page_size(), sizes[i] > of_system ? sizes[i] : of_system);
        try_pages();
    }
    unsetenv("DPMF_PAGE");
}

static void test_budget(void **state) {
    (void)state;
    uint64_t budget = host_default_budget();
    assert_true(budget > 0 && budget <= UINT64_C(2) << 30);
}

static void test_numbers_in_bytes(void **state) {
    (void)state;
    uint8_t at[8];
    bytes_put_u32(at, UINT32_C(0x01020304));
    assert_int_equal(at[0], 4);
    assert_int_equal(bytes_get_u32(at), UINT32_C(0x01020304));
    bytes_put_u64(at, UINT64_C(0xfedcba9876543210));
    assert_int_equal(at[7], 0xfe);
    assert_true(bytes_get_u64(at) == UINT64_C(0xfedcba9876543210));
    assert_true(bytes_to_double(bytes_of_double(-1.5)) == -1.5);
    for (int shift = 0; shift < 64; shift++)
        for (int64_t add = -1; add <= 1; add++) {
            uint64_t v = (UINT64_C(1) << shift) + (uint64_t)add, back;
            uint8_t text[VARINT_MAX];
            uint8_t *end = varint_put(text, v);
            assert_ptr_equal(varint_get(text, end, &back), end);
            assert_true(back == v);
            if (end > text + 1) assert_null(varint_get(text, end - 1, &back));
            assert_true(zigzag(unzigzag(v)) == v);
        }
    memset(at, 0xff, sizeof at);
    uint64_t v;
    assert_null(varint_get(at, at + 8, &v));
    static const uint8_t too_large[10] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2};
    assert_null(varint_get(too_large, too_large + 10, &v));
}

static void test_byte_buffer(void **state) {
    (void)state;
    struct byte_buffer buffer = {0};
    for (int i = 0; i < 10000; i++) {
        uint8_t *room = byte_buffer_room(&buffer, 1);
        assert_non_null(room);
        *room = (uint8_t)i;
        buffer.n++;
    }
    for (int i = 0; i < 10000; i++) assert_int_equal(buffer.bytes[i], (uint8_t)i);
    assert_null(byte_buffer_room(&buffer, SIZE_MAX));
    free(buffer.bytes);
}

/* Stores on disk depend on these values: XXH3 must stay XXH3. */
static void test_checksum(void **state) {
    (void)state;
    assert_true(checksum64("", 0) == UINT64_C(0x2d06800538d394c2));
    assert_true(checksum64("abc", 3) == checksum64_seeded("abc", 3, 0));
    assert_true(checksum64("abc", 3) != checksum64_seeded("abc", 3, 1));
    assert_true(checksum64("abc", 3) != checksum64("abd", 3));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_are_checked),
        cmocka_unit_test(test_reserve),
        cmocka_unit_test(test_pages),
        cmocka_unit_test(test_budget),
        cmocka_unit_test(test_numbers_in_bytes),
        cmocka_unit_test(test_byte_buffer),
        cmocka_unit_test(test_checksum),
    };
    return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
