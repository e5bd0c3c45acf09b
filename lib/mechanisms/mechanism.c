/*
 * The table of mechanisms. Read by release_make.c and the audit.
 */
#include "mechanisms/mechanism.h"

#include <string.h>

static const struct mechanism *const mechanisms[] = {
    &mechanism_residual, &mechanism_biases,    &mechanism_dpals,  &mechanism_gram,
    &mechanism_langevin, &mechanism_posterior, &mechanism_events,
};

const struct mechanism *mechanism_at(size_t i) {
    return i < sizeof mechanisms / sizeof mechanisms[0] ? mechanisms[i] : NULL;
}

const struct mechanism *mechanism_for(const char *name, bool ranks) {
    if (!name || strcmp(name, "auto") == 0) return ranks ? &mechanism_events : &mechanism_residual;
    for (size_t i = 0; mechanism_at(i); i++)
        if (strcmp(name, mechanism_at(i)->name) == 0) return mechanism_at(i);
    return NULL;
}

const struct mechanism *mechanism_find(const char *name) { return mechanism_for(name, false); }
