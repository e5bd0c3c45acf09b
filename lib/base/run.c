/*
 * What a run is when nobody said otherwise: every core, the default memory, nobody watching.
 */
#include "dpmf.h"

struct dpmf_run dpmf_run_default(void) {
    struct dpmf_run run = {0};
    return run;
}
