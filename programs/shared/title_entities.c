/*
 * Entities of HTML in titles become the characters that they stand for, for people to read and for
 * histories to be matched with. Ids are never changed. Fed by model_use.c, as it reads a catalogue.
 */
#include "shared/title_entities.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { LAST_POINT = 0x10ffff, DIGITS_MAX = 7 };

static bool is_shown(uint32_t point) {
    const bool is_control = point < 0x20 || (point >= 0x7f && point < 0xa0);
    return !is_control && !(point >= 0xd800 && point <= 0xdfff) && point <= LAST_POINT;
}

/* The number behind "&#", up to its semicolon. @return its length with the semicolon, or 0 */
static size_t read_number(const char *text, uint32_t *point) {
    const bool is_hexadecimal = text[0] == 'x' || text[0] == 'X';
    const uint32_t base = is_hexadecimal ? 16 : 10;
    size_t at = is_hexadecimal, first = at;
    *point = 0;
    for (; at - first < DIGITS_MAX; at++) {
        static const char digits[] = "0123456789abcdef";
        const char small = text[at] >= 'A' && text[at] <= 'F' ? (char)(text[at] + 32) : text[at];
        const char *digit = small ? strchr(digits, small) : NULL;
        if (!digit || (uint32_t)(digit - digits) >= base) break;
        *point = *point * base + (uint32_t)(digit - digits);
    }
    return at > first && text[at] == ';' && is_shown(*point) ? at + 1 : 0;
}

static size_t put_utf8(uint32_t point, char *out) {
    static const struct {
        uint32_t below;
        unsigned mark;
    } lengths[] = {{0x80, 0}, {0x800, 0xc0}, {0x10000, 0xe0}, {LAST_POINT + 1, 0xf0}};
    size_t more = 0;
    while (point >= lengths[more].below) more++;
    out[0] = (char)(lengths[more].mark | (point >> (6 * more)));
    for (size_t i = 1; i <= more; i++) out[i] = (char)(0x80 | ((point >> (6 * (more - i))) & 0x3f));
    return more + 1;
}

/* The entity that a text begins with. @return its length, or 0 */
static size_t read_entity(const char *text, uint32_t *point) {
    static const struct {
        const char *name;
        char character;
    } names[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
    if (text[0] != '&') return 0;
    if (text[1] == '#') {
        const size_t n = read_number(text + 2, point);
        return n > 0 ? n + 2 : 0;
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const size_t n = strlen(names[i].name);
        if (strncmp(text, names[i].name, n) != 0) continue;
        *point = (uint32_t)(unsigned char)names[i].character;
        return n;
    }
    return 0;
}

/* No character is longer than what stands for it. */
void title_entities_decode(char *title) {
    char *out = title;
    uint32_t point;
    for (const char *at = title; *at;) {
        const size_t n = read_entity(at, &point);
        if (n > 0)
            out += put_utf8(point, out);
        else
            *out++ = *at;
        at += n > 0 ? n : 1;
    }
    *out = '\0';
}
