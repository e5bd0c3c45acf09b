/*
 * The exact half of an audit. Three worlds have the same public things (catalogue, features,
 * wishes, options) and differ in who is in the ratings: the others; the others and one person; that
 * person alone. Fed by audit.c with three texts; feeds its report.
 *
 * All three run whole: text, import, packing, threads, ranks, every round, the file. Two free runs
 * would part after their first round, whose noise decides what the second asks. So the first world
 * alone is free; the other two replay what it published: in every round their own exact sums are
 * kept, and its noisy sums are put in their place. Then
 *
 *     sum(with) - sum(without) = sum(alone)    in every round, at every coordinate, to the last
 *     digit,
 *     |sum(alone)| <= scale * B                in every round,
 *     and the three files are the same but for their random ids.
 *
 * These are steps 1 and 2 of the proof in noisy_sum.c, and that nothing else is published, put to
 * the test: for this person and these others, given this transcript. No function of the mechanism
 * is called to say what a person contributes: a mechanism whose contributions depend on other
 * people, on their number, or on how their lines were read, cannot agree with itself here.
 *
 * The noise has a seed, and every file must say that it is NOT PRIVATE. Nothing here is
 * statistical: an honest mechanism is never accused.
 */
#define _GNU_SOURCE
#include "audit/audit_worlds.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "cluster/cluster.h"
#include "statement/claim.h"
#include "store/store.h"

__extension__ typedef unsigned __int128 wide;

/* ---- one world ------------------------------------------------------------------------------- */

static size_t stride_of(size_t k) { return k; }

/* The file, read back, and gone. */
static int take_release(const struct audit_setting *setting, struct audit_world *world,
                        struct dpmf_error *error) {
    struct statement *statement = malloc(sizeof *statement);
    if (!statement) return error_no_memory(error);
    int code = release_read(setting->output, stride_of, 0, &world->release, error);
    unlink(setting->output);
    if (code == 0)
        code = statement_from_json(world->release.statement, strlen(world->release.statement),
                                   statement, error);
    if (code == 0) {
        world->is_marked = claim_of(statement) == DPMF_CLAIM_NOT_PRIVATE;
        memset(statement->id, 0, sizeof statement->id);
        world->statement = statement_to_json(statement);
        if (!world->statement) code = error_no_memory(error);
    }
    free(statement);
    return code;
}

static int run_store(const struct audit_setting *setting, struct dpmf_store *store,
                     struct audit_world *world, struct dpmf_error *error) {
    const struct release_watch watch = {.sums = transcript_watch(&world->transcript)};
    int code =
        catalogue_take(setting->options->catalogue, store, setting->run, &world->catalogue, error);
    if (code == 0)
        code = release_make_watched(store, setting->output, setting->options, setting->run, &watch,
                                    NULL, error);
    if (code == 0 && cluster_rank(setting->run->cluster) == 0)
        code = take_release(setting, world, error);
    return code;
}

/* Memory, disks and networks are not anyone's ratings; nor is an interruption. */
static bool is_of_machine(int code) {
    const bool is_of_disk = code <= DPMF_ERR_IO_MISSING && code >= DPMF_ERR_IO_CONNECTION;
    return is_of_disk || code == DPMF_ERR_BASE_NO_MEMORY || code == DPMF_ERR_BASE_CANCELLED ||
           code == DPMF_ERR_BASE_THREAD || code == DPMF_ERR_BASE_RANDOM ||
           code == DPMF_ERR_CLUSTER_LOST;
}

int audit_world_run(const struct audit_setting *setting, const char *ratings,
                    const struct transcript *replay, struct audit_world *world,
                    struct dpmf_error *error) {
    struct dpmf_store *store = NULL;
    *world = (struct audit_world){.transcript = {.replay = replay}};
    int code = dpmf_store_open(ratings, setting->input, setting->run, &store, &world->failure);
    if (code == 0) code = run_store(setting, store, world, &world->failure);
    dpmf_store_close(store);
    if (code == 0) world->failure = (struct dpmf_error){0};
    if (code == 0 || (replay && !is_of_machine(code))) return 0;
    if (error) *error = world->failure;
    return code;
}

void audit_world_free(struct audit_world *world) {
    transcript_free(&world->transcript);
    catalogue_free(&world->catalogue);
    release_free(&world->release);
    free(world->statement);
    *world = (struct audit_world){0};
}

/* ---- comparing ------------------------------------------------------------------------------- */

static void find(struct audit_difference *difference, unsigned finding, const char *format, ...)
    DPMF_PRINTF(3, 4);
static void find(struct audit_difference *difference, unsigned finding, const char *format, ...) {
    va_list arguments;
    if (difference->findings) return;
    va_start(arguments, format);
    vsnprintf(difference->reason, sizeof difference->reason, format, arguments);
    va_end(arguments);
    difference->findings = finding;
}

static bool same_ids(const struct factor_ids *a, const struct factor_ids *b) {
    return a->n == b->n &&
           (a->n == 0 || (a->start[a->n] == b->start[b->n] &&
                          memcmp(a->start, b->start, (size_t)(a->n + 1) * sizeof *a->start) == 0 &&
                          memcmp(a->bytes, b->bytes, (size_t)a->start[a->n]) == 0));
}

static bool same_rows(const struct factors *a, const struct factors *b) {
    const size_t n = (size_t)a->items.n;
    if (a->k != b->k || n != b->items.n || a->items.stride != b->items.stride) return false;
    return memcmp(a->items.biases, b->items.biases, n * sizeof(float)) == 0 &&
           (a->k == 0 ||
            memcmp(a->items.rows, b->items.rows, n * a->items.stride * sizeof(float)) == 0);
}

static bool same_counts(const struct factor_ids *a, const struct factor_ids *b) {
    if (!a->counts || !b->counts) return a->counts == b->counts;
    return memcmp(a->counts, b->counts, (size_t)a->n * sizeof(float)) == 0;
}

static bool same_number(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

static bool same_release(const struct release *a, const struct release *b) {
    return same_rows(&a->factors, &b->factors) &&
           same_ids(&a->factors.item_ids, &b->factors.item_ids) &&
           same_counts(&a->factors.item_ids, &b->factors.item_ids) &&
           same_number(a->factors.offset, b->factors.offset) &&
           same_number(a->factors.min, b->factors.min) &&
           same_number(a->factors.max, b->factors.max) &&
           same_number(a->factor_penalty, b->factor_penalty) &&
           same_number(a->bias_penalty, b->bias_penalty) && a->ranks == b->ranks &&
           same_number(a->taste_weight, b->taste_weight);
}

static void compare_files(const struct audit_world *without, const struct audit_world *other,
                          struct audit_difference *difference) {
    if (!without->statement) return; /* another rank has it */
    if (!other->is_marked || !without->is_marked)
        find(difference, DPMF_AUDIT_STATEMENT,
             "a file whose noise has a seed does not say that it is not private");
    if (strcmp(without->statement, other->statement) != 0)
        find(difference, DPMF_AUDIT_STATEMENT,
             "the statement changes when one user is added, though the same was published");
    if (!same_release(&without->release, &other->release))
        find(difference, DPMF_AUDIT_WORLDS,
             "the file changes when one user is added, though the same was published");
}

/* A world that could not be made while the first could: one person decides whether there is a
 * release, or what is asked. */
static bool compare_ends(const struct audit_world *without, const struct audit_world *other,
                         struct audit_difference *difference) {
    const struct dpmf_error *failure = &other->failure;
    char words[DPMF_ERROR_TEXT_MAX];
    dpmf_error_text(failure->message, NULL, NULL, words, sizeof words);
    if (without->catalogue.ids.n > 0 && other->catalogue.ids.n > 0 &&
        !same_ids(&without->catalogue.ids, &other->catalogue.ids))
        find(difference, DPMF_AUDIT_CATALOGUE,
             "the list of items changes when one user is added: it is made from the ratings");
    else if (failure->code == DPMF_ERR_PRIVACY_ACCUSED)
        find(difference, DPMF_AUDIT_WORLDS, "%.180s", words);
    else if (failure->code != 0)
        find(difference, DPMF_AUDIT_WORLDS, "adding one user prevents the release: %.120s",
             dpmf_error_sentence(failure->code));
    else if (other->transcript.n != without->transcript.n)
        find(difference, DPMF_AUDIT_WORLDS,
             "there are %zu rounds instead of %zu when one user is added", other->transcript.n,
             without->transcript.n);
    return difference->findings == 0;
}

struct round_sums {
    uint64_t wrong;   /* coordinates where the worlds differ by something else than the person */
    uint64_t squares; /* sum over the person's integers; kept below 2^62 / 2^20 ranks */
};

static struct round_sums compare_round(const struct transcript_round *without,
                                       const struct transcript_round *with,
                                       const struct transcript_round *alone) {
    const uint64_t most = (uint64_t)1 << 58;
    struct round_sums sums = {0};
    wide squares = 0;
    for (size_t i = without->first; i < without->end; i++) {
        const uint64_t expected = (uint64_t)without->exact[i] + (uint64_t)alone->exact[i];
        const int64_t q = alone->exact[i];
        sums.wrong += (uint64_t)with->exact[i] != expected;
        squares += (wide)(q < 0 ? -(wide)q : (wide)q) * (wide)(q < 0 ? -(wide)q : (wide)q);
        if (squares > most) squares = most;
    }
    sums.squares = (uint64_t)squares;
    return sums;
}

static int compare_rounds(const struct audit_setting *setting, const struct audit_world *without,
                          const struct audit_world *with, const struct audit_world *alone,
                          double scale, struct audit_difference *difference,
                          struct dpmf_error *error) {
    const double bound = (double)(1 << NOISY_SUM_BITS);
    for (size_t t = 0; t < without->transcript.n; t++) {
        const struct transcript_round *round = &without->transcript.rounds[t];
        const struct round_sums here =
            compare_round(round, &with->transcript.rounds[t], &alone->transcript.rounds[t]);
        uint64_t sums[2] = {here.wrong, here.squares};
        int code = cluster_all_sum(setting->run->cluster, sums, 2, error);
        if (code < 0) return code;
        const double norm = sqrt((double)sums[1]) / bound;
        if (norm > difference->norm) difference->norm = norm;
        difference->rounds++;
        difference->numbers += round->n;
        if (sums[0] > 0)
            find(difference, DPMF_AUDIT_WORLDS,
                 "in round %zu, %.0f of %.0f sums change by something other than one user's "
                 "contribution when that user is added",
                 t + 1, (double)sums[0], (double)round->n);
        /* Two accountants' roundings of the scale may differ in its last digits; the integers'
         * bound is whole. */
        const double limit = floor(scale * (1 + 1e-9) * bound);
        if ((double)sums[1] > limit * limit)
            find(difference, DPMF_AUDIT_NORM,
                 "in round %zu a user contributes %.6f of the norm bound, but is allowed %.6f",
                 t + 1, norm, scale);
    }
    return 0;
}

int audit_worlds_compare(const struct audit_setting *setting, const struct audit_world *without,
                         const struct audit_world *with, const struct audit_world *alone,
                         double scale, struct audit_difference *difference,
                         struct dpmf_error *error) {
    *difference = (struct audit_difference){0};
    bool can_go_on = compare_ends(without, with, difference);
    can_go_on = compare_ends(without, alone, difference) && can_go_on;
    if (!can_go_on) return 0;
    int code = compare_rounds(setting, without, with, alone, scale, difference, error);
    if (code < 0) return code;
    compare_files(without, with, difference);
    compare_files(without, alone, difference);
    return 0;
}
