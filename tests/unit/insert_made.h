/*
 * What is made up for records that are inserted: the same in every run, thousands of cases or, with
 * DPMF_TEST_LONG, 100,000. Include after cmocka.
 */
#ifndef DPMF_TESTS_INSERT_MADE_H
#define DPMF_TESTS_INSERT_MADE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    READ = 3000,
    READ_LONG = 100000,
};

static inline bool is_long(void) { return getenv("DPMF_TEST_LONG") != NULL; }
static inline uint64_t cases(void) { return is_long() ? READ_LONG : READ; }

/* How many cases a second of processor time has, for docs/testing.md. */
static inline void tell_speed(const char *what, uint64_t n, clock_t begun) {
    const double seconds = (double)(clock() - begun) / CLOCKS_PER_SEC;
    if (is_long())
        print_message("%s: %llu cases in %.1f s, %.0f a second\n", what, (unsigned long long)n,
                      seconds, (double)n / seconds);
}

/* SplitMix64: the same lines in every run. */
static inline uint64_t draw(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static inline size_t below(uint64_t *state, size_t n) { return (size_t)(draw(state) % n); }

/* What formats are made of, NUL included. */
static const char marks[] = "\"\",;\t\t|::\r {}[]\\%'.-+eE0123456789abcu\xef\xbb\xbf\xff\x1f\x8b";

static inline char draw_byte(uint64_t *state) {
    char byte = below(state, 4) > 0 ? marks[below(state, sizeof marks)] : (char)draw(state);
    return byte == '\n' ? '"' : byte;
}

/* What someone might write who knows the formats; ids are not those of others. */
static const char *const specials[] = {
    "",
    "\r",
    "\"",
    "\"evil,2,3,1",
    "evil\",2,3,1",
    "user,item,rating",
    "item,user,rating",
    "rating,item,user,timestamp",
    "item\tuser\trating\ttimestamp",
    "time,user,item",
    "user\titem\trating",
    "user::item::rating::timestamp",
    "alice::thematrix::good",
    "mallory::i1::5",
    "7:",
    "0|5",
    "%%MatrixMarket matrix coordinate real general",
    "1 1 1000000",
    "% comment",
    "{\"user\":\"mallory\",\"item\":\"a\",\"rating\":1}",
    "{\"user\":\"",
    "[",
    "mallory,a,-0,1",
    "mallory\ta\t-0.0\t1",
    "mallory::a::1e999",
    "99 7 nan",
    "99 7 -0",
    "9 9 -0",
    "mallory|x|a|-0",
    "\xef\xbb\xbfmallory::a::3",
    "\x1f\x8b\x08\x00",
    "\x28\xb5\x2f\xfd",
    "\xff\xfe",
    "user_id:token\titem_id:token\trating:float",
    "who,what,how",
};

static inline size_t make_special(uint64_t *state, char *line) {
    const char *special = specials[below(state, sizeof specials / sizeof specials[0])];
    size_t n = strlen(special);
    memcpy(line, special, n);
    return n;
}

#endif
