/*
 * The table of everything that can go wrong, and the functions that describe one such thing. Every
 * folder of the library fills in errors through error.h; error_text.c renders them for people.
 */
#define _GNU_SOURCE
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error_text.h"

#ifndef DPMF_VERSION
#define DPMF_VERSION "0.1.0"
#endif

struct entry {
    int code;
    const char *name;
    const char *sentence;
};

#define ENTRY(code, sentence)                                                                      \
    { code, #code, sentence }

static const struct entry entries[] = {
    ENTRY(DPMF_OK, "nothing went wrong"),

    ENTRY(DPMF_ERR_BASE_NO_MEMORY, "there is not enough memory"),
    ENTRY(DPMF_ERR_BASE_CANCELLED, "the run was cancelled"),
    ENTRY(DPMF_ERR_BASE_THREAD, "a thread could not be started"),
    ENTRY(DPMF_ERR_BASE_BUG, "dpmf contradicted itself, which is a bug"),
    ENTRY(DPMF_ERR_BASE_RANDOM, "the system gave no random bytes"),
    ENTRY(DPMF_ERR_BASE_NOT_DEFINITE,
          "a matrix is not positive definite, so its equations have no stable solution"),

    ENTRY(DPMF_ERR_USAGE_VALUE, "a value cannot be used here"),
    ENTRY(DPMF_ERR_USAGE_CONFLICT, "two settings contradict each other"),
    ENTRY(DPMF_ERR_USAGE_MEMORY, "the memory allowed is too little for this work"),
    ENTRY(DPMF_ERR_USAGE_NULL, "a pointer that must not be NULL is NULL"),
    ENTRY(DPMF_ERR_USAGE_STRUCT,
          "a struct of options is of another version, or was not initialised"),

    ENTRY(DPMF_ERR_IO_MISSING, "a file or directory does not exist"),
    ENTRY(DPMF_ERR_IO_PERMISSION, "a file or directory may not be used"),
    ENTRY(DPMF_ERR_IO_DIRECTORY, "there is a directory where a file should be"),
    ENTRY(DPMF_ERR_IO_READ, "reading failed"),
    ENTRY(DPMF_ERR_IO_WRITE, "writing failed"),
    ENTRY(DPMF_ERR_IO_NO_SPACE, "there is no space left to write to"),
    ENTRY(DPMF_ERR_IO_CONNECTION, "a server cannot be reached, or went away"),
    ENTRY(DPMF_ERR_IO_LIBRARY, "a library that this needs is missing"),

    ENTRY(DPMF_ERR_INPUT_UNKNOWN_FORMAT, "the format of the input is unknown"),
    ENTRY(DPMF_ERR_INPUT_EMPTY, "the input holds no ratings"),
    ENTRY(DPMF_ERR_INPUT_HEADER, "the input's header makes no sense"),
    ENTRY(DPMF_ERR_INPUT_COLUMNS, "a record has the wrong number of columns"),
    ENTRY(DPMF_ERR_INPUT_QUOTE, "a quoted field is not closed properly"),
    ENTRY(DPMF_ERR_INPUT_NUMBER, "a field that should be a number is not one"),
    ENTRY(DPMF_ERR_INPUT_NOT_FINITE, "a rating is infinite or not a number"),
    ENTRY(DPMF_ERR_INPUT_OUT_OF_RANGE, "a rating is outside the range allowed"),
    ENTRY(DPMF_ERR_INPUT_ID, "an id is empty or cannot be used"),
    ENTRY(DPMF_ERR_INPUT_ID_TOO_LONG, "an id is longer than 64 KiB"),
    ENTRY(DPMF_ERR_INPUT_LINE_TOO_LONG, "a line is too long to be one record"),
    ENTRY(DPMF_ERR_INPUT_COUNT, "a count in the input does not match what follows it"),
    ENTRY(DPMF_ERR_INPUT_TIME, "a timestamp cannot be understood"),
    ENTRY(DPMF_ERR_INPUT_JSON, "a line is not the JSON object it should be"),
    ENTRY(DPMF_ERR_INPUT_COMPRESSED, "the compressed data is damaged or cut off"),
    ENTRY(DPMF_ERR_INPUT_TOO_MANY, "there are more users or items than can be counted"),
    ENTRY(DPMF_ERR_INPUT_QUERY, "a query cannot be run, or gives no ratings"),
    ENTRY(DPMF_ERR_INPUT_DATABASE, "the file is not a database, or is damaged"),
    ENTRY(DPMF_ERR_INPUT_ARROW, "the Arrow data is malformed, or uses what is not supported"),
    ENTRY(DPMF_ERR_INPUT_PARQUET, "the Parquet file is damaged, or uses what is not supported"),

    ENTRY(DPMF_ERR_STORE_NOT_A_STORE, "the file is not a ratings store"),
    ENTRY(DPMF_ERR_STORE_VERSION, "the store was written by a newer version"),
    ENTRY(DPMF_ERR_STORE_TRUNCATED, "the store is cut off"),
    ENTRY(DPMF_ERR_STORE_CORRUPT, "the store is damaged"),

    ENTRY(DPMF_ERR_RATINGS_NO_TIMES, "the ratings have no timestamps"),
    ENTRY(DPMF_ERR_RATINGS_NONE_LEFT, "no ratings are left"),
    ENTRY(DPMF_ERR_RATINGS_SHAPE, "no ratings can have the shape asked for"),

    ENTRY(DPMF_ERR_MODEL_NOT_A_MODEL, "the file is not a model"),
    ENTRY(DPMF_ERR_MODEL_CORRUPT, "the model is damaged"),
    ENTRY(DPMF_ERR_MODEL_KIND, "the file is another kind of model than this needs"),
    ENTRY(DPMF_ERR_MODEL_UNKNOWN_ID, "the model does not know this user or item"),

    ENTRY(DPMF_ERR_TRAIN_DIVERGED, "training diverged"),
    ENTRY(DPMF_ERR_TRAIN_MISMATCH, "the snapshot belongs to another run"),

    ENTRY(DPMF_ERR_PRIVACY_REFUSED, "this would break the promise of privacy"),
    ENTRY(DPMF_ERR_PRIVACY_BUDGET, "the population's privacy budget does not allow it"),
    ENTRY(DPMF_ERR_PRIVACY_NOT_VERIFIED, "the release is not what its statement says"),
    ENTRY(DPMF_ERR_PRIVACY_LEDGER, "the ledger is damaged"),
    ENTRY(DPMF_ERR_PRIVACY_ACCUSED, "the audit found more leakage than is claimed"),

    ENTRY(DPMF_ERR_CLUSTER_START, "the processes of a cluster could not find each other"),
    ENTRY(DPMF_ERR_CLUSTER_LOST, "a process of the cluster was lost"),
};

static const struct entry *find(int code) {
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
        if (entries[i].code == code) return &entries[i];
    return NULL;
}

const char *dpmf_error_sentence(int code) {
    const struct entry *entry = find(code);
    return entry ? entry->sentence : "an unknown error";
}

const char *dpmf_error_name(int code) {
    const struct entry *entry = find(code);
    return entry ? entry->name : NULL;
}

const char *dpmf_version(void) { return DPMF_VERSION; }

static void fill_file(struct dpmf_error *error, const char *file) {
    char masked[DPMF_ERROR_TEXT_MAX]; /* the file may be the error's own text */
    error_mask_name(file, masked, sizeof masked);
    error_text_trim(masked, sizeof masked);
    memcpy(error->file, masked, strlen(masked) + 1);
}

static void copy_text(char text[DPMF_ERROR_TEXT_MAX], const char *from) {
    snprintf(text, DPMF_ERROR_TEXT_MAX, "%s", from);
    error_text_trim(text, DPMF_ERROR_TEXT_MAX);
}

/* All but the message of a new description. */
static int begin(struct dpmf_error *error, int code) {
    error->code = code;
    error->line = error->column = 0;
    error->file[0] = error->hint[0] = '\0';
    return code;
}

int error_set(struct dpmf_error *error, int code, const char *format, ...) {
    if (!error) return code;
    va_list arguments;
    va_start(arguments, format);
    error_text_write(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return begin(error, code);
}

int error_set_text(struct dpmf_error *error, int code, const char *text) {
    if (!error) return code;
    copy_text(error->message, text);
    return begin(error, code);
}

int error_hint(struct dpmf_error *error, const char *format, ...) {
    if (!error) return DPMF_ERR_BASE_BUG;
    va_list arguments;
    va_start(arguments, format);
    error_text_write(error->hint, sizeof error->hint, format, arguments);
    va_end(arguments);
    return error->code;
}

int error_hint_text(struct dpmf_error *error, const char *text) {
    if (!error) return DPMF_ERR_BASE_BUG;
    copy_text(error->hint, text);
    return error->code;
}

int error_place(struct dpmf_error *error, const char *file, int64_t line, int64_t column) {
    if (!error) return DPMF_ERR_BASE_BUG;
    if (file) fill_file(error, file);
    error->line = line;
    error->column = column;
    return error->code;
}

static bool is_writing(const char *doing) {
    static const char *const words[] = {"write", "create", "rename", "flush", "remove"};
    size_t n = strcspn(doing, " ");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strlen(words[i]) == n && memcmp(words[i], doing, n) == 0) return true;
    return false;
}

static int code_of_errno(int errno_value, bool writing) {
    switch (errno_value) {
    case ENOENT:
    case ENOTDIR: return DPMF_ERR_IO_MISSING;
    case EACCES:
    case EPERM:
    case EROFS: return DPMF_ERR_IO_PERMISSION;
    case EISDIR: return DPMF_ERR_IO_DIRECTORY;
    case ENOSPC:
#ifdef EDQUOT /* not on Windows */
    case EDQUOT:
#endif
    case EFBIG: return DPMF_ERR_IO_NO_SPACE;
    case ENOMEM: return DPMF_ERR_BASE_NO_MEMORY;
    default: return writing ? DPMF_ERR_IO_WRITE : DPMF_ERR_IO_READ;
    }
}

static const char *hint_of(int errno_value, int code, bool writing) {
    switch (errno_value) {
    case EROFS: return "this disk is read-only: write to another";
    case EFBIG: return "files may not grow so large here: raise the limit or write to another disk";
    case EMFILE:
    case ENFILE: return "too many files are open: close some or raise the limit";
    default: break;
    }
    switch (code) {
    case DPMF_ERR_IO_MISSING:
        return writing ? "create the directory first, or check the path" : "check the path";
    case DPMF_ERR_IO_PERMISSION: return "check the permissions of the file and of its directory";
    case DPMF_ERR_IO_DIRECTORY: return "give the path of a file";
    case DPMF_ERR_IO_NO_SPACE: return "free some space or write to another disk";
    case DPMF_ERR_BASE_NO_MEMORY: return "allow the run less memory, or free some";
    case DPMF_ERR_IO_WRITE: return "try again, or write to another disk";
    default: return "try again, or copy the file to another disk first";
    }
}

/* strerror is not for threads, and strerror_r comes in two kinds. */
static const char *system_text(int errno_value, char *space, size_t size) {
#if defined(_WIN32)
    return strerror_s(space, size, errno_value) == 0 ? space : "unknown error";
#elif defined(__GLIBC__)
    return strerror_r(errno_value, space, size);
#else
    return strerror_r(errno_value, space, size) == 0 ? space : "unknown error";
#endif
}

int error_system(struct dpmf_error *error, int errno_value, const char *doing, const char *path) {
    bool writing = is_writing(doing);
    int code = code_of_errno(errno_value, writing);
    if (!error) return code;

    char space[160], text[160];
    snprintf(text, sizeof text, "%s", system_text(errno_value, space, sizeof space));
    bool word = text[0] >= 'A' && text[0] <= 'Z' && !(text[1] >= 'A' && text[1] <= 'Z');
    if (word) text[0] = (char)(text[0] - 'A' + 'a');

    error_set(error, code, "cannot %s: %s", doing, text);
    error_hint(error, "%s", hint_of(errno_value, code, writing));
    return error_place(error, path, 0, 0);
}

int error_no_memory(struct dpmf_error *error) {
    error_set(error, DPMF_ERR_BASE_NO_MEMORY, "%s", dpmf_error_sentence(DPMF_ERR_BASE_NO_MEMORY));
    error_hint(error, "allow the run less memory, or free some");
    return DPMF_ERR_BASE_NO_MEMORY;
}
