/*
 * Where temporary files go that have no output to lie beside.
 */
#ifndef DPMF_FILES_TEMPORARY_H
#define DPMF_FILES_TEMPORARY_H

/* $TMPDIR, or /tmp. */
const char *temporary_directory(void);

/* The same, but memory instead of /tmp where the system has some for files: for what is gone in a
 * moment, when a disk would make its writer wait. */
const char *temporary_directory_fast(void);

#endif
