/*
 * From words to an invocation: the parser that works from the option table, and the values it has
 * checked, in the forms the library takes.
 */
#ifndef DPMF_PROGRAMS_OPTIONS_H
#define DPMF_PROGRAMS_OPTIONS_H

#include "cli/command.h"

/* Fills values and operands from the words after the verb; `operands` has room for all of them.
 * Stops at --help. @return 0, or an exit status after printing what is wrong */
int options_parse(struct invocation *invocation, int argc, char **argv);

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* @return the name of one of the verb's options, as its table has it, without dashes */
const char *options_name(const struct invocation *invocation, enum option_id id);

/* Refuses the first of these options that was given: "--NAME WHY". @return an exit status */
int options_refuse(const struct invocation *invocation, const enum option_id *ids, size_t n,
                   const char *why, const char *hint);

/* The same of all options of a group but one (OPTION_COUNT: of all). */
int options_refuse_group(const struct invocation *invocation, const struct option *group,
                         enum option_id but, const char *why, const char *hint);

/* The checked values; what they give is undefined for an option that was not given. */
uint64_t options_count(const struct invocation *invocation, enum option_id id);

/* The same in 32 bits, larger numbers becoming UINT32_MAX; `usual` when it was not given. */
uint32_t options_count32(const struct invocation *invocation, enum option_id id, uint32_t usual);

/* --lanes: 0 when it was not given, and a number that the library refuses when it was given as
 * 0. */
uint32_t options_lanes(const struct invocation *invocation);
double options_number(const struct invocation *invocation, enum option_id id);

/* --like: whether it is a number, which ratings must reach, and not "any". @return an exit status,
 * after saying what is wrong */
int options_like(const struct invocation *invocation, bool *has_like, double *like);
uint64_t options_size(const struct invocation *invocation, enum option_id id);
bool options_is(const struct invocation *invocation, enum option_id id, const char *value);

/* "16,64,256". @return how many there are; no more than `room` of them are stored */
size_t options_counts(const struct invocation *invocation, enum option_id id, uint64_t *counts,
                      size_t room);

/* "0.5,1,2", in the same way. */
size_t options_numbers(const struct invocation *invocation, enum option_id id, double *numbers,
                       size_t room);

/* "A:B" and "A:B:STEP" (step 0 when it is not there). */
void options_range(const struct invocation *invocation, enum option_id id, double range[2]);
void options_scale(const struct invocation *invocation, enum option_id id, double scale[3]);

/* "2", "2epochs", "50blocks", "30s", "10min" or "1h": one of the three, the others 0. */
struct options_interval {
    uint64_t epochs, blocks;
    double seconds;
};

struct options_interval options_interval(const struct invocation *invocation, enum option_id id);

/* Whether two paths name one file, whether it is there already or not. */
bool options_same_file(const char *a, const char *b);

/* Whether reading an input (a path, an address of SQLite or "-") reads the file of that
 * path. Of SQLite also the files beside the database are read: -wal, -journal and -shm. */
bool options_is_read(const char *path, const char *input);

/* --format, --columns, --rescale, --rating-range and --on-error. */
struct dpmf_input_options options_input(const struct invocation *invocation);

/* The same for one of a command's inputs. A store knows its columns, and so what says how a table
 * is read is left out for it where another input is one; where none is, the library refuses it. */
struct dpmf_input_options options_input_of(const struct invocation *invocation, const char *path);

/* Without --goal and --solver, the goal is chosen by what there is to learn from: events are
 * ranked, and a note says so. The input's layout says which they are, and not its values. @return
 * whether it was chosen */
bool options_goal_of(struct invocation *invocation, const struct dpmf_store *store);

#endif
