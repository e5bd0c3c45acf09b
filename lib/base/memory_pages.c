/*
 * Large regions straight from the kernel, which cost only the pages that are touched. In a
 * browser, where there are no pages to ask for, and on Windows, where only the client runs, they
 * come from the heap.
 */
#define _GNU_SOURCE
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#if defined(__wasi__) || defined(_WIN32)

enum { REGION_ALIGN = 64 }; /* bytes: what rows of factors need */

void *memory_map(size_t bytes) {
    void *region = memory_alloc_aligned(bytes, 1, REGION_ALIGN);
    if (region) memset(region, 0, bytes);
    return region;
}

void memory_unmap(void *pages, size_t bytes) {
    (void)bytes;
    memory_free_aligned(pages);
}

#else

#include <sys/mman.h>

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

#endif
