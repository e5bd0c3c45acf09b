/*
 * dpmf privacy: its commands are verbs in their own right, each with options, help and manual page,
 * in the command_privacy_*.c files. command.c finds them by the word after `privacy`.
 */
#include "cli/command.h"

static int run(struct invocation *invocation);

extern const struct verb verb_privacy_account, verb_privacy_plan, verb_privacy_show,
    verb_privacy_sign, verb_privacy_verify;

static const struct verb *const parts[] = {
    &verb_privacy_account, &verb_privacy_plan,   &verb_privacy_show,
    &verb_privacy_sign,    &verb_privacy_verify, NULL,
};

static const char *part_choices(size_t i, const char **description) {
    return verb_choice(parts, i, description);
}

const struct verb verb_privacy = {
    .name = "privacy",
    .summary = "count what private releases cost, and plan and check them",
    .synopsis = "account|plan|show|verify [options]",
    .paragraphs =
        {
            "What dpmf promises a person is one number, epsilon, at a chance delta: with or "
            "without that person's ratings, what is published is almost the same. The commands "
            "below compute it, plan a release before any data is touched, and examine one that was "
            "made. dpmf privacy COMMAND --help explains each.",
        },
    .operands = {{VALUE_CHOICE, "COMMAND", "account", NULL, part_choices}, 1, 1},
    .examples = {{"How much noise epsilon 1 takes", "dpmf privacy account --epsilon 1", NULL}},
    .run = run,
    .parts = parts,
};

/* Reached only when options stand before the command. */
static int run(struct invocation *invocation) {
    char hint[128];
    snprintf(hint, sizeof hint, "for example: dpmf privacy %s --help", invocation->operands[0]);
    return terminal_error_print(STATUS_USAGE, hint, "privacy needs its command before any option");
}
