/*
 * Opens an input of any kind: a database is known by its address, stores, Arrow and Parquet files
 * by their first bytes and a directory of shards by its list; everything else is text, perhaps
 * compressed, and text_source.c finds out which. Called by the importer.
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "arrow/ipc_reader.h"
#include "base/error.h"
#include "parquet/parquet_reader.h"
#include "ratings/arrow_source.h"
#include "ratings/database_source.h"
#include "ratings/field_text.h"
#include "ratings/formats.h"
#include "ratings/source.h"
#include "ratings/store_source.h"
#include "ratings/text_source.h"
#include "store/shard_set.h"

#define MEMORY_DEFAULT (UINT64_C(1) << 30)

/* Names of columns are for tables that always have them; a header is one line among others. */
static int refuse_names(const struct dpmf_input_options *options, const char *path,
                        struct dpmf_error *error) {
    const char *given = options->user_column     ? "{user-column}"
                        : options->item_column   ? "{item-column}"
                        : options->rating_column ? "{rating-column}"
                        : options->time_column   ? "{time-column}"
                                                 : NULL;
    char text[80];
    if (!given) return 0;
    snprintf(text, sizeof text, "%s is for Arrow and Parquet files", given);
    error_set_text(error, DPMF_ERR_USAGE_CONFLICT, text);
    error_hint(error, "say what the columns are with {columns}, or rename them in the header");
    error_place(error, path, 0, 0);
    return DPMF_ERR_USAGE_CONFLICT;
}

/* Only text has a separator. */
static int refuse_separator(const struct dpmf_input_options *options, const char *name,
                            struct dpmf_error *error) {
    if (options->separator == 0) return 0;
    error_set(error, DPMF_ERR_USAGE_CONFLICT, "{separator} is for text, and this is none");
    error_hint(error, "leave it out");
    error_place(error, strcmp(name, "-") == 0 ? "<stdin>" : name, 0, 0);
    return DPMF_ERR_USAGE_CONFLICT;
}

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

/* A Parquet file is read from its end on, which a pipe does not allow. */
static int refuse_piped_parquet(const char *name, struct dpmf_error *error) {
    error_set(error, DPMF_ERR_INPUT_UNKNOWN_FORMAT, "a Parquet file cannot be read from a pipe");
    error_hint(error, "give the path of the file");
    error_place(error, name, 0, 0);
    return DPMF_ERR_INPUT_UNKNOWN_FORMAT;
}

/* A page may take a sixteenth of the memory: four columns are read at a time. */
static int open_parquet(const char *path, const struct dpmf_input_options *options,
                        const struct input_wait *wait, struct source **source,
                        struct dpmf_error *error) {
    const uint64_t memory = wait && wait->memory ? wait->memory : MEMORY_DEFAULT;
    struct arrow_table *table = NULL;
    if (strcmp(path, "-") == 0) return refuse_piped_parquet("<stdin>", error);
    int code = refuse_separator(options, path, error);
    if (code == 0) code = parquet_reader_open(path, memory / 16, options->skip_bad, &table, error);
    return code < 0 ? code : arrow_source_open(table, options, source, error);
}

/* A batch may take a quarter of the memory; two are in use at a time. Where bad records are dropped
 * it may take any: one person's id can be as long as a batch, and decides nothing. */
static int open_arrow(struct input_stream *stream, const struct dpmf_input_options *options,
                      const struct input_wait *wait, struct source **source,
                      struct dpmf_error *error) {
    const uint64_t memory = wait && wait->memory ? wait->memory : MEMORY_DEFAULT;
    struct arrow_table *table = NULL;
    int code = ipc_reader_open(stream, options->skip_bad ? INT64_MAX : memory / 4, &table, error);
    return code < 0 ? code : arrow_source_open(table, options, source, error);
}

int source_open(const char *path, const struct dpmf_input_options *options,
                const struct input_wait *wait, struct source **source, struct dpmf_error *error) {
    struct dpmf_input_options defaults = dpmf_input_options_default();
    if (options == NULL) options = &defaults;
    int code = 0;
    if (database_url_is(path)) {
        code = refuse_names(options, NULL, error);
        return code < 0 ? code : database_source_open(path, options, wait, source, error);
    }
    bool automatic = format_is_auto(options);
    if (!automatic) {
        code = format_check(options->format, error);
        if (code != 0) return code;
        if (strcmp(options->format, FORMAT_STORE) == 0) return open_store(path, source, error);
        if (strcmp(options->format, FORMAT_PARQUET) == 0)
            return open_parquet(path, options, wait, source, error);
    }
    if (automatic && shard_set_is(path)) return open_store(path, source, error);
    struct input_stream *stream = NULL;
    code = input_stream_open(path, wait, &stream, error);
    if (code != 0) return code;
    const void *head;
    size_t n = input_stream_head(stream, &head);
    if (automatic && store_has_magic(head, n)) {
        input_stream_close(stream);
        return open_store(path, source, error);
    }
    if (automatic && parquet_has_magic(head, n)) {
        input_stream_close(stream);
        return open_parquet(path, options, wait, source, error);
    }
    const bool is_arrow =
        automatic ? ipc_has_magic(head, n) : strcmp(options->format, FORMAT_ARROW) == 0;
    code = is_arrow ? refuse_separator(options, path, error) : refuse_names(options, path, error);
    if (code < 0) {
        input_stream_close(stream);
        return code;
    }
    if (is_arrow) return open_arrow(stream, options, wait, source, error);
    return text_source_open_stream(stream, options, NULL, source, error);
}

void source_close(struct source *source) {
    if (source != NULL) source->ops->close(source);
}

int source_identify(const char *path, struct file_identity *identity, struct dpmf_error *error) {
    struct database_url url;
    *identity = (struct file_identity){0};
    if (!database_url_is(path)) {
        *identity = file_identity_of(path);
        return 0;
    }
    int code = database_url_parse(path, &url, error);
    if (code < 0) return code;
    if (url.kind == DATABASE_SQLITE) *identity = file_identity_of(url.file);
    database_url_free(&url);
    return 0;
}

void source_note_unused(struct source *source, const char *name, size_t n, uint32_t at,
                        const int32_t column[COLUMN_ROLES]) {
    char shown[FIELD_SHOWN_MAX];
    const size_t length = strlen(source->unused), room = sizeof source->unused - length;
    for (int role = 0; role < COLUMN_ROLES; role++)
        if (column[role] == (int32_t)at) return;
    if (length > 4 && strcmp(source->unused + length - 3, "...") == 0) return;
    if (n > 0)
        field_show(shown, name, n);
    else
        snprintf(shown, sizeof shown, "number %u", (unsigned)at + 1);
    const bool fits = strlen(shown) + 2 + sizeof ", ..." < room;
    snprintf(source->unused + length, room, "%s%s", length > 0 ? ", " : "", fits ? shown : "...");
}
