/*
 * dpmf import: ratings of any format into one store. Fed by text files and standard input; feeds
 * every command that takes a store.
 */
#include "options.h"
#include "report.h"

int command_import_run(struct invocation *invocation) {
    struct dpmf_input_options input = options_input(invocation);
    struct dpmf_import_report report = {0};
    struct dpmf_error error = {0};
    const char *output = invocation->value[OPTION_OUTPUT];

    int status = options_need_file(invocation, OPTION_OUTPUT);
    if (status != 0) return status;
    int rc = dpmf_import(invocation->operands, invocation->n_operands, output, &input,
                         &invocation->run, &report, &error);
    terminal_progress_end(&invocation->terminal);
    if (rc != 0) return terminal_error_report(&error);
    return report_import_print(invocation, output, &report);
}
