/*
 * One person's own ratings, while they are read: what the readers of this folder share. Each reader
 * takes one form of them (pairs, a table, a history of another service, anything that can be
 * imported) and adds what it finds to `own`.
 */
#ifndef DPMF_OWN_OWN_H
#define DPMF_OWN_OWN_H

#include "dpmf.h"

enum { OWN_UNKNOWN_MAX = 64 };

struct dpmf_own {
    struct dpmf_own_rating *ratings;
    size_t n, capacity;
    uint64_t unknown;                    /* ratings of items that the model does not know */
    char first_unknown[OWN_UNKNOWN_MAX]; /* the first such item, where it is known */
    uint64_t replaced;                   /* ratings of an item that is rated again further down */
    uint64_t skipped;                    /* bad records left out */
    uint64_t outside;                    /* ratings outside the model's scale */
    uint64_t listed;                     /* titles on a list, kept or hidden and not rated */
    bool has_list;                       /* the table has a column of lists, as the page saves it */
    bool has_answers;                    /* a column such as "liked", and none of ratings */
    bool is_item_first;                  /* three columns without names are item, rating and time */
    struct dpmf_diary *diary;            /* a history from another service; NULL: none */
};

struct own_reading {
    const struct dpmf_model *model;
    struct dpmf_model_info info;
    const char *const *titles;              /* by item; NULL: there is no catalogue */
    const struct dpmf_input_options *input; /* how ratings are read */
    const struct dpmf_run *run;
    struct dpmf_own *own;
    const char *path; /* path to read */
    const char *name; /* name in messages */
    bool are_pairs;   /* pairs in the text itself, not in a file */
    bool ranks;       /* the model learns from events: items need no ratings */
    double event;     /* value of an event in such a model */
};

/* Adds the rating of an item, or counts it where the model does not know the item. */
int own_add(const struct own_reading *reading, const char *id, size_t length, double rating,
            struct dpmf_error *error);

/* Parses a rating and puts it on the scale that is asked for. @return 0, or a code for what is
 * wrong with it */
int own_parse(const struct own_reading *reading, const char *text, double *rating);

/* Parses how often an event happened. @return 0, or a code for what is wrong with it */
int own_parse_count(const char *text, double *count);

/* Refuses what only ratings can have done to them. */
int own_check_counts(const struct own_reading *reading, struct dpmf_error *error);

/* Completes "count "x" ...", for a code of own_parse_count. */
const char *own_count_fault(int code);

/* Completes "rating "x" ...", for a code of own_parse; it may name settings. */
const char *own_fault(int code);

/* The last step of a failure: an error about the path that is read gets the name it has outside.
 * @return `code` */
int own_fail(const struct own_reading *reading, int code, struct dpmf_error *error);

/* The readers. This one takes a text of pairs: ITEM:RATING,ITEM:RATING. */
int own_pairs_read(struct own_reading *reading, struct dpmf_error *error);

/* The path of a file or of a directory, of any form. */
int own_path_read(struct own_reading *reading, struct dpmf_error *error);

/* What can be read only once, from its descriptor: it is copied first. */
int own_stream_read(struct own_reading *reading, int from, struct dpmf_error *error);

/* A history of another service; own_service_is says whether a file is one. A table of ours with
 * titles is one where there is a catalogue, and is otherwise read by its ids. */
bool own_service_is(const struct own_reading *reading);
int own_service_read(struct own_reading *reading, struct dpmf_error *error);

/* A table without a column of users, and the kinds of tables there are. `has_names` receives
 * whether the first row names its columns. */
enum own_table {
    OWN_TABLE_OF_USERS,
    OWN_TABLE_OF_RATINGS,
    OWN_TABLE_OF_EVENTS, /* items alone */
    OWN_TABLE_OF_COUNTS, /* items, and how often */
};
enum own_table own_table_kind(struct own_reading *reading, bool *has_names);
int own_table_read(struct own_reading *reading, enum own_table kind, struct dpmf_error *error);

/* Refuses a table whose first row names its columns when a column that could name people has more
 * than one value. */
int own_people_check(const struct own_reading *reading, struct dpmf_error *error);

#endif
