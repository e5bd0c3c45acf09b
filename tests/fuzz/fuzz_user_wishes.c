/*
 * Property: no file of users' wishes, for ratings of any form, makes its reader crash or read out
 * of bounds; every wish that is accepted is finite and at least 0; every id is found, in one place,
 * is one that the ratings could hold, spelled as they would spell it; and what is wrong is said
 * without anything out of the file. The first byte says of which form the ratings' ids are.
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

/* Whether the id is one of those that it would be spelled as itself. */
static void check_id(const struct id_form *form, const char *id, size_t n) {
    struct id_text again[ID_SPELLINGS];
    const char *why;
    int code;
    size_t count = id_form_spell(form, id, n, again, &code, &why);
    for (size_t i = 0; i < count; i++)
        if (again[i].n == n && memcmp(again[i].text, id, n) == 0) return;
    abort();
}

static void check_wishes(const struct user_wishes *wishes, const struct id_form *form) {
    uint64_t n_ids = 0;
    for (uint64_t i = 0; i < wishes->ids.n; i++) {
        const char *id = wishes->ids.bytes + wishes->ids.start[i];
        size_t length = (size_t)(wishes->ids.start[i + 1] - wishes->ids.start[i]);
        if (!isfinite(wishes->epsilon[i]) || wishes->epsilon[i] < 0) abort();
        if (length == 0 || factor_ids_find(&wishes->ids, id, length) != i) abort();
        check_id(form, id, length);
    }
    for (uint64_t i = 0; i < wishes->n; i++) {
        const struct wish *wish = &wishes->wishes[i];
        if (wish->n < 1 || wish->n > ID_SPELLINGS) abort();
        for (size_t k = 0; k < wish->n; k++)
            if (wish->id[k] >= wishes->ids.n) abort();
        n_ids += wish->n;
    }
    if (wishes->ids.n > n_ids || wishes->n > wishes->ids.n) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[64];
    struct user_wishes wishes;
    struct dpmf_error error = {0};
    const uint8_t flags = size > 0 ? data[0] : 0;
    const struct id_form form = {
        .takes_text = !(flags & 1),
        .takes_whole = flags & 1 || flags & 2,
        .from_one = flags & 4,
        .is_utf8 = flags & 8,
        .without = flags & 16 ? "::" : NULL,
    };
    int fd = memfd_create("wishes", MFD_CLOEXEC);
    if (fd < 0 || (size > 0 && write(fd, data + 1, size - 1) != (ssize_t)size - 1)) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int code = user_wishes_read(path, &form, NULL, &wishes, &error);
    if (code != error.code || code > 0) abort();
    if (code < 0 && (wishes.ids.n != 0 || wishes.epsilon || wishes.wishes)) abort();
    for (const char *at = error.message; *at; at++)
        if (*at < ' ' || *at > '~') abort(); /* words of ours alone */
    check_wishes(&wishes, &form);
    user_wishes_free(&wishes);
    close(fd);
    return 0;
}
