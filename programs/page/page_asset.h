/*
 * The page that recommends in a browser (web/), as the build packed it: one HTML file with four
 * open marks, which page_make.c fills in for a release.
 */
#ifndef DPMF_PROGRAMS_PAGE_ASSET_H
#define DPMF_PROGRAMS_PAGE_ASSET_H

#include <stddef.h>

extern const unsigned char page_asset[];
extern const size_t page_asset_size; /* 0: this build has no page (DPMF_WEB=OFF) */

#endif
