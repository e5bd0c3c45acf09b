/*
 * `dpmf export --web`: the page as files.
 */
#ifndef DPMF_PROGRAMS_EXPORT_WEB_H
#define DPMF_PROGRAMS_EXPORT_WEB_H

#include "cli/command.h"

/* @return an exit status */
int export_web_run(struct invocation *invocation);

/* The URL of the page in a directory, for people to open; the caller frees it. NULL: no memory, or
 * there is no such directory. */
char *export_web_url(const char *directory);

#endif
