/*
 * A model in the text that LIBMF's mf-predict reads. Fed by an open model; beside the file stand
 * the ids, a line each, because LIBMF knows rows by their numbers alone.
 *
 * LIBMF predicts p.q and nothing more. Offset and biases are therefore two more factors: a user's
 * row ends with offset + bias and 1, an item's with 1 and its bias. Without users, as a release is,
 * there is one row in their place: someone with no ratings, for whom every item is predicted by its
 * bias.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "dpmf_text.h"
#include "export/export_task.h"

enum { LIBMF_FILES = 3, NUMBER_ROOM = DPMF_DOUBLE_TEXT_MAX };

/* The model, the items' ids, the users'. */
static const char *const suffixes[LIBMF_FILES] = {"", ".items.txt", ".users.txt"};

struct writing {
    struct export_task *task;
    struct output_file *files[LIBMF_FILES];
    /* a model is there, or an empty file in its place, and what is beside it belongs to it */
    bool replaces;
    struct byte_buffer row;
};

static void put_letter(struct byte_buffer *row, char c) { row->bytes[row->n++] = (uint8_t)c; }

static void put_float(struct byte_buffer *row, float value) {
    row->n += number_format_float(value, (char *)row->bytes + row->n);
    put_letter(row, ' ');
}

/* "p12 T 0.5 -1 3.25 1 " and the end of the line. `vector` NULL: all zero. */
static int write_row(struct writing *writing, char letter, uint64_t i, const float *vector,
                     const float last[2], struct dpmf_error *error) {
    struct byte_buffer *row = &writing->row;
    uint32_t k = writing->task->info.factors;
    row->n = 0;
    put_letter(row, letter);
    row->n += number_format_int64((int64_t)i, (char *)row->bytes + row->n);
    put_letter(row, ' ');
    put_letter(row, 'T');
    put_letter(row, ' ');
    for (uint32_t c = 0; c < k; c++) put_float(row, vector ? vector[c] : 0.0F);
    put_float(row, last[0]);
    put_float(row, last[1]);
    put_letter(row, '\n');
    int code = output_file_write(writing->files[0], row->bytes, row->n, error);
    return code == 0 ? export_rows_count(writing->task, vector ? 1 : 0, error) : code;
}

static int write_header(struct writing *writing, struct dpmf_error *error) {
    const struct export_task *task = writing->task;
    char text[256], offset[DPMF_DOUBLE_TEXT_MAX];
    uint64_t users = task->has_users ? task->side[1].n : 1;
    offset[number_format_float((float)task->info.offset, offset)] = '\0';
    int n =
        snprintf(text, sizeof text, "f 0\nm %llu\nn %llu\nk %u\nb %s\n", (unsigned long long)users,
                 (unsigned long long)task->side[0].n, task->info.factors + 2, offset);
    return output_file_write(writing->files[0], text, (size_t)n, error);
}

static int write_model(struct writing *writing, struct dpmf_error *error) {
    const struct export_task *task = writing->task;
    const struct export_side *items = &task->side[0], *users = &task->side[1];
    double offset = task->info.offset;
    int code = write_header(writing, error);
    if (code == 0 && !task->has_users)
        code = write_row(writing, 'p', 0, NULL, (const float[2]){(float)offset, 1}, error);
    for (uint64_t i = 0; code == 0 && task->has_users && i < users->n; i++) {
        const float last[2] = {(float)(offset + (double)users->biases[i]), 1};
        code = write_row(writing, 'p', i, users->rows + i * users->stride, last, error);
    }
    for (uint64_t i = 0; code == 0 && i < items->n; i++) {
        const float last[2] = {1, items->biases[i]};
        code = write_row(writing, 'q', i, items->rows + i * items->stride, last, error);
    }
    return code;
}

/* ---- what is there already ------------------------------------------------------------------- */

static bool is_count(const char *line, char letter) {
    return line[0] == letter && line[1] == ' ' && line[2] >= '0' && line[2] <= '9';
}

/* A model begins with its kind and its number of users, as ours and as LIBMF's own do. */
static int check_model(const char *path, struct dpmf_error *error) {
    char kind[16], users[32];
    FILE *file = fopen(path, "rb");
    if (!file) return error_system(error, errno, "open", path);
    bool is_model = fgets(kind, sizeof kind, file) && fgets(users, sizeof users, file) &&
                    is_count(kind, 'f') && is_count(users, 'm');
    fclose(file);
    return is_model ? 0 : export_file_refuse(path, error);
}

/* Ids without a model may be what a killed export left, if they are the ones that it was to write.
 * */
static int check_ids(const struct export_task *task, const struct export_side *side,
                     const char *path, struct dpmf_error *error) {
    FILE *file = fopen(path, "rb");
    if (!file) return error_system(error, errno, "open", path);
    bool same = true;
    for (uint64_t i = 0; same && i < side->n; i++) {
        size_t length;
        const char *id = side->id(task->model, i, &length);
        for (size_t b = 0; same && b < length; b++) same = getc(file) == (unsigned char)id[b];
        same = same && getc(file) == '\n';
    }
    same = same && getc(file) == EOF;
    fclose(file);
    return same ? 0 : export_file_refuse(path, error);
}

static int check_place(struct writing *writing, size_t f, const char *path,
                       struct dpmf_error *error) {
    const struct export_task *task = writing->task;
    /* Without a model beside them, the very ids that are to be written are what a killed export
     * left. */
    if (f > 0 && !writing->replaces && !task->options->replace && access(path, F_OK) == 0 &&
        check_ids(task, &task->side[f - 1], path, NULL) == 0)
        return 0;
    int found = export_file_check(task, path, error);
    if (f == 0) writing->replaces = found >= 0 && access(path, F_OK) == 0;
    if (found <= 0) return found;
    if (f == 0) return check_model(path, error);
    return writing->replaces ? 0 : check_ids(task, &task->side[f - 1], path, error);
}

static int open_file(struct writing *writing, size_t f, struct dpmf_error *error) {
    const struct export_task *task = writing->task;
    size_t size = strlen(task->output) + strlen(suffixes[f]) + 1;
    char *path = memory_alloc(size, 1);
    if (!path) return error_no_memory(error);
    snprintf(path, size, "%s%s", task->output, suffixes[f]);
    int code = check_place(writing, f, path, error);
    if (code == 0) code = output_file_open(&writing->files[f], path, task->mode, error);
    free(path);
    return code;
}

/* To LIBMF the offset is one more factor, a float, which has no room for a large offset and small
 * differences. */
static int check_scale(const struct export_task *task, struct dpmf_error *error) {
    const double half = task->info.max / 2 - task->info.min / 2;
    if (!(fabs(task->info.offset) / 128 > half) || half == 0) return 0;
    error_set(error, DPMF_ERR_INPUT_OUT_OF_RANGE,
              "LIBMF cannot distinguish ratings from %g to %g: its numbers are floats",
              task->info.min, task->info.max);
    error_hint(error,
               "{npy}, {csv} and {sqlite} keep the offset separately; or {rescale} the ratings and "
               "train again");
    return DPMF_ERR_INPUT_OUT_OF_RANGE;
}

static int check_sizes(const struct export_task *task, struct dpmf_error *error) {
    for (size_t s = 0; s <= (size_t)task->has_users; s++)
        if (task->side[s].n > INT32_MAX) {
            error_set(error, DPMF_ERR_USAGE_VALUE, "LIBMF has room for 2147483647 %ss, and no more",
                      task->side[s].name);
            error_hint(error, "{npy} and {sqlite} have more");
            return DPMF_ERR_USAGE_VALUE;
        }
    return 0;
}

/* An empty file in the model's place: it is no model, and says that what is beside it was. */
static int empty_model(const struct export_task *task, struct dpmf_error *error) {
    struct output_file *empty = NULL;
    int code = output_file_open(&empty, task->output, task->mode, error);
    return code == 0 ? output_file_commit(empty, error) : code;
}

/* All of them on the disk first, then the model's place last: where it is, its ids are. That is why
 * a model that is replaced goes first: beside the new ids, its rows would be someone else's. */
static int finish(struct writing *writing, struct dpmf_error *error) {
    int code = 0;
    for (size_t f = 0; code == 0 && f < LIBMF_FILES; f++)
        if (writing->files[f]) code = output_file_prepare(writing->files[f], error);
    if (code == 0 && writing->replaces) code = empty_model(writing->task, error);
    for (size_t i = 0; code == 0 && i < LIBMF_FILES; i++) {
        struct output_file **file = &writing->files[LIBMF_FILES - 1 - i], *whole = *file;
        *file = NULL;
        if (whole) code = output_file_commit(whole, error);
    }
    return code;
}

int export_libmf_write(struct export_task *task, struct dpmf_error *error) {
    struct writing writing = {.task = task};
    size_t room = ((size_t)task->info.factors + 4) * (NUMBER_ROOM + 1);
    int code = check_sizes(task, error);
    if (code == 0) code = check_scale(task, error);
    if (code == 0) code = export_ids_check(task, error);
    if (code == 0 && !byte_buffer_room(&writing.row, room)) code = error_no_memory(error);
    for (size_t f = 0; code == 0 && f <= 1 + (size_t)task->has_users; f++)
        code = open_file(&writing, f, error);
    for (size_t s = 0; code == 0 && s <= (size_t)task->has_users; s++)
        code = export_ids_write(task, &task->side[s], writing.files[1 + s], error);
    if (code == 0) code = write_model(&writing, error);
    for (size_t f = 0; code == 0 && f <= 1 + (size_t)task->has_users; f++)
        task->report->bytes_written += output_file_size(writing.files[f]);
    if (code == 0) code = finish(&writing, error);
    for (size_t f = 0; f < LIBMF_FILES; f++) output_file_abandon(writing.files[f]);
    free(writing.row.bytes);
    return code;
}
