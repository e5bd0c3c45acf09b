/*
 * What a run is when nobody said otherwise: every core, the default memory, nobody watching.
 */
#include "base/arguments.h"

void dpmf_run_init(struct dpmf_run *run, size_t size) {
    const struct dpmf_run made = {.size = sizeof made};
    options_give(run, size, &made, sizeof made);
}

int run_take(struct dpmf_run *own, const struct dpmf_run *run, struct dpmf_error *error) {
    *own = dpmf_run_default();
    return options_take(own, sizeof *own, run, "run", error);
}
