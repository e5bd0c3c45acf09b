/*
 * dpmf release: what is done with releases that exist. Its commands are verbs in their own right,
 * each with options, help and manual page, in the command_release_*.c files.
 */
#include "cli/command.h"

static int run(struct invocation *invocation);

extern const struct verb verb_release_extend, verb_release_parent;

static const struct verb *const parts[] = {&verb_release_extend, &verb_release_parent, NULL};

static const char *part_choices(size_t i, const char **description) {
    return verb_choice(parts, i, description);
}

const struct verb verb_release = {
    .name = "release",
    .summary = "add new items to a release, and remove them again",
    .synopsis = "extend|parent [options]",
    .paragraphs =
        {
            "A release is made once, and items appear later. The commands below add items to a "
            "release by what is publicly known about them, at no cost to anyone's privacy, and "
            "recreate the release as it was before. dpmf release COMMAND --help explains each.",
        },
    .operands = {{VALUE_CHOICE, "COMMAND", "extend", NULL, part_choices}, 1, 1},
    .examples = {{"What it takes to add items", "dpmf release extend --help", NULL}},
    .run = run,
    .parts = parts,
};

/* Reached only when options stand before the command. */
static int run(struct invocation *invocation) {
    char hint[128];
    snprintf(hint, sizeof hint, "for example: dpmf release %s --help", invocation->operands[0]);
    return terminal_error_print(STATUS_USAGE, hint, "release needs its command before any option");
}
