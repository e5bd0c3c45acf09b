/*
 * What the library finds on this machine and would use: kernels, cache sizes, large pages. Fed by
 * the system's own tables and a small trial; feeds `dpmf doctor`.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/error.h"
#include "base/host.h"
#include "base/memory.h"
#include "dpmf.h"
#include "kernels/kernels.h"

enum { TRIAL_BYTES = 8 << 20, LARGE_PAGE = 2 << 20 };

/* "always [madvise] never": the word in brackets. */
static void read_setting(char *setting, size_t size) {
    char line[128] = "";
    FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/enabled", "re");
    setting[0] = '\0';
    if (!file) return;
    const char *open = fgets(line, sizeof line, file) ? strchr(line, '[') : NULL;
    fclose(file);
    if (open) snprintf(setting, size, "%.*s", (int)strcspn(open + 1, "]"), open + 1);
}

/* Whether the kernel backs the mapping that holds `address` with large pages. */
static bool is_large(const void *address) {
    char line[512];
    bool is_here = false, found = false;
    FILE *file = fopen("/proc/self/smaps", "re");
    while (file && !found && fgets(line, sizeof line, file)) {
        static const char field[] = "AnonHugePages:";
        char *end;
        unsigned long long from = strtoull(line, &end, 16); /* a mapping's line begins "from-to " */
        if (end != line && *end == '-')
            is_here =
                from <= (uintptr_t)address && (uintptr_t)address < strtoull(end + 1, NULL, 16);
        else if (is_here && strncmp(line, field, sizeof field - 1) == 0)
            found = strtoull(line + sizeof field - 1, NULL, 10) > 0;
    }
    if (file) fclose(file);
    return found;
}

/* Asks for some memory as models are, and looks whether a large page came. */
static bool try_large_page(void) {
    char *memory = memory_map(TRIAL_BYTES);
    if (!memory) return false;
    char *page = memory + (LARGE_PAGE - (uintptr_t)memory % LARGE_PAGE) % LARGE_PAGE;
    *(volatile char *)page = 1;
    bool is = is_large(page);
    memory_unmap(memory, TRIAL_BYTES);
    return is;
}

int dpmf_machine_check(struct dpmf_error *error) {
    int code = host_check(error);
    if (code < 0 || kernel_set_choose(NULL)) return code;
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): nobody here sets it */
    const char *name = getenv("DPMF_KERNELS");
    return error_set(error, DPMF_ERR_USAGE_VALUE, "this machine has no kernels called \"%s\"",
                     name ? name : "");
}

uint32_t dpmf_machine_lanes(const char *kernels, uint32_t factors, bool deterministic) {
    const struct kernel_set *set = kernel_set_choose(kernels);
    struct host_caches caches;
    if (!set || host_caches_read(&caches, NULL) < 0) return 0;
    return set->lanes(factors, deterministic ? NULL : &caches);
}

int dpmf_machine_describe(struct dpmf_machine *machine, struct dpmf_error *error) {
    static const char *const origins[] = {[HOST_GUESSED] = "guess",
                                          [HOST_FROM_SYSTEM] = "system",
                                          [HOST_FROM_ENVIRONMENT] = "environment"};
    struct host_caches caches;
    const struct kernel_set *chosen = kernel_set_choose(NULL), *set;
    int code = arguments_check(error, "machine", machine);
    if (code < 0) return code;
    memset(machine, 0, sizeof *machine);
    code = host_check(error);
    if (code == 0) code = host_caches_read(&caches, error);
    if (code < 0) return code;
    for (size_t i = 0; i < DPMF_KERNEL_SETS_MAX && (set = kernel_set_at(i)) != NULL; i++) {
        machine->kernels[i].name = set->name;
        machine->kernels[i].description = set->description;
        machine->kernels[i].is_supported = set->is_supported();
        machine->kernels[i].is_chosen = set == chosen;
        machine->n_kernels++;
    }
    machine->l1 = caches.l1;
    machine->l2 = caches.l2;
    machine->l3 = caches.l3;
    machine->caches_from = origins[caches.origin];
    machine->cores = host_cores();
    machine->memory = host_memory();
    machine->memory_default = host_default_budget();
    machine->page_size = host_page_size();
    read_setting(machine->large_pages, sizeof machine->large_pages);
    machine->has_large_pages = try_large_page();
    return 0;
}
