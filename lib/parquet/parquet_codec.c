/*
 * The codecs of parquet_codec.h. Snappy and the blocks of LZ4 are short enough to stand here; gzip
 * and zstd are their libraries'. Fed by parquet_pages.c with pages of a file, which nobody trusts.
 */
#include "parquet/parquet_codec.h"

#include <limits.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/bytes.h"

static const struct {
    const char *name;
    bool is_known;
} codecs[PARQUET_CODECS] = {
    [PARQUET_UNCOMPRESSED] = {"no compression", true},
    [PARQUET_SNAPPY] = {"Snappy", true},
    [PARQUET_GZIP] = {"gzip", true},
    [PARQUET_LZO] = {"LZO", false},
    [PARQUET_BROTLI] = {"Brotli", false},
    [PARQUET_LZ4] = {"Hadoop's LZ4", false},
    [PARQUET_ZSTD] = {"zstd", true},
    [PARQUET_LZ4_RAW] = {"LZ4", true},
};

const char *parquet_codec_name(int codec) {
    return codec >= 0 && codec < PARQUET_CODECS ? codecs[codec].name : NULL;
}

bool parquet_codec_is_known(int codec) {
    return codec >= 0 && codec < PARQUET_CODECS && codecs[codec].is_known;
}

/* ---- what Snappy and LZ4 share --------------------------------------------------------------- */

/* Bytes that are read, and bytes that are made of them. */
struct unpacking {
    const uint8_t *in, *in_end;
    uint8_t *out, *at, *end;
};

static bool copy_literal(struct unpacking *u, size_t n) {
    if (n > (size_t)(u->in_end - u->in) || n > (size_t)(u->end - u->at)) return false;
    if (n > 0) memcpy(u->at, u->in, n);
    u->in += n;
    u->at += n;
    return true;
}

/* Repeats n bytes from `back` bytes ago; they may overlap with what they become. */
static bool copy_match(struct unpacking *u, size_t back, size_t n) {
    enum { STRIDE = 8 };
    if (back == 0 || back > (size_t)(u->at - u->out) || n > (size_t)(u->end - u->at)) return false;
    const uint8_t *from = u->at - back;
    uint8_t *to = u->at;
    u->at += n;
    if (back >= STRIDE) { /* whole strides never read what they have not written */
        for (; n >= STRIDE; n -= STRIDE, to += STRIDE, from += STRIDE) memcpy(to, from, STRIDE);
    }
    while (n-- > 0) *to++ = *from++;
    return true;
}

/* ---- Snappy ---------------------------------------------------------------------------------- */

static bool get_little(struct unpacking *u, int n, size_t *value) {
    if (n > u->in_end - u->in) return false;
    *value = 0;
    for (int i = 0; i < n; i++) *value |= (size_t)*u->in++ << (8 * i);
    return true;
}

static bool snappy_element(struct unpacking *u) {
    enum { LITERAL_LONG = 60 }; /* from here on, the length is in the bytes that follow */
    const uint8_t tag = *u->in++;
    size_t n = tag >> 2, back;
    switch (tag & 3) {
    case 0:
        if (n >= LITERAL_LONG && !get_little(u, (int)n - LITERAL_LONG + 1, &n)) return false;
        return copy_literal(u, n + 1);
    case 1: return get_little(u, 1, &back) && copy_match(u, (n >> 3) << 8 | back, (n & 7) + 4);
    case 2: return get_little(u, 2, &back) && copy_match(u, back, n + 1);
    default: return get_little(u, 4, &back) && copy_match(u, back, n + 1);
    }
}

static bool unpack_snappy(struct unpacking *u) {
    uint64_t size;
    u->in = varint_get(u->in, u->in_end, &size);
    if (!u->in || size != (uint64_t)(u->end - u->out)) return false;
    while (u->in < u->in_end)
        if (!snappy_element(u)) return false;
    return u->at == u->end;
}

/* ---- LZ4 ------------------------------------------------------------------------------------- */

/* A length of 15 goes on in bytes, up to one that is not 255. */
static bool lz4_length(struct unpacking *u, size_t *n) {
    if (*n < 15) return true;
    uint8_t byte;
    do {
        if (u->in == u->in_end) return false;
        *n += byte = *u->in++;
    } while (byte == 255);
    return true;
}

static bool unpack_lz4(struct unpacking *u) {
    enum { MATCH_MIN = 4 };
    while (u->in < u->in_end) {
        const uint8_t token = *u->in++;
        size_t literal = token >> 4, match = token & 15, back;
        if (!lz4_length(u, &literal) || !copy_literal(u, literal)) return false;
        if (u->in == u->in_end) break; /* the last has no match */
        if (!get_little(u, 2, &back) || !lz4_length(u, &match)) return false;
        if (!copy_match(u, back, match + MATCH_MIN)) return false;
    }
    return u->at == u->end;
}

/* ---- gzip ------------------------------------------------------------------------------------ */

/* One member, or several; zlib's own format too, as some writers have it. */
static bool unpack_gzip(struct unpacking *u) {
    enum { ANY_HEADER = 15 + 32 };
    z_stream z = {0};
    if (u->in_end - u->in > INT_MAX || u->end - u->at > INT_MAX) return false;
    if (inflateInit2(&z, ANY_HEADER) != Z_OK) return false;
    z.next_in = (Bytef *)u->in;
    z.avail_in = (uInt)(u->in_end - u->in);
    z.next_out = u->at;
    z.avail_out = (uInt)(u->end - u->at);
    int state = Z_STREAM_END;
    while (state == Z_STREAM_END && z.avail_in > 0 && inflateReset(&z) == Z_OK)
        state = inflate(&z, Z_FINISH);
    inflateEnd(&z);
    return state == Z_STREAM_END && z.avail_in == 0 && z.avail_out == 0;
}

/* ---- all of them ----------------------------------------------------------------------------- */

bool parquet_decompress(enum parquet_codec codec, const uint8_t *packed, size_t n, uint8_t *bytes,
                        size_t size) {
    struct unpacking u = {packed, packed + n, bytes, bytes, bytes + size};
    assert(parquet_codec_is_known((int)codec));
    switch (codec) {
    case PARQUET_SNAPPY: return unpack_snappy(&u);
    case PARQUET_GZIP: return unpack_gzip(&u);
    case PARQUET_ZSTD: return ZSTD_decompress(bytes, size, packed, n) == size;
    case PARQUET_LZ4_RAW: return unpack_lz4(&u);
    default: return n == size && copy_literal(&u, n);
    }
}
