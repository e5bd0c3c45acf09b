/*
 * Whether a table of someone's own ratings is about one person. Columns such as `account` or
 * `Profile Name` are no part of what is read, so that the rows of several people would become one
 * person's history. Fed by own_ratings.c, and by the names of people that the readers of public
 * tables go by.
 */
#define _GNU_SOURCE
#include "own_people.h"

#include <stdlib.h>
#include <string.h>

#include "dpmf_text.h"
#include "model_use.h"
#include "report.h"

/* A column that could name people: its name, and its value in the first row that has one. */
struct people_column {
    size_t place;
    char *name, *first;
};

struct people {
    struct people_column *column;
    size_t n;
    bool has_names; /* the first row was read */
    const struct people_column *several;
    int64_t line; /* where the second value is */
};

enum { FOUND = 1, NOTHING_TO_DO, NO_MEMORY };

static int take_names(struct people *people, const struct dpmf_table_record *record) {
    people->has_names = true;
    if (record->n > 0 && strchr("{[", record->field[0].text[0])) return NOTHING_TO_DO; /* JSON */
    people->column = calloc(record->n + 1, sizeof *people->column);
    if (people->column == NULL) return NO_MEMORY;
    for (size_t i = 0; i < record->n; i++) {
        const struct dpmf_field *field = &record->field[i];
        const char *role = dpmf_table_column_role(field->text, field->length);
        if (role == NULL || (strcmp(role, "person") != 0 && strcmp(role, "user") != 0)) continue;
        struct people_column *column = &people->column[people->n++];
        column->place = i;
        column->name = strdup(field->text);
        if (column->name == NULL) return NO_MEMORY;
    }
    return people->n > 0 ? 0 : NOTHING_TO_DO;
}

static int take_row(void *self, const struct dpmf_table_record *record, struct dpmf_error *error) {
    struct people *people = self;
    (void)error;
    if (!people->has_names) return take_names(people, record);
    for (size_t i = 0; i < people->n; i++) {
        struct people_column *column = &people->column[i];
        if (column->place >= record->n) continue;
        const char *value = record->field[column->place].text;
        if (column->first == NULL) {
            column->first = strdup(value);
            if (column->first == NULL) return NO_MEMORY;
        } else if (strcmp(column->first, value) != 0) {
            people->several = column;
            people->line = record->line;
            return FOUND;
        }
    }
    return 0;
}

static void people_free(struct people *people) {
    for (size_t i = 0; i < people->n; i++) {
        free(people->column[i].name);
        free(people->column[i].first);
    }
    free(people->column);
}

int own_people_check(struct invocation *invocation, const char *path, const char *name) {
    struct people people = {0};
    struct dpmf_error error = {0};
    int status = STATUS_DONE;
    int rc = dpmf_table_read_whole(path, &invocation->run, take_row, &people, &error);
    if (rc == NO_MEMORY)
        status = model_use_no_memory();
    else if (rc == FOUND)
        status = terminal_error_print(
            STATUS_INPUT, "leave one person's rows in it; if all of them are, take the column out",
            "%s:%lld: the file is about several people: its column \"%.80s\" has several values",
            name, (long long)people.line, people.several->name);
    else if (rc < 0 && people.n > 0) { /* it cannot be known whose the rows are */
        if (strcmp(error.file, path) == 0) snprintf(error.file, sizeof error.file, "%s", name);
        status = report_error_print(invocation, &error);
    }
    people_free(&people);
    return status;
}
