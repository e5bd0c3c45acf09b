/*
 * Whether a table of someone's own ratings is about one person. Columns such as `account` or
 * `Profile Name` are no part of what is read, so that the rows of several people would become one
 * person's history. Fed by own_read.c, and by the names of people that the readers of public tables
 * go by.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "dpmf_text.h"
#include "own/own.h"

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
    int64_t line; /* line of the second value */
};

enum { FOUND = 1, NOTHING_TO_DO, NO_MEMORY };

static int take_names(struct people *people, const struct dpmf_table_record *record) {
    people->has_names = true;
    if (record->n > 0 && strchr("{[", record->field[0].text[0])) return NOTHING_TO_DO; /* JSON */
    people->column = memory_alloc_zero(record->n + 1, sizeof *people->column);
    if (!people->column) return NO_MEMORY;
    for (size_t i = 0; i < record->n; i++) {
        const struct dpmf_field *field = &record->field[i];
        const char *role = dpmf_table_column_role(field->text, field->length);
        if (!role || (strcmp(role, "person") != 0 && strcmp(role, "user") != 0)) continue;
        struct people_column *column = &people->column[people->n++];
        column->place = i;
        column->name = strdup(field->text);
        if (!column->name) return NO_MEMORY;
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
        if (!column->first) {
            column->first = strdup(value);
            if (!column->first) return NO_MEMORY;
        } else if (strcmp(column->first, value) != 0) {
            people->several = column;
            people->line = record->line;
            return FOUND;
        }
    }
    return 0;
}

static int refuse(const struct own_reading *reading, const struct people *people,
                  struct dpmf_error *error) {
    int code = error_set(error, DPMF_ERR_INPUT_COUNT,
                         "the file is about several people: its column \"%.80s\" has several "
                         "values",
                         people->several->name);
    error_hint(error,
               "keep only one person's rows; if all rows are one person's, remove the column");
    error_place(error, reading->name, people->line, 0);
    return code;
}

static void people_free(struct people *people) {
    for (size_t i = 0; i < people->n; i++) {
        free(people->column[i].name);
        free(people->column[i].first);
    }
    free(people->column);
}

int own_people_check(const struct own_reading *reading, struct dpmf_error *error) {
    struct people people = {0};
    struct dpmf_error wrong = {0};
    int rc = dpmf_table_read_whole(reading->path, reading->run, take_row, &people, &wrong);
    int code = 0;
    if (rc == NO_MEMORY)
        code = error_no_memory(error);
    else if (rc == FOUND)
        code = refuse(reading, &people, error);
    else if (rc < 0 && people.n > 0) { /* it cannot be known whose the rows are */
        code = rc;
        if (error) *error = wrong;
    }
    people_free(&people);
    return own_fail(reading, code, error);
}
