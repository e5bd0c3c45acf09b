/*
 * Memory for everything in the library: small objects from the heap, with their sizes checked for
 * overflow, and large regions straight from the kernel, which can be given back page by page.
 */
#define _GNU_SOURCE
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SMALLEST_RESERVE = 64 }; /* bytes: what a first reservation gets at least */

#define DEFAULT_BUDGET_MAX (UINT64_C(2) << 30)
#define DEFAULT_BUDGET_UNKNOWN (UINT64_C(512) << 20)

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

bool memory_reserve(void *array, size_t *capacity, size_t needed, size_t size) {
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

void *memory_map(size_t bytes) {
    if (bytes == 0) bytes = 1;
    void *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pages == MAP_FAILED) return NULL;
#ifdef MADV_HUGEPAGE
    (void)madvise(pages, bytes, MADV_HUGEPAGE); /* a matter of speed alone */
#endif
    return pages;
}

void memory_unmap(void *pages, size_t bytes) {
    if (pages) munmap(pages, bytes ? bytes : 1);
}

static size_t page_size(void) {
    long size = sysconf(_SC_PAGESIZE);
    return size > 0 ? (size_t)size : 4096;
}

void memory_discard(void *pages, size_t bytes) {
    if (!pages || bytes == 0) return;
    size_t page = page_size();
    uint8_t *begin = pages, *end = begin + bytes;
    size_t head = (page - (uintptr_t)begin % page) % page;
    size_t tail = (uintptr_t)end % page;

    /* Only whole pages can be given back; what is not whole, or not taken, is cleared instead. */
    if (head + tail >= bytes) {
        memset(begin, 0, bytes);
        return;
    }
    size_t whole = bytes - head - tail;
    if (madvise(begin + head, whole, MADV_DONTNEED) != 0) memset(begin + head, 0, whole);
    memset(begin, 0, head);
    memset(end - tail, 0, tail);
}

uint64_t memory_default_budget(void) {
    long pages = sysconf(_SC_PHYS_PAGES);
    if (pages <= 0) return DEFAULT_BUDGET_UNKNOWN;
    uint64_t half = (uint64_t)pages * page_size() / 2;
    return half < DEFAULT_BUDGET_MAX ? half : DEFAULT_BUDGET_MAX;
}
