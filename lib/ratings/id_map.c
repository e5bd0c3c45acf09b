/*
 * The lock-free-to-read id map of id_map.h. A table of 16-byte slots by linear probing: an id of up
 * to eight bytes is its own key, so that finding it touches one cache line; a longer one is found
 * by its hash and compared. A slot is filled once, its number published last with release order,
 * and never changes. A full table is replaced by one twice its size; readers still in the old one
 * see fewer ids, which only means that the adding thread looks again. Old tables are kept until the
 * end: together they are no larger than the last.
 *
 * An id that came as a whole number has a second way to its number, so that no text is made of it
 * to find it: small ones, which most are, index an array, in chunks; others have a slot of their
 * own in the table.
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
    ID_CHUNK_BITS =
        16, /* numbers are found through chunks of this many pointers, which never move */
    ID_CHUNK = 1 << ID_CHUNK_BITS,
    ID_CHUNKS_MAX = 1 << (32 - ID_CHUNK_BITS),
    TEXT_CHUNK = 1 << 20, /* ids' bytes live in chunks, which never move either */
    SMALL_CHUNK_BITS = 12,
    SMALL_CHUNK = 1 << SMALL_CHUNK_BITS,
    SMALL_CHUNKS = 1 << 10, /* so that small whole numbers are those below 2^22 */
};

#define TAG_HASHED UINT32_C(0x80000000)
#define TAG_WHOLE UINT32_C(0x40000000) /* no id is so long */

/* What an id is looked up by. */
struct id_key {
    uint64_t word; /* the id itself when it is short, else its hash */
    uint64_t hash;
    uint32_t tag; /* its length, and whether `word` is a hash; or TAG_WHOLE */
};

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
    uint64_t n_wholes;                             /* slots of whole numbers */
    _Atomic uint32_t *_Atomic small[SMALL_CHUNKS]; /* whole number -> its number plus 1, or 0 */
    char *_Atomic *ids[ID_CHUNKS_MAX];             /* number -> u32 length, bytes */
    struct text_chunk *text;
    size_t text_used, text_size;
    uint64_t bytes;
};

static size_t table_bytes(int bits) { return sizeof(struct table) + (sizeof(struct slot) << bits); }

/* In large pages where available: lookups are all over it, and each would miss the TLB. */
static struct table *table_new(int bits) {
    struct table *table = memory_map(table_bytes(bits));
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
    map->bytes = sizeof *map + table_bytes(FIRST_BITS);
    *out = map;
    return 0;
}

void id_map_free(struct id_map *map) {
    if (!map) return;
    for (int i = 0; i < map->n_tables; i++)
        memory_unmap(map->tables[i], table_bytes(map->tables[i]->bits));
    for (size_t i = 0; i < ID_CHUNKS_MAX && map->ids[i]; i++) free((void *)map->ids[i]);
    for (size_t i = 0; i < SMALL_CHUNKS; i++)
        free((void *)atomic_load_explicit(&map->small[i], memory_order_relaxed));
    while (map->text) {
        struct text_chunk *next = map->text->next;
        free(map->text);
        map->text = next;
    }
    free(map);
}

/* Up to eight bytes as one word: two halves that may overlap, which together with the length tell
 * any two ids apart, without a loop over bytes. */
static inline uint64_t short_word(const char *id, uint32_t length) {
    if (length >= 4) {
        uint32_t first, last;
        memcpy(&first, id, 4);
        memcpy(&last, id + length - 4, 4);
        return (uint64_t)last << 32 | first;
    }
    return (uint64_t)(uint8_t)id[0] | (uint64_t)(uint8_t)id[length / 2] << 8 |
           (uint64_t)(uint8_t)id[length - 1] << 16;
}

static inline uint64_t hash_of(const struct id_map *map, uint64_t word, uint32_t tag) {
    uint64_t h = (word ^ map->seed) * UINT64_C(0x9FB21C651E98DF25) + tag;
    h ^= h >> 32;
    h *= UINT64_C(0xD6E8FEB86659FD93);
    return h ^ (h >> 29);
}

static inline struct id_key key_of_whole(const struct id_map *map, int64_t whole) {
    return (struct id_key){(uint64_t)whole, hash_of(map, (uint64_t)whole, TAG_WHOLE), TAG_WHOLE};
}

static inline struct id_key key_of(const struct id_map *map, struct id_text id) {
    struct id_key key;
    if (id.length <= SHORT_ID) {
        key.word = short_word(id.bytes, id.length);
        key.tag = id.length;
    } else {
        key.word = checksum64_seeded(id.bytes, id.length, map->seed);
        key.tag = id.length | TAG_HASHED;
    }
    key.hash = hash_of(map, key.word, key.tag);
    return key;
}

static inline size_t first_slot(const struct table *table, uint64_t hash) {
    return (size_t)(hash >> (64 - table->bits));
}

static struct id_text stored_id(const struct id_map *map, uint32_t number) {
    const char *stored = atomic_load_explicit(
        &map->ids[number >> ID_CHUNK_BITS][number & (ID_CHUNK - 1)], memory_order_relaxed);
    struct id_text id;
    memcpy(&id.length, stored, sizeof id.length);
    id.bytes = stored + sizeof id.length;
    return id;
}

static inline uint32_t find(const struct id_map *map, const struct table *table,
                            const struct id_key *key, struct id_text id) {
    size_t mask = ((size_t)1 << table->bits) - 1;
    for (size_t at = first_slot(table, key->hash);; at = (at + 1) & mask) {
        const struct slot *slot = &table->slots[at];
        uint32_t number_plus_1 = atomic_load_explicit(&slot->number_plus_1, memory_order_acquire);
        if (number_plus_1 == 0) return ID_MAP_NONE;
        if (slot->word != key->word || slot->tag != key->tag) continue;
        if (!(key->tag & TAG_HASHED)) return number_plus_1 - 1;
        struct id_text stored = stored_id(map, number_plus_1 - 1);
        if (stored.length == id.length && memcmp(stored.bytes, id.bytes, id.length) == 0)
            return number_plus_1 - 1;
    }
}

uint32_t id_map_find(const struct id_map *map, struct id_text id) {
    struct id_key key = key_of(map, id);
    return find(map, atomic_load_explicit(&map->table, memory_order_acquire), &key, id);
}

void id_map_find_many(const struct id_map *map, const struct id_text *ids, int n,
                      uint32_t *numbers) {
    assert(n <= ID_MAP_MANY);
    struct id_key keys[ID_MAP_MANY];
    const struct table *table = atomic_load_explicit(&map->table, memory_order_acquire);
    for (int i = 0; i < n; i++) {
        keys[i] = key_of(map, ids[i]);
        __builtin_prefetch(&table->slots[first_slot(table, keys[i].hash)]);
    }
    for (int i = 0; i < n; i++) {
        bool again = i > 0 && keys[i].word == keys[i - 1].word && keys[i].tag == keys[i - 1].tag &&
                     !(keys[i].tag & TAG_HASHED);
        numbers[i] = again ? numbers[i - 1] : find(map, table, &keys[i], ids[i]);
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
        const struct id_key key = {slot->word, hash_of(map, slot->word, slot->tag), slot->tag};
        put_slot(table, &key, number_plus_1 - 1);
    }
    map->tables[map->n_tables++] = table;
    map->bytes += table_bytes(table->bits);
    atomic_store_explicit(&map->table, table, memory_order_release);
    return true;
}

/* Keeps a copy of the id as its number's text. */
static bool keep_text(struct id_map *map, struct id_text id) {
    size_t chunk = (size_t)(map->n >> ID_CHUNK_BITS);
    if (!map->ids[chunk]) {
        map->ids[chunk] = memory_alloc_zero(ID_CHUNK, sizeof map->ids[0][0]);
        if (!map->ids[chunk]) return false;
        map->bytes += ID_CHUNK * sizeof map->ids[0][0];
    }
    size_t size = sizeof id.length + id.length;
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
    memcpy(at, &id.length, sizeof id.length);
    memcpy(at + sizeof id.length, id.bytes, id.length);
    map->text_used += size;
    atomic_store_explicit(&map->ids[chunk][map->n & (ID_CHUNK - 1)], at, memory_order_relaxed);
    return true;
}

/* Whether there is room for another slot. */
static bool keep_room(struct id_map *map) {
    const struct table *table = atomic_load_explicit(&map->table, memory_order_relaxed);
    return map->n + map->n_wholes < ((uint64_t)5 << table->bits) / 8 || grow_table(map);
}

int id_map_add(struct id_map *map, struct id_text id, uint32_t *number, struct dpmf_error *error) {
    struct id_key key = key_of(map, id);
    struct table *table = atomic_load_explicit(&map->table, memory_order_relaxed);
    *number = find(map, table, &key, id);
    if (*number != ID_MAP_NONE) return 0;
    if (map->n >= ID_MAP_NONE - 1)
        return error_set(error, DPMF_ERR_INPUT_TOO_MANY, "more than %u different ids",
                         ID_MAP_NONE - 1);
    if (!keep_room(map)) return error_no_memory(error);
    if (!keep_text(map, id)) return error_no_memory(error);
    *number = (uint32_t)map->n++;
    put_slot(atomic_load_explicit(&map->table, memory_order_relaxed), &key, *number);
    return 0;
}

static inline bool is_small(int64_t whole) {
    return (uint64_t)whole < (uint64_t)SMALL_CHUNKS << SMALL_CHUNK_BITS;
}

static inline uint32_t find_small(const struct id_map *map, int64_t whole) {
    const _Atomic uint32_t *chunk =
        atomic_load_explicit(&map->small[whole >> SMALL_CHUNK_BITS], memory_order_acquire);
    if (!chunk) return ID_MAP_NONE;
    /* 0, of an id that is not there, becomes ID_MAP_NONE */
    return atomic_load_explicit(&chunk[whole & (SMALL_CHUNK - 1)], memory_order_relaxed) - 1;
}

void id_map_find_wholes(const struct id_map *map, const int64_t *wholes, int n, uint32_t *numbers) {
    assert(n <= ID_MAP_MANY);
    struct id_key keys[ID_MAP_MANY];
    int large[ID_MAP_MANY], n_large = 0;
    const struct table *table = atomic_load_explicit(&map->table, memory_order_acquire);
    for (int i = 0; i < n; i++) {
        if (is_small(wholes[i])) {
            numbers[i] = find_small(map, wholes[i]);
            continue;
        }
        keys[n_large] = key_of_whole(map, wholes[i]);
        __builtin_prefetch(&table->slots[first_slot(table, keys[n_large].hash)]);
        large[n_large++] = i;
    }
    for (int k = 0; k < n_large; k++)
        numbers[large[k]] = find(map, table, &keys[k], (struct id_text){NULL, 0});
}

static int add_small(struct id_map *map, int64_t whole, uint32_t number, struct dpmf_error *error) {
    _Atomic uint32_t *_Atomic *place = &map->small[whole >> SMALL_CHUNK_BITS];
    _Atomic uint32_t *chunk = atomic_load_explicit(place, memory_order_relaxed);
    if (!chunk) {
        chunk = memory_alloc_zero(SMALL_CHUNK, sizeof chunk[0]);
        if (!chunk) return error_no_memory(error);
        map->bytes += SMALL_CHUNK * sizeof chunk[0];
        atomic_store_explicit(place, chunk, memory_order_release);
    }
    atomic_store_explicit(&chunk[whole & (SMALL_CHUNK - 1)], number + 1, memory_order_relaxed);
    return 0;
}

int id_map_add_whole(struct id_map *map, int64_t whole, struct id_text id, uint32_t *number,
                     struct dpmf_error *error) {
    int code = id_map_add(map, id, number, error);
    if (code < 0) return code;
    if (is_small(whole)) return add_small(map, whole, *number, error);
    const struct id_key key = key_of_whole(map, whole);
    if (find(map, atomic_load_explicit(&map->table, memory_order_relaxed), &key, id) != ID_MAP_NONE)
        return 0;
    if (!keep_room(map)) return error_no_memory(error);
    map->n_wholes++;
    put_slot(atomic_load_explicit(&map->table, memory_order_relaxed), &key, *number);
    return 0;
}

uint64_t id_map_size(const struct id_map *map) { return map->n; }
uint64_t id_map_bytes(const struct id_map *map) { return map->bytes; }

struct id_text id_map_id(const struct id_map *map, uint64_t number) {
    assert(number < map->n);
    return stored_id(map, (uint32_t)number);
}
