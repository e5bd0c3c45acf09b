/*
 * Large regions straight from the kernel, which cost only the pages that are touched. In a
 * browser, where there are no pages to ask for, they come from the heap.
 */
#define _GNU_SOURCE
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#ifdef __wasi__

enum { REGION_ALIGN = 64 }; /* bytes: what rows of factors need */

void *memory_map(size_t bytes) {
    void *region = NULL;
    if (bytes == 0) bytes = 1;
    if (bytes > PTRDIFF_MAX || posix_memalign(&region, REGION_ALIGN, bytes) != 0) return NULL;
    memset(region, 0, bytes);
    return region;
}

void memory_unmap(void *pages, size_t bytes) {
    (void)bytes;
    free(pages);
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
