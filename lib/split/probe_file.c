/*
 * Reads probe files line by line, whatever the pieces the bytes come in, and keeps the distinct
 * pairs sorted by user. Memory is a few bytes a pair and each id once; a line is held only up to
 * its first comma and never beyond the longest id. Feeds split.c.
 */
#include "split/probe_file.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "ratings/id_map.h"
#include "tables/input_stream.h"

enum { LINE_MAX_BYTES = STORE_ID_MAX + 256, PIECE = 1 << 16 };

struct probe_file {
    struct id_map *users, *items;
    struct probe_pair *pair;
    size_t n_pairs, pair_capacity;
    uint64_t *user_start; /* user u's pairs are user_start[u] .. user_start[u+1]-1, after the end */

    /* Where the reading is. */
    char line[LINE_MAX_BYTES]; /* the beginning of a line whose end is in the next piece */
    size_t n_line;
    bool past_comma; /* the rest of this line does not matter */
    int64_t line_number;
    bool has_item;
    uint32_t item;
};

/* ---- lines ----------------------------------------------------------------------------------- */

static int fail(const struct probe_file *probe, int code, const char *name, size_t column,
                const char *message, const char *hint, struct dpmf_error *error) {
    error_set(error, code, "%s", message);
    error_place(error, name, probe->line_number, (int64_t)column + 1);
    if (hint) error_hint(error, "%s", hint);
    return code;
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static int add_id(const struct probe_file *probe, struct id_map *map, const char *name,
                  const char *id, size_t n, size_t column, const char *what, uint32_t *number,
                  struct dpmf_error *error) {
    if (n == 0) {
        bool user = strcmp(what, "user") == 0;
        return fail(probe, DPMF_ERR_INPUT_ID, name, column,
                    user ? "the user id is empty" : "the item id is empty", NULL, error);
    }
    if (n > STORE_ID_MAX)
        return fail(probe, DPMF_ERR_INPUT_ID_TOO_LONG, name, column, "the id is longer than 64 KiB",
                    NULL, error);
    return id_map_add(map, (struct id_text){id, (uint32_t)n}, number, error);
}

static int add_pair(struct probe_file *probe, uint32_t user, struct dpmf_error *error) {
    if (!memory_reserve(&probe->pair, &probe->pair_capacity, probe->n_pairs + 1,
                        sizeof *probe->pair))
        return error_no_memory(error);
    probe->pair[probe->n_pairs++] = (struct probe_pair){user, probe->item};
    return 0;
}

/* A whole line without its newline, or as much of it as comes up to its first comma, which is then
 * the last byte. */
static int take_line(struct probe_file *probe, const char *name, const char *line, size_t n,
                     struct dpmf_error *error) {
    assert(line || n == 0);
    bool has_comma = n > 0 && line[n - 1] == ',';
    size_t first = 0, end = has_comma ? n - 1 : n;
    if (probe->line_number == 1 && end >= 3 && memcmp(line, "\xEF\xBB\xBF", 3) == 0) first = 3;
    while (first < end && is_blank(line[first])) first++;
    while (end > first && is_blank(line[end - 1])) end--;
    if (first == end && !has_comma) return 0; /* an empty line */

    if (!has_comma && line[end - 1] == ':') {
        end--;
        while (end > first && is_blank(line[end - 1])) end--;
        int code = add_id(probe, probe->items, name, line + first, end - first, first, "item",
                          &probe->item, error);
        probe->has_item = code == 0;
        return code;
    }
    if (!probe->has_item)
        return fail(probe, DPMF_ERR_INPUT_HEADER, name, first, "a user id before any item",
                    "a probe file has an item's id and a colon on a line, as in `1:`, and then a "
                    "user id per line",
                    error);
    uint32_t user;
    int code =
        add_id(probe, probe->users, name, line + first, end - first, first, "user", &user, error);
    return code != 0 ? code : add_pair(probe, user, error);
}

/* Adds to the line that is being held. */
static int hold(struct probe_file *probe, const char *name, const char *bytes, size_t n,
                struct dpmf_error *error) {
    assert(bytes || n == 0);
    if (probe->past_comma || n == 0) return 0;
    const char *comma = memchr(bytes, ',', n);
    if (comma) n = (size_t)(comma - bytes) + 1;
    if (n > LINE_MAX_BYTES - probe->n_line)
        return fail(probe, DPMF_ERR_INPUT_LINE_TOO_LONG, name, LINE_MAX_BYTES,
                    "the line is longer than any id may be", "is this a probe file?", error);
    memcpy(probe->line + probe->n_line, bytes, n);
    probe->n_line += n;
    probe->past_comma = comma != NULL;
    return 0;
}

static int end_line(struct probe_file *probe, const char *name, struct dpmf_error *error) {
    int code = take_line(probe, name, probe->line, probe->n_line, error);
    probe->n_line = 0;
    probe->past_comma = false;
    probe->line_number++;
    return code;
}

int probe_file_feed(struct probe_file *probe, const char *name, const char *bytes, size_t n,
                    struct dpmf_error *error) {
    for (size_t at = 0; at < n;) {
        const char *newline = memchr(bytes + at, '\n', n - at);
        size_t end = newline ? (size_t)(newline - bytes) : n;
        int code = hold(probe, name, bytes + at, end - at, error);
        if (code == 0 && newline) code = end_line(probe, name, error);
        if (code != 0) return code;
        at = end + 1;
    }
    return 0;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static int compare_pairs(const void *a, const void *b) {
    const struct probe_pair *x = a, *y = b;
    if (x->user != y->user) return x->user < y->user ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

static void sort_pairs(struct probe_file *probe) {
    if (probe->n_pairs > 0) qsort(probe->pair, probe->n_pairs, sizeof *probe->pair, compare_pairs);
    size_t at = 0;
    for (uint64_t user = 0; user <= id_map_size(probe->users); user++) {
        while (at < probe->n_pairs && probe->pair[at].user < user) at++;
        probe->user_start[user] = at;
    }
}

int probe_file_end(struct probe_file *probe, const char *name, struct dpmf_error *error) {
    if (probe->n_line > 0) {
        int code = end_line(probe, name, error);
        if (code != 0) return code;
    }
    if (probe->n_pairs == 0) {
        error_set(error, DPMF_ERR_INPUT_EMPTY, "the probe file names no pairs");
        return error_place(error, name, 0, 0);
    }
    qsort(probe->pair, probe->n_pairs, sizeof *probe->pair, compare_pairs);
    size_t kept = 1;
    for (size_t i = 1; i < probe->n_pairs; i++)
        if (compare_pairs(&probe->pair[i], &probe->pair[kept - 1]) != 0)
            probe->pair[kept++] = probe->pair[i];
    probe->n_pairs = kept;
    probe->user_start = memory_alloc(id_map_size(probe->users) + 1, sizeof *probe->user_start);
    if (!probe->user_start) return error_no_memory(error);
    sort_pairs(probe);
    return 0;
}

uint64_t probe_file_n_pairs(const struct probe_file *probe) { return probe->n_pairs; }

int probe_file_bind(struct probe_file *probe, const struct dpmf_store *store,
                    struct dpmf_error *error) {
    uint64_t n = id_map_size(probe->items);
    uint32_t *number = memory_alloc(n > 0 ? n : 1, sizeof *number);
    if (!number) return error_no_memory(error);
    for (uint64_t i = 0; i < n; i++) number[i] = UINT32_MAX; /* no store has that many items */
    for (uint64_t j = 0; j < store_n_items(store); j++) {
        struct store_item item = store_item_at(store, j);
        uint32_t found = id_map_find(probe->items, (struct id_text){item.id, item.id_length});
        if (found != ID_MAP_NONE) number[found] = (uint32_t)j;
    }
    for (size_t i = 0; i < probe->n_pairs; i++) probe->pair[i].item = number[probe->pair[i].item];
    free(number);
    sort_pairs(probe);
    return 0;
}

size_t probe_file_user(const struct probe_file *probe, const char *id, size_t id_length,
                       const struct probe_pair **pairs) {
    if (id_length == 0) return 0;
    uint32_t user = id_map_find(probe->users, (struct id_text){id, (uint32_t)id_length});
    if (user == ID_MAP_NONE) return 0;
    *pairs = probe->pair + probe->user_start[user];
    return (size_t)(probe->user_start[user + 1] - probe->user_start[user]);
}

/* ---- the file -------------------------------------------------------------------------------- */

int probe_file_init(struct probe_file **probe_out, struct dpmf_error *error) {
    struct probe_file *probe = memory_alloc_zero(1, sizeof *probe);
    if (!probe) return error_no_memory(error);
    probe->line_number = 1;
    int code = id_map_init(&probe->users, error);
    if (code == 0) code = id_map_init(&probe->items, error);
    if (code != 0) {
        probe_file_free(probe);
        return code;
    }
    *probe_out = probe;
    return 0;
}

void probe_file_free(struct probe_file *probe) {
    if (!probe) return;
    id_map_free(probe->users);
    id_map_free(probe->items);
    free(probe->pair);
    free(probe->user_start);
    free(probe);
}

int probe_file_read(const char *path, struct probe_file **probe_out, struct dpmf_error *error) {
    struct probe_file *probe = NULL;
    struct input_stream *stream = NULL;
    char *piece = memory_alloc(PIECE, 1);
    int code = piece ? probe_file_init(&probe, error) : error_no_memory(error);
    if (code == 0) code = input_stream_open(path, NULL, &stream, error);
    size_t got = 1;
    while (code == 0 && got > 0) {
        code = input_stream_read(stream, piece, PIECE, &got, error);
        if (code == 0) code = probe_file_feed(probe, input_stream_name(stream), piece, got, error);
    }
    if (code == 0) code = probe_file_end(probe, input_stream_name(stream), error);
    input_stream_close(stream);
    free(piece);
    if (code == 0)
        *probe_out = probe;
    else
        probe_file_free(probe);
    return code;
}
