/*
 * dpmf privacy sign: a detached signature beside a release, RELEASE.sig, by the key of whoever answers for it. What does not hold is
 * not signed. Fed by a release; its file feeds `dpmf privacy verify --key`, and ssh-keygen itself.
 */
#include <stdio.h>
#include <unistd.h>

#include "options.h"
#include "privacy_claim.h"
#include "report.h"
#include "ssh_signature.h"

int command_privacy_sign_run(struct invocation *invocation) {
    const char *path = invocation->operands[0];
    struct dpmf_verification found;
    struct dpmf_error error = {0};
    struct ssh_copy copy;
    char signature[4096];
    int n = snprintf(signature, sizeof signature, "%s.sig", path);
    if (n < 0 || (size_t)n >= sizeof signature)
        return terminal_error_print(STATUS_IO, NULL, "%.200s: the name is too long", path);
    int status = ssh_copy_make(path, &copy);
    if (status != STATUS_DONE) return status;
    if (privacy_claim_verify(invocation, copy.path, &found, &error) != 0)
        status = report_error_print(invocation, &error);
    else if (!command_has(invocation, OPTION_REPLACE) && access(signature, F_OK) == 0)
        status = terminal_error_print(STATUS_IO, "it may be someone else's: add --replace if not",
                                      "%s: there is a signature already", signature);
    else
        status = ssh_signature_make(&copy, invocation->value[OPTION_KEY], signature);
    ssh_copy_drop(&copy);
    if (status != STATUS_DONE) return status;
    terminal_note_print(&invocation->terminal, "signed: %s", signature);
    if (!command_has(invocation, OPTION_JSON)) return STATUS_DONE;
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_string(json, "file", path);
    dpmf_json_string(json, "signature", signature);
    dpmf_json_string(json, "namespace", SSH_SIGNATURE_NAMESPACE);
    dpmf_json_end_object(json);
    return report_json_print(json);
}
