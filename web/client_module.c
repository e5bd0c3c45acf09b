/*
 * What the page's script calls: a thin layer over dpmf_client.h, compiled to WebAssembly. One
 * release, one person, one map. Numbers pass as 32-bit integers and doubles, which JavaScript has;
 * lists are left in `answer`, an array of doubles that the script reads before it calls again.
 * Nothing here ends the module: whatever the script or the release says, a function returns a
 * negative number (or NaN, or 0 for an address) and error_text() says why. Fed by script/,
 * which also makes room for the release with allocate().
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dpmf_client.h"

/* A function that the script knows as NAME; here it is page_NAME, since some of the names belong to
 * the C library. */
#define EXPORT(type, name, ...)                                                                    \
    type page_##name(__VA_ARGS__) __attribute__((export_name(#name)));                             \
    type page_##name(__VA_ARGS__)

enum { LIST_MAX = 1000 }; /* the longest list of titles that a person may ask for at once */

/* The module is a program of its own, with the page for its user: these are its open files. */
static struct dpmf_model *model;
static struct dpmf_model_info info;
static struct dpmf_user *user;
static struct dpmf_order order; /* order of lists; set when a release is opened */
static struct dpmf_map *map;
static struct dpmf_titles *titles; /* the titles of all items, with their index */
static struct dpmf_diary *diary;   /* a history that is being brought from elsewhere */
static uint8_t *excluded;          /* a bitmap of items never to recommend: rated or hidden */
static uint8_t *included; /* a bitmap of the items that pass the filter, while there is one */
static bool is_filtered;
static float *places;                /* x and y of every item */
static float *scores;                /* a score for every item */
static struct dpmf_scored_item *all; /* room for all of them */
static struct dpmf_scored_item list[LIST_MAX];
static double *answer;
static size_t answer_room;
static struct dpmf_error error;
static char text[3 * DPMF_ERROR_TEXT_MAX];

/* ---- no way out ------------------------------------------------------------------------------ */

/* What the C library would ask of the system around it, answered here, so that the module imports
 * nothing: all it can do is compute. Formatting numbers is what links the files in; none is ever
 * open. */

#define SYSTEM_CALL(name, ...)                                                                     \
    int32_t __imported_wasi_snapshot_preview1_##name(__VA_ARGS__);                                 \
    int32_t __imported_wasi_snapshot_preview1_##name(__VA_ARGS__)

enum { BAD_FILE = 8 }; /* WASI's EBADF */

SYSTEM_CALL(fd_write, int32_t file, int32_t parts, int32_t n, int32_t written) {
    (void)file, (void)parts, (void)n, (void)written;
    return BAD_FILE;
}

SYSTEM_CALL(fd_seek, int32_t file, int64_t offset, int32_t whence, int32_t position) {
    (void)file, (void)offset, (void)whence, (void)position;
    return BAD_FILE;
}

SYSTEM_CALL(fd_close, int32_t file) {
    (void)file;
    return BAD_FILE;
}

void __imported_wasi_snapshot_preview1_proc_exit(int32_t status);
_Noreturn void __imported_wasi_snapshot_preview1_proc_exit(int32_t status) {
    (void)status;
    __builtin_trap();
}

/* ---- answers and errors ---------------------------------------------------------------------- */

static int32_t fail(const char *message) {
    error = (struct dpmf_error){.code = DPMF_ERR_USAGE_VALUE};
    strncpy(error.message, message, sizeof error.message - 1);
    return error.code;
}

static int32_t no_memory(void) {
    fail("this device does not give the page enough memory");
    return error.code = DPMF_ERR_BASE_NO_MEMORY;
}

/* Makes room for n doubles in the answer; what was there may be gone. */
static bool has_room(size_t n) {
    if (n <= answer_room) return true;
    double *grown = n > SIZE_MAX / sizeof(double) / 2 ? NULL : malloc(2 * n * sizeof(double));
    if (!grown) return false;
    free(answer);
    answer = grown;
    answer_room = 2 * n;
    return true;
}

static bool is_item(double item) { return model && item >= 0 && item < (double)info.items; }

static int32_t check_item(double item) {
    if (!model) return fail("no release is open");
    return is_item(item) ? 0 : fail("there is no such title");
}

static int32_t give_list(int64_t n) {
    if (n < 0) return (int32_t)n;
    if (!has_room(2 * (size_t)n)) return no_memory();
    for (int64_t i = 0; i < n; i++) {
        answer[2 * i] = (double)list[i].item;
        answer[2 * i + 1] = (double)list[i].score;
    }
    return (int32_t)n;
}

EXPORT(const double *, answer, void) { return answer; }

/* What went wrong last, and the line that says how to fix it, in words. */
EXPORT(const char *, error_text, void) {
    const size_t end = sizeof text / 2;
    dpmf_error_text(error.message, NULL, NULL, text, end);
    if (error.hint[0]) {
        strcat(text, "; ");
        dpmf_error_text(error.hint, NULL, NULL, text + strlen(text), end - 2);
    }
    return text;
}

EXPORT(const char *, version, void) { return dpmf_version(); }

/* ---- the release ----------------------------------------------------------------------------- */

/* @return 0 when there is no room */
EXPORT(void *, allocate, uint32_t n) { return malloc(n ? n : 1); }

EXPORT(void, deallocate, void *bytes) { free(bytes); }

static void close_all(void) {
    dpmf_map_free(map);
    dpmf_titles_free(titles);
    dpmf_diary_free(diary);
    dpmf_user_free(user);
    dpmf_model_close(model);
    free(excluded);
    free(included);
    free(places);
    free(scores);
    free(all);
    map = NULL;
    titles = NULL;
    diary = NULL;
    user = NULL;
    model = NULL;
    excluded = included = NULL;
    is_filtered = false;
    places = scores = NULL;
    all = NULL;
}

static int32_t make_user(void) {
    struct dpmf_user *fresh = NULL;
    int code = dpmf_user_fold_in(model, NULL, 0, &fresh, &error);
    if (code < 0) return code;
    dpmf_user_free(user);
    user = fresh;
    return 0;
}

static int32_t take_model(void) {
    dpmf_model_info(model, &info);
    if (strcmp(info.kind, "release") != 0)
        return fail("this is a checkpoint, which holds people's own vectors, and no release");
    if (info.items == 0 || info.items > UINT32_MAX / 8) return fail("no titles are in the release");
    order = dpmf_order_default();
    excluded = calloc((size_t)info.items / 8 + 1, 1);
    included = calloc((size_t)info.items / 8 + 1, 1);
    return excluded && included ? make_user() : no_memory();
}

/* Opens the release in n bytes that allocate() gave; they are given back. */
EXPORT(int32_t, open, void *bytes, uint32_t n) {
    close_all();
    error = (struct dpmf_error){0};
    int32_t code = dpmf_model_open_memory(bytes, n, "the release", &model, &error);
    free(bytes);
    if (code == 0) code = take_model();
    if (code < 0) close_all();
    return code;
}

/* A release of events: hearts are given, and no rating is predicted. */
static bool is_of_events(void) { return strcmp(info.goal, "ranking") == 0; }

/* The person once more, with the ratings that there are. */
static int32_t fit_again(void) {
    const struct dpmf_own_rating *ratings = NULL;
    struct dpmf_user *fresh = NULL;
    const size_t n = dpmf_user_ratings(user, &ratings);
    int code = dpmf_user_fold_in(model, ratings, n, &fresh, &error);
    if (code < 0) return code;
    dpmf_user_free(user);
    user = fresh;
    return 0;
}

/* Years and kinds of all items, as struct dpmf_item_facts has them, in memory that allocate() gave.
 */
EXPORT(int32_t, facts, const uint16_t *years, const uint64_t *start, const uint16_t *kinds,
       uint32_t n_kinds) {
    if (!model) return fail("no release is open");
    const struct dpmf_item_facts facts = {
        .years = years, .kind_start = start, .kinds = kinds, .n_kinds = n_kinds};
    int32_t code = dpmf_model_set_facts(model, &facts, &error);
    return code == 0 ? fit_again() : code;
}

/* Items, factors, offset, min, max, whether there is a dial, whether it is of events, from which
 * rating on something is one, which may be -Infinity, and how much taste counts. */
EXPORT(int32_t, describe, void) {
    if (!model) return fail("no release is open");
    const double facts[] = {
        (double)info.items,      (double)info.factors,   info.offset, info.min,         info.max,
        info.has_counts ? 1 : 0, is_of_events() ? 1 : 0, info.like,   info.taste_weight};
    enum { FACTS = sizeof facts / sizeof facts[0] };
    if (!has_room(FACTS)) return no_memory();
    memcpy(answer, facts, sizeof facts);
    return FACTS;
}

/* @return JSON, or NULL */
EXPORT(const char *, statement, void) { return model ? info.statement : NULL; }

/* The bytes of an item's id; how many there are is in the answer. */
EXPORT(const char *, item_id, double item) {
    size_t length = 0;
    if (check_item(item) < 0 || !has_room(1)) return NULL;
    const char *id = dpmf_model_item_id(model, (uint64_t)item, &length);
    answer[0] = (double)length;
    return id;
}

/* @return the item of that id, or a negative number */
EXPORT(double, find_item, const char *id, uint32_t length) {
    if (!model) return fail("no release is open");
    uint64_t item = dpmf_model_find_item(model, id, length);
    return item < info.items ? (double)item : -1;
}

/* The vectors of all items, for whoever groups them; how many floats lie from one to the next is in
 * the answer. */
EXPORT(const float *, item_factors, void) {
    size_t stride = 0;
    if (!model || !has_room(1)) return NULL;
    const float *rows = dpmf_model_item_factors(model, &stride);
    answer[0] = (double)stride;
    return rows;
}

/* How popular each item is, up to a factor. @return NULL where the release does not say */
EXPORT(const float *, item_counts, void) { return model ? dpmf_model_item_counts(model) : NULL; }

EXPORT(const float *, item_biases, void) { return model ? dpmf_model_item_biases(model) : NULL; }

/* ---- the person ------------------------------------------------------------------------------ */

EXPORT(int32_t, rate, double item, double rating) {
    int32_t code = check_item(item);
    if (code < 0) return code;
    if (!isnan(rating) && !(rating >= info.min && rating <= info.max))
        return fail("the rating is not on the scale");
    if (is_of_events() && !isnan(rating) && isfinite(info.like)) rating = info.like; /* a heart */
    return dpmf_user_rate(model, user, (uint64_t)item, rating, &error);
}

/* Takes all ratings away; what is excluded stays so. */
EXPORT(int32_t, forget, void) { return model ? make_user() : fail("no release is open"); }

EXPORT(int32_t, exclude, double item, int32_t on) {
    int32_t code = check_item(item);
    if (code < 0) return code;
    const uint64_t i = (uint64_t)item;
    const uint8_t bit = (uint8_t)(1u << (i % 8));
    excluded[i / 8] = (uint8_t)(on ? excluded[i / 8] | bit : excluded[i / 8] & ~bit);
    return 0;
}

/* The bitmap of what passes the filter, for the script to fill; item i is bit i % 8 of byte i / 8.
 */
EXPORT(uint8_t *, included, void) { return included; }

/* Recommends only what is in that bitmap, or everything again. */
EXPORT(int32_t, filter, int32_t on) {
    if (!model) return fail("no release is open");
    is_filtered = on != 0;
    return 0;
}

/* ---- what the person sees -------------------------------------------------------------------- */

/* Without counts there is no dial: lists are by rating then, as they are by default. */
static const struct dpmf_order *order_wanted(void) { return info.has_counts ? &order : NULL; }

/* Turns the dial, from 0, the crowd, to 1, the person's taste. */
EXPORT(int32_t, dial, double taste) {
    if (!(taste >= 0 && taste <= 1)) return fail("the dial goes from 0 to 1");
    order = (struct dpmf_order){.taste = taste};
    return 0;
}

/* Items and scores, the best first. @return how many */
EXPORT(int32_t, recommend, uint32_t n) {
    if (!model) return fail("no release is open");
    if (n > LIST_MAX) n = LIST_MAX;
    return give_list(dpmf_user_recommend(model, user, order_wanted(), excluded,
                                         is_filtered ? included : NULL, n, list, &error));
}

EXPORT(int32_t, similar, double item, uint32_t n) {
    int32_t code = check_item(item);
    if (code < 0) return code;
    if (n > LIST_MAX) n = LIST_MAX;
    return give_list(dpmf_model_similar(model, (uint64_t)item, n, list, &error));
}

/* How many titles would be as similar by chance as the last of n, whose cosine this is; 0 where it
 * is too few to be said. */
EXPORT(double, in_doubt, uint32_t n, double cosine) {
    return dpmf_model_similar_in_doubt(model, n, cosine);
}

/* NaN of an unknown item. Not clamped to the scale. */
EXPORT(double, predict, double item) {
    return check_item(item) < 0 ? NAN : dpmf_user_predict(model, user, (uint64_t)item);
}

/* The score's parts as dpmf_client.h has them: total, crowd, habit, taste, the predicted rating and
 * the reason (0: neither, 1: the crowd, 2: taste); then each of the person's items with its share
 * in taste. @return how many of those there are */
EXPORT(int32_t, explain, double item) {
    int32_t code = check_item(item);
    if (code < 0) return code;
    enum { PARTS = 6 };
    const struct dpmf_own_rating *ratings = NULL;
    struct dpmf_score score;
    const size_t n = dpmf_user_ratings(user, &ratings);
    if (!has_room(PARTS + 3 * n)) return no_memory();
    double *pairs = answer + PARTS,
           *shares = pairs + 2 * n; /* behind the pairs that they go into */
    code = dpmf_user_explain(model, user, order_wanted(), (uint64_t)item, &score, shares, &error);
    if (code < 0) return code;
    const double parts[PARTS] = {score.total, score.crowd,  score.habit,
                                 score.taste, score.rating, (double)score.reason};
    memcpy(answer, parts, sizeof parts);
    for (size_t j = 0; j < n; j++) {
        pairs[2 * j] = (double)ratings[j].item;
        pairs[2 * j + 1] = shares[j];
    }
    return (int32_t)n;
}

/* ---- titles ---------------------------------------------------------------------------------- */

/* Makes the index of the titles, each terminated by NUL, in n bytes that allocate() gave; they are
 * given back. */
EXPORT(int32_t, titles_open, char *bytes, uint32_t n) {
    if (!model) return fail("no release is open");
    dpmf_titles_free(titles);
    titles = NULL;
    int32_t code =
        dpmf_titles_make(bytes, n, info.items, dpmf_model_item_counts(model), &titles, &error);
    free(bytes);
    return code;
}

static char left_out[256];

/* The word that the last search left out, or an empty text. */
EXPORT(const char *, search_left_out, void) { return left_out; }

/* How many titles answer what was typed, and the best n of them. @return how many of these */
EXPORT(int32_t, search, const char *typed, uint32_t length, uint32_t n) {
    static uint64_t found[LIST_MAX];
    uint64_t matches = 0;
    if (n > LIST_MAX) n = LIST_MAX;
    if (!has_room((size_t)n + 1)) return no_memory();
    const int64_t count = dpmf_titles_search(titles, typed, length, n, found, &matches, left_out,
                                             sizeof left_out, &error);
    if (count < 0) return (int32_t)count;
    answer[0] = (double)matches;
    for (int64_t i = 0; i < count; i++) answer[i + 1] = (double)found[i];
    return (int32_t)count;
}

/* A title as people write it, at most as long as the text is. */
EXPORT(const char *, show_title, const char *title, uint32_t length) {
    dpmf_title_show(title, length, text, sizeof text);
    return text;
}

/* ---- a history from elsewhere ---------------------------------------------------------------- */

/* The name of the service that a file is from, or NULL. */
EXPORT(const char *, diary_service, const char *bytes, uint32_t n) {
    return dpmf_diary_service(bytes, n);
}

/* Begins a new history. */
EXPORT(int32_t, diary_new, void) {
    dpmf_diary_free(diary);
    diary = NULL;
    return dpmf_diary_new(&diary, &error);
}

/* Reads a file in n bytes; `name` is the file's, terminated by NUL. */
EXPORT(int32_t, diary_add, const char *bytes, uint32_t n, const char *name) {
    return dpmf_diary_add(diary, bytes, n, name, &error);
}

/* Matches all of it with the release's titles. */
EXPORT(int32_t, diary_match, void) { return dpmf_diary_match(diary, model, titles, &error); }

/* Entries, rated, bad rows, the line of the first, wishes, trifles, files read out of archives and
 * files left in them. */
EXPORT(int32_t, diary_info, void) {
    struct dpmf_diary_info about;
    dpmf_diary_info(diary, &about);
    const double facts[] = {(double)about.entries,   (double)about.rated,     (double)about.bad,
                            (double)about.first_bad, (double)about.wishes,    (double)about.trifles,
                            (double)about.files,     (double)about.files_left};
    enum { FACTS = sizeof facts / sizeof facts[0] };
    if (!has_room(FACTS)) return no_memory();
    memcpy(answer, facts, sizeof facts);
    return FACTS;
}

/* The name of the service that the last file was from. */
EXPORT(const char *, diary_from, void) {
    struct dpmf_diary_info about;
    dpmf_diary_info(diary, &about);
    return about.service;
}

/* An entry: how sure its match is, the item, the rating on the release's scale, plays, the year,
 * and the items that it could be; -1 and NaN where there is none. @return how many numbers */
EXPORT(int32_t, diary_entry, uint32_t i) {
    struct dpmf_diary_entry entry;
    enum { FACTS = 5 };
    if (!dpmf_diary_entry(diary, i, &entry)) return fail("there is no such entry");
    if (!has_room(FACTS + DPMF_CANDIDATES_MAX)) return no_memory();
    answer[0] = (double)entry.match;
    answer[1] = entry.item == UINT64_MAX ? -1 : (double)entry.item;
    answer[2] = entry.rescaled;
    answer[3] = (double)entry.plays;
    answer[4] = (double)entry.year;
    for (uint32_t j = 0; j < entry.n_candidates; j++)
        answer[FACTS + j] = (double)entry.candidates[j];
    return (int32_t)(FACTS + entry.n_candidates);
}

/* Title and creator of an entry. */
EXPORT(const char *, diary_title, uint32_t i) {
    struct dpmf_diary_entry entry;
    return dpmf_diary_entry(diary, i, &entry) ? entry.title : NULL;
}

EXPORT(const char *, diary_creator, uint32_t i) {
    struct dpmf_diary_entry entry;
    return dpmf_diary_entry(diary, i, &entry) ? entry.creator : NULL;
}

/* ---- the picture ----------------------------------------------------------------------------- */

/* x and y of every item, within [-1, 1]; made once. @return NULL when there is no memory */
EXPORT(const float *, map, void) {
    if (!model || places) return places;
    if (dpmf_map_make(model, &map, &error) < 0) return NULL;
    places = malloc((size_t)info.items * 2 * sizeof(float));
    if (!places) {
        no_memory();
        return NULL;
    }
    for (uint64_t i = 0; i < info.items; i++) dpmf_map_item(map, i, places + 2 * i);
    return places;
}

/* x and y of the person. */
EXPORT(int32_t, whereabouts, void) {
    float xy[2];
    if (!map || !places) return fail("there is no map yet");
    if (!has_room(2)) return no_memory();
    dpmf_map_user(map, user, xy);
    answer[0] = (double)xy[0];
    answer[1] = (double)xy[1];
    return 2;
}

/* A score for every item, to draw the picture with. */
EXPORT(const float *, score_all, void) {
    if (!model) return NULL;
    if (!scores) scores = malloc((size_t)info.items * sizeof(float));
    if (!all) all = malloc((size_t)info.items * sizeof *all);
    if (!scores || !all) {
        no_memory();
        return NULL;
    }
    const int64_t n = dpmf_user_recommend(model, user, order_wanted(), NULL, NULL,
                                          (size_t)info.items, all, &error);
    if (n < 0) return NULL;
    for (int64_t i = 0; i < n; i++) scores[all[i].item] = (float)all[i].score;
    return scores;
}
