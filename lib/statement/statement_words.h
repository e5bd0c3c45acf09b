/*
 * What is the same in every statement of this format, and the JSON of one with given figures:
 * shared by the writer and by the reader, which accepts nothing else.
 */
#ifndef DPMF_STATEMENT_STATEMENT_WORDS_H
#define DPMF_STATEMENT_STATEMENT_WORDS_H

#include "base/json.h"
#include "statement/statement.h"

enum {
    STATEMENT_FORMAT = 2,
    STATEMENT_FORMAT_EXTENDED = 3, /* format 2 with an extension */
    STATEMENT_FORMAT_FIRST = 1,    /* format of 0.1.0: without a list of assumptions */
    STATEMENT_ID_TEXT = 2 * STATEMENT_ID_BYTES + 1,
    STATEMENT_MEANINGFUL =
        10, /* epsilon above which a conditional claim says nothing of a finite run */
};

/* What was done with a list of wishes. It does not claim that the list is complete, which only the
 * curator can know. */
#define STATEMENT_WISHES                                                                           \
    "The curator gave a list of users with smaller epsilons of their own, and it was applied: a "  \
    "user whose id is in it contributed only as much as their own epsilon allows, and nothing if " \
    "that is 0. Whether everyone who asked is in the list, under the id that the ratings have, "   \
    "dpmf cannot know."

/* The statement in its own format with these figures, whatever they are. @return text, or NULL
 * without memory */
char *statement_json_make(const struct statement *statement,
                          const struct statement_figures *figures);

void statement_id_format(const uint8_t id[STATEMENT_ID_BYTES], char text[STATEMENT_ID_TEXT]);

/* Read back; whether they are what is written. */
bool statement_id_take(const struct json_token *token, uint8_t id[STATEMENT_ID_BYTES]);
bool statement_version_take(const struct json_token *token,
                            char version[STATEMENT_VERSION_MAX + 1]);

#endif
