/*
 * What all exports of a model share: the rows that are written, who they belong to, what is stated
 * about them, and progress. lib/export turns an open model into files and tables for other tools;
 * see dpmf_model_export in dpmf.h.
 */
#ifndef DPMF_EXPORT_EXPORT_TASK_H
#define DPMF_EXPORT_EXPORT_TASK_H

#include "dpmf.h"
#include "files/output_directory.h"

/* Items, or users. Row i is rows[i * stride] .. + k - 1. */
struct export_side {
    const char *name; /* "item" or "user" */
    uint64_t n;
    const float *rows;
    size_t stride;
    const float *biases;
    const char *(*id)(const struct dpmf_model *model, uint64_t i, size_t *length);
};

struct export_task {
    const struct dpmf_model *model;
    struct dpmf_model_info info;
    const struct dpmf_export_options *options;
    const struct dpmf_run *run;
    const char *output;
    enum dpmf_claim claim;      /* what may be claimed about it */
    enum output_mode mode;      /* private, unless it is a release whose statement holds */
    struct export_side side[2]; /* items, and users where wanted */
    bool has_users;
    uint64_t rows_done, rows_total;
    struct dpmf_export_report *report;
};

/* The forms, a file each. */
int export_npy_write(struct export_task *task, struct dpmf_error *error);
int export_table_write(struct export_task *task, struct dpmf_error *error);
int export_libmf_write(struct export_task *task, struct dpmf_error *error);
int export_sqlite_write(struct export_task *task, struct dpmf_error *error);
int export_pgvector_write(struct export_task *task, struct dpmf_error *error);

/* Whether a file may be written there: what is there already is replaced only where that was asked
 * for, and, unless it is empty, where it is known to be of dpmf's making.
 * @return 0: nothing is there that anyone could miss; 1: the form has to look what it is; or a
 *         negative code */
int export_file_check(const struct export_task *task, const char *path, struct dpmf_error *error);

/* Refuses to replace a file that dpmf did not make. @return DPMF_ERR_IO_WRITE */
int export_file_refuse(const char *path, struct dpmf_error *error);

/* Counts rows, and reports progress from time to time, which may end the export. */
int export_rows_count(struct export_task *task, uint64_t n, struct dpmf_error *error);

/* The title of an item, or NULL. */
const char *export_title(const struct export_task *task, uint64_t item);

/* ---- what is said about the model ------------------------------------------------------------ */

enum export_fact_kind { EXPORT_TEXT, EXPORT_NUMBER, EXPORT_WHOLE, EXPORT_FLAG, EXPORT_NULL };

struct export_fact {
    const char *field;
    enum export_fact_kind kind;
    const char *text; /* terminated by NUL */
    double number;
    int64_t whole; /* whole number; 0 or 1 for a flag */
};

typedef int export_fact_take(void *self, const struct export_fact *fact, struct dpmf_error *error);

/* Kind, sizes, offset, scale, penalties: what predictions need beside the rows. */
int export_facts_visit(const struct export_task *task, export_fact_take *take, void *self,
                       struct dpmf_error *error);

/* Every number, text and flag of a JSON text, each by its path: "releases.0.sigma". */
int export_json_visit(const char *json, export_fact_take *take, void *self,
                      struct dpmf_error *error);

/* The facts as model.json, and beside it the statement or the provenance, word by word. */
int export_documents_add(struct export_task *task, struct output_directory *directory,
                         struct dpmf_error *error);

/* ---- ids ------------------------------------------------------------------------------------- */

/* For what is written a line each: refuses ids with the end of a line in them, before anything is
 * written. */
int export_ids_check(const struct export_task *task, struct dpmf_error *error);

/* Ids of a side that were checked, a line each. */
int export_ids_write(struct export_task *task, const struct export_side *side,
                     struct output_file *file, struct dpmf_error *error);

/* Whether n bytes are UTF-8 without a NUL, which is what databases call text. */
bool export_is_text(const char *bytes, size_t n);

#endif
