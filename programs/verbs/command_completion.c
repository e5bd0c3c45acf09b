/*
 * dpmf completion: prints the completion script of a shell, as manual_completion.c makes it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/error_show.h"
#include "cli/manual.h"
#include "cli/report.h"
#include "cli/shared_options.h"
#include "dpmf_text.h"

/* ---- options and manual ---------------------------------------------------------------------- */

static int run(struct invocation *invocation);

static const char *shell_choices(size_t i, const char **description) {
    static const char *const names[] = {"bash", "zsh", "fish", NULL};
    return choice_listed(names, i, description);
}

const struct verb verb_completion = {
    .name = "completion",
    .summary = "print a completion script for a shell",
    .synopsis = "bash|zsh|fish",
    .paragraphs =
        {
            "Prints a script that teaches the shell to complete the commands, options and "
            "files of dpmf.",
        },
    .operands = {{VALUE_CHOICE, "SHELL", "bash", NULL, shell_choices}, 1, 1},
    .examples =
        {
            {"Complete in this bash from now on", "eval \"$(dpmf completion bash)\"", NULL},
            {"Keep it for fish", "dpmf completion fish >~/.config/fish/completions/dpmf.fish",
             "mkdir -p ~/.config/fish/completions"},
        },
    .run = run,
};

/* ---- what it does ---------------------------------------------------------------------------- */

static void print_script(FILE *out, const char *shell) {
    if (strcmp(shell, "bash") == 0)
        manual_bash_completion(out);
    else if (strcmp(shell, "zsh") == 0)
        manual_zsh_completion(out);
    else
        manual_fish_completion(out);
}

static int run(struct invocation *invocation) {
    const char *shell = invocation->operands[0];
    if (!command_has(invocation, OPTION_JSON)) {
        print_script(stdout, shell);
        return STATUS_DONE;
    }
    char *script = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&script, &length);
    if (memory == NULL)
        return terminal_error_print(error_exit_status(DPMF_ERR_BASE_NO_MEMORY), NULL, "%s",
                                    dpmf_error_sentence(DPMF_ERR_BASE_NO_MEMORY));
    print_script(memory, shell);
    fclose(memory);
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_string(json, "shell", shell);
    dpmf_json_bytes(json, "script", script, length);
    dpmf_json_end_object(json);
    free(script);
    return report_json_print(json);
}
