/*
 * Goes through a whole store in one thread, block by block: for work on a block that costs less
 * than decoding it, or that must be done in order. Feeds the models' ids, the first biases, the
 * validation set and the rows of ratings and events.
 */
#include <assert.h>
#include <stdlib.h>

#include "store/store.h"

bool store_scan_next(struct store_scan *scan, struct store_block *block, int *code,
                     struct dpmf_error *error) {
    assert(scan->store && block && code);
    if (*code < 0 || scan->next == store_n_blocks(scan->store)) return false;
    *code = store_block_read(scan->store, scan->next++, &scan->raw, error);
    if (*code == 0)
        *code = store_block_decode(scan->store, &scan->raw, scan->want, &scan->space, block, error);
    return *code == 0;
}

void store_scan_free(struct store_scan *scan) {
    free(scan->raw.buffer.bytes);
    store_space_free(&scan->space);
}
