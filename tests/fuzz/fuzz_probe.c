/*
 * Property: no probe file, however made and in whatever pieces it comes, makes the parser crash or
 * read out of bounds; the pieces it comes in make no difference; what it accepts can be looked up,
 * each user's items distinct. The first byte of the input is the size of the pieces.
 */
#include <stdlib.h>
#include <string.h>

#include "split/probe_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* @return the parser's code; *probe may be NULL then */
static int parse(const char *bytes, size_t n, size_t piece, struct probe_file **probe,
                 struct dpmf_error *error) {
    *probe = NULL;
    int code = probe_file_init(probe, error);
    for (size_t at = 0; at < n && code == 0; at += piece) {
        /* A copy of the exact size, so that reading past a piece is found out. */
        size_t length = n - at < piece ? n - at : piece;
        char *copy = malloc(length);
        if (!copy) abort();
        memcpy(copy, bytes + at, length);
        code = probe_file_feed(*probe, "fuzz", copy, length, error);
        free(copy);
    }
    return code == 0 ? probe_file_end(*probe, "fuzz", error) : code;
}

static void look_up(const struct probe_file *probe, const char *bytes, size_t n) {
    uint64_t most = probe_file_n_pairs(probe);
    for (size_t from = 0; from < n; from++) {
        if (from > 0 && bytes[from - 1] != '\n') continue;
        const char *newline = memchr(bytes + from, '\n', n - from);
        size_t length = newline ? (size_t)(newline - bytes) - from : n - from;
        if (length > STORE_ID_MAX) continue;
        const struct probe_pair *pair = NULL;
        size_t found = probe_file_user(probe, bytes + from, length, &pair);
        if (found > most) abort();
        for (size_t i = 1; i < found; i++)
            if (pair[i].user != pair[0].user || pair[i].item <= pair[i - 1].item) abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    const char *bytes = (const char *)data + 1;
    struct probe_file *whole, *pieces;
    struct dpmf_error error = {0}, error_in_pieces = {0};
    int code = parse(bytes, size - 1, size, &whole, &error);
    int code_in_pieces = parse(bytes, size - 1, (size_t)data[0] + 1, &pieces, &error_in_pieces);
    if (code != code_in_pieces || error.line != error_in_pieces.line ||
        error.column != error_in_pieces.column)
        abort();
    if (code == 0 && probe_file_n_pairs(whole) != probe_file_n_pairs(pieces)) abort();
    if (code == 0 && size < 4096) look_up(whole, bytes, size - 1);
    probe_file_free(whole);
    probe_file_free(pieces);
    return 0;
}
