/*
 * The keys that titles are compared by, from strict to loose: two titles are the same at a level
 * when their keys are. What each level ignores is the table in docs/titles.md. Fed by
 * title_parts and title_fold; feeds the index of a catalogue and what is looked up in it.
 */
#include <stdio.h>
#include <string.h>

#include "titles/title_text.h"

/* ---- words ----------------------------------------------------------------------------------- */

static bool is_word(const struct title_part *word, const char *text) {
    return strlen(text) == word->n && memcmp(text, word->text, word->n) == 0;
}

static bool is_one_of(const struct title_part *word, const char *const *words, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (is_word(word, words[i])) return true;
    return false;
}

#define IS_ONE_OF(word, words) is_one_of(word, words, sizeof(words) / sizeof(words)[0])

/* Takes the first word off a folded text. @return false at its end */
static bool next_word(struct title_part *rest, struct title_part *word) {
    if (rest->n == 0) return false;
    const char *blank = memchr(rest->text, ' ', rest->n);
    word->text = rest->text;
    word->n = blank ? (size_t)(blank - rest->text) : rest->n;
    const size_t step = word->n + (blank != NULL);
    rest->text += step;
    rest->n -= step;
    return true;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static const char *const counted[] = {"part", "episode", "chapter", "volume", "vol",
                                      "book", "act",     "season",  "no",     "number"};
static const char *const number_words[] = {"one", "two",   "three", "four", "five",
                                           "six", "seven", "eight", "nine", "ten"};

/* The value of a Roman numeral below 40; 0: it is none. */
static unsigned roman(const struct title_part *word) {
    static const char *const ones[] = {"", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix"};
    size_t tens = 0;
    while (tens < 3 && tens < word->n && word->text[tens] == 'x') tens++;
    const struct title_part rest = {word->text + tens, word->n - tens};
    for (unsigned i = 0; i < 10; i++)
        if (is_word(&rest, ones[i])) return 10 * (unsigned)tens + i;
    return 0;
}

/* The number that a word stands for, 0 for none. A single letter is one only at the end or after a
 * word such as "part", and a number in words only after such a word. */
static unsigned number_of(const struct title_part *word, bool is_first, bool is_last,
                          bool is_counted) {
    if (is_first) return 0;
    if (is_counted)
        for (unsigned i = 0; i < 10; i++)
            if (is_word(word, number_words[i])) return i + 1;
    if (word->n == 1 && !is_last && !is_counted) return 0;
    return roman(word);
}

/* By digits, without those in front that say nothing; 0: they are none, or too many. */
static unsigned digits(const struct title_part *word) {
    unsigned value = 0;
    if (word->n > 2 || word->text[0] == '0') return 0;
    for (size_t i = 0; i < word->n; i++) {
        if (word->text[i] < '0' || word->text[i] > '9') return 0;
        value = 10 * value + (unsigned)(word->text[i] - '0');
    }
    return value;
}

size_t title_number_spellings(const struct title_part *word, bool is_first,
                              char out[TITLE_SPELLINGS][TITLE_SPELLING_ROOM]) {
    static const char *const ones[] = {"", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix"};
    enum { ROMAN_MOST = 39 };
    if (word->n == 0) return 0;
    unsigned value = digits(word);
    for (unsigned i = 0; i < 10; i++)
        if (is_word(word, number_words[i])) value = i + 1;
    if (value == 0 && !(is_first && word->n == 1)) value = roman(word);
    if (value == 0 || value > ROMAN_MOST) return 0;
    sprintf(out[0], "%u", value);
    sprintf(out[1], "%.*s%s", (int)(value / 10), "xxx", ones[value % 10]);
    if (value > 10) return 2;
    sprintf(out[2], "%s", number_words[value - 1]);
    return 3;
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* The words of a folded text without blanks. */
static size_t squeeze(const char *folded, size_t n, char *out) {
    size_t length = 0;
    for (size_t i = 0; i < n; i++)
        if (folded[i] != ' ') out[length++] = folded[i];
    return length;
}

static size_t plain(const char *folded, size_t n, char *out) {
    static const char *const leading[] = {"the", "a", "an"};
    struct title_part rest = {folded, n}, word;
    size_t length = 0;
    bool is_first = true, is_counted = false;
    while (next_word(&rest, &word)) {
        const bool is_last = rest.n == 0;
        if (is_first && !is_last && IS_ONE_OF(&word, leading)) continue;
        const unsigned number = number_of(&word, is_first, is_last, is_counted);
        is_counted = IS_ONE_OF(&word, counted);
        if (number > 0) {
            length += (size_t)sprintf(out + length, "%u", number);
        } else if (!is_word(&word, "and") || (is_first && is_last)) {
            memcpy(out + length, word.text, word.n);
            length += word.n;
        }
        is_first = false;
    }
    return length > 0 ? length : squeeze(folded, n, out);
}

/* ---- editions and subtitles ------------------------------------------------------------------ */

static const char *const edition_words[] = {"cut",      "edition",    "version",  "unrated",
                                            "remaster", "remastered", "extended", "uncut",
                                            "restored", "theatrical", "deluxe",   "anniversary",
                                            "feat",     "ft",         "featuring"};

enum { EDITION_WORDS_MAX = 6 };

/* Whether a text is about an edition: few words, and one of them says so. */
static bool is_edition(const char *text, size_t n) {
    char folded[TITLE_FOLD_ROOM];
    struct title_part rest = {folded, title_fold(text, n, folded)}, word;
    size_t words = 0;
    bool says_so = false;
    while (next_word(&rest, &word)) {
        words++;
        says_so |= IS_ONE_OF(&word, edition_words);
    }
    return says_so && words <= EDITION_WORDS_MAX;
}

/* @return the length of the separator of a subtitle that begins here: ": " or " - "; 0: none */
static size_t separator_at(const char *text, size_t n) {
    if (text[0] == ':') return 1;
    return n > 3 && text[0] == ' ' && text[1] == '-' && text[2] == ' ' ? 3 : 0;
}

/* The text before its last separator when what follows is about an edition. */
static size_t without_edition(const struct title_part *main) {
    for (size_t i = main->n; i-- > 1;) {
        const size_t length = separator_at(main->text + i, main->n - i);
        if (length == 0) continue;
        return is_edition(main->text + i + length, main->n - i - length) ? i : main->n;
    }
    return main->n;
}

static size_t without_subtitle(const struct title_part *main) {
    for (size_t i = 1; i < main->n; i++)
        if (separator_at(main->text + i, main->n - i) > 0) return i;
    return main->n;
}

/* ---- a key ----------------------------------------------------------------------------------- */

/* The article, the first n bytes of the main part and, if asked for, the groups, folded. */
static size_t fold_parts(const struct title_parts *parts, size_t n, bool groups,
                         char folded[TITLE_FOLD_ROOM]) {
    char text[2 * TITLE_BYTES + 2 * TITLE_GROUPS + 4];
    size_t length = 0;
    memcpy(text, parts->article.text, parts->article.n);
    length += parts->article.n;
    if (length > 0) text[length++] = ' ';
    memcpy(text + length, parts->main.text, n);
    length += n;
    for (size_t i = 0; groups && i < parts->n_groups; i++) {
        if (i == parts->year_group) continue;
        text[length++] = ' ';
        memcpy(text + length, parts->group[i].text, parts->group[i].n);
        length += parts->group[i].n;
    }
    return title_fold(text, length, folded);
}

size_t title_key(const struct title_parts *parts, enum title_level level,
                 char out[TITLE_KEY_ROOM]) {
    char folded[TITLE_FOLD_ROOM];
    size_t n = parts->main.n;
    if (level == TITLE_EDITION) n = without_edition(&parts->main);
    if (level == TITLE_SUBTITLE) n = without_subtitle(&parts->main);
    const size_t length = fold_parts(parts, n, level <= TITLE_PLAIN, folded);
    return level == TITLE_WHOLE ? squeeze(folded, length, out) : plain(folded, length, out);
}

size_t title_key_other(const struct title_part *group, char out[TITLE_KEY_ROOM]) {
    static const char *const aka[] = {"a.k.a.", "aka"};
    char text[TITLE_BYTES], folded[TITLE_FOLD_ROOM];
    struct title_parts parts;
    size_t n = group->n - 2;
    if (n == 0 || title_year(group->text + 1, n) != 0 || is_edition(group->text + 1, n)) return 0;
    memcpy(text, group->text + 1, n);
    for (size_t i = 0; i < sizeof aka / sizeof aka[0]; i++) {
        const size_t length = strlen(aka[i]);
        if (n <= length + 1 || memcmp(text, aka[i], length) != 0) continue;
        memmove(text, text + length, n - length);
        n -= length;
        break;
    }
    title_parts_find(text, n, &parts);
    n = fold_parts(&parts, parts.main.n, true, folded);
    return plain(folded, n, out);
}
