/*
 * Gives regions of memory_pages.c back to the kernel, page by page. Not in the client, which keeps
 * all that it has; fed by host.c, which knows how large a page is.
 */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>

#include "base/host.h"
#include "base/memory.h"

/* Whole pages, which are zero when they are used again. Elsewhere than on Linux the same advice may
 * leave them as they were. */
static bool is_given_back(void *pages, size_t bytes) {
#ifdef __linux__
    return madvise(pages, bytes, MADV_DONTNEED) == 0;
#else
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
    return mmap(pages, bytes, PROT_READ | PROT_WRITE, flags, -1, 0) != MAP_FAILED;
#endif
}

void memory_discard(void *pages, size_t bytes) {
    if (!pages || bytes == 0) return;
    const size_t page = host_page_size();
    uint8_t *begin = pages, *end = begin + bytes;
    size_t head = (page - (uintptr_t)begin % page) % page;
    size_t tail = (uintptr_t)end % page;

    /* Only whole pages can be given back; what is not whole, or not taken, is cleared instead. */
    if (head + tail >= bytes) {
        memset(begin, 0, bytes);
        return;
    }
    size_t whole = bytes - head - tail;
    if (!is_given_back(begin + head, whole)) memset(begin + head, 0, whole);
    memset(begin, 0, head);
    memset(end - tail, 0, tail);
}
