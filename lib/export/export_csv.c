/*
 * Writes a store as CSV, such that importing it gives the same ratings to the bit. All threads
 * format blocks into text, which is written in order. What repeats is made once: an item's id with
 * its quotes and commas, a user's id, and the text of each rating's value. Fed by the store.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arguments.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/number.h"
#include "base/pipeline.h"
#include "base/threads.h"
#include "dpmf_text.h"
#include "files/output_file.h"
#include "store/block_packer.h"
#include "store/store.h"

enum {
    SHORT = 16, /* bytes that are copied at once, however few are meant */
    NUMBER_MAX = DPMF_DOUBLE_TEXT_MAX,
    CACHE_BITS = 10,
    PIECE_BYTES = 32 << 20, /* bytes of text at once, from one block */
};

struct value_text {
    uint64_t bits;
    uint8_t length; /* 0: nothing is here yet */
    char text[NUMBER_MAX + SHORT];
};

struct export_worker {
    struct value_text cache[1 << CACHE_BITS];
    struct byte_buffer user; /* the quoted id of the user at hand, and room for SHORT more */
};

/* How far a block has been formatted. */
struct cursor {
    uint32_t user;
    uint64_t rating;
};

/* A block's text. A block of long ids can have gigabytes of it: then it holds the beginning, and a
 * copy of the block for `finish` to continue with. */
struct export_product {
    struct byte_buffer text;
    struct block_arrays rest;
    struct cursor cursor;
    bool has_rest;
};

struct export {
    const struct dpmf_store *store;
    bool has_times;
    struct byte_buffer item_text;  /* ,item, and the next one's, and so on */
    uint64_t *item_start;          /* n_items + 1 */
    struct export_worker *workers; /* the last one is for `finish` */
    int n_workers;

    struct output_file *file; /* or, when it is NULL, */
    int fd;
    uint64_t written;
};

/* ---- quoting --------------------------------------------------------------------------------- */

/* What a reader of CSV would not give back as it is: separators, quotes, ends of lines and other
 * control bytes; blanks at either end, which readers like to cut off; a byte order mark. */
static bool needs_quotes(const char *id, size_t n) {
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)id[i];
        if (c == ',' || c == '"' || c < ' ' || c == 0x7f) return true;
    }
    if (n == 0 || id[0] == ' ' || id[n - 1] == ' ') return true;
    return n >= 3 && memcmp(id, "\xEF\xBB\xBF", 3) == 0;
}

/* Appends the id as a field. @return false without memory */
static bool append_id(struct byte_buffer *buffer, const char *id, size_t n) {
    uint8_t *at = byte_buffer_room(buffer, 2 * n + 2);
    if (!at) return false;
    const uint8_t *begin = at;
    if (!needs_quotes(id, n)) {
        if (n > 0) memcpy(at, id, n);
        buffer->n += n;
        return true;
    }
    *at++ = '"';
    for (size_t i = 0; i < n; i++) {
        if (id[i] == '"') *at++ = '"';
        *at++ = (uint8_t)id[i];
    }
    *at++ = '"';
    buffer->n += (size_t)(at - begin);
    return true;
}

static bool append_byte(struct byte_buffer *buffer, char c) {
    uint8_t *at = byte_buffer_room(buffer, 1);
    if (!at) return false;
    *at = (uint8_t)c;
    buffer->n++;
    return true;
}

/* Room after the end that may be read, so that short texts can be copied whole. */
static bool append_slack(struct byte_buffer *buffer) {
    uint8_t *at = byte_buffer_room(buffer, SHORT);
    if (at) memset(at, 0, SHORT);
    return at != NULL;
}

static int make_item_texts(struct export *export, struct dpmf_error *error) {
    uint64_t n = store_n_items(export->store);
    export->item_start = memory_alloc(n + 1, sizeof *export->item_start);
    if (!export->item_start) return error_no_memory(error);
    for (uint64_t j = 0; j < n; j++) {
        struct store_item item = store_item_at(export->store, j);
        export->item_start[j] = export->item_text.n;
        if (!append_byte(&export->item_text, ',') ||
            !append_id(&export->item_text, item.id, item.id_length) ||
            !append_byte(&export->item_text, ','))
            return error_no_memory(error);
    }
    export->item_start[n] = export->item_text.n;
    return append_slack(&export->item_text) ? 0 : error_no_memory(error);
}

/* ---- formatting ------------------------------------------------------------------------------ */

/* SHORT bytes may be written past the end, and read past the end of `text`. */
static inline uint8_t *put(uint8_t *at, const void *text, size_t n) {
    if (n <= SHORT)
        memcpy(at, text, SHORT);
    else
        memcpy(at, text, n);
    return at + n;
}

static const struct value_text *text_of_value(struct export_worker *worker, double value) {
    uint64_t bits = bytes_of_double(value);
    size_t slot = (size_t)((bits * UINT64_C(0x9E3779B97F4A7C15)) >> (64 - CACHE_BITS));
    struct value_text *text = &worker->cache[slot];
    if (text->bits != bits || text->length == 0) {
        text->bits = bits;
        text->length = (uint8_t)number_format_double(value, text->text);
    }
    return text;
}

/* Formats ratings of one user until they end or the text is long enough; the cursor says where. */
static bool format_user(const struct export *export, struct export_worker *worker,
                        const struct store_block *block, struct cursor *cursor,
                        struct byte_buffer *out) {
    uint64_t end = block->start[cursor->user + 1];
    const struct byte_buffer *user = &worker->user;
    for (uint64_t r = cursor->rating; r < end; cursor->rating = ++r) {
        if (out->n >= PIECE_BYTES) return true;
        const uint64_t *item = export->item_start + block->item[r];
        size_t item_length = (size_t)(item[1] - item[0]);
        uint8_t *begin = byte_buffer_room(out, user->n + item_length + 2 * NUMBER_MAX + 2 + SHORT);
        if (!begin) return false;
        uint8_t *at = put(begin, user->bytes, user->n);
        at = put(at, export->item_text.bytes + item[0], item_length);
        const struct value_text *value = text_of_value(worker, block->value[r]);
        at = put(at, value->text, value->length);
        if (export->has_times) {
            *at++ = ',';
            if (block->time && block->time[r] != STORE_NO_TIME)
                at += number_format_int64(block->time[r], (char *)at);
        }
        *at++ = '\n';
        out->n += (size_t)(at - begin);
    }
    cursor->user++;
    return true;
}

/* Formats on until the block ends or the text is long enough. @return false without memory */
static bool format_block(const struct export *export, struct export_worker *worker,
                         const struct store_block *block, struct cursor *cursor,
                         struct byte_buffer *out) {
    out->n = 0;
    while (cursor->user < block->n_users && out->n < PIECE_BYTES) {
        uint64_t from = block->id_start[cursor->user];
        worker->user.n = 0;
        if (!append_id(&worker->user, block->id_bytes + from,
                       (size_t)(block->id_start[cursor->user + 1] - from)) ||
            !append_slack(&worker->user) || !format_user(export, worker, block, cursor, out))
            return false;
    }
    return true;
}

static int visit_block(void *self, int worker, const struct store_block *block,
                       void *product_object, struct dpmf_error *error) {
    struct export *export = self;
    struct export_product *product = product_object;
    product->cursor = (struct cursor){0, 0};
    if (!format_block(export, &export->workers[worker], block, &product->cursor, &product->text))
        return error_no_memory(error);
    product->has_rest = product->cursor.user < block->n_users;
    block_arrays_clear(&product->rest);
    for (uint32_t i = 0; product->has_rest && i < block->n_users; i++)
        if (!block_arrays_add(&product->rest, block, i, export->has_times))
            return error_no_memory(error);
    return 0;
}

/* ---- writing --------------------------------------------------------------------------------- */

static int write_text(struct export *export, const void *text, size_t n, struct dpmf_error *error) {
    export->written += n;
    if (export->file) return output_file_write(export->file, text, n, error);
    return file_write_all(export->fd, text, n, "<output>", error);
}

static int finish_block(void *self, void *product_object, struct dpmf_error *error) {
    struct export *export = self;
    struct export_product *product = product_object;
    int code = write_text(export, product->text.bytes, product->text.n, error);
    if (!product->has_rest) return code;
    struct store_block block = block_arrays_view(&product->rest, 0);
    while (code == 0 && product->cursor.user < block.n_users) {
        if (!format_block(export, &export->workers[export->n_workers - 1], &block, &product->cursor,
                          &product->text))
            return error_no_memory(error);
        code = write_text(export, product->text.bytes, product->text.n, error);
    }
    return code;
}

static int write_all(struct export *export, const struct dpmf_run *run, struct dpmf_error *error) {
    static const char *const header[2][2] = {
        {"user,item,rating\n", "user,item,rating,timestamp\n"},
        {"user,item,count\n", "user,item,count,timestamp\n"},
    };
    const char *head = header[store_holds_events(export->store)][export->has_times];
    int code = write_text(export, head, strlen(head), error);
    if (code != 0) return code;
    size_t n = store_visit_products(export->store, run);
    struct export_product *product = memory_alloc_zero(n, sizeof *product);
    void **products = memory_alloc(n, sizeof *products);
    code = product && products ? 0 : error_no_memory(error);
    if (code == 0) {
        for (size_t i = 0; i < n; i++) products[i] = &product[i];
        struct store_visitor visitor = {
            .phase = "writing",
            .want = STORE_WANT_VALUE | STORE_WANT_TIME | STORE_WANT_IDS,
            .visit = visit_block,
            .finish = finish_block,
            .self = export,
            .products = products,
            .n_products = n,
        };
        code = store_visit(export->store, &visitor, run, error);
    }
    for (size_t i = 0; product && i < n; i++) {
        free(product[i].text.bytes);
        block_arrays_free(&product[i].rest);
    }
    free(product);
    free(products);
    return code;
}

int dpmf_store_export_csv(struct dpmf_store *store, const char *path, int fd,
                          const struct dpmf_run *run, uint64_t *bytes_written,
                          struct dpmf_error *error) {
    struct dpmf_error unwanted;
    if (!error) error = &unwanted;
    struct dpmf_run own_run;
    int code = arguments_check(error, "store", store);
    if (code == 0) code = run_take(&own_run, run, error);
    if (code < 0) return code;
    run = &own_run;
    struct export export = {.store = store, .fd = fd, .has_times = store_has_times(store)};
    export.n_workers = pipeline_workers(threads_wanted(run)) + 1;
    export.workers = memory_alloc_zero((size_t) export.n_workers, sizeof *export.workers);
    code = export.workers ? 0 : error_no_memory(error);
    if (code == 0 && path) code = output_file_check(path, DPMF_FILE_NONE, run->replace, error);
    if (code == 0) code = make_item_texts(&export, error);
    if (code == 0 && path) code = output_file_open(&export.file, path, OUTPUT_PRIVATE, error);
    if (code == 0) code = write_all(&export, run, error);
    if (code == 0 && export.file) {
        code = output_file_commit(export.file, error);
        export.file = NULL;
    }
    output_file_abandon(export.file);
    if (code == 0 && bytes_written) *bytes_written = export.written;
    for (int w = 0; export.workers && w < export.n_workers; w++) free(export.workers[w].user.bytes);
    free(export.workers);
    free(export.item_text.bytes);
    free(export.item_start);
    return code;
}
