/*
 * The monotonic clock of clock.h. Feeds reports and timed waits.
 */
#define _GNU_SOURCE
#include "base/clock.h"

#include <assert.h>
#include <errno.h>
#include <time.h>

static double seconds_of(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

double clock_now(void) { return seconds_of(CLOCK_MONOTONIC); }

double clock_of_thread(void) { return seconds_of(CLOCK_THREAD_CPUTIME_ID); }

#ifdef __APPLE__

/* Waits are by the time of day there, or for a while. */
bool clock_cond_init(pthread_cond_t *cond) { return pthread_cond_init(cond, NULL) == 0; }

bool clock_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, double until) {
    assert(until >= 0);
    const double left = until - clock_now();
    if (left <= 0) return false;
    struct timespec time = {.tv_sec = (time_t)left};
    time.tv_nsec = (long)((left - (double)time.tv_sec) * 1e9);
    return pthread_cond_timedwait_relative_np(cond, mutex, &time) != ETIMEDOUT;
}

#else

bool clock_cond_init(pthread_cond_t *cond) {
    pthread_condattr_t attributes;
    if (pthread_condattr_init(&attributes) != 0) return false;
    bool made = pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0 &&
                pthread_cond_init(cond, &attributes) == 0;
    pthread_condattr_destroy(&attributes);
    return made;
}

bool clock_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, double until) {
    assert(until >= 0);
    struct timespec time = {.tv_sec = (time_t)until};
    time.tv_nsec = (long)((until - (double)time.tv_sec) * 1e9);
    return pthread_cond_timedwait(cond, mutex, &time) != ETIMEDOUT;
}

#endif
