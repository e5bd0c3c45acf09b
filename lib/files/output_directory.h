/*
 * A directory that appears whole or not at all: its files wait, without names, until all of them
 * are on the disk. Where the directory is not there yet, it appears at once with everything in it.
 * One that is there must be empty; it receives its files one after the other, the first one last,
 * so that where that is, everything is.
 */
#ifndef DPMF_FILES_OUTPUT_DIRECTORY_H
#define DPMF_FILES_OUTPUT_DIRECTORY_H

#include "files/output_file.h"

enum { OUTPUT_DIRECTORY_FILES_MAX = 16 };

struct output_directory;

/* Fails early for what would fail at the end: the name is taken by anything but an empty directory,
 * or a directory cannot be made there. A new one has the mode 0700, or 0777 less the umask; its
 * files are as output_mode says. */
int output_directory_open(struct output_directory **directory, const char *path,
                          enum output_mode mode, struct dpmf_error *error);

/* A directory that its maker fills by itself, under a temporary name: nothing may be at `path` when
 * it is finished. `is_own` recognises the names of its files, so that only what a killed process
 * left behind is removed. */
int output_directory_begin(struct output_directory **directory, const char *path,
                           enum output_mode mode, bool (*is_own)(const char *name),
                           struct dpmf_error *error);

/* Its temporary path, valid as long as `directory` is. */
const char *output_directory_place(const struct output_directory *directory);

/* Flushes it and gives it its name; frees `directory` in any case, and what is in it when that
 * fails. */
int output_directory_finish(struct output_directory *directory, struct dpmf_error *error);

/* Begins a file, whose name must stay; the directory owns it. */
int output_directory_add(struct output_directory *directory, const char *name,
                         struct output_file **file, struct dpmf_error *error);

/* Bytes written to all its files so far. */
uint64_t output_directory_size(const struct output_directory *directory);

/* Flushes everything and puts it in its place; frees `directory` in any case. */
int output_directory_commit(struct output_directory *directory, struct dpmf_error *error);
void output_directory_abandon(struct output_directory *directory); /* NULL is fine */

#endif
