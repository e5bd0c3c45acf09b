/*
 * Loops that would be slow in Python, over functions of dpmf.h. Fed by NumPy arrays, in place;
 * called with the interpreter's lock released.
 */
#include "native_loops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WHOLE_MAX = 24 }; /* characters of an int64 and a NUL */

typedef uint64_t find_id(const struct dpmf_model *model, const char *id, size_t length);
typedef const char *id_at(const struct dpmf_model *model, uint64_t number, size_t *length);

static uint64_t unsigned_of(int64_t number) { return number < 0 ? UINT64_MAX : (uint64_t)number; }

static int64_t signed_of(uint64_t number) { return number == UINT64_MAX ? -1 : (int64_t)number; }

/* ---- ids to numbers -------------------------------------------------------------------------- */

static void find_texts(find_id *find, const struct dpmf_model *model, const char *bytes,
                       const int64_t *offsets, size_t n, int64_t *numbers) {
    for (size_t i = 0; i < n; i++)
        numbers[i] =
            signed_of(find(model, bytes + offsets[i], (size_t)offsets[i + 1] - (size_t)offsets[i]));
}

static void find_whole(find_id *find, const struct dpmf_model *model, const int64_t *ids, size_t n,
                       int64_t *numbers) {
    char text[WHOLE_MAX];
    for (size_t i = 0; i < n; i++) {
        int length = snprintf(text, sizeof text, "%lld", (long long)ids[i]);
        numbers[i] = signed_of(find(model, text, (size_t)length));
    }
}

void native_users_find(const struct dpmf_model *model, const char *bytes, const int64_t *offsets,
                       size_t n, int64_t *numbers) {
    find_texts(dpmf_model_find_user, model, bytes, offsets, n, numbers);
}

void native_items_find(const struct dpmf_model *model, const char *bytes, const int64_t *offsets,
                       size_t n, int64_t *numbers) {
    find_texts(dpmf_model_find_item, model, bytes, offsets, n, numbers);
}

void native_users_find_whole(const struct dpmf_model *model, const int64_t *ids, size_t n,
                             int64_t *numbers) {
    find_whole(dpmf_model_find_user, model, ids, n, numbers);
}

void native_items_find_whole(const struct dpmf_model *model, const int64_t *ids, size_t n,
                             int64_t *numbers) {
    find_whole(dpmf_model_find_item, model, ids, n, numbers);
}

/* ---- numbers to ids -------------------------------------------------------------------------- */

static size_t gather_ids(id_at *at, const struct dpmf_model *model, size_t n, int64_t *offsets,
                         char *bytes) {
    size_t total = 0, length;
    for (size_t i = 0; i < n; i++) {
        const char *id = at(model, i, &length);
        offsets[i] = (int64_t)total;
        if (bytes != NULL) memcpy(bytes + total, id, length);
        total += length;
    }
    offsets[n] = (int64_t)total;
    return total;
}

/* "7" and "-7", but neither "07" nor "+7": printed again it must be the same id. */
static bool parse_whole(const char *id, size_t length, int64_t *number) {
    char text[WHOLE_MAX], again[WHOLE_MAX], *end;
    if (length == 0 || length >= sizeof text) return false;
    memcpy(text, id, length);
    text[length] = '\0';
    *number = strtoll(text, &end, 10);
    snprintf(again, sizeof again, "%lld", (long long)*number);
    return end == text + length && strcmp(text, again) == 0;
}

static bool parse_ids(id_at *at, const struct dpmf_model *model, size_t n, int64_t *ids) {
    size_t length;
    for (size_t i = 0; i < n; i++) {
        const char *id = at(model, i, &length);
        if (!parse_whole(id, length, &ids[i])) return false;
    }
    return true;
}

size_t native_user_ids(const struct dpmf_model *model, size_t n, int64_t *offsets, char *bytes) {
    return gather_ids(dpmf_model_user_id, model, n, offsets, bytes);
}

size_t native_item_ids(const struct dpmf_model *model, size_t n, int64_t *offsets, char *bytes) {
    return gather_ids(dpmf_model_item_id, model, n, offsets, bytes);
}

bool native_user_ids_whole(const struct dpmf_model *model, size_t n, int64_t *ids) {
    return parse_ids(dpmf_model_user_id, model, n, ids);
}

bool native_item_ids_whole(const struct dpmf_model *model, size_t n, int64_t *ids) {
    return parse_ids(dpmf_model_item_id, model, n, ids);
}

/* ---- predictions ----------------------------------------------------------------------------- */

void native_pairs_predict(const struct dpmf_model *model, const int64_t *users,
                          const int64_t *items, size_t n, double *predictions) {
    for (size_t i = 0; i < n; i++)
        predictions[i] = dpmf_model_predict(model, unsigned_of(users[i]), unsigned_of(items[i]));
}

void native_user_predict(const struct dpmf_model *model, const struct dpmf_user *user,
                         const int64_t *items, size_t n, double *predictions) {
    for (size_t i = 0; i < n; i++)
        predictions[i] = dpmf_user_predict(model, user, unsigned_of(items[i]));
}

/* ---- what users have rated ------------------------------------------------------------------- */

static int take_history(void *self, const char *user, size_t length,
                        const struct dpmf_history *history) {
    struct native_seen *seen = self;
    uint64_t number = dpmf_model_find_user(seen->model, user, length);
    if (number == UINT64_MAX) return 0;
    seen->start[number] = seen->n;
    seen->count[number] = history->n;
    for (size_t i = 0; i < history->n; i++) {
        seen->items[seen->n] = (uint32_t)history->ratings[i].item;
        seen->ratings[seen->n++] = history->ratings[i].rating;
    }
    return 0;
}

int native_seen_make(const struct dpmf_model *model, struct dpmf_store *store,
                     const struct dpmf_run *run, struct native_seen **out,
                     struct dpmf_error *error) {
    struct dpmf_model_info info;
    struct dpmf_store_info of_store;
    int code = DPMF_ERR_BASE_NO_MEMORY;
    struct native_seen *seen = calloc(1, sizeof *seen);
    *out = NULL;
    dpmf_model_info(model, &info);
    dpmf_store_info(store, &of_store);
    if (seen == NULL) goto out;
    seen->model = model;
    seen->users = info.users;
    seen->start = calloc((size_t)info.users + 1, sizeof seen->start[0]);
    seen->count = calloc((size_t)info.users + 1, sizeof seen->count[0]);
    seen->items = calloc((size_t)of_store.ratings + 1, sizeof seen->items[0]);
    seen->ratings = calloc((size_t)of_store.ratings + 1, sizeof seen->ratings[0]);
    if (seen->start == NULL || seen->count == NULL || seen->items == NULL || seen->ratings == NULL)
        goto out;
    code = dpmf_model_histories(model, store, run, take_history, seen, error);
out:
    if (code == DPMF_ERR_BASE_NO_MEMORY) error->code = code;
    if (code == 0)
        *out = seen;
    else
        native_seen_free(seen);
    return code;
}

void native_seen_free(struct native_seen *seen) {
    if (seen == NULL) return;
    free(seen->start);
    free(seen->count);
    free(seen->items);
    free(seen->ratings);
    free(seen);
}
