/*
 * Characters as titles are compared by. Latin letters lose their marks; Greek and Cyrillic become
 * the Latin letters that they are usually written in; katakana become hiragana; wide forms and
 * ligatures become what they stand for. The tables were made from the decompositions of Unicode.
 * Fed by title_fold.
 */
#include "titles/letters.h"

#include <stdbool.h>
#include <string.h>

#include "base/utf8.h"

/* U+00C0 to U+024F. */
static const char latin[][3] = {
    "a", "a",  "a",  "a",  "a",  "a",  "ae", "c",  "e",  "e",  "e",  "e",  "i",  "i",  "i",  "i",
    "d", "n",  "o",  "o",  "o",  "o",  "o",  "",   "o",  "u",  "u",  "u",  "u",  "y",  "th", "ss",
    "a", "a",  "a",  "a",  "a",  "a",  "ae", "c",  "e",  "e",  "e",  "e",  "i",  "i",  "i",  "i",
    "d", "n",  "o",  "o",  "o",  "o",  "o",  "",   "o",  "u",  "u",  "u",  "u",  "y",  "th", "y",
    "a", "a",  "a",  "a",  "a",  "a",  "c",  "c",  "c",  "c",  "c",  "c",  "c",  "c",  "d",  "d",
    "d", "d",  "e",  "e",  "e",  "e",  "e",  "e",  "e",  "e",  "e",  "e",  "g",  "g",  "g",  "g",
    "g", "g",  "g",  "g",  "h",  "h",  "h",  "h",  "i",  "i",  "i",  "i",  "i",  "i",  "i",  "i",
    "i", "i",  "ij", "ij", "j",  "j",  "k",  "k",  "k",  "l",  "l",  "l",  "l",  "l",  "l",  "l",
    "l", "l",  "l",  "n",  "n",  "n",  "n",  "n",  "n",  "n",  "ng", "ng", "o",  "o",  "o",  "o",
    "o", "o",  "oe", "oe", "r",  "r",  "r",  "r",  "r",  "r",  "s",  "s",  "s",  "s",  "s",  "s",
    "s", "s",  "t",  "t",  "t",  "t",  "t",  "t",  "u",  "u",  "u",  "u",  "u",  "u",  "u",  "u",
    "u", "u",  "u",  "u",  "w",  "w",  "y",  "y",  "y",  "z",  "z",  "z",  "z",  "z",  "z",  "s",
    "b", "b",  "b",  "b",  "b",  "b",  "o",  "c",  "c",  "d",  "d",  "d",  "d",  "d",  "e",  "e",
    "e", "f",  "f",  "g",  "g",  "hv", "i",  "i",  "k",  "k",  "l",  "l",  "m",  "n",  "n",  "o",
    "o", "o",  "oi", "oi", "p",  "p",  "r",  "s",  "s",  "sh", "sh", "t",  "t",  "t",  "t",  "u",
    "u", "u",  "v",  "y",  "y",  "z",  "z",  "z",  "z",  "z",  "z",  "d",  "s",  "s",  "ts", "w",
    "",  "",   "",   "",   "dz", "dz", "dz", "lj", "lj", "lj", "nj", "nj", "nj", "a",  "a",  "i",
    "i", "o",  "o",  "u",  "u",  "u",  "u",  "u",  "u",  "u",  "u",  "u",  "u",  "e",  "a",  "a",
    "a", "a",  "ae", "ae", "g",  "g",  "g",  "g",  "k",  "k",  "o",  "o",  "o",  "o",  "z",  "z",
    "j", "dz", "dz", "dz", "g",  "g",  "hv", "w",  "n",  "n",  "a",  "a",  "ae", "ae", "o",  "o",
    "a", "a",  "a",  "a",  "e",  "e",  "e",  "e",  "i",  "i",  "i",  "i",  "o",  "o",  "o",  "o",
    "r", "r",  "r",  "r",  "u",  "u",  "u",  "u",  "s",  "s",  "t",  "t",  "y",  "y",  "h",  "h",
    "n", "d",  "ou", "ou", "z",  "z",  "a",  "a",  "e",  "e",  "o",  "o",  "o",  "o",  "o",  "o",
    "o", "o",  "y",  "y",  "l",  "n",  "t",  "j",  "db", "qp", "a",  "c",  "c",  "l",  "t",  "s",
    "z", "",   "",   "b",  "u",  "v",  "e",  "e",  "j",  "j",  "q",  "q",  "r",  "r",  "y",  "y",
};

/* U+1E00 to U+1EFF. */
static const char latin_more[][3] = {
    "a", "a", "b", "b", "b", "b", "b", "b", "c", "c", "d", "d", "d", "d", "d",  "d", "d",  "d",
    "d", "d", "e", "e", "e", "e", "e", "e", "e", "e", "e", "e", "f", "f", "g",  "g", "h",  "h",
    "h", "h", "h", "h", "h", "h", "h", "h", "i", "i", "i", "i", "k", "k", "k",  "k", "k",  "k",
    "l", "l", "l", "l", "l", "l", "l", "l", "m", "m", "m", "m", "m", "m", "n",  "n", "n",  "n",
    "n", "n", "n", "n", "o", "o", "o", "o", "o", "o", "o", "o", "p", "p", "p",  "p", "r",  "r",
    "r", "r", "r", "r", "r", "r", "s", "s", "s", "s", "s", "s", "s", "s", "s",  "s", "t",  "t",
    "t", "t", "t", "t", "t", "t", "u", "u", "u", "u", "u", "u", "u", "u", "u",  "u", "v",  "v",
    "v", "v", "w", "w", "w", "w", "w", "w", "w", "w", "w", "w", "x", "x", "x",  "x", "y",  "y",
    "z", "z", "z", "z", "z", "z", "h", "t", "w", "y", "a", "s", "s", "s", "ss", "d", "a",  "a",
    "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a",  "a", "a",  "a",
    "a", "a", "a", "a", "e", "e", "e", "e", "e", "e", "e", "e", "e", "e", "e",  "e", "e",  "e",
    "e", "e", "i", "i", "i", "i", "o", "o", "o", "o", "o", "o", "o", "o", "o",  "o", "o",  "o",
    "o", "o", "o", "o", "o", "o", "o", "o", "o", "o", "o", "o", "u", "u", "u",  "u", "u",  "u",
    "u", "u", "u", "u", "u", "u", "u", "u", "y", "y", "y", "y", "y", "y", "y",  "y", "ll", "ll",
    "v", "v", "y", "y",
};

/* U+0370 to U+03FF. */
static const char greek[][3] = {
    "",  "",   "",  "",  "",   "",  "",  "",   "",   "",  "",  "",  "",  "",  "",  "",
    "",  "",   "",  "",  "",   "",  "a", "",   "e",  "i", "i", "",  "o", "",  "y", "o",
    "i", "a",  "v", "g", "d",  "e", "z", "i",  "th", "i", "k", "l", "m", "n", "x", "o",
    "p", "r",  "",  "s", "t",  "y", "f", "ch", "ps", "o", "i", "y", "a", "e", "i", "i",
    "y", "a",  "v", "g", "d",  "e", "z", "i",  "th", "i", "k", "l", "m", "n", "x", "o",
    "p", "r",  "s", "s", "t",  "y", "f", "ch", "ps", "o", "i", "y", "o", "y", "o", "",
    "v", "th", "",  "",  "",   "f", "p", "",   "",   "",  "",  "",  "",  "",  "",  "",
    "",  "",   "",  "",  "",   "",  "",  "",   "",   "",  "",  "",  "",  "",  "",  "",
    "k", "r",  "s", "",  "th", "e", "",  "",   "",   "s", "",  "",  "",  "",  "",  "",
};

/* U+0400 to U+04FF. */
static const char cyrillic[][5] = {
    "e", "e",  "dj", "g", "ye", "dz", "i",  "yi", "j",  "lj",   "nj", "c", "k",  "i",  "u",  "dz",
    "a", "b",  "v",  "g", "d",  "e",  "zh", "z",  "i",  "y",    "k",  "l", "m",  "n",  "o",  "p",
    "r", "s",  "t",  "u", "f",  "kh", "ts", "ch", "sh", "shch", "",   "y", "",   "e",  "yu", "ya",
    "a", "b",  "v",  "g", "d",  "e",  "zh", "z",  "i",  "y",    "k",  "l", "m",  "n",  "o",  "p",
    "r", "s",  "t",  "u", "f",  "kh", "ts", "ch", "sh", "shch", "",   "y", "",   "e",  "yu", "ya",
    "e", "e",  "dj", "g", "ye", "dz", "i",  "yi", "j",  "lj",   "nj", "c", "k",  "i",  "u",  "dz",
    "",  "",   "e",  "e", "",   "",   "",   "",   "",   "",     "a",  "a", "",   "",   "",   "",
    "",  "",   "f",  "f", "i",  "i",  "i",  "i",  "",   "",     "",   "",  "",   "",   "",   "",
    "",  "",   "",   "",  "",   "",   "",   "",   "",   "",     "",   "",  "",   "",   "",   "",
    "g", "g",  "g",  "g", "",   "",   "zh", "zh", "",   "",     "k",  "k", "",   "",   "",   "",
    "",  "",   "n",  "n", "",   "",   "",   "",   "",   "",     "",   "",  "",   "",   "u",  "u",
    "u", "u",  "h",  "h", "",   "",   "ch", "ch", "",   "",     "h",  "h", "",   "",   "",   "",
    "",  "zh", "zh", "",  "",   "",   "",   "",   "",   "",     "",   "",  "",   "",   "",   "",
    "a", "a",  "a",  "a", "",   "",   "e",  "e",  "a",  "a",    "a",  "a", "zh", "zh", "z",  "z",
    "",  "",   "i",  "i", "i",  "i",  "o",  "o",  "o",  "o",    "o",  "o", "e",  "e",  "u",  "u",
    "u", "u",  "u",  "u", "ch", "ch", "",   "",   "y",  "y",    "",   "",  "",   "",   "",   "",
};

/* U+1F00 to U+1FFF. */
static const char polytonic[][3] = {
    "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "e", "e", "e",
    "e", "e", "e", "",  "",  "e", "e", "e", "e", "e", "e", "",  "",  "i", "i", "i", "i", "i", "i",
    "i", "i", "i", "i", "i", "i", "i", "i", "i", "i", "i", "i", "i", "i", "i", "i", "i", "i", "i",
    "i", "i", "i", "i", "i", "i", "i", "o", "o", "o", "o", "o", "o", "",  "",  "o", "o", "o", "o",
    "o", "o", "",  "",  "y", "y", "y", "y", "y", "y", "y", "y", "",  "y", "",  "y", "",  "y", "",
    "y", "o", "o", "o", "o", "o", "o", "o", "o", "o", "o", "o", "o", "o", "o", "o", "o", "a", "a",
    "e", "e", "i", "i", "i", "i", "o", "o", "y", "y", "o", "o", "",  "",  "a", "a", "a", "a", "a",
    "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "a", "i", "i", "i", "i", "i", "i", "i", "i",
    "i", "i", "i", "i", "i", "i", "i", "i", "o", "o", "o", "o", "o", "o", "o", "o", "o", "o", "o",
    "o", "o", "o", "o", "o", "a", "a", "a", "a", "a", "",  "a", "a", "a", "a", "a", "a", "a", "",
    "i", "",  "",  "",  "i", "i", "i", "",  "i", "i", "e", "e", "i", "i", "i", "",  "",  "",  "i",
    "i", "i", "i", "",  "",  "i", "i", "i", "i", "i", "i", "",  "",  "",  "",  "y", "y", "y", "y",
    "r", "r", "y", "y", "y", "y", "y", "y", "r", "",  "",  "",  "",  "",  "o", "o", "o", "",  "o",
    "o", "o", "o", "o", "o", "o", "",  "",  "",
};

/* U+FB00 to U+FB06, ligatures. */
static const char ligatures[][4] = {"ff", "fi", "fl", "ffi", "ffl", "st", "st"};

/* U+2160 to U+216B, Roman numerals; the small ones are 16 further. */
static const char numerals[][5] = {"i",   "ii",   "iii", "iv", "v",  "vi",
                                   "vii", "viii", "ix",  "x",  "xi", "xii"};

/* ---- which characters are no letters --------------------------------------------------------- */

struct range {
    uint32_t first, last;
};

/* Marks that belong to the letter before them, or that cannot be seen. */
static const struct range skipped[] = {
    {0x00ad, 0x00ad}, {0x02b0, 0x02ff}, {0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd},
    {0x05bf, 0x05bf}, {0x05c1, 0x05c2}, {0x05c4, 0x05c5}, {0x05f3, 0x05f4}, {0x0640, 0x0640},
    {0x064b, 0x065f}, {0x0670, 0x0670}, {0x180b, 0x180e}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff},
    {0x200b, 0x200f}, {0x2018, 0x201b}, {0x202a, 0x202e}, {0x2032, 0x2032}, {0x2060, 0x2064},
    {0x20d0, 0x20ff}, {0x3099, 0x309c}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff},
};

/* Punctuation and symbols; letters of all other characters are kept as they are. */
static const struct range breaks[] = {
    {0x0080, 0x00bf},   {0x02c2, 0x02df},    {0x037e, 0x037e}, {0x0387, 0x0387}, {0x055a, 0x055f},
    {0x0589, 0x058a},   {0x05be, 0x05be},    {0x05c0, 0x05c0}, {0x05c3, 0x05c3}, {0x060c, 0x060d},
    {0x061b, 0x061f},   {0x066a, 0x066d},    {0x06d4, 0x06d4}, {0x0964, 0x0965}, {0x0e4f, 0x0e4f},
    {0x10fb, 0x10fb},   {0x1680, 0x1680},    {0x2000, 0x206f}, {0x207a, 0x207e}, {0x20a0, 0x20cf},
    {0x2100, 0x214f},   {0x2190, 0x2bff},    {0x2e00, 0x2e7f}, {0x3000, 0x3004}, {0x3008, 0x3020},
    {0x3030, 0x3030},   {0x303d, 0x303f},    {0x30a0, 0x30a0}, {0x30fb, 0x30fb}, {0xe000, 0xf8ff},
    {0xfe10, 0xfe1f},   {0xfe30, 0xfe6f},    {0xff5f, 0xff65}, {0xffe0, 0xffff}, {0x1f000, 0x1faff},
    {0xe0000, 0xe0fff}, {0xf0000, 0x10ffff},
};

static bool is_within(uint32_t point, const struct range *ranges, size_t n) {
    for (size_t i = 0; i < n && ranges[i].first <= point; i++)
        if (point <= ranges[i].last) return true;
    return false;
}

#define IS_WITHIN(point, ranges) is_within(point, ranges, sizeof(ranges) / sizeof(ranges)[0])

/* ---- one character --------------------------------------------------------------------------- */

static enum letter_kind give(const char *letters, char *out, size_t *length) {
    *length = strlen(letters);
    memcpy(out, letters, *length);
    return LETTER_WORD;
}

static enum letter_kind of_ascii(uint32_t point, char *out, size_t *length) {
    if (point == '\'' || point == '`') return LETTER_SKIP;
    if (point >= 'A' && point <= 'Z') point += 'a' - 'A';
    if (!(point >= 'a' && point <= 'z') && !(point >= '0' && point <= '9')) return LETTER_BREAK;
    *length = 1;
    out[0] = (char)point;
    return LETTER_WORD;
}

/* Digits raised and lowered, the ordinals, and halves and quarters. */
static const char *small_number(uint32_t point) {
    static const char digits[10][2] = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"};
    switch (point) {
    case 0xaa: return "a";
    case 0xba: return "o";
    case 0xb2: return "2";
    case 0xb3: return "3";
    case 0xb5: return "m";
    case 0xb9: return "1";
    case 0xbc: return "1 4";
    case 0xbd: return "1 2";
    case 0xbe: return "3 4";
    case 0x2070: return "0";
    default: break;
    }
    if (point >= 0x2074 && point <= 0x2079) return digits[point - 0x2070];
    if (point >= 0x2080 && point <= 0x2089) return digits[point - 0x2080];
    if (point >= 0x2160 && point <= 0x216b) return numerals[point - 0x2160];
    if (point >= 0x2170 && point <= 0x217b) return numerals[point - 0x2170];
    if (point >= 0xfb00 && point <= 0xfb06) return ligatures[point - 0xfb00];
    return NULL;
}

/* The Latin letters of a character of the tables, perhaps none; NULL: it is in no table. */
static const char *in_tables(uint32_t point) {
    if (point >= 0xc0 && point <= 0x24f) return latin[point - 0xc0];
    if (point >= 0x370 && point <= 0x3ff) return greek[point - 0x370];
    if (point >= 0x400 && point <= 0x4ff) return cyrillic[point - 0x400];
    if (point >= 0x1e00 && point <= 0x1eff) return latin_more[point - 0x1e00];
    if (point >= 0x1f00 && point <= 0x1fff) return polytonic[point - 0x1f00];
    return NULL;
}

static enum letter_kind of_other(uint32_t point, char *out, size_t *length) {
    const char *letters = small_number(point);
    if (letters) return give(letters, out, length);
    letters = in_tables(point);
    if (letters && letters[0] != '\0') return give(letters, out, length);
    const bool is_silent = point == 0x42a || point == 0x44a || point == 0x42c || point == 0x44c;
    if (is_silent || point == 0xb4 || IS_WITHIN(point, skipped)) return LETTER_SKIP;
    if (letters || IS_WITHIN(point, breaks)) return LETTER_BREAK;
    if (point >= 0x30a1 && point <= 0x30f6) point -= 0x60; /* katakana */
    if (point >= 0x531 && point <= 0x556) point += 0x30;   /* Armenian */
    *length = utf8_put(point, out);
    return LETTER_WORD;
}

size_t letters_next(const char *text, size_t n, uint32_t *point) {
    const unsigned char *byte = (const unsigned char *)text;
    const size_t length = utf8_sequence(text, n);
    *point = byte[0];
    if (length <= 1) return 1;
    *point = byte[0] & (0xffu >> (length + 1));
    for (size_t i = 1; i < length; i++) *point = *point << 6 | (byte[i] & 0x3f);
    return length;
}

enum letter_kind letters_of(uint32_t point, char out[LETTERS_MAX], size_t *length) {
    *length = 0;
    if (point >= 0xff01 && point <= 0xff5e) point -= 0xfee0; /* wide forms of ASCII */
    return point < 0x80 ? of_ascii(point, out, length) : of_other(point, out, length);
}
