/*
 * The page that recommends at home, made for one release: the markers of the embedded page are
 * found, what stands for them becomes a list of pieces, and the pieces are written one after the
 * other. So a release of any size is never in memory a second time, unless the whole page is asked
 * for there. Fed by web_release.c; feeds serve and export --web.
 */
#define _GNU_SOURCE
#include "page/page_make.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dpmf_text.h"

/* ---- text ------------------------------------------------------------------------------------ */

static const char replacement[] = "\xef\xbf\xbd"; /* U+FFFD */

/* @return the length of the one valid UTF-8 character that `text`, terminated by NUL, begins with;
 *         or 0 */
static size_t character_length(const unsigned char *text) {
    unsigned char low = 0x80,
                  high = 0xbf; /* limit of the second byte: no overlong forms, no surrogates */
    if (text[0] < 0x80) return 1;
    if (text[0] < 0xc2 || text[0] > 0xf4) return 0;
    if (text[0] == 0xe0) low = 0xa0;
    if (text[0] == 0xed) high = 0x9f;
    if (text[0] == 0xf0) low = 0x90;
    if (text[0] == 0xf4) high = 0x8f;
    size_t length = text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;
    if (text[1] < low || text[1] > high) return 0;
    for (size_t i = 2; i < length; i++)
        if ((text[i] & 0xc0) != 0x80) return 0;
    return length;
}

/* Neither HTML nor a reader has a use for control characters, those of two bytes among them. */
static bool is_control(const unsigned char *text, size_t length) {
    return length == 1 ? text[0] < 0x20 || text[0] == 0x7f : text[0] == 0xc2 && text[1] < 0xa0;
}

static const char *html_entity(unsigned char byte) {
    switch (byte) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    case '\t':
    case '\n':
    case '\r': return " ";
    default: return NULL;
    }
}

bool page_is_text(const char *text, size_t n) {
    for (size_t i = 0; i < n;) {
        const unsigned char *at = (const unsigned char *)text + i;
        const size_t length = character_length(at);
        if (length == 0 || length > n - i || is_control(at, length)) return false;
        i += length;
    }
    return true;
}

char *page_html_text(const char *text) {
    enum { LONGEST = 6 }; /* &quot; of one byte */
    size_t n = strlen(text), at = 0;
    char *html = n < SIZE_MAX / LONGEST ? malloc(LONGEST * n + 1) : NULL;
    if (html == NULL) return NULL;
    for (const unsigned char *from = (const unsigned char *)text; *from != '\0';) {
        size_t length = character_length(from);
        const char *instead = html_entity(*from);
        if (instead == NULL && (length == 0 || is_control(from, length))) instead = replacement;
        size_t written = instead != NULL ? strlen(instead) : length;
        memcpy(html + at, instead != NULL ? instead : (const char *)from, written);
        at += written;
        from += length > 0 ? length : 1;
    }
    html[at] = '\0';
    return html;
}

/* {"kind":"...","assumptions":["..."],"text":"...","statement":{...}}: the kind is the library's
 * word on the statement, whose own may be an older version's. @return what the caller frees; NULL:
 * no memory */
static char *statement_json(const struct page_parts *parts) {
    char *all = NULL;
    size_t n;
    const char *sentence = NULL;
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_string(json, "kind", dpmf_claim_name(parts->claim));
    dpmf_json_begin_array(json, "assumptions");
    for (unsigned bit = 1; bit <= DPMF_ASSUMES_LAST; bit <<= 1)
        if (parts->assumptions & bit && dpmf_assumption_name(bit, &sentence))
            dpmf_json_string(json, NULL, sentence);
    dpmf_json_end_array(json);
    dpmf_json_string(json, "text", parts->statement_text);
    dpmf_json_end_object(json);
    const char *text = dpmf_json_text(json, &n);
    /* The object is opened again for the statement, which is JSON already. */
    if (text != NULL && n <= INT_MAX &&
        asprintf(&all, "%.*s,\"statement\":%s}", (int)(n - 1), text, parts->statement) < 0)
        all = NULL;
    dpmf_json_free(json);
    return all;
}

/* ---- from markers to pieces ------------------------------------------------------------------ */

enum { MARKERS = 10 };

struct filling {
    const char *marker;
    const char *before; /* what is written around it */
    struct page_piece piece;
    const char *after;
    const char *place; /* place of the marker in the page; NULL: it is not there, nor needed */
    bool is_optional;  /* a page may do without it */
};

static int complain(struct dpmf_error *error, int code, const char *format, const char *what) {
    *error = (struct dpmf_error){.code = code};
    dpmf_error_write(error->message, sizeof error->message, format, what);
    return code;
}

static int no_memory(struct dpmf_error *error) {
    return complain(error, DPMF_ERR_BASE_NO_MEMORY, "%s",
                    dpmf_error_sentence(DPMF_ERR_BASE_NO_MEMORY));
}

static int find_marker(const struct page_parts *parts, struct filling *filling,
                       struct dpmf_error *error) {
    size_t length = strlen(filling->marker);
    const char *end = parts->page + parts->page_size;
    filling->place = memmem(parts->page, parts->page_size, filling->marker, length);
    if (filling->place == NULL && (filling->piece.bytes == NULL || filling->is_optional)) return 0;
    if (filling->place == NULL)
        return complain(error, DPMF_ERR_BASE_BUG, "the page has no marker %s", filling->marker);
    const char *next = filling->place + length;
    if (memmem(next, (size_t)(end - next), filling->marker, length) != NULL)
        return complain(error, DPMF_ERR_BASE_BUG, "the page has the marker %s twice",
                        filling->marker);
    return 0;
}

static int compare_places(const void *a, const void *b) {
    const struct filling *first = a, *second = b;
    return (first->place > second->place) - (first->place < second->place);
}

static void add_piece(struct page *page, enum page_form form, const char *bytes, size_t n) {
    if (n > 0) page->pieces[page->n++] = (struct page_piece){form, bytes, n};
}

static void add_pieces(const struct page_parts *parts, struct filling fillings[MARKERS],
                       struct page *page) {
    const char *from = parts->page, *end = parts->page + parts->page_size;
    qsort(fillings, MARKERS, sizeof *fillings, compare_places);
    for (size_t i = 0; i < MARKERS; i++) {
        const struct filling *filling = &fillings[i];
        if (filling->place == NULL) continue;
        add_piece(page, PAGE_AS_IS, from, (size_t)(filling->place - from));
        if (filling->piece.bytes != NULL) {
            add_piece(page, PAGE_AS_IS, filling->before, strlen(filling->before));
            add_piece(page, filling->piece.form, filling->piece.bytes, filling->piece.n);
            add_piece(page, PAGE_AS_IS, filling->after, strlen(filling->after));
        }
        from = filling->place + strlen(filling->marker);
    }
    add_piece(page, PAGE_AS_IS, from, (size_t)(end - from));
}

/* What a page that is served may ask for beyond itself: these two, from where it came from. */
static const char served_policy[] = "; worker-src 'self'; manifest-src 'self'";
static const char manifest_link[] = "<link rel=\"manifest\" href=\"manifest.webmanifest\">";

static struct page_piece text_piece(const char *text) {
    return (struct page_piece){PAGE_AS_IS, text, text != NULL ? strlen(text) : 0};
}

int page_prepare(const struct page_parts *parts, struct page *page, struct dpmf_error *error) {
    static const char script_end[] = "</script>";
    *page = (struct page){.name = page_html_text(parts->name), .statement = statement_json(parts)};
    if (page->name == NULL || page->statement == NULL) {
        page_free(page);
        return no_memory(error);
    }
    struct filling fillings[MARKERS] = {
        {"<!--dpmf:name-->", "", {PAGE_AS_IS, page->name, strlen(page->name)}, "", NULL, false},
        /* Once more, so that a page is not blank while the rest of it arrives. */
        {"<!--dpmf:heading-->", "", {PAGE_AS_IS, page->name, strlen(page->name)}, "", NULL, true},
        {"<!--dpmf:release-->",
         "<script type=\"application/octet-stream\" id=\"dpmf-release\">",
         {PAGE_BLOCKS, parts->release, parts->release_size},
         script_end,
         NULL,
         false},
        {"<!--dpmf:items-->",
         "<script type=\"application/json\" id=\"dpmf-items\">",
         {PAGE_JSON, parts->items, parts->items_size},
         script_end,
         NULL,
         false},
        {"<!--dpmf:statement-->",
         "<script type=\"application/json\" id=\"dpmf-statement\">",
         {PAGE_JSON, page->statement, strlen(page->statement)},
         script_end,
         NULL,
         false},
        {"<!--dpmf:facts-->",
         "<script type=\"application/json\" id=\"dpmf-facts\">",
         {PAGE_JSON, parts->facts, parts->facts_size},
         script_end,
         NULL,
         false},
        {"<!--dpmf:look-->",
         "<script type=\"application/json\" id=\"dpmf-look\">",
         {PAGE_JSON, parts->look, parts->look_size},
         script_end,
         NULL,
         false},
        {"<!--dpmf:links-->",
         "<ul class=\"links\" role=\"list\">",
         {PAGE_AS_IS, parts->links, parts->links != NULL ? strlen(parts->links) : 0},
         "</ul>",
         NULL,
         false},
        {"<!--dpmf:policy-->", "", text_piece(parts->is_served ? served_policy : NULL), "", NULL,
         false},
        {"<!--dpmf:manifest-->", "", text_piece(parts->is_served ? manifest_link : NULL), "", NULL,
         false},
    };
    for (size_t i = 0; i < MARKERS; i++) {
        int code = find_marker(parts, &fillings[i], error);
        if (code == 0) continue;
        page_free(page);
        return code;
    }
    add_pieces(parts, fillings, page);
    return 0;
}

void page_free(struct page *page) {
    free(page->name);
    free(page->statement);
    *page = (struct page){0};
}

/* ---- from pieces to bytes -------------------------------------------------------------------- */

/* What is written at once: for base64 a multiple of 3, so that only the end is padded. */
enum { BASE64_STEP = 3 * 16384, JSON_STEP = 8192 };

/* Between two blocks of base64. */
static const char next_block[] =
    "</script><script type=\"application/octet-stream\" class=\"dpmf-release\">";

static const char angle_escape[] = "\\u003c";

struct output {
    int (*put)(void *self, const void *bytes, size_t n);
    void *self;
};

/* @return how many characters were written */
static size_t encode_base64(const unsigned char *bytes, size_t n, char *text) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *at = text;
    for (size_t i = 0; i < n; i += 3) {
        size_t left = n - i;
        uint32_t group = (uint32_t)bytes[i] << 16;
        if (left > 1) group |= (uint32_t)bytes[i + 1] << 8;
        if (left > 2) group |= bytes[i + 2];
        *at++ = digits[group >> 18];
        *at++ = digits[group >> 12 & 63];
        *at++ = left > 1 ? digits[group >> 6 & 63] : '=';
        *at++ = left > 2 ? digits[group & 63] : '=';
    }
    return (size_t)(at - text);
}

size_t page_base64(const unsigned char *bytes, size_t n, char *text) {
    size_t length = encode_base64(bytes, n, text);
    text[length] = '\0';
    return length;
}

static int write_blocks(const struct page_piece *piece, const struct output *output) {
    char text[BASE64_STEP / 3 * 4];
    int code = 0;
    for (size_t i = 0; i < piece->n && code == 0; i += BASE64_STEP) {
        size_t n = piece->n - i < BASE64_STEP ? piece->n - i : BASE64_STEP;
        size_t written = encode_base64((const unsigned char *)piece->bytes + i, n, text);
        if (i > 0) code = output->put(output->self, next_block, sizeof next_block - 1);
        if (code == 0) code = output->put(output->self, text, written);
    }
    return code;
}

/* In JSON a "<" stands in strings alone, where it may as well be escaped. */
static size_t escape_angles(const char *bytes, size_t n, char *text) {
    char *at = text;
    for (size_t i = 0; i < n; i++) {
        if (bytes[i] == '<') {
            memcpy(at, angle_escape, sizeof angle_escape - 1);
            at += sizeof angle_escape - 1;
        } else {
            *at++ = bytes[i];
        }
    }
    return (size_t)(at - text);
}

static int write_json(const struct page_piece *piece, const struct output *output) {
    char text[JSON_STEP * (sizeof angle_escape - 1)];
    int code = 0;
    for (size_t i = 0; i < piece->n && code == 0; i += JSON_STEP) {
        size_t n = piece->n - i < JSON_STEP ? piece->n - i : JSON_STEP;
        size_t written = escape_angles(piece->bytes + i, n, text);
        code = output->put(output->self, text, written);
    }
    return code;
}

int page_write(const struct page *page, int (*put)(void *self, const void *bytes, size_t n),
               void *self) {
    struct output output = {put, self};
    int code = 0;
    for (size_t i = 0; i < page->n && code == 0; i++) {
        const struct page_piece *piece = &page->pieces[i];
        switch (piece->form) {
        case PAGE_AS_IS: code = put(self, piece->bytes, piece->n); break;
        case PAGE_BLOCKS: code = write_blocks(piece, &output); break;
        case PAGE_JSON: code = write_json(piece, &output); break;
        }
    }
    return code;
}

static uint64_t piece_size(const struct page_piece *piece) {
    uint64_t size = piece->n;
    if (piece->form == PAGE_BLOCKS)
        return (size + 2) / 3 * 4 +
               (size > 0 ? (size - 1) / BASE64_STEP * (sizeof next_block - 1) : 0);
    if (piece->form == PAGE_JSON)
        for (size_t i = 0; i < piece->n; i++)
            size += piece->bytes[i] == '<' ? sizeof angle_escape - 2 : 0;
    return size;
}

uint64_t page_size(const struct page *page) {
    uint64_t size = 0;
    for (size_t i = 0; i < page->n; i++) size += piece_size(&page->pieces[i]);
    return size;
}

static int put_in_memory(void *self, const void *bytes, size_t n) {
    char **at = self;
    memcpy(*at, bytes, n);
    *at += n;
    return 0;
}

int page_to_memory(const struct page *page, char **bytes, size_t *n, struct dpmf_error *error) {
    uint64_t size = page_size(page);
    *bytes = size < SIZE_MAX ? malloc((size_t)size + 1) : NULL;
    if (*bytes == NULL) return no_memory(error);
    char *at = *bytes;
    page_write(page, put_in_memory, &at);
    *at = '\0';
    *n = (size_t)size;
    return 0;
}

/* ---- the policy ------------------------------------------------------------------------------ */

/* The page is our own and names its policy once, as the build wrote it: no quotes or entities
 * inside. */
char *page_policy(const char *page, size_t n) {
    static const char tag[] = "http-equiv=\"Content-Security-Policy\" content=\"";
    const char *end = page + n;
    const char *from = memmem(page, n, tag, sizeof tag - 1);
    if (from == NULL) return NULL;
    from += sizeof tag - 1;
    const char *stop = memchr(from, '"', (size_t)(end - from));
    return stop != NULL ? strndup(from, (size_t)(stop - from)) : NULL;
}
