/*
 * The one clock: how long something took, and until when to wait. For dates, which people set,
 * there is time().
 */
#ifndef DPMF_BASE_CLOCK_H
#define DPMF_BASE_CLOCK_H

#include <pthread.h>
#include <stdbool.h>

/* Seconds since some moment in the past. They never go back. */
double clock_now(void);

/* Seconds that this thread has had of a core: what others use of it does not count. */
double clock_of_thread(void);

/* A condition variable that is waited for by this clock. @return whether there was memory */
bool clock_cond_init(pthread_cond_t *cond);

/* Waits for it until clock_now() is `until`. @return false when that time has come; true may be a
 * spurious wake-up */
bool clock_wait(pthread_cond_t *cond, pthread_mutex_t *mutex, double until);

#endif
