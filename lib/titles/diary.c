/*
 * A diary as its users see it: files added, entries matched with a model's items, corrected by the
 * person, and given as ratings. Fed by the readers of tables and JSON, and by title_match.
 */
#include "titles/diary.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/error.h"
#include "base/memory.h"
#include "titles/archive.h"

/* ---- files ----------------------------------------------------------------------------------- */

static bool is_json(const char *bytes, size_t n) {
    size_t at = n >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (at < n && (unsigned char)bytes[at] <= ' ') at++;
    return at < n && bytes[at] == '[';
}

const char *dpmf_diary_service(const char *bytes, size_t n) {
    if (!bytes || n == 0) return NULL;
    if (archive_is(bytes, n)) return "zip";
    return is_json(bytes, n) ? diary_json_service(bytes, n) : diary_table_service(bytes, n);
}

int dpmf_diary_new(struct dpmf_diary **diary, struct dpmf_error *error) {
    const int code = arguments_check(error, "diary", diary);
    if (code < 0) return code;
    *diary = memory_alloc_zero(1, sizeof **diary);
    return *diary ? 0 : error_no_memory(error);
}

void dpmf_diary_free(struct dpmf_diary *diary) {
    if (!diary) return;
    free(diary->entries);
    free(diary->texts);
    free(diary->slots);
    free(diary);
}

/* Letterboxd's list of wishes has the columns of what was watched: its name tells them apart. */
static bool is_wish_list(const char *name) {
    static const char word[] = "watchlist";
    for (; *name != '\0'; name++) {
        size_t n = 0;
        while (word[n] != '\0' && (name[n] | 0x20) == word[n]) n++;
        if (word[n] == '\0') return true;
    }
    return false;
}

static int refuse(const char *name, struct dpmf_error *error) {
    error_set(error, DPMF_ERR_INPUT_UNKNOWN_FORMAT, "no known service writes such files");
    error_hint(error, "a table needs a first line of names, such as title,year,rating");
    error_place(error, name, 0, 0);
    return DPMF_ERR_INPUT_UNKNOWN_FORMAT;
}

static int add_file(struct dpmf_diary *diary, const char *bytes, size_t n, const char *name,
                    struct dpmf_error *error) {
    return is_json(bytes, n) ? diary_json_read(diary, bytes, n, name, error)
                             : diary_table_read(diary, bytes, n, name, error);
}

/* ---- archives -------------------------------------------------------------------------------- */
/* A service's archive has more in it than the history: a profile, comments, lists of wishes. What
 * is read are the files that are recognised, those of services first; tables that only look like
 * somebody's are read where there is no other. */

enum { MEMBER_NAME = 512 };

static bool ends_with(const char *name, size_t n, const char *end) {
    const size_t n_end = strlen(end);
    if (n < n_end) return false;
    for (size_t i = 0; i < n_end; i++)
        if ((name[n - n_end + i] | 0x20) != (end[i] | 0x20)) return false;
    return true;
}

/* Folders of Letterboxd with what is no history, or no longer, and what some systems add. */
static bool is_aside(const char *name) {
    static const char *const folders[] = {"deleted/", "orphaned/", "likes/", "lists/", "__MACOSX/"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        const char *found = strstr(name, folders[i]);
        if (found && (found == name || found[-1] == '/')) return true;
    }
    const char *slash = strrchr(name, '/');
    return (slash ? slash[1] : name[0]) == '.' || is_wish_list(name);
}

static bool could_be_read(const struct archive_member *member, char name[MEMBER_NAME]) {
    static const char *const ends[] = {".csv", ".tsv", ".txt", ".json"};
    if (member->n_name >= MEMBER_NAME || member->n == 0) return false;
    memcpy(name, member->name, member->n_name);
    name[member->n_name] = '\0';
    bool is_text = false;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        is_text |= ends_with(member->name, member->n_name, ends[i]);
    return is_text && strlen(name) == member->n_name && !is_aside(name);
}

static bool is_generic(const char *service) {
    return strcmp(service, "titles") == 0 || strcmp(service, "dpmf") == 0;
}

/* The folder that the files of a service were found in. A service puts one person's files into one
 * folder, but for Trakt, which has folders for kinds of files: there it is a name that two folders
 * may not both have. */
struct folder {
    const char *service;
    char name[MEMBER_NAME];
    size_t length; /* length of its path */
};

enum { FOLDERS_MAX = 64 };

struct folders {
    struct folder *seen; /* FOLDERS_MAX */
    size_t n;
};

static bool is_same_folder(const struct folder *a, const struct folder *b) {
    return a->length == b->length && memcmp(a->name, b->name, a->length) == 0;
}

/* Whether a file is of another person than those before it. Beyond FOLDERS_MAX folders of Trakt's
 * nothing is remembered: they are not those of one person either, and so refused. */
static bool is_of_another(struct folders *folders, const char *service, const char *name) {
    const char *slash = strrchr(name, '/');
    struct folder found = {.service = service, .length = slash ? (size_t)(slash - name) : 0};
    snprintf(found.name, sizeof found.name, "%s", name);
    const bool by_name = strcmp(service, "trakt") == 0;
    bool is_known = false;
    for (size_t i = 0; i < folders->n; i++) {
        const struct folder *other = &folders->seen[i];
        if (strcmp(other->service, service) != 0) continue;
        const bool is_same = is_same_folder(other, &found);
        const char *rest = other->name + other->length, *own = name + found.length;
        if (!is_same && (!by_name || strcmp(rest + (*rest == '/'), own + (*own == '/')) == 0))
            return true;
        is_known |= is_same && (!by_name || strcmp(other->name, name) == 0);
    }
    if (is_known) return false;
    if (folders->n == FOLDERS_MAX) return true;
    folders->seen[folders->n++] = found;
    return false;
}

static int refuse_several(const char *name, struct dpmf_error *error) {
    error_set(error, DPMF_ERR_INPUT_COUNT,
              "the "
              "archive has files of one service in several folders: is it about several people?");
    error_hint(error, "unpack it, and give the files of one person");
    error_place(error, name, 0, 0);
    return DPMF_ERR_INPUT_COUNT;
}

/* Reads one member. @return 1 when it was, 0 when it is something else, or a negative code */
static int add_member(struct dpmf_diary *diary, struct archive *archive,
                      const struct archive_member *member, bool wants_generic,
                      struct folders *folders, struct dpmf_error *error) {
    char name[MEMBER_NAME], *bytes;
    if (!could_be_read(member, name)) return 0;
    int code = archive_unpack(archive, member, &bytes, error);
    if (code < 0) return code;
    const char *service =
        archive_is(bytes, member->n) ? NULL : dpmf_diary_service(bytes, member->n);
    if (service && is_generic(service) == wants_generic) {
        if (is_of_another(folders, service, name)) {
            free(bytes);
            return refuse_several(archive->path, error);
        }
        code = add_file(diary, bytes, member->n, name, error);
        if (code == 0) code = 1;
    }
    free(bytes);
    return code;
}

static int add_members(struct dpmf_diary *diary, const char *bytes, size_t n, const char *name,
                       bool wants_generic, size_t *read, size_t *left, struct dpmf_error *error) {
    struct archive archive;
    struct archive_member member;
    struct folders folders = {.seen = memory_alloc(FOLDERS_MAX, sizeof(struct folder))};
    *read = *left = 0;
    int code =
        folders.seen ? archive_open(&archive, bytes, n, name, error) : error_no_memory(error);
    while (code == 0 && (code = archive_next(&archive, &member, error)) > 0) {
        if (member.n_name == 0 || member.name[member.n_name - 1] != '/') { /* no folder */
            code = add_member(diary, &archive, &member, wants_generic, &folders, error);
            *read += code > 0;
            *left += code == 0;
        }
        if (code > 0) code = 0;
    }
    free(folders.seen);
    return code;
}

static int add_archive(struct dpmf_diary *diary, const char *bytes, size_t n, const char *name,
                       struct dpmf_error *error) {
    size_t read, left;
    int code = add_members(diary, bytes, n, name, false, &read, &left, error);
    if (code == 0 && read == 0)
        code = add_members(diary, bytes, n, name, true, &read, &left, error);
    diary->info.files += read;
    diary->info.files_left += left;
    if (code < 0 || read > 0) return code;
    error_set(error, DPMF_ERR_INPUT_EMPTY, "no history of a known service is in the archive");
    error_hint(error, "unpack it, and give the file of ratings or of what was watched");
    error_place(error, name, 0, 0);
    return DPMF_ERR_INPUT_EMPTY;
}

int dpmf_diary_add(struct dpmf_diary *diary, const char *bytes, size_t n, const char *name,
                   struct dpmf_error *error) {
    int code = arguments_check(error, "diary bytes name", diary, bytes, name);
    if (code < 0) return code;
    if (!dpmf_diary_service(bytes, n)) return refuse(name, error);
    diary->is_matched = false;
    if (archive_is(bytes, n)) return add_archive(diary, bytes, n, name, error);
    if (is_wish_list(name)) {
        error_set(error, DPMF_ERR_INPUT_EMPTY,
                  "this is a list of titles to watch, not of those watched");
        error_hint(error, "give the file of ratings, the diary, or what was watched");
        error_place(error, name, 0, 0);
        return DPMF_ERR_INPUT_EMPTY;
    }
    return add_file(diary, bytes, n, name, error);
}

/* ---- what is compared ------------------------------------------------------------------------ */
/* Catalogues of music list artists, albums or songs. Which of them this one lists is found out by
 * trying: the way that finds most entries is the way of all. */

enum way { WAY_TITLE, WAY_BOTH, WAY_CREATOR, WAY_ALBUM, WAY_BOTH_ALBUM, WAYS };

static const char *const way_names[WAYS] = {"title", "artist and title", "artist", "album",
                                            "artist and album"};

static struct title_wanted wanted_by(const struct dpmf_diary *diary,
                                     const struct diary_entry *entry, enum way way) {
    const struct title_part none = {"", 0}, title = diary_text(diary, &entry->title),
                            creator = diary_text(diary, &entry->creator),
                            album = diary_text(diary, &entry->album);
    const enum diary_kind kind = entry->service->kind;
    struct title_wanted wanted = {.title = title,
                                  .other = diary_text(diary, &entry->other),
                                  .creator = creator,
                                  .year = entry->year,
                                  .is_loose_year = kind == DIARY_BOOKS,
                                  .is_series = entry->service->has_episodes};
    if (kind != DIARY_MUSIC) return wanted;
    wanted.title = way == WAY_CREATOR                          ? creator
                   : way == WAY_ALBUM || way == WAY_BOTH_ALBUM ? album
                                                               : title;
    wanted.creator = way == WAY_BOTH || way == WAY_BOTH_ALBUM ? creator : none;
    return wanted;
}

static bool is_by_creator(enum way way) { return way == WAY_BOTH || way == WAY_BOTH_ALBUM; }

static void match_entry(const struct dpmf_diary *diary, const struct dpmf_titles *titles,
                        const struct diary_entry *entry, enum way way, struct title_found *found) {
    const struct title_wanted wanted = wanted_by(diary, entry, way);
    *found = (struct title_found){.match = DPMF_MATCH_NONE};
    if (wanted.title.n == 0) return;
    title_match(titles, &wanted, found);
    /* A song's name alone says little where the artist was asked for too. */
    if (entry->service->kind == DIARY_MUSIC && is_by_creator(way) &&
        found->match != DPMF_MATCH_SURE)
        *found = (struct title_found){.match = DPMF_MATCH_NONE};
}

/* The way in which most of some entries of music are found. */
static enum way best_way(const struct dpmf_diary *diary, const struct dpmf_titles *titles) {
    enum { TRIED = 2000 };
    size_t found_by[WAYS] = {0}, tried = 0;
    struct title_found found;
    for (size_t i = 0; i < diary->n && tried < TRIED; i++) {
        if (diary->entries[i].service->kind != DIARY_MUSIC) continue;
        tried++;
        for (unsigned way = 0; way < WAYS; way++) {
            match_entry(diary, titles, &diary->entries[i], (enum way)way, &found);
            found_by[way] += found.match >= DPMF_MATCH_LIKELY;
        }
    }
    static const enum way order[] = {WAY_BOTH, WAY_BOTH_ALBUM, WAY_CREATOR, WAY_TITLE, WAY_ALBUM};
    enum way best = tried > 0 ? order[0] : WAY_TITLE;
    for (size_t i = 1; i < WAYS && tried > 0; i++)
        if (found_by[order[i]] > found_by[best]) best = order[i];
    return best;
}

/* ---- matching -------------------------------------------------------------------------------- */

static void set_match(struct diary_entry *entry, const struct title_found *found) {
    entry->match = found->match;
    entry->item = found->match >= DPMF_MATCH_LIKELY ? found->item : UINT64_MAX;
    entry->n_candidates = found->n_candidates;
    memcpy(entry->candidates, found->candidates, sizeof entry->candidates);
}

/* Ids of other services are not the model's, but for those that cannot be mistaken: IMDb's begin
 * with tt. */
static bool is_safe_id(const struct diary_entry *entry, const struct title_part *id) {
    if (id->n == 0) return false;
    return entry->service->kind == DIARY_ANY || (id->n > 2 && memcmp(id->text, "tt", 2) == 0);
}

static bool match_id(const struct dpmf_diary *diary, const struct dpmf_model *model,
                     struct diary_entry *entry) {
    const struct title_part id = diary_text(diary, &entry->id);
    if (!is_safe_id(entry, &id)) return false;
    const uint64_t item = dpmf_model_find_item(model, id.text, id.n);
    if (item == UINT64_MAX) return false;
    entry->match = DPMF_MATCH_SURE;
    entry->item = item;
    entry->n_candidates = 0;
    return true;
}

static void take_model(struct dpmf_diary *diary, const struct dpmf_model *model) {
    struct dpmf_model_info info;
    dpmf_model_info(model, &info);
    diary->items = info.items;
    diary->ranks = strcmp(info.goal, "ranking") == 0;
    diary->min = diary->ranks ? info.rated_min : info.min;
    diary->max = diary->ranks ? info.rated_max : info.max;
    diary->event = diary->ranks && isfinite(info.like) ? info.like : 1;
    diary->of_events = info.is_of_events;
    diary->has_scale = !diary->ranks || strcmp(info.kind, "release") != 0;
}

int dpmf_diary_match(struct dpmf_diary *diary, const struct dpmf_model *model,
                     struct dpmf_titles *titles, struct dpmf_error *error) {
    int code = arguments_check(error, "diary model titles", diary, model, titles);
    if (code < 0) return code;
    take_model(diary, model);
    if (diary->items != titles->n)
        return error_set(error, DPMF_ERR_USAGE_VALUE, "the titles are not those of the model");
    code = titles_entries_make(titles, error);
    if (code < 0) return code;
    const enum way way = best_way(diary, titles);
    diary->info.way = way_names[way];
    for (size_t i = 0; i < diary->n; i++) {
        struct diary_entry *entry = &diary->entries[i];
        struct title_found found;
        if (match_id(diary, model, entry)) continue;
        match_entry(diary, titles, entry, way, &found);
        set_match(entry, &found);
    }
    diary->is_matched = true;
    return 0;
}

int dpmf_diary_assign(struct dpmf_diary *diary, size_t entry, uint64_t item,
                      struct dpmf_error *error) {
    const int code = arguments_check(error, "diary", diary);
    if (code < 0) return code;
    if (entry >= diary->n || (item != UINT64_MAX && (!diary->is_matched || item >= diary->items)))
        return error_set(error, DPMF_ERR_MODEL_UNKNOWN_ID, "there is no such entry or item");
    diary->entries[entry].match = item == UINT64_MAX ? DPMF_MATCH_NONE : DPMF_MATCH_CHOSEN;
    diary->entries[entry].item = item;
    diary->entries[entry].n_candidates = 0;
    return 0;
}

/* ---- what it holds --------------------------------------------------------------------------- */

void dpmf_diary_info(const struct dpmf_diary *diary, struct dpmf_diary_info *info) {
    if (!info) return;
    *info = diary ? diary->info : (struct dpmf_diary_info){0};
    if (!diary) return;
    info->unused = diary->unused;
    info->entries = diary->n;
    for (size_t i = 0; i < diary->n; i++) {
        info->rated += isnan(diary->entries[i].rating) ? 0 : 1;
        switch (diary->entries[i].match) {
        case DPMF_MATCH_NONE: info->none++; break;
        case DPMF_MATCH_UNSURE: info->unsure++; break;
        case DPMF_MATCH_LIKELY: info->likely++; break;
        case DPMF_MATCH_SURE:
        case DPMF_MATCH_CHOSEN: info->sure++; break;
        }
    }
}

/* A rating as the model takes it; NaN: the entry has none. A release of events cannot say which
 * ratings of a service are likes, since it has no scale: whatever is in such a history is one. */
static double own_rating(const struct dpmf_diary *diary, const struct diary_entry *entry) {
    const bool is_on_models_scale = entry->service->scale_max == 0;
    if (diary->of_events) return diary->event;
    if (!diary->has_scale)
        return isnan(entry->rating) || !is_on_models_scale ? diary->event : entry->rating;
    if (!isnan(entry->rating) && diary->max > diary->min)
        return diary_rescale(entry->service, entry->rating, diary->min, diary->max);
    return diary->ranks ? diary->event : entry->rating;
}

bool dpmf_diary_entry(const struct dpmf_diary *diary, size_t i, struct dpmf_diary_entry *entry) {
    if (!diary || !entry || i >= diary->n) return false;
    const struct diary_entry *own = &diary->entries[i];
    *entry = (struct dpmf_diary_entry){.title = diary_text(diary, &own->title).text,
                                       .creator = diary_text(diary, &own->creator).text,
                                       .service = own->service->name,
                                       .year = own->year,
                                       .match = own->match,
                                       .item = own->item,
                                       .rating = own->rating,
                                       .rescaled = NAN,
                                       .plays = own->plays,
                                       .line = own->line,
                                       .n_candidates = own->n_candidates};
    if (diary->is_matched && !isnan(own->rating)) entry->rescaled = own_rating(diary, own);
    for (uint32_t j = 0; j < own->n_candidates; j++) entry->candidates[j] = own->candidates[j];
    return true;
}

/* ---- what comes of it ------------------------------------------------------------------------ */

/* A rating on its way to be the only one of its item. */
struct sorted_rating {
    uint64_t item;
    size_t entry;
    int64_t time;
};

static int compare_ratings(const void *a, const void *b) {
    const struct sorted_rating *x = a, *y = b;
    if (x->item != y->item) return x->item < y->item ? -1 : 1;
    const int order = (x->time > y->time) - (x->time < y->time);
    return order != 0 ? order : (x->entry > y->entry) - (x->entry < y->entry);
}

static int compare_entries(const void *a, const void *b) {
    const struct sorted_rating *x = a, *y = b;
    return (x->entry > y->entry) - (x->entry < y->entry);
}

int64_t dpmf_diary_ratings(const struct dpmf_diary *diary, struct dpmf_own_rating *ratings,
                           size_t n, struct dpmf_error *error) {
    int code = arguments_check(error, "diary", diary);
    if (code == 0 && n > 0) code = arguments_check(error, "ratings", ratings);
    if (code < 0) return code;
    if (!diary->is_matched) return 0;
    struct sorted_rating *sorted = memory_alloc(diary->n + 1, sizeof *sorted);
    size_t count = 0, kept = 0;
    if (!sorted) return error_no_memory(error);
    for (size_t i = 0; i < diary->n; i++) {
        const struct diary_entry *entry = &diary->entries[i];
        if (entry->item != UINT64_MAX && !isnan(own_rating(diary, entry)))
            sorted[count++] = (struct sorted_rating){entry->item, i, entry->time};
    }
    qsort(sorted, count, sizeof *sorted, compare_ratings);
    for (size_t i = 0; i < count; i++) /* the last of each item, which is the newest */
        if (i + 1 == count || sorted[i + 1].item != sorted[i].item) sorted[kept++] = sorted[i];
    qsort(sorted, kept, sizeof *sorted, compare_entries);
    for (size_t i = 0; i < kept && i < n; i++)
        ratings[i] = (struct dpmf_own_rating){sorted[i].item,
                                              own_rating(diary, &diary->entries[sorted[i].entry])};
    free(sorted);
    return (int64_t)kept;
}

void dpmf_diary_mark(const struct dpmf_diary *diary, uint8_t *bitmap) {
    if (!diary || !bitmap) return;
    for (size_t i = 0; i < diary->n; i++) {
        const uint64_t item = diary->entries[i].item;
        if (item != UINT64_MAX) bitmap[item / 8] |= (uint8_t)(1u << item % 8);
    }
}
