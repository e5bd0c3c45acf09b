/*
 * A history from another service: read whole, matched with the model's items by title, and what
 * came of it said. Fed by the file that --ratings names and the titles of --catalogue, or the ids
 * of items where there is none. Feeds own_ratings.
 */
#define _GNU_SOURCE
#include "own_diary.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "options.h"
#include "report.h"
#include "text.h"

enum { LOOK_BYTES = 1 << 16 };
static const off_t FILE_MOST = (off_t)1 << 30;

/* ---- the file -------------------------------------------------------------------------------- */

/* Reads as much as there is, up to n bytes. @return how many; -1 with errno set */
static ssize_t read_bytes(int fd, char *bytes, size_t n) {
    size_t at = 0;
    while (at < n) {
        const ssize_t got = read(fd, bytes + at, n - at);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (got == 0) break;
        at += (size_t)got;
    }
    return (ssize_t)at;
}

bool own_diary_is(const char *path, const struct catalogue *catalogue) {
    const char *service = NULL;
    struct stat file;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *bytes = malloc(LOOK_BYTES);
    if (fd >= 0 && bytes != NULL && fstat(fd, &file) == 0 && S_ISREG(file.st_mode) &&
        lseek(fd, 0, SEEK_SET) == 0) {
        const ssize_t n = read_bytes(fd, bytes, LOOK_BYTES);
        if (n > 0) service = dpmf_diary_service(bytes, (size_t)n);
    }
    if (fd >= 0) close(fd);
    free(bytes);
    if (service == NULL) return false;
    const bool is_own = strcmp(service, "dpmf") == 0 || strcmp(service, "titles") == 0;
    return !is_own || catalogue->n > 0;
}

static int refuse_file(const char *name, int number) {
    return terminal_error_print(STATUS_IO, NULL, "%s: cannot read: %s", name,
                                text_system_error(number).text);
}

static int read_file(const char *path, const char *name, char **bytes, size_t *n) {
    struct stat file;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return refuse_file(name, errno);
    int status = STATUS_DONE;
    if (fstat(fd, &file) != 0 || lseek(fd, 0, SEEK_SET) != 0)
        status = refuse_file(name, errno);
    else if (file.st_size > FILE_MOST)
        status = terminal_error_print(STATUS_INPUT, "give the files of a service one by one",
                                      "%s: too large for one person's history", name);
    else if ((*bytes = malloc((size_t)file.st_size + 1)) == NULL)
        status = model_use_no_memory();
    else {
        const ssize_t got = read_bytes(fd, *bytes, (size_t)file.st_size);
        if (got < 0) status = refuse_file(name, errno);
        *n = got > 0 ? (size_t)got : 0;
    }
    close(fd);
    return status;
}

/* ---- titles ---------------------------------------------------------------------------------- */

/* The title of an item, or its id. */
static const char *title_of(const struct catalogue *catalogue, const struct dpmf_model *model,
                            uint64_t item, size_t *length) {
    const char *title = model_title(catalogue, item);
    if (title == NULL) return dpmf_model_item_id(model, item, length);
    *length = strlen(title);
    return title;
}

static char *join_titles(const struct catalogue *catalogue, const struct dpmf_model *model,
                         uint64_t items, size_t *bytes) {
    size_t length;
    *bytes = 0;
    for (uint64_t i = 0; i < items; i++) {
        title_of(catalogue, model, i, &length);
        *bytes += length + 1;
    }
    char *text = malloc(*bytes + 1), *at = text;
    for (uint64_t i = 0; text != NULL && i < items; i++) {
        const char *title = title_of(catalogue, model, i, &length);
        for (size_t j = 0; j < length; j++) *at++ = (char)(title[j] != '\0' ? title[j] : ' ');
        *at++ = '\0';
    }
    return text;
}

static int make_titles(struct invocation *invocation, const struct catalogue *catalogue,
                       const struct dpmf_model *model, struct dpmf_titles **titles) {
    struct dpmf_model_info info;
    struct dpmf_error error = {0};
    size_t bytes;
    dpmf_model_info(model, &info);
    char *text = join_titles(catalogue, model, info.items, &bytes);
    if (text == NULL) return model_use_no_memory();
    int rc = dpmf_titles_make(text, bytes, info.items, NULL, titles, &error);
    free(text);
    return rc != 0 ? report_error_print(invocation, &error) : STATUS_DONE;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static int check_usage(const struct invocation *invocation, const char *name) {
    static const enum option_id scales[] = {OPTION_RESCALE, OPTION_RATING_RANGE};
    for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++)
        if (command_has(invocation, scales[i]))
            return terminal_error_print(STATUS_USAGE, "leave it out",
                                        "%s: ratings of a service are on a scale that is known",
                                        name);
    return STATUS_DONE;
}

static int check_rows(struct invocation *invocation, const struct dpmf_diary *diary,
                      const char *name) {
    struct dpmf_diary_info info;
    dpmf_diary_info(diary, &info);
    if (info.bad == 0 || options_input(invocation).skip_bad) return STATUS_DONE;
    return terminal_error_print(STATUS_INPUT, "--on-error skip leaves such rows out", "%s:%lld: %s",
                                name, (long long)info.first_bad, info.fault);
}

int own_diary_read(struct invocation *invocation, const struct dpmf_model *model,
                   const struct catalogue *catalogue, const char *path, const char *name,
                   struct dpmf_diary **diary) {
    struct dpmf_titles *titles = NULL;
    struct dpmf_error error = {0};
    char *bytes = NULL;
    size_t n = 0;
    int status = check_usage(invocation, name);
    if (status == STATUS_DONE) status = read_file(path, name, &bytes, &n);
    if (status == STATUS_DONE &&
        (dpmf_diary_new(diary, &error) != 0 || dpmf_diary_add(*diary, bytes, n, name, &error) != 0))
        status = report_error_print(invocation, &error);
    free(bytes);
    if (status == STATUS_DONE) status = check_rows(invocation, *diary, name);
    if (status == STATUS_DONE) status = make_titles(invocation, catalogue, model, &titles);
    if (status == STATUS_DONE && dpmf_diary_match(*diary, model, titles, &error) != 0)
        status = report_error_print(invocation, &error);
    dpmf_titles_free(titles);
    return status;
}

/* ---- what is said about it ------------------------------------------------------------------- */

static void note_left_out(struct terminal *terminal, const struct dpmf_diary_info *info) {
    if (info->bad > 0)
        terminal_note_print(terminal, "rows that could not be read: %s, the first in line %lld",
                            text_number(info->bad).text, (long long)info->first_bad);
    if (info->wishes > 0)
        terminal_note_print(terminal, "%s left out: wanted, and not had yet",
                            text_count(info->wishes, "row").text);
    if (info->trifles > 0)
        terminal_note_print(terminal,
                            "%s left out: heard for less than 30 seconds, a trailer or a podcast",
                            text_count(info->trifles, "row").text);
}

static void print_item(const struct catalogue *catalogue, const struct dpmf_model *model,
                       uint64_t item) {
    size_t length;
    char shown[200], title[200];
    const char *text = title_of(catalogue, model, item, &length);
    snprintf(title, sizeof title, "%.*s", (int)(length < 190 ? length : 190), text);
    dpmf_title_show(title, strlen(title), shown, sizeof shown);
    terminal_text_print(stderr, shown);
}

/* An entry that was not matched, or not surely: "likely  Moon Wars (1977): Moon Wars: A Tale". */
static void print_entry(const struct catalogue *catalogue, const struct dpmf_model *model,
                        const struct dpmf_diary_entry *entry) {
    static const char *const words[] = {"unknown", "unsure", "likely"};
    fprintf(stderr, "  %-7s  ", words[entry->match]);
    terminal_text_print(stderr, entry->title);
    if (entry->year != 0) fprintf(stderr, " (%d)", (int)entry->year);
    const char *between = ": ";
    if (entry->item != UINT64_MAX) {
        fputs(between, stderr);
        print_item(catalogue, model, entry->item);
    }
    for (uint32_t i = 0; i < entry->n_candidates; i++, between = " | ") {
        fputs(between, stderr);
        print_item(catalogue, model, entry->candidates[i]);
    }
    fputc('\n', stderr);
}

void own_diary_note(struct invocation *invocation, const struct catalogue *catalogue,
                    const struct dpmf_model *model, const struct dpmf_diary *diary) {
    struct terminal *terminal = &invocation->terminal;
    struct dpmf_diary_info info;
    struct dpmf_diary_entry entry;
    dpmf_diary_info(diary, &info);
    const size_t left = info.unsure + info.none;
    terminal_note_print(
        terminal,
        "%s from %s, matched by %s: %s surely, %s likely; left out: %s unsure, %s unknown%s",
        text_count(info.entries, "title").text, info.service, info.way, text_number(info.sure).text,
        text_number(info.likely).text, text_number(info.unsure).text, text_number(info.none).text,
        left + info.likely > 0 && !terminal->verbose ? " (-v lists them)" : "");
    note_left_out(terminal, &info);
    if (info.entries == left && catalogue->n == 0)
        terminal_note_print(terminal, "items were compared by their ids: --catalogue FILE names "
                                      "a table of titles");
    for (size_t i = 0; terminal->verbose && dpmf_diary_entry(diary, i, &entry); i++)
        if (entry.match < DPMF_MATCH_SURE) print_entry(catalogue, model, &entry);
}
