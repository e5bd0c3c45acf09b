/*
 * A test that works in a directory of its own, which is made before it and removed after it: the
 * set-up and the teardown for cmocka. Include after cmocka.
 */
#ifndef DPMF_TESTS_OWN_DIRECTORY_H
#define DPMF_TESTS_OWN_DIRECTORY_H

#include "temp_dir.h"

static struct temp_dir directory;

static int enter_directory(void **state) {
    (void)state;
    temp_dir_make(&directory);
    return chdir(directory.path);
}

static int leave_directory(void **state) {
    (void)state;
    temp_dir_remove(&directory);
    return chdir("/");
}

#endif
