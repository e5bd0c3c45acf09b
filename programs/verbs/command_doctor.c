/*
 * dpmf doctor: what this build finds on this machine, for a report of a problem and for the
 * curious. Reads the system's own tables and changes nothing.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

#include "cli/report.h"
#include "cli/shared_options.h"
#include "cli/text.h"
#include "dpmf_text.h"

/* ---- options and manual ---------------------------------------------------------------------- */

static int run(struct invocation *invocation);

const struct verb verb_doctor = {
    .name = "doctor",
    .summary = "show what dpmf finds on this machine",
    .synopsis = "[options]",
    .paragraphs =
        {
            "Prints the version, the commit, the compiler and the hash of the sources of this "
            "build as the statements of its releases name them, the number of cores, the "
            "memory and the temporary directory "
            "it would use, the page size, the caches, the kernels (the inner loops of training "
            "and ranking), whether large pages are available, and what this build can read. "
            "Environment variables that replace what the system reports (DPMF_CACHES, DPMF_CORES, "
            "DPMF_RAM, DPMF_PAGE, DPMF_KERNELS) are listed where they are set. "
            "Include this in bug reports.",
        },
    .operands = {{.kind = VALUE_NONE}, 0, 0},
    .examples = {{"Look at the machine", "dpmf doctor", NULL}},
    .run = run,
};

/* ---- what it does ---------------------------------------------------------------------------- */

enum { CACHES_MAX = 8 };

struct cache {
    uint64_t level, bytes;
    char type[24];
};

struct machine {
    size_t n_caches;
    struct cache cache[CACHES_MAX];
    struct dpmf_machine library; /* what the library makes of it */
    const char *temporary;
    uint64_t temporary_free;
};

/* One line of a small file. @return false when there is none */
static bool read_line(const char *path, char *line, size_t size) {
    FILE *file = fopen(path, "re");
    if (file == NULL) return false;
    bool has_line = fgets(line, (int)size, file) != NULL;
    fclose(file);
    if (has_line) line[strcspn(line, "\n")] = '\0';
    return has_line;
}

static bool read_cache_field(size_t i, const char *field, char *line, size_t size) {
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%zu/%s", i, field);
    return read_line(path, line, size);
}

/* The kernel writes "32K": its K is 1024. */
static bool read_cache(size_t i, struct cache *cache) {
    char level[24], size[24], with_unit[32];
    if (!read_cache_field(i, "level", level, sizeof level) ||
        !read_cache_field(i, "type", cache->type, sizeof cache->type) ||
        !read_cache_field(i, "size", size, sizeof size) || size[0] == '\0')
        return false;
    snprintf(with_unit, sizeof with_unit, "%siB", size);
    return dpmf_parse_uint64(level, &cache->level) == 0 &&
           dpmf_parse_size(with_unit, &cache->bytes) == 0;
}

static int examine(struct machine *machine, struct dpmf_error *error) {
    struct statvfs space;
    *machine = (struct machine){0};
    while (machine->n_caches < CACHES_MAX &&
           read_cache(machine->n_caches, &machine->cache[machine->n_caches]))
        machine->n_caches++;
    machine->temporary = terminal_temporary_directory();
    if (statvfs(machine->temporary, &space) == 0)
        machine->temporary_free = (uint64_t)space.f_bavail * space.f_frsize;
    return dpmf_machine_describe(&machine->library, error);
}

/* The numbers of factors that the choice of lanes is shown for. */
static const uint32_t shown_factors[] = {16, 64, 256, 1024, 2048};
enum { SHOWN_FACTORS = sizeof shown_factors / sizeof shown_factors[0] };

static void write_kernels(struct dpmf_json *json, const struct dpmf_machine *library) {
    dpmf_json_begin_array(json, "kernels");
    for (size_t i = 0; i < library->n_kernels; i++) {
        dpmf_json_begin_object(json, NULL);
        dpmf_json_string(json, "name", library->kernels[i].name);
        dpmf_json_string(json, "description", library->kernels[i].description);
        dpmf_json_bool(json, "supported", library->kernels[i].is_supported);
        dpmf_json_bool(json, "chosen", library->kernels[i].is_chosen);
        dpmf_json_end_object(json);
    }
    dpmf_json_end_array(json);
    dpmf_json_begin_object(json, "tiles_for");
    dpmf_json_uint(json, "l1", library->l1);
    dpmf_json_uint(json, "l2", library->l2);
    dpmf_json_uint(json, "l3", library->l3);
    dpmf_json_string(json, "from", library->caches_from);
    dpmf_json_end_object(json);
    dpmf_json_begin_array(json, "lanes");
    for (size_t i = 0; i < SHOWN_FACTORS; i++) {
        dpmf_json_begin_object(json, NULL);
        dpmf_json_uint(json, "factors", shown_factors[i]);
        dpmf_json_uint(json, "lanes", dpmf_machine_lanes(NULL, shown_factors[i], false));
        dpmf_json_uint(json, "deterministic", dpmf_machine_lanes(NULL, shown_factors[i], true));
        dpmf_json_end_object(json);
    }
    dpmf_json_end_array(json);
    dpmf_json_string(json, "large_pages", library->large_pages);
    dpmf_json_bool(json, "has_large_pages", library->has_large_pages);
}

static void write_build(struct dpmf_json *json, struct dpmf_build build) {
    dpmf_json_begin_object(json, "build");
    dpmf_json_string(json, "commit", build.commit);
    dpmf_json_string(json, "compiler", build.compiler);
    dpmf_json_string(json, "sources", build.sources);
    dpmf_json_end_object(json);
}

/* Environment variables that replace what the system reports, as dpmf_machine_check lists them. */
static const char *const overrides[] = {"DPMF_CACHES", "DPMF_CORES", "DPMF_RAM", "DPMF_PAGE",
                                        "DPMF_KERNELS"};
enum { OVERRIDES = sizeof overrides / sizeof *overrides };

/* The value of an override; NULL where it is not set or empty, which is the same. */
static const char *override_value(size_t i) {
    const char *value = secure_getenv(overrides[i]);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static void write_overrides(struct dpmf_json *json) {
    dpmf_json_begin_object(json, "environment");
    for (size_t i = 0; i < OVERRIDES; i++)
        if (override_value(i) != NULL) dpmf_json_string(json, overrides[i], override_value(i));
    dpmf_json_end_object(json);
}

static void print_overrides(void) {
    bool is_first = true;
    for (size_t i = 0; i < OVERRIDES; i++) {
        if (override_value(i) == NULL) continue;
        printf("  %-14s %s=%s\n", is_first ? "environment" : "", overrides[i], override_value(i));
        is_first = false;
    }
}

static int print_json(const struct machine *machine) {
    struct dpmf_json *json = dpmf_json_new();
    const char *name;
    dpmf_json_begin_object(json, NULL);
    dpmf_json_string(json, "version", dpmf_version());
    write_build(json, dpmf_build_identity());
    write_overrides(json);
    dpmf_json_uint(json, "cores", (uint64_t)machine->library.cores);
    dpmf_json_uint(json, "memory", machine->library.memory);
    dpmf_json_uint(json, "memory_default", machine->library.memory_default);
    dpmf_json_uint(json, "page_size", machine->library.page_size);
    dpmf_json_begin_array(json, "caches");
    for (size_t i = 0; i < machine->n_caches; i++) {
        dpmf_json_begin_object(json, NULL);
        dpmf_json_uint(json, "level", machine->cache[i].level);
        dpmf_json_string(json, "type", machine->cache[i].type);
        dpmf_json_uint(json, "bytes", machine->cache[i].bytes);
        dpmf_json_end_object(json);
    }
    dpmf_json_end_array(json);
    write_kernels(json, &machine->library);
    dpmf_json_string(json, "temporary_directory", machine->temporary);
    dpmf_json_uint(json, "temporary_free", machine->temporary_free);
    dpmf_json_begin_array(json, "formats");
    for (size_t i = 0; (name = dpmf_format_name(i, NULL)) != NULL; i++)
        dpmf_json_string(json, NULL, name);
    dpmf_json_end_array(json);
    dpmf_json_begin_array(json, "compression");
    dpmf_json_string(json, NULL, "gzip");
    dpmf_json_string(json, NULL, "zstd");
    dpmf_json_end_array(json);
    dpmf_json_end_object(json);
    return report_json_print(json);
}

static void print_kernels(const struct dpmf_machine *library) {
    for (size_t i = 0; i < library->n_kernels; i++)
        printf("  %-14s %s: %s%s\n", i == 0 ? "kernels" : "", library->kernels[i].name,
               library->kernels[i].description,
               library->kernels[i].is_chosen      ? " (chosen)"
               : library->kernels[i].is_supported ? ""
                                                  : " (not on this machine)");
    printf("  %-14s caches of %s, %s and %s (%s)\n", "tiles for",
           text_binary_bytes(library->l1).text, text_binary_bytes(library->l2).text,
           text_binary_bytes(library->l3).text,
           strcmp(library->caches_from, "environment") == 0 ? "from DPMF_CACHES"
           : strcmp(library->caches_from, "system") == 0    ? "as the system reports"
                                                            : "guessed: they are not known");
    printf("  %-14s", "lanes");
    for (size_t i = 0; i < SHOWN_FACTORS; i++)
        printf("%s %u at k = %u", i > 0 ? "," : "",
               dpmf_machine_lanes(NULL, shown_factors[i], false), shown_factors[i]);
    printf("\n");
    printf("  %-14s %s: a trial got %s\n", "large pages",
           library->large_pages[0] != '\0' ? library->large_pages : "not reported by the system",
           library->has_large_pages ? "one" : "none");
}

/* As the statement of a release names it, so that the two can be compared. */
static void print_build(struct dpmf_build build) {
    printf("  %-14s commit %s\n", "built from", build.commit);
    printf("  %-14s compiler %s\n", "", build.compiler);
    printf("  %-14s sources %s\n", "", build.sources);
}

static void print_page(const struct machine *machine) {
    const char *name;
    printf("dpmf %s\n\n", dpmf_version());
    print_build(dpmf_build_identity());
    print_overrides();
    printf("  %-14s %s usable\n", "cores", text_number((uint64_t)machine->library.cores).text);
    printf("  %-14s %s, of which dpmf uses %s by default\n", "memory",
           text_binary_bytes(machine->library.memory).text,
           text_binary_bytes(machine->library.memory_default).text);
    printf("  %-14s %s\n", "page size", text_binary_bytes(machine->library.page_size).text);
    for (size_t i = 0; i < machine->n_caches; i++)
        printf("  %-14s level %s, %s, %s\n", i == 0 ? "caches" : "",
               text_number(machine->cache[i].level).text, machine->cache[i].type,
               text_binary_bytes(machine->cache[i].bytes).text);
    if (machine->n_caches == 0) printf("  %-14s not reported by the system\n", "caches");
    print_kernels(&machine->library);
    printf("  %-14s %s, %s free\n", "temporary", machine->temporary,
           text_bytes(machine->temporary_free).text);
    printf("  %-14s", "reads");
    for (size_t i = 0; (name = dpmf_format_name(i, NULL)) != NULL; i++)
        printf("%s %s", i > 0 ? "," : "", name);
    printf("\n  %-14s gzip, zstd\n", "unpacks");
}

static int run(struct invocation *invocation) {
    struct machine machine;
    struct dpmf_error error = {0};
    int code = examine(&machine, &error);
    if (code < 0) return report_error_print(invocation, &error);
    if (command_has(invocation, OPTION_JSON)) return print_json(&machine);
    print_page(&machine);
    return STATUS_DONE;
}
