/*
 * Verbs, their parts and their groups of options, found in the list of verbs. Feeds the parser, the
 * help, the man pages and the completion scripts.
 */
#include <string.h>

#include "cli/command.h"
#include "cli/shared_options.h"

const struct verb *verb_find(const char *name) {
    for (size_t i = 0; verbs[i] != NULL; i++)
        if (strcmp(verbs[i]->name, name) == 0) return verbs[i];
    return NULL;
}

const char *verb_word(const struct verb *verb) {
    const char *space = strchr(verb->name, ' ');
    return space != NULL ? space + 1 : verb->name;
}

const struct verb *verb_part_find(const struct verb *verb, const char *word) {
    for (size_t i = 0; verb->parts != NULL && verb->parts[i] != NULL; i++)
        if (strcmp(verb_word(verb->parts[i]), word) == 0) return verb->parts[i];
    return NULL;
}

const char *verb_choice(const struct verb *const *list, size_t i, const char **description) {
    if (list[i] == NULL) return NULL;
    if (description != NULL) *description = list[i]->summary;
    return verb_word(list[i]);
}

const struct verb *verb_at(size_t i) {
    for (size_t top = 0; verbs[top] != NULL; top++) {
        const struct verb *const *parts = verbs[top]->parts;
        if (i-- == 0) return verbs[top];
        for (size_t part = 0; parts != NULL && parts[part] != NULL; part++)
            if (i-- == 0) return parts[part];
    }
    return NULL;
}

const struct option_group *verb_group(const struct verb *verb, size_t i) {
    size_t n = 0;
    while (verb->groups[n].title != NULL) n++;
    if (i < n) return &verb->groups[i];
    if (i > n) return NULL;
    return verb->has_own_threads ? &every_verb_group_without_threads : &every_verb_group;
}
