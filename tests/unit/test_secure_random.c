/*
 * ChaCha20 gives the answers of RFC 8439; streams are named by release and coordinate and by
 * nothing else; keys come from the operating system or not at all. getrandom() is replaced, so that
 * it can fail.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "random/secure_random.h"

/* ---- the system's bytes ---------------------------------------------------------------------- */

enum mood { FROM_SYSTEM, FAILS, GIVES_NOTHING, FAILS_HALF_WAY, STUTTERS };
static enum mood system_mood;
static int system_calls;

ssize_t getrandom(void *bytes, size_t n, unsigned flags) {
    system_calls++;
    switch (system_mood) {
    case FAILS: errno = ENOSYS; return -1;
    case GIVES_NOTHING: return 0;
    case FAILS_HALF_WAY:
        errno = EIO;
        if (system_calls > 1) return -1;
        memset(bytes, 0x5a, 16);
        return 16;
    case STUTTERS: /* interrupted every other time, and a byte at a time */
        errno = EINTR;
        if (system_calls % 2 == 1) return -1;
        *(uint8_t *)bytes = (uint8_t)system_calls;
        return 1;
    case FROM_SYSTEM: break;
    }
    return syscall(SYS_getrandom, bytes, n, flags);
}

static void system_is(enum mood mood) {
    system_mood = mood;
    system_calls = 0;
}

static void test_fresh_keys(void **state) {
    (void)state;
    struct secure_random a, b;
    struct dpmf_error error = {0};
    system_is(FROM_SYSTEM);
    assert_int_equal(secure_random_init(&a, &error), 0);
    assert_int_equal(secure_random_init(&b, &error), 0);
    assert_false(a.is_insecure);
    assert_true(system_calls >= 2);
    assert_memory_not_equal(a.key, b.key, sizeof a.key);
    for (size_t i = 0; i < 8; i++) assert_true(a.key[i] != 0 || b.key[i] != 0);
}

/* No bytes, no key: not a part of one, not the memory's old one; and what is left is marked. */
static void test_no_fallback(void **state) {
    (void)state;
    static const enum mood moods[] = {FAILS, GIVES_NOTHING, FAILS_HALF_WAY};
    static const uint32_t zeros[8];
    for (size_t i = 0; i < sizeof moods / sizeof *moods; i++) {
        struct secure_random random;
        struct dpmf_error error = {0};
        memset(&random, 0, sizeof random);
        memset(random.key, 0x77, sizeof random.key);
        system_is(moods[i]);
        assert_int_equal(secure_random_init(&random, &error), DPMF_ERR_BASE_RANDOM);
        assert_int_equal(error.code, DPMF_ERR_BASE_RANDOM);
        assert_memory_equal(random.key, zeros, sizeof zeros);
        assert_true(random.is_insecure);
    }
    system_is(FROM_SYSTEM);
}

static void test_interrupted(void **state) {
    (void)state;
    struct secure_random random;
    struct dpmf_error error = {0};
    system_is(STUTTERS);
    assert_int_equal(secure_random_init(&random, &error), 0);
    assert_int_equal(system_calls, 64);
    const uint8_t *bytes = (const uint8_t *)random.key;
    for (size_t i = 0; i < sizeof random.key; i++) assert_int_equal(bytes[i], 2 * i + 2);
    assert_false(random.is_insecure);
    system_is(FROM_SYSTEM);
}

static void test_wipe(void **state) {
    (void)state;
    static const uint8_t zeros[sizeof(struct secure_stream)];
    struct secure_random random;
    struct secure_stream stream;
    struct dpmf_error error = {0};
    assert_int_equal(secure_random_init(&random, &error), 0);
    secure_stream_init(&stream, &random, 1, 2);
    secure_stream_u8(&stream);
    secure_stream_wipe(&stream);
    secure_random_wipe(&random);
    assert_memory_equal(&stream, zeros, sizeof stream);
    assert_memory_equal(random.key, zeros, sizeof random.key);
    assert_true(random.is_insecure);
}

static void test_insecure_is_marked(void **state) {
    (void)state;
    struct secure_random a, b, c;
    secure_random_init_insecure(&a, 7);
    secure_random_init_insecure(&b, 7);
    secure_random_init_insecure(&c, UINT64_C(7) << 32);
    assert_true(a.is_insecure && c.is_insecure);
    assert_memory_equal(a.key, b.key, sizeof a.key);
    assert_memory_not_equal(a.key, c.key, sizeof a.key);
}

/* ---- RFC 8439 -------------------------------------------------------------------------------- */

/* 2.3.2 and the five of A.1. The nonce's words are the release and the two halves of the
 * coordinate. */
static const struct rfc_case {
    uint32_t key[8];
    uint32_t release;
    uint64_t coordinate;
    int counter;
    const char *block;
} rfc_cases[] = {
    {{0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c, 0x13121110, 0x17161514, 0x1b1a1918,
      0x1f1e1d1c},
     0x09000000,
     0x4a000000,
     1,
     "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
     "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e"},
    {{0},
     0,
     0,
     0,
     "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
     "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586"},
    {{0},
     0,
     0,
     1,
     "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"
     "29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f"},
    {{0, 0, 0, 0, 0, 0, 0, 0x01000000},
     0,
     0,
     1,
     "3aeb5224ecf849929b9d828db1ced4dd832025e8018b8160b82284f3c949aa5a"
     "8eca00bbb4a73bdad192b5c42f73f2fd4e273644c8b36125a64addeb006c13a0"},
    {{0x0000ff00},
     0,
     0,
     2,
     "72d54dfbf12ec44b362692df94137f328fea8da73990265ec1bbbea1ae9af0ca"
     "13b25aa26cb4a648cb9b9d1be65b2c0924a66c54d545ec1b7374f4872e99f096"},
    {{0},
     0,
     UINT64_C(0x02000000) << 32,
     0,
     "c2c64d378cd536374ae204b9ef933fcd1a8b2288b3dfa49672ab765b54ee27c7"
     "8a970e0e955c14f3a88e741b97c286f75f8fc299e8148362fa198a39531bed6d"},
};

static void test_rfc_blocks(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rfc_cases / sizeof *rfc_cases; i++) {
        const struct rfc_case *c = &rfc_cases[i];
        struct secure_random random = {.is_insecure = true};
        struct secure_stream stream;
        char text[2 * SECURE_STREAM_BLOCK + 1];
        memcpy(random.key, c->key, sizeof random.key);
        secure_stream_init(&stream, &random, c->release, c->coordinate);
        for (int skip = 0; skip < c->counter * SECURE_STREAM_BLOCK; skip++)
            secure_stream_u8(&stream);
        for (int at = 0; at < 2 * SECURE_STREAM_BLOCK; at += 2) {
            const uint8_t byte = secure_stream_u8(&stream);
            text[at] = "0123456789abcdef"[byte >> 4];
            text[at + 1] = "0123456789abcdef"[byte & 15];
        }
        text[sizeof text - 1] = '\0';
        assert_string_equal(text, c->block);
    }
}

/* ---- streams --------------------------------------------------------------------------------- */

static uint64_t first_of(uint64_t seed, uint32_t release, uint64_t coordinate) {
    struct secure_random random;
    struct secure_stream stream;
    secure_random_init_insecure(&random, seed);
    secure_stream_init(&stream, &random, release, coordinate);
    return secure_stream_u64(&stream);
}

static int compare_u64(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* No value comes twice among the first of thousands of streams: every bit of the name counts. */
static void test_streams_are_apart(void **state) {
    (void)state;
    enum { SIDE = 20, N = SIDE * SIDE * SIDE, BITS = 32 + 64 };
    static uint64_t firsts[N + BITS];
    size_t n = 0;
    for (uint64_t seed = 0; seed < SIDE; seed++)
        for (uint32_t release = 0; release < SIDE; release++)
            for (uint64_t coordinate = 0; coordinate < SIDE; coordinate++)
                firsts[n++] = first_of(seed, release, coordinate);
    for (int bit = 0; bit < 32; bit++) firsts[n++] = first_of(SIDE, UINT32_C(1) << bit, 0);
    for (int bit = 0; bit < 64; bit++) firsts[n++] = first_of(SIDE, 0, UINT64_C(1) << bit);
    assert_int_equal(n, N + BITS);
    qsort(firsts, n, sizeof firsts[0], compare_u64);
    for (size_t i = 1; i < n; i++) assert_true(firsts[i] != firsts[i - 1]);
}

static void test_same_name_same_bits(void **state) {
    (void)state;
    struct secure_random random;
    struct secure_stream a, b;
    struct dpmf_error error = {0};
    assert_int_equal(secure_random_init(&random, &error), 0);
    secure_stream_init(&a, &random, 3, UINT64_C(1) << 40);
    for (int i = 0; i < 100; i++)
        secure_stream_u32(&a); /* what a stream did before does not matter */
    secure_stream_init(&a, &random, 5, UINT64_C(1) << 41);
    memset(&b, 0xff, sizeof b);
    secure_stream_init(&b, &random, 5, UINT64_C(1) << 41);
    for (int i = 0; i < 1000; i++) assert_true(secure_stream_u64(&a) == secure_stream_u64(&b));
}

/* Bytes, words and double words are one sequence, lowest byte first, across the ends of blocks too.
 * */
static void test_widths_agree(void **state) {
    (void)state;
    struct secure_random random;
    secure_random_init_insecure(&random, 9);
    for (int skip = 0; skip < 2 * SECURE_STREAM_BLOCK; skip++) {
        struct secure_stream bytes, words;
        secure_stream_init(&bytes, &random, 1, 2);
        secure_stream_init(&words, &random, 1, 2);
        for (int i = 0; i < skip; i++)
            assert_int_equal(secure_stream_u8(&bytes), secure_stream_u8(&words));
        uint64_t expected = 0;
        for (int i = 0; i < 8; i++) expected |= (uint64_t)secure_stream_u8(&bytes) << 8 * i;
        assert_true(secure_stream_u64(&words) == expected);
        expected = 0;
        for (int i = 0; i < 4; i++) expected |= (uint64_t)secure_stream_u8(&bytes) << 8 * i;
        assert_true(secure_stream_u32(&words) == expected);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fresh_keys),         cmocka_unit_test(test_no_fallback),
        cmocka_unit_test(test_interrupted),        cmocka_unit_test(test_wipe),
        cmocka_unit_test(test_insecure_is_marked), cmocka_unit_test(test_rfc_blocks),
        cmocka_unit_test(test_streams_are_apart),  cmocka_unit_test(test_same_name_same_bits),
        cmocka_unit_test(test_widths_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
