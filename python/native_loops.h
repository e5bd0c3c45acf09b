/*
 * Loops that would be slow in Python, over functions of dpmf.h: what the package calls beside the
 * library itself. The build makes its Python declarations from this file, as from dpmf.h. Numbers
 * of users and items are signed here, as NumPy has them: below 0 is one that the model does not
 * know.
 */
#ifndef DPMF_PYTHON_NATIVE_LOOPS_H
#define DPMF_PYTHON_NATIVE_LOOPS_H

#include "dpmf.h"
#include "dpmf_text.h"

/* Numbers of ids: texts that lie one after the other, or whole numbers that stand for themselves in
 * decimal. */
void native_users_find(const struct dpmf_model *model, const char *bytes, const int64_t *offsets,
                       size_t n, int64_t *numbers);
void native_items_find(const struct dpmf_model *model, const char *bytes, const int64_t *offsets,
                       size_t n, int64_t *numbers);
void native_users_find_whole(const struct dpmf_model *model, const int64_t *ids, size_t n,
                             int64_t *numbers);
void native_items_find_whole(const struct dpmf_model *model, const int64_t *ids, size_t n,
                             int64_t *numbers);

/* All ids of a model, in its order: where each begins, offsets[i], and where it ends, offsets[i +
 * 1]; with `bytes` not NULL the ids too. @return how many bytes there are */
size_t native_user_ids(const struct dpmf_model *model, size_t n, int64_t *offsets, char *bytes);
size_t native_item_ids(const struct dpmf_model *model, size_t n, int64_t *offsets, char *bytes);

/* The ids as whole numbers. @return whether each is one, spelled in the one way that is usual */
bool native_user_ids_whole(const struct dpmf_model *model, size_t n, int64_t *ids);
bool native_item_ids_whole(const struct dpmf_model *model, size_t n, int64_t *ids);

void native_pairs_predict(const struct dpmf_model *model, const int64_t *users,
                          const int64_t *items, size_t n, double *predictions);
void native_user_predict(const struct dpmf_model *model, const struct dpmf_user *user,
                         const int64_t *items, size_t n, double *predictions);

/* What each user of a model has rated in a store: the items of user u are items[start[u]] and so
 * on, `count[u]` of them, with as many ratings. */
struct native_seen {
    uint64_t users;
    uint64_t *start, *count;
    uint32_t *items;
    double *ratings;
    uint64_t n; /* number of items */
    const struct dpmf_model *model;
};

int native_seen_make(const struct dpmf_model *model, struct dpmf_store *store,
                     const struct dpmf_run *run, struct native_seen **seen,
                     struct dpmf_error *error);
void native_seen_free(struct native_seen *seen);

#endif
