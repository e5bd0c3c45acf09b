/*
 * The paper's source of noise: a table of Gaussian numbers, from which a row takes as many as it
 * needs, starting at a random place, all with one random sign. For comparison; what is drawn once
 * is used again and again.
 */
#ifndef DPMF_SAMPLE_NOISE_TABLE_H
#define DPMF_SAMPLE_NOISE_TABLE_H

#include "dpmf.h"
#include "kernels/kernels.h"
#include "random/random.h"

enum { NOISE_TABLE_SIZE = 1 << 18, NOISE_TABLE_LEAST = 1 << 13, NOISE_TABLE_MOST = 1 << 28 };

struct noise_table;

/* "exact", NULL: *size is 0; "table", "table:SIZE". @return 0 or DPMF_ERR_USAGE_VALUE */
int noise_table_parse(const char *text, size_t *size, struct dpmf_error *error);

/* The bytes that the table of a `noise` setting takes; 0 where there is none or the setting is
 * invalid. */
uint64_t noise_table_bytes(const char *text);

int noise_table_init(struct noise_table **table, size_t size, bool signs,
                     const struct kernel_set *kernels, uint64_t seed, struct dpmf_error *error);
void noise_table_free(struct noise_table *table); /* NULL is fine */

/* As kernel_set's diffuse, with numbers of the table; the stream says from where, and with which
 * sign. */
void noise_table_diffuse(const struct noise_table *table, const struct noise_rows *rows,
                         struct random_stream *random);

#endif
