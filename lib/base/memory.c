/*
 * Memory for everything in the library but its largest arrays (memory_pages.c): from the heap, with
 * sizes checked for overflow.
 */
#include "base/memory.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { SMALLEST_RESERVE = 64 }; /* bytes: what a first reservation gets at least */

/* Nothing of nothing is still an object: NULL means failure and nothing else. */
static bool byte_count(size_t count, size_t size, size_t *bytes) {
    if (__builtin_mul_overflow(count, size, bytes) || *bytes > PTRDIFF_MAX) return false;
    if (*bytes == 0) *bytes = 1;
    return true;
}

void *memory_alloc(size_t count, size_t size) {
    size_t bytes;
    return byte_count(count, size, &bytes) ? malloc(bytes) : NULL;
}

void *memory_alloc_zero(size_t count, size_t size) {
    size_t bytes;
    return byte_count(count, size, &bytes) ? calloc(1, bytes) : NULL;
}

void *memory_alloc_rows(size_t n_rows, size_t width, size_t more, size_t size) {
    size_t count;
    if (__builtin_mul_overflow(n_rows, width, &count) ||
        __builtin_add_overflow(count, more, &count))
        return NULL;
    return memory_alloc(count, size);
}

#ifdef _WIN32

void *memory_alloc_aligned(size_t count, size_t size, size_t align) {
    size_t bytes;
    return byte_count(count, size, &bytes) ? _aligned_malloc(bytes, align) : NULL;
}

void memory_free_aligned(void *memory) { _aligned_free(memory); }

#else

void *memory_alloc_aligned(size_t count, size_t size, size_t align) {
    void *memory = NULL;
    size_t bytes;
    if (!byte_count(count, size, &bytes)) return NULL;
    return posix_memalign(&memory, align, bytes) == 0 ? memory : NULL;
}

void memory_free_aligned(void *memory) { free(memory); }

#endif

bool memory_reserve(void *array, size_t *capacity, size_t needed, size_t size) {
    assert(array && capacity);
    if (needed <= *capacity) return true;
    size_t grown = *capacity <= SIZE_MAX / 2 ? *capacity * 2 : needed;
    if (size > 0 && grown < SMALLEST_RESERVE / size) grown = SMALLEST_RESERVE / size;
    if (grown < needed) grown = needed;

    size_t bytes;
    if (!byte_count(grown, size, &bytes)) {
        grown = needed;
        if (!byte_count(grown, size, &bytes)) return false;
    }

    /* `array` is a T** for any T: copied in and out, since a void** would not be the same type. */
    void *old;
    memcpy(&old, array, sizeof old);
    void *block = realloc(old, bytes);
    if (!block) return false;
    memcpy(array, &block, sizeof block);
    *capacity = grown;
    return true;
}
