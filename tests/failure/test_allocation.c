/*
 * Memory that runs out at the n-th allocation, and calls of the system that fail at the n-th. Each
 * scenario of the table at the end is run again and again, with one call more succeeding each time,
 * until none fails. Without memory every run before that must return DPMF_ERR_BASE_NO_MEMORY and
 * leave no file behind; where a file cannot be opened, read, written, flushed or renamed it must
 * return an error, or be whole; and an interrupted call, or a part of the bytes, must change
 * nothing. No run may leave memory or a temporary file, or crash. With DPMF_TEST_LONG this is done
 * for all n. Without it, of the calls made by the same chain of callers, return address by return
 * address, the first fails: a scenario is mostly loops, and no place that can fail is left out.
 *
 * Leaks are left to the leak sanitizer, or, linked with --wrap=free too, counted here.
 */
#define _GNU_SOURCE
#include <ftw.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "../unit/checkpoint_make.h"
#include "../unit/ledger_entries.h"
#include "../unit/made_release.h"
#include "../unit/temp_dir.h"
#include "base/bytes.h"
#include "base/error.h"
#include "base/pipeline.h"
#include "base/threads.h"
#include "database/sqlite_library.h"
#include "dpmf.h"
#include "dpmf_text.h"
#include "failing_calls.h"
#include "files/output_file.h"
#include "ledger/ledger.h"
#include "mechanisms/events/events.h"
#include "mechanisms/home_columns.h"
#include "mechanisms/mechanism.h"
#include "model/safetensors.h"
#include "privacy/catalogue.h"
#include "store/block_packer.h"
#include "store/rating_sorter.h"
#include "store/store.h"
#include "table_scenarios.h"

/* ---- running a scenario ---------------------------------------------------------------------- */

struct scenario {
    const char *name;
    int (*run)(void);  /* @return 0 or a negative code */
    unsigned reported; /* faults that may be reported where others go on */
};

static struct temp_dir dir; /* each scenario writes here, and here alone */
static char output_path[TEMP_PATH_MAX], second_path[TEMP_PATH_MAX];

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where) {
    (void)status, (void)kind;
    return where->level > 0 ? remove(path) : 0;
}

static void remove_outputs(void) {
    assert_int_equal(nftw(dir.path, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

/* A name that only someone who is at work needs. */
static bool has_temporary(void) {
    DIR *names = opendir(dir.path);
    int n_hidden = 0;
    assert_non_null(names);
    for (struct dirent *entry; (entry = readdir(names));) n_hidden += entry->d_name[0] == '.';
    closedir(names);
    return n_hidden > 2; /* . and .. */
}

static void check_nothing_is_left(const struct scenario *scenario, long n, long live_before) {
    long live = atomic_load(&n_live);
    if (atomic_load(&free_is_wrapped) && live != live_before)
        fail_msg("%s: %ld blocks leak when allocation %ld fails", scenario->name,
                 live - live_before, n);
    if (temp_dir_count(&dir) != 0)
        fail_msg("%s: files are left when allocation %ld fails", scenario->name, n);
}

/* The chains of callers that were seen; by open addressing, 0 where there is none. */
static uint64_t chains[2 * MAX_CALLS];

static bool is_new_chain(uint64_t hash) {
    const size_t n_places = sizeof chains / sizeof chains[0];
    size_t place = (size_t)(hash % n_places);
    while (chains[place] != 0 && chains[place] != hash) place = (place + 1) % n_places;
    const bool is_new = chains[place] == 0;
    chains[place] = hash;
    return is_new;
}

/* Runs a scenario to its end, and marks the calls that are to fail.
 * @return how many it made; *n_files is what it wrote */
static long choose_calls(const struct scenario *scenario, bool *chosen, int *n_files) {
    atomic_store(&n_watched, 0);
    atomic_store(&is_watched, true);
    const int code = scenario->run();
    atomic_store(&is_watched, false);
    if (code != 0) fail_msg("%s: code %d when nothing fails", scenario->name, code);
    *n_files = temp_dir_count(&dir);
    remove_outputs();

    const long n_made = atomic_load(&n_watched);
    if (n_made >= MAX_CALLS) fail_msg("%s: no end of calls", scenario->name);
    const bool all = getenv("DPMF_TEST_LONG") != NULL;
    memset(chains, 0, sizeof chains);
    for (long i = 0; i < n_made; i++) chosen[i] = is_new_chain(callers[i]) || all;
    return n_made;
}

static bool is_refused(int code, int n_files, int n_files_whole) {
    (void)n_files, (void)n_files_whole;
    return code == DPMF_ERR_BASE_NO_MEMORY;
}

/* What nothing depends on may fail, and then all is there; a bug or a lack of memory it is not. */
static bool is_reported(int code, int n_files, int n_files_whole) {
    if (code == 0) return n_files == n_files_whole;
    return code < 0 && code != DPMF_ERR_BASE_BUG && code != DPMF_ERR_BASE_NO_MEMORY;
}

static bool is_unharmed(int code, int n_files, int n_files_whole) {
    return code == 0 && n_files == n_files_whole;
}

/* What must come of a run in which a call failed. */
struct trial {
    const char *name;
    enum fault fault;
    bool (*is_right)(int code, int n_files, int n_files_whole);
};

static void fail_calls(const struct scenario *scenario, const struct trial *trial) {
    static bool chosen[MAX_CALLS];
    const clock_t begun = clock();
    int n_files;
    atomic_store(&tried, trial->fault);
    const long n_made = choose_calls(scenario, chosen, &n_files);
    long n_failed = 0;
    for (long n = 1; n < MAX_CALLS; n++) {
        if (n <= n_made && !chosen[n - 1]) continue;
        long live_before = atomic_load(&n_live);
        atomic_store(&until_failure, n);
        const int code = scenario->run();
        const long left = atomic_exchange(&until_failure, 0);
        if (left > 0) {
            assert_int_equal(code, 0);
            remove_outputs();
            check_nothing_is_left(scenario, n, live_before);
            print_message("%s: %ld of %ld %s, %.1f s\n", scenario->name, n_failed, n_made,
                          trial->name, (double)(clock() - begun) / CLOCKS_PER_SEC);
            return;
        }
        bool (*const is_right)(int, int, int) =
            scenario->reported & trial->fault ? is_reported : trial->is_right;
        if (!is_right(code, temp_dir_count(&dir), n_files))
            fail_msg("%s: code %d and %d files when call %ld fails, %s", scenario->name, code,
                     temp_dir_count(&dir), n, trial->name);
        if (has_temporary())
            fail_msg("%s: a temporary file stays when call %ld fails", scenario->name, n);
        if (trial->fault != NO_MEMORY) remove_outputs();
        check_nothing_is_left(scenario, n, live_before);
        n_failed++;
    }
    fail_msg("%s: no end of calls", scenario->name);
}

/* ---- the scenarios of lib/base --------------------------------------------------------------- */

static int json_writer(void) {
    struct dpmf_json *json = dpmf_json_new();
    dpmf_json_begin_object(json, NULL);
    dpmf_json_begin_array(json, "numbers");
    for (int i = 0; i < 1000; i++) dpmf_json_double(json, NULL, i / 7.0);
    dpmf_json_end_array(json);
    dpmf_json_string(json, "text", "a \"quoted\" text\n");
    dpmf_json_end_object(json);
    bool whole = dpmf_json_text(json, NULL) != NULL;
    dpmf_json_free(json);
    return whole ? 0 : DPMF_ERR_BASE_NO_MEMORY;
}

static int reserve(void) {
    struct byte_buffer buffer = {0};
    int code = 0;
    for (int i = 0; i < 5000 && code == 0; i++) {
        uint8_t *room = byte_buffer_room(&buffer, 3);
        if (room)
            memset(room, i, 3), buffer.n += 3;
        else
            code = DPMF_ERR_BASE_NO_MEMORY;
    }
    free(buffer.bytes);
    return code;
}

static void do_nothing(void *self, int worker) { (void)self, (void)worker; }

static int pool(void) {
    struct thread_pool *threads;
    struct dpmf_error error;
    int code = thread_pool_init(&threads, 3, &error);
    if (code == 0) thread_pool_run(threads, do_nothing, NULL);
    thread_pool_free(threads);
    return code;
}

static int produce_some(void *self, void *job, struct dpmf_error *error) {
    (void)error;
    *(int *)job = 0;
    return (*(int *)self)-- > 0;
}

/* Work that allocates: whichever thread fails, the run must end with that failure. */
static int work_with_memory(void *self, int worker, void *job, struct dpmf_error *error) {
    (void)self, (void)worker;
    char *block = memory_alloc(1, 100);
    if (!block) return error_no_memory(error);
    *(int *)job = 1;
    free(block);
    return 0;
}

static int pipeline(void) {
    const struct pipeline_stages stages = {produce_some, work_with_memory, NULL};
    struct dpmf_error error;
    int left = 20, objects[4];
    void *jobs[] = {&objects[0], &objects[1], &objects[2], &objects[3]};
    return pipeline_run(&stages, &left, jobs, 4, 2, &error);
}

static int output_file(void) {
    struct output_file *file;
    struct dpmf_error error;
    int code = output_file_open(&file, output_path, OUTPUT_PRIVATE, &error);
    if (code == 0) code = output_file_write(file, "text", 4, &error);
    if (code == 0) return output_file_commit(file, &error);
    output_file_abandon(file);
    return code;
}

static int nameless_file(void) {
    int fd;
    int code = output_file_nameless(output_path, &fd, NULL);
    if (code == 0) close(fd);
    return code;
}

/* ---- lib/model ------------------------------------------------------------------------------- */

static int safetensors(void) {
    static const float values[12] = {1, 2, 3};
    static const char *const metadata[] = {"dpmf.kind", "checkpoint"};
    const struct tensor tensors[] = {
        {"factors", TENSOR_F32, 2, {4, 3}, values, 0},
        {"biases", TENSOR_F32, 1, {12, 0}, values, 0},
    };
    struct dpmf_error error;
    return safetensors_write(output_path, OUTPUT_PRIVATE, tensors, 2, metadata, 1, &error);
}

static struct factors made;

static int checkpoint_writing(void) {
    const struct checkpoint_state state = make_state();
    struct dpmf_error error;
    return whole_checkpoint_write(output_path, &made, &state, "{}", &error);
}

static char model_path[TEMP_PATH_MAX];

static int checkpoint_reading(void) {
    struct factors factors;
    struct checkpoint_state state;
    struct dpmf_error error;
    int code = whole_checkpoint_read(model_path, make_stride, 1, &factors, &state, &error);
    factors_free(&factors);
    return code;
}

/* ---- lib/ratings, lib/synth, lib/store ------------------------------------------------------- */

static struct temp_dir inputs;
static char rows_path[TEMP_PATH_MAX], csv_path[TEMP_PATH_MAX], json_path[TEMP_PATH_MAX],
    netflix_path[TEMP_PATH_MAX], packed_path[TEMP_PATH_MAX], held_out_path[TEMP_PATH_MAX],
    probe_path[TEMP_PATH_MAX];

static struct dpmf_run one_thread(void) {
    struct dpmf_run run = dpmf_run_default();
    run.threads = 1;
    run.memory = (uint64_t)64 << 20;
    return run;
}

/* Ids on both sides of the length from which they are hashed, duplicates, quotes, times. */
static void make_inputs(void) {
    static const char csv[] =
        "user,item,rating,timestamp\n1,2,3,4\n\"a,b\",a rather long item id,4.5,\n"
        "1,2,5,6\n22,a rather long item id,0.125,7\n22,2,1,9\n";
    /* other ratings of the same people and items */
    static const char held_out[] =
        "user,item,rating,timestamp\n1,a rather long item id,2,3\n\"a,b\",2,3,4\n";
    static const char json[] = "{\"user\":\"\\u00e9t\\u00e9\",\"item\":5,\"rating\":2}\n";
    static const char netflix[] = "1:\n7,3,2005-09-06\n8,5,2005-09-07\n2:\n7,1,2005-09-08\n";
    static const char probe[] = "2:\n1\n22\n";
    temp_dir_make(&inputs);
    static const char rows[] = "item,negatives,user\ni1,i2,u1\n";
    temp_dir_file(&inputs, "x.csv", csv_path);
    temp_dir_file(&inputs, "rows.csv", rows_path);
    temp_dir_write(rows_path, rows, sizeof rows - 1);
    temp_dir_file(&inputs, "x.jsonl", json_path);
    temp_dir_file(&inputs, "x.txt", netflix_path);
    temp_dir_file(&inputs, "x.dpr", packed_path);
    temp_dir_file(&inputs, "y.dpr", held_out_path);
    temp_dir_file(&inputs, "probe", probe_path);
    const char *input = csv_path;
    temp_dir_write(csv_path, held_out, sizeof held_out - 1);
    assert_int_equal(dpmf_import(&input, 1, held_out_path, NULL, NULL, NULL, NULL), 0);
    temp_dir_write(csv_path, csv, sizeof csv - 1);
    temp_dir_write(json_path, json, sizeof json - 1);
    temp_dir_write(netflix_path, netflix, sizeof netflix - 1);
    temp_dir_write(probe_path, probe, sizeof probe - 1);
    struct dpmf_input_options options = dpmf_input_options_default();
    options.by_record = true; /* as private runs want it */
    assert_int_equal(dpmf_import(&input, 1, packed_path, &options, NULL, NULL, NULL), 0);
}

static int import_all(void) {
    const struct dpmf_run run = one_thread();
    const char *all[] = {csv_path, json_path, netflix_path, packed_path};
    struct dpmf_error error;
    return dpmf_import(all, 4, output_path, NULL, &run, NULL, &error);
}

/* A table and a query of the same database; where it was built without SQLite, its absence is no
 * want of memory. */
static char table_address[TEMP_PATH_MAX + 64], query_address[TEMP_PATH_MAX + 64];

static void make_database(void) {
#ifdef DPMF_WITH_SQLITE
    char path[TEMP_PATH_MAX];
    struct sqlite_library sqlite;
    sqlite3 *database;
    temp_dir_file(&inputs, "x.db", path);
    assert_int_equal(sqlite_library_load(&sqlite, NULL), 0);
    assert_int_equal(
        sqlite.open_v2(path, &database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL), 0);
    const char *sql = "CREATE TABLE ratings (user_id, note, item, rating, time);"
                      "INSERT INTO ratings VALUES (1, NULL, 'a rather long item id', 3.5, 7),"
                      "('b', '', 2, 4, NULL), (1, '', 2, '5', '2005-09-06')";
    assert_int_equal(sqlite.exec(database, sql, NULL, NULL, NULL), 0);
    sqlite.close_v2(database);
    snprintf(table_address, sizeof table_address, "sqlite:%s?table=ratings", path);
    snprintf(query_address, sizeof query_address, "sqlite:%s?query=SELECT 7, 8, 9 AS rating", path);
#else
    snprintf(table_address, sizeof table_address, "%s", csv_path);
    snprintf(query_address, sizeof query_address, "%s", json_path);
#endif
}

static int import_database(void) {
    const struct dpmf_run run = one_thread();
    const char *all[] = {table_address, query_address};
    struct dpmf_error error;
    return dpmf_import(all, 2, output_path, NULL, &run, NULL, &error);
}

static int open_database(void) {
    const struct dpmf_run run = one_thread();
    struct dpmf_store *store;
    struct dpmf_error error;
    int code = dpmf_store_open(table_address, NULL, &run, &store, &error);
    dpmf_store_close(store);
    return code;
}

static int generate(void) {
    const struct dpmf_run run = one_thread();
    struct dpmf_synth_options options = dpmf_synth_options_default();
    options.users = 30;
    options.items = 20;
    options.ratings = 200;
    options.times = true;
    options.catalogue = second_path;
    struct dpmf_error error;
    return dpmf_synth(output_path, &options, &run, NULL, &error);
}

static struct dpmf_store *held_out;

static int with_store(int (*use)(struct dpmf_store *store, const struct dpmf_run *run)) {
    const struct dpmf_run run = one_thread();
    struct dpmf_store *store;
    struct dpmf_error error;
    int code = dpmf_store_open(packed_path, NULL, &run, &store, &error);
    held_out = NULL;
    if (code == 0) code = dpmf_store_open(held_out_path, NULL, &run, &held_out, &error);
    if (code == 0) code = use(store, &run);
    dpmf_store_close(store);
    dpmf_store_close(held_out);
    return code;
}

static int describe_it(struct dpmf_store *store, const struct dpmf_run *run) {
    struct dpmf_description description;
    return dpmf_store_describe(store, output_path, run, &description, NULL);
}

static int export_it(struct dpmf_store *store, const struct dpmf_run *run) {
    return dpmf_store_export_csv(store, output_path, -1, run, NULL, NULL);
}

static int split_it(struct dpmf_store *store, const struct dpmf_run *run, enum dpmf_split_by by) {
    struct dpmf_split_options options = dpmf_split_options_default();
    options.by = by;
    options.test_fraction = 0.5;
    options.probe = by == DPMF_SPLIT_PROBE ? probe_path : NULL;
    return dpmf_store_split(store, output_path, second_path, &options, run, NULL, NULL);
}

static int split_by_time(struct dpmf_store *store, const struct dpmf_run *run) {
    return split_it(store, run, DPMF_SPLIT_TIME);
}

static int split_by_probe(struct dpmf_store *store, const struct dpmf_run *run) {
    return split_it(store, run, DPMF_SPLIT_PROBE);
}

/* The directory is removed here: it is no file. */
static int shard_it(struct dpmf_store *store, const struct dpmf_run *run) {
    static const char *const names[] = {"00000.dpr", "00001.dpr", "shards.json"};
    struct dpmf_store *set = NULL;
    int code = dpmf_store_shard(store, output_path, 2, run, NULL, NULL);
    if (code < 0) return code;
    const char *const shards[] = {output_path};
    code = dpmf_store_open(output_path, NULL, run, &set, NULL);
    dpmf_store_close(set);
    if (code == 0) code = dpmf_import(shards, 1, second_path, NULL, run, NULL, NULL);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[TEMP_PATH_MAX + 16];
        snprintf(path, sizeof path, "%s/%s", output_path, names[i]);
        unlink(path);
    }
    rmdir(output_path);
    return code;
}

static int describing(void) { return with_store(describe_it); }
static int exporting(void) { return with_store(export_it); }
static int splitting_by_time(void) { return with_store(split_by_time); }
static int splitting_by_probe(void) { return with_store(split_by_probe); }
static int sharding(void) { return with_store(shard_it); }

/* Users of many items each, more than memory holds at once, and one with more of them than are
 * sorted at a time. */
enum { SPILLED = 700000, SPILL_USERS = 7, SPILL_ITEMS = 600000 };
static uint32_t spilled_user[SPILLED], spilled_item[SPILLED], spilled_rank[SPILL_ITEMS];
static double spilled_value[SPILLED];

static void make_spilled(void) {
    for (uint32_t i = 0; i < SPILLED; i++) {
        spilled_user[i] = i < SPILL_ITEMS ? 0 : 1 + i % (SPILL_USERS - 1);
        spilled_item[i] = i % SPILL_ITEMS;
        spilled_value[i] = i % 5;
    }
    for (uint32_t i = 0; i < SPILL_ITEMS; i++) spilled_rank[i] = i;
}

static void ignore_duplicate(void *self, uint32_t item) { (void)self, (void)item; }

static int sorting_beyond_memory(void) {
    struct rating_sorter *sorter;
    struct sorter_space space = {0};
    struct store_block block;
    struct dpmf_error error;
    int code = rating_sorter_init(&sorter, (uint64_t)1 << 20, output_path, &error);
    if (code < 0) return code;
    for (size_t half = 0; half < 2 && code == 0; half++) {
        const size_t at = half * (SPILLED / 2);
        code = rating_sorter_add(sorter, spilled_user + at, spilled_item + at, spilled_value + at,
                                 NULL, SPILLED / 2, &error);
        rating_sorter_set_memory(sorter, (uint64_t)1 << 19); /* what is there already goes first */
    }
    if (code == 0) code = rating_sorter_finish(sorter, SPILL_USERS, &error);
    for (uint64_t s = 0; code == 0 && s < rating_sorter_n_slices(sorter); s++)
        code = rating_sorter_slice(sorter, s, spilled_rank, &space, ignore_duplicate, NULL, &block,
                                   &error);
    sorter_space_free(&space);
    rating_sorter_free(sorter);
    return code;
}

/* More users than a block has. */
static int packing(void) {
    enum { N = STORE_BLOCK_USERS + 1 };
    static uint64_t start[N + 1];
    static uint32_t item[N];
    static double value[N];
    static char ids[N];
    const struct store_item one = {"x", 1, N};
    struct block_packer packer = {0};
    struct store_writer *writer;
    struct dpmf_error error;
    for (size_t u = 0; u < N; u++) start[u + 1] = u + 1, ids[u] = 'u';
    const struct store_block block = {.n_users = N,
                                      .n_ratings = N,
                                      .start = start,
                                      .item = item,
                                      .value = value,
                                      .id_bytes = ids,
                                      .id_start = start};
    int code = store_writer_open(&writer, output_path, false, NULL, &error);
    if (code < 0) return code;
    block_packer_init(&packer, writer, false);
    code = block_packer_add(&packer, &block, &error);
    if (code == 0) code = block_packer_flush(&packer, &error);
    block_packer_free(&packer);
    if (code == 0) code = store_writer_finish(writer, &one, 1, &error);
    if (code == 0) return store_writer_commit(writer, NULL, &error);
    store_writer_abandon(writer);
    return code;
}

/* Any format where a store is taken. */
static int opening_text(void) {
    const struct dpmf_run run = one_thread();
    struct dpmf_store *store;
    struct dpmf_error error;
    int code = dpmf_store_open(json_path, NULL, &run, &store, &error);
    dpmf_store_close(store);
    return code;
}

static int taking_arrays(void) {
    static const int64_t users[] = {0, 1, 1}, items[] = {1, 0, 1}, offsets[] = {0, 1, 2};
    static const double ratings[] = {1, 2, 3};
    const struct dpmf_arrays arrays = {.size = sizeof arrays,
                                       .n = 3,
                                       .n_users = 2,
                                       .n_items = 2,
                                       .users = users,
                                       .items = items,
                                       .ratings = ratings,
                                       .item_id_bytes = "ab",
                                       .item_id_offsets = offsets};
    const struct dpmf_run run = one_thread();
    struct dpmf_store *store;
    struct dpmf_error error;
    int code = dpmf_store_from_arrays(&arrays, NULL, &run, &store, &error);
    dpmf_store_close(store);
    return code;
}

/* ---- lib/recommend and lib/evaluate ---------------------------------------------------------- */

static struct dpmf_model *model;

static int model_opening(void) {
    struct dpmf_model *opened;
    struct dpmf_error error;
    int code = dpmf_model_open(model_path, &opened, &error);
    dpmf_model_close(opened);
    return code;
}

static int explaining(void) {
    static const struct dpmf_own_rating ratings[] = {{0, 5}, {1, 2}, {2, 4}};
    struct dpmf_score score;
    double shares[3];
    int code = dpmf_model_explain(model, ratings, 3, NULL, 4, &score, shares, NULL); /* k is 3 */
    return code < 0 ? code : dpmf_model_explain(model, ratings, 2, NULL, 4, &score, shares, NULL);
}

static int evaluate_it(struct dpmf_store *store, const struct dpmf_run *run) {
    const struct dpmf_evaluate_options options = {.size = sizeof options, .ranking = 2};
    struct dpmf_evaluation evaluation;
    return dpmf_model_evaluate(model, held_out, store, &options, run, &evaluation, NULL);
}

static int rank_candidates(struct dpmf_store *store, const struct dpmf_run *run) {
    const struct dpmf_field fields[] = {{"u1", 2, 1}, {"i1", 2, 4}, {"i2", 2, 7}, {"i3", 2, 10}};
    const struct dpmf_table_record row = {.file = "rows", .line = 2, .field = fields, .n = 4};
    struct dpmf_candidates_evaluation evaluation;
    struct dpmf_candidates *candidates = NULL;
    int code = dpmf_candidates_new(&candidates, NULL);
    for (int i = 0; code == 0 && i < 100; i++) code = dpmf_candidates_add(candidates, &row, NULL);
    if (code == 0) code = dpmf_candidates_read(candidates, rows_path, run, NULL);
    if (code == 0)
        code =
            dpmf_model_rank_candidates(model, candidates, store, NULL, 2, run, &evaluation, NULL);
    dpmf_candidates_free(candidates);
    return code;
}

/* With a validation set and a snapshot, by both kinds of solutions. */
static int train_by_ials(struct dpmf_store *store, const struct dpmf_run *run) {
    struct dpmf_train_options options = dpmf_train_options_default();
    int code = dpmf_train_options_solver("ials", &options);
    options.factors = 3;
    options.epochs = 2;
    options.snapshot = output_path;
    for (int exact = 0; exact < 2 && code == 0; exact++) {
        if (exact) options.ials.row_steps = 0;
        code = dpmf_train(store, held_out, output_path, &options, run, NULL, NULL, NULL, NULL);
    }
    unlink(output_path);
    return code;
}

/* With a validation set and a snapshot, of ratings and of events. */
static int continue_it(struct dpmf_store *store, const struct dpmf_run *run) {
    struct dpmf_continue_options options = dpmf_continue_options_default();
    int code = 0;
    options.snapshot = second_path;
    for (int ranks = 0; ranks < 2 && code == 0; ranks++) {
        struct dpmf_train_options train = dpmf_train_options_default();
        if (ranks) code = dpmf_train_options_solver("ials", &train);
        train.factors = 3;
        train.epochs = 1;
        if (code == 0)
            code = dpmf_train(store, NULL, output_path, &train, run, NULL, NULL, NULL, NULL);
        if (code == 0)
            code = dpmf_train_continue(output_path, store, held_out, output_path, &options, run,
                                       NULL, NULL, NULL, NULL);
    }
    unlink(output_path);
    unlink(second_path);
    return code;
}

/* With the old ratings at hand: of likes, so that not all new pairs are events. */
static int continue_with_history(struct dpmf_store *store, const struct dpmf_run *run) {
    struct dpmf_continue_options options = dpmf_continue_options_default();
    struct dpmf_train_options train = dpmf_train_options_default();
    int code = dpmf_train_options_solver("ials", &train);
    train.factors = 3;
    train.epochs = 1;
    train.ials.has_like = true;
    train.ials.like = 3;
    options.history = store;
    if (code == 0) code = dpmf_train(store, NULL, output_path, &train, run, NULL, NULL, NULL, NULL);
    if (code == 0)
        code = dpmf_train_continue(output_path, held_out, NULL, output_path, &options, run, NULL,
                                   NULL, NULL, NULL);
    unlink(output_path);
    return code;
}

static int ignore_list(void *self, const struct dpmf_user_list *list) {
    (void)self, (void)list;
    return 0;
}

static int ignore_history(void *self, const char *user, size_t length,
                          const struct dpmf_history *history) {
    (void)self;
    (void)user;
    (void)length;
    (void)history;
    return 0;
}

static int visit_histories(struct dpmf_store *store, const struct dpmf_run *run) {
    return dpmf_model_histories(model, store, run, ignore_history, NULL, NULL);
}

static int recommend_all(struct dpmf_store *store, const struct dpmf_run *run) {
    return dpmf_model_recommend_all(model, store, NULL, NULL, NULL, 2, run, ignore_list, NULL,
                                    NULL);
}

static int look_up(struct dpmf_store *store, const struct dpmf_run *run) {
    struct dpmf_history history;
    int code = dpmf_model_history(model, store, "22", 2, run, &history, NULL);
    dpmf_history_free(&history);
    return code;
}

static int folding_in(void) {
    static const struct dpmf_own_rating ratings[] = {{0, 5}, {1, 2}, {2, 4}};
    struct dpmf_user *user;
    int code = dpmf_user_fold_in(model, ratings, 3, &user, NULL);
    dpmf_user_free(user);
    return code;
}

static int find_newcomer(struct dpmf_store *store, const struct dpmf_run *run) {
    struct dpmf_newcomers *newcomers;
    const struct dpmf_user *user;
    int code = dpmf_newcomers_open(model, store, run, &newcomers, NULL);
    if (code == 0) code = dpmf_newcomers_find(newcomers, "22", 2, &user, NULL);
    dpmf_newcomers_close(newcomers);
    return code;
}

/* A snapshot may be there when a later step fails, and is whole: it is gone on from, or else taken
 * away. */
static int train_it(struct dpmf_store *store, const struct dpmf_run *run) {
    struct dpmf_train_options options = dpmf_train_options_default();
    options.factors = options.epochs = 2;
    options.deterministic = true;
    options.decay = 0.5; /* so that there may be more epochs afterwards */
    options.snapshot = second_path;
    options.snapshot_blocks = 1;
    int code = dpmf_train(store, held_out, output_path, &options, run, NULL, NULL, NULL, NULL);
    if (code == 0) {
        options.resume = second_path;
        options.epochs++;
        code = dpmf_train(store, held_out, output_path, &options, run, NULL, NULL, NULL, NULL);
    }
    if (code < 0) remove_outputs();
    return code;
}

/* A mean of samples, and what is seen of the chains. */
static int sample_by(struct dpmf_store *store, const struct dpmf_run *run, const char *solver,
                     const char *noise) {
    struct dpmf_train_options options = dpmf_train_options_default();
    options.solver = solver;
    options.sampler.noise = noise;
    options.factors = 2;
    options.epochs = 3;
    options.sampler.chains = 2;
    options.sampler.average = true;
    options.sampler.trace = second_path;
    int code = dpmf_train(store, held_out, output_path, &options, run, NULL, NULL, NULL, NULL);
    if (code < 0) unlink(second_path); /* it is drawn before the model is written */
    return code;
}

static int sample_it(struct dpmf_store *store, const struct dpmf_run *run) {
    return sample_by(store, run, "gibbs", NULL);
}
static int sample_with_noise(struct dpmf_store *store, const struct dpmf_run *run) {
    return sample_by(store, run, "sgld", "table");
}
static int sample_with_momenta(struct dpmf_store *store, const struct dpmf_run *run) {
    return sample_by(store, run, "sgnht", NULL);
}

static int tune_it(struct dpmf_store *store, const struct dpmf_run *run) {
    struct dpmf_train_options train = dpmf_train_options_default();
    struct dpmf_tune_options options = dpmf_tune_options_default();
    train.factors = train.epochs = 2;
    options.trials = 10; /* enough that a surface is fitted */
    options.valid_fraction = 0.5;
    return dpmf_tune(store, NULL, &train, &options, run, NULL, NULL, NULL, NULL);
}

static int ignore_row(void *self, const struct dpmf_table_row *row, struct dpmf_error *error) {
    (void)self, (void)row, (void)error;
    return 0;
}

static const char *private_mechanism;

static int release_privately(struct dpmf_store *store, const struct dpmf_run *run) {
    struct dpmf_release_options options = dpmf_release_options_default();
    options.epsilon = 5;
    options.mechanism = private_mechanism;
    options.range_min = 0;
    options.range_max = strcmp(private_mechanism, "events") == 0 ? 1 : 10;
    options.catalogue_from_ratings = true;
    options.has_insecure_seed = true; /* no ledger then */
    options.posterior.rounds = 9;     /* for mechanisms that have rounds */
    options.posterior.max_ratings = 1;
    return dpmf_release_make(store, output_path, &options, run, NULL, NULL);
}

/* Each in turn; of an allocation that fails in one, the others know nothing. */
static int releasing(void) {
    int code = 0;
    for (size_t i = 0; code == 0 && (private_mechanism = dpmf_mechanism_name(i, NULL)); i++)
        if ((code = with_store(release_privately)) == 0) unlink(output_path);
    return code;
}

/* What the curator makes of the rounds of `events`, which the few people of the store above could
 * not pay for. */
static int serving_events(void) {
    enum { N = 20, FEATURES = 3 };
    struct events_rule rule = events_rule_make(1);
    struct public_model public;
    struct events_server *server = NULL;
    double sums[N * EVENTS_FACTORS_MAX], features[N * FEATURES], popularity[N];
    const struct catalogue catalogue = {.n_features = FEATURES, .features = features};
    struct events_popularity counts = {popularity, 1};
    for (size_t i = 0; i < N * EVENTS_FACTORS_MAX; i++) sums[i] = sin((double)(i * i));
    for (size_t i = 0; i < N * FEATURES; i++) features[i] = sin((double)(3 * i));
    for (size_t i = 0; i < N; i++) popularity[i] = 10 + sin((double)i);
    events_rule_finish(&rule, 100, N);
    int code = public_model_init(&public, N, NULL);
    if (code == 0) events_popularity_read(&counts, &rule, &public);
    if (code == 0) code = events_server_init(&server, &rule, &catalogue, &public, NULL);
    for (size_t t = 0; t < rule.rounds && code == 0; t++)
        code = events_server_step(server, sums, 0.1, &public, NULL);
    if (code == 0) code = events_server_finish(server, &public, NULL);
    events_server_free(server);
    public_model_free(&public);
    return code;
}

static int ranking_events(void) { return with_store(train_by_ials); }
static int evaluating(void) { return with_store(evaluate_it); }
static int ranking_candidates(void) { return with_store(rank_candidates); }
static int recommending(void) { return with_store(recommend_all); }
static int visiting_histories(void) { return with_store(visit_histories); }
static int looking_up(void) { return with_store(look_up); }
static int finding_newcomers(void) { return with_store(find_newcomer); }
static int training(void) { return with_store(train_it); }
static int continuing(void) { return with_store(continue_it); }
static int continuing_with_history(void) { return with_store(continue_with_history); }
static int sampling(void) { return with_store(sample_it); }
static int sampling_with_noise(void) { return with_store(sample_with_noise); }
static int sampling_with_momenta(void) { return with_store(sample_with_momenta); }
static int tuning(void) { return with_store(tune_it); }

static int pairs_reading(void) {
    struct dpmf_error error;
    int code = dpmf_pairs_read(json_path, NULL, NULL, ignore_row, NULL, &error);
    return code < 0 ? code : dpmf_pairs_read(csv_path, NULL, NULL, ignore_row, NULL, &error);
}

static int table_reading(void) {
    struct dpmf_error error;
    int code = dpmf_table_read(csv_path, "user,item", NULL, ignore_row, NULL, &error);
    if (code == 0) code = dpmf_items_read(model, csv_path, NULL, ignore_row, NULL, &error);
    return code < 0 ? code : dpmf_table_read(packed_path, "item", NULL, ignore_row, NULL, &error);
}

/* ---- lib/privacy ----------------------------------------------------------------------------- */

static char items_path[TEMP_PATH_MAX], features_path[TEMP_PATH_MAX], wishes_path[TEMP_PATH_MAX],
    no_wishes_path[TEMP_PATH_MAX], titles_path[TEMP_PATH_MAX];

static void make_catalogue(void) {
    static const char items[] = "item,x\n1,a\n2,b\n3,c\n4,d\n";
    static const char features[] =
        "item,year,kind\n1,1990,a|b\n2,1991,b\n3,1993,a|b\n4,1997,a\n5,,\n";
    static const char wishes[] = "user,epsilon\nann,1\nbob,0.5\nann,0.25\n";
    static const char no_wishes[] = "user,epsilon\n", titles[] = "item,title\n1,a\n2,b\n";
    temp_dir_file(&inputs, "items", items_path);
    temp_dir_file(&inputs, "features", features_path);
    temp_dir_file(&inputs, "wishes", wishes_path);
    temp_dir_write(items_path, items, sizeof items - 1);
    temp_dir_write(features_path, features, sizeof features - 1);
    temp_dir_write(wishes_path, wishes, sizeof wishes - 1);
    temp_dir_file(&inputs, "no_wishes", no_wishes_path);
    temp_dir_write(no_wishes_path, no_wishes, sizeof no_wishes - 1);
    temp_dir_file(&inputs, "titles", titles_path);
    temp_dir_write(titles_path, titles, sizeof titles - 1);
}

static int audit_it(struct dpmf_store *store, const struct dpmf_run *run) {
    struct dpmf_release_options release = dpmf_release_options_default();
    struct dpmf_audit_options options = dpmf_audit_options_default();
    release.epsilon = 5;
    release.range_min = 0;
    release.range_max = 10;
    release.catalogue = items_path;
    release.mechanism = "biases";
    options.runs = 1;
    options.confidence = 0.5;
    int code = dpmf_audit(store, &release, &options, run, NULL, NULL);
    return code == DPMF_ERR_PRIVACY_ACCUSED ? 0 : code; /* as a coin falls, with that confidence */
}

static int auditing(void) { return with_store(audit_it); }

static int catalogue_reading(void) {
    struct catalogue catalogue;
    struct dpmf_error error;
    int code = catalogue_read(items_path, NULL, &catalogue, &error);
    if (code == 0) code = catalogue_read_features(&catalogue, features_path, NULL, &error);
    catalogue_free(&catalogue);
    return code;
}

static int take_items(struct dpmf_store *store, const struct dpmf_run *run) {
    struct catalogue catalogue;
    (void)run;
    int code = catalogue_from_store(store, &catalogue, NULL);
    catalogue_free(&catalogue);
    return code;
}

static int catalogue_taking(void) { return with_store(take_items); }

static int wishes_reading(void) {
    struct user_wishes wishes;
    struct dpmf_error error;
    int code =
        user_wishes_read(wishes_path, &(struct id_form){.takes_text = true}, NULL, &wishes, &error);
    user_wishes_free(&wishes);
    if (code == 0)
        code = user_wishes_read(no_wishes_path, &(struct id_form){.takes_text = true}, NULL,
                                &wishes, &error);
    user_wishes_free(&wishes);
    return code;
}

static int titles_reading(void) {
    struct dpmf_error error;
    return dpmf_table_read_titles(titles_path, NULL, ignore_row, NULL, &error);
}

/* Users and items of both the model and the store. */
static void make_model(void) {
    const struct checkpoint_state state = make_state();
    make_factors(&made, 4, 5, 3, 1);
    memcpy(made.user_ids.bytes, "2212u2u3", 8); /* "22", "12", "u2", "u3" */
    temp_dir_file(&inputs, "m.safetensors", model_path);
    assert_int_equal(whole_checkpoint_write(model_path, &made, &state, "{}", NULL), 0);
    assert_int_equal(dpmf_model_open(model_path, &model, NULL), 0);
}

static int pass_over(void *self, const struct dpmf_ledger_population *population,
                     const struct dpmf_ledger_entry *entry) {
    (void)self, (void)population, (void)entry;
    return 0;
}

/* The lock is not an output: it stays beside the ledger. Here it goes, so that each run starts
 * anew. */
static int keeping_a_ledger(void) {
    struct ledger_entry entry = {.population = "people",
                                 .id = "0123456789abcdef0123456789abcdef",
                                 .mu = 0.1,
                                 .delta = 1e-5,
                                 .epsilon = 1,
                                 .time = 5};
    const struct dpmf_budget budget = {.mu = 1};
    struct dpmf_error error;
    struct ledger_view view;
    char lock[TEMP_PATH_MAX];
    temp_dir_file(&dir, "output.lock", lock);
    int code = dpmf_ledger_init(output_path, NULL, &error);
    if (code == 0) code = ledger_look(output_path, "people", &view, &error);
    if (code == 0) code = dpmf_ledger_record_tuning(output_path, "people", NULL, &error);
    if (code == 0) code = ledger_reserve(output_path, NULL, true, &entry, &budget, &error);
    if (code == 0) code = dpmf_ledger_visit(output_path, NULL, pass_over, NULL, &error);
    if (code == 0) code = dpmf_ledger_return(output_path, entry.id, NULL, &error);
    entry.id[0] = 'f'; /* what was returned cannot be published; another can */
    if (code == 0) code = ledger_reserve(output_path, NULL, true, &entry, &budget, &error);
    if (code == 0) code = entries_commit(output_path, entry.id, NULL, &error);
    if (code == 0) code = dpmf_ledger_set_budget(output_path, "others", &budget, NULL, &error);
    unlink(output_path);
    unlink(lock);
    return code;
}

/* ---- releases -------------------------------------------------------------------------------- */

static char release_path[TEMP_PATH_MAX], more_items_path[TEMP_PATH_MAX],
    more_features_path[TEMP_PATH_MAX];
static char *release_bytes;
static size_t n_release_bytes;

static void make_release(void) {
    const struct statement statement = statement_make(1, 4, 2, 6);
    temp_dir_file(&inputs, "release.safetensors", release_path);
    release_make_file(release_path, 2, &statement);
    static const char items[] = "item\ngattaca\nalien\nstalker\n";
    static const char features[] = "item,kind\ndune,a\nsolaris,a\nalien,a\nbrazil,b\ngattaca,a\n";
    temp_dir_file(&inputs, "more_items", more_items_path);
    temp_dir_file(&inputs, "more_features", more_features_path);
    temp_dir_write(more_items_path, items, sizeof items - 1);
    temp_dir_write(more_features_path, features, sizeof features - 1);
    release_bytes = temp_dir_read(release_path, &n_release_bytes);
}

static int rate_all(const struct dpmf_model *release, struct dpmf_user *user,
                    struct dpmf_error *error) {
    static const struct dpmf_own_rating ratings[] = {{0, 5}, {1, 2}, {0, 4}, {3, 1}, {1, NAN}};
    struct dpmf_score score;
    double shares[5];
    int code = 0;
    for (size_t i = 0; i < 5 && code == 0; i++)
        code = dpmf_user_rate(release, user, ratings[i].item, ratings[i].rating, error);
    return code < 0 ? code : dpmf_user_explain(release, user, NULL, 2, &score, shares, error);
}

static int being_at_home(void) {
    struct dpmf_model *release;
    struct dpmf_user *user = NULL;
    struct dpmf_map *map = NULL;
    struct dpmf_error error;
    int code = dpmf_model_open_memory(release_bytes, n_release_bytes, "memory", &release, &error);
    if (code == 0) code = dpmf_user_fold_in(release, NULL, 0, &user, &error);
    if (code == 0) code = rate_all(release, user, &error);
    if (code == 0) code = dpmf_map_make(release, &map, &error);
    dpmf_map_free(map);
    dpmf_user_free(user);
    dpmf_model_close(release);
    return code;
}

static int release_writing(void) {
    const struct statement statement = statement_make(1, 4, 2, 6);
    struct release release;
    struct dpmf_error error;
    int code = release_read(release_path, release_make_stride, 0, &release, &error);
    char *text = code == 0 ? statement_to_json(&statement) : NULL;
    if (code == 0) {
        free(release.statement);
        release.statement = text;
        code = text ? release_write(output_path, &release, OUTPUT_PUBLIC, &error)
                    : error_no_memory(&error);
    }
    release_free(&release);
    unlink(output_path);
    return code;
}

/* And the parent again, which is made of what the statement keeps of it. */
static int release_extending(void) {
    struct dpmf_extend_report report;
    struct dpmf_run run = one_thread();
    run.replace = true;
    struct dpmf_error error;
    int code = dpmf_release_extend(release_path, more_items_path, more_features_path, output_path,
                                   &run, &report, &error);
    if (code == 0) code = dpmf_release_parent(output_path, second_path, &run, &error);
    if (code < 0) remove_outputs();
    return code;
}

static int release_showing(void) {
    struct dpmf_statement statement;
    struct dpmf_verification found;
    struct dpmf_error error;
    int code = dpmf_release_statement(release_path, &statement, &error);
    dpmf_statement_free(&statement);
    return code < 0 ? code : dpmf_release_verify(release_path, 0, &found, &error);
}

static int evaluate_release(struct dpmf_store *store, const struct dpmf_run *run) {
    const struct dpmf_evaluate_options options = {.size = sizeof options, .ranking = 2};
    struct dpmf_evaluation evaluation;
    struct dpmf_model *release;
    struct dpmf_error error;
    int code = dpmf_model_open(release_path, &release, &error);
    if (code == 0)
        code = dpmf_model_evaluate(release, held_out, store, &options, run, &evaluation, &error);
    dpmf_model_close(release);
    return code;
}

static int release_evaluating(void) { return with_store(evaluate_release); }

static int planning(void) {
    struct dpmf_plan_options options = dpmf_plan_options_default();
    struct dpmf_plan plan;
    struct dpmf_error error = {0};
    options.users = 1000;
    options.items = 100;
    options.ratings_per_user = 20;
    return dpmf_privacy_plan(&options, &plan, &error);
}

/* ---- lib/mechanisms -------------------------------------------------------------------------- */

/* People enough that mechanisms learn factors of them, in a file, which is read for each round. */
enum { CROWD = 120, CROWD_ITEMS = 24 };

static struct {
    struct catalogue catalogue;
    struct private_ratings *ratings;
    struct thread_pool *pool;
    struct secure_random random;
} crowd;

/* Users of four kinds, each with tastes of its own, rate two items in three. */
static void write_crowd(const char *path) {
    static char text[CROWD * CROWD_ITEMS * 24];
    size_t n = (size_t)snprintf(text, sizeof text, "user,item,rating\n");
    for (int i = 0; i < CROWD; i++)
        for (int j = 0; j < CROWD_ITEMS; j++)
            if ((i * 7 + j * 13 + i * j) % 3 != 0)
                n += (size_t)snprintf(text + n, sizeof text - n, "u%d,i%d,%d\n", i, j,
                                      (i >> (j & 1) & 1) == (j >> 1 & 1) ? 5 : 1);
    temp_dir_write(path, text, n);
}

static void write_crowd_catalogue(const char *path) {
    char text[CROWD_ITEMS * 24];
    size_t n = (size_t)snprintf(text, sizeof text, "item,year,genre\n");
    for (int j = 0; j < CROWD_ITEMS; j++)
        n += (size_t)snprintf(text + n, sizeof text - n, "i%d,%d,g%d\n", j, 1990 + j, j & 3);
    temp_dir_write(path, text, n);
}

static void make_crowd(void) {
    char rated[TEMP_PATH_MAX], items[TEMP_PATH_MAX], packed[TEMP_PATH_MAX];
    const struct dpmf_run run = one_thread();
    struct private_ratings_report report;
    struct dpmf_store *store;
    temp_dir_file(&inputs, "crowd.csv", rated);
    temp_dir_file(&inputs, "crowd.items", items);
    temp_dir_file(&inputs, "crowd.dpr", packed);
    write_crowd(rated);
    write_crowd_catalogue(items);
    const char *input = rated;
    assert_int_equal(dpmf_import(&input, 1, packed, NULL, &run, NULL, NULL), 0);
    assert_int_equal(catalogue_read(items, NULL, &crowd.catalogue, NULL), 0);
    assert_int_equal(catalogue_read_features(&crowd.catalogue, items, NULL, NULL), 0);
    assert_true(crowd.catalogue.n_features > 0);
    const struct private_ratings_options options = {.range_min = 1,
                                                    .range_max = 5,
                                                    .catalogue = &crowd.catalogue,
                                                    .epsilon = 1,
                                                    .delta = 1e-5,
                                                    .memory = 0,
                                                    .threads = 1};
    assert_int_equal(dpmf_store_open(packed, NULL, &run, &store, NULL), 0);
    assert_int_equal(private_ratings_build(store, &options, &run, &crowd.ratings, &report, NULL),
                     0);
    dpmf_store_close(store);
    assert_true(report.on_disk && report.users == CROWD);
    assert_int_equal(thread_pool_init(&crowd.pool, 1, NULL), 0);
    secure_random_init_insecure(&crowd.random, 5);
}

static void free_crowd(void) {
    thread_pool_free(crowd.pool);
    private_ratings_free(crowd.ratings);
    catalogue_free(&crowd.catalogue);
}

static int run_mechanism(const struct mechanism *mechanism) {
    static struct statement listed;
    struct public_model public;
    struct noisy_sum_context context = {.ratings = crowd.ratings,
                                        .random = &crowd.random,
                                        .pool = crowd.pool,
                                        .memory = 1 << 24,
                                        .statement = &listed};
    const struct posterior_rule rule = {.epsilon = 1e4,
                                        .range = 4,
                                        .kappa = 1,
                                        .rho = 1,
                                        .max_ratings = 1000,
                                        .factors = 2,
                                        .rounds = 6,
                                        .chains = 1};
    const struct mechanism_input input = {
        .sums = &context, .catalogue = &crowd.catalogue, .mu = 20, .posterior = &rule};
    memset(&listed, 0, sizeof listed);
    pthread_mutex_init(&context.progress_lock, NULL);
    int code = public_model_init(&public, crowd.catalogue.ids.n, NULL);
    if (code == 0) code = mechanism->run(&input, &public, NULL);
    if (code == 0 && mechanism != &mechanism_biases) assert_true(public.K > 0);
    public_model_free(&public);
    pthread_mutex_destroy(&context.progress_lock);
    return code;
}

static int by_residual(void) { return run_mechanism(&mechanism_residual); }
static int by_dpals(void) { return run_mechanism(&mechanism_dpals); }
static int by_gram(void) { return run_mechanism(&mechanism_gram); }
static int by_langevin(void) { return run_mechanism(&mechanism_langevin); }
static int by_posterior(void) { return run_mechanism(&mechanism_posterior); }
static int by_events(void) { return run_mechanism(&mechanism_events); }

/* Columns that a model of averages gets where tastes differ along counts and biases. */
static int adding_home_columns(void) {
    enum { N = 12, FREE = 2 };
    struct public_model public;
    struct item_evidence evidence;
    int code = public_model_init(&public, N, NULL);
    if (code < 0) {
        public_model_free(&public);
        return code;
    }
    code = item_evidence_init(&evidence, N, NULL);
    if (code == 0) code = public_model_widen(&public, FREE, NULL);
    if (code == 0) {
        public.n_free = FREE;
        for (size_t j = 0; j < N; j++) {
            const double x[FREE] = {sin((double)j), cos((double)j)};
            evidence.N[j] = exp(x[0]);
            public.c[j] = x[1];
            for (size_t k = 0; k < FREE; k++) public.rows[j * public.stride + k] = x[k];
        }
        code = home_columns_add(&public, &evidence, NULL);
    }
    if (code == 0) assert_true(public.K > FREE);
    item_evidence_free(&evidence);
    public_model_free(&public);
    return code;
}

/* ---- lib/export ------------------------------------------------------------------------------ */

/* What an export makes, in a directory or beside a file. */
static const char *const exported[] = {
    "/item_vectors.npy", "/item_biases.npy", "/item_ids.txt", "/user_vectors.npy",
    "/user_biases.npy",  "/user_ids.txt",    "/items.csv",    "/users.csv",
    "/model.json",       "/provenance.json", ".items.txt",    ".users.txt",
};

static int export_as(enum dpmf_export_form form) {
    static const char *const titles[5] = {"one", NULL, "three", NULL, NULL};
    struct dpmf_export_options options = dpmf_export_options_default();
    struct dpmf_error error;
    char path[TEMP_PATH_MAX + 32];
    options.form = form;
    options.not_private = options.users = true;
    options.titles = titles;
    int code = dpmf_model_export(model, NULL, output_path, &options, NULL, NULL, &error);
    for (size_t i = 0; code == 0 && i < sizeof exported / sizeof exported[0]; i++) {
        snprintf(path, sizeof path, "%s%s", output_path, exported[i]);
        unlink(path);
    }
    if (code == 0 && unlink(output_path) != 0) rmdir(output_path);
    return code;
}

static int exporting_npy(void) { return export_as(DPMF_EXPORT_NPY); }
static int exporting_csv(void) { return export_as(DPMF_EXPORT_CSV); }
static int exporting_libmf(void) { return export_as(DPMF_EXPORT_LIBMF); }
static int exporting_sqlite(void) { return export_as(DPMF_EXPORT_SQLITE); }

/* ---- all of them: add a line for whatever allocates ------------------------------------------ */

static const struct scenario scenarios[] = {
    {"json writer", json_writer, 0},
    {"growing buffer", reserve, 0},
    {"thread pool", pool, 0},
    {"pipeline", pipeline, 0},
    {"output file", output_file, 0},
    {"nameless file", nameless_file, 0},
    {"safetensors", safetensors, 0},
    {"import", import_all, 0},
    {"import from a database", import_database, 0},
    {"database as a store", open_database, 0},
    {"synth", generate, 0},
    {"describe", describing, 0},
    {"export", exporting, 0},
    {"split by time", splitting_by_time, 0},
    {"split by probe", splitting_by_probe, 0},
    {"shards", sharding, 0},
    {"text as a store", opening_text, 0},
    {"arrays as a store", taking_arrays, 0},
    {"ratings beyond memory", sorting_beyond_memory, 0},
    {"users packed", packing, 0},
    {"checkpoint written", checkpoint_writing, 0},
    {"checkpoint read", checkpoint_reading, 0},
    {"model", model_opening, 0},
    {"explain", explaining, 0},
    {"evaluate", evaluating, 0},
    {"candidates", ranking_candidates, 0},
    {"train, snapshot and resume", training, 0},
    {"continue a model", continuing, 0},
    {"continue a model that ranks, with its history", continuing_with_history, 0},
    {"train by ials", ranking_events, 0},
    {"train by gibbs", sampling, 0},
    {"train by sgld", sampling_with_noise, 0},
    {"train by sgnht", sampling_with_momenta, 0},
    {"recommend", recommending, 0},
    {"histories", visiting_histories, 0},
    {"history", looking_up, 0},
    {"fold in", folding_in, 0},
    {"newcomers", finding_newcomers, 0},
    {"tune", tuning, 0},
    {"private release", releasing, 0},
    {"rounds of events", serving_events, 0},
    {"residual on many people", by_residual, 0},
    {"dpals on many people", by_dpals, 0},
    {"gram on many people", by_gram, 0},
    {"langevin on many people", by_langevin, 0},
    {"posterior on many people", by_posterior, 0},
    {"events on many people", by_events, 0},
    {"columns of averages", adding_home_columns, 0},
    {"audit", auditing, 0},
    {"table", table_reading, 0},
    {"Parquet", table_scenarios_parquet, 0},
    {"Arrow file", table_scenarios_arrow, 0},
    {"Arrow stream", table_scenarios_arrow_stream, 0},
    {"pairs", pairs_reading, 0},
    /* the number in its lock is one sector, read and written in one call or not at all */
    {"ledger", keeping_a_ledger, INTERRUPTED | CUT_SHORT},
    {"catalogue", catalogue_reading, 0},
    {"catalogue of a store", catalogue_taking, 0},
    {"wishes", wishes_reading, 0},
    {"titles of a release", titles_reading, 0},
    {"release written", release_writing, 0},
    {"release extended", release_extending, 0},
    {"statement", release_showing, 0},
    {"release evaluated", release_evaluating, 0},
    {"at home", being_at_home, 0},
    {"plan", planning, 0},
    {"export for NumPy", exporting_npy, 0},
    {"export as CSV", exporting_csv, 0},
    {"export for LIBMF", exporting_libmf, 0},
    {"export to SQLite", exporting_sqlite, 0},
};

static struct trial trials[] = {
    {"allocations failed", NO_MEMORY, is_refused},
    {"calls of the system failed", IO_ERROR, is_reported},
    {"reads found no bytes", ENDED, is_reported},
    {"calls were interrupted", INTERRUPTED, is_unharmed},
    {"files had to have a name", UNNAMED, is_unharmed},
    {"directories could not be listed", UNLISTED, is_reported},
    {"reads and writes were cut short", CUT_SHORT, is_unharmed},
};

static int make_all(void **state) {
    (void)state;
    temp_dir_make(&dir);
    temp_dir_file(&dir, "output", output_path);
    temp_dir_file(&dir, "second", second_path);
    make_inputs();
    table_scenarios_make();
    make_database();
    make_spilled();
    make_model();
    make_catalogue();
    make_release();
    make_crowd();
    return 0;
}

static int remove_all(void **state) {
    (void)state;
    dpmf_model_close(model);
    factors_free(&made);
    free(release_bytes);
    free_crowd();
    table_scenarios_remove();
    temp_dir_remove(&inputs);
    temp_dir_remove(&dir);
    return 0;
}

static void test_scenarios(void **state) {
    const struct trial *trial = *state;
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++)
        fail_calls(&scenarios[i], trial);
}

/* That outputs are flushed at all, through the real call. */
static void test_flushes(void **state) {
    (void)state;
    struct output_file *file;
    atomic_store(&flushes, true);
    atomic_store(&n_flushed, 0);
    assert_int_equal(output_file_open(&file, output_path, OUTPUT_PRIVATE, NULL), 0);
    assert_int_equal(output_file_write(file, "x", 1, NULL), 0);
    assert_int_equal(output_file_commit(file, NULL), 0);
    assert_int_equal(atomic_load(&n_flushed), 2); /* the file, then its directory */
    atomic_store(&flushes, false);
    remove_outputs();
}

int main(void) {
    struct CMUnitTest tests[sizeof trials / sizeof trials[0] + 1] = {
        cmocka_unit_test(test_flushes)};
    for (size_t t = 0; t < sizeof trials / sizeof trials[0]; t++) {
        tests[t + 1] = (struct CMUnitTest)cmocka_unit_test(test_scenarios);
        tests[t + 1].name = trials[t].name;
        tests[t + 1].initial_state = &trials[t];
    }
    return cmocka_run_group_tests_name("failing calls", tests, make_all, remove_all);
}
