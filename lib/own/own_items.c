/*
 * Lists of items: those to choose from, to leave out, or to predict. A list is a table of which the
 * items alone are read, so that whatever else is in it must be no item: several of them in a line
 * would be cut down to the first. Fed by a table and a model; feeds recommend and predict.
 */
#include <stdio.h>
#include <string.h>

#include "base/arguments.h"
#include "base/error.h"
#include "dpmf_text.h"
#include "tables/table_file.h"

struct item_list {
    const struct dpmf_model *model;
    const struct dpmf_run *run;
    int (*take)(void *self, const struct dpmf_table_row *row, struct dpmf_error *error);
    void *self;
    bool has_warned; /* whether something was warned of */
};

static void warn(struct item_list *list, const char *file, const char *what) {
    char text[DPMF_ERROR_TEXT_MAX];
    if (list->has_warned || !list->run->warn) return;
    list->has_warned = true;
    dpmf_error_write(text, sizeof text, "%.400s %s", file, what);
    list->run->warn(list->run->warn_self, text);
}

static void warn_of_users(struct item_list *list, const char *file) {
    warn(list, file,
         "is a table of what users rated: as a list of items it has the items of all of them");
}

static bool names(const struct dpmf_table_record *record, const char *wanted) {
    for (size_t i = 0; i < record->n; i++) {
        const char *role = dpmf_table_column_role(record->field[i].text, record->field[i].length);
        if (role && strcmp(role, wanted) == 0) return true;
    }
    return false;
}

static int look_at_header(void *self, const struct dpmf_table_record *first,
                          struct dpmf_error *error) {
    (void)error;
    if (names(first, "item") && names(first, "user")) warn_of_users(self, first->file);
    return 0;
}

/* An id in a list that a person wrote, without the blanks around it. */
static struct dpmf_field trimmed(const struct dpmf_field *field) {
    struct dpmf_field id = *field;
    while (id.length > 0 && id.text[0] == ' ') id.text++, id.length--, id.column++;
    while (id.length > 0 && id.text[id.length - 1] == ' ') id.length--;
    return id;
}

static int look_at_row(void *self, const struct dpmf_table_record *record,
                       struct dpmf_error *error) {
    struct item_list *list = self;
    if (record->n < 2) return 0;
    const struct dpmf_field second = trimmed(&record->field[1]);
    if (second.length == 0) return 0;
    if (dpmf_model_find_item(list->model, second.text, second.length) == UINT64_MAX) {
        warn(list, record->file,
             "has no header that names the items: its first column is read, and no other");
        return 0;
    }
    error_set(error, DPMF_ERR_INPUT_COLUMNS,
              "the second column of this list has an item of the model too");
    error_hint(error, "list one item a line, or begin with a line that names the columns, such as "
                      "item,title");
    error_place(error, record->file, record->line, second.column);
    return DPMF_ERR_INPUT_COLUMNS;
}

static int take_item(void *self, const struct dpmf_table_row *row, struct dpmf_error *error) {
    struct item_list *list = self;
    if (row->line == 0) warn_of_users(list, row->file);
    return list->take(list->self, row, error);
}

int dpmf_items_read(const struct dpmf_model *model, const char *path, const struct dpmf_run *run,
                    int (*take)(void *self, const struct dpmf_table_row *row,
                                struct dpmf_error *error),
                    void *self, struct dpmf_error *error) {
    struct dpmf_run own_run;
    int code = arguments_check(error, "model path", model, path);
    if (code == 0) code = run_take(&own_run, run, error);
    if (code < 0) return code;
    if (!take) return arguments_check(error, "take", NULL);
    struct item_list list = {.model = model, .run = &own_run, .take = take, .self = self};
    return table_read_list(path, &own_run, look_at_header, look_at_row, take_item, &list, error);
}
