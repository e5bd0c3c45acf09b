/*
 * Directories that appear whole or not at all: new ones and empty ones, what stands in the way,
 * what a killed process left, and that nothing stays when it is given up.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "files/output_directory.h"
#include "temp_dir.h"

static struct temp_dir dir;
static char path[TEMP_PATH_MAX];

static int set_up(void **state) {
    (void)state;
    temp_dir_make(&dir);
    temp_dir_file(&dir, "out", path);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    temp_dir_remove(&dir);
    return 0;
}

static void in_it(const char *name, char text[2 * TEMP_PATH_MAX]) {
    snprintf(text, 2 * TEMP_PATH_MAX, "%s/%s", path, name);
}

static bool is_there(const char *name) {
    char file[2 * TEMP_PATH_MAX];
    in_it(name, file);
    return access(file, F_OK) == 0;
}

static void empty_it(void) {
    static const char *const names[] = {"first", "second", "last"};
    char file[2 * TEMP_PATH_MAX];
    for (size_t i = 0; i < 3; i++) {
        in_it(names[i], file);
        unlink(file);
    }
    assert_int_equal(rmdir(path), 0);
}

static struct output_directory *begin(enum output_mode mode) {
    struct output_directory *directory;
    struct output_file *file;
    assert_int_equal(output_directory_open(&directory, path, mode, NULL), 0);
    static const char *const names[] = {"first", "second", "last"};
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(output_directory_add(directory, names[i], &file, NULL), 0);
        assert_int_equal(output_file_write(file, names[i], strlen(names[i]), NULL), 0);
    }
    assert_int_equal(output_directory_size(directory), 15);
    return directory;
}

static mode_t mode_of(const char *name) {
    struct stat status;
    assert_int_equal(stat(name, &status), 0);
    return status.st_mode & 07777;
}

static void test_new(void **state) {
    (void)state;
    char file[2 * TEMP_PATH_MAX];
    mode_t mask = umask(027);
    for (int is_private = 0; is_private < 2; is_private++) {
        struct output_directory *directory = begin(is_private ? OUTPUT_PRIVATE : OUTPUT_PUBLIC);
        assert_int_equal(access(path, F_OK), -1);
        assert_int_equal(output_directory_commit(directory, NULL), 0);
        assert_true(is_there("first") && is_there("second") && is_there("last"));
        in_it("second", file);
        assert_int_equal(mode_of(path), is_private ? 0700 : 0750);
        assert_int_equal(mode_of(file), is_private ? 0600 : 0640);
        empty_it();
    }
    umask(mask);
    assert_int_equal(temp_dir_count(&dir), 0);
}

static void test_empty_one(void **state) {
    (void)state;
    assert_int_equal(mkdir(path, 0751), 0);
    assert_int_equal(chmod(path, 0751), 0);
    assert_int_equal(output_directory_commit(begin(OUTPUT_PRIVATE), NULL), 0);
    assert_true(is_there("first") && is_there("second") && is_there("last"));
    assert_int_equal(mode_of(path), 0751);
    empty_it();
}

static void test_given_up(void **state) {
    (void)state;
    output_directory_abandon(begin(OUTPUT_PUBLIC));
    assert_int_equal(temp_dir_count(&dir), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    output_directory_abandon(begin(OUTPUT_PUBLIC));
    assert_int_equal(rmdir(path), 0); /* still empty */
    output_directory_abandon(NULL);
}

/* Something comes into its place while it is written: that stays, and nothing of ours does. */
static void test_taken_meanwhile(void **state) {
    (void)state;
    struct dpmf_error error;
    struct output_directory *directory = begin(OUTPUT_PUBLIC);
    assert_int_equal(mkdir(path, 0700), 0);
    char file[2 * TEMP_PATH_MAX];
    in_it("mine", file);
    assert_int_equal(mkdir(file, 0700), 0);
    assert_true(output_directory_commit(directory, &error) < 0);
    assert_true(is_there("mine") && !is_there("first"));
    assert_int_equal(temp_dir_count(&dir), 1);
    assert_int_equal(rmdir(file), 0);
    assert_int_equal(rmdir(path), 0);

    /* A file of one of the names, in an empty directory. */
    assert_int_equal(mkdir(path, 0700), 0);
    directory = begin(OUTPUT_PUBLIC);
    in_it("first", file);
    temp_dir_write(file, "theirs", 6);
    assert_true(output_directory_commit(directory, &error) < 0);
    assert_true(is_there("first") && !is_there("second") && !is_there("last"));
    assert_int_equal(unlink(file), 0);
    assert_int_equal(rmdir(path), 0);
}

static void test_in_the_way(void **state) {
    (void)state;
    struct output_directory *directory;
    struct dpmf_error error;
    static const char *const nowhere[] = {"", "/proc/nothing/out", "/dev/null", "/dev/null/out",
                                          "/"};
    for (size_t i = 0; i < sizeof nowhere / sizeof nowhere[0]; i++) {
        assert_true(output_directory_open(&directory, nowhere[i], OUTPUT_PUBLIC, &error) < 0);
        assert_null(directory);
        assert_int_equal(error.code / 100, -3);
    }
}

static void make_left(const char *name, char left[2 * TEMP_PATH_MAX]) {
    char file[3 * TEMP_PATH_MAX];
    temp_dir_file(&dir, name, left);
    assert_int_equal(mkdir(left, 0700), 0);
    snprintf(file, sizeof file, "%s/second", left);
    int fd = open(file, O_CREAT | O_WRONLY, 0600);
    assert_true(fd >= 0);
    close(fd);
}

static void test_left_by_a_killed_one(void **state) {
    (void)state;
    char left[2 * TEMP_PATH_MAX], other[2 * TEMP_PATH_MAX], file[3 * TEMP_PATH_MAX];
    make_left(".out.123-0.tmp", left);
    make_left(".out.124-0.tmp", other);
    int fd = open(other, O_RDONLY | O_DIRECTORY); /* its owner lives */
    assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), 0);
    assert_int_equal(output_directory_commit(begin(OUTPUT_PUBLIC), NULL), 0);
    assert_int_equal(access(left, F_OK), -1);
    snprintf(file, sizeof file, "%s/second", other);
    assert_int_equal(access(file, F_OK), 0);
    close(fd);
    unlink(file);
    rmdir(other);
    empty_it();
}

static bool is_number(const char *name) {
    return name[0] != '\0' && name[strspn(name, "0123456789")] == '\0';
}

static void put(const char *place, const char *name) {
    char file[2 * TEMP_PATH_MAX];
    snprintf(file, sizeof file, "%s/%s", place, name);
    temp_dir_write(file, "x", 1);
}

/* Filled by its maker: there when it is finished, gone when it is given up; one that a killed
 * process left goes with the next, unless there is something in it that is nobody's, or its owner
 * is still at work. */
static void test_filled_by_its_maker(void **state) {
    (void)state;
    struct output_directory *directory, *other;
    char left[TEMP_PATH_MAX], busy[TEMP_PATH_MAX], foreign[TEMP_PATH_MAX];
    temp_dir_file(&dir, ".out.1-0.tmp", left);
    temp_dir_file(&dir, ".out.2-0.tmp", foreign);
    assert_int_equal(mkdir(left, 0700) | mkdir(foreign, 0700), 0);
    put(left, "1");
    put(foreign, "1");
    put(foreign, "a letter");
    assert_int_equal(output_directory_begin(&directory, path, OUTPUT_PRIVATE, is_number, NULL), 0);
    assert_int_not_equal(access(left, F_OK), 0);
    assert_int_equal(access(foreign, F_OK), 0);
    snprintf(busy, sizeof busy, "%s", output_directory_place(directory));
    put(busy, "7");
    assert_int_equal(output_directory_begin(&other, path, OUTPUT_PRIVATE, is_number, NULL), 0);
    assert_int_equal(access(busy, F_OK), 0);
    put(output_directory_place(other), "8");
    assert_int_equal(output_directory_finish(directory, NULL), 0);
    assert_true(is_there("7"));
    struct dpmf_error error = {0};
    snprintf(busy, sizeof busy, "%s", output_directory_place(other));
    assert_int_equal(output_directory_finish(other, &error), DPMF_ERR_IO_WRITE); /* one is there */
    assert_int_not_equal(access(busy, F_OK), 0);
    assert_true(is_there("7") && !is_there("8"));
    char file[2 * TEMP_PATH_MAX];
    in_it("7", file);
    assert_int_equal(unlink(file) | rmdir(path), 0);
    snprintf(file, sizeof file, "%s/a letter", foreign);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(output_directory_begin(&directory, path, OUTPUT_PRIVATE, is_number, NULL), 0);
    assert_int_not_equal(access(foreign, F_OK), 0);
    snprintf(busy, sizeof busy, "%s", output_directory_place(directory));
    put(busy, "9");
    output_directory_abandon(directory);
    assert_int_not_equal(access(busy, F_OK), 0);
    assert_int_not_equal(access(path, F_OK), 0);
}

static void test_too_many(void **state) {
    (void)state;
    struct output_directory *directory;
    struct output_file *file;
    assert_int_equal(output_directory_open(&directory, path, OUTPUT_PUBLIC, NULL), 0);
    for (int i = 0; i < OUTPUT_DIRECTORY_FILES_MAX; i++)
        assert_int_equal(output_directory_add(directory, "name", &file, NULL), 0);
    assert_int_equal(output_directory_add(directory, "name", &file, NULL), DPMF_ERR_BASE_BUG);
    output_directory_abandon(directory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new),
        cmocka_unit_test(test_empty_one),
        cmocka_unit_test(test_given_up),
        cmocka_unit_test(test_taken_meanwhile),
        cmocka_unit_test(test_in_the_way),
        cmocka_unit_test(test_left_by_a_killed_one),
        cmocka_unit_test(test_filled_by_its_maker),
        cmocka_unit_test(test_too_many),
    };
    return cmocka_run_group_tests_name("output directory", tests, set_up, tear_down);
}
