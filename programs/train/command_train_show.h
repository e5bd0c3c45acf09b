/*
 * What `dpmf train` prints, and the solver that this depends on.
 */
#ifndef DPMF_PROGRAMS_COMMAND_TRAIN_SHOW_H
#define DPMF_PROGRAMS_COMMAND_TRAIN_SHOW_H

#include <sys/stat.h>

#include "cli/command.h"

struct dpmf_json;

/* The solver given, or that of --goal ranking; NULL: the default. */
const char *train_solver_of(const struct invocation *invocation);
bool train_is_ials(const struct invocation *invocation);

/* For dpmf_train, with the terminal of an invocation as `self`. */
int train_show_epoch(void *self, const struct dpmf_epoch *epoch);

/* The invocation of a terminal, which the library's callbacks get as `self`. */
const struct invocation *train_invocation_of(const struct terminal *terminal);

/* The begun objects of --json for an epoch and for the end, with what every solver reports; `ranks`
 * says whether the model is measured as a ranking. */
struct dpmf_json *train_epoch_json(const struct dpmf_epoch *epoch, bool ranks);
struct dpmf_json *train_done_json(const struct dpmf_train_report *report, bool ranks);

/* The measure of the validation set in the line of an epoch; nothing without one. @return `text` */
enum { TRAIN_VALID_TEXT = 80 };
const char *train_valid_text(const struct dpmf_epoch *epoch, bool ranks,
                             char text[TRAIN_VALID_TEXT]);

/* The object of --json at the end. @return an exit status */
int train_print_json(const struct invocation *invocation, const struct dpmf_train_report *report);

/* What is at a path, to see later whether it has been replaced; st_ino 0 where there is nothing. */
struct stat train_look_at_file(const char *path);

/* After a signal: where the run is kept, and how to continue it. The shell reports the
 * signal itself. */
void train_show_snapshot(struct invocation *invocation, const struct stat *before, bool begun,
                         const struct dpmf_error *error);

#endif
