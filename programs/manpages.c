/*
 * dpmf-manpages: writes the man pages that the option table holds, dpmf.1 and one a verb, into a
 * directory; or, with --examples, prints every example of the manual for the tests that run them.
 * Used by the build; not installed.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/manual.h"
#include "cli/text.h"

static int close_page(FILE *out, const char *path) {
    int failed = ferror(out);
    if (fclose(out) == 0 && !failed) return STATUS_DONE;
    return terminal_error_print(STATUS_IO, NULL, "%s: cannot write: %s", path,
                                text_system_error(errno).text);
}

/* The general page when `verb` is NULL. */
static int write_page(const char *directory, const struct verb *verb) {
    char path[4096];
    snprintf(path, sizeof path, "%s/dpmf%s%s.1", directory, verb != NULL ? "-" : "",
             verb != NULL ? manual_page_name(verb).text : "");
    FILE *out = fopen(path, "we");
    if (out == NULL)
        return terminal_error_print(STATUS_IO, NULL, "%s: cannot open: %s", path,
                                    text_system_error(errno).text);
    if (verb != NULL)
        manual_verb_roff(out, verb);
    else
        manual_program_roff(out);
    return close_page(out, path);
}

/* A line an example: verb, setup (`:` for none) and command, with tabs between them. */
static int print_examples(void) {
    const struct verb *verb;
    for (size_t i = 0; (verb = verb_at(i)) != NULL; i++)
        for (const struct example *example = verb->examples; example->shows != NULL; example++)
            printf("%s\t%s\t%s\n", verb->name, example->setup != NULL ? example->setup : ":",
                   example->command);
    return close_page(stdout, "standard output");
}

/* A list that fills its array has no end, and C does not complain: it would be read into what
 * follows. */
static bool lists_end(const struct verb *verb) {
    return verb->paragraphs[VERB_PARAGRAPHS_MAX] == NULL &&
           verb->groups[VERB_GROUPS_MAX].title == NULL &&
           verb->examples[VERB_EXAMPLES_MAX].shows == NULL;
}

/* A place for a default without one to put there, or the other way round, is a slip. */
static const struct option *wrong_default(const struct verb *verb) {
    const struct option_group *group;
    for (size_t i = 0; (group = verb_group(verb, i)) != NULL; i++)
        for (const struct option *option = group->options; option->name != NULL; option++)
            if ((strstr(option->help, "{default}") != NULL) != (option->show_default != NULL))
                return option;
    return NULL;
}

static int write_verb(const char *directory, const struct verb *verb) {
    const struct option *wrong = wrong_default(verb);
    if (wrong != NULL)
        return terminal_error_print(STATUS_BUG, "give it both {default} and show_default, or none",
                                    "--%s of %s", wrong->name, verb->name);
    if (!lists_end(verb))
        return terminal_error_print(STATUS_BUG, "raise VERB_..._MAX in programs/command.h",
                                    "a list of %s is longer than its array", verb->name);
    return write_page(directory, verb);
}

int main(int argc, char **argv) {
    if (argc != 2)
        return terminal_error_print(STATUS_USAGE, "usage: dpmf-manpages DIR | --examples",
                                    "one argument is needed");
    if (strcmp(argv[1], "--examples") == 0) return print_examples();
    int status = write_page(argv[1], NULL);
    const struct verb *verb;
    for (size_t i = 0; status == STATUS_DONE && (verb = verb_at(i)) != NULL; i++)
        status = write_verb(argv[1], verb);
    return status;
}
