/*
 * The two files that make a served page installable and let it open without a network: a manifest,
 * and a worker that holds the page and gives it out.
 */
#ifndef DPMF_PROGRAMS_PAGE_OFFLINE_H
#define DPMF_PROGRAMS_PAGE_OFFLINE_H

#include <stddef.h>

/* Larger pages are not kept by browsers for offline use. */
enum { PAGE_OFFLINE_MAX = 64 << 20 };

/* The manifest, as JSON; `logo` is a data: address or NULL. @return what the caller frees; NULL: no
 * memory */
char *page_manifest(const char *name, const char *logo, size_t *n);

/* The worker, as a script; the policy is what the page's answer says in its header. @return as
 * above */
char *page_worker(const char *page, size_t page_size, const char *policy, size_t *n);

#endif
