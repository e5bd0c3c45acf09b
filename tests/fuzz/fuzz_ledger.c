/*
 * Property: the ledger's reader never reads out of bounds and always ends; a text that it accepts
 * is, written again, the same text, unless it is of version 1: then that is what it gives; and its
 * sums can be taken. So that more than the checksums is tried, each input is also read with right
 * ones put at the end of its lines.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz_seal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void add_up(const struct ledger_book *book) {
    for (size_t i = 0; i < book->n_entries && i < 8; i++) {
        struct dpmf_ledger_population total;
        if (ledger_entry_fault(&book->entries[i])) abort();
        if (ledger_book_find(book, book->entries[i].id) != &book->entries[i]) abort();
        if (ledger_book_total(book, book->entries[i].population, NULL, &total, NULL) != 0) abort();
        if (!(total.epsilon >= 0)) abort();
    }
}

static bool is_old(const char *text, size_t n) {
    static const char head[] = "{\"dpmf\":\"ledger\",\"version\":1,";
    return n > sizeof head && memcmp(text, head, sizeof head - 1) == 0;
}

static void check(const char *text, size_t n) {
    struct ledger_book book;
    struct dpmf_error error = {0};
    char *again;
    size_t m;
    int code = ledger_book_parse(text, n, "ledger", &book, &error);
    if (code != 0 && (code != DPMF_ERR_PRIVACY_LEDGER || error.hint[0] == '\0')) abort();
    if (code != 0 && (book.n_entries != 0 || book.entries != NULL)) abort();
    if (code == 0) {
        if (ledger_book_format(&book, &again, &m, &error) != 0) abort();
        if (is_old(text, n))
            check(again, m);
        else if (m != n || memcmp(again, text, n) != 0)
            abort();
        add_up(&book);
        free(again);
    }
    ledger_book_free(&book);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > 1 << 16) return 0;
    char *exact = malloc(size > 0 ? size : 1); /* so that the sanitizer sees where it ends */
    char *sealed = malloc(size + 32 * (size + 1));
    if (exact == NULL || sealed == NULL) abort();
    if (size > 0) memcpy(exact, data, size);
    check(exact, size);
    size_t n = fuzz_seal_ledger(exact, size, sealed);
    char *whole = realloc(sealed, n > 0 ? n : 1);
    if (whole == NULL) abort();
    check(whole, n);
    free(whole);
    free(exact);
    return 0;
}
