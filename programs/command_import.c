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

    int rc = dpmf_import(invocation->operands, invocation->n_operands, output, &input,
                         &invocation->run, &report, &error);
    if (rc != 0) return report_error_print(invocation, &error);
    return report_import_print(invocation, output, &report);
}
