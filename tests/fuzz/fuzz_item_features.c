/*
 * Property: no file of item features makes its reader crash or read out of bounds, and what comes
 * out of one that is accepted is finite, at most 200 columns wide, of mean 0 and variance 1, and
 * the same bits when it is read again. The first byte of the input chooses how many items the
 * catalogue has: 0, 1, 2, ...
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "privacy/catalogue.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void write_file(const void *bytes, size_t n, char path[64], int *fd) {
    *fd = memfd_create("table", MFD_CLOEXEC);
    if (*fd < 0 || write(*fd, bytes, n) != (ssize_t)n) abort();
    snprintf(path, 64, "/proc/self/fd/%d", *fd);
}

static void make_catalogue(int n, struct catalogue *catalogue) {
    char text[2000], path[64];
    size_t length = 0;
    int fd;
    for (int i = 0; i < n; i++) length += (size_t)snprintf(text + length, 8, "%d\n", i);
    write_file(text, length, path, &fd);
    if (catalogue_read(path, NULL, catalogue, NULL) != 0) abort();
    close(fd);
}

static void check_columns(const struct catalogue *catalogue) {
    size_t n = (size_t)catalogue->ids.n, width = catalogue->n_features;
    if (width < 1 || width > 200) abort();
    for (size_t c = 0; c < width; c++) {
        double sum = 0, squares = 0;
        for (size_t i = 0; i < n; i++) {
            double x = catalogue->features[i * width + c];
            if (!isfinite(x)) abort();
            sum += x;
            squares += x * x;
        }
        if (fabs(sum) > 1e-6 * (double)n || fabs(squares / (double)n - 1) > 1e-6) abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[64];
    int fd;
    if (size < 1) return 0;
    struct catalogue one, two;
    struct dpmf_error error = {0};
    make_catalogue(1 + data[0] % 64, &one);
    make_catalogue(1 + data[0] % 64, &two);
    write_file(data + 1, size - 1, path, &fd);
    int code = catalogue_read_features(&one, path, NULL, &error);
    if (code != error.code || code > 0) abort();
    if ((code == 0) != (one.features != NULL)) abort();
    if (catalogue_read_features(&two, path, NULL, NULL) != code) abort();
    if (code == 0) {
        check_columns(&one);
        size_t bytes = (size_t)one.ids.n * one.n_features * sizeof(double);
        if (two.n_features != one.n_features || memcmp(one.features, two.features, bytes) != 0)
            abort();
    }
    catalogue_free(&one);
    catalogue_free(&two);
    close(fd);
    return 0;
}
