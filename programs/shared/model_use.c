/*
 * What the commands on models share: opening one, finding ids in it, lists of
 * items, titles, and the rows they print. Fed by the option table's values;
 * feeds evaluate, predict, recommend, similar and explain.
 */
#define _GNU_SOURCE
#include "shared/model_use.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/error_show.h"
#include "cli/options.h"
#include "cli/report.h"
#include "cli/shared_options.h"
#include "cli/text.h"
#include "dpmf_text.h"
#include "shared/title_entities.h"

enum { ID_SHOWN_MAX = 40 };

int model_use_no_memory(void) {
    return terminal_error_print(error_exit_status(DPMF_ERR_BASE_NO_MEMORY), NULL, "%s",
                                dpmf_error_sentence(DPMF_ERR_BASE_NO_MEMORY));
}

/* A model file is no ratings file: it begins with the length of a JSON header, which is never near
 * 2^56, and the brace of that header. */
bool model_use_is_model(const char *path) {
    unsigned char head[9];
    struct stat status;
    /* Only a regular file can be looked into and still be read from its beginning. */
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    ssize_t n = pread(fd, head, sizeof head, 0);
    close(fd);
    return n == (ssize_t)sizeof head && head[8] == '{' && head[7] == 0 && head[6] == 0;
}

int model_use_check_output(const struct invocation *invocation, struct dpmf_error *error) {
    const char *path = invocation->value[OPTION_OUTPUT];
    struct stat status;
    if (dpmf_cluster_rank(invocation->cluster) != 0) return 0;
    /* what is no file at all is refused by whoever would write it, in its own words */
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) return 0;
    return dpmf_output_check_kind(path, DPMF_FILE_CHECKPOINT, &invocation->run, error);
}

/* What a release promises is no condition for using it at home; but whoever does should know. */
static void warn_of_statement(struct invocation *invocation) {
    const char *path = invocation->operands[0], *why = NULL;
    struct dpmf_statement statement;
    struct dpmf_error error = {0};
    char text[2 * DPMF_ERROR_TEXT_MAX];
    int rc = dpmf_release_statement(path, &statement, &error);
    if (rc == DPMF_ERR_BASE_NO_MEMORY)
        why = "its privacy statement could not be checked: there is not enough memory";
    else if (rc != 0)
        why = "its privacy statement does not hold; dpmf privacy verify shows why";
    else if (statement.claim == DPMF_CLAIM_NOT_PRIVATE)
        why = statement.is_insecure ? "NOT PRIVATE: its noise was made from a seed"
                                    : "NOT PRIVATE: it was made with --research";
    if (why != NULL) {
        snprintf(text, sizeof text, "%.*s: %s", DPMF_ERROR_TEXT_MAX, path, why);
        terminal_warning_print(&invocation->terminal, text);
    }
    dpmf_statement_free(&statement);
}

void model_use_warn_unchecked(struct invocation *invocation, const struct dpmf_model_info *info) {
    char text[2 * DPMF_ERROR_TEXT_MAX];
    if (!info->is_unchecked) return;
    snprintf(text, sizeof text,
             "%.*s: written by an older version, without a checksum: damage to it cannot be "
             "detected; a model trained again has one",
             DPMF_ERROR_TEXT_MAX, invocation->operands[0]);
    terminal_warning_print(&invocation->terminal, text);
}

uint32_t model_use_epochs_asked(const struct dpmf_model_info *info) {
    static const char key[] = "\"epochs\":";
    const char *at = info->provenance != NULL ? strstr(info->provenance, key) : NULL;
    char digits[12];
    uint64_t epochs = 0;
    if (at == NULL) return 0;
    at += sizeof key - 1;
    size_t n = strspn(at, "0123456789");
    if (n >= sizeof digits) return 0;
    memcpy(digits, at, n);
    digits[n] = '\0';
    return dpmf_parse_uint64(digits, &epochs) == 0 && epochs <= UINT32_MAX ? (uint32_t)epochs : 0;
}

/* Early stopping ends a run too, and needs a validation set. */
void model_use_warn_unfinished(struct invocation *invocation, const struct dpmf_model_info *info) {
    char text[2 * DPMF_ERROR_TEXT_MAX];
    const uint32_t asked = model_use_epochs_asked(info);
    if (asked <= info->epochs || !isnan(info->best_valid)) return;
    snprintf(text, sizeof text,
             "%.*s: trained %u of %u epochs: a snapshot of a run that has not ended",
             DPMF_ERROR_TEXT_MAX, invocation->operands[0], info->epochs, asked);
    terminal_warning_print(&invocation->terminal, text);
}

static void note_features(struct invocation *invocation, const struct dpmf_features_side *side,
                          const char *what) {
    if (side->known + side->placed == 0) return;
    terminal_note_print(&invocation->terminal,
                        "%s without ratings placed by their features, learned from %s",
                        text_count(side->placed, what).text, text_count(side->known, what).text);
}

static int add_features(struct invocation *invocation, struct dpmf_model *model) {
    struct dpmf_features_report report;
    struct dpmf_error error = {0};
    if (!command_has(invocation, OPTION_ITEM_FEATURES) &&
        !command_has(invocation, OPTION_USER_FEATURES))
        return STATUS_DONE;
    int rc = dpmf_model_add_features(model, invocation->value[OPTION_ITEM_FEATURES],
                                     invocation->value[OPTION_USER_FEATURES], &invocation->run,
                                     &report, &error);
    if (rc != 0) return report_error_print(invocation, &error);
    terminal_progress_end(&invocation->terminal);
    note_features(invocation, &report.items, "item");
    note_features(invocation, &report.users, "user");
    return STATUS_DONE;
}

int model_use_open(struct invocation *invocation, struct dpmf_model **model) {
    struct dpmf_model_info info;
    struct dpmf_error error = {0};
    int rc = dpmf_model_open(invocation->operands[0], model, &error);
    if (rc != 0) return report_error_print(invocation, &error);
    dpmf_model_info(*model, &info);
    if (strcmp(info.kind, "release") == 0) warn_of_statement(invocation);
    model_use_warn_unchecked(invocation, &info);
    model_use_warn_unfinished(invocation, &info);
    return add_features(invocation, *model);
}

int model_use_refuse_unread(const struct invocation *invocation) {
    return options_refuse_group(invocation, input_options, OPTION_COUNT,
                                "says how ratings are read, and none are read here",
                                "leave it out, or give the ratings that it is about");
}

int model_use_ratings(struct invocation *invocation, enum option_id id, struct dpmf_store **store) {
    struct dpmf_error error = {0};
    *store = NULL;
    if (!command_has(invocation, id)) return STATUS_DONE;
    const struct dpmf_input_options input = options_input_of(invocation, invocation->value[id]);
    int rc = dpmf_store_open(invocation->value[id], &input, &invocation->run, store, &error);
    return rc != 0 ? report_error_print(invocation, &error) : STATUS_DONE;
}

/* They are fitted as they are, unless the library refuses most of them. */
static void warn_of_scale(struct invocation *invocation, const struct dpmf_model *model,
                          const struct dpmf_store *store) {
    char text[400];
    struct dpmf_model_info info;
    struct dpmf_store_info found;
    dpmf_model_info(model, &info);
    dpmf_store_info(store, &found);
    if (strcmp(info.goal, "rating") != 0 || found.holds_events || found.ratings == 0) return;
    if (found.min >= info.min && found.max <= info.max) return;
    snprintf(text, sizeof text,
             "ratings of --history go from %s to %s, and the model's scale from %s to %s",
             text_double(found.min).text, text_double(found.max).text, text_double(info.min).text,
             text_double(info.max).text);
    terminal_warning_print(&invocation->terminal, text);
}

int model_use_history(struct invocation *invocation, const struct dpmf_model *model,
                      struct dpmf_store **store) {
    int status = model_use_ratings(invocation, OPTION_HISTORY, store);
    if (status == STATUS_DONE && *store != NULL) warn_of_scale(invocation, model, *store);
    return status;
}

int model_use_top(const struct invocation *invocation, uint64_t most, size_t *n) {
    *n = TOP_DEFAULT;
    if (!command_has(invocation, OPTION_TOP)) return STATUS_DONE;
    uint64_t count = options_count(invocation, OPTION_TOP);
    if (count < 1 || count > most)
        return terminal_error_print(STATUS_USAGE, "for example: -n 10", "-n %s is not from 1 to %s",
                                    invocation->value[OPTION_TOP], text_number(most).text);
    *n = (size_t)count;
    return STATUS_DONE;
}

int model_use_order(const struct invocation *invocation, struct dpmf_order *order,
                    const struct dpmf_order **asked) {
    const bool has_taste = command_has(invocation, OPTION_TASTE);
    *order = dpmf_order_default();
    *asked = NULL;
    if (has_taste) order->taste = options_number(invocation, OPTION_TASTE);
    if (!(order->taste >= 0 && order->taste <= 1))
        return terminal_error_print(STATUS_USAGE, "for example: --taste 0.8",
                                    "--taste %s is not from 0 to 1",
                                    invocation->value[OPTION_TASTE]);
    order->by_rating = options_is(invocation, OPTION_BY, "rating");
    if (order->by_rating && has_taste)
        return terminal_error_print(STATUS_USAGE, "keep one of them",
                                    "--taste is a dial of the score, not of --by rating");
    if (has_taste || command_has(invocation, OPTION_BY)) *asked = order;
    return STATUS_DONE;
}

void model_use_order_note(struct invocation *invocation, const struct dpmf_model *model,
                          const struct dpmf_order *asked) {
    struct dpmf_model_info info;
    dpmf_model_info(model, &info);
    if (asked == NULL && !info.has_counts && strcmp(info.goal, "rating") == 0)
        terminal_note_print(&invocation->terminal,
                            "this model does not say how many people rated each item: ordered by "
                            "the predicted rating alone");
}

/* ---- ids
 * ---------------------------------------------------------------------------------------
 */

static const char *id_at(const struct dpmf_model *model, enum model_side side, uint64_t number,
                         size_t *length) {
    return side == MODEL_USER ? dpmf_model_user_id(model, number, length)
                              : dpmf_model_item_id(model, number, length);
}

uint64_t model_use_number(const struct dpmf_model *model, enum model_side side, const char *id) {
    return side == MODEL_USER ? dpmf_model_find_user(model, id, strlen(id))
                              : dpmf_model_find_item(model, id, strlen(id));
}

/* The nearest of the words is kept by pointer, so each candidate that is nearer
 * is copied. */
void model_use_suggest(const struct dpmf_model *model, enum model_side side, const char *id,
                       char hint[MODEL_HINT_MAX]) {
    struct dpmf_nearest nearest = {.wanted = id};
    char word[ID_SHOWN_MAX + 1], kept[ID_SHOWN_MAX + 1] = "";
    const char *bytes;
    size_t length;
    hint[0] = '\0';
    if (strlen(id) > ID_SHOWN_MAX) return;
    for (uint64_t i = 0; (bytes = id_at(model, side, i, &length)) != NULL; i++) {
        if (length > ID_SHOWN_MAX || memchr(bytes, '\0', length) != NULL) continue;
        memcpy(word, bytes, length);
        word[length] = '\0';
        dpmf_nearest_offer(&nearest, word);
        if (nearest.word != word) continue;
        memcpy(kept, word, length + 1);
        nearest.word = kept;
        if (nearest.distance <= 1) break; /* an unknown id is never nearer */
    }
    if (nearest.word != NULL) snprintf(hint, MODEL_HINT_MAX, "did you mean \"%s\"?", nearest.word);
}

int model_use_find(struct invocation *invocation, const struct dpmf_model *model,
                   enum model_side side, const char *id, uint64_t *number) {
    char hint[MODEL_HINT_MAX];
    const char *what = side == MODEL_USER ? "user" : "item";
    *number = model_use_number(model, side, id);
    if (*number != UINT64_MAX) return STATUS_DONE;
    model_use_suggest(model, side, id, hint);
    if (hint[0] == '\0')
        snprintf(hint, sizeof hint, "ids are compared byte by byte with those it was trained on");
    return terminal_error_print(STATUS_INPUT, hint, "%s: the model does not know %s \"%.200s\"",
                                invocation->operands[0], what, id);
}

/* ---- lists of items
 * ----------------------------------------------------------------------------
 */

struct listing {
    const struct dpmf_model *model;
    uint8_t *bitmap;
    uint64_t n, unknown;
};

static int list_item(void *self, const struct dpmf_table_row *row, struct dpmf_error *error) {
    struct listing *listing = self;
    (void)error;
    uint64_t item = dpmf_model_find_item(listing->model, row->field[0].text, row->field[0].length);
    listing->n++;
    if (item == UINT64_MAX)
        listing->unknown++;
    else
        listing->bitmap[item / 8] |= (uint8_t)(1u << item % 8);
    return 0;
}

int model_use_list(struct invocation *invocation, const struct dpmf_model *model, enum option_id id,
                   uint8_t **bitmap) {
    struct dpmf_model_info info;
    struct dpmf_error error = {0};
    *bitmap = NULL;
    if (!command_has(invocation, id)) return STATUS_DONE;
    dpmf_model_info(model, &info);
    *bitmap = calloc((size_t)(info.items / 8 + 1), 1);
    if (*bitmap == NULL) return model_use_no_memory();
    struct listing listing = {.model = model, .bitmap = *bitmap};
    const char *path = invocation->value[id];
    if (dpmf_items_read(model, path, &invocation->run, list_item, &listing, &error) != 0)
        return report_error_print(invocation, &error);
    if (listing.n == 0) terminal_note_print(&invocation->terminal, "%s lists no items", path);
    if (listing.unknown > 0)
        terminal_note_print(&invocation->terminal, "%s: the model does not know %s of %s", path,
                            text_number(listing.unknown).text, text_count(listing.n, "item").text);
    return STATUS_DONE;
}

/* ---- titles
 * ------------------------------------------------------------------------------------
 */

struct titling {
    const struct dpmf_model *model;
    struct catalogue *catalogue;
    uint64_t rows, known; /* rows in all, and rows of items of the model */
    uint64_t again;       /* rows with another title of an item that had one */
};

static int add_title(void *self, const struct dpmf_table_row *row, struct dpmf_error *error) {
    struct titling *titling = self;
    const struct dpmf_field *title = &row->field[1];
    uint64_t item = dpmf_model_find_item(titling->model, row->field[0].text, row->field[0].length);
    titling->rows++;
    if (item == UINT64_MAX) return 0;
    titling->known++;
    char *copy = malloc(title->length + 1);
    if (copy == NULL) {
        error->code = DPMF_ERR_BASE_NO_MEMORY;
        return DPMF_ERR_BASE_NO_MEMORY;
    }
    memcpy(copy, title->text, title->length + 1);
    title_entities_decode(copy);
    char **place = &titling->catalogue->titles[item];
    titling->again += *place != NULL && strcmp(*place, copy) != 0;
    free(*place);
    *place = copy;
    return 0;
}

/* Without a word, a table of other ids would look like no table at all. */
static void warn_of_titles(struct invocation *invocation, const struct titling *titling) {
    const char *path = invocation->value[OPTION_CATALOGUE];
    char text[2 * DPMF_ERROR_TEXT_MAX];
    if (titling->rows == 0)
        snprintf(text, sizeof text, "%.400s holds no titles", path);
    else if (titling->known == 0)
        snprintf(text, sizeof text,
                 "%.400s names none of the model's items: there are no titles; ids are compared "
                 "byte by byte",
                 path);
    else if (titling->again > 0)
        snprintf(text, sizeof text,
                 "%.400s: other titles of an item that had one: %s; the last title is shown", path,
                 text_number(titling->again).text);
    else
        return;
    terminal_warning_print(&invocation->terminal, text);
}

static int read_titles(struct invocation *invocation, const struct dpmf_model *model,
                       bool are_published, struct catalogue *catalogue) {
    struct dpmf_model_info info;
    struct dpmf_error error = {0};
    struct titling titling = {.model = model, .catalogue = catalogue};
    *catalogue = (struct catalogue){0};
    if (!command_has(invocation, OPTION_CATALOGUE)) return STATUS_DONE;
    dpmf_model_info(model, &info);
    catalogue->titles = calloc((size_t)info.items + 1, sizeof *catalogue->titles);
    if (catalogue->titles == NULL) return model_use_no_memory();
    catalogue->n = info.items;
    const char *path = invocation->value[OPTION_CATALOGUE];
    int rc =
        are_published
            ? dpmf_table_read_titles(path, &invocation->run, add_title, &titling, &error)
            : dpmf_table_read(path, "item,title", &invocation->run, add_title, &titling, &error);
    if (rc != 0) return report_error_print(invocation, &error);
    if (!are_published) warn_of_titles(invocation, &titling);
    return STATUS_DONE;
}

int model_titles_read(struct invocation *invocation, const struct dpmf_model *model,
                      struct catalogue *catalogue) {
    return read_titles(invocation, model, false, catalogue);
}

int model_titles_publish(struct invocation *invocation, const struct dpmf_model *model,
                         struct catalogue *catalogue) {
    return read_titles(invocation, model, true, catalogue);
}

int model_facts_take(struct invocation *invocation, struct dpmf_model *model) {
    enum { FACTORS_MOST = 64 }; /* as dpmf_model_set_facts takes them */
    struct dpmf_model_info info;
    struct dpmf_error error = {0};
    struct dpmf_facts *facts = NULL;
    dpmf_model_info(model, &info);
    const bool has_use =
        strcmp(info.kind, "release") == 0 && info.has_counts && info.factors <= FACTORS_MOST;
    if (!command_has(invocation, OPTION_CATALOGUE) || !has_use) return STATUS_DONE;
    const char *path = invocation->value[OPTION_CATALOGUE];
    struct stat about;
    if (strcmp(path, "-") == 0 || stat(path, &about) != 0 || !S_ISREG(about.st_mode)) {
        terminal_note_print(&invocation->terminal,
                            "%s is not a file: its years and kinds do not count in taste", path);
        return STATUS_DONE;
    }
    int code = dpmf_facts_read(model, path, &invocation->run, &facts, &error);
    if (code == 0 && dpmf_facts_items(facts))
        code = dpmf_model_set_facts(model, dpmf_facts_items(facts), &error);
    dpmf_facts_free(facts);
    return code != 0 ? report_error_print(invocation, &error) : STATUS_DONE;
}

const char *model_title(const struct catalogue *catalogue, uint64_t item) {
    return item < catalogue->n ? catalogue->titles[item] : NULL;
}

void model_titles_free(struct catalogue *catalogue) {
    for (uint64_t i = 0; i < catalogue->n; i++) free(catalogue->titles[i]);
    free(catalogue->titles);
    *catalogue = (struct catalogue){0};
}

/* ---- rows
 * --------------------------------------------------------------------------------------
 */

void csv_field_print(const char *bytes, size_t length) {
    bool needs_quotes = false;
    for (size_t i = 0; i < length; i++)
        needs_quotes |= bytes[i] == ',' || bytes[i] == '"' || bytes[i] == '\n' || bytes[i] == '\r';
    if (!needs_quotes) {
        fwrite(bytes, 1, length, stdout);
        return;
    }
    putchar('"');
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] == '"') putchar('"');
        putchar(bytes[i]);
    }
    putchar('"');
}

void model_id_csv(const struct dpmf_model *model, enum model_side side, uint64_t number) {
    size_t length;
    const char *id = id_at(model, side, number, &length);
    csv_field_print(id != NULL ? id : "", length);
}

void model_id_json(struct dpmf_json *json, const char *key, const struct dpmf_model *model,
                   enum model_side side, uint64_t number) {
    size_t length;
    const char *id = id_at(model, side, number, &length);
    dpmf_json_bytes(json, key, id != NULL ? id : "", length);
}

void model_id_print(const struct dpmf_model *model, enum model_side side, uint64_t number) {
    char text[4 * ID_SHOWN_MAX];
    size_t length;
    const char *id = id_at(model, side, number, &length);
    snprintf(text, sizeof text, "%.*s%s", (int)(length < 120 ? length : 120), id != NULL ? id : "",
             length > 120 ? "..." : "");
    terminal_text_print(stdout, text);
}

void model_items_print(const struct dpmf_model *model, const struct catalogue *catalogue,
                       const char *heading, const struct dpmf_scored_item *items, const char *other,
                       const double *others, size_t n) {
    size_t width = 4;
    struct dpmf_model_info info;
    dpmf_model_info(model, &info);
    const bool rates = strcmp(info.goal, "rating") == 0;
    const int places = rates ? text_places(4, info.min, info.max) : 4;
    const bool is_cosine = strcmp(heading, "cosine") == 0;
    for (size_t i = 0; i < n; i++) {
        size_t length;
        id_at(model, MODEL_ITEM, items[i].item, &length);
        if (length > width && length <= ID_SHOWN_MAX) width = length;
    }
    printf("  rank  %7s  ", heading);
    if (others != NULL) printf("%7s  ", other);
    puts("item");
    for (size_t i = 0; i < n; i++) {
        const char *title = model_title(catalogue, items[i].item);
        size_t length;
        id_at(model, MODEL_ITEM, items[i].item, &length);
        printf("  %4zu  %7.*f  ", i + 1, is_cosine ? 4 : places, (double)items[i].score);
        if (others != NULL) printf("%7.*f  ", places, others[i]);
        model_id_print(model, MODEL_ITEM, items[i].item);
        if (title != NULL) {
            printf("%*s  ", (int)(length < width ? width - length : 0), "");
            terminal_text_print(stdout, title);
        }
        putchar('\n');
    }
}
