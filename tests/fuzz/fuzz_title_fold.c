/*
 * Property: whatever its bytes, a title is folded, taken apart, shown and given keys within the
 * room for them; a folded text folds to itself; and a catalogue of two such titles finds the first
 * by its own name. The first byte is where the text is cut in two.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dpmf_client.h"
#include "titles/title_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_fold(const char *text, size_t n) {
    char folded[TITLE_FOLD_ROOM], again[TITLE_FOLD_ROOM];
    const size_t length = title_fold(text, n, folded);
    if (length >= TITLE_FOLD_ROOM || (length > 0 && folded[length - 1] == ' ')) abort();
    if (length > TITLE_BYTES) return; /* more than is looked at */
    if (title_fold(folded, length, again) != length || memcmp(folded, again, length) != 0) abort();
}

static void check_keys(const char *text, size_t n) {
    char *key = malloc(TITLE_KEY_ROOM);
    struct title_parts parts;
    if (key == NULL) return;
    title_parts_find(text, n, &parts);
    for (unsigned level = 0; level < TITLE_LEVELS; level++)
        if (title_key(&parts, (enum title_level)level, key) > TITLE_KEY_ROOM) abort();
    for (size_t i = 0; i < parts.n_groups; i++) title_key_other(&parts.group[i], key);
    free(key);
}

static void check_shown(const char *text, size_t n) {
    char shown[64];
    const size_t length = dpmf_title_show(text, n, shown, sizeof shown);
    if (strlen(shown) > length || length > n + 8) abort();
}

/* A title is found by all of its own text, unless it has none or more than is looked at. */
static void check_search(const char *text, size_t n, size_t cut) {
    struct dpmf_titles *titles = NULL;
    uint64_t found[2];
    char *both = calloc(n + 2, 1), folded[TITLE_FOLD_ROOM];
    if (both == NULL) return;
    memcpy(both, text, cut);
    memcpy(both + cut + 1, text + cut, n - cut);
    for (size_t i = 0; i < n + 1; i++)
        if (both[i] == '\0' && i != cut) both[i] = ' ';
    if (dpmf_titles_make(both, n + 2, 2, NULL, &titles, NULL) != 0) abort();
    char left_out[8];
    const int64_t loose = dpmf_titles_search(titles, both + cut + 1, n - cut, 2, found, NULL,
                                             left_out, sizeof left_out, NULL);
    if (loose < 0 || loose > 2 || (loose == 0 && left_out[0] != '\0')) abort();
    const int64_t count = dpmf_titles_search(titles, both, cut, 2, found, NULL, NULL, 0, NULL);
    if (count < 0 || count > 2) abort();
    char shown[TITLE_BYTES + 1];
    const size_t length = dpmf_title_show(both, cut, shown, sizeof shown);
    if (cut < 100 && length < 200 && title_fold(shown, length, folded) > 0 && length == cut &&
        memcmp(shown, both, cut) == 0 && count == 0)
        abort();
    dpmf_titles_free(titles);
    free(both);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 2) return 0;
    const char *text = (const char *)data + 1;
    const size_t n = size - 1;
    check_fold(text, n);
    check_keys(text, n);
    check_shown(text, n);
    check_search(text, n, data[0] % (n + 1));
    return 0;
}
