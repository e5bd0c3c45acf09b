/*
 * Whole directories or none, out of output_file's whole files. Feeds the exports that are several
 * files.
 *
 * All files wait beside the directory, as a rule without a name, so that a killed process leaves
 * nothing. When they are on the disk a directory is made under a temporary name, they are linked
 * into it, and it is renamed: a process killed within that instant leaves the temporary one, which
 * the next export to the same place takes away. A directory of many large files, as shards are, is
 * filled under its temporary name from the beginning.
 */
#define _GNU_SOURCE
#include "files/output_directory.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"

enum {
    NAME_KEPT_MAX = 200, /* bytes of the final name in the temporary one: NAME_MAX is 255 */
    TEMPORARY_SIZE = NAME_KEPT_MAX + 40,
    NAME_ATTEMPTS = 64,
};

struct output_directory {
    char *path;                     /* without slashes at its end */
    const char *name;               /* the last part of it */
    char *above;                    /* where it is */
    char temporary[TEMPORARY_SIZE]; /* its name until everything is in it */
    enum output_mode mode;
    bool is_there; /* and empty */
    size_t n_files;
    struct output_file *files[OUTPUT_DIRECTORY_FILES_MAX]; /* NULL once in place */
    const char *names[OUTPUT_DIRECTORY_FILES_MAX];

    /* Where the maker fills the directory: which names are its files', its temporary path, and both
     * directories, open. */
    bool (*is_own)(const char *name);
    char *place;
    int above_fd, place_fd;
};

/* ---- names ----------------------------------------------------------------------------------- */

static char *copy_text(const char *text, size_t n) {
    char *copy = memory_alloc(n + 1, 1);
    if (!copy) return NULL;
    memcpy(copy, text, n);
    copy[n] = '\0';
    return copy;
}

static int set_names(struct output_directory *directory, const char *path,
                     struct dpmf_error *error) {
    size_t n = strlen(path);
    while (n > 1 && path[n - 1] == '/') n--;
    directory->path = copy_text(path, n);
    if (!directory->path) return error_no_memory(error);
    const char *slash = strrchr(directory->path, '/');
    size_t above = slash ? (size_t)(slash - directory->path) : 0;
    directory->name = slash ? slash + 1 : directory->path;
    directory->above = slash == directory->path ? copy_text("/", 1)
                       : slash                  ? copy_text(directory->path, above)
                                                : copy_text(".", 1);
    return directory->above ? 0 : error_no_memory(error);
}

/* ---- what is there --------------------------------------------------------------------------- */

/* @return 1 when there is nothing in it, 0 when there is, -1 with errno */
static int is_empty(const char *path) {
    DIR *list = opendir(path);
    if (!list) return -1;
    int empty = 1;
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): the list is ours alone */
    for (const struct dirent *entry; empty && (entry = readdir(list));)
        empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    closedir(list);
    return empty;
}

static int refuse_place(const char *path, const char *what, struct dpmf_error *error) {
    error_set(error, DPMF_ERR_IO_WRITE, "cannot write there: %s", what);
    error_hint(error, "name a directory that is empty or does not exist yet");
    error_place(error, path, 0, 0);
    return DPMF_ERR_IO_WRITE;
}

static int check_place(struct output_directory *directory, struct dpmf_error *error) {
    struct stat status;
    const char *path = directory->path;
    if (path[0] == '\0') return error_system(error, ENOENT, "create", path);
    if (stat(path, &status) != 0) {
        if (errno != ENOENT) return error_system(error, errno, "create", path);
        if (lstat(path, &status) == 0)
            return refuse_place(path, "there is a link that leads nowhere", error);
        if (stat(directory->above, &status) != 0) return error_system(error, errno, "create", path);
        if (access(directory->above, W_OK | X_OK) != 0)
            return error_system(error, errno, "create", path);
        return 0;
    }
    if (!S_ISDIR(status.st_mode)) return refuse_place(path, "there is a file of that name", error);
    int empty = is_empty(path);
    if (empty < 0) return error_system(error, errno, "read", path);
    if (empty == 0) return refuse_place(path, "the directory is not empty", error);
    if (access(path, W_OK | X_OK) != 0) return error_system(error, errno, "create files in", path);
    directory->is_there = true;
    return 0;
}

static bool owns(const struct output_directory *directory, const char *name) {
    if (directory->is_own) return directory->is_own(name);
    for (size_t i = 0; i < directory->n_files; i++)
        if (strcmp(directory->names[i], name) == 0) return true;
    return false;
}

/* The files that it has in an open directory. */
static void remove_files(const struct output_directory *directory, int place) {
    int copy = openat(place, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *names = copy >= 0 ? fdopendir(copy) : NULL;
    if (!names && copy >= 0) close(copy);
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): the list is ours alone */
    for (const struct dirent *entry; names && (entry = readdir(names));)
        if (owns(directory, entry->d_name)) unlinkat(place, entry->d_name, 0);
    if (names) closedir(names);
}

/* What a killed process left: the lock that its owner would hold is free. Nothing depends on
 * this. */
static void remove_left(int above, const char *name, const struct output_directory *directory) {
    int left = openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (left < 0) return;
    if (flock(left, LOCK_EX | LOCK_NB) == 0) {
        remove_files(directory, left);
        unlinkat(above, name, AT_REMOVEDIR);
    }
    close(left);
}

static bool is_temporary_of(const char *name, const struct output_directory *directory) {
    size_t kept = strnlen(directory->name, NAME_KEPT_MAX), n = strlen(name);
    static const char end[] = ".tmp";
    if (n < 2 + kept + strlen(end) || name[0] != '.' || name[1 + kept] != '.') return false;
    if (memcmp(name + 1, directory->name, kept) != 0) return false;
    return strcmp(name + n - strlen(end), end) == 0;
}

static void sweep(const struct output_directory *directory, int above) {
    int copy = openat(above, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *names = copy >= 0 ? fdopendir(copy) : NULL;
    if (!names && copy >= 0) close(copy);
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): the list is ours alone */
    for (const struct dirent *entry; names && (entry = readdir(names));)
        if (is_temporary_of(entry->d_name, directory)) remove_left(above, entry->d_name, directory);
    if (names) closedir(names);
}

/* ---- opening and writing --------------------------------------------------------------------- */

int output_directory_open(struct output_directory **out, const char *path, enum output_mode mode,
                          struct dpmf_error *error) {
    *out = NULL;
    struct output_directory *directory = memory_alloc_zero(1, sizeof *directory);
    if (!directory) return error_no_memory(error);
    directory->mode = mode;
    directory->above_fd = directory->place_fd = -1;
    int code = set_names(directory, path, error);
    if (code == 0) code = check_place(directory, error);
    if (code < 0) {
        output_directory_abandon(directory);
        return code;
    }
    *out = directory;
    return 0;
}

int output_directory_add(struct output_directory *directory, const char *name,
                         struct output_file **file, struct dpmf_error *error) {
    assert(directory && name && file);
    assert(name[0] != '\0' && !strchr(name, '/'));
    *file = NULL;
    if (directory->n_files == OUTPUT_DIRECTORY_FILES_MAX)
        return error_set(error, DPMF_ERR_BASE_BUG, "a directory of too many files");
    size_t size = strlen(directory->path) + strlen(name) + 2;
    char *path = memory_alloc(size, 1);
    if (!path) return error_no_memory(error);
    snprintf(path, size, "%s/%s", directory->path, name);
    int code =
        output_file_open_aside(file, path, directory->is_there ? directory->path : directory->above,
                               directory->mode, error);
    free(path);
    if (code < 0) return code;
    directory->names[directory->n_files] = name;
    directory->files[directory->n_files++] = *file;
    return 0;
}

uint64_t output_directory_size(const struct output_directory *directory) {
    uint64_t size = 0;
    for (size_t i = 0; i < directory->n_files; i++)
        if (directory->files[i]) size += output_file_size(directory->files[i]);
    return size;
}

/* ---- the end --------------------------------------------------------------------------------- */

static void discard(struct output_directory *directory) {
    for (size_t i = 0; i < directory->n_files; i++) output_file_abandon(directory->files[i]);
    if (directory->place_fd >= 0) close(directory->place_fd);
    if (directory->above_fd >= 0) close(directory->above_fd);
    free(directory->place);
    free(directory->path);
    free(directory->above);
    free(directory);
}

/* The first one last. What was put there goes again when another fails, and nothing else does: a
 * file that someone put there meanwhile stays. */
static int link_files(struct output_directory *directory, int place, struct dpmf_error *error) {
    assert(place >= 0);
    int code = 0;
    size_t first = directory->n_files; /* the number of the first file that is in place */
    while (code == 0 && first > 0) {
        struct output_file *file = directory->files[first - 1];
        directory->files[first - 1] = NULL;
        code = output_file_commit_into(file, place, directory->names[first - 1], error);
        if (code == 0) first--;
    }
    if (code == 0 && output_sync_failed(place))
        code = error_system(error, errno, "flush", directory->path);
    for (size_t i = first; code < 0 && i < directory->n_files; i++)
        unlinkat(place, directory->names[i], 0);
    return code;
}

static int fill_existing(struct output_directory *directory, struct dpmf_error *error) {
    int place = open(directory->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (place < 0) return error_system(error, errno, "open", directory->path);
    int code = link_files(directory, place, error);
    close(place);
    return code;
}

/* @return 0 or an errno */
static int make_temporary(struct output_directory *directory, int above) {
    assert(above >= 0);
    mode_t bits = directory->mode == OUTPUT_PRIVATE ? 0700 : 0777;
    for (int attempt = 0; attempt < NAME_ATTEMPTS; attempt++) {
        snprintf(directory->temporary, sizeof directory->temporary, ".%.*s.%ld-%d.tmp",
                 NAME_KEPT_MAX, directory->name, (long)getpid(), attempt);
        if (mkdirat(above, directory->temporary, bits) == 0) return 0;
        if (errno != EEXIST) break;
    }
    return errno;
}

static int fill_temporary(struct output_directory *directory, int above, struct dpmf_error *error) {
    int place = openat(above, directory->temporary, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (place < 0) return error_system(error, errno, "open", directory->path);
    (void)flock(place, LOCK_EX | LOCK_NB); /* for sweep, where it can be had */
    int code = link_files(directory, place, error);
    if (code == 0 && renameat(above, directory->temporary, above, directory->name) != 0) {
        code = error_system(error, errno, "rename", directory->path);
        for (size_t i = 0; i < directory->n_files; i++) unlinkat(place, directory->names[i], 0);
    }
    close(place);
    return code;
}

static int open_above(const struct output_directory *directory) {
    int above = open(directory->above, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (above < 0 && errno == EACCES) /* one may write into it but not list it */
        above = open(directory->above, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return above;
}

static int make_and_fill(struct output_directory *directory, struct dpmf_error *error) {
    int above = open_above(directory);
    if (above < 0) return error_system(error, errno, "open", directory->above);
    sweep(directory, above);
    int failure = make_temporary(directory, above);
    int code = failure != 0 ? error_system(error, failure, "create", directory->path)
                            : fill_temporary(directory, above, error);
    if (code < 0 && failure == 0) unlinkat(above, directory->temporary, AT_REMOVEDIR);
    if (code == 0 && output_sync_failed(above))
        code = error_system(error, errno, "flush", directory->path);
    close(above);
    return code;
}

int output_directory_commit(struct output_directory *directory, struct dpmf_error *error) {
    assert(directory && directory->n_files > 0);
    int code = 0;
    for (size_t i = 0; code == 0 && i < directory->n_files; i++)
        code = output_file_prepare(directory->files[i], error);
    if (code == 0)
        code =
            directory->is_there ? fill_existing(directory, error) : make_and_fill(directory, error);
    discard(directory);
    return code;
}

void output_directory_abandon(struct output_directory *directory) {
    if (!directory) return;
    if (directory->place_fd >= 0) {
        remove_files(directory, directory->place_fd);
        unlinkat(directory->above_fd, directory->temporary, AT_REMOVEDIR);
    }
    discard(directory);
}

/* ---- filled by its maker --------------------------------------------------------------------- */

static int open_place(struct output_directory *directory, struct dpmf_error *error) {
    directory->above_fd = open_above(directory);
    if (directory->above_fd < 0) return error_system(error, errno, "open", directory->above);
    sweep(directory, directory->above_fd);
    int failure = make_temporary(directory, directory->above_fd);
    if (failure != 0) return error_system(error, failure, "create", directory->path);
    directory->place_fd = openat(directory->above_fd, directory->temporary,
                                 O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (directory->place_fd < 0) {
        int code = error_system(error, errno, "open", directory->path);
        unlinkat(directory->above_fd, directory->temporary, AT_REMOVEDIR);
        return code;
    }
    (void)flock(directory->place_fd, LOCK_EX | LOCK_NB); /* for sweep, where it can be had */
    size_t size = strlen(directory->above) + sizeof directory->temporary + 1;
    directory->place = memory_alloc(size, 1);
    if (!directory->place) return error_no_memory(error);
    snprintf(directory->place, size, "%s/%s", directory->above, directory->temporary);
    return 0;
}

int output_directory_begin(struct output_directory **out, const char *path, enum output_mode mode,
                           bool (*is_own)(const char *name), struct dpmf_error *error) {
    struct output_directory *directory;
    int code = output_directory_open(&directory, path, mode, error);
    *out = NULL;
    if (code < 0) return code;
    directory->is_own = is_own;
    code = open_place(directory, error);
    if (code < 0)
        output_directory_abandon(directory);
    else
        *out = directory;
    return code;
}

const char *output_directory_place(const struct output_directory *directory) {
    return directory->place;
}

int output_directory_finish(struct output_directory *directory, struct dpmf_error *error) {
    const int above = directory->above_fd;
    int code = 0;
    if (output_sync_failed(directory->place_fd)) {
        code = error_system(error, errno, "flush", directory->path);
    } else if (renameat(above, directory->temporary, above, directory->name) != 0) {
        code = error_system(error, errno, "rename", directory->path);
    } else {
        if (output_sync_failed(above)) code = error_system(error, errno, "flush", directory->path);
        discard(directory);
        return code;
    }
    output_directory_abandon(directory);
    return code;
}
