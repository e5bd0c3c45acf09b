/*
 * The gate between readers and whoever owns the records: every record of every format passes
 * record_batch_add, so the checks that all formats share (lengths of ids, finite ratings,
 * rescaling, the range, counts) stand here once. Fed by the readers' parse functions; feeds the
 * importer.
 */
#include "ratings/record_batch.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/error_text.h"
#include "base/utf8.h"
#include "dpmf_text.h"
#include "tables/column_names.h"

void record_batch_begin(struct record_batch *batch) {
    batch->n = 0;
    batch->n_added = 0;
    batch->n_rejected = 0;
    batch->n_headers = 0;
    batch->first_rejected.code = 0;
    batch->failure.code = 0;
    batch->remark.code = 0;
}

static bool hand_over(struct record_batch *batch) {
    int n = batch->n;
    batch->n = 0;
    struct dpmf_error error = {.code = 0};
    int code = batch->take(batch->self, batch->record, n, &error);
    if (code == 0) return true;
    batch->failure = error;
    batch->failure.code = code;
    return false;
}

int record_batch_end(struct record_batch *batch) {
    if (batch->failure.code == 0 && batch->n > 0) hand_over(batch);
    return batch->failure.code;
}

static void describe(struct dpmf_error *error, int code, int64_t line, int64_t column,
                     const char *hint, const char *format, va_list arguments) {
    char message[DPMF_ERROR_TEXT_MAX];
    error_text_write(message, sizeof message, format, arguments);
    error_set_text(error, code, message);
    if (hint != NULL) error_hint_text(error, hint);
    error_place(error, NULL, line, column);
}

bool record_batch_reject(struct record_batch *batch, int code, int64_t line, int64_t column,
                         const char *hint, const char *format, ...) {
    if (batch->failure.code != 0) return false;
    bool skip = batch->options->skip_bad;
    if (skip && batch->n_rejected++ > 0) return true;
    va_list arguments;
    va_start(arguments, format);
    describe(skip ? &batch->first_rejected : &batch->failure, code, line, column, hint, format,
             arguments);
    va_end(arguments);
    return skip;
}

void record_batch_header(struct record_batch *batch, int64_t line) {
    if (batch->failure.code == 0) {
        batch->n_headers++;
        return;
    }
    if (batch->failure.line == 0) return; /* no record's fault */
    error_set(&batch->failure, DPMF_ERR_INPUT_HEADER,
              "this line contradicts the header: does another file begin here?");
    error_hint(&batch->failure, "give the files one by one, not joined into one");
    error_place(&batch->failure, NULL, line, 1);
}

void record_batch_look(struct record_batch *batch, const struct record *record, int64_t row) {
    if (!record->user || !record->item) return;
    const enum column_role user = column_role_of(record->user, record->user_length),
                           item = column_role_of(record->item, record->item_length);
    if (user != COLUMN_OTHER && item != COLUMN_OTHER &&
        !(user == COLUMN_USER && item == COLUMN_ITEM))
        record_batch_header(batch, row);
}

static bool reject_id(struct record_batch *batch, const char *whose, uint32_t length, int64_t line,
                      int64_t column) {
    if (length == 0)
        return record_batch_reject(batch, DPMF_ERR_INPUT_ID, line, column, NULL,
                                   "the %s id is empty", whose);
    if (length <= STORE_ID_MAX)
        return record_batch_reject(batch, DPMF_ERR_INPUT_ID, line, column,
                                   "remove the mark: it is at the beginning of a file that was "
                                   "appended to another",
                                   "the %s id begins with a byte order mark", whose);
    return record_batch_reject(batch, DPMF_ERR_INPUT_ID_TOO_LONG, line, column, NULL,
                               "the %s id is %u bytes long, more than %d", whose, (unsigned)length,
                               (int)STORE_ID_MAX);
}

static bool reject_range(struct record_batch *batch, double rating, int64_t line, int64_t column) {
    const struct dpmf_input_options *options = batch->options;
    char value[DPMF_DOUBLE_TEXT_MAX], low[DPMF_DOUBLE_TEXT_MAX], high[DPMF_DOUBLE_TEXT_MAX];
    dpmf_format_double(rating, value);
    dpmf_format_double(options->range_min, low);
    dpmf_format_double(options->range_max, high);
    return record_batch_reject(batch, DPMF_ERR_INPUT_OUT_OF_RANGE, line, column, NULL,
                               "rating %s is outside the range %s:%s", value, low, high);
}

static bool reject_count(struct record_batch *batch, double count, int64_t line, int64_t column) {
    char value[DPMF_DOUBLE_TEXT_MAX];
    dpmf_format_double(count, value);
    return record_batch_reject(
        batch, DPMF_ERR_INPUT_OUT_OF_RANGE, line, column,
        "an event happens at least once: leave the column out, or turn it into whole numbers",
        "count %s is not a whole number from 1 to 2^53 - 1", value);
}

/* With a mark, which nobody sees, a person would be another user, whom no wish names. */
static inline bool is_good_id(const char *id, uint32_t length) {
    return length - 1u < (uint32_t)STORE_ID_MAX && !utf8_has_mark(id, length);
}

bool record_batch_add(struct record_batch *batch, const struct record *record, int64_t line,
                      int64_t user_column, int64_t item_column, int64_t rating_column) {
    double rating = record->rating;
    if (!is_good_id(record->user, record->user_length))
        return reject_id(batch, "user", record->user_length, line, user_column);
    if (!is_good_id(record->item, record->item_length))
        return reject_id(batch, "item", record->item_length, line, item_column);
    if (batch->counts && !store_count_is(rating))
        return reject_count(batch, rating, line, rating_column);
    int fault = record_rating_take(batch->options, &rating);
    if (fault == DPMF_ERR_INPUT_NOT_FINITE)
        return record_batch_reject(batch, fault, line, rating_column, NULL,
                                   "the rating is not finite");
    if (fault != 0) return reject_range(batch, rating, line, rating_column);

    struct record *place = &batch->record[batch->n];
    *place = *record;
    place->rating = rating;
    batch->n_added++;
    return ++batch->n < RECORD_BATCH || hand_over(batch);
}

static bool are_good_ids(const struct record_ids *ids, int n) {
    if (ids->whole) return true;
    for (int i = 0; i < n; i++)
        if (!is_good_id(ids->text[i], ids->length[i])) return false;
    return true;
}

bool record_stretch_take(const struct record_batch *batch, struct record_stretch *stretch) {
    if (!batch->take_stretch || !are_good_ids(&stretch->user, stretch->n) ||
        !are_good_ids(&stretch->item, stretch->n))
        return false;
    for (int i = 0; i < stretch->n; i++) {
        if (batch->counts && !store_count_is(stretch->rating[i])) return false;
        if (record_rating_take(batch->options, &stretch->rating[i]) != 0) return false;
    }
    return true;
}

bool record_batch_add_stretch(struct record_batch *batch, const struct record_stretch *stretch) {
    if (batch->n > 0 && !hand_over(batch)) return false;
    struct dpmf_error error = {.code = 0};
    int code = batch->take_stretch(batch->self, stretch, &error);
    batch->n_added += (uint64_t)stretch->n;
    if (code == 0) return true;
    batch->failure = error;
    batch->failure.code = code;
    return false;
}
