/*
 * A model as NumPy's own files: a directory of vectors, biases and ids. Fed by an open model; read
 * by numpy.load, and by much else: the format is a line of Python and the raw numbers.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "export/export_task.h"

enum {
    NPY_MAGIC = 10,     /* bytes before the line: "\x93NUMPY", the version, the line's length */
    NPY_ALIGNMENT = 64, /* alignment of the numbers */
    NPY_LINE_MAX = 256,
};

/* The names of a side's files; they must stay. */
static const char *const names[2][3] = {
    {"item_vectors.npy", "item_biases.npy", "item_ids.txt"},
    {"user_vectors.npy", "user_biases.npy", "user_ids.txt"},
};

static int write_header(struct output_file *file, const char *shape, struct dpmf_error *error) {
    char line[NPY_LINE_MAX];
    int n = snprintf(line, sizeof line, "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }",
                     shape);
    size_t used = NPY_MAGIC + (size_t)n + 1;
    size_t blanks = (NPY_ALIGNMENT - used % NPY_ALIGNMENT) % NPY_ALIGNMENT;
    size_t length = (size_t)n + blanks + 1;
    memset(line + n, ' ', blanks);
    line[length - 1] = '\n';
    const char magic[NPY_MAGIC] = {
        '\x93', 'N', 'U', 'M', 'P', 'Y', 1, '\0', (char)(length), (char)(length >> 8)};
    int code = output_file_write(file, magic, sizeof magic, error);
    return code == 0 ? output_file_write(file, line, length, error) : code;
}

static int write_rows(struct export_task *task, const struct export_side *side,
                      struct output_file *file, struct dpmf_error *error) {
    char shape[64];
    size_t k = task->info.factors;
    snprintf(shape, sizeof shape, "(%llu, %zu)", (unsigned long long)side->n, k);
    int code = write_header(file, shape, error);
    for (uint64_t i = 0; code == 0 && i < side->n; i++) {
        code = output_file_write(file, side->rows + i * side->stride, k * sizeof(float), error);
        if (code == 0) code = export_rows_count(task, 1, error);
    }
    return code;
}

static int write_biases(const struct export_side *side, struct output_file *file,
                        struct dpmf_error *error) {
    char shape[64];
    snprintf(shape, sizeof shape, "(%llu,)", (unsigned long long)side->n);
    int code = write_header(file, shape, error);
    for (uint64_t at = 0, n; code == 0 && at < side->n; at += n) {
        n = side->n - at < 1 << 16 ? side->n - at : 1 << 16;
        code = output_file_write(file, side->biases + at, n * sizeof(float), error);
    }
    return code;
}

/* ---- cosines ------------------------------------------------------------------------------------
 * Indexes of nearest neighbours know cosines or distances, where a score is an inner product. With
 * r = (v, bias) and M the largest |r|, the row (r, sqrt(M^2 - |r|^2)) / M has length 1, and its
 * cosine with (u, 1, 0) is (u.v + bias) / (M |(u, 1)|): the same order of items for every user. */

static double length_squared(const struct export_task *task, const struct export_side *side,
                             uint64_t i) {
    const float *row = side->rows + i * side->stride;
    double sum = (double)side->biases[i] * side->biases[i];
    for (size_t f = 0; f < task->info.factors; f++) sum += (double)row[f] * row[f];
    return sum;
}

/* Numbers of a row, each times `scale`, a piece at a time. */
static int write_scaled(const float *numbers, size_t n, double scale, struct output_file *file,
                        struct dpmf_error *error) {
    float piece[256];
    int code = 0;
    for (size_t at = 0, used; code == 0 && at < n; at += used) {
        used = n - at < 256 ? n - at : 256;
        for (size_t i = 0; i < used; i++) piece[i] = (float)(numbers[at + i] * scale);
        code = output_file_write(file, piece, used * sizeof(float), error);
    }
    return code;
}

/* Items as rows of length 1, and users as (u, 1, 0). */
static int write_cosines(const struct export_task *task, size_t s,
                         struct output_directory *directory, struct dpmf_error *error) {
    static const char *const files[2] = {"item_cosine_vectors.npy", "user_cosine_vectors.npy"};
    const struct export_side *side = &task->side[s];
    const bool is_item = s == 0;
    struct output_file *file = NULL;
    char shape[64];
    size_t k = task->info.factors;
    double longest = 0;
    for (uint64_t i = 0; is_item && i < side->n; i++)
        longest = fmax(longest, length_squared(task, side, i));
    const double scale = is_item && longest > 0 ? 1 / sqrt(longest) : 1;
    snprintf(shape, sizeof shape, "(%llu, %zu)", (unsigned long long)side->n, k + 2);
    int code = output_directory_add(directory, files[s], &file, error);
    if (code == 0) code = write_header(file, shape, error);
    for (uint64_t i = 0; code == 0 && i < side->n; i++) {
        double rest = is_item ? 1 - length_squared(task, side, i) * scale * scale : 0;
        const float last[2] = {is_item ? (float)(side->biases[i] * scale) : 1,
                               (float)sqrt(fmax(rest, 0))};
        code = write_scaled(side->rows + i * side->stride, k, scale, file, error);
        if (code == 0) code = output_file_write(file, last, sizeof last, error);
    }
    return code;
}

static int write_side(struct export_task *task, size_t s, struct output_directory *directory,
                      struct dpmf_error *error) {
    const struct export_side *side = &task->side[s];
    struct output_file *file = NULL;
    int code = output_directory_add(directory, names[s][0], &file, error);
    if (code == 0) code = write_rows(task, side, file, error);
    if (code == 0) code = output_directory_add(directory, names[s][1], &file, error);
    if (code == 0) code = write_biases(side, file, error);
    if (code == 0) code = output_directory_add(directory, names[s][2], &file, error);
    if (code == 0) code = export_ids_write(task, side, file, error);
    if (code == 0 && task->options->cosine) code = write_cosines(task, s, directory, error);
    return code;
}

int export_npy_write(struct export_task *task, struct dpmf_error *error) {
    struct output_directory *directory = NULL;
    int code = export_ids_check(task, error);
    if (code == 0) code = output_directory_open(&directory, task->output, task->mode, error);
    for (size_t s = 0; code == 0 && s <= (size_t)task->has_users; s++)
        code = write_side(task, s, directory, error);
    if (code == 0) code = export_documents_add(task, directory, error);
    if (code < 0) {
        output_directory_abandon(directory);
        return code;
    }
    task->report->bytes_written = output_directory_size(directory);
    return output_directory_commit(directory, error);
}
