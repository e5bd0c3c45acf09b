/*
 * Property: the JSON reader never reads out of bounds and always ends; a text that it accepts,
 * written again with the writer, is accepted again and has the same tokens.
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/number.h"
#include "dpmf_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Strings as the writer wants them, with NUL allowed inside. */
static char *unescaped(const struct json_token *token, size_t *n) {
    char *text = malloc(token->length + 1);
    if (text == NULL) abort();
    *n = json_unescape(token, text);
    if (*n > token->length) abort();
    text[*n] = '\0';
    return text;
}

/* The public writer takes keys as C strings: a key with a NUL in it is cut there. */
static bool has_nul(const char *text, size_t n) { return memchr(text, 0, n) != NULL; }

static void write_number(struct dpmf_json *json, const char *key, const struct json_token *token) {
    double value;
    if (number_parse_double(token->text, token->length, &value) == NUMBER_OK)
        dpmf_json_double(json, key, value);
    else
        dpmf_json_null(json, key);
}

/* Writes the value that `token` begins. @return false when it has something the writer cannot say
 */
static bool write_token(struct dpmf_json *json, const char *key, const struct json_token *token) {
    size_t n;
    switch (token->kind) {
    case JSON_OBJECT_BEGIN: dpmf_json_begin_object(json, key); break;
    case JSON_ARRAY_BEGIN: dpmf_json_begin_array(json, key); break;
    case JSON_OBJECT_END: dpmf_json_end_object(json); break;
    case JSON_ARRAY_END: dpmf_json_end_array(json); break;
    case JSON_STRING: {
        char *text = unescaped(token, &n);
        dpmf_json_bytes(json, key, text, n);
        free(text);
        break;
    }
    case JSON_NUMBER: write_number(json, key, token); break;
    case JSON_TRUE: dpmf_json_bool(json, key, true); break;
    case JSON_FALSE: dpmf_json_bool(json, key, false); break;
    case JSON_NULL: dpmf_json_null(json, key); break;
    default: return false;
    }
    return true;
}

/* Reads all of the text. @return whether it is JSON; *json is what the writer made of it, or NULL
 */
static bool rewrite(const char *text, size_t length, struct dpmf_json *json, bool *sayable) {
    struct json_reader reader;
    json_reader_init(&reader, text, length);
    char *key = NULL;
    size_t limit = 4 * length + 8;
    *sayable = true;
    for (;;) {
        if (limit-- == 0) abort();
        struct json_token token = json_next(&reader);
        if (token.offset > length) abort();
        if (token.kind == JSON_END || token.kind == JSON_ERROR) {
            free(key);
            if (token.kind == JSON_ERROR && token.fault == NULL) abort();
            return token.kind == JSON_END;
        }
        if (token.text != NULL && (token.text < text || token.text + token.length > text + length))
            abort();
        if (token.kind == JSON_KEY) {
            size_t n;
            free(key);
            key = unescaped(&token, &n);
            if (has_nul(key, n)) *sayable = false;
            continue;
        }
        bool ends = token.kind == JSON_OBJECT_END || token.kind == JSON_ARRAY_END;
        if (!write_token(json, ends ? NULL : key, &token)) abort();
        free(key);
        key = NULL;
    }
}

static bool skips(const char *text, size_t length) {
    struct json_reader reader;
    json_reader_init(&reader, text, length);
    struct json_token token = json_next(&reader);
    if (token.kind == JSON_ERROR) return false;
    return json_skip(&reader, token) && json_next(&reader).kind == JSON_END;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *exact = malloc(size > 0 ? size : 1); /* so that the sanitizer sees where it ends */
    if (exact == NULL) abort();
    if (size > 0) memcpy(exact, data, size);
    struct dpmf_json *json = dpmf_json_new(), *again = dpmf_json_new();
    if (json == NULL || again == NULL) abort();
    bool sayable, ignored;
    bool accepted = rewrite(exact, size, json, &sayable);
    if (accepted != skips(exact, size)) abort();
    if (accepted && sayable) {
        size_t n, m;
        const char *first = dpmf_json_text(json, &n);
        if (first == NULL) abort();
        if (!rewrite(first, n, again, &ignored)) abort();
        const char *second = dpmf_json_text(again, &m);
        if (second == NULL || n != m || memcmp(first, second, n) != 0) abort();
    }
    dpmf_json_free(json);
    dpmf_json_free(again);
    free(exact);
    return 0;
}
