/*
 * JSON text, built piece by piece: what every command prints with --json and what model files carry
 * in their headers. A mistake or a lack of memory is kept and told once, at the end, so that the
 * code that writes reads like the text it writes.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/number.h"
#include "base/utf8.h"
#include "dpmf_text.h"

enum { WRITER_DEPTH_MAX = 64 };

struct dpmf_json {
    struct byte_buffer text;
    int depth;
    uint64_t in_object; /* a bit per depth, as in the reader */
    bool needs_comma; /* something stands before in the innermost object or array, or at the top */
    bool failed;
};

struct dpmf_json *dpmf_json_new(void) {
    return memory_alloc_zero(1, sizeof(struct dpmf_json));
}

void dpmf_json_free(struct dpmf_json *json) {
    if (!json) return;
    free(json->text.bytes);
    free(json);
}

static void put(struct dpmf_json *json, const char *bytes, size_t n) {
    assert(bytes || n == 0);
    if (json->failed) return;
    uint8_t *room = byte_buffer_room(&json->text, n);
    if (!room) {
        json->failed = true;
        return;
    }
    memcpy(room, bytes, n);
    json->text.n += n;
}

static void put_text(struct dpmf_json *json, const char *text) { put(json, text, strlen(text)); }

/* ---- strings --------------------------------------------------------------------------------- */

static void put_control(struct dpmf_json *json, unsigned char byte) {
    static const char characters[] = "\b\t\n\f\r", letters[] = "btnfr";
    char escape[8];
    const char *short_form = byte ? strchr(characters, byte) : NULL;
    if (short_form)
        snprintf(escape, sizeof escape, "\\%c", letters[short_form - characters]);
    else
        snprintf(escape, sizeof escape, "\\u%04x", byte);
    put_text(json, escape);
}

/* @return how many bytes from `text` on may stand in a string as they are */
static size_t plain_length(const char *text, size_t n) {
    assert(text || n == 0);
    size_t i = 0;
    while (i < n) {
        unsigned char byte = (unsigned char)text[i];
        if (byte < 0x20 || byte == '"' || byte == '\\') break;
        size_t step = utf8_sequence(text + i, n - i);
        if (step == 0) break;
        i += step;
    }
    return i;
}

static void put_string(struct dpmf_json *json, const char *text, size_t n) {
    put_text(json, "\"");
    while (n > 0 && !json->failed) {
        size_t plain = plain_length(text, n);
        put(json, text, plain);
        text += plain;
        n -= plain;
        if (n == 0) break;
        unsigned char byte = (unsigned char)*text;
        if (byte == '"')
            put_text(json, "\\\"");
        else if (byte == '\\')
            put_text(json, "\\\\");
        else if (byte < 0x20)
            put_control(json, byte);
        else
            put_text(json, "\xef\xbf\xbd"); /* U+FFFD for what is not UTF-8 */
        text++;
        n--;
    }
    put_text(json, "\"");
}

/* ---- structure ------------------------------------------------------------------------------- */

/* Puts what stands before a value. A key belongs in objects and nowhere else, and at the top there
 * is one value. @return false when nothing can be written here */
static bool begin_value(struct dpmf_json *json, const char *key) {
    if (!json || json->failed) return false;
    bool object = json->depth > 0 && (json->in_object >> (json->depth - 1) & 1);
    bool second_at_top = json->depth == 0 && json->needs_comma;
    if (object != (key != NULL) || second_at_top) {
        json->failed = true;
        return false;
    }
    if (json->needs_comma) put_text(json, ",");
    json->needs_comma = true;
    if (key) {
        put_string(json, key, strlen(key));
        put_text(json, ":");
    }
    return true;
}

static void open_container(struct dpmf_json *json, const char *key, bool object) {
    assert(!json || (json->depth >= 0 && json->depth <= WRITER_DEPTH_MAX));
    if (!begin_value(json, key)) return;
    if (json->depth == WRITER_DEPTH_MAX) {
        json->failed = true;
        return;
    }
    uint64_t bit = UINT64_C(1) << json->depth;
    json->in_object = object ? json->in_object | bit : json->in_object & ~bit;
    json->depth++;
    json->needs_comma = false;
    put_text(json, object ? "{" : "[");
}

static void close_container(struct dpmf_json *json, bool object) {
    if (!json || json->failed) return;
    if (json->depth == 0 || (json->in_object >> (json->depth - 1) & 1) != object) {
        json->failed = true;
        return;
    }
    json->depth--;
    json->needs_comma = true;
    put_text(json, object ? "}" : "]");
}

void dpmf_json_begin_object(struct dpmf_json *json, const char *key) {
    open_container(json, key, true);
}

void dpmf_json_end_object(struct dpmf_json *json) { close_container(json, true); }

void dpmf_json_begin_array(struct dpmf_json *json, const char *key) {
    open_container(json, key, false);
}

void dpmf_json_end_array(struct dpmf_json *json) { close_container(json, false); }

/* ---- values ---------------------------------------------------------------------------------- */

void dpmf_json_bytes(struct dpmf_json *json, const char *key, const char *value, size_t n) {
    if (!value)
        dpmf_json_null(json, key);
    else if (begin_value(json, key))
        put_string(json, value, n);
}

void dpmf_json_null(struct dpmf_json *json, const char *key) {
    if (begin_value(json, key)) put_text(json, "null");
}

void dpmf_json_string(struct dpmf_json *json, const char *key, const char *value) {
    if (value)
        dpmf_json_bytes(json, key, value, strlen(value));
    else
        dpmf_json_null(json, key);
}

void dpmf_json_double(struct dpmf_json *json, const char *key, double value) {
    if (!isfinite(value)) {
        dpmf_json_null(json, key);
        return;
    }
    char text[DPMF_DOUBLE_TEXT_MAX];
    if (begin_value(json, key)) put(json, text, number_format_double(value, text));
}

void dpmf_json_int(struct dpmf_json *json, const char *key, int64_t value) {
    char text[DPMF_DOUBLE_TEXT_MAX];
    if (begin_value(json, key)) put(json, text, number_format_int64(value, text));
}

void dpmf_json_uint(struct dpmf_json *json, const char *key, uint64_t value) {
    char text[DPMF_DOUBLE_TEXT_MAX];
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    if (begin_value(json, key)) put_text(json, text);
}

void dpmf_json_bool(struct dpmf_json *json, const char *key, bool value) {
    if (begin_value(json, key)) put_text(json, value ? "true" : "false");
}

const char *dpmf_json_text(struct dpmf_json *json, size_t *length) {
    if (!json || json->failed) return NULL;
    uint8_t *end = byte_buffer_room(&json->text, 1);
    if (!end) {
        json->failed = true;
        return NULL;
    }
    *end = '\0';
    if (length) *length = json->text.n;
    return (const char *)json->text.bytes;
}
