/*
 * A source of ratings that is text in records of a line or more. It cuts the text into chunks at
 * the ends of records, hands them to a format (formats.h) to parse, and keeps the count of lines.
 */
#ifndef DPMF_RATINGS_TEXT_SOURCE_H
#define DPMF_RATINGS_TEXT_SOURCE_H

#include "base/number.h"
#include "ratings/source.h"
#include "tables/input_stream.h"

enum {
    TEXT_RECORD_MAX = 1 << 20, /* bytes in a record, its newline not counted */
    TEXT_SNIFF_BYTES = 64 * 1024,
};

/* A whole number of records; the last byte is a newline. After it stand ROW_SLACK readable bytes, a
 * quote first (see row_split.h). */
struct text_chunk {
    char *bytes;
    size_t n, capacity;
    bool has_quote, has_nul;
    bool too_long;   /* whether it stands for one record that is too long to be read; n is 0 */
    int64_t n_lines; /* set by parse */

    /* For formats whose ids can be numbers: a user's and an item's text for each record that is not
     * taken yet. */
    char numbers[RECORD_BATCH][2][NUMBER_SPELLED_MAX];

    /* For formats in blocks: the block that the chunk begins in. */
    char *block_id;
    size_t block_id_length, block_id_capacity;
    bool in_block;

    /* For blocks that announce their length; set by parse, in lines relative to the chunk. */
    uint64_t head_records;     /* records before the first block's header */
    int64_t first_header_line; /* 0 when the chunk has no header */
    bool tail_open;            /* whether the last header in the chunk is good */
    int64_t tail_line, tail_column;
    uint64_t tail_announced, tail_records;
};

struct text_format;

struct text_source {
    struct source base;
    const struct text_format *format;
    struct input_stream *stream;
    const char *name; /* for errors */
    void *state;      /* the format's; freed with free() */
    size_t record_max, chunk_size;
    bool skip_bad;
    bool has_quotes;      /* whether fields may be quoted */
    char quote_separator; /* separator where fields may hold newlines; 0: a record is a line */

    /* Serial, on the side of `next`. */
    char *carry; /* carry[carry_at] .. carry[carry_n - 1] were read but are in no chunk yet */
    size_t carry_at, carry_n, carry_capacity;
    bool stream_end, ended;
    char *block_id; /* the block that the next chunk begins in */
    size_t block_id_length, block_id_capacity;
    bool in_block;

    /* Serial, on the side of `settle`. */
    int64_t lines_before;
    uint64_t n_records;
};

/* For tests: 0 is the default. chunk_size is at most record_max + 1. */
struct text_settings {
    size_t chunk_size, record_max;
};

/* Takes over `stream`, also when this fails. `options` need not outlive the call. */
int text_source_open_stream(struct input_stream *stream, const struct dpmf_input_options *options,
                            const struct text_settings *settings, struct source **opened,
                            struct dpmf_error *error);

/* For a format's `begin`: has `wanted` bytes of text in source->carry, fewer only at the end. */
int text_source_window(struct text_source *source, size_t wanted, struct dpmf_error *error);

/* For a format's `begin`: drops the first n bytes, which are `lines` lines. */
void text_source_pass(struct text_source *source, size_t n, int64_t lines);

/* @return how many bytes of `text` are whole records, by the rules of quotes; *open is the place of
 * a quote that is not closed, or n */
size_t text_cut_quoted(const char *text, size_t n, char separator, size_t *open);

#endif
