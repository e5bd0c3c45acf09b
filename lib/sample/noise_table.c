/*
 * The lookup table of noise_table.h. Without the signs the segments of a small table would add up:
 * a row that gets the same numbers twice has twice as much in that direction, and its variance
 * grows with the square of the times. With them the sum of what a row gets has the right variance
 * whatever the size of the table, and is uncorrelated from injection to injection.
 */
#include "sample/noise_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"

enum { PURPOSE = 0x7ab1e };

struct noise_table {
    size_t size;
    bool signs;
    float *numbers; /* size of them, and KERNEL_K_MAX more, the first ones again */
};

int noise_table_parse(const char *text, size_t *size, struct dpmf_error *error) {
    static const char prefix[] = "table:";
    const size_t length = sizeof prefix - 1;
    int64_t wanted = NOISE_TABLE_SIZE;
    *size = 0;
    if (!text || strcmp(text, "exact") == 0) return 0;
    bool sized = strncmp(text, prefix, length) == 0;
    bool good = sized
                    ? number_parse_int64(text + length, strlen(text + length), &wanted) == NUMBER_OK
                    : strcmp(text, "table") == 0;
    int code = 0;
    if (!good)
        code = error_set(error, DPMF_ERR_USAGE_VALUE,
                         "the noise must be exact, table or table:SIZE, not \"%s\"", text);
    else if (wanted < NOISE_TABLE_LEAST || wanted > NOISE_TABLE_MOST)
        code = error_set(error, DPMF_ERR_USAGE_VALUE, "a table of noise has %d to %d numbers",
                         NOISE_TABLE_LEAST, NOISE_TABLE_MOST);
    else
        *size = (size_t)wanted;
    if (code < 0)
        error_hint(error, "for example: {noise table:%d}, or leave it out for exact noise",
                   NOISE_TABLE_SIZE);
    return code;
}

uint64_t noise_table_bytes(const char *text) {
    size_t size;
    if (noise_table_parse(text, &size, NULL) < 0 || size == 0) return 0;
    return ((uint64_t)size + KERNEL_K_MAX) * sizeof(float);
}

/* So that their squares have mean 1 exactly: what is drawn from them has the right variance
 * then. */
static void scale_to_one(float *numbers, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += (double)numbers[i] * (double)numbers[i];
    const float scale = (float)sqrt((double)n / sum);
    for (size_t i = 0; i < n; i++) numbers[i] *= scale;
}

int noise_table_init(struct noise_table **out, size_t size, bool signs,
                     const struct kernel_set *kernels, uint64_t seed, struct dpmf_error *error) {
    const struct noise_key key = {.seed = seed, .purpose = PURPOSE};
    struct noise_stream stream;
    size_t made = (size + NOISE_BLOCK - 1) / NOISE_BLOCK * NOISE_BLOCK;
    struct noise_table *table = memory_alloc_zero(1, sizeof *table);
    *out = NULL;
    if (table) table->numbers = memory_alloc(made + KERNEL_K_MAX, sizeof table->numbers[0]);
    if (!table || !table->numbers) {
        noise_table_free(table);
        return error_no_memory(error);
    }
    noise_stream_init(&stream, &key);
    kernels->fill(table->numbers, made, &stream);
    scale_to_one(table->numbers, size);
    table->size = size;
    table->signs = signs;
    memcpy(table->numbers + size, table->numbers, KERNEL_K_MAX * sizeof table->numbers[0]);
    *out = table;
    return 0;
}

void noise_table_free(struct noise_table *table) {
    if (!table) return;
    free(table->numbers);
    free(table);
}

/* One column of precision p: the Ornstein-Uhlenbeck step of kernels/noise.h. */
static float diffused(float x, float p, float time, float noise) {
    float z = p * time;
    return x * expf(-z / 2) + noise * sqrtf(z > 0 ? -expm1f(-z) / p : time);
}

static void diffuse_row(const struct noise_rows *rows, float *row, float time, const float *numbers,
                        float sign) {
    const float root = sign * sqrtf(time);
    if (rows->precision_max * time > 0.015625f) {
        for (size_t x = 0; x < rows->k; x++)
            row[x] = diffused(row[x], rows->precision[x], time, sign * numbers[x]);
        return;
    }
    for (size_t x = 0; x < rows->k; x++) { /* the same by series */
        float z = rows->precision[x] * time;
        row[x] = row[x] * (1 - z * (0.5f - z * 0.125f)) +
                 root * numbers[x] * (1 - z * (0.25f - z * 0.0520833333f));
    }
}

void noise_table_diffuse(const struct noise_table *table, const struct noise_rows *rows,
                         struct random_stream *random) {
    for (size_t i = 0; i < rows->n; i++) {
        uint32_t where = random_u32(random), sign = random_u32(random);
        size_t at = (size_t)((uint64_t)where * table->size >> 32);
        diffuse_row(rows, rows->rows + (size_t)rows->which[i] * rows->stride, rows->time[i],
                    table->numbers + at, !table->signs || sign & 1 ? 1.0f : -1.0f);
    }
}
