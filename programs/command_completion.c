/*
 * dpmf completion: prints the completion script of a shell, as manual_completion.c makes it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error_show.h"
#include "manual.h"
#include "report.h"

static void print_script(FILE *out, const char *shell) {
    if (strcmp(shell, "bash") == 0)
        manual_bash_completion(out);
    else if (strcmp(shell, "zsh") == 0)
        manual_zsh_completion(out);
    else
        manual_fish_completion(out);
}

int command_completion_run(struct invocation *invocation) {
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
