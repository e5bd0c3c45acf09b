/*
 * Work that can be cut into any number of parts, each by itself. The library runs them in threads
 * (parts_threads.c); the client and the page's module, which know none, run a single one
 * (parts_alone.c). Which of the two a program has is decided when it is linked.
 */
#ifndef DPMF_BASE_PARTS_H
#define DPMF_BASE_PARTS_H

#include <stddef.h>

enum { PARTS_MAX = 16 };

/* Calls part(self, i, n) for all i below some n of at most `most` and PARTS_MAX, at the same time
 * where there are threads, and waits for all of them. */
void parts_run(void (*part)(void *self, size_t i, size_t n), void *self, size_t most);

#endif
