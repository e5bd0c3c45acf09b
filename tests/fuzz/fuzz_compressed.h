/*
 * The driver that the fuzzers of compressed input share.
 */
#ifndef DPMF_TESTS_FUZZ_COMPRESSED_H
#define DPMF_TESTS_FUZZ_COMPRESSED_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdlib.h>
#include <string.h>

#include "../unit/stream_of.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Enough to see several members or frames; a bomb shall not fill the memory. */
enum { FUZZ_BYTES_MAX = 1 << 20 };

/* Reads the stream `step` bytes at a time. @return how many bytes there were, or -1 and the code */
static inline long fuzz_drain(const void *bytes, size_t n, size_t step, char *out, int *code) {
    struct dpmf_error error = {.code = 0};
    struct input_stream *stream = NULL;
    size_t length = 0, got = 1;
    *code = stream_of(bytes, n, "t", &stream, &error);
    while (*code == 0 && got > 0 && length < FUZZ_BYTES_MAX) {
        if (step > FUZZ_BYTES_MAX - length) step = FUZZ_BYTES_MAX - length;
        *code = input_stream_read(stream, out + length, step, &got, &error);
        length += got;
        if (*code == 0 && got > step) abort();
        if (*code != 0 && error.code != *code) abort();
    }
    input_stream_close(stream);
    return *code == 0 ? (long)length : -1;
}

/* Small reads and one large one must see the same bytes or the same error. */
static inline int fuzz_compressed(const uint8_t *data, size_t size) {
    static char small[FUZZ_BYTES_MAX], large[FUZZ_BYTES_MAX];
    if (size < 1) return 0;
    int small_code, large_code;
    long n = fuzz_drain(data + 1, size - 1, (size_t)data[0] * 7 + 1, small, &small_code);
    long m = fuzz_drain(data + 1, size - 1, FUZZ_BYTES_MAX, large, &large_code);
    /* Past the limit one of them may meet an error that the other does not get to. */
    bool cut = n == FUZZ_BYTES_MAX || m == FUZZ_BYTES_MAX;
    if (!cut && (n != m || small_code != large_code)) abort();
    if (!cut && n > 0 && memcmp(small, large, (size_t)n) != 0) abort();
    return 0;
}

#endif
