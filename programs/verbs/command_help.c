/*
 * dpmf help: the list of commands, or the help of one; with --json the option table itself, for
 * programs that build on dpmf.
 */
#include <stdio.h>

#include "cli/manual.h"
#include "cli/report.h"
#include "cli/shared_options.h"
#include "dpmf_text.h"

/* ---- options and manual ---------------------------------------------------------------------- */

static int run(struct invocation *invocation);

static const char *verb_choices(size_t i, const char **description) {
    return verb_choice(verbs, i, description);
}

const struct verb verb_help = {
    .name = "help",
    .summary = "explain dpmf or one of its commands",
    .synopsis = "[COMMAND]",
    .paragraphs = {"Prints the list of commands, or the help of one of them; dpmf COMMAND "
                   "--help does the same."},
    .operands = {{VALUE_CHOICE, "COMMAND", "import", NULL, verb_choices}, 0, 2},
    .checks_operands = true,
    .examples = {{"Explain import", "dpmf help import", NULL}},
    .run = run,
};

/* ---- what it does ---------------------------------------------------------------------------- */

static void add_option(struct dpmf_json *json, const struct option *option) {
    char letter[2] = {option->letter, '\0'};
    dpmf_json_begin_object(json, NULL);
    dpmf_json_string(json, "name", option->name);
    if (option->letter != 0) dpmf_json_string(json, "letter", letter);
    if (option->value.kind != VALUE_NONE) dpmf_json_string(json, "argument", option->value.name);
    if (option->value.kind == VALUE_CHOICE) {
        const char *choice;
        dpmf_json_begin_array(json, "choices");
        for (size_t i = 0; (choice = option->value.choices(i, NULL)) != NULL; i++)
            dpmf_json_string(json, NULL, choice);
        dpmf_json_end_array(json);
    }
    dpmf_json_string(json, "help", option->help);
    dpmf_json_end_object(json);
}

static int print_json(const struct verb *verb) {
    const struct option_group *group;
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_string(json, "command", verb->name);
    dpmf_json_string(json, "summary", verb->summary);
    dpmf_json_string(json, "synopsis", verb->synopsis);
    dpmf_json_begin_array(json, "options");
    for (size_t i = 0; (group = verb_group(verb, i)) != NULL; i++)
        for (const struct option *option = group->options; option->name != NULL; option++)
            add_option(json, option);
    dpmf_json_end_array(json);
    dpmf_json_end_object(json);
    return report_json_print(json);
}

/* The verb to explain, and of its parts the one that the second word names. */
static int find_verb(const struct invocation *invocation, const struct verb **verb) {
    *verb = verb_find(invocation->operands[0]);
    if (invocation->n_operands < 2) return STATUS_DONE;
    const struct verb *part = verb_part_find(*verb, invocation->operands[1]);
    if (part == NULL) {
        char hint[128];
        snprintf(hint, sizeof hint, "dpmf help %s lists them", (*verb)->name);
        return terminal_error_print(STATUS_USAGE, hint, "%s has no command \"%.200s\"",
                                    (*verb)->name, invocation->operands[1]);
    }
    *verb = part;
    return STATUS_DONE;
}

static int run(struct invocation *invocation) {
    bool has_verb = invocation->n_operands > 0;
    const struct verb *only = NULL;
    int status = has_verb ? find_verb(invocation, &only) : STATUS_DONE;
    if (status != STATUS_DONE) return status;
    if (!command_has(invocation, OPTION_JSON)) {
        if (has_verb)
            manual_verb_help(stdout, only);
        else
            manual_program_help(stdout);
        return STATUS_DONE;
    }
    if (has_verb) return print_json(only);
    const struct verb *verb;
    for (size_t i = 0; status == STATUS_DONE && (verb = verb_at(i)) != NULL; i++)
        status = print_json(verb);
    return status;
}
