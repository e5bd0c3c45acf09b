/*
 * See host.h. What the system reports about caches comes from /sys, on macOS from sysctl, else from
 * sysconf; what none of them knows is a guess on the small side.
 */
#define _GNU_SOURCE
#include "base/host.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __APPLE__
#include <sys/sysctl.h>
#endif
#include <unistd.h>

#include "base/error.h"
#include "base/number.h"
#include "dpmf_text.h"

enum {
    LEVELS = 3,
    CORES_MAX = 1 << 16, /* where asking for a larger affinity mask ends */
    GUESS_L1 = 32 << 10,
    GUESS_L2 = 256 << 10,
    GUESS_L3 = 2 << 20,
};

#define CACHE_MAX ((uint64_t)1 << 40)
#define PAGE_MAX ((uint64_t)1 << 30)
#define DEFAULT_BUDGET_MAX (UINT64_C(2) << 30)
#define DEFAULT_BUDGET_UNKNOWN (UINT64_C(512) << 20)

static const char caches_name[] = "DPMF_CACHES", cores_name[] = "DPMF_CORES",
                  memory_name[] = "DPMF_RAM", page_name[] = "DPMF_PAGE";

/* An empty value is as none. */
static const char *environment(const char *name) {
    const char *text = secure_getenv(name);
    return text && *text ? text : NULL;
}

/* "512K", "32M", "8GiB" or bytes: what the kernel writes, and what people do. K is always 1,024. */
static bool parse_size(const char *text, size_t length, uint64_t *bytes) {
    char with_unit[32];
    if (length == 0 || length + 3 > sizeof with_unit) return false;
    const bool has_unit =
        text[length - 1] == 'K' || text[length - 1] == 'M' || text[length - 1] == 'G';
    snprintf(with_unit, sizeof with_unit, "%.*s%s", (int)length, text, has_unit ? "iB" : "");
    return dpmf_parse_size(with_unit, bytes) == 0;
}

/* ---- caches ---------------------------------------------------------------------------------- */

#ifdef __APPLE__
/* Those of the fast cores, which are level 0 where there are several kinds. */
static void read_sys(uint64_t bytes[LEVELS]) {
    static const char *const names[LEVELS][2] = {{"hw.perflevel0.l1dcachesize", "hw.l1dcachesize"},
                                                 {"hw.perflevel0.l2cachesize", "hw.l2cachesize"},
                                                 {"hw.perflevel0.l3cachesize", "hw.l3cachesize"}};
    for (int i = 0; i < LEVELS; i++)
        for (int j = 0; j < 2 && bytes[i] == 0; j++) {
            uint64_t found = 0;
            size_t size = sizeof found;
            if (sysctlbyname(names[i][j], &found, &size, NULL, 0) == 0 && size == sizeof found &&
                found <= CACHE_MAX)
                bytes[i] = found;
        }
}
#else
/* The first word of a small file of /sys. @return false when there is none */
static bool read_word(unsigned index, const char *name, char *word, size_t size) {
    char path[96];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%u/%s", index, name);
    FILE *file = fopen(path, "re");
    if (!file) return false;
    bool found = fgets(word, (int)size, file) && word[0] > ' ';
    fclose(file);
    word[found ? strcspn(word, "\n") : 0] = '\0';
    return found;
}

/* Fills in what /sys says: bytes[level - 1] of data or unified cache. */
static void read_sys(uint64_t bytes[LEVELS]) {
    enum { INDEXES_MAX = 16, WORD = 24 };
    char level[WORD] = "", type[WORD] = "", size[WORD] = "";
    for (unsigned i = 0; i < INDEXES_MAX && read_word(i, "level", level, WORD); i++) {
        uint64_t found;
        if (level[0] < '1' || level[0] > '0' + LEVELS || !read_word(i, "type", type, WORD) ||
            type[0] == 'I' || !read_word(i, "size", size, WORD))
            continue;
        if (parse_size(size, strlen(size), &found) && found <= CACHE_MAX)
            bytes[level[0] - '1'] = found;
    }
}
#endif

static void read_sysconf(uint64_t bytes[LEVELS]) {
#ifdef _SC_LEVEL1_DCACHE_SIZE
    const int names[LEVELS] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE,
                               _SC_LEVEL3_CACHE_SIZE};
    for (int i = 0; i < LEVELS; i++) {
        long size = bytes[i] ? 0 : sysconf(names[i]);
        if (size > 0) bytes[i] = (uint64_t)size;
    }
#else
    (void)bytes;
#endif
}

/* "32K,512K,32M": a level may be "none", but the first. */
static bool parse_caches(const char *text, uint64_t bytes[LEVELS]) {
    for (int i = 0; i < LEVELS; i++) {
        const size_t length = strcspn(text, ",");
        if ((text[length] == ',') != (i + 1 < LEVELS)) return false;
        if (length == 4 && strncmp(text, "none", 4) == 0 && i > 0)
            bytes[i] = 0;
        else if (!parse_size(text, length, &bytes[i]) || bytes[i] < 1024 || bytes[i] > CACHE_MAX)
            return false;
        text += length + 1;
    }
    return true;
}

/* Levels that are not there are as large as the one before: it is the last. */
static struct host_caches caches_of(const uint64_t bytes[LEVELS], enum host_origin origin) {
    struct host_caches caches = {
        .l1 = (size_t)bytes[0], .l2 = (size_t)bytes[1], .l3 = (size_t)bytes[2], .origin = origin};
    if (caches.l2 < caches.l1) caches.l2 = caches.l1;
    if (caches.l3 < caches.l2) caches.l3 = caches.l2;
    return caches;
}

int host_caches_read(struct host_caches *caches, struct dpmf_error *error) {
    static const uint64_t guess[LEVELS] = {GUESS_L1, GUESS_L2, GUESS_L3};
    const char *text = environment(caches_name);
    uint64_t bytes[LEVELS] = {0};
    *caches = caches_of(guess, HOST_GUESSED);
    if (text) {
        if (strcmp(text, "unknown") == 0) return 0;
        if (!parse_caches(text, bytes)) {
            int code =
                error_set(error, DPMF_ERR_USAGE_VALUE,
                          "the environment variable %s has the value \"%.60s\"", caches_name, text);
            error_hint(error,
                       "give L1, L2 and L3, such as 32K,512K,32M or 64K,1M,none; or unknown");
            return code;
        }
        *caches = caches_of(bytes, HOST_FROM_ENVIRONMENT);
        return 0;
    }
    read_sys(bytes);
    read_sysconf(bytes);
    if (bytes[0] && bytes[1]) *caches = caches_of(bytes, HOST_FROM_SYSTEM);
    return 0;
}

/* ---- cores, memory, pages -------------------------------------------------------------------- */

static bool parse_cores(const char *text, int *cores) {
    uint64_t n;
    if (dpmf_parse_uint64(text, &n) != 0 || n < 1 || n > CORES_MAX) return false;
    *cores = (int)n;
    return true;
}

/* Those that this process may run on. The mask must be at least as large as the kernel's, whose
 * size nobody reports: grow until it fits. @return 0 where nobody knows */
static int cores_allowed(void) {
#ifdef CPU_ALLOC
    for (int cpus = 1024; cpus <= CORES_MAX; cpus *= 2) {
        cpu_set_t *set = CPU_ALLOC((size_t)cpus);
        if (!set) break;
        size_t size = CPU_ALLOC_SIZE((size_t)cpus);
        int count = sched_getaffinity(0, size, set) == 0 ? CPU_COUNT_S(size, set) : 0;
        CPU_FREE(set);
        if (count > 0) return count;
    }
#endif
    return 0;
}

static int cores_of_system(void) {
    const int allowed = cores_allowed();
    if (allowed > 0) return allowed;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 && online < CORES_MAX ? (int)online : 1;
}

int host_cores(void) {
    const char *text = environment(cores_name);
    int cores;
    return text && parse_cores(text, &cores) ? cores : cores_of_system();
}

static size_t page_of_system(void) {
    long size = sysconf(_SC_PAGESIZE);
    return size > 0 ? (size_t)size : 4096;
}

/* Never less than the system's: the kernel would clear whole pages where parts were meant. */
static bool parse_page(const char *text, uint64_t *bytes) {
    return parse_size(text, strlen(text), bytes) && (*bytes & (*bytes - 1)) == 0 &&
           *bytes >= page_of_system() && *bytes <= PAGE_MAX;
}

size_t host_page_size(void) {
    const char *text = environment(page_name);
    uint64_t bytes;
    return text && parse_page(text, &bytes) ? (size_t)bytes : page_of_system();
}

uint64_t host_memory(void) {
    const char *text = environment(memory_name);
    uint64_t bytes;
    if (text && parse_size(text, strlen(text), &bytes)) return bytes;
    long pages = sysconf(_SC_PHYS_PAGES);
    return pages > 0 ? (uint64_t)pages * page_of_system() : 0;
}

uint64_t host_default_budget(void) {
    const uint64_t memory = host_memory();
    if (memory == 0) return DEFAULT_BUDGET_UNKNOWN;
    return memory / 2 < DEFAULT_BUDGET_MAX ? memory / 2 : DEFAULT_BUDGET_MAX;
}

int host_check(struct dpmf_error *error) {
    struct host_caches caches;
    const char *cores = environment(cores_name), *memory = environment(memory_name),
               *page = environment(page_name);
    uint64_t bytes;
    int n, code = host_caches_read(&caches, error);
    if (code < 0) return code;
    if (cores && !parse_cores(cores, &n)) {
        code = error_set(error, DPMF_ERR_USAGE_VALUE,
                         "the environment variable %s has the value \"%.60s\"", cores_name, cores);
        error_hint(error, "give a number of cores, 1 to %d", CORES_MAX);
    } else if (memory && !(parse_size(memory, strlen(memory), &bytes) && bytes > 0)) {
        code =
            error_set(error, DPMF_ERR_USAGE_VALUE,
                      "the environment variable %s has the value \"%.60s\"", memory_name, memory);
        error_hint(error, "give a size such as 8GiB");
    } else if (page && !parse_page(page, &bytes)) {
        code = error_set(error, DPMF_ERR_USAGE_VALUE,
                         "the environment variable %s has the value \"%.60s\"", page_name, page);
        error_hint(error, "give a power of 2 that is at least the system's %zu, such as 64K",
                   page_of_system());
    }
    return code;
}
