/*
 * Divides --memory before anything large is taken: fed by the sizes of the stores and of the model,
 * feeds the tiling, which chooses between everything in memory and a stream, and the size of the
 * stream's superblocks. A run has four phases whose memory does not add up: building the tiles,
 * looking up the validation set, finding the first biases, and the epochs.
 */
#include "train/memory_plan.h"

#include <assert.h>

#include "base/error.h"
#include "base/host.h"
#include "base/memory.h"
#include "store/store.h"
#include "train/row_store.h"
#include "train/valid_set.h"

#define MEBIBYTE ((uint64_t)1 << 20)

enum {
    PROGRAM_BYTES = 7 << 19, /* the program itself, and what the allocator keeps for later */
    OUTPUT_BYTES = 1 << 19,  /* for writing the model, and snapshots */
    STACK_BYTES = 1 << 16,   /* bytes of a thread's stack that are used */
    PIECE_BYTES = 1 << 17,   /* bytes of rows, for snapshots or validation */
    ITEM_TABLES = 28, /* bytes an item: its row, its group, and its place while they are made */
};

size_t memory_plan_slots(const struct memory_plan *plan) {
    assert(plan);
    return (size_t)sgd_at_once(plan->order, plan->threads) + (plan->prefetch ? plan->prefetch : 1);
}

static uint64_t budget(const struct memory_plan *plan) {
    return plan->memory ? plan->memory : host_default_budget();
}

uint64_t memory_plan_store(const struct dpmf_store *store) {
    assert(store);
    uint64_t n = store_n_items(store), bytes = 0;
    if (n > 0) {
        struct store_item first = store_item_at(store, 0), last = store_item_at(store, n - 1);
        bytes = (uint64_t)(last.id + last.id_length - first.id);
    }
    return bytes + 20 * n + 48 * store_n_blocks(store);
}

static uint64_t slots_of_index(uint64_t n) {
    uint64_t slots = 8;
    while (slots < 2 * n) slots *= 2;
    return slots * sizeof(uint32_t);
}

/* What is there from the beginning to the end. */
static uint64_t always_bytes(const struct memory_plan *plan) {
    uint64_t bytes =
        PROGRAM_BYTES + memory_plan_store(plan->store) + ITEM_TABLES * store_n_items(plan->store);
    if (plan->valid) bytes += memory_plan_store(plan->valid);
    if (plan->user_ids)
        bytes += plan->user_ids->start[plan->user_ids->n] + 8 * (plan->user_ids->n + 1);
    return bytes;
}

static uint64_t item_id_bytes(const struct memory_plan *plan) {
    /* bytes of the model's ids, at least */
    return plan->user_ids ? memory_plan_store(plan->store) : 0;
}

/* What the model has in memory even when the rows of users are not. */
static uint64_t model_bytes(const struct memory_plan *plan, uint64_t row) {
    uint64_t users = store_n_users(plan->store), items = store_n_items(plan->store);
    uint64_t biases = (users + items) * sizeof(float) * (plan->has_best ? 2 : 1);
    return (items + TILING_SPARE_ROWS) * row + biases + item_id_bytes(plan);
}

/* In the deterministic order superblocks must not depend on the number of threads, or on whether
 * there are snapshots: all that may be at once are counted, and snapshots always. */
static uint64_t thread_bytes(const struct memory_plan *plan) {
    uint64_t n = (uint64_t)sgd_at_once(plan->order, plan->threads);
    return n * (sgd_epoch_thread_bytes() + STACK_BYTES + PIECE_BYTES) + OUTPUT_BYTES;
}

static uint64_t less(uint64_t from, uint64_t bytes) { return from > bytes ? from - bytes : 0; }

int memory_plan_refuse(const struct memory_plan *plan, uint64_t bytes, struct dpmf_error *error) {
    uint64_t memory = budget(plan), enough = memory + plan->missing + bytes;
    int code = error_set(error, DPMF_ERR_USAGE_MEMORY,
                         "%llu MiB is too little to train %u factors for %llu users and %llu items",
                         (unsigned long long)(memory / MEBIBYTE), plan->k,
                         (unsigned long long)store_n_users(plan->store),
                         (unsigned long long)store_n_items(plan->store));
    error_hint(error, "give it {memory %lluMiB} or more, or train fewer {factors}",
               (unsigned long long)((enough + MEBIBYTE - 1) / MEBIBYTE));
    return code;
}

int memory_plan_divide(struct memory_plan *plan, struct tiling_options *options,
                       struct dpmf_error *error) {
    assert(plan && options);
    uint64_t memory = budget(plan), always = always_bytes(plan);
    uint64_t row = plan->kernels->stride(plan->k) * sizeof(float);
    uint64_t model = model_bytes(plan, row), users = store_n_users(plan->store) * row;
    uint64_t n_valid = plan->valid ? store_n_ratings(plan->valid) : 0;
    uint64_t looking_up = always + item_id_bytes(plan) + valid_set_bytes(n_valid, true) +
                          slots_of_index(store_n_users(plan->store)) +
                          slots_of_index(store_n_items(plan->store));
    uint64_t running =
        always + model + valid_set_bytes(n_valid, false) + thread_bytes(plan) + plan->sampler;
    uint64_t starting = always + model + valid_set_bytes(n_valid, false) + plan->first;
    uint64_t copy = plan->has_best ? users + (store_n_items(plan->store) + 1) * row : 0;
    if (plan->first_or_not && starting > memory) { /* such a run needs no more than one from 0 */
        starting -= plan->first;
        plan->first = 0;
    }
    plan->missing = 0;
    if (plan->valid && looking_up > memory)
        return memory_plan_refuse(plan, looking_up - memory, error);
    options->slots = memory_plan_slots(plan);
    const uint64_t counts = plan->user_ids ? plan->user_ids->n * sizeof(float) : 0;
    plan->fixed = running + users + counts + copy + plan->momenta + plan->first;
    options->memory_whole = plan->whole = less(memory, plan->fixed);
    options->memory_streamed = starting > memory ? 0 : less(memory, running);
    options->memory_build = less(memory, always);
    plan->missing = less(running > starting ? running : starting, memory);
    return 0;
}
