/*
 * Cuts a store into shards: stores of whole users, about as many ratings each, all with the items
 * of the whole under the same numbers. One pass: users go to the shard at hand, in order, until it
 * has its share. The directory appears when all of them and their list are in it. Fed by a store;
 * feeds processes that each read their own shards, by way of shard_set.c.
 */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arguments.h"
#include "base/error.h"
#include "base/memory.h"
#include "files/output_directory.h"
#include "store/block_packer.h"
#include "store/shard_set.h"
#include "store/store.h"

struct sharding {
    const struct dpmf_store *store;
    struct output_directory *output;
    const char *directory; /* where its files go until all are there */
    const struct dpmf_run *run;
    struct dpmf_shard_report *report;
    struct shard_entry *entries; /* entries of the shards that were begun */
    size_t n_parts, n_begun;
    struct block_arrays *arrays; /* blocks on their way from visit to finish */
    void **products;
    size_t n_products;

    struct store_writer *writer; /* writer of the current shard */
    struct block_packer packer;
    uint64_t *item_ratings;
    uint64_t users, ratings;               /* counts of the current shard */
    uint64_t users_before, ratings_before; /* it */
    bool has_times;
};

/* ---- a shard --------------------------------------------------------------------------------- */

/* Where a shard ends depends on the ratings of everyone before, so one alone is not for private
 * runs; nor are all shards of a shard. */
static struct store_layout layout_of_shards(const struct sharding *self) {
    struct store_layout layout = *store_layout_of(self->store);
    if (layout.is_shard && layout.origin > STORE_ORIGIN_TOGETHER)
        layout.origin = STORE_ORIGIN_TOGETHER;
    layout.is_shard = layout.is_shard || self->n_parts > 1;
    return layout;
}

static int begin_shard(struct sharding *self, struct dpmf_error *error) {
    struct shard_entry *entry = &self->entries[self->n_begun];
    snprintf(entry->file, sizeof entry->file, "%05zu.dpr", self->n_begun);
    char *path = shard_path(self->directory, entry->file);
    if (!path) return error_no_memory(error);
    const struct store_layout layout = layout_of_shards(self);
    int code = store_writer_open(&self->writer, path, self->has_times, &layout, error);
    free(path);
    if (code < 0) return code;
    self->n_begun++;
    self->users = self->ratings = 0;
    memset(self->item_ratings, 0, (size_t)store_n_items(self->store) * sizeof *self->item_ratings);
    block_packer_init(&self->packer, self->writer, self->has_times);
    return 0;
}

static int write_items(struct sharding *self, struct dpmf_error *error) {
    const size_t n = (size_t)store_n_items(self->store);
    struct store_item *items = memory_alloc(n + 1, sizeof *items);
    if (!items) return error_no_memory(error);
    for (size_t i = 0; i < n; i++) {
        items[i] = store_item_at(self->store, i);
        items[i].n_ratings = self->item_ratings[i];
    }
    int code = store_writer_finish(self->writer, items, n, error);
    free(items);
    return code;
}

/* Its digest is taken from the file, as whoever opens it will. */
static int take_digest(const struct sharding *self, struct shard_entry *entry,
                       struct dpmf_error *error) {
    struct dpmf_store *shard = NULL;
    char *path = shard_path(self->directory, entry->file);
    int code = path ? store_open_file(path, &shard, error) : error_no_memory(error);
    if (code == 0) code = store_digest(shard, &entry->digest, error);
    dpmf_store_close(shard);
    free(path);
    return code;
}

static int end_shard(struct sharding *self, struct dpmf_error *error) {
    assert(self->writer && self->n_begun > 0 && self->n_begun <= self->n_parts);
    struct shard_entry *entry = &self->entries[self->n_begun - 1];
    struct dpmf_shard_report *report = self->report;
    int code = block_packer_flush(&self->packer, error);
    block_packer_free(&self->packer);
    if (code == 0) code = write_items(self, error);
    if (code == 0)
        code = store_writer_commit(self->writer, NULL, error);
    else
        store_writer_abandon(self->writer);
    self->writer = NULL;
    entry->users = self->users;
    entry->ratings = self->ratings;
    if (code == 0) code = take_digest(self, entry, error);
    if (code < 0) return code;
    if (report->parts == 0 || self->ratings < report->fewest_ratings)
        report->fewest_ratings = self->ratings;
    if (self->ratings > report->most_ratings) report->most_ratings = self->ratings;
    report->parts++;
    report->users += self->users;
    report->ratings += self->ratings;
    self->users_before += self->users;
    self->ratings_before += self->ratings;
    return 0;
}

/* Whether the next user, of n ratings, begins a new shard: when most of them lie past this one's
 * share, or when the shards that are left need a user each. */
static bool is_cut(const struct sharding *self, uint64_t n) {
    const double share = (double)store_n_ratings(self->store) / (double)self->n_parts;
    const uint64_t left = store_n_users(self->store) - self->users_before - self->users;
    if (self->n_begun == self->n_parts || self->users == 0) return false;
    if (left <= self->n_parts - self->n_begun) return true;
    return (double)(self->ratings_before + self->ratings) + (double)n / 2 >
           share * (double)self->n_begun;
}

static int add_user(struct sharding *self, const struct store_block *block, uint32_t u,
                    struct dpmf_error *error) {
    assert(u < block->n_users);
    const uint64_t n = block->start[u + 1] - block->start[u];
    struct store_block one = *block;
    int code = 0;
    if (self->n_begun > 0 && is_cut(self, n)) {
        code = end_shard(self, error);
        if (code == 0) code = begin_shard(self, error);
        if (code < 0) return code;
    }
    one.n_users = 1;
    one.start += u;
    one.id_start += u;
    self->users++;
    self->ratings += n;
    for (uint64_t r = block->start[u]; r < block->start[u + 1]; r++)
        self->item_ratings[block->item[r]]++;
    return block_packer_add(&self->packer, &one, error);
}

/* ---- the pass -------------------------------------------------------------------------------- */

static int copy_block(void *of, int worker, const struct store_block *block, void *product,
                      struct dpmf_error *error) {
    const struct sharding *self = of;
    struct block_arrays *arrays = product;
    (void)worker;
    block_arrays_clear(arrays);
    for (uint32_t u = 0; u < block->n_users; u++)
        if (!block_arrays_add(arrays, block, u, self->has_times)) return error_no_memory(error);
    return 0;
}

static int take_block(void *of, void *product, struct dpmf_error *error) {
    struct sharding *self = of;
    const struct store_block block = block_arrays_view(product, 0);
    int code = 0;
    for (uint32_t u = 0; u < block.n_users && code == 0; u++)
        code = add_user(self, &block, u, error);
    return code;
}

static int cut_store(struct sharding *self, struct dpmf_error *error) {
    self->n_products = store_visit_products(self->store, self->run);
    self->arrays = memory_alloc_zero(self->n_products, sizeof *self->arrays);
    self->products = memory_alloc(self->n_products, sizeof *self->products);
    self->entries = memory_alloc_zero(self->n_parts, sizeof *self->entries);
    self->item_ratings =
        memory_alloc_zero((size_t)store_n_items(self->store) + 1, sizeof *self->item_ratings);
    if (!self->arrays || !self->products || !self->entries || !self->item_ratings)
        return error_no_memory(error);
    for (size_t i = 0; i < self->n_products; i++) self->products[i] = &self->arrays[i];
    const struct store_visitor visitor = {
        .phase = "sharding",
        .want = STORE_WANT_IDS | STORE_WANT_VALUE | STORE_WANT_TIME,
        .visit = copy_block,
        .finish = take_block,
        .self = self,
        .products = self->products,
        .n_products = self->n_products,
    };
    int code = begin_shard(self, error);
    if (code == 0) code = store_visit(self->store, &visitor, self->run, error);
    return code < 0 ? code : end_shard(self, error);
}

/* ---- the directory --------------------------------------------------------------------------- */

/* Shards, their list, and what either is called while it is written. */
static bool is_own(const char *name) {
    size_t digits = strspn(name, "0123456789");
    if (digits == 5 && strcmp(name + digits, ".dpr") == 0) return true;
    if (strcmp(name, SHARD_LIST) == 0) return true;
    size_t n = strlen(name);
    return name[0] == '.' && n > 4 && strcmp(name + n - 4, ".tmp") == 0;
}

static int make_directory(struct sharding *self, const char *path, struct dpmf_error *error) {
    struct stat status;
    if (lstat(path, &status) == 0) {
        error_set(error, DPMF_ERR_USAGE_CONFLICT, "there is something of that name already");
        error_hint(error, "give the name of a directory that does not exist yet");
        error_place(error, path, 0, 0);
        return DPMF_ERR_USAGE_CONFLICT;
    }
    int code = output_directory_begin(&self->output, path, OUTPUT_PRIVATE, is_own, error);
    if (code == 0) self->directory = output_directory_place(self->output);
    return code;
}

/* Whoever asked knows the directory by its own name, and not by the one that it had meanwhile. */
static void rename_place(const struct sharding *self, const char *path, struct dpmf_error *error) {
    if (error && self->directory &&
        strncmp(error->file, self->directory, strlen(self->directory)) == 0)
        error_place(error, path, 0, 0);
}

static int check_parts(const struct sharding *self, struct dpmf_error *error) {
    const uint64_t users = store_n_users(self->store);
    if (self->n_parts == 0 || self->n_parts > SHARDS_MAX)
        return error_set(error, DPMF_ERR_USAGE_VALUE, "%zu parts: the number must be 1 to %d",
                         self->n_parts, SHARDS_MAX);
    if (self->n_parts <= users) return 0;
    error_set(error, DPMF_ERR_USAGE_VALUE, "there are fewer users than parts");
    error_hint(error, "ask for at most %llu parts", (unsigned long long)users);
    return DPMF_ERR_USAGE_VALUE;
}

int dpmf_store_shard(struct dpmf_store *store, const char *directory, uint32_t parts,
                     const struct dpmf_run *run, struct dpmf_shard_report *report,
                     struct dpmf_error *error) {
    struct dpmf_shard_report unwanted;
    struct dpmf_run own_run;
    int code = arguments_check(error, "store directory", store, directory);
    if (code == 0) code = run_take(&own_run, run, error);
    if (code < 0) return code;
    run = &own_run;
    struct sharding self = {.store = store,
                            .run = run,
                            .report = report ? report : &unwanted,
                            .n_parts = parts,
                            .has_times = store_has_times(store)};
    *self.report = (struct dpmf_shard_report){0};
    code = check_parts(&self, error);
    if (code == 0) code = make_directory(&self, directory, error);
    if (code == 0) code = cut_store(&self, error);
    if (code == 0) code = shard_list_write(self.directory, self.entries, self.n_begun, error);
    if (self.writer) {
        store_writer_abandon(self.writer);
        block_packer_free(&self.packer);
    }
    if (code < 0) {
        rename_place(&self, directory, error);
        output_directory_abandon(self.output);
    } else {
        code = output_directory_finish(self.output, error);
    }
    for (size_t i = 0; self.arrays && i < self.n_products; i++) block_arrays_free(&self.arrays[i]);
    free(self.arrays);
    free(self.products);
    free(self.entries);
    free(self.item_ratings);
    return code;
}
