/*
 * dpmf synth: a synthetic store of a chosen shape, with the planted truth and a catalogue beside it
 * when they are wanted. Feeds tests, benchmarks and the demo.
 */
#include <string.h>

#include "options.h"
#include "report.h"

static void set_count(const struct invocation *invocation, enum option_id id, uint64_t *count) {
    if (command_has(invocation, id)) *count = options_count(invocation, id);
}

static void set_number(const struct invocation *invocation, enum option_id id, double *number) {
    if (command_has(invocation, id)) *number = options_number(invocation, id);
}

static int set_rank(const struct invocation *invocation, struct dpmf_synth_options *options) {
    if (!command_has(invocation, OPTION_RANK)) return 0;
    uint64_t rank = options_count(invocation, OPTION_RANK);
    if (rank > UINT32_MAX)
        return terminal_error_print(STATUS_USAGE, "for example: --rank 8", "--rank %s is too large",
                                    invocation->value[OPTION_RANK]);
    options->rank = (uint32_t)rank;
    return 0;
}

/* A --like first, then what the other options change of it. */
static int fill(const struct invocation *invocation, struct dpmf_synth_options *options) {
    *options = dpmf_synth_options_default();
    if (command_has(invocation, OPTION_LIKE))
        dpmf_synth_options_like(invocation->value[OPTION_LIKE], options);
    set_count(invocation, OPTION_USERS, &options->users);
    set_count(invocation, OPTION_ITEMS, &options->items);
    set_count(invocation, OPTION_RATINGS, &options->ratings);
    set_count(invocation, OPTION_SEED, &options->seed);
    set_number(invocation, OPTION_NOISE, &options->noise);
    set_number(invocation, OPTION_TOP_500, &options->top_500_share);
    if (command_has(invocation, OPTION_SCALE)) {
        double scale[3] = {0};
        options_scale(invocation, OPTION_SCALE, scale);
        options->scale_min = scale[0];
        options->scale_max = scale[1];
        options->scale_step = scale[2];
    }
    if (command_has(invocation, OPTION_TIMESTAMPS)) options->times = true;
    options->truth = invocation->value[OPTION_TRUTH];
    options->catalogue = invocation->value[OPTION_CATALOGUE_OUT];
    return set_rank(invocation, options);
}

int command_synth_run(struct invocation *invocation) {
    struct dpmf_synth_options options;
    struct dpmf_import_report report = {0};
    struct dpmf_error error = {0};
    const char *output = invocation->value[OPTION_OUTPUT];

    int status = fill(invocation, &options);
    if (status != 0) return status;
    int rc = dpmf_synth(output, &options, &invocation->run, &report, &error);
    if (rc != 0) return report_error_print(invocation, &error);
    return report_import_print(invocation, output, &report);
}
