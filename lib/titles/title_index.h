/*
 * The titles of a model's items: what the public struct dpmf_titles is. For the search there is a
 * vocabulary, sorted, and each title as a sequence of its words, the most popular titles first. For
 * matching there are the titles' keys, by their hashes, made when they are first asked for.
 */
#ifndef DPMF_TITLES_TITLE_INDEX_H
#define DPMF_TITLES_TITLE_INDEX_H

#include <string.h>

#include "dpmf_client.h"
#include "titles/title_text.h"

/* A key of an item. */
struct title_entry {
    uint64_t hash;
    uint32_t item;
    uint32_t form; /* enum title_level; from TITLE_LEVELS on a group in brackets, by its place */
};

struct dpmf_titles {
    uint32_t n; /* number of items */

    char *text;      /* all titles as they were given */
    size_t *text_at; /* where each begins, and the end: n + 1 */

    /* The vocabulary: different words of all titles, in the order of their bytes. */
    uint32_t n_words;
    char *words;
    size_t *word_at;   /* n_words + 1 */
    uint8_t *n_shared; /* bytes that a word begins with as the one before it, at most 255 */
    uint32_t *letters; /* the set of a word's letters, see titles_letters */
    size_t *ranks_at;  /* where the ranks of titles with a word begin, and the end: n_words + 1 */
    uint32_t *ranks;   /* the ranks of titles with each word, in their order */
    size_t *starts_at; /* the same of titles that begin with the word, perhaps after an article */
    uint32_t *starts;

    /* The titles by rank: the popular first; without popularity, the short first. */
    uint32_t *item_of;   /* the item of a rank */
    uint32_t *sequence;  /* the words of all titles */
    size_t *sequence_at; /* where those of a rank begin, and the end: n + 1 */
    uint32_t *mark;      /* what a search found out about each word */
    uint8_t *visited;    /* what it found out about each rank */

    struct title_entry *entries; /* by hash; NULL until they are made */
    size_t n_entries;
};

/* A word of the vocabulary. */
static inline struct title_part titles_word(const struct dpmf_titles *titles, uint32_t word) {
    return (struct title_part){titles->words + titles->word_at[word],
                               titles->word_at[word + 1] - titles->word_at[word]};
}

/* The set of letters of a word, a bit for each Latin one; other bytes share a few bits. */
static inline uint32_t titles_letters(const struct title_part *word) {
    uint32_t set = 0;
    for (size_t i = 0; i < word->n; i++) {
        const unsigned char c = (unsigned char)word->text[i];
        set |= 1u << (c >= 'a' && c <= 'z' ? c - 'a' : 26 + c % 6);
    }
    return set;
}

static inline bool titles_is_article(const struct title_part *word) {
    return (word->n == 3 && memcmp(word->text, "the", 3) == 0) ||
           (word->n == 1 && word->text[0] == 'a') ||
           (word->n == 2 && memcmp(word->text, "an", 2) == 0);
}

/* The title of an item, as it was given. */
static inline struct title_part titles_title(const struct dpmf_titles *titles, uint32_t item) {
    return (struct title_part){titles->text + titles->text_at[item],
                               titles->text_at[item + 1] - titles->text_at[item] - 1};
}

/* Makes the keys, unless they are there. */
int titles_entries_make(struct dpmf_titles *titles, struct dpmf_error *error);

/* Calls `take` with every item that has the key, and how loosely: the level of the item's key.
 * There must be entries. */
void titles_entries_find(const struct dpmf_titles *titles, const char *key, size_t n,
                         void (*take)(void *self, uint32_t item, enum title_level level),
                         void *self);

#endif
