/*
 * The one clock: how long something took, and until when to wait. For dates, which people set, there is time().
 */
#ifndef DPMF_BASE_CLOCK_H
#define DPMF_BASE_CLOCK_H

/* Seconds since some moment in the past. They never go back. */
double clock_now(void);

#endif
