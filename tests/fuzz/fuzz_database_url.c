/*
 * Property: no text makes the parser of databases' addresses crash or write out of bounds; what it
 * accepts has a name to show, neither a query and a table nor a password; and what it refuses, it
 * explains without a word of the text.
 */
#include <stdlib.h>
#include <string.h>

#include "database/database_url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_accepted(const struct database_url *url) {
    if (!url->shown || (url->query && url->table)) abort();
    if (url->kind == DATABASE_SQLITE && (!url->file || url->file[0] == '\0')) abort();
    for (size_t i = 0; i < url->n_settings; i++) {
        if (!url->setting[i].name || !url->setting[i].value) abort();
        if (strcmp(url->setting[i].name, "password") == 0) abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char *const schemes[] = {"sqlite:", "postgres://", "postgresql://"};
    if (size == 0) return 0;
    const char *scheme = schemes[data[0] % 3];
    char *text = malloc(strlen(scheme) + size);
    if (!text) abort();
    strcpy(text, scheme);
    memcpy(text + strlen(scheme), data + 1, size - 1);
    text[strlen(scheme) + size - 1] = '\0';

    struct database_url url;
    struct dpmf_error error = {0};
    int code = database_url_parse(text, &url, &error);
    if (!database_url_is(text)) abort();
    if (code == 0) check_accepted(&url);
    if (code != 0 && (code != DPMF_ERR_USAGE_VALUE || error.code != code || url.space)) abort();
    database_url_free(&url);
    free(text);
    return 0;
}
