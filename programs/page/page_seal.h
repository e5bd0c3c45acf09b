/*
 * The end of an exported page: a comment with the checksums of the files of the export. They
 * distinguish an unchanged page from one that was edited since.
 */
#ifndef DPMF_PROGRAMS_PAGE_SEAL_H
#define DPMF_PROGRAMS_PAGE_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct page_seal {
    uint64_t page; /* checksum of the page before its seal */
    uint64_t release, statement;
};

#define PAGE_SEAL_BEGIN UINT64_C(0xcbf29ce484222325)

enum { PAGE_SEAL_BYTES = 72 };

/* The checksum with n more bytes; it begins with PAGE_SEAL_BEGIN. */
uint64_t page_seal_add(uint64_t sum, const void *bytes, size_t n);

/* The seal as the page ends with it, and a NUL. */
void page_seal_write(const struct page_seal *seal, char text[PAGE_SEAL_BYTES + 1]);

/* The checksum of a file in a directory, which must be no link. @return whether it could be read */
bool page_seal_sum(int directory, const char *name, uint64_t *sum);

/* Reads the seal of a page in a directory. @return whether it has one, and is what it says */
bool page_seal_check(int directory, const char *name, struct page_seal *seal);

#endif
