/*
 * Large regions straight from the kernel, which cost only the pages that are touched and can be
 * given back page by page. In a browser, where there are no pages to ask for, they come from the
 * heap.
 */
#define _GNU_SOURCE
#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

#endif
