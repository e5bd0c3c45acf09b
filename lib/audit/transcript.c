/*
 * Keeps and replays the rounds of a world. Fed by noisy_sum.c through a watch; feeds
 * audit_worlds.c.
 */
#include "audit/transcript.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

static bool is_same_round(const struct transcript_round *a, const struct noisy_sum_round *b) {
    return a->n == b->n && a->sigma == b->sigma && a->shape.n_rows == b->shape->n_rows &&
           a->shape.width == b->shape->width && a->shape.tail == b->shape->tail;
}

static int leave_script(size_t round, struct dpmf_error *error) {
    return error_set(
        error, DPMF_ERR_PRIVACY_ACCUSED,
        "round %zu has another shape or noise when one user is added, though the same was "
        "published before it",
        round + 1);
}

static int keep_exact(void *self, const struct noisy_sum_round *round, const int64_t *sums,
                      struct dpmf_error *error) {
    struct transcript *transcript = self;
    const struct transcript *replay = transcript->replay;
    const size_t t = transcript->n;
    if (replay && (t >= replay->n || !is_same_round(&replay->rounds[t], round)))
        return leave_script(t, error);
    if (!memory_reserve(&transcript->rounds, &transcript->capacity, t + 1,
                        sizeof *transcript->rounds))
        return error_no_memory(error);
    struct transcript_round *kept = &transcript->rounds[t];
    *kept = (struct transcript_round){.n = round->n,
                                      .first = round->first,
                                      .end = round->end,
                                      .shape = *round->shape,
                                      .sigma = round->sigma};
    kept->shape.name = NULL;
    transcript->n++;
    kept->exact = memory_alloc_zero(round->n, sizeof *kept->exact);
    if (!kept->exact) return error_no_memory(error);
    memcpy(kept->exact + round->first, sums + round->first,
           (round->end - round->first) * sizeof *sums);
    return 0;
}

static int keep_published(void *self, const struct noisy_sum_round *round, int64_t *noisy_sums,
                          struct dpmf_error *error) {
    struct transcript *transcript = self;
    struct transcript_round *kept = &transcript->rounds[transcript->n - 1];
    const size_t bytes = round->n * sizeof *noisy_sums;
    if (transcript->replay) {
        memcpy(noisy_sums, transcript->replay->rounds[transcript->n - 1].published, bytes);
        return 0;
    }
    kept->published = memory_alloc(round->n, sizeof *kept->published);
    if (!kept->published) return error_no_memory(error);
    memcpy(kept->published, noisy_sums, bytes);
    return 0;
}

struct noisy_sum_watch transcript_watch(struct transcript *transcript) {
    return (struct noisy_sum_watch){transcript, keep_exact, keep_published};
}

void transcript_free(struct transcript *transcript) {
    for (size_t t = 0; t < transcript->n; t++) {
        free(transcript->rounds[t].exact);
        free(transcript->rounds[t].published);
    }
    free(transcript->rounds);
    *transcript = (struct transcript){.replay = transcript->replay};
}
