/*
 * The mechanisms by name. A release names the one that made it, and whoever reads a release must
 * know the name, also where no mechanism is built in. The mechanisms themselves are in
 * lib/mechanisms.
 */
#ifndef DPMF_STATEMENT_MECHANISM_NAMES_H
#define DPMF_STATEMENT_MECHANISM_NAMES_H

#define MECHANISM_RESIDUAL "residual"
#define MECHANISM_BIASES "biases"
#define MECHANISM_DPALS "dpals"
#define MECHANISM_GRAM "gram"
#define MECHANISM_LANGEVIN "langevin"
#define MECHANISM_POSTERIOR "posterior"
#define MECHANISM_EVENTS "events"

#define MECHANISM_NAMES                                                                            \
    {                                                                                              \
        MECHANISM_RESIDUAL, MECHANISM_BIASES, MECHANISM_DPALS, MECHANISM_GRAM, MECHANISM_LANGEVIN, \
            MECHANISM_POSTERIOR, MECHANISM_EVENTS                                                  \
    }

#endif
