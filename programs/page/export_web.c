/*
 * The part of dpmf export that is about pages: a directory with index.html, which recommends by
 * itself even when opened from disk, the release, and its statement as text. Fed by a release and a
 * catalogue through web_release.c. Each file is written under another name first. In a new
 * directory index.html appears last, so that where it is, everything is. Over an older page,
 * index.html is replaced in one step; the files beside it are removed before that and written after
 * it. So there is always a page, and never one beside the release of another. What a killed export
 * left is removed by the next one.
 */
#define _GNU_SOURCE
#include "page/export_web.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/report.h"
#include "cli/signals.h"
#include "cli/text.h"
#include "dpmf_text.h"
#include "page/page_seal.h"
#include "page/web_release.h"

enum { WEB_FILES = 3 };

static const char *const names[WEB_FILES] = {"release.safetensors", "statement.txt", "index.html"};
static const char *const unfinished[WEB_FILES] = {".release.safetensors.part",
                                                  ".statement.txt.part", ".index.html.part"};

struct target {
    const char *path;
    int directory;    /* its descriptor, or -1 */
    bool is_made;     /* it was not there before */
    bool may_replace; /* a page that is there already */
    bool replaces;    /* there is one: what was there stays until the new one takes its place */
    bool is_stripped; /* the files beside the older page are gone */
    bool is_locked;   /* until its descriptor is closed */
    int fd;           /* descriptor of the file being written, or -1 */
    const char *name; /* name of that file */
    uint64_t bytes;   /* written so far */
    uint64_t sum;     /* checksum of the file being written */
    struct page_seal seal; /* checksums of all files, for the page to end with */
    int problem;           /* the errno of a write that failed, or 0 */
};

/* ---- the directory --------------------------------------------------------------------------- */

static int refuse_directory(const char *path, int number, const char *hint) {
    return terminal_error_print(STATUS_IO, hint, "%s: cannot write a page there: %s", path,
                                number == EEXIST      ? "there is a file of that name"
                                : number == ENOTEMPTY ? "the directory is not empty"
                                                      : text_system_error(number).text);
}

static bool is_one_of(const char *name, const char *const list[WEB_FILES], size_t n) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, list[i]) == 0) return true;
    return false;
}

enum contents { CONTENTS_UNKNOWN, CONTENTS_NONE, CONTENTS_LEFT, CONTENTS_PAGE, CONTENTS_OTHER };

static bool begins_with(int directory, const char *name, const char *ours) {
    char begun[128];
    const size_t n_ours = strlen(ours);
    int fd = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 || n_ours > sizeof begun) {
        if (fd >= 0) close(fd);
        return false;
    }
    ssize_t n = read(fd, begun, n_ours);
    close(fd);
    return n == (ssize_t)n_ours && memcmp(begun, ours, n_ours) == 0;
}

/* Whether index.html begins as ours does: someone else's page is never replaced. */
static bool is_our_page(int directory) {
    return begins_with(directory, names[2],
                       "<!DOCTYPE html>\n<!--\n  The page that computes recommendations");
}

static bool is_there(int directory, const char *name) {
    struct stat file;
    return fstatat(directory, name, &file, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

/* The file that is not as an export left it. The page names the checksums of all three; the files
 * beside it may be missing, since an export may have been killed. A link is followed by nobody: an
 * export makes none. @return its name, or NULL */
static const char *find_foreign(const struct target *target) {
    struct page_seal seal;
    uint64_t sum;
    if (!page_seal_check(target->directory, names[2], &seal)) return names[2];
    const uint64_t beside[WEB_FILES - 1] = {seal.release, seal.statement};
    for (size_t i = 0; i < WEB_FILES - 1; i++)
        if (is_there(target->directory, names[i]) &&
            (!page_seal_sum(target->directory, names[i], &sum) || sum != beside[i]))
            return names[i];
    return NULL;
}

static int refuse_foreign(const struct target *target, const char *name) {
    return terminal_error_print(STATUS_IO, "move it away, or name another directory",
                                "%s/%s: this is not what an export wrote, so --replace does not "
                                "replace it",
                                target->path, name);
}

/* An export that was killed leaves unfinished files, and at most those that are put in their
 * place before index.html; no other program leaves that behind. */
static enum contents look_into(int directory) {
    int copy = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = copy >= 0 ? fdopendir(copy) : NULL;
    if (list == NULL) {
        if (copy >= 0) close(copy);
        return CONTENTS_UNKNOWN;
    }
    const struct dirent *entry;
    size_t begun = 0, placed = 0, others = 0;
    /* NOLINTNEXTLINE(concurrency-mt-unsafe): the list is ours alone */
    while ((entry = readdir(list)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (is_one_of(entry->d_name, unfinished, WEB_FILES))
            begun++;
        else if (is_one_of(entry->d_name, names, WEB_FILES - 1))
            placed++;
        else
            others++;
    }
    closedir(list);
    if (begun + placed + others == 0) return CONTENTS_NONE;
    if (others == 1 && is_our_page(directory)) return CONTENTS_PAGE;
    return others == 0 && begun > 0 ? CONTENTS_LEFT : CONTENTS_OTHER;
}

/* An export holds the lock of its directory as long as it is at work: what is left where nobody
 * does is nobody's. */
static bool take_away_left(const struct target *target) {
    if (!target->is_locked) return false;
    for (size_t i = 0; i < WEB_FILES; i++) {
        if (unlinkat(target->directory, unfinished[i], 0) != 0 && errno != ENOENT) return false;
        if (i < WEB_FILES - 1 && unlinkat(target->directory, names[i], 0) != 0 && errno != ENOENT)
            return false;
    }
    return true;
}

static int open_directory(struct target *target) {
    const char *elsewhere = "name a directory that is empty or does not exist yet";
    target->is_made = mkdir(target->path, 0777) == 0;
    int number = target->is_made ? 0 : errno;
    target->directory = open(target->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (target->directory < 0) {
        if (target->is_made) rmdir(target->path);
        bool is_file = number == EEXIST && errno == ENOTDIR;
        number = is_file || number == 0 || number == EEXIST ? errno : number;
        return refuse_directory(target->path, is_file ? EEXIST : number,
                                is_file ? elsewhere
                                        : "make the directory above it first, or choose another");
    }
    target->is_locked = flock(target->directory, LOCK_EX | LOCK_NB) == 0;
    enum contents contents = look_into(target->directory);
    if (contents == CONTENTS_NONE) return STATUS_DONE;
    if (contents == CONTENTS_LEFT && take_away_left(target)) return STATUS_DONE;
    if (contents == CONTENTS_PAGE && target->may_replace && target->is_locked) {
        target->replaces = true;
        const char *foreign = find_foreign(target);
        if (foreign != NULL) return refuse_foreign(target, foreign);
        for (size_t i = 0; i < WEB_FILES; i++) unlinkat(target->directory, unfinished[i], 0);
        return STATUS_DONE;
    }
    if (contents == CONTENTS_PAGE && !target->may_replace)
        elsewhere = "--replace replaces the page that is there";
    return refuse_directory(target->path, contents != CONTENTS_UNKNOWN ? ENOTEMPTY : errno,
                            elsewhere);
}

/* What was written goes, and so does the directory if it came with it. */
static void take_back(const struct target *target) {
    for (size_t i = 0; target->directory >= 0 && i < WEB_FILES; i++) {
        unlinkat(target->directory, unfinished[i], 0);
        if (!target->replaces) unlinkat(target->directory, names[i], 0);
    }
    if (target->is_made) rmdir(target->path);
}

/* ---- the files ------------------------------------------------------------------------------- */

static int put_bytes(void *self, const void *bytes, size_t n) {
    struct target *target = self;
    const char *from = bytes;
    target->bytes += n;
    target->sum = page_seal_add(target->sum, bytes, n);
    while (n > 0) {
        size_t most = n < 1 << 20 ? n : 1 << 20; /* so that a signal is heard */
        ssize_t written = write(target->fd, from, most);
        if (signals_pending() != 0) return -1;
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) {
            target->problem = errno;
            return -1;
        }
        from += written;
        n -= (size_t)written;
    }
    return 0;
}

static int refuse_file(const struct target *target, int number) {
    if (signals_pending() != 0) return 128 + signals_heed();
    return terminal_error_print(
        STATUS_IO,
        number == ENOSPC || number == EDQUOT ? "free some space or write to another disk"
        : target->is_stripped
            ? "run it again: the page there may have no release and no statement beside it"
            : "choose another directory",
        "%s/%s: cannot write: %s", target->path, target->name, text_system_error(number).text);
}

static int write_file(struct target *target, size_t i, const struct page *page, const char *bytes,
                      size_t n) {
    target->name = names[i];
    target->fd =
        openat(target->directory, unfinished[i], O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (target->fd < 0) return refuse_file(target, errno);
    target->sum = PAGE_SEAL_BEGIN;
    int rc = page != NULL ? page_write(page, put_bytes, target) : put_bytes(target, bytes, n);
    if (i == 0) target->seal.release = target->sum;
    if (i == 1) target->seal.statement = target->sum;
    if (rc == 0 && page != NULL) {
        char end[PAGE_SEAL_BYTES + 1];
        target->seal.page = target->sum;
        page_seal_write(&target->seal, end);
        rc = put_bytes(target, end, PAGE_SEAL_BYTES);
    }
    if (rc == 0 && fsync(target->fd) != 0) {
        target->problem = errno;
        rc = -1;
    }
    if (close(target->fd) != 0 && rc == 0) {
        target->problem = errno;
        rc = -1;
    }
    return rc == 0 ? STATUS_DONE : refuse_file(target, target->problem);
}

/* A new directory's own name is kept by the one above it. */
static void flush_above(int directory) {
    int above = openat(directory, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (above < 0) return; /* one that may not be listed cannot be flushed */
    (void)fsync(above);
    close(above);
}

static int name_file(struct target *target, size_t i) {
    target->name = names[i];
    if (renameat(target->directory, unfinished[i], target->directory, names[i]) != 0)
        return refuse_file(target, errno);
    return STATUS_DONE;
}

/* Some file systems have no fsync for a directory: their order is all there is then. */
static int flush_names(struct target *target) {
    if (fsync(target->directory) == 0 || errno == EINVAL || errno == ENOTSUP) return STATUS_DONE;
    return refuse_file(target, errno);
}

/* Takes away the files beside an older page, then exchanges the page itself. Flushed one by one: a
 * loss of power must not change the order. */
static int exchange_page(struct target *target) {
    for (size_t i = 0; i < WEB_FILES - 1; i++) {
        target->name = names[i];
        if (unlinkat(target->directory, names[i], 0) != 0 && errno != ENOENT)
            return refuse_file(target, errno);
        target->is_stripped = true;
    }
    int status = flush_names(target);
    if (status == STATUS_DONE) status = name_file(target, WEB_FILES - 1);
    if (status == STATUS_DONE) status = flush_names(target);
    return status;
}

static int name_files(struct target *target) {
    int status = target->replaces ? exchange_page(target) : STATUS_DONE;
    const size_t n = target->replaces ? WEB_FILES - 1 : WEB_FILES;
    for (size_t i = 0; status == STATUS_DONE && i < n; i++) status = name_file(target, i);
    if (status == STATUS_DONE) status = flush_names(target);
    if (status == STATUS_DONE && target->is_made) flush_above(target->directory);
    return status;
}

static int write_files(struct target *target, const struct web_release *release,
                       const struct page *page) {
    const char *text = release->statement.text;
    int status = write_file(target, 0, NULL, release->bytes, release->size);
    if (status == STATUS_DONE) status = write_file(target, 1, NULL, text, strlen(text));
    if (status == STATUS_DONE) status = write_file(target, 2, page, NULL, 0);
    if (status == STATUS_DONE) status = name_files(target);
    return status;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* What is not plain in a URL is escaped. */
char *export_web_url(const char *directory) {
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    char *path = realpath(directory, NULL);
    char *url = path != NULL ? malloc(3 * strlen(path) + 32) : NULL;
    if (url != NULL) {
        char *at = url + sprintf(url, "file://");
        for (const char *from = path; *from != '\0'; from++)
            at += strchr(plain, *from) != NULL
                      ? sprintf(at, "%c", *from)
                      : sprintf(at, "%%%02X", (unsigned)(unsigned char)*from);
        sprintf(at, "/index.html");
    }
    free(path);
    return url;
}

static int print_report(struct invocation *invocation, const struct target *target,
                        const struct web_release *release, double seconds) {
    char *url = export_web_url(target->path);
    terminal_note_print(&invocation->terminal, "wrote a page for %s to %s (%s) in %s: open %s",
                        text_count(release->items, "item").text, target->path,
                        text_bytes(target->bytes).text, text_seconds(seconds).text,
                        url != NULL ? url : "index.html");
    int status = STATUS_DONE;
    if (command_has(invocation, OPTION_JSON)) {
        struct dpmf_json *json = dpmf_json_new();
        dpmf_json_begin_object(json, NULL);
        dpmf_json_string(json, "event", "done");
        dpmf_json_uint(json, "items", release->items);
        dpmf_json_uint(json, "titles", release->titles);
        dpmf_json_uint(json, "bytes_written", target->bytes);
        dpmf_json_double(json, "seconds", seconds);
        dpmf_json_string(json, "output", target->path);
        dpmf_json_string(json, "url", url);
        dpmf_json_end_object(json);
        status = report_json_print(json);
    }
    free(url);
    return status;
}

int export_web_run(struct invocation *invocation) {
    struct target target = {.path = invocation->value[OPTION_WEB],
                            .directory = -1,
                            .fd = -1,
                            .may_replace = command_has(invocation, OPTION_REPLACE)};
    struct web_release release = {0};
    struct page page = {0};
    double started = terminal_clock();

    /* The release first: one that is refused leaves no directory behind. */
    int status = web_release_open(invocation, false, &release);
    if (status == STATUS_DONE) status = web_release_page(invocation, &release, &page);
    if (status != STATUS_DONE) goto out;
    status = open_directory(&target);
    if (status == STATUS_DONE) {
        status = write_files(&target, &release, &page);
        if (status != STATUS_DONE) take_back(&target);
    }
    if (status == STATUS_DONE)
        status = print_report(invocation, &target, &release, terminal_clock() - started);
out:
    if (target.directory >= 0) close(target.directory);
    page_free(&page);
    web_release_close(&release);
    return status;
}
