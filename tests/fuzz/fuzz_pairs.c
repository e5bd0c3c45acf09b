/*
 * Property: no file, be it a table, ratings in blocks, JSON lines or anything else, makes the
 * reader of pairs crash or read out of bounds; both ids of a pair are ended by NUL, neither empty
 * nor too long.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dpmf.h"
#include "dpmf_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int check_pair(void *self, const struct dpmf_table_row *row, struct dpmf_error *error) {
    (void)self, (void)error;
    for (int i = 0; i < 2; i++) {
        const struct dpmf_field *field = &row->field[i];
        if (field->text[field->length] != '\0') abort();
        if (field->length == 0 || field->length > 64 * 1024) abort();
    }
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[64];
    int fd = memfd_create("pairs", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct dpmf_error error = {0};
    int code = dpmf_pairs_read(path, NULL, NULL, check_pair, NULL, &error);
    if (code != 0 && (code != error.code || code > 0)) abort();
    close(fd);
    return 0;
}
