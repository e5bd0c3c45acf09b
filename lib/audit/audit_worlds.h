/*
 * Whole worlds, compared: the same ratings with one person and without, each taken through
 * everything that dpmf train does, from the text to the file. What the comparison shows, and why it
 * is enough, is in audit_worlds.c.
 */
#ifndef DPMF_AUDIT_AUDIT_WORLDS_H
#define DPMF_AUDIT_AUDIT_WORLDS_H

#include "audit/transcript.h"
#include "model/release.h"

/* What all worlds share. */
struct audit_setting {
    const struct dpmf_input_options *input;
    const struct dpmf_release_options
        *options;               /* options with an insecure seed: noise plays no part here */
    const struct dpmf_run *run; /* settings of the run; in a cluster all ranks run it together */
    const char *output;         /* path where a release may be written temporarily */
};

/* What one world made. */
struct audit_world {
    struct transcript transcript;
    struct catalogue catalogue;
    struct release release;    /* its file; of rank 0 alone */
    char *statement;           /* the file's statement, without its random id */
    bool is_marked;            /* whether it is marked NOT PRIVATE */
    struct dpmf_error failure; /* why there is no file: code 0 when there is one */
};

/* Runs a world; `replay` NULL: with noise of its own. A failure that its people could have caused
 * is not an error here: it is kept, to be compared. Free it in any case. */
int audit_world_run(const struct audit_setting *setting, const char *ratings,
                    const struct transcript *replay, struct audit_world *world,
                    struct dpmf_error *error);
void audit_world_free(struct audit_world *world);

enum { AUDIT_REASON_MAX = DPMF_AUDIT_TEXT_MAX };

/* What was found; all numbers are of all ranks. */
struct audit_difference {
    unsigned findings;             /* at most one bit of enum dpmf_audit_finding */
    char reason[AUDIT_REASON_MAX]; /* a sentence about it */
    uint64_t rounds, numbers;      /* rounds and numbers that were compared */
    double norm; /* largest norm of the person's contribution, in units of the bound */
};

/* The other two worlds replay the first. `scale` is the share of the norm bound that the person may
 * have, 1 without a wish. */
int audit_worlds_compare(const struct audit_setting *setting, const struct audit_world *without,
                         const struct audit_world *with, const struct audit_world *alone,
                         double scale, struct audit_difference *difference,
                         struct dpmf_error *error);

#endif
