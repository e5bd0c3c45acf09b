/*
 * The items of gibbs_ranks.h, a piece of them at a time: summed here, reduced to their owners round
 * the ring of ranks, drawn, and gathered. A range's sums are added in the order of ranks from its
 * owner's successor on: the same bits in every run of so many ranks. Fed by gibbs_train.c.
 */
#include "sample/gibbs_ranks.h"

#include <assert.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/memory.h"

enum { PIECE_BYTES = 8 << 20 };

static uint64_t rows_of_piece(size_t k) {
    assert(k > 0);
    uint64_t rows = PIECE_BYTES / (gibbs_sums_size(k) * sizeof(double));
    return rows > 0 ? rows : 1;
}

uint64_t gibbs_ranks_bytes(const struct dpmf_cluster *cluster, size_t k) {
    if (!cluster) return 0;
    return 2 * rows_of_piece(k) * gibbs_sums_size(k) * sizeof(double);
}

struct piece {
    const struct dpmf_cluster *cluster;
    size_t *start; /* first row of each rank's share of the piece, n_ranks + 1 of them */
    size_t *place; /* `start` in doubles or bytes of what is sent */
    double *sums;
    size_t width; /* doubles a row */
};

static const size_t *places(const struct piece *piece, size_t each) {
    for (int r = 0; r <= cluster_size(piece->cluster); r++)
        piece->place[r] = piece->start[r] * each;
    return piece->place;
}

static int gather(const struct piece *piece, void *rows, size_t row_bytes,
                  struct dpmf_error *error) {
    return cluster_all_gather(piece->cluster, rows, places(piece, row_bytes), error);
}

/* The rows are summed by now, each rank's part of them: `first` is the first of the piece. */
static int draw_piece(struct gibbs *gibbs, const struct gibbs_side *side,
                      const struct chain_key *key, const struct piece *piece, uint64_t first,
                      bool (*should_stop)(void *self), void *self, struct dpmf_error *error) {
    const int rank = cluster_rank(piece->cluster);
    const size_t from = piece->start[rank], n = piece->start[rank + 1] - from;
    struct factor_matrix *own = side->own;
    int code =
        cluster_reduce_doubles(piece->cluster, piece->sums, places(piece, piece->width), error);
    if (code < 0) return code;
    code = gibbs_draw_rows(gibbs, side, key, first + from, n, piece->sums + from * piece->width,
                           should_stop, self, error);
    code = cluster_agree(piece->cluster, code, error);
    if (code == 0)
        code = gather(piece, own->rows + first * own->stride, own->stride * sizeof(float), error);
    return code < 0 ? code : gather(piece, own->biases + first, sizeof(float), error);
}

static int draw_pieces(struct gibbs *gibbs, const struct gibbs_side *side,
                       const struct chain_key *key, struct piece *piece, uint64_t most,
                       bool (*should_stop)(void *self), void *self, struct dpmf_error *error) {
    int code = 0;
    for (uint64_t first = 0; first < side->own->n && code == 0; first += most) {
        const uint64_t n = side->own->n - first < most ? side->own->n - first : most;
        cluster_ranges(piece->cluster, (size_t)n, 1, piece->start);
        code = gibbs_sum_rows(gibbs, side, first, n, piece->sums, should_stop, self, error);
        code = cluster_agree(piece->cluster, code, error);
        if (code == 0) code = draw_piece(gibbs, side, key, piece, first, should_stop, self, error);
    }
    return code;
}

int gibbs_ranks_draw_items(struct gibbs *gibbs, const struct gibbs_side *side,
                           const struct chain_key *key, const struct dpmf_cluster *cluster,
                           bool (*should_stop)(void *self), void *self, struct dpmf_error *error) {
    if (!cluster) return gibbs_sweep(gibbs, side, key, should_stop, self, error);
    const size_t ranks = (size_t)cluster_size(cluster), k = gibbs_factors(gibbs);
    const uint64_t most = rows_of_piece(k);
    struct piece piece = {
        .cluster = cluster,
        .start = memory_alloc(ranks + 1, sizeof piece.start[0]),
        .place = memory_alloc(ranks + 1, sizeof piece.place[0]),
        .width = gibbs_sums_size(k),
    };
    piece.sums = memory_alloc((size_t)most, piece.width * sizeof(double));
    bool made = piece.start && piece.place && piece.sums;
    int code = cluster_agree(cluster, made ? 0 : error_no_memory(error), error);
    if (code == 0) code = draw_pieces(gibbs, side, key, &piece, most, should_stop, self, error);
    if (code == 0) code = gibbs_square_errors(gibbs, side, error);
    free(piece.start);
    free(piece.place);
    free(piece.sums);
    return code;
}
