/*
 * dpmf privacy show and dpmf privacy verify: what a release promises, for people or as the JSON in the file, and
 * whether the file bears it out. Fed by a release alone, and by its signature where one is wanted.
 */
#include <inttypes.h>
#include <stdio.h>

#include "report.h"
#include "ssh_signature.h"

int command_privacy_show_run(struct invocation *invocation) {
    struct dpmf_statement statement;
    struct dpmf_error error = {0};
    if (dpmf_release_statement(invocation->operands[0], &statement, &error) != 0)
        return report_error_print(invocation, &error);
    if (command_has(invocation, OPTION_JSON))
        puts(statement.json);
    else
        fputs(statement.text, stdout);
    dpmf_statement_free(&statement);
    return report_stdout_check(STATUS_DONE);
}

static int print_json(const char *path, const struct dpmf_verification *found,
                      const struct dpmf_error *error, const char *signature) {
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_string(json, "file", path);
    dpmf_json_bool(json, "verified", error->code == 0);
    dpmf_json_begin_array(json, "holds");
    for (size_t i = 0; i < found->n; i++) dpmf_json_string(json, NULL, found->check[i]);
    dpmf_json_end_array(json);
    if (error->code != 0) dpmf_json_string(json, "fault", error->message);
    dpmf_json_bool(json, "catalogue_from_ratings", found->catalogue_from_ratings);
    dpmf_json_bool(json, "conditional", found->is_conditional);
    if (signature[0] != '\0')
        dpmf_json_string(json, "signature", signature);
    else
        dpmf_json_null(json, "signature");
    dpmf_json_end_object(json);
    return report_json_print(json);
}

static void print_page(const char *path, const struct dpmf_verification *found,
                       const struct dpmf_error *error) {
    terminal_text_print(stdout, path);
    puts(error->code == 0 ? ": the release is what its statement says" : ": NOT VERIFIED");
    putchar('\n');
    for (size_t i = 0; i < found->n; i++) printf("  holds  %s\n", found->check[i]);
    if (error->code != 0) {
        printf("  FAILS  ");
        terminal_text_print(stdout, error->message);
        puts("\n\nWhat comes after that was not checked.");
        return;
    }
    if (found->catalogue_from_ratings)
        puts("  BUT    its list of items was taken from the ratings: that list is not covered");
    if (found->is_conditional)
        puts(
            "  BUT    what it promises is conditional on the convergence of a sampler: not proven");
    printf("\nThis shows neither who made the file nor that %s: only that it is whole and adds "
           "up.\n",
           found->is_conditional ? "anything was drawn" : "noise was added");
}

/* Who signed comes first: what a stranger made need not be looked at. */
static int check_signature(const struct invocation *invocation, char said[SSH_SIGNATURE_SAID_MAX]) {
    const char *path = invocation->operands[0], *key = invocation->value[OPTION_KEY];
    const char *identity = invocation->value[OPTION_IDENTITY];
    char signature[4096];
    said[0] = '\0';
    if (key == NULL && identity != NULL)
        return terminal_error_print(STATUS_USAGE, "add --key ALLOWED_SIGNERS, or leave it out",
                                    "--identity goes with --key");
    if (key == NULL) return STATUS_DONE;
    int n = snprintf(signature, sizeof signature, "%s.sig", path);
    if (n < 0 || (size_t)n >= sizeof signature)
        return terminal_error_print(STATUS_IO, NULL, "%.200s: the name is too long", path);
    return ssh_signature_check(path, signature, key, identity, said);
}

int command_privacy_verify_run(struct invocation *invocation) {
    const char *path = invocation->operands[0];
    char signature[SSH_SIGNATURE_SAID_MAX];
    struct dpmf_verification found;
    struct dpmf_error error = {0};
    int status = check_signature(invocation, signature);
    if (status != STATUS_DONE) return status;
    int rc = dpmf_release_verify(path, &found, &error);
    if (rc != 0 && rc != DPMF_ERR_PRIVACY_NOT_VERIFIED)
        return report_error_print(invocation, &error);
    if (command_has(invocation, OPTION_JSON))
        status = print_json(path, &found, &error, signature);
    else
        print_page(path, &found, &error);
    if (signature[0] != '\0' && !command_has(invocation, OPTION_JSON)) {
        fputs("\nIt is signed. ssh-keygen says: ", stdout);
        terminal_text_print(stdout, signature);
        putchar('\n');
    }
    if (status == STATUS_DONE) status = report_stdout_check(STATUS_DONE);
    if (status != STATUS_DONE) return status;
    return rc != 0 ? report_error_print(invocation, &error) : STATUS_DONE;
}
