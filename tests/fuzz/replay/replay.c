/*
 * Instead of libFuzzer: calls a fuzzer once for each file that is named, so that what its corpus
 * reaches is counted by `make coverage`, whose compiler has no fuzzing. A property that does not
 * hold ends the program, as it does there.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Fuzzers that change their inputs themselves ask libFuzzer for this. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size) {
    (void)data, (void)max_size;
    return size;
}

static uint8_t *read_file(const char *path, size_t *n) {
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = NULL;
    if (file && fseek(file, 0, SEEK_END) == 0) {
        const long size = ftell(file);
        rewind(file);
        *n = size < 0 ? 0 : (size_t)size;
        bytes = malloc(*n > 0 ? *n : 1);
        if (bytes && fread(bytes, 1, *n, file) != *n) {
            free(bytes);
            bytes = NULL;
        }
    }
    if (file) fclose(file);
    return bytes;
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        size_t n = 0;
        uint8_t *bytes = read_file(argv[i], &n);
        if (!bytes) {
            fprintf(stderr, "cannot read %s\n", argv[i]);
            return 1;
        }
        LLVMFuzzerTestOneInput(bytes, n);
        free(bytes);
    }
    return 0;
}
