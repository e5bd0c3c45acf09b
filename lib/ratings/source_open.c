/*
 * Opens an input of any kind: a database is known by its address, a store by its first bytes and a
 * directory of shards by its list; everything else is text, perhaps compressed, and text_source.c
 * finds out which. Called by the importer.
 */
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "ratings/database_source.h"
#include "ratings/formats.h"
#include "ratings/source.h"
#include "ratings/store_source.h"
#include "ratings/text_source.h"
#include "store/shard_set.h"

/* A store is read in any order, which a pipe does not allow. */
static int refuse_piped_store(const char *name, struct dpmf_error *error) {
    error_set(error, DPMF_ERR_INPUT_UNKNOWN_FORMAT, "a ratings store cannot be read from a pipe");
    error_hint(error, "give the path of the file");
    error_place(error, name, 0, 0);
    return DPMF_ERR_INPUT_UNKNOWN_FORMAT;
}

static int open_store(const char *path, struct source **source, struct dpmf_error *error) {
    struct stat status;
    if (strcmp(path, "-") == 0) return refuse_piped_store("<stdin>", error);
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode))
        return refuse_piped_store(path, error);
    return store_source_open(path, source, error);
}

int source_open(const char *path, const struct dpmf_input_options *options,
                const struct input_wait *wait, struct source **source, struct dpmf_error *error) {
    struct dpmf_input_options defaults = dpmf_input_options_default();
    if (options == NULL) options = &defaults;
    if (database_url_is(path)) return database_source_open(path, options, wait, source, error);
    bool automatic = format_is_auto(options);
    if (!automatic) {
        int code = format_check(options->format, error);
        if (code != 0) return code;
        if (strcmp(options->format, FORMAT_STORE) == 0) return open_store(path, source, error);
    }
    if (automatic && shard_set_is(path)) return open_store(path, source, error);
    struct input_stream *stream = NULL;
    int code = input_stream_open(path, wait, &stream, error);
    if (code != 0) return code;
    const void *head;
    size_t n = input_stream_head(stream, &head);
    if (automatic && store_has_magic(head, n)) {
        input_stream_close(stream);
        return open_store(path, source, error);
    }
    return text_source_open_stream(stream, options, NULL, source, error);
}

void source_close(struct source *source) {
    if (source != NULL) source->ops->close(source);
}
