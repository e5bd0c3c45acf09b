/*
 * Property: whatever the bytes, sniffing (compression, store, format) ends in a reader or in an
 * error that has a name; and the size of chunks changes neither records nor errors.
 */
#include "fuzz_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_format(NULL, data, size);
}
