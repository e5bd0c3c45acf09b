/*
 * Titles that are published beside a release: a table of items and titles, held to what a catalogue
 * is held to. A table of ratings given by mistake would publish who rated what, as titles. Feeds
 * the page, the server and what is exported.
 */
#include "base/arguments.h"
#include "base/error.h"
#include "dpmf.h"
#include "dpmf_text.h"
#include "privacy/id_gather.h"
#include "privacy/public_table.h"
#include "tables/table_file.h"

struct reading {
    int (*take)(void *self, const struct dpmf_table_row *row, struct dpmf_error *error);
    void *self;
    struct id_gather items; /* those named so far */
};

static int look_at_header(void *self, const struct dpmf_table_record *first,
                          struct dpmf_error *error) {
    (void)self;
    return public_table_check_titles(first, error);
}

static int take_title(void *self, const struct dpmf_table_row *row, struct dpmf_error *error) {
    struct reading *reading = self;
    const struct dpmf_field *id = &row->field[0];
    if (row->line == 0) {
        error_set(error, DPMF_ERR_PRIVACY_REFUSED, "a ratings store is not a table of titles");
        error_hint(error, "give a table of items and their titles");
        error_place(error, row->file, 0, 0);
        return DPMF_ERR_PRIVACY_REFUSED;
    }
    uint64_t n_before = reading->items.ids.n;
    int64_t number = id_gather_add(&reading->items, id->text, id->length, error);
    if (number < 0) return (int)number;
    if (reading->items.ids.n == n_before)
        return public_table_refuse_twice(row->file, row->line, id->column, error);
    return reading->take(reading->self, row, error);
}

int dpmf_table_read_titles(const char *path, const struct dpmf_run *run,
                           int (*take)(void *self, const struct dpmf_table_row *row,
                                       struct dpmf_error *error),
                           void *self, struct dpmf_error *error) {
    struct dpmf_run own_run;
    int code = arguments_check(error, "path", path);
    if (code == 0) code = run_take(&own_run, run, error);
    if (code < 0) return code;
    if (!take) return arguments_check(error, "take", NULL);
    struct reading reading = {.take = take, .self = self};
    code = table_read_public(path, "item,title", &own_run, look_at_header, take_title, &reading,
                             error);
    id_gather_free(&reading.items);
    return code;
}
