/*
 * The publisher's part of a page. Pictures become data: addresses, by their first bytes and not by
 * their names, so that the page still asks nobody for anything; only kinds that browsers show as
 * pictures are taken. Links lead to the web or to mail and nowhere else, and are written as HTML
 * here, so that the page's script has no way to lead anywhere. Fed by options; feeds page_make.c.
 */
#define _GNU_SOURCE
#include "page/page_look.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/options.h"
#include "cli/report.h"
#include "cli/text.h"
#include "page/page_make.h"
#include "shared/model_use.h"

enum {
    LOGO_MAX = 1 << 20,  /* bytes */
    COVER_MAX = 1 << 18, /* bytes of one cover */
    LINKS_MAX = 20,
};

/* ---- pictures -------------------------------------------------------------------------------- */

/* What browsers take for a picture, by its first bytes; NULL for anything else. SVG can hold
 * scripts, which an <img> never runs, and which the page's policy would not let run. */
static const char *picture_type(const unsigned char *bytes, size_t n) {
    if (n > 8 && memcmp(bytes, "\x89PNG\r\n\x1a\n", 8) == 0) return "image/png";
    if (n > 3 && memcmp(bytes, "\xff\xd8\xff", 3) == 0) return "image/jpeg";
    if (n > 6 && (memcmp(bytes, "GIF87a", 6) == 0 || memcmp(bytes, "GIF89a", 6) == 0))
        return "image/gif";
    if (n > 12 && memcmp(bytes, "RIFF", 4) == 0 && memcmp(bytes + 8, "WEBP", 4) == 0)
        return "image/webp";
    if (n > 5 && (memcmp(bytes, "<svg ", 5) == 0 || memcmp(bytes, "<?xml", 5) == 0))
        return "image/svg+xml";
    return NULL;
}

/* Reads at most `most` bytes and one more. @return NULL with errno */
static unsigned char *read_picture(const char *path, size_t most, size_t *n) {
    FILE *file = fopen(path, "rbe");
    unsigned char *bytes = file ? malloc(most + 1) : NULL;
    if (!bytes) {
        const int number = errno;
        if (file) fclose(file);
        errno = number;
        return NULL;
    }
    *n = fread(bytes, 1, most + 1, file);
    const bool is_bad = ferror(file) != 0;
    fclose(file);
    if (is_bad) {
        free(bytes);
        errno = EIO;
        return NULL;
    }
    return bytes;
}

static int refuse_picture(const char *path, const char *what) {
    return terminal_error_print(STATUS_INPUT, "give a PNG, JPEG, WebP, GIF or SVG, made small",
                                "%s: %s", path, what);
}

/* A file as "data:image/png;base64,...". @return what the caller frees; NULL, with an exit status
 * */
static char *picture_address(const char *path, size_t most, int *status) {
    char what[96], *address = NULL;
    size_t n = 0;
    unsigned char *bytes = read_picture(path, most, &n);
    if (!bytes) {
        *status = terminal_error_print(STATUS_IO, "name a file with a picture",
                                       "%s: cannot read: %s", path, text_system_error(errno).text);
        return NULL;
    }
    const char *type = picture_type(bytes, n);
    if (n > most) {
        snprintf(what, sizeof what, "a picture in a page has at most %s", text_bytes(most).text);
        *status = refuse_picture(path, what);
    } else if (!type) {
        *status = refuse_picture(path, "this is no picture that browsers show");
    } else {
        address = malloc(40 + (n + 2) / 3 * 4);
        if (!address) *status = model_use_no_memory();
        if (address) page_base64(bytes, n, address + sprintf(address, "data:%s;base64,", type));
    }
    free(bytes);
    return address;
}

char *page_look_logo(struct invocation *invocation, int *status) {
    *status = STATUS_DONE;
    if (!command_has(invocation, OPTION_LOGO)) return NULL;
    return picture_address(invocation->value[OPTION_LOGO], LOGO_MAX, status);
}

/* ---- covers ---------------------------------------------------------------------------------- */

/* The id as part of a file's name: what cannot stand in one has no cover. */
static bool is_name(const char *id, size_t n) {
    return n > 0 && n < 200 && id[0] != '.' && !memchr(id, '/', n) && !memchr(id, '\0', n);
}

static int add_cover(const char *folder, const char *id, size_t n, struct page_look *look) {
    static const char *const endings[] = {"jpg", "jpeg", "png", "webp", "gif", "svg"};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        char *path = NULL, key[200];
        struct stat file;
        int status = STATUS_DONE;
        if (asprintf(&path, "%s/%.*s.%s", folder, (int)n, id, endings[i]) < 0)
            return model_use_no_memory();
        if (stat(path, &file) != 0) {
            free(path);
            continue;
        }
        char *address = picture_address(path, COVER_MAX, &status);
        free(path);
        if (!address) return status;
        snprintf(key, sizeof key, "%.*s", (int)n, id);
        dpmf_json_string(look->json, key, address);
        free(address);
        look->covers++;
        break;
    }
    return STATUS_DONE;
}

static int add_covers(struct invocation *invocation, const struct dpmf_model *model,
                      struct page_look *look) {
    const char *folder = invocation->value[OPTION_COVERS];
    struct dpmf_model_info info;
    int status = STATUS_DONE;
    dpmf_model_info(model, &info);
    dpmf_json_begin_object(look->json, "covers");
    for (uint64_t item = 0; item < info.items && status == STATUS_DONE; item++) {
        size_t n = 0;
        const char *id = dpmf_model_item_id(model, item, &n);
        if (id && is_name(id, n)) status = add_cover(folder, id, n, look);
    }
    dpmf_json_end_object(look->json);
    if (status == STATUS_DONE && look->covers == 0)
        status =
            terminal_error_print(STATUS_INPUT, "name them after the ids of the items: covers/1.jpg",
                                 "%s: there is no cover of any item in it", folder);
    return status;
}

/* ---- a colour -------------------------------------------------------------------------------- */

static int add_colour(const struct invocation *invocation, struct page_look *look) {
    const char *colour = invocation->value[OPTION_COLOUR];
    char small[8] = "";
    if (strlen(colour) == 7 && colour[0] == '#' &&
        strspn(colour + 1, "0123456789abcdefABCDEF") == 6)
        for (size_t i = 0; i < 7; i++)
            small[i] = (char)(colour[i] >= 'A' && colour[i] <= 'F' ? colour[i] + 32 : colour[i]);
    if (small[0] == '\0')
        return terminal_error_print(STATUS_USAGE, "for example: --colour '#8a1538'",
                                    "--colour \"%.60s\" is not a colour of six hexadecimal digits",
                                    colour);
    dpmf_json_string(look->json, "accent", small);
    return STATUS_DONE;
}

/* ---- links ----------------------------------------------------------------------------------- */

struct linking {
    char *html;
    size_t n;
};

static int no_memory(struct dpmf_error *error) { return error->code = DPMF_ERR_BASE_NO_MEMORY; }

static int refuse_link(const struct dpmf_table_record *row, struct dpmf_error *error) {
    error->code = DPMF_ERR_INPUT_COLUMNS;
    error->line = row->line;
    dpmf_error_write(error->file, sizeof error->file, "%s", row->file);
    dpmf_error_write(error->message, sizeof error->message,
                     "a link is a text and an address that begins with https:, http: or mailto:");
    dpmf_error_write(error->hint, sizeof error->hint, "for example: About us,https://example.org/");
    return error->code;
}

static bool is_address(const char *text) {
    return strncmp(text, "https://", 8) == 0 || strncmp(text, "http://", 7) == 0 ||
           strncmp(text, "mailto:", 7) == 0;
}

static int take_link(void *self, const struct dpmf_table_record *row, struct dpmf_error *error) {
    struct linking *linking = self;
    char *text = NULL, *address = NULL, *all = NULL;
    if (row->n != 2 || row->field[0].length == 0 || !is_address(row->field[1].text) ||
        linking->n == LINKS_MAX)
        return refuse_link(row, error);
    text = page_html_text(row->field[0].text);
    address = page_html_text(row->field[1].text);
    if (text && address &&
        asprintf(&all,
                 "%s<li><a href=\"%s\" target=\"_blank\" rel=\"noopener noreferrer\">%s</a></li>",
                 linking->html ? linking->html : "", address, text) < 0)
        all = NULL;
    free(text);
    free(address);
    if (!all) return no_memory(error);
    free(linking->html);
    linking->html = all;
    linking->n++;
    return 0;
}

static int add_links(struct invocation *invocation, struct page_look *look) {
    struct linking linking = {0};
    struct dpmf_error error = {0};
    int status = STATUS_DONE;
    if (dpmf_table_read_whole(invocation->value[OPTION_LINKS], &invocation->run, take_link,
                              &linking, &error) != 0)
        status = report_error_print(invocation, &error);
    look->links = linking.html;
    return status;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static int add_logo(struct invocation *invocation, struct page_look *look) {
    int status = STATUS_DONE;
    char *logo = page_look_logo(invocation, &status);
    if (logo) dpmf_json_string(look->json, "logo", logo);
    free(logo);
    return status;
}

int page_look_read(struct invocation *invocation, const struct dpmf_model *model,
                   struct page_look *look) {
    int status = STATUS_DONE;
    *look = (struct page_look){.json = dpmf_json_new()};
    dpmf_json_begin_object(look->json, NULL);
    if (command_has(invocation, OPTION_COLOUR)) status = add_colour(invocation, look);
    if (status == STATUS_DONE) status = add_logo(invocation, look);
    if (status == STATUS_DONE && command_has(invocation, OPTION_COVERS))
        status = add_covers(invocation, model, look);
    dpmf_json_end_object(look->json);
    if (status == STATUS_DONE && command_has(invocation, OPTION_LINKS))
        status = add_links(invocation, look);
    if (status == STATUS_DONE && dpmf_json_text(look->json, NULL) == NULL)
        status = model_use_no_memory();
    return status;
}

void page_look_free(struct page_look *look) {
    dpmf_json_free(look->json);
    free(look->links);
    *look = (struct page_look){0};
}
