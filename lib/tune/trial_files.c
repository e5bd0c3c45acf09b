/*
 * The files of trial_files.h. Fed by files/temporary.c, which says where they go.
 */
#define _GNU_SOURCE
#include "tune/trial_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/error.h"
#include "files/temporary.h"

int trial_files_make(struct trial_files *files, const char *name, struct dpmf_error *error) {
    const char *place = temporary_directory();
    *files = (struct trial_files){0};
    if (asprintf(&files->directory, "%s/dpmf-%s-XXXXXX", place, name) < 0) files->directory = NULL;
    if (!files->directory) return error_no_memory(error);
    if (!mkdtemp(files->directory)) {
        int code = error_system(error, errno, "make a temporary directory here", place);
        free(files->directory);
        files->directory = NULL;
        return code;
    }
    if (asprintf(&files->model, "%s/model", files->directory) < 0) files->model = NULL;
    return files->model ? 0 : error_no_memory(error);
}

int trial_files_split(const struct trial_files *files, struct dpmf_store *store,
                      const struct dpmf_split_options *split, const struct dpmf_run *run,
                      struct dpmf_store **train, struct dpmf_store **test,
                      struct dpmf_error *error) {
    char *train_path = NULL, *test_path = NULL;
    if (asprintf(&train_path, "%s/train", files->directory) < 0) train_path = NULL;
    if (asprintf(&test_path, "%s/test", files->directory) < 0) test_path = NULL;
    int code = train_path && test_path ? 0 : error_no_memory(error);
    if (code == 0) code = dpmf_store_split(store, train_path, test_path, split, run, NULL, error);
    if (code == 0) code = dpmf_store_open(train_path, NULL, NULL, train, error);
    if (code == 0) code = dpmf_store_open(test_path, NULL, NULL, test, error);
    if (train_path) unlink(train_path);
    if (test_path) unlink(test_path);
    free(train_path);
    free(test_path);
    return code;
}

void trial_files_remove(struct trial_files *files) {
    if (files->directory) rmdir(files->directory);
    free(files->directory);
    free(files->model);
    *files = (struct trial_files){0};
}
