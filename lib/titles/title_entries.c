/*
 * The keys of all titles, by their hashes. An item has a key for each level at which it differs
 * from the level before, and one for each other name in brackets. Feeds title_match.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/error.h"
#include "base/memory.h"
#include "titles/title_index.h"

/* The key of one form of a title. @return its length; 0: there is none */
static size_t form_key(const struct title_parts *parts, uint32_t form, char *key) {
    if (form < TITLE_LEVELS) return title_key(parts, (enum title_level)form, key);
    const size_t group = form - TITLE_LEVELS;
    return group < parts->n_groups ? title_key_other(&parts->group[group], key) : 0;
}

static int compare_entries(const void *a, const void *b) {
    const struct title_entry *x = a, *y = b;
    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    if (x->item != y->item) return x->item < y->item ? -1 : 1;
    return (x->form > y->form) - (x->form < y->form);
}

static bool add_entries(struct dpmf_titles *titles, uint32_t item, size_t *capacity) {
    char key[TITLE_KEY_ROOM];
    struct title_parts parts;
    const struct title_part title = titles_title(titles, item);
    const size_t first = titles->n_entries;
    title_parts_find(title.text, title.n, &parts);
    for (uint32_t form = 0; form < TITLE_LEVELS + parts.n_groups; form++) {
        const size_t n = form_key(&parts, form, key);
        const uint64_t hash = checksum64(key, n);
        bool is_new = n > 0;
        for (size_t i = first; i < titles->n_entries; i++)
            is_new = is_new && titles->entries[i].hash != hash;
        if (!is_new) continue;
        if (!memory_reserve(&titles->entries, capacity, titles->n_entries + 1,
                            sizeof *titles->entries))
            return false;
        titles->entries[titles->n_entries++] = (struct title_entry){hash, item, form};
    }
    return true;
}

int titles_entries_make(struct dpmf_titles *titles, struct dpmf_error *error) {
    size_t capacity = 0;
    if (titles->entries) return 0;
    titles->n_entries = 0;
    bool is_done = memory_reserve(&titles->entries, &capacity, 1, sizeof *titles->entries);
    for (uint32_t item = 0; is_done && item < titles->n; item++)
        is_done = add_entries(titles, item, &capacity);
    if (!is_done) {
        free(titles->entries);
        titles->entries = NULL;
        titles->n_entries = 0;
        return error_no_memory(error);
    }
    qsort(titles->entries, titles->n_entries, sizeof *titles->entries, compare_entries);
    return 0;
}

static size_t first_entry(const struct dpmf_titles *titles, uint64_t hash) {
    size_t low = 0, high = titles->n_entries;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (titles->entries[middle].hash < hash)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Equal hashes are most likely of equal keys; this makes it sure. */
static bool has_key(const struct dpmf_titles *titles, const struct title_entry *entry,
                    const char *key, size_t n) {
    char own[TITLE_KEY_ROOM];
    struct title_parts parts;
    const struct title_part title = titles_title(titles, entry->item);
    title_parts_find(title.text, title.n, &parts);
    return form_key(&parts, entry->form, own) == n && memcmp(own, key, n) == 0;
}

void titles_entries_find(const struct dpmf_titles *titles, const char *key, size_t n,
                         void (*take)(void *self, uint32_t item, enum title_level level),
                         void *self) {
    assert(titles->entries);
    const uint64_t hash = checksum64(key, n);
    if (n == 0) return;
    for (size_t i = first_entry(titles, hash);
         i < titles->n_entries && titles->entries[i].hash == hash; i++) {
        const struct title_entry *entry = &titles->entries[i];
        if (!has_key(titles, entry, key, n)) continue;
        take(self, entry->item,
             entry->form < TITLE_LEVELS ? (enum title_level)entry->form : TITLE_EDITION);
    }
}
