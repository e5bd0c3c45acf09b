/*
 * One call of a verb, from its words to its exit status: parsing, what the shared options mean, the
 * run itself. Fed by main.c and by the demo; feeds the command_*.c files.
 */
#include "cli/command.h"

#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/error_show.h"
#include "cli/manual.h"
#include "cli/options.h"
#include "cli/ranks.h"
#include "cli/report.h"

enum { THREADS_MAX = 1024 };

static bool wants_progress(const struct invocation *invocation) {
    if (command_has(invocation, OPTION_QUIET) || options_is(invocation, OPTION_PROGRESS, "never"))
        return false;
    if (options_is(invocation, OPTION_PROGRESS, "always")) return true;
    return isatty(STDERR_FILENO);
}

static int prepare(struct invocation *invocation) {
    struct terminal *terminal = &invocation->terminal;
    terminal->quiet = command_has(invocation, OPTION_QUIET);
    terminal->verbose = command_has(invocation, OPTION_VERBOSE);
    terminal->draws = wants_progress(invocation);
    terminal->last_drawn = terminal->phase_started = terminal_clock();

    struct dpmf_run *run = &invocation->run;
    *run = dpmf_run_default();
    run->progress = terminal_progress_show;
    run->warn = terminal_warning_show;
    run->progress_self = run->warn_self = terminal;
    run->replace = command_has(invocation, OPTION_REPLACE);
    if (command_has(invocation, OPTION_THREADS)) {
        uint64_t threads = options_count(invocation, OPTION_THREADS);
        if (threads == 0 || threads > THREADS_MAX)
            return terminal_error_print(STATUS_USAGE, "for example: --threads 2",
                                        "--threads %s is not from 1 to %d",
                                        invocation->value[OPTION_THREADS], THREADS_MAX);
        run->threads = (int)threads;
    }
    /* Whatever computes looks there, models that are opened too. No thread is there yet. */
    if (command_has(invocation, OPTION_KERNELS))
        setenv("DPMF_KERNELS", invocation->value[OPTION_KERNELS],
               1); /* NOLINT(concurrency-mt-unsafe) */
    struct dpmf_error error = {0};
    if (dpmf_machine_check(&error) != 0) return report_error_print(invocation, &error);
    if (command_has(invocation, OPTION_MEMORY)) {
        run->memory = options_size(invocation, OPTION_MEMORY);
        if (run->memory == 0)
            return terminal_error_print(STATUS_USAGE, "for example: --memory 2GiB",
                                        "--memory %s is too small to be a size of memory",
                                        invocation->value[OPTION_MEMORY]);
    }
    return STATUS_DONE;
}

int command_run(const struct verb *verb, int argc, char **argv) {
    const struct verb *part = argc > 0 ? verb_part_find(verb, argv[0]) : NULL;
    if (part != NULL) return command_run(part, argc - 1, argv + 1);
    if (verb->parts != NULL && argc > 0 && argv[0][0] != '-')
        argc = 1; /* a misspelt part: what follows it is not for this verb to judge */

    struct invocation invocation = {.verb = verb};
    invocation.operands = calloc((size_t)argc + 1, sizeof *invocation.operands);
    if (invocation.operands == NULL)
        return terminal_error_print(error_exit_status(DPMF_ERR_BASE_NO_MEMORY), NULL, "%s",
                                    dpmf_error_sentence(DPMF_ERR_BASE_NO_MEMORY));

    int status = options_parse(&invocation, argc, argv);
    if (status == 0 && command_has(&invocation, OPTION_HELP)) {
        manual_verb_help(stdout, verb);
    } else if (status == 0) {
        status = prepare(&invocation);
        if (status == 0) status = ranks_join(&invocation);
        if (status == 0) status = verb->run(&invocation);
        ranks_leave(&invocation, status);
    }
    free(invocation.operands);
    return status;
}
