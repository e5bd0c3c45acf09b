/*
 * A text as titles are compared: words in small letters. Fed by letters; feeds the keys of titles,
 * the search and the reader of histories.
 */
#include <string.h>

#include "titles/letters.h"
#include "titles/title_text.h"

/* The words so far. */
struct folding {
    char *out;
    size_t at;
    size_t unit;       /* characters since the word, or the last initial, began */
    bool is_open;      /* the last word continues */
    bool is_initials;  /* the last word consists of initials, each with its dot */
    bool has_gap;      /* something other than a dot came since */
    bool is_all_alpha; /* the unit is a letter, no digit */
};

static bool is_part_of_word(const char *text, size_t n) {
    char letters[LETTERS_MAX];
    size_t length;
    uint32_t point;
    if (n == 0) return false;
    letters_next(text, n, &point);
    return letters_of(point, letters, &length) != LETTER_BREAK;
}

static void begin_word(struct folding *folding) {
    if (folding->at > 0) folding->out[folding->at++] = ' ';
    folding->is_initials = false;
}

/* A letter alone after an initial, with a dot of its own or right behind the other's, is one too:
 * `rest` is what follows it. */
static bool is_next_initial(const struct folding *folding, const char *rest, size_t n) {
    if (!folding->is_initials || is_part_of_word(rest, n)) return false;
    return !folding->has_gap || (n > 0 && rest[0] == '.');
}

static void add(struct folding *folding, const char *letters, size_t length, const char *rest,
                size_t n) {
    if (!folding->is_open) {
        if (!is_next_initial(folding, rest, n)) begin_word(folding);
        folding->unit = 0;
        folding->has_gap = false;
        folding->is_open = true;
    }
    memcpy(folding->out + folding->at, letters, length);
    folding->at += length;
    folding->unit++;
    folding->is_all_alpha = letters[0] >= 'a' && letters[0] <= 'z' && length == 1;
}

static void end_word(struct folding *folding, uint32_t point) {
    if (folding->is_open)
        folding->is_initials = point == '.' && folding->unit == 1 && folding->is_all_alpha;
    folding->is_open = false;
    folding->has_gap |= point != '.';
}

/* A text of symbols alone, without the blanks around it. */
static size_t keep_symbols(const char *text, size_t n, char *out) {
    while (n > 0 && (unsigned char)text[0] <= ' ') text++, n--;
    while (n > 0 && (unsigned char)text[n - 1] <= ' ') n--;
    memcpy(out, text, n);
    return n;
}

size_t title_fold(const char *text, size_t n, char out[TITLE_FOLD_ROOM]) {
    struct folding folding = {.out = out};
    char letters[LETTERS_MAX];
    size_t length;
    uint32_t point;
    if (n > TITLE_BYTES) n = TITLE_BYTES;
    for (size_t i = 0; i < n;) {
        i += letters_next(text + i, n - i, &point);
        if (point == '&') {
            end_word(&folding, point);
            begin_word(&folding);
            memcpy(out + folding.at, "and", 3);
            folding.at += 3;
            continue;
        }
        switch (letters_of(point, letters, &length)) {
        case LETTER_WORD: add(&folding, letters, length, text + i, n - i); break;
        case LETTER_BREAK: end_word(&folding, point); break;
        case LETTER_SKIP: break;
        }
    }
    return folding.at > 0 ? folding.at : keep_symbols(text, n, out);
}
