/*
 * Property: no text makes the reader of a list of shards crash, and what it accepts names between 1
 * and SHARDS_MAX files of the directory itself, each once; what it does not, it says why.
 */
#include <stdlib.h>
#include <string.h>

#include "store/shard_set.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct shard_entry entries[SHARDS_MAX];
    const char *fault = NULL;
    size_t n = shard_list_parse((const char *)data, size, entries, &fault);
    if (n > SHARDS_MAX || (n == 0) == (fault == NULL)) abort();
    for (size_t i = 0; i < n; i++) {
        const char *file = entries[i].file;
        if (file[0] == '\0' || file[0] == '.' || strchr(file, '/')) abort();
        if (strlen(file) >= SHARD_NAME_MAX) abort();
        for (size_t j = 0; j < i; j++)
            if (strcmp(file, entries[j].file) == 0) abort();
    }
    return 0;
}
