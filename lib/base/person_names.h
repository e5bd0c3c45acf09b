/*
 * Names of columns that could hold people.
 */
#ifndef DPMF_BASE_PERSON_NAMES_H
#define DPMF_BASE_PERSON_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a column of this name could hold people, in the eyes of a careful reader: "username",
 * "Rater ID", "e-mail". */
bool column_could_name_person(const char *name, size_t n);

#endif
