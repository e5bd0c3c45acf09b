/*
 * Which names populations may have. A curator who reads a ledger takes two names that look the same
 * for one, and would spend a budget twice. So new names are made of characters that are listed
 * here: letters that can be seen, that Unicode writes in one way (composed, so that NFC and NFD do
 * not differ), and of one alphabet where several share their shapes. What is not listed is refused,
 * assigned or not. Nor may a new name look like one that the ledger knows, as "l" and "I" do: both
 * are reduced to their shapes, and compared. That a population is new is announced besides.
 */
#include "ledger/ledger_name.h"

#include <stdint.h>
#include <string.h>

#include "base/utf8.h"
#include "ledger/ledger.h"

/* Alphabets that share shapes: a name has letters of one of them. */
enum alphabet { LATIN, GREEK, CYRILLIC, ARMENIAN, N_ALPHABETS, OTHER = N_ALPHABETS };

struct code_points {
    uint32_t first, last;
    enum alphabet alphabet;
};

/* Beyond ASCII: letters without marks of their own, and pictures. None has a decomposition to a
 * single other character, none combines with its neighbours, and none is a form of another. */
static const struct code_points known[] = {
    {0xc0, 0xd6, LATIN},       {0xd8, 0xf6, LATIN},       {0xf8, 0x131, LATIN},
    {0x134, 0x13e, LATIN},     {0x141, 0x148, LATIN},     {0x14a, 0x17e, LATIN},
    {0x218, 0x21b, LATIN},     {0x1e80, 0x1e85, LATIN},   {0x1ea0, 0x1ef9, LATIN},
    {0x386, 0x386, GREEK},     {0x388, 0x38a, GREEK},     {0x38c, 0x38c, GREEK},
    {0x38e, 0x3a1, GREEK},     {0x3a3, 0x3ce, GREEK},     {0x400, 0x481, CYRILLIC},
    {0x48a, 0x52f, CYRILLIC},  {0x531, 0x556, ARMENIAN},  {0x561, 0x586, ARMENIAN},
    {0x5d0, 0x5ea, OTHER},     {0x620, 0x63f, OTHER},     {0x641, 0x64a, OTHER},
    {0x671, 0x674, OTHER},     {0x679, 0x6d3, OTHER},     {0x10d0, 0x10fa, OTHER},
    {0x3041, 0x3096, OTHER},   {0x30a1, 0x30fa, OTHER},   {0x30fc, 0x30fc, OTHER},
    {0x3400, 0x4dbf, OTHER},   {0x4e00, 0x9ffc, OTHER},   {0xac00, 0xd7a3, OTHER},
    {0x1f300, 0x1f3fa, OTHER}, {0x1f400, 0x1f64f, OTHER},
};

/* The controls of ASCII and of Latin-1, and the two line ends of Unicode. */
static bool is_control(uint32_t code) {
    return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x2028 || code == 0x2029;
}

/* The code point of one whole character in UTF-8. */
static uint32_t code_point(const char *text, size_t n) {
    const unsigned char *at = (const unsigned char *)text;
    uint32_t code = n == 1 ? at[0] : at[0] & (0xffu >> (n + 1));
    for (size_t i = 1; i < n; i++) code = code << 6 | (at[i] & 0x3f);
    return code;
}

/* @return whether it is listed, and its alphabet */
static bool find(uint32_t code, enum alphabet *alphabet) {
    const uint32_t small = code | 0x20;
    *alphabet = small >= 'a' && small <= 'z' && code < 0x80 ? LATIN : OTHER;
    if (code < 0x80) return true;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (code < known[i].first || code > known[i].last) continue;
        *alphabet = known[i].alphabet;
        return true;
    }
    return false;
}

const char *ledger_name_fault(const char *name) {
    size_t n = strnlen(name, LEDGER_NAME_MAX + 1);
    if (n == 0) return "is empty";
    if (n > LEDGER_NAME_MAX) return "is longer than 128 bytes";
    /* Nobody sees a blank at the end, and "x" and "x " would be two budgets. */
    if (name[0] == ' ' || name[n - 1] == ' ') return "begins or ends with a blank";
    for (size_t at = 0; at < n;) {
        size_t step = utf8_sequence(name + at, n - at);
        if (step == 0) return "is not UTF-8";
        if (is_control(code_point(name + at, step))) return "has a control character";
        at += step;
    }
    return NULL;
}

const char *ledger_new_name_fault(const char *name) {
    const char *fault = ledger_name_fault(name);
    enum alphabet first = OTHER, alphabet;
    if (fault) return fault;
    if (strstr(name, "  ")) return "has two blanks in a row, which look like one";
    for (size_t at = 0, n = strlen(name); at < n;) {
        size_t step = utf8_sequence(name + at, n - at);
        if (!find(code_point(name + at, step), &alphabet))
            return "has a character that cannot be seen or can be written in several ways, so that "
                   "it could look like another name: use plain letters, digits and punctuation";
        if (alphabet != OTHER && first != OTHER && alphabet != first)
            return "mixes letters of two alphabets that look alike";
        if (alphabet != OTHER) first = alphabet;
        at += step;
    }
    return NULL;
}

/* ---- names that look alike ------------------------------------------------------------------- */

struct shape {
    uint32_t code;
    char letter;
};

/* Letters beyond ASCII that have the shape of one in it. */
static const struct shape shapes[] = {
    {0x131, 'l'}, /* Latin */
    /* Greek */
    {0x391, 'a'},
    {0x392, 'b'},
    {0x395, 'e'},
    {0x396, 'z'},
    {0x397, 'h'},
    {0x399, 'l'},
    {0x39a, 'k'},
    {0x39c, 'm'},
    {0x39d, 'n'},
    {0x39f, 'o'},
    {0x3a1, 'p'},
    {0x3a4, 't'},
    {0x3a5, 'y'},
    {0x3a7, 'x'},
    {0x3b1, 'a'},
    {0x3b3, 'y'},
    {0x3b5, 'e'},
    {0x3b7, 'n'},
    {0x3b9, 'l'},
    {0x3ba, 'k'},
    {0x3bd, 'v'},
    {0x3bf, 'o'},
    {0x3c1, 'p'},
    {0x3c4, 't'},
    {0x3c5, 'u'},
    {0x3c7, 'x'},
    {0x3c9, 'w'},
    {0x3f2, 'c'},
    /* Cyrillic */
    {0x405, 's'},
    {0x406, 'l'},
    {0x408, 'j'},
    {0x410, 'a'},
    {0x412, 'b'},
    {0x415, 'e'},
    {0x41a, 'k'},
    {0x41c, 'm'},
    {0x41d, 'h'},
    {0x41e, 'o'},
    {0x420, 'p'},
    {0x421, 'c'},
    {0x422, 't'},
    {0x423, 'y'},
    {0x425, 'x'},
    {0x430, 'a'},
    {0x432, 'b'},
    {0x435, 'e'},
    {0x43a, 'k'},
    {0x43c, 'm'},
    {0x43d, 'h'},
    {0x43e, 'o'},
    {0x440, 'p'},
    {0x441, 'c'},
    {0x442, 't'},
    {0x443, 'y'},
    {0x445, 'x'},
    {0x455, 's'},
    {0x456, 'l'},
    {0x458, 'j'},
    {0x4ae, 'y'},
    {0x4af, 'y'},
    {0x4ba, 'h'},
    {0x4bb, 'h'},
    {0x4c0, 'l'},
    {0x4cf, 'l'},
    {0x500, 'd'},
    {0x501, 'd'},
    {0x51a, 'q'},
    {0x51b, 'q'},
    {0x51c, 'w'},
    {0x51d, 'w'},
    /* Armenian */
    {0x54d, 'u'},
    {0x555, 'o'},
    {0x566, 'q'},
    {0x570, 'h'},
    {0x578, 'n'},
    {0x57d, 'u'},
    {0x581, 'g'},
    {0x585, 'o'},
};

/* Small letters; what is round, a stroke, or between words is one of its kind. */
static char shape_of_ascii(uint32_t code) {
    const char small = (char)(code >= 'A' && code <= 'Z' ? code + ('a' - 'A') : code);
    if (small == '0') return 'o';
    if (small == '1' || small == 'i' || small == '|' || small == '!') return 'l';
    if (strchr(" -_.,;:/", small)) return '-';
    return strchr("'`\"", small) ? '\'' : small;
}

/* The small letter of a pair, in alphabets where it lies a fixed distance from the large one. */
static uint32_t small_letter(uint32_t code) {
    if ((code >= 0xc0 && code <= 0xde && code != 0xd7) || (code >= 0x391 && code <= 0x3a9) ||
        (code >= 0x410 && code <= 0x42f))
        return code + 0x20;
    if (code >= 0x400 && code <= 0x40f) return code + 0x50;
    if (code >= 0x531 && code <= 0x556) return code + 0x30;
    const bool in_turns = (code >= 0x100 && code <= 0x12f) || (code >= 0x14a && code <= 0x177) ||
                          (code >= 0x1ea0 && code <= 0x1ef9) || (code >= 0x460 && code <= 0x481) ||
                          (code >= 0x48a && code <= 0x4bf) || (code >= 0x4d0 && code <= 0x52f);
    return in_turns ? code | 1 : code;
}

static uint32_t shape_of(uint32_t code) {
    if (code < 0x80) return (uint32_t)shape_of_ascii(code);
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        if (shapes[i].code == code) return (uint32_t)shapes[i].letter;
    return small_letter(code);
}

/* The shapes of a name, with "rn" as the "m" that it looks like, and "vv" as "w". @return how
 * many */
static size_t reduce(const char *name, uint32_t out[LEDGER_NAME_MAX]) {
    size_t n = 0;
    for (size_t at = 0, end = strnlen(name, LEDGER_NAME_MAX); at < end;) {
        const size_t step = utf8_sequence(name + at, end - at);
        const size_t length = step > 0 ? step : 1; /* a name of 0.1.0 may be anything */
        const uint32_t shape =
            step > 0 ? shape_of(code_point(name + at, step)) : (unsigned char)name[at];
        if (n > 0 && shape == 'n' && out[n - 1] == 'r')
            out[n - 1] = 'm';
        else if (n > 0 && shape == 'v' && out[n - 1] == 'v')
            out[n - 1] = 'w';
        else
            out[n++] = shape;
        at += length;
    }
    return n;
}

bool ledger_names_are_alike(const char *a, const char *b) {
    uint32_t x[LEDGER_NAME_MAX], y[LEDGER_NAME_MAX];
    const size_t n = reduce(a, x);
    return n == reduce(b, y) && memcmp(x, y, n * sizeof x[0]) == 0;
}
