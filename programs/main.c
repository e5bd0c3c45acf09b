/*
 * The program: finds the verb, parses its options, runs it, and ends with the right status. All the
 * work is in the command_*.c files, one a verb, each with its options and its manual.
 */
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "cli/command.h"
#include "cli/manual.h"
#include "cli/ranks.h"
#include "cli/report.h"
#include "cli/signals.h"
#include "cli/text.h"
#include "dpmf_text.h"

/* A standard stream that our parent closed would lend its number to the first file we open, and a
 * message would land in a store. The replacement fails on use, as the closed one would. */
static void guard_standard_streams(void) {
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/* glibc gives blocks of this size and up back to the machine as soon as they are freed. By default
 * it raises the size to that of the largest block freed so far: the threads' arenas then keep what
 * one phase of a run took while the next one takes its own, and --memory is exceeded. */
static void return_freed_memory(void) {
#ifdef __GLIBC__
    (void)mallopt(M_MMAP_THRESHOLD, 128 << 10);
#endif
}

static int refuse_word(const char *word) {
    char hint[256] = "dpmf help lists the commands";
    struct dpmf_nearest nearest = {.wanted = word};
    if (word[0] == '-') {
        dpmf_nearest_offer(&nearest, "--help");
        dpmf_nearest_offer(&nearest, "--version");
        if (nearest.word != NULL)
            snprintf(hint, sizeof hint, "did you mean %s?", nearest.word);
        else
            snprintf(hint, sizeof hint, "options follow the command: dpmf COMMAND %.100s", word);
        return terminal_error_print(STATUS_USAGE, hint,
                                    "unknown option \"%.200s\" before a command", word);
    }
    for (size_t i = 0; verbs[i] != NULL; i++) dpmf_nearest_offer(&nearest, verbs[i]->name);
    dpmf_nearest_offer(&nearest, "version");
    if (nearest.word != NULL) snprintf(hint, sizeof hint, "did you mean %s?", nearest.word);
    return terminal_error_print(STATUS_USAGE, hint, "unknown command \"%.200s\"", word);
}

static int dispatch(int argc, char **argv) {
    if (argc < 2)
        return terminal_error_print(STATUS_USAGE, "dpmf help lists them", "a command is missing");
    const char *word = argv[1];
    if (strcmp(word, "--version") == 0 || (strcmp(word, "version") == 0 && argc == 2)) {
        printf("dpmf %s\n", dpmf_version());
        return STATUS_DONE;
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        manual_program_help(stdout);
        return STATUS_DONE;
    }
    const struct verb *verb = verb_find(word);
    return verb != NULL ? command_run(verb, argc - 2, argv + 2) : refuse_word(word);
}

int main(int argc, char **argv) {
    guard_standard_streams();
    return_freed_memory();
    ranks_silence();
    signals_install();
    /* For the histogram's charset; numbers stay in the C locale. No thread is there yet. */
    setlocale(LC_CTYPE, ""); /* NOLINT(concurrency-mt-unsafe) */

    int status = report_stdout_check(dispatch(argc, argv));
    ranks_tell_alone(status);
    signals_raise_pending();
    return status;
}
