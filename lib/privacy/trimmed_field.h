/*
 * A field of a table without the blanks around it: names in headers, numbers and categories are
 * compared without them. Ids are not: their bytes must be those of the ratings.
 */
#ifndef DPMF_PRIVACY_TRIMMED_FIELD_H
#define DPMF_PRIVACY_TRIMMED_FIELD_H

#include "dpmf.h"
#include "dpmf_text.h"

static inline bool trimmed_field_is_blank(char c) { return c == ' ' || c == '\t'; }

/* The end is no longer marked by NUL. */
static inline struct dpmf_field trimmed_field(struct dpmf_field field) {
    while (field.length > 0 && trimmed_field_is_blank(field.text[0]))
        field.text++, field.length--, field.column++;
    while (field.length > 0 && trimmed_field_is_blank(field.text[field.length - 1])) field.length--;
    return field;
}

#endif
