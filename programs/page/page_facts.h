/*
 * What a catalogue says about items besides their titles, for the page's filter: kinds (genres,
 * subjects) and the year.
 */
#ifndef DPMF_PROGRAMS_PAGE_FACTS_H
#define DPMF_PROGRAMS_PAGE_FACTS_H

#include "cli/command.h"
#include "dpmf_text.h"

/* Reads --catalogue once more. *json receives
 * {"kinds":["Comedy",...],"of":[[0],...],"years":[1995,...]}, a list and a year (0: unknown) for
 * each item in the model's order, to be freed; NULL where there is no catalogue or it says nothing
 * of the kind. @return an exit status, after saying what is wrong */
int page_facts_read(struct invocation *invocation, const struct dpmf_model *model,
                    struct dpmf_json **json);

#endif
