/*
 * Signals: SIGINT, SIGTERM and SIGHUP ask the run to stop, which the progress callback passes on to
 * the library; when everything is cleaned up the signal is raised again with its default action, so
 * that shells see it. A broken pipe ends the program quietly. Fed by main.c, asked by terminal.c.
 */
#include "cli/signals.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

/* Atomic and not only sig_atomic_t: the callback that reads it may run in any thread. */
static atomic_int pending_signal;
static atomic_int n_signals;

/* A run that waits for a silent pipe does not hear; it is ended after this many seconds. Nothing is
 * lost by it: an unfinished output has no name yet wherever the file system allows that. */
enum { SIGNALS_UNTIL_END = 3, SECONDS_UNTIL_END = 30 };

static void end_by(int number) {
    sigset_t set;
    signal(number, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, number);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    raise(number);
}

/* The second signal is mostly impatience, and the cleaning up is short; the third is meant. */
static void remember(int number) {
    int saved_errno = errno;
    int expected = 0;
    atomic_compare_exchange_strong(&pending_signal, &expected, number);
    if (atomic_fetch_add(&n_signals, 1) + 1 >= SIGNALS_UNTIL_END)
        end_by(number);
    else if (expected == 0)
        alarm(SECONDS_UNTIL_END);
    errno = saved_errno;
}

static void end_unheeded(int number) {
    (void)number;
    end_by(atomic_load(&pending_signal));
}

/* What our parent told us to ignore (nohup, a background job) stays ignored. */
static void install(int number) {
    struct sigaction old, new = {.sa_handler = remember, .sa_flags = 0};
    sigemptyset(&new.sa_mask);
    if (sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_IGN) return;
    sigaction(number, &new, NULL);
}

void signals_install(void) {
    install(SIGINT);
    install(SIGTERM);
    install(SIGHUP);
    signal(SIGXFSZ, SIG_IGN); /* then a write past the limit fails, and is reported */
    signal(SIGALRM, end_unheeded);

    /* Some parents start us with SIGPIPE ignored or blocked; `dpmf ... | head` must end quietly
     * all the same. */
    sigset_t set;
    signal(SIGPIPE, SIG_DFL);
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

void signals_pipe_ignore(void) { signal(SIGPIPE, SIG_IGN); }

void signals_pipe_remember(void) {
    int expected = 0;
    atomic_compare_exchange_strong(&pending_signal, &expected, SIGPIPE);
}

int signals_pending(void) { return atomic_load_explicit(&pending_signal, memory_order_relaxed); }

int signals_heed(void) {
    int number = signals_pending();
    if (number != 0) alarm(0);
    return number;
}

void signals_raise_pending(void) {
    int number = signals_pending();
    if (number != 0) end_by(number);
}
