/*
 * The names under which the world's rating files keep users, items, ratings and times. Used by the
 * readers of formats that name their columns or keys.
 */
#include "tables/column_names.h"

#include <string.h>
#include <strings.h>

#include "base/error.h"

struct known_name {
    const char *name;
    enum column_role role;
};

static const struct known_name known_names[] = {
    {"user", COLUMN_USER},          {"userid", COLUMN_USER},      {"uid", COLUMN_USER},
    {"customer", COLUMN_USER},      {"customerid", COLUMN_USER},  {"reviewerid", COLUMN_USER},
    {"item", COLUMN_ITEM},          {"itemid", COLUMN_ITEM},      {"iid", COLUMN_ITEM},
    {"movie", COLUMN_ITEM},         {"movieid", COLUMN_ITEM},     {"product", COLUMN_ITEM},
    {"productid", COLUMN_ITEM},     {"asin", COLUMN_ITEM},        {"isbn", COLUMN_ITEM},
    {"book", COLUMN_ITEM},          {"bookid", COLUMN_ITEM},      {"track", COLUMN_ITEM},
    {"trackid", COLUMN_ITEM},       {"song", COLUMN_ITEM},        {"songid", COLUMN_ITEM},
    {"businessid", COLUMN_ITEM},    {"artist", COLUMN_ITEM},      {"artistid", COLUMN_ITEM},
    {"rating", COLUMN_RATING},      {"score", COLUMN_RATING},     {"value", COLUMN_RATING},
    {"stars", COLUMN_RATING},       {"overall", COLUMN_RATING},   {"bookrating", COLUMN_RATING},
    {"timestamp", COLUMN_TIME},     {"time", COLUMN_TIME},        {"ts", COLUMN_TIME},
    {"date", COLUMN_TIME},          {"datetime", COLUMN_TIME},    {"unixreviewtime", COLUMN_TIME},
    {"count", COLUMN_COUNT},        {"counts", COLUMN_COUNT},     {"plays", COLUMN_COUNT},
    {"playcount", COLUMN_COUNT},    {"listens", COLUMN_COUNT},    {"listencount", COLUMN_COUNT},
    {"clicks", COLUMN_COUNT},       {"clickcount", COLUMN_COUNT}, {"views", COLUMN_COUNT},
    {"viewcount", COLUMN_COUNT},    {"visits", COLUMN_COUNT},     {"purchases", COLUMN_COUNT},
    {"quantity", COLUMN_COUNT},     {"frequency", COLUMN_COUNT},  {"events", COLUMN_COUNT},
    {"interactions", COLUMN_COUNT},
};

const char *column_role_name(enum column_role role) {
    static const char *const names[] = {"user", "item", "rating", "timestamp", "count", "_"};
    return names[role];
}

enum { NAME_MAX_LENGTH = 16 };

/* @return the length of the name with everything taken off that does not count, 0 when too long */
static size_t reduce(const char *name, size_t n, char out[NAME_MAX_LENGTH]) {
    size_t length = 0;
    for (size_t i = 0; i < n; i++) {
        char c = name[i];
        if (c == '_' || c == '-' || c == ' ') continue;
        if (length == NAME_MAX_LENGTH) return 0;
        out[length++] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
    }
    return length;
}

/* What a database calls the count of something: "count(*)", "COUNT (1)"; not "count(*) * 0.5". */
static bool is_count_of(const char *name, size_t n) {
    static const char word[] = "count";
    size_t at = sizeof word - 1;
    int depth = 0;
    if (n < at || strncasecmp(name, word, at) != 0) return false;
    while (at < n && name[at] == ' ') at++;
    if (at == n || name[at] != '(') return false;
    for (; at < n; at++) {
        depth += (name[at] == '(') - (name[at] == ')');
        if (depth == 0) return at + 1 == n;
    }
    return false;
}

enum column_role column_role_of(const char *name, size_t n) {
    char reduced[NAME_MAX_LENGTH];
    if (n > 0 && (name[0] | 0x20) == 'c' && is_count_of(name, n)) return COLUMN_COUNT;
    if (n > 0 && name[0] >= '0' && name[0] <= '9') return COLUMN_OTHER; /* as most ids */
    size_t length = reduce(name, n, reduced);
    if (length == 0) return COLUMN_OTHER;
    for (size_t i = 0; i < sizeof known_names / sizeof known_names[0]; i++) {
        const char *known = known_names[i].name;
        if (known[0] == reduced[0] && strlen(known) == length &&
            memcmp(known, reduced, length) == 0)
            return known_names[i].role;
    }
    return COLUMN_OTHER;
}

bool column_may_be_time(const char *name, size_t n) {
    static const char *const names[] = {"createdat", "ratedat",    "unixtime",
                                        "eventtime", "ratingtime", "ratingtimestamp"};
    char reduced[NAME_MAX_LENGTH];
    const size_t length = reduce(name, n, reduced);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strlen(names[i]) == length && memcmp(names[i], reduced, length) == 0) return true;
    return false;
}

/* ---- lists of columns ------------------------------------------------------------------------ */

static int refuse_list(const char *list, const char *why, struct dpmf_error *error) {
    error_set(error, DPMF_ERR_USAGE_VALUE, "the list of columns \"%.80s\" %s", list, why);
    error_hint(error,
               "list user, item, rating (or count, of events), timestamp and _ (for a column to "
               "skip) in the order of the file, e.g. {columns item,user,_,rating}");
    return DPMF_ERR_USAGE_VALUE;
}

static bool role_of_word(const char *word, size_t n, enum column_role *role) {
    for (int i = COLUMN_USER; i <= COLUMN_OTHER; i++) {
        *role = (enum column_role)i;
        const char *name = column_role_name(*role);
        if (strlen(name) == n && memcmp(name, word, n) == 0) return true;
    }
    return false;
}

int column_list_parse(const char *list, int32_t column[COLUMN_ROLES], uint32_t *n_columns,
                      bool *holds_events, struct dpmf_error *error) {
    int32_t listed[COLUMN_NAMED];
    for (int i = 0; i < COLUMN_NAMED; i++) listed[i] = -1;
    uint32_t n = 0;
    for (const char *at = list;; n++) {
        size_t length = strcspn(at, ",");
        enum column_role role;
        if (!role_of_word(at, length, &role))
            return refuse_list(list, "has a name that is not one of these", error);
        if (n == COLUMN_LIST_MAX) return refuse_list(list, "is too long", error);
        if (role != COLUMN_OTHER && listed[role] >= 0)
            return refuse_list(list, "names one of them twice", error);
        if (role != COLUMN_OTHER) listed[role] = (int32_t)n;
        at += length;
        if (*at++ == '\0') break;
    }
    if (listed[COLUMN_USER] < 0 || listed[COLUMN_ITEM] < 0)
        return refuse_list(list, "lacks user or item", error);
    if (listed[COLUMN_RATING] >= 0 && listed[COLUMN_COUNT] >= 0)
        return refuse_list(list, "has both a rating and a count", error);
    *holds_events = listed[COLUMN_RATING] < 0;
    if (*holds_events) listed[COLUMN_RATING] = listed[COLUMN_COUNT];
    memcpy(column, listed, COLUMN_ROLES * sizeof column[0]);
    *n_columns = n + 1;
    return 0;
}

/* ---- names that were found --------------------------------------------------------------------
 */

void columns_found_begin(struct columns_found *found) {
    for (int i = 0; i < COLUMN_NAMED; i++) found->column[i] = found->second[i] = -1;
    found->other_time = -1;
    found->has_other = false;
}

void columns_found_add(struct columns_found *found, const char *name, size_t length,
                       uint32_t column) {
    enum column_role role = column_role_of(name, length);
    if (role == COLUMN_OTHER && found->other_time < 0 && column_may_be_time(name, length))
        found->other_time = (int32_t)column;
    if (role == COLUMN_OTHER)
        found->has_other = true;
    else if (found->column[role] < 0)
        found->column[role] = (int32_t)column;
    else if (found->second[role] < 0)
        found->second[role] = (int32_t)column;
}

enum columns_kind columns_found_settle(const struct columns_found *found, bool events,
                                       int32_t column[COLUMN_ROLES]) {
    const bool has_rating = found->column[COLUMN_RATING] >= 0,
               has_count = found->column[COLUMN_COUNT] >= 0;
    memcpy(column, found->column, COLUMN_ROLES * sizeof column[0]);
    if (column[COLUMN_TIME] < 0) column[COLUMN_TIME] = found->other_time;
    if (column[COLUMN_USER] < 0 || column[COLUMN_ITEM] < 0) return COLUMNS_LACKING;
    if (has_rating && !events) return COLUMNS_RATINGS;
    if (has_rating && !has_count) return COLUMNS_CONFLICT;
    if (!has_count && !events && found->has_other) return COLUMNS_LACKING;
    column[COLUMN_RATING] = found->column[COLUMN_COUNT];
    return COLUMNS_EVENTS;
}

enum column_role columns_found_twice(const struct columns_found *found, bool events) {
    const bool uses_count = events || found->column[COLUMN_RATING] < 0;
    for (int i = 0; i < COLUMN_NAMED; i++)
        if (found->second[i] >= 0 && i != (uses_count ? COLUMN_RATING : COLUMN_COUNT))
            return (enum column_role)i;
    return COLUMN_OTHER;
}
