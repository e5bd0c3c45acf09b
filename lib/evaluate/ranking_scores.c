/*
 * The metrics of ranked lists, by their definitions in dpmf.h. A part's metrics take the places
 * that its items have in the whole list, and are averaged over the users with test items in that
 * part. Fed by the lists of rank_users; feeds dpmf_model_evaluate.
 */
#include "evaluate/ranking_scores.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

/* ---- the items ------------------------------------------------------------------------------- */

struct by_popularity {
    uint64_t count;
    uint64_t item;
};

/* The most popular first; of equals in the order of items. */
static int compare_popularity(const void *a, const void *b) {
    const struct by_popularity *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return (x->item > y->item) - (x->item < y->item);
}

/* Fifths of the items; where they cannot be equal, the sizes differ by one. */
static int find_parts(struct ranking_items *items, struct dpmf_error *error) {
    const size_t n = (size_t)items->n;
    struct by_popularity *order = memory_alloc(n, sizeof *order);
    items->part = memory_alloc(n, sizeof *items->part);
    if (!order || !items->part) {
        free(order);
        return error_no_memory(error);
    }
    for (size_t i = 0; i < n; i++) order[i] = (struct by_popularity){items->popularity[i], i};
    qsort(order, n, sizeof *order, compare_popularity);
    for (size_t i = 0; i < n; i++)
        items->part[order[i].item] = (uint8_t)(1 + i * DPMF_POPULARITY_PARTS / n);
    free(order);
    return 0;
}

int ranking_items_init(struct ranking_items *items, uint64_t n, uint64_t *popularity,
                       struct dpmf_error *error) {
    *items = (struct ranking_items){.n = n, .popularity = popularity};
    items->is_used = memory_alloc_zero((size_t)n, sizeof *items->is_used);
    if (!items->is_used) return error_no_memory(error);
    return popularity ? find_parts(items, error) : 0;
}

void ranking_items_free(struct ranking_items *items) {
    free(items->popularity);
    free(items->part);
    free(items->is_used);
    *items = (struct ranking_items){0};
}

/* ---- one user -------------------------------------------------------------------------------- */

static int compare_numbers(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static double discount(size_t rank) { return 1 / log2((double)rank + 1); }

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static void find_at(struct list_scores *scores, size_t rank) {
    scores->found++;
    scores->gain += discount(rank);
    scores->precision += scores->found / (double)rank;
    if (scores->reciprocal == 0) scores->reciprocal = 1 / (double)rank;
}

/* From sums over the list to shares of what could be had. */
static void finish_list(struct list_scores *scores, size_t n) {
    const size_t most = least(scores->wanted, n);
    double ideal = 0;
    for (size_t i = 0; i < most; i++) ideal += discount(i + 1);
    if (most == 0) return;
    scores->gain /= ideal;
    scores->precision /= (double)most;
}

static void count_wanted(const struct ranking_items *items, const uint32_t *wanted, size_t n,
                         struct user_scores *scores) {
    double sum = 0;
    scores->part[0].wanted = (uint32_t)n;
    for (size_t i = 0; items->part && i < n && wanted[i] < items->n; i++) {
        scores->part[items->part[wanted[i]]].wanted++;
        sum += (double)items->popularity[wanted[i]];
    }
    scores->wanted_popularity = sum / (double)n;
}

void ranking_user_judge(struct ranking_items *items, const uint32_t *wanted, size_t n_wanted,
                        const struct dpmf_scored_item *list, size_t n_list, size_t n,
                        struct user_scores *scores) {
    double sum = 0;
    assert(n_wanted > 0 && n_list <= n);
    *scores = (struct user_scores){.is_ranked = true};
    count_wanted(items, wanted, n_wanted, scores);
    for (size_t i = 0; i < n_list; i++) {
        const uint32_t item = (uint32_t)list[i].item;
        const int part = items->part ? items->part[item] : 0;
        const bool is_found = bsearch(&item, wanted, n_wanted, sizeof item, compare_numbers);
        if (atomic_load_explicit(&items->is_used[item], memory_order_relaxed) == 0)
            atomic_store_explicit(&items->is_used[item], 1, memory_order_relaxed);
        scores->part[0].listed++;
        if (is_found) find_at(&scores->part[0], i + 1);
        if (part == 0) continue;
        scores->part[part].listed++;
        if (is_found) find_at(&scores->part[part], i + 1);
        sum += (double)items->popularity[item];
    }
    scores->list_popularity = n_list > 0 ? sum / (double)n_list : 0;
    for (int part = 0; part < RANKING_PARTS; part++) finish_list(&scores->part[part], n);
}

/* ---- many users ------------------------------------------------------------------------------ */

void ranking_sums_add(struct ranking_sums *sums, const struct user_scores *scores, size_t n) {
    struct ranking_counts *counts = &sums->counts;
    struct ranking_totals *totals = &sums->totals;
    if (!scores->is_ranked) return;
    for (int part = 0; part < RANKING_PARTS; part++) {
        const struct list_scores *list = &scores->part[part];
        counts->listed[part] += list->listed;
        if (list->wanted == 0) continue;
        counts->users[part]++;
        counts->wanted[part] += list->wanted;
        counts->found[part] += list->found;
        totals->recall[part] += list->found / (double)list->wanted;
        totals->capped[part] += list->found / (double)least(list->wanted, n);
        totals->gain[part] += list->gain;
        totals->precision[part] += list->precision;
        totals->reciprocal[part] += list->reciprocal;
    }
    totals->list_popularity += scores->list_popularity;
    totals->wanted_popularity += scores->wanted_popularity;
}

static struct dpmf_ranking_part average(const struct ranking_sums *sums, int part, size_t n) {
    const struct ranking_counts *counts = &sums->counts;
    const struct ranking_totals *totals = &sums->totals;
    const double users = counts->users[part] > 0 ? (double)counts->users[part] : 1;
    const double places = counts->listed[0] > 0 ? (double)counts->listed[0] : 1;
    return (struct dpmf_ranking_part){
        .users = counts->users[part],
        .wanted = counts->wanted[part],
        .recall = totals->recall[part] / users,
        .recall_capped = totals->capped[part] / users,
        .precision = (double)counts->found[part] / (users * (double)n),
        .ndcg = totals->gain[part] / users,
        .map = totals->precision[part] / users,
        .mrr = totals->reciprocal[part] / users,
        .list_share = (double)counts->listed[part] / places,
    };
}

static void find_coverage(const struct ranking_items *items, int part,
                          struct dpmf_ranking_part *scores) {
    uint64_t used = 0;
    for (uint64_t i = 0; i < items->n; i++) {
        if (part != 0 && items->part[i] != part) continue;
        scores->items++;
        used += atomic_load_explicit(&items->is_used[i], memory_order_relaxed) != 0;
    }
    scores->coverage = scores->items > 0 ? (double)used / (double)scores->items : 0;
}

void ranking_sums_finish(const struct ranking_sums *sums, const struct ranking_items *items,
                         size_t n, struct dpmf_evaluation *evaluation) {
    for (int part = 0; part < (items->part ? RANKING_PARTS : 1); part++) {
        struct dpmf_ranking_part scores = average(sums, part, n);
        find_coverage(items, part, &scores);
        if (part > 0)
            evaluation->by_popularity[part - 1] = scores;
        else
            evaluation->ranking = scores;
    }
    evaluation->has_popularity = items->part != NULL;
    if (sums->totals.wanted_popularity > 0)
        evaluation->popularity_bias = sums->totals.list_popularity / sums->totals.wanted_popularity;
    evaluation->ranked_users = evaluation->ranking.users;
    evaluation->recall = evaluation->ranking.recall;
    evaluation->ndcg = evaluation->ranking.ndcg;
    evaluation->map = evaluation->ranking.map;
}
