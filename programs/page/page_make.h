/*
 * The page that recommends at home, made for one release: the page that the build embeds has a
 * marker for the name, the release, the items' titles and the statement, and gets them here, in
 * memory or as a file.
 */
#ifndef DPMF_PROGRAMS_PAGE_MAKE_H
#define DPMF_PROGRAMS_PAGE_MAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dpmf.h"

/* What a page is made of. Nothing is copied but the name: the rest must stay while the page
 * does. */
struct page_parts {
    const char *page; /* with the four markers, each once, and others that may be missing */
    size_t page_size;
    const char *name; /* its title: any text */
    const void *release;
    size_t release_size;
    const char *items; /* JSON: a list of titles, null where there is none */
    size_t items_size;
    enum dpmf_claim claim; /* what may be said of the release */
    unsigned assumptions;  /* bits of dpmf_assumption */
    const char *statement; /* JSON: the privacy statement, as it stands in the release */
    const char *statement_text;
    const char *facts; /* JSON: kinds and years of items (page_facts.h); or NULL */
    size_t facts_size;
    const char *look; /* JSON: a colour and pictures (page_look.h); or NULL */
    size_t look_size;
    const char *links; /* HTML: items of a list; or NULL */
    bool is_served;    /* with a manifest and a worker beside it, which its policy allows */
};

/* How bytes of a piece become bytes of the page. */
enum page_form {
    PAGE_AS_IS,
    PAGE_BLOCKS, /* base64 in blocks of 64 KiB, each in a script element: browsers read one of
                  * megabytes far slower */
    PAGE_JSON,   /* "<" is written \u003c, so that nothing in it can end a script */
};

struct page_piece {
    enum page_form form;
    const char *bytes;
    size_t n;
};

/* A page as a list of pieces, in order. */
enum { PAGE_PIECES_MAX = 48 };

struct page {
    struct page_piece pieces[PAGE_PIECES_MAX];
    size_t n;
    char *name;      /* as HTML */
    char *statement; /* as JSON, with its text */
};

/* Any text as HTML text, fit for an attribute too. @return what the caller frees; NULL: no memory
 * */
char *page_html_text(const char *text);

/* Whether n bytes, before a NUL or more text, are UTF-8 without control characters. */
bool page_is_text(const char *text, size_t n);

/* Writes n bytes as base64 and a NUL. @return how many characters that are */
size_t page_base64(const unsigned char *bytes, size_t n, char *text);

/* @return 0; DPMF_ERR_BASE_BUG when a marker is not there once; DPMF_ERR_BASE_NO_MEMORY */
int page_prepare(const struct page_parts *parts, struct page *page, struct dpmf_error *error);
void page_free(struct page *page);

/* How many bytes the whole page has. */
uint64_t page_size(const struct page *page);

/* Gives the page to `put`, piece by piece, a few at a time. A value of `put` other than 0 ends it
 * and is returned. */
int page_write(const struct page *page, int (*put)(void *self, const void *bytes, size_t n),
               void *self);

/* The whole page in one buffer, which the caller frees. */
int page_to_memory(const struct page *page, char **bytes, size_t *n, struct dpmf_error *error);

/* The policy of the page's own meta tag, to be sent as a header too; the caller frees it. NULL when
 * there is none, or no memory. */
char *page_policy(const char *page, size_t n);

#endif
