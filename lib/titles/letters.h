/*
 * Characters as titles are compared by: small Latin letters without marks, digits, and the letters
 * of scripts that are not written in Latin ones here.
 */
#ifndef DPMF_TITLES_LETTERS_H
#define DPMF_TITLES_LETTERS_H

#include <stddef.h>
#include <stdint.h>

enum letter_kind {
    LETTER_BREAK, /* ends a word: a blank, a dash, a symbol */
    LETTER_SKIP,  /* ignored: a mark, an apostrophe, a soft sign */
    LETTER_WORD,  /* part of a word, and perhaps several letters */
};

enum { LETTERS_MAX = 5 }; /* bytes that one character becomes, at most */

/* Reads the character that begins the n > 0 bytes; a byte that is not UTF-8 is Latin-1.
 * @return its length in bytes */
size_t letters_next(const char *text, size_t n, uint32_t *point);

/* What a character is, and for LETTER_WORD what it becomes: *length bytes of UTF-8, which may hold
 * a blank ("1 2" of one half). */
enum letter_kind letters_of(uint32_t point, char out[LETTERS_MAX], size_t *length);

#endif
