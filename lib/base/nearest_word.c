/*
 * The nearest known word to a misspelt one, for what an error says to do. Fed by whatever has a
 * list of words: the command line's options and verbs, ids, the names in a curator's declaration.
 */
#include <assert.h>
#include <string.h>

#include "dpmf.h"
#include "dpmf_text.h"

enum { WORD_MAX = 40 };

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* How many letters must be added, dropped, changed or swapped to turn one word into the other. */
static size_t distance_between(const char *a, const char *b) {
    size_t n = strlen(a), m = strlen(b);
    if (n > WORD_MAX || m > WORD_MAX) return n > m ? n : m;
    size_t d[WORD_MAX + 1][WORD_MAX + 1]; /* d[i][j]: from i letters of a to j letters of b */
    for (size_t i = 0; i <= n; i++) d[i][0] = i;
    for (size_t j = 0; j <= m; j++) d[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        for (size_t j = 1; j <= m; j++) {
            size_t changed = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
            d[i][j] = least(changed, least(d[i - 1][j], d[i][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
        }
    }
    return d[n][m];
}

void dpmf_nearest_offer(struct dpmf_nearest *nearest, const char *word) {
    assert(nearest && nearest->wanted && word);
    if (!nearest || !nearest->wanted || !word) return;
    size_t length = strlen(nearest->wanted);
    size_t distance = distance_between(nearest->wanted, word);
    size_t limit = length < 4 ? 1 : length / 3;
    /* Nothing may be abbreviated, but the beginning of a word says well what was meant. */
    bool is_beginning = length >= 2 && strncmp(nearest->wanted, word, length) == 0;
    if (is_beginning) distance = least(distance, 1);
    if (distance > limit && !is_beginning) return;
    if (nearest->word == NULL || distance < nearest->distance) {
        nearest->word = word;
        nearest->distance = distance;
    }
}
