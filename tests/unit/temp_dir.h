/*
 * A directory of its own for each test that writes files, and the small file helpers those tests
 * share. Include after cmocka.
 */
#ifndef DPMF_TESTS_TEMP_DIR_H
#define DPMF_TESTS_TEMP_DIR_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEMP_PATH_MAX = 1024 };

struct temp_dir {
    char path[TEMP_PATH_MAX / 4];
};

static inline void temp_dir_make(struct temp_dir *dir) {
    const char *base = getenv("TMPDIR");
    snprintf(dir->path, sizeof dir->path, "%s/dpmf-test-XXXXXX", base && *base ? base : "/tmp");
    assert_non_null(mkdtemp(dir->path));
}

static inline void temp_dir_file(const struct temp_dir *dir, const char *name,
                                 char path[TEMP_PATH_MAX]) {
    snprintf(path, TEMP_PATH_MAX, "%s/%s", dir->path, name);
}

static inline bool temp_dir_is_dots(const char *name) {
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* @return how many names the directory holds, hidden ones included */
static inline int temp_dir_count(const struct temp_dir *dir) {
    DIR *stream = opendir(dir->path);
    assert_non_null(stream);
    int n = 0;
    for (struct dirent *entry; (entry = readdir(stream));) n += !temp_dir_is_dots(entry->d_name);
    closedir(stream);
    return n;
}

static inline void temp_dir_remove(const struct temp_dir *dir) {
    DIR *stream = opendir(dir->path);
    if (!stream) return;
    for (struct dirent *entry; (entry = readdir(stream));) {
        char path[TEMP_PATH_MAX];
        if (temp_dir_is_dots(entry->d_name)) continue;
        temp_dir_file(dir, entry->d_name, path);
        if (unlink(path) != 0) rmdir(path);
    }
    closedir(stream);
    rmdir(dir->path);
}

/* The whole file in memory, ended by NUL; the caller frees it. */
static inline char *temp_dir_read(const char *path, size_t *n) {
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    struct stat status;
    assert_int_equal(fstat(fileno(file), &status), 0);
    *n = (size_t)status.st_size;
    char *bytes = malloc(*n + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *n, file), *n);
    bytes[*n] = '\0';
    fclose(file);
    return bytes;
}

static inline void temp_dir_expect_same(const char *a, const char *b) {
    size_t n_a, n_b;
    char *x = temp_dir_read(a, &n_a), *y = temp_dir_read(b, &n_b);
    assert_int_equal(n_a, n_b);
    assert_memory_equal(x, y, n_a);
    free(x);
    free(y);
}

static inline void temp_dir_write(const char *path, const void *bytes, size_t n) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    assert_int_equal(fclose(file), 0);
}

#endif
