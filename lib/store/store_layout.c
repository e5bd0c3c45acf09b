/*
 * Layouts put together, and as bytes. Fed by the sources of ratings and by the header of a store;
 * feeds both, and the check that a private run makes.
 */
#include "store/store_layout.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"

/* In the order of their bits, which are in files: add at the end. */
static const char *const formats[] = {
    "csv",   "tsv",   "movielens", "u.data",   "netflix", "yahoo", "matrixmarket", "libmf",
    "inter", "jsonl", "sqlite",    "postgres", "arrays",  "synth", "arrow",        "parquet",
};

enum { N_FORMATS = sizeof formats / sizeof formats[0], FIRST_VARIANT = 20 };

_Static_assert(N_FORMATS <= FIRST_VARIANT, "a bit each, below those of variants");

/* Formats whose ids are not texts, or texts that CSV would spell otherwise. */
static const struct format_ids {
    const char *name;
    enum store_ids ids;
} formats_ids[] = {
    {"matrixmarket", STORE_IDS_WHOLE}, {"libmf", STORE_IDS_WHOLE},   {"synth", STORE_IDS_WHOLE},
    {"jsonl", STORE_IDS_EITHER},       {"arrays", STORE_IDS_EITHER}, {"sqlite", STORE_IDS_EITHER},
    {"movielens", STORE_IDS_BARE},     {"u.data", STORE_IDS_BARE},   {"inter", STORE_IDS_BARE},
    {"netflix", STORE_IDS_BARE},       {"yahoo", STORE_IDS_BARE},
};

/* Formats by a schema that says otherwise, shown by the same name; from the last bit down, which is
 * in files: add at the end. */
static const struct format_ids variants[] = {
    {"arrow", STORE_IDS_WHOLE},    {"parquet", STORE_IDS_WHOLE},   {"parquet", STORE_IDS_UUID},
    {"postgres", STORE_IDS_WHOLE}, {"postgres", STORE_IDS_UUID},   {"sqlite", STORE_IDS_TEXT},
    {"sqlite", STORE_IDS_WHOLE},   {"postgres", STORE_IDS_EITHER}, {"inter", STORE_IDS_WHOLE},
    {"sqlite", STORE_IDS_NUMERIC}, {"postgres", STORE_IDS_PADDED},
};

enum { N_VARIANTS = sizeof variants / sizeof variants[0] };

_Static_assert(N_VARIANTS <= 32 - FIRST_VARIANT, "above the bits of formats");

static uint32_t variant_bit(size_t i) { return UINT32_C(1) << (31 - i); }

struct store_layout store_layout_declared(void) {
    return (struct store_layout){.origin = STORE_ORIGIN_DECLARED, .drops_bad = true};
}

uint32_t store_layout_format(const char *name) {
    assert(name);
    for (size_t i = 0; i < N_FORMATS; i++)
        if (strcmp(formats[i], name) == 0) return UINT32_C(1) << i;
    return 0;
}

uint32_t store_layout_format_of_ids(const char *name, enum store_ids ids) {
    for (size_t i = 0; i < N_VARIANTS; i++)
        if (variants[i].ids == ids && strcmp(variants[i].name, name) == 0) return variant_bit(i);
    return store_layout_format(name);
}

const char *store_layout_bit(uint32_t bit, enum store_ids *ids) {
    for (size_t i = 0; i < N_VARIANTS; i++) {
        if (bit != variant_bit(i)) continue;
        *ids = variants[i].ids;
        return variants[i].name;
    }
    for (size_t i = 0; i < N_FORMATS; i++) {
        if (bit != UINT32_C(1) << i) continue;
        *ids = STORE_IDS_TEXT;
        for (size_t k = 0; k < sizeof formats_ids / sizeof formats_ids[0]; k++)
            if (strcmp(formats_ids[k].name, formats[i]) == 0) *ids = formats_ids[k].ids;
        return formats[i];
    }
    return NULL;
}

/* Two inputs in which each record decides are alike where they are of one format. */
bool store_layout_mixes_ids(const struct store_layout *layout) {
    enum store_ids first = STORE_IDS_TEXT, ids = STORE_IDS_TEXT;
    const char *first_name = NULL, *name;
    for (int i = 0; i < 32; i++) {
        const uint32_t bit = layout->formats & UINT32_C(1) << i;
        if (bit == 0 || !(name = store_layout_bit(bit, &ids))) continue;
        if (!first_name) first = ids, first_name = name;
        if (ids != first || (ids == STORE_IDS_EITHER && strcmp(name, first_name) != 0)) return true;
    }
    return false;
}

const char *store_layout_format_name(size_t i) { return i < N_FORMATS ? formats[i] : NULL; }

static bool same_fields(const struct store_layout *a, const struct store_layout *b) {
    return a->formats == b->formats && a->separator == b->separator &&
           a->has_header == b->has_header && a->n_columns == b->n_columns &&
           memcmp(a->column, b->column, sizeof a->column) == 0;
}

void store_layout_join(struct store_layout *all, const struct store_layout *one) {
    assert(all && one && all != one);
    const struct store_layout before = *all;
    const bool is_first = before.formats == 0;
    *all = is_first || same_fields(&before, one) ? *one : (struct store_layout){0};
    all->formats = before.formats | one->formats;
    all->holds_events = one->holds_events;
    all->is_shard = before.is_shard || one->is_shard;
    all->is_queried = before.is_queried || one->is_queried;
    all->is_ranged = before.is_ranged || one->is_ranged;
    all->has_half = before.has_half || one->has_half;
    all->is_unordered = before.is_unordered || one->is_unordered;
    all->lacks_times = one->lacks_times && (is_first || before.lacks_times);
    all->liked = one->liked;
    all->like = one->like;
    if (!is_first && (before.liked != one->liked || before.like != one->like)) {
        all->liked = STORE_LIKED_SEVERAL;
        all->like = 0;
    }
    memcpy(all->half, is_first && before.half[0] == 0 ? one->half : before.half, sizeof all->half);
    if (memcmp(all->half, one->half, sizeof all->half) != 0) {
        all->has_half = true;
        memset(all->half, 0, sizeof all->half);
        all->half[0] = STORE_HALF_SEVERAL;
    }
    all->origin = before.origin < one->origin ? before.origin : one->origin;
    all->drops_bad = before.drops_bad && one->drops_bad;
}

bool store_layout_is_by_record(const struct store_layout *layout) {
    return layout->origin == STORE_ORIGIN_DECLARED && layout->drops_bad && !layout->is_shard &&
           !store_layout_mixes_ids(layout);
}

bool store_layout_has_no_times(const struct store_layout *layout) {
    return layout->lacks_times || (layout->n_columns > 0 && layout->column[STORE_ROLES - 1] == 0);
}

struct dpmf_layout store_layout_shown(const struct store_layout *layout) {
    static const char *const origins[] = {"not recorded", "guessed", "dependent", "declared"};
    struct dpmf_layout shown = {.origin = origins[layout->origin],
                                .drops_bad = layout->drops_bad,
                                .is_by_record = store_layout_is_by_record(layout),
                                .is_shard = layout->is_shard,
                                .is_queried = layout->is_queried};
    uint32_t read = layout->formats;
    size_t n = 0;
    for (size_t i = 0; i < N_VARIANTS; i++)
        if (read & variant_bit(i)) read |= store_layout_format(variants[i].name);
    for (size_t i = 0; i < N_FORMATS && n < sizeof shown.formats; i++)
        if (read >> i & 1)
            n += (size_t)snprintf(shown.formats + n, sizeof shown.formats - n, "%s%s",
                                  n > 0 ? ", " : "", formats[i]);
    return shown;
}

/* ---- halves of splits ------------------------------------------------------------------------ */

bool store_layout_is_half(const struct store_layout *layout) {
    return layout->half[0] > STORE_HALF_SEVERAL;
}

void store_layout_add_half(struct store_layout *layout, uint64_t split, bool is_test) {
    size_t n = 0;
    if (!store_layout_is_half(layout)) layout->half[0] = 0;
    while (n < STORE_SPLITS && layout->half[n] != 0) n++;
    if (n == STORE_SPLITS) return;
    uint32_t number = (uint32_t)(split >> 32) & ~(uint32_t)STORE_HALF_TEST;
    if (number == 0) number = 2; /* 0 and 1 are no halves */
    layout->half[n] = number | (is_test ? STORE_HALF_TEST : 0);
}

enum store_kin store_layout_kin(const struct store_layout *a, const struct store_layout *b) {
    if (!store_layout_is_half(a) || !store_layout_is_half(b)) return STORE_KIN_UNKNOWN;
    size_t i = 0;
    while (i < STORE_SPLITS && a->half[i] != 0 && a->half[i] == b->half[i]) i++;
    if (i == STORE_SPLITS || (a->half[i] == 0 && b->half[i] == 0)) return STORE_KIN_UNKNOWN;
    if (a->half[i] == 0 || b->half[i] == 0) return STORE_KIN_WITHIN;
    return (a->half[i] ^ b->half[i]) == STORE_HALF_TEST ? STORE_KIN_APART : STORE_KIN_STRANGERS;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

enum {
    AT_ORIGIN = 0,
    AT_DROPS_BAD = 1,
    AT_SEPARATOR = 2,
    AT_HEADER = 3,
    AT_FORMATS = 4,
    AT_COLUMNS = 8,
    AT_COLUMN = 10,
    AT_FLAGS = AT_COLUMN + 2 * STORE_ROLES, /* bits below */
    AT_LIKED = AT_FLAGS + 1,
    AT_FIRST_HALF = AT_LIKED + 1,
    AT_LIKE = 24,
    AT_MORE_HALVES = AT_LIKE + 8,

    FLAG_SHARD = 1,
    FLAG_QUERIED = 2,
    FLAG_HALF_AMONG = 4,
    FLAG_RANGED = 8,
    FLAGS_KNOWN = FLAG_SHARD | FLAG_QUERIED | FLAG_HALF_AMONG | FLAG_RANGED,
};

static void put_u16(uint8_t *at, uint16_t value) {
    assert(at);
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
}

static uint16_t get_u16(const uint8_t *at) { return (uint16_t)(at[0] | at[1] << 8); }

static uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static size_t half_at(size_t i) {
    assert(i < STORE_SPLITS);
    return i == 0 ? AT_FIRST_HALF : AT_MORE_HALVES + 4 * (i - 1);
}

/* @return whether what was read can have been written */
static bool read_halves(const uint8_t *bytes, struct store_layout *layout) {
    bool sound = true;
    for (size_t i = 0; i < STORE_SPLITS; i++) {
        layout->half[i] = bytes_get_u32(bytes + half_at(i));
        sound = sound && layout->half[i] != STORE_HALF_SEVERAL &&
                (i == 0 || layout->half[i] == 0 || layout->half[i - 1] != 0);
    }
    return sound;
}

static void write_halves(const struct store_layout *layout, uint8_t *bytes) {
    for (size_t i = 0; i < STORE_SPLITS && store_layout_is_half(layout); i++)
        bytes_put_u32(bytes + half_at(i), layout->half[i]);
}

/* @return whether what was read can have been written */
static bool read_like(const uint8_t *bytes, struct store_layout *layout) {
    const uint64_t bits = bytes_get_u64(bytes + AT_LIKE);
    if (bytes[AT_LIKED] > STORE_LIKED_SEVERAL) return false;
    layout->liked = (enum store_liked)bytes[AT_LIKED];
    if (layout->liked != STORE_LIKED_FROM) return bits == 0;
    memcpy(&layout->like, &bits, sizeof bits);
    return isfinite(layout->like);
}

void store_layout_write(const struct store_layout *layout, uint8_t bytes[STORE_LAYOUT_BYTES]) {
    memset(bytes, 0, STORE_LAYOUT_BYTES);
    write_halves(layout, bytes);
    if (layout->origin == STORE_ORIGIN_UNKNOWN) return;
    bytes[AT_ORIGIN] = (uint8_t)layout->origin;
    bytes[AT_DROPS_BAD] = layout->drops_bad;
    bytes[AT_SEPARATOR] = (uint8_t)layout->separator;
    bytes[AT_HEADER] = layout->has_header;
    bytes_put_u32(bytes + AT_FORMATS, layout->formats);
    put_u16(bytes + AT_COLUMNS, layout->n_columns);
    for (size_t i = 0; i < STORE_ROLES; i++) put_u16(bytes + AT_COLUMN + 2 * i, layout->column[i]);
    bytes[AT_FLAGS] =
        (uint8_t)((layout->is_shard ? FLAG_SHARD : 0) | (layout->is_queried ? FLAG_QUERIED : 0) |
                  (layout->has_half ? FLAG_HALF_AMONG : 0) | (layout->is_ranged ? FLAG_RANGED : 0));
    bytes[AT_LIKED] = (uint8_t)layout->liked;
    if (layout->liked == STORE_LIKED_FROM) bytes_put_u64(bytes + AT_LIKE, bits_of(layout->like));
}

bool store_layout_read(const uint8_t bytes[STORE_LAYOUT_BYTES], struct store_layout *layout) {
    *layout = (struct store_layout){
        .origin = (enum store_origin)bytes[AT_ORIGIN],
        .drops_bad = bytes[AT_DROPS_BAD] == 1,
        .separator = (char)bytes[AT_SEPARATOR],
        .has_header = bytes[AT_HEADER] == 1,
        .formats = bytes_get_u32(bytes + AT_FORMATS),
        .n_columns = get_u16(bytes + AT_COLUMNS),
    };
    bool sound = bytes[AT_ORIGIN] >= STORE_ORIGIN_GUESSED &&
                 bytes[AT_ORIGIN] <= STORE_ORIGIN_DECLARED && bytes[AT_DROPS_BAD] <= 1 &&
                 bytes[AT_HEADER] <= 1;
    for (size_t i = 0; i < STORE_ROLES; i++) {
        layout->column[i] = get_u16(bytes + AT_COLUMN + 2 * i);
        sound = sound && layout->column[i] <= layout->n_columns;
    }
    layout->is_shard = bytes[AT_FLAGS] & FLAG_SHARD;
    layout->is_queried = bytes[AT_FLAGS] & FLAG_QUERIED;
    layout->has_half = bytes[AT_FLAGS] & FLAG_HALF_AMONG;
    layout->is_ranged = bytes[AT_FLAGS] & FLAG_RANGED;
    sound = sound && (bytes[AT_FLAGS] & ~FLAGS_KNOWN) == 0;
    sound = read_like(bytes, layout) && sound;
    return read_halves(bytes, layout) && sound;
}

bool store_layout_read_unknown(const uint8_t bytes[STORE_LAYOUT_BYTES],
                               struct store_layout *layout) {
    uint8_t written[STORE_LAYOUT_BYTES];
    *layout = (struct store_layout){.origin = STORE_ORIGIN_UNKNOWN};
    const bool sound = read_halves(bytes, layout);
    store_layout_write(layout, written);
    return sound && memcmp(written, bytes, sizeof written) == 0;
}
