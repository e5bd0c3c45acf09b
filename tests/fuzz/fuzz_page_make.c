/*
 * Property: whatever the name, the titles and the release, the page has the length that it was said
 * to have and is the outline with each marker filled once: a name without markup in valid UTF-8,
 * JSON without "<" that means what was given, and base64 of exactly the release. The input is cut
 * into the three at its first two line feeds. Also, no text makes the judges of Host and
 * If-None-Match read beyond it.
 */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "dpmf_text.h"
#include "http/http_answers.h"
#include "page/page_make.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char outline[] =
    "a<!--dpmf:name-->b<!--dpmf:items-->c<!--dpmf:release-->d<!--dpmf:statement-->e";

static void must(bool holds) {
    if (!holds) abort();
}

static char *copy_text(const uint8_t *bytes, size_t n) {
    char *text = malloc(n + 1);
    must(text != NULL);
    memcpy(text, bytes, n);
    text[n] = '\0';
    return text;
}

/* Passes over a text that must come next. */
static const char *pass(const char *at, const char *text) {
    must(strncmp(at, text, strlen(text)) == 0);
    return at + strlen(text);
}

static const char *check_name(const char *at) {
    const char *end = strstr(at, "b<script type=\"application/json\" id=\"dpmf-items\">");
    must(end != NULL);
    for (const char *from = at; from < end;) {
        size_t length = utf8_sequence(from, (size_t)(end - from));
        must(length > 0 && !strchr("<>\"'", *from) && (unsigned char)*from >= 0x20);
        from += length;
    }
    return pass(end, "b<script type=\"application/json\" id=\"dpmf-items\">");
}

static const char *check_items(const char *at, const char *items, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (items[i] == '<')
            at = pass(at, "\\u003c");
        else
            must(*at++ == items[i]);
    }
    return pass(at, "</script>c<script type=\"application/octet-stream\" id=\"dpmf-release\">");
}

static const char *check_release(const char *at, const uint8_t *release, size_t n) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    enum { BLOCK = 3 * 16384 };
    for (size_t i = 0; i < n; i += 3, at += 4) {
        uint32_t group = 0;
        if (i > 0 && i % BLOCK == 0)
            at = pass(at, "</script><script type=\"application/octet-stream\" "
                          "class=\"dpmf-release\">");
        for (size_t j = 0; j < 4; j++) {
            const char *digit = at[j] == '=' ? digits : strchr(digits, at[j]);
            must(digit != NULL && at[j] != '\0');
            group = group << 6 | (uint32_t)(digit - digits);
        }
        for (size_t j = 0; j < 3 && i + j < n; j++)
            must(release[i + j] == (group >> (16 - 8 * j) & 255));
        must((at[2] == '=') == (n - i < 2) && (at[3] == '=') == (n - i < 3));
    }
    return pass(at, "</script>d<script type=\"application/json\" id=\"dpmf-statement\">"
                    "{\"kind\":\"proven\",\"assumptions\":[],\"text\":\"");
}

/* The text of a statement may hold anything too: it is a JSON string, without "<". */
static void check_statement(const char *at) {
    const char *end = strstr(at, "</script>e");
    must(end != NULL && end[strlen("</script>e")] == '\0');
    must(memchr(at, '<', (size_t)(end - at)) == NULL);
    must(end - at >= 17 && memcmp(end - 17, "\",\"statement\":{}}", 17) == 0);
}

static void check_requests(const char *text) {
    static const char *const hosts[] = {"localhost", "[::1]"};
    (void)http_host_is_known(text, hosts, 2);
    (void)http_tag_is_listed(text, "\"0011\"");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint8_t *first = size > 0 ? memchr(data, '\n', size) : NULL;
    const uint8_t *titles = first != NULL ? first + 1 : data + size;
    const uint8_t *second =
        titles < data + size ? memchr(titles, '\n', (size_t)(data + size - titles)) : NULL;
    const uint8_t *release = second != NULL ? second + 1 : data + size;
    char *name = copy_text(data, (size_t)((first != NULL ? first : data + size) - data));
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_array(json, NULL);
    dpmf_json_bytes(json, NULL, (const char *)titles,
                    (size_t)((second != NULL ? second : data + size) - titles));
    dpmf_json_end_array(json);
    struct page_parts parts = {.page = outline,
                               .page_size = sizeof outline - 1,
                               .name = name,
                               .release = release,
                               .release_size = (size_t)(data + size - release),
                               .statement = "{}",
                               .statement_text = name};
    parts.items = dpmf_json_text(json, &parts.items_size);
    struct page page;
    struct dpmf_error error;
    char *bytes;
    size_t n;
    must(parts.items != NULL && page_prepare(&parts, &page, &error) == 0);
    must(page_to_memory(&page, &bytes, &n, &error) == 0);
    must(n == page_size(&page) && strlen(bytes) == n);

    const char *at = check_name(pass(bytes, "a"));
    at = check_items(at, parts.items, parts.items_size);
    check_statement(check_release(at, release, parts.release_size));
    check_requests(name);
    free(bytes);
    page_free(&page);
    dpmf_json_free(json);
    free(name);
    return 0;
}
