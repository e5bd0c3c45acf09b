/*
 * A history from another service: read whole, and matched with the model's items by title. Fed by
 * own_read.c, lib/titles, and the titles of the catalogue or, where there is none, the ids of the
 * items.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "files/file_read.h"
#include "own/own.h"

enum { LOOK_BYTES = 1 << 16 };
static const uint64_t FILE_MOST = (uint64_t)1 << 30;

/* ---- the file -------------------------------------------------------------------------------- */

static int open_source(const struct own_reading *reading, struct byte_source *source,
                       struct dpmf_error *error) {
    int fd = open(reading->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return error_system(error, errno, "read", reading->name);
    return byte_source_of_file(source, fd, reading->name, error);
}

/* A table of our own, which says nothing without titles to compare with. */
static bool is_own(const char *service) {
    return strcmp(service, "dpmf") == 0 || strcmp(service, "titles") == 0;
}

bool own_service_is(const struct own_reading *reading) {
    const char *service = NULL;
    struct byte_source source = {0};
    char *bytes = memory_alloc(LOOK_BYTES, 1);
    if (bytes && open_source(reading, &source, NULL) == 0 && source.is_regular) {
        const size_t n = source.n_bytes < LOOK_BYTES ? (size_t)source.n_bytes : LOOK_BYTES;
        if (n > 0 && byte_source_read(&source, bytes, n, 0, NULL) == 0)
            service = dpmf_diary_service(bytes, n);
    }
    byte_source_close(&source);
    free(bytes);
    return service && (!is_own(service) || reading->titles);
}

static int read_file(const struct own_reading *reading, char **bytes, size_t *n,
                     struct dpmf_error *error) {
    struct byte_source source = {0};
    int code = open_source(reading, &source, error);
    if (code == 0 && source.n_bytes > FILE_MOST) {
        code = error_set(error, DPMF_ERR_INPUT_TOO_MANY, "too large for one person's history");
        error_hint(error, "give the files of a service one by one");
        error_place(error, reading->name, 0, 0);
    }
    if (code == 0) {
        *n = (size_t)source.n_bytes;
        *bytes = memory_alloc(*n + 1, 1);
        code = *bytes ? byte_source_read(&source, *bytes, *n, 0, error) : error_no_memory(error);
    }
    byte_source_close(&source);
    return code;
}

/* ---- titles ---------------------------------------------------------------------------------- */

/* The title of an item, or its id. */
static const char *title_of(const struct own_reading *reading, uint64_t item, size_t *length) {
    const char *title = reading->titles ? reading->titles[item] : NULL;
    if (!title) return dpmf_model_item_id(reading->model, item, length);
    *length = strlen(title);
    return title;
}

static char *join_titles(const struct own_reading *reading, size_t *bytes) {
    const uint64_t items = reading->info.items;
    size_t length;
    *bytes = 0;
    for (uint64_t i = 0; i < items; i++) {
        title_of(reading, i, &length);
        *bytes += length + 1;
    }
    char *text = memory_alloc(*bytes + 1, 1), *at = text;
    for (uint64_t i = 0; text && i < items; i++) {
        const char *title = title_of(reading, i, &length);
        for (size_t j = 0; j < length; j++) *at++ = (char)(title[j] != '\0' ? title[j] : ' ');
        *at++ = '\0';
    }
    return text;
}

static int match_titles(const struct own_reading *reading, struct dpmf_error *error) {
    struct dpmf_titles *titles = NULL;
    size_t bytes;
    char *text = join_titles(reading, &bytes);
    if (!text) return error_no_memory(error);
    int code = dpmf_titles_make(text, bytes, reading->info.items, NULL, &titles, error);
    free(text);
    if (code == 0) code = dpmf_diary_match(reading->own->diary, reading->model, titles, error);
    dpmf_titles_free(titles);
    return code;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static int check_options(const struct own_reading *reading, struct dpmf_error *error) {
    if (!reading->input->rescale && !reading->input->has_range) return 0;
    int code = error_set(error, DPMF_ERR_USAGE_CONFLICT,
                         "ratings of a service are on a scale that is known");
    error_hint_text(error,
                    reading->input->rescale ? "leave {rescale} out" : "leave {rating-range} out");
    error_place(error, reading->name, 0, 0);
    return code;
}

static int check_rows(const struct own_reading *reading, const struct dpmf_diary_info *info,
                      struct dpmf_error *error) {
    if (info->bad == 0 || reading->input->skip_bad) return 0;
    int code = error_set(error, DPMF_ERR_INPUT_COLUMNS, "%s", info->fault);
    error_hint(error, "{on-error skip} leaves such rows out");
    error_place(error, reading->name, info->first_bad, 0);
    return code;
}

/* What is not matched counts as unknown. */
static int take_ratings(struct own_reading *reading, struct dpmf_error *error) {
    struct dpmf_own *own = reading->own;
    struct dpmf_diary_info info;
    dpmf_diary_info(own->diary, &info);
    if (!memory_reserve(&own->ratings, &own->capacity, info.entries + 1, sizeof *own->ratings))
        return error_no_memory(error);
    const int64_t n = dpmf_diary_ratings(own->diary, own->ratings, info.entries, error);
    if (n < 0) return (int)n;
    own->n = (size_t)n;
    own->unknown = info.unsure + info.none;
    return 0;
}

int own_service_read(struct own_reading *reading, struct dpmf_error *error) {
    struct dpmf_own *own = reading->own;
    struct dpmf_diary_info info = {.service = ""};
    char *bytes = NULL;
    size_t n = 0;
    int code = check_options(reading, error);
    if (code == 0) code = read_file(reading, &bytes, &n, error);
    if (code == 0) code = dpmf_diary_new(&own->diary, error);
    if (code == 0) code = dpmf_diary_add(own->diary, bytes, n, reading->name, error);
    free(bytes);
    if (code == 0) dpmf_diary_info(own->diary, &info);
    if (code == 0) code = check_rows(reading, &info, error);
    if (code == 0) code = match_titles(reading, error);
    return code == 0 ? take_ratings(reading, error) : code;
}
