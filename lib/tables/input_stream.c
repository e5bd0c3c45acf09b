/*
 * Where the bytes of ratings text come from. Plain files are read straight into the caller's
 * buffer; gzip (also several members one after the other) and zstd (also several frames) pass
 * through a small buffer of raw bytes. Feeds text_source.c, which cuts the text into chunks;
 * source_open.c looks at the raw head to recognise a store.
 */
#define _GNU_SOURCE
#include "tables/input_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/error.h"
#include "base/memory.h"

enum { RAW_BYTES = 128 * 1024, HEAD_BYTES = 512 };

enum compression { PLAIN, GZIP, ZSTD };

struct input_stream {
    int fd;
    struct input_wait wait; /* its go_on is NULL where nobody is asked, or nothing waited for */
    char *name;
    uint64_t total;
    bool is_watched;      /* a file that must be the same at its end as at the beginning */
    struct timespec time; /* its last change, when it was opened */
    _Atomic uint64_t bytes_read;
    enum compression compression;

    unsigned char *raw; /* as on disk: raw[raw_at] .. raw[raw_n - 1] are not used yet */
    size_t raw_at, raw_n, raw_capacity;
    bool raw_end;

    z_stream zlib;
    bool zlib_ready;
    ZSTD_DStream *zstd;
    bool between; /* outside of any gzip member or zstd frame: the input may end here */
    bool padding; /* after the last gzip member: zeroes only */
};

/* ---- raw bytes ------------------------------------------------------------------------------- */

/* Waits until a read would not block, asking now and then whether to. */
static int wait_for_bytes(const struct input_stream *stream, struct dpmf_error *error) {
    enum { ASK_EVERY = 200 /* milliseconds */ };
    if (stream->wait.go_on == NULL) return 0;
    struct pollfd ready = {.fd = stream->fd, .events = POLLIN};
    while (poll(&ready, 1, ASK_EVERY) <= 0)
        if (!stream->wait.go_on(stream->wait.self))
            return error_set(error, DPMF_ERR_BASE_CANCELLED, "interrupted");
    return 0;
}

/* At the end of a file: whether it is still the one that was opened. One that was cut meanwhile
 * would pass for a smaller one, and of one that grew the end may be half a record. */
static int check_unchanged(const struct input_stream *stream, struct dpmf_error *error) {
    struct stat status;
    if (!stream->is_watched) return 0;
    if (fstat(stream->fd, &status) != 0) return error_system(error, errno, "read", stream->name);
    if (input_stream_bytes_read(stream) >= stream->total &&
        status.st_size == (off_t)stream->total && status.st_mtim.tv_sec == stream->time.tv_sec &&
        status.st_mtim.tv_nsec == stream->time.tv_nsec)
        return 0;
    error_set(error, DPMF_ERR_IO_READ, "the file changed while it was read");
    error_hint(error,
               "it was cut off, or is being written: read it, or a copy, when it is complete");
    error_place(error, stream->name, 0, 0);
    return DPMF_ERR_IO_READ;
}

static int read_some(struct input_stream *stream, void *bytes, size_t capacity, size_t *got,
                     struct dpmf_error *error) {
    int code = wait_for_bytes(stream, error);
    if (code != 0) return code;
    ssize_t n;
    do n = read(stream->fd, bytes, capacity);
    while (n < 0 && errno == EINTR);
    if (n < 0) return error_system(error, errno, "read", stream->name);
    *got = (size_t)n;
    atomic_fetch_add_explicit(&stream->bytes_read, *got, memory_order_relaxed);
    if (*got > 0) return 0;
    stream->raw_end = true;
    return check_unchanged(stream, error);
}

/* Refills the raw buffer once it is used up; leaves it empty at the end of the input. */
static int refill(struct input_stream *stream, struct dpmf_error *error) {
    if (stream->raw_at < stream->raw_n || stream->raw_end) return 0;
    size_t got = 0;
    int code = read_some(stream, stream->raw, stream->raw_capacity, &got, error);
    if (code != 0) return code;
    stream->raw_at = 0;
    stream->raw_n = got;
    return 0;
}

static int read_plain(struct input_stream *stream, char *bytes, size_t capacity, size_t *got,
                      struct dpmf_error *error) {
    size_t n = stream->raw_n - stream->raw_at;
    if (n > 0) {
        if (n > capacity) n = capacity;
        memcpy(bytes, stream->raw + stream->raw_at, n);
        stream->raw_at += n;
    }
    while (n < capacity && !stream->raw_end) {
        size_t more = 0;
        int code = read_some(stream, bytes + n, capacity - n, &more, error);
        if (code != 0) return code;
        n += more;
    }
    *got = n;
    return 0;
}

/* ---- compressed bytes ------------------------------------------------------------------------ */

static int cut_short(const struct input_stream *stream, struct dpmf_error *error) {
    error_set(error, DPMF_ERR_INPUT_COMPRESSED, "the compressed data end too early");
    error_hint(error, "the file was cut short; fetch or compress it again");
    error_place(error, stream->name, 0, 0);
    return DPMF_ERR_INPUT_COMPRESSED;
}

static int damaged(const struct input_stream *stream, const char *why, struct dpmf_error *error) {
    error_set(error, DPMF_ERR_INPUT_COMPRESSED, "the compressed data are damaged: %s", why);
    error_hint(error, "fetch or compress the file again");
    error_place(error, stream->name, 0, 0);
    return DPMF_ERR_INPUT_COMPRESSED;
}

/* Takes what can follow a gzip member: another member, zeroes (tapes pad with them), or nothing. */
static int next_member(struct input_stream *stream, struct dpmf_error *error) {
    if (stream->padding || stream->raw[stream->raw_at] == 0) {
        stream->padding = true;
        while (stream->raw_at < stream->raw_n)
            if (stream->raw[stream->raw_at++] != 0)
                return damaged(stream, "something other than gzip follows", error);
        return 0;
    }
    if (inflateReset(&stream->zlib) != Z_OK) return damaged(stream, "zlib failed", error);
    stream->between = false;
    return 0;
}

static int read_gzip(struct input_stream *stream, char *bytes, size_t capacity, size_t *got,
                     struct dpmf_error *error) {
    size_t n = 0;
    while (n < capacity) {
        int code = refill(stream, error);
        if (code != 0) return code;
        if (stream->raw_at == stream->raw_n) {
            if (!stream->between) return cut_short(stream, error);
            break;
        }
        if (stream->between) {
            code = next_member(stream, error);
            if (code != 0) return code;
            continue;
        }
        size_t room = capacity - n < (1u << 30) ? capacity - n : (1u << 30);
        z_stream *zlib = &stream->zlib;
        zlib->next_in = stream->raw + stream->raw_at;
        zlib->avail_in = (uInt)(stream->raw_n - stream->raw_at);
        zlib->next_out = (unsigned char *)bytes + n;
        zlib->avail_out = (uInt)room;
        int result = inflate(zlib, Z_NO_FLUSH);
        stream->raw_at = stream->raw_n - zlib->avail_in;
        n += room - zlib->avail_out;
        if (result == Z_STREAM_END)
            stream->between = true;
        else if (result == Z_MEM_ERROR)
            return error_no_memory(error);
        else if (result != Z_OK && result != Z_BUF_ERROR)
            return damaged(stream, zlib->msg != NULL ? zlib->msg : "not gzip", error);
    }
    *got = n;
    return 0;
}

/* A frame may ask for a window larger than zstd gives without being asked. */
static int refuse_zstd(const struct input_stream *stream, size_t result, struct dpmf_error *error) {
    ZSTD_ErrorCode reason = ZSTD_getErrorCode(result);
    if (reason == ZSTD_error_memory_allocation) return error_no_memory(error);
    int code = damaged(stream, ZSTD_getErrorName(result), error);
    if (reason != ZSTD_error_frameParameter_windowTooLarge) return code;
    error_set(error, code, "the compressed data need a window of more than 128 MiB");
    error_hint(error, "compress the file again, with a smaller window");
    error_place(error, stream->name, 0, 0);
    return code;
}

static int read_zstd(struct input_stream *stream, char *bytes, size_t capacity, size_t *got,
                     struct dpmf_error *error) {
    ZSTD_outBuffer out = {bytes, capacity, 0};
    while (out.pos < out.size) {
        int code = refill(stream, error);
        if (code != 0) return code;
        bool end = stream->raw_at == stream->raw_n;
        if (end && stream->between) break;
        /* At the end of the input there may still be decoded bytes that did not fit before. */
        ZSTD_inBuffer in = {stream->raw, stream->raw_n, stream->raw_at};
        size_t before = out.pos;
        size_t result = ZSTD_decompressStream(stream->zstd, &out, &in);
        stream->raw_at = in.pos;
        if (ZSTD_isError(result)) return refuse_zstd(stream, result, error);
        stream->between = result == 0;
        if (end && !stream->between && out.pos == before) return cut_short(stream, error);
    }
    *got = out.pos;
    return 0;
}

/* ---- opening --------------------------------------------------------------------------------- */

static bool has_gzip_magic(const unsigned char *raw, size_t n) {
    return n >= 2 && raw[0] == 0x1f && raw[1] == 0x8b;
}

/* Also a skippable frame, which may come first. */
static bool has_zstd_magic(const unsigned char *raw, size_t n) {
    if (n < 4) return false;
    if (raw[0] == 0x28 && raw[1] == 0xb5 && raw[2] == 0x2f && raw[3] == 0xfd) return true;
    return (raw[0] & 0xf0) == 0x50 && raw[1] == 0x2a && raw[2] == 0x4d && raw[3] == 0x18;
}

static int start_decompressor(struct input_stream *stream, struct dpmf_error *error) {
    if (has_gzip_magic(stream->raw, stream->raw_n)) {
        stream->compression = GZIP;
        if (inflateInit2(&stream->zlib, 15 + 16) != Z_OK) return error_no_memory(error);
        stream->zlib_ready = true;
    } else if (has_zstd_magic(stream->raw, stream->raw_n)) {
        stream->compression = ZSTD;
        stream->zstd = ZSTD_createDStream();
        if (stream->zstd == NULL) return error_no_memory(error);
    }
    return 0;
}

/* A pipe gives its first bytes in pieces: continue until there is enough for any magic number. */
static int read_head(struct input_stream *stream, struct dpmf_error *error) {
    while (stream->raw_n < HEAD_BYTES && !stream->raw_end) {
        size_t got = 0;
        int code = read_some(stream, stream->raw + stream->raw_n,
                             stream->raw_capacity - stream->raw_n, &got, error);
        if (code != 0) return code;
        stream->raw_n += got;
    }
    return 0;
}

static int look_at_file(struct input_stream *stream, struct dpmf_error *error) {
    struct stat status;
    if (fstat(stream->fd, &status) != 0) return error_system(error, errno, "open", stream->name);
    if (S_ISDIR(status.st_mode)) return error_system(error, EISDIR, "read", stream->name);
    if (S_ISREG(status.st_mode)) {
        if (status.st_size > 0) stream->total = (uint64_t)status.st_size;
        stream->wait.go_on = NULL; /* a file always has its bytes */
        stream->time = status.st_mtim;
    } else {
        stream->is_watched = false;
    }
    return 0;
}

static int open_stream(int fd, const char *name, const struct input_wait *wait, bool is_watched,
                       struct input_stream **out, struct dpmf_error *error) {
    int code = 0;
    struct input_stream *stream = memory_alloc_zero(1, sizeof *stream);
    if (stream == NULL) {
        close(fd);
        return error_no_memory(error);
    }
    stream->fd = fd;
    stream->is_watched = is_watched;
    if (wait != NULL) stream->wait = *wait;
    stream->name = strdup(name);
    stream->raw_capacity = RAW_BYTES;
    stream->raw = memory_alloc(stream->raw_capacity, 1);
    if (stream->name == NULL || stream->raw == NULL) {
        code = error_no_memory(error);
        goto out;
    }
    code = look_at_file(stream, error);
    if (code != 0) goto out;
    code = read_head(stream, error);
    if (code != 0) goto out;
    code = start_decompressor(stream, error);
    if (code != 0) goto out;
    *out = stream;
    stream = NULL;
out:
    input_stream_close(stream);
    return code;
}

int input_stream_open_fd(int fd, const char *name, const struct input_wait *wait,
                         struct input_stream **stream, struct dpmf_error *error) {
    return open_stream(fd, name, wait, false, stream, error);
}

int input_stream_open(const char *path, const struct input_wait *wait, struct input_stream **stream,
                      struct dpmf_error *error) {
    bool standard = strcmp(path, "-") == 0;
    int fd = standard ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3) : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return error_system(error, errno, "open", standard ? "<stdin>" : path);
    if (standard) return input_stream_open_fd(fd, "<stdin>", wait, stream, error);
    return open_stream(fd, path, wait, true, stream, error);
}

void input_stream_close(struct input_stream *stream) {
    if (stream == NULL) return;
    if (stream->zlib_ready) inflateEnd(&stream->zlib);
    ZSTD_freeDStream(stream->zstd);
    close(stream->fd);
    free(stream->raw);
    free(stream->name);
    free(stream);
}

/* ---- reading --------------------------------------------------------------------------------- */

int input_stream_read(struct input_stream *stream, void *bytes, size_t capacity, size_t *got,
                      struct dpmf_error *error) {
    *got = 0;
    switch (stream->compression) {
    case GZIP: return read_gzip(stream, bytes, capacity, got, error);
    case ZSTD: return read_zstd(stream, bytes, capacity, got, error);
    default: return read_plain(stream, bytes, capacity, got, error);
    }
}

size_t input_stream_head(const struct input_stream *stream, const void **bytes) {
    *bytes = stream->raw;
    return stream->raw_n;
}

void input_stream_take_plain(struct input_stream *stream) {
    if (stream->zlib_ready) inflateEnd(&stream->zlib);
    ZSTD_freeDStream(stream->zstd);
    stream->zlib_ready = false;
    stream->zstd = NULL;
    stream->compression = PLAIN;
}

const char *input_stream_name(const struct input_stream *stream) { return stream->name; }
uint64_t input_stream_total(const struct input_stream *stream) { return stream->total; }

uint64_t input_stream_bytes_read(const struct input_stream *stream) {
    return atomic_load_explicit(&stream->bytes_read, memory_order_relaxed);
}
