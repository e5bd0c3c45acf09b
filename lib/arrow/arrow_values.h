/*
 * Stretches of columns at once, for the tables that most people have: numbers and texts without
 * nulls. Where a stretch holds anything else, its values are read one by one (arrow_column.h).
 */
#ifndef DPMF_ARROW_ARROW_VALUES_H
#define DPMF_ARROW_ARROW_VALUES_H

#include "arrow/arrow_column.h"

/* Each reads the n values from row `begin` on.
 * @return false when one of them is null, broken, or not what is read; `out` is then undefined */
bool arrow_values_whole(const struct arrow_column *column, int64_t begin, int n, int64_t *out);
bool arrow_values_real(const struct arrow_column *column, int64_t begin, int n, double *out);

/* Texts of up to `longest` bytes. */
bool arrow_values_text(const struct arrow_column *column, int64_t begin, int n, uint32_t longest,
                       const char **text, uint32_t *length);

#endif
