/*
 * The extension of a release in its statement, and the parent that is inside an extended release.
 * Fed by release_extend.c and by statement_parse.c; feeds the writers of statements and
 * release_verify.c.
 */
#include "statement/statement_extension.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "statement/statement_words.h"

/* ---- the file -------------------------------------------------------------------------------- */

static const char extension_sentence[] =
    "post-processing, at no cost: the vectors, biases and counts of the items that were added, the "
    "last in the file, are a regression of the parent's published ones on public features; nothing "
    "about any user was used";

void statement_extension_json(struct dpmf_json *json, const struct statement *statement) {
    const struct statement_extension *extension = &statement->extension;
    char id[STATEMENT_ID_TEXT];
    if (extension->items == 0) return;
    statement_id_format(extension->parent_id, id);
    dpmf_json_begin_object(json, "extension");
    dpmf_json_string(json, "parent", id);
    dpmf_json_string(json, "parent_digest", extension->parent_digest);
    dpmf_json_uint(json, "items", extension->items);
    dpmf_json_string(json, "version", extension->version);
    dpmf_json_double(json, "epsilon", 0);
    dpmf_json_string(json, "sentence", extension_sentence);
    dpmf_json_end_object(json);
}

static bool take_digest(const struct json_token *token, char digest[RELEASE_DIGEST_TEXT]) {
    const size_t n = RELEASE_DIGEST_TEXT - 1;
    if (token->kind != JSON_STRING || token->escaped || token->length != n) return false;
    memcpy(digest, token->text, n);
    digest[n] = '\0';
    return strspn(digest, "0123456789abcdef") == n;
}

static bool take_items(const struct json_token *token, uint64_t *items) {
    int64_t number;
    if (token->kind != JSON_NUMBER ||
        number_parse_int64(token->text, token->length, &number) != NUMBER_OK || number < 1 ||
        number >= UINT32_MAX)
        return false;
    *items = (uint64_t)number;
    return true;
}

/* What is not taken is the same in all of them, and is compared with the rest in the end. */
bool statement_extension_take(struct json_reader *json, struct json_token value,
                              struct statement_extension *extension) {
    if (value.kind != JSON_OBJECT_BEGIN || extension->items > 0) return false;
    for (;;) {
        struct json_token key = json_next(json);
        if (key.kind == JSON_OBJECT_END) return extension->items > 0;
        if (key.kind != JSON_KEY) return false;
        value = json_next(json);
        bool taken =
            json_equals(&key, "parent")          ? statement_id_take(&value, extension->parent_id)
            : json_equals(&key, "parent_digest") ? take_digest(&value, extension->parent_digest)
            : json_equals(&key, "items")         ? take_items(&value, &extension->items)
            : json_equals(&key, "version") ? statement_version_take(&value, extension->version)
                                           : json_skip(json, value);
        if (!taken) return false;
    }
}

/* ---- for people ------------------------------------------------------------------------------ */

void statement_extension_put(struct statement_page *page, const struct statement *statement) {
    const struct statement_extension *extension = &statement->extension;
    char id[STATEMENT_ID_TEXT];
    if (extension->items == 0) return;
    statement_id_format(extension->parent_id, id);
    statement_page_line(page, "\nItems that were added later\n");
    statement_page_say(
        page,
        "The last items of the file (%s) were added by dpmf %s to a release that was public "
        "already. They were placed by what is publicly known about items: what the release says of "
        "its other items was regressed on that. Nothing about any user was used for it, so it "
        "costs nothing: what is promised above is what the release before promised.",
        statement_number_count(extension->items).text, extension->version);
    statement_page_line(page, "\n      parent release  %s\n      its digest      %s", id,
                        extension->parent_digest);
    statement_page_put(page, "\n", 1);
    statement_page_say(page,
                       "All other items are the parent's, unchanged. The parent can be made from "
                       "this file again, byte by byte, and its signature be checked.");
}

/* ---- the parent ------------------------------------------------------------------------------ */

int statement_extension_parent(const struct release *release, const struct statement *statement,
                               const struct statement_figures *figures, struct release *parent,
                               struct dpmf_error *error) {
    struct statement *before = memory_alloc(1, sizeof *before);
    if (!before) return error_no_memory(error);
    *before = *statement;
    before->format = STATEMENT_FORMAT;
    before->extension = (struct statement_extension){0};
    memcpy(before->id, statement->extension.parent_id, sizeof before->id);
    *parent = *release;
    parent->factors.items.n = parent->factors.item_ids.n = statement->items;
    memcpy(parent->version, statement->version, sizeof parent->version);
    parent->statement = statement_json_make(before, figures);
    free(before);
    return parent->statement ? 0 : error_no_memory(error);
}

static int refuse(struct dpmf_error *error, const char *what) {
    error_set(error, DPMF_ERR_PRIVACY_NOT_VERIFIED, "the extension does not hold: %s", what);
    error_hint(error, "do not rely on it; ask whoever published the release for a valid one");
    return DPMF_ERR_PRIVACY_NOT_VERIFIED;
}

int statement_extension_check(const struct release *release, const struct statement *statement,
                              const struct statement_figures *figures, struct dpmf_error *error) {
    struct release parent;
    char digest[RELEASE_DIGEST_TEXT];
    if (release->factors.items.n <= statement->items ||
        release->factors.items.n - statement->items != statement->extension.items)
        return refuse(error, "it names another number of items than the file holds");
    if (memcmp(statement->id, statement->extension.parent_id, sizeof statement->id) == 0)
        return refuse(error, "it names itself as its parent");
    int code = statement_extension_parent(release, statement, figures, &parent, error);
    if (code < 0) return code;
    code = release_digest(&parent, digest, error);
    free(parent.statement);
    if (code < 0) return code;
    return strcmp(digest, statement->extension.parent_digest) == 0
               ? 0
               : refuse(error, "what is said to be the parent's is not what the parent held");
}
