/*
 * Parsing is a function of each record alone: a run that promises privacy takes a store only when
 * its header says so. And what it takes as public is none of its private files. Fed by what the
 * importer recorded; used by release_make.c before anything else is read.
 */
#include "release/release_input.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "files/file_identity.h"

static const char *why_not(const struct store_layout *layout) {
    switch (layout->origin) {
    case STORE_ORIGIN_UNKNOWN:
        return "the store does not say how its ratings were read, as stores of dpmf 0.1.0 do not";
    case STORE_ORIGIN_GUESSED:
        return "the layout of its ratings was guessed from the first record, which is one person's";
    case STORE_ORIGIN_TOGETHER:
        return "its ratings were read or chosen by what other people's say: blocks of lines, a cut "
               "by time, or shards of one shard";
    case STORE_ORIGIN_DECLARED: break;
    }
    if (layout->drops_bad && !layout->is_shard)
        return "its inputs are in formats that spell users differently: nobody could say whether "
               "7, 007 and \"7\" are one person";
    if (layout->is_shard && layout->drops_bad)
        return "this is one of several shards, and other people's ratings decided who is in it";
    return "a bad record would have ended its import: one person could have decided whether there "
           "is a release";
}

/* Adds to a text of `size` bytes that has `n` already. @return how many it has then */
static size_t add(char *text, size_t size, size_t n, const char *more) {
    size_t length = strlen(more);
    if (length >= size - n) return n;
    memcpy(text + n, more, length + 1);
    return n + length;
}

/* "user,item,_,rating", as the import had them. */
static size_t add_columns(char *text, size_t size, size_t n, const struct store_layout *layout) {
    const char *const role[] = {"user", "item", layout->holds_events ? "count" : "rating",
                                "timestamp"};
    for (uint16_t i = 1; i <= layout->n_columns; i++) {
        const char *name = "_";
        for (size_t r = 0; r < STORE_ROLES; r++)
            if (layout->column[r] == i) name = role[r];
        if (i > 1) n = add(text, size, n, ",");
        n = add(text, size, n, name);
    }
    return n;
}

/* The settings that would declare what was guessed; none where a header or a database does. */
static void declare(const struct store_layout *layout, char *text, size_t size) {
    const char *name = NULL;
    char separator[24];
    size_t n = 0;
    text[0] = '\0';
    for (size_t i = 0; store_layout_format_name(i); i++)
        if (layout->formats == UINT32_C(1) << i) name = store_layout_format_name(i);
    if (layout->origin == STORE_ORIGIN_DECLARED || layout->origin == STORE_ORIGIN_TOGETHER) return;
    bool is_csv = name && (strcmp(name, "csv") == 0 || strcmp(name, "tsv") == 0);
    if (is_csv && layout->n_columns == 0) name = NULL; /* several inputs differed */
    n = add(text, size, n, " {format ");
    n = add(text, size, n, name ? name : "NAME");
    n = add(text, size, n, "}");
    if (!name || !is_csv) return;
    if (layout->separator != '\t') {
        dpmf_error_write(separator, sizeof separator, " {separator %c}", layout->separator);
        n = add(text, size, n, separator);
    }
    n = add(text, size, n, " {columns ");
    n = add_columns(text, size, n, layout);
    add(text, size, n, "}");
}

int release_input_check(const struct dpmf_store *store, bool ranks, struct dpmf_error *error) {
    const struct store_layout *layout = store_layout_of(store);
    struct dpmf_store_info info;
    char settings[256], hint[DPMF_ERROR_TEXT_MAX];
    if (store_holds_events(store) && !ranks) {
        error_set(error, DPMF_ERR_USAGE_CONFLICT,
                  "this holds events, of which the mechanisms for ratings cannot make a release");
        error_hint(error, "leave {goal} and {mechanism} out, or give ratings");
        error_place(error, store_path(store), 0, 0);
        return DPMF_ERR_USAGE_CONFLICT;
    }
    if (store_layout_is_by_record(layout)) return 0;
    dpmf_store_info(store, &info);
    declare(layout, settings, sizeof settings);
    snprintf(hint, sizeof hint, "import the ratings again, with%s {on-error skip}", settings);
    error_set(error, DPMF_ERR_PRIVACY_REFUSED, "%s", why_not(layout));
    const bool is_read_well = layout->origin == STORE_ORIGIN_DECLARED && layout->drops_bad;
    if (layout->is_shard && is_read_well)
        error_hint(error, "give the directory of all shards, or the store that was cut");
    else if (is_read_well)
        error_hint(error, "write all of them in one format, with each user's id in one spelling");
    else if (info.is_temporary)
        error_hint(error, "open the ratings, or pass the arrays, with by_record set");
    else if (layout->origin == STORE_ORIGIN_TOGETHER)
        error_hint(error, "import the ratings again from a format with one record per line, with "
                          "{on-error skip}");
    else
        error_hint_text(error, hint);
    error_place(error, store_path(store), 0, 0);
    return DPMF_ERR_PRIVACY_REFUSED;
}

/* ---- what is public -------------------------------------------------------------------------- */

static int refuse_same(const char *path, const struct file_identity *private_file,
                       const char *whose, struct dpmf_error *error) {
    struct file_identity identity = file_identity_of(path);
    if (!file_identity_equal(&identity, private_file)) return 0;
    error_set(error, DPMF_ERR_PRIVACY_REFUSED, "this is the file of the %s, not a public table",
              whose);
    error_hint(error, "give a table of all items that can be rated, made without the ratings");
    error_place(error, strcmp(path, "-") == 0 ? "<stdin>" : path, 0, 0);
    return DPMF_ERR_PRIVACY_REFUSED;
}

int release_input_check_public(const struct dpmf_store *store,
                               const struct dpmf_release_options *options,
                               struct dpmf_error *error) {
    const char *const public_files[] = {options->catalogue, options->item_features};
    struct file_identity wishes = {0};
    int code = 0;
    if (options->user_privacy) wishes = file_identity_of(options->user_privacy);
    for (size_t i = 0; i < 2 && code == 0; i++) {
        if (!public_files[i]) continue;
        code = refuse_same(public_files[i], store_made_from(store), "ratings", error);
        if (code == 0) code = refuse_same(public_files[i], &wishes, "wishes", error);
    }
    return code;
}

static int refuse_over(const char *output, const char *what, struct dpmf_error *error) {
    error_set(error, DPMF_ERR_USAGE_CONFLICT, "this would be written over the %s", what);
    error_hint(error, "name another file to write");
    error_place(error, output, 0, 0);
    return DPMF_ERR_USAGE_CONFLICT;
}

/* A slip of the hand must not cost anyone their ratings. */
int release_input_check_output(const struct dpmf_store *store,
                               const struct dpmf_release_options *options, const char *output,
                               struct dpmf_error *error) {
    const struct {
        const char *path, *what;
    } read[] = {{options->catalogue, "catalogue"},
                {options->item_features, "item features"},
                {options->user_privacy, "wishes"},
                {options->about, "declaration"}};
    const char *const written[] = {output, options->posterior.trace};
    for (size_t i = 0; i < 2; i++) {
        if (!written[i]) continue;
        const struct file_identity file = file_identity_of(written[i]);
        if (store_is_read_from(store, written[i])) return refuse_over(written[i], "ratings", error);
        for (size_t j = 0; j < sizeof read / sizeof read[0]; j++) {
            if (!read[j].path) continue;
            const struct file_identity other = file_identity_of(read[j].path);
            if (file_identity_equal(&file, &other))
                return refuse_over(written[i], read[j].what, error);
        }
    }
    return 0;
}
