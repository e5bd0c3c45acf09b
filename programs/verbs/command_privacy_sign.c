/*
 * dpmf privacy sign: a detached signature beside a release, RELEASE.sig, by the key of whoever
 * answers for it. What does not hold is not signed. Fed by a release; its file feeds `dpmf privacy
 * verify --key`, and ssh-keygen itself.
 */
#include <stdio.h>
#include <unistd.h>

#include "cli/options.h"
#include "cli/report.h"
#include "cli/shared_options.h"
#include "dpmf_text.h"
#include "shared/privacy_claim.h"
#include "shared/ssh_signature.h"

/* ---- options and manual ---------------------------------------------------------------------- */

static int run(struct invocation *invocation);

/* One option, a few lines: the formatter would give each of its fields a line of its own. */
/* clang-format off */
static const struct option own_options[] = {
    {.id = OPTION_KEY, .required = true, .name = "key",
     .value = {VALUE_FILE, "KEY", "id_ed25519", NULL, NULL},
     .help = "the key to sign with: an OpenSSH private key, or a public one whose private key the "
             "agent holds"},
    ACCEPT_OPTION,
    {.id = OPTION_REPLACE, .name = "replace", .value = {.kind = VALUE_NONE},
     .help = "replace RELEASE.sig when it exists already"},
    {0},
};
/* clang-format on */

const struct verb verb_privacy_sign = {
    .name = "privacy sign",
    .summary = "sign a release with an OpenSSH key",
    .synopsis = "RELEASE --key KEY [--accept KIND] [--replace] [--json]",
    .paragraphs =
        {
            "Writes RELEASE.sig, a detached signature over the whole file, its statement and the "
            "curator's declaration included, for the namespace dpmf-release. What does not pass "
            "dpmf privacy verify, for whatever reason, is not signed; --accept means the same in "
            "both.",
            "ssh-keygen -Y sign does the work, so the keys, agents, passphrases and hardware keys "
            "that people have can be used. Whoever has the public key checks it with dpmf privacy "
            "verify --key, or with ssh-keygen -Y verify alone.",
            "With --json it prints one object with file, signature and namespace.",
        },
    .groups = {{"Options", own_options}},
    .operands = {{VALUE_FILE, "RELEASE", "release.safetensors", ".safetensors", NULL}, 1, 1},
    .exit_note = "1 when the release does not hold or ssh-keygen did not sign, and 4 when there "
                 "is no ssh-keygen, or a signature already.",
    .examples = {{"Sign what was made", "dpmf privacy sign release.safetensors --key curator",
                  SMALL_RELEASE "; ssh-keygen -q -t ed25519 -N '' -f curator"}},
    .run = run,
};

/* ---- what it does ---------------------------------------------------------------------------- */

static int run(struct invocation *invocation) {
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
