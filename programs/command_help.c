/*
 * dpmf help: the list of commands, or the help of one; with --json the option table itself, for
 * programs that build on dpmf.
 */
#include <stdio.h>

#include "manual.h"
#include "report.h"

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

int command_help_run(struct invocation *invocation) {
    bool has_verb = invocation->n_operands > 0;
    const struct verb *only = has_verb ? verb_find(invocation->operands[0]) : NULL;
    if (!command_has(invocation, OPTION_JSON)) {
        if (has_verb)
            manual_verb_help(stdout, only);
        else
            manual_program_help(stdout);
        return STATUS_DONE;
    }
    if (has_verb) return print_json(only);
    int status = STATUS_DONE;
    for (const struct verb *verb = verbs; verb->name != NULL && status == STATUS_DONE; verb++)
        status = print_json(verb);
    return status;
}
