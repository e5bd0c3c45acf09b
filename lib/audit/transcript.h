/*
 * The rounds of one world: their exact sums, which nobody else ever sees, and the noisy ones that
 * were published. Written by watching a private run (release_make.h); compared in audit_worlds.c.
 */
#ifndef DPMF_AUDIT_TRANSCRIPT_H
#define DPMF_AUDIT_TRANSCRIPT_H

#include "release/release_make.h"

struct transcript_round {
    size_t n;                     /* coordinates */
    size_t first, end;            /* coordinates of this process */
    struct noisy_sum_shape shape; /* its name is not kept */
    uint64_t sigma;
    int64_t *exact;     /* n; 0 outside of first .. end */
    int64_t *published; /* n; NULL in a world that replays another's */
};

struct transcript {
    /* NULL, or the world whose published sums take the place of this one's own, so that both have
     * the same public state in every round. */
    const struct transcript *replay;
    size_t n, capacity;
    struct transcript_round *rounds;
};

/* The watch that writes it. A run whose rounds differ from those it replays ends with
 * DPMF_ERR_PRIVACY_ACCUSED. */
struct noisy_sum_watch transcript_watch(struct transcript *transcript);
void transcript_free(struct transcript *transcript);

#endif
