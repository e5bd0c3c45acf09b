/*
 * A diary: what someone rated, watched, read or heard elsewhere. Files of services become records,
 * records become entries, a title each, and entries are matched with items.
 */
#ifndef DPMF_TITLES_DIARY_H
#define DPMF_TITLES_DIARY_H

#include "dpmf_client.h"
#include "titles/diary_date.h"
#include "titles/title_match.h"

/* What kind of things a service is about, which decides how they are matched. */
enum diary_kind { DIARY_FILMS, DIARY_BOOKS, DIARY_MUSIC, DIARY_ANY };

/* A service and its scale. */
struct diary_service {
    const char *name;
    enum diary_kind kind;
    double scale_min, scale_max; /* scale of its ratings; both 0: the model's */
    bool zero_is_none;           /* whether a rating of 0 means none */
    bool has_episodes;           /* titles may name seasons and episodes */
};

/* A row of a file. Its texts live until the next one. */
struct diary_record {
    const struct diary_service *service;
    struct title_part title, other, creator, album, id;
    int64_t time; /* in seconds since 1970; DIARY_NO_TIME: unknown */
    int32_t year;
    double rating; /* NaN: none */
    uint64_t plays;
    int64_t line;
    bool is_wish;   /* whether it is only wanted */
    bool is_trifle; /* a trailer, a podcast, a few seconds of a song */
};

enum { DIARY_UNUSED = 200 };

/* Where a text is among all texts of a diary: they may move. */
struct diary_text {
    size_t at, n;
};

struct diary_entry {
    const struct diary_service *service;
    struct diary_text title, other, creator, album, id;
    int32_t year;
    double rating;
    int64_t time; /* time of the rating */
    uint64_t plays;
    int64_t line;
    enum dpmf_match match;
    uint64_t item;
    uint32_t n_candidates;
    uint32_t candidates[DPMF_CANDIDATES_MAX];
};

struct dpmf_diary {
    struct diary_entry *entries;
    size_t n, capacity;
    char *texts;
    size_t texts_size, texts_capacity;
    uint32_t *slots; /* a hash table of entries: number + 1, or 0 */
    size_t n_slots;
    struct dpmf_diary_info info;
    char unused[DIARY_UNUSED]; /* columns that are not used, "" where there are none */

    /* The owner of the history, where a service names its people, over all its files. */
    const struct diary_service *person_service; /* NULL: nobody is named yet */
    uint64_t person;                            /* hash of the name */

    /* The model that it was matched with. */
    bool is_matched;
    uint64_t items;
    double min, max; /* its scale */
    bool ranks;      /* whether it learns from events */
    bool of_events;  /* and these were no ratings */
    double event;    /* value of an event */
    bool has_scale;  /* whether its scale is known; not for releases of events */
};

static inline struct title_part diary_text(const struct dpmf_diary *diary,
                                           const struct diary_text *text) {
    return (struct title_part){diary->texts + text->at, text->n};
}

/* Adds what a row says. */
int diary_record_add(struct dpmf_diary *diary, const struct diary_record *record,
                     struct dpmf_error *error);

/* Counts a row that cannot be read; `fault` is a constant. */
void diary_record_reject(struct dpmf_diary *diary, int64_t line, const char *fault);

/* Refuses the row of another person than those before in the files of that service.
 *
 * @param person  the name
 * @param column  what the file calls it
 */
int diary_person_check(struct dpmf_diary *diary, const struct diary_service *service,
                       const struct title_part *person, const struct title_part *column,
                       const char *name, int64_t line, struct dpmf_error *error);

/* The refusal itself. */
int diary_refuse_people(const struct title_part *column, const char *name, int64_t line,
                        struct dpmf_error *error);

/* ---- files ----------------------------------------------------------------------------------- */

/* The service whose table begins like this, or NULL. */
const char *diary_table_service(const char *bytes, size_t n);
int diary_table_read(struct dpmf_diary *diary, const char *bytes, size_t n, const char *name,
                     struct dpmf_error *error);

/* The service whose JSON begins like this, or NULL. */
const char *diary_json_service(const char *bytes, size_t n);
int diary_json_read(struct dpmf_diary *diary, const char *bytes, size_t n, const char *name,
                    struct dpmf_error *error);

/* A service by its name. */
const struct diary_service *diary_service_find(const char *name);

/* A rating on the model's scale: in proportion where both count from about 0, as stars do, and from
 * end to end otherwise. */
double diary_rescale(const struct diary_service *service, double rating, double min, double max);

#endif
