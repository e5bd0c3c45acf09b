/*
 * Making the index of a catalogue's titles. Every title is folded once; its words get numbers in a
 * hash table; then the vocabulary is sorted and the numbers follow. Feeds title_search and
 * title_match.
 */
#include "titles/title_index.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/checksum.h"
#include "base/error.h"
#include "base/memory.h"

enum { ITEMS_MAX = 1 << 28, FIRST_SLOTS = 1 << 12 };

/* The vocabulary while it is made. */
struct making {
    struct dpmf_titles *titles;
    const float *popularity; /* may be NULL */
    uint32_t *slots;         /* a hash table of words: number + 1, or 0 */
    size_t n_slots;
    size_t words_capacity, word_at_capacity, sequence_capacity;
    size_t words_size;
};

/* ---- words get numbers ----------------------------------------------------------------------- */

static bool grow_slots(struct making *making) {
    const struct dpmf_titles *titles = making->titles;
    const size_t n = making->n_slots > 0 ? 2 * making->n_slots : FIRST_SLOTS;
    uint32_t *slots = memory_alloc_zero(n, sizeof *slots);
    if (!slots) return false;
    for (uint32_t word = 0; word < titles->n_words; word++) {
        const struct title_part text = titles_word(titles, word);
        size_t at = checksum64(text.text, text.n) & (n - 1);
        while (slots[at] != 0) at = (at + 1) & (n - 1);
        slots[at] = word + 1;
    }
    free(making->slots);
    making->slots = slots;
    making->n_slots = n;
    return true;
}

static bool add_word(struct making *making, const struct title_part *text) {
    struct dpmf_titles *titles = making->titles;
    if (!memory_reserve(&titles->words, &making->words_capacity, making->words_size + text->n, 1) ||
        !memory_reserve(&titles->word_at, &making->word_at_capacity, (size_t)titles->n_words + 2,
                        sizeof *titles->word_at))
        return false;
    memcpy(titles->words + making->words_size, text->text, text->n);
    titles->word_at[titles->n_words] = making->words_size;
    making->words_size += text->n;
    titles->word_at[++titles->n_words] = making->words_size;
    return true;
}

/* @return the number of a word, which may be new; UINT32_MAX without memory */
static uint32_t number_of(struct making *making, const struct title_part *text) {
    struct dpmf_titles *titles = making->titles;
    if (2 * ((size_t)titles->n_words + 1) > making->n_slots && !grow_slots(making))
        return UINT32_MAX;
    size_t at = checksum64(text->text, text->n) & (making->n_slots - 1);
    for (; making->slots[at] != 0; at = (at + 1) & (making->n_slots - 1)) {
        const struct title_part known = titles_word(titles, making->slots[at] - 1);
        if (known.n == text->n && memcmp(known.text, text->text, text->n) == 0)
            return making->slots[at] - 1;
    }
    if (!add_word(making, text)) return UINT32_MAX;
    making->slots[at] = titles->n_words;
    return titles->n_words - 1;
}

static bool add_sequence(struct making *making, const char *folded, size_t n, size_t *length) {
    struct dpmf_titles *titles = making->titles;
    for (size_t at = 0; at < n;) {
        const char *blank = memchr(folded + at, ' ', n - at);
        const struct title_part word = {folded + at,
                                        blank ? (size_t)(blank - folded) - at : n - at};
        const uint32_t number = number_of(making, &word);
        if (number == UINT32_MAX || !memory_reserve(&titles->sequence, &making->sequence_capacity,
                                                    *length + 1, sizeof *titles->sequence))
            return false;
        titles->sequence[(*length)++] = number;
        at += word.n + 1;
    }
    return true;
}

/* The words of every title, in the order of ranks, as people write it. */
static bool add_titles(struct making *making) {
    struct dpmf_titles *titles = making->titles;
    char shown[TITLE_BYTES + 1], folded[TITLE_FOLD_ROOM];
    size_t length = 0;
    for (uint32_t rank = 0; rank < titles->n; rank++) {
        const struct title_part title = titles_title(titles, titles->item_of[rank]);
        size_t n = title_show(title.text, title.n, shown, sizeof shown);
        if (n >= sizeof shown) n = sizeof shown - 1;
        titles->sequence_at[rank] = length;
        n = title_fold(shown, n, folded);
        if (!add_sequence(making, folded, n, &length)) return false;
    }
    titles->sequence_at[titles->n] = length;
    return true;
}

/* ---- ranks ----------------------------------------------------------------------------------- */

/* An item while they are sorted. */
struct ranked {
    float popularity;
    uint32_t length, item;
};

static int compare_ranked(const void *a, const void *b) {
    const struct ranked *x = a, *y = b;
    if (x->popularity != y->popularity) return x->popularity > y->popularity ? -1 : 1;
    if (x->length != y->length) return x->length < y->length ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

static bool rank_items(struct making *making) {
    struct dpmf_titles *titles = making->titles;
    struct ranked *ranked = memory_alloc((size_t)titles->n + 1, sizeof *ranked);
    if (!ranked) return false;
    for (uint32_t item = 0; item < titles->n; item++) {
        const float popularity = making->popularity ? making->popularity[item] : 0.0f;
        const size_t length = titles_title(titles, item).n;
        ranked[item] = (struct ranked){isnan(popularity) ? 0.0f : popularity,
                                       (uint32_t)(length < UINT32_MAX ? length : UINT32_MAX), item};
    }
    qsort(ranked, titles->n, sizeof *ranked, compare_ranked);
    for (uint32_t rank = 0; rank < titles->n; rank++) titles->item_of[rank] = ranked[rank].item;
    free(ranked);
    return true;
}

/* ---- the vocabulary in order ----------------------------------------------------------------- */

/* A word while they are sorted. */
struct sorted_word {
    const char *text;
    size_t n;
    uint32_t number;
};

static int compare_words(const void *a, const void *b) {
    const struct sorted_word *x = a, *y = b;
    const int order = memcmp(x->text, y->text, x->n < y->n ? x->n : y->n);
    if (order != 0) return order;
    return (x->n > y->n) - (x->n < y->n);
}

static uint8_t shared_bytes(const struct title_part *a, const struct title_part *b) {
    size_t n = 0;
    while (n < a->n && n < b->n && n < UINT8_MAX && a->text[n] == b->text[n]) n++;
    return (uint8_t)n;
}

/* Puts the words in their order, in new memory, and leaves the new number of each in `number`. */
static bool place_words(struct making *making, const struct sorted_word *sorted, uint32_t *number) {
    struct dpmf_titles *titles = making->titles;
    char *words = memory_alloc(making->words_size + 1, 1);
    size_t *word_at = memory_alloc((size_t)titles->n_words + 1, sizeof *word_at), at = 0;
    if (!words || !word_at) {
        free(words);
        free(word_at);
        return false;
    }
    for (uint32_t i = 0; i < titles->n_words; i++) {
        word_at[i] = at;
        memcpy(words + at, sorted[i].text, sorted[i].n);
        at += sorted[i].n;
        number[sorted[i].number] = i;
    }
    word_at[titles->n_words] = at;
    free(titles->words);
    free(titles->word_at);
    titles->words = words;
    titles->word_at = word_at;
    return true;
}

static bool sort_words(struct making *making) {
    struct dpmf_titles *titles = making->titles;
    const size_t n = titles->n_words;
    struct sorted_word *sorted = memory_alloc(n + 1, sizeof *sorted);
    uint32_t *number = memory_alloc(n + 1, sizeof *number);
    bool is_done = sorted && number;
    for (uint32_t i = 0; is_done && i < n; i++) {
        const struct title_part word = titles_word(titles, i);
        sorted[i] = (struct sorted_word){word.text, word.n, i};
    }
    if (is_done && n > 0) qsort(sorted, n, sizeof *sorted, compare_words);
    is_done = is_done && place_words(making, sorted, number);
    for (size_t i = 0; is_done && i < titles->sequence_at[titles->n]; i++)
        titles->sequence[i] = number[titles->sequence[i]];
    for (uint32_t i = 1; is_done && i < n; i++) {
        const struct title_part last = titles_word(titles, i - 1), word = titles_word(titles, i);
        titles->n_shared[i] = shared_bytes(&last, &word);
    }
    free(sorted);
    free(number);
    return is_done;
}

/* How many words of a title it begins with: the first, and the second after an article. */
static size_t starting_words(const struct dpmf_titles *titles, uint32_t rank) {
    const size_t n = titles->sequence_at[rank + 1] - titles->sequence_at[rank];
    if (n < 2) return n;
    const struct title_part first =
        titles_word(titles, titles->sequence[titles->sequence_at[rank]]);
    return titles_is_article(&first) ? 2 : 1;
}

/* The titles of each word, in the order of ranks: counted, then placed. Of all words of a title, or
 * of those that it begins with. */
static bool list_titles(struct dpmf_titles *titles, bool starts, size_t **at, uint32_t **ranks) {
    const size_t n = titles->sequence_at[titles->n];
    *at = memory_alloc_zero((size_t)titles->n_words + 2, sizeof **at);
    *ranks = memory_alloc((starts ? 2 * (size_t)titles->n : n) + 1, sizeof **ranks);
    if (!*at || !*ranks) return false;
    for (int is_placing = 0; is_placing < 2; is_placing++) {
        for (uint32_t rank = 0; rank < titles->n; rank++) {
            const size_t from = titles->sequence_at[rank];
            const size_t end =
                starts ? from + starting_words(titles, rank) : titles->sequence_at[rank + 1];
            for (size_t i = from; i < end; i++)
                if (is_placing)
                    (*ranks)[(*at)[titles->sequence[i] + 1]++] = rank;
                else
                    (*at)[titles->sequence[i] + 2]++;
        }
        for (uint32_t word = 0; !is_placing && word < titles->n_words; word++)
            (*at)[word + 2] += (*at)[word + 1];
    }
    return true;
}

static bool make_lists(struct dpmf_titles *titles) {
    titles->letters = memory_alloc((size_t)titles->n_words + 1, sizeof *titles->letters);
    titles->visited = memory_alloc((size_t)titles->n + 1, 1);
    if (!titles->letters || !titles->visited) return false;
    for (uint32_t word = 0; word < titles->n_words; word++) {
        const struct title_part text = titles_word(titles, word);
        titles->letters[word] = titles_letters(&text);
    }
    return list_titles(titles, false, &titles->ranks_at, &titles->ranks) &&
           list_titles(titles, true, &titles->starts_at, &titles->starts);
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Where each title begins, by the NUL bytes that end them. @return how many there are */
static uint64_t find_titles(const struct dpmf_titles *titles, size_t bytes) {
    uint64_t n = 0;
    for (size_t at = 0; at < bytes && n < titles->n; n++) {
        const char *end = memchr(titles->text + at, '\0', bytes - at);
        if (!end) return n;
        titles->text_at[n] = at;
        at = (size_t)(end - titles->text) + 1;
        titles->text_at[n + 1] = at;
    }
    return n;
}

static int take_text(struct dpmf_titles *titles, const char *text, size_t bytes,
                     struct dpmf_error *error) {
    memcpy(titles->text, text, bytes);
    titles->text_at[0] = 0;
    if (find_titles(titles, bytes) == titles->n && titles->text_at[titles->n] == bytes) return 0;
    return error_set(error, DPMF_ERR_USAGE_VALUE,
                     "there must be a title for each of %lu items, terminated by NUL",
                     (unsigned long)titles->n);
}

static bool reserve(struct dpmf_titles *titles, size_t bytes) {
    const size_t n = titles->n;
    titles->text = memory_alloc(bytes + 1, 1);
    titles->text_at = memory_alloc(n + 1, sizeof *titles->text_at);
    titles->item_of = memory_alloc(n + 1, sizeof *titles->item_of);
    titles->sequence_at = memory_alloc(n + 1, sizeof *titles->sequence_at);
    return titles->text && titles->text_at && titles->item_of && titles->sequence_at;
}

static bool make_index(struct dpmf_titles *titles, const float *popularity) {
    struct making making = {.titles = titles, .popularity = popularity};
    bool is_done = rank_items(&making) && add_titles(&making);
    free(making.slots);
    if (!is_done) return false;
    titles->n_shared = memory_alloc_zero((size_t)titles->n_words + 1, 1);
    titles->mark = memory_alloc_zero((size_t)titles->n_words + 1, sizeof *titles->mark);
    return titles->n_shared && titles->mark && sort_words(&making) && make_lists(titles);
}

int dpmf_titles_make(const char *text, size_t bytes, uint64_t items, const float *popularity,
                     struct dpmf_titles **titles, struct dpmf_error *error) {
    if (titles) *titles = NULL;
    int code = arguments_check(error, "text titles", text, titles);
    if (code < 0) return code;
    if (items > ITEMS_MAX)
        return error_set(error, DPMF_ERR_INPUT_TOO_MANY, "too many titles for one index");
    struct dpmf_titles *made = memory_alloc_zero(1, sizeof *made);
    if (!made) return error_no_memory(error);
    made->n = (uint32_t)items;
    code = reserve(made, bytes) ? take_text(made, text, bytes, error) : error_no_memory(error);
    if (code == 0 && !make_index(made, popularity)) code = error_no_memory(error);
    if (code == 0)
        *titles = made;
    else
        dpmf_titles_free(made);
    return code;
}

void dpmf_titles_free(struct dpmf_titles *titles) {
    if (!titles) return;
    free(titles->text);
    free(titles->text_at);
    free(titles->words);
    free(titles->word_at);
    free(titles->n_shared);
    free(titles->letters);
    free(titles->ranks_at);
    free(titles->ranks);
    free(titles->starts_at);
    free(titles->starts);
    free(titles->visited);
    free(titles->item_of);
    free(titles->sequence);
    free(titles->sequence_at);
    free(titles->mark);
    free(titles->entries);
    free(titles);
}

const char *dpmf_titles_title(const struct dpmf_titles *titles, uint64_t item, size_t *length) {
    if (length) *length = 0;
    if (!titles || item >= titles->n) return NULL;
    const struct title_part title = titles_title(titles, (uint32_t)item);
    if (length) *length = title.n;
    return title.text;
}

size_t dpmf_title_show(const char *title, size_t length, char *out, size_t size) {
    if (!title || (!out && size > 0)) return 0;
    return title_show(title, length, out, size);
}
