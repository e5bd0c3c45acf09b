/*
 * Ids are compared byte by byte, with the blanks that a separator left around them: " b" of "a, b"
 * is not "b". That is kept, since it is what other readers do and every record is read alone; who
 * brings such ids is told how many they are. Asked by all readers of ids.
 */
#ifndef DPMF_BASE_ID_BLANKS_H
#define DPMF_BASE_ID_BLANKS_H

#include <stdbool.h>
#include <stddef.h>

static inline bool id_blank_is(char c) { return c == ' ' || c == '\t'; }

/* Moves *id past the blanks before it. @return its length without those around it, 0 where it has
 * nothing else */
static inline size_t id_blanks_trim(const char **id, size_t length) {
    while (length > 0 && id_blank_is(**id)) (*id)++, length--;
    while (length > 0 && id_blank_is((*id)[length - 1])) length--;
    return length;
}

/* @return whether there are blanks around an id */
static inline bool id_blanks_has(const char *id, size_t length) {
    return length > 0 && (id_blank_is(id[0]) || id_blank_is(id[length - 1]));
}

#endif
