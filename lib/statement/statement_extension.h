/*
 * What a statement says of items that were added to a release after it was made, placed by public
 * features: that they cost nothing, because nobody's ratings were looked at, and which release they
 * extend, its parent. All that the parent held is in the extended release, unchanged, so that the
 * parent can be made from it again, byte by byte, and its signature be checked.
 */
#ifndef DPMF_STATEMENT_STATEMENT_EXTENSION_H
#define DPMF_STATEMENT_STATEMENT_EXTENSION_H

#include "base/json.h"
#include "dpmf_text.h"
#include "model/release.h"
#include "statement/statement.h"
#include "statement/statement_page.h"

/* The last member of the statement, which is open; nothing where there is no extension. */
void statement_extension_json(struct dpmf_json *json, const struct statement *statement);

/* Reads it back. @return whether it was valid */
bool statement_extension_take(struct json_reader *json, struct json_token value,
                              struct statement_extension *extension);

/* For people: a section of its own. */
void statement_extension_put(struct statement_page *page, const struct statement *statement);

/* Makes the parent of an extended release that was read, with its statement: a view of the parts
 * of `release`, but for the text of the statement, which is to be freed. */
int statement_extension_parent(const struct release *release, const struct statement *statement,
                               const struct statement_figures *figures, struct release *parent,
                               struct dpmf_error *error);

/* Whether the parent that is in an extended release has the digest that its statement names.
 * @return 0, or DPMF_ERR_PRIVACY_NOT_VERIFIED */
int statement_extension_check(const struct release *release, const struct statement *statement,
                              const struct statement_figures *figures, struct dpmf_error *error);

#endif
