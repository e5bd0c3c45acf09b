/*
 * The share of rank_share.h. Fed by cluster/user_shares.c, which says whose users are whose; feeds
 * train_ranks.c. Rank 0 may fail at reading or writing while rows are under way: it then goes on
 * taking or giving them, and tells at the end.
 */
#include "train/rank_share.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "cluster/user_shares.h"
#include "files/file_kind.h"
#include "train/model_ids.h"
#include "train/rows_file.h"

enum {
    PIECE_BYTES = 4 << 20, /* bytes of rows in one message */
    TAG_ROWS = 128,
    TAG_BIASES,
};

/* ---- who has what -----------------------------------------------------------------------------
 */

/* Everybody's number: all[r + 1] is rank r's, all[0] is 0. */
static int gather_numbers(const struct dpmf_cluster *cluster, uint64_t own, uint64_t *all,
                          struct dpmf_error *error) {
    assert(all);
    const size_t n = (size_t)cluster_size(cluster);
    size_t *start = memory_alloc(n + 1, sizeof *start);
    int code = cluster_agree(cluster, start ? 0 : error_no_memory(error), error);
    if (code == 0) {
        for (size_t r = 0; r <= n; r++) start[r] = r * sizeof own;
        all[0] = 0;
        all[cluster_rank(cluster) + 1] = own;
        code = cluster_all_gather(cluster, all + 1, start, error);
    }
    free(start);
    return code;
}

const struct dpmf_store *rank_share_store(const struct rank_share *share) {
    return share->own ? share->own : share->whole;
}

static int find_first_users(struct rank_share *share, struct dpmf_error *error) {
    const size_t n = (size_t)cluster_size(share->cluster);
    share->first_user = memory_alloc(n + 1, sizeof share->first_user[0]);
    int code = cluster_agree(share->cluster, share->first_user ? 0 : error_no_memory(error), error);
    if (code == 0)
        code = gather_numbers(share->cluster, store_n_users(rank_share_store(share)),
                              share->first_user, error);
    for (size_t r = 0; r < n && code == 0; r++) share->first_user[r + 1] += share->first_user[r];
    return code;
}

int rank_share_open(struct rank_share *share, const struct dpmf_store *whole,
                    const struct dpmf_cluster *cluster, struct dpmf_error *error) {
    assert(share && whole);
    uint64_t first_user;
    *share = (struct rank_share){.cluster = cluster, .whole = whole};
    int code = cluster ? user_shares_take(whole, cluster, &share->own, &first_user, error) : 0;
    return code < 0 ? code : find_first_users(share, error);
}

int rank_share_kernels(const struct dpmf_cluster *cluster, const struct kernel_set **kernels,
                       struct dpmf_error *error) {
    char name[32] = "";
    if (cluster_rank(cluster) == 0) snprintf(name, sizeof name, "%s", (*kernels)->name);
    int code = cluster_broadcast(cluster, name, sizeof name, 0, error);
    if (code < 0) return code;
    *kernels = kernel_set_choose(name);
    if (!*kernels) {
        code = error_set(error, DPMF_ERR_USAGE_VALUE,
                         "this machine has no kernels called \"%s\", which the first process has",
                         name);
        error_hint(error, "give {kernels} with a set that all machines have");
    }
    return cluster_agree(cluster, code, error);
}

int rank_share_report(const struct dpmf_cluster *cluster, uint64_t before,
                      struct dpmf_train_report *report, struct dpmf_error *error) {
    if (!cluster) return 0;
    report->ranks = cluster_size(cluster);
    report->bytes_sent = cluster_bytes_sent(cluster) - before;
    report->seconds_waited = NAN;
    return cluster_all_sum(cluster, &report->bytes_sent, 1, error);
}

void rank_share_close(struct rank_share *share) {
    dpmf_store_close(share->own);
    free(share->first_user);
    factors_free(&share->file);
    *share = (struct rank_share){0};
}

uint64_t rank_share_first_user(const struct rank_share *share) {
    return share->first_user[cluster_rank(share->cluster)];
}

struct learned_pairs *rank_share_learned(const struct rank_share *share, struct factors *factors) {
    return share->cluster ? NULL : &factors->learned;
}

int rank_share_count_users(const struct rank_share *share, struct factor_ids *ids,
                           struct dpmf_error *error) {
    return share->cluster ? 0 : model_ids_count_users(ids, rank_share_store(share), error);
}

/* ---- ids --------------------------------------------------------------------------------------
 */

/* Everybody's bytes one after the other on rank 0; `count` has how many each rank has, `count[0]`
 * being 0. */
static int gather_bytes(const struct dpmf_cluster *cluster, const void *own, const uint64_t *count,
                        size_t size, void *all, struct dpmf_error *error) {
    const size_t n = (size_t)cluster_size(cluster);
    size_t *start = memory_alloc(n + 1, sizeof *start);
    int code = cluster_agree(cluster, start ? 0 : error_no_memory(error), error);
    if (code == 0) {
        start[0] = 0;
        for (size_t r = 0; r < n; r++) start[r + 1] = start[r] + (size_t)count[r + 1] * size;
        code = cluster_gather(cluster, own, all, start, 0, error);
    }
    free(start);
    return code;
}

static bool make_ids(struct factor_ids *ids, uint64_t n, uint64_t bytes) {
    ids->n = n;
    ids->start = memory_alloc_zero((size_t)n + 1, sizeof ids->start[0]);
    ids->bytes = memory_alloc((size_t)bytes, 1);
    return ids->start && ids->bytes;
}

/* Each rank's ends of ids count from its own first byte. */
static void shift_ends(const struct rank_share *share, const uint64_t *bytes) {
    uint64_t *ends = share->file.user_ids.start + 1, before = 0;
    for (int r = 0; r < cluster_size(share->cluster); r++) {
        for (uint64_t u = share->first_user[r]; u < share->first_user[r + 1]; u++)
            ends[u] += before;
        before += bytes[r + 1];
    }
}

static int gather_ids(struct rank_share *share, const struct factor_ids *own, uint64_t *numbers,
                      struct dpmf_error *error) {
    const struct dpmf_cluster *cluster = share->cluster;
    const size_t n = (size_t)cluster_size(cluster);
    const bool first = cluster_rank(cluster) == 0;
    struct factor_ids *all = &share->file.user_ids;
    uint64_t *users = numbers, *bytes = numbers + n + 1, total = 0;
    for (size_t r = 0; r < n; r++) users[r + 1] = share->first_user[r + 1] - share->first_user[r];
    int code = gather_numbers(cluster, own->start[own->n], bytes, error);
    if (code < 0) return code;
    for (size_t r = 0; r < n; r++) total += bytes[r + 1];
    if (first && !make_ids(all, share->first_user[n], total)) code = error_no_memory(error);
    code = cluster_agree(cluster, code, error);
    if (code == 0)
        code = gather_bytes(cluster, own->start + 1, users, sizeof own->start[0],
                            first ? all->start + 1 : NULL, error);
    if (code == 0) code = gather_bytes(cluster, own->bytes, bytes, 1, all->bytes, error);
    if (code == 0 && first) shift_ends(share, bytes);
    return code;
}

/* Which row has which place among n items by popularity. To be freed; NULL: no memory. */
static uint32_t *rows_by_place(const struct tiling *tiling, uint64_t n) {
    uint32_t *rows = memory_alloc((size_t)n, sizeof rows[0]);
    for (uint64_t row = 0; rows && row < n; row++)
        rows[tiling ? tiling_place_of_row(tiling, row) : row] = (uint32_t)row;
    return rows;
}

static int sort_item_ids(struct rank_share *share, const struct factor_ids *by_row,
                         const struct tiling *tiling, struct dpmf_error *error) {
    struct factor_ids *ids = &share->file.item_ids;
    uint32_t *rows = rows_by_place(tiling, by_row->n);
    bool made = make_ids(ids, by_row->n, by_row->start[by_row->n]) && rows;
    if (made) {
        ids->counts = memory_alloc((size_t)by_row->n, sizeof ids->counts[0]);
        made = ids->counts != NULL;
    }
    for (uint64_t i = 0; made && i < ids->n; i++) {
        const uint64_t from = by_row->start[rows[i]], n = by_row->start[rows[i] + 1] - from;
        memcpy(ids->bytes + ids->start[i], by_row->bytes + from, (size_t)n);
        ids->start[i + 1] = ids->start[i] + n;
        ids->counts[i] = by_row->counts[rows[i]];
    }
    free(rows);
    return made ? 0 : error_no_memory(error);
}

int rank_share_describe(struct rank_share *share, const struct factors *factors,
                        const struct tiling *tiling, struct dpmf_error *error) {
    if (!share->cluster) return 0;
    const size_t n = (size_t)cluster_size(share->cluster);
    struct factors *file = &share->file;
    uint64_t *numbers = memory_alloc_zero(2 * (n + 1), sizeof numbers[0]);
    file->k = factors->k;
    file->offset = factors->offset;
    file->min = factors->min;
    file->max = factors->max;
    file->users.n = share->first_user[n];
    file->items.n = factors->items.n;
    int code = numbers ? 0 : error_no_memory(error);
    if (code == 0 && cluster_rank(share->cluster) == 0)
        code = sort_item_ids(share, &factors->item_ids, tiling, error);
    code = cluster_agree(share->cluster, code, error);
    if (code == 0) code = gather_ids(share, &factors->user_ids, numbers, error);
    free(numbers);
    return code;
}

/* ---- users ------------------------------------------------------------------------------------
 */

/* A piece of a rank's rows, `count` of them from `first` on: where this rank has it, or where it is
 * put on its way. */
struct piece {
    int rank;
    uint64_t first, count;
    float *rows, *biases;
};

/* Between its rank and rank 0, in either direction. */
static int move_piece(const struct rank_share *share, const struct piece *piece, size_t stride,
                      bool to_first, struct dpmf_error *error) {
    const struct dpmf_cluster *cluster = share->cluster;
    const int rank = cluster_rank(cluster), other = rank == 0 ? piece->rank : 0;
    const size_t bytes = (size_t)piece->count * stride * sizeof(float);
    const size_t bias_bytes = (size_t)piece->count * sizeof(float);
    struct cluster_request *rows = NULL, *biases = NULL;
    int code;
    if ((rank == 0) == to_first) {
        code = cluster_begin_receive(cluster, other, TAG_ROWS, piece->rows, bytes, &rows, error);
        if (code == 0)
            code = cluster_begin_receive(cluster, other, TAG_BIASES, piece->biases, bias_bytes,
                                         &biases, error);
    } else {
        code = cluster_begin_send(cluster, other, TAG_ROWS, piece->rows, bytes, &rows, error);
        if (code == 0)
            code = cluster_begin_send(cluster, other, TAG_BIASES, piece->biases, bias_bytes,
                                      &biases, error);
    }
    if (code == 0) code = cluster_wait(cluster, &rows, error);
    return code < 0 ? code : cluster_wait(cluster, &biases, error);
}

/* What rank 0 does with a piece. */
typedef int piece_visit(void *self, const struct rank_share *share, const struct piece *piece,
                        size_t stride, struct dpmf_error *error);

/* Where a rank's rows are: in memory, or made. */
struct row_source {
    size_t stride;
    float *rows, *biases; /* or: */
    rank_row_make *make;
    void *self;
};

/* A piece where it is on this rank, or with room for it on its way. */
static struct piece piece_at(const struct row_source *source, float *buffer, uint64_t most,
                             int rank, bool is_own, uint64_t first, uint64_t count) {
    assert(most > 0 && rank >= 0);
    struct piece piece = {rank, first, count, buffer,
                          buffer ? buffer + most * source->stride : NULL};
    for (uint64_t i = 0; is_own && source->make && i < count; i++)
        source->make(source->self, CHECKPOINT_USERS, first + i, piece.rows + i * source->stride,
                     &piece.biases[i]);
    if (is_own && !source->make) {
        piece.rows = source->rows + first * source->stride;
        piece.biases = source->biases + first;
    }
    return piece;
}

/* All pieces of all ranks: `visit` sees each on rank 0, after it came there or before it goes. */
static int visit_pieces(const struct rank_share *share, const struct row_source *source,
                        bool to_first, piece_visit *visit, void *self, struct dpmf_error *error) {
    assert(source && visit);
    const struct dpmf_cluster *cluster = share->cluster;
    const int rank = cluster_rank(cluster);
    const size_t stride = source->stride, bytes = stride * sizeof(float);
    const uint64_t most = PIECE_BYTES / bytes > 0 ? PIECE_BYTES / bytes : 1;
    const bool needs = rank == 0 || source->make;
    float *buffer = needs ? memory_alloc_zero((size_t)most, bytes + sizeof(float)) : NULL;
    int visited = 0,
        code = cluster_agree(cluster, !needs || buffer ? 0 : error_no_memory(error), error);
    struct dpmf_error failure = {0};
    for (int r = 0; r < cluster_size(cluster) && code == 0; r++) {
        const uint64_t n = share->first_user[r + 1] - share->first_user[r];
        for (uint64_t i = 0; i < n && code == 0 && (rank == 0 || rank == r); i += most) {
            const struct piece piece =
                piece_at(source, buffer, most, r, rank == r, i, n - i < most ? n - i : most);
            if (r > 0 && to_first) code = move_piece(share, &piece, stride, true, error);
            if (code == 0 && rank == 0 && visited == 0)
                visited = visit(self, share, &piece, stride, &failure);
            if (r > 0 && !to_first && code == 0)
                code = move_piece(share, &piece, stride, false, error);
        }
    }
    free(buffer);
    if (code < 0) return code;
    if (visited < 0 && error) *error = failure;
    return cluster_agree(cluster, visited, error);
}

struct saving {
    struct checkpoint_draft *draft;
    enum checkpoint_side side;
};

static int save_piece(void *self, const struct rank_share *share, const struct piece *piece,
                      size_t stride, struct dpmf_error *error) {
    const struct saving *saving = self;
    return checkpoint_draft_put_rows(saving->draft, saving->side,
                                     share->first_user[piece->rank] + piece->first, piece->count,
                                     piece->rows, stride, piece->biases, error);
}

int rank_share_save_users(const struct rank_share *share, const struct row_store *rows,
                          float *biases, enum checkpoint_side side, struct checkpoint_draft *draft,
                          struct dpmf_error *error) {
    struct saving saving = {draft, side};
    if (!share->cluster) return rows_file_save(rows, biases, side, draft, error);
    /* on their way to rank 0 they are only read */
    const struct row_source source = {.stride = rows->stride, .rows = rows->rows, .biases = biases};
    return visit_pieces(share, &source, true, save_piece, &saving, error);
}

struct loading {
    const struct checkpoint_file *file;
    enum checkpoint_side side;
};

static int load_piece(void *self, const struct rank_share *share, const struct piece *piece,
                      size_t stride, struct dpmf_error *error) {
    const struct loading *loading = self;
    return checkpoint_file_read_rows(loading->file, loading->side,
                                     share->first_user[piece->rank] + piece->first, piece->count,
                                     piece->rows, stride, piece->biases, error);
}

int rank_share_load_users(const struct rank_share *share, const struct row_store *rows,
                          float *biases, enum checkpoint_side side,
                          const struct checkpoint_file *file, struct dpmf_error *error) {
    struct loading loading = {file, side};
    const struct row_source source = {.stride = rows->stride, .rows = rows->rows, .biases = biases};
    return visit_pieces(share, &source, false, load_piece, &loading, error);
}

/* ---- items ------------------------------------------------------------------------------------
 */

/* All rows by their places, a few at a time, into or out of the matrix. */
static int visit_items(const struct tiling *tiling, struct factor_matrix *items,
                       enum checkpoint_side side, struct checkpoint_draft *draft,
                       const struct checkpoint_file *file, struct dpmf_error *error) {
    const size_t stride = items->stride, bytes = stride * sizeof(float);
    const uint64_t most = row_store_piece(stride);
    uint32_t *row = rows_by_place(tiling, items->n);
    float *rows = memory_alloc_zero((size_t)most, bytes + sizeof(float));
    float *biases = rows ? rows + most * stride : NULL;
    int code = row && rows ? 0 : error_no_memory(error);
    for (uint64_t first = 0; first < items->n && code == 0; first += most) {
        const uint64_t n = items->n - first < most ? items->n - first : most;
        if (file)
            code = checkpoint_file_read_rows(file, side, first, n, rows, stride, biases, error);
        for (uint64_t i = 0; i < n && code == 0; i++) {
            float *own = items->rows + row[first + i] * stride,
                  *bias = &items->biases[row[first + i]];
            memcpy(file ? own : rows + i * stride, file ? rows + i * stride : own, bytes);
            if (file)
                *bias = biases[i];
            else
                biases[i] = *bias;
        }
        if (draft && code == 0)
            code = checkpoint_draft_put_rows(draft, side, first, n, rows, stride, biases, error);
    }
    free(row);
    free(rows);
    return code;
}

int rank_share_save_items(const struct rank_share *share, const struct tiling *tiling,
                          const struct factor_matrix *items, enum checkpoint_side side,
                          struct checkpoint_draft *draft, struct dpmf_error *error) {
    struct factor_matrix same = *items; /* with a draft they are only read */
    int code = cluster_rank(share->cluster) == 0
                   ? visit_items(tiling, &same, side, draft, NULL, error)
                   : 0;
    return cluster_agree(share->cluster, code, error);
}

int rank_share_load_items(const struct rank_share *share, const struct tiling *tiling,
                          struct factor_matrix *items, enum checkpoint_side side,
                          const struct checkpoint_file *file, struct dpmf_error *error) {
    const struct dpmf_cluster *cluster = share->cluster;
    int code = cluster_rank(cluster) == 0 ? visit_items(tiling, items, side, NULL, file, error) : 0;
    code = cluster_agree(cluster, code, error);
    if (code == 0)
        code = cluster_broadcast(cluster, items->rows,
                                 (size_t)items->n * items->stride * sizeof(float), 0, error);
    return code < 0 ? code
                    : cluster_broadcast(cluster, items->biases, (size_t)items->n * sizeof(float), 0,
                                        error);
}

/* ---- all of it --------------------------------------------------------------------------------
 */

static int save_made_users(const struct rank_share *share, size_t k, rank_row_make *make,
                           void *self, struct checkpoint_draft *draft, struct dpmf_error *error) {
    struct saving saving = {draft, CHECKPOINT_USERS};
    const struct row_source source = {.stride = k, .make = make, .self = self};
    return visit_pieces(share, &source, true, save_piece, &saving, error);
}

static int save_made_items(const struct tiling *tiling, uint64_t n_items, size_t k,
                           rank_row_make *make, void *self, struct checkpoint_draft *draft,
                           struct dpmf_error *error) {
    const uint64_t most = row_store_piece(k);
    uint32_t *row = rows_by_place(tiling, n_items);
    float *rows = memory_alloc((size_t)most, (k + 1) * sizeof(float));
    float *biases = rows ? rows + most * k : NULL;
    int code = row && rows ? 0 : error_no_memory(error);
    for (uint64_t first = 0; first < n_items && code == 0; first += most) {
        const uint64_t n = n_items - first < most ? n_items - first : most;
        for (uint64_t i = 0; i < n; i++)
            make(self, CHECKPOINT_ITEMS, row[first + i], rows + i * k, &biases[i]);
        code = checkpoint_draft_put_rows(draft, CHECKPOINT_ITEMS, first, n, rows, k, biases, error);
    }
    free(row);
    free(rows);
    return code;
}

struct factors rank_share_shape(const struct rank_share *share, const struct factors *factors) {
    return share->cluster ? share->file : *factors;
}

int rank_share_open_draft(const struct rank_share *share, const char *path,
                          const struct factors *shape, bool with_best, const char *provenance,
                          struct checkpoint_draft **draft, struct dpmf_error *error) {
    int code = 0;
    *draft = NULL;
    if (cluster_rank(share->cluster) == 0) {
        /* Others may have written there since the run began and looked. */
        code = file_kind_check(path, DPMF_FILE_CHECKPOINT, share->may_replace, error);
        if (code == 0)
            code = checkpoint_draft_open(draft, path, shape, with_best, provenance, error);
        if (code == 0) code = checkpoint_draft_put_ids(*draft, error);
    }
    return cluster_agree(share->cluster, code, error);
}

int rank_share_end_draft(const struct rank_share *share, int code, struct checkpoint_draft *draft,
                         const struct checkpoint_state *state, struct dpmf_error *error) {
    if (code < 0) {
        checkpoint_draft_abandon(draft);
        return code;
    }
    if (draft) code = checkpoint_draft_commit(draft, state, error);
    return cluster_agree(share->cluster, code, error);
}

int rank_share_write(const struct rank_share *share, const char *path,
                     const struct factors *factors, const struct row_store *users,
                     const struct tiling *tiling, const char *provenance,
                     const struct checkpoint_state *state, struct dpmf_error *error) {
    const struct factors shape = rank_share_shape(share, factors);
    struct checkpoint_draft *draft;
    int code = rank_share_open_draft(share, path, &shape, false, provenance, &draft, error);
    if (code == 0)
        code = rank_share_save_users(share, users, factors->users.biases, CHECKPOINT_USERS, draft,
                                     error);
    if (code == 0)
        code =
            rank_share_save_items(share, tiling, &factors->items, CHECKPOINT_ITEMS, draft, error);
    return rank_share_end_draft(share, code, draft, state, error);
}

int rank_share_write_made(const struct rank_share *share, const char *path,
                          const struct factors *factors, uint32_t k, rank_row_make *make,
                          void *self, const struct tiling *tiling, const char *provenance,
                          const struct checkpoint_state *state, struct dpmf_error *error) {
    assert(k > 0 && make);
    struct factors shape = rank_share_shape(share, factors);
    struct checkpoint_draft *draft;
    shape.k = k;
    int code = rank_share_open_draft(share, path, &shape, false, provenance, &draft, error);
    if (code == 0 && draft)
        code = save_made_items(tiling, factors->items.n, k, make, self, draft, error);
    code = cluster_agree(share->cluster, code, error);
    if (code == 0) code = save_made_users(share, k, make, self, draft, error);
    return rank_share_end_draft(share, code, draft, state, error);
}
