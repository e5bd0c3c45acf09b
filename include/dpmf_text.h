/*
 * Text for programs around dpmf: small tables, numbers, JSON, misspelt words.
 *
 * What the command line is written with, beside dpmf.h. A program that trains and recommends can do
 * without all of it. The conventions are those of dpmf.h.
 */
#ifndef DPMF_TEXT_H
#define DPMF_TEXT_H

#include "dpmf_client.h"

#ifdef __cplusplus
extern "C" {
#endif

struct dpmf_run; /* in dpmf.h, whose dpmf_run_default() makes one; NULL will do */

/* ------------------------------------------------------------------------------------------------
 * Small tables: pairs to predict, lists of items, catalogues, one's own ratings
 * ---------------------------------------------------------------------------------------------- */

/* A field of a row, and where it begins. */
struct dpmf_field {
    const char *text; /* ended by NUL, which `length` does not count */
    size_t length;
    int64_t column; /* 1-based, in bytes */
};

/* How many columns can be asked for at once. */
enum { DPMF_TABLE_COLUMNS_MAX = 4 };

/* A row, with the columns that were asked for. */
struct dpmf_table_row {
    const char *file;                                /* as errors call it */
    int64_t line;                                    /* 0 in a store */
    struct dpmf_field field[DPMF_TABLE_COLUMNS_MAX]; /* in the order they were asked for */
};

/* Reads rows of text, compressed or not, "-" for standard input, and gives the wanted columns of each to
 * `take`; a value other than 0 ends the reading with that value. `columns` is a list such as "user,item",
 * of user, item, rating and title. Where the first row names them all it is a header; else they are the
 * first columns, in this order. Columns are parted by tabs, "::", commas, semicolons, bars or blanks,
 * whichever comes first; quotes as in CSV. A title that is not UTF-8 is taken for ISO-8859-1; it is given
 * in UTF-8. A ratings store gives its users, items and ratings too. `run` may be
 * NULL; its progress is asked now and then whether to go on. */
DPMF_API int dpmf_table_read(const char *path, const char *columns, const struct dpmf_run *run,
                             int (*take)(void *self, const struct dpmf_table_row *row,
                                         struct dpmf_error *error),
                             void *self, struct dpmf_error *error);

/* A row with all of its fields, at most 4096. */
struct dpmf_table_record {
    const char *file;
    int64_t line;
    const struct dpmf_field *field;
    size_t n;
};

/* Reads text as dpmf_table_read does, but gives every row whole and as it is, a header included: whether
 * the first row is one is for `take` to say. */
DPMF_API int dpmf_table_read_whole(const char *path, const struct dpmf_run *run,
                                   int (*take)(void *self, const struct dpmf_table_record *record,
                                               struct dpmf_error *error),
                                   void *self, struct dpmf_error *error);

/* What a column of this name is for: "user", "item", "rating" or "title"; "person": not a name of users that
 * ratings are read by, but one that could name people, such as "rater"; NULL: something else. */
DPMF_API const char *dpmf_table_column_role(const char *name, size_t length);

/* The same for the columns user and item, out of a file of ratings in any format too; standard input only as
 * a table. */
DPMF_API int dpmf_pairs_read(const char *path, const struct dpmf_run *run,
                             int (*take)(void *self, const struct dpmf_table_row *row,
                                         struct dpmf_error *error),
                             void *self, struct dpmf_error *error);

/* ------------------------------------------------------------------------------------------------
 * Text helpers, shared with the command line
 * ---------------------------------------------------------------------------------------------- */

/* "64", "64k", "1.5GiB", "2GB": bytes. k, M, G, T are powers of 1000 with or without B, and powers
 * of 1024 with iB. @return 0 or DPMF_ERR_USAGE_VALUE */
DPMF_API int dpmf_parse_size(const char *text, uint64_t *bytes);

/* A decimal number, the whole text, in the C locale; nan, inf and hex are refused. */
DPMF_API int dpmf_parse_double(const char *text, double *value);

/* A whole number of digits only. */
DPMF_API int dpmf_parse_uint64(const char *text, uint64_t *value);

/* The size of the text of a double, its NUL included. */
enum { DPMF_DOUBLE_TEXT_MAX = 32 };

/* The shortest decimal text that reads back as the same double, in the C locale.
 * @return its length; `text` is ended by NUL */
DPMF_API int dpmf_format_double(double value, char text[DPMF_DOUBLE_TEXT_MAX]);

/* The nearest of the words that are offered to a misspelt one. Begin with {.wanted = word}. */
struct dpmf_nearest {
    const char *wanted;
    const char *word; /* NULL while nothing is near enough */
    size_t distance;
};

/* Offers a word: it becomes the nearest if it is nearer than those before it. */
DPMF_API void dpmf_nearest_offer(struct dpmf_nearest *nearest, const char *word);

/* JSON text, built in memory. Errors (no memory, a misplaced key) are kept until dpmf_json_text. */
struct dpmf_json;

/* A key is NULL in arrays, and of the outermost value.
 *
 *     struct dpmf_json *json = dpmf_json_new();
 *     dpmf_json_begin_object(json, NULL);
 *     dpmf_json_string(json, "item", "Dune");
 *     dpmf_json_double(json, "score", 4.5);
 *     dpmf_json_end_object(json);
 *     const char *text = dpmf_json_text(json, NULL);
 *     printf("%s\n", text ? text : "no memory");
 *     dpmf_json_free(json);
 */
DPMF_API struct dpmf_json *dpmf_json_new(void);
DPMF_API void dpmf_json_free(struct dpmf_json *json);
DPMF_API void dpmf_json_begin_object(struct dpmf_json *json,
                                     const char *key); /* key NULL in arrays */
DPMF_API void dpmf_json_end_object(struct dpmf_json *json);
DPMF_API void dpmf_json_begin_array(struct dpmf_json *json, const char *key);
DPMF_API void dpmf_json_end_array(struct dpmf_json *json);
DPMF_API void dpmf_json_string(struct dpmf_json *json, const char *key, const char *value);
DPMF_API void dpmf_json_bytes(struct dpmf_json *json, const char *key, const char *value, size_t n);
DPMF_API void dpmf_json_double(struct dpmf_json *json, const char *key,
                               double value); /* NaN: null */
DPMF_API void dpmf_json_int(struct dpmf_json *json, const char *key, int64_t value);
DPMF_API void dpmf_json_uint(struct dpmf_json *json, const char *key, uint64_t value);
DPMF_API void dpmf_json_bool(struct dpmf_json *json, const char *key, bool value);
DPMF_API void dpmf_json_null(struct dpmf_json *json, const char *key);

/* @return the text so far, ended by NUL and owned by `json`, or NULL after an error; invalid UTF-8
 *         in strings has become U+FFFD */
DPMF_API const char *dpmf_json_text(struct dpmf_json *json, size_t *length);

#ifdef __cplusplus
}
#endif

#endif
