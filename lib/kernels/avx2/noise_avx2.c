/*
 * Noise for AVX2 with FMA: instances of kernels/noise_body.h.
 */
#include "kernels/bits_avx.h"

#include "kernels/kernel_sets.h"
#include "kernels/noise_body.h"

void kernel_avx2_fill(float *out, size_t n, struct noise_stream *stream) {
    fill_all(out, n, stream);
}

void kernel_avx2_diffuse(const struct noise_rows *rows, struct noise_stream *stream) {
    diffuse_all(rows, stream);
}

void kernel_avx2_push(const struct noise_rows *rows, const struct noise_push *push,
                      struct noise_stream *stream) {
    push_all(rows, push, stream);
}
