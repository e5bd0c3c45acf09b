/*
 * Matching a title with those of a catalogue: keys are looked up from strict to loose, and each
 * item that shares one gets a cost for what was ignored and for its year. The cheapest item
 * wins; where two are equally cheap, nobody knows. docs/titles.md has the costs and what they mean.
 * Fed by the diary.
 */
#include "titles/title_match.h"

#include <string.h>

enum {
    COST_EDITION = 1,      /* brackets or words about an edition were ignored */
    COST_SUBTITLE = 2,     /* a subtitle was */
    COST_YEAR_UNKNOWN = 3, /* one of the two has no year */
    COST_YEAR_NEAR = 3,    /* the years are next to each other */
    COST_YEAR_OTHER = 10,  /* the years are further apart */
    COST_EPISODE = 1,      /* season and episode were */
    SURE_MOST = 1,         /* the largest cost of a match that is sure */
    LIKELY_MOST = 4,       /* the largest cost of a match that is likely */
    COST_SCALE = 4,        /* among equal costs the stricter level wins */
};

/* The cheapest items so far. */
struct matching {
    const struct dpmf_titles *titles;
    const struct title_wanted *wanted;
    enum title_level level; /* level of the key that is looked up */
    int extra;              /* cost of how that key was made */
    bool has_creator;       /* the creator is part of the key */
    struct {
        uint32_t item;
        int cost;
    } best[DPMF_CANDIDATES_MAX + 1];
    size_t n;
};

/* ---- costs ----------------------------------------------------------------------------------- */

static int year_cost(const struct matching *matching, uint32_t item) {
    struct title_parts parts;
    const struct title_part title = titles_title(matching->titles, item);
    const int32_t wanted = matching->wanted->year;
    if (matching->has_creator) return 0;
    title_parts_find(title.text, title.n, &parts);
    if (wanted == 0 || parts.year == 0) return COST_YEAR_UNKNOWN;
    if (wanted == parts.year) return 0;
    if (matching->wanted->is_loose_year) return COST_YEAR_UNKNOWN;
    return wanted - parts.year <= 1 && parts.year - wanted <= 1 ? COST_YEAR_NEAR : COST_YEAR_OTHER;
}

static int level_cost(enum title_level level) {
    return level == TITLE_SUBTITLE ? COST_SUBTITLE : level == TITLE_EDITION ? COST_EDITION : 0;
}

static void keep(struct matching *matching, uint32_t item, int cost) {
    size_t at = 0;
    while (at < matching->n && matching->best[at].item != item) at++;
    if (at < matching->n && matching->best[at].cost <= cost) return;
    if (at == matching->n) {
        if (matching->n <= DPMF_CANDIDATES_MAX)
            matching->n++;
        else if (matching->best[--at].cost <= cost)
            return;
    }
    for (; at > 0 && matching->best[at - 1].cost > cost; at--)
        matching->best[at] = matching->best[at - 1];
    matching->best[at].item = item;
    matching->best[at].cost = cost;
}

static void take_item(void *self, uint32_t item, enum title_level level) {
    struct matching *matching = self;
    const enum title_level loosest = level > matching->level ? level : matching->level;
    const int cost = level_cost(loosest) + year_cost(matching, item) + matching->extra;
    keep(matching, item, COST_SCALE * cost + (int)loosest);
}

/* ---- keys ------------------------------------------------------------------------------------ */

static void look_up(struct matching *matching, const struct title_part *title) {
    char key[TITLE_KEY_ROOM];
    struct title_parts parts;
    title_parts_find(title->text, title->n, &parts);
    for (unsigned level = 0; level < TITLE_LEVELS; level++) {
        matching->level = (enum title_level)level;
        const size_t n = title_key(&parts, matching->level, key);
        titles_entries_find(matching->titles, key, n, take_item, matching);
    }
}

/* The title with its creator, in the orders that catalogues have. */
static void look_up_creator(struct matching *matching) {
    static const char *const between[] = {" ", " ", " by "};
    const struct title_part *title = &matching->wanted->title,
                            *creator = &matching->wanted->creator;
    char text[TITLE_BYTES];
    if (creator->n == 0 || title->n + creator->n + 4 > sizeof text) return;
    matching->has_creator = true;
    for (size_t i = 0; i < sizeof between / sizeof between[0]; i++) {
        const struct title_part *first = i == 0 ? creator : title, *last = i == 0 ? title : creator;
        const size_t gap = strlen(between[i]);
        memcpy(text, first->text, first->n);
        memcpy(text + first->n, between[i], gap);
        memcpy(text + first->n + gap, last->text, last->n);
        look_up(matching, &(struct title_part){text, first->n + gap + last->n});
    }
    matching->has_creator = false;
}

/* Whether a part of an episode's name counts seasons. "Part 2" may also end the name of a film:
 * it counts only where an episode follows. */
static bool is_season(const struct title_part *part, bool has_more) {
    static const char *const certain[] = {"season", "series",    "limited series", "staffel",
                                          "saison", "temporada", "stagione",       "miniseries"};
    static const char *const possible[] = {"part", "volume", "chapter", "book", "collection"};
    char folded[TITLE_FOLD_ROOM];
    const size_t n = title_fold(part->text, part->n, folded);
    for (size_t i = 0; i < sizeof certain / sizeof certain[0]; i++)
        if (n >= strlen(certain[i]) && memcmp(folded, certain[i], strlen(certain[i])) == 0)
            return true;
    for (size_t i = 0; has_more && i < sizeof possible / sizeof possible[0]; i++)
        if (n >= strlen(possible[i]) && memcmp(folded, possible[i], strlen(possible[i])) == 0)
            return true;
    return false;
}

/* "A Show: Season 2: An Episode" is the show. */
static void look_up_series(struct matching *matching) {
    const struct title_part title = matching->wanted->title;
    for (size_t at = 1; at + 1 < title.n; at++) {
        if (title.text[at] != ':') continue;
        const char *from = title.text + at + 1, *end = title.text + title.n;
        const char *colon = memchr(from, ':', (size_t)(end - from));
        const struct title_part part = {from, (size_t)((colon ? colon : end) - from)};
        if (!is_season(&part, colon != NULL)) continue;
        matching->extra = COST_EPISODE;
        look_up(matching, &(struct title_part){title.text, at});
        matching->extra = 0;
        return;
    }
}

/* ---- the verdict ----------------------------------------------------------------------------- */

static void settle(const struct matching *matching, struct title_found *found) {
    *found = (struct title_found){.match = DPMF_MATCH_NONE};
    if (matching->n == 0) return;
    const int cost = matching->best[0].cost / COST_SCALE;
    const bool is_alone = matching->n == 1 || matching->best[1].cost > matching->best[0].cost;
    if (is_alone && cost <= LIKELY_MOST) {
        found->match = cost <= SURE_MOST ? DPMF_MATCH_SURE : DPMF_MATCH_LIKELY;
        found->item = matching->best[0].item;
        return;
    }
    found->match = DPMF_MATCH_UNSURE;
    for (size_t i = 0; i < matching->n && i < DPMF_CANDIDATES_MAX; i++)
        found->candidates[found->n_candidates++] = matching->best[i].item;
}

void title_match(const struct dpmf_titles *titles, const struct title_wanted *wanted,
                 struct title_found *found) {
    struct title_wanted own = *wanted;
    struct matching matching = {.titles = titles, .wanted = &own};
    if (own.year == 0) { /* it may stand in the title */
        struct title_parts parts;
        title_parts_find(own.title.text, own.title.n, &parts);
        own.year = parts.year;
    }
    look_up_creator(&matching);
    look_up(&matching, &wanted->title);
    if (wanted->other.n > 0) look_up(&matching, &wanted->other);
    if (wanted->is_series) look_up_series(&matching);
    settle(&matching, found);
}
