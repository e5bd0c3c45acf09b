/*
 * The list of verbs, and what the manual says about the program as a whole. Each verb's options,
 * manual and examples are in its own file, command_<verb>.c. The parser, --help, the man pages and
 * the completion scripts are made from these tables, and the examples run as tests.
 */
#include "command.h"

#include <string.h>

#include "shared_options.h"

const struct verb *const verbs[] = {
    &verb_import,   &verb_synth,    &verb_split,     &verb_shard,      &verb_train,   &verb_tune,
    &verb_describe, &verb_evaluate, &verb_recommend, &verb_predict,    &verb_similar, &verb_explain,
    &verb_export,   &verb_serve,    &verb_privacy,   &verb_release,    &verb_audit,   &verb_ledger,
    &verb_bench,    &verb_demo,     &verb_doctor,    &verb_completion, &verb_help,    NULL,
};

const struct verb *verb_find(const char *name) {
    for (size_t i = 0; verbs[i] != NULL; i++)
        if (strcmp(verbs[i]->name, name) == 0) return verbs[i];
    return NULL;
}

const char *verb_word(const struct verb *verb) {
    const char *space = strchr(verb->name, ' ');
    return space != NULL ? space + 1 : verb->name;
}

const struct verb *verb_part_find(const struct verb *verb, const char *word) {
    for (size_t i = 0; verb->parts != NULL && verb->parts[i] != NULL; i++)
        if (strcmp(verb_word(verb->parts[i]), word) == 0) return verb->parts[i];
    return NULL;
}

const char *verb_choice(const struct verb *const *list, size_t i, const char **description) {
    if (list[i] == NULL) return NULL;
    if (description != NULL) *description = list[i]->summary;
    return verb_word(list[i]);
}

const struct verb *verb_at(size_t i) {
    for (size_t top = 0; verbs[top] != NULL; top++) {
        const struct verb *const *parts = verbs[top]->parts;
        if (i-- == 0) return verbs[top];
        for (size_t part = 0; parts != NULL && parts[part] != NULL; part++)
            if (i-- == 0) return parts[part];
    }
    return NULL;
}

const struct option_group *verb_group(const struct verb *verb, size_t i) {
    size_t n = 0;
    while (verb->groups[n].title != NULL) n++;
    if (i < n) return &verb->groups[i];
    if (i > n) return NULL;
    return verb->has_own_threads ? &every_verb_group_without_threads : &every_verb_group;
}

/* ---- the program as a whole ------------------------------------------------------------------ */

const char *const program_summary = "a private recommender engine";

const char *const program_paragraphs[] = {
    "dpmf takes ratings in any usual form, packs them into a compact and checked ratings store, "
    "and works on the store from there. Each command has its own help and manual page.",
    "Data goes to standard output, everything else to standard error. Every output file appears "
    "whole or not at all, and whatever holds ratings can be read by its owner only.",
    "Options may stand before or after the operands, as --name VALUE or --name=VALUE, and are "
    "never abbreviated. -- ends the options.",
    "SIGINT and SIGTERM end the work, remove what is unfinished, and then end the program as the "
    "signal would have.",
    NULL,
};

const struct environment_note environment_notes[] = {
    {"NO_COLOR", "when it is not empty, nothing is coloured"},
    {"DPMF_KERNELS", "the kernels to use unless --kernels says otherwise: a name that dpmf doctor "
                     "lists"},
    {"DPMF_CACHES",
     "the caches to work for, where the system reports them wrongly: L1, L2 and L3 as "
     "32K,512K,32M, with none for a level that is not there; or unknown"},
    {"DPMF_CORES, DPMF_RAM", "the number of cores and the memory, as 8GiB, in place of what the "
                             "system reports"},
    {"DPMF_MPI_PLUGIN", "the plugin for several processes, where it is not beside the program: "
                        "libdpmf-mpi.so"},
    {"TMPDIR", "where temporary files go that have no output to lie beside (default /tmp)"},
    {"XDG_STATE_HOME", "where the ledger is kept, in dpmf/ledger (default ~/.local/state)"},
    {"LC_ALL, LC_CTYPE, LANG", "histograms are drawn with # when these do not name UTF-8"},
    {0},
};

const struct status_note status_notes[] = {
#define EXIT_STATUS(name, number, meaning) {number, meaning},
    EXIT_STATUSES(EXIT_STATUS)
#undef EXIT_STATUS
        {0},
};
