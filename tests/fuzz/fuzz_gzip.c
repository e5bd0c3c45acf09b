/*
 * Property: no bytes behind a gzip magic number crash the stream or make it hang; the sizes of
 * reads change neither the bytes nor the error.
 */
#include "fuzz_compressed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return fuzz_compressed(data, size); }
