/*
 * Which item of a catalogue a title from elsewhere is, and how sure that is.
 */
#ifndef DPMF_TITLES_TITLE_MATCH_H
#define DPMF_TITLES_TITLE_MATCH_H

#include "titles/title_index.h"

/* What is looked for. */
struct title_wanted {
    struct title_part title;
    struct title_part other;   /* another name; may be empty */
    struct title_part creator; /* author or artist; may be empty */
    int32_t year;              /* 0: unknown */
    bool is_loose_year;        /* the year may be that of another edition, as with books */
    bool is_series;            /* the title may be followed by a season and an episode */
};

/* What was found. */
struct title_found {
    enum dpmf_match match;
    uint32_t item; /* the item, where the match is likely or sure */
    uint32_t candidates[DPMF_CANDIDATES_MAX];
    uint32_t n_candidates; /* number of candidates, where it is unsure */
};

/* There must be entries. */
void title_match(const struct dpmf_titles *titles, const struct title_wanted *wanted,
                 struct title_found *found);

#endif
