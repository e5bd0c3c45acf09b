/*
 * The files of a test that trains: a store, its two halves, models, a snapshot and a trace, in a
 * directory of their own. Used by the tests of every solver.
 */
#ifndef DPMF_TESTS_TRAIN_FILES_H
#define DPMF_TESTS_TRAIN_FILES_H

#include "synth_split.h"
#include "temp_dir.h"

static struct temp_dir directory;
static char store_file[TEMP_PATH_MAX], train_file[TEMP_PATH_MAX], test_file[TEMP_PATH_MAX],
    a_file[TEMP_PATH_MAX], b_file[TEMP_PATH_MAX], snapshot_file[TEMP_PATH_MAX],
    trace_file[TEMP_PATH_MAX];

/* Makes the directory, and the stores from made-up ratings. @return 0 */
static int train_files_make(const struct dpmf_synth_options *synth) {
    temp_dir_make(&directory);
    temp_dir_file(&directory, "x.dpr", store_file);
    temp_dir_file(&directory, "train.dpr", train_file);
    temp_dir_file(&directory, "test.dpr", test_file);
    temp_dir_file(&directory, "a.safetensors", a_file);
    temp_dir_file(&directory, "b.safetensors", b_file);
    temp_dir_file(&directory, "s.safetensors", snapshot_file);
    temp_dir_file(&directory, "trace.svg", trace_file);
    return synth_split(synth, store_file, train_file, test_file);
}

#endif
