/*
 * The search in titles. What was typed marks words of the vocabulary: those that begin with a word
 * of it, hold one, or are near one; and those that what was typed, without its blanks, begins with.
 * The titles of the rarest word are then looked at, and the marks of each joined. The
 * loose kinds are tried only while few titles are found, and a word is left out only where there
 * are none. docs/titles.md has the order of what is found.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/error.h"
#include "base/memory.h"
#include "titles/title_index.h"

enum {
    TYPED_BYTES = 200, /* what is looked at of what was typed */
    WORDS_MAX = 8,     /* words that are looked for; of more, the first */
    NEAR_BYTES = 60,   /* longest word in which typing errors are looked for */
    ENOUGH = 3,        /* titles found without typing errors: none are looked for then */
};

/* What a mark says, a bit for each word typed: */
enum {
    MARK_BEGINS = 0,  /* the word begins so */
    MARK_NEAR = 8,    /* it does with one typing error */
    MARK_FAR = 16,    /* it does with two */
    MARK_HEAD = 24,   /* all that was typed begins with the word, or the word with it: one bit */
    MARK_NUMBER = 25, /* it is a number that was typed, however either is written: one bit */
};

/* How a title answers, the best first. */
enum tier {
    TIER_WHOLE,  /* it is what was typed, but for an article and the year */
    TIER_BEGINS, /* it begins so */
    TIER_PHRASE, /* a word within begins so, blanks aside; or all words with a number do */
    TIER_WORDS,  /* for each word typed one begins so */
    TIER_HOLDS,  /* for each word typed one holds it */
    TIER_NEAR,   /* with typing errors: and one further for each of them */
};

struct search {
    struct dpmf_titles *titles;
    char folded[TITLE_FOLD_ROOM];
    struct title_part word[WORDS_MAX];
    size_t n_words;
    char run[TITLE_FOLD_ROOM]; /* all that was typed, without blanks */
    size_t run_length;

    struct title_part left_out; /* the word that is not looked for; empty when all are */

    uint64_t *best; /* tier and rank of what was found, in order */
    size_t n, room;
    uint64_t total;
};

/* ---- what was typed -------------------------------------------------------------------------- */

static void take_typed(struct search *search, const char *text, size_t n) {
    if (n > TYPED_BYTES) n = TYPED_BYTES;
    const size_t length = title_fold(text, n, search->folded);
    for (size_t at = 0; at < length;) {
        const char *from = search->folded + at, *blank = memchr(from, ' ', length - at);
        const size_t bytes = blank ? (size_t)(blank - from) : length - at;
        if (search->n_words < WORDS_MAX)
            search->word[search->n_words++] = (struct title_part){from, bytes};
        memcpy(search->run + search->run_length, from, bytes);
        search->run_length += bytes;
        at += bytes + 1;
    }
}

static uint32_t all_words(const struct search *search) { return (1u << search->n_words) - 1; }

/* ---- marks ----------------------------------------------------------------------------------- */

/* < 0, 0 or > 0 as the word comes before those that begin with the text, is one, or comes after. */
static int compare_beginning(const struct title_part *word, const char *text, size_t n) {
    const int order = memcmp(word->text, text, word->n < n ? word->n : n);
    return order != 0 ? order : word->n < n ? -1 : 0;
}

/* @return the first word that does not come before those that begin so; with `past`, the first that
 * comes after them */
static uint32_t border(const struct dpmf_titles *titles, const char *text, size_t n, bool past) {
    uint32_t low = 0, high = titles->n_words;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const struct title_part word = titles_word(titles, middle);
        const int order = compare_beginning(&word, text, n);
        if (order < 0 || (past && order == 0))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void mark_beginning(struct search *search, const char *text, size_t n, unsigned bit) {
    const uint32_t end = border(search->titles, text, n, true);
    for (uint32_t word = border(search->titles, text, n, false); word < end; word++)
        search->titles->mark[word] |= 1u << bit;
}

/* @return the word that is just this; n_words when there is none */
static uint32_t find_word(const struct dpmf_titles *titles, const char *text, size_t n) {
    const uint32_t word = border(titles, text, n, false);
    return word < titles->n_words && titles_word(titles, word).n == n &&
                   memcmp(titles_word(titles, word).text, text, n) == 0
               ? word
               : titles->n_words;
}

/* Words that are the same number as one that was typed: "rocky 2" is "Rocky II". @return how many
 */
static size_t same_number(const struct search *search, size_t typed, uint32_t *words) {
    char spelling[TITLE_SPELLINGS][TITLE_SPELLING_ROOM];
    const size_t n = title_number_spellings(&search->word[typed], typed == 0, spelling);
    size_t found = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t word = find_word(search->titles, spelling[i], strlen(spelling[i]));
        if (word < search->titles->n_words) words[found++] = word;
    }
    return found;
}

static void mark_numbers(struct search *search) {
    uint32_t words[TITLE_SPELLINGS];
    for (size_t j = 0; j < search->n_words; j++) {
        const size_t n = same_number(search, j, words);
        for (size_t i = 0; i < n; i++)
            search->titles->mark[words[i]] |= 1u << (MARK_BEGINS + j) | 1u << MARK_NUMBER;
    }
}

/* Marks the words that a run can begin with: those that what was typed begins with. */
static void mark_heads(struct search *search) {
    const struct dpmf_titles *titles = search->titles;
    mark_beginning(search, search->run, search->run_length, MARK_HEAD);
    for (size_t n = 1; n < search->run_length; n++) {
        const uint32_t word = find_word(titles, search->run, n);
        if (word < titles->n_words) titles->mark[word] |= 1u << MARK_HEAD;
    }
}

/* Marks the words that hold one that was typed: a pass over the vocabulary as one text. */
static void mark_holding_one(struct search *search, size_t typed) {
    const struct dpmf_titles *titles = search->titles;
    const struct title_part part = search->word[typed];
    const char *text = titles->words;
    const size_t bytes = titles->word_at[titles->n_words];
    uint32_t word = 0;
    for (size_t at = 0; at + part.n <= bytes; at++) {
        if (text[at] != part.text[0] || text[at + 1] != part.text[1]) continue;
        if (memcmp(text + at, part.text, part.n) != 0) continue;
        while (titles->word_at[word + 1] <= at) word++;
        if (at + part.n <= titles->word_at[word + 1])
            titles->mark[word] |= 1u << (MARK_BEGINS + typed);
    }
}

/* Single letters are in nearly every word, and say nothing. */
static void mark_holding(struct search *search) {
    for (size_t j = 0; j < search->n_words; j++)
        if (search->word[j].n > 1) mark_holding_one(search, j);
}

/* ---- typing errors --------------------------------------------------------------------------- */
/* The least number of letters to be added, dropped, changed or swapped that turn what was typed
 * into the beginning of a word: a column of the table of distances is two words of bits (Myers
 * 1999, with swaps as Hyyro 2003 has them). Words are sorted, so the columns of what a word shares
 * with the one before it are there already. */

struct column {
    uint64_t up, down; /* where the distance grows and falls by one, from row to row */
    uint64_t same;     /* where it is that of the row and column before */
    uint64_t match;    /* where the letter of this column stands in what was typed */
    int distance;      /* in the last row */
    int least;         /* the least of that in all columns so far */
};

struct nearness {
    uint64_t match[256];
    size_t n;
    struct column column[NEAR_BYTES + 4];
};

static void nearness_begin(struct nearness *near, const struct title_part *typed) {
    memset(near, 0, sizeof *near);
    near->n = typed->n;
    for (size_t i = 0; i < typed->n; i++)
        near->match[(unsigned char)typed->text[i]] |= (uint64_t)1 << i;
    near->column[0] =
        (struct column){.up = ~(uint64_t)0, .distance = (int)typed->n, .least = (int)typed->n};
}

static struct column nearness_next(const struct nearness *near, const struct column *last,
                                   unsigned char letter) {
    const uint64_t match = near->match[letter], top = (uint64_t)1 << (near->n - 1);
    const uint64_t swapped = (((~last->same) & match) << 1) & last->match;
    const uint64_t same =
        (((match & last->up) + last->up) ^ last->up) | match | last->down | swapped;
    uint64_t right = last->down | ~(same | last->up), left = last->up & same;
    int distance = last->distance + ((right & top) != 0) - ((left & top) != 0);
    right = right << 1 | 1;
    left <<= 1;
    return (struct column){.up = left | ~(same | right),
                           .down = right & same,
                           .same = same,
                           .match = match,
                           .distance = distance,
                           .least = distance < last->least ? distance : last->least};
}

/* Errors that are forgiven in a word of so many letters. */
static int errors_allowed(size_t n) { return n < 4 ? 0 : n < 8 ? 1 : 2; }

static bool is_ascii(const struct title_part *text) {
    for (size_t i = 0; i < text->n; i++)
        if ((unsigned char)text->text[i] >= 0x80) return false;
    return true;
}

/* Words of three letters are near to too many for any error but a swap: "teh" is "the". */
static void mark_swapped(struct search *search, size_t typed) {
    const char *text = search->word[typed].text;
    if (search->word[typed].n != 3 || !is_ascii(&search->word[typed])) return;
    const char swapped[2][3] = {{text[1], text[0], text[2]}, {text[0], text[2], text[1]}};
    for (size_t i = 0; i < 2; i++)
        mark_beginning(search, swapped[i], 3, (unsigned)(MARK_NEAR + typed));
}

static void mark_near(struct search *search, size_t typed, struct nearness *near) {
    const struct dpmf_titles *titles = search->titles;
    const int allowed = errors_allowed(search->word[typed].n);
    if (allowed == 0 || search->word[typed].n > NEAR_BYTES || !is_ascii(&search->word[typed]))
        return;
    nearness_begin(near, &search->word[typed]);
    const size_t deepest = near->n + (size_t)allowed;
    const uint32_t letters = titles_letters(&search->word[typed]);
    size_t depth = 0;
    for (uint32_t i = 0; i < titles->n_words; i++) {
        const struct title_part word = titles_word(titles, i);
        if (titles->n_shared[i] < depth) depth = titles->n_shared[i];
        /* Every error can account for one letter that the word lacks. */
        if (__builtin_popcount(letters & ~titles->letters[i]) > allowed) continue;
        for (; depth < word.n && depth < deepest; depth++)
            near->column[depth + 1] =
                nearness_next(near, &near->column[depth], (unsigned char)word.text[depth]);
        const int errors = near->column[depth].least;
        if (errors <= allowed)
            titles->mark[i] |= 1u << ((errors <= 1 ? MARK_NEAR : MARK_FAR) + typed);
    }
}

/* ---- titles ---------------------------------------------------------------------------------- */

static void offer(struct search *search, unsigned tier, uint32_t rank) {
    const uint64_t key = (uint64_t)tier << 32 | rank;
    search->total++;
    if (search->n == search->room && key >= search->best[search->n - 1]) return;
    size_t at = search->n < search->room ? search->n++ : search->n - 1;
    for (; at > 0 && search->best[at - 1] > key; at--) search->best[at] = search->best[at - 1];
    search->best[at] = key;
}

/* Where in a title a run was found. */
struct run {
    size_t first, last; /* words */
    bool is_whole;      /* the last word is all of it */
};

/* Whether what was typed, without blanks, stands at the words from `run->first` on. */
static bool follow_run(const struct search *search, const uint32_t *words, size_t n,
                       struct run *run) {
    size_t at = 0;
    for (run->last = run->first; run->last < n; run->last++) {
        const struct title_part word = titles_word(search->titles, words[run->last]);
        const size_t left = search->run_length - at;
        if (memcmp(word.text, search->run + at, word.n < left ? word.n : left) != 0) return false;
        run->is_whole = word.n == left;
        if (word.n >= left) return true;
        at += word.n;
    }
    return false;
}

static enum tier run_tier(const struct search *search, const uint32_t *words, size_t n,
                          const struct run *run) {
    const struct title_part first = titles_word(search->titles, words[0]);
    if (run->first > 0 && !(run->first == 1 && titles_is_article(&first))) return TIER_PHRASE;
    const struct title_part last = titles_word(search->titles, words[n - 1]);
    const bool ends =
        run->last + 1 == n || (run->last + 2 == n && title_year(last.text, last.n) != 0);
    return run->is_whole && ends ? TIER_WHOLE : TIER_BEGINS;
}

/* @return the best tier of any run, or TIER_NEAR for none */
static enum tier best_run(const struct search *search, const uint32_t *words, size_t n) {
    enum tier best = TIER_NEAR;
    for (size_t i = 0; i < n; i++) {
        struct run run = {.first = i};
        if ((search->titles->mark[words[i]] >> MARK_HEAD & 1) == 0) continue;
        if (!follow_run(search, words, n, &run)) continue;
        const enum tier tier = run_tier(search, words, n, &run);
        if (tier < best) best = tier;
    }
    return best;
}

/* What is known of a rank: the pass that looked at it last, or that it was found. */
enum { VISITED_PLAIN = 1, VISITED_HOLDS, VISITED_NEAR, FOUND = 255 };

static void look_plainly(struct search *search, uint32_t rank) {
    const struct dpmf_titles *titles = search->titles;
    const uint32_t *words = titles->sequence + titles->sequence_at[rank];
    const size_t n = titles->sequence_at[rank + 1] - titles->sequence_at[rank];
    const uint32_t all = all_words(search);
    uint32_t marks = 0;
    if (titles->visited[rank] >= VISITED_PLAIN) return;
    titles->visited[rank] = VISITED_PLAIN;
    for (size_t i = 0; i < n; i++) marks |= titles->mark[words[i]];
    enum tier tier = (marks >> MARK_HEAD & 1) != 0 ? best_run(search, words, n) : TIER_NEAR;
    if (tier == TIER_NEAR && (marks & all) == all)
        tier = (marks >> MARK_NUMBER & 1) != 0 ? TIER_PHRASE : TIER_WORDS;
    if (tier == TIER_NEAR) return;
    titles->visited[rank] = FOUND;
    offer(search, tier, rank);
}

/* Looks at the titles of some words in a row. */
static void look_at(struct search *search, const size_t *at, const uint32_t *ranks, uint32_t first,
                    uint32_t end) {
    for (size_t i = at[first]; i < at[end]; i++) look_plainly(search, ranks[i]);
}

/* The bits of the first word typed, in all kinds of marks that are for each word. */
enum { ANY_MARK = 1u << MARK_BEGINS | 1u << MARK_NEAR | 1u << MARK_FAR };

/* @return the typed word with the fewest titles whose marks have one of its bits; but not `passed`
 */
static size_t rarest_word_but(const struct search *search, size_t passed) {
    const struct dpmf_titles *titles = search->titles;
    size_t n_titles[WORDS_MAX] = {0}, best = passed == 0;
    for (uint32_t word = 0; word < titles->n_words; word++) {
        const uint32_t mark = titles->mark[word];
        if (mark == 0) continue;
        for (size_t j = 0; j < search->n_words; j++)
            if ((mark >> j & ANY_MARK) != 0)
                n_titles[j] += titles->ranks_at[word + 1] - titles->ranks_at[word];
    }
    for (size_t j = 1; j < search->n_words; j++)
        if (j != passed && n_titles[j] < n_titles[best]) best = j;
    return best;
}

static size_t rarest_word(const struct search *search) {
    return rarest_word_but(search, WORDS_MAX);
}

/* Looks at the titles in which a run can begin: those of words that begin as typed, and those of
 * heads. */
static void look_for_runs(struct search *search, const size_t *at, const uint32_t *ranks) {
    const struct dpmf_titles *titles = search->titles;
    look_at(search, at, ranks, border(titles, search->run, search->run_length, false),
            border(titles, search->run, search->run_length, true));
    for (size_t n = 1; n < search->run_length; n++) {
        const uint32_t word = border(titles, search->run, n, false);
        if (word == titles->n_words || titles_word(titles, word).n != n) continue;
        if ((titles->mark[word] >> MARK_HEAD & 1) != 0) look_at(search, at, ranks, word, word + 1);
    }
}

/* Titles that begin as typed; where they do not fill the list, those with a run within; and those
 * with all words, which have the rarest of them. */
static void find_plain(struct search *search) {
    const struct dpmf_titles *titles = search->titles;
    look_for_runs(search, titles->starts_at, titles->starts);
    if (search->n == search->room && search->best[search->n - 1] >> 32 <= TIER_BEGINS) return;
    look_for_runs(search, titles->ranks_at, titles->ranks);
    if (search->n_words < 2) return; /* the word is the run */
    const size_t typed = rarest_word(search);
    const struct title_part *rarest = &search->word[typed];
    look_at(search, titles->ranks_at, titles->ranks, border(titles, rarest->text, rarest->n, false),
            border(titles, rarest->text, rarest->n, true));
    uint32_t words[TITLE_SPELLINGS];
    const size_t n = same_number(search, typed, words);
    for (size_t i = 0; i < n; i++)
        look_at(search, titles->ranks_at, titles->ranks, words[i], words[i] + 1);
}

/* Errors in all words of a title whose marks these are; UINT_MAX when a word has no like. */
static unsigned count_errors(const struct search *search, uint32_t marks) {
    unsigned errors = 0;
    for (size_t j = 0; j < search->n_words; j++) {
        if (marks >> (MARK_BEGINS + j) & 1) continue;
        if (marks >> (MARK_NEAR + j) & 1)
            errors += 1;
        else if (marks >> (MARK_FAR + j) & 1)
            errors += 2;
        else
            return UINT32_MAX;
    }
    return errors;
}

static void look_loosely(struct search *search, enum tier tier, uint8_t pass, uint32_t rank) {
    const struct dpmf_titles *titles = search->titles;
    uint32_t marks = 0;
    if (titles->visited[rank] >= pass) return;
    titles->visited[rank] = pass;
    for (size_t i = titles->sequence_at[rank]; i < titles->sequence_at[rank + 1]; i++)
        marks |= titles->mark[titles->sequence[i]];
    const unsigned errors = count_errors(search, marks);
    if (errors == UINT32_MAX) return;
    titles->visited[rank] = FOUND;
    offer(search, (unsigned)tier + (tier == TIER_NEAR ? errors : 0), rank);
}

/* A pass for what is loose, over the titles of the rarest word. */
static void find_loose(struct search *search, enum tier tier, uint8_t pass) {
    const struct dpmf_titles *titles = search->titles;
    const size_t rarest = rarest_word(search);
    const uint32_t bits = (uint32_t)ANY_MARK << rarest;
    for (uint32_t word = 0; word < titles->n_words; word++) {
        if ((titles->mark[word] & bits) == 0) continue;
        for (size_t i = titles->ranks_at[word]; i < titles->ranks_at[word + 1]; i++)
            look_loosely(search, tier, pass, titles->ranks[i]);
    }
}

static int find_all(struct search *search) {
    for (size_t j = 0; j < search->n_words; j++)
        mark_beginning(search, search->word[j].text, search->word[j].n,
                       (unsigned)(MARK_BEGINS + j));
    mark_numbers(search);
    mark_heads(search);
    find_plain(search);
    if (search->n == search->room) return 0;
    mark_holding(search);
    find_loose(search, TIER_HOLDS, VISITED_HOLDS);
    if (search->n == search->room || search->n >= ENOUGH) return 0;
    struct nearness *near = memory_alloc(1, sizeof *near);
    if (!near) return DPMF_ERR_BASE_NO_MEMORY;
    for (size_t j = 0; j < search->n_words; j++) {
        mark_near(search, j, near);
        mark_swapped(search, j);
    }
    find_loose(search, TIER_NEAR, VISITED_NEAR);
    free(near);
    return 0;
}

static int find_anew(struct search *search) {
    memset(search->titles->mark, 0, search->titles->n_words * sizeof *search->titles->mark);
    memset(search->titles->visited, 0, search->titles->n);
    return find_all(search);
}

/* ---- a word too many ------------------------------------------------------------------------- */

/* @return the word, as a bit, that is all that a title lacks; 0 when it lacks others too */
static uint32_t only_lack(const struct search *search, uint32_t rank) {
    const struct dpmf_titles *titles = search->titles;
    uint32_t marks = 0;
    for (size_t i = titles->sequence_at[rank]; i < titles->sequence_at[rank + 1]; i++)
        marks |= titles->mark[titles->sequence[i]];
    const uint32_t lacking =
        all_words(search) & ~(marks >> MARK_BEGINS | marks >> MARK_NEAR | marks >> MARK_FAR);
    return (lacking & (lacking - 1)) == 0 ? lacking : 0;
}

/* @return the typed words, a bit each, that are all that some title lacks. Such a title has one of
 * the two rarest words. */
static uint32_t words_too_many(const struct search *search) {
    const struct dpmf_titles *titles = search->titles;
    const size_t rarest = rarest_word(search), second = rarest_word_but(search, rarest);
    const uint32_t bits = (uint32_t)ANY_MARK << rarest | (uint32_t)ANY_MARK << second;
    uint32_t found = 0;
    for (uint32_t word = 0; word < titles->n_words; word++) {
        if ((titles->mark[word] & bits) == 0) continue;
        for (size_t i = titles->ranks_at[word]; i < titles->ranks_at[word + 1]; i++)
            found |= only_lack(search, titles->ranks[i]);
    }
    return found;
}

static bool only_articles_but(const struct search *search, size_t left_out) {
    for (size_t j = 0; j < search->n_words; j++)
        if (j != left_out && !titles_is_article(&search->word[j])) return false;
    return true;
}

/* @return the shortest word without which there are titles, of equals the last: a word that no
 * title has is the only one. n_words for none */
static size_t word_too_many(const struct search *search) {
    const uint32_t too_many = words_too_many(search);
    size_t best = search->n_words;
    for (size_t j = 0; j < search->n_words; j++) {
        if ((too_many >> j & 1) == 0 || only_articles_but(search, j)) continue;
        if (best == search->n_words || search->word[j].n <= search->word[best].n) best = j;
    }
    return best;
}

static void leave_out(struct search *search, size_t word) {
    search->left_out = search->word[word];
    search->n_words--;
    for (size_t j = word; j < search->n_words; j++) search->word[j] = search->word[j + 1];
    search->run_length = 0;
    for (size_t j = 0; j < search->n_words; j++) {
        memcpy(search->run + search->run_length, search->word[j].text, search->word[j].n);
        search->run_length += search->word[j].n;
    }
}

/* Where no title has all words, looks for all but one. */
static int find_without_one(struct search *search) {
    if (search->n_words < 2) return 0;
    const size_t word = word_too_many(search);
    if (word == search->n_words) return 0;
    leave_out(search, word);
    return find_anew(search);
}

static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/* @return the word that was left out as it was typed; folded, where it is only a part of what
 * stands between blanks */
static struct title_part left_out_as_typed(const struct search *search, const char *typed,
                                           size_t length) {
    char folded[TITLE_FOLD_ROOM];
    if (length > TYPED_BYTES) length = TYPED_BYTES;
    for (size_t at = 0, end; at < length; at = end + 1) {
        for (end = at; end < length && !is_blank(typed[end]);) end++;
        if (title_fold(typed + at, end - at, folded) == search->left_out.n &&
            memcmp(folded, search->left_out.text, search->left_out.n) == 0)
            return (struct title_part){typed + at, end - at};
    }
    return search->left_out;
}

/* Writes as many whole characters as there is room for, and NUL. */
static void write_part(const struct title_part *part, char *out, size_t size) {
    size_t n = part->n < size ? part->n : size - 1;
    while (n > 0 && n < part->n && ((unsigned char)part->text[n] & 0xc0) == 0x80) n--;
    memcpy(out, part->text, n);
    out[n] = '\0';
}

/* ---------------------------------------------------------------------------------------------- */

int64_t dpmf_titles_search(struct dpmf_titles *titles, const char *typed, size_t length, size_t n,
                           uint64_t *items, uint64_t *matches, char *left_out, size_t size,
                           struct dpmf_error *error) {
    if (matches) *matches = 0;
    if (size > 0 && left_out) left_out[0] = '\0';
    int code = arguments_check(error, "titles typed items", titles, typed, items);
    if (code < 0) return code;
    if (n > titles->n) n = titles->n;
    struct search *search = memory_alloc_zero(1, sizeof *search);
    if (!search) return error_no_memory(error);
    search->titles = titles;
    search->room = n;
    search->best = memory_alloc(n + 1, sizeof *search->best);
    take_typed(search, typed, length);
    if (!search->best) code = error_no_memory(error);
    if (code == 0 && search->n_words > 0 && n > 0) {
        code = find_anew(search);
        if (code == 0 && search->n == 0 && size > 0 && left_out) code = find_without_one(search);
        if (code < 0) code = error_no_memory(error);
    }
    if (code == 0 && search->left_out.n > 0) {
        const struct title_part word = left_out_as_typed(search, typed, length);
        write_part(&word, left_out, size);
    }
    for (size_t i = 0; code == 0 && i < search->n; i++)
        items[i] = titles->item_of[(uint32_t)search->best[i]];
    if (matches && code == 0) *matches = search->total;
    const int64_t found = code < 0 ? code : (int64_t)search->n;
    free(search->best);
    free(search);
    return found;
}
