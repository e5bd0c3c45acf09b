/*
 * Makes and reads the seals of exported pages. Used by export_web.c, which replaces only what an
 * export wrote. The checksum is FNV-1a: it is there to notice what people change, and keeps no
 * forger out.
 */
#define _GNU_SOURCE
#include "page/page_seal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

uint64_t page_seal_add(uint64_t sum, const void *bytes, size_t n) {
    const unsigned char *at = bytes;
    for (size_t i = 0; i < n; i++) sum = (sum ^ at[i]) * UINT64_C(0x100000001b3);
    return sum;
}

void page_seal_write(const struct page_seal *seal, char text[PAGE_SEAL_BYTES + 1]) {
    snprintf(text, PAGE_SEAL_BYTES + 1,
             "<!-- dpmf export %016" PRIx64 " %016" PRIx64 " %016" PRIx64 " -->\n", seal->page,
             seal->release, seal->statement);
}

/* The checksum of a file without its last `end` bytes, which go to `last`. */
static bool sum_file(int directory, const char *name, size_t end, char *last, uint64_t *sum) {
    enum { PIECE = 1 << 16 };
    struct stat file;
    char piece[PIECE];
    int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    bool good =
        fd >= 0 && fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && (uint64_t)file.st_size >= end;
    uint64_t left = good ? (uint64_t)file.st_size - end : 0;
    *sum = PAGE_SEAL_BEGIN;
    while (good && left > 0) {
        ssize_t n = read(fd, piece, left < PIECE ? (size_t)left : PIECE);
        if (n < 0 && errno == EINTR) continue;
        good = n > 0;
        if (good) *sum = page_seal_add(*sum, piece, (size_t)n);
        if (good) left -= (uint64_t)n;
    }
    good = good && (end == 0 || pread(fd, last, end, file.st_size - (off_t)end) == (ssize_t)end);
    if (fd >= 0) close(fd);
    return good;
}

bool page_seal_sum(int directory, const char *name, uint64_t *sum) {
    return sum_file(directory, name, 0, NULL, sum);
}

bool page_seal_check(int directory, const char *name, struct page_seal *seal) {
    static const char begin[] = "<!-- dpmf export ";
    char last[PAGE_SEAL_BYTES + 1], again[PAGE_SEAL_BYTES + 1];
    uint64_t sum;
    if (!sum_file(directory, name, PAGE_SEAL_BYTES, last, &sum)) return false;
    last[PAGE_SEAL_BYTES] = '\0';
    if (strncmp(last, begin, sizeof begin - 1) != 0) return false;
    const char *at = last + sizeof begin - 1;
    char *next = NULL;
    seal->page = strtoull(at, &next, 16);
    seal->release = strtoull(next, &next, 16);
    seal->statement = strtoull(next, &next, 16);
    page_seal_write(seal, again);
    return strcmp(last, again) == 0 && seal->page == sum;
}
