/*
 * The one place that reads $TMPDIR, which a program that runs with another's rights does not trust.
 * Feeds spills, nameless stores, trials and audits.
 */
#define _GNU_SOURCE
#include "files/temporary.h"

#include <stdlib.h>
#include <unistd.h>

static const char *configured_or(const char *place) {
    const char *configured = secure_getenv("TMPDIR");
    return configured && *configured ? configured : place;
}

const char *temporary_directory(void) { return configured_or("/tmp"); }

const char *temporary_directory_fast(void) {
    return configured_or(access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
}
