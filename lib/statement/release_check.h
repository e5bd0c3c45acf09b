/*
 * A release that was read and checked against its own statement, to make another from it.
 */
#ifndef DPMF_STATEMENT_RELEASE_CHECK_H
#define DPMF_STATEMENT_RELEASE_CHECK_H

#include "model/release.h"
#include "statement/statement.h"

/* As release_read; then all that dpmf_release_verify checks, but for what it assumes and whether it
 * is stamped. Nothing to free on failure. */
int release_read_checked(const char *path, struct release *release, struct statement *statement,
                         struct statement_figures *figures, struct dpmf_error *error);

#endif
