/*
 * UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing above U+10FFFF. What reads
 * and writes JSON decides with this what text is.
 */
#ifndef DPMF_BASE_UTF8_H
#define DPMF_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

enum { UTF8_MAX = 4 };

/* @return the length, 1 to 4, of the one valid character that begins the n bytes, or 0 */
static inline size_t utf8_sequence(const char *text, size_t n) {
    const unsigned char *byte = (const unsigned char *)text;
    if (n == 0) return 0;
    if (byte[0] < 0x80) return 1;
    if (byte[0] < 0xc2 || byte[0] > 0xf4) return 0;

    /* The second byte's range is what rules out overlong forms, surrogates and too large ones. */
    unsigned char low = 0x80, high = 0xbf;
    if (byte[0] == 0xe0) low = 0xa0;
    if (byte[0] == 0xed) high = 0x9f;
    if (byte[0] == 0xf0) low = 0x90;
    if (byte[0] == 0xf4) high = 0x8f;

    size_t length = byte[0] < 0xe0 ? 2 : byte[0] < 0xf0 ? 3 : 4;
    if (n < length || byte[1] < low || byte[1] > high) return 0;
    for (size_t i = 2; i < length; i++)
        if ((byte[i] & 0xc0) != 0x80) return 0;
    return length;
}

/* Whether a text begins with a byte order mark, which nobody sees: files that were put together
 * have one in the middle. */
static inline int utf8_has_mark(const char *text, size_t n) {
    return n >= 3 && text[0] == '\xef' && text[1] == '\xbb' && text[2] == '\xbf';
}

/* Writes the character `point`, at most U+10FFFF. @return its length */
static inline size_t utf8_put(uint32_t point, char *text) {
    if (point < 0x80) {
        text[0] = (char)point;
        return 1;
    }
    size_t length = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; i--) {
        text[i] = (char)(0x80 | (point & 0x3f));
        point >>= 6;
    }
    unsigned mark = length == 2 ? 0xc0 : length == 3 ? 0xe0 : 0xf0;
    text[0] = (char)(mark | point);
    return length;
}

#endif
