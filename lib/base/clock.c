/*
 * The monotonic clock of clock.h. Feeds reports and timed waits.
 */
#define _GNU_SOURCE
#include "base/clock.h"

#include <time.h>

double clock_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}
