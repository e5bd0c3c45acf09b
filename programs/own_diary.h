/*
 * Someone's history as another service exported it, as --ratings may name one: matched with a
 * model's items by the titles of --catalogue.
 */
#ifndef DPMF_PROGRAMS_OWN_DIARY_H
#define DPMF_PROGRAMS_OWN_DIARY_H

#include "command.h"
#include "model_use.h"

/* Whether a file is such a history. A table of our own with titles is one where there is a
 * catalogue, and is otherwise read by its ids. */
bool own_diary_is(const char *path, const struct catalogue *catalogue);

/* Reads the file at `path`, which messages call `name`. @return an exit status, after saying what
 * is wrong */
int own_diary_read(struct invocation *invocation, const struct dpmf_model *model,
                   const struct catalogue *catalogue, const char *path, const char *name,
                   struct dpmf_diary **diary);

/* Says how many titles were matched and how many were not; with --verbose, which. */
void own_diary_note(struct invocation *invocation, const struct catalogue *catalogue,
                    const struct dpmf_model *model, const struct dpmf_diary *diary);

#endif
