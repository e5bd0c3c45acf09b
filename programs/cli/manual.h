/*
 * What the option tables say, in the forms people and shells read it: help for a terminal, roff for
 * man, and completion scripts.
 */
#ifndef DPMF_PROGRAMS_MANUAL_H
#define DPMF_PROGRAMS_MANUAL_H

#include <stdio.h>

#include "cli/command.h"

/* The option as one writes it: "-o, --output FILE.dpr". */
struct option_label {
    char text[96];
};
struct option_label manual_option_label(const struct option *option);

/* What the option is for, with its default. */
struct option_help {
    char text[1024];
};
struct option_help manual_option_help(const struct option *option);

/* The verb as part of a file's name: "privacy-account". */
struct page_name {
    char text[64];
};
struct page_name manual_page_name(const struct verb *verb);

/* The names of the choices of a value, separated by `separator`. */
void manual_choices_print(FILE *out, const struct value *value, const char *separator);

void manual_program_help(FILE *out);
void manual_verb_help(FILE *out, const struct verb *verb);

void manual_program_roff(FILE *out);
void manual_verb_roff(FILE *out, const struct verb *verb);

void manual_bash_completion(FILE *out);
void manual_zsh_completion(FILE *out);
void manual_fish_completion(FILE *out);

#endif
