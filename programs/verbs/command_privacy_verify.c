/*
 * dpmf privacy verify: whether a release bears out its statement. Fed by a release alone, and by
 * its signature where one is wanted.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cli/error_show.h"
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
    ACCEPT_OPTION,
    {.id = OPTION_KEY, .name = "key", .value = {VALUE_FILE, "FILE", "curator.pub", NULL, NULL},
     .help = "who must have signed: a public key, or a file of allowed signers as for ssh-keygen"},
    {.id = OPTION_IDENTITY, .name = "identity",
     .value = {VALUE_TEXT, "WHO", "curator@example.org", NULL, NULL},
     .help = "which of the allowed signers must have signed"},
    {0},
};
/* clang-format on */

const struct verb verb_privacy_verify = {
    .name = "privacy verify",
    .summary = "check a release against its privacy statement",
    .synopsis = "RELEASE [--accept KIND] [--key FILE [--identity WHO]] [--json]",
    .paragraphs =
        {
            "Recomputes from the file alone everything that follows from it: that it holds "
            "what "
            "a release holds and nothing else, that its digest fits, that its statement is in "
            "the words of dpmf, that every number published had a draw of noise of its own, "
            "that epsilon and every other figure follow from the sums listed, and that those "
            "can have made the items and factors that are there. A release stamped NOT PRIVATE "
            "does not pass. One of the mechanism posterior lists no sums: its bounds are "
            "checked instead.",
            "It says what kind of release this is: proven; conditional, when what it promises "
            "holds only if a sampler had converged; partial, when it is proven given something "
            "that dpmf cannot check, such as a catalogue made from the ratings or a query of a "
            "database, or a delta or an epsilon that was accepted by a switch; not private. Only "
            "what is proven passes, unless --accept names another kind. What the release assumes "
            "is listed either way.",
            "It proves neither who made the file nor that noise was added: whoever makes a false "
            "release with sound arithmetic passes. A detached signature of someone you trust is "
            "for that: with --key, RELEASE.sig must be a signature of the file by that public key "
            "or, with a file of allowed signers, by the one that --identity names. ssh-keygen -Y "
            "verify checks that before anything else.",
            "With --json it prints one object with verified, holds, a list of what was found "
            "to hold, fault, the first thing that was not, kind, and assumptions, a list of "
            "names: convergence, catalogue, query, delta, epsilon.",
        },
    .groups = {{"Options", own_options}},
    .operands = {{VALUE_FILE, "RELEASE", "release.safetensors", ".safetensors", NULL}, 1, 1},
    .exit_note =
        "1 when something does not fit or the release is not proven, and 3 when the file is not a "
        "release at all.",
    .examples = {{"Before relying on a release", "dpmf privacy verify release.safetensors",
                  SMALL_RELEASE},
                 {"That its curator has signed it",
                  "dpmf privacy verify release.safetensors --key curator.pub",
                  SMALL_RELEASE "; ssh-keygen -q -t ed25519 -N '' -f curator; "
                                "dpmf privacy sign -q release.safetensors --key curator"}},
    .run = run,
};

/* ---- what it does ---------------------------------------------------------------------------- */

static int print_json(const char *path, const struct dpmf_verification *found,
                      const struct dpmf_error *error, const char *signature) {
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_string(json, "file", path);
    dpmf_json_bool(json, "verified", error->code == 0);
    dpmf_json_begin_array(json, "holds");
    for (size_t i = 0; i < found->n; i++) dpmf_json_string(json, NULL, found->check[i]);
    dpmf_json_end_array(json);
    if (error->code != 0) {
        char fault[2 * DPMF_ERROR_TEXT_MAX];
        error_show_text(error->message, fault, sizeof fault);
        dpmf_json_string(json, "fault", fault);
    }
    privacy_claim_json(json, "kind", found->claim, found->assumptions);
    dpmf_json_bool(json, "catalogue_from_ratings", found->assumptions & DPMF_ASSUMES_CATALOGUE);
    dpmf_json_bool(json, "conditional", found->claim == DPMF_CLAIM_CONDITIONAL);
    if (signature[0] != '\0')
        dpmf_json_string(json, "signature", signature);
    else
        dpmf_json_null(json, "signature");
    dpmf_json_end_object(json);
    return report_json_print(json);
}

/* What the release rests on beside the proof: all of it, accepted or not. */
static void print_assumptions(unsigned assumptions) {
    const char *sentence = NULL;
    for (unsigned bit = 1; bit <= DPMF_ASSUMES_LAST; bit <<= 1)
        if (assumptions & bit && dpmf_assumption_name(bit, &sentence))
            printf("  BUT    it assumes %s\n", sentence);
}

/* Whether everything holds that can be computed; the claim is set only then. */
static bool adds_up(const struct dpmf_verification *found) {
    return found->claim != DPMF_CLAIM_NOT_PRIVATE;
}

static void print_page(const char *path, const struct dpmf_verification *found,
                       const struct dpmf_error *error) {
    terminal_text_print(stdout, path);
    if (adds_up(found))
        printf(": the release is what its statement says: %s\n", privacy_claim_label(found->claim));
    else
        puts(": NOT VERIFIED");
    putchar('\n');
    for (size_t i = 0; i < found->n; i++) printf("  holds  %s\n", found->check[i]);
    if (!adds_up(found)) {
        char fault[2 * DPMF_ERROR_TEXT_MAX];
        error_show_text(error->message, fault, sizeof fault);
        printf("  FAILS  ");
        terminal_text_print(stdout, fault);
        puts("\n\nWhat comes after that was not checked.");
        return;
    }
    print_assumptions(found->assumptions);
    printf("\nThis shows neither who made the file nor that %s: only that it is whole and adds "
           "up.\n",
           found->claim == DPMF_CLAIM_CONDITIONAL ? "anything was drawn" : "noise was added");
}

/* Who signed comes first: what a stranger made need not be looked at. */
static int check_signature(const struct invocation *invocation, struct ssh_copy *copy,
                           char said[SSH_SIGNATURE_SAID_MAX]) {
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
    int status = ssh_copy_make(path, copy);
    return status != STATUS_DONE ? status
                                 : ssh_signature_check(path, copy, signature, key, identity, said);
}

/* Nothing else is checked in what someone else signed, or nobody. */
static void print_refusal(const struct invocation *invocation, const char *fault) {
    const struct dpmf_verification nothing = {.claim = DPMF_CLAIM_NOT_PRIVATE};
    struct dpmf_error error = {.code = DPMF_ERR_PRIVACY_NOT_VERIFIED};
    snprintf(error.message, sizeof error.message, "%s", fault);
    if (command_has(invocation, OPTION_JSON))
        print_json(invocation->operands[0], &nothing, &error, "");
}

static int run(struct invocation *invocation) {
    const char *path = invocation->operands[0];
    char signature[SSH_SIGNATURE_SAID_MAX];
    struct dpmf_verification found;
    struct dpmf_error error = {0};
    struct ssh_copy copy = {.fd = -1};
    int status = check_signature(invocation, &copy, signature), rc = 0;
    if (status == STATUS_NO) print_refusal(invocation, signature);
    if (status == STATUS_DONE)
        rc = privacy_claim_verify(invocation, copy.fd >= 0 ? copy.path : path, &found, &error);
    ssh_copy_drop(&copy);
    if (status != STATUS_DONE) return status;
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
