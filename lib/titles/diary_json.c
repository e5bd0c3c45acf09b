/*
 * JSON as services export it: a list of objects, one a play, a rating or a title. Spotify's
 * streaming history, plain and extended; Trakt's ratings, history and watched titles. Fed by
 * dpmf_diary_add; feeds diary_entries.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/number.h"
#include "titles/diary.h"

static const double HEARD_MS = 30000; /* what Spotify counts as a play */

/* Where in an object a value stands. */
enum place { PLACE_TOP, PLACE_FILM, PLACE_IDS, PLACE_ELSEWHERE };

enum slot {
    SLOT_TITLE,
    SLOT_CREATOR,
    SLOT_ALBUM,
    SLOT_ID,
    SLOT_DATE,
    SLOT_YEAR,
    SLOT_RATING,
    SLOT_PLAYS,
    SLOT_HEARD, /* milliseconds */
    SLOT_TYPE,
    SLOT_WISH,   /* when it was put on a list */
    SLOT_PERSON, /* whose play it is */
    SLOTS
};

struct known_key {
    enum place place;
    const char *name;
    enum slot slot;
};

static const struct known_key known_keys[] = {
    {PLACE_TOP, "trackName", SLOT_TITLE},
    {PLACE_TOP, "artistName", SLOT_CREATOR},
    {PLACE_TOP, "msPlayed", SLOT_HEARD},
    {PLACE_TOP, "endTime", SLOT_DATE},
    {PLACE_TOP, "master_metadata_track_name", SLOT_TITLE},
    {PLACE_TOP, "master_metadata_album_artist_name", SLOT_CREATOR},
    {PLACE_TOP, "master_metadata_album_album_name", SLOT_ALBUM},
    {PLACE_TOP, "ms_played", SLOT_HEARD},
    {PLACE_TOP, "ts", SLOT_DATE},
    {PLACE_TOP, "username", SLOT_PERSON},
    {PLACE_TOP, "rating", SLOT_RATING},
    {PLACE_TOP, "plays", SLOT_PLAYS},
    {PLACE_TOP, "type", SLOT_TYPE},
    {PLACE_TOP, "rated_at", SLOT_DATE},
    {PLACE_TOP, "watched_at", SLOT_DATE},
    {PLACE_TOP, "last_watched_at", SLOT_DATE},
    {PLACE_TOP, "listed_at", SLOT_WISH},
    {PLACE_TOP, "collected_at", SLOT_WISH},
    {PLACE_FILM, "title", SLOT_TITLE},
    {PLACE_FILM, "year", SLOT_YEAR},
    {PLACE_IDS, "imdb", SLOT_ID},
};

/* A list on the way from object to object. */
struct list {
    struct json_reader reader;
    const char *service;
    const char *text;
    size_t counted; /* up to where lines are counted */
    int64_t line;
    char *buffer; /* the texts of an object: as long as the text */
    size_t used;
    struct title_part value[SLOTS];
    bool is_film;    /* the object has a film or a show in it */
    bool is_episode; /* the object has an episode or a season in it */
    struct json_token wrong;
};

/* ---- one object ------------------------------------------------------------------------------ */

static bool keep_value(struct list *list, enum place place, const struct json_token *key,
                       const struct json_token *value) {
    for (size_t i = 0; i < sizeof known_keys / sizeof known_keys[0]; i++) {
        if (known_keys[i].place != place || !json_equals(key, known_keys[i].name)) continue;
        struct title_part *part = &list->value[known_keys[i].slot];
        part->text = list->buffer + list->used;
        part->n = value->length;
        if (value->kind == JSON_STRING)
            part->n = json_unescape(value, list->buffer + list->used);
        else
            memcpy(list->buffer + list->used, value->text, value->length);
        list->used += part->n;
        return true;
    }
    return false;
}

static enum place place_of(const struct list *list, enum place place,
                           const struct json_token *key) {
    if (strcmp(list->service, "trakt") != 0) return PLACE_ELSEWHERE;
    if (place == PLACE_TOP && (json_equals(key, "movie") || json_equals(key, "show")))
        return PLACE_FILM;
    return place == PLACE_FILM && json_equals(key, "ids") ? PLACE_IDS : PLACE_ELSEWHERE;
}

/* Takes an object whose brace was read; those within it that matter too. @return false: bad JSON */
static bool take_object(struct list *list, enum place place) {
    for (;;) {
        const struct json_token key = json_next(&list->reader);
        if (key.kind == JSON_OBJECT_END) return true;
        list->wrong = key;
        if (key.kind != JSON_KEY) return false;
        const struct json_token value = json_next(&list->reader);
        list->wrong = value;
        if (place == PLACE_TOP)
            list->is_episode |= json_equals(&key, "episode") || json_equals(&key, "season");
        if (value.kind == JSON_STRING || value.kind == JSON_NUMBER) {
            keep_value(list, place, &key, &value);
        } else if (value.kind == JSON_OBJECT_BEGIN &&
                   place_of(list, place, &key) != PLACE_ELSEWHERE) {
            list->is_film = true;
            if (!take_object(list, place_of(list, place, &key))) return false;
        } else if (!json_skip(&list->reader, value)) {
            return false;
        }
    }
}

/* ---- records --------------------------------------------------------------------------------- */

static bool number_in(const struct list *list, enum slot slot, double *value) {
    const struct title_part *part = &list->value[slot];
    *value = NAN;
    return part->n == 0 || number_parse_double(part->text, part->n, value) == NUMBER_OK;
}

static bool is_music(const struct list *list) { return strcmp(list->service, "spotify") == 0; }

/* A number of plays that can be counted; once where there is none. */
static uint64_t count_plays(double plays) {
    return plays >= 1 && plays < 1e15 ? (uint64_t)plays : 1;
}

static int take_record(struct dpmf_diary *diary, struct list *list, const char *name,
                       struct dpmf_error *error) {
    static const struct title_part username = {"username", 8};
    const struct title_part *person = &list->value[SLOT_PERSON];
    double rating, plays, heard;
    const int code = person->n == 0
                         ? 0
                         : diary_person_check(diary, diary_service_find(list->service), person,
                                              &username, name, list->line, error);
    if (code < 0) return code;
    const bool is_read = number_in(list, SLOT_RATING, &rating) &&
                         number_in(list, SLOT_PLAYS, &plays) && number_in(list, SLOT_HEARD, &heard);
    if (!is_read) {
        diary_record_reject(diary, list->line, "a number cannot be read");
        return 0;
    }
    const struct title_part *year = &list->value[SLOT_YEAR];
    const bool is_nameless = is_music(list) ? list->value[SLOT_TITLE].n == 0 : !list->is_film;
    struct diary_record record = {
        .service = diary_service_find(list->service),
        .title = list->value[SLOT_TITLE],
        .creator = list->value[SLOT_CREATOR],
        .album = list->value[SLOT_ALBUM],
        .id = list->value[SLOT_ID],
        .time = diary_date_read(list->value[SLOT_DATE].text, list->value[SLOT_DATE].n, 0),
        .year = year->n > 0 ? title_year(year->text, year->n) : 0,
        .rating = list->is_episode || is_music(list) ? NAN : rating,
        .plays = count_plays(plays),
        .line = list->line,
        .is_wish = list->value[SLOT_WISH].n > 0,
        .is_trifle = is_nameless || heard < HEARD_MS};
    if (record.is_trifle) record.title = (struct title_part){"-", 1}; /* counted, and not kept */
    return diary_record_add(diary, &record, error);
}

/* ---- lists ----------------------------------------------------------------------------------- */

/* The first object of a list, as far as the bytes go: which service has such keys? */
const char *diary_json_service(const char *bytes, size_t n) {
    struct json_reader reader;
    bool has_artist = false, has_heard = false, has_film = false, has_date = false;
    if (n >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) bytes += 3, n -= 3;
    json_reader_init(&reader, bytes, n);
    if (json_next(&reader).kind != JSON_ARRAY_BEGIN) return NULL;
    if (json_next(&reader).kind != JSON_OBJECT_BEGIN) return NULL;
    for (struct json_token key; (key = json_next(&reader)).kind == JSON_KEY;) {
        has_artist |= json_equals(&key, "artistName") ||
                      json_equals(&key, "master_metadata_album_artist_name");
        has_heard |= json_equals(&key, "msPlayed") || json_equals(&key, "ms_played");
        has_film |= json_equals(&key, "movie") || json_equals(&key, "show");
        has_date |= json_equals(&key, "rated_at") || json_equals(&key, "watched_at") ||
                    json_equals(&key, "last_watched_at") || json_equals(&key, "plays") ||
                    json_equals(&key, "listed_at") || json_equals(&key, "collected_at");
        if (!json_skip(&reader, json_next(&reader))) break;
    }
    return has_artist && has_heard ? "spotify" : has_film && has_date ? "trakt" : NULL;
}

static int64_t count_lines(struct list *list, size_t end) {
    for (; list->counted < end; list->counted++) list->line += list->text[list->counted] == '\n';
    return list->line;
}

static int refuse(struct list *list, const char *name, struct dpmf_error *error) {
    const char *fault = list->wrong.kind == JSON_ERROR ? list->wrong.fault : "an object is missing";
    error_set(error, DPMF_ERR_INPUT_JSON, "the file is not a list of JSON objects: %s", fault);
    error_place(error, name, count_lines(list, list->wrong.offset), 0);
    return DPMF_ERR_INPUT_JSON;
}

static int read_list(struct dpmf_diary *diary, struct list *list, const char *name,
                     struct dpmf_error *error) {
    json_next(&list->reader); /* the bracket */
    for (int code = 0; code == 0;) {
        const struct json_token token = json_next(&list->reader);
        list->wrong = token;
        if (token.kind == JSON_ARRAY_END) break;
        if (token.kind != JSON_OBJECT_BEGIN) return refuse(list, name, error);
        count_lines(list, token.offset);
        list->used = 0;
        list->is_film = list->is_episode = false;
        memset(list->value, 0, sizeof list->value);
        if (!take_object(list, PLACE_TOP)) return refuse(list, name, error);
        code = take_record(diary, list, name, error);
        if (code < 0) return code;
    }
    list->wrong = json_next(&list->reader);
    return list->wrong.kind == JSON_END ? 0 : refuse(list, name, error);
}

int diary_json_read(struct dpmf_diary *diary, const char *bytes, size_t n, const char *name,
                    struct dpmf_error *error) {
    if (n >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) bytes += 3, n -= 3;
    struct list list = {.service = diary_json_service(bytes, n), .text = bytes, .line = 1};
    if (!list.service)
        return error_set(error, DPMF_ERR_INPUT_UNKNOWN_FORMAT, "no known service writes such JSON");
    list.buffer = memory_alloc(n + 1, 1);
    if (!list.buffer) return error_no_memory(error);
    json_reader_init(&list.reader, bytes, n);
    diary->info.service = list.service;
    const int code = read_list(diary, &list, name, error);
    free(list.buffer);
    return code;
}
