/*
 * Made-up titles for a synthetic catalogue.
 */
#ifndef DPMF_SYNTH_TITLES_H
#define DPMF_SYNTH_TITLES_H

#include "dpmf.h"

enum { TITLE_MAX = 128 };

/* Where in the list of all titles a catalogue begins and how it walks through it. */
struct titles {
    uint64_t start, stride;
};

void titles_init(struct titles *titles, uint64_t seed);

/* Title n in UTF-8, e.g. "The Silver Orchard (1987)", terminated by NUL; no two are the same.
 * @return its length */
size_t titles_make(const struct titles *titles, uint64_t n, char text[TITLE_MAX]);

#endif
