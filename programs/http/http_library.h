/*
 * libmicrohttpd, loaded by the one verb that needs it: it brings a TLS library along, and three
 * megabytes of resident memory are too much for every other verb to carry. The functions that are
 * used are listed here, once; the types are those of its header.
 */
#ifndef DPMF_HTTP_LIBRARY_H
#define DPMF_HTTP_LIBRARY_H

#include <microhttpd.h>

#define HTTP_LIBRARY_CALLS(CALL)                                                                   \
    CALL(add_response_header)                                                                      \
    CALL(create_response_from_buffer)                                                              \
    CALL(destroy_response)                                                                         \
    CALL(get_connection_info)                                                                      \
    CALL(get_connection_values)                                                                    \
    CALL(get_version)                                                                              \
    CALL(lookup_connection_value)                                                                  \
    CALL(queue_response)                                                                           \
    CALL(quiesce_daemon)                                                                           \
    CALL(start_daemon)                                                                             \
    CALL(stop_daemon)

/* Each as a member of its name without the MHD_ that it begins with. */
struct http_library {
/* NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration cannot have them */
#define HTTP_LIBRARY_MEMBER(name) __typeof__(&MHD_##name) name;
    HTTP_LIBRARY_CALLS(HTTP_LIBRARY_MEMBER)
#undef HTTP_LIBRARY_MEMBER
};

/* Set by http_library_load, once, before any thread. */
extern struct http_library http_library;

/* @return NULL, or what is wrong: the dynamic linker's words, or the name of a call that is not
 * there */
const char *http_library_load(void);

#endif
