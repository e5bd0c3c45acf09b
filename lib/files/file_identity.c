/*
 * A file is known by its device and its inode. Fed by paths as people give them; feeds the checks
 * that a private run's public files are not its ratings.
 */
#include "files/file_identity.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct file_identity file_identity_of(const char *path) {
    struct stat status;
    bool is_there =
        strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &status) == 0 : stat(path, &status) == 0;
    if (!is_there) return (struct file_identity){0};
    return (struct file_identity){true, (uint64_t)status.st_dev, (uint64_t)status.st_ino};
}

bool file_identity_equal(const struct file_identity *a, const struct file_identity *b) {
    return a->is_known && b->is_known && a->device == b->device && a->inode == b->inode;
}
