/*
 * What all tables share: their fields, and the counts of who still needs them. Fed by the readers
 * of this folder; feeds arrow_source.c.
 */
#include "arrow/arrow_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

void arrow_table_begin(struct arrow_table *table, const struct arrow_table_ops *ops,
                       const char *format) {
    table->ops = ops;
    table->format = format;
    for (int i = 0; i < ARROW_CHOSEN; i++) table->chosen[i] = ARROW_NONE;
    atomic_init(&table->references, 1);
}

int arrow_table_add_field(struct arrow_table *table, const char *name, size_t length,
                          struct arrow_type type, struct arrow_type indices,
                          struct dpmf_error *error) {
    if (table->n_fields == ARROW_FIELDS_MAX)
        return arrow_table_refuse(table, "the table has more than 65,536 columns", error);
    if (!memory_reserve(&table->fields, &table->field_capacity, table->n_fields + 1,
                        sizeof table->fields[0]))
        return error_no_memory(error);
    char *copy = memory_alloc(length + 1, 1);
    if (!copy) return error_no_memory(error);
    if (length > 0) memcpy(copy, name, length);
    copy[length] = '\0';
    table->fields[table->n_fields++] = (struct arrow_field){copy, type, indices};
    return 0;
}

void arrow_table_end(struct arrow_table *table) {
    for (size_t i = 0; i < table->n_fields; i++) free(table->fields[i].name);
    free(table->fields);
    free(table->name);
}

int arrow_table_refuse(const struct arrow_table *table, const char *why, struct dpmf_error *error) {
    error_set(error, DPMF_ERR_INPUT_ARROW, "%s", why);
    error_place(error, table->name, 0, 0);
    return DPMF_ERR_INPUT_ARROW;
}

void *arrow_batch_new(struct arrow_table *table, size_t size,
                      void (*free_batch)(struct arrow_batch *batch)) {
    struct arrow_batch *batch = memory_alloc_zero(1, size);
    if (!batch) return NULL;
    batch->free = free_batch;
    batch->table = table;
    atomic_fetch_add_explicit(&table->references, 1, memory_order_relaxed);
    atomic_init(&batch->references, 1);
    return batch;
}

void arrow_table_release(struct arrow_table *table) {
    if (table && atomic_fetch_sub_explicit(&table->references, 1, memory_order_acq_rel) == 1)
        table->ops->close(table);
}

void arrow_batch_release(struct arrow_batch *batch) {
    if (!batch || atomic_fetch_sub_explicit(&batch->references, 1, memory_order_acq_rel) != 1)
        return;
    struct arrow_table *table = batch->table;
    batch->free(batch);
    arrow_table_release(table);
}
