/*
 * A release that may be shown to anyone: the file is read once, and what is checked is what was
 * read. Checkpoints, releases that are stamped NOT PRIVATE and those that do not verify are
 * refused. Fed by the library; feeds serve and export --web.
 */
#define _GNU_SOURCE
#include "page/web_release.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/error_show.h"
#include "cli/options.h"
#include "cli/report.h"
#include "cli/shared_options.h"
#include "cli/signals.h"
#include "cli/text.h"
#include "dpmf_text.h"
#include "page/page_asset.h"
#include "page/page_facts.h"
#include "page/page_offline.h"
#include "shared/model_use.h"
#include "shared/privacy_claim.h"

/* Browsers keep no longer text than this in one piece: a larger page stays empty. */
static const uint64_t BROWSER_TEXT_MAX = 512u << 20;

static int no_memory(void) {
    return terminal_error_print(error_exit_status(DPMF_ERR_BASE_NO_MEMORY), NULL, "%s",
                                dpmf_error_sentence(DPMF_ERR_BASE_NO_MEMORY));
}

/* ---- the bytes ------------------------------------------------------------------------------- */

static int refuse_file(const char *path, int number) {
    return terminal_error_print(STATUS_IO, "name a release, as made by dpmf train --epsilon",
                                "%s: cannot read: %s", path, text_system_error(number).text);
}

/* A read takes at most 2 GiB; signals end it early. */
static int read_all(const char *path, int fd, uint64_t size, struct web_release *release) {
    release->size = (size_t)size;
    release->bytes = size < SIZE_MAX ? malloc(release->size + 1) : NULL;
    if (release->bytes == NULL) return no_memory();
    for (size_t at = 0; at < release->size;) {
        size_t want = release->size - at < INT_MAX ? release->size - at : INT_MAX;
        ssize_t n = read(fd, release->bytes + at, want);
        if (signals_pending() != 0) return 128 + signals_heed();
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return refuse_file(path, errno);
        if (n == 0)
            return terminal_error_print(STATUS_IO, "start again once nothing writes to it",
                                        "%s: it became shorter while it was being read", path);
        at += (size_t)n;
    }
    return STATUS_DONE;
}

/* With --memory we say beforehand what it takes: the file, and beside it either its numbers, while
 * they are checked, or the page, a third larger, where that is kept too, and once more in the
 * worker that lets it open without a network. */
static int check_memory(const struct invocation *invocation, uint64_t size, bool keeps_page) {
    const bool has_worker = keeps_page && size < PAGE_OFFLINE_MAX;
    uint64_t page = size + (keeps_page ? size / 3 : 0) + page_asset_size;
    uint64_t needed = size + (has_worker ? 3 * page : page);
    if (!command_has(invocation, OPTION_MEMORY) || needed <= invocation->run.memory)
        return STATUS_DONE;
    char hint[64];
    snprintf(hint, sizeof hint, "for example: --memory %juMiB",
             (uintmax_t)(needed + needed / 8) / (1 << 20) + 1);
    return terminal_error_print(error_exit_status(DPMF_ERR_USAGE_MEMORY), hint,
                                "%s: this takes %s, more than --memory %s", invocation->operands[0],
                                text_bytes(needed).text, invocation->value[OPTION_MEMORY]);
}

static int read_file(const struct invocation *invocation, bool keeps_page,
                     struct web_release *release) {
    const char *path = invocation->operands[0];
    struct stat file;
    int fd =
        open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe without a writer does not block */
    if (fd < 0 || fstat(fd, &file) != 0) {
        int number = errno;
        if (fd >= 0) close(fd);
        return refuse_file(path, number);
    }
    int status = STATUS_DONE;
    if (S_ISDIR(file.st_mode)) {
        status = refuse_file(path, EISDIR);
    } else if (!S_ISREG(file.st_mode)) {
        status = terminal_error_print(STATUS_INPUT, "copy it to a file first",
                                      "%s: only a regular file can be a release", path);
    } else {
        status = check_memory(invocation, (uint64_t)file.st_size, keeps_page);
        if (status == STATUS_DONE) status = read_all(path, fd, (uint64_t)file.st_size, release);
    }
    close(fd);
    return status;
}

/* ---- what may be published ------------------------------------------------------------------- */

/* What the library does not accept is refused for privacy, unless it is no model at all. */
static int refuse_release(struct invocation *invocation, struct dpmf_error *error) {
    if (error->code == DPMF_ERR_MODEL_KIND || error->code == DPMF_ERR_MODEL_CORRUPT ||
        error->code == DPMF_ERR_PRIVACY_NOT_VERIFIED)
        error->code = DPMF_ERR_PRIVACY_REFUSED;
    return report_error_print(invocation, error);
}

static int check_stamps(const char *path, const struct dpmf_statement *statement) {
    if (statement->claim != DPMF_CLAIM_NOT_PRIVATE) return STATUS_DONE;
    return terminal_error_print(STATUS_REFUSED,
                                statement->is_insecure
                                    ? "make the release again without --insecure-noise-seed"
                                    : "make the release again without --research",
                                "%s: %s", path, privacy_claim_fault(statement));
}

static int check_release(struct invocation *invocation, struct web_release *release) {
    const char *path = invocation->operands[0];
    struct dpmf_error error = {0};
    if (dpmf_release_statement_memory(release->bytes, release->size, path, &release->statement,
                                      &error) != 0)
        return refuse_release(invocation, &error);
    int status = check_stamps(path, &release->statement);
    if (status == STATUS_DONE)
        privacy_claim_warn(&invocation->terminal, release->statement.claim,
                           release->statement.assumptions);
    return status;
}

/* The header of a sound release is spelt in one way, and quotes within its texts are escaped. */
static int find_digest(struct web_release *release) {
    static const char key[] = "\"dpmf.digest\":\"";
    const char *end = release->bytes + release->size;
    const char *from = memmem(release->bytes, release->size, key, sizeof key - 1);
    const char *stop = NULL;
    if (from != NULL) {
        from += sizeof key - 1;
        stop = memchr(from, '"', (size_t)(end - from));
    }
    if (stop == NULL || stop - from >= WEB_DIGEST_MAX)
        return terminal_error_print(STATUS_BUG, "please report this, with what dpmf doctor prints",
                                    "a sound release has no digest");
    memcpy(release->digest, from, (size_t)(stop - from));
    return STATUS_DONE;
}

/* ---- items and titles ------------------------------------------------------------------------ */

/* Someone who gives the wrong file would see a page of bare ids. */
static int refuse_catalogue(const struct invocation *invocation, const struct dpmf_model *model) {
    char hint[256];
    size_t length = 0;
    const char *id = dpmf_model_item_id(model, 0, &length);
    snprintf(hint, sizeof hint,
             "its items must have the same ids as in the release, whose first is \"%.*s\"",
             (int)(length < 60 ? length : 60), id != NULL ? id : "");
    return terminal_error_print(STATUS_INPUT, hint, "%s: names none of the release's items",
                                invocation->value[OPTION_CATALOGUE]);
}

static void list_items(const struct dpmf_model *model, const struct catalogue *catalogue,
                       struct web_release *release) {
    dpmf_json_begin_array(release->title_list, NULL);
    dpmf_json_begin_array(release->item_list, NULL);
    for (uint64_t i = 0; i < release->items; i++) {
        const char *title = model_title(catalogue, i);
        if (title != NULL) release->titles++;
        dpmf_json_string(release->title_list, NULL, title);
        if (release->item_list == NULL) continue;
        dpmf_json_begin_object(release->item_list, NULL);
        model_id_json(release->item_list, "item", model, MODEL_ITEM, i);
        dpmf_json_string(release->item_list, "title", title);
        dpmf_json_end_object(release->item_list);
    }
    dpmf_json_end_array(release->title_list);
    dpmf_json_end_array(release->item_list);
}

static int read_items(struct invocation *invocation, const struct dpmf_model *model,
                      struct web_release *release) {
    struct catalogue catalogue = {0};
    struct dpmf_model_info info;
    dpmf_model_info(model, &info);
    release->items = info.items;
    int status = model_titles_publish(invocation, model, &catalogue);
    if (status == STATUS_DONE) {
        list_items(model, &catalogue, release);
        if (dpmf_json_text(release->title_list, NULL) == NULL ||
            (release->item_list != NULL && dpmf_json_text(release->item_list, NULL) == NULL))
            status = no_memory();
        else if (release->titles == 0 && info.items > 0 &&
                 command_has(invocation, OPTION_CATALOGUE))
            status = refuse_catalogue(invocation, model);
    }
    model_titles_free(&catalogue);
    return status;
}

static int open_items(struct invocation *invocation, bool for_serving,
                      struct web_release *release) {
    struct dpmf_model *model = NULL;
    struct dpmf_error error = {0};
    release->title_list = dpmf_json_new();
    if (for_serving) release->item_list = dpmf_json_new();
    if (release->title_list == NULL || (for_serving && release->item_list == NULL))
        return no_memory();
    if (dpmf_model_open_memory(release->bytes, release->size, invocation->operands[0], &model,
                               &error) != 0)
        return refuse_release(invocation, &error);
    int status = read_items(invocation, model, release);
    if (status == STATUS_DONE) status = page_facts_read(invocation, model, &release->facts);
    if (status == STATUS_DONE) status = page_look_read(invocation, model, &release->look);
    dpmf_model_close(model);
    return status;
}

/* ---- all of it ------------------------------------------------------------------------------- */

int web_release_open(struct invocation *invocation, bool for_serving, struct web_release *release) {
    *release = (struct web_release){.is_for_serving = for_serving};
    if (options_is(invocation, OPTION_NAME, ""))
        return terminal_error_print(STATUS_USAGE, "for example: --name \"Films for us\"",
                                    "--name is empty");
    int status = read_file(invocation, for_serving, release);
    if (status == STATUS_DONE) status = check_release(invocation, release);
    if (status == STATUS_DONE) status = find_digest(release);
    if (status == STATUS_DONE) status = open_items(invocation, for_serving, release);
    if (status == STATUS_DONE && release->titles < release->items)
        terminal_note_print(&invocation->terminal, "%s without a title: %s",
                            text_count(release->items - release->titles, "item").text,
                            command_has(invocation, OPTION_CATALOGUE)
                                ? "shown by their ids"
                                : "--catalogue FILE names a table of titles");
    return status;
}

void web_release_close(struct web_release *release) {
    free(release->bytes);
    dpmf_statement_free(&release->statement);
    dpmf_json_free(release->title_list);
    dpmf_json_free(release->item_list);
    dpmf_json_free(release->facts);
    page_look_free(&release->look);
    *release = (struct web_release){0};
}

int web_release_page(struct invocation *invocation, const struct web_release *release,
                     struct page *page) {
    struct dpmf_error error = {0};
    if (page_asset_size == 0)
        return terminal_error_print(
            STATUS_USAGE, "install clang, lld and wasi-libc, and build it again with -DDPMF_WEB=ON",
            "this dpmf was built without the page");
    struct page_parts parts = {
        .page = (const char *)page_asset,
        .page_size = page_asset_size,
        .name = command_has(invocation, OPTION_NAME) ? invocation->value[OPTION_NAME]
                                                     : PAGE_NAME_DEFAULT,
        .release = release->bytes,
        .release_size = release->size,
        .claim = release->statement.claim,
        .assumptions = release->statement.assumptions,
        .statement = release->statement.recorded,
        .statement_text = release->statement.text,
        .links = release->look.links,
        .is_served = release->is_for_serving && release->size < PAGE_OFFLINE_MAX,
    };
    parts.items = dpmf_json_text(release->title_list, &parts.items_size);
    parts.look = dpmf_json_text(release->look.json, &parts.look_size);
    if (parts.look_size <= strlen("{}")) parts.look = NULL; /* nothing was given */
    if (release->facts) parts.facts = dpmf_json_text(release->facts, &parts.facts_size);
    if (page_prepare(&parts, page, &error) != 0) return report_error_print(invocation, &error);
    if (page_size(page) > BROWSER_TEXT_MAX)
        terminal_warning_print(&invocation->terminal,
                               "the page is larger than browsers can load; the release itself is "
                               "fine");
    return STATUS_DONE;
}
