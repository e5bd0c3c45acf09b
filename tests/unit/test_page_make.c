/*
 * The page of a release: every marker is filled in its place, whatever stands in the parts; nothing
 * in them can end a script or the title; the release comes back from the page byte by byte; a page
 * with a marker missing or twice is refused; and the hosts and tags of the requests that ask for it
 * are told apart exactly.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "http/http_answers.h"
#include "page/page_make.h"

#define META                                                                                       \
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:\">"

static const char outline[] = META "<title><!--dpmf:name--></title>\n"
                                   "A<!--dpmf:items-->B<!--dpmf:release-->C<!--dpmf:statement-->D";

static struct page_parts parts_of(const char *page) {
    return (struct page_parts){.page = page,
                               .page_size = strlen(page),
                               .name = "Name",
                               .release = "release",
                               .release_size = 7,
                               .items = "[\"One\",null]",
                               .items_size = 12,
                               .claim = DPMF_CLAIM_PARTIAL,
                               .assumptions = DPMF_ASSUMES_CATALOGUE,
                               .statement = "{\"epsilon\":1}",
                               .statement_text = "Epsilon is 1."};
}

/* The whole page, which the caller frees. */
static char *make(const struct page_parts *parts) {
    struct page page;
    struct dpmf_error error = {0};
    char *bytes;
    size_t n;
    assert_int_equal(page_prepare(parts, &page, &error), 0);
    assert_int_equal(page_to_memory(&page, &bytes, &n, &error), 0);
    assert_int_equal(n, page_size(&page));
    assert_int_equal(bytes[n], '\0');
    page_free(&page);
    return bytes;
}

static void test_whole(void **state) {
    (void)state;
    struct page_parts parts = parts_of(outline);
    char *bytes = make(&parts);
    assert_string_equal(
        bytes, META
        "<title>Name</title>\n"
        "A<script type=\"application/json\" id=\"dpmf-items\">[\"One\",null]</script>"
        "B<script type=\"application/octet-stream\" id=\"dpmf-release\">cmVsZWFzZQ==</script>"
        "C<script type=\"application/json\" id=\"dpmf-statement\">{\"kind\":\"partial\","
        "\"assumptions\":[\"that anyone may know which items were rated: the catalogue was made "
        "from the ratings\"],\"text\":\"Epsilon is 1.\",\"statement\":{\"epsilon\":1}}</script>D");
    free(bytes);
}

/* Markers that come with the parts are text like any other: the page is filled once. */
static void test_markers_in_parts(void **state) {
    (void)state;
    struct page_parts parts = parts_of("<!--dpmf:name-->|<!--dpmf:release--><!--dpmf:items-->"
                                       "<!--dpmf:statement-->");
    parts.name = "<!--dpmf:release-->";
    parts.items = "[\"<!--dpmf:name-->\"]";
    parts.items_size = strlen(parts.items);
    char *bytes = make(&parts);
    assert_memory_equal(bytes, "&lt;!--dpmf:release--&gt;|", 26);
    assert_non_null(strstr(bytes, ">[\"\\u003c!--dpmf:name-->\"]</script>"));
    free(bytes);
}

static void test_names(void **state) {
    (void)state;
    static const struct {
        const char *name, *html;
    } cases[] = {
        {"", ""},
        {"plain", "plain"},
        {"</title><script>'\"&amp;", "&lt;/title&gt;&lt;script&gt;&#39;&quot;&amp;amp;"},
        {"a\tb\nc\rd", "a b c d"},
        {"\x01\x1b[31m\x7f", "\xef\xbf\xbd\xef\xbf\xbd[31m\xef\xbf\xbd"},
        {"\xc2\x85\xc2\xa0", "\xef\xbf\xbd\xc2\xa0"}, /* a C1 control; a hard space */
        {"caf\xe9", "caf\xef\xbf\xbd"},               /* ISO-8859-1 */
        {"\xc0\xaf\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"\xf0\x9f\x8e\xac\xf0\x9f",
         "\xf0\x9f\x8e\xac\xef\xbf\xbd\xef\xbf\xbd"}, /* one, and half of one */
        {"\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd"},
    };
    struct page_parts parts = parts_of("<!--dpmf:name-->\n<!--dpmf:release--><!--dpmf:items-->"
                                       "<!--dpmf:statement-->");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        parts.name = cases[i].name;
        char *bytes = make(&parts);
        *strchr(bytes, '\n') = '\0';
        assert_string_equal(bytes, cases[i].html);
        free(bytes);
    }
}

/* Texts of every length up to some, and some at and beyond the end of a block. */
static void test_base64(void **state) {
    (void)state;
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    static const char next_block[] =
        "</script><script type=\"application/octet-stream\" class=\"dpmf-release\">";
    enum { BLOCK = 3 * 16384, LONG = 4 * BLOCK + 3392 };
    static const size_t longer[] = {BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK, LONG};
    uint8_t *bytes = malloc(LONG);
    assert_non_null(bytes);
    for (size_t i = 0; i < LONG; i++) bytes[i] = (uint8_t)(i * 2654435761u >> 13);
    struct page_parts parts =
        parts_of("<!--dpmf:name--><!--dpmf:items--><!--dpmf:statement--><!--dpmf:release-->");
    parts.release = bytes;
    for (size_t i = 0; i < 51 + sizeof longer / sizeof longer[0]; i++) {
        const size_t n = i < 51 ? i : longer[i - 51];
        parts.release_size = n;
        char *page = make(&parts);
        const char *at = strstr(page, "id=\"dpmf-release\">") + 18;
        size_t decoded = 0;
        for (; decoded < n; at += 4) {
            uint32_t group = 0;
            if (decoded > 0 && decoded % BLOCK == 0) {
                assert_memory_equal(at, next_block, sizeof next_block - 1);
                at += sizeof next_block - 1;
            }
            size_t padding = at[2] == '=' ? 2 : at[3] == '=' ? 1 : 0;
            for (size_t j = 0; j < 4; j++)
                group =
                    group << 6 | (at[j] == '=' ? 0 : (uint32_t)(strchr(digits, at[j]) - digits));
            for (size_t j = 0; j < 3 - padding; j++)
                assert_int_equal(bytes[decoded++], group >> (16 - 8 * j) & 255);
        }
        assert_memory_equal(at, "</script>", 9);
        assert_int_equal(decoded, n);
        free(page);
    }
    free(bytes);
}

static void test_bad_outlines(void **state) {
    (void)state;
    static const char *const outlines[] = {
        "",
        "<!--dpmf:name--><!--dpmf:release--><!--dpmf:items-->",
        "<!--dpmf:name--><!--dpmf:release--><!--dpmf:items--><!--dpmf:statement",
        "<!--dpmf:name--><!--dpmf:name--><!--dpmf:release--><!--dpmf:items--><!--dpmf:statement-->",
    };
    for (size_t i = 0; i < sizeof outlines / sizeof outlines[0]; i++) {
        struct page_parts parts = parts_of(outlines[i]);
        struct page page;
        struct dpmf_error error = {0};
        assert_int_equal(page_prepare(&parts, &page, &error), DPMF_ERR_BASE_BUG);
        assert_int_equal(error.code, DPMF_ERR_BASE_BUG);
        assert_non_null(strstr(error.message, "marker"));
    }
}

struct stopping {
    uint64_t left;
};

static int put_some(void *self, const void *bytes, size_t n) {
    struct stopping *stopping = self;
    (void)bytes;
    if (n > stopping->left) return -7;
    stopping->left -= n;
    return 0;
}

/* Whoever takes the page may stop it anywhere. */
static void test_stops(void **state) {
    (void)state;
    struct page_parts parts = parts_of(outline);
    struct page page;
    struct dpmf_error error = {0};
    parts.items = "[\"<<\",\"<\"]";
    parts.items_size = strlen(parts.items);
    assert_int_equal(page_prepare(&parts, &page, &error), 0);
    uint64_t size = page_size(&page);
    for (uint64_t room = 0; room <= size; room++) {
        struct stopping stopping = {room};
        assert_int_equal(page_write(&page, put_some, &stopping), room < size ? -7 : 0);
    }
    page_free(&page);
}

static void test_policy(void **state) {
    (void)state;
    char *policy = page_policy(outline, strlen(outline));
    assert_string_equal(policy, "default-src 'none'; img-src data:");
    free(policy);
    assert_null(page_policy("<title>", 7));
    assert_null(page_policy(META, strlen(META) - 2)); /* cut off */
}

static void test_hosts(void **state) {
    (void)state;
    static const char *const hosts[] = {"localhost", "127.0.0.1", "[::1]", "films.example.org"};
    static const char *const known[] = {
        "localhost", "LocalHost",   "localhost:8080", "127.0.0.1:1",
        "[::1]",     "[::1]:65535", "localhost:",     "films.EXAMPLE.org"};
    static const char *const unknown[] = {"",
                                          "local",
                                          "localhost.",
                                          "localhost.evil",
                                          "localhost:80a",
                                          "localhost: 80",
                                          "[::1",
                                          "::1",
                                          "[::1]x",
                                          "evil",
                                          "127.0.0.11",
                                          "localhost:123456",
                                          "example.org",
                                          "localhost:-1",
                                          "xfilms.example.org"};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        assert_true(http_host_is_known(known[i], hosts, 4));
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++)
        assert_false(http_host_is_known(unknown[i], hosts, 4));
    assert_false(http_host_is_known("localhost", hosts, 0));
}

static void test_tags(void **state) {
    (void)state;
    static const char *const listed[] = {
        "\"ab\"", "W/\"ab\"", "*", " * ", "\"x\",\"ab\"", "\"x\" , W/\"ab\"", " ,, \"ab\" rest"};
    static const char *const unlisted[] = {"",         "ab",      "\"a\"", "\"ab",
                                           "\"abc\"",  "**",      "\"x\"", "W/",
                                           "\"x\" \"", "x\"ab\"", "* x",   "\"\"\"ab"};
    for (size_t i = 0; i < sizeof listed / sizeof listed[0]; i++)
        assert_true(http_tag_is_listed(listed[i], "\"ab\""));
    for (size_t i = 0; i < sizeof unlisted / sizeof unlisted[0]; i++)
        assert_false(http_tag_is_listed(unlisted[i], "\"ab\""));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),        cmocka_unit_test(test_markers_in_parts),
        cmocka_unit_test(test_names),        cmocka_unit_test(test_base64),
        cmocka_unit_test(test_bad_outlines), cmocka_unit_test(test_stops),
        cmocka_unit_test(test_policy),       cmocka_unit_test(test_hosts),
        cmocka_unit_test(test_tags),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
