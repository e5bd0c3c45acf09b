/*
 * Whether a table of someone's own ratings is about one person.
 */
#ifndef DPMF_PROGRAMS_OWN_PEOPLE_H
#define DPMF_PROGRAMS_OWN_PEOPLE_H

#include "command.h"

/* Refuses the table at `path`, which messages call `name` and whose first row names its columns,
 * when a column that could name people has more than one value. @return an exit status, after
 * saying what is wrong */
int own_people_check(struct invocation *invocation, const char *path, const char *name);

#endif
