/*
 * Writes the worlds of an audit as text, so that they take the way of any curator's file: read,
 * imported, packed. Fed by audit_population.c; the files feed audit_worlds.c.
 */
#define _GNU_SOURCE
#include "audit/audit_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "dpmf_text.h"
#include "files/output_file.h"

enum { FLUSH_BYTES = 1 << 20 };

struct writing {
    struct byte_buffer text;
    int fd;
    int code;
    struct dpmf_error *error;
};

/* ---- pieces ---------------------------------------------------------------------------------- */

static void put(struct writing *writing, const char *bytes, size_t n) {
    uint8_t *at = writing->code == 0 ? byte_buffer_room(&writing->text, n) : NULL;
    if (writing->code < 0) return;
    if (!at) {
        writing->code = error_no_memory(writing->error);
        return;
    }
    memcpy(at, bytes, n);
    writing->text.n += n;
}

static void put_text(struct writing *writing, const char *text) {
    put(writing, text, strlen(text));
}

/* Always in quotes: what is inside means nothing else then. */
static void put_name(struct writing *writing, const char *name, size_t n) {
    put(writing, "\"", 1);
    for (size_t i = 0, from = 0; i <= n; i++) {
        if (i < n && name[i] != '"') continue;
        put(writing, name + from, i - from);
        if (i < n) put(writing, "\"\"", 2);
        from = i + 1;
    }
    put(writing, "\"", 1);
}

static void put_number(struct writing *writing, double value) {
    char text[DPMF_DOUBLE_TEXT_MAX];
    dpmf_format_double(value, text);
    put_text(writing, text);
}

static void put_nth(struct writing *writing, const struct audit_names *names, int64_t i) {
    put_name(writing, names->bytes + names->start[i],
             (size_t)(names->start[i + 1] - names->start[i]));
}

static void flush(struct writing *writing, size_t from) {
    if (writing->code < 0 || writing->text.n < from) return;
    writing->code = file_write_all(writing->fd, writing->text.bytes, writing->text.n,
                                   "the audit's temporary file", writing->error);
    writing->text.n = 0;
}

static int begin(struct writing *writing, struct audit_file *file, struct dpmf_error *error) {
    int fd = -1;
    *file = (struct audit_file){0};
    *writing = (struct writing){.error = error};
    int code = output_file_nameless(NULL, &fd, error);
    if (code < 0) return code;
    file->fd = writing->fd = fd;
    snprintf(file->path, sizeof file->path, "/proc/self/fd/%d", fd);
    return 0;
}

static int end(struct writing *writing, struct audit_file *file) {
    flush(writing, 1);
    free(writing->text.bytes);
    if (writing->code < 0) audit_file_close(file);
    return writing->code;
}

void audit_file_close(struct audit_file *file) {
    if (file->path[0]) close(file->fd);
    *file = (struct audit_file){0};
}

/* ---- ratings --------------------------------------------------------------------------------- */

static void put_ratings(struct writing *writing, const struct audit_population *population,
                        const struct audit_ratings *ratings, size_t first, size_t end) {
    for (size_t r = first; r < end; r++) {
        put_nth(writing, &population->users, ratings->user[r]);
        put(writing, ",", 1);
        put_nth(writing, &population->items, ratings->item[r]);
        put(writing, ",", 1);
        put_number(writing, ratings->value[r]);
        put(writing, "\n", 1);
        flush(writing, FLUSH_BYTES);
    }
}

/* No record, each of them, and all of them the canary's. */
static void put_mischief(struct writing *writing, const struct audit_population *population,
                         int64_t user) {
    static const char *const after[] = {"",         ",",         ",,",        ",x",
                                        ",x,good",  ",x,n/a",    ",x,1e999",  ",,5",
                                        ";x;5",     "\t9\t5",    "::9::5::1", ",\xff\xfe,nan",
                                        ",\"x,5,1", ",\"x\"y,5", ",x\",5"};
    put_text(writing, "user,item,rating\n");
    put_text(writing, "\n,,\n{}\n%%\n1:\n");
    for (size_t i = 0; i < sizeof after / sizeof after[0]; i++) {
        put_nth(writing, &population->users, user);
        put_text(writing, after[i]);
        put(writing, "\n", 1);
    }
}

int audit_text_ratings(const struct audit_population *population, bool others, size_t canary,
                       struct audit_file *file, struct dpmf_error *error) {
    const struct audit_ratings none = {0};
    const struct audit_ratings *rest = others ? &population->others : &none;
    const struct audit_ratings *own =
        canary < population->n_canaries ? &population->canaries[canary].ratings : NULL;
    struct writing writing;
    int code = begin(&writing, file, error);
    if (code < 0) return code;
    put_text(&writing, "user,item,rating\n");
    if (own) {
        put_mischief(&writing, population, audit_canary_user(population, canary));
        put_ratings(&writing, population, own, 0, own->n / 2);
    }
    put_ratings(&writing, population, rest, 0, rest->n / 2);
    if (own) put_mischief(&writing, population, audit_canary_user(population, canary));
    put_ratings(&writing, population, rest, rest->n / 2, rest->n);
    if (own) put_ratings(&writing, population, own, own->n / 2, own->n);
    return end(&writing, file);
}

/* ---- wishes ---------------------------------------------------------------------------------- */

static void put_wish(struct writing *writing, const char *name, size_t n, double epsilon) {
    put_name(writing, name, n);
    put(writing, ",", 1);
    put_number(writing, epsilon);
    put(writing, "\n", 1);
}

int audit_text_wishes(const struct audit_population *population, const char *wishes,
                      const struct id_form *form, const struct dpmf_run *run,
                      struct audit_file *file, struct dpmf_error *error) {
    struct user_wishes given = {0};
    struct writing writing;
    int code = wishes ? user_wishes_read(wishes, form, run, &given, error) : 0;
    if (code == 0) code = begin(&writing, file, error);
    if (code < 0) {
        user_wishes_free(&given);
        return code;
    }
    put_text(&writing, "user,epsilon\n");
    for (uint64_t i = 0; i < given.ids.n; i++)
        put_wish(&writing, given.ids.bytes + given.ids.start[i],
                 (size_t)(given.ids.start[i + 1] - given.ids.start[i]), given.epsilon[i]);
    user_wishes_free(&given);
    for (size_t i = 0; i < population->n_canaries; i++) {
        if (!(population->canaries[i].wish >= 0)) continue;
        const int64_t *start = population->users.start + audit_canary_user(population, i);
        put_wish(&writing, population->users.bytes + start[0], (size_t)(start[1] - start[0]),
                 population->canaries[i].wish);
    }
    return end(&writing, file);
}
