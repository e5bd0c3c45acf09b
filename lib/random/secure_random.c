/*
 * ChaCha20 as RFC 8439 specifies it (20 rounds, a counter of 32 bits, a nonce of 96), under a key
 * from the operating system: random bits for the noise of releases. random_from_system() feeds it
 * the key; exact_gaussian.c draws from it.
 *
 * Why no bit is used twice: the nonce is (release, coordinate), 32 + 64 bits, and the block
 * function is a pure function of key, nonce and counter. Streams of different names are different
 * nonces; blocks of one stream are different counters. A key is made for one run and wiped at its
 * end.
 */
#define _GNU_SOURCE
#include "random/secure_random.h"

#include <assert.h>
#include <string.h>

#include "base/bytes.h"
#include "random/random.h"

enum { ROUNDS = 20, COUNTER = 12, NONCE = 13 };

/* ---- keys ------------------------------------------------------------------------------------ */

/* When the system gives no bytes there is no key, and what is left says that it is not private,
 * should anyone use it in spite of the error. */
int secure_random_init(struct secure_random *random, struct dpmf_error *error) {
    const int code = random_from_system(random->key, sizeof random->key, error);
    if (code < 0)
        secure_random_wipe(random);
    else
        random->is_insecure = false;
    random->draws = NULL;
    return code;
}

void secure_random_init_insecure(struct secure_random *random, uint64_t seed) {
    *random = (struct secure_random){
        .key = {(uint32_t)seed, (uint32_t)(seed >> 32)},
        .is_insecure = true,
    };
}

void secure_random_wipe(struct secure_random *random) {
    explicit_bzero(random, sizeof *random);
    random->is_insecure = true;
}

/* ---- the block function ---------------------------------------------------------------------- */

static uint32_t rotate(uint32_t x, int bits) {
    assert(bits > 0 && bits < 32);
    return x << bits | x >> (32 - bits);
}

static inline void quarter_round(uint32_t *a, uint32_t *b, uint32_t *c, uint32_t *d) {
    *a += *b, *d = rotate(*d ^ *a, 16);
    *c += *d, *b = rotate(*b ^ *c, 12);
    *a += *b, *d = rotate(*d ^ *a, 8);
    *c += *d, *b = rotate(*b ^ *c, 7);
}

/* RFC 8439, 2.3: the rounds, alternately on columns and diagonals, and what went in added on; as
 * bytes, each word's lowest first. */
void secure_stream_refill(struct secure_stream *stream) {
    uint32_t x[16];
    memcpy(x, stream->input, sizeof x);
    for (int round = 0; round < ROUNDS; round += 2) {
        quarter_round(&x[0], &x[4], &x[8], &x[12]);
        quarter_round(&x[1], &x[5], &x[9], &x[13]);
        quarter_round(&x[2], &x[6], &x[10], &x[14]);
        quarter_round(&x[3], &x[7], &x[11], &x[15]);
        quarter_round(&x[0], &x[5], &x[10], &x[15]);
        quarter_round(&x[1], &x[6], &x[11], &x[12]);
        quarter_round(&x[2], &x[7], &x[8], &x[13]);
        quarter_round(&x[3], &x[4], &x[9], &x[14]);
    }
    for (size_t i = 0; i < 16; i++) bytes_put_u32(stream->output + 4 * i, x[i] + stream->input[i]);
    stream->input[COUNTER]++;
    stream->used = 0;
}

/* ---- streams --------------------------------------------------------------------------------- */

void secure_stream_init(struct secure_stream *stream, const struct secure_random *random,
                        uint32_t release, uint64_t coordinate) {
    assert(stream && random);
    static const uint32_t sigma[4] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574};
    memcpy(stream->input, sigma, sizeof sigma);
    memcpy(stream->input + 4, random->key, sizeof random->key);
    stream->input[COUNTER] = 0;
    stream->input[NONCE] = release;
    stream->input[NONCE + 1] = (uint32_t)coordinate;
    stream->input[NONCE + 2] = (uint32_t)(coordinate >> 32);
    stream->used = SECURE_STREAM_BLOCK; /* the first block is made when it is first looked at */
}

void secure_stream_wipe(struct secure_stream *stream) { explicit_bzero(stream, sizeof *stream); }

/* Bytes one by one: a number may lie across the end of a block. */
uint32_t secure_stream_u32(struct secure_stream *stream) {
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) value |= (uint32_t)secure_stream_u8(stream) << 8 * i;
    return value;
}

uint64_t secure_stream_u64(struct secure_stream *stream) {
    assert(stream->used <= SECURE_STREAM_BLOCK);
    if (stream->used <= SECURE_STREAM_BLOCK - 8) {
        stream->used += 8;
        return bytes_get_u64(stream->output + stream->used - 8);
    }
    const uint64_t low = secure_stream_u32(stream);
    return low | (uint64_t)secure_stream_u32(stream) << 32;
}
