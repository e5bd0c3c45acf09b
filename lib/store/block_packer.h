/*
 * Users gathered into blocks. block_arrays is a block that grows user by user, in arrays that are
 * used again and again; a block_packer fills one from users given in order and appends it to a
 * store, encoded, whenever the next user would make it larger than a block should be. The generator
 * and the splitter build their blocks with it, so that a store made of parts of another has full
 * blocks again.
 */
#ifndef DPMF_STORE_BLOCK_PACKER_H
#define DPMF_STORE_BLOCK_PACKER_H

#include "dpmf.h"
#include "store/store.h"

/* Zero-initialise; reuse after block_arrays_clear; free. */
struct block_arrays {
    uint64_t *start; /* users' first ratings, n_users + 1 after block_arrays_room */
    uint32_t *item;
    double *value;
    int64_t *time; /* times; NULL where none are wanted */
    char *id_bytes;
    uint64_t *id_start;
    size_t start_capacity, item_capacity, value_capacity, time_capacity, id_bytes_capacity,
        id_start_capacity;
    uint32_t n_users;
    uint64_t n_ratings; /* ratings of the users that are complete */
};

void block_arrays_free(struct block_arrays *arrays);
void block_arrays_clear(struct block_arrays *arrays);

/* Makes room for one more user with up to n_ratings ratings and an id of id_length bytes. The
 * ratings are then written at item[n_ratings], value[n_ratings] ... and block_arrays_end_user says
 * how many there are. @return false without memory */
bool block_arrays_room(struct block_arrays *arrays, uint64_t n_ratings, size_t id_length,
                       bool has_times);
void block_arrays_end_user(struct block_arrays *arrays, uint64_t n_ratings, const char *id,
                           size_t id_length);

/* Appends user i of `block`, whole. @return false without memory */
bool block_arrays_add(struct block_arrays *arrays, const struct store_block *block, uint32_t i,
                      bool has_times);

/* The users so far, as a block; it points into the arrays. */
struct store_block block_arrays_view(const struct block_arrays *arrays, uint64_t first_user);

struct block_packer {
    struct store_writer *writer; /* the caller's */
    bool has_times;
    struct block_arrays pending;
    struct store_encoded encoded;
    uint64_t n_users, n_ratings; /* appended to the writer so far */
};

void block_packer_init(struct block_packer *packer, struct store_writer *writer, bool has_times);
void block_packer_free(struct block_packer *packer);

/* Takes all users of `block`, in order. */
int block_packer_add(struct block_packer *packer, const struct store_block *block,
                     struct dpmf_error *error);

/* Appends what is pending: call it after the last user. */
int block_packer_flush(struct block_packer *packer, struct dpmf_error *error);

#endif
