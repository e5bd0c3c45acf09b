/*
 * A title as people write it, and as titles are compared: its words folded, its parts (article,
 * year, what stands in brackets), and its keys, from strict to loose. docs/titles.md describes the
 * rules.
 */
#ifndef DPMF_TITLES_TITLE_TEXT_H
#define DPMF_TITLES_TITLE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TITLE_BYTES = 1000, /* bytes of a title that are compared; what follows is ignored */
    TITLE_FOLD_ROOM = 4 * TITLE_BYTES + 8,
    TITLE_KEY_ROOM = 2 * TITLE_FOLD_ROOM,
    TITLE_GROUPS = 4, /* texts in brackets at the end */
};

/* Words in small letters without marks, a blank between two of them; a text without letters and
 * digits stays as it is. Initials are one word ("e.t." is "et"), and & is "and".
 * @return the length, at most TITLE_FOLD_ROOM - 1; 0 when there is nothing */
size_t title_fold(const char *text, size_t n, char out[TITLE_FOLD_ROOM]);

/* Part of a text. */
struct title_part {
    const char *text;
    size_t n;
};

/* "Matrix, The (Director's Cut) (1999)" taken apart. */
struct title_parts {
    struct title_part main;                /* "Matrix" */
    struct title_part article;             /* "The"; empty where none stood behind a comma */
    struct title_part group[TITLE_GROUPS]; /* with their brackets, in order; the year too */
    size_t n_groups;
    size_t year_group; /* place of the group that is the year; TITLE_GROUPS: none */
    int32_t year;      /* year; 0: none */
};

void title_parts_find(const char *text, size_t n, struct title_parts *parts);

/* "The Matrix (1999)" for "Matrix, The (1999)", terminated by NUL.
 * @return the length of the whole text, as snprintf does */
size_t title_show(const char *text, size_t n, char *out, size_t size);

/* What titles are compared by, from strict to loose. */
enum title_level {
    TITLE_WHOLE,    /* all of it but the year, in its own words */
    TITLE_PLAIN,    /* without a leading article and without "and"; numerals as digits */
    TITLE_EDITION,  /* also without brackets and without words about an edition */
    TITLE_SUBTITLE, /* also without what follows a colon or a dash */
    TITLE_LEVELS,
};

/* The key at a level, without blanks. @return its length; 0 when it is empty */
size_t title_key(const struct title_parts *parts, enum title_level level, char out[TITLE_KEY_ROOM]);

/* The key of another name in brackets, comparable with TITLE_PLAIN. @return 0: it is none */
size_t title_key_other(const struct title_part *group, char out[TITLE_KEY_ROOM]);

/* How a number that is a word is written: "4", "iv" and "four" of any of them. A single letter that
 * comes first is no number. @return how many ways there are; 0: it is no number below 40 */
enum { TITLE_SPELLINGS = 3, TITLE_SPELLING_ROOM = 12 };
size_t title_number_spellings(const struct title_part *word, bool is_first,
                              char out[TITLE_SPELLINGS][TITLE_SPELLING_ROOM]);

/* The year of a text such as "1999" or "1999-2003"; 0: it is none. */
int32_t title_year(const char *text, size_t n);

#endif
