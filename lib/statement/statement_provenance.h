/*
 * What a statement says beside its promise: epsilon at other deltas, where the public constants
 * come from, the build that made the release, and what the curator declares. The last is not
 * verified by dpmf, and is kept separate. Since format 2.
 */
#ifndef DPMF_STATEMENT_STATEMENT_PROVENANCE_H
#define DPMF_STATEMENT_STATEMENT_PROVENANCE_H

#include "base/json.h"
#include "dpmf_text.h"
#include "statement/statement.h"
#include "statement/statement_page.h"

/* The deltas at which a statement gives epsilon. */
extern const double statement_deltas[STATEMENT_DELTAS];

/* This library's. */
void statement_build_fill(struct statement_build *build);

/* As members of the statement, which is open. */
void statement_provenance_json(struct dpmf_json *json, const struct statement *statement,
                               const struct statement_figures *figures);

/* Reads a member when it is one of these. @return whether it is; `*taken`: whether it was valid */
bool statement_provenance_take(struct json_reader *json, const struct json_token *key,
                               struct json_token value, struct statement *statement,
                               struct statement_figures *figures, bool *taken);

/* The dates of a period in words: "on or after 2026-01-01 and before 2026-07-01". */
void statement_period_write(const struct cohort *cohort, char *text, size_t size);

/* For people: figures and the build, for specialists; and the curator's part. */
void statement_deltas_put(struct statement_page *page, const struct statement_figures *figures);
void statement_build_put(struct statement_page *page, const struct statement *statement);
void statement_cohort_put(struct statement_page *page, const struct statement *statement);
void statement_about_put(struct statement_page *page, const struct statement *statement);

#endif
