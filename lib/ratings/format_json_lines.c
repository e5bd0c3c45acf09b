/*
 * JSON lines: an object a line, its keys known by the same names as the columns of a CSV header.
 * Without a rating, records are events, with a count or without; where that is not declared, the
 * first line says it, unless bad records are skipped: then no line says how others are read. Ids
 * may be strings (kept as they are written) or numbers (1, 1.0 and 1e0 are one), ratings numbers or
 * numbers in a string; other keys are ignored, whatever is in them. Fed by text_source.c; feeds
 * the record batch.
 */
#include <string.h>

#include "base/json.h"
#include "ratings/field_text.h"
#include "ratings/formats.h"
#include "tables/column_names.h"

/* The line being read. */
struct reading {
    struct record_batch *batch;
    struct text_chunk *chunk;
    char *line;
    size_t n;
    int64_t number;
    bool events;
    bool is_guessed; /* that they are events was not declared */
    struct json_reader json;
};

/* The values found for each role; kind JSON_ERROR stands for none yet. */
struct found {
    struct json_token value[COLUMN_NAMED];
    struct json_token other_time; /* serves where no key is the time */
    bool has_other;               /* whether there are other keys */
    char *text[COLUMN_NAMED];
    size_t length[COLUMN_NAMED];
};

static bool reject(const struct reading *reading, size_t offset, const char *message) {
    return record_batch_reject(
        reading->batch, DPMF_ERR_INPUT_JSON, reading->number, (int64_t)offset + 1,
        "expected an object like {{\"user\":1,\"item\":2,\"rating\":3.5{}", "%s", message);
}

static bool reject_role(const struct reading *reading, size_t offset, enum column_role role,
                        const char *what) {
    return record_batch_reject(reading->batch, DPMF_ERR_INPUT_JSON, reading->number,
                               (int64_t)offset + 1, NULL, "the %s %s", column_role_name(role),
                               what);
}

/* A count means nothing beside a rating. */
static enum column_role role_of_key(const struct json_token *key, bool events) {
    char plain[64];
    enum column_role role = COLUMN_OTHER;
    if (!key->escaped)
        role = column_role_of(key->text, key->length);
    else if (key->length <= sizeof plain)
        role = column_role_of(plain, json_unescape(key, plain));
    return role == COLUMN_COUNT && !events ? COLUMN_OTHER : role;
}

static bool key_may_be_time(const struct json_token *key) {
    return !key->escaped && column_may_be_time(key->text, key->length);
}

/* Keeps a value if it is of a kind that the role can have. Unescapes it where it stands. */
static bool keep(struct reading *reading, enum column_role role, const struct json_token *value,
                 struct found *found, bool *go_on) {
    bool usable = value->kind == JSON_STRING || value->kind == JSON_NUMBER;
    if (role == COLUMN_TIME && value->kind == JSON_NULL) usable = true;
    if (!usable) {
        *go_on = reject_role(reading, value->offset, role, "is neither a string nor a number");
        return false;
    }
    if (json_has_half(value)) { /* two of them would be taken for one */
        *go_on = reject_role(reading, value->offset, role, "holds half of a character");
        return false;
    }
    found->value[role] = *value;
    found->length[role] = 0;
    if (value->kind == JSON_NULL) return true;
    char *text = reading->line + (value->text - reading->line);
    found->text[role] = text;
    found->length[role] = value->escaped ? json_unescape(value, text) : value->length;
    return true;
}

/* Reads the object. @return false when it is bad, and then *go_on is what the batch said */
static bool read_object(struct reading *reading, struct found *found, bool *go_on) {
    struct json_reader *json = &reading->json;
    struct json_token token = json_next(json);
    if (token.kind == JSON_ERROR) goto fault;
    if (token.kind != JSON_OBJECT_BEGIN) {
        *go_on = reject(reading, token.offset, "the line is not a JSON object");
        return false;
    }
    for (;;) {
        struct json_token key = token = json_next(json);
        if (token.kind == JSON_OBJECT_END) break;
        if (token.kind == JSON_ERROR) goto fault;
        enum column_role role = role_of_key(&key, reading->events);
        token = json_next(json);
        if (token.kind == JSON_ERROR) goto fault;
        if (role != COLUMN_OTHER) {
            if (found->value[role].kind != JSON_ERROR) {
                *go_on = reject_role(reading, key.offset, role, "is given twice");
                return false;
            }
            if (!keep(reading, role, &token, found, go_on)) return false;
        } else {
            found->has_other = true;
            const bool is_text_or_number = token.kind == JSON_STRING || token.kind == JSON_NUMBER;
            if (found->other_time.kind == JSON_ERROR && is_text_or_number && key_may_be_time(&key))
                found->other_time = token;
            if (json_skip(json, token)) continue;
            token = json_next(json);
            goto fault;
        }
    }
    token = json_next(json);
    if (token.kind == JSON_END)
        return found->other_time.kind == JSON_ERROR ||
               found->value[COLUMN_TIME].kind != JSON_ERROR ||
               keep(reading, COLUMN_TIME, &found->other_time, found, go_on);
fault:
    *go_on =
        reject(reading, token.offset, token.fault != NULL ? token.fault : "the JSON is broken");
    return false;
}

static int64_t column_of(const struct found *found, enum column_role role) {
    return (int64_t)found->value[role].offset + 1;
}

/* @return whether all that a record needs was there */
static bool is_complete(const struct reading *reading, const struct found *found, bool *go_on) {
    const int last = reading->events ? COLUMN_ITEM : COLUMN_RATING;
    if (reading->events && found->value[COLUMN_RATING].kind != JSON_ERROR &&
        found->value[COLUMN_COUNT].kind == JSON_ERROR) {
        *go_on = record_batch_reject(
            reading->batch, DPMF_ERR_INPUT_JSON, reading->number, column_of(found, COLUMN_RATING),
            "turn ratings into events with {like any}", "this is a rating, among events");
        return false;
    }
    for (int i = COLUMN_USER; i <= last; i++) {
        if (found->value[i].kind != JSON_ERROR) continue;
        *go_on = record_batch_reject(
            reading->batch, DPMF_ERR_INPUT_JSON, reading->number, 1,
            i == COLUMN_RATING ? "name its key rating; or, if these are events, name their number "
                                 "count, or declare {events}"
                               : NULL,
            "the %s is missing from the object", column_role_name((enum column_role)i));
        return false;
    }
    if (reading->is_guessed && found->has_other && found->value[COLUMN_COUNT].kind == JSON_ERROR) {
        *go_on = record_batch_reject(
            reading->batch, DPMF_ERR_INPUT_JSON, reading->number, 1,
            "name the key of a rating or a count so; or, if all of these are events, declare "
            "{events}",
            "an event with keys that are not known, which may say that it is none");
        return false;
    }
    return true;
}

/* Spells an id that is a number in one way, however it is written: one number is one person. */
static void respell(const struct reading *reading, enum column_role role, struct found *found) {
    if (found->value[role].kind != JSON_NUMBER) return;
    char *text = reading->chunk->numbers[reading->batch->n][role == COLUMN_ITEM];
    size_t length = number_respell(found->text[role], found->length[role], text);
    if (length == 0) return;
    found->text[role] = text;
    found->length[role] = length;
}

static bool take_object(const struct reading *reading, struct found *found) {
    struct record_batch *batch = reading->batch;
    respell(reading, COLUMN_USER, found);
    respell(reading, COLUMN_ITEM, found);
    struct record record = {
        .user = found->text[COLUMN_USER],
        .item = found->text[COLUMN_ITEM],
        .user_length = (uint32_t)found->length[COLUMN_USER],
        .item_length = (uint32_t)found->length[COLUMN_ITEM],
        .rating = 1,
        .time = STORE_NO_TIME,
    };
    const enum column_role value = reading->events ? COLUMN_COUNT : COLUMN_RATING;
    int64_t line = reading->number, user_column = column_of(found, COLUMN_USER),
            item_column = column_of(found, COLUMN_ITEM), value_column = column_of(found, value);
    if (record.user_length > 0 && memchr(record.user, 0, record.user_length) != NULL)
        return field_reject_nul(batch, "user", line, user_column);
    if (record.item_length > 0 && memchr(record.item, 0, record.item_length) != NULL)
        return field_reject_nul(batch, "item", line, item_column);
    const char *text = found->text[value];
    size_t length = found->length[value];
    if (found->value[value].kind != JSON_ERROR &&
        field_rating(text, length, &record.rating) != NUMBER_OK)
        return field_reject_rating(batch, text, length, line, value_column);
    text = found->text[COLUMN_TIME];
    length = found->length[COLUMN_TIME];
    if (length > 0 && !field_time(text, length, &record.time))
        return field_reject_time(batch, text, length, line, column_of(found, COLUMN_TIME));
    return record_batch_add(batch, &record, line, user_column, item_column, value_column);
}

static bool is_blank_line(const char *line, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r') return false;
    return true;
}

static bool take_line(struct reading *reading) {
    if (is_blank_line(reading->line, reading->n)) return true;
    struct found found;
    memset(&found, 0, sizeof found);
    json_reader_init(&reading->json, reading->line, reading->n);
    bool go_on = true;
    if (!read_object(reading, &found, &go_on) || !is_complete(reading, &found, &go_on))
        return go_on;
    return take_object(reading, &found);
}

static void parse_json_lines(const struct text_source *source, struct text_chunk *chunk,
                             struct record_batch *batch) {
    struct reading reading = {
        .batch = batch, .chunk = chunk, .events = source->base.layout.holds_events};
    reading.is_guessed = reading.events && !batch->options->events;
    char *at = chunk->bytes, *end = at + chunk->n;
    bool go_on = true;
    while (at < end && go_on) {
        char *newline = memchr(at, '\n', (size_t)(end - at));
        reading.line = at;
        reading.n = (size_t)(newline - at);
        reading.number++;
        go_on = take_line(&reading);
        at = newline + 1;
    }
    chunk->n_lines = reading.number;
}

static bool sniff_json_lines(const struct first_line *line) {
    size_t at = 0;
    while (at < line->n && (line->text[at] == ' ' || line->text[at] == '\t')) at++;
    if (at == line->n || line->text[at] != '{') return false;
    for (at++; at < line->n && (line->text[at] == ' ' || line->text[at] == '\t');) at++;
    return at == line->n || line->text[at] == '"' || line->text[at] == '}';
}

/* @return whether the first object names a user and an item, and no rating but a count, or no more
 * than these: a key that is not known may be any of them, as in a header. What is broken is left to
 * be told of when it is read. */
static bool is_event(const struct text_source *source) {
    struct first_line line;
    struct json_reader json;
    bool has[COLUMN_NAMED + 1] = {false};
    if (!format_first_line(source->carry + source->carry_at, source->carry_n - source->carry_at,
                           source->stream_end, &line) ||
        !line.whole)
        return false;
    json_reader_init(&json, line.text, line.n);
    if (json_next(&json).kind != JSON_OBJECT_BEGIN) return false;
    for (;;) {
        struct json_token key = json_next(&json);
        if (key.kind == JSON_OBJECT_END) break;
        if (key.kind == JSON_ERROR) return false;
        has[role_of_key(&key, true)] = true;
        if (!json_skip(&json, json_next(&json))) return false;
    }
    return has[COLUMN_USER] && has[COLUMN_ITEM] && !has[COLUMN_RATING] &&
           (has[COLUMN_COUNT] || !has[COLUMN_OTHER]);
}

/* Keys that were seen, as they stand in the text. */
struct keys_seen {
    struct json_token key[32];
    size_t n;
};

static bool is_seen(struct keys_seen *seen, const struct json_token *key) {
    for (size_t i = 0; i < seen->n; i++)
        if (seen->key[i].length == key->length &&
            memcmp(seen->key[i].text, key->text, key->length) == 0)
            return true;
    if (seen->n == sizeof seen->key / sizeof seen->key[0]) return true;
    seen->key[seen->n++] = *key;
    return false;
}

/* The keys of an object that no record uses; a broken one ends the look at it. */
static void note_unused(struct text_source *source, const struct first_line *line,
                        struct keys_seen *seen) {
    static const int32_t nowhere[COLUMN_ROLES] = {-1, -1, -1, -1};
    struct json_reader json;
    struct json_token unused[32];
    size_t n = 0;
    bool has_time = false;
    json_reader_init(&json, line->text, line->n);
    if (json_next(&json).kind != JSON_OBJECT_BEGIN) return;
    for (;;) {
        const struct json_token key = json_next(&json);
        if (key.kind == JSON_OBJECT_END || key.kind == JSON_ERROR) break;
        const enum column_role role = role_of_key(&key, source->base.layout.holds_events);
        has_time |= role == COLUMN_TIME;
        if (role == COLUMN_OTHER && n < sizeof unused / sizeof unused[0]) unused[n++] = key;
        if (!json_skip(&json, json_next(&json))) break;
    }
    for (size_t i = 0; i < n; i++) {
        const bool is_time = !has_time && key_may_be_time(&unused[i]);
        has_time |= is_time;
        if (!is_time && !is_seen(seen, &unused[i]))
            source_note_unused(&source->base, unused[i].text, unused[i].length, 0, nowhere);
    }
}

/* In the first lines, for people. */
static void note_all_unused(struct text_source *source) {
    enum { LINES = 100 };
    const char *at = source->carry + source->carry_at;
    size_t left = source->carry_n - source->carry_at;
    struct keys_seen seen = {.n = 0};
    struct first_line line;
    for (int i = 0; i < LINES && format_first_line(at, left, source->stream_end, &line); i++) {
        if (!line.whole) return;
        note_unused(source, &line, &seen);
        const size_t passed = (size_t)(line.text - at) + line.n;
        at += passed;
        left -= passed;
    }
}

static int begin_json_lines(struct text_source *source, const struct dpmf_input_options *options,
                            struct dpmf_error *error) {
    struct store_layout *layout = &source->base.layout;
    (void)error;
    layout->holds_events = options->events;
    if (!options->events && !source->skip_bad && is_event(source)) {
        layout->holds_events = true;
        layout->origin = STORE_ORIGIN_GUESSED;
    }
    /* Where bad records are skipped, as private runs want it, no key of one record is shown. */
    if (!source->skip_bad) note_all_unused(source);
    return 0;
}

const struct text_format format_json_lines = {
    .name = "jsonl",
    .description = "one JSON object per line, with the keys user, item, rating and perhaps "
                   "timestamp",
    .sniff = sniff_json_lines,
    .begin = begin_json_lines,
    .parse = parse_json_lines,
};
