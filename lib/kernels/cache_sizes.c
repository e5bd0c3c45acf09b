/*
 * How large this machine's caches are: from /sys, else from sysconf, else a guess that errs on the small
 * side. The schedule sizes its tiles from this.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "kernels/kernels.h"

enum { LEVELS = 3 };

/* The first word of a small file of /sys. @return false when there is none */
static bool read_word(unsigned index, const char *name, char *word, size_t size) {
    char path[96];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%u/%s", index, name);
    FILE *file = fopen(path, "re");
    if (!file) return false;
    bool found = fgets(word, (int)size, file) && word[0] > ' ';
    fclose(file);
    return found;
}

/* "512K", "32M", or bytes. */
static size_t parse_size(const char *word) {
    char *end;
    unsigned long size = strtoul(word, &end, 10);
    unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    return size <= (1ul << 40 >> shift) ? (size_t)size << shift : 0;
}

/* Fills in what /sys says: bytes[level - 1] of data or unified cache. */
static void read_sys(size_t bytes[LEVELS]) {
    enum { INDEXES_MAX = 16, WORD = 32 };
    char level[WORD], type[WORD], size[WORD];
    for (unsigned i = 0; i < INDEXES_MAX && read_word(i, "level", level, WORD); i++) {
        if (level[0] < '1' || level[0] > '0' + LEVELS || !read_word(i, "type", type, WORD) ||
            type[0] == 'I' || !read_word(i, "size", size, WORD))
            continue;
        bytes[level[0] - '1'] = parse_size(size);
    }
}

static void read_sysconf(size_t bytes[LEVELS]) {
#ifdef _SC_LEVEL1_DCACHE_SIZE
    const int names[LEVELS] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE,
                               _SC_LEVEL3_CACHE_SIZE};
    for (int i = 0; i < LEVELS; i++) {
        long size = bytes[i] ? 0 : sysconf(names[i]);
        if (size > 0) bytes[i] = (size_t)size;
    }
#else
    (void)bytes;
#endif
}

struct cache_sizes cache_sizes_read(void) {
    size_t bytes[LEVELS] = {0};
    read_sys(bytes);
    read_sysconf(bytes);
    struct cache_sizes sizes = {.guessed = !bytes[0] || !bytes[1]};
    sizes.l1 = bytes[0] ? bytes[0] : 32 << 10;
    sizes.l2 = bytes[1] ? bytes[1] : 256 << 10;
    if (sizes.l2 < sizes.l1) sizes.l2 = sizes.l1;
    /* Many small machines have no third level: then the second is the last. */
    sizes.l3 = bytes[2] ? bytes[2] : sizes.guessed ? 2 << 20 : sizes.l2;
    if (sizes.l3 < sizes.l2) sizes.l3 = sizes.l2;
    return sizes;
}
