/*
 * What the manual says about the program as a whole: paragraphs, environment, exit statuses.
 */
#include "cli/command.h"

const char *const program_summary = "a private recommender engine";

const char *const program_paragraphs[] = {
    "dpmf takes ratings in any common format, packs them into a compact and checked ratings store, "
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
     "the caches to work for, where the system reports them wrongly: L1, L2 and L3 such as "
     "32K,512K,32M, with none for a level that does not exist; or unknown"},
    {"DPMF_CORES, DPMF_RAM, DPMF_PAGE",
     "the number of cores, the memory, such as 8GiB, and the size of a page, such as 64K, instead "
     "of what the system reports; a page can only be larger than it is"},
    {"DPMF_MPI_PLUGIN", "the plugin for several processes, where it is not beside the program: "
                        "libdpmf-mpi.so"},
    {"TMPDIR",
     "where temporary files go when there is no output to put them beside (default /tmp)"},
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
