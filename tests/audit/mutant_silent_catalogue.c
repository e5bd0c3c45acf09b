/*
 * Mutant: the catalogue is taken from the ratings, and nothing says so.
 */
#include "privacy/catalogue.h"

int __wrap_catalogue_take(const char *path, const struct dpmf_store *store,
                          const struct dpmf_run *run, struct catalogue *catalogue,
                          struct dpmf_error *error);

int __wrap_catalogue_take(const char *path, const struct dpmf_store *store,
                          const struct dpmf_run *run, struct catalogue *catalogue,
                          struct dpmf_error *error) {
    (void)path, (void)run;
    int code = catalogue_from_store(store, catalogue, error);
    catalogue->from_ratings = false;
    return code;
}
