/*
 * The look that a publisher gives a page: a colour, a logo and covers, embedded in the page, and
 * links at its end.
 */
#ifndef DPMF_PROGRAMS_PAGE_LOOK_H
#define DPMF_PROGRAMS_PAGE_LOOK_H

#include "cli/command.h"
#include "dpmf_text.h"

struct page_look {
    struct dpmf_json *json; /* {"accent":"#0c6960","logo":"data:...","covers":{"1":"data:..."}} */
    char *links;            /* links as HTML; "" when there are none */
    uint64_t covers;        /* number of items with a cover */
};

/* Reads --colour, --logo, --covers and --links. @return an exit status, after saying what is wrong
 * */
int page_look_read(struct invocation *invocation, const struct dpmf_model *model,
                   struct page_look *look);
void page_look_free(struct page_look *look);

/* The logo as a data: address, or NULL. */
char *page_look_logo(struct invocation *invocation, int *status);

#endif
