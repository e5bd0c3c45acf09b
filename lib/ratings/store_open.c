/*
 * Opening ratings of any kind as a store: a store as it is, anything else by way of a temporary
 * one. What lets every command take any format where it takes a store.
 */
#include <string.h>

#include "base/arguments.h"
#include "base/error.h"
#include "database/database_url.h"
#include "files/file_identity.h"
#include "ratings/import.h"
#include "ratings/input_list.h"
#include "ratings/source.h"
#include "ratings/store_source.h"
#include "store/shard_set.h"
#include "store/store.h"

/* Whether the options ask for anything but the store as it is. */
static bool changes_ratings(const struct dpmf_input_options *options) {
    bool other_format = options->format && strcmp(options->format, "auto") != 0 &&
                        strcmp(options->format, "dpr") != 0;
    return options->rescale || options->has_range || options->has_like || other_format;
}

static int open_shards(const char *path, const struct dpmf_input_options *options,
                       struct dpmf_store **store, struct dpmf_error *error) {
    int code = store_source_check(path, options, error);
    if (code < 0) return code;
    if (!changes_ratings(options)) return shard_set_open(path, store, error);
    code = error_set(error, DPMF_ERR_USAGE_CONFLICT, "shards are read as they are");
    error_hint(error, "change the ratings when they are imported, and cut the result into shards");
    error_place(error, path, 0, 0);
    return code;
}

/* Standard input goes to one process of several. */
static int check_readers(const char *path, const struct dpmf_run *run, struct dpmf_error *error) {
    if (dpmf_cluster_size(run->cluster) == 1 || strcmp(path, "-") != 0) return 0;
    error_set(error, DPMF_ERR_USAGE_CONFLICT, "several processes cannot share standard input");
    error_hint(error, "make a store first, with {:import}");
    return DPMF_ERR_USAGE_CONFLICT;
}

/* A store that is opened as it is, and was declared to hold events. */
static int check_events(struct dpmf_store **store, const struct dpmf_input_options *options,
                        int code, struct dpmf_error *error) {
    if (code < 0 || !options || !options->events || store_holds_events(*store)) return code;
    code = error_set(error, DPMF_ERR_USAGE_CONFLICT, "this holds ratings, not events");
    error_hint(error, "turn ratings into events with {like any}");
    error_place(error, store_path(*store), 0, 0);
    dpmf_store_close(*store);
    *store = NULL;
    return code;
}

int dpmf_store_open(const char *path, const struct dpmf_input_options *options,
                    const struct dpmf_run *run, struct dpmf_store **store,
                    struct dpmf_error *error) {
    struct dpmf_input_options own = dpmf_input_options_default();
    struct dpmf_run own_run;
    int code = arguments_check(error, "path store", path, store);
    if (code == 0) code = options_take(&own, sizeof own, options, "input_options", error);
    if (code == 0) code = run_take(&own_run, run, error);
    if (store) *store = NULL;
    if (code < 0) return code;
    options = &own, run = &own_run;
    bool is_store = false;
    code = check_readers(path, run, error);
    if (code == 0 && !database_url_is(path) && !input_is_several(path))
        code = store_file_is(path, &is_store, error);
    if (code < 0) return code;
    if (shard_set_is(path))
        return check_events(store, options, open_shards(path, options, store, error), error);
    if (is_store && !changes_ratings(options)) {
        code = store_source_check(path, options, error);
        if (code == 0) code = store_open_file(path, store, error);
        return check_events(store, options, code, error);
    }
    struct dpmf_import_report report;
    struct file_identity input;
    code = source_identify(path, &input, error);
    if (code < 0) return code;
    code = import_ratings(&path, 1, NULL, options, run, &report, store, error);
    if (code < 0) return code;
    store_set_made_from(*store, &input);
    store_set_losses(*store, &report);
    import_losses_tell(&report, options, run);
    return 0;
}
