/*
 * What the two halves of reading item features share: item_features.c reads a table into the cells
 * below, feature_columns.c makes standardised columns of numbers of them.
 */
#ifndef DPMF_PRIVACY_ITEM_FEATURES_H
#define DPMF_PRIVACY_ITEM_FEATURES_H

#include "privacy/catalogue.h"

enum {
    FEATURE_COLUMNS_MAX = 200, /* columns that an item can have in the end */
    FEATURE_BUMPS = 6,         /* columns that a number becomes */
};

/* A field that is not empty, of an item of the catalogue. */
struct feature_cell {
    size_t text; /* its place in the table's text */
    uint32_t length;
    uint32_t item;
    int64_t line, column; /* place in the file */
};

struct feature_cells {
    struct feature_cell *at;
    size_t n, capacity;
};

struct feature_table {
    struct feature_cells *columns;
    size_t n_columns;
    char *text;
    size_t n_text, text_capacity;
    char file[DPMF_ERROR_TEXT_MAX];
    const struct dpmf_run *run; /* for warnings; may be NULL */
};

/* Replaces the features of the catalogue by those of the table. */
int feature_table_convert(const struct feature_table *table, struct catalogue *catalogue,
                          struct dpmf_error *error);

#endif
