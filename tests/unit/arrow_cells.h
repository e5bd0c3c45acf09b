/*
 * The cells of a table as text, a line a row: what tests of readers compare. Include after cmocka.
 */
#ifndef DPMF_TESTS_ARROW_CELLS_H
#define DPMF_TESTS_ARROW_CELLS_H

#include <stdio.h>
#include <string.h>

#include "arrow/arrow_table.h"

enum { ARROW_CELLS_TEXT = 8192 };

static inline void arrow_cells_append(const struct arrow_column *column, int64_t row, char *text) {
    struct arrow_cell cell;
    const size_t n = strlen(text);
    char *at = text + n;
    arrow_cell_read(column, row, &cell);
    switch (cell.kind) {
    case ARROW_CELL_WHOLE:
        snprintf(at, ARROW_CELLS_TEXT - n, "%lld,", (long long)cell.whole);
        return;
    case ARROW_CELL_UNSIGNED:
        snprintf(at, ARROW_CELLS_TEXT - n, "%llu,", (unsigned long long)cell.unsigned_whole);
        return;
    case ARROW_CELL_REAL: snprintf(at, ARROW_CELLS_TEXT - n, "%g,", cell.real); return;
    case ARROW_CELL_NULL: snprintf(at, ARROW_CELLS_TEXT - n, "-,"); return;
    case ARROW_CELL_BROKEN: snprintf(at, ARROW_CELLS_TEXT - n, "!,"); return;
    default: snprintf(at, ARROW_CELLS_TEXT - n, "%.*s,", (int)cell.length, cell.text);
    }
}

/* Reads the first columns of a table to its end, and once more; releases it.
 * @return 0 or a negative code */
static inline int arrow_cells_read(struct arrow_table *table, char *text,
                                   struct dpmf_error *error) {
    struct arrow_batch *batch;
    int code;
    text[0] = '\0';
    for (int i = 0; i < ARROW_CHOSEN && i < (int)table->n_fields; i++) table->chosen[i] = i;
    while ((code = table->ops->next(table, &batch, error)) == 1) {
        if (batch->load) code = batch->load(batch, error);
        for (int64_t row = 0; row < batch->n_rows && code >= 0; row++) {
            for (int i = 0; i < ARROW_CHOSEN && i < (int)table->n_fields; i++)
                arrow_cells_append(&batch->column[i], row, text);
            strcat(text, "\n");
        }
        arrow_batch_release(batch);
        if (code < 0) break;
    }
    if (code == 0) assert_int_equal(table->ops->next(table, &batch, error), 0);
    if (code == 0 && table->ops->bytes_read) assert_true(table->ops->bytes_read(table) > 0);
    arrow_table_release(table);
    return code;
}

#endif
