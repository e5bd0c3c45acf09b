/*
 * Pointers and structs of options as callers give them: of any version, and perhaps NULL.
 */
#include "base/arguments.h"

#include <stdarg.h>
#include <string.h>

#include "base/error.h"

int arguments_check(struct dpmf_error *error, const char *names, ...) {
    int code = 0;
    va_list pointers;
    va_start(pointers, names);
    while (code == 0 && *names) {
        const size_t length = strcspn(names, " ");
        if (!va_arg(pointers, const void *)) {
            code = error_set(error, DPMF_ERR_USAGE_NULL, "the argument `%.*s` is NULL", (int)length,
                             names);
            error_hint_text(error, "the program that called the library must give it");
        }
        names += length + (names[length] == ' ');
    }
    va_end(pointers);
    return code;
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

void options_give(void *options, size_t size, const void *made, size_t own_size) {
    if (!options || size < sizeof size) return;
    memset(options, 0, size);
    memcpy(options, made, smaller(size, own_size));
    memcpy(options, &size, sizeof size);
}

static bool is_zero(const unsigned char *bytes, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (bytes[i]) return false;
    return true;
}

static int refuse(struct dpmf_error *error, const char *name, const char *what, const char *hint) {
    int code = error_set(error, DPMF_ERR_USAGE_STRUCT, "struct dpmf_%s %s", name, what);
    error_hint_text(error, hint);
    return code;
}

int options_take(void *own, size_t own_size, const void *given, const char *name,
                 struct dpmf_error *error) {
    size_t size;
    if (!given) return 0;
    memcpy(&size, given, sizeof size);
    if (size < sizeof size)
        return refuse(error, name, "has no size", "begin with its _default() function");
    if (size > own_size && !is_zero((const unsigned char *)given + own_size, size - own_size))
        return refuse(error, name, "has fields that this version of the library does not know",
                      "use the library that the program was built for, or a newer one");
    memcpy(own, given, smaller(size, own_size));
    memcpy(own, &own_size, sizeof own_size);
    return 0;
}

int options_check_spare(const uint64_t *spare, size_t bytes, const char *name,
                        struct dpmf_error *error) {
    if (is_zero((const unsigned char *)spare, bytes)) return 0;
    return refuse(error, name, "has fields that this version of the library does not know",
                  "use the library that the program was built for, or a newer one");
}
