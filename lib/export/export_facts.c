/*
 * What is said about an exported model: a few facts that predictions need, and the statement or the
 * provenance, taken apart for tables or as they are for files. Fed by the open model; feeds every
 * form.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/number.h"
#include "dpmf_text.h"
#include "export/export_task.h"

/* ---- facts ----------------------------------------------------------------------------------- */

int export_facts_visit(const struct export_task *task, export_fact_take *take, void *self,
                       struct dpmf_error *error) {
    const struct dpmf_model_info *info = &task->info;
    bool has_penalties = info->factor_penalty > 0 || info->bias_penalty > 0;
    const struct export_fact facts[] = {
        {.field = "kind", .kind = EXPORT_TEXT, .text = info->kind},
        {.field = "claim", .kind = EXPORT_TEXT, .text = dpmf_claim_name(task->claim)},
        {.field = "not_private", .kind = EXPORT_FLAG, .whole = task->mode == OUTPUT_PRIVATE},
        {.field = "dpmf_version", .kind = EXPORT_TEXT, .text = dpmf_version()},
        {.field = "items", .kind = EXPORT_WHOLE, .whole = (int64_t)info->items},
        {.field = "users", .kind = EXPORT_WHOLE, .whole = (int64_t)info->users},
        {.field = "factors", .kind = EXPORT_WHOLE, .whole = (int64_t)info->factors},
        {.field = "offset", .kind = EXPORT_NUMBER, .number = info->offset},
        {.field = "min", .kind = EXPORT_NUMBER, .number = info->min},
        {.field = "max", .kind = EXPORT_NUMBER, .number = info->max},
        {.field = "factor_penalty",
         .kind = has_penalties ? EXPORT_NUMBER : EXPORT_NULL,
         .number = info->factor_penalty},
        {.field = "bias_penalty",
         .kind = has_penalties ? EXPORT_NUMBER : EXPORT_NULL,
         .number = info->bias_penalty},
    };
    int code = 0;
    for (size_t i = 0; code == 0 && i < sizeof facts / sizeof facts[0]; i++)
        code = take(self, &facts[i], error);
    return code;
}

/* ---- JSON taken apart ------------------------------------------------------------------------ */

enum { PATH_MAX_BYTES = 1024 };

struct path {
    char text[PATH_MAX_BYTES];
    size_t length[JSON_DEPTH_MAX + 1]; /* length of the path at each depth */
    int64_t index[JSON_DEPTH_MAX + 1]; /* in an array; -1 in an object */
    int depth;
};

static bool path_add(struct path *path, const char *word, size_t n) {
    size_t at = path->length[path->depth];
    if (at + n + 2 > sizeof path->text) return false;
    if (at > 0) path->text[at++] = '.';
    memcpy(path->text + at, word, n);
    path->text[at + n] = '\0';
    return true;
}

/* An element of an array is called by its number. */
static bool path_number(struct path *path) {
    char word[DPMF_DOUBLE_TEXT_MAX];
    if (path->depth == 0 || path->index[path->depth] < 0) return true;
    return path_add(path, word, number_format_int64(path->index[path->depth]++, word));
}

static bool path_enter(struct path *path, bool is_array) {
    if (path->depth == JSON_DEPTH_MAX) return false;
    size_t n = path->depth == 0 ? 0 : strlen(path->text);
    path->depth++;
    path->length[path->depth] = n;
    path->index[path->depth] = is_array ? 0 : -1;
    return true;
}

static int take_text(const struct json_token *token, struct export_fact *fact,
                     export_fact_take *take, void *self, struct dpmf_error *error) {
    char *text = memory_alloc(token->length + 1, 1);
    if (!text) return error_no_memory(error);
    text[json_unescape(token, text)] = '\0';
    fact->kind = EXPORT_TEXT;
    fact->text = text;
    int code = take(self, fact, error);
    free(text);
    return code;
}

static int take_value(const struct json_token *token, const char *field, export_fact_take *take,
                      void *self, struct dpmf_error *error) {
    struct export_fact fact = {.field = field, .kind = EXPORT_NULL};
    if (token->kind == JSON_STRING) return take_text(token, &fact, take, self, error);
    if (token->kind == JSON_TRUE || token->kind == JSON_FALSE) {
        fact.kind = EXPORT_FLAG;
        fact.whole = token->kind == JSON_TRUE;
    } else if (token->kind == JSON_NUMBER) {
        fact.kind = EXPORT_WHOLE;
        if (number_parse_int64(token->text, token->length, &fact.whole) != NUMBER_OK) {
            fact.kind = EXPORT_NUMBER;
            if (number_parse_double(token->text, token->length, &fact.number) != NUMBER_OK)
                fact.kind = EXPORT_NULL;
        }
    }
    return take(self, &fact, error);
}

int export_json_visit(const char *json, export_fact_take *take, void *self,
                      struct dpmf_error *error) {
    struct path path = {.depth = 0};
    struct json_reader reader;
    json_reader_init(&reader, json, strlen(json));
    for (;;) {
        struct json_token token = json_next(&reader);
        bool fits = true;
        int code = 0;
        switch (token.kind) {
        case JSON_END: return 0;
        case JSON_ERROR: fits = false; break;
        case JSON_KEY: fits = path_add(&path, token.text, token.length); break;
        case JSON_OBJECT_BEGIN:
        case JSON_ARRAY_BEGIN:
            fits = path_number(&path) && path_enter(&path, token.kind == JSON_ARRAY_BEGIN);
            break;
        case JSON_OBJECT_END:
        case JSON_ARRAY_END: path.depth--; break;
        default:
            fits = path_number(&path);
            if (fits) code = take_value(&token, path.text, take, self, error);
        }
        if (!fits)
            return error_set(error, DPMF_ERR_MODEL_CORRUPT,
                             "the model's description of itself is not valid JSON");
        if (code < 0) return code;
    }
}

/* ---- files ----------------------------------------------------------------------------------- */

static int add_to_json(void *self, const struct export_fact *fact, struct dpmf_error *error) {
    struct dpmf_json *json = self;
    (void)error;
    switch (fact->kind) {
    case EXPORT_TEXT: dpmf_json_string(json, fact->field, fact->text); break;
    case EXPORT_NUMBER: dpmf_json_double(json, fact->field, fact->number); break;
    case EXPORT_WHOLE: dpmf_json_int(json, fact->field, fact->whole); break;
    case EXPORT_FLAG: dpmf_json_bool(json, fact->field, fact->whole != 0); break;
    case EXPORT_NULL: dpmf_json_null(json, fact->field); break;
    }
    return 0;
}

static int add_file(struct output_directory *directory, const char *name, const char *text,
                    struct dpmf_error *error) {
    struct output_file *file = NULL;
    int code = output_directory_add(directory, name, &file, error);
    if (code == 0) code = output_file_write(file, text, strlen(text), error);
    if (code == 0) code = output_file_write(file, "\n", 1, error);
    return code;
}

int export_documents_add(struct export_task *task, struct output_directory *directory,
                         struct dpmf_error *error) {
    const struct dpmf_model_info *info = &task->info;
    struct dpmf_json *json = dpmf_json_new();
    if (!json) return error_no_memory(error);
    dpmf_json_begin_object(json, NULL);
    int code = export_facts_visit(task, add_to_json, json, error);
    dpmf_json_end_object(json);
    const char *text = dpmf_json_text(json, NULL);
    if (code == 0)
        code = text ? add_file(directory, "model.json", text, error) : error_no_memory(error);
    dpmf_json_free(json);
    if (code == 0 && info->statement)
        code = add_file(directory, "statement.json", info->statement, error);
    if (code == 0 && info->provenance)
        code = add_file(directory, "provenance.json", info->provenance, error);
    return code;
}
