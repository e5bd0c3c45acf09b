/*
 * The list of verbs. Each verb's options, manual and examples are in its own file,
 * command_<verb>.c. The parser, --help, the man pages and the completion scripts are made from
 * these tables, and the examples run as tests.
 */
#include "cli/command.h"

extern const struct verb verb_import, verb_synth, verb_split, verb_shard, verb_train, verb_tune,
    verb_describe, verb_evaluate, verb_recommend, verb_predict, verb_similar, verb_explain,
    verb_export, verb_serve, verb_privacy, verb_release, verb_audit, verb_ledger, verb_bench,
    verb_demo, verb_doctor, verb_completion, verb_help;

const struct verb *const verbs[] = {
    &verb_import,   &verb_synth,    &verb_split,     &verb_shard,      &verb_train,   &verb_tune,
    &verb_describe, &verb_evaluate, &verb_recommend, &verb_predict,    &verb_similar, &verb_explain,
    &verb_export,   &verb_serve,    &verb_privacy,   &verb_release,    &verb_audit,   &verb_ledger,
    &verb_bench,    &verb_demo,     &verb_doctor,    &verb_completion, &verb_help,    NULL,
};
