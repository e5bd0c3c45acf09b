/*
 * Property: no table, however made, makes its reader crash or read out of bounds; every field it
 * gives is ended by NUL, ids are neither empty nor too long, titles are UTF-8, and lines never go
 * back. The first byte of the input chooses which columns are wanted.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/utf8.h"
#include "dpmf.h"
#include "dpmf_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct reading {
    const char *columns;
    int64_t line;
};

static void check_utf8(const struct dpmf_field *field) {
    for (size_t i = 0, step; i < field->length; i += step) {
        step = utf8_sequence(field->text + i, field->length - i);
        if (step == 0) abort();
    }
}

static int check_row(void *self, const struct dpmf_table_row *row, struct dpmf_error *error) {
    struct reading *reading = self;
    (void)error;
    if (row->line != 0 && row->line <= reading->line) abort();
    reading->line = row->line;
    size_t i = 0;
    for (const char *name = reading->columns; *name != '\0'; i++) {
        size_t n = strcspn(name, ",");
        const struct dpmf_field *field = &row->field[i];
        if (field->text[field->length] != '\0') abort();
        if ((*name == 'u' || *name == 'i') && (field->length == 0 || field->length > 64 * 1024))
            abort();
        if (*name == 't') check_utf8(field);
        name += n + (name[n] == ',');
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const columns[] = {"item", "user,item", "item,title", "item,rating"};
    char path[64];
    if (size < 1) return 0;
    struct reading reading = {columns[data[0] % 4], 0};
    int fd = memfd_create("table", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data + 1, size - 1) != (ssize_t)(size - 1)) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct dpmf_error error = {0};
    int code = dpmf_table_read(path, reading.columns, NULL, check_row, &reading, &error);
    if (code != error.code || code > 0) abort();
    close(fd);
    return 0;
}
