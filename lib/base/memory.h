/*
 * Allocation with the size arithmetic checked. NULL on overflow or exhaustion, never an abort.
 */
#ifndef DPMF_BASE_MEMORY_H
#define DPMF_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void *memory_alloc(size_t count, size_t size);
void *memory_alloc_zero(size_t count, size_t size);

/* Room for `n_rows` rows of `width` objects and `more` objects behind them, `size` bytes each. */
void *memory_alloc_rows(size_t n_rows, size_t width, size_t more, size_t size);

/* Aligned to `align` bytes, a power of two; not cleared. Freed by memory_free_aligned alone. */
void *memory_alloc_aligned(size_t count, size_t size, size_t align);
void memory_free_aligned(void *memory); /* NULL is fine */

/* Makes room for `needed` elements in *array, growing geometrically from *capacity.
 * @return false, with nothing changed, when there is not enough memory */
bool memory_reserve(void *array /* T** */, size_t *capacity, size_t needed, size_t size);

/* Anonymous pages, zero, taken from the machine only when touched; 2 MiB pages where available. */
void *memory_map(size_t bytes);
void memory_unmap(void *pages, size_t bytes);

/* Gives the pages' memory back to the machine but keeps the address range, which reads as zero. */
void memory_discard(void *pages, size_t bytes);

#endif
