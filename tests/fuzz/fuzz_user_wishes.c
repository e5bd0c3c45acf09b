/*
 * Property: no file of users' wishes makes its reader crash or read out of bounds; every wish that
 * is accepted is finite and at least 0, and every user is found by its id, in one place.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "privacy/catalogue.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[64];
    struct user_wishes wishes;
    struct dpmf_error error = {0};
    int fd = memfd_create("wishes", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int code = user_wishes_read(path, NULL, &wishes, &error);
    if (code != error.code || code > 0) abort();
    if (code < 0 && (wishes.ids.n != 0 || wishes.epsilon)) abort();
    for (uint64_t i = 0; i < wishes.ids.n; i++) {
        const char *id = wishes.ids.bytes + wishes.ids.start[i];
        size_t length = (size_t)(wishes.ids.start[i + 1] - wishes.ids.start[i]);
        if (!isfinite(wishes.epsilon[i]) || wishes.epsilon[i] < 0) abort();
        if (length == 0 || factor_ids_find(&wishes.ids, id, length) != i) abort();
    }
    user_wishes_free(&wishes);
    close(fd);
    return 0;
}
