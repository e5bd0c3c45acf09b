/*
 * Texts that name settings, as struct dpmf_error describes them: writing one, so that nothing which
 * comes from outside can pass for a setting, and rendering one in the words of whoever shows it.
 * Fed by error.c and by every front end.
 */
#include "base/error_text.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text_sink.h"
#include "base/utf8.h"

/* ---- writing --------------------------------------------------------------------------------- */

enum {
    FORMAT_MAX = 2 * DPMF_ERROR_TEXT_MAX,
    WHOLE_MAX = 8 * DPMF_ERROR_TEXT_MAX, /* more room than in an error: masked before it is cut */
    MASKED_MAX = 4 * DPMF_ERROR_TEXT_MAX,
};

static bool is_brace(char c) { return c == '{' || c == '}'; }

/* A text that was cut to fit may end in the middle of a character: drop that piece of one. */
void error_text_trim(char *text, size_t size) {
    size_t end = strlen(text), start = end;
    if (end + 1 < size) return;
    while (start > 0 && end - start < 3 && ((unsigned char)text[start - 1] & 0xc0) == 0x80) start--;
    if (start == 0 || (unsigned char)text[start - 1] < 0xc0) return;
    start--;
    if (utf8_sequence(text + start, end - start) == 0) text[start] = '\0';
}

static void format_masked(char masked[MASKED_MAX], const char *format, va_list arguments) {
    char whole[WHOLE_MAX];
    int n = vsnprintf(whole, sizeof whole, format, arguments);
    if (n < 0) whole[0] = '\0';
    error_mask_message(whole, n >= (int)sizeof whole, masked, MASKED_MAX);
}

/* The format with its own braces replaced by bytes that, to the mask, are as good as braces. */
static bool replace_braces(const char *format, char replaced[FORMAT_MAX]) {
    size_t n = strlen(format);
    if (n >= FORMAT_MAX) return false;
    for (size_t i = 0; i <= n; i++)
        replaced[i] = format[i] == '{' ? '\x01' : format[i] == '}' ? '\x02' : format[i];
    return true;
}

/* The arguments are written twice, into the format and into one without its braces: a brace that is
 * in both texts is not the format's, and is escaped. */
void error_text_write(char *text, size_t size, const char *format, va_list arguments) {
    char replaced[FORMAT_MAX], marked[MASKED_MAX], plain[MASKED_MAX];
    va_list again;
    va_copy(again, arguments);
    format_masked(marked, format, arguments);
    format_masked(plain, replace_braces(format, replaced) ? replaced : format, again);
    va_end(again);
    size_t n = 0;
    for (size_t i = 0; marked[i] != '\0'; i++) {
        bool is_escaped = is_brace(marked[i]) && plain[i] == marked[i];
        if (n + is_escaped + 1 >= size) break;
        if (is_escaped) text[n++] = '{';
        text[n++] = marked[i];
    }
    if (size == 0) return;
    text[n] = '\0';
    error_text_trim(text, size);
}

void dpmf_error_write(char *text, size_t size, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (text) error_text_write(text, size, format ? format : "", arguments);
    va_end(arguments);
}

/* ---- rendering ------------------------------------------------------------------------------- */

static bool begins_name(char c) { return (c >= 'a' && c <= 'z') || c == ':'; }

/* In words: {learning-rate 0.1} is "learning rate 0.1". */
static int write_words(void *self, const char *name, const char *value, char *text, size_t size) {
    (void)self;
    struct text_sink sink = {text, size, 0};
    for (name += name[0] == ':'; *name; name++) text_sink_put(&sink, *name == '-' ? ' ' : *name);
    if (value) {
        text_sink_put(&sink, ' ');
        text_sink_put_text(&sink, value);
    }
    return text_sink_end(&sink);
}

/* Takes one character of the text, or an escaped brace. @return what follows it */
static const char *take(const char *at, char *c) {
    bool is_escaped = at[0] == '{' && is_brace(at[1]);
    *c = at[is_escaped];
    return at + is_escaped + 1;
}

/* Renders the setting whose { is at `at`; one that was cut off ends with the text.
 * @return what follows it */
static const char *put_setting(struct text_sink *sink, const char *at, dpmf_setting_writer *write,
                               void *self) {
    char setting[DPMF_ERROR_TEXT_MAX], written[2 * DPMF_ERROR_TEXT_MAX], c;
    struct text_sink copy = {setting, sizeof setting, 0};
    for (at++; *at && *at != '}';) {
        at = take(at, &c);
        text_sink_put(&copy, c);
    }
    text_sink_end(&copy);
    char *value = strchr(setting, ' ');
    if (value) *value++ = '\0';
    written[0] = '\0';
    write(self, setting, value, written, sizeof written);
    text_sink_put_text(sink, written);
    return *at == '}' ? at + 1 : at;
}

static void put_rendered(struct text_sink *sink, const char *text, dpmf_setting_writer *write,
                         void *self) {
    char c;
    while (*text) {
        if (text[0] == '{' && begins_name(text[1])) {
            text = put_setting(sink, text, write ? write : write_words, self);
        } else {
            text = take(text, &c);
            text_sink_put(sink, c);
        }
    }
}

int dpmf_error_text(const char *text, dpmf_setting_writer *write, void *self, char *out,
                    size_t size) {
    struct text_sink sink = {out, out ? size : 0, 0};
    put_rendered(&sink, text ? text : "", write, self);
    return text_sink_end(&sink);
}

/* "ratings.csv:3:7: " but "line 3:7: " */
static void put_place(struct text_sink *sink, const struct dpmf_error *error) {
    char numbers[64] = "";
    const char *file = error->file[0] ? error->file : error->line > 0 ? "line" : "";
    const char gap = error->file[0] ? ':' : ' ';
    long long line = (long long)error->line, column = (long long)error->column;
    if (line > 0 && column > 0)
        snprintf(numbers, sizeof numbers, "%c%lld:%lld", gap, line, column);
    else if (line > 0)
        snprintf(numbers, sizeof numbers, "%c%lld", gap, line);
    if (!file[0]) return;
    text_sink_put_text(sink, file);
    text_sink_put_text(sink, numbers);
    text_sink_put_text(sink, ": ");
}

int dpmf_error_format(const struct dpmf_error *error, dpmf_setting_writer *write, void *self,
                      char *out, size_t size) {
    struct text_sink sink = {out, out ? size : 0, 0};
    if (!error) return text_sink_end(&sink);
    put_place(&sink, error);
    put_rendered(&sink, error->message[0] ? error->message : dpmf_error_sentence(error->code),
                 write, self);
    return text_sink_end(&sink);
}
