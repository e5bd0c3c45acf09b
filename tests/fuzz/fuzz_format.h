/*
 * The driver that the fuzzers of the text formats share. The first two bytes of the input choose
 * the size of chunks and whether bad records are skipped; the rest is the text. Records may be at
 * most 300 bytes here, so that the rules about long records are met with as well.
 */
#ifndef DPMF_TESTS_FUZZ_FORMAT_H
#define DPMF_TESTS_FUZZ_FORMAT_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "../unit/read_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { FUZZ_RECORD_MAX = 300 };

/* The text is read twice, in the smallest and in the largest chunks: both must tell the same. */
static inline int fuzz_format(const char *format, const uint8_t *data, size_t size) {
    static const char *const column_lists[] = {NULL, NULL, "item,user,rating",
                                               "user,_,item,timestamp,rating"};
    if (size < 2) return 0;
    struct dpmf_input_options options = dpmf_input_options_default();
    options.format = format;
    options.skip_bad = data[1] & 1;
    options.has_range = data[1] & 2;
    options.range_min = 0;
    options.range_max = 5;
    options.columns = column_lists[data[1] >> 2 & 3];
    struct dpmf_error small_error, large_error;
    char *small =
        read_text(data + 2, size - 2, &options, (size_t)data[0] + 1, FUZZ_RECORD_MAX, &small_error);
    char *large = read_text(data + 2, size - 2, &options, 0, FUZZ_RECORD_MAX, &large_error);
    if (strcmp(small, large) != 0) {
        fprintf(stderr, "---- small chunks\n%s---- large chunks\n%s", small, large);
        abort();
    }
    if (large_error.code != 0 && dpmf_error_name(large_error.code) == NULL) abort();
    if (large_error.code == DPMF_ERR_BASE_BUG) abort();
    free(small);
    free(large);
    return 0;
}

#endif
