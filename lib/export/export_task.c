/*
 * dpmf_model_export: decides whether a model may be exported, what of it, and who may read the
 * result; the forms themselves are in the other files of this folder. Fed by an open model, its
 * verified statement and a table of titles; feeds `dpmf export`.
 */
#include "export/export_task.h"

#include <string.h>
#include <sys/stat.h>

#include "base/arguments.h"
#include "base/error.h"
#include "base/utf8.h"

enum { ROWS_BETWEEN_REPORTS = 1024 };

/* ---- may it be ------------------------------------------------------------------------------- */

/* Whether it is the statement of this model: what is read twice must be the same. */
static bool is_of(const struct dpmf_statement *statement, const struct dpmf_model_info *info) {
    return statement && statement->recorded && info->statement &&
           strcmp(statement->recorded, info->statement) == 0;
}

/* Why the rows could say much about someone; NULL when something is promised, which is then said
 * with its kind. */
static const char *exposure_of(const struct dpmf_model_info *info,
                               const struct dpmf_statement *statement) {
    if (strcmp(info->kind, "release") != 0)
        return "it is a checkpoint: its vectors reveal much about the people it was trained on";
    if (!is_of(statement, info)) return "its privacy statement does not hold";
    if (statement->claim != DPMF_CLAIM_NOT_PRIVATE) return NULL;
    return statement->is_insecure
               ? "it is stamped NOT PRIVATE: its noise was made from a seed"
               : "it is stamped NOT PRIVATE: private figures were shown with {research}";
}

static int check_privacy(struct export_task *task, const struct dpmf_statement *statement,
                         struct dpmf_error *error) {
    const char *exposure = exposure_of(&task->info, statement);
    task->mode = exposure ? OUTPUT_PRIVATE : OUTPUT_PUBLIC;
    task->report->is_private = exposure == NULL;
    task->claim = exposure ? DPMF_CLAIM_NOT_PRIVATE : statement->claim;
    if (is_of(statement, &task->info)) task->info.statement = statement->json;
    if (exposure && !task->options->not_private) {
        error_set_text(error, DPMF_ERR_PRIVACY_REFUSED, exposure);
        error_hint(error, "{not-private} confirms that you know; to publish vectors, make a "
                          "release: "
                          "train with {epsilon}");
        return DPMF_ERR_PRIVACY_REFUSED;
    }
    if (!exposure && task->options->not_private) {
        error_set(error, DPMF_ERR_USAGE_CONFLICT, "{not-private} is not true of this release");
        error_hint(error, "leave it out");
        return DPMF_ERR_USAGE_CONFLICT;
    }
    return 0;
}

/* ---- what is written ------------------------------------------------------------------------- */

static int set_sides(struct export_task *task, struct dpmf_error *error) {
    const struct dpmf_model *model = task->model;
    struct export_side *items = &task->side[0], *users = &task->side[1];
    *items = (struct export_side){.name = "item", .n = task->info.items, .id = dpmf_model_item_id};
    items->rows = dpmf_model_item_factors(model, &items->stride);
    items->biases = dpmf_model_item_biases(model);
    task->rows_total = items->n;
    if (!task->options->users) return 0;
    if (task->info.users == 0) {
        error_set(error, DPMF_ERR_USAGE_CONFLICT, "there are no users in it to export");
        error_hint(error, "leave out {users}: a release is about items alone");
        return DPMF_ERR_USAGE_CONFLICT;
    }
    *users = (struct export_side){.name = "user", .n = task->info.users, .id = dpmf_model_user_id};
    users->rows = dpmf_model_user_factors(model, &users->stride);
    users->biases = dpmf_model_user_biases(model);
    task->has_users = true;
    task->rows_total += users->n;
    return 0;
}

const char *export_title(const struct export_task *task, uint64_t item) {
    return task->options->titles ? task->options->titles[item] : NULL;
}

int export_rows_count(struct export_task *task, uint64_t n, struct dpmf_error *error) {
    uint64_t before = task->rows_done;
    task->rows_done += n;
    bool is_time = before / ROWS_BETWEEN_REPORTS != task->rows_done / ROWS_BETWEEN_REPORTS ||
                   task->rows_done >= task->rows_total;
    if (!task->run || !task->run->progress || !is_time) return 0;
    struct dpmf_progress progress = {
        .phase = "writing", .unit = "rows", .done = task->rows_done, .total = task->rows_total};
    if (task->run->progress(task->run->progress_self, &progress) == 0) return 0;
    return error_set(error, DPMF_ERR_BASE_CANCELLED, "interrupted");
}

/* ---- ids ------------------------------------------------------------------------------------- */

bool export_is_text(const char *bytes, size_t n) {
    for (size_t i = 0, step; i < n; i += step) {
        step = utf8_sequence(bytes + i, n - i);
        if (step == 0 || bytes[i] == '\0') return false;
    }
    return true;
}

static int check_lines(const struct export_task *task, const struct export_side *side,
                       struct dpmf_error *error) {
    for (uint64_t i = 0; i < side->n; i++) {
        size_t length;
        const char *id = side->id(task->model, i, &length);
        if (!memchr(id, '\n', length) && !memchr(id, '\r', length)) continue;
        error_set(error, DPMF_ERR_INPUT_ID,
                  "the id of %s %llu contains a line break, and ids are written one per line",
                  side->name, (unsigned long long)i);
        error_hint(error, "{csv} and {sqlite} can hold it");
        return DPMF_ERR_INPUT_ID;
    }
    return 0;
}

int export_ids_check(const struct export_task *task, struct dpmf_error *error) {
    int code = check_lines(task, &task->side[0], error);
    return code == 0 && task->has_users ? check_lines(task, &task->side[1], error) : code;
}

int export_ids_write(struct export_task *task, const struct export_side *side,
                     struct output_file *file, struct dpmf_error *error) {
    int code = 0;
    for (uint64_t i = 0; code == 0 && i < side->n; i++) {
        size_t length;
        const char *id = side->id(task->model, i, &length);
        code = output_file_write(file, id, length, error);
        if (code == 0) code = output_file_write(file, "\n", 1, error);
    }
    return code;
}

/* ---- public ---------------------------------------------------------------------------------- */

void dpmf_export_options_init(struct dpmf_export_options *options, size_t size) {
    const struct dpmf_export_options made = {.size = sizeof made, .form = DPMF_EXPORT_NPY};
    options_give(options, size, &made, sizeof made);
}

int export_file_check(const struct export_task *task, const char *path, struct dpmf_error *error) {
    struct stat status;
    if (lstat(path, &status) != 0) return 0;
    if (task->options
            /* a link that leads nowhere is no loss, and what is no file is refused later */
            ->replace)
        return stat(path, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
    error_set(error, DPMF_ERR_IO_WRITE, "it exists already");
    error_hint(error, "{replace} replaces what dpmf made; or name another file");
    error_place(error, path, 0, 0);
    return DPMF_ERR_IO_WRITE;
}

int export_file_refuse(const char *path, struct dpmf_error *error) {
    error_set(error, DPMF_ERR_IO_WRITE, "it was not made by dpmf");
    error_hint(error,
               "{replace} replaces only an export that nobody has added to; name another file, or "
               "remove this one");
    error_place(error, path, 0, 0);
    return DPMF_ERR_IO_WRITE;
}

int dpmf_model_export(const struct dpmf_model *model, const struct dpmf_statement *statement,
                      const char *output, const struct dpmf_export_options *options,
                      const struct dpmf_run *run, struct dpmf_export_report *report,
                      struct dpmf_error *error) {
    static int (*const forms[])(struct export_task *, struct dpmf_error *) = {
        [DPMF_EXPORT_NPY] = export_npy_write,
        [DPMF_EXPORT_CSV] = export_table_write,
        [DPMF_EXPORT_LIBMF] = export_libmf_write,
        [DPMF_EXPORT_SQLITE] = export_sqlite_write,
        [DPMF_EXPORT_PGVECTOR] = export_pgvector_write};
    struct dpmf_export_report unwanted;
    struct dpmf_export_options own = dpmf_export_options_default();
    struct dpmf_run own_run;
    int code = arguments_check(error, "model output", model, output);
    if (code == 0) code = options_take(&own, sizeof own, options, "export_options", error);
    if (code == 0) code = run_take(&own_run, run, error);
    if (code < 0) return code;
    options = &own, run = &own_run;
    struct export_task task = {.model = model,
                               .options = options,
                               .run = run,
                               .output = output,
                               .report = report ? report : &unwanted};
    *task.report = (struct dpmf_export_report){0};
    dpmf_model_info(model, &task.info);
    if (options->cosine && options->form != DPMF_EXPORT_NPY)
        return error_set(error, DPMF_ERR_USAGE_CONFLICT, "{cosine} is for NumPy files alone");
    if ((size_t)options->form >= sizeof forms / sizeof forms[0])
        return error_set(error, DPMF_ERR_USAGE_VALUE, "there is no such form of export");
    code = check_privacy(&task, statement, error);
    if (code == 0) code = set_sides(&task, error);
    if (code == 0) code = forms[options->form](&task, error);
    if (code == 0) {
        task.report->items = task.side[0].n;
        task.report->users = task.has_users ? task.side[1].n : 0;
    }
    return code;
}
