/*
 * Signals: SIGINT, SIGTERM and SIGHUP ask the run to stop, which the progress callback passes on to
 * the library; when everything is cleaned up the signal is raised again with its default action, so
 * that shells see it. A broken pipe ends the program quietly.
 */
#ifndef DPMF_PROGRAMS_SIGNALS_H
#define DPMF_PROGRAMS_SIGNALS_H

void signals_install(void);

/* @return the signal that asks the run to stop, or 0 */
int signals_pending(void);

/* The same, by a run that will now stop and clean up: it is given the time for that. */
int signals_heed(void);

/* From now on a broken pipe is an error of writing, not the end. */
void signals_pipe_ignore(void);

/* After such an error: the process is to end as by SIGPIPE, once everything is cleaned up. */
void signals_pipe_remember(void);

/* Ends the process by the pending signal, if there is one. */
void signals_raise_pending(void);

#endif
