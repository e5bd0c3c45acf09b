/*
 * A hand on the ledger for the shell: reserves, commits and returns, as the code that makes
 * releases does. Compiled and used by run.sh beside it; the command line has no way to reserve
 * without making a release.
 *
 *     spend_ledger LEDGER reserve POPULATION ID MU [BUDGET [GATE]]
 *         once the file GATE is there; BUDGET as people write it
 *     spend_ledger LEDGER commit ID
 *     spend_ledger LEDGER cycle POPULATION FIRST MU
 *         until it is killed: reserves an id, commits it, records a research run; prints each step
 *
 * Ends with 6 when the budget does not allow it, with 4 when the file cannot be used, and else with
 * 3 on an error.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../unit/ledger_entries.h"
#include "ledger/ledger.h"

static int report(int code, const struct dpmf_error *error) {
    if (code == 0) return 0;
    char text[3 * DPMF_ERROR_TEXT_MAX];
    dpmf_error_format(error, NULL, NULL, text, sizeof text);
    fprintf(stderr, "%s: %s\n", dpmf_error_name(code), text);
    if (code == DPMF_ERR_PRIVACY_BUDGET) return 6;
    return code / 100 == DPMF_ERR_IO_MISSING / 100 ? 4 : 3;
}

static void wait_for(const char *gate) {
    const struct timespec pause = {.tv_nsec = 1000000};
    while (access(gate, F_OK) != 0) nanosleep(&pause, NULL);
}

static struct ledger_entry entry_of(const char *population, const char *id, const char *mu) {
    struct ledger_entry entry = {.mu = strtod(mu, NULL), .delta = 1e-5, .epsilon = 1};
    snprintf(entry.population, sizeof entry.population, "%s", population);
    snprintf(entry.id, sizeof entry.id, "%s", id);
    return entry;
}

/* One write, so that a line is there or is not. */
static void say(const char *what, const char *id) {
    char line[64];
    int n = snprintf(line, sizeof line, "%s %s\n", what, id);
    if (write(STDOUT_FILENO, line, (size_t)n) != n) exit(4);
}

static int cycle(const char *path, const char *population, unsigned long first, const char *mu) {
    struct dpmf_error error = {0};
    for (unsigned long i = first;; i++) {
        char id[LEDGER_ID_TEXT];
        snprintf(id, sizeof id, "%032lx", i);
        struct ledger_entry entry = entry_of(population, id, mu);
        int code = ledger_reserve(path, NULL, true, &entry, NULL, &error);
        if (code != 0) return report(code, &error);
        say("reserved", id);
        code = entries_commit(path, id, NULL, &error);
        if (code != 0) return report(code, &error);
        say("committed", id);
        entry.state = LEDGER_RESEARCH;
        entry.id[0] = 'f'; /* an id of the run: no counter gets there */
        code = ledger_record(path, NULL, false, &entry, NULL, &error);
        if (code != 0) return report(code, &error);
        say("research", entry.id);
    }
}

int main(int argc, char **argv) {
    struct dpmf_error error = {0};
    if (argc >= 6 && strcmp(argv[2], "reserve") == 0) {
        struct ledger_entry entry = entry_of(argv[3], argv[4], argv[5]);
        struct dpmf_budget budget = {0};
        int code = 0;
        if (argc > 6 && strcmp(argv[6], "none") != 0)
            code = dpmf_budget_parse(argv[6], false, &budget, &error);
        if (argc > 7) wait_for(argv[7]);
        if (code == 0) code = ledger_reserve(argv[1], NULL, true, &entry, &budget, &error);
        return report(code, &error);
    }
    if (argc == 4 && strcmp(argv[2], "commit") == 0)
        return report(entries_commit(argv[1], argv[3], NULL, &error), &error);
    if (argc == 6 && strcmp(argv[2], "cycle") == 0)
        return cycle(argv[1], argv[3], strtoul(argv[4], NULL, 16), argv[5]);
    fprintf(stderr, "usage: spend_ledger LEDGER reserve|commit|cycle ...\n");
    return 2;
}
