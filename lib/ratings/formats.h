/*
 * The formats of ratings text: for each a name, how it is recognised, and the functions that read
 * it. A new format is one more of these in the table of formats.c.
 */
#ifndef DPMF_RATINGS_FORMATS_H
#define DPMF_RATINGS_FORMATS_H

#include "ratings/text_source.h"

/* What the sniffers look at: the first line that is not blank, and counts over it. */
struct first_line {
    const char *text;
    size_t n;
    bool whole;                      /* whether its end was seen */
    size_t commas, semicolons, tabs; /* outside quotes, up to the end of the record */
    size_t double_colons;
    size_t words;   /* number of words, separated by blanks */
    size_t numbers; /* number of the first three words that are numbers */
};

enum block_line {
    BLOCK_RECORD, /* no header */
    BLOCK_HEADER, /* a block's header; its id is the first id_length bytes */
    BLOCK_BROKEN, /* meant as a header, but malformed: what follows is in no block */
};

struct text_format {
    const char *name;
    const char *description;
    bool takes_columns; /* whether it takes options->columns */
    bool has_header;    /* its first line may name the columns, or describe them */
    bool holds_ratings; /* whether it never holds events, unless options->columns says so */

    bool (*sniff)(const struct first_line *line);

    /* Looks at the beginning of the text (text_source_window), skips a header, and sets what
     * parse needs in source->state. May be NULL. */
    int (*begin)(struct text_source *source, const struct dpmf_input_options *options,
                 struct dpmf_error *error);

    /* In `next`: whether `line` (n bytes without its end) opens a block, and which. May be NULL. */
    enum block_line (*block_of)(const char *line, size_t n, size_t *id_length);
    char block_mark; /* the byte that every header of a block holds */

    /* As the functions of struct source_ops. All but parse may be NULL. */
    void (*parse)(const struct text_source *source, struct text_chunk *chunk,
                  struct record_batch *batch);
    void (*settle)(struct text_source *source, struct text_chunk *chunk,
                   struct record_batch *batch);
    void (*finish)(struct text_source *source, struct record_batch *batch);
};

extern const struct text_format format_csv, format_tsv, format_movielens, format_u_data,
    format_libmf, format_inter;                               /* format_delimited.c */
extern const struct text_format format_netflix, format_yahoo; /* format_blocks.c */
extern const struct text_format format_matrix_market;         /* format_matrix_market.c */
extern const struct text_format format_json_lines;            /* format_json_lines.c */

/* The name that stands for stores. */
#define FORMAT_STORE "dpr"

/* Tables that are no text. */
#define FORMAT_ARROW "arrow"
#define FORMAT_PARQUET "parquet"

/* @return whether the options leave the format to be found out */
bool format_is_auto(const struct dpmf_input_options *options);

/* @return the format of that name, or NULL */
const struct text_format *format_find(const char *name);

/* @return 0 or DPMF_ERR_USAGE_VALUE: a name that is neither a format's, FORMAT_STORE nor "auto" */
int format_check(const char *name, struct dpmf_error *error);

/* @return the format that the beginning of a text has, or NULL. `end`: there is no more of it */
const struct text_format *format_sniff(const char *text, size_t n, bool end);

/* Looks for the first line of the text that is not blank. @return false when there is none */
bool format_first_line(const char *text, size_t n, bool end, struct first_line *line);

/* "csv, tsv, ...": all of them, for hints. */
void format_list(char *out, size_t size);

#endif
