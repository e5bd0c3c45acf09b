/*
 * Events out of ratings: those of at least a threshold, each of which counts once. For the
 * importer.
 */
#ifndef DPMF_RATINGS_LIKES_H
#define DPMF_RATINGS_LIKES_H

#include "dpmf.h"

/* Writes the events of a store of ratings to `output`, or, where that is NULL, to a nameless store,
 * which is opened as *made and which errors call `name`. A rating of at least `like`, which may be
 * -INFINITY, is an event. Users and items without one are left out. Of the report it sets not_liked
 * and what describes the store. */
int likes_make(const struct dpmf_store *ratings, double like, const char *output, const char *name,
               const struct dpmf_run *run, struct dpmf_import_report *report,
               struct dpmf_store **made, struct dpmf_error *error);

#endif
