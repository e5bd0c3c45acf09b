/*
 * The ratings store, `.dpr`: users grouped into blocks of about 1,000, as the paper's pipeline
 * wants them. docs/formats/dpr.md specifies the file; store_format.h draws it. This header is what
 * the rest of the library sees of it: blocks of users in plain arrays, a writer that is given
 * encoded blocks in order, a reader, and visits by all threads.
 */
#ifndef DPMF_STORE_STORE_H
#define DPMF_STORE_STORE_H

#include "base/bytes.h"
#include "base/event_count.h"
#include "dpmf.h"
#include "files/file_identity.h"
#include "store/store_layout.h"

enum {
    STORE_BLOCK_USERS = 1024,      /* users at which a block is closed */
    STORE_BLOCK_RATINGS = 1 << 19, /* most ratings of a block, unless one user has more */
    STORE_ID_MAX = 64 * 1024,      /* bytes in an id; at least 1 */
};

#define STORE_COUNT_MAX EVENT_COUNT_MAX

#define STORE_NO_TIME INT64_MIN /* this rating has no time, in a store that has times */
#define STORE_MAX_USERS UINT32_MAX
#define STORE_MAX_ITEMS UINT32_MAX

/* A block of users with all their ratings, in arrays: user i's are start[i] .. start[i+1]-1, with
 * strictly increasing item numbers. */
struct store_block {
    uint64_t first_user; /* number of the block's first user in the store */
    uint32_t n_users;
    uint64_t n_ratings;
    const uint64_t *start;    /* n_users + 1 */
    const uint32_t *item;     /* n_ratings, each */
    const double *value;      /* exact values, with STORE_WANT_VALUES */
    const float *value32;     /* values less store_base, for training; enum store_want chooses */
    const int64_t *time;      /* NULL in a store without times */
    const char *id_bytes;     /* user i's id is id_bytes[id_start[i]] .. id_start[i+1]-1 */
    const uint64_t *id_start; /* n_users + 1 */
};

/* ---- writing --------------------------------------------------------------------------------- */

/* A block as it stands in the file, made in any thread. Reuse it; free with store_encoded_free. */
struct store_encoded {
    struct byte_buffer bytes;
    uint32_t n_users;
    uint64_t n_ratings;
    double min, max;
};

/* `block->value` is read, value32 is not, and with has_times `block->time` is. */
int store_block_encode(const struct store_block *block, bool has_times, struct store_encoded *out,
                       struct dpmf_error *error);
void store_encoded_free(struct store_encoded *encoded);

struct store_writer;

/* `path` NULL: a nameless temporary store, read through store_writer_commit_open. `layout` NULL:
 * how the ratings were read is not recorded. */
int store_writer_open(struct store_writer **writer, const char *path, bool has_times,
                      const struct store_layout *layout, struct dpmf_error *error);

/* Blocks in the order of their users. */
int store_writer_append(struct store_writer *writer, const struct store_encoded *block,
                        struct dpmf_error *error);

/* The smallest and the largest rating of the blocks so far; 0 where there are none. */
void store_writer_range(const struct store_writer *writer, double *min, double *max);

struct store_item {
    const char *id;
    uint32_t id_length;
    uint64_t n_ratings;
};

/* Writes the dictionary of items (item number = place in `items`), the index and the end. Nothing
 * is in place yet: follow with commit, which frees the writer in any case. */
int store_writer_finish(struct store_writer *writer, const struct store_item *items, size_t n_items,
                        struct dpmf_error *error);
int store_writer_prepare(struct store_writer *writer, struct dpmf_error *error);

/* As output_file_clear, for stores that belong together. */
int store_writer_clear(struct store_writer *writer, struct dpmf_error *error);
int store_writer_commit(struct store_writer *writer, uint64_t *file_bytes,
                        struct dpmf_error *error);
void store_writer_abandon(struct store_writer *writer); /* NULL is fine */

/* In place of commit, for a nameless store: frees the writer and opens what it wrote. Errors will
 * call the store `name`: what it was made from. */
int store_writer_commit_open(struct store_writer *writer, const char *name,
                             struct dpmf_store **store, struct dpmf_error *error);

/* ---- several as one, and parts of one -------------------------------------------------------- */

/* Stores with the same items and times as one: their users one after the other. The set owns the
 * stores, in any case; errors call it `name`. Whether a user is in two of them is not looked at
 * here. */
int store_set_make(struct dpmf_store **stores, size_t n, const char *name, struct dpmf_store **set,
                   struct dpmf_error *error);

/* Blocks first .. first + n - 1 of a store as a store of their own, with users counted from 0
 * and the items of the whole, their counts included. It may have no users. Close it before the
 * whole. */
int store_share_make(const struct dpmf_store *whole, uint64_t first, uint64_t n,
                     struct dpmf_store **share, struct dpmf_error *error);

/* Over all blocks' checksums as they stand in the file: with what decoding checks, a digest of all
 * users and ratings. */
int store_digest(const struct dpmf_store *store, uint64_t *digest, struct dpmf_error *error);

/* ---- reading --------------------------------------------------------------------------------- */

/* Opens a file that must be a store: header, end, index and dictionary are read and checked. */
int store_open_file(const char *path, struct dpmf_store **store, struct dpmf_error *error);

/* @return whether the first bytes of a file (at least 8 of them) are those of a store */
bool store_has_magic(const void *bytes, size_t n);

/* Finds out whether a path is a store's, by its first bytes. Only of a regular file: looking at a
 * pipe would take its first bytes away. "-" is standard input, and no store. */
int store_file_is(const char *path, bool *is_store, struct dpmf_error *error);

uint64_t store_n_users(const struct dpmf_store *store);
uint64_t store_n_items(const struct dpmf_store *store);
uint64_t store_n_ratings(const struct dpmf_store *store);
uint64_t store_n_blocks(const struct dpmf_store *store);
bool store_has_times(const struct dpmf_store *store);

/* Whether the values are counts of events, whole numbers from 1 to STORE_COUNT_MAX, and not
 * ratings. */
bool store_holds_events(const struct dpmf_store *store);

/* The value from which on a rating of this store is an event: `like`, or, where all are events
 * already, -INFINITY. */
double store_least_event(const struct dpmf_store *store, double like);

/* @return whether a value is the count of an event */
static inline bool store_count_is(double value) { return event_count_is(value); }

const char *store_path(const struct dpmf_store *store);
const struct store_layout *store_layout_of(const struct dpmf_store *store);

/* What was dropped when the store was packed for this use: bad records, and ratings that made no
 * event. */
void store_set_losses(struct dpmf_store *store, const struct dpmf_import_report *report);

/* Which file the ratings were read from, where the store was made of it for this use; else it is
 * not known. */
void store_set_made_from(struct dpmf_store *store, const struct file_identity *input);
const struct file_identity *store_made_from(const struct dpmf_store *store);

/* Whether the store is read from this file, or was made from it: writing there would cost
 * ratings. */
bool store_is_read_from(const struct dpmf_store *store, const char *path);

/* What is taken off ratings, in doubles, before they become the floats of value32: 0 on usual
 * scales, and their middle where they lie so far from 0 that a float would not
 * distinguish them (10^8 and 10^8 + 4 are one float). */
double store_base(const struct dpmf_store *store);

struct store_item store_item_at(const struct dpmf_store *store, uint64_t item);

/* Size of block b as decoded by the index: for planning memory. */
void store_block_size(const struct dpmf_store *store, uint64_t b, uint32_t *n_users,
                      uint64_t *n_ratings);

/* The ratings of the largest block. */
uint64_t store_largest_block(const struct dpmf_store *store);

enum store_want {
    STORE_WANT_VALUE = 1,
    STORE_WANT_VALUE32 = 2,
    STORE_WANT_TIME = 4, /* nothing in a store without times */
    STORE_WANT_IDS = 8,
};

/* The memory a decoded block lives in; zero-initialise, reuse, free. */
struct store_space {
    uint64_t *start;
    uint32_t *item;
    double *value;
    float *value32;
    int64_t *time;
    uint64_t *id_start;
    size_t start_capacity, item_capacity, value_capacity, value32_capacity, time_capacity,
        id_start_capacity;
};

void store_space_free(struct store_space *space);

/* A block's bytes as read from the file, not yet looked at. */
struct store_raw {
    struct byte_buffer buffer;
    uint64_t block; /* its number */
};

/* Reads block b's bytes into `raw`. */
int store_block_read(const struct dpmf_store *store, uint64_t b, struct store_raw *raw,
                     struct dpmf_error *error);

/* Checks the checksum and everything in it, and decodes what is wanted (a mask of enum store_want;
 * start and item always). `out` points into `space` and `raw`. In any thread. */
int store_block_decode(const struct dpmf_store *store, const struct store_raw *raw, unsigned want,
                       struct store_space *space, struct store_block *out,
                       struct dpmf_error *error);

/* The blocks of a store, one after the other, in one thread. Fill in `store` and `want`; `next` 0
 * begins again. */
struct store_scan {
    const struct dpmf_store *store;
    unsigned want;
    uint64_t next; /* number of the next block */
    struct store_raw raw;
    struct store_space space;
};

/* Reads and decodes the next block, which is valid until the one after it. @return false after the
 * last one, and where *code is an error, from before or from here */
bool store_scan_next(struct store_scan *scan, struct store_block *block, int *code,
                     struct dpmf_error *error);
void store_scan_free(struct store_scan *scan);

/* Visits every block: `visit` in parallel (worker as in base/pipeline.h), then `finish` serially in
 * the order of blocks. `product` is one of `products`, the caller's objects that carry results from
 * visit to finish; there must be n_products > 0 of them (they bound what is in flight). Reports
 * progress as `phase`, counted in ratings. `finish` may be NULL. */
struct store_visitor {
    const char *phase;
    unsigned want;
    int (*visit)(void *self, int worker, const struct store_block *block, void *product,
                 struct dpmf_error *error);
    int (*finish)(void *self, void *product, struct dpmf_error *error);
    void *self;
    void *const *products;
    size_t n_products;
};

int store_visit(const struct dpmf_store *store, const struct store_visitor *visitor,
                const struct dpmf_run *run, struct dpmf_error *error);

/* How many products to make for a visit: enough that no worker waits, but no more than run->memory
 * lets be at work at once (each product is taken to be about as large as a block). `store` may be
 * NULL. */
size_t store_visit_products(const struct dpmf_store *store, const struct dpmf_run *run);

#endif
