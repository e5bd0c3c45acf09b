/*
 * dpmf release parent: the release that an extended one was made of, as it was published. Fed by
 * an extended release; its file is for whoever has the signature.
 */
#include "cli/options.h"
#include "cli/report.h"
#include "cli/shared_options.h"
#include "dpmf_text.h"

/* ---- options and manual ---------------------------------------------------------------------- */

static int run(struct invocation *invocation);

/* One option, a few lines: the formatter would give each of its fields a line of its own. */
/* clang-format off */
static const struct option own_options[] = {
    {.id = OPTION_OUTPUT, .letter = 'o', .required = true, .name = "output",
     .value = {VALUE_OUTPUT, "OUT", "parent.safetensors", ".safetensors", NULL},
     .help = "the release to write"},
    REPLACE_OPTION,
    {0},
};
/* clang-format on */

const struct verb verb_release_parent = {
    .name = "release parent",
    .summary = "recreate the release that an extended one was made from",
    .synopsis = "RELEASE -o OUT [--replace] [--json]",
    .paragraphs =
        {
            "Removes the items that dpmf release extend added, and writes the release as it was "
            "before, byte for byte. Whoever has its detached signature can check it as usual: put "
            "the signature beside OUT, as OUT.sig, and run dpmf privacy verify --key.",
        },
    .groups = {{"Options", own_options}},
    .operands = {{VALUE_FILE, "RELEASE", "extended.safetensors", ".safetensors", NULL}, 1, 1},
    .exit_note = "1 when RELEASE does not hold.",
    .examples = {{"The parent of an extended release",
                  "dpmf release parent extended.safetensors -o parent.safetensors",
                  SMALL_RELEASE "; printf 'item\\nnew1\\nnew2\\n' > new.csv; " SOME_FEATURES
                                "; dpmf release extend -q release.safetensors --catalogue new.csv "
                                "--item-features features.csv -o extended.safetensors"}},
    .run = run,
};

/* ---- what it does ---------------------------------------------------------------------------- */

static int run(struct invocation *invocation) {
    struct dpmf_error error = {0};
    const char *output = invocation->value[OPTION_OUTPUT];
    int rc = dpmf_release_parent(invocation->operands[0], output, &invocation->run, &error);
    if (rc != 0) return report_error_print(invocation, &error);
    if (!command_has(invocation, OPTION_JSON)) return STATUS_DONE;
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_string(json, "event", "done");
    dpmf_json_string(json, "output", output);
    dpmf_json_end_object(json);
    return report_json_print(json);
}
