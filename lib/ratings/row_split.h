/*
 * Cuts a row of text into its columns: the innermost loop of reading ratings. Eight bytes are
 * looked at at a time, so that the short fields of ratings cost neither a call nor a mispredicted
 * loop.
 *
 * The text must end with a newline, and after its end ROW_SLACK bytes must be readable; for
 * row_split_quoted the first of them must be a quote, which stops the search for the closing one.
 */
#ifndef DPMF_RATINGS_ROW_SPLIT_H
#define DPMF_RATINGS_ROW_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { ROW_COLUMNS_MAX = 256, ROW_SLACK = 16 };

enum row_kind {
    ROW_SINGLE,       /* one separator byte */
    ROW_QUOTED,       /* one separator byte, fields perhaps in quotes (RFC 4180) */
    ROW_DOUBLE_COLON, /* "::" */
    ROW_BLANKS,       /* runs of spaces and tabs, also before the first field */
};

enum row_fault {
    ROW_SOUND,
    ROW_QUOTE_OPEN,   /* a quote is never closed */
    ROW_QUOTE_TAIL,   /* text between a closing quote and the separator */
    ROW_QUOTE_INSIDE, /* a quote in a field that does not begin with one */
};

/* Fields beyond `wanted` are counted but not kept, but for where the first of them begins. */
struct row {
    uint32_t n; /* columns found */
    char *start[ROW_COLUMNS_MAX + 1];
    char *stop[ROW_COLUMNS_MAX + 1];

    /* Only row_split_quoted sets these: fields with newlines make lines and columns a matter of
     * book-keeping. Lines are relative to the row's first, which is 0. */
    uint32_t line[ROW_COLUMNS_MAX + 1];
    int64_t column[ROW_COLUMNS_MAX + 1]; /* 1-based */
    int64_t end_column;                  /* column of the row's end */
    uint32_t newlines;                   /* inside quotes, in the whole row */
    enum row_fault fault;
    uint32_t fault_line;
    int64_t fault_column;
};

/* ---- eight bytes at a time ------------------------------------------------------------------- */

#define ROW_EACH_BYTE(c) (UINT64_C(0x0101010101010101) * (uint8_t)(c))

static inline uint64_t row_load(const char *at) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* The top bit of each byte that equals the pattern's; only the lowest such bit can be relied
 * upon. */
static inline uint64_t row_match(uint64_t word, uint64_t pattern) {
    uint64_t zero = word ^ pattern;
    return (zero - ROW_EACH_BYTE(1)) & ~zero & ROW_EACH_BYTE(0x80);
}

static inline char *row_find_2(char *at, uint64_t a, uint64_t b) {
    for (;; at += 8) {
        uint64_t word = row_load(at);
        uint64_t found = row_match(word, a) | row_match(word, b);
        if (found != 0) return at + (__builtin_ctzll(found) >> 3);
    }
}

static inline char *row_find_3(char *at, uint64_t a, uint64_t b, uint64_t c) {
    for (;; at += 8) {
        uint64_t word = row_load(at);
        uint64_t found = row_match(word, a) | row_match(word, b) | row_match(word, c);
        if (found != 0) return at + (__builtin_ctzll(found) >> 3);
    }
}

/* ---- splitting: each @return the beginning of the next row ----------------------------------- */

static inline void row_keep(struct row *row, uint32_t wanted, char *start, char *stop) {
    uint32_t i = row->n++;
    if (i > wanted) return;
    row->start[i] = start;
    row->stop[i] = stop;
}

/* The end of a row's last field, without the CR of a CR LF. */
static inline char *row_without_cr(const char *start, char *newline) {
    return newline > start && newline[-1] == '\r' ? newline - 1 : newline;
}

static inline char *row_split_single(char *at, char separator, uint32_t wanted, struct row *row) {
    uint64_t a = ROW_EACH_BYTE(separator), newline = ROW_EACH_BYTE('\n');
    row->n = 0;
    for (;;) {
        char *stop = row_find_2(at, a, newline);
        if (*stop == '\n') {
            row_keep(row, wanted, at, row_without_cr(at, stop));
            return stop + 1;
        }
        row_keep(row, wanted, at, stop);
        at = stop + 1;
    }
}

static inline char *row_split_double_colon(char *at, uint32_t wanted, struct row *row) {
    uint64_t colon = ROW_EACH_BYTE(':'), newline = ROW_EACH_BYTE('\n');
    row->n = 0;
    for (char *from = at;;) {
        char *stop = row_find_2(from, colon, newline);
        if (*stop == '\n') {
            row_keep(row, wanted, at, row_without_cr(at, stop));
            return stop + 1;
        }
        if (stop[1] != ':') {
            from = stop + 1;
            continue;
        }
        row_keep(row, wanted, at, stop);
        from = at = stop + 2;
    }
}

static inline char *row_split_blanks(char *at, uint32_t wanted, struct row *row) {
    uint64_t space = ROW_EACH_BYTE(' '), tab = ROW_EACH_BYTE('\t'), newline = ROW_EACH_BYTE('\n');
    row->n = 0;
    for (;;) {
        while (*at == ' ' || *at == '\t') at++;
        if (*at == '\r' && at[1] == '\n') at++;
        if (*at == '\n') return at + 1;
        char *stop = row_find_3(at, space, tab, newline);
        row_keep(row, wanted, at, *stop == '\n' ? row_without_cr(at, stop) : stop);
        at = stop;
    }
}

/* The position in lines within a row that is being split. */
struct row_place {
    uint32_t line;
    const char *line_start;
};

static inline void row_set_fault(struct row *row, enum row_fault fault,
                                 const struct row_place *place, const char *at) {
    if (row->fault != ROW_SOUND) return;
    row->fault = fault;
    row->fault_line = place->line;
    row->fault_column = at - place->line_start + 1;
}

/* The field whose opening quote is at `at`: takes doubled quotes out, in place. @return the closing
 * quote, or `end` when there is none; *stop is the end of the text */
static inline char *row_unquote(char *at, const char *end, struct row_place *place, char **stop) {
    char *out = ++at;
    for (;;) {
        char *from = at;
        while (*at != '"') {
            if (*at == '\n') place->line++, place->line_start = at + 1;
            at++;
        }
        if (out != from) memmove(out, from, (size_t)(at - from));
        out += at - from;
        if (at == end || at + 1 == end || at[1] != '"') break;
        *out++ = '"';
        at += 2;
    }
    *stop = out;
    return at;
}

static inline char *row_split_quoted(char *at, const char *end, char separator, uint32_t wanted,
                                     struct row *row) {
    uint64_t a = ROW_EACH_BYTE(separator), newline = ROW_EACH_BYTE('\n'),
             quote = ROW_EACH_BYTE('"');
    struct row_place place = {0, at};
    row->n = 0;
    row->fault = ROW_SOUND;
    for (;;) {
        uint32_t i = row->n;
        if (i <= wanted) {
            row->line[i] = place.line;
            row->column[i] = at - place.line_start + 1;
        }
        char *start = at, *stop;
        if (*at == '"') {
            struct row_place opened = place;
            char *opening = at;
            start = at + 1;
            at = row_unquote(at, end, &place, &stop);
            if (at == end) {
                row_set_fault(row, ROW_QUOTE_OPEN, &opened, opening);
                row->newlines = place.line - 1; /* the last ends the row, not a line of the field */
                return at;
            }
            at++;
            bool ends = *at == separator || *at == '\n' || (*at == '\r' && at[1] == '\n');
            if (!ends) row_set_fault(row, ROW_QUOTE_TAIL, &place, at);
            at = row_find_2(at, a, newline);
        } else {
            for (at = row_find_3(at, a, newline, quote); *at == '"';
                 at = row_find_3(at + 1, a, newline, quote))
                row_set_fault(row, ROW_QUOTE_INSIDE, &place, at);
            stop = *at == '\n' ? row_without_cr(start, at) : at;
        }
        row_keep(row, wanted, start, stop);
        if (*at++ == '\n') break;
    }
    row->newlines = place.line;
    row->end_column = at - place.line_start;
    return at;
}

/* The same for a single line, as if there were no others: a quote that is not closed in it is a
 * fault of this line alone. */
static inline char *row_split_quoted_line(char *at, char *end, char separator, uint32_t wanted,
                                          struct row *row) {
    char *line_end = (char *)memchr(at, '\n', (size_t)(end - at)) + 1;
    const char next = *line_end;
    *line_end = '"';
    row_split_quoted(at, line_end, separator, wanted, row);
    *line_end = next;
    return line_end;
}

static inline __attribute__((always_inline)) char *row_split(enum row_kind kind, char *at,
                                                             const char *end, char separator,
                                                             uint32_t wanted, struct row *row) {
    switch (kind) {
    case ROW_QUOTED: return row_split_quoted(at, end, separator, wanted, row);
    case ROW_DOUBLE_COLON: return row_split_double_colon(at, wanted, row);
    case ROW_BLANKS: return row_split_blanks(at, wanted, row);
    default: return row_split_single(at, separator, wanted, row);
    }
}

/* @return whether there is nothing in the row but blanks */
static inline bool row_is_blank(const struct row *row) {
    if (row->n != 1) return row->n == 0;
    for (const char *at = row->start[0]; at < row->stop[0]; at++)
        if (*at != ' ' && *at != '\t') return false;
    return true;
}

#endif
