/*
 * Loads libmicrohttpd for command_serve.c, as http_library.h says. It stays for as long as the
 * program does.
 */
#include "http/http_library.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

struct http_library http_library;

#ifdef __APPLE__
#define LIBRARY_FILE "libmicrohttpd.12.dylib"
#else
#define LIBRARY_FILE "libmicrohttpd.so.12"
#endif

static const struct {
    const char *name;
    size_t place;
} calls[] = {
#define HTTP_LIBRARY_PLACE(call) {"MHD_" #call, offsetof(struct http_library, call)},
    HTTP_LIBRARY_CALLS(HTTP_LIBRARY_PLACE)
#undef HTTP_LIBRARY_PLACE
};

const char *http_library_load(void) {
    void *library = dlopen(LIBRARY_FILE, RTLD_NOW | RTLD_LOCAL);
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): it is, the text is the thread's own */
    if (!library) return dlerror();
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        void *call = dlsym(library, calls[i].name);
        if (!call) return calls[i].name;
        memcpy((char *)&http_library + calls[i].place, &call, sizeof call);
    }
    return NULL;
}
