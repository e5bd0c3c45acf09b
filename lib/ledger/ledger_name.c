/*
 * Which names populations may have. A curator who reads a ledger takes two names that look the same
 * for one, and would spend a budget twice. So new names are made of characters that are listed
 * here: letters that can be seen, that Unicode writes in one way (composed, so that NFC and NFD do
 * not differ), and of one alphabet where several share their shapes. What is not listed is refused,
 * assigned or not. Names that look alike by their letters alone, as "l" and "I" do, remain; that a
 * population is new is announced for that reason.
 */
#include "ledger/ledger_name.h"

#include <stdbool.h>
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
