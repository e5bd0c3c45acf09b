/*
 * Random bits for the noise of releases: ChaCha20 under a key from the operating system.
 * Counter-based: the bits for a coordinate of a release are a pure function of (key, release,
 * coordinate), so who draws what never depends on threads, order or machines, and no draw is used
 * twice. It takes a seed only in tests.
 */
#ifndef DPMF_RANDOM_SECURE_RANDOM_H
#define DPMF_RANDOM_SECURE_RANDOM_H

#include "dpmf.h"

struct secure_random {
    uint32_t key[8];
    bool is_insecure; /* made from a seed: what it touches is not private */
    uint64_t *draws;  /* NULL, or where exact_gaussian_add counts its draws: for the audit */
};

/* Takes a fresh key from the operating system. There is no fallback: after an error the generator
 * is marked insecure. */
int secure_random_init(struct secure_random *random, struct dpmf_error *error);

/* A key anyone can compute from `seed`: for tests alone. */
void secure_random_init_insecure(struct secure_random *random, uint64_t seed);

/* Erases the key, and is not optimised away. The generator is then marked insecure: a key of zeros
 * is no secret. */
void secure_random_wipe(struct secure_random *random);

enum { SECURE_STREAM_BLOCK = 64 };

/* The bits of one coordinate: a ChaCha20 stream of its own, 2^38 bytes long. A draw takes some
 * thirty. It holds a copy of the key: wipe it after use. */
struct secure_stream {
    uint32_t input[16];                  /* constants, key, block counter, (release, coordinate) */
    uint8_t output[SECURE_STREAM_BLOCK]; /* the current block */
    size_t used;                         /* bytes of `output` that are used */
};

void secure_stream_init(struct secure_stream *stream, const struct secure_random *random,
                        uint32_t release, uint64_t coordinate);
void secure_stream_wipe(struct secure_stream *stream); /* not optimised away */

/* Makes the next block the current one. The functions below call it when they need it. */
void secure_stream_refill(struct secure_stream *stream);

/* The next byte, or the next four or eight with the lowest first. */
static inline uint8_t secure_stream_u8(struct secure_stream *stream) {
    if (stream->used == SECURE_STREAM_BLOCK) secure_stream_refill(stream);
    return stream->output[stream->used++];
}
uint32_t secure_stream_u32(struct secure_stream *stream);
uint64_t secure_stream_u64(struct secure_stream *stream);

#endif
