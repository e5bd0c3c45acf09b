/*
 * Makes events of ratings, in two passes over a store of them: one counts the events of each item,
 * which gives the new store its dictionary; one writes it, with users packed into full blocks
 * again. A pair's last rating has won by then, so what is liked is what the person thought last.
 * Fed by a store of ratings; feeds a store of events.
 */
#include "ratings/likes.h"

#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "dpmf_text.h"
#include "store/block_packer.h"
#include "store/store.h"

#define NOT_LIKED UINT32_MAX

struct likes {
    const struct dpmf_store *ratings;
    double least;
    bool has_times;
    const struct dpmf_run *run;
    uint64_t *item_events;
    uint32_t *new_number; /* an item's new number, or NOT_LIKED */
    uint64_t n_items, n_events;
    struct store_writer *writer;
    struct block_packer packer;
    struct block_arrays part;
};

static void count_block(struct likes *likes, const struct store_block *block) {
    for (uint64_t r = 0; r < block->n_ratings; r++) {
        const bool is_event = block->value[r] >= likes->least;
        likes->item_events[block->item[r]] += is_event;
        likes->n_events += is_event;
    }
}

/* The user's events; nothing when there are none. @return false without memory */
static bool take_user(struct likes *likes, const struct store_block *block, uint32_t u) {
    struct block_arrays *part = &likes->part;
    const uint64_t from = block->start[u], end = block->start[u + 1];
    const size_t id_length = (size_t)(block->id_start[u + 1] - block->id_start[u]);
    uint64_t n = 0;
    if (!block_arrays_room(part, end - from, id_length, likes->has_times)) return false;
    for (uint64_t r = from; r < end; r++) {
        if (block->value[r] < likes->least) continue;
        const uint64_t at = part->n_ratings + n++;
        part->item[at] = likes->new_number[block->item[r]];
        part->value[at] = 1;
        if (likes->has_times) part->time[at] = block->time[r];
    }
    if (n > 0) block_arrays_end_user(part, n, block->id_bytes + block->id_start[u], id_length);
    return true;
}

static int write_block(struct likes *likes, const struct store_block *block,
                       struct dpmf_error *error) {
    block_arrays_clear(&likes->part);
    for (uint32_t u = 0; u < block->n_users; u++)
        if (!take_user(likes, block, u)) return error_no_memory(error);
    const struct store_block events = block_arrays_view(&likes->part, 0);
    return block_packer_add(&likes->packer, &events, error);
}

/* By one thread in the order of blocks: what is done with a rating costs less than decoding it. */
static int pass(struct likes *likes, bool writes, struct dpmf_error *error) {
    const struct dpmf_store *store = likes->ratings;
    struct store_scan scan = {.store = store,
                              .want = STORE_WANT_VALUE | STORE_WANT_TIME | STORE_WANT_IDS};
    struct store_block block;
    int code = 0;
    while (store_scan_next(&scan, &block, &code, error)) {
        if (writes)
            code = write_block(likes, &block, error);
        else
            count_block(likes, &block);
        const struct dpmf_progress progress = {.phase = "choosing",
                                               .unit = "blocks",
                                               .done = scan.next,
                                               .total = store_n_blocks(store)};
        if (code == 0 && likes->run && likes->run->progress &&
            likes->run->progress(likes->run->progress_self, &progress))
            code = error_set(error, DPMF_ERR_BASE_CANCELLED, "interrupted");
    }
    store_scan_free(&scan);
    return code;
}

static int refuse_none(const struct likes *likes, struct dpmf_error *error) {
    struct dpmf_store_info info;
    char least[DPMF_DOUBLE_TEXT_MAX], most[DPMF_DOUBLE_TEXT_MAX];
    dpmf_store_info(likes->ratings, &info);
    dpmf_format_double(likes->least, least);
    dpmf_format_double(info.max, most);
    error_set(error, DPMF_ERR_RATINGS_NONE_LEFT, "no rating is %s or more", least);
    error_hint(error, "the largest is %s", most);
    error_place(error, store_path(likes->ratings), 0, 0);
    return DPMF_ERR_RATINGS_NONE_LEFT;
}

static int count(struct likes *likes, struct dpmf_error *error) {
    const size_t n = (size_t)store_n_items(likes->ratings);
    likes->item_events = memory_alloc_zero(n + 1, sizeof likes->item_events[0]);
    likes->new_number = memory_alloc(n + 1, sizeof likes->new_number[0]);
    if (!likes->item_events || !likes->new_number) return error_no_memory(error);
    int code = pass(likes, false, error);
    /* Where each record stands by itself, none decides whether there is a store. */
    if (code == 0 && likes->n_events == 0 &&
        !store_layout_is_by_record(store_layout_of(likes->ratings)))
        return refuse_none(likes, error);
    for (size_t i = 0; i < n; i++)
        likes->new_number[i] = likes->item_events[i] > 0 ? (uint32_t)likes->n_items++ : NOT_LIKED;
    return code;
}

static int finish(struct likes *likes, struct dpmf_error *error) {
    int code = block_packer_flush(&likes->packer, error);
    if (code < 0) return code;
    struct store_item *items = memory_alloc((size_t)likes->n_items, sizeof *items);
    if (!items) return error_no_memory(error);
    size_t n = 0;
    for (uint64_t i = 0; i < store_n_items(likes->ratings); i++) {
        if (likes->new_number[i] == NOT_LIKED) continue;
        items[n] = store_item_at(likes->ratings, i);
        items[n++].n_ratings = likes->item_events[i];
    }
    code = store_writer_finish(likes->writer, items, n, error);
    free(items);
    return code;
}

int likes_make(const struct dpmf_store *ratings, double like, const char *output, const char *name,
               const struct dpmf_run *run, struct dpmf_import_report *report,
               struct dpmf_store **made, struct dpmf_error *error) {
    struct likes likes = {
        .ratings = ratings, .least = like, .has_times = store_has_times(ratings), .run = run};
    struct store_layout layout = *store_layout_of(ratings);
    layout.holds_events = true;
    layout.liked = isinf(like) ? STORE_LIKED_ANY : STORE_LIKED_FROM;
    layout.like = isinf(like) ? 0 : like;
    int code = count(&likes, error);
    if (code == 0) code = store_writer_open(&likes.writer, output, likes.has_times, &layout, error);
    if (code == 0) {
        block_packer_init(&likes.packer, likes.writer, likes.has_times);
        code = pass(&likes, true, error);
    }
    if (code == 0) code = finish(&likes, error);
    if (code == 0) {
        report->ratings = likes.n_events;
        report->users = likes.packer.n_users;
        report->items = likes.n_items;
        report->not_liked = store_n_ratings(ratings) - likes.n_events;
        report->holds_events = true;
        struct store_writer *writer = likes.writer;
        likes.writer = NULL;
        code = output ? store_writer_commit(writer, &report->bytes_written, error)
                      : store_writer_commit_open(writer, name, made, error);
    }
    store_writer_abandon(likes.writer);
    block_packer_free(&likes.packer);
    block_arrays_free(&likes.part);
    free(likes.item_events);
    free(likes.new_number);
    return code;
}
