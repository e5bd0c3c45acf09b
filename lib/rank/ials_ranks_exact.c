/*
 * Exact items of ials_ranks.h, a piece of them at a time, so that the sums of a piece fit in
 * memory: of each block of columns the equations are summed here, reduced to the items' owners,
 * solved, and the moves gathered. Each rank takes all moves, and so all ranks have the same items.
 * Fed by ials_ranks.c; works through the parts of a sweep in ials.c.
 */
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"
#include "rank/ials_exact.h"
#include "rank/ials_ranks.h"

enum { PIECE_BYTES = 8 << 20 };

struct piece {
    struct ials *ials;
    const struct dpmf_cluster *cluster;
    struct ials_block block;
    double *penalties;
    size_t *start, *place; /* n_ranks + 1: items of the piece by owner; the same in what is sent */
};

static uint64_t items_of_piece(size_t columns, uint64_t n_items) {
    const uint64_t n = PIECE_BYTES / (ials_exact_size(columns) * sizeof(double)) + 1;
    return n < n_items ? n : n_items;
}

uint64_t ials_ranks_exact_bytes(const struct dpmf_cluster *cluster,
                                const struct kernel_set *kernels, uint32_t k, uint32_t block,
                                uint64_t n_items, uint64_t n_events) {
    if (cluster_size(cluster) == 1) return 0;
    const size_t columns = ials_exact_columns(kernels->padded_k(k), block);
    /* sums and a message of them; moves and penalties are less than that; misses */
    return 3 * items_of_piece(columns, n_items) * ials_exact_size(columns) * sizeof(double) +
           n_events * sizeof(float);
}

static const size_t *places(const struct piece *piece, size_t each) {
    for (int r = 0; r <= cluster_size(piece->cluster); r++)
        piece->place[r] = piece->start[r] * each;
    return piece->place;
}

/* One part of the work, and whether it went well everywhere. */
static int work_together(const struct piece *piece, enum ials_block_part what,
                         struct dpmf_error *error) {
    return cluster_agree(piece->cluster, ials_block_do(piece->ials, &piece->block, what, error),
                         error);
}

static int solve_block(const struct piece *piece, struct dpmf_error *error) {
    const struct ials_block *block = &piece->block;
    int code = work_together(piece, IALS_BLOCK_SUM, error);
    if (code == 0)
        code = cluster_reduce_doubles(piece->cluster, block->sums,
                                      places(piece, ials_exact_size(block->columns)), error);
    if (code == 0) code = work_together(piece, IALS_BLOCK_SOLVE, error);
    if (code == 0)
        code = cluster_all_gather(piece->cluster, block->moves,
                                  places(piece, block->columns * sizeof(float)), error);
    return code < 0 ? code : work_together(piece, IALS_BLOCK_MOVE, error);
}

static int solve_piece(struct piece *piece, const struct ials_totals *totals,
                       struct dpmf_error *error) {
    struct ials_block *block = &piece->block;
    const struct ials_rule *rule = ials_rule(piece->ials);
    const size_t width = ials_width(piece->ials), most = ials_exact_columns(width, rule->block);
    const int rank = cluster_rank(piece->cluster);
    cluster_ranges(piece->cluster, (size_t)block->n, 1, piece->start);
    block->own_first = piece->start[rank];
    block->n_own = piece->start[rank + 1] - piece->start[rank];
    for (uint64_t i = 0; i < block->n; i++)
        piece->penalties[i] =
            ials_penalty(rule, totals->item_events[block->first + i], totals->n_users);
    int code = work_together(piece, IALS_BLOCK_MEASURE, error);
    for (block->at = 0; block->at < width && code == 0; block->at += block->columns) {
        block->columns = width - block->at < most ? width - block->at : most;
        code = solve_block(piece, error);
    }
    return code;
}

/* The most events that the items of one piece have here. */
static uint64_t most_events(const struct event_side *events, uint64_t n_piece) {
    uint64_t most = 0;
    for (uint64_t first = 0; first < events->n; first += n_piece) {
        const uint64_t end = events->n - first < n_piece ? events->n : first + n_piece;
        const uint64_t n = events->start[end] - events->start[first];
        if (n > most) most = n;
    }
    return most;
}

static int make(struct piece *piece, const struct event_side *events, size_t columns,
                uint64_t n_piece, struct dpmf_error *error) {
    const size_t ranks = (size_t)cluster_size(piece->cluster), n = (size_t)n_piece;
    struct ials_block *block = &piece->block;
    piece->start = memory_alloc(ranks + 1, sizeof *piece->start);
    piece->place = memory_alloc(ranks + 1, sizeof *piece->place);
    block->misses = memory_alloc((size_t)most_events(events, n_piece) + 1, sizeof *block->misses);
    block->sums = memory_alloc(n, ials_exact_size(columns) * sizeof *block->sums);
    block->moves = memory_alloc(n, columns * sizeof *block->moves);
    block->penalties = piece->penalties = memory_alloc(n, sizeof *piece->penalties);
    return piece->start && piece->place && block->misses && block->sums && block->moves &&
                   block->penalties
               ? 0
               : error_no_memory(error);
}

int ials_ranks_solve_items(struct ials *ials, const struct event_side *events,
                           const struct ials_totals *totals, const struct dpmf_cluster *cluster,
                           double *squares, struct dpmf_error *error) {
    struct piece piece = {.ials = ials, .cluster = cluster};
    const size_t columns = ials_exact_columns(ials_width(ials), ials_rule(ials)->block);
    const uint64_t n_piece = items_of_piece(columns, events->n);
    int code = cluster_agree(cluster, make(&piece, events, columns, n_piece, error), error);
    for (uint64_t first = 0; first < events->n && code == 0; first += n_piece) {
        piece.block.first = first;
        piece.block.n = events->n - first < n_piece ? events->n - first : n_piece;
        code = solve_piece(&piece, totals, error);
    }
    *squares = code == 0 ? ials_squares(ials) : 0;
    if (code == 0) code = cluster_sum_doubles(cluster, squares, 1, error);
    free(piece.start);
    free(piece.place);
    free(piece.penalties);
    free(piece.block.misses);
    free(piece.block.sums);
    free(piece.block.moves);
    return code;
}
