/*
 * The keys of noise streams: the first states of the generators, by SplitMix64 from a hash of the key.
 */
#include "kernels/noise.h"

static const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);

static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

void noise_stream_init(struct noise_stream *stream, const struct noise_key *key) {
    const uint64_t words[] = {
        key->seed,
        (uint64_t)key->chain << 32 | key->round,
        (uint64_t)key->purpose,
        key->place,
    };
    uint64_t h = golden;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) h = mix(h ^ mix(words[i] + golden));
    for (size_t s = 0; s < 4; s++)
        for (size_t i = 0; i < NOISE_LANES; i += 2) {
            uint64_t word = mix(h += golden);
            stream->state[s][i] = (uint32_t)word;
            stream->state[s][i + 1] = (uint32_t)(word >> 32);
        }
    stream->state[0][0] |= 1; /* never all 0 */
}
