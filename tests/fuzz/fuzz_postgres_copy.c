/*
 * Property: no bytes make the decoder of PostgreSQL's binary copies crash or read out of bounds,
 * whatever types the columns have; every record obeys the contract of struct record; and bad rows
 * are only skipped when asked for.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz_rows.h"
#include "ratings/postgres_copy.h"

/* A type that the role may have, as postgres_copy_type would say. */
static enum copy_type type_for(enum column_role role, uint8_t choice) {
    static const enum copy_type ids[] = {COPY_INT2, COPY_INT4, COPY_INT8, COPY_TEXT};
    if (role == COLUMN_TIME) return (enum copy_type)(choice % COPY_TYPES);
    if (role == COLUMN_RATING) return (enum copy_type)(choice % (COPY_TEXT + 1));
    return ids[choice % 4];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 5) return 0;
    bool timed = data[4] & 1;
    struct copy_layout layout = {.n_fields = timed ? 4 : 3};
    for (int role = 0; role < COLUMN_ROLES; role++) {
        layout.field[role] = role == COLUMN_TIME && !timed ? -1 : role;
        layout.type[role] = type_for((enum column_role)role, data[role]);
        layout.column[role] = role + 1;
    }
    struct dpmf_input_options options = dpmf_input_options_default();
    options.skip_bad = data[4] & 2;
    struct database_numbers *numbers = malloc(sizeof *numbers);
    uint8_t *bytes = malloc(size - 5 + 1);
    if (!numbers || !bytes) abort();
    memcpy(bytes, data + 5, size - 5);
    size_t header = postgres_copy_header(bytes, size - 5);
    struct record_batch batch = {.take = fuzz_check_records, .options = &options};
    record_batch_begin(&batch);
    uint64_t rows =
        postgres_copy_parse(&layout, bytes + header, size - 5 - header, numbers, &batch);
    record_batch_end(&batch);
    if (batch.n_added + batch.n_rejected > rows) abort();
    if (batch.n_rejected > 0 && !options.skip_bad) abort();
    fuzz_check_code(batch.failure.code);
    free(bytes);
    free(numbers);
    return 0;
}
