/*
 * The entries of a diary: rows about the same title become one entry, with all plays and the newest
 * rating. Fed by the readers of tables and JSON; feeds diary_match.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/checksum.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/rescale.h"
#include "base/utf8.h"
#include "titles/diary.h"

enum { FIRST_SLOTS = 256, TEXT_MOST = 4 * TITLE_BYTES };
static const size_t ENTRIES_MAX = UINT32_MAX / 4;

/* ---- services -------------------------------------------------------------------------------- */

static const struct diary_service services[] = {
    {.name = "letterboxd", .kind = DIARY_FILMS, .scale_min = 0.5, .scale_max = 5},
    {.name = "imdb", .kind = DIARY_FILMS, .scale_min = 1, .scale_max = 10},
    {.name = "goodreads",
     .kind = DIARY_BOOKS,
     .scale_min = 1,
     .scale_max = 5,
     .zero_is_none = true},
    {.name = "storygraph",
     .kind = DIARY_BOOKS,
     .scale_min = 0.25,
     .scale_max = 5,
     .zero_is_none = true},
    {.name = "trakt", .kind = DIARY_FILMS, .scale_min = 1, .scale_max = 10},
    {.name = "netflix", .kind = DIARY_FILMS, .has_episodes = true},
    {.name = "spotify", .kind = DIARY_MUSIC},
    {.name = "lastfm", .kind = DIARY_MUSIC},
    {.name = "dpmf", .kind = DIARY_ANY},
    {.name = "titles", .kind = DIARY_ANY},
};

const struct diary_service *diary_service_find(const char *name) {
    for (size_t i = 0; i < sizeof services / sizeof services[0]; i++)
        if (strcmp(services[i].name, name) == 0) return &services[i];
    return NULL;
}

double diary_rescale(const struct diary_service *service, double rating, double min, double max) {
    const double from_min = service->scale_min, from_max = service->scale_max;
    if (isnan(rating) || from_max == 0) return rating;
    /* Four of five stars are eight of ten: scales that begin near 0 are compared by their ends. */
    const bool is_proportional = min >= 0 && max > 0 && min <= max / 4;
    double scaled =
        is_proportional ? rating * max / from_max : rescale(rating, from_min, from_max, min, max);
    if (scaled < min) scaled = min;
    return scaled > max ? max : scaled;
}

/* ---- people ---------------------------------------------------------------------------------- */

int diary_refuse_people(const struct title_part *column, const char *name, int64_t line,
                        struct dpmf_error *error) {
    error_set(error, DPMF_ERR_INPUT_COUNT,
              "the file is about several people: its column \"%.*s\" has several values",
              (int)(column->n < 80 ? column->n : 80), column->text);
    error_hint(error,
               "keep only one person's rows; if all rows are one person's, remove the column");
    error_place(error, name, line, 0);
    return DPMF_ERR_INPUT_COUNT;
}

int diary_person_check(struct dpmf_diary *diary, const struct diary_service *service,
                       const struct title_part *person, const struct title_part *column,
                       const char *name, int64_t line, struct dpmf_error *error) {
    const uint64_t hash = checksum64_seeded(person->text, person->n, 0);
    if (diary->person_service == service && diary->person != hash)
        return diary_refuse_people(column, name, line, error);
    diary->person_service = service;
    diary->person = hash;
    return 0;
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* Keeps a text, in UTF-8 and terminated by NUL. A byte that is not UTF-8 is read as Latin-1, and a
 * NUL as a blank. */
static bool keep_text(struct dpmf_diary *diary, const struct title_part *part,
                      struct diary_text *text) {
    const size_t n = part->n < TEXT_MOST ? part->n : TEXT_MOST;
    if (!memory_reserve(&diary->texts, &diary->texts_capacity, diary->texts_size + 2 * n + 1, 1))
        return false;
    char *out = diary->texts + diary->texts_size;
    size_t length = 0;
    for (size_t i = 0, step; i < n; i += step) {
        step = utf8_sequence(part->text + i, n - i);
        const unsigned char byte = (unsigned char)part->text[i];
        if (step == 0)
            length += utf8_put(byte, out + length), step = 1;
        else if (byte == '\0')
            out[length++] = ' ';
        else
            memcpy(out + length, part->text + i, step), length += step;
    }
    out[length] = '\0';
    *text = (struct diary_text){diary->texts_size, length};
    diary->texts_size += length + 1;
    return true;
}

/* ---- the same title again -------------------------------------------------------------------- */

static uint64_t hash_texts(struct title_part title, struct title_part creator, struct title_part id,
                           int32_t year) {
    uint64_t hash = checksum64_seeded(title.text, title.n, (uint64_t)(uint32_t)year);
    hash = checksum64_seeded(creator.text, creator.n, hash);
    return checksum64_seeded(id.text, id.n, hash);
}

static bool is_same(const struct dpmf_diary *diary, const struct diary_entry *a,
                    const struct diary_entry *b) {
    const struct diary_text *x[] = {&a->title, &a->creator, &a->id},
                            *y[] = {&b->title, &b->creator, &b->id};
    for (size_t i = 0; i < 3; i++)
        if (x[i]->n != y[i]->n ||
            memcmp(diary->texts + x[i]->at, diary->texts + y[i]->at, x[i]->n) != 0)
            return false;
    return a->year == b->year && a->service == b->service;
}

static uint64_t hash_entry(const struct dpmf_diary *diary, const struct diary_entry *entry) {
    return hash_texts(diary_text(diary, &entry->title), diary_text(diary, &entry->creator),
                      diary_text(diary, &entry->id), entry->year);
}

static bool grow_slots(struct dpmf_diary *diary) {
    if (2 * (diary->n + 1) <= diary->n_slots) return true;
    const size_t n = diary->n_slots > 0 ? 2 * diary->n_slots : FIRST_SLOTS;
    uint32_t *slots = memory_alloc_zero(n, sizeof *slots);
    if (!slots) return false;
    for (size_t i = 0; i < diary->n; i++) {
        size_t at = hash_entry(diary, &diary->entries[i]) & (n - 1);
        while (slots[at] != 0) at = (at + 1) & (n - 1);
        slots[at] = (uint32_t)i + 1;
    }
    free(diary->slots);
    diary->slots = slots;
    diary->n_slots = n;
    return true;
}

/* The place in the table of an entry like this one, or the free place where it belongs. */
static size_t find_slot(const struct dpmf_diary *diary, const struct diary_entry *entry) {
    size_t at = hash_entry(diary, entry) & (diary->n_slots - 1);
    while (diary->slots[at] != 0 && !is_same(diary, &diary->entries[diary->slots[at] - 1], entry))
        at = (at + 1) & (diary->n_slots - 1);
    return at;
}

/* ---- rows ------------------------------------------------------------------------------------ */

void diary_record_reject(struct dpmf_diary *diary, int64_t line, const char *fault) {
    diary->info.rows++;
    if (diary->info.bad++ > 0) return;
    diary->info.first_bad = line;
    diary->info.fault = fault;
}

/* The newer of two ratings counts; where one has no time, the one that comes later. */
static void join(struct dpmf_diary *diary, struct diary_entry *known,
                 const struct diary_entry *entry) {
    const bool has_times = entry->time != DIARY_NO_TIME && known->time != DIARY_NO_TIME;
    known->plays += entry->plays;
    if (isnan(entry->rating)) return;
    if (!isnan(known->rating)) {
        diary->info.again++;
        diary->info.again_undated += !has_times;
        if (has_times && entry->time < known->time) return;
    }
    known->rating = entry->rating;
    known->time = entry->time;
}

static bool keep_texts(struct dpmf_diary *diary, const struct diary_record *record,
                       struct diary_entry *entry) {
    return keep_text(diary, &record->title, &entry->title) &&
           keep_text(diary, &record->other, &entry->other) &&
           keep_text(diary, &record->creator, &entry->creator) &&
           keep_text(diary, &record->album, &entry->album) &&
           keep_text(diary, &record->id, &entry->id);
}

static int add_entry(struct dpmf_diary *diary, const struct diary_record *record,
                     struct dpmf_error *error) {
    struct diary_entry entry = {.service = record->service,
                                .year = record->year,
                                .rating = record->rating,
                                .time = record->time,
                                .plays = record->plays,
                                .line = record->line,
                                .item = UINT64_MAX};
    const size_t texts_before = diary->texts_size;
    if (diary->n >= ENTRIES_MAX)
        return error_set(error, DPMF_ERR_INPUT_TOO_MANY, "the file has too many titles");
    if (!keep_texts(diary, record, &entry) || !grow_slots(diary) ||
        !memory_reserve(&diary->entries, &diary->capacity, diary->n + 1, sizeof *diary->entries))
        return error_no_memory(error);
    const size_t slot = find_slot(diary, &entry);
    if (diary->slots[slot] != 0) {
        join(diary, &diary->entries[diary->slots[slot] - 1], &entry);
        diary->texts_size = texts_before;
        return 0;
    }
    diary->entries[diary->n++] = entry;
    diary->slots[slot] = (uint32_t)diary->n;
    return 0;
}

int diary_record_add(struct dpmf_diary *diary, const struct diary_record *record,
                     struct dpmf_error *error) {
    const struct diary_service *service = record->service;
    struct diary_record own = *record;
    if (service->zero_is_none && own.rating == 0) own.rating = NAN;
    if (own.title.n == 0 && own.id.n == 0) {
        diary_record_reject(diary, record->line, "there is no title");
        return 0;
    }
    if (service->scale_max > 0 && !isnan(own.rating) &&
        !(own.rating >= service->scale_min && own.rating <= service->scale_max)) {
        diary_record_reject(diary, record->line, "the rating is not on the scale of the service");
        return 0;
    }
    diary->info.rows++;
    diary->info.wishes += own.is_wish;
    diary->info.trifles += own.is_trifle && !own.is_wish;
    return own.is_wish || own.is_trifle ? 0 : add_entry(diary, &own, error);
}
