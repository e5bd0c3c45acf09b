/*
 * Property: no declaration makes its reader crash; what it takes is text that can be shown
 * anywhere, and comes back from a statement's JSON as it was; on the page every line of it is
 * behind its mark; what is refused is refused with a line and in our words.
 */
#include <stdlib.h>
#include <string.h>

#include "statement/statement_provenance.h"
#include "statement/statement_words.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_error(const struct dpmf_error *error, int code) {
    if (error->code != code || error->line < 1) abort();
    for (const char *at = error->message; *at; at++)
        if (*at < ' ' || *at > '~') abort();
}

static void check_page(const struct statement *statement) {
    struct statement_page page = {0};
    statement_about_put(&page, statement);
    statement_page_put(&page, "", 1);
    if (page.failed) abort();
    for (const char *line = (const char *)page.text.bytes; line; line = strchr(line, '\n')) {
        if (*line == '\n') line++;
        if (strcspn(line, "\n") > 80) abort();
        if (*line && *line != '\n' && *line != ' ' && *line != 'D') abort();
    }
    free(page.text.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct statement statement, read;
    struct dpmf_error error = {0};
    struct about about;
    int code = about_parse((const char *)data, size, &about, &error);
    if (code > 0) abort();
    if (code < 0) {
        check_error(&error, code);
        return 0;
    }
    statement = (struct statement){.mechanism = statement_mechanism_find("biases"),
                                   .epsilon = 1,
                                   .delta = 1e-5,
                                   .range_max = 1,
                                   .about = about};
    char *json = statement_to_json(&statement);
    if (!json || statement_from_json(json, strlen(json), &read, NULL) != 0) abort();
    for (int i = 0; i < ABOUT_FIELDS; i++) {
        const char *a = about_get(&about, (enum about_field)i);
        const char *b = about_get(&read.about, (enum about_field)i);
        if (!a != !b || (a && strcmp(a, b) != 0)) abort();
    }
    free(json);
    check_page(&read);
    char *yaml = statement_to_registry(&read);
    if (!yaml) abort();
    free(yaml);
    return 0;
}
