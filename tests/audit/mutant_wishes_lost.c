/*
 * Mutant: wishes are read and match nobody, as if the list spelled every id in another way.
 */
#include "privacy/catalogue.h"

int __real_user_wishes_read(const char *path, const struct id_form *form,
                            const struct dpmf_run *run, struct user_wishes *wishes,
                            struct dpmf_error *error);
int __wrap_user_wishes_read(const char *path, const struct id_form *form,
                            const struct dpmf_run *run, struct user_wishes *wishes,
                            struct dpmf_error *error);

int __wrap_user_wishes_read(const char *path, const struct id_form *form,
                            const struct dpmf_run *run, struct user_wishes *wishes,
                            struct dpmf_error *error) {
    int code = __real_user_wishes_read(path, form, run, wishes, error);
    if (code == 0)
        for (uint64_t i = 0; i < wishes->ids.n; i++) wishes->epsilon[i] = 1e9;
    return code;
}
