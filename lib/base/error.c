/*
 * The table of everything that can go wrong, and the functions that describe one such thing. Every
 * folder of the library fills in errors through error.h; the command line shows them and ends with
 * the exit status that the table gives.
 */
#define _GNU_SOURCE
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

#ifndef DPMF_VERSION
#define DPMF_VERSION "0.1.0"
#endif

/* The exit statuses of the command line; they are part of its manual. */
enum {
    EXIT_DONE = 0,
    EXIT_NO = 1,
    EXIT_USAGE = 2,
    EXIT_INPUT = 3,
    EXIT_IO = 4,
    EXIT_NOT_FINITE = 5,
    EXIT_REFUSED = 6,
    EXIT_BUG = 70,
    EXIT_INTERRUPTED = 130,
};

struct entry {
    int code;
    const char *name;
    const char *sentence;
    int exit_status;
};

#define ENTRY(code, exit_status, sentence)                                                         \
    { code, #code, sentence, exit_status }

static const struct entry entries[] = {
    ENTRY(DPMF_OK, EXIT_DONE, "nothing went wrong"),

    ENTRY(DPMF_ERR_BASE_NO_MEMORY, EXIT_IO, "there is not enough memory"),
    ENTRY(DPMF_ERR_BASE_CANCELLED, EXIT_INTERRUPTED, "the run was cancelled"),
    ENTRY(DPMF_ERR_BASE_THREAD, EXIT_IO, "a thread could not be started"),
    ENTRY(DPMF_ERR_BASE_BUG, EXIT_BUG, "dpmf contradicted itself, which is a bug"),
    ENTRY(DPMF_ERR_BASE_RANDOM, EXIT_IO, "the system gave no random bytes"),
    ENTRY(DPMF_ERR_BASE_NOT_DEFINITE, EXIT_NOT_FINITE,
          "a matrix is not positive definite, so its equations have no stable solution"),

    ENTRY(DPMF_ERR_USAGE_VALUE, EXIT_USAGE, "a value is not one that can be used here"),
    ENTRY(DPMF_ERR_USAGE_CONFLICT, EXIT_USAGE, "two settings contradict each other"),
    ENTRY(DPMF_ERR_USAGE_MEMORY, EXIT_USAGE, "the memory allowed is too little for this work"),

    ENTRY(DPMF_ERR_IO_MISSING, EXIT_IO, "a file or directory does not exist"),
    ENTRY(DPMF_ERR_IO_PERMISSION, EXIT_IO, "a file or directory may not be used"),
    ENTRY(DPMF_ERR_IO_DIRECTORY, EXIT_IO, "there is a directory where a file should be"),
    ENTRY(DPMF_ERR_IO_READ, EXIT_IO, "reading failed"),
    ENTRY(DPMF_ERR_IO_WRITE, EXIT_IO, "writing failed"),
    ENTRY(DPMF_ERR_IO_NO_SPACE, EXIT_IO, "there is no room left to write to"),
    ENTRY(DPMF_ERR_IO_CONNECTION, EXIT_IO, "a server cannot be reached, or went away"),
    ENTRY(DPMF_ERR_IO_LIBRARY, EXIT_IO, "a library that this needs is not there"),

    ENTRY(DPMF_ERR_INPUT_UNKNOWN_FORMAT, EXIT_INPUT, "the input is in no format that is known"),
    ENTRY(DPMF_ERR_INPUT_EMPTY, EXIT_INPUT, "the input holds no ratings"),
    ENTRY(DPMF_ERR_INPUT_HEADER, EXIT_INPUT, "the input's header makes no sense"),
    ENTRY(DPMF_ERR_INPUT_COLUMNS, EXIT_INPUT, "a record has the wrong number of columns"),
    ENTRY(DPMF_ERR_INPUT_QUOTE, EXIT_INPUT, "a quoted field is not closed properly"),
    ENTRY(DPMF_ERR_INPUT_NUMBER, EXIT_INPUT, "a field that should be a number is not one"),
    ENTRY(DPMF_ERR_INPUT_NOT_FINITE, EXIT_INPUT, "a rating is infinite or not a number"),
    ENTRY(DPMF_ERR_INPUT_OUT_OF_RANGE, EXIT_INPUT, "a rating is outside the range allowed"),
    ENTRY(DPMF_ERR_INPUT_ID, EXIT_INPUT, "an id is empty or cannot be used"),
    ENTRY(DPMF_ERR_INPUT_ID_TOO_LONG, EXIT_INPUT, "an id is longer than 64 KiB"),
    ENTRY(DPMF_ERR_INPUT_LINE_TOO_LONG, EXIT_INPUT, "a line is too long to be one record"),
    ENTRY(DPMF_ERR_INPUT_COUNT, EXIT_INPUT, "a count in the input does not match what follows it"),
    ENTRY(DPMF_ERR_INPUT_TIME, EXIT_INPUT, "a timestamp cannot be understood"),
    ENTRY(DPMF_ERR_INPUT_JSON, EXIT_INPUT, "a line is not the JSON object it should be"),
    ENTRY(DPMF_ERR_INPUT_COMPRESSED, EXIT_INPUT, "the compressed data is damaged or cut off"),
    ENTRY(DPMF_ERR_INPUT_TOO_MANY, EXIT_INPUT, "there are more users or items than can be counted"),
    ENTRY(DPMF_ERR_INPUT_QUERY, EXIT_INPUT, "a query cannot be run, or gives no ratings"),
    ENTRY(DPMF_ERR_INPUT_DATABASE, EXIT_INPUT, "the file is no database, or is damaged"),

    ENTRY(DPMF_ERR_STORE_NOT_A_STORE, EXIT_INPUT, "the file is not a ratings store"),
    ENTRY(DPMF_ERR_STORE_VERSION, EXIT_INPUT, "the store was written by a newer version"),
    ENTRY(DPMF_ERR_STORE_TRUNCATED, EXIT_INPUT, "the store is cut off"),
    ENTRY(DPMF_ERR_STORE_CORRUPT, EXIT_INPUT, "the store is damaged"),

    ENTRY(DPMF_ERR_RATINGS_NO_TIMES, EXIT_INPUT, "the ratings have no timestamps"),
    ENTRY(DPMF_ERR_RATINGS_NONE_LEFT, EXIT_INPUT, "no ratings are left"),
    ENTRY(DPMF_ERR_RATINGS_SHAPE, EXIT_USAGE, "no ratings can have the shape asked for"),

    ENTRY(DPMF_ERR_MODEL_NOT_A_MODEL, EXIT_INPUT, "the file is not a model"),
    ENTRY(DPMF_ERR_MODEL_CORRUPT, EXIT_INPUT, "the model is damaged"),
    ENTRY(DPMF_ERR_MODEL_KIND, EXIT_INPUT, "the file is another kind of model than this needs"),
    ENTRY(DPMF_ERR_MODEL_UNKNOWN_ID, EXIT_INPUT, "the model does not know this user or item"),

    ENTRY(DPMF_ERR_TRAIN_DIVERGED, EXIT_NOT_FINITE, "training diverged"),
    ENTRY(DPMF_ERR_TRAIN_MISMATCH, EXIT_INPUT, "the snapshot belongs to another run"),

    ENTRY(DPMF_ERR_PRIVACY_REFUSED, EXIT_REFUSED, "this would not keep the promise of privacy"),
    ENTRY(DPMF_ERR_PRIVACY_BUDGET, EXIT_REFUSED,
          "the population's privacy budget does not allow it"),
    ENTRY(DPMF_ERR_PRIVACY_NOT_VERIFIED, EXIT_NO, "the release is not what its statement says"),
    ENTRY(DPMF_ERR_PRIVACY_LEDGER, EXIT_INPUT, "the ledger is damaged"),
    ENTRY(DPMF_ERR_PRIVACY_ACCUSED, EXIT_NO, "the audit found more leakage than is claimed"),

    ENTRY(DPMF_ERR_CLUSTER_START, EXIT_IO, "the processes of a cluster could not find each other"),
    ENTRY(DPMF_ERR_CLUSTER_LOST, EXIT_IO, "a process of the cluster was lost"),
};

static const struct entry *find(int code) {
    for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
        if (entries[i].code == code) return &entries[i];
    return NULL;
}

const char *dpmf_error_sentence(int code) {
    const struct entry *entry = find(code);
    return entry ? entry->sentence : "something went wrong that has no name";
}

const char *dpmf_error_name(int code) {
    const struct entry *entry = find(code);
    return entry ? entry->name : NULL;
}

/* A code that is in no table can only be a mistake of ours. */
int dpmf_error_exit_status(int code) {
    const struct entry *entry = find(code);
    return entry ? entry->exit_status : EXIT_BUG;
}

int dpmf_error_format(const struct dpmf_error *error, char *text, size_t size) {
    const char *message = error->message[0] ? error->message : dpmf_error_sentence(error->code);
    const char *file = error->file[0] ? error->file : "line";
    const char *gap = error->file[0] ? ":" : " "; /* "ratings.csv:3" but "line 3" */
    long long line = (long long)error->line, column = (long long)error->column;
    if (line > 0 && column > 0)
        return snprintf(text, size, "%s%s%lld:%lld: %s", file, gap, line, column, message);
    if (line > 0) return snprintf(text, size, "%s%s%lld: %s", file, gap, line, message);
    if (error->file[0]) return snprintf(text, size, "%s: %s", file, message);
    return snprintf(text, size, "%s", message);
}

const char *dpmf_version(void) { return DPMF_VERSION; }

/* A text that was cut to fit may end in the middle of a character: drop that piece of one. */
static void trim_cut_text(char text[DPMF_ERROR_TEXT_MAX]) {
    size_t end = strlen(text), start = end;
    if (end < DPMF_ERROR_TEXT_MAX - 1) return;
    while (start > 0 && end - start < 3 && ((unsigned char)text[start - 1] & 0xc0) == 0x80) start--;
    if (start == 0 || (unsigned char)text[start - 1] < 0xc0) return;
    start--;
    if (utf8_sequence(text + start, end - start) == 0) text[start] = '\0';
}

/* Masked before it is cut to size, for which there is more room here than in an error. */
static void fill(char text[DPMF_ERROR_TEXT_MAX], const char *format, va_list arguments) {
    char whole[8 * DPMF_ERROR_TEXT_MAX];
    int n = vsnprintf(whole, sizeof whole, format, arguments);
    if (n < 0) whole[0] = '\0';
    error_mask_message(whole, n >= (int)sizeof whole, text, DPMF_ERROR_TEXT_MAX);
    trim_cut_text(text);
}

static void fill_file(struct dpmf_error *error, const char *file) {
    char masked[DPMF_ERROR_TEXT_MAX]; /* the file may be the error's own text */
    error_mask_name(file, masked, sizeof masked);
    trim_cut_text(masked);
    memcpy(error->file, masked, strlen(masked) + 1);
}

int error_set(struct dpmf_error *error, int code, const char *format, ...) {
    if (!error) return code;
    va_list arguments;
    va_start(arguments, format);
    fill(error->message, format, arguments);
    va_end(arguments);
    error->code = code;
    error->line = error->column = 0;
    error->file[0] = error->hint[0] = '\0';
    return code;
}

int error_hint(struct dpmf_error *error, const char *format, ...) {
    if (!error) return DPMF_ERR_BASE_BUG;
    va_list arguments;
    va_start(arguments, format);
    fill(error->hint, format, arguments);
    va_end(arguments);
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
    case EDQUOT:
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
    case DPMF_ERR_IO_NO_SPACE: return "free some room or write to another disk";
    case DPMF_ERR_BASE_NO_MEMORY: return "allow the run less memory, or free some";
    case DPMF_ERR_IO_WRITE: return "try again, or write to another disk";
    default: return "try again, or copy the file to another disk first";
    }
}

/* strerror is not for threads, and strerror_r comes in two kinds. */
static const char *system_text(int errno_value, char *space, size_t size) {
#if defined(__GLIBC__)
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
