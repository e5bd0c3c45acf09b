/*
 * A release that may be shown to anyone: what `serve` and `export --web` begin with. Its bytes, its
 * statement, and its items with their titles, all of it checked.
 */
#ifndef DPMF_PROGRAMS_WEB_RELEASE_H
#define DPMF_PROGRAMS_WEB_RELEASE_H

#include "cli/command.h"
#include "dpmf_text.h"
#include "page/page_look.h"
#include "page/page_make.h"

enum { WEB_DIGEST_MAX = 24 };

struct web_release {
    char *bytes; /* bytes of the file */
    size_t size;
    char digest[WEB_DIGEST_MAX]; /* the file's own */
    uint64_t items, titles;      /* how many there are */
    struct dpmf_statement statement;
    struct dpmf_json *title_list; /* ["Dune", null, ...], in the order of the release */
    struct dpmf_json *item_list;  /* [{"item":"1","title":"Dune"}, ...]; NULL unless for serving */
    struct dpmf_json *facts;      /* kinds and years of items; NULL: none are known */
    struct page_look look;        /* what the publisher gave the page */
    bool is_for_serving;
};

/* Opens the release that is the first operand, with the titles of --catalogue; refuses what may not
 * be published. For serving there is also the list of items. @return an exit status, after saying
 * what is wrong */
int web_release_open(struct invocation *invocation, bool for_serving, struct web_release *release);
void web_release_close(struct web_release *release);

/* The page for it, with the title of --name. It lives as long as the release. @return an exit
 * status */
int web_release_page(struct invocation *invocation, const struct web_release *release,
                     struct page *page);

#endif
