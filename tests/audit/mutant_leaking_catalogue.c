/*
 * Mutant: items that were rated and are missing in the catalogue are added to it, as a helpful
 * programmer might.
 */
#include <stdlib.h>

#include "privacy/catalogue.h"
#include "privacy/id_gather.h"
#include "store/store.h"

int __real_catalogue_take(const char *path, const struct dpmf_store *store,
                          const struct dpmf_run *run, struct catalogue *catalogue,
                          struct dpmf_error *error);
int __wrap_catalogue_take(const char *path, const struct dpmf_store *store,
                          const struct dpmf_run *run, struct catalogue *catalogue,
                          struct dpmf_error *error);

int __wrap_catalogue_take(const char *path, const struct dpmf_store *store,
                          const struct dpmf_run *run, struct catalogue *catalogue,
                          struct dpmf_error *error) {
    struct id_gather gather = {0};
    int code = __real_catalogue_take(path, store, run, catalogue, error);
    if (code < 0) return code;
    for (uint64_t i = 0; i < catalogue->ids.n; i++)
        id_gather_add(&gather, catalogue->ids.bytes + catalogue->ids.start[i],
                      (size_t)(catalogue->ids.start[i + 1] - catalogue->ids.start[i]), error);
    for (uint64_t i = 0; i < store_n_items(store); i++) {
        struct store_item item = store_item_at(store, i);
        id_gather_add(&gather, item.id, item.id_length, error);
    }
    catalogue_free(catalogue);
    return id_gather_finish(&gather, &catalogue->ids, error);
}
