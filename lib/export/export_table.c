/*
 * A model as CSV: a row for each item (and each user, where asked for), with the id, the title
 * where there is one, the bias and the vector, every number in the shortest text that reads back as
 * the same bits. Fed by an open model; read by everything.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/error.h"
#include "base/number.h"
#include "dpmf_text.h"
#include "export/export_task.h"

static const char *const names[2] = {"items.csv", "users.csv"};

static bool put(struct byte_buffer *row, const void *bytes, size_t n) {
    uint8_t *at = byte_buffer_room(row, n);
    if (!at) return false;
    if (n > 0) memcpy(at, bytes, n);
    row->n += n;
    return true;
}

/* What a reader of CSV would not give back as it is: separators, quotes, ends of lines and other
 * control bytes; blanks at either end; a byte order mark; and an empty text, which would be a
 * missing one. */
static bool needs_quotes(const char *text, size_t n) {
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == ',' || c == '"' || c < ' ' || c == 0x7f) return true;
    }
    if (n == 0 || text[0] == ' ' || text[n - 1] == ' ') return true;
    return n >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0;
}

static bool put_text(struct byte_buffer *row, const char *text, size_t n) {
    if (!needs_quotes(text, n)) return put(row, text, n);
    bool fits = put(row, "\"", 1);
    for (size_t i = 0; fits && i < n; i++) {
        if (text[i] == '"') fits = put(row, "\"", 1);
        if (fits) fits = put(row, text + i, 1);
    }
    return fits && put(row, "\"", 1);
}

static bool put_number(struct byte_buffer *row, float value) {
    uint8_t *at = byte_buffer_room(row, DPMF_DOUBLE_TEXT_MAX + 1);
    if (!at) return false;
    at[0] = ',';
    row->n += 1 + number_format_float(value, (char *)at + 1);
    return true;
}

static bool put_header(const struct export_task *task, size_t s, struct byte_buffer *row) {
    char number[DPMF_DOUBLE_TEXT_MAX];
    bool fits = put(row, task->side[s].name, 4);
    if (s == 0 && task->options->titles) fits = fits && put(row, ",title", 6);
    fits = fits && put(row, ",bias", 5);
    for (uint32_t c = 1; fits && c <= task->info.factors; c++)
        fits = put(row, ",v", 2) && put(row, number, number_format_int64(c, number));
    return fits && put(row, "\n", 1);
}

static bool put_row(const struct export_task *task, size_t s, uint64_t i, struct byte_buffer *row) {
    const struct export_side *side = &task->side[s];
    const float *vector = side->rows + i * side->stride;
    size_t length;
    const char *id = side->id(task->model, i, &length);
    bool fits = put_text(row, id, length);
    if (s == 0 && task->options->titles) {
        const char *title = export_title(task, i);
        fits = fits && put(row, ",", 1) && (!title || put_text(row, title, strlen(title)));
    }
    fits = fits && put_number(row, side->biases[i]);
    for (uint32_t c = 0; fits && c < task->info.factors; c++) fits = put_number(row, vector[c]);
    return fits && put(row, "\n", 1);
}

static int write_side(struct export_task *task, size_t s, struct output_directory *directory,
                      struct byte_buffer *row, struct dpmf_error *error) {
    struct output_file *file = NULL;
    int code = output_directory_add(directory, names[s], &file, error);
    row->n = 0;
    if (code == 0 && !put_header(task, s, row)) code = error_no_memory(error);
    if (code == 0) code = output_file_write(file, row->bytes, row->n, error);
    for (uint64_t i = 0; code == 0 && i < task->side[s].n; i++) {
        row->n = 0;
        if (!put_row(task, s, i, row)) return error_no_memory(error);
        code = output_file_write(file, row->bytes, row->n, error);
        if (code == 0) code = export_rows_count(task, 1, error);
    }
    return code;
}

int export_table_write(struct export_task *task, struct dpmf_error *error) {
    struct output_directory *directory = NULL;
    struct byte_buffer row = {0};
    int code = output_directory_open(&directory, task->output, task->mode, error);
    for (size_t s = 0; code == 0 && s <= (size_t)task->has_users; s++)
        code = write_side(task, s, directory, &row, error);
    if (code == 0) code = export_documents_add(task, directory, error);
    free(row.bytes);
    if (code < 0) {
        output_directory_abandon(directory);
        return code;
    }
    task->report->bytes_written = output_directory_size(directory);
    return output_directory_commit(directory, error);
}
