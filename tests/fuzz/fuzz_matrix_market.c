/*
 * Property: no text makes the reader of MatrixMarket crash, hang or read out of bounds; every
 * record obeys the contract of struct record; and the size of chunks changes neither records nor
 * errors.
 */
#include "fuzz_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_format("matrixmarket", data, size);
}
