/*
 * Property: in every layout that a private run accepts, a line that is inserted anywhere among the
 * records is read as it would be by itself, and every other record as if it were not there. The
 * first byte chooses the layout, the second the place, the third the size of chunks; what follows,
 * up to a line feed, is the line.
 */
#define _GNU_SOURCE
#include "../unit/insert_record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 3 || size - 3 > INSERT_LINE_MAX) return 0;
    const char *line = (const char *)data + 3;
    const char *end = memchr(line, '\n', size - 3);
    insert_record_check(&insert_readers[data[0] % INSERT_READERS], data[1] % (INSERT_LINES + 1),
                        line, end != NULL ? (size_t)(end - line) : size - 3, data[2]);
    return 0;
}
