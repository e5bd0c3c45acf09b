/*
 * Which ids an input can hold, and how it spells them: for ids that come from elsewhere than the
 * ratings, such as the wishes of users, and must mean the same people. It follows from the formats
 * of the inputs alone, never from the ratings.
 */
#ifndef DPMF_STORE_ID_FORM_H
#define DPMF_STORE_ID_FORM_H

#include "base/number.h"

struct id_form {
    bool takes_text;     /* any text, kept as it is */
    bool takes_whole;    /* whole numbers, without zeroes in front */
    bool is_signed;      /* whether whole numbers may be negative, and of any size */
    bool is_64;          /* whether signed whole numbers have 64 bits at most */
    bool from_one;       /* whether numbers begin at 1: rows of a matrix */
    bool is_trimmed;     /* texts that are numbers with blanks around them are these numbers */
    bool is_float;       /* whole numbers below 2^53, in any spelling of a decimal number */
    bool is_uuid;        /* UUIDs, in small letters */
    bool is_padded;      /* texts without the blanks at their end, which do not count */
    bool is_utf8;        /* whether only UTF-8 can be read */
    const char *without; /* characters that separate columns, and so occur in no id; NULL: none */
};

/* The form of the ids that a format's reader makes; any form for an unknown name. */
struct id_form id_form_of_format(const char *format);

/* The form of a store's user ids, by what it says about how it was read. */
struct id_form store_id_form(const struct dpmf_store *store);

/* The form of ids that come from one or the other. */
struct id_form id_form_either(const struct id_form *a, const struct id_form *b);

struct id_text {
    const char *text; /* the id, within the given text or in `number` */
    size_t n;
    char number[NUMBER_SPELLED_MAX];
};

enum { ID_SPELLINGS = 2 };

/* The ids that a text means. Where ids are texts or numbers, 0001 and 1.0 are two: themselves, and
 * 1; so is a UUID in capitals, where ids are texts or UUIDs. What is found may not be copied
 * elsewhere.
 * @return how many; 0: no such id can be in the ratings, *code and *why say why not, without the
 * text itself */
size_t id_form_spell(const struct id_form *form, const char *text, size_t n,
                     struct id_text out[ID_SPELLINGS], int *code, const char **why);

#endif
