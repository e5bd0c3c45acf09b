/*
 * A title taken apart, and put together as people write it: "Matrix, The (1999)" is The Matrix, of
 * 1999. Fed by catalogues and histories; feeds the keys of titles and everything that shows one.
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "titles/title_text.h"

/* ---- years ----------------------------------------------------------------------------------- */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_blank(char c) { return (unsigned char)c <= ' '; }

int32_t title_year(const char *text, size_t n) {
    int32_t year = 0;
    while (n > 0 && is_blank(text[0])) text++, n--;
    if (n < 4) return 0;
    for (size_t i = 0; i < 4; i++) {
        if (!is_digit(text[i])) return 0;
        year = 10 * year + (text[i] - '0');
    }
    if (n > 4 && is_digit(text[4])) return 0;
    for (size_t i = 4; i < n; i++) { /* to another year: a dash, of any length, and digits */
        const bool is_dash = text[i] == '-' || text[i] == '/' || (unsigned char)text[i] >= 0x80;
        if (!is_digit(text[i]) && !is_dash && !is_blank(text[i])) return 0;
    }
    return year >= 1000 && year < 3000 ? year : 0;
}

/* ---- parts ----------------------------------------------------------------------------------- */

static void trim(struct title_part *part) {
    while (part->n > 0 && is_blank(part->text[0])) part->text++, part->n--;
    while (part->n > 0 && is_blank(part->text[part->n - 1])) part->n--;
}

/* @return the place of the bracket that the last byte closes; 0: none, or nothing before it */
static size_t group_start(const struct title_part *part) {
    if (part->n == 0) return 0;
    const char close = part->text[part->n - 1];
    if (close != ')' && close != ']') return 0;
    const char open = close == ')' ? '(' : '[';
    size_t depth = 0;
    for (size_t i = part->n; i-- > 0;) {
        if (part->text[i] == close) depth++;
        if (part->text[i] == open && --depth == 0) return i;
    }
    return 0;
}

static struct title_part inside(const struct title_part *group) {
    return (struct title_part){group->text + 1, group->n - 2};
}

static void take_groups(struct title_parts *parts) {
    struct title_part found[TITLE_GROUPS];
    size_t n = 0;
    for (size_t from; n < TITLE_GROUPS && (from = group_start(&parts->main)) > 0; n++) {
        found[n] = (struct title_part){parts->main.text + from, parts->main.n - from};
        parts->main.n = from;
        trim(&parts->main);
    }
    for (size_t i = 0; i < n; i++) parts->group[i] = found[n - 1 - i];
    parts->n_groups = n;
    parts->year_group = TITLE_GROUPS;
    for (size_t i = n; i-- > 0 && parts->year == 0;) {
        const struct title_part text = inside(&parts->group[i]);
        parts->year = title_year(text.text, text.n);
        if (parts->year != 0) parts->year_group = i;
    }
}

static const char *const articles[] = {"the", "a",   "an",  "le",  "la",  "les",  "l'", "un",
                                       "une", "der", "die", "das", "ein", "eine", "el", "los",
                                       "las", "il",  "lo",  "gli", "i",   "o",    "os", "as",
                                       "de",  "het", "en",  "ett", "den", "det",  "una"};

static bool is_article(const struct title_part *word) {
    for (size_t i = 0; i < sizeof articles / sizeof articles[0]; i++)
        if (strlen(articles[i]) == word->n && strncasecmp(articles[i], word->text, word->n) == 0)
            return true;
    return false;
}

/* Takes an article off that stands behind the last comma. */
static void take_article(struct title_part *main, struct title_part *article) {
    size_t comma = main->n;
    *article = (struct title_part){main->text, 0};
    while (comma > 0 && main->text[comma - 1] != ',') comma--;
    if (comma < 2) return;
    struct title_part word = {main->text + comma, main->n - comma};
    trim(&word);
    if (!is_article(&word)) return;
    *article = word;
    main->n = comma - 1;
    trim(main);
}

void title_parts_find(const char *text, size_t n, struct title_parts *parts) {
    *parts = (struct title_parts){.main = {text, n < TITLE_BYTES ? n : TITLE_BYTES}};
    trim(&parts->main);
    take_groups(parts);
    take_article(&parts->main, &parts->article);
}

/* ---- as people write it ---------------------------------------------------------------------- */

/* A text that grows up to a size, and beyond it is only counted. */
struct writing {
    char *out;
    size_t size, n;
};

static void put(struct writing *writing, const char *text, size_t n) {
    for (size_t i = 0; i < n; i++, writing->n++)
        if (writing->n + 1 < writing->size) writing->out[writing->n] = text[i];
}

static void put_title(struct writing *writing, const struct title_part *main,
                      const struct title_part *article) {
    put(writing, article->text, article->n);
    if (article->n > 0 && article->text[article->n - 1] != '\'') put(writing, " ", 1);
    put(writing, main->text, main->n);
}

/* A text in brackets is often another name, with an article of its own behind a comma. */
static void put_group(struct writing *writing, const struct title_part *group) {
    struct title_part text = inside(group), article;
    take_article(&text, &article);
    put(writing, " ", 1);
    put(writing, group->text, 1);
    put_title(writing, &text, &article);
    put(writing, group->text + group->n - 1, 1);
}

size_t title_show(const char *text, size_t n, char *out, size_t size) {
    struct title_parts parts;
    struct writing writing = {out, size, 0};
    if (n > TITLE_BYTES) { /* too long to be a title: as it is */
        put(&writing, text, n);
    } else {
        title_parts_find(text, n, &parts);
        put_title(&writing, &parts.main, &parts.article);
        for (size_t i = 0; i < parts.n_groups; i++) put_group(&writing, &parts.group[i]);
    }
    if (size > 0) out[writing.n < size ? writing.n : size - 1] = '\0';
    return writing.n;
}
