/*
 * What the curator declares about a release, in their own words: who answers for it, what it is of
 * and for, until when. Free text that dpmf cannot verify, kept apart from what it proves.
 * docs/formats/about.md specifies the file.
 */
#ifndef DPMF_STATEMENT_ABOUT_H
#define DPMF_STATEMENT_ABOUT_H

#include "dpmf.h"
#include "numerics/exact_arithmetic.h"

enum about_field {
    ABOUT_TITLE,
    ABOUT_CONTROLLER,
    ABOUT_CONTACT,
    ABOUT_DATA,
    ABOUT_PERIOD,
    ABOUT_INTENDED_USE,
    ABOUT_REGION,
    ABOUT_SECTOR,
    ABOUT_DATE,
    ABOUT_REVIEW,
    ABOUT_EXPIRY,
    ABOUT_ERASURE,
    ABOUT_SPENT_BEFORE,
    ABOUT_SOURCES,
    ABOUT_FIELDS,
};

enum {
    ABOUT_VALUE_MAX = 2000, /* bytes of a text */
    ABOUT_TEXT_MAX = 8192,  /* bytes of all texts together, with a NUL each */
    ABOUT_FILE_MAX = 65536,
};

/* A value, so that a statement that holds one can be copied. All zero: nothing is declared. */
struct about {
    uint16_t n;                   /* bytes of `text` in use */
    uint16_t start[ABOUT_FIELDS]; /* where a field's text begins, plus 1; 0: not declared */
    char text[ABOUT_TEXT_MAX];
};

/* The name of a field in files and in JSON ("intended_use"), and for people ("Intended use"). */
const char *about_name(enum about_field field);
const char *about_label(enum about_field field);

/* @return the field of that name, or ABOUT_FIELDS */
enum about_field about_find(const char *name);

/* @return what was declared, or NULL */
const char *about_get(const struct about *about, enum about_field field);

bool about_is_empty(const struct about *about);

/* The mu that was spent on the same people before, as declared; NaN: nothing was declared. */
double about_spent_before(const struct about *about);

/* Adds a field. @return NULL, or what is wrong with it: it is there already, is not text that can
 * be shown, is too long, or is no date or number where one is needed */
const char *about_put(struct about *about, enum about_field field, const char *text, size_t n);

/* @return 0, or DPMF_ERR_INPUT_HEADER (a field that is unknown or there twice) or
 * DPMF_ERR_INPUT_COLUMNS, with the line */
int about_parse(const char *bytes, size_t n, struct about *about, struct dpmf_error *error);

/* The same of a file, which may be a pipe. */
int about_read(const char *path, struct about *about, struct dpmf_error *error);

#endif
