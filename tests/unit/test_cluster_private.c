/*
 * Releases made by several ranks, which are threads here: for every mechanism, any number of ranks
 * and threads, users in any order and shards cut anywhere, the release is the one that a single
 * process makes, bit for bit. Also shards themselves, the shares of ranks, and what a rank's
 * failure leaves behind.
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/error.h"
#include "cluster/user_shares.h"
#include "ledger/ledger.h"
#include "ledger_entries.h"
#include "store/shard_set.h"
#include "store_triples.h"
#include "temp_dir.h"
#include "thread_cluster.h"

enum { RANKS_MAX = 8, USERS = 500, NAMES = 64 };

struct world {
    struct temp_dir dir;
    char ratings[TEMP_PATH_MAX], items[TEMP_PATH_MAX], wishes[TEMP_PATH_MAX], ledger[TEMP_PATH_MAX],
        output[TEMP_PATH_MAX];
    struct triples triples; /* in the store's order */
    int n_made;             /* directories and files so far */
};

/* Half of the wishes are for less than everyone's epsilon, one for nothing. */
static void write_wishes(const struct world *world) {
    FILE *file = fopen(world->wishes, "w");
    assert_non_null(file);
    fprintf(file, "user,epsilon\nnobody,0\nnobody else,1\n");
    const struct triple *last = NULL;
    int n = 0;
    for (size_t i = 0; i < world->triples.n; i++) {
        const struct triple *t = &world->triples.at[i];
        if (last && last->user_length == t->user_length &&
            memcmp(last->user, t->user, t->user_length) == 0)
            continue;
        if (n++ % 3 == 0)
            fprintf(file, "%.*s,%g\n", t->user_length, t->user, n == 1 ? 0.0 : n % 2 ? 1.0 : 5.0);
        last = t;
    }
    fclose(file);
}

static int make_world(void **state) {
    struct world *world = calloc(1, sizeof *world);
    struct dpmf_synth_options synth = dpmf_synth_options_default();
    if (!world) return -1;
    temp_dir_make(&world->dir);
    temp_dir_file(&world->dir, "x.dpr", world->ratings);
    temp_dir_file(&world->dir, "items.csv", world->items);
    temp_dir_file(&world->dir, "wishes.csv", world->wishes);
    temp_dir_file(&world->dir, "ledger", world->ledger);
    if (dpmf_ledger_init(world->ledger, NULL, NULL) != 0) return -1;
    temp_dir_file(&world->dir, "out.safetensors", world->output);
    synth.users = USERS;
    synth.items = 60;
    synth.ratings = 12000;
    synth.catalogue = world->items;
    assert_int_equal(dpmf_synth(world->ratings, &synth, NULL, NULL, NULL), 0);
    triples_of_file(world->ratings, &world->triples);
    write_wishes(world);
    *state = world;
    return 0;
}

static void remove_shards(const char *directory) {
    struct temp_dir inner;
    snprintf(inner.path, sizeof inner.path, "%s", directory);
    temp_dir_remove(&inner);
}

static int end_world(void **state) {
    struct world *world = *state;
    free(world->triples.at);
    temp_dir_remove(&world->dir);
    free(world);
    return 0;
}

/* ---- stores ---------------------------------------------------------------------------------- */

/* A generator of the test's own: what is drawn decides no result. */
static uint32_t draw(uint32_t *state, uint32_t n) {
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % n;
}

static size_t user_end(const struct triples *all, size_t from) {
    size_t end = from + 1;
    while (end < all->n && all->at[end].user_length == all->at[from].user_length &&
           memcmp(all->at[end].user, all->at[from].user, TRIPLE_ID_MAX) == 0)
        end++;
    return end;
}

/* The same ratings with users in another order, and perhaps items numbered backwards. */
static void write_permuted(struct world *world, uint32_t seed, char path[TEMP_PATH_MAX]) {
    const struct triples *all = &world->triples;
    size_t *start = malloc((all->n + 1) * sizeof *start), n = 0;
    struct triples sorted = {0}, permuted = {0};
    char name[NAMES];
    assert_non_null(start);
    for (size_t i = 0; i < all->n; i++) triples_add(&sorted, all->at[i]);
    triples_sort(&sorted);
    for (size_t i = 0; i < sorted.n; i = user_end(&sorted, i)) start[n++] = i;
    for (size_t i = n; i > 1; i--) {
        size_t other = draw(&seed, (uint32_t)i), kept = start[i - 1];
        start[i - 1] = start[other];
        start[other] = kept;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t r = start[i], end = user_end(&sorted, start[i]); r < end; r++)
            triples_add(&permuted, sorted.at[r]);
    snprintf(name, sizeof name, "permuted%d.dpr", world->n_made++);
    temp_dir_file(&world->dir, name, path);
    triples_write(&permuted, false, seed % 2, path);
    free(sorted.at);
    free(permuted.at);
    free(start);
}

static struct dpmf_store *open_sharded(struct world *world, const char *path, uint32_t parts,
                                       char directory[TEMP_PATH_MAX]) {
    struct dpmf_store *store, *set;
    struct dpmf_shard_report report;
    char name[NAMES];
    snprintf(name, sizeof name, "shards%d", world->n_made++);
    temp_dir_file(&world->dir, name, directory);
    assert_int_equal(dpmf_store_open(path, NULL, NULL, &store, NULL), 0);
    assert_int_equal(dpmf_store_shard(store, directory, parts, NULL, &report, NULL), 0);
    assert_int_equal(report.parts, parts);
    assert_int_equal(report.users, store_n_users(store));
    assert_int_equal(report.ratings, store_n_ratings(store));
    dpmf_store_close(store);
    assert_int_equal(dpmf_store_open(directory, NULL, NULL, &set, NULL), 0);
    return set;
}

/* ---- releases -------------------------------------------------------------------------------- */

struct job {
    struct dpmf_store *store;
    struct dpmf_release_options options;
    const char *output;
    int threads;
    int failing; /* this rank is given another epsilon, file or store; -1: none */
    struct dpmf_store *other_store;
    const char *other_date; /* since when users are new for the failing rank; NULL: as for all */
    const char *vanishing;  /* a directory that is gone when the ratings are read; NULL: none */
    int code[RANKS_MAX];
    struct dpmf_error error[RANKS_MAX];
    struct dpmf_release_report report[RANKS_MAX];
    int n_asked; /* times that a rank asked its curator before it spent anything */
    bool is_stopped;
};

static int ask(void *self, const struct dpmf_release_report *report) {
    struct job *job = self;
    assert_int_equal(report->wishes_of_nobody, 2); /* sum over all ranks */
    __atomic_fetch_add(&job->n_asked, 1, __ATOMIC_RELAXED);
    return job->is_stopped;
}

static int take_away(void *self, const struct dpmf_progress *progress) {
    (void)progress;
    rmdir(((const struct job *)self)->vanishing);
    return 0;
}

static void train(void *self, const struct dpmf_cluster *cluster) {
    struct job *job = self;
    const int rank = cluster->rank;
    struct dpmf_run run = dpmf_run_default();
    struct dpmf_release_options options = job->options;
    struct dpmf_store *store = job->store;
    run.threads = job->threads;
    run.memory = 64 << 20;
    run.replace = true;
    run.cluster = cluster;
    run.progress = job->vanishing && rank == 0 ? take_away : NULL; /* when it has looked there */
    run.progress_self = job;
    if (rank == job->failing && job->other_store) store = job->other_store;
    if (rank == job->failing && job->other_date)
        options.users_since = job->other_date;
    else if (rank == job->failing && !job->other_store)
        options.user_privacy = NULL;
    job->code[rank] = dpmf_release_make(store, job->output, &options, &run, &job->report[rank],
                                        &job->error[rank]);
}

static struct job new_job(const struct world *world, struct dpmf_store *store,
                          const char *mechanism) {
    struct job job = {.store = store, .output = world->output, .threads = 1, .failing = -1};
    job.options = dpmf_release_options_default();
    job.options.epsilon = 20;
    if (strcmp(mechanism, "events") != 0) {
        job.options.range_min = 1;
        job.options.range_max = 5;
    }
    job.options.mechanism = mechanism;
    job.options.catalogue = world->items;
    job.options.user_privacy = world->wishes;
    job.options.ledger = world->ledger;
    job.options.has_insecure_seed = true;
    job.options.insecure_seed = 11;
    return job;
}

struct file_bytes {
    unsigned char *at;
    size_t n;
};

/* The tensors: what follows the header, in which the release's id is. */
static struct file_bytes read_tensors(const char *path) {
    struct file_bytes bytes = {malloc(1 << 22), 0};
    FILE *file = fopen(path, "rb");
    assert_true(file && bytes.at);
    bytes.n = fread(bytes.at, 1, 1 << 22, file);
    fclose(file);
    assert_true(bytes.n > 8);
    size_t header = 0;
    for (int i = 7; i >= 0; i--) header = header << 8 | bytes.at[i];
    assert_true(header + 8 < bytes.n);
    memmove(bytes.at, bytes.at + 8 + header, bytes.n - 8 - header);
    bytes.n -= 8 + header;
    return bytes;
}

static void expect_release(struct job *job, int n_ranks, const struct file_bytes *wanted) {
    remove(job->output);
    assert_int_equal(thread_cluster_run(n_ranks, 60, train, job), 0);
    for (int r = 0; r < n_ranks; r++) {
        if (job->code[r] != 0) fail_msg("rank %d: %s", r, job->error[r].message);
        assert_int_equal(job->report[r].users, job->report[0].users);
        assert_int_equal(job->report[r].users_left_out, 1);
        assert_int_equal(job->report[r].wishes_of_nobody, 2);
        assert_int_equal(job->report[r].wishes, job->report[r].users_with_a_wish + 2);
    }
    struct file_bytes made = read_tensors(job->output);
    assert_int_equal(made.n, wanted->n);
    assert_memory_equal(made.at, wanted->at, made.n);
    free(made.at);
}

/* What one process without a cluster makes of the store as it was written. */
static struct file_bytes release_alone(const struct world *world, const char *mechanism) {
    struct dpmf_store *store;
    struct dpmf_run run = dpmf_run_default();
    assert_int_equal(dpmf_store_open(world->ratings, NULL, NULL, &store, NULL), 0);
    struct job job = new_job(world, store, mechanism);
    run.threads = 2;
    run.memory = 64 << 20;
    run.replace = true;
    assert_int_equal(dpmf_release_make(store, job.output, &job.options, &run, &job.report[0], NULL),
                     0);
    dpmf_store_close(store);
    return read_tensors(job.output);
}

static void every_cluster_makes_the_same_release(void **state) {
    static const char *const mechanisms[] = {"residual", "biases",   "dpals",
                                             "gram",     "langevin", "events"};
    static const int ranks[] = {1, 2, 3, 4, 8};
    struct world *world = *state;
    uint32_t seed = 1;
    for (size_t m = 0; m < sizeof mechanisms / sizeof mechanisms[0]; m++) {
        struct file_bytes wanted = release_alone(world, mechanisms[m]);
        for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
            char path[TEMP_PATH_MAX], directory[TEMP_PATH_MAX];
            write_permuted(world, draw(&seed, 1000), path);
            struct dpmf_store *set =
                open_sharded(world, path, 1 + draw(&seed, 3 * RANKS_MAX), directory);
            struct job job = new_job(world, set, mechanisms[m]);
            for (job.threads = 1; job.threads <= 2; job.threads++)
                expect_release(&job, ranks[i], &wanted);
            dpmf_store_close(set);
            remove_shards(directory);
        }
        free(wanted.at);
    }
}

static void one_store_is_shared_too(void **state) {
    struct world *world = *state;
    struct dpmf_store *store;
    struct file_bytes wanted = release_alone(world, "residual");
    assert_int_equal(dpmf_store_open(world->ratings, NULL, NULL, &store, NULL), 0);
    struct job job = new_job(world, store, "residual");
    expect_release(&job, 3, &wanted); /* one block: two ranks have no users */
    dpmf_store_close(store);
    free(wanted.at);
}

/* ---- failures -------------------------------------------------------------------------------- */

static int count_entry(void *self, const struct ledger_entry *entry) {
    int *counts = self;
    counts[entry->state]++;
    return 0;
}

static void expect_failure(struct job *job, int n_ranks, int code, const char *says) {
    remove(job->output);
    assert_int_equal(thread_cluster_run(n_ranks, 60, train, job), 0);
    for (int r = 0; r < n_ranks; r++) {
        assert_int_equal(job->code[r], code);
        assert_non_null(strstr(job->error[r].message, says));
    }
    assert_int_not_equal(access(job->output, F_OK), 0);
}

/* Someone who is in the first block and in the last one: no process has both. */
static void a_user_in_two_shares_is_found(void **state) {
    struct world *world = *state;
    struct triples twice = {0};
    struct dpmf_store *store;
    char path[TEMP_PATH_MAX], user[TRIPLE_ID_MAX];
    for (int u = 0; u < 3 * STORE_BLOCK_USERS; u++) {
        snprintf(user, sizeof user, "u%d", u < 3 * STORE_BLOCK_USERS - 1 ? u : 0);
        triples_add(&twice, triple_make(user, "i1", 5, STORE_NO_TIME));
    }
    temp_dir_file(&world->dir, "twice.dpr", path);
    triples_write(&twice, false, false, path);
    free(twice.at);
    assert_int_equal(dpmf_store_open(path, NULL, NULL, &store, NULL), 0);
    struct job job = new_job(world, store, "biases");
    for (int n = 1; n <= 4; n++)
        expect_failure(&job, n, DPMF_ERR_STORE_CORRUPT, "the id of a user twice");
    dpmf_store_close(store);
}

static void ranks_that_were_told_otherwise_are_found_out(void **state) {
    struct world *world = *state;
    char directory[TEMP_PATH_MAX], path[TEMP_PATH_MAX];
    struct dpmf_store *set = open_sharded(world, world->ratings, 4, directory);
    struct job job = new_job(world, set, "biases");
    job.failing = 2; /* has no wishes */
    expect_failure(&job, 4, DPMF_ERR_PRIVACY_REFUSED, "different options or files");
    job.options.users_since = "2026-01-01";
    job.other_date = "2026-01-02";
    expect_failure(&job, 4, DPMF_ERR_PRIVACY_REFUSED, "different options or files");
    job.options.users_since = job.other_date = NULL;
    write_permuted(world, 5, path);
    assert_int_equal(dpmf_store_open(path, NULL, NULL, &job.other_store, NULL), 0);
    expect_failure(&job, 4, DPMF_ERR_STORE_CORRUPT, "different ratings");
    dpmf_store_close(job.other_store);
    job.other_store = NULL;
    job.failing = -1;
    job.options.mechanism = "posterior";
    job.options.user_privacy = NULL;
    expect_failure(&job, 2, DPMF_ERR_USAGE_CONFLICT, "not in a cluster");
    dpmf_store_close(set);
    remove_shards(directory);
}

/* One rank asks, for all; what it is told holds for all. */
static void the_first_rank_asks_before_anything_is_spent(void **state) {
    struct world *world = *state;
    char directory[TEMP_PATH_MAX];
    struct dpmf_store *set = open_sharded(world, world->ratings, 4, directory);
    struct job job = new_job(world, set, "biases");
    job.options.has_insecure_seed = false;
    job.options.before_spending = ask;
    job.options.before_spending_self = &job;
    job.is_stopped = true;
    expect_failure(&job, 4, DPMF_ERR_BASE_CANCELLED, "interrupted");
    assert_int_equal(job.n_asked, 1);
    int counts[5] = {0};
    assert_int_equal(entries_visit(world->ledger, count_entry, counts, NULL), 0);
    assert_int_equal(counts[LEDGER_RESERVED] + counts[LEDGER_RETURNED], 0);
    dpmf_store_close(set);
    remove_shards(directory);
}

/* A release that cannot be written is everyone's failure, and spends nothing; one that can is
 * entered once. */
static void the_ledger_has_one_entry_a_release(void **state) {
    struct world *world = *state;
    char directory[TEMP_PATH_MAX], place[TEMP_PATH_MAX], late[TEMP_PATH_MAX];
    int counts[5] = {0};
    struct dpmf_store *set = open_sharded(world, world->ratings, 3, directory);
    struct job job = new_job(world, set, "biases");
    job.options.has_insecure_seed = false;
    job.output = "/nowhere/out.safetensors";
    assert_int_equal(thread_cluster_run(3, 60, train, &job), 0);
    for (int r = 0; r < 3; r++) assert_int_equal(job.code[r], DPMF_ERR_IO_MISSING);
    assert_int_equal(entries_visit(world->ledger, count_entry, counts, NULL), 0);
    assert_int_equal(counts[LEDGER_RETURNED], 0); /* found out before it was touched */
    temp_dir_file(&world->dir, "place", place);
    temp_dir_file(&world->dir, "place/out", late);
    assert_int_equal(mkdir(place, 0700), 0);
    job.output = late;
    job.vanishing = place;
    assert_int_equal(thread_cluster_run(3, 60, train, &job), 0);
    for (int r = 0; r < 3; r++) assert_int_equal(job.code[r], DPMF_ERR_IO_MISSING);
    job.vanishing = NULL;
    assert_int_equal(entries_visit(world->ledger, count_entry, counts, NULL), 0);
    assert_int_equal(counts[LEDGER_RESERVED], 0);
    assert_int_equal(counts[LEDGER_COMMITTED], 0);
    assert_int_equal(counts[LEDGER_RETURNED], 1);
    job.output = world->output;
    assert_int_equal(thread_cluster_run(3, 60, train, &job), 0);
    memset(counts, 0, sizeof counts);
    assert_int_equal(entries_visit(world->ledger, count_entry, counts, NULL), 0);
    assert_int_equal(counts[LEDGER_RESERVED], 0);
    assert_int_equal(counts[LEDGER_COMMITTED], 1);
    struct dpmf_verification verification;
    assert_int_equal(dpmf_release_verify(world->output, 0, &verification, NULL), 0);
    dpmf_store_close(set);
    remove_shards(directory);
}

/* ---- shards ---------------------------------------------------------------------------------- */

static void shards_together_are_the_store(void **state) {
    struct world *world = *state;
    static const uint32_t parts[] = {1, 2, 7, USERS};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        char directory[TEMP_PATH_MAX];
        struct triples all = {0};
        struct dpmf_store *set = open_sharded(world, world->ratings, parts[i], directory);
        triples_of_store(set, &all);
        triples_assert_equal(&all, &world->triples); /* in the same order, too */
        uint64_t first[RANKS_MAX + 1], users = 0;
        for (int n = 1; n <= RANKS_MAX; n++) {
            user_shares_cut(set, n, first);
            assert_int_equal(first[0], 0);
            assert_int_equal(first[n], store_n_blocks(set));
            users = 0;
            for (int r = 0; r < n; r++) {
                struct dpmf_store *share;
                assert_true(first[r] <= first[r + 1]);
                assert_int_equal(
                    store_share_make(set, first[r], first[r + 1] - first[r], &share, NULL), 0);
                users += store_n_users(share);
                if (parts[i] == USERS)
                    assert_true((double)store_n_ratings(share) <
                                1.3 * (double)store_n_ratings(set) / n);
                dpmf_store_close(share);
            }
            assert_int_equal(users, store_n_users(set));
        }
        free(all.at);
        dpmf_store_close(set);
        remove_shards(directory);
    }
}

static void expect_refused(const char *directory, int code) {
    struct dpmf_store *store = (void *)1;
    struct dpmf_error error;
    assert_int_equal(dpmf_store_open(directory, NULL, NULL, &store, &error), code);
    assert_null(store);
}

static void write_list(const char *directory, const char *text) {
    char *path = shard_path(directory, SHARD_LIST);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    free(path);
}

/* What a list says of a store. */
static struct shard_entry entry_of(const char *path, const char *name) {
    struct shard_entry entry = {0};
    struct dpmf_store *store = NULL;
    assert_int_equal(store_open_file(path, &store, NULL), 0);
    assert_int_equal(store_digest(store, &entry.digest, NULL), 0);
    entry.users = store_n_users(store);
    entry.ratings = store_n_ratings(store);
    snprintf(entry.file, sizeof entry.file, "%s", name);
    dpmf_store_close(store);
    return entry;
}

static void read_list(const char *directory, char *text, size_t size) {
    char *path = shard_path(directory, SHARD_LIST);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t n = fread(text, 1, size - 1, file);
    text[n] = '\0';
    fclose(file);
    free(path);
}

/* A shard twice, another in its place, one missing, and lists that are none. */
static void a_set_that_is_not_whole_is_refused(void **state) {
    static const char *const lists[] = {
        "",
        "{}",
        "[]",
        "{\"dpmf_shards\":3,\"shards\":[]}",
        "{\"dpmf_shards\":2,\"digest\":\"0000000000000000\",\"shards\":[]}",
        "{\"dpmf_shards\":2,\"shards\":[{\"file\":\"../"
        "x.dpr\",\"users\":1,\"ratings\":1,\"digest\":"
        "\"0000000000000000\"}]}",
        "{\"dpmf_shards\":2,\"shards\":[{\"file\":\"00000.dpr\",\"users\":1}]}",
    };
    struct world *world = *state;
    char directory[TEMP_PATH_MAX], from[TEMP_PATH_MAX], to[TEMP_PATH_MAX];
    struct dpmf_store *set = open_sharded(world, world->ratings, 3, directory);
    struct dpmf_shard_report report;
    assert_int_equal(dpmf_store_shard(set, directory, 2, NULL, &report, NULL),
                     DPMF_ERR_USAGE_CONFLICT);
    assert_int_equal(dpmf_store_shard(set, world->ratings, USERS + 1, NULL, &report, NULL),
                     DPMF_ERR_USAGE_VALUE);
    assert_int_equal(dpmf_store_shard(set, world->ratings, 0, NULL, &report, NULL),
                     DPMF_ERR_USAGE_VALUE);
    dpmf_store_close(set);
    snprintf(from, sizeof from, "%.900s/00001.dpr", directory);
    snprintf(to, sizeof to, "%.900s/kept", directory);
    assert_int_equal(rename(from, to), 0);
    expect_refused(directory, DPMF_ERR_IO_MISSING);
    snprintf(to, sizeof to, "%.900s/00000.dpr", directory);
    assert_int_equal(link(to, from), 0);
    expect_refused(directory, DPMF_ERR_STORE_CORRUPT);
    /* A copy under a name of its own, in a list that has it. */
    struct shard_entry twice[2];
    twice[0] = twice[1] = entry_of(from, "00000.dpr");
    strcpy(twice[1].file, "00001.dpr");
    assert_int_equal(shard_list_write(directory, twice, 2, NULL), 0);
    expect_refused(directory, DPMF_ERR_STORE_CORRUPT);
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        write_list(directory, lists[i]);
        expect_refused(directory, DPMF_ERR_STORE_CORRUPT);
    }
    remove_shards(directory);
}

/* A list may have blanks after its end, but no more than 1 MiB is read. */
static void a_list_that_is_too_long_is_refused(void **state) {
    struct world *world = *state;
    enum { LONG = (1 << 20) + 1 };
    char directory[TEMP_PATH_MAX], *list = malloc(LONG + 1);
    assert_non_null(list);
    dpmf_store_close(open_sharded(world, world->ratings, 2, directory));
    read_list(directory, list, LONG);
    const size_t n = strlen(list);
    memset(list + n, ' ', LONG - n);
    list[LONG] = '\0';
    write_list(directory, list);
    expect_refused(directory, DPMF_ERR_STORE_CORRUPT);
    list[LONG - 1] = '\0';
    write_list(directory, list);
    struct dpmf_store *store = NULL;
    assert_int_equal(dpmf_store_open(directory, NULL, NULL, &store, NULL), 0);
    dpmf_store_close(store);
    free(list);
    remove_shards(directory);
}

/* Puts the whole of a list's i-th entry, from { to }, at `entry`. */
static void find_entry(char *list, int i, char **entry, size_t *length) {
    char *at = strchr(list, '[');
    for (int e = 0; e <= i; e++) {
        assert_non_null(at);
        at = strchr(at + 1, '{');
    }
    assert_non_null(at);
    *entry = at;
    *length = (size_t)(strchr(at, '}') + 1 - at);
}

static void expect_fault(const char *text, const char *words) {
    static struct shard_entry entries[SHARDS_MAX];
    const char *fault = NULL;
    assert_int_equal(shard_list_parse(text, strlen(text), entries, &fault), 0);
    assert_non_null(fault);
    if (!strstr(fault, words)) fail_msg("%s", fault);
}

/* Parts of two cuts of one store, each of them whole, in one list: some users would be there twice.
 * Nor is a list what it was without one of its entries, with them in another order, or with another
 * number in one. */
static void parts_of_two_cuts_are_refused(void **state) {
    struct world *world = *state;
    char three[TEMP_PATH_MAX], two[TEMP_PATH_MAX], from[TEMP_PATH_MAX], to[TEMP_PATH_MAX];
    char list[1024], other[1024], mixed[2048], *entry, *theirs;
    size_t length, their_length;
    dpmf_store_close(open_sharded(world, world->ratings, 3, three));
    dpmf_store_close(open_sharded(world, world->ratings, 2, two));
    read_list(three, list, sizeof list);
    read_list(two, other, sizeof other);

    find_entry(list, 1, &entry, &length);
    find_entry(other, 1, &theirs, &their_length);
    snprintf(mixed, sizeof mixed, "%.*s%.*s%s", (int)(entry - list), list, (int)their_length,
             theirs, entry + length);
    snprintf(from, sizeof from, "%.900s/00001.dpr", two);
    snprintf(to, sizeof to, "%.900s/00001.dpr", three);
    assert_int_equal(rename(from, to), 0);
    write_list(three, mixed);
    expect_refused(three, DPMF_ERR_STORE_CORRUPT);
    expect_fault(mixed, "not as it was written");

    snprintf(mixed, sizeof mixed, "%.*s%s", (int)(entry - list), list, entry + length + 1);
    expect_fault(mixed, "not as it was written");
    char *first = strchr(list, '[') + 1;
    snprintf(mixed, sizeof mixed, "%.*s%.*s,%.*s%s", (int)(first - list), list, (int)length, entry,
             (int)(entry - 1 - first), first, entry + length);
    expect_fault(mixed, "not as it was written");
    snprintf(mixed, sizeof mixed, "%s", list);
    char *users = strstr(mixed, "\"users\":") + strlen("\"users\":");
    *users = *users == '9' ? '8' : '9';
    expect_fault(mixed, "not as it was written");

    char *digest = strstr(list, "\"digest\""); /* a list of the version before */
    snprintf(mixed, sizeof mixed, "{\"dpmf_shards\":1,%s", strchr(digest, ',') + 1);
    expect_fault(mixed, "from before");
    remove_shards(three);
    remove_shards(two);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_cluster_makes_the_same_release, make_world,
                                        end_world),
        cmocka_unit_test_setup_teardown(one_store_is_shared_too, make_world, end_world),
        cmocka_unit_test_setup_teardown(a_user_in_two_shares_is_found, make_world, end_world),
        cmocka_unit_test_setup_teardown(ranks_that_were_told_otherwise_are_found_out, make_world,
                                        end_world),
        cmocka_unit_test_setup_teardown(the_first_rank_asks_before_anything_is_spent, make_world,
                                        end_world),
        cmocka_unit_test_setup_teardown(the_ledger_has_one_entry_a_release, make_world, end_world),
        cmocka_unit_test_setup_teardown(shards_together_are_the_store, make_world, end_world),
        cmocka_unit_test_setup_teardown(parts_of_two_cuts_are_refused, make_world, end_world),
        cmocka_unit_test_setup_teardown(a_set_that_is_not_whole_is_refused, make_world, end_world),
        cmocka_unit_test_setup_teardown(a_list_that_is_too_long_is_refused, make_world, end_world),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
