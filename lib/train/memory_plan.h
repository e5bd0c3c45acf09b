/*
 * How the memory of a run is divided: what it always takes, and what that leaves for tiles.
 */
#ifndef DPMF_TRAIN_MEMORY_PLAN_H
#define DPMF_TRAIN_MEMORY_PLAN_H

#include "kernels/kernels.h"
#include "model/factors.h"
#include "schedule/tiling.h"
#include "train/sgd_epoch.h"

struct memory_plan {
    const struct dpmf_store *store, *valid; /* valid may be NULL */
    const struct factor_ids *user_ids;      /* NULL: ids are not kept */
    const struct kernel_set *kernels;
    uint32_t k;
    enum sgd_order order;
    int threads;
    uint32_t prefetch; /* superblocks read ahead */
    uint64_t memory;   /* memory of the run; 0: the default */
    bool has_best;     /* a copy of the best epoch is kept */
    uint64_t first;    /* bytes that finding the first biases takes; memory_plan_divide sets 0 */
    bool first_or_not; /* whether the run can do without first biases where memory is short */
    uint64_t sampler;  /* bytes that a sampler takes beside the model */
    uint64_t momenta;  /* bytes that a sampler takes only where all is in memory */
    uint64_t whole;    /* bytes for the chunks of a run in memory, found by memory_plan_divide */
    uint64_t fixed;    /* bytes that such a run takes beside its chunks */
    uint64_t missing;  /* bytes that are missing, found by memory_plan_divide */
};

/* Bytes that an open store keeps: its items and its index. */
uint64_t memory_plan_store(const struct dpmf_store *store);

/* The slots of a stream: one for each lane, and those read ahead; at least one, without which a
 * lane that is behind could hold up the others for good. */
size_t memory_plan_slots(const struct memory_plan *plan);

/* Divides the memory: fills in the memory fields of tiling.h. @return 0, or DPMF_ERR_USAGE_MEMORY
 * which says how much would be enough */
int memory_plan_divide(struct memory_plan *plan, struct tiling_options *options,
                       struct dpmf_error *error);

/* Reports that `bytes` bytes beyond plan->missing would be enough. @return DPMF_ERR_USAGE_MEMORY */
int memory_plan_refuse(const struct memory_plan *plan, uint64_t bytes, struct dpmf_error *error);

#endif
