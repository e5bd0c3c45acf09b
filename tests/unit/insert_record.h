/*
 * The property of every reader that a private run accepts: a line that is inserted anywhere among
 * the records is read as it would be by itself, and every other record as if it were not there.
 * Shared by test_insert_record.c, which makes lines up, and by fuzz_insert_record.c, which searches
 * for them.
 */
#ifndef DPMF_TESTS_INSERT_RECORD_H
#define DPMF_TESTS_INSERT_RECORD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ratings/text_source.h"
#include "read_text.h"

enum { INSERT_LINES = 6, INSERT_RECORD_MAX = 160, INSERT_LINE_MAX = 1000 };

/* A layout that is declared, and ratings in it, a line each, all of them good. */
struct insert_reader {
    const char *name, *format, *columns;
    char separator;
    bool events;        /* declared */
    const char *header; /* "" where there is none */
    const char *line[INSERT_LINES];
};

static const struct insert_reader insert_readers[] = {
    {.name = "csv with a header",
     .header = "user,item,rating,timestamp\n",
     .line = {"ann,a,5,10", "\"bob, b.\",a,3,", "ann,b,-0,2005-09-06", "cleo,\"c\"\"d\",1e0,7",
              "dan,a,4.5,9", "bob,b,2,1"}},
    {.name = "csv with semicolons, found by its header",
     .format = "csv",
     .header = "\"item\";\"user\";\"rating\"\n",
     .line = {"a;ann;5", "a;\"bob; b.\";3", "b;ann;-0", "\"c,d\";cleo;1e0", "a;dan;4.5",
              "b;bob;2"}},
    {.name = "csv of declared columns",
     .format = "csv",
     .columns = "user,_,item,rating",
     .separator = '|',
     .header = "",
     .line = {"ann|x|a|5", "\"bob|b\"||a|3", "ann|user|b|-0", "cleo|item|\"c\"|1e0", "dan||a|4.5",
              "user|item|rating|2"}},
    {.name = "csv of declared columns below a header",
     .columns = "user,item,rating",
     .separator = ',',
     .header = "who,what,how\n",
     .line = {"ann,a,5", "bob,a,3", "ann,b,-0", "cleo,c,1e0", "dan,a,4.5", "bob,b,2"}},
    {.name = "tsv with a header",
     .header = "movieId\tuserId\trating\n",
     .line = {"a\tann\t5", "a\t\"bob\tb\"\t3", "b\tann\t-0", "c\tcleo\t1e0", "a\tdan\t4.5",
              "b\tbob\t2"}},
    {.name = "tsv of declared columns",
     .format = "tsv",
     .columns = "user,item,rating,timestamp",
     .header = "",
     .line = {"ann\ta\t5\t1", "\"bob\tb\"\ta\t3\t", "ann\tb\t-0\t3", "cleo\tc\t1e0\t4",
              "dan\ta\t4.5\t5", "bob\tb\t2\t6"}},
    {.name = "movielens",
     .format = "movielens",
     .header = "",
     .line = {"ann::a::5::1", "bob::a::3", "ann::b:c::-0::7", "cleo::c::1e0::", "dan::a::4.5",
              "bob::b::2::9"}},
    {.name = "u.data",
     .format = "u.data",
     .header = "",
     .line = {"1\t7\t5\t1", "2\t7\t3\t", "1\t8\t-0\t3", "3\t9\t1e0\t4", "4\t7\t4.5\t5",
              "2\t8\t2\t6"}},
    {.name = "libmf",
     .format = "libmf",
     .header = "",
     .line = {"1 7 5", " 02\t7 3", "1 8 -0", "3  9  1e0", "4 7 4.5\r", "2 8 2"}},
    {.name = "matrixmarket",
     .header = "%%MatrixMarket matrix coordinate real general\n% a comment\n9 9 6\n",
     .line = {"1 7 5", "2 7 3", "1 8 -0", "3 9 1e0", "4 7 4.5", "2 8 2"}},
    {.name = "inter",
     .header = "user_id:token\titem_id:token\trating:float\ttimestamp:float\n",
     .line = {"ann\ta\t5\t1", "bob\ta\t3\t2", "ann\tb\t-0\t3", "cleo\t\"c\t1e0\t4",
              "dan\ta\t4.5\t5", "bob\tb\t2\t6"}},
    {.name = "jsonl",
     .format = "jsonl",
     .header = "",
     .line = {"{\"user\":\"ann\",\"item\":\"a\",\"rating\":5}",
              "{\"user\":2,\"item\":\"a\",\"rating\":\"3\",\"timestamp\":null}",
              "{\"rating\":-0,\"item\":\"b\",\"user\":\"ann\",\"more\":[{\"user\":1}]}",
              "{\"user\":\"cl\\u0065o\",\"item\":\"c\\n\",\"rating\":1e0}",
              " {\"user\":\"dan\",\"item\":\"a\",\"rating\":4.5}",
              "{\"user\":2,\"item\":\"b\",\"rating\":2,\"time\":\"2005-09-06\"}"}},
    {.name = "csv of pairs with a header",
     .header = "userId,songId\n",
     .line = {"ann,a", "\"bob, b.\",a", "ann,b", "cleo,\"c\"\"d\"", "user,a", "bob,item"}},
    {.name = "csv of counts with a header",
     .header = "user,item,plays,timestamp\n",
     .line = {"ann,a,5,10", "\"bob, b.\",a,3,", "ann,b,1e0,2005-09-06",
              "cleo,\"c\",9007199254740991,7", "dan,a,4.0,9", "bob,b,2,1"}},
    {.name = "csv of declared pairs",
     .format = "csv",
     .columns = "item,user",
     .separator = ',',
     .header = "",
     .line = {"a,ann", "a,\"bob, b.\"", "b,ann", "item,item", "user,user", "b,bob"}},
    {.name = "csv of declared pairs below a header",
     .format = "csv",
     .columns = "user,item,timestamp",
     .separator = ';',
     .header = "user;item;when\n",
     .line = {"ann;a;1", "bob;a;", "ann;b;3", "cleo;c;2005-09-06", "user;a;5", "b;item;6"}},
    {.name = "tsv of declared counts",
     .format = "tsv",
     .columns = "user,item,count",
     .header = "",
     .line = {"ann\ta\t5", "bob\ta\t3", "ann\tb\t1", "cleo\tc\t1e0", "dan\ta\t4", "bob\tb\t2"}},
    {.name = "inter without ratings",
     .events = true,
     .header = "user_id:token\titem_id:token\tsession:token\n",
     .line = {"ann\ta\t1", "bob\ta\t2", "ann\tb\t", "cleo\t\"c\t4", "user\ta\tx", "b\titem\t6"}},
    {.name = "inter with floats for ids",
     .header = "user_id:float\titem_id:float\trating:float\n",
     .line = {"1\t7\t5", "2.0\t7.0\t3", "1.\t8\t-0", "3e0\t9\t1e0", "04\t70e-1\t4.5", "2\t8\t2"}},
    {.name = "inter with floats for users",
     .header = "rating:float\tuser_id:float\titem_id:token\n",
     .line = {"5\t1\ta", "3\t-2.0\tb", "-0\t1.0\tb", "1e0\t3\t7.0", "4.5\t4\ta", "2\t-2\ta"}},
    {.name = "libmf of counts",
     .format = "libmf",
     .events = true,
     .header = "",
     .line = {"1 7 5", " 02\t7 3", "1 8 1", "3  9  1e0", "4 7 4\r", "2 8 2"}},
    {.name = "libmf of pairs",
     .format = "libmf",
     .columns = "user,item",
     .header = "",
     .line = {"1 7", " 02\t7", "1 8", "3  9", "4 7\r", "2 8"}},
    {.name = "matrixmarket pattern",
     .header = "%%MatrixMarket matrix coordinate pattern general\n9 9 6\n",
     .line = {"1 7", "2 7", "1 8", "3 9", "4 7", "2 8"}},
    {.name = "jsonl of events",
     .format = "jsonl",
     .events = true,
     .header = "",
     .line = {"{\"user\":\"ann\",\"item\":\"a\"}", "{\"user\":2,\"item\":\"a\",\"count\":\"3\"}",
              "{\"plays\":7,\"item\":\"b\",\"user\":\"ann\",\"more\":[{\"user\":1}]}",
              "{\"user\":\"cleo\",\"item\":\"c\",\"rating\":0.5,\"count\":1}",
              " {\"user\":\"dan\",\"item\":\"a\",\"time\":null}", "{\"user\":2,\"item\":\"b\"}"}},
};

enum { INSERT_READERS = sizeof insert_readers / sizeof insert_readers[0] };

static inline struct dpmf_input_options insert_options(const struct insert_reader *reader) {
    struct dpmf_input_options options = dpmf_input_options_default();
    options.format = reader->format;
    options.columns = reader->columns;
    options.separator = reader->separator;
    options.events = reader->events;
    options.by_record = options.skip_bad = true;
    return options;
}

/* ---- texts ----------------------------------------------------------------------------------- */

struct insert_text {
    char bytes[8 * INSERT_LINE_MAX];
    size_t n;
};

static inline void insert_text_add(struct insert_text *text, const char *bytes, size_t n) {
    if (n > sizeof text->bytes - text->n) abort();
    memcpy(text->bytes + text->n, bytes, n);
    text->n += n;
}

static inline void insert_text_line(struct insert_text *text, const char *line, size_t n) {
    insert_text_add(text, line, n);
    insert_text_add(text, "\n", 1);
}

/* The reader's lines, and `line` before the `place`-th of them; without it where it is NULL. */
static inline void insert_text_make(const struct insert_reader *reader, size_t place,
                                    const char *line, size_t n, struct insert_text *text) {
    text->n = 0;
    insert_text_add(text, reader->header, strlen(reader->header));
    for (size_t i = 0; i <= INSERT_LINES; i++) {
        if (line != NULL && i == place) insert_text_line(text, line, n);
        if (i < INSERT_LINES) insert_text_line(text, reader->line[i], strlen(reader->line[i]));
    }
}

/* ---- records --------------------------------------------------------------------------------- */

/* Records as text that no two of them share, and where each begins. */
struct insert_records {
    char bytes[16 * INSERT_LINE_MAX];
    size_t n, start[2 * INSERT_LINES], count;
};

static inline int insert_take(void *self, const struct record *records, int n,
                              struct dpmf_error *error) {
    struct insert_records *out = self;
    (void)error;
    for (int i = 0; i < n; i++) {
        const struct record *record = &records[i];
        uint64_t bits;
        read_text_check(record);
        memcpy(&bits, &record->rating, sizeof bits);
        if (out->count == 2 * INSERT_LINES ||
            record->user_length + record->item_length + 100 > sizeof out->bytes - out->n)
            abort();
        out->start[out->count++] = out->n;
        out->n += (size_t)snprintf(out->bytes + out->n, 100, "%u %u %016llx %lld ",
                                   (unsigned)record->user_length, (unsigned)record->item_length,
                                   (unsigned long long)bits, (long long)record->time);
        memcpy(out->bytes + out->n, record->user, record->user_length);
        out->n += record->user_length;
        memcpy(out->bytes + out->n, record->item, record->item_length);
        out->n += record->item_length;
    }
    return 0;
}

static inline void insert_read(const struct insert_reader *reader, const struct insert_text *text,
                               size_t chunk_size, struct insert_records *out) {
    static struct record_batch batch;
    const struct dpmf_input_options options = insert_options(reader);
    const struct text_settings settings = {chunk_size, INSERT_RECORD_MAX};
    struct read_text_tally tally = {0, {.code = 0}};
    struct dpmf_error error = {0};
    struct source *source = NULL;
    struct input_stream *stream = NULL;
    out->n = out->count = 0;
    int code = stream_of(text->bytes, text->n, "t", &stream, &error);
    if (code == 0) code = text_source_open_stream(stream, &options, &settings, &source, &error);
    if (code == 0) {
        void *chunk = source->ops->chunk_new(source);
        batch.take = insert_take;
        batch.self = out;
        batch.options = &options;
        batch.counts = source->layout.holds_events;
        code = read_text_all(source, &batch, chunk, &tally, &error);
        source->ops->chunk_free(chunk);
        source->ops->close(source);
    }
    if (code == 0) return;
    fprintf(stderr, "%s: the text is refused: %s\n", reader->name, error.message);
    abort();
}

static inline size_t insert_end(const struct insert_records *records, size_t i) {
    return i + 1 < records->count ? records->start[i + 1] : records->n;
}

/* Adds records first .. end - 1 of `from`. */
static inline void insert_records_add(struct insert_records *to, const struct insert_records *from,
                                      size_t first, size_t end) {
    for (size_t i = first; i < end; i++) {
        size_t n = insert_end(from, i) - from->start[i];
        memcpy(to->bytes + to->n, from->bytes + from->start[i], n);
        to->start[to->count++] = to->n;
        to->n += n;
    }
}

static inline void insert_show(const char *what, const struct insert_records *records) {
    fprintf(stderr, "---- %s\n", what);
    for (size_t i = 0; i < records->count; i++)
        fprintf(stderr, "%.*s\n", (int)(insert_end(records, i) - records->start[i]),
                records->bytes + records->start[i]);
}

/* ---- the property ---------------------------------------------------------------------------- */

/* What the line is by itself: after a line that it has nothing to do with, since a byte order mark
 * is one at the very beginning alone. */
static inline void insert_read_alone(const struct insert_reader *reader, const char *line, size_t n,
                                     struct insert_records *own) {
    static struct insert_text text;
    static struct insert_records both;
    text.n = both.n = own->n = own->count = 0;
    insert_text_add(&text, reader->header, strlen(reader->header));
    insert_text_line(&text, reader->line[0], strlen(reader->line[0]));
    insert_text_line(&text, line, n);
    insert_read(reader, &text, 0, &both);
    insert_records_add(own, &both, 1, both.count);
}

/* The records of the reader's own lines. They are read when another reader is asked for than
 * before: most of the time is spent on opening a source. */
static inline const struct insert_records *insert_base(const struct insert_reader *reader) {
    static struct insert_text text;
    static struct insert_records base;
    static const struct insert_reader *last;
    if (last == reader) return &base;
    insert_text_make(reader, 0, NULL, 0, &text);
    insert_read(reader, &text, 0, &base);
    if (base.count != INSERT_LINES) abort();
    last = reader;
    return &base;
}

/* Ends the process where the property does not hold. `line` has no line feed. */
static inline void insert_record_check(const struct insert_reader *reader, size_t place,
                                       const char *line, size_t n, size_t chunk_size) {
    static struct insert_text text;
    static struct insert_records own, wanted, got;
    const struct insert_records *base = insert_base(reader);
    insert_read_alone(reader, line, n, &own);
    insert_text_make(reader, place, line, n, &text);
    insert_read(reader, &text, chunk_size, &got);

    bool has_mark = n >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0;
    if (has_mark && place == 0 && reader->header[0] == '\0') {
        /* Then its own id is without the mark; what the others are is still the same. */
        own.n = own.count = 0;
        insert_records_add(&own, &got, 0, got.count - INSERT_LINES);
    }
    wanted.n = wanted.count = 0;
    insert_records_add(&wanted, base, 0, place);
    insert_records_add(&wanted, &own, 0, own.count);
    insert_records_add(&wanted, base, place, INSERT_LINES);
    if (own.count <= 1 && got.n == wanted.n && memcmp(got.bytes, wanted.bytes, got.n) == 0) return;
    fprintf(stderr, "%s: a line of %zu bytes before line %zu, chunks of %zu:\n%.*s\n", reader->name,
            n, place, chunk_size, (int)n, line);
    insert_show("wanted", &wanted);
    insert_show("got", &got);
    abort();
}

#endif
