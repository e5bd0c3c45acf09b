/*
 * The program as one of several processes: who speaks, and how they begin and end together.
 */
#ifndef DPMF_PROGRAMS_RANKS_H
#define DPMF_PROGRAMS_RANKS_H

#include "cli/command.h"

/* Only the first rank prints: in the others everything that is printed goes nowhere, once they have
 * joined. To be called before anything is. */
void ranks_silence(void);

/* In the end: an error that kept this rank from joining, such as a mistaken option, is reported by
 * that rank itself. */
void ranks_tell_alone(int status);

/* Joins the others where mpirun started this, for verbs that work together; the others are refused.
 * @return an exit status */
int ranks_join(struct invocation *invocation);

/* Whether this rank reports an error, see dpmf_cluster_speaks; what it prints can then be seen. */
bool ranks_speak(const struct invocation *invocation);

/* Leaves them, with the exit status; may not return. */
void ranks_leave(struct invocation *invocation, int status);

#endif
