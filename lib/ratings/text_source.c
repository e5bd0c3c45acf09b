/*
 * Cuts text into chunks that can be parsed independently of each other, and puts line numbers to
 * what was found in them. Fed by input_stream.c; feeds the formats of formats.h, and through them
 * the importer.
 *
 * What is a record does not depend on where chunks end. Where bad records are skipped, a record is
 * a line, so that no stray quote can take the lines of others with it. Else a chunk is cut after
 * the last newline that is outside quotes, and a quote that is not closed within record_max bytes
 * (or before the end of the input) is taken as left open, so that what is reported is its line. A
 * record of more than record_max bytes is too long.
 */
#define _GNU_SOURCE
#include "ratings/text_source.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "ratings/formats.h"
#include "ratings/row_split.h"

/* ---- bytes: first what was carried over, then the stream ------------------------------------- */

static int read_stream(struct text_source *source, char *bytes, size_t wanted, size_t *got,
                       struct dpmf_error *error) {
    *got = 0;
    if (wanted == 0 || source->stream_end) return 0;
    int code = input_stream_read(source->stream, bytes, wanted, got, error);
    if (code == 0 && *got < wanted) source->stream_end = true;
    return code;
}

static bool at_end(const struct text_source *source) {
    return source->stream_end && source->carry_at == source->carry_n;
}

/* Adds to the chunk until it holds `goal` bytes or the input ends. */
static int load(struct text_source *source, struct text_chunk *chunk, size_t goal,
                struct dpmf_error *error) {
    if (!memory_reserve(&chunk->bytes, &chunk->capacity, goal + 1 + ROW_SLACK, 1))
        return error_no_memory(error);
    size_t carried = source->carry_n - source->carry_at;
    if (carried > goal - chunk->n) carried = goal - chunk->n;
    if (carried > 0) {
        memcpy(chunk->bytes + chunk->n, source->carry + source->carry_at, carried);
        source->carry_at += carried;
        chunk->n += carried;
    }
    size_t got;
    int code = read_stream(source, chunk->bytes + chunk->n, goal - chunk->n, &got, error);
    chunk->n += got;
    return code;
}

/* Keeps the chunk's bytes from `cut` on for the next chunk. */
static int give_back(struct text_source *source, struct text_chunk *chunk, size_t cut,
                     struct dpmf_error *error) {
    size_t rest = chunk->n - cut;
    chunk->n = cut;
    if (rest == 0) return 0;
    if (source->carry_at < source->carry_n) { /* then all of the chunk came from there */
        source->carry_at -= rest;
        return 0;
    }
    if (!memory_reserve(&source->carry, &source->carry_capacity, rest, 1))
        return error_no_memory(error);
    memcpy(source->carry, chunk->bytes + cut, rest);
    source->carry_at = 0;
    source->carry_n = rest;
    return 0;
}

int text_source_window(struct text_source *source, size_t wanted, struct dpmf_error *error) {
    if (!memory_reserve(&source->carry, &source->carry_capacity, source->carry_at + wanted, 1))
        return error_no_memory(error);
    size_t have = source->carry_n - source->carry_at, got;
    if (have >= wanted) return 0;
    int code = read_stream(source, source->carry + source->carry_n, wanted - have, &got, error);
    source->carry_n += got;
    return code;
}

void text_source_pass(struct text_source *source, size_t n, int64_t lines) {
    source->carry_at += n;
    source->lines_before += lines;
}

/* ---- cutting --------------------------------------------------------------------------------- */

static size_t after_last_newline(const char *text, size_t n) {
    const char *newline = n > 0 ? memrchr(text, '\n', n) : NULL;
    return newline != NULL ? (size_t)(newline - text) + 1 : 0;
}

/* Past the closing quote of the field whose text begins at `at`, or n + 1 when there is none. */
static size_t past_closing_quote(const char *text, size_t n, size_t at) {
    while (at < n) {
        const char *quote = memchr(text + at, '"', n - at);
        if (quote == NULL) break;
        at = (size_t)(quote - text) + 1;
        if (at == n || text[at] != '"') return at;
        at++;
    }
    return n + 1;
}

size_t text_cut_quoted(const char *text, size_t n, char separator, size_t *open) {
    size_t whole = 0, outside = 0 /* since here no quote is open */, at = 0;
    for (;;) {
        const char *quote = at < n ? memchr(text + at, '"', n - at) : NULL;
        size_t place = quote != NULL ? (size_t)(quote - text) : n;
        bool opens = place == 0 || text[place - 1] == separator || text[place - 1] == '\n';
        if (quote != NULL && !opens) {
            at = place + 1;
            continue;
        }
        size_t newline = after_last_newline(text + outside, place - outside);
        if (newline > 0) whole = outside + newline;
        *open = place;
        if (quote == NULL) return whole;
        outside = at = past_closing_quote(text, n, place + 1);
        if (at > n) return whole;
    }
}

enum cut { CUT_HERE, CUT_LATER, CUT_TOO_LONG };

/* Where a record with a quote left open is taken to end: with the line the quote is in. */
static enum cut cut_open_quote(const struct text_source *source, const struct text_chunk *chunk,
                               size_t open, size_t *cut) {
    const char *newline = memchr(chunk->bytes + open, '\n', chunk->n - open);
    if (newline == NULL && (!at_end(source) || chunk->n > source->record_max)) return CUT_TOO_LONG;
    *cut = newline != NULL ? (size_t)(newline - chunk->bytes) + 1 : chunk->n;
    return CUT_HERE;
}

static enum cut find_cut(const struct text_source *source, struct text_chunk *chunk, size_t *cut) {
    size_t n = chunk->n, open = n, whole;
    chunk->has_quote = source->has_quotes && memchr(chunk->bytes, '"', n) != NULL;
    if (chunk->has_quote && source->quote_separator != 0)
        whole = text_cut_quoted(chunk->bytes, n, source->quote_separator, &open);
    else
        whole = after_last_newline(chunk->bytes, n);

    *cut = whole;
    if (at_end(source) && open == n && n - whole <= source->record_max) {
        *cut = n; /* the last line needs no newline */
        return CUT_HERE;
    }
    if (whole > 0) return CUT_HERE;
    if (n <= source->record_max && !at_end(source)) return CUT_LATER;
    if (open < n) return cut_open_quote(source, chunk, open, cut);
    return CUT_TOO_LONG;
}

static int64_t count_newlines(const char *text, size_t n) {
    int64_t count = 0;
    for (size_t i = 0; i < n; i++) count += text[i] == '\n';
    return count;
}

/* The chunk stands for one record that is too long. When such are skipped, reads to the end of it,
 * however far that is, in the memory of the one chunk; else nobody will ask for what follows. */
static int pass_long_record(struct text_source *source, struct text_chunk *chunk,
                            struct dpmf_error *error) {
    chunk->too_long = true;
    chunk->n_lines = count_newlines(chunk->bytes, chunk->n) + 1;
    const char *newline = NULL;
    while (source->skip_bad && newline == NULL && !at_end(source)) {
        chunk->n = 0;
        int code = load(source, chunk, source->record_max + 1, error);
        if (code != 0) return code;
        newline = chunk->n > 0 ? memchr(chunk->bytes, '\n', chunk->n) : NULL;
    }
    source->ended = newline == NULL;
    int code = 0;
    if (newline != NULL)
        code = give_back(source, chunk, (size_t)(newline - chunk->bytes) + 1, error);
    chunk->n = 0;
    return code != 0 ? code : 1;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static bool copy_id(const char *from, size_t n, char **to, size_t *length, size_t *capacity) {
    *length = n;
    if (n == 0) return true;
    if (!memory_reserve(to, capacity, n, 1)) return false;
    memcpy(*to, from, n);
    return true;
}

/* The last line of the chunk that is not a mere record, and what it is. */
static enum block_line last_header(const struct text_format *format, const struct text_chunk *chunk,
                                   const char **id, size_t *id_length) {
    size_t n = chunk->n;
    for (;;) {
        const char *mark = n > 0 ? memrchr(chunk->bytes, format->block_mark, n) : NULL;
        if (mark == NULL) return BLOCK_RECORD;
        size_t start = after_last_newline(chunk->bytes, (size_t)(mark - chunk->bytes));
        char *line = chunk->bytes + start;
        char *newline = memchr(mark, '\n', chunk->n - (size_t)(mark - chunk->bytes));
        enum block_line kind =
            format->block_of(line, (size_t)(row_without_cr(line, newline) - line), id_length);
        *id = line;
        if (kind != BLOCK_RECORD) return kind;
        n = start;
    }
}

/* Tells the chunk which block it begins in, and finds out which one the next begins in. */
static int follow_blocks(struct text_source *source, struct text_chunk *chunk,
                         struct dpmf_error *error) {
    if (source->format->block_of == NULL) return 0;
    chunk->in_block = source->in_block;
    if (!copy_id(source->block_id, source->block_id_length, &chunk->block_id,
                 &chunk->block_id_length, &chunk->block_id_capacity))
        return error_no_memory(error);
    const char *id;
    size_t id_length;
    enum block_line kind = last_header(source->format, chunk, &id, &id_length);
    if (kind == BLOCK_RECORD) return 0;
    source->in_block = kind == BLOCK_HEADER;
    if (kind == BLOCK_HEADER && !copy_id(id, id_length, &source->block_id, &source->block_id_length,
                                         &source->block_id_capacity))
        return error_no_memory(error);
    return 0;
}

/* ---- struct source_ops ----------------------------------------------------------------------- */

static void *chunk_new(const struct source *base) {
    (void)base;
    return memory_alloc_zero(1, sizeof(struct text_chunk));
}

static void chunk_free(void *object) {
    struct text_chunk *chunk = object;
    if (chunk == NULL) return;
    free(chunk->bytes);
    free(chunk->block_id);
    free(chunk);
}

/* Ends the text as row_split.h wants it. */
static void end_chunk(struct text_chunk *chunk) {
    if (chunk->bytes[chunk->n - 1] != '\n') chunk->bytes[chunk->n++] = '\n';
    memset(chunk->bytes + chunk->n, 0, ROW_SLACK);
    chunk->bytes[chunk->n] = '"';
}

static int next(struct source *base, void *object, struct dpmf_error *error) {
    struct text_source *source = (struct text_source *)base;
    struct text_chunk *chunk = object;
    if (source->ended) return 0;
    chunk->n = 0;
    chunk->too_long = false;
    size_t goal = source->chunk_size, cut = 0;
    for (;;) {
        int code = load(source, chunk, goal, error);
        if (code != 0) return code;
        source->ended = chunk->n == 0;
        if (source->ended) return 0;
        enum cut result = find_cut(source, chunk, &cut);
        if (result == CUT_TOO_LONG) return pass_long_record(source, chunk, error);
        if (result == CUT_HERE) break;
        goal = 2 * goal <= source->record_max ? 2 * goal : source->record_max + 1;
    }
    int code = give_back(source, chunk, cut, error);
    if (code != 0) return code;
    end_chunk(chunk);
    code = follow_blocks(source, chunk, error);
    return code != 0 ? code : 1;
}

static void parse_long_record(const struct text_source *source, struct text_chunk *chunk,
                              struct record_batch *batch) {
    chunk->head_records = 1;
    chunk->first_header_line = 0;
    if (source->record_max == TEXT_RECORD_MAX)
        record_batch_reject(batch, DPMF_ERR_INPUT_LINE_TOO_LONG, 1, 1,
                            "is this text, with one record per line?",
                            "the line is longer than 1 MiB");
    else
        record_batch_reject(batch, DPMF_ERR_INPUT_LINE_TOO_LONG, 1, 1, NULL,
                            "the line is longer than %zu bytes", source->record_max);
}

static void parse(const struct source *base, void *object, struct record_batch *batch) {
    const struct text_source *source = (const struct text_source *)base;
    struct text_chunk *chunk = object;
    if (chunk->too_long) {
        parse_long_record(source, chunk, batch);
        return;
    }
    chunk->has_nul = memchr(chunk->bytes, 0, chunk->n) != NULL;
    source->format->parse(source, chunk, batch);
}

static void make_absolute(const struct text_source *source, struct dpmf_error *error) {
    if (error->code != 0 && error->line > 0)
        error_place(error, source->name, error->line + source->lines_before, error->column);
}

static int report(const struct record_batch *batch, struct dpmf_error *error) {
    if (batch->failure.code != 0 && error != NULL) *error = batch->failure;
    return batch->failure.code;
}

static int settle(struct source *base, void *object, struct record_batch *batch,
                  struct dpmf_error *error) {
    struct text_source *source = (struct text_source *)base;
    struct text_chunk *chunk = object;
    make_absolute(source, &batch->failure);
    if (batch->n_rejected > 0) make_absolute(source, &batch->first_rejected);
    if (source->format->settle != NULL) source->format->settle(source, chunk, batch);
    source->n_records += batch->n_added + batch->n_rejected;
    source->lines_before += chunk->n_lines;
    return report(batch, error);
}

static int refuse_empty(const char *name, const char *what, struct dpmf_error *error) {
    error_set(error, DPMF_ERR_INPUT_EMPTY, "the input %s", what);
    error_place(error, name, 0, 0);
    return DPMF_ERR_INPUT_EMPTY;
}

static int finish(struct source *base, struct record_batch *batch, struct dpmf_error *error) {
    struct text_source *source = (struct text_source *)base;
    if (source->format->finish != NULL) source->format->finish(source, batch);
    if (batch->failure.code != 0) return report(batch, error);
    if (source->n_records + batch->n_rejected == 0)
        return refuse_empty(source->name, "holds no ratings", error);
    return 0;
}

static void close_source(struct source *base) {
    struct text_source *source = (struct text_source *)base;
    input_stream_close(source->stream);
    free(source->carry);
    free(source->block_id);
    free(source->state);
    free(source);
}

static uint64_t bytes_read(const struct source *base) {
    return input_stream_bytes_read(((const struct text_source *)base)->stream);
}

static const struct source_ops text_source_ops = {
    .chunk_new = chunk_new,
    .chunk_free = chunk_free,
    .next = next,
    .parse = parse,
    .settle = settle,
    .finish = finish,
    .close = close_source,
};

/* ---- opening --------------------------------------------------------------------------------- */

static const char *window(const struct text_source *source, size_t *n) {
    *n = source->carry_n - source->carry_at;
    return source->carry + source->carry_at;
}

static int refuse_unknown(const struct text_source *source, struct dpmf_error *error) {
    size_t n;
    const char *text = window(source, &n);
    char list[200];
    format_list(list, sizeof list);
    const unsigned char *first = (const unsigned char *)text;
    bool wide = n >= 2 &&
                ((first[0] == 0xff && first[1] == 0xfe) || (first[0] == 0xfe && first[1] == 0xff));
    if (store_has_magic(text, n)) {
        error_set(error, DPMF_ERR_INPUT_UNKNOWN_FORMAT, "the input is a compressed ratings store");
        error_hint(error, "decompress it first; a store is compact already");
    } else if (wide) {
        error_set(error, DPMF_ERR_INPUT_UNKNOWN_FORMAT, "the input is UTF-16 text");
        error_hint(error, "save it as UTF-8");
    } else {
        error_set(error, DPMF_ERR_INPUT_UNKNOWN_FORMAT, "the format of the input is not known");
        error_hint(error, "name it with {format}: %s", list);
    }
    error_place(error, source->name, 0, 0);
    return DPMF_ERR_INPUT_UNKNOWN_FORMAT;
}

static int refuse_long_line(const struct text_source *source, struct dpmf_error *error) {
    error_set(error, DPMF_ERR_INPUT_LINE_TOO_LONG, "the line is longer than 1 MiB");
    error_hint(error, "is this text, with one record per line?");
    error_place(error, source->name, 1, 1);
    return DPMF_ERR_INPUT_LINE_TOO_LONG;
}

/* A separator is declared for csv alone; the other formats have theirs. */
static int refuse_separator(const struct text_source *source, struct dpmf_error *error) {
    error_set(error, DPMF_ERR_USAGE_CONFLICT, "the format %s has a separator of its own",
              source->format->name);
    error_hint(error, "leave the separator out, or name the format csv");
    error_place(error, source->name, 0, 0);
    return DPMF_ERR_USAGE_CONFLICT;
}

static int choose_format(struct text_source *source, const struct dpmf_input_options *options,
                         struct dpmf_error *error) {
    size_t n;
    const char *text = window(source, &n);
    if (options->separator != 0 && !dpmf_separator_is(options->separator))
        return error_set(error, DPMF_ERR_USAGE_VALUE, "the separator cannot separate columns");
    if (!format_is_auto(options)) {
        int code = format_check(options->format, error);
        if (code != 0) return code;
        source->format = format_find(options->format);
        if (source->format == NULL) return refuse_unknown(source, error);
        bool fits = options->separator == 0 || source->format == &format_csv;
        return fits ? 0 : refuse_separator(source, error);
    }
    if (options->separator != 0) {
        source->format = &format_csv;
        return 0;
    }
    if (store_has_magic(text, n)) return refuse_unknown(source, error);
    source->format = format_sniff(text, n, source->stream_end);
    if (source->format != NULL) return 0;
    bool endless = memchr(text, '\n', n) == NULL && n > source->record_max;
    bool binary = memchr(text, 0, n) != NULL;
    return endless && !binary ? refuse_long_line(source, error) : refuse_unknown(source, error);
}

/* Has enough text in sight to tell the format: 64 KiB, or the first line where that is longer. */
static int look(struct text_source *source, const struct dpmf_input_options *options,
                struct dpmf_error *error) {
    int code = text_source_window(source, TEXT_SNIFF_BYTES, error);
    if (code != 0) return code;
    size_t n;
    const char *text = window(source, &n);
    if (n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
        text_source_pass(source, 3, 0);
        text = window(source, &n);
    }
    if (memchr(text, '\n', n) == NULL)
        code = text_source_window(source, source->record_max + 1, error);
    if (code != 0) return code;
    text = window(source, &n);
    for (size_t i = 0; i < n; i++)
        if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r' && text[i] != '\n') return 0;
    /* Where the format is declared there is nothing to tell it by. */
    bool is_declared = !format_is_auto(options) || options->separator != 0;
    if (!source->stream_end || (is_declared && source->skip_bad)) return 0;
    return refuse_empty(source->name, "is empty", error);
}

static int refuse_blocks(const struct text_source *source, struct dpmf_error *error) {
    error_set(error, DPMF_ERR_PRIVACY_REFUSED,
              "the format %s is in blocks: one bad line decides which user or item the lines below "
              "it belong to",
              source->format->name);
    error_hint(error, "convert it to a format with one record per line, such as csv");
    error_place(error, source->name, 0, 0);
    return DPMF_ERR_PRIVACY_REFUSED;
}

/* What was found out from the first record, as what would have declared it. */
static int refuse_guess(const struct text_source *source, const struct dpmf_input_options *options,
                        struct dpmf_error *error) {
    const char *columns = options->columns != NULL             ? options->columns
                          : source->base.layout.n_columns == 4 ? "user,item,rating,timestamp"
                          : source->base.layout.n_columns == 2 ? "user,item"
                                                               : "user,item,rating";
    error_set(error, DPMF_ERR_PRIVACY_REFUSED,
              "without a header the first record decides how all others are read, and it is one "
              "person's");
    if (!source->format->has_header)
        error_hint(error, "declare the format: %s", source->format->name);
    else if (source->format == &format_csv)
        error_hint(error,
                   "add a header such as user,item,rating, or declare the format (csv), the "
                   "separator (%c) and the columns (%s)",
                   source->base.layout.separator, columns);
    else
        error_hint(error,
                   "add a header such as user,item,rating, or declare the format (%s) and the "
                   "columns (%s)",
                   source->format->name, columns);
    error_place(error, source->name, 0, 0);
    return DPMF_ERR_PRIVACY_REFUSED;
}

static bool ends_with(const char *name, const char *ending) {
    size_t n = strlen(name), length = strlen(ending);
    return n >= length && strcmp(name + n - length, ending) == 0;
}

/* Where the first line is a record and stands by itself, it does not decide either whether the
 * bytes are compressed: the name of the file does. */
static void settle_compression(const struct text_source *source,
                               const struct dpmf_input_options *options) {
    const struct text_format *format = !format_is_auto(options)  ? format_find(options->format)
                                       : options->separator != 0 ? &format_csv
                                                                 : NULL;
    bool begins_with_record = format != NULL && (!format->has_header || options->columns != NULL);
    bool is_named = ends_with(source->name, ".gz") || ends_with(source->name, ".zst");
    if (source->skip_bad && begins_with_record && !is_named)
        input_stream_take_plain(source->stream);
}

static int refuse_events(const struct text_source *source, struct dpmf_error *error) {
    error_set(error, DPMF_ERR_USAGE_CONFLICT, "the format %s holds ratings, not events",
              source->format->name);
    error_hint(error, "turn ratings into events with {like any}");
    error_place(error, source->name, 0, 0);
    return DPMF_ERR_USAGE_CONFLICT;
}

static int begin(struct text_source *source, const struct dpmf_input_options *options,
                 struct dpmf_error *error) {
    settle_compression(source, options);
    int code = look(source, options, error);
    if (code != 0) return code;
    code = choose_format(source, options, error);
    if (code != 0) return code;
    source->base.format = source->format->name;
    if (options->columns != NULL && !source->format->takes_columns) {
        error_set(error, DPMF_ERR_USAGE_CONFLICT, "the format %s has fixed columns",
                  source->format->name);
        error_hint(error, "leave {columns} out, or name another {format}");
        error_place(error, source->name, 0, 0);
        return DPMF_ERR_USAGE_CONFLICT;
    }
    if (options->events && options->columns == NULL && source->format->holds_ratings)
        return refuse_events(source, error);
    struct store_layout *layout = &source->base.layout;
    bool is_declared = !format_is_auto(options) || options->separator != 0;
    layout->formats = store_layout_format(source->format->name);
    layout->drops_bad = true; /* when bad records are skipped at all */
    layout->origin = source->format->block_of != NULL ? STORE_ORIGIN_TOGETHER
                     : is_declared                    ? STORE_ORIGIN_DECLARED
                                                      : STORE_ORIGIN_GUESSED;
    if (source->format->begin != NULL) code = source->format->begin(source, options, error);
    if (code != 0 || !options->by_record || layout->origin == STORE_ORIGIN_DECLARED) return code;
    return layout->origin == STORE_ORIGIN_TOGETHER ? refuse_blocks(source, error)
                                                   : refuse_guess(source, options, error);
}

int text_source_open_stream(struct input_stream *stream, const struct dpmf_input_options *options,
                            const struct text_settings *settings, struct source **opened,
                            struct dpmf_error *error) {
    struct text_source *source = memory_alloc_zero(1, sizeof *source);
    if (source == NULL) {
        input_stream_close(stream);
        return error_no_memory(error);
    }
    source->base.ops = &text_source_ops;
    source->base.total_bytes = input_stream_total(stream);
    source->base.bytes_read = bytes_read;
    source->stream = stream;
    source->name = input_stream_name(stream);
    source->skip_bad = options->skip_bad || options->by_record;
    source->record_max = TEXT_RECORD_MAX;
    if (settings != NULL && settings->record_max > 0) source->record_max = settings->record_max;
    source->chunk_size = source->record_max + 1;
    if (settings != NULL && settings->chunk_size > 0 && settings->chunk_size < source->chunk_size)
        source->chunk_size = settings->chunk_size;

    int code = begin(source, options, error);
    if (code != 0)
        close_source(&source->base);
    else
        *opened = &source->base;
    return code;
}
