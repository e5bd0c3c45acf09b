/*
 * The bytes of Arrow's IPC format: out of a stream in order, or out of a file where the reader is,
 * and the metadata of the next message. Lengths are compared with what they must hold before
 * anything is read by them. Fed by input_stream and files; feeds the other files of the reader.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "arrow/ipc_state.h"
#include "base/error.h"
#include "base/memory.h"

int ipc_refuse(const struct ipc_reader *self, const char *why, struct dpmf_error *error) {
    return arrow_table_refuse(&self->table, why, error);
}

int ipc_refuse_cut(const struct ipc_reader *self, struct dpmf_error *error) {
    ipc_refuse(self, "the Arrow data is cut off", error);
    error_hint(error, "copy or write the file again");
    return DPMF_ERR_INPUT_ARROW;
}

static int refuse_without_end(const struct ipc_reader *self, struct dpmf_error *error) {
    ipc_refuse(self, "the Arrow stream ends without its end marker: it may be cut off", error);
    error_hint(error, "write it again, and close its writer");
    return DPMF_ERR_INPUT_ARROW;
}

static int read_file(struct ipc_reader *self, uint8_t *bytes, size_t n, size_t *got,
                     struct dpmf_error *error) {
    while (*got < n) {
        const ssize_t part = pread(self->fd, bytes + *got, n - *got, (off_t)self->at);
        if (part < 0 && errno == EINTR) continue;
        if (part < 0) return error_system(error, errno, "read", self->table.name);
        if (part == 0) break;
        *got += (size_t)part;
        self->at += (uint64_t)part;
    }
    return 0;
}

int ipc_read_some(struct ipc_reader *self, void *bytes, size_t n, struct dpmf_error *error) {
    uint8_t *room = bytes;
    size_t got = 0, more = 0;
    for (; self->n_head > 0 && got < n; got++, self->n_head--)
        room[got] = self->head[sizeof self->head - self->n_head];
    int code = self->stream ? input_stream_read(self->stream, room + got, n - got, &more, error)
                            : read_file(self, room, n, &more, error);
    if (code < 0) return code;
    got += more;
    if (got == n) return 1;
    return got == 0 ? 0 : ipc_refuse_cut(self, error);
}

int ipc_read(struct ipc_reader *self, void *bytes, size_t n, struct dpmf_error *error) {
    int code = n > 0 ? ipc_read_some(self, bytes, n, error) : 1;
    return code == 0 ? ipc_refuse_cut(self, error) : code < 0 ? code : 0;
}

int ipc_skip(struct ipc_reader *self, uint64_t n, struct dpmf_error *error) {
    uint8_t room[IPC_READ_BYTES];
    int code = 0;
    if (!self->stream) { /* a block's end was compared with the file's */
        self->at += n;
        return 0;
    }
    while (n > 0 && code == 0) {
        const size_t part = n < sizeof room ? (size_t)n : sizeof room;
        code = ipc_read(self, room, part, error);
        n -= part;
    }
    return code;
}

int ipc_read_message(struct ipc_reader *self, struct flat *flat, struct dpmf_error *error) {
    uint8_t head[8];
    int code = ipc_read_some(self, head, 4, error);
    if (code == 0 && self->is_file) return ipc_refuse_cut(self, error);
    if (code == 0 && self->stream) return refuse_without_end(self, error);
    if (code != 1) return code;
    if (bytes_get_u32(head) != UINT32_MAX)
        return ipc_refuse(self,
                          "it is damaged, or was written by Arrow before 0.15: a message does not "
                          "begin as it should",
                          error);
    if ((code = ipc_read(self, head + 4, 4, error)) < 0) return code;
    const uint32_t n = bytes_get_u32(head + 4);
    if (n == 0) return 0;
    if (n > IPC_METADATA_MAX) return ipc_refuse(self, "a message is too long", error);
    if (!memory_reserve(&self->metadata, &self->metadata_capacity, n, 1))
        return error_no_memory(error);
    if ((code = ipc_read(self, self->metadata, n, error)) < 0) return code;
    *flat = (struct flat){.bytes = self->metadata, .n = n};
    return 1;
}
