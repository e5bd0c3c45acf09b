/*
 * The lock-free-to-read id map of id_map.h. A table of 16-byte slots by linear probing: an id of up
 * to eight bytes is its own key, so that finding it touches one cache line; a longer one is found by
 * its hash and compared. A slot is filled once, its number published last with release order, and
 * never changes. A full table is replaced by one twice its size; readers still in the old one see
 * fewer ids, which only means that the adding thread looks again. Old tables are kept until the end:
 * together they are no larger than the last.
 */
#include "ratings/id_map.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/error.h"
#include "random/random.h"

enum {
    SHORT_ID = 8,
    FIRST_BITS = 12,
    TABLES_MAX = 32,
    ID_CHUNK_BITS = 16, /* numbers are found through chunks of this many pointers, which never move */
    ID_CHUNK = 1 << ID_CHUNK_BITS,
    ID_CHUNKS_MAX = 1 << (32 - ID_CHUNK_BITS),
    TEXT_CHUNK = 1 << 20, /* ids' bytes live in chunks, which never move either */
};

#define TAG_HASHED UINT32_C(0x80000000)

struct slot {
    uint64_t word;
    uint32_t tag;
    _Atomic uint32_t number_plus_1; /* 0: empty */
};

struct table {
    int bits;
    struct slot slots[];
};

struct text_chunk {
    struct text_chunk *next;
    char bytes[];
};

struct id_map {
    uint64_t seed; /* from the system, so that nobody can choose ids that collide */
    struct table *_Atomic table;
    struct table *tables[TABLES_MAX]; /* all that there were */
    int n_tables;
    uint64_t n;
    char *_Atomic *ids[ID_CHUNKS_MAX]; /* number -> u32 length, bytes */
    struct text_chunk *text;
    size_t text_used, text_size;
    uint64_t bytes;
};

static struct table *table_new(int bits) {
    size_t n = (size_t)1 << bits;
    struct table *table = memory_alloc_zero(1, sizeof *table + n * sizeof(struct slot));
    if (table) table->bits = bits;
    return table;
}

int id_map_init(struct id_map **out, struct dpmf_error *error) {
    *out = NULL;
    struct id_map *map = memory_alloc_zero(1, sizeof *map);
    if (!map) return error_no_memory(error);
    int code = random_from_system(&map->seed, sizeof map->seed, error);
    if (code < 0) {
        free(map);
        return code;
    }
    struct table *table = table_new(FIRST_BITS);
    if (!table) {
        free(map);
        return error_no_memory(error);
    }
    map->tables[map->n_tables++] = table;
    atomic_init(&map->table, table);
    map->bytes = sizeof *map + (sizeof(struct slot) << FIRST_BITS);
    *out = map;
    return 0;
}

void id_map_free(struct id_map *map) {
    if (!map) return;
    for (int i = 0; i < map->n_tables; i++) free(map->tables[i]);
    for (size_t i = 0; i < ID_CHUNKS_MAX && map->ids[i]; i++) free((void *)map->ids[i]);
    while (map->text) {
        struct text_chunk *next = map->text->next;
        free(map->text);
        map->text = next;
    }
    free(map);
}

struct id_key id_map_key(const struct id_map *map, const char *id, uint32_t length) {
    struct id_key key;
    if (length <= SHORT_ID) {
        uint64_t word = 0;
        memcpy(&word, id, length);
        key.word = word;
        key.tag = length;
    } else {
        key.word = checksum64_seeded(id, length, map->seed);
        key.tag = length | TAG_HASHED;
    }
    uint64_t h = (key.word ^ map->seed) * UINT64_C(0x9FB21C651E98DF25) + key.tag;
    h ^= h >> 32;
    h *= UINT64_C(0xD6E8FEB86659FD93);
    key.hash = h ^ (h >> 29);
    return key;
}

static size_t first_slot(const struct table *table, uint64_t hash) {
    return (size_t)(hash >> (64 - table->bits));
}

static const char *stored_id(const struct id_map *map, uint32_t number, uint32_t *length) {
    const char *stored = atomic_load_explicit(
        &map->ids[number >> ID_CHUNK_BITS][number & (ID_CHUNK - 1)], memory_order_relaxed);
    memcpy(length, stored, sizeof *length);
    return stored + sizeof *length;
}

void id_map_prefetch(const struct id_map *map, struct id_key key) {
    const struct table *table = atomic_load_explicit(&map->table, memory_order_acquire);
    __builtin_prefetch(&table->slots[first_slot(table, key.hash)]);
}

uint32_t id_map_find(const struct id_map *map, struct id_key key, const char *id, uint32_t length) {
    const struct table *table = atomic_load_explicit(&map->table, memory_order_acquire);
    size_t mask = ((size_t)1 << table->bits) - 1;
    for (size_t at = first_slot(table, key.hash);; at = (at + 1) & mask) {
        const struct slot *slot = &table->slots[at];
        uint32_t number_plus_1 = atomic_load_explicit(&slot->number_plus_1, memory_order_acquire);
        if (number_plus_1 == 0) return ID_MAP_NONE;
        if (slot->word != key.word || slot->tag != key.tag) continue;
        if (!(key.tag & TAG_HASHED)) return number_plus_1 - 1;
        uint32_t stored_length;
        const char *stored = stored_id(map, number_plus_1 - 1, &stored_length);
        if (stored_length == length && memcmp(stored, id, length) == 0) return number_plus_1 - 1;
    }
}

static void put_slot(struct table *table, const struct id_key *key, uint32_t number) {
    size_t mask = ((size_t)1 << table->bits) - 1, at = first_slot(table, key->hash);
    while (atomic_load_explicit(&table->slots[at].number_plus_1, memory_order_relaxed))
        at = (at + 1) & mask;
    table->slots[at].word = key->word;
    table->slots[at].tag = key->tag;
    atomic_store_explicit(&table->slots[at].number_plus_1, number + 1, memory_order_release);
}

static bool grow_table(struct id_map *map) {
    struct table *old = atomic_load_explicit(&map->table, memory_order_relaxed);
    if (map->n_tables == TABLES_MAX) return false;
    struct table *table = table_new(old->bits + 1);
    if (!table) return false;
    for (size_t at = 0; at < (size_t)1 << old->bits; at++) {
        const struct slot *slot = &old->slots[at];
        uint32_t number_plus_1 = atomic_load_explicit(&slot->number_plus_1, memory_order_relaxed);
        if (number_plus_1 == 0) continue;
        uint32_t length;
        const char *id = stored_id(map, number_plus_1 - 1, &length);
        struct id_key key = id_map_key(map, id, length);
        put_slot(table, &key, number_plus_1 - 1);
    }
    map->tables[map->n_tables++] = table;
    map->bytes += sizeof(struct slot) << table->bits;
    atomic_store_explicit(&map->table, table, memory_order_release);
    return true;
}

/* Keeps a copy of the id as its number's text. */
static bool keep_text(struct id_map *map, const char *id, uint32_t length) {
    size_t chunk = (size_t)(map->n >> ID_CHUNK_BITS);
    if (!map->ids[chunk]) {
        map->ids[chunk] = memory_alloc_zero(ID_CHUNK, sizeof map->ids[0][0]);
        if (!map->ids[chunk]) return false;
        map->bytes += ID_CHUNK * sizeof map->ids[0][0];
    }
    size_t size = sizeof length + length;
    if (!map->text || map->text_size - map->text_used < size) {
        size_t room = size > TEXT_CHUNK ? size : TEXT_CHUNK;
        struct text_chunk *text = memory_alloc(1, sizeof *text + room);
        if (!text) return false;
        text->next = map->text;
        map->text = text;
        map->text_used = 0;
        map->text_size = room;
        map->bytes += room;
    }
    char *at = map->text->bytes + map->text_used;
    memcpy(at, &length, sizeof length);
    memcpy(at + sizeof length, id, length);
    map->text_used += size;
    atomic_store_explicit(&map->ids[chunk][map->n & (ID_CHUNK - 1)], at, memory_order_relaxed);
    return true;
}

int id_map_add(struct id_map *map, struct id_key key, const char *id, uint32_t length,
               uint32_t *number, struct dpmf_error *error) {
    *number = id_map_find(map, key, id, length);
    if (*number != ID_MAP_NONE) return 0;
    if (map->n >= ID_MAP_NONE - 1)
        return error_set(error, DPMF_ERR_INPUT_TOO_MANY, "more than %u different ids",
                         ID_MAP_NONE - 1);
    struct table *table = atomic_load_explicit(&map->table, memory_order_relaxed);
    if (map->n >= ((uint64_t)5 << table->bits) / 8 && !grow_table(map))
        return error_no_memory(error);
    if (!keep_text(map, id, length)) return error_no_memory(error);
    *number = (uint32_t)map->n++;
    put_slot(atomic_load_explicit(&map->table, memory_order_relaxed), &key, *number);
    return 0;
}

uint64_t id_map_size(const struct id_map *map) { return map->n; }
uint64_t id_map_bytes(const struct id_map *map) { return map->bytes; }

const char *id_map_id(const struct id_map *map, uint64_t number, uint32_t *length) {
    assert(number < map->n);
    return stored_id(map, (uint32_t)number, length);
}
