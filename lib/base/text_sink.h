/*
 * Writing a text byte by byte into a buffer as snprintf does: what does not fit is only counted.
 */
#ifndef DPMF_BASE_TEXT_SINK_H
#define DPMF_BASE_TEXT_SINK_H

#include <stddef.h>
#include <string.h>

struct text_sink {
    char *text;
    size_t size, n;
};

static inline void text_sink_put(struct text_sink *sink, char c) {
    if (sink->n + 1 < sink->size) sink->text[sink->n] = c;
    sink->n++;
}

static inline void text_sink_put_bytes(struct text_sink *sink, const char *bytes, size_t n) {
    for (size_t i = 0; i < n; i++) text_sink_put(sink, bytes[i]);
}

static inline void text_sink_put_text(struct text_sink *sink, const char *text) {
    text_sink_put_bytes(sink, text, strlen(text));
}

/* Ends the text by NUL. @return the length of the whole text */
static inline int text_sink_end(struct text_sink *sink) {
    if (sink->size > 0) sink->text[sink->n < sink->size ? sink->n : sink->size - 1] = '\0';
    return (int)sink->n;
}

#endif
