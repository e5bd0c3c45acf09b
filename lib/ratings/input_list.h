/*
 * Inputs that stand for several: a folder of Parquet or Arrow files, and a pattern such as
 * "ratings/2024-*.parquet".
 */
#ifndef DPMF_RATINGS_INPUT_LIST_H
#define DPMF_RATINGS_INPUT_LIST_H

#include "dpmf.h"

struct input_list {
    char **paths;
    size_t n, capacity;
};

/* @return whether the path is a folder that is no set of shards, or a pattern and no file */
bool input_is_several(const char *path);

/* The inputs, with the files of folders and patterns in their places, by the bytes of their
 * names. To be freed, also when this fails. */
int input_list_make(const char *const *inputs, size_t n, struct input_list *list,
                    struct dpmf_error *error);
void input_list_free(struct input_list *list);

#endif
