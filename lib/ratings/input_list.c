/*
 * The files of folders and patterns. What is in a folder is taken whole: a file that is neither
 * Parquet nor Arrow by its name is refused, not skipped, except for those that begin with `_`
 * or `.`, which writers of such folders put beside the data. A column that is in the names of
 * folders alone (rating=5/...) would be lost, and is refused; so is a folder with a log of what is
 * deleted. Called by the importer.
 */
#define _GNU_SOURCE
#include "ratings/input_list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/memory.h"
#include "database/database_url.h"
#include "store/shard_set.h"
#include "tables/column_names.h"

enum { DEPTH_MAX = 16 /* folders in folders */ };

static bool is_folder(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* What is not there is not special: opening it will say so. */
static bool is_special(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && !S_ISDIR(status.st_mode) && !S_ISREG(status.st_mode);
}

static bool is_pattern(const char *path) {
    struct stat status;
    const char *bracket = strchr(path, '[');
    if (strstr(path, "://")) return false; /* an address of something that is not known here */
    return (strpbrk(path, "*?") || (bracket && strchr(bracket, ']'))) && lstat(path, &status) < 0;
}

bool input_is_several(const char *path) {
    if (strcmp(path, "-") == 0 || database_url_is(path)) return false;
    return is_folder(path) ? !shard_set_is(path) : is_pattern(path);
}

static int compare(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void sort_from(struct input_list *list, size_t first) {
    if (list->n - first > 1)
        qsort(list->paths + first, list->n - first, sizeof list->paths[0], compare);
}

/* Takes the path. */
static int add(struct input_list *list, char *path, struct dpmf_error *error) {
    if (path && memory_reserve(&list->paths, &list->capacity, list->n + 1, sizeof list->paths[0])) {
        list->paths[list->n++] = path;
        return 0;
    }
    free(path);
    return error_no_memory(error);
}

static int refuse(const char *path, const char *what, const char *hint, struct dpmf_error *error) {
    error_set(error, DPMF_ERR_INPUT_UNKNOWN_FORMAT, "%s", what);
    error_hint_text(error, hint);
    error_place(error, path, 0, 0);
    return DPMF_ERR_INPUT_UNKNOWN_FORMAT;
}

/* ---- folders --------------------------------------------------------------------------------- */

static bool has_known_end(const char *name) {
    static const char *const ends[] = {".parquet", ".parq", ".pq", ".arrow", ".arrows", ".feather"};
    const char *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof ends / sizeof ends[0]; i++)
        if (strcasecmp(dot, ends[i]) == 0) return true;
    return false;
}

/* A folder called COLUMN=VALUE, where the column is one that is needed. */
static int check_partition(const char *path, const char *name, struct dpmf_error *error) {
    const char *equals = strchr(name, '=');
    if (!equals || column_role_of(name, (size_t)(equals - name)) == COLUMN_OTHER) return 0;
    return refuse(path, "a column of the ratings is in the names of folders, and not in the files",
                  "write the ratings again, with all columns in the files", error);
}

/* A table of Delta Lake or Hudi: its log says which of its files are deleted, and is not read. */
static int check_log(DIR *directory, const char *folder, struct dpmf_error *error) {
    static const char *const logs[][2] = {
        {"_delta_log", "this is a table of Delta Lake (_delta_log), whose log is not read"},
        {".hoodie", "this is a table of Hudi (.hoodie), whose log is not read"}};
    struct stat status;
    for (size_t i = 0; i < sizeof logs / sizeof logs[0]; i++)
        if (fstatat(dirfd(directory), logs[i][0], &status, AT_SYMLINK_NOFOLLOW) == 0)
            return refuse(folder, logs[i][1],
                          "files that it says are deleted are still there: write the rows to other "
                          "Parquet files, with a reader of such tables",
                          error);
    return 0;
}

static int add_folder(struct input_list *list, const char *folder, int depth,
                      struct dpmf_error *error);

static int add_entry(struct input_list *list, const char *folder, const char *name, int depth,
                     struct dpmf_error *error) {
    char *path = NULL;
    const size_t n = strlen(folder);
    if (name[0] == '.' || name[0] == '_') return 0;
    if (asprintf(&path, "%s%s%s", folder, n > 0 && folder[n - 1] == '/' ? "" : "/", name) < 0)
        return error_no_memory(error);
    int code = 0;
    if (is_folder(path)) {
        code = check_partition(path, name, error);
        if (code == 0) code = add_folder(list, path, depth + 1, error);
    } else if (is_special(path)) {
        code = refuse(path, "a folder of ratings holds files, and this is a pipe or a device",
                      "move it away", error);
    } else if (has_known_end(name)) {
        return add(list, path, error);
    } else {
        code = refuse(path, "a folder of ratings holds Parquet or Arrow files, and this is neither",
                      "give the files by their names, or move this one away", error);
    }
    free(path);
    return code;
}

static int add_folder(struct input_list *list, const char *folder, int depth,
                      struct dpmf_error *error) {
    if (depth > DEPTH_MAX)
        return refuse(folder, "folders are nested too deeply", "links may lead back", error);
    DIR *directory = opendir(folder);
    if (!directory) return error_system(error, errno, "open", folder);
    int code = check_log(directory, folder, error);
    while (code == 0) {
        errno = 0;
        const struct dirent *entry = readdir(directory);
        if (!entry && errno != 0) code = error_system(error, errno, "read", folder);
        if (!entry) break;
        code = add_entry(list, folder, entry->d_name, depth, error);
    }
    closedir(directory);
    return code;
}

static int take_folder(struct input_list *list, const char *folder, struct dpmf_error *error) {
    const size_t first = list->n;
    int code = add_folder(list, folder, 0, error);
    if (code < 0) return code;
    if (list->n == first) {
        error_set(error, DPMF_ERR_IO_DIRECTORY, "there is no Parquet or Arrow file in this folder");
        error_hint(error, "a folder is read when it holds these, or when {:shard} made it");
        error_place(error, folder, 0, 0);
        return DPMF_ERR_IO_DIRECTORY;
    }
    sort_from(list, first);
    return 0;
}

/* ---- patterns -------------------------------------------------------------------------------- */

static int take_pattern(struct input_list *list, const char *pattern, struct dpmf_error *error) {
    struct input_list found = {0};
    glob_t matches = {0};
    const int state = glob(pattern, GLOB_NOSORT | GLOB_ERR, NULL, &matches);
    int code = state == GLOB_NOSPACE ? error_no_memory(error) : 0;
    if (code == 0 && (state != 0 || matches.gl_pathc == 0)) {
        code = error_set(error, DPMF_ERR_IO_MISSING, "no file has a name like this");
        error_place(error, pattern, 0, 0);
    }
    for (size_t i = 0; i < matches.gl_pathc && code == 0; i++)
        code = add(&found, strdup(matches.gl_pathv[i]), error);
    sort_from(&found, 0);
    for (size_t i = 0; i < found.n && code == 0; i++) {
        const bool is_whole = is_folder(found.paths[i]) && !shard_set_is(found.paths[i]);
        code = is_whole ? take_folder(list, found.paths[i], error)
                        : add(list, strdup(found.paths[i]), error);
    }
    globfree(&matches);
    input_list_free(&found);
    return code;
}

/* ---- all of them ----------------------------------------------------------------------------- */

int input_list_make(const char *const *inputs, size_t n, struct input_list *list,
                    struct dpmf_error *error) {
    *list = (struct input_list){0};
    int code = 0;
    for (size_t i = 0; i < n && code == 0; i++) {
        if (!input_is_several(inputs[i]))
            code = add(list, strdup(inputs[i]), error);
        else if (is_folder(inputs[i]))
            code = take_folder(list, inputs[i], error);
        else
            code = take_pattern(list, inputs[i], error);
    }
    return code;
}

void input_list_free(struct input_list *list) {
    for (size_t i = 0; i < list->n; i++) free(list->paths[i]);
    free(list->paths);
    *list = (struct input_list){0};
}
