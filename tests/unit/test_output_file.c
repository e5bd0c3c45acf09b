/*
 * Output files appear whole, with the right mode, or not at all; errors come early and leave
 * nothing behind; nameless files have no name.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "files/output_file.h"
#include "temp_dir.h"

static int set_up(void **state) {
    struct temp_dir *dir = malloc(sizeof *dir);
    if (!dir) return -1;
    temp_dir_make(dir);
    *state = dir;
    return 0;
}

static int tear_down(void **state) {
    temp_dir_remove(*state);
    free(*state);
    return 0;
}

static struct output_file *open_file(const char *path, enum output_mode mode) {
    struct output_file *file;
    struct dpmf_error error;
    assert_int_equal(output_file_open(&file, path, mode, &error), 0);
    return file;
}

static void write_text(const char *path, const char *text) {
    struct output_file *file = open_file(path, OUTPUT_PUBLIC);
    assert_int_equal(output_file_write(file, text, strlen(text), NULL), 0);
    assert_int_equal(output_file_commit(file, NULL), 0);
}

static void check_text(const char *path, const char *text) {
    size_t n;
    char *found = temp_dir_read(path, &n);
    assert_int_equal(n, strlen(text));
    assert_string_equal(found, text);
    free(found);
}

static void test_appears_at_commit(void **state) {
    struct temp_dir *dir = *state;
    char path[TEMP_PATH_MAX];
    temp_dir_file(dir, "out", path);
    struct output_file *file = open_file(path, OUTPUT_PRIVATE);
    assert_int_equal(output_file_write(file, "hello ", 6, NULL), 0);
    assert_int_equal(output_file_write(file, "", 0, NULL), 0);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(output_file_size(file), 6);
    assert_int_equal(output_file_prepare(file, NULL), 0);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(output_file_write(file, "world", 5, NULL), 0); /* after all */
    assert_int_equal(output_file_commit(file, NULL), 0);
    check_text(path, "hello world");
    assert_int_equal(temp_dir_count(dir), 1);
}

static void test_replaces_at_once(void **state) {
    struct temp_dir *dir = *state;
    char path[TEMP_PATH_MAX];
    temp_dir_file(dir, "out", path);
    write_text(path, "old");
    struct output_file *file = open_file(path, OUTPUT_PUBLIC);
    assert_int_equal(output_file_write(file, "new", 3, NULL), 0);
    check_text(path, "old");
    assert_int_equal(output_file_commit(file, NULL), 0);
    check_text(path, "new");

    file = open_file(path, OUTPUT_PUBLIC);
    assert_int_equal(output_file_write(file, "never", 5, NULL), 0);
    output_file_abandon(file);
    output_file_abandon(NULL);
    check_text(path, "new");
    assert_int_equal(temp_dir_count(dir), 1);
}

static unsigned mode_of(const char *path) {
    struct stat status;
    assert_int_equal(stat(path, &status), 0);
    return (unsigned)status.st_mode & 07777;
}

/* What a process left that was killed between two names is taken away by the next; what is
 * someone's at work, or only looks like it, stays. */
static void test_takes_away_what_was_left(void **state) {
    static const char *const names[] = {".x.0123456789abcdef.tmp", ".x.fedcba9876543210.tmp",
                                        ".y.0123456789abcdef.tmp", ".x.0123.tmp"};
    char path[TEMP_PATH_MAX], left[4][TEMP_PATH_MAX];
    temp_dir_file(*state, "x", path);
    for (size_t i = 0; i < 4; i++) {
        temp_dir_file(*state, names[i], left[i]);
        temp_dir_write(left[i], "z", 1);
    }
    int owner = open(left[1], O_RDONLY);
    assert_true(owner >= 0 && flock(owner, LOCK_EX) == 0);
    write_text(path, "whole");
    check_text(path, "whole");
    assert_int_not_equal(access(left[0], F_OK), 0);
    for (size_t i = 1; i < 4; i++) assert_int_equal(access(left[i], F_OK), 0);
    close(owner);
}

static void test_modes(void **state) {
    char path[TEMP_PATH_MAX];
    temp_dir_file(*state, "out", path);
    static const struct {
        mode_t mask;
        enum output_mode mode;
        unsigned bits;
    } cases[] = {
        {022, OUTPUT_PUBLIC, 0644},  {077, OUTPUT_PUBLIC, 0600}, {0, OUTPUT_PUBLIC, 0666},
        {022, OUTPUT_PRIVATE, 0600}, {0, OUTPUT_PRIVATE, 0600},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mode_t before = umask(cases[i].mask);
        struct output_file *file = open_file(path, cases[i].mode);
        assert_int_equal(output_file_commit(file, NULL), 0);
        umask(before);
        assert_int_equal(mode_of(path), cases[i].bits);
    }
}

/* Pieces of all sizes around the buffer's, against the same bytes kept in memory. */
static void test_large_and_small_pieces(void **state) {
    char path[TEMP_PATH_MAX];
    temp_dir_file(*state, "out", path);
    static const size_t pieces[] = {1,   1 << 20, 3, (1 << 20) - 1, 2, (1 << 20) + 1,
                                    500, 5 << 20, 7};
    size_t total = 0, n;
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) total += pieces[i];
    uint8_t *bytes = malloc(total);
    assert_non_null(bytes);
    for (size_t i = 0; i < total; i++) bytes[i] = (uint8_t)(i * 31 >> 3);
    struct output_file *file = open_file(path, OUTPUT_PUBLIC);
    size_t at = 0;
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        assert_int_equal(output_file_write(file, bytes + at, pieces[i], NULL), 0);
        at += pieces[i];
        assert_int_equal(output_file_size(file), at);
    }
    assert_int_equal(output_file_commit(file, NULL), 0);
    char *found = temp_dir_read(path, &n);
    assert_int_equal(n, total);
    assert_memory_equal(found, bytes, total);
    free(found);
    free(bytes);
}

static void test_relative_path_and_working_directory(void **state) {
    struct temp_dir *dir = *state;
    char path[TEMP_PATH_MAX], before[4096];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(dir->path), 0);
    struct output_file *file = open_file("plain", OUTPUT_PUBLIC);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(output_file_commit(file, NULL), 0);
    assert_int_equal(chdir(before), 0);
    temp_dir_file(dir, "plain", path);
    check_text(path, "");
}

static void check_open_fails(const char *path, int code) {
    struct output_file *file = (void *)1;
    struct dpmf_error error = {0};
    assert_int_equal(output_file_open(&file, path, OUTPUT_PUBLIC, &error), code);
    assert_null(file);
    assert_int_equal(error.code, code);
    assert_string_equal(error.file, path);
    assert_true(error.message[0] && error.hint[0]);
    assert_int_equal(output_file_open(&file, path, OUTPUT_PUBLIC, NULL), code);
    error = (struct dpmf_error){0};
    assert_int_equal(dpmf_output_check(path, &error), code);
    assert_int_equal(error.code, code);
    assert_string_equal(error.file, path);
}

static void test_open_fails_early(void **state) {
    struct temp_dir *dir = *state;
    char path[TEMP_PATH_MAX];
    check_open_fails(dir->path, DPMF_ERR_IO_DIRECTORY);
    check_open_fails("/", DPMF_ERR_IO_DIRECTORY);
    check_open_fails(".", DPMF_ERR_IO_DIRECTORY);
    check_open_fails("", DPMF_ERR_IO_MISSING);
    temp_dir_file(dir, "none/out", path);
    check_open_fails(path, DPMF_ERR_IO_MISSING);
    temp_dir_file(dir, "out/", path);
    check_open_fails(path, DPMF_ERR_IO_DIRECTORY);
    temp_dir_file(dir, "file", path);
    temp_dir_write(path, "x", 1);
    temp_dir_file(dir, "file/out", path);
    check_open_fails(path, DPMF_ERR_IO_MISSING);
    check_open_fails("/dev/null", DPMF_ERR_IO_WRITE);
    temp_dir_file(dir, "pipe", path);
    assert_int_equal(mkfifo(path, 0600), 0);
    check_open_fails(path, DPMF_ERR_IO_WRITE);
    assert_int_equal(temp_dir_count(dir), 2);
}

/* What others put there after the file was opened is not replaced; what they took away is. */
static void test_keeps_what_came_meanwhile(void **state) {
    struct temp_dir *dir = *state;
    struct dpmf_error error;
    char path[TEMP_PATH_MAX];
    temp_dir_file(dir, "out", path);
    struct output_file *file = open_file(path, OUTPUT_PRIVATE);
    temp_dir_write(path, "theirs", 6);
    assert_int_equal(output_file_commit(file, &error), DPMF_ERR_IO_WRITE);
    check_text(path, "theirs");
    file = open_file(path, OUTPUT_PRIVATE);
    assert_int_equal(unlink(path), 0);
    temp_dir_write(path, "others'", 7);
    assert_int_equal(output_file_commit(file, &error), DPMF_ERR_IO_WRITE);
    check_text(path, "others'");
    assert_int_equal(temp_dir_count(dir), 1);
    file = open_file(path, OUTPUT_PRIVATE);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(output_file_commit(file, &error), 0);
    check_text(path, "");
}

static void test_links(void **state) {
    struct temp_dir *dir = *state;
    char path[TEMP_PATH_MAX], link[TEMP_PATH_MAX];
    temp_dir_file(dir, "out", path);
    temp_dir_file(dir, "link", link);
    assert_int_equal(symlink("out", link), 0);
    check_open_fails(link, DPMF_ERR_IO_WRITE); /* leads nowhere */
    temp_dir_write(path, "old", 3);
    check_open_fails(link, DPMF_ERR_IO_WRITE);
    check_text(path, "old");
}

static void test_check_leaves_nothing(void **state) {
    struct temp_dir *dir = *state;
    char path[TEMP_PATH_MAX];
    temp_dir_file(dir, "out", path);
    assert_int_equal(dpmf_output_check(path, NULL), 0);
    assert_int_equal(temp_dir_count(dir), 0);
    write_text(path, "old");
    assert_int_equal(dpmf_output_check(path, NULL), 0);
    check_text(path, "old");
    assert_int_equal(temp_dir_count(dir), 1);
}

static void test_long_names(void **state) {
    struct temp_dir *dir = *state;
    char path[TEMP_PATH_MAX], name[300];
    memset(name, 'n', sizeof name);
    name[255] = '\0'; /* the longest there is */
    temp_dir_file(dir, name, path);
    write_text(path, "x");
    check_text(path, "x");
    name[255] = 'n';
    name[256] = '\0';
    temp_dir_file(dir, name, path);
    struct output_file *file; /* refused at once, not after hours of work */
    assert_int_equal(output_file_open(&file, path, OUTPUT_PUBLIC, NULL), DPMF_ERR_IO_WRITE);
    assert_int_equal(temp_dir_count(dir), 1);
}

/* As someone who is not root, since root may write anywhere. */
static void test_no_permission(void **state) {
    struct temp_dir *dir = *state;
    char path[TEMP_PATH_MAX];
    temp_dir_file(dir, "out", path);
    assert_int_equal(chmod(dir->path, 0555), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct output_file *file;
        struct dpmf_error error;
        if (geteuid() == 0 && setuid(65534) != 0) _exit(99);
        int code = output_file_open(&file, path, OUTPUT_PUBLIC, &error);
        _exit(code == DPMF_ERR_IO_PERMISSION && strcmp(error.file, path) == 0 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(chmod(dir->path, 0755), 0);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 99) skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* A limit on the size of files stands in for a disk that is full. */
static void test_no_space(void **state) {
    struct temp_dir *dir = *state;
    char path[TEMP_PATH_MAX];
    temp_dir_file(dir, "out", path);
    static uint8_t bytes[3 << 20];
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 2 << 20;
    signal(SIGXFSZ, SIG_IGN);
    for (int way = 0; way < 3; way++) {
        struct output_file *file = open_file(path, OUTPUT_PRIVATE);
        struct dpmf_error error = {0};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        int code = 0;
        if (way == 0) code = output_file_write(file, bytes, sizeof bytes, &error);
        for (size_t at = 0; way > 0 && code == 0 && at < sizeof bytes; at += 1000)
            code = output_file_write(file, bytes, 1000, &error);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(code, DPMF_ERR_IO_NO_SPACE);
        assert_int_equal(error.code, DPMF_ERR_IO_NO_SPACE);
        assert_string_equal(error.file, path);

        /* There is room again, but a part is missing: nothing may come of it. */
        assert_int_equal(output_file_write(file, "x", 1, NULL), DPMF_ERR_IO_WRITE);
        if (way == 2)
            output_file_abandon(file);
        else
            assert_int_equal(output_file_commit(file, &error), DPMF_ERR_IO_WRITE);
        assert_int_equal(temp_dir_count(dir), 0);
    }
    signal(SIGXFSZ, SIG_DFL);
}

static void test_write_all(void **state) {
    (void)state;
    int full = open("/dev/full", O_WRONLY);
    if (full >= 0) {
        struct dpmf_error error;
        assert_int_equal(file_write_all(full, "x", 1, "f", &error), DPMF_ERR_IO_NO_SPACE);
        assert_string_equal(error.file, "f");
        close(full);
    }
    assert_int_equal(file_write_all(-1, "", 0, "f", NULL), 0);
    assert_int_equal(file_write_all(-1, "x", 1, "f", NULL), DPMF_ERR_IO_WRITE);
}

/* A non-blocking pipe, slowly read: everything arrives. */
static void test_write_all_to_a_slow_pipe(void **state) {
    (void)state;
    enum { N = 1 << 20 };
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(ends[1]);
        fcntl(ends[0], F_SETFL, 0);
        static char bytes[9973];
        size_t total = 0;
        for (ssize_t n; (n = read(ends[0], bytes, sizeof bytes)) > 0;) total += (size_t)n;
        _exit(total == N ? 0 : 1);
    }
    close(ends[0]);
    char *bytes = calloc(1, N);
    assert_int_equal(file_write_all(ends[1], bytes, N, "pipe", NULL), 0);
    close(ends[1]);
    free(bytes);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void test_read_at(void **state) {
    char path[TEMP_PATH_MAX], bytes[16];
    temp_dir_file(*state, "in", path);
    temp_dir_write(path, "0123456789", 10);
    int fd = open(path, O_RDONLY);
    struct dpmf_error error;
    assert_int_equal(file_read_at(fd, bytes, 4, 3, path, &error), 0);
    assert_memory_equal(bytes, "3456", 4);
    assert_int_equal(file_read_at(fd, bytes, 0, 100, path, &error), 0);
    assert_int_equal(file_read_at(fd, bytes, 4, 7, path, &error), DPMF_ERR_IO_READ);
    assert_string_equal(error.message, "the file ends early");
    assert_string_equal(error.file, path);
    assert_int_equal(file_read_at(fd, bytes, 4, UINT64_MAX - 1, path, NULL), DPMF_ERR_IO_READ);
    assert_int_equal(file_read_at(fd, bytes, 4, INT64_MAX - 1, path, NULL), DPMF_ERR_IO_READ);
    close(fd);
    assert_int_equal(file_read_at(-1, bytes, 4, 0, path, NULL), DPMF_ERR_IO_READ);
}

static void check_nameless(const char *beside, const struct temp_dir *dir) {
    int fd;
    char back[4];
    struct stat status;
    assert_int_equal(output_file_nameless(beside, &fd, NULL), 0);
    assert_int_equal(temp_dir_count(dir), 0);
    assert_int_equal(fstat(fd, &status), 0);
    assert_int_equal(status.st_nlink, 0);
    assert_int_equal(status.st_mode & 07777, 0600);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    assert_int_equal(file_write_all(fd, "text", 4, "x", NULL), 0);
    assert_int_equal(file_read_at(fd, back, 4, 0, "x", NULL), 0);
    assert_memory_equal(back, "text", 4);
    close(fd);
}

static void test_nameless(void **state) {
    struct temp_dir *dir = *state;
    char path[TEMP_PATH_MAX], saved[TEMP_PATH_MAX] = "";
    if (getenv("TMPDIR")) snprintf(saved, sizeof saved, "%s", getenv("TMPDIR"));
    temp_dir_file(dir, "beside", path);
    check_nameless(path, dir);
    setenv("TMPDIR", dir->path, 1);
    check_nameless(NULL, dir);
    setenv("TMPDIR", "", 1);
    check_nameless(NULL, dir);
    if (saved[0])
        setenv("TMPDIR", saved, 1);
    else
        unsetenv("TMPDIR");

    int fd;
    struct dpmf_error error;
    temp_dir_file(dir, "none/beside", path);
    assert_int_equal(output_file_nameless(path, &fd, &error), DPMF_ERR_IO_MISSING);
    assert_int_equal(fd, -1);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_appears_at_commit),
        TEST(test_replaces_at_once),
        TEST(test_takes_away_what_was_left),
        TEST(test_modes),
        TEST(test_large_and_small_pieces),
        TEST(test_relative_path_and_working_directory),
        TEST(test_open_fails_early),
        TEST(test_keeps_what_came_meanwhile),
        TEST(test_links),
        TEST(test_check_leaves_nothing),
        TEST(test_long_names),
        TEST(test_no_permission),
        TEST(test_no_space),
        TEST(test_write_all),
        TEST(test_write_all_to_a_slow_pipe),
        TEST(test_read_at),
        TEST(test_nameless),
    };
    return cmocka_run_group_tests_name("output_file", tests, NULL, NULL);
}
