/*
 * Ratings in blocks, where a header line says whom or what the lines below it are about:
 *
 *   Netflix Prize     1:                      a movie, then
 *                     1488844,3,2005-09-06    user, rating, date
 *   Yahoo, KDD Cup    0|2                     a user and how many lines follow, then
 *                     56 <tab> 90 ...         item, rating, and what else there is
 *
 * A chunk may begin in the middle of a block: text_source.c tells it in which. Counts that reach
 * over chunks are checked when chunks are settled. Fed by text_source.c; feeds the record batch.
 */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "ratings/field_text.h"
#include "ratings/formats.h"
#include "ratings/row_split.h"

/* ---- header lines ---------------------------------------------------------------------------- */

static bool good_id(const char *id, size_t n) {
    return n > 0 && n <= STORE_ID_MAX && memchr(id, 0, n) == NULL;
}

static enum block_line netflix_block_of(const char *line, size_t n, size_t *id_length) {
    if (n == 0 || memchr(line, ':', n) == NULL || memchr(line, ',', n) != NULL) return BLOCK_RECORD;
    *id_length = n - 1;
    return line[n - 1] == ':' && good_id(line, n - 1) ? BLOCK_HEADER : BLOCK_BROKEN;
}

/* The number after the last bar. */
static bool announced(const char *line, size_t n, size_t id_length, uint64_t *count) {
    const char *text = line + id_length + 1;
    uint32_t length = (uint32_t)(n - id_length - 1);
    return field_whole(&text, &length, count);
}

static enum block_line yahoo_block_of(const char *line, size_t n, size_t *id_length) {
    const char *bar = n > 0 ? memchr(line, '|', n) : NULL;
    uint64_t ignored;
    if (bar == NULL) return BLOCK_RECORD;
    *id_length = (size_t)(bar - line);
    bool good = good_id(line, *id_length) && announced(line, n, *id_length, &ignored);
    return good ? BLOCK_HEADER : BLOCK_BROKEN;
}

/* ---- parsing --------------------------------------------------------------------------------- */

/* The block that the line being read is in. */
struct block {
    bool open;
    const char *id;
    uint32_t id_length;
    int64_t line; /* line of its header; 0: in an earlier chunk */
};

static struct block block_at_start(const struct text_chunk *chunk) {
    return (struct block){chunk->in_block, chunk->block_id, (uint32_t)chunk->block_id_length, 0};
}

static bool reject_no_block(struct record_batch *batch, int64_t line, const char *hint) {
    return record_batch_reject(batch, DPMF_ERR_INPUT_HEADER, line, 1, hint,
                               "the line is outside any block");
}

static bool reject_header(struct record_batch *batch, const char *text, size_t n, int64_t line,
                          const char *hint) {
    char shown[FIELD_SHOWN_MAX];
    if (n > STORE_ID_MAX)
        return record_batch_reject(batch, DPMF_ERR_INPUT_ID_TOO_LONG, line, 1, NULL,
                                   "the id is longer than %d bytes", (int)STORE_ID_MAX);
    return record_batch_reject(batch, DPMF_ERR_INPUT_HEADER, line, 1, hint,
                               "\"%s\" does not begin a block", field_show(shown, text, n));
}

static bool reject_columns(struct record_batch *batch, uint32_t n, int64_t line, int64_t column,
                           const char *hint) {
    return record_batch_reject(batch, DPMF_ERR_INPUT_COLUMNS, line, column, hint,
                               "the row has %u column%s", (unsigned)n, n == 1 ? "" : "s");
}

static bool is_blank_line(const struct row *row) {
    if (row->n != 1) return row->n == 0;
    for (const char *at = row->start[0]; at < row->stop[0]; at++)
        if (*at != ' ' && *at != '\t') return false;
    return true;
}

static inline size_t field_length(const struct row *row, int i) {
    return (size_t)(row->stop[i] - row->start[i]);
}

/* The rating in field i. @return false when it is none, and then *go_on is what the batch said */
static inline bool take_rating(struct record_batch *batch, const struct row *row, int i,
                               const char *begin, int64_t line, double *rating, bool *go_on) {
    size_t n = field_length(row, i);
    if (field_rating_quick(row->start[i], n, rating)) return true;
    if (field_rating(row->start[i], n, rating) == NUMBER_OK) return true;
    *go_on = field_reject_rating(batch, row->start[i], n, line, row->start[i] - begin + 1);
    return false;
}

static inline bool has_nul(const struct text_chunk *chunk, const struct row *row, int i) {
    return chunk->has_nul && memchr(row->start[i], 0, field_length(row, i)) != NULL;
}

/* user,rating,date under a movie. */
static inline bool take_netflix(const struct text_chunk *chunk, struct record_batch *batch,
                                const struct block *movie, const struct row *row, const char *begin,
                                int64_t line) {
    struct record record = {
        .user = row->start[0],
        .user_length = (uint32_t)field_length(row, 0),
        .item = movie->id,
        .item_length = movie->id_length,
    };
    bool go_on = true;
    if (has_nul(chunk, row, 0)) return field_reject_nul(batch, "user", line, 1);
    if (!take_rating(batch, row, 1, begin, line, &record.rating, &go_on)) return go_on;
    if (!field_time(row->start[2], field_length(row, 2), &record.time))
        return field_reject_time(batch, row->start[2], field_length(row, 2), line,
                                 row->start[2] - begin + 1);
    return record_batch_add(batch, &record, line, 1, 1, row->start[1] - begin + 1);
}

static void parse_netflix(const struct text_source *source, struct text_chunk *chunk,
                          struct record_batch *batch) {
    (void)source;
    static const char hint[] = "expected user,rating,date below a line like 1: for the movie";
    struct block movie = block_at_start(chunk);
    struct row row;
    char *at = chunk->bytes, *end = at + chunk->n;
    int64_t line = 0;
    bool go_on = true;
    while (at < end && go_on) {
        char *begin = at;
        at = row_split_single(at, ',', 3, &row);
        line++;
        if (row.n == 3) {
            if (!movie.open)
                go_on = reject_no_block(batch, line, hint);
            else
                go_on = take_netflix(chunk, batch, &movie, &row, begin, line);
            continue;
        }
        if (is_blank_line(&row)) continue;
        size_t n = field_length(&row, 0), id_length = 0;
        enum block_line kind = row.n == 1 ? netflix_block_of(begin, n, &id_length) : BLOCK_RECORD;
        if (kind == BLOCK_RECORD) {
            go_on = reject_columns(batch, row.n, line, 1, hint);
        } else {
            movie = (struct block){kind == BLOCK_HEADER, begin, (uint32_t)id_length, line};
            if (kind == BLOCK_BROKEN) go_on = reject_header(batch, begin, n, line, hint);
        }
    }
    chunk->n_lines = line;
}

/* ---- blocks that announce their length ------------------------------------------------------- */

/* The block that settling has got to, which may have begun chunks ago. */
struct count_state {
    bool open;
    int64_t line, column; /* place of the announced count */
    uint64_t announced, records;
};

static bool reject_count(struct record_batch *batch, int64_t line, int64_t column, uint64_t count,
                         uint64_t records) {
    return record_batch_reject(batch, DPMF_ERR_INPUT_COUNT, line, column, NULL,
                               "the user has %llu ratings by this line, but %llu follow",
                               (unsigned long long)count, (unsigned long long)records);
}

/* A header line: closes the block above it and opens the next. */
static bool take_yahoo_header(struct text_chunk *chunk, struct record_batch *batch,
                              struct block *user, const char *begin, size_t n, int64_t line,
                              const char *hint) {
    bool go_on = true;
    if (chunk->first_header_line == 0)
        chunk->first_header_line = line;
    else if (chunk->tail_open && chunk->tail_announced != chunk->tail_records)
        go_on = reject_count(batch, chunk->tail_line, chunk->tail_column, chunk->tail_announced,
                             chunk->tail_records);
    if (!go_on) return false;
    size_t id_length = 0;
    bool good = yahoo_block_of(begin, n, &id_length) == BLOCK_HEADER;
    *user = (struct block){good, begin, (uint32_t)id_length, line};
    chunk->tail_open = good;
    chunk->tail_line = line;
    chunk->tail_column = (int64_t)id_length + 2;
    chunk->tail_records = 0;
    if (!good) return reject_header(batch, begin, n, line, hint);
    announced(begin, n, id_length, &chunk->tail_announced);
    return true;
}

/* item rating ... under a user. */
static bool take_yahoo(const struct text_chunk *chunk, struct record_batch *batch,
                       const struct block *user, const struct row *row, const char *begin,
                       int64_t line) {
    struct record record = {
        .user = user->id,
        .user_length = user->id_length,
        .item = row->start[0],
        .item_length = (uint32_t)field_length(row, 0),
        .time = STORE_NO_TIME,
    };
    bool go_on = true;
    int64_t item_column = row->start[0] - begin + 1;
    if (has_nul(chunk, row, 0)) return field_reject_nul(batch, "item", line, item_column);
    if (!take_rating(batch, row, 1, begin, line, &record.rating, &go_on)) return go_on;
    return record_batch_add(batch, &record, line, 1, item_column, row->start[1] - begin + 1);
}

static void parse_yahoo(const struct text_source *source, struct text_chunk *chunk,
                        struct record_batch *batch) {
    (void)source;
    static const char hint[] = "expected item and rating below a line like 0|12 for the user";
    struct block user = block_at_start(chunk);
    struct row row;
    char *at = chunk->bytes, *end = at + chunk->n;
    int64_t line = 0;
    bool go_on = true;
    chunk->first_header_line = 0;
    chunk->head_records = chunk->tail_records = 0;
    chunk->tail_open = false;
    while (at < end && go_on) {
        char *begin = at;
        at = row_split_blanks(at, 2, &row);
        line++;
        if (row.n == 0) continue;
        size_t n = (size_t)(row_without_cr(begin, at - 1) - begin);
        if (memchr(begin, '|', n) != NULL) {
            go_on = take_yahoo_header(chunk, batch, &user, begin, n, line, hint);
            continue;
        }
        if (chunk->first_header_line == 0)
            chunk->head_records++;
        else
            chunk->tail_records++;
        if (!user.open)
            go_on = reject_no_block(batch, line, hint);
        else if (row.n < 2)
            go_on = reject_columns(batch, row.n, line, 1, hint);
        else
            go_on = take_yahoo(chunk, batch, &user, &row, begin, line);
    }
    chunk->n_lines = line;
}

static int begin_yahoo(struct text_source *source, const struct dpmf_input_options *options,
                       struct dpmf_error *error) {
    (void)options;
    source->state = memory_alloc_zero(1, sizeof(struct count_state));
    return source->state != NULL ? 0 : error_no_memory(error);
}

/* Rejects the count that the header on line `detected` shows to be wrong, as if parsing had seen
 * it there: what was rejected on earlier lines stays first, what was rejected from there on does
 * not. */
static void reject_count_at(const struct text_source *source, struct record_batch *batch,
                            const struct count_state *count, int64_t detected) {
    if (batch->failure.code != 0 && batch->failure.line < detected) return;
    batch->failure.code = 0;
    uint64_t before = batch->n_rejected;
    bool first = before == 0 || batch->first_rejected.line >= detected;
    if (first) batch->n_rejected = 0;
    reject_count(batch, count->line, count->column, count->announced, count->records);
    if (first && batch->n_rejected > 0) batch->n_rejected += before;
    struct dpmf_error *error = batch->failure.code != 0 ? &batch->failure : &batch->first_rejected;
    if (first || batch->failure.code != 0)
        error_place(error, source->name, count->line, count->column);
}

static void settle_yahoo(struct text_source *source, struct text_chunk *chunk,
                         struct record_batch *batch) {
    struct count_state *count = source->state;
    count->records += chunk->head_records;
    if (chunk->first_header_line == 0) return;
    int64_t before = source->lines_before;
    if (count->open && count->records != count->announced)
        reject_count_at(source, batch, count, before + chunk->first_header_line);
    *count = (struct count_state){
        .open = chunk->tail_open,
        .line = before + chunk->tail_line,
        .column = chunk->tail_column,
        .announced = chunk->tail_announced,
        .records = chunk->tail_records,
    };
}

static void finish_yahoo(struct text_source *source, struct record_batch *batch) {
    const struct count_state *count = source->state;
    if (count->open && count->records != count->announced)
        reject_count_at(source, batch, count, INT64_MAX);
}

/* ---- the formats ----------------------------------------------------------------------------- */

static bool sniff_netflix(const struct first_line *line) {
    size_t id_length;
    return line->words == 1 && netflix_block_of(line->text, line->n, &id_length) == BLOCK_HEADER;
}

static bool sniff_yahoo(const struct first_line *line) {
    size_t id_length;
    return line->words == 1 && yahoo_block_of(line->text, line->n, &id_length) == BLOCK_HEADER;
}

const struct text_format format_netflix = {
    .name = "netflix",
    .holds_ratings = true,
    .description = "a line like 1: for a movie, then user,rating,date, as in the Netflix Prize",
    .sniff = sniff_netflix,
    .block_of = netflix_block_of,
    .block_mark = ':',
    .parse = parse_netflix,
};

const struct text_format format_yahoo = {
    .name = "yahoo",
    .holds_ratings = true,
    .description =
        "a line like 0|12 for a user, then item and rating, as in Yahoo and KDD Cup sets",
    .sniff = sniff_yahoo,
    .begin = begin_yahoo,
    .block_of = yahoo_block_of,
    .block_mark = '|',
    .parse = parse_yahoo,
    .settle = settle_yahoo,
    .finish = finish_yahoo,
};
