/*
 * The curator's declaration: lines of `name: text`, as docs/formats/about.md specifies them. Every
 * text is UTF-8 that can be shown anywhere: nothing in it can move a cursor, turn the direction of
 * writing or begin a line of its own, so that none of it can pass for words of dpmf. Fed by a file,
 * or by a statement that is read; feeds statement_*.c.
 */
#define _GNU_SOURCE
#include "statement/about.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/day.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/utf8.h"
#include "dpmf_text.h"

static const struct {
    const char *name, *label;
} fields[ABOUT_FIELDS] = {
    [ABOUT_TITLE] = {"title", "Title"},
    [ABOUT_CONTROLLER] = {"controller", "Controller"},
    [ABOUT_CONTACT] = {"contact", "Contact"},
    [ABOUT_DATA] = {"data", "Data"},
    [ABOUT_PERIOD] = {"period", "Period"},
    [ABOUT_INTENDED_USE] = {"intended_use", "Intended use"},
    [ABOUT_REGION] = {"region", "Region"},
    [ABOUT_SECTOR] = {"sector", "Sector"},
    [ABOUT_DATE] = {"date", "Date"},
    [ABOUT_REVIEW] = {"review", "Review"},
    [ABOUT_EXPIRY] = {"expiry", "Expiry"},
    [ABOUT_ERASURE] = {"erasure", "Requests for erasure"},
    [ABOUT_SPENT_BEFORE] = {"spent_before", "Spent before, as mu"},
    [ABOUT_SOURCES] = {"sources", "Sources"},
};

static const double spent_max = 1000; /* as much as dpmf computes with */

const char *about_name(enum about_field field) { return fields[field].name; }

const char *about_label(enum about_field field) { return fields[field].label; }

enum about_field about_find(const char *name) {
    int field = 0;
    while (field < ABOUT_FIELDS && strcmp(fields[field].name, name) != 0) field++;
    return (enum about_field)field;
}

const char *about_get(const struct about *about, enum about_field field) {
    return about->start[field] > 0 ? about->text + about->start[field] - 1 : NULL;
}

bool about_is_empty(const struct about *about) { return about->n == 0; }

double about_spent_before(const struct about *about) {
    const char *text = about_get(about, ABOUT_SPENT_BEFORE);
    double mu;
    return text && number_parse_double(text, strlen(text), &mu) == NUMBER_OK ? mu : NAN;
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* The character that the n valid bytes are. */
static uint32_t point_of(const char *text, size_t n) {
    static const unsigned char mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t point = (unsigned char)text[0] & mask[n];
    for (size_t i = 1; i < n; i++) point = point << 6 | ((unsigned char)text[i] & 0x3f);
    return point;
}

/* Control characters, line and paragraph separators, what turns the direction of writing, and what
 * is no character. */
static bool is_shown(uint32_t point) {
    if (point < 0x20 || (point >= 0x7f && point < 0xa0)) return false;
    if (point == 0x061c || point == 0x200e || point == 0x200f) return false;
    if ((point >= 0x2028 && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069)) return false;
    return (point & 0xfffe) != 0xfffe && !(point >= 0xfdd0 && point <= 0xfdef) && point != 0xfeff;
}

/* Characters that nobody sees (those that Unicode calls default ignorable, unless they are refused
 * above), and which could carry another text. */
static bool is_unseen(uint32_t point) {
    static const uint32_t ranges[][2] = {
        {0xad, 0xad},       {0x34f, 0x34f},     {0x115f, 0x1160},   {0x17b4, 0x17b5},
        {0x180b, 0x180f},   {0x200b, 0x200d},   {0x2060, 0x2065},   {0x206a, 0x206f},
        {0x3164, 0x3164},   {0xfe00, 0xfe0f},   {0xffa0, 0xffa0},   {0xfff0, 0xfffb},
        {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
    };
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        if (point >= ranges[i][0] && point <= ranges[i][1]) return true;
    return false;
}

/* Words of some languages need joiners, and pictures a selector: one of each after what it belongs
 * to. */
static bool may_follow(uint32_t before, uint32_t point) {
    const bool is_selector = point >= 0xfe00 && point <= 0xfe0f;
    if (is_selector) return before != 0 && !is_unseen(before);
    if (point != 0x200c && point != 0x200d) return false;
    return before != 0 && (!is_unseen(before) || (before >= 0xfe00 && before <= 0xfe0f));
}

static const char *fault_of_text(const char *text, size_t n) {
    if (n == 0) return "is empty";
    if (text[0] == ' ' || text[n - 1] == ' ') return "begins or ends with a blank";
    uint32_t before = 0;
    for (size_t i = 0, step; i < n; i += step) {
        step = utf8_sequence(text + i, n - i);
        if (step == 0) return "is not UTF-8";
        const uint32_t point = point_of(text + i, step);
        if (!is_shown(point))
            return "has a character that cannot be shown safely, such as a control character";
        if (is_unseen(point) && !may_follow(before, point))
            return "has a character that nobody sees";
        before = point;
    }
    return n > ABOUT_VALUE_MAX ? "is longer than 2000 bytes" : NULL;
}

static bool is_date(const char *text, size_t n) {
    int32_t day;
    return day_parse(text, n, &day);
}

static bool is_mu(const char *text, size_t n) {
    double mu;
    return number_parse_double(text, n, &mu) == NUMBER_OK && mu >= 0 && mu <= spent_max;
}

const char *about_put(struct about *about, enum about_field field, const char *text, size_t n) {
    const char *fault = fault_of_text(text, n);
    if (fault) return fault;
    if (about->start[field] > 0) return "is there twice";
    if (field == ABOUT_DATE && !is_date(text, n)) return "is not a date such as 2026-03-01";
    if (field == ABOUT_SPENT_BEFORE && !is_mu(text, n))
        return "is not a mu, which is a number from 0 to 1000";
    if (n + 1 > sizeof about->text - about->n) return "makes it longer than 8192 bytes";
    memcpy(about->text + about->n, text, n);
    about->text[about->n + n] = '\0';
    about->start[field] = (uint16_t)(about->n + 1);
    about->n = (uint16_t)(about->n + n + 1);
    return NULL;
}

/* ---- a file ---------------------------------------------------------------------------------- */

struct declaration {
    struct about *about;
    struct dpmf_error *error;
    int64_t line;  /* at hand */
    int64_t begun; /* where the field began that its next lines continue; 0: there is none */
    enum about_field field;
    char text[ABOUT_VALUE_MAX +
              2]; /* text of that field; one byte more than allowed, so that too long is noticed */
    size_t n;
};

static int refuse(struct declaration *self, int64_t line, int code, const char *what,
                  const char *hint) {
    error_set(self->error, code, "%s", what);
    error_hint(self->error, "%s", hint);
    error_place(self->error, NULL, line, 0);
    return code;
}

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static void trim(const char **text, size_t *n) {
    while (*n > 0 && is_blank((*text)[0])) (*text)++, (*n)--;
    while (*n > 0 && is_blank((*text)[*n - 1])) (*n)--;
}

/* More of the text of the field; lines are joined by a blank. */
static void add_text(struct declaration *self, const char *text, size_t n) {
    const size_t most = sizeof self->text - 1;
    trim(&text, &n);
    if (n > 0 && self->n > 0 && self->n < most) self->text[self->n++] = ' ';
    if (n > most - self->n) n = most - self->n;
    memcpy(self->text + self->n, text, n);
    self->n += n;
}

/* A field without any text is as one that is not there. */
static int end_field(struct declaration *self) {
    char what[160];
    const bool is_there = self->begun > 0 && self->n > 0;
    const char *fault = is_there ? about_put(self->about, self->field, self->text, self->n) : NULL;
    if (!fault) return 0;
    snprintf(what, sizeof what, "\"%s\" %s", about_name(self->field), fault);
    return refuse(self, self->begun, DPMF_ERR_INPUT_COLUMNS, what,
                  "a declaration is short plain text; docs/formats/about.md has an example");
}

/* "Intended use", "intended-use" and "intended_use" are the same name. */
static void spell_name(const char *text, size_t n, char name[40]) {
    if (n > 39) n = 39;
    for (size_t i = 0; i < n; i++) {
        char c = text[i];
        name[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c == ' ' || c == '-' ? '_' : c;
        if (name[i] < ' ' || name[i] > '~') name[i] = '?';
    }
    name[n] = '\0';
}

static int refuse_name(struct declaration *self, const char *name) {
    char what[120], hint[120];
    struct dpmf_nearest nearest = {.wanted = name};
    for (int i = 0; i < ABOUT_FIELDS; i++) dpmf_nearest_offer(&nearest, fields[i].name);
    snprintf(what, sizeof what, "there is no field \"%s\" in a declaration", name);
    snprintf(hint, sizeof hint, nearest.word ? "did you mean \"%s\"?" : "%s",
             nearest.word ? nearest.word : "docs/formats/about.md lists all fields");
    return refuse(self, self->line, DPMF_ERR_INPUT_HEADER, what, hint);
}

static int begin_field(struct declaration *self, const char *text, size_t n) {
    const char *colon = memchr(text, ':', n);
    char name[40];
    if (!colon)
        return refuse(self, self->line, DPMF_ERR_INPUT_COLUMNS, "a line is not \"name: text\"",
                      "begin the further lines of a text with a blank, and comments with #");
    const char *value = colon + 1;
    size_t n_name = (size_t)(colon - text), n_value = n - n_name - 1;
    trim(&text, &n_name);
    spell_name(text, n_name, name);
    self->field = about_find(name);
    if (self->field == ABOUT_FIELDS) return refuse_name(self, name);
    if (about_get(self->about, self->field))
        return refuse(self, self->line, DPMF_ERR_INPUT_HEADER, "a field is there twice",
                      "keep one of them");
    self->begun = self->line;
    self->n = 0;
    add_text(self, value, n_value);
    return 0;
}

static int take_line(struct declaration *self, const char *text, size_t n) {
    const bool continues = n > 0 && (text[0] == ' ' || text[0] == '\t');
    const char *words = text;
    size_t n_words = n;
    trim(&words, &n_words);
    if (n_words == 0 || text[0] == '#') return 0;
    if (continues && self->begun > 0) {
        add_text(self, text, n);
        return 0;
    }
    int code = end_field(self);
    return code < 0 ? code : begin_field(self, text, n);
}

int about_parse(const char *bytes, size_t n, struct about *about, struct dpmf_error *error) {
    struct declaration self = {.about = about, .error = error};
    static const char mark[] = "\xef\xbb\xbf"; /* some editors begin a file with it */
    size_t at = n >= 3 && memcmp(bytes, mark, 3) == 0 ? 3 : 0;
    *about = (struct about){0};
    while (at < n) {
        const char *line = bytes + at, *end = memchr(line, '\n', n - at);
        size_t length = end ? (size_t)(end - line) : n - at;
        self.line++;
        int code = take_line(&self, line, length);
        if (code < 0) return code;
        at += length + 1;
    }
    return end_field(&self);
}

int about_read(const char *path, struct about *about, struct dpmf_error *error) {
    const size_t most = ABOUT_FILE_MAX + 1; /* so that too long is noticed */
    size_t n = 0;
    ssize_t got = 1;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return error_system(error, errno, "open", path);
    char *bytes = memory_alloc(most, 1);
    int code = bytes ? 0 : error_no_memory(error);
    while (bytes && got != 0 && n < most) {
        got = read(fd, bytes + n, most - n);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) break;
        n += (size_t)got;
    }
    if (got < 0) code = error_system(error, errno, "read", path);
    close(fd);
    if (code == 0 && n > ABOUT_FILE_MAX) {
        code = error_set(error, DPMF_ERR_INPUT_TOO_MANY, "a declaration has at most %d bytes",
                         ABOUT_FILE_MAX);
        error_hint(error, "shorten it: it is published with the release");
    }
    if (code == 0) code = about_parse(bytes, n, about, error);
    if (code == 0 && about_is_empty(about)) {
        code = error_set(error, DPMF_ERR_INPUT_EMPTY, "the declaration says nothing");
        error_hint(error, "docs/formats/about.md has an example; or leave {about} out");
    }
    if (code < 0) error_place(error, path, error ? error->line : 0, 0);
    free(bytes);
    return code;
}
