/*
 * Reading a directory of shards, and writing its list. The list pins every shard by a digest of its
 * blocks' checksums, and itself by one of all it says, so that a set is what dpmf shard cut out of
 * one store at one time, in which every user is once, or is refused: two cuts of a store put users
 * at different places, and someone could be in a shard of each. Digests find mistakes; who means to
 * forge a list can. Fed by shard.c and store_open.c; feeds everything that opens ratings.
 */
#define _GNU_SOURCE
#include "store/shard_set.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/checksum.h"
#include "base/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "dpmf_text.h"
#include "files/output_file.h"
#include "store/store.h"

enum {
    LIST_BYTES_MAX = 1 << 20,
    LIST_VERSION = 2,
    LIST_VERSION_OPEN = 1, /* had no digest of the whole */
    DIGEST_DIGITS = 16,
};

char *shard_path(const char *directory, const char *name) {
    assert(directory && name);
    char *path = NULL;
    const size_t n = strlen(directory);
    const char *gap = n > 0 && directory[n - 1] == '/' ? "" : "/";
    return asprintf(&path, "%s%s%s", directory, gap, name) < 0 ? NULL : path;
}

/* The digest of all entries, in their order. */
static uint64_t list_digest(const struct shard_entry *entries, size_t n) {
    assert(entries || n == 0);
    uint64_t all = n;
    for (size_t i = 0; i < n; i++) {
        uint8_t numbers[3 * sizeof(uint64_t)];
        bytes_put_u64(numbers, entries[i].users);
        bytes_put_u64(numbers + 8, entries[i].ratings);
        bytes_put_u64(numbers + 16, entries[i].digest);
        all = checksum64_seeded(entries[i].file, strlen(entries[i].file), all);
        all = checksum64_seeded(numbers, sizeof numbers, all);
    }
    return all;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void put_digest(struct dpmf_json *json, uint64_t digest) {
    char text[DIGEST_DIGITS + 1];
    snprintf(text, sizeof text, "%016" PRIx64, digest);
    dpmf_json_string(json, "digest", text);
}

int shard_list_write(const char *directory, const struct shard_entry *entries, size_t n,
                     struct dpmf_error *error) {
    assert(directory && entries && n > 0);
    struct dpmf_json *json = dpmf_json_new();
    struct output_file *file = NULL;
    char *path = shard_path(directory, SHARD_LIST);
    size_t length = 0;
    dpmf_json_begin_object(json, NULL);
    dpmf_json_uint(json, "dpmf_shards", LIST_VERSION);
    put_digest(json, list_digest(entries, n));
    dpmf_json_begin_array(json, "shards");
    for (size_t i = 0; i < n; i++) {
        dpmf_json_begin_object(json, NULL);
        dpmf_json_string(json, "file", entries[i].file);
        dpmf_json_uint(json, "users", entries[i].users);
        dpmf_json_uint(json, "ratings", entries[i].ratings);
        put_digest(json, entries[i].digest);
        dpmf_json_end_object(json);
    }
    dpmf_json_end_array(json);
    dpmf_json_end_object(json);
    const char *text = dpmf_json_text(json, &length);
    int code = text && path ? 0 : error_no_memory(error);
    if (code == 0) code = output_file_open(&file, path, OUTPUT_PRIVATE, error);
    if (code == 0) code = output_file_write(file, text, length, error);
    if (code == 0) code = output_file_write(file, "\n", 1, error);
    if (code == 0)
        code = output_file_commit(file, error);
    else
        output_file_abandon(file);
    free(path);
    dpmf_json_free(json);
    return code;
}

/* ---- reading --------------------------------------------------------------------------------- */

struct shard_list {
    struct shard_entry *entries; /* SHARDS_MAX */
    size_t n;
    uint64_t version, digest; /* as it says */
    bool has_digest;
};

static int broken(const char *path, const char *what, struct dpmf_error *error) {
    int code = error_set(error, DPMF_ERR_STORE_CORRUPT, "%s", what);
    error_hint(error, "make the shards again with {:shard}");
    error_place(error, path, 0, 0);
    return code;
}

static bool take_text(struct json_reader *reader, char *text, size_t size) {
    assert(text && size > 0);
    struct json_token token = json_next(reader);
    if (token.kind != JSON_STRING || token.length >= size) return false;
    text[json_unescape(&token, text)] = '\0';
    return true;
}

static bool take_count(struct json_reader *reader, uint64_t *count) {
    struct json_token token = json_next(reader);
    char text[24];
    if (token.kind != JSON_NUMBER || token.length >= sizeof text) return false;
    memcpy(text, token.text, token.length);
    text[token.length] = '\0';
    return dpmf_parse_uint64(text, count) == 0;
}

static bool take_digest(struct json_reader *reader, uint64_t *digest) {
    char text[DIGEST_DIGITS + 2], *end = NULL;
    if (!take_text(reader, text, sizeof text) || strlen(text) != DIGEST_DIGITS) return false;
    if (strspn(text, "0123456789abcdef") != DIGEST_DIGITS) return false;
    *digest = strtoull(text, &end, 16);
    return *end == '\0';
}

/* A file of this very directory, and no path out of it. */
static bool is_plain(const char *name) {
    return name[0] != '\0' && name[0] != '.' && !strchr(name, '/');
}

static bool take_entry(struct json_reader *reader, struct shard_entry *entry) {
    struct json_token token;
    unsigned seen = 0;
    *entry = (struct shard_entry){0};
    while ((token = json_next(reader)).kind == JSON_KEY) {
        bool good = true;
        if (json_equals(&token, "file") && !(seen & 1)) {
            good = take_text(reader, entry->file, sizeof entry->file) && is_plain(entry->file);
            seen |= 1;
        } else if (json_equals(&token, "users") && !(seen & 2)) {
            good = take_count(reader, &entry->users);
            seen |= 2;
        } else if (json_equals(&token, "ratings") && !(seen & 4)) {
            good = take_count(reader, &entry->ratings);
            seen |= 4;
        } else if (json_equals(&token, "digest") && !(seen & 8)) {
            good = take_digest(reader, &entry->digest);
            seen |= 8;
        } else {
            good = false;
        }
        if (!good) return false;
    }
    return token.kind == JSON_OBJECT_END && seen == 15;
}

static bool take_entries(struct json_reader *reader, struct shard_list *list) {
    struct json_token token = json_next(reader);
    if (token.kind != JSON_ARRAY_BEGIN) return false;
    while ((token = json_next(reader)).kind == JSON_OBJECT_BEGIN) {
        if (list->n == SHARDS_MAX || !take_entry(reader, &list->entries[list->n])) return false;
        /* Nor a copy: blocks have their users' ids, so that no two shards of any users have one
         * digest. */
        for (size_t i = 0; i < list->n; i++)
            if (strcmp(list->entries[i].file, list->entries[list->n].file) == 0 ||
                (list->entries[i].users > 0 &&
                 list->entries[i].digest == list->entries[list->n].digest))
                return false;
        list->n++;
    }
    return token.kind == JSON_ARRAY_END && list->n > 0;
}

static bool take_list(const char *text, size_t n, struct shard_list *list) {
    struct json_reader reader;
    struct json_token token;
    bool has_shards = false;
    json_reader_init(&reader, text, n);
    if (json_next(&reader).kind != JSON_OBJECT_BEGIN) return false;
    while ((token = json_next(&reader)).kind == JSON_KEY) {
        if (json_equals(&token, "dpmf_shards") && list->version == 0) {
            if (!take_count(&reader, &list->version)) return false;
        } else if (json_equals(&token, "digest") && !list->has_digest) {
            list->has_digest = true;
            if (!take_digest(&reader, &list->digest)) return false;
        } else if (json_equals(&token, "shards") && !has_shards) {
            has_shards = true;
            if (!take_entries(&reader, list)) return false;
        } else {
            return false;
        }
    }
    return token.kind == JSON_OBJECT_END && json_next(&reader).kind == JSON_END && has_shards;
}

/* What is wrong with a list, in words; NULL: nothing. */
static const char *list_fault(const struct shard_list *list, bool is_list) {
    if (is_list && list->version == LIST_VERSION_OPEN && !list->has_digest)
        return "these shards are from before their list was pinned as a whole";
    if (!is_list || list->version != LIST_VERSION || !list->has_digest)
        return "this is not a list of shards";
    if (list->digest != list_digest(list->entries, list->n))
        return "this list of shards is not as it was written";
    return NULL;
}

size_t shard_list_parse(const char *text, size_t n, struct shard_entry *entries,
                        const char **fault) {
    struct shard_list list = {.entries = entries};
    const bool is_list = take_list(text, n, &list);
    *fault = list_fault(&list, is_list);
    return *fault ? 0 : list.n;
}

static int read_list(const char *directory, struct shard_list *list, struct dpmf_error *error) {
    char *path = shard_path(directory, SHARD_LIST), *text = NULL;
    const char *fault = NULL;
    struct stat status;
    int fd = -1, code = path ? 0 : error_no_memory(error);
    if (code == 0 && (fd = open(path, O_RDONLY | O_CLOEXEC)) < 0) {
        code = error_system(error, errno, "open", path);
        error_hint(error, "a directory is read when {:shard} made it: it has a " SHARD_LIST);
    }
    if (code == 0 && fstat(fd, &status) < 0) code = error_system(error, errno, "read", path);
    if (code == 0 && (status.st_size <= 0 || status.st_size > LIST_BYTES_MAX))
        code = broken(path, "this is not a list of shards", error);
    if (code == 0 && !(text = memory_alloc((size_t)status.st_size, 1)))
        code = error_no_memory(error);
    if (code == 0) code = file_read_at(fd, text, (size_t)status.st_size, 0, path, error);
    if (code == 0) list->n = shard_list_parse(text, (size_t)status.st_size, list->entries, &fault);
    if (fault) code = broken(path, fault, error);
    if (fd >= 0) close(fd);
    free(text);
    free(path);
    return code;
}

/* The shard that the list means, or none. */
static int open_shard(const char *directory, const struct shard_entry *entry,
                      struct dpmf_store **store, struct dpmf_error *error) {
    char *path = shard_path(directory, entry->file);
    uint64_t digest = 0;
    int code = path ? store_open_file(path, store, error) : error_no_memory(error);
    if (code == 0) code = store_digest(*store, &digest, error);
    if (code == 0 && (digest != entry->digest || store_n_users(*store) != entry->users ||
                      store_n_ratings(*store) != entry->ratings))
        code = broken(path, "this is not the shard that the list of them means", error);
    free(path);
    return code;
}

bool shard_set_is(const char *path) {
    int directory = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0) return false;
    bool is_set = faccessat(directory, SHARD_LIST, F_OK, 0) == 0;
    close(directory);
    return is_set;
}

static bool is_listed(const struct shard_list *list, const char *name) {
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->entries[i].file, name) == 0) return true;
    return false;
}

/* @return 0, or DPMF_ERR_STORE_CORRUPT where `name` is a store that the list does not have */
static int check_file(const char *directory, const char *name, struct dpmf_error *error) {
    char *path = shard_path(directory, name);
    struct stat status;
    bool is_store = false;
    int code = path ? 0 : error_no_memory(error);
    if (code == 0 && stat(path, &status) == 0 && S_ISREG(status.st_mode))
        code = store_file_is(path, &is_store, NULL) == DPMF_ERR_BASE_NO_MEMORY
                   ? error_no_memory(error)
                   : 0;
    if (code == 0 && is_store) {
        code = error_set(error, DPMF_ERR_STORE_CORRUPT,
                         "this store is in a directory of shards, whose list does not have it");
        error_hint(error, "move it elsewhere, and give it by itself");
        error_place(error, path, 0, 0);
    }
    free(path);
    return code;
}

/* Whoever put another store beside the shards means it to be read with them. */
static int check_strays(const char *directory, const struct shard_list *list,
                        struct dpmf_error *error) {
    DIR *files = opendir(directory);
    int code = 0;
    if (!files) return error_system(error, errno, "read", directory);
    for (struct dirent *file; code == 0 && (file = readdir(files));)
        if (file->d_name[0] != '.' && !is_listed(list, file->d_name))
            code = check_file(directory, file->d_name, error);
    closedir(files);
    return code;
}

int shard_set_open(const char *directory, struct dpmf_store **store, struct dpmf_error *error) {
    *store = NULL;
    struct shard_list list = {.entries = memory_alloc(SHARDS_MAX, sizeof *list.entries)};
    struct dpmf_store **stores = memory_alloc_zero(SHARDS_MAX, sizeof(struct dpmf_store *));
    char *name = shard_path(directory, ""); /* temporary files go into it, not beside it */
    int code = list.entries && stores && name ? 0 : error_no_memory(error);
    if (code == 0) code = read_list(directory, &list, error);
    for (size_t i = 0; code == 0 && i < list.n; i++)
        code = open_shard(directory, &list.entries[i], &stores[i], error);
    if (code == 0) code = check_strays(directory, &list, error);
    if (code == 0)
        code = store_set_make(stores, list.n, name, store, error);
    else
        for (size_t i = 0; stores && i < SHARDS_MAX; i++) dpmf_store_close(stores[i]);
    free(name);
    free(stores);
    free(list.entries);
    return code;
}
