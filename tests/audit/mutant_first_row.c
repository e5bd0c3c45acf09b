/*
 * Mutant: a chunk of text whose first row is no record is taken to have other columns, and its rows
 * are not understood: what one person wrote decides about the records of others. (0.1.0 took the
 * number of columns of MovieLens' format from the first row.)
 */
#include "ratings/record_batch.h"

bool __real_record_batch_add(struct record_batch *batch, const struct record *record, int64_t line,
                             int64_t user_column, int64_t item_column, int64_t rating_column);
bool __wrap_record_batch_add(struct record_batch *batch, const struct record *record, int64_t line,
                             int64_t user_column, int64_t item_column, int64_t rating_column);

bool __wrap_record_batch_add(struct record_batch *batch, const struct record *record, int64_t line,
                             int64_t user_column, int64_t item_column, int64_t rating_column) {
    if (batch->n_rejected > 0 && batch->first_rejected.line <= 2)
        return record_batch_reject(batch, DPMF_ERR_INPUT_COLUMNS, line, 1, NULL, "another layout");
    return __real_record_batch_add(batch, record, line, user_column, item_column, rating_column);
}
