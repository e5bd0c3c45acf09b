/*
 * The items of a private run: read from a public file, in the file's order, or, where the curator
 * insists, from the ratings. Feeds the mechanisms, whose sums have a row for each of these items
 * and for no other; item_features.c adds what is known about them.
 */
#include "privacy/catalogue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/id_blanks.h"
#include "base/memory.h"
#include "dpmf_text.h"
#include "privacy/catalogue_doubts.h"
#include "privacy/id_gather.h"
#include "privacy/public_table.h"
#include "store/store.h"
#include "tables/table_file.h"

/* ---- from a file ----------------------------------------------------------------------------- */

/* A store holds ratings and nothing else: its items, in its order, tell what was rated. */
static int refuse_store(const char *path, struct dpmf_error *error) {
    error_set(error, DPMF_ERR_PRIVACY_REFUSED,
              "a ratings store is not a public catalogue: it holds what was rated");
    error_hint(error, "give the list of all items that can be rated, or say "
                      "{catalogue-from-ratings}, which the statement will record");
    error_place(error, path, 0, 0);
    return DPMF_ERR_PRIVACY_REFUSED;
}

static int look_at_header(void *self, const struct dpmf_table_record *first,
                          struct dpmf_error *error) {
    (void)self;
    return public_table_check_catalogue(first, error);
}

static int take_item(void *self, const struct dpmf_table_row *row, struct dpmf_error *error) {
    struct id_gather *gather = self;
    const struct dpmf_field *id = &row->field[0];
    if (row->line == 0) return refuse_store(row->file, error);
    uint64_t n_before = gather->ids.n;
    int64_t number = id_gather_add(gather, id->text, id->length, error);
    if (number < 0) return (int)number;
    if (gather->ids.n > n_before) return 0;
    return public_table_refuse_twice(row->file, row->line, id->column, error);
}

static int refuse_empty(const char *path, struct dpmf_error *error) {
    error_set(error, DPMF_ERR_INPUT_EMPTY, "there are no items in the catalogue");
    error_hint(error, "list every item that can be rated, one per row");
    error_place(error, strcmp(path, "-") == 0 ? "<stdin>" : path, 0, 0);
    return DPMF_ERR_INPUT_EMPTY;
}

/* Titles before the item, and a blank after the separator: no rating is of such an item. */
static void warn_of_blanks(const struct factor_ids *ids, const struct dpmf_run *run) {
    uint64_t n = 0;
    char text[200];
    if (!run || !run->warn) return;
    for (uint64_t i = 0; i < ids->n; i++)
        n += id_blanks_has(ids->bytes + ids->start[i], (size_t)(ids->start[i + 1] - ids->start[i]));
    if (n == 0) return;
    snprintf(text, sizeof text,
             "%llu of %llu ids of the catalogue have blanks around them, which count: are they so "
             "in the ratings?",
             (unsigned long long)n, (unsigned long long)ids->n);
    run->warn(run->warn_self, text);
}

int catalogue_read(const char *path, const struct dpmf_run *run, struct catalogue *catalogue,
                   struct dpmf_error *error) {
    struct id_gather gather = {0};
    *catalogue = (struct catalogue){0};
    int code = table_read_public(path, "item", run, look_at_header, take_item, &gather, error);
    if (code == 0 && gather.ids.n == 0) code = refuse_empty(path, error);
    if (code == 0) code = id_gather_finish(&gather, &catalogue->ids, error);
    if (code == 0) catalogue_doubts_warn(&catalogue->ids, run);
    if (code == 0) warn_of_blanks(&catalogue->ids, run);
    id_gather_free(&gather);
    return code;
}

/* ---- from the ratings ------------------------------------------------------------------------ */

static int compare_ids(const void *a, const void *b) {
    const struct store_item *x = a, *y = b;
    uint32_t n = x->id_length < y->id_length ? x->id_length : y->id_length;
    int order = memcmp(x->id, y->id, n);
    return order != 0 ? order : (x->id_length > y->id_length) - (x->id_length < y->id_length);
}

static int gather_items(const struct dpmf_store *store, struct store_item *items,
                        struct id_gather *gather, struct dpmf_error *error) {
    uint64_t n = store_n_items(store);
    for (uint64_t i = 0; i < n; i++) items[i] = store_item_at(store, i);
    qsort(items, (size_t)n, sizeof items[0], compare_ids);
    for (uint64_t i = 0; i < n; i++) {
        int64_t number = id_gather_add(gather, items[i].id, items[i].id_length, error);
        if (number < 0) return (int)number;
    }
    return 0;
}

int catalogue_from_store(const struct dpmf_store *store, struct catalogue *catalogue,
                         struct dpmf_error *error) {
    struct id_gather gather = {0};
    *catalogue = (struct catalogue){0};
    if (store_n_items(store) == 0) return refuse_empty(store_path(store), error);
    struct store_item *items = memory_alloc((size_t)store_n_items(store), sizeof items[0]);
    int code = items ? gather_items(store, items, &gather, error) : error_no_memory(error);
    if (code == 0) code = id_gather_finish(&gather, &catalogue->ids, error);
    catalogue->from_ratings = code == 0;
    id_gather_free(&gather);
    free(items);
    return code;
}

int catalogue_take(const char *path, const struct dpmf_store *store, const struct dpmf_run *run,
                   struct catalogue *catalogue, struct dpmf_error *error) {
    return path ? catalogue_read(path, run, catalogue, error)
                : catalogue_from_store(store, catalogue, error);
}

bool catalogue_is_rated(const struct catalogue *catalogue, const struct dpmf_store *store) {
    const uint64_t n = catalogue->ids.n;
    uint64_t n_rated = 0;
    for (uint64_t i = 0; i < store_n_items(store); i++) {
        struct store_item item = store_item_at(store, i);
        if (item.n_ratings == 0) continue;
        if (factor_ids_find(&catalogue->ids, item.id, item.id_length) == UINT64_MAX) return false;
        n_rated++;
    }
    return n_rated > 0 && n - n_rated <= catalogue_doubts_count(&catalogue->ids);
}

void catalogue_free(struct catalogue *catalogue) {
    factor_ids_free(&catalogue->ids);
    factor_ids_free(&catalogue->categories);
    factor_ids_free(&catalogue->numbers);
    free(catalogue->features);
    free(catalogue->described);
    *catalogue = (struct catalogue){0};
}
