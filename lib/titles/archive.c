/*
 * ZIP archives, in which services give people their histories. The list at the end of the file says
 * what there is. A member is unpacked into as much memory as the list declares, once that is known
 * to be no more than its packed bytes could fill. Feeds diary.c.
 */
#include "titles/archive.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "titles/inflate.h"

enum {
    END_BYTES = 22,    /* the end of the list, without its comment */
    ENTRY_BYTES = 46,  /* an entry of the list, without its texts */
    MEMBER_BYTES = 30, /* what stands before a member, without its texts */
    COMMENT_MOST = 65535,
    RATIO_MOST = 1032, /* bytes that DEFLATE can make of one */
    METHOD_STORED = 0,
    METHOD_DEFLATE = 8,
    FLAG_ENCRYPTED = 1
};

static const uint64_t MEMBER_MOST = (uint64_t)1 << 28, ALL_MOST = (uint64_t)1 << 30;

static uint32_t read16(const uint8_t *at) { return at[0] | (uint32_t)at[1] << 8; }

static uint32_t read32(const uint8_t *at) { return read16(at) | read16(at + 2) << 16; }

static int refuse(const struct archive *archive, int code, const char *message, const char *hint,
                  struct dpmf_error *error) {
    error_set_text(error, code, message);
    error_hint_text(error, hint);
    error_place(error, archive->path, 0, 0);
    return code;
}

static int refuse_damaged(const struct archive *archive, struct dpmf_error *error) {
    return refuse(archive, DPMF_ERR_INPUT_COMPRESSED, "the archive is damaged or cut",
                  "get it again, or unpack it and give the files", error);
}

bool archive_is(const char *bytes, size_t n) {
    return n >= 4 && memcmp(bytes, "PK\x03\x04", 4) == 0;
}

int archive_open(struct archive *archive, const char *bytes, size_t n, const char *path,
                 struct dpmf_error *error) {
    *archive = (struct archive){.bytes = (const uint8_t *)bytes, .n = n, .path = path};
    const size_t least = n > END_BYTES + COMMENT_MOST ? n - END_BYTES - COMMENT_MOST : 0;
    for (size_t at = n < END_BYTES ? 0 : n - END_BYTES + 1; at-- > least;) {
        const uint8_t *end = archive->bytes + at;
        if (memcmp(end, "PK\x05\x06", 4) != 0 || read16(end + 20) != n - at - END_BYTES) continue;
        archive->left = read16(end + 10);
        archive->at = read32(end + 16);
        if (archive->left == 0xffff || archive->at == 0xffffffff)
            return refuse(archive, DPMF_ERR_INPUT_COMPRESSED,
                          "the archive is too large for one person's history",
                          "unpack it, and give the files", error);
        return archive->at <= at ? 0 : refuse_damaged(archive, error);
    }
    return refuse_damaged(archive, error);
}

/* Where the bytes of a member are. @return whether all of them are there */
static bool find_bytes(const struct archive *archive, size_t at, struct archive_member *member) {
    if (at > archive->n || archive->n - at < MEMBER_BYTES) return false;
    const uint8_t *head = archive->bytes + at;
    if (memcmp(head, "PK\x03\x04", 4) != 0) return false;
    const size_t before = MEMBER_BYTES + (size_t)read16(head + 26) + read16(head + 28);
    if (archive->n - at < before || archive->n - at - before < member->n_packed) return false;
    member->packed = head + before;
    return true;
}

int archive_next(struct archive *archive, struct archive_member *member, struct dpmf_error *error) {
    if (archive->left == 0) return 0;
    archive->left--;
    if (archive->at > archive->n || archive->n - archive->at < ENTRY_BYTES)
        return refuse_damaged(archive, error);
    const uint8_t *entry = archive->bytes + archive->at;
    const size_t n_name = read16(entry + 28),
                 n_all = ENTRY_BYTES + n_name + read16(entry + 30) + read16(entry + 32);
    if (memcmp(entry, "PK\x01\x02", 4) != 0 || archive->n - archive->at < n_all)
        return refuse_damaged(archive, error);
    archive->at += n_all;
    const uint32_t method = read16(entry + 10);
    *member = (struct archive_member){.name = (const char *)entry + ENTRY_BYTES,
                                      .n_name = n_name,
                                      .n_packed = read32(entry + 20),
                                      .n = read32(entry + 24),
                                      .crc = read32(entry + 16),
                                      .is_packed = method == METHOD_DEFLATE};
    if (read16(entry + 8) & FLAG_ENCRYPTED)
        return refuse(archive, DPMF_ERR_INPUT_COMPRESSED, "the archive is locked with a password",
                      "unpack it, and give the files", error);
    if (method != METHOD_DEFLATE && method != METHOD_STORED)
        return refuse(archive, DPMF_ERR_INPUT_COMPRESSED,
                      "the archive is compressed in a way that is not supported",
                      "unpack it, and give the files", error);
    return find_bytes(archive, read32(entry + 42), member) ? 1 : refuse_damaged(archive, error);
}

int archive_unpack(struct archive *archive, const struct archive_member *member, char **bytes,
                   struct dpmf_error *error) {
    *bytes = NULL;
    if (member->n > MEMBER_MOST || member->n > ALL_MOST - archive->n_unpacked)
        return refuse(archive, DPMF_ERR_INPUT_TOO_MANY,
                      "what is in the archive is too large for one person's history",
                      "unpack it, and give the files one by one", error);
    const bool can_be = member->is_packed ? member->n / RATIO_MOST <= member->n_packed
                                          : member->n == member->n_packed;
    if (!can_be) return refuse_damaged(archive, error);
    archive->n_unpacked += member->n;
    char *out = memory_alloc(member->n + 1, 1);
    if (!out) return error_no_memory(error);
    int code = 0;
    if (member->is_packed)
        code = inflate_bytes(member->packed, member->n_packed, (uint8_t *)out, member->n);
    else
        memcpy(out, member->packed, member->n);
    if (code == 0 && inflate_crc32((const uint8_t *)out, member->n) != member->crc)
        code = DPMF_ERR_INPUT_COMPRESSED;
    if (code == 0) {
        *bytes = out;
        return 0;
    }
    free(out);
    return code == DPMF_ERR_BASE_NO_MEMORY ? error_no_memory(error)
                                           : refuse_damaged(archive, error);
}
