/*
 * The option tables as man pages, in roff with the man macros: dpmf.1 and one page a verb. Fed by
 * the tables of the verbs, command_*.c; written to files by manpages.c.
 */
#include <ctype.h>
#include <string.h>

#include "cli/manual.h"
#include "cli/shared_options.h"

/* Text as roff sees it: a backslash is \e, a dash is a real one that can be searched and pasted,
 * and a control character at the beginning of a line is held back. */
static void print_text(FILE *out, const char *text) {
    if (text[0] == '.' || text[0] == '\'') fputs("\\&", out);
    for (; *text != '\0'; text++) {
        if (*text == '\\')
            fputs("\\e", out);
        else if (*text == '-')
            fputs("\\-", out);
        else if (*text == '~')
            fputs("\\(ti", out);
        else if (*text == '\'')
            fputs("\\(aq", out);
        else
            fputc(*text, out);
    }
}

static void print_paragraphs(FILE *out, const char *const *paragraphs) {
    for (size_t i = 0; paragraphs[i] != NULL; i++) {
        if (i > 0) fputs(".PP\n", out);
        print_text(out, paragraphs[i]);
        fputc('\n', out);
    }
}

static void print_title(FILE *out, const char *suffix) {
    char upper[32] = "";
    for (size_t i = 0; suffix[i] != '\0' && i + 1 < sizeof upper; i++)
        upper[i] = (char)toupper((unsigned char)suffix[i]);
    fprintf(out, ".TH DPMF%s%s 1 \"\" \"dpmf %s\" \"dpmf manual\"\n",
            suffix[0] != '\0' ? "\\-" : "", upper, dpmf_version());
}

static void print_option(FILE *out, const struct option *option) {
    fputs(".TP\n", out);
    if (option->letter != 0) fprintf(out, "\\fB\\-%c\\fR, ", option->letter);
    fputs("\\fB\\-\\-", out);
    print_text(out, option->name);
    fputs("\\fR", out);
    if (option->alias != NULL) {
        fputs(", \\fB\\-\\-", out);
        print_text(out, option->alias);
        fputs("\\fR", out);
    }
    if (option->value.kind != VALUE_NONE) {
        fputs(" \\fI", out);
        print_text(out, option->value.name);
        fputs("\\fR", out);
    }
    fputc('\n', out);
    print_text(out, manual_option_help(option).text);
    fputs(".\n", out);
}

/* Choices that need words get a list; the others a sentence. */
static void print_choices(FILE *out, const struct value *value) {
    const char *choice, *description = NULL;
    if (value->choices(0, &description) == NULL) return;
    if (description == NULL) {
        fputs("One of ", out);
        manual_choices_print(out, value, ", ");
        fputs(".\n", out);
        return;
    }
    fputs(".RS\n", out);
    for (size_t i = 0; (choice = value->choices(i, &description)) != NULL; i++) {
        fputs(".TP\n\\fB", out);
        print_text(out, choice);
        fputs("\\fR\n", out);
        print_text(out, description != NULL ? description : "");
        fputc('\n', out);
    }
    fputs(".RE\n", out);
}

static void print_group(FILE *out, const struct option_group *group) {
    fputs(".SS ", out);
    print_text(out, group->title);
    fputc('\n', out);
    for (const struct option *option = group->options; option->name != NULL; option++) {
        print_option(out, option);
        if (option->value.kind == VALUE_CHOICE) print_choices(out, &option->value);
    }
}

static void print_example(FILE *out, const struct example *example) {
    fputs(".PP\n", out);
    print_text(out, example->shows);
    fputs(":\n.PP\n.RS 4\n.nf\n", out);
    print_text(out, example->command);
    fputs("\n.fi\n.RE\n", out);
}

static void print_verbs(FILE *out, const struct verb *const *list) {
    fputs(".SH COMMANDS\n", out);
    for (; *list != NULL; list++) {
        fprintf(out, ".TP\n.BR dpmf\\-%s (1)\n", manual_page_name(*list).text);
        print_text(out, (*list)->summary);
        fputc('\n', out);
    }
}

void manual_verb_roff(FILE *out, const struct verb *verb) {
    const struct option_group *group;
    const struct page_name page = manual_page_name(verb);
    print_title(out, page.text);
    fprintf(out, ".SH NAME\ndpmf\\-%s \\- %s\n", page.text, verb->summary);
    fprintf(out, ".SH SYNOPSIS\n\\fBdpmf %s\\fR ", verb->name);
    print_text(out, verb->synopsis);
    fputs("\n.SH DESCRIPTION\n", out);
    print_paragraphs(out, verb->paragraphs);
    if (verb->parts != NULL) print_verbs(out, verb->parts);
    fputs(".SH OPTIONS\n", out);
    for (size_t i = 0; (group = verb_group(verb, i)) != NULL; i++) print_group(out, group);
    fputs(".SH EXIT STATUS\n", out);
    if (verb->exit_note != NULL) {
        print_text(out, verb->exit_note);
        fputc('\n', out);
    }
    fputs("The general list is in\n.BR dpmf (1).\n.SH EXAMPLES\n", out);
    for (const struct example *example = verb->examples; example->shows != NULL; example++)
        print_example(out, example);
    fputs(".SH SEE ALSO\n.BR dpmf (1)\n", out);
}

void manual_program_roff(FILE *out) {
    print_title(out, "");
    fprintf(out, ".SH NAME\ndpmf \\- %s\n", program_summary);
    fputs(".SH SYNOPSIS\n\\fBdpmf\\fR \\fICOMMAND\\fR [options]\n.br\n"
          "\\fBdpmf\\fR \\fB\\-\\-version\\fR\n.br\n\\fBdpmf\\fR \\fB\\-\\-help\\fR\n"
          ".SH DESCRIPTION\n",
          out);
    print_paragraphs(out, program_paragraphs);
    print_verbs(out, verbs);
    fputs(".SH OPTIONS\n", out);
    print_group(out, &every_verb_group);
    fputs(".SH EXIT STATUS\n", out);
    for (const struct status_note *note = status_notes; note->meaning != NULL; note++)
        fprintf(out, ".TP\n%d\n%s\n", note->status, note->meaning);
    fputs(".SH ENVIRONMENT\n", out);
    for (const struct environment_note *note = environment_notes; note->name != NULL; note++) {
        fprintf(out, ".TP\n.B %s\n", note->name);
        print_text(out, note->meaning);
        fputc('\n', out);
    }
    fputs(".SH SEE ALSO\n", out);
    for (size_t i = 0; verbs[i] != NULL; i++)
        fprintf(out, ".BR dpmf\\-%s (1)%s\n", verbs[i]->name, verbs[i + 1] != NULL ? "," : "");
}
