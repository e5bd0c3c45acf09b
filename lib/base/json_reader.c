/*
 * The JSON pull reader: one token a call, straight from the text, nothing allocated. Readers of
 * JSON-lines ratings use it once a line, so short texts must cost little; model headers and
 * statements use it too, so it must be strict.
 */
#include "base/json.h"

#include <assert.h>
#include <string.h>

#include "base/utf8.h"

/* What may come next. */
enum expect {
    EXPECT_VALUE,
    EXPECT_VALUE_OR_END, /* after [ */
    EXPECT_KEY_OR_END,   /* after { */
    EXPECT_COMMA_OR_END, /* after a value in an array or object */
    EXPECT_NOTHING,      /* after the one value of the text */
};

enum { REPLACEMENT = 0xfffd };

void json_reader_init(struct json_reader *reader, const char *text, size_t length) {
    assert(text || length == 0);
    *reader = (struct json_reader){.text = text, .length = length, .expect = EXPECT_VALUE};
}

/* Errors leave the reader as it was: asking again gives the same error. */
static struct json_token fail(size_t offset, const char *fault) {
    return (struct json_token){.kind = JSON_ERROR, .offset = offset, .fault = fault};
}

static size_t skip_space(const struct json_reader *reader, size_t at) {
    assert(at <= reader->length);
    while (at < reader->length) {
        char c = reader->text[at];
        if (c != ' ' && c != '\t' && c != '\n' && c != '\r') break;
        at++;
    }
    return at;
}

static bool in_object(const struct json_reader *reader) {
    return reader->depth > 0 && (reader->in_object >> (reader->depth - 1) & 1);
}

static void expect_after_value(struct json_reader *reader, size_t at) {
    assert(at <= reader->length);
    reader->at = at;
    reader->expect = reader->depth == 0 ? EXPECT_NOTHING : EXPECT_COMMA_OR_END;
}

/* ---- strings --------------------------------------------------------------------------------- */

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* @return the number of the four hex digits, or -1 */
static int hex_four(const char *text, const char *end) {
    if (end - text < 4) return -1;
    int value = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(text[i]);
        if (digit < 0) return -1;
        value = value << 4 | digit;
    }
    return value;
}

/* @return the length of the escape at `text`, its backslash included, or 0 */
static size_t escape_length(const char *text, const char *end) {
    if (end - text < 2) return 0;
    if (text[1] == 'u') return hex_four(text + 2, end) >= 0 ? 6 : 0;
    return text[1] != '\0' && strchr("\"\\/bfnrt", text[1]) ? 2 : 0;
}

/* Reads the string whose opening quote is at `at`. */
static struct json_token take_string(const struct json_reader *reader, size_t at, size_t *after) {
    assert(at < reader->length && reader->text[at] == '"');
    const char *begin = reader->text + at + 1, *end = reader->text + reader->length;
    struct json_token token = {.kind = JSON_STRING, .text = begin, .offset = at};
    for (const char *c = begin; c < end;) {
        unsigned char byte = (unsigned char)*c;
        if (byte == '"') {
            token.length = (size_t)(c - begin);
            *after = (size_t)(c + 1 - reader->text);
            return token;
        }
        size_t step = 1;
        size_t here = (size_t)(c - reader->text);
        if (byte == '\\') {
            token.escaped = true;
            step = escape_length(c, end);
            if (step == 0) return fail(here, "an escape that JSON does not have");
        } else if (byte < 0x20) {
            return fail(here, "a control character in a string");
        } else if (byte >= 0x80) {
            step = utf8_sequence(c, (size_t)(end - c));
            if (step == 0) return fail(here, "bytes that are not UTF-8");
        }
        c += step;
    }
    return fail(at, "a string without its closing quote");
}

/* Reads one byte, or one escape, of a string known to be well-formed. What it stands for is never
 * longer than itself, which is why strings can be unescaped in place. */
static const char *decode(const char *text, const char *end, char out[UTF8_MAX], size_t *n) {
    assert(text < end);
    *n = 1;
    if (*text != '\\' || end - text < 2) {
        out[0] = *text;
        return text + 1;
    }
    if (text[1] != 'u') {
        static const char letters[] = "bfnrt", meanings[] = "\b\f\n\r\t";
        const char *letter = strchr(letters, text[1]);
        out[0] = letter && *letter ? meanings[letter - letters] : text[1];
        return text + 2;
    }
    int high = hex_four(text + 2, end);
    const char *after = high < 0 ? end : text + 6;
    if (high >= 0xd800 && high < 0xdc00 && end - after >= 6 && after[0] == '\\' &&
        after[1] == 'u') {
        int low = hex_four(after + 2, end);
        if (low >= 0xdc00 && low < 0xe000) {
            *n = utf8_put(0x10000u + (uint32_t)((high - 0xd800) << 10 | (low - 0xdc00)), out);
            return after + 6;
        }
    }
    bool lone = high < 0 || (high >= 0xd800 && high < 0xe000);
    *n = utf8_put(lone ? REPLACEMENT : (uint32_t)high, out);
    return after;
}

size_t json_unescape(const struct json_token *token, char *out) {
    assert(token && out);
    if (!token->escaped) {
        memmove(out, token->text, token->length);
        return token->length;
    }
    const char *end = token->text + token->length;
    size_t length = 0;
    for (const char *at = token->text; at < end;) {
        char character[UTF8_MAX];
        size_t n;
        at = decode(at, end, character, &n);
        memcpy(out + length, character, n);
        length += n;
    }
    return length;
}

bool json_has_half(const struct json_token *token) {
    if (!token->escaped) return false; /* nor need there be a text: null has none */
    const char *at = token->text, *end = at + token->length;
    while (end - at >= 2) {
        if (*at != '\\' || at[1] != 'u') {
            at += *at == '\\' ? 2 : 1;
            continue;
        }
        int unit = hex_four(at + 2, end);
        at += 6;
        if (unit < 0xd800 || unit >= 0xe000) continue;
        bool paired = unit < 0xdc00 && end - at >= 6 && at[0] == '\\' && at[1] == 'u';
        int low = paired ? hex_four(at + 2, end) : -1;
        if (low < 0xdc00 || low >= 0xe000) return true;
        at += 6;
    }
    return false;
}

bool json_equals(const struct json_token *token, const char *word) {
    size_t n_word = strlen(word);
    if (n_word > 255) return false;
    if (!token->escaped) return token->length == n_word && memcmp(token->text, word, n_word) == 0;
    const char *end = token->text + token->length;
    for (const char *at = token->text; at < end;) {
        char character[UTF8_MAX];
        size_t n;
        at = decode(at, end, character, &n);
        if (n > n_word || memcmp(character, word, n) != 0) return false;
        word += n;
        n_word -= n;
    }
    return n_word == 0;
}

/* ---- numbers and words ----------------------------------------------------------------------- */

static size_t skip_digits(const struct json_reader *reader, size_t at) {
    while (at < reader->length && (unsigned char)(reader->text[at] - '0') < 10) at++;
    return at;
}

static bool has(const struct json_reader *reader, size_t at, char c) {
    return at < reader->length && reader->text[at] == c;
}

static struct json_token take_number(struct json_reader *reader, size_t begin) {
    assert(begin < reader->length);
    size_t at = begin + has(reader, begin, '-');
    size_t digits = at;
    at = skip_digits(reader, at);
    if (at == digits) return fail(at, "a number without digits");
    if (has(reader, digits, '0') && at > digits + 1)
        return fail(digits, "a number that begins with 0");
    if (has(reader, at, '.')) {
        digits = ++at;
        at = skip_digits(reader, at);
        if (at == digits) return fail(at, "a number without digits after its point");
    }
    if (has(reader, at, 'e') || has(reader, at, 'E')) {
        at++;
        if (has(reader, at, '+') || has(reader, at, '-')) at++;
        digits = at;
        at = skip_digits(reader, at);
        if (at == digits) return fail(at, "a number without digits in its exponent");
    }
    expect_after_value(reader, at);
    return (struct json_token){
        .kind = JSON_NUMBER, .text = reader->text + begin, .length = at - begin, .offset = begin};
}

static struct json_token take_word(struct json_reader *reader, size_t at, const char *word,
                                   enum json_kind kind) {
    assert(at < reader->length);
    size_t n = strlen(word);
    if (reader->length - at < n || memcmp(reader->text + at, word, n) != 0)
        return fail(at, "a word that is not true, false or null");
    expect_after_value(reader, at + n);
    return (struct json_token){.kind = kind, .offset = at};
}

/* ---- structure ------------------------------------------------------------------------------- */

static struct json_token open_container(struct json_reader *reader, size_t at, bool object) {
    if (reader->depth == JSON_DEPTH_MAX) return fail(at, "nested too deeply");
    uint64_t bit = UINT64_C(1) << reader->depth;
    reader->in_object = object ? reader->in_object | bit : reader->in_object & ~bit;
    reader->depth++;
    reader->at = at + 1;
    reader->expect = object ? EXPECT_KEY_OR_END : EXPECT_VALUE_OR_END;
    return (struct json_token){.kind = object ? JSON_OBJECT_BEGIN : JSON_ARRAY_BEGIN, .offset = at};
}

static struct json_token close_container(struct json_reader *reader, size_t at) {
    bool object = in_object(reader);
    reader->depth--;
    expect_after_value(reader, at + 1);
    return (struct json_token){.kind = object ? JSON_OBJECT_END : JSON_ARRAY_END, .offset = at};
}

/* A key comes with its colon. */
static struct json_token take_key(struct json_reader *reader, size_t at) {
    if (!has(reader, at, '"')) return fail(at, "expected a key in quotes");
    size_t after;
    struct json_token token = take_string(reader, at, &after);
    if (token.kind == JSON_ERROR) return token;
    after = skip_space(reader, after);
    if (!has(reader, after, ':')) return fail(after, "expected ':' after a key");
    token.kind = JSON_KEY;
    reader->at = after + 1;
    reader->expect = EXPECT_VALUE;
    return token;
}

static struct json_token take_value(struct json_reader *reader, size_t at) {
    if (at == reader->length) return fail(at, "the text ends where a value should be");
    switch (reader->text[at]) {
    case '{': return open_container(reader, at, true);
    case '[': return open_container(reader, at, false);
    case 't': return take_word(reader, at, "true", JSON_TRUE);
    case 'f': return take_word(reader, at, "false", JSON_FALSE);
    case 'n': return take_word(reader, at, "null", JSON_NULL);
    case '"': {
        size_t after;
        struct json_token token = take_string(reader, at, &after);
        if (token.kind == JSON_STRING) expect_after_value(reader, after);
        return token;
    }
    default: break;
    }
    bool number = reader->text[at] == '-' || skip_digits(reader, at) > at;
    return number ? take_number(reader, at) : fail(at, "expected a value");
}

static struct json_token after_comma(struct json_reader *reader, size_t at) {
    bool object = in_object(reader);
    if (has(reader, at, object ? '}' : ']')) return close_container(reader, at);
    if (!has(reader, at, ','))
        return fail(at, object ? "expected ',' or '}'" : "expected ',' or ']'");
    at = skip_space(reader, at + 1);
    return object ? take_key(reader, at) : take_value(reader, at);
}

struct json_token json_next(struct json_reader *reader) {
    size_t at = skip_space(reader, reader->at);
    switch ((enum expect)reader->expect) {
    case EXPECT_VALUE: return take_value(reader, at);
    case EXPECT_VALUE_OR_END:
        return has(reader, at, ']') ? close_container(reader, at) : take_value(reader, at);
    case EXPECT_KEY_OR_END:
        return has(reader, at, '}') ? close_container(reader, at) : take_key(reader, at);
    case EXPECT_COMMA_OR_END: return after_comma(reader, at);
    case EXPECT_NOTHING: break;
    }
    if (at < reader->length) return fail(at, "more text after the end of the value");
    return (struct json_token){.kind = JSON_END, .offset = at};
}

bool json_skip(struct json_reader *reader, struct json_token token) {
    if (token.kind == JSON_KEY) token = json_next(reader);
    if (token.kind == JSON_OBJECT_BEGIN || token.kind == JSON_ARRAY_BEGIN) {
        int outside = reader->depth - 1;
        while (reader->depth > outside && token.kind != JSON_ERROR) token = json_next(reader);
    }
    return token.kind != JSON_ERROR;
}
