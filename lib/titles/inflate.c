/*
 * DEFLATE, unpacked in one go into room of a known size. A code of at most 15 bits is looked up in
 * a table of all 15-bit words, which is built for every block: plain, and fast enough for the
 * histories of one person. Feeds archive.c; tests/unit/test_archive.c compares it with zlib.
 */
#include "titles/inflate.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "dpmf_client.h"

enum {
    CODE_BITS = 15,
    TABLE = 1 << CODE_BITS,
    LITERALS = 288, /* symbols of literals and lengths */
    DISTANCES = 32, /* symbols of distances */
    LENGTH_CODES = 19,
    END = 256, /* the symbol that ends a block */
    LENGTHS_MAX = LITERALS + DISTANCES
};

/* Codes of one alphabet: for each word of 15 bits, the symbol it begins with, times 16, plus the
 * number of bits of its code; 0 where no code begins so. */
struct codes {
    uint16_t entry[TABLE];
};

struct unpacking {
    const uint8_t *at, *end;
    uint64_t held; /* bits read and not yet used, the next one lowest */
    unsigned n_held;
    uint8_t *out;
    size_t n, room;
    struct codes literals, distances;
};

/* ---- bits ------------------------------------------------------------------------------------ */

static void fill(struct unpacking *u) {
    while (u->n_held <= 56 && u->at < u->end) {
        u->held |= (uint64_t)*u->at++ << u->n_held;
        u->n_held += 8;
    }
}

/* @return false: the bytes end before */
static bool take_bits(struct unpacking *u, unsigned n, uint32_t *value) {
    fill(u);
    if (u->n_held < n) return false;
    *value = (uint32_t)(u->held & ((1u << n) - 1));
    u->held >>= n;
    u->n_held -= n;
    return true;
}

static bool take_symbol(struct unpacking *u, const struct codes *codes, uint32_t *symbol) {
    fill(u);
    const uint16_t entry = codes->entry[u->held & (TABLE - 1)];
    const unsigned n = entry & 15;
    if (n == 0 || n > u->n_held) return false;
    u->held >>= n;
    u->n_held -= n;
    *symbol = entry >> 4;
    return true;
}

/* ---- codes ----------------------------------------------------------------------------------- */

static uint32_t reversed(uint32_t code, unsigned n) {
    uint32_t back = 0;
    for (unsigned i = 0; i < n; i++) back |= ((code >> i) & 1) << (n - 1 - i);
    return back;
}

/* Codes by their lengths: shorter ones first, and by symbol among equals. @return false: there are
 * more than words of 15 bits can tell apart */
static bool make_codes(struct codes *codes, const uint8_t *length, size_t n) {
    uint32_t next = 0;
    memset(codes, 0, sizeof *codes);
    for (unsigned bits = 1; bits <= CODE_BITS; bits++) {
        next <<= 1;
        for (size_t symbol = 0; symbol < n; symbol++) {
            if (length[symbol] != bits) continue;
            if (next >= 1u << bits) return false;
            for (uint32_t word = reversed(next, bits); word < TABLE; word += 1u << bits)
                codes->entry[word] = (uint16_t)(symbol << 4 | bits);
            next++;
        }
    }
    return true;
}

static bool make_fixed(struct unpacking *u) {
    uint8_t length[LITERALS], distance[DISTANCES];
    for (int i = 0; i < LITERALS; i++)
        length[i] = (uint8_t)(i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8);
    memset(distance, 5, sizeof distance);
    return make_codes(&u->literals, length, LITERALS) &&
           make_codes(&u->distances, distance, DISTANCES);
}

/* The lengths of both alphabets, themselves coded: 16 repeats the last, 17 and 18 are zeros. */
static bool take_lengths(struct unpacking *u, uint8_t *length, size_t n) {
    for (size_t i = 0; i < n;) {
        uint32_t symbol, times = 0;
        uint8_t value = 0;
        if (!take_symbol(u, &u->literals, &symbol)) return false;
        if (symbol < 16) {
            length[i++] = (uint8_t)symbol;
            continue;
        }
        if (symbol == 16 && i == 0) return false;
        if (symbol == 16) value = length[i - 1];
        if (!take_bits(u, symbol == 16 ? 2 : symbol == 17 ? 3 : 7, &times)) return false;
        times += symbol == 18 ? 11 : 3;
        if (times > n - i) return false;
        memset(length + i, value, times);
        i += times;
    }
    return true;
}

static bool make_own(struct unpacking *u) {
    static const uint8_t order[LENGTH_CODES] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                11, 4,  12, 3, 13, 2, 14, 1, 15};
    uint8_t length[LENGTHS_MAX] = {0}, coded[LENGTH_CODES] = {0};
    uint32_t n_literals, n_distances, n_coded, bits;
    if (!take_bits(u, 5, &n_literals) || !take_bits(u, 5, &n_distances) ||
        !take_bits(u, 4, &n_coded))
        return false;
    n_literals += 257, n_distances += 1, n_coded += 4;
    if (n_literals > LITERALS) return false;
    for (uint32_t i = 0; i < n_coded; i++) {
        if (!take_bits(u, 3, &bits)) return false;
        coded[order[i]] = (uint8_t)bits;
    }
    return make_codes(&u->literals, coded, LENGTH_CODES) &&
           take_lengths(u, length, n_literals + n_distances) && length[END] > 0 &&
           make_codes(&u->literals, length, n_literals) &&
           make_codes(&u->distances, length + n_literals, n_distances);
}

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Bytes as they are, after what is left of the byte begun. */
static bool copy_block(struct unpacking *u) {
    uint32_t n, inverse, drop;
    if (!take_bits(u, u->n_held % 8, &drop) || !take_bits(u, 16, &n) || !take_bits(u, 16, &inverse))
        return false;
    if (n != (inverse ^ 0xffff) || n > u->room - u->n) return false;
    for (; n > 0 && u->n_held > 0; n--) {
        u->out[u->n++] = (uint8_t)u->held;
        u->held >>= 8;
        u->n_held -= 8;
    }
    if (n > (size_t)(u->end - u->at)) return false;
    memcpy(u->out + u->n, u->at, n);
    u->at += n;
    u->n += n;
    return true;
}

/* A number in steps: symbols share their extra bits in groups of `group`. */
static bool take_number(struct unpacking *u, uint32_t symbol, uint32_t group, uint32_t *value) {
    uint32_t more;
    if (symbol < 2 * group) {
        *value = symbol;
        return true;
    }
    const uint32_t bits = symbol / group - 1;
    if (!take_bits(u, bits, &more)) return false;
    *value = ((group + symbol % group) << bits) + more;
    return true;
}

/* Repeats what was unpacked before. */
static bool repeat(struct unpacking *u, uint32_t symbol) {
    uint32_t length = 258, distance;
    if (symbol > END + 29) return false;
    if (symbol < END + 29) {
        if (!take_number(u, symbol - END - 1, 4, &length)) return false;
        length += 3;
    }
    if (!take_symbol(u, &u->distances, &distance) || distance > 29) return false;
    if (!take_number(u, distance, 2, &distance)) return false;
    if (distance >= u->n || length > u->room - u->n) return false;
    const uint8_t *from = u->out + u->n - distance - 1;
    for (uint32_t i = 0; i < length; i++) u->out[u->n++] = from[i];
    return true;
}

static bool unpack_block(struct unpacking *u) {
    for (uint32_t symbol;;) {
        if (!take_symbol(u, &u->literals, &symbol)) return false;
        if (symbol == END) return true;
        if (symbol > END) {
            if (!repeat(u, symbol)) return false;
        } else {
            if (u->n == u->room) return false;
            u->out[u->n++] = (uint8_t)symbol;
        }
    }
}

static bool unpack_all(struct unpacking *u) {
    for (uint32_t is_last = 0, kind; !is_last;) {
        if (!take_bits(u, 1, &is_last) || !take_bits(u, 2, &kind)) return false;
        const bool is_unpacked = kind == 0   ? copy_block(u)
                                 : kind == 1 ? make_fixed(u) && unpack_block(u)
                                 : kind == 2 ? make_own(u) && unpack_block(u)
                                             : false;
        if (!is_unpacked) return false;
    }
    return u->n == u->room;
}

int inflate_bytes(const uint8_t *packed, size_t n_packed, uint8_t *out, size_t n_out) {
    struct unpacking *u = memory_alloc(1, sizeof *u);
    if (!u) return DPMF_ERR_BASE_NO_MEMORY;
    u->at = packed;
    u->end = packed + n_packed;
    u->held = 0;
    u->n_held = 0;
    u->out = out;
    u->n = 0;
    u->room = n_out;
    const bool is_whole = unpack_all(u);
    free(u);
    return is_whole ? 0 : DPMF_ERR_INPUT_COMPRESSED;
}

uint32_t inflate_crc32(const uint8_t *bytes, size_t n) {
    uint32_t table[256], crc = 0xffffffff;
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++)
            table[i] = (table[i] >> 1) ^ (table[i] & 1 ? 0xedb88320 : 0);
    }
    for (size_t i = 0; i < n; i++) crc = (crc >> 8) ^ table[(crc ^ bytes[i]) & 0xff];
    return ~crc;
}
