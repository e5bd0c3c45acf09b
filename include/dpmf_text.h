/*
 * Text for programs around dpmf: small tables, numbers, JSON, misspelt words.
 *
 * The helpers that the command line is written with. A program that trains and recommends can do
 * without them. Errors, NULL and threads are as dpmf_client.h describes them.
 */
#ifndef DPMF_TEXT_H
#define DPMF_TEXT_H

#include "dpmf_client.h"

#ifdef __cplusplus
extern "C" {
#endif

struct dpmf_run; /* in dpmf.h; every function here accepts NULL */

/* ------------------------------------------------------------------------------------------------
 * Small tables: pairs to predict, lists of items, catalogues, a person's own ratings
 * ---------------------------------------------------------------------------------------------- */

/* A field of a row. */
struct dpmf_field {
    const char *text; /* the field, terminated by NUL */
    size_t length;    /* its length without the NUL */
    int64_t column;   /* where it begins, in bytes, from 1 */
};

/* The largest number of columns that can be asked for. */
enum { DPMF_TABLE_COLUMNS_MAX = 4 };

/* The wanted columns of a row. */
struct dpmf_table_row {
    const char *file;                                /* what errors call the table */
    int64_t line;                                    /* line, from 1; 0 in a store */
    struct dpmf_field field[DPMF_TABLE_COLUMNS_MAX]; /* fields, in the order asked for */
};

/* Reads columns of a table of text, compressed or not. If the first row names all wanted columns,
 * it is a header; otherwise the first columns are taken, in the order asked for. Where user and
 * item are wanted, a first row that names one of them alone is refused, and so are a header that
 * comes later and a first row of words above one of numbers. Columns are separated by tabs, "::",
 * commas, semicolons, bars or blanks, whichever comes first; quotes are as in CSV. A title that is
 * not UTF-8 is read as ISO-8859-1 and given in UTF-8. NUL bytes, UTF-16, carriage returns that end
 * no line and byte order marks past the beginning are errors. A ratings store has the columns user,
 * item and rating.
 *
 * @param path     the table; "-" for standard input
 * @param columns  the wanted columns, such as "user,item": user, item, rating and title
 * @param run      callbacks, which may end the reading
 * @param take     called with every row; a value other than 0 ends the reading
 * @param self     passed to `take`; may be NULL
 * @param error    receives the description of a failure
 * @return 0, the value of `take` that ended the reading, or a negative code
 * @error DPMF_ERR_USAGE_VALUE  `columns` is not such a list
 * @error DPMF_ERR_IO_*         the table cannot be read
 * @error DPMF_ERR_INPUT_*      the table is bad: the code says how, `error` where
 * @error DPMF_ERR_STORE_*      the table is a damaged store
 */
DPMF_API int dpmf_table_read(const char *path, const char *columns, const struct dpmf_run *run,
                             int (*take)(void *self, const struct dpmf_table_row *row,
                                         struct dpmf_error *error),
                             void *self, struct dpmf_error *error);

/* Reads items and titles that are to be published, as dpmf_table_read does, but refuses a table
 * that could be about people: one with a column that could name them, their ratings or their
 * wishes; one whose header names no titles; one of three or more columns without a header, unless
 * it is MovieLens' list of movies; one that names an item twice; a ratings store. Each row is one
 * line, and all rows have as many columns as the first.
 *
 * @param path   the table; "-" for standard input
 * @param run    callbacks, which may end the reading
 * @param take   called with every row, whose fields are the item and its title; a value other than
 *               0 ends the reading
 * @param self   passed to `take`; may be NULL
 * @param error  receives the description of a failure
 * @return 0, the value of `take` that ended the reading, or a negative code
 * @error DPMF_ERR_PRIVACY_REFUSED  the table could be about people
 * @error DPMF_ERR_IO_*             the table cannot be read
 * @error DPMF_ERR_INPUT_*          the table is bad: the code says how, `error` where
 * @error DPMF_ERR_STORE_*          the table is a damaged store
 */
DPMF_API int dpmf_table_read_titles(const char *path, const struct dpmf_run *run,
                                    int (*take)(void *self, const struct dpmf_table_row *row,
                                                struct dpmf_error *error),
                                    void *self, struct dpmf_error *error);

/* A row with all of its fields. */
struct dpmf_table_record {
    const char *file;               /* what errors call the table */
    int64_t line;                   /* line, from 1 */
    const struct dpmf_field *field; /* the fields */
    size_t n;                       /* number of fields, at most 4096 */
};

/* Reads all columns of a table of text, as dpmf_table_read does. The first row is given like the
 * others: `take` decides whether it is a header.
 *
 * @param path   the table; "-" for standard input
 * @param run    callbacks, which may end the reading
 * @param take   called with every row; a value other than 0 ends the reading
 * @param self   passed to `take`; may be NULL
 * @param error  receives the description of a failure
 * @return 0, the value of `take` that ended the reading, or a negative code
 * @error DPMF_ERR_IO_*     the table cannot be read
 * @error DPMF_ERR_INPUT_*  the table is bad: the code says how, `error` where
 */
DPMF_API int dpmf_table_read_whole(const char *path, const struct dpmf_run *run,
                                   int (*take)(void *self, const struct dpmf_table_record *record,
                                               struct dpmf_error *error),
                                   void *self, struct dpmf_error *error);

struct dpmf_model; /* dpmf_client.h */

/* Reads a list of items, as dpmf_table_read reads the items of a table. Without a header each row
 * is one item, perhaps with a title and more behind it, which is warned of; where what is behind it
 * is an item of the model too, the list is refused, since only the first item would be read. A
 * table of users' ratings is warned of: the items of all of them are listed.
 *
 * @param model  the model whose items they are
 * @param path   the list; "-" for standard input
 * @param run    callbacks, which may end the reading
 * @param take   called with every row, whose field is the item; a value other than 0 ends the
 *               reading
 * @param self   passed to `take`; may be NULL
 * @param error  receives the description of a failure
 * @return 0, the value of `take` that ended the reading, or a negative code
 * @error DPMF_ERR_IO_*     the list cannot be read
 * @error DPMF_ERR_INPUT_*  the list is bad: the code says how, `error` where
 * @error DPMF_ERR_STORE_*  the list is a damaged store
 */
DPMF_API int
dpmf_items_read(const struct dpmf_model *model, const char *path, const struct dpmf_run *run,
                int (*take)(void *self, const struct dpmf_table_row *row, struct dpmf_error *error),
                void *self, struct dpmf_error *error);

/* Finds out what a column is for by its name.
 *
 * @param name    the bytes of the name
 * @param length  the number of bytes
 * @return "user", "item", "rating" or "title"; "person" for a name that is not used to read ratings
 *         but could denote people, such as "rater"; NULL for anything else
 */
DPMF_API const char *dpmf_table_column_role(const char *name, size_t length);

struct dpmf_input_options; /* dpmf.h */

/* Reads pairs of a user and an item: from a table, as dpmf_table_read does, or from ratings in any
 * format. Where options declare a layout, such as columns, it is read as dpmf_import reads it.
 * Otherwise standard input is always read as a table.
 *
 * @param path     the table or the ratings
 * @param options  how the input is read; what they say of ratings has no effect; NULL: the default
 * @param run      callbacks, which may end the reading
 * @param take     called with every pair; a value other than 0 ends the reading
 * @param self     passed to `take`; may be NULL
 * @param error    receives the description of a failure
 * @return 0, the value of `take` that ended the reading, or a negative code
 * @error DPMF_ERR_IO_*             the file cannot be read
 * @error DPMF_ERR_INPUT_*          the file is bad: the code says how, `error` where
 * @error DPMF_ERR_STORE_*          the file is a damaged store
 * @error DPMF_ERR_USAGE_*          the address of a database cannot be used
 * @error DPMF_ERR_PRIVACY_REFUSED  the address of a database contains a password
 */
DPMF_API int dpmf_pairs_read(const char *path, const struct dpmf_input_options *options,
                             const struct dpmf_run *run,
                             int (*take)(void *self, const struct dpmf_table_row *row,
                                         struct dpmf_error *error),
                             void *self, struct dpmf_error *error);

/* ------------------------------------------------------------------------------------------------
 * Numbers and words
 * ---------------------------------------------------------------------------------------------- */

/* Parses a size: "64", "64k", "1.5GiB", "2GB". k, M, G and T are powers of 1000, with or without B,
 * and powers of 1024 with iB.
 *
 * @param text   the whole text
 * @param bytes  receives the size
 * @return 0 or a negative code
 * @error DPMF_ERR_USAGE_VALUE  the text is not a size
 */
DPMF_API int dpmf_parse_size(const char *text, uint64_t *bytes);

/* Parses a decimal number, with a decimal point in any locale. nan, inf and hexadecimal numbers are
 * refused.
 *
 * @param text   the whole text
 * @param value  receives the number
 * @return 0 or a negative code
 * @error DPMF_ERR_USAGE_VALUE  the text is not a decimal number
 */
DPMF_API int dpmf_parse_double(const char *text, double *value);

/* Parses a whole number that consists of digits only.
 *
 * @param text   the whole text
 * @param value  receives the number
 * @return 0 or a negative code
 * @error DPMF_ERR_USAGE_VALUE  the text is not such a number
 */
DPMF_API int dpmf_parse_uint64(const char *text, uint64_t *value);

/* The size of the text of a double, including the terminating NUL. */
enum { DPMF_DOUBLE_TEXT_MAX = 32 };

/* Writes the shortest decimal text that reads back as the same double, with a decimal point in any
 * locale.
 *
 * @param value  the number
 * @param text   receives the text, terminated by NUL
 * @return its length
 */
DPMF_API int dpmf_format_double(double value, char text[DPMF_DOUBLE_TEXT_MAX]);

/* The nearest known word to a misspelt one. Begin with {.wanted = word}. */
struct dpmf_nearest {
    const char *wanted; /* the misspelt word */
    const char *word;   /* the nearest word so far; NULL while none is near enough */
    size_t distance;    /* its edit distance */
};

/* Offers a known word, which becomes the nearest if it is nearer than those before it.
 *
 * @param nearest  the search
 * @param word     the known word; must live as long as the search
 */
DPMF_API void dpmf_nearest_offer(struct dpmf_nearest *nearest, const char *word);

/* ------------------------------------------------------------------------------------------------
 * JSON
 * ---------------------------------------------------------------------------------------------- */

/* JSON text, built in memory. A failure (no memory, a misplaced key) is kept for dpmf_json_text. */
struct dpmf_json;

/* Begins a JSON text.
 *
 *     struct dpmf_json *json = dpmf_json_new();
 *     dpmf_json_begin_object(json, NULL);
 *     dpmf_json_string(json, "item", "Dune");
 *     dpmf_json_double(json, "score", 4.5);
 *     dpmf_json_end_object(json);
 *     const char *text = dpmf_json_text(json, NULL);
 *     printf("%s\n", text ? text : "no memory");
 *     dpmf_json_free(json);
 *
 * @return an empty text, to be freed with dpmf_json_free; NULL without memory, which all functions
 *         below accept
 */
DPMF_API struct dpmf_json *dpmf_json_new(void);

/* Frees a text.
 *
 * @param json  the text; may be NULL
 */
DPMF_API void dpmf_json_free(struct dpmf_json *json);

/* Begins an object or an array, and ends it.
 *
 * @param json  the text; may be NULL
 * @param key   the key in the enclosing object; NULL in an array, and for the outermost value
 */
DPMF_API void dpmf_json_begin_object(struct dpmf_json *json, const char *key);
DPMF_API void dpmf_json_end_object(struct dpmf_json *json);
DPMF_API void dpmf_json_begin_array(struct dpmf_json *json, const char *key);
DPMF_API void dpmf_json_end_array(struct dpmf_json *json);

/* Adds a value. Invalid UTF-8 in a string becomes U+FFFD; a number that is not finite becomes null.
 *
 * @param json   the text; may be NULL
 * @param key    the key in the enclosing object; NULL in an array, and for the outermost value
 * @param value  the value; a string that is NULL becomes null
 * @param n      the number of bytes of `value`
 */
DPMF_API void dpmf_json_string(struct dpmf_json *json, const char *key, const char *value);
DPMF_API void dpmf_json_bytes(struct dpmf_json *json, const char *key, const char *value, size_t n);
DPMF_API void dpmf_json_double(struct dpmf_json *json, const char *key, double value);
DPMF_API void dpmf_json_int(struct dpmf_json *json, const char *key, int64_t value);
DPMF_API void dpmf_json_uint(struct dpmf_json *json, const char *key, uint64_t value);
DPMF_API void dpmf_json_bool(struct dpmf_json *json, const char *key, bool value);
DPMF_API void dpmf_json_null(struct dpmf_json *json, const char *key);

/* The text so far.
 *
 * @param json    the text; may be NULL
 * @param length  receives the length; may be NULL
 * @return the text, terminated by NUL, which lives until the next change; NULL after a failure
 */
DPMF_API const char *dpmf_json_text(struct dpmf_json *json, size_t *length);

#ifdef __cplusplus
}
#endif

#endif
