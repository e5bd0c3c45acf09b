/*
 * What `dpmf train` does before it learns: options that need another are checked, outputs tried,
 * and the ratings opened. Feeds command_train.c and command_train_continue.c.
 */
#include "train/command_train_begin.h"

#include "cli/options.h"
#include "shared/model_use.h"

int train_check_companions(const struct invocation *invocation) {
    if (command_has(invocation, OPTION_SNAPSHOT_EVERY) && !command_has(invocation, OPTION_SNAPSHOT))
        return terminal_error_print(STATUS_USAGE, "for example: --snapshot run.safetensors",
                                    "--snapshot-every needs --snapshot, the file to write");
    if (command_has(invocation, OPTION_PATIENCE) && !command_has(invocation, OPTION_VALID))
        return terminal_error_print(STATUS_USAGE, "for example: --valid valid.dpr",
                                    "--patience needs --valid, the ratings to measure on");
    return STATUS_DONE;
}

/* Before anything is read: hours later, each of them would fail. The first rank writes them. */
static int check_outputs(const struct invocation *invocation, struct dpmf_error *error) {
    static const struct {
        enum option_id id;
        enum dpmf_file_kind kind;
    } outputs[] = {{OPTION_OUTPUT, DPMF_FILE_CHECKPOINT},
                   {OPTION_SNAPSHOT, DPMF_FILE_CHECKPOINT},
                   {OPTION_TRACE, DPMF_FILE_PLOT}};
    int rc = 0;
    if (dpmf_cluster_rank(invocation->cluster) != 0) return 0;
    for (size_t i = 0; rc == 0 && i < COUNT_OF(outputs); i++)
        if (command_has(invocation, outputs[i].id))
            rc = dpmf_output_check_kind(invocation->value[outputs[i].id], outputs[i].kind,
                                        &invocation->run, error);
    return rc;
}

static int open_ratings(struct invocation *invocation, const char *path, struct dpmf_store **store,
                        struct dpmf_error *error) {
    const struct dpmf_input_options input = options_input_of(invocation, path);
    return dpmf_store_open(path, &input, &invocation->run, store, error);
}

int train_open_history(struct invocation *invocation, struct dpmf_store **history,
                       struct dpmf_error *error) {
    *history = NULL;
    return command_has(invocation, OPTION_HISTORY)
               ? open_ratings(invocation, invocation->value[OPTION_HISTORY], history, error)
               : 0;
}

int train_open_stores(struct invocation *invocation, struct dpmf_store **store,
                      struct dpmf_store **valid, struct dpmf_error *error) {
    *store = *valid = NULL;
    int rc = check_outputs(invocation, error);
    if (rc == 0) rc = open_ratings(invocation, invocation->operands[0], store, error);
    if (rc == 0 && command_has(invocation, OPTION_VALID))
        rc = open_ratings(invocation, invocation->value[OPTION_VALID], valid, error);
    return rc;
}
