/*
 * Lists of shards: what is written is read back, and what is not a list, or not the one that was
 * written, is refused and says why.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "store/shard_set.h"
#include "temp_dir.h"

static struct shard_entry entries[SHARDS_MAX];

static const char *fault_of(const char *text) {
    const char *fault = NULL;
    const size_t n = shard_list_parse(text, strlen(text), entries, &fault);
    assert_int_equal(n == 0, fault != NULL);
    return fault;
}

#define VERSION "\"dpmf_shards\":2,"
#define DIGEST "\"digest\":\"0123456789abcdef\""
#define ENTRY(file, digest)                                                                        \
    "{\"file\":\"" file "\",\"users\":1,\"ratings\":2,\"digest\":\"" digest "\"}"
#define FIRST ENTRY("a", "0000000000000001")
#define LIST(entries) "{" VERSION DIGEST ",\"shards\":[" entries "]}"

static void test_texts_that_are_no_list(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",
        "[]",
        "{}",
        LIST(""),
        LIST(FIRST) "{}",
        "{" VERSION DIGEST ",\"shards\":[" FIRST "]",
        "{" VERSION DIGEST ",\"shards\":[" FIRST,
        "{" VERSION DIGEST ",\"shards\":{}}",
        "{" VERSION DIGEST "}",
        "{" DIGEST ",\"shards\":[" FIRST "]}",
        "{" VERSION "\"shards\":[" FIRST "]}",
        "{" VERSION VERSION DIGEST ",\"shards\":[" FIRST "]}",
        "{" VERSION DIGEST "," DIGEST ",\"shards\":[" FIRST "]}",
        "{" VERSION DIGEST ",\"shards\":[" FIRST "],\"shards\":[" FIRST "]}",
        "{" VERSION DIGEST ",\"shards\":[" FIRST "],\"more\":1}",
        "{\"dpmf_shards\":3," DIGEST ",\"shards\":[" FIRST "]}",
        "{\"dpmf_shards\":\"2\"," DIGEST ",\"shards\":[" FIRST "]}",
        "{\"dpmf_shards\":2.5," DIGEST ",\"shards\":[" FIRST "]}",
        "{\"dpmf_shards\":2000000000000000000000000000," DIGEST ",\"shards\":[" FIRST "]}",
        "{" VERSION "\"digest\":1,\"shards\":[" FIRST "]}",
        "{" VERSION "\"digest\":\"0123\",\"shards\":[" FIRST "]}",
        "{" VERSION "\"digest\":\"0123456789abcdeF\",\"shards\":[" FIRST "]}",
        "{" VERSION "\"digest\":\"0123456789abcdef0\",\"shards\":[" FIRST "]}",
        "{" VERSION "\"digest\":\"0123456789abcdef01\",\"shards\":[" FIRST "]}",
        LIST("1"),
        LIST("{}"),
        LIST("{\"file\":\"a\",\"users\":1,\"ratings\":2}"),
        LIST("{\"file\":\"a\",\"users\":1,\"ratings\":2,\"digest\":\"0000000000000001\",\"x\":1}"),
        LIST("{\"file\":\"a\",\"file\":\"b\"}"),
        LIST("{\"users\":1,\"users\":1}"),
        LIST("{\"ratings\":1,\"ratings\":1}"),
        LIST("{\"digest\":\"0000000000000001\",\"digest\":\"0000000000000001\"}"),
        LIST("{\"file\":1}"),
        LIST("{\"users\":\"1\"}"),
        LIST("{\"users\":-1}"),
        LIST("{\"file\":\"a\""),
        LIST(ENTRY("", "0000000000000001")),
        LIST(ENTRY(".a", "0000000000000001")),
        LIST(ENTRY("a/b", "0000000000000001")),
        LIST(FIRST "," FIRST),
        LIST(FIRST "," ENTRY("a", "0000000000000002")),
        LIST(FIRST "," ENTRY("b", "0000000000000001")),
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const char *fault = fault_of(texts[i]);
        if (!fault || strcmp(fault, "this is not a list of shards") != 0)
            fail_msg("%s: %s", texts[i], fault ? fault : "taken");
    }
}

/* What is a list, but not the one that was written. */
static void test_other_lists(void **state) {
    (void)state;
    assert_string_equal(fault_of("{\"dpmf_shards\":1,\"shards\":[" FIRST "]}"),
                        "these shards are from before their list was pinned as a whole");
    assert_string_equal(fault_of("{\"dpmf_shards\":1," DIGEST ",\"shards\":[" FIRST "]}"),
                        "this is not a list of shards");
    assert_string_equal(fault_of(LIST(FIRST)), "this list of shards is not as it was written");
    /* shards of no users are all alike */
    assert_string_equal(
        fault_of(
            LIST("{\"file\":\"a\",\"users\":0,\"ratings\":0,\"digest\":\"0000000000000001\"},"
                 "{\"file\":\"b\",\"users\":0,\"ratings\":0,\"digest\":\"0000000000000001\"}")),
        "this list of shards is not as it was written");
}

/* A name as long as one can be is taken, and one byte more is not. */
static void test_long_names(void **state) {
    (void)state;
    char name[SHARD_NAME_MAX + 1], text[2 * SHARD_NAME_MAX + 256];
    for (size_t n = SHARD_NAME_MAX - 1; n <= SHARD_NAME_MAX; n++) {
        memset(name, 'a', n);
        name[n] = '\0';
        snprintf(text, sizeof text,
                 "{" VERSION DIGEST ",\"shards\":[{\"file\":\"%s\",\"users\":1,\"ratings\":2,"
                 "\"digest\":\"0000000000000001\"}]}",
                 name);
        assert_string_equal(fault_of(text), n < SHARD_NAME_MAX
                                                ? "this list of shards is not as it was written"
                                                : "this is not a list of shards");
    }
}

/* As many shards as there may be, and one more, which is written by hand. */
static void test_as_many_as_can_be(void **state) {
    (void)state;
    struct temp_dir dir;
    struct dpmf_error error = {0};
    char path[TEMP_PATH_MAX];
    static struct shard_entry many[SHARDS_MAX];
    for (size_t i = 0; i < SHARDS_MAX; i++) {
        many[i] = (struct shard_entry){.users = i + 1, .ratings = 2 * i + 1, .digest = ~i};
        snprintf(many[i].file, sizeof many[i].file, "%05zu.dpr", i);
    }
    temp_dir_make(&dir);
    temp_dir_file(&dir, SHARD_LIST, path);
    assert_int_equal(shard_list_write(dir.path, many, SHARDS_MAX, &error), 0);
    size_t n;
    const char *fault = NULL;
    char *text = temp_dir_read(path, &n);
    assert_int_equal(shard_list_parse(text, n, entries, &fault), SHARDS_MAX);
    assert_null(fault);
    for (size_t i = 0; i < SHARDS_MAX; i++) {
        assert_string_equal(entries[i].file, many[i].file);
        assert_int_equal(entries[i].users, many[i].users);
        assert_int_equal(entries[i].ratings, many[i].ratings);
        assert_int_equal(entries[i].digest, many[i].digest);
    }
    char *end = strrchr(text, ']'), *more = malloc(n + 256);
    assert_non_null(end);
    assert_non_null(more);
    snprintf(more, n + 256, "%.*s,%s]}", (int)(end - text), text, FIRST);
    assert_string_equal(fault_of(more), "this is not a list of shards");
    free(more);
    free(text);
    temp_dir_remove(&dir);
}

/* What is in the place of a list, or where it should be. */
static void test_files_that_are_no_list(void **state) {
    (void)state;
    struct temp_dir dir;
    struct dpmf_store *store;
    struct dpmf_error error = {0};
    char path[TEMP_PATH_MAX];
    temp_dir_make(&dir);
    temp_dir_file(&dir, SHARD_LIST, path);
    assert_false(shard_set_is(dir.path));
    assert_int_equal(shard_set_open(dir.path, &store, &error), DPMF_ERR_IO_MISSING);
    assert_null(store);
    temp_dir_write(path, "", 0);
    assert_true(shard_set_is(dir.path));
    assert_false(shard_set_is(path));
    assert_int_equal(shard_set_open(dir.path, &store, &error), DPMF_ERR_STORE_CORRUPT);
    assert_int_equal(truncate(path, (1 << 20) + 1), 0);
    assert_int_equal(shard_set_open(dir.path, &store, &error), DPMF_ERR_STORE_CORRUPT);
    assert_string_equal(error.message, "this is not a list of shards");
    assert_string_equal(error.file, path);
    temp_dir_remove(&dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts_that_are_no_list),
        cmocka_unit_test(test_other_lists),
        cmocka_unit_test(test_long_names),
        cmocka_unit_test(test_as_many_as_can_be),
        cmocka_unit_test(test_files_that_are_no_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
