/*
 * What a file is, and what an output may take the place of: the kind that is written, anything
 * where that was asked for, and a ledger or its lock never.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "files/file_kind.h"
#include "files/output_file.h"
#include "ledger/ledger.h"
#include "temp_dir.h"

#define ID "0123456789abcdef0123456789abcdef"

static const char model_head[] = "\x40\0\0\0\0\0\0\0";

/* The first bytes of a model whose header is this text. */
static size_t model_of(const char *header, char *bytes) {
    memcpy(bytes, model_head, 8);
    bytes[0] = (char)strlen(header);
    memcpy(bytes + 8, header, strlen(header));
    return 8 + strlen(header);
}

static void test_kinds(void **state) {
    static const struct {
        const char *text;
        bool is_header;
        enum dpmf_file_kind kind;
    } cases[] = {
        {"", false, DPMF_FILE_NONE},
        {"user,item\n", false, DPMF_FILE_OTHER},
        {"\x89"
         "DPR\r\n\x1a\n and more",
         false, DPMF_FILE_STORE},
        {"{\"dpmf\":\"ledger\",\"version\":2", false, DPMF_FILE_LEDGER},
        {"00000000000000000002\n", false, DPMF_FILE_LEDGER},
        {"00000000000000000002 " ID "\n", false, DPMF_FILE_LEDGER},
        {"00000000000000000002 " ID "\n1", false, DPMF_FILE_OTHER},
        {"0000000000000000000a\n", false, DPMF_FILE_OTHER},
        {"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 9 9\">", false, DPMF_FILE_PLOT},
        {"{\"__metadata__\":{\"dpmf.kind\":\"checkpoint\"}}", true, DPMF_FILE_CHECKPOINT},
        {"{\"__metadata__\":{\"dpmf.kind\": \"release\"}}", true, DPMF_FILE_RELEASE},
        {"{\"__metadata__\":{\"dpmf.kind\":\"truth\"}}", true, DPMF_FILE_TRUTH},
        {"{\"__metadata__\":{\"dpmf.kind\":\"other\"}}", true, DPMF_FILE_OTHER},
        {"{\"__metadata__\":{\"a\":\"\\\"dpmf.kind\\\":\\\"release\\\"\"}}", true, DPMF_FILE_OTHER},
        {"{}", true, DPMF_FILE_OTHER},
    };
    struct temp_dir dir;
    char path[4096], bytes[256];
    (void)state;
    temp_dir_make(&dir);
    temp_dir_file(&dir, "file", path);
    assert_int_equal(dpmf_file_kind(path), DPMF_FILE_NONE);
    assert_int_equal(dpmf_file_kind(NULL), DPMF_FILE_NONE);
    assert_int_equal(dpmf_file_kind(dir.path), DPMF_FILE_OTHER);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t n = strlen(cases[i].text);
        memcpy(bytes, cases[i].text, n);
        if (cases[i].is_header) n = model_of(cases[i].text, bytes);
        temp_dir_write(path, bytes, n);
        if (dpmf_file_kind(path) != cases[i].kind) fail_msg("%s", cases[i].text);
    }
    temp_dir_remove(&dir);
}

static void test_replaced(void **state) {
    struct temp_dir dir;
    struct dpmf_run run = dpmf_run_default(), all = dpmf_run_default();
    char path[4096];
    (void)state;
    all.replace = true;
    temp_dir_make(&dir);
    temp_dir_file(&dir, "file", path);
    assert_int_equal(dpmf_output_check_kind(path, DPMF_FILE_STORE, &run, NULL), 0);
    temp_dir_write(path, "user,item\n", 10);
    assert_int_equal(dpmf_output_check_kind(path, DPMF_FILE_STORE, &run, NULL), DPMF_ERR_IO_WRITE);
    assert_int_equal(dpmf_output_check_kind(path, DPMF_FILE_STORE, NULL, NULL), DPMF_ERR_IO_WRITE);
    assert_int_equal(dpmf_output_check_kind(path, DPMF_FILE_STORE, &all, NULL), 0);
    temp_dir_write(path,
                   "\x89"
                   "DPR\r\n\x1a\n",
                   8);
    assert_int_equal(dpmf_output_check_kind(path, DPMF_FILE_STORE, &run, NULL), 0);
    assert_int_equal(dpmf_output_check_kind(path, DPMF_FILE_CHECKPOINT, &run, NULL),
                     DPMF_ERR_IO_WRITE);
    temp_dir_remove(&dir);
}

/* The library refuses by itself, whoever calls it; and the ledger can still be written. */
static void test_ledger_stays(void **state) {
    static const char *const names[] = {"ledger", "ledger.lock", "link", "link_to_lock"};
    struct temp_dir dir;
    struct dpmf_run all = dpmf_run_default();
    struct dpmf_budget budget = {0};
    char ledger[4096], path[4096];
    (void)state;
    all.replace = true;
    temp_dir_make(&dir);
    temp_dir_file(&dir, "ledger", ledger);
    assert_int_equal(dpmf_ledger_init(ledger, NULL, NULL), 0);
    temp_dir_file(&dir, "link", path);
    assert_int_equal(symlink("ledger", path), 0);
    temp_dir_file(&dir, "link_to_lock", path);
    assert_int_equal(symlink("ledger.lock", path), 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct output_file *file = NULL;
        struct dpmf_error error = {0};
        temp_dir_file(&dir, names[i], path);
        assert_int_equal(dpmf_output_check(path, &error), DPMF_ERR_USAGE_CONFLICT);
        assert_true(error.hint[0]);
        assert_int_equal(dpmf_output_check_kind(path, DPMF_FILE_OTHER, &all, NULL),
                         DPMF_ERR_USAGE_CONFLICT);
        assert_int_equal(output_file_open(&file, path, OUTPUT_PUBLIC, NULL),
                         DPMF_ERR_USAGE_CONFLICT);
        assert_null(file);
    }
    assert_int_equal(dpmf_budget_parse("1", false, &budget, NULL), 0);
    assert_int_equal(dpmf_ledger_set_budget(ledger, "films", &budget, NULL, NULL), 0);
    temp_dir_file(&dir, "ledger.lock", path); /* its place stays its own when it is gone */
    unlink(path);
    assert_int_equal(dpmf_output_check(path, NULL), DPMF_ERR_USAGE_CONFLICT);
    temp_dir_remove(&dir);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_replaced),
        cmocka_unit_test(test_ledger_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
