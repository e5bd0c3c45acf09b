/*
 * dpmf privacy show: what a release promises, for people or as the JSON in the file. Fed by a
 * release alone.
 */
#include <stdio.h>

#include "cli/report.h"
#include "cli/shared_options.h"

/* ---- options and manual ---------------------------------------------------------------------- */

static int run(struct invocation *invocation);

/* One option, a few lines: the formatter would give each of its fields a line of its own. */
/* clang-format off */
static const struct option own_options[] = {
    {.id = OPTION_REGISTRY, .name = "registry", .value = {.kind = VALUE_NONE},
     .help = "print an entry for the public registry of differential privacy deployments, in YAML"},
    {0},
};
/* clang-format on */

const struct verb verb_privacy_show = {
    .name = "privacy show",
    .summary = "print the privacy statement of a release",
    .synopsis = "RELEASE [--registry] [--json]",
    .paragraphs =
        {
            "Prints what a release promises to the people whose ratings it was made from: to whom, "
            "in which numbers and what they mean, what is not promised, what is taken as public, "
            "and for specialists each noisy sum that was published. A release that is damaged, or "
            "whose figures do not follow from the sums it lists, is refused. For a release of the "
            "mechanism posterior it prints what would be promised, and on what condition.",
            "With --json it prints the statement itself, as it stands in the file (one that an "
            "older "
            "version wrote, in the words of this one): one object "
            "with kind, assumptions, unit, adjacency, mechanism, epsilon, delta, mu, "
            "accountant, releases, "
            "group, range, items and the rest.",
            "What the curator declared with dpmf train --about is printed separately, each line "
            "behind a |, and marked: dpmf has verified none of it.",
            "With --registry it prints an entry for the public registry of deployments "
            "(opendp/deployments-registry-data), in its YAML. What is declared is marked as "
            "such; what nobody declared is left for you to fill in. A release that is NOT PRIVATE "
            "has no entry.",
        },
    .groups = {{"Options", own_options}},
    .operands = {{VALUE_FILE, "RELEASE", "release.safetensors", ".safetensors", NULL}, 1, 1},
    .exit_note = "1 when the statement does not hold; 6 when --registry is refused.",
    .examples =
        {
            {"What a release promises", "dpmf privacy show release.safetensors", SMALL_RELEASE},
            {"Its epsilon, for a script",
             "dpmf privacy show release.safetensors --json | grep -o '\"epsilon\":[0-9.]*' | "
             "head -n 1",
             SMALL_RELEASE},
        },
    .run = run,
};

/* ---- what it does ---------------------------------------------------------------------------- */

/* What was made for tests or research is no deployment. */
static int refuse_entry(const char *path) {
    return terminal_error_print(
        STATUS_REFUSED, "make a release without --insecure-noise-seed and --research",
        "%s: it is stamped NOT PRIVATE: there is nothing to register", path);
}

static int run(struct invocation *invocation) {
    struct dpmf_statement statement;
    struct dpmf_error error = {0};
    if (dpmf_release_statement(invocation->operands[0], &statement, &error) != 0)
        return report_error_print(invocation, &error);
    if (command_has(invocation, OPTION_REGISTRY) && statement.registry == NULL) {
        dpmf_statement_free(&statement);
        return refuse_entry(invocation->operands[0]);
    }
    if (command_has(invocation, OPTION_REGISTRY))
        fputs(statement.registry, stdout);
    else if (command_has(invocation, OPTION_JSON))
        puts(statement.json);
    else
        fputs(statement.text, stdout);
    dpmf_statement_free(&statement);
    return report_stdout_check(STATUS_DONE);
}
