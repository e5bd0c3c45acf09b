/*
 * What the commands on models share: opening one, finding ids in it, lists of
 * items, titles, and the rows they print.
 */
#ifndef DPMF_PROGRAMS_MODEL_USE_H
#define DPMF_PROGRAMS_MODEL_USE_H

#include "cli/command.h"
#include "dpmf_text.h"

/* Reports that there is no memory left. @return the exit status that goes with it */
int model_use_no_memory(void);

/* Whether a file begins as a model does. */
bool model_use_is_model(const char *path);

/* Checks, on the first rank, that --output can be written and is a checkpoint or may be replaced: a
 * release has spent a budget, and anything else is someone's. @return 0 or a negative code */
int model_use_check_output(const struct invocation *invocation, struct dpmf_error *error);

/* A warning, when the model is a checkpoint without a checksum. */
void model_use_warn_unchecked(struct invocation *invocation, const struct dpmf_model_info *info);

/* Epochs that the run was asked for, from its provenance; 0 when that does not record them. */
uint32_t model_use_epochs_asked(const struct dpmf_model_info *info);

/* A warning, when the model is a snapshot of a run that has not ended. */
void model_use_warn_unfinished(struct invocation *invocation, const struct dpmf_model_info *info);

/* Opens the first operand; there is a warning when it is a release that is not as private as one
 * should be. @return an exit status, after saying what is wrong */
int model_use_open(struct invocation *invocation, struct dpmf_model **model);

/* Refuses options on how ratings are read, for a call that reads none. @return an exit status */
int model_use_refuse_unread(const struct invocation *invocation);

/* Opens the ratings an option names; NULL when it was not given. @return an
 * exit status */
int model_use_ratings(struct invocation *invocation, enum option_id id, struct dpmf_store **store);

/* Opens the --history of a model: as model_use_ratings, with a warning where its ratings are not on
 * the model's scale. */
int model_use_history(struct invocation *invocation, const struct dpmf_model *model,
                      struct dpmf_store **store);

enum model_side { MODEL_USER, MODEL_ITEM };

/* The number of an id, or UINT64_MAX. */
uint64_t model_use_number(const struct dpmf_model *model, enum model_side side, const char *id);

/* The same for one that must be known. @return an exit status, after offering
 * the nearest id */
int model_use_find(struct invocation *invocation, const struct dpmf_model *model,
                   enum model_side side, const char *id, uint64_t *number);

/* The nearest known id, in `hint`; "" when none is near. */
enum { MODEL_HINT_MAX = 160 };
void model_use_suggest(const struct dpmf_model *model, enum model_side side, const char *id,
                       char hint[MODEL_HINT_MAX]);

/* -n, or 10. @return an exit status when it is not from 1 to `most` */
int model_use_top(const struct invocation *invocation, uint64_t most, size_t *n);

/* What --taste and --by ask for: *asked is NULL where neither is given, and else `order`. @return
 * an exit status */
int model_use_order(const struct invocation *invocation, struct dpmf_order *order,
                    const struct dpmf_order **asked);

/* Notes that the model has no counts, where lists are by rating though nobody asked for it. */
void model_use_order_note(struct invocation *invocation, const struct dpmf_model *model,
                          const struct dpmf_order *asked);

/* A bitmap of the items a file lists; items that the model does not know are
 * noted. The caller frees it; NULL when the option was not given. @return an
 * exit status */
int model_use_list(struct invocation *invocation, const struct dpmf_model *model, enum option_id id,
                   uint8_t **bitmap);

/* Titles by item, from --catalogue; without it there are none. */
struct catalogue {
    char **titles;
    uint64_t n;
};

int model_titles_read(struct invocation *invocation, const struct dpmf_model *model,
                      struct catalogue *catalogue);
/* The same of titles that go to whoever has a release: a table that could be about people is
 * refused. */
int model_titles_publish(struct invocation *invocation, const struct dpmf_model *model,
                         struct catalogue *catalogue);
/* Tells a release what --catalogue says of kinds and years, where its scores have use for it. */
int model_facts_take(struct invocation *invocation, struct dpmf_model *model);
const char *model_title(const struct catalogue *catalogue, uint64_t item); /* NULL: none */
void model_titles_free(struct catalogue *catalogue);

/* A field of CSV on standard output, quoted where needed. */
void csv_field_print(const char *bytes, size_t length);

/* An id, for people: control bytes are shown, not sent. */
void model_id_print(const struct dpmf_model *model, enum model_side side, uint64_t number);
void model_id_csv(const struct dpmf_model *model, enum model_side side, uint64_t number);
void model_id_json(struct dpmf_json *json, const char *key, const struct dpmf_model *model,
                   enum model_side side, uint64_t number);

/* A numbered list for people: rank, what `heading` names, id, title; beside the first column
 * another that `other` names, unless its numbers are NULL. */
void model_items_print(const struct dpmf_model *model, const struct catalogue *catalogue,
                       const char *heading, const struct dpmf_scored_item *items, const char *other,
                       const double *others, size_t n);

#endif
